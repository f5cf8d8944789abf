/* SPDX-License-Identifier: MIT
 *
 * views.c: transpose, slice, select and reshape, which share memory; clone and _to_copy, which do
 * not.
 */
#include "composite/operators.h"

/* Whether a write through @view is seen in @base, and counted there. */
static void
assert_view_of (XpTensor *view, XpTensor *base)
{
  uint64_t version = xp_tensor_version (base);
  ck_assert (xp_tensor_shares_storage (view, base));
  xp_tensor_written (view);
  ck_assert_uint_eq (xp_tensor_version (base), version + 1);
}

START_TEST (transpose_swaps_two_dimensions)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) same = NULL;
  OK (xp_aten_transpose_int (base, 0, -1, &turned, &error));
  assert_tensor (turned, "tensor([[0., 3.],\n        [1., 4.],\n        [2., 5.]])");
  assert_ints (xp_tensor_strides (turned), XP_INTS (1, 3));
  assert_view_of (turned, base);
  OK (xp_aten_transpose_int (base, 1, 1, &same, &error));
  assert_ints (xp_tensor_strides (same), XP_INTS (3, 1));
  assert_view_of (same, base);
}
END_TEST

START_TEST (transpose_of_a_scalar_has_one_dimension_to_name)
{
  g_autoptr (XpTensor) scalar = counting (NO_SIZES);
  g_autoptr (XpTensor) same = NULL;
  g_autoptr (XpTensor) none = NULL;
  OK (xp_aten_transpose_int (scalar, 0, -1, &same, &error));
  ck_assert_int_eq (xp_tensor_n_dims (same), 0);
  FAILS (xp_aten_transpose_int (scalar, 0, 1, &none, &error), none, XP_ERROR_INDEX,
         "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
}
END_TEST

static void
assert_slice (int64_t start, int64_t end, int64_t step, const char *expected)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (6));
  g_autoptr (XpTensor) slice = NULL;
  OK (xp_aten_slice_Tensor (base, 0, &start, &end, step, &slice, &error));
  assert_tensor (slice, expected);
  ck_assert (xp_tensor_shares_storage (slice, base));
}

START_TEST (slice_clamps_its_bounds)
{
  assert_slice (1, 5, 2, "tensor([1., 3.])");
  assert_slice (-100, -1, 2, "tensor([0., 2., 4.])");
  assert_slice (4, 2, 2, "tensor([])");
  assert_slice (7, 9, 1, "tensor([])");
  assert_slice (-2, G_MAXINT64, 1, "tensor([4., 5.])");
  assert_slice (G_MININT64, G_MAXINT64, G_MAXINT64, "tensor([0.])");
}
END_TEST

START_TEST (slice_without_bounds_is_everything)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (3, 2));
  g_autoptr (XpTensor) all = NULL;
  g_autoptr (XpTensor) some = NULL;
  g_autoptr (XpTensor) first = NULL;
  OK (xp_aten_slice_Tensor (base, 0, NULL, NULL, 1, &all, &error));
  assert_ints (xp_tensor_shape (all), XP_INTS (3, 2));
  assert_view_of (all, base);
  OK (xp_aten_slice_Tensor (base, -1, (const int64_t[]){ 1 }, NULL, 1, &some, &error));
  assert_tensor (some, "tensor([[1.],\n        [3.],\n        [5.]])");
  OK (xp_aten_slice_Tensor (base, 0, NULL, NULL, G_MAXINT64, &first, &error));
  assert_tensor (first, "tensor([[0., 1.]])");
}
END_TEST

START_TEST (slice_refuses)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (3));
  g_autoptr (XpTensor) scalar = counting (NO_SIZES);
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_slice_Tensor (base, 0, NULL, NULL, 0, &none, &error), none, XP_ERROR_ARGUMENT,
         "slice step must be positive");
  FAILS (xp_aten_slice_Tensor (base, 1, NULL, NULL, 1, &none, &error), none, XP_ERROR_INDEX,
         "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  FAILS (xp_aten_slice_Tensor (scalar, 0, NULL, NULL, 1, &none, &error), none, XP_ERROR_INDEX,
         "slice() cannot be applied to a 0-dim tensor.");
}
END_TEST

START_TEST (select_takes_a_dimension_away)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) row = NULL;
  g_autoptr (XpTensor) column = NULL;
  OK (xp_aten_select_int (base, 0, -1, &row, &error));
  assert_tensor (row, "tensor([3., 4., 5.])");
  assert_view_of (row, base);
  OK (xp_aten_select_int (base, -1, 1, &column, &error));
  assert_tensor (column, "tensor([1., 4.])");
  assert_ints (xp_tensor_strides (column), XP_INTS (3));
  ck_assert_int_eq (xp_tensor_storage_offset (column), 1);
}
END_TEST

START_TEST (select_refuses)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) scalar = counting (NO_SIZES);
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_select_int (base, 1, 3, &none, &error), none, XP_ERROR_INDEX,
         "select(): index 3 out of range for tensor of size [2, 3] at dimension 1");
  FAILS (xp_aten_select_int (base, -1, -4, &none, &error), none, XP_ERROR_INDEX,
         "select(): index -4 out of range for tensor of size [2, 3] at dimension 1");
  FAILS (xp_aten_select_int (base, 2, 0, &none, &error), none, XP_ERROR_INDEX,
         "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  FAILS (xp_aten_select_int (scalar, 0, 0, &none, &error), none, XP_ERROR_INDEX,
         "select() cannot be applied to a 0-dim tensor.");
}
END_TEST

START_TEST (views_of_nothing_reach_nowhere)
{
  int64_t large = (int64_t) 1 << 40;
  g_autoptr (XpTensor) base = counting (XP_INTS (3, 0));
  g_autoptr (XpTensor) vast = counting (XP_INTS (large, 0, large));
  g_autoptr (XpTensor) row = NULL;
  g_autoptr (XpTensor) vast_row = NULL;
  g_autoptr (XpTensor) rows = NULL;
  OK (xp_aten_select_int (base, 0, 2, &row, &error));
  assert_ints (xp_tensor_shape (row), XP_INTS (0));
  OK (xp_aten_select_int (vast, 0, (int64_t) 1 << 23, &vast_row, &error));
  assert_ints (xp_tensor_shape (vast_row), XP_INTS (0, large));
  OK (xp_aten_slice_Tensor (base, 0, (const int64_t[]){ 1 }, NULL, 1, &rows, &error));
  assert_ints (xp_tensor_shape (rows), XP_INTS (2, 0));
}
END_TEST

START_TEST (reshape_copies_only_where_it_must)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) view = NULL;
  g_autoptr (XpTensor) copy = NULL;
  g_autoptr (XpTensor) none = NULL;
  OK (xp_aten_reshape (base, XP_INTS (-1, 2), &view, &error));
  assert_tensor (view, "tensor([[0., 1.],\n        [2., 3.],\n        [4., 5.]])");
  assert_view_of (view, base);
  OK (xp_aten_transpose_int (base, 0, 1, &turned, &error));
  OK (xp_aten_reshape (turned, XP_INTS (6), &copy, &error));
  assert_tensor (copy, "tensor([0., 3., 1., 4., 2., 5.])");
  ck_assert (!xp_tensor_shares_storage (copy, base));
  FAILS (xp_aten_reshape (base, XP_INTS (7), &none, &error), none, XP_ERROR_SHAPE,
         "shape '[7]' is invalid for input of size 6");
  FAILS (xp_aten_reshape (base, XP_INTS (-1, -1), &none, &error), none, XP_ERROR_SHAPE,
         "only one dimension can be inferred");
}
END_TEST

/* Copies. */

static void
assert_clone (XpTensor *tensor, const XpMemoryFormat *format, XpInts strides)
{
  g_autoptr (XpTensor) clone = NULL;
  OK (xp_aten_clone (tensor, format, &clone, &error));
  assert_ints (xp_tensor_strides (clone), strides);
  ck_assert (!xp_tensor_shares_storage (clone, tensor));
  for (int64_t i = 0; i < tensor->numel; i++)
    {
      XpValue expected = xp_tensor_get_element (tensor, i);
      ck_assert (xp_value_equal (xp_tensor_get_element (clone, i), expected));
    }
}

START_TEST (clone_keeps_the_order_of_dimensions)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (4, 4));
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) half = NULL;
  XpMemoryFormat format = XP_CONTIGUOUS_FORMAT;
  OK (xp_aten_transpose_int (base, 0, 1, &turned, &error));
  assert_clone (turned, NULL, XP_INTS (1, 4));
  assert_clone (turned, &format, XP_INTS (4, 1));
  OK (xp_aten_slice_Tensor (turned, 0, NULL, (const int64_t[]){ 2 }, 1, &half, &error));
  assert_clone (half, NULL, XP_INTS (1, 2));
  g_autoptr (XpTensor) one = xp_tensor_new_view (base, XP_INTS (2, 3), XP_INTS (0, 1), 0, &error);
  assert_clone (one, NULL, XP_INTS (3, 1));
}
END_TEST

START_TEST (clone_takes_a_memory_format)
{
  g_autoptr (XpTensor) images = counting (XP_INTS (2, 3, 4, 5));
  g_autoptr (XpTensor) matrix = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) none = NULL;
  XpMemoryFormat format = XP_CHANNELS_LAST;
  assert_clone (images, &format, XP_INTS (60, 1, 15, 3));
  FAILS (xp_aten_clone (matrix, &format, &none, &error), none, XP_ERROR_SHAPE,
         "required rank 4 tensor to use channels_last format");
}
END_TEST

START_TEST (to_copy_changes_dtype_and_device)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) ints = NULL;
  g_autoptr (XpTensor) meta = NULL;
  XpDType dtype = XP_INT32;
  XpDevice device = XP_META;
  load_plugin ("meta");
  OK (xp_aten_transpose_int (base, 0, 1, &turned, &error));
  OK (xp_aten__to_copy (turned, &dtype, NULL, NULL, NULL, false, NULL, &ints, &error));
  assert_tensor (ints, "tensor([[0, 3],\n        [1, 4],\n        [2, 5]], dtype=torch.int32)");
  assert_ints (xp_tensor_strides (ints), XP_INTS (1, 3));
  OK (xp_aten__to_copy (base, NULL, NULL, &device, NULL, false, NULL, &meta, &error));
  assert_tensor (meta, "tensor(..., device='meta', size=(2, 3))");
}
END_TEST

START_TEST (to_copy_refuses)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) meta = meta_of (XP_INTS (2, 3));
  g_autoptr (XpTensor) none = NULL;
  XpLayout layout = XP_SPARSE_COO;
  XpDevice cpu = XP_CPU, cuda = { XP_BACKEND_CUDA, 0 };
  FAILS (xp_aten__to_copy (base, NULL, &layout, NULL, NULL, false, NULL, &none, &error), none,
         XP_ERROR_ARGUMENT,
         "to(options) doesn't support converting to a different layout, but got self.layout being "
         "Strided and options.layout set as Sparse");
  FAILS (xp_aten__to_copy (meta, NULL, NULL, &cpu, NULL, false, NULL, &none, &error), none,
         XP_ERROR_DECLINED, "Cannot copy out of meta tensor; no data!");
  FAILS (xp_aten__to_copy (base, NULL, NULL, &cuda, NULL, false, NULL, &none, &error), none,
         XP_ERROR_INVALID_ARGUMENT,
         "no plugin that is loaded gives memory for the device 'cuda:0'");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("composite/views");
  TCase *views = tcase_create ("views");
  tcase_add_checked_fixture (views, load_plugins, NULL);
  tcase_add_test (views, transpose_swaps_two_dimensions);
  tcase_add_test (views, transpose_of_a_scalar_has_one_dimension_to_name);
  tcase_add_test (views, slice_clamps_its_bounds);
  tcase_add_test (views, slice_without_bounds_is_everything);
  tcase_add_test (views, slice_refuses);
  tcase_add_test (views, select_takes_a_dimension_away);
  tcase_add_test (views, select_refuses);
  tcase_add_test (views, views_of_nothing_reach_nowhere);
  tcase_add_test (views, reshape_copies_only_where_it_must);
  suite_add_tcase (suite, views);
  TCase *copies = tcase_create ("copies");
  tcase_add_checked_fixture (copies, load_plugins, NULL);
  tcase_add_test (copies, clone_keeps_the_order_of_dimensions);
  tcase_add_test (copies, clone_takes_a_memory_format);
  tcase_add_test (copies, to_copy_changes_dtype_and_device);
  tcase_add_test (copies, to_copy_refuses);
  suite_add_tcase (suite, copies);
  return run_suite (suite);
}
