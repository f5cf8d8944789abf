/* SPDX-License-Identifier: MIT
 *
 * which.c: reports on who comes first: the stack of one cell, and the preferences.
 */
#include "report.h"

#include <string.h>

/* --- which --- */

static char **
candidate_row (JsonObject *candidate)
{
  const char *preference = get_text (candidate, "preference");
  char **row = g_new0 (char *, 7);
  row[0] = g_strdup (get_text (candidate, "plugin"));
  row[1] = g_strdup_printf ("%s%s%s%s", get_text (candidate, "key"),
                            get_boolean (candidate, "alias") ? "[alias]" : "",
                            get_boolean (candidate, "fallback") ? " fallback" : "",
                            get_boolean (candidate, "fallthrough") ? " fallthrough" : "");
  row[2] = priority_of (candidate);
  row[3] = g_strdup (preference != NULL ? preference : "-");
  row[4] = g_strdup (get_boolean (candidate, "active") ? "active" : "inactive");
  row[5] = g_strdup (get_text (candidate, "debug"));
  return row;
}

static void
which_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *cell = json_node_get_object (model);
  JsonArray *candidates = get_array (cell, "candidates");
  const char *const titles[] = { "PLUGIN", "KEY",      "PRIORITY", "PREFERENCE",
                                 "STATE",  "LOCATION", NULL };
  const char *plugin = get_text (cell, "plugin");
  g_string_append_printf (text, "%s [%s]: %s%s%s%s\n", get_text (cell, "name"),
                          get_text (cell, "key"), plugin != NULL ? plugin : "",
                          plugin != NULL ? " (" : "", get_text (cell, "reason"),
                          plugin != NULL ? ")" : "");
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_ptr_array_add (rows, g_strdupv ((char **) titles));
  for (unsigned i = 0; i < json_array_get_length (candidates); i++)
    g_ptr_array_add (rows, candidate_row (json_array_get_object_element (candidates, i)));
  append_columns (text, rows, colour);
  for (unsigned i = 0; i < json_array_get_length (candidates); i++)
    {
      JsonObject *candidate = json_array_get_object_element (candidates, i);
      g_autofree char *before = g_strdup_printf ("%s ", get_text (candidate, "plugin"));
      append_takes (text, candidate, before);
      if (get_text (candidate, "takes") != NULL)
        g_string_append_c (text, '\n');
    }
}

static void
add_candidate (JsonBuilder *builder, const XpRegistrationInfo *candidate)
{
  json_builder_begin_object (builder);
  add_text (builder, "plugin", candidate->plugin);
  add_text (builder, "key", xp_key_name (candidate->key));
  add_boolean (builder, "alias", xp_key_is_alias (candidate->key));
  add_boolean (builder, "fallback", candidate->is_fallback);
  add_boolean (builder, "fallthrough", candidate->is_fallthrough);
  add_priority (builder, candidate->priority);
  add_text (builder, "preference", candidate->preference);
  add_boolean (builder, "active", candidate->is_active);
  add_text (builder, "debug", candidate->location);
  add_text (builder, "file", candidate->file);
  add_number (builder, "line", candidate->line);
  add_text (builder, "signature", candidate->signature);
  add_text (builder, "takes", candidate->takes);
  add_number (builder, "copies", (gint64) candidate->n_copies);
  json_builder_end_object (builder);
}

/* The cell that is asked for, which holds something; a row that has kernels only is there. */
static XpCellStack *
get_cell (const char *name, XpKey key, GError **error)
{
  for (;;)
    {
      if (!xp_table_has (name) && xp_operator_get (name, error) == NULL)
        return NULL;
      g_autoptr (XpCellStack) stack = xp_table_cell (name, key, error);
      if (stack == NULL || stack->rule != XP_RULE_MISSING)
        return g_steal_pointer (&stack);
      XpOperator *op = xp_operator_get (name, error);
      g_autoptr (XpKernelHandle) kernel = op != NULL ? xp_operator_computed_kernel (op, key, error)
                                                     : NULL;
      if (kernel == NULL)
        return NULL;
      /* The cell has been filled since: look again. */
    }
}

XpReport *
xp_report_which (const char *name, const char *key_name, GError **error)
{
  g_return_val_if_fail (name != NULL && key_name != NULL, NULL);
  XpKey key;
  g_autoptr (XpCellStack) stack = xp_key_parse (key_name, &key, error) ? get_cell (name, key, error)
                                                                       : NULL;
  if (stack == NULL)
    return NULL;
  gboolean is_filled = stack->n_candidates > 0 && stack->candidates[0].is_active;
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_text (builder, "name", stack->name);
  add_text (builder, "key", xp_key_name (stack->key));
  add_text (builder, "rule", xp_rule_label (stack->rule));
  add_text (builder, "reason", stack->reason);
  add_text (builder, "plugin", is_filled ? stack->candidates[0].plugin : NULL);
  begin_list (builder, "candidates");
  for (unsigned i = 0; i < stack->n_candidates; i++)
    add_candidate (builder, &stack->candidates[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  XpReport *report = report_new (builder, which_text);
  report->is_no = !is_filled;
  return report;
}

/* --- prefer --- */

static void
preferences_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *object = json_node_get_object (model);
  JsonArray *preferences = get_array (object, "preferences");
  const char *const titles[] = { "PREFERENCE", "KERNELS", "SOURCE", NULL };
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_ptr_array_add (rows, g_strdupv ((char **) titles));
  for (unsigned i = 0; i < json_array_get_length (preferences); i++)
    {
      JsonObject *preference = json_array_get_object_element (preferences, i);
      char **row = g_new0 (char *, 4);
      row[0] = g_strdup (get_text (preference, "preference"));
      row[1] = g_strdup_printf ("%" G_GINT64_FORMAT, get_number (preference, "kernels"));
      row[2] = g_strdup (get_text (preference, "source"));
      g_ptr_array_add (rows, row);
    }
  if (rows->len > 1)
    append_columns (text, rows, colour);
  else
    g_string_append (text, "nothing is preferred\n");
  g_string_append_printf (text, "on-tie: %s\n", get_text (object, "on_tie"));
}

XpReport *
xp_report_preferences (void)
{
  unsigned n;
  XpPreference *preferences = xp_preferences (&n);
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "preferences");
  for (unsigned i = 0; i < n; i++)
    {
      json_builder_begin_object (builder);
      add_text (builder, "preference", preferences[i].text);
      add_number (builder, "kernels", preferences[i].n_kernels);
      add_text (builder, "source", preferences[i].source);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  add_text (builder, "on_tie", xp_on_tie () == XP_ON_TIE_ERROR ? "error" : "newest");
  json_builder_end_object (builder);
  xp_preferences_free (preferences, n);
  return report_new (builder, preferences_text);
}
