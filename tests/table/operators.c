/* SPDX-License-Identifier: MIT
 *
 * operators.c: operators by name: what is found, what is not and why, and what a handle that a
 * caller keeps says while its row comes, goes, and comes back with another signature.
 */
#include "table/blocks.h"

static GError *
error_of_get (const char *name)
{
  GError *error = NULL;
  ck_assert_ptr_null (xp_operator_get (name, &error));
  return error;
}

START_TEST (a_row_is_found)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  ck_assert_ptr_null (xp_operator_find ("op::add.Tensor"));
  define (rows, "add.Tensor(Tensor self, Tensor? other, Tensor[] more, Tensor?[] most, int n) -> "
                "(Tensor, int)");
  XpOperator *op = xp_operator_find ("op::add.Tensor");
  ck_assert_ptr_nonnull (op);
  ck_assert_ptr_eq (operator_named ("op::add.Tensor"), op);
  ck_assert_str_eq (xp_operator_name (op), "op::add.Tensor");
  ck_assert_uint_eq (op->n_arguments, 5);
  ck_assert_uint_eq (op->n_results, 2);
  ck_assert_uint_eq (op->tensor_arguments, 3);
  ck_assert_uint_eq (op->list_arguments, 12);
  g_autoptr (XpSchema) schema = xp_operator_schema (op);
  ck_assert_str_eq (schema->overload, "Tensor");
  g_clear_pointer (&rows, xp_library_free);
  ck_assert_ptr_null (xp_operator_find ("op::add.Tensor"));
  ck_assert_ptr_null (xp_operator_schema (op));
  ck_assert_str_eq (xp_operator_name (op), "op::add.Tensor");
}
END_TEST

START_TEST (overloads_are_rows_of_their_own)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  define (rows, "add.Tensor(Tensor self, Tensor other) -> Tensor");
  define (rows, "add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)");
  define (rows, "adder(Tensor self) -> Tensor");
  GError *error = error_of_get ("op::add.Scalar");
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (xp_error_class (error->code), "AttributeError");
  ck_assert_str_eq (details->op, "op::add.Scalar");
  ck_assert_uint_eq (g_strv_length (details->candidates), 2);
  ck_assert_str_eq (details->candidates[0], "op::add.Tensor");
  ck_assert_str_eq (details->candidates[1], "op::add.out");
  assert_error (error, XP_ERROR_UNKNOWN_OVERLOAD,
                "The underlying op of 'op::add' has no overload name 'Scalar'. ");
  error = error_of_get ("op::add");
  assert_error (error, XP_ERROR_UNKNOWN_OVERLOAD, "op::add.Tensor, op::add.out");
}
END_TEST

START_TEST (a_row_that_is_not_there)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  define (rows, "sigmoid(Tensor self) -> Tensor");
  GError *error = error_of_get ("op::sigmoyd");
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (xp_error_class (error->code), "AttributeError");
  ck_assert_str_eq (details->op, "op::sigmoyd");
  ck_assert_str_eq (details->candidates[0], "op::sigmoid");
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "Could not find schema for op::sigmoyd");
  /* The same name elsewhere. */
  error = error_of_get ("elsewhere::sigmoid");
  ck_assert_str_eq (xp_error_get_details (error)->candidates[0], "op::sigmoid");
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "op::sigmoid");
}
END_TEST

START_TEST (kernels_without_a_definition)
{
  g_autoptr (XpLibrary) cpu = impl_new ("op", "CPU");
  record_at (cpu, "foo", 3);
  ck_assert_ptr_null (xp_operator_find ("op::foo"));
  GError *error = error_of_get ("op::foo");
  ck_assert_str_eq (xp_error_get_details (error)->op, "op::foo");
  ck_assert_ptr_nonnull (strstr (error->message, "registered at kernel.c:3"));
  assert_error (error, XP_ERROR_NOT_DEFINED,
                "Could not find schema for op::foo, but we found an implementation");
  g_auto (GStrv) dangling = xp_table_dangling ();
  ck_assert_uint_eq (g_strv_length (dangling), 1);
  ck_assert_str_eq (dangling[0], "op::foo");
  ck_assert (xp_table_has_kernel ("op::foo", XP_KEY_CPU));

  /* It waits for its row, and stays when the row goes. */
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  define (rows, "foo(Tensor x) -> Tensor");
  ck_assert_int_eq (line_called ("op::foo", tensor), 3);
  g_auto (GStrv) none = xp_table_dangling ();
  ck_assert_uint_eq (g_strv_length (none), 0);
  g_clear_pointer (&rows, xp_library_free);
  ck_assert (xp_table_has_kernel ("op::foo", XP_KEY_CPU));
  error = error_of_get ("op::foo");
  assert_error (error, XP_ERROR_NOT_DEFINED, "op::foo");

  /* Overloads that wait are not offered. */
  record_at (cpu, "bar.one", 4);
  record_at (cpu, "bar.two", 5);
  error = error_of_get ("op::bar");
  assert_error (error, XP_ERROR_NOT_DEFINED, "Could not find schema for op::bar.one");
  rows = fragment_new ("op");
  define (rows, "bar.two(Tensor x) -> Tensor");
  error = error_of_get ("op::bar");
  assert_error (error, XP_ERROR_UNKNOWN_OVERLOAD, "has no overload without a name");
}
END_TEST

START_TEST (asking_creates_nothing)
{
  static const char *const names[] = {
    "", "foo", "op::foo", "op::", "::", "op::foo.bar", "a::b::c"
  };
  g_auto (GStrv) before = xp_table_names ();
  uint64_t generation = xp_table_generation ();
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GError *error = NULL;
      ck_assert_ptr_null (xp_operator_find (names[i]));
      error = error_of_get (names[i]);
      assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, names[i]);
      ck_assert_ptr_null (xp_table_row (names[i]));
      assert_text (xp_table_dump (names[i]), "");
      ck_assert (!xp_table_has_kernel (names[i], XP_KEY_CPU));
      ck_assert (!xp_table_has_computed_kernel (names[i], XP_KEY_BackendSelect, &error));
      assert_no_error (error);
      g_auto (GStrv) overloads = xp_table_overloads (names[i]);
      ck_assert_uint_eq (g_strv_length (overloads), 0);
    }
  g_auto (GStrv) after = xp_table_names ();
  ck_assert (g_strv_equal ((const char *const *) before, (const char *const *) after));
  ck_assert_uint_eq (xp_table_generation (), generation);
}
END_TEST

/* --- Handles. --- */

#define ONE "(Tensor _0) -> Tensor _0"

static GError *
error_of_handle (XpOperatorHandle *handle, XpTensor *tensor)
{
  GError *error = NULL;
  XpOperator *op = xp_operator_handle_get (handle);
  XpValue argument = xp_value_tensor (tensor), results[] = { xp_value_int (1), xp_value_int (1) };
  ck_assert_uint_le (op->n_results, G_N_ELEMENTS (results));
  ck_assert_int_eq (xp_operator_call (op, &argument, results, &error), XP_FAILED);
  for (unsigned i = 0; i < op->n_results; i++)
    ck_assert_int_eq (results[i].tag, XP_TAG_NONE);
  return error;
}

static int
line_of_handle (XpOperatorHandle *handle, XpTensor *tensor)
{
  GError *error = NULL;
  XpValue argument = xp_value_tensor (tensor), result;
  ran = 0;
  xp_operator_call (xp_operator_handle_get (handle), &argument, &result, &error);
  assert_no_error (error);
  return ran;
}

START_TEST (a_handle_outlives_its_row)
{
  XpOperatorHandle handle = { "op::foo", ONE, NULL };
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  GError *error = error_of_handle (&handle, tensor);
  ck_assert_str_eq (xp_error_get_details (error)->op, "op::foo");
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "Could not find schema for op::foo");
  /* The handle is no row. */
  g_auto (GStrv) names = xp_table_names ();
  ck_assert (!g_strv_contains ((const char *const *) names, "op::foo"));

  for (int line = 1; line < 4; line++)
    {
      g_autoptr (XpLibrary) rows = fragment_new ("op");
      g_autoptr (XpLibrary) cpu = impl_new ("op", "CPU");
      define (rows, "foo(Tensor x) -> Tensor");
      record_at (cpu, "foo", line);
      ck_assert_int_eq (line_of_handle (&handle, tensor), line);
      ck_assert_ptr_eq (xp_operator_find ("op::foo"), handle.op);
      g_clear_pointer (&rows, xp_library_free);
      error = error_of_handle (&handle, tensor);
      assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "op::foo");
    }
}
END_TEST

START_TEST (a_row_comes_back_with_another_signature)
{
  XpOperatorHandle old = { "op::foo", ONE, NULL };
  XpOperatorHandle new_ = { "op::foo", "(Tensor _0, int _1) -> ()", NULL };
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  XpLibrary *rows = fragment_new ("op");
  g_autoptr (XpLibrary) cpu = impl_new ("op", "CPU");
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (cpu, "foo", 1);
  ck_assert_int_eq (line_of_handle (&old, tensor), 1);
  XpOperator *first = old.op;
  xp_library_free (rows);

  rows = fragment_new ("op");
  define (rows, "foo(Tensor x, int n) -> ()");
  GError *error = error_of_handle (&old, tensor);
  ck_assert_str_eq (xp_error_get_details (error)->op, "op::foo");
  ck_assert_ptr_nonnull (strstr (error->message, "op::foo(Tensor x, int n) -> ()"));
  ck_assert_ptr_nonnull (strstr (error->message, "registered at row.c:1"));
  ck_assert_ptr_nonnull (strstr (error->message, ONE));
  assert_error (error, XP_ERROR_SIGNATURE_MISMATCH,
                "Tried to access or call an operator with a wrong signature.\n");
  ck_assert_ptr_ne (xp_operator_find ("op::foo"), first);
  ck_assert_ptr_eq (xp_operator_find ("op::foo"), xp_operator_handle_get (&new_));
  ck_assert_uint_eq (new_.op->n_arguments, 2);
  ck_assert_ptr_null (xp_operator_schema (first));
  xp_library_free (rows);

  /* Gone, then back as it was: the same handle works again. */
  error = error_of_handle (&old, tensor);
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "op::foo");
  rows = fragment_new ("op");
  define (rows, "foo(Tensor renamed) -> Tensor");
  ck_assert_ptr_eq (xp_operator_find ("op::foo"), first);
  ck_assert_int_eq (line_of_handle (&old, tensor), 1);
  xp_library_free (rows);
}
END_TEST

/* A handle of another signature, first asked for while the row is there. */
START_TEST (a_handle_that_never_fitted)
{
  XpOperatorHandle handle = { "op::foo", "() -> ()", NULL };
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  define (rows, "foo(Tensor x) -> Tensor");
  GError *error = error_of_handle (&handle, NULL);
  assert_error (error, XP_ERROR_SIGNATURE_MISMATCH, "() -> ()");
}
END_TEST

/* --- Named backends. --- */

/* More devices than the first blocks of cells have room for; a row that is there already serves
 * them all. */
START_TEST (rows_grow_with_named_backends)
{
  static const char *const names[] = { "npu", "tpu", "vpu", "fpu", "dpu", "mpu",
                                       "qpu", "rpu", "spu", "upu", "wpu", "xpv",
                                       "ypu", "zpu", "apu", "bpu", "cpv", "epu" };
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  g_autoptr (XpLibrary) cpu = impl_new ("op", "CPU");
  g_autoptr (XpLibrary) meta = impl_new ("op", "Meta");
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (cpu, "foo", 1000);
  record_at (meta, "foo", 1001);
  XpLibrary *blocks[G_N_ELEMENTS (names)];
  XpTensor *tensors[G_N_ELEMENTS (names)];
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GError *error = NULL;
      XpBackend backend;
      xp_backend_register (names[i], &backend, &error);
      assert_no_error (error);
      tensors[i] = tensor_of (XP_FUNCTIONALITY_Dense, backend);
      XpValue argument = xp_value_tensor (tensors[i]);
      ck_assert_int_eq (call_named ("op::foo", &argument, &error), XP_FAILED);
      ck_assert_str_eq (xp_error_get_details (error)->key, names[i]);
      assert_error (error, XP_ERROR_MISSING_KERNEL, names[i]);
      blocks[i] = impl_new ("op", names[i]);
      record_at (blocks[i], "foo", (int) i + 1);
      assert_table_is_sound ();
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    ck_assert_int_eq (line_called ("op::foo", tensors[i]), (int) i + 1);
  g_autoptr (XpTensor) on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  g_autoptr (XpTensor) on_meta = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_Meta);
  ck_assert_int_eq (line_called ("op::foo", on_cpu), 1000);
  ck_assert_int_eq (line_called ("op::foo", on_meta), 1001);

  /* Named ones stand sorted by name, between PrivateUse3 and Meta. */
  g_autofree char *dump = xp_table_dump ("op::foo");
  const char *apu = strstr (dump, "\napu: "), *zpu = strstr (dump, "\nzpu: ");
  ck_assert (apu != NULL && zpu != NULL && apu < zpu && zpu < strstr (dump, "\nMeta: "));
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      xp_library_free (blocks[i]);
      xp_tensor_unref (tensors[i]);
    }
  assert_table_is_sound ();
}
END_TEST

/* As many rows as make the index of names grow several times. */
START_TEST (thousands_of_rows)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  for (unsigned i = 0; i < 3000; i++)
    {
      g_autofree char *schema = g_strdup_printf ("row_%u(Tensor x) -> Tensor", i);
      define (rows, schema);
    }
  for (unsigned i = 0; i < 3000; i++)
    {
      g_autofree char *name = g_strdup_printf ("op::row_%u", i);
      ck_assert_str_eq (xp_operator_name (operator_named (name)), name);
    }
  ck_assert_ptr_null (xp_operator_find ("op::row_3000"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("operators");
  TCase *tests = tcase_create ("operators");
  tcase_add_test (tests, a_row_is_found);
  tcase_add_test (tests, overloads_are_rows_of_their_own);
  tcase_add_test (tests, a_row_that_is_not_there);
  tcase_add_test (tests, kernels_without_a_definition);
  tcase_add_test (tests, asking_creates_nothing);
  tcase_add_test (tests, a_handle_outlives_its_row);
  tcase_add_test (tests, a_row_comes_back_with_another_signature);
  tcase_add_test (tests, a_handle_that_never_fitted);
  tcase_add_test (tests, rows_grow_with_named_backends);
  tcase_add_test (tests, thousands_of_rows);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
