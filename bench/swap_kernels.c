/* SPDX-License-Identifier: MIT
 *
 * swap_kernels.c: a plugin of the benchmark of swaps, built twice: NAME is its name, NUMBER what
 * its kernel gives.
 */
#include "bench.h"

XP_PLUGIN (NAME, "0.1.0", "A kernel that says which it is, to be swapped", "MIT")

static XpStatus
which (G_GNUC_UNUSED XpCall *call, int64_t *result, G_GNUC_UNUSED GError **error)
{
  *result = NUMBER;
  return XP_OK;
}

XP_LIBRARY_IMPL (bench, CompositeExplicitAutograd, m)
{
  xp_impl_bench_which (m, which);
}
