/* SPDX-License-Identifier: MIT
 *
 * errors.c: what wrong arguments get from cpu and from meta: PyTorch's words, and our codes.
 */
#include "composite/operators.h"

#define ONE (xp_value_int (1))

/* What each test below makes its arguments with: the device it is run for. */
static XpDevice device;

static void
on_cpu (void)
{
  load_plugins ();
  device = XP_CPU;
}

static void
on_meta (void)
{
  load_plugins ();
  load_plugin ("meta");
  device = XP_META;
}

static XpTensor *
make (XpDType dtype, XpInts shape)
{
  XpTensor *tensor = xp_tensor_new (dtype, shape, device, &error);
  assert_no_error (error);
  if (device.backend == XP_BACKEND_CPU && tensor->numel > 0)
    memset (xp_tensor_data (tensor), 0, (size_t) tensor->numel * xp_dtype_size (dtype));
  return tensor;
}

/* One element that is shown @n times. */
static XpTensor *
make_repeated (int64_t n)
{
  g_autoptr (XpTensor) one = make (XP_FLOAT32, XP_INTS (1));
  XpTensor *view = xp_tensor_new_view (one, XP_INTS (n), XP_INTS (0), 0, &error);
  assert_no_error (error);
  return view;
}

START_TEST (operands_must_broadcast)
{
  g_autoptr (XpTensor) a = make (XP_FLOAT32, XP_INTS (2, 3));
  g_autoptr (XpTensor) b = make (XP_FLOAT32, XP_INTS (4));
  XpTensor *result = NULL;
  const char *message
      = "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1";
  FAILS (xp_aten_add_Tensor (a, b, ONE, &result, &error), result, XP_ERROR_SHAPE, message);
  FAILS (xp_aten_sub_Tensor (a, b, ONE, &result, &error), result, XP_ERROR_SHAPE, message);
  FAILS (xp_aten_mul_Tensor (a, b, &result, &error), result, XP_ERROR_SHAPE, message);
  FAILS (xp_aten_div_Tensor (a, b, &result, &error), result, XP_ERROR_SHAPE, message);
  FAILS (xp_aten_eq_Tensor (a, b, &result, &error), result, XP_ERROR_SHAPE, message);
  FAILS (xp_aten_copy_ (a, b, false, &result, &error), result, XP_ERROR_SHAPE, message);
}
END_TEST

START_TEST (alpha_must_fit_the_operands)
{
  g_autoptr (XpTensor) floats = make (XP_FLOAT32, XP_INTS (2));
  g_autoptr (XpTensor) longs = make (XP_INT64, XP_INTS (2));
  g_autoptr (XpTensor) bytes = make (XP_UINT8, XP_INTS (2));
  g_auto (XpValue) complex_ = xp_value_complex (0, 1);
  XpTensor *result = NULL;
  FAILS (xp_aten_add_Tensor (longs, longs, xp_value_float (1.5), &result, &error), result,
         XP_ERROR_ARGUMENT,
         "For integral input tensors, argument alpha must not be a floating point number.");
  FAILS (xp_aten_sub_Tensor (longs, longs, complex_, &result, &error), result, XP_ERROR_ARGUMENT,
         "For integral input tensors, argument alpha must not be a floating point number.");
  FAILS (xp_aten_add_Tensor (floats, floats, complex_, &result, &error), result, XP_ERROR_ARGUMENT,
         "For non-complex input tensors, argument alpha must not be a complex number.");
  FAILS (xp_aten_add_Tensor (floats, longs, xp_value_bool (TRUE), &result, &error), result,
         XP_ERROR_ARGUMENT, "Boolean alpha only supported for Boolean results.");
  FAILS (xp_aten_add_Tensor (bytes, bytes, xp_value_int (300), &result, &error), result,
         XP_ERROR_ARGUMENT, "value cannot be converted to type uint8_t without overflow");
  FAILS (xp_aten_add_Tensor (floats, floats, xp_value_float (1e300), &result, &error), result,
         XP_ERROR_ARGUMENT, "value cannot be converted to type float without overflow");
  OK (xp_aten_add_Tensor (longs, floats, xp_value_float (1.5), &result, &error));
  g_clear_pointer (&result, xp_tensor_unref);
  OK (xp_aten_sub_Tensor (bytes, bytes, xp_value_int (255), &result, &error));
  g_clear_pointer (&result, xp_tensor_unref);
}
END_TEST

START_TEST (bool_is_no_number)
{
  g_autoptr (XpTensor) floats = make (XP_FLOAT32, XP_INTS (2));
  g_autoptr (XpTensor) bools = make (XP_BOOL, XP_INTS (2));
  XpTensor *result = NULL;
  FAILS (xp_aten_sub_Tensor (bools, bools, ONE, &result, &error), result, XP_ERROR_DTYPE,
         "Subtraction, the `-` operator, with two bool tensors is not supported.");
  FAILS (xp_aten_sub_Tensor (floats, bools, ONE, &result, &error), result, XP_ERROR_DTYPE,
         "Subtraction, the `-` operator, with a bool tensor is not supported.");
  FAILS (xp_aten_neg (bools, &result, &error), result, XP_ERROR_DTYPE,
         "Negation, the `-` operator, on a bool tensor is not supported.");
  FAILS (xp_aten_relu (bools, &result, &error), result, XP_ERROR_DTYPE,
         "Boolean inputs not supported for relu");
}
END_TEST

START_TEST (gelu_is_for_floating_point)
{
  g_autoptr (XpTensor) floats = make (XP_FLOAT32, XP_INTS (2));
  g_autoptr (XpTensor) longs = make (XP_INT64, XP_INTS (2));
  XpTensor *result = NULL;
  FAILS (xp_aten_gelu (longs, "none", &result, &error), result, XP_ERROR_DTYPE,
         "\"GeluKernelImpl\" not implemented for 'Long'");
  FAILS (xp_aten_gelu (floats, "exact", &result, &error), result, XP_ERROR_ARGUMENT,
         "approximate argument must be either none or tanh.");
}
END_TEST

START_TEST (what_is_written_must_fit)
{
  g_autoptr (XpTensor) floats = make (XP_FLOAT32, XP_INTS (2, 3));
  g_autoptr (XpTensor) longs = make (XP_INT64, XP_INTS (2, 3));
  g_autoptr (XpTensor) small = make (XP_FLOAT32, XP_INTS (3));
  XpTensor *result = NULL;
  FAILS (xp_aten_add__Tensor (longs, floats, ONE, &result, &error), result, XP_ERROR_DTYPE,
         "result type Float can't be cast to the desired output type Long");
  FAILS (xp_aten_add_out (floats, floats, ONE, longs, &result, &error), result, XP_ERROR_DTYPE,
         "result type Float can't be cast to the desired output type Long");
  FAILS (xp_aten_add__Tensor (small, floats, ONE, &result, &error), result, XP_ERROR_SHAPE,
         "output with shape [3] doesn't match the broadcast shape [2, 3]");
  FAILS (xp_aten_add_out (small, floats, ONE, small, &result, &error), result, XP_ERROR_SHAPE,
         "output with shape [3] doesn't match the broadcast shape [2, 3]");
  FAILS (xp_aten_copy_ (small, floats, false, &result, &error), result, XP_ERROR_SHAPE,
         "output with shape [3] doesn't match the broadcast shape [2, 3]");
}
END_TEST

START_TEST (what_is_written_has_a_place_of_its_own)
{
  const char *twice
      = "unsupported operation: more than one element of the written-to tensor refers "
        "to a single memory location.";
  const char *partly
      = "unsupported operation: some elements of the input tensor and the written-to "
        "tensor refer to a single memory location.";
  g_autoptr (XpTensor) repeated = make_repeated (3);
  g_autoptr (XpTensor) three = make (XP_FLOAT32, XP_INTS (3));
  g_autoptr (XpTensor) nine = make (XP_FLOAT32, XP_INTS (3, 3));
  g_autoptr (XpTensor) turned = xp_tensor_new_view (nine, XP_INTS (3, 3), XP_INTS (1, 3), 0,
                                                    &error);
  g_autoptr (XpTensor) head = xp_tensor_new_view (nine, XP_INTS (3), XP_INTS (1), 0, &error);
  g_autoptr (XpTensor) next = xp_tensor_new_view (nine, XP_INTS (3), XP_INTS (1), 1, &error);
  g_autoptr (XpTensor) same = xp_tensor_new_view (nine, XP_INTS (3), XP_INTS (1), 0, &error);
  XpTensor *result = NULL;
  assert_no_error (error);
  FAILS (xp_aten_add__Tensor (repeated, three, ONE, &result, &error), result, XP_ERROR_ARGUMENT,
         twice);
  FAILS (xp_aten_add_out (three, three, ONE, repeated, &result, &error), result, XP_ERROR_ARGUMENT,
         twice);
  FAILS (xp_aten_copy_ (repeated, three, false, &result, &error), result, XP_ERROR_ARGUMENT, twice);
  FAILS (xp_aten_add__Tensor (nine, turned, ONE, &result, &error), result, XP_ERROR_ARGUMENT,
         partly);
  FAILS (xp_aten_add_out (head, head, ONE, next, &result, &error), result, XP_ERROR_ARGUMENT,
         partly);
  FAILS (xp_aten_copy_ (next, head, false, &result, &error), result, XP_ERROR_ARGUMENT, partly);
  OK (xp_aten_add_out (head, head, ONE, same, &result, &error));
  g_clear_pointer (&result, xp_tensor_unref);
  OK (xp_aten_fill__Scalar (repeated, ONE, &result, &error));
  g_clear_pointer (&result, xp_tensor_unref);
}
END_TEST

START_TEST (matrices_must_fit_each_other)
{
  g_autoptr (XpTensor) wide = make (XP_FLOAT32, XP_INTS (2, 3));
  g_autoptr (XpTensor) tall = make (XP_FLOAT32, XP_INTS (3, 2));
  g_autoptr (XpTensor) doubles = make (XP_FLOAT64, XP_INTS (3, 2));
  g_autoptr (XpTensor) square = make (XP_FLOAT64, XP_INTS (2, 2));
  g_autoptr (XpTensor) vector = make (XP_FLOAT32, XP_INTS (3));
  g_autoptr (XpTensor) cube = make (XP_FLOAT32, XP_INTS (2, 3, 4));
  XpTensor *result = NULL;
  FAILS (xp_aten_mm (wide, wide, &result, &error), result, XP_ERROR_SHAPE,
         "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)");
  FAILS (xp_aten_mm (vector, wide, &result, &error), result, XP_ERROR_SHAPE,
         "self must be a matrix");
  FAILS (xp_aten_mm (wide, vector, &result, &error), result, XP_ERROR_SHAPE,
         "mat2 must be a matrix");
  FAILS (xp_aten_mm (wide, doubles, &result, &error), result, XP_ERROR_DTYPE,
         "expected scalar type Float but found Double");
  FAILS (xp_aten_addmm (vector, vector, tall, ONE, ONE, &result, &error), result, XP_ERROR_SHAPE,
         "mat1 must be a matrix, got 1-D tensor");
  FAILS (xp_aten_addmm (vector, wide, vector, ONE, ONE, &result, &error), result, XP_ERROR_SHAPE,
         "mat2 must be a matrix, got 1-D tensor");
  FAILS (xp_aten_addmm (wide, wide, tall, ONE, ONE, &result, &error), result, XP_ERROR_SHAPE,
         "The expanded size of the tensor (2) must match the existing size (3) at non-singleton "
         "dimension 1.  Target sizes: [2, 2].  Tensor sizes: [2, 3]");
  FAILS (xp_aten_addmm (cube, wide, tall, ONE, ONE, &result, &error), result, XP_ERROR_SHAPE,
         "expand(torch.FloatTensor{[2, 3, 4]}, size=[2, 2]): the number of sizes provided (2)");
  FAILS (xp_aten_addmm (square, wide, tall, ONE, ONE, &result, &error), result, XP_ERROR_DTYPE,
         "self and mat2 must have the same dtype");
  FAILS (xp_aten_addmm (square, wide, doubles, ONE, ONE, &result, &error), result, XP_ERROR_DTYPE,
         "mat1 and mat2 must have the same dtype");
}
END_TEST

START_TEST (dimensions_must_be_there_and_not_empty)
{
  g_autoptr (XpTensor) wide = make (XP_FLOAT32, XP_INTS (2, 3));
  g_autoptr (XpTensor) empty = make (XP_FLOAT32, XP_INTS (0, 3));
  g_autoptr (XpTensor) complex_ = make (XP_COMPLEX64, XP_INTS (2));
  XpTensor *result = NULL, *indices = NULL;
  const int64_t first = 0, far = 5;
  const char *range = "Dimension out of range (expected to be in range of [-2, 1], but got 5)";
  FAILS (xp_aten_sum_dim_IntList (wide, &XP_INTS (0, -2), false, NULL, &result, &error), result,
         XP_ERROR_ARGUMENT, "dim 0 appears multiple times in the list of dims");
  FAILS (xp_aten_sum_dim_IntList (wide, &XP_INTS (5), false, NULL, &result, &error), result,
         XP_ERROR_INDEX, range);
  FAILS (xp_aten_max_dim (wide, 5, false, &result, &indices, &error), result, XP_ERROR_INDEX,
         range);
  FAILS (xp_aten_argmax (wide, &far, false, &result, &error), result, XP_ERROR_INDEX, range);
  FAILS (xp_aten_max_dim (empty, 0, false, &result, &indices, &error), result, XP_ERROR_INDEX,
         "max(): Expected reduction dim 0 to have non-zero size.");
  FAILS (xp_aten_argmax (empty, &first, false, &result, &error), result, XP_ERROR_INDEX,
         "argmax(): Expected reduction dim 0 to have non-zero size.");
  FAILS (xp_aten_argmax (empty, NULL, false, &result, &error), result, XP_ERROR_INDEX,
         "argmax(): Expected reduction dim to be specified for input.numel() == 0.");
  FAILS (xp_aten_max_dim (complex_, 0, false, &result, &indices, &error), result, XP_ERROR_DTYPE,
         "max(): does not support complex input");
  ck_assert_ptr_null (indices);
}
END_TEST

START_TEST (views_must_be_possible)
{
  g_autoptr (XpTensor) wide = make (XP_FLOAT32, XP_INTS (2, 3));
  g_autoptr (XpTensor) turned = xp_tensor_new_view (wide, XP_INTS (3, 2), XP_INTS (1, 3), 0,
                                                    &error);
  XpTensor *result = NULL;
  FAILS (xp_aten_view (wide, XP_INTS (3, 3), &result, &error), result, XP_ERROR_SHAPE,
         "shape '[3, 3]' is invalid for input of size 6");
  FAILS (xp_aten_view (turned, XP_INTS (6), &result, &error), result, XP_ERROR_SHAPE,
         "view size is not compatible with input tensor's size and stride");
}
END_TEST

START_TEST (numbers_must_fit_what_they_fill)
{
  g_auto (XpValue) complex_ = xp_value_complex (0, 1);
  const struct
  {
    XpDType dtype;
    XpValue value;
    const char *type;
  } cases[] = {
    { XP_INT8, xp_value_int (300), "int8_t" },
    { XP_INT8, xp_value_int (-128), NULL },
    { XP_UINT8, xp_value_int (-255), NULL },
    { XP_UINT8, xp_value_int (-256), "uint8_t" },
    { XP_UINT8, xp_value_float (-0.5), "uint8_t" },
    { XP_INT32, xp_value_float (2147483647.5), "int" },
    { XP_INT64, xp_value_float (1e30), "int64_t" },
    { XP_INT64, xp_value_float (G_MAXDOUBLE * 10), "int64_t" },
    { XP_FLOAT16, xp_value_int (65505), "at::Half" },
    { XP_BFLOAT16, xp_value_float (3.4e38), "at::BFloat16" },
    { XP_FLOAT32, xp_value_float (1e300), "float" },
    { XP_FLOAT32, xp_value_float (G_MAXDOUBLE * 10), NULL },
    { XP_FLOAT32, complex_, "float" },
    { XP_COMPLEX64, complex_, NULL },
    { XP_BOOL, xp_value_float (1e300), NULL },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) tensor = make (cases[i].dtype, XP_INTS (2));
      XpTensor *result = NULL;
      g_autofree char *message = g_strdup_printf (
          "value cannot be converted to type %s without overflow", cases[i].type);
      if (cases[i].type != NULL)
        FAILS (xp_aten_fill__Scalar (tensor, cases[i].value, &result, &error), result,
               XP_ERROR_ARGUMENT, message);
      else
        OK (xp_aten_fill__Scalar (tensor, cases[i].value, &result, &error));
      g_clear_pointer (&result, xp_tensor_unref);
    }
}
END_TEST

START_TEST (factories_check_their_options)
{
  XpTensor *result = NULL;
  const XpMemoryFormat last = XP_CHANNELS_LAST, preserve = XP_PRESERVE_FORMAT;
  FAILS (xp_aten_empty_memory_format (XP_INTS (2, -3), NULL, NULL, &device, NULL, NULL, &result,
                                      &error),
         result, XP_ERROR_SHAPE, "Trying to create tensor with negative dimension -3: [2, -3]");
  FAILS (
      xp_aten_empty_memory_format (XP_INTS (2), NULL, NULL, &device, NULL, &last, &result, &error),
      result, XP_ERROR_SHAPE, "required rank 4 tensor to use channels_last format");
  FAILS (xp_aten_empty_memory_format (XP_INTS (2), NULL, NULL, &device, NULL, &preserve, &result,
                                      &error),
         result, XP_ERROR_ARGUMENT, "unsupported memory format Preserve");
  FAILS (xp_aten_empty_memory_format (XP_INTS (G_MAXINT64, 4), NULL, NULL, &device, NULL, NULL,
                                      &result, &error),
         result, XP_ERROR_LIMIT, "more than 2^63 - 1 elements");
  OK (xp_aten_empty_memory_format (XP_INTS (2, 3, 4, 5), NULL, NULL, &device, NULL, &last, &result,
                                   &error));
  assert_ints (xp_tensor_strides (result), XP_INTS (60, 1, 15, 3));
  xp_tensor_unref (result);
}
END_TEST

START_TEST (kernels_name_the_dtypes_they_lack)
{
  const struct
  {
    XpStatus (*call) (XpTensor *self, XpTensor **result, GError **error);
    XpDType dtype;
    const char *message;
  } cases[] = {
    { xp_aten_relu, XP_FLOAT16, "\"clamp_min_cpu\" not implemented for 'Half'" },
    { xp_aten_exp, XP_FLOAT16, "\"exp_vml_cpu\" not implemented for 'Half'" },
    { xp_aten_sigmoid, XP_FLOAT16, "\"sigmoid_cpu\" not implemented for 'Half'" },
  };
  on_cpu ();
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) tensor = make (cases[i].dtype, XP_INTS (2));
      XpTensor *result = NULL;
      FAILS (cases[i].call (tensor, &result, &error), result, XP_ERROR_DTYPE, cases[i].message);
    }
  g_autoptr (XpTensor) bools = make (XP_BOOL, XP_INTS (2, 2));
  XpTensor *result = NULL;
  FAILS (xp_aten_mm (bools, bools, &result, &error), result, XP_ERROR_DTYPE,
         "\"addmm_impl_cpu_\" not implemented for 'Bool'");
  FAILS (xp_aten_argmax (bools, NULL, false, &result, &error), result, XP_ERROR_DTYPE,
         "\"argmax_cpu\" not implemented for 'Bool'");
}
END_TEST

START_TEST (devices_must_agree)
{
  const char *message = "Expected all tensors to be on the same device, but found at least two "
                        "devices, meta and cpu!";
  g_autoptr (XpTensor) meta = make (XP_FLOAT32, XP_INTS (2, 3));
  g_autoptr (XpTensor) cpu = counting (XP_INTS (2, 3));
  g_autoptr (XpTensor) scalar = counting (NO_SIZES);
  XpTensor *result = NULL;
  FAILS (xp_aten_add_Tensor (meta, cpu, ONE, &result, &error), result, XP_ERROR_DEVICE_MISMATCH,
         message);
  FAILS (xp_aten_add_Tensor (cpu, meta, ONE, &result, &error), result, XP_ERROR_DEVICE_MISMATCH,
         message);
  FAILS (xp_aten_add__Tensor (cpu, meta, ONE, &result, &error), result, XP_ERROR_DEVICE_MISMATCH,
         message);
  FAILS (xp_aten_copy_ (cpu, meta, false, &result, &error), result, XP_ERROR_DECLINED,
         "Cannot copy out of meta tensor; no data!");
  OK (xp_aten_add_Tensor (scalar, meta, ONE, &result, &error));
  ck_assert_int_eq (xp_tensor_device (result).backend, XP_BACKEND_Meta);
  g_clear_pointer (&result, xp_tensor_unref);
  OK (xp_aten_copy_ (meta, cpu, false, &result, &error));
  g_clear_pointer (&result, xp_tensor_unref);
}
END_TEST

static void
add_shared (TCase *test_case)
{
  tcase_add_test (test_case, operands_must_broadcast);
  tcase_add_test (test_case, alpha_must_fit_the_operands);
  tcase_add_test (test_case, bool_is_no_number);
  tcase_add_test (test_case, gelu_is_for_floating_point);
  tcase_add_test (test_case, what_is_written_must_fit);
  tcase_add_test (test_case, what_is_written_has_a_place_of_its_own);
  tcase_add_test (test_case, matrices_must_fit_each_other);
  tcase_add_test (test_case, dimensions_must_be_there_and_not_empty);
  tcase_add_test (test_case, views_must_be_possible);
  tcase_add_test (test_case, numbers_must_fit_what_they_fill);
  tcase_add_test (test_case, factories_check_their_options);
}

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("errors");
  TCase *cpu = tcase_create ("cpu");
  tcase_add_checked_fixture (cpu, on_cpu, NULL);
  add_shared (cpu);
  tcase_add_test (cpu, kernels_name_the_dtypes_they_lack);
  suite_add_tcase (suite, cpu);
  TCase *meta = tcase_create ("meta");
  tcase_add_checked_fixture (meta, on_meta, NULL);
  add_shared (meta);
  tcase_add_test (meta, devices_must_agree);
  suite_add_tcase (suite, meta);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
