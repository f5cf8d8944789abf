/* SPDX-License-Identifier: MIT
 *
 * input.c: reading the files that commands are given.
 */
#include "commands/command.h"

#include <string.h>

GBytes *
command_read (const char *path, const char *what, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GIOChannel) input = NULL;
  char *text = NULL;
  gsize length = 0;
  if (strcmp (path, "-") == 0)
    {
      input = g_io_channel_unix_new (0);
      g_io_channel_set_encoding (input, NULL, NULL);
      g_io_channel_read_to_end (input, &text, &length, &reason);
    }
  else
    g_file_get_contents (path, &text, &length, &reason);
  if (reason == NULL)
    return g_bytes_new_take (text, length);
  xp_error_set (error, XP_ERROR_FILE_IO, NULL, "cannot read %s: %s", what, reason->message);
  return NULL;
}
