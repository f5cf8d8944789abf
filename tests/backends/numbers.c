/* SPDX-License-Identifier: MIT
 *
 * numbers.c: where numbers are easily wrong: at the ends of their ranges, with NaN, over many
 * elements, and in dimensions that are walked in another order than they are written in.
 */
#include "composite/operators.h"

#include <math.h>

#define ONE (xp_value_int (1))

START_TEST (integers_wrap_around)
{
  g_autoptr (XpTensor) bytes = tensor_of (XP_UINT8, XP_INTS (2), NUMBERS (255, 200));
  g_autoptr (XpTensor) chars = tensor_of (XP_INT8, XP_INTS (2), NUMBERS (-128, 127));
  g_autoptr (XpTensor) longs = xp_tensor_new (XP_INT64, XP_INTS (2), XP_CPU, &error);
  g_autoptr (XpTensor) sum = NULL;
  xp_tensor_set_element (longs, 0, xp_value_int (G_MAXINT64));
  xp_tensor_set_element (longs, 1, xp_value_int (G_MININT64));
  OK (xp_aten_add_Tensor (bytes, bytes, ONE, &sum, &error));
  assert_tensor (sum, "tensor([254, 144], dtype=torch.uint8)");
  g_clear_pointer (&sum, xp_tensor_unref);
  OK (xp_aten_neg (chars, &sum, &error));
  assert_tensor (sum, "tensor([-128, -127], dtype=torch.int8)");
  g_clear_pointer (&sum, xp_tensor_unref);
  OK (xp_aten_add_Tensor (longs, longs, ONE, &sum, &error));
  assert_tensor (sum, "tensor([-2,  0])");
  g_clear_pointer (&sum, xp_tensor_unref);
  OK (xp_aten_mul_Tensor (longs, longs, &sum, &error));
  assert_tensor (sum, "tensor([1, 0])");
  g_clear_pointer (&sum, xp_tensor_unref);
  OK (xp_aten_sub_Tensor (longs, longs, xp_value_int (G_MININT64), &sum, &error));
  assert_tensor (sum, "tensor([                  -1, -9223372036854775808])");
}
END_TEST

START_TEST (alpha_multiplies_the_second)
{
  const struct
  {
    XpDType dtype;
    const char *sum, *difference;
  } cases[] = {
    { XP_UINT8, "tensor([7, 9], dtype=torch.uint8)", "tensor([251, 253], dtype=torch.uint8)" },
    { XP_INT32, "tensor([7, 9], dtype=torch.int32)", "tensor([-5, -3], dtype=torch.int32)" },
    { XP_INT64, "tensor([7, 9])", "tensor([-5, -3])" },
    { XP_FLOAT16, "tensor([7., 9.], dtype=torch.float16)",
      "tensor([-5., -3.], dtype=torch.float16)" },
    { XP_FLOAT32, "tensor([7., 9.])", "tensor([-5., -3.])" },
    { XP_COMPLEX64, "tensor([7.+0.j, 9.+0.j])", "tensor([-5.+0.j, -3.+0.j])" },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) self = tensor_of (cases[i].dtype, XP_INTS (2), NUMBERS (1, 3));
      g_autoptr (XpTensor) other = tensor_of (cases[i].dtype, XP_INTS (1), NUMBERS (2));
      g_autoptr (XpTensor) sum = NULL;
      g_autoptr (XpTensor) difference = NULL;
      OK (xp_aten_add_Tensor (self, other, xp_value_int (3), &sum, &error));
      assert_tensor (sum, cases[i].sum);
      OK (xp_aten_sub_Tensor (self, other, xp_value_int (3), &difference, &error));
      assert_tensor (difference, cases[i].difference);
    }
}
END_TEST

START_TEST (relu_keeps_nan_and_the_sign_of_zero)
{
  g_autoptr (XpTensor) self = tensor_of (XP_FLOAT32, XP_INTS (4), NUMBERS (NAN, -0.0, -1, 2));
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_relu (self, &result, &error));
  const float *numbers = xp_tensor_data (result);
  ck_assert (isnan (numbers[0]));
  ck_assert (numbers[1] == 0 && signbit (numbers[1]));
  ck_assert (numbers[2] == 0 && !signbit (numbers[2]));
  ck_assert_float_eq (numbers[3], 2);
}
END_TEST

/* Against libm in long double, over the range and past its ends. */
START_TEST (exponentials_are_accurate)
{
  enum
  {
    N = 40001
  };
  g_autoptr (XpTensor) self = xp_tensor_new (XP_FLOAT32, XP_INTS (N), XP_CPU, &error);
  g_autoptr (XpTensor) exponentials = NULL;
  g_autoptr (XpTensor) sigmoids = NULL;
  g_autoptr (XpTensor) gelus = NULL;
  float *x = xp_tensor_data (self);
  for (int i = 0; i < N; i++)
    x[i] = -120.0f + 240.0f * (float) i / (float) N;
  x[0] = NAN;
  x[1] = INFINITY;
  x[2] = -INFINITY;
  OK (xp_aten_exp (self, &exponentials, &error));
  OK (xp_aten_sigmoid (self, &sigmoids, &error));
  OK (xp_aten_gelu (self, "none", &gelus, &error));
  for (int i = 3; i < N; i++)
    {
      long double e = expl (x[i]), sigmoid = 1 / (1 + expl (-(long double) x[i]));
      long double gelu = x[i] * 0.5L * erfcl (-x[i] * (long double) M_SQRT1_2);
      double found = ((float *) xp_tensor_data (exponentials))[i];
      if (e > FLT_MAX)
        ck_assert (isinf (found));
      else
        ck_assert_msg (fabsl (found - e) <= 3e-7L * e + 0x1p-149L, "exp (%g) is %g", x[i], found);
      found = ((float *) xp_tensor_data (sigmoids))[i];
      ck_assert_msg (fabsl (found - sigmoid) <= 3e-7L * sigmoid + 0x1p-126L, "sigmoid (%g) is %g",
                     x[i], found);
      found = ((float *) xp_tensor_data (gelus))[i];
      ck_assert_msg (fabsl (found - gelu) <= 3e-7L * fabsl (gelu) + 0x1p-149L, "gelu (%g) is %g",
                     x[i], found);
    }
  const float *ends = xp_tensor_data (exponentials);
  ck_assert (isnan (ends[0]) && isinf (ends[1]) && ends[2] == 0);
  ends = xp_tensor_data (sigmoids);
  ck_assert (isnan (ends[0]) && ends[1] == 1 && ends[2] == 0);
}
END_TEST

/* A sum in float32 alone would stop at 2^24; both orders of walking are tried. */
START_TEST (long_sums_are_accurate)
{
  const int64_t n = 30000000;
  g_autoptr (XpTensor) one = tensor_of (XP_FLOAT32, XP_INTS (1), NUMBERS (1));
  g_autoptr (XpTensor) many = xp_tensor_new_view (one, XP_INTS (n), XP_INTS (0), 0, &error);
  g_autoptr (XpTensor) column = xp_tensor_new (XP_FLOAT64, XP_INTS (1000000), XP_CPU, &error);
  g_autoptr (XpTensor) tenths = xp_tensor_new_view (column, XP_INTS (1000000, 3), XP_INTS (1, 0), 0,
                                                    &error);
  for (int64_t i = 0; i < column->numel; i++)
    ((double *) xp_tensor_data (column))[i] = 0.1;
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_sum_dim_IntList (many, NULL, false, NULL, &result, &error));
  ck_assert_float_eq (*(float *) xp_tensor_data (result), 3e7f);
  g_clear_pointer (&result, xp_tensor_unref);
  OK (xp_aten_sum_dim_IntList (tenths, &XP_INTS (0), false, NULL, &result, &error));
  for (int i = 0; i < 3; i++)
    ck_assert_double_eq_tol (((double *) xp_tensor_data (result))[i], 1e5, 1e-7);
}
END_TEST

START_TEST (sums_convert_each_element_first)
{
  const XpDType types[] = { XP_INT64, XP_INT8, XP_BOOL, XP_FLOAT64 };
  const char *texts[] = { "tensor(201)", "tensor(-55, dtype=torch.int8)", "tensor(True)",
                          "tensor(202.6000, dtype=torch.float64)" };
  g_autoptr (XpTensor) self = tensor_of (XP_FLOAT32, XP_INTS (3), NUMBERS (1.9, 100.5, 100.2));
  for (unsigned i = 0; i < XP_LENGTH (types); i++)
    {
      g_autoptr (XpTensor) sum = NULL;
      OK (xp_aten_sum_dim_IntList (self, NULL, false, &types[i], &sum, &error));
      assert_tensor (sum, texts[i]);
    }
  g_autoptr (XpTensor) small = tensor_of (XP_FLOAT32, XP_INTS (2), NUMBERS (0.5, 0.25));
  g_autoptr (XpTensor) truth = NULL;
  OK (xp_aten_sum_dim_IntList (small, NULL, false, &types[2], &truth, &error));
  assert_tensor (truth, "tensor(True)");
}
END_TEST

/* The first of equal ones, the first NaN, in row-major order whatever the strides. */
START_TEST (the_first_of_the_largest_counts)
{
  g_autoptr (XpTensor) self = tensor_of (XP_FLOAT32, XP_INTS (2, 4),
                                         NUMBERS (1, 7, 7, 2, NAN, 3, NAN, 3));
  g_autoptr (XpTensor) turned = xp_tensor_new_view (self, XP_INTS (4, 2), XP_INTS (1, 4), 0,
                                                    &error);
  g_autoptr (XpTensor) values = NULL;
  g_autoptr (XpTensor) indices = NULL;
  g_autoptr (XpTensor) where = NULL;
  OK (xp_aten_max_dim (self, 1, false, &values, &indices, &error));
  assert_tensor (values, "tensor([7., nan])");
  assert_tensor (indices, "tensor([1, 0])");
  g_clear_pointer (&values, xp_tensor_unref);
  g_clear_pointer (&indices, xp_tensor_unref);
  OK (xp_aten_max_dim (self, 0, true, &values, &indices, &error));
  assert_tensor (values, "tensor([[nan, 7., nan, 3.]])");
  assert_tensor (indices, "tensor([[1, 0, 1, 1]])");
  OK (xp_aten_argmax (self, NULL, false, &where, &error));
  assert_tensor (where, "tensor(4)");
  g_clear_pointer (&where, xp_tensor_unref);
  OK (xp_aten_argmax (turned, NULL, false, &where, &error));
  assert_tensor (where, "tensor(1)");
}
END_TEST

/* Sums of a permuted block, each by its definition. */
START_TEST (dimensions_are_reduced_in_any_order)
{
  const int64_t strides[][3] = {
    { 12, 4, 1 }, { 1, 2, 6 }, { 4, 8, 1 }, { 1, 10, 2 }, { 0, 3, 1 }
  };
  for (unsigned i = 0; i < XP_LENGTH (strides); i++)
    for (unsigned mask = 1; mask < 8; mask++)
      {
        g_autoptr (XpTensor) self = xp_tensor_new_strided (
            XP_FLOAT32, XP_INTS (2, 3, 4), (XpInts){ strides[i], 3 }, XP_CPU, &error);
        g_autoptr (XpTensor) sum = NULL;
        double expected[24] = { 0 };
        int64_t dims[3];
        size_t n = 0;
        for (int64_t j = 0; j < 24; j++)
          xp_tensor_set_element (self, j, xp_value_int (j * j));
        for (int d = 0; d < 3; d++)
          if (mask >> d & 1)
            dims[n++] = d;
        for (int64_t j = 0; j < 24; j++)
          {
            const int64_t index[3] = { j / 12, j / 4 % 3, j % 4 }, sizes[3] = { 2, 3, 4 };
            int64_t at = 0;
            for (int d = 0; d < 3; d++)
              at = mask >> d & 1 ? at : at * sizes[d] + index[d];
            expected[at] += xp_scalar_to_double (xp_tensor_get_element (self, j));
          }
        OK (xp_aten_sum_dim_IntList (self, &(XpInts){ dims, n }, mask & 1, NULL, &sum, &error));
        for (int64_t j = 0; j < sum->numel; j++)
          ck_assert_double_eq (xp_scalar_to_double (xp_tensor_get_element (sum, j)), expected[j]);
      }
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("numbers");
  TCase *numbers = tcase_create ("numbers");
  tcase_add_checked_fixture (numbers, load_plugins, NULL);
  tcase_add_test (numbers, integers_wrap_around);
  tcase_add_test (numbers, alpha_multiplies_the_second);
  tcase_add_test (numbers, relu_keeps_nan_and_the_sign_of_zero);
  tcase_add_test (numbers, exponentials_are_accurate);
  tcase_add_test (numbers, long_sums_are_accurate);
  tcase_add_test (numbers, sums_convert_each_element_first);
  tcase_add_test (numbers, the_first_of_the_largest_counts);
  tcase_add_test (numbers, dimensions_are_reduced_in_any_order);
  suite_add_tcase (suite, numbers);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
