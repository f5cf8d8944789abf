/* SPDX-License-Identifier: MIT
 *
 * recursion.c: kernels that call each other without end: the limit of one operator and key, the
 * text that names the shortest cycle, and stacks that are nearly used up.
 */
#include "calls.h"
#include "table/blocks.h"

#include <pthread.h>

static unsigned depth;

static XpStatus
call_next (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  depth++;
  return xp_operator_call (operator_named (xp_call_data (call)), arguments, results, error);
}

static XpStatus
redispatch_to_itself (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  depth++;
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys (call), arguments, results,
                                 error);
}

static XpLibrary *rows, *cpu;
static XpTensor *tensor;

static void
add (const char *name, const char *next)
{
  g_autofree char *schema = g_strdup_printf ("%s(Tensor self) -> Tensor", name);
  define (rows, schema);
  implement_with (cpu, name, next != NULL ? call_next : recording_kernel, 1,
                  next != NULL ? g_strconcat ("re::", next, NULL) : NULL, g_free);
}

static void
set_up (void)
{
  rows = fragment_new ("re");
  cpu = impl_new ("re", "CPU");
  tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  add ("one", "one");
  add ("into", "a");
  add ("a", "b");
  add ("b", "c");
  add ("c", "a");
}

static void
tear_down (void)
{
  xp_tensor_unref (tensor);
  xp_library_free (cpu);
  xp_library_free (rows);
}

static GError *
error_of_call (const char *name)
{
  XpCall *top = xp_thread.top;
  GError *error = NULL;
  XpValue argument = xp_value_tensor (tensor);
  depth = 0;
  ck_assert_int_eq (call_named (name, &argument, &error), XP_FAILED);
  ck_assert (top == NULL || xp_thread.top == top);
  return error;
}

START_TEST (one_operator_calls_itself)
{
  GError *error = error_of_call ("re::one");
  ck_assert_uint_eq (depth, 1000);
  ck_assert_str_eq (xp_error_class (error->code), "RecursionError");
  ck_assert_str_eq (xp_error_get_details (error)->op, "re::one");
  ck_assert_str_eq (xp_error_get_details (error)->key, "CPU");
  ck_assert_str_eq (error->message,
                    "maximum recursion depth exceeded: re::one is active 1000 times on this "
                    "thread, its recursion limit; the calls that repeat: re::one [CPU] -> re::one");
  assert_error (error, XP_ERROR_RECURSION, "re::one");
  /* Nothing is left of it. */
  error = error_of_call ("re::one");
  ck_assert_uint_eq (depth, 1000);
  assert_error (error, XP_ERROR_RECURSION, "re::one");
}
END_TEST

START_TEST (the_shortest_cycle_is_named)
{
  xp_set_recursion_limit (10);
  GError *error = error_of_call ("re::into");
  ck_assert_uint_eq (depth, 31);
  assert_error (error, XP_ERROR_RECURSION,
                "the calls that repeat: re::a [CPU] -> re::b [CPU] -> re::c [CPU] -> re::a");
}
END_TEST

START_TEST (the_limit_can_be_changed)
{
  static const unsigned limits[] = { 1, 2, 50, 3000, 20 };
  for (unsigned i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      xp_set_recursion_limit (limits[i]);
      GError *error = error_of_call ("re::one");
      ck_assert_uint_eq (depth, limits[i]);
      assert_error (error, XP_ERROR_RECURSION, "maximum recursion depth exceeded");
    }
}
END_TEST

/* Deep, but no operator is active too often. */
START_TEST (depth_alone_is_no_recursion)
{
  enum
  {
    DEEP = 1500
  };
  xp_set_recursion_limit (5);
  for (unsigned i = 0; i < DEEP; i++)
    {
      g_autofree char *name = g_strdup_printf ("d%u", i);
      g_autofree char *next = g_strdup_printf ("d%u", i + 1);
      add (name, i + 1 < DEEP ? next : NULL);
    }
  GError *error = NULL;
  XpValue argument = xp_value_tensor (tensor);
  depth = 0;
  call_named ("re::d0", &argument, &error);
  assert_no_error (error);
  ck_assert_uint_eq (depth, DEEP - 1);
}
END_TEST

/* The same operator on two keys is active on each. */
static XpStatus
go_below (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

START_TEST (keys_are_counted_apart)
{
  g_autoptr (XpLibrary) autograd = impl_new ("re", "AutogradCPU");
  implement (autograd, "one", go_below, 2);
  xp_set_recursion_limit (10);
  GError *error = error_of_call ("re::one");
  ck_assert_uint_eq (depth, 10);
  assert_error (error, XP_ERROR_RECURSION,
                "the calls that repeat: re::one [AutogradCPU] -> re::one [CPU] -> re::one");
}
END_TEST

START_TEST (a_redispatch_to_itself)
{
  define (rows, "self(Tensor self) -> Tensor");
  implement (cpu, "self", redispatch_to_itself, 2);
  GError *error = error_of_call ("re::self");
  ck_assert_uint_eq (depth, 1000);
  assert_error (error, XP_ERROR_RECURSION, "re::self [CPU] -> re::self");
}
END_TEST

/* A typed caller is told as a boxed one is. */
static XpStatus
typed_again (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  depth++;
  return xp_calls_unary (self, result, error);
}

START_TEST (a_typed_kernel_calls_itself)
{
  g_autoptr (XpLibrary) typed_rows = fragment_new ("calls");
  g_autoptr (XpLibrary) typed_cpu = impl_new ("calls", "CPU");
  define (typed_rows, "unary(Tensor self) -> Tensor");
  xp_impl_calls_unary (typed_cpu, typed_again);
  XpTensor *result = NULL;
  GError *error = NULL;
  depth = 0;
  ck_assert_int_eq (xp_calls_unary (tensor, &result, &error), XP_FAILED);
  ck_assert_ptr_null (result);
  ck_assert_uint_eq (depth, 1000);
  assert_error (error, XP_ERROR_RECURSION, "calls::unary [CPU] -> calls::unary");
}
END_TEST

/* --- Small stacks. --- */

static const size_t stack_sizes[] = { 64 * 1024, 96 * 1024, 128 * 1024, 192 * 1024, 1024 * 1024 };

/* The first time the thread gets its frames, and what it takes to get them lies on the stack, too;
 * from then on each time is as deep as the one before, to the call. */
static void *
recurse_on_a_small_stack (void *data)
{
  unsigned depths[4];
  for (unsigned i = 0; i < G_N_ELEMENTS (depths); i++)
    {
      GError *error = error_of_call ("re::one");
      depths[i] = depth;
      assert_error (error, XP_ERROR_RECURSION,
                    "would leave less than 64 KiB of this thread's stack; the calls that repeat: "
                    "re::one [CPU] -> re::one");
    }
  ck_assert_uint_ge (depths[1], depths[0]);
  ck_assert_uint_eq (depths[2], depths[1]);
  ck_assert_uint_eq (depths[3], depths[1]);
  *(unsigned *) data = depths[0];
  return NULL;
}

START_TEST (a_small_stack_is_not_overrun)
{
  pthread_attr_t attributes;
  pthread_t thread;
  unsigned reached = 0;
  xp_set_recursion_limit (1000000);
  ck_assert_int_eq (pthread_attr_init (&attributes), 0);
  ck_assert_int_eq (pthread_attr_setstacksize (&attributes, stack_sizes[_i]), 0);
  ck_assert_int_eq (pthread_create (&thread, &attributes, recurse_on_a_small_stack, &reached), 0);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
  ck_assert_uint_gt (reached, 5);
  pthread_attr_destroy (&attributes);
}
END_TEST

/* A stack that is larger than the frames of a thread. */
static void *
recurse_on_a_large_stack (void *data)
{
  GError *error = error_of_call ("re::one");
  *(unsigned *) data = depth;
  assert_error (error, XP_ERROR_RECURSION,
                "re::one would be one call more than a thread can have at once; the calls that "
                "repeat: re::one [CPU] -> re::one");
  return NULL;
}

START_TEST (frames_run_out)
{
  pthread_attr_t attributes;
  pthread_t thread;
  unsigned reached = 0;
  xp_set_recursion_limit (1000000);
  ck_assert_int_eq (pthread_attr_init (&attributes), 0);
  ck_assert_int_eq (pthread_attr_setstacksize (&attributes, (size_t) 1 << 29), 0);
  ck_assert_int_eq (pthread_create (&thread, &attributes, recurse_on_a_large_stack, &reached), 0);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
  ck_assert_uint_eq (reached, 1 << 18);
  pthread_attr_destroy (&attributes);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("recursion");
  TCase *tests = tcase_create ("recursion");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, one_operator_calls_itself);
  tcase_add_test (tests, the_shortest_cycle_is_named);
  tcase_add_test (tests, the_limit_can_be_changed);
  tcase_add_test (tests, depth_alone_is_no_recursion);
  tcase_add_test (tests, keys_are_counted_apart);
  tcase_add_test (tests, a_redispatch_to_itself);
  tcase_add_test (tests, a_typed_kernel_calls_itself);
  tcase_add_loop_test (tests, a_small_stack_is_not_overrun, 0, G_N_ELEMENTS (stack_sizes));
  tcase_add_test (tests, frames_run_out);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
