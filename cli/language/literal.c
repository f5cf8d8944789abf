/* SPDX-License-Identifier: MIT
 *
 * literal.c: tensors from nested lists: `tensor([[1, 2], [3, 4]], dtype=float32)`.
 */
#include "session.h"

#include <math.h>

/* The shape that the first elements show; the rest is checked while they are stored. */
static gboolean
take_shape (XpValue value, int64_t *sizes, size_t *n_dims, GError **error)
{
  *n_dims = 0;
  while (value.tag == XP_TAG_LIST)
    {
      if (*n_dims == XP_MAX_DIMENSIONS)
        return set_value_error (error, "a tensor has at most %d dimensions", XP_MAX_DIMENSIONS);
      size_t n = xp_list_length (value.as.list);
      sizes[(*n_dims)++] = (int64_t) n;
      if (n == 0)
        break;
      value = xp_list_get (value.as.list, 0);
    }
  return TRUE;
}

/* The usual type of numbers as PyTorch has it: float32 if any is a float, int64 if any is an int.
 */
static gboolean
take_dtype (XpValue value, int *dtype, GError **error)
{
  if (value.tag == XP_TAG_LIST)
    {
      for (size_t i = 0; i < xp_list_length (value.as.list); i++)
        if (!take_dtype (xp_list_get (value.as.list, i), dtype, error))
          return FALSE;
      return TRUE;
    }
  XpDType own = value.tag == XP_TAG_FLOAT     ? XP_FLOAT32
                : value.tag == XP_TAG_COMPLEX ? XP_COMPLEX64
                                              : xp_scalar_dtype (value);
  if (!xp_value_is_scalar (value))
    return set_value_error (error, "a tensor is made of numbers, found a value of type %s",
                            xp_tag_name ((XpTag) value.tag));
  *dtype = *dtype < 0 ? (int) own : (int) xp_dtype_promote ((XpDType) *dtype, own);
  return TRUE;
}

/* As torch.tensor() has it: an integer type refuses numbers outside of its range, NaN among them,
 * though an unsigned one takes those that are negative; floats become infinite. */
static gboolean
fits (XpValue value, XpDType dtype, GError **error)
{
  if (value.tag == XP_TAG_COMPLEX && xp_dtype_category (dtype) != XP_CATEGORY_COMPLEX)
    return set_value_error (error, "must be real number, not complex");
  if (xp_dtype_category (dtype) != XP_CATEGORY_INTEGER)
    return TRUE;
  gboolean is_unsigned = dtype == XP_UINT8;
  double most = ldexp (1, (int) xp_dtype_size (dtype) * 8 - !is_unsigned);
  double number = xp_scalar_to_double (value);
  gboolean is_int64 = value.tag == XP_TAG_INT && dtype == XP_INT64;
  return is_int64 || (number < most && (is_unsigned ? number > -most : number >= -most))
         || set_value_error (error, "value cannot be converted to type %s without overflow",
                             xp_dtype_name (dtype));
}

static gboolean
store (XpTensor *tensor, XpValue value, int dimension, int64_t *index, GError **error)
{
  if (dimension == xp_tensor_n_dims (tensor))
    {
      if (!xp_value_is_scalar (value))
        return set_value_error (error, "the lists of a tensor differ in depth");
      if (!fits (value, xp_tensor_dtype (tensor), error))
        return FALSE;
      xp_tensor_set_element (tensor, (*index)++, value);
      return TRUE;
    }
  if (value.tag != XP_TAG_LIST)
    return set_value_error (error, "the lists of a tensor differ in depth");
  size_t n = xp_list_length (value.as.list);
  if ((int64_t) n != xp_tensor_size (tensor, dimension))
    return set_value_error (error,
                            "expected sequence of length %" G_GINT64_FORMAT
                            " at dim %d (got %" G_GSIZE_FORMAT ")",
                            xp_tensor_size (tensor, dimension), dimension, n);
  for (size_t i = 0; i < n; i++)
    if (!store (tensor, xp_list_get (value.as.list, i), dimension + 1, index, error))
      return FALSE;
  return TRUE;
}

XpTensor *
tensor_from_value (XpValue value, int dtype, GError **error)
{
  int64_t sizes[XP_MAX_DIMENSIONS], index = 0;
  size_t n_dims;
  int own = -1;
  if (!take_shape (value, sizes, &n_dims, error) || !take_dtype (value, &own, error))
    return NULL;
  XpDType type = (XpDType) (dtype >= 0 ? dtype : own >= 0 ? own : (int) XP_FLOAT32);
  g_autoptr (XpTensor) tensor = xp_tensor_new (type, (XpInts){ sizes, n_dims }, XP_CPU, error);
  if (tensor == NULL || !store (tensor, value, 0, &index, error))
    return NULL;
  return g_steal_pointer (&tensor);
}
