/* SPDX-License-Identifier: MIT
 *
 * direct.c: calls of one registration through a handle, and of one key of a row.
 *
 * A handle is a cell of its own: who calls stores its kernel in a frame and reads the handle again,
 * who takes the kernel out of the table empties the handle first and then looks at the frames.
 */
#include "call/dispatch.h"

#include <string.h>

/* --- Finding a kernel. --- */

/* What the search for a kernel found, looked at after the lock is dropped. */
typedef struct
{
  const XpOperator *op;
  const char *plugin; /* who was asked for, or NULL */
  XpKey key;          /* the same */
  bool is_there;      /* whether the row is */
  char *fallthrough;  /* where the one that was found is registered, for it is no kernel */
  GPtrArray *keys;    /* the names of the keys of all that were found, each once */
} Search;

static void
set_no_kernel (const Search *search, GError **error)
{
  const char *name = xp_operator_name (search->op), *plugin = search->plugin;
  bool is_plugin = plugin != NULL && strcmp (plugin, xp_core_owner.name) != 0
                   && strcmp (plugin, xp_owner_at (NULL)->name) != 0;
  if (is_plugin && xp_hint_hooks.is_loaded != NULL && !xp_hint_hooks.is_loaded (plugin, error))
    return;
  g_autoptr (XpRowInfo) info = xp_table_row (name);
  g_autoptr (GPtrArray) candidates = g_ptr_array_new_with_free_func (g_free);
  for (unsigned i = 0; info != NULL && i < info->n_registrations; i++)
    g_ptr_array_add (candidates, g_strdup_printf ("%s/%s", info->registrations[i].plugin,
                                                  xp_key_name (info->registrations[i].key)));
  bool is_empty = candidates->len == 0;
  g_ptr_array_add (candidates, NULL);
  g_autofree char *list = g_strjoinv (", ", (char **) candidates->pdata);
  const char *key = search->key != XP_KEY_Undefined ? xp_key_name (search->key) : NULL;
  g_autofree char *who = plugin != NULL ? g_strconcat (plugin, " has", NULL)
                                        : g_strdup ("there is");
  xp_error_set (error, XP_ERROR_MISSING_KERNEL,
                &(XpErrorDetails){ .op = (char *) name,
                                   .key = (char *) key,
                                   .plugin = (char *) plugin,
                                   .candidates = (char **) candidates->pdata },
                "%s no kernel of %s%s%s; %s%s", who, name, key != NULL ? " on " : "",
                key != NULL ? key : "", is_empty ? "nobody has one" : "there are: ", list);
}

static void
set_fallthrough (const XpOperator *op, const char *location, GError **error)
{
  const char *name = xp_operator_name (op);
  xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, &(XpErrorDetails){ .op = (char *) name },
                "what is %s for %s is a fallthrough: there is no kernel to call", location, name);
}

static void
set_not_found (const Search *search, GError **error)
{
  const char *name = xp_operator_name (search->op);
  if (!search->is_there)
    xp_set_unknown_operator (name, error);
  else if (search->fallthrough != NULL)
    set_fallthrough (search->op, search->fallthrough, error);
  else if (search->keys->len == 0)
    set_no_kernel (search, error);
  else
    {
      g_ptr_array_add (search->keys, NULL);
      g_autofree char *list = g_strjoinv (", ", (char **) search->keys->pdata);
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT,
                    &(XpErrorDetails){ .op = (char *) name,
                                       .plugin = (char *) search->plugin,
                                       .candidates = (char **) search->keys->pdata },
                    "%s has kernels of %s on several keys: name one of %s", search->plugin, name,
                    list);
    }
}

/* The first that @search asks for, in the order of a dump; NULL unless all are on one key. */
static Registration *
find_registration (const Row *row, const Search *search)
{
  Registration *first = NULL;
  const Registration *last = NULL;
  for (unsigned i = 0; i < row->registrations->len; i++)
    {
      Registration *registration = row->registrations->pdata[i];
      if ((search->key != XP_KEY_Undefined && registration->key != search->key)
          || (search->plugin != NULL && strcmp (registration->owner->name, search->plugin) != 0))
        continue;
      if (first == NULL)
        first = registration;
      if (last == NULL || last->key != registration->key)
        g_ptr_array_add (search->keys, (char *) xp_key_name (registration->key));
      last = registration;
    }
  return search->keys->len == 1 ? first : NULL;
}

XpKernelHandle *
xp_kernel_handle_take (XpOperator *op, Registration *registration)
{
  XpKernelHandle *handle = registration->handle;
  if (handle != NULL && handle->op != op)
    {
      /* It is for the signature that the row had before. */
      __atomic_store_n (&handle->kernel, NULL, __ATOMIC_RELEASE);
      handle = NULL;
    }
  if (handle == NULL)
    {
      handle = g_new0 (XpKernelHandle, 1);
      handle->kernel = &registration->kernel;
      handle->op = op;
      handle->key = registration->key;
      handle->plugin = g_strdup (registration->owner->name);
      handle->location = g_strdup (registration->location);
      registration->handle = handle;
    }
  handle->n_references++;
  return handle;
}

XpKernelHandle *
xp_operator_kernel (XpOperator *op, const char *plugin, XpKey key, GError **error)
{
  g_return_val_if_fail (op != NULL, NULL);
  if (plugin == NULL && key == XP_KEY_Undefined)
    {
      const char *name = xp_operator_name (op);
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, &(XpErrorDetails){ .op = (char *) name },
                    "a kernel of %s is found by its plugin, its key, or both; none was given",
                    name);
      return NULL;
    }
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  Search search = { .op = op, .plugin = plugin, .key = key, .keys = keys };
  XpKernelHandle *handle = NULL;
  g_mutex_lock (&xp_table_lock);
  const Row *row = head_of (op)->row;
  search.is_there = row->live == head_of (op);
  Registration *found = search.is_there ? find_registration (row, &search) : NULL;
  if (found != NULL && found->is_fallthrough)
    search.fallthrough = g_strdup (found->location);
  else if (found != NULL)
    handle = xp_kernel_handle_take (op, found);
  g_mutex_unlock (&xp_table_lock);
  if (handle == NULL)
    set_not_found (&search, error);
  g_free (search.fallthrough);
  return handle;
}

static void
set_no_computed_kernel (const XpOperator *op, XpKey key, XpRule rule, GError **error)
{
  const char *name = xp_operator_name (op), *key_name = xp_key_name (key);
  const XpErrorDetails details = { .op = (char *) name, .key = (char *) key_name };
  if (rule == XP_RULE_FALLBACK)
    xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, &details,
                  "what serves %s for %s is a fallback of all operators, which has no handle; "
                  "xp_operator_call_for_key() calls it",
                  name, key_name);
  else if (rule == XP_RULE_MISSING)
    xp_set_empty_cell (name, key, error);
  else
    xp_error_set (error, XP_ERROR_MISSING_KERNEL, &details,
                  "no kernel for %s for %s: its cell is %s", key_name, name, xp_rule_label (rule));
}

XpKernelHandle *
xp_operator_computed_kernel (XpOperator *op, XpKey key, GError **error)
{
  g_return_val_if_fail (op != NULL, NULL);
  const char *name = xp_operator_name (op);
  if (!xp_key_is_runtime (key))
    {
      xp_error_set (error, XP_ERROR_ALIAS_KEY,
                    &(XpErrorDetails){ .op = (char *) name, .key = (char *) xp_key_name (key) },
                    "%s has no cell: name a runtime key", xp_key_name (key));
      return NULL;
    }
  XpKernelHandle *handle = NULL;
  g_autofree char *fallthrough = NULL;
  Cell cell = { NULL, XP_RULE_MISSING };
  g_mutex_lock (&xp_table_lock);
  const Row *row = head_of (op)->row;
  bool is_there = row->live == head_of (op);
  if (is_there)
    cell = xp_row_cell (row, key);
  if (cell.registration != NULL && cell.registration->is_fallthrough)
    fallthrough = g_strdup (cell.registration->location);
  else if (cell.registration != NULL && cell.rule != XP_RULE_FALLBACK)
    handle = xp_kernel_handle_take (op, (Registration *) cell.registration);
  g_mutex_unlock (&xp_table_lock);
  if (handle != NULL)
    return handle;
  if (!is_there)
    xp_set_unknown_operator (name, error);
  else if (fallthrough != NULL)
    set_fallthrough (op, fallthrough, error);
  else
    set_no_computed_kernel (op, key, cell.rule, error);
  return NULL;
}

XpKernelHandle *
xp_kernel_handle_ref (XpKernelHandle *handle)
{
  g_return_val_if_fail (handle != NULL, NULL);
  g_mutex_lock (&xp_table_lock);
  handle->n_references++;
  g_mutex_unlock (&xp_table_lock);
  return handle;
}

void
xp_kernel_handle_unref (XpKernelHandle *handle)
{
  if (handle == NULL)
    return;
  g_mutex_lock (&xp_table_lock);
  bool is_last = --handle->n_references == 0;
  if (is_last && handle->kernel != NULL)
    ((Registration *) handle->kernel)->handle = NULL;
  g_mutex_unlock (&xp_table_lock);
  if (!is_last)
    return;
  g_free (handle->plugin);
  g_free (handle->location);
  g_free (handle);
}

/* Whether the row still has the signature that the handle was made for. */
static bool
row_is_live (const XpKernelHandle *handle)
{
  const Head *head = head_of (handle->op);
  return __atomic_load_n (&head->row->live, __ATOMIC_ACQUIRE) == head;
}

gboolean
xp_kernel_handle_is_stale (const XpKernelHandle *handle)
{
  g_return_val_if_fail (handle != NULL, TRUE);
  return __atomic_load_n (&handle->kernel, __ATOMIC_ACQUIRE) == NULL || !row_is_live (handle);
}

/* --- Calling it. --- */

/* The functionalities that say how a tensor is laid out. */
#define LAYOUTS (XP_PER_BACKEND_MASK & ~XP_BIT (XP_FUNCTIONALITY_AutogradFunctionality))

/* What a kernel of one backend may be given: tensors of that backend, and none of a layout that
 * would have led the call to a key above its own. */
static gboolean
check_arguments (const XpKernelHandle *handle, XpKeySet keys, GError **error)
{
  XpFunctionality functionality = xp_key_functionality (handle->key);
  if (!xp_functionality_is_per_backend (functionality))
    return TRUE;
  const char *name = xp_operator_name (handle->op), *key = xp_key_name (handle->key);
  XpErrorDetails details = { .op = (char *) name, .key = (char *) key, .plugin = handle->plugin };
  if ((keys.backend & ~XP_BIT (xp_key_backend (handle->key))) != 0)
    {
      xp_error_set (error, XP_ERROR_DEVICE_MISMATCH, &details,
                    "the kernel of %s for %s in %s takes tensors of its own device, and the "
                    "arguments are on %s; move them first",
                    name, key, handle->plugin,
                    xp_backend_name ((XpBackend) (63 - __builtin_clzll (keys.backend))));
      return FALSE;
    }
  uint64_t above = keys.functionality & LAYOUTS & ~(XP_BIT (functionality + 1) - 1);
  if (above == 0 || (XP_BIT (functionality) & LAYOUTS) == 0)
    return TRUE;
  XpKey found = xp_key_set_highest ((XpKeySet){ above, keys.backend });
  xp_error_set (error, XP_ERROR_ARGUMENT, &details,
                "the kernel of %s for %s in %s does not take tensors of %s; convert them first",
                name, key, handle->plugin, xp_key_name (found));
  return FALSE;
}

/* The key set of a call that has come down to @key. */
static XpKeySet
keys_at (XpKeySet keys, XpKey key)
{
  if (!xp_key_is_runtime (key))
    return keys;
  keys.functionality &= XP_BIT (xp_key_functionality (key)) - 1;
  return xp_key_set_add (keys, key);
}

bool
xp_call_hold_handle (XpCall *call, const XpKernelHandle *handle)
{
  for (;;)
    {
      const XpKernel *kernel = __atomic_load_n (&handle->kernel, __ATOMIC_ACQUIRE);
      if (kernel == NULL || kernel == call->kernel)
        return kernel != NULL;
      __atomic_store_n (&call->kernel, kernel, __ATOMIC_RELEASE);
      __atomic_thread_fence (__ATOMIC_SEQ_CST);
    }
}

static void
set_stale (const XpKernelHandle *handle, GError **error)
{
  const char *name = xp_operator_name (handle->op), *key = xp_key_name (handle->key);
  xp_error_set (
      error, XP_ERROR_STALE_KERNEL,
      &(XpErrorDetails){ .op = (char *) name, .key = (char *) key, .plugin = handle->plugin },
      "the kernel of %s for %s in %s, %s, is gone; look it up again", name, key, handle->plugin,
      handle->location);
}

static void
set_declined (const XpKernelHandle *handle, const XpCall *call, GError **error)
{
  const char *name = xp_operator_name (handle->op), *key = xp_key_name (handle->key);
  if (error != NULL)
    g_clear_error (error);
  xp_error_set (
      error, XP_ERROR_DECLINED,
      &(XpErrorDetails){ .op = (char *) name, .key = (char *) key, .plugin = handle->plugin },
      "the kernel of %s for %s in %s, %s, declined the arguments: %s", name, key, handle->plugin,
      handle->location, call->reason != NULL ? call->reason : "it gave no reason");
}

XpStatus
xp_kernel_handle_call (XpKernelHandle *handle, const XpValue *arguments, XpValue *results,
                       GError **error)
{
  g_return_val_if_fail (handle != NULL, XP_FAILED);
  XpOperator *op = handle->op;
  g_return_val_if_fail (xp_call_has_room (op, arguments, results), XP_FAILED);
  XpMixture mixture = { 0 };
  const BoxedCall boxed = { op, arguments, results, error, &mixture };
  XpKeySet keys = xp_argument_keys (op, arguments);
  xp_results_begin (op, results);
  if ((keys.backend & (keys.backend - 1)) != 0
      && !xp_settle_devices (op, arguments, &keys, &mixture.copies, &mixture.device, error))
    return XP_FAILED;
  keys = xp_key_set_difference (keys, xp_thread.excluded);
  if (!check_arguments (handle, keys, error))
    return XP_FAILED;
  XP_CALL_SCOPE XpCall *call = xp_call_enter_boxed (
      op, keys_at (keys, handle->key), XP_CALL_REDISPATCH_BOXED, xp_stack_pointer (), error);
  if (call == NULL)
    return XP_FAILED;
  if (!row_is_live (handle) || !xp_call_hold_handle (call, handle))
    {
      set_stale (handle, error);
      return XP_FAILED;
    }
  XpStatus status = xp_call_run_kernel (call, &boxed, &mixture);
  if (status == XP_DECLINED)
    {
      set_declined (handle, call, boxed.error);
      status = XP_FAILED;
    }
  return xp_call_finish (call, status, &boxed);
}

/* --- One key of a row. --- */

/* Puts the kernel that is registered to exactly @key, or its fallback, in the frame. Under the
 * lock, so that whoever takes it out of the table afterwards finds it there. */
static bool
hold_kernel_for (XpCall *call, XpKey key, GError **error)
{
  g_autofree char *fallthrough = NULL;
  g_mutex_lock (&xp_table_lock);
  const Row *row = head_of (call->op)->row;
  const Registration *found = row->live != head_of (call->op)
                                  ? NULL
                                  : xp_registrations_active (row->registrations, key);
  if (found == NULL && row->live == head_of (call->op))
    found = xp_fallback_for (key);
  if (found != NULL && found->is_fallthrough)
    fallthrough = g_strdup (found->location);
  else if (found != NULL)
    __atomic_store_n (&call->kernel, &found->kernel, __ATOMIC_SEQ_CST);
  g_mutex_unlock (&xp_table_lock);
  if (fallthrough != NULL)
    set_fallthrough (call->op, fallthrough, error);
  else if (found == NULL)
    set_no_kernel (&(Search){ .op = call->op, .key = key }, error);
  return found != NULL && fallthrough == NULL;
}

XpStatus
xp_operator_call_for_key (XpOperator *op, XpKey key, const XpValue *arguments, XpValue *results,
                          GError **error)
{
  g_return_val_if_fail (op != NULL, XP_FAILED);
  g_return_val_if_fail (xp_call_has_room (op, arguments, results), XP_FAILED);
  XpMixture mixture = { 0 };
  const BoxedCall boxed = { op, arguments, results, error, &mixture };
  XpKeySet keys = xp_argument_keys (op, arguments);
  xp_results_begin (op, results);
  if (!xp_key_is_runtime (key) || key == XP_KEY_Undefined)
    {
      xp_error_set (error, XP_ERROR_ALIAS_KEY,
                    &(XpErrorDetails){ .op = (char *) xp_operator_name (op),
                                       .key = (char *) xp_key_name (key) },
                    "%s cannot be called for %s, which has no cell: name a runtime key",
                    xp_operator_name (op), xp_key_name (key));
      return XP_FAILED;
    }
  if ((keys.backend & (keys.backend - 1)) != 0
      && !xp_settle_devices (op, arguments, &keys, &mixture.copies, &mixture.device, error))
    return XP_FAILED;
  XP_CALL_SCOPE XpCall *call = xp_call_enter_boxed (op, keys, XP_CALL_BOXED, xp_stack_pointer (),
                                                    error);
  if (call == NULL)
    return XP_FAILED;
  if (!hold_kernel_for (call, key, error))
    return XP_FAILED;
  XpStatus status = xp_call_run_kernel (call, &boxed, &mixture);
  return xp_call_finish (call, status, &boxed);
}
