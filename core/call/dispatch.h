/* SPDX-License-Identifier: MIT
 *
 * dispatch.h: the parts of a call that are not inline.
 */
#pragma once

#include "table/row.h"

#include <crosspoint/call.h>

/* Arguments that are zero-dimensional CPU tensors, among others on @device. */
typedef struct
{
  uint64_t copies; /* a bit for each */
  XpDevice device;
} XpMixture;

/* A call in boxed form: what its parts pass to each other. */
typedef struct
{
  XpOperator *op;
  const XpValue *arguments;
  XpValue *results;
  GError **error;
  const XpMixture *mixture; /* NULL where all arguments are on one device */
} BoxedCall;

static inline Head *
head_of (const XpOperator *op)
{
  return (Head *) op;
}

/* Pushes a frame for a boxed call, or a boxed redispatch. @stack is xp_stack_pointer() of the
 * caller.
 */
XpCall *xp_call_enter_boxed (XpOperator *op, XpKeySet keys, XpCallKind kind, const void *stack,
                             GError **error);

/* Whether the arrays of a boxed call are there. */
static inline bool
xp_call_has_room (const XpOperator *op, const XpValue *arguments, const XpValue *results)
{
  return op != NULL && (arguments != NULL || op->n_arguments == 0)
         && (results != NULL || op->n_results == 0);
}

static inline void
xp_results_begin (const XpOperator *op, XpValue *results)
{
  for (uint32_t i = 0; i < op->n_results; i++)
    results[i] = XP_NONE;
}

/* --- finish.c --- */

/* What a kernel that returned XP_OK owes: no error, and every result that its schema promises. */
bool xp_call_is_complete (const BoxedCall *boxed);

/* A kernel returned XP_OK, but is not complete: it failed, and that is its fault. */
XpStatus xp_call_set_incomplete (const XpCall *call, const BoxedCall *boxed);

/* What is left to do when a kernel has not returned XP_OK: the next one where it declined, an error
 * where it set none; clears results on failure. */
XpStatus xp_call_finish (XpCall *call, XpStatus status, const BoxedCall *boxed);

/* Runs the kernel of @call and no other, with copies of those arguments of @mixture that it does
 * not take; @mixture may be NULL. */
XpStatus xp_call_run_kernel (XpCall *call, const BoxedCall *boxed, const XpMixture *mixture);

/* --- devices.c --- */

/* @keys and those of all tensors in lists among the arguments. */
XpKeySet xp_argument_list_keys (const XpOperator *op, const XpValue *arguments, XpKeySet keys);

/* The keys of all tensors among the arguments, but for those in lists. */
static inline XpKeySet
xp_argument_tensor_keys (const XpOperator *op, const XpValue *arguments)
{
  XpKeySet keys = { 0, 0 };
  for (uint64_t bits = op->tensor_arguments; bits != 0; bits >>= 1, arguments++)
    if (G_LIKELY (bits & 1) && G_LIKELY (arguments->tag == XP_TAG_TENSOR))
      keys = xp_key_set_union (keys, xp_tensor_keys (arguments->as.tensor));
  return keys;
}

/* The keys of all tensors among the arguments. */
static inline XpKeySet
xp_argument_keys (const XpOperator *op, const XpValue *arguments)
{
  XpKeySet keys = xp_argument_tensor_keys (op, arguments);
  return op->list_arguments == 0 ? keys : xp_argument_list_keys (op, arguments, keys);
}

typedef gboolean (*XpTensorVisitor) (unsigned argument, XpTensor *tensor, void *data);
/* Visits every tensor among the arguments until @visit is false. */
gboolean xp_argument_tensors_visit (const XpOperator *op, const XpValue *arguments,
                                    XpTensorVisitor visit, void *data);

/* More than one backend stands in @keys: lets those pass that may be mixed, with the keys that
 * decide then; else sets DEVICE_MISMATCH. @copies tells which zero-dimensional CPU tensors need to
 * be copied to @device unless the kernel takes them. */
gboolean xp_settle_devices (XpOperator *op, const XpValue *arguments, XpKeySet *keys,
                            uint64_t *copies, XpDevice *device, GError **error);

/* --- missing.c: the errors of cells without a kernel. --- */
/* STALE_DEVICE for the first argument on one of @backends, which were given back. */
void xp_set_stale_device (const XpOperator *op, const XpValue *arguments, uint64_t backends,
                          GError **error);
XpStatus xp_missing_kernel (XpCall *call, const XpValue *arguments, XpValue *results,
                            GError **error);
/* MISSING_KERNEL for the cell of @key, which is empty, without a call. */
void xp_set_empty_cell (const char *name, XpKey key, GError **error);
void xp_set_unknown_operator (const char *name, GError **error);
void xp_set_not_defined (const XpRowInfo *info, GError **error);

/* What plugins know about an empty cell or a row that is not there; installed by their layer. Each
 * of the first two gives a text of its own lines, or NULL, and adds what could be loaded to
 * @candidates. */
typedef struct
{
  char *(*missing_kernel) (const char *op, XpKey key, GPtrArray *candidates);
  char *(*unknown_operator) (const char *op, GPtrArray *candidates);
  /* False, with the error, where @plugin is known not to be loaded. */
  bool (*is_loaded) (const char *plugin, GError **error);
} XpHintHooks;
extern XpHintHooks xp_hint_hooks;

/* Says why calls are forbidden on this thread now; installed by the layer of plugins. */
extern bool (*xp_calls_forbidden_hook) (GError **error);

/* --- direct.c --- */
/* A handle to @registration, a reference to it; @op is NULL for a fallback. Under the lock. */
XpKernelHandle *xp_kernel_handle_take (XpOperator *op, Registration *registration);
/* Puts the kernel of @handle in the frame, until the handle still holds it afterwards. */
bool xp_call_hold_handle (XpCall *call, const XpKernelHandle *handle);

/* --- preferred.c --- */
const void *xp_thread_preferences (void);
void xp_thread_set_preferences (const void *preferences);
/* The kernel that this thread prefers to that which @call holds; (transfer none), NULL for none. */
const XpKernelHandle *xp_call_preferred (const XpCall *call);

/* --- trace.c --- */
void xp_trace_call (const XpCall *call, XpCallKind kind);
