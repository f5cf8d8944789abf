/* SPDX-License-Identifier: MIT
 *
 * backend_select.c: where factories go. They have no tensor to say which backend is meant, so these
 * kernels read it from the layout and device that are asked for, and redispatch to that key alone
 * (reference 7.6).
 */
#include <crosspoint/aten.h>

XP_PLUGIN ("aten", "0.1.0", "The rows of the namespace aten", "MIT")

static XpFunctionality
functionality_of (const XpLayout *layout)
{
  switch (layout != NULL ? *layout : XP_STRIDED)
    {
    case XP_SPARSE_COO:
      return XP_FUNCTIONALITY_Sparse;
    case XP_SPARSE_CSR:
      return XP_FUNCTIONALITY_SparseCsr;
    case XP_MKLDNN:
      return XP_FUNCTIONALITY_MkldnnCPU;
    default:
      return XP_FUNCTIONALITY_Dense;
    }
}

static XpKeySet
keys_of (const XpLayout *layout, const XpDevice *device)
{
  unsigned backend = device != NULL ? (unsigned) device->backend : XP_BACKEND_CPU;
  return xp_key_set (xp_key_of (functionality_of (layout), backend));
}

static XpStatus
zeros (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDType *dtype, const XpLayout *layout,
       const XpDevice *device, const bool *pin_memory, XpTensor **result, GError **error)
{
  return xp_aten_zeros_redispatch (keys_of (layout, device), size, dtype, layout, device,
                                   pin_memory, result, error);
}

static XpStatus
ones (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDType *dtype, const XpLayout *layout,
      const XpDevice *device, const bool *pin_memory, XpTensor **result, GError **error)
{
  return xp_aten_ones_redispatch (keys_of (layout, device), size, dtype, layout, device, pin_memory,
                                  result, error);
}

static XpStatus
full (G_GNUC_UNUSED XpCall *call, XpInts size, XpValue fill_value, const XpDType *dtype,
      const XpLayout *layout, const XpDevice *device, const bool *pin_memory, XpTensor **result,
      GError **error)
{
  return xp_aten_full_redispatch (keys_of (layout, device), size, fill_value, dtype, layout, device,
                                  pin_memory, result, error);
}

static XpStatus
empty (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDType *dtype, const XpLayout *layout,
       const XpDevice *device, const bool *pin_memory, const XpMemoryFormat *memory_format,
       XpTensor **result, GError **error)
{
  return xp_aten_empty_memory_format_redispatch (keys_of (layout, device), size, dtype, layout,
                                                 device, pin_memory, memory_format, result, error);
}

/* The result's key and the source's: the copy runs where both are known. */
static XpStatus
to_copy (G_GNUC_UNUSED XpCall *call, XpTensor *self, const XpDType *dtype, const XpLayout *layout,
         const XpDevice *device, const bool *pin_memory, bool non_blocking,
         const XpMemoryFormat *memory_format, XpTensor **result, GError **error)
{
  XpKeySet own = xp_key_set_intersection (
      self->keys, (XpKeySet){ XP_BIT (XP_FUNCTIONALITY_BackendSelect) - 1, ~(uint64_t) 0 });
  return xp_aten__to_copy_redispatch (xp_key_set_union (keys_of (layout, device), own), self, dtype,
                                      layout, device, pin_memory, non_blocking, memory_format,
                                      result, error);
}

XP_LIBRARY_IMPL (aten, BackendSelect, m)
{
  xp_impl_aten_zeros (m, zeros);
  xp_impl_aten_ones (m, ones);
  xp_impl_aten_full (m, full);
  xp_impl_aten_empty_memory_format (m, empty);
  xp_impl_aten__to_copy (m, to_copy);
}
