/* SPDX-License-Identifier: MIT
 *
 * boxing.c: what adapters between typed and boxed form need now and then: their errors, and values
 * of types that have no form of their own.
 */
#include <crosspoint/boxing.h>

#include "schema/accept.h"

XpStatus
xp_unbox_failed (const XpCall *call, const XpValue *arguments, GError **error)
{
  const char *name = xp_operator_name (call->op);
  g_autoptr (XpSchema) schema = xp_operator_schema (call->op);
  for (unsigned i = 0; schema != NULL && i < schema->n_arguments; i++)
    {
      if (xp_type_accepts (schema->arguments[i].type, arguments[i]))
        continue;
      g_autofree char *type = xp_type_to_string (schema->arguments[i].type);
      g_autofree char *value = xp_value_to_string (arguments[i]);
      g_autofree char *declaration = xp_schema_to_string (schema);
      xp_error_set (
          error, XP_ERROR_ARGUMENT,
          &(XpErrorDetails){ .op = (char *) name, .argument = (char *) schema->arguments[i].name },
          "%s() Expected a value of type '%s' for argument '%s' but instead found type "
          "'%s'.\nPosition: %u\nValue: %.200s\nDeclaration: %s",
          schema->name, type, schema->arguments[i].name, xp_tag_name ((XpTag) arguments[i].tag), i,
          value, declaration);
      return XP_FAILED;
    }
  /* What the schema takes was not converted to what the kernel takes, as an int for a float is. */
  xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .op = (char *) name },
                "%s: an argument has a type that needs conversion; pass the arguments through "
                "xp_schema_match() first",
                name);
  return XP_FAILED;
}

XpStatus
xp_unbox_null (const XpOperator *op, const char *argument, GError **error)
{
  const char *name = xp_operator_name (op);
  xp_error_set (error, XP_ERROR_ARGUMENT,
                &(XpErrorDetails){ .op = (char *) name, .argument = (char *) argument },
                "%s() expected a value for argument '%s', but found NULL", name, argument);
  return XP_FAILED;
}

/* Whether a boxed kernel has returned what its schema says; the type, where it has not. */
static bool
result_fits (const XpOperator *op, unsigned i, XpValue result, uint8_t tag, char **type)
{
  if (tag == XP_TAG_NONE && xp_value_is_scalar (result))
    return true;
  if (tag != XP_TAG_NONE && tag != XP_TAG_LIST && result.tag == tag)
    return true;
  g_autoptr (XpSchema) schema = xp_operator_schema (op);
  /* The row may have gone while the kernel ran. */
  if (schema == NULL)
    return tag == XP_UNBOX_BY_SCHEMA || tag == result.tag;
  if ((tag == XP_TAG_LIST || tag == XP_UNBOX_BY_SCHEMA)
      && xp_type_fit (schema->returns[i].type, result) == XP_FIT_SAME)
    return true;
  *type = xp_type_to_string (schema->returns[i].type);
  return false;
}

XpStatus
xp_unbox_results (const XpOperator *op, XpStatus status, XpValue *results, const uint8_t *tags,
                  GError **error)
{
  for (unsigned i = 0; status == XP_OK && i < op->n_results; i++)
    {
      g_autofree char *type = NULL;
      if (result_fits (op, i, results[i], tags[i], &type))
        continue;
      const char *name = xp_operator_name (op);
      xp_error_set (error, XP_ERROR_INTERNAL, &(XpErrorDetails){ .op = (char *) name },
                    "a boxed kernel of %s returned a %s as result %u, where its schema says %s",
                    name, xp_tag_name ((XpTag) results[i].tag), i,
                    type != NULL ? type : "otherwise");
      xp_values_clear (results, op->n_results);
      status = XP_FAILED;
    }
  return status;
}
