/* SPDX-License-Identifier: MIT
 *
 * alias.c: which cells an alias key stands for (reference, section 2).
 */
#include "keys/keys.h"

/* The ordinals of XP_PER_BACKEND_LIST. */
enum
{
  DENSE,
  QUANTIZED,
  SPARSE,
  SPARSE_CSR,
  NESTED_TENSOR,
  AUTOGRAD
};

/* Backends that are a functionality of their own. They have no bit, so their autograd key is
 * AutogradOther. */
#define SINGLE_BACKENDS                                                                            \
  (XP_BIT (XP_FUNCTIONALITY_FPGA) | XP_BIT (XP_FUNCTIONALITY_Vulkan)                               \
   | XP_BIT (XP_FUNCTIONALITY_Metal) | XP_BIT (XP_FUNCTIONALITY_CustomRNGKeyId)                    \
   | XP_BIT (XP_FUNCTIONALITY_MkldnnCPU))

#define ALL ~(uint64_t) 0
#define ALL_BUT_LAZY ~(XP_BIT (XP_BACKEND_XLA) | XP_BIT (XP_BACKEND_Lazy))
#define SINGLE_AUTOGRAD                                                                            \
  (XP_BIT (XP_FUNCTIONALITY_AutogradOther) | XP_BIT (XP_FUNCTIONALITY_AutogradNestedTensor))

static const XpAliasCover covers[] = {
  [XP_KEY_Autograd ^ XP_KEY_ALIAS_BIT_] = { SINGLE_AUTOGRAD, { [AUTOGRAD] = ALL } },
  [XP_KEY_CompositeImplicitAutograd ^ XP_KEY_ALIAS_BIT_] = { SINGLE_BACKENDS | SINGLE_AUTOGRAD,
                                                             { ALL, ALL, ALL, ALL, ALL, ALL } },
  [XP_KEY_FuncTorchBatchedDecomposition ^ XP_KEY_ALIAS_BIT_]
  = { XP_BIT (XP_FUNCTIONALITY_FuncTorchBatched), { 0 } },
  [XP_KEY_CompositeImplicitAutogradNestedTensor ^ XP_KEY_ALIAS_BIT_]
  = { XP_BIT (XP_FUNCTIONALITY_AutogradNestedTensor), { [NESTED_TENSOR] = ALL } },
  [XP_KEY_CompositeExplicitAutograd ^ XP_KEY_ALIAS_BIT_]
  = { SINGLE_BACKENDS, { [DENSE] = ALL, [QUANTIZED] = ALL, [SPARSE] = ALL, [SPARSE_CSR] = ALL } },
  [XP_KEY_CompositeExplicitAutogradNonFunctional ^ XP_KEY_ALIAS_BIT_]
  = { SINGLE_BACKENDS,
      { [DENSE] = ALL_BUT_LAZY, [QUANTIZED] = ALL_BUT_LAZY, [SPARSE_CSR] = ALL_BUT_LAZY } },
};

XpAliasCover
xp_alias_cover (XpKey alias)
{
  return covers[alias ^ XP_KEY_ALIAS_BIT_];
}

bool
xp_alias_contains (XpKey alias, XpKey key)
{
  if (xp_key_is_alias (key))
    return true; /* an alias key is the empty set */
  if (!xp_key_is_alias (alias))
    return key != XP_KEY_Undefined && xp_key_set_has (xp_key_set (alias), key);
  g_return_val_if_fail ((alias ^ XP_KEY_ALIAS_BIT_) < XP_LENGTH (covers), false);
  const XpAliasCover *cover = &covers[alias ^ XP_KEY_ALIAS_BIT_];
  int backend = xp_key_backend (key);
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    if (xp_per_backend[i].functionality == xp_key_functionality (key))
      return backend >= 0 ? (cover->backends[i] >> backend & 1) != 0 : cover->backends[i] != 0;
  return (cover->functionality >> xp_key_functionality (key) & 1) != 0;
}

XpKey *
xp_key_runtime_keys (XpKey key, unsigned *n_keys)
{
  g_return_val_if_fail (n_keys != NULL, NULL);
  bool is_bare = !xp_key_is_alias (key) && !xp_key_is_runtime (key);
  unsigned n = 0;
  XpKey *keys = xp_key_list (n_keys);
  for (unsigned i = 0; i < *n_keys; i++)
    if (keys[i] == key || (xp_key_is_alias (key) && xp_alias_contains (key, keys[i]))
        || (is_bare && xp_key_functionality (keys[i]) == xp_key_functionality (key)))
      keys[n++] = keys[i];
  *n_keys = n;
  return keys;
}

#define OTHER_BACKENDS                                                                             \
  (SINGLE_BACKENDS | XP_BIT (XP_FUNCTIONALITY_Sparse) | XP_BIT (XP_FUNCTIONALITY_SparseCsr)        \
   | XP_BIT (XP_FUNCTIONALITY_Quantized))

bool
xp_key_maps_to_autograd_other (XpKey key)
{
  return (OTHER_BACKENDS >> xp_key_functionality (key) & 1) != 0;
}

XpKeySet
xp_autograd_other_backends (void)
{
  return (XpKeySet){ OTHER_BACKENDS, ALL };
}

bool
xp_key_is_backend (XpKey key)
{
  return xp_key_maps_to_autograd_other (key)
         || xp_key_functionality (key) == XP_FUNCTIONALITY_Dense;
}

XpKeySet
xp_autograd_backends (XpKey key)
{
  switch (xp_key_functionality (key))
    {
    case XP_FUNCTIONALITY_AutogradFunctionality:
      {
        int backend = xp_key_backend (key);
        if (backend >= 0 && xp_autograd_has_own_backend ((XpBackend) backend))
          return xp_key_set (xp_key_of (XP_FUNCTIONALITY_Dense, (unsigned) backend));
        return (XpKeySet){ 0, 0 };
      }
    case XP_FUNCTIONALITY_AutogradNestedTensor:
      return (XpKeySet){ XP_BIT (XP_FUNCTIONALITY_NestedTensor), ALL };
    case XP_FUNCTIONALITY_AutogradOther:
      return xp_autograd_other_backends ();
    default:
      return (XpKeySet){ 0, 0 };
    }
}
