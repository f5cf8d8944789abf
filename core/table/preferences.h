/* SPDX-License-Identifier: MIT
 *
 * preferences.h: preferences as the table keeps them, and as a thread does.
 */
#pragma once

#include "table/row.h"

#include <crosspoint/preference.h>
#include <string.h>

/* Parses @text; with where it comes from. */
typedef struct Preference Preference;
Preference *xp_preference_parse (const char *text, const char *source, GError **error);
void xp_preference_free (void *preference);

/* `OPGLOB@PLUGIN[/KEY]`, however it was given. */
const char *xp_preference_canonical (const Preference *preference);

/* How strongly @list, (element-type Preference), the strongest first, prefers @registration; 0
 * where none of them does. */
unsigned xp_preference_rank_in (const GPtrArray *list, const Registration *registration);

/* Takes over what the settings say, once; installed by the layer that knows them. */
extern void (*xp_preferences_begin_hook) (void);
void xp_preferences_begin (void);
/* The same, and whether this thread may change anything. */
gboolean xp_preferences_begin_change (GError **error);

/* xp_set_on_tie() for the settings. */
gboolean xp_on_tie_set (XpOnTie policy, GError **error);

/* Adds the preferences that settings give behind all others, in their order; what does not parse,
 * or would make a tie where those are refused, is warned of and left out. */
void xp_preferences_add_settings (const char *const *texts, const char *source);
