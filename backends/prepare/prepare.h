/* SPDX-License-Identifier: MIT
 *
 * prepare.h: what every backend does before it computes: checks arguments in PyTorch's words, and
 * makes the result with the shape, strides, dtype and device that PyTorch gives it. A backend that
 * has no memory, Meta, does nothing else.
 *
 * All functions are checked as kernels are: on failure the error is set and nothing was written.
 * Results are (transfer full); where the operator writes to an argument, it is a new reference to
 * it, and its version has been counted.
 */
#pragma once

#include <crosspoint.h>

G_BEGIN_DECLS

/* --- Pointwise. @dtype is what the kernel computes in: operands are converted to it first, and
 * what it computes to the dtype of the result (bool for eq).
 * ---------------------------------------- */

XpTensor *prepare_add (XpTensor *self, XpTensor *other, XpValue alpha, XpTensor *out,
                       XpDType *dtype, GError **error);
XpTensor *prepare_sub (XpTensor *self, XpTensor *other, XpValue alpha, XpDType *dtype,
                       GError **error);
XpTensor *prepare_mul (XpTensor *self, XpTensor *other, XpDType *dtype, GError **error);
XpTensor *prepare_div (XpTensor *self, XpTensor *other, XpDType *dtype, GError **error);
XpTensor *prepare_eq (XpTensor *self, XpTensor *other, XpDType *dtype, GError **error);
XpTensor *prepare_neg (XpTensor *self, XpDType *dtype, GError **error);
XpTensor *prepare_relu (XpTensor *self, XpDType *dtype, GError **error);
XpTensor *prepare_gelu (XpTensor *self, const char *approximate, XpDType *dtype, GError **error);
/* For exp, sigmoid and all others whose result is floating point. */
XpTensor *prepare_float_unary (XpTensor *self, XpDType *dtype, GError **error);

/* --- Matrices. ---------------------------------------------------------------------------------
 */

XpTensor *prepare_mm (XpTensor *self, XpTensor *mat2, GError **error);
XpTensor *prepare_addmm (XpTensor *self, XpTensor *mat1, XpTensor *mat2, XpValue beta,
                         XpValue alpha, GError **error);

/* --- Reductions. -------------------------------------------------------------------------------
 */

/**
 * prepare_sum:
 * @reduced: (out): a bit for each dimension that is summed over
 */
XpTensor *prepare_sum (XpTensor *self, const XpInts *dims, bool keepdim, const XpDType *dtype,
                       uint64_t *reduced, GError **error);

/**
 * prepare_max_dim:
 * @along: (out): the dimension from 0; a scalar has one for this
 * @indices: (out) (transfer full): where the values are
 *
 * Returns: (transfer full): the values
 */
XpTensor *prepare_max_dim (XpTensor *self, int64_t dim, bool keepdim, int *along,
                           XpTensor **indices, GError **error);

/**
 * prepare_argmax:
 * @along: (out): the dimension from 0; -1 for all of them, in row-major order
 */
XpTensor *prepare_argmax (XpTensor *self, const int64_t *dim, bool keepdim, int *along,
                          GError **error);

/* --- Views, copies, factories. -----------------------------------------------------------------
 */

XpTensor *prepare_view (XpTensor *self, XpInts size, GError **error);
XpTensor *prepare_fill (XpTensor *self, XpValue value, GError **error);
XpTensor *prepare_copy (XpTensor *self, XpTensor *src, GError **error);

/**
 * prepare_empty:
 * @backend: where the kernel's tensors are
 *
 * The options of a factory, as its schema has them; a device of another backend is an error.
 */
XpTensor *prepare_empty (XpBackend backend, XpInts size, const XpDType *dtype,
                         const XpLayout *layout, const XpDevice *device, const bool *pin_memory,
                         const XpMemoryFormat *memory_format, GError **error);
XpTensor *prepare_full (XpBackend backend, XpInts size, XpValue fill_value, const XpDType *dtype,
                        const XpLayout *layout, const XpDevice *device, const bool *pin_memory,
                        GError **error);

/**
 * prepare_dimension:
 * @name: the operator, for the words of the error
 * @dimension: (out): @dim counted from 0
 *
 * Returns: whether @self has dimensions, and one of that number
 */
gboolean prepare_dimension (const XpTensor *self, const char *name, int64_t dim, int *dimension,
                            GError **error);

/**
 * prepare_select:
 * @dimension: (out): @dim counted from 0
 * @from_zero: (out): @index counted from 0
 *
 * Returns: whether select may take @index of dimension @dim
 */
gboolean prepare_select (const XpTensor *self, int64_t dim, int64_t index, int *dimension,
                         int64_t *from_zero, GError **error);

/* --- What the above are made of. ---------------------------------------------------------------
 */

/**
 * prepare_check_strided:
 *
 * Returns: whether each of @n tensors, some of which may be %NULL, is a block with strides
 */
gboolean prepare_check_strided (XpTensor *const *tensors, unsigned n, GError **error);

/**
 * prepare_check_scalar:
 *
 * Returns: whether @scalar fits @dtype: `value cannot be converted to type int8_t without overflow`
 */
gboolean prepare_check_scalar (XpValue scalar, XpDType dtype, GError **error);

/**
 * prepare_check_no_overlap:
 * @written: a tensor that is written
 * @inputs: tensors that are read, some of which may be %NULL
 *
 * Returns: whether @written has one place for each element, and no place in common with an input
 *   other than element by element
 */
gboolean prepare_check_no_overlap (const XpTensor *written, XpTensor *const *inputs, unsigned n,
                                   GError **error);

/**
 * prepare_is_dense:
 *
 * Returns: whether the elements of @tensor fill a stretch of memory, each place once, in any order
 *   of dimensions
 */
gboolean prepare_is_dense (const XpTensor *tensor);

/**
 * prepare_not_implemented:
 * @name: what PyTorch calls the kernel
 *
 * Sets `"GeluKernelImpl" not implemented for 'Long'`.
 *
 * Returns: %XP_FAILED
 */
XpStatus prepare_not_implemented (const char *name, XpDType dtype, GError **error);

/**
 * prepare_channels_last_strides:
 * @strides: (out caller-allocates): strides that put dimension 1 innermost
 *
 * For 4 dimensions, or 5 (channels_last_3d).
 */
void prepare_channels_last_strides (XpInts shape, int64_t *strides);

/**
 * prepare_check_same_shape:
 *
 * Returns: whether a tensor that is written has the shape its operands broadcast to: `output with
 *   shape [3] doesn't match the broadcast shape [2, 3]`
 */
gboolean prepare_check_same_shape (const XpTensor *written, const XpShape *broadcast,
                                   GError **error);

G_END_DECLS
