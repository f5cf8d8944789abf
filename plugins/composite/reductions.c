/* SPDX-License-Identifier: MIT
 *
 * reductions.c: sum and mean of all elements.
 */
#include <crosspoint/aten.h>

static XpStatus
sum_all (G_GNUC_UNUSED XpCall *call, XpTensor *self, const XpDType *dtype, XpTensor **result,
         GError **error)
{
  return xp_aten_sum_dim_IntList (self, NULL, false, dtype, result, error);
}

static XpStatus
mean_all (G_GNUC_UNUSED XpCall *call, XpTensor *self, const XpDType *dtype, XpTensor **result,
          GError **error)
{
  XpDType type = dtype != NULL ? *dtype : xp_tensor_dtype (self);
  g_autoptr (XpTensor) sum = NULL;
  if (xp_dtype_category (type) < XP_CATEGORY_FLOAT)
    {
      xp_error_set (error, XP_ERROR_DTYPE, &(XpErrorDetails){ .op = (char *) "aten::mean" },
                    "mean(): could not infer output dtype. %s dtype must be either a floating "
                    "point or complex dtype. Got: %s",
                    dtype != NULL ? "Optional" : "Input", xp_dtype_message_name (type));
      return XP_FAILED;
    }
  if (xp_aten_sum_dim_IntList (self, NULL, false, &type, &sum, error) != XP_OK)
    return XP_FAILED;
  return xp_aten_div_Scalar (sum, xp_value_int (self->numel), result, error);
}

XP_LIBRARY_IMPL (aten, CompositeExplicitAutograd, m)
{
  xp_impl_aten_sum (m, sum_all);
  xp_impl_aten_mean (m, mean_all);
}
