/* SPDX-License-Identifier: MIT
 *
 * fixtures.c: what the suites on plugins share.
 */
#include "plugin/fixtures.h"

/* The folder of the test programs, in the build folder. */
static char *
tests_folder (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_assert (program != NULL); /* also outside of a test */
  return g_path_get_dirname (program);
}

char *
fixture_path (const char *name)
{
  g_autofree char *folder = tests_folder ();
  return g_strdup_printf ("%s/plugin/fixtures/%s.so", folder, name);
}

char *
built_plugins (void)
{
  g_autofree char *folder = tests_folder ();
  g_autofree char *relative = g_build_filename (folder, "..", "plugins", NULL);
  return g_canonicalize_filename (relative, NULL);
}

char *
folder_new (void)
{
  char *folder = g_dir_make_tmp ("crosspoint-test-XXXXXX", NULL);
  ck_assert_ptr_nonnull (folder);
  return folder;
}

void
folder_remove (char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        folder_remove (g_strdup (path));
      else
        g_unlink (path);
    }
  g_rmdir (folder);
  g_free (folder);
}

void
copy_file (const char *from, const char *to)
{
  GError *error = NULL;
  g_autofree char *bytes = NULL;
  gsize n;
  g_file_get_contents (from, &bytes, &n, &error);
  assert_no_error (error);
  g_file_set_contents_full (to, bytes, (gssize) n, G_FILE_SET_CONTENTS_NONE, 0700, &error);
  assert_no_error (error);
}

XpPlugin *
load_fixture (const char *name)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path (name);
  XpPlugin *plugin = xp_plugin_load (path, &error);
  assert_no_error (error);
  ck_assert_ptr_nonnull (plugin);
  return plugin;
}

void
assert_refused (const char *name, XpError expected, const char *part)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path (name);
  ck_assert_ptr_null (xp_plugin_load (path, &error));
  assert_error (error, expected, part);
}

void
unload (XpPlugin *plugin)
{
  GError *error = NULL;
  gboolean done = xp_plugin_unload (plugin, &error);
  assert_no_error (error);
  ck_assert (done);
}

int64_t
call_number (const char *name, GError **error)
{
  XpOperator *op = xp_operator_get (name, error);
  if (op == NULL)
    return -1;
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (1), XP_CPU, NULL);
  XpValue argument = xp_value_tensor (tensor), result;
  XpStatus status = xp_operator_call (op, &argument, &result, error);
  xp_tensor_unref (tensor);
  return status == XP_OK ? result.as.integer : -1;
}

void
assert_number (int64_t expected)
{
  GError *error = NULL;
  int64_t number = call_number ("fixture::number", &error);
  assert_no_error (error);
  ck_assert_int_eq (number, expected);
}

void
call_inside (Inside function, void *data)
{
  GError *error = NULL;
  XpOperator *op = xp_operator_get ("fixture::run", &error);
  assert_no_error (error);
  XpValue arguments[] = { xp_value_tensor (xp_tensor_new (XP_FLOAT32, XP_INTS (1), XP_CPU, NULL)),
                          xp_value_int ((intptr_t) function), xp_value_int ((intptr_t) data) };
  xp_operator_call (op, arguments, NULL, &error);
  assert_no_error (error);
  xp_value_clear (&arguments[0]);
}

char *
table_text (void)
{
  GString *text = g_string_new (NULL);
  g_auto (GStrv) names = xp_table_names ();
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      g_autofree char *dump = xp_table_dump (names[i]);
      g_autofree char *computed = xp_table_dump_computed (names[i]);
      g_string_append_printf (text, "== %s\n%s-- cells\n%s", names[i], dump, computed);
    }
  unsigned n;
  XpRegistrationInfo *fallbacks = xp_table_fallbacks (&n);
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "== fallback %s %s %s %d%s\n", xp_key_name (fallbacks[i].key),
                            fallbacks[i].location, fallbacks[i].plugin, fallbacks[i].priority,
                            fallbacks[i].is_active ? "" : " (inactive)");
  xp_registration_infos_free (fallbacks, n);
  return g_string_free (text, FALSE);
}

void
assert_table (const char *before)
{
  GError *error = NULL;
  g_autofree char *after = table_text ();
  ck_assert_str_eq (after, before);
  xp_table_check (&error);
  assert_no_error (error);
}

bool
is_mapped (const char *part)
{
  g_autofree char *maps = NULL;
  ck_assert (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  return strstr (maps, part) != NULL;
}

void
assert_state (XpPlugin *plugin, XpPluginState state, const char *part)
{
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  ck_assert_str_eq (xp_plugin_state_name (info->state), xp_plugin_state_name (state));
  ck_assert_msg (part == NULL ? info->reason == NULL
                              : info->reason != NULL && strstr (info->reason, part) != NULL,
                 "the reason is '%s', expected '%s'", info->reason, part);
}

void
wait_for_state (XpPlugin *plugin, XpPluginState state)
{
  while (xp_plugin_state (plugin) != state)
    g_usleep (1000);
}

void
guest_stay (void *data)
{
  Guest *guest = data;
  __atomic_store_n (&guest->inside, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n (&guest->leave, __ATOMIC_SEQ_CST))
    g_usleep (500);
  if (guest->last != NULL)
    guest->last (guest->data);
}

void *
guest_visit (void *guest)
{
  call_inside (guest_stay, guest);
  return NULL;
}

void
guest_enter (Guest *guest, GThreadFunc way)
{
  guest->thread = g_thread_new ("guest", way, guest);
  while (!__atomic_load_n (&guest->inside, __ATOMIC_SEQ_CST))
    g_usleep (500);
}

void
guest_leave (Guest *guest)
{
  __atomic_store_n (&guest->leave, 1, __ATOMIC_SEQ_CST);
  g_thread_join (guest->thread);
}
