/* SPDX-License-Identifier: MIT
 *
 * rules.c: which kernel is in which cell: PyTorch 1.13's own answers (reference, appendix A), and a
 * model of section 3.1, written for this test, beside the table for random registrations.
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

/* --- The model: section 3.1 again, cell by cell, from the words of the reference. --- */

enum
{
  MOST_REGISTRATIONS = 9
};

/* What is registered: for each key a line, later ones being newer. */
typedef struct
{
  unsigned n;
  XpKey keys[MOST_REGISTRATIONS];
} Model;

static int
newest (const Model *model, XpKey key)
{
  for (unsigned i = model->n; i-- > 0;)
    if (model->keys[i] == key)
      return (int) i + 1;
  return 0;
}

static bool
is_one_of (XpKey key, const XpFunctionality *functionalities, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    if (xp_key_functionality (key) == functionalities[i])
      return true;
  return false;
}

#define IS_ONE_OF(key, ...)                                                                        \
  is_one_of (key, (const XpFunctionality[]){ __VA_ARGS__ },                                        \
             G_N_ELEMENTS (((const XpFunctionality[]){ __VA_ARGS__ })))

static bool
is_autograd_other_backend (XpKey key)
{
  return IS_ONE_OF (key, XP_FUNCTIONALITY_FPGA, XP_FUNCTIONALITY_Vulkan, XP_FUNCTIONALITY_Metal,
                    XP_FUNCTIONALITY_CustomRNGKeyId, XP_FUNCTIONALITY_MkldnnCPU,
                    XP_FUNCTIONALITY_Sparse, XP_FUNCTIONALITY_SparseCsr,
                    XP_FUNCTIONALITY_Quantized);
}

static bool
is_backend (XpKey key)
{
  return is_autograd_other_backend (key) || IS_ONE_OF (key, XP_FUNCTIONALITY_Dense);
}

static bool
is_autograd (XpKey key)
{
  return IS_ONE_OF (key, XP_FUNCTIONALITY_AutogradFunctionality, XP_FUNCTIONALITY_AutogradOther,
                    XP_FUNCTIONALITY_AutogradNestedTensor);
}

static bool
is_nested (XpKey key)
{
  return IS_ONE_OF (key, XP_FUNCTIONALITY_NestedTensor);
}

static bool
is_non_functional (XpKey key)
{
  return is_backend (key) && !IS_ONE_OF (key, XP_FUNCTIONALITY_Sparse)
         && xp_key_backend (key) != XP_BACKEND_XLA && xp_key_backend (key) != XP_BACKEND_Lazy;
}

static bool
any_registered (const Model *model, bool (*test) (XpKey key))
{
  for (unsigned i = 0; i < model->n; i++)
    if (!xp_key_is_alias (model->keys[i]) && test (model->keys[i]))
      return true;
  return false;
}

static bool
has_backend_kernel (const Model *model, XpKey key)
{
  if (newest (model, XP_KEY_CompositeExplicitAutograd) != 0)
    return true;
  if (key == XP_KEY_AutogradOther)
    return any_registered (model, is_autograd_other_backend);
  if (key == XP_KEY_AutogradNestedTensor)
    return any_registered (model, is_nested);
  int backend = xp_key_backend (key);
  return xp_key_functionality (key) == XP_FUNCTIONALITY_AutogradFunctionality
         && backend != XP_BACKEND_HIP && backend != XP_BACKEND_VE && backend != XP_BACKEND_MTIA
         && newest (model, xp_key_of (XP_FUNCTIONALITY_Dense, (unsigned) backend)) != 0;
}

/* The keys of reference 7.5 that are passed over, in [N]'s list, with Meta. */
static bool
has_standard_fallback (XpKey key)
{
  if (IS_ONE_OF (key, XP_FUNCTIONALITY_BackendSelect, XP_FUNCTIONALITY_ADInplaceOrView,
                 XP_FUNCTIONALITY_AutogradOther, XP_FUNCTIONALITY_FuncTorchVmapMode,
                 XP_FUNCTIONALITY_VmapMode)
      || g_str_has_prefix (xp_key_name (key), "Autocast"))
    return true;
  static const XpBackend backends[] = { XP_BACKEND_CPU,  XP_BACKEND_XPU,        XP_BACKEND_CUDA,
                                        XP_BACKEND_MTIA, XP_BACKEND_MAIA,       XP_BACKEND_XLA,
                                        XP_BACKEND_Lazy, XP_BACKEND_MPS,        XP_BACKEND_Meta,
                                        XP_BACKEND_HPU,  XP_BACKEND_PrivateUse1 };
  for (unsigned i = 0; i < G_N_ELEMENTS (backends); i++)
    if (key == xp_key_of (XP_FUNCTIONALITY_AutogradFunctionality, backends[i]))
      return true;
  return false;
}

static XpRule
expected_rule (const Model *model, XpKey key, int *line)
{
  bool undefined = key == XP_KEY_Undefined;
  if (!undefined && (*line = newest (model, key)) != 0)
    return XP_RULE_KERNEL;
  if ((undefined || is_non_functional (key))
      && (*line = newest (model, XP_KEY_CompositeExplicitAutogradNonFunctional)) != 0)
    return XP_RULE_DEFAULT_BACKEND;
  if ((undefined || is_backend (key))
      && (*line = newest (model, XP_KEY_CompositeExplicitAutograd)) != 0)
    return XP_RULE_DEFAULT_BACKEND;
  if ((is_nested (key) || key == XP_KEY_AutogradNestedTensor)
      && (*line = newest (model, XP_KEY_CompositeImplicitAutogradNestedTensor)) != 0)
    return XP_RULE_NESTED;
  if ((undefined || is_backend (key) || is_autograd (key) || is_nested (key))
      && newest (model, XP_KEY_CompositeImplicitAutograd) != 0)
    {
      *line = 0;
      if (key == XP_KEY_AutogradOther && any_registered (model, is_autograd_other_backend))
        return XP_RULE_AMBIGUOUS;
      *line = newest (model, XP_KEY_CompositeImplicitAutograd);
      if (!has_backend_kernel (model, key))
        return XP_RULE_MATH;
    }
  if (is_autograd (key) && (*line = newest (model, XP_KEY_Autograd)) != 0)
    return XP_RULE_AUTOGRAD;
  if (key == XP_KEY_FuncTorchBatched
      && (*line = newest (model, XP_KEY_FuncTorchBatchedDecomposition)) != 0)
    return XP_RULE_BATCHED;
  *line = 0;
  return has_standard_fallback (key) ? XP_RULE_FALLBACK : XP_RULE_MISSING;
}

/* Keys that the rules tell apart come more often than others. */
static XpKey
random_key (GRand *random, const XpKey *keys, unsigned n_keys)
{
  static const XpKey telling[] = {
    XP_KEY_CompositeImplicitAutograd,
    XP_KEY_CompositeExplicitAutograd,
    XP_KEY_CompositeExplicitAutogradNonFunctional,
    XP_KEY_CompositeImplicitAutogradNestedTensor,
    XP_KEY_FuncTorchBatchedDecomposition,
    XP_KEY_Autograd,
    XP_KEY_CPU,
    XP_KEY_CUDA,
    XP_KEY_HIP,
    XP_KEY_MTIA,
    XP_KEY_Lazy,
    XP_KEY_FPGA,
    XP_KEY_SparseCPU,
    XP_KEY_SparseCsrCUDA,
    XP_KEY_QuantizedXLA,
    XP_KEY_NestedTensorCPU,
    XP_KEY_AutogradOther,
    XP_KEY_AutogradCPU,
    XP_KEY_AutogradNestedTensor,
    XP_KEY_FuncTorchBatched,
    XP_KEY_BackendSelect,
  };
  if (g_rand_int_range (random, 0, 4) > 0)
    return telling[g_rand_int_range (random, 0, G_N_ELEMENTS (telling))];
  return keys[g_rand_int_range (random, 1, (gint32) n_keys)];
}

static void
compare_with_model (const Model *model, const XpKey *keys, unsigned n_keys)
{
  g_autoptr (XpRowInfo) info = xp_table_row ("rr::foo");
  g_autofree char *dump = xp_table_dump ("rr::foo");
  ck_assert_uint_eq (info->n_cells, n_keys);
  for (unsigned i = 0; i < n_keys; i++)
    {
      int line;
      XpRule rule = expected_rule (model, keys[i], &line);
      const XpCellInfo *cell = &info->cells[i];
      g_autofree char *place = g_strdup_printf ("registered at kernel.c:%d", line);
      bool same_place = line == 0 || strcmp (cell->location, place) == 0;
      ck_assert_msg (cell->key == keys[i] && cell->rule == rule && same_place,
                     "cell %s: expected %s at line %d, found %s at %s with\n%s",
                     xp_key_name (keys[i]), xp_rule_label (rule), line, xp_rule_label (cell->rule),
                     cell->location, dump);
    }
  assert_table_is_sound ();
}

/* Registers in one order and releases in another; after each step the table is what the model says
 * of what is registered then. */
static void
one_history (GRand *random, const XpKey *keys, unsigned n_keys)
{
  g_autoptr (XpLibrary) rows = fragment_new ("rr");
  define (rows, "foo(Tensor x) -> Tensor");
  Model model = { 0 };
  XpLibrary *blocks[MOST_REGISTRATIONS] = { NULL };
  unsigned n = (unsigned) g_rand_int_range (random, 1, MOST_REGISTRATIONS + 1);
  for (; model.n < n; model.n++)
    {
      model.keys[model.n] = random_key (random, keys, n_keys);
      blocks[model.n] = impl_new ("rr", xp_key_name (model.keys[model.n]));
      record_at (blocks[model.n], "foo", (int) model.n + 1);
    }
  compare_with_model (&model, keys, n_keys);
  for (unsigned left = n; left > 0;)
    {
      unsigned i = (unsigned) g_rand_int_range (random, 0, (gint32) n);
      if (blocks[i] == NULL)
        continue;
      g_clear_pointer (&blocks[i], xp_library_free);
      model.keys[i] = XP_KEY_Undefined;
      left--;
      if (left == n / 2)
        compare_with_model (&model, keys, n_keys);
    }
  compare_with_model (&model, keys, n_keys);
}

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

START_TEST (random_registrations_agree_with_the_model)
{
  g_log_set_writer_func (swallow, NULL, NULL);
  GRand *random = g_rand_new_with_seed (20 + (guint32) _i);
  unsigned n_keys;
  g_autofree XpKey *keys = xp_key_list (&n_keys);
  for (unsigned round = 0; round < 100; round++)
    one_history (random, keys, n_keys);
  g_rand_free (random);
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
  tcase_add_loop_test (tests, random_registrations_agree_with_the_model, 0, 4);
  tcase_add_test (tests, a_fallthrough_counts_as_a_kernel_in_the_rules);
  tcase_add_test (tests, a_fallthrough_on_an_alias_passes_all_its_keys_over);
  tcase_add_test (tests, masks_differ_by_backend);
  tcase_add_test (tests, a_default_serves_calls_without_keys);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
