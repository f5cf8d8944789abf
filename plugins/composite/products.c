/* SPDX-License-Identifier: MIT
 *
 * products.c: matmul and linear, made of mm and addmm. What is between them and the arguments is
 * views, made by operators too, so that a gradient finds its way back.
 */
#include <crosspoint/aten.h>
#include <crosspoint/kernel.h>

/* A vector as a matrix of one column or one row. */
static XpStatus
matrix_of (XpTensor *vector, bool is_row, XpTensor **matrix, GError **error)
{
  int64_t n = vector->dl.shape[0];
  return xp_aten_view (vector, is_row ? XP_INTS (1, n) : XP_INTS (n, 1), matrix, error);
}

static XpStatus
vector_by_vector (XpTensor *self, XpTensor *other, XpTensor **result, GError **error)
{
  int64_t n_self = self->dl.shape[0], n_other = other->dl.shape[0];
  g_autoptr (XpTensor) row = NULL;
  g_autoptr (XpTensor) column = NULL;
  g_autoptr (XpTensor) product = NULL;
  if (self->dtype != other->dtype)
    {
      xp_error_set (error, XP_ERROR_DTYPE, NULL,
                    "dot : expected both vectors to have same dtype, but found %s and %s",
                    xp_dtype_message_name (xp_tensor_dtype (self)),
                    xp_dtype_message_name (xp_tensor_dtype (other)));
      return XP_FAILED;
    }
  if (n_self != n_other)
    {
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "inconsistent tensor size, expected tensor [%" G_GINT64_FORMAT
                    "] and src [%" G_GINT64_FORMAT
                    "] to have the same number of elements, but got %" G_GINT64_FORMAT
                    " and %" G_GINT64_FORMAT " elements respectively",
                    n_self, n_other, n_self, n_other);
      return XP_FAILED;
    }
  if (matrix_of (self, true, &row, error) != XP_OK
      || matrix_of (other, false, &column, error) != XP_OK
      || xp_aten_mm (row, column, &product, error) != XP_OK)
    return XP_FAILED;
  return xp_aten_view (product, (XpInts){ NULL, 0 }, result, error);
}

static XpStatus
matrix_by_vector (XpTensor *matrix, XpTensor *vector, XpTensor **result, GError **error)
{
  int64_t rows = matrix->dl.shape[0], columns = matrix->dl.shape[1], n = vector->dl.shape[0];
  g_autoptr (XpTensor) column = NULL;
  g_autoptr (XpTensor) product = NULL;
  if (columns != n)
    {
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "size mismatch, got %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                    "x%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT,
                    rows, rows, columns, n);
      return XP_FAILED;
    }
  if (matrix_of (vector, false, &column, error) != XP_OK
      || xp_aten_mm (matrix, column, &product, error) != XP_OK)
    return XP_FAILED;
  return xp_aten_view (product, XP_INTS (rows), result, error);
}

static XpStatus
vector_by_matrix (XpTensor *vector, XpTensor *matrix, XpTensor **result, GError **error)
{
  g_autoptr (XpTensor) row = NULL;
  g_autoptr (XpTensor) product = NULL;
  if (matrix_of (vector, true, &row, error) != XP_OK
      || xp_aten_mm (row, matrix, &product, error) != XP_OK)
    return XP_FAILED;
  return xp_aten_view (product, XP_INTS (matrix->dl.shape[1]), result, error);
}

/* The product of the sizes before the last @n_kept; 1 where there are none. */
static gboolean
count_leading (const XpTensor *tensor, int n_kept, int64_t *n, GError **error)
{
  XpInts leading = { tensor->dl.shape, (size_t) (tensor->dl.ndim - n_kept) };
  return xp_shape_numel (leading, n, error);
}

/* A stack of matrices by one matrix or vector: the stack is one tall matrix. */
static XpStatus
stack_by_one (XpTensor *stack, XpTensor *one, XpTensor **result, GError **error)
{
  XpShape shape = xp_shape_of (stack);
  int last = shape.n_dims - 1;
  bool is_matrix = one->dl.ndim == 2;
  int64_t height;
  g_autoptr (XpTensor) tall = NULL;
  g_autoptr (XpTensor) product = NULL;
  if (!count_leading (stack, 1, &height, error)
      || xp_aten_reshape (stack, XP_INTS (height, shape.sizes[last]), &tall, error) != XP_OK)
    return XP_FAILED;
  XpStatus status = is_matrix ? xp_aten_mm (tall, one, &product, error)
                              : matrix_by_vector (tall, one, &product, error);
  if (status != XP_OK)
    return XP_FAILED;
  shape.n_dims -= is_matrix ? 0 : 1;
  if (is_matrix)
    shape.sizes[last] = one->dl.shape[1];
  return xp_aten_view (product, xp_shape_ints (&shape), result, error);
}

/* One matrix or vector by a stack: all transposed, it is a stack by one. */
static XpStatus
one_by_stack (XpTensor *one, XpTensor *stack, XpTensor **result, GError **error)
{
  bool is_matrix = one->dl.ndim == 2;
  g_autoptr (XpTensor) turned_one = NULL;
  g_autoptr (XpTensor) turned_stack = NULL;
  g_autoptr (XpTensor) product = NULL;
  g_autoptr (XpTensor) turned_product = NULL;
  XpMemoryFormat format = XP_CONTIGUOUS_FORMAT;
  if (xp_aten_transpose_int (stack, -2, -1, &turned_stack, error) != XP_OK)
    return XP_FAILED;
  if (!is_matrix)
    return stack_by_one (turned_stack, one, result, error);
  if (xp_aten_transpose_int (one, 0, 1, &turned_one, error) != XP_OK
      || stack_by_one (turned_stack, turned_one, &product, error) != XP_OK
      || xp_aten_transpose_int (product, -2, -1, &turned_product, error) != XP_OK)
    return XP_FAILED;
  if (!xp_tensor_is_contiguous (turned_product))
    return xp_aten_clone (turned_product, &format, result, error);
  *result = g_steal_pointer (&turned_product);
  return XP_OK;
}

/* Two stacks of matrices, whose leading dimensions broadcast. */
typedef struct
{
  XpTensor *stacks[2]; /* with three dimensions, owned */
  int n_batch_dims;
  int64_t batch_sizes[XP_MAX_DIMENSIONS];
  int64_t batch_strides[2][XP_MAX_DIMENSIONS]; /* 0 where a stack is repeated */
  int64_t n_batches;
} Stacks;

static void
stacks_clear (Stacks *stacks)
{
  g_clear_pointer (&stacks->stacks[0], xp_tensor_unref);
  g_clear_pointer (&stacks->stacks[1], xp_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stacks, stacks_clear)

static void
set_batch_strides (Stacks *stacks, int which, const XpTensor *tensor)
{
  int missing = stacks->n_batch_dims - (tensor->dl.ndim - 2);
  int64_t stride = 1;
  for (int i = stacks->n_batch_dims - 1; i >= 0; i--)
    {
      int64_t size = i < missing ? 1 : tensor->dl.shape[i - missing];
      stacks->batch_strides[which][i] = size == 1 ? 0 : stride;
      stride *= size;
    }
}

static XpStatus
stacks_prepare (Stacks *stacks, XpTensor *const tensors[2], XpShape *shape, GError **error)
{
  XpInts batches[2];
  int64_t inner[2][2];
  for (int i = 0; i < 2; i++)
    {
      int n = tensors[i]->dl.ndim - 2;
      batches[i] = (XpInts){ tensors[i]->dl.shape, (size_t) n };
      inner[i][0] = tensors[i]->dl.shape[n];
      inner[i][1] = tensors[i]->dl.shape[n + 1];
    }
  if (!xp_broadcast (batches[0], batches[1], shape, error)
      || !xp_shape_numel (xp_shape_ints (shape), &stacks->n_batches, error))
    return XP_FAILED;
  if (inner[0][1] != inner[1][0])
    {
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "Expected size for first two dimensions of batch2 tensor to be: "
                    "[%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT "] but got: [%" G_GINT64_FORMAT
                    ", %" G_GINT64_FORMAT "].",
                    stacks->n_batches, inner[0][1], stacks->n_batches, inner[1][0]);
      return XP_FAILED;
    }
  stacks->n_batch_dims = shape->n_dims;
  for (int i = 0; i < shape->n_dims; i++)
    stacks->batch_sizes[i] = shape->sizes[i];
  for (int i = 0; i < 2; i++)
    {
      int64_t n;
      if (!count_leading (tensors[i], 2, &n, error)
          || xp_aten_reshape (tensors[i], XP_INTS (n, inner[i][0], inner[i][1]), &stacks->stacks[i],
                              error)
                 != XP_OK)
        return XP_FAILED;
      if (stacks->n_batches > 0)
        set_batch_strides (stacks, i, tensors[i]);
    }
  shape->sizes[shape->n_dims++] = inner[0][0];
  shape->sizes[shape->n_dims++] = inner[1][1];
  return XP_OK;
}

/* Which matrix of a stack the batch @number takes. */
static int64_t
matrix_number (const Stacks *stacks, int which, int64_t number)
{
  int64_t at = 0;
  for (int i = stacks->n_batch_dims - 1; i >= 0; i--)
    {
      at += number % stacks->batch_sizes[i] * stacks->batch_strides[which][i];
      number /= stacks->batch_sizes[i];
    }
  return at;
}

static XpStatus
multiply_batch (const Stacks *stacks, int64_t number, XpTensor **product, GError **error)
{
  g_autoptr (XpTensor) left = NULL;
  g_autoptr (XpTensor) right = NULL;
  if (xp_aten_select_int (stacks->stacks[0], 0, matrix_number (stacks, 0, number), &left, error)
          != XP_OK
      || xp_aten_select_int (stacks->stacks[1], 0, matrix_number (stacks, 1, number), &right, error)
             != XP_OK)
    return XP_FAILED;
  return xp_aten_mm (left, right, product, error);
}

static XpStatus
store_batch (const Stacks *stacks, int64_t number, XpTensor *all, GError **error)
{
  g_autoptr (XpTensor) product = NULL;
  g_autoptr (XpTensor) place = NULL;
  g_autoptr (XpTensor) written = NULL;
  if (multiply_batch (stacks, number, &product, error) != XP_OK
      || xp_aten_select_int (all, 0, number, &place, error) != XP_OK)
    return XP_FAILED;
  return xp_aten_copy_ (place, product, false, &written, error);
}

static XpStatus
stack_by_stack (XpTensor *self, XpTensor *other, XpTensor **result, GError **error)
{
  g_auto (Stacks) stacks = { { NULL, NULL } };
  XpShape shape;
  g_autoptr (XpTensor) all = NULL;
  if (stacks_prepare (&stacks, (XpTensor *const[]){ self, other }, &shape, error) != XP_OK)
    return XP_FAILED;
  XpDType dtype = xp_tensor_dtype (self);
  XpDevice device = xp_tensor_device (self);
  XpInts three = XP_INTS (stacks.n_batches, shape.sizes[shape.n_dims - 2],
                          shape.sizes[shape.n_dims - 1]);
  if (xp_aten_empty_memory_format (three, &dtype, NULL, &device, NULL, NULL, &all, error) != XP_OK)
    return XP_FAILED;
  /* Without memory there is nothing to compute: one product checks the arguments. */
  int64_t n = device.backend == XP_BACKEND_Meta ? MIN (stacks.n_batches, 1) : stacks.n_batches;
  for (int64_t i = 0; i < n; i++)
    if (store_batch (&stacks, i, all, error) != XP_OK)
      return XP_FAILED;
  return xp_aten_view (all, xp_shape_ints (&shape), result, error);
}

static XpStatus
matmul (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result,
        GError **error)
{
  int n_self = self->dl.ndim, n_other = other->dl.ndim;
  if (n_self == 0 || n_other == 0)
    {
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "both arguments to matmul need to be at least 1D, but they are %dD and %dD",
                    n_self, n_other);
      return XP_FAILED;
    }
  if (n_self == 1 && n_other == 1)
    return vector_by_vector (self, other, result, error);
  if (n_self == 2 && n_other == 1)
    return matrix_by_vector (self, other, result, error);
  if (n_self == 1 && n_other == 2)
    return vector_by_matrix (self, other, result, error);
  if (n_self == 2 && n_other == 2)
    return xp_aten_mm (self, other, result, error);
  if (n_other <= 2)
    return stack_by_one (self, other, result, error);
  if (n_self <= 2)
    return one_by_stack (self, other, result, error);
  return stack_by_stack (self, other, result, error);
}

static XpStatus
transposed (XpTensor *weight, XpTensor **result, GError **error)
{
  if (weight->dl.ndim > 2)
    {
      xp_error_set (error, XP_ERROR_SHAPE, &(XpErrorDetails){ .argument = (char *) "weight" },
                    "t() expects a tensor with <= 2 dimensions, but self is %dD", weight->dl.ndim);
      return XP_FAILED;
    }
  return xp_aten_transpose_int (weight, 0, weight->dl.ndim == 2 ? 1 : 0, result, error);
}

/* A stack of inputs that lies in memory as one tall matrix. */
static XpStatus
linear_of_stack (XpTensor *input, XpTensor *turned, XpTensor *bias, XpTensor **result,
                 GError **error)
{
  const int64_t *sizes = input->dl.shape;
  int64_t height;
  g_autoptr (XpTensor) tall = NULL;
  g_autoptr (XpTensor) product = NULL;
  if (!count_leading (input, 1, &height, error)
      || xp_aten_view (input, XP_INTS (height, sizes[2]), &tall, error) != XP_OK
      || xp_aten_addmm (bias, tall, turned, xp_value_int (1), xp_value_int (1), &product, error)
             != XP_OK)
    return XP_FAILED;
  return xp_aten_view (product, XP_INTS (sizes[0], sizes[1], product->dl.shape[1]), result, error);
}

static XpStatus
linear (G_GNUC_UNUSED XpCall *call, XpTensor *input, XpTensor *weight, XpTensor *bias,
        XpTensor **result, GError **error)
{
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) product = NULL;
  if (transposed (weight, &turned, error) != XP_OK)
    return XP_FAILED;
  if (bias == NULL)
    return xp_aten_matmul (input, turned, result, error);
  if (input->dl.ndim == 2)
    return xp_aten_addmm (bias, input, turned, xp_value_int (1), xp_value_int (1), result, error);
  if (input->dl.ndim == 3 && xp_tensor_is_contiguous (input))
    return linear_of_stack (input, turned, bias, result, error);
  if (xp_aten_matmul (input, turned, &product, error) != XP_OK)
    return XP_FAILED;
  return xp_aten_add__Tensor (product, bias, xp_value_int (1), result, error);
}

XP_LIBRARY_IMPL (aten, CompositeImplicitAutograd, m)
{
  xp_impl_aten_matmul (m, matmul);
  xp_impl_aten_linear (m, linear);
}
