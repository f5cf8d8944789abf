/* SPDX-License-Identifier: MIT
 *
 * Defaults: the value that each is stored as (reference 5.4).
 */
#include "schemas.h"

static XpValue
default_of (const char *text)
{
  const XpArgument *argument = argument_of (text);
  ck_assert (argument->has_default);
  return argument->default_value;
}

static void
assert_default (const char *text, XpValue expected)
{
  g_autofree char *shown = xp_value_to_string (default_of (text));
  ck_assert_msg (xp_value_equal (default_of (text), expected), "%s is %s", text, shown);
}

START_TEST (numbers_are_read_as_their_type_says)
{
  assert_default ("int x=3", xp_value_int (3));
  assert_default ("int x= - 3", xp_value_int (-3));
  assert_default ("int x=0x10", xp_value_int (16));
  assert_default ("int x=-0X1F", xp_value_int (-31));
  assert_default ("int x=010", xp_value_int (10));
  assert_default ("int x=1E5", xp_value_int (100000));
  assert_default ("SymInt x=7", xp_value_int (7));
  assert_default ("int x=9223372036854775807", xp_value_int (G_MAXINT64));
  assert_default ("int x=-9223372036854775808", xp_value_int (G_MININT64));
  assert_default ("float x=3", xp_value_float (3));
  assert_default ("float x=-.5", xp_value_float (-0.5));
  assert_default ("float x=5.", xp_value_float (5));
  assert_default ("float x=1E5", xp_value_float (1e5));
  assert_default ("float x=0x1p3", xp_value_float (8));
  assert_default ("float x=5e-324", xp_value_float (5e-324));
  assert_default ("float x=99999999999999999999", xp_value_float (1e20));
}
END_TEST

START_TEST (a_number_for_several_types_is_what_its_text_says)
{
  assert_default ("Scalar x=1", xp_value_int (1));
  assert_default ("Scalar x=0x1e", xp_value_int (30));
  assert_default ("Scalar x=1e2", xp_value_float (100));
  assert_default ("Scalar x=1E2", xp_value_float (100));
  assert_default ("Scalar x=1.", xp_value_float (1));
  assert_default ("Scalar x=True", xp_value_bool (TRUE));
  assert_default ("bool? x=False", xp_value_bool (FALSE));
}
END_TEST

START_TEST (complex_numbers_have_two_parts)
{
  static const struct
  {
    const char *text;
    double real, imaginary;
  } cases[] = {
    { "complex x=1j", 0, 1 },       { "complex x=-2.5j", 0, -2.5 },
    { "complex x=3", 3, 0 },        { "Scalar x=0.-3.j", 0, -3 },
    { "complex x=-1.+2.j", -1, 2 }, { "complex? x=1e3 + 4j", 1000, 4 },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_auto (XpValue) expected = xp_value_complex (cases[i].real, cases[i].imaginary);
      assert_default (cases[i].text, expected);
    }
}
END_TEST

START_TEST (words_are_what_the_type_takes_them_for)
{
  assert_default ("ScalarType x=float", xp_value_dtype (XP_FLOAT32));
  assert_default ("ScalarType x=long", xp_value_dtype (XP_INT64));
  assert_default ("ScalarType x=complex", xp_value_dtype (XP_COMPLEX64));
  assert_default ("ScalarType? x=bfloat16", xp_value_dtype (XP_BFLOAT16));
  assert_default ("ScalarType x=7", xp_value_dtype (XP_FLOAT64));
  assert_default ("Layout x=strided", xp_value_layout (XP_STRIDED));
  assert_default ("Layout? x=sparse_csr", xp_value_layout (XP_SPARSE_CSR));
  assert_default ("Layout x=1", xp_value_layout (XP_SPARSE_COO));
  assert_default ("MemoryFormat x=contiguous_format",
                  xp_value_memory_format (XP_CONTIGUOUS_FORMAT));
  assert_default ("MemoryFormat? x=2", xp_value_memory_format (XP_CHANNELS_LAST));
  assert_default ("int x=Mean", xp_value_int (1));
  assert_default ("int x=float", xp_value_int (6));
  assert_default ("int? x=long", xp_value_int (4));
}
END_TEST

START_TEST (devices_are_text)
{
  XpDevice first_cuda;
  ck_assert (xp_device_parse ("cuda:0", &first_cuda, NULL));
  assert_default ("Device x='cpu'", xp_value_device (XP_CPU));
  assert_default ("Device? x=\"cuda:0\"", xp_value_device (first_cuda));
  assert_default ("Device? x=None", XP_NONE);
}
END_TEST

static void
assert_ints (const char *text, XpInts expected)
{
  XpValue value = default_of (text);
  ck_assert_uint_eq (value.tag, XP_TAG_LIST);
  ck_assert_uint_eq (xp_list_length (value.as.list), expected.length);
  ck_assert_mem_eq (xp_list_ints (value.as.list), expected.data,
                    expected.length * sizeof (int64_t));
}

START_TEST (lists_are_lists)
{
  assert_ints ("int[] x=[1, -2]", XP_INTS (1, -2));
  assert_ints ("int[2] x=1", XP_INTS (1, 1));
  assert_ints ("int[2] x=[3]", XP_INTS (3));
  assert_ints ("SymInt[3] x=0", XP_INTS (0, 0, 0));
  ck_assert_uint_eq (default_of ("int[] x=[]").length, 0);
  ck_assert_uint_eq (default_of ("bool[2] x=[ ]").length, 0);
  ck_assert_uint_eq (default_of ("complex[2] x=1j").length, 2);
  XpValue floats = default_of ("float[] x=[1, .5]");
  ck_assert_double_eq (xp_list_floats (floats.as.list)[0], 1);
  ck_assert_double_eq (xp_list_floats (floats.as.list)[1], 0.5);
  XpValue bools = default_of ("bool[2] x=True");
  ck_assert (xp_list_bools (bools.as.list)[1]);
  XpValue dtypes = default_of ("ScalarType[] x=[6, bool]");
  ck_assert (xp_value_equal (xp_list_get (dtypes.as.list, 0), xp_value_dtype (XP_FLOAT32)));
  ck_assert (xp_value_equal (xp_list_get (dtypes.as.list, 1), xp_value_dtype (XP_BOOL)));
}
END_TEST

/* A call expands it; it is stored as it was written, so that it prints so. */
START_TEST (an_optional_list_keeps_its_one_number)
{
  assert_default ("int[3]? x=2", xp_value_int (2));
  assert_default ("float[3]? x=2", xp_value_float (2));
  assert_default ("int[3]? x=None", XP_NONE);
  assert_default ("Tensor[]? x=None", XP_NONE);
}
END_TEST

static void
assert_string (const char *text, const char *bytes, size_t n)
{
  XpValue value = default_of (text);
  ck_assert_uint_eq (value.tag, XP_TAG_STRING);
  ck_assert_uint_eq (value.length, n);
  ck_assert_mem_eq (xp_string_text (value.as.string), bytes, n);
}

START_TEST (strings_have_quotes_and_escapes)
{
  assert_string ("str x='a\"b'", "a\"b", 3);
  assert_string ("str x=\"a'b\"", "a'b", 3);
  assert_string ("str x=''", "", 0);
  assert_string ("str x=''''''", "", 0);
  assert_string ("str x=\"\"\"a\n''\"b\"\"\"", "a\n''\"b", 6);
  assert_string ("str x='''a''b'''", "a''b", 4);
  assert_string ("str? x='\\\\\\'\\\"\\a\\b\\f\\n\\r\\t\\v'", "\\'\"\a\b\f\n\r\t\v", 10);
  assert_string ("str x='\\101\\000\\377'", "A\0\377", 3);
  assert_string ("str x='a\\\nb'", "a\nb", 3);
  assert_string ("Dimname x='N'", "N", 1);
  assert_string ("str x='\303\251'", "\303\251", 2);
}
END_TEST

START_TEST (none_is_for_tensors_and_optionals)
{
  assert_default ("Tensor x=None", XP_NONE);
  assert_default ("Generator x=None", XP_NONE);
  assert_default ("Quantizer x=None", XP_NONE);
  assert_default ("Dict(str, int)? x=None", XP_NONE);
  assert_default ("Any? x=None", XP_NONE);
  assert_default ("Any? x=1", xp_value_int (1));
  assert_default ("Union(int, str)? x=1", xp_value_int (1));
  ck_assert (!argument_of ("Tensor? x")->has_default);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("defaults");
  TCase *defaults = tcase_create ("defaults");
  tcase_add_checked_fixture (defaults, NULL, free_schema);
  tcase_add_test (defaults, numbers_are_read_as_their_type_says);
  tcase_add_test (defaults, a_number_for_several_types_is_what_its_text_says);
  tcase_add_test (defaults, complex_numbers_have_two_parts);
  tcase_add_test (defaults, words_are_what_the_type_takes_them_for);
  tcase_add_test (defaults, devices_are_text);
  tcase_add_test (defaults, lists_are_lists);
  tcase_add_test (defaults, an_optional_list_keeps_its_one_number);
  tcase_add_test (defaults, strings_have_quotes_and_escapes);
  tcase_add_test (defaults, none_is_for_tensors_and_optionals);
  suite_add_tcase (suite, defaults);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
