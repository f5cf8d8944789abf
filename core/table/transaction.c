/* SPDX-License-Identifier: MIT
 *
 * transaction.c: making changes to the table, and taking them back.
 */
#include "table/transaction.h"
#include "table/listeners.h"
#include "threads/threads.h"
#include "value/storage.h"

#include <string.h>

static __thread XpTransaction *current_transaction;
static __thread XpOwner *current_owner;

static uint64_t generation;

GError *xp_table_refusal;

uint64_t
xp_table_generation (void)
{
  return __atomic_load_n (&generation, __ATOMIC_ACQUIRE);
}

XpTransaction *
xp_transaction_new (void)
{
  XpTransaction *transaction = g_new0 (XpTransaction, 1);
  transaction->replaced = g_ptr_array_new ();
  transaction->removed = g_ptr_array_new ();
  transaction->added = g_ptr_array_new ();
  return transaction;
}

void
xp_transaction_free (XpTransaction *transaction)
{
  g_ptr_array_unref (transaction->replaced);
  g_ptr_array_unref (transaction->removed);
  g_ptr_array_unref (transaction->added);
  g_clear_error (&transaction->error);
  g_free (transaction);
}

void
xp_transaction_replace (XpTransaction *transaction, XpOwner *owner)
{
  g_ptr_array_add (transaction->replaced, owner);
}

bool
xp_transaction_replaces (const XpTransaction *transaction, const XpOwner *owner)
{
  return transaction != NULL && g_ptr_array_find (transaction->replaced, owner, NULL);
}

void
xp_transaction_set_current (XpTransaction *transaction, XpOwner *owner)
{
  current_transaction = transaction;
  current_owner = owner;
  xp_backends_set_own (transaction != NULL ? transaction->devices : 0);
}

XpTransaction *
xp_transaction_current (void)
{
  return current_transaction;
}

XpOwner *
xp_transaction_current_owner (void)
{
  return current_owner;
}

/* What changed while a transaction is made. */
typedef struct
{
  bool keeps_ranks; /* of the transaction */
  GPtrArray *rows;
  bool fallbacks;
  uint64_t devices_gone;
  uint64_t devices_added;
  GPtrArray *overrides;
} Touched;

static void
touch (Touched *touched, Row *row)
{
  if (row->is_dirty)
    return;
  row->is_dirty = true;
  g_ptr_array_add (touched->rows, row);
}

static gboolean
add_definition (Entry *entry, Touched *touched, GError **error)
{
  Row *row = xp_row_make (entry->row_name);
  if (row->definition != NULL)
    {
      g_autofree char *schema = xp_schema_to_string (entry->definition->schema);
      xp_error_set (error, XP_ERROR_DUPLICATE_DEF,
                    &(XpErrorDetails){ .op = row->name, .plugin = row->definition->owner->name },
                    "Tried to register an operator (%s) with the same name and overload name "
                    "multiple times. Each overload's schema should only be registered with a "
                    "single call to def(). Duplicate registration: %s (%s). Original registration: "
                    "%s (%s)",
                    schema, entry->definition->location, entry->definition->owner->name,
                    row->definition->location, row->definition->owner->name);
      return FALSE;
    }
  for (unsigned i = 0; i < row->registrations->len; i++)
    if (!xp_signature_check (row->name, entry->definition, row->registrations->pdata[i], error))
      return FALSE;
  row->definition = entry->definition;
  entry->row = row;
  touch (touched, row);
  return TRUE;
}

static gboolean
check_fallback (const Registration *registration, GError **error)
{
  for (unsigned i = 0; i < xp_fallbacks->len; i++)
    {
      const Registration *other = xp_fallbacks->pdata[i];
      if (other->key != registration->key || other->owner != registration->owner)
        continue;
      const char *key = xp_key_name (registration->key);
      xp_error_set (error, XP_ERROR_DUPLICATE_FALLBACK,
                    &(XpErrorDetails){ .key = (char *) key, .plugin = registration->owner->name },
                    "Tried to register multiple backend fallbacks for the same dispatch key %s; "
                    "previous registration %s, new registration %s",
                    key, other->location, registration->location);
      return FALSE;
    }
  return TRUE;
}

/* A block may outlive the device that its key is of. */
static gboolean
check_key (const Entry *entry, const Touched *touched, GError **error)
{
  int backend = xp_key_backend (entry->registration->key);
  if (!xp_backend_is_named (backend))
    return TRUE;
  uint64_t there = (xp_backends_in_use () & ~touched->devices_gone) | touched->devices_added;
  if ((there >> backend & 1) != 0
      && (entry->device != 0
          || entry->library->incarnation == xp_backend_incarnation ((XpBackend) backend)))
    return TRUE;
  xp_error_set (error, XP_ERROR_STALE_DEVICE,
                &(XpErrorDetails){ .op = entry->row_name, .plugin = entry->library->owner->name },
                "%s fills a cell of a device that was given back: make the block at %s:%d again "
                "when the device is registered",
                entry->registration->location, entry->library->file, entry->library->line);
  return FALSE;
}

static gboolean
add_to_list (GPtrArray *list, Registration *registration, Touched *touched, GError **error)
{
  registration->preference = xp_preference_rank (registration);
  if (!xp_tie_check (list, registration, error))
    return FALSE;
  const Registration *previous = xp_registrations_active (list, registration->key);
  xp_registrations_insert (list, registration);
  if (xp_registrations_active (list, registration->key) == registration)
    xp_override_note (touched->overrides, previous, registration);
  return TRUE;
}

static gboolean
add_registration (Entry *entry, Touched *touched, GError **error)
{
  static uint64_t sequence;
  Registration *registration = entry->registration;
  if (!touched->keeps_ranks || registration->sequence == 0)
    registration->sequence = ++sequence;
  if (!check_key (entry, touched, error))
    return FALSE;
  if (entry->row_name == NULL)
    {
      if (!check_fallback (registration, error)
          || !add_to_list (xp_fallbacks, registration, touched, error))
        return FALSE;
      touched->fallbacks = true;
      return TRUE;
    }
  Row *row = xp_row_make (entry->row_name);
  if (row->definition != NULL
          ? !xp_signature_check (row->name, row->definition, registration, error)
          : !xp_signature_check_readable (row->name, registration, error))
    return FALSE;
  registration->row = row;
  if (!add_to_list (row->registrations, registration, touched, error))
    return FALSE;
  entry->row = row;
  touch (touched, row);
  return TRUE;
}

/* The blocks that own a namespace now, by its name. */
static GHashTable *namespaces;

static gboolean
add_namespace (Entry *entry, GError **error)
{
  XpLibrary *library = entry->library;
  if (namespaces == NULL)
    namespaces = g_hash_table_new (g_str_hash, g_str_equal);
  const XpLibrary *other = g_hash_table_lookup (namespaces, library->name_space);
  if (other == NULL)
    {
      g_hash_table_insert (namespaces, library->name_space, library);
      return TRUE;
    }
  xp_error_set (error, XP_ERROR_NAMESPACE_TAKEN, &(XpErrorDetails){ .plugin = other->owner->name },
                "Only a single XP_LIBRARY can be used to register the namespace %s; please put all "
                "of your definitions in a single XP_LIBRARY block, or use XP_LIBRARY_FRAGMENT. "
                "Previous registration of XP_LIBRARY was registered at %s:%d (%s); latest "
                "registration was registered at %s:%d (%s)",
                library->name_space, other->file, other->line, other->owner->name, library->file,
                library->line, library->owner->name);
  return FALSE;
}

static gboolean
put_in (Entry *entry, Touched *touched, GError **error)
{
  if (entry->device != 0)
    {
      if (!xp_device_check (entry, touched->devices_gone, error))
        return FALSE;
      touched->devices_added |= XP_BIT (entry->device);
    }
  if (entry->definition != NULL)
    entry->is_in_table = add_definition (entry, touched, error);
  else if (entry->registration != NULL)
    entry->is_in_table = add_registration (entry, touched, error);
  else
    entry->is_in_table = add_namespace (entry, error);
  return entry->is_in_table;
}

static void
take_out (Entry *entry, Touched *touched)
{
  if (!entry->is_in_table)
    return;
  entry->is_in_table = false;
  if (entry->device != 0)
    touched->devices_gone |= XP_BIT (entry->device);
  if (entry->row != NULL)
    touch (touched, entry->row);
  if (entry->definition != NULL)
    entry->row->definition = NULL;
  else if (entry->registration == NULL)
    g_hash_table_remove (namespaces, entry->library->name_space);
  else if (entry->row != NULL)
    g_ptr_array_remove (entry->row->registrations, entry->registration);
  else
    {
      g_ptr_array_remove (xp_fallbacks, entry->registration);
      touched->fallbacks = true;
    }
}

/* Puts back what take_out() took, without a check, for it stood there before. */
static void
put_back (Entry *entry)
{
  entry->is_in_table = true;
  if (entry->definition != NULL)
    entry->row->definition = entry->definition;
  else if (entry->registration == NULL)
    g_hash_table_insert (namespaces, entry->library->name_space, entry->library);
  else
    xp_registrations_insert (entry->row != NULL ? entry->row->registrations : xp_fallbacks,
                             entry->registration);
}

/* All that @owner has. A block is its owner's until it is out of the table, so that no entry of
 * the list can go while the lock is held. */
static void
collect (const XpOwner *owner, GPtrArray *entries)
{
  for (unsigned i = 0; i < owner->libraries->len; i++)
    {
      const XpLibrary *library = owner->libraries->pdata[i];
      for (unsigned j = 0; j < library->entries->len; j++)
        g_ptr_array_add (entries, library->entries->pdata[j]);
    }
}

/* Whoever leaves would take with it the code of what it registers now. */
static gboolean
check_owner (const Entry *entry, const XpTransaction *transaction, GError **error)
{
  const XpOwner *owner = entry->library->owner;
  if (!owner->is_away || owner == transaction->loaded)
    return TRUE;
  const char *device = entry->device != 0 ? xp_backend_name ((XpBackend) entry->device) : NULL;
  xp_owner_set_away (owner, device, entry->library->file, entry->library->line, error);
  return FALSE;
}

static gboolean
make_changes (XpTransaction *transaction, Touched *touched, GError **error)
{
  if (xp_table_refusal != NULL)
    {
      g_propagate_error (error, g_error_copy (xp_table_refusal));
      return FALSE;
    }
  if (transaction->error != NULL)
    {
      g_propagate_error (error, g_error_copy (transaction->error));
      return FALSE;
    }
  for (unsigned i = 0; i < transaction->replaced->len; i++)
    collect (transaction->replaced->pdata[i], transaction->removed);
  if (transaction->giver != NULL && !xp_device_collect (transaction, error))
    return FALSE;
  if (transaction->loaded != NULL)
    {
      g_ptr_array_set_size (transaction->added, 0);
      collect (transaction->loaded, transaction->added);
    }
  /* What was already out, of a block that lost its owner, stays out when the rest is put back. */
  for (unsigned i = transaction->removed->len; i-- > 0;)
    if (!((Entry *) transaction->removed->pdata[i])->is_in_table)
      g_ptr_array_remove_index (transaction->removed, i);
  for (unsigned i = 0; i < transaction->removed->len; i++)
    take_out (transaction->removed->pdata[i], touched);
  for (unsigned i = 0; i < transaction->added->len; i++)
    if (!check_owner (transaction->added->pdata[i], transaction, error)
        || !put_in (transaction->added->pdata[i], touched, error))
      return FALSE;
  touched->devices_gone &= ~touched->devices_added;
  return touched->devices_gone == 0 || xp_devices_check_unused (touched->devices_gone, error);
}

static void
take_changes_back (XpTransaction *transaction, Touched *touched)
{
  for (unsigned i = transaction->added->len; i-- > 0;)
    take_out (transaction->added->pdata[i], touched);
  for (unsigned i = 0; i < transaction->removed->len; i++)
    if (!((Entry *) transaction->removed->pdata[i])->is_in_table)
      put_back (transaction->removed->pdata[i]);
  for (unsigned i = 0; i < touched->rows->len; i++)
    ((Row *) touched->rows->pdata[i])->is_dirty = false;
}

static void
publish_row (Row *row, G_GNUC_UNUSED void *data)
{
  if (row->heads != NULL || row->definition != NULL)
    xp_row_publish (row);
  row->is_dirty = false;
}

void
xp_rows_publish (const GPtrArray *rows, bool fallbacks, uint64_t devices_added)
{
  if (fallbacks)
    {
      xp_fallbacks_changed (devices_added);
      xp_bare_rows_publish ();
      xp_rows_visit (publish_row, NULL);
    }
  for (unsigned i = 0; i < rows->len; i++)
    publish_row (rows->pdata[i], NULL);
}

void
xp_table_changed (void)
{
  __atomic_add_fetch (&generation, 1, __ATOMIC_RELEASE);
}

static void
note_definitions (const GPtrArray *entries, gboolean is_defined)
{
  for (unsigned i = 0; i < entries->len; i++)
    {
      const Entry *entry = entries->pdata[i];
      if (entry->definition != NULL)
        xp_listeners_note (entry->row, is_defined);
    }
}

/* Devices go before their cells do and come after them. */
static void
publish (const XpTransaction *transaction, const Touched *touched)
{
  note_definitions (transaction->removed, FALSE);
  note_definitions (transaction->added, TRUE);
  if ((touched->devices_gone | touched->devices_added) != 0)
    xp_backends_change (touched->devices_gone, touched->devices_added);
  for (uint64_t bits = touched->devices_gone; bits != 0; bits &= bits - 1)
    xp_memory_forget_backend ((XpBackend) __builtin_ctzll (bits));
  xp_rows_publish (touched->rows, touched->fallbacks, touched->devices_added);
  if (touched->devices_added != 0)
    {
      for (unsigned i = 0; i < transaction->added->len; i++)
        if (((Entry *) transaction->added->pdata[i])->device != 0)
          xp_device_set_owner (transaction->added->pdata[i]);
      xp_backends_bring (touched->devices_added);
    }
  xp_table_changed ();
}

/* Handles to what is out of the table are stale before anyone looks who is still inside. */
static void
empty_handles (const XpTransaction *transaction)
{
  for (unsigned i = 0; i < transaction->removed->len; i++)
    {
      Registration *registration = ((const Entry *) transaction->removed->pdata[i])->registration;
      if (registration == NULL || registration->handle == NULL)
        continue;
      __atomic_store_n (&registration->handle->kernel, NULL, __ATOMIC_RELEASE);
      registration->handle = NULL;
    }
}

gboolean
xp_transaction_commit (XpTransaction *transaction, XpTransactionCheck check, void *data,
                       GError **error)
{
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  Touched touched = { .keeps_ranks = transaction->keeps_ranks,
                      .rows = g_ptr_array_new (),
                      .overrides = xp_overrides_new () };
  g_mutex_lock (&xp_table_lock);
  gboolean done = make_changes (transaction, &touched, error)
                  && (check == NULL || check (transaction, data, error));
  if (done)
    {
      empty_handles (transaction);
      publish (transaction, &touched);
      xp_overrides_keep_new (touched.overrides);
      for (unsigned i = 0; i < transaction->replaced->len; i++)
        ((XpOwner *) transaction->replaced->pdata[i])->is_away = true;
      if (transaction->loaded != NULL)
        transaction->loaded->is_away = false;
    }
  else
    take_changes_back (transaction, &touched);
  g_mutex_unlock (&xp_table_lock);
  if (done)
    xp_overrides_warn (touched.overrides);
  g_ptr_array_unref (touched.rows);
  g_ptr_array_unref (touched.overrides);
  return done;
}
