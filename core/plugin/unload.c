/* SPDX-License-Identifier: MIT
 *
 * unload.c: out of the table, out of the threads, out of the process.
 */
#include "plugin/plugin.h"
#include "threads/threads.h"
#include "value/storage.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static double timeout_seconds = 10;

void
xp_set_unload_timeout (double seconds)
{
  g_return_if_fail (seconds >= 0);
  timeout_seconds = seconds;
}

static gboolean
check_dependants (const XpPlugin *plugin, const char *successor, GError **error)
{
  g_autoptr (GPtrArray) dependants = g_ptr_array_new ();
  if (successor != NULL && strcmp (successor, plugin->owner.name) == 0)
    return TRUE;
  for (const XpPlugin *other = xp_plugin_records (); other != NULL; other = other->next)
    if (other != plugin && other->state == XP_PLUGIN_LOADED
        && g_strv_contains ((const char *const *) other->note->requires_, plugin->owner.name))
      g_ptr_array_add (dependants, other->owner.name);
  if (dependants->len == 0)
    return TRUE;
  g_ptr_array_add (dependants, NULL);
  g_autofree char *list = g_strjoinv (", ", (char **) dependants->pdata);
  xp_error_set (
      error, XP_ERROR_IN_USE,
      &(XpErrorDetails){ .plugin = plugin->owner.name, .candidates = (char **) dependants->pdata },
      "%s is required by %s: unload that first", plugin->owner.name, list);
  return FALSE;
}

gboolean
xp_unload_check (XpPlugin *plugin, const char *successor, GError **error)
{
  if (xp_plugin_state (plugin) != XP_PLUGIN_LOADED)
    {
      xp_error_set (error, XP_ERROR_PLUGIN_NOT_LOADED,
                    &(XpErrorDetails){ .plugin = plugin->owner.name }, "%s is not loaded, it is %s",
                    plugin->owner.name, xp_plugin_state_name (xp_plugin_state (plugin)));
      return FALSE;
    }
  if (!check_dependants (plugin, successor, error))
    return FALSE;
  g_autoptr (GPtrArray) kernels = xp_owner_kernels (&plugin->owner);
  const XpCall *call = xp_thread_find (xp_kernels_contain, kernels);
  if (call == NULL)
    return TRUE;
  xp_error_set (
      error, XP_ERROR_BUSY,
      &(XpErrorDetails){ .plugin = plugin->owner.name, .op = (char *) xp_operator_name (call->op) },
      "%s cannot be unloaded from inside of its own kernel of %s: do it after the call "
      "returns",
      plugin->owner.name, xp_operator_name (call->op));
  return FALSE;
}

/* Why the file is still mapped after it was closed; NULL when it is gone. */
static char *
reason_to_stay (const XpPlugin *plugin, const char *path)
{
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == NULL)
    return NULL;
  dlclose (handle);
  return g_strdup (plugin->is_foreign
                       ? "it is still mapped: the program or another library has it open too"
                       : "it is still mapped: the linker keeps it, for a unique symbol, a "
                         "thread-local destructor, or another library that needs it");
}

/* Nobody is inside and nothing pins it: the end. */
static void
close_plugin (XpPlugin *plugin)
{
  g_autofree char *reason = NULL;
  xp_load_run_fini (plugin);
  if (plugin->note->resident != NULL)
    {
      /* Its blocks are kept, for its constructors will not run again. */
      reason = g_strdup_printf ("its file stays mapped: %s", plugin->note->resident);
      xp_plugin_set_state (plugin, XP_PLUGIN_RETIRED, reason);
      return;
    }
  g_clear_pointer (&plugin->memories, g_array_unref);
  xp_owner_destroy_libraries (&plugin->owner);
  if (plugin->handle != NULL)
    dlclose (plugin->handle);
  g_mutex_lock (&xp_plugins_lock);
  plugin->handle = NULL;
  char *path = g_steal_pointer (&plugin->mapped_path);
  g_mutex_unlock (&xp_plugins_lock);
  reason = reason_to_stay (plugin, path);
  /* Who else has a foreign one open may close it at any time, and open it anew. */
  if (reason == NULL || plugin->is_foreign)
    xp_plugin_set_range (plugin);
  if (plugin->is_copy)
    xp_copy_remove (path);
  g_free (path);
  xp_plugin_set_state (plugin, reason != NULL ? XP_PLUGIN_RETIRED : XP_PLUGIN_UNLOADED, reason);
}

static gboolean
wait_for_threads (XpPlugin *plugin, double seconds)
{
  g_autoptr (GPtrArray) kernels = xp_owner_kernels (&plugin->owner);
  return xp_threads_wait (xp_kernels_contain, kernels, seconds);
}

/* Closes it unless something pins it. */
static void
close_unless_pinned (XpPlugin *plugin)
{
  unsigned pins = __atomic_load_n (&plugin->pins, __ATOMIC_SEQ_CST);
  if (pins == 0)
    {
      close_plugin (plugin);
      return;
    }
  g_autofree char *reason = g_strdup_printf (
      "%u thing%s of it %s still in use, such as tensors; it is closed when the last is freed",
      pins, pins == 1 ? "" : "s", pins == 1 ? "is" : "are");
  xp_plugin_set_state (plugin, XP_PLUGIN_DRAINING, reason);
}

static void
restore_cancelling (const int *state)
{
  pthread_setcancelstate (*state, NULL);
}

gboolean
xp_unload_finish (XpPlugin *plugin, GError **error)
{
  /* Whoever is cancelled here would leave the plugin half closed, and nobody else would close it.
   */
  __attribute__ ((cleanup (restore_cancelling))) int cancelling;
  pthread_setcancelstate (PTHREAD_CANCEL_DISABLE, &cancelling);
  xp_plugin_forget_memories (plugin);
  xp_plugin_set_state (plugin, XP_PLUGIN_DRAINING, "its kernels are being left");
  plugin->is_being_left = true;
  g_mutex_unlock (&xp_load_lock);
  bool is_left = wait_for_threads (plugin, timeout_seconds);
  g_mutex_lock (&xp_load_lock);
  plugin->is_being_left = false;
  if (is_left)
    {
      close_unless_pinned (plugin);
      return TRUE;
    }
  g_autofree char *reason = g_strdup_printf ("a thread did not leave its kernel within %g seconds",
                                             timeout_seconds);
  xp_plugin_set_state (plugin, XP_PLUGIN_DRAINING, reason);
  xp_error_set (error, XP_ERROR_BUSY, &(XpErrorDetails){ .plugin = plugin->owner.name },
                "the cells of %s are gone, but %s; its file is closed once it has",
                plugin->owner.name, reason);
  return FALSE;
}

void
xp_unload_drained (bool wait)
{
  if (wait)
    g_mutex_lock (&xp_load_lock);
  else if (!g_mutex_trylock (&xp_load_lock))
    return;
  for (XpPlugin *plugin = xp_plugin_records (); plugin != NULL; plugin = plugin->next)
    if (xp_plugin_state (plugin) == XP_PLUGIN_DRAINING && !plugin->is_being_left
        && __atomic_load_n (&plugin->pins, __ATOMIC_SEQ_CST) == 0)
      {
        g_autoptr (GPtrArray) kernels = xp_owner_kernels (&plugin->owner);
        if (xp_thread_find (xp_kernels_contain, kernels) == NULL && wait_for_threads (plugin, 0))
          close_plugin (plugin);
      }
  g_mutex_unlock (&xp_load_lock);
}

gboolean
xp_plugin_unload (XpPlugin *plugin, GError **error)
{
  g_return_val_if_fail (plugin != NULL, FALSE);
  if (xp_load_is_nested (error))
    return FALSE;
  xp_unload_drained (true);
  g_mutex_lock (&xp_load_lock);
  gboolean done = TRUE;
  if (xp_plugin_state (plugin) == XP_PLUGIN_LOADED
      && __atomic_load_n (&plugin->load_count, __ATOMIC_RELAXED) > 1)
    __atomic_sub_fetch (&plugin->load_count, 1, __ATOMIC_RELAXED);
  else if ((done = xp_unload_check (plugin, NULL, error)))
    {
      XpTransaction *transaction = xp_transaction_new ();
      transaction->replaced = &plugin->owner;
      /* A device of it may be in use. */
      done = xp_transaction_commit (transaction, NULL, NULL, error);
      xp_transaction_free (transaction);
      if (done)
        {
          __atomic_store_n (&plugin->load_count, 0, __ATOMIC_RELAXED);
          done = xp_unload_finish (plugin, error);
        }
    }
  g_mutex_unlock (&xp_load_lock);
  xp_registrations_retire ();
  xp_listeners_tell ();
  return done;
}
