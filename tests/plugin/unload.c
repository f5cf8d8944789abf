/* SPDX-License-Identifier: MIT
 *
 * unload.c: the end of a plugin: fini, threads inside, pins, what must stay mapped, and what comes
 * back.
 */
#include "plugin/fixtures.h"

#include <dlfcn.h>

static char *
mapped_path (XpPlugin *plugin)
{
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  return g_steal_pointer (&info->mapped_path);
}

START_TEST (fini_runs_once_without_cells)
{
  XpPlugin *rows = load_fixture ("rows");
  g_autofree char *table = table_text ();
  XpPlugin *first = load_fixture ("first");
  g_autofree char *path = mapped_path (first);
  ck_assert_ptr_null (g_getenv ("FIXTURE_FINI"));
  unload (first);
  ck_assert_str_eq (g_getenv ("FIXTURE_FINI"), "first-");
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
  ck_assert (!is_mapped (path));
  ck_assert (!g_file_test (path, G_FILE_TEST_EXISTS));
  assert_table (table);
  ck_assert_ptr_eq (load_fixture ("first"), first);
  g_autofree char *other_path = mapped_path (first);
  ck_assert_str_ne (path, other_path);
  assert_number (1);
  unload (first);
  ck_assert_str_eq (g_getenv ("FIXTURE_FINI"), "first-first-");
  unload (rows);
  g_autofree char *empty = table_text ();
  ck_assert_ptr_null (strstr (empty, "fixture::"));
}
END_TEST

static void *
unload_in_thread (void *data)
{
  unload (data);
  return NULL;
}

START_TEST (waits_for_a_thread_inside)
{
  GError *error = NULL;
  Guest guest = { 0 };
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *path = mapped_path (first);
  guest_enter (&guest, guest_visit);
  GThread *thread = g_thread_new ("unload", unload_in_thread, first);
  wait_for_state (first, XP_PLUGIN_DRAINING);
  ck_assert_int_eq (call_number ("fixture::number", &error), -1);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "Could not run 'fixture::number'");
  ck_assert (is_mapped (path));
  ck_assert_ptr_null (g_getenv ("FIXTURE_FINI"));
  guest_leave (&guest);
  g_thread_join (thread);
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
  ck_assert_str_eq (g_getenv ("FIXTURE_FINI"), "first-");
  ck_assert (!is_mapped (path));
}
END_TEST

/* Who is inside of another plugin is not waited for, however long he stays: until the unloading has
 * returned, or for as many seconds of loading and unloading as TEST_GUEST_SECONDS says. */
START_TEST (waits_for_nobody_else)
{
  const char *text = g_getenv ("TEST_GUEST_SECONDS");
  double seconds = text != NULL ? g_ascii_strtod (text, NULL) : 0;
  gint64 end = g_get_monotonic_time () + (gint64) (seconds * 1e6);
  Guest guest = { 0 };
  load_fixture ("rows");
  load_fixture ("first");
  guest_enter (&guest, guest_visit);
  do
    {
      XpPlugin *second = load_fixture ("second");
      gint64 before = g_get_monotonic_time ();
      unload (second);
      ck_assert_int_lt (g_get_monotonic_time () - before, 5000000);
      assert_state (second, XP_PLUGIN_UNLOADED, NULL);
    }
  while (g_get_monotonic_time () < end);
  guest_leave (&guest);
}
END_TEST

START_TEST (a_thread_does_not_leave)
{
  GError *error = NULL;
  Guest guest = { 0 };
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  XpPlugin *first = load_fixture ("first");
  g_autofree char *path = mapped_path (first);
  guest_enter (&guest, guest_visit);
  xp_setting_set ("unload-timeout", "0.05", NULL);
  ck_assert (!xp_plugin_unload (first, &error));
  assert_error (error, XP_ERROR_BUSY, "the cells of first are gone");
  assert_state (first, XP_PLUGIN_DRAINING, "a thread did not leave");
  xp_setting_set ("unload-timeout", "10", NULL);
  assert_table (table);
  ck_assert (!xp_plugin_unload (first, &error));
  assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED, "it is draining");
  ck_assert (is_mapped (path));

  /* A new copy of it works beside the old one. */
  XpPlugin *again = load_fixture ("first");
  ck_assert_ptr_ne (again, first);
  assert_number (1);
  unload (again);
  guest_leave (&guest);
  /* Nobody has to load or unload anything for it to close. */
  wait_for_state (first, XP_PLUGIN_UNLOADED);
  ck_assert (!is_mapped (path));
}
END_TEST

static void
unload_from_inside (void *data)
{
  GError *error = NULL;
  XpPlugin *plugin = data;
  ck_assert (!xp_plugin_unload (plugin, &error));
  assert_error (error, XP_ERROR_BUSY, "from inside of its own kernel of fixture::run");
  ck_assert_int_eq (xp_plugin_state (plugin), XP_PLUGIN_LOADED);
}

static void
unload_another (void *data)
{
  unload (data);
}

START_TEST (from_inside)
{
  load_fixture ("rows");
  XpPlugin *second = load_fixture ("second");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *table = table_text ();
  call_inside (unload_from_inside, first);
  assert_table (table);
  /* Another one may go from there, and one that is counted twice loses a count. */
  call_inside (unload_another, second);
  assert_state (second, XP_PLUGIN_UNLOADED, NULL);
  load_fixture ("first");
  call_inside (unload_another, first);
  assert_state (first, XP_PLUGIN_LOADED, NULL);
  unload (first);
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
}
END_TEST

static void
load_from_inside (void *data)
{
  guest_stay (data);
  unload (load_fixture ("second"));
}

static void *
visit_and_load (void *data)
{
  call_inside (load_from_inside, data);
  return NULL;
}

/* A kernel that loads, while its own plugin is being unloaded, is not waited for in vain. */
START_TEST (a_kernel_loads_meanwhile)
{
  Guest guest = { 0 };
  xp_setting_set ("unload-timeout", "60", NULL);
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  guest.thread = g_thread_new ("guest", visit_and_load, &guest);
  while (!__atomic_load_n (&guest.inside, __ATOMIC_SEQ_CST))
    g_usleep (500);
  GThread *thread = g_thread_new ("unload", unload_in_thread, first);
  wait_for_state (first, XP_PLUGIN_DRAINING);
  guest_leave (&guest);
  g_thread_join (thread);
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
}
END_TEST

START_TEST (pinned)
{
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *path = mapped_path (first);
  xp_plugin_pin (first);
  xp_plugin_pin (first);
  unload (first);
  assert_state (first, XP_PLUGIN_DRAINING, "2 things of it are still in use");
  ck_assert_ptr_null (g_getenv ("FIXTURE_FINI"));
  xp_plugin_unpin (first);
  ck_assert_int_eq (xp_plugin_state (first), XP_PLUGIN_DRAINING);
  ck_assert (is_mapped (path));
  xp_plugin_unpin (first);
  wait_for_state (first, XP_PLUGIN_UNLOADED);
  ck_assert_str_eq (g_getenv ("FIXTURE_FINI"), "first-");
  ck_assert (!is_mapped (path));
}
END_TEST

/* A tensor with a layout of the plugin keeps it, also when it is loaded again meanwhile. */
START_TEST (pinned_by_a_tensor)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  XpValue argument = xp_value_tensor (xp_tensor_new (XP_FLOAT32, XP_INTS (2), XP_CPU, NULL));
  XpValue result = XP_NONE;
  xp_operator_call (xp_operator_find ("fixture::wrap"), &argument, &result, &error);
  assert_no_error (error);
  g_autoptr (XpPluginInfo) info = xp_plugin_info (first);
  ck_assert_uint_eq (info->pin_count, 1);
  unload (first);
  assert_state (first, XP_PLUGIN_DRAINING, "1 thing of it is still in use");
  XpPlugin *again = load_fixture ("first");
  ck_assert_ptr_ne (again, first);
  assert_number (1);
  unload (again);
  xp_value_clear (&result);
  xp_value_clear (&argument);
  wait_for_state (first, XP_PLUGIN_UNLOADED);
}
END_TEST

static const struct
{
  const char *name;
  const char *reason;
  int64_t number;
} residents[] = {
  { "resident", "its file stays mapped: it keeps a thread; a load of it takes that one again", 9 },
  { "quark", "its file stays mapped: it imports g_quark_from_static_string", 10 },
};

START_TEST (resident)
{
  GError *error = NULL;
  const char *name = residents[_i].name;
  load_fixture ("rows");
  g_autofree char *before = table_text ();
  XpPlugin *plugin = load_fixture (name);
  g_autofree char *path = mapped_path (plugin);
  g_autofree char *loaded = table_text ();
  for (unsigned times = 1; times <= 5; times++)
    {
      assert_number (residents[_i].number);
      assert_table (loaded);
      unload (plugin);
      assert_state (plugin, XP_PLUGIN_RETIRED, residents[_i].reason);
      assert_table (before);
      ck_assert (is_mapped (path));
      ck_assert_uint_eq (strlen (g_getenv ("FIXTURE_FINI")), times * (strlen (name) + 1));
      ck_assert (!xp_plugin_unload (plugin, &error));
      assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED, "it is retired");
      /* The same mapping takes up its cells again. */
      ck_assert_ptr_eq (load_fixture (name), plugin);
      assert_state (plugin, XP_PLUGIN_LOADED, NULL);
      g_autofree char *same_path = mapped_path (plugin);
      ck_assert_str_eq (same_path, path);
    }
  g_autofree char *copy = g_strdup_printf ("-%s.so", name);
  g_autofree char *maps = NULL;
  ck_assert (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  for (const char *at = strstr (maps, copy); at != NULL; at = strstr (at + 1, copy))
    ck_assert_str_eq (g_strrstr_len (maps, at - maps, "/crosspoint-") != NULL ? "ours" : "",
                      "ours");
}
END_TEST

/* Somebody else has the file open: it cannot be closed, and says so; a new load is a new copy. */
START_TEST (held_by_another)
{
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *path = mapped_path (first);
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull (handle);
  unload (first);
  assert_state (first, XP_PLUGIN_RETIRED, "needs it; a load of it opens a new copy");
  XpPlugin *again = load_fixture ("first");
  assert_number (1);
  unload (again);
  dlclose (handle);
  ck_assert (!is_mapped (path));
}
END_TEST

START_TEST (required)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  XpPlugin *needy = load_fixture ("needy");
  g_autofree char *table = table_text ();
  ck_assert (!xp_plugin_unload (first, &error));
  ck_assert_str_eq (xp_error_get_details (error)->candidates[0], "needy");
  assert_error (error, XP_ERROR_IN_USE, "first is required by needy");
  assert_table (table);
  unload (needy);
  unload (first);
  ck_assert_str_eq (g_getenv ("FIXTURE_FINI"), "needy+first-");
}
END_TEST

/* One that came through a plain dlopen leaves through unload, too. */
START_TEST (opened_by_the_program)
{
  load_fixture ("rows");
  g_autofree char *path = fixture_path ("first");
  g_autofree char *before = table_text ();
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull (handle);
  XpPlugin *first = xp_plugin_find ("first");
  ck_assert_ptr_nonnull (first);
  assert_number (1);
  ck_assert_ptr_eq (load_fixture ("first"), first);
  unload (first);
  assert_number (1);
  dlclose (handle);
  assert_number (1);
  unload (first);
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
  ck_assert_str_eq (g_getenv ("FIXTURE_FINI"), "first-");
  assert_table (before);
  ck_assert (!is_mapped (path));
  ck_assert (g_file_test (path, G_FILE_TEST_EXISTS));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("unload");
  TCase *threads = tcase_create ("threads");
  tcase_set_timeout (threads, 120);
  tcase_add_test (threads, waits_for_a_thread_inside);
  tcase_add_test (threads, waits_for_nobody_else);
  tcase_add_test (threads, a_thread_does_not_leave);
  tcase_add_test (threads, from_inside);
  tcase_add_test (threads, a_kernel_loads_meanwhile);
  suite_add_tcase (suite, threads);
  TCase *end = tcase_create ("end");
  tcase_set_timeout (end, 60);
  tcase_add_test (end, fini_runs_once_without_cells);
  tcase_add_test (end, pinned);
  tcase_add_test (end, pinned_by_a_tensor);
  tcase_add_loop_test (end, resident, 0, XP_LENGTH (residents));
  tcase_add_test (end, held_by_another);
  tcase_add_test (end, required);
  tcase_add_test (end, opened_by_the_program);
  suite_add_tcase (suite, end);
  return run_suite (suite);
}
