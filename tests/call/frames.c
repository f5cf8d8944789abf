/* SPDX-License-Identifier: MIT
 *
 * frames.c: what is frozen within a major version: the layout of frames, kernels, rows' heads,
 * threads' heads and tensors' heads; what a frame says during a call; calls that are handed over;
 * and one boxed fallback, registered once for all operators, that counts calls and redispatches.
 */
#include "calls.h"
#include "table/blocks.h"

#include <stddef.h>

#define CHECK_AT(type, member, offset) G_STATIC_ASSERT (offsetof (type, member) == (offset));

G_STATIC_ASSERT (sizeof (XpKeySet) == 16);
CHECK_AT (XpKeySet, functionality, 0)
CHECK_AT (XpKeySet, backend, 8)

G_STATIC_ASSERT (sizeof (XpValue) == 16);
CHECK_AT (XpValue, tag, 0)
CHECK_AT (XpValue, length, 4)
CHECK_AT (XpValue, as, 8)

G_STATIC_ASSERT (sizeof (XpKernel) == 32);
CHECK_AT (XpKernel, boxed, 0)
CHECK_AT (XpKernel, typed, 8)
CHECK_AT (XpKernel, data, 16)

G_STATIC_ASSERT (sizeof (XpCall) == 64);
CHECK_AT (XpCall, kernel, 0)
CHECK_AT (XpCall, op, 8)
CHECK_AT (XpCall, keys, 16)
CHECK_AT (XpCall, reason, 32)
CHECK_AT (XpCall, observed, 40)
CHECK_AT (XpCall, stack, 48)
CHECK_AT (XpCall, reserved, 56)

G_STATIC_ASSERT (sizeof (XpKeySlot) == 8);
CHECK_AT (XpKeySlot, base, 0)
CHECK_AT (XpKeySlot, stride_mask, 4)

G_STATIC_ASSERT (sizeof (XpCell) == 8);
G_STATIC_ASSERT (XP_ROW_STRIPES == 64);
G_STATIC_ASSERT (XP_ROW_STRIPE == 8);

G_STATIC_ASSERT (sizeof (XpOperator) == 48);
CHECK_AT (XpOperator, cells, 0)
CHECK_AT (XpOperator, backends, 8)
CHECK_AT (XpOperator, slots, 16)
CHECK_AT (XpOperator, tensor_arguments, 24)
CHECK_AT (XpOperator, list_arguments, 32)
CHECK_AT (XpOperator, n_arguments, 40)
CHECK_AT (XpOperator, n_results, 44)

G_STATIC_ASSERT (sizeof (XpThreadHead) == 64);
CHECK_AT (XpThreadHead, included, 0)
CHECK_AT (XpThreadHead, excluded, 16)
CHECK_AT (XpThreadHead, top, 32)
CHECK_AT (XpThreadHead, limit, 40)
CHECK_AT (XpThreadHead, stack_limit, 48)
CHECK_AT (XpThreadHead, attention, 56)

G_STATIC_ASSERT (sizeof (XpOperatorHandle) == 24);
CHECK_AT (XpOperatorHandle, name, 0)
CHECK_AT (XpOperatorHandle, signature, 8)
CHECK_AT (XpOperatorHandle, op, 16)

G_STATIC_ASSERT (sizeof (XpDevice) == 8);
CHECK_AT (XpDevice, backend, 0)
CHECK_AT (XpDevice, index, 4)

G_STATIC_ASSERT (sizeof (XpInts) == 16);
CHECK_AT (XpInts, data, 0)
CHECK_AT (XpInts, length, 8)

G_STATIC_ASSERT (sizeof (DLTensor) == 48);
CHECK_AT (DLTensor, data, 0)
CHECK_AT (DLTensor, device, 8)
CHECK_AT (DLTensor, ndim, 16)
CHECK_AT (DLTensor, dtype, 20)
CHECK_AT (DLTensor, shape, 24)
CHECK_AT (DLTensor, strides, 32)
CHECK_AT (DLTensor, byte_offset, 40)

G_STATIC_ASSERT (sizeof (XpTensor) == 80);
CHECK_AT (XpTensor, dl, 0)
CHECK_AT (XpTensor, keys, 48)
CHECK_AT (XpTensor, flags, 64)
CHECK_AT (XpTensor, dtype, 68)
CHECK_AT (XpTensor, layout, 69)
CHECK_AT (XpTensor, reserved, 70)
CHECK_AT (XpTensor, numel, 72)

G_STATIC_ASSERT (XP_OK == 0 && XP_FAILED == 1 && XP_DECLINED == 2);

/* --- What a frame says. --- */

static XpKernel *const no_kernel = NULL;
static int number_of_data = 17;
static XpCall *innermost;

static XpStatus
look_at_frame (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
               G_GNUC_UNUSED GError **error)
{
  ck_assert_ptr_eq (call, xp_thread.top - 1);
  ck_assert_ptr_eq (call->kernel->boxed, look_at_frame);
  ck_assert_ptr_eq (xp_call_data (call), &number_of_data);
  ck_assert_ptr_eq (xp_call_operator (call), operator_named ("calls::unary"));
  ck_assert_int_eq (xp_call_key (call), XP_KEY_CPU);
  ck_assert (xp_key_set_equal (xp_call_keys (call), call->keys));
  g_autofree char *keys = xp_key_set_to_string (call->keys);
  /* ADInplaceOrView and AutogradCPU are passed over, AutocastCPU is excluded. */
  ck_assert_str_eq (keys, "DispatchKeySet(CPU)");
  ck_assert (
      xp_key_set_equal (xp_call_keys_after (call), (XpKeySet){ 0, XP_BIT (XP_BACKEND_CPU) }));
  ck_assert ((const char *) call->stack > (const char *) xp_thread.stack_limit);
  ck_assert_int_eq (results[0].tag, XP_TAG_NONE);
  innermost = call;
  results[0] = xp_value_int (5);
  return XP_OK;
}

START_TEST (a_kernel_sees_its_frame)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "unary(Tensor self) -> Tensor");
  implement_with (cpu, "unary", look_at_frame, 1, &number_of_data, NULL);
  XpValue argument = xp_value_tensor (tensor);
  XpValue result = xp_value_int (99); /* what it holds is not looked at */
  GError *error = NULL;
  xp_operator_call (operator_named ("calls::unary"), &argument, &result, &error);
  assert_no_error (error);
  ck_assert_int_eq (result.as.integer, 5);
  XpCall *base = xp_thread.top;
  ck_assert_ptr_eq (innermost, base);
  ck_assert_ptr_eq (innermost->kernel, no_kernel);
  innermost = NULL;
  xp_operator_call (operator_named ("calls::unary"), &argument, &result, &error);
  ck_assert_ptr_eq (innermost, base);
  ck_assert_ptr_eq (xp_thread.top, base);
}
END_TEST

static XpStatus
fail_at_once (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
              GError **error)
{
  results[0] = xp_value_string ("half a result");
  xp_error_set (error, XP_ERROR_SHAPE, NULL, "no");
  return XP_FAILED;
}

static XpStatus
call_inside (XpCall *call, const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
             G_GNUC_UNUSED GError **error)
{
  XpCall *top = xp_thread.top;
  XpValue result;
  GError *local = NULL;
  ck_assert_int_eq (xp_operator_call (operator_named ("calls::unary"), arguments, &result, &local),
                    XP_FAILED);
  ck_assert_int_eq (result.tag, XP_TAG_NONE);
  assert_error (local, XP_ERROR_SHAPE, "no");
  ck_assert_ptr_eq (xp_thread.top, top);
  ck_assert_ptr_eq (call, top - 1);
  ck_assert_ptr_eq (top->kernel, no_kernel);
  return XP_OK;
}

/* A call that fails inside another leaves the frames as they were, and no half result. */
START_TEST (frames_are_balanced_after_a_failure)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "unary(Tensor self) -> Tensor");
  define (rows, "nothing(Tensor self) -> ()");
  implement (cpu, "unary", fail_at_once, 1);
  implement (cpu, "nothing", call_inside, 2);
  XpValue argument = xp_value_tensor (tensor);
  GError *error = NULL;
  ck_assert_int_eq (call_named ("calls::nothing", &argument, &error), XP_OK);
  assert_no_error (error);
}
END_TEST

/* --- One fallback for all operators. --- */

static unsigned n_calls, n_redispatches;

/* At the uppermost key it counts calls; at a lower one, where it comes by redispatch, those. It
 * passes every argument on. */
static XpStatus
counting_fallback (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  if (xp_call_key (call) == XP_KEY_TESTING_ONLY_GenericMode)
    n_calls++;
  else
    n_redispatches++;
  return xp_operator_redispatch (xp_call_operator (call), xp_call_keys_after (call), arguments,
                                 results, error);
}

static XpStatus
return_first (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
              G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_ref (arguments[0]);
  return XP_OK;
}

static XpStatus
typed_binary (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *other, XpTensor **result,
              GError **error)
{
  g_autoptr (XpTensor) between = NULL;
  if (xp_calls_unary (other, &between, error) != XP_OK)
    return XP_FAILED;
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static XpStatus
typed_numbers (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED XpTensor *self, int64_t i, double f,
               bool b, XpValue s, int64_t *result_i, double *result_f, bool *result_b,
               XpValue *result_s, G_GNUC_UNUSED GError **error)
{
  *result_i = i + 1;
  *result_f = f + 1;
  *result_b = !b;
  *result_s = xp_value_ref (s);
  return XP_OK;
}

START_TEST (a_fallback_counts_every_operator)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpLibrary) mode = impl_new ("_", "TESTING_ONLY_GenericMode");
  g_autoptr (XpLibrary) autograd = impl_new ("_", "AutogradCPU");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "unary(Tensor self) -> Tensor");
  define (rows, "binary(Tensor self, Tensor other) -> Tensor");
  define (rows, "numbers(Tensor self, int i, float f, bool b, Scalar s) -> "
                "(int, float, bool, Scalar)");
  implement (cpu, "unary", return_first, 1);
  xp_impl_calls_binary (cpu, typed_binary);
  xp_impl_calls_numbers (cpu, typed_numbers);
  implement (mode, NULL, counting_fallback, 2);
  implement (autograd, NULL, counting_fallback, 3);
  GError *error = NULL;
  g_autoptr (XpTensor) result = NULL;

  /* Not included: only the second counts. */
  xp_calls_unary (tensor, &result, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n_calls, 0);
  ck_assert_uint_eq (n_redispatches, 1);
  ck_assert_ptr_eq (result, tensor);
  g_clear_pointer (&result, xp_tensor_unref);

  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_TESTING_ONLY_GenericMode));
  n_redispatches = 0;
  xp_calls_unary (tensor, &result, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n_calls, 1);
  ck_assert_uint_eq (n_redispatches, 1);
  g_clear_pointer (&result, xp_tensor_unref);

  /* The kernel calls again: that is a call of its own. */
  xp_calls_binary (tensor, tensor, &result, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n_calls, 3);
  ck_assert_uint_eq (n_redispatches, 3);
  g_clear_pointer (&result, xp_tensor_unref);

  int64_t i = 0;
  double f = 0;
  bool b = false;
  g_auto (XpValue) s = XP_NONE;
  g_auto (XpValue) complex_ = xp_value_complex (1, 2);
  xp_calls_numbers (tensor, 41, 0.5, false, complex_, &i, &f, &b, &s, &error);
  assert_no_error (error);
  ck_assert_int_eq (i, 42);
  ck_assert_double_eq (f, 1.5);
  ck_assert (b);
  ck_assert (xp_value_equal (s, complex_));
  ck_assert_uint_eq (n_calls, 4);
  ck_assert_uint_eq (n_redispatches, 4);

  /* Taken away, it counts no more. */
  g_clear_pointer (&mode, xp_library_free);
  g_clear_pointer (&autograd, xp_library_free);
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_TESTING_ONLY_GenericMode));
  xp_calls_unary (tensor, &result, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n_calls, 4);
  ck_assert_uint_eq (n_redispatches, 4);
}
END_TEST

/* --- Blocks of cells. --- */

/* A call may still look at a block that was replaced: it must find there what the newest says. */
START_TEST (a_replaced_block_is_kept_up_to_date)
{
  g_autoptr (XpLibrary) rows = fragment_new ("blocks");
  g_autoptr (XpLibrary) cpu = impl_new ("blocks", "CPU");
  g_autoptr (XpLibrary) cuda = impl_new ("blocks", "CUDA");
  const unsigned cell = XP_ROW_STRIPES + (XP_BACKEND_CUDA + 1) * XP_ROW_STRIPE + 1;
  define (rows, "one(Tensor self) -> ()");
  record_at (cpu, "one", 1);
  XpOperator *op = operator_named ("blocks::one");
  const XpCell *old = op->cells;
  const XpKernel *missing = old[cell].kernel;
  for (unsigned i = 0; op->cells == old; i++)
    {
      XpBackend backend;
      g_autofree char *name = g_strdup_printf ("device%u", i);
      ck_assert (xp_backend_register (name, &backend, NULL));
    }
  record_at (cuda, "one", 2);
  ck_assert_ptr_ne (old[cell].kernel, missing);
  ck_assert_ptr_eq (old[cell].kernel, op->cells[cell].kernel);
  g_clear_pointer (&cuda, xp_library_free);
  ck_assert_ptr_eq (old[cell].kernel, missing);
  g_clear_pointer (&rows, xp_library_free);
  ck_assert_ptr_ne (old[cell].kernel, missing);
  ck_assert_ptr_eq (old[cell].kernel, op->cells[cell].kernel);
}
END_TEST

/* Rows that have no kernels share their cells, and follow a fallback that comes and goes. */
START_TEST (rows_without_kernels_share_their_cells)
{
  g_autoptr (XpLibrary) rows = fragment_new ("blocks");
  g_autoptr (XpLibrary) cpu = impl_new ("blocks", "CPU");
  g_autoptr (XpLibrary) fallbacks = impl_new ("_", "CPU");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "one(Tensor self) -> ()");
  define (rows, "two(Tensor self) -> ()");
  XpOperator *one = operator_named ("blocks::one"), *two = operator_named ("blocks::two");
  ck_assert_ptr_eq (one->cells, two->cells);
  record_at (cpu, "one", 1);
  ck_assert_ptr_ne (one->cells, two->cells);
  record_at (fallbacks, NULL, 2);
  ck_assert_int_eq (line_called ("blocks::one", tensor), 1);
  ck_assert_int_eq (line_called ("blocks::two", tensor), 2);
  assert_table_is_sound ();
  g_clear_pointer (&fallbacks, xp_library_free);
  g_autoptr (GError) error = NULL;
  XpValue argument = xp_value_tensor (tensor);
  ck_assert_int_eq (call_named ("blocks::two", &argument, &error), XP_FAILED);
  ck_assert (g_error_matches (error, XP_ERROR, XP_ERROR_MISSING_KERNEL));
  assert_table_is_sound ();
}
END_TEST

/* --- Calls that are handed over. --- */

static bool was_kept;

static void
not_looked_at (G_GNUC_UNUSED const char *line, G_GNUC_UNUSED void *data)
{
}

/* A call that is traced goes the slow way, which drops frames that were abandoned. */
static XpStatus
call_traced (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  xp_trace_begin (not_looked_at, NULL);
  XpStatus status = call_named ("calls::nothing", arguments, error);
  xp_trace_end ();
  was_kept = xp_call_kernel (call) != NULL;
  results[0] = xp_value_ref (arguments[0]);
  return status;
}

static __attribute__ ((noinline)) XpCall *
enter_far_below (XpOperator *op, XpKeySet keys)
{
  volatile char room[32 * 1024];
  room[0] = 0;
  const XpKernel *kernel;
  XpCall *call = xp_call_enter (op, keys, &kernel);
  room[sizeof room - 1] = room[0];
  return call;
}

/* A compiler may make a jump of handing a call over, with which the function that entered it and
 * the place in the stack that the frame knows are gone. */
START_TEST (a_call_that_is_handed_over_is_not_abandoned)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "unary(Tensor self) -> Tensor");
  define (rows, "nothing(Tensor self) -> ()");
  implement (cpu, "unary", call_traced, 1);
  record_at (cpu, "nothing", 2);
  ck_assert_int_eq (line_called ("calls::nothing", tensor), 2); /* the thread has its frames */
  XpOperator *op = operator_named ("calls::unary");
  XpCall *call = enter_far_below (op, xp_tensor_keys (tensor));
  XpValue argument = xp_value_tensor (tensor);
  g_auto (XpValue) result = XP_NONE;
  GError *error = NULL;
  xp_call_boxed_instead (op, call, XP_OK, (XpKeySet){ 0, 0 }, XP_CALL_TYPED, &argument, &result,
                         &error);
  assert_no_error (error);
  ck_assert (was_kept);
  if (call != NULL)
    xp_call_leave (call);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("frames");
  TCase *tests = tcase_create ("frames");
  tcase_add_test (tests, a_kernel_sees_its_frame);
  tcase_add_test (tests, frames_are_balanced_after_a_failure);
  tcase_add_test (tests, a_call_that_is_handed_over_is_not_abandoned);
  tcase_add_test (tests, a_fallback_counts_every_operator);
  tcase_add_test (tests, a_replaced_block_is_kept_up_to_date);
  tcase_add_test (tests, rows_without_kernels_share_their_cells);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
