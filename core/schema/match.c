/* SPDX-License-Identifier: MIT
 *
 * match.c: the arguments of a call, put in order, converted, and completed with defaults; errors in
 * PyTorch's words (reference 4.6).
 */
#include "schema/accept.h"
#include "schema/print.h"
#include "schema/schema.h"

#include <string.h>

typedef struct
{
  const XpSchema *schema;
  const XpValue *positional;
  size_t n_positional;
  const char *const *names;
  const XpValue *named;
  size_t n_named;
  GError **error;
} Call;

/* Sets the error @format, in which the last %s is the schema. */
G_GNUC_PRINTF (3, 4)
static gboolean
fail (const Call *call, const char *argument, const char *format, ...)
{
  g_autofree char *name = xp_schema_operator_name (call->schema);
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  xp_error_set (call->error, XP_ERROR_ARGUMENT,
                &(XpErrorDetails){ .op = name, .argument = (char *) argument }, "%s", message);
  return FALSE;
}

static gboolean
fail_too_many (const Call *call, size_t n_takes_positional)
{
  const XpSchema *schema = call->schema;
  g_autofree char *declaration = xp_schema_to_string (schema);
  if (call->n_positional > schema->n_arguments)
    return fail (call, NULL,
                 "%s() expected at most %u argument(s) but received %zu argument(s). "
                 "Declaration: %s",
                 schema->name, schema->n_arguments, call->n_positional + call->n_named,
                 declaration);
  return fail (call, NULL,
               "%s() takes %zu positional argument(s) but %zu was/were given.  Declaration: %s",
               schema->name, n_takes_positional, call->n_positional, declaration);
}

static gboolean
fail_missing (const Call *call, const char *argument)
{
  g_autofree char *declaration = xp_schema_to_string (call->schema);
  return fail (call, argument, "%s() is missing value for argument '%s'. Declaration: %s",
               call->schema->name, argument, declaration);
}

static gboolean
fail_unknown (const Call *call, const char *argument)
{
  g_autofree char *declaration = xp_schema_to_string (call->schema);
  return fail (call, argument, "Unknown keyword argument '%s' for operator '%s'. Schema: %s",
               argument, call->schema->name, declaration);
}

static gboolean
fail_twice (const Call *call, const char *argument)
{
  return fail (call, argument, "%s() got multiple values for argument '%s'", call->schema->name,
               argument);
}

/* The type of a value as a schema would write it. */
static char *
type_of_value (XpValue value)
{
  if (value.tag == XP_TAG_OPAQUE)
    return g_strdup (xp_opaque_type_name (value.as.opaque));
  if (value.tag != XP_TAG_LIST || xp_list_element_tag (value.as.list) == XP_TAG_NONE)
    return g_strdup (xp_tag_name ((XpTag) value.tag));
  gboolean has_none = FALSE;
  for (size_t i = 0; i < xp_list_length (value.as.list); i++)
    has_none |= xp_list_get (value.as.list, i).tag == XP_TAG_NONE;
  return g_strdup_printf ("%s%s[]", xp_tag_name (xp_list_element_tag (value.as.list)),
                          has_none ? "?" : "");
}

static const char *
dtype_name (unsigned number)
{
  return xp_dtype_is_valid (number) ? xp_dtype_name ((XpDType) number) : NULL;
}

static const char *
layout_name (unsigned number)
{
  return xp_layout_name ((XpLayout) number);
}

static const char *
memory_format_name (unsigned number)
{
  return xp_memory_format_name ((XpMemoryFormat) number);
}

/* For a text that names nothing of what it should: what there is. (transfer full) */
static char *
names_there_are (const XpType *type, XpValue value)
{
  enum
  {
    MOST = 64 /* a number that none of the enumerations reaches */
  };
  if (type->kind == XP_TYPE_OPTIONAL)
    type = type->elements[0];
  const char *(*name_of) (unsigned) = type->kind == XP_TYPE_SCALAR_TYPE     ? dtype_name
                                      : type->kind == XP_TYPE_LAYOUT        ? layout_name
                                      : type->kind == XP_TYPE_MEMORY_FORMAT ? memory_format_name
                                                                            : NULL;
  if (value.tag != XP_TAG_STRING)
    return g_strdup ("");
  if (type->kind == XP_TYPE_DEVICE)
    {
      XpDevice device;
      g_autoptr (GError) reason = NULL;
      return xp_device_parse (xp_string_text (value.as.string), &device, &reason)
                 ? g_strdup ("")
                 : g_strdup_printf ("\n%s", reason->message);
    }
  GString *names = g_string_new (NULL);
  for (unsigned i = 0; name_of != NULL && i < MOST; i++)
    if (name_of (i) != NULL && strcmp (name_of (i), "unknown") != 0)
      g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "\nExpected one of ",
                              name_of (i));
  return g_string_free (names, FALSE);
}

static gboolean
fail_type (const Call *call, uint32_t index, XpValue value)
{
  const XpArgument *argument = &call->schema->arguments[index];
  g_autofree char *declaration = xp_schema_to_string (call->schema);
  g_autofree char *expected = xp_type_to_string (argument->type);
  g_autofree char *found = type_of_value (value);
  g_autofree char *text = xp_value_to_short_string (value);
  g_autofree char *names = names_there_are (argument->type, value);
  return fail (call, argument->name,
               "%s() Expected a value of type '%s' for argument '%s' but instead found type '%s'.\n"
               "Position: %u\nValue: %s\nDeclaration: %s%s",
               call->schema->name, expected, argument->name, found, index, text, declaration,
               names);
}

/* How many arguments may be given without a name. */
static size_t
count_positional (const XpSchema *schema)
{
  size_t n = 0;
  while (n < schema->n_arguments && !schema->arguments[n].is_keyword_only)
    n++;
  return n;
}

static const XpArgument *
find_argument (const XpSchema *schema, const char *name)
{
  for (uint32_t i = 0; i < schema->n_arguments; i++)
    if (strcmp (schema->arguments[i].name, name) == 0)
      return &schema->arguments[i];
  return NULL;
}

/* Points @given to the value of each argument; NULL where the call has none. */
static gboolean
place (const Call *call, const XpValue **given)
{
  const XpSchema *schema = call->schema;
  size_t n_takes_positional = count_positional (schema);
  if (call->n_positional > n_takes_positional)
    return fail_too_many (call, n_takes_positional);
  for (size_t i = 0; i < call->n_positional; i++)
    given[i] = &call->positional[i];
  for (size_t i = 0; i < call->n_named; i++)
    {
      const XpArgument *argument = find_argument (schema, call->names[i]);
      if (argument == NULL)
        return fail_unknown (call, call->names[i]);
      const XpValue **place = &given[argument - schema->arguments];
      if (*place != NULL)
        return fail_twice (call, argument->name);
      *place = &call->named[i];
    }
  return TRUE;
}

/* Fills in one argument; @given is NULL where the call has none. */
static gboolean
fill (const Call *call, uint32_t index, const XpValue *given, XpValue *value)
{
  const XpArgument *argument = &call->schema->arguments[index];
  if (given == NULL && !argument->has_default)
    return fail_missing (call, argument->name);
  if (given == NULL && argument->default_value.tag == XP_TAG_NONE)
    return TRUE;
  XpValue found = given != NULL ? *given : argument->default_value;
  if (xp_type_fit (argument->type, found) == XP_FIT_NONE)
    return fail_type (call, index, found);
  *value = xp_type_convert (argument->type, found);
  return TRUE;
}

gboolean
xp_schema_match (const XpSchema *schema, const XpValue *positional, size_t n_positional,
                 const char *const *names, const XpValue *named, size_t n_named, XpValue *arguments,
                 GError **error)
{
  g_return_val_if_fail (schema != NULL, FALSE);
  g_return_val_if_fail (arguments != NULL || schema->n_arguments == 0, FALSE);
  g_return_val_if_fail (positional != NULL || n_positional == 0, FALSE);
  g_return_val_if_fail ((names != NULL && named != NULL) || n_named == 0, FALSE);
  const Call call = { schema, positional, n_positional, names, named, n_named, error };
  const XpValue *given[XP_SCHEMA_LIMIT] = { NULL };
  for (uint32_t i = 0; i < schema->n_arguments; i++)
    arguments[i] = XP_NONE;
  gboolean good = place (&call, given);
  for (uint32_t i = 0; i < schema->n_arguments && good; i++)
    good = fill (&call, i, given[i], &arguments[i]);
  if (!good)
    xp_values_clear (arguments, schema->n_arguments);
  return good;
}
