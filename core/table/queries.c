/* SPDX-License-Identifier: MIT
 *
 * queries.c: which rows there are, and what is registered in one of them.
 */
#include "table/row.h"

#include <string.h>

/* --- Names. --- */

typedef struct
{
  GPtrArray *names;
  const char *base; /* only overloads of this name, or NULL */
  bool only_dangling;
  XpKey key; /* only with a kernel there, or XP_KEY_NONE */
} Selection;

static bool
is_overload (const char *name, const char *base)
{
  size_t n = strlen (base);
  return strncmp (name, base, n) == 0 && (name[n] == '\0' || name[n] == '.');
}

static void
select_row (Row *row, void *data)
{
  Selection *selection = data;
  if (!row_is_there (row) || (selection->only_dangling && row->definition != NULL)
      || (selection->base != NULL && !is_overload (row->name, selection->base))
      || (selection->key != XP_KEY_NONE
          && xp_registrations_active (row->registrations, selection->key) == NULL))
    return;
  g_ptr_array_add (selection->names, g_strdup (row->name));
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static char **
select_names (const char *base, bool only_dangling, XpKey key)
{
  Selection selection = { g_ptr_array_new (), base, only_dangling, key };
  g_mutex_lock (&xp_table_lock);
  xp_rows_visit (select_row, &selection);
  g_mutex_unlock (&xp_table_lock);
  g_ptr_array_sort (selection.names, compare_names);
  g_ptr_array_add (selection.names, NULL);
  return (char **) g_ptr_array_free (selection.names, FALSE);
}

char **
xp_table_names (void)
{
  return select_names (NULL, false, XP_KEY_NONE);
}

char **
xp_table_overloads (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);
  return select_names (name, false, XP_KEY_NONE);
}

char **
xp_table_dangling (void)
{
  return select_names (NULL, true, XP_KEY_NONE);
}

char **
xp_table_names_with_kernel (XpKey key)
{
  return select_names (NULL, false, key);
}

/* --- Kernels that wait for their row. --- */

static void
take_pending (Row *row, void *data)
{
  GArray *infos = data;
  for (unsigned i = 0; row->definition == NULL && i < row->registrations->len; i++)
    {
      const Registration *registration = row->registrations->pdata[i];
      const XpPendingInfo info = { g_strdup (row->name), registration->key,
                                   g_strdup (registration->owner->name),
                                   g_strdup (registration->location) };
      g_array_append_val (infos, info);
    }
}

/* Stable, as g_array_sort() is: those of one row stay in their order. */
static int
compare_pending (const void *a, const void *b)
{
  return strcmp (((const XpPendingInfo *) a)->name, ((const XpPendingInfo *) b)->name);
}

XpPendingInfo *
xp_table_pending (unsigned *n_pending)
{
  g_return_val_if_fail (n_pending != NULL, NULL);
  GArray *infos = g_array_new (FALSE, FALSE, sizeof (XpPendingInfo));
  g_mutex_lock (&xp_table_lock);
  xp_rows_visit (take_pending, infos);
  g_mutex_unlock (&xp_table_lock);
  g_array_sort (infos, compare_pending);
  *n_pending = infos->len;
  return (XpPendingInfo *) (void *) g_array_free (infos, FALSE);
}

void
xp_pending_infos_free (XpPendingInfo *infos, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    {
      g_free (infos[i].name);
      g_free (infos[i].plugin);
      g_free (infos[i].location);
    }
  g_free (infos);
}

/* --- Questions about one row. --- */

gboolean
xp_table_has (const char *name)
{
  g_return_val_if_fail (name != NULL, FALSE);
  g_mutex_lock (&xp_table_lock);
  const Row *row = xp_row_find (name);
  gboolean has = row != NULL && row_is_there (row);
  g_mutex_unlock (&xp_table_lock);
  return has;
}

gboolean
xp_table_has_kernel (const char *name, XpKey key)
{
  g_return_val_if_fail (name != NULL, FALSE);
  g_mutex_lock (&xp_table_lock);
  const Row *row = xp_row_find (name);
  gboolean has = row != NULL && xp_registrations_active (row->registrations, key) != NULL;
  g_mutex_unlock (&xp_table_lock);
  return has;
}

gboolean
xp_table_has_kernel_in (const char *name, XpKeySet keys)
{
  g_return_val_if_fail (name != NULL, FALSE);
  gboolean has = FALSE;
  g_mutex_lock (&xp_table_lock);
  const Row *row = xp_row_find (name);
  for (unsigned i = 0; row != NULL && i < row->registrations->len && !has; i++)
    {
      XpKey key = ((const Registration *) row->registrations->pdata[i])->key;
      has = !xp_key_is_alias (key) && xp_key_set_has (keys, key);
    }
  g_mutex_unlock (&xp_table_lock);
  return has;
}

gboolean
xp_table_is_fallthrough (const char *name, XpKey key, GError **error)
{
  g_return_val_if_fail (name != NULL, FALSE);
  g_mutex_lock (&xp_table_lock);
  const Row *row = xp_row_find (name);
  bool is_there = row != NULL && row_is_there (row);
  const Registration *active = is_there ? xp_registrations_active (row->registrations, key) : NULL;
  gboolean is_fallthrough = active != NULL && active->is_fallthrough;
  g_mutex_unlock (&xp_table_lock);
  XpErrorDetails details = { .op = (char *) name, .key = (char *) xp_key_name (key) };
  if (!is_there)
    xp_error_set (error, XP_ERROR_UNKNOWN_OPERATOR, &details, "operator %s does not exist", name);
  else if (active == NULL)
    xp_error_set (error, XP_ERROR_MISSING_KERNEL, &details,
                  "no kernel for %s on %s: nothing is registered under exactly that key",
                  details.key, name);
  return is_fallthrough;
}

gboolean
xp_table_has_fallback (XpKey key)
{
  if (xp_key_is_alias (key))
    return FALSE;
  g_mutex_lock (&xp_table_lock);
  gboolean has = xp_fallback_for (key) != NULL;
  g_mutex_unlock (&xp_table_lock);
  return has;
}

gboolean
xp_table_has_computed_kernel (const char *name, XpKey key, GError **error)
{
  g_return_val_if_fail (name != NULL, FALSE);
  if (!xp_key_is_runtime (key))
    {
      xp_error_set (error, XP_ERROR_ALIAS_KEY,
                    &(XpErrorDetails){ .key = (char *) xp_key_name (key) },
                    "Alias keys do not have runtime kernel registrations: %s stands for many cells",
                    xp_key_name (key));
      return FALSE;
    }
  g_mutex_lock (&xp_table_lock);
  const Row *row = xp_row_find (name);
  gboolean has = row != NULL && row_is_there (row)
                 && xp_row_cell (row, key).rule != XP_RULE_MISSING;
  g_mutex_unlock (&xp_table_lock);
  return has;
}

/* --- Facts of a definition. --- */

static const char *const alias_analysis_names[] = {
  [XP_ALIAS_ANALYSIS_UNSET] = "CONSERVATIVE (default)",
  [XP_ALIAS_ANALYSIS_CONSERVATIVE] = "CONSERVATIVE",
  [XP_ALIAS_ANALYSIS_FROM_SCHEMA] = "FROM_SCHEMA",
  [XP_ALIAS_ANALYSIS_PURE_FUNCTION] = "PURE_FUNCTION",
  [XP_ALIAS_ANALYSIS_INTERNAL_SPECIAL_CASE] = "INTERNAL_SPECIAL_CASE"
};

const char *
xp_alias_analysis_name (XpAliasAnalysis kind)
{
  return (unsigned) kind < XP_LENGTH (alias_analysis_names) ? alias_analysis_names[kind]
                                                            : "unknown";
}

gboolean
xp_alias_analysis_parse (const char *text, XpAliasAnalysis *kind, GError **error)
{
  g_return_val_if_fail (text != NULL && kind != NULL, FALSE);
  *kind = XP_ALIAS_ANALYSIS_UNSET;
  if (text[0] == '\0')
    return TRUE;
  for (unsigned i = XP_ALIAS_ANALYSIS_CONSERVATIVE; i < XP_LENGTH (alias_analysis_names); i++)
    if (strcmp (alias_analysis_names[i], text) == 0)
      {
        *kind = (XpAliasAnalysis) i;
        return TRUE;
      }
  g_autofree char *list = g_strjoin (", ", alias_analysis_names[1], alias_analysis_names[2],
                                     alias_analysis_names[3], alias_analysis_names[4], NULL);
  xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                "could not parse %s: expected a kind of alias analysis, one of %s", text, list);
  return FALSE;
}

gboolean
xp_row_info_has_tag (const XpRowInfo *info, const char *tag)
{
  g_return_val_if_fail (info != NULL && tag != NULL, FALSE);
  g_auto (GStrv) tags = g_strsplit (info->tags != NULL ? info->tags : "", " ", -1);
  return tag[0] != '\0' && g_strv_contains ((const char *const *) tags, tag);
}
