/* SPDX-License-Identifier: MIT
 *
 * lexer.h: the tokens of a schema (reference 5.1). A lexer is a plain structure: copying it is how
 * the parser looks ahead.
 */
#pragma once

#include <crosspoint/macros.h>
#include <string.h>

/* A token of one character has that character as its kind. */
typedef enum
{
  XP_TOKEN_EOF = 256,
  XP_TOKEN_IDENT,
  XP_TOKEN_KEYWORD, /* a word that names nothing: True, None, if … */
  XP_TOKEN_NUMBER,
  XP_TOKEN_STRING,
  XP_TOKEN_ARROW,
  XP_TOKEN_NEWLINE, /* only outside of brackets */
  XP_TOKEN_DOTS,
  XP_TOKEN_INVALID /* a character that begins no token */
} XpTokenKind;

typedef struct
{
  uint32_t kind;
  uint32_t start;
  uint32_t length;
} XpToken;

typedef struct
{
  const char *text;
  uint32_t length;
  uint32_t position;
  uint32_t depth; /* of open brackets */
  uint32_t end;   /* of the token before the current one */
  XpToken token;  /* the current one */
} XpLexer;

/* Begins with the first token of @text, which ends with a NUL after @length bytes. */
void xp_lexer_init (XpLexer *lexer, const char *text, uint32_t length);

/* Goes on to the next token. */
void xp_lexer_next (XpLexer *lexer);

static inline const char *
xp_lexer_text (const XpLexer *lexer)
{
  return lexer->text + lexer->token.start;
}

static inline gboolean
xp_lexer_is (const XpLexer *lexer, const char *word)
{
  size_t n = strlen (word);
  return lexer->token.length == n && memcmp (xp_lexer_text (lexer), word, n) == 0;
}
