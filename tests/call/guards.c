/* SPDX-License-Identifier: MIT
 *
 * guards.c: what a thread sets for its calls: one key at a time, inference mode, and the whole
 * state, taken from one thread and given to another. The guards of key sets are in keys.c.
 */
#include "table/blocks.h"

static XpLibrary *rows, *blocks[5];
static XpTensor *on_cpu;
static const char *const keys[] = { "CPU", "AutogradCPU", "Tracer", "ADInplaceOrView",
                                    "Functionalize" };

static void
set_up (void)
{
  rows = fragment_new ("guards");
  define (rows, "f(Tensor self) -> Tensor");
  on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  for (int i = 0; i < 5; i++)
    {
      blocks[i] = impl_new ("guards", keys[i]);
      record_at (blocks[i], "f", i + 1);
    }
}

static void
tear_down (void)
{
  xp_tensor_unref (on_cpu);
  for (int i = 0; i < 5; i++)
    xp_library_free (blocks[i]);
  xp_library_free (rows);
}

enum
{
  ON_CPU = 1,
  ON_AUTOGRAD,
  ON_TRACER,
  ON_VIEW,
  ON_FUNCTIONALIZE
};

static void
assert_goes_to (int line)
{
  ck_assert_int_eq (line_called ("guards::f", on_cpu), line);
}

static bool
same_state (XpThreadState a, XpThreadState b)
{
  return memcmp (&a, &b, sizeof a) == 0;
}

START_TEST (one_key_excluded_and_not)
{
  XpThreadState before = xp_thread_state_capture ();
  assert_goes_to (ON_AUTOGRAD);
  {
    XP_SET_EXCLUDED (XP_KEY_AutogradCPU, true);
    ck_assert (xp_thread_is_excluded (XP_KEY_AutogradCPU));
    ck_assert (!xp_thread_is_excluded (XP_KEY_AutogradCUDA));
    assert_goes_to (ON_VIEW);
    {
      XP_SET_EXCLUDED (XP_KEY_AutogradCPU, false);
      ck_assert (!xp_thread_is_excluded (XP_KEY_AutogradCPU));
      assert_goes_to (ON_AUTOGRAD);
    }
    ck_assert (xp_thread_is_excluded (XP_KEY_AutogradCPU));
    XP_SET_EXCLUDED (XP_KEY_ADInplaceOrView, true);
    assert_goes_to (ON_CPU);
  }
  ck_assert (same_state (before, xp_thread_state_capture ()));
}
END_TEST

START_TEST (one_key_without_a_scope)
{
  XpThreadState before = xp_thread_state_capture ();
  ck_assert (!xp_thread_is_included (XP_KEY_Tracer));
  ck_assert (xp_thread_is_included (XP_KEY_BackendSelect));
  ck_assert (xp_thread_is_excluded (XP_KEY_AutocastCPU));
  ck_assert (!xp_thread_is_excluded (XP_KEY_CPU));
  xp_thread_set_included (XP_KEY_Tracer, true);
  ck_assert (xp_thread_is_included (XP_KEY_Tracer));
  assert_goes_to (ON_TRACER);
  xp_thread_set_excluded (XP_KEY_Tracer, true);
  assert_goes_to (ON_AUTOGRAD);
  xp_thread_set_excluded (XP_KEY_Tracer, false);
  assert_goes_to (ON_TRACER);
  xp_thread_set_included (XP_KEY_Tracer, false);
  assert_goes_to (ON_AUTOGRAD);
  ck_assert (same_state (before, xp_thread_state_capture ()));
  {
    /* What is set within a guard goes with it. */
    XP_PRESERVE_KEYS ();
    xp_thread_set_included (XP_KEY_Named, true);
  }
  ck_assert (!xp_thread_is_included (XP_KEY_Named));
}
END_TEST

/* Functionalize lies below autograd. */
START_TEST (functionalize_is_skipped)
{
  XP_BELOW_AD_INPLACE_OR_VIEW ();
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Functionalize));
  assert_goes_to (ON_FUNCTIONALIZE);
  {
    XP_SKIP_FUNCTIONALIZE ();
    assert_goes_to (ON_CPU);
  }
  assert_goes_to (ON_FUNCTIONALIZE);
}
END_TEST

static void
assert_keys_of_new (const char *expected)
{
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  assert_text (xp_key_set_to_string (tensor->keys), expected);
}

#define USUAL "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"

/* Reference 7.3 and 7.4. */
START_TEST (inference_mode)
{
  XpThreadState before = xp_thread_state_capture ();
  assert_keys_of_new (USUAL);
  {
    XP_INFERENCE_MODE (true);
    ck_assert (xp_thread_is_inference_mode ());
    ck_assert (xp_thread_is_excluded (XP_KEY_AutogradFunctionality));
    ck_assert (xp_thread_is_excluded (XP_KEY_AutogradOther));
    ck_assert (!xp_thread_is_included (XP_KEY_ADInplaceOrView));
    assert_keys_of_new ("DispatchKeySet(CPU, AutocastCPU)");
    g_autoptr (XpTensor) inner = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
    ck_assert_int_eq (line_called ("guards::f", inner), ON_CPU);
    /* A tensor from outside still carries ADInplaceOrView. */
    assert_goes_to (ON_VIEW);
    XpThreadState inside = xp_thread_state_capture ();
    {
      XP_INFERENCE_MODE (false);
      ck_assert (!xp_thread_is_inference_mode ());
      assert_keys_of_new (USUAL);
      assert_goes_to (ON_AUTOGRAD);
      ck_assert_int_eq (line_called ("guards::f", inner), ON_VIEW); /* the thread includes it */
    }
    ck_assert (xp_thread_is_inference_mode ());
    ck_assert (same_state (inside, xp_thread_state_capture ()));
  }
  ck_assert (!xp_thread_is_inference_mode ());
  ck_assert (same_state (before, xp_thread_state_capture ()));
  assert_keys_of_new (USUAL);
}
END_TEST

/* --- From one thread to another. --- */

static void *
work_elsewhere (void *state)
{
  XpThreadState own = xp_thread_state_capture ();
  ck_assert (!xp_thread_is_inference_mode ());
  assert_goes_to (ON_AUTOGRAD);
  {
    XP_THREAD_STATE (state);
    ck_assert (xp_thread_is_inference_mode ());
    ck_assert (xp_thread_is_included (XP_KEY_Tracer));
    ck_assert (same_state (*(const XpThreadState *) state, xp_thread_state_capture ()));
    assert_goes_to (ON_TRACER);
    assert_keys_of_new ("DispatchKeySet(CPU, AutocastCPU)");
  }
  ck_assert (same_state (own, xp_thread_state_capture ()));
  XpThreadState before = xp_thread_state_apply (state);
  ck_assert (same_state (own, before));
  ck_assert (xp_thread_is_inference_mode ());
  return NULL;
}

START_TEST (a_state_is_captured_and_applied)
{
  XpThreadState state;
  {
    XP_INFERENCE_MODE (true);
    XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
    state = xp_thread_state_capture ();
  }
  g_thread_join (g_thread_new ("worker", work_elsewhere, &state));
  ck_assert (!xp_thread_is_inference_mode ());
  assert_goes_to (ON_AUTOGRAD);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("guards");
  TCase *tests = tcase_create ("guards");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, one_key_excluded_and_not);
  tcase_add_test (tests, one_key_without_a_scope);
  tcase_add_test (tests, functionalize_is_skipped);
  tcase_add_test (tests, inference_mode);
  tcase_add_test (tests, a_state_is_captured_and_applied);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
