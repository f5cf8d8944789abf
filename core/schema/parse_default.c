/* SPDX-License-Identifier: MIT
 *
 * parse_default.c: defaults (reference 5.4). Beyond PyTorch, a default must be a value of its
 * argument's type, and is stored as a call would pass it.
 */
#include "schema/accept.h"
#include "schema/parser.h"
#include "schema/print.h"
#include "schema/type.h"

/* What may stand after `=`. */
typedef enum
{
  NOTHING,
  ONLY_NONE,
  CONSTANT, /* a word, a number, a string, a truth value */
  NUMBERS,  /* a constant, and in a list too */
  DEVICE
} DefaultRule;

static const uint8_t rules[XP_N_PLAIN_TYPES] = {
  [XP_TYPE_TENSOR] = ONLY_NONE,      [XP_TYPE_GENERATOR] = ONLY_NONE,
  [XP_TYPE_QUANTIZER] = ONLY_NONE,   [XP_TYPE_INT] = NUMBERS,
  [XP_TYPE_SYM_INT] = NUMBERS,       [XP_TYPE_FLOAT] = NUMBERS,
  [XP_TYPE_BOOL] = NUMBERS,          [XP_TYPE_SYM_BOOL] = NUMBERS,
  [XP_TYPE_COMPLEX] = NUMBERS,       [XP_TYPE_SCALAR] = CONSTANT,
  [XP_TYPE_STR] = CONSTANT,          [XP_TYPE_DIMNAME] = CONSTANT,
  [XP_TYPE_SCALAR_TYPE] = NUMBERS,   [XP_TYPE_LAYOUT] = NUMBERS,
  [XP_TYPE_MEMORY_FORMAT] = NUMBERS, [XP_TYPE_DEVICE] = DEVICE,
  [XP_TYPE_DEVICE_INDEX] = NUMBERS,  [XP_TYPE_CONST_QUANTIZER] = NUMBERS,
};

/* PyTorch's words for numbers, where the type of the argument has no words of its own. */
static const struct
{
  const char *word;
  int64_t number;
} number_words[] = {
  { "Mean", 1 },  { "contiguous_format", 0 }, { "strided", 0 },
  { "float", 6 }, { "complex", 9 },           { "long", 4 },
};

enum
{
  LONGEST_WORD = 31
};

static DefaultRule
rule_of (const XpType *type)
{
  return type->kind < XP_N_PLAIN_TYPES ? (DefaultRule) rules[type->kind] : NOTHING;
}

/* How the text of a number is read for a default of @kind. */
static XpTypeKind
number_kind (const XpType *type)
{
  XpTypeKind kind = type->kind;
  if (kind == XP_TYPE_FLOAT || kind == XP_TYPE_COMPLEX)
    return kind;
  gboolean is_int = rule_of (type) == NUMBERS && kind != XP_TYPE_BOOL && kind != XP_TYPE_SYM_BOOL;
  return is_int ? XP_TYPE_INT : XP_TYPE_SCALAR;
}

static gboolean
read_number_word (const char *word, XpValue *value)
{
  for (unsigned i = 0; i < XP_LENGTH (number_words); i++)
    if (strcmp (number_words[i].word, word) == 0)
      {
        *value = xp_value_int (number_words[i].number);
        return TRUE;
      }
  return FALSE;
}

/* A word, as the type of the argument understands it: `float` is a dtype for a ScalarType, and its
 * number, 6, for an int. */
static gboolean
read_word (const XpType *type, const char *word, XpValue *value)
{
  if (type->kind == XP_TYPE_SCALAR_TYPE && strcmp (word, "complex") == 0)
    word = "complex64";
  if (type->kind != XP_TYPE_SCALAR_TYPE && type->kind != XP_TYPE_LAYOUT
      && type->kind != XP_TYPE_MEMORY_FORMAT)
    return read_number_word (word, value);
  XpValue text = xp_value_string (word);
  gboolean good = xp_type_fit (type, text) == XP_FIT_CONVERTED;
  *value = good ? xp_type_convert (type, text) : XP_NONE;
  xp_value_clear (&text);
  return good;
}

/* The error marks what stands behind the word, as PyTorch's does. */
static gboolean
parse_word (XpParser *parser, const XpType *type, XpValue *value)
{
  XpToken token = parser->lexer.token;
  char word[LONGEST_WORD + 1];
  uint32_t n = MIN (token.length, LONGEST_WORD);
  memcpy (word, xp_lexer_text (&parser->lexer), n);
  word[n] = '\0';
  xp_lexer_next (&parser->lexer);
  if (n == token.length && read_word (type, word, value))
    return TRUE;
  xp_parser_fail (parser, parser->lexer.token, "invalid numeric default value");
  return FALSE;
}

static gboolean
parse_keyword (XpParser *parser, XpValue *value)
{
  if (xp_parser_at_word (parser, "None"))
    *value = XP_NONE;
  else if (xp_parser_at_word (parser, "True") || xp_parser_at_word (parser, "False"))
    *value = xp_value_bool (xp_parser_at_word (parser, "True"));
  else
    {
      xp_parser_expected (parser, "number");
      return FALSE;
    }
  xp_lexer_next (&parser->lexer);
  return TRUE;
}

/* One constant, of whatever type its text gives it. */
static gboolean
parse_any_constant (XpParser *parser, const XpType *type, XpValue *value)
{
  if (xp_parser_at (parser, XP_TOKEN_KEYWORD))
    return parse_keyword (parser, value);
  if (xp_parser_at (parser, XP_TOKEN_STRING))
    return xp_parse_string (parser, value);
  if (xp_parser_at (parser, XP_TOKEN_IDENT))
    return parse_word (parser, type, value);
  return xp_parse_number (parser, number_kind (type), value);
}

/* The dtype, layout or format that a number stands for; any other value as it is. */
static XpValue
number_to_enumeration (const XpType *type, XpValue value)
{
  int64_t number = value.as.integer;
  if (value.tag != XP_TAG_INT)
    return value;
  if (type->kind == XP_TYPE_SCALAR_TYPE && xp_dtype_is_valid (number))
    return xp_value_dtype ((XpDType) number);
  if (type->kind == XP_TYPE_LAYOUT && number >= XP_STRIDED && number <= XP_MKLDNN)
    return xp_value_layout ((XpLayout) number);
  if (type->kind == XP_TYPE_MEMORY_FORMAT && number >= XP_CONTIGUOUS_FORMAT
      && number <= XP_CHANNELS_LAST_3D)
    return xp_value_memory_format ((XpMemoryFormat) number);
  return value;
}

/* Makes a constant, which stood at @token, a value of @type; gives it up on error. */
static gboolean
settle (XpParser *parser, XpToken token, const XpType *type, XpValue *value)
{
  *value = number_to_enumeration (type, *value);
  if (xp_type_fit (type, *value) == XP_FIT_SAME)
    return TRUE;
  g_autofree char *expected = xp_type_to_string (type);
  g_autofree char *found = xp_value_to_short_string (*value);
  token.length = parser->lexer.end - token.start;
  xp_parser_fail (parser, token, "a default of type '%s' is expected, but %s is of type '%s'",
                  expected, found, xp_tag_name ((XpTag) value->tag));
  xp_value_clear (value);
  return FALSE;
}

static gboolean
parse_constant (XpParser *parser, const XpType *type, XpValue *value)
{
  XpToken token = parser->lexer.token;
  return parse_any_constant (parser, type, value) && settle (parser, token, type, value);
}

static gboolean
parse_device (XpParser *parser, XpValue *value)
{
  XpToken token = parser->lexer.token;
  XpDevice device;
  g_autoptr (GError) error = NULL;
  g_auto (XpValue) text = XP_NONE;
  if (!xp_parser_at (parser, XP_TOKEN_STRING))
    {
      xp_parser_expected (parser, "string_literal");
      return FALSE;
    }
  if (!xp_parse_string (parser, &text))
    return FALSE;
  const char *name = xp_string_text (text.as.string);
  if (strlen (name) != text.length || !xp_device_parse (name, &device, &error))
    {
      xp_parser_fail (parser, token, "%s", error != NULL ? error->message : "this is no device");
      return FALSE;
    }
  *value = xp_value_device (device);
  return TRUE;
}

static gboolean
parse_none (XpParser *parser, XpValue *value)
{
  if (!xp_parser_at_word (parser, "None"))
    {
      xp_parser_expected (parser, "None");
      return FALSE;
    }
  xp_lexer_next (&parser->lexer);
  *value = XP_NONE;
  return TRUE;
}

/* [ constant { "," constant } ] behind a `[` that has been taken. */
static gboolean
parse_list_elements (XpParser *parser, const XpType *element, GArray *values)
{
  if (xp_parser_take (parser, ']'))
    return TRUE;
  do
    {
      XpValue value;
      if (!parse_constant (parser, element, &value))
        return FALSE;
      g_array_append_val (values, value);
    }
  while (xp_parser_take (parser, ','));
  return xp_parser_expect (parser, ']', "]");
}

static XpValue
list_of (const XpValue *values, size_t n)
{
  return xp_value_list (xp_list_new (values, n));
}

static XpValue
list_of_repeated (XpValue value, int64_t n)
{
  XpValue *values = g_new (XpValue, n);
  for (int64_t i = 0; i < n; i++)
    values[i] = value;
  XpValue list = list_of (values, (size_t) n);
  g_free (values);
  return list;
}

static gboolean
parse_list (XpParser *parser, const XpType *type, XpValue *value)
{
  const XpType *element = type->elements[0];
  if (rule_of (element) != NUMBERS)
    {
      xp_parser_fail (parser, parser->lexer.token,
                      "lists are only supported for float, int and complex types");
      return FALSE;
    }
  if (type->fixed_size > 0 && !xp_parser_at (parser, '['))
    {
      g_auto (XpValue) one = XP_NONE;
      if (!parse_constant (parser, element, &one))
        return FALSE;
      *value = list_of_repeated (one, type->fixed_size);
      return TRUE;
    }
  if (!xp_parser_expect (parser, '[', "["))
    return FALSE;
  GArray *values = g_array_new (FALSE, FALSE, sizeof (XpValue));
  gboolean good = parse_list_elements (parser, element, values);
  if (good)
    *value = list_of ((const XpValue *) (void *) values->data, values->len);
  xp_values_clear ((XpValue *) (void *) values->data, values->len);
  g_array_unref (values);
  return good;
}

/* None or one constant. For `int[3]?` a number stays one, so that it prints as it was written; a
 * call repeats it. */
static gboolean
parse_optional (XpParser *parser, const XpType *type, XpValue *value)
{
  const XpType *inner = type->elements[0];
  if (xp_parser_at_word (parser, "None"))
    return parse_none (parser, value);
  if (inner->kind == XP_TYPE_DEVICE)
    return parse_device (parser, value);
  if (inner->kind == XP_TYPE_LIST && inner->fixed_size > 0
      && rule_of (inner->elements[0]) == NUMBERS)
    inner = inner->elements[0];
  return parse_constant (parser, inner, value);
}

gboolean
xp_parse_default (XpParser *parser, const XpType *type, XpValue *value)
{
  if (type->kind == XP_TYPE_OPTIONAL)
    return parse_optional (parser, type, value);
  if (type->kind == XP_TYPE_LIST)
    return parse_list (parser, type, value);
  switch (rule_of (type))
    {
    case ONLY_NONE:
      return parse_none (parser, value);
    case CONSTANT:
    case NUMBERS:
      return parse_constant (parser, type, value);
    case DEVICE:
      return parse_device (parser, value);
    default:
      xp_parser_fail (parser, parser->lexer.token,
                      "unexpected type, an argument of this type takes no default");
      return FALSE;
    }
}
