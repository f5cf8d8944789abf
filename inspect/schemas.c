/* SPDX-License-Identifier: MIT
 *
 * schemas.c: signatures taken apart.
 */
#include "report.h"

#include <string.h>

/* `a!`, `a -> b`, or NULL. */
static char *
alias_text (const XpAlias *alias)
{
  if (alias == NULL || alias->before == NULL)
    return NULL;
  g_autofree char *before = g_strjoinv ("|", (char **) alias->before);
  g_autofree char *after = alias->after != NULL ? g_strjoinv ("|", (char **) alias->after)
                                                : g_strdup ("");
  return g_strdup_printf (strcmp (before, after) == 0 ? "%s%s" : "%s%s -> %s", before,
                          alias->is_write ? "!" : "", after);
}

static void
add_argument (JsonBuilder *builder, const XpArgument *argument, gboolean is_return)
{
  g_autofree char *type = xp_type_to_string (argument->type);
  const XpAlias *alias = argument->alias;
  if (alias != NULL && alias->before == NULL && alias->contained != NULL)
    alias = alias->contained;
  g_autofree char *set = alias_text (alias);
  json_builder_begin_object (builder);
  add_text (builder, "name", argument->name[0] != '\0' ? argument->name : NULL);
  add_text (builder, "type", type);
  add_text (builder, "alias_set", set);
  add_boolean (builder, "written", argument->alias != NULL && argument->alias->is_write);
  if (!is_return)
    {
      g_autofree char *value = argument->has_default ? xp_value_to_string (argument->default_value)
                                                     : NULL;
      add_text (builder, "default", value);
      add_boolean (builder, "keyword_only", argument->is_keyword_only);
    }
  json_builder_end_object (builder);
}

static void
add_schema (JsonBuilder *builder, const XpRowInfo *row, const XpSchema *schema)
{
  const char *colons = strstr (schema->name, "::");
  g_autofree char *name_space = g_strndup (schema->name, (size_t) (colons - schema->name));
  json_builder_begin_object (builder);
  add_text (builder, "schema", row->schema);
  add_text (builder, "description", row->description);
  add_text (builder, "namespace", name_space);
  add_text (builder, "name", colons + 2);
  add_text (builder, "overload", schema->overload);
  add_text (builder, "tags", row->tags);
  add_text (builder, "alias_analysis", xp_alias_analysis_name (row->alias_analysis));
  add_text (builder, "defined", row->location);
  begin_list (builder, "arguments");
  for (unsigned i = 0; i < schema->n_arguments; i++)
    add_argument (builder, &schema->arguments[i], FALSE);
  json_builder_end_array (builder);
  begin_list (builder, "returns");
  for (unsigned i = 0; i < schema->n_returns; i++)
    add_argument (builder, &schema->returns[i], TRUE);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

static void
append_part (GString *text, const char *label, const char *value)
{
  if (value != NULL && value[0] != '\0')
    g_string_append_printf (text, "  %-12s%s\n", label, value);
}

static void
append_arguments (GString *text, JsonArray *arguments, const char *label)
{
  for (unsigned i = 0; i < json_array_get_length (arguments); i++)
    {
      JsonObject *argument = json_array_get_object_element (arguments, i);
      const char *name = get_text (argument, "name");
      const char *set = get_text (argument, "alias_set");
      const char *value = get_text (argument, "default");
      g_string_append_printf (text, "  %-12s%s%s%s", i == 0 ? label : "", name != NULL ? name : "",
                              name != NULL ? ": " : "", get_text (argument, "type"));
      if (value != NULL)
        g_string_append_printf (text, ", default %s", value);
      if (json_object_has_member (argument, "keyword_only")
          && get_boolean (argument, "keyword_only"))
        g_string_append (text, ", keyword only");
      if (set != NULL)
        g_string_append_printf (text, ", alias set %s", set);
      g_string_append_printf (text, ", written: %s\n",
                              get_boolean (argument, "written") ? "yes" : "no");
    }
}

static void
schemas_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *root = json_node_get_object (model);
  JsonArray *schemas = get_array (root, "schemas");
  gint64 n = get_number (root, "count");
  for (unsigned i = 0; i < json_array_get_length (schemas); i++)
    {
      JsonObject *schema = json_array_get_object_element (schemas, i);
      g_string_append_printf (text, "%s%s%s%s\n", i > 0 ? "\n" : "", bold (colour),
                              get_text (schema, "schema"), plain (colour));
      append_part (text, "does", get_text (schema, "description"));
      append_part (text, "namespace", get_text (schema, "namespace"));
      append_part (text, "name", get_text (schema, "name"));
      append_part (text, "overload", get_text (schema, "overload"));
      append_part (text, "tags", get_text (schema, "tags"));
      append_part (text, "aliasing", get_text (schema, "alias_analysis"));
      append_part (text, "defined", get_text (schema, "defined"));
      append_arguments (text, get_array (schema, "arguments"), "arguments");
      append_arguments (text, get_array (schema, "returns"), "returns");
    }
  if (n > 1)
    g_string_append_printf (text, "\n%" G_GINT64_FORMAT " overloads, each a row of its own\n", n);
}

static gboolean
add_named (JsonBuilder *builder, const char *name, GError **error)
{
  g_autoptr (XpRowInfo) row = xp_table_row (name);
  XpOperator *op = row != NULL ? xp_operator_get (name, error) : NULL;
  g_autoptr (XpSchema) schema = op != NULL ? xp_operator_schema (op) : NULL;
  if (schema != NULL)
    add_schema (builder, row, schema);
  return schema != NULL;
}

XpReport *
xp_report_schemas (const char *const *names, GError **error)
{
  g_return_val_if_fail (names != NULL, NULL);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  gint64 count = 0;
  json_builder_begin_object (builder);
  begin_list (builder, "schemas");
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      /* A name without an overload means all of them. */
      g_auto (GStrv) overloads = strchr (names[i], '.') == NULL
                                     ? xp_table_overloads (names[i])
                                     : g_strdupv ((char *[]){ (char *) names[i], NULL });
      if (overloads[0] == NULL
          || (strchr (names[i], '.') != NULL && xp_operator_find (names[i]) == NULL))
        {
          xp_operator_get (names[i], error);
          return NULL;
        }
      count += g_strv_length (overloads);
      for (unsigned j = 0; overloads[j] != NULL; j++)
        if (!add_named (builder, overloads[j], error))
          return NULL;
    }
  json_builder_end_array (builder);
  add_number (builder, "count", count);
  json_builder_end_object (builder);
  return report_new (g_steal_pointer (&builder), schemas_text);
}
