/* SPDX-License-Identifier: MIT
 *
 * search.c: where plugins are looked for. Never in the working directory.
 */
#include "plugin/plugin.h"
#include "plugin/settings.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
add_directory (GArray *path, const char *directory, const char *source)
{
  /* A relative directory would be one of the working directory. */
  if (!g_path_is_absolute (directory))
    return;
  XpSearchDirectory entry = { g_canonicalize_filename (directory, NULL), g_strdup (source),
                              g_file_test (directory, G_FILE_TEST_IS_DIR) };
  g_array_append_val (path, entry);
}

static bool
add_setting (GArray *path, const char *setting, XpSettingLayer layer, const char *source)
{
  g_autofree char *value = xp_setting_get_layer (setting, layer);
  if (value == NULL)
    return false;
  g_auto (GStrv) directories = g_strsplit (value, ":", -1);
  for (unsigned i = 0; directories[i] != NULL; i++)
    if (directories[i][0] != '\0')
      {
        g_autofree char *absolute = g_canonicalize_filename (directories[i], NULL);
        add_directory (path, absolute, source);
      }
  return true;
}

/* The directory that libcrosspoint lies in, with links followed. */
static char *
own_directory (void)
{
  Dl_info info;
  if (dladdr ((void *) own_directory, &info) == 0 || info.dli_fname == NULL)
    return NULL;
  char *real = realpath (info.dli_fname, NULL);
  if (real == NULL)
    return NULL;
  char *directory = g_path_get_dirname (real);
  free (real);
  return directory;
}

/* Where nothing replaces it. */
static void
add_standard (GArray *path)
{
  if (xp_environment_is_trusted ())
    {
      g_autofree char *user = g_build_filename (g_get_user_data_dir (), "crosspoint", "plugins",
                                                NULL);
      add_directory (path, user, "user");
    }
  g_autofree char *own = own_directory ();
  g_autofree char *beside = own != NULL ? g_build_filename (own, "crosspoint", "plugins", NULL)
                                        : NULL;
  if (beside != NULL)
    add_directory (path, beside, "beside the library");
  if (beside == NULL || strcmp (beside, XP_PLUGIN_INSTALL_DIR) != 0)
    add_directory (path, XP_PLUGIN_INSTALL_DIR, "installation");
}

static void
add_configured (GArray *path)
{
  g_autofree char *source = xp_settings_file ();
  add_setting (path, "plugin-path", XP_SETTING_FILE, source);
  if (!add_setting (path, "plugin-system-path", XP_SETTING_FILE, source))
    add_standard (path);
}

XpSearchDirectory *
xp_plugin_search_path (unsigned *n_directories)
{
  g_return_val_if_fail (n_directories != NULL, NULL);
  GArray *path = g_array_new (FALSE, FALSE, sizeof (XpSearchDirectory));
  add_setting (path, "plugin-path", XP_SETTING_PROGRAM, "program");
  add_setting (path, "plugin-path", XP_SETTING_ENVIRONMENT, "CROSSPOINT_PLUGIN_PATH");
  if (!add_setting (path, "plugin-system-path", XP_SETTING_PROGRAM, "program")
      && !add_setting (path, "plugin-system-path", XP_SETTING_ENVIRONMENT,
                       "CROSSPOINT_PLUGIN_SYSTEM_PATH"))
    add_configured (path);
  *n_directories = path->len;
  return (XpSearchDirectory *) (void *) g_array_free (path, FALSE);
}

void
xp_search_directories_free (XpSearchDirectory *directories, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    {
      g_free (directories[i].path);
      g_free (directories[i].source);
    }
  g_free (directories);
}

static char *
set_not_found (const char *name, const XpSearchDirectory *directories, unsigned n, GError **error)
{
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "\n  %s (%s%s)", directories[i].path, directories[i].source,
                            directories[i].exists ? "" : ", does not exist");
  xp_error_set (error, XP_ERROR_PLUGIN_NOT_FOUND, &(XpErrorDetails){ .plugin = (char *) name },
                "no plugin '%s': %s.so is in none of these directories:%s\nGive a path with a "
                "slash, or set CROSSPOINT_PLUGIN_PATH.",
                name, name, text->str);
  g_string_free (text, TRUE);
  return NULL;
}

gboolean
xp_search_check_name (const XpPluginInfo *note, GError **error)
{
  g_autofree char *name = xp_note_name_of_file (note->path);
  if (strcmp (name, note->name) == 0)
    return TRUE;
  xp_error_set (error, XP_ERROR_PLUGIN_NOT_FOUND, &(XpErrorDetails){ .plugin = name },
                "no plugin '%s': %s says that it is '%s'; call the file %s.so, or load it by its "
                "path",
                name, note->path, note->name, note->name);
  return FALSE;
}

static char *
find_by_name (const char *name, GError **error)
{
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  g_autofree char *file = g_strconcat (name, ".so", NULL);
  char *found = NULL;
  for (unsigned i = 0; i < n && found == NULL && name[0] != '\0'; i++)
    {
      g_autofree char *path = g_build_filename (directories[i].path, file, NULL);
      if (g_file_test (path, G_FILE_TEST_EXISTS))
        found = g_steal_pointer (&path);
    }
  if (found == NULL)
    set_not_found (name, directories, n, error);
  xp_search_directories_free (directories, n);
  /* A file without a good note is refused by whoever loads it. */
  g_autoptr (XpPluginInfo) note = found != NULL ? xp_plugin_info_read (found, NULL) : NULL;
  if (note != NULL && !xp_search_check_name (note, error))
    g_clear_pointer (&found, g_free);
  return found;
}

char *
xp_plugin_locate (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  if (strchr (name, '/') == NULL)
    return find_by_name (name, error);
  if (g_file_test (name, G_FILE_TEST_EXISTS))
    return g_canonicalize_filename (name, NULL);
  xp_error_set (error, XP_ERROR_PLUGIN_NOT_FOUND, &(XpErrorDetails){ .plugin = (char *) name },
                "no plugin '%s': there is no such file", name);
  return NULL;
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
xp_search_all (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  for (unsigned i = 0; i < n; i++)
    {
      g_autoptr (GDir) dir = g_dir_open (directories[i].path, 0, NULL);
      const char *name;
      while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
        if (g_str_has_suffix (name, ".so") && g_hash_table_add (seen, g_strdup (name)))
          g_ptr_array_add (files, g_build_filename (directories[i].path, name, NULL));
    }
  xp_search_directories_free (directories, n);
  g_ptr_array_sort (files, compare_names);
  return files;
}
