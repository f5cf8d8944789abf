/* SPDX-License-Identifier: MIT
 *
 * scanner.h: one plugin loaded in a process of its own.
 */
#pragma once

#include "plugin/finding.h"

/* The helper program; NULL, with an error, where it is not. */
char *xp_scanner_locate (GError **error);

/* What the helper finds of the file of @info within @seconds. NULL, with an error, where it cannot
 * be started. @is_final tells whether the finding may be kept: it is the plugin's own. */
XpFinding *xp_scanner_run (const char *helper, const XpPluginInfo *info, double seconds,
                           bool *is_final, GError **error);
