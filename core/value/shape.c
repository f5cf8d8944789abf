/* SPDX-License-Identifier: MIT
 *
 * shape.c: shapes and strides as kernels compute with them. The rules and words are PyTorch's.
 */
#include <crosspoint/kernel.h>
#include <string.h>

XpShape
xp_shape_of (const XpTensor *tensor)
{
  XpShape shape = { .n_dims = tensor->dl.ndim };
  if (shape.n_dims > 0)
    memcpy (shape.sizes, tensor->dl.shape, (size_t) shape.n_dims * sizeof *shape.sizes);
  return shape;
}

char *
xp_shape_to_string (XpInts shape)
{
  GString *text = g_string_new ("[");
  for (size_t i = 0; i < shape.length; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", shape.data[i]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

gboolean
xp_shape_from_ints (XpInts sizes, XpShape *shape, GError **error)
{
  if (sizes.length > XP_MAX_DIMENSIONS)
    {
      xp_error_set (error, XP_ERROR_LIMIT, NULL,
                    "a tensor has at most %d dimensions; %" G_GSIZE_FORMAT " were asked for",
                    XP_MAX_DIMENSIONS, sizes.length);
      return FALSE;
    }
  shape->n_dims = (int) sizes.length;
  for (size_t i = 0; i < sizes.length; i++)
    {
      if (sizes.data[i] < 0)
        {
          g_autofree char *text = xp_shape_to_string (sizes);
          xp_error_set (error, XP_ERROR_SHAPE, NULL,
                        "Trying to create tensor with negative dimension %" G_GINT64_FORMAT ": %s",
                        sizes.data[i], text);
          return FALSE;
        }
      shape->sizes[i] = sizes.data[i];
    }
  return TRUE;
}

gboolean
xp_shape_numel (XpInts shape, int64_t *numel, GError **error)
{
  gboolean overflow = FALSE;
  *numel = 1;
  for (size_t i = 0; i < shape.length; i++)
    if (shape.data[i] == 0)
      {
        *numel = 0;
        return TRUE;
      }
  for (size_t i = 0; i < shape.length && !overflow; i++)
    overflow = __builtin_mul_overflow (*numel, shape.data[i], numel);
  if (overflow)
    {
      g_autofree char *text = xp_shape_to_string (shape);
      xp_error_set (error, XP_ERROR_LIMIT, NULL, "shape %s has more than 2^63 - 1 elements", text);
    }
  return !overflow;
}

void
xp_shape_contiguous_strides (XpInts shape, int64_t *strides)
{
  int64_t stride = 1;
  for (size_t i = shape.length; i-- > 0;)
    {
      strides[i] = stride;
      /* Only a shape with a size of 0 can overflow here, and then no element is ever reached. */
      if (__builtin_mul_overflow (stride, MAX (shape.data[i], 1), &stride))
        stride = 1;
    }
}

gboolean
xp_broadcast (XpInts a, XpInts b, XpShape *result, GError **error)
{
  size_t n = MAX (a.length, b.length);
  g_return_val_if_fail (n <= XP_MAX_DIMENSIONS, FALSE);
  result->n_dims = (int) n;
  for (size_t i = n; i-- > 0;) /* so that the last mismatch is the one that is named */
    {
      int64_t size_a = i + a.length >= n ? a.data[i + a.length - n] : 1;
      int64_t size_b = i + b.length >= n ? b.data[i + b.length - n] : 1;
      if (size_a != size_b && size_a != 1 && size_b != 1)
        {
          xp_error_set (error, XP_ERROR_SHAPE, NULL,
                        "The size of tensor a (%" G_GINT64_FORMAT
                        ") must match the size of tensor b (%" G_GINT64_FORMAT
                        ") at non-singleton dimension %" G_GSIZE_FORMAT,
                        size_a, size_b, i);
          return FALSE;
        }
      result->sizes[i] = size_a == 1 ? size_b : size_a;
    }
  return TRUE;
}

void
xp_broadcast_strides (const XpTensor *tensor, const XpShape *shape, int64_t *strides)
{
  int missing = shape->n_dims - tensor->dl.ndim;
  for (int i = 0; i < shape->n_dims; i++)
    {
      gboolean repeated = i < missing
                          || (tensor->dl.shape[i - missing] == 1 && shape->sizes[i] != 1);
      strides[i] = repeated ? 0 : tensor->dl.strides[i - missing];
    }
}

gboolean
xp_wrap_dimension (int64_t dimension, int n_dims, int *wrapped, GError **error)
{
  int64_t n = MAX (n_dims, 1);
  if (dimension < -n || dimension >= n)
    {
      xp_error_set (error, XP_ERROR_INDEX, NULL,
                    "Dimension out of range (expected to be in range of [%" G_GINT64_FORMAT
                    ", %" G_GINT64_FORMAT "], but got %" G_GINT64_FORMAT ")",
                    -n, n - 1, dimension);
      return FALSE;
    }
  *wrapped = (int) (dimension < 0 ? dimension + n : dimension);
  return TRUE;
}

static gboolean
set_invalid_shape (XpInts sizes, int64_t numel, GError **error)
{
  g_autofree char *text = xp_shape_to_string (sizes);
  xp_error_set (error, XP_ERROR_SHAPE, NULL,
                "shape '%s' is invalid for input of size %" G_GINT64_FORMAT, text, numel);
  return FALSE;
}

gboolean
xp_infer_size (XpInts sizes, int64_t numel, XpShape *shape, GError **error)
{
  int unknown = -1;
  int64_t known = 1;
  gboolean overflow = FALSE, has_zero = FALSE;
  if (sizes.length > XP_MAX_DIMENSIONS)
    return xp_shape_from_ints (sizes, shape, error);
  shape->n_dims = (int) sizes.length;
  for (int i = 0; i < shape->n_dims; i++)
    {
      shape->sizes[i] = sizes.data[i];
      if (sizes.data[i] == -1)
        {
          if (unknown >= 0)
            {
              xp_error_set (error, XP_ERROR_SHAPE, NULL, "only one dimension can be inferred");
              return FALSE;
            }
          unknown = i;
        }
      else if (sizes.data[i] < 0)
        {
          xp_error_set (error, XP_ERROR_SHAPE, NULL, "invalid shape dimension %" G_GINT64_FORMAT,
                        sizes.data[i]);
          return FALSE;
        }
      else
        {
          has_zero |= sizes.data[i] == 0;
          overflow |= __builtin_mul_overflow (known, sizes.data[i], &known);
        }
    }
  if ((overflow && !has_zero) || (unknown < 0 && known != numel)
      || (unknown >= 0 && known != 0 && numel % known != 0)
      || (unknown >= 0 && known == 0 && numel != 0))
    return set_invalid_shape (sizes, numel, error);
  if (unknown >= 0 && known == 0)
    {
      g_autofree char *text = xp_shape_to_string (sizes);
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "cannot reshape tensor of 0 elements into shape %s because the unspecified "
                    "dimension size -1 can be any value and is ambiguous",
                    text);
      return FALSE;
    }
  if (unknown >= 0)
    shape->sizes[unknown] = numel / known;
  return TRUE;
}

/* Walks both shapes from the back. A run of dimensions of @tensor that lie one after the other in
 * memory can be cut anew; sizes of the new shape must fill each run exactly. */
gboolean
xp_view_strides (const XpTensor *tensor, const XpShape *shape, int64_t *strides)
{
  int n = tensor->dl.ndim;
  const int64_t *old_sizes = tensor->dl.shape, *old_strides = tensor->dl.strides;
  if (tensor->numel == 0)
    {
      if (n == shape->n_dims
          && memcmp (old_sizes, shape->sizes, (size_t) n * sizeof *old_sizes) == 0)
        memcpy (strides, old_strides, (size_t) n * sizeof *strides);
      else
        xp_shape_contiguous_strides (xp_shape_ints (shape), strides);
      return TRUE;
    }
  int at = shape->n_dims - 1;
  int64_t run_stride = n > 0 ? old_strides[n - 1] : 1;
  int64_t run = 1, filled = 1;
  if (n == 0)
    {
      for (int i = 0; i < shape->n_dims; i++)
        strides[i] = 1;
      return TRUE;
    }
  for (int i = n - 1; i >= 0; i--)
    {
      run *= old_sizes[i];
      gboolean ends = i == 0 || (old_sizes[i - 1] != 1 && old_strides[i - 1] != run * run_stride);
      if (!ends)
        continue;
      while (at >= 0 && (filled < run || shape->sizes[at] == 1))
        {
          strides[at] = filled * run_stride;
          filled *= shape->sizes[at];
          at--;
        }
      if (filled != run)
        return FALSE;
      if (i > 0)
        {
          run_stride = old_strides[i - 1];
          run = filled = 1;
        }
    }
  return at == -1;
}

static gboolean
is_dense_without_overlap (const XpTensor *tensor, const int *order)
{
  int64_t expected = 1;
  if (xp_tensor_is_contiguous (tensor))
    return TRUE;
  for (int i = 0; i < tensor->dl.ndim; i++)
    {
      int d = order[i];
      if (tensor->dl.shape[d] < 2)
        continue;
      if (tensor->dl.strides[d] != expected)
        return FALSE;
      expected *= tensor->dl.shape[d];
    }
  return TRUE;
}

/* Whether dimension @a lies within dimension @b (negative), around it (positive), or neither can be
 * told: a stride of 0 says nothing. */
static int
compare_dimensions (const XpTensor *tensor, int a, int b)
{
  int64_t stride_a = tensor->dl.strides[a], stride_b = tensor->dl.strides[b];
  if (stride_a == 0 || stride_b == 0)
    return 0;
  if (stride_a != stride_b)
    return stride_a < stride_b ? -1 : 1;
  return tensor->dl.shape[a] > tensor->dl.shape[b] ? 1 : 0;
}

/* Sorts the dimensions, innermost first, from the last to the first where nothing can be told. A
 * dimension moves past those it cannot be compared with, as PyTorch's does. */
static void
order_dimensions (const XpTensor *tensor, int *order)
{
  for (int i = 0; i < tensor->dl.ndim; i++)
    {
      order[i] = tensor->dl.ndim - 1 - i;
      for (int at = i, j = i - 1; j >= 0; j--)
        {
          int comparison = compare_dimensions (tensor, order[j], order[at]);
          if (comparison < 0)
            break;
          if (comparison == 0)
            continue;
          int moved = order[at];
          order[at] = order[j];
          order[j] = moved;
          at = j;
        }
    }
}

void
xp_like_strides (const XpTensor *tensor, int64_t *strides)
{
  int n = tensor->dl.ndim;
  int order[XP_MAX_DIMENSIONS];
  order_dimensions (tensor, order);
  if (is_dense_without_overlap (tensor, order))
    {
      if (n > 0)
        memcpy (strides, tensor->dl.strides, (size_t) n * sizeof *strides);
      return;
    }
  int64_t stride = 1;
  for (int i = 0; i < n; i++)
    {
      strides[order[i]] = stride;
      stride *= MAX (tensor->dl.shape[order[i]], 1);
    }
}

/* The slots of XpResultType, from the strongest. */
enum
{
  DIMENSIONED,
  ZERO_DIMENSIONAL,
  SCALAR
};

static void
add_dtype (XpResultType *state, int slot, XpDType dtype)
{
  state->dtype[slot] = state->seen[slot] ? xp_dtype_promote (state->dtype[slot], dtype) : dtype;
  state->seen[slot] = TRUE;
}

/* A Scalar counts as the smallest type that a result of its category has on its own. */
static XpDType
scalar_dtype (XpDType dtype)
{
  switch (xp_dtype_category (dtype))
    {
    case XP_CATEGORY_FLOAT:
      return xp_default_dtype ();
    case XP_CATEGORY_COMPLEX:
      return XP_COMPLEX64;
    default:
      return dtype;
    }
}

void
xp_result_type_add_tensor (XpResultType *state, const XpTensor *tensor)
{
  if (tensor->flags & XP_TENSOR_IS_SCALAR)
    add_dtype (state, SCALAR, scalar_dtype (xp_tensor_dtype (tensor)));
  else
    add_dtype (state, tensor->dl.ndim > 0 ? DIMENSIONED : ZERO_DIMENSIONAL,
               xp_tensor_dtype (tensor));
}

void
xp_result_type_add_scalar (XpResultType *state, XpValue scalar)
{
  add_dtype (state, SCALAR, scalar_dtype (xp_scalar_dtype (scalar)));
}

XpDType
xp_result_type_finish (const XpResultType *state)
{
  gboolean seen = FALSE;
  XpDType dtype = xp_default_dtype ();
  for (int slot = DIMENSIONED; slot <= SCALAR; slot++)
    {
      if (!state->seen[slot])
        continue;
      if (!seen)
        dtype = state->dtype[slot];
      else if (xp_dtype_category (dtype) == XP_CATEGORY_FLOAT
               && xp_dtype_category (state->dtype[slot]) == XP_CATEGORY_COMPLEX)
        dtype = xp_dtype_promote (dtype, XP_COMPLEX64);
      else if (xp_dtype_category (state->dtype[slot]) > xp_dtype_category (dtype))
        dtype = xp_dtype_promote (dtype, state->dtype[slot]);
      seen = TRUE;
    }
  return dtype;
}
