/* SPDX-License-Identifier: MIT
 *
 * addition.c: sums and differences: of two sparse tensors, which is sparse, and of a dense and a
 * sparse one, which is dense.
 */
#include "sparse.h"

#include <string.h>

static XpStatus
refuse (XpError code, const char *text, GError **error)
{
  xp_error_set (error, code, NULL, "%s", text);
  return XP_FAILED;
}

/* --- Two sparse ones. --- */

/* The entries of two tensors while they are merged, and the room they are merged into. */
typedef struct
{
  const Coo *from[2];
  const char *elements[2];
  const void *factor; /* of the second */
  int64_t at[2];
  MultiplyAdd multiply_add;
  int64_t block;
  size_t n_bytes;
  int64_t *indices;
  int64_t room; /* entries in each row of indices */
  char *sums;
} Merge;

/* Which of two entries comes first; 0 where they are in one place. */
static int
compare_next (const Merge *merge)
{
  for (int i = 0; i < 2; i++)
    if (merge->at[i] == coo_entries (merge->from[i]))
      return i == 0 ? 1 : -1;
  for (int d = 0; d < coo_sparse_dims (merge->from[0]); d++)
    {
      int64_t a = coo_index (merge->from[0], d)[merge->at[0]];
      int64_t b = coo_index (merge->from[1], d)[merge->at[1]];
      if (a != b)
        return a < b ? -1 : 1;
    }
  return 0;
}

static void
take (Merge *merge, int which, int64_t to)
{
  int64_t at = merge->at[which]++;
  for (int d = 0; d < coo_sparse_dims (merge->from[which]); d++)
    merge->indices[d * merge->room + to] = coo_index (merge->from[which], d)[at];
  char *sum = merge->sums + (size_t) to * merge->n_bytes;
  const char *element = merge->elements[which] + (size_t) at * merge->n_bytes;
  if (which == 0)
    memcpy (sum, element, merge->n_bytes);
  else
    merge->multiply_add (sum, merge->factor, element, merge->block);
}

/* Walks both as if they were sorted; where they are not, the sum has more entries than it might. */
static int64_t
merge_all (Merge *merge)
{
  int64_t to = 0;
  for (;; to++)
    {
      int order = compare_next (merge);
      bool first = order <= 0 && merge->at[0] < coo_entries (merge->from[0]);
      bool second = order >= 0 && merge->at[1] < coo_entries (merge->from[1]);
      if (!first && !second)
        return to;
      if (first)
        take (merge, 0, to);
      if (second)
        take (merge, 1, to);
    }
}

static XpStatus
check_alike (XpTensor *self, XpTensor *other, const Coo *first, const Coo *second, GError **error)
{
  XpInts shape = xp_tensor_shape (self), other_shape = xp_tensor_shape (other);
  g_autofree char *text = xp_shape_to_string (shape);
  g_autofree char *other_text = xp_shape_to_string (other_shape);
  if (strcmp (text, other_text) != 0)
    xp_error_set (error, XP_ERROR_SHAPE, NULL,
                  "add: expected sizes of 'self' and 'other' to match, but %s != %s", text,
                  other_text);
  else if (coo_sparse_dims (first) != coo_sparse_dims (second))
    xp_error_set (error, XP_ERROR_SHAPE, NULL,
                  "add: expected 'self' and 'other' to have same density, but 'self' has %d sparse "
                  "dimensions while 'other' has %d sparse dimensions",
                  coo_sparse_dims (first), coo_sparse_dims (second));
  else
    return XP_OK;
  return XP_FAILED;
}

/* The first @n entries of what there was room for. */
static XpTensor *
cut (XpInts shape, XpTensor *indices, XpTensor *values, int64_t n, XpDType dtype,
     gboolean is_coalesced, GError **error)
{
  int sparse_dims = (int) indices->dl.shape[0];
  int64_t room = indices->dl.shape[1];
  XpShape some = xp_shape_of (values);
  some.sizes[0] = n;
  g_autoptr (XpTensor) some_values = xp_tensor_new_view (values, xp_shape_ints (&some),
                                                         xp_tensor_strides (values), 0, error);
  XpTensor *packed = some_values != NULL ? coo_indices_new (sparse_dims, n, error) : NULL;
  for (int d = 0; packed != NULL && n > 0 && d < sparse_dims; d++)
    memcpy ((int64_t *) xp_tensor_data (packed) + d * n,
            (const int64_t *) xp_tensor_data (indices) + d * room, (size_t) n * sizeof (int64_t));
  return coo_tensor_new (shape, packed,
                         packed != NULL ? converted (some_values, dtype, error) : NULL,
                         is_coalesced, error);
}

static XpTensor *
add_sparse (XpTensor *self, XpTensor *other, XpValue alpha, XpDType dtype, GError **error)
{
  const Coo *coo[2] = { coo_get (self, error), NULL };
  if (coo[0] == NULL || (coo[1] = coo_get (other, error)) == NULL
      || check_alike (self, other, coo[0], coo[1], error) != XP_OK)
    return NULL;
  XpDType wide = sum_dtype (dtype);
  XpInts shape = xp_tensor_shape (self);
  int sparse_dims = coo_sparse_dims (coo[0]);
  int64_t room = coo_entries (coo[0]) + coo_entries (coo[1]);
  g_autoptr (XpTensor) factor = number_of (alpha, wide, error);
  g_autoptr (XpTensor) first = factor != NULL ? converted (coo[0]->values, wide, error) : NULL;
  g_autoptr (XpTensor) second = first != NULL ? converted (coo[1]->values, wide, error) : NULL;
  g_autoptr (XpTensor) indices = second != NULL ? coo_indices_new (sparse_dims, room, error) : NULL;
  g_autoptr (XpTensor) values = indices != NULL
                                    ? coo_zeros_new (wide, shape, sparse_dims, room, error)
                                    : NULL;
  if (values == NULL)
    return NULL;
  int64_t block = block_elements (values);
  Merge merge = { .from = { coo[0], coo[1] },
                  .elements = { xp_tensor_data (first), xp_tensor_data (second) },
                  .factor = xp_tensor_data (factor),
                  .multiply_add = multiply_add_for (wide),
                  .block = block,
                  .n_bytes = (size_t) block * xp_dtype_size (wide),
                  .indices = xp_tensor_data (indices),
                  .room = room,
                  .sums = xp_tensor_data (values) };
  int64_t n = merge_all (&merge);
  return cut (shape, indices, values, n, dtype,
              (coo[0]->is_coalesced || coo_entries (coo[0]) == 0)
                  && (coo[1]->is_coalesced || coo_entries (coo[1]) == 0),
              error);
}

/* --- A dense and a sparse one. --- */

/* Adds the entries of @coo to @dense, which is contiguous and of the dtype of @elements. */
static void
scatter (XpTensor *dense, const Coo *coo, const XpTensor *elements, const void *factor)
{
  XpDType dtype = xp_tensor_dtype (dense);
  MultiplyAdd multiply_add = multiply_add_for (dtype);
  int64_t block = block_elements (elements);
  size_t n_bytes = (size_t) block * xp_dtype_size (dtype);
  size_t size = xp_dtype_size (dtype);
  char *sums = xp_tensor_data (dense);
  const char *from = xp_tensor_data (elements);
  for (int64_t i = 0; i < coo_entries (coo); i++)
    {
      int64_t place = 0;
      for (int d = 0; d < coo_sparse_dims (coo); d++)
        place += coo_index (coo, d)[i] * dense->dl.strides[d];
      multiply_add (sums + (size_t) place * size, factor, from + (size_t) i * n_bytes, block);
    }
}

static XpStatus
check_dense (XpTensor *self, XpTensor *other, GError **error)
{
  g_autofree char *text = xp_shape_to_string (xp_tensor_shape (self));
  g_autofree char *other_text = xp_shape_to_string (xp_tensor_shape (other));
  if (is_sparse (self))
    return refuse (XP_ERROR_ARGUMENT,
                   "add(sparse, dense) is not supported. Use add(dense, sparse) instead.", error);
  if (strcmp (text, other_text) == 0)
    return XP_OK;
  xp_error_set (error, XP_ERROR_SHAPE, NULL,
                "add: expected 'self' and 'other' to have same size, but self has size %s while "
                "other has size %s (FYI: dense-sparse addition does not currently support "
                "broadcasting)",
                text, other_text);
  return XP_FAILED;
}

/* @dense plus @alpha times @other, in @sums, a contiguous tensor of the dtype they are added up in;
 * a new one where it is %NULL. */
static XpTensor *
add_to_dense (XpTensor *dense, XpTensor *other, XpValue alpha, XpDType dtype, XpTensor *sums,
              GError **error)
{
  const Coo *coo = coo_get (other, error);
  XpDType wide = sum_dtype (dtype);
  if (coo == NULL)
    return NULL;
  g_autoptr (XpTensor) factor = number_of (alpha, wide, error);
  g_autoptr (XpTensor) elements = factor != NULL ? converted (coo->values, wide, error) : NULL;
  g_autoptr (XpTensor) copy = NULL;
  if (elements == NULL)
    return NULL;
  copy = sums != NULL ? xp_tensor_ref (sums) : copied (dense, wide, error);
  if (copy == NULL)
    return NULL;
  scatter (copy, coo, elements, xp_tensor_data (factor));
  return g_steal_pointer (&copy);
}

/* --- The operators. --- */

static XpStatus
check_alpha (XpValue alpha, XpDType dtype, GError **error)
{
  XpDTypeCategory category = xp_dtype_category (dtype);
  if (alpha.tag == XP_TAG_BOOL && category != XP_CATEGORY_BOOL)
    return refuse (XP_ERROR_ARGUMENT, "Boolean alpha only supported for Boolean results.", error);
  if (alpha.tag == XP_TAG_FLOAT && category <= XP_CATEGORY_INTEGER)
    return refuse (
        XP_ERROR_ARGUMENT,
        "For integral input tensors, argument alpha must not be a floating point number.", error);
  if (alpha.tag == XP_TAG_COMPLEX && category != XP_CATEGORY_COMPLEX)
    return refuse (XP_ERROR_ARGUMENT,
                   "For non-complex input tensors, argument alpha must not be a complex number.",
                   error);
  return XP_OK;
}

static XpStatus
check_operands (XpTensor *self, XpTensor *other, XpValue alpha, GError **error)
{
  if (!(is_sparse (self) && is_sparse (other)) && check_dense (self, other, error) != XP_OK)
    return XP_FAILED;
  return check_alpha (alpha, result_dtype (self, other), error);
}

static XpStatus
add (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
     GError **error)
{
  XpDType dtype = result_dtype (self, other);
  if (check_operands (self, other, alpha, error) != XP_OK)
    return XP_FAILED;
  if (is_sparse (self))
    {
      *result = add_sparse (self, other, alpha, dtype, error);
      return *result != NULL ? XP_OK : XP_FAILED;
    }
  g_autoptr (XpTensor) sums = add_to_dense (self, other, alpha, dtype, NULL, error);
  *result = sums != NULL ? converted (sums, dtype, error) : NULL;
  return *result != NULL ? XP_OK : XP_FAILED;
}

static XpStatus
check_written (XpTensor *written, XpTensor *self, XpTensor *other, GError **error)
{
  XpDType dtype = result_dtype (self, other);
  if (is_sparse (written) != is_sparse (self))
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "out" },
                    "add: the sum of a %s and a %s tensor cannot be written to a %s one",
                    xp_layout_name ((XpLayout) self->layout),
                    xp_layout_name ((XpLayout) other->layout),
                    xp_layout_name ((XpLayout) written->layout));
      return XP_FAILED;
    }
  if (xp_dtype_can_cast (dtype, xp_tensor_dtype (written)))
    return XP_OK;
  xp_error_set (error, XP_ERROR_DTYPE, NULL,
                "Can't convert result type %s to output %s in add operation",
                xp_dtype_message_name (dtype), xp_dtype_message_name (xp_tensor_dtype (written)));
  return XP_FAILED;
}

static XpStatus
write_sparse (XpTensor *self, XpTensor *other, XpValue alpha, XpTensor *out, GError **error)
{
  XpDType dtype = result_dtype (self, other);
  if (coo_get (out, error) == NULL)
    return XP_FAILED;
  g_autoptr (XpTensor) sum = add_sparse (self, other, alpha, dtype, error);
  const Coo *coo = sum != NULL ? coo_get (sum, error) : NULL;
  XpTensor *values = coo != NULL ? converted (coo->values, xp_tensor_dtype (out), error) : NULL;
  if (values == NULL
      || !coo_replace (out, xp_tensor_shape (sum), xp_tensor_ref (coo->indices), values,
                       coo->is_coalesced, error))
    return XP_FAILED;
  return XP_OK;
}

static XpStatus
write_dense (XpTensor *self, XpTensor *other, XpValue alpha, XpTensor *out, GError **error)
{
  XpDType dtype = result_dtype (self, other);
  bool in_place = out == self && xp_tensor_is_contiguous (out)
                  && sum_dtype (dtype) == xp_tensor_dtype (out);
  g_autoptr (XpTensor) sums = add_to_dense (self, other, alpha, dtype, in_place ? out : NULL,
                                            error);
  g_autoptr (XpTensor) written = NULL;
  if (sums == NULL)
    return XP_FAILED;
  if (in_place)
    {
      xp_tensor_written (out);
      return XP_OK;
    }
  if (!xp_tensor_resize (out, xp_tensor_shape (self), error))
    return XP_FAILED;
  return xp_aten_copy_ (out, sums, false, &written, error);
}

static XpStatus
add_out (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor *out,
         XpTensor **result, GError **error)
{
  if (check_written (out, self, other, error) != XP_OK
      || check_operands (self, other, alpha, error) != XP_OK)
    return XP_FAILED;
  XpStatus status = is_sparse (self) ? write_sparse (self, other, alpha, out, error)
                                     : write_dense (self, other, alpha, out, error);
  if (status == XP_OK)
    *result = xp_tensor_ref (out);
  return status;
}

static XpStatus
add_in_place (XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
              GError **error)
{
  return add_out (call, self, other, alpha, self, result, error);
}

static XpStatus
subtract (XpCall *call, XpTensor *self, XpTensor *other, XpValue alpha, XpTensor **result,
          GError **error)
{
  bool first = self->dtype == XP_BOOL, second = other->dtype == XP_BOOL;
  if (first && second)
    return refuse (XP_ERROR_DTYPE,
                   "Subtraction, the `-` operator, with two bool tensors is not supported. Use the "
                   "`^` or `logical_xor()` operator instead.",
                   error);
  if (first || second)
    return refuse (XP_ERROR_DTYPE,
                   "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
                   "trying to invert a mask, use the `~` or `logical_not()` operator instead.",
                   error);
  double real, imaginary;
  g_auto (XpValue) negated = XP_NONE;
  switch (alpha.tag)
    {
    case XP_TAG_INT:
      negated = xp_value_int ((int64_t) (0 - (uint64_t) alpha.as.integer));
      break;
    case XP_TAG_FLOAT:
      negated = xp_value_float (-alpha.as.number);
      break;
    case XP_TAG_COMPLEX:
      xp_scalar_to_complex (alpha, &real, &imaginary);
      negated = xp_value_complex (-real, -imaginary);
      break;
    default:
      negated = alpha; /* a bool, which add refuses */
    }
  return add (call, self, other, negated, result, error);
}

XP_LIBRARY_IMPL (aten, SparseCPU, m)
{
  xp_impl_aten_add_Tensor (m, add);
  xp_impl_aten_add_out (m, add_out);
  xp_impl_aten_add__Tensor (m, add_in_place);
  xp_impl_aten_sub_Tensor (m, subtract);
}
