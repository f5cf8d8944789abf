/* SPDX-License-Identifier: MIT
 *
 * unload.c: out of the table, out of the threads, out of the process.
 */
#include "plugin/plugin.h"
#include "plugin/settings.h"
#include "plugin/swap.h"
#include "threads/threads.h"
#include "value/storage.h"

#include <dlfcn.h>
#include <string.h>

static const char being_left[]
    = "its kernels are being left; unloading goes on after the last thread";

static bool
requires (const XpPlugin *other, const XpPlugin *plugin)
{
  return __atomic_load_n (&other->state, __ATOMIC_ACQUIRE) == XP_PLUGIN_LOADED
         && g_strv_contains ((const char *const *) other->note->requires_, plugin->owner.name);
}

static gboolean
check_dependants (const XpPlugin *plugin, const char *successor, GError **error)
{
  g_autoptr (GPtrArray) dependants = g_ptr_array_new ();
  if (successor != NULL && strcmp (successor, plugin->owner.name) == 0)
    return TRUE;
  for (const XpPlugin *other = xp_plugin_records (); other != NULL; other = other->next)
    if (other != plugin && requires (other, plugin))
      g_ptr_array_add (dependants, other->owner.name);
  if (dependants->len == 0)
    return TRUE;
  g_ptr_array_add (dependants, NULL);
  g_autofree char *list = g_strjoinv (", ", (char **) dependants->pdata);
  xp_error_set (
      error, XP_ERROR_IN_USE,
      &(XpErrorDetails){ .plugin = plugin->owner.name, .candidates = (char **) dependants->pdata },
      "%s is required by %s: unload that first, or take it along with --cascade",
      plugin->owner.name, list);
  return FALSE;
}

gboolean
xp_unload_check (XpPlugin *plugin, const char *successor, GError **error)
{
  if (xp_plugin_state (plugin) != XP_PLUGIN_LOADED)
    {
      g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
      bool has_reason = info->reason != NULL;
      xp_error_set (
          error, XP_ERROR_PLUGIN_NOT_LOADED, &(XpErrorDetails){ .plugin = plugin->owner.name },
          "%s is not loaded, it is %s%s%s", plugin->owner.name, xp_plugin_state_name (info->state),
          has_reason ? ": " : "", has_reason ? info->reason : "");
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

/* What to do about a file that stays mapped. */
static const char *
way_on (const XpPlugin *plugin)
{
  return plugin->is_copy ? "; a load of it opens a new copy" : "";
}

/* Why the file is still mapped after it was closed; NULL when it is gone. */
static char *
reason_to_stay (const XpPlugin *plugin, const char *path)
{
  void *handle = dlopen (path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == NULL)
    return NULL;
  dlclose (handle);
  if (plugin->is_foreign)
    return g_strdup (
        "it is still mapped: the program or another library has it open too, and unmaps "
        "it by closing it");
  return g_strdup_printf ("it is still mapped: the linker keeps it, for a unique symbol, a "
                          "thread-local destructor, or another library that needs it%s",
                          way_on (plugin));
}

/* Whether something pins it; says so. */
static bool
is_pinned (XpPlugin *plugin)
{
  unsigned pins = __atomic_load_n (&plugin->pins, __ATOMIC_SEQ_CST);
  if (pins == 0)
    return false;
  g_autofree char *reason = g_strdup_printf (
      "%u thing%s of it %s still in use, such as tensors; it is closed when the last is freed",
      pins, pins == 1 ? "" : "s", pins == 1 ? "is" : "are");
  xp_plugin_set_state (plugin, XP_PLUGIN_DRAINING, reason);
  return true;
}

/* Whatever its fini waits for may load and unload meanwhile, but not close the plugin. */
static bool
run_fini (XpPlugin *plugin, double seconds)
{
  if (plugin->fini == NULL)
    return true;
  xp_plugin_set_state (plugin, XP_PLUGIN_DRAINING,
                       "its fini runs; unloading goes on when that returns");
  plugin->is_being_left = plugin->runs_fini = true;
  xp_load_unlock ();
  bool has_ended = xp_fini_run (plugin, seconds);
  xp_load_lock ();
  plugin->is_being_left = plugin->runs_fini = false;
  return has_ended;
}

/* Nobody is inside: the end, unless something pins it. Lets go of the load lock while its fini
 * runs. */
static gboolean
close_plugin (XpPlugin *plugin, GError **error)
{
  if (is_pinned (plugin))
    return TRUE;
  g_autofree char *reason = NULL;
  double seconds = xp_setting_get_number ("unload-timeout");
  if (!run_fini (plugin, seconds))
    {
      reason = g_strdup_printf ("its fini did not return within %g seconds (unload-timeout), so "
                                "its file stays mapped%s",
                                seconds, way_on (plugin));
      xp_plugin_set_state (plugin, XP_PLUGIN_RETIRED, reason);
      xp_error_set (error, XP_ERROR_BUSY, &(XpErrorDetails){ .plugin = plugin->owner.name },
                    "the cells of %s are gone, but %s", plugin->owner.name, reason);
      return FALSE;
    }
  if (plugin->note->resident != NULL)
    {
      /* Its blocks are kept, for its constructors will not run again. */
      reason = g_strdup_printf ("its file stays mapped: %s; a load of it takes that one again",
                                plugin->note->resident);
      xp_plugin_set_state (plugin, XP_PLUGIN_RETIRED, reason);
      return TRUE;
    }
  plugin->fini = NULL;
  xp_plugin_drop_claims (plugin);
  xp_owner_destroy_libraries (&plugin->owner);
  /* Of what was released at run time another thread may have begun to destroy some. */
  if (is_pinned (plugin))
    return TRUE;
  if (plugin->handle != NULL)
    dlclose (plugin->handle);
  g_mutex_lock (&xp_plugins_lock);
  plugin->handle = NULL;
  char *path = g_steal_pointer (&plugin->mapped_path);
  g_mutex_unlock (&xp_plugins_lock);
  reason = path != NULL ? reason_to_stay (plugin, path) : NULL;
  /* Who else has a foreign one open may close it at any time, and open it anew. */
  if (reason == NULL || plugin->is_foreign)
    xp_plugin_set_range (plugin);
  if (plugin->is_copy)
    xp_copy_remove (path);
  g_free (path);
  xp_plugin_set_state (plugin, reason != NULL ? XP_PLUGIN_RETIRED : XP_PLUGIN_UNLOADED, reason);
  return TRUE;
}

/* Afterwards all that was released at run time is destroyed, or a thread that does so pins it. */
static gboolean
wait_for_threads (XpPlugin *plugin, double seconds)
{
  gint64 deadline = g_get_monotonic_time () + (gint64) (seconds * 1e6);
  for (;;)
    {
      /* Anew from time to time: what is destroyed meanwhile leaves its address to another. */
      g_autoptr (GPtrArray) kernels = xp_owner_kernels (&plugin->owner);
      double left = (double) (deadline - g_get_monotonic_time ()) * 1e-6;
      if (xp_threads_wait (xp_kernels_contain, kernels, CLAMP (left, 0, 0.1)))
        break;
      if (left <= 0)
        return FALSE;
    }
  xp_registrations_retire ();
  return TRUE;
}

/* Closes what only waits for a thread to leave; pins close by themselves. */
static void *
close_when_left (void *data)
{
  XpPlugin *plugin = data;
  for (gulong wait = 1000; xp_plugin_state (plugin) == XP_PLUGIN_DRAINING
                           && __atomic_load_n (&plugin->pins, __ATOMIC_SEQ_CST) == 0;
       wait = MIN (wait * 2, 500000))
    {
      g_usleep (wait);
      xp_unload_drained (true);
    }
  return NULL;
}

gboolean
xp_unload_finish (XpPlugin *plugin, GError **error)
{
  xp_plugin_forget_memories (plugin);
  xp_plugin_set_state (plugin, XP_PLUGIN_DRAINING, being_left);
  plugin->is_being_left = true;
  xp_load_unlock ();
  double timeout_seconds = xp_setting_get_number ("unload-timeout");
  bool is_left = wait_for_threads (plugin, timeout_seconds);
  xp_load_lock ();
  plugin->is_being_left = false;
  if (is_left)
    return close_plugin (plugin, error);
  g_autofree char *reason = g_strdup_printf ("a thread %s within %g seconds (unload-timeout); its "
                                             "file is closed once it has",
                                             xp_threads_barrier ()
                                                 ? "did not leave its kernel"
                                                 : "made no call, since membarrier was forbidden,",
                                             timeout_seconds);
  xp_plugin_set_state (plugin, XP_PLUGIN_DRAINING, reason);
  xp_error_set (error, XP_ERROR_BUSY, &(XpErrorDetails){ .plugin = plugin->owner.name },
                "the cells of %s are gone, but %s", plugin->owner.name, reason);
  GThread *thread = g_thread_try_new ("crosspoint-close", close_when_left, plugin, NULL);
  if (thread != NULL)
    g_thread_unref (thread);
  return FALSE;
}

void
xp_unload_drained (bool wait)
{
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  if (wait)
    xp_load_lock ();
  else if (!xp_load_trylock ())
    return;
  for (XpPlugin *plugin = xp_plugin_records (); plugin != NULL; plugin = plugin->next)
    if (xp_plugin_state (plugin) == XP_PLUGIN_DRAINING && !plugin->is_being_left
        && __atomic_load_n (&plugin->pins, __ATOMIC_SEQ_CST) == 0)
      {
        g_autoptr (GPtrArray) kernels = xp_owner_kernels (&plugin->owner);
        if (xp_thread_find (xp_kernels_contain, kernels) == NULL && wait_for_threads (plugin, 0))
          close_plugin (plugin, NULL);
      }
  xp_load_unlock ();
}

/* --- Unloading. --- */

/* @plugin, after all that require it; a swap can have made a ring of them. */
static void
collect_dependants (XpPlugin *plugin, GHashTable *seen, GPtrArray *leaving)
{
  if (!g_hash_table_add (seen, plugin))
    return;
  for (XpPlugin *other = xp_plugin_records (); other != NULL; other = other->next)
    if (requires (other, plugin))
      collect_dependants (other, seen, leaving);
  g_ptr_array_add (leaving, plugin);
}

/* Takes the cells of all of them away at once, or of none. */
static gboolean
remove_all (const GPtrArray *leaving, GError **error)
{
  XpTransaction *transaction = xp_transaction_new ();
  for (unsigned i = 0; i < leaving->len; i++)
    xp_transaction_replace (transaction, &((XpPlugin *) leaving->pdata[i])->owner);
  /* A device of it may be in use. */
  gboolean done = xp_transaction_commit (transaction, NULL, NULL, error);
  xp_transaction_free (transaction);
  for (unsigned i = 0; done && i < leaving->len; i++)
    {
      XpPlugin *plugin = leaving->pdata[i];
      __atomic_store_n (&plugin->load_count, 0, __ATOMIC_RELAXED);
      xp_plugin_set_state (plugin, XP_PLUGIN_DRAINING, being_left);
      plugin->is_being_left = true;
    }
  return done;
}

/* The first error counts, but every one of them is left. */
static gboolean
unload_all (const GPtrArray *leaving, GError **error)
{
  if (!remove_all (leaving, error))
    return FALSE;
  gboolean done = TRUE;
  for (unsigned i = 0; i < leaving->len; i++)
    {
      done &= xp_unload_finish (leaving->pdata[i], done ? error : NULL);
      xp_swap_forget_new (leaving->pdata[i]);
    }
  return done;
}

static gboolean
unload (XpPlugin *plugin, gboolean cascade, GError **error)
{
  g_autoptr (GPtrArray) leaving = g_ptr_array_new ();
  if (xp_plugin_state (plugin) == XP_PLUGIN_INACTIVE)
    {
      xp_swap_forget_old (plugin);
      return xp_unload_finish (plugin, error);
    }
  if (!cascade && xp_plugin_state (plugin) == XP_PLUGIN_LOADED
      && __atomic_load_n (&plugin->load_count, __ATOMIC_RELAXED) > 1)
    {
      __atomic_sub_fetch (&plugin->load_count, 1, __ATOMIC_RELAXED);
      return TRUE;
    }
  if (cascade)
    {
      g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
      collect_dependants (plugin, seen, leaving);
    }
  else
    g_ptr_array_add (leaving, plugin);
  for (unsigned i = 0; i < leaving->len; i++)
    {
      XpPlugin *other = leaving->pdata[i];
      if (!xp_unload_check (other, cascade ? other->owner.name : NULL, error))
        return FALSE;
    }
  return unload_all (leaving, error);
}

static gboolean
unload_with_lock (XpPlugin *plugin, gboolean cascade, GError **error)
{
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  if (xp_load_is_refused (error))
    return FALSE;
  xp_unload_drained (true);
  xp_load_lock ();
  gboolean done = unload (plugin, cascade, error);
  xp_load_unlock ();
  xp_registrations_retire ();
  xp_listeners_tell ();
  return done;
}

gboolean
xp_plugin_unload (XpPlugin *plugin, GError **error)
{
  g_return_val_if_fail (plugin != NULL, FALSE);
  return unload_with_lock (plugin, FALSE, error);
}

gboolean
xp_plugin_unload_cascade (XpPlugin *plugin, GError **error)
{
  g_return_val_if_fail (plugin != NULL, FALSE);
  return unload_with_lock (plugin, TRUE, error);
}
