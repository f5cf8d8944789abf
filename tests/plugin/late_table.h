/* SPDX-License-Identifier: MIT
 *
 * late_table.h: blocks and calls of the fixture `late`, for the suites in which it registers and
 * leaves.
 */
#pragma once

#include "plugin/fixtures/late.h"

/* What the fixture lets a test do; it and `rows` are loaded. */
const Late *late_table (void);

/* A kernel of fixture::other in @library, which calls @visit. */
gboolean fill (XpLibrary *library, const Late *late, LateVisit *visit, GError **error);

/* A block of the fixture's with that kernel. */
XpLibrary *open_filled (const Late *late, LateVisit *visit);

/* For threads: a call of fixture::other, and unload() of the plugin @data. */
void *call_other (void *data);
void *unload_in_thread (void *data);
