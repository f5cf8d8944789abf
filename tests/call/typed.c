/* SPDX-License-Identifier: MIT
 *
 * typed.c: typed callers and kernels, and boxing between them: what each side may get wrong, and
 * how each kind of call is traced.
 */
#include "calls.h"
#include "table/blocks.h"

#include <crosspoint/trace.h>

static XpLibrary *rows, *cpu;
static XpTensor *tensor;

static void
set_up (void)
{
  rows = fragment_new ("calls");
  cpu = impl_new ("calls", "CPU");
  tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "unary(Tensor self) -> Tensor");
  define (rows, "binary(Tensor self, Tensor other) -> Tensor");
  define (rows, "numbers(Tensor self, int i, float f, bool b, Scalar s) -> (int, float, bool, "
                "Scalar)");
  define (rows, "tensors(Tensor? self, Tensor[] list, Tensor?[] holes, Tensor[]? more=None) -> "
                "Tensor");
  define (rows, "everything(Tensor self, int[] ints, float[] floats, bool[] bools, str text, "
                "ScalarType dtype, Layout layout, MemoryFormat format, Device device, Generator "
                "generator) -> Tensor");
}

static void
tear_down (void)
{
  xp_tensor_unref (tensor);
  xp_library_free (cpu);
  xp_library_free (rows);
}

static XpStatus
typed_identity (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result,
                G_GNUC_UNUSED GError **error)
{
  ck_assert_ptr_null (*result);
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static XpStatus
typed_half_way (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  *result = xp_tensor_ref (self);
  xp_error_set (error, XP_ERROR_SHAPE, NULL, "half way");
  return XP_FAILED;
}

static XpStatus
typed_sum (G_GNUC_UNUSED XpCall *call, XpTensor *self, G_GNUC_UNUSED XpTensor *other,
           XpTensor **result, GError **error)
{
  return xp_calls_unary (self, result, error);
}

static XpStatus
typed_numbers (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED XpTensor *self, int64_t i, double f,
               bool b, XpValue s, int64_t *result_i, double *result_f, bool *result_b,
               XpValue *result_s, G_GNUC_UNUSED GError **error)
{
  *result_i = -i;
  *result_f = -f;
  *result_b = !b;
  *result_s = xp_value_ref (s);
  return XP_OK;
}

START_TEST (a_typed_kernel_serves_both)
{
  xp_impl_calls_unary (cpu, typed_identity);
  xp_impl_calls_numbers (cpu, typed_numbers);
  GError *error = NULL;
  XpTensor *result = (XpTensor *) 1; /* what it holds is not looked at */
  xp_calls_unary (tensor, &result, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (result, tensor);
  xp_tensor_unref (result);
  result = (XpTensor *) 1;
  xp_calls_unary_redispatch (xp_key_set (XP_KEY_CPU), tensor, &result, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (result, tensor);
  xp_tensor_unref (result);

  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_int (G_MININT64 + 1),
                          xp_value_float (0.1), xp_value_bool (TRUE), xp_value_int (3) };
  XpValue results[4];
  xp_operator_call (operator_named ("calls::numbers"), arguments, results, &error);
  assert_no_error (error);
  ck_assert (xp_value_equal (results[0], xp_value_int (G_MAXINT64)));
  ck_assert (xp_value_equal (results[1], xp_value_float (-0.1)));
  ck_assert (xp_value_equal (results[2], xp_value_bool (FALSE)));
  ck_assert (xp_value_equal (results[3], xp_value_int (3)));
}
END_TEST

START_TEST (a_failing_kernel_leaves_no_result)
{
  xp_impl_calls_unary (cpu, typed_half_way);
  GError *error = NULL;
  XpTensor *result = (XpTensor *) 1;
  ck_assert_int_eq (xp_calls_unary (tensor, &result, &error), XP_FAILED);
  ck_assert_ptr_null (result);
  assert_error (error, XP_ERROR_SHAPE, "half way");
  XpValue argument = xp_value_tensor (tensor), boxed = xp_value_int (1);
  ck_assert_int_eq (xp_operator_call (operator_named ("calls::unary"), &argument, &boxed, &error),
                    XP_FAILED);
  ck_assert_int_eq (boxed.tag, XP_TAG_NONE);
  assert_error (error, XP_ERROR_SHAPE, "half way");
}
END_TEST

/* A boxed call with values of other types than the kernel takes. */
static XpStatus
typed_nothing (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED XpTensor *self,
               G_GNUC_UNUSED XpTensor **result, G_GNUC_UNUSED GError **error)
{
  return XP_OK;
}

/* Its caller is not made to look at a tensor that is not there. */
START_TEST (a_typed_kernel_that_gives_nothing)
{
  xp_impl_calls_unary (cpu, typed_nothing);
  GError *error = NULL;
  XpTensor *result = (XpTensor *) 1;
  XpStatus status = _i == 0 ? xp_calls_unary (tensor, &result, &error)
                            : xp_calls_unary_redispatch (xp_key_set (XP_KEY_CPU), tensor, &result,
                                                         &error);
  ck_assert_int_eq (status, XP_FAILED);
  ck_assert_ptr_null (result);
  assert_error (error, XP_ERROR_INTERNAL,
                "returned XP_OK, but left a result out that its schema promises");
}
END_TEST

/* A caller that does not initialise its result can clean it up all the same. */
START_TEST (a_mistake_leaves_no_result)
{
  GError *error = NULL;
  XpTensor *result = (XpTensor *) 1;
  xp_impl_calls_unary (cpu, typed_identity);
  ck_assert_int_eq (xp_calls_unary (NULL, &result, &error), XP_FAILED);
  ck_assert_ptr_null (result);
  assert_error (error, XP_ERROR_ARGUMENT, "self");
}
END_TEST

START_TEST (a_boxed_call_of_other_types)
{
  xp_impl_calls_numbers (cpu, typed_numbers);
  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_int (1), xp_value_float (1),
                          xp_value_string ("yes"), xp_value_int (3) };
  XpValue results[4];
  GError *error = NULL;
  XpOperator *op = operator_named ("calls::numbers");
  ck_assert_int_eq (xp_operator_call (op, arguments, results, &error), XP_FAILED);
  ck_assert_str_eq (xp_error_get_details (error)->op, "calls::numbers");
  ck_assert_str_eq (xp_error_get_details (error)->argument, "b");
  assert_error (error, XP_ERROR_ARGUMENT,
                "calls::numbers() Expected a value of type 'bool' for argument 'b' but instead "
                "found type 'str'.\nPosition: 3\nValue: \"yes\"\nDeclaration: calls::numbers(");
  xp_value_clear (&arguments[3]);
  ck_assert_int_eq (xp_operator_call (op, arguments, results, &error), XP_FAILED);
  assert_error (error, XP_ERROR_ARGUMENT, "found type 'NoneType'");
  /* What the schema would convert must have been converted. */
  arguments[3] = xp_value_bool (TRUE);
  arguments[2] = xp_value_int (1);
  ck_assert_int_eq (xp_operator_call (op, arguments, results, &error), XP_FAILED);
  assert_error (error, XP_ERROR_ARGUMENT, "xp_schema_match() first");
}
END_TEST

START_TEST (no_tensor_where_one_must_be)
{
  xp_impl_calls_binary (cpu, typed_sum);
  XpTensor *result = NULL;
  GError *error = NULL;
  ck_assert_int_eq (xp_calls_binary (tensor, NULL, &result, &error), XP_FAILED);
  ck_assert_str_eq (xp_error_get_details (error)->argument, "other");
  assert_error (error, XP_ERROR_ARGUMENT, "calls::binary() expected a value for argument 'other'");
  ck_assert_int_eq (
      xp_calls_binary_redispatch (xp_key_set (XP_KEY_CPU), NULL, tensor, &result, &error),
      XP_FAILED);
  assert_error (error, XP_ERROR_ARGUMENT, "'self'");
}
END_TEST

/* --- What no typed kernel must be given. --- */

static unsigned n_given;

static XpStatus
count_tensors (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED XpTensor *self,
               G_GNUC_UNUSED XpTensors list, G_GNUC_UNUSED XpTensors holes,
               G_GNUC_UNUSED const XpTensors *more, XpTensor **result, G_GNUC_UNUSED GError **error)
{
  n_given++;
  *result = xp_tensor_ref (tensor);
  return XP_OK;
}

static XpStatus
count_everything (G_GNUC_UNUSED XpCall *call, XpTensor *self, G_GNUC_UNUSED XpInts ints,
                  G_GNUC_UNUSED XpFloats floats, G_GNUC_UNUSED XpBools bools,
                  G_GNUC_UNUSED const char *text, G_GNUC_UNUSED XpDType dtype,
                  G_GNUC_UNUSED XpLayout layout, G_GNUC_UNUSED XpMemoryFormat format,
                  G_GNUC_UNUSED XpDevice device, G_GNUC_UNUSED XpGenerator *generator,
                  XpTensor **result, G_GNUC_UNUSED GError **error)
{
  n_given++;
  *result = xp_tensor_ref (self);
  return XP_OK;
}

START_TEST (none_in_a_list_of_tensors)
{
  xp_impl_calls_tensors (cpu, count_tensors);
  XpTensor *pair[] = { tensor, NULL }, *result = NULL;
  XpTensors with_none = { pair, 2 }, without = { pair, 1 };
  GError *error = NULL;
  n_given = 0;
  ck_assert_int_eq (xp_calls_tensors (tensor, with_none, without, NULL, &result, &error),
                    XP_FAILED);
  assert_error (error, XP_ERROR_ARGUMENT, "'list', but found NULL");
  ck_assert_int_eq (xp_calls_tensors (tensor, without, without, &with_none, &result, &error),
                    XP_FAILED);
  assert_error (error, XP_ERROR_ARGUMENT, "'more', but found NULL");
  xp_calls_tensors (tensor, without, with_none, NULL, &result, &error);
  assert_no_error (error);
  xp_tensor_unref (result);

  XpValue arguments[] = { xp_value_tensor (tensor), xp_box_tensors (with_none),
                          xp_box_tensors (with_none), XP_NONE };
  XpValue boxed;
  XpOperator *op = operator_named ("calls::tensors");
  ck_assert_int_eq (xp_operator_call (op, arguments, &boxed, &error), XP_FAILED);
  assert_error (error, XP_ERROR_ARGUMENT, "for argument 'list'");
  ck_assert_uint_eq (n_given, 1);
  xp_values_clear (&arguments[1], 2);
}
END_TEST

/* Numbers in values that name no dtype, layout, format or backend. */
START_TEST (numbers_that_name_nothing)
{
  xp_impl_calls_everything (cpu, count_everything);
  g_autoptr (XpList) empty = xp_list_new (NULL, 0);
  XpGenerator *generator = xp_generator_new (XP_CPU, 1);
  XpValue arguments[] = { xp_value_tensor (tensor),     xp_value_list (empty),
                          xp_value_list (empty),        xp_value_list (empty),
                          xp_value_string ("text"),     xp_value_dtype (XP_FLOAT32),
                          xp_value_layout (XP_STRIDED), xp_value_memory_format (XP_CHANNELS_LAST),
                          xp_value_device (XP_CPU),     xp_value_generator (generator) };
  const XpValue wrong[] = { xp_value_dtype ((XpDType) 8), xp_value_layout ((XpLayout) 99),
                            xp_value_memory_format ((XpMemoryFormat) -1),
                            xp_value_device ((XpDevice){ 99, 0 }) };
  const char *names[] = { "'dtype'", "'layout'", "'format'", "'device'" };
  XpOperator *op = operator_named ("calls::everything");
  XpValue result;
  GError *error = NULL;
  n_given = 0;
  xp_operator_call (op, arguments, &result, &error);
  assert_no_error (error);
  xp_value_clear (&result);
  for (unsigned i = 0; i < XP_LENGTH (wrong); i++)
    {
      XpValue right = arguments[5 + i];
      arguments[5 + i] = wrong[i];
      ck_assert_int_eq (xp_operator_call (op, arguments, &result, &error), XP_FAILED);
      assert_error (error, XP_ERROR_ARGUMENT, names[i]);
      arguments[5 + i] = right;
    }
  XpTensor *typed = NULL;
  ck_assert_int_eq (xp_calls_everything (tensor, XP_INTS (1), (XpFloats){ 0 }, (XpBools){ 0 }, NULL,
                                         XP_FLOAT32, XP_STRIDED, XP_CONTIGUOUS_FORMAT, XP_CPU,
                                         generator, &typed, &error),
                    XP_FAILED);
  assert_error (error, XP_ERROR_ARGUMENT, "'text', but found NULL");
  ck_assert_uint_eq (n_given, 1);
  xp_value_clear (&arguments[4]);
  xp_generator_unref (generator);
}
END_TEST

/* --- A boxed kernel that returns something else than its schema says. --- */

static XpTag wrong_tag;

static XpStatus
return_wrong (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
              G_GNUC_UNUSED GError **error)
{
  if (wrong_tag == XP_TAG_STRING)
    results[0] = xp_value_string ("no tensor");
  return XP_OK;
}

START_TEST (a_boxed_kernel_returns_something_else)
{
  implement (cpu, "unary", return_wrong, 4);
  wrong_tag = _i == 0 ? XP_TAG_NONE : XP_TAG_STRING;
  XpTensor *result = (XpTensor *) 1;
  GError *error = NULL;
  ck_assert_int_eq (xp_calls_unary (tensor, &result, &error), XP_FAILED);
  ck_assert_ptr_null (result);
  ck_assert_str_eq (xp_error_get_details (error)->op, "calls::unary");
  assert_error (error, XP_ERROR_INTERNAL,
                _i == 0 ? "left a result out that its schema promises"
                        : "as result 0, where its schema says Tensor");
}
END_TEST

/* --- Rows that are not there, or of another signature. --- */

START_TEST (a_typed_caller_without_its_row)
{
  XpTensor *result = (XpTensor *) 1;
  GError *error = NULL;
  xp_library_free (rows);
  ck_assert_int_eq (xp_calls_unary (tensor, &result, &error), XP_FAILED);
  ck_assert_ptr_null (result);
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "calls::unary");
  rows = fragment_new ("calls");
  define (rows, "unary(Tensor self, Tensor other) -> Tensor");
  ck_assert_int_eq (xp_calls_unary (tensor, &result, &error), XP_FAILED);
  assert_error (error, XP_ERROR_SIGNATURE_MISMATCH, "accessed/called as: (Tensor _0) -> Tensor _0");
  ck_assert_int_eq (xp_calls_unary_redispatch (xp_key_set (XP_KEY_CPU), tensor, &result, &error),
                    XP_FAILED);
  assert_error (error, XP_ERROR_SIGNATURE_MISMATCH, "calls::unary");
}
END_TEST

/* --- How calls are traced. --- */

static void
keep_line (const char *line, void *data)
{
  g_string_append_printf (data, "%s\n", line);
}

static XpStatus
typed_below (XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  return xp_calls_unary_redispatch (xp_call_keys_after (call), self, result, error);
}

static XpStatus
boxed_below (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

START_TEST (the_four_kinds_of_call)
{
  g_autoptr (XpLibrary) autograd = impl_new ("calls", "AutogradCPU");
  g_autoptr (XpLibrary) tracer = impl_new ("_", "Tracer");
  xp_impl_calls_unary (cpu, typed_identity);
  xp_impl_calls_binary (cpu, typed_sum);
  xp_impl_calls_unary (autograd, typed_below);
  implement (tracer, NULL, boxed_below, 5);
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
  GString *text = g_string_new (NULL);
  XpTensor *result = NULL;
  GError *error = NULL;
  xp_trace_begin (keep_line, text);
  xp_calls_binary (tensor, tensor, &result, &error);
  xp_trace_end ();
  assert_no_error (error);
  xp_tensor_unref (result);
  ck_assert_str_eq (text->str, " [call] op=[calls::binary], key=[Tracer]\n"
                               "  [redispatchBoxed] op=[calls::binary], key=[CPU]\n"
                               "   [call] op=[calls::unary], key=[Tracer]\n"
                               "    [redispatchBoxed] op=[calls::unary], key=[AutogradCPU]\n"
                               "     [redispatch] op=[calls::unary], key=[CPU]\n");
  g_string_free (text, TRUE);
}
END_TEST

/* What stands in a dump of a typed kernel that a macro registered: this file and its line. */
START_TEST (a_macro_says_where_it_stands)
{
  int line = __LINE__ + 1;
  xp_impl_calls_unary (cpu, typed_identity);
  xp_impl (cpu, "binary", return_wrong);
  g_autofree char *dump = xp_table_dump ("calls::unary");
  g_autofree char *expected = g_strdup_printf (
      "\nCPU: registered at tests/call/typed.c:%d :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n",
      line);
  ck_assert_msg (strstr (dump, expected) != NULL, "%s", dump);
  g_autofree char *other = xp_table_dump ("calls::binary");
  g_autofree char *boxed = g_strdup_printf (
      "\nCPU: registered at tests/call/typed.c:%d :: (none) [ boxed ]\n", line + 1);
  ck_assert_msg (strstr (other, boxed) != NULL, "%s", other);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("typed");
  TCase *tests = tcase_create ("typed");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, a_typed_kernel_serves_both);
  tcase_add_test (tests, a_failing_kernel_leaves_no_result);
  tcase_add_loop_test (tests, a_typed_kernel_that_gives_nothing, 0, 2);
  tcase_add_test (tests, a_mistake_leaves_no_result);
  tcase_add_test (tests, a_boxed_call_of_other_types);
  tcase_add_test (tests, no_tensor_where_one_must_be);
  tcase_add_test (tests, none_in_a_list_of_tensors);
  tcase_add_test (tests, numbers_that_name_nothing);
  tcase_add_loop_test (tests, a_boxed_kernel_returns_something_else, 0, 2);
  tcase_add_test (tests, a_typed_caller_without_its_row);
  tcase_add_test (tests, the_four_kinds_of_call);
  tcase_add_test (tests, a_macro_says_where_it_stands);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
