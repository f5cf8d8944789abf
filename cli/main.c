/* SPDX-License-Identifier: MIT
 *
 * main.c: the program `crosspoint`: finds the command, loads what it is to see, runs it.
 */
#include "author/compile.h"
#include "commands/command.h"
#include "output.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void
print_help (FILE *stream)
{
  fputs ("crosspoint: a table of operators by dispatch keys, filled by plugins\n\n"
         "usage: crosspoint [--load NAME|FILE]… [--no-default] [--json] COMMAND …\n\n",
         stream);
  for (unsigned i = 0; i < n_commands; i++)
    fprintf (stream, "  %-10s%s\n", commands[i].name, commands[i].summary);
  fputs ("\n`crosspoint COMMAND --help` shows its options, `crosspoint --version` the version.\n",
         stream);
}

/* What a mistaken name could have been. */
static char *
installed_plugins (void)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (unsigned i = 0; i < n; i++)
    {
      if (strcmp (infos[i]->name, "core") != 0
          && (infos[i]->state == XP_PLUGIN_LOADED || infos[i]->state == XP_PLUGIN_AVAILABLE))
        g_strv_builder_add (builder, infos[i]->name);
    }
  xp_plugin_infos_free (infos, n);
  g_auto (GStrv) names = g_strv_builder_end (builder);
  return g_strjoinv (", ", names);
}

/* One that does not load is only warned of: the table shows that it is missing, and `plugins -a`
 * why. One that is disabled is not even that. */
static void
load_configured (void)
{
  g_auto (GStrv) names = xp_setting_get_list ("load");
  for (char **name = names; *name != NULL; name++)
    {
      g_autoptr (GError) reason = NULL;
      if (xp_plugin_load (*name, &reason) != NULL
          || g_error_matches (reason, XP_ERROR, XP_ERROR_DISABLED))
        continue;
      gboolean is_missing = g_error_matches (reason, XP_ERROR, XP_ERROR_PLUGIN_NOT_FOUND);
      g_autofree char *installed = is_missing ? installed_plugins () : NULL;
      g_log_structured ("crosspoint", G_LOG_LEVEL_WARNING, "MESSAGE",
                        "'%s' of the setting load is not loaded: %s%s%s", *name, reason->message,
                        is_missing ? "\nInstalled are: " : "", is_missing ? installed : "");
    }
}

/* What is configured, then what --load names. */
static gboolean
load_plugins (const Settings *settings, GError **error)
{
  if (!settings->no_default)
    load_configured ();
  for (char **name = settings->loads; name != NULL && *name != NULL; name++)
    if (load_plugin_or_source (*name, error) == NULL)
      return FALSE;
  return TRUE;
}

/* The shared options before the command's name, which is then words[1]. */
static gboolean
parse_settings (char ***words, Settings *settings, GError **error)
{
  gboolean help = FALSE;
  const GOptionEntry entries[] = {
    { "load", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &settings->loads, NULL, NULL },
    { "no-default", 0, 0, G_OPTION_ARG_NONE, &settings->no_default, NULL, NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &settings->json, NULL, NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &settings->version, NULL, NULL },
    { "help", 'h', 0, G_OPTION_ARG_NONE, &help, NULL, NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_strict_posix (context, TRUE);
  if (!g_option_context_parse_strv (context, words, error))
    return FALSE;
  if (help)
    {
      g_strfreev (*words);
      *words = g_strsplit ("crosspoint help", " ", -1);
    }
  /* `help COMMAND` is `COMMAND --help`. */
  char **given = *words;
  if (given[0] != NULL && g_strcmp0 (given[1], "help") == 0 && given[2] != NULL)
    {
      g_free (given[1]);
      given[1] = given[2];
      given[2] = g_strdup ("--help");
    }
  return TRUE;
}

static int
print_version (const Settings *settings)
{
  printf (settings->json ? "{ \"version\": \"%s\" }\n" : "crosspoint %s\n", xp_version ());
  return EXIT_GOOD;
}

static int
run_command (const Command *command, char **words, Settings *settings)
{
  g_autoptr (GError) error = NULL;
  /* What stands before the name is taken with what stands behind it. */
  g_auto (GStrv) before = g_steal_pointer (&settings->loads);
  gboolean no_default = settings->no_default, json = settings->json;
  g_auto (GStrv) arguments = command_parse (command, words, settings, &error);
  g_autoptr (GStrvBuilder) loads = g_strv_builder_new ();
  if (before != NULL)
    g_strv_builder_addv (loads, (const char **) before);
  if (settings->loads != NULL)
    g_strv_builder_addv (loads, (const char **) settings->loads);
  g_strfreev (settings->loads);
  settings->loads = g_strv_builder_end (loads);
  settings->no_default |= no_default;
  settings->json |= json;
  if (arguments == NULL)
    return output_error (settings, NULL, error);
  gboolean wants_plugins = command->loads == LOADS_DEFAULT
                           || (command->loads == LOADS_FOR_ARGUMENTS && arguments[0] != NULL);
  if (wants_plugins && !load_plugins (settings, &error))
    return output_error (settings, NULL, error);
  if (command->run != NULL)
    return command->run (settings, arguments);
  XpReport *report = command->report (arguments, &error);
  return report != NULL ? output_report (settings, report) : output_error (settings, NULL, error);
}

/* Also where the words before it are wrong, so that their error is JSON too. */
static gboolean
asks_for_json (char **words)
{
  for (; *words != NULL && strcmp (*words, "--") != 0; words++)
    if (strcmp (*words, "--json") == 0)
      return TRUE;
  return FALSE;
}

static int
run_words (char ***words, Settings *settings)
{
  g_autoptr (GError) error = NULL;
  gboolean json = asks_for_json (*words), good = parse_settings (words, settings, &error);
  settings->json = json;
  if (!good)
    return output_error (settings, NULL, error);
  if (settings->version)
    return print_version (settings);
  const char *name = (*words)[0] != NULL ? (*words)[1] : NULL;
  if (name == NULL && settings->json)
    {
      g_set_error (&error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "expected a command");
      return output_error (settings, NULL, error);
    }
  if (name == NULL || strcmp (name, "help") == 0)
    {
      print_help (name != NULL ? stdout : stderr);
      return name != NULL ? EXIT_GOOD : EXIT_USAGE;
    }
  const Command *command = command_find (name);
  if (command != NULL)
    return run_command (command, *words + 1, settings);
  GString *names = g_string_new (NULL);
  for (unsigned i = 0; i < n_commands; i++)
    g_string_append_printf (names, "%s %s", i > 0 ? "," : "", commands[i].name);
  g_set_error (&error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "unknown command '%s'; the commands are%s", name, names->str);
  g_string_free (names, TRUE);
  return output_error (settings, NULL, error);
}

/* A "yes" that nobody could read is none. */
static int
finish_output (int status)
{
  gboolean was_lost = ferror (stdout) != 0;
  if (fflush (stdout) == 0 && !was_lost)
    return status;
  fprintf (stderr, "OSError: standard output cannot be written%s%s\n", was_lost ? "" : ": ",
           was_lost ? "" : g_strerror (errno));
  return status == EXIT_GOOD ? EXIT_NO : status;
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  /* A file that grows beyond its limit is an error that is reported, as a full disk is. */
  signal (SIGXFSZ, SIG_IGN);
  g_set_prgname ("crosspoint");
  output_warnings ();
  Settings settings = { 0 };
  g_auto (GStrv) words = g_new0 (char *, argc + 1);
  for (int i = 0; i < argc; i++)
    words[i] = g_strdup (argv[i]);
  int status = run_words (&words, &settings);
  g_strfreev (settings.loads);
  return finish_output (status);
}
