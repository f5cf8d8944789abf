/* SPDX-License-Identifier: MIT
 *
 * fallbacks.c: kernels that serve every row which has nothing better: those of the core, which hide
 * and come back, and the program's own.
 */
#include "table/blocks.h"

static const char *const standard[] = {
  "BackendSelect", "ADInplaceOrView", "AutogradOther", "AutogradCPU",         "AutogradCUDA",
  "AutogradXLA",   "AutogradMPS",     "AutogradXPU",   "AutogradHPU",         "AutogradLazy",
  "AutogradMTIA",  "AutogradMAIA",    "AutogradMeta",  "AutogradPrivateUse1", "AutocastCPU",
  "AutocastMTIA",  "AutocastMAIA",    "AutocastXPU",   "AutocastIPU",         "AutocastHPU",
  "AutocastXLA",   "AutocastMPS",     "AutocastCUDA",  "AutocastPrivateUse1", "FuncTorchVmapMode",
  "VmapMode",
};

START_TEST (the_standard_ones_are_there)
{
  unsigned n;
  XpRegistrationInfo *infos = xp_table_fallbacks (&n);
  ck_assert_uint_eq (n, G_N_ELEMENTS (standard));
  for (unsigned i = 0; i < n; i++)
    {
      unsigned at = 0;
      while (at < n && strcmp (standard[at], xp_key_name (infos[i].key)) != 0)
        at++;
      ck_assert_msg (at < n, "%s", xp_key_name (infos[i].key));
      ck_assert_str_eq (infos[i].plugin, "core");
      ck_assert (infos[i].is_fallthrough && infos[i].is_active);
      ck_assert_int_eq (infos[i].priority, G_MININT);
      ck_assert_str_eq (infos[i].file, "core/table/standard_fallbacks.c");
      ck_assert (i == 0 || xp_key_compare (infos[i - 1].key, infos[i].key) < 0);
    }
  xp_registration_infos_free (infos, n);
}
END_TEST

/* Each place that the core names holds the registration. */
START_TEST (the_standard_ones_are_where_they_say)
{
  unsigned n;
  XpRegistrationInfo *infos = xp_table_fallbacks (&n);
  for (unsigned i = 0; i < n; i++)
    {
      char *contents;
      GError *error = NULL;
      g_file_get_contents (source_path (infos[i].file), &contents, NULL, &error);
      assert_no_error (error);
      g_auto (GStrv) lines = g_strsplit (contents, "\n", -1);
      g_free (contents);
      g_autofree char *expected = g_strdup_printf ("(%s)", xp_key_name (infos[i].key));
      ck_assert_int_gt ((int) g_strv_length (lines), infos[i].line);
      ck_assert_ptr_nonnull (strstr (lines[infos[i].line - 1], expected));
    }
  xp_registration_infos_free (infos, n);
}
END_TEST

START_TEST (one_of_the_program_hides_the_core_s)
{
  g_autoptr (XpLibrary) rows = fragment_new ("fb");
  g_autoptr (XpLibrary) cpu = impl_new ("fb", "CPU");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (cpu, "foo", 1);
  ck_assert_int_eq (line_called ("fb::foo", tensor), 1);
  g_autofree char *before = whole_table ();

  XpLibrary *fallback = impl_new ("_", "AutogradCPU");
  record_at (fallback, NULL, 2);
  ck_assert_int_eq (line_called ("fb::foo", tensor), 2);
  assert_table_is_sound ();
  g_autofree char *hidden = whole_table ();
  ck_assert_ptr_nonnull (
      strstr (hidden, "\nAutogradCPU: registered at kernel.c:2 [backend fallback]\n"));
  ck_assert_ptr_nonnull (strstr (hidden,
                                 "\nAutogradCPU: registered at kernel.c:2 of the program\n"
                                 "AutogradCPU: registered at core/table/standard_fallbacks.c:"));
  ck_assert_ptr_nonnull (strstr (hidden, " of core (inactive) fallthrough\n"));

  xp_library_free (fallback);
  ck_assert_int_eq (line_called ("fb::foo", tensor), 1);
  assert_text (whole_table (), before);
  assert_table_is_sound ();
}
END_TEST

/* It serves rows of every namespace, those to come too, wherever nothing better is. */
START_TEST (one_fallback_serves_every_row)
{
  g_autoptr (XpLibrary) rows = fragment_new ("fb");
  g_autoptr (XpLibrary) others = fragment_new ("fb2");
  g_autoptr (XpLibrary) cuda = impl_new ("fb", "CUDA");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  define (rows, "foo(Tensor x) -> Tensor");
  g_autoptr (XpLibrary) fallback = impl_new ("_", "CUDA");
  record_at (fallback, NULL, 5);
  define (rows, "bar(Tensor x) -> Tensor");
  define (others, "bar(Tensor x) -> Tensor");
  ck_assert_int_eq (line_called ("fb::foo", tensor), 5);
  ck_assert_int_eq (line_called ("fb::bar", tensor), 5);
  ck_assert_int_eq (line_called ("fb2::bar", tensor), 5);
  record_at (cuda, "bar", 6);
  ck_assert_int_eq (line_called ("fb::bar", tensor), 6);
  g_autoptr (XpLibrary) math = impl_new ("fb", NULL);
  record_at (math, "foo", 7);
  ck_assert_int_eq (line_called ("fb::foo", tensor), 7);
  assert_table_is_sound ();
}
END_TEST

/* On an alias key it stands for each key of the alias, below one on the key itself that is newer.
 */
START_TEST (a_fallback_on_an_alias_key)
{
  g_autoptr (XpLibrary) rows = fragment_new ("fb");
  define (rows, "foo(Tensor x) -> Tensor");
  g_autofree char *before = whole_table ();
  XpLibrary *alias = impl_new ("_", "Autograd");
  record_at (alias, NULL, 1);
  g_autoptr (XpTensor) on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  g_autoptr (XpTensor) on_hip = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_HIP);
  ck_assert_int_eq (line_called ("fb::foo", on_cpu), 1);
  ck_assert_int_eq (line_called ("fb::foo", on_hip), 1);
  XpLibrary *own = impl_new ("_", "AutogradCPU");
  record_at (own, NULL, 2);
  ck_assert_int_eq (line_called ("fb::foo", on_cpu), 2);
  ck_assert_int_eq (line_called ("fb::foo", on_hip), 1);
  assert_table_is_sound ();
  xp_library_free (alias);
  ck_assert_int_eq (line_called ("fb::foo", on_cpu), 2);
  xp_library_free (own);
  assert_text (whole_table (), before);
}
END_TEST

/* A backend gets its autograd key passed over with its name. */
START_TEST (a_named_backend_has_a_fallback)
{
  GError *error = NULL;
  XpBackend backend;
  xp_backend_register ("npu", &backend, &error);
  assert_no_error (error);
  xp_backend_register ("npu", &backend, &error);
  assert_no_error (error);
  unsigned n, found = 0;
  XpRegistrationInfo *infos = xp_table_fallbacks (&n);
  ck_assert_uint_eq (n, G_N_ELEMENTS (standard) + 1);
  for (unsigned i = 0; i < n; i++)
    found += strcmp (xp_key_name (infos[i].key), "Autogradnpu") == 0 && infos[i].is_fallthrough;
  ck_assert_uint_eq (found, 1);
  xp_registration_infos_free (infos, n);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("fallbacks");
  TCase *tests = tcase_create ("fallbacks");
  tcase_add_test (tests, the_standard_ones_are_there);
  tcase_add_test (tests, the_standard_ones_are_where_they_say);
  tcase_add_test (tests, one_of_the_program_hides_the_core_s);
  tcase_add_test (tests, one_fallback_serves_every_row);
  tcase_add_test (tests, a_fallback_on_an_alias_key);
  tcase_add_test (tests, a_named_backend_has_a_fallback);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
