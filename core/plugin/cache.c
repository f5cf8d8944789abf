/* SPDX-License-Identifier: MIT
 *
 * cache.c: findings that outlive the process: one file for each plugin, in the user's cache
 * directory, called after the checksum of the plugin's path.
 *
 * A file is written whole and moved into place, and holds one plugin only; so processes that scan
 * at the same time need no lock: of one plugin the last one's finding stays, and no other is
 * touched. What is damaged is not there. Where nothing can be written, what was found is kept in
 * memory.
 */
#include "plugin/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

enum
{
  NAME_LENGTH = 64, /* of a SHA-256 in hexadecimal */
  OLD_SECONDS = 3600
};

static GMutex lock;           /* a leaf, for what follows */
static GHashTable *unwritten; /* path -> GBytes */
static bool has_warned;

/* Our directory; NULL where it is not ours alone. */
static char *
directory (bool create)
{
  /* With raised privileges the environment does not say where to write. */
  if (getauxval (AT_SECURE) != 0)
    return NULL;
  /* Nor does the working directory. */
  if (!g_path_is_absolute (g_get_user_cache_dir ()))
    return NULL;
  char *path = g_build_filename (g_get_user_cache_dir (), "crosspoint", "plugins", NULL);
  struct stat status;
  if ((!create || g_mkdir_with_parents (path, 0700) == 0) && lstat (path, &status) == 0
      && S_ISDIR (status.st_mode) && status.st_uid == geteuid () && (status.st_mode & 022) == 0)
    return path;
  g_free (path);
  return NULL;
}

static char *
name_of (const char *path)
{
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, path, -1);
}

/* The bytes of an ordinary file of ours of sensible size; NULL otherwise. */
static GBytes *
read_file (const char *file)
{
  struct stat status;
  GBytes *bytes = NULL;
  int fd = open (file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return NULL;
  if (fstat (fd, &status) == 0 && S_ISREG (status.st_mode) && status.st_uid == geteuid ()
      && status.st_size > 0 && status.st_size <= XP_FINDING_MOST_BYTES)
    {
      gsize n = (gsize) status.st_size, done = 0;
      guint8 *data = g_malloc (n);
      ssize_t part;
      while (done < n && (part = read (fd, data + done, n - done)) != 0)
        {
          if (part < 0 && errno != EINTR)
            break;
          done += part > 0 ? (gsize) part : 0;
        }
      bytes = g_bytes_new_take (data, done);
    }
  close (fd);
  return bytes;
}

static GBytes *
find (const char *path)
{
  g_autofree char *folder = directory (false), *name = name_of (path);
  g_autofree char *file = folder != NULL ? g_build_filename (folder, name, NULL) : NULL;
  GBytes *bytes = NULL;
  g_mutex_lock (&lock);
  if (unwritten != NULL && (bytes = g_hash_table_lookup (unwritten, path)) != NULL)
    g_bytes_ref (bytes);
  g_mutex_unlock (&lock);
  return bytes != NULL || file == NULL ? bytes : read_file (file);
}

XpFinding *
xp_cache_get (const char *path, bool whole)
{
  g_autoptr (GBytes) bytes = find (path);
  if (bytes == NULL)
    return NULL;
  gsize n;
  const guint8 *data = g_bytes_get_data (bytes, &n);
  XpFinding *finding = xp_finding_parse (data, n, whole);
  if (finding == NULL)
    g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_DEBUG, "MESSAGE",
                      "what is kept of a scan of %s is damaged, so it is scanned again", path);
  if (finding == NULL || strcmp (finding->path, path) == 0)
    return finding;
  xp_finding_free (finding);
  return NULL;
}

/* Why nothing was written, or NULL. */
static char *
write_file (const char *path, GBytes *bytes)
{
  g_autofree char *folder = directory (true);
  if (folder == NULL)
    return g_strdup ("it is not a directory that belongs to this user alone");
  gsize n;
  g_autoptr (GError) error = NULL;
  const char *data = g_bytes_get_data (bytes, &n);
  g_autofree char *name = name_of (path);
  g_autofree char *file = g_build_filename (folder, name, NULL);
  if (g_file_set_contents_full (file, data, (gssize) n, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
                                &error))
    return NULL;
  return g_strdup (error->message);
}

void
xp_cache_put (const XpFinding *finding)
{
  GBytes *bytes = xp_finding_to_bytes (finding);
  g_autofree char *reason = write_file (finding->path, bytes);
  g_mutex_lock (&lock);
  bool warns = reason != NULL && !has_warned;
  has_warned |= warns;
  if (unwritten == NULL)
    unwritten = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                       (GDestroyNotify) g_bytes_unref);
  if (reason != NULL)
    g_hash_table_insert (unwritten, g_strdup (finding->path), bytes);
  else
    {
      g_hash_table_remove (unwritten, finding->path);
      g_bytes_unref (bytes);
    }
  g_mutex_unlock (&lock);
  if (warns)
    g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "MESSAGE",
                      "%s/crosspoint/plugins cannot be written: %s; what plugins bring is learnt "
                      "anew by each process",
                      g_get_user_cache_dir (), reason);
}

/* Whether a file of our directory serves nothing: of a plugin that is gone, damaged, or left by a
 * process that ended while it wrote. */
static bool
is_stale (const char *file, const char *name)
{
  struct stat status;
  if (strspn (name, "0123456789abcdef") < NAME_LENGTH || lstat (file, &status) != 0)
    return false;
  if (name[NAME_LENGTH] != '\0')
    return status.st_mtime < time (NULL) - OLD_SECONDS;
  g_autoptr (GBytes) bytes = read_file (file);
  gsize n = 0;
  const guint8 *data = bytes != NULL ? g_bytes_get_data (bytes, &n) : NULL;
  g_autoptr (XpFinding) finding = data != NULL ? xp_finding_parse (data, n, false) : NULL;
  return finding == NULL || (lstat (finding->path, &status) != 0 && errno == ENOENT);
}

void
xp_cache_sweep (void)
{
  g_autofree char *folder = directory (false);
  g_autoptr (GDir) dir = folder != NULL ? g_dir_open (folder, 0, NULL) : NULL;
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *file = g_build_filename (folder, name, NULL);
      if (is_stale (file, name))
        unlink (file);
    }
}
