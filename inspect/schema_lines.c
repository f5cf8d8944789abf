/* SPDX-License-Identifier: MIT
 *
 * schema_lines.c: the report on a file of schemas, line by line.
 */
#include "lines.h"
#include "report.h"

#include <string.h>

static void
schema_lines_free (gpointer data)
{
  lines_clear (data);
  g_free (data);
}

static void
schema_lines_rewind (gpointer data)
{
  lines_rewind (data);
}

/* The message of a parse error in one line: its headline, and where the mark stands that follows.
 */
static char *
one_line (const char *message)
{
  message += strspn (message, "\n");
  const char *mark = strstr (message, "~ <--- HERE");
  GString *line = g_string_new_len (message, (gssize) strcspn (message, "\n"));
  g_autofree char *headline = g_string_free (line, FALSE);
  if (g_str_has_suffix (headline, " here:"))
    headline[strlen (headline) - strlen (" here:")] = '\0';
  else if (g_str_has_suffix (headline, ":"))
    headline[strlen (headline) - 1] = '\0';
  if (mark == NULL)
    return g_strconcat (headline, " at its end", NULL);
  while (mark > message && mark[-1] != '\n')
    mark--;
  return g_strdup_printf ("%s at character %" G_GSIZE_FORMAT, headline, strspn (mark, " ") + 1);
}

/* Whether the line is none of a schema, but kept. */
static gboolean
is_kept (const char *text)
{
  text += strspn (text, " \t\f\v");
  return text[0] == '\0' || text[0] == '#';
}

static JsonNode *
schema_lines_next (gpointer data)
{
  Lines *lines = data;
  const char *raw;
  gsize length;
  if (!lines_next (lines, &raw, &length))
    return NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (XpSchema) schema = NULL;
  g_autofree char *text = g_strndup (raw, length), *printed = NULL, *message = NULL;
  gboolean kept = strlen (text) == length && is_kept (text);
  if (strlen (text) != length)
    message = g_strdup_printf ("there is a NUL at byte %" G_GSIZE_FORMAT, strlen (text) + 1);
  else if (!kept && (schema = xp_schema_parse (text, &error)) == NULL)
    message = one_line (error->message);
  else
    {
      g_autofree char *canonical = kept ? g_strdup (text) : xp_schema_to_string (schema);
      printed = g_utf8_make_valid (canonical, -1);
    }
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_number (builder, "line", (gint64) lines->number);
  add_text (builder, "schema", kept ? NULL : printed);
  add_text (builder, "kept", kept ? printed : NULL);
  add_text (builder, "error", message);
  json_builder_end_object (builder);
  return take_root (builder);
}

static void
schema_line_text (JsonNode *element, GString *text, gboolean colour)
{
  JsonObject *line = json_node_get_object (element);
  const char *schema = get_text (line, "schema"), *kept = get_text (line, "kept");
  if (get_text (line, "error") != NULL)
    g_string_append_printf (text, "%serror:%s %s\n", red (colour), plain (colour),
                            get_text (line, "error"));
  else
    g_string_append_printf (text, "%s\n", schema != NULL ? schema : kept);
}

static gboolean
schema_line_is_no (JsonNode *element)
{
  return get_text (json_node_get_object (element), "error") != NULL;
}

XpReport *
xp_report_schema_lines (GBytes *text)
{
  static const ReportList schema_lines = {
    "lines",          "",   schema_lines_rewind, schema_lines_next,
    schema_line_text, NULL, schema_line_is_no,   schema_lines_free
  };
  g_return_val_if_fail (text != NULL, NULL);
  Lines *lines = g_new (Lines, 1);
  lines_init (lines, text);
  return report_new_list (&schema_lines, lines);
}
