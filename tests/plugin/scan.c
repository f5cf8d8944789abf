/* SPDX-License-Identifier: MIT
 *
 * scan.c: plugins loaded by a process of their own: what they bring, what becomes of those that
 * crash, and who starts the helper.
 */
#include "plugin/scanning.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

/* --- Coverage. --- */

static int
compare_cells (const void *a, const void *b)
{
  const XpCoverageCell *x = a, *y = b;
  int order = strcmp (x->op, y->op);
  return order != 0 ? order : strcmp (x->key, y->key);
}

static void
sort_cells (XpCoverage *coverage)
{
  if (coverage->n_cells > 0)
    qsort (coverage->cells, coverage->n_cells, sizeof *coverage->cells, compare_cells);
}

/* What the scan has found is what the table has after a load. */
static void
assert_coverage (const char *fixture, unsigned n_rows, unsigned n_cells)
{
  GError *error = NULL;
  g_autofree char *path = scan_add (fixture);
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_AVAILABLE, NULL);
  ck_assert_uint_eq (info->n_rows, n_rows);
  ck_assert_uint_eq (info->n_cells, n_cells);
  ck_assert_int_ne (info->scanned, 0);
  g_autoptr (XpCoverage) found = xp_plugin_coverage_read (path);
  ck_assert_ptr_nonnull (found);
  XpPlugin *plugin = xp_plugin_load (path, &error);
  assert_no_error (error);
  g_autoptr (XpCoverage) live = xp_plugin_coverage (plugin);
  ck_assert_uint_eq (found->n_rows, live->n_rows);
  ck_assert_uint_eq (found->n_cells, live->n_cells);
  for (unsigned i = 0; i < live->n_rows; i++)
    {
      ck_assert_str_eq (found->rows[i].name, live->rows[i].name);
      ck_assert_str_eq (found->rows[i].schema, live->rows[i].schema);
      ck_assert_str_eq (found->rows[i].location, live->rows[i].location);
    }
  sort_cells (found);
  sort_cells (live);
  for (unsigned i = 0; i < live->n_cells; i++)
    {
      ck_assert_str_eq (found->cells[i].op, live->cells[i].op);
      ck_assert_str_eq (found->cells[i].key, live->cells[i].key);
      ck_assert_str_eq (found->cells[i].location, live->cells[i].location);
      ck_assert_int_eq (found->cells[i].is_typed, live->cells[i].is_typed);
      ck_assert_int_eq (found->cells[i].is_pending, live->cells[i].is_pending);
      ck_assert_int_eq (found->cells[i].is_fallthrough, live->cells[i].is_fallthrough);
    }
  ck_assert (
      g_strv_equal ((const char *const *) found->devices, (const char *const *) live->devices));
  unload (plugin);
}

START_TEST (coverage)
{
  assert_coverage ("rows", 4, 0);
  assert_coverage ("first", 0, 4);
  assert_coverage ("partial", 0, 1);
  assert_coverage ("device", 0, 1);
}
END_TEST

START_TEST (coverage_in_words)
{
  g_autofree char *rows = scan_add ("rows"), *device = scan_add ("device");
  ck_assert_ptr_null (xp_plugin_coverage_read (rows));
  xp_plugin_info_free (scan_one (rows, XP_SCAN_NEW));
  xp_plugin_info_free (scan_one (device, XP_SCAN_NEW));
  g_autoptr (XpCoverage) opened = xp_plugin_coverage_read (rows);
  ck_assert_str_eq (opened->rows[0].name, "fixture::number");
  ck_assert_str_eq (opened->rows[0].schema, "fixture::number(Tensor a) -> int");
  ck_assert_ptr_nonnull (strstr (opened->rows[0].location, "tests/plugin/fixtures/rows.c:"));
  g_autoptr (XpCoverage) filled = xp_plugin_coverage_read (device);
  ck_assert_str_eq (filled->devices[0], "npu");
  ck_assert_ptr_null (filled->devices[1]);
  bool has_npu = false;
  for (unsigned i = 0; i < filled->n_cells; i++)
    {
      ck_assert (filled->cells[i].is_pending);
      has_npu |= strcmp (filled->cells[i].op, "fixture::number") == 0
                 && strcmp (filled->cells[i].key, "npu") == 0;
    }
  ck_assert (has_npu);
  /* The list shows what the scan has found, and info of what was not scanned nothing. */
  g_autoptr (XpPluginInfo) info = listed (rows);
  ck_assert_uint_eq (info->n_rows, 4);
  g_autofree char *other = scan_add ("first");
  g_autoptr (XpPluginInfo) unscanned = listed (other);
  ck_assert_int_eq (unscanned->scanned, 0);
  ck_assert_uint_eq (unscanned->n_cells, 0);
}
END_TEST

/* What a plugin requires is loaded first, and when that changes it is scanned again. */
START_TEST (requirements)
{
  g_autofree char *needy = scan_add ("needy");
  g_autoptr (XpPluginInfo) alone = scan_one (needy, XP_SCAN_NEW);
  assert_found (alone, XP_PLUGIN_FAILED, "no plugin 'first'");
  g_autofree char *first = scan_add ("first");
  g_autoptr (XpPluginInfo) together = scan_one (needy, XP_SCAN_NEW);
  assert_found (together, XP_PLUGIN_AVAILABLE, NULL);
  g_autoptr (XpCoverage) before = xp_plugin_coverage_read (needy);
  ck_assert_ptr_nonnull (before);
  struct timespec times[] = { { 1, 0 }, { 1, 0 } };
  ck_assert_int_eq (utimensat (AT_FDCWD, first, times, 0), 0);
  ck_assert_ptr_null (xp_plugin_coverage_read (needy));
  /* Whatever it requires may crash, but is not the plugin. */
  g_autofree char *faulty = fixture_path ("first"), *crashes = fixture_path ("crashes");
  copy_file (crashes, first);
  g_autoptr (XpPluginInfo) misled = scan_one (needy, XP_SCAN_NEW);
  assert_found (misled, XP_PLUGIN_FAILED, "says that it is 'crashes'");
}
END_TEST

/* --- Faults. --- */

static const struct
{
  const char *fixture;
  XpPluginState state;
  const char *reason;
} faults[] = {
  { "crashes", XP_PLUGIN_QUARANTINED,
    "killed by SIGSEGV (Segmentation fault) while it was loaded; it said last: about to crash" },
  { "aborts", XP_PLUGIN_QUARANTINED, "killed by SIGABRT (Aborted) while it was loaded" },
  { "leaves_child_and_crashes", XP_PLUGIN_QUARANTINED, "killed by SIGABRT" },
  { "exits", XP_PLUGIN_QUARANTINED, "it ended its process with exit status 0 while it was loaded" },
  { "starts_thread", XP_PLUGIN_AVAILABLE, NULL },
  { "talks", XP_PLUGIN_AVAILABLE, NULL },
  { "leaves_child", XP_PLUGIN_AVAILABLE, NULL },
  { "forks_on", XP_PLUGIN_AVAILABLE, NULL },
  { "unresolved", XP_PLUGIN_FAILED, "undefined symbol: nobody_has_this" },
  { "fussy", XP_PLUGIN_UNSUITABLE, "no such device" },
  { "syntax", XP_PLUGIN_FAILED, "tests/plugin/fixtures/definitions.c" },
  { "scans", XP_PLUGIN_FAILED, "tries to load, unload or call" },
  { "demanding", XP_PLUGIN_REJECTED, "no-such-feature" },
};

START_TEST (each_fault)
{
  g_autofree char *path = scan_add (faults[_i].fixture);
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  assert_found (info, faults[_i].state, faults[_i].reason);
  g_autoptr (XpPluginInfo) again = listed (path);
  assert_found (again, faults[_i].state, faults[_i].reason);
}
END_TEST

/* Whether a process runs; one that is dead but not waited for does not. */
static bool
runs (const char *pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%s/stat", pid), *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return false;
  const char *state = strrchr (text, ')');
  return state != NULL && state[2] != 'Z' && state[2] != 'X';
}

/* Nothing that a plugin has started stays behind. */
START_TEST (children_end_too)
{
  static const char *const fixtures[] = { "leaves_child", "leaves_child_and_crashes" };
  for (unsigned i = 0; i < XP_LENGTH (fixtures); i++)
    {
      g_autofree char *path = scan_add (fixtures[i]), *pid = NULL;
      g_autofree char *file = g_build_filename (scan_cache, fixtures[i], NULL);
      g_setenv ("FIXTURE_CHILD", file, TRUE);
      xp_plugin_info_free (scan_one (path, XP_SCAN_NEW));
      ck_assert (g_file_get_contents (file, &pid, NULL, NULL));
      /* It has been killed, which takes its time; the runner's watchdog limits it. */
      while (runs (pid))
        g_usleep (1000);
    }
}
END_TEST

/* Whoever wants warnings to be fatal does not mean the helper's. */
START_TEST (warnings_are_no_faults)
{
  g_setenv ("G_DEBUG", "fatal-warnings", TRUE);
  g_setenv ("CROSSPOINT_LOAD_IN_PLACE", "perhaps", TRUE);
  g_autofree char *path = scan_add ("rows");
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_AVAILABLE, NULL);
}
END_TEST

static const char *const endless[] = { "hangs", "floods" };

START_TEST (limit)
{
  g_setenv ("CROSSPOINT_SCAN_TIMEOUT", HANG_SECONDS, TRUE);
  g_autofree char *path = scan_add (endless[_i]);
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_QUARANTINED, "did not come back within " HANG_SECONDS " s");
  ck_assert_ptr_null (strchr (info->reason, '\033'));
}
END_TEST

/* Where somebody else takes the status of our children, or nobody may. */
START_TEST (status_is_not_kept)
{
  signal (SIGCHLD, SIG_IGN);
  g_autofree char *good = scan_add ("rows"), *bad = scan_add ("aborts");
  g_autoptr (XpPluginInfo) info = scan_one (good, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_AVAILABLE, NULL);
  g_autoptr (XpPluginInfo) aborted = scan_one (bad, XP_SCAN_NEW);
  assert_found (aborted, XP_PLUGIN_QUARANTINED, "SIGCHLD");
}
END_TEST

/* --- Quarantine. --- */

static void
assert_load_refused (const char *path, const char *part)
{
  GError *error = NULL;
  ck_assert_ptr_null (xp_plugin_load (path, &error));
  assert_error (error, XP_ERROR_QUARANTINED, part);
}

static void
assert_loads (const char *path)
{
  GError *error = NULL;
  XpPlugin *plugin = xp_plugin_load (path, &error);
  assert_no_error (error);
  unload (plugin);
}

/* Signal, text and time are kept and shown with the command that helps; a file that was built again
 * needs no command. */
START_TEST (pain_1_quarantined_without_reason)
{
  g_autofree char *path = scan_add ("faulty");
  g_setenv ("FIXTURE_FAULT", "crash", TRUE);
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_QUARANTINED, "SIGSEGV");
  ck_assert_str_eq (info->error, "QUARANTINED");
  ck_assert (
      g_regex_match_simple ("said last: about to crash \\(scanned \\d{4}-\\d\\d-\\d\\d "
                            "\\d\\d:\\d\\d:\\d\\d\\); `crosspoint retry faulty` tries it again$",
                            info->reason, 0, 0));
  g_unsetenv ("FIXTURE_FAULT");
  /* The reason is gone, but nobody knows. */
  assert_load_refused (path, "faulty: quarantined: killed by SIGSEGV");
  assert_load_refused ("faulty", "`crosspoint retry faulty`");
  g_autoptr (XpPluginInfo) tried = listed (path);
  assert_found (tried, XP_PLUGIN_QUARANTINED, "SIGSEGV");
  struct timespec times[] = { { 1, 0 }, { 1, 0 } };
  ck_assert_int_eq (utimensat (AT_FDCWD, path, times, 0), 0);
  assert_loads (path);
}
END_TEST

START_TEST (another_chance)
{
  g_autofree char *path = scan_add ("faulty");
  g_setenv ("FIXTURE_FAULT", "exit", TRUE);
  xp_plugin_info_free (scan_one (path, XP_SCAN_NEW));
  g_unsetenv ("FIXTURE_FAULT");
  /* A scan of what is new leaves it where it is. */
  g_autoptr (XpPluginInfo) left = scan_one (path, XP_SCAN_NEW);
  assert_found (left, XP_PLUGIN_QUARANTINED, "exit status 0");
  assert_load_refused (path, "exit status 0");
  g_autoptr (XpPluginInfo) again = scan_one (path, XP_SCAN_AGAIN);
  assert_found (again, XP_PLUGIN_AVAILABLE, NULL);
  assert_loads (path);
}
END_TEST

START_TEST (forced)
{
  GError *error = NULL;
  g_autofree char *path = scan_add ("faulty");
  g_setenv ("FIXTURE_FAULT", "abort", TRUE);
  xp_plugin_info_free (scan_one (path, XP_SCAN_NEW));
  g_unsetenv ("FIXTURE_FAULT");
  xp_setting_set ("load-quarantined", "1", &error);
  assert_no_error (error);
  assert_loads (path);
  xp_setting_set ("load-quarantined", NULL, &error);
  assert_load_refused (path, "SIGABRT");
}
END_TEST

/* What was unsuitable or failed may find its driver: it is tried each time, and a load always is.
 */
START_TEST (unsuitable_is_no_quarantine)
{
  g_autofree char *path = scan_add ("fussy");
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_UNSUITABLE, "no such device");
  g_setenv ("FIXTURE_SUITABLE", "yes", TRUE);
  assert_loads (path);
  g_autoptr (XpPluginInfo) again = scan_one (path, XP_SCAN_NEW);
  assert_found (again, XP_PLUGIN_AVAILABLE, NULL);
}
END_TEST

/* --- Who starts the helper, and for what. --- */

static char *
helper_mark (void)
{
  return g_build_filename (scan_cache, "started", NULL);
}

/* A helper that leaves a mark. */
static void
set_helper (void)
{
  g_autofree char *mark = helper_mark (), *helper = g_build_filename (scan_cache, "helper", NULL);
  g_autofree char *text = g_strdup_printf ("#!/bin/sh\necho no luck >&2\n: >%s\n", mark);
  ck_assert (g_file_set_contents_full (helper, text, -1, G_FILE_SET_CONTENTS_NONE, 0700, NULL));
  g_setenv ("CROSSPOINT_SCANNER", helper, TRUE);
}

static bool
helper_has_run (void)
{
  g_autofree char *mark = helper_mark ();
  return g_file_test (mark, G_FILE_TEST_EXISTS);
}

START_TEST (nobody_else_starts_it)
{
  GError *error = NULL;
  set_helper ();
  g_autofree char *rows = scan_add ("rows"), *first = scan_add ("first");
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  infos_free (infos, n);
  ck_assert_ptr_null (xp_operator_get ("fixture::number", &error));
  ck_assert_ptr_nonnull (strstr (error->message, "rows.so) defines the namespace fixture"));
  g_clear_error (&error);
  XpPlugin *plugin = xp_plugin_load (rows, &error);
  assert_no_error (error);
  call_number ("fixture::number", &error);
  ck_assert_ptr_nonnull (strstr (error->message, "first.so) fills cells of fixture/CPU"));
  g_clear_error (&error);
  ck_assert_ptr_null (xp_plugin_coverage_read (rows));
  ck_assert (!helper_has_run ());
  unload (plugin);
  /* A helper that does not do its work is no fault of the plugin's. */
  g_autoptr (XpPluginInfo) info = scan_one (first, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_FAILED, "before it was loaded");
  ck_assert_ptr_nonnull (strstr (info->reason, "no luck"));
  ck_assert (helper_has_run ());
  g_autoptr (XpPluginInfo) kept = listed (first);
  assert_found (kept, XP_PLUGIN_AVAILABLE, NULL);
  ck_assert_int_eq (kept->scanned, 0);
}
END_TEST

START_TEST (only_where_it_is_needed)
{
  GError *error = NULL;
  unsigned n;
  g_autofree char *rows = scan_add ("rows"), *demanding = scan_add ("demanding");
  g_autofree char *aborts = scan_add ("aborts"), *first = scan_add ("first");
  XpPlugin *plugin = xp_plugin_load (first, &error);
  assert_no_error (error);
  XpPluginInfo **infos = xp_plugins_scan (NULL, XP_SCAN_NEW, &n, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n, 4);
  assert_found (infos[0], XP_PLUGIN_QUARANTINED, "SIGABRT");
  assert_found (infos[1], XP_PLUGIN_REJECTED, "no-such-feature");
  assert_found (infos[2], XP_PLUGIN_LOADED, NULL);
  ck_assert_uint_eq (infos[2]->n_cells, 4);
  assert_found (infos[3], XP_PLUGIN_AVAILABLE, NULL);
  infos_free (infos, n);
  /* All is known now. */
  g_setenv ("CROSSPOINT_SCANNER", "/nowhere/crosspoint-scanner", TRUE);
  infos = xp_plugins_scan (NULL, XP_SCAN_NEW, &n, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n, 4);
  infos_free (infos, n);
  ck_assert_ptr_null (xp_plugins_scan (NULL, XP_SCAN_AGAIN, &n, &error));
  assert_error (error, XP_ERROR_FILE_IO, "/nowhere/crosspoint-scanner cannot be started");
  unload (plugin);
}
END_TEST

/* --- Hints. --- */

/* Of what was scanned they know every cell, also those without a typed kernel, and the rows. */
START_TEST (hints)
{
  GError *error = NULL;
  g_autofree char *rows = scan_add ("rows"), *partial = scan_add ("partial");
  g_autofree char *first = scan_add ("first");
  unsigned n;
  XpPluginInfo **infos = xp_plugins_scan (NULL, XP_SCAN_NEW, &n, &error);
  assert_no_error (error);
  infos_free (infos, n);
  ck_assert_ptr_null (xp_operator_get ("fixture::number", &error));
  ck_assert_ptr_nonnull (strstr (error->message, "rows.so) defines fixture::number; load it"));
  g_clear_error (&error);
  /* Which the note alone could not tell. */
  ck_assert_ptr_null (xp_operator_get ("fixture::nothing", &error));
  ck_assert_ptr_null (strstr (error->message, "rows.so"));
  g_clear_error (&error);
  XpPlugin *plugin = xp_plugin_load (rows, &error);
  assert_no_error (error);
  call_number ("fixture::number", &error);
  ck_assert_ptr_nonnull (strstr (error->message, "first.so) fills cells of fixture/CPU"));
  ck_assert_ptr_nonnull (strstr (error->message, "partial.so) fills cells of fixture/CPU"));
  g_clear_error (&error);
  call_number ("fixture::other", &error);
  ck_assert_ptr_nonnull (strstr (error->message, "first.so) fills cells of fixture/CPU"));
  ck_assert_ptr_null (strstr (error->message, "partial.so"));
  g_clear_error (&error);
  unload (plugin);
}
END_TEST

/* One that crashes is named with its reason where it would have helped. */
START_TEST (hint_of_quarantine)
{
  GError *error = NULL;
  g_autofree char *path = scan_add ("aborts");
  xp_plugin_info_free (scan_one (path, XP_SCAN_NEW));
  ck_assert_ptr_null (xp_operator_get ("faulty::aborts", &error));
  ck_assert_ptr_nonnull (
      strstr (error->message, "but its state is quarantined: killed by SIGABRT"));
  g_clear_error (&error);
}
END_TEST

int
main (void)
{
  scanning_begin ();
  Suite *suite = suite_create ("scan");
  TCase *tests = tcase_create ("scan");
  tcase_set_timeout (tests, 120);
  tcase_add_checked_fixture (tests, scanning_setup, scanning_teardown);
  tcase_add_test (tests, coverage);
  tcase_add_test (tests, coverage_in_words);
  tcase_add_test (tests, requirements);
  tcase_add_loop_test (tests, each_fault, 0, (int) XP_LENGTH (faults));
  tcase_add_loop_test (tests, limit, 0, (int) XP_LENGTH (endless));
  tcase_add_test (tests, children_end_too);
  tcase_add_test (tests, warnings_are_no_faults);
  tcase_add_test (tests, status_is_not_kept);
  tcase_add_test (tests, pain_1_quarantined_without_reason);
  tcase_add_test (tests, another_chance);
  tcase_add_test (tests, forced);
  tcase_add_test (tests, unsuitable_is_no_quarantine);
  tcase_add_test (tests, nobody_else_starts_it);
  tcase_add_test (tests, only_where_it_is_needed);
  tcase_add_test (tests, hints);
  tcase_add_test (tests, hint_of_quarantine);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
