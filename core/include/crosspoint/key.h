/* SPDX-License-Identifier: MIT
 *
 * key.h: dispatch keys, the columns of the table, and sets of them.
 *
 * A backend is a device ("CPU", "CUDA"). A functionality is one level of processing ("Sparse",
 * "Autograd", "Tracer"). Six functionalities exist once for every backend; such a pair is a key of
 * its own ("SparseCPU"), every other functionality is one key. An alias key stands for many keys at
 * once and can only be registered to.
 *
 * Names, order and meaning are those of PyTorch's newest key list. Ours is two words instead of
 * one, so that plugins can name any number of devices: see xp_backend_register().
 */
#ifndef XP_KEY_H
#define XP_KEY_H

#include <crosspoint/macros.h>

G_BEGIN_DECLS

/* Backends, low to high priority: _ (name, bit). The bits between PrivateUse3 and Meta are given
 * out by name at run time. */
#define XP_BACKEND_LIST(_)                                                                         \
  _ (CPU, 0)                                                                                       \
  _ (CUDA, 1)                                                                                      \
  _ (HIP, 2)                                                                                       \
  _ (XLA, 3)                                                                                       \
  _ (MPS, 4)                                                                                       \
  _ (IPU, 5)                                                                                       \
  _ (XPU, 6)                                                                                       \
  _ (HPU, 7)                                                                                       \
  _ (VE, 8)                                                                                        \
  _ (Lazy, 9)                                                                                      \
  _ (MTIA, 10)                                                                                     \
  _ (MAIA, 11)                                                                                     \
  _ (PrivateUse1, 12)                                                                              \
  _ (PrivateUse2, 13)                                                                              \
  _ (PrivateUse3, 14)                                                                              \
  _ (Meta, 63)

/* Functionalities, low to high priority: _ (name, number). The bit in a key set equals the number;
 * bit 0 is never set. */
#define XP_FUNCTIONALITY_LIST(_)                                                                   \
  _ (Undefined, 0)                                                                                 \
  _ (Dense, 1)                                                                                     \
  _ (FPGA, 2)                                                                                      \
  _ (Vulkan, 3)                                                                                    \
  _ (Metal, 4)                                                                                     \
  _ (Quantized, 5)                                                                                 \
  _ (CustomRNGKeyId, 6)                                                                            \
  _ (MkldnnCPU, 7)                                                                                 \
  _ (Sparse, 8)                                                                                    \
  _ (SparseCsr, 9)                                                                                 \
  _ (NestedTensor, 10)                                                                             \
  _ (BackendSelect, 11)                                                                            \
  _ (Python, 12)                                                                                   \
  _ (Fake, 13)                                                                                     \
  _ (FuncTorchDynamicLayerBackMode, 14)                                                            \
  _ (Functionalize, 15)                                                                            \
  _ (Named, 16)                                                                                    \
  _ (Conjugate, 17)                                                                                \
  _ (Negative, 18)                                                                                 \
  _ (ZeroTensor, 19)                                                                               \
  _ (ADInplaceOrView, 20)                                                                          \
  _ (AutogradOther, 21)                                                                            \
  _ (AutogradFunctionality, 22)                                                                    \
  _ (AutogradNestedTensor, 23)                                                                     \
  _ (Tracer, 24)                                                                                   \
  _ (AutocastCPU, 25)                                                                              \
  _ (AutocastMTIA, 26)                                                                             \
  _ (AutocastMAIA, 27)                                                                             \
  _ (AutocastXPU, 28)                                                                              \
  _ (AutocastIPU, 29)                                                                              \
  _ (AutocastHPU, 30)                                                                              \
  _ (AutocastXLA, 31)                                                                              \
  _ (AutocastMPS, 32)                                                                              \
  _ (AutocastCUDA, 33)                                                                             \
  _ (AutocastPrivateUse1, 34)                                                                      \
  _ (FuncTorchBatched, 35)                                                                         \
  _ (BatchedNestedTensor, 36)                                                                      \
  _ (FuncTorchVmapMode, 37)                                                                        \
  _ (Batched, 38)                                                                                  \
  _ (VmapMode, 39)                                                                                 \
  _ (FuncTorchGradWrapper, 40)                                                                     \
  _ (DeferredInit, 41)                                                                             \
  _ (PythonTLSSnapshot, 42)                                                                        \
  _ (FuncTorchDynamicLayerFrontMode, 43)                                                           \
  _ (TESTING_ONLY_GenericWrapper, 44)                                                              \
  _ (TESTING_ONLY_GenericMode, 45)                                                                 \
  _ (PreDispatch, 46)                                                                              \
  _ (PythonDispatcher, 47)

/* Functionalities that exist once for every backend: _ (functionality, prefix of the key's name).
 */
#define XP_PER_BACKEND_LIST(_)                                                                     \
  _ (Dense, )                                                                                      \
  _ (Quantized, Quantized)                                                                         \
  _ (Sparse, Sparse)                                                                               \
  _ (SparseCsr, SparseCsr)                                                                         \
  _ (NestedTensor, NestedTensor)                                                                   \
  _ (AutogradFunctionality, Autograd)

/* Alias keys, in the order a dump prints them: _ (name, number). */
#define XP_ALIAS_LIST(_)                                                                           \
  _ (Autograd, 0)                                                                                  \
  _ (CompositeImplicitAutograd, 1)                                                                 \
  _ (FuncTorchBatchedDecomposition, 2)                                                             \
  _ (CompositeImplicitAutogradNestedTensor, 3)                                                     \
  _ (CompositeExplicitAutograd, 4)                                                                 \
  _ (CompositeExplicitAutogradNonFunctional, 5)

/**
 * XpBackend:
 *
 * The bit of a backend. Those of named devices are given out again: such a number, and an XpDevice
 * or XpKey made of it, means the device only while that is registered or a tensor of it lives, and
 * may mean another one later. Keep the name where you keep something longer.
 */
#define XP_BACKEND_ENUMERATOR_(name, bit) XP_BACKEND_##name = bit,
typedef enum
{
  XP_BACKEND_LIST (XP_BACKEND_ENUMERATOR_) XP_BACKEND_FIRST_NAMED = 15,
  XP_BACKEND_LAST_NAMED = 62
} XpBackend;

#define XP_FUNCTIONALITY_ENUMERATOR_(name, number) XP_FUNCTIONALITY_##name = number,
typedef enum
{
  XP_FUNCTIONALITY_LIST (XP_FUNCTIONALITY_ENUMERATOR_) XP_N_FUNCTIONALITIES = 48
} XpFunctionality;

/**
 * XpKey:
 *
 * One dispatch key. Compare keys with ==. The numbers are stable within a major version; take them
 * from the XP_KEY_ constants (XP_KEY_CPU, XP_KEY_SparseCUDA, XP_KEY_BackendSelect,
 * XP_KEY_CompositeImplicitAutograd …), from xp_key_of(), or from xp_key_parse().
 */
typedef uint32_t XpKey;

#define XP_KEY_MAKE_(functionality, backend_plus_one)                                              \
  ((uint32_t) (functionality) | (uint32_t) (backend_plus_one) << 8)
#define XP_KEY_ALIAS_BIT_ 0x10000u

#define XP_KEY_FUNCTIONALITY_ENUMERATOR_(name, number) XP_KEY_##name = number,
#define XP_KEY_ALIAS_ENUMERATOR_(name, number) XP_KEY_##name = (int) XP_KEY_ALIAS_BIT_ | number,
#define XP_KEY_DENSE_ENUMERATOR_(name, bit) XP_KEY_##name = (int) XP_KEY_MAKE_ (1, bit + 1),
#define XP_KEY_QUANTIZED_ENUMERATOR_(name, bit)                                                    \
  XP_KEY_Quantized##name = (int) XP_KEY_MAKE_ (5, bit + 1),
#define XP_KEY_SPARSE_ENUMERATOR_(name, bit) XP_KEY_Sparse##name = (int) XP_KEY_MAKE_ (8, bit + 1),
#define XP_KEY_SPARSE_CSR_ENUMERATOR_(name, bit)                                                   \
  XP_KEY_SparseCsr##name = (int) XP_KEY_MAKE_ (9, bit + 1),
#define XP_KEY_NESTED_ENUMERATOR_(name, bit)                                                       \
  XP_KEY_NestedTensor##name = (int) XP_KEY_MAKE_ (10, bit + 1),
#define XP_KEY_AUTOGRAD_ENUMERATOR_(name, bit)                                                     \
  XP_KEY_Autograd##name = (int) XP_KEY_MAKE_ (22, bit + 1),

enum
{
  XP_FUNCTIONALITY_LIST (XP_KEY_FUNCTIONALITY_ENUMERATOR_) XP_BACKEND_LIST (
      XP_KEY_DENSE_ENUMERATOR_) XP_BACKEND_LIST (XP_KEY_QUANTIZED_ENUMERATOR_)
      XP_BACKEND_LIST (XP_KEY_SPARSE_ENUMERATOR_) XP_BACKEND_LIST (XP_KEY_SPARSE_CSR_ENUMERATOR_)
          XP_BACKEND_LIST (XP_KEY_NESTED_ENUMERATOR_) XP_BACKEND_LIST (XP_KEY_AUTOGRAD_ENUMERATOR_)
              XP_ALIAS_LIST (XP_KEY_ALIAS_ENUMERATOR_)
};

/**
 * XpKeySet:
 * @functionality: a bit per functionality
 * @backend: a bit per backend
 *
 * A set of dispatch keys. It is a cross product: {CPU, AutogradCUDA} also holds CUDA and
 * AutogradCPU. Plain data; copy it, compare its words.
 */
typedef struct
{
  uint64_t functionality;
  uint64_t backend;
} XpKeySet;

#define XP_BIT(number) ((uint64_t) 1 << (number))

/* The functionalities that exist once for every backend. */
#define XP_PER_BACKEND_MASK                                                                        \
  (XP_BIT (XP_FUNCTIONALITY_Dense) | XP_BIT (XP_FUNCTIONALITY_Quantized)                           \
   | XP_BIT (XP_FUNCTIONALITY_Sparse) | XP_BIT (XP_FUNCTIONALITY_SparseCsr)                        \
   | XP_BIT (XP_FUNCTIONALITY_NestedTensor) | XP_BIT (XP_FUNCTIONALITY_AutogradFunctionality))

/* The autograd keys, as functionalities. */
#define XP_AUTOGRAD_MASK                                                                           \
  (XP_BIT (XP_FUNCTIONALITY_AutogradOther) | XP_BIT (XP_FUNCTIONALITY_AutogradFunctionality)       \
   | XP_BIT (XP_FUNCTIONALITY_AutogradNestedTensor))

/* All autocast keys; a thread excludes them until it enables autocast. */
#define XP_AUTOCAST_MASK                                                                           \
  ((XP_BIT (XP_FUNCTIONALITY_AutocastPrivateUse1 + 1) - 1)                                         \
   & ~(XP_BIT (XP_FUNCTIONALITY_AutocastCPU) - 1))

/* What every thread includes and excludes to begin with. */
#define XP_DEFAULT_INCLUDED                                                                        \
  (XP_BIT (XP_FUNCTIONALITY_BackendSelect) | XP_BIT (XP_FUNCTIONALITY_ADInplaceOrView))
#define XP_DEFAULT_EXCLUDED XP_AUTOCAST_MASK

/**
 * xp_key_is_alias:
 *
 * Returns: whether @key stands for many keys and can only be registered to
 */
static inline bool
xp_key_is_alias (XpKey key)
{
  return (key & XP_KEY_ALIAS_BIT_) != 0;
}

/**
 * xp_key_functionality:
 *
 * Returns: the functionality of @key; Undefined for an alias key
 */
static inline XpFunctionality
xp_key_functionality (XpKey key)
{
  return xp_key_is_alias (key) ? XP_FUNCTIONALITY_Undefined : (XpFunctionality) (key & 0xff);
}

/**
 * xp_key_backend:
 *
 * Returns: the backend of a per-backend @key, or -1 where it has none
 */
static inline int
xp_key_backend (XpKey key)
{
  return xp_key_is_alias (key) ? -1 : (int) (key >> 8 & 0xff) - 1;
}

/**
 * xp_functionality_is_per_backend:
 *
 * Returns: whether @functionality exists once for every backend
 */
static inline bool
xp_functionality_is_per_backend (XpFunctionality functionality)
{
  return (XP_PER_BACKEND_MASK >> functionality & 1) != 0;
}

/**
 * xp_key_of:
 * @functionality: a functionality
 * @backend: a backend; ignored where @functionality is not per-backend
 *
 * Returns: the key of that pair, as XP_KEY_SparseCPU is of Sparse and CPU
 */
static inline XpKey
xp_key_of (XpFunctionality functionality, unsigned backend)
{
  return XP_KEY_MAKE_ (functionality,
                       xp_functionality_is_per_backend (functionality) ? backend + 1 : 0);
}

/**
 * xp_key_is_runtime:
 *
 * A runtime key owns exactly one cell of each row: a functionality that is not per-backend
 * (Undefined included), or a pair of functionality and backend. Alias keys and bare per-backend
 * functionalities
 * ("Dense") are not.
 *
 * Returns: whether @key is one
 */
static inline bool
xp_key_is_runtime (XpKey key)
{
  return !xp_key_is_alias (key)
         && xp_functionality_is_per_backend (xp_key_functionality (key))
                == (xp_key_backend (key) >= 0);
}

/**
 * xp_key_name:
 * @key: any key
 *
 * The name of a key as PyTorch prints it: "CPU", "SparseCPU", "AutogradCUDA", "BackendSelect",
 * "CompositeImplicitAutograd". A bare per-backend functionality prints its own name ("Dense").
 *
 * Returns: (transfer none): a name that lives as long as the process; "UnknownUnknown" for a number
 *   that is no key
 */
XP_PUBLIC const char *xp_key_name (XpKey key);

/**
 * xp_key_parse:
 * @name: the name of a key, case-sensitive
 * @key: (out): the key
 * @error: return location for an error
 *
 * Every name that xp_key_name() gives is understood, those of named backends included; "CatchAll"
 * and PyTorch's other old synonyms are not.
 *
 * Errors: %XP_ERROR_UNKNOWN_KEY, with the nearest names.
 *
 * Returns: %TRUE where @name is a key
 */
XP_PUBLIC gboolean xp_key_parse (const char *name, XpKey *key, GError **error);

/**
 * xp_key_compare:
 *
 * Orders keys as a dump does: functionalities, then one block of backends per per-backend
 * functionality, then the alias keys. (Reference 1.6.)
 *
 * Returns: negative, zero or positive, as strcmp() does
 */
XP_PUBLIC int xp_key_compare (XpKey a, XpKey b);

/**
 * xp_key_list:
 * @n_keys: (out): how many
 *
 * Every runtime key there is now, Undefined first, in set order: functionality by functionality,
 * lowest priority first, each with its backends; named backends stand sorted by name before Meta.
 *
 * Returns: (transfer full): an array; free it with g_free()
 */
XP_PUBLIC XpKey *xp_key_list (unsigned *n_keys);

/**
 * xp_key_runtime_keys:
 * @key: any key
 * @n_keys: (out): how many
 *
 * The runtime keys that @key stands for, in set order: itself; those of an alias key, as
 * xp_alias_contains() says; of a bare per-backend functionality ("Sparse") those of every backend.
 *
 * Returns: (transfer full): an array; free it with g_free()
 */
XP_PUBLIC XpKey *xp_key_runtime_keys (XpKey key, unsigned *n_keys);

/**
 * xp_key_is_backend:
 *
 * Returns: whether @key is where the kernels of a backend stand: dense, quantized and sparse keys
 * of every backend, and the backends that are a functionality of their own (FPGA, Vulkan, Metal,
 *   MkldnnCPU, CustomRNGKeyId); NestedTensor keys are not among them, nor is Undefined
 */
XP_PUBLIC bool xp_key_is_backend (XpKey key);

/**
 * xp_alias_contains:
 * @alias: an alias key; a runtime key contains itself
 * @key: a runtime key, or a bare per-backend functionality
 *
 * Returns: whether a kernel registered to @alias may fill the cell of @key (reference, section 2);
 *   %FALSE for Undefined, %TRUE for an alias key, which is the empty set
 */
XP_PUBLIC bool xp_alias_contains (XpKey alias, XpKey key);

/**
 * xp_backend_register:
 * @name: a device name such as "npu": a letter, then letters and digits
 * @backend: (out): its bit
 * @error: return location for an error
 *
 * Gives a device a bit of its own, below Meta. Its keys are named after it: "npu", "Sparsenpu",
 * "Autogradnpu", the last of which is passed over until it has a kernel; the device is the name in
 * lower case, "npu:0". The device belongs to the plugin whose code calls this, or to the program;
 * its owner gets the same bit again when it asks again. In a plugin's constructor or probe it is
 * part of the load, and nobody else sees it before that has succeeded: see XP_BACKEND(). In a swap
 * the name passes over from the old plugin, with its bit and its tensors.
 *
 * Publishes every row that has kernels anew, which takes milliseconds where there are thousands: an
 * alias kernel or fallback of any of them may serve the new keys, and calls test for nothing. In a
 * load that is done once for all it brings.
 *
 * Errors: %XP_ERROR_BACKEND_EXISTS when the name is taken (it names the owner), or another thread
 * is just registering it, %XP_ERROR_INVALID_ARGUMENT for a malformed name, %XP_ERROR_LIMIT when all
 * 48 bits are in use or held by tensors of devices that were given back,
 * %XP_ERROR_PLUGIN_NOT_LOADED when the plugin has begun to leave.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_backend_register (const char *name, XpBackend *backend, GError **error);

/**
 * xp_backend_unregister:
 * @name: the name of a device that the caller has registered
 * @error: return location for an error
 *
 * Gives the bit of a device back; unloading a plugin does that for its own. A call with a tensor of
 * the device fails with %XP_ERROR_STALE_DEVICE from then on; the bit is given to no other device
 * before the last of them is gone, but may be then: see XpBackend. The name may be registered again
 * at once, and gets a fresh bit.
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT where the caller has no such device, %XP_ERROR_IN_USE where
 * kernels or fallbacks of others are registered to its keys, %XP_ERROR_NESTED_LOAD in a
 * constructor.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_backend_unregister (const char *name, GError **error);

/**
 * xp_backend_name:
 *
 * Returns: (transfer none): the name of the dense key of @backend ("CPU", "npu"), also while
 *   tensors of it outlive it, or %NULL for a bit without a name; lives as long as the process
 */
XP_PUBLIC const char *xp_backend_name (XpBackend backend);

/**
 * xp_backends_in_use:
 *
 * Returns: a bit for every backend that a tensor can be made on: the built-in ones, and those that
 *   are registered
 */
XP_PUBLIC uint64_t xp_backends_in_use (void);

/**
 * xp_autograd_functionality_of:
 * @backend: a backend
 *
 * The autograd functionality that a tensor of @backend carries: AutogradOther for HIP and VE, whose
 * own autograd cells PyTorch never reaches, AutogradFunctionality for all others.
 */
XP_PUBLIC XpFunctionality xp_autograd_functionality_of (XpBackend backend);

/**
 * xp_autograd_backends:
 * @key: a key
 *
 * The backends whose kernels keep a CompositeImplicitAutograd kernel out of the autograd key @key:
 * {CPU} for AutogradCPU, the NestedTensor keys for AutogradNestedTensor, what
 * xp_autograd_other_backends() says for AutogradOther. AutogradHIP, AutogradVE and AutogradMTIA
 * have none, nor have keys that are not for autograd.
 *
 * Returns: the set of them
 */
XP_PUBLIC XpKeySet xp_autograd_backends (XpKey key);

/**
 * xp_autograd_other_backends:
 *
 * Returns: the keys that share AutogradOther as far as composites go: FPGA, Vulkan, Metal,
 *   CustomRNGKeyId, MkldnnCPU, and the sparse and quantized keys of every backend
 */
XP_PUBLIC XpKeySet xp_autograd_other_backends (void);

/**
 * xp_autocast_functionality_of:
 * @backend: a backend
 *
 * Returns: the autocast key that a tensor of @backend carries, or Undefined where there is none
 */
XP_PUBLIC XpFunctionality xp_autocast_functionality_of (XpBackend backend);

/**
 * xp_key_set:
 *
 * Returns: the set that holds @key; the empty set for an alias key or Undefined
 */
static inline XpKeySet
xp_key_set (XpKey key)
{
  XpKeySet set = { 0, 0 };
  if (!xp_key_is_alias (key) && xp_key_functionality (key) != XP_FUNCTIONALITY_Undefined)
    {
      set.functionality = XP_BIT (xp_key_functionality (key));
      if (xp_key_backend (key) >= 0)
        set.backend = XP_BIT (xp_key_backend (key));
    }
  return set;
}

static inline XpKeySet
xp_key_set_union (XpKeySet a, XpKeySet b)
{
  return (XpKeySet){ a.functionality | b.functionality, a.backend | b.backend };
}

/**
 * xp_key_set_symmetric_difference:
 *
 * Returns: the bits that are in one of them only; backend bits too, other than in a difference
 */
static inline XpKeySet
xp_key_set_symmetric_difference (XpKeySet a, XpKeySet b)
{
  return (XpKeySet){ a.functionality ^ b.functionality, a.backend ^ b.backend };
}

static inline XpKeySet
xp_key_set_intersection (XpKeySet a, XpKeySet b)
{
  return (XpKeySet){ a.functionality & b.functionality, a.backend & b.backend };
}

/**
 * xp_key_set_difference:
 *
 * Takes the functionalities of @b away from @a. Backend bits always stay (reference 1.2): {CPU} -
 * {CPU} is not empty, though it prints as empty.
 */
static inline XpKeySet
xp_key_set_difference (XpKeySet a, XpKeySet b)
{
  return (XpKeySet){ a.functionality & ~b.functionality, a.backend };
}

static inline bool
xp_key_set_equal (XpKeySet a, XpKeySet b)
{
  return a.functionality == b.functionality && a.backend == b.backend;
}

static inline bool
xp_key_set_is_empty (XpKeySet set)
{
  return set.functionality == 0 && set.backend == 0;
}

/**
 * xp_key_set_has_all:
 *
 * Returns: whether every bit of @b is in @a; the empty set is in every set
 */
static inline bool
xp_key_set_has_all (XpKeySet a, XpKeySet b)
{
  return (a.functionality & b.functionality) == b.functionality
         && (a.backend & b.backend) == b.backend;
}

static inline bool
xp_key_set_has (XpKeySet set, XpKey key)
{
  return xp_key_set_has_all (set, xp_key_set (key));
}

static inline bool
xp_key_set_has_any (XpKeySet a, XpKeySet b)
{
  return (a.functionality & b.functionality) != 0 || (a.backend & b.backend) != 0;
}

static inline XpKeySet
xp_key_set_add (XpKeySet set, XpKey key)
{
  return xp_key_set_union (set, xp_key_set (key));
}

/**
 * xp_key_set_remove:
 *
 * Takes the functionality of @key away; backend bits stay
 */
static inline XpKeySet
xp_key_set_remove (XpKeySet set, XpKey key)
{
  return xp_key_set_difference (set, xp_key_set (key));
}

/**
 * xp_key_set_remove_backend:
 *
 * Takes the bit of @backend away; functionalities stay
 */
static inline XpKeySet
xp_key_set_remove_backend (XpKeySet set, XpBackend backend)
{
  return (XpKeySet){ set.functionality, set.backend & ~XP_BIT (backend) };
}

static inline bool
xp_key_set_has_backend (XpKeySet set, XpBackend backend)
{
  return (set.backend >> backend & 1) != 0;
}

/**
 * xp_key_set_highest_functionality:
 *
 * Returns: the functionality of highest priority; Undefined where there is none
 */
static inline XpFunctionality
xp_key_set_highest_functionality (XpKeySet set)
{
  return (XpFunctionality) (63 - __builtin_clzll (set.functionality | 1));
}

/**
 * xp_key_set_highest_backend:
 *
 * Returns: the backend of highest priority, or -1 where there is none
 */
static inline int
xp_key_set_highest_backend (XpKeySet set)
{
  return set.backend == 0 ? -1 : 63 - __builtin_clzll (set.backend);
}

/**
 * xp_key_set_full:
 *
 * Returns: the set with every functionality and every backend
 */
static inline XpKeySet
xp_key_set_full (void)
{
  return (XpKeySet){ (XP_BIT (XP_N_FUNCTIONALITIES) - 1) & ~(uint64_t) 1, ~(uint64_t) 0 };
}

/**
 * xp_key_set_after:
 * @key: a runtime key
 *
 * What a kernel at @key passes on: every key of lower priority than the functionality of @key, and
 * PythonDispatcher always (FULL_AFTER in reference 1.2). Intersect it with the call's key set and
 * redispatch.
 */
static inline XpKeySet
xp_key_set_after (XpKey key)
{
  return (XpKeySet){ ((XP_BIT (xp_key_functionality (key)) - 1) & ~(uint64_t) 1)
                         | XP_BIT (XP_FUNCTIONALITY_PythonDispatcher),
                     ~(uint64_t) 0 };
}

/**
 * xp_key_set_highest:
 *
 * The key a call with @set goes to: its highest functionality, and, where that is per-backend, its
 * highest backend; CPU where the set has no backend (reference 1.3).
 *
 * Returns: a runtime key; Undefined for a set without functionality
 */
static inline XpKey
xp_key_set_highest (XpKeySet set)
{
  XpFunctionality functionality = (XpFunctionality) (63 - __builtin_clzll (set.functionality | 1));
  return xp_key_of (functionality, 63 - (unsigned) __builtin_clzll (set.backend | 1));
}

/**
 * xp_key_set_to_string:
 *
 * As PyTorch prints it: `DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU)`, lowest priority first.
 * A per-backend functionality without a backend prints nothing, nor does a backend without one.
 *
 * Returns: (transfer full): the text
 */
XP_PUBLIC char *xp_key_set_to_string (XpKeySet set);

/**
 * xp_key_set_keys:
 * @set: a set
 * @n_keys: (out): how many
 *
 * Returns: (transfer full): the keys in @set in set order, as it prints; free with g_free()
 */
XP_PUBLIC XpKey *xp_key_set_keys (XpKeySet set, unsigned *n_keys);

G_END_DECLS

#endif
