/* SPDX-License-Identifier: MIT
 *
 * finish.c: the end of a call whose kernel has not simply returned its results: the next kernel
 * where it declined, and errors where it owes something.
 */
#include "call/guard.h"

static bool
is_tried (const GArray *tried, uint64_t sequence)
{
  for (unsigned i = 0; i < tried->len; i++)
    if (g_array_index (tried, uint64_t, i) == sequence)
      return true;
  return false;
}

/* Points the call at the first candidate of its cell that was not tried, under the lock, so that
 * whoever takes it out of the table afterwards finds it in the frame. Candidates may come and go
 * between two tries. */
static bool
go_to_next (XpCall *call, GArray *tried)
{
  g_autoptr (GPtrArray) candidates = g_ptr_array_new ();
  bool found = false;
  g_mutex_lock (&xp_table_lock);
  const Row *row = head_of (call->op)->row;
  if (row->live == head_of (call->op))
    xp_row_candidates (row, xp_call_key (call), candidates);
  for (unsigned i = 0; i < candidates->len && !found; i++)
    {
      const Registration *registration = candidates->pdata[i];
      found = !is_tried (tried, registration->sequence);
      if (!found)
        continue;
      g_array_append_val (tried, registration->sequence);
      __atomic_store_n (&call->kernel, xp_registration_kernel (registration), __ATOMIC_SEQ_CST);
    }
  g_mutex_unlock (&xp_table_lock);
  return found;
}

/* Why the kernels of a cell declined. */
typedef struct
{
  GString *text;
  XpError code; /* of all of them, or DECLINED */
  unsigned n;
} Reasons;

/* Notes why the kernel of @call declined; the next one starts without its reason, results and
 * error.
 */
static void
add_reason (Reasons *reasons, XpCall *call, const BoxedCall *boxed)
{
  const Registration *registration = xp_registration_of (call->kernel);
  XpError code = XP_ERROR_DECLINED;
  g_string_append_printf (
      reasons->text, "\n  %s (%s): ", registration != NULL ? registration->location : "a kernel",
      registration != NULL ? registration->owner->name : "core");
  if (call->reason == xp_guard_reason)
    code = xp_guard_explain (call->op, registration, boxed->arguments, reasons->text);
  else
    g_string_append (reasons->text, call->reason != NULL ? call->reason : "it gave no reason");
  reasons->code = reasons->n++ == 0 || reasons->code == code ? code : XP_ERROR_DECLINED;
  call->reason = NULL;
  if (boxed->error != NULL)
    g_clear_error (boxed->error);
  xp_values_clear (boxed->results, call->op->n_results);
}

/* The plugins that are not loaded and may have a kernel for the cell are named. */
static void
set_declined (const XpCall *call, const Reasons *reasons, GError **error)
{
  const char *name = xp_operator_name (call->op);
  XpKey key = xp_call_key (call);
  g_autoptr (GPtrArray) candidates = g_ptr_array_new_with_free_func (g_free);
  if (error == NULL)
    return;
  if (xp_hint_hooks.missing_kernel != NULL)
    g_free (xp_hint_hooks.missing_kernel (name, key, candidates));
  g_ptr_array_add (candidates, NULL);
  g_autofree char *list = g_strjoinv (", ", (char **) candidates->pdata);
  xp_error_set (
      error, reasons->code,
      &(XpErrorDetails){ .op = (char *) name,
                         .key = (char *) xp_key_name (key),
                         .candidates = (char **) candidates->pdata },
      "Could not run '%s' with arguments from the '%s' backend: every kernel declined them.%s\n"
      "Convert the arguments, or load a plugin that takes them%s%s.",
      name, xp_key_name (key), reasons->text->str,
      candidates->len > 1 ? "; not loaded, and may have a kernel: " : "", list);
}

/* The kernel in the cell declined: the next of its key, then the lower rules. */
static XP_COLD XpStatus
run_next (XpCall *call, const BoxedCall *boxed)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Reasons reasons = { text, XP_ERROR_DECLINED, 0 };
  g_autoptr (GArray) tried = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  const Registration *first = xp_registration_of (call->kernel);
  XpStatus status = XP_DECLINED;
  if (first != NULL)
    g_array_append_val (tried, first->sequence);
  add_reason (&reasons, call, boxed);
  while (status == XP_DECLINED && go_to_next (call, tried))
    {
      status = xp_call_run_kernel (call, boxed, boxed->mixture);
      if (status == XP_DECLINED)
        add_reason (&reasons, call, boxed);
    }
  if (status != XP_DECLINED)
    return status;
  set_declined (call, &reasons, boxed->error);
  return XP_FAILED;
}

static XP_COLD bool
has_results (const XpOperator *op, const XpValue *results)
{
  for (uint32_t i = 0; i < op->n_results; i++)
    if (results[i].tag == XP_TAG_NONE && (head_of (op)->optional_results >> (i & 63) & 1) == 0)
      return false;
  return true;
}

bool
xp_call_is_complete (const BoxedCall *boxed)
{
  return (boxed->error == NULL || *boxed->error == NULL) && has_results (boxed->op, boxed->results);
}

XP_COLD XpStatus
xp_call_set_incomplete (const XpCall *call, const BoxedCall *boxed)
{
  const Registration *registration = xp_registration_of (call->kernel);
  const char *name = xp_operator_name (call->op);
  bool has_error = boxed->error != NULL && *boxed->error != NULL;
  g_autofree char *fault = has_error
                               ? g_strdup_printf ("set an error: %s", (*boxed->error)->message)
                               : g_strdup ("left a result out that its schema promises");
  if (boxed->error != NULL)
    g_clear_error (boxed->error);
  xp_values_clear (boxed->results, call->op->n_results);
  xp_error_set (
      boxed->error, XP_ERROR_INTERNAL,
      &(XpErrorDetails){ .op = (char *) name,
                         .plugin = registration != NULL ? registration->owner->name : NULL },
      "the kernel of %s in %s, %s, returned XP_OK, but %s", name,
      registration != NULL ? registration->owner->name : "core",
      registration != NULL ? registration->location : "not registered", fault);
  return XP_FAILED;
}

XP_COLD XpStatus
xp_call_finish (XpCall *call, XpStatus status, const BoxedCall *boxed)
{
  if (status == XP_DECLINED)
    status = run_next (call, boxed);
  if (status == XP_OK)
    return xp_call_is_complete (boxed) ? XP_OK : xp_call_set_incomplete (call, boxed);
  xp_values_clear (boxed->results, call->op->n_results);
  if (boxed->error != NULL && *boxed->error == NULL)
    {
      const Registration *registration = xp_registration_of (call->kernel);
      const char *name = xp_operator_name (call->op);
      xp_error_set (
          boxed->error, XP_ERROR_INTERNAL,
          &(XpErrorDetails){ .op = (char *) name,
                             .plugin = registration != NULL ? registration->owner->name : NULL },
          "the kernel of %s %s failed with status %d and set no error", name,
          registration != NULL ? registration->location : "", (int) status);
    }
  return XP_FAILED;
}
