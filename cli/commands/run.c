/* SPDX-License-Identifier: MIT
 *
 * run.c: `crosspoint run`: a script in the little language.
 */
#include "commands/command.h"
#include "language/session.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

static gboolean echo;

const GOptionEntry run_options[] = {
  { "echo", 0, 0, G_OPTION_ARG_NONE, &echo, "Print each line before what it gives", NULL },
  { NULL },
};

enum
{
  MOST_BYTES = 64 << 20
};

static char *
read_script (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = command_read (path, "the script", error);
  gsize length = 0;
  const char *text = bytes != NULL ? g_bytes_get_data (bytes, &length) : NULL;
  if (bytes == NULL)
    return NULL;
  if (length > MOST_BYTES)
    {
      xp_error_set (error, XP_ERROR_LIMIT, NULL,
                    "%s is too long for a script: it has %" G_GSIZE_FORMAT " bytes, at most %d "
                    "are read; large tensors belong in .npy files",
                    path, length, MOST_BYTES);
      return NULL;
    }
  if (g_utf8_validate (text, (gssize) length, NULL))
    return g_strndup (text, length);
  xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                "%s is no script: it is not text in UTF-8, or has a NUL in it", path);
  return NULL;
}

int
command_run (const Settings *settings, char **arguments)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = read_script (arguments[0], &error);
  if (text == NULL)
    return output_error (settings, NULL, error);
  unsigned line = 0;
  g_autoptr (Session) session = session_new (output_style (settings));
  if (session_run_script (session, text, echo && !settings->json, &line, &error))
    return EXIT_GOOD;
  g_autofree char *location = g_strdup_printf ("%s:%u", arguments[0], line);
  return output_error (settings, location, error);
}
