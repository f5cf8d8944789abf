/* SPDX-License-Identifier: MIT
 *
 * plugins.c: reports on plugins and on where they are looked for.
 */
#include "report.h"

#include <string.h>

static void
add_info_members (JsonBuilder *builder, const XpPluginInfo *info)
{
  g_autofree char *time = time_text (info->scanned);
  add_text (builder, "name", info->name);
  add_text (builder, "version", info->version);
  add_text (builder, "description", info->description);
  add_text (builder, "licence", info->licence);
  add_text (builder, "abi", info->abi);
  add_text (builder, "machine", info->machine);
  add_text (builder, "state", xp_plugin_state_name (info->state));
  add_text (builder, "reason", info->reason);
  add_text (builder, "error", info->error);
  add_text (builder, "scanned", time);
  add_text (builder, "file", info->path);
  add_text (builder, "mapped", info->mapped_path);
  add_text (builder, "build_id", info->build_id);
  add_text (builder, "resident", info->resident);
  add_priority (builder, info->priority);
  add_number (builder, "loads", info->load_count);
  add_number (builder, "pins", info->pin_count);
  add_number (builder, "rows", info->n_rows);
  add_number (builder, "cells", info->n_cells);
  add_texts (builder, "requires", (const char *const *) info->requires_);
  add_texts (builder, "defines", (const char *const *) info->defines);
  add_texts (builder, "fills", (const char *const *) info->fills);
  add_texts (builder, "kernels", (const char *const *) info->kernels);
  add_texts (builder, "cpu", (const char *const *) info->cpu);
}

static void
add_info (JsonBuilder *builder, const XpPluginInfo *info)
{
  json_builder_begin_object (builder);
  add_info_members (builder, info);
  json_builder_end_object (builder);
}

/* How many there are; of one that is neither loaded nor scanned nobody knows. */
static char *
count_text (JsonObject *plugin, const char *member)
{
  const char *const known[] = { "loaded", "inactive", "draining", "retired", "unloaded", NULL };
  gint64 number = get_number (plugin, member);
  if (number == 0 && get_text (plugin, "scanned") == NULL
      && !g_strv_contains (known, get_text (plugin, "state")))
    return g_strdup ("-");
  return g_strdup_printf ("%" G_GINT64_FORMAT, number);
}

static void
plugins_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonArray *plugins = get_array (json_node_get_object (model), "plugins");
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  unsigned n = json_array_get_length (plugins), n_loaded = 0;
  const char *const titles[] = { "NAME", "VERSION", "ABI", "STATE", "ROWS", "CELLS", "FILE", NULL };
  g_ptr_array_add (rows, g_strdupv ((char **) titles));
  for (unsigned i = 0; i < n; i++)
    {
      JsonObject *plugin = json_array_get_object_element (plugins, i);
      const char *state = get_text (plugin, "state");
      const char *reason = get_text (plugin, "reason");
      const char *file = get_text (plugin, "file") != NULL ? get_text (plugin, "file") : "-";
      n_loaded += strcmp (state, "loaded") == 0;
      char **row = g_new0 (char *, XP_LENGTH (titles));
      row[0] = g_strdup (get_text (plugin, "name"));
      row[1] = g_strdup (get_text (plugin, "version"));
      row[2] = g_strdup (get_text (plugin, "abi"));
      row[3] = g_strdup (state);
      row[4] = count_text (plugin, "rows");
      row[5] = count_text (plugin, "cells");
      row[6] = reason != NULL ? g_strdup_printf ("%s  (%s)", file, reason) : g_strdup (file);
      g_ptr_array_add (rows, row);
    }
  append_columns (text, rows, colour);
  g_string_append_printf (text, "%u plugin%s, %u loaded\n", n, n == 1 ? "" : "s", n_loaded);
}

/* The plugins that the user has asked for and that are not there. */
static gboolean
add_missing (JsonBuilder *builder)
{
  gboolean has_missing = FALSE;
  for (XpSettingLayer layer = XP_SETTING_PROGRAM; layer < XP_SETTING_DEFAULT; layer++)
    {
      g_autofree char *value = xp_setting_get_layer ("load", layer);
      if (value == NULL)
        continue;
      g_auto (GStrv) names = xp_setting_get_list ("load");
      for (unsigned i = 0; names[i] != NULL; i++)
        {
          g_autoptr (GError) error = NULL;
          g_autofree char *path = xp_plugin_locate (names[i], &error);
          if (path != NULL)
            continue;
          XpPluginInfo info = { .name = names[i],
                                .version = (char *) "",
                                .abi = (char *) "",
                                .state = XP_PLUGIN_REJECTED,
                                .reason = error->message,
                                .error = xp_error_name ((XpError) error->code) };
          add_info (builder, &info);
          has_missing = TRUE;
        }
      break;
    }
  return has_missing;
}

/* Those that this process has not tried are of interest where something is wrong with them. */
static gboolean
is_quiet (const XpPluginInfo *info)
{
  return info->state == XP_PLUGIN_AVAILABLE || info->state == XP_PLUGIN_PASSED_OVER
         || (info->state == XP_PLUGIN_UNSUITABLE && info->scanned != 0);
}

/* Without the helper the list is as good as notes are. */
static void
scan_new (void)
{
  unsigned n;
  g_autoptr (GError) error = NULL;
  XpPluginInfo **infos = xp_plugins_scan (NULL, XP_SCAN_NEW, &n, &error);
  if (infos == NULL)
    {
      g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "MESSAGE", "%s", error->message);
      return;
    }
  xp_plugin_infos_free (infos, n);
}

XpReport *
xp_report_plugins (gboolean all)
{
  unsigned n;
  if (all)
    scan_new ();
  XpPluginInfo **infos = xp_plugins (&n);
  gboolean has_rejected = FALSE;
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "plugins");
  for (unsigned i = 0; i < n; i++)
    {
      if (all || !is_quiet (infos[i]))
        add_info (builder, infos[i]);
      has_rejected |= plugin_is_rejected (infos[i]);
    }
  xp_plugin_infos_free (infos, n);
  has_rejected |= add_missing (builder);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  XpReport *report = report_new (builder, plugins_text);
  report->has_rejected = has_rejected;
  return report;
}

/* `key:` padded, then the value; lists give a line each. */
static void
append_field (GString *text, const char *key, const char *value)
{
  if (value != NULL && value[0] != '\0')
    {
      g_autofree char *label = g_strconcat (key, ":", NULL);
      g_string_append_printf (text, "%-16s%s\n", label, value);
    }
}

static void
append_list (GString *text, JsonObject *plugin, const char *key)
{
  JsonArray *values = get_array (plugin, key);
  for (unsigned i = 0; i < json_array_get_length (values); i++)
    append_field (text, key, json_array_get_string_element (values, i));
}

static void
append_count (GString *text, JsonObject *plugin, const char *key)
{
  g_autofree char *number = g_strdup_printf ("%" G_GINT64_FORMAT, get_number (plugin, key));
  append_field (text, key, number);
}

static void
plugin_text (JsonNode *model, GString *text, G_GNUC_UNUSED gboolean colour)
{
  static const char *const facts[] = { "file",   "name",    "version",  "description", "licence",
                                       "abi",    "machine", "build_id", "mapped",      "state",
                                       "reason", "scanned", "resident" };
  static const char *const lists[] = { "requires", "cpu", "defines", "fills", "kernels" };
  static const char *const counts[] = { "loads", "pins", "rows", "cells" };
  JsonObject *plugin = json_node_get_object (model);
  for (unsigned i = 0; i < XP_LENGTH (facts); i++)
    append_field (text, facts[i], get_text (plugin, facts[i]));
  g_autofree char *priority = priority_of (plugin);
  append_field (text, "priority", priority);
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    append_list (text, plugin, lists[i]);
  if (get_number (plugin, "loads") > 0)
    for (unsigned i = 0; i < XP_LENGTH (counts); i++)
      append_count (text, plugin, counts[i]);
  append_coverage (text, plugin, "coverage:       ");
}

/* The plugin of that name or file among all that are known. */
static XpPluginInfo *
find_info (const char *name)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  XpPluginInfo *found = NULL;
  g_autofree char *path = strchr (name, '/') != NULL ? g_canonicalize_filename (name, NULL) : NULL;
  for (unsigned i = 0; i < n; i++)
    {
      gboolean matches = path != NULL ? g_strcmp0 (infos[i]->path, path) == 0
                                      : strcmp (infos[i]->name, name) == 0;
      if (matches
          && (found == NULL || found->state == XP_PLUGIN_PASSED_OVER
              || infos[i]->state == XP_PLUGIN_LOADED))
        {
          xp_plugin_info_free (found);
          found = infos[i];
        }
      else
        xp_plugin_info_free (infos[i]);
    }
  g_free (infos);
  return found;
}

XpReport *
xp_report_plugin (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  g_autoptr (XpPluginInfo) info = find_info (name);
  if (info == NULL)
    {
      /* Reading runs nothing, so a file of the working directory will do here. */
      g_autofree char *path = g_file_test (name, G_FILE_TEST_EXISTS)
                                  ? g_strdup (name)
                                  : xp_plugin_locate (name, error);
      info = path != NULL ? xp_plugin_info_read (path, error) : NULL;
    }
  if (info == NULL)
    return NULL;
  g_autoptr (XpCoverage) coverage = info->path != NULL ? xp_plugin_coverage_read (info->path)
                                                       : NULL;
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_info_members (builder, info);
  add_coverage (builder, coverage);
  json_builder_end_object (builder);
  return report_new (builder, plugin_text);
}

static void
paths_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *object = json_node_get_object (model);
  JsonArray *paths = get_array (object, "paths");
  for (unsigned i = 0; i < json_array_get_length (paths); i++)
    {
      JsonObject *path = json_array_get_object_element (paths, i);
      gboolean exists = get_boolean (path, "exists");
      gint64 n = get_number (path, "files");
      g_autofree char *count = g_strdup_printf ("%" G_GINT64_FORMAT " file%s", n,
                                                n == 1 ? "" : "s");
      g_string_append_printf (text, "%s%s  (%s, %s)%s\n", exists ? "" : dim (colour),
                              get_text (path, "path"), get_text (path, "source"),
                              exists ? count : "does not exist", exists ? "" : plain (colour));
    }
  JsonObject *settings = json_object_get_object_member (object, "settings");
  g_string_append_printf (text, "settings: %s%s\n", get_text (settings, "path"),
                          get_boolean (settings, "exists") ? "" : "  (does not exist)");
}

/* How many files in @directory are called as plugins are. */
static gint64
count_files (const char *directory)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  const char *name;
  gint64 n = 0;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    n += g_str_has_suffix (name, ".so") || g_str_has_suffix (name, ".ops");
  return n;
}

XpReport *
xp_report_paths (void)
{
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  g_autofree char *settings = xp_settings_file ();
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "paths");
  for (unsigned i = 0; i < n; i++)
    {
      json_builder_begin_object (builder);
      add_text (builder, "path", directories[i].path);
      add_text (builder, "source", directories[i].source);
      add_boolean (builder, "exists", directories[i].exists);
      add_number (builder, "files", count_files (directories[i].path));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "settings");
  json_builder_begin_object (builder);
  add_text (builder, "path", settings);
  add_boolean (builder, "exists", g_file_test (settings, G_FILE_TEST_EXISTS));
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  xp_search_directories_free (directories, n);
  return report_new (builder, paths_text);
}
