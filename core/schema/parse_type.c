/* SPDX-License-Identifier: MIT
 *
 * parse_type.c: types and their alias annotations (reference 5.2 and 5.3).
 */
#include "schema/parser.h"
#include "schema/type.h"

enum
{
  MAXIMUM_NESTING = 32,
  MAXIMUM_FIXED_SIZE = 1024 /* a default is repeated that often */
};

/* Types that are written as a word and others in parentheses. */
static const struct
{
  const char *name;
  XpTypeKind kind;
  unsigned minimum;
  unsigned maximum;
  gboolean takes_alias;
} compounds[] = {
  { "Future", XP_TYPE_FUTURE, 1, 1, FALSE },
  { "Await", XP_TYPE_AWAIT, 1, 1, FALSE },
  { "RRef", XP_TYPE_RREF, 1, 1, FALSE },
  { "Dict", XP_TYPE_DICT, 2, 2, TRUE },
  { "Union", XP_TYPE_UNION, 1, XP_SCHEMA_LIMIT, TRUE },
};

/* Words that people bring along from C++. */
static const struct
{
  const char *word;
  const char *advice;
} foreign_words[] = {
  { "double", "use float instead of double: a schema's float is the double of C" },
  { "int64_t", "use int instead of int64_t: a schema's int is the int64_t of C" },
};

/* An alias set while it is read; each name stands in it once. */
typedef struct
{
  const char *names[XP_SCHEMA_LIMIT];
  unsigned n;
  gboolean has_wildcard;
} AliasSet;

static gboolean
add_to_set (XpParser *parser, AliasSet *set, const char *name)
{
  for (unsigned i = 0; i < set->n; i++)
    if (strcmp (set->names[i], name) == 0)
      return TRUE;
  if (set->n == XP_LENGTH (set->names))
    {
      xp_parser_fail (parser, parser->lexer.token, "an alias set has at most %d names",
                      XP_SCHEMA_LIMIT);
      return FALSE;
    }
  set->names[set->n++] = name;
  return TRUE;
}

/* item = IDENT | "*"; no name may follow the wildcard, as it takes in them all. */
static gboolean
parse_set_item (XpParser *parser, AliasSet *set)
{
  if (xp_parser_take (parser, '*'))
    {
      set->has_wildcard = TRUE;
      return add_to_set (parser, set, "*");
    }
  if (set->has_wildcard && xp_parser_at (parser, XP_TOKEN_IDENT))
    {
      xp_parser_expected (parser, ")");
      return FALSE;
    }
  const char *name = xp_parser_expect_name (parser);
  return name != NULL && add_to_set (parser, set, name);
}

/* set = item { "|" item }, kept in the order of the source. NULL on error. */
static const char *const *
parse_set (XpParser *parser)
{
  AliasSet set = { .n = 0 };
  do
    if (!parse_set_item (parser, &set))
      return NULL;
  while (xp_parser_take (parser, '|'));
  const char **names = xp_arena_take (parser->arena, (set.n + 1) * sizeof *names);
  memcpy (names, set.names, set.n * sizeof *names);
  names[set.n] = NULL;
  return names;
}

/* `!` alone writes to a set of its own, which gets a name that no schema can write. */
static const XpAlias *
new_anonymous_alias (XpParser *parser)
{
  char name[16];
  int n = g_snprintf (name, sizeof name, "$%u", parser->n_anonymous++);
  const char **names = xp_arena_take (parser->arena, 2 * sizeof *names);
  names[0] = xp_arena_text (parser->arena, name, (size_t) n);
  names[1] = NULL;
  XpAlias *alias = xp_arena_take (parser->arena, sizeof *alias);
  *alias = (XpAlias){ TRUE, names, names, NULL };
  return alias;
}

/* [ alias ], alias = "!" | "(" set [ "!" ] [ "->" set ] ")"; @alias is NULL where there is none. */
static gboolean
parse_alias (XpParser *parser, const XpAlias **alias)
{
  *alias = NULL;
  if (xp_parser_take (parser, '!'))
    {
      *alias = new_anonymous_alias (parser);
      return TRUE;
    }
  if (!xp_parser_take (parser, '('))
    return TRUE;
  const char *const *before = parse_set (parser);
  if (before == NULL)
    return FALSE;
  gboolean is_write = xp_parser_take (parser, '!');
  const char *const *after = before;
  if (xp_parser_take (parser, XP_TOKEN_ARROW) && (after = parse_set (parser)) == NULL)
    return FALSE;
  XpAlias *made = xp_arena_take (parser->arena, sizeof *made);
  *made = (XpAlias){ is_write, before, after, NULL };
  *alias = made;
  return xp_parser_expect (parser, ')', ")");
}

static void
fail_too_deep (XpParser *parser)
{
  xp_parser_fail (parser, parser->lexer.token, "types are nested at most %d deep", MAXIMUM_NESTING);
}

/* Wraps the type that was read in an optional or a list. */
static gboolean
wrap (XpParser *parser, XpReadType *read, const XpType *type)
{
  read->height += type != read->type;
  read->type = type;
  if (read->height <= MAXIMUM_NESTING)
    return TRUE;
  fail_too_deep (parser);
  return FALSE;
}

static gboolean
make_optional (XpParser *parser, XpReadType *read)
{
  return wrap (parser, read, xp_type_new_optional (parser->arena, read->type));
}

/* A list's annotation holds that of its elements; where it has none itself, it says only whether
 * they are written. */
static gboolean
make_list (XpParser *parser, XpReadType *read, int64_t fixed_size)
{
  const XpAlias *contained = read->alias;
  if (!parse_alias (parser, &read->alias))
    return FALSE;
  if (contained != NULL)
    {
      XpAlias *alias = xp_arena_take (parser->arena, sizeof *alias);
      *alias = read->alias != NULL ? *read->alias : (XpAlias){ .is_write = contained->is_write };
      alias->contained = contained;
      read->alias = alias;
    }
  return wrap (parser, read, xp_type_new_list (parser->arena, read->type, fixed_size));
}

/* type { "," type }; the annotations of parts are read and dropped, as PyTorch does, so they do not
 * count among the sets without a name. */
static gboolean
parse_elements (XpParser *parser, const XpType **elements, unsigned *n, unsigned minimum,
                unsigned maximum, XpReadType *read)
{
  unsigned n_anonymous = parser->n_anonymous;
  do
    {
      XpReadType element;
      if (*n == maximum)
        {
          xp_parser_fail (parser, parser->lexer.token, "a type is made of at most %u others",
                          maximum);
          return FALSE;
        }
      if (!xp_parse_type (parser, &element))
        return FALSE;
      elements[(*n)++] = element.type;
      read->height = MAX (read->height, element.height + 1);
    }
  while (*n < minimum ? xp_parser_expect (parser, ',', ",")
                      : minimum < maximum && xp_parser_take (parser, ','));
  parser->n_anonymous = n_anonymous;
  return *n >= minimum;
}

static gboolean
parse_tuple (XpParser *parser, XpReadType *read)
{
  const XpType *elements[XP_SCHEMA_LIMIT];
  unsigned n = 0;
  xp_lexer_next (&parser->lexer);
  if (!xp_parser_at (parser, ')')
      && !parse_elements (parser, elements, &n, 0, XP_SCHEMA_LIMIT, read))
    return FALSE;
  read->type = xp_type_new (parser->arena, XP_TYPE_TUPLE, elements, n);
  return xp_parser_expect (parser, ')', ")");
}

/* The types of which a dictionary finds its entries. */
static gboolean
can_be_key (const XpType *type)
{
  static const XpTypeKind kinds[] = { XP_TYPE_INT,     XP_TYPE_SYM_INT,       XP_TYPE_BOOL,
                                      XP_TYPE_FLOAT,   XP_TYPE_COMPLEX,       XP_TYPE_STR,
                                      XP_TYPE_DIMNAME, XP_TYPE_TENSOR,        XP_TYPE_SCALAR_TYPE,
                                      XP_TYPE_LAYOUT,  XP_TYPE_MEMORY_FORMAT, XP_TYPE_DEVICE,
                                      XP_TYPE_ANY,     XP_TYPE_DEVICE_INDEX };
  for (unsigned i = 0; i < XP_LENGTH (kinds); i++)
    if (type->kind == kinds[i])
      return TRUE;
  return FALSE;
}

static gboolean
parse_compound (XpParser *parser, unsigned index, XpReadType *read)
{
  const XpType *elements[XP_SCHEMA_LIMIT];
  unsigned n = 0;
  gboolean is_union = compounds[index].kind == XP_TYPE_UNION;
  XpToken word = parser->lexer.token;
  xp_lexer_next (&parser->lexer);
  if (!xp_parser_expect (parser, '(', "(")
      || !parse_elements (parser, elements, &n, compounds[index].minimum, compounds[index].maximum,
                          read)
      || !xp_parser_expect (parser, ')', ")"))
    return FALSE;
  if (compounds[index].kind == XP_TYPE_DICT && !can_be_key (elements[0]))
    {
      g_autofree char *key = xp_type_to_string (elements[0]);
      xp_parser_fail (parser, word,
                      "the keys of a Dict are int, float, complex, bool, str, Tensor, Device or "
                      "Any, not %s",
                      key);
      return FALSE;
    }
  if (is_union)
    read->type = xp_type_new_union (parser->arena, elements, n);
  else
    read->type = xp_type_new (parser->arena, compounds[index].kind, elements, n);
  if (read->type == NULL
      || (is_union && read->type->kind != XP_TYPE_UNION && read->type->kind != XP_TYPE_OPTIONAL))
    {
      xp_parser_fail (parser, word, "a Union is made of 2 to %d different types", XP_SCHEMA_LIMIT);
      return FALSE;
    }
  return !compounds[index].takes_alias || parse_alias (parser, &read->alias);
}

static gboolean
append_name (XpParser *parser, GString *text)
{
  const XpLexer *lexer = &parser->lexer;
  if (!xp_parser_at (parser, XP_TOKEN_IDENT))
    {
      xp_parser_expected (parser, "ident");
      return FALSE;
    }
  g_string_append_len (text, xp_lexer_text (lexer), lexer->token.length);
  xp_lexer_next (&parser->lexer);
  return TRUE;
}

/* IDENT { "." IDENT } */
static gboolean
parse_dotted_name (XpParser *parser, GString *name)
{
  while (append_name (parser, name))
    {
      if (!xp_parser_take (parser, '.'))
        return TRUE;
      g_string_append_c (name, '.');
    }
  return FALSE;
}

static void
set_class (XpParser *parser, XpReadType *read, const GString *name)
{
  const char *copy = xp_arena_text (parser->arena, name->str, name->len);
  read->type = xp_type_new_named (parser->arena, XP_TYPE_CLASS, copy);
}

/* The classes of PyTorch, "__torch__" "." "torch" "." "classes" "." IDENT "." IDENT, take no
 * annotation. */
static gboolean
parse_torch_class (XpParser *parser, XpReadType *read)
{
  static const char *const words[] = { "__torch__", "torch", "classes", NULL, NULL };
  const XpLexer *lexer = &parser->lexer;
  g_autoptr (GString) name = g_string_new (NULL);
  for (unsigned i = 0; i < XP_LENGTH (words); i++)
    {
      if (i > 0 && !xp_parser_expect (parser, '.', "."))
        return FALSE;
      if (words[i] != NULL && xp_parser_at (parser, XP_TOKEN_IDENT)
          && !xp_lexer_is (lexer, words[i]))
        {
          xp_parser_fail (parser, lexer->token, "Expected classes namespace but got %.*s",
                          (int) lexer->token.length, xp_lexer_text (lexer));
          return FALSE;
        }
      g_string_append (name, i > 0 ? "." : "");
      if (!append_name (parser, name))
        return FALSE;
    }
  set_class (parser, read, name);
  return TRUE;
}

/* What to write instead of the current word; NULL where there is nothing to say. */
static const char *
advice_on (const XpLexer *lexer)
{
  for (unsigned i = 0; i < XP_LENGTH (foreign_words); i++)
    if (xp_lexer_is (lexer, foreign_words[i].word))
      return foreign_words[i].advice;
  return NULL;
}

static gboolean
is_followed_by (const XpParser *parser, uint32_t kind)
{
  XpLexer lexer = parser->lexer;
  xp_lexer_next (&lexer);
  return lexer.token.kind == kind;
}

/* A word that is no type: a class where it goes on with a dot, else perhaps a variable. */
static gboolean
parse_unknown_word (XpParser *parser, XpReadType *read)
{
  const XpLexer *lexer = &parser->lexer;
  const char *advice = advice_on (lexer);
  if (is_followed_by (parser, '.'))
    {
      g_autoptr (GString) name = g_string_new (NULL);
      if (!parse_dotted_name (parser, name))
        return FALSE;
      set_class (parser, read, name);
    }
  else if (parser->has_variables && advice == NULL && g_ascii_islower (*xp_lexer_text (lexer)))
    read->type = xp_type_new_named (parser->arena, XP_TYPE_VARIABLE,
                                    xp_parser_expect_name (parser));
  else
    {
      xp_parser_fail (parser, lexer->token, "%s",
                      advice != NULL ? advice : "unknown type specifier");
      return FALSE;
    }
  return parse_alias (parser, &read->alias);
}

static gboolean
parse_base (XpParser *parser, XpReadType *read)
{
  const XpLexer *lexer = &parser->lexer;
  *read = (XpReadType){ NULL, NULL, 1 };
  if (xp_parser_at (parser, '('))
    return parse_tuple (parser, read);
  if (!xp_parser_at (parser, XP_TOKEN_IDENT) && !xp_parser_at_word (parser, "None")
      && !xp_parser_at_word (parser, "NoneType"))
    {
      xp_parser_expected (parser, "ident");
      return FALSE;
    }
  read->type = xp_type_plain (xp_lexer_text (lexer), lexer->token.length);
  if (read->type != NULL)
    {
      xp_lexer_next (&parser->lexer);
      return parse_alias (parser, &read->alias);
    }
  for (unsigned i = 0; i < XP_LENGTH (compounds); i++)
    if (xp_lexer_is (lexer, compounds[i].name))
      return parse_compound (parser, i, read);
  if (xp_lexer_is (lexer, "__torch__"))
    return parse_torch_class (parser, read);
  return parse_unknown_word (parser, read);
}

/* Whether "[" "]" comes next; takes it then. A `[` with a number in it is not for here. */
static gboolean
take_brackets (XpParser *parser)
{
  XpLexer begin = parser->lexer;
  if (xp_parser_take (parser, '[') && xp_parser_take (parser, ']'))
    return TRUE;
  parser->lexer = begin;
  return FALSE;
}

static gboolean
parse_suffixes (XpParser *parser, XpReadType *read)
{
  for (;;)
    if (xp_parser_take (parser, '?'))
      {
        if (!make_optional (parser, read))
          return FALSE;
      }
    else if (xp_parser_at (parser, '[') && take_brackets (parser))
      {
        if (!make_list (parser, read, 0))
          return FALSE;
      }
    else
      return TRUE;
}

gboolean
xp_parse_type (XpParser *parser, XpReadType *read)
{
  if (parser->nesting == MAXIMUM_NESTING)
    {
      fail_too_deep (parser);
      return FALSE;
    }
  parser->nesting++;
  gboolean good = parse_base (parser, read);
  parser->nesting--;
  if (good && read->height > MAXIMUM_NESTING)
    {
      fail_too_deep (parser);
      return FALSE;
    }
  return good && parse_suffixes (parser, read);
}

/* Digits up to MAXIMUM_FIXED_SIZE. PyTorch cuts 1.5 short to 1; here it is an error. */
static gboolean
parse_size (XpParser *parser, int64_t *size)
{
  XpToken token = parser->lexer.token;
  const char *text = xp_lexer_text (&parser->lexer);
  if (!xp_parser_expect (parser, XP_TOKEN_NUMBER, "number"))
    return FALSE;
  *size = 0;
  for (uint32_t i = 0; i < token.length; i++)
    {
      *size = *size * 10 + (text[i] - '0');
      if (!g_ascii_isdigit (text[i]) || *size > MAXIMUM_FIXED_SIZE)
        {
          xp_parser_fail (parser, token, "the size of a list is a whole number up to %d",
                          MAXIMUM_FIXED_SIZE);
          return FALSE;
        }
    }
  return xp_parser_expect (parser, ']', "]");
}

gboolean
xp_parse_fixed_size (XpParser *parser, XpReadType *read)
{
  int64_t size;
  xp_lexer_next (&parser->lexer);
  if (!parse_size (parser, &size) || !make_list (parser, read, size))
    return FALSE;
  return !xp_parser_take (parser, '?') || make_optional (parser, read);
}
