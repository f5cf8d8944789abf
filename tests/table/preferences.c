/* SPDX-License-Identifier: MIT
 *
 * preferences.c: whose kernel is first: preferences in all their forms, taken back exactly; ties,
 * and what is said of them; the stack of a cell and what decided.
 */
#include "table/blocks.h"

static XpLibrary *rows;
static Open low, middle, high;
static XpTensor *on_cpu;

/* How many messages there were, and the last. */
static unsigned n_messages;
static char *last_message;

static GLogWriterOutput
keep_message (G_GNUC_UNUSED GLogLevelFlags level, const GLogField *fields, gsize n_fields,
              G_GNUC_UNUSED gpointer data)
{
  n_messages++;
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0)
      {
        g_free (last_message);
        last_message = g_strdup (fields[i].value);
      }
  return G_LOG_WRITER_HANDLED;
}

static void
set_up (void)
{
  g_log_set_writer_func (keep_message, NULL, NULL);
  low = opener ("opener_low");
  middle = opener ("opener_middle");
  high = opener ("opener_high");
  rows = fragment_new ("p");
  define (rows, "f(Tensor x) -> Tensor");
  define (rows, "g.over(Tensor x) -> Tensor");
  on_cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
}

static void
tear_down (void)
{
  assert_table_is_sound ();
  xp_tensor_unref (on_cpu);
  xp_library_free (rows);
}

static XpLibrary *
open_by (Open open, const char *name_space, const char *key, const char *name, int line)
{
  GError *error = NULL;
  XpLibrary *block = open (XP_LIBRARY_KIND_IMPL, name_space, key, "block.c", 1, &error);
  assert_no_error (error);
  record_at (block, name, line);
  return block;
}

static void
prefer (const char *text)
{
  GError *error = NULL;
  xp_prefer (text, &error);
  assert_no_error (error);
}

static void
unprefer (const char *text)
{
  GError *error = NULL;
  xp_unprefer (text, &error);
  assert_no_error (error);
}

/* --- Forms. --- */

/* What is preferred, and the kernel of p::f and p::g.over that is called then: 1 low, 2 middle, 3
 * high. */
static const struct
{
  const char *text;
  const char *full;
  int f;
  int g;
} forms[] = {
  { "opener_low", "*@opener_low", 1, 1 },
  { " opener_m* ", "*@opener_m*", 2, 2 },
  { "*@opener_l?w", "*@opener_l?w", 1, 1 },
  { "p::f@opener_low", "p::f@opener_low", 1, 3 },
  { "p::g@opener_low", "p::g@opener_low", 3, 1 },
  { "p::g.over@opener_low", "p::g.over@opener_low", 3, 1 },
  { "p::g.other@opener_low", "p::g.other@opener_low", 3, 3 },
  { "*::g*@opener_middle", "*::g*@opener_middle", 3, 2 },
  { "p::*@opener_low/CPU", "p::*@opener_low/CPU", 1, 1 },
  { "opener_low/CPU", "*@opener_low/CPU", 1, 1 },
  { "opener_low/CUDA", "*@opener_low/CUDA", 3, 3 },
  { "q::*@opener_low", "q::*@opener_low", 3, 3 },
  { "_@opener_low", "_@opener_low", 3, 3 },
  { "not_loaded", "*@not_loaded", 3, 3 },
};

START_TEST (forms_of_a_preference)
{
  g_autoptr (XpLibrary) a = open_by (low, "p", "CPU", "f", 1);
  g_autoptr (XpLibrary) b = open_by (middle, "p", "CPU", "f", 2);
  g_autoptr (XpLibrary) c = open_by (high, "p", "CPU", "f", 3);
  record_at (a, "g.over", 1);
  record_at (b, "g.over", 2);
  record_at (c, "g.over", 3);
  g_autofree char *before = whole_table ();
  GError *error = NULL;
  g_autofree char *full = xp_preference_in_full (forms[_i].text, &error);
  ck_assert_str_eq (full, forms[_i].full);
  uint64_t generation = xp_table_generation ();
  prefer (forms[_i].text);
  ck_assert_uint_eq (xp_table_generation (), generation + 1);
  ck_assert_int_eq (line_called ("p::f", on_cpu), forms[_i].f);
  ck_assert_int_eq (line_called ("p::g.over", on_cpu), forms[_i].g);
  assert_table_is_sound ();
  unsigned n;
  XpPreference *all = xp_preferences (&n);
  ck_assert_uint_eq (n, 1);
  ck_assert_str_eq (all[0].text, forms[_i].full);
  ck_assert_str_eq (all[0].source, "program");
  unsigned expected = (forms[_i].f != 3) + (forms[_i].g != 3);
  ck_assert_uint_ge (all[0].n_kernels, expected);
  ck_assert (expected > 0 || all[0].n_kernels == 0);
  xp_preferences_free (all, n);
  unprefer (forms[_i].full);
  assert_text (whole_table (), before);
}
END_TEST

static const struct
{
  const char *text;
  const char *part;
} mistakes[] = {
  { "", "there is no plugin" },
  { "p::f@", "there is no plugin" },
  { "@cpu", "no operator before the @" },
  { "p::f@a@b", "more than one @" },
  { "mm@cpu", "no namespace" },
  { "cpu/", "no key behind the /" },
  { "cpu/CPU/CUDA", "is no key" },
  { "cpu/C*", "is no key" },
  { "a,b", "more than one" },
  { "a\nb", "more than one" },
  { "\xff", "not UTF-8" },
};

START_TEST (what_is_no_preference)
{
  GError *error = NULL;
  const char *text = mistakes[_i].text;
  ck_assert (!xp_prefer (text, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, mistakes[_i].part);
  ck_assert (!xp_unprefer (text, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, mistakes[_i].part);
  ck_assert (!xp_thread_prefer (text, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, mistakes[_i].part);
  ck_assert_ptr_null (xp_preference_in_full (text, NULL));
}
END_TEST

START_TEST (a_text_that_is_too_long)
{
  GError *error = NULL;
  g_autofree char *text = g_strnfill (2000, 'a');
  ck_assert (!xp_prefer (text, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "too long");
}
END_TEST

/* --- The list. --- */

/* The first that matches counts, in every order of coming and going. */
START_TEST (a_list_of_preferences)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) a = open_by (low, "p", "CPU", "f", 1);
  g_autoptr (XpLibrary) c = open_by (high, "p", "CPU", "f", 3);
  prefer ("opener_middle");
  prefer ("opener_low");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 1);
  prefer ("p::f@opener_high");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 3);
  /* What is preferred may come later. */
  g_autoptr (XpLibrary) b = open_by (middle, "p", "CPU", "f", 2);
  ck_assert_int_eq (line_called ("p::f", on_cpu), 3);
  unprefer ("p::f@opener_high");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 1);
  unprefer ("opener_low");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 2);
  /* The same twice is taken back twice. */
  prefer ("opener_low");
  prefer ("opener_low");
  unprefer ("opener_low");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 1);
  unprefer ("opener_low");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 2);
  ck_assert (!xp_unprefer ("opener_low", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "preferred: *@opener_middle");
  unprefer ("opener_middle");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 3);
  ck_assert (!xp_unprefer ("opener_low", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "preferred: nothing");
}
END_TEST

/* A preference chooses within a key: a direct kernel stays before an alias. */
START_TEST (preferences_choose_within_a_key)
{
  g_autoptr (XpLibrary) direct = open_by (high, "p", "CPU", "f", 1);
  g_autoptr (XpLibrary) composite = open_by (low, "p", "CompositeExplicitAutograd", "f", 2);
  g_autoptr (XpLibrary) other = open_by (middle, "p", "CompositeExplicitAutograd", "f", 3);
  g_autoptr (XpTensor) on_cuda = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CUDA);
  ck_assert_int_eq (line_called ("p::f", on_cuda), 3);
  prefer ("opener_low/CompositeExplicitAutograd");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 1);
  ck_assert_int_eq (line_called ("p::f", on_cuda), 2);
  unprefer ("opener_low/CompositeExplicitAutograd");
  ck_assert_int_eq (line_called ("p::f", on_cuda), 3);
}
END_TEST

/* Fallbacks have the operator `_`; the core's own can be preferred as well. */
START_TEST (fallbacks_are_ranked_too)
{
  XpTensor *tensor = tensor_of (XP_FUNCTIONALITY_AutogradFunctionality, XP_BACKEND_CPU);
  g_autoptr (XpLibrary) kernel = open_by (high, "p", "CPU", "f", 9);
  g_autoptr (XpLibrary) a = open_by (low, "_", "AutogradCPU", NULL, 1);
  g_autoptr (XpLibrary) c = open_by (high, "_", "Autograd", NULL, 3);
  g_autofree char *before = whole_table ();
  ck_assert_int_eq (line_called ("p::f", tensor), 3);
  prefer ("_@opener_low");
  ck_assert_int_eq (line_called ("p::f", tensor), 1);
  prefer ("p::*@opener_high");
  ck_assert_int_eq (line_called ("p::f", tensor), 1);
  prefer ("core/AutogradCPU");
  tensor->keys = xp_key_set_add (tensor->keys, XP_KEY_CPU);
  ck_assert_int_eq (line_called ("p::f", tensor), 9);
  unprefer ("core/AutogradCPU");
  unprefer ("p::*@opener_high");
  unprefer ("_@opener_low");
  assert_text (whole_table (), before);
  xp_tensor_unref (tensor);
}
END_TEST

/* A key that no device has yet. */
START_TEST (a_key_that_comes_later)
{
  GError *error = NULL;
  XpBackend npu;
  prefer ("opener_low/npu");
  xp_backend_register ("npu", &npu, &error);
  assert_no_error (error);
  g_autoptr (XpLibrary) a = open_by (low, "p", "npu", "f", 1);
  g_autoptr (XpLibrary) c = open_by (high, "p", "npu", "f", 3);
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, npu);
  ck_assert_int_eq (line_called ("p::f", tensor), 1);
  unprefer ("opener_low/npu");
  ck_assert_int_eq (line_called ("p::f", tensor), 3);
}
END_TEST

/* --- Ties. --- */

static void
set_on_tie (XpOnTie policy)
{
  GError *error = NULL;
  xp_set_on_tie (policy, &error);
  assert_no_error (error);
  ck_assert_int_eq (xp_on_tie (), policy);
}

static void
implement_refused (XpLibrary *block, const char *name, int line, const char *first,
                   const char *second)
{
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = name,
                                            .boxed = recording_kernel,
                                            .file = "kernel.c",
                                            .line = line };
  ck_assert (!xp_library_impl (block, &implementation, &error));
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_ptr_nonnull (details);
  ck_assert_str_eq (details->plugin, "the program");
  ck_assert_str_eq (details->candidates[0], "opener_middle");
  ck_assert_str_eq (details->candidates[1], "the program");
  ck_assert_ptr_nonnull (strstr (error->message, first));
  assert_error (error, XP_ERROR_PRIORITY_TIE, second);
}

START_TEST (a_tie_is_refused)
{
  XP_BELOW_AUTOGRAD ();
  set_on_tie (XP_ON_TIE_ERROR);
  g_autoptr (XpLibrary) first = open_by (middle, "p", "CPU", "f", 1);
  g_autoptr (XpLibrary) fallback = open_by (middle, "_", "AutogradCPU", NULL, 2);
  g_autoptr (XpLibrary) everywhere = open_by (middle, "_", "Autograd", NULL, 3);
  g_autoptr (XpLibrary) own = impl_new ("p", "CPU");
  g_autoptr (XpLibrary) own_fallback = impl_new ("_", "AutogradCUDA");
  g_autoptr (XpLibrary) own_alias = impl_new (
      "_", "CompositeImplicitAutograd"); /* meets Autograd at every autograd key */
  g_autofree char *before = whole_table ();
  implement_refused (
      own, "f", 4,
      "p::f [CPU], with the same priority, 0: registered at kernel.c:1 (opener_middle)",
      "registered at kernel.c:4 (the program)");
  implement_refused (own_fallback, NULL, 5, "kernel.c:3 (opener_middle)",
                     "kernel.c:5 (the program)");
  implement_refused (own_alias, NULL, 6, "kernel.c:", "kernel.c:6 (the program)");
  assert_text (whole_table (), before);
  ck_assert_int_eq (line_called ("p::f", on_cpu), 1);

  /* One plugin may register twice, another priority is no tie, and a preference makes it none. */
  record_at (first, "f", 7);
  g_autoptr (XpLibrary) third = open_by (high, "p", "CPU", "f", 8);
  ck_assert_int_eq (line_called ("p::f", on_cpu), 8);
  prefer ("p::f@the program");
  record_at (own, "f", 9);
  ck_assert_int_eq (line_called ("p::f", on_cpu), 9);
}
END_TEST

/* Neither the policy nor a preference may go where a tie would be left. */
START_TEST (a_tie_that_was_settled_stays_settled)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) first = open_by (middle, "p", "CPU", "f", 1);
  g_autoptr (XpLibrary) second = impl_new ("p", "CPU");
  record_at (second, "f", 2);
  ck_assert (!xp_set_on_tie (XP_ON_TIE_ERROR, &error));
  assert_error (error, XP_ERROR_PRIORITY_TIE, "opener_middle and the program both fill p::f [CPU]");
  ck_assert_int_eq (xp_on_tie (), XP_ON_TIE_NEWEST);
  prefer ("opener_middle");
  set_on_tie (XP_ON_TIE_ERROR);
  g_autofree char *before = whole_table ();
  ck_assert (!xp_unprefer ("opener_middle", &error));
  assert_error (error, XP_ERROR_PRIORITY_TIE, "p::f [CPU]");
  ck_assert (!xp_prefer ("p::*@*", &error));
  assert_error (error, XP_ERROR_PRIORITY_TIE, "p::f [CPU]");
  assert_text (whole_table (), before);
  ck_assert_int_eq (line_called ("p::f", on_cpu), 1);
  unsigned n;
  XpPreference *all = xp_preferences (&n);
  ck_assert_uint_eq (n, 1);
  ck_assert_str_eq (all[0].text, "*@opener_middle");
  xp_preferences_free (all, n);
  assert_table_is_sound ();
  set_on_tie (XP_ON_TIE_NEWEST);
  unprefer ("opener_middle");
  ck_assert_int_eq (line_called ("p::f", on_cpu), 2);
}
END_TEST

/* Once for a cell and a pair of plugins, whoever comes and goes; and not where a preference
 * decides. */
START_TEST (an_override_is_told_once)
{
  g_autoptr (XpLibrary) first = open_by (middle, "p", "CPU", "f", 1);
  for (unsigned i = 0; i < 3; i++)
    {
      g_autoptr (XpLibrary) second = open_by (xp_library_new, "p", "CPU", "f", 2);
      ck_assert_uint_eq (n_messages, 1);
    }
  ck_assert_ptr_nonnull (strstr (last_message, "previous kernel: registered at kernel.c:1\n"));
  g_autoptr (XpLibrary) more = open_by (xp_library_new, "p", "CPU", "g.over", 3);
  ck_assert_uint_eq (n_messages, 1);
  record_at (first, "g.over", 4);
  ck_assert_uint_eq (n_messages, 2);
  ck_assert_ptr_nonnull (strstr (last_message, "previous kernel: registered at kernel.c:3\n"));
  prefer ("opener_middle");
  g_autoptr (XpLibrary) cuda = open_by (middle, "p", "CUDA", "f", 5);
  g_autoptr (XpLibrary) own_cuda = open_by (xp_library_new, "p", "CUDA", "f", 6);
  ck_assert_uint_eq (n_messages, 2);
}
END_TEST

/* --- The stack of a cell. --- */

static void
assert_cell (const char *name, XpKey key, const char *plugins, const char *reason)
{
  GError *error = NULL;
  g_autoptr (XpCellStack) stack = xp_table_cell (name, key, &error);
  assert_no_error (error);
  g_autoptr (GString) found = g_string_new (NULL);
  for (unsigned i = 0; i < stack->n_candidates; i++)
    {
      g_string_append_printf (found, "%s%s", i > 0 ? " " : "", stack->candidates[i].plugin);
      bool is_first = i == 0 && stack->rule != XP_RULE_AMBIGUOUS;
      ck_assert (stack->candidates[i].is_active == is_first);
    }
  ck_assert_str_eq (found->str, plugins);
  ck_assert_str_eq (stack->reason, reason);
}

START_TEST (what_decided)
{
  GError *error = NULL;
  assert_cell ("p::f", XP_KEY_CPU, "", "missing");
  g_autoptr (XpLibrary) a = open_by (low, "p", "CPU", "f", 1);
  assert_cell ("p::f", XP_KEY_CPU, "opener_low", "only one");
  g_autoptr (XpLibrary) c = open_by (high, "p", "CPU", "f", 3);
  assert_cell ("p::f", XP_KEY_CPU, "opener_high opener_low", "priority 7 over -3");
  prefer ("p::f@opener_low");
  assert_cell ("p::f", XP_KEY_CPU, "opener_low opener_high", "preference p::f@opener_low");
  g_autoptr (XpCellStack) stack = xp_table_cell ("p::f", XP_KEY_CPU, &error);
  ck_assert_str_eq (stack->candidates[0].preference, "p::f@opener_low");
  ck_assert_ptr_null (stack->candidates[1].preference);
  ck_assert_str_eq (stack->candidates[0].location, "registered at kernel.c:1");
  unprefer ("p::f@opener_low");
  record_at (c, "f", 4);
  assert_cell ("p::f", XP_KEY_CPU, "opener_high opener_high opener_low", "newest");

  g_autoptr (XpLibrary) meta = open_by (low, "p", "Meta", "f", 5);
  g_autoptr (XpLibrary) composite = open_by (middle, "p", "CompositeImplicitAutograd", "f", 6);
  assert_cell ("p::f", XP_KEY_Meta, "opener_low opener_middle",
               "direct kernel over alias CompositeImplicitAutograd");
  assert_cell ("p::f", XP_KEY_CUDA, "opener_middle", "only one");
  g_autoptr (XpLibrary) fallback = open_by (high, "_", "CUDA", NULL, 7);
  assert_cell ("p::f", XP_KEY_CUDA, "opener_middle opener_high",
               "alias CompositeImplicitAutograd over fallback");
  assert_cell ("p::g.over", XP_KEY_CUDA, "opener_high", "fallback");
  g_autoptr (XpLibrary) autograd = open_by (high, "_", "AutogradXLA", NULL, 8);
  assert_cell ("p::g.over", XP_KEY_AutogradXLA, "opener_high core",
               "fallback, priority 7 over the lowest");
  g_autoptr (XpLibrary) fpga = open_by (high, "p", "FPGA", "f", 9);
  assert_cell ("p::f", XP_KEY_AutogradOther, "core", "ambiguous autogradother");

  ck_assert_ptr_null (xp_table_cell ("p::f", XP_KEY_Autograd, &error));
  assert_error (error, XP_ERROR_ALIAS_KEY, "Autograd has no cell");
  ck_assert_ptr_null (xp_table_cell ("p::none", XP_KEY_CPU, &error));
  assert_error (error, XP_ERROR_UNKNOWN_OPERATOR, "p::none");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("preferences");
  TCase *tests = tcase_create ("preferences");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_loop_test (tests, forms_of_a_preference, 0, G_N_ELEMENTS (forms));
  tcase_add_loop_test (tests, what_is_no_preference, 0, G_N_ELEMENTS (mistakes));
  tcase_add_test (tests, a_text_that_is_too_long);
  tcase_add_test (tests, a_list_of_preferences);
  tcase_add_test (tests, preferences_choose_within_a_key);
  tcase_add_test (tests, fallbacks_are_ranked_too);
  tcase_add_test (tests, a_key_that_comes_later);
  tcase_add_test (tests, a_tie_is_refused);
  tcase_add_test (tests, a_tie_that_was_settled_stays_settled);
  tcase_add_test (tests, an_override_is_told_once);
  tcase_add_test (tests, what_decided);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
