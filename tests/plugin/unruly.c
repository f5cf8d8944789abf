/* SPDX-License-Identifier: MIT
 *
 * unruly.c: plugins that keep something of themselves running: each unloads, or says why not, and
 * the program runs on.
 */
#include "plugin/fixtures.h"

#include <sys/wait.h>

#include <stdlib.h>

static unsigned
n_open_files (void)
{
  unsigned n = 0;
  g_autoptr (GDir) folder = g_dir_open ("/proc/self/fd", 0, NULL);
  while (g_dir_read_name (folder) != NULL)
    n++;
  return n;
}

/* Peers, pain 12: unloading waits for what the plugin waits for, but not for ever. */
START_TEST (pain_12_a_fini_that_blocks)
{
  GError *error = NULL;
  char *folder = folder_new ();
  g_autofree char *go = g_build_filename (folder, "go", NULL);
  g_setenv ("FIXTURE_GO", go, TRUE);
  xp_setting_set ("unload-timeout", "0.2", NULL);
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("blocks_fini");
  assert_number (4950);
  ck_assert (!xp_plugin_unload (plugin, &error));
  assert_error (error, XP_ERROR_BUSY,
                "the cells of blocks_fini are gone, but its fini did not return within 0.2 seconds "
                "(unload-timeout)");
  assert_state (plugin, XP_PLUGIN_RETIRED, "mapped; a load of it opens a new copy");
  ck_assert (is_mapped ("-blocks_fini.so"));
  ck_assert_int_eq (call_number ("fixture::number", &error), -1);
  g_clear_error (&error);

  /* Another copy of it lives and dies like any other. */
  ck_assert (g_file_set_contents (go, "", 0, NULL));
  XpPlugin *again = load_fixture ("blocks_fini");
  ck_assert_ptr_ne (again, plugin);
  assert_number (4950);
  unload (again);
  assert_state (again, XP_PLUGIN_UNLOADED, NULL);
  folder_remove (folder);
}
END_TEST

static void *
unload_in_thread (void *plugin)
{
  GError *error = NULL;
  xp_plugin_unload (plugin, &error);
  assert_no_error (error);
  return NULL;
}

static bool
runs_its_fini (XpPlugin *plugin)
{
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  return g_str_has_prefix (info->reason, "its fini runs");
}

/* Others load and unload while it runs. */
START_TEST (a_fini_holds_nobody_up)
{
  char *folder = folder_new ();
  g_autofree char *go = g_build_filename (folder, "go", NULL);
  g_setenv ("FIXTURE_GO", go, TRUE);
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("blocks_fini");
  GThread *thread = g_thread_new ("unload", unload_in_thread, plugin);
  wait_for_state (plugin, XP_PLUGIN_DRAINING);
  unload (load_fixture ("first"));
  XpPlugin *second = load_fixture ("second");
  assert_number (2);
  assert_state (plugin, XP_PLUGIN_DRAINING, "its fini runs");
  ck_assert (g_file_set_contents (go, "", 0, NULL));
  g_thread_join (thread);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  unload (second);
  folder_remove (folder);
}
END_TEST

/* In a child its thread is not there: it is not run again, and nobody waits for it. */
START_TEST (a_fini_and_a_fork)
{
  GError *error = NULL;
  int status;
  char *folder = folder_new ();
  g_autofree char *go = g_build_filename (folder, "go", NULL);
  g_autofree char *first = fixture_path ("first");
  g_setenv ("FIXTURE_GO", go, TRUE);
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("blocks_fini");
  GThread *thread = g_thread_new ("unload", unload_in_thread, plugin);
  while (xp_plugin_state (plugin) != XP_PLUGIN_DRAINING || !runs_its_fini (plugin))
    g_usleep (1000);
  pid_t child = fork ();
  if (child == 0)
    {
      alarm (5); /* less than unload-timeout */
      if (xp_plugin_state (plugin) != XP_PLUGIN_RETIRED || xp_plugin_load (first, &error) == NULL
          || call_number ("fixture::number", &error) != 1)
        _exit (1);
      _exit (0);
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0, "status %d", status);
  ck_assert (g_file_set_contents (go, "", 0, NULL));
  g_thread_join (thread);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  folder_remove (folder);
}
END_TEST

/* A thread that nobody ends is known before: the file stays. */
START_TEST (a_thread_that_is_left)
{
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("leaves_thread");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  ck_assert_str_eq (info->resident,
                    "it imports pthread_create, and has no xp_plugin_fini() to end its threads");
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_RETIRED, "its file stays mapped: it imports pthread_create");
  ck_assert (is_mapped ("-leaves_thread.so"));
  g_usleep (10000);
  load_fixture ("leaves_thread");
  assert_number (4950);
}
END_TEST

START_TEST (a_thread_that_fini_joins)
{
  load_fixture ("rows");
  for (unsigned i = 0; i < 20; i++)
    {
      XpPlugin *plugin = load_fixture ("joins_thread");
      assert_number (4950);
      unload (plugin);
      assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
    }
  ck_assert (!is_mapped ("-joins_thread.so"));
}
END_TEST

/* The thread that ends is only its own, not the one that unloads, and no lock stays taken. */
START_TEST (a_fini_that_ends_its_thread)
{
  load_fixture ("rows");
  for (unsigned i = 0; i < 20; i++)
    {
      XpPlugin *plugin = load_fixture ("exits_fini");
      assert_number (4950);
      g_thread_join (g_thread_new ("unload", unload_in_thread, plugin));
      assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
      ck_assert (!is_mapped ("-exits_fini.so"));
    }
}
END_TEST

/* This sanitizer does not see how the library's threads meet. */
#ifdef __SANITIZE_THREAD__
#  define SEES_OPENMP 0
#else
#  define SEES_OPENMP 1
#endif

/* Its library keeps the threads, and stays for them; the plugin itself goes. */
START_TEST (openmp)
{
  load_fixture ("rows");
  for (unsigned i = 0; i < 20; i++)
    {
      XpPlugin *plugin = load_fixture ("openmp");
      assert_number (4950);
      unload (plugin);
      assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
      ck_assert (!is_mapped ("-openmp.so"));
      ck_assert (is_mapped ("libgomp.so"));
    }
}
END_TEST

static char *reported;

static void
report (const char *text)
{
  g_free (reported);
  reported = g_strdup (text);
}

/* The lock that it would wait for is its own thread's. */
START_TEST (a_destructor_that_loads)
{
  g_autofree char *path = fixture_path ("first");
  g_autofree char *address = g_strdup_printf ("%" G_GUINTPTR_FORMAT, (guintptr) report);
  g_setenv ("FIXTURE_LOADED", path, TRUE);
  g_setenv ("FIXTURE_REPORT", address, TRUE);
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("destructor_loads");
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  ck_assert_ptr_nonnull (reported);
  ck_assert_ptr_nonnull (strstr (reported, "this thread loads or unloads a plugin"));
  load_fixture ("first");
}
END_TEST

/* Nothing is left of loads that fail. */
static const char *const bad[] = { "fussy", "duplicate", "unresolved", "syntax", "needy", "plain" };

START_TEST (a_hundred_failures)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  unsigned before = 0;
  for (unsigned i = 0; i < 100; i++)
    {
      GError *error = NULL;
      g_autofree char *path = fixture_path (bad[i % XP_LENGTH (bad)]);
      ck_assert_ptr_null (xp_plugin_load (path, &error));
      g_clear_error (&error);
      if (i == XP_LENGTH (bad))
        before = n_open_files ();
    }
  ck_assert_uint_eq (n_open_files (), before);
  for (unsigned i = 0; i < XP_LENGTH (bad); i++)
    {
      g_autofree char *copy = g_strconcat ("-", bad[i], ".so", NULL);
      ck_assert (!is_mapped (copy));
    }
  assert_table (table);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("unruly");
  TCase *tests = tcase_create ("unruly");
  tcase_set_timeout (tests, 30);
  tcase_add_test (tests, pain_12_a_fini_that_blocks);
  tcase_add_test (tests, a_fini_holds_nobody_up);
  tcase_add_test (tests, a_fini_and_a_fork);
  tcase_add_test (tests, a_thread_that_is_left);
  tcase_add_test (tests, a_thread_that_fini_joins);
  tcase_add_test (tests, a_fini_that_ends_its_thread);
  if (SEES_OPENMP)
    tcase_add_test (tests, openmp);
  tcase_add_test (tests, a_destructor_that_loads);
  tcase_add_test (tests, a_hundred_failures);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
