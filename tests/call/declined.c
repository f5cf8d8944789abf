/* SPDX-License-Identifier: MIT
 *
 * declined.c: kernels that decline: the next registration on the key is tried, then the lower
 * rules, then the error lists who declined and why.
 */
#include "calls.h"
#include "table/blocks.h"

static unsigned order[16];
static unsigned n_tried;

static XpStatus
decline (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
         G_GNUC_UNUSED GError **error)
{
  order[n_tried++] = GPOINTER_TO_UINT (xp_call_data (call));
  results[0] = xp_value_string ("must not be seen");
  return xp_call_decline (call, "only on Sundays");
}

static XpStatus
decline_without_reason (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                        G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  n_tried++;
  return XP_DECLINED;
}

static XpStatus
accept (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
        G_GNUC_UNUSED GError **error)
{
  ck_assert_int_eq (results[0].tag, XP_TAG_NONE);
  results[0] = xp_value_int (GPOINTER_TO_INT (xp_call_data (call)));
  return XP_OK;
}

static XpStatus
refuse (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
        G_GNUC_UNUSED XpValue *results, GError **error)
{
  xp_error_set (error, XP_ERROR_SHAPE, NULL, "too flat");
  return XP_FAILED;
}

static void
add (XpLibrary *block, XpBoxedFunction kernel, int line)
{
  implement_with (block, "foo", kernel, line, GINT_TO_POINTER (line), NULL);
}

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

static XpLibrary *rows;
static XpTensor *tensor;

static void
set_up (void)
{
  g_log_set_writer_func (swallow, NULL, NULL);
  rows = fragment_new ("de");
  tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "foo(Tensor x) -> Any");
}

static void
tear_down (void)
{
  xp_tensor_unref (tensor);
  xp_library_free (rows);
}

/* The number that accept() gives; 0 where the call fails. */
static int
result_of_call (GError **error)
{
  XpValue argument = xp_value_tensor (tensor), result;
  n_tried = 0;
  XpStatus status = xp_operator_call (operator_named ("de::foo"), &argument, &result, error);
  ck_assert_int_eq (status, result.tag == XP_TAG_INT ? XP_OK : XP_FAILED);
  ck_assert_int_eq (result.tag, status == XP_OK ? XP_TAG_INT : XP_TAG_NONE);
  return (int) result.as.integer;
}

START_TEST (the_next_on_the_key_is_tried)
{
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  GError *error = NULL;
  add (cpu, decline, 1);
  add (cpu, accept, 2);
  add (cpu, decline, 3);
  add (cpu, decline, 4);
  ck_assert_int_eq (result_of_call (&error), 2);
  assert_no_error (error);
  ck_assert_uint_eq (n_tried, 2);
  ck_assert_uint_eq (order[0], 4);
  ck_assert_uint_eq (order[1], 3);
}
END_TEST

/* An error that was set before is nobody else's. */
static XpStatus
decline_with_an_error (XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                       G_GNUC_UNUSED XpValue *results, GError **error)
{
  n_tried++;
  g_set_error (error, XP_ERROR, XP_ERROR_SHAPE, "not its business");
  return xp_call_decline (call, "with an error");
}

START_TEST (an_error_of_one_that_declines)
{
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  GError *error = NULL;
  add (cpu, decline_with_an_error, 1);
  ck_assert_int_eq (result_of_call (&error), 0);
  assert_error (error, XP_ERROR_DECLINED, "with an error");
  XpKernelHandle *handle = xp_operator_kernel (operator_named ("de::foo"), NULL, XP_KEY_CPU,
                                               &error);
  assert_no_error (error);
  XpValue argument = xp_value_tensor (tensor), result;
  ck_assert_int_eq (xp_kernel_handle_call (handle, &argument, &result, &error), XP_FAILED);
  assert_error (error, XP_ERROR_DECLINED, "with an error");
  xp_kernel_handle_unref (handle);
  g_autoptr (XpLibrary) other = impl_new ("de", "CompositeExplicitAutograd");
  add (other, accept, 2);
  ck_assert_int_eq (result_of_call (&error), 2);
  assert_no_error (error);
}
END_TEST

START_TEST (then_the_lower_rules)
{
  static const char *const keys[] = { "CPU", "CompositeExplicitAutogradNonFunctional",
                                      "CompositeExplicitAutograd" };
  XpLibrary *blocks[3];
  GError *error = NULL;
  for (int i = 0; i < 3; i++)
    {
      blocks[i] = impl_new ("de", keys[i]);
      add (blocks[i], decline, i + 1);
    }
  g_autoptr (XpLibrary) fallback = impl_new ("_", "CPU");
  implement_with (fallback, NULL, accept, 4, GINT_TO_POINTER (4), NULL);
  ck_assert_int_eq (result_of_call (&error), 4);
  assert_no_error (error);
  ck_assert_uint_eq (n_tried, 3);
  for (unsigned i = 0; i < 3; i++)
    {
      ck_assert_uint_eq (order[i], i + 1);
      xp_library_free (blocks[i]);
    }
}
END_TEST

/* The composite is the rule below the backend's kernel on the backend's key, and not on its
 * autograd key, where the fallthrough of the core is what comes next. */
START_TEST (below_an_autograd_kernel_is_the_fallthrough)
{
  g_autoptr (XpLibrary) autograd = impl_new ("de", "AutogradCPU");
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  g_autoptr (XpLibrary) math = impl_new ("de", NULL);
  GError *error = NULL;
  add (autograd, decline, 1);
  add (cpu, decline, 2);
  add (math, accept, 3);
  ck_assert_int_eq (result_of_call (&error), 3);
  assert_no_error (error);
  ck_assert_uint_eq (n_tried, 2);
  ck_assert_uint_eq (order[0], 1);
  ck_assert_uint_eq (order[1], 2);
}
END_TEST

/* A fallback that declines does not hide the one beneath it. */
START_TEST (below_a_fallback_is_the_next_fallback)
{
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  g_autoptr (XpLibrary) alias = impl_new ("_", "Autograd");
  g_autoptr (XpLibrary) own = impl_new ("_", "AutogradCPU");
  GError *error = NULL;
  add (cpu, accept, 1);
  implement_with (alias, NULL, decline, 2, GINT_TO_POINTER (2), NULL);
  implement_with (own, NULL, decline, 3, GINT_TO_POINTER (3), NULL);
  ck_assert_int_eq (result_of_call (&error), 1);
  assert_no_error (error);
  ck_assert_uint_eq (n_tried, 2);
  ck_assert_uint_eq (order[0], 3);
  ck_assert_uint_eq (order[1], 2);
}
END_TEST

START_TEST (then_an_error_lists_them_all)
{
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  g_autoptr (XpLibrary) explicit_ = impl_new ("de", "CompositeExplicitAutograd");
  GError *error = NULL;
  add (cpu, decline, 1);
  add (cpu, decline, 2);
  add (explicit_, decline, 3);
  ck_assert_int_eq (result_of_call (&error), 0);
  ck_assert_uint_eq (n_tried, 3);
  ck_assert_str_eq (xp_error_class (error->code), "NotImplementedError");
  ck_assert_str_eq (xp_error_get_details (error)->op, "de::foo");
  ck_assert_str_eq (xp_error_get_details (error)->key, "CPU");
  ck_assert_str_eq (error->message,
                    "Could not run 'de::foo' with arguments from the 'CPU' backend: every kernel "
                    "declined them.\n"
                    "  registered at kernel.c:2 (the program): only on Sundays\n"
                    "  registered at kernel.c:1 (the program): only on Sundays\n"
                    "  registered at kernel.c:3 (the program): only on Sundays\n"
                    "Convert the arguments, or load a plugin that takes them.");
  assert_error (error, XP_ERROR_DECLINED, "de::foo");
}
END_TEST

START_TEST (a_failure_ends_the_search)
{
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  GError *error = NULL;
  add (cpu, accept, 1);
  add (cpu, refuse, 2);
  add (cpu, decline, 3);
  ck_assert_int_eq (result_of_call (&error), 0);
  assert_error (error, XP_ERROR_SHAPE, "too flat");
  ck_assert_uint_eq (n_tried, 1);
}
END_TEST

/* A reason of another kernel, or of a call before, is not put into its mouth. */
START_TEST (a_kernel_may_give_no_reason)
{
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  GError *error = NULL;
  add (cpu, decline_without_reason, 1);
  add (cpu, decline, 2);
  for (unsigned i = 0; i < 2; i++)
    {
      ck_assert_int_eq (result_of_call (&error), 0);
      assert_error (error, XP_ERROR_DECLINED, "kernel.c:1 (the program): it gave no reason");
    }
  g_autoptr (XpLibrary) newest = impl_new ("de", "CPU");
  add (newest, decline_without_reason, 3);
  ck_assert_int_eq (result_of_call (&error), 0);
  assert_error (error, XP_ERROR_DECLINED, "kernel.c:3 (the program): it gave no reason");
}
END_TEST

/* --- Kernels that break the rules. --- */

static XpStatus
fail_silently (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
               G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  return XP_FAILED;
}

static XpStatus
return_nonsense (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                 G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  return (XpStatus) 77;
}

START_TEST (a_failure_without_an_error_gets_one)
{
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  GError *error = NULL;
  add (cpu, fail_silently, 1);
  ck_assert_int_eq (result_of_call (&error), 0);
  ck_assert_str_eq (xp_error_get_details (error)->plugin, "the program");
  assert_error (error, XP_ERROR_INTERNAL, "registered at kernel.c:1");
  add (cpu, return_nonsense, 2);
  ck_assert_int_eq (result_of_call (&error), 0);
  assert_error (error, XP_ERROR_INTERNAL, "status 77");
  /* Nobody asks for the error. */
  ck_assert_int_eq (result_of_call (NULL), 0);
}
END_TEST

static XpStatus
succeed_with_error (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
                    GError **error)
{
  results[0] = xp_value_ref (arguments[0]);
  xp_error_set (error, XP_ERROR_SHAPE, NULL, "a shape");
  return XP_OK;
}

static XpStatus
succeed_without_result (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                        G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  return XP_OK;
}

/* It is the kernel's fault, and nothing of its work is passed on. */
START_TEST (a_success_that_is_none)
{
  static const XpBoxedFunction kernels[] = { succeed_with_error, succeed_without_result };
  static const char *const faults[] = { "returned XP_OK, but set an error: a shape",
                                        "returned XP_OK, but left a result out" };
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  XpValue argument = xp_value_tensor (tensor);
  define (rows, "must(Tensor x) -> Tensor");
  XpOperator *op = operator_named ("de::must");
  implement (cpu, "must", kernels[_i / 3], 9);
  if (_i % 3 == 1)
    implement (cpu, "must", decline, 10);
  XpValue result = xp_value_int (3);
  GError *error = NULL;
  XpStatus status;
  if (_i % 3 == 2)
    {
      g_autoptr (XpKernelHandle) handle = xp_operator_kernel (op, NULL, XP_KEY_CPU, NULL);
      status = xp_kernel_handle_call (handle, &argument, &result, &error);
    }
  else
    status = xp_operator_call (op, &argument, &result, &error);
  ck_assert_int_eq (status, XP_FAILED);
  ck_assert_int_eq (result.tag, XP_TAG_NONE);
  ck_assert_str_eq (xp_error_get_details (error)->plugin, "the program");
  ck_assert_ptr_nonnull (
      strstr (error->message, "de::must in the program, registered at kernel.c:9"));
  assert_error (error, XP_ERROR_INTERNAL, faults[_i / 3]);
}
END_TEST

/* What may be None may be left out. */
START_TEST (a_result_that_may_be_none)
{
  g_autoptr (XpLibrary) cpu = impl_new ("de", "CPU");
  define (rows, "maybe(Tensor self) -> Tensor?");
  implement (cpu, "maybe", succeed_without_result, 1);
  XpValue argument = xp_value_tensor (tensor);
  GError *error = NULL;
  ck_assert_int_eq (call_named ("de::maybe", &argument, &error), XP_OK);
  assert_no_error (error);
}
END_TEST

/* --- Typed kernels. --- */

static XpStatus
typed_decline (XpCall *call, XpTensor *self, XpTensor **result, G_GNUC_UNUSED GError **error)
{
  n_tried++;
  *result = xp_tensor_ref (self);
  return xp_call_decline (call, "typed");
}

static XpStatus
typed_accept (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result,
              G_GNUC_UNUSED GError **error)
{
  *result = xp_tensor_ref (self);
  return XP_OK;
}

START_TEST (typed_kernels_decline_too)
{
  g_autoptr (XpLibrary) typed_rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpTensor) result = NULL;
  GError *error = NULL;
  define (typed_rows, "unary(Tensor self) -> Tensor");
  xp_impl_calls_unary (cpu, typed_accept);
  xp_impl_calls_unary (cpu, typed_decline);
  n_tried = 0;
  xp_calls_unary (tensor, &result, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (result, tensor);
  ck_assert_uint_eq (n_tried, 1);

  g_autoptr (XpLibrary) cuda = impl_new ("calls", "CUDA");
  xp_impl_calls_unary (cuda, typed_decline);
  g_autoptr (XpTensor) on_cuda = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  g_autoptr (XpTensor) none = NULL;
  ck_assert_int_eq (xp_calls_unary (on_cuda, &none, &error), XP_FAILED);
  ck_assert_ptr_null (none);
  assert_error (error, XP_ERROR_DECLINED, "(the program): typed");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("declined");
  TCase *tests = tcase_create ("declined");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, the_next_on_the_key_is_tried);
  tcase_add_test (tests, an_error_of_one_that_declines);
  tcase_add_test (tests, then_the_lower_rules);
  tcase_add_test (tests, below_an_autograd_kernel_is_the_fallthrough);
  tcase_add_test (tests, below_a_fallback_is_the_next_fallback);
  tcase_add_test (tests, then_an_error_lists_them_all);
  tcase_add_test (tests, a_failure_ends_the_search);
  tcase_add_test (tests, a_kernel_may_give_no_reason);
  tcase_add_test (tests, a_failure_without_an_error_gets_one);
  tcase_add_loop_test (tests, a_success_that_is_none, 0, 6);
  tcase_add_test (tests, a_result_that_may_be_none);
  tcase_add_test (tests, typed_kernels_decline_too);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
