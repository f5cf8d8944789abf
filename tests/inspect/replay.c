/* SPDX-License-Identifier: MIT
 *
 * replay.c: tables of rows that PyTorch has dumped: 26 rows of PyTorch 1.13 against its own tables,
 * and texts as they come from other versions, other systems, and out of a broken pipe.
 */
#include "suite.h"

#include <crosspoint-inspect.h>
#include <json-glib/json-glib.h>
#include <string.h>

/* --- Replaying a text. --- */

typedef struct
{
  GString *text;
  GString *problems;
  gboolean is_yes;
} Replayed;

static void
take_piece (const char *text, gboolean is_problem, gpointer data)
{
  Replayed *replayed = data;
  g_string_append (is_problem ? replayed->problems : replayed->text, text);
}

static Replayed
replay_bytes (const char *dump, gsize length, const char *fallbacks, XpReportStyle style)
{
  g_autoptr (GBytes) bytes = g_bytes_new (dump, length);
  g_autoptr (GBytes) fallback_bytes = fallbacks != NULL
                                          ? g_bytes_new (fallbacks, strlen (fallbacks))
                                          : NULL;
  const XpReportInput input = { "dump.txt", bytes };
  const XpReportInput fallback_input = { "fallbacks.txt", fallback_bytes };
  g_autoptr (XpReport) report = xp_report_replay (&input, 1,
                                                  fallbacks != NULL ? &fallback_input : NULL);
  Replayed replayed = { g_string_new (NULL), g_string_new (NULL), FALSE };
  xp_report_write (report, style, take_piece, &replayed);
  replayed.is_yes = xp_report_is_yes (report);
  g_autofree char *again = xp_report_print (report, style);
  ck_assert_str_eq (again, replayed.text->str);
  return replayed;
}

static Replayed
replay (const char *dump, const char *fallbacks)
{
  return replay_bytes (dump, strlen (dump), fallbacks, XP_REPORT_PLAIN);
}

static void
replayed_clear (Replayed *replayed)
{
  g_string_free (replayed->text, TRUE);
  g_string_free (replayed->problems, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Replayed, replayed_clear)

/* --- The rows of PyTorch 1.13. --- */

/* Keys that PyTorch 1.13 does not have. */
static gboolean
is_later (XpKey key)
{
  static const XpKey later[] = { XP_KEY_AutocastMTIA,       XP_KEY_AutocastMAIA,
                                 XP_KEY_AutocastIPU,        XP_KEY_AutocastHPU,
                                 XP_KEY_AutocastXLA,        XP_KEY_AutocastMPS,
                                 XP_KEY_PreDispatch,        XP_KEY_AutocastPrivateUse1,
                                 XP_KEY_BatchedNestedTensor };
  int backend = xp_key_backend (key);
  for (unsigned i = 0; i < G_N_ELEMENTS (later); i++)
    if (key == later[i])
      return TRUE;
  return backend == XP_BACKEND_MTIA || backend == XP_BACKEND_MAIA
         || (xp_key_functionality (key) == XP_FUNCTIONALITY_SparseCsr && backend != XP_BACKEND_CPU
             && backend != XP_BACKEND_CUDA);
}

/* The lines of a table by key, without the keys that only one of both versions has. */
static GHashTable *
common_lines (const char *table)
{
  GHashTable *lines = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_auto (GStrv) all = g_strsplit (table, "\n", -1);
  for (unsigned i = 0; all[i] != NULL; i++)
    {
      XpKey key;
      char *colon = strchr (all[i], ':');
      g_autofree char *name = colon != NULL ? g_strndup (all[i], (gsize) (colon - all[i])) : NULL;
      if (name != NULL && xp_key_parse (name, &key, NULL) && !is_later (key))
        g_hash_table_insert (lines, g_steal_pointer (&name), g_strdup (colon));
    }
  return lines;
}

static void
assert_tables_agree (const char *name, const char *expected_table, const char *table)
{
  g_autoptr (GHashTable) expected = common_lines (expected_table);
  g_autoptr (GHashTable) found = common_lines (table);
  GHashTableIter iter;
  gpointer key, line;
  g_hash_table_iter_init (&iter, expected);
  ck_assert_uint_gt (g_hash_table_size (expected), 20);
  while (g_hash_table_iter_next (&iter, &key, &line))
    {
      const char *other = g_hash_table_lookup (found, key);
      ck_assert_msg (g_strcmp0 (line, other) == 0, "%s, %s: expected%s, found%s", name,
                     (char *) key, (char *) line, other != NULL ? other : " nothing");
    }
  ck_assert_msg (g_hash_table_size (found) == g_hash_table_size (expected),
                 "%s has %u cells, expected %u", name, g_hash_table_size (found),
                 g_hash_table_size (expected));
}

/* All rows in one dump; then each table beside PyTorch's own. */
static void
compare_all_rows (const char *fallbacks)
{
  g_autofree char *text = NULL;
  GError *error = NULL;
  g_autoptr (GString) dumps = g_string_new (NULL);
  g_autoptr (GPtrArray) parsers = g_ptr_array_new_with_free_func (g_object_unref);
  g_file_get_contents (source_path ("tests/inspect/dispatch-torch-1.13.jsonl"), &text, NULL,
                       &error);
  assert_no_error (error);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (text), "\n", -1);
  for (unsigned i = 0; lines[i] != NULL; i++)
    {
      JsonParser *parser = json_parser_new ();
      json_parser_load_from_data (parser, lines[i], -1, &error);
      assert_no_error (error);
      g_ptr_array_add (parsers, parser);
      JsonObject *row = json_node_get_object (json_parser_get_root (parser));
      g_string_append_printf (dumps, "%s\n", json_object_get_string_member (row, "dump"));
    }
  g_auto (Replayed) replayed = replay (dumps->str, fallbacks);
  ck_assert_str_eq (replayed.problems->str, "");
  ck_assert (replayed.is_yes);
  g_auto (GStrv) tables = g_strsplit (replayed.text->str, "\n\n", -1);
  ck_assert_uint_eq (parsers->len, 26);
  ck_assert_uint_eq (g_strv_length (tables), 26);
  for (unsigned i = 0; i < 26; i++)
    {
      JsonObject *row = json_node_get_object (json_parser_get_root (parsers->pdata[i]));
      const char *op = json_object_get_string_member (row, "op");
      g_autofree char *head = g_strdup_printf ("name: %s\n", op);
      ck_assert (g_str_has_prefix (tables[i], head));
      assert_tables_agree (op, json_object_get_string_member (row, "table"),
                           tables[i] + strlen (head));
    }
}

static char *
fallbacks_of_pytorch (void)
{
  char *fallbacks = NULL;
  GError *error = NULL;
  g_file_get_contents (source_path ("tests/inspect/fallbacks-torch-1.13.txt"), &fallbacks, NULL,
                       &error);
  assert_no_error (error);
  return fallbacks;
}

START_TEST (rows_of_pytorch_with_its_fallbacks)
{
  g_autofree char *fallbacks = fallbacks_of_pytorch ();
  compare_all_rows (fallbacks);
}
END_TEST

START_TEST (rows_of_pytorch_with_standard_fallbacks)
{
  compare_all_rows (NULL);
}
END_TEST

START_TEST (standard_fallbacks_are_those_of_pytorch)
{
  g_autofree char *fallbacks = fallbacks_of_pytorch ();
  g_auto (Replayed) replayed = replay ("name: a::b\nschema: (none)\n", NULL);
  assert_tables_agree ("a::b", fallbacks, strchr (replayed.text->str, '\n') + 1);
}
END_TEST

START_TEST (later_keys_have_their_fallbacks)
{
  g_auto (Replayed) replayed = replay ("name: a::b\nschema: (none)\n", NULL);
  ck_assert_ptr_nonnull (strstr (replayed.text->str, "\nAutocastMTIA: fallthrough a fallback of "
                                                     "later versions [backend fallback]\n"));
  ck_assert_ptr_nonnull (strstr (replayed.text->str, "\nAutogradMAIA: a fallback of later versions "
                                                     "[backend fallback]\n"));
}
END_TEST

/* --- Lines as other versions and systems write them. --- */

#define HEAD                                                                                       \
  "name: a::b\nschema: a::b(Tensor x) -> Tensor\ndebug: registered at /dev/null:0\n"               \
  "alias analysis kind: FROM_SCHEMA\n"
#define WINDOWS                                                                                    \
  "registered at "                                                                                 \
  "C:\\actions-runner\\_work\\pytorch\\build\\aten\\src\\ATen\\RegisterCPU.cpp:30798"

static const struct
{
  const char *lines;
  const char *table; /* without fallbacks */
} kernels[] = {
  { "CPU: " WINDOWS " :: (Tensor _0) -> Tensor _0 [ boxed unboxed ]\n",
    "CPU: " WINDOWS " [kernel]\n" },
  { "Meta: registered at /dev/null:241 :: (none) [ boxed ]\n",
    "Meta: registered at /dev/null:241 [kernel]\n" },
  { "CPU: k3 :: (none) [ boxed unboxed ]\nCPU (inactive): k2 :: (none) [ boxed ]\n"
    "CPU (inactive): k1 :: (none) [ boxed ]\n",
    "CPU: k3 [kernel]\n" },
  { "FuncTorchBatchedDecomposition[alias]: one :: (none) [ boxed ]\n"
    "FuncTorchBatchedDecomposition[alias] (inactive): two :: (none) [ boxed ]\n",
    "FuncTorchBatched: one [batched kernel]\n" },
  { "Named: registered at ./x.cpp:11 :: (none) [ fallthrough boxed ]\n",
    "Named: fallthrough registered at ./x.cpp:11 [kernel]\n" },
  { "CPU: a :: (b) [ boxed ] [ x ] :: c: d :: () -> () [ boxed unboxed ]\n",
    "CPU: a :: (b) [ boxed ] [ x ] :: c: d [kernel]\n" },
  { "CPU:  :: (none) [ boxed ]\n", "CPU:  [kernel]\n" },
  { "CPU: fallthrough :: (none) [ boxed ]\n", "CPU: fallthrough [kernel]\n" },
  { "CPU: k :: (none) [ ]\n", "CPU: k [kernel]\n" },
  { "CPU: f :: (Tensor _0, int[2]? _1) -> (Tensor _0, Tensor _1) [ unboxed ]\n",
    "CPU: f [kernel]\n" },
  { "SparseCsrPrivateUse1: k :: (none) [ boxed ]\nAutogradHIP: h :: (none) [ boxed ]\n",
    "SparseCsrPrivateUse1: k [kernel]\nAutogradHIP: h [kernel]\n" },
  { "  CPU: k :: (none) [ boxed ]  \n", "CPU: k [kernel]\n" },
};

START_TEST (kernels_of_any_debug_text)
{
  g_autofree char *dump = g_strconcat (HEAD, kernels[_i].lines, NULL);
  g_autofree char *expected = g_strconcat ("name: a::b\n", kernels[_i].table, NULL);
  g_auto (Replayed) replayed = replay (dump, "");
  ck_assert_str_eq (replayed.problems->str, "");
  ck_assert_str_eq (replayed.text->str, expected);
  ck_assert (replayed.is_yes);
}
END_TEST

/* Whatever ends the lines, in whatever encoding of Windows, the table is the same. */
START_TEST (texts_of_windows)
{
  const char *dump = HEAD "CPU: \303\251 :: (none) [ boxed ]\n\nname: a::c\nschema: (none)\n";
  g_auto (GStrv) lines = g_strsplit (dump, "\n", -1);
  g_autofree char *crlf = g_strjoinv ("\r\n", lines);
  g_auto (Replayed) expected = replay (dump, "");
  g_auto (Replayed) found = replay (crlf, "");
  ck_assert_str_eq (expected.text->str, "name: a::b\nCPU: \303\251 [kernel]\n\nname: a::c\n");
  ck_assert_str_eq (found.text->str, expected.text->str);
  static const char *const encodings[] = { "UTF-16LE", "UTF-16BE", "UTF-8" };
  for (unsigned i = 0; i < G_N_ELEMENTS (encodings); i++)
    {
      gsize length;
      g_autofree char *marked = g_strconcat ("\357\273\277", crlf, NULL);
      g_autofree char *text = g_convert (marked, -1, encodings[i], "UTF-8", NULL, &length, NULL);
      g_auto (Replayed) again = replay_bytes (text, length, "", XP_REPORT_PLAIN);
      ck_assert_str_eq (again.text->str, expected.text->str);
      ck_assert_str_eq (again.problems->str, "");
    }
}
END_TEST

/* A row begins at its name, also without a blank line before it, and what is said of that line is
 * said once. */
START_TEST (rows_begin_at_their_names)
{
  g_auto (Replayed) replayed = replay (HEAD
                                       "CPU: k :: (none) [ boxed ]\nname: a::\377\nschema: (none)\n"
                                       "Meta: m :: (none) [ boxed ]\n",
                                       "");
  ck_assert_str_eq (replayed.text->str,
                    "name: a::b\nCPU: k [kernel]\n\nname: a::\357\277\275\nMeta: m [kernel]\n");
  ck_assert (g_str_has_prefix (replayed.problems->str, "dump.txt:6: warning: what is no UTF-8"));
  ck_assert_str_eq (strchr (replayed.problems->str, '\n'), "\n");
}
END_TEST

/* Kernels at the bare name of a per-backend functionality, which PyTorch takes: no cell, but they
 * count as one of every backend. */
START_TEST (bare_functionalities_count)
{
  g_auto (Replayed) sparse = replay (
      HEAD "Sparse: s :: (none) [ boxed ]\nCompositeImplicitAutograd[alias]: m :: (none) [ boxed "
           "]\n",
      "");
  ck_assert_ptr_nonnull (strstr (
      sparse.text->str, "AutogradOther: ambiguous_autogradother [ambiguous autogradother]\n"));
  ck_assert_ptr_null (strstr (sparse.text->str, ": s ["));
  g_auto (Replayed) dense = replay (
      HEAD "Dense: s :: (none) [ boxed ]\nCompositeImplicitAutograd[alias]: m :: (none) [ boxed "
           "]\n",
      "");
  ck_assert_ptr_null (strstr (dense.text->str, "\nAutogradCPU: "));
  ck_assert_ptr_nonnull (strstr (dense.text->str, "\nAutogradHIP: m [math kernel]\n"));
}
END_TEST

/* A key of former versions counts as it did. */
START_TEST (former_keys_count)
{
  g_auto (Replayed) replayed = replay (
      HEAD "ORT: o :: (none) [ boxed ]\nCompositeImplicitAutograd[alias]: m :: (none) [ boxed ]\n",
      "");
  ck_assert_ptr_nonnull (strstr (replayed.problems->str, "dump.txt:5: warning: ORT "));
  ck_assert_ptr_nonnull (strstr (
      replayed.text->str, "AutogradOther: ambiguous_autogradother [ambiguous autogradother]\n"));
  ck_assert (replayed.is_yes);
}
END_TEST

/* --- What is not understood. --- */

static const struct
{
  const char *dump;
  const char *problem; /* how its report begins */
  const char *table;
} damaged[] = {
  { HEAD "CPUU: k :: (none) [ boxed ]\n", "dump.txt:5: warning: could not parse dispatch key: CPUU",
    "name: a::b\n" },
  { HEAD "Undefined: k :: (none) [ boxed ]\n", "dump.txt:5: warning: no kernel is registered to",
    "name: a::b\n" },
  { HEAD "CPU: k :: (none) [ boxe", "dump.txt:5: error: the line is cut short",
    "name: a::b\nCPU: k :: (none) [ boxe [kernel]\n" },
  { HEAD "CPU: k :: (none) [ boxed ]\nCompositeImpl", "dump.txt:6: error: expected `KEY: DEBUG",
    "name: a::b\nCPU: k [kernel]\n" },
  { HEAD "Note: this is no kernel\n", "dump.txt:5: error: expected `KEY: DEBUG", "name: a::b\n" },
  { HEAD "CPU (inactive): k :: (none) [ boxed ]\n", "dump.txt:5: error: the active kernel of CPU",
    "name: a::b\nCPU: k [kernel]\n" },
  { HEAD "CPU: k :: (none) [ boxed ]\nCPU: l :: (none) [ boxed ]\n",
    "dump.txt:6: error: a second active kernel", "name: a::b\nCPU: k [kernel]\n" },
  { "name: a::b\nschema: a::b(Tens", "dump.txt:2: error: expected the schema of a::b",
    "name: a::b\n" },
  { "name: a::b\n", "dump.txt:1: error: a::b is cut short: expected its `schema:`",
    "name: a::b\n" },
  { "name: a::b\nschema: a::b() -> ()\ndebug: d\n", "dump.txt:3: error: a::b is cut short",
    "name: a::b\n" },
  { "name: a::b\nschema: a::b() -> ()\nalias analysis kind: FROM",
    "dump.txt:3: error: expected CON", "name: a::b\n" },
  { ">>> print(dump)\nmore\n\nname: a::b\nschema: (none)\n",
    "dump.txt:1: error: expected `name: ", "name: a::b\n" },
  { "name: two words\n", "dump.txt:1: error: expected `name: OPERATOR`", "" },
  { "", "dump.txt:1: error: there is no dump in it", "" },
  { "\r\n \n", "dump.txt:1: error: there is no dump in it", "" },
  { HEAD "CPU: a\377b :: (none) [ boxed ]\n", "dump.txt:5: warning: what is no UTF-8",
    "name: a::b\nCPU: a\357\277\275b [kernel]\n" },
};

START_TEST (what_is_not_understood_is_reported)
{
  g_auto (Replayed) replayed = replay (damaged[_i].dump, "");
  ck_assert_msg (g_str_has_prefix (replayed.problems->str, damaged[_i].problem),
                 "expected %s, found %s", damaged[_i].problem, replayed.problems->str);
  const char *end = strchr (replayed.problems->str, '\n');
  ck_assert_str_eq (end, "\n");
  ck_assert_str_eq (replayed.text->str, damaged[_i].table);
  ck_assert_int_eq (replayed.is_yes, strstr (damaged[_i].problem, ": warning: ") != NULL);
}
END_TEST

static const char *const bad_fallbacks[] = {
  "CPU: k [kernel]\n",
  "CPU k [backend fallback]\n",
  "CPU: k [backend fallb",
  "CPU: k [backend fallback]\nCPU: l [backend fallback]\n",
  "Autograd: k [backend fallback]\n",
  "Dense: k [backend fallback]\n",
  "ORT: k [backend fallback]\n",
  "CPUU: k [backend fallback]\n",
};

START_TEST (bad_fallbacks_are_reported)
{
  g_auto (Replayed) replayed = replay (HEAD, bad_fallbacks[_i]);
  ck_assert (g_str_has_prefix (replayed.problems->str, "fallbacks.txt:"));
  ck_assert (g_str_has_prefix (replayed.text->str, "name: a::b\n"));
  ck_assert_int_eq (replayed.is_yes, g_str_has_prefix (bad_fallbacks[_i], "CPUU")
                                         || g_str_has_prefix (bad_fallbacks[_i], "ORT"));
}
END_TEST

START_TEST (fallbacks_of_any_debug_text)
{
  g_auto (Replayed) replayed = replay (
      HEAD, "CPU: fallthrough [backend fallback]\r\nMeta:  [backend fallback]\n\n"
            "CUDA: fallthrough a [x] b [backend fallback]\nHIP: fallthrough  [backend "
            "fallback]\n");
  ck_assert_str_eq (replayed.text->str,
                    "name: a::b\nCPU: fallthrough [backend fallback]\n"
                    "CUDA: fallthrough a [x] b [backend fallback]\n"
                    "HIP: fallthrough  [backend fallback]\nMeta:  [backend fallback]\n");
  ck_assert (replayed.is_yes);
}
END_TEST

/* A cut is seen wherever it is, but behind the head and behind whole kernels. */
START_TEST (every_cut_is_noticed)
{
  const char *whole = HEAD "CPU: k :: (none) [ boxed ]\nAutograd[alias]: d :: (none) [ boxed ]\n";
  for (size_t n = 0; n < strlen (whole); n++)
    {
      gboolean is_seen = n < strlen (HEAD) - 1 || (whole[n] != '\n' && whole[n - 1] != '\n');
      g_auto (Replayed) replayed = replay_bytes (whole, n, "", XP_REPORT_PLAIN);
      ck_assert_msg (replayed.is_yes != is_seen, "cut at %zu: %s", n, replayed.text->str);
    }
}
END_TEST

/* JSON is UTF-8 whatever comes in, and says the same. */
START_TEST (json_is_sound)
{
  static const char dump[] = HEAD "CPU: \"\\\001\377\000x :: (none) [ boxed ]\n\377\n\nname: \376";
  g_auto (Replayed) replayed = replay_bytes (dump, sizeof dump - 1, NULL, XP_REPORT_JSON);
  g_autoptr (JsonParser) parser = json_parser_new ();
  GError *error = NULL;
  ck_assert (g_utf8_validate (replayed.text->str, (gssize) replayed.text->len, NULL));
  json_parser_load_from_data (parser, replayed.text->str, -1, &error);
  assert_no_error (error);
  JsonObject *object = json_node_get_object (json_parser_get_root (parser));
  JsonArray *rows = json_object_get_array_member (object, "rows");
  ck_assert_uint_eq (json_array_get_length (rows), 2);
  JsonObject *row = json_array_get_object_element (rows, 0);
  ck_assert_str_eq (json_object_get_string_member (row, "name"), "a::b");
  ck_assert_uint_eq (json_array_get_length (json_object_get_array_member (row, "problems")), 3);
  JsonObject *cell = json_array_get_object_element (json_object_get_array_member (row, "cells"), 0);
  ck_assert_str_eq (json_object_get_string_member (cell, "debug"),
                    "\"\\\001\357\277\275\357\277\275x");
}
END_TEST

START_TEST (endless_damage_is_counted)
{
  g_autoptr (GString) dump = g_string_new (HEAD);
  for (unsigned i = 0; i < 1500; i++)
    g_string_append (dump, "damage\n");
  g_auto (Replayed) replayed = replay (dump->str, "");
  const char *last = strstr (replayed.problems->str, "dump.txt:1504: ");
  ck_assert_ptr_nonnull (last);
  ck_assert_str_eq (last, "dump.txt:1504: error: 500 more problems in the lines up to this one\n");
}
END_TEST

START_TEST (endless_lines_and_names_are_left_out)
{
  g_autofree char *debug = g_strnfill (1 << 20, 'x');
  g_autofree char *dump = g_strdup_printf (
      HEAD "CPU: %s :: (none) [ boxed ]\nMeta: k :: (none) [ boxed ]\n", debug);
  g_auto (Replayed) replayed = replay (dump, "");
  ck_assert_str_eq (replayed.text->str, "name: a::b\nMeta: k [kernel]\n");
  ck_assert (g_str_has_prefix (replayed.problems->str, "dump.txt:5: error: a line of 1048"));
  debug[1001] = '\0';
  g_autofree char *names = g_strdup_printf ("name: %s\n\n" HEAD "%s: k :: (none) [ boxed ]\n",
                                            debug, debug);
  g_auto (Replayed) long_names = replay (names, "");
  ck_assert_str_eq (long_names.text->str, "name: a::b\n");
  ck_assert (g_str_has_prefix (long_names.problems->str, "dump.txt:1: error: expected `name: "));
  ck_assert_ptr_nonnull (strstr (long_names.problems->str, "dump.txt:7: error: expected `KEY: "));
}
END_TEST

/* --- schema --file --- */

static char *
print_schemas (const char *text, gsize length, gboolean *is_yes)
{
  g_autoptr (GBytes) bytes = g_bytes_new (text, length);
  g_autoptr (XpReport) report = xp_report_schema_lines (bytes);
  char *printed = xp_report_print (report, XP_REPORT_PLAIN);
  *is_yes = xp_report_is_yes (report);
  return printed;
}

START_TEST (the_corpus_prints_as_itself)
{
  gboolean is_yes;
  g_autofree char *corpus = NULL;
  g_file_get_contents (source_path ("tests/schema/schemas-torch-1.13.txt"), &corpus, NULL, NULL);
  g_autofree char *printed = print_schemas (corpus, strlen (corpus), &is_yes);
  ck_assert_str_eq (printed, corpus);
  ck_assert (is_yes);
}
END_TEST

START_TEST (each_line_has_its_line)
{
  static const char text[] = "a::f(  Tensor x )->Tensor\r\n"
                             "# kept\r\n"
                             "\n"
                             "  \n"
                             "a::f(Tensor x,) -> ()\n"
                             "a::f(Foo x) -> ()\n"
                             "a::f(Tensor x\n"
                             "a::g() -> ()\000\n"
                             "a::h(int x=1) -> int";
  gboolean is_yes;
  g_autofree char *printed = print_schemas (text, sizeof text - 1, &is_yes);
  ck_assert_str_eq (printed, "a::f(Tensor x) -> Tensor\n"
                             "# kept\n"
                             "\n"
                             "  \n"
                             "error: expected ident but found ')' at character 15\n"
                             "error: unknown type specifier at character 6\n"
                             "error: expected ) but found 'eof' at its end\n"
                             "error: there is a NUL at byte 13\n"
                             "a::h(int x=1) -> int\n");
  ck_assert (!is_yes);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("replay");
  TCase *torch = tcase_create ("torch");
  tcase_add_test (torch, rows_of_pytorch_with_its_fallbacks);
  tcase_add_test (torch, rows_of_pytorch_with_standard_fallbacks);
  tcase_add_test (torch, standard_fallbacks_are_those_of_pytorch);
  tcase_add_test (torch, later_keys_have_their_fallbacks);
  suite_add_tcase (suite, torch);
  TCase *texts = tcase_create ("texts");
  tcase_add_loop_test (texts, kernels_of_any_debug_text, 0, G_N_ELEMENTS (kernels));
  tcase_add_test (texts, texts_of_windows);
  tcase_add_test (texts, rows_begin_at_their_names);
  tcase_add_test (texts, bare_functionalities_count);
  tcase_add_test (texts, former_keys_count);
  suite_add_tcase (suite, texts);
  TCase *damage = tcase_create ("damage");
  tcase_add_loop_test (damage, what_is_not_understood_is_reported, 0, G_N_ELEMENTS (damaged));
  tcase_add_loop_test (damage, bad_fallbacks_are_reported, 0, G_N_ELEMENTS (bad_fallbacks));
  tcase_add_test (damage, fallbacks_of_any_debug_text);
  tcase_add_test (damage, every_cut_is_noticed);
  tcase_add_test (damage, json_is_sound);
  tcase_add_test (damage, endless_damage_is_counted);
  tcase_add_test (damage, endless_lines_and_names_are_left_out);
  suite_add_tcase (suite, damage);
  TCase *schemas = tcase_create ("schemas");
  tcase_add_test (schemas, the_corpus_prints_as_itself);
  tcase_add_test (schemas, each_line_has_its_line);
  suite_add_tcase (suite, schemas);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
