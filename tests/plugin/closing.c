/* SPDX-License-Identifier: MIT
 *
 * closing.c: which files go when they are unloaded, which stay, and why.
 */
#include "plugin/fixtures.h"

typedef struct
{
  const char *name;
  const char *reason; /* why it stays; NULL: it goes */
} Closing;

static const Closing files[] = {
  { "goes", NULL },
  { "nodelete", "it is linked with -z nodelete" },
  { "unique", "it has the unique symbol fixture_unique, which the linker never lets go" },
  { "thread_destructor", "it imports __cxa_thread_atexit_impl, so something keeps pointers" },
  { "private", "it imports g_private_set, so something keeps pointers into it" },
};

/* In C++: what its compiler makes of objects with destructors. */
static const Closing cpp_files[] = {
  { "cpp_none", NULL },
  { "cpp_static", NULL },
  { "cpp_throws", NULL },
  { "cpp_thread_local", "it imports __cxa_thread_atexit, so something keeps pointers" },
  { "cpp_inline", "it has the unique symbol" },
  { "cpp_template", "it has the unique symbol" },
};

static int n_called;

static void *
call_in_thread (void *gate)
{
  assert_number (7);
  g_atomic_int_inc (&n_called);
  g_mutex_lock (gate); /* until it is unloaded */
  g_mutex_unlock (gate);
  return NULL;
}

static void
unload_under_thread (XpPlugin *plugin)
{
  GMutex gate;
  g_mutex_init (&gate);
  g_mutex_lock (&gate);
  n_called = 0;
  GThread *thread = g_thread_new ("caller", call_in_thread, &gate);
  GThread *other = g_thread_new ("other", call_in_thread, &gate);
  while (g_atomic_int_get (&n_called) < 2)
    g_thread_yield ();
  assert_number (7);
  unload (plugin);
  g_mutex_unlock (&gate);
  g_thread_join (thread);
  g_thread_join (other);
  g_mutex_clear (&gate);
}

static void
assert_closing (const Closing *file)
{
  const char *reason = file->reason;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture (file->name);
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  g_autofree char *path = g_strdup (info->mapped_path);
  if (reason == NULL)
    ck_assert_ptr_null (info->resident);
  else
    ck_assert_msg (info->resident != NULL && strstr (info->resident, reason) != NULL, "%s",
                   info->resident != NULL ? info->resident : "not resident");
  unload_under_thread (plugin);
  assert_state (plugin, reason != NULL ? XP_PLUGIN_RETIRED : XP_PLUGIN_UNLOADED, reason);
  ck_assert_int_eq (is_mapped (path), reason != NULL);
}

/* Peers, pain 13: whether the file has gone is told as it is, and why it stays is known before. A
 * thread that has called it and ends afterwards finds its destructor. */
START_TEST (pain_13_closed_or_says_why_not)
{
  assert_closing (&files[_i]);
}
END_TEST

START_TEST (pain_13_with_objects_of_cpp)
{
  assert_closing (&cpp_files[_i]);
  /* Another copy of it lives beside what has stayed. */
  unload_under_thread (load_fixture (cpp_files[_i].name));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("closing");
  TCase *tests = tcase_create ("closing");
  tcase_set_timeout (tests, 30);
  tcase_add_loop_test (tests, pain_13_closed_or_says_why_not, 0, XP_LENGTH (files));
  tcase_add_loop_test (tests, pain_13_with_objects_of_cpp, 0, HAS_CPP ? XP_LENGTH (cpp_files) : 0);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
