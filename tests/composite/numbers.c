/* SPDX-License-Identifier: MIT
 *
 * numbers.c: arithmetic with numbers, factories, sum and mean.
 */
#include "composite/operators.h"

START_TEST (a_number_does_not_raise_the_dtype_within_its_category)
{
  g_autoptr (XpTensor) floats = tensor_of (XP_FLOAT32, XP_INTS (2), NUMBERS (1, 2));
  g_autoptr (XpTensor) ints = tensor_of (XP_INT64, XP_INTS (2), NUMBERS (1, 2));
  g_autoptr (XpTensor) bytes = tensor_of (XP_UINT8, XP_INTS (2), NUMBERS (1, 2));
  g_autoptr (XpTensor) doubled = NULL;
  g_autoptr (XpTensor) half = NULL;
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) quotient = NULL;
  OK (xp_aten_mul_Scalar (floats, xp_value_float (2.5), &doubled, &error));
  assert_tensor (doubled, "tensor([2.5000, 5.0000])");
  OK (xp_aten_mul_Scalar (ints, xp_value_float (0.5), &half, &error));
  assert_tensor (half, "tensor([0.5000, 1.0000])");
  OK (xp_aten_add_Scalar (bytes, xp_value_int (3), xp_value_int (2), &sum, &error));
  assert_tensor (sum, "tensor([7, 8], dtype=torch.uint8)");
  OK (xp_aten_div_Scalar (ints, xp_value_int (2), &quotient, &error));
  assert_tensor (quotient, "tensor([0.5000, 1.0000])");
}
END_TEST

START_TEST (a_number_goes_with_a_device_that_has_no_memory)
{
  g_autoptr (XpTensor) meta = meta_of (XP_INTS (2, 3));
  g_autoptr (XpTensor) sum = NULL;
  OK (xp_aten_add_Scalar (meta, xp_value_float (1), xp_value_int (1), &sum, &error));
  assert_tensor (sum, "tensor(..., device='meta', size=(2, 3))");
}
END_TEST

START_TEST (sum_and_mean_of_all_elements)
{
  g_autoptr (XpTensor) numbers = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) bools = tensor_of (XP_BOOL, XP_INTS (3), NUMBERS (1, 0, 1));
  g_autoptr (XpTensor) nothing = counting (XP_INTS (0));
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) wide = NULL;
  g_autoptr (XpTensor) count = NULL;
  g_autoptr (XpTensor) mean = NULL;
  g_autoptr (XpTensor) mean_of_nothing = NULL;
  XpDType dtype = XP_FLOAT64;
  OK (xp_aten_sum (numbers, NULL, &sum, &error));
  assert_tensor (sum, "tensor(15.)");
  OK (xp_aten_sum (numbers, &dtype, &wide, &error));
  assert_tensor (wide, "tensor(15., dtype=torch.float64)");
  OK (xp_aten_sum (bools, NULL, &count, &error));
  assert_tensor (count, "tensor(2)");
  OK (xp_aten_mean (numbers, NULL, &mean, &error));
  assert_tensor (mean, "tensor(2.5000)");
  OK (xp_aten_mean (nothing, NULL, &mean_of_nothing, &error));
  assert_tensor (mean_of_nothing, "tensor(nan)");
}
END_TEST

START_TEST (mean_of_integers_needs_a_dtype)
{
  g_autoptr (XpTensor) ints = tensor_of (XP_INT64, XP_INTS (2), NUMBERS (1, 2));
  g_autoptr (XpTensor) mean = NULL;
  XpDType to_int = XP_INT32, to_double = XP_FLOAT64;
  FAILS (xp_aten_mean (ints, NULL, &mean, &error), mean, XP_ERROR_DTYPE,
         "mean(): could not infer output dtype. Input dtype must be either a floating point or "
         "complex dtype. Got: Long");
  FAILS (xp_aten_mean (ints, &to_int, &mean, &error), mean, XP_ERROR_DTYPE,
         "Optional dtype must be either a floating point or complex dtype. Got: Int");
  OK (xp_aten_mean (ints, &to_double, &mean, &error));
  assert_tensor (mean, "tensor(1.5000, dtype=torch.float64)");
}
END_TEST

START_TEST (factories_fill_with_one_number)
{
  g_autoptr (XpTensor) zeros = NULL;
  g_autoptr (XpTensor) ones = NULL;
  g_autoptr (XpTensor) scalar = NULL;
  g_autoptr (XpTensor) meta = NULL;
  XpDType dtype = XP_INT32;
  XpDevice device = XP_META;
  load_plugin ("meta");
  OK (xp_aten_zeros (XP_INTS (2, 2), NULL, NULL, NULL, NULL, &zeros, &error));
  assert_tensor (zeros, "tensor([[0., 0.],\n        [0., 0.]])");
  OK (xp_aten_ones (XP_INTS (2), &dtype, NULL, NULL, NULL, &ones, &error));
  assert_tensor (ones, "tensor([1, 1], dtype=torch.int32)");
  OK (xp_aten_full (NO_SIZES, xp_value_float (2.5), NULL, NULL, NULL, NULL, &scalar, &error));
  assert_tensor (scalar, "tensor(2.5000)");
  OK (xp_aten_zeros (XP_INTS (3), NULL, NULL, &device, NULL, &meta, &error));
  assert_tensor (meta, "tensor(..., device='meta', size=(3,))");
}
END_TEST

START_TEST (full_takes_its_dtype_from_the_number)
{
  static const struct
  {
    XpValue number;
    XpDType dtype;
  } cases[] = {
    { { XP_TAG_BOOL, 0, { .integer = 1 } }, XP_BOOL },
    { { XP_TAG_INT, 0, { .integer = 7 } }, XP_INT64 },
    { { XP_TAG_FLOAT, 0, { .number = 7 } }, XP_FLOAT32 },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (XpTensor) full = NULL;
      OK (xp_aten_full (XP_INTS (1), cases[i].number, NULL, NULL, NULL, NULL, &full, &error));
      ck_assert_int_eq (xp_tensor_dtype (full), cases[i].dtype);
    }
  g_auto (XpValue) imaginary = xp_value_complex (0, 1);
  g_autoptr (XpTensor) full = NULL;
  OK (xp_aten_full (XP_INTS (1), imaginary, NULL, NULL, NULL, NULL, &full, &error));
  assert_tensor (full, "tensor([0.+1.j])");
}
END_TEST

START_TEST (factories_refuse_what_cannot_be_made)
{
  g_autoptr (XpTensor) result = NULL;
  XpLayout layout = XP_SPARSE_COO;
  FAILS (xp_aten_zeros (XP_INTS (-2), NULL, NULL, NULL, NULL, &result, &error), result,
         XP_ERROR_SHAPE, "Trying to create tensor with negative dimension -2: [-2]");
  FAILS (xp_aten_full (XP_INTS (2), xp_value_int (1), NULL, &layout, NULL, NULL, &result, &error),
         result, XP_ERROR_ARGUMENT, "full(...) is not implemented for sparse layout");
  FAILS (xp_aten_ones (XP_INTS (2), NULL, &layout, NULL, NULL, &result, &error), result,
         XP_ERROR_ARGUMENT, "full(...) is not implemented for sparse layout");
  OK (xp_aten_zeros (XP_INTS (2), NULL, &layout, NULL, NULL, &result, &error));
  ck_assert_int_eq (result->layout, XP_SPARSE_COO);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("composite/numbers");
  TCase *tests = tcase_create ("all");
  tcase_add_checked_fixture (tests, load_plugins, NULL);
  tcase_add_test (tests, a_number_does_not_raise_the_dtype_within_its_category);
  tcase_add_test (tests, a_number_goes_with_a_device_that_has_no_memory);
  tcase_add_test (tests, sum_and_mean_of_all_elements);
  tcase_add_test (tests, mean_of_integers_needs_a_dtype);
  tcase_add_test (tests, factories_fill_with_one_number);
  tcase_add_test (tests, full_takes_its_dtype_from_the_number);
  tcase_add_test (tests, factories_refuse_what_cannot_be_made);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
