/* SPDX-License-Identifier: MIT
 *
 * scanning.h: what the suites on scans share: a folder of plugins that is the search path, a cache
 * of its own, and looking at what a scan has found.
 */
#pragma once

#include "plugin/fixtures.h"

/* A sanitizer makes everything slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define SCAN_SECONDS "60"
#  define HANG_SECONDS "20"
#else
#  define SCAN_SECONDS "20"
#  define HANG_SECONDS "4"
#endif

extern char *scan_folder; /* on the search path, alone */
extern char *scan_cache;

/* Before and after each test. */
void scanning_setup (void);
void scanning_teardown (void);
/* Sanitizers leave signals alone in what this process starts. */
void scanning_begin (void);

/* The fixture as NAME.so in the folder; (transfer full). */
char *scan_add (const char *fixture);
/* What the scan of one file finds; fails the test on an error. */
XpPluginInfo *scan_one (const char *path, XpScanFlags flags);
/* Fails unless @info is in @state for a reason that holds @part, or for none. */
void assert_found (const XpPluginInfo *info, XpPluginState state, const char *part);
/* What xp_plugins() says of the file; (transfer full). */
XpPluginInfo *listed (const char *path);
void infos_free (XpPluginInfo **infos, unsigned n);
/* The one file in the cache; (transfer full). */
char *cache_file (void);
