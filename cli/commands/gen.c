/* SPDX-License-Identifier: MIT
 *
 * gen.c: `crosspoint gen`: C from the schemas of a .ops file.
 */
#include "gen/header.h"

#include "commands/command.h"
#include "output.h"

#include <string.h>

/* The file as locations name it: relative to @root where that is given. */
static char *
location_name (const char *path, const char *root)
{
  g_autofree char *absolute = g_canonicalize_filename (path, NULL);
  g_autofree char *base = root != NULL ? g_canonicalize_filename (root, NULL) : NULL;
  size_t n = base != NULL ? strlen (base) : 0;
  if (n > 0 && strncmp (absolute, base, n) == 0 && absolute[n] == '/')
    return g_strdup (absolute + n + 1);
  return g_strdup (path);
}

static gboolean
write_file (const char *directory, const char *name, char *contents, GError **error)
{
  g_autofree char *text = contents;
  g_autofree char *path = g_build_filename (directory, name, NULL);
  return text != NULL && g_file_set_contents (path, text, -1, error);
}

int
command_gen (G_GNUC_UNUSED const Settings *settings, int argc, char **argv)
{
  g_autofree char *directory = NULL;
  g_autofree char *root = NULL;
  gboolean rows = FALSE;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &directory, "Write into DIR (here)", "DIR" },
    { "root", 0, 0, G_OPTION_ARG_FILENAME, &root, "Name the file relative to DIR in locations",
      "DIR" },
    { "rows", 0, 0, G_OPTION_ARG_NONE, &rows, "Write the C file that opens the rows instead",
      NULL },
    { NULL },
  };
  g_autoptr (GError) error = NULL;
  if (!parse_options (&argc, &argv, entries, "gen"))
    return EXIT_USAGE;
  if (argc != 2)
    return usage_error ("gen", "expected one .ops file");
  g_autofree char *name = location_name (argv[1], root);
  g_autoptr (OperatorFile) file = operator_file_read (argv[1], name, &error);
  gboolean done = FALSE;
  if (file != NULL)
    {
      g_autofree char *output = g_strdup_printf (rows ? "%s_rows.c" : "%s.h", file->name_space);
      done = write_file (directory != NULL ? directory : ".", output,
                         rows ? rows_write (file) : header_write (file, &error), &error);
    }
  return done ? EXIT_GOOD : report_error (settings, error);
}
