/* SPDX-License-Identifier: MIT
 *
 * reports.c: what people have reported of dispatchers, as tests with the values given there:
 * endless recursion, tensors of different devices, which argument decides the key, modes that do
 * not follow the work, registration beside calls, and what a small call costs, in counts.
 */
#include "table/blocks.h"

#include <pthread.h>

static XpLibrary *rows, *cpu;
static XpBackend fake;
static XpTensor *on_cpu, *on_fake;

static void
set_up (void)
{
  GError *error = NULL;
  xp_backend_register ("fake", &fake, &error);
  assert_no_error (error);
  rows = fragment_new ("t");
  cpu = impl_new ("t", "CPU");
  on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  on_fake = tensor_of (XP_FUNCTIONALITY_Dense, fake);
}

static void
tear_down (void)
{
  xp_tensor_unref (on_cpu);
  xp_tensor_unref (on_fake);
  xp_library_free (cpu);
  xp_library_free (rows);
}

static XpTensor *
numbers (const float *values, int64_t n)
{
  GError *error = NULL;
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (n), XP_CPU, &error);
  assert_no_error (error);
  memcpy (xp_tensor_data (tensor), values, (size_t) n * sizeof *values);
  return tensor;
}

static float
first_number (const XpTensor *tensor)
{
  float number;
  memcpy (&number, xp_tensor_data (tensor), sizeof number);
  return number;
}

/* --- 13. Endless recursion. --- */

static int n_active;

static XpStatus
call_again (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  n_active++;
  return xp_operator_call (xp_call_operator (call), arguments, results, error);
}

static XpStatus
go_below (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

static XpStatus
double_it (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
           G_GNUC_UNUSED GError **error)
{
  float twice = 2 * first_number (arguments[0].as.tensor);
  results[0] = xp_value_tensor (numbers (&twice, 1));
  return XP_OK;
}

static void *
recurse (G_GNUC_UNUSED void *data)
{
  XpValue argument = xp_value_tensor (on_cpu);
  GError *error = NULL;
  ck_assert_int_eq (call_named ("t::f", &argument, &error), XP_FAILED);
  assert_error (error, XP_ERROR_RECURSION, "t::f [AutogradCPU] -> t::f");
  return NULL;
}

static void
run_with_stack (size_t size, void *(*function) (void *data))
{
  pthread_attr_t attributes;
  pthread_t thread;
  ck_assert_int_eq (pthread_attr_init (&attributes), 0);
  ck_assert_int_eq (pthread_attr_setstacksize (&attributes, size), 0);
  ck_assert_int_eq (pthread_create (&thread, &attributes, function, NULL), 0);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
  pthread_attr_destroy (&attributes);
}

START_TEST (an_autograd_kernel_that_calls_itself)
{
  XpLibrary *autograd = impl_new ("t", "AutogradCPU");
  define (rows, "f(Tensor self) -> Tensor");
  implement (autograd, "f", call_again, 1);
  implement (cpu, "f", double_it, 2);
  /* With the usual limit the end of the stack comes first, or the limit does. */
  run_with_stack (256 * 1024, recurse);
  ck_assert_int_gt (n_active, 10);
  xp_set_recursion_limit (64);
  n_active = 0;
  run_with_stack (256 * 1024, recurse);
  ck_assert_int_eq (n_active, 64);

  xp_library_free (autograd);
  autograd = impl_new ("t", "AutogradCPU");
  implement (autograd, "f", go_below, 3);
  g_autoptr (XpTensor) two = numbers ((float[]){ 2 }, 1);
  XpValue argument = xp_value_tensor (two);
  g_auto (XpValue) result = XP_NONE;
  GError *error = NULL;
  xp_operator_call (operator_named ("t::f"), &argument, &result, &error);
  assert_no_error (error);
  ck_assert_float_eq (first_number (result.as.tensor), 4);
  xp_library_free (autograd);
}
END_TEST

/* One element less each time. */
static XpStatus
shrink (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XpTensor *self = arguments[0].as.tensor;
  int64_t n = xp_tensor_size (self, 0);
  n_active++;
  if (n == 1)
    {
      results[0] = xp_value_ref (arguments[0]);
      return XP_OK;
    }
  g_autoptr (XpTensor) rest = numbers (xp_tensor_data (self), n - 1);
  XpValue argument = xp_value_tensor (rest);
  return xp_operator_call (xp_call_operator (call), &argument, results, error);
}

static void *
shrink_from_500 (G_GNUC_UNUSED void *data)
{
  float values[500] = { 7 };
  g_autoptr (XpTensor) tensor = numbers (values, 500);
  XpValue argument = xp_value_tensor (tensor);
  g_auto (XpValue) result = XP_NONE;
  GError *error = NULL;
  xp_operator_call (operator_named ("t::shrink"), &argument, &result, &error);
  assert_no_error (error);
  ck_assert_float_eq (first_number (result.as.tensor), 7);
  return NULL;
}

START_TEST (deep_but_not_endless)
{
  define (rows, "shrink(Tensor self) -> Tensor");
  implement (cpu, "shrink", shrink, 1);
  run_with_stack (8 * 1024 * 1024, shrink_from_500);
  ck_assert_int_eq (n_active, 500);
}
END_TEST

/* --- 16. Tensors of different devices. --- */

static int n_on_cpu, n_on_fake;

static XpStatus
count (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
       G_GNUC_UNUSED GError **error)
{
  ++*(int *) xp_call_data (call);
  results[0] = xp_value_ref (arguments[0]);
  return XP_OK;
}

static void
implement_counting (XpLibrary *block, const char *name, int *counter)
{
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = name,
                                            .boxed = count,
                                            .data = counter,
                                            .flags = XP_KERNEL_CPU_SCALARS,
                                            .file = "kernel.c",
                                            .line = 1 };
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
}

static XpStatus
select_from (const char *name, XpTensor *c, XpTensor *x, XpTensor *y, GError **error)
{
  XpValue arguments[] = { xp_value_tensor (c), xp_value_tensor (x), xp_value_tensor (y) };
  n_on_cpu = n_on_fake = 0;
  return call_named (name, arguments, error);
}

START_TEST (tensors_of_different_devices)
{
  g_autoptr (XpLibrary) there = impl_new ("t", "fake");
  define (rows, "sel(Tensor c, Tensor x, Tensor y) -> Tensor");
  define_tagged (rows, "any(Tensor c, Tensor x, Tensor y) -> Tensor", "mixed_devices");
  implement_counting (cpu, "sel", &n_on_cpu);
  implement_counting (there, "sel", &n_on_fake);
  implement_counting (cpu, "any", &n_on_cpu);
  implement_counting (there, "any", &n_on_fake);
  GError *error = NULL;
  ck_assert_int_eq (select_from ("t::sel", on_cpu, on_cpu, on_fake, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH,
                "argument 0 (c) is on cpu, argument 1 (x) is on cpu, argument 2 (y) is on fake:0");
  ck_assert_int_eq (n_on_cpu + n_on_fake, 0);
  g_autoptr (XpTensor) number = xp_tensor_new_scalar (xp_value_float (1), XP_FLOAT32, XP_CPU,
                                                      &error);
  ck_assert_int_eq (select_from ("t::sel", on_fake, on_fake, number, &error), XP_OK);
  ck_assert (n_on_fake == 1 && n_on_cpu == 0);
  ck_assert_int_eq (select_from ("t::any", on_cpu, on_cpu, on_fake, &error), XP_OK);
  ck_assert_int_eq (n_on_cpu + n_on_fake, 1);
  assert_no_error (error);
}
END_TEST

/* --- 17. Which argument decides the key. --- */

static XpStatus
mark (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
      G_GNUC_UNUSED GError **error)
{
  float marker = (float) GPOINTER_TO_INT (xp_call_data (call));
  results[0] = xp_value_tensor (numbers (&marker, 1));
  return XP_OK;
}

static void
assert_marker (const char *name, const XpValue *arguments, float marker)
{
  GError *error = NULL;
  g_auto (XpValue) result = XP_NONE;
  xp_operator_call (operator_named (name), arguments, &result, &error);
  assert_no_error (error);
  ck_assert_float_eq (first_number (result.as.tensor), marker);
}

static XpStatus
select_by_device (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XpKey key = xp_key_of (XP_FUNCTIONALITY_Dense, (unsigned) arguments[1].as.device.backend);
  return xp_operator_redispatch (xp_call_operator (call), xp_key_set (key), arguments, results,
                                 error);
}

START_TEST (the_argument_that_decides)
{
  g_autoptr (XpLibrary) there = impl_new ("t", "fake");
  g_autoptr (XpLibrary) select = impl_new ("t", "BackendSelect");
  define (rows, "cat(Tensor[] xs) -> Tensor");
  define (rows, "nest(Tensor[][] xs) -> Tensor");
  define (rows, "zeros(int n, Device d) -> Tensor");
  static const char *const names[] = { "cat", "nest", "zeros" };
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      implement_with (cpu, names[i], mark, 1, GINT_TO_POINTER (1), NULL);
      implement_with (there, names[i], mark, 2, GINT_TO_POINTER (2), NULL);
    }
  implement (select, "zeros", select_by_device, 3);

  g_auto (XpValue) none = xp_value_list (xp_list_new (NULL, 0));
  GError *error = NULL;
  ck_assert_int_eq (call_named ("t::cat", &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "\nSeen: xs: 0 tensors.");
  g_auto (XpValue) two = xp_value_list (xp_list_new_tensor ((XpTensor *[]){ on_cpu, on_cpu }, 2));
  assert_marker ("t::cat", &two, 1);
  g_auto (XpValue) one = xp_value_list (xp_list_new_tensor (&on_fake, 1));
  assert_marker ("t::cat", &one, 2);
  g_auto (XpValue) nested = xp_value_list (xp_list_new ((XpValue[]){ none, one }, 2));
  assert_marker ("t::nest", &nested, 2);
  XpValue arguments[] = { xp_value_int (2), xp_value_device ((XpDevice){ fake, 0 }) };
  assert_marker ("t::zeros", arguments, 2);
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_BackendSelect));
  ck_assert_int_eq (call_named ("t::zeros", arguments, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "no argument that takes tensors");
}
END_TEST

/* Each argument is counted by itself. */
START_TEST (how_many_tensors_were_seen)
{
  define (rows, "three(Tensor? a, Tensor[] b, int n, Tensor?[] c) -> Tensor");
  g_auto (XpValue) none = xp_value_list (xp_list_new (NULL, 0));
  XpValue holes[] = { XP_NONE, XP_NONE };
  g_auto (XpValue) list = xp_value_list (xp_list_new (holes, 2));
  XpValue arguments[] = { XP_NONE, none, xp_value_int (3), list };
  GError *error = NULL;
  ck_assert_int_eq (call_named ("t::three", arguments, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS,
                "Seen: a: 0 tensors, b: 0 tensors, c: 0 tensors.");
  /* There are some, but the thread takes all their keys away. */
  XP_FORCE_KEYS (((XpKeySet){ 0, 0 }), ((XpKeySet){ ~(uint64_t) 0, 0 }));
  g_auto (XpValue) both = xp_value_list (xp_list_new_tensor ((XpTensor *[]){ on_cpu, on_cpu }, 2));
  arguments[0] = xp_value_tensor (on_cpu);
  arguments[3] = both;
  ck_assert_int_eq (call_named ("t::three", arguments, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS,
                "Seen: a: 1 tensor, b: 0 tensors, c: 2 tensors.");
}
END_TEST

/* --- 18. Modes that do not follow the work. --- */

/* At autograd: what comes through needs a gradient. */
static XpStatus
scale_with_gradient (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XpStatus status = go_below (call, arguments, results, error);
  if (status == XP_OK && !xp_tensor_set_requires_grad (results[0].as.tensor, TRUE, error))
    status = XP_FAILED;
  return status;
}

static XpStatus
scale (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  if (arguments[1].as.integer == 0)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, NULL, "zero");
      return XP_FAILED;
    }
  float product = first_number (arguments[0].as.tensor) * (float) arguments[1].as.integer;
  results[0] = xp_value_tensor (numbers (&product, 1));
  return XP_OK;
}

enum
{
  N_JOBS = 8
};

static const XpThreadState *mode;
static int n_needing_gradients, n_right;

static void
do_job (G_GNUC_UNUSED void *data, G_GNUC_UNUSED void *pool_data)
{
  g_autoptr (XpTensor) x = numbers ((float[]){ 1 }, 1);
  ck_assert (xp_tensor_set_requires_grad (x, TRUE, NULL));
  XpThreadState before = xp_thread_state_capture ();
  const XpThreadState *applied = mode != NULL ? mode : &before;
  XpValue arguments[] = { xp_value_tensor (x), xp_value_int (3) };
  XpOperator *op = xp_operator_find ("t::scale");
  {
    XP_THREAD_STATE (applied);
    g_auto (XpValue) result = XP_NONE;
    if (xp_operator_call (op, arguments, &result, NULL) == XP_OK
        && first_number (result.as.tensor) == 3)
      __atomic_add_fetch (&n_right, 1, __ATOMIC_SEQ_CST);
    if ((result.as.tensor->flags & XP_TENSOR_REQUIRES_GRAD) != 0)
      __atomic_add_fetch (&n_needing_gradients, 1, __ATOMIC_SEQ_CST);
    arguments[1] = xp_value_int (0);
    XpValue none;
    if (xp_operator_call (op, arguments, &none, NULL) == XP_OK)
      n_right = -1;
  }
  XpThreadState after = xp_thread_state_capture ();
  if (memcmp (&before, &after, sizeof before) != 0)
    n_right = -1;
}

static void
do_jobs (const XpThreadState *applied)
{
  mode = applied;
  n_needing_gradients = n_right = 0;
  GThreadPool *pool = g_thread_pool_new (do_job, NULL, 3, TRUE, NULL);
  for (int i = 1; i <= N_JOBS; i++)
    g_thread_pool_push (pool, GINT_TO_POINTER (i), NULL);
  g_thread_pool_free (pool, FALSE, TRUE);
  ck_assert_int_eq (n_right, N_JOBS);
}

START_TEST (the_mode_follows_the_work)
{
  g_autoptr (XpLibrary) autograd = impl_new ("t", "AutogradCPU");
  define (rows, "scale(Tensor x, int by) -> Tensor");
  implement (cpu, "scale", scale, 1);
  implement (autograd, "scale", scale_with_gradient, 2);
  XP_BELOW_AUTOGRAD ();
  XpThreadState state = xp_thread_state_capture ();
  do_jobs (&state);
  ck_assert_int_eq (n_needing_gradients, 0);
  do_jobs (NULL);
  ck_assert_int_eq (n_needing_gradients, N_JOBS);
}
END_TEST

/* --- 19. Registration and calls at the same time. --- */

enum
{
  N_CALLERS = 4
};

/* A thousand were reported; more see what is wrong for a moment only. */
#ifdef __SANITIZE_THREAD__
#  define N_CALLS 20000
#  define N_SWAPS 1000
#else
#  define N_CALLS 1000000
#  define N_SWAPS 20000
#endif

static XpStatus
give_number (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
             G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_int (GPOINTER_TO_INT (xp_call_data (call)));
  return XP_OK;
}

static unsigned n_calling, n_swaps;

static void *
call_a_million_times (void *data)
{
  int *n_of = data;
  XpOperator *op = operator_named ("t::number");
  XpValue argument = xp_value_tensor (on_cpu), result;
  for (int i = 0; i < N_CALLS || __atomic_load_n (&n_swaps, __ATOMIC_RELAXED) < N_SWAPS; i++)
    {
      XpStatus status = xp_operator_call (op, &argument, &result, NULL);
      bool is_valid = status == XP_OK && result.tag == XP_TAG_INT
                      && (result.as.integer == 1 || result.as.integer == 2);
      n_of[is_valid ? result.as.integer : 0]++;
    }
  __atomic_sub_fetch (&n_calling, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static XpLibrary *
library_giving (int number)
{
  XpLibrary *library = impl_new ("t", "CPU");
  implement_with (library, "number", give_number, number, GINT_TO_POINTER (number), NULL);
  return library;
}

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

/* Each side goes on until the other has done its part. */
START_TEST (registration_beside_calls)
{
  GThread *threads[N_CALLERS];
  int n_of[N_CALLERS][3] = { { 0 } };
  g_log_set_writer_func (swallow, NULL, NULL);
  define (rows, "number(Tensor x) -> int");
  XpLibrary *library = library_giving (1);
  n_calling = N_CALLERS;
  for (unsigned i = 0; i < N_CALLERS; i++)
    threads[i] = g_thread_new ("caller", call_a_million_times, n_of[i]);
  while (n_swaps < N_SWAPS || __atomic_load_n (&n_calling, __ATOMIC_SEQ_CST) > 0)
    {
      XpLibrary *next = library_giving (n_swaps % 2 == 0 ? 2 : 1);
      xp_library_free (library);
      library = next;
      __atomic_add_fetch (&n_swaps, 1, __ATOMIC_RELAXED);
    }
  for (unsigned i = 0; i < N_CALLERS; i++)
    {
      g_thread_join (threads[i]);
      ck_assert_int_eq (n_of[i][0], 0);
      ck_assert_int_ge (n_of[i][1] + n_of[i][2], N_CALLS);
    }
  xp_library_free (library);
}
END_TEST

/* --- 20. What a small call costs, in counts. --- */

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#  define COUNTS_ALLOCATIONS 0
static unsigned n_allocations;
#else
#  define COUNTS_ALLOCATIONS 1
static unsigned n_allocations;
void *__libc_malloc (size_t size);

/* Takes the place of the C library's for the whole program. */
void *
malloc (size_t size)
{
  __atomic_add_fetch (&n_allocations, 1, __ATOMIC_RELAXED);
  return __libc_malloc (size);
}
#endif

static unsigned n_empty;

static XpStatus
do_nothing (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
            G_GNUC_UNUSED GError **error)
{
  n_empty++;
  results[0] = xp_value_ref (arguments[0]);
  return XP_OK;
}

/* No call allocates, none takes the slow path, and a name that is not there leaves nothing behind.
 * The slow path sets anew how many frames need no second look: a single one stays a single one. */
START_TEST (a_small_call)
{
  enum
  {
    N = 100000
  };
  define (rows, "empty(Tensor a, Tensor b) -> Tensor");
  implement (cpu, "empty", do_nothing, 1);
  XpOperator *op = operator_named ("t::empty");
  XpValue arguments[] = { xp_value_tensor (on_cpu), xp_value_tensor (on_cpu) }, result;
  ck_assert_int_eq (xp_operator_call (op, arguments, &result, NULL), XP_OK);
  xp_value_clear (&result);
  n_empty = 0;
  /* Without membarrier every call takes the slow path, and there is no limit. */
  XpCall *limit = xp_thread.limit != NULL ? xp_thread.top + 1 : NULL;
  xp_thread.limit = limit;
  unsigned before = __atomic_load_n (&n_allocations, __ATOMIC_RELAXED);
  uint64_t generation = xp_table_generation ();
  for (unsigned i = 0; i < N; i++)
    {
      xp_operator_call (op, arguments, &result, NULL);
      xp_value_clear (&result);
      if (xp_operator_find ("t::not_there") != NULL)
        n_empty = 0;
    }
  unsigned n = __atomic_load_n (&n_allocations, __ATOMIC_RELAXED) - before;
  ck_assert_uint_eq (n_empty, N);
  ck_assert_uint_eq (n, 0);
  ck_assert_ptr_eq (xp_thread.limit, limit);
  ck_assert_uint_eq (xp_table_generation (), generation);
  g_auto (GStrv) names = xp_table_names ();
  ck_assert (!g_strv_contains ((const char *const *) names, "t::not_there"));
  if (COUNTS_ALLOCATIONS)
    ck_assert_uint_gt (__atomic_load_n (&n_allocations, __ATOMIC_RELAXED), before);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("reports");
  TCase *tests = tcase_create ("reports");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, an_autograd_kernel_that_calls_itself);
  tcase_add_test (tests, deep_but_not_endless);
  tcase_add_test (tests, tensors_of_different_devices);
  tcase_add_test (tests, the_argument_that_decides);
  tcase_add_test (tests, how_many_tensors_were_seen);
  tcase_add_test (tests, the_mode_follows_the_work);
  tcase_add_test (tests, registration_beside_calls);
  tcase_add_test (tests, a_small_call);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
