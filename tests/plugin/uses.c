/* SPDX-License-Identifier: MIT
 *
 * uses.c: one use of each family of public functions. What a use makes it frees, and what it
 * changes it changes back, so that it can be repeated, and by several threads.
 */
#include "plugin/uses.h"

#include <string.h>

#define NAME "fixture::number"

static XpTensor *
tensor_new (GError **error)
{
  return xp_tensor_new (XP_FLOAT32, XP_INTS (2), XP_CPU, error);
}

/* --- Values. --- */

static bool
use_tensors (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  g_autoptr (XpTensor) tensor = tensor_new (error);
  if (tensor == NULL)
    return false;
  xp_tensor_set_element (tensor, 1, xp_value_float (2));
  g_autoptr (XpTensor) view = xp_tensor_new_view (tensor, XP_INTS (1), XP_INTS (1), 1, error);
  g_autofree char *text = view != NULL ? xp_tensor_to_string (view) : NULL;
  return text != NULL && xp_tensor_get_element (view, 0).as.number == 2;
}

static bool
use_large_tensors (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  g_autoptr (XpTensor) tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (1 << 16), XP_CPU, error);
  return tensor != NULL && xp_tensor_resize (tensor, XP_INTS (1 << 17), error);
}

static bool
use_values (G_GNUC_UNUSED const Subject *subject, G_GNUC_UNUSED GError **error)
{
  g_auto (XpValue) list = xp_value_list (xp_list_new_int ((const int64_t[]){ 1, 2 }, 2));
  g_auto (XpValue) string = xp_value_string ("a text");
  g_autofree char *text = xp_value_to_string (list);
  return strcmp (text, "[1, 2]") == 0 && xp_value_equal (string, string);
}

static bool
use_generators (G_GNUC_UNUSED const Subject *subject, G_GNUC_UNUSED GError **error)
{
  XpGenerator *generator = xp_generator_new (XP_CPU, 7);
  xp_generator_advance (generator, 3);
  xp_generator_unref (generator);
  return true;
}

static bool
use_files_of_tensors (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  return xp_tensor_load_npy ("/nowhere/at/all.npy", error) != NULL;
}

static void
count (int64_t begin, int64_t end, void *data)
{
  __atomic_add_fetch ((int64_t *) data, end - begin, __ATOMIC_RELAXED);
}

static bool
use_loops (G_GNUC_UNUSED const Subject *subject, G_GNUC_UNUSED GError **error)
{
  int64_t n = 0;
  xp_parallel_for (0, 1000, 10, count, &n);
  return n == 1000 && xp_num_threads () > 0;
}

/* --- Schemas and keys. --- */

static bool
use_schemas (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  g_autoptr (XpSchema) schema = xp_schema_parse ("t::f(Tensor x, int n=1) -> Tensor", error);
  g_autofree char *text = schema != NULL ? xp_schema_to_string (schema) : NULL;
  return text != NULL;
}

static bool
use_bad_schemas (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  return xp_schema_parse ("t::f(Tensor x", error) != NULL;
}

static bool
use_keys (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  XpKey key;
  unsigned n;
  g_free (xp_key_list (&n));
  return xp_key_parse ("AutogradCPU", &key, error) && xp_key_name (key) != NULL;
}

static bool
use_devices (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  XpBackend backend;
  XpDevice device;
  return xp_backend_register ("late", &backend, error) && xp_device_parse ("late:0", &device, error)
         && xp_backend_unregister ("late", error);
}

/* --- Operators and calls. --- */

static bool
use_operators (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  XpOperator *op = xp_operator_get (NAME, error);
  return op != NULL && strcmp (xp_operator_name (op), NAME) == 0;
}

static bool
use_unknown_operators (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  return xp_operator_get ("fixture::absent", error) != NULL;
}

static bool
call (XpKernelHandle *handle, XpOperator *op, GError **error)
{
  g_autoptr (XpTensor) tensor = tensor_new (error);
  XpValue argument = xp_value_tensor (tensor), result;
  if (tensor == NULL)
    return false;
  return (handle != NULL ? xp_kernel_handle_call (handle, &argument, &result, error)
                         : xp_operator_call (op, &argument, &result, error))
         == XP_OK;
}

static bool
use_calls (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  XpOperator *op = xp_operator_get (NAME, error);
  return op != NULL && call (NULL, op, error);
}

static bool
use_handles (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  XpOperator *op = xp_operator_get (NAME, error);
  XpKernelHandle *handle = op != NULL ? xp_operator_computed_kernel (op, XP_KEY_CPU, error) : NULL;
  if (handle == NULL)
    return false;
  bool answered = call (handle, NULL, error);
  xp_kernel_handle_unref (handle);
  return answered;
}

static bool
use_guards (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  XP_BELOW_AUTOGRAD ();
  XP_INFERENCE_MODE (true);
  XpOperator *op = xp_operator_get (NAME, error);
  return op != NULL && call (NULL, op, error);
}

static void
take_line (G_GNUC_UNUSED const char *line, G_GNUC_UNUSED void *data)
{
}

static bool
use_traces (const Subject *subject, GError **error)
{
  xp_trace_begin (take_line, NULL);
  bool answered = use_calls (subject, error);
  xp_trace_end ();
  return answered;
}

/* --- The table. --- */

static bool
use_dumps (G_GNUC_UNUSED const Subject *subject, G_GNUC_UNUSED GError **error)
{
  g_autofree char *dump = xp_table_dump (NAME), *computed = xp_table_dump_computed (NAME);
  g_auto (GStrv) names = xp_table_names ();
  return names != NULL && (dump != NULL) == (computed != NULL);
}

static bool
use_rows (G_GNUC_UNUSED const Subject *subject, G_GNUC_UNUSED GError **error)
{
  g_autoptr (XpRowInfo) info = xp_table_row (NAME);
  g_auto (GStrv) overloads = xp_table_overloads (NAME);
  g_auto (GStrv) dangling = xp_table_dangling ();
  g_auto (GStrv) filled = xp_table_names_with_kernel (XP_KEY_CPU);
  unsigned n_pending, n_fallbacks;
  XpPendingInfo *pending = xp_table_pending (&n_pending);
  XpRegistrationInfo *fallbacks = xp_table_fallbacks (&n_fallbacks);
  xp_pending_infos_free (pending, n_pending);
  xp_registration_infos_free (fallbacks, n_fallbacks);
  return info == NULL || info->n_cells > 0;
}

static bool
use_cells (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  XpCellStack *stack = xp_table_cell (NAME, XP_KEY_CPU, error);
  xp_cell_stack_free (stack);
  xp_table_has_kernel (NAME, XP_KEY_CPU);
  return stack != NULL;
}

static bool
use_checks (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  return xp_table_check (error);
}

static void
hear (G_GNUC_UNUSED const char *name, G_GNUC_UNUSED gboolean is_defined, G_GNUC_UNUSED void *data)
{
}

static bool
use_listeners (G_GNUC_UNUSED const Subject *subject, G_GNUC_UNUSED GError **error)
{
  xp_table_unlisten (xp_table_listen (hear, NULL, NULL));
  return true;
}

static bool
use_blocks (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = "row(Tensor x) -> Tensor",
                                    .file = "uses.c" };
  const XpImplementation implementation = {
    .size = sizeof implementation, .name = "row", .boxed = xp_fallthrough, .file = "uses.c"
  };
  XpLibrary *rows = xp_library_new (XP_LIBRARY_KIND_FRAGMENT, "uses", NULL, "uses.c", 1, error);
  if (rows == NULL)
    return false;
  XpLibrary *cells = xp_library_new (XP_LIBRARY_KIND_IMPL, "uses", "CPU", "uses.c", 2, error);
  bool answered = cells != NULL && xp_library_def (rows, &definition, error)
                  && xp_library_impl (cells, &implementation, error);
  if (cells != NULL)
    xp_library_free (cells);
  xp_library_free (rows);
  return answered;
}

/* --- Preferences and settings. --- */

static bool
use_preferences (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  unsigned n;
  if (!xp_prefer ("uses::*@first", error))
    return false;
  XpPreference *preferences = xp_preferences (&n);
  xp_preferences_free (preferences, n);
  return xp_unprefer ("uses::*@first", error) && xp_set_on_tie (xp_on_tie (), error);
}

static bool
use_settings (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  unsigned n;
  XpSetting *settings = xp_settings (&n);
  xp_settings_free (settings, n);
  g_free (xp_settings_file ());
  g_free (xp_setting_get ("load"));
  g_strfreev (xp_setting_get_list ("load"));
  return n > 0 && xp_setting_set ("unload-timeout", "5", error);
}

static bool
use_the_file_of_settings (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  return xp_setting_save ("no-such-setting", "5", error);
}

/* --- Plugins. --- */

static bool
use_infos (const Subject *subject, GError **error)
{
  unsigned n;
  g_autoptr (XpPluginInfo) info = xp_plugin_info (subject->plugin);
  XpPluginInfo **infos = xp_plugins (&n);
  xp_plugin_infos_free (infos, n);
  infos = xp_plugins_for (NAME, XP_KEY_CPU, &n);
  xp_plugin_infos_free (infos, n);
  g_autoptr (XpPluginInfo) read = xp_plugin_info_read (subject->other, error);
  return info != NULL && read != NULL;
}

static bool
use_coverage (const Subject *subject, G_GNUC_UNUSED GError **error)
{
  XpCoverage *coverage = xp_plugin_coverage (subject->plugin);
  if (coverage != NULL)
    xp_coverage_free (coverage);
  return true;
}

static bool
use_the_search_path (G_GNUC_UNUSED const Subject *subject, GError **error)
{
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  xp_search_directories_free (directories, n);
  g_autofree char *path = xp_plugin_locate ("no-such-plugin", error);
  return path != NULL;
}

static bool
use_finding (const Subject *subject, G_GNUC_UNUSED GError **error)
{
  XpPlugin *plugin = xp_plugin_find ("first");
  xp_plugin_state (subject->plugin);
  xp_plugin_at ((const void *) use_finding);
  return plugin == NULL || plugin == subject->plugin;
}

static bool
use_pins (const Subject *subject, G_GNUC_UNUSED GError **error)
{
  xp_plugin_pin (subject->plugin);
  xp_plugin_unpin (subject->plugin);
  return true;
}

static bool
use_scans (const Subject *subject, GError **error)
{
  unsigned n;
  const char *const files[] = { subject->other, NULL };
  XpPluginInfo **infos = xp_plugins_scan (files, XP_SCAN_AGAIN, &n, error);
  if (infos == NULL)
    return false;
  xp_plugin_infos_free (infos, n);
  return true;
}

static bool
use_loads (const Subject *subject, GError **error)
{
  XpPlugin *other = xp_plugin_load (subject->other, error);
  return other != NULL && xp_plugin_unload (other, error);
}

static bool
use_swaps (const Subject *subject, GError **error)
{
  XpPlugin *next = xp_plugin_swap (subject->plugin, subject->other, XP_SWAP_STRICT, NULL, error);
  return next != NULL && xp_plugin_undo (0, NULL, NULL, error);
}

const Use uses[] = {
  { "tensors", use_tensors },
  { "large tensors", use_large_tensors },
  { "values", use_values },
  { "generators", use_generators },
  { "files of tensors", use_files_of_tensors },
  { "loops", use_loops },
  { "schemas", use_schemas },
  { "bad schemas", use_bad_schemas },
  { "keys", use_keys },
  { "devices", use_devices },
  { "operators", use_operators },
  { "unknown operators", use_unknown_operators },
  { "calls", use_calls },
  { "handles", use_handles },
  { "guards", use_guards },
  { "traces", use_traces },
  { "dumps", use_dumps },
  { "rows", use_rows },
  { "cells", use_cells },
  { "checks", use_checks },
  { "listeners", use_listeners },
  { "blocks", use_blocks },
  { "preferences", use_preferences },
  { "settings", use_settings },
  { "the file of settings", use_the_file_of_settings },
  { "infos", use_infos },
  { "coverage", use_coverage },
  { "the search path", use_the_search_path },
  { "finding", use_finding },
  { "pins", use_pins },
  { "scans", use_scans },
  { "loads", use_loads },
  { "swaps", use_swaps },
  { NULL, NULL },
};
