/* SPDX-License-Identifier: MIT
 *
 * parallel.c: loading, unloading, calling and forking at the same time, on several threads.
 */
#include "plugin/fixtures.h"

#include <sys/wait.h>

enum
{
  ROUNDS = 100,
  CHILDREN = 200,
  CHILD_SECONDS = 20
};

static int stop;

/* Loads and unloads one fixture again and again. */
static void *
come_and_go (void *data)
{
  for (unsigned i = 0; i < ROUNDS; i++)
    unload (load_fixture (data));
  return NULL;
}

/* Until it is told to stop. */
static void *
come_and_go_on (void *data)
{
  while (!__atomic_load_n (&stop, __ATOMIC_ACQUIRE))
    unload (load_fixture (data));
  return NULL;
}

/* Tries to load one that is refused. */
static void *
knock (void *data)
{
  for (unsigned i = 0; i < ROUNDS; i++)
    assert_refused (data, XP_ERROR_DUPLICATE_DEF, "multiple times");
  return NULL;
}

/* Calls without an error; somebody always fills the cell. */
static void *
call_on (void *data)
{
  unsigned *seen = data;
  while (!__atomic_load_n (&stop, __ATOMIC_ACQUIRE))
    {
      GError *error = NULL;
      int64_t number = call_number ("fixture::number", &error);
      assert_no_error (error);
      ck_assert (number == 1 || number == 2 || number == 4);
      seen[number]++;
    }
  return NULL;
}

START_TEST (different_plugins)
{
  unsigned seen[5] = { 0 };
  load_fixture ("rows");
  load_fixture ("partial");
  g_autofree char *table = table_text ();
  stop = 0;
  GThread *caller = g_thread_new ("caller", call_on, seen);
  GThread *loaders[] = { g_thread_new ("first", come_and_go, (char *) "first"),
                         g_thread_new ("second", come_and_go, (char *) "second"),
                         g_thread_new ("duplicate", knock, (char *) "duplicate") };
  for (unsigned i = 0; i < XP_LENGTH (loaders); i++)
    g_thread_join (loaders[i]);
  __atomic_store_n (&stop, 1, __ATOMIC_RELEASE);
  g_thread_join (caller);
  ck_assert_uint_gt (seen[1] + seen[2] + seen[4], 0);
  assert_table (table);
  ck_assert (!is_mapped ("-first.so") && !is_mapped ("-second.so"));
}
END_TEST

START_TEST (the_same_plugin)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  GThread *threads[4];
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    threads[i] = g_thread_new ("first", come_and_go, (char *) "first");
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    g_thread_join (threads[i]);
  assert_table (table);
  ck_assert_ptr_null (xp_plugin_find ("first"));
  ck_assert (!is_mapped ("-first.so"));
}
END_TEST

/* The rows themselves come and go under a caller's feet: it gets an answer or the right error. */
static void *
call_anyhow (void *data)
{
  unsigned *n_answers = data;
  while (!__atomic_load_n (&stop, __ATOMIC_ACQUIRE))
    {
      GError *error = NULL;
      int64_t number = call_number ("fixture::number", &error);
      ck_assert_msg (error == NULL ? number == 1
                                   : error->code == XP_ERROR_NOT_DEFINED
                                         || error->code == XP_ERROR_UNKNOWN_OPERATOR
                                         || error->code == XP_ERROR_MISSING_KERNEL,
                     "%s", error != NULL ? error->message : "another number");
      g_clear_error (&error);
      ++*n_answers;
    }
  return NULL;
}

START_TEST (rows_and_kernels)
{
  unsigned n_answers = 0;
  g_autofree char *table = table_text ();
  stop = 0;
  GThread *caller = g_thread_new ("caller", call_anyhow, &n_answers);
  GThread *loaders[] = { g_thread_new ("first", come_and_go, (char *) "first"),
                         g_thread_new ("rows", come_and_go, (char *) "rows") };
  for (unsigned i = 0; i < XP_LENGTH (loaders); i++)
    g_thread_join (loaders[i]);
  __atomic_store_n (&stop, 1, __ATOMIC_RELEASE);
  g_thread_join (caller);
  ck_assert_uint_gt (n_answers, 0);
  assert_table (table);
}
END_TEST

/* A child that is forked while others load can load, call and unload itself. It asserts nothing,
 * for Check has a lock that another thread may have held. */
static void
live_as_child (const char *path)
{
  alarm (CHILD_SECONDS); /* one that hangs is killed */
  GError *error = NULL;
  XpPlugin *high = xp_plugin_load (path, &error);
  if (high == NULL || call_number ("fixture::number", &error) != 3
      || !xp_plugin_unload (high, &error) || xp_plugin_state (high) != XP_PLUGIN_UNLOADED
      || !xp_table_check (&error))
    _exit (1);
  _exit (0);
}

START_TEST (fork_meanwhile)
{
  g_setenv ("FIXTURE_QUIET", "yes", TRUE);
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  g_autofree char *path = fixture_path ("high");
  stop = 0;
  GThread *loaders[] = { g_thread_new ("first", come_and_go_on, (char *) "first"),
                         g_thread_new ("second", come_and_go_on, (char *) "second") };
  for (unsigned i = 0; i < CHILDREN; i++)
    {
      int status;
      pid_t child = fork ();
      if (child == 0)
        live_as_child (path);
      ck_assert_int_gt (child, 0);
      ck_assert_int_eq (waitpid (child, &status, 0), child);
      ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0, "child %u: status %d", i,
                     status);
    }
  __atomic_store_n (&stop, 1, __ATOMIC_RELEASE);
  for (unsigned i = 0; i < XP_LENGTH (loaders); i++)
    g_thread_join (loaders[i]);
  assert_table (table);
}
END_TEST

/* A child leaves its parent's private copies alone when it ends. */
START_TEST (child_leaves_copies)
{
  XpPlugin *rows = load_fixture ("rows");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (rows);
  int status;
  pid_t child = fork ();
  if (child == 0)
    {
      XpPlugin *first = load_fixture ("first");
      g_autoptr (XpPluginInfo) own = xp_plugin_info (first);
      g_autofree char *pid = g_strdup_printf ("/%d-", (int) getpid ());
      if (strstr (own->mapped_path, pid) == NULL)
        _exit (1);
      exit (0); /* with destructors */
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert (WIFEXITED (status) && WEXITSTATUS (status) == 0);
  ck_assert (g_file_test (info->mapped_path, G_FILE_TEST_EXISTS));
  g_autofree char *folder = g_path_get_dirname (info->mapped_path);
  g_autofree char *prefix = g_strdup_printf ("%d-", (int) child);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    ck_assert (!g_str_has_prefix (name, prefix));
}
END_TEST

/* Holds up the first thread that warns, until it may go on. */
static unsigned is_warning, may_go_on;

static GLogWriterOutput
hold_warning (GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields, G_GNUC_UNUSED gsize n,
              G_GNUC_UNUSED void *data)
{
  bool is_first = level == G_LOG_LEVEL_WARNING
                  && !__atomic_exchange_n (&is_warning, 1, __ATOMIC_ACQ_REL);
  while (is_first && !__atomic_load_n (&may_go_on, __ATOMIC_ACQUIRE))
    g_usleep (1000);
  return G_LOG_WRITER_HANDLED;
}

static void *
ask_for_policy (G_GNUC_UNUSED void *data)
{
  return GINT_TO_POINTER (xp_on_tie ());
}

/* A thread that reads the settings for the first time is not in the child, which reads them. */
START_TEST (fork_while_settings_are_read)
{
  int status;
  g_autofree char *rows = fixture_path ("rows");
  g_setenv ("CROSSPOINT_ON_TIE", "rubbish", TRUE);
  g_setenv ("CROSSPOINT_PREFER", "fixture::*@high", TRUE);
  g_log_set_writer_func (hold_warning, NULL, NULL);
  GThread *asker = g_thread_new ("asker", ask_for_policy, NULL);
  while (!__atomic_load_n (&is_warning, __ATOMIC_ACQUIRE))
    g_usleep (1000);
  pid_t child = fork ();
  if (child == 0)
    {
      unsigned n = 0;
      alarm (20);
      xp_preferences_free (xp_preferences (&n), n);
      _exit (n == 1 && xp_plugin_load (rows, NULL) != NULL ? 0 : 1);
    }
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  __atomic_store_n (&may_go_on, 1, __ATOMIC_RELEASE);
  g_thread_join (asker);
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0, "child: status %d", status);
  unsigned n = 0;
  xp_preferences_free (xp_preferences (&n), n);
  ck_assert_uint_eq (n, 1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("parallel");
  TCase *tests = tcase_create ("parallel");
  tcase_set_timeout (tests, 100);
  tcase_add_test (tests, different_plugins);
  tcase_add_test (tests, the_same_plugin);
  tcase_add_test (tests, rows_and_kernels);
  if (CAN_FORK_AMONG_THREADS)
    {
      tcase_add_test (tests, fork_meanwhile);
      tcase_add_test (tests, fork_while_settings_are_read);
    }
  tcase_add_test (tests, child_leaves_copies);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
