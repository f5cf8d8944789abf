/* SPDX-License-Identifier: MIT
 *
 * Matching: the arguments of a call in order, converted and completed, and what is said when they
 * do not fit (reference 4.6).
 */
#include "schemas.h"

#include <crosspoint/tensor.h>

#define MAXIMUM 64

static XpValue arguments[MAXIMUM];

static void
clear_arguments (void)
{
  xp_values_clear (arguments, MAXIMUM);
  free_schema ();
}

/* Calls @text with @n values by position. */
static gboolean
match (const char *text, const XpValue *values, size_t n, GError **error)
{
  xp_values_clear (arguments, MAXIMUM);
  return xp_schema_match (schema_of (text), values, n, NULL, NULL, 0, arguments, error);
}

/* `f(@type x) -> ()` called with @value. */
static gboolean
match_one (const char *type, XpValue value, GError **error)
{
  g_autofree char *text = g_strdup_printf ("f(%s x) -> ()", type);
  return match (text, &value, 1, error);
}

static XpTensor *
small_tensor (void)
{
  GError *error = NULL;
  float data[] = { 1, 2 };
  XpTensor *tensor = xp_tensor_new_copy_of (XP_FLOAT32, XP_INTS (2), data, &error);
  assert_no_error (error);
  return tensor;
}

START_TEST (arguments_come_by_place_and_by_name)
{
  const char *const names[] = { "d", "b" };
  const XpValue named[] = { xp_value_int (4), xp_value_int (2) };
  const XpValue positional[] = { xp_value_int (1) };
  GError *error = NULL;
  const XpSchema *schema = schema_of ("f(int a, int b, int c=3, *, int d) -> ()");
  ck_assert (xp_schema_match (schema, positional, 1, names, named, 2, arguments, &error));
  assert_no_error (error);
  for (int i = 0; i < 4; i++)
    ck_assert (xp_value_equal (arguments[i], xp_value_int (i + 1)));
}
END_TEST

START_TEST (defaults_fill_in_the_rest)
{
  GError *error = NULL;
  ck_assert (match ("f(str a='x', int[2] b=1, int[3]? c=2, Tensor d=None, ScalarType e=float, "
                    "float? f=None, *, Tensor? g=None) -> ()",
                    NULL, 0, &error));
  assert_no_error (error);
  ck_assert_str_eq (xp_string_text (arguments[0].as.string), "x");
  ck_assert_uint_eq (arguments[1].length, 2);
  ck_assert_uint_eq (arguments[2].tag, XP_TAG_LIST);
  ck_assert_mem_eq (xp_list_ints (arguments[2].as.list), ((int64_t[]){ 2, 2, 2 }), 24);
  ck_assert_uint_eq (arguments[3].tag, XP_TAG_NONE);
  ck_assert (xp_value_equal (arguments[4], xp_value_dtype (XP_FLOAT32)));
  ck_assert_uint_eq (arguments[5].tag, XP_TAG_NONE);
}
END_TEST

START_TEST (numbers_are_converted)
{
  ck_assert (match_one ("float", xp_value_int (2), NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_float (2)));
  ck_assert (match_one ("float?", xp_value_bool (TRUE), NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_float (1)));
  ck_assert (match_one ("complex", xp_value_float (1.5), NULL));
  g_auto (XpValue) complex_ = xp_value_complex (1.5, 0);
  ck_assert (xp_value_equal (arguments[0], complex_));
  ck_assert (match_one ("Scalar", xp_value_int (2), NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_int (2)));
}
END_TEST

START_TEST (one_number_fills_a_fixed_list)
{
  ck_assert (match_one ("int[2]", xp_value_int (5), NULL));
  ck_assert_mem_eq (xp_list_ints (arguments[0].as.list), ((int64_t[]){ 5, 5 }), 16);
  ck_assert (match_one ("SymInt[1]?", xp_value_int (5), NULL));
  ck_assert_uint_eq (xp_list_length (arguments[0].as.list), 1);
  ck_assert (match_one ("float[2]", xp_value_int (5), NULL));
  ck_assert_double_eq (xp_list_floats (arguments[0].as.list)[1], 5);
  ck_assert (match_one ("int[2]?", XP_NONE, NULL));
  ck_assert_uint_eq (arguments[0].tag, XP_TAG_NONE);
  ck_assert (!match_one ("int[]", xp_value_int (5), NULL));
  ck_assert (!match_one ("int[2]", xp_value_float (5), NULL));
}
END_TEST

START_TEST (lists_are_converted_whole)
{
  const XpValue mixed[] = { xp_value_int (1), xp_value_float (2.5), xp_value_bool (TRUE) };
  g_autoptr (XpList) ints = xp_list_new_int ((int64_t[]){ 1, 2 }, 2);
  g_autoptr (XpList) numbers = xp_list_new (mixed, 3);
  ck_assert (match_one ("float[]", xp_value_list (ints), NULL));
  ck_assert_double_eq (xp_list_floats (arguments[0].as.list)[1], 2);
  ck_assert (match_one ("float[]", xp_value_list (numbers), NULL));
  ck_assert_double_eq (xp_list_floats (arguments[0].as.list)[2], 1);
  ck_assert (match_one ("int[]", xp_value_list (ints), NULL));
  ck_assert_ptr_eq (arguments[0].as.list, ints);
  ck_assert (match_one ("complex[]", xp_value_list (ints), NULL));
  ck_assert_uint_eq (xp_list_get (arguments[0].as.list, 0).tag, XP_TAG_COMPLEX);
  ck_assert (match_one ("(float, int)", xp_value_list (ints), NULL));
  ck_assert_uint_eq (xp_list_get (arguments[0].as.list, 0).tag, XP_TAG_FLOAT);
  ck_assert_uint_eq (xp_list_get (arguments[0].as.list, 1).tag, XP_TAG_INT);
}
END_TEST

/* A kernel reads xp_list_tensors() of any list of tensors. */
START_TEST (a_list_of_nothing_but_none_is_one_of_tensors)
{
  const XpValue nothing[] = { XP_NONE, XP_NONE };
  g_autoptr (XpList) list = xp_list_new (nothing, 2);
  ck_assert_ptr_null (xp_list_tensors (list));
  ck_assert (match_one ("Tensor?[]", xp_value_list (list), NULL));
  ck_assert_ptr_nonnull (xp_list_tensors (arguments[0].as.list));
  ck_assert_ptr_null (xp_list_tensors (arguments[0].as.list)[1]);
  ck_assert (!match_one ("Tensor[]", xp_value_list (list), NULL));
}
END_TEST

START_TEST (texts_are_read)
{
  XpDevice first_cuda;
  ck_assert (xp_device_parse ("cuda:0", &first_cuda, NULL));
  g_auto (XpValue) device = xp_value_string ("cuda:0");
  g_auto (XpValue) dtype = xp_value_string ("half");
  g_auto (XpValue) layout = xp_value_string ("sparse_coo");
  g_auto (XpValue) format = xp_value_string ("channels_last");
  ck_assert (match_one ("Device?", device, NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_device (first_cuda)));
  ck_assert (match_one ("ScalarType", dtype, NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_dtype (XP_FLOAT16)));
  ck_assert (match_one ("Layout", layout, NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_layout (XP_SPARSE_COO)));
  ck_assert (match_one ("MemoryFormat", format, NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_memory_format (XP_CHANNELS_LAST)));
  ck_assert (!match_one ("Device", dtype, NULL));
  ck_assert (!match_one ("int", dtype, NULL));
}
END_TEST

START_TEST (a_union_prefers_the_type_that_needs_no_conversion)
{
  ck_assert (match_one ("Union(float, int)", xp_value_int (3), NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_int (3)));
  ck_assert (match_one ("Union(float, str)", xp_value_int (3), NULL));
  ck_assert (xp_value_equal (arguments[0], xp_value_float (3)));
  ck_assert (!match_one ("Union(float, str)", XP_NONE, NULL));
}
END_TEST

START_TEST (a_value_that_is_kept_gets_a_reference)
{
  XpTensor *tensor = small_tensor ();
  ck_assert (match_one ("Tensor", xp_value_tensor (tensor), NULL));
  ck_assert_ptr_eq (arguments[0].as.tensor, tensor);
  xp_tensor_unref (tensor);
  ck_assert_int_eq (xp_tensor_size (arguments[0].as.tensor, 0), 2);
}
END_TEST

/* What each type takes, and what it does not: PyTorch's rules. */
START_TEST (types_accept_what_a_call_may_pass)
{
  XpTensor *tensor = small_tensor ();
  g_auto (XpValue) text = xp_value_string ("cpu");
  g_auto (XpValue) list = xp_value_list (xp_list_new (NULL, 0));
  g_auto (XpValue) dict = xp_value_dict (xp_dict_new (NULL, NULL, 0));
  g_auto (XpValue) generator = xp_value_generator (xp_generator_new (XP_CPU, 1));
  g_auto (XpValue) pool = xp_value_opaque (xp_opaque_new ("my.Pool", NULL, NULL));
  g_auto (XpValue) stream = xp_value_opaque (xp_opaque_new ("Stream", NULL, NULL));
  g_auto (XpValue) future = xp_value_opaque (xp_opaque_new ("Future(int)", NULL, NULL));
  g_auto (XpValue) number = xp_value_complex (1, 2);
  g_auto (XpValue) held = xp_value_tensor (tensor);
  const struct
  {
    const char *type;
    XpValue value;
    gboolean accepted;
  } cases[] = {
    { "int", xp_value_int (1), TRUE },
    { "int", xp_value_bool (TRUE), FALSE },
    { "int", xp_value_float (1), FALSE },
    { "int", XP_NONE, FALSE },
    { "int?", XP_NONE, TRUE },
    { "int", held, FALSE },
    { "SymInt", xp_value_int (1), TRUE },
    { "DeviceIndex", xp_value_int (1), TRUE },
    { "bool", xp_value_bool (TRUE), TRUE },
    { "bool", xp_value_int (1), FALSE },
    { "SymBool", xp_value_bool (1), TRUE },
    { "float", xp_value_int (1), TRUE },
    { "float", number, FALSE },
    { "float", text, FALSE },
    { "complex", number, TRUE },
    { "complex", xp_value_int (1), TRUE },
    { "Scalar", number, TRUE },
    { "Scalar", xp_value_bool (TRUE), TRUE },
    { "Scalar", held, FALSE },
    { "str", text, TRUE },
    { "Dimname", text, TRUE },
    { "str", xp_value_int (1), FALSE },
    { "Tensor", held, TRUE },
    { "Tensor", XP_NONE, FALSE },
    { "Tensor?", XP_NONE, TRUE },
    { "Tensor", xp_value_int (1), FALSE },
    { "Tensor[]", list, TRUE },
    { "str[]", list, TRUE },
    { "()", list, TRUE },
    { "(int)", list, FALSE },
    { "int", list, FALSE },
    { "Tensor[2]", held, FALSE },
    { "Dict(str, int)", dict, TRUE },
    { "Dict(str, int)", list, FALSE },
    { "Generator", generator, TRUE },
    { "Generator?", XP_NONE, TRUE },
    { "Generator", pool, FALSE },
    { "my.Pool", pool, TRUE },
    { "my.Other", pool, FALSE },
    { "Stream", stream, TRUE },
    { "Storage", stream, FALSE },
    { "Future(int)", future, TRUE },
    { "Future(str)", future, FALSE },
    { "Capsule", pool, TRUE },
    { "AnyClassType", pool, TRUE },
    { "Any", pool, TRUE },
    { "Any", XP_NONE, TRUE },
    { "NoneType", XP_NONE, TRUE },
    { "NoneType", list, FALSE },
    { "Device", text, TRUE },
    { "Device", xp_value_device (XP_CPU), TRUE },
    { "ScalarType", text, FALSE },
    { "ScalarType", xp_value_dtype (XP_INT8), TRUE },
    { "ScalarType", xp_value_int (1), FALSE },
    { "Layout", xp_value_layout (XP_STRIDED), TRUE },
    { "MemoryFormat", xp_value_layout (XP_STRIDED), FALSE },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    ck_assert_msg (xp_type_accepts (type_of (cases[i].type), cases[i].value) == cases[i].accepted,
                   "%s and %s", cases[i].type, xp_tag_name ((XpTag) cases[i].value.tag));
}
END_TEST

START_TEST (a_variable_accepts_anything)
{
  const XpSchema *schema = schema_of ("aten::f(t x, t[] y) -> ()");
  g_autoptr (XpList) ints = xp_list_new_int ((int64_t[]){ 1 }, 1);
  ck_assert (xp_type_accepts (schema->arguments[0].type, XP_NONE));
  ck_assert (xp_type_accepts (schema->arguments[1].type, xp_value_list (ints)));
  ck_assert (!xp_type_accepts (schema->arguments[1].type, XP_NONE));
}
END_TEST

/* A text with a NUL in it names nothing, though what comes before the NUL does. */
START_TEST (a_text_is_read_whole)
{
  g_auto (XpValue) text = xp_value_string_with_length ("cpu\0x", 5);
  ck_assert (!match_one ("Device", text, NULL));
}
END_TEST

static void
assert_fails (const char *text, const XpValue *values, size_t n, const char *const *names,
              const XpValue *named, size_t n_named, const char *argument, const char *message)
{
  g_autoptr (GError) error = NULL;
  const XpSchema *schema = schema_of (text);
  g_autofree char *name = xp_schema_operator_name (schema);
  arguments[0] = xp_value_int (77);
  ck_assert (!xp_schema_match (schema, values, n, names, named, n_named, arguments, &error));
  ck_assert (g_error_matches (error, XP_ERROR, XP_ERROR_ARGUMENT));
  ck_assert_str_eq (error->message, message);
  ck_assert_str_eq (xp_error_get_details (error)->op, name);
  ck_assert_int_eq (g_strcmp0 (xp_error_get_details (error)->argument, argument), 0);
  for (uint32_t i = 0; i < schema->n_arguments; i++)
    ck_assert_uint_eq (arguments[i].tag, XP_TAG_NONE);
}

START_TEST (a_missing_argument_is_named)
{
  const XpValue one[] = { xp_value_float (0.5) };
  assert_fails ("aten::f.Ov(float p, bool train) -> int", one, 1, NULL, NULL, 0, "train",
                "aten::f() is missing value for argument 'train'. "
                "Declaration: aten::f.Ov(float p, bool train) -> int");
}
END_TEST

START_TEST (too_many_arguments_are_counted)
{
  const XpValue values[] = { xp_value_int (1), xp_value_int (2), xp_value_int (3) };
  const char *const names[] = { "a" };
  assert_fails ("n::f(int a, int b) -> ()", values, 3, names, values, 1, NULL,
                "n::f() expected at most 2 argument(s) but received 4 argument(s). "
                "Declaration: n::f(int a, int b) -> ()");
  assert_fails ("n::f(int a, *, int b, int c) -> ()", values, 2, NULL, NULL, 0, NULL,
                "n::f() takes 1 positional argument(s) but 2 was/were given.  "
                "Declaration: n::f(int a, *, int b, int c) -> ()");
}
END_TEST

START_TEST (an_unknown_name_is_told)
{
  const XpValue values[] = { xp_value_int (1) };
  const char *const names[] = { "approximat" };
  assert_fails ("aten::gelu.x(int self, *, str approximate=\"none\") -> ()", values, 1, names,
                values, 1, "approximat",
                "Unknown keyword argument 'approximat' for operator 'aten::gelu'. "
                "Schema: aten::gelu.x(int self, *, str approximate=\"none\") -> ()");
}
END_TEST

START_TEST (an_argument_given_twice_is_told)
{
  const XpValue values[] = { xp_value_int (1), xp_value_int (2) };
  const char *const names[] = { "a" };
  const char *const twice[] = { "b", "b" };
  assert_fails ("n::f(int a, int b=2) -> ()", values, 1, names, values, 1, "a",
                "n::f() got multiple values for argument 'a'");
  assert_fails ("n::f(int a=1, int b=2) -> ()", NULL, 0, twice, values, 2, "b",
                "n::f() got multiple values for argument 'b'");
}
END_TEST

START_TEST (a_wrong_type_is_told_with_place_and_value)
{
  g_autoptr (XpList) floats = xp_list_new_float ((double[]){ 1.5, 2 }, 2);
  g_auto (XpValue) pool = xp_value_opaque (xp_opaque_new ("my.Pool", NULL, NULL));
  const XpValue values[] = { xp_value_int (1), xp_value_list (floats) };
  assert_fails ("n::f.o(int a, int[2]? dim) -> ()", values, 2, NULL, NULL, 0, "dim",
                "n::f() Expected a value of type 'int[2]?' for argument 'dim' but instead found "
                "type 'float[]'.\n"
                "Position: 1\n"
                "Value: [1.5, 2.0]\n"
                "Declaration: n::f.o(int a, int[2]? dim) -> ()");
  assert_fails ("n::f(Tensor self) -> ()", values, 1, NULL, NULL, 0, "self",
                "n::f() Expected a value of type 'Tensor' for argument 'self' but instead found "
                "type 'int'.\n"
                "Position: 0\n"
                "Value: 1\n"
                "Declaration: n::f(Tensor self) -> ()");
  assert_fails ("n::f(int a) -> ()", &pool, 1, NULL, NULL, 0, "a",
                "n::f() Expected a value of type 'int' for argument 'a' but instead found "
                "type 'my.Pool'.\n"
                "Position: 0\n"
                "Value: my.Pool\n"
                "Declaration: n::f(int a) -> ()");
}
END_TEST

START_TEST (a_long_value_is_cut_short)
{
  GError *error = NULL;
  g_autofree char *long_text = g_strnfill (5000, 'x');
  g_auto (XpValue) text = xp_value_string (long_text);
  ck_assert (!match_one ("int", text, &error));
  ck_assert_uint_lt (strlen (error->message), 500);
  assert_error (error, XP_ERROR_ARGUMENT, "xxx…\nDeclaration");
  g_auto (XpValue) bytes = xp_value_string ("\377\376");
  ck_assert (!match_one ("int", bytes, &error));
  ck_assert (g_utf8_validate (error->message, -1, NULL));
  g_clear_error (&error);
}
END_TEST

/* Values that were converted before the error are given back: a leak check sees it. */
START_TEST (a_failure_gives_everything_back)
{
  const XpValue values[] = { xp_value_int (1), xp_value_int (2), xp_value_int (3) };
  ck_assert (!match ("f(int[2] a, complex b, str c) -> ()", values, 3, NULL));
  ck_assert_uint_eq (arguments[0].tag, XP_TAG_NONE);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("match");
  TCase *good = tcase_create ("good");
  tcase_add_checked_fixture (good, NULL, clear_arguments);
  tcase_add_test (good, arguments_come_by_place_and_by_name);
  tcase_add_test (good, defaults_fill_in_the_rest);
  tcase_add_test (good, numbers_are_converted);
  tcase_add_test (good, one_number_fills_a_fixed_list);
  tcase_add_test (good, lists_are_converted_whole);
  tcase_add_test (good, a_list_of_nothing_but_none_is_one_of_tensors);
  tcase_add_test (good, texts_are_read);
  tcase_add_test (good, a_union_prefers_the_type_that_needs_no_conversion);
  tcase_add_test (good, a_value_that_is_kept_gets_a_reference);
  tcase_add_test (good, types_accept_what_a_call_may_pass);
  tcase_add_test (good, a_variable_accepts_anything);
  suite_add_tcase (suite, good);
  TCase *bad = tcase_create ("bad");
  tcase_add_checked_fixture (bad, NULL, clear_arguments);
  tcase_add_test (bad, a_text_is_read_whole);
  tcase_add_test (bad, a_missing_argument_is_named);
  tcase_add_test (bad, too_many_arguments_are_counted);
  tcase_add_test (bad, an_unknown_name_is_told);
  tcase_add_test (bad, an_argument_given_twice_is_told);
  tcase_add_test (bad, a_wrong_type_is_told_with_place_and_value);
  tcase_add_test (bad, a_long_value_is_cut_short);
  tcase_add_test (bad, a_failure_gives_everything_back);
  suite_add_tcase (suite, bad);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
