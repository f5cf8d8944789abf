/* SPDX-License-Identifier: MIT
 *
 * keys.c: from arguments to a key set to a cell: which arguments bring keys, what the thread adds
 * and takes away, and how guards nest (reference 7.1 to 7.4).
 */
#include "calls.h"
#include "table/blocks.h"

/* --- Which arguments bring keys. --- */

static XpKeySet seen;

static XpStatus
keep_keys (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  seen = xp_call_keys (call);
  return give_something (call, arguments, results, error);
}

static void
assert_seen (const char *expected)
{
  assert_text (xp_key_set_to_string (seen), expected);
}

#define TENSORS_SCHEMA                                                                             \
  "tensors(Tensor? self, Tensor[] list, Tensor?[] holes, Tensor[]? more=None) -> Tensor"

typedef struct
{
  XpLibrary *rows;
  XpLibrary *modes[4];
  XpTensor *on_cpu;
  XpTensor *on_cuda;
  XpTensor *sparse;
} Fixture;

static Fixture fixture;

/* keep_keys() sees what a call brings at the key before anything is passed over. */
static void
set_up (void)
{
  static const char *const keys[] = { "CPU", "CUDA", "SparseCPU", "BackendSelect" };
  fixture.rows = fragment_new ("calls");
  define (fixture.rows, TENSORS_SCHEMA);
  define (fixture.rows, "unary(Tensor self) -> Tensor");
  define (fixture.rows, "nested(Tensor[][] lists, Any other) -> Tensor");
  for (unsigned i = 0; i < 4; i++)
    {
      fixture.modes[i] = impl_new ("calls", keys[i]);
      for (unsigned name = 0; i < 3 && name < 3; name++)
        implement (fixture.modes[i], (const char *[]){ "tensors", "unary", "nested" }[name],
                   keep_keys, (int) i);
    }
  fixture.on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  fixture.on_cuda = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  fixture.sparse = tensor_of (XP_FUNCTIONALITY_Sparse, XP_BACKEND_CPU);
}

static void
tear_down (void)
{
  for (unsigned i = 0; i < 4; i++)
    xp_library_free (fixture.modes[i]);
  xp_library_free (fixture.rows);
  xp_tensor_unref (fixture.on_cpu);
  xp_tensor_unref (fixture.on_cuda);
  xp_tensor_unref (fixture.sparse);
}

static XpValue
list_of (XpTensor *const *tensors, size_t n)
{
  return xp_value_list (xp_list_new_tensor (tensors, n));
}

/* The keys of a call of calls::tensors, boxed or typed, where each argument may have one tensor. */
static void
call_tensors (XpTensor *self, XpTensor *in_list, XpTensor *in_holes, XpTensor *in_more, bool typed)
{
  GError *error = NULL;
  XpTensor *holes[] = { NULL, in_holes };
  XpTensors list = { &in_list, in_list != NULL }, more = { &in_more, 1 };
  seen = (XpKeySet){ 0, 0 };
  if (typed)
    {
      XpTensor *result = NULL;
      xp_calls_tensors (self, list, (XpTensors){ holes, in_holes != NULL ? 2 : 0 },
                        in_more != NULL ? &more : NULL, &result, &error);
      /* keep_keys() returns a number, which this typed caller does not take. */
      assert_error (error, XP_ERROR_INTERNAL, "returned a int as result 0");
      return;
    }
  XpValue arguments[] = { xp_value_tensor (self), list_of (list.data, list.length),
                          list_of (holes, in_holes != NULL ? 2 : 0),
                          in_more != NULL ? list_of (more.data, 1) : XP_NONE };
  call_named ("calls::tensors", arguments, &error);
  assert_no_error (error);
  xp_values_clear (arguments + 1, 3);
}

START_TEST (tensors_wherever_they_stand)
{
  bool typed = _i >= 4;
  for (unsigned which = 0; which < 3; which++)
    {
      static const char *const expected[] = { "DispatchKeySet(CPU)", "DispatchKeySet(CUDA)",
                                              "DispatchKeySet(SparseCPU)" };
      XpTensor *tensor = (XpTensor *[]){ fixture.on_cpu, fixture.on_cuda, fixture.sparse }[which];
      XpTensor *at[4] = { NULL };
      at[_i % 4] = tensor;
      call_tensors (at[0], at[1], at[2], at[3], typed);
      assert_seen (expected[which]);
    }
}
END_TEST

START_TEST (keys_of_several_arguments_are_united)
{
  call_tensors (fixture.on_cpu, fixture.sparse, NULL, NULL, _i == 1);
  assert_seen ("DispatchKeySet(CPU, SparseCPU)");
  call_tensors (fixture.sparse, NULL, NULL, fixture.on_cpu, _i == 1);
  assert_seen ("DispatchKeySet(CPU, SparseCPU)");
}
END_TEST

START_TEST (tensors_in_lists_of_lists)
{
  GError *error = NULL;
  XpValue inner[] = { list_of (NULL, 0), list_of (&fixture.on_cuda, 1) };
  XpValue arguments[] = { xp_value_list (xp_list_new (inner, 2)), XP_NONE };
  call_named ("calls::nested", arguments, &error);
  assert_no_error (error);
  assert_seen ("DispatchKeySet(CUDA)");
  xp_values_clear (inner, 2);
  /* An argument of another type brings nothing, whatever it holds. */
  xp_value_clear (&arguments[0]);
  arguments[0] = list_of (NULL, 0);
  arguments[1] = xp_value_tensor (fixture.on_cpu);
  ck_assert_int_eq (call_named ("calls::nested", arguments, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "calls::nested");
  xp_value_clear (&arguments[0]);
}
END_TEST

/* --- What a thread adds and takes away. --- */

static void
assert_thread (const char *included, const char *excluded)
{
  assert_text (xp_key_set_to_string (xp_thread.included), included);
  g_autofree char *text = xp_key_set_to_string (xp_thread.excluded);
  ck_assert_msg (strstr (text, excluded) != NULL, "%s is not in %s", excluded, text);
}

#define DEFAULT_INCLUDED "DispatchKeySet(BackendSelect, ADInplaceOrView)"
#define DEFAULT_EXCLUDED                                                                           \
  "DispatchKeySet(AutocastCPU, AutocastMTIA, AutocastMAIA, AutocastXPU, AutocastIPU, "             \
  "AutocastHPU, AutocastXLA, AutocastMPS, AutocastCUDA, AutocastPrivateUse1)"

static void *
look_from_another_thread (G_GNUC_UNUSED void *data)
{
  assert_thread (DEFAULT_INCLUDED, DEFAULT_EXCLUDED);
  return NULL;
}

START_TEST (every_thread_begins_with_the_defaults)
{
  assert_thread (DEFAULT_INCLUDED, DEFAULT_EXCLUDED);
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
  g_thread_join (g_thread_new ("defaults", look_from_another_thread, NULL));
}
END_TEST

START_TEST (guards_nest)
{
  XpThreadKeys before = xp_thread_keys ();
  {
    XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
    assert_thread ("DispatchKeySet(BackendSelect, ADInplaceOrView, Tracer)", DEFAULT_EXCLUDED);
    {
      XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
      XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
      assert_thread ("DispatchKeySet(BackendSelect, ADInplaceOrView, Tracer)",
                     "DispatchKeySet(Tracer, AutocastCPU");
      {
        XP_FORCE_KEYS (xp_key_set (XP_KEY_Meta), xp_key_set (XP_KEY_Named));
        assert_thread ("DispatchKeySet(Meta)", "DispatchKeySet(Named)");
      }
      {
        XP_PRESERVE_KEYS ();
        xp_thread.included = (XpKeySet){ 0, 0 };
        xp_thread.excluded = (XpKeySet){ 0, 0 };
      }
      assert_thread ("DispatchKeySet(BackendSelect, ADInplaceOrView, Tracer)",
                     "DispatchKeySet(Tracer, AutocastCPU");
    }
    assert_thread ("DispatchKeySet(BackendSelect, ADInplaceOrView, Tracer)", DEFAULT_EXCLUDED);
    {
      XP_BELOW_AUTOGRAD ();
      ck_assert_uint_eq (xp_thread.excluded.functionality, XP_AUTOCAST_MASK | XP_AUTOGRAD_MASK);
      XP_BELOW_AD_INPLACE_OR_VIEW ();
      ck_assert_uint_eq (xp_thread.excluded.functionality,
                         XP_AUTOCAST_MASK | XP_AUTOGRAD_MASK
                             | XP_BIT (XP_FUNCTIONALITY_ADInplaceOrView));
    }
    for (unsigned i = 0; i < 3; i++)
      {
        XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_Named));
        if (i == 1)
          break;
      }
  }
  XpThreadKeys after = xp_thread_keys ();
  ck_assert_int_eq (memcmp (&before, &after, sizeof before), 0);
}
END_TEST

static int
line_of (XpTensor *tensor)
{
  return line_called ("calls::line", tensor);
}

START_TEST (a_guard_decides_where_a_call_goes)
{
  static const char *const keys[] = { "CPU", "AutogradCPU", "AutocastCPU", "Tracer", "CUDA" };
  XpLibrary *blocks[5];
  define (fixture.rows, "line(Tensor self) -> Tensor");
  for (int i = 0; i < 5; i++)
    {
      blocks[i] = impl_new ("calls", keys[i]);
      record_at (blocks[i], "line", i);
    }
  XpTensor *tensor = fixture.on_cpu;
  ck_assert_int_eq (line_of (tensor), 1);
  {
    XP_BELOW_AUTOGRAD ();
    ck_assert_int_eq (line_of (tensor), 0);
  }
  {
    XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
    ck_assert_int_eq (line_of (tensor), 3);
    XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_Tracer)); /* excluding wins */
    ck_assert_int_eq (line_of (tensor), 1);
  }
  {
    /* Autocast is enabled by excluding it no longer. */
    XpKeySet excluded = xp_key_set_remove (xp_thread.excluded, XP_KEY_AutocastCPU);
    XP_FORCE_KEYS (xp_thread.included, excluded);
    ck_assert_int_eq (line_of (tensor), 2);
  }
  {
    /* A backend that the thread adds beats that of the arguments: CUDA is above CPU. */
    XP_INCLUDE_KEYS (xp_key_set (XP_KEY_CUDA));
    XP_BELOW_AUTOGRAD ();
    ck_assert_int_eq (line_of (tensor), 4);
  }
  ck_assert_int_eq (line_of (tensor), 1);
  for (int i = 0; i < 5; i++)
    xp_library_free (blocks[i]);
}
END_TEST

/* Reference 10, number 20: excluding a dense backend key takes away dense for every backend. */
START_TEST (excluding_a_backend_key_excludes_the_functionality)
{
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_CUDA));
  XpValue argument = xp_value_tensor (fixture.on_cpu);
  GError *error = NULL;
  ck_assert_int_eq (call_named ("calls::unary", &argument, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "calls::unary");
}
END_TEST

/* Made in inference mode, a tensor carries no autograd key. */
START_TEST (keys_that_tensors_carry)
{
  static const struct
  {
    XpFunctionality functionality;
    XpBackend backend;
    const char *text;
  } cases[] = {
    { XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU, "CPU, ADInplaceOrView, AutogradCPU, AutocastCPU" },
    { XP_FUNCTIONALITY_Sparse, XP_BACKEND_CPU,
      "SparseCPU, ADInplaceOrView, AutogradCPU, AutocastCPU" },
    { XP_FUNCTIONALITY_Quantized, XP_BACKEND_CPU,
      "QuantizedCPU, ADInplaceOrView, AutogradCPU, AutocastCPU" },
    { XP_FUNCTIONALITY_SparseCsr, XP_BACKEND_CPU,
      "SparseCsrCPU, ADInplaceOrView, AutogradCPU, AutocastCPU" },
    { XP_FUNCTIONALITY_NestedTensor, XP_BACKEND_CPU,
      "NestedTensorCPU, ADInplaceOrView, AutogradCPU, AutogradNestedTensor, AutocastCPU" },
    { XP_FUNCTIONALITY_Dense, XP_BACKEND_Meta, "Meta, ADInplaceOrView, AutogradMeta" },
    { XP_FUNCTIONALITY_Dense, XP_BACKEND_HIP, "HIP, ADInplaceOrView, AutogradOther" },
  };
  g_autoptr (XpTensor) tensor = tensor_of (cases[_i].functionality, cases[_i].backend);
  g_autofree char *expected = g_strdup_printf ("DispatchKeySet(%s)", cases[_i].text);
  assert_text (xp_key_set_to_string (tensor->keys), expected);
}
END_TEST

/* --- Redispatch: the key set is taken as it is. --- */

START_TEST (a_redispatch_asks_neither_thread_nor_masks)
{
  static const char *const keys[] = { "CPU", "AutogradCPU", "Tracer" };
  XpLibrary *blocks[3];
  define (fixture.rows, "line(Tensor self) -> Tensor");
  for (int i = 0; i < 3; i++)
    {
      blocks[i] = impl_new ("calls", keys[i]);
      record_at (blocks[i], "line", i + 1);
    }
  XpOperator *op = operator_named ("calls::line");
  XpValue argument = xp_value_tensor (fixture.on_cuda), result;
  GError *error = NULL;
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_CPU));
  static const XpKey redispatched[] = { XP_KEY_CPU, XP_KEY_AutogradCPU, XP_KEY_Tracer };
  for (unsigned i = 0; i < 3; i++)
    {
      xp_operator_redispatch (op, xp_key_set (redispatched[i]), &argument, &result, &error);
      assert_no_error (error);
      ck_assert_int_eq (ran, (int) i + 1);
    }
  /* A cell that is passed over, reached all the same, resolves again: here to CPU. */
  XpKeySet both = xp_key_set_add (xp_key_set (XP_KEY_CPU), XP_KEY_ADInplaceOrView);
  xp_operator_redispatch (op, both, &argument, &result, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 1);
  ck_assert_int_eq (
      xp_operator_redispatch (op, xp_key_set (XP_KEY_ADInplaceOrView), &argument, &result, &error),
      XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "calls::line");
  for (int i = 0; i < 3; i++)
    xp_library_free (blocks[i]);
}
END_TEST

/* --- BackendSelect. --- */

static XpStatus
select_backend (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDevice *device, XpTensor **result,
                GError **error)
{
  unsigned backend = device != NULL ? (unsigned) device->backend : XP_BACKEND_CPU;
  return xp_calls_factory_redispatch (xp_key_set (xp_key_of (XP_FUNCTIONALITY_Dense, backend)),
                                      size, device, result, error);
}

static XpStatus
make_tensor (XpCall *call, G_GNUC_UNUSED XpInts size, G_GNUC_UNUSED const XpDevice *device,
             XpTensor **result, G_GNUC_UNUSED GError **error)
{
  *result = tensor_of (XP_FUNCTIONALITY_Dense, (XpBackend) xp_key_backend (xp_call_key (call)));
  return XP_OK;
}

START_TEST (a_factory_goes_where_it_is_sent)
{
  g_autoptr (XpLibrary) select = impl_new ("calls", "BackendSelect");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpLibrary) meta = impl_new ("calls", "Meta");
  define (fixture.rows, "factory(int[] size, *, Device? device=None) -> Tensor");
  xp_impl_calls_factory (cpu, make_tensor);
  xp_impl_calls_factory (meta, make_tensor);
  GError *error = NULL;
  g_autoptr (XpTensor) none = NULL;
  ck_assert_int_eq (xp_calls_factory (XP_INTS (2), NULL, &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "Available functions are [CPU, Meta].");

  xp_impl_calls_factory (select, select_backend);
  g_autoptr (XpTensor) on_cpu = NULL;
  g_autoptr (XpTensor) on_meta = NULL;
  xp_calls_factory (XP_INTS (2, 3), NULL, &on_cpu, &error);
  assert_no_error (error);
  xp_calls_factory (XP_INTS (2, 3), &XP_META, &on_meta, &error);
  assert_no_error (error);
  ck_assert_int_eq (xp_tensor_device (on_cpu).backend, XP_BACKEND_CPU);
  ck_assert_int_eq (xp_tensor_device (on_meta).backend, XP_BACKEND_Meta);
  ck_assert_int_eq (
      xp_calls_factory (XP_INTS (2), &(XpDevice){ XP_BACKEND_CUDA, 0 }, &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "'CUDA' backend");
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_BackendSelect));
  ck_assert_int_eq (xp_calls_factory (XP_INTS (2), NULL, &none, &error), XP_FAILED);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "calls::factory");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("keys");
  TCase *tests = tcase_create ("keys");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_loop_test (tests, tensors_wherever_they_stand, 0, 8);
  tcase_add_loop_test (tests, keys_of_several_arguments_are_united, 0, 2);
  tcase_add_test (tests, tensors_in_lists_of_lists);
  tcase_add_test (tests, every_thread_begins_with_the_defaults);
  tcase_add_test (tests, guards_nest);
  tcase_add_test (tests, a_guard_decides_where_a_call_goes);
  tcase_add_test (tests, excluding_a_backend_key_excludes_the_functionality);
  tcase_add_loop_test (tests, keys_that_tensors_carry, 0, 7);
  tcase_add_test (tests, a_redispatch_asks_neither_thread_nor_masks);
  tcase_add_test (tests, a_factory_goes_where_it_is_sent);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
