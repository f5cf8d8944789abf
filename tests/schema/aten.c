/* SPDX-License-Identifier: MIT
 *
 * schemas/aten.ops: each schema is PyTorch 1.13's, but for those that are newer; every operator of
 * the Core ATen set is there, and tagged so. Where the lists come from stands in README.md.
 */
#include "schemas.h"

#include <crosspoint/schema_file.h>

#define NEWER "#   aten::"

static XpSchemaFile *file;

static char **
lines_of (const char *path)
{
  g_autofree char *text = NULL;
  GError *error = NULL;
  g_file_get_contents (source_path (path), &text, NULL, &error);
  assert_no_error (error);
  return g_strsplit (g_strchomp (text), "\n", -1);
}

/* The names on the lines that begin with @prefix, or their schemas. */
static GHashTable *
table_of (const char *path, const char *prefix, bool parses)
{
  GHashTable *table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_auto (GStrv) lines = lines_of (path);
  for (char **line = lines; *line != NULL; line++)
    if (g_str_has_prefix (*line, prefix))
      {
        const char *text = *line + strspn (*line, "# ");
        g_autoptr (XpSchema) schema = parses ? xp_schema_parse (text, NULL) : NULL;
        ck_assert (!parses || schema != NULL);
        g_hash_table_insert (table,
                             schema != NULL ? xp_schema_operator_name (schema) : g_strdup (text),
                             schema != NULL ? xp_schema_to_string (schema) : NULL);
      }
  return table;
}

static void
read_file (void)
{
  GError *error = NULL;
  g_autofree char *path = g_strdup (source_path ("schemas/aten.ops"));
  file = xp_schema_file_read (path, "schemas/aten.ops", NULL, &error);
  assert_no_error (error);
}

static void
free_file (void)
{
  xp_schema_file_free (file);
}

START_TEST (schemas_are_those_of_pytorch)
{
  g_autoptr (GHashTable) theirs = table_of ("tests/schema/schemas-torch-1.13.txt", "aten::", true);
  g_autoptr (GHashTable) newer = table_of ("schemas/aten.ops", NEWER, false);
  ck_assert_uint_eq (g_hash_table_size (newer), 11);
  for (size_t i = 0; i < file->n_lines; i++)
    {
      const XpSchemaLine *line = file->lines[i];
      g_autofree char *ours = xp_schema_to_string (line->schema);
      const char *expected = g_hash_table_lookup (theirs, line->name);
      ck_assert_msg ((expected == NULL) == g_hash_table_remove (newer, line->name),
                     "%s is in PyTorch 1.13 or named as newer, one of the two", line->name);
      if (expected != NULL)
        ck_assert_str_eq (ours, expected);
    }
  ck_assert_msg (g_hash_table_size (newer) == 0, "a newer one is named that is not there");
}
END_TEST

START_TEST (the_core_set_is_whole_and_tagged)
{
  g_autoptr (GHashTable) core = table_of ("tests/schema/core-aten-ops.txt", "aten::", false);
  ck_assert_uint_eq (g_hash_table_size (core), 193);
  for (size_t i = 0; i < file->n_lines; i++)
    {
      const XpSchemaLine *line = file->lines[i];
      g_auto (GStrv) tags = g_strsplit (line->tags != NULL ? line->tags : "", " ", -1);
      bool is_tagged = g_strv_contains ((const char *const *) tags, "core");
      ck_assert_msg (is_tagged == g_hash_table_remove (core, line->name), "%s: core or not",
                     line->name);
    }
  ck_assert_uint_eq (g_hash_table_size (core), 0);
}
END_TEST

START_TEST (each_says_what_it_does)
{
  for (size_t i = 0; i < file->n_lines; i++)
    ck_assert_msg (file->lines[i]->description != NULL, "%s does what?", file->lines[i]->name);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("aten");
  TCase *aten = tcase_create ("aten");
  tcase_add_unchecked_fixture (aten, read_file, free_file);
  tcase_add_test (aten, schemas_are_those_of_pytorch);
  tcase_add_test (aten, the_core_set_is_whole_and_tagged);
  tcase_add_test (aten, each_says_what_it_does);
  suite_add_tcase (suite, aten);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
