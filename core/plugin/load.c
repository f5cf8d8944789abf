/* SPDX-License-Identifier: MIT
 *
 * load.c: from a name to rows and cells in the table, or to an error and nothing.
 */
#include "begin.h"
#include "call/dispatch.h"
#include "call/parallel.h"
#include "plugin/plugin.h"
#include "plugin/settings.h"
#include "plugin/swap.h"
#include "table/preferences.h"
#include "threads/threads.h"
#include "value/storage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static GMutex load_lock;
static __thread bool has_load_lock;

/* Set while code of a plugin runs that may only register. */
static __thread const XpPlugin *running;

void
xp_load_lock (void)
{
  g_mutex_lock (&load_lock);
  has_load_lock = true;
}

bool
xp_load_trylock (void)
{
  if (!g_mutex_trylock (&load_lock))
    return false;
  has_load_lock = true;
  return true;
}

void
xp_load_unlock (void)
{
  has_load_lock = false;
  g_mutex_unlock (&load_lock);
}

/* The constructor gets the error, and so does whoever loads. */
bool
xp_load_is_nested (GError **error)
{
  if (running == NULL)
    return false;
  GError *local = NULL;
  XpTransaction *transaction = xp_transaction_current ();
  xp_error_set (&local, XP_ERROR_NESTED_LOAD, &(XpErrorDetails){ .plugin = running->owner.name },
                "a constructor, probe or fini of %s tries to load, unload or call; a constructor "
                "only registers",
                running->owner.name);
  if (transaction != NULL && transaction->error == NULL)
    transaction->error = g_error_copy (local);
  g_propagate_error (error, local);
  return true;
}

/* A destructor, a destroy function or a handler of messages that runs during a load or unload would
 * wait for itself. */
bool
xp_load_is_refused (GError **error)
{
  if (xp_load_is_nested (error))
    return true;
  if (!has_load_lock)
    return false;
  xp_error_set (error, XP_ERROR_NESTED_LOAD, NULL,
                "this thread loads or unloads a plugin, and what that calls, such as a destructor, "
                "a destroy function or a handler of messages, tries to load, unload or swap: do it "
                "after that has returned");
  return true;
}

static void
begin_running (XpPlugin *plugin, XpTransaction *transaction)
{
  running = plugin;
  xp_transaction_set_current (transaction, transaction != NULL ? &plugin->owner : NULL);
  xp_thread_set_attention (XP_ATTENTION_NO_CALLS, true);
}

static void
end_running (void)
{
  xp_thread_set_attention (XP_ATTENTION_NO_CALLS, false);
  xp_transaction_set_current (NULL, NULL);
  running = NULL;
}

static void
end_fini (XpTransaction **transaction)
{
  end_running ();
  xp_transaction_free (*transaction);
}

void
xp_load_run_fini (XpPlugin *plugin)
{
  if (plugin->fini == NULL)
    return;
  /* What it registers is refused. It may end its thread. */
  __attribute__ ((cleanup (end_fini))) XpTransaction *transaction = xp_transaction_new ();
  transaction->is_fini = true;
  begin_running (plugin, transaction);
  plugin->fini ();
}

static int
open_file (const char *path, struct stat *status, GError **error)
{
  XpErrorDetails details = { .plugin = (char *) path };
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat (fd, status) != 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, &details,
                    "%s cannot be opened: %s; check the path and its permissions", path,
                    g_strerror (errno));
      if (fd >= 0)
        close (fd);
      return -1;
    }
  if (!S_ISREG (status->st_mode))
    xp_error_set (
        error, XP_ERROR_NOT_A_PLUGIN, &details,
        "%s is no plugin: it is not a regular file; name the file itself, or a link to it", path);
  else if (xp_file_is_trusted (path, status, error))
    return fd;
  close (fd);
  return -1;
}

static gboolean
check_requirements (const XpPluginInfo *note, GError **error)
{
  for (unsigned i = 0; note->requires_[i] != NULL; i++)
    if (xp_plugin_find_loaded (note->requires_[i]) == NULL)
      {
        xp_error_set (error, XP_ERROR_MISSING_REQUIREMENT,
                      &(XpErrorDetails){ .plugin = note->name,
                                         .candidates = (char *[]){ note->requires_[i], NULL } },
                      "%s requires %s, which is not loaded: load %s first", note->name,
                      note->requires_[i], note->requires_[i]);
        return FALSE;
      }
  return TRUE;
}

static gboolean
check_conflict (const XpPluginInfo *note, const XpSwap *swap, GError **error)
{
  const XpPlugin *other = xp_plugin_find_loaded (note->name);
  if (other == NULL || (swap != NULL && other == xp_swap_replaced (swap)))
    return TRUE;
  const XpErrorDetails details = { .plugin = note->name };
  if (strcmp (note->path, other->note->path) == 0)
    xp_error_set (error, XP_ERROR_PLUGIN_CONFLICT, &details,
                  "%s has changed since it was loaded: swap it, or unload it first", note->path);
  else
    xp_error_set (error, XP_ERROR_PLUGIN_CONFLICT, &details,
                  "%s is called %s, and so is a plugin that is loaded from %s: swap it, or unload "
                  "it first",
                  note->path, note->name, other->note->path);
  return FALSE;
}

/* What the linker says of another object than the file itself is about what that depends on. */
static void
set_refused (const XpPlugin *plugin, const char *opened, GError **error)
{
  const char *path = plugin->note->path;
  g_autofree char *text = g_strdup (dlerror ());
  g_autofree char *subject = g_strndup (text, strcspn (text, ":"));
  bool is_dependency = strcmp (subject, opened) != 0 && strchr (subject, '/') == NULL
                       && text[strlen (subject)] == ':';
  g_auto (GStrv) parts = g_strsplit (text, opened, -1);
  g_autofree char *reason = g_strjoinv (path, parts);
  xp_error_set (
      error, XP_ERROR_LOAD_FAILED,
      &(XpErrorDetails){ .plugin = plugin->owner.name,
                         .candidates = is_dependency ? (char *[]){ subject, NULL } : NULL },
      "the dynamic linker refuses %s: %s%s%s%s", path, is_dependency ? "dependency missing: " : "",
      is_dependency ? subject : "", is_dependency ? "; " : "", reason);
}

/* Libraries that keep threads of their own, by the beginning of their names: unmapped, they would
 * take the code away under those. */
static const char *const libraries_with_threads[] = {
  "libgomp.",   "libomp.",    "libiomp5.", "libtbb.",  "libblis",  "libopenblas", "libcuda.",
  "libcudart.", "libOpenCL.", "libasan.",  "libtsan.", "liblsan.", "libubsan."
};

gboolean
xp_library_keeps_threads (const char *file)
{
  g_return_val_if_fail (file != NULL, FALSE);
  for (unsigned i = 0; i < XP_LENGTH (libraries_with_threads); i++)
    if (g_str_has_prefix (file, libraries_with_threads[i]))
      return TRUE;
  return FALSE;
}

static int
collect_library (struct dl_phdr_info *info, G_GNUC_UNUSED size_t size, void *names)
{
  g_autofree char *name = g_path_get_basename (info->dlpi_name);
  if (xp_library_keeps_threads (name))
    g_ptr_array_add (names, g_strdup (info->dlpi_name));
  return 0;
}

/* Whatever of them is there now, a plugin may have brought. */
static void
keep_libraries_with_threads (void)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  xp_objects_visit (collect_library, names);
  for (unsigned i = 0; i < names->len; i++)
    {
      void *handle = dlopen (names->pdata[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
      if (handle != NULL)
        dlclose (handle);
    }
}

/* Opens the file. What its constructors register is in @transaction then. */
static gboolean
open_library (XpPlugin *plugin, int fd, XpTransaction *transaction, GError **error)
{
  plugin->is_copy = xp_setting_get_number ("load-in-place") == 0;
  char *path = plugin->is_copy ? xp_copy_make (fd, plugin->owner.name, error)
                               : g_strdup (plugin->note->path);
  if (path == NULL)
    return FALSE;
  g_mutex_lock (&xp_plugins_lock);
  plugin->mapped_path = path;
  g_mutex_unlock (&xp_plugins_lock);
  begin_running (plugin, transaction);
  plugin->handle = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  end_running ();
  if (plugin->handle == NULL)
    {
      set_refused (plugin, path, error);
      return FALSE;
    }
  keep_libraries_with_threads ();
  xp_plugin_set_range (plugin);
  plugin->fini = (void (*) (void)) xp_plugin_entry_point (plugin, "xp_plugin_fini");
  return TRUE;
}

static gboolean
probe (XpPlugin *plugin, XpTransaction *transaction, GError **error)
{
  gboolean (*function) (GError **) = (gboolean (*) (GError **)) xp_plugin_entry_point (
      plugin, "xp_plugin_probe");
  if (function == NULL)
    return TRUE;
  GError *reason = NULL;
  begin_running (plugin, transaction);
  gboolean suitable = function (&reason);
  end_running ();
  if (!suitable)
    xp_error_set (error, XP_ERROR_UNSUITABLE, &(XpErrorDetails){ .plugin = plugin->owner.name },
                  "%s: unsuitable: %s", plugin->owner.name,
                  reason != NULL ? reason->message
                                 : "its probe gave no reason; xp_plugin_probe() is to set an error "
                                   "that says what it needs");
  g_clear_error (&reason);
  return suitable;
}

/* Nothing of a load that failed stays, but for a file that something may keep pointers into. */
static void
close_library (XpPlugin *plugin)
{
  xp_plugin_drop_claims (plugin);
  xp_owner_destroy_libraries (&plugin->owner);
  if (plugin->handle != NULL && plugin->note->resident == NULL)
    dlclose (plugin->handle);
  g_mutex_lock (&xp_plugins_lock);
  plugin->handle = NULL;
  plugin->fini = NULL;
  char *path = g_steal_pointer (&plugin->mapped_path);
  g_mutex_unlock (&xp_plugins_lock);
  xp_plugin_set_range (plugin);
  if (path != NULL && plugin->is_copy)
    xp_copy_remove (path);
  g_free (path);
}

/* What is in @transaction goes into the table, in the place of whom @swap names. */
static gboolean
commit (XpPlugin *plugin, XpSwap *swap, XpTransaction *transaction, GError **error)
{
  if (swap != NULL)
    swap->new_ = plugin;
  if (!xp_transaction_commit (transaction, swap != NULL ? xp_swap_check : NULL, swap, error))
    return FALSE;
  xp_plugin_set_memories (plugin);
  return TRUE;
}

static XpPluginState
state_of_error (const GError *error)
{
  if (error->domain != XP_ERROR)
    return XP_PLUGIN_FAILED;
  switch (error->code)
    {
    case XP_ERROR_UNSUITABLE:
      return XP_PLUGIN_UNSUITABLE;
    case XP_ERROR_WRONG_ABI:
    case XP_ERROR_WRONG_MACHINE:
    case XP_ERROR_MISSING_CPU_FEATURE:
    case XP_ERROR_UNSAFE_FILE:
    case XP_ERROR_SECOND_CORE:
    case XP_ERROR_DISABLED:
      return XP_PLUGIN_REJECTED;
    case XP_ERROR_QUARANTINED:
      return XP_PLUGIN_QUARANTINED;
    default:
      return XP_PLUGIN_FAILED;
    }
}

/* The reason is the message without the name and state that stand beside it in every list. */
static void
set_state_of_error (XpPlugin *plugin, const GError *error)
{
  XpPluginState state = state_of_error (error);
  g_autofree char *known = g_strdup_printf ("%s: %s: ", plugin->owner.name,
                                            xp_plugin_state_name (state));
  gboolean says_so = g_str_has_prefix (error->message, known);
  xp_plugin_set_state (plugin, state, error->message + (says_so ? strlen (known) : 0));
}

/* Whoever takes another's place is loaded as often. */
static void
set_loaded (XpPlugin *plugin, const XpSwap *swap)
{
  const XpPlugin *replaced = swap != NULL ? xp_swap_replaced (swap) : NULL;
  unsigned count = replaced != NULL ? __atomic_load_n (&replaced->load_count, __ATOMIC_RELAXED) : 1;
  __atomic_store_n (&plugin->load_count, count, __ATOMIC_RELAXED);
  xp_plugin_set_state (plugin, XP_PLUGIN_LOADED, NULL);
}

static XpTransaction *
transaction_for (XpPlugin *plugin, const XpSwap *swap)
{
  XpTransaction *transaction = xp_transaction_new ();
  if (swap != NULL && xp_swap_replaced (swap) != NULL)
    xp_transaction_replace (transaction, &xp_swap_replaced (swap)->owner);
  transaction->loaded = &plugin->owner;
  int priority = plugin->note->priority;
  xp_owner_set_priority (&plugin->owner,
                         swap != NULL ? xp_swap_priority (swap, priority) : priority);
  return transaction;
}

/* A plugin whose unchanged file is mapped takes up its cells again: its constructors will not run a
 * second time, but its blocks are there. */
static XpPlugin *
find_mapped (const struct stat *status)
{
  XpPlugin *plugin = xp_plugin_records ();
  for (; plugin != NULL; plugin = plugin->next)
    {
      XpPluginState state = xp_plugin_state (plugin);
      if ((state == XP_PLUGIN_INACTIVE
           || (state == XP_PLUGIN_RETIRED && plugin->note->resident != NULL))
          && (plugin->handle != NULL || plugin->note->is_schemas)
          && xp_plugin_is_file (plugin, status))
        break;
    }
  return plugin;
}

static gboolean
revive (XpPlugin *plugin, XpSwap *swap, GError **error)
{
  int priority = plugin->owner.priority;
  XpTransaction *transaction = transaction_for (plugin, swap);
  gboolean done = probe (plugin, transaction, error) && commit (plugin, swap, transaction, error);
  xp_transaction_free (transaction);
  if (!done)
    {
      xp_owner_set_priority (&plugin->owner, priority);
      return FALSE;
    }
  set_loaded (plugin, swap);
  xp_swap_forget_old (plugin);
  return TRUE;
}

static gboolean
load_record (XpPlugin *plugin, int fd, XpSwap *swap, GError **error)
{
  xp_plugin_set_state (plugin, XP_PLUGIN_LOADING, NULL);
  /* Again, for one that came in by itself meanwhile. */
  if (!check_conflict (plugin->note, swap, error))
    return FALSE;
  XpTransaction *transaction = transaction_for (plugin, swap);
  gboolean done = (plugin->note->is_schemas ? xp_schemas_open (plugin, fd, transaction, error)
                                            : open_library (plugin, fd, transaction, error))
                  && probe (plugin, transaction, error)
                  && commit (plugin, swap, transaction, error);
  if (done && transaction->added->len == 0 && plugin->memories == NULL)
    g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "PLUGIN", plugin->owner.name, "MESSAGE",
                      "%s is loaded, but registers nothing", plugin->note->path);
  xp_transaction_free (transaction);
  if (done)
    set_loaded (plugin, swap);
  else
    close_library (plugin);
  return done;
}

XpPlugin *
xp_load_file (const char *path, XpSwap *swap, GError **error)
{
  struct stat status;
  GError *local = NULL;
  XpPlugin *plugin = NULL;
  int fd = open_file (path, &status, error);
  if (fd < 0)
    return NULL;
  XpPluginInfo *note = xp_note_read (fd, path, NULL, error);
  if (note != NULL)
    {
      gboolean may = xp_note_check (note, &local) && xp_core_check (note, &local)
                     && xp_scan_check (note, &local) && check_requirements (note, &local)
                     && check_conflict (note, swap, &local);
      XpPlugin *mapped = may ? find_mapped (&status) : NULL;
      if (mapped != NULL)
        {
          xp_plugin_info_free (note);
          plugin = revive (mapped, swap, error) ? mapped : NULL;
        }
      else
        {
          plugin = xp_plugin_record (note, &status);
          if (may)
            load_record (plugin, fd, swap, &local);
        }
    }
  close (fd);
  if (local == NULL)
    return plugin;
  set_state_of_error (plugin, local);
  g_propagate_error (error, local);
  return NULL;
}

/* Who opens a file in another way may not be through its constructors, and some of its cells are
 * not there yet: the linker's lock, which they run under, is waited for. */
static void
count_one_more (XpPlugin *plugin)
{
  __atomic_add_fetch (&plugin->load_count, 1, __ATOMIC_RELAXED);
  g_mutex_lock (&xp_plugins_lock);
  bool may_run = plugin->is_foreign && plugin->linked == NULL;
  g_autofree char *path = may_run ? g_strdup (plugin->mapped_path) : NULL;
  g_mutex_unlock (&xp_plugins_lock);
  void *handle = path != NULL ? dlopen (path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (handle != NULL)
    dlclose (handle);
}

/* Somebody else may open the file at the same time; then it is loaded, as the program wants it. */
static XpPlugin *
load_or_count (const char *path, GError **error)
{
  struct stat status;
  GError *local = NULL;
  XpPlugin *plugin = xp_load_file (path, NULL, &local);
  if (g_error_matches (local, XP_ERROR, XP_ERROR_PLUGIN_CONFLICT) && stat (path, &status) == 0
      && (plugin = xp_plugin_find_file (&status)) != NULL)
    {
      g_clear_error (&local);
      count_one_more (plugin);
    }
  if (local != NULL)
    g_propagate_error (error, local);
  return plugin;
}

/* One that is linked statically and was unloaded takes up its cells again. */
static XpPlugin *
find_retired_linked (const char *name)
{
  XpPlugin *plugin = xp_plugin_records ();
  while (plugin != NULL
         && (__atomic_load_n (&plugin->linked, __ATOMIC_ACQUIRE) == NULL
             || xp_plugin_state (plugin) != XP_PLUGIN_RETIRED
             || strcmp (plugin->owner.name, name) != 0))
    plugin = plugin->next;
  return plugin;
}

XpPlugin *
xp_plugin_load (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  struct stat status;
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  if (xp_load_is_refused (error))
    return NULL;
  xp_unload_drained (true);
  xp_load_lock ();
  xp_preferences_begin ();
  /* A name that is loaded is that plugin, wherever its file lies now. */
  XpPlugin *plugin = strchr (name, '/') == NULL ? xp_plugin_find_loaded (name) : NULL;
  XpPlugin *linked = plugin == NULL ? find_retired_linked (name) : NULL;
  g_autofree char *path = plugin == NULL && linked == NULL ? xp_plugin_locate (name, error) : NULL;
  if (path != NULL && stat (path, &status) == 0)
    plugin = xp_plugin_find_file (&status);
  if (plugin != NULL)
    count_one_more (plugin);
  else if (linked != NULL)
    plugin = revive (linked, NULL, error) ? linked : NULL;
  else if (path != NULL)
    plugin = load_or_count (path, error);
  xp_load_unlock ();
  xp_registrations_retire ();
  xp_listeners_tell ();
  return plugin;
}

/* In the order in which they are taken one inside the other. */
static GMutex *const fork_locks[] = { &load_lock,        &xp_retire_lock,   &xp_plugins_lock,
                                      &xp_table_lock,    &xp_backends_lock, &xp_settings_lock,
                                      &xp_parallel_lock, &xp_objects_lock };

/* Code of a plugin that forks while it is loaded or closed is part of what holds the load lock. */
static unsigned
first_fork_lock (void)
{
  return has_load_lock ? 1 : 0;
}

static void
before_fork (void)
{
  for (unsigned i = first_fork_lock (); i < XP_LENGTH (fork_locks); i++)
    g_mutex_lock (fork_locks[i]);
}

static void
after_fork (void)
{
  for (unsigned i = XP_LENGTH (fork_locks); i-- > first_fork_lock ();)
    g_mutex_unlock (fork_locks[i]);
}

/* The thread that waited for others to leave is not in the child. */
static void
after_fork_in_child (void)
{
  for (XpPlugin *plugin = xp_plugin_records (); plugin != NULL; plugin = plugin->next)
    plugin->is_being_left = false;
  xp_listeners_after_fork ();
  xp_parallel_after_fork ();
  after_fork ();
  /* How far that thread had come nobody knows, so fini is not run a second time. */
  for (XpPlugin *plugin = xp_plugin_records (); plugin != NULL; plugin = plugin->next)
    if (plugin->runs_fini)
      {
        plugin->runs_fini = false;
        xp_plugin_set_state (plugin, XP_PLUGIN_RETIRED,
                             "its fini ran in another thread when this process was forked, so its "
                             "file stays mapped; a load of it opens a new copy");
      }
}

void
xp_load_begin (void)
{
  xp_calls_forbidden_hook = xp_load_is_nested;
  pthread_atfork (before_fork, after_fork, after_fork_in_child);
}
