/* SPDX-License-Identifier: MIT
 *
 * reports.c: the commands that answer with a report.
 */
#include "commands/command.h"

#include <string.h>

static gboolean all;
static gboolean again;
static gboolean verbose;
static gboolean fail_on_rejected;
static gboolean pending;
static gboolean owners;
static gboolean computed;
static gboolean unset;
static char *schema_file;
static char *fallbacks_file;
static char *needs_file;

#define FAIL_ON_REJECTED                                                                           \
  {                                                                                                \
    "fail-on-rejected", 0, 0, G_OPTION_ARG_NONE, &fail_on_rejected,                                \
        "Exit 3 if a plugin is rejected, failed or quarantined", NULL                              \
  }

const GOptionEntry plugins_options[] = {
  { "all", 'a', 0, G_OPTION_ARG_NONE, &all,
    "Also those that are there but not loaded; they are scanned", NULL },
  FAIL_ON_REJECTED,
  { NULL },
};

const GOptionEntry scan_options[] = {
  { "again", 0, 0, G_OPTION_ARG_NONE, &again, "Also what was scanned and has not changed", NULL },
  { "verbose", 'v', 0, G_OPTION_ARG_NONE, &verbose,
    "Show which cells are filled, and what was ignored", NULL },
  FAIL_ON_REJECTED,
  { NULL },
};

const GOptionEntry lint_options[] = {
  { "verbose", 'v', 0, G_OPTION_ARG_NONE, &verbose, "Show all names, not the first twelve", NULL },
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
  { "needs", 0, 0, G_OPTION_ARG_FILENAME, &needs_file,
    "Print which of FILE's lines, `OPERATOR KEY`, are missing; `-` is standard input", "FILE" },
  { NULL },
};

const GOptionEntry config_options[] = {
  { "unset", 0, 0, G_OPTION_ARG_NONE, &unset, "Take NAME out of the user's file", NULL },
  { NULL },
};

XpReport *
report_plugins (G_GNUC_UNUSED char **arguments, G_GNUC_UNUSED GError **error)
{
  return xp_report_plugins (all);
}

XpReport *
report_scan (char **arguments, GError **error)
{
  return xp_report_scan ((const char *const *) arguments, again ? XP_SCAN_AGAIN : XP_SCAN_NEW,
                         verbose, error);
}

XpReport *
report_retry (char **arguments, GError **error)
{
  return xp_report_retry (arguments[0], error);
}

gboolean
command_fails_on_rejected (void)
{
  return fail_on_rejected;
}

XpReport *
report_info (char **arguments, GError **error)
{
  return xp_report_plugin (arguments[0], error);
}

XpReport *
report_lint (char **arguments, G_GNUC_UNUSED GError **error)
{
  return xp_report_lint ((const char *const *) arguments, verbose);
}

XpReport *
report_paths (G_GNUC_UNUSED char **arguments, G_GNUC_UNUSED GError **error)
{
  return xp_report_paths ();
}

XpReport *
report_config (char **arguments, GError **error)
{
  const char *name = arguments[0], *value = name != NULL ? arguments[1] : NULL;
  if (unset && (name == NULL || value != NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "expected one name with --unset, as in `config --unset load`");
      return NULL;
    }
  if (name == NULL)
    return xp_report_settings ();
  if ((unset || value != NULL) && !xp_setting_save (name, value, error))
    return NULL;
  return xp_report_setting (name, error);
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

static XpReport *
report_needs (char **arguments, GError **error)
{
  if (arguments[0] != NULL || computed)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "expected nothing else with --needs FILE");
      return NULL;
    }
  XpReportInput input = { 0 };
  XpReport *report = read_input (needs_file, "the needs", &input, error)
                         ? xp_report_needs (&input, error)
                         : NULL;
  clear_input (&input);
  return report;
}

/* Operators have a namespace in their names, keys have none. */
XpReport *
report_has (char **arguments, GError **error)
{
  if (needs_file != NULL)
    return report_needs (arguments, error);
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
