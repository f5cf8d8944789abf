/* SPDX-License-Identifier: MIT
 *
 * schemas.c: files of schemas as plugins: rows without code, with the life of any other plugin.
 */
#include "plugin/fixtures.h"

#include <glib/gstdio.h>

static char *folder;

static void
set_up (void)
{
  folder = folder_new ();
}

static void
tear_down (void)
{
  folder_remove (folder);
}

/* Writes NAME of the folder; (transfer full). */
static char *
write_file (const char *name, const char *text)
{
  GError *error = NULL;
  char *path = g_build_filename (folder, name, NULL);
  g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, &error);
  assert_no_error (error);
  return path;
}

static XpPlugin *
load (const char *name)
{
  GError *error = NULL;
  XpPlugin *plugin = xp_plugin_load (name, &error);
  assert_no_error (error);
  ck_assert_ptr_nonnull (plugin);
  return plugin;
}

static void
assert_load_fails (const char *name, XpError code, const char *part)
{
  GError *error = NULL;
  g_autofree char *table = table_text ();
  ck_assert_ptr_null (xp_plugin_load (name, &error));
  assert_error (error, code, part);
  assert_table (table);
}

START_TEST (rows_appear_and_go)
{
  g_autofree char *before = table_text ();
  g_autofree char *path = write_file (
      "mine.ops", "a::f(Tensor self) -> Tensor @pointwise -- Does f.\n\n"
                  "b::g() -> ()\na::f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n");
  XpPlugin *plugin = load (path);
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  ck_assert_str_eq (info->name, "mine.ops");
  ck_assert_str_eq (info->machine, "any");
  ck_assert_uint_eq (info->n_rows, 3);
  ck_assert_uint_eq (info->n_cells, 0);
  ck_assert (info->is_schemas);
  ck_assert_uint_eq (g_strv_length (info->defines), 2);
  g_autofree char *dump = xp_table_dump ("a::f.out");
  g_autofree char *location = g_strdup_printf ("debug: registered at %s:4\n", path);
  ck_assert_ptr_nonnull (strstr (dump, location));
  g_autoptr (XpRowInfo) row = xp_table_row ("a::f");
  ck_assert_str_eq (row->tags, "pointwise");
  ck_assert_str_eq (row->description, "Does f.");

  GError *error = NULL;
  XpValue result;
  XpOperator *op = xp_operator_get ("b::g", &error);
  assert_no_error (error);
  ck_assert_int_eq (xp_operator_call (op, NULL, &result, &error), XP_FAILED);
  g_clear_error (&error);

  ck_assert_ptr_eq (load (path), plugin);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_LOADED, NULL);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  assert_table (before);
}
END_TEST

/* Another plugin owns the namespace, and fills the cells. */
START_TEST (beside_a_plugin_with_code)
{
  g_autofree char *path = write_file ("more.ops", "fixture::more(Tensor self) -> int\n");
  XpPlugin *rows = load_fixture ("rows");
  load (path);
  load_fixture ("first");
  assert_number (1);
  unload (rows);
  GError *error = NULL;
  ck_assert_ptr_nonnull (xp_operator_get ("fixture::more", &error));
}
END_TEST

/* A kernel that waits for its row gets it, whoever brings it. */
START_TEST (a_row_for_a_waiting_kernel)
{
  g_autofree char *plugins = built_plugins ();
  g_autofree char *cpu = g_build_filename (plugins, "cpu.so", NULL);
  load (cpu);
  g_autofree char *wrong = write_file ("wrong.ops", "aten::relu(Tensor self, int x) -> Tensor\n");
  assert_load_fails (wrong, XP_ERROR_SCHEMA_MISMATCH, "wrong.ops:1");
  g_autofree char *path = write_file ("rows.ops", "aten::relu(Tensor self) -> Tensor\n");
  unload (load (path));
  load (path);
  GError *error = NULL;
  ck_assert (xp_table_has_computed_kernel ("aten::relu", XP_KEY_CPU, &error));
}
END_TEST

START_TEST (what_is_refused_leaves_nothing)
{
  g_autofree char *first = write_file ("first.ops", "a::f() -> ()\n");
  g_autofree char *again = write_file ("again.ops", "a::g() -> ()\na::f() -> ()\n");
  g_autofree char *bad = write_file ("bad.ops", "a::h() -> ()\na::i( -> ()\n");
  g_autofree char *open = write_file ("open.ops", "a::h() -> ()\n");
  load (first);
  assert_load_fails (again, XP_ERROR_DUPLICATE_DEF, "again.ops:2 (again.ops)");
  assert_load_fails (bad, XP_ERROR_SCHEMA_SYNTAX, "bad.ops:2");
  g_chmod (open, 0666);
  assert_load_fails (open, XP_ERROR_UNSAFE_FILE, "writable by everyone");
  assert_load_fails ("none.ops", XP_ERROR_PLUGIN_NOT_FOUND, "none.ops is in none");
  g_autofree char *pipe = g_build_filename (folder, "pipe.ops", NULL);
  ck_assert_int_eq (mkfifo (pipe, 0600), 0);
  assert_load_fails (pipe, XP_ERROR_NOT_A_PLUGIN, "not a regular file");
}
END_TEST

START_TEST (found_by_name_and_advised)
{
  GError *error = NULL;
  g_autofree char *path = write_file ("found.ops", "a::f() -> ()\n");
  g_setenv ("CROSSPOINT_PLUGIN_PATH", folder, TRUE);
  ck_assert_ptr_null (xp_operator_get ("a::f", &error));
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "load it with `load found.ops`");
  XpPlugin *plugin = load ("found.ops");
  ck_assert_ptr_eq (xp_plugin_find ("found.ops"), plugin);
  ck_assert_ptr_eq (xp_plugin_find (path), plugin);
}
END_TEST

START_TEST (swapped_and_brought_back)
{
  GError *error = NULL;
  unsigned token;
  g_autofree char *path = write_file ("rows.ops", "a::f() -> ()\n");
  g_autofree char *less = write_file ("less.ops", "a::g() -> ()\n");
  XpPlugin *old = load (path);
  g_autofree char *before = table_text ();
  ck_assert_ptr_null (xp_plugin_swap (old, less, XP_SWAP_STRICT, NULL, &error));
  assert_error (error, XP_ERROR_COVERAGE_LOST, "the row a::f");
  g_free (write_file ("rows.ops", "a::f() -> ()\na::g() -> ()\n"));
  XpPlugin *new_ = xp_plugin_swap (old, NULL, XP_SWAP_STRICT, &token, &error);
  assert_no_error (error);
  ck_assert_ptr_ne (new_, old);
  ck_assert_ptr_nonnull (xp_operator_find ("a::g"));
  assert_state (old, XP_PLUGIN_INACTIVE, "is in its place");
  xp_plugin_undo (token, NULL, NULL, &error);
  assert_no_error (error);
  assert_table (before);
  assert_state (old, XP_PLUGIN_LOADED, NULL);
  assert_state (new_, XP_PLUGIN_UNLOADED, NULL);
}
END_TEST

/* Its blocks are there while it waits for its undo. */
START_TEST (loaded_again_while_it_is_swapped_out)
{
  GError *error = NULL;
  g_autofree char *path = write_file ("rows.ops", "a::f() -> ()\n");
  g_autofree char *more = write_file ("more.ops", "a::f() -> ()\na::g() -> ()\n");
  XpPlugin *old = load (path);
  XpPlugin *new_ = xp_plugin_swap (old, more, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  assert_load_fails (path, XP_ERROR_DUPLICATE_DEF, "rows.ops:1 (rows.ops)");
  unload (new_);
  ck_assert_ptr_eq (load (path), old);
  ck_assert_ptr_nonnull (xp_operator_find ("a::f"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("schemas");
  TCase *tests = tcase_create ("schemas");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, rows_appear_and_go);
  tcase_add_test (tests, beside_a_plugin_with_code);
  tcase_add_test (tests, a_row_for_a_waiting_kernel);
  tcase_add_test (tests, what_is_refused_leaves_nothing);
  tcase_add_test (tests, found_by_name_and_advised);
  tcase_add_test (tests, swapped_and_brought_back);
  tcase_add_test (tests, loaded_again_while_it_is_swapped_out);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
