/* SPDX-License-Identifier: MIT
 *
 * reports.c: what users of dispatchers have reported elsewhere, as tests: the empty cell, overrides
 * and their end, composites beside kernels, kernels that come before their row.
 */
#include "dispatch/cases.h"

static XpLibrary *
open_by (Open open, const char *key, int line)
{
  GError *error = NULL;
  XpLibrary *block = open (XP_LIBRARY_KIND_IMPL, "t", key, "block.c", 1, &error);
  assert_no_error (error);
  record_at (block, "f", line);
  return block;
}

static GString *warnings; /* kept where it is not NULL */

static GLogWriterOutput
keep_message (G_GNUC_UNUSED GLogLevelFlags level, const GLogField *fields, gsize n_fields,
              G_GNUC_UNUSED gpointer data)
{
  for (gsize i = 0; i < n_fields; i++)
    if (warnings != NULL && strcmp (fields[i].key, "MESSAGE") == 0)
      g_string_append_printf (warnings, "%s\n", (const char *) fields[i].value);
  return G_LOG_WRITER_HANDLED;
}

static XpLibrary *rows;

static void
set_up (void)
{
  g_log_set_writer_func (keep_message, NULL, NULL);
  rows = fragment_new ("t");
  define (rows, "f(Tensor x) -> ()");
}

static void
tear_down (void)
{
  assert_table_is_sound ();
  xp_library_free (rows);
}

static XpBackend
fake_backend (void)
{
  GError *error = NULL;
  XpBackend fake;
  xp_backend_register ("fake", &fake, &error);
  assert_no_error (error);
  return fake;
}

/* Reports, test 1. */
START_TEST (an_empty_cell_names_its_culprit)
{
  g_autoptr (XpLibrary) cpu = impl_new ("t", "CPU");
  g_autoptr (XpLibrary) meta = impl_new ("t", "Meta");
  record_at (cpu, "f", 1);
  record_at (meta, "f", 2);
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, fake_backend ());
  XpValue argument = xp_value_tensor (tensor);
  GError *error = NULL;
  ran = 0;
  ck_assert_int_eq (call_named ("t::f", &argument, &error), XP_FAILED);
  ck_assert_int_eq (ran, 0);
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (details->op, "t::f");
  ck_assert_str_eq (details->key, "fake");
  ck_assert_str_eq (details->argument, "x");
  ck_assert_ptr_nonnull (strstr (error->message, "argument 0 (x)"));
  assert_error (error, XP_ERROR_MISSING_KERNEL, "only available for these backends: [CPU, Meta].");
}
END_TEST

/* Reports, test 5: priorities decide, not the order, and the loser is listed. */
START_TEST (priority_decides_in_any_order)
{
  Open low = opener ("opener_middle"), high = opener ("opener_high");
  char *dumps[2];
  for (unsigned i = 0; i < 2; i++)
    {
      XpLibrary *first = i == 0 ? open_by (low, "CPU", 1) : open_by (high, "CPU", 2);
      XpLibrary *second = i == 0 ? open_by (high, "CPU", 2) : open_by (low, "CPU", 1);
      assert_runs ("t::f", XP_KEY_CPU, false, 2);
      dumps[i] = xp_table_dump ("t::f");
      g_autoptr (XpRowInfo) info = xp_table_row ("t::f");
      ck_assert_str_eq (info->registrations[0].plugin, "opener_high");
      ck_assert_str_eq (info->registrations[1].plugin, "opener_middle");
      ck_assert (!info->registrations[1].is_active);
      xp_library_free (first);
      xp_library_free (second);
    }
  ck_assert_str_eq (dumps[0], dumps[1]);
  ck_assert_ptr_nonnull (strstr (dumps[0], "\nCPU (inactive): registered at kernel.c:1 "));
  g_free (dumps[0]);
  g_free (dumps[1]);
}
END_TEST

/* Reports, test 5: a third of equal priority is refused, naming both. */
START_TEST (a_third_of_equal_priority_is_refused)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) high = open_by (opener ("opener_high"), "CPU", 1);
  g_autoptr (XpLibrary) middle = open_by (opener ("opener_middle"), "CPU", 2);
  xp_set_on_tie (XP_ON_TIE_ERROR, &error);
  assert_no_error (error);
  g_autofree char *before = whole_table ();
  g_autoptr (XpLibrary) third = impl_new ("t", "CPU");
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = "f",
                                            .boxed = recording_kernel,
                                            .file = "kernel.c",
                                            .line = 3 };
  ck_assert (!xp_library_impl (third, &implementation, &error));
  assert_error (
      error, XP_ERROR_PRIORITY_TIE,
      "opener_middle and the program both fill t::f [CPU], with the same priority, 0: "
      "registered at kernel.c:2 (opener_middle), registered at kernel.c:3 (the program).");
  assert_text (whole_table (), before);
  assert_runs ("t::f", XP_KEY_CPU, false, 1);
}
END_TEST

static XpLibrary *
fall_back_by (Open open, int line)
{
  GError *error = NULL;
  XpLibrary *block = open (XP_LIBRARY_KIND_IMPL, "_", "AutogradCPU", "block.c", 1, &error);
  assert_no_error (error);
  record_at (block, NULL, line);
  return block;
}

/* Of two plugins' fallbacks at equal priority the newest is active, with a warning, as of kernels;
 * another priority replaces nothing, and the core's own are there to be replaced. */
START_TEST (a_fallback_that_replaces_one_warns)
{
  Open middle = opener ("opener_middle"), high = opener ("opener_high");
  warnings = g_string_new (NULL);
  XpLibrary *first = fall_back_by (middle, 1), *higher = fall_back_by (high, 2);
  ck_assert_str_eq (warnings->str, "");
  xp_library_free (higher);
  XpLibrary *second = fall_back_by (xp_library_new, 3);
  ck_assert_str_eq (
      warnings->str,
      "Overriding a previously registered kernel for the same operator and the same dispatch key\n"
      "  operator: _ (a fallback)\n    no debug info\n  dispatch key: AutogradCPU\n"
      "  previous kernel: registered at kernel.c:1\n"
      "       new kernel: registered at kernel.c:3\n");
  assert_runs ("t::f", XP_KEY_CPU, true, 3);
  xp_library_free (second);
  assert_runs ("t::f", XP_KEY_CPU, true, 1);
  xp_library_free (first);
  g_string_free (g_steal_pointer (&warnings), TRUE);
}
END_TEST

/* Reports, test 6: overrides go in any order, and the next best takes over at once. */
START_TEST (overrides_are_taken_back)
{
  Open high = opener ("opener_high");
  g_autofree char *before = whole_table ();
  XpLibrary *base = impl_new ("t", "CPU");
  record_at (base, "f", 1);
  assert_runs ("t::f", XP_KEY_CPU, false, 1);
  XpLibrary *p = open_by (high, "CPU", 2);
  assert_runs ("t::f", XP_KEY_CPU, false, 2);
  XpLibrary *q = open_by (high, "CPU", 3);
  assert_runs ("t::f", XP_KEY_CPU, false, 3);
  xp_library_free (p);
  assert_runs ("t::f", XP_KEY_CPU, false, 3);
  p = open_by (high, "CPU", 2);
  assert_runs ("t::f", XP_KEY_CPU, false, 2);
  xp_library_free (p);
  assert_runs ("t::f", XP_KEY_CPU, false, 3);
  xp_library_free (q);
  assert_runs ("t::f", XP_KEY_CPU, false, 1);
  xp_library_free (base);
  assert_misses ("t::f", XP_KEY_CPU, false, "CPU");
  assert_text (whole_table (), before);
}
END_TEST

static void
change_preference (gboolean (*change) (const char *text, GError **error), const char *text)
{
  GError *error = NULL;
  change (text, &error);
  assert_no_error (error);
}

/* Reports, test 6, with preferences for what is there already. */
START_TEST (preferences_are_taken_back)
{
  XpLibrary *base = open_by (opener ("opener_high"), "CPU", 1);
  XpLibrary *p = open_by (opener ("opener_middle"), "CPU", 2);
  XpLibrary *q = open_by (opener ("opener_low"), "CPU", 3);
  g_autofree char *before = whole_table ();
  assert_runs ("t::f", XP_KEY_CPU, false, 1);
  change_preference (xp_prefer, "t::f@opener_middle");
  assert_runs ("t::f", XP_KEY_CPU, false, 2);
  change_preference (xp_prefer, "t::f@opener_low");
  assert_runs ("t::f", XP_KEY_CPU, false, 3);
  change_preference (xp_unprefer, "t::f@opener_middle");
  assert_runs ("t::f", XP_KEY_CPU, false, 3);
  change_preference (xp_prefer, "t::f@opener_middle");
  assert_runs ("t::f", XP_KEY_CPU, false, 2);
  change_preference (xp_unprefer, "t::f@opener_middle");
  assert_runs ("t::f", XP_KEY_CPU, false, 3);
  change_preference (xp_unprefer, "t::f@opener_low");
  assert_runs ("t::f", XP_KEY_CPU, false, 1);
  assert_text (whole_table (), before);
  GError *error = NULL;
  ck_assert (!xp_unprefer ("t::f@opener_low", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "t::f@opener_low is not preferred");
  xp_library_free (q);
  xp_library_free (p);
  xp_library_free (base);
  assert_misses ("t::f", XP_KEY_CPU, false, "CPU");
}
END_TEST

/* --- Reports, test 10: a composite, and then a kernel of the backend. --- */

static XpStatus
twice (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
       G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_int (2 * arguments[1].as.integer);
  return XP_OK;
}

static XpStatus
twice_twice (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  XpValue half[] = { arguments[0], XP_NONE };
  XpOperator *op = operator_named ("t::twice");
  XpStatus status = xp_operator_call (op, arguments, &half[1], error);
  return status == XP_OK ? xp_operator_call (op, half, results, error) : status;
}

static XpStatus
four_and_1000 (G_GNUC_UNUSED XpCall *call, const XpValue *arguments, XpValue *results,
               G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_int (4 * arguments[1].as.integer + 1000);
  return XP_OK;
}

static int64_t
call_h (XpBackend backend)
{
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, backend);
  XpValue arguments[] = { xp_value_tensor (tensor), xp_value_int (1) }, result;
  GError *error = NULL;
  xp_operator_call (operator_named ("t::h"), arguments, &result, &error);
  assert_no_error (error);
  return result.as.integer;
}

static void
assert_rules (XpBackend backend, XpRule dense, XpRule autograd)
{
  const XpKey keys[] = { xp_key_of (XP_FUNCTIONALITY_Dense, backend),
                         xp_key_of (XP_FUNCTIONALITY_AutogradFunctionality, backend) };
  g_autoptr (XpRowInfo) info = xp_table_row ("t::h");
  for (unsigned i = 0; i < info->n_cells; i++)
    for (unsigned j = 0; j < 2; j++)
      if (info->cells[i].key == keys[j])
        ck_assert_int_eq (info->cells[i].rule, j == 0 ? dense : autograd);
}

START_TEST (a_kernel_beside_a_composite)
{
  XpBackend fake = fake_backend ();
  define (rows, "twice(Tensor x, int n) -> int");
  define (rows, "h(Tensor x, int n) -> int");
  g_autoptr (XpLibrary) math = impl_new ("t", NULL);
  g_autoptr (XpLibrary) everywhere = impl_new ("t", "CompositeExplicitAutograd");
  g_autoptr (XpLibrary) cpu = impl_new ("t", "CPU");
  implement (everywhere, "twice", twice, 1);
  implement (math, "h", twice_twice, 2);
  assert_rules (XP_BACKEND_CPU, XP_RULE_MATH, XP_RULE_MATH);
  ck_assert_int_eq (call_h (XP_BACKEND_CPU), 4);
  implement (cpu, "h", four_and_1000, 3);
  assert_rules (XP_BACKEND_CPU, XP_RULE_KERNEL, XP_RULE_FALLBACK);
  assert_rules (fake, XP_RULE_MATH, XP_RULE_MATH);
  ck_assert_int_eq (call_h (XP_BACKEND_CPU), 1004);
  ck_assert_int_eq (call_h (fake), 4);
}
END_TEST

/* Reports, test 22: a kernel waits for its row; a row that it does not fit is refused. */
START_TEST (a_kernel_comes_before_its_row)
{
  GError *error = NULL;
  char *dumps[2];
  for (unsigned i = 0; i < 2; i++)
    {
      XpLibrary *late = NULL;
      if (i == 1)
        define (late = fragment_new ("t"), "late(Tensor x) -> ()");
      g_autoptr (XpLibrary) cpu = impl_new ("t", "CPU");
      implement_typed (cpu, "late", "(Tensor _0) -> ()", 1, &error);
      assert_no_error (error);
      if (i == 0)
        {
          g_auto (GStrv) pending = xp_table_dangling ();
          ck_assert_uint_eq (g_strv_length (pending), 1);
          ck_assert_str_eq (pending[0], "t::late");
          ck_assert_ptr_null (xp_operator_get ("t::late", &error));
          assert_error (error, XP_ERROR_NOT_DEFINED, "t::late");
          error = refused_def (rows, "late(Tensor x, int n) -> ()");
          ck_assert_str_eq (xp_error_get_details (error)->op, "t::late");
          assert_error (error, XP_ERROR_SCHEMA_MISMATCH, "kernel.c:1");
          unsigned n;
          XpPendingInfo *still = xp_table_pending (&n);
          ck_assert_uint_eq (n, 1);
          ck_assert_str_eq (still[0].name, "t::late");
          ck_assert_int_eq (still[0].key, XP_KEY_CPU);
          ck_assert_str_eq (still[0].plugin, "the program");
          ck_assert_str_eq (still[0].location, "registered at kernel.c:1");
          xp_pending_infos_free (still, n);
          define (late = fragment_new ("t"), "late(Tensor x) -> ()");
        }
      assert_runs ("t::late", XP_KEY_CPU, false, 1);
      g_auto (GStrv) none = xp_table_dangling ();
      ck_assert_uint_eq (g_strv_length (none), 0);
      unsigned n_pending;
      xp_pending_infos_free (xp_table_pending (&n_pending), 0);
      ck_assert_uint_eq (n_pending, 0);
      dumps[i] = xp_table_dump ("t::late");
      xp_library_free (late);
    }
  ck_assert_str_eq (dumps[0], dumps[1]);
  g_free (dumps[0]);
  g_free (dumps[1]);
}
END_TEST

/* As many arguments as there may be, the last of which decides. */
START_TEST (the_last_of_64_arguments_decides)
{
  GString *schema = g_string_new ("wide(");
  XpValue arguments[64] = { XP_NONE };
  for (unsigned i = 0; i < 64; i++)
    g_string_append_printf (schema, "%sTensor? a%u", i > 0 ? ", " : "", i);
  g_string_append (schema, ") -> ()");
  define (rows, schema->str);
  g_string_free (schema, TRUE);
  g_autoptr (XpLibrary) cuda = impl_new ("t", "CUDA");
  record_at (cuda, "wide", 1);
  g_autoptr (XpTensor) tensor = dummy (XP_KEY_CUDA, false);
  GError *error = NULL;
  for (unsigned at = 0; at < 64; at += 9)
    {
      arguments[at] = xp_value_tensor (tensor);
      ran = 0;
      call_named ("t::wide", arguments, &error);
      assert_no_error (error);
      ck_assert_int_eq (ran, 1);
      arguments[at] = XP_NONE;
    }
  g_autoptr (XpTensor) other = dummy (XP_KEY_SparseCUDA, false);
  arguments[63] = xp_value_tensor (other);
  ck_assert_int_eq (call_named ("t::wide", arguments, &error), XP_FAILED);
  ck_assert_str_eq (xp_error_get_details (error)->argument, "a63");
  assert_error (error, XP_ERROR_MISSING_KERNEL, "argument 63 (a63)");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("reports");
  TCase *tests = tcase_create ("reports");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, an_empty_cell_names_its_culprit);
  tcase_add_test (tests, priority_decides_in_any_order);
  tcase_add_test (tests, a_third_of_equal_priority_is_refused);
  tcase_add_test (tests, a_fallback_that_replaces_one_warns);
  tcase_add_test (tests, overrides_are_taken_back);
  tcase_add_test (tests, preferences_are_taken_back);
  tcase_add_test (tests, a_kernel_beside_a_composite);
  tcase_add_test (tests, a_kernel_comes_before_its_row);
  tcase_add_test (tests, the_last_of_64_arguments_decides);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
