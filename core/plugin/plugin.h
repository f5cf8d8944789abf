/* SPDX-License-Identifier: MIT
 *
 * plugin.h: the records of plugins, and what the parts of their life share.
 */
#pragma once

#include "table/listeners.h"
#include "table/transaction.h"

#include <crosspoint/loader.h>
#include <sys/stat.h>

/* swap.h */
typedef struct XpSwap XpSwap;

/* Under xp_plugins_lock, but for the pins, which are atomic. A record is never freed. */
struct XpPlugin
{
  XpOwner owner; /* first: an owner that is a plugin is its record */
  XpPlugin *next;
  XpPluginInfo *note; /* what the file says, and nothing of its state */
  XpPluginState state;
  char *reason;
  char *mapped_path; /* what is open: the private copy, or the file itself */
  bool is_copy;
  bool is_foreign;    /* came in another way than through xp_plugin_load() */
  bool is_being_left; /* somebody waits for the threads inside, and will close it */
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec mtime;
  void *handle;
  const char *low; /* where it is mapped */
  const char *high;
  void (*fini) (void);
  GArray *memories;    /* MemoryClaim: what its constructors and probe have set; NULL for none */
  unsigned load_count; /* atomic */
  unsigned pins;       /* atomic */
};

/* Memory for a device, which comes with the rest of a load and goes with it. */
typedef struct
{
  XpBackend backend;
  const XpMemoryClass *klass;
} MemoryClaim;

/* A leaf lock, for the list of records and their fields. */
extern GMutex xp_plugins_lock;

/* --- record.c --- */
XpPlugin *xp_plugin_records (void);
/* A record for the file of @note: the one of an earlier attempt, or a new one. Takes the note. */
XpPlugin *xp_plugin_record (XpPluginInfo *note, const struct stat *status);
void xp_plugin_set_state (XpPlugin *plugin, XpPluginState state, const char *reason);
XpPlugin *xp_plugin_find_loaded (const char *name);
/* Whether it is the very file that @plugin was loaded from, unchanged. A number alone is not
 * enough, for the file system gives it again. */
bool xp_plugin_is_file (const XpPlugin *plugin, const struct stat *status);
XpPlugin *xp_plugin_find_file (const struct stat *status);
/* Gives devices the memory that @plugin has claimed for them. */
void xp_plugin_set_memories (const XpPlugin *plugin);
/* Takes it back; what other plugins that are loaded have claimed takes its place. */
void xp_plugin_forget_memories (XpPlugin *plugin);
/* Where the object of @handle is mapped. */
void xp_plugin_set_range (XpPlugin *plugin);
/* An optional entry point of the plugin itself, not of a library it depends on. */
void *xp_plugin_entry_point (const XpPlugin *plugin, const char *name);
/* --- info.c --- */
/* An info of that name and file, all else empty. */
XpPluginInfo *xp_plugin_info_new (const char *name, const char *path);
/* xp_plugins() for those who may not wait. */
XpPluginInfo **xp_plugins_now (unsigned *n_plugins);

/* --- note.c --- */
/* Reads the note of an open file; @path is for messages and becomes info->path. Checks nothing. */
XpPluginInfo *xp_note_read (int fd, const char *path, GError **error);
/* The name of a plugin that its note does not name. */
char *xp_note_name_of_file (const char *path);
/* Whether nobody else can have written the file. */
gboolean xp_file_is_trusted (const char *path, const struct stat *status, GError **error);
/* Whether a plugin of that note may be opened in this process. */
gboolean xp_note_check (const XpPluginInfo *info, GError **error);

/* --- search.c --- */
/* Whether a file of the search path, NAME.so, holds the plugin of that name. */
gboolean xp_search_check_name (const XpPluginInfo *note, GError **error);
/* The files on the search path, the first of each name; (element-type filename). */
GPtrArray *xp_search_all (void);

/* --- copy.c --- */
/* A copy of the open file under a name never used before, for dlopen. */
char *xp_copy_make (int fd, const char *name, GError **error);
void xp_copy_remove (const char *path);

/* --- load.c --- */
/* Held through every load, unload and swap, and around fork; but not while threads are waited for,
 * which may load or fork before they leave. Not held while a constructor of another library may
 * wait for us: registering takes the table's lock only. */
void xp_load_lock (void);
bool xp_load_trylock (void);
void xp_load_unlock (void);
/* Whether this thread is inside of a constructor, probe or fini that we called. */
bool xp_load_is_nested (GError **error);
/* With @swap, in the place of whom it names, or over it. */
XpPlugin *xp_load_file (const char *path, XpSwap *swap, GError **error);
/* Runs @function of a plugin, which may not load, unload or call. */
void xp_load_run_fini (XpPlugin *plugin);

/* --- unload.c --- */
/* Waits for the threads inside @plugin, whose registrations are out of the table, and closes it if
 * it can be closed; lets go of the load lock while it waits. False, with BUSY, when a thread did
 * not leave in time. */
gboolean xp_unload_finish (XpPlugin *plugin, GError **error);
/* Plugins that require @plugin. */
gboolean xp_unload_check (XpPlugin *plugin, const char *successor, GError **error);
/* Closes what only waited for its last pin, or for a thread to leave; with @wait false, only if no
 * load or unload is going on. */
void xp_unload_drained (bool wait);
