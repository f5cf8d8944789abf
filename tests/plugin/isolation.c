/* SPDX-License-Identifier: MIT
 *
 * isolation.c: plugins that export the same names as each other and as this program each use their
 * own; what is preloaded serves them all.
 */
#include "plugin/fixtures.h"
#include "plugin/fixtures/symbols.h"

#include <dlfcn.h>

/* Equal names in several objects are what this is about. */
const char *__asan_default_options (void);
const char *
__asan_default_options (void)
{
  return "detect_odr_violation=0";
}

/* The program is linked with -rdynamic, so these come first wherever a library asks for them. */
double bias = -1000;

double
kern_add (G_GNUC_UNUSED double a, G_GNUC_UNUSED double b)
{
  return -1;
}

double
dgemm_ (void)
{
  return -2;
}

static XpTensor *
tensor_of (float number)
{
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (1), XP_CPU, NULL);
  *(float *) xp_tensor_data (tensor) = number;
  return tensor;
}

/* Calls NAMESPACE::OP with [1] and @second, which it takes. */
static XpValue
call_one (const char *name_space, const char *name, XpValue second)
{
  GError *error = NULL;
  g_autofree char *full = g_strdup_printf ("%s::%s", name_space, name);
  XpOperator *op = xp_operator_get (full, &error);
  assert_no_error (error);
  XpValue arguments[] = { xp_value_tensor (tensor_of (1)), second }, result = { 0 };
  xp_operator_call (op, arguments, &result, &error);
  assert_no_error (error);
  xp_value_clear (&arguments[0]);
  xp_value_clear (&arguments[1]);
  return result;
}

static double
add (const char *name_space)
{
  return call_one (name_space, "add", xp_value_tensor (tensor_of (2))).as.number;
}

static double
gemm (const char *name_space)
{
  return call_one (name_space, "gemm", (XpValue){ 0 }).as.number;
}

static const char *const orders[][2] = { { "sym_a", "sym_b" }, { "sym_b", "sym_a" } };

/* Test 25 of the reports: A's bias is 0, B's 100. */
START_TEST (test_25_symbols_of_two_libraries)
{
  load_fixture (orders[_i][0]);
  load_fixture (orders[_i][1]);
  ck_assert_double_eq (add ("sym_a"), 3);
  ck_assert_double_eq (add ("sym_b"), 103);
  call_one ("sym_a", "set", xp_value_float (10));
  ck_assert_double_eq (add ("sym_a"), 13);
  ck_assert_double_eq (add ("sym_b"), 103);
  ck_assert_double_eq (bias, -1000);
}
END_TEST

START_TEST (pain_15_symbol_clash_of_two_libraries)
{
  load_fixture (orders[_i][0]);
  load_fixture (orders[_i][1]);
  ck_assert_double_eq (gemm ("sym_a"), 1);
  ck_assert_double_eq (gemm ("sym_b"), 101);
  ck_assert_double_eq (dgemm_ (), -2);
}
END_TEST

/* Why -Bsymbolic is asked for: RTLD_LOCAL does not protect from the program. */
START_TEST (interposable)
{
  load_fixture ("sym_open");
  ck_assert_double_eq (add ("sym_open"), -1);
  ck_assert_double_eq (gemm ("sym_open"), -2);
}
END_TEST

/* What a plugin exports, as each does with its entry points, nobody finds who asks for the name. */
START_TEST (local)
{
  load_fixture ("rows");
  g_autoptr (XpPluginInfo) info = xp_plugin_info (load_fixture ("first"));
  void *handle = dlopen (info->mapped_path, RTLD_NOW | RTLD_NOLOAD);
  ck_assert_ptr_nonnull (dlsym (handle, "xp_plugin_fini"));
  ck_assert_ptr_null (dlsym (RTLD_DEFAULT, "xp_plugin_fini"));
  dlclose (handle);
}
END_TEST

/* Loaded, opened, changed and loaded again: another file, other globals. */
START_TEST (private_copies)
{
  XpPlugin *plugin = load_fixture ("sym_a");
  call_one ("sym_a", "set", xp_value_float (10));
  ck_assert_double_eq (add ("sym_a"), 13);
  unload (plugin);
  g_autofree char *path = fixture_path ("sym_a");
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  ck_assert_ptr_nonnull (handle);
  double *own = dlsym (handle, "bias");
  *own = 50;
  ck_assert_double_eq (add ("sym_a"), 53);
  unload (xp_plugin_find ("sym_a"));
  load_fixture ("sym_a");
  ck_assert_double_eq (add ("sym_a"), 3);
  ck_assert_double_eq (*own, 50);
  dlclose (handle);
}
END_TEST

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define MAY_PRELOAD 0 /* the sanitizer's runtime has to come first */
#else
#  define MAY_PRELOAD 1
#endif

static unsigned (*counted) (void);

/* In the process that the next one starts. */
START_TEST (a_preloaded_malloc_counts)
{
  unsigned before = counted ();
  load_fixture ("sym_a");
  for (unsigned i = 0; i < 3; i++)
    call_one ("sym_a", "allocate", (XpValue){ 0 });
  ck_assert_uint_eq (counted () - before, 3);
}
END_TEST

START_TEST (pain_16_no_deepbind)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *library = fixture_path ("counting_malloc");
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "LD_PRELOAD", library, TRUE);
  int status = 0;
  g_autofree char *out = NULL;
  GError *error = NULL;
  g_spawn_sync (NULL, (char *[]){ program, NULL }, environment, G_SPAWN_DEFAULT, NULL, NULL, &out,
                NULL, &status, &error);
  assert_no_error (error);
  ck_assert_msg (status == 0 && strstr (out, "ok 1 - ") != NULL, "%s", out);
  ck_assert_ptr_nonnull (strstr (out, "a_preloaded_malloc_counts"));
}
END_TEST

int
main (void)
{
  TCase *tests = tcase_create ("isolation");
  counted = (unsigned (*) (void)) dlsym (RTLD_DEFAULT, "counted_mallocs");
  if (counted != NULL)
    tcase_add_test (tests, a_preloaded_malloc_counts);
  else
    {
      tcase_add_loop_test (tests, test_25_symbols_of_two_libraries, 0, 2);
      tcase_add_loop_test (tests, pain_15_symbol_clash_of_two_libraries, 0, 2);
      tcase_add_test (tests, interposable);
      tcase_add_test (tests, local);
      tcase_add_test (tests, private_copies);
      if (MAY_PRELOAD)
        tcase_add_test (tests, pain_16_no_deepbind);
    }
  Suite *suite = suite_create ("isolation");
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
