/* SPDX-License-Identifier: MIT
 *
 * precedence.c: the cases of PyTorch's C++ suites about who serves a call: a kernel of the backend,
 * an autograd kernel, a composite or a fallback, under their names (README.md).
 */
#include "dispatch/cases.h"

static XpLibrary *blocks[8];
static unsigned n_blocks;

static void
add_to (const char *name_space, const char *key, const char *name)
{
  XpLibrary *block = impl_new (name_space, key);
  blocks[n_blocks++] = block;
  record_at (block, name, (int) n_blocks);
}

/* Adds a kernel at a key, or NULL for the catch-all, at "kernel.c:LINE" where LINE counts from 1.
 */
static void
add (const char *key)
{
  add_to ("_test", key, "dummy");
}

static void
add_fallback (const char *key)
{
  add_to ("_", key, NULL);
}

static void
take_back (void)
{
  g_clear_pointer (&blocks[--n_blocks], xp_library_free);
}

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

static XpLibrary *rows;

static void
set_up (void)
{
  g_log_set_writer_func (swallow, NULL, NULL);
  rows = fragment_new ("_test");
  define (rows, ONE_TENSOR);
}

static void
tear_down (void)
{
  assert_table_is_sound ();
  while (n_blocks > 0)
    take_back ();
  xp_library_free (rows);
}

static void
runs (XpKey key, bool is_graded, int line)
{
  assert_runs (NAME, key, is_graded, line);
}

static void
misses (XpKey key, bool is_graded, const char *missing)
{
  assert_misses (NAME, key, is_graded, missing);
}

/* --- Fallbacks of a backend. --- */

static char *seen_name;
static XpTensor *seen_argument;

static XpStatus
look_at_call (XpCall *call, const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
              G_GNUC_UNUSED GError **error)
{
  seen_name = g_strdup (xp_operator_name (xp_call_operator (call)));
  seen_argument = arguments[0].as.tensor;
  return XP_OK;
}

START_TEST (BackendFallbackKernel_canBeCalled)
{
  g_autoptr (XpLibrary) fallback = impl_new ("_", "CPU");
  g_autoptr (XpTensor) tensor = dummy (XP_KEY_CPU, false);
  XpValue argument = xp_value_tensor (tensor);
  GError *error = NULL;
  implement (fallback, NULL, look_at_call, 1);
  call_named (NAME, &argument, &error);
  assert_no_error (error);
  assert_text (seen_name, NAME);
  ck_assert_ptr_eq (seen_argument, tensor);
}
END_TEST

START_TEST (BackendFallbackKernelForWrongBackend_cannotBeCalled)
{
  add_fallback ("CUDA");
  misses (XP_KEY_CPU, false, "CPU");
}
END_TEST

START_TEST (BackendFallbackKernelAndRegularKernelForDifferentBackend_canRegularKernelBeCalled)
{
  add_fallback ("CPU");
  add ("CUDA");
  runs (XP_KEY_CUDA, false, 2);
}
END_TEST

START_TEST (BackendFallbackKernelAndRegularKernelForDifferentBackend_canFallbackKernelBeCalled)
{
  add_fallback ("CPU");
  add ("CUDA");
  runs (XP_KEY_CPU, false, 1);
}
END_TEST

START_TEST (BackendFallbackKernelAndRegularKernelForSameBackend_callsRegularKernel)
{
  add_fallback ("CPU");
  add ("CPU");
  runs (XP_KEY_CPU, false, 2);
}
END_TEST

START_TEST (FallbackAndCatchallSameBackend_callsCatchall)
{
  add_fallback ("CPU");
  add (NULL);
  runs (XP_KEY_CPU, false, 2);
  runs (XP_KEY_CUDA, false, 2);
}
END_TEST

START_TEST (fallback)
{
  add_fallback ("CPU");
  runs (XP_KEY_CPU, false, 1);
}
END_TEST

/* --- Autograd. --- */

START_TEST (AutogradKernel_canCallAutogradKernel)
{
  add ("Autograd");
  misses (XP_KEY_CPU, false, "CPU");
  runs (XP_KEY_CPU, true, 1);
}
END_TEST

START_TEST (AutogradKernelWithRegularKernel_canCallAutogradKernel)
{
  add ("CPU");
  add ("Autograd");
  runs (XP_KEY_CPU, true, 2);
}
END_TEST

START_TEST (AutogradKernelWithRegularKernel_canCallRegularKernel)
{
  add ("CPU");
  add ("Autograd");
  runs (XP_KEY_CPU, false, 1);
}
END_TEST

START_TEST (AutogradKernelWithCatchAllKernel_canCallCatchAllKernel)
{
  add (NULL);
  add ("Autograd");
  runs (XP_KEY_CPU, false, 1);
  runs (XP_KEY_CPU, true, 1);
}
END_TEST

START_TEST (AutogradBackendOverridesAutogradKernel)
{
  add ("AutogradCPU");
  add ("Autograd");
  misses (XP_KEY_CPU, false, "CPU");
  runs (XP_KEY_CPU, true, 1);
  misses (XP_KEY_CUDA, false, "CUDA");
  runs (XP_KEY_CUDA, true, 2);
}
END_TEST

START_TEST (AutogradXLAOverridesAutogradKernel)
{
  add ("AutogradXLA");
  add ("Autograd");
  misses (XP_KEY_XLA, false, "XLA");
  runs (XP_KEY_XLA, true, 1);
  misses (XP_KEY_CPU, false, "CPU");
  runs (XP_KEY_CPU, true, 2);
}
END_TEST

/* The catch-all fills the autograd key until the backend has a kernel of its own. */
static void
catch_all_leaves (const char *backend, XpKey key)
{
  add (NULL);
  runs (key, false, 1);
  runs (key, true, 1);
  add (backend);
  runs (key, false, 2);
  runs (key, true, 2);
  runs (XP_KEY_CPU, true, 1);
}

START_TEST (AutogradXLAKernelWithXLAKernelAndCatchAll_AutogradXLAIsNotFilled)
{
  catch_all_leaves ("XLA", XP_KEY_XLA);
}
END_TEST

START_TEST (AutogradLazyKernelWithLazyKernelAndCatchAll_AutogradLazyIsNotFilled)
{
  catch_all_leaves ("Lazy", XP_KEY_Lazy);
}
END_TEST

START_TEST (dispatchAutogradPrecedence)
{
  add ("CPU");
  runs (XP_KEY_CPU, true, 1);
  add ("Autograd");
  runs (XP_KEY_CPU, true, 2);
  add ("AutogradCPU");
  runs (XP_KEY_CPU, true, 3);
  take_back ();
  runs (XP_KEY_CPU, true, 2);
  take_back ();
  runs (XP_KEY_CPU, true, 1);
}
END_TEST

/* --- Composites. --- */

static const XpKey composite_keys[] = { XP_KEY_CPU, XP_KEY_XLA, XP_KEY_Lazy, XP_KEY_SparseCPU };

static void
composite_runs (int line)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (composite_keys); i++)
    {
      runs (composite_keys[i], false, line);
      runs (composite_keys[i], true, line);
    }
}

START_TEST (dispatchWithCompositeImplicitAutogradKernel)
{
  add ("CompositeImplicitAutograd");
  composite_runs (1);
}
END_TEST

START_TEST (dispatchWithCompositeImplicitAutogradAndAutogradKernel)
{
  add ("CompositeImplicitAutograd");
  add ("Autograd");
  runs (XP_KEY_CPU, true, 1);
  runs (XP_KEY_CPU, false, 1);
}
END_TEST

START_TEST (dispatchWithCompositeImplicitAutogradAndCatchAllKernel)
{
  add ("CompositeImplicitAutograd");
  add (NULL);
  composite_runs (2);
  take_back ();
  composite_runs (1);
}
END_TEST

START_TEST (AutogradBackendOverridesCompositeImplicitAutogradKernel)
{
  add ("CompositeImplicitAutograd");
  add ("AutogradCPU");
  runs (XP_KEY_CPU, true, 2);
  runs (XP_KEY_CPU, false, 1);
  runs (XP_KEY_CUDA, true, 1);
  runs (XP_KEY_CUDA, false, 1);
}
END_TEST

START_TEST (BackendOverridesCompositeImplicitAutogradKernel)
{
  add ("CompositeImplicitAutograd");
  add ("CPU");
  runs (XP_KEY_CPU, false, 2);
  runs (XP_KEY_CPU, true, 2);
  runs (XP_KEY_CUDA, false, 1);
  runs (XP_KEY_CUDA, true, 1);
}
END_TEST

START_TEST (dispatchWithCompositeExplicitAutogradKernel)
{
  add ("CompositeExplicitAutograd");
  composite_runs (1);
}
END_TEST

/* In either order; upstream's autograd cells go stale in the second. */
START_TEST (dispatchWithCompositeExplicitAutogradAndCompositeImplicitAutogradKernel)
{
  add (_i == 0 ? "CompositeExplicitAutograd" : "CompositeImplicitAutograd");
  add (_i == 0 ? "CompositeImplicitAutograd" : "CompositeExplicitAutograd");
  composite_runs (_i + 1);
}
END_TEST

START_TEST (BackendOverridesCompositeExplicitAutogradKernel)
{
  add ("CompositeExplicitAutograd");
  add ("CPU");
  runs (XP_KEY_CPU, false, 2);
  runs (XP_KEY_CPU, true, 2);
  runs (XP_KEY_CUDA, false, 1);
  runs (XP_KEY_CUDA, true, 1);
}
END_TEST

START_TEST (
    registerCompositeImplicitAutogradWithCPUKernel_andCallAutogradOtherKernel_callsComposite)
{
  add ("CPU");
  add ("CompositeImplicitAutograd");
  runs (XP_KEY_Meta, true, 2);
  runs (XP_KEY_HIP, true, 2); /* whose autograd key is AutogradOther */
}
END_TEST

START_TEST (throwsWhenRegisterToBackendMapsToAutogradOther)
{
  add ("FPGA");
  add ("CompositeImplicitAutograd");
  runs (XP_KEY_FPGA, false, 1);
  GError *error = NULL;
  ck_assert_int_eq (line_for (NAME, XP_KEY_FPGA, true, &error), 0);
  ck_assert_str_eq (xp_error_get_details (error)->key, "AutogradOther");
  assert_error (error, XP_ERROR_AMBIGUOUS_AUTOGRAD,
                "_test::dummy has kernels registered to both CompositeImplicitAutograd and a "
                "backend mapped to AutogradOther. ");
}
END_TEST

/* --- Side by side. --- */

START_TEST (dispatch)
{
  add ("CPU");
  add ("CUDA");
  add ("Autograd");
  runs (XP_KEY_CPU, false, 1);
  runs (XP_KEY_CUDA, false, 2);
  runs (XP_KEY_CPU, true, 3);
  misses (XP_KEY_XLA, false, "XLA");
}
END_TEST

START_TEST (dispatchMultiple)
{
  add ("CPU");
  add ("CUDA");
  add ("Autograd");
  runs (XP_KEY_CPU, false, 1);
  runs (XP_KEY_CUDA, false, 2);
  runs (XP_KEY_CPU, true, 3);
  runs (XP_KEY_CUDA, true, 3);
}
END_TEST

/* Upstream the highest device wins, and its kernel reads the memory of the other. */
START_TEST (dispatchMultipleTensors)
{
  g_autoptr (XpTensor) on_cpu = dummy (XP_KEY_CPU, false);
  g_autoptr (XpTensor) on_device = dummy (XP_KEY_PrivateUse1, false);
  GError *error = NULL;
  define (rows, "pair(Tensor x, Tensor y) -> ()");
  define_tagged (rows, "mixed(Tensor x, Tensor y) -> ()", "mixed_devices");
  g_autoptr (XpLibrary) device = impl_new ("_test", "PrivateUse1");
  g_autoptr (XpLibrary) catch_all = impl_new ("_test", NULL);
  static const char *const names[] = { "pair", "mixed" };
  for (unsigned i = 0; i < 2; i++)
    {
      record_at (device, names[i], 1);
      record_at (catch_all, names[i], 2);
    }
  XpValue same[] = { xp_value_tensor (on_cpu), xp_value_tensor (on_cpu) };
  XpValue both[] = { xp_value_tensor (on_device), xp_value_tensor (on_cpu) };
  XpValue reverse[] = { both[1], both[0] };
  call_named ("_test::pair", same, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 2);
  ran = 0;
  ck_assert_int_eq (call_named ("_test::pair", both, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH,
                "argument 0 (x) is on privateuse1:0, argument 1 (y) is on cpu");
  ck_assert_int_eq (call_named ("_test::pair", reverse, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH,
                "argument 0 (x) is on cpu, argument 1 (y) is on privateuse1:0");
  ck_assert_int_eq (ran, 0);
  for (unsigned i = 0; i < 2; i++)
    {
      ran = 0;
      call_named ("_test::mixed", i == 0 ? both : reverse, &error);
      assert_no_error (error);
      ck_assert_int_eq (ran, 1);
    }

  /* With autograd keys: passed over, until there is a kernel. */
  g_autoptr (XpLibrary) over = impl_new ("_test", "AutogradPrivateUse1");
  g_autoptr (XpLibrary) under = impl_new ("_test", "AutogradPrivateUse1");
  g_autoptr (XpTensor) graded = dummy (XP_KEY_PrivateUse1, true);
  XpValue two[] = { xp_value_tensor (graded), xp_value_tensor (graded) };
  implement (over, "pair", xp_fallthrough, 3);
  call_named ("_test::pair", two, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 1);
  record_at (under, "pair", 4);
  call_named ("_test::pair", two, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 4);
}
END_TEST

/* An empty cell is never skipped: with kernels on CPU only, no fallback and autograd keys, the
 * kernel does not run; a fallthrough fallback passes the call on. IPU has no fallback of the core.
 */
START_TEST (an_empty_cell_is_never_skipped)
{
  add ("IPU");
  runs (XP_KEY_IPU, false, 1);
  misses (XP_KEY_IPU, true, "AutogradIPU");
  g_autoptr (XpLibrary) over = impl_new ("_", "AutogradIPU");
  implement (over, NULL, xp_fallthrough, 2);
  runs (XP_KEY_IPU, true, 1);
}
END_TEST

/* --- PyTorch's PythonDispatcher: the keys of its tables, in their order. --- */

static const char *const helper_keys[] = { "CPU",  "XLA",         "Lazy",        "AutogradOther",
                                           "FPGA", "AutogradCPU", "AutogradXLA", "AutogradLazy" };

/* A letter for each of helper_keys: k kernel, m math, d default backend, F fallback, A ambiguous.
 */
static void
assert_helper_table (const char *expected)
{
  g_autoptr (XpRowInfo) info = xp_table_row (NAME);
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < G_N_ELEMENTS (helper_keys); i++)
    for (unsigned j = 0; j < info->n_cells; j++)
      if (strcmp (xp_key_name (info->cells[j].key), helper_keys[i]) == 0)
        g_string_append_c (text, info->cells[j].rule == XP_RULE_AMBIGUOUS
                                     ? 'A'
                                     : (info->cells[j].rule == XP_RULE_FALLBACK
                                            ? 'F'
                                            : xp_rule_label (info->cells[j].rule)[0]));
  ck_assert_str_eq (text->str, expected);
  g_string_free (text, TRUE);
}

START_TEST (test_basic)
{
  add ("CPU");
  add ("XLA");
  add ("Lazy");
  add ("CompositeImplicitAutograd");
  assert_helper_table ("kkkmmFFF");
}
END_TEST

START_TEST (test_math_autogradcpu)
{
  add ("CPU");
  add ("XLA");
  add ("Lazy");
  add ("CompositeImplicitAutograd");
  add ("AutogradCPU");
  assert_helper_table ("kkkmmkFF");
  g_autoptr (XpRowInfo) info = xp_table_row (NAME);
  static const char *const registered[] = { "CPU", "XLA", "Lazy", "AutogradCPU",
                                            "CompositeImplicitAutograd" };
  ck_assert_uint_eq (info->n_registrations, G_N_ELEMENTS (registered));
  for (unsigned i = 0; i < G_N_ELEMENTS (registered); i++)
    ck_assert_str_eq (xp_key_name (info->registrations[i].key), registered[i]);
}
END_TEST

START_TEST (test_defaultbackend_autogradcpu)
{
  add ("CPU");
  add ("XLA");
  add ("Lazy");
  add ("CompositeExplicitAutograd");
  add ("AutogradCPU");
  assert_helper_table ("kkkFdkFF");
}
END_TEST

START_TEST (test_autogradother)
{
  add ("CPU");
  add ("FPGA");
  add ("CompositeImplicitAutograd");
  assert_helper_table ("kmmAkFmm");
  /* Registrations stand in the order of keys: FPGA before CPU. */
  g_autoptr (XpRowInfo) info = xp_table_row (NAME);
  ck_assert (info->registrations[0].key == XP_KEY_FPGA);
  ck_assert (info->registrations[1].key == XP_KEY_CPU);
}
END_TEST

START_TEST (test_quantized_structured_not_implemented)
{
  define (rows, "add.out(Tensor self, *, Tensor(a!) out) -> ()");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  record_at (cpu, "add.out", 1);
  g_autoptr (XpTensor) tensor = dummy (XP_KEY_QuantizedCPU, true);
  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_tensor (tensor) };
  GError *error = NULL;
  ck_assert_int_eq (call_named ("_test::add.out", arguments, &error), XP_FAILED);
  ck_assert_str_eq (xp_error_class ((XpError) error->code), "NotImplementedError");
  assert_error (error, XP_ERROR_MISSING_KERNEL,
                "Could not run '_test::add.out' with arguments from the 'QuantizedCPU' backend.");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("precedence");
  TCase *tests = tcase_create ("precedence");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, BackendFallbackKernel_canBeCalled);
  tcase_add_test (tests, BackendFallbackKernelForWrongBackend_cannotBeCalled);
  tcase_add_test (
      tests, BackendFallbackKernelAndRegularKernelForDifferentBackend_canRegularKernelBeCalled);
  tcase_add_test (
      tests, BackendFallbackKernelAndRegularKernelForDifferentBackend_canFallbackKernelBeCalled);
  tcase_add_test (tests, BackendFallbackKernelAndRegularKernelForSameBackend_callsRegularKernel);
  tcase_add_test (tests, FallbackAndCatchallSameBackend_callsCatchall);
  tcase_add_test (tests, fallback);
  tcase_add_test (tests, AutogradKernel_canCallAutogradKernel);
  tcase_add_test (tests, AutogradKernelWithRegularKernel_canCallAutogradKernel);
  tcase_add_test (tests, AutogradKernelWithRegularKernel_canCallRegularKernel);
  tcase_add_test (tests, AutogradKernelWithCatchAllKernel_canCallCatchAllKernel);
  tcase_add_test (tests, AutogradBackendOverridesAutogradKernel);
  tcase_add_test (tests, AutogradXLAOverridesAutogradKernel);
  tcase_add_test (tests, AutogradXLAKernelWithXLAKernelAndCatchAll_AutogradXLAIsNotFilled);
  tcase_add_test (tests, AutogradLazyKernelWithLazyKernelAndCatchAll_AutogradLazyIsNotFilled);
  tcase_add_test (tests, dispatchAutogradPrecedence);
  tcase_add_test (tests, dispatchWithCompositeImplicitAutogradKernel);
  tcase_add_test (tests, dispatchWithCompositeImplicitAutogradAndAutogradKernel);
  tcase_add_test (tests, dispatchWithCompositeImplicitAutogradAndCatchAllKernel);
  tcase_add_test (tests, AutogradBackendOverridesCompositeImplicitAutogradKernel);
  tcase_add_test (tests, BackendOverridesCompositeImplicitAutogradKernel);
  tcase_add_test (tests, dispatchWithCompositeExplicitAutogradKernel);
  tcase_add_loop_test (
      tests, dispatchWithCompositeExplicitAutogradAndCompositeImplicitAutogradKernel, 0, 2);
  tcase_add_test (tests, BackendOverridesCompositeExplicitAutogradKernel);
  tcase_add_test (
      tests,
      registerCompositeImplicitAutogradWithCPUKernel_andCallAutogradOtherKernel_callsComposite);
  tcase_add_test (tests, throwsWhenRegisterToBackendMapsToAutogradOther);
  tcase_add_test (tests, dispatch);
  tcase_add_test (tests, dispatchMultiple);
  tcase_add_test (tests, dispatchMultipleTensors);
  tcase_add_test (tests, an_empty_cell_is_never_skipped);
  tcase_add_test (tests, test_basic);
  tcase_add_test (tests, test_math_autogradcpu);
  tcase_add_test (tests, test_defaultbackend_autogradcpu);
  tcase_add_test (tests, test_autogradother);
  tcase_add_test (tests, test_quantized_structured_not_implemented);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
