/* SPDX-License-Identifier: MIT
 *
 * scan.h: exactly what plugins bring, learnt by loading each in a process of its own.
 *
 * A plugin's note says much, but only its constructors know every row and cell. So a scan starts a
 * helper program for each file, `crosspoint-scanner`, that loads it and reports; a crash, a hang or
 * an exit there quarantines the file. What was found is kept in the user's cache directory until
 * the file, what it requires, the core or the machine change. Only xp_plugins_scan() starts the
 * helper; everything else reads what is kept.
 */
#ifndef XP_SCAN_H
#define XP_SCAN_H

#include <crosspoint/loader.h>

G_BEGIN_DECLS

/**
 * XpCoverageRow:
 * @name: `aten::add.Tensor`
 * @schema: its canonical schema
 * @location: `registered at FILE:LINE`
 *
 * A row that a plugin defines.
 */
typedef struct
{
  char *name;
  char *schema;
  char *location;
} XpCoverageRow;

/**
 * XpCoverageCell:
 * @op: `aten::add.Tensor`; empty for a fallback
 * @key: the name of the key registered to, which may be an alias key or one of a named device
 * @location: `registered at FILE:LINE`
 * @is_typed: whether it has a typed form
 * @is_fallthrough: whether it is xp_fallthrough()
 * @is_pending: whether the row is not defined yet, so that the kernel waits for it
 *
 * A kernel or fallback that a plugin registers.
 */
typedef struct
{
  char *op;
  char *key;
  char *location;
  gboolean is_typed;
  gboolean is_fallthrough;
  gboolean is_pending;
} XpCoverageCell;

/**
 * XpCoverage:
 * @n_rows: how many rows
 * @rows: those it defines
 * @n_cells: how many kernels and fallbacks
 * @cells: those, in the order of their registration
 * @devices: (array zero-terminated=1): names of the devices it brings
 *
 * What a plugin has in the table when it is loaded after nothing but what it requires.
 */
typedef struct
{
  unsigned n_rows;
  unsigned n_cells;
  XpCoverageRow *rows;
  XpCoverageCell *cells;
  char **devices;
} XpCoverage;

XP_PUBLIC void xp_coverage_free (XpCoverage *coverage);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpCoverage, xp_coverage_free)

/**
 * xp_plugin_coverage:
 * @plugin: a plugin
 *
 * Returns: (transfer full): what @plugin has in the table now
 */
XP_PUBLIC XpCoverage *xp_plugin_coverage (XpPlugin *plugin);

/**
 * xp_plugin_coverage_read:
 * @path: the file of a plugin
 *
 * Runs nothing.
 *
 * Returns: (transfer full) (nullable): what a scan of @path has found; %NULL where there was none
 *   since the file was changed, or it could not be loaded
 */
XP_PUBLIC XpCoverage *xp_plugin_coverage_read (const char *path);

/**
 * XpScanFlags:
 * @XP_SCAN_NEW: only what has not been scanned since it was changed, or was not found good: what
 *   was unsuitable or failed may have its driver or library by now
 * @XP_SCAN_AGAIN: everything, quarantined files too
 *
 * What a scan runs.
 */
typedef enum
{
  XP_SCAN_NEW,
  XP_SCAN_AGAIN
} XpScanFlags;

/**
 * xp_plugins_scan:
 * @files: (array zero-terminated=1) (nullable): paths; %NULL for all that the search path leads to
 * @flags: what to run
 * @n_plugins: (out): how many
 * @error: return location for an error
 *
 * Learns what plugins bring. Files that could not be loaded here, by what their note says, are
 * never opened by the dynamic linker, and get their reason only; nor are those that are loaded in
 * this process. Each of the others is loaded by a process of its own, as many at a time as there
 * are cores, for no longer than the setting `scan-timeout`; what it requires is loaded first.
 *
 * The state of an info is %XP_PLUGIN_AVAILABLE for one that was loaded, with the counts of its rows
 * and cells; %XP_PLUGIN_UNSUITABLE and %XP_PLUGIN_FAILED as a load would leave it;
 * %XP_PLUGIN_QUARANTINED where the process crashed, hung, or was ended by the plugin. Loading such
 * a file is refused until it or what it requires has changed, or another scan has found it good.
 *
 * Errors: %XP_ERROR_FILE_IO where the helper cannot be started, %XP_ERROR_NESTED_LOAD.
 *
 * Returns: (transfer full) (array length=n_plugins): an info for each file, in order; free each
 *   with xp_plugin_infos_free()
 */
XP_PUBLIC XpPluginInfo **xp_plugins_scan (const char *const *files, XpScanFlags flags,
                                          unsigned *n_plugins, GError **error);

G_END_DECLS

#endif
