/* SPDX-License-Identifier: MIT
 *
 * replay.c: the report on rows that exist elsewhere: PyTorch's dumps, and the tables that follow
 * from them.
 */
#include "dump.h"
#include "report.h"

#include <string.h>

typedef struct
{
  char *name;
  Lines lines;
  gboolean has_rows;
} Dump;

typedef struct
{
  Dump *dumps;
  unsigned n_dumps;
  unsigned at; /* the dump that is being read */
  DumpRow row;
  GArray *keys; /* XpKey: those that @row has kernels for */
  char *fallbacks_name;
  DumpRow fallbacks;       /* its kernels */
  gboolean fallbacks_said; /* what was not understood of them */
  XpKey *columns;
  unsigned n_columns;
} Replay;

static void
replay_free (gpointer data)
{
  Replay *replay = data;
  for (unsigned i = 0; i < replay->n_dumps; i++)
    {
      g_free (replay->dumps[i].name);
      lines_clear (&replay->dumps[i].lines);
    }
  dump_row_clear (&replay->row);
  dump_row_clear (&replay->fallbacks);
  g_array_unref (replay->keys);
  g_free (replay->dumps);
  g_free (replay->fallbacks_name);
  g_free (replay->columns);
  g_free (replay);
}

static void
replay_rewind (gpointer data)
{
  Replay *replay = data;
  replay->at = 0;
  replay->fallbacks_said = FALSE;
  for (unsigned i = 0; i < replay->n_dumps; i++)
    {
      lines_rewind (&replay->dumps[i].lines);
      replay->dumps[i].has_rows = FALSE;
    }
}

/* --- The model of a row. --- */

static void
add_cell (JsonBuilder *builder, const Replay *replay, XpKey key)
{
  const DumpKernel *kernel = dump_row_find (&replay->fallbacks, key);
  XpKey from;
  XpRule rule = xp_rule_for_cell ((const XpKey *) (const void *) replay->keys->data,
                                  replay->keys->len, kernel != NULL, key, &from);
  if (rule == XP_RULE_MISSING)
    return;
  if (rule != XP_RULE_FALLBACK)
    kernel = dump_row_find (&replay->row, from);
  gboolean has_kernel = rule != XP_RULE_AMBIGUOUS;
  json_builder_begin_object (builder);
  add_text (builder, "key", xp_key_name (key));
  add_text (builder, "rule", xp_rule_label (rule));
  add_text (builder, "from", xp_key_name (from));
  add_boolean (builder, "fallthrough", has_kernel && kernel->is_fallthrough);
  add_text (builder, "debug", has_kernel ? kernel->debug : "ambiguous_autogradother");
  json_builder_end_object (builder);
}

static void
add_problem (JsonBuilder *builder, guint64 line, gboolean is_error, const char *message)
{
  json_builder_begin_object (builder);
  add_number (builder, "line", (gint64) line);
  add_text (builder, "severity", is_error ? "error" : "warning");
  add_text (builder, "message", message);
  json_builder_end_object (builder);
}

/* @row, without cells where it has no name. */
static JsonNode *
row_model (Replay *replay, const char *file, const DumpRow *row, const char *problem)
{
  JsonBuilder *builder = json_builder_new ();
  g_array_set_size (replay->keys, 0);
  for (unsigned i = 0; i < row->kernels->len; i++)
    g_array_append_val (replay->keys, g_array_index (row->kernels, DumpKernel, i).key);
  json_builder_begin_object (builder);
  add_text (builder, "name", row->name);
  add_text (builder, "file", file);
  add_number (builder, "line", (gint64) row->line);
  begin_list (builder, "cells");
  for (unsigned i = 0; row->name != NULL && i < replay->n_columns; i++)
    add_cell (builder, replay, replay->columns[i]);
  json_builder_end_array (builder);
  begin_list (builder, "problems");
  for (unsigned i = 0; i < row->problems->len; i++)
    {
      const DumpProblem *found = &g_array_index (row->problems, DumpProblem, i);
      add_problem (builder, found->line, found->is_error, found->message);
    }
  if (problem != NULL)
    add_problem (builder, 1, TRUE, problem);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return take_root (builder);
}

static JsonNode *
replay_next (gpointer data)
{
  Replay *replay = data;
  if (!replay->fallbacks_said && replay->fallbacks.problems->len > 0)
    {
      replay->fallbacks_said = TRUE;
      return row_model (replay, replay->fallbacks_name, &replay->fallbacks, NULL);
    }
  for (; replay->at < replay->n_dumps; replay->at++)
    {
      Dump *dump = &replay->dumps[replay->at];
      gboolean has_rows = dump->has_rows;
      dump->has_rows = TRUE;
      if (dump_read_row (&dump->lines, &replay->row))
        return row_model (replay, dump->name, &replay->row, NULL);
      if (!has_rows)
        return row_model (replay, dump->name, &replay->row,
                          "there is no dump in it: expected what torch._C._dispatch_dump() gives");
    }
  return NULL;
}

/* --- Its texts. --- */

static void
row_text (JsonNode *element, GString *text, gboolean colour)
{
  JsonObject *row = json_node_get_object (element);
  const char *name = get_text (row, "name");
  if (name == NULL)
    return;
  g_string_append_printf (text, "%sname: %s%s\n", bold (colour), name, plain (colour));
  append_cells (text, get_array (row, "cells"));
}

static void
row_problems (JsonNode *element, GString *text, G_GNUC_UNUSED gboolean colour)
{
  JsonObject *row = json_node_get_object (element);
  JsonArray *problems = get_array (row, "problems");
  for (unsigned i = 0; i < json_array_get_length (problems); i++)
    {
      JsonObject *problem = json_array_get_object_element (problems, i);
      g_string_append_printf (text, "%s:%" G_GINT64_FORMAT ": %s: %s\n", get_text (row, "file"),
                              get_number (problem, "line"), get_text (problem, "severity"),
                              get_text (problem, "message"));
    }
}

static gboolean
row_is_no (JsonNode *element)
{
  JsonArray *problems = get_array (json_node_get_object (element), "problems");
  for (unsigned i = 0; i < json_array_get_length (problems); i++)
    if (strcmp (get_text (json_array_get_object_element (problems, i), "severity"), "error") == 0)
      return TRUE;
  return FALSE;
}

XpReport *
xp_report_replay (const XpReportInput *dumps, unsigned n_dumps, const XpReportInput *fallbacks)
{
  static const ReportList rows = { "rows",   "\n",         replay_rewind, replay_next,
                                   row_text, row_problems, row_is_no,     replay_free };
  g_return_val_if_fail (dumps != NULL || n_dumps == 0, NULL);
  Replay *replay = g_new0 (Replay, 1);
  replay->dumps = g_new0 (Dump, n_dumps);
  replay->n_dumps = n_dumps;
  for (unsigned i = 0; i < n_dumps; i++)
    {
      replay->dumps[i].name = g_filename_display_name (dumps[i].name);
      lines_init (&replay->dumps[i].lines, dumps[i].text);
    }
  replay->keys = g_array_new (FALSE, FALSE, sizeof (XpKey));
  replay->columns = xp_key_list (&replay->n_columns);
  dump_row_init (&replay->row);
  dump_row_init (&replay->fallbacks);
  replay->fallbacks_name = g_filename_display_name (fallbacks != NULL ? fallbacks->name : "");
  if (fallbacks != NULL)
    {
      Lines lines;
      lines_init (&lines, fallbacks->text);
      dump_read_fallbacks (&lines, &replay->fallbacks);
      lines_clear (&lines);
    }
  else
    dump_standard_fallbacks (&replay->fallbacks);
  return report_new_list (&rows, replay);
}
