/* SPDX-License-Identifier: MIT
 *
 * libraries.c: the cases of PyTorch's suites about library blocks, what they may hold, what they
 * leave behind and who is told, under their names (README.md).
 */
#include "dispatch/cases.h"
#include "plugin/fixtures.h"

/* --- Definitions. --- */

static bool
is_there (const char *name)
{
  return xp_operator_find (name) != NULL;
}

START_TEST (testBasics)
{
  XpLibrary *rows = block_new (XP_LIBRARY_KIND_DEF, "_test", NULL);
  XpLibrary *cpu = impl_new ("_test", "CPU"), *cuda = impl_new ("_test", "CUDA");
  define (rows, "dummy(Tensor self) -> Tensor");
  define (rows, "dummy1(Tensor self) -> Tensor");
  record_at (rows, "dummy1", 1);
  define (rows, "_test::dummy2(Tensor self) -> Tensor");
  record_at (rows, "_test::dummy2", 2);
  define (rows, "dummy3(Tensor self, Tensor other) -> Tensor");
  record_at (cpu, "dummy3", 3);
  record_at (cuda, "_test::dummy3", 4);
  static const char *const names[] = { "_test::dummy", "_test::dummy1", "_test::dummy2",
                                       "_test::dummy3" };
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    ck_assert (is_there (names[i]));
  assert_runs ("_test::dummy1", XP_KEY_CPU, false, 1);
  assert_runs ("_test::dummy2", XP_KEY_CUDA, false, 2);
  assert_table_is_sound ();
  xp_library_free (rows);
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    ck_assert (!is_there (names[i]));
  xp_library_free (cpu);
  xp_library_free (cuda);
}
END_TEST

START_TEST (importTopLevel)
{
  g_autoptr (XpLibrary) rows = block_new (XP_LIBRARY_KIND_DEF, "test", NULL);
  g_autoptr (XpLibrary) catch_all = impl_new ("test", NULL);
  define (rows, "def1(Tensor self) -> Tensor");
  record_at (catch_all, "impl1", 1);
  ck_assert (is_there ("test::def1"));
  ck_assert (!is_there ("test::impl1"));
  /* A kernel alone makes a row, though no operator. */
  g_autoptr (XpRowInfo) info = xp_table_row ("test::impl1");
  ck_assert_uint_eq (info->n_registrations, 1);
  ck_assert_ptr_null (info->schema);
}
END_TEST

START_TEST (overload)
{
  g_autoptr (XpLibrary) rows = block_new (XP_LIBRARY_KIND_DEF, "test", NULL);
  define (rows, "fn(Tensor self) -> Tensor");
  define (rows, "fn.overload1(Tensor self, Tensor other) -> Tensor");
  define (rows, "fn.overload2(Tensor self, Tensor other, Tensor alpha) -> Tensor");
  g_auto (GStrv) overloads = xp_table_overloads ("test::fn");
  ck_assert_uint_eq (g_strv_length (overloads), 3);
  ck_assert_uint_eq (operator_named ("test::fn")->n_arguments, 1);
  ck_assert_uint_eq (operator_named ("test::fn.overload1")->n_arguments, 2);
  ck_assert_uint_eq (operator_named ("test::fn.overload2")->n_arguments, 3);
}
END_TEST

START_TEST (importNamespace)
{
  g_autoptr (XpLibrary) rows = block_new (XP_LIBRARY_KIND_DEF, "test", NULL);
  define (rows, "def1(Tensor self) -> Tensor");
  g_autofree char *before = whole_table ();
  GError *error = refused_def (rows, "retest::def2(Tensor self) -> Tensor");
  assert_error (error, XP_ERROR_INVALID_REGISTRATION,
                "Explicitly provided namespace (retest) in schema string does not match namespace "
                "of enclosing XP_LIBRARY block (test). ");
  assert_text (whole_table (), before);
  define (rows, "def3(Tensor self) -> Tensor");
  ck_assert (is_there ("test::def1") && is_there ("test::def3"));
}
END_TEST

START_TEST (schema)
{
  static const struct
  {
    const char *schema;
    XpAliasAnalysis kind;
  } cases[] = {
    { "def1(Tensor self) -> Tensor", XP_ALIAS_ANALYSIS_FROM_SCHEMA },
    { "test::def2(Tensor self) -> Tensor", XP_ALIAS_ANALYSIS_FROM_SCHEMA },
    { "def3(Tensor self) -> Tensor", XP_ALIAS_ANALYSIS_PURE_FUNCTION },
    { "def4(Tensor self) -> Tensor", XP_ALIAS_ANALYSIS_UNSET },
  };
  g_autoptr (XpLibrary) rows = block_new (XP_LIBRARY_KIND_DEF, "test", NULL);
  GError *error = NULL;
  for (unsigned i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const XpDefinition definition = { .size = sizeof definition,
                                        .schema = cases[i].schema,
                                        .alias_analysis = cases[i].kind,
                                        .file = "row.c" };
      xp_library_def (rows, &definition, &error);
      assert_no_error (error);
      g_autofree char *name = g_strdup_printf ("test::def%u", i + 1);
      g_autofree char *expected = g_strdup_printf ("test::def%u(Tensor self) -> Tensor", i + 1);
      g_autoptr (XpRowInfo) info = xp_table_row (name);
      ck_assert_str_eq (info->schema, expected);
      ck_assert_int_eq (info->alias_analysis, cases[i].kind);
    }
}
END_TEST

START_TEST (TorchLibraryTwiceIsError)
{
  GError *error = NULL;
  {
    g_autoptr (XpLibrary) first = block_new (XP_LIBRARY_KIND_DEF, "test", NULL);
    g_autofree char *before = whole_table ();
    ck_assert_ptr_null (xp_library_new (XP_LIBRARY_KIND_DEF, "test", NULL, "other.c", 7, &error));
    ck_assert_ptr_nonnull (strstr (error->message, "was registered at block.c:1 (the program); "
                                                   "latest registration was registered at "
                                                   "other.c:7"));
    assert_error (error, XP_ERROR_NAMESPACE_TAKEN,
                  "Only a single XP_LIBRARY can be used to register the namespace test; ");
    assert_text (whole_table (), before);
  }
  g_autoptr (XpLibrary) second = block_new (XP_LIBRARY_KIND_DEF, "test", NULL);
  define (second, "def1(Tensor self) -> Tensor");
}
END_TEST

/* Every way to give a kernel: boxed, with data, typed, and none. */
START_TEST (CppFunction)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) rows = block_new (XP_LIBRARY_KIND_DEF, "test", NULL);
  static const char *const names[] = { "fn1", "fn2", "fn3", "fn4" };
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *text = g_strdup_printf ("%s(Tensor self) -> ()", names[i]);
      define (rows, text);
    }
  g_autoptr (XpLibrary) cpu = impl_new ("test", "CPU");
  ck_assert (xp_impl (cpu, "fn1", recording_kernel));
  ck_assert (xp_impl_with_data (cpu, "fn2", recording_kernel, GINT_TO_POINTER (2), NULL));
  ck_assert (implement_typed (cpu, "fn3", "(Tensor _0) -> ()", 3, &error));
  ck_assert (xp_impl (cpu, "fn4", xp_fallthrough));
  assert_runs ("test::fn1", XP_KEY_CPU, false, 0);
  assert_runs ("test::fn2", XP_KEY_CPU, false, 2);
  assert_runs ("test::fn3", XP_KEY_CPU, false, 3);
  line_for ("test::fn4", XP_KEY_CPU, false, &error);
  assert_error (error, XP_ERROR_NO_TENSOR_ARGUMENTS, "test::fn4");
}
END_TEST

/* --- What is left behind. --- */

static void
assert_nothing_dangles (void)
{
  g_auto (GStrv) dangling = xp_table_dangling ();
  ck_assert_uint_eq (g_strv_length (dangling), 0);
}

/* The plugins of the build, together. */
static void
load_all (void)
{
  static const char *const names[] = { "aten", "cpu", "meta", "sparse", "composite" };
  g_autofree char *folder = built_plugins ();
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GError *error = NULL;
      g_autofree char *path = g_strdup_printf ("%s/%s.so", folder, names[i]);
      xp_plugin_load (path, &error);
      assert_no_error (error);
    }
}

START_TEST (test_all_invariants)
{
  load_all ();
  ck_assert (is_there ("aten::add.Tensor"));
  assert_table_is_sound ();
}
END_TEST

START_TEST (test_find_dangling_impls)
{
  load_all ();
  assert_nothing_dangles ();
}
END_TEST

START_TEST (testImplNoDefGetsCaught)
{
  assert_nothing_dangles ();
  XpLibrary *cpu = impl_new ("_test", "CPU");
  record_at (cpu, "dummy", 1);
  g_auto (GStrv) dangling = xp_table_dangling ();
  ck_assert_uint_eq (g_strv_length (dangling), 1);
  ck_assert_str_eq (dangling[0], NAME);
  xp_library_free (cpu);
  assert_nothing_dangles ();
}
END_TEST

START_TEST (test_find_dangling_impls_ext)
{
  GError *error = NULL;
  g_autofree char *path = beside_program ("dangling");
  XpPlugin *plugin = xp_plugin_load (path, &error);
  assert_no_error (error);
  g_auto (GStrv) dangling = xp_table_dangling ();
  ck_assert_uint_eq (g_strv_length (dangling), 1);
  assert_text (xp_table_dump (dangling[0]),
               "name: __test::foo\nschema: (none)\n"
               "CPU: registered at tests/dispatch/dangling.c:5 :: () -> () [ boxed unboxed ]\n");
  xp_plugin_unload (plugin, &error);
  assert_no_error (error);
  assert_nothing_dangles ();
}
END_TEST

START_TEST (test_dispatch_print_registrations_for_dispatch_key_invalid)
{
  GError *error = NULL;
  XpKey key;
  ck_assert (!xp_key_parse ("invalid_key", &key, &error));
  ck_assert_str_eq (xp_error_get_details (error)->key, "invalid_key");
  assert_error (error, XP_ERROR_UNKNOWN_KEY, "could not parse dispatch key: invalid_key");
}
END_TEST

/* --- Listeners. --- */

static GString *heard;

static void
hear (const char *name, gboolean is_defined, void *data)
{
  g_string_append_printf (heard, "%s%c%s ", (const char *) data, is_defined ? '+' : '-', name);
}

static void
assert_heard (const char *expected)
{
  ck_assert_str_eq (heard->str, expected);
  g_string_truncate (heard, 0);
}

static unsigned n_destroyed;

static void
count_destroyed (G_GNUC_UNUSED void *data)
{
  n_destroyed++;
}

/* Definitions only, what is there first, and what goes. */
START_TEST (testDelayedListener)
{
  heard = g_string_new (NULL);
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  g_autoptr (XpLibrary) cpu = impl_new ("_test", "CPU");
  define (rows, "dummy(Tensor self) -> Tensor");
  record_at (cpu, "pending", 1);
  uint64_t first = xp_table_listen (hear, "1", count_destroyed);
  assert_heard ("1+_test::dummy ");
  record_at (cpu, "dummy", 2);
  assert_heard ("");
  XpLibrary *more = fragment_new ("_test");
  define (more, "pending(Tensor self) -> Tensor");
  uint64_t second = xp_table_listen (hear, "2", count_destroyed);
  ck_assert (first != second);
  g_string_truncate (heard, 0);
  define (more, "third(Tensor self) -> Tensor");
  assert_heard ("1+_test::third 2+_test::third ");
  GError *error = refused_def (more, "third(Tensor self) -> Tensor");
  assert_error (error, XP_ERROR_DUPLICATE_DEF, "third");
  assert_heard ("");
  xp_library_free (more);
  assert_heard ("1-_test::pending 2-_test::pending 1-_test::third 2-_test::third ");
  xp_table_unlisten (first);
  xp_table_unlisten (first);
  ck_assert_uint_eq (n_destroyed, 1);
  g_clear_pointer (&cpu, xp_library_free);
  g_clear_pointer (&rows, xp_library_free);
  assert_heard ("2-_test::dummy ");
  xp_table_unlisten (second);
  ck_assert_uint_eq (n_destroyed, 2);
  g_string_free (heard, TRUE);
}
END_TEST

/* A listener defines two operators when it hears of one, and leaves before the second is told. */
static uint64_t busy;
static XpLibrary *answers;

static void
answer (const char *name, gboolean is_defined, void *data)
{
  hear (name, is_defined, data);
  if (strcmp (name, "_test::one") == 0 && is_defined)
    {
      define (answers, "two(Tensor self) -> ()");
      define (answers, "three(Tensor self) -> ()");
      assert_table_is_sound ();
      assert_heard ("1+_test::one ");
    }
  else
    {
      xp_table_unlisten (busy);
      ck_assert_uint_eq (n_destroyed, 0);
    }
}

START_TEST (a_listener_registers_and_leaves)
{
  heard = g_string_new (NULL);
  answers = fragment_new ("_test");
  g_autoptr (XpLibrary) rows = fragment_new ("_test");
  busy = xp_table_listen (answer, "1", count_destroyed);
  assert_heard ("");
  define (rows, "one(Tensor self) -> ()");
  assert_heard ("1+_test::two ");
  ck_assert_uint_eq (n_destroyed, 1);
  xp_library_free (answers);
  assert_heard ("");
  g_string_free (heard, TRUE);
}
END_TEST

/* A plugin's rows, as it comes and goes; not one by one, and with nothing held. */
static void
ask_for_plugins (const char *name, gboolean is_defined, void *data)
{
  unsigned n;
  XpPluginInfo **plugins = xp_plugins (&n);
  for (unsigned i = 0; i < n; i++)
    xp_plugin_info_free (plugins[i]);
  g_free (plugins);
  ck_assert_ptr_null (xp_plugin_load ("/nonexistent/plugin.so", NULL));
  hear (name, is_defined, data);
}

START_TEST (a_listener_hears_of_plugins)
{
  heard = g_string_new (NULL);
  xp_table_listen (ask_for_plugins, "", NULL);
  GError *error = NULL;
  g_autofree char *path = beside_program ("opener_low");
  XpPlugin *plugin = xp_plugin_load (path, &error);
  assert_no_error (error);
  assert_heard ("+opener::open.opener_low ");
  xp_plugin_unload (plugin, &error);
  assert_no_error (error);
  assert_heard ("-opener::open.opener_low ");
  g_string_free (heard, TRUE);
}
END_TEST

/* Threads change at once; each operator is heard to come and go in turn, and all is told when both
 * have ended. One listener at a time, without a lock, is why these need none. */
enum
{
  N_CHANGES = 300
};

static unsigned n_heard;
static bool is_defined_now[2];

static void
follow (const char *name, gboolean is_defined, G_GNUC_UNUSED void *data)
{
  static int n_inside;
  unsigned which = name[strlen (name) - 1] == '1';
  ck_assert_int_eq (g_atomic_int_add (&n_inside, 1), 0);
  g_thread_yield ();
  ck_assert (is_defined_now[which] != is_defined);
  is_defined_now[which] = is_defined;
  n_heard++;
  g_atomic_int_add (&n_inside, -1);
}

static void *
come_and_go (void *schema_text)
{
  for (unsigned i = 0; i < N_CHANGES; i++)
    {
      XpLibrary *block = fragment_new ("_test");
      define (block, schema_text);
      xp_library_free (block);
    }
  return NULL;
}

START_TEST (listeners_hear_threads_in_order)
{
  uint64_t number = xp_table_listen (follow, NULL, NULL);
  GThread *one = g_thread_new ("one", come_and_go, "op0() -> ()");
  GThread *other = g_thread_new ("other", come_and_go, "op1() -> ()");
  g_thread_join (one);
  g_thread_join (other);
  ck_assert_uint_eq (n_heard, 4 * N_CHANGES);
  ck_assert (!is_defined_now[0] && !is_defined_now[1]);
  xp_table_unlisten (number);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("libraries");
  TCase *tests = tcase_create ("libraries");
  tcase_add_test (tests, testBasics);
  tcase_add_test (tests, importTopLevel);
  tcase_add_test (tests, overload);
  tcase_add_test (tests, importNamespace);
  tcase_add_test (tests, schema);
  tcase_add_test (tests, TorchLibraryTwiceIsError);
  tcase_add_test (tests, CppFunction);
  tcase_add_test (tests, test_all_invariants);
  tcase_add_test (tests, test_find_dangling_impls);
  tcase_add_test (tests, testImplNoDefGetsCaught);
  tcase_add_test (tests, test_find_dangling_impls_ext);
  tcase_add_test (tests, test_dispatch_print_registrations_for_dispatch_key_invalid);
  tcase_add_test (tests, testDelayedListener);
  tcase_add_test (tests, a_listener_registers_and_leaves);
  tcase_add_test (tests, a_listener_hears_of_plugins);
  tcase_add_test (tests, listeners_hear_threads_in_order);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
