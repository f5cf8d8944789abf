/* SPDX-License-Identifier: MIT
 *
 * threads.c: long loops give the same whatever the number of threads, and however their operands
 * lie.
 */
#include "composite/operators.h"

enum
{
  LONGEST = 400 * 3 * 317
};

/* Numbers that repeat nowhere near, in @shape and @strides. */
static XpTensor *
numbers (XpDType dtype, XpInts shape, XpInts strides)
{
  XpTensor *tensor = xp_tensor_new_strided (dtype, shape, strides, XP_CPU, &error);
  assert_no_error (error);
  uint32_t next = 1;
  for (int64_t i = 0; i < tensor->numel; i++)
    xp_tensor_set_element (tensor, i, xp_value_int ((next = next * 1664525 + 1013904223) >> 20));
  return tensor;
}

static XpTensor *
computed (XpTensor *a, XpTensor *b, unsigned n_threads)
{
  g_autoptr (XpTensor) sum = NULL;
  XpTensor *result = NULL;
  xp_set_num_threads (n_threads);
  OK (xp_aten_add_Tensor (a, b, xp_value_int (3), &sum, &error));
  OK (xp_aten_neg (sum, &result, &error));
  xp_set_num_threads (0);
  return result;
}

static void
assert_same_with_threads (XpTensor *a, XpTensor *b)
{
  g_autoptr (XpTensor) expected = computed (a, b, 1);
  for (unsigned n = 2; n <= 7; n += 5)
    {
      g_autoptr (XpTensor) found = computed (a, b, n);
      assert_ints (xp_tensor_shape (found), xp_tensor_shape (expected));
      assert_ints (xp_tensor_strides (found), xp_tensor_strides (expected));
      size_t n_bytes = (size_t) found->numel * xp_dtype_size (xp_tensor_dtype (found));
      ck_assert (xp_tensor_is_contiguous (found));
      ck_assert (memcmp (xp_tensor_data (found), xp_tensor_data (expected), n_bytes) == 0);
    }
}

static void
assert_same (XpDType dtype, XpInts shape, XpInts strides, XpDType other_dtype, XpInts other_shape,
             XpInts other_strides)
{
  g_autoptr (XpTensor) a = numbers (dtype, shape, strides);
  g_autoptr (XpTensor) b = numbers (other_dtype, other_shape, other_strides);
  assert_same_with_threads (a, b);
}

START_TEST (whatever_the_number_of_threads)
{
  const XpInts row = XP_INTS (LONGEST), dense = XP_INTS (1), box = XP_INTS (400, 3, 317);
  const XpInts in_order = XP_INTS (951, 317, 1), spread = XP_INTS (2000, 600, 1);
  assert_same (XP_FLOAT32, row, dense, XP_FLOAT32, row, dense);
  assert_same (XP_INT16, row, dense, XP_FLOAT32, row, dense);
  assert_same (XP_FLOAT32, row, XP_INTS (3), XP_BFLOAT16, row, dense);
  assert_same (XP_FLOAT32, box, in_order, XP_INT64, box, spread);
  assert_same (XP_FLOAT64, box, spread, XP_FLOAT64, XP_INTS (3, 1), XP_INTS (1, 1));
  assert_same (XP_UINT8, box, spread, XP_UINT8, XP_INTS (317), XP_INTS (2));
  assert_same (XP_FLOAT32, XP_INTS (2, 70001), XP_INTS (80000, 1), XP_FLOAT32, XP_INTS (2, 1),
               XP_INTS (1, 1));
  assert_same (XP_FLOAT32, XP_INTS (70001, 2), XP_INTS (5, 1), XP_FLOAT32, XP_INTS (2),
               XP_INTS (1));
}
END_TEST

static unsigned n_runs;

static void
run_alone (G_GNUC_UNUSED unsigned n_threads, XpParallelWork work, void *loop,
           G_GNUC_UNUSED void *data)
{
  n_runs++;
  work (loop);
}

START_TEST (in_threads_of_the_program)
{
  g_autoptr (XpTensor) a = numbers (XP_FLOAT32, XP_INTS (LONGEST), XP_INTS (1));
  g_autoptr (XpTensor) small = numbers (XP_FLOAT32, XP_INTS (1000), XP_INTS (1));
  xp_set_parallel_runner (run_alone, NULL);
  g_autoptr (XpTensor) result = computed (a, a, 4), less = computed (small, small, 4);
  ck_assert_uint_eq (n_runs, 2);
  xp_set_parallel_runner (NULL, NULL);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("threads");
  TCase *tcase = tcase_create ("loops");
  tcase_set_timeout (tcase, 60);
  tcase_add_checked_fixture (tcase, load_plugins, NULL);
  tcase_add_test (tcase, whatever_the_number_of_threads);
  tcase_add_test (tcase, in_threads_of_the_program);
  suite_add_tcase (suite, tcase);
  return run_suite (suite);
}
