/* SPDX-License-Identifier: MIT
 *
 * conventions.c: the cases of PyTorch's C++ suites about how kernels are called and call on: types
 * of arguments, key sets handed from key to key, modes and wrappers, under their names (README.md).
 */
#include "calls.h"
#include "dispatch/cases.h"

/* --- Every type of argument and result, there and back. --- */

static XpStatus
return_arguments (XpCall *call, const XpValue *arguments, XpValue *results,
                  G_GNUC_UNUSED GError **error)
{
  ran++;
  for (uint32_t i = 0; i < xp_call_operator (call)->n_results; i++)
    results[i] = xp_value_ref (arguments[i]);
  return XP_OK;
}

static XpValue
list_of (XpValue a, XpValue b)
{
  XpValue values[] = { a, b }, list = xp_value_list (xp_list_new (values, 2));
  xp_values_clear (values, 2);
  return list;
}

static XpValue
empty_list (void)
{
  return xp_value_list (xp_list_new (NULL, 0));
}

static XpValue
dict_of (XpValue key, XpValue value)
{
  XpValue dict = xp_value_dict (xp_dict_new (&key, &value, 1));
  xp_value_clear (&key);
  xp_value_clear (&value);
  return dict;
}

/* Calls dummy(TYPE value, TYPE again) with RESULTS, boxed, through matching; consumes @value. */
static void
round_trip (const char *type, const char *results_text, XpValue value)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) catch_all = impl_new ("_test", NULL);
  g_autofree char *schema = g_strdup_printf ("dummy(%s value, %s again) -> %s", type, type,
                                             results_text);
  GError *error = NULL;
  define (rows, schema);
  implement (catch_all, "dummy", return_arguments, 1);
  XpOperator *op = operator_named (NAME);
  g_autoptr (XpSchema) parsed = xp_operator_schema (op);
  XpValue given[] = { value, value }, arguments[2], results[2];
  xp_schema_match (parsed, given, 2, NULL, NULL, 0, arguments, &error);
  assert_no_error (error);
  ran = 0;
  xp_operator_call (op, arguments, results, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 1);
  for (uint32_t i = 0; i < op->n_results; i++)
    ck_assert_msg (xp_value_equal (results[i], value), "%s as result %u", schema, i);
  xp_values_clear (results, op->n_results);
  xp_values_clear (arguments, 2);
  xp_value_clear (&value);
}

/* With no result, one, and several. */
static void
round_trips (const char *type, XpValue value)
{
  g_autofree char *two = g_strdup_printf ("(%s, %s)", type, type);
  round_trip (type, "()", xp_value_ref (value));
  round_trip (type, type, xp_value_ref (value));
  round_trip (type, two, value);
}

START_TEST (testAvailableArgTypes_plain)
{
  XpTensor *tensor = dummy (XP_KEY_CPU, false);
  round_trips ("float", xp_value_float (1.5));
  round_trips ("int", xp_value_int (-3));
  round_trips ("bool", xp_value_bool (TRUE));
  round_trips ("bool", xp_value_bool (FALSE));
  round_trips ("complex", xp_value_complex (1, -2));
  round_trips ("str", xp_value_string ("a \"text\""));
  round_trips ("str", xp_value_string (""));
  round_trips ("Scalar", xp_value_float (2));
  round_trips ("ScalarType", xp_value_dtype (XP_INT16));
  round_trips ("Device", xp_value_device ((XpDevice){ XP_BACKEND_CUDA, 1 }));
  round_trips ("Tensor", xp_value_tensor (tensor));
}
END_TEST

START_TEST (testAvailableArgTypes_optional)
{
  XpTensor *tensor = dummy (XP_KEY_CPU, false);
  static const char *const types[] = { "float?", "int?", "bool?", "str?", "Tensor?", "int[]?" };
  for (unsigned i = 0; i < G_N_ELEMENTS (types); i++)
    round_trips (types[i], XP_NONE);
  round_trips ("float?", xp_value_float (1.5));
  round_trips ("int?", xp_value_int (4));
  round_trips ("bool?", xp_value_bool (TRUE));
  round_trips ("str?", xp_value_string ("default"));
  round_trips ("Tensor?", xp_value_tensor (tensor));
  round_trips ("int[]?", list_of (xp_value_int (1), xp_value_int (2)));
}
END_TEST

START_TEST (testAvailableArgTypes_lists)
{
  static const char *const types[] = { "float[]",  "int[]",  "bool[]", "str[]",
                                       "Tensor[]", "int?[]", "int[0]", "str[0]" };
  for (unsigned i = 0; i < G_N_ELEMENTS (types); i++)
    round_trips (types[i], empty_list ());
  XpTensor *one = dummy (XP_KEY_CPU, false), *two = dummy (XP_KEY_CPU, true);
  round_trips ("float[]", list_of (xp_value_float (1.5), xp_value_float (2.5)));
  round_trips ("int[]", list_of (xp_value_int (1), xp_value_int (2)));
  round_trips ("int[2]", list_of (xp_value_int (1), xp_value_int (2)));
  round_trips ("bool[]", list_of (xp_value_bool (TRUE), xp_value_bool (FALSE)));
  round_trips ("str[]", list_of (xp_value_string ("first"), xp_value_string ("second")));
  round_trips ("str[2]", list_of (xp_value_string ("first"), xp_value_string ("second")));
  round_trips ("Tensor[]", list_of (xp_value_tensor (one), xp_value_tensor (two)));
  round_trips ("int?[]", list_of (xp_value_int (1), XP_NONE));
  round_trips ("str?[]", list_of (XP_NONE, xp_value_string ("second")));
}
END_TEST

START_TEST (testAvailableArgTypes_nested)
{
  XpTensor *tensor = dummy (XP_KEY_CPU, false);
  round_trips ("Dict(str, str)", dict_of (xp_value_string ("key"), xp_value_string ("value")));
  round_trips ("Dict(int, Tensor)", dict_of (xp_value_int (1), xp_value_tensor (tensor)));
  round_trips ("Dict(str, int)[]", list_of (dict_of (xp_value_string ("a"), xp_value_int (1)),
                                            dict_of (xp_value_string ("b"), xp_value_int (2))));
  round_trips ("Dict(str, int[])",
               dict_of (xp_value_string ("key"), list_of (xp_value_int (1), xp_value_int (2))));
  XpValue inner = dict_of (xp_value_int (1), xp_value_string ("value"));
  round_trips ("Dict(str, Dict(int, str)?[])[]",
               list_of (dict_of (xp_value_string ("key"), list_of (inner, XP_NONE)),
                        dict_of (xp_value_string ("other"), empty_list ())));
}
END_TEST

/* --- From key to key, each with what is left of the key set. --- */

static unsigned n_tracer, n_autograd, n_cpu;

static void
expect_key (XpCall *call, XpKey key)
{
  ck_assert (xp_call_key (call) == key);
  ck_assert (xp_key_set_has (xp_call_keys (call), key));
}

static XpStatus
typed_tracer (XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  n_tracer++;
  expect_key (call, XP_KEY_Tracer);
  XpKeySet below = xp_key_set_intersection (xp_call_keys (call), xp_key_set_after (XP_KEY_Tracer));
  return xp_calls_unary_redispatch (below, self, result, error);
}

static XpStatus
typed_autograd (XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  n_autograd++;
  expect_key (call, XP_KEY_AutogradCPU);
  ck_assert (!xp_key_set_has (xp_call_keys (call), XP_KEY_Tracer));
  XpKeySet below = xp_key_set_intersection (xp_call_keys (call),
                                            xp_key_set_after (XP_KEY_AutogradCPU));
  return xp_calls_unary_redispatch (below, self, result, error);
}

static XpStatus
typed_cpu (XpCall *call, XpTensor *self, XpTensor **result, G_GNUC_UNUSED GError **error)
{
  n_cpu++;
  expect_key (call, XP_KEY_CPU);
  ck_assert (!xp_key_set_has (xp_call_keys (call), XP_KEY_AutogradCPU));
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static XpStatus
boxed_autograd (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  n_autograd++;
  expect_key (call, XP_KEY_AutogradCPU);
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

static XpStatus
boxed_tracer (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  n_tracer++;
  expect_key (call, XP_KEY_Tracer);
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

/* Calls as the bits of @boxed say: 1 the caller, 2 the kernel at Tracer, 4 that at AutogradCPU. */
static void
call_through_keys (unsigned boxed)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) tracer = impl_new ("calls", "Tracer");
  g_autoptr (XpLibrary) autograd = impl_new ("calls", "AutogradCPU");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  define (rows, "unary(Tensor self) -> Tensor");
  if (boxed & 2)
    implement (tracer, "unary", boxed_tracer, 1);
  else
    xp_impl_calls_unary (tracer, typed_tracer);
  if (boxed & 4)
    implement (autograd, "unary", boxed_autograd, 2);
  else
    xp_impl_calls_unary (autograd, typed_autograd);
  xp_impl_calls_unary (cpu, typed_cpu);
  g_autoptr (XpTensor) tensor = dummy (XP_KEY_CPU, true);
  tensor->keys = xp_key_set_add (tensor->keys, XP_KEY_Tracer);
  XpTensor *result = NULL;
  GError *error = NULL;
  n_tracer = n_autograd = n_cpu = 0;
  if (boxed & 1)
    {
      XpValue argument = xp_value_tensor (tensor), value;
      xp_operator_call (operator_named ("calls::unary"), &argument, &value, &error);
      result = value.as.tensor;
    }
  else
    xp_calls_unary (tensor, &result, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (result, tensor);
  xp_tensor_unref (result);
  ck_assert_uint_eq (n_tracer, 1);
  ck_assert_uint_eq (n_autograd, 1);
  ck_assert_uint_eq (n_cpu, 1);
}

START_TEST (callKernelsWithDispatchKeySetConvention_call_redispatchesToLowerPriorityKernels)
{
  call_through_keys (0);
}
END_TEST

START_TEST (callKernelsWithDispatchKeySetConvention_callBoxed_redispatchesToLowerPriorityKernels)
{
  call_through_keys (1);
}
END_TEST

START_TEST (
    callKernelsWithDispatchKeySetConvention_mixedCallingConventions_redispatchesToLowerPriorityKernels)
{
  for (unsigned boxed = 2; boxed < 8; boxed++)
    call_through_keys (boxed);
}
END_TEST

static XpStatus
select_cpu (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  expect_key (call, XP_KEY_BackendSelect);
  n_tracer++;
  XpKeySet keys = xp_key_set_intersection (xp_key_set_add (xp_call_keys (call), XP_KEY_CPU),
                                           xp_key_set_after (XP_KEY_BackendSelect));
  return xp_operator_redispatch (xp_call_operator (call), keys, arguments, results, error);
}

START_TEST (BackendSelectRedispatchesToCPU)
{
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) select = impl_new ("_test", "BackendSelect");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  define (rows, ONE_TENSOR);
  implement (select, "dummy", select_cpu, 1);
  record_at (cpu, "dummy", 2);
  assert_runs (NAME, XP_KEY_CPU, false, 2);
  ck_assert_uint_eq (n_tracer, 1);
}
END_TEST

/* --- Modes and wrappers: fallbacks that call the operator again. --- */

static unsigned n_overrides;

static XpStatus
call_without_mode (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_TESTING_ONLY_GenericMode));
  n_overrides++;
  return xp_operator_call (xp_call_operator (call), arguments, results, error);
}

static XpStatus
make_ones (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
           G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_tensor (dummy (XP_KEY_CPU, false));
  return XP_OK;
}

/* A kernel made of other operators, as batch_norm is. */
static XpStatus
normalise (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XpValue between;
  XpStatus status = xp_operator_call (operator_named ("_test::mul"), arguments, &between, error);
  if (status == XP_OK)
    status = xp_operator_call (operator_named ("_test::mul"), &between, results, error);
  xp_value_clear (&between);
  return status;
}

static XpStatus
return_argument (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
                 G_GNUC_UNUSED GError **error)
{
  ran++;
  results[0] = xp_value_ref (arguments[0]);
  return XP_OK;
}

typedef struct
{
  XpLibrary *rows;
  XpLibrary *math;
  XpLibrary *cpu;
  XpLibrary *fallback;
} Operators;

static Operators
operators_new (const char *key, XpBoxedFunction fallback)
{
  Operators operators = { fragment_new ("_test"), impl_new ("_test", NULL),
                          impl_new ("_test", "CPU"), impl_new ("_", key) };
  define (operators.rows, "ones() -> Tensor");
  define (operators.rows, "batch_norm(Tensor x) -> Tensor");
  define (operators.rows, "mul(Tensor x) -> Tensor");
  implement (operators.math, "ones", make_ones, 1);
  implement (operators.math, "batch_norm", normalise, 2);
  implement (operators.cpu, "mul", return_argument, 3);
  implement (operators.fallback, NULL, fallback, 4);
  return operators;
}

static void
operators_clear (Operators *operators)
{
  xp_library_free (operators->fallback);
  xp_library_free (operators->cpu);
  xp_library_free (operators->math);
  xp_library_free (operators->rows);
}

static XpTensor *
call_for_tensor (const char *name, XpTensor *tensor)
{
  XpValue argument = xp_value_tensor (tensor), result;
  GError *error = NULL;
  xp_operator_call (operator_named (name), &argument, &result, &error);
  assert_no_error (error);
  ck_assert_int_eq (result.tag, XP_TAG_TENSOR);
  return result.as.tensor;
}

/* The mode sees the two calls, and none of those within. */
START_TEST (TestBackendFallbackWithMode)
{
  Operators operators = operators_new ("TESTING_ONLY_GenericMode", call_without_mode);
  {
    XP_INCLUDE_KEYS (xp_key_set (XP_KEY_TESTING_ONLY_GenericMode));
    g_autoptr (XpTensor) ones = call_for_tensor ("_test::ones", NULL);
    g_autoptr (XpTensor) result = call_for_tensor ("_test::batch_norm", ones);
    ck_assert_ptr_eq (result, ones);
    ck_assert_uint_eq (n_overrides, 2);
  }
  g_autoptr (XpTensor) more = call_for_tensor ("_test::ones", NULL);
  ck_assert_uint_eq (n_overrides, 2);
  operators_clear (&operators);
}
END_TEST

static void
free_inner (void *data)
{
  xp_tensor_unref (data);
}

static const XpLayoutClass wrapper_class = { sizeof wrapper_class, XP_STRIDED,
                                             XP_FUNCTIONALITY_TESTING_ONLY_GenericWrapper,
                                             free_inner, NULL };

static XpTensor *
wrap (XpTensor *inner)
{
  GError *error = NULL;
  XpTensor *tensor = xp_tensor_new_with_layout (&wrapper_class, inner, XP_FLOAT32, XP_INTS (2),
                                                XP_CPU, &error);
  assert_no_error (error);
  tensor->keys = xp_key_set (XP_KEY_TESTING_ONLY_GenericWrapper);
  return tensor;
}

static XpStatus
call_unwrapped (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  n_overrides++;
  XpValue inner = xp_value_tensor (xp_tensor_layout_data (arguments[0].as.tensor, &wrapper_class));
  XpStatus status = xp_operator_call (xp_call_operator (call), &inner, results, error);
  if (status == XP_OK)
    results[0] = xp_value_tensor (wrap (results[0].as.tensor));
  return status;
}

/* The calls within see plain tensors. */
START_TEST (TestBackendFallbackWithWrapper)
{
  Operators operators = operators_new ("TESTING_ONLY_GenericWrapper", call_unwrapped);
  XpTensor *plain = dummy (XP_KEY_CPU, false);
  g_autoptr (XpTensor) wrapped = wrap (plain);
  g_autoptr (XpTensor) result = call_for_tensor ("_test::batch_norm", wrapped);
  ck_assert_ptr_eq (xp_tensor_layout_data (result, &wrapper_class), plain);
  ck_assert_uint_eq (n_overrides, 1);
  ck_assert_int_eq (ran, 2);
  operators_clear (&operators);
}
END_TEST

/* A key with a kernel for one operator, and passed over for all others. */
START_TEST (TestFallthroughBackendFallback)
{
  Operators operators = operators_new ("TESTING_ONLY_GenericMode", xp_fallthrough);
  g_autoptr (XpLibrary) mode = impl_new ("_test", "TESTING_ONLY_GenericMode");
  implement (mode, "mul", call_without_mode, 5);
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_TESTING_ONLY_GenericMode));
  g_autoptr (XpTensor) ones = call_for_tensor ("_test::ones", NULL);
  ck_assert_uint_eq (n_overrides, 0);
  g_autoptr (XpTensor) result = call_for_tensor ("_test::mul", ones);
  ck_assert_uint_eq (n_overrides, 1);
  ck_assert_int_eq (ran, 1);
  /* Without the fallback the others have an empty cell there. */
  g_clear_pointer (&operators.fallback, xp_library_free);
  XpValue none;
  GError *error = NULL;
  ck_assert_int_eq (xp_operator_call (operator_named ("_test::ones"), NULL, &none, &error),
                    XP_FAILED);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "'TESTING_ONLY_GenericMode' backend");
  operators_clear (&operators);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("conventions");
  TCase *tests = tcase_create ("conventions");
  tcase_add_test (tests, testAvailableArgTypes_plain);
  tcase_add_test (tests, testAvailableArgTypes_optional);
  tcase_add_test (tests, testAvailableArgTypes_lists);
  tcase_add_test (tests, testAvailableArgTypes_nested);
  tcase_add_test (tests,
                  callKernelsWithDispatchKeySetConvention_call_redispatchesToLowerPriorityKernels);
  tcase_add_test (
      tests, callKernelsWithDispatchKeySetConvention_callBoxed_redispatchesToLowerPriorityKernels);
  tcase_add_test (
      tests,
      callKernelsWithDispatchKeySetConvention_mixedCallingConventions_redispatchesToLowerPriorityKernels);
  tcase_add_test (tests, BackendSelectRedispatchesToCPU);
  tcase_add_test (tests, TestBackendFallbackWithMode);
  tcase_add_test (tests, TestBackendFallbackWithWrapper);
  tcase_add_test (tests, TestFallthroughBackendFallback);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
