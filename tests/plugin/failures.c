/* SPDX-License-Identifier: MIT
 *
 * failures.c: loads that fail, and what is said of them then and later, where their kernels are
 * missing. Pains are those of a survey of other loaders: see docs/plugins.md.
 */
#include "plugin/fixtures.h"
#include "table/blocks.h"

/* All that is searched. */
static char *
only_folder (void)
{
  char *folder = folder_new ();
  g_setenv ("CROSSPOINT_PLUGIN_PATH", folder, TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "", TRUE);
  return folder;
}

/* A copy of @fixture in @folder, with @new over each @old, of the same length. */
static char *
changed_copy (const char *fixture, const char *folder, const char *old, const char *new_)
{
  g_autofree char *from = fixture_path (fixture), *bytes = NULL;
  g_autofree char *name = g_strconcat (fixture, ".so", NULL);
  char *path = g_build_filename (folder, name, NULL);
  gsize n;
  unsigned count = 0;
  ck_assert (g_file_get_contents (from, &bytes, &n, NULL));
  ck_assert_uint_eq (strlen (old), strlen (new_));
  for (gsize i = 0; i + strlen (old) <= n; i++)
    if (memcmp (bytes + i, old, strlen (old)) == 0)
      {
        memcpy (bytes + i, new_, strlen (new_));
        count++;
      }
  ck_assert_uint_gt (count, 0);
  ck_assert (g_file_set_contents_full (path, bytes, (gssize) n, 0, 0600, NULL));
  return path;
}

static GError *
error_of_load (const char *path)
{
  GError *error = NULL;
  ck_assert_ptr_null (xp_plugin_load (path, &error));
  ck_assert_ptr_nonnull (error);
  return error;
}

static void
assert_parts (GError *error, XpError code, const char *first, const char *second)
{
  ck_assert_msg (strstr (error->message, second) != NULL, "'%s' is not in: %s", second,
                 error->message);
  assert_error (error, code, first);
}

START_TEST (failed_load_is_remembered)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("claims");
  assert_parts (error_of_load (path), XP_ERROR_LOAD_FAILED, "undefined symbol: zz_missing", path);
  /* The row that it would have opened. */
  ck_assert_ptr_null (xp_operator_get ("t::foo", &error));
  g_autofree char *says = g_strdup_printf (
      "Not loaded: claims (%s) defines the namespace t, but its state is failed: ", path);
  assert_parts (error, XP_ERROR_UNKNOWN_OPERATOR, says, "undefined symbol: zz_missing");
  /* The cell that it would have filled. */
  XpLibrary *rows = fragment_new ("t");
  define (rows, "foo(Tensor a) -> int");
  error = NULL;
  ck_assert_int_eq (call_number ("t::foo", &error), -1);
  assert_parts (error, XP_ERROR_MISSING_KERNEL, path, "undefined symbol: zz_missing");
  /* A name that is near. */
  error = NULL;
  ck_assert_ptr_null (xp_operator_get ("t::fooo", &error));
  ck_assert_str_eq (xp_error_get_details (error)->candidates[0], "t::foo");
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "Did you mean t::foo?");
  xp_library_free (rows);
}
END_TEST

/* The row that only fillers have to do with. */
START_TEST (failed_filler_is_remembered)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("unresolved");
  g_clear_error (&error);
  GError *refused = error_of_load (path);
  g_clear_error (&refused);
  ck_assert_ptr_null (xp_operator_get ("fixture::number", &error));
  assert_parts (error, XP_ERROR_UNKNOWN_OPERATOR, "has kernels for the namespace fixture, but its",
                "undefined symbol: nobody_has_this");
}
END_TEST

START_TEST (dependency_is_missing)
{
  char *folder = only_folder ();
  g_autofree char *path = changed_copy ("first", folder, "libcrosspoint.so.1",
                                        "libcrosspoint.so.9");
  GError *error = error_of_load (path);
  ck_assert_str_eq (xp_error_get_details (error)->candidates[0], "libcrosspoint.so.9");
  assert_parts (error, XP_ERROR_LOAD_FAILED, "dependency missing: libcrosspoint.so.9", path);
  folder_remove (folder);
}
END_TEST

/* Plugins for other versions of the interface (pain 18): what each is built for, what this is, what
 * to do. Those that are refused change nothing for the one that is not. */
START_TEST (pain_18_versions)
{
  char *folder = only_folder ();
  XpPlugin *rows = load_fixture ("rows"), *same = load_fixture ("first");
  g_autofree char *newer = changed_copy ("second", folder, "abi=1.0", "abi=1.9");
  g_autofree char *other = changed_copy ("partial", folder, "abi=1.0", "abi=2.0");
  g_autofree char *version = g_strdup_printf ("this is crosspoint %s with ABI 1.0", xp_version ());
  assert_parts (error_of_load (newer), XP_ERROR_WRONG_ABI, version,
                "is built for ABI 1.9, this is crosspoint");
  assert_parts (error_of_load (newer), XP_ERROR_WRONG_ABI, "use a crosspoint of ABI 1.9 or later",
                "or build it with XP_TARGET_MINOR=0");
  assert_parts (error_of_load (other), XP_ERROR_WRONG_ABI, "is built for ABI 2.0, this is",
                "with ABI 1.0: build it with the headers of this version");
  g_autofree char *fussy = fixture_path ("fussy");
  assert_parts (error_of_load (fussy), XP_ERROR_UNSUITABLE, "no such device", "fussy: unsuitable");
  assert_number (1);
  ck_assert (!is_mapped ("second"));
  ck_assert (!is_mapped ("partial"));
  unload (same);
  unload (rows);
  folder_remove (folder);
}
END_TEST

/* Pain 20: nothing but names that a user knows, and what to do. */
START_TEST (pain_20_text_of_a_missing_kernel)
{
  GError *error = NULL;
  char *folder = only_folder ();
  XpPlugin *rows = load_fixture ("rows");
  g_autofree char *first = fixture_path ("first");
  g_autofree char *path = g_build_filename (folder, "first.so", NULL);
  copy_file (first, path);
  g_autofree char *expected = g_strdup_printf (
      "Could not run 'fixture::number' with arguments from the 'CPU' backend. 'fixture::number' is "
      "only available for these backends: [].\n"
      "The key comes from argument 0 (a), a strided tensor on cpu.\n"
      "Not loaded: first (%s) fills cells of fixture/CPU; load it with `load first`, or --load "
      "first",
      path);
  ck_assert_int_eq (call_number ("fixture::number", &error), -1);
  ck_assert_str_eq (error->message, expected);
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (details->op, "fixture::number");
  ck_assert_str_eq (details->key, "CPU");
  ck_assert_str_eq (details->candidates[0], "first");
  ck_assert_ptr_null (details->candidates[1]);
  g_clear_error (&error);
  unload (rows);
  folder_remove (folder);
}
END_TEST

/* Pain 17: an empty cell is an error that names the filled ones beside it, and nothing is written.
 */
START_TEST (pain_17_output_is_untouched)
{
  GError *error = NULL;
  XpLibrary *rows = fragment_new ("pain"), *meta = impl_new ("pain", "Meta");
  define (rows, "into(Tensor a, *, Tensor(a!) out) -> Tensor(a!)");
  record_at (meta, "into", 1);
  XpTensor *a = xp_tensor_new (XP_FLOAT32, XP_INTS (1), XP_CPU, NULL);
  XpTensor *out = xp_tensor_new (XP_FLOAT32, XP_INTS (1), XP_CPU, NULL);
  float *data = xp_tensor_data (out);
  *data = 42;
  XpValue arguments[] = { xp_value_tensor (a), xp_value_tensor (out) }, result = xp_value_int (1);
  ck_assert_int_eq (xp_operator_call (operator_named ("pain::into"), arguments, &result, &error),
                    XP_FAILED);
  assert_error (error, XP_ERROR_MISSING_KERNEL, "only available for these backends: [Meta].");
  ck_assert_int_eq (result.tag, XP_TAG_NONE);
  ck_assert_float_eq (*data, 42);
  xp_tensor_unref (a);
  xp_tensor_unref (out);
  xp_library_free (meta);
  xp_library_free (rows);
}
END_TEST

/* Pain 2: who has nothing loaded hears how to, and where was looked. */
START_TEST (pain_2_nothing_is_loaded)
{
  GError *error = NULL;
  char *folder = only_folder ();
  g_autofree char *expected = g_strdup_printf (
      "Could not find schema for aten::gelu: no library that is loaded defines it.\n"
      "No plugin is loaded. Load what has the operator with `load NAME`, --load NAME, or "
      "xp_plugin_load(); these directories are searched:\n"
      "  %s (CROSSPOINT_PLUGIN_PATH)",
      folder);
  ck_assert_ptr_null (xp_operator_get ("aten::gelu", &error));
  ck_assert_str_eq (error->message, expected);
  g_clear_error (&error);
  XpPlugin *rows = load_fixture ("rows");
  ck_assert_ptr_null (xp_operator_get ("aten::gelu", &error));
  ck_assert_ptr_null (strstr (error->message, "No plugin is loaded"));
  g_clear_error (&error);
  unload (rows);
  folder_remove (folder);
}
END_TEST

/* Test 29 of the reports: what a kernel says of itself is compared when it is loaded. */
START_TEST (kernels_that_say_what_they_take)
{
  GError *error = NULL;
  g_autofree char *table = table_text ();
  assert_refused ("scale_wrong", XP_ERROR_SCHEMA_MISMATCH,
                  "argument 1 (k): the schema says float, the kernel int");
  assert_table (table);
  assert_refused ("scale_mistaken", XP_ERROR_INVALID_REGISTRATION,
                  "\"y: float32\", but y is no tensor argument");
  assert_refused ("scale_left_over", XP_ERROR_INVALID_REGISTRATION,
                  "expected a kernel after it, found none");
  assert_refused ("scale_trailing", XP_ERROR_INVALID_REGISTRATION,
                  "expected a kernel after it, found none");
  assert_table (table);

  XpPlugin *plugin = load_fixture ("scale");
  g_autofree char *dump = xp_table_dump ("t::scale");
  ck_assert_ptr_nonnull (strstr (dump, " :: (Tensor _0, float _1) -> Tensor _0 [ boxed ]"));
  g_autoptr (XpTensor) x = xp_tensor_new_scalar (xp_value_int (2), XP_FLOAT32, XP_CPU, NULL);
  XpValue arguments[] = { xp_value_tensor (x), xp_value_float (0.5) }, result = XP_NONE;
  xp_operator_call (xp_operator_find ("t::scale"), arguments, &result, &error);
  assert_no_error (error);
  g_auto (XpValue) element = xp_tensor_get_element (result.as.tensor, 0);
  ck_assert_double_eq (element.as.number, 1);
  xp_value_clear (&result);
  unload (plugin);
  assert_table (table);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("failures");
  TCase *tests = tcase_create ("failures");
  tcase_add_test (tests, failed_load_is_remembered);
  tcase_add_test (tests, failed_filler_is_remembered);
  tcase_add_test (tests, dependency_is_missing);
  tcase_add_test (tests, pain_18_versions);
  tcase_add_test (tests, pain_20_text_of_a_missing_kernel);
  tcase_add_test (tests, pain_17_output_is_untouched);
  tcase_add_test (tests, pain_2_nothing_is_loaded);
  tcase_add_test (tests, kernels_that_say_what_they_take);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
