/* SPDX-License-Identifier: MIT
 *
 * page.c: writes the reference page of a .ops file, in Markdown: its operators by name, the
 * overloads of one name together.
 */
#include "header.h"

#include <string.h>

/* A line of the file, and the caller of it in C, or NULL. */
typedef struct
{
  const XpSchemaLine *line;
  const char *prototype;
} Entry;

static int
compare_entries (const void *a, const void *b)
{
  const XpSchemaLine *x = ((const Entry *) a)->line, *y = ((const Entry *) b)->line;
  int order = strcmp (x->schema->name, y->schema->name);
  return order != 0 ? order : strcmp (x->schema->overload, y->schema->overload);
}

/* Text as it stands, also in a cell of a table. */
static char *
escaped (const char *text)
{
  GString *escaped = g_string_new (NULL);
  for (; *text != '\0'; text++)
    {
      if (strchr ("\\`*_<|[", *text) != NULL)
        g_string_append_c (escaped, '\\');
      g_string_append_c (escaped, *text);
    }
  return g_string_free (escaped, FALSE);
}

/* Code in a cell of a table; a text with a backtick in it has two around it. */
static char *
code (const char *text)
{
  const char *mark = strchr (text, '`') != NULL ? "``" : "`";
  g_auto (GStrv) parts = g_strsplit (text, "|", -1);
  g_autofree char *inner = g_strjoinv ("\\|", parts);
  return g_strdup_printf ("%s%s%s", mark, inner, mark);
}

static char *
default_text (const XpArgument *argument)
{
  if (!argument->has_default)
    return g_strdup ("");
  g_autofree char *value = xp_value_to_string (argument->default_value);
  return code (value);
}

static void
append_argument (GString *out, const XpArgument *argument, bool is_return)
{
  bool is_written = argument->alias != NULL && argument->alias->is_write;
  g_autofree char *type = xp_type_to_string (argument->type);
  g_autofree char *name = argument->name[0] != '\0' ? code (argument->name) : g_strdup ("");
  g_autofree char *type_code = code (type);
  g_autofree char *value = default_text (argument);
  g_string_append_printf (out, "| %s | %s | %s | %s |\n", name, type_code, value,
                          is_return && is_written     ? "returned, an argument that is written"
                          : is_return                 ? "returned"
                          : is_written                ? "written"
                          : argument->is_keyword_only ? "keyword only"
                                                      : "");
}

static void
append_entry (GString *out, const Entry *entry)
{
  const XpSchema *schema = entry->line->schema;
  g_autofree char *text = xp_schema_to_string (schema);
  g_string_append_printf (out, "### `%s`\n\n", entry->line->name);
  if (entry->line->description != NULL)
    {
      g_autofree char *description = escaped (entry->line->description);
      g_string_append_printf (out, "%s\n\n", description);
    }
  if (entry->line->tags != NULL)
    {
      g_auto (GStrv) tags = g_strsplit (entry->line->tags, " ", -1);
      g_autofree char *list = g_strjoinv ("`, `", tags);
      g_string_append_printf (out, "Tags: `%s`\n\n", list);
    }
  g_string_append_printf (out, "    %s\n\n", text);
  if (entry->prototype != NULL)
    g_string_append_printf (out, "```c\nXpStatus %s;\n```\n\n", entry->prototype);
  else
    g_string_append (out, "It has no caller in C: call it boxed, with `xp_operator_call()`.\n\n");
  if (schema->n_arguments + schema->n_returns == 0)
    return;
  g_string_append (out, "| name | type | default | |\n| --- | --- | --- | --- |\n");
  for (unsigned i = 0; i < schema->n_arguments; i++)
    append_argument (out, &schema->arguments[i], false);
  for (unsigned i = 0; i < schema->n_returns; i++)
    append_argument (out, &schema->returns[i], true);
  g_string_append_c (out, '\n');
}

char *
page_write (const XpSchemaFile *file, const char *name_space)
{
  g_autoptr (GPtrArray) prototypes = header_prototypes (file);
  g_autofree Entry *entries = g_new (Entry, file->n_lines);
  for (size_t i = 0; i < file->n_lines; i++)
    entries[i] = (Entry){ file->lines[i], prototypes->pdata[i] };
  qsort (entries, file->n_lines, sizeof *entries, compare_entries);
  GString *out = g_string_new (NULL);
  g_autofree char *path = code (file->path);
  g_string_append_printf (
      out,
      "# The operators of %s\n\n"
      "Made by `crosspoint gen --docs` from %s; do not edit. Callers are those of "
      "`%s.h`, which\n`crosspoint gen` writes: results are the caller's, NULL stands "
      "for an optional argument that is None,\nand the errors are those of "
      "`xp_operator_call()`.\n\n",
      name_space, path, name_space);
  for (size_t i = 0; i < file->n_lines; i++)
    {
      if (i == 0 || strcmp (entries[i].line->schema->name, entries[i - 1].line->schema->name) != 0)
        {
          g_autofree char *name = escaped (entries[i].line->schema->name);
          g_string_append_printf (out, "## %s\n\n", name);
        }
      append_entry (out, &entries[i]);
    }
  g_string_truncate (out, out->len - 1);
  return g_string_free (out, FALSE);
}
