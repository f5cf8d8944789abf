/* SPDX-License-Identifier: MIT
 *
 * meta.c: what every operator with a kernel of its own makes of tensors without memory: the result
 * that backends/prepare prepares for all of them, and nothing in it.
 */
#include "prepare.h"

#include <crosspoint/aten.h>

XP_PLUGIN ("meta", "0.1.0", "Shapes, strides and dtypes of results, without memory", "MIT")

/* Nothing allocates: tensors of this device have no memory. */
static const XpMemoryClass no_memory = { .size = sizeof (XpMemoryClass) };

gboolean
xp_plugin_probe (G_GNUC_UNUSED GError **error)
{
  xp_backend_set_memory (XP_BACKEND_Meta, &no_memory);
  return TRUE;
}

static XpStatus
give (XpTensor *prepared, XpTensor **result)
{
  *result = prepared;
  return prepared != NULL ? XP_OK : XP_FAILED;
}

/* --- Pointwise. ------------------------------------------------------------------------------ */

static XpStatus
add (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
     GError **error)
{
  XpDType dtype;
  return give (prepare_add (self, other, alpha, NULL, &dtype, error), result);
}

static XpStatus
add_out (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor *out,
         XpTensor **result, GError **error)
{
  XpDType dtype;
  return give (prepare_add (self, other, alpha, out, &dtype, error), result);
}

static XpStatus
add_ (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
      GError **error)
{
  XpDType dtype;
  return give (prepare_add (self, other, alpha, self, &dtype, error), result);
}

static XpStatus
sub (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
     GError **error)
{
  XpDType dtype;
  return give (prepare_sub (self, other, alpha, &dtype, error), result);
}

static XpStatus
mul (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result, GError **error)
{
  XpDType dtype;
  return give (prepare_mul (self, other, &dtype, error), result);
}

static XpStatus
div_true (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result,
          GError **error)
{
  XpDType dtype;
  return give (prepare_div (self, other, &dtype, error), result);
}

static XpStatus
eq (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result, GError **error)
{
  XpDType dtype;
  return give (prepare_eq (self, other, &dtype, error), result);
}

static XpStatus
neg (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  XpDType dtype;
  return give (prepare_neg (self, &dtype, error), result);
}

static XpStatus
relu (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  XpDType dtype;
  return give (prepare_relu (self, &dtype, error), result);
}

static XpStatus
gelu (G_GNUC_UNUSED XpCall *call, XpTensor *self, const char *approximate, XpTensor **result,
      GError **error)
{
  XpDType dtype;
  return give (prepare_gelu (self, approximate, &dtype, error), result);
}

static XpStatus
float_unary (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  XpDType dtype;
  return give (prepare_float_unary (self, &dtype, error), result);
}

XP_LIBRARY_IMPL (aten, Meta, m)
{
  xp_impl_aten_add_Tensor (m, add);
  xp_impl_aten_add_out (m, add_out);
  xp_impl_aten_add__Tensor (m, add_);
  xp_impl_aten_sub_Tensor (m, sub);
  xp_impl_aten_mul_Tensor (m, mul);
  xp_impl_aten_div_Tensor (m, div_true);
  xp_impl_aten_eq_Tensor (m, eq);
  xp_impl_aten_neg (m, neg);
  xp_impl_aten_relu (m, relu);
  xp_impl_aten_gelu (m, gelu);
  xp_impl_aten_sigmoid (m, float_unary);
  xp_impl_aten_exp (m, float_unary);
}

/* --- Matrices. ------------------------------------------------------------------------------- */

static XpStatus
mm (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *mat2, XpTensor **result, GError **error)
{
  return give (prepare_mm (self, mat2, error), result);
}

static XpStatus
addmm (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *mat1, XpTensor *mat2, XpValue beta,
       XpValue alpha, XpTensor **result, GError **error)
{
  return give (prepare_addmm (self, mat1, mat2, beta, alpha, error), result);
}

XP_LIBRARY_IMPL (aten, Meta, m)
{
  xp_impl_aten_mm (m, mm);
  xp_impl_aten_addmm (m, addmm);
}

/* --- Reductions. ----------------------------------------------------------------------------- */

static XpStatus
sum_dim (G_GNUC_UNUSED XpCall *call, XpTensor *self, const XpInts *dim, bool keepdim,
         const XpDType *dtype, XpTensor **result, GError **error)
{
  uint64_t reduced;
  return give (prepare_sum (self, dim, keepdim, dtype, &reduced, error), result);
}

static XpStatus
max_dim (G_GNUC_UNUSED XpCall *call, XpTensor *self, int64_t dim, bool keepdim, XpTensor **values,
         XpTensor **indices, GError **error)
{
  int along;
  return give (prepare_max_dim (self, dim, keepdim, &along, indices, error), values);
}

static XpStatus
argmax (G_GNUC_UNUSED XpCall *call, XpTensor *self, const int64_t *dim, bool keepdim,
        XpTensor **result, GError **error)
{
  int along;
  return give (prepare_argmax (self, dim, keepdim, &along, error), result);
}

XP_LIBRARY_IMPL (aten, Meta, m)
{
  xp_impl_aten_sum_dim_IntList (m, sum_dim);
  xp_impl_aten_max_dim (m, max_dim);
  xp_impl_aten_argmax (m, argmax);
}

/* --- Views, copies, factories. --------------------------------------------------------------- */

static XpStatus
view (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpInts size, XpTensor **result, GError **error)
{
  return give (prepare_view (self, size, error), result);
}

static XpStatus
copy_ (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *src, G_GNUC_UNUSED bool non_blocking,
       XpTensor **result, GError **error)
{
  return give (prepare_copy (self, src, error), result);
}

static XpStatus
fill_ (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpValue value, XpTensor **result, GError **error)
{
  return give (prepare_fill (self, value, error), result);
}

static XpStatus
empty (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDType *dtype, const XpLayout *layout,
       const XpDevice *device, const bool *pin_memory, const XpMemoryFormat *memory_format,
       XpTensor **result, GError **error)
{
  return give (prepare_empty (XP_BACKEND_Meta, size, dtype, layout, device, pin_memory,
                              memory_format, error),
               result);
}

static XpStatus
full (G_GNUC_UNUSED XpCall *call, XpInts size, XpValue fill_value, const XpDType *dtype,
      const XpLayout *layout, const XpDevice *device, const bool *pin_memory, XpTensor **result,
      GError **error)
{
  return give (
      prepare_full (XP_BACKEND_Meta, size, fill_value, dtype, layout, device, pin_memory, error),
      result);
}

XP_LIBRARY_IMPL (aten, Meta, m)
{
  xp_impl_aten_view (m, view);
  xp_impl_aten_copy_ (m, copy_);
  xp_impl_aten_fill__Scalar (m, fill_);
  xp_impl_aten_empty_memory_format (m, empty);
  xp_impl_aten_full (m, full);
}
