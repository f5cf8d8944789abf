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

G_END_DECLS

#endif
