/* SPDX-License-Identifier: MIT
 *
 * notes.c: the notes of files, each read once while its file stays as it is. Advice in an error
 * looks at every plugin there is, and then costs little more than asking for the files' status.
 */
#include "plugin/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum
{
  MOST_NOTES = 4096,
  /* A file may be written to twice within one tick of its clock. */
  SETTLED_SECONDS = 2
};

typedef struct
{
  struct stat status;
  XpPluginInfo *info; /* or */
  GError *error;
} Note;

static GHashTable *notes; /* path -> Note; under xp_plugins_lock */

static void
note_free (void *data)
{
  Note *note = data;
  xp_plugin_info_free (note->info);
  g_clear_error (&note->error);
  g_free (note);
}

static bool
is_same (const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size
         && a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec
         && a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* What was read of the file in that state; false if nothing was. */
static bool
look_up (const char *path, const struct stat *status, XpPluginInfo **info, GError **error)
{
  g_mutex_lock (&xp_plugins_lock);
  const Note *note = notes != NULL ? g_hash_table_lookup (notes, path) : NULL;
  bool found = note != NULL && is_same (&note->status, status);
  if (found && note->info != NULL)
    *info = xp_plugin_info_copy (note->info);
  else if (found && error != NULL)
    *error = g_error_copy (note->error);
  g_mutex_unlock (&xp_plugins_lock);
  return found;
}

static void
keep (const char *path, const struct stat *status, const XpPluginInfo *info, const GError *error)
{
  if (status->st_ctim.tv_sec > g_get_real_time () / G_USEC_PER_SEC - SETTLED_SECONDS)
    return;
  Note *note = g_new0 (Note, 1);
  note->status = *status;
  note->info = info != NULL ? xp_plugin_info_copy (info) : NULL;
  note->error = error != NULL ? g_error_copy (error) : NULL;
  g_mutex_lock (&xp_plugins_lock);
  if (notes == NULL)
    notes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, note_free);
  if (g_hash_table_size (notes) >= MOST_NOTES)
    g_hash_table_remove_all (notes);
  g_hash_table_insert (notes, g_strdup (path), note);
  g_mutex_unlock (&xp_plugins_lock);
}

XpPluginInfo *
xp_notes_read (const char *path, const XpLinkedPlugin *linked, struct stat *status, GError **error)
{
  XpPluginInfo *info = NULL;
  if (linked == NULL && stat (path, status) == 0 && look_up (path, status, &info, error))
    return info;
  GError *local = NULL;
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat (fd, status) != 0)
    xp_error_set (error, XP_ERROR_FILE_IO, &(XpErrorDetails){ .plugin = (char *) path },
                  "%s cannot be opened: %s; check the path and its permissions", path,
                  g_strerror (errno));
  else if (!S_ISREG (status->st_mode))
    xp_error_set (
        error, XP_ERROR_NOT_A_PLUGIN, &(XpErrorDetails){ .plugin = (char *) path },
        "%s is no plugin: it is not a regular file; name the file itself, or a link to it", path);
  else
    {
      info = xp_note_read (fd, path, linked, &local);
      if (linked == NULL)
        keep (path, status, info, local);
    }
  if (local != NULL)
    g_propagate_error (error, local);
  if (fd >= 0)
    close (fd);
  return info;
}
