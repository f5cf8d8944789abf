/* SPDX-License-Identifier: MIT
 *
 * copies.c: copies of a tensor: clone, and _to_copy, which may change dtype and device.
 */
#include <crosspoint/aten.h>
#include <crosspoint/kernel.h>

/* What a copy is to be like. Pinned memory is the copy's own affair, as it is in PyTorch. */
typedef struct
{
  XpDType dtype;
  XpDevice device;
  XpMemoryFormat format;
} Target;

/* A tensor of the shape of @self that lies in memory as the target says; not filled. */
static XpStatus
empty_like (XpTensor *self, const Target *target, XpTensor **result, GError **error)
{
  XpInts shape = xp_tensor_shape (self);
  XpLayout layout = (XpLayout) self->layout;
  bool is_strided = layout == XP_STRIDED;
  if (!is_strided || target->format != XP_PRESERVE_FORMAT)
    return xp_aten_empty_memory_format (shape, &target->dtype, &layout, &target->device, NULL,
                                        is_strided ? &target->format : NULL, result, error);
  int64_t strides[XP_MAX_DIMENSIONS];
  xp_like_strides (self, strides);
  *result = xp_tensor_new_strided (target->dtype, shape, (XpInts){ strides, shape.length },
                                   target->device, error);
  return *result != NULL ? XP_OK : XP_FAILED;
}

static XpStatus
copy_to (XpTensor *self, const Target *target, bool non_blocking, XpTensor **result, GError **error)
{
  g_autoptr (XpTensor) copy = NULL;
  if (empty_like (self, target, &copy, error) != XP_OK)
    return XP_FAILED;
  return xp_aten_copy_ (copy, self, non_blocking, result, error);
}

static XpStatus
clone_tensor (XpCall *call, XpTensor *self, const XpMemoryFormat *memory_format, XpTensor **result,
              GError **error)
{
  if (self->layout != XP_STRIDED)
    return xp_call_decline (call, "only strided tensors");
  Target target = { .dtype = xp_tensor_dtype (self),
                    .device = xp_tensor_device (self),
                    .format = memory_format != NULL ? *memory_format : XP_PRESERVE_FORMAT };
  return copy_to (self, &target, false, result, error);
}

/* The names that PyTorch's messages have for layouts. */
static const char *
layout_message_name (XpLayout layout)
{
  static const char *const names[] = {
    [XP_STRIDED] = "Strided",
    [XP_SPARSE_COO] = "Sparse",
    [XP_SPARSE_CSR] = "SparseCsr",
    [XP_MKLDNN] = "Mkldnn",
  };
  return (unsigned) layout < G_N_ELEMENTS (names) ? names[layout] : xp_layout_name (layout);
}

static XpStatus
to_copy (G_GNUC_UNUSED XpCall *call, XpTensor *self, const XpDType *dtype, const XpLayout *layout,
         const XpDevice *device, G_GNUC_UNUSED const bool *pin_memory, bool non_blocking,
         const XpMemoryFormat *memory_format, XpTensor **result, GError **error)
{
  if (layout != NULL && (int) *layout != self->layout)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "layout" },
                    "to(options) doesn't support converting to a different layout, but got "
                    "self.layout being %s and options.layout set as %s",
                    layout_message_name ((XpLayout) self->layout), layout_message_name (*layout));
      return XP_FAILED;
    }
  Target target = { .dtype = dtype != NULL ? *dtype : xp_tensor_dtype (self),
                    .device = device != NULL ? *device : xp_tensor_device (self),
                    .format = memory_format != NULL ? *memory_format : XP_PRESERVE_FORMAT };
  return copy_to (self, &target, non_blocking, result, error);
}

XP_LIBRARY_IMPL (aten, CompositeExplicitAutograd, m)
{
  xp_impl_aten_clone (m, clone_tensor);
  xp_impl_aten__to_copy (m, to_copy);
}
