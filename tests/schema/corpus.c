/* SPDX-License-Identifier: MIT
 *
 * The corpus: every schema of PyTorch 1.13 parses, prints as itself, and has a signature that
 * parses. Where the file comes from stands in README.md.
 */
#include "schemas.h"

#define CORPUS "tests/schema/schemas-torch-1.13.txt"

static char **lines;
static unsigned n_lines;

static void
read_corpus (void)
{
  g_autofree char *text = NULL;
  GError *error = NULL;
  g_file_get_contents (source_path (CORPUS), &text, NULL, &error);
  assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  n_lines = g_strv_length (lines) - 1;
  ck_assert_str_eq (lines[n_lines], "");
}

static void
free_corpus (void)
{
  g_strfreev (lines);
}

START_TEST (the_corpus_is_whole)
{
  ck_assert_uint_eq (n_lines, 4165);
}
END_TEST

START_TEST (every_schema_prints_as_itself)
{
  for (unsigned i = 0; i < n_lines; i++)
    {
      g_autoptr (XpSchema) schema = parsed (lines[i]);
      g_autofree char *printed = xp_schema_to_string (schema);
      ck_assert_str_eq (printed, lines[i]);
    }
}
END_TEST

START_TEST (every_schema_reads_back_equal)
{
  for (unsigned i = 0; i < n_lines; i++)
    {
      g_autoptr (XpSchema) schema = parsed (lines[i]);
      g_autofree char *printed = xp_schema_to_string (schema);
      g_autoptr (XpSchema) again = parsed (printed);
      assert_schemas_equal (schema, again);
    }
}
END_TEST

START_TEST (every_signature_parses_behind_a_name)
{
  for (unsigned i = 0; i < n_lines; i++)
    {
      g_autoptr (XpSchema) schema = parsed (lines[i]);
      g_autofree char *signature = xp_schema_signature (schema);
      g_autofree char *declaration = g_strconcat ("some::name", signature, NULL);
      g_autoptr (XpSchema) kernel = parsed (declaration);
      g_autofree char *again = xp_schema_signature (kernel);
      g_autofree char *difference = xp_schema_difference (schema, kernel);
      ck_assert_str_eq (again, signature);
      ck_assert_msg (difference == NULL, "%s: %s", declaration, difference);
    }
}
END_TEST

START_TEST (every_cut_schema_is_refused_without_harm)
{
  for (unsigned i = 0; i < n_lines; i += 7)
    for (size_t n = 0; n + 1 < strlen (lines[i]); n++)
      {
        g_autofree char *part = g_strndup (lines[i], n);
        g_autoptr (GError) error = NULL;
        g_autoptr (XpSchema) schema = xp_schema_parse (part, &error);
        ck_assert_int_eq (schema == NULL, error != NULL);
      }
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("corpus");
  TCase *corpus = tcase_create ("corpus");
  tcase_add_unchecked_fixture (corpus, read_corpus, free_corpus);
  tcase_set_timeout (corpus, 60);
  tcase_add_test (corpus, the_corpus_is_whole);
  tcase_add_test (corpus, every_schema_prints_as_itself);
  tcase_add_test (corpus, every_schema_reads_back_equal);
  tcase_add_test (corpus, every_signature_parses_behind_a_name);
  tcase_add_test (corpus, every_cut_schema_is_refused_without_harm);
  suite_add_tcase (suite, corpus);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
