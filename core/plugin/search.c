/* SPDX-License-Identifier: MIT
 *
 * search.c: where plugins are looked for. Never in the working directory.
 */
#include "plugin/cpu.h"
#include "plugin/plugin.h"
#include "plugin/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
add_directory (GArray *path, const char *directory, const char *source)
{
  /* Nothing, or, of XDG_DATA_HOME, one that would lie in the working directory. */
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
    add_directory (path, directories[i], source);
  return true;
}

char *
xp_search_own_directory (void)
{
  g_autofree char *path = xp_object_path_at ((void *) xp_search_own_directory);
  char *real = realpath (path, NULL);
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
  g_autofree char *own = xp_search_own_directory ();
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

char *
xp_search_describe (const XpSearchDirectory *directories, unsigned n)
{
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "\n  %s (%s%s)", directories[i].path, directories[i].source,
                            directories[i].exists ? "" : ", does not exist");
  return g_string_free (text, FALSE);
}

static void
set_not_found (const char *name, const XpSearchDirectory *directories, unsigned n, GError **error)
{
  g_autofree char *list = xp_search_describe (directories, n);
  xp_error_set (error, XP_ERROR_PLUGIN_NOT_FOUND, &(XpErrorDetails){ .plugin = (char *) name },
                "no plugin '%s': %s%s is in none of these directories:%s\nGive a path with a "
                "slash, or set CROSSPOINT_PLUGIN_PATH.",
                name, name, xp_schemas_are_in (name) ? "" : ".so", list);
}

gboolean
xp_search_check_name (const XpPluginInfo *note, GError **error)
{
  g_autofree char *name = xp_note_name_of_file (note->path);
  const char *level = xp_cpu_level_of_file (note->path);
  const XpErrorDetails details = { .plugin = name };
  if (strcmp (name, note->name) != 0)
    xp_error_set (error, XP_ERROR_PLUGIN_NOT_FOUND, &details,
                  "no plugin '%s': %s says that it is '%s'; call the file %s.so, or load it by its "
                  "path",
                  name, note->path, note->name, note->name);
  else if (level != NULL && !g_strv_contains ((const char *const *) note->cpu, level))
    xp_error_set (error, XP_ERROR_PLUGIN_NOT_FOUND, &details,
                  "no variant of '%s': %s does not say that it needs %s; give it "
                  "XP_PLUGIN_NOTE (\"cpu=%s\"), or call the file %s.so",
                  name, note->path, level, level, name);
  else
    return TRUE;
  return FALSE;
}

/* --- Variants: NAME.LEVEL.so beside NAME.so; of NAME.ops there are none. --- */

/* The files of the plugin @name in @directory, the best first; (element-type filename). */
static GPtrArray *
variants_in (const char *directory, const char *name)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  bool is_schemas = xp_schemas_are_in (name);
  for (unsigned i = is_schemas ? 1 : g_strv_length ((char **) xp_cpu_levels) + 1; i-- > 0;)
    {
      const char *level = i > 0 ? xp_cpu_levels[i - 1] : NULL;
      g_autofree char *file = level != NULL ? g_strdup_printf ("%s.%s.so", name, level)
                              : is_schemas  ? g_strdup (name)
                                            : g_strdup_printf ("%s.so", name);
      g_autofree char *path = g_build_filename (directory, file, NULL);
      if (g_file_test (path, G_FILE_TEST_EXISTS))
        g_ptr_array_add (files, g_steal_pointer (&path));
    }
  return files;
}

static char *
best_of (GPtrArray *files)
{
  for (unsigned i = 0; i < files->len; i++)
    {
      g_autoptr (XpPluginInfo) info = xp_plugin_info_read (files->pdata[i], NULL);
      if (info != NULL && info->state == XP_PLUGIN_AVAILABLE && xp_search_check_name (info, NULL))
        return g_strdup (files->pdata[i]);
    }
  return NULL;
}

char *
xp_search_best_variant (const char *path)
{
  g_autofree char *directory = g_path_get_dirname (path);
  g_autofree char *name = xp_note_name_of_file (path);
  g_autoptr (GPtrArray) files = variants_in (directory, name);
  return files->len > 1 ? best_of (files) : g_strdup (path);
}

/* The best variant in the first directory that has any. Where the machine runs none, the lowest:
 * whoever loads it says why not. */
static char *
find_file (const XpSearchDirectory *directories, unsigned n, const char *name)
{
  for (unsigned i = 0; i < n && name[0] != '\0'; i++)
    {
      g_autoptr (GPtrArray) files = variants_in (directories[i].path, name);
      char *best = files->len > 1 ? best_of (files) : NULL;
      if (best != NULL || files->len > 0)
        return best != NULL ? best : g_strdup (files->pdata[files->len - 1]);
    }
  return NULL;
}

static char *
find_by_name (const char *name, GError **error)
{
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  char *found = find_file (directories, n, name);
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

/* Adds the plugins of @directory whose names are not in @seen, where they are then. */
static void
add_files (GPtrArray *files, const char *directory, GHashTable *seen)
{
  g_autoptr (GHashTable) here = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  const char *file;
  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *name = xp_note_name_of_file (file);
      if (!(g_str_has_suffix (file, ".so") || xp_schemas_are_in (file))
          || g_hash_table_contains (seen, name))
        continue;
      g_ptr_array_add (files, g_build_filename (directory, file, NULL));
      g_hash_table_add (here, g_steal_pointer (&name));
    }
  GHashTableIter iter;
  void *name;
  for (g_hash_table_iter_init (&iter, here); g_hash_table_iter_next (&iter, &name, NULL);)
    g_hash_table_add (seen, g_strdup (name));
}

GPtrArray *
xp_search_all (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  for (unsigned i = 0; i < n; i++)
    add_files (files, directories[i].path, seen);
  xp_search_directories_free (directories, n);
  g_ptr_array_sort (files, compare_names);
  return files;
}
