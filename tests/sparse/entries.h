/* SPDX-License-Identifier: MIT
 *
 * entries.h: what the suites of the sparse plugin share.
 */
#pragma once

#include "composite/operators.h"

#include <math.h>

static inline XpTensor *
to_sparse (XpTensor *dense)
{
  XpTensor *sparse = NULL;
  OK (xp_aten_to_sparse (dense, &sparse, &error));
  ck_assert_int_eq (sparse->layout, XP_SPARSE_COO);
  return sparse;
}

/* A sparse matrix of two rows and three columns. */
static inline XpTensor *
matrix_of (XpDType dtype, const double *numbers)
{
  g_autoptr (XpTensor) dense = tensor_of (dtype, XP_INTS (2, 3), numbers);
  return to_sparse (dense);
}

/* [[1, 5, 4], [0, 0, 0]] in five entries that are not sorted: two at (0, 2), and one that is 0. */
static inline XpTensor *
unsorted (void)
{
  g_autoptr (XpTensor) dense = tensor_of (XP_FLOAT32, XP_INTS (3, 2), NUMBERS (1, 0, 0, 3, 2, 0));
  g_autoptr (XpTensor) sparse = to_sparse (dense);
  g_autoptr (XpTensor) other = matrix_of (XP_FLOAT32, NUMBERS (0, 5, 2, 0, -3, 0));
  g_autoptr (XpTensor) turned = NULL;
  XpTensor *sum = NULL;
  OK (xp_aten_transpose_int (sparse, 0, 1, &turned, &error));
  OK (xp_aten_add_Tensor (turned, other, xp_value_int (1), &sum, &error));
  return sum;
}

/* The number after `nnz=`. */
static inline int64_t
entries (const XpTensor *sparse)
{
  g_autofree char *text = xp_tensor_to_string (sparse);
  const char *number = strstr (text, "nnz=");
  ck_assert_ptr_nonnull (number);
  return g_ascii_strtoll (number + strlen ("nnz="), NULL, 10);
}

static inline void
assert_dense (XpTensor *sparse, const char *expected)
{
  g_autoptr (XpTensor) dense = NULL;
  ck_assert_int_eq (sparse->layout, XP_SPARSE_COO);
  OK (xp_aten_to_dense (sparse, NULL, &dense, &error));
  assert_tensor (dense, expected);
}
