/* SPDX-License-Identifier: MIT
 *
 * expression.c: parsing expressions.
 */
#include "syntax.h"

#include <math.h>
#include <string.h>

enum
{
  MOST_DEPTH = 64
};

void
expression_free (Expression *expression)
{
  if (expression == NULL)
    return;
  g_free (expression->name);
  xp_value_clear (&expression->value);
  g_clear_pointer (&expression->elements, g_ptr_array_unref);
  g_clear_pointer (&expression->names, g_ptr_array_unref);
  g_clear_pointer (&expression->named, g_ptr_array_unref);
  g_free (expression);
}

static void
free_element (void *expression)
{
  expression_free (expression);
}

static Expression *
expression_new (ExpressionKind kind)
{
  Expression *expression = g_new0 (Expression, 1);
  expression->kind = kind;
  if (kind == EXPRESSION_LIST || kind == EXPRESSION_CALL)
    {
      expression->elements = g_ptr_array_new_with_free_func (free_element);
      expression->names = g_ptr_array_new_with_free_func (g_free);
      expression->named = g_ptr_array_new_with_free_func (free_element);
    }
  return expression;
}

static gboolean
peek_symbol (const char *source, char symbol)
{
  Token token;
  if (!token_read (&source, &token, NULL))
    return FALSE;
  xp_value_clear (&token.value);
  return token.kind == TOKEN_SYMBOL && token.symbol == symbol;
}

gboolean
take_symbol (const char **source, char symbol)
{
  Token token;
  if (!peek_symbol (*source, symbol))
    return FALSE;
  token_read (source, &token, NULL);
  return TRUE;
}

static gboolean
expect_symbol (const char **source, char symbol, GError **error)
{
  if (take_symbol (source, symbol))
    return TRUE;
  g_autofree char *found = text_excerpt (*source);
  return set_syntax_error (error, "expected '%c', found %s", symbol, found);
}

static Expression *parse (const char **source, unsigned depth, GError **error);

/* `name =` before an argument. */
static char *
take_argument_name (const char **source)
{
  const char *after = *source;
  Token token;
  if (!token_read (&after, &token, NULL))
    return NULL;
  xp_value_clear (&token.value);
  if (token.kind != TOKEN_WORD || !take_symbol (&after, '='))
    return NULL;
  *source = after;
  return g_strndup (token.text, token.length);
}

static gboolean
parse_elements (const char **source, Expression *expression, char end, unsigned depth,
                GError **error)
{
  while (!take_symbol (source, end))
    {
      if (expression->elements->len + expression->named->len > 0
          && !expect_symbol (source, ',', error))
        return FALSE;
      if (take_symbol (source, end)) /* a comma may stand at the end */
        return TRUE;
      char *name = expression->kind == EXPRESSION_CALL ? take_argument_name (source) : NULL;
      Expression *element = parse (source, depth + 1, error);
      if (element == NULL || (name == NULL && expression->names->len > 0))
        {
          if (element != NULL)
            set_syntax_error (error, "an argument without a name stands after one with a name");
          expression_free (element);
          g_free (name);
          return FALSE;
        }
      g_ptr_array_add (name != NULL ? expression->named : expression->elements, element);
      if (name != NULL)
        g_ptr_array_add (expression->names, name);
    }
  return TRUE;
}

/* Words that mean a value of their own. */
static gboolean
word_value (const char *word, XpValue *value)
{
  XpDType dtype;
  XpLayout layout;
  XpMemoryFormat format;
  if (strcmp (word, "None") == 0)
    *value = XP_NONE;
  else if (strcmp (word, "True") == 0 || strcmp (word, "False") == 0)
    *value = xp_value_bool (word[0] == 'T');
  else if (strcmp (word, "inf") == 0 || strcmp (word, "nan") == 0)
    *value = xp_value_float (word[0] == 'i' ? (double) INFINITY : (double) NAN);
  else if (xp_dtype_parse (word, &dtype))
    *value = xp_value_dtype (dtype);
  else if (xp_layout_parse (word, &layout))
    *value = xp_value_layout (layout);
  else if (xp_memory_format_parse (word, &format))
    *value = xp_value_memory_format (format);
  else
    return FALSE;
  return TRUE;
}

gboolean
is_word_value (const char *word)
{
  XpValue value;
  return word_value (word, &value);
}

static Expression *
parse_word (const char **source, const Token *token, unsigned depth, GError **error)
{
  g_autofree char *word = g_strndup (token->text, token->length);
  if (take_symbol (source, '('))
    {
      g_autoptr (Expression) call = expression_new (EXPRESSION_CALL);
      call->name = g_steal_pointer (&word);
      return parse_elements (source, call, ')', depth, error) ? g_steal_pointer (&call) : NULL;
    }
  XpValue value;
  if (word_value (word, &value))
    {
      Expression *expression = expression_new (EXPRESSION_VALUE);
      expression->value = value;
      return expression;
    }
  if (strstr (word, "::") != NULL || strchr (word, '.') != NULL)
    {
      set_syntax_error (error, "expected '(' after the operator %s", word);
      return NULL;
    }
  Expression *expression = expression_new (EXPRESSION_NAME);
  expression->name = g_steal_pointer (&word);
  return expression;
}

/* A number has its sign already; this is for inf, and for a sign that stands by itself. */
static Expression *
parse_negative (const char **source, unsigned depth, GError **error)
{
  Expression *expression = parse (source, depth + 1, error);
  if (expression == NULL)
    return NULL;
  XpValue *value = &expression->value;
  if (expression->kind == EXPRESSION_VALUE && value->tag == XP_TAG_INT)
    value->as.integer = -value->as.integer;
  else if (expression->kind == EXPRESSION_VALUE && value->tag == XP_TAG_FLOAT)
    value->as.number = -value->as.number;
  else if (expression->kind == EXPRESSION_VALUE && value->tag == XP_TAG_COMPLEX)
    {
      double real, imaginary;
      xp_scalar_to_complex (*value, &real, &imaginary);
      xp_value_clear (value);
      *value = xp_value_complex (-real, -imaginary);
    }
  else
    {
      expression_free (expression);
      set_syntax_error (error, "'-' stands only before a number");
      return NULL;
    }
  return expression;
}

static Expression *
parse (const char **source, unsigned depth, GError **error)
{
  Token token;
  if (depth > MOST_DEPTH)
    {
      set_syntax_error (error, "more than %d brackets or signs one inside the other", MOST_DEPTH);
      return NULL;
    }
  if (!token_read (source, &token, error))
    return NULL;
  switch (token.kind)
    {
    case TOKEN_WORD:
      return parse_word (source, &token, depth, error);
    case TOKEN_NUMBER:
    case TOKEN_STRING:
      {
        Expression *expression = expression_new (EXPRESSION_VALUE);
        expression->value = token.value;
        return expression;
      }
    case TOKEN_SYMBOL:
      if (token.symbol == '-')
        return parse_negative (source, depth, error);
      if (token.symbol == '[')
        {
          g_autoptr (Expression) list = expression_new (EXPRESSION_LIST);
          return parse_elements (source, list, ']', depth, error) ? g_steal_pointer (&list) : NULL;
        }
      break;
    default:
      break;
    }
  g_autofree char *found = text_excerpt (token.text);
  set_syntax_error (error, "expected a value, found %s", found);
  return NULL;
}

Expression *
expression_parse (const char **source, GError **error)
{
  return parse (source, 0, error);
}

gboolean
expect_end (const char *source, GError **error)
{
  Token token;
  if (!token_read (&source, &token, error))
    return FALSE;
  xp_value_clear (&token.value);
  if (token.kind == TOKEN_END)
    return TRUE;
  g_autofree char *found = text_excerpt (token.text);
  return set_syntax_error (error, "expected the end, found %s", found);
}

Expression *
expression_parse_whole (const char *source, GError **error)
{
  g_autoptr (Expression) expression = expression_parse (&source, error);
  return expression != NULL && expect_end (source, error) ? g_steal_pointer (&expression) : NULL;
}
