/* SPDX-License-Identifier: MIT
 *
 * script.c: a text of many statements: a line each, or more where brackets are open.
 */
#include "session.h"

#include <stdio.h>
#include <string.h>

/* How many brackets @line opens and does not close; texts and comments do not count. */
static int
open_brackets (const char *line)
{
  int open = 0;
  Token token;
  while (token_read (&line, &token, NULL) && token.kind != TOKEN_END)
    {
      if (token.kind == TOKEN_SYMBOL)
        open += (strchr ("([", token.symbol) != NULL) - (strchr (")]", token.symbol) != NULL);
      xp_value_clear (&token.value);
    }
  return open;
}

/* Statements get a prompt; comments and empty lines are for the reader as they are. What follows
 * the last newline is no line if it is empty. */
static void
echo_line (const char *line, gboolean is_last)
{
  gboolean is_text = line[strspn (line, " \t\r")] == '\0' || line[0] == '#';
  if (!is_last || line[0] != '\0')
    printf ("%s%s\n", is_text ? "" : "> ", line);
}

gboolean
session_run_script (Session *session, const char *text, gboolean echo, unsigned *line,
                    GError **error)
{
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  gboolean has_mark = g_str_has_prefix (text, byte_order_mark);
  g_auto (GStrv) lines = g_strsplit (text + (has_mark ? strlen (byte_order_mark) : 0), "\n", -1);
  g_autoptr (GString) statement = g_string_new (NULL);
  g_autoptr (GString) output = g_string_new (NULL);
  int open = 0;
  unsigned n = g_strv_length (lines);
  for (unsigned i = 0; i < n; i++)
    {
      if (statement->len == 0)
        *line = i + 1;
      if (echo)
        echo_line (lines[i], i + 1 == n);
      open += open_brackets (lines[i]);
      g_string_append_printf (statement, "%s\n", lines[i]);
      if (open > 0 && i + 1 < n)
        continue;
      g_string_set_size (output, 0);
      gboolean done = session_run (session, statement->str, output, error);
      fwrite (output->str, 1, output->len, stdout);
      fflush (stdout);
      if (!done)
        return FALSE;
      g_string_set_size (statement, 0);
      open = 0;
    }
  return TRUE;
}
