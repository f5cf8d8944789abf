/* SPDX-License-Identifier: MIT
 *
 * reports.c: the commands that answer with a report.
 */
#include "commands/command.h"

#include <string.h>

static gboolean all;
static gboolean owners;
static gboolean computed;

const GOptionEntry plugins_options[] = {
  { "all", 'a', 0, G_OPTION_ARG_NONE, &all, "Also those that are there but not loaded", NULL },
  { NULL },
};

const GOptionEntry dump_options[] = {
  { "owners", 0, 0, G_OPTION_ARG_NONE, &owners, "Add plugin and priority to each line", NULL },
  { NULL },
};

const GOptionEntry has_options[] = {
  { "computed", 0, 0, G_OPTION_ARG_NONE, &computed,
    "Whether the cell holds a kernel by any rule, not only one registered under that key", NULL },
  { NULL },
};

XpReport *
report_plugins (G_GNUC_UNUSED char **arguments, G_GNUC_UNUSED GError **error)
{
  return xp_report_plugins (all);
}

XpReport *
report_info (char **arguments, GError **error)
{
  return xp_report_plugin (arguments[0], error);
}

XpReport *
report_paths (G_GNUC_UNUSED char **arguments, G_GNUC_UNUSED GError **error)
{
  return xp_report_paths ();
}

XpReport *
report_ops (char **arguments, G_GNUC_UNUSED GError **error)
{
  return xp_report_operators (arguments[0]);
}

XpReport *
report_keys (G_GNUC_UNUSED char **arguments, G_GNUC_UNUSED GError **error)
{
  return xp_report_keys ();
}

XpReport *
report_schema (char **arguments, GError **error)
{
  return xp_report_schemas ((const char *const *) arguments, error);
}

XpReport *
report_dump (char **arguments, GError **error)
{
  return xp_report_dump (arguments[0], owners, error);
}

XpReport *
report_table (char **arguments, GError **error)
{
  return xp_report_table (arguments[0], error);
}

/* Operators have a namespace in their names, keys have none. */
XpReport *
report_has (char **arguments, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  for (; *arguments != NULL; arguments++)
    g_ptr_array_add (strstr (*arguments, "::") != NULL ? names : keys, *arguments);
  if (names->len == 0 || keys->len == 0)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "expected operators and keys, as in `has aten::gelu CPU`; found %u operator%s "
                   "and %u key%s",
                   names->len, names->len == 1 ? "" : "s", keys->len, keys->len == 1 ? "" : "s");
      return NULL;
    }
  g_ptr_array_add (names, NULL);
  g_ptr_array_add (keys, NULL);
  return xp_report_has ((const char *const *) names->pdata, (const char *const *) keys->pdata,
                        computed, error);
}
