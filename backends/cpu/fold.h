/* SPDX-License-Identifier: MIT
 *
 * fold.h: walks over a tensor whose dimensions are partly reduced, in the order that is best for
 * the memory: along the elements of one result, or across many results at once.
 */
#pragma once

#include "cast.h"

enum
{
  /* Results that are worked on at once, and elements that are converted at once. */
  CPU_FOLD_TILE = 256,
  CPU_FOLD_MOST_RESULTS = 2
};

/**
 * CpuFold:
 * @self: the tensor that is reduced
 * @reduced: a bit for each dimension that goes
 * @in_order: whether the elements of one result must come in row-major order
 * @n_results: how many results there are
 * @results: the results, contiguous
 * @state: what is kept of up to %CPU_FOLD_TILE results
 * @begin: begins @n results
 * @along: takes @count elements for the first result
 * @across: takes one element for each of @n results
 * @finish: writes @n results; @strides are those of @data in bytes
 *
 * A reduction.
 */
typedef struct
{
  const XpTensor *self;
  uint64_t reduced;
  bool in_order;
  unsigned n_results;
  XpTensor *results[CPU_FOLD_MOST_RESULTS];
  void *state;
  void (*begin) (void *state, int64_t n);
  void (*along) (void *state, const char *data, int64_t stride, int64_t count);
  void (*across) (void *state, const char *data, int64_t stride, int64_t n);
  void (*finish) (void *state, char *const *data, const int64_t *strides, int64_t n);
} CpuFold;

void cpu_fold (const CpuFold *fold);
