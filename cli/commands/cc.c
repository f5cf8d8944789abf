/* SPDX-License-Identifier: MIT
 *
 * cc.c: `crosspoint cc`: compiles C files to a plugin.
 */
#include "author/compile.h"

#include "commands/command.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

static char *file;
static gboolean dry_run;

const GOptionEntry cc_options[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &file, "Write PLUGIN.so (the first file's name)",
    "PLUGIN.so" },
  { "dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "Print the compiler's command instead", NULL },
  { NULL },
};

int
command_cc (const Settings *settings, char **arguments)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *base = g_path_get_basename (arguments[0]);
  char *point = strrchr (base, '.');
  if (point != NULL)
    *point = '\0';
  g_autofree char *output = file != NULL ? g_strdup (file) : g_strconcat (base, ".so", NULL);
  return compile_plugin (arguments, output, dry_run, &error) ? EXIT_GOOD
                                                             : output_error (settings, NULL, error);
}
