/* SPDX-License-Identifier: MIT
 *
 * fixtures.h: what the suites on plugins share: the fixtures' files, loading them, calling them,
 * and the table as one text.
 */
#pragma once

#include "suite.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file of a fixture; (transfer full). */
char *fixture_path (const char *name);

/* The folder of the plugins that the build has made; (transfer full). */
char *built_plugins (void);

/* A new folder, and what removes it with all files in it. */
char *folder_new (void);
void folder_remove (char *folder);

/* Copies a file; the copy is private, whatever the mode of @from. */
void copy_file (const char *from, const char *to);

/* Loads a fixture, or fails the test. */
XpPlugin *load_fixture (const char *name);

/* Loads a fixture that must be refused with @expected, whose text holds @part. */
void assert_refused (const char *name, XpError expected, const char *part);

void unload (XpPlugin *plugin);

/* Calls fixture::number, or another of its form; -1 with @error set. */
int64_t call_number (const char *op, GError **error);

/* Fails unless fixture::number gives @expected. */
void assert_number (int64_t expected);

/* Calls @function with @data inside of a kernel of fixture::run. */
typedef void (*Inside) (void *data);
void call_inside (Inside function, void *data);

/* A thread that is inside of a kernel until it is let go. */
typedef struct
{
  GThread *thread;
  int inside;
  int leave;
  void (*last) (void *data); /* what it does before it leaves; may be NULL */
  void *data;
} Guest;

/* What a guest does inside: waits until it may leave. @guest is a Guest. */
void guest_stay (void *guest);
/* The usual way in, for guest_enter(): calls guest_stay() inside of the fixture's kernel. */
void *guest_visit (void *guest);
/* Returns once the guest is inside. */
void guest_enter (Guest *guest, GThreadFunc way);
void guest_leave (Guest *guest);

/* Every row with all registrations and cells, and all fallbacks; (transfer full). */
char *table_text (void);

/* Fails unless the table is @before, byte for byte, and agrees with its own rules. */
void assert_table (const char *before);

/* Whether a file whose name holds @part is mapped in this process. */
bool is_mapped (const char *part);

/* Fails unless the plugin is in @state, for a reason that holds @part, or for none. */
void assert_state (XpPlugin *plugin, XpPluginState state, const char *part);

/* Waits until the plugin has reached @state; a watchdog of the test runner limits it. */
void wait_for_state (XpPlugin *plugin, XpPluginState state);
