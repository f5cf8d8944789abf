/* SPDX-License-Identifier: MIT
 *
 * tensor.c: making tensors and views of them.
 */
#include "keys/backends.h"
#include "value/dtype.h"
#include "value/storage.h"

#include <crosspoint/kernel.h>
#include <string.h>

enum
{
  INLINE_DIMENSIONS = 5
};

typedef struct
{
  XpTensor head;
  uint32_t references;
  XpDevice device;
  XpStorage *storage;
  const XpLayoutClass *klass;
  void *layout_data;
  void *owner;                                 /* of klass */
  int64_t inline_sizes[2 * INLINE_DIMENSIONS]; /* shape, then strides, where they fit */
} Tensor;

static __thread bool inference_mode;

bool
xp_inference_mode (void)
{
  return inference_mode;
}

void
xp_set_inference_mode (bool enabled)
{
  inference_mode = enabled;
}

static DLDevice
dlpack_device (XpDevice device)
{
  static const uint8_t types[64] = {
    [XP_BACKEND_CPU] = kDLCPU,   [XP_BACKEND_CUDA] = kDLCUDA,  [XP_BACKEND_HIP] = kDLROCM,
    [XP_BACKEND_MPS] = kDLMetal, [XP_BACKEND_XPU] = kDLOneAPI, [XP_BACKEND_MAIA] = kDLMAIA,
  };
  uint8_t type = types[device.backend];
  return type != 0 ? (DLDevice){ (DLDeviceType) type, MAX (device.index, 0) }
                   : (DLDevice){ kDLExtDev, device.backend };
}

/* Reference 7.4. */
static XpKeySet
tensor_keys (XpFunctionality functionality, XpBackend backend)
{
  uint64_t keys = XP_BIT (functionality);
  XpFunctionality autocast = xp_autocast_functionality_of (backend);
  if (autocast != XP_FUNCTIONALITY_Undefined)
    keys |= XP_BIT (autocast);
  if (!inference_mode)
    keys |= XP_BIT (XP_FUNCTIONALITY_ADInplaceOrView)
            | XP_BIT (xp_autograd_functionality_of (backend));
  if (!inference_mode && functionality == XP_FUNCTIONALITY_NestedTensor)
    keys |= XP_BIT (XP_FUNCTIONALITY_AutogradNestedTensor);
  return (XpKeySet){ keys, XP_BIT (backend) };
}

static void
set_sizes (Tensor *tensor, XpInts shape, const int64_t *strides)
{
  int n = (int) shape.length;
  int64_t *sizes = n <= INLINE_DIMENSIONS ? tensor->inline_sizes
                                          : g_new (int64_t, 2 * shape.length);
  if (n > 0)
    memmove (sizes, shape.data, shape.length * sizeof *sizes);
  if (strides != NULL && n > 0)
    memcpy (sizes + n, strides, shape.length * sizeof *sizes);
  if (tensor->head.dl.shape != tensor->inline_sizes)
    g_free (tensor->head.dl.shape);
  tensor->head.dl.shape = sizes;
  tensor->head.dl.strides = strides != NULL ? sizes + n : NULL;
  tensor->head.dl.ndim = n;
}

static gboolean
is_contiguous (XpInts shape, const int64_t *strides, int64_t numel)
{
  if (numel == 0)
    return TRUE;
  int64_t expected = 1;
  for (size_t i = shape.length; i-- > 0;)
    {
      if (shape.data[i] == 1)
        continue;
      if (strides[i] != expected)
        return FALSE;
      expected *= shape.data[i];
    }
  return TRUE;
}

static Tensor *
tensor_new (XpDType dtype, XpInts shape, const int64_t *strides, int64_t numel, XpDevice device,
            XpLayout layout)
{
  const XpDTypeFacts *facts = xp_dtype_facts (dtype);
  gboolean plain = device.backend == XP_BACKEND_CPU || device.backend == XP_BACKEND_Meta;
  Tensor *tensor = g_new0 (Tensor, 1);
  tensor->references = 1;
  tensor->device = (XpDevice){ device.backend, plain ? -1 : MAX (device.index, 0) };
  if (G_UNLIKELY (xp_backend_is_named (device.backend)))
    xp_backend_hold ((XpBackend) device.backend);
  tensor->head.dl.device = dlpack_device (tensor->device);
  tensor->head.dl.dtype = (DLDataType){ facts->dlpack_code, (uint8_t) (8 * facts->size), 1 };
  tensor->head.dtype = (uint8_t) dtype;
  tensor->head.layout = (uint8_t) layout;
  tensor->head.numel = numel;
  tensor->head.flags = inference_mode ? XP_TENSOR_IS_INFERENCE : 0;
  tensor->head.dl.shape = tensor->inline_sizes;
  set_sizes (tensor, shape, strides);
  if (strides != NULL && is_contiguous (shape, strides, numel))
    tensor->head.flags |= XP_TENSOR_IS_CONTIGUOUS;
  return tensor;
}

/* The elements from the first to the one after the furthest; 0 for a tensor without any. */
static gboolean
reach_of (XpInts shape, const int64_t *strides, int64_t numel, int64_t *reach, GError **error)
{
  *reach = numel > 0 ? 1 : 0;
  for (size_t i = 0; i < shape.length; i++)
    {
      int64_t span;
      if (strides[i] < 0)
        {
          xp_error_set (error, XP_ERROR_SHAPE, NULL,
                        "negative strides are not supported: stride %" G_GINT64_FORMAT
                        " in dimension %" G_GSIZE_FORMAT,
                        strides[i], i);
          return FALSE;
        }
      if (numel > 0
          && (__builtin_mul_overflow (shape.data[i] - 1, strides[i], &span)
              || __builtin_add_overflow (*reach, span, reach)))
        {
          g_autofree char *text = xp_shape_to_string (shape);
          xp_error_set (error, XP_ERROR_LIMIT, NULL,
                        "a tensor of shape %s with these strides reaches beyond 2^63 elements",
                        text);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
check_device (XpDevice device, GError **error)
{
  if (device.backend >= 0 && device.backend <= 63
      && (xp_backends_in_use () >> device.backend & 1) != 0)
    return TRUE;
  const char *name = xp_backend_name ((XpBackend) device.backend);
  if (name != NULL)
    xp_error_set (error, XP_ERROR_STALE_DEVICE, NULL,
                  "no tensor can be made on the device '%s': whoever registered it has given it "
                  "back, or is being loaded still",
                  name);
  else
    xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL, "%d is the bit of no backend",
                  device.backend);
  return FALSE;
}

/* From the moment it holds the bit of its device the tensor keeps it; was it given back before? */
static XpTensor *
finish (Tensor *tensor, GError **error)
{
  if (G_LIKELY (!xp_backend_is_named (tensor->device.backend))
      || check_device (tensor->device, error))
    return &tensor->head;
  xp_tensor_unref (&tensor->head);
  return NULL;
}

static gboolean
check_shape (XpDType dtype, XpInts shape, int64_t *numel, GError **error)
{
  XpShape checked;
  if (!xp_dtype_is_valid (dtype))
    {
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL, "%d is no element type", (int) dtype);
      return FALSE;
    }
  return xp_shape_from_ints (shape, &checked, error) && xp_shape_numel (shape, numel, error);
}

XpTensor *
xp_tensor_new_strided (XpDType dtype, XpInts shape, XpInts strides, XpDevice device, GError **error)
{
  int64_t numel, reach;
  size_t n_bytes;
  g_return_val_if_fail (strides.length == shape.length, NULL);
  g_return_val_if_fail (shape.length == 0 || (shape.data != NULL && strides.data != NULL), NULL);
  if (!check_shape (dtype, shape, &numel, error) || !check_device (device, error)
      || !reach_of (shape, strides.data, numel, &reach, error))
    return NULL;
  if (__builtin_mul_overflow ((size_t) reach, xp_dtype_size (dtype), &n_bytes)
      || n_bytes > G_MAXINT64)
    {
      g_autofree char *text = xp_shape_to_string (shape);
      xp_error_set (error, XP_ERROR_LIMIT, NULL,
                    "a %s tensor of shape %s takes more than 2^63 bytes", xp_dtype_name (dtype),
                    text);
      return NULL;
    }
  XpStorage *storage = xp_storage_new (n_bytes, device, error);
  if (storage == NULL)
    return NULL;
  Tensor *tensor = tensor_new (dtype, shape, strides.data, numel, device, XP_STRIDED);
  tensor->head.keys = tensor_keys (XP_FUNCTIONALITY_Dense, (XpBackend) device.backend);
  tensor->storage = storage;
  tensor->head.dl.data = storage->data;
  return finish (tensor, error);
}

XpTensor *
xp_tensor_new (XpDType dtype, XpInts shape, XpDevice device, GError **error)
{
  int64_t numel;
  int64_t strides[XP_MAX_DIMENSIONS];
  g_return_val_if_fail (shape.length == 0 || shape.data != NULL, NULL);
  if (!check_shape (dtype, shape, &numel, error))
    return NULL;
  xp_shape_contiguous_strides (shape, strides);
  return xp_tensor_new_strided (dtype, shape, (XpInts){ strides, shape.length }, device, error);
}

XpTensor *
xp_tensor_new_copy_of (XpDType dtype, XpInts shape, const void *data, GError **error)
{
  XpTensor *tensor = xp_tensor_new (dtype, shape, XP_CPU, error);
  if (tensor != NULL && tensor->numel > 0)
    {
      if (data == NULL)
        {
          xp_tensor_unref (tensor);
          g_return_val_if_fail (data != NULL, NULL);
        }
      memcpy (xp_tensor_data (tensor), data, (size_t) tensor->numel * xp_dtype_size (dtype));
    }
  return tensor;
}

/* Stores @scalar in the memory of another device. */
static gboolean
send_scalar (XpTensor *tensor, XpValue scalar, GError **error)
{
  const XpStorage *storage = xp_tensor_storage (tensor);
  const XpMemoryClass *klass = storage->klass;
  if (klass == NULL || klass->from_host == NULL || storage->data == NULL)
    return TRUE;
  g_autoptr (XpTensor) host = xp_tensor_new_scalar (scalar, (int) xp_tensor_dtype (tensor), XP_CPU,
                                                    error);
  return host != NULL
         && klass->from_host (MAX (storage->device.index, 0), storage->data, xp_tensor_data (host),
                              storage->n_bytes, error);
}

XpTensor *
xp_tensor_new_scalar (XpValue scalar, int dtype, XpDevice device, GError **error)
{
  g_return_val_if_fail (xp_value_is_scalar (scalar), NULL);
  XpDType type = dtype >= 0 ? (XpDType) dtype : xp_scalar_dtype (scalar);
  g_autoptr (XpTensor) tensor = xp_tensor_new (type, (XpInts){ NULL, 0 }, device, error);
  if (tensor == NULL)
    return NULL;
  if (device.backend == XP_BACKEND_CPU)
    xp_tensor_set_element (tensor, 0, scalar);
  else if (!send_scalar (tensor, scalar, error))
    return NULL;
  tensor->flags |= XP_TENSOR_IS_SCALAR;
  return g_steal_pointer (&tensor);
}

XpTensor *
xp_tensor_new_view (XpTensor *base, XpInts shape, XpInts strides, int64_t offset, GError **error)
{
  g_return_val_if_fail (base != NULL && base->layout == XP_STRIDED, NULL);
  g_return_val_if_fail (strides.length == shape.length, NULL);
  Tensor *from = (Tensor *) base;
  int64_t numel, reach, end;
  int64_t capacity = (int64_t) (from->storage->n_bytes / xp_dtype_size (xp_tensor_dtype (base)));
  if (!check_shape (xp_tensor_dtype (base), shape, &numel, error)
      || !reach_of (shape, strides.data, numel, &reach, error))
    return NULL;
  if (offset < 0 || __builtin_add_overflow (offset, reach, &end) || (reach > 0 && end > capacity))
    {
      g_autofree char *text = xp_shape_to_string (shape);
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "a view of shape %s at offset %" G_GINT64_FORMAT
                    " reaches beyond its storage of %" G_GINT64_FORMAT " elements",
                    text, offset, capacity);
      return NULL;
    }
  Tensor *view = tensor_new (xp_tensor_dtype (base), shape, strides.data, numel, from->device,
                             XP_STRIDED);
  view->head.keys = base->keys;
  view->head.flags &= ~(uint32_t) XP_TENSOR_IS_INFERENCE;
  view->head.flags |= base->flags & (XP_TENSOR_REQUIRES_GRAD | XP_TENSOR_IS_INFERENCE);
  view->storage = xp_storage_ref (from->storage);
  view->head.dl.data = from->storage->data;
  view->head.dl.byte_offset = reach > 0 ? (uint64_t) offset * xp_dtype_size (xp_tensor_dtype (base))
                                        : 0;
  return &view->head;
}

XpTensor *
xp_tensor_new_with_layout (const XpLayoutClass *klass, void *data, XpDType dtype, XpInts shape,
                           XpDevice device, GError **error)
{
  g_return_val_if_fail (klass != NULL && klass->size >= sizeof *klass, NULL);
  int64_t numel;
  if (!check_shape (dtype, shape, &numel, error) || !check_device (device, error))
    {
      klass->free_data (data);
      return NULL;
    }
  Tensor *tensor = tensor_new (dtype, shape, NULL, numel, device, klass->layout);
  tensor->head.keys = tensor_keys (klass->functionality, (XpBackend) device.backend);
  tensor->klass = klass;
  tensor->layout_data = data;
  tensor->owner = xp_pin_at (klass);
  return finish (tensor, error);
}

void *
xp_tensor_layout_data (const XpTensor *tensor, const XpLayoutClass *klass)
{
  g_return_val_if_fail (tensor != NULL, NULL);
  const Tensor *full = (const Tensor *) tensor;
  return full->klass == klass ? full->layout_data : NULL;
}

const XpStorage *
xp_tensor_storage (const XpTensor *tensor)
{
  return ((const Tensor *) tensor)->storage;
}

const XpLayoutClass *
xp_tensor_layout_class (const XpTensor *tensor)
{
  return ((const Tensor *) tensor)->klass;
}

XpTensor *
xp_tensor_ref (XpTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);
  __atomic_fetch_add (&((Tensor *) tensor)->references, 1, __ATOMIC_RELAXED);
  return tensor;
}

void
xp_tensor_unref (XpTensor *tensor)
{
  Tensor *full = (Tensor *) tensor;
  if (full == NULL || __atomic_fetch_sub (&full->references, 1, __ATOMIC_ACQ_REL) != 1)
    return;
  if (full->klass != NULL)
    full->klass->free_data (full->layout_data);
  xp_storage_unref (full->storage);
  if (tensor->dl.shape != full->inline_sizes)
    g_free (tensor->dl.shape);
  void *owner = full->owner;
  int backend = full->device.backend;
  g_free (full);
  xp_unpin (owner);
  if (G_UNLIKELY (xp_backend_is_named (backend)))
    xp_backend_release ((XpBackend) backend);
}

XpDevice
xp_tensor_device (const XpTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, XP_CPU);
  return ((const Tensor *) tensor)->device;
}

int64_t
xp_tensor_storage_offset (const XpTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, 0);
  return (int64_t) (tensor->dl.byte_offset / xp_dtype_size (xp_tensor_dtype (tensor)));
}

gboolean
xp_tensor_shares_storage (const XpTensor *a, const XpTensor *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);
  return ((const Tensor *) a)->storage != NULL
         && ((const Tensor *) a)->storage == ((const Tensor *) b)->storage;
}

static gboolean
has_shape (const XpTensor *tensor, XpInts shape)
{
  return shape.length == (size_t) tensor->dl.ndim
         && (shape.length == 0
             || memcmp (shape.data, tensor->dl.shape, shape.length * sizeof *shape.data) == 0);
}

gboolean
xp_tensor_resize (XpTensor *tensor, XpInts shape, GError **error)
{
  g_return_val_if_fail (tensor != NULL, FALSE);
  int64_t numel;
  int64_t strides[XP_MAX_DIMENSIONS];
  if (has_shape (tensor, shape))
    return TRUE;
  if (!check_shape (xp_tensor_dtype (tensor), shape, &numel, error))
    return FALSE;
  xp_shape_contiguous_strides (shape, strides);
  return xp_tensor_resize_strided (tensor, shape, (XpInts){ strides, shape.length }, error);
}

gboolean
xp_tensor_resize_strided (XpTensor *tensor, XpInts shape, XpInts strides, GError **error)
{
  g_return_val_if_fail (tensor != NULL && strides.length == shape.length, FALSE);
  Tensor *full = (Tensor *) tensor;
  XpDType dtype = xp_tensor_dtype (tensor);
  int64_t numel, reach;
  size_t n_bytes;
  if (has_shape (tensor, shape))
    return TRUE;
  if (!check_shape (dtype, shape, &numel, error)
      || !reach_of (shape, strides.data, numel, &reach, error))
    return FALSE;
  if (tensor->layout != XP_STRIDED)
    {
      set_sizes (full, shape, NULL);
      tensor->numel = numel;
      return TRUE;
    }
  if (__builtin_mul_overflow ((size_t) reach, xp_dtype_size (dtype), &n_bytes)
      || n_bytes > G_MAXINT64 - tensor->dl.byte_offset)
    {
      xp_error_set (error, XP_ERROR_LIMIT, NULL, "the result takes more than 2^63 bytes");
      return FALSE;
    }
  if (n_bytes + tensor->dl.byte_offset > full->storage->n_bytes)
    {
      XpStorage *storage = xp_storage_new (n_bytes, full->storage->device, error);
      if (storage == NULL)
        return FALSE;
      xp_storage_unref (full->storage);
      full->storage = storage;
      tensor->dl.data = storage->data;
      tensor->dl.byte_offset = 0;
    }
  tensor->flags &= ~(uint32_t) XP_TENSOR_IS_CONTIGUOUS;
  if (is_contiguous (shape, strides.data, numel))
    tensor->flags |= XP_TENSOR_IS_CONTIGUOUS;
  /* Last, since @shape may be a part of the tensor's own. */
  set_sizes (full, shape, strides.data);
  tensor->numel = numel;
  return TRUE;
}

gboolean
xp_tensor_set_requires_grad (XpTensor *tensor, gboolean requires_grad, GError **error)
{
  g_return_val_if_fail (tensor != NULL, FALSE);
  XpDTypeCategory category = xp_dtype_category (xp_tensor_dtype (tensor));
  if (requires_grad && category != XP_CATEGORY_FLOAT && category != XP_CATEGORY_COMPLEX)
    {
      xp_error_set (error, XP_ERROR_DTYPE, NULL,
                    "only Tensors of floating point and complex dtype can require gradients; this "
                    "one is %s",
                    xp_dtype_name (xp_tensor_dtype (tensor)));
      return FALSE;
    }
  if (requires_grad)
    tensor->flags |= XP_TENSOR_REQUIRES_GRAD;
  else
    tensor->flags &= ~(uint32_t) XP_TENSOR_REQUIRES_GRAD;
  return TRUE;
}

uint64_t
xp_tensor_version (const XpTensor *tensor)
{
  const Tensor *full = (const Tensor *) tensor;
  return full->storage != NULL ? __atomic_load_n (&full->storage->version, __ATOMIC_RELAXED) : 0;
}

void
xp_tensor_written (XpTensor *tensor)
{
  Tensor *full = (Tensor *) tensor;
  if (full->storage != NULL)
    __atomic_fetch_add (&full->storage->version, 1, __ATOMIC_RELAXED);
}
