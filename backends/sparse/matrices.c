/* SPDX-License-Identifier: MIT
 *
 * matrices.c: products of a sparse matrix: with a dense one, which is dense, and with a sparse one,
 * which is sparse.
 */
#include "sparse.h"

static XpStatus
check_product (XpTensor *sparse, XpTensor *dense, GError **error)
{
  int dims = sparse->dl.ndim != 2 ? sparse->dl.ndim : dense->dl.ndim;
  if (dims != 2)
    xp_error_set (error, XP_ERROR_SHAPE, NULL, "addmm: matrices expected, got %dD tensor", dims);
  else if (dense->dl.shape[0] != sparse->dl.shape[1])
    xp_error_set (error, XP_ERROR_SHAPE, &(XpErrorDetails){ .argument = (char *) "mat2" },
                  "addmm: Argument #3 (dense): Expected dim 0 size %" G_GINT64_FORMAT
                  ", got %" G_GINT64_FORMAT,
                  sparse->dl.shape[1], dense->dl.shape[0]);
  else
    return XP_OK;
  return XP_FAILED;
}

static XpStatus
check_dtype (XpTensor *expected, XpTensor *found, GError **error)
{
  if (expected->dtype == found->dtype)
    return XP_OK;
  xp_error_set (error, XP_ERROR_DTYPE, NULL, "expected scalar type %s but found %s",
                xp_dtype_message_name (xp_tensor_dtype (expected)),
                xp_dtype_message_name (xp_tensor_dtype (found)));
  return XP_FAILED;
}

/* What a matrix product needs of a tensor in COO layout: both dimensions sparse. */
static const Coo *
matrix_get (XpTensor *tensor, GError **error)
{
  const Coo *coo = coo_get (tensor, error);
  if (coo == NULL || coo_sparse_dims (coo) == 2)
    return coo;
  xp_error_set (error, XP_ERROR_SHAPE, NULL, "addmm: matrices expected, got %dD tensor",
                coo_sparse_dims (coo));
  return NULL;
}

/* @sums += @factor * @sparse * @dense. @sums is contiguous; it and the numbers are of its dtype. */
static XpStatus
accumulate (XpTensor *sums, XpTensor *sparse, XpTensor *dense, XpValue factor, GError **error)
{
  XpDType dtype = xp_tensor_dtype (sums);
  size_t size = xp_dtype_size (dtype);
  MultiplyAdd multiply_add = multiply_add_for (dtype);
  const Coo *coo = matrix_get (sparse, error);
  if (coo == NULL)
    return XP_FAILED;
  g_autoptr (XpTensor) rows = converted (dense, dtype, error);
  g_autoptr (XpTensor) plain = rows != NULL ? converted (coo->values, dtype, error) : NULL;
  g_autoptr (XpTensor) number = plain != NULL ? number_of (factor, dtype, error) : NULL;
  g_autoptr (XpTensor) values = NULL;
  if (number == NULL || xp_aten_mul_Tensor (plain, number, &values, error) != XP_OK)
    return XP_FAILED;
  int64_t width = sums->dl.shape[1];
  size_t row = (size_t) width * size;
  for (int64_t i = 0; i < coo_entries (coo) && width > 0; i++)
    multiply_add ((char *) xp_tensor_data (sums) + (size_t) coo_index (coo, 0)[i] * row,
                  (const char *) xp_tensor_data (values) + (size_t) i * size,
                  (const char *) xp_tensor_data (rows) + (size_t) coo_index (coo, 1)[i] * row,
                  width);
  return XP_OK;
}

static XpStatus
finish (XpTensor *sums, XpDType dtype, XpTensor **result, GError **error)
{
  *result = converted (sums, dtype, error);
  return *result != NULL ? XP_OK : XP_FAILED;
}

/* --- Sparse by sparse. --- */

/* The first of the sorted @rows that is not below @row. */
static int64_t
find_row (const int64_t *rows, int64_t n, int64_t row)
{
  int64_t low = 0;
  while (low < n)
    {
      int64_t middle = low + (n - low) / 2;
      if (rows[middle] < row)
        low = middle + 1;
      else
        n = middle;
    }
  return low;
}

/* The entries of a row of a coalesced matrix. */
static int64_t
row_entries (const Coo *coo, int64_t row, int64_t *first)
{
  const int64_t *rows = coo_index (coo, 0);
  *first = find_row (rows, coo_entries (coo), row);
  return find_row (rows, coo_entries (coo), row + 1) - *first;
}

static XpStatus
count_products (const Coo *left, const Coo *right, int64_t *n, GError **error)
{
  int64_t first;
  *n = 0;
  for (int64_t i = 0; i < coo_entries (left); i++)
    if (__builtin_add_overflow (*n, row_entries (right, coo_index (left, 1)[i], &first), n))
      {
        xp_error_set (error, XP_ERROR_LIMIT, NULL,
                      "the product of these sparse matrices takes more than 2^63 entries");
        return XP_FAILED;
      }
  return XP_OK;
}

/* Each entry of @left times the row of @right that it meets, one after the other. */
static void
list_products (const Coo *left, const Coo *right, XpDType dtype, XpTensor *const elements[2],
               XpTensor *indices, XpTensor *values)
{
  size_t size = xp_dtype_size (dtype);
  MultiplyAdd multiply_add = multiply_add_for (dtype);
  int64_t n = values->dl.shape[0], to = 0;
  int64_t *index = xp_tensor_data (indices);
  for (int64_t i = 0; i < coo_entries (left); i++)
    {
      int64_t first, count = row_entries (right, coo_index (left, 1)[i], &first);
      if (count == 0)
        continue;
      for (int64_t j = 0; j < count; j++)
        {
          index[to + j] = coo_index (left, 0)[i];
          index[n + to + j] = coo_index (right, 1)[first + j];
        }
      multiply_add ((char *) xp_tensor_data (values) + (size_t) to * size,
                    (const char *) xp_tensor_data (elements[0]) + (size_t) i * size,
                    (const char *) xp_tensor_data (elements[1]) + (size_t) first * size, count);
      to += count;
    }
}

static XpStatus
check_sparse_product (XpTensor *self, XpTensor *mat2, GError **error)
{
  int dims = self->dl.ndim != 2 ? self->dl.ndim : mat2->dl.ndim;
  if (dims != 2)
    xp_error_set (error, XP_ERROR_SHAPE, NULL, "mm: matrices expected, got %dD tensor", dims);
  else if (self->dl.shape[1] != mat2->dl.shape[0])
    xp_error_set (error, XP_ERROR_SHAPE, NULL,
                  "mat1 and mat2 shapes cannot be multiplied (%" G_GINT64_FORMAT
                  "x%" G_GINT64_FORMAT " and %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT ")",
                  self->dl.shape[0], self->dl.shape[1], mat2->dl.shape[0], mat2->dl.shape[1]);
  else if (self->dtype != mat2->dtype)
    xp_error_set (error, XP_ERROR_DTYPE, NULL, "mat1 dtype %s does not match mat2 dtype %s",
                  xp_dtype_message_name (xp_tensor_dtype (self)),
                  xp_dtype_message_name (xp_tensor_dtype (mat2)));
  else
    return XP_OK;
  return XP_FAILED;
}

static XpStatus
multiply_sparse (XpTensor *self, XpTensor *mat2, XpTensor **result, GError **error)
{
  g_autoptr (XpTensor) sorted = NULL;
  int64_t n;
  if (check_sparse_product (self, mat2, error) != XP_OK
      || xp_aten_coalesce (mat2, &sorted, error) != XP_OK)
    return XP_FAILED;
  const Coo *left = matrix_get (self, error);
  const Coo *right = left != NULL ? matrix_get (sorted, error) : NULL;
  if (right == NULL || count_products (left, right, &n, error) != XP_OK)
    return XP_FAILED;
  XpDType dtype = xp_tensor_dtype (self), wide = sum_dtype (dtype);
  XpInts shape = XP_INTS (self->dl.shape[0], mat2->dl.shape[1]);
  g_autoptr (XpTensor) first = converted (left->values, wide, error);
  g_autoptr (XpTensor) second = first != NULL ? converted (right->values, wide, error) : NULL;
  g_autoptr (XpTensor) indices = second != NULL ? coo_indices_new (2, n, error) : NULL;
  g_autoptr (XpTensor) values = indices != NULL ? zeros_new (wide, XP_INTS (n), error) : NULL;
  if (values == NULL)
    return XP_FAILED;
  list_products (left, right, wide, (XpTensor *const[]){ first, second }, indices, values);
  g_autoptr (XpTensor) products = coo_tensor_new (shape, g_steal_pointer (&indices),
                                                  converted (values, dtype, error), FALSE, error);
  return products != NULL ? xp_aten__coalesce (products, result, error) : XP_FAILED;
}

/* --- The operators. --- */

static XpStatus
mm (XpCall *call, XpTensor *self, XpTensor *mat2, XpTensor **result, GError **error)
{
  if (!is_sparse (self))
    return xp_call_decline (call, "a sparse matrix only as the first of two");
  if (is_sparse (mat2))
    return multiply_sparse (self, mat2, result, error);
  if (check_product (self, mat2, error) != XP_OK || check_dtype (self, mat2, error) != XP_OK)
    return XP_FAILED;
  XpDType dtype = xp_tensor_dtype (self);
  g_autoptr (XpTensor) sums = zeros_new (sum_dtype (dtype),
                                         XP_INTS (self->dl.shape[0], mat2->dl.shape[1]), error);
  if (sums == NULL || accumulate (sums, self, mat2, xp_value_int (1), error) != XP_OK)
    return XP_FAILED;
  return finish (sums, dtype, result, error);
}

/* Whether @self can be repeated to the size of the product. */
static XpStatus
check_expands (XpTensor *self, XpInts shape, GError **error)
{
  int missing = (int) shape.length - self->dl.ndim;
  g_autofree char *target = xp_shape_to_string (shape);
  g_autofree char *found = xp_shape_to_string (xp_tensor_shape (self));
  if (missing < 0)
    {
      xp_error_set (error, XP_ERROR_SHAPE, &(XpErrorDetails){ .argument = (char *) "self" },
                    "expand(%s, size=%s): the number of sizes provided (2) must be greater or "
                    "equal to the number of dimensions in the tensor (%d)",
                    found, target, self->dl.ndim);
      return XP_FAILED;
    }
  for (int d = 1; d >= missing; d--)
    if (self->dl.shape[d - missing] != shape.data[d] && self->dl.shape[d - missing] != 1)
      {
        xp_error_set (error, XP_ERROR_SHAPE, &(XpErrorDetails){ .argument = (char *) "self" },
                      "The expanded size of the tensor (%" G_GINT64_FORMAT
                      ") must match the existing size (%" G_GINT64_FORMAT
                      ") at non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                      shape.data[d], self->dl.shape[d - missing], d, target, found);
        return XP_FAILED;
      }
  return XP_OK;
}

/* @beta times @self, repeated to @shape. What is times zero is not looked at, be it NaN. */
static XpTensor *
begin_sums (XpTensor *self, XpValue beta, XpDType dtype, XpInts shape, GError **error)
{
  double real, imaginary;
  g_autoptr (XpTensor) factor = number_of (beta, dtype, error);
  g_autoptr (XpTensor) sums = factor != NULL ? zeros_new (dtype, shape, error) : NULL;
  g_autoptr (XpTensor) written = NULL;
  XpTensor *result = NULL;
  if (sums == NULL)
    return NULL;
  xp_scalar_to_complex (beta, &real, &imaginary);
  if (real == 0 && imaginary == 0)
    return g_steal_pointer (&sums);
  if (xp_aten_copy_ (sums, self, false, &written, error) == XP_OK)
    xp_aten_mul_Tensor (sums, factor, &result, error);
  return result;
}

static XpStatus
addmm (XpCall *call, XpTensor *self, XpTensor *mat1, XpTensor *mat2, XpValue beta, XpValue alpha,
       XpTensor **result, GError **error)
{
  if (is_sparse (self) || !is_sparse (mat1) || is_sparse (mat2))
    return xp_call_decline (call, "a sparse matrix only as mat1");
  XpDType dtype = xp_tensor_dtype (self), wide = sum_dtype (dtype);
  if (check_product (mat1, mat2, error) != XP_OK || check_dtype (mat1, mat2, error) != XP_OK
      || check_dtype (mat1, self, error) != XP_OK)
    return XP_FAILED;
  XpInts shape = XP_INTS (mat1->dl.shape[0], mat2->dl.shape[1]);
  if (check_expands (self, shape, error) != XP_OK)
    return XP_FAILED;
  g_autoptr (XpTensor) sums = begin_sums (self, beta, wide, shape, error);
  if (sums == NULL || accumulate (sums, mat1, mat2, alpha, error) != XP_OK)
    return XP_FAILED;
  return finish (sums, dtype, result, error);
}

XP_LIBRARY_IMPL (aten, SparseCPU, m)
{
  xp_impl_aten_mm (m, mm);
  xp_impl_aten_addmm (m, addmm);
}
