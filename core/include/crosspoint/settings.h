/* SPDX-License-Identifier: MIT
 *
 * settings.h: what a user can choose without changing the program.
 *
 * A setting has a name, and a value in up to four layers, the first that has one counting: what the
 * program has set; the variable in the environment; the user's file; the default. The file is a
 * GLib key file with one group:
 *
 *    [crosspoint]
 *    on-tie=error
 *    prefer=aten::mm@openblas,blis
 *
 * Environment and file are not read in a process with raised privileges. A value that does not fit
 * is warned of, and the next layer counts.
 */
#ifndef XP_SETTINGS_H
#define XP_SETTINGS_H

#include <crosspoint/macros.h>

G_BEGIN_DECLS

/* _ (name, variable, kind, default, meaning) */
#define XP_SETTING_LIST(_)                                                                         \
  _ ("plugin-path", "CROSSPOINT_PLUGIN_PATH", PATHS, "",                                           \
     "directories to look for plugins in before the others; those of every layer count")           \
  _ ("plugin-system-path", "CROSSPOINT_PLUGIN_SYSTEM_PATH", PATHS, "",                             \
     "directories to look for plugins in instead of the standard ones")                            \
  _ ("load", "CROSSPOINT_LOAD", NAMES, "aten,cpu,sparse,meta,composite",                           \
     "plugins that the program `crosspoint` loads by itself; `default` stands for the built-in "   \
     "ones")                                                                                       \
  _ ("disable", "CROSSPOINT_DISABLE", NAMES, "", "plugins that are never loaded; `*` and `?` fit") \
  _ ("prefer", "CROSSPOINT_PREFER", NAMES, "",                                                     \
     "whose kernels come first: PLUGIN or OPERATOR@PLUGIN/KEY, the strongest first")               \
  _ ("on-tie", "CROSSPOINT_ON_TIE", TIE, "newest",                                                 \
     "when two plugins of one priority fill one cell: newest, or error")                           \
  _ ("unload-timeout", "CROSSPOINT_UNLOAD_TIMEOUT", SECONDS, "10",                                 \
     "how long unloading waits for the threads inside, in seconds")                                \
  _ ("scan-timeout", "CROSSPOINT_SCAN_TIMEOUT", SECONDS, "10",                                     \
     "how long a plugin may take to be scanned, in seconds")                                       \
  _ ("load-quarantined", "CROSSPOINT_LOAD_QUARANTINED", SWITCH, "0",                               \
     "whether plugins are loaded that crashed or hung when they were scanned")                     \
  _ ("load-in-place", "CROSSPOINT_LOAD_IN_PLACE", SWITCH, "0",                                     \
     "whether files are opened themselves, not private copies of them")                            \
  _ ("cpu-features", "CROSSPOINT_CPU_FEATURES", FEATURES, "",                                      \
     "CPU features to do without, as in -avx512f")                                                 \
  _ ("undo-depth", "CROSSPOINT_UNDO_DEPTH", COUNT, "1",                                            \
     "how many swaps can be undone, each keeping the old file mapped")                             \
  _ ("num-threads", "CROSSPOINT_NUM_THREADS", COUNT, "0",                                          \
     "how many threads a kernel may use, the calling one included; 0 for one on each core")

/**
 * XpSettingLayer:
 * @XP_SETTING_PROGRAM: xp_setting_set()
 * @XP_SETTING_ENVIRONMENT: the variable
 * @XP_SETTING_FILE: the user's file
 * @XP_SETTING_DEFAULT: built in
 *
 * Where a value comes from, the strongest first.
 */
typedef enum
{
  XP_SETTING_PROGRAM,
  XP_SETTING_ENVIRONMENT,
  XP_SETTING_FILE,
  XP_SETTING_DEFAULT,
  XP_N_SETTING_LAYERS
} XpSettingLayer;

/**
 * XpSetting:
 * @name: `on-tie`
 * @variable: `CROSSPOINT_ON_TIE`
 * @meaning: a line on what it does
 * @value: the value that counts
 * @layer: where that is from
 * @source: the same in words: `program`, the name of the variable, the file's path, `default`
 *
 * A setting as it is now. The texts of the first three are static.
 */
typedef struct
{
  const char *name;
  const char *variable;
  const char *meaning;
  char *value;
  XpSettingLayer layer;
  char *source;
} XpSetting;

/**
 * xp_settings:
 * @n_settings: (out): how many
 *
 * Returns: (transfer full) (array length=n_settings): every setting; free with xp_settings_free()
 */
XP_PUBLIC XpSetting *xp_settings (unsigned *n_settings);
XP_PUBLIC void xp_settings_free (XpSetting *settings, unsigned n_settings);

/**
 * xp_setting_get:
 * @name: the name of a setting
 *
 * Returns: (transfer full): the value that counts
 */
XP_PUBLIC char *xp_setting_get (const char *name);

/**
 * xp_setting_get_layer:
 * @name: the name of a setting
 * @layer: a layer
 *
 * Returns: (transfer full) (nullable): its value in that layer alone, or %NULL
 */
XP_PUBLIC char *xp_setting_get_layer (const char *name, XpSettingLayer layer);

/**
 * xp_setting_get_number:
 * @name: the name of a setting whose value is a number, or a switch
 *
 * Returns: its value; 0 or 1 for a switch
 */
XP_PUBLIC double xp_setting_get_number (const char *name);

/**
 * xp_setting_get_list:
 * @name: the name of a setting whose value is a list
 *
 * The word `default` in it stands for the parts of the default, where that is not empty.
 *
 * Returns: (transfer full) (array zero-terminated=1): its parts, without empty ones; free with
 *   g_strfreev()
 */
XP_PUBLIC char **xp_setting_get_list (const char *name);

/**
 * xp_setting_set:
 * @name: the name of a setting
 * @value: (nullable): its value for this process, or %NULL to take that back
 * @error: return location for an error
 *
 * Sets a value over environment and file. What is in effect already, such as a plugin that is
 * loaded, stays.
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT, for a name that is none, with all there are, and for a value
 * that does not fit.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_setting_set (const char *name, const char *value, GError **error);

/**
 * xp_setting_save:
 * @name: the name of a setting
 * @value: (nullable): its value, or %NULL to take its line out
 * @error: return location for an error
 *
 * Writes a setting into the user's file, which is replaced as a whole, with what else stands in it,
 * comments too; makes the file and its directory where there are none. A value that the program or
 * the environment gives still counts before it.
 *
 * Errors: those of xp_setting_set(), and %XP_ERROR_INVALID_ARGUMENT for a value of several lines;
 * %XP_ERROR_FILE_FORMAT, if what is there is no file of settings, and %XP_ERROR_UNSAFE_FILE, if
 * everyone may write to it, or the process has raised privileges; %XP_ERROR_FILE_IO;
 * %XP_ERROR_BUSY, if another process has been writing for 5 seconds. On all of them the file is
 * as it was.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_setting_save (const char *name, const char *value, GError **error);

/**
 * XpSettingEdit:
 * @before: (nullable): the value in the user's file, or %NULL
 * @data: what was given with the function
 * @after: (out) (transfer full) (nullable): the new value, or %NULL to take the line out
 * @error: return location for an error
 *
 * Makes a new value of the old one. The file's lock is held: it may not change settings.
 *
 * Returns: %FALSE, with @error set, to leave the file as it is
 */
typedef gboolean (*XpSettingEdit) (const char *before, void *data, char **after, GError **error);

/**
 * xp_setting_edit:
 * @name: the name of a setting
 * @edit: what makes the new value
 * @data: for @edit
 * @error: return location for an error
 *
 * xp_setting_save() of a value that depends on the one in the file. From reading to writing no
 * other process writes: each holds a lock on a file beside it, which ends in `.lock` and stays.
 *
 * Errors: those of @edit and of xp_setting_save().
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_setting_edit (const char *name, XpSettingEdit edit, void *data,
                                    GError **error);

/**
 * xp_settings_file:
 *
 * Returns: (transfer full): the user's file: CROSSPOINT_CONFIG, or `crosspoint/crosspoint.conf` in
 *   the user's configuration directory; it need not be there
 */
XP_PUBLIC char *xp_settings_file (void);

G_END_DECLS

#endif
