/* SPDX-License-Identifier: MIT
 *
 * python.c: the cases of PyTorch's test_dispatch.py, under their names (README.md), and those whose
 * stored table goes stale there.
 */
#include "dispatch/commute.h"

#include <stdlib.h>

#define COMMUTE(name, ...)                                                                         \
  START_TEST (name)                                                                                \
  {                                                                                                \
    static const Commute steps = { __VA_ARGS__ };                                                  \
    commute (&steps);                                                                              \
  }                                                                                                \
  END_TEST

#define HEAD                                                                                       \
  "name: __test__::foo\nschema: __test__::foo(Tensor x) -> Tensor\n"                               \
  "debug: registered at /dev/null:0\nalias analysis kind: FROM_SCHEMA\n"
#define LINE(key, n)                                                                               \
  key ": registered at /dev/null:" #n " :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"

/* --- Registrations. --- */

COMMUTE (test_def, .n = 5,
         .steps = { DEF, KERNEL (""), KERNEL ("CPU"), KERNEL ("Autograd"), KERNEL ("AutogradCPU") },
         .dump = HEAD LINE ("CPU", 2) LINE ("AutogradCPU", 4) LINE ("Autograd[alias]", 3)
             LINE ("CompositeImplicitAutograd[alias]", 1))

COMMUTE (test_def_with_inference, .n = 4,
         .steps = { INFERRED_DEF, KERNEL ("CPU"), KERNEL ("Autograd"), KERNEL ("AutogradCPU") },
         .dump = "name: __test__::foo\nschema: __test__::foo(Tensor _0) -> Tensor _0\n"
                 "debug: registered at /dev/null:0\n"
                 "alias analysis kind: CONSERVATIVE\n" LINE ("CPU", 1) LINE ("AutogradCPU", 3)
                     LINE ("Autograd[alias]", 2) LINE ("CompositeImplicitAutograd[alias]", 0))

COMMUTE (test_def_only, .n = 1, .steps = { DEF }, .dump = HEAD)

COMMUTE (test_impl_only, .n = 4,
         .steps = { KERNEL (""), KERNEL ("CPU"), KERNEL ("Autograd"), KERNEL ("AutogradCPU") },
         .dump = "name: __test__::foo\nschema: (none)\n" LINE ("CPU", 1) LINE ("AutogradCPU", 3)
             LINE ("Autograd[alias]", 2) LINE ("CompositeImplicitAutograd[alias]", 0))

COMMUTE (test_def_with_explicit_alias, .n = 1,
         .steps = { { .schema = SCHEMA, .alias_analysis = XP_ALIAS_ANALYSIS_PURE_FUNCTION } },
         .dump = "name: __test__::foo\nschema: __test__::foo(Tensor x) -> Tensor\n"
                 "debug: registered at /dev/null:0\nalias analysis kind: PURE_FUNCTION\n")

/* --- Computed tables: Undefined CPU CUDA XLA, the same for autograd, FPGA. --- */

COMMUTE (test_computed_table, .n = 5,
         .steps = { INFERRED_DEF, KERNEL ("CPU"), KERNEL ("XLA"), KERNEL ("Autograd"),
                    KERNEL ("AutogradCPU") },
         .cells = "mkmkmkmam")

COMMUTE (test_computed_table_with_cpu_math_autogradcpu_fallthrough, .n = 2,
         .steps = { INFERRED_DEF, KERNEL ("CPU") }, .cells = "mkmmmFmmm")

COMMUTE (test_computed_table_with_math, .n = 2, .steps = { DEF, IMPLICIT }, .cells = "mmmmmmmmm")

COMMUTE (test_computed_table_with_cpu_math, .n = 3, .steps = { DEF, KERNEL ("CPU"), IMPLICIT },
         .cells = "mkmmmFmmm")

COMMUTE (test_computed_table_with_autograd, .n = 2, .steps = { DEF, KERNEL ("Autograd") },
         .cells = "----aaaa-")

COMMUTE (test_computed_table_with_cpu_autograd_math, .n = 4,
         .steps = { DEF, KERNEL ("CPU"), KERNEL ("Autograd"), IMPLICIT }, .cells = "mkmmmammm")

COMMUTE (test_computed_table_with_ambiguous_autogradother, .n = 3,
         .steps = { DEF, IMPLICIT, KERNEL ("FPGA") }, .cells = "mmmmAmmmk")

COMMUTE (test_computed_table_with_cpu_defaultbackend, .n = 3,
         .steps = { DEF, KERNEL ("CPU"), EXPLICIT }, .cells = "dkddFFFFd")

COMMUTE (test_computed_table_with_cpu_autograd_defaultbackend, .n = 4,
         .steps = { DEF, KERNEL ("CPU"), KERNEL ("Autograd"), EXPLICIT }, .cells = "dkddaaaad")

COMMUTE (test_computed_table_with_cpu_autograd_math_defaultbackend, .n = 5,
         .steps = { DEF, KERNEL ("CPU"), KERNEL ("Autograd"), IMPLICIT, EXPLICIT },
         .cells = "dkddaaaad")

/* --- The same key twice. --- */

COMMUTE (test_overwrite_math, .n = 2, .in_this_order = true, .steps = { KERNEL (""), KERNEL ("") },
         .dump = "name: __test__::foo\nschema: (none)\n" LINE ("CompositeImplicitAutograd[alias]",
                                                               1)
             LINE ("CompositeImplicitAutograd[alias] "
                   "(inactive)",
                   0))

/* --- PyTorch's stored table goes stale in some orders of these (reference 3.2). --- */

COMMUTE (stale_implicit_explicit, .n = 3, .steps = { DEF, IMPLICIT, EXPLICIT },
         .cells = "ddddFFFFd")

COMMUTE (stale_implicit_explicit_autograd, .n = 4,
         .steps = { DEF, IMPLICIT, EXPLICIT, KERNEL ("Autograd") }, .cells = "ddddaaaad")

COMMUTE (stale_implicit_sparse, .n = 3, .steps = { DEF, IMPLICIT, KERNEL ("SparseCPU") },
         .cells = "mmmmAmmmm")

COMMUTE (stale_implicit_sparse_csr, .n = 3, .steps = { DEF, IMPLICIT, KERNEL ("SparseCsrCUDA") },
         .cells = "mmmmAmmmm")

COMMUTE (stale_implicit_quantized, .n = 3, .steps = { DEF, IMPLICIT, KERNEL ("QuantizedXLA") },
         .cells = "mmmmAmmmm")

COMMUTE (stale_implicit_nested, .n = 3, .steps = { DEF, IMPLICIT, KERNEL ("NestedTensorCPU") },
         .cells = "mmmmmmmmm")

/* All that goes stale at once, and every alias. */
COMMUTE (stale_all, .n = 5,
         .steps = { DEF, IMPLICIT, EXPLICIT, KERNEL ("SparseCPU"), KERNEL ("NestedTensorCPU") },
         .cells = "ddddAFFFd")

COMMUTE (all_aliases, .n = 6, .row = SCHEMA,
         .steps = { IMPLICIT, EXPLICIT, KERNEL ("CompositeExplicitAutogradNonFunctional"),
                    KERNEL ("CompositeImplicitAutogradNestedTensor"),
                    KERNEL ("FuncTorchBatchedDecomposition"), KERNEL ("Autograd") },
         .cells = "ddddaaaad")

/* A fallthrough among them, and a fallback. */
COMMUTE (fallthroughs_and_fallbacks, .n = 5,
         .steps = { DEF,
                    IMPLICIT,
                    { .key = "CPU", .is_fallthrough = true },
                    { .key = "AutogradCPU", .is_fallback = true },
                    { .key = "CUDA", .is_fallback = true, .is_fallthrough = true } },
         .cells = "mkmmmFmmm")

/* --- Errors. --- */

START_TEST (test_def_impl_schema_mismatch)
{
  static const Commute steps = {
    .n = 2, .steps = { { .schema = "foo(Tensor x, Tensor y) -> Tensor" }, KERNEL ("CPU") }
  };
  commute_fails (
      &steps, XP_ERROR_SCHEMA_MISMATCH, "CPU",
      "Inferred operator schema for a kernel function doesn't match the expected function schema.\n"
      "  operator: __test__::foo\n"
      "  expected schema: __test__::foo(Tensor x, Tensor y) -> Tensor\n"
      "    registered at /dev/null:0\n"
      "  inferred schema: (Tensor _0) -> Tensor _0\n"
      "    registered at /dev/null:1\n"
      "  reason: The number of arguments is different. 2 vs 1.");
}
END_TEST

#define DUPLICATE                                                                                  \
  "Tried to register an operator (__test__::foo(Tensor x) -> Tensor) with the same name and "      \
  "overload name multiple times. Each overload's schema should only be registered with a single "  \
  "call to def(). Duplicate registration: registered at /dev/null:0 (the program). Original "      \
  "registration: registered at /dev/null:0 (the program)"

START_TEST (test_multiple_def_error)
{
  static const Commute steps = { .n = 2, .steps = { DEF, DEF } };
  commute_fails (&steps, XP_ERROR_DUPLICATE_DEF, NULL, DUPLICATE);
}
END_TEST

START_TEST (test_multiple_def_alias_defaulting)
{
  static const Commute steps = { .n = 2,
                                 .steps = { { .schema = SCHEMA,
                                              .alias_analysis = XP_ALIAS_ANALYSIS_PURE_FUNCTION },
                                            { .schema = SCHEMA } } };
  commute_fails (&steps, XP_ERROR_DUPLICATE_DEF, NULL, DUPLICATE);
}
END_TEST

START_TEST (test_multiple_def_alias_mismatch)
{
  static const Commute steps = {
    .n = 2,
    .steps = { { .schema = SCHEMA, .alias_analysis = XP_ALIAS_ANALYSIS_PURE_FUNCTION },
               { .schema = SCHEMA, .alias_analysis = XP_ALIAS_ANALYSIS_CONSERVATIVE } }
  };
  commute_fails (&steps, XP_ERROR_DUPLICATE_DEF, NULL, DUPLICATE);
}
END_TEST

/* One after the other: the places swap with the order. */
START_TEST (test_multiple_fallback)
{
  static const Commute steps = {
    .n = 2,
    .in_this_order = true,
    .steps = { { .key = "XLA", .is_fallback = true, .is_fallthrough = true },
               { .key = "XLA", .is_fallback = true, .is_fallthrough = true } }
  };
  commute_fails (&steps, XP_ERROR_DUPLICATE_FALLBACK, "XLA",
                 "Tried to register multiple backend fallbacks for the same dispatch key XLA; "
                 "previous registration registered at /dev/null:0, new registration registered at "
                 "/dev/null:1");
}
END_TEST

/* --- The harness itself: the check must see a cell that is stale. --- */

START_TEST (the_check_sees_a_stale_cell)
{
  g_autoptr (XpLibrary) rows = fragment_new ("__test__");
  g_autoptr (XpLibrary) math = impl_new ("__test__", NULL);
  g_autoptr (XpLibrary) cpu = impl_new ("__test__", "CPU");
  define (rows, SCHEMA);
  record_at (math, "foo", 1);
  record_at (cpu, "foo", 2);
  XpOperator *op = operator_named ("__test__::foo");
  /* As upstream's AutogradOther after Implicit, then SparseCPU: a kernel from before. */
  XpCell *cell = (XpCell *) &op->cells[XP_FUNCTIONALITY_AutogradOther];
  XpCell kept = *cell;
  cell->kernel = op->cells[XP_FUNCTIONALITY_ADInplaceOrView].kernel;
  GError *error = NULL;
  ck_assert (!xp_table_check (&error));
  ck_assert_str_eq (xp_error_get_details (error)->op, "__test__::foo");
  ck_assert_str_eq (xp_error_get_details (error)->key, "AutogradOther");
  ck_assert_ptr_nonnull (
      strstr (error->message, "\nCanonical state\n~~~~~~~~~~~\nname: __test__::foo\n"));
  ck_assert_ptr_nonnull (
      strstr (error->message, "\n\nComputed table:\n~~~~~~~~~~~\nUndefined: registered at"));
  assert_error (error, XP_ERROR_INTERNAL, "__test__::foo, cell AutogradOther: stored is");
  *cell = kept;
  assert_table_is_sound ();
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("python");
  TCase *tests = tcase_create ("python");
  tcase_add_test (tests, test_def);
  tcase_add_test (tests, test_def_impl_schema_mismatch);
  tcase_add_test (tests, test_def_with_inference);
  tcase_add_test (tests, test_def_only);
  tcase_add_test (tests, test_impl_only);
  tcase_add_test (tests, test_computed_table);
  tcase_add_test (tests, test_computed_table_with_cpu_math_autogradcpu_fallthrough);
  tcase_add_test (tests, test_computed_table_with_math);
  tcase_add_test (tests, test_computed_table_with_cpu_math);
  tcase_add_test (tests, test_computed_table_with_autograd);
  tcase_add_test (tests, test_computed_table_with_cpu_autograd_math);
  tcase_add_test (tests, test_computed_table_with_ambiguous_autogradother);
  tcase_add_test (tests, test_computed_table_with_cpu_defaultbackend);
  tcase_add_test (tests, test_computed_table_with_cpu_autograd_defaultbackend);
  tcase_add_test (tests, test_computed_table_with_cpu_autograd_math_defaultbackend);
  tcase_add_test (tests, test_multiple_def_error);
  tcase_add_test (tests, test_def_with_explicit_alias);
  tcase_add_test (tests, test_multiple_def_alias_defaulting);
  tcase_add_test (tests, test_multiple_def_alias_mismatch);
  tcase_add_test (tests, test_multiple_fallback);
  tcase_add_test (tests, test_overwrite_math);
  tcase_add_test (tests, stale_implicit_explicit);
  tcase_add_test (tests, stale_implicit_explicit_autograd);
  tcase_add_test (tests, stale_implicit_sparse);
  tcase_add_test (tests, stale_implicit_sparse_csr);
  tcase_add_test (tests, stale_implicit_quantized);
  tcase_add_test (tests, stale_implicit_nested);
  tcase_add_test (tests, stale_all);
  tcase_add_test (tests, all_aliases);
  tcase_add_test (tests, fallthroughs_and_fallbacks);
  tcase_add_test (tests, the_check_sees_a_stale_cell);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 300);
  return run_suite (suite);
}
