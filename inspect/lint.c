/* SPDX-License-Identifier: MIT
 *
 * lint.c: the report on what in the files of plugins, and of schemas, will hurt their users.
 */
#include "lint.h"
#include "report.h"

#include <string.h>

enum
{
  MOST_SHOWN = 12
};

#define LINT_ENTRY_(enumerator, severity, name, why, next) { LINT_##severity, name, why, next },
static const struct
{
  LintSeverity severity;
  const char *name;
  const char *why;
  const char *next;
} kinds[] = { LINT_LIST (LINT_ENTRY_) };

static const char *const severities[] = { "error", "warning", "note" };

/* --- Files. --- */

/* A file that is there, or else a name of the search path. Reading runs nothing, so a file of the
 * working directory will do. */
static char *
locate (const char *name, GError **error)
{
  if (g_file_test (name, G_FILE_TEST_EXISTS))
    return g_strdup (name);
  return xp_plugin_locate (name, error);
}

static gboolean
is_looked_at (LintFile *file)
{
  file->info = xp_plugin_info_read (file->path, &file->error);
  return file->info != NULL || g_error_matches (file->error, XP_ERROR, XP_ERROR_INVALID_NOTE)
         || g_error_matches (file->error, XP_ERROR, XP_ERROR_NOT_A_PLUGIN);
}

/* A shared object without a note is looked at; what is none has the error of its reader. */
static LintFile *
file_new (Linker *linker, const char *path)
{
  LintFile *file = g_new0 (LintFile, 1);
  file->path = g_strdup (path);
  if (g_str_has_suffix (path, ".ops"))
    {
      file->findings = lint_schemas (path, &file->error);
      return file;
    }
  if (!is_looked_at (file))
    return file;
  file->object = linker_read (linker, path);
  if (file->object != NULL && !file->object->is_library)
    {
      file->object = NULL;
      g_clear_error (&file->error);
      xp_error_set (&file->error, XP_ERROR_NOT_A_PLUGIN, &(XpErrorDetails){ .plugin = file->path },
                    "%s is no plugin: it is a program, not a shared object", path);
    }
  return file;
}

static LintFile *
file_of_argument (Linker *linker, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = locate (name, &error);
  if (path != NULL)
    return file_new (linker, path);
  LintFile *file = g_new0 (LintFile, 1);
  file->path = g_strdup (name);
  file->error = g_steal_pointer (&error);
  return file;
}

/* All that could be loaded beside them: those that are looked at, and the search path. */
static GPtrArray *
all_plugins (Linker *linker, const GPtrArray *files)
{
  unsigned n;
  GPtrArray *all = g_ptr_array_new_with_free_func ((GDestroyNotify) lint_file_free);
  for (unsigned i = 0; i < files->len; i++)
    {
      const LintFile *file = files->pdata[i];
      if (file->object != NULL)
        g_ptr_array_add (all, file_new (linker, file->path));
    }
  XpPluginInfo **infos = xp_plugins (&n);
  for (unsigned i = 0; i < n; i++)
    {
      const SharedObject *object = infos[i]->path != NULL && strcmp (infos[i]->name, "core") != 0
                                       ? linker_read (linker, infos[i]->path)
                                       : NULL;
      if (object == NULL)
        continue;
      LintFile *file = g_new0 (LintFile, 1);
      file->path = g_strdup (infos[i]->path);
      file->info = g_steal_pointer (&infos[i]);
      file->object = object;
      g_ptr_array_add (all, file);
    }
  xp_plugin_infos_free (infos, n);
  return all;
}

/* --- The model. --- */

static void
add_finding (JsonBuilder *builder, const LintFinding *finding, gboolean verbose)
{
  unsigned n = finding->about->len;
  json_builder_begin_object (builder);
  add_text (builder, "finding", kinds[finding->kind].name);
  add_text (builder, "severity", severities[kinds[finding->kind].severity]);
  add_text (builder, "detail", finding->detail);
  begin_list (builder, "about");
  for (unsigned i = 0; i < n && (verbose || i < MOST_SHOWN); i++)
    add_value (builder, finding->about->pdata[i]);
  json_builder_end_array (builder);
  add_number (builder, "more", verbose || n <= MOST_SHOWN ? 0 : n - MOST_SHOWN);
  add_text (builder, "why", kinds[finding->kind].why);
  add_text (builder, "next", kinds[finding->kind].next);
  json_builder_end_object (builder);
}

/* Adds to @counts, of which there is one for each severity. */
static void
add_file (JsonBuilder *builder, const LintFile *file, const GPtrArray *findings, gboolean verbose,
          unsigned *counts)
{
  json_builder_begin_object (builder);
  add_text (builder, "file", file->path);
  gboolean is_error = findings == NULL;
  add_text (builder, "code",
            is_error && file->error->domain == XP_ERROR
                ? xp_error_name ((XpError) file->error->code)
                : NULL);
  add_text (builder, "error", is_error ? file->error->message : NULL);
  begin_list (builder, "findings");
  for (unsigned i = 0; findings != NULL && i < findings->len; i++)
    {
      const LintFinding *finding = findings->pdata[i];
      add_finding (builder, finding, verbose);
      counts[kinds[finding->kind].severity]++;
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
}

/* --- The text. --- */

static void
append_about (GString *text, JsonObject *finding)
{
  JsonArray *about = get_array (finding, "about");
  const char *detail = get_text (finding, "detail");
  const char *separator = ": ";
  for (unsigned i = 0; i < json_array_get_length (about); i++)
    {
      g_string_append_printf (text, "%s%s", separator, json_array_get_string_element (about, i));
      separator = ", ";
    }
  if (get_number (finding, "more") > 0)
    g_string_append_printf (text, " and %" G_GINT64_FORMAT " more", get_number (finding, "more"));
  if (detail != NULL)
    g_string_append_printf (text, "%s%s", separator, detail);
}

/* What a finding means stands with the first of its kind. */
static void
append_finding (GString *text, JsonObject *finding, GHashTable *explained, gboolean colour)
{
  const char *severity = get_text (finding, "severity"), *name = get_text (finding, "finding");
  const char *paint = strcmp (severity, "error") == 0     ? red (colour)
                      : strcmp (severity, "warning") == 0 ? bold (colour)
                                                          : dim (colour);
  g_string_append_printf (text, "  %s%-9s%s%s", paint, severity, plain (colour), name);
  append_about (text, finding);
  g_string_append_c (text, '\n');
  if (g_hash_table_add (explained, (gpointer) name))
    g_string_append_printf (text, "           %s\n           next: %s\n", get_text (finding, "why"),
                            get_text (finding, "next"));
}

static void
append_file (GString *text, JsonObject *file, GHashTable *explained, gboolean colour)
{
  JsonArray *findings = get_array (file, "findings");
  unsigned n = json_array_get_length (findings);
  const char *error = get_text (file, "error");
  g_string_append_printf (text, "%s%s%s%s\n", bold (colour), get_text (file, "file"),
                          plain (colour), error == NULL && n == 0 ? ": good" : "");
  if (error != NULL)
    g_string_append_printf (text, "  %serror%s    %s: %s\n", red (colour), plain (colour),
                            get_text (file, "code"), error);
  for (unsigned i = 0; i < n; i++)
    append_finding (text, json_array_get_object_element (findings, i), explained, colour);
}

static void
append_count (GString *text, gint64 n, const char *what)
{
  if (n > 0)
    g_string_append_printf (text, ", %" G_GINT64_FORMAT " %s%s", n, what, n == 1 ? "" : "s");
}

static void
lint_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *root = json_node_get_object (model);
  JsonArray *files = get_array (root, "files");
  unsigned n = json_array_get_length (files);
  g_autoptr (GHashTable) explained = g_hash_table_new (g_str_hash, g_str_equal);
  for (unsigned i = 0; i < n; i++)
    append_file (text, json_array_get_object_element (files, i), explained, colour);
  g_string_append_printf (text, "%u file%s", n, n == 1 ? "" : "s");
  if (get_number (root, "unreadable") > 0)
    g_string_append_printf (text, ", %" G_GINT64_FORMAT " not looked at",
                            get_number (root, "unreadable"));
  for (unsigned i = 0; i < N_LINT_SEVERITIES; i++)
    append_count (text, get_number (root, severities[i]), severities[i]);
  g_string_append_c (text, '\n');
}

XpReport *
xp_report_lint (const char *const *names, gboolean verbose)
{
  g_return_val_if_fail (names != NULL, NULL);
  unsigned counts[N_LINT_SEVERITIES] = { 0 }, n_unreadable = 0;
  g_autoptr (Linker) linker = linker_new ();
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify) lint_file_free);
  for (; *names != NULL; names++)
    g_ptr_array_add (files, file_of_argument (linker, *names));
  g_autoptr (GPtrArray) others = all_plugins (linker, files);
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "files");
  for (unsigned i = 0; i < files->len; i++)
    {
      const LintFile *file = files->pdata[i];
      g_autoptr (GPtrArray) findings = file->object != NULL     ? lint_file (linker, file, others)
                                       : file->findings != NULL ? g_ptr_array_ref (file->findings)
                                                                : NULL;
      n_unreadable += findings == NULL;
      add_file (builder, file, findings, verbose, counts);
    }
  json_builder_end_array (builder);
  add_number (builder, "unreadable", n_unreadable);
  for (unsigned i = 0; i < N_LINT_SEVERITIES; i++)
    add_number (builder, severities[i], counts[i]);
  json_builder_end_object (builder);
  XpReport *report = report_new (builder, lint_text);
  report->is_no = n_unreadable + counts[LINT_ERROR] + counts[LINT_WARNING] > 0;
  return report;
}
