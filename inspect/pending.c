/* SPDX-License-Identifier: MIT
 *
 * pending.c: the report on kernels that wait for their operators to be defined.
 */
#include "report.h"

static void
pending_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonArray *pending = get_array (json_node_get_object (model), "pending");
  unsigned n = json_array_get_length (pending);
  const char *const titles[] = { "OPERATOR", "KEY", "PLUGIN", "LOCATION", NULL };
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_ptr_array_add (rows, g_strdupv ((char **) titles));
  for (unsigned i = 0; i < n; i++)
    {
      JsonObject *one = json_array_get_object_element (pending, i);
      const char *const cells[] = { get_text (one, "operator"), get_text (one, "key"),
                                    get_text (one, "plugin"), get_text (one, "debug"), NULL };
      g_ptr_array_add (rows, g_strdupv ((char **) cells));
    }
  if (n > 0)
    append_columns (text, rows, colour);
  g_string_append_printf (text, "%u pending\n", n);
}

XpReport *
xp_report_pending (const char *pattern)
{
  unsigned n;
  XpPendingInfo *infos = xp_table_pending (&n);
  g_autoptr (GPatternSpec) glob = pattern != NULL ? g_pattern_spec_new (pattern) : NULL;
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "pending");
  for (unsigned i = 0; i < n; i++)
    {
      if (glob != NULL && !g_pattern_spec_match_string (glob, infos[i].name))
        continue;
      json_builder_begin_object (builder);
      add_text (builder, "operator", infos[i].name);
      add_text (builder, "key", xp_key_name (infos[i].key));
      add_text (builder, "plugin", infos[i].plugin);
      add_text (builder, "debug", infos[i].location);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  xp_pending_infos_free (infos, n);
  return report_new (builder, pending_text);
}
