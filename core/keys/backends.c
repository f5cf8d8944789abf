/* SPDX-License-Identifier: MIT
 *
 * backends.c: which backend has which bit and name: the built-in ones, and those that plugins name.
 *
 * Names are published with a release store and never taken away, so reading takes no lock.
 */
#include "keys/backends.h"

#include <string.h>

typedef struct
{
  /* The names of the backend's six keys; [0] is its own. */
  const char *key_names[XP_N_PER_BACKEND];
  char *owner;
} Backend;

#define BUILT_IN(name, bit)                                                                        \
  [bit] = { { #name, "Quantized" #name, "Sparse" #name, "SparseCsr" #name, "NestedTensor" #name,   \
              "Autograd" #name },                                                                  \
            NULL },
static Backend backends[64] = { XP_BACKEND_LIST (BUILT_IN) };

#define BUILT_IN_BIT(name, bit) | XP_BIT (bit)
static uint64_t in_use = 0 XP_BACKEND_LIST (BUILT_IN_BIT);

GMutex xp_backends_lock;

XpBackendHooks xp_backend_hooks;

uint64_t
xp_backends_in_use (void)
{
  return __atomic_load_n (&in_use, __ATOMIC_ACQUIRE);
}

const char *
xp_backend_key_name (XpBackend backend, unsigned ordinal)
{
  if ((unsigned) backend > 63 || (xp_backends_in_use () >> backend & 1) == 0)
    return NULL;
  return backends[backend].key_names[ordinal];
}

const char *
xp_backend_name (XpBackend backend)
{
  return xp_backend_key_name (backend, 0);
}

int
xp_backend_find (const char *name)
{
  uint64_t bits = xp_backends_in_use ();
  for (; bits != 0; bits &= bits - 1)
    {
      int bit = __builtin_ctzll (bits);
      if (strcmp (backends[bit].key_names[0], name) == 0)
        return bit;
    }
  return -1;
}

unsigned
xp_backends_in_order (uint8_t order[64])
{
  uint64_t bits = xp_backends_in_use ();
  unsigned n = 0;
  for (unsigned bit = 0; bit < XP_BACKEND_FIRST_NAMED; bit++)
    order[n++] = (uint8_t) bit;
  for (unsigned bit = XP_BACKEND_FIRST_NAMED; bit <= XP_BACKEND_LAST_NAMED; bit++)
    if (bits >> bit & 1)
      {
        unsigned at = n++;
        for (; at > XP_BACKEND_FIRST_NAMED
               && strcmp (backends[order[at - 1]].key_names[0], backends[bit].key_names[0]) > 0;
             at--)
          order[at] = order[at - 1];
        order[at] = (uint8_t) bit;
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

static gboolean
name_is_well_formed (const char *name)
{
  if (!g_ascii_isalpha (name[0]) || strlen (name) > 32)
    return FALSE;
  for (const char *c = name; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c))
      return FALSE;
  return TRUE;
}

/* Whether a key, or a device, of that name would be something else already; the owner where known.
 */
static gboolean
name_is_taken (const char *name, char **owner)
{
  for (unsigned bit = 0; bit < 64; bit++)
    if (in_use >> bit & 1 && g_ascii_strcasecmp (backends[bit].key_names[0], name) == 0)
      {
        *owner = g_strdup (backends[bit].owner != NULL ? backends[bit].owner : "core");
        return TRUE;
      }
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    {
      g_autofree char *key_name = g_strconcat (xp_per_backend[i].prefix, name, NULL);
      XpKey key;
      if (xp_key_parse (key_name, &key, NULL))
        {
          *owner = g_strdup_printf ("the key %s", key_name);
          return TRUE;
        }
    }
  return FALSE;
}

static int
add_backend (const char *name, const char *owner)
{
  uint64_t free_bits = ~in_use
                       & (XP_BIT (XP_BACKEND_LAST_NAMED + 1) - XP_BIT (XP_BACKEND_FIRST_NAMED));
  if (free_bits == 0)
    return -1;
  int bit = __builtin_ctzll (free_bits);
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    backends[bit].key_names[i] = g_strconcat (xp_per_backend[i].prefix, name, NULL);
  backends[bit].owner = g_strdup (owner);
  __atomic_store_n (&in_use, in_use | XP_BIT (bit), __ATOMIC_RELEASE);
  return bit;
}

gboolean
xp_backend_register (const char *name, XpBackend *backend, GError **error)
{
  g_return_val_if_fail (name != NULL && backend != NULL, FALSE);
  if (!name_is_well_formed (name))
    {
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                    "'%s' is no name for a device: expected a letter, then letters and digits, 32 "
                    "at most",
                    name);
      return FALSE;
    }
  const char *owner = xp_backend_hooks.owner != NULL ? xp_backend_hooks.owner () : "the program";
  g_autofree char *other = NULL;
  int bit;

  g_mutex_lock (&xp_backends_lock);
  int known = xp_backend_find (name);
  if (known >= XP_BACKEND_FIRST_NAMED && known <= XP_BACKEND_LAST_NAMED
      && strcmp (backends[known].owner, owner) == 0)
    bit = known;
  else if (name_is_taken (name, &other))
    bit = -2;
  else
    bit = add_backend (name, owner);
  g_mutex_unlock (&xp_backends_lock);

  if (bit == -2)
    xp_error_set (error, XP_ERROR_BACKEND_EXISTS,
                  &(XpErrorDetails){ .plugin = other, .key = (char *) name },
                  "the device name '%s' is taken by %s; %s asks for it too", name, other, owner);
  else if (bit == -1)
    xp_error_set (error, XP_ERROR_LIMIT, NULL,
                  "no bit is left for the device '%s': all %d are in use", name,
                  XP_BACKEND_LAST_NAMED - XP_BACKEND_FIRST_NAMED + 1);
  if (bit < 0)
    return FALSE;
  if (xp_backend_hooks.added != NULL)
    xp_backend_hooks.added ();
  *backend = (XpBackend) bit;
  return TRUE;
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
