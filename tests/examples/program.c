/* SPDX-License-Identifier: MIT
 *
 * program.c: calls t::f, tells who has the cells, takes the plugins away, and loads the files that
 * it is given.
 */
#include <crosspoint.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

void middle (void);

static void
call (void)
{
  GError *error = NULL;
  XpOperator *op = xp_operator_get ("t::f", &error);
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (1), XP_CPU, NULL);
  XpValue argument = xp_value_tensor (tensor), result = { 0 };
  if (op != NULL && xp_operator_call (op, &argument, &result, &error) == XP_OK)
    printf ("t::f gives %d\n", (int) result.as.integer);
  else
    printf ("%s\n", error->message);
  g_clear_error (&error);
  xp_tensor_unref (tensor);
}

static void
list (void)
{
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  for (unsigned i = 0; i < n; i++)
    {
      if (infos[i]->load_count > 0 || infos[i]->reason != NULL)
        printf ("%s %s: priority %d, %u cells; %s\n", infos[i]->name,
                xp_plugin_state_name (infos[i]->state),
                infos[i]->priority == G_MININT ? -1 : infos[i]->priority, infos[i]->n_cells,
                infos[i]->reason);
    }
  xp_plugin_infos_free (infos, n);
  const char *rows[] = { "t::f", "t::g", "t::h" };
  for (unsigned i = 0; i < XP_LENGTH (rows); i++)
    {
      g_autoptr (XpRowInfo) row = xp_table_row (rows[i]);
      for (unsigned j = 0; row != NULL && j < row->n_registrations; j++)
        printf ("%s %s [%d] %s\n", rows[i], row->registrations[j].plugin,
                row->registrations[j].priority,
                row->registrations[j].is_active ? "active" : "inactive");
    }
}

static void
unload (const char *name)
{
  GError *error = NULL;
  XpPlugin *plugin = xp_plugin_find (name);
  if (plugin == NULL)
    return;
  if (!xp_plugin_unload (plugin, &error))
    printf ("%s\n", error->message);
  else
    printf ("%s is %s\n", name, xp_plugin_state_name (xp_plugin_state (plugin)));
}

int
main (int argc, char **argv)
{
  middle ();
  call ();
  list ();
  for (int i = 1; i < argc; i++)
    {
      GError *error = NULL;
      bool is_plain = strcmp (argv[i], "open") == 0 && i + 1 < argc;
      if (is_plain && dlopen (argv[++i], RTLD_NOW | RTLD_LOCAL) == NULL)
        printf ("%s\n", dlerror ());
      if (!is_plain && xp_plugin_load (argv[i], &error) == NULL)
        printf ("%s: %s\n", xp_error_name ((XpError) error->code), error->message);
      else if (!is_plain)
        printf ("loaded %s\n", argv[i]);
      g_clear_error (&error);
    }
  call ();
  unload ("other");
  unload ("k");
  call ();
  if (argc == 1 && xp_plugin_load ("k", NULL) != NULL)
    call ();
  return 0;
}
