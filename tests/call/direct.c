/* SPDX-License-Identifier: MIT
 *
 * direct.c: handles to one registration, which answer when it is gone, and calls for one key.
 */
#include "plugin/fixtures.h"
#include "table/blocks.h"

static XpLibrary *rows, *low, *high;
static XpTensor *on_cpu, *sparse;

static void
set_up (void)
{
  rows = fragment_new ("direct");
  define (rows, "f(Tensor self) -> Tensor");
  define (rows, "two(Tensor self, Tensor other) -> Tensor");
  define (rows, "none(int n) -> int");
  low = impl_new ("direct", "CPU");
  on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  sparse = tensor_of (XP_FUNCTIONALITY_Sparse, XP_BACKEND_CPU);
  record_at (low, "f", 1);
}

static void
tear_down (void)
{
  xp_tensor_unref (on_cpu);
  xp_tensor_unref (sparse);
  xp_library_free (low);
  xp_library_free (high);
  xp_library_free (rows);
}

#define PROGRAM "the program"

static XpKernelHandle *
handle_new (const char *op, const char *plugin, XpKey key)
{
  GError *error = NULL;
  XpKernelHandle *handle = xp_operator_kernel (operator_named (op), plugin, key, &error);
  assert_no_error (error);
  return handle;
}

static int
line_of (XpKernelHandle *handle, XpTensor *tensor, GError **error)
{
  XpValue argument = xp_value_tensor (tensor), result = xp_value_int (3);
  ran = 0;
  XpStatus status = xp_kernel_handle_call (handle, &argument, &result, error);
  ck_assert_int_eq (status == XP_OK, *error == NULL);
  xp_value_clear (&result);
  return ran;
}

static void
assert_line (XpKernelHandle *handle, int line)
{
  GError *error = NULL;
  int found = line_of (handle, on_cpu, &error);
  assert_no_error (error);
  ck_assert_int_eq (found, line);
}

/* --- Finding. --- */

START_TEST (an_inactive_kernel_is_called)
{
  g_autoptr (XpKernelHandle) first = handle_new ("direct::f", PROGRAM, XP_KEY_CPU);
  high = impl_new ("direct", "CPU");
  record_at (high, "f", 2);
  g_autoptr (XpKernelHandle) second = handle_new ("direct::f", PROGRAM, XP_KEY_Undefined);
  ck_assert_int_eq (line_called ("direct::f", on_cpu), 2);
  assert_line (first, 1);
  assert_line (second, 2);
  g_clear_pointer (&high, xp_library_free);
  GError *error = NULL;
  ck_assert (xp_kernel_handle_is_stale (second) && !xp_kernel_handle_is_stale (first));
  ck_assert_int_eq (line_of (second, on_cpu, &error), 0);
  ck_assert_str_eq (xp_error_get_details (error)->op, "direct::f");
  ck_assert_str_eq (xp_error_get_details (error)->key, "CPU");
  ck_assert_str_eq (xp_error_get_details (error)->plugin, PROGRAM);
  assert_error (
      error, XP_ERROR_STALE_KERNEL,
      "the kernel of direct::f for CPU in the program, registered at kernel.c:2, is gone");
  assert_line (first, 1);
}
END_TEST

/* A handle is one for all who ask, and forgets nothing when the last of them is gone. */
START_TEST (handles_are_counted)
{
  XpKernelHandle *handle = handle_new ("direct::f", NULL, XP_KEY_CPU);
  XpKernelHandle *same = handle_new ("direct::f", PROGRAM, XP_KEY_CPU);
  ck_assert_ptr_eq (same, handle);
  xp_kernel_handle_unref (same);
  same = xp_kernel_handle_ref (handle);
  xp_kernel_handle_unref (handle);
  assert_line (same, 1);
  xp_kernel_handle_unref (same);
  xp_kernel_handle_unref (NULL);
  handle = handle_new ("direct::f", NULL, XP_KEY_CPU);
  assert_line (handle, 1);
  g_clear_pointer (&low, xp_library_free);
  ck_assert (xp_kernel_handle_is_stale (handle));
  /* What comes back is another registration. */
  low = impl_new ("direct", "CPU");
  record_at (low, "f", 4);
  ck_assert (xp_kernel_handle_is_stale (handle));
  xp_kernel_handle_unref (handle);
}
END_TEST

START_TEST (a_registration_that_fails_leaves_handles)
{
  g_autoptr (XpKernelHandle) handle = handle_new ("direct::f", NULL, XP_KEY_CPU);
  GError *error = NULL;
  const XpDefinition definition = {
    .size = sizeof definition, .schema = "f(Tensor self) -> Tensor", .file = "row.c", .line = 2
  };
  ck_assert (!xp_library_def (rows, &definition, &error));
  assert_error (error, XP_ERROR_DUPLICATE_DEF, "direct::f");
  assert_line (handle, 1);
}
END_TEST

START_TEST (the_row_changes_its_signature)
{
  g_autoptr (XpKernelHandle) old = handle_new ("direct::f", NULL, XP_KEY_CPU);
  XpOperator *op = operator_named ("direct::f");
  xp_library_free (rows);
  rows = fragment_new ("direct");
  GError *error = NULL;
  ck_assert_ptr_null (xp_operator_kernel (op, NULL, XP_KEY_CPU, &error));
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "direct::f");
  define (rows, "f(Tensor self, int n=0) -> Tensor");
  ck_assert_ptr_null (xp_operator_kernel (op, NULL, XP_KEY_CPU, &error));
  g_clear_error (&error);
  g_autoptr (XpKernelHandle) handle = handle_new ("direct::f", NULL, XP_KEY_CPU);
  ck_assert_ptr_ne (handle, old);
  ck_assert (xp_kernel_handle_is_stale (old));
  ck_assert (!xp_kernel_handle_is_stale (handle));
}
END_TEST

/* Without its row the kernel is not called either, and is again when the same row is back. */
START_TEST (the_row_goes_and_comes_back)
{
  g_autoptr (XpKernelHandle) handle = handle_new ("direct::f", NULL, XP_KEY_CPU);
  GError *error = NULL;
  xp_library_free (rows);
  ck_assert (xp_kernel_handle_is_stale (handle));
  ck_assert_int_eq (line_of (handle, on_cpu, &error), 0);
  assert_error (error, XP_ERROR_STALE_KERNEL, "direct::f");
  rows = fragment_new ("direct");
  define (rows, "f(Tensor self) -> Tensor");
  ck_assert (!xp_kernel_handle_is_stale (handle));
  assert_line (handle, 1);
}
END_TEST

/* What a cell holds, by whatever rule. */
START_TEST (the_kernel_of_a_cell)
{
  XpOperator *op = operator_named ("direct::f");
  g_autoptr (XpLibrary) math = impl_new ("direct", NULL);
  g_autoptr (XpLibrary) tracer = impl_new ("_", "Tracer");
  record_at (math, "f", 3);
  record_at (tracer, NULL, 4);
  GError *error = NULL;
  static const struct
  {
    XpKey key;
    int line;
  } cases[] = { { XP_KEY_CPU, 1 }, { XP_KEY_CUDA, 3 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (XpKernelHandle) handle = xp_operator_computed_kernel (op, cases[i].key, &error);
      assert_no_error (error);
      assert_line (handle, cases[i].line);
    }
  static const struct
  {
    XpKey key;
    XpError code;
    const char *text;
  } refused[] = {
    { XP_KEY_Autograd, XP_ERROR_ALIAS_KEY, "Autograd has no cell" },
    { XP_KEY_Dense, XP_ERROR_ALIAS_KEY, "Dense has no cell" },
    { XP_KEY_Tracer, XP_ERROR_INVALID_ARGUMENT, "is a fallback of all operators" },
    { XP_KEY_AutogradCPU, XP_ERROR_INVALID_ARGUMENT, "is a fallthrough" },
    { XP_KEY_Batched, XP_ERROR_MISSING_KERNEL, "no kernel for Batched for direct::f: its cell is" },
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      ck_assert_ptr_null (xp_operator_computed_kernel (op, refused[i].key, &error));
      assert_error (error, refused[i].code, refused[i].text);
    }
}
END_TEST

START_TEST (what_is_not_found)
{
  XpOperator *op = operator_named ("direct::f");
  GError *error = NULL;
  ck_assert_ptr_null (xp_operator_kernel (op, NULL, XP_KEY_Undefined, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "by its plugin, its key, or both");
  ck_assert_ptr_null (xp_operator_kernel (op, "absent", XP_KEY_CPU, &error));
  ck_assert_str_eq (xp_error_get_details (error)->plugin, "absent");
  assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED, "absent is not loaded");
  ck_assert_ptr_null (xp_operator_kernel (op, NULL, XP_KEY_CUDA, &error));
  ck_assert_str_eq (xp_error_get_details (error)->candidates[0], "the program/CPU");
  assert_error (error, XP_ERROR_MISSING_KERNEL,
                "there is no kernel of direct::f on CUDA; there are: the program/CPU");
  ck_assert_ptr_null (xp_operator_kernel (op, PROGRAM, XP_KEY_CUDA, &error));
  assert_error (error, XP_ERROR_MISSING_KERNEL, "the program has no kernel of direct::f on CUDA");
  ck_assert_ptr_null (xp_operator_kernel (op, "core", XP_KEY_Undefined, &error));
  assert_error (error, XP_ERROR_MISSING_KERNEL, "core has no kernel of direct::f; there are");
  op = operator_named ("direct::none");
  ck_assert_ptr_null (xp_operator_kernel (op, PROGRAM, XP_KEY_Undefined, &error));
  assert_error (error, XP_ERROR_MISSING_KERNEL, "nobody has one");
  high = impl_new ("direct", "SparseCPU");
  record_at (high, "f", 2);
  op = operator_named ("direct::f");
  ck_assert_ptr_null (xp_operator_kernel (op, PROGRAM, XP_KEY_Undefined, &error));
  ck_assert_str_eq (xp_error_get_details (error)->candidates[1], "SparseCPU");
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "on several keys: name one of CPU, SparseCPU");
  g_autoptr (XpLibrary) meta = impl_new ("direct", "Meta");
  implement (meta, "f", xp_fallthrough, 9);
  ck_assert_ptr_null (xp_operator_kernel (op, PROGRAM, XP_KEY_Meta, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "kernel.c:9 for direct::f is a fallthrough");
}
END_TEST

/* --- Calling. --- */

static XpStatus
look_at_call (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  g_autofree char *keys = xp_key_set_to_string (xp_call_keys (call));
  ck_assert_str_eq (keys, xp_call_data (call));
  ck_assert_ptr_eq (call, xp_thread.top - 1);
  return give_something (call, arguments, results, error);
}

/* It sees the call as if it had come down to its key, whatever stands above. */
START_TEST (the_keys_that_it_sees)
{
  g_autoptr (XpLibrary) autograd = impl_new ("direct", "AutogradCPU");
  high = impl_new ("direct", "CPU");
  implement_with (autograd, "two", look_at_call, 1,
                  (void *) "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU)", NULL);
  implement_with (high, "two", look_at_call, 2, (void *) "DispatchKeySet(CPU)", NULL);
  XpValue arguments[] = { xp_value_tensor (on_cpu), xp_value_tensor (on_cpu) }, result;
  static const XpKey keys[] = { XP_KEY_CPU, XP_KEY_AutogradCPU };
  GError *error = NULL;
  for (unsigned i = 0; i < 2; i++)
    {
      g_autoptr (XpKernelHandle) handle = handle_new ("direct::two", NULL, keys[i]);
      ck_assert_int_eq (xp_kernel_handle_call (handle, arguments, &result, &error), XP_OK);
      assert_no_error (error);
    }
  ck_assert_ptr_null (xp_thread.top->kernel);
  /* Nor does it see what the thread excludes. */
  g_autoptr (XpLibrary) newer = impl_new ("direct", "AutogradCPU");
  implement_with (newer, "two", look_at_call, 3, (void *) "DispatchKeySet(CPU, AutogradCPU)", NULL);
  g_autoptr (XpKernelHandle) handle = handle_new ("direct::two", NULL, XP_KEY_AutogradCPU);
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_ADInplaceOrView));
  ck_assert_int_eq (xp_kernel_handle_call (handle, arguments, &result, &error), XP_OK);
  assert_no_error (error);
}
END_TEST

START_TEST (arguments_that_are_not_for_it)
{
  g_autoptr (XpKernelHandle) handle = handle_new ("direct::f", NULL, XP_KEY_CPU);
  g_autoptr (XpTensor) on_cuda = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  GError *error = NULL;
  ck_assert_int_eq (line_of (handle, on_cuda, &error), 0);
  assert_error (error, XP_ERROR_DEVICE_MISMATCH, "takes tensors of its own device");
  ck_assert_int_eq (line_of (handle, sparse, &error), 0);
  assert_error (error, XP_ERROR_ARGUMENT, "does not take tensors of SparseCPU");
  /* What a key above takes, a composite takes. */
  g_autoptr (XpLibrary) math = impl_new ("direct", NULL);
  record_at (math, "f", 7);
  g_autoptr (XpKernelHandle) composite = handle_new ("direct::f", NULL,
                                                     XP_KEY_CompositeImplicitAutograd);
  ck_assert_int_eq (line_of (composite, sparse, &error), 7);
  ck_assert_int_eq (line_of (composite, on_cuda, &error), 7);
  assert_no_error (error);
}
END_TEST

static XpStatus
decline (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
         G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_string ("half a result");
  return xp_call_decline (call, "not today");
}

static XpStatus
fail_at_once (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
              G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_string ("half a result");
  return XP_FAILED;
}

/* No other kernel steps in. */
START_TEST (it_declines_or_fails)
{
  high = impl_new ("direct", "CPU");
  implement (high, "f", decline, 2);
  g_autoptr (XpKernelHandle) declines = handle_new ("direct::f", NULL, XP_KEY_CPU);
  XpValue argument = xp_value_tensor (on_cpu), result;
  GError *error = NULL;
  ran = 0;
  ck_assert_int_eq (xp_kernel_handle_call (declines, &argument, &result, &error), XP_FAILED);
  ck_assert_int_eq (ran, 0);
  ck_assert_int_eq (result.tag, XP_TAG_NONE);
  assert_error (error, XP_ERROR_DECLINED, "kernel.c:2, declined the arguments: not today");
  ck_assert_int_eq (xp_kernel_handle_call (declines, &argument, &result, NULL), XP_FAILED);
  ck_assert_int_eq (line_called ("direct::f", on_cpu), 1);
  implement (high, "two", fail_at_once, 3);
  g_autoptr (XpKernelHandle) fails = handle_new ("direct::two", NULL, XP_KEY_CPU);
  XpValue two[] = { argument, argument };
  ck_assert_int_eq (xp_kernel_handle_call (fails, two, &result, &error), XP_FAILED);
  ck_assert_int_eq (result.tag, XP_TAG_NONE);
  assert_error (error, XP_ERROR_INTERNAL, "kernel.c:3");
}
END_TEST

static XpKernelHandle *own;

static XpStatus
call_itself (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  ran++;
  return xp_kernel_handle_call (own, arguments, results, error);
}

START_TEST (it_calls_itself)
{
  high = impl_new ("direct", "CPU");
  implement (high, "f", call_itself, 2);
  own = handle_new ("direct::f", NULL, XP_KEY_CPU);
  GError *error = NULL;
  ck_assert_int_eq (line_of (own, on_cpu, &error), 1000);
  assert_error (error, XP_ERROR_RECURSION, "direct::f [CPU] -> direct::f");
  xp_kernel_handle_unref (own);
}
END_TEST

/* --- Unloading meanwhile. --- */

static int is_inside, may_leave, n_called;

static void
stay_inside (G_GNUC_UNUSED void *data)
{
  __atomic_store_n (&is_inside, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n (&may_leave, __ATOMIC_SEQ_CST))
    g_usleep (200);
}

static void *
call_run (void *handle)
{
  XpValue arguments[] = { xp_value_tensor (on_cpu), xp_value_int ((intptr_t) stay_inside),
                          xp_value_int (0) };
  GError *error = NULL;
  ck_assert_int_eq (xp_kernel_handle_call (handle, arguments, NULL, &error), XP_OK);
  assert_no_error (error);
  return NULL;
}

static void *
unload_slowly (void *plugin)
{
  unload (plugin);
  __atomic_store_n (&n_called, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

/* The unloading waits for a call through the handle, and is over when that is. */
START_TEST (unloading_waits_for_it)
{
  XpPlugin *plugin_rows = load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autoptr (XpKernelHandle) handle = handle_new ("fixture::run", "first", XP_KEY_Undefined);
  GThread *caller = g_thread_new ("caller", call_run, handle);
  while (!__atomic_load_n (&is_inside, __ATOMIC_SEQ_CST))
    g_usleep (200);
  GThread *unloader = g_thread_new ("unloader", unload_slowly, first);
  while (!xp_kernel_handle_is_stale (handle))
    g_usleep (200);
  g_usleep (20000);
  ck_assert_int_eq (__atomic_load_n (&n_called, __ATOMIC_SEQ_CST), 0);
  __atomic_store_n (&may_leave, 1, __ATOMIC_SEQ_CST);
  g_thread_join (caller);
  g_thread_join (unloader);
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
  XpValue none[] = { xp_value_tensor (on_cpu), xp_value_int (0), xp_value_int (0) };
  GError *error = NULL;
  ck_assert_int_eq (xp_kernel_handle_call (handle, none, NULL, &error), XP_FAILED);
  assert_error (error, XP_ERROR_STALE_KERNEL, "fixture::run for CPU in first");
  unload (plugin_rows);
}
END_TEST

typedef struct
{
  XpKernelHandle *handle;
  int n_good, n_stale, n_wrong;
} Caller;

static void *
call_until_stale (void *data)
{
  Caller *caller = data;
  XpValue argument = xp_value_tensor (on_cpu), result;
  while (caller->n_stale < 3)
    {
      g_autoptr (GError) error = NULL;
      if (xp_kernel_handle_call (caller->handle, &argument, &result, &error) != XP_OK)
        *(g_error_matches (error, XP_ERROR, XP_ERROR_STALE_KERNEL) ? &caller->n_stale
                                                                   : &caller->n_wrong)
            += 1;
      else if (result.tag == XP_TAG_INT && result.as.integer == 1 && caller->n_stale == 0)
        caller->n_good++;
      else
        caller->n_wrong++;
      __atomic_add_fetch (&n_called, 1, __ATOMIC_SEQ_CST);
    }
  return NULL;
}

/* Two threads call while the file goes: each call is good or answers that it is stale. */
START_TEST (unloading_under_its_calls)
{
  XpPlugin *plugin_rows = load_fixture ("rows");
  for (unsigned round = 0; round < 20; round++)
    {
      XpPlugin *first = load_fixture ("first");
      g_autoptr (XpKernelHandle) handle = handle_new ("fixture::number", "first", XP_KEY_CPU);
      Caller callers[2] = { { .handle = handle }, { .handle = handle } };
      GThread *threads[2];
      n_called = 0;
      for (unsigned i = 0; i < 2; i++)
        threads[i] = g_thread_new ("caller", call_until_stale, &callers[i]);
      while (__atomic_load_n (&n_called, __ATOMIC_SEQ_CST) < 100)
        g_thread_yield ();
      unload (first);
      for (unsigned i = 0; i < 2; i++)
        {
          g_thread_join (threads[i]);
          ck_assert_int_eq (callers[i].n_wrong, 0);
        }
      ck_assert_int_gt (callers[0].n_good + callers[1].n_good, 0);
      ck_assert_int_eq (callers[0].n_stale + callers[1].n_stale, 6);
    }
  unload (plugin_rows);
}
END_TEST

/* --- Callers that forget something. --- */

static unsigned n_criticals;

static void
count_critical (G_GNUC_UNUSED const char *domain, G_GNUC_UNUSED GLogLevelFlags level,
                G_GNUC_UNUSED const char *message, G_GNUC_UNUSED void *data)
{
  n_criticals++;
}

/* A message for the programmer, and a failure: no crash. */
START_TEST (a_call_without_arguments)
{
  XpOperator *op = operator_named ("direct::f");
  g_autoptr (XpKernelHandle) handle = handle_new ("direct::f", NULL, XP_KEY_CPU);
  XpValue argument = xp_value_tensor (on_cpu), result = XP_NONE;
  g_log_set_always_fatal (G_LOG_FATAL_MASK);
  g_log_set_handler ("crosspoint", G_LOG_LEVEL_CRITICAL, count_critical, NULL);
  XpKeySet keys = xp_key_set (XP_KEY_CPU);
  ck_assert_int_eq (xp_operator_call (op, NULL, &result, NULL), XP_FAILED);
  ck_assert_int_eq (xp_operator_call (op, &argument, NULL, NULL), XP_FAILED);
  ck_assert_int_eq (xp_operator_call (NULL, &argument, &result, NULL), XP_FAILED);
  ck_assert_int_eq (xp_operator_redispatch (op, keys, NULL, &result, NULL), XP_FAILED);
  ck_assert_int_eq (xp_operator_redispatch (op, keys, &argument, NULL, NULL), XP_FAILED);
  ck_assert_int_eq (xp_kernel_handle_call (handle, NULL, &result, NULL), XP_FAILED);
  ck_assert_int_eq (xp_kernel_handle_call (handle, &argument, NULL, NULL), XP_FAILED);
  ck_assert_int_eq (xp_kernel_handle_call (NULL, &argument, &result, NULL), XP_FAILED);
  ck_assert_int_eq (xp_operator_call_for_key (op, XP_KEY_CPU, NULL, &result, NULL), XP_FAILED);
  ck_assert_int_eq (xp_operator_call_for_key (op, XP_KEY_CPU, &argument, NULL, NULL), XP_FAILED);
  ck_assert_uint_eq (n_criticals, 10);
}
END_TEST

/* --- Calls for a key. --- */

static XpStatus
call_for (XpKey key, XpTensor *tensor, GError **error)
{
  XpValue argument = xp_value_tensor (tensor), result = xp_value_int (3);
  ran = 0;
  XpStatus status = xp_operator_call_for_key (operator_named ("direct::f"), key, &argument, &result,
                                              error);
  ck_assert_int_eq (result.tag, status == XP_OK ? XP_TAG_INT : XP_TAG_NONE);
  return status;
}

START_TEST (a_call_for_a_key)
{
  g_autoptr (XpLibrary) meta = impl_new ("direct", "Meta");
  g_autoptr (XpLibrary) math = impl_new ("direct", NULL);
  g_autoptr (XpLibrary) fallback = impl_new ("_", "Tracer");
  record_at (meta, "f", 2);
  record_at (math, "f", 3);
  record_at (fallback, NULL, 4);
  GError *error = NULL;
  static const struct
  {
    XpKey key;
    int line;
  } cases[] = { { XP_KEY_CPU, 1 }, { XP_KEY_Meta, 2 }, { XP_KEY_Tracer, 4 } };
  for (unsigned i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      ck_assert_int_eq (call_for (cases[i].key, on_cpu, &error), XP_OK);
      assert_no_error (error);
      ck_assert_int_eq (ran, cases[i].line);
    }
  /* An alias fills the cell, but is not registered to the key. */
  ck_assert (xp_table_has_computed_kernel ("direct::f", XP_KEY_CUDA, NULL));
  ck_assert_int_eq (call_for (XP_KEY_CUDA, on_cpu, &error), XP_FAILED);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "no kernel of direct::f on CUDA");
  ck_assert_int_eq (call_for (XP_KEY_CompositeImplicitAutograd, on_cpu, &error), XP_FAILED);
  assert_error (error, XP_ERROR_ALIAS_KEY, "name a runtime key");
  ck_assert_int_eq (call_for (XP_KEY_AutogradCPU, on_cpu, &error), XP_FAILED);
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "is a fallthrough: there is no kernel to call");
  ck_assert_int_eq (call_for (XP_KEY_Undefined, on_cpu, &error), XP_FAILED);
  assert_error (error, XP_ERROR_ALIAS_KEY, "Undefined");
}
END_TEST

/* The kernel sees the key set of an ordinary call (reference 7.2). */
START_TEST (the_keys_of_a_call_for_a_key)
{
  g_autoptr (XpLibrary) meta = impl_new ("direct", "Meta");
  implement_with (meta, "f", look_at_call, 2, (void *) "DispatchKeySet(CPU)", NULL);
  GError *error = NULL;
  ck_assert_int_eq (call_for (XP_KEY_Meta, on_cpu, &error), XP_OK);
  assert_no_error (error);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("direct");
  TCase *tests = tcase_create ("direct");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, an_inactive_kernel_is_called);
  tcase_add_test (tests, handles_are_counted);
  tcase_add_test (tests, a_registration_that_fails_leaves_handles);
  tcase_add_test (tests, the_row_changes_its_signature);
  tcase_add_test (tests, the_row_goes_and_comes_back);
  tcase_add_test (tests, the_kernel_of_a_cell);
  tcase_add_test (tests, what_is_not_found);
  tcase_add_test (tests, the_keys_that_it_sees);
  tcase_add_test (tests, arguments_that_are_not_for_it);
  tcase_add_test (tests, it_declines_or_fails);
  tcase_add_test (tests, it_calls_itself);
  tcase_add_test (tests, unloading_waits_for_it);
  tcase_add_test (tests, unloading_under_its_calls);
  tcase_add_test (tests, a_call_without_arguments);
  tcase_add_test (tests, a_call_for_a_key);
  tcase_add_test (tests, the_keys_of_a_call_for_a_key);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
