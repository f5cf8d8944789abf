/* SPDX-License-Identifier: MIT
 *
 * load.c: from a name to rows and cells in the table, or to an error and nothing.
 */
#include "begin.h"
#include "call/dispatch.h"
#include "plugin/plugin.h"
#include "threads/threads.h"
#include "value/storage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* Set while code of a plugin runs that may only register. */
static __thread const XpPlugin *running;

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

void
xp_load_run_fini (XpPlugin *plugin)
{
  if (plugin->fini == NULL)
    return;
  /* What it registers is dropped. */
  XpTransaction *transaction = xp_transaction_new ();
  begin_running (plugin, transaction);
  plugin->fini ();
  end_running ();
  xp_transaction_free (transaction);
}

static int
open_file (const char *path, struct stat *status, GError **error)
{
  XpErrorDetails details = { .plugin = (char *) path };
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 || fstat (fd, status) != 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, &details, "%s cannot be opened: %s", path,
                    g_strerror (errno));
      if (fd >= 0)
        close (fd);
      return -1;
    }
  if (!S_ISREG (status->st_mode))
    xp_error_set (error, XP_ERROR_NOT_A_PLUGIN, &details,
                  "%s is no plugin: it is not a regular file", path);
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
check_conflict (const XpPluginInfo *note, const XpPlugin *replaced, GError **error)
{
  const XpPlugin *other = xp_plugin_find_loaded (note->name);
  if (other == NULL || other == replaced)
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

/* Opens the file. What its constructors register is in @transaction then. */
static gboolean
open_library (XpPlugin *plugin, int fd, XpTransaction *transaction, GError **error)
{
  const char *in_place = g_getenv ("CROSSPOINT_LOAD_IN_PLACE");
  plugin->is_copy = in_place == NULL || strcmp (in_place, "1") != 0;
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
      g_autofree char *text = g_strdup (dlerror ());
      g_auto (GStrv) parts = g_strsplit (text, path, -1);
      g_autofree char *reason = g_strjoinv (plugin->note->path, parts);
      xp_error_set (error, XP_ERROR_LOAD_FAILED, &(XpErrorDetails){ .plugin = plugin->owner.name },
                    "the dynamic linker refuses %s: %s", plugin->note->path, reason);
      return FALSE;
    }
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
                  reason != NULL ? reason->message : "its probe gave no reason");
  g_clear_error (&reason);
  return suitable;
}

/* Nothing of a load that failed stays, but for a file that something may keep pointers into. */
static void
close_library (XpPlugin *plugin)
{
  g_clear_pointer (&plugin->memories, g_array_unref);
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

/* What the old plugin of a swap has and the new one lacks. */
typedef struct
{
  XpPlugin *old;
  XpPlugin *new_;
} Replacement;

static gboolean
entry_covers (const Entry *entry, const Entry *lost)
{
  if (!entry->is_in_table)
    return FALSE;
  if (lost->registration == NULL || entry->registration == NULL)
    return (lost->definition != NULL) == (entry->definition != NULL)
           && lost->registration == entry->registration
           && g_strcmp0 (lost->row_name, entry->row_name) == 0;
  return lost->registration->key == entry->registration->key
         && g_strcmp0 (lost->row_name, entry->row_name) == 0;
}

static bool
owner_covers (const XpOwner *owner, const Entry *lost)
{
  for (unsigned i = 0; i < owner->libraries->len; i++)
    {
      const XpLibrary *library = owner->libraries->pdata[i];
      for (unsigned j = 0; j < library->entries->len; j++)
        if (entry_covers (library->entries->pdata[j], lost))
          return true;
    }
  return false;
}

static char *
describe (const Entry *entry)
{
  if (entry->device != 0)
    return g_strdup_printf ("the device %s", xp_backend_name ((XpBackend) entry->device));
  if (entry->definition != NULL)
    return g_strdup_printf ("the row %s", entry->row_name);
  return g_strdup_printf ("%s [%s]", entry->row_name != NULL ? entry->row_name : "fallback",
                          xp_key_name (entry->registration->key));
}

static gboolean
check_coverage (const XpTransaction *transaction, void *data, GError **error)
{
  const Replacement *replacement = data;
  g_autoptr (GPtrArray) lost = g_ptr_array_new_with_free_func (g_free);
  for (unsigned i = 0; i < transaction->removed->len; i++)
    {
      const Entry *entry = transaction->removed->pdata[i];
      bool is_namespace = entry->definition == NULL && entry->registration == NULL;
      if (is_namespace || owner_covers (&replacement->new_->owner, entry))
        continue;
      g_ptr_array_add (lost, describe (entry));
    }
  if (lost->len == 0)
    return TRUE;
  g_ptr_array_add (lost, NULL);
  g_autofree char *list = g_strjoinv ("\n  ", (char **) lost->pdata);
  xp_error_set (error, XP_ERROR_COVERAGE_LOST,
                &(XpErrorDetails){ .plugin = replacement->new_->owner.name,
                                   .candidates = (char **) lost->pdata },
                "%s lacks %u of what %s fills, so the swap is not made:\n  %s\nLoad %s over %s "
                "instead, or extend it.",
                replacement->new_->owner.name, lost->len - 1, replacement->old->owner.name, list,
                replacement->new_->owner.name, replacement->old->owner.name);
  return FALSE;
}

static gboolean
commit (XpPlugin *plugin, XpPlugin *replaced, XpTransaction *transaction, GError **error)
{
  Replacement replacement = { replaced, plugin };
  transaction->replaced = replaced != NULL ? &replaced->owner : NULL;
  if (!xp_transaction_commit (transaction, replaced != NULL ? check_coverage : NULL, &replacement,
                              error))
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
      return XP_PLUGIN_REJECTED;
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

static void
set_loaded (XpPlugin *plugin, const XpPlugin *replaced)
{
  unsigned count = replaced != NULL ? __atomic_load_n (&replaced->load_count, __ATOMIC_RELAXED) : 1;
  __atomic_store_n (&plugin->load_count, count, __ATOMIC_RELAXED);
  xp_plugin_set_state (plugin, XP_PLUGIN_LOADED, NULL);
}

/* A plugin that was retired with its file unchanged takes up its cells again: its constructors will
 * not run a second time, but its blocks are there. */
static XpPlugin *
find_retired (const struct stat *status)
{
  XpPlugin *plugin = xp_plugin_records ();
  while (plugin != NULL
         && (xp_plugin_state (plugin) != XP_PLUGIN_RETIRED || plugin->note->resident == NULL
             || plugin->handle == NULL || !xp_plugin_is_file (plugin, status)))
    plugin = plugin->next;
  return plugin;
}

static gboolean
revive (XpPlugin *plugin, XpPlugin *replaced, GError **error)
{
  XpTransaction *transaction = xp_transaction_new ();
  transaction->replaced = replaced != NULL ? &replaced->owner : NULL;
  transaction->loaded = &plugin->owner;
  gboolean done = probe (plugin, transaction, error)
                  && commit (plugin, replaced, transaction, error);
  xp_transaction_free (transaction);
  if (done)
    set_loaded (plugin, replaced);
  return done;
}

static gboolean
load_record (XpPlugin *plugin, int fd, XpPlugin *replaced, GError **error)
{
  xp_plugin_set_state (plugin, XP_PLUGIN_LOADING, NULL);
  /* Again, for one that came in by itself meanwhile. */
  if (!check_conflict (plugin->note, replaced, error))
    return FALSE;
  XpTransaction *transaction = xp_transaction_new ();
  transaction->replaced = replaced != NULL ? &replaced->owner : NULL;
  transaction->loaded = &plugin->owner;
  gboolean done = open_library (plugin, fd, transaction, error)
                  && probe (plugin, transaction, error)
                  && commit (plugin, replaced, transaction, error);
  if (done && transaction->added->len == 0)
    g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "PLUGIN", plugin->owner.name, "MESSAGE",
                      "%s is loaded, but registers nothing", plugin->note->path);
  xp_transaction_free (transaction);
  if (done)
    set_loaded (plugin, replaced);
  else
    close_library (plugin);
  return done;
}

XpPlugin *
xp_load_file (const char *path, XpPlugin *replaced, GError **error)
{
  struct stat status;
  GError *local = NULL;
  XpPlugin *plugin = NULL;
  int fd = open_file (path, &status, error);
  if (fd < 0)
    return NULL;
  XpPluginInfo *note = xp_note_read (fd, path, error);
  if (note != NULL)
    {
      gboolean may = xp_note_check (note, &local) && xp_core_check (note, &local)
                     && check_requirements (note, &local)
                     && check_conflict (note, replaced, &local);
      XpPlugin *retired = may ? find_retired (&status) : NULL;
      if (retired != NULL)
        {
          xp_plugin_info_free (note);
          plugin = revive (retired, replaced, error) ? retired : NULL;
        }
      else
        {
          plugin = xp_plugin_record (note, &status);
          if (may)
            load_record (plugin, fd, replaced, &local);
        }
    }
  close (fd);
  if (local == NULL)
    return plugin;
  set_state_of_error (plugin, local);
  g_propagate_error (error, local);
  return NULL;
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
      __atomic_add_fetch (&plugin->load_count, 1, __ATOMIC_RELAXED);
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
         && (plugin->linked == NULL || xp_plugin_state (plugin) != XP_PLUGIN_RETIRED
             || strcmp (plugin->owner.name, name) != 0))
    plugin = plugin->next;
  return plugin;
}

XpPlugin *
xp_plugin_load (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  struct stat status;
  if (xp_load_is_nested (error))
    return NULL;
  xp_unload_drained (true);
  g_mutex_lock (&xp_load_lock);
  /* A name that is loaded is that plugin, wherever its file lies now. */
  XpPlugin *plugin = strchr (name, '/') == NULL ? xp_plugin_find_loaded (name) : NULL;
  XpPlugin *linked = plugin == NULL ? find_retired_linked (name) : NULL;
  g_autofree char *path = plugin == NULL && linked == NULL ? xp_plugin_locate (name, error) : NULL;
  if (path != NULL && stat (path, &status) == 0)
    plugin = xp_plugin_find_file (&status);
  if (plugin != NULL)
    __atomic_add_fetch (&plugin->load_count, 1, __ATOMIC_RELAXED);
  else if (linked != NULL)
    plugin = revive (linked, NULL, error) ? linked : NULL;
  else if (path != NULL)
    plugin = load_or_count (path, error);
  g_mutex_unlock (&xp_load_lock);
  xp_registrations_retire ();
  xp_listeners_tell ();
  return plugin;
}

/* Moves @replaced out of the table for @plugin, which is loaded already. */
static gboolean
replace (XpPlugin *plugin, XpPlugin *replaced, GError **error)
{
  XpTransaction *transaction = xp_transaction_new ();
  gboolean done = commit (plugin, replaced, transaction, error);
  xp_transaction_free (transaction);
  return done;
}

XpPlugin *
xp_plugin_swap (XpPlugin *plugin, const char *name, GError **error)
{
  g_return_val_if_fail (plugin != NULL && name != NULL, NULL);
  if (xp_load_is_nested (error))
    return NULL;
  g_mutex_lock (&xp_load_lock);
  XpPlugin *successor = NULL;
  /* A name that is loaded is that plugin, and its own name is its own file, built again. */
  XpPlugin *named = strchr (name, '/') == NULL ? xp_plugin_find_loaded (name) : NULL;
  g_autofree char *path = named != NULL ? g_strdup (named->note->path)
                                        : xp_plugin_locate (name, error);
  g_autoptr (XpPluginInfo) note = path != NULL ? xp_plugin_info_read (path, error) : NULL;
  if (note != NULL && xp_unload_check (plugin, note->name, error))
    {
      struct stat status;
      XpPlugin *loaded = named;
      if (named == NULL && stat (path, &status) == 0)
        loaded = xp_plugin_find_file (&status);
      if (loaded != NULL && loaded != plugin)
        successor = replace (loaded, plugin, error) ? loaded : NULL;
      else
        successor = xp_load_file (path, plugin, error);
    }
  if (successor != NULL)
    {
      __atomic_store_n (&plugin->load_count, 0, __ATOMIC_RELAXED);
      if (!xp_unload_finish (plugin, error))
        successor = NULL;
    }
  g_mutex_unlock (&xp_load_lock);
  xp_registrations_retire ();
  xp_listeners_tell ();
  return successor;
}

/* In the order in which they are taken one inside the other. */
static GMutex *const fork_locks[] = { &xp_load_lock, &xp_retire_lock, &xp_plugins_lock,
                                      &xp_table_lock, &xp_backends_lock };

/* A constructor, probe or fini that forks is part of what holds the load lock. */
static unsigned
first_fork_lock (void)
{
  return running != NULL ? 1 : 0;
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
  after_fork ();
}

void
xp_load_begin (void)
{
  xp_calls_forbidden_hook = xp_load_is_nested;
  pthread_atfork (before_fork, after_fork, after_fork_in_child);
}
