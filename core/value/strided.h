/* SPDX-License-Identifier: MIT
 *
 * strided.h: copies of strided tensors, and which memory they cover.
 */
#pragma once

#include <crosspoint/tensor.h>
#include <stdbool.h>

/* A contiguous copy of a strided tensor. */
XpTensor *xp_tensor_copy (const XpTensor *tensor, GError **error);

/* The elements of @from into @to, of the same dtype, shape and device. */
gboolean xp_tensor_copy_elements (XpTensor *to, const XpTensor *from, GError **error);

/* Whether two elements of @tensor may share memory: true where strides do not show that none do. */
bool xp_tensor_may_overlap_itself (const XpTensor *tensor);

/* Whether both look at the same storage and the stretches from first to last element meet. */
bool xp_tensors_may_overlap (const XpTensor *a, const XpTensor *b);
