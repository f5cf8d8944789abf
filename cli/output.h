/* SPDX-License-Identifier: MIT
 *
 * output.h: printing: reports, errors, warnings.
 */
#pragma once

#include "commands/command.h"

/* How reports are printed: as the settings ask, with colour on a terminal that wants it. */
XpReportStyle output_style (const Settings *settings);

/* Prints @report and frees it. EXIT_GOOD; EXIT_NO where its answer is no;
 * EXIT_REJECTED where it shows a plugin that is, and the command was to fail then. */
int output_report (const Settings *settings, XpReport *report);

/* Prints an error, as text on standard error or as JSON on standard output. @location is where in a
 * script it happened, or NULL. EXIT_USAGE for a G_OPTION_ERROR, else EXIT_NO. */
int output_error (const Settings *settings, const char *location, const GError *error);

/* Prints the warnings of the library on standard error from now on. */
void output_warnings (void);
