/* SPDX-License-Identifier: MIT
 *
 * dtypes.c: element types, layouts and memory formats. The tables are what PyTorch 1.13 says
 * (torch.promote_types, torch.can_cast).
 */
#include "suite.h"

#include <string.h>

enum
{
  U8 = XP_UINT8,
  I8 = XP_INT8,
  I16 = XP_INT16,
  I32 = XP_INT32,
  I64 = XP_INT64,
  F16 = XP_FLOAT16,
  BF16 = XP_BFLOAT16,
  F32 = XP_FLOAT32,
  F64 = XP_FLOAT64,
  C64 = XP_COMPLEX64,
  C128 = XP_COMPLEX128,
  BOOL = XP_BOOL
};

/* The order of the rows and columns of both tables. */
static const uint8_t order[] = { U8, I8, I16, I32, I64, F16, BF16, F32, F64, C64, C128, BOOL };

START_TEST (promotion_is_that_of_pytorch)
{
  static const uint8_t expected[12][12] = {
    { U8, I16, I16, I32, I64, F16, BF16, F32, F64, C64, C128, U8 },             /* uint8 */
    { I16, I8, I16, I32, I64, F16, BF16, F32, F64, C64, C128, I8 },             /* int8 */
    { I16, I16, I16, I32, I64, F16, BF16, F32, F64, C64, C128, I16 },           /* int16 */
    { I32, I32, I32, I32, I64, F16, BF16, F32, F64, C64, C128, I32 },           /* int32 */
    { I64, I64, I64, I64, I64, F16, BF16, F32, F64, C64, C128, I64 },           /* int64 */
    { F16, F16, F16, F16, F16, F16, F32, F32, F64, C64, C128, F16 },            /* float16 */
    { BF16, BF16, BF16, BF16, BF16, F32, BF16, F32, F64, C64, C128, BF16 },     /* bfloat16 */
    { F32, F32, F32, F32, F32, F32, F32, F32, F64, C64, C128, F32 },            /* float32 */
    { F64, F64, F64, F64, F64, F64, F64, F64, F64, C128, C128, F64 },           /* float64 */
    { C64, C64, C64, C64, C64, C64, C64, C64, C128, C64, C128, C64 },           /* complex64 */
    { C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128, C128 }, /* complex128 */
    { U8, I8, I16, I32, I64, F16, BF16, F32, F64, C64, C128, BOOL },            /* bool */
  };
  for (unsigned a = 0; a < XP_LENGTH (order); a++)
    for (unsigned b = 0; b < XP_LENGTH (order); b++)
      {
        XpDType found = xp_dtype_promote ((XpDType) order[a], (XpDType) order[b]);
        ck_assert_msg (found == (XpDType) expected[a][b], "%s with %s gives %s",
                       xp_dtype_name ((XpDType) order[a]), xp_dtype_name ((XpDType) order[b]),
                       xp_dtype_name (found));
      }
}
END_TEST

START_TEST (casting_is_that_of_pytorch)
{
  static const char *const expected[] = {
    "11111111111.", /* uint8 */
    "11111111111.", /* int8 */
    "11111111111.", /* int16 */
    "11111111111.", /* int32 */
    "11111111111.", /* int64 */
    ".....111111.", /* float16 */
    ".....111111.", /* bfloat16 */
    ".....111111.", /* float32 */
    ".....111111.", /* float64 */
    ".........11.", /* complex64 */
    ".........11.", /* complex128 */
    "111111111111", /* bool */
  };
  for (unsigned from = 0; from < XP_LENGTH (order); from++)
    for (unsigned to = 0; to < XP_LENGTH (order); to++)
      ck_assert_msg (xp_dtype_can_cast ((XpDType) order[from], (XpDType) order[to])
                         == (expected[from][to] == '1'),
                     "%s to %s", xp_dtype_name ((XpDType) order[from]),
                     xp_dtype_name ((XpDType) order[to]));
}
END_TEST

START_TEST (every_type_has_its_facts)
{
  static const struct
  {
    int number;
    const char *name;
    const char *message_name;
    size_t size;
    XpDTypeCategory category;
  } facts[] = {
    { 0, "uint8", "Byte", 1, XP_CATEGORY_INTEGER },
    { 1, "int8", "Char", 1, XP_CATEGORY_INTEGER },
    { 2, "int16", "Short", 2, XP_CATEGORY_INTEGER },
    { 3, "int32", "Int", 4, XP_CATEGORY_INTEGER },
    { 4, "int64", "Long", 8, XP_CATEGORY_INTEGER },
    { 5, "float16", "Half", 2, XP_CATEGORY_FLOAT },
    { 6, "float32", "Float", 4, XP_CATEGORY_FLOAT },
    { 7, "float64", "Double", 8, XP_CATEGORY_FLOAT },
    { 9, "complex64", "ComplexFloat", 8, XP_CATEGORY_COMPLEX },
    { 10, "complex128", "ComplexDouble", 16, XP_CATEGORY_COMPLEX },
    { 11, "bool", "Bool", 1, XP_CATEGORY_BOOL },
    { 15, "bfloat16", "BFloat16", 2, XP_CATEGORY_FLOAT },
  };
  unsigned n_valid = 0;
  for (int64_t number = -2; number < 300; number++)
    n_valid += xp_dtype_is_valid (number) != 0;
  ck_assert_uint_eq (n_valid, XP_LENGTH (facts));
  for (unsigned i = 0; i < XP_LENGTH (facts); i++)
    {
      XpDType dtype = (XpDType) facts[i].number, parsed;
      ck_assert (xp_dtype_is_valid (facts[i].number));
      ck_assert_str_eq (xp_dtype_name (dtype), facts[i].name);
      ck_assert_str_eq (xp_dtype_message_name (dtype), facts[i].message_name);
      ck_assert_uint_eq (xp_dtype_size (dtype), facts[i].size);
      ck_assert_int_eq (xp_dtype_category (dtype), facts[i].category);
      ck_assert_int_eq (xp_dtype_is_floating (dtype), facts[i].category == XP_CATEGORY_FLOAT);
      ck_assert (xp_dtype_parse (facts[i].name, &parsed));
      ck_assert_int_eq (parsed, dtype);
    }
  ck_assert_str_eq (xp_dtype_name ((XpDType) 8), "unknown");
  ck_assert_uint_eq (xp_dtype_size ((XpDType) 99), 0);
}
END_TEST

START_TEST (other_names_of_types_parse)
{
  static const struct
  {
    const char *name;
    XpDType dtype;
  } names[] = {
    { "byte", XP_UINT8 },
    { "char", XP_INT8 },
    { "short", XP_INT16 },
    { "int", XP_INT32 },
    { "long", XP_INT64 },
    { "half", XP_FLOAT16 },
    { "float", XP_FLOAT32 },
    { "double", XP_FLOAT64 },
    { "cfloat", XP_COMPLEX64 },
    { "cdouble", XP_COMPLEX128 },
    { "torch.float32", XP_FLOAT32 },
    { "torch.long", XP_INT64 },
  };
  XpDType dtype = XP_BOOL;
  for (unsigned i = 0; i < XP_LENGTH (names); i++)
    {
      ck_assert_msg (xp_dtype_parse (names[i].name, &dtype), "%s", names[i].name);
      ck_assert_int_eq (dtype, names[i].dtype);
    }
  static const char *const wrong[] = {
    "", "Float", "float3", "float322", "torch.", "uint16", "f4"
  };
  for (unsigned i = 0; i < XP_LENGTH (wrong); i++)
    ck_assert_msg (!xp_dtype_parse (wrong[i], &dtype), "%s", wrong[i]);
  ck_assert_int_eq (dtype, XP_INT64); /* a failure leaves it */
}
END_TEST

START_TEST (layouts_and_formats_parse_to_themselves)
{
  XpLayout layout;
  XpMemoryFormat format;
  for (int i = XP_STRIDED; i <= XP_MKLDNN; i++)
    {
      ck_assert (xp_layout_parse (xp_layout_name ((XpLayout) i), &layout));
      ck_assert_int_eq (layout, i);
    }
  for (int i = XP_CONTIGUOUS_FORMAT; i <= XP_CHANNELS_LAST_3D; i++)
    {
      ck_assert (xp_memory_format_parse (xp_memory_format_name ((XpMemoryFormat) i), &format));
      ck_assert_int_eq (format, i);
    }
  ck_assert_str_eq (xp_layout_name (XP_SPARSE_COO), "sparse_coo");
  ck_assert_str_eq (xp_memory_format_name (XP_CHANNELS_LAST), "channels_last");
  ck_assert (xp_layout_parse ("torch.sparse_csr", &layout));
  ck_assert_int_eq (layout, XP_SPARSE_CSR);
  ck_assert (xp_memory_format_parse ("torch.preserve_format", &format));
  ck_assert_int_eq (format, XP_PRESERVE_FORMAT);
  ck_assert (!xp_layout_parse ("dense", &layout));
  ck_assert (!xp_memory_format_parse ("contiguous", &format));
  ck_assert_str_eq (xp_layout_name ((XpLayout) 77), "unknown");
  ck_assert_str_eq (xp_memory_format_name ((XpMemoryFormat) -1), "unknown");
}
END_TEST

START_TEST (devices_parse_to_themselves)
{
  static const struct
  {
    const char *text;
    int backend;
    int index;
  } good[] = {
    { "cpu", XP_BACKEND_CPU, -1 },        { "cpu:0", XP_BACKEND_CPU, 0 },
    { "cuda", XP_BACKEND_CUDA, -1 },      { "cuda:0", XP_BACKEND_CUDA, 0 },
    { "cuda:127", XP_BACKEND_CUDA, 127 }, { "meta", XP_BACKEND_Meta, -1 },
  };
  static const char *const wrong[] = { "",          "CPU",     "cuda:",  "cuda:-1", "cuda:01",
                                       "cuda:1000", "cuda:1x", "cuda 1", ":1",      "gpu" };
  GError *error = NULL;
  XpDevice device;
  for (unsigned i = 0; i < XP_LENGTH (good); i++)
    {
      ck_assert (xp_device_parse (good[i].text, &device, &error));
      assert_no_error (error);
      ck_assert_int_eq (device.backend, good[i].backend);
      ck_assert_int_eq (device.index, good[i].index);
      g_autofree char *text = xp_device_to_string (device);
      ck_assert_str_eq (text, good[i].text);
    }
  for (unsigned i = 0; i < XP_LENGTH (wrong); i++)
    {
      ck_assert_msg (!xp_device_parse (wrong[i], &device, &error), "%s", wrong[i]);
      ck_assert_ptr_nonnull (xp_error_get_details (error)->candidates);
      g_autofree char *part = g_strdup_printf ("'%s' is no device: expected one of", wrong[i]);
      assert_error (error, XP_ERROR_INVALID_ARGUMENT, part);
    }
  ck_assert (xp_device_equal (XP_CPU, (XpDevice){ XP_BACKEND_CPU, 0 }));
  ck_assert (!xp_device_equal ((XpDevice){ XP_BACKEND_CUDA, 1 }, (XpDevice){ XP_BACKEND_CUDA, 0 }));
  ck_assert (!xp_device_equal (XP_CPU, XP_META));
}
END_TEST

START_TEST (errors_carry_what_they_are_about)
{
  GError *error = NULL;
  XpErrorDetails details = { .op = (char *) "aten::gelu",
                             .key = (char *) "SparseCPU",
                             .candidates = (char *[]){ (char *) "CPU", (char *) "Meta", NULL } };
  xp_error_set (&error, XP_ERROR_INDEX, &details, "expected %d", 3);
  ck_assert_str_eq (error->message, "expected 3");
  g_autoptr (GError) copy = g_error_copy (error);
  g_clear_error (&error);
  const XpErrorDetails *found = xp_error_get_details (copy);
  ck_assert_str_eq (found->op, "aten::gelu");
  ck_assert_str_eq (found->key, "SparseCPU");
  ck_assert_ptr_null (found->argument);
  ck_assert_ptr_null (found->plugin);
  ck_assert_str_eq (found->candidates[1], "Meta");
  ck_assert_ptr_null (found->candidates[2]);

  xp_error_set (NULL, XP_ERROR_INDEX, NULL, "nobody asks");
  g_autoptr (GError) plain = g_error_new_literal (XP_ERROR, XP_ERROR_SHAPE, "no details");
  ck_assert_ptr_null (xp_error_get_details (plain)->op);
  g_autoptr (GError) other = g_error_new_literal (G_FILE_ERROR, 0, "another domain");
  ck_assert_ptr_null (xp_error_get_details (other));
}
END_TEST

START_TEST (errors_have_the_classes_of_python)
{
  static const struct
  {
    XpError code;
    const char *klass;
    gboolean is_a;
  } cases[] = {
    { XP_ERROR_INDEX, "IndexError", TRUE },
    { XP_ERROR_INDEX, "LookupError", TRUE },
    { XP_ERROR_INDEX, "Exception", TRUE },
    { XP_ERROR_INDEX, "RuntimeError", FALSE },
    { XP_ERROR_RECURSION, "RecursionError", TRUE },
    { XP_ERROR_RECURSION, "RuntimeError", TRUE },
    { XP_ERROR_DECLINED, "NotImplementedError", TRUE },
    { XP_ERROR_DECLINED, "RuntimeError", TRUE },
    { XP_ERROR_PLUGIN_NOT_FOUND, "OSError", TRUE },
    { XP_ERROR_PLUGIN_NOT_FOUND, "FileNotFoundError", TRUE },
    { XP_ERROR_FILE_FORMAT, "ValueError", TRUE },
    { XP_ERROR_FILE_FORMAT, "OSError", FALSE },
    { XP_ERROR_SHAPE, "Nonsense", FALSE },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    ck_assert_msg (xp_error_is_a (cases[i].code, cases[i].klass) == cases[i].is_a, "%s is a %s",
                   xp_error_name (cases[i].code), cases[i].klass);
  for (int code = 0; code < XP_N_ERRORS; code++)
    {
      ck_assert (xp_error_is_a ((XpError) code, "Exception"));
      ck_assert (g_str_has_suffix (xp_error_meaning ((XpError) code), "."));
      ck_assert (g_str_has_suffix (xp_error_next_step ((XpError) code), "."));
    }
  ck_assert_str_eq (xp_error_name (XP_ERROR_FILE_IO), "FILE_IO");
  ck_assert_str_eq (xp_error_name ((XpError) 9999), "UNKNOWN");
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("dtypes");
  TCase *types = tcase_create ("types");
  tcase_add_test (types, promotion_is_that_of_pytorch);
  tcase_add_test (types, casting_is_that_of_pytorch);
  tcase_add_test (types, every_type_has_its_facts);
  tcase_add_test (types, other_names_of_types_parse);
  suite_add_tcase (suite, types);
  TCase *others = tcase_create ("others");
  tcase_add_test (others, layouts_and_formats_parse_to_themselves);
  tcase_add_test (others, devices_parse_to_themselves);
  tcase_add_test (others, errors_carry_what_they_are_about);
  tcase_add_test (others, errors_have_the_classes_of_python);
  suite_add_tcase (suite, others);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
