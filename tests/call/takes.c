/* SPDX-License-Identifier: MIT
 *
 * takes.c: kernels that do not take all that their schemas allow: what is copied for them, what is
 * declined, and what is said of it (test 30 of the reports).
 */
#include "calls.h"
#include "table/blocks.h"

#include <crosspoint/kernel.h>

static XpLibrary *rows, *cpu;

static void
set_up (void)
{
  rows = fragment_new ("t");
  cpu = impl_new ("t", "CPU");
}

static void
tear_down (void)
{
  xp_library_free (cpu);
  xp_library_free (rows);
}

static void
register_at (XpLibrary *block, const char *name, XpBoxedFunction kernel, const char *takes,
             int line)
{
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = name,
                                            .boxed = kernel,
                                            .file = "kernel.c",
                                            .line = line,
                                            .takes = takes };
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
}

/* The float tensor of those numbers. */
static XpTensor *
floats (XpInts shape, const float *numbers)
{
  GError *error = NULL;
  XpTensor *tensor = xp_tensor_new_copy_of (XP_FLOAT32, shape, numbers, &error);
  assert_no_error (error);
  return tensor;
}

static XpTensor *
view (XpTensor *base, XpInts shape, XpInts strides, int64_t offset)
{
  GError *error = NULL;
  XpTensor *tensor = xp_tensor_new_view (base, shape, strides, offset, &error);
  assert_no_error (error);
  return tensor;
}

static void
assert_memory (const XpTensor *tensor, const float *expected)
{
  const float *found = xp_tensor_data (tensor);
  for (int64_t i = 0; i < tensor->numel; i++)
    ck_assert_float_eq (found[i], expected[i]);
}

static uint64_t
copies_of (const char *name)
{
  g_autoptr (XpRowInfo) row = xp_table_row (name);
  uint64_t n = 0;
  for (unsigned i = 0; i < row->n_registrations; i++)
    n += row->registrations[i].n_copies;
  return n;
}

static const float counting[] = { 1, 2, 3, 4 };

/* [[1, 3], [2, 4]], transposed. */
static XpTensor *
transposed (void)
{
  g_autoptr (XpTensor) base = floats (XP_INTS (2, 2), counting);
  return view (base, XP_INTS (2, 2), XP_INTS (1, 2), 0);
}

/* Ten times the elements, as they lie in memory, flattened. */
static XpStatus
flat10 (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  const XpTensor *x = arguments[0].as.tensor;
  XpTensor *result = xp_tensor_new (XP_FLOAT32, XP_INTS (x->numel), XP_CPU, error);
  if (result == NULL)
    return XP_FAILED;
  for (int64_t i = 0; i < x->numel; i++)
    ((float *) xp_tensor_data (result))[i] = 10 * ((const float *) xp_tensor_data (x))[i];
  results[0] = xp_value_tensor (result);
  return XP_OK;
}

static XpStatus
call_unary (const char *name, XpTensor *x, XpTensor **result, GError **error)
{
  XpValue argument = xp_value_tensor (x), value = XP_NONE;
  XpStatus status = xp_operator_call (operator_named (name), &argument, &value, error);
  *result = status == XP_OK ? value.as.tensor : NULL;
  return status;
}

/* Test 30 of the reports. */
START_TEST (a_kernel_that_needs_contiguous_floats)
{
  GError *error = NULL;
  g_autoptr (XpTensor) x = transposed ();
  g_autoptr (XpTensor) plain = floats (XP_INTS (2, 2), counting);
  g_autoptr (XpTensor) whole = xp_tensor_new (XP_INT32, XP_INTS (2), XP_CPU, NULL);
  g_autoptr (XpTensor) result = NULL;
  g_autoptr (XpTensor) straight = NULL;
  XpTensor *none;
  define (rows, "flat10(Tensor x) -> Tensor");
  register_at (cpu, "flat10", flat10, "float32 contiguous", 7);

  ck_assert_int_eq (call_unary ("t::flat10", plain, &straight, &error), XP_OK);
  assert_memory (straight, (const float[]){ 10, 20, 30, 40 });
  ck_assert_uint_eq (copies_of ("t::flat10"), 0);

  ck_assert_int_eq (call_unary ("t::flat10", x, &result, &error), XP_OK);
  assert_memory (result, (const float[]){ 10, 30, 20, 40 });
  ck_assert_uint_eq (copies_of ("t::flat10"), 1);

  ck_assert_int_eq (call_unary ("t::flat10", whole, &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_KERNEL_DTYPE,
                "registered at kernel.c:7 (the program): argument 0 (x) is int32, and it takes "
                "float32\nConvert the arguments");
  ck_assert_uint_eq (copies_of ("t::flat10"), 1);

  define (rows, "strict10(Tensor x) -> Tensor");
  register_at (cpu, "strict10", flat10, "contiguous; refuse", 8);
  ck_assert_int_eq (call_unary ("t::strict10", x, &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NOT_CONTIGUOUS,
                "argument 0 (x) is not contiguous, and it takes nothing else");
  ck_assert_uint_eq (copies_of ("t::strict10"), 0);
}
END_TEST

static XpStatus
give_line (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
           G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_int (GPOINTER_TO_INT (xp_call_data (call)));
  return XP_OK;
}

static void
give_line_at (XpLibrary *block, const char *name, const char *takes, int line)
{
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = name,
                                            .boxed = give_line,
                                            .data = GINT_TO_POINTER (line),
                                            .file = "kernel.c",
                                            .line = line,
                                            .takes = takes };
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
}

/* Several kernels in a cell, each for what it takes. */
START_TEST (the_next_kernel_takes_it)
{
  GError *error = NULL;
  XpValue result;
  define (rows, "pick(Tensor x) -> int");
  give_line_at (cpu, "pick", NULL, 1);
  give_line_at (cpu, "pick", "int32", 2);
  give_line_at (cpu, "pick", "float32 float64 contiguous; refuse", 3);
  g_autoptr (XpTensor) plain = floats (XP_INTS (2, 2), counting);
  g_autoptr (XpTensor) strided = transposed ();
  g_autoptr (XpTensor) whole = xp_tensor_new (XP_INT32, XP_INTS (2), XP_CPU, NULL);
  XpTensor *tensors[] = { plain, whole, strided };
  static const int lines[] = { 3, 2, 1 };
  for (unsigned i = 0; i < XP_LENGTH (tensors); i++)
    {
      XpValue argument = xp_value_tensor (tensors[i]);
      ck_assert_int_eq (xp_operator_call (operator_named ("t::pick"), &argument, &result, &error),
                        XP_OK);
      ck_assert_int_eq (result.as.integer, lines[i]);
    }
}
END_TEST

/* Where they declined for several reasons, there is no one code. */
START_TEST (all_reasons_are_given)
{
  GError *error = NULL;
  XpTensor *none;
  define (rows, "mixed(Tensor x) -> Tensor");
  register_at (cpu, "mixed", flat10, "contiguous; refuse", 1);
  register_at (cpu, "mixed", flat10, "int32 int64 bool", 2);
  g_autoptr (XpTensor) x = transposed ();
  ck_assert_int_eq (call_unary ("t::mixed", x, &none, &error), XP_FAILED);
  ck_assert_ptr_nonnull (strstr (error->message,
                                 "kernel.c:2 (the program): argument 0 (x) is float32, "
                                 "and it takes int32, int64 or bool"));
  assert_error (error, XP_ERROR_DECLINED,
                "kernel.c:1 (the program): argument 0 (x) is not contiguous");
}
END_TEST

/* Doubles out in place, as it lies in memory; gives it back. */
static XpStatus
double_last (XpCall *call, const XpValue *arguments, XpValue *results, G_GNUC_UNUSED GError **error)
{
  unsigned last = xp_call_operator (call)->n_arguments - 1;
  XpTensor *out = arguments[last].as.tensor;
  float *numbers = xp_tensor_data (out);
  for (int64_t i = 0; i < out->numel; i++)
    numbers[i] *= 2;
  xp_tensor_written (out);
  results[0] = xp_value_tensor (xp_tensor_ref (out));
  return XP_OK;
}

START_TEST (what_is_written_is_copied_back)
{
  GError *error = NULL;
  define (rows, "twice_(Tensor(a!) self) -> Tensor(a!)");
  register_at (cpu, "twice_", double_last, "contiguous", 1);
  g_autoptr (XpTensor) base = floats (XP_INTS (2, 4), (const float[]){ 1, 2, 3, 4, 5, 6, 7, 8 });
  g_autoptr (XpTensor) column = view (base, XP_INTS (2), XP_INTS (4), 1);
  uint64_t version = xp_tensor_version (base);
  XpTensor *result;
  ck_assert_int_eq (call_unary ("t::twice_", column, &result, &error), XP_OK);
  ck_assert_ptr_eq (result, column);
  xp_tensor_unref (result);
  assert_memory (base, (const float[]){ 1, 4, 3, 4, 5, 12, 7, 8 });
  ck_assert_uint_gt (xp_tensor_version (base), version);
  ck_assert_uint_eq (copies_of ("t::twice_"), 1);
  /* Whose elements lie over each other, would be doubled once and again. */
  g_autoptr (XpTensor) repeated = view (base, XP_INTS (3), XP_INTS (0), 0);
  ck_assert_int_eq (call_unary ("t::twice_", repeated, &result, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NOT_CONTIGUOUS, "a copy cannot stand in for it");
  assert_memory (base, (const float[]){ 1, 4, 3, 4, 5, 12, 7, 8 });
}
END_TEST

static XpStatus
write_and_fail (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  double_last (call, arguments, results, error);
  xp_error_set (error, XP_ERROR_SHAPE, NULL, "no");
  return XP_FAILED;
}

START_TEST (nothing_is_copied_back_of_a_failure)
{
  GError *error = NULL;
  define (rows, "fails_(Tensor(a!) self) -> Tensor(a!)");
  register_at (cpu, "fails_", write_and_fail, "contiguous", 1);
  g_autoptr (XpTensor) base = floats (XP_INTS (2, 2), counting);
  g_autoptr (XpTensor) x = view (base, XP_INTS (2, 2), XP_INTS (1, 2), 0);
  XpTensor *none;
  ck_assert_int_eq (call_unary ("t::fails_", x, &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_SHAPE, "no");
  assert_memory (base, counting);
}
END_TEST

/* A view of a copy is no view of the argument. */
START_TEST (no_copy_of_what_is_viewed)
{
  GError *error = NULL;
  XpTensor *none;
  define (rows, "look(Tensor(a) self) -> Tensor(a)");
  register_at (cpu, "look", flat10, "contiguous", 1);
  g_autoptr (XpTensor) x = transposed ();
  ck_assert_int_eq (call_unary ("t::look", x, &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NOT_CONTIGUOUS, "a copy cannot stand in for it");
}
END_TEST

/* out[i + 1] = x[i] + 1, one element after the other. */
static XpStatus
shift (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
       G_GNUC_UNUSED GError **error)
{
  const XpTensor *x = arguments[0].as.tensor;
  XpTensor *out = arguments[1].as.tensor;
  for (int64_t i = 0; i < x->numel; i++)
    ((float *) xp_tensor_data (out))[i] = ((const float *) xp_tensor_data (x))[i] + 1;
  results[0] = xp_value_tensor (xp_tensor_ref (out));
  return XP_OK;
}

static XpStatus
call_out (const char *name, XpTensor *x, XpTensor *out, GError **error)
{
  XpValue arguments[] = { xp_value_tensor (x), xp_value_tensor (out) };
  return call_named (name, arguments, error);
}

START_TEST (memory_that_is_shared)
{
  GError *error = NULL;
  define (rows, "shift(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
  define (rows, "swap(Tensor(a!) x, *, Tensor(b!) out) -> Tensor(b!)");
  register_at (cpu, "shift", shift, "no_overlap", 1);
  register_at (cpu, "swap", shift, "no_overlap", 2);
  g_autoptr (XpTensor) base = floats (XP_INTS (4), counting);
  g_autoptr (XpTensor) low = view (base, XP_INTS (3), XP_INTS (1), 0);
  g_autoptr (XpTensor) high = view (base, XP_INTS (3), XP_INTS (1), 1);
  ck_assert_int_eq (call_out ("t::shift", low, high, &error), XP_OK);
  assert_memory (base, (const float[]){ 1, 2, 3, 4 });
  ck_assert_uint_eq (copies_of ("t::shift"), 1);
  g_autoptr (XpTensor) first = view (base, XP_INTS (2), XP_INTS (1), 0);
  g_autoptr (XpTensor) last = view (base, XP_INTS (2), XP_INTS (1), 2);
  ck_assert_int_eq (call_out ("t::shift", first, last, &error), XP_OK);
  ck_assert_uint_eq (copies_of ("t::shift"), 1);
  /* The same tensor twice is read and written. */
  ck_assert_int_eq (call_out ("t::shift", last, last, &error), XP_OK);
  ck_assert_uint_eq (copies_of ("t::shift"), 2);

  ck_assert_int_eq (call_out ("t::swap", low, high, &error), XP_FAILED);
  assert_error (error, XP_ERROR_OVERLAP, "argument 1 (out) may share memory with what is written");
  g_autoptr (XpTensor) repeated = view (base, XP_INTS (2), XP_INTS (0), 0);
  ck_assert_int_eq (call_out ("t::shift", last, repeated, &error), XP_FAILED);
  assert_error (error, XP_ERROR_OVERLAP, "argument 1 (out)");
}
END_TEST

/* Gives the list and the number of its tensors that are contiguous. */
static XpStatus
count_contiguous (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
                  G_GNUC_UNUSED GError **error)
{
  XpTensor *const *tensors = xp_list_tensors (arguments[0].as.list);
  int64_t n = 0;
  for (size_t i = 0; i < xp_list_length (arguments[0].as.list); i++)
    n += tensors[i] != NULL && xp_tensor_is_contiguous (tensors[i]);
  results[0] = xp_value_int (n);
  return XP_OK;
}

START_TEST (tensors_in_lists)
{
  GError *error = NULL;
  define (rows, "list(Tensor?[] tensors, Tensor index) -> int");
  register_at (cpu, "list", count_contiguous, "float32 contiguous; index: int64", 1);
  g_autoptr (XpTensor) x = transposed ();
  g_autoptr (XpTensor) plain = floats (XP_INTS (2, 2), counting);
  g_autoptr (XpTensor) index = xp_tensor_new (XP_INT64, XP_INTS (1), XP_CPU, NULL);
  XpTensor *elements[] = { x, NULL, plain };
  g_auto (XpValue) list = xp_value_list (xp_list_new_tensor (elements, 3));
  XpValue arguments[] = { list, xp_value_tensor (index) }, result;
  XpOperator *op = operator_named ("t::list");
  ck_assert_int_eq (xp_operator_call (op, arguments, &result, &error), XP_OK);
  ck_assert_int_eq (result.as.integer, 2);
  ck_assert_uint_eq (copies_of ("t::list"), 1);
  arguments[1] = xp_value_tensor (plain);
  ck_assert_int_eq (xp_operator_call (op, arguments, &result, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_KERNEL_DTYPE,
                "argument 1 (index) is float32, and it takes int64");
}
END_TEST

/* A typed kernel is called by typed and boxed callers alike. */
static XpStatus
typed_flat10 (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  XpValue argument = xp_value_tensor (self), value = XP_NONE;
  XpStatus status = flat10 (call, &argument, &value, error);
  *result = status == XP_OK ? value.as.tensor : NULL;
  return status;
}

START_TEST (a_typed_kernel)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) own_rows = fragment_new ("calls");
  g_autoptr (XpLibrary) own = impl_new ("calls", "CPU");
  define (own_rows, "unary(Tensor self) -> Tensor");
  xp_takes (own, "float32 contiguous");
  xp_impl_calls_unary (own, typed_flat10);
  g_autoptr (XpTensor) x = transposed ();
  g_autoptr (XpTensor) typed = NULL;
  g_autoptr (XpTensor) boxed = NULL;
  ck_assert_int_eq (xp_calls_unary (x, &typed, &error), XP_OK);
  assert_memory (typed, (const float[]){ 10, 30, 20, 40 });
  ck_assert_int_eq (call_unary ("calls::unary", x, &boxed, &error), XP_OK);
  assert_memory (boxed, (const float[]){ 10, 30, 20, 40 });
  ck_assert_uint_eq (copies_of ("calls::unary"), 2);
  g_autoptr (XpRowInfo) row = xp_table_row ("calls::unary");
  ck_assert_str_eq (row->registrations[0].takes, "float32 contiguous");
  ck_assert (row->registrations[0].is_typed);
  g_autoptr (XpTensor) whole = xp_tensor_new (XP_INT32, XP_INTS (2), XP_CPU, NULL);
  XpTensor *none;
  ck_assert_int_eq (xp_calls_unary (whole, &none, &error), XP_FAILED);
  ck_assert_ptr_null (none);
  assert_error (error, XP_ERROR_NO_KERNEL_DTYPE, "argument 0 (self) is int32");
}
END_TEST

static const struct
{
  const char *takes;
  const char *part;
} wrong[] = {
  { "", "expected a dtype or contiguous in every clause" },
  { "float32;", "expected a dtype or contiguous in every clause" },
  { "float33", "expected a dtype, such as float32, or contiguous, no_overlap or refuse, found "
               "'float33'" },
  { "x: no_overlap", "after the name of an argument" },
  { ": float32", "expected the name of an argument before ':'" },
  { "x: float32; x: contiguous", "expected one clause for each argument" },
  { "x: float32 : int32", "expected a word" },
  { "z: float32", "z is no tensor argument of t::wrong(Tensor x, int n) -> Tensor" },
  { "n: float32", "n is no tensor argument of t::wrong(Tensor x, int n) -> Tensor" },
};

START_TEST (what_cannot_be_understood)
{
  GError *error = NULL;
  define (rows, "wrong(Tensor x, int n) -> Tensor");
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = "wrong",
                                            .boxed = flat10,
                                            .file = "kernel.c",
                                            .line = 1,
                                            .takes = wrong[_i].takes };
  ck_assert (!xp_library_impl (cpu, &implementation, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "kernel.c:1"));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, wrong[_i].part);
  ck_assert (!xp_table_has_kernel ("t::wrong", XP_KEY_CPU));
}
END_TEST

/* The row may come later, and other names of arguments with it. */
START_TEST (rows_that_come_later)
{
  GError *error = NULL;
  register_at (cpu, "later", flat10, "x: float32", 1);
  const XpDefinition definition = {
    sizeof definition, "later(Tensor y) -> Tensor", NULL, NULL, 0, 1, "row.c"
  };
  ck_assert (!xp_library_def (rows, &definition, &error));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "x is no tensor argument of");
  XpLibrary *first = fragment_new ("t");
  define (first, "later(Tensor x) -> Tensor");
  xp_library_free (first);
  define (rows, "later(Tensor x) -> Tensor");
  g_autoptr (XpTensor) whole = xp_tensor_new (XP_INT32, XP_INTS (2), XP_CPU, NULL);
  XpTensor *none;
  ck_assert_int_eq (call_unary ("t::later", whole, &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_KERNEL_DTYPE, "argument 0 (x)");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("takes");
  TCase *tests = tcase_create ("takes");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, a_kernel_that_needs_contiguous_floats);
  tcase_add_test (tests, the_next_kernel_takes_it);
  tcase_add_test (tests, all_reasons_are_given);
  tcase_add_test (tests, what_is_written_is_copied_back);
  tcase_add_test (tests, nothing_is_copied_back_of_a_failure);
  tcase_add_test (tests, no_copy_of_what_is_viewed);
  tcase_add_test (tests, memory_that_is_shared);
  tcase_add_test (tests, tensors_in_lists);
  tcase_add_test (tests, a_typed_kernel);
  tcase_add_loop_test (tests, what_cannot_be_understood, 0, XP_LENGTH (wrong));
  tcase_add_test (tests, rows_that_come_later);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
