/* SPDX-License-Identifier: MIT
 *
 * finding.h: what a scan has found of one file, and its form as bytes: in the cache, and between
 * the helper and who started it.
 */
#pragma once

#include <crosspoint/scan.h>
#include <stdbool.h>

enum
{
  XP_FINDING_MOST_BYTES = 64 << 20,
  XP_FINDING_HEADER = 24,
  /* The helper's descriptor, and what it writes there before it loads the plugin. */
  XP_SCANNER_DESCRIPTOR = 3,
  XP_SCANNER_BEGUN = 'B'
};

typedef struct
{
  char *path;
  char *stamp; /* what all of it depends on; empty from the helper */
  gint64 time; /* of the scan, in seconds since 1970 */
  XpPluginState state;
  char *error;  /* the name of the reason's code, or empty */
  char *reason; /* or empty */
  XpCoverage *coverage;
} XpFinding;

XpFinding *xp_finding_new (const char *path, XpPluginState state, const char *error,
                           const char *reason);
void xp_finding_free (XpFinding *finding);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpFinding, xp_finding_free)

/* A header of magic, length and checksum, then a GVariant; (transfer full). */
GBytes *xp_finding_to_bytes (const XpFinding *finding);

/* How many bytes the finding has that begins with these XP_FINDING_HEADER bytes; 0 if it is none.
 */
gsize xp_finding_size (const guint8 *header);

/* NULL for any bytes that xp_finding_to_bytes() has not given. Without @whole the coverage is left
 * empty. */
XpFinding *xp_finding_parse (const guint8 *bytes, gsize n, bool whole);
