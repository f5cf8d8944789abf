/* SPDX-License-Identifier: MIT
 *
 * matrices.c: products of sparse matrices with dense and with sparse ones.
 */
#include "sparse/entries.h"

#define ONE xp_value_int (1)

START_TEST (sparse_by_dense_is_dense)
{
  g_autoptr (XpTensor) sparse = matrix_of (XP_FLOAT32, NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) dense = counting (XP_INTS (3, 2));
  g_autoptr (XpTensor) other = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) product = NULL;
  g_autoptr (XpTensor) unsorted_product = NULL;
  g_autoptr (XpTensor) turned_product = NULL;
  OK (xp_aten_mm (sparse, dense, &product, &error));
  assert_tensor (product, "tensor([[ 8., 11.],\n        [ 6.,  9.]])");
  OK (xp_aten_mm (twice, dense, &unsorted_product, &error));
  assert_tensor (unsorted_product, "tensor([[26., 36.],\n        [ 0.,  0.]])");
  OK (xp_aten_transpose_int (other, 0, 1, &turned, &error));
  OK (xp_aten_mm (sparse, turned, &turned_product, &error));
  assert_tensor (turned_product, "tensor([[ 4., 13.],\n        [ 3., 12.]])");
}
END_TEST

START_TEST (ones_by_ones)
{
  g_autoptr (XpTensor) ones = tensor_of (XP_FLOAT32, XP_INTS (2, 2), NUMBERS (1, 1, 1, 1));
  g_autoptr (XpTensor) sparse = to_sparse (ones);
  g_autoptr (XpTensor) product = NULL;
  OK (xp_aten_mm (sparse, ones, &product, &error));
  assert_tensor (product, "tensor([[2., 2.],\n        [2., 2.]])");
}
END_TEST

START_TEST (sparse_by_sparse_is_sparse)
{
  g_autoptr (XpTensor) sparse = matrix_of (XP_FLOAT32, NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) product = NULL;
  OK (xp_aten_transpose_int (sparse, 0, 1, &turned, &error));
  OK (xp_aten_mm (sparse, turned, &product, &error));
  assert_tensor (product, "tensor(indices=tensor([[0, 1],\n"
                          "                       [0, 1]]),\n"
                          "       values=tensor([5., 9.]),\n"
                          "       size=(2, 2), nnz=2, layout=torch.sparse_coo)");
}
END_TEST

START_TEST (unsorted_by_unsorted)
{
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) product = NULL;
  OK (xp_aten_transpose_int (twice, 0, 1, &turned, &error));
  OK (xp_aten_mm (twice, turned, &product, &error));
  assert_dense (product, "tensor([[42.,  0.],\n        [ 0.,  0.]])");
}
END_TEST

START_TEST (products_in_every_dtype)
{
  for (int64_t dtype = 0; dtype < XP_DTYPE_LIMIT; dtype++)
    {
      if (!xp_dtype_is_valid (dtype) || dtype == XP_BOOL)
        continue;
      g_autoptr (XpTensor) dense = tensor_of ((XpDType) dtype, XP_INTS (2, 2),
                                              NUMBERS (1, 2, 3, 4));
      g_autoptr (XpTensor) sparse = to_sparse (dense);
      g_autoptr (XpTensor) product = NULL;
      g_autoptr (XpTensor) sparse_product = NULL;
      g_autoptr (XpTensor) back = NULL;
      OK (xp_aten_mm (sparse, dense, &product, &error));
      g_auto (XpValue) last = xp_tensor_get_element (product, 3);
      ck_assert_double_eq (xp_scalar_to_double (last), 22);
      ck_assert_int_eq (xp_tensor_dtype (product), (XpDType) dtype);
      OK (xp_aten_mm (sparse, sparse, &sparse_product, &error));
      OK (xp_aten_to_dense (sparse_product, NULL, &back, &error));
      g_auto (XpValue) first = xp_tensor_get_element (back, 0);
      ck_assert_double_eq (xp_scalar_to_double (first), 7);
    }
}
END_TEST

START_TEST (products_with_nothing_in_them)
{
  g_autoptr (XpTensor) none_wide = counting (XP_INTS (2, 0));
  g_autoptr (XpTensor) none_tall = counting (XP_INTS (0, 2));
  g_autoptr (XpTensor) wide = to_sparse (none_wide);
  g_autoptr (XpTensor) tall = to_sparse (none_tall);
  g_autoptr (XpTensor) zeros = NULL;
  g_autoptr (XpTensor) empty = NULL;
  g_autoptr (XpTensor) sparse_zeros = NULL;
  OK (xp_aten_mm (wide, none_tall, &zeros, &error));
  assert_tensor (zeros, "tensor([[0., 0.],\n        [0., 0.]])");
  OK (xp_aten_mm (tall, none_wide, &empty, &error));
  assert_ints (xp_tensor_shape (empty), XP_INTS (0, 0));
  OK (xp_aten_mm (wide, tall, &sparse_zeros, &error));
  ck_assert_int_eq (entries (sparse_zeros), 0);
}
END_TEST

START_TEST (sums_with_products)
{
  g_autoptr (XpTensor) sparse = matrix_of (XP_FLOAT32, NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) ones = tensor_of (XP_FLOAT32, XP_INTS (3, 2), NUMBERS (1, 1, 1, 1, 1, 1));
  g_autoptr (XpTensor) row = tensor_of (XP_FLOAT32, XP_INTS (2), NUMBERS (1, 2));
  g_autoptr (XpTensor) nan = tensor_of (XP_FLOAT32, NO_SIZES, NUMBERS (NAN));
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) scaled = NULL;
  g_autoptr (XpTensor) forgotten = NULL;
  OK (xp_aten_addmm (row, sparse, ones, ONE, ONE, &sum, &error));
  assert_tensor (sum, "tensor([[4., 5.],\n        [4., 5.]])");
  OK (xp_aten_addmm (row, sparse, ones, xp_value_int (2), xp_value_float (3), &scaled, &error));
  assert_tensor (scaled, "tensor([[11., 13.],\n        [11., 13.]])");
  OK (xp_aten_addmm (nan, sparse, ones, xp_value_float (-0.0), ONE, &forgotten, &error));
  assert_tensor (forgotten, "tensor([[3., 3.],\n        [3., 3.]])");
}
END_TEST

START_TEST (integer_sums_take_integers)
{
  g_autoptr (XpTensor) dense = tensor_of (XP_INT64, XP_INTS (2, 2), NUMBERS (1, 0, 0, 2));
  g_autoptr (XpTensor) ones = tensor_of (XP_INT64, XP_INTS (2, 2), NUMBERS (1, 1, 1, 1));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) sum = NULL;
  OK (xp_aten_addmm (ones, sparse, dense, xp_value_float (1.5), ONE, &sum, &error));
  assert_tensor (sum, "tensor([[2, 1],\n        [1, 5]])");
}
END_TEST

START_TEST (composites_reach_the_sparse_kernels)
{
  g_autoptr (XpTensor) sparse = matrix_of (XP_FLOAT32, NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) vector = tensor_of (XP_FLOAT32, XP_INTS (3), NUMBERS (1, 1, 1));
  g_autoptr (XpTensor) weight = counting (XP_INTS (1, 3));
  g_autoptr (XpTensor) product = NULL;
  g_autoptr (XpTensor) output = NULL;
  OK (xp_aten_matmul (sparse, vector, &product, &error));
  assert_tensor (product, "tensor([3., 3.])");
  OK (xp_aten_linear (sparse, weight, NULL, &output, &error));
  assert_tensor (output, "tensor([[4.],\n        [3.]])");
}
END_TEST

START_TEST (products_that_are_refused)
{
  g_autoptr (XpTensor) sparse = matrix_of (XP_FLOAT32, NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) wide = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) tall = counting (XP_INTS (3, 2));
  g_autoptr (XpTensor) vector = counting (XP_INTS (3));
  g_autoptr (XpTensor) doubles = tensor_of (XP_FLOAT64, XP_INTS (3, 2), NUMBERS (1, 1, 1, 1, 1, 1));
  g_autoptr (XpTensor) sparse_doubles = to_sparse (doubles);
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_mm (sparse, wide, &none, &error), none, XP_ERROR_SHAPE,
         "addmm: Argument #3 (dense): Expected dim 0 size 3, got 2");
  FAILS (xp_aten_mm (sparse, vector, &none, &error), none, XP_ERROR_SHAPE,
         "addmm: matrices expected, got 1D tensor");
  FAILS (xp_aten_mm (sparse, doubles, &none, &error), none, XP_ERROR_DTYPE,
         "expected scalar type Float but found Double");
  FAILS (xp_aten_mm (sparse, sparse, &none, &error), none, XP_ERROR_SHAPE,
         "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  FAILS (xp_aten_mm (sparse, sparse_doubles, &none, &error), none, XP_ERROR_DTYPE,
         "mat1 dtype Float does not match mat2 dtype Double");
  FAILS (xp_aten_mm (tall, sparse, &none, &error), none, XP_ERROR_DECLINED,
         "a sparse matrix only as the first of two");
  FAILS (xp_aten_addmm (vector, sparse, tall, ONE, ONE, &none, &error), none, XP_ERROR_SHAPE,
         "The expanded size of the tensor (2) must match the existing size (3) at non-singleton "
         "dimension 1.  Target sizes: [2, 2].  Tensor sizes: [3]");
  FAILS (xp_aten_addmm (sparse, sparse, tall, ONE, ONE, &none, &error), none, XP_ERROR_DECLINED,
         "a sparse matrix only as mat1");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("sparse/matrices");
  TCase *tests = tcase_create ("all");
  tcase_add_checked_fixture (tests, load_plugins, NULL);
  tcase_add_test (tests, sparse_by_dense_is_dense);
  tcase_add_test (tests, ones_by_ones);
  tcase_add_test (tests, sparse_by_sparse_is_sparse);
  tcase_add_test (tests, unsorted_by_unsorted);
  tcase_add_test (tests, products_in_every_dtype);
  tcase_add_test (tests, products_with_nothing_in_them);
  tcase_add_test (tests, sums_with_products);
  tcase_add_test (tests, integer_sums_take_integers);
  tcase_add_test (tests, composites_reach_the_sparse_kernels);
  tcase_add_test (tests, products_that_are_refused);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
