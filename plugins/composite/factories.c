/* SPDX-License-Identifier: MIT
 *
 * factories.c: tensors filled with one number.
 */
#include <crosspoint/aten.h>
#include <crosspoint/kernel.h>

static XpStatus
full_as (XpInts size, XpValue fill_value, XpDType dtype, const XpLayout *layout,
         const XpDevice *device, const bool *pin_memory, XpTensor **result, GError **error)
{
  g_autoptr (XpTensor) tensor = NULL;
  if (xp_aten_empty_memory_format (size, &dtype, layout, device, pin_memory, NULL, &tensor, error)
      != XP_OK)
    return XP_FAILED;
  return xp_aten_fill__Scalar (tensor, fill_value, result, error);
}

static bool
has_layout (const XpLayout *layout)
{
  return layout != NULL && *layout != XP_STRIDED;
}

static XpStatus
zeros (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDType *dtype, const XpLayout *layout,
       const XpDevice *device, const bool *pin_memory, XpTensor **result, GError **error)
{
  XpDType type = dtype != NULL ? *dtype : xp_default_dtype ();
  /* A new tensor of a sparse layout has no elements but zeros. */
  if (has_layout (layout))
    return xp_aten_empty_memory_format (size, &type, layout, device, pin_memory, NULL, result,
                                        error);
  return full_as (size, xp_value_int (0), type, layout, device, pin_memory, result, error);
}

static XpStatus
full_of (XpInts size, XpValue fill_value, XpDType dtype, const XpLayout *layout,
         const XpDevice *device, const bool *pin_memory, XpTensor **result, GError **error)
{
  if (has_layout (layout))
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "layout" },
                    "full(...) is not implemented for sparse layout; it was called for %s: fill a "
                    "strided tensor and convert it",
                    xp_layout_name (*layout));
      return XP_FAILED;
    }
  return full_as (size, fill_value, dtype, layout, device, pin_memory, result, error);
}

static XpStatus
ones (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDType *dtype, const XpLayout *layout,
      const XpDevice *device, const bool *pin_memory, XpTensor **result, GError **error)
{
  XpDType type = dtype != NULL ? *dtype : xp_default_dtype ();
  return full_of (size, xp_value_int (1), type, layout, device, pin_memory, result, error);
}

/* What a number becomes where no dtype is asked for. */
static XpDType
dtype_of_number (XpValue number)
{
  switch (number.tag)
    {
    case XP_TAG_FLOAT:
      return xp_default_dtype ();
    case XP_TAG_COMPLEX:
      return XP_COMPLEX64;
    default:
      return xp_scalar_dtype (number);
    }
}

static XpStatus
full (G_GNUC_UNUSED XpCall *call, XpInts size, XpValue fill_value, const XpDType *dtype,
      const XpLayout *layout, const XpDevice *device, const bool *pin_memory, XpTensor **result,
      GError **error)
{
  XpDType type = dtype != NULL ? *dtype : dtype_of_number (fill_value);
  return full_of (size, fill_value, type, layout, device, pin_memory, result, error);
}

XP_LIBRARY_IMPL (aten, CompositeExplicitAutograd, m)
{
  xp_impl_aten_zeros (m, zeros);
  xp_impl_aten_ones (m, ones);
  xp_impl_aten_full (m, full);
}
