/* SPDX-License-Identifier: MIT
 *
 * swap.h: one plugin in another's place, or over it, and the way back.
 */
#pragma once

#include "plugin/plugin.h"

/* Under the load lock. From the moment it is tried; then on the list of what can be undone. */
struct XpSwap
{
  XpSwap *next;
  unsigned token;
  XpSwapFlags flags;
  XpPlugin *old;
  XpPlugin *new_;     /* once it is known */
  bool has_brought;   /* whether the swap has loaded it */
  unsigned old_count; /* how often the old one was loaded */
  GHashTable *others; /* cell -> who else stood in it, and since when */
};

/* Whose place is taken; NULL where it stays beneath. */
XpPlugin *xp_swap_replaced (const XpSwap *swap);

/* The priority of the new one, whose note says @own. */
int xp_swap_priority (const XpSwap *swap, int own);

/* An XpTransactionCheck: whether the new one may have the old one's place, and who else is there.
 */
gboolean xp_swap_check (const XpTransaction *transaction, void *swap, GError **error);

/* What brings @old back is no longer needed, for it is back, or closed by the caller. */
void xp_swap_forget_old (const XpPlugin *old);

/* @new_ is gone: whoever waited to come back in its place cannot, and is closed. Lets go of the
 * load lock meanwhile. */
void xp_swap_forget_new (const XpPlugin *new_);
