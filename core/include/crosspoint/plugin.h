/* SPDX-License-Identifier: MIT
 *
 * plugin.h: what a plugin says about itself, in an ELF note that is read before any of its code
 * runs, its two optional entry points, and how it is linked into a program.
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

/**
 * XpLinkedPlugin:
 * @size: sizeof (XpLinkedPlugin)
 * @name: its name
 * @fini: (nullable): its xp_plugin_fini()
 *
 * A plugin that is linked into a program statically. Sources of one are compiled with
 * `-DXP_STATIC_PLUGIN=NAME`, a bare word: then its notes and blocks say whose they are, and several
 * plugins fit into one file. XP_PLUGIN() defines the symbol, XP_REQUIRE_PLUGIN() asks for it.
 */
typedef struct
{
  size_t size;
  const char *name;
  void (*fini) (void);
} XpLinkedPlugin;

#define XP_HIDDEN_ __attribute__ ((visibility ("hidden")))

#ifdef XP_STATIC_PLUGIN
#  define XP_LINKED_SYMBOL_ XP_PASTE (xp_plugin_linked_, XP_STATIC_PLUGIN)
#  define XP_LINKED_NOTE_ "plugin=" XP_STRINGIFY (XP_STATIC_PLUGIN) "\0"
#  define XP_LINKED_PLUGIN_ (&XP_LINKED_SYMBOL_)
#  define XP_LINKED_DEFINITION_                                                                    \
    XP_HIDDEN_ const XpLinkedPlugin XP_LINKED_SYMBOL_ = { sizeof (XpLinkedPlugin),                 \
                                                          XP_STRINGIFY (XP_STATIC_PLUGIN),         \
                                                          xp_plugin_fini };
#  define XP_ENTRY_POINT_ XP_HIDDEN_ __attribute__ ((weak))
#  define xp_plugin_probe XP_PASTE (xp_plugin_probe_, XP_STATIC_PLUGIN)
#  define xp_plugin_fini XP_PASTE (xp_plugin_fini_, XP_STATIC_PLUGIN)
extern XP_HIDDEN_ const XpLinkedPlugin XP_LINKED_SYMBOL_;
#else
#  define XP_LINKED_NOTE_ ""
#  define XP_LINKED_PLUGIN_ NULL
#  define XP_LINKED_DEFINITION_
#  define XP_ENTRY_POINT_ XP_PUBLIC
#endif

/* One record of the note: texts `key=value`, each ended by a NUL. */
#define XP_NOTE_RECORD_(text, id)                                                                  \
  __attribute__ ((used, aligned (4), section (XP_NOTE_SECTION))) static const struct               \
  {                                                                                                \
    uint32_t name_size;                                                                            \
    uint32_t text_size;                                                                            \
    uint32_t type;                                                                                 \
    char name[(sizeof (XP_NOTE_OWNER) + 3) & ~3u];                                                 \
    char bytes[(sizeof (XP_LINKED_NOTE_ text) + 3) & ~3u];                                         \
  } XP_PASTE (xp_note_, id) = { sizeof (XP_NOTE_OWNER), sizeof (XP_LINKED_NOTE_ text),             \
                                XP_NOTE_TYPE, XP_NOTE_OWNER, XP_LINKED_NOTE_ text };

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
  XP_LINKED_DEFINITION_                                                                            \
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
XP_ENTRY_POINT_ gboolean xp_plugin_probe (GError **error);

/**
 * xp_plugin_fini:
 *
 * Optional, in the plugin: runs when its cells are gone and no call is inside, before the file is
 * unmapped, on a thread of its own. It frees what the plugin has allocated and joins its threads.
 * Where it does not return within the setting `unload-timeout`, the file stays mapped. It may end
 * its thread; a C++ exception that leaves it ends the process, and longjmp() may not leave it.
 */
XP_ENTRY_POINT_ void xp_plugin_fini (void);

/**
 * XP_REQUIRE_PLUGIN:
 * @name: the name of a plugin, as a bare word
 *
 * In a program: the plugin is linked into it. Nothing else refers to what is in the plugin's
 * archive, so the linker would leave it out; this takes it in, or fails the link with
 * `xp_plugin_linked_NAME`.
 */
#define XP_REQUIRE_PLUGIN(name)                                                                    \
  extern XP_HIDDEN_ const XpLinkedPlugin xp_plugin_linked_##name;                                  \
  __attribute__ ((constructor, used)) static void xp_plugin_require_##name (void)                  \
  {                                                                                                \
    __asm__ volatile("" : : "r"(&xp_plugin_linked_##name));                                        \
  }

G_END_DECLS

#endif
