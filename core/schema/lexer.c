/* SPDX-License-Identifier: MIT
 *
 * lexer.c: cuts the text of a schema into tokens. It never fails: what begins no token is a token
 * of its own kind, which no rule of the grammar takes.
 */
#include "schema/lexer.h"

enum
{
  OTHER,
  BLANK,
  WORD,  /* begins a word */
  DIGIT, /* goes on with a word, begins a number */
  SINGLE /* a token of one character */
};

static const uint8_t classes[256] = {
  [' '] = BLANK,         ['\t'] = BLANK,       ['\r'] = BLANK,       ['\v'] = BLANK, ['\f'] = BLANK,
  ['_'] = WORD,          ['+'] = SINGLE,       ['-'] = SINGLE,       ['*'] = SINGLE, ['/'] = SINGLE,
  ['%'] = SINGLE,        ['@'] = SINGLE,       ['('] = SINGLE,       [')'] = SINGLE, ['['] = SINGLE,
  [']'] = SINGLE,        [':'] = SINGLE,       [','] = SINGLE,       ['='] = SINGLE, ['{'] = SINGLE,
  ['}'] = SINGLE,        ['>'] = SINGLE,       ['<'] = SINGLE,       ['.'] = SINGLE, ['?'] = SINGLE,
  ['!'] = SINGLE,        ['^'] = SINGLE,       ['|'] = SINGLE,       ['&'] = SINGLE, ['~'] = SINGLE,

  ['0' ... '9'] = DIGIT, ['A' ... 'Z'] = WORD, ['a' ... 'z'] = WORD,
};

/* TorchScript's keywords, by their length. */
enum
{
  LONGEST_KEYWORD = 8
};

static const char *const keywords[LONGEST_KEYWORD + 1][7] = {
  [2] = { "if", "in", "is", "or", "as" },
  [3] = { "for", "not", "and", "def", "del" },
  [4] = { "None", "True", "else", "elif", "pass", "with" },
  [5] = { "False", "while", "raise", "break", "class" },
  [6] = { "return", "global", "assert", "import" },
  [8] = { "NoneType", "continue", "Ellipsis" },
};

static uint8_t
class_at (const XpLexer *lexer, uint32_t position)
{
  return classes[(unsigned char) lexer->text[position]];
}

static gboolean
is_keyword (const char *word, uint32_t length)
{
  if (length > LONGEST_KEYWORD)
    return FALSE;
  for (const char *const *keyword = keywords[length]; *keyword != NULL; keyword++)
    if ((*keyword)[0] == word[0] && memcmp (*keyword, word, length) == 0)
      return TRUE;
  return FALSE;
}

static void
set_token (XpLexer *lexer, uint32_t kind, uint32_t length)
{
  lexer->token = (XpToken){ kind, lexer->position, length };
  lexer->position += length;
}

static void
read_word (XpLexer *lexer)
{
  uint32_t end = lexer->position + 1;
  while (class_at (lexer, end) == WORD || class_at (lexer, end) == DIGIT)
    end++;
  uint32_t length = end - lexer->position;
  gboolean keyword = is_keyword (lexer->text + lexer->position, length);
  set_token (lexer, keyword ? XP_TOKEN_KEYWORD : XP_TOKEN_IDENT, length);
}

/* What strtod() takes, and a `j` behind it. */
static void
read_number (XpLexer *lexer)
{
  const char *begin = lexer->text + lexer->position;
  const char *end = begin;
  while (g_ascii_isdigit (*end))
    end++;
  if (end == begin || strspn (end, ".eExX") > 0)
    {
      char *stop;
      g_ascii_strtod (begin, &stop);
      end = stop;
    }
  if (*end == 'j')
    end++;
  set_token (lexer, XP_TOKEN_NUMBER, (uint32_t) (end - begin));
}

/* The end of the literal that begins at @begin, or NULL where it has none. */
static const char *
end_of_string (const char *begin)
{
  char quote = *begin;
  gboolean triple = begin[1] == quote && begin[2] == quote;
  const char *c = begin + (triple ? 3 : 1);
  for (; *c != '\0'; c++)
    {
      if (*c == '\\' && c[1] != '\0')
        c++;
      else if (*c == '\n' && !triple)
        return NULL;
      else if (*c == quote && !triple)
        return c + 1;
      else if (*c == quote && c[1] == quote && c[2] == quote)
        return c + 3;
    }
  return NULL;
}

static void
read_string (XpLexer *lexer)
{
  const char *begin = lexer->text + lexer->position;
  const char *end = end_of_string (begin);
  if (end == NULL)
    set_token (lexer, XP_TOKEN_INVALID, 1);
  else
    set_token (lexer, XP_TOKEN_STRING, (uint32_t) (end - begin));
}

/* Goes over blanks and comments; whether a line has ended outside of brackets. */
static gboolean
skip_blanks (XpLexer *lexer)
{
  gboolean line_ended = FALSE;
  for (;;)
    {
      char c = lexer->text[lexer->position];
      if (classes[(unsigned char) c] == BLANK)
        lexer->position++;
      else if (c == '\\' && lexer->text[lexer->position + 1] == '\n')
        lexer->position += 2;
      else if (c == '#')
        lexer->position += (uint32_t) strcspn (lexer->text + lexer->position, "\n");
      else if (c == '\n')
        {
          line_ended = line_ended || lexer->depth == 0;
          lexer->position++;
        }
      else
        return line_ended;
    }
}

static void
read_single (XpLexer *lexer)
{
  const char *c = lexer->text + lexer->position;
  if (*c == '-' && c[1] == '>')
    set_token (lexer, XP_TOKEN_ARROW, 2);
  else if (*c == '.' && c[1] == '.' && c[2] == '.')
    set_token (lexer, XP_TOKEN_DOTS, 3);
  else if (*c == '.' && g_ascii_isdigit (c[1]))
    read_number (lexer);
  else
    {
      if (*c == '(' || *c == '[' || *c == '{')
        lexer->depth++;
      else if ((*c == ')' || *c == ']' || *c == '}') && lexer->depth > 0)
        lexer->depth--;
      set_token (lexer, (unsigned char) *c, 1);
    }
}

/* All bytes of one character of UTF-8, or one byte that is none. */
static void
read_invalid (XpLexer *lexer)
{
  const char *c = lexer->text + lexer->position;
  gunichar character = g_utf8_get_char_validated (c, -1);
  gboolean valid = character != (gunichar) -1 && character != (gunichar) -2;
  set_token (lexer, XP_TOKEN_INVALID, valid ? (uint32_t) (g_utf8_next_char (c) - c) : 1);
}

static void
read_token (XpLexer *lexer)
{
  char c = lexer->text[lexer->position];
  switch (classes[(unsigned char) c])
    {
    case WORD:
      read_word (lexer);
      break;
    case DIGIT:
      read_number (lexer);
      break;
    case SINGLE:
      read_single (lexer);
      break;
    default:
      if (lexer->position == lexer->length)
        set_token (lexer, XP_TOKEN_EOF, 0);
      else if (c == '\'' || c == '"')
        read_string (lexer);
      else
        read_invalid (lexer);
    }
}

void
xp_lexer_init (XpLexer *lexer, const char *text, uint32_t length)
{
  *lexer = (XpLexer){ .text = text, .length = length };
  skip_blanks (lexer);
  read_token (lexer);
}

void
xp_lexer_next (XpLexer *lexer)
{
  lexer->end = lexer->position;
  if (skip_blanks (lexer))
    lexer->token = (XpToken){ XP_TOKEN_NEWLINE, lexer->end, 0 };
  else
    read_token (lexer);
}
