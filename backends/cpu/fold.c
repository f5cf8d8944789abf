/* SPDX-License-Identifier: MIT
 *
 * fold.c: the walk of a reduction. Operand 0 of both walks is the tensor that is reduced.
 */
#include "fold.h"

static void
plan (const CpuFold *fold, CpuWalk *kept, CpuWalk *reduced)
{
  const XpTensor *self = fold->self;
  int64_t strides[1 + CPU_FOLD_MOST_RESULTS];
  for (unsigned i = 0; i < fold->n_results; i++)
    strides[1 + i] = (int64_t) xp_dtype_size (xp_tensor_dtype (fold->results[i]));
  kept->n_operands = 1 + fold->n_results;
  reduced->n_operands = 1;
  kept->n_dims = reduced->n_dims = 0;
  for (int d = self->dl.ndim - 1; d >= 0; d--)
    {
      strides[0] = self->dl.strides[d] * (int64_t) xp_dtype_size (xp_tensor_dtype (self));
      if (fold->reduced >> d & 1)
        {
          cpu_walk_add (reduced, self->dl.shape[d], strides);
          continue;
        }
      cpu_walk_add (kept, self->dl.shape[d], strides);
      for (unsigned i = 0; i < fold->n_results; i++)
        strides[1 + i] *= self->dl.shape[d];
    }
  cpu_walk_collapse (kept);
  if (!fold->in_order || xp_tensor_is_contiguous (self))
    cpu_walk_collapse (reduced);
}

/* Many results, each element of the reduced dimensions going to all of them. */
static void
fold_across (const CpuFold *fold, const CpuWalk *kept, const CpuWalk *reduced, char *const *data)
{
  int64_t strides[1 + CPU_FOLD_MOST_RESULTS];
  for (unsigned i = 0; i <= fold->n_results; i++)
    strides[i] = kept->strides[i][0];
  for (int64_t start = 0; start < kept->sizes[0]; start += CPU_FOLD_TILE)
    {
      int64_t index[XP_MAX_DIMENSIONS] = { 0 };
      int64_t n = MIN (CPU_FOLD_TILE, kept->sizes[0] - start);
      char *from = data[0] + start * strides[0];
      char *to[CPU_FOLD_MOST_RESULTS];
      for (unsigned i = 0; i < fold->n_results; i++)
        to[i] = data[1 + i] + start * strides[1 + i];
      fold->begin (fold->state, n);
      if (fold->self->numel > 0)
        do
          fold->across (fold->state, from, strides[0], n);
        while (cpu_walk_next (reduced, 0, index, &from));
      fold->finish (fold->state, to, strides + 1, n);
    }
}

/* One result. */
static void
fold_along (const CpuFold *fold, const CpuWalk *reduced, char *const *data)
{
  int64_t index[XP_MAX_DIMENSIONS] = { 0 };
  int64_t count = reduced->n_dims > 0 ? reduced->sizes[0] : 1;
  int64_t stride = reduced->n_dims > 0 ? reduced->strides[0][0] : 0;
  char *from = data[0];
  fold->begin (fold->state, 1);
  if (fold->self->numel > 0)
    do
      fold->along (fold->state, from, stride, count);
    while (cpu_walk_next (reduced, 1, index, &from));
  fold->finish (fold->state, data + 1, (int64_t[CPU_FOLD_MOST_RESULTS]){ 0 }, 1);
}

void
cpu_fold (const CpuFold *fold)
{
  CpuWalk kept, reduced;
  int64_t index[XP_MAX_DIMENSIONS] = { 0 };
  char *data[1 + CPU_FOLD_MOST_RESULTS];
  if (fold->results[0]->numel == 0)
    return;
  plan (fold, &kept, &reduced);
  data[0] = xp_tensor_data (fold->self);
  for (unsigned i = 0; i < fold->n_results; i++)
    data[1 + i] = xp_tensor_data (fold->results[i]);
  bool across = kept.n_dims > 0
                && (reduced.n_dims == 0 || kept.strides[0][0] < reduced.strides[0][0]);
  do
    if (across)
      fold_across (fold, &kept, &reduced, data);
    else
      fold_along (fold, &reduced, data);
  while (cpu_walk_next (&kept, across ? 1 : 0, index, data));
}
