/* SPDX-License-Identifier: MIT
 *
 * life.c: a sparse tensor keeps the plugin mapped that its layout belongs to.
 */
#include "plugin/fixtures.h"
#include "sparse/entries.h"

START_TEST (the_last_tensor_closes_the_plugin)
{
  XpPlugin *plugin = xp_plugin_find ("sparse");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  XpTensor *first = unsorted ();
  XpTensor *second = NULL;
  OK (xp_aten_clone (first, NULL, &second, &error));
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_DRAINING, "still in use, such as tensors");
  ck_assert_int_eq (entries (first), 5);
  xp_tensor_unref (first);
  assert_state (plugin, XP_PLUGIN_DRAINING, "still in use, such as tensors");
  ck_assert (is_mapped (info->mapped_path));
  ck_assert_int_eq (entries (second), 5);
  xp_tensor_unref (second);
  wait_for_state (plugin, XP_PLUGIN_UNLOADED);
  ck_assert (!is_mapped (info->mapped_path));
}
END_TEST

START_TEST (parts_outlive_their_tensor_and_the_plugin)
{
  XpPlugin *plugin = xp_plugin_find ("sparse");
  XpTensor *sparse = matrix_of (XP_FLOAT32, NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) values = NULL;
  OK (xp_aten_values (sparse, &values, &error));
  xp_tensor_unref (sparse);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  assert_tensor (values, "tensor([1., 2., 3.])");
}
END_TEST

START_TEST (another_load_does_not_touch_what_an_earlier_one_made)
{
  XpPlugin *plugin = xp_plugin_find ("sparse");
  g_autoptr (XpTensor) old = matrix_of (XP_FLOAT32, NUMBERS (1, 0, 2, 0, 3, 0));
  g_autoptr (XpTensor) none = NULL;
  unload (plugin);
  FAILS (xp_aten_neg (old, &none, &error), none, XP_ERROR_MISSING_KERNEL,
         "Could not run 'aten::neg' with arguments from the 'SparseCPU' backend.");
  load_plugin ("sparse");
  FAILS (xp_aten_neg (old, &none, &error), none, XP_ERROR_ARGUMENT, "an earlier load of this one");
}
END_TEST

START_TEST (without_the_plugin_there_are_no_cells)
{
  g_autoptr (XpTensor) dense = counting (XP_INTS (2));
  g_autoptr (XpTensor) none = NULL;
  unload (xp_plugin_find ("sparse"));
  FAILS (xp_aten_to_sparse (dense, &none, &error), none, XP_ERROR_MISSING_KERNEL,
         "Could not run 'aten::to_sparse' with arguments from the 'CPU' backend.");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("sparse/life");
  TCase *tests = tcase_create ("all");
  tcase_add_checked_fixture (tests, load_plugins, NULL);
  tcase_add_test (tests, the_last_tensor_closes_the_plugin);
  tcase_add_test (tests, parts_outlive_their_tensor_and_the_plugin);
  tcase_add_test (tests, another_load_does_not_touch_what_an_earlier_one_made);
  tcase_add_test (tests, without_the_plugin_there_are_no_cells);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
