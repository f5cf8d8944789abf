/* SPDX-License-Identifier: MIT
 *
 * guard.h: scopes in which this thread includes or excludes dispatch keys.
 *
 * Each macro is a declaration: it takes effect at once and ends with the enclosing block, however
 * that is left. Guards nest. Compile with -fexceptions (pkg-config says so), or an exception that
 * passes through leaves the thread's keys as they were inside.
 */
#ifndef XP_GUARD_H
#define XP_GUARD_H

#include <crosspoint/call.h>

G_BEGIN_DECLS

/**
 * XpThreadKeys:
 * @included: keys added to every call
 * @excluded: keys taken away
 *
 * What decides, besides its arguments, where a call goes on this thread.
 */
typedef struct
{
  XpKeySet included;
  XpKeySet excluded;
} XpThreadKeys;

/**
 * xp_thread_keys:
 *
 * Returns: the keys of the calling thread, to be given to another with xp_thread_set_keys()
 */
static inline XpThreadKeys
xp_thread_keys (void)
{
  return (XpThreadKeys){ xp_thread.included, xp_thread.excluded };
}

static inline void
xp_thread_set_keys (XpThreadKeys keys)
{
  xp_thread.included = keys.included;
  xp_thread.excluded = keys.excluded;
}

/**
 * xp_thread_is_included:
 *
 * Returns: whether this thread adds all of @key to its calls. Of a per-backend key both bits count:
 *   with AutogradFunctionality alone included, AutogradCPU is not (reference, gotcha 21)
 */
static inline bool
xp_thread_is_included (XpKey key)
{
  return xp_key_set_has (xp_thread.included, key);
}

/**
 * xp_thread_is_excluded:
 *
 * Returns: whether this thread takes all of @key away from its calls; as xp_thread_is_included()
 */
static inline bool
xp_thread_is_excluded (XpKey key)
{
  return xp_key_set_has (xp_thread.excluded, key);
}

/**
 * xp_thread_set_included:
 *
 * Adds one key to what this thread includes, or takes its functionality away, without a scope. A
 * guard around it undoes it at its end.
 */
static inline void
xp_thread_set_included (XpKey key, bool included)
{
  xp_thread.included = included ? xp_key_set_add (xp_thread.included, key)
                                : xp_key_set_remove (xp_thread.included, key);
}

/**
 * xp_thread_set_excluded:
 *
 * The same for what this thread excludes.
 */
static inline void
xp_thread_set_excluded (XpKey key, bool excluded)
{
  xp_thread.excluded = excluded ? xp_key_set_add (xp_thread.excluded, key)
                                : xp_key_set_remove (xp_thread.excluded, key);
}

static inline void
xp_thread_restore_ (XpThreadKeys *saved)
{
  xp_thread_set_keys (*saved);
}

static inline XpThreadKeys
xp_thread_include_ (XpKeySet set)
{
  XpThreadKeys saved = xp_thread_keys ();
  xp_thread.included = xp_key_set_union (saved.included, set);
  return saved;
}

static inline XpThreadKeys
xp_thread_exclude_ (XpKeySet set)
{
  XpThreadKeys saved = xp_thread_keys ();
  xp_thread.excluded = xp_key_set_union (saved.excluded, set);
  return saved;
}

static inline XpThreadKeys
xp_thread_force_ (XpKeySet included, XpKeySet excluded)
{
  XpThreadKeys saved = xp_thread_keys ();
  xp_thread_set_keys ((XpThreadKeys){ included, excluded });
  return saved;
}

static inline XpThreadKeys
xp_thread_set_excluded_ (XpKey key, bool excluded)
{
  XpThreadKeys saved = xp_thread_keys ();
  xp_thread_set_excluded (key, excluded);
  return saved;
}

#define XP_GUARD_(begin)                                                                           \
  G_GNUC_UNUSED __attribute__ ((cleanup (xp_thread_restore_))) XpThreadKeys XP_PASTE (xp_guard_,   \
                                                                                      __COUNTER__) \
      = begin

/* Adds @set to the thread's included keys. */
#define XP_INCLUDE_KEYS(set) XP_GUARD_ (xp_thread_include_ (set))
/* Adds @set to the thread's excluded keys. */
#define XP_EXCLUDE_KEYS(set) XP_GUARD_ (xp_thread_exclude_ (set))
/* Replaces both. */
#define XP_FORCE_KEYS(included, excluded) XP_GUARD_ (xp_thread_force_ (included, excluded))
/* Changes nothing now, and undoes at the end what the scope has changed. */
#define XP_PRESERVE_KEYS() XP_GUARD_ (xp_thread_keys ())
/* Excludes one key, or no longer, whatever was before. */
#define XP_SET_EXCLUDED(key, excluded) XP_GUARD_ (xp_thread_set_excluded_ (key, excluded))
/* Passes autograd over. */
#define XP_BELOW_AUTOGRAD() XP_EXCLUDE_KEYS (((XpKeySet){ XP_AUTOGRAD_MASK, 0 }))
/* Passes autograd and ADInplaceOrView over. */
#define XP_BELOW_AD_INPLACE_OR_VIEW()                                                              \
  XP_EXCLUDE_KEYS (((XpKeySet){ XP_AUTOGRAD_MASK | XP_BIT (XP_FUNCTIONALITY_ADInplaceOrView), 0 }))
/* Passes Functionalize over. */
#define XP_SKIP_FUNCTIONALIZE() XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_Functionalize))

/* --- All that a thread has set. -------------------------------------------------------------- */

/**
 * XpThreadState:
 * @keys: its keys
 * @inference_mode: nonzero in inference mode
 * @preferences: what xp_thread_prefer() has set, or %NULL; the core's, for the life of the process
 * @reserved: zero
 *
 * What decides, besides their arguments, what calls on a thread do. A pool takes it where work is
 * handed in, and applies it where that is done:
 *
 *     XpThreadState state = xp_thread_state_capture ();           the thread that has the work
 *     { XP_THREAD_STATE (&state); … }                              the one that does it
 */
typedef struct
{
  XpThreadKeys keys;
  uint64_t inference_mode;
  const void *preferences;
  uint64_t reserved[2];
} XpThreadState;

/**
 * xp_thread_state_capture:
 *
 * Returns: the state of the calling thread
 */
XP_PUBLIC XpThreadState xp_thread_state_capture (void);

/**
 * xp_thread_state_apply:
 * @state: what was captured, on any thread
 *
 * Makes @state that of the calling thread; %XP_THREAD_STATE also undoes it.
 *
 * Returns: the state it had before
 */
XP_PUBLIC XpThreadState xp_thread_state_apply (const XpThreadState *state);

/**
 * xp_thread_is_inference_mode:
 *
 * Returns: whether tensors that the calling thread makes carry no autograd keys
 */
XP_PUBLIC bool xp_thread_is_inference_mode (void);

/* Enters inference mode, or leaves it; the state before. */
XP_PUBLIC XpThreadState xp_thread_set_inference_mode_ (bool on);

static inline void
xp_thread_state_restore_ (const XpThreadState *saved)
{
  xp_thread_state_apply (saved);
}

#define XP_STATE_GUARD_(begin)                                                                     \
  G_GNUC_UNUSED __attribute__ ((cleanup (xp_thread_state_restore_))) XpThreadState XP_PASTE (      \
      xp_guard_, __COUNTER__)                                                                      \
      = begin

/* Has the calling thread in the state that @state points to. */
#define XP_THREAD_STATE(state) XP_STATE_GUARD_ (xp_thread_state_apply (state))
/* Inference mode: tensors made within carry neither autograd keys nor ADInplaceOrView, and calls
 * pass those over (reference 7.3); with false, the opposite within a scope of inference mode. */
#define XP_INFERENCE_MODE(on) XP_STATE_GUARD_ (xp_thread_set_inference_mode_ (on))

/* --- Kernels that a thread prefers. ----------------------------------------------------------- */

/**
 * xp_thread_prefer:
 * @text: a preference, as xp_prefer() takes it
 * @error: return location for an error
 *
 * Puts a preference before all others for the calls of this thread, without a scope; a guard around
 * it undoes it at its end (%XP_PRESERVE_THREAD_STATE). Where the cell that a call goes to holds a
 * kernel, and another that is registered to the same key, or another fallback for it, is preferred,
 * that one is called: by typed callers, boxed ones and redispatches alike, with the table and other
 * threads as they are. Fallthroughs are not chosen, and what the row passes over stays passed over.
 * Calls that name their kernel or their key (`direct.h`) are not affected.
 *
 * While a thread prefers something its calls take the slow path, and the first of each operator and
 * key after a change of the table takes the table's lock; they do not wait otherwise. Each distinct
 * list of preferences is kept for the life of the process.
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT for a text that is no preference.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_thread_prefer (const char *text, GError **error);

/* The same; a text that is no preference is a mistake of the program. The state before. */
XP_PUBLIC XpThreadState xp_thread_prefer_ (const char *text);

/* Prefers within the scope, on this thread: XP_PREFER_IN_THREAD ("aten::mm@openblas"); */
#define XP_PREFER_IN_THREAD(text) XP_STATE_GUARD_ (xp_thread_prefer_ (text))
/* Changes nothing now, and undoes at the end what the scope has changed. */
#define XP_PRESERVE_THREAD_STATE() XP_STATE_GUARD_ (xp_thread_state_capture ())

G_END_DECLS

#endif
