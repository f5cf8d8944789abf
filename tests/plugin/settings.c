/* SPDX-License-Identifier: MIT
 *
 * settings.c: where the value of a setting comes from.
 */
#include "plugin/fixtures.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>

static char *folder;
static char *config;
static unsigned n_warnings;
static const char *expected_warning;
static gboolean is_warned;

static GLogWriterOutput
count_warning (G_GNUC_UNUSED GLogLevelFlags level, const GLogField *fields, gsize n_fields,
               G_GNUC_UNUSED gpointer data)
{
  n_warnings++;
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0
        && strstr (fields[i].value, expected_warning) != NULL)
      is_warned = TRUE;
  return G_LOG_WRITER_HANDLED;
}

static void
expect_warning (const char *text)
{
  expected_warning = text;
  g_log_set_writer_func (count_warning, NULL, NULL);
}

/* The user's file, before anything is read of it. */
static void
write_config (const char *text)
{
  folder = g_dir_make_tmp ("crosspoint-settings-XXXXXX", NULL);
  config = g_build_filename (folder, "crosspoint.conf", NULL);
  ck_assert (g_file_set_contents (config, text, -1, NULL));
  g_setenv ("CROSSPOINT_CONFIG", config, TRUE);
}

static void
remove_config (void)
{
  g_autofree char *lock = g_strconcat (config, ".lock", NULL);
  g_unlink (lock);
  g_unlink (config);
  ck_assert_int_eq (g_rmdir (folder), 0);
}

static void
assert_setting (const char *name, const char *value, XpSettingLayer layer, const char *source)
{
  unsigned n, i = 0;
  g_autofree char *found = xp_setting_get (name);
  ck_assert_str_eq (found, value);
  XpSetting *settings = xp_settings (&n);
  while (i < n && strcmp (settings[i].name, name) != 0)
    i++;
  ck_assert_uint_lt (i, n);
  ck_assert_str_eq (settings[i].value, value);
  ck_assert_int_eq ((int) settings[i].layer, (int) layer);
  ck_assert_str_eq (settings[i].source, source);
  xp_settings_free (settings, n);
}

START_TEST (layers)
{
  write_config ("[crosspoint]\nscan-timeout=3\n");
  assert_setting ("scan-timeout", "3", XP_SETTING_FILE, config);
  assert_setting ("on-tie", "newest", XP_SETTING_DEFAULT, "default");
  g_setenv ("CROSSPOINT_SCAN_TIMEOUT", "4", TRUE);
  assert_setting ("scan-timeout", "4", XP_SETTING_ENVIRONMENT, "CROSSPOINT_SCAN_TIMEOUT");
  ck_assert (xp_setting_set ("scan-timeout", "5.5", NULL));
  assert_setting ("scan-timeout", "5.5", XP_SETTING_PROGRAM, "program");
  ck_assert_double_eq (xp_setting_get_number ("scan-timeout"), 5.5);
  ck_assert (xp_setting_set ("scan-timeout", NULL, NULL));
  assert_setting ("scan-timeout", "4", XP_SETTING_ENVIRONMENT, "CROSSPOINT_SCAN_TIMEOUT");
  remove_config ();
}
END_TEST

START_TEST (wrong_values)
{
  static const struct
  {
    const char *name, *value;
  } wrong[] = { { "on-tie", "oldest" },      { "scan-timeout", "soon" }, { "scan-timeout", "-1" },
                { "scan-timeout", "inf" },   { "undo-depth", "1.5" },    { "undo-depth", "1e9" },
                { "load-in-place", "maybe" } };
  for (unsigned i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      GError *error = NULL;
      ck_assert (!xp_setting_set (wrong[i].name, wrong[i].value, &error));
      assert_error (error, XP_ERROR_INVALID_ARGUMENT, wrong[i].value);
    }
  GError *error = NULL;
  ck_assert (!xp_setting_set ("on_tie", "error", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "there is no setting 'on_tie'; there are ");
}
END_TEST

/* What does not fit counts for nothing, and the next layer does. */
START_TEST (wrong_layers)
{
  write_config ("[crosspoint]\non-tie=error\nundo-depth=many\nonce=1\n[other]\n");
  g_setenv ("CROSSPOINT_ON_TIE", "oldest", TRUE);
  expect_warning ("there is no setting 'once'");
  assert_setting ("on-tie", "error", XP_SETTING_FILE, config);
  assert_setting ("undo-depth", "1", XP_SETTING_DEFAULT, "default");
  ck_assert_uint_eq (n_warnings, 4);
  ck_assert (is_warned);
  remove_config ();
}
END_TEST

START_TEST (lists)
{
  g_setenv ("CROSSPOINT_LOAD", " aten, cpu,,", TRUE);
  g_auto (GStrv) names = xp_setting_get_list ("load");
  ck_assert_uint_eq (g_strv_length (names), 2);
  ck_assert_str_eq (names[0], "aten");
  ck_assert_str_eq (names[1], "cpu");
  g_setenv ("CROSSPOINT_LOAD", "first,default", TRUE);
  g_auto (GStrv) more = xp_setting_get_list ("load");
  ck_assert_str_eq (more[0], "first");
  ck_assert_str_eq (more[1], "aten");
  ck_assert (!g_strv_contains ((const char *const *) more, "default"));
  g_setenv ("CROSSPOINT_DISABLE", "default", TRUE);
  g_auto (GStrv) disabled = xp_setting_get_list ("disable");
  ck_assert_str_eq (disabled[0], "default");
  g_setenv ("CROSSPOINT_PLUGIN_PATH", "/a,b:/c", TRUE);
  g_auto (GStrv) paths = xp_setting_get_list ("plugin-path");
  ck_assert_uint_eq (g_strv_length (paths), 2);
  ck_assert_str_eq (paths[0], "/a,b");
}
END_TEST

/* Whoever can write the file could choose the code that runs. */
START_TEST (a_file_of_everyone)
{
  write_config ("[crosspoint]\nplugin-path=/elsewhere\n");
  ck_assert_int_eq (g_chmod (config, 0666), 0);
  expect_warning ("writable by everyone");
  assert_setting ("plugin-path", "", XP_SETTING_DEFAULT, "default");
  ck_assert_uint_eq (n_warnings, 1);
  ck_assert (is_warned);
  remove_config ();
}
END_TEST

/* Nor may the working directory. */
START_TEST (relative_directories)
{
  g_setenv ("HOME", "", TRUE);
  g_setenv ("XDG_CONFIG_HOME", ".config", TRUE);
  g_unsetenv ("CROSSPOINT_CONFIG");
  g_autofree char *file = xp_settings_file ();
  ck_assert (g_path_is_absolute (file));
  g_autofree char *here = g_get_current_dir ();
  ck_assert (!g_str_has_prefix (file, here));
}
END_TEST

START_TEST (no_regular_file)
{
  g_setenv ("CROSSPOINT_CONFIG", "/dev/zero", TRUE);
  expect_warning ("expected a regular file");
  assert_setting ("on-tie", "newest", XP_SETTING_DEFAULT, "default");
  ck_assert_uint_eq (n_warnings, 1);
  ck_assert (is_warned);
}
END_TEST

START_TEST (directories)
{
  unsigned n;
  write_config ("[crosspoint]\nplugin-path=/two\nplugin-system-path=/three\n");
  g_setenv ("CROSSPOINT_PLUGIN_PATH", "/one", TRUE);
  XpSearchDirectory *found = xp_plugin_search_path (&n);
  ck_assert_uint_eq (n, 3);
  ck_assert_str_eq (found[0].path, "/one");
  ck_assert_str_eq (found[1].path, "/two");
  ck_assert_str_eq (found[1].source, config);
  ck_assert_str_eq (found[2].path, "/three");
  xp_search_directories_free (found, n);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "/only", TRUE);
  found = xp_plugin_search_path (&n);
  ck_assert_uint_eq (n, 2);
  ck_assert_str_eq (found[1].path, "/only");
  xp_search_directories_free (found, n);
  remove_config ();
}
END_TEST

static void
assert_config (const char *expected)
{
  g_autofree char *text = NULL;
  ck_assert (g_file_get_contents (config, &text, NULL, NULL));
  ck_assert_str_eq (text, expected);
}

START_TEST (saved)
{
  GError *error = NULL;
  write_config ("# mine\n\n[crosspoint]\n# ties are mistakes\non-tie=error\n");
  ck_assert (xp_setting_save ("scan-timeout", "3", &error));
  assert_no_error (error);
  assert_config ("# mine\n\n[crosspoint]\n# ties are mistakes\non-tie=error\nscan-timeout=3\n");
  assert_setting ("scan-timeout", "3", XP_SETTING_FILE, config);
  ck_assert (xp_setting_save ("scan-timeout", "4", &error));
  assert_setting ("scan-timeout", "4", XP_SETTING_FILE, config);
  ck_assert (xp_setting_save ("on-tie", NULL, &error));
  assert_setting ("on-tie", "newest", XP_SETTING_DEFAULT, "default");
  assert_config ("# mine\n\n[crosspoint]\n# ties are mistakes\nscan-timeout=4\n");
  remove_config ();
}
END_TEST

/* Also through a link, which stays one, and with the rights that the file had. */
START_TEST (saved_anew)
{
  GError *error = NULL;
  struct stat status;
  folder = g_dir_make_tmp ("crosspoint-settings-XXXXXX", NULL);
  g_autofree char *inner = g_build_filename (folder, "inner", NULL);
  g_autofree char *link_ = g_build_filename (folder, "link", NULL);
  config = g_build_filename (inner, "crosspoint.conf", NULL);
  g_setenv ("CROSSPOINT_CONFIG", config, TRUE);
  ck_assert (xp_setting_save ("on-tie", "error", &error));
  assert_no_error (error);
  assert_config ("[crosspoint]\non-tie=error\n");
  ck_assert_int_eq (stat (inner, &status), 0);
  ck_assert_uint_eq (status.st_mode & 0777, 0700);
  ck_assert_int_eq (stat (config, &status), 0);
  ck_assert_uint_eq (status.st_mode & 0777, 0600);
  ck_assert_int_eq (g_chmod (config, 0644), 0);
  ck_assert_int_eq (symlink (config, link_), 0);
  g_setenv ("CROSSPOINT_CONFIG", link_, TRUE);
  ck_assert (xp_setting_save ("on-tie", "newest", &error));
  assert_config ("[crosspoint]\non-tie=newest\n");
  ck_assert (g_file_test (link_, G_FILE_TEST_IS_SYMLINK));
  ck_assert_int_eq (stat (config, &status), 0);
  ck_assert_uint_eq (status.st_mode & 0777, 0644);
  g_autofree char *lock = g_strconcat (config, ".lock", NULL);
  g_unlink (lock);
  g_unlink (link_);
  g_unlink (config);
  g_rmdir (inner);
  g_rmdir (folder);
}
END_TEST

START_TEST (not_saved)
{
  const char *const text = "[crosspoint]\non-tie=error\n";
  static const struct
  {
    const char *name, *value, *part;
  } wrong[] = { { "on_tie", "error", "there is no setting 'on_tie'" },
                { "on-tie", "oldest", "expected newest or error for on-tie, found 'oldest'" },
                { "load", "a\non-tie=newest", "expected one line for load" } };
  write_config (text);
  for (unsigned i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      GError *error = NULL;
      ck_assert (!xp_setting_save (wrong[i].name, wrong[i].value, &error));
      assert_error (error, XP_ERROR_INVALID_ARGUMENT, wrong[i].part);
      assert_config (text);
    }
  GError *error = NULL;
  ck_assert_int_eq (g_chmod (config, 0666), 0);
  ck_assert (!xp_setting_save ("on-tie", "newest", &error));
  assert_error (error, XP_ERROR_UNSAFE_FILE, "writable by everyone");
  assert_config (text);
  ck_assert_int_eq (g_chmod (config, 0600), 0);
  ck_assert (g_file_set_contents (config, "on-tie", -1, NULL));
  ck_assert (!xp_setting_save ("on-tie", "newest", &error));
  assert_error (error, XP_ERROR_FILE_FORMAT, "is left as it is");
  assert_config ("on-tie");
  remove_config ();
}
END_TEST

static gboolean
add_name (const char *before, void *name, char **after, G_GNUC_UNUSED GError **error)
{
  *after = before != NULL ? g_strdup_printf ("%s,%s", before, (char *) name) : g_strdup (name);
  g_usleep (2000); /* for the others to come between */
  return TRUE;
}

enum
{
  WRITERS = 20
};

START_TEST (many_save_at_once)
{
  pid_t children[WRITERS];
  write_config ("[crosspoint]\n");
  for (unsigned i = 0; i < WRITERS; i++)
    if ((children[i] = fork ()) == 0)
      {
        g_autofree char *name = g_strdup_printf ("*@writer%u", i);
        _exit (xp_setting_edit ("prefer", add_name, name, NULL) ? 0 : 1);
      }
  for (unsigned i = 0; i < WRITERS; i++)
    {
      int status;
      ck_assert_int_eq (waitpid (children[i], &status, 0), children[i]);
      ck_assert (WIFEXITED (status) && WEXITSTATUS (status) == 0);
    }
  g_auto (GStrv) all = xp_setting_get_list ("prefer");
  ck_assert_uint_eq (g_strv_length (all), WRITERS);
  for (unsigned i = 0; i < WRITERS; i++)
    {
      g_autofree char *name = g_strdup_printf ("*@writer%u", i);
      ck_assert_msg (g_strv_contains ((const char *const *) all, name), "%s is lost", name);
    }
  remove_config ();
}
END_TEST

/* Another that writes, and does not end, is waited for, but not for ever. */
START_TEST (one_that_does_not_end_saving)
{
  GError *error = NULL;
  write_config ("[crosspoint]\n");
  g_autofree char *lock = g_strconcat (config, ".lock", NULL);
  int fd = open (lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ck_assert_int_eq (flock (fd, LOCK_EX), 0);
  ck_assert (!xp_setting_save ("on-tie", "error", &error));
  assert_error (error, XP_ERROR_BUSY, "crosspoint.conf.lock for 5 seconds; try again");
  assert_config ("[crosspoint]\n");
  close (fd);
  ck_assert (xp_setting_save ("on-tie", "error", &error));
  remove_config ();
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("settings");
  TCase *tests = tcase_create ("settings");
  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, layers);
  tcase_add_test (tests, wrong_values);
  tcase_add_test (tests, wrong_layers);
  tcase_add_test (tests, lists);
  tcase_add_test (tests, a_file_of_everyone);
  tcase_add_test (tests, relative_directories);
  tcase_add_test (tests, no_regular_file);
  tcase_add_test (tests, directories);
  tcase_add_test (tests, saved);
  tcase_add_test (tests, saved_anew);
  tcase_add_test (tests, not_saved);
  tcase_add_test (tests, many_save_at_once);
  tcase_add_test (tests, one_that_does_not_end_saving);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
