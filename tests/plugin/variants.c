/* SPDX-License-Identifier: MIT
 *
 * variants.c: the same plugin built for several levels of the processor: which file is loaded, and
 * why the others are not.
 */
#include "plugin/fixtures.h"

#define FILE_OF(level) "variant.x86-64-v" level ".so"

static const char *const files[] = { "variant.so", FILE_OF ("2"), FILE_OF ("3"), FILE_OF ("4") };

/* The highest level that gcc's own question grants, from 1. */
static int
level_here (void)
{
#ifdef __x86_64__
  return __builtin_cpu_supports ("x86-64-v4")   ? 4
         : __builtin_cpu_supports ("x86-64-v3") ? 3
         : __builtin_cpu_supports ("x86-64-v2") ? 2
                                                : 1;
#else
  return 0;
#endif
}

/* A folder with the variants whose bits are in @levels, which is all that is searched. */
static char *
folder_with (unsigned levels)
{
  char *folder = folder_new ();
  for (unsigned i = 0; i < XP_LENGTH (files); i++)
    if (levels >> i & 1)
      {
        g_autofree char *stem = g_strndup (files[i], strlen (files[i]) - strlen (".so"));
        g_autofree char *from = fixture_path (stem);
        g_autofree char *to = g_build_filename (folder, files[i], NULL);
        copy_file (from, to);
      }
  g_setenv ("CROSSPOINT_PLUGIN_PATH", folder, TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "", TRUE);
  g_setenv ("CROSSPOINT_LOAD_IN_PLACE", "1", TRUE);
  return folder;
}

static XpPluginInfo *
info_of (const char *file)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n), *found = NULL;
  for (unsigned i = 0; i < n; i++)
    if (infos[i]->path != NULL && g_str_has_suffix (infos[i]->path, file))
      found = infos[i];
    else
      xp_plugin_info_free (infos[i]);
  g_free (infos);
  ck_assert_msg (found != NULL, "%s is not listed", file);
  return found;
}

static void
assert_listed (const char *file, XpPluginState state, const char *part)
{
  g_autoptr (XpPluginInfo) info = info_of (file);
  ck_assert_str_eq (info->name, "variant");
  ck_assert_str_eq (xp_plugin_state_name (info->state), xp_plugin_state_name (state));
  ck_assert_msg (part == NULL || (info->reason != NULL && strstr (info->reason, part) != NULL),
                 "the reason is '%s', expected '%s'", info->reason, part);
}

/* What is lacking where a level is not granted, and the level that is left. */
static const struct
{
  const char *mask;
  int level; /* where the machine grants it */
  const char *part;
} masks[] = {
  { "", 4, NULL },
  { "-avx512f", 3,
    "x86-64-v4, and so avx512f, which the setting cpu-features takes away: take "
    "that out, or use a variant that needs less" },
  { "-avx512vl", 3, "x86-64-v4, and so avx512vl, which the setting" },
  { "-x86-64-v4", 3, "feature x86-64-v4, which the setting" },
  { "-avx2", 2, "x86-64-v4, and so avx2, which the setting" },
  { "-bmi, -avx512f", 2, "and so bmi, which the setting" },
  { "-popcnt", 1, "and so popcnt, which the setting" },
  { "-ssse3", 1, "and so ssse3, which the setting" },
};

START_TEST (best_is_loaded)
{
  int level = MIN (masks[_i].level, level_here ());
  if (level == 0)
    return;
  XpPlugin *rows = load_fixture ("rows");
  char *folder = folder_with (0xf);
  g_setenv ("CROSSPOINT_CPU_FEATURES", masks[_i].mask, TRUE);
  GError *error = NULL;
  XpPlugin *plugin = xp_plugin_load ("variant", &error);
  assert_no_error (error);
  assert_number (level);
  for (int i = 1; i <= 4; i++)
    {
      ck_assert_int_eq (is_mapped (files[i - 1]), i == level);
      assert_listed (files[i - 1], i == level ? XP_PLUGIN_LOADED : XP_PLUGIN_PASSED_OVER,
                     i < level ? files[level - 1] : NULL);
    }
  if (masks[_i].part != NULL)
    assert_listed (files[3], XP_PLUGIN_PASSED_OVER, masks[_i].part);
  unload (plugin);
  unload (rows);
  folder_remove (folder);
}
END_TEST

/* Before anything is loaded the listing says the same. */
START_TEST (listed_before)
{
  if (level_here () < 2)
    return;
  char *folder = folder_with (0x3);
  assert_listed (files[1], XP_PLUGIN_AVAILABLE, NULL);
  assert_listed (files[0], XP_PLUGIN_PASSED_OVER,
                 "variant.x86-64-v2.so, which is better; load this one by its path");
  g_setenv ("CROSSPOINT_CPU_FEATURES", "-popcnt", TRUE);
  assert_listed (files[0], XP_PLUGIN_AVAILABLE, NULL);
  assert_listed (files[1], XP_PLUGIN_PASSED_OVER, "needs the CPU feature x86-64-v2");
  folder_remove (folder);
}
END_TEST

START_TEST (one_that_is_passed_over_by_its_path)
{
  if (level_here () < 2)
    return;
  GError *error = NULL;
  char *folder = folder_with (0x3);
  g_autofree char *path = g_build_filename (folder, files[0], NULL);
  load_fixture ("rows");
  XpPlugin *plugin = xp_plugin_load (path, &error);
  assert_no_error (error);
  assert_number (1);
  unload (plugin);
  folder_remove (folder);
}
END_TEST

START_TEST (none_is_suitable)
{
  if (level_here () == 0)
    return;
  GError *error = NULL;
  char *folder = folder_with (0xc);
  g_setenv ("CROSSPOINT_CPU_FEATURES", "-avx2", TRUE);
  ck_assert_ptr_null (xp_plugin_load ("variant", &error));
  assert_error (error, XP_ERROR_MISSING_CPU_FEATURE, "variant.x86-64-v3.so needs the CPU feature");
  assert_listed (files[3], XP_PLUGIN_REJECTED, "and so avx2");
  folder_remove (folder);
}
END_TEST

/* Of several directories the first that has any variant counts, however good those of others. */
START_TEST (first_directory)
{
  if (level_here () == 0)
    return;
  GError *error = NULL;
  char *second = folder_with (0xf), *first = folder_with (0x1);
  g_autofree char *path = g_strjoin (":", first, second, NULL);
  g_setenv ("CROSSPOINT_PLUGIN_PATH", path, TRUE);
  g_autofree char *found = xp_plugin_locate ("variant", &error);
  assert_no_error (error);
  ck_assert (g_str_has_prefix (found, first));
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  ck_assert_uint_eq (n, 2);
  xp_plugin_infos_free (infos, n);
  folder_remove (first);
  folder_remove (second);
}
END_TEST

/* A file that is called a variant, but does not say so itself, takes nobody's place. */
START_TEST (without_its_level)
{
  if (level_here () == 0)
    return;
  GError *error = NULL;
  char *folder = folder_with (0x1);
  g_autofree char *plain = fixture_path ("variant");
  g_autofree char *named = g_build_filename (folder, FILE_OF ("2"), NULL);
  copy_file (plain, named);
  g_autofree char *found = xp_plugin_locate ("variant", &error);
  assert_no_error (error);
  ck_assert (g_str_has_suffix (found, "/variant.so"));
  assert_listed (files[1], XP_PLUGIN_REJECTED, "does not say that it needs x86-64-v2");
  folder_remove (folder);
}
END_TEST

/* Its path leads to any of them. */
START_TEST (by_path)
{
  if (level_here () < 2)
    return;
  XpPlugin *rows = load_fixture ("rows");
  GError *error = NULL;
  char *folder = folder_with (0xf);
  g_autofree char *path = g_build_filename (folder, files[0], NULL);
  XpPlugin *plugin = xp_plugin_load (path, &error);
  assert_no_error (error);
  assert_number (1);
  unload (plugin);
  unload (rows);
  folder_remove (folder);
}
END_TEST

START_TEST (unknown_feature)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("demanding");
  ck_assert_ptr_null (xp_plugin_load (path, &error));
  assert_error (error, XP_ERROR_MISSING_CPU_FEATURE,
                "needs the CPU feature no-such-feature, which this version of crosspoint does not "
                "know: use a later one, or a variant that needs less");
}
END_TEST

START_TEST (masks_that_are_none)
{
  const char *const wrong[] = { "avx512f", "-avx1024", "-avx2,sse3", "-" };
  for (unsigned i = 0; i < XP_LENGTH (wrong); i++)
    {
      GError *error = NULL;
      ck_assert (!xp_setting_set ("cpu-features", wrong[i], &error));
      assert_error (error, XP_ERROR_INVALID_ARGUMENT, "with a `-` before each; there are sse3 ");
    }
  ck_assert (xp_setting_set ("cpu-features", "-avx2, -fma,", NULL));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("variants");
  TCase *tests = tcase_create ("variants");
  tcase_add_loop_test (tests, best_is_loaded, 0, XP_LENGTH (masks));
  tcase_add_test (tests, listed_before);
  tcase_add_test (tests, one_that_is_passed_over_by_its_path);
  tcase_add_test (tests, none_is_suitable);
  tcase_add_test (tests, first_directory);
  tcase_add_test (tests, without_its_level);
  tcase_add_test (tests, by_path);
  tcase_add_test (tests, unknown_feature);
  tcase_add_test (tests, masks_that_are_none);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
