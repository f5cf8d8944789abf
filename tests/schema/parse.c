/* SPDX-License-Identifier: MIT
 *
 * Parsing: each production of the grammar (reference 5.2) and alias annotations (5.3). Defaults
 * have a suite of their own.
 */
#include "schemas.h"

START_TEST (names_and_flags_are_taken_apart)
{
  g_autoptr (XpSchema) gelu = parsed (
      "aten::gelu.out(Tensor self, *, str approximate=\"none\", Tensor(a!) out) "
      "-> Tensor(a!)");
  ck_assert_str_eq (gelu->name, "aten::gelu");
  ck_assert_str_eq (gelu->overload, "out");
  ck_assert_uint_eq (gelu->n_arguments, 3);
  ck_assert_uint_eq (gelu->n_returns, 1);
  ck_assert (!gelu->arguments[0].is_keyword_only);
  ck_assert (gelu->arguments[1].is_keyword_only);
  ck_assert (gelu->arguments[1].has_default);
  ck_assert_int_eq (gelu->arguments[1].type->kind, XP_TYPE_STR);
  ck_assert_str_eq (xp_string_text (gelu->arguments[1].default_value.as.string), "none");
  ck_assert (gelu->arguments[2].alias->is_write);
  ck_assert_str_eq (gelu->returns[0].name, "");
  g_autofree char *name = xp_schema_operator_name (gelu);
  ck_assert_str_eq (name, "aten::gelu.out");
}
END_TEST

START_TEST (a_name_needs_no_namespace_and_no_overload)
{
  const XpSchema *plain = schema_of ("f() -> ()");
  ck_assert_str_eq (plain->name, "f");
  ck_assert_str_eq (plain->overload, "");
  ck_assert_uint_eq (plain->n_arguments, 0);
  ck_assert_uint_eq (plain->n_returns, 0);
  g_autofree char *name = xp_schema_operator_name (plain);
  ck_assert_str_eq (name, "f");
  const XpSchema *whole = schema_of (" a :: f . g ( int x ) -> int ");
  ck_assert_str_eq (whole->name, "a::f");
  ck_assert_str_eq (whole->overload, "g");
}
END_TEST

START_TEST (blanks_comments_and_lines_are_free_inside_brackets)
{
  assert_prints ("# what it does\n\na::f(\n  int x, # how many\n\n\tint y\r\n) -> (\n  int\n)\n\n",
                 "a::f(int x, int y) -> int");
  assert_prints ("a::f(int x) \\\n -> int # behind", "a::f(int x) -> int");
  assert_prints ("a::f()->()", "a::f() -> ()");
}
END_TEST

START_TEST (every_plain_type_has_its_kind)
{
#define CHECK(enumerator, name, printed)                                                           \
  ck_assert_int_eq (type_of (name)->kind, XP_TYPE_##enumerator);
  XP_PLAIN_TYPE_LIST (CHECK)
}
END_TEST

START_TEST (suffixes_apply_from_left_to_right)
{
  const XpType *type = type_of ("int?[]");
  ck_assert_int_eq (type->kind, XP_TYPE_LIST);
  ck_assert_int_eq (type->elements[0]->kind, XP_TYPE_OPTIONAL);
  ck_assert_int_eq (type->elements[0]->elements[0]->kind, XP_TYPE_INT);
  type = type_of ("int[]?");
  ck_assert_int_eq (type->kind, XP_TYPE_OPTIONAL);
  ck_assert_int_eq (type->elements[0]->kind, XP_TYPE_LIST);
  type = type_of ("Tensor[][]");
  ck_assert_int_eq (type->elements[0]->kind, XP_TYPE_LIST);
  ck_assert_int_eq (type->elements[0]->elements[0]->kind, XP_TYPE_TENSOR);
  type = type_of ("int???");
  ck_assert_int_eq (type->kind, XP_TYPE_OPTIONAL);
  ck_assert_int_eq (type->elements[0]->kind, XP_TYPE_INT);
}
END_TEST

START_TEST (a_fixed_size_comes_last)
{
  const XpType *type = type_of ("int[ 2 ]");
  ck_assert_int_eq (type->kind, XP_TYPE_LIST);
  ck_assert_int_eq (type->fixed_size, 2);
  type = type_of ("Tensor(a)[][3](b)?");
  ck_assert_int_eq (type->kind, XP_TYPE_OPTIONAL);
  ck_assert_int_eq (type->elements[0]->fixed_size, 3);
  ck_assert_int_eq (type->elements[0]->elements[0]->fixed_size, 0);
  ck_assert_int_eq (type_of ("int[0]")->fixed_size, 0);
  ck_assert_int_eq (schema_of ("f() -> (int[2] x, Tensor[4]?)")->returns[0].type->fixed_size, 2);
}
END_TEST

START_TEST (types_are_made_of_types)
{
  const XpType *type = type_of ("(int, Tensor[])");
  ck_assert_int_eq (type->kind, XP_TYPE_TUPLE);
  ck_assert_uint_eq (type->n_elements, 2);
  ck_assert_int_eq (type->elements[1]->kind, XP_TYPE_LIST);
  ck_assert_uint_eq (type_of ("()")->n_elements, 0);
  ck_assert_uint_eq (type_of ("(int)")->n_elements, 1);
  type = type_of ("Dict(str, Dict(int, str)?[])");
  ck_assert_int_eq (type->kind, XP_TYPE_DICT);
  ck_assert_int_eq (type->elements[0]->kind, XP_TYPE_STR);
  ck_assert_int_eq (type->elements[1]->elements[0]->elements[0]->kind, XP_TYPE_DICT);
  ck_assert_int_eq (type_of ("Future(int)")->kind, XP_TYPE_FUTURE);
  ck_assert_int_eq (type_of ("RRef(int)")->kind, XP_TYPE_RREF);
  ck_assert_int_eq (type_of ("Await(int)")->kind, XP_TYPE_AWAIT);
}
END_TEST

START_TEST (a_union_is_put_in_order)
{
  assert_prints ("f(Union(str, int, float) x) -> ()", "f(Union(float, int, str) x) -> ()");
  assert_prints ("f(Union(int[], Tensor[], str?) x) -> ()",
                 "f(Union(Tensor[], int[], NoneType, str) x) -> ()");
  assert_prints ("f(Union(Tensor, Union(int, str), int) x) -> ()",
                 "f(Union(Tensor, int, str) x) -> ()");
  assert_prints ("f(Union(int, None)(a!) x) -> ()", "f(int(a!)? x) -> ()");
  assert_prints ("f(Union(bool, Device, Any, Tensor)(a) x) -> ()",
                 "f(Union(Any, Tensor, bool, Device)(a) x) -> ()");
  const XpType *type = type_of ("Union(str, Tensor)");
  ck_assert_int_eq (type->kind, XP_TYPE_UNION);
  ck_assert_int_eq (type->elements[0]->kind, XP_TYPE_TENSOR);
}
END_TEST

START_TEST (dotted_names_are_classes)
{
  const XpType *type = type_of ("__torch__.torch.classes.quantized.LinearPackedParamsBase");
  ck_assert_int_eq (type->kind, XP_TYPE_CLASS);
  ck_assert_str_eq (type->name, "__torch__.torch.classes.quantized.LinearPackedParamsBase");
  ck_assert_str_eq (type_of ("my . Pool")->name, "my.Pool");
  ck_assert_int_eq (type_of ("my.Pool[]")->kind, XP_TYPE_LIST);
}
END_TEST

START_TEST (variables_are_for_some_namespaces_only)
{
  const XpType *type = schema_of ("aten::f(t[] x) -> t")->arguments[0].type;
  ck_assert_int_eq (type->elements[0]->kind, XP_TYPE_VARIABLE);
  ck_assert_str_eq (type->elements[0]->name, "t");
  schema_of ("prim::f(Dict(int, tVal)(a!) x) -> ()");
  schema_of ("profiler::f(Future(t) x) -> ()");
  ck_assert_ptr_null (xp_schema_parse ("a::f(t x) -> ()", NULL));
  ck_assert_ptr_null (xp_schema_parse ("f(t x) -> ()", NULL));
  ck_assert_ptr_null (xp_schema_parse ("aten::f(double x) -> ()", NULL));
  ck_assert_ptr_null (xp_schema_parse ("aten::f(_t x) -> ()", NULL));
}
END_TEST

START_TEST (a_star_makes_the_rest_keyword_only)
{
  const XpSchema *made = schema_of ("f(int a, *, int b, *, int c=1, *) -> ()");
  ck_assert_uint_eq (made->n_arguments, 3);
  ck_assert (!made->arguments[0].is_keyword_only);
  ck_assert (made->arguments[1].is_keyword_only);
  ck_assert (made->arguments[2].is_keyword_only);
}
END_TEST

START_TEST (dots_end_arguments_and_returns)
{
  const XpSchema *made = schema_of ("f(int a, ...) -> (int, ...)");
  ck_assert (made->is_vararg);
  ck_assert (made->is_varret);
  ck_assert_uint_eq (made->n_arguments, 1);
  ck_assert_uint_eq (made->n_returns, 1);
  made = schema_of ("f(...) -> ...");
  ck_assert (made->is_vararg && made->is_varret && made->n_returns == 0);
  ck_assert (!schema_of ("f() -> ()")->is_vararg);
}
END_TEST

START_TEST (returns_may_have_names)
{
  const XpSchema *made = schema_of ("f() -> (Tensor(a!) values, int)");
  ck_assert_str_eq (made->returns[0].name, "values");
  ck_assert_str_eq (made->returns[1].name, "");
  ck_assert (made->returns[0].alias->is_write);
  ck_assert_uint_eq (schema_of ("f() -> (int)")->n_returns, 1);
  ck_assert_uint_eq (schema_of ("f() -> ((int, int))")->n_returns, 1);
  ck_assert_uint_eq (schema_of ("f() -> (int, int)")->n_returns, 2);
}
END_TEST

/* TorchScript's keywords are no names; lambda, try, except and yield are. */
START_TEST (only_some_words_of_python_are_names)
{
  static const char *const keywords[] = { "def",    "if",       "else",    "elif",  "while",
                                          "for",    "in",       "is",      "not",   "and",
                                          "or",     "return",   "global",  "raise", "assert",
                                          "break",  "continue", "del",     "pass",  "class",
                                          "import", "with",     "as",      "True",  "False",
                                          "None",   "NoneType", "Ellipsis" };
  for (unsigned i = 0; i < XP_LENGTH (keywords); i++)
    {
      g_autofree char *text = g_strdup_printf ("f(int %s) -> ()", keywords[i]);
      g_autofree char *name = g_strdup_printf ("a::%s() -> ()", keywords[i]);
      ck_assert_msg (xp_schema_parse (text, NULL) == NULL, "%s", text);
      ck_assert_msg (xp_schema_parse (name, NULL) == NULL, "%s", name);
    }
  assert_prints_itself ("lambda::yield(int try, Tensor Tensor, int int, int ifs) -> int except");
}
END_TEST

START_TEST (an_alias_names_sets_before_and_after)
{
  const XpAlias *alias = argument_of ("Tensor(a! -> b|c) x")->alias;
  ck_assert (alias->is_write);
  ck_assert_str_eq (alias->before[0], "a");
  ck_assert_ptr_null (alias->before[1]);
  ck_assert_str_eq (alias->after[0], "b");
  ck_assert_str_eq (alias->after[1], "c");
  ck_assert_ptr_null (alias->after[2]);
  alias = argument_of ("Tensor(b|a) x")->alias;
  ck_assert (!alias->is_write);
  ck_assert_str_eq (alias->before[0], "b");
  ck_assert_str_eq (alias->after[1], "a");
  alias = argument_of ("Tensor(a|*) x")->alias;
  ck_assert_str_eq (alias->before[1], "*");
  ck_assert_ptr_null (argument_of ("Tensor(a|b|a) x")->alias->before[2]);
  ck_assert_ptr_null (argument_of ("Tensor x")->alias);
  ck_assert (argument_of ("int(a) x")->alias != NULL);
}
END_TEST

START_TEST (a_list_has_an_alias_and_its_elements_have_one)
{
  const XpAlias *alias = argument_of ("Tensor(a!)[] x")->alias;
  ck_assert (alias->is_write);
  ck_assert_ptr_null (alias->before);
  ck_assert_ptr_null (alias->after);
  ck_assert_str_eq (alias->contained->before[0], "a");
  alias = argument_of ("Tensor(a)[](b!) x")->alias;
  ck_assert_str_eq (alias->before[0], "b");
  ck_assert (alias->is_write);
  ck_assert (!alias->contained->is_write);
  alias = argument_of ("Tensor[](a) x")->alias;
  ck_assert_ptr_null (alias->contained);
  alias = argument_of ("Tensor(a!)[][2] x")->alias;
  ck_assert (alias->is_write && alias->contained->is_write);
  ck_assert_str_eq (alias->contained->contained->before[0], "a");
}
END_TEST

START_TEST (an_exclamation_mark_writes_to_a_set_of_its_own)
{
  const XpSchema *made = schema_of ("f(Tensor! x, Tensor![] y) -> ()");
  const XpAlias *first = made->arguments[0].alias;
  const XpAlias *second = made->arguments[1].alias->contained;
  ck_assert (first->is_write && second->is_write);
  ck_assert_str_ne (first->before[0], second->before[0]);
  ck_assert_int_eq (first->before[0][0], '$');
}
END_TEST

START_TEST (a_list_or_keyword_may_follow_a_default_without_one)
{
  schema_of ("f(int a=1, int[] b, int[2] c, *, int d) -> ()");
  ck_assert_ptr_null (xp_schema_parse ("f(int a=1, int[]? b) -> ()", NULL));
  ck_assert_ptr_null (xp_schema_parse ("f(int a=1, int b) -> ()", NULL));
}
END_TEST

START_TEST (a_schema_is_counted)
{
  XpSchema *made = parsed ("f(str x='text', int[] y=[1]) -> ()");
  XpSchema *again = xp_schema_ref (made);
  ck_assert_ptr_eq (made, again);
  xp_schema_unref (made);
  ck_assert_str_eq (xp_string_text (again->arguments[0].default_value.as.string), "text");
  xp_schema_unref (again);
  xp_schema_unref (NULL);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("parse");
  TCase *declarations = tcase_create ("declarations");
  tcase_add_checked_fixture (declarations, NULL, free_schema);
  tcase_add_test (declarations, names_and_flags_are_taken_apart);
  tcase_add_test (declarations, a_name_needs_no_namespace_and_no_overload);
  tcase_add_test (declarations, blanks_comments_and_lines_are_free_inside_brackets);
  tcase_add_test (declarations, a_star_makes_the_rest_keyword_only);
  tcase_add_test (declarations, dots_end_arguments_and_returns);
  tcase_add_test (declarations, returns_may_have_names);
  tcase_add_test (declarations, only_some_words_of_python_are_names);
  tcase_add_test (declarations, a_list_or_keyword_may_follow_a_default_without_one);
  tcase_add_test (declarations, a_schema_is_counted);
  suite_add_tcase (suite, declarations);
  TCase *types = tcase_create ("types");
  tcase_add_checked_fixture (types, NULL, free_schema);
  tcase_add_test (types, every_plain_type_has_its_kind);
  tcase_add_test (types, suffixes_apply_from_left_to_right);
  tcase_add_test (types, a_fixed_size_comes_last);
  tcase_add_test (types, types_are_made_of_types);
  tcase_add_test (types, a_union_is_put_in_order);
  tcase_add_test (types, dotted_names_are_classes);
  tcase_add_test (types, variables_are_for_some_namespaces_only);
  tcase_add_test (types, an_alias_names_sets_before_and_after);
  tcase_add_test (types, a_list_has_an_alias_and_its_elements_have_one);
  tcase_add_test (types, an_exclamation_mark_writes_to_a_set_of_its_own);
  suite_add_tcase (suite, types);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
