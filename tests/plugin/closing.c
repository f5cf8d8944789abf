/* SPDX-License-Identifier: MIT
 *
 * closing.c: which files go when they are unloaded, which stay, and why.
 */
#include "plugin/fixtures.h"

static const struct
{
  const char *name;
  const char *reason; /* why it stays; NULL: it goes */
} files[] = {
  { "goes", NULL },
  { "nodelete", "it is linked with -z nodelete" },
  { "unique", "it has the unique symbol fixture_unique, which the linker never lets go" },
  { "thread_destructor", "it imports __cxa_thread_atexit_impl, so something keeps pointers" },
  { "private", "it imports g_private_set, so something keeps pointers into it" },
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

/* Peers, pain 13: whether the file has gone is told as it is, and why it stays is known before. A
 * thread that has called it and ends afterwards finds its destructor. */
START_TEST (pain_13_closed_or_says_why_not)
{
  const char *reason = files[_i].reason;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture (files[_i].name);
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
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("closing");
  TCase *tests = tcase_create ("closing");
  tcase_set_timeout (tests, 30);
  tcase_add_loop_test (tests, pain_13_closed_or_says_why_not, 0, XP_LENGTH (files));
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
