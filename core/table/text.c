/* SPDX-License-Identifier: MIT
 *
 * text.c: a row as PyTorch prints it, byte for byte: its registrations (reference 4.1) and its
 * cells (reference 4.2).
 */
#include <crosspoint/table.h>

char *
xp_row_info_dump (const XpRowInfo *info)
{
  g_return_val_if_fail (info != NULL, NULL);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "name: %s\n", info->name);
  if (info->schema == NULL)
    g_string_append (text, "schema: (none)\n");
  else
    g_string_append_printf (text, "schema: %s\ndebug: %s\nalias analysis kind: %s\n", info->schema,
                            info->location, xp_alias_analysis_name (info->alias_analysis));
  for (unsigned i = 0; i < info->n_registrations; i++)
    {
      const XpRegistrationInfo *registration = &info->registrations[i];
      g_string_append_printf (text, "%s%s%s: %s :: %s [ %sboxed %s]\n",
                              xp_key_name (registration->key),
                              xp_key_is_alias (registration->key) ? "[alias]" : "",
                              registration->is_active ? "" : " (inactive)", registration->location,
                              registration->signature != NULL ? registration->signature : "(none)",
                              registration->is_fallthrough ? "fallthrough " : "",
                              registration->is_typed ? "unboxed " : "");
    }
  return g_string_free (text, FALSE);
}

char *
xp_row_info_dump_computed (const XpRowInfo *info)
{
  g_return_val_if_fail (info != NULL, NULL);
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < info->n_cells; i++)
    {
      const XpCellInfo *cell = &info->cells[i];
      if (cell->rule != XP_RULE_MISSING)
        g_string_append_printf (text, "%s: %s%s [%s]\n", xp_key_name (cell->key),
                                cell->is_fallthrough ? "fallthrough " : "", cell->location,
                                xp_rule_label (cell->rule));
    }
  return g_string_free (text, FALSE);
}

char *
xp_table_dump (const char *name)
{
  g_autoptr (XpRowInfo) info = xp_table_row (name);
  return info != NULL ? xp_row_info_dump (info) : g_strdup ("");
}

char *
xp_table_dump_computed (const char *name)
{
  g_autoptr (XpRowInfo) info = xp_table_row (name);
  return info != NULL ? xp_row_info_dump_computed (info) : g_strdup ("");
}
