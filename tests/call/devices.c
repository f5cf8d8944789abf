/* SPDX-License-Identifier: MIT
 *
 * devices.c: arguments on several devices: what is refused, with every argument named, and what may
 * be mixed: Meta, CPU numbers, operators that say so.
 */
#include "calls.h"
#include "table/blocks.h"

static XpLibrary *rows;
static XpTensor *on_cpu, *on_cuda, *on_meta, *number;

static void
set_up (void)
{
  GError *error = NULL;
  rows = fragment_new ("calls");
  define (rows, "binary(Tensor self, Tensor other) -> Tensor");
  define (rows, "out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)");
  define (rows, "list(Tensor[] tensors) -> Tensor");
  define_tagged (rows, "mixed(Tensor self, Tensor other) -> Tensor", "view mixed_devices");
  on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  on_cuda = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  on_meta = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_Meta);
  number = xp_tensor_new_scalar (xp_value_float (2.5), XP_FLOAT32, XP_CPU, &error);
  assert_no_error (error);
}

static void
tear_down (void)
{
  xp_tensor_unref (on_cpu);
  xp_tensor_unref (on_cuda);
  xp_tensor_unref (on_meta);
  xp_tensor_unref (number);
  xp_library_free (rows);
}

static XpStatus
call_with (const char *name, XpTensor *self, XpTensor *other, GError **error)
{
  XpValue arguments[] = { xp_value_tensor (self), xp_value_tensor (other) };
  ran = 0;
  return call_named (name, arguments, error);
}

START_TEST (two_devices_are_a_mismatch)
{
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  record_at (cpu, "binary", 1);
  record_at (cuda, "binary", 2);
  GError *error = NULL;
  ck_assert_int_eq (call_with ("calls::binary", on_cpu, on_cuda, &error), XP_FAILED);
  ck_assert_int_eq (ran, 0);
  ck_assert_str_eq (xp_error_class (error->code), "RuntimeError");
  ck_assert_str_eq (xp_error_get_details (error)->op, "calls::binary");
  assert_error (error, XP_ERROR_DEVICE_MISMATCH,
                "argument 0 (self) is on cpu, argument 1 (other) is on cuda:0");
  ck_assert_int_eq (call_with ("calls::binary", on_cuda, on_cpu, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH,
                "argument 0 (self) is on cuda:0, argument 1 (other) is on cpu");
  /* A typed caller is told the same. */
  XpTensor *result = NULL;
  ck_assert_int_eq (xp_calls_binary (on_cpu, on_cuda, &result, &error), XP_FAILED);
  ck_assert_ptr_null (result);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "argument 1 (other) is on cuda:0");
  /* In a list too, and two plugins' devices, whose bits have no order. */
  XpTensor *both[] = { on_cuda, NULL, on_cpu };
  g_auto (XpValue) list = xp_value_list (xp_list_new_tensor (both, 3));
  ck_assert_int_eq (call_named ("calls::list", &list, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "argument 0 (tensors) is on cpu");
  XpBackend npu, tpu;
  ck_assert (xp_backend_register ("npu", &npu, NULL) && xp_backend_register ("tpu", &tpu, NULL));
  g_autoptr (XpTensor) on_npu = tensor_of (XP_FUNCTIONALITY_Dense, npu);
  g_autoptr (XpTensor) on_tpu = tensor_of (XP_FUNCTIONALITY_Dense, tpu);
  ck_assert_int_eq (call_with ("calls::binary", on_npu, on_tpu, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH,
                "argument 0 (self) is on npu:0, argument 1 (other) is on tpu:0");
}
END_TEST

START_TEST (an_operator_may_take_several)
{
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  record_at (cuda, "mixed", 2);
  GError *error = NULL;
  ck_assert_int_eq (call_with ("calls::mixed", on_cpu, on_cuda, &error), XP_OK);
  ck_assert_int_eq (ran, 2); /* the higher backend */
  ck_assert_int_eq (call_with ("calls::mixed", on_cuda, on_cpu, &error), XP_OK);
  assert_no_error (error);
}
END_TEST

/* Only its head bears the tag; it may go and come with the row. */
START_TEST (the_tag_comes_and_goes_with_the_row)
{
  GError *error = NULL;
  XpLibrary *plain = fragment_new ("calls");
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  record_at (cuda, "changing", 1);
  define (plain, "changing(Tensor self, Tensor other) -> Tensor");
  ck_assert_int_eq (call_with ("calls::changing", on_cpu, on_cuda, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "changing");
  xp_library_free (plain);
  XpLibrary *tagged = fragment_new ("calls");
  define_tagged (tagged, "changing(Tensor self, Tensor other) -> Tensor", "mixed_devices");
  ck_assert_int_eq (call_with ("calls::changing", on_cpu, on_cuda, &error), XP_OK);
  xp_library_free (tagged);
}
END_TEST

START_TEST (meta_goes_with_everything)
{
  g_autoptr (XpLibrary) meta = impl_new ("calls", "Meta");
  record_at (meta, "binary", 3);
  GError *error = NULL;
  XpTensor *others[] = { on_cpu, on_cuda, number };
  for (unsigned i = 0; i < G_N_ELEMENTS (others); i++)
    {
      call_with ("calls::binary", on_meta, others[i], &error);
      assert_no_error (error);
      ck_assert_int_eq (ran, 3);
      call_with ("calls::binary", others[i], on_meta, &error);
      assert_no_error (error);
      ck_assert_int_eq (ran, 3);
    }
  /* But two others besides it do not go together. */
  XpTensor *all[] = { on_meta, on_cpu, on_cuda };
  g_auto (XpValue) list = xp_value_list (xp_list_new_tensor (all, 3));
  ck_assert_int_eq (call_named ("calls::list", &list, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "is on meta, argument 0 (tensors) is on cpu");
}
END_TEST

/* --- CPU numbers. --- */

static XpTensor *seen;
static XpDevice seen_device;
static uint32_t seen_flags;

static XpStatus
see_other (XpCall *call, G_GNUC_UNUSED XpTensor *self, XpTensor *other, XpTensor **result,
           G_GNUC_UNUSED GError **error)
{
  ck_assert_int_eq (xp_call_key (call), XP_KEY_CUDA);
  seen = other;
  seen_device = xp_tensor_device (other);
  seen_flags = other->flags;
  *result = xp_tensor_ref (self);
  return XP_OK;
}

/* A device whose memory is counted, and lies on the heap. */
static unsigned n_allocated, n_deallocated;

static void *
allocate (G_GNUC_UNUSED int index, size_t n_bytes)
{
  n_allocated++;
  return g_malloc0 (n_bytes);
}

static void
deallocate (G_GNUC_UNUSED int index, void *memory, G_GNUC_UNUSED size_t n_bytes)
{
  n_deallocated++;
  g_free (memory);
}

static gboolean
to_host (G_GNUC_UNUSED int index, void *host, const void *memory, size_t n_bytes,
         G_GNUC_UNUSED GError **error)
{
  memcpy (host, memory, n_bytes);
  return TRUE;
}

static gboolean
from_host (G_GNUC_UNUSED int index, void *memory, const void *host, size_t n_bytes,
           G_GNUC_UNUSED GError **error)
{
  memcpy (memory, host, n_bytes);
  return TRUE;
}

static const XpMemoryClass memory = { sizeof memory, allocate, deallocate, to_host, from_host };

static void
implement_cuda (XpLibrary *cuda, uint32_t flags)
{
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = "binary",
                                            .boxed = xp_calls_binary_adapter,
                                            .typed = (XpTypedFunction) see_other,
                                            .signature = XP_calls_binary_SIGNATURE,
                                            .flags = flags,
                                            .file = "kernel.c",
                                            .line = 1 };
  xp_library_impl (cuda, &implementation, &error);
  assert_no_error (error);
}

START_TEST (a_kernel_that_takes_numbers_gets_them)
{
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  implement_cuda (cuda, XP_KERNEL_CPU_SCALARS);
  GError *error = NULL;
  for (unsigned typed = 0; typed < 2; typed++)
    {
      g_autoptr (XpTensor) result = NULL;
      seen = NULL;
      if (typed)
        xp_calls_binary (on_cuda, number, &result, &error);
      else
        call_with ("calls::binary", on_cuda, number, &error);
      assert_no_error (error);
      ck_assert_ptr_eq (seen, number);
    }
}
END_TEST

START_TEST (for_another_they_are_copied)
{
  xp_backend_set_memory (XP_BACKEND_CUDA, &memory);
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  implement_cuda (cuda, 0);
  GError *error = NULL;
  for (unsigned wrapped = 0; wrapped < 2; wrapped++)
    {
      g_autoptr (XpTensor) result = NULL;
      if (!wrapped)
        number->flags &= ~(uint32_t) XP_TENSOR_IS_SCALAR;
      else
        number->flags |= XP_TENSOR_IS_SCALAR;
      xp_calls_binary (on_cuda, number, &result, &error);
      assert_no_error (error);
      ck_assert_ptr_ne (seen, number);
      ck_assert_int_eq (seen_device.backend, XP_BACKEND_CUDA);
      ck_assert_int_eq ((seen_flags & XP_TENSOR_IS_SCALAR) != 0, (int) wrapped);
    }
  ck_assert_uint_eq (n_allocated, 2);
  ck_assert_uint_eq (n_deallocated, 2);
  xp_backend_set_memory (XP_BACKEND_CUDA, NULL);
}
END_TEST

static XpStatus
decline (XpCall *call, const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
         G_GNUC_UNUSED GError **error)
{
  ck_assert_ptr_eq (arguments[1].as.tensor, number);
  return xp_call_decline (call, "not here");
}

/* The kernel that takes numbers declines; the one that runs does not take them. */
START_TEST (for_the_next_one_they_are_copied)
{
  xp_backend_set_memory (XP_BACKEND_CUDA, &memory);
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  g_autoptr (XpLibrary) above = impl_new ("calls", "CUDA");
  implement_cuda (cuda, 0);
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = "binary",
                                            .boxed = decline,
                                            .flags = XP_KERNEL_CPU_SCALARS,
                                            .file = "kernel.c",
                                            .line = 2 };
  xp_library_impl (above, &implementation, &error);
  assert_no_error (error);
  g_autoptr (XpTensor) result = NULL;
  xp_calls_binary (on_cuda, number, &result, &error);
  assert_no_error (error);
  ck_assert_ptr_ne (seen, number);
  ck_assert_int_eq (seen_device.backend, XP_BACKEND_CUDA);
  ck_assert_uint_eq (n_allocated, 1);
  xp_backend_set_memory (XP_BACKEND_CUDA, NULL);
}
END_TEST

/* Nobody gives memory there. */
START_TEST (a_copy_that_cannot_be_made)
{
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  implement_cuda (cuda, 0);
  GError *error = NULL;
  ck_assert_int_eq (call_with ("calls::binary", on_cuda, number, &error), XP_FAILED);
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "cuda");
}
END_TEST

/* A number that is written, has a dimension, or stands in a list decides like any other. */
START_TEST (what_is_no_number)
{
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  implement_cuda (cuda, XP_KERNEL_CPU_SCALARS);
  record_at (cuda, "out", 2);
  record_at (cuda, "list", 3);
  GError *error = NULL;
  ck_assert_int_eq (call_with ("calls::out", on_cuda, number, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "argument 1 (out) is on cpu");
  /* Read, it is one: here it would have to be copied. */
  ck_assert_int_eq (call_with ("calls::out", number, on_cuda, &error), XP_FAILED);
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "cuda");
  XpTensor *both[] = { on_cuda, number };
  g_auto (XpValue) list = xp_value_list (xp_list_new_tensor (both, 2));
  ck_assert_int_eq (call_named ("calls::list", &list, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "calls::list");
  ck_assert_int_eq (call_with ("calls::binary", on_cuda, on_cpu, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "calls::binary");
  /* A number on another device is none either. */
  g_autoptr (XpTensor) on_xla = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_XLA);
  ck_assert_int_eq (call_with ("calls::binary", on_cuda, on_xla, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "xla");
}
END_TEST

/* The keys of the number do not decide: without a CUDA kernel, CUDA is what is missing. */
START_TEST (numbers_do_not_decide)
{
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  record_at (cpu, "binary", 1);
  GError *error = NULL;
  ck_assert_int_eq (call_with ("calls::binary", number, on_cuda, &error), XP_FAILED);
  ck_assert_str_eq (xp_error_get_details (error)->argument, "other");
  assert_error (error, XP_ERROR_MISSING_KERNEL, "'CUDA' backend");
  ck_assert_int_eq (call_with ("calls::binary", number, on_cpu, &error), XP_OK);
  ck_assert_int_eq (ran, 1);
}
END_TEST

/* What else the number is, a Python object say, the call is told. */
START_TEST (other_keys_of_a_number_count)
{
  xp_backend_set_memory (XP_BACKEND_CUDA, &memory);
  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  g_autoptr (XpLibrary) python = impl_new ("calls", "Python");
  record_at (cuda, "binary", 1);
  record_at (python, "binary", 2);
  number->keys = xp_key_set_add (number->keys, XP_KEY_Python);
  GError *error = NULL;
  call_with ("calls::binary", on_cuda, number, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 2);
  xp_backend_set_memory (XP_BACKEND_CUDA, NULL);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("devices");
  TCase *tests = tcase_create ("devices");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, two_devices_are_a_mismatch);
  tcase_add_test (tests, an_operator_may_take_several);
  tcase_add_test (tests, the_tag_comes_and_goes_with_the_row);
  tcase_add_test (tests, meta_goes_with_everything);
  tcase_add_test (tests, a_kernel_that_takes_numbers_gets_them);
  tcase_add_test (tests, for_another_they_are_copied);
  tcase_add_test (tests, for_the_next_one_they_are_copied);
  tcase_add_test (tests, a_copy_that_cannot_be_made);
  tcase_add_test (tests, what_is_no_number);
  tcase_add_test (tests, numbers_do_not_decide);
  tcase_add_test (tests, other_keys_of_a_number_count);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
