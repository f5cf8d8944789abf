/* SPDX-License-Identifier: MIT
 *
 * teardown.c: while a process ends, from a handler of exit(), from a library after all destructors,
 * ours included, and from a thread that lives on, the library answers or gives an error. Each test
 * ends a child, which says by a byte in a pipe how far it came.
 */
#include "plugin/fixtures.h"
#include "plugin/uses.h"

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

/* Fails the child unless each use has either an answer or an error; it has no Check to tell. */
static void
use_everything (void)
{
  const Subject subject = { first, other_path };
  for (const Use *use = uses; use->name != NULL; use++)
    {
      GError *error = NULL;
      if (use->use (&subject, &error) != (error == NULL))
        {
          fprintf (stderr, "use of %s: %s\n", use->name,
                   error != NULL ? error->message : "neither an answer nor an error");
          _exit (8);
        }
      g_clear_error (&error);
    }
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

/* A round of uses takes some milliseconds: the end comes in another one each time. */
static unsigned long delay;

/* All destructors have run, and the thread goes on for a while. */
static G_GNUC_UNUSED void
linger (void)
{
  g_usleep (20000);
}

static void
end_under_thread (void)
{
#ifndef __SANITIZE_ADDRESS__
  last_to_run = linger;
#endif
  g_thread_new ("lives on", use_always, NULL);
  g_usleep (delay);
}

static const struct
{
  void (*prepare) (void);
  const char *steps;   /* what the child says */
  unsigned long delay; /* in microseconds */
} ends[] = {
  { end_at_exit, "e", 0 },
#ifndef __SANITIZE_ADDRESS__ /* its library is gone by then, and a load would begin it anew */
  { end_at_last, "l", 0 },
#endif
  { end_under_thread, "", 500 },  { end_under_thread, "", 2000 },  { end_under_thread, "", 4500 },
  { end_under_thread, "", 7000 }, { end_under_thread, "", 20000 },
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
      delay = ends[_i].delay;
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
