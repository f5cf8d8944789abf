/* SPDX-License-Identifier: MIT
 *
 * coverage.c: what a plugin brings, in the model of a report and as text.
 */
#include "report.h"

#include <string.h>

static void
add_rows (JsonBuilder *builder, const XpCoverage *coverage)
{
  begin_list (builder, "rows");
  for (unsigned i = 0; i < coverage->n_rows; i++)
    {
      json_builder_begin_object (builder);
      add_text (builder, "name", coverage->rows[i].name);
      add_text (builder, "schema", coverage->rows[i].schema);
      add_text (builder, "location", coverage->rows[i].location);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_cells (JsonBuilder *builder, const XpCoverage *coverage)
{
  begin_list (builder, "cells");
  for (unsigned i = 0; i < coverage->n_cells; i++)
    {
      const XpCoverageCell *cell = &coverage->cells[i];
      json_builder_begin_object (builder);
      add_text (builder, "op", cell->op[0] != '\0' ? cell->op : NULL);
      add_text (builder, "key", cell->key);
      add_text (builder, "location", cell->location);
      add_boolean (builder, "typed", cell->is_typed);
      add_boolean (builder, "fallthrough", cell->is_fallthrough);
      add_boolean (builder, "pending", cell->is_pending);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

void
add_coverage (JsonBuilder *builder, const XpCoverage *coverage)
{
  json_builder_set_member_name (builder, "coverage");
  if (coverage == NULL)
    {
      json_builder_add_null_value (builder);
      return;
    }
  json_builder_begin_object (builder);
  add_rows (builder, coverage);
  add_cells (builder, coverage);
  add_texts (builder, "devices", (const char *const *) coverage->devices);
  json_builder_end_object (builder);
}

typedef struct
{
  unsigned all;
  unsigned pending;
} Count;

/* `aten/CPU`, or `fallback/CPU`. */
static char *
place_of (JsonObject *cell)
{
  const char *op = get_text (cell, "op"), *colons = op != NULL ? strstr (op, "::") : NULL;
  g_autofree char *name_space = colons != NULL ? g_strndup (op, (gsize) (colons - op)) : NULL;
  return g_strconcat (name_space != NULL ? name_space : "fallback", "/", get_text (cell, "key"),
                      NULL);
}

static GHashTable *
count_cells (JsonArray *cells, GPtrArray *places)
{
  GHashTable *counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (unsigned i = 0; i < json_array_get_length (cells); i++)
    {
      JsonObject *cell = json_array_get_object_element (cells, i);
      g_autofree char *place = place_of (cell);
      Count *count = g_hash_table_lookup (counts, place);
      if (count == NULL)
        {
          count = g_new0 (Count, 1);
          g_ptr_array_add (places, place);
          g_hash_table_insert (counts, g_steal_pointer (&place), count);
        }
      count->all++;
      count->pending += get_boolean (cell, "pending");
    }
  return counts;
}

void
append_coverage (GString *text, JsonObject *object, const char *label)
{
  if (json_object_get_null_member (object, "coverage"))
    return;
  JsonObject *coverage = json_object_get_object_member (object, "coverage");
  g_autoptr (GPtrArray) places = g_ptr_array_new ();
  g_autoptr (GHashTable) counts = count_cells (get_array (coverage, "cells"), places);
  unsigned n_rows = json_array_get_length (get_array (coverage, "rows"));
  JsonArray *devices = get_array (coverage, "devices");
  if (n_rows > 0)
    g_string_append_printf (text, "%s%u row%s\n", label, n_rows, n_rows == 1 ? "" : "s");
  for (unsigned i = 0; i < places->len; i++)
    {
      const Count *count = g_hash_table_lookup (counts, places->pdata[i]);
      g_string_append_printf (text, "%s%u cell%s of %s", label, count->all,
                              count->all == 1 ? "" : "s", (const char *) places->pdata[i]);
      if (count->pending > 0)
        g_string_append_printf (text, ", %u of rows that others define", count->pending);
      g_string_append_c (text, '\n');
    }
  for (unsigned i = 0; i < json_array_get_length (devices); i++)
    g_string_append_printf (text, "%sthe device %s\n", label,
                            json_array_get_string_element (devices, i));
}
