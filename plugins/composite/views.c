/* SPDX-License-Identifier: MIT
 *
 * views.c: other looks at the memory of a strided tensor, and reshape, which copies where there is
 * no such look. Tensors of another layout are declined: who knows the layout fills the cell.
 */
#include "prepare.h"

#include <crosspoint/aten.h>
#include <crosspoint/kernel.h>
#include <string.h>

#define ONLY_STRIDED "only strided tensors"

/* A view in the making. */
typedef struct
{
  XpShape shape;
  int64_t strides[XP_MAX_DIMENSIONS];
  int64_t offset;
} View;

static void
view_begin (View *view, const XpTensor *self)
{
  view->shape = xp_shape_of (self);
  view->offset = xp_tensor_storage_offset (self);
  if (self->dl.ndim > 0)
    memcpy (view->strides, self->dl.strides, (size_t) self->dl.ndim * sizeof *view->strides);
}

/* Begins the view at @index of @dimension; a tensor without elements has none to begin at. */
static void
view_skip (View *view, const XpTensor *self, int dimension, int64_t index)
{
  if (self->numel > 0)
    view->offset += index * view->strides[dimension];
}

static XpStatus
view_finish (const View *view, XpTensor *self, XpTensor **result, GError **error)
{
  *result = xp_tensor_new_view (self, xp_shape_ints (&view->shape),
                                (XpInts){ view->strides, (size_t) view->shape.n_dims },
                                view->offset, error);
  return *result != NULL ? XP_OK : XP_FAILED;
}

static void
swap (int64_t *a, int64_t *b)
{
  int64_t kept = *a;
  *a = *b;
  *b = kept;
}

static XpStatus
transpose (XpCall *call, XpTensor *self, int64_t dim0, int64_t dim1, XpTensor **result,
           GError **error)
{
  if (self->layout != XP_STRIDED)
    return xp_call_decline (call, ONLY_STRIDED);
  View view;
  int first, second;
  if (!xp_wrap_dimension (dim0, self->dl.ndim, &first, error)
      || !xp_wrap_dimension (dim1, self->dl.ndim, &second, error))
    return XP_FAILED;
  view_begin (&view, self);
  if (first != second)
    {
      swap (&view.shape.sizes[first], &view.shape.sizes[second]);
      swap (&view.strides[first], &view.strides[second]);
    }
  return view_finish (&view, self, result, error);
}

/* A bound of a slice: counted from the end where it is negative, and kept within @least and
 * @size. */
static int64_t
clamp_bound (int64_t bound, int64_t least, int64_t size)
{
  return CLAMP (bound < 0 ? bound + size : bound, least, size);
}

static XpStatus
slice (XpCall *call, XpTensor *self, int64_t dim, const int64_t *start, const int64_t *end,
       int64_t step, XpTensor **result, GError **error)
{
  if (self->layout != XP_STRIDED)
    return xp_call_decline (call, ONLY_STRIDED);
  View view;
  int d;
  if (!prepare_dimension (self, "slice", dim, &d, error))
    return XP_FAILED;
  if (step <= 0)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "step" },
                    "slice step must be positive");
      return XP_FAILED;
    }
  view_begin (&view, self);
  int64_t size = view.shape.sizes[d];
  int64_t first = clamp_bound (start != NULL ? *start : 0, 0, size);
  int64_t limit = clamp_bound (end != NULL ? *end : size, first, size);
  view_skip (&view, self, d, first);
  view.shape.sizes[d] = limit > first ? (limit - first - 1) / step + 1 : 0;
  /* A step so large that the stride overflows leaves one index at most, which needs no stride. */
  int64_t stride;
  if (!__builtin_mul_overflow (view.strides[d], step, &stride))
    view.strides[d] = stride;
  return view_finish (&view, self, result, error);
}

static XpStatus
select_index (XpCall *call, XpTensor *self, int64_t dim, int64_t index, XpTensor **result,
              GError **error)
{
  if (self->layout != XP_STRIDED)
    return xp_call_decline (call, ONLY_STRIDED);
  View view;
  int d;
  if (!prepare_select (self, dim, index, &d, &index, error))
    return XP_FAILED;
  view_begin (&view, self);
  view_skip (&view, self, d, index);
  view.shape.n_dims--;
  for (int i = d; i < view.shape.n_dims; i++)
    {
      view.shape.sizes[i] = view.shape.sizes[i + 1];
      view.strides[i] = view.strides[i + 1];
    }
  return view_finish (&view, self, result, error);
}

XP_LIBRARY_IMPL (aten, CompositeExplicitAutograd, m)
{
  xp_impl_aten_transpose_int (m, transpose);
  xp_impl_aten_slice_Tensor (m, slice);
  xp_impl_aten_select_int (m, select_index);
}

static XpStatus
reshape (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpInts sizes, XpTensor **result,
         GError **error)
{
  XpShape shape;
  int64_t strides[XP_MAX_DIMENSIONS];
  if (self->layout != XP_STRIDED)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "self" },
                    "reshape is not implemented for sparse tensors; this one is %s: convert it "
                    "with aten::to_dense first",
                    xp_layout_name ((XpLayout) self->layout));
      return XP_FAILED;
    }
  if (!xp_infer_size (sizes, self->numel, &shape, error))
    return XP_FAILED;
  if (xp_view_strides (self, &shape, strides))
    return xp_aten_view (self, xp_shape_ints (&shape), result, error);
  g_autoptr (XpTensor) copy = NULL;
  XpMemoryFormat format = XP_CONTIGUOUS_FORMAT;
  if (xp_aten_clone (self, &format, &copy, error) != XP_OK)
    return XP_FAILED;
  return xp_aten_view (copy, xp_shape_ints (&shape), result, error);
}

XP_LIBRARY_IMPL (aten, CompositeImplicitAutograd, m)
{
  xp_impl_aten_reshape (m, reshape);
}
