/* SPDX-License-Identifier: MIT
 *
 * stress.c: four threads call, typed and boxed, while one registers, releases, and turns a key from
 * kernel to fallthrough and back, on the same two rows, for ten seconds, or as many as
 * TEST_STRESS_SECONDS says.
 *
 * A call in whose course nothing changed gives exactly what the table says; any other gives what it
 * said at some time. What a kernel's data held is overwritten when it is destroyed, and stays
 * readable for a while, so that whoever comes too late is seen.
 */
#include "calls.h"
#include "table/blocks.h"

#include <stdlib.h>

enum
{
  N_CALLERS = 4,
  N_ROWS = 2,
  MOST_KERNELS = 4,
  N_GRAVES = 1 << 14,
  N_STORES = 48,
  N_LINES = 1 << 18, /* of 64 bytes: more than a processor keeps */
  LINE = 16,
  LINES_APART = 67,
  GOOD = 0x600d,
  POISON = 0xdead
};

/* What a call gives: the number of the kernel at CPU, and so much more if it came by autograd. */
#define BY_AUTOGRAD ((int64_t) 1 << 40)

#define ADD(counter, n) __atomic_fetch_add (&(counter), (n), __ATOMIC_SEQ_CST)
#define READ(counter) __atomic_load_n (&(counter), __ATOMIC_SEQ_CST)
#define WRITE(counter, value) __atomic_store_n (&(counter), (value), __ATOMIC_SEQ_CST)

/* --- The data of kernels. --- */

typedef struct
{
  int64_t number;
  int state;
  int n_inside;
} Data;

static Data *graves[N_GRAVES];
static unsigned n_buried;
static unsigned n_wrong;
static int64_t last_number;
static bool stop;

static Data *
data_new (void)
{
  Data *data = g_new0 (Data, 1);
  data->number = READ (last_number) + 1;
  data->state = GOOD;
  WRITE (last_number, data->number);
  return data;
}

/* Only the thread that changes the table destroys. */
static void
bury (void *pointer)
{
  Data *data = pointer;
  if (READ (data->n_inside) != 0)
    ADD (n_wrong, 1);
  WRITE (data->state, POISON);
  WRITE (data->number, -1);
  Data **grave = &graves[n_buried++ % N_GRAVES];
  g_free (*grave);
  *grave = data;
}

static int64_t
visit (XpCall *call)
{
  Data *data = xp_call_data (call);
  ADD (data->n_inside, 1);
  bool is_good = true;
  for (unsigned i = 0; i < 10; i++)
    is_good &= READ (data->state) == GOOD;
  int64_t number = READ (data->number);
  if (!is_good)
    ADD (n_wrong, 1);
  ADD (data->n_inside, -1);
  return number;
}

/* --- Kernels. --- */

static XpStatus
give_number (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
             G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_int (visit (call));
  results[1] = xp_value_float (0);
  results[2] = xp_value_bool (false);
  results[3] = xp_value_int (0);
  return XP_OK;
}

static XpStatus
give_number_typed (XpCall *call, G_GNUC_UNUSED XpTensor *self, G_GNUC_UNUSED int64_t i,
                   G_GNUC_UNUSED double f, G_GNUC_UNUSED bool b, G_GNUC_UNUSED XpValue s,
                   int64_t *result_i, double *result_f, bool *result_b, XpValue *result_s,
                   G_GNUC_UNUSED GError **error)
{
  *result_i = visit (call);
  *result_f = 0;
  *result_b = false;
  *result_s = xp_value_int (0);
  return XP_OK;
}

static XpStatus
pass_on (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  visit (call);
  XpStatus status = xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call),
                                            arguments, results, error);
  if (status == XP_OK)
    results[0] = xp_value_int (results[0].as.integer + BY_AUTOGRAD);
  return status;
}

/* --- The rows, and what a call of one gives while nothing changes. --- */

typedef struct
{
  const char *name;
  unsigned version; /* odd while it changes */
  int64_t expected;
  XpLibrary *kernels[MOST_KERNELS]; /* the last is the active one */
  int64_t numbers[MOST_KERNELS];
  unsigned n_kernels;
  XpLibrary *autograd;
  bool is_passing_on;
} Target;

static Target targets[N_ROWS] = { { .name = "numbers" }, { .name = "others" } };
static XpLibrary *rows;
static XpTensor *tensor;
static uint64_t n_calls, n_exact, n_changes;

static void
add_kernel (Target *target, GRand *random)
{
  GError *error = NULL;
  Data *data = data_new ();
  bool is_typed = g_rand_boolean (random);
  XpLibrary *block = impl_new ("calls", "CPU");
  const XpImplementation implementation = {
    .size = sizeof implementation,
    .name = target->name,
    .boxed = is_typed ? xp_calls_numbers_adapter : give_number,
    .typed = is_typed ? (XpTypedFunction) give_number_typed : NULL,
    .signature = is_typed ? XP_calls_numbers_SIGNATURE : NULL,
    .data = data,
    .destroy = bury,
    .file = "kernel.c",
    .line = 1
  };
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
  target->kernels[target->n_kernels] = block;
  target->numbers[target->n_kernels++] = data->number;
}

static void
release_kernel (Target *target, unsigned which)
{
  xp_library_free (target->kernels[which]);
  target->n_kernels--;
  for (unsigned i = which; i < target->n_kernels; i++)
    {
      target->kernels[i] = target->kernels[i + 1];
      target->numbers[i] = target->numbers[i + 1];
    }
}

static void
toggle (Target *target)
{
  g_clear_pointer (&target->autograd, xp_library_free);
  target->is_passing_on = !target->is_passing_on;
  target->autograd = impl_new ("calls", "AutogradCPU");
  if (target->is_passing_on)
    implement_with (target->autograd, target->name, pass_on, 2, data_new (), bury);
  else
    implement (target->autograd, target->name, xp_fallthrough, 3);
}

static void
change (Target *target, GRand *random)
{
  int what = g_rand_int_range (random, 0, 4);
  WRITE (target->version, target->version + 1);
  if (what == 0)
    toggle (target);
  else if (target->n_kernels < 2 || (what == 1 && target->n_kernels < MOST_KERNELS))
    add_kernel (target, random);
  else
    release_kernel (target, (unsigned) g_rand_int_range (random, 0, (int) target->n_kernels));
  WRITE (target->expected,
         target->numbers[target->n_kernels - 1] + (target->is_passing_on ? BY_AUTOGRAD : 0));
  WRITE (target->version, target->version + 1);
  n_changes++;
}

/* --- Callers. --- */

static XpStatus
call_target (unsigned which, bool typed, int64_t *number)
{
  double f;
  bool b;
  XpValue s = XP_NONE;
  if (typed && which == 0)
    {
      XpStatus status = xp_calls_numbers (tensor, 1, 2.0, true, xp_value_int (3), number, &f, &b,
                                          &s, NULL);
      xp_value_clear (&s);
      return status;
    }
  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_int (1), xp_value_float (2),
                          xp_value_bool (true), xp_value_int (3) };
  XpValue results[4];
  g_autofree char *name = g_strconcat ("calls::", targets[which].name, NULL);
  XpStatus status = xp_operator_call (xp_operator_find (name), arguments, results, NULL);
  *number = status == XP_OK ? results[0].as.integer : -1;
  xp_values_clear (results, 4);
  return status;
}

/* Stores that wait for memory: what the thread stores next is seen by others only after them, while
 * what it reads is read at once. So a frame is seen as late as may be, and a change that does not
 * make sure of it destroys the kernel of a call that has begun. */
static void
delay_stores (unsigned *lines, uint64_t n)
{
  for (unsigned i = 0; i < N_STORES; i++)
    lines[(n * N_STORES + i) * LINES_APART % N_LINES * LINE] = (unsigned) n;
}

static void *
call_until_stopped (void *data)
{
  unsigned me = GPOINTER_TO_UINT (data);
  uint64_t n = 0, exact = 0;
  g_autofree unsigned *lines = g_new0 (unsigned, N_LINES *LINE);
  for (; !READ (stop); n++)
    {
      unsigned which = (unsigned) n % N_ROWS;
      const Target *target = &targets[which];
      int64_t number = 0;
      unsigned before = READ (target->version);
      int64_t expected = READ (target->expected);
      if (n / 1024 % 4 != 0)
        delay_stores (lines, n);
      XpStatus status = call_target (which, me % 2 == 0, &number);
      bool nothing_changed = before % 2 == 0 && READ (target->version) == before;
      bool is_right = status == XP_OK && number % BY_AUTOGRAD > 0
                      && number % BY_AUTOGRAD <= READ (last_number) && number / BY_AUTOGRAD <= 1
                      && (!nothing_changed || number == expected);
      exact += nothing_changed;
      if (!is_right)
        ADD (n_wrong, 1);
    }
  ADD (n_calls, n);
  ADD (n_exact, exact);
  return NULL;
}

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

static double
seconds_to_run (void)
{
  const char *text = g_getenv ("TEST_STRESS_SECONDS");
  return text != NULL ? g_ascii_strtod (text, NULL) : 10;
}

START_TEST (calls_while_the_table_changes)
{
  GThread *threads[N_CALLERS];
  GRand *random = g_rand_new_with_seed (20);
  g_log_set_writer_func (swallow, NULL, NULL);
  rows = fragment_new ("calls");
  tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "numbers(Tensor self, int i, float f, bool b, Scalar s) -> (int, float, bool, "
                "Scalar)");
  define (rows, "others(Tensor self, int i, float f, bool b, Scalar s) -> (int, float, bool, "
                "Scalar)");
  for (unsigned i = 0; i < N_ROWS; i++)
    {
      add_kernel (&targets[i], random);
      targets[i].expected = targets[i].numbers[0];
    }
  for (unsigned i = 0; i < N_CALLERS; i++)
    threads[i] = g_thread_new ("caller", call_until_stopped, GUINT_TO_POINTER (i));
  gint64 end = g_get_monotonic_time () + (gint64) (seconds_to_run () * 1e6);
  while (g_get_monotonic_time () < end && READ (n_wrong) == 0)
    {
      change (&targets[g_rand_int_range (random, 0, N_ROWS)], random);
      if (n_changes % 8 == 0)
        g_usleep (50); /* some calls see no change */
    }
  WRITE (stop, true);
  for (unsigned i = 0; i < N_CALLERS; i++)
    g_thread_join (threads[i]);
  ck_assert_uint_eq (n_wrong, 0);
  ck_assert_uint_gt (n_changes, 100);
  ck_assert_uint_gt (n_calls, 1000);
  ck_assert_uint_gt (n_exact, 100);
  assert_table_is_sound ();
  for (unsigned i = 0; i < N_ROWS; i++)
    {
      while (targets[i].n_kernels > 0)
        release_kernel (&targets[i], 0);
      g_clear_pointer (&targets[i].autograd, xp_library_free);
    }
  xp_library_free (rows);
  for (unsigned i = 0; i < N_GRAVES; i++)
    g_free (graves[i]);
  xp_tensor_unref (tensor);
  g_rand_free (random);
  g_printerr ("%" G_GUINT64_FORMAT " calls, %" G_GUINT64_FORMAT
              " of them beside no change; %" G_GUINT64_FORMAT " changes, %u kernels destroyed\n",
              n_calls, n_exact, n_changes, n_buried);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("stress");
  TCase *tests = tcase_create ("stress");
  tcase_add_test (tests, calls_while_the_table_changes);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60 + 2 * seconds_to_run ());
  return run_suite (suite);
}
