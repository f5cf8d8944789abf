/* SPDX-License-Identifier: MIT
 *
 * coverage.c: what a plugin has in the table now.
 */
#include "plugin/plugin.h"

#include <crosspoint/scan.h>

static void
add_row (GArray *rows, const Definition *definition, const char *name)
{
  XpCoverageRow row = { g_strdup (name), xp_schema_to_string (definition->schema),
                        g_strdup (definition->location) };
  g_array_append_val (rows, row);
}

static void
add_cell (GArray *cells, const Entry *entry)
{
  const Registration *registration = entry->registration;
  XpCoverageCell cell = {
    .op = g_strdup (entry->row_name != NULL ? entry->row_name : ""),
    .key = g_strdup (xp_key_name (registration->key)),
    .location = g_strdup (registration->location != NULL ? registration->location : ""),
    .is_typed = registration->kernel.adapted != NULL,
    .is_fallthrough = registration->is_fallthrough,
    .is_pending = entry->row != NULL && entry->row->definition == NULL,
  };
  g_array_append_val (cells, cell);
}

XpCoverage *
xp_plugin_coverage (XpPlugin *plugin)
{
  g_return_val_if_fail (plugin != NULL, NULL);
  GArray *rows = g_array_new (FALSE, TRUE, sizeof (XpCoverageRow));
  GArray *cells = g_array_new (FALSE, TRUE, sizeof (XpCoverageCell));
  g_autoptr (GStrvBuilder) devices = g_strv_builder_new ();
  g_mutex_lock (&xp_table_lock);
  for (unsigned i = 0; i < plugin->owner.libraries->len; i++)
    {
      const XpLibrary *library = plugin->owner.libraries->pdata[i];
      for (unsigned j = 0; j < library->entries->len; j++)
        {
          const Entry *entry = library->entries->pdata[j];
          if (!entry->is_in_table)
            continue;
          if (entry->device != 0)
            g_strv_builder_add (devices, xp_backend_name ((XpBackend) entry->device));
          else if (entry->definition != NULL)
            add_row (rows, entry->definition, entry->row_name);
          else if (entry->registration != NULL)
            add_cell (cells, entry);
        }
    }
  g_mutex_unlock (&xp_table_lock);
  XpCoverage *coverage = g_new0 (XpCoverage, 1);
  coverage->n_rows = rows->len;
  coverage->rows = (XpCoverageRow *) (void *) g_array_free (rows, FALSE);
  coverage->n_cells = cells->len;
  coverage->cells = (XpCoverageCell *) (void *) g_array_free (cells, FALSE);
  coverage->devices = g_strv_builder_end (devices);
  return coverage;
}
