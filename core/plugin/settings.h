/* SPDX-License-Identifier: MIT
 *
 * settings.h: what the rest of the layer needs of the settings.
 */
#pragma once

#include <crosspoint/settings.h>
#include <glib.h>
#include <stdbool.h>

/* Held for no longer than a value is looked up, and around fork. */
extern GMutex xp_settings_lock;

/* False in a process with raised privileges. */
bool xp_environment_is_trusted (void);

/* All names, separated by commas. */
char *xp_setting_names (void);
