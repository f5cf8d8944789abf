/* SPDX-License-Identifier: MIT
 *
 * queries.c: questions about rows and cells, as PyTorch's introspection asks them; kinds of alias
 * analysis and tags.
 */
#include "table/blocks.h"

static XpLibrary *rows, *cpu, *implicit, *tracer;

static void
set_up (void)
{
  rows = fragment_new ("op");
  cpu = impl_new ("op", "CPU");
  implicit = impl_new ("op", "CompositeImplicitAutograd");
  tracer = impl_new ("op", "Tracer");
  define (rows, "foo(Tensor x) -> Tensor");
  define (rows, "foo.other(Tensor x, int n) -> Tensor");
  record_at (cpu, "foo", 1);
  record_at (cpu, "dangling", 2);
  record_at (implicit, "foo.other", 3);
  implement (tracer, "foo", xp_fallthrough, 4);
}

static void
tear_down (void)
{
  xp_library_free (cpu);
  xp_library_free (implicit);
  xp_library_free (tracer);
  xp_library_free (rows);
}

static void
assert_names (char **names, const char *expected)
{
  g_autofree char *text = g_strjoinv (" ", names);
  ck_assert_str_eq (text, expected);
  g_strfreev (names);
}

START_TEST (which_rows_there_are)
{
  ck_assert (xp_table_has ("op::foo"));
  ck_assert (xp_table_has ("op::dangling"));
  ck_assert (!xp_table_has ("op::nothing"));
  ck_assert (!xp_table_has ("op::nothing")); /* asking has created none */
  assert_names (xp_table_names (), "op::dangling op::foo op::foo.other");
  assert_names (xp_table_dangling (), "op::dangling");
  assert_names (xp_table_overloads ("op::foo"), "op::foo op::foo.other");
  assert_names (xp_table_names_with_kernel (XP_KEY_CPU), "op::dangling op::foo");
  assert_names (xp_table_names_with_kernel (XP_KEY_CompositeImplicitAutograd), "op::foo.other");
  assert_names (xp_table_names_with_kernel (XP_KEY_CUDA), "");
}
END_TEST

START_TEST (what_is_registered)
{
  GError *error = NULL;
  ck_assert (xp_table_has_kernel ("op::foo", XP_KEY_CPU));
  ck_assert (!xp_table_has_kernel ("op::foo.other", XP_KEY_CPU)); /* it has a cell only */
  ck_assert (xp_table_has_computed_kernel ("op::foo.other", XP_KEY_CPU, &error));
  assert_no_error (error);
  ck_assert (!xp_table_has_computed_kernel ("op::foo", XP_KEY_CUDA, &error));
  assert_no_error (error);
  ck_assert (
      !xp_table_has_computed_kernel ("op::foo.other", XP_KEY_CompositeImplicitAutograd, &error));
  assert_error (error, XP_ERROR_ALIAS_KEY, "Alias keys do not have runtime kernel registrations");

  XpKeySet set = xp_key_set_add (xp_key_set (XP_KEY_CUDA), XP_KEY_FPGA);
  ck_assert (!xp_table_has_kernel_in ("op::foo", set));
  ck_assert (xp_table_has_kernel_in ("op::foo", xp_key_set_add (set, XP_KEY_CPU)));
  ck_assert (!xp_table_has_kernel_in ("op::foo", (XpKeySet){ 0, 0 }));
  /* Alias keys are the empty set, but do not count. */
  ck_assert (!xp_table_has_kernel_in ("op::foo.other", xp_key_set_full ()));
  ck_assert (!xp_table_has_kernel_in ("op::nothing", xp_key_set_full ()));
}
END_TEST

START_TEST (what_is_passed_over)
{
  GError *error = NULL;
  ck_assert (xp_table_is_fallthrough ("op::foo", XP_KEY_Tracer, &error));
  ck_assert (!xp_table_is_fallthrough ("op::foo", XP_KEY_CPU, &error));
  assert_no_error (error);
  ck_assert (!xp_table_is_fallthrough ("op::foo", XP_KEY_AutogradCPU, &error));
  assert_error (error, XP_ERROR_MISSING_KERNEL, "no kernel for AutogradCPU on op::foo");
  ck_assert (!xp_table_is_fallthrough ("op::nothing", XP_KEY_CPU, &error));
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "operator op::nothing does not exist");
  /* What is active counts. */
  g_autoptr (XpLibrary) newer = impl_new ("op", "Tracer");
  record_at (newer, "foo", 5);
  ck_assert (!xp_table_is_fallthrough ("op::foo", XP_KEY_Tracer, &error));
  assert_no_error (error);
}
END_TEST

START_TEST (which_fallbacks_there_are)
{
  ck_assert (xp_table_has_fallback (XP_KEY_AutogradCPU));
  ck_assert (!xp_table_has_fallback (XP_KEY_AutogradHIP));
  ck_assert (!xp_table_has_fallback (XP_KEY_Undefined));
  ck_assert (!xp_table_has_fallback (XP_KEY_Autograd));
  XpLibrary *fallback = impl_new ("_", "Autograd");
  implement (fallback, NULL, recording_kernel, 6);
  ck_assert (xp_table_has_fallback (XP_KEY_AutogradHIP));
  ck_assert (!xp_table_has_fallback (XP_KEY_Autograd));
  ck_assert (!xp_table_has_fallback (XP_KEY_Undefined));
  xp_library_free (fallback);
  ck_assert (!xp_table_has_fallback (XP_KEY_AutogradHIP));
}
END_TEST

START_TEST (one_row_is_checked)
{
  GError *error = NULL;
  ck_assert (xp_table_check_row ("op::foo", &error));
  ck_assert (xp_table_check_row ("op::dangling", &error));
  assert_no_error (error);
  ck_assert (!xp_table_check_row ("foo", &error)); /* upstream is silent */
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "operator foo does not exist");
}
END_TEST

/* --- Alias analysis and tags. --- */

static const struct
{
  XpAliasAnalysis kind;
  const char *text, *printed;
} kinds[] = {
  { XP_ALIAS_ANALYSIS_UNSET, "", "CONSERVATIVE (default)" },
  { XP_ALIAS_ANALYSIS_CONSERVATIVE, "CONSERVATIVE", "CONSERVATIVE" },
  { XP_ALIAS_ANALYSIS_FROM_SCHEMA, "FROM_SCHEMA", "FROM_SCHEMA" },
  { XP_ALIAS_ANALYSIS_PURE_FUNCTION, "PURE_FUNCTION", "PURE_FUNCTION" },
  { XP_ALIAS_ANALYSIS_INTERNAL_SPECIAL_CASE, "INTERNAL_SPECIAL_CASE", "INTERNAL_SPECIAL_CASE" },
};

START_TEST (every_kind_of_alias_analysis)
{
  GError *error = NULL;
  XpAliasAnalysis kind;
  xp_alias_analysis_parse (kinds[_i].text, &kind, &error);
  assert_no_error (error);
  ck_assert_int_eq (kind, kinds[_i].kind);
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = "kind(Tensor x) -> Tensor",
                                    .alias_analysis = kind,
                                    .file = "row.c",
                                    .line = 7 };
  g_autoptr (XpLibrary) block = fragment_new ("op");
  xp_library_def (block, &definition, &error);
  assert_no_error (error);
  g_autoptr (XpRowInfo) info = xp_table_row ("op::kind");
  ck_assert_int_eq (info->alias_analysis, kinds[_i].kind);
  ck_assert_str_eq (xp_alias_analysis_name (info->alias_analysis), kinds[_i].printed);
  g_autofree char *dump = xp_table_dump ("op::kind");
  g_autofree char *expected = g_strdup_printf (
      "name: op::kind\nschema: op::kind(Tensor x) -> Tensor\ndebug: registered at row.c:7\n"
      "alias analysis kind: %s\n",
      kinds[_i].printed);
  ck_assert_str_eq (dump, expected);
}
END_TEST

START_TEST (no_other_kind)
{
  GError *error = NULL;
  XpAliasAnalysis kind;
  static const char *const wrong[] = { "CONSERVATIVE (default)", "from_schema", "PURE" };
  for (unsigned i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      ck_assert (!xp_alias_analysis_parse (wrong[i], &kind, &error));
      ck_assert_int_eq (kind, XP_ALIAS_ANALYSIS_UNSET);
      assert_error (error, XP_ERROR_INVALID_ARGUMENT, "PURE_FUNCTION, INTERNAL_SPECIAL_CASE");
    }
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = "kind(Tensor x) -> Tensor",
                                    .alias_analysis = (XpAliasAnalysis) 5,
                                    .file = "row.c",
                                    .line = 7 };
  ck_assert (!xp_library_def (rows, &definition, &error));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "there is no kind 5 of alias analysis");
}
END_TEST

START_TEST (tags_are_read)
{
  define_tagged (rows, "tagged(Tensor x) -> Tensor", "pointwise mixed_devices");
  g_autoptr (XpRowInfo) tagged = xp_table_row ("op::tagged");
  g_autoptr (XpRowInfo) bare = xp_table_row ("op::foo");
  ck_assert_str_eq (tagged->tags, "pointwise mixed_devices");
  ck_assert (xp_row_info_has_tag (tagged, "pointwise"));
  ck_assert (xp_row_info_has_tag (tagged, "mixed_devices"));
  ck_assert (!xp_row_info_has_tag (tagged, "mixed"));
  ck_assert (!xp_row_info_has_tag (tagged, ""));
  ck_assert (!xp_row_info_has_tag (bare, "pointwise"));
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("queries");
  TCase *queries = tcase_create ("queries");
  tcase_add_checked_fixture (queries, set_up, tear_down);
  tcase_add_test (queries, which_rows_there_are);
  tcase_add_test (queries, what_is_registered);
  tcase_add_test (queries, what_is_passed_over);
  tcase_add_test (queries, which_fallbacks_there_are);
  tcase_add_test (queries, one_row_is_checked);
  tcase_add_loop_test (queries, every_kind_of_alias_analysis, 0, XP_LENGTH (kinds));
  tcase_add_test (queries, no_other_kind);
  tcase_add_test (queries, tags_are_read);
  suite_add_tcase (suite, queries);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
