/* SPDX-License-Identifier: MIT
 *
 * parser.h: what the parts of the parser share: types, defaults, and the declaration around them.
 */
#pragma once

#include "schema/lexer.h"
#include "schema/schema.h"

typedef struct
{
  XpLexer lexer;
  XpArena *arena;
  GError **error;
  gboolean has_variables; /* whether a lower-case word may stand for any type */
  unsigned n_anonymous;   /* alias sets without a name so far */
  unsigned nesting;       /* of types that are being read */
} XpParser;

/* A type as it is read: with its annotation, and how deep it is. */
typedef struct
{
  const XpType *type;
  const XpAlias *alias;
  unsigned height;
} XpReadType;

/* Each sets the error of @parser and returns FALSE where the text is not what it reads. */

/* type = base { "[" "]" [alias] | "?" } */
gboolean xp_parse_type (XpParser *parser, XpReadType *read);

/* "[" NUMBER "]" [alias] [ "?" ], which may follow the type of an argument or return. */
gboolean xp_parse_fixed_size (XpParser *parser, XpReadType *read);

/* What stands after `=`; @value is the caller's. */
gboolean xp_parse_default (XpParser *parser, const XpType *type, XpValue *value);

/* The current token, a string literal. */
gboolean xp_parse_string (XpParser *parser, XpValue *value);

/* A number with an optional sign, read as a default of @kind is, or as its text says for a kind
 * that takes several. */
gboolean xp_parse_number (XpParser *parser, XpTypeKind kind, XpValue *value);

/* `expected @what but found …`: the current token is none that the grammar allows. */
void xp_parser_expected (XpParser *parser, const char *what);

/* @format and what follows it, with @token underlined. */
void xp_parser_fail (XpParser *parser, XpToken token, const char *format, ...) G_GNUC_PRINTF (3, 4);

static inline gboolean
xp_parser_at (const XpParser *parser, uint32_t kind)
{
  return parser->lexer.token.kind == kind;
}

/* Whether the current token is the word @word, which may be a keyword. */
static inline gboolean
xp_parser_at_word (const XpParser *parser, const char *word)
{
  return (xp_parser_at (parser, XP_TOKEN_IDENT) || xp_parser_at (parser, XP_TOKEN_KEYWORD))
         && xp_lexer_is (&parser->lexer, word);
}

static inline gboolean
xp_parser_take (XpParser *parser, uint32_t kind)
{
  if (!xp_parser_at (parser, kind))
    return FALSE;
  xp_lexer_next (&parser->lexer);
  return TRUE;
}

/* Takes a token of @kind, which messages call @what. */
static inline gboolean
xp_parser_expect (XpParser *parser, uint32_t kind, const char *what)
{
  if (xp_parser_take (parser, kind))
    return TRUE;
  xp_parser_expected (parser, what);
  return FALSE;
}

/* Takes a name; its text lies in the arena. NULL where the current token is none. */
static inline const char *
xp_parser_expect_name (XpParser *parser)
{
  const XpLexer *lexer = &parser->lexer;
  if (!xp_parser_at (parser, XP_TOKEN_IDENT))
    {
      xp_parser_expected (parser, "ident");
      return NULL;
    }
  const char *name = xp_arena_text (parser->arena, xp_lexer_text (lexer), lexer->token.length);
  xp_lexer_next (&parser->lexer);
  return name;
}
