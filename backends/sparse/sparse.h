/* SPDX-License-Identifier: MIT
 *
 * sparse.h: the COO layout, which only this plugin knows.
 */
#pragma once

#include <crosspoint/aten.h>
#include <crosspoint/kernel.h>

/**
 * Coo:
 * @indices: int64, contiguous, [sparse dimensions, entries]: where each entry stands
 * @values: contiguous, [entries, sizes of the dense dimensions …]: a block for each entry
 * @is_coalesced: no place has two entries, and they are in row-major order
 *
 * A tensor in COO layout: the sum of its entries. The leading dimensions are sparse, those after
 * them dense. Every index lies within the shape. A tensor without elements has no entries.
 */
typedef struct
{
  XpTensor *indices;
  XpTensor *values;
  gboolean is_coalesced;
} Coo;

static inline int
coo_sparse_dims (const Coo *coo)
{
  return (int) coo->indices->dl.shape[0];
}

static inline int64_t
coo_entries (const Coo *coo)
{
  return coo->values->dl.shape[0];
}

/* The numbers in one dimension of all entries. */
static inline const int64_t *
coo_index (const Coo *coo, int dimension)
{
  return (const int64_t *) xp_tensor_data (coo->indices) + dimension * coo_entries (coo);
}

static inline bool
is_sparse (const XpTensor *tensor)
{
  return tensor->layout == XP_SPARSE_COO;
}

/* --- coo.c --- */

/**
 * coo_get:
 *
 * Returns: (nullable): what @tensor consists of, checked; %NULL with @error set where it is not in
 *   COO layout, another plugin has made it, or an index lies outside of its shape
 */
Coo *coo_get (XpTensor *tensor, GError **error);

/**
 * coo_tensor_new:
 * @indices: (transfer full) (nullable): see #Coo
 * @values: (transfer full) (nullable): see #Coo
 *
 * Returns: (transfer full): the tensor; %NULL with @error set, also where a part is %NULL
 */
XpTensor *coo_tensor_new (XpInts shape, XpTensor *indices, XpTensor *values, gboolean is_coalesced,
                          GError **error);

/* coo_tensor_new() for a kernel to return. */
XpStatus coo_return (XpInts shape, XpTensor *indices, XpTensor *values, gboolean is_coalesced,
                     XpTensor **result, GError **error);

/**
 * coo_replace:
 * @shape: its new shape
 * @indices: (transfer full): see #Coo
 * @values: (transfer full): see #Coo; of the dtype of @tensor
 *
 * Makes another tensor of @tensor, which is in COO layout.
 *
 * Returns: %TRUE on success
 */
gboolean coo_replace (XpTensor *tensor, XpInts shape, XpTensor *indices, XpTensor *values,
                      gboolean is_coalesced, GError **error);

/**
 * coo_indices_new:
 *
 * Returns: (transfer full): room for the indices of @n_entries
 */
XpTensor *coo_indices_new (int sparse_dims, int64_t n_entries, GError **error);

/**
 * coo_values_new:
 * @sparse_dims: how many dimensions of @shape are sparse
 *
 * Returns: (transfer full): room for the values of @n_entries
 */
XpTensor *coo_values_new (XpDType dtype, XpInts shape, int sparse_dims, int64_t n_entries,
                          GError **error);

/* coo_values_new() with zeros in it. */
XpTensor *coo_zeros_new (XpDType dtype, XpInts shape, int sparse_dims, int64_t n_entries,
                         GError **error);

/* --- elements.c --- */

/* sums[i] += factor[0] * elements[i] for @n elements of one dtype. */
typedef void (*MultiplyAdd) (void *sums, const void *factor, const void *elements, int64_t n);

/**
 * multiply_add_for:
 * @dtype: what sum_dtype() gives
 */
MultiplyAdd multiply_add_for (XpDType dtype);

/**
 * sum_dtype:
 *
 * Returns: what elements of @dtype are added up in: float32 for the 16-bit ones, else @dtype
 */
XpDType sum_dtype (XpDType dtype);

/* Returns: the dtype of what a pointwise operator makes of both */
XpDType result_dtype (XpTensor *self, XpTensor *other);

/* --- Strided tensors in host memory. --- */

/**
 * copied:
 *
 * Returns: (transfer full): a contiguous copy of @tensor
 */
XpTensor *copied (XpTensor *tensor, XpDType dtype, GError **error);

/**
 * converted:
 *
 * Returns: (transfer full): @tensor, contiguous and of @dtype; itself where it is that already
 */
XpTensor *converted (XpTensor *tensor, XpDType dtype, GError **error);

/* Returns: (transfer full): a contiguous tensor of zeros */
XpTensor *zeros_new (XpDType dtype, XpInts shape, GError **error);

/**
 * number_of:
 *
 * Returns: (transfer full): @scalar as an element of @dtype
 */
XpTensor *number_of (XpValue scalar, XpDType dtype, GError **error);

/* The number of elements in the block of an entry; 0 where there are no entries. */
static inline int64_t
block_elements (const XpTensor *values)
{
  int64_t n_entries = values->dl.shape[0];
  return n_entries > 0 ? values->numel / n_entries : 0;
}
