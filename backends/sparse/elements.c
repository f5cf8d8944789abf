/* SPDX-License-Identifier: MIT
 *
 * elements.c: the one loop over elements that sums of entries are made of, for each dtype.
 */
#include "sparse.h"

#include <complex.h>
#include <string.h>

/* Integers wrap, which only the unsigned types may; a bool is the "or" of what is added. */
#define SUM_TYPES(_)                                                                               \
  _ (UINT8, uint8_t)                                                                               \
  _ (INT8, int8_t)                                                                                 \
  _ (INT16, int16_t)                                                                               \
  _ (INT32, uint32_t)                                                                              \
  _ (INT64, uint64_t)                                                                              \
  _ (FLOAT32, float)                                                                               \
  _ (FLOAT64, double)                                                                              \
  _ (COMPLEX64, float complex)                                                                     \
  _ (COMPLEX128, double complex)                                                                   \
  _ (BOOL, bool)

#define DEFINE_MULTIPLY_ADD(dtype, type)                                                           \
  static void multiply_add_##dtype (void *sums, const void *factor, const void *elements,          \
                                    int64_t n)                                                     \
  {                                                                                                \
    type *restrict to = sums;                                                                      \
    const type *restrict from = elements;                                                          \
    const type by = *(const type *) factor;                                                        \
    for (int64_t i = 0; i < n; i++)                                                                \
      to[i] = (type) (to[i] + by * from[i]);                                                       \
  }

SUM_TYPES (DEFINE_MULTIPLY_ADD)

MultiplyAdd
multiply_add_for (XpDType dtype)
{
#define ENTRY(dtype, type) [XP_##dtype] = multiply_add_##dtype,
  static const MultiplyAdd functions[XP_DTYPE_LIMIT] = { SUM_TYPES (ENTRY) };
  return functions[dtype];
}

XpDType
sum_dtype (XpDType dtype)
{
  return dtype == XP_FLOAT16 || dtype == XP_BFLOAT16 ? XP_FLOAT32 : dtype;
}

XpDType
result_dtype (XpTensor *self, XpTensor *other)
{
  XpResultType state = { { FALSE } };
  xp_result_type_add_tensor (&state, self);
  xp_result_type_add_tensor (&state, other);
  return xp_result_type_finish (&state);
}

XpTensor *
copied (XpTensor *tensor, XpDType dtype, GError **error)
{
  g_autoptr (XpTensor) copy = xp_tensor_new (dtype, xp_tensor_shape (tensor), XP_CPU, error);
  XpTensor *result = NULL;
  if (copy != NULL)
    xp_aten_copy_ (copy, tensor, false, &result, error);
  return result;
}

XpTensor *
converted (XpTensor *tensor, XpDType dtype, GError **error)
{
  if (xp_tensor_dtype (tensor) == dtype && xp_tensor_is_contiguous (tensor))
    return xp_tensor_ref (tensor);
  return copied (tensor, dtype, error);
}

XpTensor *
zeros_new (XpDType dtype, XpInts shape, GError **error)
{
  XpTensor *zeros = xp_tensor_new (dtype, shape, XP_CPU, error);
  if (zeros != NULL && zeros->numel > 0)
    memset (xp_tensor_data (zeros), 0, (size_t) zeros->numel * xp_dtype_size (dtype));
  return zeros;
}

XpTensor *
number_of (XpValue scalar, XpDType dtype, GError **error)
{
  return xp_tensor_new_scalar (scalar, (int) dtype, XP_CPU, error);
}
