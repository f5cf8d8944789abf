/* SPDX-License-Identifier: MIT
 *
 * hints.c: what could be loaded to fill an empty cell, or to open a row, from what scans have found
 * of the plugins there are, or else from their notes; and why those are not loaded that were tried.
 * It never starts a scan.
 */
#include "begin.h"
#include "call/dispatch.h"
#include "plugin/plugin.h"

#include <stdlib.h>
#include <string.h>

/* The `namespace/key` of @info's note that may fill the cell @key of a row of @name_space: that key
 * itself, or, without @exact, an alias key that stands for it. */
static const char *
fills (const XpPluginInfo *info, const char *name_space, XpKey key, bool exact)
{
  size_t n = strlen (name_space);
  for (unsigned i = 0; info->fills[i] != NULL; i++)
    {
      const char *text = info->fills[i];
      XpKey filled;
      if (strncmp (text, name_space, n) == 0 && text[n] == '/'
          && xp_key_parse (text + n + 1, &filled, NULL)
          && (exact ? filled == key : xp_key_is_alias (filled) && xp_alias_contains (filled, key)))
        return text;
    }
  return NULL;
}

static char *
namespace_of (const char *op)
{
  const char *colons = strstr (op, "::");
  return colons != NULL ? g_strndup (op, (size_t) (colons - op)) : g_strdup ("");
}

/* Whether the name alone leads to the file, or only its path does. */
static bool
is_found_by_name (const XpPluginInfo *info)
{
  g_autofree char *path = xp_plugin_locate (info->name, NULL);
  return g_strcmp0 (path, info->path) == 0;
}

/* Whether it was tried, or looked at, and cannot be loaded. */
static bool
is_refused (const XpPluginInfo *info)
{
  return info->state != XP_PLUGIN_AVAILABLE && info->state != XP_PLUGIN_UNLOADED
         && info->state != XP_PLUGIN_LOADED;
}

/* One line on a plugin that is not loaded. */
static void
describe_absent (GString *text, const XpPluginInfo *info, const char *what, GPtrArray *candidates)
{
  g_autoptr (GError) disabled = NULL;
  g_string_append_printf (text, "%sNot loaded: %s (%s) %s", text->len > 0 ? "\n" : "", info->name,
                          info->path, what);
  if (is_refused (info))
    g_string_append_printf (text, ", but its state is %s: %s", xp_plugin_state_name (info->state),
                            info->reason != NULL ? info->reason : "");
  else if (!xp_note_check_enabled (info, &disabled))
    g_string_append_printf (text, ", but %s", disabled->message);
  else
    {
      const char *name = is_found_by_name (info) ? info->name : info->path;
      g_string_append_printf (text, "; load it with `load %s`, or --load %s", name, name);
      g_ptr_array_add (candidates, g_strdup (name));
    }
}

/* All that are known, but for variants that are passed over. */
static XpPluginInfo **
infos_new (unsigned *n)
{
  unsigned n_kept = 0;
  XpPluginInfo **infos = xp_plugins_now (n);
  for (unsigned i = 0; i < *n; i++)
    if (infos[i]->state == XP_PLUGIN_PASSED_OVER)
      xp_plugin_info_free (infos[i]);
    else
      infos[n_kept++] = infos[i];
  *n = n_kept;
  return infos;
}

/* A line for each plugin that may fill the cell. Of those that are loaded an alias key says nothing
 * about it. */
static void
describe_fillers (GString *text, XpPluginInfo **infos, unsigned n, const char *name_space,
                  XpKey key, bool exact, GPtrArray *candidates)
{
  for (unsigned i = 0; i < n; i++)
    {
      const char *cells = fills (infos[i], name_space, key, exact);
      if (cells == NULL || (!exact && fills (infos[i], name_space, key, true) != NULL))
        continue;
      g_autofree char *what = g_strdup_printf ("fills cells of %s", cells);
      if (infos[i]->state != XP_PLUGIN_LOADED)
        describe_absent (text, infos[i], what, candidates);
      else if (exact)
        g_string_append_printf (text, "%s%s is loaded and %s, but has no kernel for this operator.",
                                text->len > 0 ? "\n" : "", infos[i]->name, what);
    }
}

/* What others are meant to stand on comes first. */
static int
compare_priorities (const void *a, const void *b)
{
  const XpPluginInfo *x = *(const XpPluginInfo *const *) a, *y = *(const XpPluginInfo *const *) b;
  return x->priority != y->priority ? (x->priority < y->priority ? -1 : 1)
                                    : strcmp (x->name, y->name);
}

/* Whether @info, which is not loaded, says that it has a kernel for @op and fills the cell @key. */
static bool
knows (const XpPluginInfo *info, const char *op, const char *name_space, XpKey key)
{
  return info->state != XP_PLUGIN_LOADED
         && g_strv_contains ((const char *const *) info->kernels, op)
         && (fills (info, name_space, key, true) != NULL
             || fills (info, name_space, key, false) != NULL);
}

/* Where some say that they have the kernel, those that are not loaded and do not say so are left
 * out. They may have one all the same: notes name typed kernels only. */
static unsigned
keep_those_that_know (XpPluginInfo **infos, unsigned n, const char *op, const char *name_space,
                      XpKey key)
{
  unsigned n_kept = 0;
  bool somebody_knows = false;
  for (unsigned i = 0; i < n; i++)
    somebody_knows |= knows (infos[i], op, name_space, key);
  for (unsigned i = 0; i < n; i++)
    if (!somebody_knows || infos[i]->state == XP_PLUGIN_LOADED
        || knows (infos[i], op, name_space, key))
      infos[n_kept++] = infos[i];
    else
      xp_plugin_info_free (infos[i]);
  return n_kept;
}

static void
set_only (char ***texts, char *text)
{
  g_strfreev (*texts);
  *texts = g_new0 (char *, 2);
  (*texts)[0] = text;
}

/* Of a plugin that is not loaded but was scanned, everything is known: its note then says what it
 * does for that operator, and nothing else. */
static void
know_kernels (XpPluginInfo *info, const char *op, const char *name_space, XpKey key)
{
  g_autoptr (XpCoverage) coverage = info->state != XP_PLUGIN_LOADED ? xp_scan_coverage (info)
                                                                    : NULL;
  if (coverage == NULL)
    return;
  set_only (&info->fills, NULL);
  set_only (&info->kernels, NULL);
  for (unsigned i = 0; i < coverage->n_cells && info->fills[0] == NULL; i++)
    {
      const XpCoverageCell *cell = &coverage->cells[i];
      XpKey filled;
      if (strcmp (cell->op, op) != 0 || cell->is_fallthrough
          || !xp_key_parse (cell->key, &filled, NULL)
          || !(filled == key || (xp_key_is_alias (filled) && xp_alias_contains (filled, key))))
        continue;
      set_only (&info->fills, g_strconcat (name_space, "/", cell->key, NULL));
      set_only (&info->kernels, g_strdup (op));
    }
}

/* The same of rows: without an overload, any overload will do. */
static bool
defines_row (const XpPluginInfo *info, const char *op, bool *is_known)
{
  g_autoptr (XpCoverage) coverage = xp_scan_coverage (info);
  size_t n = strlen (op);
  *is_known = coverage != NULL;
  for (unsigned i = 0; *is_known && i < coverage->n_rows; i++)
    if (strncmp (coverage->rows[i].name, op, n) == 0
        && (coverage->rows[i].name[n] == '\0' || coverage->rows[i].name[n] == '.'))
      return true;
  return false;
}

/* Somebody who has not loaded anything may not know that they have to, nor from where. */
static void
describe_nothing (GString *text, XpPluginInfo **infos, unsigned n)
{
  unsigned n_loaded = 0, n_directories;
  for (unsigned i = 0; i < n; i++)
    n_loaded += infos[i]->state == XP_PLUGIN_LOADED;
  if (n_loaded > 1) /* the core is one */
    return;
  XpSearchDirectory *directories = xp_plugin_search_path (&n_directories);
  g_autofree char *list = xp_search_describe (directories, n_directories);
  g_string_append_printf (text,
                          "%sNo plugin is loaded. Load what has the operator with `load NAME`, "
                          "--load NAME, or xp_plugin_load(); these directories are searched:%s",
                          text->len > 0 ? "\n" : "", list);
  xp_search_directories_free (directories, n_directories);
}

static char *
hint_missing_kernel (const char *op, XpKey key, GPtrArray *candidates)
{
  unsigned n;
  XpPluginInfo **infos = infos_new (&n);
  g_autofree char *name_space = namespace_of (op);
  for (unsigned i = 0; i < n; i++)
    know_kernels (infos[i], op, name_space, key);
  n = keep_those_that_know (infos, n, op, name_space, key);
  qsort (infos, n, sizeof *infos, compare_priorities);
  GString *text = g_string_new (NULL);
  describe_fillers (text, infos, n, name_space, key, true, candidates);
  describe_fillers (text, infos, n, name_space, key, false, candidates);
  if (text->len == 0)
    g_string_append_printf (text, "No plugin on the search path fills %s/%s.", name_space,
                            xp_key_name (key));
  if (candidates->len == 0)
    describe_nothing (text, infos, n);
  xp_plugin_infos_free (infos, n);
  return g_string_free (text, FALSE);
}

/* Whether the note of @info says that it opens rows of @name_space. A file that cannot be loaded is
 * named for what else it has to do with the operator, too. */
static bool
claims_row (const XpPluginInfo *info, const char *op, const char *name_space)
{
  if (g_strv_contains ((const char *const *) info->defines, name_space))
    return true;
  bool fills_some = false;
  g_autofree char *prefix = g_strconcat (name_space, "/", NULL);
  for (unsigned i = 0; info->fills[i] != NULL; i++)
    fills_some |= g_str_has_prefix (info->fills[i], prefix);
  return is_refused (info)
         && (fills_some || g_strv_contains ((const char *const *) info->kernels, op));
}

static char *
hint_unknown_operator (const char *op, GPtrArray *candidates)
{
  unsigned n, n_near = candidates->len;
  XpPluginInfo **infos = infos_new (&n);
  g_autofree char *name_space = namespace_of (op);
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < n; i++)
    if (infos[i]->state != XP_PLUGIN_LOADED && claims_row (infos[i], op, name_space))
      {
        bool is_known, has_row = defines_row (infos[i], op, &is_known);
        bool defines = g_strv_contains ((const char *const *) infos[i]->defines, name_space);
        g_autofree char *what = has_row ? g_strdup_printf ("defines %s", op)
                                        : g_strdup_printf ("%s the namespace %s",
                                                           defines ? "defines" : "has kernels for",
                                                           name_space);
        if (has_row || !is_known || is_refused (infos[i]))
          describe_absent (text, infos[i], what, candidates);
      }
  if (text->len == 0 && name_space[0] == '\0')
    g_string_append (text, "An operator's name has a namespace, as in aten::gelu.");
  if (candidates->len == n_near)
    describe_nothing (text, infos, n);
  xp_plugin_infos_free (infos, n);
  return g_string_free (text, FALSE);
}

/* How likely it is that @info, which is not loaded, brings the kernel, or the row; 0 if it does not
 * say so. */
static int
likelihood (const XpPluginInfo *info, const char *op, const char *name_space, XpKey key,
            bool has_row)
{
  if (info->state == XP_PLUGIN_LOADED)
    return 0;
  if (!has_row && g_strv_contains ((const char *const *) info->defines, name_space))
    return 3;
  if (!has_row && !knows (info, op, name_space, key))
    return 0;
  return fills (info, name_space, key, true) != NULL    ? 2
         : fills (info, name_space, key, false) != NULL ? 1
                                                        : 0;
}

XpPluginInfo **
xp_plugins_for (const char *op, XpKey key, unsigned *n_plugins)
{
  g_return_val_if_fail (op != NULL && n_plugins != NULL, NULL);
  unsigned n;
  g_autoptr (XpRowInfo) row = xp_table_row (op);
  bool has_row = row != NULL && row->schema != NULL;
  g_autofree char *name_space = namespace_of (op);
  XpPluginInfo **infos = infos_new (&n);
  GPtrArray *found = g_ptr_array_new ();
  if (has_row)
    n = keep_those_that_know (infos, n, op, name_space, key);
  qsort (infos, n, sizeof *infos, compare_priorities);
  for (int wanted = 3; wanted > 0; wanted--)
    for (unsigned i = 0; i < n; i++)
      if (infos[i] != NULL && likelihood (infos[i], op, name_space, key, has_row) == wanted)
        g_ptr_array_add (found, g_steal_pointer (&infos[i]));
  xp_plugin_infos_free (infos, n);
  *n_plugins = found->len;
  return (XpPluginInfo **) g_ptr_array_free (found, FALSE);
}

static bool
hint_is_loaded (const char *plugin, GError **error)
{
  XpPlugin *record = xp_plugin_find (plugin);
  if (record != NULL && xp_plugin_state (record) == XP_PLUGIN_LOADED)
    return true;
  xp_error_set (error, XP_ERROR_PLUGIN_NOT_LOADED, &(XpErrorDetails){ .plugin = (char *) plugin },
                "%s is not loaded%s%s; load it with `load %s`, or --load %s", plugin,
                record != NULL ? ", it is " : "",
                record != NULL ? xp_plugin_state_name (xp_plugin_state (record)) : "", plugin,
                plugin);
  return false;
}

void
xp_hints_begin (void)
{
  xp_hint_hooks = (XpHintHooks){ hint_missing_kernel, hint_unknown_operator, hint_is_loaded };
}
