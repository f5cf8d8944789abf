/* SPDX-License-Identifier: MIT
 *
 * listeners.h: what the table tells of definitions that come and go.
 */
#pragma once

#include "table/row.h"

/* Under xp_table_lock: that the definition of @row came or went. */
void xp_listeners_note (const Row *row, gboolean is_defined);

/* Tells what was noted. With no lock held, once a change is made. */
void xp_listeners_tell (void);

/* In the child, where only one thread is left; under xp_table_lock. */
void xp_listeners_after_fork (void);
