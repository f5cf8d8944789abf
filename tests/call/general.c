/* SPDX-License-Identifier: MIT
 *
 * general.c: through generated callers: types that are passed as values, results that are lists or
 * may be None, and the defaults of a schema.
 */
#include "calls.h"
#include "table/blocks.h"

static XpLibrary *rows, *cpu;
static XpTensor *tensor;

static void
set_up (void)
{
  rows = fragment_new ("calls");
  cpu = impl_new ("calls", "CPU");
  tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows,
          "general(Tensor self, str[] names, complex z, Dict(str, int) sizes, Tensor[][] nested, "
          "Any? any=None) -> (Tensor[] list, str text, Tensor? maybe, ScalarType dtype, "
          "Device device, str? remark)");
  define (rows,
          "defaults(Tensor self, int i=-3, float f=0.5, bool b=True, Scalar s=2, int[2] "
          "pair=7, str text=\"a \\\"b\\\"\", ScalarType dtype=int, int? none=None, int? some=4, "
          "float[] floats=[1.0, 2.5], bool[] bools=[True, False], *, Layout? layout=None, "
          "MemoryFormat format=contiguous_format) -> int");
}

static void
tear_down (void)
{
  xp_tensor_unref (tensor);
  xp_library_free (cpu);
  xp_library_free (rows);
}

/* Whether the kernel gives a second tensor, and an element that is none. */
static bool gives_maybe, gives_numbers;

static XpStatus
typed_general (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpValue names, XpValue z, XpValue sizes,
               XpValue nested, XpValue any, XpList **list, XpValue *text, XpTensor **maybe,
               XpDType *dtype, XpDevice *device, XpValue *remark, G_GNUC_UNUSED GError **error)
{
  double real, imaginary;
  xp_scalar_to_complex (z, &real, &imaginary);
  ck_assert (real == 1 && imaginary == -2);
  ck_assert_uint_eq (xp_dict_length (sizes.as.dict), 1);
  ck_assert_uint_eq (xp_list_length (nested.as.list), 2);
  ck_assert (any.tag == XP_TAG_NONE);
  XpTensor *const tensors[] = { self, self };
  const int64_t number = 1;
  *list = gives_numbers ? xp_list_new_int (&number, 1) : xp_list_new_tensor (tensors, 2);
  *text = xp_value_ref (xp_list_get (names.as.list, 1));
  *maybe = gives_maybe ? xp_tensor_ref (self) : NULL;
  *dtype = XP_BFLOAT16;
  *device = (XpDevice){ XP_BACKEND_CUDA, 3 };
  *remark = gives_maybe ? xp_value_ref (*text) : XP_NONE;
  return XP_OK;
}

static XpStatus
boxed_general (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XpList *list = NULL;
  XpTensor *maybe = NULL;
  XpDType dtype;
  XpDevice device;
  XpStatus status = typed_general (call, arguments[0].as.tensor, arguments[1], arguments[2],
                                   arguments[3], arguments[4], arguments[5], &list, &results[1],
                                   &maybe, &dtype, &device, &results[5], error);
  results[0] = xp_value_list (list);
  results[2] = xp_value_tensor (maybe);
  results[3] = xp_value_dtype (dtype);
  results[4] = xp_value_device (device);
  return status;
}

/* The arguments of calls::general. */
static void
make_arguments (XpValue *arguments)
{
  XpValue texts[] = { xp_value_string ("a"), xp_value_string ("b") }, two = xp_value_int (2);
  XpList *inner = xp_list_new_tensor (&tensor, 1);
  XpValue lists[] = { xp_value_list (inner), xp_value_list (inner) };
  arguments[0] = xp_value_tensor (xp_tensor_ref (tensor));
  arguments[1] = xp_value_list (xp_list_new (texts, 2));
  arguments[2] = xp_value_complex (1, -2);
  arguments[3] = xp_value_dict (xp_dict_new (texts, &two, 1));
  arguments[4] = xp_value_list (xp_list_new (lists, 2));
  arguments[5] = XP_NONE;
  xp_values_clear (texts, 2);
  xp_list_unref (inner);
}

/* What calls::general gives. */
typedef struct
{
  XpList *list;
  XpValue text;
  XpTensor *maybe;
  XpDType dtype;
  XpDevice device;
  XpValue remark;
} Results;

static XpStatus
call_general (const XpValue *a, Results *r, GError **error)
{
  return xp_calls_general (a[0].as.tensor, a[1], a[2], a[3], a[4], a[5], &r->list, &r->text,
                           &r->maybe, &r->dtype, &r->device, &r->remark, error);
}

static XpStatus
call_general_default (const XpValue *a, Results *r, GError **error)
{
  return xp_calls_general_default (a[0].as.tensor, a[1], a[2], a[3], a[4], &r->list, &r->text,
                                   &r->maybe, &r->dtype, &r->device, &r->remark, error);
}

static XpStatus
call_general_boxed (const XpValue *a, Results *r, GError **error)
{
  XpValue results[6];
  XpStatus status = xp_operator_call (operator_named ("calls::general"), a, results, error);
  *r = (Results){ results[0].as.list,   results[1],
                  results[2].as.tensor, (XpDType) results[3].as.integer,
                  results[4].as.device, results[5] };
  return status;
}

/* Looks at the results and gives them back. */
static void
take_results (Results *r)
{
  ck_assert_uint_eq (xp_list_length (r->list), 2);
  ck_assert_ptr_eq (xp_list_tensors (r->list)[1], tensor);
  ck_assert_str_eq (xp_string_text (r->text.as.string), "b");
  ck_assert_ptr_eq (r->maybe, gives_maybe ? tensor : NULL);
  ck_assert_int_eq (r->dtype, XP_BFLOAT16);
  ck_assert (r->device.backend == XP_BACKEND_CUDA && r->device.index == 3);
  ck_assert_int_eq (r->remark.tag, gives_maybe ? XP_TAG_STRING : XP_TAG_NONE);
  xp_list_unref (r->list);
  xp_value_clear (&r->text);
  g_clear_pointer (&r->maybe, xp_tensor_unref);
  xp_value_clear (&r->remark);
}

/* Typed and boxed, from both sides; the first call of a thread is boxed in any case. */
START_TEST (typed_and_boxed)
{
  XpStatus (*const calls[]) (const XpValue *, Results *, GError **) = { call_general, call_general,
                                                                        call_general_default,
                                                                        call_general_boxed };
  bool is_typed = _i & 1;
  gives_maybe = _i & 2;
  gives_numbers = false;
  if (is_typed)
    xp_impl_calls_general (cpu, typed_general);
  else
    implement (cpu, "general", boxed_general, 1);
  XpValue arguments[6];
  make_arguments (arguments);
  for (unsigned i = 0; i < XP_LENGTH (calls); i++)
    {
      Results results;
      GError *error = NULL;
      ck_assert_int_eq (calls[i](arguments, &results, &error), XP_OK);
      assert_no_error (error);
      take_results (&results);
    }
  xp_values_clear (arguments, 6);
}
END_TEST

START_TEST (a_list_of_something_else)
{
  GError *error = NULL;
  gives_numbers = true;
  gives_maybe = true;
  implement (cpu, "general", boxed_general, 1);
  XpValue arguments[6];
  Results results;
  make_arguments (arguments);
  ck_assert_int_eq (call_general (arguments, &results, &error), XP_FAILED);
  assert_error (error, XP_ERROR_INTERNAL, "as result 0, where its schema says Tensor[]");
  ck_assert (results.list == NULL && results.text.tag == XP_TAG_NONE && results.maybe == NULL);
  xp_values_clear (arguments, 6);
}
END_TEST

START_TEST (tensors_in_nested_lists_decide)
{
  xp_impl_calls_general (cpu, typed_general);
  gives_numbers = gives_maybe = false;
  XpValue arguments[6];
  Results results;
  make_arguments (arguments);
  call_general (arguments, &results, NULL); /* the first of this thread, boxed */
  take_results (&results);
  XpTensor *on_cuda = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  XpList *inner = xp_list_new_tensor (&on_cuda, 1);
  XpValue list = xp_value_list (inner);
  xp_value_clear (&arguments[4]);
  arguments[4] = xp_value_list (xp_list_new (&list, 1));
  GError *error = NULL;
  ck_assert_int_eq (call_general (arguments, &results, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "nested");
  xp_values_clear (arguments, 6);
  xp_list_unref (inner);
  xp_tensor_unref (on_cuda);
}
END_TEST

static XpStatus
typed_defaults (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED XpTensor *self, int64_t i, double f,
                bool b, XpValue s, XpInts pair, const char *text, XpDType dtype,
                const int64_t *none, const int64_t *some, XpFloats floats, XpBools bools,
                const XpLayout *layout, XpMemoryFormat format, int64_t *result,
                G_GNUC_UNUSED GError **error)
{
  ck_assert_int_eq (i, -3);
  ck_assert (f == 0.5 && b);
  ck_assert (xp_value_equal (s, xp_value_int (2)));
  ck_assert (pair.length == 2 && pair.data[0] == 7 && pair.data[1] == 7);
  ck_assert_str_eq (text, "a \"b\"");
  ck_assert_int_eq (dtype, XP_INT32);
  ck_assert (none == NULL && layout == NULL);
  ck_assert_int_eq (*some, 4);
  ck_assert (floats.length == 2 && floats.data[0] == 1.0 && floats.data[1] == 2.5);
  ck_assert (bools.length == 2 && bools.data[0] && !bools.data[1]);
  ck_assert_int_eq (format, XP_CONTIGUOUS_FORMAT);
  *result = 1;
  return XP_OK;
}

/* The defaults in C are those that a call by name fills in. */
START_TEST (the_defaults)
{
  GError *error = NULL;
  xp_impl_calls_defaults (cpu, typed_defaults);
  int64_t result = 0;
  xp_calls_defaults_default (tensor, &result, &error);
  assert_no_error (error);
  ck_assert_int_eq (result, 1);
  XpOperator *op = operator_named ("calls::defaults");
  g_autoptr (XpSchema) schema = xp_operator_schema (op);
  XpValue self = xp_value_tensor (tensor), arguments[14], results[1];
  ck_assert_uint_eq (schema->n_arguments, 14);
  xp_schema_match (schema, &self, 1, NULL, NULL, 0, arguments, &error);
  assert_no_error (error);
  xp_operator_call (op, arguments, results, &error);
  assert_no_error (error);
  xp_values_clear (arguments, 14);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("general");
  TCase *tests = tcase_create ("general");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_loop_test (tests, typed_and_boxed, 0, 4);
  tcase_add_test (tests, a_list_of_something_else);
  tcase_add_test (tests, tensors_in_nested_lists_decide);
  tcase_add_test (tests, the_defaults);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
