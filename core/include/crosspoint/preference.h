/* SPDX-License-Identifier: MIT
 *
 * preference.h: which of several kernels of one key comes first.
 *
 * Kernels that several plugins register to one key of an operator, and fallbacks of one key, are
 * ranked: by the user's preferences, then by priority, then the newest first. The first is active,
 * the others wait. The core's own fallbacks come last.
 *
 * A preference is a text, `OPERATOR@PLUGIN/KEY`: globs with `*` and `?` for operator and plugin,
 * and a key, alias keys too, or without `/KEY` any. `PLUGIN` alone is `*@PLUGIN`. An operator
 * without an overload stands for all of its overloads; fallbacks have the operator `_`. What is not
 * loaded may be preferred: it counts when it comes.
 *
 * Preferences are a list, the strongest first. It begins as the setting `prefer`, and ties are
 * treated as the setting `on-tie` says (`settings.h`): both are read when the first plugin comes or
 * one of these functions is called, whichever is earlier. They choose between kernels of one key;
 * which key's kernel fills a cell, the rules of the table say (reference 3.1).
 */
#ifndef XP_PREFERENCE_H
#define XP_PREFERENCE_H

#include <crosspoint/macros.h>

G_BEGIN_DECLS

/**
 * xp_prefer:
 * @text: `aten::mm@openblas`, `openblas`, `*@blis/CPU`
 * @error: return location for an error
 *
 * Puts a preference before all others, and ranks what is in the table anew: calls see each cell
 * with its old kernel or its new one. xp_unprefer() takes it back exactly.
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT for a text that is no preference; %XP_ERROR_PRIORITY_TIE where
 * ties are refused and this would make one; %XP_ERROR_NESTED_LOAD from a constructor, probe or
 * fini. The table is then as it was.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_prefer (const char *text, GError **error);

/**
 * xp_unprefer:
 * @text: a preference, in any of its forms
 * @error: return location for an error
 *
 * Takes the strongest preference of that text out of the list, whoever has put it there.
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT where it is not in the list, with those that are, and for a
 * text that is no preference; %XP_ERROR_PRIORITY_TIE and %XP_ERROR_NESTED_LOAD as xp_prefer().
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_unprefer (const char *text, GError **error);

/**
 * xp_preference_in_full:
 * @text: a preference, in any of its forms
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT for a text that is no preference.
 *
 * Returns: (transfer full) (nullable): the form that lists show, `*@openblas` for `openblas`
 */
XP_PUBLIC char *xp_preference_in_full (const char *text, GError **error);

/**
 * XpPreference:
 * @text: in full, `*@openblas`
 * @source: who has put it there: `program`, a variable of the environment, the path of a file
 * @n_kernels: how many kernels and fallbacks in the table it matches now
 *
 * A preference.
 */
typedef struct
{
  char *text;
  char *source;
  unsigned n_kernels;
} XpPreference;

/**
 * xp_preferences:
 * @n_preferences: (out): how many
 *
 * Returns: (transfer full) (array length=n_preferences): the list, the strongest first; free with
 *   xp_preferences_free()
 */
XP_PUBLIC XpPreference *xp_preferences (unsigned *n_preferences);
XP_PUBLIC void xp_preferences_free (XpPreference *preferences, unsigned n);

/**
 * XpOnTie:
 * @XP_ON_TIE_NEWEST: the newest is active, as in PyTorch. That is warned of, once for each cell and
 *   pair of plugins in the life of the process; a load that takes over several cells of one plugin
 *   gives one message for all of them
 * @XP_ON_TIE_ERROR: it is refused with %XP_ERROR_PRIORITY_TIE, and the table stays as it was, so
 *   that no order of loading gives another table
 *
 * What happens where two plugins register a kernel to one key of an operator, or fallbacks that
 * serve a common key, preferred equally and with equal priorities. What one plugin registers twice
 * is no tie, nor is anything beside the core's own fallbacks.
 */
typedef enum
{
  XP_ON_TIE_NEWEST,
  XP_ON_TIE_ERROR
} XpOnTie;

/**
 * xp_set_on_tie:
 * @policy: what happens from now on; %XP_ON_TIE_NEWEST is the default
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_PRIORITY_TIE where ties are to be refused and there is one already, and
 * %XP_ERROR_NESTED_LOAD as xp_prefer(); the policy then stays.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_set_on_tie (XpOnTie policy, GError **error);

/**
 * xp_on_tie:
 *
 * Returns: what happens at a tie
 */
XP_PUBLIC XpOnTie xp_on_tie (void);

G_END_DECLS

#endif
