/* SPDX-License-Identifier: MIT
 *
 * copy.c: private copies of plugins' files.
 *
 * The linker takes two opens of one name or inode for the same library, so that a rebuilt file
 * would give the old code; and writing to a file that is mapped kills the process. So what is
 * opened is a copy with a name never used before, in a directory of the user's own.
 */
#include "plugin/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/statvfs.h>
#include <unistd.h>

static bool
is_private_directory (const char *path)
{
  struct stat status;
  return lstat (path, &status) == 0 && S_ISDIR (status.st_mode) && status.st_uid == geteuid ()
         && (status.st_mode & 077) == 0;
}

/* Copies that processes left behind which did not end by themselves; their names begin with a
 * process id. */
static void
sweep (const char *directory)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      char *end;
      gint64 pid = g_ascii_strtoll (name, &end, 10);
      if (pid <= 0 || pid > G_MAXINT || *end != '-' || kill ((pid_t) pid, 0) == 0 || errno != ESRCH)
        continue;
      g_autofree char *path = g_build_filename (directory, name, NULL);
      unlink (path);
    }
}

/* Our directory in @base; NULL where it cannot be ours alone, or nothing in it may run. */
static char *
private_directory (const char *base)
{
  struct statvfs file_system;
  if (base == NULL || !g_path_is_absolute (base) || statvfs (base, &file_system) != 0
      || (file_system.f_flag & ST_NOEXEC) != 0)
    return NULL;
  g_autofree char *path = g_strdup_printf ("%s/crosspoint-%u", base, (unsigned) geteuid ());
  bool is_new = mkdir (path, 0700) == 0;
  if (!is_new && (errno != EEXIST || !is_private_directory (path)))
    return NULL;
  if (!is_new)
    sweep (path);
  return g_steal_pointer (&path);
}

static gboolean
copy_bytes (int from, int to, const char *path, GError **error)
{
  off_t offset = 0;
  ssize_t n;
  while ((n = sendfile (to, from, &offset, 1 << 26)) > 0)
    ;
  if (n == 0)
    return TRUE;
  xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be written: %s", path,
                g_strerror (errno));
  return FALSE;
}

static char *
copy_to (const char *directory, int fd, const char *name, GError **error)
{
  static unsigned sequence;
  g_autofree char *path = g_strdup_printf ("%s/%d-%u-%s.so", directory, (int) getpid (),
                                           __atomic_add_fetch (&sequence, 1, __ATOMIC_RELAXED),
                                           name);
  int copy = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
  if (copy < 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be made: %s", path,
                    g_strerror (errno));
      return NULL;
    }
  gboolean done = copy_bytes (fd, copy, path, error);
  if (close (copy) != 0 && done)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be written: %s", path,
                    g_strerror (errno));
      done = FALSE;
    }
  if (!done)
    unlink (path);
  return done ? g_steal_pointer (&path) : NULL;
}

char *
xp_copy_make (int fd, const char *name, GError **error)
{
  g_autofree char *plain = g_strdup (name);
  g_strcanon (plain, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-.", '_');
  const char *bases[] = { g_getenv ("XDG_RUNTIME_DIR"), g_get_tmp_dir (), "/var/tmp" };
  g_autoptr (GError) reason = NULL;
  for (unsigned i = 0; i < XP_LENGTH (bases); i++)
    {
      g_autofree char *directory = private_directory (bases[i]);
      if (directory == NULL)
        continue;
      g_clear_error (&reason);
      char *path = copy_to (directory, fd, plain, &reason);
      if (path != NULL)
        return path;
    }
  xp_error_set (error, XP_ERROR_FILE_IO, NULL,
                "no place for a private copy of the plugin: %s; set XDG_RUNTIME_DIR or TMPDIR to a "
                "directory with room that is ours alone, or CROSSPOINT_LOAD_IN_PLACE=1",
                reason != NULL ? reason->message
                               : "none of our own in the directories for temporary files");
  return NULL;
}

void
xp_copy_remove (const char *path)
{
  unlink (path);
}

/* At the end of the process nothing is closed, but the copies that it made go; a child of fork
 * leaves those of its parent alone. */
__attribute__ ((destructor)) static void
copies_end (void)
{
  g_autofree char *own = g_strdup_printf ("/%d-", (int) getpid ());
  /* A thread that closes a plugin may still run. */
  g_mutex_lock (&xp_plugins_lock);
  for (XpPlugin *plugin = xp_plugin_records (); plugin != NULL; plugin = plugin->next)
    if (plugin->is_copy && plugin->mapped_path != NULL && strstr (plugin->mapped_path, own) != NULL)
      unlink (plugin->mapped_path);
  g_mutex_unlock (&xp_plugins_lock);
}
