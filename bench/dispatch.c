/* SPDX-License-Identifier: MIT
 *
 * dispatch.c: what a call costs. Caller, core and kernels are three files, as they are in use.
 */
#include "bench.h"
#include "figures.h"

#include <pthread.h>
#include <string.h>

enum
{
  N_CALLS = 200000,
  N_ROUNDS = 60,
  N_PASSED_KEYS = 30,
  N_ROW_ROUNDS = 6,
  N_THREAD_ROUNDS = 300
};

static XpTensor *a, *b;
static XpOperator *nop2, *boxed;
static volatile int64_t sink;

static unsigned n_calls;

/* Calls until n_calls are made. The callers are inline, as PyTorch's are. */
#define WORK(name, body)                                                                           \
  static __attribute__ ((flatten)) void name (G_GNUC_UNUSED XpTensor *x,                           \
                                              G_GNUC_UNUSED XpTensor *y)                           \
  {                                                                                                \
    for (unsigned i = 0, n = n_calls; i < n; i++)                                                  \
      {                                                                                            \
        body;                                                                                      \
      }                                                                                            \
  }

static inline void
call_id1 (XpTensor *x)
{
  XpTensor *result;
  xp_bench_id1 (x, &result, NULL);
  xp_tensor_unref (result);
}

static inline void
call_num0 (void)
{
  int64_t result;
  xp_bench_num0 (3, &result, NULL);
  sink = result;
}

static inline void
call_boxed (XpOperator *op, XpTensor *x, XpTensor *y)
{
  XpValue arguments[] = { xp_value_tensor (x), xp_value_tensor (y), xp_value_float (1.0) };
  xp_operator_call (op, arguments, NULL, NULL);
}

static inline void
call_guard (void)
{
  XP_BELOW_AD_INPLACE_OR_VIEW ();
  __asm__ volatile("" ::: "memory");
}

WORK (typed, xp_bench_nop2 (x, y, 1.0, NULL))
WORK (typed_9, xp_bench_nop9 (x, y, NULL, 1, 2, 1.0, 2.0, true, false, NULL))
WORK (typed_result, call_id1 (x))
WORK (typed_number, call_num0 ())
WORK (redispatch, xp_bench_nop2_redispatch (xp_key_set (XP_KEY_CPU), x, y, 1.0, NULL))
WORK (boxed_to_boxed, call_boxed (boxed, x, y))
WORK (boxed_to_typed, call_boxed (nop2, x, y))
WORK (guard, call_guard ())
WORK (find, sink = (int64_t) (intptr_t) xp_operator_find ("bench::nop2"))
WORK (find_unknown, sink = (int64_t) (intptr_t) xp_operator_find ("bench::absent"))
WORK (passed, xp_bench_passed (x, y, 1.0, NULL))
WORK (apart, xp_bench_apart (x, y, 1.0, NULL))

enum
{
  DIRECT,
  TYPED = 1,
  PASSED_0 = 11,
  PASSED_30,
  ROWS_100,
  ROWS_10000,
  THREADS_1,
  THREADS_2,
  N_FIGURES
};

Figure dispatch_figures[] = {
  { "direct", "direct call", 0 },
  { "typed", "typed call, two tensors and a double", 0 },
  { "typed_9", "typed call, nine arguments", 0 },
  { "typed_result", "typed call, a tensor returned", 0 },
  { "typed_number", "typed call without tensors", 0 },
  { "redispatch", "typed redispatch to a key", 0 },
  { "boxed", "boxed call of a boxed kernel", 0 },
  { "boxed_typed", "boxed call of a typed kernel", 0 },
  { "guard", "guard, enter and leave", 0 },
  { "find", "operator by name", 0 },
  { "find_unknown", "operator by a name that is not there", 0 },
  { "passed_0", "typed call, no key above passed over", 0 },
  { "passed_30", "typed call, 30 keys above passed over", 0 },
  { "rows_100", "typed call, with 100 rows more", 0 },
  { "rows_10000", "typed call, with 10,000 rows more", 0 },
  { "threads_1", "typed call on one thread", 0 },
  { "threads_2", "typed call on two threads, time for both", 0 },
};
const unsigned n_dispatch_figures = N_FIGURES;

static void (*const works[]) (XpTensor *x, XpTensor *y) = {
  NULL,           typed,          typed_9, typed_result, typed_number, redispatch,
  boxed_to_boxed, boxed_to_typed, guard,   find,         find_unknown
};

static void
take (unsigned figure, void (*work) (XpTensor *x, XpTensor *y))
{
  double begin = nanoseconds_now ();
  work (a, b);
  figure_take (&dispatch_figures[figure], (nanoseconds_now () - begin) / n_calls);
}

/* --- Keys that are passed over. --- */

/* Passes bench::passed over at thirty keys above Dense, and gives their set. */
static gboolean
pass_keys_over (GPtrArray *libraries, XpKeySet *set, GError **error)
{
  const XpImplementation pass = { .size = sizeof pass,
                                  .name = "passed",
                                  .boxed = xp_fallthrough,
                                  .line = __LINE__,
                                  .file = __FILE__ };
  *set = (XpKeySet){ 0, 0 };
  for (unsigned f = XP_FUNCTIONALITY_Dense + 1; libraries->len < N_PASSED_KEYS; f++)
    {
      XpKey key = xp_key_of ((XpFunctionality) f, 0);
      if (xp_functionality_is_per_backend ((XpFunctionality) f) || xp_key_name (key) == NULL)
        continue;
      XpLibrary *library = xp_library_new (XP_LIBRARY_KIND_IMPL, "bench", xp_key_name (key),
                                           __FILE__, __LINE__, error);
      if (library == NULL)
        return FALSE;
      g_ptr_array_add (libraries, library);
      if (!xp_library_impl (library, &pass, error))
        return FALSE;
      *set = xp_key_set_add (*set, key);
    }
  return TRUE;
}

static void
take_passed (unsigned figure, XpKeySet included)
{
  XP_INCLUDE_KEYS (included);
  take (figure, passed);
}

/* --- Rows. --- */

static gboolean
measure_rows (unsigned figure, unsigned n_rows, GError **error)
{
  g_autoptr (XpLibrary) library = xp_library_new (XP_LIBRARY_KIND_FRAGMENT, "rows", NULL, __FILE__,
                                                  __LINE__, error);
  for (unsigned i = 0; library != NULL && i < n_rows; i++)
    {
      g_autofree char *schema = g_strdup_printf ("row%u(Tensor a, Tensor b, float s) -> ()", i);
      xp_def (library, schema);
    }
  for (unsigned round = 0; library != NULL && round < times (N_ROUNDS / N_ROW_ROUNDS, 1); round++)
    take (figure, typed);
  return library != NULL;
}

/* --- Two threads. --- */

typedef struct
{
  unsigned processor;
  double ns;
} Caller;

/* Threads that have begun, and rounds that may run. */
static unsigned n_waiting, round_now;

static void *
call_in_step (void *data)
{
  Caller *caller = data;
  pin_to_processor (caller->processor);
  for (unsigned round = 1; round <= times (N_THREAD_ROUNDS, 1); round++)
    {
      __atomic_add_fetch (&n_waiting, 1, __ATOMIC_ACQ_REL);
      while (__atomic_load_n (&round_now, __ATOMIC_ACQUIRE) < round)
        ;
      double begin = nanoseconds_now ();
      apart (a, b);
      caller->ns = (nanoseconds_now () - begin) / n_calls;
    }
  __atomic_add_fetch (&n_waiting, 1, __ATOMIC_ACQ_REL);
  return NULL;
}

/* The slower of both is what a round took; each has made as many calls as one alone. */
static void
measure_threads (unsigned figure, unsigned n)
{
  Caller callers[2] = { { 0, 0 }, { 1, 0 } };
  pthread_t threads[2];
  n_waiting = round_now = 0;
  for (unsigned i = 1; i < n; i++)
    pthread_create (&threads[i], NULL, call_in_step, &callers[i]);
  for (unsigned round = 1; round <= times (N_THREAD_ROUNDS, 1); round++)
    {
      while (__atomic_load_n (&n_waiting, __ATOMIC_ACQUIRE) < round * (n - 1))
        ;
      __atomic_store_n (&round_now, round, __ATOMIC_RELEASE);
      double begin = nanoseconds_now ();
      apart (a, b);
      callers[0].ns = (nanoseconds_now () - begin) / n_calls;
      while (__atomic_load_n (&n_waiting, __ATOMIC_ACQUIRE) < (round + 1) * (n - 1))
        ;
      figure_take (&dispatch_figures[figure], MAX (callers[0].ns, callers[1].ns));
    }
  for (unsigned i = 1; i < n; i++)
    pthread_join (threads[i], NULL);
}

/* --- All of it. --- */

static gboolean
measure (GPtrArray *libraries, GError **error)
{
  XpKeySet passed_keys;
  if (!pass_keys_over (libraries, &passed_keys, error))
    return FALSE;
  for (unsigned round = 0; round < times (N_ROUNDS, 1); round++)
    {
      figure_take (&dispatch_figures[DIRECT], direct_round (n_calls));
      for (unsigned i = TYPED; i < XP_LENGTH (works); i++)
        take (i, works[i]);
      take_passed (PASSED_0, (XpKeySet){ 0, 0 });
      take_passed (PASSED_30, passed_keys);
    }
  for (unsigned round = 0; round < times (N_ROW_ROUNDS, 1); round++)
    if (!measure_rows (ROWS_100, 100, error) || !measure_rows (ROWS_10000, 10000, error))
      return FALSE;
  /* With one processor there is nothing to compare. */
  if (pin_to_processor (1) && pin_to_processor (0))
    {
      measure_threads (THREADS_1, 1);
      measure_threads (THREADS_2, 2);
    }
  return TRUE;
}

gboolean
dispatch_measure (GError **error)
{
  n_calls = times (N_CALLS, 1000);
  if (xp_plugin_load (XP_BENCH_KERNELS, error) == NULL)
    return FALSE;
  nop2 = xp_operator_get ("bench::nop2", error);
  boxed = nop2 != NULL ? xp_operator_get ("bench::boxed", error) : NULL;
  a = boxed != NULL ? xp_tensor_new (XP_FLOAT32, XP_INTS (2, 2), XP_CPU, error) : NULL;
  b = a != NULL ? xp_tensor_new (XP_FLOAT32, XP_INTS (2, 2), XP_CPU, error) : NULL;
  g_autoptr (GPtrArray) libraries = g_ptr_array_new_with_free_func (
      (GDestroyNotify) xp_library_free);
  gboolean done = b != NULL && measure (libraries, error);
  g_clear_pointer (&a, xp_tensor_unref);
  g_clear_pointer (&b, xp_tensor_unref);
  return done;
}
