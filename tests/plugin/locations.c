/* SPDX-License-Identifier: MIT
 *
 * locations.c: every place that a dump names is there, and holds that registration.
 */
#include "plugin/fixtures.h"

static char **
lines_of (const char *file)
{
  static GHashTable *files;
  if (files == NULL)
    files = g_hash_table_new (g_str_hash, g_str_equal);
  char **lines = g_hash_table_lookup (files, file);
  if (lines == NULL)
    {
      char *text = NULL;
      g_file_get_contents (source_path (file), &text, NULL, NULL);
      ck_assert_msg (text != NULL, "%s is not in the source tree", file);
      lines = g_strsplit (text, "\n", -1);
      g_free (text);
      g_hash_table_insert (files, g_strdup (file), lines);
    }
  return lines;
}

/* Line @line of @file, counted from 1. */
static const char *
line_of (const char *file, int line)
{
  char **lines = lines_of (file);
  ck_assert_msg (line >= 1 && (unsigned) line <= g_strv_length (lines), "%s has no line %d", file,
                 line);
  return lines[line - 1];
}

/* Without namespace, `add.Tensor`; with @separator `_` as the generated macros write it. */
static char *
bare_name (const char *name, char separator)
{
  char *bare = g_strdup (strstr (name, "::") + 2);
  return g_strdelimit (bare, ".", separator);
}

/* Whether @word stands in @line, and is not part of a longer word. */
static bool
has_word (const char *line, const char *word)
{
  size_t n = strlen (word);
  for (const char *at = strstr (line, word); at != NULL; at = strstr (at + 1, word))
    {
      char before = at == line ? ' ' : at[-1], after = at[n];
      if (!g_ascii_isalnum (before) && before != '.' && !g_ascii_isalnum (after) && after != '_'
          && after != '.')
        return true;
    }
  return false;
}

static void
assert_definition (const XpRowInfo *row)
{
  const char *line = line_of (row->file, row->line);
  g_autofree char *bare = bare_name (row->name, '.');
  bool is_there = has_word (line, bare) && strchr (line, '(') != NULL;
  bool is_declaration = g_str_has_suffix (row->file, ".ops") || strstr (line, "xp_def") != NULL;
  ck_assert_msg (is_there && is_declaration, "%s is not defined at %s:%d, which is: %s", row->name,
                 row->file, row->line, line);
}

static void
assert_registration (const XpRowInfo *row, const XpRegistrationInfo *registration)
{
  const char *line = line_of (registration->file, registration->line);
  g_autofree char *dotted = bare_name (row->name, '.');
  g_autofree char *joined = bare_name (row->name, '_');
  bool is_there = has_word (line, dotted) || has_word (line, joined);
  ck_assert_msg (is_there && strstr (line, "xp_impl") != NULL,
                 "%s [%s] is not registered at %s:%d, which is: %s", row->name,
                 xp_key_name (registration->key), registration->file, registration->line, line);
  g_autofree char *location = g_strdup_printf ("registered at %s:%d", registration->file,
                                               registration->line);
  ck_assert_str_eq (registration->location, location);
}

START_TEST (every_registration)
{
  GError *error = NULL;
  unsigned n, n_registrations = 0, n_rows = 0;
  g_autofree char *folder = built_plugins ();
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", folder, TRUE);
  XpPluginInfo **infos = xp_plugins (&n);
  bool waiting = true;
  for (unsigned rounds = 0; waiting && rounds <= n; rounds++)
    {
      waiting = false;
      for (unsigned i = 0; i < n; i++)
        if (infos[i]->path != NULL && infos[i]->state == XP_PLUGIN_AVAILABLE
            && xp_plugin_find (infos[i]->name) == NULL)
          {
            xp_plugin_load (infos[i]->path, &error);
            waiting |= g_error_matches (error, XP_ERROR, XP_ERROR_MISSING_REQUIREMENT);
            g_clear_error (&error);
          }
    }
  xp_plugin_infos_free (infos, n);
  g_auto (GStrv) names = xp_table_names ();
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      g_autoptr (XpRowInfo) row = xp_table_row (names[i]);
      if (row->schema != NULL)
        assert_definition (row);
      for (unsigned j = 0; j < row->n_registrations; j++)
        assert_registration (row, &row->registrations[j]);
      n_registrations += row->n_registrations;
      n_rows++;
    }
  ck_assert_uint_gt (n_rows, 40);
  ck_assert_uint_gt (n_registrations, n_rows / 10);
}
END_TEST

/* Fallbacks, too, those of the core. */
START_TEST (every_fallback)
{
  unsigned n;
  XpRegistrationInfo *fallbacks = xp_table_fallbacks (&n);
  ck_assert_uint_gt (n, 0);
  for (unsigned i = 0; i < n; i++)
    {
      const char *line = line_of (fallbacks[i].file, fallbacks[i].line);
      ck_assert_msg (strstr (line, "fallback") != NULL
                         || has_word (line, xp_key_name (fallbacks[i].key)),
                     "the fallback of %s is not registered at %s:%d, which is: %s",
                     xp_key_name (fallbacks[i].key), fallbacks[i].file, fallbacks[i].line, line);
    }
  xp_registration_infos_free (fallbacks, n);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("locations");
  TCase *tests = tcase_create ("locations");
  tcase_add_test (tests, every_registration);
  tcase_add_test (tests, every_fallback);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
