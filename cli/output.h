/* SPDX-License-Identifier: MIT
 *
 * output.h: what all commands share: options, errors, and printing.
 */
#pragma once

#include "commands/command.h"

/* Parses a command's own options. Says what is wrong on standard error and is false for a mistake.
 */
gboolean parse_options (int *argc, char ***argv, const GOptionEntry *entries, const char *command);

/* Prints a mistake in the use of @command; EXIT_USAGE. */
int usage_error (const char *command, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Prints an error, as text on standard error or as JSON on standard output; EXIT_NO. */
int report_error (const Settings *settings, const GError *error);
