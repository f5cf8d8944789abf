/* SPDX-License-Identifier: MIT
 *
 * Errors: what each says, byte for byte (reference 5.5 and appendix A).
 */
#include "schemas.h"

typedef struct
{
  const char *text;
  const char *message;
} Refusal;

static void
assert_all_refused (const Refusal *refusals, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    assert_refused (refusals[i].text, refusals[i].message);
}

/* As PyTorch 1.13 prints them. */
START_TEST (a_wrong_token_is_underlined)
{
  static const Refusal refusals[] = {
    { "a::f(Tensor x,) -> ()", "expected ident but found ')' here:\n"
                               "a::f(Tensor x,) -> ()\n"
                               "              ~ <--- HERE\n" },
    { "a::f(int[2][] x) -> ()", "expected ident but found '[' here:\n"
                                "a::f(int[2][] x) -> ()\n"
                                "           ~ <--- HERE\n" },
    { "a::f(Tensor?(a) x) -> ()", "expected ident but found '(' here:\n"
                                  "a::f(Tensor?(a) x) -> ()\n"
                                  "            ~ <--- HERE\n" },
    { "a::b::c()->()", "expected eof but found ':' here:\n"
                       "a::b::c()->()\n"
                       "    ~ <--- HERE\n" },
    { "a::f(in x)->()", "expected ident but found 'in' here:\n"
                        "a::f(in x)->()\n"
                        "     ~~ <--- HERE\n" },
    { "a::if()->()", "expected ident but found 'if' here:\n"
                     "a::if()->()\n"
                     "   ~~ <--- HERE\n" },
    { "a::f(int x 5)->()", "expected ) but found 'number' here:\n"
                           "a::f(int x 5)->()\n"
                           "           ~ <--- HERE\n" },
    { "a::f(int x=1_000)->()", "expected ) but found 'ident' here:\n"
                               "a::f(int x=1_000)->()\n"
                               "            ~~~~ <--- HERE\n" },
    { "a::f(int x)>()", "expected arrow but found '>' here:\n"
                        "a::f(int x)>()\n"
                        "           ~ <--- HERE\n" },
    { "a::f(int ...)->()", "expected ident but found 'dots' here:\n"
                           "a::f(int ...)->()\n"
                           "         ~~~ <--- HERE\n" },
    { "a::f(int x)-> int, int", "expected eof but found ',' here:\n"
                                "a::f(int x)-> int, int\n"
                                "                 ~ <--- HERE\n" },
    { "a::f(int x)->(int=1)", "expected ) but found '=' here:\n"
                              "a::f(int x)->(int=1)\n"
                              "                 ~ <--- HERE\n" },
    { "a::f(Future x)->()", "expected ( but found 'ident' here:\n"
                            "a::f(Future x)->()\n"
                            "            ~ <--- HERE\n" },
    { "a::f(int[-1] x)->()", "expected number but found '-' here:\n"
                             "a::f(int[-1] x)->()\n"
                             "         ~ <--- HERE\n" },
    { "a::f(Dict(int) x)->()", "expected , but found ')' here:\n"
                               "a::f(Dict(int) x)->()\n"
                               "             ~ <--- HERE\n" },
  };
  assert_all_refused (refusals, XP_LENGTH (refusals));
}
END_TEST

START_TEST (an_alias_that_is_none_is_underlined)
{
  static const Refusal refusals[] = {
    { "a::f(Tensor(a!|b) x)->()", "expected ) but found '|' here:\n"
                                  "a::f(Tensor(a!|b) x)->()\n"
                                  "              ~ <--- HERE\n" },
    { "a::f(Tensor() x)->()", "expected ident but found ')' here:\n"
                              "a::f(Tensor() x)->()\n"
                              "            ~ <--- HERE\n" },
    { "a::f(Tensor(*|a) x)->()", "expected ) but found 'ident' here:\n"
                                 "a::f(Tensor(*|a) x)->()\n"
                                 "              ~ <--- HERE\n" },
    { "a::f(Tensor( -> b) x)->()", "expected ident but found 'arrow' here:\n"
                                   "a::f(Tensor( -> b) x)->()\n"
                                   "             ~~ <--- HERE\n" },
    { "a::f(Tensor(a -> ) x)->()", "expected ident but found ')' here:\n"
                                   "a::f(Tensor(a -> ) x)->()\n"
                                   "                 ~ <--- HERE\n" },
    { "a::f(Tensor(a,b) x)->()", "expected ) but found ',' here:\n"
                                 "a::f(Tensor(a,b) x)->()\n"
                                 "             ~ <--- HERE\n" },
    { "a::f(Future(Tensor)(a) x)->()", "expected ident but found '(' here:\n"
                                       "a::f(Future(Tensor)(a) x)->()\n"
                                       "                   ~ <--- HERE\n" },
  };
  assert_all_refused (refusals, XP_LENGTH (refusals));
}
END_TEST

START_TEST (the_end_of_the_text_has_no_underline)
{
  static const Refusal refusals[] = {
    { "", "expected ident but found 'eof' here:\n" },
    { "  ", "expected ident but found 'eof' here:\n  " },
    { "a::f(Tensor x", "expected ) but found 'eof' here:\na::f(Tensor x" },
    { "a::f(Tensor x) -> ", "expected ident but found 'eof' here:\na::f(Tensor x) -> " },
    { "a::f(int x=", "expected number but found 'eof' here:\na::f(int x=" },
    { "a::f(int x)\n", "expected arrow but found 'newline' here:\na::f(int x)\n" },
    { "a::f(int x)\n-> int", "expected arrow but found 'newline' here:\na::f(int x)\n-> int\n" },
  };
  assert_all_refused (refusals, XP_LENGTH (refusals));
}
END_TEST

START_TEST (what_is_wrong_in_meaning_starts_with_a_newline)
{
  static const Refusal refusals[] = {
    { "a::f(Foo x) -> ()", "\nunknown type specifier:\n"
                           "a::f(Foo x) -> ()\n"
                           "     ~~~ <--- HERE\n" },
    { "a::f(int x=abc) -> ()", "\ninvalid numeric default value:\n"
                               "a::f(int x=abc) -> ()\n"
                               "              ~ <--- HERE\n" },
    { "a::f(int x=inf) -> ()", "\ninvalid numeric default value:\n"
                               "a::f(int x=inf) -> ()\n"
                               "              ~ <--- HERE\n" },
    { "a::f(Tensor x, ..., int y) -> ()", "\n... must be the last element of the argument list:\n"
                                          "a::f(Tensor x, ..., int y) -> ()\n"
                                          "                    ~~~ <--- HERE\n" },
    { "a::f(Tensor x)->(..., Tensor)", "\n... must be the last element of the return list:\n"
                                       "a::f(Tensor x)->(..., Tensor)\n"
                                       "                      ~~~~~~ <--- HERE\n" },
    { "a::f(int x=1, ...) -> ()", "\nschemas with vararg (...) can't have default value args:\n"
                                  "a::f(int x=1, ...) -> ()\n"
                                  "                   ~~ <--- HERE\n" },
    { "a::f(str[] x=[]) -> ()", "\nlists are only supported for float, int and complex types:\n"
                                "a::f(str[] x=[]) -> ()\n"
                                "             ~ <--- HERE\n" },
    { "a::f(__torch__.foo.classes.a.B x)->()", "\nExpected classes namespace but got foo:\n"
                                               "a::f(__torch__.foo.classes.a.B x)->()\n"
                                               "               ~~~ <--- HERE\n" },
    { "a::f(str s='\\x12') -> ()", "\nunsupported hex specifier:\n"
                                   "a::f(str s='\\x12') -> ()\n"
                                   "           ~~~~~~ <--- HERE\n" },
    { "a::f(str s='\\u12') -> ()", "\nunsupported unicode specifier:\n"
                                   "a::f(str s='\\u12') -> ()\n"
                                   "           ~~~~~~ <--- HERE\n" },
    { "a::f(str x='\\101\\12')->()", "\n ill formed octal specifier:\n"
                                     "a::f(str x='\\101\\12')->()\n"
                                     "           ~~~~~~~~~ <--- HERE\n" },
    { "a::f(str x='\\777')->()", "\n ill formed octal specifier:\n"
                                 "a::f(str x='\\777')->()\n"
                                 "           ~~~~~~ <--- HERE\n" },
  };
  assert_all_refused (refusals, XP_LENGTH (refusals));
}
END_TEST

START_TEST (a_default_of_another_shape_is_underlined)
{
  static const Refusal refusals[] = {
    { "a::f(Tensor x=1) -> ()", "expected None but found 'number' here:\n"
                                "a::f(Tensor x=1) -> ()\n"
                                "              ~ <--- HERE\n" },
    { "a::f(int[] x=1) -> ()", "expected [ but found 'number' here:\n"
                               "a::f(int[] x=1) -> ()\n"
                               "             ~ <--- HERE\n" },
    { "a::f(int[] x=None)->()", "expected [ but found 'None' here:\n"
                                "a::f(int[] x=None)->()\n"
                                "             ~~~~ <--- HERE\n" },
    { "a::f(int? x=[1])->()", "expected number but found '[' here:\n"
                              "a::f(int? x=[1])->()\n"
                              "            ~ <--- HERE\n" },
    { "a::f(int[2]? x=[1])->()", "expected number but found '[' here:\n"
                                 "a::f(int[2]? x=[1])->()\n"
                                 "               ~ <--- HERE\n" },
    { "a::f(int[] x=[1,2,])->()", "expected number but found ']' here:\n"
                                  "a::f(int[] x=[1,2,])->()\n"
                                  "                  ~ <--- HERE\n" },
    { "a::f(int x=--1)->()", "expected number but found '-' here:\n"
                             "a::f(int x=--1)->()\n"
                             "            ~ <--- HERE\n" },
    { "a::f(int x=-'a')->()", "expected number but found 'string_literal' here:\n"
                              "a::f(int x=-'a')->()\n"
                              "            ~~~ <--- HERE\n" },
    { "a::f(int x=+1)->()", "expected number but found '+' here:\n"
                            "a::f(int x=+1)->()\n"
                            "           ~ <--- HERE\n" },
    { "a::f(int x=if)->()", "expected number but found 'if' here:\n"
                            "a::f(int x=if)->()\n"
                            "           ~~ <--- HERE\n" },
    { "a::f(int x=1+2)->()", "expected ) but found '+' here:\n"
                             "a::f(int x=1+2)->()\n"
                             "            ~ <--- HERE\n" },
    { "a::f(Device d=cuda)->()", "expected string_literal but found 'ident' here:\n"
                                 "a::f(Device d=cuda)->()\n"
                                 "              ~~~~ <--- HERE\n" },
  };
  assert_all_refused (refusals, XP_LENGTH (refusals));
}
END_TEST

/* Where PyTorch takes the text, aborts, or speaks of its own insides. */
START_TEST (errors_of_ours_say_what_is_expected)
{
  static const Refusal refusals[] = {
    { "a::f(int x=-1.5) -> ()",
      "\na default of type 'int' is expected, but -1.5 is of type 'float':\n"
      "a::f(int x=-1.5) -> ()\n"
      "           ~~~~ <--- HERE\n" },
    { "a::f(str s=1) -> ()", "\na default of type 'str' is expected, but 1 is of type 'int':\n"
                             "a::f(str s=1) -> ()\n"
                             "           ~ <--- HERE\n" },
    { "a::f(int s='a') -> ()",
      "\na default of type 'int' is expected, but \"a\" is of type 'str':\n"
      "a::f(int s='a') -> ()\n"
      "           ~~~ <--- HERE\n" },
    { "a::f(int x=1, int y) -> ()", "\nargument 'y' needs a default, as one before it has one:\n"
                                    "a::f(int x=1, int y) -> ()\n"
                                    "                  ~ <--- HERE\n" },
    { "a::f(Any x=1) -> ()", "\nunexpected type, an argument of this type takes no default:\n"
                             "a::f(Any x=1) -> ()\n"
                             "           ~ <--- HERE\n" },
    { "a::f(int x=9223372036854775808)->()", "\nthe number is out of the range of int:\n"
                                             "a::f(int x=9223372036854775808)->()\n"
                                             "           ~~~~~~~~~~~~~~~~~~~ <--- HERE\n" },
    { "a::f(float x=1e999)->()", "\nthe number is out of the range of float:\n"
                                 "a::f(float x=1e999)->()\n"
                                 "             ~~~~~ <--- HERE\n" },
    { "a::f(double x)->()", "\nuse float instead of double: a schema's float is the double of C:\n"
                            "a::f(double x)->()\n"
                            "     ~~~~~~ <--- HERE\n" },
    { "a::f(int64_t x)->()", "\nuse int instead of int64_t: a schema's int is the int64_t of C:\n"
                             "a::f(int64_t x)->()\n"
                             "     ~~~~~~~ <--- HERE\n" },
    { "a::f(int[1.5] x)->()", "\nthe size of a list is a whole number up to 1024:\n"
                              "a::f(int[1.5] x)->()\n"
                              "         ~~~ <--- HERE\n" },
    { "a::f(Dict(int[], int) x)->()",
      "\nthe keys of a Dict are int, float, complex, bool, str, Tensor, Device or Any, not int[]:\n"
      "a::f(Dict(int[], int) x)->()\n"
      "     ~~~~ <--- HERE\n" },
    { "a::f(Union(int, int) x)->()", "\na Union is made of 2 to 64 different types:\n"
                                     "a::f(Union(int, int) x)->()\n"
                                     "     ~~~~~ <--- HERE\n" },
  };
  assert_all_refused (refusals, XP_LENGTH (refusals));
}
END_TEST

START_TEST (defaults_of_a_wrong_type_are_refused)
{
  static const char *const texts[] = {
    "float x=True",
    "bool x=1",
    "int x=True",
    "int x=None",
    "int[2] x=True",
    "int[2] x='a'",
    "int[2] x=None",
    "int[] x=[1, 2.5]",
    "bool[] x=[1]",
    "float[] x=[1j]",
    "int? x='a'",
    "Tensor? x=True",
    "int[]? x=2",
    "str? x=1",
    "ScalarType x=12",
    "ScalarType x=-1",
    "Layout x=4",
    "MemoryFormat x=9",
    "ScalarType x=1.5",
    "ScalarType x=strided",
    "Layout x=float",
    "bool x=Mean",
    "int x=1j",
    "int x=1.+1.j",
    "Device x='warp:0'",
    "Device? x=1",
    "int x=1e-1",
    "int x=1e300",
    "str x=float",
    "Scalar x='a'",
    "Dict(int, int)? x=1",
  };
  for (unsigned i = 0; i < XP_LENGTH (texts); i++)
    {
      g_autofree char *text = g_strdup_printf ("f(%s) -> ()", texts[i]);
      g_autoptr (GError) error = NULL;
      ck_assert_msg (xp_schema_parse (text, &error) == NULL, "%s", text);
      ck_assert (g_error_matches (error, XP_ERROR, XP_ERROR_SCHEMA_SYNTAX));
    }
}
END_TEST

START_TEST (what_begins_no_token_is_named)
{
  static const Refusal refusals[] = {
    { "a::f(Tensor x, $ y) -> ()", "expected a valid token but found '$' here:\n"
                                   "a::f(Tensor x, $ y) -> ()\n"
                                   "               ~ <--- HERE\n" },
    { "a::f(str s='abc) -> ()", "expected a valid token but found ''' here:\n"
                                "a::f(str s='abc) -> ()\n"
                                "           ~ <--- HERE\n" },
    { "a::f(str s='a\nb')->()", "expected a valid token but found ''' here:\n"
                                "a::f(str s='a\n"
                                "           ~ <--- HERE\n"
                                "b')->()\n" },
    { "a::f(\303\251 x)->()", "expected a valid token but found '\303\251' here:\n"
                              "a::f(\303\251 x)->()\n"
                              "     ~ <--- HERE\n" },
    { "a::f(int x, \377 \001)->()", "expected a valid token but found '?' here:\n"
                                    "a::f(int x, ? ?)->()\n"
                                    "            ~ <--- HERE\n" },
    { "a::f(int x $", "expected a valid token but found '$' here:\n"
                      "a::f(int x $\n"
                      "           ~ <--- HERE\n" },
  };
  assert_all_refused (refusals, XP_LENGTH (refusals));
}
END_TEST

START_TEST (two_lines_around_are_shown)
{
  assert_refused ("a::f(int x,\n  int y,\n  int z,\n  float w,\n  Foo q,\n int a,\n int b,\n int c)"
                  " -> ()",
                  "\nunknown type specifier:\n"
                  "  int z,\n"
                  "  float w,\n"
                  "  Foo q,\n"
                  "  ~~~ <--- HERE\n"
                  " int a,\n"
                  " int b,\n");
  assert_refused ("\n\na::f(Foo x)->()", "\nunknown type specifier:\n"
                                         "\n"
                                         "\n"
                                         "a::f(Foo x)->()\n"
                                         "     ~~~ <--- HERE\n");
  assert_refused ("a::f(int x)->()\nb::g()->()", "expected eof but found 'ident' here:\n"
                                                 "a::f(int x)->()\n"
                                                 "b::g()->()\n"
                                                 "~ <--- HERE\n");
}
END_TEST

START_TEST (some_errors_show_no_place)
{
  static const Refusal refusals[] = {
    { "a::f", "Tried to parse a function schema but only the operator name was given" },
    { "a::f.g\n", "Tried to parse a function schema but only the operator name was given" },
    { "a::f.default() -> ()", "default is not a legal overload name for aten operators" },
    { "a::f.__x() -> ()", "__x is not a legal overload name for aten operators" },
  };
  assert_all_refused (refusals, XP_LENGTH (refusals));
}
END_TEST

/* @n arguments, `int a0, int a1 …`. */
static char *
many_arguments (unsigned n)
{
  GString *text = g_string_new ("a::f(");
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "%sint a%u", i > 0 ? ", " : "", i);
  g_string_append (text, ") -> ()");
  return g_string_free (text, FALSE);
}

START_TEST (there_are_64_arguments_at_most)
{
  GError *error = NULL;
  g_autofree char *good = many_arguments (64);
  g_autofree char *bad = many_arguments (65);
  g_autofree char *worse = many_arguments (1000);
  xp_schema_unref (parsed (good));
  ck_assert_ptr_null (xp_schema_parse (bad, &error));
  assert_error (error, XP_ERROR_LIMIT,
                "The function schema has 65 arguments but only 64 are supported");
  ck_assert_ptr_null (xp_schema_parse (worse, &error));
  assert_error (error, XP_ERROR_LIMIT, "has 1000 arguments");
  ck_assert_ptr_null (xp_schema_parse (bad, NULL));
}
END_TEST

static char *
repeated (const char *before, const char *part, unsigned n, const char *behind)
{
  GString *text = g_string_new (before);
  for (unsigned i = 0; i < n; i++)
    g_string_append (text, part);
  g_string_append (text, behind);
  return g_string_free (text, FALSE);
}

START_TEST (types_are_not_nested_without_end)
{
  static const struct
  {
    const char *before, *part, *behind;
    unsigned allowed;
  } cases[] = {
    { "f(int", "[]", " x) -> ()", 31 },
    { "f(int", "?[]", " x) -> ()", 15 },
    { "f(Tensor(a!)", "[](b)", "[2] x) -> ()", 30 },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      GError *error = NULL;
      unsigned n = cases[i].allowed;
      g_autofree char *good = repeated (cases[i].before, cases[i].part, n, cases[i].behind);
      g_autofree char *bad = repeated (cases[i].before, cases[i].part, n + 1, cases[i].behind);
      assert_prints_itself (good);
      ck_assert_ptr_null (xp_schema_parse (bad, &error));
      assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "types are nested at most 32 deep");
    }
  static const char *const openings[] = { "(", "Dict(int, ", "Future(", "Union(int, " };
  for (unsigned i = 0; i < XP_LENGTH (openings); i++)
    {
      GError *error = NULL;
      g_autofree char *bad = repeated ("f(", openings[i], 5000, "");
      ck_assert_ptr_null (xp_schema_parse (bad, &error));
      assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "types are nested at most 32 deep");
    }
}
END_TEST

START_TEST (everything_has_a_limit)
{
  GError *error = NULL;
  g_autofree char *returns = repeated ("f() -> (int", ", int", 64, ")");
  ck_assert_ptr_null (xp_schema_parse (returns, &error));
  assert_error (error, XP_ERROR_LIMIT, "has 65 returns");
  g_autofree char *tuple = repeated ("f() -> ((int", ", int", 64, "))");
  ck_assert_ptr_null (xp_schema_parse (tuple, &error));
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "a type is made of at most 64 others");
  g_autofree char *size = repeated ("f(int[1", "0", 30, "] x=1) -> ()");
  ck_assert_ptr_null (xp_schema_parse (size, &error));
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "the size of a list");
  g_autofree char *text = repeated ("f() -> ()", " ", 70000, "");
  ck_assert_ptr_null (xp_schema_parse (text, &error));
  assert_error (error, XP_ERROR_LIMIT, "65536");
  g_autofree char *lists = repeated ("f(float[1024] x=0.1", ", float[1024] y=0.1", 3, ") -> ()");
  ck_assert_ptr_null (xp_schema_parse (lists, &error));
  assert_error (error, XP_ERROR_LIMIT, "prints as 86");
  g_autofree char *octal = repeated ("f(str x='", "\001", 20000, "') -> ()");
  ck_assert_ptr_null (xp_schema_parse (octal, &error));
  assert_error (error, XP_ERROR_LIMIT, "prints as 80");
  GString *alias = g_string_new ("f(Tensor(a");
  for (unsigned i = 0; i < 64; i++)
    g_string_append_printf (alias, "|a%u", i);
  g_string_append (alias, ") x) -> ()");
  ck_assert_ptr_null (xp_schema_parse (alias->str, &error));
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "an alias set has at most 64 names");
  g_string_free (alias, TRUE);
}
END_TEST

/* As PyTorch takes them; crosspoint gen does not, for C has no such functions. */
START_TEST (two_arguments_may_be_named_alike)
{
  g_autoptr (XpSchema) schema = xp_schema_parse ("op::other(float? a, float? a) -> ()", NULL);
  ck_assert_ptr_nonnull (schema);
  g_autofree char *printed = xp_schema_to_string (schema);
  ck_assert_str_eq (printed, "op::other(float? a, float? a) -> ()");
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("errors");
  TCase *shapes = tcase_create ("shapes");
  tcase_add_test (shapes, a_wrong_token_is_underlined);
  tcase_add_test (shapes, an_alias_that_is_none_is_underlined);
  tcase_add_test (shapes, the_end_of_the_text_has_no_underline);
  tcase_add_test (shapes, what_is_wrong_in_meaning_starts_with_a_newline);
  tcase_add_test (shapes, a_default_of_another_shape_is_underlined);
  tcase_add_test (shapes, errors_of_ours_say_what_is_expected);
  tcase_add_test (shapes, defaults_of_a_wrong_type_are_refused);
  tcase_add_test (shapes, what_begins_no_token_is_named);
  tcase_add_test (shapes, two_lines_around_are_shown);
  tcase_add_test (shapes, some_errors_show_no_place);
  suite_add_tcase (suite, shapes);
  TCase *limits = tcase_create ("limits");
  tcase_add_test (limits, there_are_64_arguments_at_most);
  tcase_add_test (limits, types_are_not_nested_without_end);
  tcase_add_test (limits, everything_has_a_limit);
  tcase_add_test (limits, two_arguments_may_be_named_alike);
  suite_add_tcase (suite, limits);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
