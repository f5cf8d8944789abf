/* SPDX-License-Identifier: MIT
 *
 * texts.c: rows as text, literally: dumps (reference 4.1) and computed tables (4.2).
 */
#include "table/blocks.h"

/* A kernel for "/dev/null:LINE", as the examples of the reference have it. */
static void
implement_null (XpLibrary *block, const char *name, XpBoxedFunction boxed, XpTypedFunction typed,
                const char *signature, int line)
{
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = name,
                                            .boxed = boxed,
                                            .typed = typed,
                                            .signature = signature,
                                            .file = "/dev/null",
                                            .line = line };
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
}

static void
define_null (XpLibrary *block, const char *schema, XpAliasAnalysis kind)
{
  GError *error = NULL;
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = schema,
                                    .alias_analysis = kind,
                                    .file = "/dev/null",
                                    .line = 0 };
  xp_library_def (block, &definition, &error);
  assert_no_error (error);
}

#define IDENTITY "(Tensor _0) -> Tensor _0"
#define TYPED ((XpTypedFunction) recording_kernel)

START_TEST (three_kernels_on_one_key)
{
  g_autoptr (XpLibrary) rows = fragment_new ("ee");
  define_null (rows, "foo(Tensor x) -> Tensor", XP_ALIAS_ANALYSIS_FROM_SCHEMA);
  g_autoptr (XpLibrary) one = impl_new ("ee", "CPU");
  g_autoptr (XpLibrary) two = impl_new ("ee", "CPU");
  g_autoptr (XpLibrary) three = impl_new ("ee", "CPU");
  implement_null (one, "foo", recording_kernel, TYPED, IDENTITY, 1);
  implement_null (two, "foo", recording_kernel, TYPED, IDENTITY, 2);
  implement_null (three, "foo", recording_kernel, TYPED, IDENTITY, 3);
  assert_text (xp_table_dump ("ee::foo"),
               "name: ee::foo\n"
               "schema: ee::foo(Tensor x) -> Tensor\n"
               "debug: registered at /dev/null:0\n"
               "alias analysis kind: FROM_SCHEMA\n"
               "CPU: registered at /dev/null:3 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
               "CPU (inactive): registered at /dev/null:2 :: (Tensor _0) -> Tensor _0 "
               "[ boxed unboxed ]\n"
               "CPU (inactive): registered at /dev/null:1 :: (Tensor _0) -> Tensor _0 "
               "[ boxed unboxed ]\n");

  /* The middle one leaves, then the active one. */
  g_clear_pointer (&two, xp_library_free);
  assert_text (xp_table_dump ("ee::foo"),
               "name: ee::foo\n"
               "schema: ee::foo(Tensor x) -> Tensor\n"
               "debug: registered at /dev/null:0\n"
               "alias analysis kind: FROM_SCHEMA\n"
               "CPU: registered at /dev/null:3 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n"
               "CPU (inactive): registered at /dev/null:1 :: (Tensor _0) -> Tensor _0 "
               "[ boxed unboxed ]\n");
  g_clear_pointer (&three, xp_library_free);
  assert_text (xp_table_dump ("ee::foo"),
               "name: ee::foo\n"
               "schema: ee::foo(Tensor x) -> Tensor\n"
               "debug: registered at /dev/null:0\n"
               "alias analysis kind: FROM_SCHEMA\n"
               "CPU: registered at /dev/null:1 :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n");
}
END_TEST

START_TEST (a_row_without_kernels)
{
  g_autoptr (XpLibrary) rows = block_new (XP_LIBRARY_KIND_DEF, "ee", NULL);
  define_null (rows, "ee::foo.bar(Tensor self, int[2] s=1) -> (Tensor, Tensor)",
               XP_ALIAS_ANALYSIS_FROM_SCHEMA);
  assert_text (xp_table_dump ("ee::foo.bar"),
               "name: ee::foo.bar\n"
               "schema: ee::foo.bar(Tensor self, int[2] s=1) -> (Tensor, Tensor)\n"
               "debug: registered at /dev/null:0\n"
               "alias analysis kind: FROM_SCHEMA\n");
}
END_TEST

START_TEST (kernels_without_a_row)
{
  g_autoptr (XpLibrary) cpu = impl_new ("ee", "CPU");
  g_autoptr (XpLibrary) catch_all = impl_new ("ee", NULL);
  implement_null (cpu, "foo", recording_kernel, NULL, NULL, 26);
  implement_null (catch_all, "foo", recording_kernel, TYPED, "() -> ()", 5);
  assert_text (xp_table_dump ("ee::foo"),
               "name: ee::foo\n"
               "schema: (none)\n"
               "CPU: registered at /dev/null:26 :: (none) [ boxed ]\n"
               "CompositeImplicitAutograd[alias]: registered at /dev/null:5 :: () -> () "
               "[ boxed unboxed ]\n");
}
END_TEST

START_TEST (names_that_are_not_there)
{
  assert_text (xp_table_dump ("ee::foo"), "");
  assert_text (xp_table_dump_computed ("ee::foo"), "");
  assert_text (xp_table_dump (""), "");

  /* Nor are those that were. */
  XpLibrary *rows = fragment_new ("ee");
  define (rows, "foo(Tensor x) -> Tensor");
  xp_library_free (rows);
  assert_text (xp_table_dump ("ee::foo"), "");
  assert_text (xp_table_dump_computed ("ee::foo"), "");
}
END_TEST

START_TEST (fallthrough_and_order_of_keys)
{
  static const char *const keys[] = {
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "FuncTorchBatchedDecomposition",
    "CompositeImplicitAutograd",
    "Autograd",
    "AutogradMeta",
    "AutogradCPU",
    "NestedTensorCPU",
    "SparseCsrCUDA",
    "SparseCPU",
    "QuantizedMeta",
    "Meta",
    "PrivateUse3",
    "CPU",
    "PythonDispatcher",
    "AutocastCPU",
    "AutogradNestedTensor",
    "AutogradOther",
    "Named",
    "BackendSelect",
    "MkldnnCPU",
    "FPGA",
  };
  XpLibrary *blocks[G_N_ELEMENTS (keys)];
  for (unsigned i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      blocks[i] = impl_new ("ee", keys[i]);
      implement_null (blocks[i], "foo", i == 19 ? xp_fallthrough : recording_kernel, NULL, NULL,
                      (int) i);
    }
  assert_text (
      xp_table_dump ("ee::foo"),
      "name: ee::foo\n"
      "schema: (none)\n"
      "FPGA: registered at /dev/null:22 :: (none) [ boxed ]\n"
      "MkldnnCPU: registered at /dev/null:21 :: (none) [ boxed ]\n"
      "BackendSelect: registered at /dev/null:20 :: (none) [ boxed ]\n"
      "Named: registered at /dev/null:19 :: (none) [ fallthrough boxed ]\n"
      "AutogradOther: registered at /dev/null:18 :: (none) [ boxed ]\n"
      "AutogradNestedTensor: registered at /dev/null:17 :: (none) [ boxed ]\n"
      "AutocastCPU: registered at /dev/null:16 :: (none) [ boxed ]\n"
      "PythonDispatcher: registered at /dev/null:15 :: (none) [ boxed ]\n"
      "CPU: registered at /dev/null:14 :: (none) [ boxed ]\n"
      "PrivateUse3: registered at /dev/null:13 :: (none) [ boxed ]\n"
      "Meta: registered at /dev/null:12 :: (none) [ boxed ]\n"
      "QuantizedMeta: registered at /dev/null:11 :: (none) [ boxed ]\n"
      "SparseCPU: registered at /dev/null:10 :: (none) [ boxed ]\n"
      "SparseCsrCUDA: registered at /dev/null:9 :: (none) [ boxed ]\n"
      "NestedTensorCPU: registered at /dev/null:8 :: (none) [ boxed ]\n"
      "AutogradCPU: registered at /dev/null:7 :: (none) [ boxed ]\n"
      "AutogradMeta: registered at /dev/null:6 :: (none) [ boxed ]\n"
      "Autograd[alias]: registered at /dev/null:5 :: (none) [ boxed ]\n"
      "CompositeImplicitAutograd[alias]: registered at /dev/null:4 :: (none) [ boxed ]\n"
      "FuncTorchBatchedDecomposition[alias]: registered at /dev/null:3 :: (none) [ boxed ]\n"
      "CompositeImplicitAutogradNestedTensor[alias]: registered at /dev/null:2 :: (none) "
      "[ boxed ]\n"
      "CompositeExplicitAutograd[alias]: registered at /dev/null:1 :: (none) [ boxed ]\n"
      "CompositeExplicitAutogradNonFunctional[alias]: registered at /dev/null:0 :: (none) "
      "[ boxed ]\n");
  for (unsigned i = 0; i < G_N_ELEMENTS (keys); i++)
    xp_library_free (blocks[i]);
}
END_TEST

START_TEST (inactive_aliases)
{
  g_autoptr (XpLibrary) first = impl_new ("ee", NULL);
  g_autoptr (XpLibrary) second = impl_new ("ee", "CompositeImplicitAutograd");
  implement_null (first, "foo", recording_kernel, NULL, NULL, 1);
  implement_null (second, "foo", recording_kernel, NULL, NULL, 2);
  assert_text (xp_table_dump ("ee::foo"),
               "name: ee::foo\n"
               "schema: (none)\n"
               "CompositeImplicitAutograd[alias]: registered at /dev/null:2 :: (none) [ boxed ]\n"
               "CompositeImplicitAutograd[alias] (inactive): registered at /dev/null:1 :: (none) "
               "[ boxed ]\n");
}
END_TEST

START_TEST (kinds_of_alias_analysis)
{
  static const struct
  {
    XpAliasAnalysis kind;
    const char *text;
  } cases[] = {
    { XP_ALIAS_ANALYSIS_UNSET, "CONSERVATIVE (default)" },
    { XP_ALIAS_ANALYSIS_CONSERVATIVE, "CONSERVATIVE" },
    { XP_ALIAS_ANALYSIS_FROM_SCHEMA, "FROM_SCHEMA" },
    { XP_ALIAS_ANALYSIS_PURE_FUNCTION, "PURE_FUNCTION" },
    { XP_ALIAS_ANALYSIS_INTERNAL_SPECIAL_CASE, "INTERNAL_SPECIAL_CASE" },
  };
  g_autoptr (XpLibrary) rows = fragment_new ("ee");
  define_null (rows, "foo(Tensor x) -> Tensor", cases[_i].kind);
  g_autofree char *expected = g_strdup_printf ("name: ee::foo\n"
                                               "schema: ee::foo(Tensor x) -> Tensor\n"
                                               "debug: registered at /dev/null:0\n"
                                               "alias analysis kind: %s\n",
                                               cases[_i].text);
  assert_text (xp_table_dump ("ee::foo"), expected);
}
END_TEST

/* A computed table without the lines of the core's fallbacks, whose place moves. */
static char *
without_fallbacks (char *text)
{
  GString *kept = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (unsigned i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0' && strstr (lines[i], "[backend fallback]") == NULL)
      g_string_append_printf (kept, "%s\n", lines[i]);
  g_free (text);
  return g_string_free (kept, FALSE);
}

START_TEST (computed_cells_stand_in_set_order)
{
  g_autoptr (XpLibrary) rows = fragment_new ("ee");
  g_autoptr (XpLibrary) nested = impl_new ("ee", "CompositeImplicitAutogradNestedTensor");
  g_autoptr (XpLibrary) sparse = impl_new ("ee", "SparseCPU");
  g_autoptr (XpLibrary) autograd = impl_new ("ee", "AutogradMeta");
  g_autoptr (XpLibrary) meta = impl_new ("ee", "Meta");
  g_autoptr (XpLibrary) cpu = impl_new ("ee", "CPU");
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (sparse, "foo", 2);
  record_at (autograd, "foo", 3);
  record_at (meta, "foo", 4);
  record_at (cpu, "foo", 5);
  assert_text (without_fallbacks (xp_table_dump_computed ("ee::foo")),
               "CPU: registered at kernel.c:5 [kernel]\n"
               "Meta: registered at kernel.c:4 [kernel]\n"
               "SparseCPU: registered at kernel.c:2 [kernel]\n"
               "AutogradMeta: registered at kernel.c:3 [kernel]\n");
}
END_TEST

START_TEST (every_label)
{
  g_autoptr (XpLibrary) rows = fragment_new ("ee");
  g_autoptr (XpLibrary) fpga = impl_new ("ee", "FPGA");
  g_autoptr (XpLibrary) math = impl_new ("ee", NULL);
  g_autoptr (XpLibrary) autograd = impl_new ("ee", "Autograd");
  g_autoptr (XpLibrary) nested = impl_new ("ee", "CompositeImplicitAutogradNestedTensor");
  g_autoptr (XpLibrary) batched = impl_new ("ee", "FuncTorchBatchedDecomposition");
  g_autoptr (XpLibrary) cpu = impl_new ("ee", "CPU");
  g_autoptr (XpLibrary) named = impl_new ("ee", "Named");
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (fpga, "foo", 1);
  record_at (math, "foo", 2);
  record_at (autograd, "foo", 3);
  record_at (nested, "foo", 4);
  record_at (batched, "foo", 5);
  record_at (cpu, "foo", 6);
  implement (named, "foo", xp_fallthrough, 7);
  static const char *const lines[] = {
    "Undefined: registered at kernel.c:2 [math kernel]\n",
    "\nCPU: registered at kernel.c:6 [kernel]\n",
    "\nCUDA: registered at kernel.c:2 [math kernel]\n",
    "\nFPGA: registered at kernel.c:1 [kernel]\n",
    "\nNestedTensorCPU: registered at kernel.c:4 [nested kernel]\n",
    "\nNamed: fallthrough registered at kernel.c:7 [kernel]\n",
    "\nBackendSelect: fallthrough registered at core/table/standard_fallbacks.c:",
    "\nAutogradOther: ambiguous_autogradother [ambiguous autogradother]\n",
    "\nAutogradCPU: registered at kernel.c:3 [autograd kernel]\n",
    "\nAutogradNestedTensor: registered at kernel.c:4 [nested kernel]\n",
    "\nFuncTorchBatched: registered at kernel.c:5 [batched kernel]\n",
  };
  g_autofree char *text = xp_table_dump_computed ("ee::foo");
  for (unsigned i = 0; i < G_N_ELEMENTS (lines); i++)
    ck_assert_msg (strstr (text, lines[i]) != NULL, "'%s' is not in:\n%s", lines[i], text);
  ck_assert_msg (g_str_has_prefix (text, "Undefined: "), "%s", text);

  g_autoptr (XpLibrary) explicit_ = impl_new ("ee", "CompositeExplicitAutograd");
  record_at (explicit_, "foo", 8);
  g_free (text);
  text = xp_table_dump_computed ("ee::foo");
  ck_assert_ptr_nonnull (strstr (text, "Undefined: registered at kernel.c:8 "
                                       "[default backend kernel]\n"));
  for (int rule = 0; rule < XP_N_RULES; rule++)
    ck_assert_str_ne (xp_rule_label ((XpRule) rule), "unknown");
  ck_assert_str_eq (xp_rule_label (XP_N_RULES), "unknown");
}
END_TEST

START_TEST (a_snapshot_is_what_the_texts_say)
{
  g_autoptr (XpLibrary) rows = fragment_new ("ee");
  g_autoptr (XpLibrary) cpu = impl_new ("ee", "CPU");
  define_tagged (rows, "foo(Tensor x) -> Tensor", "pointwise mixed_devices");
  record_at (cpu, "foo", 6);
  record_at (cpu, "foo", 7);
  g_autoptr (XpRowInfo) info = xp_table_row ("ee::foo");
  ck_assert_str_eq (info->name, "ee::foo");
  ck_assert_str_eq (info->tags, "pointwise mixed_devices");
  ck_assert_str_eq (info->plugin, "the program");
  ck_assert_str_eq (info->file, "row.c");
  ck_assert_int_eq (info->line, 1);
  ck_assert_uint_eq (info->n_registrations, 2);
  ck_assert_int_eq (info->registrations[0].line, 7);
  ck_assert (info->registrations[0].is_active);
  ck_assert (!info->registrations[1].is_active);
  ck_assert_str_eq (info->registrations[1].location, "registered at kernel.c:6");
  unsigned n_keys;
  g_free (xp_key_list (&n_keys));
  ck_assert_uint_eq (info->n_cells, n_keys);
  ck_assert_uint_eq (info->n_cells, 138);
  g_autofree char *dump = xp_table_dump ("ee::foo");
  g_autofree char *computed = xp_table_dump_computed ("ee::foo");
  assert_text (xp_row_info_dump (info), dump);
  assert_text (xp_row_info_dump_computed (info), computed);
  for (unsigned i = 0; i < info->n_cells; i++)
    {
      bool is_cpu = info->cells[i].key == XP_KEY_CPU;
      ck_assert (is_cpu == (info->cells[i].rule == XP_RULE_KERNEL));
      ck_assert (info->cells[i].is_fallthrough == (info->cells[i].rule == XP_RULE_FALLBACK));
      ck_assert (xp_table_has_kernel ("ee::foo", info->cells[i].key) == is_cpu);
      GError *error = NULL;
      ck_assert (xp_table_has_computed_kernel ("ee::foo", info->cells[i].key, &error)
                 == (info->cells[i].rule != XP_RULE_MISSING));
      assert_no_error (error);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("texts");
  TCase *tests = tcase_create ("texts");
  tcase_add_test (tests, three_kernels_on_one_key);
  tcase_add_test (tests, a_row_without_kernels);
  tcase_add_test (tests, kernels_without_a_row);
  tcase_add_test (tests, names_that_are_not_there);
  tcase_add_test (tests, fallthrough_and_order_of_keys);
  tcase_add_test (tests, inactive_aliases);
  tcase_add_loop_test (tests, kinds_of_alias_analysis, 0, 5);
  tcase_add_test (tests, computed_cells_stand_in_set_order);
  tcase_add_test (tests, every_label);
  tcase_add_test (tests, a_snapshot_is_what_the_texts_say);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
