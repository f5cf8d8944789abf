/* SPDX-License-Identifier: MIT
 *
 * products.c: matmul and linear, in all combinations of dimensions.
 */
#include "composite/operators.h"

/* Each element of @product is the sum it should be, by the definition of matmul. */
static void
assert_product (XpTensor *left, XpTensor *right, XpInts shape)
{
  g_autoptr (XpTensor) product = NULL;
  OK (xp_aten_matmul (left, right, &product, &error));
  assert_ints (xp_tensor_shape (product), shape);
  ck_assert (xp_tensor_is_contiguous (product));
  int n_left = left->dl.ndim, n_right = right->dl.ndim;
  int64_t inner = left->dl.shape[n_left - 1];
  int64_t rows = n_left > 1 ? left->dl.shape[n_left - 2] : 1;
  int64_t columns = n_right > 1 ? right->dl.shape[n_right - 1] : 1;
  int64_t n_left_batches = inner > 0 ? left->numel / (rows * inner) : 1;
  int64_t n_right_batches = inner > 0 ? right->numel / (inner * columns) : 1;
  for (int64_t i = 0; i < product->numel; i++)
    {
      int64_t batch = i / (rows * columns), row = i / columns % rows, column = i % columns;
      double sum = 0;
      for (int64_t k = 0; k < inner; k++)
        {
          int64_t at_left = (batch % n_left_batches * rows + row) * inner + k;
          int64_t at_right = (batch % n_right_batches * inner + k) * columns + column;
          sum += xp_scalar_to_double (xp_tensor_get_element (left, at_left))
                 * xp_scalar_to_double (xp_tensor_get_element (right, at_right));
        }
      ck_assert_double_eq (xp_scalar_to_double (xp_tensor_get_element (product, i)), sum);
    }
}

START_TEST (products_of_vectors_and_matrices)
{
  g_autoptr (XpTensor) vector = counting (XP_INTS (3));
  g_autoptr (XpTensor) wide = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) tall = counting (XP_INTS (3, 2));
  assert_product (vector, vector, NO_SIZES);
  assert_product (wide, vector, XP_INTS (2));
  assert_product (vector, tall, XP_INTS (2));
  assert_product (wide, tall, XP_INTS (2, 2));
}
END_TEST

START_TEST (products_of_stacks)
{
  g_autoptr (XpTensor) vector = counting (XP_INTS (3));
  g_autoptr (XpTensor) wide = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) tall = counting (XP_INTS (3, 2));
  g_autoptr (XpTensor) stack = counting (XP_INTS (4, 2, 3));
  g_autoptr (XpTensor) other = counting (XP_INTS (4, 3, 5));
  g_autoptr (XpTensor) one = counting (XP_INTS (1, 3, 5));
  g_autoptr (XpTensor) deep = counting (XP_INTS (2, 4, 3, 2));
  assert_product (stack, vector, XP_INTS (4, 2));
  assert_product (stack, tall, XP_INTS (4, 2, 2));
  assert_product (vector, other, XP_INTS (4, 5));
  assert_product (wide, other, XP_INTS (4, 2, 5));
  assert_product (stack, other, XP_INTS (4, 2, 5));
  assert_product (stack, one, XP_INTS (4, 2, 5));
  assert_product (stack, deep, XP_INTS (2, 4, 2, 2));
}
END_TEST

START_TEST (batches_broadcast_both_ways)
{
  g_autoptr (XpTensor) left = counting (XP_INTS (2, 1, 1, 2));
  g_autoptr (XpTensor) right = counting (XP_INTS (3, 2, 1));
  g_autoptr (XpTensor) product = NULL;
  OK (xp_aten_matmul (left, right, &product, &error));
  assert_ints (xp_tensor_shape (product), XP_INTS (2, 3, 1, 1));
  g_autoptr (XpTensor) flat = NULL;
  OK (xp_aten_reshape (product, XP_INTS (2, 3), &flat, &error));
  assert_tensor (flat, "tensor([[ 1.,  3.,  5.],\n        [ 3., 13., 23.]])");
}
END_TEST

START_TEST (products_with_nothing_to_add_up)
{
  g_autoptr (XpTensor) no_columns = counting (XP_INTS (2, 0));
  g_autoptr (XpTensor) no_rows = counting (XP_INTS (0, 2));
  g_autoptr (XpTensor) stack = counting (XP_INTS (5, 2, 0));
  g_autoptr (XpTensor) other = counting (XP_INTS (5, 0, 2));
  g_autoptr (XpTensor) no_batches = counting (XP_INTS (0, 2, 3));
  g_autoptr (XpTensor) more = counting (XP_INTS (0, 3, 2));
  g_autoptr (XpTensor) vector = counting (XP_INTS (0));
  assert_product (no_columns, no_rows, XP_INTS (2, 2));
  assert_product (stack, other, XP_INTS (5, 2, 2));
  assert_product (vector, vector, NO_SIZES);
  g_autoptr (XpTensor) product = NULL;
  OK (xp_aten_matmul (no_batches, more, &product, &error));
  assert_ints (xp_tensor_shape (product), XP_INTS (0, 2, 2));
}
END_TEST

START_TEST (products_without_memory_have_a_shape)
{
  g_autoptr (XpTensor) left = meta_of (XP_INTS (1000000, 1, 2, 3));
  g_autoptr (XpTensor) right = meta_of (XP_INTS (1000000, 3, 4));
  g_autoptr (XpTensor) product = NULL;
  OK (xp_aten_matmul (left, right, &product, &error));
  assert_ints (xp_tensor_shape (product), XP_INTS (1000000, 1000000, 2, 4));
  ck_assert_int_eq (xp_tensor_device (product).backend, XP_BACKEND_Meta);
}
END_TEST

static void
assert_no_product (XpInts left_shape, XpInts right_shape, const char *part)
{
  g_autoptr (XpTensor) left = counting (left_shape);
  g_autoptr (XpTensor) right = counting (right_shape);
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_matmul (left, right, &none, &error), none, XP_ERROR_SHAPE, part);
}

START_TEST (sizes_that_do_not_fit)
{
  assert_no_product (NO_SIZES, XP_INTS (2, 2),
                     "both arguments to matmul need to be at least 1D, but they are 0D and 2D");
  assert_no_product (XP_INTS (3), XP_INTS (4),
                     "inconsistent tensor size, expected tensor [3] and src [4] to have the same "
                     "number of elements, but got 3 and 4 elements respectively");
  assert_no_product (XP_INTS (2, 3), XP_INTS (4), "size mismatch, got 2, 2x3,4");
  assert_no_product (XP_INTS (3), XP_INTS (4, 2),
                     "mat1 and mat2 shapes cannot be multiplied (1x3 and 4x2)");
  assert_no_product (XP_INTS (5, 2, 3), XP_INTS (4, 2),
                     "mat1 and mat2 shapes cannot be multiplied (10x3 and 4x2)");
  assert_no_product (XP_INTS (5, 2, 3), XP_INTS (4), "size mismatch, got 10, 10x3,4");
  assert_no_product (XP_INTS (4), XP_INTS (5, 2, 3), "size mismatch, got 15, 15x2,4");
  assert_no_product (XP_INTS (2, 4), XP_INTS (5, 2, 3),
                     "mat1 and mat2 shapes cannot be multiplied (15x2 and 4x2)");
  assert_no_product (XP_INTS (1, 2, 3), XP_INTS (6, 4, 2),
                     "Expected size for first two dimensions of batch2 tensor to be: [6, 3] but "
                     "got: [6, 4].");
  assert_no_product (XP_INTS (7, 5, 2, 3), XP_INTS (6, 3, 2),
                     "The size of tensor a (5) must match the size of tensor b (6) at "
                     "non-singleton dimension 1");
}
END_TEST

START_TEST (vectors_of_two_dtypes)
{
  g_autoptr (XpTensor) floats = counting (XP_INTS (3));
  g_autoptr (XpTensor) ints = tensor_of (XP_INT64, XP_INTS (3), NUMBERS (1, 2, 3));
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_matmul (floats, ints, &none, &error), none, XP_ERROR_DTYPE,
         "dot : expected both vectors to have same dtype, but found Float and Long");
}
END_TEST

/* Linear. */

START_TEST (linear_of_every_rank)
{
  g_autoptr (XpTensor) weight = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) bias = tensor_of (XP_FLOAT32, XP_INTS (2), NUMBERS (10, 20));
  static const int64_t sizes[] = { 1, 2, 1, 3 };
  for (size_t n = 1; n <= 4; n++)
    {
      g_autoptr (XpTensor) input = counting ((XpInts){ sizes + 4 - n, n });
      g_autoptr (XpTensor) plain = NULL;
      g_autoptr (XpTensor) biased = NULL;
      g_autoptr (XpTensor) first = NULL;
      OK (xp_aten_linear (input, weight, NULL, &plain, &error));
      OK (xp_aten_linear (input, weight, bias, &biased, &error));
      ck_assert_int_eq (xp_tensor_n_dims (biased), (int) n);
      OK (xp_aten_reshape (plain, XP_INTS (-1, 2), &first, &error));
      ck_assert (xp_value_equal (xp_tensor_get_element (first, 0), xp_value_float (5)));
      ck_assert (xp_value_equal (xp_tensor_get_element (first, 1), xp_value_float (14)));
      ck_assert (xp_value_equal (xp_tensor_get_element (biased, 0), xp_value_float (15)));
      ck_assert (xp_value_equal (xp_tensor_get_element (biased, 1), xp_value_float (34)));
    }
}
END_TEST

START_TEST (linear_of_an_input_that_is_no_block)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (2, 2, 3));
  g_autoptr (XpTensor) input = NULL;
  g_autoptr (XpTensor) weight = counting (XP_INTS (1, 3));
  g_autoptr (XpTensor) bias = tensor_of (XP_FLOAT32, XP_INTS (1), NUMBERS (1));
  g_autoptr (XpTensor) output = NULL;
  OK (xp_aten_transpose_int (base, 0, 1, &input, &error));
  OK (xp_aten_linear (input, weight, bias, &output, &error));
  assert_tensor (output, "tensor([[[ 6.],\n         [24.]],\n\n        [[15.],\n         [33.]]])");
}
END_TEST

START_TEST (linear_by_a_vector)
{
  g_autoptr (XpTensor) input = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) weight = counting (XP_INTS (3));
  g_autoptr (XpTensor) output = NULL;
  OK (xp_aten_linear (input, weight, NULL, &output, &error));
  assert_tensor (output, "tensor([ 5., 14.])");
}
END_TEST

START_TEST (linear_refuses)
{
  g_autoptr (XpTensor) input = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) vector = counting (XP_INTS (3));
  g_autoptr (XpTensor) narrow = counting (XP_INTS (4, 5));
  g_autoptr (XpTensor) weight = counting (XP_INTS (4, 3));
  g_autoptr (XpTensor) stack = counting (XP_INTS (2, 4, 3));
  g_autoptr (XpTensor) bias = counting (XP_INTS (5));
  g_autoptr (XpTensor) none = NULL;
  FAILS (xp_aten_linear (input, narrow, NULL, &none, &error), none, XP_ERROR_SHAPE,
         "mat1 and mat2 shapes cannot be multiplied (2x3 and 5x4)");
  FAILS (xp_aten_linear (input, stack, NULL, &none, &error), none, XP_ERROR_SHAPE,
         "t() expects a tensor with <= 2 dimensions, but self is 3D");
  FAILS (xp_aten_linear (input, weight, bias, &none, &error), none, XP_ERROR_SHAPE,
         "The expanded size of the tensor (4) must match the existing size (5) at non-singleton "
         "dimension 1.  Target sizes: [2, 4].  Tensor sizes: [5]");
  FAILS (xp_aten_linear (vector, weight, bias, &none, &error), none, XP_ERROR_SHAPE,
         "The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension "
         "0");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("composite/products");
  TCase *products = tcase_create ("matmul");
  tcase_add_checked_fixture (products, load_plugins, NULL);
  tcase_add_test (products, products_of_vectors_and_matrices);
  tcase_add_test (products, products_of_stacks);
  tcase_add_test (products, batches_broadcast_both_ways);
  tcase_add_test (products, products_with_nothing_to_add_up);
  tcase_add_test (products, products_without_memory_have_a_shape);
  tcase_add_test (products, sizes_that_do_not_fit);
  tcase_add_test (products, vectors_of_two_dtypes);
  suite_add_tcase (suite, products);
  TCase *linear = tcase_create ("linear");
  tcase_add_checked_fixture (linear, load_plugins, NULL);
  tcase_add_test (linear, linear_of_every_rank);
  tcase_add_test (linear, linear_of_an_input_that_is_no_block);
  tcase_add_test (linear, linear_by_a_vector);
  tcase_add_test (linear, linear_refuses);
  suite_add_tcase (suite, linear);
  return run_suite (suite);
}
