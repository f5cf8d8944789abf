/* SPDX-License-Identifier: MIT
 *
 * way.c: a program that a plugin gets into in some way, and what it then sees: the table, the
 * plugin's record, and the same once it is unloaded.
 *   way load|dlopen|late|linked|preloaded PLUGIN ROWS
 */
#include "plugin/fixtures.h"

#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
/* Of the plugin, so that the linker keeps a library that nothing else is taken from. */
static void (*volatile linked_fini) (void) = xp_plugin_fini;
#endif

static XpPlugin *
load (const char *path)
{
  GError *error = NULL;
  XpPlugin *plugin = xp_plugin_load (path, &error);
  if (plugin == NULL)
    g_error ("%s", error->message);
  return plugin;
}

static void
print_plugin (XpPlugin *plugin)
{
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  g_autofree char *file = g_path_get_basename (info->path);
  printf ("%s %s priority %d, %u cells, build-id %s, loads %u, %s\n", info->name, file,
          info->priority, info->n_cells, info->build_id, info->load_count,
          xp_plugin_state_name (info->state));
}

static void
print_owners (void)
{
  g_autoptr (XpRowInfo) row = xp_table_row ("fixture::number");
  for (unsigned i = 0; i < row->n_registrations; i++)
    printf ("%s %s %d\n", xp_key_name (row->registrations[i].key), row->registrations[i].plugin,
            row->registrations[i].priority);
}

static unsigned
count_records (const char *name)
{
  unsigned n, count = 0;
  XpPluginInfo **infos = xp_plugins (&n);
  for (unsigned i = 0; i < n; i++)
    {
      count += strcmp (infos[i]->name, name) == 0;
    }
  xp_plugin_infos_free (infos, n);
  return count;
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  if (argc != 4)
    return 2;
  const char *way = argv[1], *path = argv[2];
  void *handle = strcmp (way, "dlopen") == 0 ? dlopen (path, RTLD_NOW | RTLD_LOCAL) : NULL;
  load (argv[3]);
  if (strcmp (way, "late") == 0)
    handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  if (strcmp (way, "load") == 0)
    load (path);
  if (handle != NULL)
    dlclose (handle); /* it stays all the same */
  XpPlugin *plugin = xp_plugin_find ("way");
  if (plugin == NULL)
    g_error ("there is no plugin of that name");
  g_autofree char *table = table_text ();
  fputs (table, stdout);
  print_plugin (plugin);
  print_owners ();
  printf ("%" G_GINT64_FORMAT ", %u record\n", call_number ("fixture::number", &error),
          count_records ("way"));
  if (!xp_plugin_unload (plugin, &error))
    g_error ("%s", error->message);
  g_autofree char *after = table_text ();
  puts (after);
  bool stays = strcmp (way, "linked") == 0 || strcmp (way, "preloaded") == 0;
  printf ("gone: %d\n",
          xp_plugin_state (plugin) == (stays ? XP_PLUGIN_RETIRED : XP_PLUGIN_UNLOADED));
  return 0;
}
