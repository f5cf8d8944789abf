/* SPDX-License-Identifier: MIT
 *
 * gen.c: `crosspoint gen`: C from the schemas of a .ops file.
 */
#include "gen/header.h"

#include "commands/command.h"
#include "output.h"

#include <string.h>

static char *directory;
static char *root;
static gboolean rows, docs;

const GOptionEntry gen_options[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &directory, "Write into DIR (here)", "DIR" },
  { "root", 0, 0, G_OPTION_ARG_FILENAME, &root, "Name the file relative to DIR in locations",
    "DIR" },
  { "rows", 0, 0, G_OPTION_ARG_NONE, &rows, "Write the C file that opens the rows instead", NULL },
  { "docs", 0, 0, G_OPTION_ARG_NONE, &docs, "Write a reference page, NAMESPACE.md, instead", NULL },
  { NULL },
};

/* The file as locations name it: relative to --root where that is given. */
static char *
location_name (const char *path)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *base = root != NULL ? g_canonicalize_filename (root, NULL) : NULL;
  size_t n = base != NULL ? strlen (base) : 0;
  if (n > 0 && strncmp (absolute, base, n) == 0 && absolute[n] == '/')
    return g_strdup (absolute + n + 1);
  return g_strdup (path);
}

static gboolean
write_file (const char *folder, const char *name, char *contents, GError **error)
{
  g_autofree char *text = contents;
  g_autofree char *path = g_build_filename (folder, name, NULL);
  return text != NULL && g_file_set_contents (path, text, -1, error);
}

static char *
write_output (const XpSchemaFile *file, const char *name_space, GPtrArray *notes)
{
  return rows   ? rows_write (file, name_space)
         : docs ? page_write (file, name_space)
                : header_write (file, name_space, notes);
}

int
command_gen (const Settings *settings, char **arguments)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = location_name (arguments[0]);
  g_autoptr (XpSchemaFile) file = xp_schema_file_read (arguments[0], name, NULL, &error);
  g_autofree char *name_space = file != NULL ? name_space_of_file (file, &error) : NULL;
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  gboolean done = FALSE;
  if (rows && docs)
    {
      g_clear_error (&error);
      g_set_error (&error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "expected --rows or --docs, found both: each writes a file of its own");
    }
  else if (name_space != NULL)
    {
      const char *suffix = rows ? "_rows.c" : docs ? ".md" : ".h";
      g_autofree char *output = g_strconcat (name_space, suffix, NULL);
      done = write_file (directory != NULL ? directory : ".", output,
                         write_output (file, name_space, notes), &error);
    }
  for (unsigned i = 0; i < notes->len; i++)
    g_printerr ("%s:%s\n", name, (char *) notes->pdata[i]);
  return done ? EXIT_GOOD : output_error (settings, NULL, error);
}
