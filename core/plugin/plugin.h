/* SPDX-License-Identifier: MIT
 *
 * plugin.h: the records of plugins, and what the parts of their life share.
 */
#pragma once

#include "table/listeners.h"
#include "table/transaction.h"

#include <crosspoint/scan.h>
#include <link.h>
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
  bool is_foreign;              /* came in another way than through xp_plugin_load() */
  const XpLinkedPlugin *linked; /* where it is linked statically into its file */
  bool is_being_left;           /* somebody waits for the threads inside, and will close it */
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec mtime;
  void *handle;
  const char *low; /* where it is mapped */
  const char *high;
  void (*fini) (void);
  GArray *memories;    /* MemoryClaim: what it has set; NULL for none */
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

/* A plugin that is mapped already. */
typedef struct
{
  const char *path;
  void *handle; /* becomes the record's where that is new */
  void (*fini) (void);
  const XpLinkedPlugin *linked;
  const char *low; /* where it is mapped; NULL for one that is linked statically */
  const char *high;
  const char *refusal; /* why it may not register, or NULL */
  bool is_new;         /* out: whether a record was made that may register */
  bool is_refused_now; /* out: whether it is refused for another reason than the last time */
} XpForeign;

/* The record of a plugin that came in by itself, one for each object, whoever asks first. It is
 * refused, too, where one of its name is loaded or being loaded. Takes the note. */
XpPlugin *xp_plugin_record_foreign (XpPluginInfo *note, const struct stat *status,
                                    XpForeign *found);
/* The record of one that is linked statically, if it is not refused. */
XpPlugin *xp_plugin_find_linked (const XpLinkedPlugin *linked);
XpPlugin *xp_plugin_find_loaded (const char *name);
/* Whether it is the very file that @plugin was loaded from, unchanged. A number alone is not
 * enough, for the file system gives it again. */
bool xp_plugin_is_file (const XpPlugin *plugin, const struct stat *status);
XpPlugin *xp_plugin_find_file (const struct stat *status);
/* Gives devices the memory that @plugin has claimed for them. */
void xp_plugin_set_memories (const XpPlugin *plugin);
/* Takes it back; what other plugins that are loaded have claimed takes its place. */
void xp_plugin_forget_memories (XpPlugin *plugin);
/* They are no longer its own: its file is about to go. */
void xp_plugin_drop_claims (XpPlugin *plugin);
/* Where the object of its handle is mapped. */
void xp_plugin_set_range (XpPlugin *plugin);
void xp_plugin_set_mapped (XpPlugin *plugin, const char *low, const char *high);
/* An optional entry point of the plugin itself, not of a library it depends on. */
void *xp_plugin_entry_point (const XpPlugin *plugin, const char *name);

/* --- foreign.c --- */
/* The addresses from the first to the last segment of an object. */
void xp_object_range (const struct dl_phdr_info *info, const char **low, const char **high);
/* Whether an address lies in an object; and the file of one, by the linker's name, or by an address
 * in it. */
bool xp_object_contains (const struct dl_phdr_info *info, const void *address);
char *xp_object_path (const char *name);
char *xp_object_path_at (const void *address);

/* A leaf, held while the linker shows its list and around fork: it has a lock of its own then,
 * which a child would find held by a thread that it does not have. */
extern GMutex xp_objects_lock;

/* Shows every object to @visit until that is not 0. @visit takes no lock. */
void xp_objects_visit (int (*visit) (struct dl_phdr_info *info, size_t size, void *data),
                       void *data);

/* --- cores.c --- */
#define XP_CORE_NOTE_SECTION ".note.crosspoint-core"
#define XP_CORE_NOTE_TYPE 2
/* Whether a plugin of that note would find this core, and no other. */
gboolean xp_core_check (const XpPluginInfo *note, GError **error);
/* Exported, and used by nobody: whether it can be looked up shows whether the core can. */
XP_PUBLIC void xp_core_mark_ (void);

/* --- info.c --- */
/* What the file at @path is; with @by_name, as one of the search path, whose name must fit. */
XpPluginInfo *xp_plugin_info_of_file (const char *path, bool by_name);
/* The state is %XP_PLUGIN_REJECTED for that reason. */
void xp_plugin_info_reject (XpPluginInfo *info, const GError *reason);
/* An info of that name and file, all else empty. */
XpPluginInfo *xp_plugin_info_new (const char *name, const char *path);
XpPluginInfo *xp_plugin_info_copy (const XpPluginInfo *info);
/* xp_plugins() for those who may not wait. */
XpPluginInfo **xp_plugins_now (unsigned *n_plugins);

/* --- note.c --- */
/* Reads the note of an open file; @path is for messages and becomes info->path. Checks nothing. */
XpPluginInfo *xp_note_read (int fd, const char *path, const XpLinkedPlugin *linked, GError **error);
/* xp_plugin_info_read(), also of a plugin that is linked statically into the file. */
XpPluginInfo *xp_note_read_file (const char *path, const XpLinkedPlugin *linked, GError **error);
/* The name of a plugin that its note does not name: NAME of NAME.so and of NAME.LEVEL.so. */
char *xp_note_name_of_file (const char *path);
/* Whether nobody else can have written the file. */
gboolean xp_file_is_trusted (const char *path, const struct stat *status, GError **error);

/* --- notes.c --- */
/* The note of a file, read or remembered, and what the file is. Checks nothing. */
XpPluginInfo *xp_notes_read (const char *path, const XpLinkedPlugin *linked, struct stat *status,
                             GError **error);

/* --- suitable.c --- */
/* Whether a plugin of that note may be opened in this process. */
gboolean xp_note_check (const XpPluginInfo *info, GError **error);
/* Whether the setting `disable` lets it be. */
gboolean xp_note_check_enabled (const XpPluginInfo *info, GError **error);

/* --- search.c --- */
/* The directory that libcrosspoint lies in, with links followed; (transfer full) (nullable). */
char *xp_search_own_directory (void);
/* The directories as lines of a message, each after a newline. */
char *xp_search_describe (const XpSearchDirectory *directories, unsigned n);
/* Whether a file of the search path, NAME.so or NAME.LEVEL.so, holds the plugin of that name, built
 * for that level. */
gboolean xp_search_check_name (const XpPluginInfo *note, GError **error);
/* The variant of the plugin in @path, in the same folder, that is the best of those this machine
 * runs; NULL if it runs none. */
char *xp_search_best_variant (const char *path);
/* The files on the search path that a name leads to, and the other variants beside them;
 * (element-type filename). */
GPtrArray *xp_search_all (void);

/* --- scan.c --- */
/* Takes into @info, of a file that is not loaded, what the last scan has found of it. */
void xp_scan_take_known (XpPluginInfo *info);
/* What the file of that note brings, if it has been scanned and found good; (nullable). */
XpCoverage *xp_scan_coverage (const XpPluginInfo *note);
/* Refuses what is quarantined. */
gboolean xp_scan_check (const XpPluginInfo *note, GError **error);

/* --- copy.c --- */
/* A copy of the open file under a name never used before, for dlopen. */
char *xp_copy_make (int fd, const char *name, GError **error);
void xp_copy_remove (const char *path);

/* --- schemas.c --- */
/* Whether a plugin of that path is a file of schemas. */
bool xp_schemas_are_in (const char *path);
/* xp_note_read() of one. */
XpPluginInfo *xp_schemas_read_note (int fd, const char *path, GError **error);
/* Puts its rows into @transaction. */
gboolean xp_schemas_open (XpPlugin *plugin, int fd, XpTransaction *transaction, GError **error);

/* --- load.c --- */
/* Held through every load, unload and swap, and around fork; but not while threads are waited for,
 * which may load or fork before they leave. Not held while a constructor of another library may
 * wait for us: registering takes the table's lock only. */
void xp_load_lock (void);
bool xp_load_trylock (void);
void xp_load_unlock (void);
/* Whether this thread is inside of a constructor, probe or fini that we called. */
bool xp_load_is_nested (GError **error);
/* The same, or inside of anything that a load or unload of this thread calls. */
bool xp_load_is_refused (GError **error);
/* With @swap, in the place of whom it names, or over it. */
XpPlugin *xp_load_file (const char *path, XpSwap *swap, GError **error);
/* Runs @function of a plugin, which may not load, unload or call. */
void xp_load_run_fini (XpPlugin *plugin);

/* --- fini.c --- */
/* Runs the fini of a plugin that nobody is inside of, without the load lock; false, if it has not
 * ended after @seconds, and so runs on. */
bool xp_fini_run (XpPlugin *plugin, double seconds);

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
