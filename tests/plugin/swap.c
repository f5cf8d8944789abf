/* SPDX-License-Identifier: MIT
 *
 * swap.c: several plugins on one cell, and one taking another's place.
 */
#include "plugin/fixtures.h"

#include <inttypes.h>
#include <stdlib.h>

START_TEST (conflict)
{
  load_fixture ("rows");
  g_autofree char *nothing = table_text ();
  XpPlugin *first = load_fixture ("first");
  g_autofree char *alone = table_text ();
  XpPlugin *second = load_fixture ("second");
  assert_number (2);
  g_autofree char *dump = xp_table_dump ("fixture::number");
  const char *new_ = strstr (dump, "CPU: registered at tests/plugin/fixtures/kernels.c:");
  const char *old = strstr (dump, "CPU (inactive): registered at tests/plugin/fixtures/kernels.c:");
  ck_assert_msg (new_ != NULL && old != NULL && new_ < old, "%s", dump);
  unload (second);
  assert_table (alone);
  assert_number (1);

  /* The lower one may go first. */
  second = load_fixture ("second");
  unload (first);
  assert_number (2);
  unload (second);
  assert_table (nothing);
}
END_TEST

START_TEST (priority)
{
  load_fixture ("rows");
  XpPlugin *high = load_fixture ("high");
  g_autofree char *alone = table_text ();
  XpPlugin *first = load_fixture ("first");
  assert_number (3);
  unload (high);
  assert_number (1);
  load_fixture ("high");
  assert_number (3);
  unload (first);
  assert_table (alone);
}
END_TEST

START_TEST (swapped)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *second = load_fixture ("second");
  g_autofree char *goal = table_text ();
  unload (second);
  XpPlugin *first = load_fixture ("first");
  load_fixture ("first");
  g_autofree char *path = fixture_path ("second");
  ck_assert_ptr_eq (xp_plugin_swap (first, path, XP_SWAP_STRICT, NULL, &error), second);
  assert_no_error (error);
  assert_number (2);
  assert_state (first, XP_PLUGIN_INACTIVE, "second is in its place; `undo 1` brings it back");
  assert_state (second, XP_PLUGIN_LOADED, NULL);
  g_autoptr (XpPluginInfo) info = xp_plugin_info (second);
  ck_assert_uint_eq (info->load_count, 2);
  assert_table (goal);
  ck_assert (is_mapped ("-first.so"));
  ck_assert_ptr_null (xp_plugin_swap (first, path, XP_SWAP_STRICT, NULL, &error));
  assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED,
                "first is not loaded, it is inactive: second is in its place; `undo 1`");
  ck_assert_ptr_eq (xp_plugin_find ("first"), first);
  g_autofree char *own_path = fixture_path ("first");
  ck_assert_ptr_eq (xp_plugin_find (own_path), first);
  unload (first);
  ck_assert_ptr_null (xp_plugin_find ("first"));
  ck_assert (!xp_plugin_undo (0, NULL, NULL, &error));
  assert_error (error, XP_ERROR_UNDO_STALE, "there is no swap to be undone");
  assert_state (first, XP_PLUGIN_UNLOADED, NULL);
  ck_assert (!is_mapped ("-first.so"));
  assert_table (goal);
}
END_TEST

START_TEST (with_one_that_is_loaded)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *second = load_fixture ("second");
  g_autofree char *goal = table_text ();
  XpPlugin *first = load_fixture ("first");
  assert_number (1);
  /* By name, too, though its file is not on the search path. */
  ck_assert_ptr_eq (xp_plugin_swap (first, "second", XP_SWAP_STRICT, NULL, &error), second);
  assert_no_error (error);
  assert_number (2);
  assert_table (goal);
  assert_state (first, XP_PLUGIN_INACTIVE, "second is in its place");
  ck_assert (xp_plugin_undo (0, NULL, NULL, &error));
  assert_no_error (error);
  assert_number (1);
  assert_state (second, XP_PLUGIN_LOADED, NULL);
}
END_TEST

static const struct
{
  const char *name;
  XpError error;
  const char *part;
} refusals[] = {
  { "partial", XP_ERROR_COVERAGE_LOST, "partial lacks 3 of what first fills" },
  { "rows", XP_ERROR_COVERAGE_LOST, "rows lacks 4 of what first fills" },
  { "fussy", XP_ERROR_UNSUITABLE, "no such device" },
  { "plain", XP_ERROR_NOT_A_PLUGIN, "without a Crosspoint note" },
  { "missing", XP_ERROR_PLUGIN_NOT_FOUND, "there is no such file" },
  { "demanding", XP_ERROR_MISSING_CPU_FEATURE, "no-such-feature" },
  { "unresolved", XP_ERROR_LOAD_FAILED, "nobody_has_this" },
  { "loads", XP_ERROR_NESTED_LOAD, "only registers" },
  { "duplicate", XP_ERROR_DUPLICATE_DEF, "multiple times" },
};

START_TEST (refused)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *table = table_text ();
  g_autofree char *path = fixture_path (refusals[_i].name);
  ck_assert_ptr_null (xp_plugin_swap (first, path, XP_SWAP_STRICT, NULL, &error));
  if (refusals[_i].error == XP_ERROR_COVERAGE_LOST)
    {
      char **lost = xp_error_get_details (error)->candidates;
      ck_assert (g_strv_contains ((const char *const *) lost, "fixture::other [CPU]"));
      ck_assert (g_strv_contains ((const char *const *) lost, "fixture::run [CPU]"));
      ck_assert_ptr_nonnull (strstr (error->message, "fixture::wrap [CPU]"));
    }
  assert_error (error, refusals[_i].error, refusals[_i].part);
  assert_table (table);
  assert_state (first, XP_PLUGIN_LOADED, NULL);
  assert_number (1);
}
END_TEST

/* What is required, or inside of the calling thread, is not swapped. */
START_TEST (required)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  XpPlugin *needy = load_fixture ("needy");
  g_autofree char *table = table_text ();
  g_autofree char *path = fixture_path ("second");
  ck_assert_ptr_null (xp_plugin_swap (first, path, XP_SWAP_STRICT, NULL, &error));
  assert_error (error, XP_ERROR_IN_USE, "first is required by needy");
  assert_table (table);
  unload (needy);
}
END_TEST

static void
swap_from_inside (void *data)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("second");
  ck_assert_ptr_null (xp_plugin_swap (data, path, XP_SWAP_STRICT, NULL, &error));
  assert_error (error, XP_ERROR_BUSY, "from inside of its own kernel");
}

START_TEST (from_inside)
{
  load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *table = table_text ();
  call_inside (swap_from_inside, first);
  assert_table (table);
}
END_TEST

/* Peers, pain 14: a file that is built again gives its new code, by swapping it, and by loading it
 * after an unload. */
START_TEST (pain_14_rebuilt)
{
  GError *error = NULL;
  g_autofree char *first_path = fixture_path ("first"), *second_path = fixture_path ("second");
  g_autofree char *next_path = fixture_path ("first.next");
  char *folder = folder_new ();
  g_autofree char *path = g_build_filename (folder, "it.so", NULL);
  load_fixture ("rows");
  copy_file (first_path, path);
  XpPlugin *it = xp_plugin_load (path, &error);
  assert_no_error (error);
  assert_number (1);

  copy_file (second_path, path);
  assert_number (1);
  XpPlugin *new_ = xp_plugin_swap (it, path, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  ck_assert_ptr_nonnull (new_);
  assert_number (2);
  assert_state (it, XP_PLUGIN_INACTIVE, "is in its place");

  unload (new_);
  assert_state (it, XP_PLUGIN_UNLOADED, NULL);
  copy_file (first_path, path);
  it = xp_plugin_load (path, &error);
  assert_no_error (error);
  assert_number (1);

  /* Written over in place, while it is mapped, with the same name in its note: by its name. */
  g_autofree char *bytes = NULL;
  gsize n;
  ck_assert (g_file_get_contents (next_path, &bytes, &n, NULL));
  FILE *file = fopen (path, "r+");
  ck_assert_uint_eq (fwrite (bytes, 1, n, file), n);
  ck_assert_int_eq (ftruncate (fileno (file), (off_t) n), 0);
  fclose (file);
  assert_number (1);
  ck_assert_ptr_null (xp_plugin_load (path, &error));
  assert_error (error, XP_ERROR_PLUGIN_CONFLICT, "has changed since it was loaded: swap it");
  new_ = xp_plugin_swap (it, "first", XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  ck_assert_ptr_ne (new_, it);
  assert_state (it, XP_PLUGIN_INACTIVE, "is in its place");
  assert_number (13);
  g_autoptr (XpPluginInfo) info = xp_plugin_info (new_);
  ck_assert_uint_eq (info->load_count, 1);
  unload (new_);
  folder_remove (folder);
}
END_TEST

/* The plugin that owns the rows passes them over, kernels of others included. */
START_TEST (rows_pass_over)
{
  GError *error = NULL;
  g_autofree char *original = fixture_path ("rows");
  char *folder = folder_new ();
  g_autofree char *path = g_build_filename (folder, "rows.so", NULL);
  copy_file (original, path);
  XpPlugin *rows = load_fixture ("rows");
  load_fixture ("first");
  g_autofree char *table = table_text ();
  XpOperator *op = xp_operator_find ("fixture::number");
  XpPlugin *new_ = xp_plugin_swap (rows, path, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  ck_assert_ptr_ne (new_, rows);
  assert_table (table);
  ck_assert_ptr_eq (xp_operator_find ("fixture::number"), op);
  assert_number (1);
  folder_remove (folder);
}
END_TEST

/* Calls go on while plugins are swapped: none fails, and each is one of the two. */
static int stop;
static unsigned long n_least; /* what each thread calls, whether it is to stop or not */

static void *
call_always (void *data)
{
  unsigned long *n_calls = data;
  while (*n_calls < n_least || !__atomic_load_n (&stop, __ATOMIC_ACQUIRE))
    {
      GError *error = NULL;
      int64_t number = call_number ("fixture::number", &error);
      if (error != NULL || (number != 1 && number != 2)) /* Check's own take longer than a call */
        ck_abort_msg ("%" PRId64 ": %s", number, error != NULL ? error->message : "no error");
      ++*n_calls;
    }
  return NULL;
}

/* Each number is of one of the two, and after a swap returns, of the new one only. */
enum
{
  N_CALLERS = 4,
  N_CALLS = 1000000
};

/* How many of the two are mapped: each has one executable segment. */
static unsigned
n_executable (void)
{
  g_autofree char *maps = NULL;
  unsigned n = 0;
  ck_assert (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (maps, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    n += strstr (*line, " r-xp ") != NULL
         && (g_str_has_suffix (*line, "-first.so") || g_str_has_suffix (*line, "-second.so"));
  return n;
}

/* This sanitizer keeps what was freed. */
#ifdef __SANITIZE_ADDRESS__
#  define MEMORY_IS_FREED 0
#else
#  define MEMORY_IS_FREED 1
#endif

static unsigned long
memory_size (void)
{
  g_autofree char *text = NULL;
  ck_assert (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  return strtoul (strchr (text, ' '), NULL, 10);
}

/* Reports, test 19. */
START_TEST (under_traffic)
{
  GError *error = NULL;
  unsigned long n_calls[N_CALLERS] = { 0 }, memory = 0;
  GThread *threads[N_CALLERS];
  const unsigned n_swaps = 1000;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("first");
  g_autofree char *table = table_text ();
  stop = 0;
  n_least = N_CALLS;
  for (unsigned i = 0; i < N_CALLERS; i++)
    threads[i] = g_thread_new ("caller", call_always, &n_calls[i]);
  g_autofree char *first = fixture_path ("first"), *second = fixture_path ("second");
  for (unsigned i = 0; i < n_swaps; i++)
    {
      XpPlugin *next = xp_plugin_swap (plugin, i % 2 == 0 ? second : first, XP_SWAP_STRICT, NULL,
                                       &error);
      assert_no_error (error);
      assert_state (plugin, XP_PLUGIN_INACTIVE, "is in its place");
      assert_number (i % 2 == 0 ? 2 : 1);
      plugin = next;
      if (i == n_swaps / 2)
        memory = memory_size ();
    }
  if (MEMORY_IS_FREED)
    ck_assert_uint_le (memory_size (), memory + 64);
  __atomic_store_n (&stop, 1, __ATOMIC_RELEASE);
  for (unsigned i = 0; i < N_CALLERS; i++)
    g_thread_join (threads[i]);
  for (unsigned i = 0; i < N_CALLERS; i++)
    ck_assert_uint_ge (n_calls[i], N_CALLS);
  assert_table (table);
  ck_assert_uint_eq (n_executable (), 2);
}
END_TEST

/* The same with files that are opened each time. */
START_TEST (reloads_under_traffic)
{
  GError *error = NULL;
  unsigned long n_calls[N_CALLERS] = { 0 };
  GThread *threads[N_CALLERS];
  g_autofree char *first = fixture_path ("first"), *second = fixture_path ("second");
  char *folder = folder_new ();
  g_autofree char *path = g_build_filename (folder, "it.so", NULL);
  load_fixture ("rows");
  copy_file (first, path);
  XpPlugin *plugin = xp_plugin_load (path, &error);
  assert_no_error (error);
  stop = 0;
  n_least = 1;
  for (unsigned i = 0; i < N_CALLERS; i++)
    threads[i] = g_thread_new ("caller", call_always, &n_calls[i]);
  for (unsigned i = 0; i < 100; i++)
    {
      copy_file (i % 2 == 0 ? second : first, path);
      plugin = xp_plugin_swap (plugin, path, XP_SWAP_STRICT, NULL, &error);
      assert_no_error (error);
      assert_number (i % 2 == 0 ? 2 : 1);
      ck_assert_uint_le (n_executable (), 2);
    }
  __atomic_store_n (&stop, 1, __ATOMIC_RELEASE);
  for (unsigned i = 0; i < N_CALLERS; i++)
    g_thread_join (threads[i]);
  folder_remove (folder);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("swap");
  TCase *tests = tcase_create ("swap");
  tcase_set_timeout (tests, 100);
  tcase_add_test (tests, conflict);
  tcase_add_test (tests, priority);
  tcase_add_test (tests, swapped);
  tcase_add_test (tests, with_one_that_is_loaded);
  tcase_add_loop_test (tests, refused, 0, XP_LENGTH (refusals));
  tcase_add_test (tests, required);
  tcase_add_test (tests, from_inside);
  tcase_add_test (tests, pain_14_rebuilt);
  tcase_add_test (tests, rows_pass_over);
  tcase_add_test (tests, under_traffic);
  tcase_add_test (tests, reloads_under_traffic);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
