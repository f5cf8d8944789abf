/* SPDX-License-Identifier: MIT
 *
 * needs.c: the report on what a program needs of the table, and who would bring what is missing.
 */
#include "lines.h"
#include "report.h"

#include <string.h>

static void
add_providers (JsonBuilder *builder, const char *op, XpKey key)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins_for (op, key, &n);
  begin_list (builder, "plugins");
  for (unsigned i = 0; i < n; i++)
    {
      json_builder_begin_object (builder);
      add_text (builder, "name", infos[i]->name);
      add_text (builder, "file", infos[i]->path);
      add_text (builder, "state", xp_plugin_state_name (infos[i]->state));
      add_text (builder, "reason", infos[i]->reason);
      json_builder_end_object (builder);
    }
  xp_plugin_infos_free (infos, n);
  json_builder_end_array (builder);
}

/* An alias key has no cell: what counts is what is registered under it. */
static gboolean
is_there (const char *op, XpKey key)
{
  return xp_key_is_alias (key) ? xp_table_has_kernel (op, key)
                               : xp_table_has_computed_kernel (op, key, NULL);
}

/* One line, `operator key`; @missing counts up where that is not there. */
static gboolean
add_need (JsonBuilder *builder, const char *line, gint64 *missing, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (line, " \t", -1);
  const char *parts[2] = { NULL, NULL };
  unsigned n = 0;
  for (char **word = words; *word != NULL; word++)
    if (**word != '\0' && ++n <= 2)
      parts[n - 1] = *word;
  if (n != 2)
    {
      g_autofree char *valid = g_utf8_make_valid (line, -1);
      xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                    "expected an operator and a key, as in `aten::gelu CPU`, found '%s'", valid);
      return FALSE;
    }
  XpKey key;
  if (!xp_key_parse (parts[1], &key, error))
    return FALSE;
  g_autoptr (XpRowInfo) row = xp_table_row (parts[0]);
  gboolean has = row != NULL && is_there (parts[0], key);
  json_builder_begin_object (builder);
  add_text (builder, "operator", parts[0]);
  add_text (builder, "key", parts[1]);
  add_boolean (builder, "row", row != NULL && row->schema != NULL);
  add_boolean (builder, "has", has && row->schema != NULL);
  if (!has || row->schema == NULL)
    {
      ++*missing;
      add_providers (builder, parts[0], key);
    }
  json_builder_end_object (builder);
  return TRUE;
}

static void
append_missing (GString *text, JsonObject *need, gboolean colour)
{
  JsonArray *plugins = get_array (need, "plugins");
  g_string_append_printf (text, "%s%s %s%s: %s", red (colour), get_text (need, "operator"),
                          get_text (need, "key"), plain (colour),
                          get_boolean (need, "row") ? "no kernel" : "not defined");
  for (unsigned i = 0; i < json_array_get_length (plugins); i++)
    {
      JsonObject *plugin = json_array_get_object_element (plugins, i);
      const char *reason = get_text (plugin, "reason");
      g_string_append_printf (text, "%s%s (%s%s%s)", i > 0 ? ", " : "; may be in ",
                              get_text (plugin, "name"), get_text (plugin, "state"),
                              reason != NULL ? ": " : "", reason != NULL ? reason : "");
    }
  if (json_array_get_length (plugins) == 0)
    g_string_append (text, "; no plugin on the search path says that it has it");
  g_string_append_c (text, '\n');
}

static void
needs_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *object = json_node_get_object (model);
  JsonArray *needs = get_array (object, "needs");
  for (unsigned i = 0; i < json_array_get_length (needs); i++)
    if (!get_boolean (json_array_get_object_element (needs, i), "has"))
      append_missing (text, json_array_get_object_element (needs, i), colour);
  g_string_append_printf (text, "%u needed, %" G_GINT64_FORMAT " missing\n",
                          json_array_get_length (needs), get_number (object, "missing"));
}

static gboolean
add_needs (JsonBuilder *builder, Lines *lines, const char *name, gint64 *missing, GError **error)
{
  const char *raw;
  gsize length;
  while (lines_next (lines, &raw, &length))
    {
      g_autofree char *line = g_strndup (raw, length);
      line[strcspn (line, "#")] = '\0';
      if (*g_strstrip (line) == '\0')
        continue;
      if (!add_need (builder, line, missing, error))
        {
          g_prefix_error (error, "%s:%" G_GUINT64_FORMAT ": ", name, lines->number);
          return FALSE;
        }
    }
  return TRUE;
}

XpReport *
xp_report_needs (const XpReportInput *input, GError **error)
{
  g_return_val_if_fail (input != NULL && input->name != NULL && input->text != NULL, NULL);
  Lines lines;
  gint64 missing = 0;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "needs");
  lines_init (&lines, input->text);
  gboolean good = add_needs (builder, &lines, input->name, &missing, error);
  lines_clear (&lines);
  if (!good)
    return NULL;
  json_builder_end_array (builder);
  add_number (builder, "missing", missing);
  json_builder_end_object (builder);
  XpReport *report = report_new (g_steal_pointer (&builder), needs_text);
  report->is_no = missing > 0;
  return report;
}
