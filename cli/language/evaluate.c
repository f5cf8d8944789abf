/* SPDX-License-Identifier: MIT
 *
 * evaluate.c: from expressions to values: variables, functions, operators.
 */
#include "session.h"

#include <string.h>

static void
clear_value (void *value)
{
  xp_value_clear (value);
}

GArray *
values_new (void)
{
  GArray *values = g_array_new (FALSE, TRUE, sizeof (XpValue));
  g_array_set_clear_func (values, clear_value);
  return values;
}

/* --- Operators. --- */

/* Tries one overload: matches the arguments and keeps them, ready for the call. */
static gboolean
match (XpOperator *op, const XpValue *positional, size_t n_positional, const char *const *names,
       const XpValue *named, size_t n_named, GArray *arguments, GError **error)
{
  g_autoptr (XpSchema) schema = xp_operator_schema (op);
  if (schema == NULL)
    {
      xp_operator_get (xp_operator_name (op), error);
      return FALSE;
    }
  g_array_set_size (arguments, 0);
  g_array_set_size (arguments, schema->n_arguments);
  return xp_schema_match (schema, positional, n_positional, names, named, n_named,
                          (XpValue *) (void *) arguments->data, error);
}

/* What the message of a match has after the declaration: the names that would have been good. */
static const char *
good_names (const char *message)
{
  const char *declaration = strstr (message, "\nDeclaration: ");
  const char *names = declaration != NULL ? strchr (declaration + 1, '\n') : NULL;
  return names != NULL ? names + 1 : "";
}

/* The first of @overloads that takes the arguments. */
static XpOperator *
choose (const char *name, char **overloads, const XpValue *positional, size_t n_positional,
        const char *const *names, const XpValue *named, size_t n_named, GArray *arguments,
        GError **error)
{
  g_autoptr (GString) reasons = g_string_new (NULL);
  for (unsigned i = 0; overloads[i] != NULL; i++)
    {
      g_autoptr (GError) reason = NULL;
      XpOperator *op = xp_operator_find (overloads[i]);
      if (op == NULL)
        continue;
      if (match (op, positional, n_positional, names, named, n_named, arguments, &reason))
        return op;
      /* The first line says it; the rest repeats the declaration, but for names. */
      const char *names_there_are = good_names (reason->message);
      g_string_append_printf (reasons, "\n  %s: %.*s%s%s", overloads[i],
                              (int) strcspn (reason->message, "\n"), reason->message,
                              names_there_are[0] != '\0' ? "\n    " : "", names_there_are);
    }
  if (reasons->len == 0)
    return xp_operator_get (name, error);
  xp_error_set (error, XP_ERROR_ARGUMENT,
                &(XpErrorDetails){ .op = (char *) name, .candidates = overloads },
                "no overload of %s takes these arguments:%s", name, reasons->str);
  return NULL;
}

/* What stands behind the `@` of an operator's name: a plugin, a key, or both. */
static XpKernelHandle *
find_kernel (XpOperator *op, const char *owner, GError **error)
{
  XpKey key = XP_KEY_Undefined;
  const char *slash = strchr (owner, '/');
  if (owner[0] == '\0' || slash == owner || (slash != NULL && slash[1] == '\0'))
    {
      set_syntax_error (error, "expected a plugin or a key after %s@, as in aten::mm@openblas",
                        xp_operator_name (op));
      return NULL;
    }
  g_autofree char *plugin = slash != NULL ? g_strndup (owner, (size_t) (slash - owner))
                                          : g_strdup (owner);
  if (slash != NULL && !xp_key_parse (slash + 1, &key, error))
    return NULL;
  g_autoptr (GError) no_key = NULL, reason = NULL;
  bool is_key = slash == NULL && xp_plugin_find (owner) == NULL
                && xp_key_parse (owner, &key, &no_key);
  XpKernelHandle *handle = xp_operator_kernel (op, is_key ? NULL : plugin, key, &reason);
  if (handle != NULL)
    return handle;
  if (no_key != NULL && g_error_matches (reason, XP_ERROR, XP_ERROR_PLUGIN_NOT_LOADED))
    xp_error_set (error, XP_ERROR_PLUGIN_NOT_LOADED, &(XpErrorDetails){ .plugin = plugin },
                  "%s; nor is it a key: %s", reason->message, no_key->message);
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

static gboolean
call_kernel (XpOperator *op, const char *owner, const XpValue *arguments, XpValue *results,
             GError **error)
{
  g_autoptr (XpKernelHandle) handle = find_kernel (op, owner, error);
  return handle != NULL && xp_kernel_handle_call (handle, arguments, results, error) == XP_OK;
}

gboolean
session_call (const char *name_and_owner, const XpValue *positional, size_t n_positional,
              const char *const *names, const XpValue *named, size_t n_named, GArray *values,
              GPtrArray *result_names, GError **error)
{
  g_autoptr (GArray) arguments = values_new ();
  const char *at = strchr (name_and_owner, '@');
  g_autofree char *name = at != NULL ? g_strndup (name_and_owner, (size_t) (at - name_and_owner))
                                     : g_strdup (name_and_owner);
  g_auto (GStrv) overloads = xp_table_overloads (name);
  gboolean is_one = overloads[0] == NULL || overloads[1] == NULL;
  XpOperator *op;
  if (is_one)
    {
      op = xp_operator_get (overloads[0] != NULL ? overloads[0] : name, error);
      if (op == NULL
          || !match (op, positional, n_positional, names, named, n_named, arguments, error))
        return FALSE;
    }
  else
    op = choose (name, overloads, positional, n_positional, names, named, n_named, arguments,
                 error);
  if (op == NULL)
    return FALSE;
  g_autoptr (XpSchema) schema = xp_operator_schema (op);
  g_array_set_size (values, op->n_results);
  for (unsigned i = 0; schema != NULL && i < schema->n_returns; i++)
    g_ptr_array_add (result_names, g_strdup (schema->returns[i].name));
  const XpValue *given = (const XpValue *) (const void *) arguments->data;
  XpValue *results = (XpValue *) (void *) values->data;
  return at != NULL ? call_kernel (op, at + 1, given, results, error)
                    : xp_operator_call (op, given, results, error) == XP_OK;
}

/* --- Functions of the language itself. --- */

typedef gboolean (*Function) (const XpValue *positional, size_t n_positional, char **names,
                              const XpValue *named, size_t n_named, XpValue *value, GError **error);

static gboolean
function_npy (const XpValue *positional, size_t n_positional, G_GNUC_UNUSED char **names,
              G_GNUC_UNUSED const XpValue *named, size_t n_named, XpValue *value, GError **error)
{
  if (n_positional != 1 || n_named != 0 || positional[0].tag != XP_TAG_STRING)
    return set_syntax_error (error, "expected npy(\"FILE\")");
  XpTensor *tensor = xp_tensor_load_npy (xp_string_text (positional[0].as.string), error);
  *value = xp_value_tensor (tensor);
  return tensor != NULL;
}

static gboolean
function_tensor (const XpValue *positional, size_t n_positional, char **names, const XpValue *named,
                 size_t n_named, XpValue *value, GError **error)
{
  int dtype = -1;
  gboolean requires_grad = FALSE;
  if (n_positional != 1)
    return set_syntax_error (error, "expected tensor(NUMBERS, dtype=…, requires_grad=…)");
  for (size_t i = 0; i < n_named; i++)
    if (strcmp (names[i], "dtype") == 0 && named[i].tag == XP_TAG_DTYPE)
      dtype = (int) named[i].as.integer;
    else if (strcmp (names[i], "requires_grad") == 0 && named[i].tag == XP_TAG_BOOL)
      requires_grad = named[i].as.integer != 0;
    else
      return set_value_error (
          error, "tensor() takes dtype=TYPE and requires_grad=True or False, not this %s",
          names[i]);
  g_autoptr (XpTensor) tensor = tensor_from_value (positional[0], dtype, error);
  if (tensor == NULL || !xp_tensor_set_requires_grad (tensor, requires_grad, error))
    return FALSE;
  *value = xp_value_tensor (g_steal_pointer (&tensor));
  return TRUE;
}

static const struct
{
  const char *name;
  Function function;
} functions[] = { { "npy", function_npy }, { "tensor", function_tensor } };

static gboolean
call_function (const Expression *call, const GArray *positional, const GArray *named,
               GArray *values, GError **error)
{
  for (unsigned i = 0; i < XP_LENGTH (functions); i++)
    if (strcmp (functions[i].name, call->name) == 0)
      {
        g_array_set_size (values, 1);
        return functions[i].function ((const XpValue *) (const void *) positional->data,
                                      positional->len, (char **) call->names->pdata,
                                      (const XpValue *) (const void *) named->data, named->len,
                                      &g_array_index (values, XpValue, 0), error);
      }
  return set_value_error (error,
                          "no function '%s': expected an operator with its namespace, as in "
                          "aten::%s, or one of npy, tensor",
                          call->name, call->name);
}

/* --- Expressions. --- */

static gboolean
evaluate_all (Session *session, const GPtrArray *expressions, GArray *values, GError **error)
{
  for (unsigned i = 0; i < expressions->len; i++)
    {
      XpValue value;
      if (!session_evaluate_one (session, expressions->pdata[i], &value, error))
        return FALSE;
      g_array_append_val (values, value);
    }
  return TRUE;
}

static gboolean
evaluate_call (Session *session, const Expression *call, GArray *values, GPtrArray *names,
               GError **error)
{
  g_autoptr (GArray) positional = values_new ();
  g_autoptr (GArray) named = values_new ();
  if (!evaluate_all (session, call->elements, positional, error)
      || !evaluate_all (session, call->named, named, error))
    return FALSE;
  if (strstr (call->name, "::") == NULL)
    return call_function (call, positional, named, values, error);
  return session_call (call->name, (const XpValue *) (const void *) positional->data,
                       positional->len, (const char *const *) call->names->pdata,
                       (const XpValue *) (const void *) named->data, named->len, values, names,
                       error);
}

static gboolean
set_unknown_name (const Session *session, const char *name, GError **error)
{
  g_autoptr (GList) keys = g_hash_table_get_keys (session->variables);
  keys = g_list_sort (keys, (GCompareFunc) strcmp);
  GString *known = g_string_new (NULL);
  for (GList *key = keys; key != NULL; key = key->next)
    g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "", (char *) key->data);
  xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL, "name '%s' is not defined%s%s", name,
                known->len > 0 ? "; there are: " : "", known->str);
  g_string_free (known, TRUE);
  return FALSE;
}

gboolean
session_evaluate (Session *session, const Expression *expression, GArray *values, GPtrArray *names,
                  GError **error)
{
  XpValue value;
  switch (expression->kind)
    {
    case EXPRESSION_CALL:
      return evaluate_call (session, expression, values, names, error);
    case EXPRESSION_NAME:
      {
        const XpValue *found = g_hash_table_lookup (session->variables, expression->name);
        if (found == NULL)
          return set_unknown_name (session, expression->name, error);
        value = xp_value_ref (*found);
        break;
      }
    case EXPRESSION_LIST:
      {
        g_autoptr (GArray) elements = values_new ();
        if (!evaluate_all (session, expression->elements, elements, error))
          return FALSE;
        value = xp_value_list (
            xp_list_new ((const XpValue *) (const void *) elements->data, elements->len));
        break;
      }
    default:
      value = xp_value_ref (expression->value);
    }
  g_array_append_val (values, value);
  return TRUE;
}

gboolean
session_evaluate_one (Session *session, const Expression *expression, XpValue *value,
                      GError **error)
{
  g_autoptr (GArray) values = values_new ();
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  *value = XP_NONE;
  if (!session_evaluate (session, expression, values, names, error))
    return FALSE;
  if (values->len != 1)
    return set_value_error (error, "expected one value, %s gives %u", expression->name,
                            values->len);
  *value = xp_value_ref (g_array_index (values, XpValue, 0));
  return TRUE;
}

gboolean
session_read_one (Session *session, const char **source, XpValue *value, GError **error)
{
  *value = XP_NONE;
  g_autoptr (Expression) expression = expression_parse (source, error);
  return expression != NULL && session_evaluate_one (session, expression, value, error);
}
