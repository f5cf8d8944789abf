/* SPDX-License-Identifier: MIT
 *
 * measure.c: how much is measured, clocks, processors, and the floor: a call through a function
 * pointer.
 */
#include "figures.h"

#include <sched.h>
#include <time.h>

gboolean is_quick;

static double
nanoseconds_of (clockid_t clock)
{
  struct timespec time;
  clock_gettime (clock, &time);
  return (double) time.tv_sec * 1e9 + (double) time.tv_nsec;
}

double
nanoseconds_now (void)
{
  return nanoseconds_of (CLOCK_MONOTONIC);
}

double
nanoseconds_used (void)
{
  return nanoseconds_of (CLOCK_THREAD_CPUTIME_ID);
}

static cpu_set_t allowed;
static gboolean is_known;

gboolean
pin_to_processor (unsigned nth)
{
  if (!is_known)
    is_known = sched_getaffinity (0, sizeof allowed, &allowed) == 0;
  for (unsigned processor = 0; is_known && processor < CPU_SETSIZE; processor++)
    {
      if (!CPU_ISSET (processor, &allowed) || nth-- > 0)
        continue;
      cpu_set_t one;
      CPU_ZERO (&one);
      CPU_SET (processor, &one);
      return sched_setaffinity (0, sizeof one, &one) == 0;
    }
  return FALSE;
}

void
unpin_from_processor (void)
{
  if (is_known)
    sched_setaffinity (0, sizeof allowed, &allowed);
}

static volatile int64_t sink;

static __attribute__ ((noinline)) void
direct_target (void *x, G_GNUC_UNUSED void *y, G_GNUC_UNUSED double s)
{
  sink = (int64_t) (intptr_t) x;
}

static void (*volatile direct_pointer) (void *, void *, double) = direct_target;
static char benchmarks_argument[1];

double
direct_round (unsigned n_calls)
{
  double begin = nanoseconds_now ();
  for (unsigned i = 0; i < n_calls; i++)
    direct_pointer (benchmarks_argument, NULL, 1.0);
  return (nanoseconds_now () - begin) / n_calls;
}
