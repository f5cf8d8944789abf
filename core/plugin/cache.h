/* SPDX-License-Identifier: MIT
 *
 * cache.h: findings that outlive the process.
 */
#pragma once

#include "plugin/finding.h"

/* What was last found of the file at @path, or NULL; whether it still is so, its stamp tells. */
XpFinding *xp_cache_get (const char *path, bool whole);

/* Keeps @finding, which takes the place of an earlier one of its path. */
void xp_cache_put (const XpFinding *finding);

/* Drops what is kept of files that are gone, and what cannot be read. */
void xp_cache_sweep (void);
