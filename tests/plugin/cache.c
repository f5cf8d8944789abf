/* SPDX-License-Identifier: MIT
 *
 * cache.c: what scans have found, as it is kept: damaged, of another time, written by several at
 * once, or nowhere.
 */
#include "plugin/scanning.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>

static unsigned n_debugs, n_warnings;

static GLogWriterOutput
count_message (GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
               G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED void *data)
{
  n_debugs += (level & G_LOG_LEVEL_DEBUG) != 0;
  n_warnings += (level & G_LOG_LEVEL_WARNING) != 0;
  return G_LOG_WRITER_HANDLED;
}

typedef struct
{
  char *file;
  char *bytes;
  gsize n;
} Kept;

/* What is kept of the fixture at @path after a scan. */
static Kept
keep (const char *path)
{
  Kept kept;
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_AVAILABLE, NULL);
  kept.file = cache_file ();
  ck_assert (g_file_get_contents (kept.file, &kept.bytes, &kept.n, NULL));
  return kept;
}

static void
kept_write (const Kept *kept, gsize n)
{
  int fd = open (kept->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ck_assert_int_ge (fd, 0);
  ck_assert_int_eq (write (fd, kept->bytes, n), (ssize_t) n);
  close (fd);
}

static void
kept_free (Kept *kept)
{
  g_free (kept->file);
  g_free (kept->bytes);
}

static bool
is_known (const char *path)
{
  g_autoptr (XpCoverage) coverage = xp_plugin_coverage_read (path);
  return coverage != NULL;
}

START_TEST (modes)
{
  struct stat status;
  g_autofree char *path = scan_add ("rows");
  Kept kept = keep (path);
  ck_assert_int_eq (stat (kept.file, &status), 0);
  ck_assert_uint_eq (status.st_mode & 0777, 0600);
  g_autofree char *folder = g_path_get_dirname (kept.file);
  ck_assert_int_eq (stat (folder, &status), 0);
  ck_assert_uint_eq (status.st_mode & 0777, 0700);
  /* Others could have written what they like. */
  ck_assert (is_known (path));
  ck_assert_int_eq (chmod (folder, 0777), 0);
  ck_assert (!is_known (path));
  kept_free (&kept);
}
END_TEST

START_TEST (every_length)
{
  g_autofree char *path = scan_add ("rows");
  Kept kept = keep (path);
  for (gsize n = 0; n < kept.n; n++)
    {
      kept_write (&kept, n);
      ck_assert_msg (!is_known (path), "%zu of %zu bytes", (size_t) n, (size_t) kept.n);
    }
  kept_write (&kept, kept.n);
  ck_assert (is_known (path));
  kept_free (&kept);
}
END_TEST

START_TEST (every_byte)
{
  g_autofree char *path = scan_add ("rows");
  Kept kept = keep (path);
  const char changes[] = { 1, (char) 0x80, (char) 0xff };
  for (gsize i = 0; i < kept.n; i++)
    for (unsigned j = 0; j < XP_LENGTH (changes); j++)
      {
        kept.bytes[i] ^= changes[j];
        kept_write (&kept, kept.n);
        ck_assert_msg (!is_known (path), "byte %zu", (size_t) i);
        kept.bytes[i] ^= changes[j];
      }
  kept_free (&kept);
}
END_TEST

/* One debug line, nothing else; and the next scan mends it. */
START_TEST (damage_is_mended)
{
  g_autofree char *path = scan_add ("rows");
  Kept kept = keep (path);
  kept_write (&kept, kept.n - 1);
  g_autoptr (XpPluginInfo) info = listed (path);
  assert_found (info, XP_PLUGIN_AVAILABLE, NULL);
  ck_assert_int_eq (info->scanned, 0);
  ck_assert_uint_eq (n_debugs, 1);
  ck_assert_uint_eq (n_warnings, 0);
  g_autoptr (XpPluginInfo) again = scan_one (path, XP_SCAN_NEW);
  ck_assert_int_ne (again->scanned, 0);
  ck_assert (is_known (path));
  kept_free (&kept);
}
END_TEST

/* Something else where the file should be. */
START_TEST (no_ordinary_file)
{
  g_autofree char *path = scan_add ("rows");
  Kept kept = keep (path);
  g_autofree char *elsewhere = g_strconcat (kept.file, ".elsewhere", NULL);
  ck_assert_int_eq (rename (kept.file, elsewhere), 0);
  ck_assert_int_eq (symlink (elsewhere, kept.file), 0);
  ck_assert (!is_known (path));
  ck_assert_int_eq (unlink (kept.file), 0);
  ck_assert_int_eq (mkfifo (kept.file, 0600), 0);
  ck_assert (!is_known (path));
  ck_assert_int_eq (unlink (kept.file), 0);
  ck_assert_int_eq (mkdir (kept.file, 0700), 0);
  ck_assert (!is_known (path));
  /* It cannot be written, so it is remembered. */
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  assert_found (info, XP_PLUGIN_AVAILABLE, NULL);
  ck_assert (is_known (path));
  ck_assert_uint_eq (n_warnings, 1);
  ck_assert_int_eq (rmdir (kept.file), 0);
  /* What is kept of one file is not about another. */
  g_autofree char *other = scan_add ("first");
  g_autoptr (XpPluginInfo) second = scan_one (other, XP_SCAN_NEW);
  g_autofree char *folder = g_path_get_dirname (kept.file);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name (dir)) != NULL;)
    if (!g_str_has_suffix (name, ".elsewhere"))
      {
        g_autofree char *file = g_build_filename (folder, name, NULL);
        ck_assert_int_eq (rename (elsewhere, file), 0);
      }
  ck_assert (!is_known (other));
  kept_free (&kept);
}
END_TEST

/* Each thing that a finding depends on. */
START_TEST (of_another_time)
{
  struct stat status;
  GError *error = NULL;
  g_autofree char *path = scan_add ("rows");
  Kept kept = keep (path);
  ck_assert_int_eq (stat (path, &status), 0);
  struct timespec times[] = { status.st_mtim, status.st_mtim };
  times[1].tv_nsec ^= 1;
  ck_assert_int_eq (utimensat (AT_FDCWD, path, times, 0), 0);
  ck_assert (!is_known (path));
  times[1].tv_nsec ^= 1;
  ck_assert_int_eq (utimensat (AT_FDCWD, path, times, 0), 0);
  ck_assert (is_known (path));

  g_autofree char *bytes = NULL;
  gsize n;
  ck_assert (g_file_get_contents (path, &bytes, &n, NULL));
  int fd = open (path, O_WRONLY | O_APPEND | O_CLOEXEC);
  ck_assert_int_eq (write (fd, "", 1), 1);
  ck_assert_int_eq (futimens (fd, times), 0);
  ck_assert (!is_known (path));
  ck_assert_int_eq (ftruncate (fd, (off_t) n), 0);
  ck_assert_int_eq (futimens (fd, times), 0);
  ck_assert (is_known (path));

  /* The build-id is that of the note section; a byte of it changed in place. */
  g_autoptr (XpPluginInfo) info = xp_plugin_info_read (path, &error);
  assert_no_error (error);
  char *note = memmem (bytes, n, "GNU\0", 4);
  for (; note != NULL && note[-4] != 3;
       note = memmem (note + 4, (gsize) (bytes + n - note - 4), "GNU\0", 4))
    ;
  ck_assert_ptr_nonnull (note);
  char other = (char) (note[4] ^ 1);
  close (fd);
  fd = open (path, O_WRONLY | O_CLOEXEC);
  ck_assert_int_eq (pwrite (fd, &other, 1, note + 4 - bytes), 1);
  ck_assert_int_eq (futimens (fd, times), 0);
  close (fd);
  g_autoptr (XpPluginInfo) changed = xp_plugin_info_read (path, &error);
  ck_assert_str_ne (info->build_id, changed->build_id);
  ck_assert (!is_known (path));
  fd = open (path, O_WRONLY | O_CLOEXEC);
  ck_assert_int_eq (pwrite (fd, note + 4, 1, note + 4 - bytes), 1);
  ck_assert_int_eq (futimens (fd, times), 0);
  close (fd);
  ck_assert (is_known (path));

  xp_setting_set ("cpu-features", "-avx512f", &error);
  assert_no_error (error);
  ck_assert (!is_known (path));
  kept_free (&kept);
}
END_TEST

/* Without a place to write all works, with one warning, in this process. */
START_TEST (nowhere_to_write)
{
  g_setenv ("XDG_CACHE_HOME", "/dev/null", TRUE);
  g_autofree char *rows = scan_add ("rows"), *aborts = scan_add ("aborts");
  g_autoptr (XpPluginInfo) good = scan_one (rows, XP_SCAN_NEW);
  assert_found (good, XP_PLUGIN_AVAILABLE, NULL);
  g_autoptr (XpPluginInfo) bad = scan_one (aborts, XP_SCAN_NEW);
  assert_found (bad, XP_PLUGIN_QUARANTINED, "SIGABRT");
  ck_assert_uint_eq (n_warnings, 1);
  ck_assert (is_known (rows));
  GError *error = NULL;
  ck_assert_ptr_null (xp_plugin_load (aborts, &error));
  assert_error (error, XP_ERROR_QUARANTINED, "SIGABRT");
}
END_TEST

/* --- Several at once. --- */

enum
{
  N_PROCESSES = 3,
  N_ROUNDS = 4
};

static void
scan_rounds (void)
{
  unsigned n;
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      XpPluginInfo **infos = xp_plugins_scan (NULL, XP_SCAN_AGAIN, &n, NULL);
      if (infos == NULL)
        _exit (EXIT_FAILURE);
      infos_free (infos, n);
    }
  _exit (EXIT_SUCCESS);
}

/* Whoever reads meanwhile sees whole findings only, and none is lost. */
START_TEST (several_processes)
{
  static const char *const fixtures[] = { "rows", "first", "second", "device", "partial" };
  pid_t children[N_PROCESSES];
  GPtrArray *paths = g_ptr_array_new_with_free_func (g_free);
  for (unsigned i = 0; i < XP_LENGTH (fixtures); i++)
    g_ptr_array_add (paths, scan_add (fixtures[i]));
  for (unsigned i = 0; i < N_PROCESSES; i++)
    if ((children[i] = fork ()) == 0)
      scan_rounds ();
  unsigned n_left = N_PROCESSES;
  while (n_left > 0)
    {
      int status;
      for (unsigned i = 0; i < paths->len; i++)
        is_known (paths->pdata[i]);
      while (waitpid (-1, &status, WNOHANG) > 0)
        {
          ck_assert (WIFEXITED (status) && WEXITSTATUS (status) == 0);
          n_left--;
        }
    }
  ck_assert_uint_eq (n_debugs, 0);
  for (unsigned i = 0; i < paths->len; i++)
    ck_assert (is_known (paths->pdata[i]));
  g_ptr_array_unref (paths);
}
END_TEST

static void *
scan_again (G_GNUC_UNUSED void *data)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins_scan (NULL, XP_SCAN_AGAIN, &n, NULL);
  ck_assert_ptr_nonnull (infos);
  infos_free (infos, n);
  return NULL;
}

START_TEST (several_threads)
{
  GThread *threads[3];
  g_autofree char *rows = scan_add ("rows"), *first = scan_add ("first");
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    threads[i] = g_thread_new ("scan", scan_again, NULL);
  for (unsigned i = 0; i < 20; i++)
    {
      is_known (rows);
      is_known (first);
    }
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    g_thread_join (threads[i]);
  ck_assert (is_known (rows) && is_known (first));
  ck_assert_uint_eq (n_debugs, 0);
}
END_TEST

/* A scan of the search path drops what is kept of files that are gone, what is damaged, and what a
 * writer left behind; nothing else. */
START_TEST (sweep)
{
  g_autofree char *gone = scan_add ("first"), *left = NULL, *fresh = NULL;
  Kept kept = keep (gone);
  ck_assert_int_eq (unlink (gone), 0);
  left = g_strconcat (kept.file, ".ABCDEF", NULL);
  fresh = g_strconcat (kept.file, ".GHIJKL", NULL);
  g_autofree char *folder = g_path_get_dirname (kept.file);
  g_autofree char *damaged = g_strnfill ((gsize) strlen (kept.file), '0');
  memcpy (damaged, kept.file, strlen (folder) + 1);
  g_autofree char *stranger = g_build_filename (folder, "notes.txt", NULL);
  const char *const files[] = { left, fresh, damaged, stranger };
  for (unsigned i = 0; i < XP_LENGTH (files); i++)
    ck_assert (g_file_set_contents (files[i], "text", -1, NULL));
  struct timespec times[] = { { 1, 0 }, { 1, 0 } };
  ck_assert_int_eq (utimensat (AT_FDCWD, left, times, 0), 0);
  g_autofree char *rows = scan_add ("rows");
  scan_again (NULL);
  ck_assert (!g_file_test (kept.file, G_FILE_TEST_EXISTS));
  ck_assert (!g_file_test (left, G_FILE_TEST_EXISTS));
  ck_assert (!g_file_test (damaged, G_FILE_TEST_EXISTS));
  ck_assert (g_file_test (fresh, G_FILE_TEST_EXISTS));
  ck_assert (g_file_test (stranger, G_FILE_TEST_EXISTS));
  ck_assert (is_known (rows));
  kept_free (&kept);
}
END_TEST

int
main (void)
{
  scanning_begin ();
  g_log_set_writer_func (count_message, NULL, NULL);
  Suite *suite = suite_create ("cache");
  TCase *tests = tcase_create ("cache");
  tcase_set_timeout (tests, 120);
  tcase_add_checked_fixture (tests, scanning_setup, scanning_teardown);
  tcase_add_test (tests, modes);
  tcase_add_test (tests, every_length);
  tcase_add_test (tests, every_byte);
  tcase_add_test (tests, damage_is_mended);
  tcase_add_test (tests, no_ordinary_file);
  tcase_add_test (tests, of_another_time);
  tcase_add_test (tests, nowhere_to_write);
  tcase_add_test (tests, several_processes);
  tcase_add_test (tests, several_threads);
  tcase_add_test (tests, sweep);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
