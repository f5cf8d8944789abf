/* SPDX-License-Identifier: MIT
 *
 * coalesce.c: sorting the entries and adding up those of one place; the parts of a tensor, which
 * only a coalesced one shows.
 */
#include "sparse.h"

#include <stdlib.h>
#include <string.h>

/* The place of an entry in row-major order, and its number. */
typedef struct
{
  int64_t place;
  int64_t entry;
} Place;

static int
compare_places (const void *a, const void *b)
{
  const Place *first = a, *second = b;
  if (first->place != second->place)
    return first->place < second->place ? -1 : 1;
  return first->entry < second->entry ? -1 : 1;
}

/* The entries in row-major order, those of one place in the order they had; NULL without memory. A
 * place fits in 63 bits, because the number of elements does. */
static Place *
places_sorted (const Coo *coo, XpInts shape)
{
  int64_t n = coo_entries (coo);
  int64_t strides[XP_MAX_DIMENSIONS];
  Place *places = g_try_new (Place, (size_t) MAX (n, 1));
  if (places == NULL)
    return NULL;
  xp_shape_contiguous_strides ((XpInts){ shape.data, (size_t) coo_sparse_dims (coo) }, strides);
  for (int64_t i = 0; i < n; i++)
    {
      places[i] = (Place){ 0, i };
      for (int d = 0; d < coo_sparse_dims (coo); d++)
        places[i].place += coo_index (coo, d)[i] * strides[d];
    }
  qsort (places, (size_t) n, sizeof *places, compare_places);
  return places;
}

static int64_t
count_distinct (const Place *places, int64_t n)
{
  int64_t distinct = n > 0 ? 1 : 0;
  for (int64_t i = 1; i < n; i++)
    distinct += places[i].place != places[i - 1].place;
  return distinct;
}

/* Fills @indices and @values, which have room for the distinct places. */
static void
add_up (const Coo *coo, const Place *places, XpTensor *elements, XpTensor *indices,
        XpTensor *values, XpTensor *one)
{
  int64_t n = coo_entries (coo), n_distinct = values->dl.shape[0], to = -1;
  int64_t block = block_elements (elements);
  size_t n_bytes = (size_t) block * xp_dtype_size (xp_tensor_dtype (values));
  MultiplyAdd multiply_add = multiply_add_for (xp_tensor_dtype (values));
  const char *from = xp_tensor_data (elements);
  char *sums = xp_tensor_data (values);
  int64_t *index = xp_tensor_data (indices);
  for (int64_t i = 0; i < n; i++)
    {
      const char *element = from + (size_t) places[i].entry * n_bytes;
      if (i > 0 && places[i].place == places[i - 1].place)
        {
          multiply_add (sums + (size_t) to * n_bytes, xp_tensor_data (one), element, block);
          continue;
        }
      memcpy (sums + (size_t) ++to * n_bytes, element, n_bytes);
      for (int d = 0; d < coo_sparse_dims (coo); d++)
        index[d * n_distinct + to] = coo_index (coo, d)[places[i].entry];
    }
}

static XpStatus
coalesce_entries (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  const Coo *coo = coo_get (self, error);
  if (coo == NULL)
    return XP_FAILED;
  XpInts shape = xp_tensor_shape (self);
  XpDType dtype = sum_dtype (xp_tensor_dtype (self));
  g_autofree Place *places = places_sorted (coo, shape);
  g_autoptr (XpTensor) elements = converted (coo->values, dtype, error);
  g_autoptr (XpTensor) one = number_of (xp_value_int (1), dtype, error);
  if (places == NULL)
    {
      g_clear_error (error);
      xp_error_set (error, XP_ERROR_NO_MEMORY, NULL,
                    "no memory to sort the %" G_GINT64_FORMAT " entries of a sparse tensor",
                    coo_entries (coo));
    }
  if (places == NULL || elements == NULL || one == NULL)
    return XP_FAILED;
  int64_t n = count_distinct (places, coo_entries (coo));
  g_autoptr (XpTensor) indices = coo_indices_new (coo_sparse_dims (coo), n, error);
  g_autoptr (XpTensor) values = indices != NULL
                                    ? coo_values_new (dtype, shape, coo_sparse_dims (coo), n, error)
                                    : NULL;
  if (values == NULL)
    return XP_FAILED;
  add_up (coo, places, elements, indices, values, one);
  return coo_return (shape, g_steal_pointer (&indices),
                     converted (values, xp_tensor_dtype (self), error), TRUE, result, error);
}

/* A view of a part, so that what is written to it is written to the tensor. */
static XpStatus
show_part (XpTensor *self, bool is_indices, XpTensor **result, GError **error)
{
  const Coo *coo = coo_get (self, error);
  if (coo == NULL)
    return XP_FAILED;
  if (!coo->is_coalesced)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "self" },
                    "Cannot get %s on an uncoalesced tensor, please call .coalesce() first",
                    is_indices ? "indices" : "values");
      return XP_FAILED;
    }
  XpTensor *part = is_indices ? coo->indices : coo->values;
  *result = xp_tensor_new_view (part, xp_tensor_shape (part), xp_tensor_strides (part),
                                xp_tensor_storage_offset (part), error);
  return *result != NULL ? XP_OK : XP_FAILED;
}

static XpStatus
indices_of (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  return show_part (self, true, result, error);
}

static XpStatus
values_of (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  return show_part (self, false, result, error);
}

XP_LIBRARY_IMPL (aten, SparseCPU, m)
{
  xp_impl_aten__coalesce (m, coalesce_entries);
  xp_impl_aten_indices (m, indices_of);
  xp_impl_aten_values (m, values_of);
}

static XpStatus
coalesce (XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  if (!is_sparse (self))
    return xp_call_decline (call, "only sparse_coo tensors");
  const Coo *coo = coo_get (self, error);
  if (coo == NULL)
    return XP_FAILED;
  if (!coo->is_coalesced)
    return xp_aten__coalesce (self, result, error);
  *result = xp_tensor_ref (self);
  return XP_OK;
}

XP_LIBRARY_IMPL (aten, CompositeImplicitAutograd, m)
{
  xp_impl_aten_coalesce (m, coalesce);
}
