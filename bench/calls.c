/* SPDX-License-Identifier: MIT
 *
 * calls.c: what a call costs. Caller, core and kernels are three files, as they are in use. Each
 * figure is the fastest of many rounds; the first, a direct call through a pointer, is the floor of
 * this machine in this hour.
 *
 *   calls PLUGIN
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum
{
  CALLS = 200000,
  ROUNDS = 60
};

static XpTensor *a, *b;
static XpOperator *nop2, *boxed;
static volatile int64_t sink;

typedef void (*Work) (void);

static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec * 1e9 + (double) time.tv_nsec;
}

static __attribute__ ((noinline)) void
direct_target (XpTensor *x, G_GNUC_UNUSED XpTensor *y, G_GNUC_UNUSED double s)
{
  sink = (int64_t) (intptr_t) x;
}

static void (*volatile direct_pointer) (XpTensor *, XpTensor *, double) = direct_target;

/* A loop around @body, so that the loop itself is not a call. */
#define WORK(name, body)                                                                           \
  static void name (void)                                                                          \
  {                                                                                                \
    for (unsigned i = 0; i < CALLS; i++)                                                           \
      {                                                                                            \
        body;                                                                                      \
      }                                                                                            \
  }

static inline void
call_id1 (void)
{
  XpTensor *result;
  xp_bench_id1 (a, &result, NULL);
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
call_boxed (XpOperator *op)
{
  XpValue arguments[] = { xp_value_tensor (a), xp_value_tensor (b), xp_value_float (1.0) };
  xp_operator_call (op, arguments, NULL, NULL);
}

static inline void
call_guard (void)
{
  XP_BELOW_AD_INPLACE_OR_VIEW ();
  __asm__ volatile("" ::: "memory");
}

WORK (direct, direct_pointer (a, b, 1.0))
WORK (typed, xp_bench_nop2 (a, b, 1.0, NULL))
WORK (typed_result, call_id1 ())
WORK (typed_number, call_num0 ())
WORK (redispatch, xp_bench_nop2_redispatch (xp_key_set (XP_KEY_CPU), a, b, 1.0, NULL))
WORK (boxed_to_boxed, call_boxed (boxed))
WORK (boxed_to_typed, call_boxed (nop2))
WORK (guard, call_guard ())
WORK (find, sink = (int64_t) (intptr_t) xp_operator_find ("bench::nop2"))

static const struct
{
  const char *name;
  Work work;
} works[] = {
  { "direct call", direct },
  { "typed call, two tensors and a double", typed },
  { "typed call, a tensor returned", typed_result },
  { "typed call without tensors", typed_number },
  { "typed redispatch to a key", redispatch },
  { "boxed call of a boxed kernel", boxed_to_boxed },
  { "boxed call of a typed kernel", boxed_to_typed },
  { "guard, enter and leave", guard },
  { "operator by name", find },
};

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (argc != 2 || xp_plugin_load (argv[1], &error) == NULL)
    {
      fprintf (stderr, "calls: %s\n", error != NULL ? error->message : "usage: calls PLUGIN");
      return EXIT_FAILURE;
    }
  a = xp_tensor_new (XP_FLOAT32, XP_INTS (2, 2), XP_CPU, &error);
  b = xp_tensor_new (XP_FLOAT32, XP_INTS (2, 2), XP_CPU, &error);
  nop2 = xp_operator_get ("bench::nop2", &error);
  boxed = xp_operator_get ("bench::boxed", &error);
  if (error != NULL)
    {
      fprintf (stderr, "calls: %s\n", error->message);
      return EXIT_FAILURE;
    }
  double best[XP_LENGTH (works)];
  for (unsigned round = 0; round < ROUNDS; round++)
    for (unsigned i = 0; i < XP_LENGTH (works); i++)
      {
        double begin = now ();
        works[i].work ();
        double each = (now () - begin) / CALLS;
        best[i] = round == 0 ? each : MIN (best[i], each);
      }
  for (unsigned i = 0; i < XP_LENGTH (works); i++)
    printf ("%-40s %6.2f ns\n", works[i].name, best[i]);
  xp_tensor_unref (a);
  xp_tensor_unref (b);
  return EXIT_SUCCESS;
}
