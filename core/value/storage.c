/* SPDX-License-Identifier: MIT
 *
 * storage.c: memory of the host and of devices.
 */
#include "value/storage.h"

#include <stdlib.h>
#include <string.h>

XpPinHooks xp_pin_hooks;

static struct
{
  const XpMemoryClass *klass;
  void *owner;
} memories[64];

void *
xp_pin_at (const void *address)
{
  void *owner = xp_pin_hooks.owner_at != NULL ? xp_pin_hooks.owner_at (address) : NULL;
  if (owner != NULL)
    xp_pin_hooks.pin (owner);
  return owner;
}

void
xp_unpin (void *owner)
{
  if (owner != NULL)
    xp_pin_hooks.unpin (owner);
}

void
xp_memory_set (XpBackend backend, const XpMemoryClass *klass, void *owner)
{
  __atomic_store_n (&memories[backend].klass, NULL, __ATOMIC_SEQ_CST);
  __atomic_store_n (&memories[backend].owner, owner, __ATOMIC_SEQ_CST);
  __atomic_store_n (&memories[backend].klass, klass, __ATOMIC_SEQ_CST);
}

void
xp_backend_set_memory (XpBackend backend, const XpMemoryClass *klass)
{
  g_return_if_fail ((unsigned) backend < 64);
  g_return_if_fail (klass == NULL || klass->size >= sizeof *klass);
  g_return_if_fail (klass == NULL || klass->allocate == NULL || klass->deallocate != NULL);
  g_return_if_fail (klass == NULL || klass->allocate != NULL || backend != XP_BACKEND_CPU);
  if (xp_pin_hooks.keep_memory != NULL && xp_pin_hooks.keep_memory (backend, klass))
    return;
  void *owner = klass != NULL && xp_pin_hooks.owner_at != NULL ? xp_pin_hooks.owner_at (klass)
                                                               : NULL;
  xp_memory_set (backend, klass, owner);
}

bool
xp_memory_is_set (XpBackend backend)
{
  return __atomic_load_n (&memories[backend].klass, __ATOMIC_SEQ_CST) != NULL;
}

void
xp_memory_forget_backend (XpBackend backend)
{
  xp_memory_set (backend, NULL, NULL);
}

void
xp_memory_forget (void *owner)
{
  for (unsigned backend = 0; backend < 64; backend++)
    if (__atomic_load_n (&memories[backend].owner, __ATOMIC_SEQ_CST) == owner)
      xp_memory_forget_backend ((XpBackend) backend);
}

/* Pins the owner first and looks again after: either whoever takes the class back sees the pin, or
 * this sees that it is gone. */
static const XpMemoryClass *
pin_memory_class (XpBackend backend, void **owner)
{
  for (;;)
    {
      const XpMemoryClass *klass = __atomic_load_n (&memories[backend].klass, __ATOMIC_SEQ_CST);
      *owner = klass != NULL ? __atomic_load_n (&memories[backend].owner, __ATOMIC_SEQ_CST) : NULL;
      if (klass == NULL)
        return NULL;
      if (*owner != NULL)
        xp_pin_hooks.pin (*owner);
      if (__atomic_load_n (&memories[backend].klass, __ATOMIC_SEQ_CST) == klass)
        return klass;
      xp_unpin (*owner);
    }
}

static void
set_no_memory (size_t n_bytes, XpDevice device, GError **error)
{
  g_autofree char *name = xp_device_to_string (device);
  xp_error_set (error, XP_ERROR_NO_MEMORY, NULL,
                "no memory on %s for a tensor of %" G_GSIZE_FORMAT " bytes", name, n_bytes);
}

/* Memory of @storage->klass, or NULL. That of the host is read by kernels that rely on where it is.
 */
static void *
allocate_by_class (const XpStorage *storage, size_t n_bytes)
{
  int index = MAX (storage->device.index, 0);
  void *data = storage->klass->allocate (index, n_bytes);
  if (storage->device.backend != XP_BACKEND_CPU || (uintptr_t) data % XP_HOST_ALIGNMENT == 0)
    return data;
  g_critical ("expected host memory aligned to %d bytes from the memory class of CPU, found %p",
              XP_HOST_ALIGNMENT, data);
  storage->klass->deallocate (index, data, n_bytes);
  return NULL;
}

XpStorage *
xp_storage_new (size_t n_bytes, XpDevice device, GError **error)
{
  XpStorage storage = { .references = 1, .device = device, .n_bytes = n_bytes };
  bool has_memory = true;
  storage.klass = pin_memory_class ((XpBackend) device.backend, &storage.owner);
  if (storage.klass != NULL)
    {
      if (storage.klass->allocate != NULL && n_bytes > 0)
        has_memory = (storage.data = allocate_by_class (&storage, n_bytes)) != NULL;
    }
  else if (device.backend == XP_BACKEND_CPU)
    has_memory = n_bytes == 0 || posix_memalign (&storage.data, XP_HOST_ALIGNMENT, n_bytes) == 0;
  else
    {
      g_autofree char *name = xp_device_to_string (device);
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                    "no plugin that is loaded gives memory for the device '%s': load one that does",
                    name);
      return NULL;
    }
  if (has_memory)
    return g_memdup2 (&storage, sizeof storage);
  xp_unpin (storage.owner);
  set_no_memory (n_bytes, device, error);
  return NULL;
}

XpStorage *
xp_storage_ref (XpStorage *storage)
{
  __atomic_fetch_add (&storage->references, 1, __ATOMIC_RELAXED);
  return storage;
}

void
xp_storage_unref (XpStorage *storage)
{
  if (storage == NULL || __atomic_fetch_sub (&storage->references, 1, __ATOMIC_ACQ_REL) != 1)
    return;
  if (storage->klass == NULL)
    free (storage->data);
  else if (storage->data != NULL)
    storage->klass->deallocate (MAX (storage->device.index, 0), storage->data, storage->n_bytes);
  void *owner = storage->owner;
  g_free (storage);
  xp_unpin (owner);
}
