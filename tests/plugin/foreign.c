/* SPDX-License-Identifier: MIT
 *
 * foreign.c: plugins that come in another way than through a load: they have the same record and
 * the same cells, and leave through us.
 */
#include "plugin/fixtures.h"

#include <dlfcn.h>

#ifdef __SANITIZE_THREAD__
#  define ROUNDS 100
#else
#  define ROUNDS 1000
#endif

static void *
open_plain (const char *path)
{
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_msg (handle != NULL, "%s", dlerror ());
  return handle;
}

static void *
open_fixture (const char *name)
{
  g_autofree char *path = fixture_path (name);
  return open_plain (path);
}

/* What is known of the plugin @name, but only of one in that state; NULL where there is none. */
static XpPluginInfo *
info_in (const char *name, XpPluginState state)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n), *found = NULL;
  for (unsigned i = 0; i < n; i++)
    if (found == NULL && strcmp (infos[i]->name, name) == 0 && infos[i]->state == state)
      found = infos[i];
    else
      xp_plugin_info_free (infos[i]);
  g_free (infos);
  return found;
}

static unsigned
count_records (const char *name)
{
  unsigned n, count = 0;
  XpPluginInfo **infos = xp_plugins (&n);
  for (unsigned i = 0; i < n; i++)
    {
      count += strcmp (infos[i]->name, name) == 0;
    }
  xp_plugin_infos_free (infos, n);
  return count;
}

/* --- Warnings. --- */

static GString *warnings;

static GLogWriterOutput
keep_warning (GLogLevelFlags level, const GLogField *fields, gsize n, G_GNUC_UNUSED void *data)
{
  static GMutex lock;
  g_mutex_lock (&lock);
  for (gsize i = 0; i < n && level <= G_LOG_LEVEL_WARNING; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0)
      g_string_append_printf (warnings, "%s\n", (const char *) fields[i].value);
  g_mutex_unlock (&lock);
  return G_LOG_WRITER_HANDLED;
}

static void
assert_warning (const char *part)
{
  ck_assert_msg (strstr (warnings->str, part) != NULL, "'%s' is not in '%s'", part, warnings->str);
  g_string_truncate (warnings, 0);
}

static void
set_up (void)
{
  warnings = g_string_new (NULL);
  g_log_set_writer_func (keep_warning, NULL, NULL);
}

/* --- Every way. --- */

static char *
see (const char *program, const char *way, const char *preload)
{
  g_autofree char *own = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_path_get_dirname (own);
  g_autofree char *path = g_build_filename (folder, program, NULL);
  g_autofree char *plugin = fixture_path ("libway");
  g_autofree char *rows = fixture_path ("rows");
  g_auto (GStrv) environment = g_get_environ ();
  if (preload != NULL)
    environment = g_environ_setenv (environment, "LD_PRELOAD", plugin, TRUE);
  char *out = NULL;
  g_autofree char *problems = NULL;
  int status = 0;
  GError *error = NULL;
  g_spawn_sync (NULL, (char *[]){ path, (char *) way, plugin, rows, NULL }, environment,
                G_SPAWN_DEFAULT, NULL, NULL, &out, &problems, &status, &error);
  assert_no_error (error);
  ck_assert_msg (status == 0, "%s: %s", way, problems);
  return out;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define MAY_PRELOAD 0 /* the sanitizer's runtime has to come first */
#else
#  define MAY_PRELOAD 1
#endif

START_TEST (every_way_gives_one_table)
{
  static const struct
  {
    const char *program;
    const char *way;
    const char *preload;
  } ways[] = { { "way", "dlopen", NULL },
               { "way", "late", NULL },
               { "way_linked", "linked", NULL },
               { "way", "preloaded", "yes" } };
  g_autofree char *loaded = see ("way", "load", NULL);
  ck_assert_ptr_nonnull (strstr (loaded, "way libway.so priority 5, 4 cells, build-id "));
  ck_assert_ptr_nonnull (strstr (loaded, "\n31, 1 record\n"));
  ck_assert_ptr_nonnull (strstr (loaded, "gone: 1"));
  for (unsigned i = 0; i < XP_LENGTH (ways) - !MAY_PRELOAD; i++)
    {
      g_autofree char *seen = see (ways[i].program, ways[i].way, ways[i].preload);
      ck_assert_msg (strcmp (seen, loaded) == 0, "%s:\n%s\nexpected:\n%s", ways[i].way, seen,
                     loaded);
    }
}
END_TEST

START_TEST (leaves_through_us_only)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  void *handle = open_fixture ("first");
  XpPlugin *plugin = xp_plugin_find ("first");
  assert_state (plugin, XP_PLUGIN_LOADED, "another way");
  dlclose (handle);
  assert_number (1);
  ck_assert (is_mapped ("/first.so"));
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  ck_assert_str_eq (g_getenv ("FIXTURE_FINI"), "first-");
  ck_assert (!is_mapped ("/first.so"));
  assert_table (table);
}
END_TEST

START_TEST (who_has_it_open_keeps_it)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  void *handle = open_fixture ("first");
  XpPlugin *plugin = xp_plugin_find ("first");
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_RETIRED, "has it open too, and unmaps it by closing it");
  assert_table (table);
  dlclose (handle);
  ck_assert (!is_mapped ("/first.so"));
  /* Opened anew it registers anew. */
  handle = open_fixture ("first");
  assert_number (1);
  ck_assert_ptr_eq (xp_plugin_find ("first"), plugin);
  dlclose (handle);
  unload (plugin);
  assert_table (table);
}
END_TEST

START_TEST (a_load_of_it_counts)
{
  load_fixture ("rows");
  void *handle = open_fixture ("first");
  XpPlugin *plugin = load_fixture ("first");
  ck_assert_ptr_eq (plugin, xp_plugin_find ("first"));
  unload (plugin);
  assert_number (1);
  dlclose (handle);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
}
END_TEST

START_TEST (what_is_loaded_is_not_doubled)
{
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("first");
  g_autofree char *table = table_text ();
  void *handle = open_fixture ("first");
  assert_warning ("registers nothing: it is called first, and so is a plugin that is loaded from");
  assert_table (table);
  g_autoptr (XpPluginInfo) refused = info_in ("first", XP_PLUGIN_REJECTED);
  ck_assert_ptr_nonnull (refused);
  ck_assert_ptr_eq (xp_plugin_find ("first"), plugin);
  dlclose (handle);
  unload (plugin);
  handle = open_fixture ("first");
  assert_number (1);
  dlclose (handle);
}
END_TEST

static XpTensor *
new_on_npu (void)
{
  GError *error = NULL;
  XpDevice npu;
  ck_assert (xp_device_parse ("npu", &npu, &error));
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (2), npu, &error);
  assert_no_error (error);
  return tensor;
}

/* Its device's memory goes and comes back with it, and keeps it mapped while a tensor has some. */
START_TEST (memory_of_its_device)
{
  GError *error = NULL;
  load_fixture ("rows");
  dlclose (open_fixture ("device_memory"));
  XpPlugin *plugin = xp_plugin_find ("device_memory");
  XpTensor *tensor = new_on_npu ();
  g_autofree char *next = fixture_path ("device_memory_next");
  ck_assert_ptr_nonnull (xp_plugin_swap (plugin, next, XP_SWAP_STRICT, NULL, &error));
  assert_no_error (error);
  ck_assert (xp_plugin_undo (0, NULL, NULL, &error));
  assert_no_error (error);
  xp_tensor_unref (new_on_npu ());
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_DRAINING, "1 thing of it is still in use");
  ck_assert (is_mapped ("/device_memory.so"));
  xp_tensor_unref (tensor);
  wait_for_state (plugin, XP_PLUGIN_UNLOADED);
  ck_assert (!is_mapped ("/device_memory.so"));
}
END_TEST

/* A copy of a fixture for an ABI that we do not know. */
static char *
make_foreign_abi (const char *folder)
{
  g_autofree char *from = fixture_path ("first");
  char *to = g_build_filename (folder, "foreign_abi.so", NULL);
  char *bytes = NULL;
  gsize n;
  ck_assert (g_file_get_contents (from, &bytes, &n, NULL));
  for (char *at = bytes; (at = memmem (at, n - (gsize) (at - bytes), "abi=1.", 6)) != NULL; at++)
    at[4] = '9';
  ck_assert (
      g_file_set_contents_full (to, bytes, (gssize) n, G_FILE_SET_CONTENTS_NONE, 0700, NULL));
  g_free (bytes);
  return to;
}

START_TEST (a_bad_note_is_refused)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  char *folder = folder_new ();
  g_autofree char *path = make_foreign_abi (folder);
  void *handle = open_plain (path);
  assert_warning ("is built for ABI 9.0");
  assert_table (table);
  g_autoptr (XpPluginInfo) refused = info_in ("first", XP_PLUGIN_REJECTED);
  ck_assert_ptr_nonnull (refused);
  dlclose (handle);
  ck_assert (!is_mapped ("foreign_abi.so"));
  folder_remove (folder);
}
END_TEST

/* --- While something is loaded. --- */

START_TEST (a_constructor_that_opens_another)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  g_autofree char *other = fixture_path ("first");
  g_setenv ("FIXTURE_OPENS", other, TRUE);
  assert_refused ("opens", XP_ERROR_NESTED_LOAD, "first.so registers while opens is loaded");
  assert_table (table);
  ck_assert_ptr_null (xp_plugin_find ("first"));
}
END_TEST

START_TEST (a_thread_of_a_constructor)
{
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("opens_thread");
  ck_assert_str_eq (g_getenv ("FIXTURE_OPENS"), "refused");
  assert_number (40);
  ck_assert_uint_eq (count_records ("opens_thread"), 1);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
}
END_TEST

static bool
has_kernel_of (const char *plugin)
{
  XpOperator *op = xp_operator_find ("fixture::number");
  XpKernelHandle *handle = xp_operator_kernel (op, plugin, XP_KEY_CPU, NULL);
  if (handle != NULL)
    xp_kernel_handle_unref (handle);
  return handle != NULL;
}

static void *
open_again_and_again (void *name)
{
  for (unsigned i = 0; i < ROUNDS; i++)
    {
      void *handle = open_fixture (name);
      ck_assert (has_kernel_of (name));
      unload (xp_plugin_find (name));
      ck_assert (!has_kernel_of (name));
      dlclose (handle);
    }
  return NULL;
}

static void *
load_again_and_again (void *name)
{
  for (unsigned i = 0; i < ROUNDS; i++)
    {
      XpPlugin *plugin = load_fixture (name);
      ck_assert (has_kernel_of (name));
      unload (plugin);
    }
  return NULL;
}

START_TEST (opens_race_with_loads)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  GThread *threads[] = { g_thread_new ("open", open_again_and_again, (char *) "first"),
                         g_thread_new ("load", load_again_and_again, (char *) "second"),
                         g_thread_new ("open", open_again_and_again, (char *) "partial") };
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    g_thread_join (threads[i]);
  assert_table (table);
  ck_assert (!is_mapped ("first.so") && !is_mapped ("second.so") && !is_mapped ("partial.so"));
}
END_TEST

static void *
open_beside (void *name)
{
  for (unsigned i = 0; i < ROUNDS; i++)
    dlclose (open_fixture (name));
  return NULL;
}

/* The file is opened while it is loaded: whoever comes second counts or is left out. */
START_TEST (opens_race_with_loads_of_the_same)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  GThread *threads[] = { g_thread_new ("open", open_beside, (char *) "first"),
                         g_thread_new ("load", load_again_and_again, (char *) "first") };
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    g_thread_join (threads[i]);
  XpPlugin *plugin = xp_plugin_find ("first");
  if (plugin != NULL)
    unload (plugin);
  ck_assert_ptr_null (xp_plugin_find ("first"));
  assert_table (table);
}
END_TEST

int
main (void)
{
  TCase *tests = tcase_create ("foreign");
  tcase_set_timeout (tests, 100);
  tcase_add_checked_fixture (tests, set_up, NULL);
  tcase_add_test (tests, every_way_gives_one_table);
  tcase_add_test (tests, leaves_through_us_only);
  tcase_add_test (tests, who_has_it_open_keeps_it);
  tcase_add_test (tests, a_load_of_it_counts);
  tcase_add_test (tests, what_is_loaded_is_not_doubled);
  tcase_add_test (tests, memory_of_its_device);
  tcase_add_test (tests, a_bad_note_is_refused);
  tcase_add_test (tests, a_constructor_that_opens_another);
  tcase_add_test (tests, a_thread_of_a_constructor);
  tcase_add_test (tests, opens_race_with_loads);
  tcase_add_test (tests, opens_race_with_loads_of_the_same);
  Suite *suite = suite_create ("foreign");
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
