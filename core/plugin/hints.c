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
  unsigned n;
  bool found = false;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  for (unsigned i = 0; i < n && !found; i++)
    {
      g_autofree char *file = g_strconcat (directories[i].path, "/", info->name, ".so", NULL);
      found = strcmp (file, info->path) == 0;
    }
  xp_search_directories_free (directories, n);
  return found;
}

/* One line on a plugin that is not loaded. */
static void
describe_absent (GString *text, const XpPluginInfo *info, const char *what, GPtrArray *candidates)
{
  bool can_load = info->state == XP_PLUGIN_AVAILABLE || info->state == XP_PLUGIN_UNLOADED;
  g_string_append_printf (text, "%sNot loaded: %s (%s) %s", text->len > 0 ? "\n" : "", info->name,
                          info->path, what);
  if (can_load)
    {
      const char *name = is_found_by_name (info) ? info->name : info->path;
      g_string_append_printf (text, "; load it with `load %s`, or --load %s", name, name);
      g_ptr_array_add (candidates, g_strdup (name));
    }
  else
    g_string_append_printf (text, ", but its state is %s: %s", xp_plugin_state_name (info->state),
                            info->reason != NULL ? info->reason : "");
}

static void
infos_free (XpPluginInfo **infos, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    xp_plugin_info_free (infos[i]);
  g_free (infos);
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

static char *
hint_missing_kernel (const char *op, XpKey key, GPtrArray *candidates)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins_now (&n);
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
  infos_free (infos, n);
  return g_string_free (text, FALSE);
}

static char *
hint_unknown_operator (const char *op, GPtrArray *candidates)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins_now (&n);
  g_autofree char *name_space = namespace_of (op);
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < n; i++)
    {
      if (!g_strv_contains ((const char *const *) infos[i]->defines, name_space))
        continue;
      if (infos[i]->state == XP_PLUGIN_LOADED)
        continue;
      bool is_known, has_row = defines_row (infos[i], op, &is_known);
      g_autofree char *what = has_row ? g_strdup_printf ("defines %s", op)
                                      : g_strdup_printf ("defines the namespace %s", name_space);
      if (has_row || !is_known)
        describe_absent (text, infos[i], what, candidates);
    }
  if (text->len == 0 && name_space[0] == '\0')
    g_string_append (text, "An operator's name has a namespace, as in aten::gelu.");
  infos_free (infos, n);
  return g_string_free (text, FALSE);
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
