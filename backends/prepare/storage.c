/* SPDX-License-Identifier: MIT
 *
 * storage.c: results of operators that make tensors, look at them in another way, or write all of
 * them: factories, view, fill_, copy_.
 */
#include "prepare.h"

XpTensor *
prepare_view (XpTensor *self, XpInts size, GError **error)
{
  XpShape shape;
  int64_t strides[XP_MAX_DIMENSIONS];
  if (!prepare_check_strided (&self, 1, error) || !xp_infer_size (size, self->numel, &shape, error))
    return NULL;
  if (!xp_view_strides (self, &shape, strides))
    {
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "view size is not compatible with input tensor's size and stride (at least one "
                    "dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
      return NULL;
    }
  return xp_tensor_new_view (self, xp_shape_ints (&shape),
                             (XpInts){ strides, (size_t) shape.n_dims },
                             xp_tensor_storage_offset (self), error);
}

XpTensor *
prepare_fill (XpTensor *self, XpValue value, GError **error)
{
  if (!prepare_check_strided (&self, 1, error)
      || !prepare_check_scalar (value, xp_tensor_dtype (self), error))
    return NULL;
  xp_tensor_written (self);
  return xp_tensor_ref (self);
}

XpTensor *
prepare_copy (XpTensor *self, XpTensor *src, GError **error)
{
  XpShape shape;
  if (!prepare_check_strided ((XpTensor *[]){ self, src }, 2, error))
    return NULL;
  if (src->dl.device.device_type != self->dl.device.device_type
      && xp_tensor_device (src).backend == XP_BACKEND_Meta)
    {
      xp_error_set (error, XP_ERROR_DECLINED, &(XpErrorDetails){ .argument = (char *) "src" },
                    "Cannot copy out of meta tensor; no data!");
      return NULL;
    }
  if (self != src
      && (!prepare_check_no_overlap (self, &src, 1, error)
          || !xp_broadcast (xp_tensor_shape (self), xp_tensor_shape (src), &shape, error)
          || !prepare_check_same_shape (self, &shape, error)))
    return NULL;
  xp_tensor_written (self);
  return xp_tensor_ref (self);
}

static gboolean
check_options (XpBackend backend, const XpLayout *layout, const XpDevice *device,
               const bool *pin_memory, GError **error)
{
  if (layout != NULL && *layout != XP_STRIDED)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "layout" },
                    "expected layout strided, but found %s; a plugin that knows that layout makes "
                    "such tensors",
                    xp_layout_name (*layout));
      return FALSE;
    }
  if (device != NULL && device->backend != (int32_t) backend)
    {
      g_autofree char *text = xp_device_to_string (*device);
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "device" },
                    "expected a device of the backend %s, but found %s", xp_backend_name (backend),
                    text);
      return FALSE;
    }
  if (pin_memory != NULL && *pin_memory && backend == XP_BACKEND_CPU)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT,
                    &(XpErrorDetails){ .argument = (char *) "pin_memory" },
                    "Pinned memory requires CUDA; leave pin_memory out");
      return FALSE;
    }
  return TRUE;
}

XpTensor *
prepare_empty (XpBackend backend, XpInts size, const XpDType *dtype, const XpLayout *layout,
               const XpDevice *device, const bool *pin_memory, const XpMemoryFormat *memory_format,
               GError **error)
{
  XpShape shape;
  int64_t strides[XP_MAX_DIMENSIONS];
  XpDType type = dtype != NULL ? *dtype : xp_default_dtype ();
  XpDevice where = device != NULL ? *device : (XpDevice){ (int32_t) backend, -1 };
  XpMemoryFormat format = memory_format != NULL ? *memory_format : XP_CONTIGUOUS_FORMAT;
  if (!check_options (backend, layout, device, pin_memory, error)
      || !xp_shape_from_ints (size, &shape, error))
    return NULL;
  if (format == XP_CONTIGUOUS_FORMAT)
    return xp_tensor_new (type, size, where, error);
  if (format != XP_CHANNELS_LAST && format != XP_CHANNELS_LAST_3D)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT,
                    &(XpErrorDetails){ .argument = (char *) "memory_format" },
                    "unsupported memory format %s",
                    format == XP_PRESERVE_FORMAT ? "Preserve" : xp_memory_format_name (format));
      return NULL;
    }
  int rank = format == XP_CHANNELS_LAST ? 4 : 5;
  if (shape.n_dims != rank)
    {
      xp_error_set (error, XP_ERROR_SHAPE, NULL, "required rank %d tensor to use %s format", rank,
                    xp_memory_format_name (format));
      return NULL;
    }
  prepare_channels_last_strides (size, strides);
  return xp_tensor_new_strided (type, size, (XpInts){ strides, size.length }, where, error);
}

XpTensor *
prepare_full (XpBackend backend, XpInts size, XpValue fill_value, const XpDType *dtype,
              const XpLayout *layout, const XpDevice *device, const bool *pin_memory,
              GError **error)
{
  XpDType own = xp_scalar_dtype (fill_value);
  XpDType type = dtype != NULL                                    ? *dtype
                 : xp_dtype_category (own) == XP_CATEGORY_FLOAT   ? xp_default_dtype ()
                 : xp_dtype_category (own) == XP_CATEGORY_COMPLEX ? XP_COMPLEX64
                                                                  : own;
  if (!prepare_check_scalar (fill_value, type, error))
    return NULL;
  return prepare_empty (backend, size, &type, layout, device, pin_memory, NULL, error);
}
