/* SPDX-License-Identifier: MIT
 *
 * preferences.c: plugins of equal priority on one cell: who is active, what is said, what settings
 * decide; loads that would tie.
 */
#include "plugin/fixtures.h"

static unsigned n_messages;
static char *last_message;

static GLogWriterOutput
keep_message (GLogLevelFlags level, const GLogField *fields, gsize n_fields,
              G_GNUC_UNUSED gpointer data)
{
  if (level > G_LOG_LEVEL_WARNING)
    return G_LOG_WRITER_HANDLED;
  n_messages++;
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0)
      {
        g_free (last_message);
        last_message = g_strdup (fields[i].value);
      }
  return G_LOG_WRITER_HANDLED;
}

/* Peers, pain 19: A, B and C on one cell, unloaded in any order; the one that ran is named, once,
 * and the stack shows all. */
START_TEST (pain_19_three_on_one_cell_in_any_order)
{
  static const unsigned orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                        { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  static const char *const names[] = { "first", "second", "partial" };
  static const int64_t numbers[] = { 1, 2, 4 };
  g_log_set_writer_func (keep_message, NULL, NULL);
  GError *error = NULL;
  load_fixture ("rows");
  g_autofree char *nothing = table_text ();
  for (unsigned round = 0; round < 2; round++)
    for (unsigned o = 0; o < G_N_ELEMENTS (orders); o++)
      {
        XpPlugin *plugins[3];
        for (unsigned i = 0; i < 3; i++)
          {
            plugins[i] = load_fixture (names[i]);
            assert_number (numbers[i]);
          }
        bool there[3] = { true, true, true };
        for (unsigned step = 0; step < 3; step++)
          {
            g_autoptr (XpCellStack) stack = xp_table_cell ("fixture::number", XP_KEY_CPU, &error);
            assert_no_error (error);
            ck_assert_uint_eq (stack->n_candidates, 3 - step);
            ck_assert_str_eq (stack->reason, step < 2 ? "newest" : "only one");
            unsigned at = 0;
            for (unsigned i = 3; i-- > 0;)
              if (there[i])
                {
                  if (at == 0)
                    assert_number (numbers[i]);
                  ck_assert (stack->candidates[at].is_active == (at == 0));
                  ck_assert_str_eq (stack->candidates[at++].plugin, names[i]);
                }
            unload (plugins[orders[o][step]]);
            there[orders[o][step]] = false;
          }
        assert_table (nothing);
      }
  /* One of the pair first and second, one of second and partial. */
  ck_assert_uint_eq (n_messages, 2);
  ck_assert_ptr_nonnull (strstr (last_message, "previous kernel: registered at "));
}
END_TEST

/* A load that takes over many cells says so once. */
START_TEST (one_message_for_a_load)
{
  g_log_set_writer_func (keep_message, NULL, NULL);
  load_fixture ("rows");
  load_fixture ("first");
  load_fixture ("second");
  ck_assert_uint_eq (n_messages, 1);
  ck_assert_ptr_nonnull (
      strstr (last_message, "second replaces 4 kernels of first, which has the same priority:\n"));
  ck_assert_ptr_nonnull (strstr (last_message, "\n  fixture::number [CPU]: registered at tests/"));
  ck_assert_ptr_nonnull (strstr (last_message, "; it was registered at tests/"));
}
END_TEST

/* Reports, test 5, with plugins: the load is refused as a whole, and the call goes on. */
START_TEST (a_load_that_would_tie)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  load_fixture ("high");
  xp_set_on_tie (XP_ON_TIE_ERROR, &error);
  assert_no_error (error);
  g_autofree char *table = table_text ();
  g_autofree char *path = fixture_path ("second");
  ck_assert_ptr_null (xp_plugin_load (path, &error));
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (details->plugin, "second");
  ck_assert_str_eq (details->candidates[0], "first");
  assert_error (error, XP_ERROR_PRIORITY_TIE, "first and second both fill fixture::number [CPU]");
  assert_table (table);
  assert_number (3);
  /* In its place it is no tie, nor where one is preferred. */
  xp_plugin_swap (first, path, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  xp_prefer ("first", &error);
  assert_no_error (error);
  load_fixture ("first");
  assert_number (1);
}
END_TEST

/* Reports, test 5: with the one that is active, too. */
START_TEST (a_load_that_would_tie_with_the_active_one)
{
  GError *error = NULL;
  load_fixture ("rows");
  load_fixture ("first");
  load_fixture ("high");
  xp_set_on_tie (XP_ON_TIE_ERROR, &error);
  assert_no_error (error);
  assert_refused ("high_too", XP_ERROR_PRIORITY_TIE, "high and high_too both fill fixture::number");
  assert_number (3);
}
END_TEST

/* What is preferred is for the user and the program to say. */
START_TEST (a_constructor_does_not_prefer_itself)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  assert_refused ("prefers", XP_ERROR_NESTED_LOAD, "prefers changes what is preferred");
  assert_table (table);
  unsigned n;
  XpPreference *none = xp_preferences (&n);
  ck_assert_uint_eq (n, 0);
  xp_preferences_free (none, n);
}
END_TEST

/* --- Settings. --- */

START_TEST (settings_come_with_the_first_plugin)
{
  GError *error = NULL;
  g_setenv ("CROSSPOINT_PREFER", "fixture::number@first, high,no preference@", TRUE);
  g_setenv ("CROSSPOINT_ON_TIE", "error", TRUE);
  g_log_set_writer_func (keep_message, NULL, NULL);
  load_fixture ("rows");
  ck_assert_uint_eq (n_messages, 1);
  ck_assert_ptr_nonnull (strstr (last_message, "CROSSPOINT_PREFER: 'no preference@'"));
  load_fixture ("first");
  load_fixture ("high");
  assert_number (1);
  g_autofree char *path = fixture_path ("second");
  ck_assert_ptr_null (xp_plugin_load (path, &error));
  assert_error (error, XP_ERROR_PRIORITY_TIE, "first and second");

  xp_prefer ("high", &error);
  assert_no_error (error);
  unsigned n;
  XpPreference *all = xp_preferences (&n);
  static const char *const texts[] = { "*@high", "fixture::number@first", "*@high" };
  static const char *const sources[] = { "program", "CROSSPOINT_PREFER", "CROSSPOINT_PREFER" };
  ck_assert_uint_eq (n, 3);
  for (unsigned i = 0; i < n; i++)
    {
      ck_assert_str_eq (all[i].text, texts[i]);
      ck_assert_str_eq (all[i].source, sources[i]);
    }
  ck_assert_uint_eq (all[1].n_kernels, 1);
  xp_preferences_free (all, n);
  assert_number (3);
}
END_TEST

/* What the program says before comes before. */
START_TEST (the_program_comes_before_settings)
{
  GError *error = NULL;
  g_setenv ("CROSSPOINT_PREFER", "first", TRUE);
  g_setenv ("CROSSPOINT_ON_TIE", "error", TRUE);
  xp_prefer ("second", &error);
  assert_no_error (error);
  xp_set_on_tie (XP_ON_TIE_NEWEST, &error);
  assert_no_error (error);
  load_fixture ("rows");
  load_fixture ("second");
  load_fixture ("first");
  load_fixture ("high");
  assert_number (2);
  ck_assert_int_eq (xp_on_tie (), XP_ON_TIE_NEWEST);
  xp_unprefer ("second", &error);
  assert_no_error (error);
  assert_number (1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("preferences");
  TCase *tests = tcase_create ("preferences");
  tcase_add_test (tests, pain_19_three_on_one_cell_in_any_order);
  tcase_add_test (tests, one_message_for_a_load);
  tcase_add_test (tests, a_load_that_would_tie);
  tcase_add_test (tests, a_load_that_would_tie_with_the_active_one);
  tcase_add_test (tests, a_constructor_does_not_prefer_itself);
  tcase_add_test (tests, settings_come_with_the_first_plugin);
  tcase_add_test (tests, the_program_comes_before_settings);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
