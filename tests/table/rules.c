/* SPDX-License-Identifier: MIT
 *
 * rules.c: which kernel is in which cell: PyTorch 1.13's own answers (reference, appendix A), and
 * what fallthroughs do to it. Random registrations are in random.c.
 */
#include "table/blocks.h"

#include <stdlib.h>

/* --- What PyTorch 1.13 says. --- */

static const char *const columns[] = {
  "Undefined",
  "CPU",
  "HIP",
  "XLA",
  "FPGA",
  "SparseCPU",
  "NestedTensorCPU",
  "AutogradOther",
  "AutogradCPU",
  "AutogradHIP",
  "AutogradXLA",
  "AutogradNestedTensor",
};

#define IMPLICIT "CompositeImplicitAutograd"
#define EXPLICIT "CompositeExplicitAutograd"
#define NON_FUNCTIONAL "CompositeExplicitAutogradNonFunctional"
#define IMPLICIT_NESTED "CompositeImplicitAutogradNestedTensor"

/* A letter per column: k kernel, d default backend, n nested, A ambiguous, m math, a autograd,
 * F fallback, - missing. */
static const struct
{
  const char *keys[4];
  const char *cells;
} matrix[] = {
  { { IMPLICIT }, "mmmmmmmmmmmm" },
  { { EXPLICIT }, "dddddd-FF-F-" },
  { { NON_FUNCTIONAL }, "ddd-d--FF-F-" },
  { { IMPLICIT_NESTED }, "------nFF-Fn" },
  { { IMPLICIT, IMPLICIT_NESTED }, "mmmmmmnmmmmn" },
  { { IMPLICIT, EXPLICIT }, "dddddd-FF-F-" },
  { { IMPLICIT, NON_FUNCTIONAL }, "dddmdmmmmmmm" },
  { { IMPLICIT, "CPU" }, "mkmmmmmmFmmm" },
  { { IMPLICIT, "CPU", "Autograd" }, "mkmmmmmmammm" },
  { { IMPLICIT, "SparseCPU" }, "mmmmmkmAmmmm" },
  { { IMPLICIT, "FPGA" }, "mmmmkmmAmmmm" },
  { { IMPLICIT, "FPGA", "Autograd" }, "mmmmkmmAmmmm" },
  { { IMPLICIT, "HIP" }, "mmkmmmmmmmmm" },
  { { IMPLICIT, "NestedTensorCPU" }, "mmmmmmkmmmm-" },
  { { "Autograd" }, "-------aaaaa" },
  { { EXPLICIT, "FPGA" }, "ddddkd-FF-F-" },
  /* Not in the appendix, from the rules alone. */
  { { IMPLICIT, "QuantizedCPU" }, "mmmmmmmAmmmm" },
  { { IMPLICIT, EXPLICIT, "FPGA" }, "ddddkd-AF-F-" },
  { { "AutogradOther", IMPLICIT, "FPGA" }, "mmmmkmmkmmmm" },
  { { EXPLICIT, NON_FUNCTIONAL }, "dddddd-FF-F-" },
  { { EXPLICIT, "Autograd" }, "dddddd-aaaaa" },
  { { "CPU", "Autograd" }, "-k-----aaaaa" },
  { { "CPU", "AutogradCPU", "Autograd" }, "-k-----akaaa" },
};

static const char rule_letters[XP_N_RULES] = {
  [XP_RULE_KERNEL] = 'k',  [XP_RULE_DEFAULT_BACKEND] = 'd',
  [XP_RULE_NESTED] = 'n',  [XP_RULE_AMBIGUOUS] = 'A',
  [XP_RULE_MATH] = 'm',    [XP_RULE_AUTOGRAD] = 'a',
  [XP_RULE_BATCHED] = 'b', [XP_RULE_FALLBACK] = 'F',
  [XP_RULE_MISSING] = '-',
};

static const XpCellInfo *
cell_of (const XpRowInfo *info, XpKey key)
{
  for (unsigned i = 0; i < info->n_cells; i++)
    if (info->cells[i].key == key)
      return &info->cells[i];
  ck_abort_msg ("no cell of %s", xp_key_name (key));
}

static XpKey
key_named (const char *name)
{
  XpKey key;
  GError *error = NULL;
  xp_key_parse (name, &key, &error);
  assert_no_error (error);
  return key;
}

START_TEST (the_matrix_of_pytorch)
{
  XpLibrary *blocks[4] = { NULL };
  g_autoptr (XpLibrary) rows = fragment_new ("rr");
  define (rows, "foo(Tensor x) -> Tensor");
  for (unsigned i = 0; i < 4 && matrix[_i].keys[i] != NULL; i++)
    {
      blocks[i] = impl_new ("rr", matrix[_i].keys[i]);
      record_at (blocks[i], "foo", (int) i + 1);
    }
  g_autoptr (XpRowInfo) info = xp_table_row ("rr::foo");
  for (unsigned i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      const XpCellInfo *cell = cell_of (info, key_named (columns[i]));
      ck_assert_msg (rule_letters[cell->rule] == matrix[_i].cells[i],
                     "%s with %s, %s, %s: expected %c, found %c", columns[i], matrix[_i].keys[0],
                     matrix[_i].keys[1], matrix[_i].keys[2], matrix[_i].cells[i],
                     rule_letters[cell->rule]);
    }
  assert_table_is_sound ();
  for (unsigned i = 0; i < 4; i++)
    xp_library_free (blocks[i]);
}
END_TEST

/* Both defaults are there: the one that comes first is in the cell. */
START_TEST (the_stronger_default_is_in_the_cell)
{
  g_autoptr (XpLibrary) rows = fragment_new ("rr");
  g_autoptr (XpLibrary) strong = impl_new ("rr", NON_FUNCTIONAL);
  g_autoptr (XpLibrary) weak = impl_new ("rr", EXPLICIT);
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (strong, "foo", 1);
  record_at (weak, "foo", 2);
  g_autoptr (XpRowInfo) info = xp_table_row ("rr::foo");
  ck_assert_str_eq (cell_of (info, XP_KEY_CPU)->location, "registered at kernel.c:1");
  ck_assert_str_eq (cell_of (info, XP_KEY_Undefined)->location, "registered at kernel.c:1");
  ck_assert_str_eq (cell_of (info, XP_KEY_XLA)->location, "registered at kernel.c:2");
  ck_assert_str_eq (cell_of (info, XP_KEY_SparseCPU)->location, "registered at kernel.c:2");
  ck_assert_int_eq (cell_of (info, XP_KEY_CPU)->from,
                    XP_KEY_CompositeExplicitAutogradNonFunctional);
  ck_assert_int_eq (cell_of (info, XP_KEY_XLA)->from, XP_KEY_CompositeExplicitAutograd);
}
END_TEST

/* The rules of a row that does not exist. */
START_TEST (rules_without_a_row)
{
  static const XpKey kernels[] = { XP_KEY_CompositeImplicitAutograd, XP_KEY_SparseCPU, XP_KEY_Dense,
                                   XP_KEY_SparseCPU };
  static const struct
  {
    unsigned n_kernels;
    XpKey key;
    gboolean has_fallback;
    XpRule rule;
    XpKey from;
  } cases[] = {
    { 0, XP_KEY_CPU, FALSE, XP_RULE_MISSING, XP_KEY_CPU },
    { 0, XP_KEY_CPU, TRUE, XP_RULE_FALLBACK, XP_KEY_CPU },
    { 0, XP_KEY_Undefined, TRUE, XP_RULE_MISSING, XP_KEY_Undefined },
    { 1, XP_KEY_CPU, TRUE, XP_RULE_MATH, XP_KEY_CompositeImplicitAutograd },
    { 1, XP_KEY_Undefined, FALSE, XP_RULE_MATH, XP_KEY_CompositeImplicitAutograd },
    { 1, XP_KEY_Tracer, TRUE, XP_RULE_FALLBACK, XP_KEY_Tracer },
    { 2, XP_KEY_SparseCPU, TRUE, XP_RULE_KERNEL, XP_KEY_SparseCPU },
    { 2, XP_KEY_AutogradOther, TRUE, XP_RULE_AMBIGUOUS, XP_KEY_AutogradOther },
    { 2, XP_KEY_AutogradCPU, TRUE, XP_RULE_MATH, XP_KEY_CompositeImplicitAutograd },
    { 4, XP_KEY_AutogradCPU, TRUE, XP_RULE_FALLBACK, XP_KEY_AutogradCPU },
    { 4, XP_KEY_AutogradHIP, TRUE, XP_RULE_MATH, XP_KEY_CompositeImplicitAutograd },
    { 4, XP_KEY_CPU, TRUE, XP_RULE_MATH, XP_KEY_CompositeImplicitAutograd },
  };
  XpKey from;
  XpRule rule = xp_rule_for_cell (kernels, cases[_i].n_kernels, cases[_i].has_fallback,
                                  cases[_i].key, &from);
  ck_assert_str_eq (xp_rule_label (rule), xp_rule_label (cases[_i].rule));
  ck_assert_str_eq (xp_key_name (from), xp_key_name (cases[_i].from));
}
END_TEST

/* --- Fallthrough. --- */

START_TEST (a_fallthrough_counts_as_a_kernel_in_the_rules)
{
  g_autoptr (XpLibrary) rows = fragment_new ("rr");
  g_autoptr (XpLibrary) cpu = impl_new ("rr", "CPU");
  g_autoptr (XpLibrary) math = impl_new ("rr", NULL);
  define (rows, "foo(Tensor x) -> Tensor");
  implement (cpu, "foo", xp_fallthrough, 1);
  record_at (math, "foo", 2);
  g_autoptr (XpRowInfo) info = xp_table_row ("rr::foo");
  ck_assert_int_eq (cell_of (info, XP_KEY_CPU)->rule, XP_RULE_KERNEL);
  ck_assert (cell_of (info, XP_KEY_CPU)->is_fallthrough);
  /* The kernel on CPU keeps the composite out of AutogradCPU, though it is none. */
  ck_assert_int_eq (cell_of (info, XP_KEY_AutogradCPU)->rule, XP_RULE_FALLBACK);
  ck_assert_int_eq (cell_of (info, XP_KEY_AutogradCUDA)->rule, XP_RULE_MATH);
  assert_table_is_sound ();
}
END_TEST

START_TEST (a_fallthrough_on_an_alias_passes_all_its_keys_over)
{
  g_autoptr (XpLibrary) rows = fragment_new ("rr");
  g_autoptr (XpLibrary) autograd = impl_new ("rr", "Autograd");
  g_autoptr (XpLibrary) cuda = impl_new ("rr", "CUDA");
  g_autoptr (XpLibrary) hip = impl_new ("rr", "HIP");
  define (rows, "foo(Tensor x) -> Tensor");
  implement (autograd, "foo", xp_fallthrough, 1);
  record_at (cuda, "foo", 2);
  record_at (hip, "foo", 3);
  assert_table_is_sound ();
  g_autoptr (XpTensor) on_cuda = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  g_autoptr (XpTensor) on_hip = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_HIP);
  ck_assert_int_eq (line_called ("rr::foo", on_cuda), 2);
  ck_assert_int_eq (line_called ("rr::foo", on_hip), 3);
}
END_TEST

/* One backend is passed over, another is not: the mask is the backend's own. */
START_TEST (masks_differ_by_backend)
{
  g_autoptr (XpLibrary) rows = fragment_new ("rr");
  g_autoptr (XpLibrary) autograd_cuda = impl_new ("rr", "AutogradCUDA");
  g_autoptr (XpLibrary) cuda = impl_new ("rr", "CUDA");
  g_autoptr (XpLibrary) cpu = impl_new ("rr", "CPU");
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (autograd_cuda, "foo", 1);
  record_at (cuda, "foo", 2);
  record_at (cpu, "foo", 3);
  g_autoptr (XpTensor) on_cuda = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  g_autoptr (XpTensor) on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  ck_assert_int_eq (line_called ("rr::foo", on_cuda), 1);
  ck_assert_int_eq (line_called ("rr::foo", on_cpu), 3);
  g_clear_pointer (&autograd_cuda, xp_library_free);
  ck_assert_int_eq (line_called ("rr::foo", on_cuda), 2);
  assert_table_is_sound ();
}
END_TEST

/* The slot Undefined serves calls without any key. */
START_TEST (a_default_serves_calls_without_keys)
{
  g_autoptr (XpLibrary) rows = fragment_new ("rr");
  g_autoptr (XpLibrary) math = impl_new ("rr", NULL);
  define (rows, "foo() -> Tensor");
  record_at (math, "foo", 1);
  ck_assert_int_eq (line_called ("rr::foo", NULL), 1);
  g_autoptr (XpLibrary) explicit_ = impl_new ("rr", EXPLICIT);
  record_at (explicit_, "foo", 2);
  ck_assert_int_eq (line_called ("rr::foo", NULL), 2);
  g_autoptr (XpLibrary) strongest = impl_new ("rr", NON_FUNCTIONAL);
  implement (strongest, "foo", xp_fallthrough, 3);
  GError *error = NULL;
  ck_assert_int_eq (call_named ("rr::foo", NULL, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "There were no tensor arguments");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("rules");
  TCase *tests = tcase_create ("rules");
  tcase_add_loop_test (tests, the_matrix_of_pytorch, 0, G_N_ELEMENTS (matrix));
  tcase_add_test (tests, the_stronger_default_is_in_the_cell);
  tcase_add_loop_test (tests, rules_without_a_row, 0, 12);
  tcase_add_test (tests, a_fallthrough_counts_as_a_kernel_in_the_rules);
  tcase_add_test (tests, a_fallthrough_on_an_alias_passes_all_its_keys_over);
  tcase_add_test (tests, masks_differ_by_backend);
  tcase_add_test (tests, a_default_serves_calls_without_keys);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
