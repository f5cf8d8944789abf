/* SPDX-License-Identifier: MIT
 *
 * Printing: the canonical form (reference 4.5), which always reads back.
 */
#include "schemas.h"

#include <locale.h>

START_TEST (canonical_texts_print_as_themselves)
{
  static const char *const texts[] = {
    "a::f() -> ()",
    "a::f.b(int x) -> int",
    "f(Tensor(a!)? x) -> ()",
    "f(Tensor(a!)[]? x) -> ()",
    "f(Tensor(a!)[] x) -> ()",
    "f(Tensor(a)[](b) x) -> ()",
    "f(Tensor[](a!) x) -> ()",
    "f(int[2]? s) -> ()",
    "f(int[2](a!)? x) -> ()",
    "f(Tensor(a -> *) x) -> ()",
    "f(Tensor(a! -> a|b) x) -> ()",
    "f(Tensor(*) x) -> ()",
    "f(*, int x) -> ()",
    "f(int x, *, int y, int z) -> ()",
    "f(...) -> ...",
    "f(int x, ...) -> (int, ...)",
    "f() -> ((int, int))",
    "f() -> ((int, int)[] x)",
    "f() -> ((int, int)?)",
    "f() -> ((int, int), ...)",
    "f() -> (Tensor a, Tensor b)",
    "f() -> Tensor(a!) out",
    "f(Dict(str, Tensor)(a!) x, Future(int) y, RRef(Tensor[]) z, Await(int?) w) -> ()",
    "f(() x, (int) y, (int, (Tensor, str)[]) z) -> ()",
  };
  for (unsigned i = 0; i < XP_LENGTH (texts); i++)
    assert_prints_itself (texts[i]);
}
END_TEST

START_TEST (other_spellings_become_canonical)
{
  assert_prints ("f(int x)->(int)", "f(int x) -> int");
  assert_prints ("f(None x, NoneType y)->None", "f(NoneType x, NoneType y) -> NoneType");
  assert_prints ("f(Dimname x, ConstQuantizerPtr y, DeviceIndex z) -> ()",
                 "f(str x, int y, int z) -> ()");
  assert_prints ("f(*, *, int x, *) -> ()", "f(*, int x) -> ()");
  assert_prints ("f(int x, *) -> ()", "f(int x) -> ()");
  assert_prints ("f(int?? x) -> ()", "f(int? x) -> ()");
  assert_prints ("f(Tensor(a|a -> a|b|a) x) -> ()", "f(Tensor(a -> a|b) x) -> ()");
  assert_prints ("f(Tensor(a -> a) x) -> ()", "f(Tensor(a) x) -> ()");
  assert_prints ("f((Tensor(a), int) x, Dict(str, Tensor(b)) y) -> ()",
                 "f((Tensor, int) x, Dict(str, Tensor) y) -> ()");
}
END_TEST

/* PyTorch prints texts for these that it does not read back, or reads otherwise. */
START_TEST (what_pytorch_cannot_read_back_is_mended)
{
  assert_prints_itself ("f(Tensor! x, int! y, Tensor![]! z) -> Tensor!");
  assert_prints_itself ("f(Tensor(a|*) x) -> ()");
  assert_prints_itself ("f(Tensor(b|a) x) -> ()");
  assert_prints_itself ("f(Tensor(a!)[][] x, Tensor(b)[](c)[][2](d)? y) -> ()");
  assert_prints_itself ("f(Tensor(a!)?[] x, Tensor(b)?[](c)? y) -> ()");
  assert_prints ("f(Device d='cuda:0', Device? e='cpu') -> ()",
                 "f(Device d=\"cuda:0\", Device? e=\"cpu\") -> ()");
  assert_prints_itself ("f(str s=\"\\r\\303\\251\\377\") -> ()");
  assert_prints_itself ("f(complex x=0.+1.j, Scalar y=-0.5-3.j) -> ()");
  assert_prints_itself ("f(int[] x=[2, 2]) -> ()");
  assert_prints_itself ("f(int[2] x=[1, 1, 1]) -> ()");
  assert_prints_itself ("f(float x=-0.) -> ()");
}
END_TEST

START_TEST (defaults_print_as_the_table_says)
{
  assert_prints_itself ("f(int? a=None, bool b=True, bool? c=False, int d=-3) -> ()");
  assert_prints (
      "f(float a=1, float b=3e5, float c=1e10, float d=123456789012) -> ()",
      "f(float a=1., float b=300000., float c=10000000000., float d=123456789012.) -> ()");
  assert_prints ("f(float a=.1, float b=1e-5, float c=1e20, float d=1e300) -> ()",
                 "f(float a=0.10000000000000001, float b=1.0000000000000001e-05, float c=1e+20, "
                 "float d=1.0000000000000001e+300) -> ()");
  assert_prints ("f(float a=9e18, float b=1e19, float c=5e-324, float d=0) -> ()",
                 "f(float a=9000000000000000000., float b=1e+19, "
                 "float c=4.9406564584124654e-324, float d=0.) -> ()");
  assert_prints ("f(complex a=1j, complex b=-3j) -> ()",
                 "f(complex a=0.+1.j, complex b=0.-3.j) -> ()");
  assert_prints ("f(ScalarType a=float, ScalarType b=complex, ScalarType c=long) -> ()",
                 "f(ScalarType a=6, ScalarType b=9, ScalarType c=4) -> ()");
  assert_prints ("f(Layout a=strided, MemoryFormat? b=contiguous_format, int c=Mean) -> ()",
                 "f(Layout a=0, MemoryFormat? b=0, int c=1) -> ()");
}
END_TEST

START_TEST (strings_print_with_escapes)
{
  assert_prints ("f(str x='\\\\\\'\\\"\\a\\b\\f\\n\\r\\t\\v') -> ()",
                 "f(str x=\"\\\\\\'\\\"\\a\\b\\f\\n\\r\\t\\v\") -> ()");
  assert_prints ("f(str x='\\001\\000\\177') -> ()", "f(str x=\"\\001\\000\\177\") -> ()");
  assert_prints ("f(str x='''a\n\"b''') -> ()", "f(str x=\"a\\n\\\"b\") -> ()");
  assert_prints ("f(str x='\303\251') -> ()", "f(str x=\"\\303\\251\") -> ()");
}
END_TEST

START_TEST (lists_print_short_where_they_may)
{
  assert_prints ("f(int[2] a=[1, 1], int[2] b=[1, 2], int[1] c=1, int[2] d=[]) -> ()",
                 "f(int[2] a=1, int[2] b=[1, 2], int[1] c=[1], int[2] d=[]) -> ()");
  assert_prints ("f(SymInt[2] a=1, DeviceIndex[2] b=1) -> ()",
                 "f(SymInt[2] a=[1, 1], int[2] b=1) -> ()");
  assert_prints ("f(float[2] a=.5, bool[2] b=True) -> ()",
                 "f(float[2] a=[0.5, 0.5], bool[2] b=[True, True]) -> ()");
  assert_prints_itself ("f(int[3]? a=2, float[2]? b=1.) -> ()");
}
END_TEST

/* The printer must not follow the locale of the program. */
START_TEST (numbers_have_a_point_in_every_locale)
{
  if (setlocale (LC_ALL, "de_DE.UTF-8") == NULL)
    setlocale (LC_ALL, "");
  assert_prints_itself ("f(float x=0.5) -> ()");
  setlocale (LC_ALL, "C");
}
END_TEST

START_TEST (types_print_alone)
{
  g_autoptr (XpSchema) schema = parsed ("f(Tensor(a!)[2]? x, Dimname[] y) -> ()");
  g_autofree char *first = xp_type_to_string (schema->arguments[0].type);
  g_autofree char *second = xp_type_to_string (schema->arguments[1].type);
  ck_assert_str_eq (first, "Tensor[2]?");
  ck_assert_str_eq (second, "str[]");
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("print");
  TCase *print = tcase_create ("print");
  tcase_add_test (print, canonical_texts_print_as_themselves);
  tcase_add_test (print, other_spellings_become_canonical);
  tcase_add_test (print, what_pytorch_cannot_read_back_is_mended);
  tcase_add_test (print, defaults_print_as_the_table_says);
  tcase_add_test (print, strings_print_with_escapes);
  tcase_add_test (print, lists_print_short_where_they_may);
  tcase_add_test (print, numbers_have_a_point_in_every_locale);
  tcase_add_test (print, types_print_alone);
  suite_add_tcase (suite, print);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
