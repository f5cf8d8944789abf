/* SPDX-License-Identifier: MIT
 *
 * output.c: printing: reports, errors, warnings.
 */
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gboolean
wants_colour (int descriptor)
{
  const char *no_colour = getenv ("NO_COLOR");
  const char *terminal = getenv ("TERM");
  return isatty (descriptor) && (no_colour == NULL || no_colour[0] == '\0')
         && (terminal == NULL || strcmp (terminal, "dumb") != 0);
}

XpReportStyle
output_style (const Settings *settings)
{
  return settings->json                 ? XP_REPORT_JSON
         : wants_colour (STDOUT_FILENO) ? XP_REPORT_COLOUR
                                        : XP_REPORT_PLAIN;
}

static void
write_piece (const char *text, gboolean is_problem, G_GNUC_UNUSED gpointer data)
{
  if (is_problem && text[0] != '\0')
    fflush (stdout);
  fputs (text, is_problem ? stderr : stdout);
}

int
output_report (const Settings *settings, XpReport *report)
{
  xp_report_write (report, output_style (settings), write_piece, NULL);
  int status = !xp_report_is_yes (report)                                        ? EXIT_NO
               : command_fails_on_rejected () && xp_report_has_rejected (report) ? EXIT_REJECTED
                                                                                 : EXIT_GOOD;
  xp_report_free (report);
  return status;
}

int
output_error (const Settings *settings, const char *location, const GError *error)
{
  g_autoptr (XpReport) report = xp_report_error (error, location);
  XpReportStyle style = settings->json                 ? XP_REPORT_JSON
                        : wants_colour (STDERR_FILENO) ? XP_REPORT_COLOUR
                                                       : XP_REPORT_PLAIN;
  g_autofree char *text = xp_report_print (report, style);
  fflush (stdout);
  fputs (text, settings->json ? stdout : stderr);
  return error->domain == G_OPTION_ERROR ? EXIT_USAGE : EXIT_NO;
}

static GLogWriterOutput
write_warning (GLogLevelFlags level, const GLogField *fields, gsize n_fields, void *data)
{
  const char *domain = NULL, *message = NULL;
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "GLIB_DOMAIN") == 0)
      domain = fields[i].value;
    else if (strcmp (fields[i].key, "MESSAGE") == 0 && fields[i].length < 0)
      message = fields[i].value;
  if (g_strcmp0 (domain, "crosspoint") != 0 || message == NULL
      || (level & G_LOG_LEVEL_MASK) != G_LOG_LEVEL_WARNING)
    return g_log_writer_default (level, fields, n_fields, data);
  fflush (stdout);
  fprintf (stderr, "warning: %s\n", message);
  return G_LOG_WRITER_HANDLED;
}

void
output_warnings (void)
{
  g_log_set_writer_func (write_warning, NULL, NULL);
}
