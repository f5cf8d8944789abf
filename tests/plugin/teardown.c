/* SPDX-License-Identifier: MIT
 *
 * teardown.c: while a process ends, from a handler of exit(), from a library after all destructors,
 * ours included, and from a thread that lives on, the library answers or gives an error. Each test
 * ends a child, which says by a byte in a pipe how far it came.
 */
#include "plugin/fixtures.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

extern void (*last_to_run) (void);

enum
{
  CHILD_SECONDS = 20
};

static int steps[2]; /* the pipe */
static XpPlugin *first;
static char *other_path, *copy;

static void
say (char step)
{
  if (write (steps[1], &step, 1) != 1)
    _exit (9);
}

/* Fails the child unless there is either an answer or an error; it has no Check to tell. */
static void
expect_answer (bool answered, GError **error)
{
  if (answered != (*error == NULL))
    _exit (8);
  g_clear_error (error);
}

static void
use_everything (void)
{
  GError *error = NULL;
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (2), XP_CPU, &error);
  expect_answer (tensor != NULL, &error);
  g_clear_pointer (&tensor, xp_tensor_unref);
  int64_t number = call_number ("fixture::number", &error);
  expect_answer (number != -1, &error);
  expect_answer (xp_operator_get ("fixture::number", &error) != NULL, &error);
  expect_answer (xp_operator_get ("fixture::absent", &error) != NULL, &error);
  g_free (xp_table_dump ("fixture::number"));
  g_free (xp_setting_get ("load"));
  xp_plugin_info_free (xp_plugin_info (first));
  xp_plugin_find ("first");
  XpPlugin *second = xp_plugin_load (other_path, &error);
  expect_answer (second != NULL, &error);
  if (second != NULL)
    expect_answer (xp_plugin_unload (second, &error), &error);
  XpPlugin *next = xp_plugin_swap (first, other_path, XP_SWAP_STRICT, NULL, &error);
  expect_answer (next != NULL, &error);
  if (next != NULL)
    expect_answer (xp_plugin_undo (0, NULL, NULL, &error), &error);
  expect_answer (xp_table_check (&error), &error);
}

static void
use_at_exit (void)
{
  use_everything ();
  say ('e');
}

/* Ours has run, for it removes the copies. */
static void
use_at_last (void)
{
  if (access (copy, F_OK) == 0)
    _exit (7);
  use_everything ();
  say ('l');
}

static void *
use_always (G_GNUC_UNUSED void *data)
{
  for (;;)
    use_everything ();
  return NULL;
}

static void
end_at_exit (void)
{
  atexit (use_at_exit);
}

static G_GNUC_UNUSED void
end_at_last (void)
{
  last_to_run = use_at_last;
}

static void
end_under_thread (void)
{
  g_thread_new ("lives on", use_always, NULL);
  g_usleep (2000);
}

static const struct
{
  void (*prepare) (void);
  const char *steps; /* what the child says */
} ends[] = {
  { end_at_exit, "e" },
#ifndef __SANITIZE_ADDRESS__ /* its library is gone by then, and a load would begin it anew */
  { end_at_last, "l" },
#endif
  { end_under_thread, "" },
};

static bool
has_copies (pid_t child)
{
  bool has = false;
  g_autofree char *folder = g_path_get_dirname (copy);
  g_autofree char *prefix = g_strdup_printf ("%d-", (int) child);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    has = has || g_str_has_prefix (name, prefix);
  return has;
}

/* Loads what the child uses; in the child, where the copies are then its own. */
static void
load_all (void)
{
  load_fixture ("rows");
  first = load_fixture ("first");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (first);
  copy = g_strdup (info->mapped_path);
}

START_TEST (answers_while_the_process_ends)
{
  char said[8] = "";
  int status;
  other_path = fixture_path ("second");
  ck_assert_int_eq (pipe (steps), 0);
  pid_t child = fork ();
  if (child == 0)
    {
      alarm (CHILD_SECONDS); /* one that hangs is killed */
      signal (SIGALRM, SIG_DFL);
      load_all ();
      ends[_i].prepare ();
      exit (0);
    }
  close (steps[1]);
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0, "status %#x", status);
  ck_assert_int_ge (read (steps[0], said, sizeof said - 1), 0);
  ck_assert_str_eq (said, ends[_i].steps);
  load_all ();
  if (ends[_i].prepare != end_under_thread)
    ck_assert (!has_copies (child));
  close (steps[0]);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("teardown");
  TCase *tests = tcase_create ("teardown");
  tcase_set_timeout (tests, 60);
  tcase_add_loop_test (tests, answers_while_the_process_ends, 0, XP_LENGTH (ends));
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
