/* SPDX-License-Identifier: MIT
 *
 * settings.h: what the rest of the layer needs of the settings.
 */
#pragma once

#include <crosspoint/settings.h>
#include <glib.h>
#include <stdbool.h>

/* A leaf. Held while a value is looked up or saved, and around fork. */
extern GMutex xp_settings_lock;

/* False in a process with raised privileges. */
bool xp_environment_is_trusted (void);

/* All names, separated by commas. */
char *xp_setting_names (void);

/* Where the value that counts is from: XpSetting.source. */
char *xp_setting_source (const char *name);

/* Counts the times that a value may have changed. */
extern unsigned xp_settings_changes;
