/* SPDX-License-Identifier: MIT
 *
 * scan.c: the report of a scan: what each file is, and what it brings.
 */
#include "report.h"

#include <string.h>

/* What a file may turn out to be, in the order of a summary. */
static const char *const outcomes[] = { "loaded",      "available", "unsuitable",   "failed",
                                        "quarantined", "rejected",  "not a plugin", "skipped" };

/* The state of the file, but that not every file is meant for us. */
static const char *
outcome_of (const XpPluginInfo *info)
{
  if (g_strcmp0 (info->error, "NOT_A_PLUGIN") == 0)
    return "not a plugin";
  if (g_strcmp0 (info->error, "WRONG_MACHINE") == 0)
    return "skipped";
  return xp_plugin_state_name (info->state);
}

gboolean
plugin_is_rejected (const XpPluginInfo *info)
{
  const char *const bad[] = { "failed", "quarantined", "rejected", NULL };
  return g_strv_contains (bad, outcome_of (info));
}

/* --- What is to be scanned. --- */

static int
compare_texts (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static gboolean
add_directory (const char *path, GPtrArray *files, GPtrArray *ignored, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GDir) dir = g_dir_open (path, 0, &reason);
  const char *name;
  if (dir == NULL)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s", reason->message);
      return FALSE;
    }
  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (g_str_has_suffix (name, ".so") || g_str_has_suffix (name, ".ops") ? files
                                                                                       : ignored,
                     g_build_filename (path, name, NULL));
  return TRUE;
}

static gboolean
add_places (const char *const *places, GPtrArray *files, GPtrArray *ignored, GError **error)
{
  for (; *places != NULL; places++)
    {
      /* A directory is looked into, but not one in it that is called like a plugin. */
      if (!g_file_test (*places, G_FILE_TEST_IS_DIR))
        {
          g_autofree char *path = xp_plugin_locate (*places, error);
          if (path == NULL)
            return FALSE;
          g_ptr_array_add (files, g_steal_pointer (&path));
        }
      else if (!add_directory (*places, files, ignored, error))
        return FALSE;
    }
  g_ptr_array_sort (files, compare_texts);
  g_ptr_array_sort (ignored, compare_texts);
  g_ptr_array_add (files, NULL);
  g_ptr_array_add (ignored, NULL);
  return TRUE;
}

/* --- The model. --- */

static void
add_file (JsonBuilder *builder, const XpPluginInfo *info)
{
  g_autofree char *time = time_text (info->scanned);
  g_autoptr (XpCoverage) coverage = info->scanned != 0 ? xp_plugin_coverage_read (info->path)
                                                       : NULL;
  json_builder_begin_object (builder);
  add_text (builder, "file", info->path);
  add_text (builder, "name", info->name);
  add_text (builder, "found", outcome_of (info));
  add_text (builder, "reason", info->reason);
  add_text (builder, "error", info->error);
  add_text (builder, "scanned", time);
  add_number (builder, "rows", info->n_rows);
  add_number (builder, "cells", info->n_cells);
  add_coverage (builder, coverage);
  json_builder_end_object (builder);
}

static gboolean
add_files (JsonBuilder *builder, XpPluginInfo **infos, unsigned n)
{
  gboolean has_rejected = FALSE;
  begin_list (builder, "files");
  for (unsigned i = 0; i < n; i++)
    {
      add_file (builder, infos[i]);
      has_rejected |= plugin_is_rejected (infos[i]);
    }
  xp_plugin_infos_free (infos, n);
  json_builder_end_array (builder);
  return has_rejected;
}

/* --- The text. --- */

static void
append_summary (GString *text, JsonArray *files, JsonArray *ignored)
{
  unsigned n = json_array_get_length (files), n_ignored = json_array_get_length (ignored);
  const char *separator = ": ";
  g_string_append_printf (text, "%u file%s", n, n == 1 ? "" : "s");
  for (unsigned i = 0; i < XP_LENGTH (outcomes); i++)
    {
      unsigned count = 0;
      for (unsigned j = 0; j < n; j++)
        count += strcmp (get_text (json_array_get_object_element (files, j), "found"), outcomes[i])
                 == 0;
      if (count > 0)
        g_string_append_printf (text, "%s%u %s", separator, count, outcomes[i]);
      separator = count > 0 ? ", " : separator;
    }
  if (n_ignored > 0)
    g_string_append_printf (text, "; %u ignored, not named NAME.so or NAME.ops", n_ignored);
  g_string_append_c (text, '\n');
}

static char *
describe (JsonObject *file)
{
  const char *reason = get_text (file, "reason");
  if (reason != NULL)
    return g_strdup (reason);
  gint64 rows = get_number (file, "rows"), cells = get_number (file, "cells");
  return g_strdup_printf ("%" G_GINT64_FORMAT " row%s, %" G_GINT64_FORMAT " cell%s", rows,
                          rows == 1 ? "" : "s", cells, cells == 1 ? "" : "s");
}

static void
scan_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *root = json_node_get_object (model);
  JsonArray *files = get_array (root, "files"), *ignored = get_array (root, "ignored");
  gboolean verbose = get_boolean (root, "verbose");
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  const char *const titles[] = { "FOUND", "FILE", "WHAT", NULL };
  g_ptr_array_add (rows, g_strdupv ((char **) titles));
  for (unsigned i = 0; i < json_array_get_length (files); i++)
    {
      JsonObject *file = json_array_get_object_element (files, i);
      char **row = g_new0 (char *, XP_LENGTH (titles));
      row[0] = g_strdup (get_text (file, "found"));
      row[1] = g_strdup (get_text (file, "file"));
      row[2] = describe (file);
      g_ptr_array_add (rows, row);
    }
  append_columns (text, rows, colour);
  for (unsigned i = 0; verbose && i < json_array_get_length (files); i++)
    {
      JsonObject *file = json_array_get_object_element (files, i);
      g_autofree char *label = g_strdup_printf ("%s: ", get_text (file, "name"));
      append_coverage (text, file, label);
    }
  for (unsigned i = 0; verbose && i < json_array_get_length (ignored); i++)
    g_string_append_printf (text, "ignored: %s\n", json_array_get_string_element (ignored, i));
  append_summary (text, files, ignored);
}

XpReport *
xp_report_scan (const char *const *places, XpScanFlags flags, gboolean verbose, GError **error)
{
  unsigned n;
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) ignored = g_ptr_array_new_with_free_func (g_free);
  gboolean is_path = places == NULL || places[0] == NULL;
  if (is_path)
    g_ptr_array_add (ignored, NULL);
  else if (!add_places (places, files, ignored, error))
    return NULL;
  XpPluginInfo **infos = xp_plugins_scan (is_path ? NULL : (const char *const *) files->pdata,
                                          flags, &n, error);
  if (infos == NULL)
    return NULL;
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_boolean (builder, "verbose", verbose);
  gboolean has_rejected = add_files (builder, infos, n);
  add_texts (builder, "ignored", (const char *const *) ignored->pdata);
  json_builder_end_object (builder);
  XpReport *report = report_new (builder, scan_text);
  report->has_rejected = has_rejected;
  return report;
}

XpReport *
xp_report_retry (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  g_autofree char *path = xp_plugin_locate (name, error);
  if (path == NULL)
    return NULL;
  XpReport *report = xp_report_scan ((const char *const[]){ path, NULL }, XP_SCAN_AGAIN, FALSE,
                                     error);
  if (report != NULL)
    {
      JsonArray *files = get_array (json_node_get_object (report->model), "files");
      const char *found = get_text (json_array_get_object_element (files, 0), "found");
      report->is_no = strcmp (found, "available") != 0 && strcmp (found, "loaded") != 0;
    }
  return report;
}
