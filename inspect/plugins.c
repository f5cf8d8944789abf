/* SPDX-License-Identifier: MIT
 *
 * plugins.c: reports on plugins and on where they are looked for.
 */
#include "report.h"

#include <string.h>

static void
add_info (JsonBuilder *builder, const XpPluginInfo *info)
{
  json_builder_begin_object (builder);
  add_text (builder, "name", info->name);
  add_text (builder, "version", info->version);
  add_text (builder, "description", info->description);
  add_text (builder, "licence", info->licence);
  add_text (builder, "abi", info->abi);
  add_text (builder, "machine", info->machine);
  add_text (builder, "state", xp_plugin_state_name (info->state));
  add_text (builder, "reason", info->reason);
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
  json_builder_end_object (builder);
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
      const char *file = get_text (plugin, "file");
      n_loaded += strcmp (state, "loaded") == 0;
      char **row = g_new0 (char *, XP_LENGTH (titles));
      row[0] = g_strdup (get_text (plugin, "name"));
      row[1] = g_strdup (get_text (plugin, "version"));
      row[2] = g_strdup (get_text (plugin, "abi"));
      row[3] = g_strdup (state);
      row[4] = g_strdup_printf ("%" G_GINT64_FORMAT, get_number (plugin, "rows"));
      row[5] = g_strdup_printf ("%" G_GINT64_FORMAT, get_number (plugin, "cells"));
      row[6] = reason != NULL ? g_strdup_printf ("%s  (%s)", file, reason) : g_strdup (file);
      g_ptr_array_add (rows, row);
    }
  append_columns (text, rows, colour);
  g_string_append_printf (text, "%u plugin%s, %u loaded\n", n, n == 1 ? "" : "s", n_loaded);
}

XpReport *
xp_report_plugins (gboolean all)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "plugins");
  json_builder_begin_array (builder);
  for (unsigned i = 0; i < n; i++)
    {
      if (all || infos[i]->state != XP_PLUGIN_AVAILABLE)
        add_info (builder, infos[i]);
      xp_plugin_info_free (infos[i]);
    }
  g_free (infos);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return report_new (builder, plugins_text);
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
  static const char *const facts[] = { "file",    "name",  "version", "description",
                                       "licence", "abi",   "machine", "build_id",
                                       "mapped",  "state", "reason",  "resident" };
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
      if (matches && (found == NULL || infos[i]->state == XP_PLUGIN_LOADED))
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
  JsonBuilder *builder = json_builder_new ();
  add_info (builder, info);
  return report_new (builder, plugin_text);
}

static void
paths_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonArray *paths = get_array (json_node_get_object (model), "paths");
  for (unsigned i = 0; i < json_array_get_length (paths); i++)
    {
      JsonObject *path = json_array_get_object_element (paths, i);
      gboolean exists = get_boolean (path, "exists");
      g_string_append_printf (text, "%s%s  (%s%s)%s\n", exists ? "" : dim (colour),
                              get_text (path, "path"), get_text (path, "source"),
                              exists ? "" : ", does not exist", exists ? "" : plain (colour));
    }
}

XpReport *
xp_report_paths (void)
{
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "paths");
  json_builder_begin_array (builder);
  for (unsigned i = 0; i < n; i++)
    {
      json_builder_begin_object (builder);
      add_text (builder, "path", directories[i].path);
      add_text (builder, "source", directories[i].source);
      add_boolean (builder, "exists", directories[i].exists);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  xp_search_directories_free (directories, n);
  return report_new (builder, paths_text);
}
