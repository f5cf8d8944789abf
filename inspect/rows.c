/* SPDX-License-Identifier: MIT
 *
 * rows.c: reports on rows: which there are, what is registered, what is in their cells.
 */
#include "report.h"

#include <string.h>

/* --- ops --- */

static void
operators_text (JsonNode *model, GString *text, G_GNUC_UNUSED gboolean colour)
{
  JsonArray *names = get_array (json_node_get_object (model), "operators");
  unsigned n = json_array_get_length (names);
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "%s\n", json_array_get_string_element (names, i));
  g_string_append_printf (text, "%u row%s\n", n, n == 1 ? "" : "s");
}

static char **
matching_names (const char *pattern)
{
  g_auto (GStrv) names = xp_table_names ();
  g_autoptr (GPatternSpec) glob = pattern != NULL ? g_pattern_spec_new (pattern) : NULL;
  GPtrArray *matching = g_ptr_array_new ();
  for (unsigned i = 0; names[i] != NULL; i++)
    if (glob == NULL || g_pattern_spec_match_string (glob, names[i]))
      g_ptr_array_add (matching, g_strdup (names[i]));
  g_ptr_array_add (matching, NULL);
  return (char **) g_ptr_array_free (matching, FALSE);
}

XpReport *
xp_report_operators (const char *pattern)
{
  g_auto (GStrv) names = matching_names (pattern);
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_texts (builder, "operators", (const char *const *) names);
  add_number (builder, "count", g_strv_length (names));
  json_builder_end_object (builder);
  return report_new (builder, operators_text);
}

/* --- keys --- */

static void
keys_text (JsonNode *model, GString *text, G_GNUC_UNUSED gboolean colour)
{
  JsonObject *object = json_node_get_object (model);
  JsonArray *keys = get_array (object, "keys");
  JsonArray *aliases = get_array (object, "aliases");
  for (unsigned i = 0; i < json_array_get_length (keys); i++)
    g_string_append_printf (text, "%s\n", json_array_get_string_element (keys, i));
  for (unsigned i = 0; i < json_array_get_length (aliases); i++)
    g_string_append_printf (text, "%s[alias]\n", json_array_get_string_element (aliases, i));
}

XpReport *
xp_report_keys (void)
{
#define ALIAS(name, number) XP_KEY_##name,
  static const XpKey aliases[] = { XP_ALIAS_LIST (ALIAS) };
  unsigned n;
  g_autofree XpKey *keys = xp_key_list (&n);
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "keys");
  for (unsigned i = n; i-- > 0;)
    json_builder_add_string_value (builder, xp_key_name (keys[i]));
  json_builder_end_array (builder);
  begin_list (builder, "aliases");
  for (unsigned i = 0; i < XP_LENGTH (aliases); i++)
    json_builder_add_string_value (builder, xp_key_name (aliases[i]));
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return report_new (builder, keys_text);
}

/* --- dump --- */

static const char *const alias_analysis_names[] = {
  [XP_ALIAS_ANALYSIS_UNSET] = "CONSERVATIVE (default)",
  [XP_ALIAS_ANALYSIS_CONSERVATIVE] = "CONSERVATIVE",
  [XP_ALIAS_ANALYSIS_FROM_SCHEMA] = "FROM_SCHEMA",
  [XP_ALIAS_ANALYSIS_PURE_FUNCTION] = "PURE_FUNCTION",
  [XP_ALIAS_ANALYSIS_INTERNAL_SPECIAL_CASE] = "INTERNAL_SPECIAL_CASE"
};

static void
add_registration (JsonBuilder *builder, const XpRegistrationInfo *registration)
{
  json_builder_begin_object (builder);
  add_text (builder, "key", xp_key_name (registration->key));
  add_boolean (builder, "alias", xp_key_is_alias (registration->key));
  add_boolean (builder, "active", registration->is_active);
  add_text (builder, "debug", registration->location);
  add_text (builder, "file", registration->file);
  add_number (builder, "line", registration->line);
  add_text (builder, "signature", registration->signature);
  add_boolean (builder, "fallthrough", registration->is_fallthrough);
  add_boolean (builder, "boxed", TRUE);
  add_boolean (builder, "unboxed", registration->is_typed);
  add_text (builder, "plugin", registration->plugin);
  add_priority (builder, registration->priority);
  add_text (builder, "preference", registration->preference);
  add_text (builder, "takes", registration->takes);
  add_number (builder, "copies", (gint64) registration->n_copies);
  json_builder_end_object (builder);
}

static void
add_dump (JsonBuilder *builder, const XpRowInfo *row)
{
  json_builder_begin_object (builder);
  add_text (builder, "name", row->name);
  add_text (builder, "schema", row->schema);
  add_text (builder, "debug", row->location);
  add_text (builder, "alias_analysis_kind",
            row->schema != NULL ? alias_analysis_names[row->alias_analysis] : NULL);
  add_text (builder, "plugin", row->plugin);
  begin_list (builder, "registrations");
  for (unsigned i = 0; i < row->n_registrations; i++)
    add_registration (builder, &row->registrations[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

void
append_takes (GString *text, JsonObject *registration, const char *before)
{
  const char *takes = get_text (registration, "takes");
  gint64 copies = get_number (registration, "copies");
  if (takes != NULL)
    g_string_append_printf (text, "%stakes \"%s\", %" G_GINT64_FORMAT " tensor%s copied for it",
                            before, takes, copies, copies == 1 ? "" : "s");
}

static void
append_owner (GString *text, JsonObject *registration)
{
  const char *preference = get_text (registration, "preference");
  g_autofree char *priority = priority_of (registration);
  g_string_append_printf (text, " %s priority %s", get_text (registration, "plugin"), priority);
  if (preference != NULL)
    g_string_append_printf (text, " preferred by %s", preference);
  append_takes (text, registration, " ");
}

static void
append_dump (GString *text, JsonObject *row, gboolean owners, gboolean colour)
{
  const char *schema = get_text (row, "schema");
  g_string_append_printf (text, "name: %s\nschema: %s\n", get_text (row, "name"),
                          schema != NULL ? schema : "(none)");
  if (schema != NULL)
    g_string_append_printf (text, "debug: %s\nalias analysis kind: %s\n", get_text (row, "debug"),
                            get_text (row, "alias_analysis_kind"));
  JsonArray *registrations = get_array (row, "registrations");
  for (unsigned i = 0; i < json_array_get_length (registrations); i++)
    {
      JsonObject *registration = json_array_get_object_element (registrations, i);
      gboolean active = get_boolean (registration, "active");
      const char *signature = get_text (registration, "signature");
      g_string_append_printf (text, "%s%s%s%s: %s :: %s [ %s%s%s]", active ? "" : dim (colour),
                              get_text (registration, "key"),
                              get_boolean (registration, "alias") ? "[alias]" : "",
                              active ? "" : " (inactive)", get_text (registration, "debug"),
                              signature != NULL ? signature : "(none)",
                              get_boolean (registration, "fallthrough") ? "fallthrough " : "",
                              get_boolean (registration, "boxed") ? "boxed " : "",
                              get_boolean (registration, "unboxed") ? "unboxed " : "");
      if (owners)
        append_owner (text, registration);
      g_string_append_printf (text, "%s\n", active ? "" : plain (colour));
    }
}

static void
dumps_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *object = json_node_get_object (model);
  JsonArray *rows = get_array (object, "rows");
  for (unsigned i = 0; i < json_array_get_length (rows); i++)
    {
      g_string_append (text, i > 0 ? "\n" : "");
      append_dump (text, json_array_get_object_element (rows, i), get_boolean (object, "owners"),
                   colour);
    }
}

/* The row called @name, with a reason where there is none. A row that has kernels only is there. */
static XpRowInfo *
get_row (const char *name, GError **error)
{
  XpRowInfo *row = xp_table_row (name);
  if (row == NULL)
    xp_operator_get (name, error);
  return row;
}

XpReport *
xp_report_dump (const char *pattern, gboolean owners, GError **error)
{
  g_return_val_if_fail (pattern != NULL, NULL);
  gboolean is_glob = strpbrk (pattern, "*?") != NULL;
  g_auto (GStrv) names = is_glob ? matching_names (pattern)
                                 : g_strdupv ((char *[]){ (char *) pattern, NULL });
  if (names[0] == NULL)
    {
      xp_error_set (error, XP_ERROR_UNKNOWN_OPERATOR, &(XpErrorDetails){ .op = (char *) pattern },
                    "no row matches '%s': `crosspoint ops` lists those there are", pattern);
      return NULL;
    }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_boolean (builder, "owners", owners);
  begin_list (builder, "rows");
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      g_autoptr (XpRowInfo) row = get_row (names[i], is_glob ? NULL : error);
      if (row != NULL)
        add_dump (builder, row);
      else if (!is_glob)
        return NULL;
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return report_new (g_steal_pointer (&builder), dumps_text);
}

/* --- table --- */

void
append_cells (GString *text, JsonArray *cells)
{
  for (unsigned i = 0; i < json_array_get_length (cells); i++)
    {
      JsonObject *cell = json_array_get_object_element (cells, i);
      g_string_append_printf (text, "%s: %s%s [%s]\n", get_text (cell, "key"),
                              get_boolean (cell, "fallthrough") ? "fallthrough " : "",
                              get_text (cell, "debug"), get_text (cell, "rule"));
    }
}

static void
table_text (JsonNode *model, GString *text, G_GNUC_UNUSED gboolean colour)
{
  append_cells (text, get_array (json_node_get_object (model), "cells"));
}

XpReport *
xp_report_table (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  g_autoptr (XpRowInfo) row = get_row (name, error);
  if (row == NULL)
    return NULL;
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_text (builder, "name", row->name);
  begin_list (builder, "cells");
  for (unsigned i = 0; i < row->n_cells; i++)
    {
      const XpCellInfo *cell = &row->cells[i];
      if (cell->rule == XP_RULE_MISSING)
        continue;
      json_builder_begin_object (builder);
      add_text (builder, "key", xp_key_name (cell->key));
      add_text (builder, "rule", xp_rule_label (cell->rule));
      add_text (builder, "from", xp_key_name (cell->from));
      add_boolean (builder, "fallthrough", cell->is_fallthrough);
      add_text (builder, "debug", cell->location);
      add_text (builder, "plugin", cell->plugin);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return report_new (builder, table_text);
}

/* --- has --- */

static void
has_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *object = json_node_get_object (model);
  JsonArray *keys = get_array (object, "keys");
  JsonArray *operators = get_array (object, "operators");
  unsigned n_keys = json_array_get_length (keys), n = json_array_get_length (operators);
  if (n == 1 && n_keys == 1)
    {
      JsonObject *row = json_array_get_object_element (operators, 0);
      gboolean has = json_array_get_boolean_element (get_array (row, "has"), 0);
      g_string_append_printf (text, "%s%s%s\n", has ? green (colour) : red (colour),
                              has ? "yes" : "no", plain (colour));
      if (get_text (row, "reason") != NULL)
        g_string_append_printf (text, "%s\n", get_text (row, "reason"));
      return;
    }
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  char **titles = g_new0 (char *, n_keys + 2);
  titles[0] = g_strdup ("");
  for (unsigned j = 0; j < n_keys; j++)
    titles[j + 1] = g_strdup (json_array_get_string_element (keys, j));
  g_ptr_array_add (rows, titles);
  for (unsigned i = 0; i < n; i++)
    {
      JsonObject *operator_ = json_array_get_object_element (operators, i);
      JsonArray *has = get_array (operator_, "has");
      char **row = g_new0 (char *, n_keys + 2);
      row[0] = g_strdup (get_text (operator_, "name"));
      for (unsigned j = 0; j < n_keys; j++)
        row[j + 1] = g_strdup (json_array_get_boolean_element (has, j) ? "yes" : "-");
      g_ptr_array_add (rows, row);
    }
  append_columns (text, rows, colour);
  for (unsigned i = 0; i < n; i++)
    {
      const char *reason = get_text (json_array_get_object_element (operators, i), "reason");
      if (reason != NULL)
        g_string_append_printf (text, "%s\n", reason);
    }
}

/* A name that means no single row because it has overloads is a mistake; one that is not there is
 * none, and *@reason then says what is near. */
static gboolean
check_overload (const char *name, char **reason, GError **error)
{
  GError *local = NULL;
  g_autoptr (XpRowInfo) row = xp_table_row (name);
  if (row != NULL || xp_operator_get (name, &local) != NULL)
    return TRUE;
  if (g_error_matches (local, XP_ERROR, XP_ERROR_UNKNOWN_OVERLOAD))
    {
      g_propagate_error (error, local);
      return FALSE;
    }
  *reason = g_strdup (local->message);
  g_error_free (local);
  return TRUE;
}

static gboolean
add_answers (JsonBuilder *builder, const char *name, const XpKey *keys, unsigned n_keys,
             gboolean computed, gboolean *all, GError **error)
{
  g_autofree char *reason = NULL;
  if (!check_overload (name, &reason, error))
    return FALSE;
  json_builder_begin_object (builder);
  add_text (builder, "name", name);
  add_text (builder, "reason", reason);
  begin_list (builder, "has");
  for (unsigned i = 0; i < n_keys; i++)
    {
      GError *local = NULL;
      gboolean has = computed ? xp_table_has_computed_kernel (name, keys[i], &local)
                              : xp_table_has_kernel (name, keys[i]);
      if (local != NULL)
        {
          g_propagate_error (error, local);
          return FALSE;
        }
      *all &= has;
      json_builder_add_boolean_value (builder, has);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return TRUE;
}

XpReport *
xp_report_has (const char *const *names, const char *const *keys, gboolean computed, GError **error)
{
  g_return_val_if_fail (names != NULL && keys != NULL, NULL);
  unsigned n_keys = g_strv_length ((char **) keys);
  g_autofree XpKey *parsed = g_new (XpKey, n_keys + 1);
  for (unsigned i = 0; i < n_keys; i++)
    if (!xp_key_parse (keys[i], &parsed[i], error))
      return NULL;
  gboolean all = TRUE;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_boolean (builder, "computed", computed);
  add_texts (builder, "keys", keys);
  begin_list (builder, "operators");
  for (unsigned i = 0; names[i] != NULL; i++)
    if (!add_answers (builder, names[i], parsed, n_keys, computed, &all, error))
      return NULL;
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  XpReport *report = report_new (g_steal_pointer (&builder), has_text);
  report->is_no = !all;
  return report;
}
