/* SPDX-License-Identifier: MIT
 *
 * tokens.c: the words, numbers, texts and signs of the little language.
 */
#include "syntax.h"

#include <errno.h>
#include <string.h>

gboolean
set_language_error (GError **error, XpError code, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  xp_error_set (error, code, NULL, "%s", text);
  return FALSE;
}

char *
text_excerpt (const char *text)
{
  enum
  {
    MOST = 20 /* characters */
  };
  text += strspn (text, " \t\r\n");
  if (*text == '\0')
    return g_strdup ("the end");
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) strcspn (text, "\r\n"));
  gboolean is_long = g_utf8_strlen (valid, -1) > MOST;
  g_autofree char *begin = g_utf8_substring (valid, 0, is_long ? MOST : -1);
  return g_strdup_printf ("'%s%s'", begin, is_long ? "…" : "");
}

/* The `@PLUGIN`, `@KEY` or `@PLUGIN/KEY` behind an operator's name; 0 where there is none. */
static size_t
owner_length (const char *text)
{
  size_t n = 1;
  if (text[0] != '@')
    return 0;
  while (g_ascii_isalnum (text[n]) || (text[n] != '\0' && strchr ("_-./", text[n]) != NULL))
    n++;
  return n;
}

/* A name, with the `::` and `.` of an operator's where a name goes on after them. */
static size_t
word_length (const char *text)
{
  size_t n = 0;
  for (;;)
    {
      size_t part = 0;
      while (g_ascii_isalnum (text[n + part]) || text[n + part] == '_')
        part++;
      n += part;
      size_t joint = text[n] == ':' && text[n + 1] == ':' ? 2 : text[n] == '.' ? 1 : 0;
      if (joint == 0 || !(g_ascii_isalpha (text[n + joint]) || text[n + joint] == '_'))
        return n + (n > 0 ? owner_length (text + n) : 0);
      n += joint;
    }
}

static gboolean
read_string (const char **source, Token *token, GError **error)
{
  const char *text = *source;
  char quote = *text++;
  GString *bytes = g_string_new (NULL);
  for (; *text != quote; text++)
    {
      if (*text == '\0' || *text == '\n')
        {
          g_string_free (bytes, TRUE);
          return set_syntax_error (error, "a text does not end: expected %c", quote);
        }
      if (*text != '\\')
        {
          g_string_append_c (bytes, *text);
          continue;
        }
      const char *escapes = "n\nt\t\\\\\"\"''";
      const char *found = *++text != '\0' ? strchr (escapes, *text) : NULL;
      if (found == NULL || (found - escapes) % 2 != 0)
        {
          g_string_free (bytes, TRUE);
          g_autofree char *escape = text_excerpt (text - 1);
          return set_syntax_error (error, "unknown escape in a text, at %s", escape);
        }
      g_string_append_c (bytes, found[1]);
    }
  token->kind = TOKEN_STRING;
  token->value = xp_value_string_with_length (bytes->str, bytes->len);
  g_string_free (bytes, TRUE);
  *source = text + 1;
  return TRUE;
}

static gboolean
is_number (const char *text)
{
  text += *text == '-';
  return g_ascii_isdigit (*text) || (*text == '.' && g_ascii_isdigit (text[1]));
}

static gboolean
read_number (const char **source, Token *token, GError **error)
{
  const char *text = *source;
  gboolean is_negative = *text == '-', is_float = FALSE;
  size_t n = is_negative + strspn (text + is_negative, "0123456789");
  if (text[n] == '.')
    {
      is_float = TRUE;
      n += 1 + strspn (text + n + 1, "0123456789");
    }
  if ((text[n] == 'e' || text[n] == 'E')
      && g_ascii_isdigit (text[n + 1 + (text[n + 1] == '+' || text[n + 1] == '-')]))
    {
      is_float = TRUE;
      n += 2;
      n += strspn (text + n, "0123456789");
    }
  g_autofree char *digits = g_strndup (text, n);
  errno = 0;
  token->kind = TOKEN_NUMBER;
  if (text[n] == 'j')
    token->value = xp_value_complex (is_negative ? -0.0 : 0, g_ascii_strtod (digits, NULL));
  else if (is_float)
    token->value = xp_value_float (g_ascii_strtod (digits, NULL));
  else
    token->value = xp_value_int (g_ascii_strtoll (digits, NULL, 10));
  if (errno == ERANGE && token->value.tag == XP_TAG_INT)
    return set_syntax_error (error, "%s does not fit into an integer of 64 bits", digits);
  *source = text + n + (text[n] == 'j');
  if (!g_ascii_isalnum (**source) && **source != '_')
    return TRUE;
  g_autofree char *found = text_excerpt (text);
  return set_syntax_error (error, "expected a number, found %s", found);
}

gboolean
token_read (const char **source, Token *token, GError **error)
{
  const char *text = *source + strspn (*source, " \t\r\n");
  *token = (Token){ .kind = TOKEN_END, .text = text };
  *source = text;
  if (*text == '\0' || *text == '#')
    return TRUE;
  gboolean good = TRUE;
  if (g_ascii_isalpha (*text) || *text == '_')
    {
      token->kind = TOKEN_WORD;
      *source += word_length (text);
    }
  else if (is_number (text))
    good = read_number (source, token, error);
  else if (*text == '"' || *text == '\'')
    good = read_string (source, token, error);
  else
    {
      token->kind = TOKEN_SYMBOL;
      token->symbol = *text;
      *source += 1;
    }
  token->length = (size_t) (*source - text);
  if (!good)
    xp_value_clear (&token->value);
  return good;
}
