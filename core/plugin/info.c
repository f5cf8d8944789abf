/* SPDX-License-Identifier: MIT
 *
 * info.c: snapshots of what is known about plugins.
 */
#include "plugin/cpu.h"
#include "plugin/plugin.h"

#include <string.h>

XpPluginInfo *
xp_plugin_info_new (const char *name, const char *path)
{
  XpPluginInfo *info = g_new0 (XpPluginInfo, 1);
  char **texts[] = { &info->version, &info->description, &info->licence, &info->abi,
                     &info->machine };
  char ***lists[] = { &info->requires_, &info->defines, &info->fills, &info->kernels, &info->cpu };
  for (unsigned i = 0; i < XP_LENGTH (texts); i++)
    *texts[i] = g_strdup ("");
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    *lists[i] = g_new0 (char *, 1);
  info->name = g_strdup (name);
  info->path = g_strdup (path);
  info->state = XP_PLUGIN_AVAILABLE;
  return info;
}

XpPluginInfo *
xp_plugin_info_copy (const XpPluginInfo *info)
{
  XpPluginInfo *copy = g_memdup2 (info, sizeof *info);
  char **texts[] = { &copy->name,     &copy->version, &copy->description, &copy->licence,
                     &copy->abi,      &copy->machine, &copy->path,        &copy->mapped_path,
                     &copy->build_id, &copy->reason,  &copy->resident };
  char ***lists[] = { &copy->requires_, &copy->defines, &copy->fills, &copy->kernels, &copy->cpu };
  for (unsigned i = 0; i < XP_LENGTH (texts); i++)
    *texts[i] = g_strdup (*texts[i]);
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    *lists[i] = g_strdupv (*lists[i]);
  return copy;
}

void
xp_plugin_info_free (XpPluginInfo *info)
{
  if (info == NULL)
    return;
  char *texts[] = { info->name,     info->version, info->description, info->licence,
                    info->abi,      info->machine, info->path,        info->mapped_path,
                    info->build_id, info->reason,  info->resident };
  char **lists[] = { info->requires_, info->defines, info->fills, info->kernels, info->cpu };
  for (unsigned i = 0; i < XP_LENGTH (texts); i++)
    g_free (texts[i]);
  for (unsigned i = 0; i < XP_LENGTH (lists); i++)
    g_strfreev (lists[i]);
  g_free (info);
}

void
xp_plugin_infos_free (XpPluginInfo **infos, unsigned n_infos)
{
  for (unsigned i = 0; i < n_infos; i++)
    xp_plugin_info_free (infos[i]);
  g_free (infos);
}

XpPluginInfo *
xp_plugin_info (XpPlugin *plugin)
{
  g_return_val_if_fail (plugin != NULL, NULL);
  unsigned n_rows, n_cells;
  xp_owner_count (&plugin->owner, &n_rows, &n_cells);
  g_mutex_lock (&xp_plugins_lock);
  XpPluginInfo *info = xp_plugin_info_copy (plugin->note);
  info->state = plugin->state;
  g_free (info->reason); /* of a file that was refused */
  info->reason = g_strdup (plugin->reason);
  g_free (info->mapped_path);
  info->mapped_path = g_strdup (plugin->mapped_path);
  info->load_count = __atomic_load_n (&plugin->load_count, __ATOMIC_RELAXED);
  info->pin_count = __atomic_load_n (&plugin->pins, __ATOMIC_SEQ_CST);
  info->n_rows = n_rows;
  info->n_cells = n_cells;
  g_mutex_unlock (&xp_plugins_lock);
  return info;
}

static XpPluginInfo *
core_info (void)
{
  XpPluginInfo *info = xp_plugin_info_new (xp_core_owner.name, NULL);
  g_free (info->version);
  g_free (info->description);
  g_free (info->licence);
  g_free (info->abi);
  info->version = g_strdup (xp_version ());
  info->description = g_strdup ("The table itself, and its standard fallbacks");
  info->licence = g_strdup ("MIT");
  info->abi = g_strdup_printf ("%d.%d", XP_ABI_MAJOR, XP_ABI_MINOR);
  info->path = xp_object_path_at ((void *) core_info);
  info->state = XP_PLUGIN_LOADED;
  info->priority = xp_core_owner.priority;
  info->resident = g_strdup ("it is the core");
  info->load_count = 1;
  xp_owner_count (&xp_core_owner, &info->n_rows, &info->n_cells);
  return info;
}

/* The core first, then by name. */
static int
compare_infos (const void *a, const void *b)
{
  const XpPluginInfo *x = *(const XpPluginInfo *const *) a, *y = *(const XpPluginInfo *const *) b;
  if ((x->priority == G_MININT) != (y->priority == G_MININT))
    return x->priority == G_MININT ? -1 : 1;
  int order = strcmp (x->name, y->name);
  return order != 0 ? order : g_strcmp0 (x->path, y->path);
}

void
xp_plugin_info_reject (XpPluginInfo *info, const GError *reason)
{
  info->state = XP_PLUGIN_REJECTED;
  info->error = reason->domain == XP_ERROR ? xp_error_name ((XpError) reason->code) : NULL;
  g_free (info->reason);
  info->reason = g_strdup (reason->message);
}

/* Another variant is loaded instead. */
static void
pass_over (XpPluginInfo *info)
{
  g_autofree char *best = xp_search_best_variant (info->path);
  bool is_for_here = info->state == XP_PLUGIN_AVAILABLE;
  if (best == NULL || strcmp (best, info->path) == 0
      || !(is_for_here || !xp_cpu_check (info, NULL)))
    return;
  info->state = XP_PLUGIN_PASSED_OVER;
  if (is_for_here)
    info->reason = g_strdup_printf (
        "this machine runs %s, which is better; load this one by its path", best);
}

static XpPluginInfo *
read_file (const char *path, bool by_name)
{
  g_autoptr (GError) error = NULL;
  XpPluginInfo *info = xp_plugin_info_read (path, &error);
  if (info == NULL)
    {
      g_autofree char *name = xp_note_name_of_file (path);
      info = xp_plugin_info_new (name, path);
    }
  else if (info->state == XP_PLUGIN_REJECTED || !by_name || xp_search_check_name (info, &error))
    return info;
  xp_plugin_info_reject (info, error);
  return info;
}

XpPluginInfo *
xp_plugin_info_of_file (const char *path, bool by_name)
{
  XpPluginInfo *info = read_file (path, by_name);
  if (by_name)
    pass_over (info);
  return info;
}

/* A file that was loaded again has a record for each time; what is gone is history. */
static void
drop_history (GPtrArray *infos)
{
  g_autoptr (GHashTable) loaded = g_hash_table_new (g_str_hash, g_str_equal);
  for (unsigned i = 1; i < infos->len; i++)
    {
      const XpPluginInfo *info = infos->pdata[i];
      if (info->state == XP_PLUGIN_LOADED)
        g_hash_table_add (loaded, info->path);
    }
  for (unsigned i = infos->len; i-- > 1;)
    {
      XpPluginInfo *info = infos->pdata[i];
      if (info->state == XP_PLUGIN_UNLOADED && g_hash_table_contains (loaded, info->path))
        {
          g_ptr_array_remove_index (infos, i);
          xp_plugin_info_free (info);
        }
    }
}

XpPluginInfo **
xp_plugins_now (unsigned *n_plugins)
{
  g_autoptr (GHashTable) known = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) files = xp_search_all ();
  GPtrArray *infos = g_ptr_array_new ();
  g_ptr_array_add (infos, core_info ());
  for (XpPlugin *plugin = xp_plugin_records (); plugin != NULL; plugin = plugin->next)
    g_ptr_array_add (infos, xp_plugin_info (plugin));
  drop_history (infos);
  for (unsigned i = 1; i < infos->len; i++)
    g_hash_table_add (known, ((XpPluginInfo *) infos->pdata[i])->path);
  for (unsigned i = 0; i < files->len; i++)
    if (!g_hash_table_contains (known, files->pdata[i]))
      {
        XpPluginInfo *info = xp_plugin_info_of_file (files->pdata[i], true);
        xp_scan_take_known (info);
        g_ptr_array_add (infos, info);
      }
  g_ptr_array_sort (infos, compare_infos);
  *n_plugins = infos->len;
  return (XpPluginInfo **) g_ptr_array_free (infos, FALSE);
}

XpPluginInfo **
xp_plugins (unsigned *n_plugins)
{
  g_return_val_if_fail (n_plugins != NULL, NULL);
  xp_unload_drained (false);
  return xp_plugins_now (n_plugins);
}
