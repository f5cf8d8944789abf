/* SPDX-License-Identifier: MIT
 *
 * search.c: where plugins are looked for, and in which order.
 */
#include "plugin/fixtures.h"

typedef struct
{
  const char *path;
  const char *source;
} Expected;

static void
assert_path (const Expected *expected, unsigned n_expected)
{
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  ck_assert_uint_eq (n, n_expected);
  for (unsigned i = 0; i < n; i++)
    {
      ck_assert_str_eq (directories[i].source, expected[i].source);
      if (expected[i].path != NULL)
        ck_assert_str_eq (directories[i].path, expected[i].path);
      ck_assert (g_path_is_absolute (directories[i].path));
      ck_assert_int_eq (directories[i].exists,
                        g_file_test (directories[i].path, G_FILE_TEST_IS_DIR));
    }
  xp_search_directories_free (directories, n);
}

START_TEST (order)
{
  g_setenv ("XDG_DATA_HOME", "/nowhere/data", TRUE);
  g_unsetenv ("CROSSPOINT_PLUGIN_PATH");
  g_unsetenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH");
  const Expected normal[] = { { "/nowhere/data/crosspoint/plugins", "user" },
                              { NULL, "beside the library" },
                              { NULL, "installation" } };
  assert_path (normal, 3);

  g_setenv ("CROSSPOINT_PLUGIN_PATH", "/one:/two/../three::", TRUE);
  const Expected added[] = { { "/one", "CROSSPOINT_PLUGIN_PATH" },
                             { "/three", "CROSSPOINT_PLUGIN_PATH" },
                             { "/nowhere/data/crosspoint/plugins", "user" },
                             { NULL, "beside the library" },
                             { NULL, "installation" } };
  assert_path (added, 5);

  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "/four", TRUE);
  const Expected replaced[] = { { "/one", "CROSSPOINT_PLUGIN_PATH" },
                                { "/three", "CROSSPOINT_PLUGIN_PATH" },
                                { "/four", "CROSSPOINT_PLUGIN_SYSTEM_PATH" } };
  assert_path (replaced, 3);

  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "", TRUE);
  assert_path (replaced, 2);
  g_unsetenv ("CROSSPOINT_PLUGIN_PATH");
  assert_path (NULL, 0);
}
END_TEST

START_TEST (nowhere)
{
  GError *error = NULL;
  g_setenv ("CROSSPOINT_PLUGIN_PATH", "/one:/", TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "", TRUE);
  ck_assert_ptr_null (xp_plugin_load ("rows", &error));
  ck_assert_str_eq (xp_error_get_details (error)->plugin, "rows");
  assert_error (error, XP_ERROR_PLUGIN_NOT_FOUND,
                "no plugin 'rows': rows.so is in none of these directories:\n"
                "  /one (CROSSPOINT_PLUGIN_PATH, does not exist)\n"
                "  / (CROSSPOINT_PLUGIN_PATH)\n");
}
END_TEST

/* An empty entry is not the working directory, nor is it looked in otherwise. */
START_TEST (working_directory)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("rows");
  g_autofree char *folder = g_path_get_dirname (path);
  ck_assert_int_eq (chdir (folder), 0);
  const char *const empty[] = { "", ":", "::", ":/one:" };
  for (unsigned i = 0; i < XP_LENGTH (empty); i++)
    {
      g_setenv ("CROSSPOINT_PLUGIN_PATH", empty[i], TRUE);
      ck_assert_ptr_null (xp_plugin_load ("rows", &error));
      assert_error (error, XP_ERROR_PLUGIN_NOT_FOUND, "no plugin 'rows'");
    }
  /* With a slash it is a path, relative to the working directory. */
  XpPlugin *rows = xp_plugin_load ("./rows.so", &error);
  assert_no_error (error);
  ck_assert_ptr_eq (xp_plugin_find (path), rows);
  ck_assert_ptr_eq (xp_plugin_find ("./rows.so"), rows);
  unload (rows);
}
END_TEST

/* The first directory that has the file wins, and the listing shows that one. */
START_TEST (first_wins)
{
  GError *error = NULL;
  g_autofree char *second = fixture_path ("second");
  char *one = folder_new (), *two = folder_new ();
  g_autofree char *in_one = g_build_filename (one, "second.so", NULL);
  g_autofree char *in_two = g_build_filename (two, "second.so", NULL);
  copy_file (second, in_one);
  copy_file (second, in_two);
  g_autofree char *path = g_strjoin (":", one, two, NULL);
  g_setenv ("CROSSPOINT_PLUGIN_PATH", path, TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "", TRUE);
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  ck_assert_uint_eq (n, 2);
  ck_assert_str_eq (infos[0]->name, "core");
  ck_assert_str_eq (infos[1]->name, "second");
  ck_assert_str_eq (infos[1]->path, in_one);
  ck_assert_int_eq (infos[1]->state, XP_PLUGIN_AVAILABLE);
  xp_plugin_infos_free (infos, n);
  XpPlugin *plugin = xp_plugin_load ("second", &error);
  assert_no_error (error);
  ck_assert_ptr_eq (xp_plugin_find ("second"), plugin);
  ck_assert_ptr_eq (xp_plugin_find (in_one), plugin);
  ck_assert_ptr_null (xp_plugin_find (in_two));
  unload (plugin);
  folder_remove (one);
  folder_remove (two);
}
END_TEST

/* A damaged file on the path is listed with its reason, and stops nothing. */
START_TEST (damaged_file)
{
  GError *error = NULL;
  char *folder = folder_new ();
  g_autofree char *text = g_build_filename (folder, "text.so", NULL);
  ck_assert (g_file_set_contents (text, "text", -1, NULL));
  g_setenv ("CROSSPOINT_PLUGIN_PATH", folder, TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "", TRUE);
  ck_assert_ptr_null (xp_plugin_load ("text", &error));
  assert_error (error, XP_ERROR_NOT_A_PLUGIN, text);
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  ck_assert_uint_eq (n, 2);
  ck_assert_str_eq (infos[1]->name, "text");
  ck_assert_int_eq (infos[1]->state, XP_PLUGIN_REJECTED);
  ck_assert_ptr_nonnull (strstr (infos[1]->reason, "it is not a shared object"));
  xp_plugin_infos_free (infos, n);
  folder_remove (folder);
}
END_TEST

/* NAME.so on the search path is the plugin NAME, or none: a misnamed file takes no plugin's place.
 */
START_TEST (misnamed_file)
{
  GError *error = NULL;
  g_autofree char *first = fixture_path ("first");
  char *folder = folder_new ();
  g_autofree char *file = g_build_filename (folder, "second.so", NULL);
  copy_file (first, file);
  g_setenv ("CROSSPOINT_PLUGIN_PATH", folder, TRUE);
  ck_assert_ptr_null (xp_plugin_load ("second", &error));
  ck_assert (g_error_matches (error, XP_ERROR, XP_ERROR_PLUGIN_NOT_FOUND));
  ck_assert_ptr_nonnull (strstr (error->message, "says that it is 'first'"));
  g_clear_error (&error);
  XpPlugin *plugin = xp_plugin_load (file, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (xp_plugin_find ("first"), plugin);
  /* Nor while its file is open under its own name. */
  ck_assert_ptr_null (xp_plugin_load ("second", NULL));
  ck_assert_ptr_null (xp_plugin_swap (plugin, "second", XP_SWAP_STRICT, NULL, NULL));
  unload (plugin);
  folder_remove (folder);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("search");
  TCase *tests = tcase_create ("search");
  tcase_add_test (tests, order);
  tcase_add_test (tests, nowhere);
  tcase_add_test (tests, working_directory);
  tcase_add_test (tests, first_wins);
  tcase_add_test (tests, misnamed_file);
  tcase_add_test (tests, damaged_file);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
