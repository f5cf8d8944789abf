/* SPDX-License-Identifier: MIT
 *
 * kernel.h: what authors of kernels need again and again: result types, broadcasting, dimensions.
 * The rules and the words of the errors are PyTorch's.
 */
#ifndef XP_KERNEL_H
#define XP_KERNEL_H

#include <crosspoint/call.h>

G_BEGIN_DECLS

/**
 * XpShape:
 * @n_dims: number of dimensions
 * @sizes: their sizes
 *
 * A shape to compute with. Plain data.
 */
typedef struct
{
  int n_dims;
  int64_t sizes[XP_MAX_DIMENSIONS];
} XpShape;

static inline XpInts
xp_shape_ints (const XpShape *shape)
{
  return (XpInts){ shape->sizes, (size_t) shape->n_dims };
}

/**
 * xp_shape_of:
 *
 * Returns: the shape of @tensor
 */
XP_PUBLIC XpShape xp_shape_of (const XpTensor *tensor);

/**
 * xp_shape_from_ints:
 * @sizes: sizes
 * @shape: (out): the shape
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_SHAPE for a negative size, %XP_ERROR_LIMIT for too many dimensions.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_shape_from_ints (XpInts sizes, XpShape *shape, GError **error);

/**
 * xp_shape_numel:
 * @shape: sizes, none negative
 * @numel: (out): their product
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_LIMIT where the product exceeds 2^63 - 1.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_shape_numel (XpInts shape, int64_t *numel, GError **error);

/**
 * xp_shape_contiguous_strides:
 * @shape: sizes
 * @strides: (out caller-allocates): as many elements: the strides of a row-major block; a size of 0
 *   counts as 1
 */
XP_PUBLIC void xp_shape_contiguous_strides (XpInts shape, int64_t *strides);

/**
 * xp_broadcast:
 * @a: a shape
 * @b: another
 * @result: (out): the shape both broadcast to
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_SHAPE: `The size of tensor a (3) must match the size of tensor b (4) at
 * non-singleton dimension 1`.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_broadcast (XpInts a, XpInts b, XpShape *result, GError **error);

/**
 * xp_broadcast_strides:
 * @tensor: a strided tensor whose shape broadcasts to @shape
 * @shape: a shape of at least as many dimensions
 * @strides: (out caller-allocates): for each dimension of @shape the elements from one to the next,
 * 0 where @tensor is repeated
 */
XP_PUBLIC void xp_broadcast_strides (const XpTensor *tensor, const XpShape *shape,
                                     int64_t *strides);

/**
 * xp_wrap_dimension:
 * @dimension: a dimension, which may count from the end
 * @n_dims: number of dimensions; a scalar has one dimension for this
 * @wrapped: (out): the dimension from 0
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_INDEX: `Dimension out of range (expected to be in range of [-2, 1], but got
 * 2)`.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_wrap_dimension (int64_t dimension, int n_dims, int *wrapped, GError **error);

/**
 * xp_infer_size:
 * @sizes: requested sizes, one of which may be -1
 * @numel: the number of elements there are
 * @shape: (out): the sizes, with -1 filled in
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_SHAPE: `shape '[2, 5]' is invalid for input of size 6`, and two more.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_infer_size (XpInts sizes, int64_t numel, XpShape *shape, GError **error);

/**
 * xp_view_strides:
 * @tensor: a strided tensor
 * @shape: another shape of as many elements
 * @strides: (out caller-allocates): the strides that show @tensor in that shape
 *
 * Returns: whether there are any without copying
 */
XP_PUBLIC gboolean xp_view_strides (const XpTensor *tensor, const XpShape *shape, int64_t *strides);

/**
 * xp_like_strides:
 * @tensor: a strided tensor
 * @strides: (out caller-allocates): strides for a new tensor of its shape that keeps the order of
 *   its dimensions in memory, as torch.preserve_format does: its own where it is dense and does not
 *   overlap itself, else row-major with the dimensions ordered as its strides are
 */
XP_PUBLIC void xp_like_strides (const XpTensor *tensor, int64_t *strides);

/**
 * xp_tensor_contiguous:
 * @tensor: a strided tensor
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT for another layout, or for memory that the host cannot reach;
 * %XP_ERROR_NO_MEMORY, and those of the device.
 *
 * Returns: (transfer full): @tensor where it is contiguous, else a contiguous copy of it
 */
XP_PUBLIC XpTensor *xp_tensor_contiguous (XpTensor *tensor, GError **error);

/**
 * XpResultType:
 *
 * Finds the dtype of a result from the dtypes of its operands, as torch.result_type() does:
 * dimensioned tensors come before zero-dimensional ones, and those before Scalars, within a
 * category. Start from all zero.
 */
typedef struct
{
  gboolean seen[3];
  XpDType dtype[3];
} XpResultType;

XP_PUBLIC void xp_result_type_add_tensor (XpResultType *state, const XpTensor *tensor);
XP_PUBLIC void xp_result_type_add_scalar (XpResultType *state, XpValue scalar);
XP_PUBLIC XpDType xp_result_type_finish (const XpResultType *state);

/**
 * xp_shape_to_string:
 *
 * Returns: (transfer full): "[2, 3]"
 */
XP_PUBLIC char *xp_shape_to_string (XpInts shape);

/**
 * xp_default_dtype:
 *
 * Returns: the floating-point type that integer operands of a division become: float32
 */
static inline XpDType
xp_default_dtype (void)
{
  return XP_FLOAT32;
}

G_END_DECLS

#endif
