/* SPDX-License-Identifier: MIT
 *
 * rounds.c: a plugin that comes and goes a thousand times under callers leaves nothing behind: no
 * memory, no mapped file, no private copy.
 */
#include "plugin/fixtures.h"

#include <malloc.h>

enum
{
  N_REPORTED = 100, /* rounds of test 7 */
  N_CALLERS = 8,
  N_ROUNDS = 1000,
  N_WARM = 200,
  MAX_GROWTH = 64 << 10 /* bytes, from the warm state to the end */
};

static int stop;

static void *
call_on (void *data)
{
  unsigned *n_calls = data;
  while (!__atomic_load_n (&stop, __ATOMIC_ACQUIRE))
    {
      GError *error = NULL;
      int64_t number = call_number ("fixture::number", &error);
      assert_no_error (error);
      ck_assert (number == 1 || number == 4);
      ++*n_calls;
    }
  return NULL;
}

/* Bytes in use. Of the sanitizers, one counts them itself, and one's blocks are not to be counted.
 * glibc counts what its caches keep, too. */
#ifdef __SANITIZE_ADDRESS__
#  define COUNTS_CACHES 0
size_t __sanitizer_get_current_allocated_bytes (void);
#  define bytes_in_use() __sanitizer_get_current_allocated_bytes ()
#elif defined __SANITIZE_THREAD__
#  define COUNTS_CACHES 0
#  define bytes_in_use() ((size_t) 0)
#else
#  define COUNTS_CACHES 1
static size_t
bytes_in_use (void)
{
  struct mallinfo2 info = mallinfo2 ();
  return info.uordblks + info.hblkhd;
}
#endif

/* How many shared objects are mapped: each has one executable segment. */
static unsigned
n_mapped (void)
{
  g_autofree char *maps = NULL;
  unsigned n = 0;
  ck_assert (g_file_get_contents ("/proc/self/maps", &maps, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (maps, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    n += strstr (*line, " r-xp ") != NULL && strstr (*line, ".so") != NULL;
  return n;
}

/* How many private copies of this process are in @folder. */
static unsigned
n_copies (const char *folder)
{
  unsigned n = 0;
  g_autofree char *prefix = g_strdup_printf ("%d-", (int) getpid ());
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  ck_assert_ptr_nonnull (dir);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    n += g_str_has_prefix (name, prefix);
  return n;
}

/* Peers, pain 11: unloading under callers crashes, or what points into the plugin outlives it. */
START_TEST (pain_11_unload_under_callers)
{
  unsigned n_calls[N_CALLERS] = { 0 };
  GThread *threads[N_CALLERS];
  g_setenv ("FIXTURE_QUIET", "yes", TRUE);
  load_fixture ("rows");
  XpPlugin *below = load_fixture ("partial");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (below);
  g_autofree char *folder = g_path_get_dirname (info->mapped_path);
  g_autofree char *table = table_text ();
  unsigned copies = n_copies (folder), mapped = n_mapped ();
  size_t warm = 0;
  ck_assert_uint_gt (copies, 0);
  stop = 0;
  for (unsigned i = 0; i < N_CALLERS; i++)
    threads[i] = g_thread_new ("caller", call_on, &n_calls[i]);
  for (unsigned i = 0; i < N_ROUNDS; i++)
    {
      XpPlugin *plugin = load_fixture ("first");
      assert_number (1);
      unload (plugin);
      assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
      assert_number (4);
      if (i == N_WARM)
        warm = bytes_in_use ();
    }
  size_t end = bytes_in_use ();
  ck_assert_uint_eq (n_mapped (), mapped);
  ck_assert_msg (end <= warm + MAX_GROWTH, "%zu bytes in use, of %zu", end, warm);
  __atomic_store_n (&stop, 1, __ATOMIC_RELEASE);
  for (unsigned i = 0; i < N_CALLERS; i++)
    {
      g_thread_join (threads[i]);
      ck_assert_uint_gt (n_calls[i], 0);
    }
  assert_table (table);
  ck_assert_uint_eq (n_copies (folder), copies);
}
END_TEST

static void
assert_call_fails (XpOperator *op, XpKernelHandle *handle, XpError expected, const char *part)
{
  GError *error = NULL;
  g_autoptr (XpTensor) tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (1), XP_CPU, NULL);
  XpValue argument = xp_value_tensor (tensor), result;
  XpStatus status = op != NULL ? xp_operator_call (op, &argument, &result, &error)
                               : xp_kernel_handle_call (handle, &argument, &result, &error);
  ck_assert_int_eq (status, XP_FAILED);
  assert_error (error, expected, part);
}

/* Reports, test 7: what was kept of a library that is gone says so, of its kernel and then of its
 * row; and a hundred rounds leave what two have. */
START_TEST (test_7_a_handle_outlives_its_library)
{
  GError *error = NULL;
  size_t after_two = 0;
  g_setenv ("FIXTURE_QUIET", "yes", TRUE);
  for (unsigned i = 1; i <= N_REPORTED; i++)
    {
      XpPlugin *rows = load_fixture ("rows"), *first = load_fixture ("first");
      XpOperator *op = xp_operator_get ("fixture::number", &error);
      assert_no_error (error);
      XpKernelHandle *handle = xp_operator_kernel (op, "first", XP_KEY_CPU, &error);
      assert_no_error (error);
      assert_number (1);
      unload (first);
      assert_call_fails (op, NULL, XP_ERROR_MISSING_KERNEL, "fixture::number");
      assert_call_fails (NULL, handle, XP_ERROR_STALE_KERNEL, "first");
      ck_assert (!is_mapped ("-first.so"));
      unload (rows);
      assert_call_fails (op, NULL, XP_ERROR_UNKNOWN_OPERATOR, "fixture::number");
      ck_assert (!is_mapped ("-rows.so"));
      xp_kernel_handle_unref (handle);
      if (i == 2)
        after_two = bytes_in_use ();
    }
  size_t end = bytes_in_use ();
  ck_assert_msg (COUNTS_CACHES ? end <= after_two + MAX_GROWTH : end == after_two,
                 "%zu bytes in use, of %zu", end, after_two);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("rounds");
  TCase *tests = tcase_create ("rounds");
  tcase_set_timeout (tests, 110);
  tcase_add_test (tests, pain_11_unload_under_callers);
  tcase_add_test (tests, test_7_a_handle_outlives_its_library);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
