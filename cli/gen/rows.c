/* SPDX-License-Identifier: MIT
 *
 * rows.c: writes the C file that opens the rows of a .ops file.
 */
#include "header.h"

/* A text as a C string literal, or NULL. */
static char *
literal (const char *text)
{
  if (text == NULL)
    return g_strdup ("NULL");
  g_autofree char *escaped = g_strescape (text, NULL);
  return g_strdup_printf ("\"%s\"", escaped);
}

char *
rows_write (const XpSchemaFile *file, const char *name_space)
{
  GString *out = g_string_new (NULL);
  g_string_append_printf (out,
                          "/* Made by `crosspoint gen` from %s. Do not edit.\n"
                          " *\n"
                          " * The rows of the namespace %s.\n"
                          " */\n"
                          "#include <crosspoint.h>\n\n"
                          "#define ROW(line_number, text, tag_text, description_text)        \\\n"
                          "  { sizeof (XpDefinition),         text,        tag_text,         \\\n"
                          "    description_text,              XP_ALIAS_ANALYSIS_FROM_SCHEMA, \\\n"
                          "    line_number,                   \"%s\" }\n\n"
                          "static const XpDefinition rows[] = {\n",
                          file->path, name_space, file->path);
  for (size_t i = 0; i < file->n_lines; i++)
    {
      const XpSchemaLine *op = file->lines[i];
      g_autofree char *text = literal (op->text);
      g_autofree char *tags = literal (op->tags);
      g_autofree char *description = literal (op->description);
      g_string_append_printf (out, "  ROW (%d, %s, %s, %s),\n", op->line, text, tags, description);
    }
  g_string_append_printf (out,
                          "};\n\n"
                          "XP_LIBRARY (%s, m)\n"
                          "{\n"
                          "  for (unsigned i = 0; i < XP_LENGTH (rows); i++)\n"
                          "    xp_library_def (m, &rows[i], NULL);\n"
                          "}\n",
                          name_space);
  return g_string_free (out, FALSE);
}
