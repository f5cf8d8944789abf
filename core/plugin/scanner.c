/* SPDX-License-Identifier: MIT
 *
 * scanner.c: starts the helper for one plugin, reads what it writes, and ends it, whatever the
 * plugin does.
 */
#include "plugin/scanner.h"

#include "plugin/plugin.h"
#include "plugin/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum
{
  MOST_OF_STDERR = 4096,
  MOST_OF_LINE = 200, /* of the helper's last line, in characters */
  MOST_READS = 64,
  WAIT_MILLISECONDS = 20
};

typedef struct
{
  pid_t pid;
  int result; /* -1 once it has ended */
  int errors;
  GByteArray *bytes;
  GString *tail; /* the end of its standard error */
  bool has_ended;
  bool was_too_long;
  bool is_status_known;
  int status;
} Run;

static const char *
find_helper (const char *const *candidates)
{
  for (unsigned i = 0; candidates[i] != NULL; i++)
    if (access (candidates[i], X_OK) == 0)
      return candidates[i];
  return NULL;
}

char *
xp_scanner_locate (GError **error)
{
  const char *named = xp_environment_is_trusted () ? g_getenv ("CROSSPOINT_SCANNER") : NULL;
  if (named != NULL && named[0] != '\0')
    return g_strdup (named);
  g_autofree char *own = xp_search_own_directory ();
  const char *folder = own != NULL ? own : "/";
  g_autofree char *built = g_build_filename (folder, "crosspoint-scanner", NULL);
  g_autofree char *installed = g_build_filename (folder, XP_SCANNER_RELATIVE_DIR,
                                                 "crosspoint-scanner", NULL);
  const char *const candidates[] = { built, installed, NULL };
  const char *found = find_helper (candidates);
  if (found != NULL)
    return g_strdup (found);
  xp_error_set (error, XP_ERROR_FILE_IO, NULL,
                "plugins cannot be scanned: there is no helper program at %s; install it, or set "
                "CROSSPOINT_SCANNER to its path",
                installed);
  return NULL;
}

/* --- Starting. --- */

static bool
make_pipe (int ends[2])
{
  int pair[2];
  if (pipe2 (pair, O_CLOEXEC) != 0)
    return false;
  /* Above the descriptors that the helper gets them as. */
  for (int i = 0; i < 2; i++)
    {
      ends[i] = fcntl (pair[i], F_DUPFD_CLOEXEC, 10);
      close (pair[i]);
    }
  fcntl (ends[0], F_SETFL, O_NONBLOCK);
  return ends[0] >= 0 && ends[1] >= 0;
}

static int
spawn (Run *run, const char *helper, const char *path, double seconds, int result, int errors)
{
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t signals;
  g_autofree char *limit = g_strdup_printf ("%.0f", ceil (CLAMP (seconds, 0, 1e6)));
  char *words[] = { (char *) helper, (char *) path, limit, NULL };
  /* A warning is to be no crash. */
  g_auto (GStrv) variables = g_environ_unsetenv (g_strdupv (environ), "G_DEBUG");
  posix_spawn_file_actions_init (&actions);
  posix_spawn_file_actions_addopen (&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen (&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2 (&actions, errors, 2);
  posix_spawn_file_actions_adddup2 (&actions, result, XP_SCANNER_DESCRIPTOR);
  posix_spawn_file_actions_addclosefrom_np (&actions, XP_SCANNER_DESCRIPTOR + 1);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setflags (&attributes,
                            POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  sigemptyset (&signals);
  posix_spawnattr_setsigmask (&attributes, &signals);
  sigfillset (&signals);
  posix_spawnattr_setsigdefault (&attributes, &signals);
  int code = posix_spawn (&run->pid, helper, &actions, &attributes, words, variables);
  posix_spawnattr_destroy (&attributes);
  posix_spawn_file_actions_destroy (&actions);
  return code;
}

static bool
start (Run *run, const char *helper, const char *path, double seconds, GError **error)
{
  int result[2] = { -1, -1 }, errors[2] = { -1, -1 };
  int code = make_pipe (result) && make_pipe (errors)
                 ? spawn (run, helper, path, seconds, result[1], errors[1])
                 : errno;
  run->result = result[0];
  run->errors = errors[0];
  if (result[1] >= 0)
    close (result[1]);
  if (errors[1] >= 0)
    close (errors[1]);
  if (code == 0)
    return true;
  xp_error_set (error, XP_ERROR_FILE_IO, NULL,
                "plugins cannot be scanned: %s cannot be started: %s", helper, g_strerror (code));
  return false;
}

/* --- Reading. --- */

/* What there is to read now; the descriptor is closed at its end. */
static void
drain (int *fd, void (*take) (Run *run, const guint8 *bytes, gsize n), Run *run)
{
  guint8 buffer[4096];
  ssize_t n = -1;
  /* No more than that at once, for a plugin may write without end. */
  for (unsigned i = 0; i < MOST_READS && *fd >= 0 && !run->was_too_long; i++)
    {
      n = read (*fd, buffer, sizeof buffer);
      if (n <= 0)
        break;
      take (run, buffer, (gsize) n);
    }
  if (*fd >= 0 && n == 0)
    {
      close (*fd);
      *fd = -1;
    }
}

static void
take_result (Run *run, const guint8 *bytes, gsize n)
{
  run->was_too_long = run->bytes->len + n > XP_FINDING_MOST_BYTES;
  if (!run->was_too_long)
    g_byte_array_append (run->bytes, bytes, (guint) n);
}

static void
take_errors (Run *run, const guint8 *bytes, gsize n)
{
  g_string_append_len (run->tail, (const char *) bytes, (gssize) n);
  if (run->tail->len > MOST_OF_STDERR)
    g_string_erase (run->tail, 0, (gssize) run->tail->len - MOST_OF_STDERR);
}

static bool
has_begun (const Run *run)
{
  return run->bytes->len > 0 && run->bytes->data[0] == XP_SCANNER_BEGUN;
}

/* Whether there is no more to come: a whole finding, or bytes that are none. */
static bool
is_complete (const Run *run)
{
  if (run->was_too_long)
    return true;
  if (run->bytes->len < 1 + XP_FINDING_HEADER)
    return false;
  return run->bytes->len - 1 >= xp_finding_size (run->bytes->data + 1);
}

/* Also where somebody else has waited for it. */
static bool
process_has_ended (pid_t pid)
{
  siginfo_t info = { 0 };
  if (waitid (P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == ECHILD;
  return info.si_pid == pid;
}

/* Until there is a result, the process has ended, or the time is over. */
static void
follow (Run *run, double seconds)
{
  gint64 end = g_get_monotonic_time () + (gint64) (CLAMP (seconds, 0, 1e6) * G_USEC_PER_SEC);
  while (!is_complete (run) && !run->has_ended && g_get_monotonic_time () < end)
    {
      struct pollfd descriptors[] = { { .fd = run->result, .events = POLLIN },
                                      { .fd = run->errors, .events = POLLIN } };
      poll (descriptors, 2, WAIT_MILLISECONDS);
      /* Asked first, so that what it wrote last is read. */
      run->has_ended = process_has_ended (run->pid);
      drain (&run->result, take_result, run);
      drain (&run->errors, take_errors, run);
    }
  /* The rest of what a process that has ended left in the pipe. */
  for (gsize n = 0; run->has_ended && run->result >= 0 && n != run->bytes->len;)
    {
      n = run->bytes->len;
      drain (&run->result, take_result, run);
    }
}

/* Nothing that the helper has started outlives it. The process is still there to give the group its
 * number. */
static void
finish (Run *run)
{
  kill (-run->pid, SIGKILL);
  pid_t waited;
  while ((waited = waitpid (run->pid, &run->status, 0)) < 0 && errno == EINTR)
    ;
  run->is_status_known = waited == run->pid;
  drain (&run->errors, take_errors, run);
}

/* --- Judging. --- */

/* The last line that is not empty, fit for a terminal. */
static char *
last_line (const GString *tail)
{
  g_autofree char *text = g_utf8_make_valid (tail->str, (gssize) tail->len);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (unsigned i = g_strv_length (lines); i-- > 0;)
    {
      for (char *byte = lines[i]; *byte != '\0'; byte++)
        if (g_ascii_iscntrl (*byte))
          *byte = ' ';
      g_strstrip (lines[i]);
      if (lines[i][0] != '\0')
        return g_utf8_substring (lines[i], 0, MIN (g_utf8_strlen (lines[i], -1), MOST_OF_LINE));
    }
  return NULL;
}

static void
describe_end (const Run *run, GString *text)
{
  if (!run->is_status_known)
    g_string_append (text, "it ended its process; how is not known, for this program does not keep "
                           "the status of processes (SIGCHLD)");
  else if (WIFSIGNALED (run->status))
    {
      const char *name = sigabbrev_np (WTERMSIG (run->status));
      g_string_append_printf (text, "killed by SIG%s (%s)", name != NULL ? name : "?",
                              g_strsignal (WTERMSIG (run->status)));
    }
  else
    g_string_append_printf (text, "it ended its process with exit status %d",
                            WEXITSTATUS (run->status));
}

static char *
describe (const Run *run, double seconds)
{
  GString *text = g_string_new (NULL);
  if (is_complete (run))
    g_string_append (text, "it wrote into what the scanner reports");
  else if (!run->has_ended)
    g_string_append_printf (text, "it did not come back within %g s (scan-timeout)", seconds);
  else
    describe_end (run, text);
  g_string_append (text, has_begun (run) ? " while it was loaded"
                                         : " before it was loaded, in the scanner or what the "
                                           "plugin requires");
  g_autofree char *line = last_line (run->tail);
  if (line != NULL)
    g_string_append_printf (text, "; it said last: %s", line);
  return g_string_free (text, FALSE);
}

/* A finding of the helper is about that file, and one of the states that a load leaves. */
static XpFinding *
parse_result (const Run *run, const char *path)
{
  if (!has_begun (run))
    return NULL;
  XpFinding *finding = xp_finding_parse (run->bytes->data + 1, run->bytes->len - 1, true);
  if (finding != NULL && strcmp (finding->path, path) == 0
      && (finding->state == XP_PLUGIN_AVAILABLE || finding->state == XP_PLUGIN_UNSUITABLE
          || finding->state == XP_PLUGIN_FAILED))
    return finding;
  xp_finding_free (finding);
  return NULL;
}

XpFinding *
xp_scanner_run (const char *helper, const XpPluginInfo *info, double seconds, bool *is_final,
                GError **error)
{
  Run run = { .result = -1, .errors = -1 };
  XpFinding *finding = NULL;
  run.bytes = g_byte_array_new ();
  run.tail = g_string_new (NULL);
  if (start (&run, helper, info->path, seconds, error))
    {
      follow (&run, seconds);
      finish (&run);
      finding = parse_result (&run, info->path);
      *is_final = has_begun (&run);
      if (finding == NULL)
        {
          g_autofree char *reason = describe (&run, seconds);
          finding = xp_finding_new (info->path,
                                    has_begun (&run) ? XP_PLUGIN_QUARANTINED : XP_PLUGIN_FAILED,
                                    has_begun (&run) ? xp_error_name (XP_ERROR_QUARANTINED)
                                                     : xp_error_name (XP_ERROR_LOAD_FAILED),
                                    reason);
        }
      finding->time = g_get_real_time () / G_USEC_PER_SEC;
    }
  if (run.result >= 0)
    close (run.result);
  if (run.errors >= 0)
    close (run.errors);
  g_byte_array_unref (run.bytes);
  g_string_free (run.tail, TRUE);
  return finding;
}
