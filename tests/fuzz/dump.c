/* SPDX-License-Identifier: MIT
 *
 * dump.c: any bytes, as dumps, as fallbacks and as schemas, give a report whose text and JSON are
 * UTF-8; a row without a name has said why.
 */
#include "fuzz.h"

#include <crosspoint-inspect.h>
#include <stdlib.h>
#include <string.h>

static void
take_piece (const char *text, gboolean is_problem, gpointer n_problems)
{
  if (!g_utf8_validate (text, -1, NULL))
    abort ();
  for (; is_problem && *text != '\0'; text++)
    *(unsigned *) n_problems += *text == '\n';
}

/* Prints it in both styles, which must agree on whether all was understood. */
static unsigned
check_report (XpReport *report)
{
  unsigned n_problems = 0, n_again = 0;
  xp_report_write (report, XP_REPORT_JSON, take_piece, &n_problems);
  gboolean is_yes = xp_report_is_yes (report);
  xp_report_write (report, XP_REPORT_PLAIN, take_piece, &n_again);
  if (n_problems != n_again || is_yes != xp_report_is_yes (report))
    abort ();
  xp_report_free (report);
  return n_problems;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GBytes) none = g_bytes_new_static ("", 0);
  const XpReportInput input = { "fuzz", bytes }, empty = { "empty", none };
  unsigned n_dump = check_report (xp_report_replay (&input, 1, &empty));
  unsigned n_fallbacks = check_report (xp_report_replay (NULL, 0, &input));
  check_report (xp_report_schema_lines (bytes));
  /* No text is both a row and a fallback; nothing else is taken in silence. */
  if (n_dump == 0 && n_fallbacks == 0)
    abort ();
  return 0;
}
