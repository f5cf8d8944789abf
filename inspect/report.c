/* SPDX-License-Identifier: MIT
 *
 * report.c: reports in general: their two forms, and the small parts that models are made of.
 */
#include "report.h"

#include <string.h>

XpReport *
report_new (JsonBuilder *builder, ReportText text)
{
  XpReport *report = g_new0 (XpReport, 1);
  report->model = take_root (builder);
  report->text = text;
  return report;
}

XpReport *
report_new_list (const ReportList *list, gpointer data)
{
  XpReport *report = g_new0 (XpReport, 1);
  report->list = list;
  report->data = data;
  return report;
}

JsonNode *
take_root (JsonBuilder *builder)
{
  JsonNode *root = json_builder_get_root (builder);
  g_object_unref (builder);
  return root;
}

void
xp_report_free (XpReport *report)
{
  if (report == NULL)
    return;
  g_clear_pointer (&report->model, json_node_unref);
  if (report->list != NULL)
    report->list->free (report->data);
  g_free (report);
}

gboolean
xp_report_is_yes (const XpReport *report)
{
  g_return_val_if_fail (report != NULL, FALSE);
  return !report->is_no;
}

gboolean
xp_report_has_rejected (const XpReport *report)
{
  g_return_val_if_fail (report != NULL, FALSE);
  return report->has_rejected;
}

/* --- Printing. --- */

static void
append_json (GString *text, JsonNode *model)
{
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  json_generator_set_root (generator, model);
  json_generator_set_pretty (generator, TRUE);
  json_generator_to_gstring (generator, text);
}

/* @element as one of an array in an object. */
static void
append_json_element (GString *text, JsonNode *element, gboolean is_first)
{
  g_autoptr (GString) json = g_string_new (NULL);
  append_json (json, element);
  g_string_append (text, is_first ? "\n    " : ",\n    ");
  for (const char *line = json->str; line != NULL;)
    {
      const char *end = strchr (line, '\n');
      g_string_append_len (text, line, end != NULL ? end - line : (gssize) strlen (line));
      g_string_append (text, end != NULL ? "\n    " : "");
      line = end != NULL ? end + 1 : NULL;
    }
}

static void
write_list (XpReport *report, XpReportStyle style, XpReportWriter write, gpointer data)
{
  const ReportList *list = report->list;
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean is_first = TRUE, is_json = style == XP_REPORT_JSON;
  JsonNode *next;
  list->rewind (report->data);
  report->is_no = FALSE;
  if (is_json)
    g_string_append_printf (text, "{\n  \"%s\" : [", list->member);
  while ((next = list->next (report->data)) != NULL)
    {
      g_autoptr (JsonNode) element = next;
      report->is_no |= list->is_no (element);
      if (is_json)
        append_json_element (text, element, is_first);
      else
        list->text (element, text, style == XP_REPORT_COLOUR);
      if (text->len > 0 && !is_first && !is_json)
        g_string_prepend (text, list->separator);
      is_first &= text->len == 0;
      write (text->str, FALSE, data);
      g_string_truncate (text, 0);
      if (list->problems == NULL)
        continue;
      list->problems (element, text, FALSE);
      write (text->str, TRUE, data);
      g_string_truncate (text, 0);
    }
  if (is_json)
    g_string_append (text, is_first ? "]\n}\n" : "\n  ]\n}\n");
  write (text->str, FALSE, data);
}

void
xp_report_write (XpReport *report, XpReportStyle style, XpReportWriter write, gpointer data)
{
  g_return_if_fail (report != NULL && write != NULL);
  if (report->list != NULL)
    {
      write_list (report, style, write, data);
      return;
    }
  g_autoptr (GString) text = g_string_new (NULL);
  if (style == XP_REPORT_JSON)
    append_json (text, report->model);
  else
    report->text (report->model, text, style == XP_REPORT_COLOUR);
  if (text->len > 0 && text->str[text->len - 1] != '\n')
    g_string_append_c (text, '\n');
  write (text->str, FALSE, data);
}

static void
append_piece (const char *text, gboolean is_problem, gpointer whole)
{
  if (!is_problem)
    g_string_append (whole, text);
}

char *
xp_report_print (XpReport *report, XpReportStyle style)
{
  g_return_val_if_fail (report != NULL, NULL);
  GString *whole = g_string_new (NULL);
  xp_report_write (report, style, append_piece, whole);
  return g_string_free (whole, FALSE);
}

/* --- Members. --- */

void
add_value (JsonBuilder *builder, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  json_builder_add_string_value (builder, valid);
}

void
add_text (JsonBuilder *builder, const char *name, const char *text)
{
  json_builder_set_member_name (builder, name);
  if (text == NULL)
    json_builder_add_null_value (builder);
  else
    add_value (builder, text);
}

void
add_number (JsonBuilder *builder, const char *name, gint64 number)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, number);
}

char *
time_text (gint64 seconds)
{
  g_autoptr (GDateTime) time = seconds != 0 ? g_date_time_new_from_unix_utc (seconds) : NULL;
  return time != NULL ? g_date_time_format_iso8601 (time) : NULL;
}

void
add_boolean (JsonBuilder *builder, const char *name, gboolean value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}

void
begin_list (JsonBuilder *builder, const char *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
}

void
add_texts (JsonBuilder *builder, const char *name, const char *const *texts)
{
  begin_list (builder, name);
  for (unsigned i = 0; texts != NULL && texts[i] != NULL; i++)
    add_value (builder, texts[i]);
  json_builder_end_array (builder);
}

void
add_priority (JsonBuilder *builder, int priority)
{
  if (priority == G_MININT)
    add_text (builder, "priority", "lowest");
  else
    add_number (builder, "priority", priority);
}

char *
priority_of (JsonObject *object)
{
  JsonNode *priority = json_object_get_member (object, "priority");
  if (json_node_get_value_type (priority) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (priority));
  return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (priority));
}

const char *
get_text (JsonObject *object, const char *name)
{
  return json_object_has_member (object, name) && !json_object_get_null_member (object, name)
             ? json_object_get_string_member (object, name)
             : NULL;
}

gint64
get_number (JsonObject *object, const char *name)
{
  return json_object_get_int_member (object, name);
}

gboolean
get_boolean (JsonObject *object, const char *name)
{
  return json_object_get_boolean_member (object, name);
}

JsonArray *
get_array (JsonObject *object, const char *name)
{
  return json_object_get_array_member (object, name);
}

const char *
bold (gboolean colour)
{
  return colour ? "\033[1m" : "";
}

const char *
green (gboolean colour)
{
  return colour ? "\033[32m" : "";
}

const char *
red (gboolean colour)
{
  return colour ? "\033[31m" : "";
}

const char *
dim (gboolean colour)
{
  return colour ? "\033[2m" : "";
}

const char *
plain (gboolean colour)
{
  return colour ? "\033[0m" : "";
}

void
append_columns (GString *text, GPtrArray *rows, gboolean colour)
{
  unsigned n = 0;
  size_t widths[16] = { 0 };
  for (unsigned i = 0; i < rows->len; i++)
    {
      char **row = rows->pdata[i];
      for (n = 0; row[n] != NULL && n < XP_LENGTH (widths); n++)
        widths[n] = MAX (widths[n], (size_t) g_utf8_strlen (row[n], -1));
    }
  for (unsigned i = 0; i < rows->len; i++)
    {
      char **row = rows->pdata[i];
      g_string_append (text, i == 0 ? bold (colour) : "");
      for (unsigned j = 0; j < n; j++)
        {
          g_string_append (text, row[j]);
          size_t pad = widths[j] - (size_t) g_utf8_strlen (row[j], -1) + 2;
          for (size_t k = 0; j + 1 < n && k < pad; k++)
            g_string_append_c (text, ' ');
        }
      while (text->len > 0 && text->str[text->len - 1] == ' ')
        g_string_truncate (text, text->len - 1);
      g_string_append (text, i == 0 ? plain (colour) : "");
      g_string_append_c (text, '\n');
    }
}
