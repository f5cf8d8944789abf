/* SPDX-License-Identifier: MIT
 *
 * shapes.c: the arithmetic of shapes, strides and result types. Expected values are those that
 * PyTorch 1.13 gives for the same shapes.
 */
#include "suite.h"

#include <string.h>

#define NO_SIZES ((XpInts){ NULL, 0 })

static GError *error;

static void
set_up (void)
{
  error = NULL;
}

static void
assert_sizes (XpInts found, XpInts expected)
{
  g_autofree char *found_text = xp_shape_to_string (found);
  g_autofree char *expected_text = xp_shape_to_string (expected);
  ck_assert_str_eq (found_text, expected_text);
}

START_TEST (shapes_print_as_lists)
{
  g_autofree char *none = xp_shape_to_string (NO_SIZES);
  g_autofree char *three = xp_shape_to_string (XP_INTS (2, -1, 30));
  ck_assert_str_eq (none, "[]");
  ck_assert_str_eq (three, "[2, -1, 30]");
}
END_TEST

START_TEST (a_shape_has_no_negative_size_and_64_dimensions)
{
  XpShape shape;
  int64_t many[65] = { 0 };
  ck_assert (xp_shape_from_ints (XP_INTS (2, 0, 3), &shape, &error));
  assert_sizes (xp_shape_ints (&shape), XP_INTS (2, 0, 3));
  ck_assert (!xp_shape_from_ints (XP_INTS (2, -3), &shape, &error));
  assert_error (error, XP_ERROR_SHAPE,
                "Trying to create tensor with negative dimension -3: [2, -3]");
  ck_assert (xp_shape_from_ints ((XpInts){ many, 64 }, &shape, &error));
  ck_assert (!xp_shape_from_ints ((XpInts){ many, 65 }, &shape, &error));
  assert_error (error, XP_ERROR_LIMIT, "at most 64 dimensions; 65 were asked for");
}
END_TEST

START_TEST (elements_are_counted_up_to_2_to_the_63)
{
  int64_t numel;
  ck_assert (xp_shape_numel (NO_SIZES, &numel, &error));
  ck_assert_int_eq (numel, 1);
  ck_assert (xp_shape_numel (XP_INTS (2, 3, 4), &numel, &error));
  ck_assert_int_eq (numel, 24);
  ck_assert (xp_shape_numel (XP_INTS (G_MAXINT64, G_MAXINT64, 0), &numel, &error));
  ck_assert_int_eq (numel, 0);
  ck_assert (xp_shape_numel (XP_INTS (G_MAXINT64, 1), &numel, &error));
  ck_assert_int_eq (numel, G_MAXINT64);
  ck_assert (!xp_shape_numel (XP_INTS (4294967296, 2147483648), &numel, &error));
  assert_error (error, XP_ERROR_LIMIT, "[4294967296, 2147483648] has more than 2^63 - 1 elements");
}
END_TEST

START_TEST (row_major_strides_count_zero_as_one)
{
  const struct
  {
    XpInts shape;
    XpInts strides;
  } cases[] = {
    { XP_INTS (2, 3, 4), XP_INTS (12, 4, 1) },
    { XP_INTS (7), XP_INTS (1) },
    { XP_INTS (3, 0, 4), XP_INTS (4, 4, 1) },
    { XP_INTS (2, 1, 3), XP_INTS (3, 3, 1) },
  };
  int64_t strides[4];
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      xp_shape_contiguous_strides (cases[i].shape, strides);
      assert_sizes ((XpInts){ strides, cases[i].shape.length }, cases[i].strides);
    }
}
END_TEST

START_TEST (shapes_broadcast)
{
  const struct
  {
    XpInts a, b;
    XpInts result;
    const char *message;
  } cases[] = {
    { XP_INTS (2, 3), XP_INTS (3), XP_INTS (2, 3), NULL },
    { XP_INTS (2, 1), XP_INTS (1, 3), XP_INTS (2, 3), NULL },
    { { NULL, 0 }, XP_INTS (4), XP_INTS (4), NULL },
    { { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, NULL },
    { XP_INTS (0), XP_INTS (1), XP_INTS (0), NULL },
    { XP_INTS (5, 1, 4, 1), XP_INTS (3, 1, 1), XP_INTS (5, 3, 4, 1), NULL },
    { XP_INTS (1, 1), { NULL, 0 }, XP_INTS (1, 1), NULL },
    { XP_INTS (2, 3),
      XP_INTS (2),
      { NULL, 0 },
      "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1" },
    { XP_INTS (0),
      XP_INTS (2),
      { NULL, 0 },
      "The size of tensor a (0) must match the size of tensor b (2) at non-singleton dimension 0" },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      XpShape shape;
      if (xp_broadcast (cases[i].a, cases[i].b, &shape, &error))
        {
          ck_assert_ptr_null (cases[i].message);
          assert_sizes (xp_shape_ints (&shape), cases[i].result);
        }
      else
        assert_error (error, XP_ERROR_SHAPE, cases[i].message);
    }
}
END_TEST

static XpTensor *
strided_new (XpInts shape, XpInts strides)
{
  XpTensor *tensor = xp_tensor_new_strided (XP_FLOAT32, shape, strides, XP_CPU, &error);
  assert_no_error (error);
  return tensor;
}

START_TEST (a_repeated_dimension_has_stride_zero)
{
  const struct
  {
    XpInts shape, strides, to, expected;
  } cases[] = {
    { XP_INTS (3, 1), XP_INTS (1, 1), XP_INTS (2, 3, 4), XP_INTS (0, 1, 0) },
    { XP_INTS (1, 3), XP_INTS (3, 1), XP_INTS (1, 3), XP_INTS (3, 1) },
    { { NULL, 0 }, { NULL, 0 }, XP_INTS (2, 2), XP_INTS (0, 0) },
    { XP_INTS (2, 3), XP_INTS (1, 2), XP_INTS (5, 2, 3), XP_INTS (0, 1, 2) },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      XpShape to;
      int64_t strides[4];
      g_autoptr (XpTensor) tensor = strided_new (cases[i].shape, cases[i].strides);
      ck_assert (xp_shape_from_ints (cases[i].to, &to, &error));
      xp_broadcast_strides (tensor, &to, strides);
      assert_sizes ((XpInts){ strides, cases[i].to.length }, cases[i].expected);
    }
}
END_TEST

START_TEST (dimensions_count_from_the_end_too)
{
  int wrapped;
  ck_assert (xp_wrap_dimension (1, 2, &wrapped, &error));
  ck_assert_int_eq (wrapped, 1);
  ck_assert (xp_wrap_dimension (-2, 2, &wrapped, &error));
  ck_assert_int_eq (wrapped, 0);
  ck_assert (xp_wrap_dimension (-1, 0, &wrapped, &error));
  ck_assert_int_eq (wrapped, 0);
  ck_assert (!xp_wrap_dimension (2, 2, &wrapped, &error));
  assert_error (error, XP_ERROR_INDEX,
                "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  ck_assert (!xp_wrap_dimension (-3, 2, &wrapped, &error));
  assert_error (error, XP_ERROR_INDEX,
                "Dimension out of range (expected to be in range of [-2, 1], but got -3)");
  ck_assert (!xp_wrap_dimension (1, 0, &wrapped, &error));
  assert_error (error, XP_ERROR_INDEX,
                "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
  ck_assert (!xp_wrap_dimension (G_MININT64, 2, &wrapped, &error));
  assert_error (error, XP_ERROR_INDEX, "but got -9223372036854775808)");
}
END_TEST

START_TEST (one_size_is_inferred)
{
  const struct
  {
    XpInts sizes;
    int64_t numel;
    XpInts result;
    const char *message;
  } cases[] = {
    { XP_INTS (2, -1), 6, XP_INTS (2, 3), NULL },
    { XP_INTS (2, 3), 6, XP_INTS (2, 3), NULL },
    { XP_INTS (-1), 0, XP_INTS (0), NULL },
    { XP_INTS (-1), 1, XP_INTS (1), NULL },
    { XP_INTS (1, -1, 1), 5, XP_INTS (1, 5, 1), NULL },
    { { NULL, 0 }, 1, { NULL, 0 }, NULL },
    { XP_INTS (G_MAXINT64, G_MAXINT64, 0), 0, XP_INTS (G_MAXINT64, G_MAXINT64, 0), NULL },
    { XP_INTS (-1, 0),
      0,
      { NULL, 0 },
      "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension "
      "size -1 can be any value and is ambiguous" },
    { XP_INTS (0, -1), 6, { NULL, 0 }, "shape '[0, -1]' is invalid for input of size 6" },
    { XP_INTS (4, -1), 6, { NULL, 0 }, "shape '[4, -1]' is invalid for input of size 6" },
    { XP_INTS (2, 5), 6, { NULL, 0 }, "shape '[2, 5]' is invalid for input of size 6" },
    { { NULL, 0 }, 2, { NULL, 0 }, "shape '[]' is invalid for input of size 2" },
    { XP_INTS (G_MAXINT64, 4), 6, { NULL, 0 }, "is invalid for input of size 6" },
    { XP_INTS (-1, -1), 6, { NULL, 0 }, "only one dimension can be inferred" },
    { XP_INTS (-2, 3), 6, { NULL, 0 }, "invalid shape dimension -2" },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      XpShape shape;
      if (xp_infer_size (cases[i].sizes, cases[i].numel, &shape, &error))
        {
          ck_assert_msg (cases[i].message == NULL, "no error: %s", cases[i].message);
          assert_sizes (xp_shape_ints (&shape), cases[i].result);
        }
      else
        assert_error (error, XP_ERROR_SHAPE, cases[i].message);
    }
}
END_TEST

START_TEST (a_view_in_another_shape_has_strides_or_none)
{
  const struct
  {
    XpInts shape, strides, to;
    gboolean possible;
    XpInts expected;
  } cases[] = {
    { XP_INTS (2, 3), XP_INTS (3, 1), XP_INTS (6), TRUE, XP_INTS (1) },
    { XP_INTS (2, 3), XP_INTS (3, 1), XP_INTS (3, 2), TRUE, XP_INTS (2, 1) },
    { XP_INTS (3, 2), XP_INTS (1, 3), XP_INTS (6), FALSE, { NULL, 0 } },
    { XP_INTS (3, 2), XP_INTS (1, 3), XP_INTS (3, 2), TRUE, XP_INTS (1, 3) },
    { XP_INTS (3, 2), XP_INTS (1, 3), XP_INTS (3, 2, 1), TRUE, XP_INTS (1, 3, 3) },
    { XP_INTS (4, 3, 2), XP_INTS (6, 2, 1), XP_INTS (2, 2, 6), TRUE, XP_INTS (12, 6, 1) },
    { XP_INTS (4, 3), XP_INTS (6, 1), XP_INTS (2, 2, 3), TRUE, XP_INTS (12, 6, 1) },
    { XP_INTS (4, 3), XP_INTS (6, 1), XP_INTS (12), FALSE, { NULL, 0 } },
    { XP_INTS (2, 1, 3), XP_INTS (3, 99, 1), XP_INTS (6), TRUE, XP_INTS (1) },
    { XP_INTS (2, 3), XP_INTS (0, 1), XP_INTS (2, 3), TRUE, XP_INTS (0, 1) },
    { XP_INTS (2, 3), XP_INTS (0, 1), XP_INTS (6), FALSE, { NULL, 0 } },
    { XP_INTS (2, 2), XP_INTS (0, 0), XP_INTS (4), TRUE, XP_INTS (0) },
    { { NULL, 0 }, { NULL, 0 }, XP_INTS (1, 1), TRUE, XP_INTS (1, 1) },
    { XP_INTS (1), XP_INTS (7), { NULL, 0 }, TRUE, { NULL, 0 } },
    { XP_INTS (0, 3), XP_INTS (5, 7), XP_INTS (0, 3), TRUE, XP_INTS (5, 7) },
    { XP_INTS (0, 3), XP_INTS (5, 7), XP_INTS (3, 0), TRUE, XP_INTS (1, 1) },
    { XP_INTS (6), XP_INTS (2), XP_INTS (2, 3), TRUE, XP_INTS (6, 2) },
    { XP_INTS (2, 3, 4), XP_INTS (1, 2, 6), XP_INTS (6, 4), FALSE, { NULL, 0 } },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      XpShape to;
      int64_t strides[4];
      g_autoptr (XpTensor) tensor = strided_new (cases[i].shape, cases[i].strides);
      ck_assert (xp_shape_from_ints (cases[i].to, &to, &error));
      ck_assert_msg (xp_view_strides (tensor, &to, strides) == cases[i].possible, "case %u", i);
      if (cases[i].possible)
        assert_sizes ((XpInts){ strides, cases[i].to.length }, cases[i].expected);
    }
}
END_TEST

START_TEST (a_tensor_like_another_keeps_the_order_of_its_dimensions)
{
  const struct
  {
    XpInts shape, strides, expected;
  } cases[] = {
    { XP_INTS (2, 3), XP_INTS (3, 1), XP_INTS (3, 1) },
    { XP_INTS (2, 3), XP_INTS (1, 2), XP_INTS (1, 2) },
    { XP_INTS (2, 3), XP_INTS (6, 2), XP_INTS (3, 1) },
    { XP_INTS (3, 2), XP_INTS (1, 6), XP_INTS (1, 3) },
    { XP_INTS (2, 3), XP_INTS (0, 1), XP_INTS (3, 1) },
    { XP_INTS (2, 3, 4), XP_INTS (1, 0, 2), XP_INTS (1, 2, 6) },
    { XP_INTS (2, 3, 4), XP_INTS (4, 8, 1), XP_INTS (4, 8, 1) },
    { XP_INTS (2, 3, 4, 5), XP_INTS (60, 1, 15, 3), XP_INTS (60, 1, 15, 3) },
    { XP_INTS (2, 1, 3), XP_INTS (3, 77, 1), XP_INTS (3, 77, 1) },
    { XP_INTS (0, 3), XP_INTS (5, 7), XP_INTS (5, 7) },
    { XP_INTS (2, 2), XP_INTS (1, 1), XP_INTS (2, 1) },
    { XP_INTS (3, 2, 2), XP_INTS (1, 4, 4), XP_INTS (1, 6, 3) },
    { XP_INTS (4), XP_INTS (3), XP_INTS (1) },
    { XP_INTS (3, 1, 2), XP_INTS (1, 0, 9), XP_INTS (1, 3, 3) },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      int64_t strides[4];
      g_autoptr (XpTensor) tensor = strided_new (cases[i].shape, cases[i].strides);
      xp_like_strides (tensor, strides);
      assert_sizes ((XpInts){ strides, cases[i].shape.length }, cases[i].expected);
    }
}
END_TEST

/* Operands are tensors of 0 or 1 dimensions, or Scalars: SCALAR is the flagged tensor. */
enum
{
  SCALAR = -1
};

START_TEST (result_types_are_those_of_pytorch)
{
  const struct
  {
    struct
    {
      XpDType dtype;
      int n_dims;
    } operands[2];
    XpDType result;
  } cases[] = {
    { { { XP_INT32, 1 }, { XP_INT64, 0 } }, XP_INT32 },
    { { { XP_INT32, 1 }, { XP_FLOAT16, 0 } }, XP_FLOAT16 },
    { { { XP_FLOAT16, 1 }, { XP_FLOAT64, 0 } }, XP_FLOAT16 },
    { { { XP_BOOL, 1 }, { XP_INT8, 0 } }, XP_INT8 },
    { { { XP_UINT8, 1 }, { XP_INT8, 1 } }, XP_INT16 },
    { { { XP_FLOAT32, 1 }, { XP_COMPLEX128, 0 } }, XP_COMPLEX64 },
    { { { XP_FLOAT64, 1 }, { XP_COMPLEX64, 0 } }, XP_COMPLEX128 },
    { { { XP_INT64, 0 }, { XP_INT32, 1 } }, XP_INT32 },
    { { { XP_BFLOAT16, 1 }, { XP_FLOAT16, 0 } }, XP_BFLOAT16 },
    { { { XP_INT64, 1 }, { XP_FLOAT64, 0 } }, XP_FLOAT64 },
    { { { XP_INT32, 0 }, { XP_INT64, 0 } }, XP_INT64 },
    { { { XP_COMPLEX64, 1 }, { XP_FLOAT64, 0 } }, XP_COMPLEX64 },
    { { { XP_COMPLEX64, 1 }, { XP_FLOAT64, 1 } }, XP_COMPLEX128 },
    { { { XP_INT32, 1 }, { XP_INT64, SCALAR } }, XP_INT32 },
    { { { XP_INT32, 1 }, { XP_FLOAT64, SCALAR } }, XP_FLOAT32 },
    { { { XP_UINT8, 1 }, { XP_BOOL, SCALAR } }, XP_UINT8 },
    { { { XP_BOOL, 1 }, { XP_INT64, SCALAR } }, XP_INT64 },
    { { { XP_BOOL, 1 }, { XP_FLOAT64, SCALAR } }, XP_FLOAT32 },
    { { { XP_FLOAT16, 1 }, { XP_FLOAT64, SCALAR } }, XP_FLOAT16 },
    { { { XP_FLOAT64, 0 }, { XP_FLOAT64, SCALAR } }, XP_FLOAT64 },
    { { { XP_INT64, 0 }, { XP_FLOAT64, SCALAR } }, XP_FLOAT32 },
    { { { XP_FLOAT32, 1 }, { XP_COMPLEX128, SCALAR } }, XP_COMPLEX64 },
    { { { XP_FLOAT64, 1 }, { XP_COMPLEX128, SCALAR } }, XP_COMPLEX128 },
    { { { XP_INT8, 1 }, { XP_COMPLEX128, SCALAR } }, XP_COMPLEX64 },
    { { { XP_BFLOAT16, 0 }, { XP_INT64, SCALAR } }, XP_BFLOAT16 },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    for (int boxed = 0; boxed < 2; boxed++) /* a Scalar as a value, or put into a tensor */
      {
        XpResultType state = { 0 };
        for (int j = 0; j < 2; j++)
          {
            XpDType dtype = cases[i].operands[j].dtype;
            gboolean is_scalar = cases[i].operands[j].n_dims == SCALAR;
            size_t n = is_scalar ? 0 : (size_t) cases[i].operands[j].n_dims;
            g_autoptr (XpTensor) tensor = xp_tensor_new (dtype, (XpInts){ (int64_t[]){ 2 }, n },
                                                         XP_CPU, &error);
            assert_no_error (error);
            xp_tensor_set_element (tensor, 0, xp_value_int (1));
            g_auto (XpValue) scalar = xp_tensor_get_element (tensor, 0);
            g_autoptr (XpTensor) flagged = xp_tensor_new_scalar (scalar, -1, XP_CPU, &error);
            assert_no_error (error);
            if (is_scalar && boxed)
              xp_result_type_add_scalar (&state, scalar);
            else
              xp_result_type_add_tensor (&state, is_scalar ? flagged : tensor);
          }
        ck_assert_msg (xp_result_type_finish (&state) == cases[i].result, "case %u gives %s", i,
                       xp_dtype_name (xp_result_type_finish (&state)));
      }
  XpResultType nothing = { 0 };
  ck_assert_int_eq (xp_result_type_finish (&nothing), XP_FLOAT32);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("shapes");
  TCase *sizes = tcase_create ("sizes");
  tcase_add_checked_fixture (sizes, set_up, NULL);
  tcase_add_test (sizes, shapes_print_as_lists);
  tcase_add_test (sizes, a_shape_has_no_negative_size_and_64_dimensions);
  tcase_add_test (sizes, elements_are_counted_up_to_2_to_the_63);
  tcase_add_test (sizes, shapes_broadcast);
  tcase_add_test (sizes, dimensions_count_from_the_end_too);
  tcase_add_test (sizes, one_size_is_inferred);
  suite_add_tcase (suite, sizes);
  TCase *strides = tcase_create ("strides");
  tcase_add_checked_fixture (strides, set_up, NULL);
  tcase_add_test (strides, row_major_strides_count_zero_as_one);
  tcase_add_test (strides, a_repeated_dimension_has_stride_zero);
  tcase_add_test (strides, a_view_in_another_shape_has_strides_or_none);
  tcase_add_test (strides, a_tensor_like_another_keeps_the_order_of_its_dimensions);
  suite_add_tcase (suite, strides);
  TCase *types = tcase_create ("types");
  tcase_add_checked_fixture (types, set_up, NULL);
  tcase_add_test (types, result_types_are_those_of_pytorch);
  suite_add_tcase (suite, types);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
