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
  g_return_val_if_fail (xp_key_is_alias (alias), false);
  const XpAliasCover *cover = &covers[alias ^ XP_KEY_ALIAS_BIT_];
  if (xp_key_is_alias (key))
    return true; /* an alias key is the empty set */
  int backend = xp_key_backend (key);
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    if (xp_per_backend[i].functionality == xp_key_functionality (key))
      return backend >= 0 ? (cover->backends[i] >> backend & 1) != 0 : cover->backends[i] != 0;
  return (cover->functionality >> xp_key_functionality (key) & 1) != 0;
}

bool
xp_key_maps_to_autograd_other (XpKey key)
{
  XpFunctionality functionality = xp_key_functionality (key);
  return (SINGLE_BACKENDS >> functionality & 1) != 0 || functionality == XP_FUNCTIONALITY_Sparse
         || functionality == XP_FUNCTIONALITY_SparseCsr
         || functionality == XP_FUNCTIONALITY_Quantized;
}
