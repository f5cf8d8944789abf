/* SPDX-License-Identifier: MIT
 *
 * Keys: names both ways, orders, sets and their text, aliases, named backends.
 */
#include "suite.h"

#include <string.h>

START_TEST (every_name_parses_to_its_key)
{
  unsigned n;
  g_autofree XpKey *keys = xp_key_list (&n);
  ck_assert_uint_ge (n, 138);
  for (unsigned i = 0; i < n; i++)
    {
      GError *error = NULL;
      XpKey key;
      ck_assert (xp_key_parse (xp_key_name (keys[i]), &key, &error));
      assert_no_error (error);
      ck_assert_uint_eq (key, keys[i]);
    }
}
END_TEST

START_TEST (unknown_name_says_what_is_near)
{
  GError *error = NULL;
  XpKey key;
  ck_assert (!xp_key_parse ("SparceCPU", &key, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "SparseCPU"));
  assert_error (error, XP_ERROR_UNKNOWN_KEY, "could not parse dispatch key: SparceCPU");
  ck_assert (!xp_key_parse ("CatchAll", &key, &error));
  g_clear_error (&error);
}
END_TEST

START_TEST (a_set_is_a_cross_product)
{
  XpKeySet set = xp_key_set_add (xp_key_set (XP_KEY_CPU), XP_KEY_AutogradCUDA);
  ck_assert (xp_key_set_has (set, XP_KEY_CUDA));
  ck_assert (xp_key_set_has (set, XP_KEY_AutogradCPU));
  ck_assert (!xp_key_set_has (set, XP_KEY_SparseCPU));
  ck_assert (xp_key_set_has (set, XP_KEY_CompositeImplicitAutograd));
}
END_TEST

START_TEST (difference_keeps_backends)
{
  XpKeySet cpu = xp_key_set (XP_KEY_CPU);
  XpKeySet rest = xp_key_set_difference (cpu, cpu);
  g_autofree char *text = xp_key_set_to_string (rest);
  ck_assert (!xp_key_set_is_empty (rest));
  ck_assert_str_eq (text, "DispatchKeySet()");
}
END_TEST

START_TEST (highest_key_follows_priority)
{
  XpKeySet set = xp_key_set_union (xp_key_set (XP_KEY_CPU), xp_key_set (XP_KEY_Meta));
  ck_assert_uint_eq (xp_key_set_highest (set), XP_KEY_Meta);
  set = xp_key_set_add (set, XP_KEY_ADInplaceOrView);
  ck_assert_uint_eq (xp_key_set_highest (set), XP_KEY_ADInplaceOrView);
  ck_assert_uint_eq (xp_key_set_highest ((XpKeySet){ 0, 0 }), XP_KEY_Undefined);
  ck_assert_uint_eq (xp_key_set_highest ((XpKeySet){ XP_BIT (XP_FUNCTIONALITY_Dense), 0 }),
                     XP_KEY_CPU);
}
END_TEST

START_TEST (after_keeps_what_is_below)
{
  XpKeySet after = xp_key_set_after (XP_KEY_ADInplaceOrView);
  ck_assert (xp_key_set_has (after, XP_KEY_ZeroTensor));
  ck_assert (xp_key_set_has (after, XP_KEY_SparseCPU));
  ck_assert (!xp_key_set_has (after, XP_KEY_ADInplaceOrView));
  ck_assert (!xp_key_set_has (after, XP_KEY_AutogradCPU));
  ck_assert (xp_key_set_has (after, XP_KEY_PythonDispatcher));
}
END_TEST

START_TEST (a_set_prints_lowest_first)
{
  XpKeySet set = xp_key_set (XP_KEY_AutocastCPU);
  set = xp_key_set_add (set, XP_KEY_AutogradCPU);
  set = xp_key_set_add (set, XP_KEY_ADInplaceOrView);
  set = xp_key_set_add (set, XP_KEY_CPU);
  g_autofree char *text = xp_key_set_to_string (set);
  ck_assert_str_eq (text, "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
}
END_TEST

/* Reference, section 2 and Appendix A. */
START_TEST (aliases_cover_what_the_reference_says)
{
  static const struct
  {
    XpKey alias, key;
    bool covered;
  } cases[] = {
    { XP_KEY_Autograd, XP_KEY_AutogradHIP, true },
    { XP_KEY_Autograd, XP_KEY_AutogradOther, true },
    { XP_KEY_Autograd, XP_KEY_CPU, false },
    { XP_KEY_CompositeImplicitAutograd, XP_KEY_NestedTensorCPU, true },
    { XP_KEY_CompositeImplicitAutograd, XP_KEY_AutogradMeta, true },
    { XP_KEY_CompositeImplicitAutograd, XP_KEY_Functionalize, false },
    { XP_KEY_CompositeImplicitAutograd, XP_KEY_Undefined, false },
    { XP_KEY_CompositeExplicitAutograd, XP_KEY_SparseCPU, true },
    { XP_KEY_CompositeExplicitAutograd, XP_KEY_NestedTensorCPU, false },
    { XP_KEY_CompositeExplicitAutograd, XP_KEY_NestedTensor, false },
    { XP_KEY_CompositeExplicitAutograd, XP_KEY_AutogradCPU, false },
    { XP_KEY_CompositeExplicitAutogradNonFunctional, XP_KEY_XLA, false },
    { XP_KEY_CompositeExplicitAutogradNonFunctional, XP_KEY_QuantizedLazy, false },
    { XP_KEY_CompositeExplicitAutogradNonFunctional, XP_KEY_SparseCPU, false },
    { XP_KEY_CompositeExplicitAutogradNonFunctional, XP_KEY_SparseCsrCPU, true },
    { XP_KEY_CompositeImplicitAutogradNestedTensor, XP_KEY_NestedTensorMeta, true },
    { XP_KEY_CompositeImplicitAutogradNestedTensor, XP_KEY_AutogradNestedTensor, true },
    { XP_KEY_FuncTorchBatchedDecomposition, XP_KEY_FuncTorchBatched, true },
    { XP_KEY_FuncTorchBatchedDecomposition, XP_KEY_Batched, false },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    ck_assert_msg (xp_alias_contains (cases[i].alias, cases[i].key) == cases[i].covered, "%s in %s",
                   xp_key_name (cases[i].key), xp_key_name (cases[i].alias));
}
END_TEST

START_TEST (dump_order_puts_functionalities_first)
{
  static const XpKey order[] = { XP_KEY_Undefined,
                                 XP_KEY_MkldnnCPU,
                                 XP_KEY_Tracer,
                                 XP_KEY_PythonDispatcher,
                                 XP_KEY_CPU,
                                 XP_KEY_PrivateUse3,
                                 XP_KEY_Meta,
                                 XP_KEY_QuantizedCPU,
                                 XP_KEY_SparseCsrCPU,
                                 XP_KEY_AutogradMeta,
                                 XP_KEY_Autograd,
                                 XP_KEY_CompositeImplicitAutograd,
                                 XP_KEY_CompositeExplicitAutogradNonFunctional };
  for (unsigned i = 0; i + 1 < XP_LENGTH (order); i++)
    ck_assert_msg (xp_key_compare (order[i], order[i + 1]) < 0, "%s before %s",
                   xp_key_name (order[i]), xp_key_name (order[i + 1]));
}
END_TEST

START_TEST (named_backends_get_bits_below_meta)
{
  GError *error = NULL;
  XpBackend zeta, alpha, again;
  ck_assert (xp_backend_register ("zeta", &zeta, &error));
  ck_assert (xp_backend_register ("alpha", &alpha, &error));
  ck_assert (xp_backend_register ("alpha", &again, &error));
  ck_assert_int_eq (alpha, again);
  ck_assert_int_lt (zeta, XP_BACKEND_Meta);
  ck_assert_int_ge (zeta, XP_BACKEND_FIRST_NAMED);

  XpKey key;
  ck_assert (xp_key_parse ("Autogradzeta", &key, &error));
  ck_assert_uint_eq (key, xp_key_of (XP_FUNCTIONALITY_AutogradFunctionality, zeta));

  XpKeySet set = { XP_BIT (XP_FUNCTIONALITY_Dense), XP_BIT (zeta) | XP_BIT (alpha) | XP_BIT (63) };
  g_autofree char *text = xp_key_set_to_string (set);
  ck_assert_str_eq (text, "DispatchKeySet(alpha, zeta, Meta)");

  XpDevice device;
  ck_assert (xp_device_parse ("zeta:3", &device, &error));
  ck_assert_int_eq (device.backend, zeta);
  ck_assert_int_eq (device.index, 3);

  ck_assert (!xp_backend_register ("cuda", &again, &error));
  assert_error (error, XP_ERROR_BACKEND_EXISTS, "core");
  ck_assert (!xp_backend_register ("Other", &again, &error)); /* AutogradOther is a key */
  assert_error (error, XP_ERROR_BACKEND_EXISTS, "AutogradOther");
  ck_assert (!xp_backend_register ("9lives", &again, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "9lives");
}
END_TEST

START_TEST (forty_backends_at_once)
{
  GError *error = NULL;
  XpBackend bits[48], more;
  for (unsigned i = 0; i < XP_LENGTH (bits); i++)
    {
      g_autofree char *name = g_strdup_printf ("device%u", i);
      ck_assert (xp_backend_register (name, &bits[i], &error));
      for (unsigned j = 0; j < i; j++)
        ck_assert_int_ne (bits[i], bits[j]);
    }
  ck_assert (!xp_backend_register ("onemore", &more, &error));
  assert_error (error, XP_ERROR_LIMIT, "48");
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("keys");
  TCase *names = tcase_create ("names");
  tcase_add_test (names, every_name_parses_to_its_key);
  tcase_add_test (names, unknown_name_says_what_is_near);
  tcase_add_test (names, dump_order_puts_functionalities_first);
  suite_add_tcase (suite, names);
  TCase *sets = tcase_create ("sets");
  tcase_add_test (sets, a_set_is_a_cross_product);
  tcase_add_test (sets, difference_keeps_backends);
  tcase_add_test (sets, highest_key_follows_priority);
  tcase_add_test (sets, after_keeps_what_is_below);
  tcase_add_test (sets, a_set_prints_lowest_first);
  tcase_add_test (sets, aliases_cover_what_the_reference_says);
  suite_add_tcase (suite, sets);
  TCase *backends = tcase_create ("backends");
  tcase_add_test (backends, named_backends_get_bits_below_meta);
  tcase_add_test (backends, forty_backends_at_once);
  suite_add_tcase (suite, backends);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
