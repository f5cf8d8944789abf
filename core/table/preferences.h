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

/* xp_set_on_tie(), under the table's lock. */
gboolean xp_on_tie_set (XpOnTie policy, GError **error);

/* What the settings say, and where each is from. */
typedef struct
{
  XpOnTie on_tie;
  const char *on_tie_source;
  const char *const *texts;
  const char *texts_source;
} XpGivenPolicy;

bool xp_preferences_are_taken (void);
/* Takes @given over, at once, unless another thread has done so: nothing that a fork could leave
 * undone in the child is between the beginning and the end. The preferences stand behind all
 * others, in their order; what does not parse, or would make a tie where those are refused, is
 * warned of and left out. */
void xp_preferences_take (const XpGivenPolicy *given);
