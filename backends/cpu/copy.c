/* SPDX-License-Identifier: MIT
 *
 * copy.c: operators that write all of a tensor.
 */
#include "cast.h"

#include <crosspoint/aten.h>

static XpStatus
copy_ (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *src, G_GNUC_UNUSED bool non_blocking,
       XpTensor **result, GError **error)
{
  XpDType to = xp_tensor_dtype (self), from = xp_tensor_dtype (src);
  *result = prepare_copy (self, src, error);
  if (*result == NULL)
    return XP_FAILED;
  if (self != src)
    cpu_loop (&(CpuLoop){ cpu_cast (from, to), NULL, 2, { self, src }, { to, from } });
  return XP_OK;
}

static XpStatus
fill_ (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpValue value, XpTensor **result, GError **error)
{
  XpDType dtype = xp_tensor_dtype (self);
  g_autoptr (XpTensor) filled = prepare_fill (self, value, error);
  if (filled == NULL)
    return XP_FAILED;
  /* Only the real part counts, for bool too. */
  if (value.tag == XP_TAG_COMPLEX && xp_dtype_category (dtype) != XP_CATEGORY_COMPLEX)
    value = xp_value_float (xp_scalar_to_double (value));
  g_autoptr (XpTensor) scalar = xp_tensor_new_scalar (value, (int) dtype, XP_CPU, error);
  if (scalar == NULL)
    return XP_FAILED;
  cpu_loop (&(CpuLoop){ cpu_cast (dtype, dtype), NULL, 2, { self, scalar }, { dtype, dtype } });
  *result = g_steal_pointer (&filled);
  return XP_OK;
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_copy_ (m, copy_);
  xp_impl_aten_fill__Scalar (m, fill_);
}
