/* SPDX-License-Identifier: MIT
 *
 * arithmetic.c: sums, differences, products and quotients with sparse tensors.
 */
#include "sparse/entries.h"

#define ONE xp_value_int (1)

static XpTensor *a, *b, *dense;

static void
set_up (void)
{
  load_plugins ();
  a = matrix_of (XP_FLOAT32, NUMBERS (1, 0, 2, 0, 3, 0));
  b = matrix_of (XP_FLOAT32, NUMBERS (0, 5, 2, 0, -3, 0));
  dense = tensor_of (XP_FLOAT32, XP_INTS (2, 3), NUMBERS (1, 0, 2, 0, 3, 0));
}

static void
tear_down (void)
{
  xp_tensor_unref (a);
  xp_tensor_unref (b);
  xp_tensor_unref (dense);
}

/* Sums. */

START_TEST (a_sum_has_the_entries_of_both)
{
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) difference = NULL;
  OK (xp_aten_add_Tensor (a, b, xp_value_int (2), &sum, &error));
  assert_tensor (sum, "tensor(indices=tensor([[0, 0, 0, 1],\n"
                      "                       [0, 1, 2, 1]]),\n"
                      "       values=tensor([ 1., 10.,  6., -3.]),\n"
                      "       size=(2, 3), nnz=4, layout=torch.sparse_coo)");
  OK (xp_aten_sub_Tensor (a, b, ONE, &difference, &error));
  assert_dense (difference, "tensor([[ 1., -5.,  0.],\n        [ 0.,  6.,  0.]])");
}
END_TEST

START_TEST (a_sum_of_two_dtypes)
{
  g_autoptr (XpTensor) ints = matrix_of (XP_INT64, NUMBERS (1, 0, 0, 0, 2, 0));
  g_autoptr (XpTensor) halves = matrix_of (XP_FLOAT16, NUMBERS (0.5, 0, 0, 0, 2, 0));
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) half_sum = NULL;
  OK (xp_aten_add_Tensor (ints, a, ONE, &sum, &error));
  assert_dense (sum, "tensor([[2., 0., 2.],\n        [0., 5., 0.]])");
  OK (xp_aten_add_Tensor (ints, halves, ONE, &half_sum, &error));
  assert_dense (half_sum, "tensor([[1.5000, 0.0000, 0.0000],\n"
                          "        [0.0000, 4.0000, 0.0000]], dtype=torch.float16)");
}
END_TEST

START_TEST (dense_plus_sparse_is_dense)
{
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) ints = tensor_of (XP_INT64, XP_INTS (2, 3), NUMBERS (1, 1, 1, 1, 1, 1));
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) difference = NULL;
  g_autoptr (XpTensor) mixed = NULL;
  OK (xp_aten_add_Tensor (dense, twice, ONE, &sum, &error));
  assert_tensor (sum, "tensor([[2., 5., 6.],\n        [0., 3., 0.]])");
  OK (xp_aten_sub_Tensor (dense, twice, xp_value_int (2), &difference, &error));
  assert_tensor (difference, "tensor([[ -1., -10.,  -6.],\n        [  0.,   3.,   0.]])");
  OK (xp_aten_add_Tensor (ints, a, ONE, &mixed, &error));
  assert_tensor (mixed, "tensor([[2., 1., 3.],\n        [1., 4., 1.]])");
}
END_TEST

START_TEST (sums_in_place)
{
  g_autoptr (XpTensor) turned = NULL;
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) dense_sum = NULL;
  g_autoptr (XpTensor) turned_sum = NULL;
  g_autoptr (XpTensor) block = counting (XP_INTS (3, 2));
  uint64_t version = xp_tensor_version (dense);
  OK (xp_aten_add__Tensor (a, b, ONE, &sum, &error));
  ck_assert_ptr_eq (sum, a);
  assert_dense (a, "tensor([[1., 5., 4.],\n        [0., 0., 0.]])");
  OK (xp_aten_add__Tensor (dense, b, ONE, &dense_sum, &error));
  ck_assert_ptr_eq (dense_sum, dense);
  ck_assert_uint_eq (xp_tensor_version (dense), version + 1);
  assert_tensor (dense, "tensor([[1., 5., 4.],\n        [0., 0., 0.]])");
  OK (xp_aten_transpose_int (block, 0, 1, &turned, &error));
  OK (xp_aten_add__Tensor (turned, b, ONE, &turned_sum, &error));
  assert_tensor (block, "tensor([[0., 1.],\n        [7., 0.],\n        [6., 5.]])");
}
END_TEST

START_TEST (sums_into_a_result)
{
  g_autoptr (XpTensor) line = tensor_of (XP_FLOAT64, XP_INTS (1), NUMBERS (0));
  g_autoptr (XpTensor) out = to_sparse (line);
  g_autoptr (XpTensor) block = tensor_of (XP_FLOAT64, XP_INTS (1), NUMBERS (0));
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) dense_sum = NULL;
  OK (xp_aten_add_out (a, b, ONE, out, &sum, &error));
  ck_assert_ptr_eq (sum, out);
  assert_dense (out, "tensor([[1., 5., 4.],\n        [0., 0., 0.]], dtype=torch.float64)");
  OK (xp_aten_add_out (dense, b, ONE, block, &dense_sum, &error));
  assert_tensor (block, "tensor([[1., 5., 4.],\n        [0., 0., 0.]], dtype=torch.float64)");
}
END_TEST

START_TEST (sums_that_are_refused)
{
  g_autoptr (XpTensor) ints = matrix_of (XP_INT64, NUMBERS (1, 0, 0, 0, 2, 0));
  g_autoptr (XpTensor) square = counting (XP_INTS (2, 2));
  g_autoptr (XpTensor) sparse_square = to_sparse (square);
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_add_Tensor (a, dense, ONE, &none, &error), none, XP_ERROR_ARGUMENT,
         "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  FAILS (xp_aten_add__Tensor (a, dense, ONE, &none, &error), none, XP_ERROR_ARGUMENT,
         "add(sparse, dense) is not supported.");
  FAILS (xp_aten_add_Scalar (a, ONE, ONE, &none, &error), none, XP_ERROR_ARGUMENT,
         "add(sparse, dense) is not supported.");
  FAILS (xp_aten_add_Tensor (a, sparse_square, ONE, &none, &error), none, XP_ERROR_SHAPE,
         "add: expected sizes of 'self' and 'other' to match, but [2, 3] != [2, 2]");
  FAILS (xp_aten_add_Tensor (square, a, ONE, &none, &error), none, XP_ERROR_SHAPE,
         "add: expected 'self' and 'other' to have same size, but self has size [2, 2] while other "
         "has size [2, 3] (FYI: dense-sparse addition does not currently support broadcasting)");
  FAILS (xp_aten_add__Tensor (ints, a, ONE, &none, &error), none, XP_ERROR_DTYPE,
         "Can't convert result type Float to output Long in add operation");
  FAILS (xp_aten_add_Tensor (ints, ints, xp_value_float (1.5), &none, &error), none,
         XP_ERROR_ARGUMENT,
         "For integral input tensors, argument alpha must not be a floating point number.");
  FAILS (xp_aten_add_Tensor (a, a, xp_value_bool (TRUE), &none, &error), none, XP_ERROR_ARGUMENT,
         "Boolean alpha only supported for Boolean results.");
  FAILS (xp_aten_add_out (a, b, ONE, dense, &none, &error), none, XP_ERROR_ARGUMENT,
         "cannot be written to a strided one");
}
END_TEST

START_TEST (bools_are_not_subtracted)
{
  g_autoptr (XpTensor) bools = matrix_of (XP_BOOL, NUMBERS (1, 0, 0, 0, 1, 0));
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_sub_Tensor (bools, bools, ONE, &none, &error), none, XP_ERROR_DTYPE,
         "Subtraction, the `-` operator, with two bool tensors is not supported.");
  FAILS (xp_aten_sub_Tensor (bools, a, ONE, &none, &error), none, XP_ERROR_DTYPE,
         "Subtraction, the `-` operator, with a bool tensor is not supported.");
}
END_TEST

/* Products, quotients, negatives. */

START_TEST (a_product_has_the_entries_of_one)
{
  g_autoptr (XpTensor) row = tensor_of (XP_INT64, XP_INTS (3), NUMBERS (1, 2, 3));
  g_autoptr (XpTensor) column = tensor_of (XP_FLOAT32, XP_INTS (2, 1), NUMBERS (2, 3));
  g_autoptr (XpTensor) product = NULL;
  g_autoptr (XpTensor) by_row = NULL;
  g_autoptr (XpTensor) by_column = NULL;
  OK (xp_aten_mul_Tensor (dense, a, &product, &error));
  assert_tensor (product, "tensor(indices=tensor([[0, 0, 1],\n"
                          "                       [0, 2, 1]]),\n"
                          "       values=tensor([1., 4., 9.]),\n"
                          "       size=(2, 3), nnz=3, layout=torch.sparse_coo)");
  OK (xp_aten_mul_Tensor (a, row, &by_row, &error));
  assert_dense (by_row, "tensor([[1., 0., 6.],\n        [0., 6., 0.]])");
  OK (xp_aten_mul_Tensor (a, column, &by_column, &error));
  assert_dense (by_column, "tensor([[2., 0., 4.],\n        [0., 9., 0.]])");
}
END_TEST

START_TEST (a_product_of_two_has_the_entries_of_both)
{
  g_autoptr (XpTensor) twice = unsorted ();
  g_autoptr (XpTensor) product = NULL;
  g_autoptr (XpTensor) turned_product = NULL;
  g_autoptr (XpTensor) square = NULL;
  g_autoptr (XpTensor) none = NULL;
  OK (xp_aten_mul_Tensor (a, b, &product, &error));
  assert_tensor (product, "tensor(indices=tensor([[0, 1],\n"
                          "                       [2, 1]]),\n"
                          "       values=tensor([ 4., -9.]),\n"
                          "       size=(2, 3), nnz=2, layout=torch.sparse_coo)");
  OK (xp_aten_mul_Tensor (b, twice, &turned_product, &error));
  assert_dense (turned_product, "tensor([[ 0., 25.,  8.],\n        [ 0.,  0.,  0.]])");
  ck_assert_int_eq (entries (turned_product), 4);
  FAILS (xp_aten_values (turned_product, &none, &error), none, XP_ERROR_ARGUMENT,
         "Cannot get values on an uncoalesced tensor");
  OK (xp_aten_mul_Tensor (twice, twice, &square, &error));
  assert_dense (square, "tensor([[ 1., 25., 16.],\n        [ 0.,  0.,  0.]])");
}
END_TEST

START_TEST (numbers_multiply_and_divide)
{
  g_autoptr (XpTensor) ints = matrix_of (XP_INT64, NUMBERS (1, 0, 0, 0, 2, 0));
  g_autoptr (XpTensor) three = tensor_of (XP_FLOAT32, NO_SIZES, NUMBERS (3));
  g_autoptr (XpTensor) sparse_three = to_sparse (three);
  g_autoptr (XpTensor) scaled = NULL;
  g_autoptr (XpTensor) doubled = NULL;
  g_autoptr (XpTensor) tripled = NULL;
  g_autoptr (XpTensor) nine = NULL;
  g_autoptr (XpTensor) halved = NULL;
  OK (xp_aten_mul_Scalar (ints, xp_value_float (2.5), &scaled, &error));
  assert_dense (scaled, "tensor([[2.5000, 0.0000, 0.0000],\n        [0.0000, 5.0000, 0.0000]])");
  OK (xp_aten_mul_Scalar (ints, xp_value_int (2), &doubled, &error));
  assert_dense (doubled, "tensor([[2, 0, 0],\n        [0, 4, 0]])");
  OK (xp_aten_mul_Tensor (sparse_three, a, &tripled, &error));
  assert_dense (tripled, "tensor([[3., 0., 6.],\n        [0., 9., 0.]])");
  OK (xp_aten_mul_Tensor (sparse_three, sparse_three, &nine, &error));
  assert_dense (nine, "tensor(9.)");
  OK (xp_aten_div_Scalar (ints, xp_value_int (2), &halved, &error));
  assert_dense (halved, "tensor([[0.5000, 0.0000, 0.0000],\n        [0.0000, 1.0000, 0.0000]])");
}
END_TEST

START_TEST (negatives)
{
  g_autoptr (XpTensor) bools = matrix_of (XP_BOOL, NUMBERS (1, 0, 0, 0, 1, 0));
  g_autoptr (XpTensor) negative = NULL;
  g_autoptr (XpTensor) none = NULL;
  OK (xp_aten_neg (a, &negative, &error));
  assert_dense (negative, "tensor([[-1.,  0., -2.],\n        [ 0., -3.,  0.]])");
  FAILS (xp_aten_neg (bools, &none, &error), none, XP_ERROR_DTYPE,
         "Negation, the `-` operator, on a bool tensor is not supported.");
}
END_TEST

START_TEST (products_and_quotients_that_are_refused)
{
  g_autoptr (XpTensor) one = counting (XP_INTS (1));
  g_autoptr (XpTensor) stack = counting (XP_INTS (4, 2, 3));
  g_autoptr (XpTensor) square = counting (XP_INTS (2, 2));
  g_autoptr (XpTensor) sparse_square = to_sparse (square);
  g_autoptr (XpTensor) three = tensor_of (XP_FLOAT32, NO_SIZES, NUMBERS (3));
  g_autoptr (XpTensor) sparse_three = to_sparse (three);
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_mul_Tensor (a, sparse_square, &none, &error), none, XP_ERROR_SHAPE,
         "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, "
         "number of sparse dimensions, and shape of sparse dimensions");
  FAILS (xp_aten_mul_Tensor (a, square, &none, &error), none, XP_ERROR_SHAPE,
         "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension "
         "1");
  FAILS (xp_aten_mul_Tensor (a, stack, &none, &error), none, XP_ERROR_SHAPE,
         "a sparse tensor of size [2, 3] would be repeated to size [4, 2, 3]");
  FAILS (xp_aten_div_Tensor (a, b, &none, &error), none, XP_ERROR_ARGUMENT,
         "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape [2, 3] for "
         "divisor)");
  FAILS (xp_aten_div_Tensor (a, one, &none, &error), none, XP_ERROR_ARGUMENT,
         "(got shape [1] for divisor)");
  FAILS (xp_aten_div_Tensor (a, sparse_three, &none, &error), none, XP_ERROR_ARGUMENT,
         "(got a sparse divisor)");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("sparse/arithmetic");
  TCase *tests = tcase_create ("all");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, a_sum_has_the_entries_of_both);
  tcase_add_test (tests, a_sum_of_two_dtypes);
  tcase_add_test (tests, dense_plus_sparse_is_dense);
  tcase_add_test (tests, sums_in_place);
  tcase_add_test (tests, sums_into_a_result);
  tcase_add_test (tests, sums_that_are_refused);
  tcase_add_test (tests, bools_are_not_subtracted);
  tcase_add_test (tests, a_product_has_the_entries_of_one);
  tcase_add_test (tests, a_product_of_two_has_the_entries_of_both);
  tcase_add_test (tests, numbers_multiply_and_divide);
  tcase_add_test (tests, negatives);
  tcase_add_test (tests, products_and_quotients_that_are_refused);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
