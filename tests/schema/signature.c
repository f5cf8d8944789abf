/* SPDX-License-Identifier: MIT
 *
 * Signatures and differences: what a caller and a kernel must agree on (reference 4.1 and 4.6).
 */
#include "schemas.h"

static void
assert_signature (const char *text, const char *expected)
{
  g_autoptr (XpSchema) schema = parsed (text);
  g_autofree char *signature = xp_schema_signature (schema);
  ck_assert_str_eq (signature, expected);
  g_autofree char *declaration = g_strconcat ("name", signature, NULL);
  g_autoptr (XpSchema) kernel = parsed (declaration);
  g_autofree char *again = xp_schema_signature (kernel);
  g_autofree char *difference = xp_schema_difference (schema, kernel);
  ck_assert_str_eq (again, expected);
  ck_assert_ptr_null (difference);
}

START_TEST (a_signature_has_types_only)
{
  assert_signature ("aten::gelu(Tensor(a!) self, *, str approximate=\"none\") -> Tensor(a!)",
                    "(Tensor _0, str _1) -> Tensor _0");
  assert_signature ("a::f() -> ()", "() -> ()");
  assert_signature ("a::f() -> (Tensor values, Tensor)", "() -> (Tensor _0, Tensor _1)");
  assert_signature ("a::f() -> ((int, int))", "() -> ((int, int) _0)");
  assert_signature ("a::f(int x, ...) -> ...", "(int _0, ...) -> ...");
  assert_signature ("a::f(...) -> (int, ...)", "(...) -> (int _0, ...)");
}
END_TEST

START_TEST (types_that_are_passed_alike_are_written_alike)
{
  assert_signature ("a::f(SymInt x, SymInt[2] y, DeviceIndex z, ConstQuantizerPtr w) -> SymInt",
                    "(int _0, int[] _1, int _2, int _3) -> int _0");
  assert_signature ("a::f(Dimname[]? x, SymBool y, None z) -> NoneType",
                    "(str[]? _0, bool _1, NoneType _2) -> NoneType _0");
  assert_signature ("aten::f(Dict(str, t) x, t[] y) -> t",
                    "(Dict(str, Any) _0, Any[] _1) -> Any _0");
  assert_signature ("a::f(int[3]? x, Tensor(a!)[] y, ScalarType z) -> my.Class",
                    "(int[]? _0, Tensor[] _1, ScalarType _2) -> my.Class _0");
}
END_TEST

/* Types in a Union may fall together. */
START_TEST (a_union_is_put_in_order_again)
{
  assert_signature ("aten::f(Union(int, SymInt) x, Union(Tensor, t, str)[] y) -> ()",
                    "(int _0, Union(Any, Tensor, str)[] _1) -> ()");
  assert_signature ("f(Union(SymInt, int, None)? x) -> ()", "(int? _0) -> ()");
}
END_TEST

static void
assert_difference (const char *a, const char *b, const char *expected)
{
  g_autoptr (XpSchema) left = parsed (a);
  g_autoptr (XpSchema) right = parsed (b);
  g_autofree char *difference = xp_schema_difference (left, right);
  if (expected == NULL)
    ck_assert_msg (difference == NULL, "%s and %s: %s", a, b, difference);
  else
    ck_assert_msg (g_strcmp0 (difference, expected) == 0, "%s and %s: %s", a, b, difference);
}

START_TEST (the_first_difference_is_told)
{
  assert_difference ("f(int x, int y) -> ()", "f(int x) -> ()",
                     "The number of arguments is different. 2 vs 1.");
  assert_difference ("f() -> ()", "f() -> (int, int)",
                     "The number of returns is different. 0 vs 2");
  assert_difference ("f(int x, Tensor y) -> ()", "f(int x, Tensor? y) -> ()",
                     "Type mismatch in argument 2: Tensor vs Tensor?");
  assert_difference ("f() -> (int, int[2])", "f() -> (int, float[])",
                     "Type mismatch in return 2: int[] vs float[]");
  assert_difference ("f(SymInt x) -> ()", "f(str x) -> ()",
                     "Type mismatch in argument 1: SymInt vs str");
  assert_difference ("f(a.B x) -> ()", "f(a.C x) -> ()", "Type mismatch in argument 1: a.B vs a.C");
  assert_difference ("f((int, int) x) -> ()", "f((int, str) x) -> ()",
                     "Type mismatch in argument 1: (int, int) vs (int, str)");
  assert_difference ("f((int, int) x) -> ()", "f((int) x) -> ()",
                     "Type mismatch in argument 1: (int, int) vs (int)");
  assert_difference ("f(ScalarType x) -> ()", "f(int x) -> ()",
                     "Type mismatch in argument 1: ScalarType vs int");
}
END_TEST

START_TEST (names_defaults_and_aliases_make_no_difference)
{
  assert_difference ("a::f(Tensor(a!) x, int y=1) -> Tensor(a!)",
                     "g(Tensor z, *, int w) -> Tensor q", NULL);
  assert_difference ("f(SymInt[2]? x, Dimname y) -> SymInt", "f(int[]? x, str y) -> int", NULL);
  assert_difference ("f(int x, ...) -> ()", "f(int x) -> ()", NULL);
  assert_difference ("f(Union(int, str) x) -> ()", "f(Union(str, int) x) -> ()", NULL);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("signature");
  TCase *signature = tcase_create ("signature");
  tcase_add_test (signature, a_signature_has_types_only);
  tcase_add_test (signature, types_that_are_passed_alike_are_written_alike);
  tcase_add_test (signature, a_union_is_put_in_order_again);
  suite_add_tcase (suite, signature);
  TCase *difference = tcase_create ("difference");
  tcase_add_test (difference, the_first_difference_is_told);
  tcase_add_test (difference, names_defaults_and_aliases_make_no_difference);
  suite_add_tcase (suite, difference);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
