/* SPDX-License-Identifier: MIT
 *
 * syntax.h: the little language as a tree.
 *
 *   statement  = NAME { "," NAME } "=" expression
 *              | word arguments            a command such as `load cpu`
 *              | expression
 *   expression = literal | NAME | "[" [ expression { "," expression } ] "]"
 *              | OPERATOR "(" arguments ")"        aten::add.Tensor (x, x, alpha=2)
 *              | OPERATOR "@" kernel "(" arguments ")"   aten::mm@openblas (x, y)
 *              | function "(" arguments ")"        npy ("x.npy"), tensor ([1, 2])
 *   kernel     = PLUGIN | KEY | PLUGIN "/" KEY       one registration, called past the table
 */
#pragma once

#include <crosspoint.h>

typedef enum
{
  TOKEN_END,
  TOKEN_WORD, /* x, aten::add.Tensor */
  TOKEN_NUMBER,
  TOKEN_STRING,
  TOKEN_SYMBOL /* one character */
} TokenKind;

typedef struct
{
  TokenKind kind;
  char symbol;
  const char *text; /* where it begins in the source */
  size_t length;
  XpValue value; /* of a number or string */
} Token;

/* Reads one token from *@source and moves behind it. */
gboolean token_read (const char **source, Token *token, GError **error);

typedef enum
{
  EXPRESSION_VALUE,
  EXPRESSION_NAME,
  EXPRESSION_LIST,
  EXPRESSION_CALL /* an operator or a function */
} ExpressionKind;

typedef struct Expression Expression;
struct Expression
{
  ExpressionKind kind;
  char *name;
  XpValue value;
  GPtrArray *elements; /* Expression: of a list, or arguments by position */
  GPtrArray *names;    /* of arguments by name */
  GPtrArray *named;    /* Expression: those arguments */
};

/* Whether @symbol comes next; takes it if so. */
gboolean take_symbol (const char **source, char symbol);

/* Whether nothing is left but blanks and a comment; else an error. */
gboolean expect_end (const char *source, GError **error);

/* Whether a word means a value of its own, as True and float32 do. */
gboolean is_word_value (const char *word);

/* Parses an expression from *@source and moves behind it. */
Expression *expression_parse (const char **source, GError **error);
void expression_free (Expression *expression);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Expression, expression_free)

/* A literal or word alone, as an argument on the command line: `2`, `[1, 2]`, `float32`. */
Expression *expression_parse_whole (const char *source, GError **error);

/* What stands at @text, for a message: the rest of its first line in quotes, cut when it is long,
 * or `the end`. (transfer full) */
char *text_excerpt (const char *text);

/* Sets an error without details; gives FALSE. */
gboolean set_language_error (GError **error, XpError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* For a statement that does not parse, and for one that does but whose values do not fit it. */
#define set_syntax_error(error, ...) set_language_error ((error), XP_ERROR_SYNTAX, __VA_ARGS__)
#define set_value_error(error, ...)                                                                \
  set_language_error ((error), XP_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
