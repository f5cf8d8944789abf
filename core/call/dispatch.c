/* SPDX-License-Identifier: MIT
 *
 * dispatch.c: boxed calls, and the slow path into a call.
 */
#include "call/dispatch.h"
#include "threads/threads.h"

#include <string.h>

/* --- The slow path into a call: a thread's first, one that wants attention, a deep one. --- */

static XpKeySet
effective_keys (const XpOperator *op, XpKeySet keys, XpCallKind kind)
{
  if (kind == XP_CALL_REDISPATCH || kind == XP_CALL_REDISPATCH_BOXED)
    return keys;
  keys.backend |= xp_thread.included.backend;
  uint32_t stripe = xp_row_stripe_for (op, keys.backend);
  const XpCell *cells = __atomic_load_n (&op->cells, __ATOMIC_ACQUIRE);
  keys.functionality = (keys.functionality | xp_thread.included.functionality)
                       & ~xp_thread.excluded.functionality
                       & __atomic_load_n (&cells[stripe].unmasked, __ATOMIC_RELAXED);
  return keys;
}

/* How often @op is active on this thread with @key. */
static unsigned
count_active (const XpOperator *op, XpKey key)
{
  XpCall *end;
  XpCall *frame = xp_thread_frames (&end);
  unsigned n = 0;
  for (; frame < end; frame++)
    n += frame->op == op && frame->kernel != NULL && xp_call_key (frame) == key;
  return n;
}

static const XpCell *
cell_of (const XpOperator *op, XpKeySet keys)
{
  uint32_t stripe = xp_row_stripe_for (op, keys.backend);
  const XpCell *cells = __atomic_load_n (&op->cells, __ATOMIC_ACQUIRE);
  return &cells[xp_row_index (op->slots, keys.functionality, stripe)];
}

/* Stores the kernel of a cell in the frame until the cell still holds it afterwards, with a fence
 * in between. */
static void
hold_kernel (XpCall *call, const XpCell *cell)
{
  for (;;)
    {
      const XpKernel *kernel = __atomic_load_n (&cell->kernel, __ATOMIC_ACQUIRE);
      if (kernel == call->kernel)
        return;
      __atomic_store_n (&call->kernel, kernel, __ATOMIC_RELEASE);
      __atomic_thread_fence (__ATOMIC_SEQ_CST);
    }
}

/* Puts the kernel that this thread prefers in the frame instead of that of the cell. */
static void
prefer (XpCall *call, const XpCell *cell)
{
  const XpKernelHandle *handle = xp_call_preferred (call);
  if (handle != NULL && !xp_call_hold_handle (call, handle))
    hold_kernel (call, cell);
}

static bool
has_attention (uint64_t bits)
{
  return (__atomic_load_n (&xp_thread.attention, __ATOMIC_RELAXED) & bits) != 0;
}

static XpCall *
push (XpOperator *op, XpKeySet keys, const void *stack)
{
  const XpKernel *kernel;
  XpCall *call;
  do
    call = xp_call_push_exact (&xp_thread, xp_thread.top, op, keys, &kernel);
  while (call == NULL);
  call->stack = stack;
  if (xp_threads_need_fence ())
    {
      __atomic_thread_fence (__ATOMIC_SEQ_CST);
      hold_kernel (call, cell_of (op, keys));
    }
  return call;
}

XP_COLD void
xp_call_withdraw (XpCall *call)
{
  xp_call_leave (call);
}

bool (*xp_calls_forbidden_hook) (GError **error);

typedef enum
{
  ENTERED,
  FORBIDDEN,
  NO_MEMORY,
  NO_STACK,
  NO_FRAMES,
  TOO_OFTEN
} Entered;

/* @stack is the stack pointer of the function that makes the call and stays until it ends. One that
 * lies deeper would not do: frames that seem to lie above the stack are taken for abandoned. */
static Entered
enter_slow (XpOperator *op, XpKeySet keys, XpCallKind kind, const void *stack, XpCall **call)
{
  if (has_attention (XP_ATTENTION_NO_CALLS))
    return FORBIDDEN;
  switch (xp_thread_make_room (stack))
    {
    case XP_THREAD_NO_MEMORY:
      return NO_MEMORY;
    case XP_THREAD_STACK_EXHAUSTED:
      return NO_STACK;
    case XP_THREAD_FRAMES_EXHAUSTED:
      return NO_FRAMES;
    default:
      break;
    }
  XpCall *end;
  XpCall *frames = xp_thread_frames (&end);
  unsigned limit = xp_recursion_limit ();
  keys = effective_keys (op, keys, kind);
  if ((size_t) (end - frames) >= limit && count_active (op, xp_key_set_highest (keys)) >= limit)
    return TOO_OFTEN;
  *call = push (op, keys, stack);
  if (has_attention (XP_ATTENTION_PREFERENCES))
    prefer (*call, cell_of (op, keys));
  if (has_attention (XP_ATTENTION_TRACE))
    xp_trace_call (*call, kind);
  return ENTERED;
}

/* The operators and keys that repeat at the end of the stack of calls, outermost first. */
static char *
describe_cycle (void)
{
  XpCall *end;
  XpCall *frames = xp_thread_frames (&end);
  size_t n = (size_t) (end - frames), period = 1;
  for (; period <= n / 2; period++)
    {
      size_t i = 0;
      while (i < period && end[-1 - (ptrdiff_t) i].op == end[-1 - (ptrdiff_t) (i + period)].op
             && xp_call_key (&end[-1 - (ptrdiff_t) i])
                    == xp_call_key (&end[-1 - (ptrdiff_t) (i + period)]))
        i++;
      if (i == period)
        break;
    }
  GString *text = g_string_new (NULL);
  if (period > n / 2)
    period = MIN (n, 8);
  for (size_t i = period; i > 0; i--)
    g_string_append_printf (text, "%s [%s] -> ", xp_operator_name (end[-(ptrdiff_t) i].op),
                            xp_key_name (xp_call_key (&end[-(ptrdiff_t) i])));
  if (period > 0)
    g_string_append (text, xp_operator_name (end[-(ptrdiff_t) period].op));
  return g_string_free (text, FALSE);
}

static void
set_not_entered (const XpOperator *op, XpKeySet keys, Entered why, GError **error)
{
  const char *name = xp_operator_name (op);
  if (why == FORBIDDEN)
    {
      xp_calls_forbidden_hook (error);
      return;
    }
  if (why == NO_MEMORY)
    {
      xp_error_set (error, XP_ERROR_NO_MEMORY, &(XpErrorDetails){ .op = (char *) name },
                    "no memory for this thread's record of calls, needed to call %s", name);
      return;
    }
  const char *key = xp_key_name (xp_key_set_highest (keys));
  g_autofree char *cycle = describe_cycle ();
  g_autofree char *limit = g_strdup_printf (
      "is active %u times on this thread, its recursion limit", xp_recursion_limit ());
  const char *reason = why == TOO_OFTEN   ? limit
                       : why == NO_FRAMES ? "would be one call more than a thread can have at once"
                                          : "would leave less than 64 KiB of this thread's stack";
  xp_error_set (
      error, XP_ERROR_RECURSION, &(XpErrorDetails){ .op = (char *) name, .key = (char *) key },
      "maximum recursion depth exceeded: %s %s; the calls that repeat: %s", name, reason, cycle);
}

XP_COLD XpCall *
xp_call_enter_boxed (XpOperator *op, XpKeySet keys, XpCallKind kind, const void *stack,
                     GError **error)
{
  XpCall *call = NULL;
  Entered entered = enter_slow (op, keys, kind, stack, &call);
  if (entered != ENTERED)
    set_not_entered (op, effective_keys (op, keys, kind), entered, error);
  return call;
}

/* The call, where all is as usual; else NULL. */
static inline __attribute__ ((always_inline)) XpCall *
try_enter (XpOperator *op, XpKeySet keys, XpCallKind kind, const XpKernel **kernel)
{
  XpThreadHead *thread = &xp_thread;
  XpCall *call = thread->top;
  bool is_redispatch = kind == XP_CALL_REDISPATCH || kind == XP_CALL_REDISPATCH_BOXED;
  if (G_UNLIKELY (!xp_call_may_enter (thread, call)))
    return NULL;
  return is_redispatch ? xp_call_push_exact (thread, call, op, keys, kernel)
                       : xp_call_push_masked (thread, call, op, keys, kernel);
}

/* --- Running kernels. --- */

/* Runs the kernel of @call. Zero-dimensional CPU tensors among others are copied over for it,
 * unless it has said that it takes them. */
XP_COLD XpStatus
xp_call_run_kernel (XpCall *call, const BoxedCall *boxed, const XpMixture *mixture)
{
  const XpKernel *kernel = call->kernel;
  const Registration *registration = xp_registration_of (kernel);
  bool is_taken = registration != NULL ? (registration->flags & XP_KERNEL_CPU_SCALARS) != 0
                                       : kernel->boxed != xp_fallthrough;
  if (mixture == NULL || mixture->copies == 0 || is_taken)
    return kernel->boxed (call, boxed->arguments, boxed->results, boxed->error);

  XpStatus status = XP_OK;
  XpValue arguments[64];
  memcpy (arguments, boxed->arguments, boxed->op->n_arguments * sizeof *arguments);
  for (uint64_t bits = mixture->copies; bits != 0; bits &= bits - 1)
    {
      unsigned i = (unsigned) __builtin_ctzll (bits);
      const XpTensor *scalar = boxed->arguments[i].as.tensor;
      g_auto (XpValue) element = xp_tensor_get_element (scalar, 0);
      XpTensor *copy = status == XP_OK ? xp_tensor_new_scalar (element, xp_tensor_dtype (scalar),
                                                               mixture->device, boxed->error)
                                       : NULL;
      if (copy != NULL)
        copy->flags = (copy->flags & ~(uint32_t) XP_TENSOR_IS_SCALAR)
                      | (scalar->flags & XP_TENSOR_IS_SCALAR);
      else
        status = XP_FAILED;
      arguments[i] = xp_value_tensor (copy);
    }
  if (status == XP_OK)
    status = kernel->boxed (call, arguments, boxed->results, boxed->error);
  for (uint64_t bits = mixture->copies; bits != 0; bits &= bits - 1)
    xp_value_clear (&arguments[__builtin_ctzll (bits)]);
  return status;
}

/* Whether that is seen at once. Results that may be None are for xp_call_is_complete(). */
static inline __attribute__ ((always_inline)) bool
is_plainly_complete (const XpOperator *op, const XpValue *results, GError *const *error)
{
  uint32_t n = op->n_results;
  if (G_UNLIKELY (error != NULL && *error != NULL))
    return false;
  while (G_UNLIKELY (n > 0) && G_LIKELY (results[n - 1].tag != XP_TAG_NONE))
    n--;
  return n == 0;
}

static XpStatus
run_boxed (XpCall *call, const BoxedCall *boxed)
{
  XpStatus status = call->kernel->boxed (call, boxed->arguments, boxed->results, boxed->error);
  if (status != XP_OK || !xp_call_is_complete (boxed))
    return xp_call_finish (call, status, boxed);
  return XP_OK;
}

/* A call got to a cell that is passed over, through an older mask or a key set of its own: it goes
 * on to the next key below. */
XpStatus
xp_fallthrough (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XpOperator *op = call->op;
  XpKeySet keys = xp_key_set_remove (call->keys, xp_call_key (call));
  uint32_t stripe = xp_row_stripe_for (op, keys.backend);
  const XpCell *cells = __atomic_load_n (&op->cells, __ATOMIC_ACQUIRE);
  keys.functionality &= __atomic_load_n (&cells[stripe].unmasked, __ATOMIC_RELAXED);
  call->keys = keys;
  hold_kernel (call, cell_of (op, keys));
  if (has_attention (XP_ATTENTION_PREFERENCES))
    prefer (call, cell_of (op, keys));
  if (keys.functionality == 0 && call->kernel->boxed == xp_fallthrough)
    return xp_missing_kernel (call, arguments, results, error);
  return run_boxed (call, &(BoxedCall){ op, arguments, results, error, NULL });
}

/* Calls a kernel with arguments from several devices. */
static XP_COLD XpStatus
call_mixed (const BoxedCall *boxed, XpKeySet keys, XpCallKind kind)
{
  XpMixture mixture;
  BoxedCall own = *boxed;
  if (!xp_settle_devices (boxed->op, boxed->arguments, &keys, &mixture.copies, &mixture.device,
                          boxed->error))
    return XP_FAILED;
  own.mixture = &mixture;
  const void *stack = __builtin_frame_address (0);
  XP_CALL_SCOPE XpCall *call = xp_call_enter_boxed (boxed->op, keys, kind, stack, boxed->error);
  if (call == NULL)
    return XP_FAILED;
  XpStatus status = xp_call_run_kernel (call, &own, &mixture);
  return xp_call_finish (call, status, &own);
}

/* A call in which something is unusual: its keys, its thread, or the moment. */
static XP_COLD XpStatus
call_slowly (const BoxedCall *boxed, XpKeySet keys, XpCallKind kind)
{
  const void *stack = __builtin_frame_address (0);
  XP_CALL_SCOPE XpCall *call = xp_call_enter_boxed (boxed->op, keys, kind, stack, boxed->error);
  return call != NULL ? run_boxed (call, boxed) : XP_FAILED;
}

static XP_COLD XpStatus
redispatch_slowly (XpOperator *op, const XpValue *arguments, XpValue *results, GError **error,
                   XpKeySet keys, XpCallKind kind)
{
  return call_slowly (&(BoxedCall){ op, arguments, results, error, NULL }, keys, kind);
}

/* Ends a call that was entered in the usual way and whose kernel has not done all that it owes. The
 * function that entered it may be gone from the stack, if its last act became a jump. */
static XP_COLD XpStatus
finish_entered (XpCall *entered, XpStatus status, const XpValue *arguments, XpValue *results,
                GError **error)
{
  XP_CALL_SCOPE XpCall *call = entered;
  xp_stack_note (&call->stack);
  return xp_call_finish (call, status, &(BoxedCall){ call->op, arguments, results, error, NULL });
}

/* Runs the kernel of a call that was entered in the usual way. What the unusual paths want again is
 * in memory while the kernel runs, so that registers need not be saved for it. */
static inline __attribute__ ((always_inline)) XpStatus
run (XpCall *call, const XpKernel *kernel, const XpValue *arguments, XpValue *results,
     GError **error)
{
  const XpValue *kept_arguments = arguments;
  XpValue *kept_results = results;
  GError **kept_error = error;
  XpStatus status;
  __asm__ volatile("" : "+m"(kept_arguments), "+m"(kept_results), "+m"(kept_error));
  {
    XP_CALL_SCOPE XpCall *inside = call;
    status = kernel->boxed (call, arguments, results, error);
    if (G_LIKELY (status == XP_OK)
        && G_LIKELY (is_plainly_complete (call->op, kept_results, kept_error)))
      return XP_OK;
    inside = NULL;
  }
  return finish_entered (call, status, kept_arguments, kept_results, kept_error);
}

static XP_COLD XpStatus
resolve_slowly (XpOperator *op, const XpValue *arguments, XpValue *results, GError **error,
                XpCallKind kind)
{
  const BoxedCall boxed = { op, arguments, results, error, NULL };
  XpKeySet keys = xp_argument_keys (op, arguments);
  if ((keys.backend & (keys.backend - 1)) != 0)
    return call_mixed (&boxed, keys, kind);
  return call_slowly (&boxed, keys, kind);
}

/* Tensors in lists: only their keys are not found in the usual way. */
static __attribute__ ((noinline)) XpStatus
call_with_lists (XpOperator *op, const XpValue *arguments, XpValue *results, GError **error)
{
  const XpKernel *kernel;
  XpKeySet keys = xp_argument_keys (op, arguments);
  XpCall *call = (keys.backend & (keys.backend - 1)) == 0
                     ? try_enter (op, keys, XP_CALL_BOXED, &kernel)
                     : NULL;
  if (call == NULL)
    return resolve_slowly (op, arguments, results, error, XP_CALL_BOXED);
  return run (call, kernel, arguments, results, error);
}

XpStatus
xp_operator_call (XpOperator *op, const XpValue *arguments, XpValue *results, GError **error)
{
  g_return_val_if_fail (xp_call_has_room (op, arguments, results), XP_FAILED);
  xp_results_begin (op, results);
  if (G_UNLIKELY (op->list_arguments != 0))
    return call_with_lists (op, arguments, results, error);
  XpKeySet keys = xp_argument_tensor_keys (op, arguments);
  if (G_UNLIKELY ((keys.backend & (keys.backend - 1)) != 0))
    return resolve_slowly (op, arguments, results, error, XP_CALL_BOXED);
  const XpKernel *kernel;
  XpCall *call = try_enter (op, keys, XP_CALL_BOXED, &kernel);
  if (G_UNLIKELY (call == NULL))
    return resolve_slowly (op, arguments, results, error, XP_CALL_BOXED);
  return run (call, kernel, arguments, results, error);
}

XpStatus
xp_operator_redispatch (XpOperator *op, XpKeySet keys, const XpValue *arguments, XpValue *results,
                        GError **error)
{
  g_return_val_if_fail (xp_call_has_room (op, arguments, results), XP_FAILED);
  xp_results_begin (op, results);
  const XpKernel *kernel;
  XpCall *call = try_enter (op, keys, XP_CALL_REDISPATCH_BOXED, &kernel);
  if (G_UNLIKELY (call == NULL))
    return redispatch_slowly (op, arguments, results, error, keys, XP_CALL_REDISPATCH_BOXED);
  return run (call, kernel, arguments, results, error);
}

/* Where a typed caller goes with boxed arguments: it could not enter, with the operator and its
 * keys, or it has entered, and the kernel has no typed form, did not return XP_OK, or left a result
 * out. */
XpStatus
xp_call_boxed_instead (XpOperator *op, XpCall *call, XpStatus status, XpKeySet keys,
                       XpCallKind kind, const XpValue *arguments, XpValue *results, GError **error)
{
  const BoxedCall boxed = { op, arguments, results, error, NULL };
  xp_results_begin (op, results);
  if (call == NULL)
    return kind == XP_CALL_REDISPATCH
               ? redispatch_slowly (op, arguments, results, error, keys, kind)
               : resolve_slowly (op, arguments, results, error, kind);
  xp_stack_note (&call->stack); /* as in finish_entered() */
  if (status != XP_OK)
    return xp_call_finish (call, status, &boxed);
  return call->kernel->typed == NULL ? run_boxed (call, &boxed)
                                     : xp_call_set_incomplete (call, &boxed);
}
