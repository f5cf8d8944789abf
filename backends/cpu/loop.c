/* SPDX-License-Identifier: MIT
 *
 * loop.c: orders and joins the dimensions once, then walks, in several threads where it is far.
 */
#include "loop.h"

#include "cast.h"

#include <string.h>

enum
{
  /* Elements that are converted at a time, and the bytes of the largest. */
  BLOCK = 256,
  MOST_BYTES = 16,
  /* Elements that are worth a thread: PyTorch's at::internal::GRAIN_SIZE. */
  GRAIN = 32768
};

void
cpu_walk_add (CpuWalk *walk, int64_t size, const int64_t *strides)
{
  walk->sizes[walk->n_dims] = size;
  for (unsigned i = 0; i < walk->n_operands; i++)
    walk->strides[i][walk->n_dims] = strides[i];
  walk->n_dims++;
}

/* Whether dimension @a lies within dimension @b, by the first operand that tells. */
static bool
is_inside (const CpuWalk *walk, int a, int b)
{
  for (unsigned i = 0; i < walk->n_operands; i++)
    {
      int64_t stride_a = walk->strides[i][a], stride_b = walk->strides[i][b];
      if (stride_a != 0 && stride_b != 0 && stride_a != stride_b)
        return stride_a < stride_b;
    }
  return false;
}

static void
swap_dimensions (CpuWalk *walk, int a, int b)
{
  int64_t size = walk->sizes[a];
  walk->sizes[a] = walk->sizes[b];
  walk->sizes[b] = size;
  for (unsigned i = 0; i < walk->n_operands; i++)
    {
      int64_t stride = walk->strides[i][a];
      walk->strides[i][a] = walk->strides[i][b];
      walk->strides[i][b] = stride;
    }
}

static bool
follows (const CpuWalk *walk, int inner, int outer)
{
  for (unsigned i = 0; i < walk->n_operands; i++)
    if (walk->strides[i][outer] != walk->strides[i][inner] * walk->sizes[inner])
      return false;
  return true;
}

void
cpu_walk_collapse (CpuWalk *walk)
{
  int n = 0;
  for (int i = 0; i < walk->n_dims; i++)
    {
      if (walk->sizes[i] == 1)
        continue;
      swap_dimensions (walk, n, i);
      for (int at = n; at > 0 && is_inside (walk, at, at - 1); at--)
        swap_dimensions (walk, at, at - 1);
      n++;
    }
  int last = 0;
  for (int i = 1; i < n; i++)
    if (follows (walk, last, i))
      walk->sizes[last] *= walk->sizes[i];
    else
      swap_dimensions (walk, ++last, i);
  walk->n_dims = n == 0 ? 0 : last + 1;
}

bool
cpu_walk_next (const CpuWalk *walk, int from, int64_t *index, char **data)
{
  for (int d = from; d < walk->n_dims; d++)
    {
      index[d]++;
      for (unsigned i = 0; i < walk->n_operands; i++)
        data[i] += walk->strides[i][d];
      if (index[d] < walk->sizes[d])
        return true;
      for (unsigned i = 0; i < walk->n_operands; i++)
        data[i] -= walk->strides[i][d] * walk->sizes[d];
      index[d] = 0;
    }
  return false;
}

/**
 * Conversion:
 * @steps: from operand to run, or back for the one that is written; %NULL where there is none
 * @bytes: size of an element after each step; of the operand itself before the first
 *
 * How an operand is converted: to the dtype asked for, then to the one that is computed in.
 */
typedef struct
{
  unsigned n_steps;
  CpuRun steps[2];
  int64_t bytes[2];
} Conversion;

static void
add_step (Conversion *conversion, bool written, XpDType outer, XpDType inner)
{
  if (outer == inner)
    return;
  conversion->steps[conversion->n_steps] = written ? cpu_cast (inner, outer)
                                                   : cpu_cast (outer, inner);
  conversion->bytes[conversion->n_steps++] = (int64_t) xp_dtype_size (inner);
}

/* Returns whether any operand is converted. */
static bool
plan_conversions (const CpuLoop *loop, Conversion *conversions)
{
  bool converts = false;
  for (unsigned i = 0; i < loop->n_operands; i++)
    {
      XpDType wanted = loop->dtypes[i];
      conversions[i].n_steps = 0;
      add_step (&conversions[i], i == 0, xp_tensor_dtype (loop->tensors[i]), wanted);
      if (loop->widens)
        add_step (&conversions[i], i == 0, wanted, cpu_computed_in (wanted));
      converts |= conversions[i].n_steps > 0;
    }
  return converts;
}

/* Converts a block at a time into memory of its own, runs there, and converts what came out. */
static void
run_converting (const CpuLoop *loop, const Conversion *conversions, char *const *data,
                const int64_t *strides, int64_t count)
{
  char blocks[CPU_MOST_OPERANDS][BLOCK * MOST_BYTES] __attribute__ ((aligned (64)));
  char between[BLOCK * MOST_BYTES] __attribute__ ((aligned (64)));
  for (int64_t done = 0; done < count; done += BLOCK)
    {
      int64_t n = MIN (BLOCK, count - done);
      char *run_data[CPU_MOST_OPERANDS];
      int64_t run_strides[CPU_MOST_OPERANDS];
      for (unsigned i = 0; i < loop->n_operands; i++)
        {
          const Conversion *conversion = &conversions[i];
          run_data[i] = data[i] + done * strides[i];
          run_strides[i] = strides[i];
          for (unsigned step = 0; step < conversion->n_steps; step++)
            {
              bool last = step + 1 == conversion->n_steps;
              char *from = run_data[i];
              int64_t from_stride = run_strides[i];
              run_data[i] = last ? blocks[i] : between;
              run_strides[i] = conversion->bytes[step];
              if (i > 0)
                conversion->steps[step]((char *[]){ run_data[i], from },
                                        (int64_t[]){ run_strides[i], from_stride }, n, NULL);
            }
        }
      loop->run (run_data, run_strides, n, loop->context);
      for (unsigned step = conversions[0].n_steps; step-- > 0;)
        {
          char *to = step > 0 ? between : data[0] + done * strides[0];
          int64_t to_stride = step > 0 ? conversions[0].bytes[step - 1] : strides[0];
          conversions[0].steps[step]((char *[]){ to, run_data[0] },
                                     (int64_t[]){ to_stride, run_strides[0] }, n, NULL);
          run_data[0] = to;
          run_strides[0] = to_stride;
        }
    }
}

/* Most calls are one run: contiguous tensors, or one element for all. */
static bool
is_one_run (const CpuLoop *loop, int64_t *strides)
{
  int64_t numel = loop->tensors[0]->numel;
  for (unsigned i = 0; i < loop->n_operands; i++)
    {
      const XpTensor *tensor = loop->tensors[i];
      if (tensor->numel == 1 && numel != 1)
        strides[i] = 0;
      else if (tensor->numel == numel && xp_tensor_is_contiguous (tensor))
        strides[i] = tensor->dl.dtype.bits / 8 * tensor->dl.dtype.lanes;
      else
        return false;
    }
  return true;
}

static void
plan_walk (const CpuLoop *loop, CpuWalk *walk)
{
  XpShape shape = xp_shape_of (loop->tensors[0]);
  int64_t strides[CPU_MOST_OPERANDS][XP_MAX_DIMENSIONS];
  walk->n_operands = loop->n_operands;
  walk->n_dims = 0;
  for (unsigned i = 0; i < loop->n_operands; i++)
    xp_broadcast_strides (loop->tensors[i], &shape, strides[i]);
  for (int d = shape.n_dims - 1; d >= 0; d--)
    {
      int64_t bytes[CPU_MOST_OPERANDS];
      for (unsigned i = 0; i < loop->n_operands; i++)
        bytes[i] = strides[i][d] * (int64_t) xp_dtype_size (xp_tensor_dtype (loop->tensors[i]));
      cpu_walk_add (walk, shape.sizes[d], bytes);
    }
  cpu_walk_collapse (walk);
}

/* A loop that is ready to run: the runs of the innermost dimension, or one run for all. */
typedef struct
{
  const CpuLoop *loop;
  bool converts;
  Conversion conversions[CPU_MOST_OPERANDS];
  CpuWalk walk;
  char *data[CPU_MOST_OPERANDS];
  int64_t strides[CPU_MOST_OPERANDS];
  int64_t count; /* of a run */
} Plan;

static void
run_at (const Plan *plan, char *const *data, int64_t count)
{
  if (plan->converts)
    run_converting (plan->loop, plan->conversions, data, plan->strides, count);
  else
    plan->loop->run (data, plan->strides, count, plan->loop->context);
}

/* Elements of the only run. */
static void
run_elements (int64_t begin, int64_t end, void *context)
{
  const Plan *plan = context;
  char *data[CPU_MOST_OPERANDS];
  for (unsigned i = 0; i < plan->loop->n_operands; i++)
    data[i] = plan->data[i] + begin * plan->strides[i];
  run_at (plan, data, end - begin);
}

/* Whole runs, counted with the innermost of the outer dimensions first. */
static void
run_runs (int64_t begin, int64_t end, void *context)
{
  const Plan *plan = context;
  const CpuWalk *walk = &plan->walk;
  int64_t index[XP_MAX_DIMENSIONS], rest = begin;
  char *data[CPU_MOST_OPERANDS];
  for (unsigned i = 0; i < walk->n_operands; i++)
    data[i] = plan->data[i];
  for (int d = 1; d < walk->n_dims; d++)
    {
      index[d] = rest % walk->sizes[d];
      rest /= walk->sizes[d];
      for (unsigned i = 0; i < walk->n_operands; i++)
        data[i] += index[d] * walk->strides[i][d];
    }
  for (int64_t at = begin; at < end; at++)
    {
      run_at (plan, data, plan->count);
      cpu_walk_next (walk, 1, index, data);
    }
}

void
cpu_loop (const CpuLoop *loop)
{
  Plan plan;
  int64_t numel = loop->tensors[0]->numel;
  if (numel == 0)
    return;
  plan.loop = loop;
  plan.converts = plan_conversions (loop, plan.conversions);
  for (unsigned i = 0; i < loop->n_operands; i++)
    plan.data[i] = xp_tensor_data (loop->tensors[i]);
  plan.count = numel;
  if (!is_one_run (loop, plan.strides))
    {
      plan_walk (loop, &plan.walk);
      plan.count = plan.walk.n_dims > 0 ? plan.walk.sizes[0] : 1;
      for (unsigned i = 0; i < loop->n_operands; i++)
        plan.strides[i] = plan.walk.n_dims > 0 ? plan.walk.strides[i][0] : 0;
    }
  if (plan.count == numel)
    xp_parallel_for (0, numel, GRAIN, run_elements, &plan);
  else
    xp_parallel_for (0, numel / plan.count, MAX (1, GRAIN / plan.count), run_runs, &plan);
}
