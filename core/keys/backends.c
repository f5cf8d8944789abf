/* SPDX-License-Identifier: MIT
 *
 * backends.c: which backend has which bit and name: the built-in ones, and those that plugins name.
 *
 * A bit is free, reserved by a transaction that is not published yet, in use, or given back: then
 * it keeps its name until nothing holds it, and is free again. The names of a bit are one immutable
 * record, of which there is one for every name that was ever used. Reading takes no lock.
 */
#include "keys/backends.h"

#include <string.h>

/* The names of a backend's six keys; the first is its own. */
typedef struct Names Names;
struct Names
{
  const char *keys[XP_N_PER_BACKEND];
  const Names *next;
};

#define BUILT_IN(name, bit)                                                                        \
  [bit] = { { #name, "Quantized" #name, "Sparse" #name, "SparseCsr" #name, "NestedTensor" #name,   \
              "Autograd" #name },                                                                  \
            NULL },
static const Names built_in[64] = { XP_BACKEND_LIST (BUILT_IN) };

#define BUILT_IN_NAMES(name, bit) [bit] = &built_in[bit],
static const Names *names_of[64] = { XP_BACKEND_LIST (BUILT_IN_NAMES) };

#define BUILT_IN_BIT(name, bit) | XP_BIT (bit)
static uint64_t known = 0 XP_BACKEND_LIST (BUILT_IN_BIT);
static uint64_t in_use = 0 XP_BACKEND_LIST (BUILT_IN_BIT);
static uint64_t given_back;

/* Under the lock: all names ever given, and how often each bit was reserved. */
static const Names *all_names;
static unsigned incarnations[64];

/* Tensors and registrations of each named bit. */
static uint64_t holds[64];

/* Reserved by the transaction that is being filled on this thread. */
static __thread uint64_t own;

GMutex xp_backends_lock;

static uint64_t
load (const uint64_t *bits)
{
  return __atomic_load_n (bits, __ATOMIC_SEQ_CST);
}

uint64_t
xp_backends_in_use (void)
{
  return load (&in_use);
}

uint64_t
xp_backends_given_back (void)
{
  return load (&given_back);
}

void
xp_backends_set_own (uint64_t bits)
{
  own = bits;
}

const char *
xp_backend_key_name (XpBackend backend, unsigned ordinal)
{
  if ((unsigned) backend > 63 || (load (&known) >> backend & 1) == 0)
    return NULL;
  return __atomic_load_n (&names_of[backend], __ATOMIC_ACQUIRE)->keys[ordinal];
}

const char *
xp_backend_name (XpBackend backend)
{
  return xp_backend_key_name (backend, 0);
}

int
xp_backend_find (const char *name)
{
  uint64_t bits = load (&in_use) | own;
  for (; bits != 0; bits &= bits - 1)
    {
      int bit = __builtin_ctzll (bits);
      if (strcmp (__atomic_load_n (&names_of[bit], __ATOMIC_ACQUIRE)->keys[0], name) == 0)
        return bit;
    }
  return -1;
}

unsigned
xp_backends_in_order (uint8_t order[64])
{
  uint64_t bits = load (&known);
  const char *names[64];
  unsigned n = 0;
  for (unsigned bit = 0; bit < XP_BACKEND_FIRST_NAMED; bit++)
    order[n++] = (uint8_t) bit;
  for (unsigned bit = XP_BACKEND_FIRST_NAMED; bit <= XP_BACKEND_LAST_NAMED; bit++)
    if (bits >> bit & 1)
      {
        const char *name = __atomic_load_n (&names_of[bit], __ATOMIC_ACQUIRE)->keys[0];
        unsigned at = n++;
        for (; at > XP_BACKEND_FIRST_NAMED && strcmp (names[at - 1], name) > 0; at--)
          {
            order[at] = order[at - 1];
            names[at] = names[at - 1];
          }
        order[at] = (uint8_t) bit;
        names[at] = name;
      }
  order[n++] = XP_BACKEND_Meta;
  return n;
}

unsigned
xp_backend_position (XpBackend backend)
{
  uint8_t order[64];
  unsigned n = xp_backends_in_order (order);
  for (unsigned i = 0; i < n; i++)
    if (order[i] == backend)
      return i;
  return n;
}

/* The bit of that name, upper and lower case being one, that is in use or reserved; else -1. */
static int
find_taken (const char *name)
{
  for (unsigned bit = 0; bit < 64; bit++)
    if ((known & ~given_back) >> bit & 1 && g_ascii_strcasecmp (names_of[bit]->keys[0], name) == 0)
      return (int) bit;
  return -1;
}

static const Names *
names_called (const char *name)
{
  for (const Names *names = all_names; names != NULL; names = names->next)
    if (strcmp (names->keys[0], name) == 0)
      return names;
  Names *names = g_new (Names, 1);
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    names->keys[i] = g_strconcat (xp_per_backend[i].prefix, name, NULL);
  names->next = all_names;
  all_names = names;
  return names;
}

static int
reserve (const char *name)
{
  uint64_t named = XP_BIT (XP_BACKEND_LAST_NAMED + 1) - XP_BIT (XP_BACKEND_FIRST_NAMED);
  uint64_t free_bits = ~known & named;
  if (free_bits == 0)
    return XP_BACKEND_NONE_LEFT;
  int bit = __builtin_ctzll (free_bits);
  __atomic_store_n (&names_of[bit], names_called (name), __ATOMIC_RELEASE);
  incarnations[bit]++;
  __atomic_add_fetch (&holds[bit], 1, __ATOMIC_SEQ_CST);
  __atomic_store_n (&known, known | XP_BIT (bit), __ATOMIC_SEQ_CST);
  return bit;
}

int
xp_backend_reserve (const char *name, XpTaken *taken)
{
  int bit = XP_BACKEND_TAKEN;
  g_mutex_lock (&xp_backends_lock);
  taken->backend = find_taken (name);
  for (unsigned i = 0; i < XP_N_PER_BACKEND && taken->backend < 0 && taken->key == NULL; i++)
    {
      XpKey found;
      g_autofree char *text = g_strconcat (xp_per_backend[i].prefix, name, NULL);
      if (xp_key_parse (text, &found, NULL))
        taken->key = g_steal_pointer (&text);
    }
  if (taken->backend >= 0)
    {
      taken->is_in_use = (in_use >> taken->backend & 1) != 0;
      taken->name = names_of[taken->backend]->keys[0];
    }
  else if (taken->key == NULL)
    bit = reserve (name);
  g_mutex_unlock (&xp_backends_lock);
  return bit;
}

unsigned
xp_backend_incarnation (XpBackend backend)
{
  return __atomic_load_n (&incarnations[backend], __ATOMIC_RELAXED);
}

void
xp_backends_change (uint64_t gone, uint64_t added)
{
  g_mutex_lock (&xp_backends_lock);
  __atomic_store_n (&in_use, in_use & ~gone, __ATOMIC_SEQ_CST);
  __atomic_store_n (&given_back, (given_back | gone) & ~added, __ATOMIC_SEQ_CST);
  g_mutex_unlock (&xp_backends_lock);
}

void
xp_backends_bring (uint64_t added)
{
  g_mutex_lock (&xp_backends_lock);
  __atomic_store_n (&in_use, in_use | added, __ATOMIC_SEQ_CST);
  g_mutex_unlock (&xp_backends_lock);
}

void
xp_backend_hold (XpBackend backend)
{
  __atomic_add_fetch (&holds[backend], 1, __ATOMIC_SEQ_CST);
}

void
xp_backend_release (XpBackend backend)
{
  if (__atomic_sub_fetch (&holds[backend], 1, __ATOMIC_SEQ_CST) != 0
      || (load (&in_use) >> backend & 1) != 0)
    return;
  g_mutex_lock (&xp_backends_lock);
  if (load (&holds[backend]) == 0 && (in_use >> backend & 1) == 0)
    {
      __atomic_store_n (&known, known & ~XP_BIT (backend), __ATOMIC_SEQ_CST);
      __atomic_store_n (&given_back, given_back & ~XP_BIT (backend), __ATOMIC_SEQ_CST);
    }
  g_mutex_unlock (&xp_backends_lock);
}

XpFunctionality
xp_autograd_functionality_of (XpBackend backend)
{
  return backend == XP_BACKEND_HIP || backend == XP_BACKEND_VE
             ? XP_FUNCTIONALITY_AutogradOther
             : XP_FUNCTIONALITY_AutogradFunctionality;
}

XpFunctionality
xp_autocast_functionality_of (XpBackend backend)
{
  static const uint8_t autocast[64] = {
    [XP_BACKEND_CPU] = XP_FUNCTIONALITY_AutocastCPU,
    [XP_BACKEND_CUDA] = XP_FUNCTIONALITY_AutocastCUDA,
    [XP_BACKEND_XLA] = XP_FUNCTIONALITY_AutocastXLA,
    [XP_BACKEND_MPS] = XP_FUNCTIONALITY_AutocastMPS,
    [XP_BACKEND_IPU] = XP_FUNCTIONALITY_AutocastIPU,
    [XP_BACKEND_XPU] = XP_FUNCTIONALITY_AutocastXPU,
    [XP_BACKEND_HPU] = XP_FUNCTIONALITY_AutocastHPU,
    [XP_BACKEND_MTIA] = XP_FUNCTIONALITY_AutocastMTIA,
    [XP_BACKEND_MAIA] = XP_FUNCTIONALITY_AutocastMAIA,
    [XP_BACKEND_PrivateUse1] = XP_FUNCTIONALITY_AutocastPrivateUse1,
  };
  return (unsigned) backend < 64 ? autocast[backend] : XP_FUNCTIONALITY_Undefined;
}

bool
xp_autograd_has_own_backend (XpBackend backend)
{
  return backend != XP_BACKEND_HIP && backend != XP_BACKEND_VE && backend != XP_BACKEND_MTIA;
}
