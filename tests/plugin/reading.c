/* SPDX-License-Identifier: MIT
 *
 * reading.c: which files are opened, and how often: as the kernel tells (inotify), not as the time
 * it takes.
 */
#include "plugin/fixtures.h"

#include <sys/inotify.h>

/* Tells of every file of @folder that is opened. */
static int
watch (const char *folder)
{
  int fd = inotify_init1 (IN_NONBLOCK | IN_CLOEXEC);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_ge (inotify_add_watch (fd, folder, IN_OPEN), 0);
  return fd;
}

/* How many openings of files but @but were told since. */
static unsigned
opened (int fd, const char *but)
{
  unsigned n = 0;
  ssize_t length;
  union
  {
    struct inotify_event event;
    char bytes[1 << 16];
  } buffer;
  while ((length = read (fd, &buffer, sizeof buffer)) > 0)
    for (char *at = buffer.bytes; at < buffer.bytes + length;)
      {
        const struct inotify_event *event = (const void *) at;
        if ((event->mask & IN_ISDIR) == 0 && event->len > 0 && g_strcmp0 (event->name, but) != 0)
          n++;
        at += sizeof *event + event->len;
      }
  return n;
}

static char *
copy_fixture (const char *fixture, const char *folder, const char *name)
{
  g_autofree char *from = fixture_path (fixture);
  char *to = g_build_filename (folder, name, NULL);
  copy_file (from, to);
  return to;
}

static void
only (const char *folder)
{
  g_setenv ("CROSSPOINT_PLUGIN_PATH", folder, TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "", TRUE);
}

/* Pain 5: what nobody asks for is not opened, however much of it is there. */
START_TEST (pain_5_hundred_plugins_cost_nothing)
{
  char *folder = folder_new ();
  only (folder);
  g_free (copy_fixture ("rows", folder, "rows.so"));
  for (unsigned i = 0; i < 100; i++)
    {
      g_autofree char *name = g_strdup_printf ("plugin%u.so", i);
      g_free (copy_fixture ("first", folder, name));
    }
  int fd = watch (folder);
  GError *error = NULL;
  XpPlugin *rows = xp_plugin_load ("rows", &error);
  assert_no_error (error);
  ck_assert_uint_eq (opened (fd, "rows.so"), 0);
  g_autofree char *dump = xp_table_dump ("fixture::number");
  ck_assert_uint_eq (opened (fd, NULL), 0);
  /* One of them is needed. */
  ck_assert_int_eq (call_number ("fixture::number", NULL), -1);
  ck_assert_uint_ge (opened (fd, "rows.so"), 100);
  close (fd);
  unload (rows);
  folder_remove (folder);
}
END_TEST

/* A second error looks at the status of the files and opens none; one that has changed is read
 * again. */
START_TEST (notes_are_kept)
{
  char *folder = folder_new ();
  only (folder);
  XpPlugin *rows = load_fixture ("rows");
  g_autofree char *first = copy_fixture ("first", folder, "first.so");
  g_autofree char *text = g_build_filename (folder, "text.so", NULL);
  ck_assert (g_file_set_contents (text, "text", -1, NULL));
  struct stat status;
  /* One that was just written may be written again within one tick of the file system's clock. */
  do
    {
      g_usleep (100000);
      ck_assert_int_eq (stat (text, &status), 0);
    }
  while (g_get_real_time () / G_USEC_PER_SEC < status.st_ctim.tv_sec + 3);
  int fd = watch (folder);
  GError *error = NULL;
  ck_assert_int_eq (call_number ("fixture::number", &error), -1);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "Not loaded: first (");
  ck_assert_uint_eq (opened (fd, NULL), 2);
  error = NULL;
  ck_assert_int_eq (call_number ("fixture::number", &error), -1);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "Not loaded: first (");
  ck_assert_uint_eq (opened (fd, NULL), 0);
  g_autofree char *high = fixture_path ("high");
  copy_file (high, first);
  error = NULL;
  opened (fd, NULL);
  ck_assert_int_eq (call_number ("fixture::number", &error), -1);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "Not loaded: high (");
  ck_assert_uint_ge (opened (fd, "text.so"), 1);
  close (fd);
  unload (rows);
  folder_remove (folder);
}
END_TEST

/* Pains 3 and 4: the working directory changes nothing, and what lies in it is not opened. */
START_TEST (pains_3_and_4_working_directory)
{
  char *evil = folder_new ();
  const char *const paths[] = { "", ":", ".", "plugins", ".:..", "./" };
  const char *const names[] = { "rows.so", "first.so", "first.x86-64-v3.so", "aten.so" };
  for (unsigned i = 0; i < XP_LENGTH (names); i++)
    g_free (copy_fixture ("first", evil, names[i]));
  g_autofree char *real = fixture_path ("rows"), *before = NULL;
  g_autofree char *good = g_path_get_dirname (real);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", good, TRUE);
  int fd = watch (evil);
  for (unsigned i = 0; i < XP_LENGTH (paths); i++)
    {
      GError *error = NULL;
      g_setenv ("CROSSPOINT_PLUGIN_PATH", paths[i], TRUE);
      xp_setting_set ("plugin-path", NULL, NULL);
      ck_assert_int_eq (chdir (i % 2 == 0 ? evil : "/"), 0);
      unsigned n;
      XpSearchDirectory *directories = xp_plugin_search_path (&n);
      ck_assert_uint_eq (n, 1);
      ck_assert_str_eq (directories[0].path, good);
      xp_search_directories_free (directories, n);
      g_autofree char *found = xp_plugin_locate ("rows", &error);
      assert_no_error (error);
      ck_assert_str_eq (found, real);
      XpPlugin *rows = xp_plugin_load ("rows", &error);
      assert_no_error (error);
      ck_assert_int_eq (call_number ("fixture::number", NULL), -1);
      unload (rows);
    }
  ck_assert_uint_eq (opened (fd, NULL), 0);
  close (fd);
  ck_assert_int_eq (chdir ("/"), 0);
  folder_remove (evil);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("reading");
  TCase *tests = tcase_create ("reading");
  tcase_add_test (tests, pain_5_hundred_plugins_cost_nothing);
  tcase_add_test (tests, notes_are_kept);
  tcase_add_test (tests, pains_3_and_4_working_directory);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
