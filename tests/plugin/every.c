/* SPDX-License-Identifier: MIT
 *
 * every.c: every plugin of the build: loaded and unloaded a thousand times it leaves nothing, and
 * all of them together give one table, whatever the order.
 */
#include "plugin/fixtures.h"

#include <malloc.h>

/* A sanitizer's own memory grows with what it has seen; its own findings are looked at instead. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define IS_SANITIZED 1
#else
#  define IS_SANITIZED 0
#endif

enum
{
#if IS_SANITIZED
  WARM_UP = 50,
  TIMES = 100,
#else
  WARM_UP = 100,
  TIMES = 1000,
#endif
  ORDERS = 12
};

static char **names; /* of the plugins, sorted */
static char *folder;

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static void
find_plugins (void)
{
  folder = built_plugins ();
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *found = g_ptr_array_new ();
  const char *file;
  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".so"))
      g_ptr_array_add (found, g_strndup (file, strlen (file) - strlen (".so")));
  g_ptr_array_sort (found, compare_names);
  g_ptr_array_add (found, NULL);
  names = (char **) g_ptr_array_free (found, FALSE);
}

static XpPlugin *
load_built (const char *name, GError **error)
{
  g_autofree char *path = g_strdup_printf ("%s/%s.so", folder, name);
  return xp_plugin_load (path, error);
}

/* Loads what @name requires; it stays loaded. */
static void
load_requirements (const char *name)
{
  GError *error = NULL;
  g_autofree char *path = g_strdup_printf ("%s/%s.so", folder, name);
  g_autoptr (XpPluginInfo) info = xp_plugin_info_read (path, &error);
  assert_no_error (error);
  for (unsigned i = 0; info->requires_[i] != NULL; i++)
    if (xp_plugin_find (info->requires_[i]) == NULL)
      {
        load_requirements (info->requires_[i]);
        load_built (info->requires_[i], &error);
        assert_no_error (error);
      }
}

/* Loads and unloads; gives whether it was suitable. After it the table is @before, and the file is
 * unmapped, or the plugin is retired and says why. */
static bool
come_and_go (const char *name, const char *before)
{
  GError *error = NULL;
  XpPlugin *plugin = load_built (name, &error);
  if (plugin == NULL)
    {
      ck_assert_msg (error->code == XP_ERROR_UNSUITABLE, "%s: %s", name, error->message);
      g_error_free (error);
    }
  else
    unload (plugin);
  assert_table (before);
  g_autofree char *copy = g_strdup_printf ("-%s.so", name);
  if (!is_mapped (copy))
    ck_assert (plugin == NULL || xp_plugin_state (plugin) == XP_PLUGIN_UNLOADED);
  else
    {
      ck_assert_ptr_nonnull (plugin);
      g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
      ck_assert_int_eq (info->state, XP_PLUGIN_RETIRED);
      ck_assert (info->reason != NULL && strstr (info->reason, "mapped: ") != NULL);
    }
  return plugin != NULL;
}

static size_t
resident_pages (void)
{
  g_autofree char *text = NULL;
  unsigned long total, resident;
  ck_assert (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  ck_assert_int_eq (sscanf (text, "%lu %lu", &total, &resident), 2);
  return resident;
}

static unsigned
lines_of_maps (void)
{
  g_autofree char *maps = NULL;
  unsigned n = 0;
  ck_assert (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  for (const char *c = maps; *c != '\0'; c++)
    n += *c == '\n';
  return n;
}

START_TEST (a_thousand_times)
{
  const char *name = names[_i];
  load_requirements (name);
  g_autofree char *before = table_text ();
  for (unsigned i = 0; i < WARM_UP; i++)
    come_and_go (name, before);
  malloc_trim (0);
  size_t used = mallinfo2 ().uordblks, pages = resident_pages ();
  unsigned maps = lines_of_maps ();
  for (unsigned i = WARM_UP; i < TIMES; i++)
    come_and_go (name, before);
  malloc_trim (0);
#if !IS_SANITIZED
  size_t more = mallinfo2 ().uordblks - MIN (used, mallinfo2 ().uordblks);
  ck_assert_msg (more < 2 * 1024, "%s: %zu bytes more after %u times", name, more,
                 (unsigned) (TIMES - WARM_UP));
  ck_assert_msg (resident_pages () < pages + 256, "%s: %zu pages more", name,
                 resident_pages () - pages);
  ck_assert_msg (lines_of_maps () <= maps + 4, "%s: %u mappings more", name,
                 lines_of_maps () - maps);
#else
  (void) used, (void) pages, (void) maps;
#endif
}
END_TEST

static void
shuffle (unsigned *order, unsigned n, GRand *random)
{
  for (unsigned i = 0; i < n; i++)
    order[i] = i;
  for (unsigned i = n; i-- > 1;)
    {
      unsigned j = (unsigned) g_rand_int_range (random, 0, (int) i + 1);
      unsigned swapped = order[i];
      order[i] = order[j];
      order[j] = swapped;
    }
}

/* Loads all that are suitable in that order; who requires one that comes later waits for it. */
static void
load_all (const unsigned *order, unsigned n, XpPlugin **plugins)
{
  bool waiting = true;
  for (unsigned rounds = 0; waiting && rounds <= n; rounds++)
    {
      waiting = false;
      for (unsigned i = 0; i < n; i++)
        {
          GError *error = NULL;
          if (plugins[order[i]] != NULL)
            continue;
          plugins[order[i]] = load_built (names[order[i]], &error);
          waiting |= g_error_matches (error, XP_ERROR, XP_ERROR_MISSING_REQUIREMENT);
          ck_assert_msg (error == NULL || error->code == XP_ERROR_MISSING_REQUIREMENT
                             || error->code == XP_ERROR_UNSUITABLE,
                         "%s", error != NULL ? error->message : "");
          g_clear_error (&error);
        }
    }
  ck_assert (!waiting);
}

/* Unloads all in that order; who is required goes after those that require it. */
static void
unload_all (const unsigned *order, unsigned n, XpPlugin **plugins)
{
  bool waiting = true;
  for (unsigned rounds = 0; waiting && rounds <= n; rounds++)
    {
      waiting = false;
      for (unsigned i = 0; i < n; i++)
        {
          GError *error = NULL;
          if (plugins[order[i]] == NULL)
            continue;
          if (xp_plugin_unload (plugins[order[i]], &error))
            plugins[order[i]] = NULL;
          else
            waiting = true;
          ck_assert (error == NULL || error->code == XP_ERROR_IN_USE);
          g_clear_error (&error);
        }
    }
  ck_assert (!waiting);
}

START_TEST (any_order)
{
  unsigned n = g_strv_length (names);
  g_autofree unsigned *order = g_new (unsigned, n);
  g_autofree XpPlugin **plugins = g_new0 (XpPlugin *, n);
  g_autofree char *empty = table_text ();
  g_autofree char *full = NULL;
  GRand *random = g_rand_new_with_seed (2026);
  for (unsigned i = 0; i < ORDERS; i++)
    {
      shuffle (order, n, random);
      load_all (order, n, plugins);
      if (full == NULL)
        full = table_text ();
      assert_table (full);
      shuffle (order, n, random);
      unload_all (order, n, plugins);
      assert_table (empty);
    }
  g_rand_free (random);
}
END_TEST

/* Runs this program again without malloc's caches per thread: what lies in them counts as used. */
static void
turn_off_caches (char **arguments)
{
  const char *variable = "GLIBC_TUNABLES", *value = "glibc.malloc.tcache_count=0";
  if (g_strcmp0 (g_getenv (variable), value) == 0)
    return;
  g_setenv (variable, value, TRUE);
  execv ("/proc/self/exe", arguments);
}

int
main (G_GNUC_UNUSED int n_arguments, char **arguments)
{
  turn_off_caches (arguments);
  find_plugins ();
  Suite *suite = suite_create ("every");
  TCase *tests = tcase_create ("every");
  tcase_set_timeout (tests, 280);
  tcase_add_loop_test (tests, a_thousand_times, 0, (int) g_strv_length (names));
  tcase_add_test (tests, any_order);
  suite_add_tcase (suite, tests);
  int failed = run_suite (suite);
  g_strfreev (names);
  g_free (folder);
  return failed;
}
