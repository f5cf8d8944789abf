/* SPDX-License-Identifier: MIT
 *
 * command.h: what a command of the program is, and the list of them.
 */
#pragma once

#include <crosspoint-inspect.h>

/* What the options that all commands share have asked for. */
typedef struct
{
  gboolean json;
  gboolean no_default;
  gboolean version;
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
  LOADS_FOR_ARGUMENTS, /* where it is given any, not only options */
  LOADS_DEFAULT
} Loads;

typedef struct
{
  const char *name;
  const char *usage;   /* what stands behind the name */
  const char *summary; /* what it does */
  const char *example; /* and whatever else its help says */
  Loads loads;
  unsigned least; /* arguments */
  unsigned most;
  const GOptionEntry *options; /* into static variables, which are reset before they are parsed */
  /* One of the two. A command that gives a report is a statement of the language too. */
  XpReport *(*report) (char **arguments, GError **error);
  int (*run) (const Settings *settings, char **arguments);
} Command;

extern const Command commands[];
extern const unsigned n_commands;

const Command *command_find (const char *name);

/* Parses the options of @command out of @words, an array of texts that begins with the command's
 * name, and checks the number of arguments, which it returns: a copy of what is left of @words.
 * @settings are NULL where the shared options are not taken. The error is a G_OPTION_ERROR. */
char **command_parse (const Command *command, char **words, Settings *settings, GError **error);

/* input.c: what the file at @path holds, or standard input where that is `-`; @what it is called in
 * an error. */
GBytes *command_read (const char *path, const char *what, GError **error);

/* reports.c */
extern const GOptionEntry plugins_options[], ops_options[], schema_options[], dump_options[],
    has_options[];
extern const GOptionEntry config_options[], lint_options[], replay_options[], scan_options[];
/* Whether the command was given --fail-on-rejected. */
gboolean command_fails_on_rejected (void);
XpReport *report_plugins (char **arguments, GError **error);
XpReport *report_scan (char **arguments, GError **error);
XpReport *report_retry (char **arguments, GError **error);
XpReport *report_info (char **arguments, GError **error);
XpReport *report_lint (char **arguments, GError **error);
XpReport *report_paths (char **arguments, GError **error);
XpReport *report_config (char **arguments, GError **error);
XpReport *report_ops (char **arguments, GError **error);
XpReport *report_which (char **arguments, GError **error);
XpReport *report_keys (char **arguments, GError **error);
XpReport *report_schema (char **arguments, GError **error);
XpReport *report_dump (char **arguments, GError **error);
XpReport *report_table (char **arguments, GError **error);
XpReport *report_has (char **arguments, GError **error);
XpReport *report_replay (char **arguments, GError **error);

extern const GOptionEntry call_options[], cc_options[], gen_options[], new_options[],
    prefer_options[], run_options[];
int command_call (const Settings *settings, char **arguments);
int command_cc (const Settings *settings, char **arguments);
int command_new (const Settings *settings, char **arguments);
int command_prefer (const Settings *settings, char **arguments);
int command_run (const Settings *settings, char **arguments);
int command_gen (const Settings *settings, char **arguments);
