/* SPDX-License-Identifier: MIT
 *
 * output.c: options, errors, and printing.
 */
#include "output.h"

#include <stdio.h>
#include <string.h>

/* A number such as -1 is an argument, not an option: it is marked while options are parsed. */
#define NUMBER_MARK "\001"

static void
mark_numbers (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (argv[i][0] == '-' && (g_ascii_isdigit (argv[i][1]) || argv[i][1] == '.'))
      argv[i] = g_strconcat (NUMBER_MARK, argv[i], NULL);
}

static void
unmark_numbers (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (g_str_has_prefix (argv[i], NUMBER_MARK))
      argv[i] += strlen (NUMBER_MARK);
}

gboolean
parse_options (int *argc, char ***argv, const GOptionEntry *entries, const char *command)
{
  g_autoptr (GError) error = NULL;
  const Command *found = NULL;
  for (unsigned i = 0; i < n_commands; i++)
    if (strcmp (commands[i].name, command) == 0)
      found = &commands[i];
  g_return_val_if_fail (found != NULL, FALSE);
  g_autoptr (GOptionContext) context = g_option_context_new (found->usage);
  g_autofree char *description = g_strdup_printf ("Example:\n  %s", found->example);
  g_option_context_set_summary (context, found->summary);
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, entries, NULL);
  mark_numbers (*argc, *argv);
  gboolean done = g_option_context_parse (context, argc, argv, &error);
  unmark_numbers (*argc, *argv);
  if (!done)
    usage_error (command, "%s", error->message);
  return done;
}

int
usage_error (const char *command, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  fprintf (stderr, "crosspoint %s: %s\n", command, text);
  for (unsigned i = 0; i < n_commands; i++)
    if (strcmp (commands[i].name, command) == 0)
      fprintf (stderr, "usage: crosspoint %s %s\n", command, commands[i].usage);
  return EXIT_USAGE;
}

int
report_error (G_GNUC_UNUSED const Settings *settings, const GError *error)
{
  if (error->domain == XP_ERROR)
    fprintf (stderr, "%s: %s\n", xp_error_class ((XpError) error->code), error->message);
  else
    fprintf (stderr, "error: %s\n", error->message);
  return EXIT_NO;
}
