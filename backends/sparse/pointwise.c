/* SPDX-License-Identifier: MIT
 *
 * pointwise.c: products, quotients and negatives: what needs to be computed only where the sparse
 * operand has entries. The arithmetic is that of the dense operators, on the values.
 */
#include "sparse.h"

#include <string.h>

/* @self with other values. */
static XpStatus
with_values (XpTensor *self, const Coo *coo, XpTensor *values, XpTensor **result, GError **error)
{
  XpTensor *indices = values != NULL ? copied (coo->indices, XP_INT64, error) : NULL;
  return coo_return (xp_tensor_shape (self), indices, values, coo->is_coalesced, result, error);
}

/* --- By a dense tensor. --- */

static gboolean
check_broadcast (XpTensor *sparse, XpTensor *dense, GError **error)
{
  XpShape shape;
  XpInts own = xp_tensor_shape (sparse);
  if (!xp_broadcast (xp_tensor_shape (dense), own, &shape, error))
    return FALSE;
  g_autofree char *needed = xp_shape_to_string (xp_shape_ints (&shape));
  g_autofree char *found = xp_shape_to_string (own);
  if (strcmp (needed, found) == 0)
    return TRUE;
  xp_error_set (error, XP_ERROR_SHAPE, NULL,
                "mul: a sparse tensor of size %s would be repeated to size %s, which is not "
                "supported: only the dense operand may broadcast",
                found, needed);
  return FALSE;
}

/* The elements of @dense, which broadcasts to @sparse, where that one has entries. */
static XpTensor *
pick (XpTensor *sparse, const Coo *coo, XpTensor *dense, GError **error)
{
  XpDType dtype = xp_tensor_dtype (dense);
  XpShape shape = xp_shape_of (sparse);
  int sparse_dims = coo_sparse_dims (coo);
  int64_t strides[XP_MAX_DIMENSIONS];
  size_t size = xp_dtype_size (dtype);
  XpTensor *picked = coo_values_new (dtype, xp_shape_ints (&shape), sparse_dims, coo_entries (coo),
                                     error);
  if (picked == NULL || picked->numel == 0)
    return picked;
  xp_broadcast_strides (dense, &shape, strides);
  char *to = xp_tensor_data (picked);
  const char *from = xp_tensor_data (dense);
  int64_t block = block_elements (picked);
  for (int64_t i = 0; i < coo_entries (coo); i++)
    {
      int64_t start = 0;
      for (int d = 0; d < sparse_dims; d++)
        start += coo_index (coo, d)[i] * strides[d];
      for (int64_t j = 0; j < block; j++, to += size)
        {
          int64_t at = start, left = j;
          for (int d = shape.n_dims - 1; d >= sparse_dims; d--)
            {
              at += left % shape.sizes[d] * strides[d];
              left /= shape.sizes[d];
            }
          memcpy (to, from + at * (int64_t) size, size);
        }
    }
  return picked;
}

static XpStatus
multiply_by_dense (XpTensor *sparse, XpTensor *dense, XpDType dtype, XpTensor **result,
                   GError **error)
{
  const Coo *coo = coo_get (sparse, error);
  if (coo == NULL || !check_broadcast (sparse, dense, error))
    return XP_FAILED;
  g_autoptr (XpTensor) picked = pick (sparse, coo, dense, error);
  g_autoptr (XpTensor) factors = picked != NULL ? converted (picked, dtype, error) : NULL;
  g_autoptr (XpTensor) values = factors != NULL ? converted (coo->values, dtype, error) : NULL;
  XpTensor *products = NULL;
  if (values != NULL)
    xp_aten_mul_Tensor (values, factors, &products, error);
  return with_values (sparse, coo, products, result, error);
}

/* --- By a sparse one. --- */

/* Two factors: the entries of one are walked, and looked up in the other, which is coalesced. */
typedef struct
{
  const Coo *walked;
  const Coo *sorted;
} Factors;

/* Where the entry @at of the sorted factor lies from the entry @entry of the walked one. */
static int
compare_entries (const Factors *factors, int64_t entry, int64_t at)
{
  for (int d = 0; d < coo_sparse_dims (factors->walked); d++)
    {
      int64_t a = coo_index (factors->sorted, d)[at];
      int64_t b = coo_index (factors->walked, d)[entry];
      if (a != b)
        return a < b ? -1 : 1;
    }
  return 0;
}

/* The entry of the sorted factor that is in the place of @entry; -1 where there is none. */
static int64_t
find_entry (const Factors *factors, int64_t entry)
{
  int64_t low = 0, high = coo_entries (factors->sorted);
  while (low < high)
    {
      int64_t middle = low + (high - low) / 2;
      int order = compare_entries (factors, entry, middle);
      if (order == 0)
        return middle;
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return -1;
}

/* The entries in common, by their numbers in the walked and in the sorted factor. */
static int64_t
find_common (const Factors *factors, int64_t *in_walked, int64_t *in_sorted)
{
  int64_t n = 0;
  for (int64_t i = 0; i < coo_entries (factors->walked); i++)
    {
      int64_t found = find_entry (factors, i);
      if (found < 0)
        continue;
      in_walked[n] = i;
      in_sorted[n++] = found;
    }
  return n;
}

/* Some blocks of @values, of @dtype. */
static XpTensor *
choose (XpTensor *values, const int64_t *chosen, int64_t n, XpDType dtype, GError **error)
{
  XpShape shape = xp_shape_of (values);
  shape.sizes[0] = n;
  size_t n_bytes = (size_t) block_elements (values) * xp_dtype_size (xp_tensor_dtype (values));
  g_autoptr (XpTensor) some = xp_tensor_new (xp_tensor_dtype (values), xp_shape_ints (&shape),
                                             XP_CPU, error);
  if (some == NULL)
    return NULL;
  char *to = xp_tensor_data (some);
  const char *from = xp_tensor_data (values);
  for (int64_t i = 0; i < n && n_bytes > 0; i++)
    memcpy (to + (size_t) i * n_bytes, from + (size_t) chosen[i] * n_bytes, n_bytes);
  return converted (some, dtype, error);
}

static XpStatus
multiply_common (XpInts shape, const Factors *factors, XpDType dtype, gboolean is_coalesced,
                 XpTensor **result, GError **error)
{
  int sparse_dims = coo_sparse_dims (factors->walked);
  int64_t room = coo_entries (factors->walked);
  g_autoptr (XpTensor) common = xp_tensor_new (XP_INT64, XP_INTS (2, room), XP_CPU, error);
  if (common == NULL)
    return XP_FAILED;
  int64_t *first = xp_tensor_data (common), *second = first != NULL ? first + room : NULL;
  int64_t n = find_common (factors, first, second);
  g_autoptr (XpTensor) left = choose (factors->walked->values, first, n, dtype, error);
  g_autoptr (XpTensor) right = left != NULL
                                   ? choose (factors->sorted->values, second, n, dtype, error)
                                   : NULL;
  g_autoptr (XpTensor) indices = right != NULL ? coo_indices_new (sparse_dims, n, error) : NULL;
  XpTensor *products = NULL;
  if (indices == NULL || xp_aten_mul_Tensor (left, right, &products, error) != XP_OK)
    return XP_FAILED;
  int64_t *to = xp_tensor_data (indices);
  for (int d = 0; d < sparse_dims; d++)
    for (int64_t i = 0; i < n; i++)
      to[d * n + i] = coo_index (factors->walked, d)[first[i]];
  return coo_return (shape, g_steal_pointer (&indices), products, is_coalesced, result, error);
}

static gboolean
check_factors (XpTensor *self, XpTensor *other, const Coo *first, const Coo *second, GError **error)
{
  g_autofree char *text = xp_shape_to_string (xp_tensor_shape (self));
  g_autofree char *other_text = xp_shape_to_string (xp_tensor_shape (other));
  if (strcmp (text, other_text) == 0 && coo_sparse_dims (first) == coo_sparse_dims (second))
    return TRUE;
  xp_error_set (error, XP_ERROR_SHAPE, NULL,
                "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal "
                "dimensionality, number of sparse dimensions, and shape of sparse dimensions; "
                "found sizes %s and %s with %d and %d sparse dimensions",
                text, other_text, coo_sparse_dims (first), coo_sparse_dims (second));
  return FALSE;
}

/* The product has the order of the factor that is not coalesced, as PyTorch's has. */
static XpStatus
multiply_sparse (XpTensor *self, XpTensor *other, XpDType dtype, XpTensor **result, GError **error)
{
  const Coo *first = coo_get (self, error);
  const Coo *second = first != NULL ? coo_get (other, error) : NULL;
  if (second == NULL || !check_factors (self, other, first, second, error))
    return XP_FAILED;
  bool walks_other = first->is_coalesced && !second->is_coalesced;
  g_autoptr (XpTensor) coalesced = NULL;
  if (xp_aten_coalesce (walks_other ? self : other, &coalesced, error) != XP_OK)
    return XP_FAILED;
  Factors factors = { walks_other ? second : first, coo_get (coalesced, error) };
  if (factors.sorted == NULL)
    return XP_FAILED;
  bool is_coalesced = (first->is_coalesced && second->is_coalesced) || coo_entries (first) == 0
                      || coo_entries (second) == 0;
  return multiply_common (xp_tensor_shape (self), &factors, dtype, is_coalesced, result, error);
}

/* --- The operators. --- */

static XpStatus
multiply (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result,
          GError **error)
{
  XpDType dtype = result_dtype (self, other);
  g_autoptr (XpTensor) number = NULL;
  if (!is_sparse (self))
    return multiply_by_dense (other, self, dtype, result, error);
  if (!is_sparse (other))
    return multiply_by_dense (self, other, dtype, result, error);
  if (self->dl.ndim > 0 && other->dl.ndim > 0)
    return multiply_sparse (self, other, dtype, result, error);
  bool is_first = self->dl.ndim == 0;
  if (xp_aten_to_dense (is_first ? self : other, NULL, &number, error) != XP_OK)
    return XP_FAILED;
  return multiply_by_dense (is_first ? other : self, number, dtype, result, error);
}

static XpStatus
divide (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result,
        GError **error)
{
  g_autofree char *shape = xp_shape_to_string (xp_tensor_shape (other));
  if (other->dl.ndim != 0 || is_sparse (other))
    {
      g_autofree char *found = other->dl.ndim != 0 ? g_strdup_printf ("shape %s for divisor", shape)
                                                   : g_strdup ("a sparse divisor");
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "other" },
                    "Sparse division requires a scalar or zero-dim dense tensor divisor (got %s)",
                    found);
      return XP_FAILED;
    }
  const Coo *coo = coo_get (self, error);
  if (coo == NULL)
    return XP_FAILED;
  g_autoptr (XpTensor) values = converted (coo->values, result_dtype (self, other), error);
  XpTensor *quotients = NULL;
  if (values != NULL)
    xp_aten_div_Tensor (values, other, &quotients, error);
  return with_values (self, coo, quotients, result, error);
}

static XpStatus
negate (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  const Coo *coo = coo_get (self, error);
  XpTensor *values = NULL;
  if (coo == NULL || xp_aten_neg (coo->values, &values, error) != XP_OK)
    return XP_FAILED;
  return with_values (self, coo, values, result, error);
}

XP_LIBRARY_IMPL (aten, SparseCPU, m)
{
  xp_impl_aten_mul_Tensor (m, multiply);
  xp_impl_aten_div_Tensor (m, divide);
  xp_impl_aten_neg (m, negate);
}
