/* SPDX-License-Identifier: MIT
 *
 * elements.c: single elements: conversion of Scalars to each element type and back, and the two
 * narrow floating-point formats.
 */
#include "suite.h"

#include <math.h>
#include <string.h>

static XpTensor *
single_new (XpDType dtype)
{
  GError *error = NULL;
  XpTensor *tensor = xp_tensor_new (dtype, (XpInts){ NULL, 0 }, XP_CPU, &error);
  assert_no_error (error);
  return tensor;
}

START_TEST (a_scalar_is_converted_to_every_type)
{
  static const struct
  {
    XpDType dtype;
    double number;
    const char *text;
  } cases[] = {
    { XP_UINT8, 200.9, "200" },
    { XP_UINT8, -1, "255" },
    { XP_INT8, 200, "-56" },
    { XP_INT16, -32768, "-32768" },
    { XP_INT32, -2.5, "-2" },
    { XP_INT64, 4611686018427387904.0, "4611686018427387904" },
    { XP_BOOL, 0.5, "True" },
    { XP_BOOL, -0.0, "False" },
    { XP_BOOL, NAN, "True" },
    { XP_FLOAT16, 0.1, "0.0999755859375" },
    { XP_BFLOAT16, 0.1, "0.10009765625" },
    { XP_FLOAT32, 0.1, "0.10000000149011612" },
    { XP_FLOAT64, 0.1, "0.1" },
    { XP_COMPLEX64, 0.5, "0.5+0.0j" },
    { XP_COMPLEX128, 0.1, "0.1+0.0j" },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) tensor = single_new (cases[i].dtype);
      xp_tensor_set_element (tensor, 0, xp_value_float (cases[i].number));
      g_auto (XpValue) value = xp_tensor_get_element (tensor, 0);
      g_autofree char *text = xp_value_to_string (value);
      ck_assert_str_eq (text, cases[i].text);
    }
}
END_TEST

START_TEST (a_complex_number_keeps_both_parts_or_its_real_one)
{
  g_auto (XpValue) number = xp_value_complex (0, -2);
  static const struct
  {
    XpDType dtype;
    const char *text;
  } cases[] = {
    { XP_COMPLEX64, "0.0-2.0j" },
    { XP_COMPLEX128, "0.0-2.0j" },
    { XP_FLOAT32, "0.0" },
    { XP_BOOL, "True" },
    { XP_INT32, "0" },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) tensor = single_new (cases[i].dtype);
      xp_tensor_set_element (tensor, 0, number);
      g_auto (XpValue) value = xp_tensor_get_element (tensor, 0);
      g_autofree char *text = xp_value_to_string (value);
      ck_assert_str_eq (text, cases[i].text);
    }
}
END_TEST

START_TEST (elements_are_numbered_row_by_row_whatever_the_strides)
{
  GError *error = NULL;
  const int32_t data[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
  g_autoptr (XpTensor) base = xp_tensor_new_copy_of (XP_INT32, XP_INTS (3, 4), data, &error);
  g_autoptr (XpTensor) view = xp_tensor_new_view (base, XP_INTS (2, 2, 3), XP_INTS (1, 0, 4), 1,
                                                  &error);
  assert_no_error (error);
  static const int expected[] = { 1, 5, 9, 1, 5, 9, 2, 6, 10, 2, 6, 10 };
  for (unsigned i = 0; i < XP_LENGTH (expected); i++)
    ck_assert_int_eq (xp_tensor_get_element (view, i).as.integer, expected[i]);
  xp_tensor_set_element (view, 7, xp_value_int (-6));
  ck_assert_int_eq (((int32_t *) xp_tensor_data (base))[6], -6);
}
END_TEST

/* Numbers in float32 with their bits as IEEE 754 rounds them: to nearest, ties to even. */
static const struct
{
  float number;
  uint16_t half;
  uint16_t bfloat16;
} narrow[] = {
  { 0.0f, 0x0000, 0x0000 },
  { -0.0f, 0x8000, 0x8000 },
  { 1.0f, 0x3c00, 0x3f80 },
  { -2.5f, 0xc100, 0xc020 },
  { 0x1.002p0f, 0x3c00, 0x3f80 },      /* halfway to the next half: to even, down */
  { 0x1.006p0f, 0x3c02, 0x3f80 },      /* halfway: to even, up */
  { 0x1.00200002p0f, 0x3c00, 0x3f80 }, /* the same number in float32 */
  { 0x1.002002p0f, 0x3c01, 0x3f80 },   /* just above halfway */
  { 0x1.01p0f, 0x3c04, 0x3f80 },       /* halfway to the next bfloat16: to even, down */
  { 0x1.03p0f, 0x3c0c, 0x3f82 },       /* halfway: to even, up */
  { 65504.0f, 0x7bff, 0x4780 },
  { 0x1.ffdffep15f, 0x7bff, 0x4780 }, /* the last that is nearer to 65504 than to infinity */
  { 65520.0f, 0x7c00, 0x4780 },
  { 0x1p-14f, 0x0400, 0x3880 },
  { 0x1.ff8p-15f, 0x03ff, 0x3880 }, /* the largest half that is not normal */
  { 0x1.ffcp-15f, 0x0400, 0x3880 }, /* halfway: to even, which is normal */
  { 0x1p-24f, 0x0001, 0x3380 },
  { 0x1p-25f, 0x0000, 0x3300 },
  { 0x1.8p-25f, 0x0001, 0x3340 },
  { -0x1.8p-24f, 0x8002, 0xb3c0 },
  { 0x1p-149f, 0x0000, 0x0000 },
  { INFINITY, 0x7c00, 0x7f80 },
  { -INFINITY, 0xfc00, 0xff80 },
  { 0x1.fffffep127f, 0x7c00, 0x7f80 },
};

START_TEST (narrow_floats_round_to_nearest_even)
{
  uint16_t bits;
  g_autoptr (XpTensor) half = single_new (XP_FLOAT16);
  g_autoptr (XpTensor) bfloat16 = single_new (XP_BFLOAT16);
  xp_tensor_set_element (half, 0, xp_value_float (narrow[_i].number));
  memcpy (&bits, xp_tensor_data (half), sizeof bits);
  ck_assert_uint_eq (bits, narrow[_i].half);
  xp_tensor_set_element (bfloat16, 0, xp_value_float (narrow[_i].number));
  memcpy (&bits, xp_tensor_data (bfloat16), sizeof bits);
  ck_assert_uint_eq (bits, narrow[_i].bfloat16);
}
END_TEST

START_TEST (every_narrow_float_survives_a_round_trip)
{
  for (int i = 0; i < 2; i++)
    {
      g_autoptr (XpTensor) from = single_new (i == 0 ? XP_FLOAT16 : XP_BFLOAT16);
      g_autoptr (XpTensor) to = single_new (i == 0 ? XP_FLOAT16 : XP_BFLOAT16);
      for (uint32_t number = 0; number <= 0xffff; number++)
        {
          uint16_t bits = (uint16_t) number, back;
          memcpy (xp_tensor_data (from), &bits, sizeof bits);
          XpValue value = xp_tensor_get_element (from, 0);
          xp_tensor_set_element (to, 0, value);
          memcpy (&back, xp_tensor_data (to), sizeof back);
          uint16_t infinity = i == 0 ? 0x7c00 : 0x7f80;
          ck_assert_int_eq (isnan (value.as.number), (bits & 0x7fff) > infinity);
          if (!isnan (value.as.number))
            ck_assert_uint_eq (back, bits);
          else
            ck_assert_uint_gt (back & 0x7fff, infinity);
        }
    }
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("elements");
  TCase *elements = tcase_create ("elements");
  tcase_add_test (elements, a_scalar_is_converted_to_every_type);
  tcase_add_test (elements, a_complex_number_keeps_both_parts_or_its_real_one);
  tcase_add_test (elements, elements_are_numbered_row_by_row_whatever_the_strides);
  tcase_add_loop_test (elements, narrow_floats_round_to_nearest_even, 0, XP_LENGTH (narrow));
  tcase_add_test (elements, every_narrow_float_survives_a_round_trip);
  suite_add_tcase (suite, elements);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
