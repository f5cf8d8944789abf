/* SPDX-License-Identifier: MIT
 *
 * swap.c: one plugin in another's place, or over it, and the way back.
 *
 * Whoever is swapped out stays mapped, inactive, until its swap can no longer be undone.
 */
#include "plugin/swap.h"
#include "plugin/settings.h"
#include "threads/threads.h"
#include "value/storage.h"

#include <string.h>

static XpSwap *swaps; /* that can be undone, the newest first */

static void
swap_free (XpSwap *swap)
{
  g_clear_pointer (&swap->others, g_hash_table_unref);
  g_free (swap);
}

XpPlugin *
xp_swap_replaced (const XpSwap *swap)
{
  return (swap->flags & XP_SWAP_OVERLAY) != 0 ? NULL : swap->old;
}

int
xp_swap_priority (const XpSwap *swap, int own)
{
  int beneath = swap->old->owner.priority;
  return (swap->flags & XP_SWAP_OVERLAY) != 0 && own <= beneath && beneath < G_MAXINT ? beneath + 1
                                                                                      : own;
}

/* --- What may be swapped. --- */

typedef void (*EntryFunction) (const Entry *entry, void *data);

static void
visit_entries (const XpPlugin *plugin, EntryFunction function, void *data)
{
  for (unsigned i = 0; i < plugin->owner.libraries->len; i++)
    {
      const XpLibrary *library = plugin->owner.libraries->pdata[i];
      for (unsigned j = 0; j < library->entries->len; j++)
        function (library->entries->pdata[j], data);
    }
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

static bool
is_namespace (const Entry *entry)
{
  return entry->definition == NULL && entry->registration == NULL;
}

static void
add_covered (const Entry *entry, void *covered)
{
  if (entry->is_in_table && !is_namespace (entry))
    g_hash_table_add (covered, describe (entry));
}

static gboolean
check_coverage (const XpTransaction *transaction, const XpSwap *swap, GError **error)
{
  g_autoptr (GPtrArray) lost = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) covered = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  visit_entries (swap->new_, add_covered, covered);
  for (unsigned i = 0; i < transaction->removed->len; i++)
    {
      const Entry *entry = transaction->removed->pdata[i];
      g_autofree char *name = is_namespace (entry) ? NULL : describe (entry);
      if (name != NULL && !g_hash_table_contains (covered, name))
        g_ptr_array_add (lost, g_steal_pointer (&name));
    }
  if (lost->len == 0)
    return TRUE;
  const char *old = swap->old->owner.name, *new_ = swap->new_->owner.name;
  g_ptr_array_add (lost, NULL);
  g_autofree char *list = g_strjoinv ("\n  ", (char **) lost->pdata);
  xp_error_set (error, XP_ERROR_COVERAGE_LOST,
                &(XpErrorDetails){ .plugin = (char *) new_, .candidates = (char **) lost->pdata },
                "%s lacks %u of what %s fills, so the swap is not made:\n  %s\nLay %s over %s with "
                "--overlay instead, which keeps %s beneath, or extend it.",
                new_, lost->len - 1, old, list, new_, old, old);
  return FALSE;
}

/* Callers of a row were compiled for its old signature. */
static gboolean
check_schemas (const XpTransaction *transaction, const XpSwap *swap, GError **error)
{
  g_autoptr (GPtrArray) changed = g_ptr_array_new_with_free_func (g_free);
  for (unsigned i = 0; i < transaction->removed->len; i++)
    {
      const Entry *old = transaction->removed->pdata[i];
      const Definition *now = old->definition != NULL ? old->row->definition : NULL;
      if (now == NULL)
        continue;
      g_autofree char *before = xp_schema_to_string (old->definition->schema);
      g_autofree char *after = xp_schema_to_string (now->schema);
      if (strcmp (before, after) != 0)
        g_ptr_array_add (changed, g_strdup_printf ("%s\n    now %s", before, after));
    }
  if (changed->len == 0 || (swap->flags & XP_SWAP_FORCE) != 0)
    return TRUE;
  const char *new_ = swap->new_->owner.name;
  g_ptr_array_add (changed, NULL);
  g_autofree char *list = g_strjoinv ("\n  ", (char **) changed->pdata);
  xp_error_set (
      error, XP_ERROR_SCHEMA_CHANGED,
      &(XpErrorDetails){ .plugin = (char *) new_, .candidates = (char **) changed->pdata },
      "%s changes the signature of %u row%s of %s, so the swap is not made:\n  %s\n"
      "Callers that were compiled for the old one would get SIGNATURE_MISMATCH; swap with "
      "--force if they may.",
      new_, changed->len - 1, changed->len == 2 ? "" : "s", swap->old->owner.name, list);
  return FALSE;
}

/* Who stands in a cell besides the two, and since when. */
typedef struct
{
  const XpSwap *swap;
  GHashTable *others;
} Others;

static void
add_others (const Entry *entry, void *data)
{
  const Others *others = data;
  if (entry->registration == NULL || entry->device != 0
      || (entry->row_name != NULL && entry->row == NULL))
    return;
  const GPtrArray *list = entry->row_name != NULL ? entry->row->registrations : xp_fallbacks;
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < list->len; i++)
    {
      const Registration *other = list->pdata[i];
      if (other->key == entry->registration->key && other->owner != &others->swap->old->owner
          && other->owner != &others->swap->new_->owner)
        g_string_append_printf (text, "%s %" G_GUINT64_FORMAT "\n", other->owner->name,
                                (guint64) other->sequence);
    }
  g_hash_table_insert (others->others, describe (entry), g_string_free (text, FALSE));
}

static GHashTable *
find_others (const XpSwap *swap)
{
  Others others = { swap, g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free) };
  visit_entries (swap->old, add_others, &others);
  visit_entries (swap->new_, add_others, &others);
  return others.others;
}

gboolean
xp_swap_check (const XpTransaction *transaction, void *data, GError **error)
{
  XpSwap *swap = data;
  if (xp_swap_replaced (swap) != NULL
      && (!check_coverage (transaction, swap, error) || !check_schemas (transaction, swap, error)))
    return FALSE;
  g_clear_pointer (&swap->others, g_hash_table_unref);
  swap->others = find_others (swap);
  return TRUE;
}

/* --- What can be undone. --- */

static void
take_off (XpSwap *swap)
{
  XpSwap **place = &swaps;
  while (*place != swap)
    place = &(*place)->next;
  *place = swap->next;
}

void
xp_swap_forget_old (const XpPlugin *old)
{
  for (XpSwap *swap = swaps, *next; swap != NULL; swap = next)
    {
      next = swap->next;
      if (swap->old != old)
        continue;
      take_off (swap);
      swap_free (swap);
    }
}

/* A swap that was laid over it may go before the one that took its place. */
static bool
is_awaited (const XpPlugin *plugin)
{
  const XpSwap *swap = swaps;
  while (swap != NULL && xp_swap_replaced (swap) != plugin)
    swap = swap->next;
  return swap != NULL;
}

/* Its place is lost, so nothing brings it back but a load. */
static gboolean
close_inactive (XpPlugin *plugin, GError **error)
{
  if (xp_plugin_state (plugin) != XP_PLUGIN_INACTIVE || is_awaited (plugin))
    return TRUE;
  return xp_unload_finish (plugin, error);
}

void
xp_swap_forget_new (const XpPlugin *new_)
{
  for (;;)
    {
      XpSwap *swap = swaps;
      while (swap != NULL && swap->new_ != new_)
        swap = swap->next;
      if (swap == NULL)
        return;
      XpPlugin *old = swap->old;
      bool was_inactive = xp_plugin_state (old) == XP_PLUGIN_INACTIVE;
      take_off (swap);
      swap_free (swap);
      close_inactive (old, NULL);
      if (was_inactive && xp_plugin_state (old) != XP_PLUGIN_INACTIVE)
        xp_swap_forget_new (old);
    }
}

/* The oldest beyond those that may be undone. */
static XpSwap *
find_excess (void)
{
  unsigned depth = (unsigned) xp_setting_get_number ("undo-depth");
  XpSwap *swap = swaps;
  for (unsigned i = 0; i < depth && swap != NULL; i++)
    swap = swap->next;
  while (swap != NULL && swap->next != NULL)
    swap = swap->next;
  return swap;
}

/* An error of closing what @swap has just swapped out is the caller's; of older ones the state
 * tells. */
static gboolean
remember (XpSwap *swap, GError **error)
{
  gboolean done = TRUE;
  XpPlugin *own = swap->old;
  swap->next = swaps;
  swaps = swap;
  for (XpSwap *excess; (excess = find_excess ()) != NULL;)
    {
      XpPlugin *old = excess->old;
      take_off (excess);
      swap_free (excess);
      if (old == own)
        done = close_inactive (old, error);
      else
        close_inactive (old, NULL);
    }
  return done;
}

/* --- Swapping. --- */

/* Moves @plugin out of the table for another that is loaded already. */
static gboolean
replace_by_loaded (XpSwap *swap, XpPlugin *loaded, GError **error)
{
  if ((swap->flags & XP_SWAP_OVERLAY) != 0)
    {
      xp_error_set (error, XP_ERROR_PLUGIN_CONFLICT,
                    &(XpErrorDetails){ .plugin = loaded->owner.name },
                    "%s is loaded already, so it cannot be laid over %s: `prefer %s` puts its "
                    "kernels first",
                    loaded->owner.name, swap->old->owner.name, loaded->owner.name);
      return FALSE;
    }
  XpTransaction *transaction = xp_transaction_new ();
  xp_transaction_replace (transaction, &swap->old->owner);
  swap->new_ = loaded;
  gboolean done = xp_transaction_commit (transaction, xp_swap_check, swap, error);
  xp_transaction_free (transaction);
  return done;
}

/* The successor, in its place. */
static XpPlugin *
bring_successor (XpSwap *swap, const char *name, GError **error)
{
  XpPlugin *plugin = swap->old;
  /* A name that is loaded is that plugin, and its own name is its own file, built again. */
  XpPlugin *named = name == NULL                 ? plugin
                    : strchr (name, '/') == NULL ? xp_plugin_find_loaded (name)
                                                 : NULL;
  g_autofree char *path = named != NULL ? g_strdup (named->note->path)
                                        : xp_plugin_locate (name, error);
  g_autoptr (XpPluginInfo) note = path != NULL ? xp_plugin_info_read (path, error) : NULL;
  if (note == NULL)
    return NULL;
  /* An overlay takes nothing away that others require. */
  bool is_overlay = xp_swap_replaced (swap) == NULL;
  if (!xp_unload_check (plugin, is_overlay ? plugin->owner.name : note->name, error))
    return NULL;
  struct stat status;
  XpPlugin *loaded = named;
  if (named == NULL && stat (path, &status) == 0)
    loaded = xp_plugin_find_file (&status);
  if (loaded != NULL && loaded != plugin)
    return replace_by_loaded (swap, loaded, error) ? loaded : NULL;
  swap->has_brought = true;
  return xp_load_file (path, swap, error);
}

static void
set_swapped_out (const XpSwap *swap)
{
  XpPlugin *old = swap->old;
  g_autofree char *reason = g_strdup_printf ("%s is in its place; `undo %u` brings it back",
                                             swap->new_->owner.name, swap->token);
  __atomic_store_n (&old->load_count, 0, __ATOMIC_RELAXED);
  xp_plugin_forget_memories (old);
  xp_plugin_set_state (old, XP_PLUGIN_INACTIVE, reason);
}

static void
end_change (void)
{
  xp_load_unlock ();
  xp_registrations_retire ();
  xp_listeners_tell ();
}

XpPlugin *
xp_plugin_swap (XpPlugin *plugin, const char *name, XpSwapFlags flags, unsigned *token,
                GError **error)
{
  static unsigned last_token;
  g_return_val_if_fail (plugin != NULL, NULL);
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  if (xp_load_is_refused (error))
    return NULL;
  xp_load_lock ();
  XpSwap *swap = g_new0 (XpSwap, 1);
  *swap = (XpSwap){ .flags = flags, .old = plugin };
  swap->old_count = __atomic_load_n (&plugin->load_count, __ATOMIC_RELAXED);
  XpPlugin *successor = bring_successor (swap, name, error);
  if (successor == NULL)
    swap_free (swap);
  else
    {
      swap->token = ++last_token;
      if (token != NULL)
        *token = swap->token;
      if (xp_swap_replaced (swap) != NULL)
        set_swapped_out (swap);
      if (!remember (swap, error))
        successor = NULL;
    }
  end_change ();
  return successor;
}

/* --- The way back. --- */

static XpSwap *
find_swap (unsigned token, GError **error)
{
  XpSwap *swap = swaps;
  while (swap != NULL && token != 0 && swap->token != token)
    swap = swap->next;
  if (swap != NULL)
    return swap;
  unsigned depth = (unsigned) xp_setting_get_number ("undo-depth");
  if (token == 0)
    xp_error_set (
        error, XP_ERROR_UNDO_STALE, NULL,
        "there is no swap to be undone: none was made, or one of its plugins was unloaded "
        "since");
  else
    xp_error_set (error, XP_ERROR_UNDO_STALE, NULL,
                  "swap %u cannot be undone: it is undone already, or one of its plugins was "
                  "unloaded since, or it is not among the last %u, which is the setting undo-depth",
                  token, depth);
  return NULL;
}

static gboolean
check_both (const XpSwap *swap, GError **error)
{
  const XpPlugin *missing = NULL;
  if (xp_plugin_state (swap->new_) != XP_PLUGIN_LOADED)
    missing = swap->new_;
  else if (xp_plugin_state (swap->old)
           != (xp_swap_replaced (swap) != NULL ? XP_PLUGIN_INACTIVE : XP_PLUGIN_LOADED))
    missing = swap->old;
  if (missing == NULL)
    return TRUE;
  xp_error_set (error, XP_ERROR_UNDO_STALE, &(XpErrorDetails){ .plugin = missing->owner.name },
                "swap %u cannot be undone: %s is %s now; undo later swaps first", swap->token,
                missing->owner.name, xp_plugin_state_name (xp_plugin_state ((XpPlugin *) missing)));
  return FALSE;
}

static int
compare_texts (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Whether every cell of the two holds, besides them, what it held after the swap. */
static gboolean
check_unchanged (G_GNUC_UNUSED const XpTransaction *transaction, void *data, GError **error)
{
  XpSwap *swap = data;
  GHashTableIter iter;
  void *cell, *others;
  g_autoptr (GHashTable) now = find_others (swap);
  g_autoptr (GPtrArray) changed = g_ptr_array_new ();
  g_hash_table_iter_init (&iter, now);
  while (g_hash_table_iter_next (&iter, &cell, &others))
    {
      const char *before = g_hash_table_lookup (swap->others, cell);
      /* A cell that the new one has filled since goes with it. */
      if (strcmp (before != NULL ? before : "", others) != 0)
        g_ptr_array_add (changed, cell);
    }
  if (changed->len == 0)
    return TRUE;
  g_ptr_array_sort (changed, compare_texts);
  g_ptr_array_add (changed, NULL);
  g_autofree char *list = g_strjoinv ("\n  ", (char **) changed->pdata);
  xp_error_set (
      error, XP_ERROR_UNDO_STALE,
      &(XpErrorDetails){ .plugin = swap->new_->owner.name, .candidates = (char **) changed->pdata },
      "swap %u is not undone, for others have changed %u of its cells since:\n  %s\n"
      "Take those changes back first, or swap %s for %s.",
      swap->token, changed->len - 1, list, swap->new_->owner.name, swap->old->owner.name);
  return FALSE;
}

static gboolean
put_back (XpSwap *swap, GError **error)
{
  XpTransaction *transaction = xp_transaction_new ();
  if (swap->has_brought)
    xp_transaction_replace (transaction, &swap->new_->owner);
  if (xp_swap_replaced (swap) != NULL)
    transaction->loaded = &swap->old->owner;
  transaction->keeps_ranks = true;
  gboolean done = xp_transaction_commit (transaction, check_unchanged, swap, error);
  xp_transaction_free (transaction);
  return done;
}

/* Undoes @swap, which nobody has a hold of then. */
static gboolean
undo (XpSwap *swap, GError **error)
{
  XpPlugin *old = swap->old, *new_ = swap->new_;
  bool is_overlay = xp_swap_replaced (swap) == NULL, has_brought = swap->has_brought;
  unsigned old_count = swap->old_count;
  const char *successor = is_overlay ? NULL : old->owner.name;
  if (!check_both (swap, error) || (has_brought && !xp_unload_check (new_, successor, error))
      || !put_back (swap, error))
    return FALSE;
  take_off (swap);
  swap_free (swap);
  if (!is_overlay)
    {
      __atomic_store_n (&old->load_count, old_count, __ATOMIC_RELAXED);
      xp_plugin_set_state (old, XP_PLUGIN_LOADED, NULL);
      xp_plugin_set_memories (old);
    }
  if (!has_brought)
    return TRUE;
  __atomic_store_n (&new_->load_count, 0, __ATOMIC_RELAXED);
  gboolean done = xp_unload_finish (new_, error);
  xp_swap_forget_new (new_);
  return done;
}

gboolean
xp_plugin_undo (unsigned token, XpPlugin **old, XpPlugin **new_, GError **error)
{
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  if (xp_load_is_refused (error))
    return FALSE;
  xp_load_lock ();
  XpSwap *swap = find_swap (token, error);
  if (swap != NULL && old != NULL)
    *old = swap->old;
  if (swap != NULL && new_ != NULL)
    *new_ = swap->new_;
  gboolean done = swap != NULL && undo (swap, error);
  end_change ();
  return done;
}
