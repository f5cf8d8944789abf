/* SPDX-License-Identifier: MIT
 *
 * written.c: operators that write to an argument, and what they leave of it.
 */
#include "composite/operators.h"

#include <math.h>

#define ONE (xp_value_int (1))

START_TEST (in_place_gives_the_tensor_itself_and_counts)
{
  g_autoptr (XpTensor) self = counting (XP_INTS (2, 2));
  g_autoptr (XpTensor) other = counting (XP_INTS (2));
  g_autoptr (XpTensor) result = NULL;
  uint64_t version = xp_tensor_version (self);
  OK (xp_aten_add__Tensor (self, other, xp_value_int (2), &result, &error));
  ck_assert_ptr_eq (result, self);
  ck_assert_uint_eq (xp_tensor_version (self), version + 1);
  assert_tensor (self, "tensor([[0., 3.],\n        [2., 5.]])");
  g_clear_pointer (&result, xp_tensor_unref);
  OK (xp_aten_fill__Scalar (self, xp_value_float (2.5), &result, &error));
  ck_assert_ptr_eq (result, self);
  ck_assert_uint_eq (xp_tensor_version (self), version + 2);
  g_clear_pointer (&result, xp_tensor_unref);
  OK (xp_aten_copy_ (self, other, false, &result, &error));
  ck_assert_ptr_eq (result, self);
  ck_assert_uint_eq (xp_tensor_version (self), version + 3);
  assert_tensor (self, "tensor([[0., 1.],\n        [0., 1.]])");
}
END_TEST

START_TEST (a_tensor_is_added_to_itself)
{
  g_autoptr (XpTensor) self = counting (XP_INTS (3, 3));
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_add__Tensor (self, self, ONE, &result, &error));
  assert_tensor (self, "tensor([[ 0.,  2.,  4.],\n        [ 6.,  8., 10.],\n        [12., 14., "
                       "16.]])");
}
END_TEST

START_TEST (out_is_resized_and_may_be_of_another_dtype)
{
  g_autoptr (XpTensor) a = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) out = xp_tensor_new (XP_FLOAT64, XP_INTS (0), XP_CPU, &error);
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_add_out (a, a, ONE, out, &result, &error));
  ck_assert_ptr_eq (result, out);
  assert_tensor (out, "tensor([[ 0.,  2.,  4.],\n        [ 6.,  8., 10.]], dtype=torch.float64)");
}
END_TEST

START_TEST (out_keeps_its_strides)
{
  g_autoptr (XpTensor) a = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) out = xp_tensor_new_strided (XP_FLOAT32, XP_INTS (2, 3), XP_INTS (1, 2),
                                                    XP_CPU, &error);
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_add_out (a, a, ONE, out, &result, &error));
  assert_ints (xp_tensor_strides (out), XP_INTS (1, 2));
  ck_assert_float_eq (((float *) xp_tensor_data (out))[1], 6);
}
END_TEST

START_TEST (out_that_is_resized_lies_as_its_operands_do)
{
  g_autoptr (XpTensor) a = xp_tensor_new_strided (XP_FLOAT32, XP_INTS (2, 3), XP_INTS (1, 2),
                                                  XP_CPU, &error);
  g_autoptr (XpTensor) out = xp_tensor_new (XP_FLOAT32, XP_INTS (0), XP_CPU, &error);
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_fill__Scalar (a, ONE, &result, &error));
  g_clear_pointer (&result, xp_tensor_unref);
  OK (xp_aten_add_out (a, a, ONE, out, &result, &error));
  assert_ints (xp_tensor_strides (out), XP_INTS (1, 2));
  ck_assert (!xp_tensor_is_contiguous (out));
}
END_TEST

START_TEST (only_the_view_is_written)
{
  g_autoptr (XpTensor) base = counting (XP_INTS (3, 3));
  g_autoptr (XpTensor) diagonal = xp_tensor_new_view (base, XP_INTS (3), XP_INTS (4), 0, &error);
  g_autoptr (XpTensor) result = NULL;
  OK (xp_aten_fill__Scalar (diagonal, xp_value_int (9), &result, &error));
  assert_tensor (base, "tensor([[9., 1., 2.],\n        [3., 9., 5.],\n        [6., 7., 9.]])");
}
END_TEST

START_TEST (a_refused_write_leaves_all_as_it_was)
{
  g_autoptr (XpTensor) self = counting (XP_INTS (3));
  g_autoptr (XpTensor) wide = counting (XP_INTS (2, 3));
  XpTensor *result = NULL;
  uint64_t version = xp_tensor_version (self);
  FAILS (xp_aten_add_out (wide, wide, xp_value_float (1e300), self, &result, &error), result,
         XP_ERROR_ARGUMENT, "without overflow");
  FAILS (xp_aten_fill__Scalar (self, xp_value_float (1e300), &result, &error), result,
         XP_ERROR_ARGUMENT, "without overflow");
  assert_ints (xp_tensor_shape (self), XP_INTS (3));
  assert_tensor (self, "tensor([0., 1., 2.])");
  ck_assert_uint_eq (xp_tensor_version (self), version);
}
END_TEST

START_TEST (copies_convert)
{
  const double numbers[] = { 300, -1.5, 0, 2.5 };
  const struct
  {
    XpDType dtype;
    const char *text;
  } cases[] = {
    { XP_UINT8, "tensor([ 44, 255,   0,   2], dtype=torch.uint8)" },
    { XP_INT8, "tensor([44, -1,  0,  2], dtype=torch.int8)" },
    { XP_INT16, "tensor([300,  -1,   0,   2], dtype=torch.int16)" },
    { XP_BOOL, "tensor([ True,  True, False,  True])" },
    { XP_FLOAT16, "tensor([300.0000,  -1.5000,   0.0000,   2.5000], dtype=torch.float16)" },
    { XP_COMPLEX64, "tensor([300.0000+0.j,  -1.5000+0.j,   0.0000+0.j,   2.5000+0.j])" },
  };
  g_autoptr (XpTensor) from = tensor_of (XP_FLOAT32, XP_INTS (4), numbers);
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) to = xp_tensor_new (cases[i].dtype, XP_INTS (4), XP_CPU, &error);
      g_autoptr (XpTensor) result = NULL;
      OK (xp_aten_copy_ (to, from, false, &result, &error));
      assert_tensor (to, cases[i].text);
    }
}
END_TEST

/* Each of them goes through float32 and comes back as it was, and lies between its neighbours. */
START_TEST (every_half_is_converted_there_and_back)
{
  const XpDType dtypes[] = { XP_FLOAT16, XP_BFLOAT16 };
  for (unsigned i = 0; i < XP_LENGTH (dtypes); i++)
    {
      g_autoptr (XpTensor) all = xp_tensor_new (dtypes[i], XP_INTS (65536), XP_CPU, &error);
      g_autoptr (XpTensor) wide = xp_tensor_new (XP_FLOAT32, XP_INTS (65536), XP_CPU, &error);
      g_autoptr (XpTensor) back = xp_tensor_new (dtypes[i], XP_INTS (65536), XP_CPU, &error);
      g_autoptr (XpTensor) result = NULL;
      uint16_t *bits = xp_tensor_data (all), *bits_back = xp_tensor_data (back);
      for (unsigned j = 0; j < 65536; j++)
        bits[j] = (uint16_t) j;
      OK (xp_aten_copy_ (wide, all, false, &result, &error));
      g_clear_pointer (&result, xp_tensor_unref);
      OK (xp_aten_copy_ (back, wide, false, &result, &error));
      for (unsigned j = 0; j < 65536; j++)
        {
          float number = ((float *) xp_tensor_data (wide))[j];
          double expected = xp_scalar_to_double (xp_tensor_get_element (all, j));
          ck_assert (isnan (number) ? isnan (expected) : number == expected);
          ck_assert_msg (isnan (number) || bits_back[j] == j, "%x becomes %x", j, bits_back[j]);
        }
    }
}
END_TEST

/* As the core does it one by one; among them numbers between two halves, and right in the middle.
 */
START_TEST (numbers_are_rounded_to_halves)
{
  enum
  {
    N = 20000
  };
  const XpDType dtypes[] = { XP_FLOAT16, XP_BFLOAT16 };
  g_autoptr (XpTensor) from = xp_tensor_new (XP_FLOAT32, XP_INTS (N), XP_CPU, &error);
  float *numbers = xp_tensor_data (from);
  for (int i = 0; i < N; i++)
    numbers[i] = ldexpf (1.0f + (float) i / 4096.0f, i % 60 - 30);
  for (unsigned i = 0; i < XP_LENGTH (dtypes); i++)
    {
      g_autoptr (XpTensor) to = xp_tensor_new (dtypes[i], XP_INTS (N), XP_CPU, &error);
      g_autoptr (XpTensor) expected = xp_tensor_new (dtypes[i], XP_INTS (N), XP_CPU, &error);
      g_autoptr (XpTensor) result = NULL;
      for (int j = 0; j < N; j++)
        xp_tensor_set_element (expected, j, xp_value_float (numbers[j]));
      OK (xp_aten_copy_ (to, from, false, &result, &error));
      ck_assert_mem_eq (xp_tensor_data (to), xp_tensor_data (expected), N * sizeof (uint16_t));
    }
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("written");
  TCase *written = tcase_create ("written");
  tcase_add_checked_fixture (written, load_plugins, NULL);
  tcase_add_test (written, in_place_gives_the_tensor_itself_and_counts);
  tcase_add_test (written, a_tensor_is_added_to_itself);
  tcase_add_test (written, out_is_resized_and_may_be_of_another_dtype);
  tcase_add_test (written, out_keeps_its_strides);
  tcase_add_test (written, out_that_is_resized_lies_as_its_operands_do);
  tcase_add_test (written, only_the_view_is_written);
  tcase_add_test (written, a_refused_write_leaves_all_as_it_was);
  tcase_add_test (written, copies_convert);
  tcase_add_test (written, every_half_is_converted_there_and_back);
  tcase_add_test (written, numbers_are_rounded_to_halves);
  suite_add_tcase (suite, written);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
