/* SPDX-License-Identifier: MIT
 *
 * loop.h: walks over all elements of tensors that broadcast to one shape, and gives kernels runs of
 * elements to work on, in the dtypes they know.
 */
#pragma once

#include "prepare.h"

enum
{
  CPU_MOST_OPERANDS = 3
};

/**
 * CpuRun:
 * @data: for each operand its first element; operand 0 is written
 * @strides: for each operand the bytes from one element to the next
 * @count: how many elements
 * @context: that of the loop
 *
 * The inside of a loop. Operand 0 may be one of the others, element by element, but does not
 * overlap them in another way.
 */
typedef void (*CpuRun) (char *const *data, const int64_t *strides, int64_t count,
                        const void *context);

/**
 * CpuLoop:
 * @run: what to do
 * @context: passed to @run
 * @n_operands: how many tensors
 * @tensors: the tensors; the first is written, and all others broadcast to its shape
 * @dtypes: what each of them is converted to, on the way to @run or from it
 * @widens: whether @run works in what cpu_computed_in() gives for that; 16-bit floating point is
 *   then rounded where PyTorch rounds it
 */
typedef struct
{
  CpuRun run;
  const void *context;
  unsigned n_operands;
  const XpTensor *tensors[CPU_MOST_OPERANDS];
  XpDType dtypes[CPU_MOST_OPERANDS];
  bool widens;
} CpuLoop;

/* 16-bit floating point is computed in 32 bits. */
static inline XpDType
cpu_computed_in (XpDType dtype)
{
  return dtype == XP_FLOAT16 || dtype == XP_BFLOAT16 ? XP_FLOAT32 : dtype;
}

void cpu_loop (const CpuLoop *loop);

/**
 * CpuWalk:
 * @n_operands: how many operands
 * @n_dims: number of dimensions
 * @sizes: of each dimension, innermost first
 * @strides: of each operand in bytes, innermost first
 *
 * A shape to walk over, with where each operand goes. cpu_walk_collapse() makes it as short as it
 * gets: dimensions of one element go, the others are ordered as they lie in memory, and those that
 * follow on each other become one.
 */
typedef struct
{
  unsigned n_operands;
  int n_dims;
  int64_t sizes[XP_MAX_DIMENSIONS];
  int64_t strides[CPU_MOST_OPERANDS][XP_MAX_DIMENSIONS];
} CpuWalk;

/* Adds a dimension outside of those there are; @strides has one for each operand. */
void cpu_walk_add (CpuWalk *walk, int64_t size, const int64_t *strides);

void cpu_walk_collapse (CpuWalk *walk);

/**
 * cpu_walk_next:
 * @walk: a walk
 * @from: the first dimension that is stepped over, those inside of it being the caller's
 * @index: (inout): the position, all 0 at first
 * @data: (inout): where each operand is
 *
 * Steps on.
 *
 * Returns: whether there was a next position
 */
bool cpu_walk_next (const CpuWalk *walk, int from, int64_t *index, char **data);
