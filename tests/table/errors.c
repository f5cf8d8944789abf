/* SPDX-License-Identifier: MIT
 *
 * errors.c: mistakes in registering: the shapes of reference 4.6, their codes, classes and details,
 * and that each leaves the table as it was, byte for byte.
 */
#include "table/blocks.h"

/* What stands in the table while mistakes are made. */
typedef struct
{
  XpLibrary *owner;
  XpLibrary *fragment;
  XpLibrary *cpu;
  XpLibrary *fallbacks;
  char *text;
  uint64_t generation;
} Fixture;

static Fixture fixture;

static void
set_up (void)
{
  fixture.owner = block_new (XP_LIBRARY_KIND_DEF, "ns", NULL);
  fixture.fragment = fragment_new ("ns");
  fixture.cpu = impl_new ("ns", "CPU");
  fixture.fallbacks = impl_new ("_", "XLA");
  define (fixture.owner, "foo(Tensor x, Tensor y) -> Tensor");
  record_at (fixture.cpu, "foo", 1);
  record_at (fixture.fallbacks, NULL, 2);
  fixture.text = whole_table ();
  fixture.generation = xp_table_generation ();
}

static void
tear_down (void)
{
  ck_assert_uint_eq (xp_table_generation (), fixture.generation);
  assert_text (whole_table (), fixture.text);
  g_free (fixture.text);
  assert_table_is_sound ();
  xp_library_free (fixture.fallbacks);
  xp_library_free (fixture.cpu);
  xp_library_free (fixture.fragment);
  xp_library_free (fixture.owner);
}

static XpImplementation
implementation_of (const char *name)
{
  return (XpImplementation){ .size = sizeof (XpImplementation),
                             .name = name,
                             .boxed = recording_kernel,
                             .file = "wrong.c",
                             .line = 9 };
}

static GError *
error_of_impl (XpLibrary *block, const char *name)
{
  GError *error = NULL;
  const XpImplementation implementation = implementation_of (name);
  ck_assert (!xp_library_impl (block, &implementation, &error));
  return error;
}

static GError *
error_of_def (XpLibrary *block, const char *schema)
{
  GError *error = NULL;
  const XpDefinition definition = {
    .size = sizeof definition, .schema = schema, .file = "wrong.c", .line = 9
  };
  ck_assert (!xp_library_def (block, &definition, &error));
  return error;
}

static GError *
error_of_block (XpLibraryKind kind, const char *name_space, const char *key)
{
  GError *error = NULL;
  XpLibrary *block = xp_library_new (kind, name_space, key, "wrong.c", 9, &error);
  ck_assert_ptr_null (block);
  return error;
}

#define LOCATION(kind, place) "  (Error occurred while processing " kind " block at " place ")"

START_TEST (a_second_definition)
{
  GError *error = error_of_def (fixture.fragment, "foo(Tensor x) -> Tensor");
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (details->op, "ns::foo");
  ck_assert_str_eq (details->plugin, "the program");
  ck_assert_str_eq (xp_error_class (error->code), "RuntimeError");
  ck_assert_str_eq (error->message,
                    "Tried to register an operator (ns::foo(Tensor x) -> Tensor) with the same "
                    "name and overload name multiple times. Each overload's schema should only be "
                    "registered with a single call to def(). Duplicate registration: registered "
                    "at wrong.c:9 (the program). Original registration: registered at row.c:1 "
                    "(the program)");
  assert_error (error, XP_ERROR_DUPLICATE_DEF, "Duplicate registration: ");
}
END_TEST

START_TEST (a_second_block_for_a_namespace)
{
  GError *error = error_of_block (XP_LIBRARY_KIND_DEF, "ns", NULL);
  ck_assert_str_eq (xp_error_get_details (error)->plugin, "the program");
  ck_assert_ptr_nonnull (
      strstr (error->message, "Previous registration of XP_LIBRARY was registered at block.c:1"));
  ck_assert_ptr_nonnull (
      strstr (error->message, "latest registration was registered at wrong.c:9"));
  assert_error (error, XP_ERROR_NAMESPACE_TAKEN,
                "Only a single XP_LIBRARY can be used to register the namespace ns; ");
}
END_TEST

/* Once the first is gone, there may be another; definitions of the first go with it. */
START_TEST (a_namespace_is_free_again)
{
  XpLibrary *first = block_new (XP_LIBRARY_KIND_DEF, "other", NULL);
  XpLibrary *fragment = fragment_new ("other");
  define (fragment, "bar(Tensor x) -> Tensor");
  xp_library_free (first);
  XpLibrary *second = block_new (XP_LIBRARY_KIND_DEF, "other", NULL);
  GError *error = error_of_def (second, "bar(Tensor x) -> Tensor");
  assert_error (error, XP_ERROR_DUPLICATE_DEF, "other::bar");
  xp_library_free (fragment);
  define (second, "bar(Tensor x) -> Tensor");
  xp_library_free (second);
  fixture.generation = xp_table_generation ();
}
END_TEST

START_TEST (blocks_that_cannot_be)
{
  GError *error = error_of_block (XP_LIBRARY_KIND_DEF, "_", NULL);
  ck_assert (g_str_has_prefix (error->message, "XP_LIBRARY: cannot define XP_LIBRARY with the "
                                               "wildcard namespace _ ("));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, LOCATION ("XP_LIBRARY", "wrong.c:9"));
  error = error_of_block (XP_LIBRARY_KIND_FRAGMENT, "_", NULL);
  assert_error (error, XP_ERROR_INVALID_REGISTRATION,
                LOCATION ("XP_LIBRARY_FRAGMENT", "wrong.c:9"));
  error = error_of_block (XP_LIBRARY_KIND_DEF, "two words", NULL);
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "two words");
  error = error_of_block (XP_LIBRARY_KIND_IMPL, "", "CPU");
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "''");
  error = error_of_block (XP_LIBRARY_KIND_FRAGMENT, "ns", "CPU");
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "CPU");
  error = error_of_block (XP_LIBRARY_KIND_IMPL, "ns", "Sparse");
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "SparseCPU");
  error = error_of_block (XP_LIBRARY_KIND_IMPL, "ns", "Dense");
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "as in CPU");
}
END_TEST

START_TEST (a_key_that_is_none)
{
  GError *error = error_of_block (XP_LIBRARY_KIND_IMPL, "ns", "SparseCPV");
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (details->key, "SparseCPV");
  ck_assert (g_strv_contains ((const char *const *) details->candidates, "SparseCPU"));
  ck_assert_ptr_nonnull (strstr (error->message, "wrong.c:9"));
  assert_error (error, XP_ERROR_UNKNOWN_KEY, "could not parse dispatch key: SparseCPV");
}
END_TEST

START_TEST (definitions_in_the_wrong_place)
{
  GError *error = error_of_def (fixture.cpu, "bar(Tensor x) -> Tensor");
  ck_assert_ptr_nonnull (strstr (error->message, "def(\"bar\"): Cannot define an operator inside "
                                                 "of a XP_LIBRARY_IMPL block. "));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, LOCATION ("XP_LIBRARY_IMPL", "block.c:1"));
  error = error_of_def (fixture.owner, "other::bar(Tensor x) -> Tensor");
  ck_assert_ptr_nonnull (strstr (error->message,
                                 "Explicitly provided namespace (other) in schema string does not "
                                 "match namespace of enclosing XP_LIBRARY block (ns). "));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, LOCATION ("XP_LIBRARY", "block.c:1"));
}
END_TEST

START_TEST (schemas_that_do_not_parse)
{
  /* No place of the block here, but that of the definition. */
  GError *error = error_of_def (fixture.owner, "bar(Tensor x,) -> ()");
  ck_assert_ptr_nonnull (strstr (error->message, "wrong.c:9"));
  ck_assert_ptr_null (strstr (error->message, "Error occurred while processing"));
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "<--- HERE");
  error = error_of_def (fixture.owner, "bar");
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX,
                "Tried to parse a function schema but only the operator name was given");
  error = error_of_def (fixture.owner, "bar.default(Tensor x) -> ()");
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "default");
  error = error_of_def (fixture.owner, "");
  assert_error (error, XP_ERROR_SCHEMA_SYNTAX, "expected");
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = "bar(Tensor x) -> ()",
                                    .alias_analysis = (XpAliasAnalysis) 5,
                                    .file = "wrong.c",
                                    .line = 9 };
  ck_assert (!xp_library_def (fixture.owner, &definition, &error));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "wrong.c:9: there is no kind 5");
}
END_TEST

START_TEST (more_arguments_than_a_call_can_look_at)
{
  GString *text = g_string_new ("bar(");
  for (unsigned i = 0; i < 65; i++)
    g_string_append_printf (text, "%sTensor a%u", i > 0 ? ", " : "", i);
  g_string_append (text, ") -> ()");
  GError *error = error_of_def (fixture.owner, text->str);
  assert_error (error, XP_ERROR_LIMIT, "The function schema has 65 arguments but");
  g_string_free (text, TRUE);
}
END_TEST

START_TEST (kernels_in_the_wrong_place)
{
  GError *error = error_of_impl (fixture.cpu, "other::foo");
  ck_assert_ptr_nonnull (
      strstr (error->message,
              "impl(\"other::foo\", ...): Explicitly provided namespace (other) in operator name "
              "does not match namespace of enclosing XP_LIBRARY_IMPL block (ns). "));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, LOCATION ("XP_LIBRARY_IMPL", "block.c:1"));
  error = error_of_impl (fixture.fallbacks, "foo");
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "impl(\"foo\", ...)");
  error = error_of_impl (fixture.fallbacks, "ns::foo");
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "impl(\"ns::foo\", ...)");
  error = error_of_impl (fixture.cpu, "foo(Tensor x) -> Tensor");
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "found a schema");
  static const char *const names[] = {
    "",     "ns::",        "two words",    "foo.",    ".foo",
    "1foo", "foo.default", "foo.__name__", "foo.a.b", "ns::a::b"
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    {
      error = error_of_impl (fixture.cpu, names[i]);
      assert_error (error, XP_ERROR_INVALID_REGISTRATION, "expected the name of an operator, NAME");
    }
}
END_TEST

START_TEST (fallbacks_in_the_wrong_place)
{
  GError *error = error_of_impl (fixture.owner, NULL);
  ck_assert (g_str_has_prefix (error->message, "fallback(...): Cannot define an operator inside of "
                                               "a XP_LIBRARY block. "));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, LOCATION ("XP_LIBRARY", "block.c:1"));
  error = error_of_impl (fixture.cpu, NULL);
  ck_assert (g_str_has_prefix (
      error->message, "fallback(...): Fallback functions which apply to only a single namespace "
                      "(you specified ns) are not supported. "));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION,
                "\n\n    XP_LIBRARY_IMPL (_, CPU, m) { xp_fallback (m, ...); }\n\n");
  g_autoptr (XpLibrary) no_key = impl_new ("_", NULL);
  error = error_of_impl (no_key, NULL);
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "needs a dispatch key");
  /* Callers of any signature would take a typed form for theirs. */
  g_autoptr (XpLibrary) cuda = impl_new ("_", "CUDA");
  XpImplementation typed = implementation_of (NULL);
  typed.typed = (XpTypedFunction) recording_kernel;
  typed.signature = "(Tensor _0) -> ()";
  ck_assert (!xp_library_impl (cuda, &typed, &error));
  assert_error (error, XP_ERROR_INVALID_REGISTRATION, "has no typed form");
  g_clear_pointer (&cuda, xp_library_free);
  g_clear_pointer (&no_key, xp_library_free);
  fixture.generation = xp_table_generation ();
}
END_TEST

START_TEST (a_second_fallback_of_one_owner)
{
  g_autoptr (XpLibrary) again = impl_new ("_", "XLA");
  GError *error = error_of_impl (again, NULL);
  ck_assert_str_eq (xp_error_get_details (error)->key, "XLA");
  ck_assert_str_eq (xp_error_get_details (error)->plugin, "the program");
  ck_assert_str_eq (error->message,
                    "Tried to register multiple backend fallbacks for the same dispatch key XLA; "
                    "previous registration registered at kernel.c:2, new registration registered "
                    "at wrong.c:9");
  assert_error (error, XP_ERROR_DUPLICATE_FALLBACK, "multiple backend fallbacks");
  g_clear_pointer (&again, xp_library_free);
  fixture.generation = xp_table_generation ();
}
END_TEST

/* --- A kernel that takes something else than the schema says. --- */

static const struct
{
  const char *signature;
  const char *reason;
} misfits[] = {
  { "(Tensor _0) -> Tensor _0", "The number of arguments is different. 2 vs 1."
                                "\n  argument 1 (y): the schema says Tensor, the kernel nothing" },
  { "(Tensor _0, Tensor _1, int _2) -> Tensor _0",
    "The number of arguments is different. 2 vs 3."
    "\n  argument 2: the schema says nothing, the kernel int" },
  { "(Tensor _0, Tensor _1) -> ()", "The number of returns is different. 1 vs 0"
                                    "\n  return 0: the schema says Tensor, the kernel nothing" },
  { "(Tensor _0, Tensor? _1) -> Tensor _0",
    "Type mismatch in argument 2: Tensor vs Tensor?"
    "\n  argument 1 (y): the schema says Tensor, the kernel Tensor?" },
  { "(Tensor _0, Tensor _1) -> Tensor[] _0",
    "Type mismatch in return 1: Tensor vs Tensor[]"
    "\n  return 0: the schema says Tensor, the kernel Tensor[]" },
};

static XpImplementation
misfit (const char *name, const char *signature)
{
  XpImplementation implementation = implementation_of (name);
  implementation.signature = signature;
  implementation.typed = (XpTypedFunction) recording_kernel;
  return implementation;
}

START_TEST (a_kernel_that_does_not_fit)
{
  GError *error = NULL;
  const XpImplementation implementation = misfit ("foo", misfits[_i].signature);
  ck_assert (!xp_library_impl (fixture.cpu, &implementation, &error));
  g_autofree char *expected = g_strdup_printf (
      "Inferred operator schema for a kernel function doesn't match the expected function "
      "schema.\n  operator: ns::foo\n  expected schema: ns::foo(Tensor x, Tensor y) -> Tensor\n"
      "    registered at row.c:1\n  inferred schema: %s\n    registered at wrong.c:9\n"
      "  reason: %s",
      misfits[_i].signature, misfits[_i].reason);
  ck_assert_str_eq (error->message, expected);
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (details->op, "ns::foo");
  ck_assert_str_eq (details->key, "CPU");
  ck_assert_str_eq (details->plugin, "the program");
  assert_error (error, XP_ERROR_SCHEMA_MISMATCH, "reason: ");
}
END_TEST

/* A signature that says nothing is refused at once, not when a definition comes. */
START_TEST (a_signature_that_does_not_parse)
{
  static const char *const texts[] = { "", "Tensor", "(Tensor _0", "(Tensr _0) -> ()" };
  for (unsigned i = 0; i < G_N_ELEMENTS (texts); i++)
    for (unsigned pending = 0; pending < 2; pending++)
      {
        GError *error = NULL;
        const XpImplementation implementation = misfit (pending ? "pending" : "foo", texts[i]);
        ck_assert (!xp_library_impl (fixture.cpu, &implementation, &error));
        ck_assert_str_eq (xp_error_get_details (error)->op, pending ? "ns::pending" : "ns::foo");
        ck_assert_str_eq (xp_error_get_details (error)->key, "CPU");
        assert_error (error, XP_ERROR_INVALID_REGISTRATION,
                      "the signature of the kernel registered at wrong.c:9");
      }
}
END_TEST

/* The definition comes second; what does not fit may be an inactive kernel. */
START_TEST (a_definition_that_does_not_fit)
{
  g_autoptr (XpLibrary) typed = impl_new ("ns", "CUDA");
  g_autoptr (XpLibrary) boxed = impl_new ("ns", "CUDA");
  GError *error = NULL;
  const XpImplementation implementation = misfit ("pending", misfits[_i].signature);
  xp_library_impl (typed, &implementation, &error);
  assert_no_error (error);
  record_at (boxed, "pending", 3);
  g_autofree char *before = whole_table ();
  error = error_of_def (fixture.fragment, "pending(Tensor x, Tensor y) -> Tensor");
  ck_assert_str_eq (xp_error_get_details (error)->key, "CUDA");
  assert_error (error, XP_ERROR_SCHEMA_MISMATCH, misfits[_i].reason);
  assert_text (whole_table (), before);
  /* What it says is not remembered once it is gone. */
  g_clear_pointer (&typed, xp_library_free);
  XpLibrary *rows = fragment_new ("ns");
  define (rows, "pending(Tensor x, Tensor y) -> Tensor");
  xp_library_free (rows);
  g_clear_pointer (&boxed, xp_library_free);
  fixture.generation = xp_table_generation ();
}
END_TEST

/* Names, defaults, aliases and keyword-only are not compared. */
START_TEST (what_fits_all_the_same)
{
  GError *error = NULL;
  g_autoptr (XpLibrary) rows = fragment_new ("ns");
  g_autoptr (XpLibrary) cpu = impl_new ("ns", "CPU");
  define (rows, "out(Tensor self, *, SymInt[2] size=1, Tensor(a!) out) -> Tensor(a!)");
  const XpImplementation implementation = misfit ("out",
                                                  "(Tensor _0, int[] _1, Tensor _2) -> Tensor _0");
  xp_library_impl (cpu, &implementation, &error);
  assert_no_error (error);
  g_clear_pointer (&cpu, xp_library_free);
  g_clear_pointer (&rows, xp_library_free);
  fixture.generation = xp_table_generation ();
}
END_TEST

/* Whatever the reason, the data of a kernel that is refused stay the caller's. */
static unsigned n_destroyed;

static void
count_destroyed (void *data)
{
  ck_assert_ptr_eq (data, &n_destroyed);
  n_destroyed++;
}

static const struct
{
  const char *name, *signature, *part;
  XpError code;
} refused[] = {
  { "foo(", NULL, "found a schema", XP_ERROR_INVALID_REGISTRATION },
  { "other::foo", NULL, "does not match namespace", XP_ERROR_INVALID_REGISTRATION },
  { NULL, NULL, "a single namespace", XP_ERROR_INVALID_REGISTRATION },
  { "foo", "(Tensor _0) -> Tensor _0", "reason: ", XP_ERROR_SCHEMA_MISMATCH },
  { "waits_for_its_row", "(nonsense", "does not parse", XP_ERROR_INVALID_REGISTRATION },
};

START_TEST (refused_data_stay_the_callers)
{
  GError *error = NULL;
  XpImplementation implementation = implementation_of (refused[_i].name);
  implementation.signature = refused[_i].signature;
  implementation.data = &n_destroyed;
  implementation.destroy = count_destroyed;
  n_destroyed = 0;
  ck_assert (!xp_library_impl (fixture.cpu, &implementation, &error));
  assert_error (error, refused[_i].code, refused[_i].part);
  ck_assert_uint_eq (n_destroyed, 0);
}
END_TEST

/* What was accepted is destroyed with its block, once. */
START_TEST (accepted_data_are_destroyed_once)
{
  GError *error = NULL;
  XpImplementation implementation = implementation_of ("foo");
  XpLibrary *block = impl_new ("ns", "CUDA");
  implementation.data = &n_destroyed;
  implementation.destroy = count_destroyed;
  n_destroyed = 0;
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 1);
  fixture.generation = xp_table_generation ();
}
END_TEST

START_TEST (an_alias_key_has_no_cell)
{
  GError *error = NULL;
  ck_assert (!xp_table_has_computed_kernel ("ns::foo", XP_KEY_CompositeExplicitAutograd, &error));
  ck_assert_str_eq (xp_error_get_details (error)->key, "CompositeExplicitAutograd");
  assert_error (error, XP_ERROR_ALIAS_KEY, "Alias keys do not have runtime kernel registrations");
}
END_TEST

/* --- Blocks that run as constructors do: published as a whole. --- */

static GLogWriterOutput
keep_message (G_GNUC_UNUSED GLogLevelFlags level, const GLogField *fields, gsize n_fields,
              gpointer data)
{
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, "MESSAGE") == 0)
      *(char **) data = g_strdup (fields[i].value);
  return G_LOG_WRITER_HANDLED;
}

static void
fill_with_a_mistake (XpLibrary *m)
{
  xp_def (m, "first(Tensor x) -> Tensor");
  xp_impl (m, "first", recording_kernel);
  xp_def (m, "second(Tensor x,) -> Tensor");
  xp_def (m, "third(Tensor x) -> Tensor");
}

static void
fill_with_a_conflict (XpLibrary *m)
{
  xp_def (m, "first(Tensor x) -> Tensor");
  xp_impl (m, "foo", recording_kernel);
  xp_def (m, "foo(Tensor x) -> Tensor");
}

START_TEST (a_block_with_a_mistake_registers_nothing)
{
  static void (*const fills[]) (XpLibrary * m) = { fill_with_a_mistake, fill_with_a_conflict };
  static const char *const parts[] = { "<--- HERE", "Tried to register an operator (ns::foo(" };
  char *message = NULL;
  g_log_set_writer_func (keep_message, &message, NULL);
  const XpLibraryBlock block = { sizeof block, XP_LIBRARY_KIND_FRAGMENT, 5, "ns", NULL, "wrong.c",
                                 fills[_i] };
  xp_library_run (&block);
  ck_assert_ptr_nonnull (message);
  ck_assert_msg (strstr (message, parts[_i]) != NULL, "%s", message);
  ck_assert_msg (strstr (message, "wrong.c:5") != NULL, "%s", message);
  g_free (message);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("errors");
  TCase *tests = tcase_create ("errors");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, a_second_definition);
  tcase_add_test (tests, a_second_block_for_a_namespace);
  tcase_add_test (tests, a_namespace_is_free_again);
  tcase_add_test (tests, blocks_that_cannot_be);
  tcase_add_test (tests, a_key_that_is_none);
  tcase_add_test (tests, definitions_in_the_wrong_place);
  tcase_add_test (tests, schemas_that_do_not_parse);
  tcase_add_test (tests, more_arguments_than_a_call_can_look_at);
  tcase_add_test (tests, kernels_in_the_wrong_place);
  tcase_add_test (tests, fallbacks_in_the_wrong_place);
  tcase_add_test (tests, a_second_fallback_of_one_owner);
  tcase_add_loop_test (tests, a_kernel_that_does_not_fit, 0, G_N_ELEMENTS (misfits));
  tcase_add_test (tests, a_signature_that_does_not_parse);
  tcase_add_loop_test (tests, a_definition_that_does_not_fit, 0, G_N_ELEMENTS (misfits));
  tcase_add_test (tests, what_fits_all_the_same);
  tcase_add_loop_test (tests, refused_data_stay_the_callers, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tests, accepted_data_are_destroyed_once);
  tcase_add_test (tests, an_alias_key_has_no_cell);
  tcase_add_loop_test (tests, a_block_with_a_mistake_registers_nothing, 0, 2);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
