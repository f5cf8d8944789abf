/* SPDX-License-Identifier: MIT
 *
 * preferences.c: kernels that one thread prefers: for its own calls of every kind, while others and
 * the table go on as before, and also while the table changes.
 */
#include "calls.h"
#include "table/blocks.h"

static XpLibrary *rows, *first, *second;
static XpTensor *on_cpu;

/* Typed, with its line in @ran, as recording_kernel() does boxed. */
static XpStatus
second_unary (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result,
              G_GNUC_UNUSED GError **error)
{
  ran = 22;
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static XpStatus
first_unary (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result,
             G_GNUC_UNUSED GError **error)
{
  ran = 11;
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static Open low, high;

static XpLibrary *
open_by (Open open, const char *name_space, const char *key)
{
  GError *error = NULL;
  XpLibrary *block = open (XP_LIBRARY_KIND_IMPL, name_space, key, "block.c", 1, &error);
  assert_no_error (error);
  return block;
}

/* p::f: 2 of opener_high before 1 of opener_low. */
static void
set_up (void)
{
  low = opener ("opener_low");
  high = opener ("opener_high");
  rows = fragment_new ("p");
  define (rows, "f(Tensor x) -> Tensor");
  first = open_by (low, "p", "CPU");
  second = open_by (high, "p", "CPU");
  record_at (first, "f", 1);
  record_at (second, "f", 2);
  on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
}

static void
tear_down (void)
{
  assert_table_is_sound ();
  xp_tensor_unref (on_cpu);
  xp_library_free (first);
  xp_library_free (second);
  xp_library_free (rows);
}

static void
assert_line (int line)
{
  ck_assert_int_eq (line_called ("p::f", on_cpu), line);
}

static void *
line_elsewhere (G_GNUC_UNUSED void *data)
{
  return GINT_TO_POINTER (line_called ("p::f", on_cpu));
}

static int
line_on_another_thread (GThreadFunc function, void *data)
{
  GThread *thread = g_thread_new ("other", function, data);
  return GPOINTER_TO_INT (g_thread_join (thread));
}

START_TEST (only_in_the_scope_and_on_the_thread)
{
  g_autofree char *before = whole_table ();
  assert_line (2);
  {
    XP_PREFER_IN_THREAD ("p::f@opener_low");
    assert_line (1);
    ck_assert_int_eq (line_on_another_thread (line_elsewhere, NULL), 2);
    assert_text (whole_table (), before);
    {
      XP_PREFER_IN_THREAD ("opener_high");
      assert_line (2);
      XP_PREFER_IN_THREAD ("opener_low");
      assert_line (1);
    }
    assert_line (1);
    {
      XP_PREFER_IN_THREAD ("not_loaded");
      XP_PREFER_IN_THREAD ("opener_low/CUDA");
      assert_line (1);
    }
  }
  assert_line (2);
  ck_assert_uint_eq (xp_thread.attention, 0);
  {
    GError *error = NULL;
    XP_PRESERVE_THREAD_STATE ();
    ck_assert (xp_thread_prefer ("opener_low", &error));
    assert_line (1);
  }
  assert_line (2);
}
END_TEST

/* Every way into the kernel. */
START_TEST (calls_of_every_kind)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) definitions = fragment_new ("calls");
  define (definitions, "unary(Tensor self) -> Tensor");
  g_autoptr (XpLibrary) one = open_by (high, "calls", "CPU");
  g_autoptr (XpLibrary) other = open_by (low, "calls", "CPU");
  xp_impl_calls_unary (one, first_unary);
  xp_impl_calls_unary (other, second_unary);
  XP_PREFER_IN_THREAD ("calls::*@opener_low");
  g_autoptr (XpTensor) typed = NULL;
  xp_calls_unary (on_cpu, &typed, &error);
  assert_no_error (error);
  ck_assert_int_eq (ran, 22);
  ck_assert_int_eq (line_called ("calls::unary", on_cpu), 22);

  /* Redispatches, one of them through a cell that is passed over. */
  XpValue argument = xp_value_tensor (on_cpu), result;
  const XpKeySet sets[] = { xp_key_set (XP_KEY_CPU),
                            xp_key_set_add (xp_key_set (XP_KEY_CPU), XP_KEY_ADInplaceOrView) };
  for (unsigned i = 0; i < G_N_ELEMENTS (sets); i++)
    {
      ran = 0;
      xp_operator_redispatch (operator_named ("calls::unary"), sets[i], &argument, &result, &error);
      assert_no_error (error);
      xp_value_clear (&result);
      ck_assert_int_eq (ran, 22);
    }

  /* Who names a kernel or a key gets that. */
  ran = 0;
  xp_operator_call_for_key (operator_named ("calls::unary"), XP_KEY_CPU, &argument, &result,
                            &error);
  assert_no_error (error);
  xp_value_clear (&result);
  ck_assert_int_eq (ran, 11);
}
END_TEST

static int n_declined;

static XpStatus
declines (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
          G_GNUC_UNUSED GError **error)
{
  n_declined++;
  return xp_call_decline (call, "never");
}

/* A preferred kernel that declines leaves the call to those of the table. */
START_TEST (a_preferred_kernel_may_decline)
{
  g_autoptr (XpLibrary) middle = open_by (low, "p", "CPU");
  implement (middle, "f", declines, 3);
  assert_line (2);
  ck_assert_int_eq (n_declined, 0);
  XP_PREFER_IN_THREAD ("opener_low");
  assert_line (2);
  ck_assert_int_eq (n_declined, 1);
}
END_TEST

START_TEST (fallbacks)
{
  g_autoptr (XpLibrary) one = open_by (high, "_", "AutogradXLA");
  g_autoptr (XpLibrary) other = open_by (low, "_", "Autograd");
  define (rows, "g(Tensor x) -> Tensor");
  record_at (one, NULL, 5);
  record_at (other, NULL, 6);
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_AutogradFunctionality, XP_BACKEND_XLA);
  ck_assert_int_eq (line_called ("p::f", tensor), 5);
  XP_PREFER_IN_THREAD ("_@opener_low");
  for (unsigned i = 0; i < 2; i++)
    {
      ck_assert_int_eq (line_called ("p::f", tensor), 6);
      ck_assert_int_eq (line_called ("p::g", tensor), 6);
    }
  /* Fallthroughs are not chosen, and what the core passes over stays passed over. */
  g_autoptr (XpTensor) graded = tensor_of (XP_FUNCTIONALITY_AutogradFunctionality, XP_BACKEND_CPU);
  graded->keys = xp_key_set_add (graded->keys, XP_KEY_CPU);
  XP_PREFER_IN_THREAD ("core");
  ck_assert_int_eq (line_called ("p::f", graded), 6);
  g_clear_pointer (&other, xp_library_free);
  ck_assert_int_eq (line_called ("p::f", graded), 2);
  ck_assert_int_eq (line_called ("p::f", tensor), 5);
}
END_TEST

/* The choice follows the table. */
START_TEST (the_table_changes_within_the_scope)
{
  GError *error = NULL;
  XP_PREFER_IN_THREAD ("opener_low");
  assert_line (1);
  g_clear_pointer (&first, xp_library_free);
  assert_line (2);
  first = open_by (low, "p", "CPU");
  assert_line (2);
  record_at (first, "f", 3);
  assert_line (3);
  record_at (first, "f", 4);
  assert_line (4);
  g_clear_pointer (&rows, xp_library_free);
  XpValue argument = xp_value_tensor (on_cpu);
  ck_assert_ptr_null (xp_operator_find ("p::f"));
  ck_assert_ptr_null (xp_operator_get ("p::f", &error));
  g_clear_error (&error);
  rows = fragment_new ("p");
  define (rows, "f(Tensor x) -> Tensor");
  call_named ("p::f", &argument, &error);
  assert_no_error (error);
  assert_line (4);
}
END_TEST

/* --- The state of a thread. --- */

static void *
line_with_state (void *state)
{
  XP_THREAD_STATE (state);
  return line_elsewhere (NULL);
}

static void *
end_while_preferring (G_GNUC_UNUSED void *data)
{
  GError *error = NULL;
  xp_thread_prefer ("opener_low", &error);
  return line_elsewhere (NULL);
}

START_TEST (the_state_carries_it)
{
  XpThreadState state, before = xp_thread_state_capture ();
  {
    XP_PREFER_IN_THREAD ("opener_low");
    state = xp_thread_state_capture ();
  }
  assert_line (2);
  ck_assert_int_eq (line_on_another_thread (line_with_state, &state), 1);
  ck_assert_int_eq (line_on_another_thread (line_with_state, &before), 2);
  {
    XP_THREAD_STATE (&state);
    assert_line (1);
    XP_THREAD_STATE (&before);
    assert_line (2);
  }
  assert_line (2);
  ck_assert_int_eq (line_on_another_thread (end_while_preferring, NULL), 1);
  assert_line (2);
}
END_TEST

/* --- Under traffic. --- */

enum
{
  N_CALLERS = 2,
  N_CHANGES = 400
};

static bool stop;
static int n_calls, n_wrong;

/* A kernel's data, which are poisoned once it is destroyed. */
static XpStatus
look_at_data (XpCall *call, const XpValue *arguments, XpValue *results,
              G_GNUC_UNUSED GError **error)
{
  const int *data = xp_call_data (call);
  if (__atomic_load_n (data, __ATOMIC_SEQ_CST) != 1)
    __atomic_add_fetch (&n_wrong, 1, __ATOMIC_SEQ_CST);
  results[0] = xp_value_ref (arguments[0]);
  return XP_OK;
}

static void
poison (void *data)
{
  __atomic_store_n ((int *) data, 0, __ATOMIC_SEQ_CST);
}

static void *
call_and_prefer (G_GNUC_UNUSED void *data)
{
  XpValue argument = xp_value_tensor (on_cpu);
  while (!__atomic_load_n (&stop, __ATOMIC_SEQ_CST))
    {
      XP_PREFER_IN_THREAD ("opener_low");
      for (unsigned i = 0; i < 20; i++)
        {
          g_autoptr (GError) error = NULL;
          if (call_named ("p::f", &argument, &error) != XP_OK)
            __atomic_add_fetch (&n_wrong, 1, __ATOMIC_SEQ_CST);
        }
      __atomic_add_fetch (&n_calls, 20, __ATOMIC_SEQ_CST);
    }
  return NULL;
}

START_TEST (the_preferred_kernel_comes_and_goes)
{
  static int states[N_CHANGES];
  GThread *threads[N_CALLERS];
  for (unsigned i = 0; i < N_CALLERS; i++)
    threads[i] = g_thread_new ("caller", call_and_prefer, NULL);
  for (unsigned i = 0; i < N_CHANGES; i++)
    {
      int before = __atomic_load_n (&n_calls, __ATOMIC_SEQ_CST);
      XpLibrary *block = open_by (low, "p", "CPU");
      states[i] = 1;
      implement_with (block, "f", look_at_data, 3, &states[i], poison);
      if (i % 8 == 0)
        while (__atomic_load_n (&n_calls, __ATOMIC_SEQ_CST) < before + 40)
          g_thread_yield ();
      xp_library_free (block);
    }
  __atomic_store_n (&stop, true, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < N_CALLERS; i++)
    g_thread_join (threads[i]);
  ck_assert_int_eq (n_wrong, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("preferences");
  TCase *tests = tcase_create ("preferences");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, only_in_the_scope_and_on_the_thread);
  tcase_add_test (tests, calls_of_every_kind);
  tcase_add_test (tests, a_preferred_kernel_may_decline);
  tcase_add_test (tests, fallbacks);
  tcase_add_test (tests, the_table_changes_within_the_scope);
  tcase_add_test (tests, the_state_carries_it);
  tcase_add_test (tests, the_preferred_kernel_comes_and_goes);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
