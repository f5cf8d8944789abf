/* SPDX-License-Identifier: MIT
 *
 * print.c: the canonical text of a schema (reference 4.5). Where PyTorch prints what its own parser
 * refuses or reads otherwise, this prints what reads back: `Tensor!`, `(a|*)` and all alias sets in
 * source order, annotations at every depth of a list (`Tensor(a!)[][]`), quoted devices, bytes
 * above 0x7f in octal, `-0.`, and one number for a list only where it is repeated to the size that
 * is written.
 */
#include "schema/print.h"

#include "schema/schema.h"
#include "schema/type.h"

#include <math.h>
#include <string.h>

enum
{
  LONGEST_VALUE = 200 /* bytes of a value that a message shows */
};

static void
append_set (GString *text, const char *const *names)
{
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      g_string_append (text, i > 0 ? "|" : "");
      g_string_append (text, names[i]);
    }
}

static gboolean
sets_equal (const char *const *a, const char *const *b)
{
  return a == b || g_strv_equal (a, b);
}

static void
append_alias (GString *text, const XpAlias *alias)
{
  if (alias == NULL || alias->before == NULL)
    return;
  if (alias->before[0][0] == '$') /* a set without a name */
    {
      g_string_append_c (text, '!');
      return;
    }
  g_string_append_c (text, '(');
  append_set (text, alias->before);
  if (alias->is_write)
    g_string_append_c (text, '!');
  if (!sets_equal (alias->before, alias->after))
    {
      g_string_append (text, " -> ");
      append_set (text, alias->after);
    }
  g_string_append_c (text, ')');
}

static void
append_compound (GString *text, const char *name, const XpType *type, XpTypeForm form)
{
  g_string_append (text, name);
  g_string_append_c (text, '(');
  for (uint32_t i = 0; i < type->n_elements; i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      xp_append_type (text, type->elements[i], NULL, form);
    }
  g_string_append_c (text, ')');
}

static void
append_list (GString *text, const XpType *type, const XpAlias *alias, XpTypeForm form)
{
  xp_append_type (text, type->elements[0], alias != NULL ? alias->contained : NULL, form);
  if (type->fixed_size > 0 && form == XP_FORM_CANONICAL)
    g_string_append_printf (text, "[%" G_GINT64_FORMAT "]", type->fixed_size);
  else
    g_string_append (text, "[]");
}

void
xp_append_type (GString *text, const XpType *type, const XpAlias *alias, XpTypeForm form)
{
  static const char *const compounds[] = {
    [XP_TYPE_TUPLE] = "",    [XP_TYPE_DICT] = "Dict",   [XP_TYPE_FUTURE] = "Future",
    [XP_TYPE_RREF] = "RRef", [XP_TYPE_AWAIT] = "Await", [XP_TYPE_UNION] = "Union"
  };
  XpTypeKind kind = type->kind;
  switch (kind)
    {
    case XP_TYPE_OPTIONAL:
      xp_append_type (text, type->elements[0], alias, form);
      g_string_append_c (text, '?');
      return;
    case XP_TYPE_LIST:
      append_list (text, type, alias, form);
      break;
    case XP_TYPE_CLASS:
    case XP_TYPE_VARIABLE:
      g_string_append (text, type->name);
      break;
    default:
      if (kind < XP_N_PLAIN_TYPES)
        g_string_append (text, xp_type_plain_name (kind));
      else
        append_compound (text, compounds[kind], type, form);
    }
  append_alias (text, alias);
}

char *
xp_type_to_string (const XpType *type)
{
  g_return_val_if_fail (type != NULL, NULL);
  GString *text = g_string_new (NULL);
  xp_append_type (text, type, NULL, XP_FORM_CANONICAL);
  return g_string_free (text, FALSE);
}

/* `1.` for a whole number, else 17 significant digits. */
static void
append_float (GString *text, double number)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  gboolean is_whole = (isnormal (number) || number == 0) && fabs (number) < 0x1p63
                      && number == (double) (int64_t) number;
  if (is_whole)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT ".",
                            number == 0 && signbit (number) ? "-" : "", (int64_t) number);
  else
    g_string_append (text, g_ascii_formatd (digits, sizeof digits, "%.17g", number));
}

static void
append_complex (GString *text, XpValue value)
{
  double real, imaginary;
  xp_scalar_to_complex (value, &real, &imaginary);
  append_float (text, real);
  if (!signbit (imaginary))
    g_string_append_c (text, '+');
  append_float (text, imaginary);
  g_string_append_c (text, 'j');
}

static void
append_string (GString *text, const char *bytes, size_t n)
{
  static const char letters[256] = {
    ['\\'] = '\\', ['\''] = '\'', ['"'] = '"',  ['\a'] = 'a', ['\b'] = 'b',
    ['\f'] = 'f',  ['\n'] = 'n',  ['\r'] = 'r', ['\t'] = 't', ['\v'] = 'v',
  };
  g_string_append_c (text, '"');
  for (size_t i = 0; i < n; i++)
    {
      unsigned char byte = (unsigned char) bytes[i];
      if (letters[byte] != '\0')
        g_string_append_printf (text, "\\%c", letters[byte]);
      else if (g_ascii_isprint (byte))
        g_string_append_c (text, (char) byte);
      else
        g_string_append_printf (text, "\\%03o", byte);
    }
  g_string_append_c (text, '"');
}

static void append_default (GString *text, const XpType *type, XpValue value);

/* Whether `=` and one number stand for the whole list: only for those that print as `int[N]`. */
static gboolean
is_one_number (const XpType *type, const XpList *list)
{
  size_t n = xp_list_length (list);
  if (type->kind != XP_TYPE_LIST || n < 2 || n != (size_t) type->fixed_size
      || strcmp (xp_type_plain_name (type->elements[0]->kind), "int") != 0)
    return FALSE;
  const int64_t *numbers = xp_list_ints (list);
  for (size_t i = 1; i < n; i++)
    if (numbers[i] != numbers[0])
      return FALSE;
  return TRUE;
}

static void
append_list_default (GString *text, const XpType *type, const XpList *list)
{
  if (is_one_number (type, list))
    {
      append_default (text, type->elements[0], xp_list_get (list, 0));
      return;
    }
  g_string_append_c (text, '[');
  for (size_t i = 0; i < xp_list_length (list); i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      append_default (text, type->elements[0], xp_list_get (list, i));
    }
  g_string_append_c (text, ']');
}

static void
append_default (GString *text, const XpType *type, XpValue value)
{
  g_autofree char *device = NULL;
  switch (value.tag)
    {
    case XP_TAG_NONE:
      g_string_append (text, "None");
      break;
    case XP_TAG_BOOL:
      g_string_append (text, value.as.integer ? "True" : "False");
      break;
    case XP_TAG_FLOAT:
      append_float (text, value.as.number);
      break;
    case XP_TAG_COMPLEX:
      append_complex (text, value);
      break;
    case XP_TAG_STRING:
      append_string (text, xp_string_text (value.as.string), value.length);
      break;
    case XP_TAG_DEVICE:
      device = xp_device_to_string (value.as.device);
      append_string (text, device, strlen (device));
      break;
    case XP_TAG_LIST:
      append_list_default (text, type, value.as.list);
      break;
    default: /* an int, or the number of a dtype, layout or memory format */
      g_string_append_printf (text, "%" G_GINT64_FORMAT, value.as.integer);
    }
}

static void
append_argument (GString *text, const XpArgument *argument)
{
  xp_append_type (text, argument->type, argument->alias, XP_FORM_CANONICAL);
  if (argument->name[0] != '\0')
    {
      g_string_append_c (text, ' ');
      g_string_append (text, argument->name);
    }
  if (argument->has_default)
    {
      g_string_append_c (text, '=');
      append_default (text, argument->type, argument->default_value);
    }
}

static void
append_arguments (GString *text, const XpSchema *schema)
{
  gboolean is_keyword_only = FALSE;
  g_string_append_c (text, '(');
  for (uint32_t i = 0; i < schema->n_arguments; i++)
    {
      const XpArgument *argument = &schema->arguments[i];
      g_string_append (text, i > 0 ? ", " : "");
      if (argument->is_keyword_only && !is_keyword_only)
        g_string_append (text, "*, ");
      is_keyword_only = argument->is_keyword_only;
      append_argument (text, argument);
    }
  if (schema->is_vararg)
    g_string_append (text, schema->n_arguments > 0 ? ", ..." : "...");
  g_string_append_c (text, ')');
}

/* A single return stands without parentheses, unless it would be read as a list of returns. */
static void
append_returns (GString *text, const XpSchema *schema)
{
  gsize begin = text->len;
  for (uint32_t i = 0; i < schema->n_returns; i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      append_argument (text, &schema->returns[i]);
    }
  if (schema->is_varret)
    g_string_append (text, schema->n_returns > 0 ? ", ..." : "...");
  gboolean is_single = schema->n_returns + (schema->is_varret ? 1 : 0) == 1;
  if (is_single && text->str[begin] != '(')
    return;
  g_string_insert_c (text, (gssize) begin, '(');
  g_string_append_c (text, ')');
}

char *
xp_schema_to_string (const XpSchema *schema)
{
  g_return_val_if_fail (schema != NULL, NULL);
  GString *text = g_string_sized_new (128);
  g_string_append (text, schema->name);
  if (schema->overload[0] != '\0')
    {
      g_string_append_c (text, '.');
      g_string_append (text, schema->overload);
    }
  append_arguments (text, schema);
  g_string_append (text, " -> ");
  append_returns (text, schema);
  return g_string_free (text, FALSE);
}

char *
xp_value_to_short_string (XpValue value)
{
  g_autofree char *text = xp_value_to_string (value);
  if (strlen (text) <= LONGEST_VALUE)
    return g_utf8_make_valid (text, -1);
  g_autofree char *part = g_utf8_make_valid (text, LONGEST_VALUE);
  return g_strconcat (part, "…", NULL);
}
