/* SPDX-License-Identifier: MIT
 *
 * suite.c: runs one Check suite with TAP output.
 */
#include "suite.h"

#include <stdlib.h>

int
run_suite (Suite *suite)
{
  SRunner *runner = srunner_create (suite);
  srunner_set_tap (runner, "-");
  srunner_run_all (runner, CK_SILENT);
  int failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

const char *
source_path (const char *relative)
{
  static char path[4096];
  const char *root = getenv ("CROSSPOINT_SOURCE_ROOT");
  g_snprintf (path, sizeof path, "%s/%s", root != NULL ? root : ".", relative);
  return path;
}
