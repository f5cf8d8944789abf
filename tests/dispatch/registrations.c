/* SPDX-License-Identifier: MIT
 *
 * registrations.c: the cases of PyTorch's OperatorRegistrationTest about rows, kernels and what
 * they take, under their names (README.md).
 */
#include "dispatch/cases.h"

/* --- What is registered, and for how long. --- */

static void
assert_catch_all_runs (void)
{
  assert_runs (NAME, XP_KEY_CPU, false, 1);
  assert_runs (NAME, XP_KEY_CUDA, true, 1);
}

START_TEST (WithSchemaBeforeKernelInOptionsObject)
{
  g_autoptr (XpLibrary) block = fragment_new ("_test");
  define (block, ONE_TENSOR);
  record_at (block, "dummy", 1);
  assert_catch_all_runs ();
}
END_TEST

START_TEST (WithSchemaAfterKernelInOptionsObject)
{
  g_autoptr (XpLibrary) block = fragment_new ("_test");
  record_at (block, "dummy", 1);
  define (block, ONE_TENSOR);
  assert_catch_all_runs ();
}
END_TEST

/* Here a definition needs a schema in any case. */
START_TEST (WithoutSchema_thenFails)
{
  g_autoptr (XpLibrary) block = fragment_new ("_test");
  GError *error = refused_def (block, NULL);
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "a definition lacks");
  error = refused_def (block, "dummy");
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX,
                "Tried to parse a function schema but only the operator name was given");
}
END_TEST

START_TEST (CallingOpWithWrongDispatchKey_thenFails)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  define (rows, ONE_TENSOR);
  record_at (cpu, "dummy", 1);
  assert_misses (NAME, XP_KEY_CUDA, false, "CUDA");
}
END_TEST

START_TEST (OpWithCatchallKernel_callsCatchall)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) catch_all = impl_new ("_test", NULL);
  define (rows, ONE_TENSOR);
  record_at (catch_all, "dummy", 1);
  assert_catch_all_runs ();
}
END_TEST

START_TEST (DispatchedKernelOutOfScope_thenCatchall)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  define (rows, ONE_TENSOR);
  {
    g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
    record_at (cpu, "dummy", 2);
    assert_runs (NAME, XP_KEY_CPU, false, 2);
  }
  g_autoptr (XpLibrary) catch_all = impl_new ("_test", NULL);
  record_at (catch_all, "dummy", 1);
  assert_catch_all_runs ();
}
END_TEST

START_TEST (CatchallKernelOutOfScope_thenDispatched)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  define (rows, ONE_TENSOR);
  {
    g_autoptr (XpLibrary) catch_all = impl_new ("_test", NULL);
    record_at (catch_all, "dummy", 1);
    assert_catch_all_runs ();
  }
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  record_at (cpu, "dummy", 2);
  assert_runs (NAME, XP_KEY_CPU, false, 2);
  assert_misses (NAME, XP_KEY_CUDA, false, "CUDA");
}
END_TEST

START_TEST (OpWithoutKernels_WithSchema_onlyRegistersSchema)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  define (rows, ONE_TENSOR);
  ck_assert_ptr_nonnull (xp_operator_find (NAME));
  assert_misses (NAME, XP_KEY_CPU, false, "CPU");
}
END_TEST

START_TEST (OpWithoutKernels_WithoutSchema_fails)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  GError *error = refused_def (rows, "dummy");
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "only the operator name was given");
  ck_assert_ptr_null (xp_operator_find (NAME));
}
END_TEST

START_TEST (OpWithoutKernels_OutOfScope_schemaGone)
{
  {
    g_autoptr (XpLibrary) rows = fragment_new ("_test");
    define (rows, ONE_TENSOR);
    ck_assert_ptr_nonnull (xp_operator_find (NAME));
  }
  ck_assert_ptr_null (xp_operator_find (NAME));
  GError *error = NULL;
  ck_assert_ptr_null (xp_operator_get (NAME, &error));
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, NAME);
}
END_TEST

START_TEST (OpWithoutKernelsWithoutTensorInputs_registers)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  define (rows, "dummy() -> ()");
  ck_assert_ptr_nonnull (xp_operator_find (NAME));
  GError *error = NULL;
  ck_assert_int_eq (call_named (NAME, NULL, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, NAME);
}
END_TEST

/* A key set that is given is taken as it is; the tensor's own keys are not looked at. */
START_TEST (CPUTensorType_canOnlyCallUnboxedWithCPUKey)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  define (rows, ONE_TENSOR);
  record_at (cpu, "dummy", 1);
  XpOperator *op = operator_named (NAME);
  GError *error = NULL;
  g_autoptr (XpTensor) on_cpu = dummy (XP_KEY_CPU, false);
  g_autoptr (XpTensor) on_cuda = dummy (XP_KEY_CUDA, false);
  XpValue argument = xp_value_tensor (on_cuda);
  ran = 0;
  xp_operator_redispatch (op, xp_key_set (XP_KEY_CPU), &argument, NULL, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 1);
  argument = xp_value_tensor (on_cpu);
  ran = 0;
  ck_assert_int_eq (xp_operator_redispatch (op, xp_key_set (XP_KEY_CUDA), &argument, NULL, &error),
                    XP_FAILED);
  ck_assert_int_eq (ran, 0);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "'CUDA' backend");
}
END_TEST

/* --- Several kernels, with and without a schema. --- */

START_TEST (MultipleKernelsInSameOpCall_callsCorrectKernel)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  g_autoptr (XpLibrary) cuda = impl_new ("_test", "CUDA");
  define (rows, ONE_TENSOR);
  record_at (cpu, "dummy", 1);
  record_at (cuda, "dummy", 2);
  assert_runs (NAME, XP_KEY_CPU, false, 1);
  assert_runs (NAME, XP_KEY_CUDA, false, 2);
  GError *error = NULL;
  line_for (NAME, XP_KEY_XLA, false, &error);
  assert_error (error, XP_ERROR_MISSING_KERNEL,
                "'XLA' backend. '_test::dummy' is only available for these backends: [CPU, CUDA].");
}
END_TEST

/* Kernels alone make no operator. */
START_TEST (MultipleKernelsByNameAndNoneCanInferSchema_fails)
{
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  g_autoptr (XpLibrary) cuda = impl_new ("_test", "CUDA");
  record_at (cpu, "dummy", 1);
  record_at (cuda, "dummy", 2);
  GError *error = NULL;
  ck_assert_ptr_null (xp_operator_get (NAME, &error));
  assert_error (error, XP_ERROR_NOT_DEFINED,
                "_test::dummy, but we found an implementation, registered at kernel.c:1");
}
END_TEST

/* Neither says what it takes, or one does. */
START_TEST (MultipleKernelsBySchemaAndNoneCanInferSchema_succeeds)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  g_autoptr (XpLibrary) cuda = impl_new ("_test", "CUDA");
  define (rows, ONE_TENSOR);
  record_at (cpu, "dummy", 1);
  record_at (cuda, "dummy", 2);
  assert_runs (NAME, XP_KEY_CPU, false, 1);
  assert_runs (NAME, XP_KEY_CUDA, false, 2);
}
END_TEST

START_TEST (MultipleKernelsBySchemaAndOnlyOneCanInferSchema_succeeds)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  g_autoptr (XpLibrary) cuda = impl_new ("_test", "CUDA");
  define (rows, ONE_TENSOR);
  implement_typed (cpu, "dummy", "(Tensor _0) -> ()", 1, &error);
  assert_no_error (error);
  record_at (cuda, "dummy", 2);
  assert_runs (NAME, XP_KEY_CPU, false, 1);
  assert_runs (NAME, XP_KEY_CUDA, false, 2);
}
END_TEST

/* --- Kernels that differ: here the schema decides which of them is wrong. --- */

/* One fits; the other is refused, and the first stays. */
static void
assert_second_is_refused (const char *first_key, const char *second_key, const char *second)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) first = impl_new ("_test", first_key);
  g_autoptr (XpLibrary) other = impl_new ("_test", second_key);
  define (rows, "dummy(Tensor dummy, int n) -> ()");
  implement_typed (first, "dummy", "(Tensor _0, int _1) -> ()", 1, &error);
  assert_no_error (error);
  g_autofree char *before = whole_table ();
  ck_assert (!implement_typed (other, "dummy", second, 2, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "operator: _test::dummy\n"));
  ck_assert_str_eq (xp_error_get_details (error)->key,
                    second_key != NULL ? second_key : "CompositeImplicitAutograd");
  assert_error (error, XP_ERROR_SCHEMA_MISMATCH, "registered at kernel.c:2");
  assert_text (whole_table (), before);
}

START_TEST (MismatchingKernelsInSameOpCall_fails)
{
  assert_second_is_refused ("CPU", "CUDA", "(Tensor _0, Tensor _1) -> int _0");
}
END_TEST

START_TEST (RegisteringWithMismatchingCppSignatures)
{
  assert_second_is_refused ("CPU", "CUDA", "(Tensor _0, float _1) -> ()");
}
END_TEST

START_TEST (RegisteringCatchAllAndBackendWithMismatchingCppSignatures)
{
  assert_second_is_refused (NULL, "CPU", "(Tensor _0, float _1) -> ()");
}
END_TEST

START_TEST (RegisteringBackendAndCatchAllWithMismatchingCppSignatures)
{
  assert_second_is_refused ("CPU", NULL, "(Tensor _0, float _1) -> ()");
}
END_TEST

/* A refused kernel is not remembered: one that fits is taken afterwards, and the row may go and
 * come back as the refused one had it. */
START_TEST (failed_impl_leaves_no_signature_behind)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  XpLibrary *rows = fragment_new ("_test");
  define (rows, "dummy(Tensor dummy, int n) -> ()");
  ck_assert (!implement_typed (cpu, "dummy", "(Tensor _0) -> ()", 1, &error));
  assert_error (error, XP_ERROR_SCHEMA_MISMATCH, "2 vs 1");
  ck_assert (implement_typed (cpu, "dummy", "(Tensor _0, int _1) -> ()", 2, &error));
  assert_no_error (error);
  g_clear_pointer (&cpu, xp_library_free);
  xp_library_free (rows);
  g_auto (GStrv) names = xp_table_names ();
  ck_assert_uint_eq (g_strv_length (names), 0);
  g_autoptr (XpLibrary) others = fragment_new ("_test");
  define (others, "dummy(Tensor dummy) -> ()");
  g_autoptr (XpLibrary) again = impl_new ("_test", "CPU");
  ck_assert (implement_typed (again, "dummy", "(Tensor _0) -> ()", 3, &error));
  assert_runs (NAME, XP_KEY_CPU, false, 3);
}
END_TEST

/* --- Typed callers of another type. --- */

static void
assert_handle_is_refused (const char *key)
{
  GError *error = NULL;
  XpOperatorHandle right = { NAME, "(Tensor _0) -> ()", NULL };
  XpOperatorHandle wrong = { NAME, "(Tensor _0, Tensor _1) -> ()", NULL };
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) block = impl_new ("_test", key);
  define (rows, ONE_TENSOR);
  implement_typed (block, "dummy", "(Tensor _0) -> ()", 1, &error);
  assert_no_error (error);
  g_autoptr (XpTensor) tensor = dummy (XP_KEY_CPU, false);
  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_tensor (tensor) };
  ran = 0;
  ck_assert_int_eq (xp_operator_call (xp_operator_handle_get (&wrong), arguments, NULL, &error),
                    XP_FAILED);
  ck_assert_int_eq (ran, 0);
  ck_assert_str_eq (xp_error_get_details (error)->op, NAME);
  assert_error (error, XP_ERROR_SIGNATURE_MISMATCH,
                "Tried to access or call an operator with a wrong signature.\n"
                "  operator: _test::dummy(Tensor dummy) -> ()\n    registered at row.c:1\n"
                "  correct signature:  (Tensor _0) -> ()\n"
                "  accessed/called as: (Tensor _0, Tensor _1) -> ()");
  xp_operator_call (xp_operator_handle_get (&right), arguments, NULL, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 1);
}

START_TEST (AccessingWithMismatchingCppSignatures)
{
  assert_handle_is_refused ("CPU");
}
END_TEST

START_TEST (AccessingCatchAllWithMismatchingCppSignatures)
{
  assert_handle_is_refused (NULL);
}
END_TEST

/* --- Names. --- */

START_TEST (erroroutwithinvalidoverloadname)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  GError *error = refused_def (rows, "dummy.default(Tensor dummy) -> ()");
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX,
                "default is not a legal overload name for aten operators");
  error = refused_def (rows, "dummy.__name__(Tensor dummy) -> ()");
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "__name__ is not a legal overload name");
}
END_TEST

static bool
contains (char **names, const char *name)
{
  return g_strv_contains ((const char *const *) names, name);
}

/* Names with a direct kernel for a key are some of all names. */
START_TEST (getRegistrationsForDispatchKey)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  g_autoptr (XpLibrary) math = impl_new ("_test", NULL);
  define (rows, ONE_TENSOR);
  define (rows, "mathematical(Tensor self) -> ()");
  record_at (cpu, "dummy", 1);
  record_at (math, "mathematical", 2);
  record_at (cpu, "pending", 3);
  g_auto (GStrv) all = xp_table_names ();
  ck_assert (contains (all, NAME) && contains (all, "_test::mathematical"));
  unsigned n = 0;
  for (unsigned i = 0; all[i] != NULL; i++)
    n += xp_table_has_kernel (all[i], XP_KEY_CPU);
  ck_assert_uint_eq (n, 2);
  ck_assert (!xp_table_has_kernel ("_test::mathematical", XP_KEY_CPU));
  ck_assert (xp_table_has_kernel ("_test::mathematical", XP_KEY_CompositeImplicitAutograd));
}
END_TEST

/* A kernel says int where its row says SymInt, and callers of both find it. */
START_TEST (TestSymNonSymCompatibility)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  define (rows, "dummy(Tensor dummy, SymInt n) -> ()");
  ck_assert (implement_typed (cpu, "dummy", "(Tensor _0, int _1) -> ()", 1, &error));
  g_autoptr (XpTensor) tensor = dummy (XP_KEY_CPU, false);
  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_int (3) };
  XpOperatorHandle handle = { NAME, "(Tensor _0, int _1) -> ()", NULL };
  ran = 0;
  xp_operator_call (xp_operator_handle_get (&handle), arguments, NULL, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 1);
  call_named (NAME, arguments, &error);
  assert_no_error (error);
}
END_TEST

/* The kernel says SymInt itself. */
START_TEST (TestSymSymCompatibility)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  define (rows, "dummy(Tensor dummy, SymInt n) -> ()");
  implement_typed (cpu, "dummy", "(Tensor _0, SymInt _1) -> ()", 1, &error);
  assert_no_error (error);
  define (rows, "plain(Tensor dummy, int n) -> ()");
  implement_typed (cpu, "plain", "(Tensor _0, SymInt _1) -> ()", 2, &error);
  assert_no_error (error);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("registrations");
  TCase *tests = tcase_create ("registrations");
  tcase_add_test (tests, WithSchemaBeforeKernelInOptionsObject);
  tcase_add_test (tests, WithSchemaAfterKernelInOptionsObject);
  tcase_add_test (tests, WithoutSchema_thenFails);
  tcase_add_test (tests, CallingOpWithWrongDispatchKey_thenFails);
  tcase_add_test (tests, OpWithCatchallKernel_callsCatchall);
  tcase_add_test (tests, DispatchedKernelOutOfScope_thenCatchall);
  tcase_add_test (tests, CatchallKernelOutOfScope_thenDispatched);
  tcase_add_test (tests, OpWithoutKernels_WithSchema_onlyRegistersSchema);
  tcase_add_test (tests, OpWithoutKernels_WithoutSchema_fails);
  tcase_add_test (tests, OpWithoutKernels_OutOfScope_schemaGone);
  tcase_add_test (tests, OpWithoutKernelsWithoutTensorInputs_registers);
  tcase_add_test (tests, CPUTensorType_canOnlyCallUnboxedWithCPUKey);
  tcase_add_test (tests, MultipleKernelsInSameOpCall_callsCorrectKernel);
  tcase_add_test (tests, MultipleKernelsByNameAndNoneCanInferSchema_fails);
  tcase_add_test (tests, MultipleKernelsBySchemaAndNoneCanInferSchema_succeeds);
  tcase_add_test (tests, MultipleKernelsBySchemaAndOnlyOneCanInferSchema_succeeds);
  tcase_add_test (tests, MismatchingKernelsInSameOpCall_fails);
  tcase_add_test (tests, RegisteringWithMismatchingCppSignatures);
  tcase_add_test (tests, RegisteringCatchAllAndBackendWithMismatchingCppSignatures);
  tcase_add_test (tests, RegisteringBackendAndCatchAllWithMismatchingCppSignatures);
  tcase_add_test (tests, failed_impl_leaves_no_signature_behind);
  tcase_add_test (tests, AccessingWithMismatchingCppSignatures);
  tcase_add_test (tests, AccessingCatchAllWithMismatchingCppSignatures);
  tcase_add_test (tests, erroroutwithinvalidoverloadname);
  tcase_add_test (tests, getRegistrationsForDispatchKey);
  tcase_add_test (tests, TestSymNonSymCompatibility);
  tcase_add_test (tests, TestSymSymCompatibility);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
