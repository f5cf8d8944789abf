/* SPDX-License-Identifier: MIT
 *
 * call.h: what happens between a caller and a kernel: arguments -> key set -> cell -> kernel.
 *
 * The inline part touches only two frozen structures, XpOperator (a row's head) and XpThreadHead,
 * which docs/abi.md describes. Callers do not write this by hand: `crosspoint gen` writes a typed
 * caller for every operator, and xp_operator_call() takes values.
 */
#ifndef XP_CALL_H
#define XP_CALL_H

#include <crosspoint/schema.h>
#include <crosspoint/tensor.h>

G_BEGIN_DECLS

typedef struct XpOperator XpOperator;
typedef struct XpKernel XpKernel;
typedef struct XpCall XpCall;

/**
 * XpStatus:
 * @XP_OK: the call succeeded
 * @XP_FAILED: it failed, and the error is set
 * @XP_DECLINED: only from a kernel, see xp_call_decline(): the dispatcher tries the next one
 */
typedef enum
{
  XP_OK = 0,
  XP_FAILED = 1,
  XP_DECLINED = 2
} XpStatus;

/**
 * XpBoxedFunction:
 * @call: what is being called: operator, key set, key, data
 * @arguments: (array): as many as the schema has, borrowed
 * @results: (array): as many as the schema returns, all None; the kernel stores owned values
 * @error: where to put an error
 *
 * A kernel in boxed form, which can serve any operator.
 *
 * A kernel sets @error where it returns %XP_FAILED and nowhere else, in either form. A boxed call
 * whose kernel returns %XP_OK with an error set fails with %XP_ERROR_INTERNAL; a typed one does not
 * look, which every call would pay for, and its caller finds %XP_OK and the error.
 *
 * Returns: %XP_OK, %XP_FAILED with @error set, or what xp_call_decline() gave
 */
typedef XpStatus (*XpBoxedFunction) (XpCall *call, const XpValue *arguments, XpValue *results,
                                     GError **error);

/* A kernel in typed form, before it is cast to the type that its operator's header declares. */
typedef void (*XpTypedFunction) (void);

/**
 * XpKernel:
 * @boxed: the boxed form, always there
 * @typed: the typed form, if typed callers may call it, or %NULL
 * @data: the registrant's data
 * @adapted: what the adapter of a typed kernel calls: its typed form, which @typed is not where
 *   something stands before the kernel
 *
 * The public head of a kernel. Frozen; what follows it is private.
 */
struct XpKernel
{
  XpBoxedFunction boxed;
  XpTypedFunction typed;
  void *data;
  XpTypedFunction adapted;
};

/**
 * XpCall:
 * @kernel: the kernel that runs; as long as it stands here, its plugin stays mapped
 * @op: the operator
 * @keys: the key set of this call, after masks
 * @reason: why the kernel declined
 * @observed: what observers keep of this call
 * @stack: the address of the stack where the call began
 * @reserved: zero
 *
 * One call in progress, on its thread's stack of calls: at once what keeps the kernel alive, what
 * the kernel is given as its context, and what says who is inside. Frozen: 64 bytes.
 */
struct XpCall
{
  const XpKernel *kernel;
  XpOperator *op;
  XpKeySet keys;
  const char *reason;
  void *observed;
  const void *stack;
  void *reserved;
};

G_STATIC_ASSERT (sizeof (XpCall) == 64);

/**
 * XpKeySlot:
 * @base: index of the first word of a functionality
 * @stride_mask: all ones where it has one in each stripe, else 0
 */
typedef struct
{
  uint32_t base;
  uint32_t stride_mask;
} XpKeySlot;

/* A word of a row: a cell, or the functionalities that are not passed over for one backend. */
typedef union
{
  const XpKernel *kernel;
  uint64_t unmasked;
} XpCell;

/* The cells of a row: 64 for functionalities, then eight for each backend, the first of which is
 * the mask. A backend's eight lie at XP_ROW_STRIPES + 8 * ((bit + 1) & 63), so Meta comes first. */
enum
{
  XP_ROW_STRIPES = 64,
  XP_ROW_STRIPE = 8
};

/**
 * XpOperator:
 * @cells: the cells; replaced as a whole when the row grows, but the old ones are kept, and kept up
 *   to date
 * @backends: the backends that @cells has a stripe for
 * @slots: where each functionality lies, by what xp_highest_place() says of it
 * @tensor_arguments: a bit for each argument whose type is Tensor or Tensor?
 * @list_arguments: a bit for each argument that is a list of tensors, or a list of those
 * @n_arguments: how many arguments
 * @n_results: how many results
 *
 * The head of a row, for one signature. It is never freed: after its row is gone, every cell holds
 * a kernel that raises %XP_ERROR_UNKNOWN_OPERATOR, after it came back with another signature
 * %XP_ERROR_SIGNATURE_MISMATCH. Frozen; what follows it is private.
 */
struct XpOperator
{
  const XpCell *cells;
  uint64_t backends;
  const XpKeySlot *slots;
  uint64_t tensor_arguments;
  uint64_t list_arguments;
  uint32_t n_arguments;
  uint32_t n_results;
};

/**
 * XpThreadHead:
 * @included: keys that this thread adds to every call
 * @excluded: keys it takes away; only functionalities count
 * @top: the next frame of the stack of calls
 * @limit: where the frames end that may be used without a second look
 * @stack_limit: the lowest address that the C stack may reach
 * @attention: nonzero when the slow path must see every call begin and end
 *
 * The part of a thread's record that calls touch. 64 bytes of static thread-local storage; frozen.
 * Other threads write @limit and @attention.
 */
typedef struct
{
  XpKeySet included;
  XpKeySet excluded;
  XpCall *top;
  XpCall *limit;
  const void *stack_limit;
  uint64_t attention;
} XpThreadHead;

G_STATIC_ASSERT (sizeof (XpThreadHead) == 64);

extern XP_PUBLIC __thread XpThreadHead xp_thread __attribute__ ((tls_model ("initial-exec")));

/**
 * XpCallKind:
 *
 * How a call came in. The names are what a trace prints.
 */
typedef enum
{
  XP_CALL_TYPED,           /* [call] */
  XP_CALL_BOXED,           /* [callBoxed] */
  XP_CALL_REDISPATCH,      /* [redispatch] */
  XP_CALL_REDISPATCH_BOXED /* [redispatchBoxed] */
} XpCallKind;

/* --- What a kernel asks of its call. --------------------------------------------------------- */

static inline const XpKernel *
xp_call_kernel (const XpCall *call)
{
  return __atomic_load_n (&call->kernel, __ATOMIC_RELAXED);
}

static inline void *
xp_call_data (const XpCall *call)
{
  return xp_call_kernel (call)->data;
}

static inline XpOperator *
xp_call_operator (const XpCall *call)
{
  return call->op;
}

static inline XpKeySet
xp_call_keys (const XpCall *call)
{
  /* Word by word, as it was stored: a wider load would wait for the stores. */
  return (XpKeySet){ __atomic_load_n (&call->keys.functionality, __ATOMIC_RELAXED),
                     __atomic_load_n (&call->keys.backend, __ATOMIC_RELAXED) };
}

/**
 * xp_call_key:
 *
 * Returns: the key whose cell this call went to
 */
static inline XpKey
xp_call_key (const XpCall *call)
{
  return xp_key_set_highest (xp_call_keys (call));
}

/**
 * xp_call_keys_after:
 *
 * Returns: what is left of the call's key set below its key: what a kernel redispatches with
 */
static inline XpKeySet
xp_call_keys_after (const XpCall *call)
{
  return xp_key_set_intersection (xp_call_keys (call), xp_key_set_after (xp_call_key (call)));
}

/**
 * xp_call_decline:
 * @call: the call
 * @reason: (transfer none): a static text, "only contiguous tensors"
 *
 * For a kernel that cannot serve these arguments, before it has written anything:
 * `return xp_call_decline (call, "only float32");`. The next kernel of the cell is tried.
 *
 * Returns: %XP_DECLINED
 */
static inline XpStatus
xp_call_decline (XpCall *call, const char *reason)
{
  call->reason = reason;
  return XP_DECLINED;
}

/* --- Boxed calls. ---------------------------------------------------------------------------- */

/**
 * xp_operator_call:
 * @op: an operator
 * @arguments: (array): as many values as the schema has arguments; xp_schema_match() makes them
 * @results: (array): as many values as the schema returns; what they hold is not looked at
 * @error: return location for an error
 *
 * Calls an operator with values.
 *
 * Errors: those of the kernel; %XP_ERROR_MISSING_KERNEL, %XP_ERROR_NO_TENSOR_ARGUMENTS,
 * %XP_ERROR_DEVICE_MISMATCH, %XP_ERROR_RECURSION, %XP_ERROR_ARGUMENT for a value of a type that its
 * kernel cannot take, %XP_ERROR_UNKNOWN_OPERATOR, %XP_ERROR_SIGNATURE_MISMATCH,
 * %XP_ERROR_STALE_DEVICE, %XP_ERROR_DECLINED.
 *
 * Returns: %XP_OK with every result owned by the caller; %XP_FAILED with all of them None
 */
XP_PUBLIC XpStatus xp_operator_call (XpOperator *op, const XpValue *arguments, XpValue *results,
                                     GError **error);

/**
 * xp_operator_redispatch:
 * @op: an operator
 * @keys: the key set, taken as it is: neither the thread's keys nor masks are applied
 *
 * Calls the kernel that @keys leads to; see xp_call_keys_after(). Else as xp_operator_call().
 */
XP_PUBLIC XpStatus xp_operator_redispatch (XpOperator *op, XpKeySet keys, const XpValue *arguments,
                                           XpValue *results, GError **error);

/* --- The inline path of typed callers. ------------------------------------------------------- */

/* What the slow paths are for; see call/dispatch.c. xp_call_withdraw() undoes the push of a frame
 * whose cell has changed. */
XP_PUBLIC XP_COLD void xp_call_withdraw (XpCall *call);
XP_PUBLIC XpStatus xp_call_boxed_instead (XpOperator *op, XpCall *call, XpStatus status,
                                          XpKeySet keys, XpCallKind kind, const XpValue *arguments,
                                          XpValue *results, GError **error);

static inline const void *
xp_stack_pointer (void)
{
#if defined(__x86_64__)
  const void *pointer;
  __asm__("mov {%%rsp, %0|%0, rsp}" : "=r"(pointer));
  return pointer;
#else
  return __builtin_frame_address (0);
#endif
}

/* Whether the stack has not grown beyond @limit. */
static inline bool
xp_stack_has_room (const void *const *limit)
{
#ifdef __x86_64__
  bool has_room;
  __asm__("cmp {%1, %%rsp|rsp, %1}" : "=@ccae"(has_room) : "m"(*limit));
  return has_room;
#else
  return xp_stack_pointer () >= *limit;
#endif
}

/* Notes where the call begins. */
static inline void
xp_stack_note (const void **stack)
{
#ifdef __x86_64__
  __asm__("mov {%%rsp, %0|%0, rsp}" : "=m"(*stack));
#else
  *stack = xp_stack_pointer ();
#endif
}

/* Which bit of a nonzero @word is the highest: 63 less its number, or its number on an x86
 * processor without lzcnt, which takes that for bsr. XpOperator.slots is laid out to fit. */
static inline uint64_t
xp_highest_place (uint64_t word)
{
#ifdef __x86_64__
  uint64_t place;
  __asm__("lzcnt {%1, %0|%0, %1}" : "=r"(place) : "rm"(word) : "cc");
  return place;
#else
  return (uint64_t) __builtin_clzll (word);
#endif
}

/* The first word of the stripe of a set of backends that is limited to those of the row. */
static inline uint32_t
xp_row_stripe (uint64_t backends)
{
  uint32_t bit = 63 ^ (uint32_t) __builtin_clzll (backends | 1); /* one instruction */
  return XP_ROW_STRIPES + (bit * XP_ROW_STRIPE + XP_ROW_STRIPE) % (64 * XP_ROW_STRIPE);
}

/* The same for any set of backends. Every row has CPU's stripe. */
static inline uint32_t
xp_row_stripe_for (const XpOperator *op, uint64_t backends)
{
  if (__builtin_constant_p (backends <= 1) && backends <= 1)
    return xp_row_stripe (0);
  return xp_row_stripe (backends & __atomic_load_n (&op->backends, __ATOMIC_ACQUIRE));
}

/* Where a functionality lies: what XpOperator.slots is filled with. */
static inline XpKeySlot
xp_key_slot (XpFunctionality functionality)
{
  uint64_t lower = XP_PER_BACKEND_MASK & (XP_BIT (functionality) - 1);
  return xp_functionality_is_per_backend (functionality)
             ? (XpKeySlot){ 1 + (uint32_t) __builtin_popcountll (lower), ~(uint32_t) 0 }
             : (XpKeySlot){ functionality, 0 };
}

/* The word of a set of functionalities; known when it is compiled where that is. */
static inline uint32_t
xp_row_index (const XpKeySlot *slots, uint64_t functionality, uint32_t stripe)
{
  XpKeySlot slot = __builtin_constant_p (functionality)
                       ? xp_key_slot ((XpFunctionality) (63 - __builtin_clzll (functionality | 1)))
                       : slots[xp_highest_place (functionality | 1)];
  return slot.base + (stripe & slot.stride_mask);
}

/* Whether @cell still holds @kernel; in one instruction, where an atomic load takes two. The thread
 * sanitizer is to see it. */
static inline bool
xp_cell_holds (const XpCell *cell, const XpKernel *kernel)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  bool same;
  __asm__ volatile("cmp {%2, %1|%1, %2}"
                   : "=@ccz"(same)
                   : "r"(kernel), "m"(cell->kernel)
                   : "memory");
  return same;
#else
  return __atomic_load_n (&cell->kernel, __ATOMIC_ACQUIRE) == kernel;
#endif
}

/* @call < *@limit, which other threads write; in one instruction, too. */
static inline bool
xp_is_below (const XpCall *call, XpCall *const *limit)
{
#ifdef __x86_64__
  bool below;
  __asm__("cmp {%2, %1|%1, %2}" : "=@ccb"(below) : "r"(call), "m"(*limit));
  return below;
#else
  return call < __atomic_load_n (limit, __ATOMIC_RELAXED);
#endif
}

/* Pushes the frame @call for @cell and makes it the hazard that keeps the kernel alive: the kernel
 * is stored, then the cell is read again; the other half is the writer's membarrier, or the fence
 * of the slow path where membarrier is not to be had. NULL, and nothing is pushed, where the cell
 * has changed meanwhile. */
static inline __attribute__ ((always_inline)) XpCall *
xp_call_push (XpThreadHead *thread, XpCall *call, XpOperator *op, XpKeySet keys, const XpCell *cell,
              const XpKernel **kernel)
{
  thread->top = call + 1;
  *kernel = __atomic_load_n (&cell->kernel, __ATOMIC_ACQUIRE);
  __atomic_store_n (&call->kernel, *kernel, __ATOMIC_RELEASE);
  __atomic_signal_fence (__ATOMIC_SEQ_CST);
  if (G_UNLIKELY (!xp_cell_holds (cell, *kernel)))
    {
      xp_call_withdraw (call);
      return NULL;
    }
  __atomic_store_n (&call->op, op, __ATOMIC_RELAXED);
  if (__builtin_constant_p (keys.functionality))
    call->keys = keys;
  else
    {
      /* Word by word, as it comes: put together first, it would wait for itself. */
      __atomic_store_n (&call->keys.functionality, keys.functionality, __ATOMIC_RELAXED);
      __atomic_store_n (&call->keys.backend, keys.backend, __ATOMIC_RELAXED);
    }
  xp_stack_note (&call->stack);
  if (call == NULL)
    __builtin_unreachable (); /* so that no caller need look */
  return call;
}

/* Whether this thread may push the frame @call without a second look. */
static inline __attribute__ ((always_inline)) bool
xp_call_may_enter (const XpThreadHead *thread, const XpCall *call)
{
  return xp_is_below (call, &thread->limit) && xp_stack_has_room (&thread->stack_limit);
}

/* Adds what the thread includes, takes away what it excludes and what the row passes over, and
 * pushes the frame @call for the cell. */
static inline __attribute__ ((always_inline)) XpCall *
xp_call_push_masked (XpThreadHead *thread, XpCall *call, XpOperator *op, XpKeySet arguments,
                     const XpKernel **kernel)
{
  const XpKeySlot *slots = op->slots;
  XpKeySet keys = xp_key_set_union (arguments, thread->included);
  uint32_t stripe = xp_row_stripe_for (op, keys.backend);
  const XpCell *cells = __atomic_load_n (&op->cells, __ATOMIC_ACQUIRE);
  keys.functionality &= ~__atomic_load_n (&thread->excluded.functionality, __ATOMIC_RELAXED)
                        & __atomic_load_n (&cells[stripe].unmasked, __ATOMIC_RELAXED);
  return xp_call_push (thread, call, op, keys,
                       &cells[xp_row_index (slots, keys.functionality, stripe)], kernel);
}

/* Pushes the frame @call for the cell that @keys lead to as they are. */
static inline __attribute__ ((always_inline)) XpCall *
xp_call_push_exact (XpThreadHead *thread, XpCall *call, XpOperator *op, XpKeySet keys,
                    const XpKernel **kernel)
{
  const XpKeySlot *slots = op->slots;
  uint32_t stripe = xp_row_stripe_for (op, keys.backend);
  const XpCell *cells = __atomic_load_n (&op->cells, __ATOMIC_ACQUIRE);
  return xp_call_push (thread, call, op, keys,
                       &cells[xp_row_index (slots, keys.functionality, stripe)], kernel);
}

/**
 * xp_call_enter:
 * @op: an operator
 * @arguments: the union of the key sets of all tensor arguments
 * @kernel: (out) (transfer none): the kernel of the call
 *
 * Begins a call. End it with xp_call_leave(); %XP_CALL_SCOPE does that however the scope is left.
 *
 * Returns: (nullable): the call; %NULL where something is unusual: the arguments, the thread, or
 * the moment. They are boxed then, for xp_call_boxed_instead() to look at
 */
static inline __attribute__ ((always_inline)) XpCall *
xp_call_enter (XpOperator *op, XpKeySet arguments, const XpKernel **kernel)
{
  XpThreadHead *thread = &xp_thread;
  if (G_UNLIKELY ((arguments.backend & (arguments.backend - 1)) != 0))
    return NULL;
  XpCall *call = thread->top;
  if (G_UNLIKELY (!xp_call_may_enter (thread, call)))
    return NULL;
  return xp_call_push_masked (thread, call, op, arguments, kernel);
}

/**
 * xp_call_enter_with_keys:
 * @op: an operator
 * @keys: the key set, taken as it is
 * @kernel: (out) (transfer none): the kernel of the call
 *
 * Begins a redispatch; else as xp_call_enter().
 */
static inline __attribute__ ((always_inline)) XpCall *
xp_call_enter_with_keys (XpOperator *op, XpKeySet keys, const XpKernel **kernel)
{
  XpThreadHead *thread = &xp_thread;
  XpCall *call = thread->top;
  if (G_UNLIKELY (!xp_call_may_enter (thread, call)))
    return NULL;
  return xp_call_push_exact (thread, call, op, keys, kernel);
}

/**
 * xp_call_leave:
 * @call: (nullable): the innermost call of this thread
 *
 * Ends a call: its kernel may be unloaded from here on.
 */
static inline __attribute__ ((always_inline)) void
xp_call_leave (XpCall *call)
{
  XpThreadHead *thread = &xp_thread;
  __atomic_store_n (&call->kernel, NULL, __ATOMIC_RELEASE);
  thread->top = call;
}

static inline void
xp_call_leave_scope_ (XpCall **call)
{
  if (*call != NULL)
    xp_call_leave (*call);
}

/* XP_CALL_SCOPE XpCall *call = …: leaves the call at the end of the scope, also when an exception
 * or the end of the thread unwinds it (which needs -fexceptions). */
#define XP_CALL_SCOPE __attribute__ ((cleanup (xp_call_leave_scope_)))

/* --- Operators by name. ---------------------------------------------------------------------- */

/**
 * xp_operator_find:
 * @name: `aten::add.Tensor`
 *
 * Looks a row up; takes no lock and creates nothing.
 *
 * Returns: (transfer none) (nullable): the operator, if a library that is loaded defines it
 */
XP_PUBLIC XpOperator *xp_operator_find (const char *name);

/**
 * xp_operator_get:
 * @name: `aten::add.Tensor`
 * @error: return location for an error
 *
 * As xp_operator_find(), with a reason.
 *
 * Errors: %XP_ERROR_UNKNOWN_OPERATOR with the nearest names and the plugin that would define it,
 * %XP_ERROR_UNKNOWN_OVERLOAD with the overloads there are, %XP_ERROR_NOT_DEFINED where there are
 * kernels but no schema.
 *
 * Returns: (transfer none): the operator
 */
XP_PUBLIC XpOperator *xp_operator_get (const char *name, GError **error);

/**
 * XpOperatorHandle:
 * @name: `aten::gelu`
 * @signature: what xp_schema_signature() says of the schema the caller was built for
 * @op: the operator, once it was looked up
 *
 * A typed caller's own handle, in static storage.
 */
typedef struct
{
  const char *name;
  const char *signature;
  XpOperator *op;
} XpOperatorHandle;

/* Looks the operator of @handle up for its signature, whether or not its row is there now. */
XP_PUBLIC XP_COLD XpOperator *xp_operator_handle_resolve (XpOperatorHandle *handle);

static inline XpOperator *
xp_operator_handle_get (XpOperatorHandle *handle)
{
  XpOperator *op = __atomic_load_n (&handle->op, __ATOMIC_ACQUIRE);
  if (G_UNLIKELY (op == NULL))
    return xp_operator_handle_resolve (handle);
  return op;
}

/**
 * xp_operator_name:
 *
 * Returns: (transfer none): `aten::add.Tensor`, for as long as the process lives
 */
XP_PUBLIC const char *xp_operator_name (const XpOperator *op);

/**
 * xp_operator_schema:
 *
 * Returns: (transfer full) (nullable): the schema, or %NULL while no library defines the operator
 *   with this signature
 */
XP_PUBLIC XpSchema *xp_operator_schema (const XpOperator *op);

/* --- Recursion. ------------------------------------------------------------------------------ */

/**
 * xp_set_recursion_limit:
 * @limit: how often one operator may be active with one key on one thread; at least 1
 *
 * The default is 1,000. A call beyond it, or with less than 64 KiB of stack left, fails with
 * %XP_ERROR_RECURSION.
 */
XP_PUBLIC void xp_set_recursion_limit (unsigned limit);

G_END_DECLS

#endif
