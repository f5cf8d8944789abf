/* SPDX-License-Identifier: MIT
 *
 * command.h: what a command of the program is, and the list of them.
 */
#pragma once

#include <crosspoint.h>

/* What the options before and behind the command's name have asked for. */
typedef struct
{
  gboolean json;
  gboolean no_default;
  char **loads;
} Settings;

enum
{
  EXIT_GOOD = 0,
  EXIT_NO = 1,
  EXIT_USAGE = 2,
  EXIT_REJECTED = 3
};

/* Whether a command wants plugins loaded before it runs. */
typedef enum
{
  LOADS_NOTHING,
  LOADS_DEFAULT
} Loads;

typedef struct
{
  const char *name;
  const char *usage;   /* what stands behind the name */
  const char *summary; /* what it does */
  const char *example;
  Loads loads;
  int (*run) (const Settings *settings, int argc, char **argv);
} Command;

extern const Command commands[];
extern const unsigned n_commands;

int command_gen (const Settings *settings, int argc, char **argv);
