/* SPDX-License-Identifier: MIT
 *
 * schema_file.c: any bytes in a file of schemas give a report, whose JSON parses and whose text is
 * UTF-8; lines with mistakes, or a file that is none, make it a no.
 */
#include "fuzz.h"

#include <crosspoint-inspect.h>
#include <json-glib/json-glib.h>
#include <stdlib.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  int fd;
  g_autofree char *memory = fuzz_file (data, size, &fd);
  /* Its name says what it is. */
  g_autofree char *path = g_strdup_printf ("%s/fuzz-%d.ops", g_get_tmp_dir (), getpid ());
  if (symlink (memory, path) != 0)
    abort ();
  g_autoptr (XpReport) report = xp_report_lint ((const char *const[]){ path, NULL }, TRUE);
  unlink (path);
  close (fd);
  g_autofree char *json = xp_report_print (report, XP_REPORT_JSON);
  g_autofree char *text = xp_report_print (report, XP_REPORT_PLAIN);
  g_autoptr (JsonNode) model = json_from_string (json, &error);
  if (model == NULL || !g_utf8_validate (text, -1, NULL))
    abort ();
  JsonObject *root = json_node_get_object (model);
  if (xp_report_is_yes (report)
      && (json_object_get_int_member (root, "unreadable") > 0
          || json_object_get_int_member (root, "error") > 0))
    abort ();
  return 0;
}
