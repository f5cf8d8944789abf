/* SPDX-License-Identifier: MIT
 *
 * operator.c: operators by name, and what is asked of one.
 */
#include "call/dispatch.h"

#include <string.h>

XpOperator *
xp_operator_find (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);
  Row *row = xp_row_find (name);
  if (row == NULL)
    return NULL;
  Head *head = __atomic_load_n (&row->live, __ATOMIC_ACQUIRE);
  return head != NULL ? &head->op : NULL;
}

static void
set_unknown_overload (const char *name, char **overloads, GError **error)
{
  g_autofree char *list = g_strjoinv (", ", overloads);
  const char *dot = strchr (name, '.');
  XpErrorDetails details = { .op = (char *) name, .candidates = overloads };
  if (dot != NULL)
    xp_error_set (error, XP_ERROR_UNKNOWN_OVERLOAD, &details,
                  "The underlying op of '%.*s' has no overload name '%s'. It has: %s",
                  (int) (dot - name), name, dot + 1, list);
  else
    xp_error_set (
        error, XP_ERROR_UNKNOWN_OVERLOAD, &details,
        "'%s' has no overload without a name; each overload is a row of its own. Name one "
        "of them: %s",
        name, list);
}

XpOperator *
xp_operator_get (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  for (;;)
    {
      XpOperator *op = xp_operator_find (name);
      if (op != NULL)
        return op;
      g_autoptr (XpRowInfo) info = xp_table_row (name);
      if (info == NULL)
        break;
      if (info->schema == NULL)
        {
          xp_set_not_defined (info, error);
          return NULL;
        }
      /* It was defined since: look again. */
    }
  const char *dot = strchr (name, '.');
  g_autofree char *base = dot != NULL ? g_strndup (name, (size_t) (dot - name)) : g_strdup (name);
  g_auto (GStrv) overloads = xp_table_overloads (base);
  /* A row may have come since it was looked for. */
  if (g_strv_contains ((const char *const *) overloads, name))
    return xp_operator_get (name, error);
  /* One that only has kernels that wait for it is no help. */
  g_autoptr (XpRowInfo) waiting = NULL;
  for (char **overload = overloads; *overload != NULL; overload++)
    {
      g_autoptr (XpRowInfo) info = xp_table_row (*overload);
      if (info != NULL && info->schema != NULL)
        {
          set_unknown_overload (name, overloads, error);
          return NULL;
        }
      if (waiting == NULL)
        waiting = g_steal_pointer (&info);
    }
  if (waiting != NULL)
    xp_set_not_defined (waiting, error);
  else
    xp_set_unknown_operator (name, error);
  return NULL;
}

XpOperator *
xp_operator_handle_resolve (XpOperatorHandle *handle)
{
  g_return_val_if_fail (handle != NULL && handle->name != NULL && handle->signature != NULL, NULL);
  g_mutex_lock (&xp_table_lock);
  Head *head = xp_head_make (xp_row_make (handle->name), handle->signature);
  g_mutex_unlock (&xp_table_lock);
  __atomic_store_n (&handle->op, &head->op, __ATOMIC_RELEASE);
  return &head->op;
}

const char *
xp_operator_name (const XpOperator *op)
{
  g_return_val_if_fail (op != NULL, NULL);
  return head_of (op)->row->name;
}

XpSchema *
xp_operator_schema (const XpOperator *op)
{
  g_return_val_if_fail (op != NULL, NULL);
  XpSchema *schema = NULL;
  g_mutex_lock (&xp_table_lock);
  const Row *row = head_of (op)->row;
  if (row->live == head_of (op))
    schema = xp_schema_ref (row->definition->schema);
  g_mutex_unlock (&xp_table_lock);
  return schema;
}
