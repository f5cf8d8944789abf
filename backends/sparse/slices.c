/* SPDX-License-Identifier: MIT
 *
 * slices.c: transpose and select, which for a sparse tensor make a new one.
 */
#include "prepare.h"
#include "sparse.h"

#include <string.h>

static XpStatus
transpose (G_GNUC_UNUSED XpCall *call, XpTensor *self, int64_t dim0, int64_t dim1,
           XpTensor **result, GError **error)
{
  int first, second;
  XpShape shape = xp_shape_of (self);
  const Coo *coo = coo_get (self, error);
  if (coo == NULL || !xp_wrap_dimension (dim0, self->dl.ndim, &first, error)
      || !xp_wrap_dimension (dim1, self->dl.ndim, &second, error))
    return XP_FAILED;
  if (first == second)
    return xp_aten_clone (self, NULL, result, error);
  if (MAX (first, second) >= coo_sparse_dims (coo))
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, NULL,
                    "sparse transpose: transposed dimensions must be sparse Got sparse_dim: %d, "
                    "d0: %d, d1: %d",
                    coo_sparse_dims (coo), first, second);
      return XP_FAILED;
    }
  shape.sizes[first] = self->dl.shape[second];
  shape.sizes[second] = self->dl.shape[first];
  int64_t n = coo_entries (coo);
  XpTensor *indices = copied (coo->indices, XP_INT64, error);
  XpTensor *values = indices != NULL ? copied (coo->values, xp_tensor_dtype (self), error) : NULL;
  if (values != NULL && n > 0)
    {
      int64_t *to = xp_tensor_data (indices);
      memcpy (to + first * n, coo_index (coo, second), (size_t) n * sizeof *to);
      memcpy (to + second * n, coo_index (coo, first), (size_t) n * sizeof *to);
    }
  return coo_return (xp_shape_ints (&shape), indices, values, coo->is_coalesced && n == 0, result,
                     error);
}

/* --- Select. --- */

/* The entries at @index of @dimension, with their blocks. */
static XpTensor *
choose_values (const Coo *coo, XpInts shape, int dimension, int64_t index, GError **error)
{
  int64_t n = 0, to = 0;
  for (int64_t i = 0; i < coo_entries (coo); i++)
    n += coo_index (coo, dimension)[i] == index;
  XpDType dtype = xp_tensor_dtype (coo->values);
  size_t n_bytes = (size_t) block_elements (coo->values) * xp_dtype_size (dtype);
  XpTensor *values = coo_values_new (dtype, shape, coo_sparse_dims (coo), n, error);
  for (int64_t i = 0; values != NULL && to < n; i++)
    if (coo_index (coo, dimension)[i] == index)
      memcpy ((char *) xp_tensor_data (values) + (size_t) to++ * n_bytes,
              (const char *) xp_tensor_data (coo->values) + (size_t) i * n_bytes, n_bytes);
  return values;
}

/* The places of the @n entries at @index of @dimension in the other sparse dimensions. */
static XpTensor *
choose_indices (const Coo *coo, int dimension, int64_t index, int64_t n, GError **error)
{
  XpTensor *indices = coo_indices_new (coo_sparse_dims (coo) - 1, n, error);
  int64_t *at = indices != NULL ? xp_tensor_data (indices) : NULL;
  for (int d = 0; at != NULL && d < coo_sparse_dims (coo); d++)
    for (int64_t i = 0; d != dimension && i < coo_entries (coo); i++)
      if (coo_index (coo, dimension)[i] == index)
        *at++ = coo_index (coo, d)[i];
  return indices;
}

static XpStatus
select_sparse_dimension (XpTensor *self, const Coo *coo, int dimension, int64_t index, XpInts shape,
                         XpTensor **result, GError **error)
{
  XpTensor *values = choose_values (coo, xp_tensor_shape (self), dimension, index, error);
  if (values == NULL)
    return XP_FAILED;
  int64_t n = values->dl.shape[0];
  if (coo_sparse_dims (coo) > 1)
    return coo_return (shape, choose_indices (coo, dimension, index, n, error), values, n < 2,
                       result, error);
  /* No sparse dimension is left: what remains is the dense sum of the entries. */
  XpDType dtype = xp_tensor_dtype (values);
  XpInts first = XP_INTS (0);
  XpStatus status = xp_aten_sum_dim_IntList (values, &first, false, &dtype, result, error);
  xp_tensor_unref (values);
  return status;
}

static XpStatus
select_dense_dimension (XpTensor *self, const Coo *coo, int dimension, int64_t index, XpInts shape,
                        XpTensor **result, GError **error)
{
  int along = dimension - coo_sparse_dims (coo) + 1;
  const int64_t *strides = coo->values->dl.strides;
  XpShape some = xp_shape_of (coo->values);
  int64_t some_strides[XP_MAX_DIMENSIONS];
  some.n_dims--;
  for (int i = 0; i < some.n_dims; i++)
    {
      some.sizes[i] = coo->values->dl.shape[i < along ? i : i + 1];
      some_strides[i] = strides[i < along ? i : i + 1];
    }
  int64_t offset = coo->values->numel > 0
                       ? xp_tensor_storage_offset (coo->values) + index * strides[along]
                       : 0;
  g_autoptr (XpTensor) view = xp_tensor_new_view (coo->values, xp_shape_ints (&some),
                                                  (XpInts){ some_strides, (size_t) some.n_dims },
                                                  offset, error);
  XpTensor *values = view != NULL ? copied (view, xp_tensor_dtype (self), error) : NULL;
  XpTensor *indices = values != NULL ? copied (coo->indices, XP_INT64, error) : NULL;
  return coo_return (shape, indices, values, coo_entries (coo) < 2, result, error);
}

static XpStatus
select_index (G_GNUC_UNUSED XpCall *call, XpTensor *self, int64_t dim, int64_t index,
              XpTensor **result, GError **error)
{
  int d;
  const Coo *coo = coo_get (self, error);
  if (coo == NULL || !prepare_select (self, dim, index, &d, &index, error))
    return XP_FAILED;
  XpShape shape = xp_shape_of (self);
  shape.n_dims--;
  for (int i = d; i < shape.n_dims; i++)
    shape.sizes[i] = shape.sizes[i + 1];
  XpInts sizes = xp_shape_ints (&shape);
  return d < coo_sparse_dims (coo)
             ? select_sparse_dimension (self, coo, d, index, sizes, result, error)
             : select_dense_dimension (self, coo, d, index, sizes, result, error);
}

XP_LIBRARY_IMPL (aten, SparseCPU, m)
{
  xp_impl_aten_transpose_int (m, transpose);
  xp_impl_aten_select_int (m, select_index);
}
