/* SPDX-License-Identifier: MIT
 *
 * scanning.c: what the suites on scans share.
 */
#include "plugin/scanning.h"

char *scan_folder;
char *scan_cache;

static void
add_options (const char *variable, const char *options)
{
  const char *before = g_getenv (variable);
  g_autofree char *value = g_strconcat (before != NULL ? before : "", ":", options, NULL);
  g_setenv (variable, value, TRUE);
}

void
scanning_begin (void)
{
  add_options ("ASAN_OPTIONS", "handle_segv=0:handle_abort=0");
  add_options ("TSAN_OPTIONS", "handle_segv=0:handle_abort=0");
}

void
scanning_setup (void)
{
  scan_folder = folder_new ();
  scan_cache = folder_new ();
  g_setenv ("XDG_CACHE_HOME", scan_cache, TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_PATH", scan_folder, TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "", TRUE);
  g_setenv ("CROSSPOINT_SCAN_TIMEOUT", SCAN_SECONDS, TRUE);
}

void
scanning_teardown (void)
{
  folder_remove (scan_folder);
  folder_remove (scan_cache);
}

char *
scan_add (const char *fixture)
{
  g_autofree char *from = fixture_path (fixture);
  char *to = g_strdup_printf ("%s/%s.so", scan_folder, fixture);
  copy_file (from, to);
  return to;
}

XpPluginInfo *
scan_one (const char *path, XpScanFlags flags)
{
  GError *error = NULL;
  unsigned n = 0;
  XpPluginInfo **infos = xp_plugins_scan ((const char *const[]){ path, NULL }, flags, &n, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n, 1);
  XpPluginInfo *info = infos[0];
  ck_assert_str_eq (info->path, path);
  g_free (infos);
  return info;
}

void
assert_found (const XpPluginInfo *info, XpPluginState state, const char *part)
{
  ck_assert_msg (info->state == state, "%s is %s (%s), expected %s", info->path,
                 xp_plugin_state_name (info->state), info->reason, xp_plugin_state_name (state));
  ck_assert_msg (part == NULL ? info->reason == NULL
                              : info->reason != NULL && strstr (info->reason, part) != NULL,
                 "%s: the reason is '%s', expected '%s'", info->path, info->reason, part);
}

void
infos_free (XpPluginInfo **infos, unsigned n)
{
  xp_plugin_infos_free (infos, n);
}

XpPluginInfo *
listed (const char *path)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n), *found = NULL;
  for (unsigned i = 0; i < n; i++)
    if (found == NULL && g_strcmp0 (infos[i]->path, path) == 0)
      found = g_steal_pointer (&infos[i]);
  infos_free (infos, n);
  ck_assert_ptr_nonnull (found);
  return found;
}

char *
cache_file (void)
{
  g_autofree char *folder = g_build_filename (scan_cache, "crosspoint", "plugins", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  ck_assert_ptr_nonnull (dir);
  const char *name = g_dir_read_name (dir);
  ck_assert_ptr_nonnull (name);
  char *file = g_build_filename (folder, name, NULL);
  ck_assert_ptr_null (g_dir_read_name (dir));
  return file;
}
