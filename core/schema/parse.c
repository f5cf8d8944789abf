/* SPDX-License-Identifier: MIT
 *
 * parse.c: the declaration: name, arguments, returns (reference 5.2). Beyond PyTorch, two arguments
 * of one name are an error, and so is everything that would make PyTorch abort.
 */
#include "schema/parser.h"

enum
{
  MAXIMUM_LENGTH = 65536
};

/* Arguments or returns as they are read. Those beyond the limit are only counted. */
typedef struct
{
  XpArgument items[XP_SCHEMA_LIMIT + 1];
  unsigned n;
  gboolean is_variable; /* ends with `...` */
  gboolean is_keyword_only;
  gboolean has_default;
} ArgumentList;

/* Leaves the items as they are: clearing all of them would take as long as the parsing. */
static void
begin_list (ArgumentList *list)
{
  list->n = 0;
  list->is_variable = list->is_keyword_only = list->has_default = FALSE;
}

static void
clear_list (ArgumentList *list)
{
  for (unsigned i = 0; i < MIN (list->n, XP_SCHEMA_LIMIT); i++)
    xp_value_clear (&list->items[i].default_value);
}

/* type [ "[" NUMBER "]" [alias] [ "?" ] ] */
static gboolean
parse_argument_type (XpParser *parser, XpArgument *argument)
{
  XpReadType read;
  if (!xp_parse_type (parser, &read)
      || (xp_parser_at (parser, '[') && !xp_parse_fixed_size (parser, &read)))
    return FALSE;
  *argument = (XpArgument){ .name = "", .type = read.type, .alias = read.alias };
  return TRUE;
}

/* A list may stand without a default behind arguments that have one: schemas from before lists had
 * defaults do so. */
static gboolean
check_argument (XpParser *parser, XpToken token, const ArgumentList *list,
                const XpArgument *argument)
{
  if (!list->has_default || argument->has_default || argument->is_keyword_only
      || argument->type->kind == XP_TYPE_LIST)
    return TRUE;
  xp_parser_fail (parser, token, "argument '%s' needs a default, as one before it has one",
                  argument->name);
  return FALSE;
}

/* type … IDENT [ "=" default ] */
static gboolean
parse_argument (XpParser *parser, ArgumentList *list)
{
  XpArgument *argument = &list->items[MIN (list->n, XP_SCHEMA_LIMIT)];
  if (!parse_argument_type (parser, argument))
    return FALSE;
  XpToken token = parser->lexer.token;
  argument->name = xp_parser_expect_name (parser);
  argument->is_keyword_only = list->is_keyword_only;
  if (argument->name == NULL)
    return FALSE;
  if (xp_parser_take (parser, '='))
    {
      argument->has_default = TRUE;
      if (!xp_parse_default (parser, argument->type, &argument->default_value))
        return FALSE;
    }
  gboolean good = check_argument (parser, token, list, argument);
  if (!good || list->n >= XP_SCHEMA_LIMIT)
    xp_value_clear (&argument->default_value);
  list->has_default |= argument->has_default;
  list->n += good;
  return good;
}

/* type … [ IDENT ] */
static gboolean
parse_return (XpParser *parser, ArgumentList *list)
{
  XpArgument *argument = &list->items[MIN (list->n, XP_SCHEMA_LIMIT)];
  if (!parse_argument_type (parser, argument))
    return FALSE;
  if (xp_parser_at (parser, XP_TOKEN_IDENT))
    argument->name = xp_parser_expect_name (parser);
  list->n++;
  return TRUE;
}

/* arg = "*" | "..." | type …; ret = "..." | type … */
static gboolean
parse_element (XpParser *parser, ArgumentList *list, gboolean is_return)
{
  if (list->is_variable)
    {
      xp_parser_fail (parser, parser->lexer.token, "... must be the last element of the %s list",
                      is_return ? "return" : "argument");
      return FALSE;
    }
  if (xp_parser_take (parser, XP_TOKEN_DOTS))
    list->is_variable = TRUE;
  else if (is_return)
    return parse_return (parser, list);
  else if (xp_parser_take (parser, '*'))
    list->is_keyword_only = TRUE;
  else
    return parse_argument (parser, list);
  return TRUE;
}

/* "(" [ element { "," element } ] ")" */
static gboolean
parse_list (XpParser *parser, ArgumentList *list, gboolean is_return)
{
  if (!xp_parser_expect (parser, '(', "("))
    return FALSE;
  if (!xp_parser_at (parser, ')'))
    do
      if (!parse_element (parser, list, is_return))
        return FALSE;
    while (xp_parser_take (parser, ','));
  return xp_parser_expect (parser, ')', ")");
}

static gboolean
check_count (XpParser *parser, const ArgumentList *list, const char *what)
{
  if (list->n <= XP_SCHEMA_LIMIT)
    return TRUE;
  xp_error_set (parser->error, XP_ERROR_LIMIT, NULL,
                "The function schema has %u %s but only %d are supported", list->n, what,
                XP_SCHEMA_LIMIT);
  return FALSE;
}

static gboolean
parse_signature (XpParser *parser, ArgumentList *arguments, ArgumentList *returns)
{
  if (!parse_list (parser, arguments, FALSE))
    return FALSE;
  if (arguments->is_variable && arguments->has_default)
    {
      xp_parser_fail (parser, parser->lexer.token,
                      "schemas with vararg (...) can't have default value args");
      return FALSE;
    }
  if (!xp_parser_expect (parser, XP_TOKEN_ARROW, "arrow"))
    return FALSE;
  gboolean is_list = xp_parser_at (parser, '(');
  return (is_list ? parse_list (parser, returns, TRUE) : parse_element (parser, returns, TRUE))
         && check_count (parser, arguments, "arguments")
         && check_count (parser, returns, "returns");
}

/* IDENT [ ":" ":" IDENT ] */
static gboolean
parse_name (XpParser *parser, XpSchema *schema)
{
  schema->name = xp_parser_expect_name (parser);
  if (schema->name == NULL)
    return FALSE;
  if (!xp_parser_take (parser, ':'))
    return TRUE;
  if (!xp_parser_expect (parser, ':', ":"))
    return FALSE;
  const XpLexer *lexer = &parser->lexer;
  size_t n_before = strlen (schema->name), n_behind = lexer->token.length;
  if (!xp_parser_at (parser, XP_TOKEN_IDENT))
    {
      xp_parser_expected (parser, "ident");
      return FALSE;
    }
  char *name = xp_arena_take (parser->arena, n_before + 2 + n_behind + 1);
  memcpy (name, schema->name, n_before);
  memcpy (name + n_before, "::", 2);
  memcpy (name + n_before + 2, xp_lexer_text (lexer), n_behind);
  name[n_before + 2 + n_behind] = '\0';
  schema->name = name;
  xp_lexer_next (&parser->lexer);
  return TRUE;
}

/* [ "." IDENT ] */
static gboolean
parse_overload (XpParser *parser, XpSchema *schema)
{
  schema->overload = "";
  if (!xp_parser_take (parser, '.'))
    return TRUE;
  schema->overload = xp_parser_expect_name (parser);
  if (schema->overload == NULL)
    return FALSE;
  if (strcmp (schema->overload, "default") != 0 && !g_str_has_prefix (schema->overload, "__"))
    return TRUE;
  xp_error_set (parser->error, XP_ERROR_SCHEMA_SYNTAX,
                &(XpErrorDetails){ .op = (char *) schema->name },
                "%s is not a legal overload name for aten operators", schema->overload);
  return FALSE;
}

static gboolean
parse_end (XpParser *parser)
{
  xp_parser_take (parser, XP_TOKEN_NEWLINE);
  return xp_parser_expect (parser, XP_TOKEN_EOF, "eof");
}

/* PyTorch allows variables in aten and prim; its profiler declares two operators with them in
 * another way than by parsing. */
static gboolean
has_variables (const char *name)
{
  return g_str_has_prefix (name, "aten::") || g_str_has_prefix (name, "prim::")
         || g_str_has_prefix (name, "profiler::");
}

static gboolean
parse_operator_name (XpParser *parser, XpSchema *schema)
{
  if (!parse_name (parser, schema) || !parse_overload (parser, schema))
    return FALSE;
  parser->has_variables = has_variables (schema->name);
  if (xp_parser_at (parser, '('))
    return TRUE;
  if (parse_end (parser))
    xp_error_set (parser->error, XP_ERROR_SCHEMA_SYNTAX, NULL,
                  "Tried to parse a function schema but only the operator name was given");
  return FALSE;
}

static void
fill_schema (XpSchemaBlock *block, const ArgumentList *arguments, const ArgumentList *returns)
{
  XpSchema *schema = &block->schema;
  schema->n_arguments = arguments->n;
  schema->n_returns = returns->n;
  schema->arguments = xp_arena_copy (&block->arena, arguments->items,
                                     arguments->n * sizeof (XpArgument));
  schema->returns = xp_arena_copy (&block->arena, returns->items, returns->n * sizeof (XpArgument));
  schema->is_vararg = arguments->is_variable;
  schema->is_varret = returns->is_variable;
}

/* What is printed parses again, so it may not be longer than what is parsed. It can grow: a list of
 * a fixed size prints every element, and a byte of a text four. */
static gboolean
check_printed (const XpSchema *schema, size_t length, GError **error)
{
  enum
  {
    MOST_GROWTH = 8,
    MOST_ELEMENT = 64
  };
  size_t bound = length * MOST_GROWTH;
  for (unsigned i = 0; i < schema->n_arguments; i++)
    if (schema->arguments[i].default_value.tag == XP_TAG_LIST)
      bound += xp_list_length (schema->arguments[i].default_value.as.list) * MOST_ELEMENT;
  if (bound <= MAXIMUM_LENGTH)
    return TRUE;
  g_autofree char *printed = xp_schema_to_string (schema);
  size_t n = strlen (printed);
  if (n > MAXIMUM_LENGTH)
    xp_error_set (error, XP_ERROR_LIMIT, NULL,
                  "The schema prints as %zu bytes but only %d are supported", n, MAXIMUM_LENGTH);
  return n <= MAXIMUM_LENGTH;
}

XpSchema *
xp_schema_parse (const char *text, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);
  size_t length = strlen (text);
  if (length > MAXIMUM_LENGTH)
    {
      xp_error_set (error, XP_ERROR_LIMIT, NULL,
                    "The text of the schema has %zu bytes but only %d are supported", length,
                    MAXIMUM_LENGTH);
      return NULL;
    }
  XpSchemaBlock *block = xp_schema_block_new (length);
  XpParser parser = { .arena = &block->arena, .error = error };
  ArgumentList arguments, returns;
  begin_list (&arguments);
  begin_list (&returns);
  xp_lexer_init (&parser.lexer, text, (uint32_t) length);
  if (parse_operator_name (&parser, &block->schema)
      && parse_signature (&parser, &arguments, &returns) && parse_end (&parser))
    {
      fill_schema (block, &arguments, &returns);
      if (check_printed (&block->schema, length, error))
        return &block->schema;
    }
  else
    clear_list (&arguments);
  xp_schema_unref (&block->schema);
  return NULL;
}
