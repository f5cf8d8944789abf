/* SPDX-License-Identifier: MIT
 *
 * loader.h: plugins as a program sees them: finding, reading, loading, swapping, unloading.
 *
 * A load is a transaction: everything the plugin's constructors register is checked as a whole and
 * published at once, and any error leaves the table as it was. Loads are counted; the last unload
 * acts. All functions may be called from any thread, but not from within a plugin's constructor,
 * probe or fini, nor from what a load or unload calls, such as a destructor or a handler of
 * messages: that is %XP_ERROR_NESTED_LOAD. A constructor must not wait for a thread that loads,
 * unloads or swaps, which waits for it. A thread that is cancelled while it loads, unloads or swaps
 * does so first.
 */
#ifndef XP_LOADER_H
#define XP_LOADER_H

#include <crosspoint/table.h>

G_BEGIN_DECLS

/**
 * XpPlugin:
 *
 * The record of a plugin that was loaded, or tried. It lives as long as the process.
 */
typedef struct XpPlugin XpPlugin;

/* _ (enumerator, name, meaning) */
#define XP_PLUGIN_STATE_LIST(_)                                                                    \
  _ (AVAILABLE, "available", "its note is good; it is not loaded")                                 \
  _ (LOADING, "loading", "its constructors are running")                                           \
  _ (LOADED, "loaded", "its rows and cells are in the table")                                      \
  _ (INACTIVE, "inactive", "another has its place; its file stays mapped, to be brought back")     \
  _ (DRAINING, "draining", "its cells are gone; something of it is still in use")                  \
  _ (UNLOADED, "unloaded", "it was loaded; its file is unmapped")                                  \
  _ (RETIRED, "retired", "its cells are gone; its file stays mapped, for a reason")                \
  _ (REJECTED, "rejected", "it was refused before any of its code ran")                            \
  _ (UNSUITABLE, "unsuitable", "its probe says that it cannot work here")                          \
  _ (FAILED, "failed", "it could not be opened, or what it registers does not fit")                \
  _ (QUARANTINED, "quarantined", "it crashed, hung or ended its process when it was scanned")      \
  _ (PASSED_OVER, "passed over", "another variant of it is better here")

#define XP_PLUGIN_STATE_ENUMERATOR_(enumerator, name, meaning) XP_PLUGIN_##enumerator,
typedef enum
{
  XP_PLUGIN_STATE_LIST (XP_PLUGIN_STATE_ENUMERATOR_) XP_N_PLUGIN_STATES
} XpPluginState;

XP_PUBLIC const char *xp_plugin_state_name (XpPluginState state);

/**
 * XpPluginInfo:
 * @name: its name
 * @version: its version, or empty
 * @description: what it brings, or empty
 * @licence: its licence, or empty
 * @abi: the binary interface it asks for, `1.0`
 * @machine: the machine it is built for, `x86-64`
 * @path: (nullable): its file; %NULL for the core itself
 * @mapped_path: (nullable): the private copy that is open
 * @build_id: (nullable): its build-id in hexadecimal
 * @state: where it is in its life
 * @reason: (nullable): why it is there
 * @error: (nullable): the name of the error code of that, `WRONG_ABI`, where a file was refused
 * @scanned: when the file was scanned, in seconds since 1970; 0 for one that is loaded, or was not
 * @resident: (nullable): why its file will stay mapped after unloading
 * @load_count: how often it is loaded
 * @pin_count: what keeps it mapped
 * @priority: the priority of what it registers
 * @n_rows: rows it defines now; of one that is not loaded, those that the scan has found
 * @n_cells: kernels and fallbacks it has in the table now; or those that the scan has found
 * @requires: plugins it needs
 * @defines: namespaces it opens rows in
 * @fills: `namespace/key` it fills cells of
 * @kernels: operators that it has typed kernels for; it may have other kernels too
 * @cpu: CPU features it needs
 * @has_core: whether a copy of the core is linked into it, so that it cannot be loaded
 * @declares_resident: whether @resident is what its own note says
 * @is_schemas: whether it is a file of schemas, NAME.ops, which has no code
 *
 * What is known about a plugin without running it, and where it is in its life.
 */
typedef struct
{
  char *name;
  char *version;
  char *description;
  char *licence;
  char *abi;
  char *machine;
  char *path;
  char *mapped_path;
  char *build_id;
  XpPluginState state;
  int priority;
  char *reason;
  const char *error;
  gint64 scanned;
  char *resident;
  unsigned load_count;
  unsigned pin_count;
  unsigned n_rows;
  unsigned n_cells;
  char **requires_;
  char **defines;
  char **fills;
  char **kernels;
  char **cpu;
  gboolean has_core;
  gboolean declares_resident;
  gboolean is_schemas;
} XpPluginInfo;

XP_PUBLIC void xp_plugin_info_free (XpPluginInfo *info);

/**
 * xp_plugin_infos_free:
 * @infos: (transfer full) (array length=n_infos) (nullable): what xp_plugins() and the like give;
 * its elements may be %NULL
 * @n_infos: how many
 */
XP_PUBLIC void xp_plugin_infos_free (XpPluginInfo **infos, unsigned n_infos);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpPluginInfo, xp_plugin_info_free)

/**
 * xp_plugin_info_read:
 * @path: a file
 * @error: return location for an error
 *
 * Reads the note of a file for any machine; runs nothing of it. A file that could not be loaded
 * here gives its info too, with state %XP_PLUGIN_REJECTED and the reason.
 *
 * Errors: %XP_ERROR_FILE_IO, %XP_ERROR_NOT_A_PLUGIN, %XP_ERROR_FILE_FORMAT for one that is cut
 * short, %XP_ERROR_INVALID_NOTE.
 *
 * Returns: (transfer full): what its note says
 */
XP_PUBLIC XpPluginInfo *xp_plugin_info_read (const char *path, GError **error);

/**
 * xp_import_is_resident:
 * @symbol: the name of a function that a library imports
 *
 * Returns: whether the library can never be unmapped for it, because it hands a pointer into it to
 *   something that keeps it, as g_quark_from_static_string() does
 */
XP_PUBLIC gboolean xp_import_is_resident (const char *symbol);

/**
 * xp_import_starts_threads:
 * @symbol: the name of a function that a library imports
 *
 * Returns: whether it starts a thread, which only xp_plugin_fini() can end
 */
XP_PUBLIC gboolean xp_import_starts_threads (const char *symbol);

/**
 * xp_library_keeps_threads:
 * @file: the name of a library, `libgomp.so.1`
 *
 * Returns: whether it is known to keep threads of its own, so that it stays mapped when the plugin
 *   that brought it goes
 */
XP_PUBLIC gboolean xp_library_keeps_threads (const char *file);

/**
 * xp_plugin_load:
 * @name: a name, which is looked for as NAME.so on the search path, or as itself if it ends in
 *   `.ops`; or a path, which has a slash in it
 * @error: return location for an error
 *
 * Loads a plugin, or counts one load more of it. Of the variants NAME.LEVEL.so beside NAME.so (see
 * docs/plugins.md) a name loads the best that this machine runs. A file of schemas, NAME.ops (see
 * schema_file.h), is a plugin without code, called by the name of its file: its rows appear, their
 * cells are empty, and another plugin may own their namespace. A plugin that cannot be loaded is
 * remembered: a later error that it could have prevented repeats why.
 *
 * Errors: %XP_ERROR_PLUGIN_NOT_FOUND, %XP_ERROR_NOT_A_PLUGIN, %XP_ERROR_INVALID_NOTE,
 * %XP_ERROR_DISABLED, %XP_ERROR_WRONG_MACHINE, %XP_ERROR_WRONG_ABI, %XP_ERROR_MISSING_CPU_FEATURE,
 * %XP_ERROR_MISSING_REQUIREMENT, %XP_ERROR_UNSAFE_FILE, %XP_ERROR_PLUGIN_CONFLICT,
 * %XP_ERROR_QUARANTINED, unless the setting `load-quarantined` is on, %XP_ERROR_FILE_FORMAT,
 * %XP_ERROR_SCHEMA_SYNTAX, %XP_ERROR_LOAD_FAILED, %XP_ERROR_UNSUITABLE, %XP_ERROR_NESTED_LOAD,
 * %XP_ERROR_SECOND_CORE, and those of xp_library_def() and xp_library_impl().
 *
 * Returns: (transfer none): the plugin
 */
XP_PUBLIC XpPlugin *xp_plugin_load (const char *name, GError **error);

/**
 * xp_plugin_unload:
 * @plugin: a plugin that is loaded
 * @error: return location for an error
 *
 * Counts one load less. The last takes the plugin's rows and cells out of the table, waits for the
 * threads that are inside its kernels, runs its fini, closes the file, and looks whether it is
 * gone. After this returns no call sees its kernels. With pins left the state is
 * %XP_PLUGIN_DRAINING, and the last unpin closes; what cannot be closed is %XP_PLUGIN_RETIRED.
 *
 * Errors: %XP_ERROR_PLUGIN_NOT_LOADED; %XP_ERROR_IN_USE, with the plugins that require it, and
 * %XP_ERROR_BUSY from inside one of its kernels: both leave it as it was. %XP_ERROR_BUSY, too, when
 * a thread does not leave within the setting `unload-timeout`: the cells are gone, the state is
 * %XP_PLUGIN_DRAINING. So it is where the system call membarrier was forbidden after the program's
 * start, until every thread that had called before has called again or ended.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_plugin_unload (XpPlugin *plugin, GError **error);

/**
 * xp_plugin_unload_cascade:
 * @plugin: a plugin that is loaded
 * @error: return location for an error
 *
 * Unloads @plugin together with every plugin that requires it, directly or through others, however
 * often they are loaded; their cells go at once.
 *
 * Errors: those of xp_plugin_unload(), but for %XP_ERROR_IN_USE.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_plugin_unload_cascade (XpPlugin *plugin, GError **error);

/**
 * XpSwapFlags:
 * @XP_SWAP_STRICT: the new plugin fills every cell that the old one fills
 * @XP_SWAP_OVERLAY: the old one stays beneath and fills what the new one lacks; the new one's
 *   priority is raised over the old one's where it is not
 * @XP_SWAP_FORCE: rows may get another signature
 */
typedef enum
{
  XP_SWAP_STRICT = 0,
  XP_SWAP_OVERLAY = 1 << 0,
  XP_SWAP_FORCE = 1 << 1
} XpSwapFlags;

/**
 * xp_plugin_swap:
 * @plugin: a plugin that is loaded
 * @name: (nullable): name or path of the one to take its place, which may be loaded already; %NULL
 *   for its own file, built again
 * @flags: how
 * @token: (out) (optional): what xp_plugin_undo() takes
 * @error: return location for an error
 *
 * Replaces one plugin by another, so that every cell holds the old kernel or the new one at any
 * time, never none. The new one is checked against the table without the old one, so that rows,
 * fallbacks and names of devices pass over. The old one is %XP_PLUGIN_INACTIVE then, mapped, until
 * as many later swaps as the setting `undo-depth` says were made, the new one is unloaded, or it is
 * unloaded itself; then it is closed as xp_plugin_unload() does.
 *
 * Errors: %XP_ERROR_COVERAGE_LOST, with the cells that the new one lacks; %XP_ERROR_SCHEMA_CHANGED,
 * with the rows; %XP_ERROR_PLUGIN_CONFLICT, for an overlay that is loaded already; and those of
 * xp_plugin_load() and xp_plugin_unload(). All leave the table as it was, but for a late
 * %XP_ERROR_BUSY where `undo-depth` is 0.
 *
 * Returns: (transfer none): the new plugin
 */
XP_PUBLIC XpPlugin *xp_plugin_swap (XpPlugin *plugin, const char *name, XpSwapFlags flags,
                                    unsigned *token, GError **error);

/**
 * xp_plugin_undo:
 * @token: what xp_plugin_swap() gave, or 0 for the newest swap
 * @old: (out) (optional) (transfer none): the plugin that is back
 * @new_: (out) (optional) (transfer none): the one that was in its place or over it
 * @error: return location for an error
 *
 * Takes a swap back: the old plugin's registrations stand where they stood, and what the swap has
 * loaded is unloaded, however often it was loaded since.
 *
 * Errors: %XP_ERROR_UNDO_STALE, with the cells that others have changed since, or for a swap that
 * is no longer kept; %XP_ERROR_IN_USE and %XP_ERROR_BUSY as for xp_plugin_unload(). All but a late
 * %XP_ERROR_BUSY leave the table as it was.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_plugin_undo (unsigned token, XpPlugin **old, XpPlugin **new_, GError **error);

/**
 * xp_plugin_find:
 * @name: a name or path
 *
 * Returns: (transfer none) (nullable): the plugin of that name or file, if it is loaded, or
 *   else the one that was swapped out last, %XP_PLUGIN_INACTIVE, which can still be unloaded
 */
XP_PUBLIC XpPlugin *xp_plugin_find (const char *name);

/**
 * xp_plugin_info:
 *
 * Returns: (transfer full): a snapshot of what is known about @plugin
 */
XP_PUBLIC XpPluginInfo *xp_plugin_info (XpPlugin *plugin);

/**
 * xp_plugin_state:
 *
 * Returns: where @plugin is in its life now
 */
XP_PUBLIC XpPluginState xp_plugin_state (XpPlugin *plugin);

/**
 * xp_plugins:
 * @n_plugins: (out): how many
 *
 * Returns: (transfer full) (array length=n_plugins): every plugin that is or was loaded or tried,
 *   and every one on the search path, sorted by name; free with
 *   xp_plugin_infos_free()
 */
XP_PUBLIC XpPluginInfo **xp_plugins (unsigned *n_plugins);

/**
 * xp_plugins_for:
 * @op: an operator
 * @key: a dispatch key, or an alias key
 * @n_plugins: (out): how many
 *
 * Who would bring what a call lacks, by the notes of the plugins there are: those that open rows in
 * the operator's namespace, if it has no schema, then those that may fill the cell, the likeliest
 * first. None of them is loaded; state and reason tell which ones cannot be.
 *
 * Returns: (transfer full) (array length=n_plugins): free as those of xp_plugins()
 */
XP_PUBLIC XpPluginInfo **xp_plugins_for (const char *op, XpKey key, unsigned *n_plugins);

/**
 * XpSearchDirectory:
 * @path: a directory
 * @source: what put it on the path
 * @exists: whether it is there
 */
typedef struct
{
  char *path;
  char *source;
  gboolean exists;
} XpSearchDirectory;

/**
 * xp_plugin_search_path:
 * @n_directories: (out): how many
 *
 * Where a plugin given by name is looked for, in order: CROSSPOINT_PLUGIN_PATH; then
 * CROSSPOINT_PLUGIN_SYSTEM_PATH alone where it is set, else the user's data directory, the
 * directory `crosspoint/plugins` beside libcrosspoint, and the install directory. All of them are
 * absolute, and never the working directory; the environment is not read in a process with raised
 * privileges.
 *
 * Returns: (transfer full) (array length=n_directories): free with xp_search_directories_free()
 */
XP_PUBLIC XpSearchDirectory *xp_plugin_search_path (unsigned *n_directories);
XP_PUBLIC void xp_search_directories_free (XpSearchDirectory *directories, unsigned n);

/**
 * xp_plugin_locate:
 * @name: a name, which is looked for as NAME.so on the search path, or a path, which has a slash in
 *   it
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_PLUGIN_NOT_FOUND, with the directories, or with the name that a NAME.so found
 * there has by its own note.
 *
 * Returns: (transfer full): the file that xp_plugin_load() would load, as an absolute path
 */
XP_PUBLIC char *xp_plugin_locate (const char *name, GError **error);

/**
 * xp_plugin_at:
 * @address: an address in a plugin's code or data
 *
 * Returns: (transfer none) (nullable): the plugin it lies in
 */
XP_PUBLIC XpPlugin *xp_plugin_at (const void *address);

/**
 * xp_plugin_pin:
 *
 * Keeps the file of @plugin mapped until xp_plugin_unpin(). Whoever stores a pointer into a plugin
 * pins it first; tensors with a plugin's layout or memory do.
 */
XP_PUBLIC void xp_plugin_pin (XpPlugin *plugin);
XP_PUBLIC void xp_plugin_unpin (XpPlugin *plugin);

/**
 * xp_version:
 *
 * Returns: (transfer none): the version of the library, "0.1.0"
 */
XP_PUBLIC const char *xp_version (void);

G_END_DECLS

#endif
