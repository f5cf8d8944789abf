/* SPDX-License-Identifier: MIT
 *
 * parallel.h: what parallel loops need of the layer that has the settings.
 */
#pragma once

#include <crosspoint/parallel.h>
#include <glib.h>

/* The setting, 0 for the number of cores. Called by any thread, often. */
extern unsigned (*xp_num_threads_hook) (void);

/* A leaf, held by the fork handlers. */
extern GMutex xp_parallel_lock;

/* The threads that ran loops are not in the child. */
void xp_parallel_after_fork (void);
