/* SPDX-License-Identifier: MIT
 *
 * sets.c: operations on key sets, and what keys stand for (reference, sections 1.2 and 2).
 */
#include "suite.h"

#include <string.h>

static void
assert_set (XpKeySet set, const char *expected)
{
  g_autofree char *text = xp_key_set_to_string (set);
  g_autofree char *whole = g_strdup_printf ("DispatchKeySet(%s)", expected);
  ck_assert_str_eq (text, whole);
}

static XpKeySet
set_of (XpKey a, XpKey b)
{
  return xp_key_set_add (xp_key_set (a), b);
}

START_TEST (operations)
{
  XpKeySet a = set_of (XP_KEY_CPU, XP_KEY_Tracer), b = set_of (XP_KEY_CUDA, XP_KEY_Tracer);
  assert_set (xp_key_set_union (a, b), "CPU, CUDA, Tracer");
  assert_set (xp_key_set_intersection (a, b), "Tracer");
  /* Both have Dense and Tracer, so only the backends are left, and print nothing. */
  XpKeySet either = xp_key_set_symmetric_difference (a, b);
  assert_set (either, "");
  ck_assert_uint_eq (either.functionality, 0);
  ck_assert_uint_eq (either.backend, XP_BIT (XP_BACKEND_CPU) | XP_BIT (XP_BACKEND_CUDA));
  ck_assert (xp_key_set_is_empty (xp_key_set_symmetric_difference (a, a)));

  assert_set (xp_key_set_difference (a, xp_key_set (XP_KEY_Tracer)), "CPU");
  assert_set (xp_key_set_remove (a, XP_KEY_CPU), "Tracer");
  ck_assert (xp_key_set_has_backend (xp_key_set_remove (a, XP_KEY_CPU), XP_BACKEND_CPU));
  XpKeySet bare = xp_key_set_remove_backend (a, XP_BACKEND_CPU);
  assert_set (bare, "Tracer");
  ck_assert (!xp_key_set_has_backend (bare, XP_BACKEND_CPU));
  ck_assert (xp_key_set_has (bare, XP_KEY_Dense));
  assert_set (xp_key_set_remove_backend (xp_key_set_union (a, b), XP_BACKEND_CPU), "CUDA, Tracer");

  ck_assert (xp_key_set_has_any (a, b));
  ck_assert (!xp_key_set_has_any (xp_key_set (XP_KEY_Tracer), xp_key_set (XP_KEY_Named)));
  ck_assert (!xp_key_set_has_any (a, (XpKeySet){ 0, 0 }));
  ck_assert (xp_key_set_has_all (a, (XpKeySet){ 0, 0 }));
  ck_assert (!xp_key_set_has_all (a, b));
  ck_assert (xp_key_set_equal (a, set_of (XP_KEY_Tracer, XP_KEY_CPU)));
  ck_assert (!xp_key_set_equal (a, b));
  ck_assert (xp_key_set_is_empty (xp_key_set (XP_KEY_CompositeExplicitAutograd)));
  ck_assert (xp_key_set_is_empty (xp_key_set (XP_KEY_Undefined)));
}
END_TEST

START_TEST (the_highest)
{
  XpKeySet set = set_of (XP_KEY_SparseCPU, XP_KEY_AutogradMeta);
  ck_assert_int_eq (xp_key_set_highest_functionality (set), XP_FUNCTIONALITY_AutogradFunctionality);
  ck_assert_int_eq (xp_key_set_highest_backend (set), XP_BACKEND_Meta);
  ck_assert_uint_eq (xp_key_set_highest (set), XP_KEY_AutogradMeta);
  XpKeySet backend = { 0, XP_BIT (XP_BACKEND_CUDA) };
  ck_assert_int_eq (xp_key_set_highest_functionality (backend), XP_FUNCTIONALITY_Undefined);
  ck_assert_int_eq (xp_key_set_highest_backend (backend), XP_BACKEND_CUDA);
  ck_assert_int_eq (xp_key_set_highest_backend (xp_key_set (XP_KEY_Tracer)), -1);
  ck_assert_int_eq (xp_key_set_highest_functionality ((XpKeySet){ 0, 0 }),
                    XP_FUNCTIONALITY_Undefined);
}
END_TEST

START_TEST (the_full_set)
{
  unsigned n, n_list;
  XpKeySet full = xp_key_set_full ();
  g_autofree XpKey *keys = xp_key_set_keys (full, &n);
  g_autofree XpKey *list = xp_key_list (&n_list);
  ck_assert_uint_eq (n + 1, n_list); /* all but Undefined */
  ck_assert_int_eq (memcmp (keys, list + 1, n * sizeof *keys), 0);
  ck_assert_uint_eq (xp_key_set_highest (full), XP_KEY_PythonDispatcher);
  ck_assert_uint_eq (full.functionality & 1, 0);
  /* What is after a key is below it, and PythonDispatcher. */
  for (unsigned i = 1; i < n_list; i++)
    {
      XpKeySet after = xp_key_set_after (list[i]);
      ck_assert (xp_key_set_has_all (full, after));
      ck_assert (list[i] == XP_KEY_PythonDispatcher || !xp_key_set_has (after, list[i]));
      ck_assert (xp_key_set_has (after, XP_KEY_PythonDispatcher));
      ck_assert (xp_key_functionality (list[i]) == XP_FUNCTIONALITY_Dense
                 || xp_key_set_has (after, XP_KEY_CPU));
    }
}
END_TEST

/* The newest list has 138 slots: 48 functionalities, six of them once for each of 16 backends. */
START_TEST (the_whole_list_in_order)
{
  unsigned n;
  g_autofree XpKey *keys = xp_key_list (&n);
  static const struct
  {
    unsigned slot;
    const char *name;
  } slots[] = {
    { 0, "Undefined" },
    { 1, "CPU" },
    { 7, "XPU" },
    { 16, "Meta" },
    { 17, "FPGA" },
    { 20, "QuantizedCPU" },
    { 35, "QuantizedMeta" },
    { 36, "CustomRNGKeyId" },
    { 37, "MkldnnCPU" },
    { 38, "SparseCPU" },
    { 54, "SparseCsrCPU" },
    { 70, "NestedTensorCPU" },
    { 86, "BackendSelect" },
    { 95, "ADInplaceOrView" },
    { 96, "AutogradOther" },
    { 97, "AutogradCPU" },
    { 99, "AutogradHIP" },
    { 108, "AutogradMAIA" },
    { 112, "AutogradMeta" },
    { 113, "AutogradNestedTensor" },
    { 115, "AutocastCPU" },
    { 124, "AutocastPrivateUse1" },
    { 125, "FuncTorchBatched" },
    { 137, "PythonDispatcher" },
  };
  ck_assert_uint_eq (n, 138);
  for (unsigned i = 0; i < XP_LENGTH (slots); i++)
    ck_assert_str_eq (xp_key_name (keys[slots[i].slot]), slots[i].name);
  ck_assert_str_eq (xp_key_name (XP_KEY_Dense), "Dense");
  ck_assert_str_eq (xp_key_name (XP_KEY_ALIAS_BIT_ | 6), "UnknownUnknown");
  ck_assert_str_eq (xp_key_name (XP_KEY_MAKE_ (1, 16)), "UnknownUnknown"); /* a free bit */
  ck_assert_str_eq (xp_key_name (48), "UnknownUnknown");
}
END_TEST

static void
assert_stands_for (XpKey key, const char *first, const char *last, unsigned expected)
{
  unsigned n;
  g_autofree XpKey *keys = xp_key_runtime_keys (key, &n);
  ck_assert_uint_eq (n, expected);
  ck_assert_str_eq (xp_key_name (keys[0]), first);
  ck_assert_str_eq (xp_key_name (keys[n - 1]), last);
}

START_TEST (what_a_key_stands_for)
{
  assert_stands_for (XP_KEY_SparseCPU, "SparseCPU", "SparseCPU", 1);
  assert_stands_for (XP_KEY_Undefined, "Undefined", "Undefined", 1);
  assert_stands_for (XP_KEY_Sparse, "SparseCPU", "SparseMeta", 16);
  assert_stands_for (XP_KEY_Autograd, "AutogradOther", "AutogradNestedTensor", 18);
  assert_stands_for (XP_KEY_CompositeImplicitAutograd, "CPU", "AutogradNestedTensor",
                     6 * 16 + 5 + 2);
  assert_stands_for (XP_KEY_CompositeExplicitAutograd, "CPU", "SparseCsrMeta", 4 * 16 + 5);
  assert_stands_for (XP_KEY_CompositeExplicitAutogradNonFunctional, "CPU", "SparseCsrMeta",
                     3 * 14 + 5);
  assert_stands_for (XP_KEY_CompositeImplicitAutogradNestedTensor, "NestedTensorCPU",
                     "AutogradNestedTensor", 17);
  assert_stands_for (XP_KEY_FuncTorchBatchedDecomposition, "FuncTorchBatched", "FuncTorchBatched",
                     1);
}
END_TEST

/* Bare functionalities, aliases and keys in the place of an alias. */
START_TEST (membership_at_the_edges)
{
  ck_assert (xp_alias_contains (XP_KEY_Autograd, XP_KEY_AutogradFunctionality));
  ck_assert (xp_alias_contains (XP_KEY_CompositeExplicitAutograd, XP_KEY_Sparse));
  ck_assert (!xp_alias_contains (XP_KEY_CompositeExplicitAutogradNonFunctional, XP_KEY_Sparse));
  ck_assert (
      !xp_alias_contains (XP_KEY_CompositeExplicitAutogradNonFunctional, XP_KEY_NestedTensor));
  ck_assert (xp_alias_contains (XP_KEY_CompositeImplicitAutograd, XP_KEY_NestedTensor));
  ck_assert (xp_alias_contains (XP_KEY_Autograd, XP_KEY_CompositeImplicitAutograd));
  ck_assert (xp_alias_contains (XP_KEY_CPU, XP_KEY_CPU));
  ck_assert (!xp_alias_contains (XP_KEY_CPU, XP_KEY_CUDA));
  ck_assert (!xp_alias_contains (XP_KEY_Undefined, XP_KEY_Undefined));
}
END_TEST

START_TEST (backends_of_autograd_keys)
{
  assert_set (xp_autograd_backends (XP_KEY_AutogradCPU), "CPU");
  assert_set (xp_autograd_backends (XP_KEY_AutogradIPU), "IPU");
  assert_set (xp_autograd_backends (XP_KEY_AutogradMAIA), "MAIA");
  static const XpKey none[] = { XP_KEY_AutogradHIP, XP_KEY_AutogradVE, XP_KEY_AutogradMTIA,
                                XP_KEY_CPU,         XP_KEY_Autograd,   XP_KEY_AutocastCPU };
  for (unsigned i = 0; i < XP_LENGTH (none); i++)
    ck_assert (xp_key_set_is_empty (xp_autograd_backends (none[i])));
  ck_assert (xp_key_set_equal (xp_autograd_backends (XP_KEY_AutogradOther),
                               xp_autograd_other_backends ()));
  XpKeySet nested = xp_autograd_backends (XP_KEY_AutogradNestedTensor);
  ck_assert (xp_key_set_has (nested, XP_KEY_NestedTensorMeta));
  ck_assert (!xp_key_set_has (nested, XP_KEY_CPU));
  XpKeySet other = xp_autograd_other_backends ();
  static const XpKey in[] = { XP_KEY_FPGA,          XP_KEY_Vulkan,       XP_KEY_Metal,
                              XP_KEY_MkldnnCPU,     XP_KEY_SparseCPU,    XP_KEY_CustomRNGKeyId,
                              XP_KEY_SparseCsrMeta, XP_KEY_QuantizedCUDA };
  for (unsigned i = 0; i < XP_LENGTH (in); i++)
    ck_assert (xp_key_set_has (other, in[i]));
  ck_assert (!xp_key_set_has (other, XP_KEY_CPU));
  ck_assert (!xp_key_set_has (other, XP_KEY_NestedTensorCPU));
}
END_TEST

START_TEST (which_keys_are_backends)
{
  static const XpKey yes[] = { XP_KEY_CPU,           XP_KEY_Meta, XP_KEY_SparseCPU,
                               XP_KEY_QuantizedCUDA, XP_KEY_FPGA, XP_KEY_MkldnnCPU,
                               XP_KEY_SparseCsrMPS };
  static const XpKey no[] = { XP_KEY_Undefined,     XP_KEY_NestedTensorCPU,
                              XP_KEY_NestedTensor,  XP_KEY_AutogradCPU,
                              XP_KEY_BackendSelect, XP_KEY_CompositeExplicitAutograd };
  for (unsigned i = 0; i < XP_LENGTH (yes); i++)
    ck_assert_msg (xp_key_is_backend (yes[i]), "%s", xp_key_name (yes[i]));
  for (unsigned i = 0; i < XP_LENGTH (no); i++)
    ck_assert_msg (!xp_key_is_backend (no[i]), "%s", xp_key_name (no[i]));
}
END_TEST

START_TEST (autograd_and_autocast_of_backends)
{
  for (unsigned bit = 0; bit < 64; bit++)
    if (xp_backends_in_use () >> bit & 1)
      ck_assert_int_eq (xp_autograd_functionality_of ((XpBackend) bit)
                            == XP_FUNCTIONALITY_AutogradOther,
                        bit == XP_BACKEND_HIP || bit == XP_BACKEND_VE);
  ck_assert_int_eq (xp_autocast_functionality_of (XP_BACKEND_MTIA), XP_FUNCTIONALITY_AutocastMTIA);
  static const XpBackend none[] = {
    XP_BACKEND_HIP,  XP_BACKEND_VE,          XP_BACKEND_Lazy,
    XP_BACKEND_Meta, XP_BACKEND_PrivateUse2, XP_BACKEND_PrivateUse3
  };
  for (unsigned i = 0; i < XP_LENGTH (none); i++)
    ck_assert_int_eq (xp_autocast_functionality_of (none[i]), XP_FUNCTIONALITY_Undefined);
}
END_TEST

/* --- What a thread includes and excludes. --- */

START_TEST (single_keys_of_a_thread)
{
  XpThreadKeys before = xp_thread_keys ();
  ck_assert (xp_thread_is_included (XP_KEY_BackendSelect));
  ck_assert (!xp_thread_is_included (XP_KEY_Tracer));
  ck_assert (xp_thread_is_excluded (XP_KEY_AutocastCPU));
  {
    XP_PRESERVE_KEYS ();
    xp_thread_set_included (XP_KEY_Tracer, true);
    xp_thread_set_excluded (XP_KEY_AutocastCPU, false);
    xp_thread_set_excluded (XP_KEY_Named, true);
    ck_assert (xp_thread_is_included (XP_KEY_Tracer));
    ck_assert (!xp_thread_is_excluded (XP_KEY_AutocastCPU));
    ck_assert (xp_thread_is_excluded (XP_KEY_Named));
    xp_thread_set_included (XP_KEY_Tracer, false);
    ck_assert (!xp_thread_is_included (XP_KEY_Tracer));
  }
  ck_assert (xp_key_set_equal (xp_thread_keys ().included, before.included));
  ck_assert (xp_key_set_equal (xp_thread_keys ().excluded, before.excluded));
  {
    XP_SET_EXCLUDED (XP_KEY_AutocastCPU, false);
    ck_assert (!xp_thread_is_excluded (XP_KEY_AutocastCPU));
    XP_SET_EXCLUDED (XP_KEY_Named, true);
    ck_assert (xp_thread_is_excluded (XP_KEY_Named));
  }
  {
    XP_SKIP_FUNCTIONALIZE ();
    ck_assert (xp_thread_is_excluded (XP_KEY_Functionalize));
  }
  ck_assert (xp_key_set_equal (xp_thread_keys ().excluded, before.excluded));
  /* Both bits of a per-backend key count. */
  XP_EXCLUDE_KEYS (((XpKeySet){ XP_AUTOGRAD_MASK, 0 }));
  ck_assert (!xp_thread_is_excluded (XP_KEY_AutogradCPU));
  ck_assert (xp_thread_is_excluded (XP_KEY_AutogradFunctionality));
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("sets");
  TCase *sets = tcase_create ("sets");
  tcase_add_test (sets, operations);
  tcase_add_test (sets, the_highest);
  tcase_add_test (sets, the_full_set);
  suite_add_tcase (suite, sets);
  TCase *keys = tcase_create ("keys");
  tcase_add_test (keys, the_whole_list_in_order);
  tcase_add_test (keys, what_a_key_stands_for);
  tcase_add_test (keys, membership_at_the_edges);
  tcase_add_test (keys, backends_of_autograd_keys);
  tcase_add_test (keys, which_keys_are_backends);
  tcase_add_test (keys, autograd_and_autocast_of_backends);
  tcase_add_test (keys, single_keys_of_a_thread);
  suite_add_tcase (suite, keys);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
