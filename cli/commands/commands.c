/* SPDX-License-Identifier: MIT
 *
 * commands.c: the table of commands, and taking their words apart.
 */
#include "commands/command.h"

#include <string.h>

enum
{
  ANY = G_MAXUINT
};

static const GOptionEntry no_options[] = { { NULL } };

const Command commands[] = {
  { "plugins", "[-a]", "Lists plugins: state, what they have in the table, file, reason.",
    "crosspoint plugins -a", LOADS_DEFAULT, 0, 0, plugins_options, report_plugins, NULL },
  { "scan", "[-v] [DIRECTORY|FILE]…",
    "Loads each plugin in a process of its own, and shows what it brings.",
    "crosspoint scan -v\n\n"
    "Without arguments it scans the search path, of a directory what is named NAME.so or\n"
    "NAME.ops. Only files whose note fits this machine and version are loaded. FOUND is the\n"
    "state that a load would leave, or\n"
    "  quarantined   it crashed, hung or ended its process: a load is refused until the file or\n"
    "                what it requires has changed, or `crosspoint retry` has found it good\n"
    "  not a plugin  another file, or a shared object without a Crosspoint note\n"
    "  skipped       built for another machine\n"
    "What was found is kept in the user's cache directory; `plugins`, `info` and the hints of "
    "errors\n"
    "use it. The setting scan-timeout (10 s) limits each file.",
    LOADS_NOTHING, 0, ANY, scan_options, report_scan, NULL },
  { "retry", "NAME|FILE", "Scans a quarantined plugin again; exits 1 if it is still not good.",
    "crosspoint retry cpu", LOADS_NOTHING, 1, 1, no_options, report_retry, NULL },
  { "info", "NAME|FILE", "Shows what a plugin says about itself, without running it.",
    "crosspoint info cpu", LOADS_NOTHING, 1, 1, no_options, report_info, NULL },
  { "lint", "[-v] NAME|FILE…",
    "Finds what in plugins' files, and in files of schemas, will hurt their users, without running "
    "them.",
    "crosspoint lint ./myops.so myops.ops\n\n"
    "Each finding says why it hurts and what to do next; docs/lint.md lists them. It exits 1 if "
    "there\n"
    "are errors or warnings. Files for other machines are looked at too.\n",
    LOADS_NOTHING, 1, ANY, lint_options, report_lint, NULL },
  { "paths", "", "Lists the directories that plugins are looked for in.", "crosspoint paths",
    LOADS_NOTHING, 0, 0, no_options, report_paths, NULL },
  { "config", "[NAME [VALUE]] | --unset NAME",
    "Shows settings and which layer set them, or writes one into the user's file.",
    "crosspoint config load aten,cpu,sparse,meta,composite,openblas\n\n"
    "The layers, the strongest first, are the program, the environment, the user's file, and what "
    "is\n"
    "built in. A value that begins with `-` stands after `--`: crosspoint config cpu-features -- "
    "-avx512f\n",
    LOADS_NOTHING, 0, 2, config_options, report_config, NULL },
  { "ops", "[--pending] [GLOB]", "Lists the rows: operators that a loaded plugin defines or fills.",
    "crosspoint ops 'aten::add*'", LOADS_DEFAULT, 0, 1, ops_options, report_ops, NULL },
  { "which", "OP KEY", "Shows who fills a cell, who would otherwise, and what decided.",
    "crosspoint which aten::mm CPU", LOADS_DEFAULT, 2, 2, no_options, report_which, NULL },
  { "keys", "", "Lists the columns: dispatch keys, the highest first.", "crosspoint keys",
    LOADS_DEFAULT, 0, 0, no_options, report_keys, NULL },
  { "schema", "OP… | --file FILE",
    "Shows signatures, taken apart, or the canonical form of a file's.",
    "crosspoint schema aten::gelu\n\n"
    "With --file there is a line for each line of FILE: the canonical form of the schema, or "
    "`error:`\n"
    "and why it does not parse; it exits 1 if one does not. Blank lines and those that begin with\n"
    "`#` are printed as they are.",
    LOADS_FOR_ARGUMENTS, 0, ANY, schema_options, report_schema, NULL },
  { "dump", "[--owners] OP|GLOB", "Shows who has registered what for an operator, and where.",
    "crosspoint dump aten::gelu", LOADS_DEFAULT, 1, 1, dump_options, report_dump, NULL },
  { "table", "OP", "Shows the kernel in each cell of a row, and the rule that filled it.",
    "crosspoint table aten::gelu", LOADS_DEFAULT, 1, 1, no_options, report_table, NULL },
  { "has", "[--computed] OP… KEY… | --needs FILE",
    "Tells whether kernels are there; exits 1 when one of them is not.",
    "crosspoint has aten::gelu CPU\n\n"
    "With --needs the lines of FILE are an operator and a key each, and it prints those without a\n"
    "kernel by any rule, and the plugins that may have one.\n",
    LOADS_DEFAULT, 0, ANY, has_options, report_has, NULL },
  { "replay", "[--fallbacks FILE] FILE…",
    "Shows the computed tables of rows that PyTorch has dumped; `-` is standard input.",
    "crosspoint replay dump.txt\n\n"
    "FILE holds what torch._C._dispatch_dump() gives, of any version of PyTorch and from any "
    "system;\n"
    "of several rows, with blank lines between them. A dump does not show fallbacks. Without\n"
    "--fallbacks they are those of PyTorch 1.13, and for keys that it does not have, the newest; "
    "for\n"
    "the exact ones of another version, print the table of an operator without kernels with it:\n"
    "  import torch\n"
    "  probe = torch.library.Library(\"probe\", \"DEF\")\n"
    "  probe.define(\"probe() -> ()\")\n"
    "  print(torch._C._dispatch_dump_table(\"probe::probe\"))\n\n"
    "What is not understood is reported on standard error with file and line: a key that is not "
    "known\n"
    "here is a warning, its kernel is left out. Where a text is damaged, what was understood of it "
    "is\n"
    "printed, and the program exits 1.",
    LOADS_NOTHING, 1, ANY, replay_options, report_replay, NULL },
  { "call", "[-o FILE.npy]… OP ARGUMENT…",
    "Calls an operator on .npy files, literals, and NAME=VALUE. OP@PLUGIN, OP@KEY and "
    "OP@PLUGIN/KEY call one kernel of it, active or not.",
    "crosspoint call aten::add x.npy 1 alpha=2 -o y.npy", LOADS_DEFAULT, 1, ANY, call_options, NULL,
    command_call },
  { "prefer", "[--remove] [PLUGIN|OP@PLUGIN/KEY]",
    "Lists whose kernels come first, or writes it into the user's file.",
    "crosspoint prefer aten::mm@openblas\n\n"
    "OP and PLUGIN may be globs; KEY is the key registered to, any without it. What is written "
    "comes\n"
    "before what the file prefers already. In a script the statement of this name changes the "
    "running\n"
    "table instead, and no file.",
    LOADS_DEFAULT, 0, 1, prefer_options, NULL, command_prefer },
  { "run", "[--echo] SCRIPT", "Runs a script in the little language; `-` is standard input.",
    "crosspoint run tour.xp", LOADS_DEFAULT, 1, 1, run_options, NULL, command_run },
  { "new", "[--key KEY]… NAME",
    "Writes a plugin to begin with: kernels, schemas, build files, a test.",
    "crosspoint new demo --key CPU --key Meta\n\n"
    "It builds and passes at once, by `make test` or by `meson test`.",
    LOADS_NOTHING, 1, 1, new_options, NULL, command_new },
  { "cc", "[-n] [-o PLUGIN.so] FILE.c… [FILE.ops…]", "Compiles C files to a plugin.",
    "crosspoint cc demo.c\n\n"
    "The flags are those of pkg-config for this library, and those that keep a plugin's names its "
    "own.\n"
    "FILE.ops beside FILE.c, or given, goes through `gen`: its header can be included, its rows "
    "come\n"
    "with the plugin. CC, CPPFLAGS, CFLAGS and LDFLAGS are taken from the environment. `load "
    "FILE.c` "
    "in\n"
    "a script, and `--load FILE.c`, compile and load; `load` again, after an edit, swaps.",
    LOADS_NOTHING, 1, ANY, cc_options, NULL, command_cc },
  { "gen", "[-o DIR] [--rows|--docs] FILE.ops",
    "Writes C, or a reference page, from the schemas of a .ops file.",
    "crosspoint gen -o . myops.ops", LOADS_NOTHING, 1, 1, gen_options, NULL, command_gen },
};
const unsigned n_commands = XP_LENGTH (commands);

const Command *
command_find (const char *name)
{
  for (unsigned i = 0; i < n_commands; i++)
    if (strcmp (commands[i].name, name) == 0)
      return &commands[i];
  return NULL;
}

/* The options of the last time do not count for this one. */
static void
reset_options (const GOptionEntry *entries)
{
  for (; entries->long_name != NULL; entries++)
    switch (entries->arg)
      {
      case G_OPTION_ARG_NONE:
        *(gboolean *) entries->arg_data = FALSE;
        break;
      case G_OPTION_ARG_FILENAME_ARRAY:
        g_clear_pointer ((char ***) entries->arg_data, g_strfreev);
        break;
      default:
        g_clear_pointer ((char **) entries->arg_data, g_free);
      }
}

static GOptionContext *
context_new (const Command *command, Settings *settings)
{
  g_autofree char *usage = g_strdup_printf ("%s %s", command->name, command->usage);
  g_autofree char *description = g_strdup_printf ("Example:\n  %s\n", command->example);
  GOptionContext *context = g_option_context_new (usage);
  g_option_context_set_summary (context, command->summary);
  g_option_context_set_description (context, description);
  g_option_context_add_main_entries (context, command->options, NULL);
  g_option_context_set_help_enabled (context, settings != NULL);
  if (settings != NULL)
    {
      const GOptionEntry shared[] = {
        { "load", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &settings->loads,
          "Load a plugin too; may be given again", "NAME|FILE" },
        { "no-default", 0, 0, G_OPTION_ARG_NONE, &settings->no_default,
          "Load nothing but what --load names", NULL },
        { "json", 0, 0, G_OPTION_ARG_NONE, &settings->json, "Answer in JSON, failures too", NULL },
        { NULL },
      };
      g_option_context_add_main_entries (context, shared, NULL);
    }
  return context;
}

/* A number such as -1 is an argument, not an option: it is marked while options are parsed. */
#define NUMBER_MARK "\001"

static void
mark_numbers (char **words)
{
  for (; *words != NULL; words++)
    if ((*words)[0] == '-'
        && (g_ascii_isdigit ((*words)[1]) || (*words)[1] == '.'
            || g_str_has_prefix (*words, "-inf")))
      {
        char *marked = g_strconcat (NUMBER_MARK, *words, NULL);
        g_free (*words);
        *words = marked;
      }
}

static void
unmark_numbers (char **words)
{
  for (; *words != NULL; words++)
    if (g_str_has_prefix (*words, NUMBER_MARK))
      memmove (*words, *words + 1, strlen (*words));
}

/* What stands behind the first `--` is an argument, whatever it begins with. */
static void
remove_separator (char **words)
{
  while (*words != NULL && strcmp (*words, "--") != 0)
    words++;
  g_free (*words);
  for (; *words != NULL; words++)
    words[0] = words[1];
}

char **
command_parse (const Command *command, char **words, Settings *settings, GError **error)
{
  g_autoptr (GOptionContext) context = context_new (command, settings);
  g_auto (GStrv) left = g_strdupv (words);
  reset_options (command->options);
  mark_numbers (left);
  if (!g_option_context_parse_strv (context, &left, error))
    return NULL;
  unmark_numbers (left);
  char **arguments = left[0] != NULL ? left + 1 : left;
  remove_separator (arguments);
  unsigned n = g_strv_length (arguments);
  if (n < command->least || n > command->most)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "%s %u argument%s, found %u; usage: %s%s%s",
                   n < command->least && command->most > command->least ? "expected at least"
                   : command->most > command->least                     ? "expected at most"
                                                                        : "expected",
                   n < command->least ? command->least : command->most,
                   (n < command->least ? command->least : command->most) == 1 ? "" : "s", n,
                   command->name, command->usage[0] != '\0' ? " " : "", command->usage);
      return NULL;
    }
  return g_strdupv (arguments);
}
