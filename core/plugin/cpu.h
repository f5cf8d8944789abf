/* SPDX-License-Identifier: MIT
 *
 * cpu.h: CPU features: which this process may use.
 */
#pragma once

#include <crosspoint/loader.h>
#include <stdbool.h>

/* The levels that variants of a plugin are built for, the lowest first; NULL-terminated. */
extern const char *const xp_cpu_levels[];

bool xp_cpu_knows (const char *feature);

/* What a text that takes features away looks like, and whether one does. */
extern const char xp_cpu_mask_form[];
bool xp_cpu_is_mask (const char *text);

/* The level of a file NAME.LEVEL.so; NULL for another. */
const char *xp_cpu_level_of_file (const char *path);

/* Whether all features that the note asks for may be used; MISSING_CPU_FEATURE if not. */
gboolean xp_cpu_check (const XpPluginInfo *info, GError **error);
