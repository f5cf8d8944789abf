/* SPDX-License-Identifier: MIT
 *
 * host_memory.c: the memory of CPU tensors, given by the program or by a plugin.
 */
#include "plugin/fixtures.h"

#include <signal.h>
#include <stdlib.h>

static size_t n_alive, n_allocated, shift, limit;

static void *
allocate (int index, size_t n_bytes)
{
  ck_assert_int_eq (index, 0);
  if (limit > 0 && n_bytes > limit)
    return NULL;
  n_alive++;
  n_allocated += n_bytes;
  char *block = aligned_alloc (64, (n_bytes / 64 + 2) * 64);
  ck_assert_ptr_nonnull (block);
  return block + shift;
}

static void
deallocate (int index, void *memory, size_t n_bytes)
{
  ck_assert_int_eq (index, 0);
  n_alive--;
  n_allocated -= n_bytes;
  free ((char *) memory - shift);
}

static const XpMemoryClass memory = { sizeof memory, allocate, deallocate, NULL, NULL };

static XpTensor *
tensor_of_ten (void)
{
  GError *error = NULL;
  float numbers[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
  int64_t shape[] = { 10 };
  XpTensor *tensor = xp_tensor_new_copy_of (XP_FLOAT32, (XpInts){ shape, 1 }, numbers, &error);
  assert_no_error (error);
  return tensor;
}

START_TEST (of_the_program)
{
  GError *error = NULL;
  XpTensor *before = tensor_of_ten ();
  xp_backend_set_memory (XP_BACKEND_CPU, &memory);
  XpTensor *own = tensor_of_ten ();
  ck_assert_uint_eq (n_alive, 1);
  ck_assert_uint_eq (n_allocated, 40);
  int64_t shape[] = { 5, 2 }, strides[] = { 2, 1 }, none[] = { 0 };
  XpTensor *view = xp_tensor_new_view (own, (XpInts){ shape, 2 }, (XpInts){ strides, 2 }, 0,
                                       &error);
  assert_no_error (error);
  XpTensor *empty = xp_tensor_new (XP_FLOAT32, (XpInts){ none, 1 }, XP_CPU, &error);
  assert_no_error (error);
  XpTensor *scalar = xp_tensor_new_scalar (xp_value_float (2.5), -1, XP_CPU, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n_alive, 2);
  g_autofree char *text = xp_tensor_to_string (own), *number = xp_tensor_to_string (scalar);
  ck_assert_str_eq (text, "tensor([0., 1., 2., 3., 4., 5., 6., 7., 8., 9.])");
  ck_assert_str_eq (number, "tensor(2.5000, dtype=torch.float64)");
  xp_backend_set_memory (XP_BACKEND_CPU, NULL);
  XpTensor *after = tensor_of_ten ();
  ck_assert_uint_eq (n_alive, 2);
  xp_tensor_unref (own);
  ck_assert_uint_eq (n_alive, 2);
  xp_tensor_unref (view);
  ck_assert_uint_eq (n_alive, 1);
  xp_tensor_unref (scalar);
  ck_assert_uint_eq (n_alive, 0);
  ck_assert_uint_eq (n_allocated, 0);
  xp_tensor_unref (empty);
  xp_tensor_unref (before);
  xp_tensor_unref (after);
}
END_TEST

START_TEST (where_there_is_none)
{
  GError *error = NULL;
  int64_t shape[] = { 2000 };
  limit = 1000;
  xp_backend_set_memory (XP_BACKEND_CPU, &memory);
  XpTensor *tensor = tensor_of_ten ();
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, (XpInts){ shape, 1 }, XP_CPU, &error));
  assert_error (error, XP_ERROR_NO_MEMORY, "no memory on cpu for a tensor of 8000 bytes");
  ck_assert (!xp_tensor_resize (tensor, (XpInts){ shape, 1 }, &error));
  assert_error (error, XP_ERROR_NO_MEMORY, "no memory on cpu for a tensor of 8000 bytes");
  ck_assert_int_eq (xp_tensor_size (tensor, 0), 10);
  ck_assert_uint_eq (n_alive, 1);
  xp_tensor_unref (tensor);
  xp_backend_set_memory (XP_BACKEND_CPU, NULL);
}
END_TEST

START_TEST (memory_that_is_not_aligned)
{
  shift = 32;
  xp_backend_set_memory (XP_BACKEND_CPU, &memory);
  tensor_of_ten ();
}
END_TEST

START_TEST (a_class_without_allocate)
{
  static const XpMemoryClass none = { .size = sizeof none };
  xp_backend_set_memory (XP_BACKEND_CPU, &none);
}
END_TEST

static const char *
owner_of (XpTensor *tensor)
{
  return (const char *) xp_tensor_data (tensor) - XP_HOST_ALIGNMENT;
}

static GLogWriterOutput
count_warnings (GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
                G_GNUC_UNUSED gsize n_fields, void *n_warnings)
{
  *(unsigned *) n_warnings += level <= G_LOG_LEVEL_WARNING;
  return G_LOG_WRITER_HANDLED;
}

START_TEST (of_a_plugin)
{
  static unsigned n_warnings;
  g_log_set_writer_func (count_warnings, &n_warnings, NULL);
  XpPlugin *host = load_fixture ("host");
  XpTensor *own = tensor_of_ten ();
  ck_assert_str_eq (owner_of (own), "host");
  GError *error = NULL;
  ck_assert (xp_plugin_unload (host, &error));
  assert_no_error (error);
  assert_state (host, XP_PLUGIN_DRAINING, "");
  XpTensor *after = tensor_of_ten ();
  g_autofree char *text = xp_tensor_to_string (own);
  ck_assert_str_eq (text, "tensor([0., 1., 2., 3., 4., 5., 6., 7., 8., 9.])");
  xp_tensor_unref (own);
  wait_for_state (host, XP_PLUGIN_UNLOADED);
  xp_tensor_unref (after);
  ck_assert_uint_eq (n_warnings, 0);
}
END_TEST

START_TEST (of_two_plugins)
{
  XpPlugin *host = load_fixture ("host"), *next = load_fixture ("host_next");
  XpTensor *own = tensor_of_ten ();
  ck_assert_str_eq (owner_of (own), "host_next");
  xp_tensor_unref (own);
  unload (next);
  own = tensor_of_ten ();
  ck_assert_str_eq (owner_of (own), "host");
  xp_tensor_unref (own);
  unload (host);
}
END_TEST

START_TEST (threads_for_loops_are_the_programs)
{
  load_fixture ("host_runner");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("host_memory");
  TCase *tcase = tcase_create ("given");
  tcase_add_test (tcase, of_the_program);
  tcase_add_test (tcase, where_there_is_none);
  tcase_add_test_raise_signal (tcase, memory_that_is_not_aligned, SIGTRAP);
  tcase_add_test_raise_signal (tcase, a_class_without_allocate, SIGTRAP);
  tcase_add_test (tcase, of_a_plugin);
  tcase_add_test (tcase, of_two_plugins);
  tcase_add_test_raise_signal (tcase, threads_for_loops_are_the_programs, SIGTRAP);
  suite_add_tcase (suite, tcase);
  return run_suite (suite);
}
