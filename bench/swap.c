/* SPDX-License-Identifier: MIT
 *
 * swap.c: what calls cost while the plugin that they call is swapped for another one and back. A
 * call that fails, or that gives what neither of both gives, ends the benchmark with an error.
 */
#include "bench.h"
#include "figures.h"

enum
{
  N_ROUNDS = 8,
  ROUND_MS = 400,
  QUICK_ROUND_MS = 40,
  MAX_CALLERS = 4,
  N_CALLS_EACH = 256 /* between two looks whether the round is over */
};

/* How long a thread waits from one swap to the next, in ns. */
static const double no_swaps = -1, as_fast_as_it_can = 0, hundred_a_second = 1e7;

enum
{
  DIRECT,
  QUIET_1,
  SWAPPED_1,
  FAST_1,
  QUIET_4,
  SWAPPED_4,
  FAST_4,
  INTERVAL_SWAPPED,
  INTERVAL_FAST,
  N_FIGURES
};

Figure swap_figures[] = {
  [DIRECT] = { "direct", "direct call", 0 },
  [QUIET_1] = { "quiet_1", "typed call, 1 thread", 0 },
  [SWAPPED_1] = { "swapped_1", "the same, 100 swaps a second", 0 },
  [FAST_1] = { "fast_1", "the same, as many swaps as can be", 0 },
  [QUIET_4] = { "quiet_4", "typed call, 4 threads, time for all", 0 },
  [SWAPPED_4] = { "swapped_4", "the same, 100 swaps a second", 0 },
  [FAST_4] = { "fast_4", "the same, as many swaps as can be", 0 },
  [INTERVAL_SWAPPED] = { "interval_swapped", "from swap to swap, 100 a second", 0 },
  [INTERVAL_FAST] = { "interval_fast", "from swap to swap, as many as can be", 0 },
};
const unsigned n_swap_figures = N_FIGURES;

static const struct
{
  unsigned figure, interval_figure;
  unsigned n_callers;
  const double *interval;
} rounds[] = {
  { QUIET_1, 0, 1, &no_swaps },
  { SWAPPED_1, INTERVAL_SWAPPED, 1, &hundred_a_second },
  { FAST_1, INTERVAL_FAST, 1, &as_fast_as_it_can },
  { QUIET_4, 0, MAX_CALLERS, &no_swaps },
  { SWAPPED_4, INTERVAL_SWAPPED, MAX_CALLERS, &hundred_a_second },
  { FAST_4, INTERVAL_FAST, MAX_CALLERS, &as_fast_as_it_can },
};

typedef struct
{
  guint64 n_calls, n_failed, n_invalid;
  GError *error; /* the first */
} Caller;

static int is_over;
static XpPlugin *plugin; /* the one that is called */
static unsigned n_swaps_made;

static void *
call_on (void *data)
{
  Caller *caller = data;
  while (!__atomic_load_n (&is_over, __ATOMIC_ACQUIRE))
    {
      for (unsigned i = 0; i < N_CALLS_EACH; i++)
        {
          GError *error = NULL;
          int64_t number = 0;
          if (G_UNLIKELY (xp_bench_which (&number, &error) != XP_OK))
            {
              if (caller->n_failed++ == 0)
                caller->error = g_steal_pointer (&error);
              g_clear_error (&error);
            }
          else if (G_UNLIKELY (number != 1 && number != 2))
            caller->n_invalid++;
        }
      caller->n_calls += N_CALLS_EACH;
    }
  return NULL;
}

/* Swaps until @end, at most once in each @interval, and waits out the rest. */
static gboolean
swap_until (double end, double interval, unsigned *n_swaps, GError **error)
{
  double next = nanoseconds_now () + MAX (interval, 0);
  *n_swaps = 0;
  for (double now = nanoseconds_now (); now < end; now = nanoseconds_now ())
    {
      if (interval < 0 || now < next)
        {
          g_usleep ((gulong) (((interval < 0 ? end : MIN (next, end)) - now) / 1e3) + 1);
          continue;
        }
      XpPlugin *new_ = xp_plugin_swap (plugin,
                                       n_swaps_made % 2 == 0 ? XP_BENCH_SWAP_2 : XP_BENCH_SWAP_1,
                                       XP_SWAP_STRICT, NULL, error);
      if (new_ == NULL)
        return FALSE;
      plugin = new_;
      n_swaps_made++;
      ++*n_swaps;
      next += interval;
    }
  return TRUE;
}

/* What all threads did; FALSE if a call was not answered rightly. */
static gboolean
add_up (Caller *callers, unsigned n, guint64 *n_calls, GError **error)
{
  guint64 n_failed = 0, n_invalid = 0;
  g_autoptr (GError) first = NULL;
  for (unsigned i = 0; i < n; i++)
    {
      *n_calls += callers[i].n_calls;
      n_failed += callers[i].n_failed;
      n_invalid += callers[i].n_invalid;
      if (first == NULL)
        first = g_steal_pointer (&callers[i].error);
      g_clear_error (&callers[i].error);
    }
  if (n_failed + n_invalid == 0)
    return TRUE;
  g_set_error (error, XP_ERROR, XP_ERROR_INTERNAL,
               "of %" G_GUINT64_FORMAT " calls while plugins were swapped, %" G_GUINT64_FORMAT
               " failed (%s) and %" G_GUINT64_FORMAT " gave what neither plugin gives",
               *n_calls, n_failed, first != NULL ? first->message : "none", n_invalid);
  return FALSE;
}

static gboolean
run_round (unsigned i, GError **error)
{
  Caller callers[MAX_CALLERS] = { 0 };
  GThread *threads[MAX_CALLERS];
  const double interval = *rounds[i].interval;
  unsigned n_swaps;
  guint64 n_calls = 0;
  __atomic_store_n (&is_over, 0, __ATOMIC_RELEASE);
  double begin = nanoseconds_now ();
  for (unsigned j = 0; j < rounds[i].n_callers; j++)
    threads[j] = g_thread_new ("caller", call_on, &callers[j]);
  gboolean swapped = swap_until (begin + times (ROUND_MS, QUICK_ROUND_MS) * 1e6, interval, &n_swaps,
                                 error);
  __atomic_store_n (&is_over, 1, __ATOMIC_RELEASE);
  for (unsigned j = 0; j < rounds[i].n_callers; j++)
    g_thread_join (threads[j]);
  double ns = nanoseconds_now () - begin;
  gboolean answered = add_up (callers, rounds[i].n_callers, &n_calls, swapped ? error : NULL);
  if (!swapped || !answered)
    return FALSE;
  if (n_calls > 0)
    figure_take (&swap_figures[rounds[i].figure], ns / (double) n_calls);
  if (n_swaps > 0)
    figure_take (&swap_figures[rounds[i].interval_figure], ns / n_swaps);
  return TRUE;
}

gboolean
swap_measure (GError **error)
{
  if (xp_plugin_load (XP_BENCH_KERNELS, error) == NULL)
    return FALSE;
  plugin = xp_plugin_load (XP_BENCH_SWAP_1, error);
  if (plugin == NULL)
    return FALSE;
  unpin_from_processor ();
  for (unsigned round = 0; round < times (N_ROUNDS, 1); round++)
    {
      figure_take (&swap_figures[DIRECT], direct_round (times (200000, 1000)));
      for (unsigned i = 0; i < XP_LENGTH (rounds); i++)
        if (!run_round (i, error))
          return FALSE;
    }
  return TRUE;
}
