/* SPDX-License-Identifier: MIT
 *
 * scanner_main.c: the program crosspoint-scanner, which scanner.c starts: loads one plugin and
 * writes what it brings to a descriptor of its own.
 *
 *   crosspoint-scanner FILE SECONDS
 */
#include "plugin/finding.h"

#include <crosspoint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum
{
  MOST_REQUIREMENTS = 64 /* one inside the other */
};

static void
set_limit (int resource, rlim_t most)
{
  struct rlimit limit;
  if (getrlimit (resource, &limit) != 0 || most >= limit.rlim_cur)
    return;
  limit.rlim_cur = most;
  setrlimit (resource, &limit);
}

/* No plugin's mistake is to fill disk, memory or cores. The time is held by who started us, which
 * may be gone. */
static void
set_limits (unsigned seconds)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
  set_limit (RLIMIT_CORE, 0);
  set_limit (RLIMIT_CPU, (rlim_t) (seconds + 1) * g_get_num_processors ());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  /* Not the address space, of which drivers reserve much more than they use. */
  set_limit (RLIMIT_DATA, (rlim_t) sysconf (_SC_PHYS_PAGES) * (rlim_t) sysconf (_SC_PAGESIZE));
#endif
}

/* Out of the way of a plugin that writes to low descriptors. */
static int
take_descriptor (void)
{
  struct stat status;
  if (fstat (XP_SCANNER_DESCRIPTOR, &status) != 0 || !S_ISFIFO (status.st_mode))
    return -1;
  int fd = fcntl (XP_SCANNER_DESCRIPTOR, F_DUPFD_CLOEXEC, 100);
  close (XP_SCANNER_DESCRIPTOR);
  return fd;
}

static void
write_all (int fd, const void *data, size_t n)
{
  const char *bytes = data;
  while (n > 0)
    {
      ssize_t part = write (fd, bytes, n);
      if (part < 0 && errno != EINTR)
        _exit (EXIT_FAILURE);
      bytes += part > 0 ? part : 0;
      n -= part > 0 ? (size_t) part : 0;
    }
}

static gboolean
load_requirements (const char *path, unsigned depth, GError **error)
{
  g_autoptr (XpPluginInfo) info = xp_plugin_info_read (path, error);
  if (info == NULL)
    return FALSE;
  for (unsigned i = 0; info->requires_[i] != NULL; i++)
    {
      const char *name = info->requires_[i];
      /* A cycle ends in the error of the load. */
      if (xp_plugin_find (name) != NULL || depth == MOST_REQUIREMENTS)
        continue;
      g_autofree char *file = xp_plugin_locate (name, error);
      if (file == NULL || !load_requirements (file, depth + 1, error)
          || xp_plugin_load (name, error) == NULL)
        return FALSE;
    }
  return TRUE;
}

static XpFinding *
finding_of_error (const char *path, const GError *error)
{
  bool is_ours = error->domain == XP_ERROR;
  bool is_unsuitable = is_ours && error->code == XP_ERROR_UNSUITABLE;
  return xp_finding_new (path, is_unsuitable ? XP_PLUGIN_UNSUITABLE : XP_PLUGIN_FAILED,
                         is_ours ? xp_error_name ((XpError) error->code) : NULL, error->message);
}

static XpFinding *
load (const char *path, int fd)
{
  const char begun = XP_SCANNER_BEGUN;
  GError *error = NULL;
  bool is_ready = load_requirements (path, 0, &error);
  write_all (fd, &begun, 1);
  /* A second chance is what this is for; what it requires has had none. */
  xp_setting_set ("load-quarantined", "1", NULL);
  XpPlugin *plugin = is_ready ? xp_plugin_load (path, &error) : NULL;
  if (plugin == NULL)
    return finding_of_error (path, error);
  XpFinding *finding = xp_finding_new (path, XP_PLUGIN_AVAILABLE, NULL, NULL);
  xp_coverage_free (finding->coverage);
  finding->coverage = xp_plugin_coverage (plugin);
  return finding;
}

int
main (int argc, char **argv)
{
  pid_t self = getpid ();
  int fd = argc == 3 ? take_descriptor () : -1;
  if (fd < 0)
    {
      fputs ("crosspoint-scanner is started by `crosspoint scan`, not by hand.\n", stderr);
      return 2;
    }
  set_limits ((unsigned) strtoul (argv[2], NULL, 10));
  XpFinding *finding = load (argv[1], fd);
  gsize n;
  GBytes *bytes = xp_finding_to_bytes (finding);
  const void *data = g_bytes_get_data (bytes, &n);
  /* A constructor may have forked. */
  if (getpid () == self)
    write_all (fd, data, n);
  /* Neither destructors nor the plugin's threads are to spoil what is found. */
  _exit (EXIT_SUCCESS);
}
