/* SPDX-License-Identifier: MIT
 *
 * input.c: reading the files that commands are given.
 */
#include "commands/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static gboolean
read_all (int fd, char **text, gsize *length, const char *what, const char *path, GError **error)
{
  for (gsize room = 1 << 16;; room *= 2)
    {
      char *larger = g_try_realloc (*text, room);
      if (larger == NULL)
        {
          xp_error_set (error, XP_ERROR_NO_MEMORY, NULL, "no memory for %s", what);
          return FALSE;
        }
      *text = larger;
      while (*length < room)
        {
          gssize n = read (fd, *text + *length, room - *length);
          if (n == 0)
            return TRUE;
          if (n < 0 && errno != EINTR)
            {
              xp_error_set (error, XP_ERROR_FILE_IO, NULL, "cannot read %s, %s: %s", what, path,
                            g_strerror (errno));
              return FALSE;
            }
          *length += (gsize) MAX (n, 0);
        }
    }
}

GBytes *
command_read (const char *path, const char *what, GError **error)
{
  g_autofree char *text = NULL;
  gsize length = 0;
  gboolean is_input = strcmp (path, "-") == 0;
  int fd = is_input ? STDIN_FILENO : open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL, "cannot open %s, %s: %s", what, path,
                    g_strerror (errno));
      return NULL;
    }
  gboolean done = read_all (fd, &text, &length, what, is_input ? "standard input" : path, error);
  if (!is_input)
    close (fd);
  return done ? g_bytes_new_take (g_steal_pointer (&text), length) : NULL;
}
