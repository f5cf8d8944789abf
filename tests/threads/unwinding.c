/* SPDX-License-Identifier: MIT
 *
 * unwinding.c: what passes through calls and guards without returning: exceptions of C++, the end
 * of a thread, cancellation. Each leaves the frames and the thread's state as they were, so that
 * nobody waits for a thread that is not inside any more.
 */
#include "calls.h"
#include "plugin/fixtures.h"
#include "table/blocks.h"

#include <pthread.h>

/* throwing.cc */
void throw_number (int number);
int catch_number (void (*function) (void *data), void *data);

static XpLibrary *rows, *cpu;
static XpTensor *tensor;
static unsigned n_destroyed;

static void
set_up (void)
{
  rows = fragment_new ("calls");
  cpu = impl_new ("calls", "CPU");
  tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "unary(Tensor self) -> Tensor");
  define (rows, "outer(Tensor self) -> Tensor");
  define (rows, "first(Tensor self) -> Tensor");
  record_at (cpu, "first", 3);
}

static void
tear_down (void)
{
  xp_tensor_unref (tensor);
  xp_library_free (cpu);
  xp_library_free (rows);
}

static void
count_destroyed (G_GNUC_UNUSED void *data)
{
  n_destroyed++;
}

/* --- How a call may end. --- */

typedef enum
{
  THROWS,
  EXITS,
  IS_CANCELLED,
  N_ENDS
} End;

static int is_inside;

static void
come_to_an_end (End end)
{
  switch (end)
    {
    case THROWS:
      throw_number (17);
      break;
    case EXITS:
      pthread_exit (NULL);
    default:
      __atomic_store_n (&is_inside, 1, __ATOMIC_SEQ_CST);
      for (;;)
        {
          /* Not GLib's: ThreadSanitizer looks away in there, and would for ever. */
          pthread_testcancel ();
          usleep (200);
        }
    }
}

/* Every guard there is stands around the end. */
static void
end_in_guards (End end)
{
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
  XP_SET_EXCLUDED (XP_KEY_Named, true);
  XP_BELOW_AUTOGRAD ();
  XP_BELOW_AD_INPLACE_OR_VIEW ();
  XP_SKIP_FUNCTIONALIZE ();
  XP_INFERENCE_MODE (true);
  XpThreadState state = xp_thread_state_capture ();
  XP_FORCE_KEYS (((XpKeySet){ 0, 0 }), ((XpKeySet){ 0, 0 }));
  XP_PRESERVE_KEYS ();
  XP_THREAD_STATE (&state);
  ck_assert (xp_thread_is_inference_mode ());
  come_to_an_end (end);
}

static XpStatus
end_boxed (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
           G_GNUC_UNUSED GError **error)
{
  end_in_guards ((End) GPOINTER_TO_INT (xp_call_data (call)));
  return XP_OK;
}

static End end_of_typed;

static XpStatus
end_typed (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED XpTensor *self,
           G_GNUC_UNUSED XpTensor **result, G_GNUC_UNUSED GError **error)
{
  end_in_guards (end_of_typed);
  return XP_OK;
}

static XpStatus
call_unary (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XpTensor *result = NULL;
  XpStatus status = xp_calls_unary (arguments[0].as.tensor, &result, error);
  results[0] = xp_value_tensor (result);
  return status;
}

/* --- The state before and after. --- */

typedef struct
{
  XpCall *top;
  XpThreadState state;
  unsigned n_checked;
} Balance;

static void
check_balance (void *data)
{
  Balance *balance = data;
  XpThreadState state = xp_thread_state_capture ();
  ck_assert_ptr_eq (xp_thread.top, balance->top);
  ck_assert_ptr_null (balance->top->kernel);
  ck_assert_int_eq (memcmp (&state, &balance->state, sizeof state), 0);
  balance->n_checked++;
}

static XpKernelHandle *handle;
static End end_of_handle;

static void
end_as_data_says (void *data)
{
  end_in_guards (*(End *) data);
}

/* Calls the handle where there is one. */
static void
call_outer (G_GNUC_UNUSED void *data)
{
  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_int ((intptr_t) end_as_data_says),
                          xp_value_int ((intptr_t) &end_of_handle) };
  if (handle != NULL)
    xp_kernel_handle_call (handle, arguments, NULL, NULL);
  else
    call_named ("calls::outer", arguments, NULL);
  ck_abort_msg ("the call returned");
}

static void
begin_balance (Balance *balance)
{
  /* A thread's first call gives it its frames. */
  ck_assert_int_eq (line_called ("calls::first", tensor), 3);
  *balance = (Balance){ xp_thread.top, xp_thread_state_capture (), 0 };
}

static void *
run_to_its_end (G_GNUC_UNUSED void *data)
{
  Balance balance;
  begin_balance (&balance);
  pthread_cleanup_push (check_balance, &balance);
  call_outer (NULL);
  pthread_cleanup_pop (0);
  return NULL;
}

static void
reach (End end)
{
  pthread_t thread;
  if (end == THROWS)
    {
      Balance balance;
      begin_balance (&balance);
      ck_assert_int_eq (catch_number (call_outer, NULL), 17);
      check_balance (&balance);
      return;
    }
  __atomic_store_n (&is_inside, 0, __ATOMIC_SEQ_CST);
  ck_assert_int_eq (pthread_create (&thread, NULL, run_to_its_end, NULL), 0);
  if (end == IS_CANCELLED)
    {
      while (!__atomic_load_n (&is_inside, __ATOMIC_SEQ_CST))
        g_usleep (200);
      ck_assert_int_eq (pthread_cancel (thread), 0);
    }
  void *result;
  ck_assert_int_eq (pthread_join (thread, &result), 0);
  ck_assert (result == (end == IS_CANCELLED ? PTHREAD_CANCELED : NULL));
}

START_TEST (through_calls_and_guards)
{
  End end = (End) (_i / 2);
  bool is_typed = _i % 2 != 0;
  GError *error = NULL;
  end_of_typed = end;
  XpLibrary *block = impl_new ("calls", "CPU");
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = "unary",
                                            .boxed = is_typed ? xp_calls_unary_adapter : end_boxed,
                                            .typed = is_typed ? (XpTypedFunction) end_typed : NULL,
                                            .signature = is_typed ? XP_calls_unary_SIGNATURE : NULL,
                                            .data = GINT_TO_POINTER (end),
                                            .destroy = count_destroyed,
                                            .file = "kernel.c",
                                            .line = 1 };
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
  implement (block, "outer", call_unary, 2);
  reach (end);
  /* Nobody is inside any more. */
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 1);
}
END_TEST

/* --- Through a plugin, and then the unloading. --- */

static void
call_run (G_GNUC_UNUSED void *data)
{
  const XpValue arguments[] = { xp_value_tensor (tensor), xp_value_int (0), xp_value_int (0) };
  call_named ("fixture::run", arguments, NULL);
  ck_abort_msg ("the call returned");
}

START_TEST (through_a_plugin_that_is_unloaded)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  handle = xp_operator_kernel (operator_named ("fixture::run"), "first", XP_KEY_CPU, &error);
  assert_no_error (error);
  end_of_handle = (End) _i;
  reach (end_of_handle);
  gint64 before = g_get_monotonic_time ();
  unload (first);
  ck_assert_int_lt (g_get_monotonic_time () - before, 5000000);
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
  xp_kernel_handle_unref (handle);
}
END_TEST

/* What throws is the plugin's own code, whose frames have objects to destroy. */
START_TEST (a_plugin_that_throws)
{
  Balance balance;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("cpp_throws");
  begin_balance (&balance);
  for (unsigned i = 0; i < 3; i++)
    {
      ck_assert_int_eq (catch_number (call_run, NULL), 17);
      check_balance (&balance);
    }
  assert_number (7);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  ck_assert (!is_mapped ("-cpp_throws.so"));
}
END_TEST

/* --- What a typed caller has boxed. --- */

static unsigned n_freed;

static void
count_freed (G_GNUC_UNUSED void *data)
{
  n_freed++;
}

static XpStatus
throw_boxed (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
             G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  throw_number (18);
  return XP_OK;
}

static void
call_with_a_list (void *data)
{
  XpTensor *elements[] = { data }, *out;
  const XpTensors none = { NULL, 0 };
  xp_calls_tensors (NULL, (XpTensors){ elements, 1 }, none, NULL, &out, NULL);
}

START_TEST (a_boxed_list_is_freed)
{
  static const XpLayoutClass layout = { sizeof layout, XP_STRIDED, XP_FUNCTIONALITY_Dense,
                                        count_freed, NULL };
  GError *error = NULL;
  define (rows, "tensors(Tensor? self, Tensor[] list, Tensor?[] holes, Tensor[]? more=None) -> "
                "Tensor");
  implement_with (cpu, "tensors", throw_boxed, 4, NULL, NULL);
  XpTensor *element = xp_tensor_new_with_layout (&layout, &n_freed, XP_FLOAT32, XP_INTS (1), XP_CPU,
                                                 &error);
  assert_no_error (error);
  ck_assert_int_eq (catch_number (call_with_a_list, element), 18);
  ck_assert_uint_eq (n_freed, 0);
  xp_tensor_unref (element);
  ck_assert_uint_eq (n_freed, 1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("unwinding");
  TCase *tests = tcase_create ("unwinding");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_loop_test (tests, through_calls_and_guards, 0, 2 * N_ENDS);
  tcase_add_loop_test (tests, through_a_plugin_that_is_unloaded, 0, N_ENDS);
  tcase_add_test (tests, a_plugin_that_throws);
  tcase_add_test (tests, a_boxed_list_is_freed);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
