/* SPDX-License-Identifier: MIT
 *
 * reports.c: the commands that answer with a report.
 */
#include "commands/command.h"

#include <string.h>

static gboolean all;
static gboolean pending;
static gboolean owners;
static gboolean computed;
static char *schema_file;
static char *fallbacks_file;

const GOptionEntry plugins_options[] = {
  { "all", 'a', 0, G_OPTION_ARG_NONE, &all, "Also those that are there but not loaded", NULL },
  { NULL },
};

const GOptionEntry ops_options[] = {
  { "pending", 0, 0, G_OPTION_ARG_NONE, &pending,
    "List kernels that wait for their operators to be defined instead", NULL },
  { NULL },
};

const GOptionEntry schema_options[] = {
  { "file", 0, 0, G_OPTION_ARG_FILENAME, &schema_file,
    "Print the canonical form of each line of FILE instead; `-` is standard input", "FILE" },
  { NULL },
};

const GOptionEntry replay_options[] = {
  { "fallbacks", 0, 0, G_OPTION_ARG_FILENAME, &fallbacks_file,
    "Compute with the fallbacks in FILE instead of PyTorch's own", "FILE" },
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
  return pending ? xp_report_pending (arguments[0]) : xp_report_operators (arguments[0]);
}

XpReport *
report_which (char **arguments, GError **error)
{
  return xp_report_which (arguments[0], arguments[1], error);
}

XpReport *
report_keys (G_GNUC_UNUSED char **arguments, G_GNUC_UNUSED GError **error)
{
  return xp_report_keys ();
}

/* Signatures of rows, or those in a file. */
XpReport *
report_schema (char **arguments, GError **error)
{
  if ((schema_file != NULL) == (arguments[0] != NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "expected operators, as in `schema aten::gelu`, or --file and nothing else");
      return NULL;
    }
  if (schema_file != NULL)
    {
      g_autoptr (GBytes) text = command_read (schema_file, "the schemas", error);
      return text != NULL ? xp_report_schema_lines (text) : NULL;
    }
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

static void
clear_input (gpointer input)
{
  g_clear_pointer (&((XpReportInput *) input)->text, g_bytes_unref);
}

static gboolean
read_input (const char *path, const char *what, XpReportInput *input, GError **error)
{
  input->name = strcmp (path, "-") == 0 ? "standard input" : path;
  input->text = command_read (path, what, error);
  return input->text != NULL;
}

XpReport *
report_replay (char **arguments, GError **error)
{
  unsigned n = g_strv_length (arguments), n_standard = g_strcmp0 (fallbacks_file, "-") == 0;
  for (unsigned i = 0; i < n; i++)
    n_standard += strcmp (arguments[i], "-") == 0;
  if (n_standard > 1)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "standard input, `-`, can be read only once, and is named %u times", n_standard);
      return NULL;
    }
  g_autoptr (GArray) inputs = g_array_new (FALSE, TRUE, sizeof (XpReportInput));
  g_array_set_clear_func (inputs, clear_input);
  g_array_set_size (inputs, n + 1);
  XpReportInput *dumps = (XpReportInput *) (void *) inputs->data, *fallbacks = dumps + n;
  for (unsigned i = 0; i < n; i++)
    if (!read_input (arguments[i], "the dump", &dumps[i], error))
      return NULL;
  if (fallbacks_file != NULL && !read_input (fallbacks_file, "the fallbacks", fallbacks, error))
    return NULL;
  return xp_report_replay (dumps, n, fallbacks_file != NULL ? fallbacks : NULL);
}
