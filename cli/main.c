/* SPDX-License-Identifier: MIT
 *
 * main.c: the program `crosspoint`: its commands, and the options that all of them share.
 */
#include "commands/command.h"
#include "output.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

const Command commands[] = {
  { "gen", "[-o DIR] [--rows] FILE.ops", "Writes C from the schemas of a .ops file.",
    "crosspoint gen -o . myops.ops", LOADS_NOTHING, command_gen },
};
const unsigned n_commands = XP_LENGTH (commands);

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  if (argc < 2)
    return EXIT_USAGE;
  Settings settings = { 0 };
  for (unsigned i = 0; i < n_commands; i++)
    if (strcmp (commands[i].name, argv[1]) == 0)
      return commands[i].run (&settings, argc - 1, argv + 1);
  return EXIT_USAGE;
}
