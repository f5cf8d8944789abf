/* SPDX-License-Identifier: MIT
 *
 * candidates.c: all that could be in one cell, and what decided between the first and the next.
 */
#include "table/row.h"

static char *
priority_text (int priority)
{
  return priority == G_MININT ? g_strdup ("the lowest") : g_strdup_printf ("%d", priority);
}

/* Between two of one rule: what ranks @first before @second. */
static char *
describe_rank (const Registration *first, const Registration *second)
{
  if (first->preference != second->preference)
    return g_strdup_printf ("preference %s", xp_preference_text (first));
  if (first->priority == second->priority)
    return g_strdup ("newest");
  g_autofree char *higher = priority_text (first->priority);
  g_autofree char *lower = priority_text (second->priority);
  return g_strdup_printf ("priority %s over %s", higher, lower);
}

/* `direct kernel`, `alias Autograd`, `fallback`. */
static char *
describe_kind (const Registration *registration)
{
  if (registration->row == NULL)
    return g_strdup ("fallback");
  return xp_key_is_alias (registration->key)
             ? g_strdup_printf ("alias %s", xp_key_name (registration->key))
             : g_strdup ("direct kernel");
}

static char *
describe_decision (const GPtrArray *candidates)
{
  const Registration *first = candidates->pdata[0];
  const Registration *second = candidates->len > 1 ? candidates->pdata[1] : NULL;
  if (second == NULL)
    return g_strdup (first->row == NULL ? "fallback" : "only one");
  if (first->row == NULL)
    {
      g_autofree char *rank = describe_rank (first, second);
      return g_strdup_printf ("fallback, %s", rank);
    }
  if (second->row != NULL && first->key == second->key)
    return describe_rank (first, second);
  g_autofree char *kind = describe_kind (first), *other = describe_kind (second);
  return g_strdup_printf ("%s over %s", kind, other);
}

static void
fill_stack (XpCellStack *stack, const Row *row)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new ();
  Cell cell = xp_row_cell (row, stack->key);
  stack->rule = cell.rule;
  xp_row_candidates (row, stack->key, candidates);
  stack->n_candidates = candidates->len;
  stack->candidates = g_new0 (XpRegistrationInfo, candidates->len + 1);
  for (unsigned i = 0; i < candidates->len; i++)
    xp_registration_info_init (&stack->candidates[i], candidates->pdata[i],
                               candidates->pdata[i] == cell.registration);
  stack->reason = cell.registration != NULL ? describe_decision (candidates)
                                            : g_strdup (xp_rule_label (cell.rule));
}

XpCellStack *
xp_table_cell (const char *name, XpKey key, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  XpErrorDetails details = { .op = (char *) name, .key = (char *) xp_key_name (key) };
  if (!xp_key_is_runtime (key))
    {
      xp_error_set (error, XP_ERROR_ALIAS_KEY, &details, "%s has no cell in %s: name a runtime key",
                    details.key, name);
      return NULL;
    }
  XpCellStack *stack = NULL;
  g_mutex_lock (&xp_table_lock);
  const Row *row = xp_row_find (name);
  if (row != NULL && row_is_there (row))
    {
      stack = g_new0 (XpCellStack, 1);
      stack->name = g_strdup (name);
      stack->key = key;
      fill_stack (stack, row);
    }
  g_mutex_unlock (&xp_table_lock);
  if (stack == NULL)
    xp_error_set (error, XP_ERROR_UNKNOWN_OPERATOR, &details, "operator %s does not exist", name);
  return stack;
}

void
xp_cell_stack_free (XpCellStack *stack)
{
  if (stack == NULL)
    return;
  xp_registration_infos_free (stack->candidates, stack->n_candidates);
  g_free (stack->name);
  g_free (stack->reason);
  g_free (stack);
}
