/* SPDX-License-Identifier: MIT
 *
 * missing.c: calls that find no kernel: what is said, in PyTorch's words and beyond, and a cell
 * that is ambiguous.
 */
#include "table/blocks.h"

#include <crosspoint/trace.h>

static XpLibrary *rows, *cpu, *meta;

static void
set_up (void)
{
  rows = fragment_new ("aten");
  cpu = impl_new ("aten", "CPU");
  meta = impl_new ("aten", "Meta");
  define (rows, "gelu(Tensor self, *, str approximate=\"none\") -> Tensor");
  record_at (cpu, "gelu", 1);
  record_at (meta, "gelu", 2);
}

static void
tear_down (void)
{
  xp_library_free (meta);
  xp_library_free (cpu);
  xp_library_free (rows);
}

static GError *
error_of_gelu (XpTensor *tensor)
{
  GError *error = NULL;
  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_string ("none") };
  XpValue result = xp_value_int (1);
  ck_assert_int_eq (xp_operator_call (operator_named ("aten::gelu"), arguments, &result, &error),
                    XP_FAILED);
  ck_assert_int_eq (result.tag, XP_TAG_NONE);
  xp_value_clear (&arguments[1]);
  return error;
}

START_TEST (an_empty_cell)
{
  g_autoptr (XpTensor) sparse = tensor_of (XP_FUNCTIONALITY_Sparse, XP_BACKEND_CPU);
  GError *error = error_of_gelu (sparse);
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (xp_error_class (error->code), "NotImplementedError");
  ck_assert (xp_error_is_a (error->code, "RuntimeError"));
  ck_assert_str_eq (details->op, "aten::gelu");
  ck_assert_str_eq (details->key, "SparseCPU");
  ck_assert_str_eq (details->argument, "self");
  static const char expected[]
      = "Could not run 'aten::gelu' with arguments from the 'SparseCPU' backend. 'aten::gelu' is "
        "only available for these backends: [CPU, Meta].\n"
        "The key comes from argument 0 (self), a sparse_coo tensor on cpu.";
  ck_assert_msg (g_str_has_prefix (error->message, expected), "%s", error->message);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "SparseCPU");
}
END_TEST

/* Keys that are passed over are not available, and an ambiguous one neither. */
START_TEST (the_list_holds_kernels_only)
{
  g_autoptr (XpLibrary) cuda = impl_new ("aten", "CUDA");
  g_autoptr (XpLibrary) autograd = impl_new ("aten", "AutogradXLA");
  implement (cuda, "gelu", xp_fallthrough, 3);
  record_at (autograd, "gelu", 4);
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Quantized, XP_BACKEND_CPU);
  GError *error = error_of_gelu (tensor);
  assert_error (error, XP_ERROR_MISSING_KERNEL,
                "'QuantizedCPU' backend. 'aten::gelu' is only available for these backends: [CPU, "
                "Meta, AutogradXLA].\n");
}
END_TEST

/* Only a registered fallthrough passes a call on. Nobody has a fallback for AutogradIPU. */
START_TEST (an_empty_cell_is_never_skipped)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) kernel = impl_new ("aten", "IPU");
  record_at (kernel, "gelu", 3);
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_IPU);
  g_auto (XpValue) approximate = xp_value_string ("none");
  XpValue arguments[] = { xp_value_tensor (tensor), approximate };
  ran = 0;
  ck_assert_int_eq (call_named ("aten::gelu", arguments, &error), XP_FAILED);
  ck_assert_int_eq (ran, 0);
  ck_assert_str_eq (xp_error_get_details (error)->key, "AutogradIPU");
  assert_error (error, XP_ERROR_MISSING_KERNEL, "from the 'AutogradIPU' backend");
  g_autoptr (XpLibrary) fallback = impl_new ("_", "AutogradIPU");
  implement (fallback, NULL, xp_fallthrough, 4);
  call_named ("aten::gelu", arguments, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 3);
}
END_TEST

START_TEST (a_row_without_any_kernel)
{
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  xp_library_free (cpu);
  xp_library_free (meta);
  GError *error = error_of_gelu (tensor);
  assert_error (error, XP_ERROR_MISSING_KERNEL,
                "Could not run 'aten::gelu' with arguments from the 'CPU' backend. 'aten::gelu' is "
                "only available for these backends: [].\n");
  cpu = impl_new ("aten", "CPU");
  meta = impl_new ("aten", "Meta");
}
END_TEST

START_TEST (a_key_that_no_argument_brought)
{
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
  GError *error = error_of_gelu (tensor);
  ck_assert_ptr_null (xp_error_get_details (error)->argument);
  ck_assert_str_eq (xp_error_get_details (error)->key, "Tracer");
  assert_error (error, XP_ERROR_MISSING_KERNEL, "not from an argument");
}
END_TEST

START_TEST (the_argument_that_brought_the_key)
{
  g_autoptr (XpTensor) dense = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  g_autoptr (XpTensor) sparse = tensor_of (XP_FUNCTIONALITY_Sparse, XP_BACKEND_CPU);
  define (rows, "mm(Tensor self, Tensor mat2) -> Tensor");
  XpValue arguments[] = { xp_value_tensor (dense), xp_value_tensor (sparse) };
  GError *error = NULL;
  ck_assert_int_eq (call_named ("aten::mm", arguments, &error), XP_FAILED);
  ck_assert_str_eq (xp_error_get_details (error)->argument, "mat2");
  assert_error (error, XP_ERROR_MISSING_KERNEL, "argument 1 (mat2), a sparse_coo tensor on cpu");
}
END_TEST

START_TEST (no_tensor_at_all)
{
  define (rows, "cat(Tensor[] tensors) -> Tensor");
  record_at (cpu, "cat", 5);
  g_auto (XpValue) list = xp_value_list (xp_list_new (NULL, 0));
  GError *error = NULL;
  ck_assert_int_eq (call_named ("aten::cat", &list, &error), XP_FAILED);
  ck_assert_str_eq (xp_error_class (error->code), "NotImplementedError");
  ck_assert_ptr_nonnull (strstr (error->message, "no fallback function is registered for schema "
                                                 "aten::cat."));
  ck_assert_ptr_nonnull (strstr (error->message, "Available functions are [CPU]."));
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS,
                "There were no tensor arguments to this function (");
}
END_TEST

/* Reference 10, number 4: it is at the call that ambiguity is raised. */
START_TEST (an_ambiguous_cell)
{
  g_autoptr (XpLibrary) math = impl_new ("aten", NULL);
  g_autoptr (XpLibrary) fpga = impl_new ("aten", "FPGA");
  define (rows, "neg(Tensor self) -> Tensor");
  record_at (math, "neg", 1);
  record_at (fpga, "neg", 2);
  g_autoptr (XpTensor) plain = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_HIP);
  XpValue argument = xp_value_tensor (plain);
  GError *error = NULL;
  ck_assert_int_eq (call_named ("aten::neg", &argument, &error), XP_FAILED);
  ck_assert_str_eq (xp_error_get_details (error)->key, "AutogradOther");
  ck_assert_ptr_nonnull (
      strstr (error->message, "\nCanonical state\n~~~~~~~~~~~\nname: aten::neg\n"));
  assert_error (error, XP_ERROR_AMBIGUOUS_AUTOGRAD,
                "aten::neg has kernels registered to both CompositeImplicitAutograd and a backend "
                "mapped to AutogradOther. ");
  /* Below autograd nothing is ambiguous, and a kernel there settles it. */
  {
    XP_BELOW_AUTOGRAD ();
    ck_assert_int_eq (line_called ("aten::neg", plain), 1);
  }
  g_autoptr (XpLibrary) other = impl_new ("aten", "AutogradOther");
  record_at (other, "neg", 3);
  ck_assert_int_eq (line_called ("aten::neg", plain), 3);
}
END_TEST

/* --- Traces (reference, section 9). --- */

static void
keep_line (const char *line, void *data)
{
  g_string_append_printf (data, "%s\n", line);
}

static XpStatus
below (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

static XpStatus
call_neg (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  return xp_operator_call (operator_named ("aten::neg"), arguments, results, error);
}

START_TEST (a_trace_with_nesting)
{
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  g_autoptr (XpLibrary) autograd = impl_new ("_", "AutogradCPU");
  define (rows, "neg(Tensor self) -> Tensor");
  define (rows, "outer.two(Tensor self) -> Tensor");
  record_at (cpu, "neg", 1);
  implement (cpu, "outer.two", call_neg, 2);
  implement (autograd, NULL, below, 3);
  GString *text = g_string_new (NULL);
  xp_trace_begin (keep_line, text);
  line_called ("aten::outer.two", tensor);
  xp_trace_end ();
  line_called ("aten::outer.two", tensor);
  ck_assert_str_eq (text->str, " [callBoxed] op=[aten::outer.two], key=[AutogradCPU]\n"
                               "  [redispatchBoxed] op=[aten::outer.two], key=[CPU]\n"
                               "   [callBoxed] op=[aten::neg], key=[AutogradCPU]\n"
                               "    [redispatchBoxed] op=[aten::neg], key=[CPU]\n");
  g_string_free (text, TRUE);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("missing");
  TCase *tests = tcase_create ("missing");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, an_empty_cell);
  tcase_add_test (tests, an_empty_cell_is_never_skipped);
  tcase_add_test (tests, the_list_holds_kernels_only);
  tcase_add_test (tests, a_row_without_any_kernel);
  tcase_add_test (tests, a_key_that_no_argument_brought);
  tcase_add_test (tests, the_argument_that_brought_the_key);
  tcase_add_test (tests, no_tensor_at_all);
  tcase_add_test (tests, an_ambiguous_cell);
  tcase_add_test (tests, a_trace_with_nesting);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
