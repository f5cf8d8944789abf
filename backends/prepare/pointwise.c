/* SPDX-License-Identifier: MIT
 *
 * pointwise.c: results of operators that work element by element on operands that broadcast.
 */
#include "prepare.h"

#include <string.h>

enum
{
  MOST_INPUTS = 2
};

/* How the dtype of the computation and of the result come from the operands. */
typedef enum
{
  PROMOTED,          /* both are the operands' common dtype */
  PROMOTED_TO_FLOAT, /* integers become floating point */
  TRUTH              /* computed in the common dtype, and the result is bool */
} DTypeRule;

static gboolean
same_device (const XpTensor *a, const XpTensor *b)
{
  return a->dl.device.device_type == b->dl.device.device_type
         && xp_device_equal (xp_tensor_device (a), xp_tensor_device (b));
}

static gboolean
on_cpu (const XpTensor *tensor)
{
  return tensor->dl.device.device_type == kDLCPU;
}

/* The first tensor that is on another device than the CPU says where all must be, but for a
 * zero-dimensional one on the CPU that is only read. */
static gboolean
check_devices (XpTensor *const *inputs, unsigned n, XpTensor *out, XpDevice *device, GError **error)
{
  XpTensor *leader = out != NULL ? out : inputs[0];
  for (unsigned i = 0; i < n && on_cpu (leader); i++)
    leader = on_cpu (inputs[i]) ? leader : inputs[i];
  *device = xp_tensor_device (leader);
  XpTensor *stray = out != NULL && !same_device (out, leader) ? out : NULL;
  for (unsigned i = 0; i < n && stray == NULL; i++)
    if (!same_device (inputs[i], leader)
        && !(on_cpu (inputs[i]) && xp_tensor_n_dims (inputs[i]) == 0))
      stray = inputs[i];
  if (stray == NULL)
    return TRUE;
  g_autofree char *expected = xp_device_to_string (*device);
  g_autofree char *found = xp_device_to_string (xp_tensor_device (stray));
  xp_error_set (error, XP_ERROR_DEVICE_MISMATCH, NULL,
                "Expected all tensors to be on the same device, but found at least two devices, "
                "%s and %s!",
                expected, found);
  return FALSE;
}

static XpDType
common_dtype (XpTensor *const *inputs, unsigned n, DTypeRule rule)
{
  XpDType dtype = xp_tensor_dtype (inputs[0]);
  if (n == 2
      && (inputs[0]->dtype != inputs[1]->dtype
          || (inputs[0]->flags & inputs[1]->flags & XP_TENSOR_IS_SCALAR)))
    {
      XpResultType type = { 0 };
      xp_result_type_add_tensor (&type, inputs[0]);
      xp_result_type_add_tensor (&type, inputs[1]);
      dtype = xp_result_type_finish (&type);
    }
  if (rule == PROMOTED_TO_FLOAT && xp_dtype_category (dtype) < XP_CATEGORY_FLOAT)
    dtype = xp_default_dtype ();
  return dtype;
}

void
prepare_channels_last_strides (XpInts shape, int64_t *strides)
{
  int64_t stride = 1;
  for (size_t i = 0; i < shape.length; i++)
    {
      size_t d = i == 0 ? 1 : i == shape.length - 1 ? 0 : shape.length - i;
      strides[d] = stride;
      /* Only a shape with a size of 0 can overflow here, and then no element is ever reached. */
      if (__builtin_mul_overflow (stride, shape.data[d], &stride))
        stride = 1;
    }
}

static gboolean
have_one_shape (XpTensor *const *inputs, unsigned n)
{
  return n == 1
         || (inputs[0]->dl.ndim == inputs[1]->dl.ndim
             && memcmp (inputs[0]->dl.shape, inputs[1]->dl.shape,
                        (size_t) inputs[0]->dl.ndim * sizeof (int64_t))
                    == 0);
}

/**
 * Layout:
 * @strides: for the operand's own dimensions, then, in strides_in_order(), for those of the result
 *
 * How an operand lies in memory when it is read. PyTorch's CPU converts operands to the common
 * dtype before it looks at their strides, and what is converted is dense; so it is here, on all
 * devices.
 */
typedef struct
{
  const XpTensor *tensor;
  int64_t strides[XP_MAX_DIMENSIONS];
  gboolean contiguous, channels_last, dense;
} Layout;

static gboolean
has_strides (const XpTensor *tensor, const int64_t *strides, const int64_t *expected)
{
  for (int i = 0; i < tensor->dl.ndim; i++)
    if (tensor->dl.shape[i] != 1 && strides[i] != expected[i])
      return FALSE;
  return TRUE;
}

static void
layout_init (Layout *layout, const XpTensor *tensor, XpDType dtype)
{
  int64_t expected[XP_MAX_DIMENSIONS];
  gboolean converted = xp_tensor_dtype (tensor) != dtype;
  layout->tensor = tensor;
  layout->channels_last = FALSE;
  if (converted)
    xp_like_strides (tensor, layout->strides);
  else if (tensor->dl.ndim > 0)
    memcpy (layout->strides, tensor->dl.strides, (size_t) tensor->dl.ndim * sizeof (int64_t));
  xp_shape_contiguous_strides (xp_tensor_shape (tensor), expected);
  layout->contiguous = tensor->numel == 0 || has_strides (tensor, layout->strides, expected);
  layout->dense = converted || prepare_is_dense (tensor);
  if (tensor->dl.ndim == 4)
    {
      prepare_channels_last_strides (xp_tensor_shape (tensor), expected);
      layout->channels_last = has_strides (tensor, layout->strides, expected);
    }
}

/* Whether dimension @a belongs inside (negative) or outside (positive) of @b, by the first operand
 * that tells. */
static int
compare_dimensions (const Layout *layouts, unsigned n, const XpShape *shape, int a, int b)
{
  for (unsigned i = 0; i < n; i++)
    {
      int64_t stride_a = layouts[i].strides[a], stride_b = layouts[i].strides[b];
      if (stride_a == 0 || stride_b == 0)
        continue;
      if (stride_a != stride_b)
        return stride_a < stride_b ? -1 : 1;
      if (shape->sizes[a] > shape->sizes[b])
        return 1;
    }
  return 0;
}

/* Makes the strides those for the dimensions of the result, 0 where the operand is repeated. */
static void
layout_broadcast (Layout *layout, const XpShape *shape)
{
  int missing = shape->n_dims - layout->tensor->dl.ndim;
  for (int i = shape->n_dims - 1; i >= 0; i--)
    {
      bool repeated = i < missing
                      || (layout->tensor->dl.shape[i - missing] == 1 && shape->sizes[i] != 1);
      layout->strides[i] = repeated ? 0 : layout->strides[i - missing];
    }
}

/* Row-major with the dimensions in the order that they have in the operands' memory. */
static void
strides_in_order (Layout *layouts, unsigned n, const XpShape *shape, int64_t *strides)
{
  int order[XP_MAX_DIMENSIONS];
  gboolean row_major = TRUE;
  int64_t stride = 1;
  for (unsigned i = 0; i < n; i++)
    layout_broadcast (&layouts[i], shape);
  for (int i = 0; i < shape->n_dims; i++)
    {
      order[i] = shape->n_dims - 1 - i;
      for (int at = i, j = i - 1; j >= 0; j--)
        {
          int comparison = compare_dimensions (layouts, n, shape, order[j], order[at]);
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
  for (int i = 0; i < shape->n_dims; i++)
    row_major &= order[i] == shape->n_dims - 1 - i;
  if (row_major)
    {
      xp_shape_contiguous_strides (xp_shape_ints (shape), strides);
      return;
    }
  for (int i = 0; i < shape->n_dims; i++)
    {
      strides[order[i]] = stride;
      /* Sizes that overflow are found when the tensor is made. */
      if (__builtin_mul_overflow (stride, shape->sizes[order[i]], &stride))
        stride = 0;
    }
}

/* The strides of a new result; @dtype is the common one. */
static void
find_strides (XpTensor *const *inputs, unsigned n, const XpShape *shape, XpDType dtype,
              int64_t *strides)
{
  Layout layouts[MOST_INPUTS];
  size_t n_bytes = (size_t) shape->n_dims * sizeof *strides;
  gboolean contiguous = have_one_shape (inputs, n);
  gboolean channels_last = contiguous, dense = contiguous;
  for (unsigned i = 0; i < n; i++)
    {
      layout_init (&layouts[i], inputs[i], dtype);
      contiguous &= layouts[i].contiguous;
      channels_last &= layouts[i].channels_last;
      dense &= layouts[i].dense;
    }
  if (contiguous)
    xp_shape_contiguous_strides (xp_shape_ints (shape), strides);
  else if (channels_last)
    prepare_channels_last_strides (xp_shape_ints (shape), strides);
  else if (dense && memcmp (layouts[0].strides, layouts[n - 1].strides, n_bytes) == 0)
    memcpy (strides, layouts[0].strides, n_bytes);
  else
    strides_in_order (layouts, n, shape, strides);
}

/* Most results are contiguous, which is seen without a look at the strides. */
static gboolean
is_plain (XpTensor *const *inputs, unsigned n, const XpShape *shape)
{
  return shape->n_dims < 2
         || (have_one_shape (inputs, n) && xp_tensor_is_contiguous (inputs[0])
             && xp_tensor_is_contiguous (inputs[n - 1]));
}

static XpTensor *
new_result (XpTensor *const *inputs, unsigned n, const XpShape *shape, XpDType dtype,
            XpDType result, XpDevice device, GError **error)
{
  int64_t strides[XP_MAX_DIMENSIONS];
  if (is_plain (inputs, n, shape))
    return xp_tensor_new (result, xp_shape_ints (shape), device, error);
  find_strides (inputs, n, shape, dtype, strides);
  return xp_tensor_new_strided (result, xp_shape_ints (shape),
                                (XpInts){ strides, (size_t) shape->n_dims }, device, error);
}

static gboolean
is_among (XpTensor *const *inputs, unsigned n, const XpTensor *out)
{
  return inputs[0] == out || inputs[n - 1] == out;
}

/* An operand that is written in place keeps its shape. */
static gboolean
check_out (XpTensor *const *inputs, unsigned n, const XpShape *shape, XpDType dtype,
           const XpTensor *out, GError **error)
{
  if (is_among (inputs, n, out) && !prepare_check_same_shape (out, shape, error))
    return FALSE;
  if (xp_dtype_can_cast (dtype, xp_tensor_dtype (out)))
    return TRUE;
  xp_error_set (error, XP_ERROR_DTYPE, NULL,
                "result type %s can't be cast to the desired output type %s",
                xp_dtype_message_name (dtype), xp_dtype_message_name (xp_tensor_dtype (out)));
  return FALSE;
}

static XpTensor *
take_out (XpTensor *const *inputs, unsigned n, const XpShape *shape, XpDType dtype, XpTensor *out,
          GError **error)
{
  int64_t strides[XP_MAX_DIMENSIONS];
  if (!is_among (inputs, n, out))
    {
      find_strides (inputs, n, shape, dtype, strides);
      if (!xp_tensor_resize_strided (out, xp_shape_ints (shape),
                                     (XpInts){ strides, (size_t) shape->n_dims }, error))
        return NULL;
    }
  xp_tensor_written (out);
  return xp_tensor_ref (out);
}

/* What is multiplied with an operand must fit the dtype that is computed in. */
static gboolean
check_alpha (XpValue alpha, XpDType dtype, GError **error)
{
  const char *message = NULL;
  XpDTypeCategory category = xp_dtype_category (dtype);
  if (alpha.tag == XP_TAG_BOOL && dtype != XP_BOOL)
    message = "Boolean alpha only supported for Boolean results.";
  else if (category < XP_CATEGORY_FLOAT
           && (alpha.tag == XP_TAG_FLOAT || alpha.tag == XP_TAG_COMPLEX))
    message = "For integral input tensors, argument alpha must not be a floating point number.";
  else if (category < XP_CATEGORY_COMPLEX && alpha.tag == XP_TAG_COMPLEX)
    message = "For non-complex input tensors, argument alpha must not be a complex number.";
  if (message != NULL)
    xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "alpha" }, "%s",
                  message);
  return message == NULL && prepare_check_scalar (alpha, dtype, error);
}

/* @alpha may be NULL. */
static XpTensor *
prepare_pointwise (XpTensor *const *inputs, unsigned n, XpTensor *out, DTypeRule rule,
                   const XpValue *alpha, XpDType *dtype, GError **error)
{
  XpShape shape;
  XpDevice device;
  if (!prepare_check_strided (inputs, n, error) || !prepare_check_strided (&out, 1, error)
      || !check_devices (inputs, n, out, &device, error)
      || (out != NULL && !prepare_check_no_overlap (out, inputs, n, error)))
    return NULL;
  if (n == 1 || have_one_shape (inputs, n))
    shape = xp_shape_of (inputs[0]);
  else if (!xp_broadcast (xp_tensor_shape (inputs[0]), xp_tensor_shape (inputs[1]), &shape, error))
    return NULL;
  *dtype = common_dtype (inputs, n, rule);
  XpDType result = rule == TRUTH ? XP_BOOL : *dtype;
  if ((out != NULL && !check_out (inputs, n, &shape, result, out, error))
      || (alpha != NULL && !check_alpha (*alpha, *dtype, error)))
    return NULL;
  return out != NULL ? take_out (inputs, n, &shape, *dtype, out, error)
                     : new_result (inputs, n, &shape, *dtype, result, device, error);
}

XpTensor *
prepare_add (XpTensor *self, XpTensor *other, XpValue alpha, XpTensor *out, XpDType *dtype,
             GError **error)
{
  return prepare_pointwise ((XpTensor *[]){ self, other }, 2, out, PROMOTED, &alpha, dtype, error);
}

XpTensor *
prepare_sub (XpTensor *self, XpTensor *other, XpValue alpha, XpDType *dtype, GError **error)
{
  int n_bools = (self->dtype == XP_BOOL) + (other->dtype == XP_BOOL);
  if (n_bools > 0)
    {
      xp_error_set (error, XP_ERROR_DTYPE, NULL, "Subtraction, the `-` operator, with %s",
                    n_bools == 2 ? "two bool tensors is not supported. Use the `^` or "
                                   "`logical_xor()` operator instead."
                                 : "a bool tensor is not supported. If you are trying to invert a "
                                   "mask, use the `~` or `logical_not()` operator instead.");
      return NULL;
    }
  /* What is checked is what is added: the opposite. */
  if (alpha.tag == XP_TAG_INT)
    alpha.as.integer = (int64_t) - (uint64_t) alpha.as.integer;
  return prepare_pointwise ((XpTensor *[]){ self, other }, 2, NULL, PROMOTED, &alpha, dtype, error);
}

XpTensor *
prepare_mul (XpTensor *self, XpTensor *other, XpDType *dtype, GError **error)
{
  return prepare_pointwise ((XpTensor *[]){ self, other }, 2, NULL, PROMOTED, NULL, dtype, error);
}

XpTensor *
prepare_div (XpTensor *self, XpTensor *other, XpDType *dtype, GError **error)
{
  return prepare_pointwise ((XpTensor *[]){ self, other }, 2, NULL, PROMOTED_TO_FLOAT, NULL, dtype,
                            error);
}

XpTensor *
prepare_eq (XpTensor *self, XpTensor *other, XpDType *dtype, GError **error)
{
  return prepare_pointwise ((XpTensor *[]){ self, other }, 2, NULL, TRUTH, NULL, dtype, error);
}

static gboolean
refuse_dtype (gboolean refused, const char *message, GError **error)
{
  if (refused)
    xp_error_set (error, XP_ERROR_DTYPE, NULL, "%s", message);
  return refused;
}

XpTensor *
prepare_neg (XpTensor *self, XpDType *dtype, GError **error)
{
  if (refuse_dtype (self->dtype == XP_BOOL,
                    "Negation, the `-` operator, on a bool tensor is not supported. If you are "
                    "trying to invert a mask, use the `~` or `logical_not()` operator instead.",
                    error))
    return NULL;
  return prepare_pointwise (&self, 1, NULL, PROMOTED, NULL, dtype, error);
}

XpTensor *
prepare_relu (XpTensor *self, XpDType *dtype, GError **error)
{
  if (refuse_dtype (self->dtype == XP_BOOL, "Boolean inputs not supported for relu", error)
      || refuse_dtype (xp_dtype_category (xp_tensor_dtype (self)) == XP_CATEGORY_COMPLEX,
                       "clamp is not supported for complex types", error))
    return NULL;
  return prepare_pointwise (&self, 1, NULL, PROMOTED, NULL, dtype, error);
}

XpTensor *
prepare_gelu (XpTensor *self, const char *approximate, XpDType *dtype, GError **error)
{
  if (strcmp (approximate, "none") != 0 && strcmp (approximate, "tanh") != 0)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT,
                    &(XpErrorDetails){ .argument = (char *) "approximate" },
                    "approximate argument must be either none or tanh.");
      return NULL;
    }
  if (!xp_dtype_is_floating (xp_tensor_dtype (self)))
    {
      prepare_not_implemented ("GeluKernelImpl", xp_tensor_dtype (self), error);
      return NULL;
    }
  return prepare_pointwise (&self, 1, NULL, PROMOTED, NULL, dtype, error);
}

XpTensor *
prepare_float_unary (XpTensor *self, XpDType *dtype, GError **error)
{
  return prepare_pointwise (&self, 1, NULL, PROMOTED_TO_FLOAT, NULL, dtype, error);
}
