/* SPDX-License-Identifier: MIT
 *
 * numbers.c: arithmetic with a number: the number becomes a tensor without dimensions, flagged so
 * that it does not raise the dtype of the result within its category.
 */
#include <crosspoint/aten.h>

XP_PLUGIN ("composite", "0.1.0", "Operators made of other operators, for every backend", "MIT")

/* In host memory, whatever the device of the other operand: every backend reads it from there. */
static XpTensor *
number_new (XpValue number, GError **error)
{
  return xp_tensor_new_scalar (number, -1, XP_CPU, error);
}

static XpStatus
add_number (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpValue other, XpValue alpha,
            XpTensor **result, GError **error)
{
  g_autoptr (XpTensor) number = number_new (other, error);
  return number != NULL ? xp_aten_add_Tensor (self, number, alpha, result, error) : XP_FAILED;
}

static XpStatus
multiply_by_number (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpValue other, XpTensor **result,
                    GError **error)
{
  g_autoptr (XpTensor) number = number_new (other, error);
  return number != NULL ? xp_aten_mul_Tensor (self, number, result, error) : XP_FAILED;
}

static XpStatus
divide_by_number (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpValue other, XpTensor **result,
                  GError **error)
{
  g_autoptr (XpTensor) number = number_new (other, error);
  return number != NULL ? xp_aten_div_Tensor (self, number, result, error) : XP_FAILED;
}

XP_LIBRARY_IMPL (aten, CompositeExplicitAutograd, m)
{
  xp_impl_aten_add_Scalar (m, add_number);
  xp_impl_aten_mul_Scalar (m, multiply_by_number);
  xp_impl_aten_div_Scalar (m, divide_by_number);
}
