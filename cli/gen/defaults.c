/* SPDX-License-Identifier: MIT
 *
 * defaults.c: the defaults of a schema as C.
 */
#include "header.h"

#include <math.h>
#include <string.h>

static char *
float_expression (double number)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  if (isnan (number))
    return g_strdup ("__builtin_nan (\"\")");
  if (isinf (number))
    return g_strdup (number < 0 ? "-__builtin_inf ()" : "__builtin_inf ()");
  g_ascii_dtostr (digits, sizeof digits, number);
  return g_strconcat (digits, strpbrk (digits, ".e") == NULL ? ".0" : "", NULL);
}

static char *
int_expression (int64_t number)
{
  if (number == INT64_MIN)
    return g_strdup ("INT64_MIN");
  if (number >= INT32_MIN && number <= INT32_MAX)
    return g_strdup_printf ("%" G_GINT64_FORMAT, number);
  return g_strdup_printf ("INT64_C (%" G_GINT64_FORMAT ")", number);
}

/* One of the enumerations, by its number and name. */
static char *
enumerator (const char *type, XpValue value)
{
  g_autofree char *name = xp_value_to_string (value);
  return g_strdup_printf ("(%s) %d /* %s */", type, (int) value.as.integer, name);
}

/* A plain value of the type that C passes it in, or NULL. */
static char *
plain_expression (XpValue value)
{
  switch (value.tag)
    {
    case XP_TAG_BOOL:
      return g_strdup (value.as.integer != 0 ? "true" : "false");
    case XP_TAG_INT:
      return int_expression (value.as.integer);
    case XP_TAG_FLOAT:
      return float_expression (value.as.number);
    case XP_TAG_DTYPE:
      return enumerator ("XpDType", value);
    case XP_TAG_LAYOUT:
      return enumerator ("XpLayout", value);
    case XP_TAG_MEMORY_FORMAT:
      return enumerator ("XpMemoryFormat", value);
    case XP_TAG_DEVICE:
      return g_strdup_printf ("{ %d, %d }", value.as.device.backend, value.as.device.index);
    default:
      return NULL;
    }
}

/* A number that C passes as a value. */
static char *
scalar_expression (XpValue value)
{
  g_autofree char *plain = plain_expression (value);
  switch (value.tag)
    {
    case XP_TAG_BOOL:
      return g_strdup_printf ("xp_value_bool (%s)", plain);
    case XP_TAG_INT:
      return g_strdup_printf ("xp_value_int (%s)", plain);
    case XP_TAG_FLOAT:
      return g_strdup_printf ("xp_value_float (%s)", plain);
    default:
      return NULL;
    }
}

static char *
string_expression (XpValue value)
{
  g_autofree char *escaped = g_strescape (xp_string_text (value.as.string), NULL);
  return g_strdup_printf ("\"%s\"", escaped);
}

/* An array and its length, in braces; the array is declared. */
static char *
list_expression (const char *element, const char *name, XpValue value, GString *declarations)
{
  size_t n = xp_list_length (value.as.list);
  if (n == 0)
    return g_strdup ("{ NULL, 0 }");
  g_autoptr (GString) elements = g_string_new (NULL);
  for (size_t i = 0; i < n; i++)
    {
      g_autofree char *plain = plain_expression (xp_list_get (value.as.list, i));
      if (plain == NULL)
        return NULL;
      g_string_append_printf (elements, "%s%s", i > 0 ? ", " : "", plain);
    }
  g_string_append_printf (declarations, "  static const %s%s_elements[] = { %s };\n", element, name,
                          elements->str);
  return g_strdup_printf ("{ %s_elements, %" G_GSIZE_FORMAT " }", name, n);
}

/* The C type of the elements of a list that is passed as an array, or NULL. */
static const char *
element_type (const ArgumentType *type)
{
  static const char *const elements[][2] = {
    { "Tensor", "XpTensor *" },
    { "int", "int64_t " },
    { "float", "double " },
    { "bool", "bool " },
  };
  for (unsigned i = 0; type->schema != NULL && i < XP_LENGTH (elements); i++)
    if (g_str_has_prefix (type->schema, elements[i][0])
        && strstr (type->schema + strlen (elements[i][0]), "[]") != NULL)
      return elements[i][1];
  return NULL;
}

char *
default_expression (const XpArgument *argument, const ArgumentType *type, const char *name,
                    GString *declarations)
{
  const XpValue value = argument->default_value;
  bool is_pointer = g_str_has_suffix (type->c, "*");
  if (value.tag == XP_TAG_NONE)
    return g_strdup (is_pointer ? "NULL" : "XP_NONE");
  if (value.tag == XP_TAG_STRING && type->schema != NULL)
    return string_expression (value);
  g_autofree char *plain = NULL;
  if (value.tag == XP_TAG_LIST && element_type (type) != NULL)
    plain = list_expression (element_type (type), name, value, declarations);
  else if (strstr (type->c, "XpValue") != NULL)
    plain = scalar_expression (value);
  else
    plain = plain_expression (value);
  if (plain == NULL)
    return NULL;
  if (is_pointer)
    {
      g_string_append_printf (declarations, "  %sconst %s %s = %s;\n",
                              strncmp (plain, "xp_", 3) == 0 ? "" : "static ",
                              type->storage != NULL ? type->storage : "XpValue", name, plain);
      return g_strdup_printf ("&%s", name);
    }
  if (plain[0] == '{')
    return g_strdup_printf ("(%.*s)%s", (int) strlen (type->c) - 1, type->c, plain);
  return g_steal_pointer (&plain);
}
