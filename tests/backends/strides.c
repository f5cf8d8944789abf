/* SPDX-License-Identifier: MIT
 *
 * strides.c: how results lie in memory: in the order in which their operands do. What is expected
 * is what PyTorch 1.13 gives.
 */
#include "composite/operators.h"

static XpTensor *
strided (XpDType dtype, XpInts shape, XpInts strides)
{
  XpTensor *tensor = xp_tensor_new_strided (dtype, shape, strides, XP_CPU, &error);
  assert_no_error (error);
  for (int64_t i = 0; i < tensor->numel; i++)
    xp_tensor_set_element (tensor, i, xp_value_int (i));
  return tensor;
}

START_TEST (one_operand)
{
  const struct
  {
    XpInts shape, strides, expected;
  } cases[] = {
    { NO_SIZES, NO_SIZES, NO_SIZES },
    { XP_INTS (3), XP_INTS (2), XP_INTS (1) },
    { XP_INTS (2, 3), XP_INTS (6, 2), XP_INTS (3, 1) },
    { XP_INTS (3, 2), XP_INTS (1, 6), XP_INTS (1, 3) },
    { XP_INTS (3, 4, 4), XP_INTS (1, 4, 12), XP_INTS (1, 3, 12) },
    { XP_INTS (3, 2, 2), XP_INTS (1, 4, 4), XP_INTS (1, 6, 3) },
    { XP_INTS (2, 3, 2), XP_INTS (3, 1, 3), XP_INTS (6, 1, 3) },
    { XP_INTS (2, 2, 2), XP_INTS (2, 2, 1), XP_INTS (4, 2, 1) },
    { XP_INTS (2, 1, 3), XP_INTS (1, 7, 2), XP_INTS (1, 7, 2) },
    { XP_INTS (2, 4), XP_INTS (1, 1), XP_INTS (1, 2) },
    { XP_INTS (4, 2), XP_INTS (1, 1), XP_INTS (2, 1) },
    { XP_INTS (2, 3, 4, 5), XP_INTS (60, 1, 15, 3), XP_INTS (60, 1, 15, 3) },
    { XP_INTS (0, 3), XP_INTS (1, 5), XP_INTS (3, 1) },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) self = strided (XP_FLOAT32, cases[i].shape, cases[i].strides);
      g_autoptr (XpTensor) result = NULL;
      OK (xp_aten_neg (self, &result, &error));
      assert_ints (xp_tensor_strides (result), cases[i].expected);
      for (int64_t j = 0; j < self->numel; j++)
        ck_assert_double_eq (-xp_scalar_to_double (xp_tensor_get_element (self, j)),
                             xp_scalar_to_double (xp_tensor_get_element (result, j)));
    }
}
END_TEST

START_TEST (two_operands)
{
  const XpDType f = XP_FLOAT32, i32 = XP_INT32;
  const struct
  {
    XpInts shape, strides;
    XpDType dtype;
    XpInts other_shape, other_strides;
    XpDType other_dtype;
    XpInts expected;
  } cases[] = {
    { XP_INTS (2, 3, 4), XP_INTS (1, 0, 2), f, XP_INTS (2, 3, 4), XP_INTS (12, 4, 1), f,
      XP_INTS (12, 4, 1) },
    { XP_INTS (2, 3, 4, 5), XP_INTS (60, 1, 15, 3), f, XP_INTS (2, 3, 4, 5), XP_INTS (60, 20, 5, 1),
      f, XP_INTS (60, 1, 15, 3) },
    { XP_INTS (2, 3, 4, 5), XP_INTS (60, 1, 15, 3), f, XP_INTS (3, 1, 1), XP_INTS (1, 1, 1), f,
      XP_INTS (60, 1, 15, 3) },
    { XP_INTS (4, 4, 3), XP_INTS (1, 4, 16), f, XP_INTS (4, 4, 1), XP_INTS (4, 1, 1), f,
      XP_INTS (1, 4, 16) },
    { XP_INTS (3, 0), XP_INTS (1, 3), f, XP_INTS (1, 1), XP_INTS (1, 1), f, XP_INTS (1, 3) },
    { XP_INTS (2, 3), XP_INTS (1, 2), f, XP_INTS (2, 3), XP_INTS (0, 1), i32, XP_INTS (1, 2) },
    { XP_INTS (2, 3), XP_INTS (1, 2), f, XP_INTS (2, 3), XP_INTS (1, 4), f, XP_INTS (1, 2) },
    { XP_INTS (3, 2, 5), XP_INTS (5, 0, 1), f, XP_INTS (2, 5), XP_INTS (1, 2), i32,
      XP_INTS (10, 1, 2) },
    /* The first is converted, and dense after that. */
    { XP_INTS (3, 2, 5), XP_INTS (5, 0, 1), i32, XP_INTS (2, 5), XP_INTS (1, 2), f,
      XP_INTS (10, 5, 1) },
    { XP_INTS (1, 3), XP_INTS (3, 3), f, XP_INTS (2, 1), XP_INTS (1, 1), f, XP_INTS (3, 1) },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) self = strided (cases[i].dtype, cases[i].shape, cases[i].strides);
      g_autoptr (XpTensor) other = strided (cases[i].other_dtype, cases[i].other_shape,
                                            cases[i].other_strides);
      g_autoptr (XpTensor) result = NULL;
      OK (xp_aten_add_Tensor (self, other, xp_value_int (1), &result, &error));
      assert_ints (xp_tensor_strides (result), cases[i].expected);
    }
}
END_TEST

START_TEST (reductions_and_products_are_contiguous)
{
  g_autoptr (XpTensor) turned = strided (XP_FLOAT32, XP_INTS (2, 3, 4), XP_INTS (1, 2, 6));
  g_autoptr (XpTensor) matrix = strided (XP_FLOAT32, XP_INTS (3, 3), XP_INTS (1, 3));
  g_autoptr (XpTensor) sum = NULL;
  g_autoptr (XpTensor) product = NULL;
  OK (xp_aten_sum_dim_IntList (turned, &XP_INTS (0), false, NULL, &sum, &error));
  assert_ints (xp_tensor_strides (sum), XP_INTS (4, 1));
  OK (xp_aten_mm (matrix, matrix, &product, &error));
  assert_ints (xp_tensor_strides (product), XP_INTS (3, 1));
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("strides");
  TCase *strides = tcase_create ("strides");
  tcase_add_checked_fixture (strides, load_plugins, NULL);
  tcase_add_test (strides, one_operand);
  tcase_add_test (strides, two_operands);
  tcase_add_test (strides, reductions_and_products_are_contiguous);
  suite_add_tcase (suite, strides);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
