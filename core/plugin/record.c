/* SPDX-License-Identifier: MIT
 *
 * record.c: the records of plugins: which there are, in what state, and which one an address or a
 * pin belongs to.
 */
#include "begin.h"
#include "plugin/plugin.h"
#include "table/preferences.h"
#include "threads/threads.h"
#include "value/storage.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

GMutex xp_plugins_lock;

static XpPlugin *records; /* append-only */

XpPlugin *
xp_plugin_records (void)
{
  return __atomic_load_n (&records, __ATOMIC_ACQUIRE);
}

const char *
xp_plugin_state_name (XpPluginState state)
{
#define NAME(enumerator, name, meaning) name,
  static const char *const names[] = { XP_PLUGIN_STATE_LIST (NAME) };
  return (unsigned) state < XP_N_PLUGIN_STATES ? names[state] : "unknown";
}

static bool
is_mapped (const XpPlugin *plugin)
{
  return plugin->state == XP_PLUGIN_LOADED || plugin->state == XP_PLUGIN_LOADING
         || plugin->state == XP_PLUGIN_INACTIVE || plugin->state == XP_PLUGIN_DRAINING
         || (plugin->state == XP_PLUGIN_RETIRED
             && (__atomic_load_n (&plugin->low, __ATOMIC_ACQUIRE) != NULL
                 || plugin->linked != NULL));
}

static bool
is_active (const XpPlugin *plugin)
{
  XpPluginState state = __atomic_load_n (&plugin->state, __ATOMIC_ACQUIRE);
  return state == XP_PLUGIN_LOADED || state == XP_PLUGIN_LOADING;
}

/* With the load lock, whose holders read notes, a record may get another note; without it, only its
 * own again. */
static XpPlugin *
take_record (XpPluginInfo *note, const struct stat *status, bool has_load_lock)
{
  XpPlugin *plugin = records;
  while (plugin != NULL
         && (is_mapped (plugin) || strcmp (plugin->note->path, note->path) != 0
             || strcmp (plugin->owner.name, note->name) != 0
             || !(has_load_lock || xp_plugin_is_file (plugin, status))))
    plugin = plugin->next;
  bool is_new = plugin == NULL;
  if (is_new)
    {
      plugin = g_new0 (XpPlugin, 1);
      xp_owner_init (&plugin->owner, note->name, note->priority);
      plugin->owner.is_away = true;
      plugin->next = records;
    }
  plugin->is_foreign = plugin->is_copy = false;
  __atomic_store_n (&plugin->linked, NULL, __ATOMIC_RELEASE);
  plugin->owner.refusal = NULL;
  plugin->owner.priority = note->priority;
  if (is_new || has_load_lock)
    {
      xp_plugin_info_free (plugin->note);
      plugin->note = note;
      plugin->device = status->st_dev;
      plugin->inode = status->st_ino;
      plugin->size = status->st_size;
      plugin->mtime = status->st_mtim;
    }
  else
    xp_plugin_info_free (note);
  if (is_new)
    __atomic_store_n (&records, plugin, __ATOMIC_RELEASE);
  return plugin;
}

XpPlugin *
xp_plugin_record (XpPluginInfo *note, const struct stat *status)
{
  g_mutex_lock (&xp_plugins_lock);
  XpPlugin *plugin = take_record (note, status, true);
  g_mutex_unlock (&xp_plugins_lock);
  return plugin;
}

static void
set_state (XpPlugin *plugin, XpPluginState state, const char *reason)
{
  char *old = plugin->reason;
  plugin->reason = g_strdup (reason);
  g_free (old);
  __atomic_store_n (&plugin->state, state, __ATOMIC_SEQ_CST);
}

/* Why it may not register; NULL where it may. */
static char *
refuse_foreign (const XpPluginInfo *note, const XpForeign *found)
{
  if (found->refusal != NULL)
    return g_strdup (found->refusal);
  const XpPlugin *other = records;
  while (other != NULL && (!is_active (other) || strcmp (other->owner.name, note->name) != 0))
    other = other->next;
  return other == NULL
             ? NULL
             : g_strdup_printf ("it is called %s, and so is a plugin that is %s from %s; "
                                "unload that before this is opened",
                                note->name, xp_plugin_state_name (other->state), other->note->path);
}

XpPlugin *
xp_plugin_record_foreign (XpPluginInfo *note, const struct stat *status, XpForeign *found)
{
  g_mutex_lock (&xp_plugins_lock);
  XpPlugin *plugin = found->linked != NULL ? xp_plugin_find_linked (found->linked)
                                           : xp_plugin_at (found->low);
  if (plugin != NULL && is_active (plugin))
    xp_plugin_info_free (note);
  else
    {
      g_autofree char *refusal = refuse_foreign (note, found);
      plugin = take_record (note, status, false);
      if (refusal != NULL)
        {
          plugin->owner.refusal = g_intern_string (refusal);
          found->is_refused_now = plugin->state != XP_PLUGIN_REJECTED
                                  || g_strcmp0 (plugin->reason, refusal) != 0;
          set_state (plugin, XP_PLUGIN_REJECTED, refusal);
        }
      else
        {
          found->is_new = plugin->is_foreign = true;
          __atomic_store_n (&plugin->linked, found->linked, __ATOMIC_RELEASE);
          plugin->handle = found->handle;
          plugin->mapped_path = g_strdup (found->path);
          xp_plugin_set_mapped (plugin, found->low, found->high);
          plugin->fini = found->fini;
          __atomic_store_n (&plugin->load_count, 1, __ATOMIC_RELAXED);
          xp_owner_open (&plugin->owner);
          set_state (plugin, XP_PLUGIN_LOADED, "it came in another way than through a load");
        }
    }
  g_mutex_unlock (&xp_plugins_lock);
  return plugin;
}

XpPlugin *
xp_plugin_find_linked (const XpLinkedPlugin *linked)
{
  XpPlugin *plugin = xp_plugin_records ();
  while (plugin != NULL && __atomic_load_n (&plugin->linked, __ATOMIC_ACQUIRE) != linked)
    plugin = plugin->next;
  return plugin;
}

void
xp_plugin_set_state (XpPlugin *plugin, XpPluginState state, const char *reason)
{
  g_mutex_lock (&xp_plugins_lock);
  set_state (plugin, state, reason);
  g_mutex_unlock (&xp_plugins_lock);
}

static bool
is_called (const XpPlugin *plugin, const char *name)
{
  return strcmp (strchr (name, '/') != NULL ? plugin->note->path : plugin->owner.name, name) == 0;
}

static XpPlugin *
find_called (const char *name, XpPluginState state)
{
  g_mutex_lock (&xp_plugins_lock);
  XpPlugin *plugin = records;
  while (plugin != NULL && (plugin->state != state || !is_called (plugin, name)))
    plugin = plugin->next;
  g_mutex_unlock (&xp_plugins_lock);
  return plugin;
}

XpPlugin *
xp_plugin_find_loaded (const char *name)
{
  return find_called (name, XP_PLUGIN_LOADED);
}

bool
xp_plugin_is_file (const XpPlugin *plugin, const struct stat *status)
{
  return plugin->device == status->st_dev && plugin->inode == status->st_ino
         && plugin->size == status->st_size && plugin->mtime.tv_sec == status->st_mtim.tv_sec
         && plugin->mtime.tv_nsec == status->st_mtim.tv_nsec;
}

XpPlugin *
xp_plugin_find_file (const struct stat *status)
{
  g_mutex_lock (&xp_plugins_lock);
  XpPlugin *plugin = records;
  while (plugin != NULL
         && (plugin->state != XP_PLUGIN_LOADED || plugin->linked != NULL
             || !xp_plugin_is_file (plugin, status)))
    plugin = plugin->next;
  g_mutex_unlock (&xp_plugins_lock);
  return plugin;
}

XpPlugin *
xp_plugin_find (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);
  struct stat status;
  bool is_path = strchr (name, '/') != NULL;
  g_autofree char *key = is_path ? g_canonicalize_filename (name, NULL) : g_strdup (name);
  XpPlugin *plugin = xp_plugin_find_loaded (key);
  if (plugin == NULL && is_path && stat (key, &status) == 0)
    plugin = xp_plugin_find_file (&status);
  return plugin != NULL ? plugin : find_called (key, XP_PLUGIN_INACTIVE);
}

/* --- Addresses and pins. --- */

void
xp_plugin_set_mapped (XpPlugin *plugin, const char *low, const char *high)
{
  __atomic_store_n (&plugin->high, high, __ATOMIC_RELEASE);
  __atomic_store_n (&plugin->low, low, __ATOMIC_RELEASE);
}

static int
take_range (struct dl_phdr_info *info, G_GNUC_UNUSED size_t size, void *data)
{
  XpPlugin *plugin = data;
  const struct link_map *map = plugin->handle;
  if (info->dlpi_addr != map->l_addr || strcmp (info->dlpi_name, map->l_name) != 0)
    return 0;
  const char *low, *high;
  xp_object_range (info, &low, &high);
  xp_plugin_set_mapped (plugin, low, high);
  return 1;
}

void
xp_plugin_set_range (XpPlugin *plugin)
{
  if (plugin->handle != NULL)
    xp_objects_visit (take_range, plugin);
  else
    xp_plugin_set_mapped (plugin, NULL, NULL);
}

void *
xp_plugin_entry_point (const XpPlugin *plugin, const char *name)
{
  void *address = plugin->handle != NULL ? dlsym (plugin->handle, name) : NULL;
  return address != NULL && xp_plugin_at (address) == plugin ? address : NULL;
}

/* One that is just being closed still has its place when another may have been mapped there. */
XpPlugin *
xp_plugin_at (const void *address)
{
  XpPlugin *leaving = NULL;
  for (XpPlugin *plugin = xp_plugin_records (); plugin != NULL; plugin = plugin->next)
    {
      const char *low = __atomic_load_n (&plugin->low, __ATOMIC_ACQUIRE);
      if (low == NULL || (const char *) address < low
          || (const char *) address >= __atomic_load_n (&plugin->high, __ATOMIC_ACQUIRE))
        continue;
      if (is_active (plugin))
        return plugin;
      leaving = plugin;
    }
  return leaving;
}

/* While constructors run the object's place is not known yet, but whose they are is. */
static void *
owner_at (const void *address)
{
  if (xp_transaction_current () != NULL)
    return xp_transaction_current_owner ();
  return xp_plugin_at (address);
}

void
xp_plugin_pin (XpPlugin *plugin)
{
  g_return_if_fail (plugin != NULL);
  __atomic_add_fetch (&plugin->pins, 1, __ATOMIC_SEQ_CST);
}

static void *
close_drained (G_GNUC_UNUSED void *data)
{
  xp_unload_drained (true);
  return NULL;
}

void
xp_plugin_unpin (XpPlugin *plugin)
{
  g_return_if_fail (plugin != NULL && __atomic_load_n (&plugin->pins, __ATOMIC_SEQ_CST) > 0);
  /* Read first: after the last pin is gone another thread may close the plugin, though its record
   * stays. */
  if (__atomic_sub_fetch (&plugin->pins, 1, __ATOMIC_SEQ_CST) != 0
      || __atomic_load_n (&plugin->state, __ATOMIC_SEQ_CST) != XP_PLUGIN_DRAINING)
    return;
  /* Closing waits and runs code of the plugin, which whoever frees a tensor does not expect. */
  GThread *thread = g_thread_try_new ("crosspoint-close", close_drained, NULL, NULL);
  if (thread != NULL)
    g_thread_unref (thread);
}

static void
pin_owner (void *owner)
{
  xp_plugin_pin (owner);
}

static void
unpin_owner (void *owner)
{
  xp_plugin_unpin (owner);
}

/* --- Memory for devices. --- */

static void
add_claim (XpPlugin *plugin, XpBackend backend, const XpMemoryClass *klass)
{
  MemoryClaim claim = { backend, klass };
  g_mutex_lock (&xp_plugins_lock);
  if (plugin->memories == NULL)
    plugin->memories = g_array_new (FALSE, FALSE, sizeof claim);
  g_array_append_val (plugin->memories, claim);
  g_mutex_unlock (&xp_plugins_lock);
}

/* What a foreign plugin sets counts at once, like what it registers, and is its claim as well. */
static bool
keep_memory (XpBackend backend, const XpMemoryClass *klass)
{
  bool is_load = xp_transaction_current () != NULL;
  XpPlugin *plugin = is_load         ? (XpPlugin *) xp_transaction_current_owner ()
                     : klass != NULL ? xp_plugin_at (klass)
                                     : NULL;
  if (plugin != NULL && (is_load || (plugin->is_foreign && is_active (plugin))))
    add_claim (plugin, backend, klass);
  return is_load;
}

/* Under the lock; of several for one backend the last counts. */
static void
set_claims (const XpPlugin *plugin, bool replaces)
{
  for (unsigned i = plugin->memories != NULL ? plugin->memories->len : 0; i-- > 0;)
    {
      const MemoryClaim *claim = &g_array_index (plugin->memories, MemoryClaim, i);
      bool is_last = true;
      for (unsigned j = i + 1; j < plugin->memories->len; j++)
        is_last &= g_array_index (plugin->memories, MemoryClaim, j).backend != claim->backend;
      if (is_last && (replaces || !xp_memory_is_set (claim->backend)))
        xp_memory_set (claim->backend, claim->klass, claim->klass != NULL ? (void *) plugin : NULL);
    }
}

void
xp_plugin_set_memories (const XpPlugin *plugin)
{
  g_mutex_lock (&xp_plugins_lock);
  set_claims (plugin, true);
  g_mutex_unlock (&xp_plugins_lock);
}

void
xp_plugin_forget_memories (XpPlugin *plugin)
{
  xp_memory_forget (plugin);
  g_mutex_lock (&xp_plugins_lock);
  for (XpPlugin *other = xp_plugin_records (); other != NULL; other = other->next)
    if (other != plugin && xp_plugin_state (other) == XP_PLUGIN_LOADED)
      set_claims (other, false);
  g_mutex_unlock (&xp_plugins_lock);
}

void
xp_plugin_drop_claims (XpPlugin *plugin)
{
  g_mutex_lock (&xp_plugins_lock);
  g_clear_pointer (&plugin->memories, g_array_unref);
  g_mutex_unlock (&xp_plugins_lock);
}

XpPluginState
xp_plugin_state (XpPlugin *plugin)
{
  g_return_val_if_fail (plugin != NULL, XP_PLUGIN_FAILED);
  return __atomic_load_n (&plugin->state, __ATOMIC_ACQUIRE);
}

void
xp_plugin_records_begin (void)
{
  xp_pin_hooks = (XpPinHooks){ owner_at, pin_owner, unpin_owner, keep_memory };
}
