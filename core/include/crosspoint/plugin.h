/* SPDX-License-Identifier: MIT
 *
 * plugin.h: what a plugin says about itself, in an ELF note that is read before any of its code
 * runs, and its two optional entry points.
 */
#ifndef XP_PLUGIN_H
#define XP_PLUGIN_H

#include <crosspoint/macros.h>

G_BEGIN_DECLS

/* The binary interface that plugins are built against. A plugin loads where the major number is
 * equal and its minor number is not above the core's. Define XP_TARGET_MINOR to ask for less. */
#define XP_ABI_MAJOR 1
#define XP_ABI_MINOR 0
#ifndef XP_TARGET_MINOR
#  define XP_TARGET_MINOR XP_ABI_MINOR
#endif
#if XP_TARGET_MINOR > XP_ABI_MINOR
#  error "XP_TARGET_MINOR is above the version of these headers"
#endif

#define XP_NOTE_OWNER "Crosspoint"
#define XP_NOTE_SECTION ".note.crosspoint"
#define XP_NOTE_TYPE 1
#define XP_NOTE_ABI_ "abi=" XP_STRINGIFY (XP_ABI_MAJOR) "." XP_STRINGIFY (XP_TARGET_MINOR)

/* One record of the note: texts `key=value`, each ended by a NUL. */
#define XP_NOTE_RECORD_(text, id)                                                                  \
  __attribute__ ((used, aligned (4), section (XP_NOTE_SECTION))) static const struct               \
  {                                                                                                \
    uint32_t name_size;                                                                            \
    uint32_t text_size;                                                                            \
    uint32_t type;                                                                                 \
    char name[(sizeof (XP_NOTE_OWNER) + 3) & ~3u];                                                 \
    char bytes[(sizeof (text) + 3) & ~3u];                                                         \
  } XP_PASTE (xp_note_, id) = { sizeof (XP_NOTE_OWNER), sizeof (text), XP_NOTE_TYPE,               \
                                XP_NOTE_OWNER, text };

/**
 * XP_PLUGIN:
 * @name: the plugin's name, by which it is loaded: letters, digits, `_`, `-` and `.`; NAME.so is
 * its file
 * @version: its version
 * @description: one line on what it brings
 * @licence: its licence, as SPDX writes it
 *
 * Names the plugin. Without it the name is that of the file.
 */
#define XP_PLUGIN(name, version, description, licence)                                             \
  XP_NOTE_RECORD_ ("name=" name "\0version=" version "\0description=" description                  \
                   "\0licence=" licence "\0" XP_NOTE_ABI_,                                         \
                   __COUNTER__)

/**
 * XP_PLUGIN_NOTE:
 * @text: `key=value`
 *
 * Adds to the note. Keys that mean something: `priority=N` (default 0; where several plugins fill a
 * cell, the highest is active), `requires=NAME`, `resident=REASON` (the file is never unmapped),
 * `cpu=FEATURE` (as gcc's __builtin_cpu_supports() names them). Others are shown and kept.
 */
#define XP_PLUGIN_NOTE(text) XP_NOTE_RECORD_ (text, __COUNTER__)

/**
 * xp_plugin_probe:
 * @error: why the plugin cannot work on this machine
 *
 * Optional, in the plugin: runs after its constructors, before anything they registered is
 * published. It may open what the plugin needs, such as a driver; it may not load, unload or call.
 *
 * Returns: %FALSE to be `unsuitable`, with nothing registered
 */
XP_PUBLIC gboolean xp_plugin_probe (GError **error);

/**
 * xp_plugin_fini:
 *
 * Optional, in the plugin: runs when its cells are gone and no call is inside, before the file is
 * unmapped, on a thread of its own. It frees what the plugin has allocated and joins its threads.
 * Where it does not return within the setting `unload-timeout`, the file stays mapped.
 */
XP_PUBLIC void xp_plugin_fini (void);

G_END_DECLS

#endif
