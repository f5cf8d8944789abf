/* SPDX-License-Identifier: MIT
 *
 * undo.c: swaps that are laid over, forced, and taken back; and unloading with what requires it.
 */
#include "plugin/fixtures.h"

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

static XpPlugin *
swap (XpPlugin *plugin, const char *name, XpSwapFlags flags, unsigned *token)
{
  GError *error = NULL;
  g_autofree char *path = name != NULL ? fixture_path (name) : NULL;
  XpPlugin *new_ = xp_plugin_swap (plugin, path, flags, token, &error);
  assert_no_error (error);
  ck_assert_ptr_nonnull (new_);
  return new_;
}

static void
undo (unsigned token)
{
  GError *error = NULL;
  xp_plugin_undo (token, NULL, NULL, &error);
  assert_no_error (error);
}

static void
assert_stale (unsigned token, const char *part)
{
  GError *error = NULL;
  g_autofree char *table = table_text ();
  ck_assert (!xp_plugin_undo (token, NULL, NULL, &error));
  assert_error (error, XP_ERROR_UNDO_STALE, part);
  assert_table (table);
}

/* Test 26 of the reports: a library that covers fewer operators. */
START_TEST (a_library_that_covers_less)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *table = table_text ();
  g_autofree char *path = fixture_path ("partial");
  ck_assert_ptr_null (xp_plugin_swap (first, path, XP_SWAP_STRICT, NULL, &error));
  assert_error (error, XP_ERROR_COVERAGE_LOST, "fixture::other [CPU]");
  assert_number (1);

  unsigned token;
  XpPlugin *partial = swap (first, "partial", XP_SWAP_OVERLAY, &token);
  assert_number (4);
  ck_assert_int_eq (call_number ("fixture::other", &error), 1);
  g_autofree char *dump = xp_table_dump ("fixture::number");
  const char *above = strstr (dump, "CPU: registered"), *below = strstr (dump, "CPU (inactive)");
  ck_assert (above != NULL && below != NULL && above < below);
  assert_state (first, XP_PLUGIN_LOADED, NULL);

  undo (token);
  assert_number (1);
  assert_table (table);
  assert_state (partial, XP_PLUGIN_UNLOADED, NULL);
  assert_stale (token, "it is undone already");
  assert_stale (0, "there is no swap to be undone");
}
END_TEST

/* It lies over the old one whatever their priorities are, and is no tie. */
START_TEST (over_a_higher_priority)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *high = load_fixture ("high");
  g_autofree char *table = table_text ();
  ck_assert (xp_set_on_tie (XP_ON_TIE_ERROR, &error));
  swap (high, "second", XP_SWAP_OVERLAY, NULL);
  assert_number (2);
  undo (0);
  assert_table (table);
  /* Alone it has its own priority again. */
  load_fixture ("second");
  assert_number (3);
}
END_TEST

START_TEST (over_with_one_that_is_loaded)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *high = load_fixture ("high");
  load_fixture ("second");
  ck_assert_ptr_null (xp_plugin_swap (high, "second", XP_SWAP_OVERLAY, NULL, &error));
  assert_error (error, XP_ERROR_PLUGIN_CONFLICT, "`prefer second` puts its kernels first");
}
END_TEST

/* What comes back stands where it stood, under what came after it. */
START_TEST (ranks_come_back)
{
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  load_fixture ("resident");
  g_autofree char *table = table_text ();
  assert_number (9);
  swap (first, "second", XP_SWAP_STRICT, NULL);
  assert_number (2);
  undo (0);
  assert_number (9);
  assert_table (table);
}
END_TEST

/* Swapping back is a swap too, and takes the file that is mapped. */
START_TEST (back_by_swapping)
{
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *table = table_text ();
  unsigned tokens[2];
  XpPlugin *second = swap (first, "second", XP_SWAP_STRICT, &tokens[0]);
  ck_assert_ptr_eq (swap (second, "first", XP_SWAP_STRICT, &tokens[1]), first);
  assert_state (second, XP_PLUGIN_INACTIVE, "first is in its place");
  assert_table (table);
  ck_assert_uint_ne (tokens[0], tokens[1]);
  assert_stale (tokens[0], "cannot be undone");
  undo (tokens[1]);
  assert_number (2);
}
END_TEST

START_TEST (others_have_changed_its_cells)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  swap (first, "second", XP_SWAP_STRICT, NULL);
  XpPlugin *partial = load_fixture ("partial");
  ck_assert (!xp_plugin_undo (0, NULL, NULL, &error));
  char **changed = xp_error_get_details (error)->candidates;
  ck_assert_uint_eq (g_strv_length (changed), 1);
  ck_assert_str_eq (changed[0], "fixture::number [CPU]");
  assert_error (error, XP_ERROR_UNDO_STALE, "others have changed 1 of its cells since");
  assert_number (4);
  unload (partial);
  undo (0);
  assert_number (1);
}
END_TEST

START_TEST (deeper)
{
  GError *error = NULL;
  ck_assert (xp_setting_set ("undo-depth", "2", &error));
  load_fixture ("rows");
  XpPlugin *plugins[4];
  unsigned tokens[4];
  plugins[0] = load_fixture ("first");
  plugins[1] = swap (plugins[0], "second", XP_SWAP_STRICT, &tokens[1]);
  plugins[2] = swap (plugins[1], "high", XP_SWAP_STRICT, &tokens[2]);
  assert_stale (tokens[1], "second is inactive now; undo later swaps first");
  undo (tokens[2]);
  undo (tokens[1]);
  assert_number (1);
  assert_state (plugins[1], XP_PLUGIN_UNLOADED, NULL);

  plugins[1] = swap (plugins[0], "second", XP_SWAP_STRICT, &tokens[1]);
  plugins[2] = swap (plugins[1], "high", XP_SWAP_STRICT, &tokens[2]);
  plugins[3] = swap (plugins[2], "resident", XP_SWAP_STRICT, &tokens[3]);
  assert_state (plugins[0], XP_PLUGIN_UNLOADED, NULL);
  assert_stale (tokens[1], "not among the last 2");
  /* With the last one gone nothing is left to come back. */
  unload (plugins[3]);
  assert_state (plugins[2], XP_PLUGIN_UNLOADED, NULL);
  assert_state (plugins[1], XP_PLUGIN_UNLOADED, NULL);
  assert_stale (0, "there is no swap to be undone");
}
END_TEST

START_TEST (no_way_back)
{
  GError *error = NULL;
  ck_assert (xp_setting_set ("undo-depth", "0", &error));
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  swap (first, "second", XP_SWAP_STRICT, NULL);
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
  ck_assert (!is_mapped ("-first.so"));
  assert_stale (0, "there is no swap to be undone");
}
END_TEST

/* Loading what is swapped out is a load like any other, without its constructors. */
START_TEST (loaded_again)
{
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  XpPlugin *second = swap (first, "second", XP_SWAP_STRICT, NULL);
  ck_assert_ptr_eq (load_fixture ("first"), first);
  assert_state (first, XP_PLUGIN_LOADED, NULL);
  assert_number (1);
  assert_stale (0, "there is no swap to be undone");
  unload (first);
  assert_number (2);
  unload (second);
}
END_TEST

static void
undo_inside (G_GNUC_UNUSED void *data)
{
  GError *error = NULL;
  ck_assert (!xp_plugin_undo (0, NULL, NULL, &error));
  assert_error (error, XP_ERROR_BUSY, "from inside of its own kernel");
}

START_TEST (from_inside)
{
  load_fixture ("rows");
  swap (load_fixture ("first"), "second", XP_SWAP_STRICT, NULL);
  call_inside (undo_inside, NULL);
  assert_number (2);
  undo (0);
  assert_number (1);
}
END_TEST

/* A thread that stays in the old kernel delays no swap, only the closing of the file. */
START_TEST (a_guest_in_the_old_one)
{
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  Guest guest = { 0 };
  guest_enter (&guest, guest_visit);
  swap (first, "second", XP_SWAP_STRICT, NULL);
  assert_number (2);
  assert_state (first, XP_PLUGIN_INACTIVE, "second is in its place");
  guest_leave (&guest);
  undo (0);
  assert_number (1);
}
END_TEST

/* --- Rows. --- */

START_TEST (a_signature_that_changes)
{
  GError *error = NULL;
  XpPlugin *rows = load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *table = table_text ();
  g_autofree char *path = fixture_path ("rows_changed");
  ck_assert_ptr_null (xp_plugin_swap (rows, path, XP_SWAP_STRICT, NULL, &error));
  const char *changed = xp_error_get_details (error)->candidates[0];
  ck_assert_str_eq (changed, "fixture::other(Tensor a) -> int\n"
                             "    now fixture::other(Tensor a, int times=1) -> int");
  assert_error (error, XP_ERROR_SCHEMA_CHANGED, "changes the signature of 1 row of rows");
  assert_table (table);

  swap (rows, "rows_changed", XP_SWAP_FORCE, NULL);
  g_autoptr (XpRowInfo) row = xp_table_row ("fixture::other");
  ck_assert_str_eq (row->schema, "fixture::other(Tensor a, int times=1) -> int");
  assert_number (1);
  undo (0);
  assert_table (table);
  unload (first);
}
END_TEST

/* --- With what requires it. --- */

START_TEST (cascade)
{
  GError *error = NULL;
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  XpPlugin *first = load_fixture ("first");
  load_fixture ("first");
  XpPlugin *needy = load_fixture ("needy");
  XpPlugin *neediest = load_fixture ("neediest");
  load_fixture ("neediest");
  unload (first);
  ck_assert (!xp_plugin_unload (first, &error));
  load_fixture ("first");
  assert_error (error, XP_ERROR_IN_USE,
                "first is required by needy: unload that first, or take it");
  ck_assert (xp_plugin_unload_cascade (first, &error));
  assert_no_error (error);
  assert_table (table);
  XpPlugin *const all[] = { first, needy, neediest };
  for (unsigned i = 0; i < XP_LENGTH (all); i++)
    assert_state (all[i], XP_PLUGIN_UNLOADED, NULL);
}
END_TEST

static void
cascade_inside (void *first)
{
  GError *error = NULL;
  ck_assert (!xp_plugin_unload_cascade (first, &error));
  assert_error (error, XP_ERROR_BUSY, "needy cannot be unloaded from inside");
}

START_TEST (cascade_from_inside)
{
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  load_fixture ("needy");
  g_autofree char *table = table_text ();
  call_inside (cascade_inside, first);
  assert_table (table);
  assert_state (first, XP_PLUGIN_LOADED, NULL);
}
END_TEST

/* --- Any order. --- */

static const char *const names[] = { "first", "second", "high", "partial", "resident" };
static const int64_t numbers[] = { 1, 2, 3, 4, 9 };

/* What the cell gives is the number of the plugin that the table says is active. */
static void
assert_consistent (void)
{
  g_autoptr (XpRowInfo) row = xp_table_row ("fixture::number");
  g_autofree char *nothing = table_text ();
  assert_table (nothing);
  for (unsigned i = 0; i < row->n_registrations; i++)
    for (unsigned j = 0; row->registrations[i].is_active && j < XP_LENGTH (names); j++)
      if (strcmp (row->registrations[i].plugin, names[j]) == 0)
        assert_number (numbers[j]);
}

/* Swaps and loads at random: a swap that is undone at once leaves the table as it was, one that
 * fails does not touch it. */
START_TEST (at_random)
{
  g_autoptr (GRand) random = g_rand_new_with_seed ((guint32) _i);
  unsigned n_undone = 0;
  g_log_set_writer_func (swallow, NULL, NULL);
  load_fixture ("rows");
  xp_setting_set ("undo-depth", _i % 2 == 0 ? "1" : "3", NULL);
  for (unsigned round = 0; round < 200; round++)
    {
      unsigned token = 0;
      GError *error = NULL;
      const char *name = names[g_rand_int_range (random, 0, XP_LENGTH (names))];
      XpPlugin *plugin = xp_plugin_find (name);
      g_autofree char *path = fixture_path (names[g_rand_int_range (random, 0, XP_LENGTH (names))]);
      g_autofree char *before = table_text ();
      XpSwapFlags flags = g_rand_boolean (random) ? XP_SWAP_STRICT : XP_SWAP_OVERLAY;
      switch (plugin == NULL ? 0 : g_rand_int_range (random, 0, 5))
        {
        case 0:
          xp_plugin_load (path, &error);
          break;
        case 1:
          xp_plugin_unload (plugin, &error);
          break;
        case 2:
          xp_plugin_undo (0, NULL, NULL, &error);
          break;
        default:
          if (xp_plugin_swap (plugin, path, flags, &token, &error) == NULL
              || !g_rand_boolean (random))
            break;
          assert_consistent ();
          undo (token);
          assert_table (before);
          n_undone++;
        }
      if (error != NULL)
        assert_table (before);
      g_clear_error (&error);
      assert_consistent ();
    }
  ck_assert_uint_gt (n_undone, 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("undo");
  TCase *tests = tcase_create ("undo");
  tcase_add_test (tests, a_library_that_covers_less);
  tcase_add_test (tests, over_a_higher_priority);
  tcase_add_test (tests, over_with_one_that_is_loaded);
  tcase_add_test (tests, ranks_come_back);
  tcase_add_test (tests, back_by_swapping);
  tcase_add_test (tests, others_have_changed_its_cells);
  tcase_add_test (tests, deeper);
  tcase_add_test (tests, no_way_back);
  tcase_add_test (tests, loaded_again);
  tcase_add_test (tests, from_inside);
  tcase_add_test (tests, a_guest_in_the_old_one);
  tcase_add_test (tests, a_signature_that_changes);
  tcase_add_test (tests, cascade);
  tcase_add_test (tests, cascade_from_inside);
  tcase_add_loop_test (tests, at_random, 0, 20);
  tcase_set_timeout (tests, 60);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
