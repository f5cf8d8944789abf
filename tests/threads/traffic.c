/* SPDX-License-Identifier: MIT
 *
 * traffic.c: threads that call while another changes the table: no call is lost or fails, none sees
 * a kernel that was gone before it began, and a kernel's data is destroyed when nobody is inside.
 */
#include "calls.h"
#include "table/blocks.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

enum
{
  N_THREADS = 3,
  N_ROUNDS = 150,
  GOOD = 0x600d,
  POISON = 0xdead
};

/* A kernel's data. It is poisoned when it is destroyed, and freed after the threads have ended, so
 * that whoever comes too late is seen. */
typedef struct Poisonable Poisonable;
struct Poisonable
{
  int state;
  int n_inside;
  int gone_at; /* the tick at which its release had returned; 0 before */
  Poisonable *next;
};

static Poisonable *graveyard;
static unsigned n_buried;
static int n_started, n_run, n_done, n_wrong, n_unknown, n_mismatched;
static bool stop;

/* Ticks with every call, and whenever something is gone. */
static int clock_ticks;
static __thread int begun_at;

#define ADD(counter, n) __atomic_fetch_add (&(counter), (n), __ATOMIC_SEQ_CST)
#define READ(counter) __atomic_load_n (&(counter), __ATOMIC_SEQ_CST)

static Poisonable *
poisonable_new (void)
{
  Poisonable *data = g_new0 (Poisonable, 1);
  data->state = GOOD;
  return data;
}

/* Destroyed by the thread that changes the table, so the list needs no lock. */
static void
poison (void *pointer)
{
  Poisonable *data = pointer;
  if (READ (data->n_inside) != 0)
    ADD (n_wrong, 1);
  __atomic_store_n (&data->state, POISON, __ATOMIC_SEQ_CST);
  data->next = graveyard;
  graveyard = data;
  n_buried++;
}

static void
empty_graveyard (void)
{
  while (graveyard != NULL)
    {
      Poisonable *next = graveyard->next;
      g_free (graveyard);
      graveyard = next;
    }
}

static void
enter_and_leave (XpCall *call)
{
  Poisonable *data = xp_call_data (call);
  ADD (data->n_inside, 1);
  for (unsigned i = 0; i < 20; i++)
    if (READ (data->state) != GOOD)
      {
        ADD (n_wrong, 1);
        break;
      }
  int gone_at = READ (data->gone_at);
  if (gone_at != 0 && begun_at > gone_at)
    ADD (n_wrong, 1);
  ADD (data->n_inside, -1);
  ADD (n_run, 1);
}

static XpStatus
boxed_kernel (XpCall *call, const XpValue *arguments, XpValue *results,
              G_GNUC_UNUSED GError **error)
{
  enter_and_leave (call);
  results[0] = xp_value_ref (arguments[0]);
  return XP_OK;
}

static XpStatus
typed_kernel (XpCall *call, XpTensor *self, XpTensor **result, G_GNUC_UNUSED GError **error)
{
  enter_and_leave (call);
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static XpStatus
declining_kernel (XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                  G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  enter_and_leave (call);
  ADD (n_run, -1);
  return xp_call_decline (call, "busy elsewhere");
}

/* Passes on, boxed, what came to a fallback. */
static XpStatus
passing_kernel (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  enter_and_leave (call);
  ADD (n_run, -1);
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

/* Of a row that no thread calls. */
static XpStatus
wrong_kernel (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
              G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  ADD (n_wrong, 1);
  return XP_OK;
}

static void
add_boxed (XpLibrary *block, const char *name, XpBoxedFunction kernel)
{
  implement_with (block, name, kernel, 1, poisonable_new (), poison);
}

static void
add_typed (XpLibrary *block)
{
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = "unary",
                                            .boxed = xp_calls_unary_adapter,
                                            .typed = (XpTypedFunction) typed_kernel,
                                            .signature = XP_calls_unary_SIGNATURE,
                                            .data = poisonable_new (),
                                            .destroy = poison,
                                            .file = "kernel.c",
                                            .line = 2 };
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
}

/* --- The threads that call. --- */

static void
note_result (XpStatus status, XpTensor *self, XpTensor *result, GError *error)
{
  if (status == XP_OK && result == self)
    ADD (n_done, 1);
  else if (g_error_matches (error, XP_ERROR, XP_ERROR_UNKNOWN_OPERATOR))
    ADD (n_unknown, 1);
  else if (g_error_matches (error, XP_ERROR, XP_ERROR_SIGNATURE_MISMATCH))
    ADD (n_mismatched, 1);
  else
    ADD (n_wrong, 1);
}

static void *
call_until_stopped (G_GNUC_UNUSED void *data)
{
  g_autoptr (XpTensor) self = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  XpOperatorHandle handle = { "calls::unary", XP_calls_unary_SIGNATURE, NULL };
  for (unsigned i = 0; !READ (stop); i++)
    {
      GError *error = NULL;
      XpTensor *result = NULL;
      XpStatus status;
      ADD (n_started, 1);
      begun_at = ADD (clock_ticks, 1) + 1;
      if (i % 2 == 0)
        status = xp_calls_unary (self, &result, &error);
      else
        {
          XpValue argument = xp_value_tensor (self), value;
          status = xp_operator_call (xp_operator_handle_get (&handle), &argument, &value, &error);
          result = value.tag == XP_TAG_TENSOR ? value.as.tensor : NULL;
        }
      note_result (status, self, result, error);
      g_clear_pointer (&result, xp_tensor_unref);
      g_clear_error (&error);
    }
  return NULL;
}

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

static XpLibrary *rows, *base;
static GThread *threads[N_THREADS];

static void
set_up (void)
{
  g_log_set_writer_func (swallow, NULL, NULL);
  rows = fragment_new ("calls");
  base = impl_new ("calls", "CPU");
  define (rows, "unary(Tensor self) -> Tensor");
  add_typed (base);
}

static void
start (void)
{
  for (unsigned i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("calls", call_until_stopped, NULL);
  while (READ (n_done) + READ (n_unknown) < 10)
    g_thread_yield ();
}

static void
finish (bool rows_went)
{
  __atomic_store_n (&stop, true, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  ck_assert_int_eq (n_wrong, 0);
  ck_assert (rows_went || n_unknown + n_mismatched == 0);
  ck_assert_int_eq (n_done + n_unknown + n_mismatched, n_started);
  ck_assert_int_eq (n_run, n_done);
  assert_table_is_sound ();
  xp_library_free (base);
  xp_library_free (rows);
  /* Nobody is inside now, so what lingered is gone too. */
  XpLibrary *last = impl_new ("calls", "CPU");
  add_boxed (last, "unary", boxed_kernel);
  unsigned n_before = n_buried;
  xp_library_free (last);
  ck_assert_uint_gt (n_buried, n_before);
  empty_graveyard ();
}

/* --- What changes meanwhile. --- */

START_TEST (kernels_come_and_go)
{
  start ();
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      XpLibrary *block = impl_new ("calls", "CPU");
      if (i % 2 == 0)
        add_boxed (block, "unary", boxed_kernel);
      else
        add_typed (block);
      if (i % 3 == 0)
        g_thread_yield ();
      xp_library_free (block);
    }
  finish (false);
  ck_assert_uint_eq (n_buried, N_ROUNDS + 2);
}
END_TEST

/* The new one is there before the old one goes: the cell is never empty, though nothing is under
 * it. */
START_TEST (one_kernel_takes_the_place_of_another)
{
  XpLibrary *old = impl_new ("calls", "CPU");
  add_typed (old);
  g_clear_pointer (&base, xp_library_free);
  start ();
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      XpLibrary *new_ = impl_new ("calls", "CPU");
      if (i % 2 == 0)
        add_boxed (new_, "unary", boxed_kernel);
      else
        add_typed (new_);
      xp_library_free (old);
      old = new_;
    }
  base = old;
  finish (false);
}
END_TEST

/* After a release returns, no call that begins later sees the kernel. */
START_TEST (nobody_begins_with_what_is_gone)
{
  start ();
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      XpLibrary *block = impl_new ("calls", "AutogradCPU");
      Poisonable *data = poisonable_new ();
      implement_with (block, "unary", passing_kernel, 1, data, NULL);
      xp_library_free (block);
      __atomic_store_n (&data->gone_at, ADD (clock_ticks, 1) + 1, __ATOMIC_SEQ_CST);
      data->next = graveyard;
      graveyard = data;
    }
  finish (false);
}
END_TEST

/* Fallbacks change every row; a kernel that declines makes the others look in the table. */
START_TEST (fallbacks_and_kernels_that_decline)
{
  start ();
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      XpLibrary *fallback = impl_new ("_", "AutogradCPU");
      XpLibrary *declining = impl_new ("calls", "CPU");
      add_boxed (fallback, NULL, passing_kernel);
      add_boxed (declining, "unary", declining_kernel);
      if (i % 2 == 0)
        xp_library_free (fallback);
      xp_library_free (declining);
      if (i % 2 != 0)
        xp_library_free (fallback);
    }
  finish (false);
}
END_TEST

/* Handles stay while the row goes and comes back; what is asked of it may be that it is gone. */
START_TEST (the_row_comes_and_goes)
{
  start ();
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      xp_library_free (rows);
      XpLibrary *other = NULL;
      if (i % 4 == 0)
        {
          g_autofree char *schema = g_strdup_printf ("unary_%u(Tensor self) -> Tensor", i);
          other = fragment_new ("calls");
          define (other, schema);
        }
      rows = fragment_new ("calls");
      define (rows, "unary(Tensor self) -> Tensor");
      xp_library_free (other);
    }
  finish (true);
}
END_TEST

/* The row comes back with another signature, and then as it was: typed callers that were built for
 * the first get an error meanwhile, and work again then. */
START_TEST (the_signature_changes)
{
  start ();
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      xp_library_free (rows);
      xp_library_free (base);
      rows = fragment_new ("calls");
      base = impl_new ("calls", "CPU");
      define (rows, "unary(Tensor self, int n) -> ()");
      add_boxed (base, "unary", wrong_kernel);
      for (int before = READ (n_mismatched); i % 10 == 0 && READ (n_mismatched) == before;)
        g_thread_yield ();
      xp_library_free (rows);
      xp_library_free (base);
      rows = fragment_new ("calls");
      base = impl_new ("calls", "CPU");
      add_typed (base);
      define (rows, "unary(Tensor self) -> Tensor");
    }
  int done = READ (n_done);
  while (READ (n_done) == done)
    g_thread_yield ();
  finish (true);
}
END_TEST

/* New devices make every row larger, and more names the index. */
START_TEST (the_table_grows)
{
  g_autoptr (XpLibrary) many = fragment_new ("many");
  start ();
  for (unsigned i = 0; i < 40; i++)
    {
      GError *error = NULL;
      XpBackend backend;
      g_autofree char *name = g_strdup_printf ("device%u", i);
      xp_backend_register (name, &backend, &error);
      assert_no_error (error);
      for (unsigned j = 0; j < 20; j++)
        {
          g_autofree char *schema = g_strdup_printf ("row_%u_%u(Tensor self) -> Tensor", i, j);
          define (many, schema);
        }
      g_autofree char *op = g_strdup_printf ("many::row_%u_0", i);
      ck_assert_ptr_nonnull (xp_operator_find (op));
    }
  finish (false);
}
END_TEST

/* What is asked of every thread's head while it calls. */
START_TEST (the_limit_of_recursion_changes)
{
  start ();
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      xp_set_recursion_limit (i % 2 == 0 ? 10 : 2000);
      g_thread_yield ();
    }
  finish (false);
}
END_TEST

/* Where membarrier is not to be had, every call takes the slow path, with a fence of its own. */
START_TEST (the_other_half_of_the_barrier)
{
  g_autoptr (XpTensor) self = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  g_autoptr (XpTensor) result = NULL;
  bool denied = syscall (SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) < 0;
  ck_assert (denied == (g_getenv ("TEST_WITHOUT_MEMBARRIER") != NULL));
  GError *error = NULL;
  xp_calls_unary (self, &result, &error);
  assert_no_error (error);
  ck_assert ((xp_thread.limit == NULL) == denied);
  xp_library_free (base);
  xp_library_free (rows);
  empty_graveyard ();
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("traffic");
  TCase *tests = tcase_create ("traffic");
  tcase_add_checked_fixture (tests, set_up, NULL);
  tcase_add_test (tests, kernels_come_and_go);
  tcase_add_test (tests, one_kernel_takes_the_place_of_another);
  tcase_add_test (tests, nobody_begins_with_what_is_gone);
  tcase_add_test (tests, fallbacks_and_kernels_that_decline);
  tcase_add_test (tests, the_row_comes_and_goes);
  tcase_add_test (tests, the_signature_changes);
  tcase_add_test (tests, the_table_grows);
  tcase_add_test (tests, the_limit_of_recursion_changes);
  tcase_add_test (tests, the_other_half_of_the_barrier);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 100);
  return run_suite (suite);
}
