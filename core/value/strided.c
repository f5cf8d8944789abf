/* SPDX-License-Identifier: MIT
 *
 * strided.c: copies of strided tensors, element by element as bytes, and which memory they cover.
 */
#include "value/strided.h"
#include "value/storage.h"

#include <crosspoint/kernel.h>
#include <stdlib.h>
#include <string.h>

/* A tensor's elements in host memory: its own, or a copy of its storage. */
typedef struct
{
  char *first;   /* the first element */
  char *storage; /* the copy, or NULL */
} HostElements;

static bool
is_in_host_memory (const XpTensor *tensor)
{
  return xp_tensor_device (tensor).backend == XP_BACKEND_CPU;
}

static gboolean
host_elements_begin (HostElements *host, const XpTensor *tensor, GError **error)
{
  const XpStorage *storage = xp_tensor_storage (tensor);
  *host = (HostElements){ xp_tensor_data (tensor), NULL };
  if (is_in_host_memory (tensor))
    return TRUE;
  if (storage->klass == NULL || storage->klass->to_host == NULL
      || storage->klass->from_host == NULL)
    {
      g_autofree char *device = xp_device_to_string (xp_tensor_device (tensor));
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                    "a tensor on %s cannot be copied: its memory cannot be reached from the host",
                    device);
      return FALSE;
    }
  host->storage = g_try_malloc (storage->n_bytes);
  if (host->storage == NULL)
    {
      xp_error_set (error, XP_ERROR_NO_MEMORY, NULL,
                    "no memory for %" G_GSIZE_FORMAT " bytes of a tensor on their way through the "
                    "host",
                    storage->n_bytes);
      return FALSE;
    }
  host->first = host->storage + ((char *) xp_tensor_data (tensor) - (char *) storage->data);
  if (storage->klass->to_host (MAX (storage->device.index, 0), host->storage, storage->data,
                               storage->n_bytes, error))
    return TRUE;
  g_clear_pointer (&host->storage, g_free);
  return FALSE;
}

static gboolean
host_elements_end (HostElements *host, const XpTensor *written, GError **error)
{
  gboolean done = TRUE;
  if (host->storage != NULL && written != NULL)
    {
      const XpStorage *storage = xp_tensor_storage (written);
      done = storage->klass->from_host (MAX (storage->device.index, 0), storage->data,
                                        host->storage, storage->n_bytes, error);
    }
  g_free (host->storage);
  return done;
}

/* From one dimension inwards. */
static void
copy_bytes (char *to, const int64_t *to_strides, const char *from, const int64_t *from_strides,
            XpInts shape, size_t size)
{
  if (shape.length == 0)
    {
      memcpy (to, from, size);
      return;
    }
  if (shape.length == 1 && to_strides[0] == 1 && from_strides[0] == 1)
    {
      memcpy (to, from, (size_t) shape.data[0] * size);
      return;
    }
  XpInts rest = { shape.data + 1, shape.length - 1 };
  for (int64_t i = 0; i < shape.data[0]; i++)
    copy_bytes (to + i * to_strides[0] * (int64_t) size, to_strides + 1,
                from + i * from_strides[0] * (int64_t) size, from_strides + 1, rest, size);
}

gboolean
xp_tensor_copy_elements (XpTensor *to, const XpTensor *from, GError **error)
{
  HostElements source, target;
  if (from->numel == 0 || xp_tensor_data (from) == NULL)
    return TRUE;
  if (!host_elements_begin (&source, from, error))
    return FALSE;
  gboolean done = host_elements_begin (&target, to, error);
  if (done)
    {
      copy_bytes (target.first, to->dl.strides, source.first, from->dl.strides,
                  xp_tensor_shape (from), xp_dtype_size (xp_tensor_dtype (from)));
      done = host_elements_end (&target, to, error);
    }
  host_elements_end (&source, NULL, NULL);
  return done;
}

XpTensor *
xp_tensor_copy (const XpTensor *tensor, GError **error)
{
  g_autoptr (XpTensor) copy = xp_tensor_new (xp_tensor_dtype (tensor), xp_tensor_shape (tensor),
                                             xp_tensor_device (tensor), error);
  if (copy == NULL || !xp_tensor_copy_elements (copy, tensor, error))
    return NULL;
  copy->flags |= tensor->flags & XP_TENSOR_IS_SCALAR;
  return g_steal_pointer (&copy);
}

XpTensor *
xp_tensor_contiguous (XpTensor *tensor, GError **error)
{
  g_return_val_if_fail (tensor != NULL, NULL);
  if (tensor->layout != XP_STRIDED)
    {
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                    "expected a strided tensor to make a contiguous copy of, found a %s one",
                    xp_layout_name ((XpLayout) tensor->layout));
      return NULL;
    }
  return xp_tensor_is_contiguous (tensor) ? xp_tensor_ref (tensor) : xp_tensor_copy (tensor, error);
}

typedef struct
{
  int64_t size;
  int64_t stride;
} Dimension;

static int
compare_strides (const void *a, const void *b)
{
  int64_t x = ((const Dimension *) a)->stride, y = ((const Dimension *) b)->stride;
  return x < y ? -1 : x > y;
}

bool
xp_tensor_may_overlap_itself (const XpTensor *tensor)
{
  Dimension dimensions[XP_MAX_DIMENSIONS];
  size_t n = 0;
  if (xp_tensor_is_contiguous (tensor) || tensor->layout != XP_STRIDED)
    return false;
  for (int i = 0; i < tensor->dl.ndim; i++)
    if (tensor->dl.shape[i] > 1)
      dimensions[n++] = (Dimension){ tensor->dl.shape[i], tensor->dl.strides[i] };
  qsort (dimensions, n, sizeof *dimensions, compare_strides);
  int64_t reach = 0; /* of the smaller ones */
  for (size_t i = 0; i < n; i++)
    {
      if (dimensions[i].stride <= reach)
        return true;
      reach += (dimensions[i].size - 1) * dimensions[i].stride;
    }
  return false;
}

/* The bytes from the first element to the end of the last. */
static void
stretch_of (const XpTensor *tensor, const char **low, const char **high)
{
  int64_t last = 0;
  for (int i = 0; i < tensor->dl.ndim; i++)
    last += (tensor->dl.shape[i] - 1) * tensor->dl.strides[i];
  *low = xp_tensor_data (tensor);
  *high = *low + (last + 1) * (int64_t) xp_dtype_size (xp_tensor_dtype (tensor));
}

bool
xp_tensors_may_overlap (const XpTensor *a, const XpTensor *b)
{
  const char *a_low, *a_high, *b_low, *b_high;
  if (a->layout != XP_STRIDED || b->layout != XP_STRIDED || a->numel == 0 || b->numel == 0
      || xp_tensor_data (a) == NULL || !xp_tensor_shares_storage (a, b))
    return false;
  stretch_of (a, &a_low, &a_high);
  stretch_of (b, &b_low, &b_high);
  return a_low < b_high && b_low < a_high;
}
