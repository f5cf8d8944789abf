/* SPDX-License-Identifier: MIT
 *
 * lint.c: any bytes give a report on that file, whose JSON parses and whose text is UTF-8; it is no
 * where the file cannot be looked at.
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
  g_autofree char *path = fuzz_file (data, size, &fd);
  g_autoptr (XpReport) report = xp_report_lint ((const char *const[]){ path, NULL }, TRUE);
  close (fd);
  g_autofree char *json = xp_report_print (report, XP_REPORT_JSON);
  g_autofree char *text = xp_report_print (report, XP_REPORT_PLAIN);
  g_autoptr (JsonNode) model = json_from_string (json, &error);
  if (model == NULL || !g_utf8_validate (text, -1, NULL))
    abort ();
  JsonObject *root = json_node_get_object (model);
  if (json_object_get_int_member (root, "unreadable") > 0 && xp_report_is_yes (report))
    abort ();
  return 0;
}
