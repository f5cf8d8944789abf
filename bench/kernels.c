/* SPDX-License-Identifier: MIT
 *
 * kernels.c: the plugin of the benchmarks: kernels that do next to nothing.
 */
#include "bench.h"

XP_PLUGIN ("bench_kernels", "0.1.0", "Kernels that do nothing, to measure calls", "MIT")

static volatile int64_t sink;

static XpStatus
nop2 (G_GNUC_UNUSED XpCall *call, XpTensor *a, G_GNUC_UNUSED XpTensor *b, G_GNUC_UNUSED double s,
      G_GNUC_UNUSED GError **error)
{
  sink = (int64_t) (intptr_t) a;
  return XP_OK;
}

static XpStatus
nop9 (G_GNUC_UNUSED XpCall *call, XpTensor *a, G_GNUC_UNUSED XpTensor *b, G_GNUC_UNUSED XpTensor *c,
      G_GNUC_UNUSED int64_t i, G_GNUC_UNUSED int64_t j, G_GNUC_UNUSED double s,
      G_GNUC_UNUSED double t, G_GNUC_UNUSED bool u, G_GNUC_UNUSED bool v,
      G_GNUC_UNUSED GError **error)
{
  sink = (int64_t) (intptr_t) a;
  return XP_OK;
}

static XpStatus
apart (G_GNUC_UNUSED XpCall *call, XpTensor *a, G_GNUC_UNUSED XpTensor *b, G_GNUC_UNUSED double s,
       G_GNUC_UNUSED GError **error)
{
  __asm__ volatile("" : : "r"(a));
  return XP_OK;
}

static XpStatus
id1 (G_GNUC_UNUSED XpCall *call, XpTensor *a, XpTensor **result, G_GNUC_UNUSED GError **error)
{
  *result = xp_tensor_ref (a);
  return XP_OK;
}

static XpStatus
num0 (G_GNUC_UNUSED XpCall *call, int64_t x, int64_t *result, G_GNUC_UNUSED GError **error)
{
  *result = x + 1;
  return XP_OK;
}

static XpStatus
boxed_nop2 (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
            G_GNUC_UNUSED GError **error)
{
  sink = (int64_t) (intptr_t) arguments[0].as.tensor;
  return XP_OK;
}

XP_LIBRARY_IMPL (bench, CPU, m)
{
  xp_impl_bench_nop2 (m, nop2);
  xp_impl_bench_nop9 (m, nop9);
  xp_impl_bench_passed (m, nop2);
  xp_impl_bench_apart (m, apart);
  xp_impl_bench_id1 (m, id1);
  xp_impl (m, "boxed", boxed_nop2);
}

XP_LIBRARY_IMPL (bench, CompositeExplicitAutograd, m)
{
  xp_impl_bench_num0 (m, num0);
}
