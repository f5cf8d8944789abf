/* SPDX-License-Identifier: MIT
 *
 * parse_error.c: what a parse error says, and the lines it shows (reference 5.5). As PyTorch does,
 * up to two lines before and after the one at fault are shown.
 */
#include "schema/parser.h"

enum
{
  LINES_AROUND = 2
};

/* Appends @n bytes of the source; what a terminal or a reader of UTF-8 would stumble over is shown
 * as a question mark. Returns how many characters that makes. */
static uint32_t
append_source (GString *message, const char *text, uint32_t n)
{
  uint32_t n_characters = 0;
  for (const char *c = text; c < text + n; n_characters++)
    {
      gunichar character = g_utf8_get_char_validated (c, text + n - c);
      gboolean valid = character != (gunichar) -1 && character != (gunichar) -2;
      int size = valid ? g_unichar_to_utf8 (character, NULL) : 1;
      gboolean shown = valid && (!g_unichar_iscntrl (character) || *c == '\n' || *c == '\t');
      g_string_append_len (message, shown ? c : "?", shown ? size : 1);
      c += size;
    }
  return n_characters;
}

static void
append_repeated (GString *message, char c, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    g_string_append_c (message, c);
}

/* Where the line begins that lies @n before the one of @position. */
static uint32_t
line_before (const XpLexer *lexer, uint32_t position, unsigned n)
{
  for (; position > 0; position--)
    if (lexer->text[position - 1] == '\n' && n-- == 0)
      break;
  return position;
}

/* Where the line ends that lies @n after the one of @position. */
static uint32_t
line_after (const XpLexer *lexer, uint32_t position, unsigned n)
{
  for (; position < lexer->length; position++)
    if (lexer->text[position] == '\n' && n-- == 0)
      break;
  return position;
}

static void
append_excerpt (GString *message, const XpLexer *lexer, XpToken token)
{
  const char *text = lexer->text;
  uint32_t line = line_before (lexer, token.start, 0);
  uint32_t line_end = line_after (lexer, token.start, 0);
  uint32_t context = line_before (lexer, token.start, LINES_AROUND);
  uint32_t context_end = line_after (lexer, token.start, LINES_AROUND);
  append_source (message, text + context, line - context);
  uint32_t n_before = append_source (message, text + line, token.start - line);
  uint32_t n_marked = MIN (token.length, line_end - token.start);
  n_marked = append_source (message, text + token.start, n_marked);
  uint32_t shown = MIN (token.start + token.length, line_end);
  append_source (message, text + shown, line_end - shown);
  if (token.kind == XP_TOKEN_EOF)
    return;
  g_string_append_c (message, '\n');
  if (n_marked > 0)
    {
      append_repeated (message, ' ', n_before);
      append_repeated (message, '~', n_marked);
      g_string_append (message, " <--- HERE\n");
    }
  if (context_end > line_end + 1)
    {
      append_source (message, text + line_end + 1, context_end - line_end - 1);
      g_string_append_c (message, '\n');
    }
}

static void
append_found (GString *message, const XpLexer *lexer)
{
  static const char *const names[] = {
    [XP_TOKEN_EOF - XP_TOKEN_EOF] = "eof",
    [XP_TOKEN_IDENT - XP_TOKEN_EOF] = "ident",
    [XP_TOKEN_NUMBER - XP_TOKEN_EOF] = "number",
    [XP_TOKEN_STRING - XP_TOKEN_EOF] = "string_literal",
    [XP_TOKEN_ARROW - XP_TOKEN_EOF] = "arrow",
    [XP_TOKEN_NEWLINE - XP_TOKEN_EOF] = "newline",
    [XP_TOKEN_DOTS - XP_TOKEN_EOF] = "dots",
    [XP_TOKEN_INVALID - XP_TOKEN_EOF] = NULL,
  };
  XpToken token = lexer->token;
  const char *name = token.kind >= XP_TOKEN_EOF ? names[token.kind - XP_TOKEN_EOF] : NULL;
  if (name != NULL)
    g_string_append (message, name);
  else
    append_source (message, lexer->text + token.start, token.length);
}

void
xp_parser_expected (XpParser *parser, const char *what)
{
  const XpLexer *lexer = &parser->lexer;
  g_autoptr (GString) message = g_string_new ("expected ");
  g_string_append (message, xp_parser_at (parser, XP_TOKEN_INVALID) ? "a valid token" : what);
  g_string_append (message, " but found '");
  append_found (message, lexer);
  g_string_append (message, "' here:\n");
  append_excerpt (message, lexer, lexer->token);
  xp_error_set (parser->error, XP_ERROR_SCHEMA_SYNTAX, NULL, "%s", message->str);
}

void
xp_parser_fail (XpParser *parser, XpToken token, const char *format, ...)
{
  if (xp_parser_at (parser, XP_TOKEN_INVALID))
    {
      xp_parser_expected (parser, "");
      return;
    }
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *problem = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *shown = g_utf8_make_valid (problem, -1);
  g_autoptr (GString) message = g_string_new ("\n");
  g_string_append (message, shown);
  g_string_append (message, ":\n");
  append_excerpt (message, &parser->lexer, token);
  xp_error_set (parser->error, XP_ERROR_SCHEMA_SYNTAX, NULL, "%s", message->str);
}
