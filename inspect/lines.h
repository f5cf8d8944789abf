/* SPDX-License-Identifier: MIT
 *
 * lines.h: a text from outside, line by line, whatever system it comes from.
 */
#pragma once

#include <glib.h>

typedef struct
{
  GBytes *bytes; /* in UTF-8, but for what is broken in it */
  gsize at;
  guint64 number; /* of the line that was read last, from 1; 0 before the first */
} Lines;

/* @bytes as a text, from its first line on: a mark of its encoding is taken away, and UTF-16, which
 * Windows writes, converted. Takes a reference. */
void lines_init (Lines *lines, GBytes *bytes);
void lines_clear (Lines *lines);
void lines_rewind (Lines *lines);

/* The next line without its end, LF or CRLF; not terminated. FALSE behind the last. */
gboolean lines_next (Lines *lines, const char **line, gsize *length);

/* Goes back before the line of @length that lines_next() gave last. */
void lines_unread (Lines *lines, const char *line);
