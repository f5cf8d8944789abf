/* SPDX-License-Identifier: MIT
 *
 * lint_findings.c: looking for what in a plugin's file will hurt its user.
 */
#include "lint.h"

#include <string.h>

enum
{
  /* Above, it is not a name that was forgotten, but a flag. */
  MOST_EXPORTED_NAMES = 16,
  /* The compiler's own, which every shared object has. */
  USUAL_DESTRUCTORS = 1
};

typedef struct
{
  const LintFile *file;
  const SharedObject *object;
  const GPtrArray *others;
  Linker *linker;
  Needs *needs; /* NULL where nothing is known of them */
  GPtrArray *exported;
  GPtrArray *findings;
} Lint;

static GPtrArray *
texts_new (void)
{
  return g_ptr_array_new_with_free_func (g_free);
}

static void
finding_free (gpointer data)
{
  LintFinding *finding = data;
  g_ptr_array_unref (finding->about);
  g_free (finding->detail);
  g_free (finding);
}

GPtrArray *
lint_findings_new (void)
{
  return g_ptr_array_new_with_free_func (finding_free);
}

static LintFinding *
finding_new (GPtrArray *findings, LintKind kind, const char *detail)
{
  LintFinding *finding = g_new0 (LintFinding, 1);
  finding->kind = kind;
  finding->about = texts_new ();
  finding->detail = g_strdup (detail);
  g_ptr_array_add (findings, finding);
  return finding;
}

void
lint_findings_add (GPtrArray *findings, LintKind kind, const char *place, const char *detail)
{
  g_ptr_array_add (finding_new (findings, kind, detail)->about, g_strdup (place));
}

/* Takes neither. */
static void
add_finding (Lint *lint, LintKind kind, const GPtrArray *about, const char *detail)
{
  LintFinding *finding = finding_new (lint->findings, kind, detail);
  for (unsigned i = 0; about != NULL && i < about->len; i++)
    g_ptr_array_add (finding->about, g_strdup (about->pdata[i]));
  names_sort (finding->about);
}

static void
add_if_any (Lint *lint, LintKind kind, const GPtrArray *about)
{
  if (about->len > 0)
    add_finding (lint, kind, about, NULL);
}

static void
add_if (Lint *lint, LintKind kind, gboolean is_so)
{
  if (is_so)
    add_finding (lint, kind, NULL, NULL);
}

/* --- The note. --- */

/* What is for another machine, or switched off, is nothing wrong with the file. */
static LintKind
kind_of_refusal (const XpPluginInfo *info)
{
  const XpError here[] = { XP_ERROR_WRONG_MACHINE, XP_ERROR_MISSING_CPU_FEATURE,
                           XP_ERROR_DISABLED };
  for (unsigned i = 0; i < XP_LENGTH (here); i++)
    if (g_strcmp0 (info->error, xp_error_name (here[i])) == 0)
      return LINT_NOT_FOR_HERE;
  return LINT_REFUSED;
}

static void
check_note (Lint *lint)
{
  const XpPluginInfo *info = lint->file->info;
  if (info == NULL)
    {
      gboolean is_damaged = g_error_matches (lint->file->error, XP_ERROR, XP_ERROR_INVALID_NOTE);
      add_finding (lint, is_damaged ? LINT_DAMAGED_NOTE : LINT_NO_NOTE, NULL,
                   is_damaged ? lint->file->error->message : NULL);
      return;
    }
  if (info->state == XP_PLUGIN_REJECTED)
    add_finding (lint, kind_of_refusal (info), NULL, info->reason);
  const char *const texts[][2] = { { "version", info->version },
                                   { "description", info->description },
                                   { "licence", info->licence } };
  g_autoptr (GPtrArray) missing = texts_new ();
  for (unsigned i = 0; i < XP_LENGTH (texts); i++)
    if (texts[i][1][0] == '\0')
      g_ptr_array_add (missing, g_strdup (texts[i][0]));
  add_if_any (lint, LINT_NO_METADATA, missing);
}

/* --- Names. --- */

static GPtrArray *
exported_names (const SharedObject *object)
{
  GPtrArray *names = texts_new ();
  for (unsigned i = 0; i < object->exported->len; i++)
    if (strcmp (object->exported->pdata[i], "xp_plugin_probe") != 0
        && strcmp (object->exported->pdata[i], "xp_plugin_fini") != 0)
      g_ptr_array_add (names, g_strdup (object->exported->pdata[i]));
  return names;
}

static void
check_names (Lint *lint)
{
  add_if_any (lint,
              lint->exported->len > MOST_EXPORTED_NAMES ? LINT_NO_HIDDEN_VISIBILITY
                                                        : LINT_EXPORTED_NAME,
              lint->exported);
  if (!lint->object->is_symbolic)
    add_if_any (lint, LINT_INTERPOSABLE, lint->object->own_lookups);
}

/* Each name that @library exports too, once. */
static void
add_clashes (const Lint *lint, const SharedObject *library, GHashTable *seen, GPtrArray *clashes)
{
  for (unsigned i = 0; i < lint->exported->len; i++)
    {
      const char *name = lint->exported->pdata[i];
      if (names_contain (library->exported, name) && g_hash_table_add (seen, (gpointer) name))
        g_ptr_array_add (clashes, g_strdup_printf ("%s (%s)", name, library->path));
    }
}

static void
check_clashes (Lint *lint)
{
  g_autoptr (GPtrArray) libraries = texts_new ();
  g_autoptr (GPtrArray) plugins = texts_new ();
  g_autoptr (GHashTable) in_libraries = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) in_plugins = g_hash_table_new (g_str_hash, g_str_equal);
  for (unsigned i = 0; lint->needs != NULL && i < lint->needs->libraries->len; i++)
    add_clashes (lint, lint->needs->libraries->pdata[i], in_libraries, libraries);
  for (unsigned i = 0; lint->file->info != NULL && i < lint->others->len; i++)
    {
      /* Variants, copies and the file itself have the same name, and are never there together. */
      const LintFile *other = lint->others->pdata[i];
      if (other->info != NULL && strcmp (other->info->name, lint->file->info->name) != 0)
        add_clashes (lint, other->object, in_plugins, plugins);
    }
  add_if_any (lint, LINT_LIBRARY_CLASH, libraries);
  add_if_any (lint, LINT_PLUGIN_CLASH, plugins);
}

/* --- Libraries. --- */

static gboolean
is_provided (const Lint *lint, const char *name)
{
  const GPtrArray *lists[] = { lint->needs->libraries, linker_core (lint->linker) };
  if (names_contain (lint->object->exported, name))
    return TRUE;
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    for (unsigned j = 0; j < lists[i]->len; j++)
      if (names_contain (((const SharedObject *) lists[i]->pdata[j])->exported, name))
        return TRUE;
  return FALSE;
}

/* A symbol may be in a library that is missing, or that tells nothing of itself. */
static void
check_libraries (Lint *lint)
{
  const SharedObject *object = lint->object;
  g_autoptr (GPtrArray) undefined = texts_new ();
  g_autoptr (GPtrArray) with_threads = texts_new ();
  const Needs *needs = lint->needs;
  for (unsigned i = 0; i < object->needed->len; i++)
    if (needs == NULL && xp_library_keeps_threads (object->needed->pdata[i]))
      g_ptr_array_add (with_threads, g_strdup (object->needed->pdata[i]));
  for (unsigned i = 0; needs != NULL && i < needs->libraries->len; i++)
    {
      const SharedObject *library = needs->libraries->pdata[i];
      g_autofree char *name = g_path_get_basename (library->path);
      if (xp_library_keeps_threads (name))
        g_ptr_array_add (with_threads, g_strdup (library->path));
    }
  add_if_any (lint, LINT_LIBRARY_WITH_THREADS, with_threads);
  if (needs == NULL)
    {
      add_finding (lint, LINT_LIBRARIES_UNKNOWN, NULL, NULL);
      return;
    }
  add_if_any (lint, LINT_MISSING_LIBRARY, needs->missing);
  add_if_any (lint, LINT_ORIGIN_LIBRARY, needs->by_origin);
  if (needs->missing->len > 0 || !needs->is_known)
    return;
  for (unsigned i = 0; i < object->imported->len; i++)
    if (!is_provided (lint, object->imported->pdata[i]))
      g_ptr_array_add (undefined, g_strdup (object->imported->pdata[i]));
  add_if_any (lint, LINT_UNDEFINED_SYMBOL, undefined);
}

static void
check_paths (Lint *lint)
{
  const SharedObject *object = lint->object;
  const char *paths = object->runpath != NULL ? object->runpath : object->rpath;
  g_auto (GStrv) folders = g_strsplit (paths != NULL ? paths : "", ":", -1);
  g_autoptr (GPtrArray) origin = texts_new ();
  g_autoptr (GPtrArray) absolute = texts_new ();
  g_autoptr (GPtrArray) relative = texts_new ();
  for (char **folder = folders; *folder != NULL; folder++)
    g_ptr_array_add (folder_is_relative (*folder) ? relative
                     : folder_is_origin (*folder) ? origin
                                                  : absolute,
                     g_strdup (**folder != '\0' ? *folder : "an empty folder"));
  for (unsigned i = 0; i < object->needed->len; i++)
    {
      const char *name = object->needed->pdata[i];
      if (strchr (name, '/') != NULL && name[0] != '/')
        g_ptr_array_add (relative, g_strdup (name));
    }
  add_if_any (lint, LINT_RELATIVE_PATH, relative);
  add_if_any (lint, LINT_ORIGIN_PATH, origin);
  add_if_any (lint, LINT_ABSOLUTE_PATH, absolute);
}

/* --- What keeps the file mapped. --- */

static GPtrArray *
imports_that (const SharedObject *object, gboolean (*is_so) (const char *symbol))
{
  GPtrArray *names = texts_new ();
  const GPtrArray *lists[] = { object->imported, object->optional };
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    for (unsigned j = 0; j < lists[i]->len; j++)
      if (is_so (lists[i]->pdata[j]))
        g_ptr_array_add (names, g_strdup (lists[i]->pdata[j]));
  return names;
}

static void
check_residence (Lint *lint)
{
  const XpPluginInfo *info = lint->file->info;
  g_autoptr (GPtrArray) resident = imports_that (lint->object, xp_import_is_resident);
  g_autoptr (GPtrArray) threads = imports_that (lint->object, xp_import_starts_threads);
  if (info != NULL && info->declares_resident)
    {
      add_finding (lint, LINT_DECLARED_RESIDENT, NULL, info->resident);
      return;
    }
  add_if_any (lint, LINT_RESIDENT_IMPORT, resident);
  if (!names_contain (lint->object->exported, "xp_plugin_fini"))
    add_if_any (lint, LINT_THREADS_WITHOUT_FINI, threads);
  add_if_any (lint, LINT_UNIQUE_SYMBOL, lint->object->unique);
  add_if (lint, LINT_NODELETE, lint->object->is_nodelete);
}

/* --- How it is linked. --- */

static void
check_destructors (Lint *lint)
{
  const SharedObject *object = lint->object;
  g_autoptr (GPtrArray) about = texts_new ();
  if (object->n_destructors > USUAL_DESTRUCTORS)
    {
      unsigned n = object->n_destructors - USUAL_DESTRUCTORS;
      g_ptr_array_add (about, g_strdup_printf ("%u in .fini_array", n));
    }
  if (names_contain (object->imported, "__cxa_atexit"))
    g_ptr_array_add (about, g_strdup ("__cxa_atexit, of static C++ objects or atexit ()"));
  add_if_any (lint, LINT_DESTRUCTOR, about);
}

static void
check_linking (Lint *lint)
{
  const SharedObject *object = lint->object;
  add_if (lint, LINT_EXECUTABLE_STACK, object->has_executable_stack);
  add_if (lint, LINT_TEXT_RELOCATION, object->has_text_relocations);
  add_if (lint, LINT_NO_BUILD_ID, !object->has_build_id);
  add_if (lint, LINT_WRITABLE_ADDRESSES, !object->has_relro || !object->binds_now);
  if (object->tls_size > 0 && object->tls_is_static)
    {
      g_autofree char *size = g_strdup_printf ("%" G_GUINT64_FORMAT " byte%s of its own for each "
                                               "thread",
                                               object->tls_size, object->tls_size == 1 ? "" : "s");
      add_finding (lint, LINT_STATIC_TLS, NULL, size);
    }
}

/* --- A file. --- */

static int
compare_findings (const void *a, const void *b)
{
  const LintFinding *x = *(const LintFinding *const *) a, *y = *(const LintFinding *const *) b;
  return (x->kind > y->kind) - (x->kind < y->kind);
}

GPtrArray *
lint_file (Linker *linker, const LintFile *file, const GPtrArray *others)
{
  g_autoptr (Needs) needs = linker_find (linker, file->object);
  g_autoptr (GPtrArray) exported = exported_names (file->object);
  Lint lint = { .file = file,
                .object = file->object,
                .others = others,
                .linker = linker,
                .needs = needs,
                .exported = exported,
                .findings = lint_findings_new () };
  check_note (&lint);
  check_names (&lint);
  check_clashes (&lint);
  check_libraries (&lint);
  check_paths (&lint);
  check_residence (&lint);
  check_destructors (&lint);
  check_linking (&lint);
  g_ptr_array_sort (lint.findings, compare_findings);
  return lint.findings;
}

void
lint_file_free (LintFile *file)
{
  g_free (file->path);
  xp_plugin_info_free (file->info);
  g_clear_pointer (&file->findings, g_ptr_array_unref);
  g_clear_error (&file->error);
  g_free (file);
}
