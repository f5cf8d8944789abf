/* SPDX-License-Identifier: MIT
 *
 * layout.c: the COO layout: conversions, parts, coalescing, printing, transpose and select.
 */
#include "sparse/entries.h"

/* Conversions and printing. */

START_TEST (a_sparse_tensor_prints_its_parts)
{
  g_autoptr (XpTensor) dense = tensor_of (XP_FLOAT32, XP_INTS (2, 3), NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) wide = NULL;
  XpDType dtype = XP_FLOAT64;
  assert_tensor (sparse, "tensor(indices=tensor([[0, 0, 1],\n"
                         "                       [0, 2, 1]]),\n"
                         "       values=tensor([1., 2., 3.]),\n"
                         "       size=(2, 3), nnz=3, layout=torch.sparse_coo)");
  OK (xp_aten__to_copy (sparse, &dtype, NULL, NULL, NULL, false, NULL, &wide, &error));
  ck_assert (xp_tensor_set_requires_grad (wide, TRUE, &error));
  assert_tensor (wide, "tensor(indices=tensor([[0, 0, 1],\n"
                       "                       [0, 2, 1]]),\n"
                       "       values=tensor([1., 2., 3.]),\n"
                       "       size=(2, 3), nnz=3, dtype=torch.float64, layout=torch.sparse_coo,\n"
                       "       requires_grad=True)");
}
END_TEST

START_TEST (its_keys_differ_in_the_first_only)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (2));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autofree char *keys = xp_key_set_to_string (sparse->keys);
  ck_assert_str_eq (keys, "DispatchKeySet(SparseCPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
}
END_TEST

START_TEST (negative_zero_is_zero_and_nan_is_not)
{
  static const double numbers[] = { NAN, -0.0, 0, INFINITY };
  static const XpDType dtypes[] = { XP_FLOAT16, XP_BFLOAT16,  XP_FLOAT32,
                                    XP_FLOAT64, XP_COMPLEX64, XP_COMPLEX128 };
  for (unsigned i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (XpTensor) dense = tensor_of (dtypes[i], XP_INTS (4), numbers);
      g_autoptr (XpTensor) sparse = to_sparse (dense);
      g_autoptr (XpTensor) indices = NULL;
      OK (xp_aten_indices (sparse, &indices, &error));
      assert_tensor (indices, "tensor([[0, 3]])");
    }
}
END_TEST

START_TEST (every_dtype_goes_there_and_back)
{
  for (int64_t dtype = 0; dtype < XP_DTYPE_LIMIT; dtype++)
    {
      if (!xp_dtype_is_valid (dtype))
        continue;
      g_autoptr (XpTensor) dense = tensor_of ((XpDType) dtype, XP_INTS (2, 2),
                                              NUMBERS (0, 1, 0, 5));
      g_autoptr (XpTensor) sparse = to_sparse (dense);
      g_autoptr (XpTensor) back = NULL;
      g_autofree char *expected = xp_tensor_to_string (dense);
      ck_assert_int_eq (entries (sparse), 2);
      OK (xp_aten_to_dense (sparse, NULL, &back, &error));
      assert_tensor (back, expected);
    }
}
END_TEST

START_TEST (scalars_and_nothing)
{
  g_autoptr (XpTensor) three = tensor_of (XP_FLOAT32, NO_SIZES, NUMBERS (3));
  g_autoptr (XpTensor) zero = tensor_of (XP_FLOAT32, NO_SIZES, NUMBERS (0));
  g_autoptr (XpTensor) nothing = counting (XP_INTS (3, 0, 2));
  g_autoptr (XpTensor) sparse_three = to_sparse (three);
  g_autoptr (XpTensor) sparse_zero = to_sparse (zero);
  g_autoptr (XpTensor) sparse_nothing = to_sparse (nothing);
  assert_tensor (sparse_three, "tensor(indices=tensor([], size=(0, 1)),\n"
                               "       values=tensor([3.]),\n"
                               "       size=(), nnz=1, layout=torch.sparse_coo)");
  assert_tensor (sparse_zero, "tensor(indices=tensor([], size=(0, 0)),\n"
                              "       values=tensor([], size=(0,)),\n"
                              "       size=(), nnz=0, layout=torch.sparse_coo)");
  assert_tensor (sparse_nothing, "tensor(indices=tensor([], size=(3, 0)),\n"
                                 "       values=tensor([], size=(0,)),\n"
                                 "       size=(3, 0, 2), nnz=0, layout=torch.sparse_coo)");
  assert_dense (sparse_three, "tensor(3.)");
  assert_dense (sparse_zero, "tensor(0.)");
  assert_dense (sparse_nothing, "tensor([], size=(3, 0, 2))");
}
END_TEST

START_TEST (a_view_is_read_in_its_own_order)
{
  g_autoptr (XpTensor) dense = tensor_of (XP_FLOAT32, XP_INTS (2, 3), NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) turned = NULL;
  OK (xp_aten_transpose_int (dense, 0, 1, &turned, &error));
  g_autoptr (XpTensor) sparse = to_sparse (turned);
  g_autoptr (XpTensor) values = NULL;
  OK (xp_aten_values (sparse, &values, &error));
  assert_tensor (values, "tensor([1., 3., 2.])");
}
END_TEST

START_TEST (a_conversion_that_is_none)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (2));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) same = NULL;
  g_autoptr (XpTensor) wide = NULL;
  g_autoptr (XpTensor) none = NULL;
  XpDType dtype = XP_FLOAT64;
  OK (xp_aten_to_dense (dense, NULL, &same, &error));
  ck_assert_ptr_eq (same, dense);
  OK (xp_aten_to_dense (dense, &dtype, &wide, &error));
  assert_tensor (wide, "tensor([0., 1.], dtype=torch.float64)");
  FAILS (xp_aten_to_dense (sparse, &dtype, &none, &error), none, XP_ERROR_ARGUMENT,
         "dtype argument is not supported by sparse_to_dense");
  FAILS (xp_aten_to_sparse (sparse, &none, &error), none, XP_ERROR_MISSING_KERNEL,
         "Could not run 'aten::to_sparse' with arguments from the 'SparseCPU' backend.");
}
END_TEST

START_TEST (empty_makes_a_tensor_of_zeros)
{
  g_autoptr (XpTensor) empty = NULL;
  g_autoptr (XpTensor) none = NULL;
  XpLayout layout = XP_SPARSE_COO;
  XpDType dtype = XP_INT8;
  bool pinned = true;
  OK (xp_aten_empty_memory_format (XP_INTS (2, 3), &dtype, &layout, NULL, NULL, NULL, &empty,
                                   &error));
  assert_tensor (empty, "tensor(indices=tensor([], size=(2, 0)),\n"
                        "       values=tensor([], size=(0,)),\n"
                        "       size=(2, 3), nnz=0, dtype=torch.int8, layout=torch.sparse_coo)");
  FAILS (
      xp_aten_empty_memory_format (XP_INTS (2), NULL, &layout, NULL, &pinned, NULL, &none, &error),
      none, XP_ERROR_ARGUMENT, "Only dense CPU tensors can be pinned");
  FAILS (xp_aten_empty_memory_format (XP_INTS (-2), NULL, &layout, NULL, NULL, NULL, &none, &error),
         none, XP_ERROR_SHAPE, "negative dimension -2");
  FAILS (xp_aten_empty_memory_format (XP_INTS ((int64_t) 1 << 40, (int64_t) 1 << 40), NULL, &layout,
                                      NULL, NULL, NULL, &none, &error),
         none, XP_ERROR_LIMIT, "more than 2^63 - 1 elements");
}
END_TEST

START_TEST (a_large_shape_takes_little)
{
  g_autoptr (XpTensor) empty = NULL;
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) none = NULL;
  XpLayout layout = XP_SPARSE_COO;
  OK (xp_aten_empty_memory_format (XP_INTS ((int64_t) 1 << 31, (int64_t) 1 << 31), NULL, &layout,
                                   NULL, NULL, NULL, &empty, &error));
  OK (xp_aten_transpose_int (empty, 0, 1, &turned, &error));
  OK (xp_aten_add_Tensor (empty, turned, xp_value_int (1), &sum, &error));
  ck_assert_int_eq (entries (sum), 0);
  FAILS (xp_aten_to_dense (sum, NULL, &none, &error), none, XP_ERROR_LIMIT, "2^63 bytes");
}
END_TEST

/* Parts. */

START_TEST (parts_are_views)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (3));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) values = NULL;
  g_autoptr (XpTensor) again = NULL;
  g_autoptr (XpTensor) filled = NULL;
  OK (xp_aten_values (sparse, &values, &error));
  OK (xp_aten_values (sparse, &again, &error));
  ck_assert (values != again && xp_tensor_shares_storage (values, again));
  OK (xp_aten_fill__Scalar (values, xp_value_int (7), &filled, &error));
  assert_dense (sparse, "tensor([0., 7., 7.])");
}
END_TEST

START_TEST (an_index_written_from_outside_is_found_out)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (3));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) indices = NULL;
  g_autoptr (XpTensor) filled = NULL;
  g_autoptr (XpTensor) none = NULL;
  OK (xp_aten_indices (sparse, &indices, &error));
  OK (xp_aten_fill__Scalar (indices, xp_value_int (99), &filled, &error));
  FAILS (xp_aten_to_dense (sparse, NULL, &none, &error), none, XP_ERROR_INDEX,
         "index 99 in dimension 0 of size 3");
  FAILS (xp_aten_mul_Tensor (sparse, dense, &none, &error), none, XP_ERROR_INDEX, "index 99");
}
END_TEST

START_TEST (coalescing_sorts_and_adds_up)
{
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) sorted = NULL;
  g_autoptr (XpTensor) same = NULL;
  g_autoptr (XpTensor) none = NULL;
  ck_assert_int_eq (entries (twice), 5);
  FAILS (xp_aten_indices (twice, &none, &error), none, XP_ERROR_ARGUMENT,
         "Cannot get indices on an uncoalesced tensor, please call .coalesce() first");
  FAILS (xp_aten_values (twice, &none, &error), none, XP_ERROR_ARGUMENT,
         "Cannot get values on an uncoalesced tensor, please call .coalesce() first");
  OK (xp_aten_coalesce (twice, &sorted, &error));
  assert_tensor (sorted, "tensor(indices=tensor([[0, 0, 0, 1],\n"
                         "                       [0, 1, 2, 1]]),\n"
                         "       values=tensor([1., 5., 4., 0.]),\n"
                         "       size=(2, 3), nnz=4, layout=torch.sparse_coo)");
  OK (xp_aten_coalesce (sorted, &same, &error));
  ck_assert_ptr_eq (same, sorted);
  g_autoptr (XpTensor) dense = counting (XP_INTS (2));
  FAILS (xp_aten_coalesce (dense, &none, &error), none, XP_ERROR_DECLINED,
         "only sparse_coo tensors");
}
END_TEST

START_TEST (coalescing_every_dtype)
{
  for (int64_t dtype = 0; dtype < XP_DTYPE_LIMIT; dtype++)
    {
      if (!xp_dtype_is_valid (dtype))
        continue;
      g_autoptr (XpTensor) twice = unsorted ();
      g_autoptr (XpTensor) other = NULL;
      g_autoptr (XpTensor) sorted = NULL;
      g_autoptr (XpTensor) values = NULL;
      XpDType to = (XpDType) dtype;
      OK (xp_aten__to_copy (twice, &to, NULL, NULL, NULL, false, NULL, &other, &error));
      OK (xp_aten__coalesce (other, &sorted, &error));
      OK (xp_aten_values (sorted, &values, &error));
      ck_assert_int_eq (xp_tensor_dtype (values), to);
      g_auto (XpValue) sum = xp_tensor_get_element (values, 2);
      ck_assert_double_eq (xp_scalar_to_double (sum), to == XP_BOOL ? 1 : 4);
      if (to == XP_BOOL)
        ck_assert_uint_eq (((const uint8_t *) xp_tensor_data (values))[2], 1);
    }
}
END_TEST

START_TEST (coalescing_keeps_large_integers)
{
  g_autoptr (XpTensor) dense = tensor_of (XP_INT64, XP_INTS (2), NUMBERS (0, 0x1p53));
  xp_tensor_set_element (dense, 0, xp_value_int (G_MAXINT64));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) sorted = NULL;
  OK (xp_aten__coalesce (sparse, &sorted, &error));
  assert_dense (sorted, "tensor([9223372036854775807,    9007199254740992])");
}
END_TEST

/* Copies. */

START_TEST (clone_and_copy_take_the_entries_along)
{
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) clone = NULL;
  g_autoptr (XpTensor) zeros = NULL;
  g_autoptr (XpTensor) written = NULL;
  g_autoptr (XpTensor) none = NULL;
  XpLayout layout = XP_SPARSE_COO;
  XpDType dtype = XP_INT64;
  XpMemoryFormat format = XP_PRESERVE_FORMAT;
  OK (xp_aten_clone (twice, NULL, &clone, &error));
  ck_assert_int_eq (entries (clone), 5);
  OK (xp_aten_zeros (XP_INTS (2, 3), &dtype, &layout, NULL, NULL, &zeros, &error));
  OK (xp_aten_copy_ (zeros, clone, false, &written, &error));
  ck_assert_ptr_eq (written, zeros);
  assert_dense (zeros, "tensor([[1, 5, 4],\n        [0, 0, 0]])");
  FAILS (xp_aten_clone (twice, &format, &none, &error), none, XP_ERROR_ARGUMENT,
         "unsupported memory format option Preserve");
}
END_TEST

START_TEST (a_copy_takes_its_shape_along)
{
  g_autoptr (XpTensor) zero = counting (XP_INTS (1));
  g_autoptr (XpTensor) sparse = to_sparse (zero);
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) written = NULL;
  OK (xp_aten_copy_ (sparse, twice, false, &written, &error));
  ck_assert_int_eq (written->numel, 6);
  assert_dense (sparse, "tensor([[1., 5., 4.],\n        [0., 0., 0.]])");
}
END_TEST

START_TEST (what_has_entries_does_not_shrink)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (3, 2));
  g_autoptr (XpTensor) line = counting (XP_INTS (4));
  g_autoptr (XpTensor) small = counting (XP_INTS (2, 2));
  g_autoptr (XpTensor) thin = counting (XP_INTS (3, 1));
  g_autoptr (XpTensor) deep = counting (XP_INTS (3, 2, 1));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) hybrid = NULL;
  g_autoptr (XpTensor) sparse_line = to_sparse (line);
  g_autoptr (XpTensor) sparse_small = to_sparse (small);
  g_autoptr (XpTensor) hybrid_thin = NULL;
  g_autoptr (XpTensor) hybrid_deep = NULL;
  g_autoptr (XpTensor) none = NULL;
  OK (xp_aten_to_sparse_sparse_dim (dense, 1, &hybrid, &error));
  OK (xp_aten_to_sparse_sparse_dim (thin, 1, &hybrid_thin, &error));
  OK (xp_aten_to_sparse_sparse_dim (deep, 1, &hybrid_deep, &error));
  FAILS (xp_aten_copy_ (sparse, sparse_line, false, &none, &error), none, XP_ERROR_SHAPE,
         "changing the number of sparse dimensions (from 2 to 1) on a non-empty sparse tensor is "
         "not supported");
  FAILS (xp_aten_copy_ (hybrid, hybrid_deep, false, &none, &error), none, XP_ERROR_SHAPE,
         "changing the number of dense dimensions (from 1 to 2) on a non-empty sparse tensor is "
         "not supported");
  FAILS (xp_aten_copy_ (sparse, sparse_small, false, &none, &error), none, XP_ERROR_SHAPE,
         "shrinking the size of sparse dimensions (from [3, 2] to [2, 2]) on a non-empty sparse "
         "tensor is not supported");
  FAILS (xp_aten_copy_ (hybrid, hybrid_thin, false, &none, &error), none, XP_ERROR_SHAPE,
         "shrinking the size of dense dimensions (from [2] to [1]) on a non-empty sparse tensor is "
         "not supported");
  OK (xp_aten_copy_ (sparse_small, sparse, false, &none, &error));
  assert_ints (xp_tensor_shape (sparse_small), XP_INTS (3, 2));
}
END_TEST

START_TEST (copies_between_layouts_are_refused)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_copy_ (dense, sparse, false, &none, &error), none, XP_ERROR_ARGUMENT,
         "copy_() between dense and sparse Tensors is not implemented! Found self type = "
         "torch.FloatTensor and src type = torch.sparse.FloatTensor");
  FAILS (xp_aten_copy_ (sparse, dense, false, &none, &error), none, XP_ERROR_ARGUMENT,
         "Found self type = torch.sparse.FloatTensor and src type = torch.FloatTensor");
}
END_TEST

/* Transpose and select. */

START_TEST (transpose_swaps_indices)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) same = NULL;
  g_autoptr (XpTensor) values = NULL;
  g_autoptr (XpTensor) none = NULL;
  OK (xp_aten_transpose_int (sparse, 0, -1, &turned, &error));
  assert_ints (xp_tensor_shape (turned), XP_INTS (3, 2));
  assert_dense (turned, "tensor([[0., 3.],\n        [1., 4.],\n        [2., 5.]])");
  OK (xp_aten_transpose_int (sparse, 1, 1, &same, &error));
  assert_dense (same, "tensor([[0., 1., 2.],\n        [3., 4., 5.]])");
  OK (xp_aten_values (same, &values, &error));
  FAILS (xp_aten_values (turned, &none, &error), none, XP_ERROR_ARGUMENT, "uncoalesced");
  FAILS (xp_aten_transpose_int (sparse, 0, 2, &none, &error), none, XP_ERROR_INDEX,
         "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
}
END_TEST

START_TEST (select_chooses_entries)
{
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) row = NULL;
  g_autoptr (XpTensor) column = NULL;
  g_autoptr (XpTensor) number = NULL;
  g_autoptr (XpTensor) zero = NULL;
  g_autoptr (XpTensor) none = NULL;
  OK (xp_aten_select_int (twice, 0, 0, &row, &error));
  assert_dense (row, "tensor([1., 5., 4.])");
  OK (xp_aten_select_int (twice, 1, -2, &column, &error));
  assert_dense (column, "tensor([5., 0.])");
  OK (xp_aten_select_int (row, 0, 2, &number, &error));
  assert_tensor (number, "tensor(4.)");
  ck_assert_int_eq (number->layout, XP_STRIDED);
  OK (xp_aten_select_int (column, 0, 1, &zero, &error));
  assert_tensor (zero, "tensor(0.)");
  FAILS (xp_aten_select_int (twice, 0, 2, &none, &error), none, XP_ERROR_INDEX,
         "select(): index 2 out of range for tensor of size [2, 3] at dimension 0");
}
END_TEST

START_TEST (what_has_no_sparse_kernel_says_so)
{
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_gelu (twice, "none", &none, &error), none, XP_ERROR_MISSING_KERNEL,
         "Could not run 'aten::gelu' with arguments from the 'SparseCPU' backend.");
  FAILS (xp_aten_slice_Tensor (twice, 0, NULL, NULL, 1, &none, &error), none, XP_ERROR_DECLINED,
         "only strided tensors");
  FAILS (xp_aten_reshape (twice, XP_INTS (6), &none, &error), none, XP_ERROR_ARGUMENT,
         "reshape is not implemented for sparse tensors");
}
END_TEST

/* Hybrid tensors. */

static XpTensor *
to_hybrid (XpTensor *dense, int64_t sparse_dims)
{
  XpTensor *hybrid = NULL;
  OK (xp_aten_to_sparse_sparse_dim (dense, sparse_dims, &hybrid, &error));
  return hybrid;
}

START_TEST (a_hybrid_tensor_has_blocks)
{
  g_autoptr (XpTensor) dense = tensor_of (XP_FLOAT32, XP_INTS (3, 2), NUMBERS (1, 0, 0, 0, 0, 3));
  g_autoptr (XpTensor) hybrid = to_hybrid (dense, 1);
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) product = NULL;
  g_autoptr (XpTensor) row = NULL;
  g_autoptr (XpTensor) column = NULL;
  g_autoptr (XpTensor) none = NULL;
  assert_tensor (hybrid, "tensor(indices=tensor([[0, 2]]),\n"
                         "       values=tensor([[1., 0.],\n"
                         "                      [0., 3.]]),\n"
                         "       size=(3, 2), nnz=2, layout=torch.sparse_coo)");
  assert_dense (hybrid, "tensor([[1., 0.],\n        [0., 0.],\n        [0., 3.]])");
  OK (xp_aten_add_Tensor (hybrid, hybrid, xp_value_int (2), &sum, &error));
  assert_dense (sum, "tensor([[3., 0.],\n        [0., 0.],\n        [0., 9.]])");
  OK (xp_aten_mul_Tensor (hybrid, dense, &product, &error));
  assert_dense (product, "tensor([[1., 0.],\n        [0., 0.],\n        [0., 9.]])");
  OK (xp_aten_select_int (hybrid, 0, 2, &row, &error));
  assert_tensor (row, "tensor([0., 3.])");
  OK (xp_aten_select_int (hybrid, 1, 1, &column, &error));
  assert_dense (column, "tensor([0., 0., 3.])");
  FAILS (xp_aten_transpose_int (hybrid, 0, 1, &none, &error), none, XP_ERROR_ARGUMENT,
         "sparse transpose: transposed dimensions must be sparse Got sparse_dim: 1, d0: 0, d1: 1");
  g_autoptr (XpTensor) square = counting (XP_INTS (2, 2));
  FAILS (xp_aten_mm (hybrid, square, &none, &error), none, XP_ERROR_SHAPE,
         "addmm: matrices expected, got 1D tensor");
}
END_TEST

START_TEST (blocks_are_added_to_what_is_no_block)
{
  g_autoptr (XpTensor) dense = tensor_of (XP_FLOAT32, XP_INTS (3, 2), NUMBERS (1, 0, 0, 0, 0, 3));
  g_autoptr (XpTensor) hybrid = to_hybrid (dense, 1);
  g_autoptr (XpTensor) base = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) sum = NULL;
  OK (xp_aten_transpose_int (base, 0, 1, &turned, &error));
  OK (xp_aten_add__Tensor (turned, hybrid, xp_value_int (1), &sum, &error));
  assert_tensor (base, "tensor([[1., 1., 2.],\n        [3., 4., 8.]])");
}
END_TEST

START_TEST (a_hybrid_tensor_has_a_sparse_dimension)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (3, 2));
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_to_sparse_sparse_dim (dense, 3, &none, &error), none, XP_ERROR_ARGUMENT,
         "sparse_dim must be less than or equal to self.dim()");
  FAILS (xp_aten_to_sparse_sparse_dim (dense, 0, &none, &error), none, XP_ERROR_ARGUMENT,
         "sparse_dim must be >0 if dimensionality > 0");
  FAILS (xp_aten_to_sparse_sparse_dim (dense, -1, &none, &error), none, XP_ERROR_ARGUMENT,
         "sparse_dim must be >0 if dimensionality > 0");
}
END_TEST

START_TEST (two_densities_do_not_add_up)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (3, 2));
  g_autoptr (XpTensor) hybrid = to_hybrid (dense, 1);
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_add_Tensor (hybrid, sparse, xp_value_int (1), &none, &error), none, XP_ERROR_SHAPE,
         "add: expected 'self' and 'other' to have same density, but 'self' has 1 sparse "
         "dimensions while 'other' has 2 sparse dimensions");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("sparse/layout");
  TCase *tests = tcase_create ("all");
  tcase_add_checked_fixture (tests, load_plugins, NULL);
  tcase_add_test (tests, a_sparse_tensor_prints_its_parts);
  tcase_add_test (tests, its_keys_differ_in_the_first_only);
  tcase_add_test (tests, negative_zero_is_zero_and_nan_is_not);
  tcase_add_test (tests, every_dtype_goes_there_and_back);
  tcase_add_test (tests, scalars_and_nothing);
  tcase_add_test (tests, a_view_is_read_in_its_own_order);
  tcase_add_test (tests, a_conversion_that_is_none);
  tcase_add_test (tests, empty_makes_a_tensor_of_zeros);
  tcase_add_test (tests, a_large_shape_takes_little);
  tcase_add_test (tests, parts_are_views);
  tcase_add_test (tests, an_index_written_from_outside_is_found_out);
  tcase_add_test (tests, coalescing_sorts_and_adds_up);
  tcase_add_test (tests, coalescing_every_dtype);
  tcase_add_test (tests, coalescing_keeps_large_integers);
  tcase_add_test (tests, clone_and_copy_take_the_entries_along);
  tcase_add_test (tests, a_copy_takes_its_shape_along);
  tcase_add_test (tests, what_has_entries_does_not_shrink);
  tcase_add_test (tests, copies_between_layouts_are_refused);
  tcase_add_test (tests, transpose_swaps_indices);
  tcase_add_test (tests, select_chooses_entries);
  tcase_add_test (tests, what_has_no_sparse_kernel_says_so);
  tcase_add_test (tests, a_hybrid_tensor_has_blocks);
  tcase_add_test (tests, blocks_are_added_to_what_is_no_block);
  tcase_add_test (tests, a_hybrid_tensor_has_a_sparse_dimension);
  tcase_add_test (tests, two_densities_do_not_add_up);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
