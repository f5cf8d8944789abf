/* SPDX-License-Identifier: MIT
 *
 * products.c: mm and addmm of cpu, and of every provider that this machine has: the same numbers
 * for matrices that lie in memory in any way, and what they decline goes to cpu.
 */
#include "composite/operators.h"

#include <math.h>

static const char *const providers[] = { "cpu", "openblas", "blis" };

/* Loads a provider over cpu. Returns %FALSE where the machine lacks its library. */
static gboolean
load_provider (const char *name)
{
  load_plugins ();
  if (xp_plugin_load (name, &error) != NULL)
    return TRUE;
  assert_error (error, XP_ERROR_UNSUITABLE, "apt install");
  g_printerr ("# skipped: no library for %s\n", name);
  return FALSE;
}

/* A matrix of small numbers, whose products are exact, with these strides. */
static XpTensor *
matrix (XpDType dtype, int64_t rows, int64_t columns, int64_t step, int64_t stride)
{
  XpTensor *tensor = xp_tensor_new_strided (dtype, XP_INTS (rows, columns), XP_INTS (step, stride),
                                            XP_CPU, &error);
  assert_no_error (error);
  for (int64_t i = 0; i < tensor->numel; i++)
    xp_tensor_set_element (tensor, i, xp_value_int ((i * 7 + rows) % 11 - 5));
  return tensor;
}

static double
element (const XpTensor *tensor, int64_t row, int64_t column)
{
  int64_t columns = tensor->dl.shape[tensor->dl.ndim - 1];
  int64_t index = tensor->dl.ndim < 2 ? 0 : row % tensor->dl.shape[0] * columns;
  g_auto (XpValue) value = xp_tensor_get_element (tensor, index + column % columns);
  return xp_scalar_to_double (value);
}

static void
assert_product (const XpTensor *found, const XpTensor *own, double beta, const XpTensor *a,
                const XpTensor *b, double alpha)
{
  assert_ints (xp_tensor_shape (found), XP_INTS (a->dl.shape[0], b->dl.shape[1]));
  ck_assert (xp_tensor_is_contiguous (found));
  ck_assert_int_eq (found->dtype, a->dtype);
  for (int64_t i = 0; i < a->dl.shape[0]; i++)
    for (int64_t j = 0; j < b->dl.shape[1]; j++)
      {
        double sum = 0;
        for (int64_t k = 0; k < a->dl.shape[1]; k++)
          sum += element (a, i, k) * element (b, k, j);
        double expected = alpha * sum + (own != NULL ? beta * element (own, i, j) : 0);
        ck_assert_double_eq (element (found, i, j), expected);
      }
}

/* Row-major, transposed, with gaps, and with rows or columns that are one; the second one of each
 * pair is turned. */
START_TEST (matrices_may_lie_in_any_way)
{
  const struct
  {
    int64_t rows, columns, step, stride;
  } forms[] = {
    { 3, 4, 4, 1 },     { 3, 4, 1, 3 }, { 3, 4, 9, 1 }, { 3, 4, 1, 8 }, { 3, 4, 8, 2 },
    { 3, 4, 0, 1 },     { 3, 4, 1, 0 }, { 3, 4, 0, 0 }, { 3, 4, 1, 1 }, { 3, 1, 1, 1 },
    { 3, 1, 5, 7 },     { 1, 4, 4, 1 }, { 1, 4, 0, 3 }, { 1, 1, 0, 0 }, { 70, 4, 4, 1 },
    { 3, 300, 300, 1 }, { 0, 4, 4, 1 }, { 3, 0, 1, 1 }, { 0, 0, 1, 1 }, { 66, 260, 1, 66 },
  };
  if (!load_provider (providers[_i]))
    return;
  for (unsigned i = 0; i < XP_LENGTH (forms); i++)
    for (unsigned j = 0; j < XP_LENGTH (forms); j++)
      for (unsigned k = 0; k < 2; k++)
        {
          XpDType dtype = k == 0 ? XP_FLOAT32 : XP_FLOAT64;
          if (forms[i].columns != forms[j].columns)
            continue;
          g_autoptr (XpTensor) a = matrix (dtype, forms[i].rows, forms[i].columns, forms[i].step,
                                           forms[i].stride);
          g_autoptr (XpTensor) b = matrix (dtype, forms[j].columns, forms[j].rows, forms[j].stride,
                                           forms[j].step);
          g_autoptr (XpTensor) result = NULL;
          OK (xp_aten_mm (a, b, &result, &error));
          assert_product (result, NULL, 0, a, b, 1);
        }
}
END_TEST

START_TEST (what_is_added_broadcasts)
{
  const XpInts shapes[] = { XP_INTS (3, 5), XP_INTS (1, 5), XP_INTS (3, 1), XP_INTS (5),
                            XP_INTS (1) };
  const double factors[] = { 0, 1, -2 };
  if (!load_provider (providers[_i]))
    return;
  for (unsigned k = 0; k < 2; k++)
    for (unsigned i = 0; i < XP_LENGTH (shapes); i++)
      for (unsigned j = 0; j < 9; j++)
        {
          g_autoptr (XpTensor) own = counting (shapes[i]);
          g_autoptr (XpTensor) a = matrix (XP_FLOAT32, 3, k == 0 ? 4 : 0, 4, 1);
          g_autoptr (XpTensor) b = matrix (XP_FLOAT32, k == 0 ? 4 : 0, 5, 1, 4);
          g_autoptr (XpTensor) result = NULL;
          double beta = factors[j / 3], alpha = factors[j % 3];
          OK (xp_aten_addmm (own, a, b, xp_value_float (beta), xp_value_float (alpha), &result,
                             &error));
          assert_product (result, own, beta, a, b, alpha);
        }
}
END_TEST

/* What is multiplied by zero is not looked at. */
START_TEST (zero_times_nan_is_left_out)
{
  if (!load_provider (providers[_i]))
    return;
  g_autoptr (XpTensor) nan = tensor_of (XP_FLOAT32, XP_INTS (2, 2), NUMBERS (NAN, NAN, NAN, NAN));
  g_autoptr (XpTensor) ones = tensor_of (XP_FLOAT32, XP_INTS (2, 2), NUMBERS (1, 1, 1, 1));
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_addmm (nan, ones, ones, xp_value_int (0), xp_value_int (1), &result, &error));
  assert_tensor (result, "tensor([[2., 2.],\n        [2., 2.]])");
  g_clear_pointer (&result, xp_tensor_unref);
  OK (xp_aten_addmm (ones, nan, ones, xp_value_int (1), xp_value_int (0), &result, &error));
  assert_tensor (result, "tensor([[1., 1.],\n        [1., 1.]])");
}
END_TEST

START_TEST (integers_are_declined_and_wrap_around_on_cpu)
{
  const struct
  {
    XpDType dtype;
    const char *text;
  } cases[] = {
    { XP_UINT8, "tensor([[16]], dtype=torch.uint8)" },
    { XP_INT8, "tensor([[16]], dtype=torch.int8)" },
    { XP_INT16, "tensor([[10000]], dtype=torch.int16)" },
    { XP_INT64, "tensor([[10000]])" },
    { XP_BFLOAT16, "tensor([[9984.]], dtype=torch.bfloat16)" },
  };
  if (!load_provider (providers[_i]))
    return;
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) a = tensor_of (cases[i].dtype, XP_INTS (1, 1), NUMBERS (100));
      g_autoptr (XpTensor) result = NULL;
      OK (xp_aten_mm (a, a, &result, &error));
      assert_tensor (result, cases[i].text);
    }
  g_autoptr (XpTensor) ones = tensor_of (XP_INT64, XP_INTS (1, 1), NUMBERS (1));
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_addmm (ones, ones, ones, xp_value_float (1.5), xp_value_float (2.5), &result,
                     &error));
  assert_tensor (result, "tensor([[3]])");
}
END_TEST

START_TEST (without_cpu_the_reason_is_told)
{
  if (!load_provider (providers[_i]))
    return;
  g_autoptr (XpTensor) longs = tensor_of (XP_INT64, XP_INTS (1, 1), NUMBERS (1));
  XpTensor *result = NULL;
  ck_assert (xp_plugin_unload (xp_plugin_find ("cpu"), &error));
  FAILS (xp_aten_mm (longs, longs, &result, &error), result, XP_ERROR_DECLINED,
         "only float32 and float64");
}
END_TEST

START_TEST (providers_check_as_cpu_does)
{
  if (!load_provider (providers[_i]))
    return;
  g_autoptr (XpTensor) wide = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) doubles = tensor_of (XP_FLOAT64, XP_INTS (3, 1), NUMBERS (1, 2, 3));
  XpTensor *result = NULL;
  FAILS (xp_aten_mm (wide, wide, &result, &error), result, XP_ERROR_SHAPE,
         "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  FAILS (xp_aten_mm (wide, doubles, &result, &error), result, XP_ERROR_DTYPE,
         "expected scalar type Float but found Double");
}
END_TEST

/* BLIS drops a NaN by which the old result is multiplied. */
START_TEST (a_provider_leaves_nan_to_others)
{
  if (!load_provider (providers[_i]))
    return;
  g_autoptr (XpTensor) a = counting (XP_INTS (2, 2));
  for (unsigned i = 0; i < 2; i++)
    {
      g_autoptr (XpTensor) result = NULL;
      XpValue nan = xp_value_float ((double) NAN), one = xp_value_int (1);
      OK (xp_aten_addmm (a, a, a, i == 0 ? nan : one, i == 0 ? one : nan, &result, &error));
      for (int j = 0; j < 4; j++)
        ck_assert (isnan (((float *) xp_tensor_data (result))[j]));
    }
}
END_TEST

START_TEST (a_provider_is_unmapped)
{
  if (!load_provider (providers[_i]))
    return;
  XpPlugin *plugin = xp_plugin_find (providers[_i]);
  g_autoptr (XpTensor) a = counting (XP_INTS (2, 2));
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_mm (a, a, &result, &error));
  while (xp_plugin_find (providers[_i]) != NULL)
    ck_assert (xp_plugin_unload (plugin, &error));
  ck_assert_int_eq (xp_plugin_state (plugin), XP_PLUGIN_UNLOADED);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("products");
  TCase *products = tcase_create ("products");
  tcase_add_loop_test (products, matrices_may_lie_in_any_way, 0, XP_LENGTH (providers));
  tcase_add_loop_test (products, what_is_added_broadcasts, 0, XP_LENGTH (providers));
  tcase_add_loop_test (products, zero_times_nan_is_left_out, 0, XP_LENGTH (providers));
  tcase_add_loop_test (products, integers_are_declined_and_wrap_around_on_cpu, 0,
                       XP_LENGTH (providers));
  tcase_add_loop_test (products, without_cpu_the_reason_is_told, 1, XP_LENGTH (providers));
  tcase_add_loop_test (products, providers_check_as_cpu_does, 0, XP_LENGTH (providers));
  tcase_add_loop_test (products, a_provider_leaves_nan_to_others, 0, XP_LENGTH (providers));
  tcase_add_loop_test (products, a_provider_is_unmapped, 0, XP_LENGTH (providers));
  suite_add_tcase (suite, products);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
