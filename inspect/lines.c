/* SPDX-License-Identifier: MIT
 *
 * lines.c: a text from outside, line by line, whatever system it comes from.
 */
#include "lines.h"

#include <string.h>

static GBytes *
decode (GBytes *bytes)
{
  gsize length, n_written = 0;
  const char *text = g_bytes_get_data (bytes, &length);
  if (length >= 3 && memcmp (text, "\357\273\277", 3) == 0)
    return g_bytes_new_from_bytes (bytes, 3, length - 3);
  if (length < 2 || (memcmp (text, "\377\376", 2) != 0 && memcmp (text, "\376\377", 2) != 0))
    return g_bytes_ref (bytes);
  const char *encoding = text[0] == '\377' ? "UTF-16LE" : "UTF-16BE";
  /* Half of a character at the end has been cut off. */
  char *converted = g_convert_with_fallback (text + 2, (gssize) ((length - 2) & ~(gsize) 1),
                                             "UTF-8", encoding, "?", NULL, &n_written, NULL);
  /* What is broken in it stays as it is, and is found line by line. */
  return converted != NULL ? g_bytes_new_take (converted, n_written) : g_bytes_ref (bytes);
}

void
lines_init (Lines *lines, GBytes *bytes)
{
  *lines = (Lines){ .bytes = decode (bytes) };
}

void
lines_clear (Lines *lines)
{
  g_clear_pointer (&lines->bytes, g_bytes_unref);
}

void
lines_rewind (Lines *lines)
{
  lines->at = 0;
  lines->number = 0;
}

gboolean
lines_next (Lines *lines, const char **line, gsize *length)
{
  gsize n;
  const char *text = g_bytes_get_data (lines->bytes, &n);
  if (lines->at >= n)
    return FALSE;
  const char *end = memchr (text + lines->at, '\n', n - lines->at);
  *line = text + lines->at;
  *length = (gsize) ((end != NULL ? end : text + n) - *line);
  lines->at += *length + (end != NULL);
  lines->number++;
  if (*length > 0 && (*line)[*length - 1] == '\r')
    --*length;
  return TRUE;
}

void
lines_unread (Lines *lines, const char *line)
{
  lines->at = (gsize) (line - (const char *) g_bytes_get_data (lines->bytes, NULL));
  lines->number--;
}
