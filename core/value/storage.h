/* SPDX-License-Identifier: MIT
 *
 * storage.h: the memory that tensors look at, and who keeps it mapped.
 */
#pragma once

#include <crosspoint/tensor.h>

/* What the layer that owns plugins installs, so that whatever points into a plugin keeps it. An
 * owner is NULL for the program and the core. */
typedef struct
{
  void *(*owner_at) (const void *address);
  void (*pin) (void *owner);
  void (*unpin) (void *owner);
  /* Keeps a memory class until its plugin is loaded; false where none is being loaded. */
  bool (*keep_memory) (XpBackend backend, const XpMemoryClass *klass);
} XpPinHooks;

extern XpPinHooks xp_pin_hooks;

/* The owner of @address with a pin; NULL where nobody's. */
void *xp_pin_at (const void *address);
void xp_unpin (void *owner);

typedef struct XpStorage
{
  uint32_t references;
  XpDevice device;
  void *data;
  size_t n_bytes;
  uint64_t version;
  const XpMemoryClass *klass; /* NULL for the core's own host memory */
  void *owner;                /* whom klass belongs to */
} XpStorage;

/* Memory for @n_bytes on @device; @n_bytes fits in int64_t. */
XpStorage *xp_storage_new (size_t n_bytes, XpDevice device, GError **error);
XpStorage *xp_storage_ref (XpStorage *storage);
void xp_storage_unref (XpStorage *storage);

/* Makes @klass of @owner that of @backend; %NULL for none. */
void xp_memory_set (XpBackend backend, const XpMemoryClass *klass, void *owner);

/* Whether anybody gives memory for @backend. */
bool xp_memory_is_set (XpBackend backend);

/* Takes back every memory class that @owner has set. */
void xp_memory_forget (void *owner);

/* Takes back the memory class of a backend that is given back. */
void xp_memory_forget_backend (XpBackend backend);

/* Whether tensors made now carry no autograd keys, on this thread. */
bool xp_inference_mode (void);
void xp_set_inference_mode (bool enabled);

/* The memory of a strided tensor; NULL for another layout. */
const XpStorage *xp_tensor_storage (const XpTensor *tensor);

/* The class of a tensor of another layout than strided, or NULL. */
const XpLayoutClass *xp_tensor_layout_class (const XpTensor *tensor);
