/* SPDX-License-Identifier: MIT
 *
 * load.c: loading: by name and path, twice, and everything that must be refused with the table
 * left as it was.
 */
#include "plugin/fixtures.h"

#include <signal.h>
#include <sys/wait.h>

START_TEST (by_path)
{
  XpPlugin *rows = load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  assert_number (1);
  ck_assert_ptr_eq (xp_plugin_find ("first"), first);
  g_autofree char *path = fixture_path ("first");
  ck_assert_ptr_eq (xp_plugin_find (path), first);
  g_autoptr (XpPluginInfo) info = xp_plugin_info (first);
  ck_assert_str_eq (info->name, "first");
  ck_assert_str_eq (info->version, "1.0");
  ck_assert_str_eq (info->path, path);
  ck_assert_uint_eq (info->load_count, 1);
  ck_assert_uint_eq (info->n_cells, 4);
  ck_assert_uint_eq (info->n_rows, 0);
  ck_assert_ptr_nonnull (info->mapped_path);
  ck_assert_str_ne (info->mapped_path, path);
  ck_assert (is_mapped (info->mapped_path));
  unload (first);
  unload (rows);
  ck_assert (!g_file_test (info->mapped_path, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST (by_name)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("rows");
  g_autofree char *folder = g_path_get_dirname (path);
  ck_assert_ptr_null (xp_plugin_load ("rows", &error));
  assert_error (error, XP_ERROR_PLUGIN_NOT_FOUND, "rows.so is in none of these directories");
  g_setenv ("CROSSPOINT_PLUGIN_PATH", folder, TRUE);
  XpPlugin *rows = xp_plugin_load ("rows", &error);
  assert_no_error (error);
  ck_assert_ptr_eq (xp_plugin_load (path, &error), rows);
  assert_no_error (error);
  unload (rows);
  ck_assert_int_eq (xp_plugin_state (rows), XP_PLUGIN_LOADED);
  unload (rows);
  assert_state (rows, XP_PLUGIN_UNLOADED, NULL);
}
END_TEST

START_TEST (twice_is_counted)
{
  GError *error = NULL;
  XpPlugin *rows = load_fixture ("rows");
  XpPlugin *first = load_fixture ("first");
  g_autofree char *table = table_text ();
  ck_assert_ptr_eq (load_fixture ("first"), first);
  ck_assert_ptr_eq (xp_plugin_load ("first", &error), first);
  assert_no_error (error);
  g_autoptr (XpPluginInfo) info = xp_plugin_info (first);
  ck_assert_uint_eq (info->load_count, 3);
  unload (first);
  unload (first);
  assert_table (table);
  assert_number (1);
  unload (first);
  ck_assert_ptr_null (xp_plugin_find ("first"));
  ck_assert (!xp_plugin_unload (first, &error));
  assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED, "first is not loaded, it is unloaded");
  unload (rows);
}
END_TEST

/* The same file by another path is the same plugin: through a link, through a hard link. */
START_TEST (other_path)
{
  g_autofree char *path = fixture_path ("first");
  char *folder = folder_new ();
  g_autofree char *original = g_build_filename (folder, "first.so", NULL);
  g_autofree char *link_path = g_build_filename (folder, "soft.so", NULL);
  g_autofree char *hard = g_build_filename (folder, "hard.so", NULL);
  copy_file (path, original);
  ck_assert_int_eq (symlink ("first.so", link_path), 0);
  ck_assert_int_eq (link (original, hard), 0);
  const char *others[] = { link_path, hard };
  GError *error = NULL;
  XpPlugin *first = xp_plugin_load (original, &error);
  assert_no_error (error);
  g_autofree char *table = table_text ();
  for (unsigned i = 0; i < XP_LENGTH (others); i++)
    {
      ck_assert_ptr_eq (xp_plugin_load (others[i], &error), first);
      assert_no_error (error);
      ck_assert_ptr_eq (xp_plugin_find (others[i]), first);
      g_autoptr (XpPluginInfo) info = xp_plugin_info (first);
      ck_assert_uint_eq (info->load_count, 2);
      assert_table (table);
      unload (first);
    }
  unload (first);
  folder_remove (folder);
}
END_TEST

/* Another file whose note has the name of a loaded plugin. */
START_TEST (same_name)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("first");
  char *folder = folder_new ();
  g_autofree char *copy = g_build_filename (folder, "copy.so", NULL);
  copy_file (path, copy);
  XpPlugin *first = load_fixture ("first");
  ck_assert_ptr_null (xp_plugin_load (copy, &error));
  assert_error (error, XP_ERROR_PLUGIN_CONFLICT, path);
  unload (first);
  XpPlugin *other = xp_plugin_load (copy, &error);
  assert_no_error (error);
  ck_assert_ptr_ne (other, first);
  unload (other);
  folder_remove (folder);
}
END_TEST

/* A file that takes the place of a loaded plugin's is not that plugin, even where the file system
 * gives it the same number. */
START_TEST (inode_is_used_again)
{
  GError *error = NULL;
  g_autofree char *first_path = fixture_path ("first"), *second_path = fixture_path ("second");
  char *folder = folder_new ();
  g_autofree char *a = g_build_filename (folder, "a.so", NULL);
  g_autofree char *b = g_build_filename (folder, "b.so", NULL);
  copy_file (first_path, a);
  XpPlugin *first = xp_plugin_load (a, &error);
  assert_no_error (error);
  /* As the file system would: the number of a.so with the bytes of second.so. */
  ck_assert_int_eq (rename (a, b), 0);
  g_usleep (20000); /* a later time of change */
  g_autofree char *bytes = NULL;
  gsize n;
  ck_assert (g_file_get_contents (second_path, &bytes, &n, NULL));
  FILE *file = fopen (b, "r+");
  ck_assert_uint_eq (fwrite (bytes, 1, n, file), n);
  ck_assert_int_eq (ftruncate (fileno (file), (off_t) n), 0);
  fclose (file);
  XpPlugin *second = xp_plugin_load (b, &error);
  assert_no_error (error);
  ck_assert_ptr_ne (second, first);
  unload (second);
  unload (first);
  folder_remove (folder);
}
END_TEST

static const struct
{
  const char *name;
  XpError error;
  const char *part;
  const char *state;
} refusals[] = {
  { "plain", XP_ERROR_NOT_A_PLUGIN, "without a Crosspoint note", NULL },
  { "missing", XP_ERROR_PLUGIN_NOT_FOUND, "there is no such file", NULL },
  { "unresolved", XP_ERROR_LOAD_FAILED, "undefined symbol: nobody_has_this", "failed" },
  { "demanding", XP_ERROR_MISSING_CPU_FEATURE, "no-such-feature", "rejected" },
  { "needy", XP_ERROR_MISSING_REQUIREMENT, "needy requires first", "failed" },
  { "fussy", XP_ERROR_UNSUITABLE, "no such device", "unsuitable" },
  { "probe_silent", XP_ERROR_UNSUITABLE, "gave no reason; xp_plugin_probe() is to set an error",
    "unsuitable" },
  { "fussy_resident", XP_ERROR_UNSUITABLE, "not here", "unsuitable" },
  { "loads", XP_ERROR_NESTED_LOAD, "constructor, probe or fini of loads", "failed" },
  { "unloads", XP_ERROR_NESTED_LOAD, "constructor, probe or fini of unloads", "failed" },
  { "calls", XP_ERROR_NESTED_LOAD, "constructor, probe or fini of calls", "failed" },
  { "blocks", XP_ERROR_INVALID_REGISTRATION, "would be published at once", "failed" },
  { "probe_loads", XP_ERROR_NESTED_LOAD, "constructor, probe or fini of probe_loads", "failed" },
  { "probe_calls", XP_ERROR_NESTED_LOAD, "constructor, probe or fini of probe_calls", "failed" },
  { "probe_blocks", XP_ERROR_INVALID_REGISTRATION, "would be published at once", "failed" },
  { "twin", XP_ERROR_NAMESPACE_TAKEN, "Only a single XP_LIBRARY", "failed" },
  { "duplicate", XP_ERROR_DUPLICATE_DEF, "multiple times", "failed" },
  { "syntax", XP_ERROR_SCHEMA_SYNTAX, "definitions.c:", "failed" },
};

/* Refused, with the table as it was, the file unmapped, and the reason kept; again, the same. */
START_TEST (refused)
{
  XpPlugin *rows = load_fixture ("rows");
  XpPlugin *first = strcmp (refusals[_i].name, "needy") != 0 ? load_fixture ("first") : NULL;
  g_autofree char *table = table_text ();
  for (unsigned again = 0; again < 3; again++)
    {
      assert_refused (refusals[_i].name, refusals[_i].error, refusals[_i].part);
      assert_table (table);
      ck_assert_ptr_null (xp_plugin_find (refusals[_i].name));
      g_autofree char *copy = g_strdup_printf ("-%s.so", refusals[_i].name);
      ck_assert (g_str_has_suffix (refusals[_i].name, "resident") || !is_mapped (copy));
    }
  unsigned n, n_found = 0;
  XpPluginInfo **infos = xp_plugins (&n);
  for (unsigned i = 0; i < n; i++)
    {
      if (strcmp (infos[i]->name, refusals[_i].name) == 0)
        {
          n_found++;
          ck_assert_str_eq (xp_plugin_state_name (infos[i]->state), refusals[_i].state);
          ck_assert_msg (strstr (infos[i]->reason, refusals[_i].part) != NULL, "%s: %s",
                         refusals[_i].name, infos[i]->reason);
          ck_assert_uint_eq (infos[i]->n_cells, 0);
          ck_assert_uint_eq (infos[i]->load_count, 0);
        }
    }
  xp_plugin_infos_free (infos, n);
  ck_assert_uint_eq (n_found, refusals[_i].state != NULL);
  if (first != NULL)
    {
      assert_number (1);
      unload (first);
    }
  unload (rows);
}
END_TEST

/* Both sides of a definition that is there twice, with their lines. */
START_TEST (duplicate_names_both)
{
  GError *error = NULL;
  load_fixture ("rows");
  load_fixture ("first");
  g_autofree char *path = fixture_path ("duplicate");
  ck_assert_ptr_null (xp_plugin_load (path, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "tests/plugin/fixtures/rows.c:15 (rows)"));
  ck_assert_ptr_nonnull (strstr (error->message, "tests/plugin/fixtures/definitions.c:"));
  ck_assert_ptr_nonnull (strstr (error->message, "(duplicate)"));
  assert_error (error, XP_ERROR_DUPLICATE_DEF, "number(Tensor a) -> int");
  assert_number (1);
}
END_TEST

/* What was refused once loads when the reason is gone. */
START_TEST (second_chance)
{
  XpPlugin *rows = load_fixture ("rows");
  const char *names[] = { "fussy", "fussy_resident" };
  for (unsigned i = 0; i < XP_LENGTH (names); i++)
    {
      assert_refused (names[i], XP_ERROR_UNSUITABLE, ": unsuitable: ");
      g_setenv ("FIXTURE_SUITABLE", "1", TRUE);
      XpPlugin *plugin = load_fixture (names[i]);
      assert_state (plugin, XP_PLUGIN_LOADED, NULL);
      g_unsetenv ("FIXTURE_SUITABLE");
      assert_number (i == 0 ? 8 : 11);
      unload (plugin);
    }
  XpPlugin *first = load_fixture ("first");
  XpPlugin *needy = load_fixture ("needy");
  unload (needy);
  unload (first);
  unload (rows);
}
END_TEST

static void
write_file (const char *path, const char *text)
{
  ck_assert (g_file_set_contents (path, text, -1, NULL));
}

START_TEST (files_that_are_no_plugins)
{
  GError *error = NULL;
  char *folder = folder_new ();
  g_autofree char *text = g_build_filename (folder, "text.so", NULL);
  g_autofree char *empty = g_build_filename (folder, "empty.so", NULL);
  g_autofree char *fifo = g_build_filename (folder, "fifo.so", NULL);
  g_autofree char *loop = g_build_filename (folder, "loop.so", NULL);
  write_file (text, "This is no plugin.\n");
  write_file (empty, "");
  ck_assert_int_eq (mkfifo (fifo, 0600), 0);
  ck_assert_int_eq (symlink ("loop.so", loop), 0);
  g_autofree char *table = table_text ();
  const struct
  {
    const char *path;
    XpError error;
    const char *part;
  } files[] = { { text, XP_ERROR_NOT_A_PLUGIN, "it is not a shared object" },
                { empty, XP_ERROR_NOT_A_PLUGIN, "it is not a shared object" },
                { fifo, XP_ERROR_NOT_A_PLUGIN, "it is not a regular file" },
                { folder, XP_ERROR_NOT_A_PLUGIN, "it is not a regular file" },
                { "/dev/null", XP_ERROR_NOT_A_PLUGIN, "it is not a regular file" },
                { "/proc/self/exe", XP_ERROR_NOT_A_PLUGIN, "without a Crosspoint note" },
                { loop, XP_ERROR_PLUGIN_NOT_FOUND, "no such file" },
                { "", XP_ERROR_PLUGIN_NOT_FOUND, "no plugin ''" } };
  for (unsigned i = 0; i < XP_LENGTH (files); i++)
    {
      ck_assert_ptr_null (xp_plugin_load (files[i].path, &error));
      assert_error (error, files[i].error, files[i].part);
      ck_assert_ptr_null (xp_plugin_find (files[i].path));
    }
  assert_table (table);
  folder_remove (folder);
}
END_TEST

START_TEST (file_that_everyone_may_write)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("rows");
  char *folder = folder_new ();
  g_autofree char *copy = g_build_filename (folder, "rows.so", NULL);
  copy_file (path, copy);
  ck_assert_int_eq (chmod (copy, 0702), 0);
  ck_assert_ptr_null (xp_plugin_load (copy, &error));
  assert_error (error, XP_ERROR_UNSAFE_FILE, "chmod o-w");
  ck_assert_int_eq (chmod (copy, 0700), 0);
  XpPlugin *rows = xp_plugin_load (copy, &error);
  assert_no_error (error);
  unload (rows);
  folder_remove (folder);
}
END_TEST

/* A constructor, probe or destructor may fork: it does not wait for the load or unload that it is
 * part of. */
START_TEST (forks)
{
  XpPlugin *rows = load_fixture ("rows");
  unload (load_fixture ("forks"));
  unload (load_fixture ("probe_forks"));
  unload (load_fixture ("destructor_forks"));
  unload (rows);
}
END_TEST

/* Kernels for rows that are not there wait for them. */
/* The linker's lock is held while a constructor runs: whoever registers meanwhile must do without.
 */
START_TEST (a_constructor_waits_for_a_thread_that_registers)
{
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("threads");
  ck_assert_ptr_nonnull (strstr (g_getenv ("FIXTURE_THREAD"),
                                 "threads registers the device 'threaded', but it is not loaded"));
  XpKey key;
  ck_assert (!xp_key_parse ("threaded", &key, NULL));
  assert_number (99);
  unload (plugin);
}
END_TEST

START_TEST (kernels_before_rows)
{
  GError *error = NULL;
  XpPlugin *first = load_fixture ("first");
  ck_assert_int_eq (call_number ("fixture::number", &error), -1);
  assert_error (error, XP_ERROR_NOT_DEFINED, "fixture::number");
  XpPlugin *rows = load_fixture ("rows");
  assert_number (1);
  unload (rows);
  ck_assert_int_eq (call_number ("fixture::number", &error), -1);
  assert_error (error, XP_ERROR_NOT_DEFINED, "fixture::number");
  unload (first);
}
END_TEST

START_TEST (in_place)
{
  g_setenv ("CROSSPOINT_LOAD_IN_PLACE", "1", TRUE);
  XpPlugin *rows = load_fixture ("rows");
  g_autofree char *path = fixture_path ("rows");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (rows);
  ck_assert_str_eq (info->mapped_path, path);
  ck_assert (is_mapped (path));
  unload (rows);
  ck_assert (!is_mapped (path));
  ck_assert (g_file_test (path, G_FILE_TEST_EXISTS));
}
END_TEST

/* What a process left behind that was killed is swept away by the next. */
START_TEST (copies_of_the_dead)
{
  int pipe_ends[2], status;
  siginfo_t ended;
  char path[4096] = "";
  ck_assert_int_eq (pipe (pipe_ends), 0);
  pid_t child = fork ();
  if (child == 0)
    {
      g_autoptr (XpPluginInfo) info = xp_plugin_info (load_fixture ("rows"));
      ssize_t written = write (pipe_ends[1], info->mapped_path, strlen (info->mapped_path));
      raise (written > 0 ? SIGKILL : SIGABRT);
    }
  close (pipe_ends[1]);
  ck_assert_int_gt (read (pipe_ends[0], path, sizeof path - 1), 0);
  close (pipe_ends[0]);
  /* Until it is waited for, no other test that runs beside this one sweeps it away. */
  ck_assert_int_eq (waitid (P_PID, (id_t) child, &ended, WEXITED | WNOWAIT), 0);
  ck_assert (g_file_test (path, G_FILE_TEST_EXISTS));
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
  unload (load_fixture ("rows"));
  ck_assert (!g_file_test (path, G_FILE_TEST_EXISTS));
}
END_TEST

/* The folder of the copies may go while the process runs. */
START_TEST (folder_of_copies_goes)
{
  g_autofree char *runtime = folder_new ();
  g_setenv ("XDG_RUNTIME_DIR", runtime, TRUE);
  XpPlugin *rows = load_fixture ("rows");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (rows);
  ck_assert (g_str_has_prefix (info->mapped_path, runtime));
  g_autofree char *copies = g_path_get_dirname (info->mapped_path);
  unload (rows);
  ck_assert_int_eq (g_rmdir (copies), 0);
  unload (load_fixture ("rows"));
  ck_assert_int_eq (g_rmdir (copies), 0);
  folder_remove (g_steal_pointer (&runtime));
}
END_TEST

/* The first directory for copies is so deep that no file fits into it, as none does on a file
 * system that is full. */
START_TEST (copies_where_there_is_room)
{
  enum
  {
    LENGTH = 4075 /* of 4095 */
  };
  char *folder = folder_new ();
  g_autoptr (GString) deep = g_string_new (folder);
  g_autofree char *name = g_strnfill (200, 'd');
  while (deep->len < LENGTH - 1)
    g_string_append_printf (deep, "/%.*s", (int) MIN (200, LENGTH - 1 - deep->len), name);
  ck_assert_int_eq (g_mkdir_with_parents (deep->str, 0700), 0);
  g_setenv ("XDG_RUNTIME_DIR", deep->str, TRUE);
  XpPlugin *rows = load_fixture ("rows");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (rows);
  ck_assert (!g_str_has_prefix (info->mapped_path, folder));
  unload (rows);
  g_autofree char *made = g_strdup_printf ("%s/crosspoint-%u", deep->str, (unsigned) geteuid ());
  ck_assert (g_file_test (made, G_FILE_TEST_IS_DIR));
  folder_remove (folder);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("load");
  TCase *good = tcase_create ("good");
  tcase_add_test (good, by_path);
  tcase_add_test (good, by_name);
  tcase_add_test (good, twice_is_counted);
  tcase_add_test (good, other_path);
  tcase_add_test (good, same_name);
  tcase_add_test (good, inode_is_used_again);
  tcase_add_test (good, second_chance);
  tcase_add_test (good, forks);
  tcase_add_test (good, a_constructor_waits_for_a_thread_that_registers);
  tcase_add_test (good, kernels_before_rows);
  tcase_add_test (good, in_place);
  tcase_add_test (good, copies_of_the_dead);
  tcase_add_test (good, folder_of_copies_goes);
  tcase_add_test (good, copies_where_there_is_room);
  suite_add_tcase (suite, good);
  TCase *bad = tcase_create ("bad");
  tcase_add_loop_test (bad, refused, 0, XP_LENGTH (refusals));
  tcase_add_test (bad, duplicate_names_both);
  tcase_add_test (bad, files_that_are_no_plugins);
  tcase_add_test (bad, file_that_everyone_may_write);
  suite_add_tcase (suite, bad);
  return run_suite (suite);
}
