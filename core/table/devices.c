/* SPDX-License-Identifier: MIT
 *
 * devices.c: named backends: who has which, and how they come and go with their owner.
 *
 * A device is an entry of a block of its own, so that it is published, taken back and passed over
 * with the rest of a transaction. With it comes the core's fallthrough at its autograd key, as the
 * built-in backends have one.
 */
#include "table/transaction.h"

#include <string.h>

static const XpOwner *owners[64];

const XpOwner *
xp_device_owner (XpBackend backend)
{
  const XpOwner *owner = __atomic_load_n (&owners[backend], __ATOMIC_ACQUIRE);
  return owner != NULL ? owner : &xp_core_owner;
}

static void
set_owner (int device, const XpOwner *owner)
{
  __atomic_store_n (&owners[device], owner, __ATOMIC_RELEASE);
}

void
xp_device_set_owner (const Entry *entry)
{
  set_owner (entry->device, entry->library->owner);
}

static void
set_taken (const char *name, const char *other, const char *owner, GError **error)
{
  xp_error_set (error, XP_ERROR_BACKEND_EXISTS,
                &(XpErrorDetails){ .plugin = (char *) other, .key = (char *) name },
                "the device name '%s' is taken by %s; %s asks for it too", name, other, owner);
}

gboolean
xp_device_check (const Entry *entry, uint64_t gone, GError **error)
{
  XpBackend device = (XpBackend) entry->device;
  const char *name = xp_backend_name (device);
  uint64_t others = xp_backends_in_use () & ~gone & ~XP_BIT (device);
  for (; others != 0; others &= others - 1)
    {
      XpBackend other = (XpBackend) __builtin_ctzll (others);
      if (strcmp (xp_backend_name (other), name) != 0)
        continue;
      set_taken (name, xp_device_owner (other)->name, entry->library->owner->name, error);
      return FALSE;
    }
  return TRUE;
}

/* A use of a device that is about to go. */
typedef struct
{
  uint64_t bits;
  const Registration *found;
} Use;

static void
look_for_use (const GPtrArray *list, Use *use)
{
  for (unsigned i = 0; i < list->len && use->found == NULL; i++)
    {
      const Registration *registration = list->pdata[i];
      int backend = xp_key_backend (registration->key);
      if (backend >= 0 && (use->bits >> backend & 1) != 0)
        use->found = registration;
    }
}

static void
look_in_row (Row *row, void *data)
{
  look_for_use (row->registrations, data);
}

gboolean
xp_devices_check_unused (uint64_t bits, GError **error)
{
  Use use = { bits, NULL };
  xp_rows_visit (look_in_row, &use);
  look_for_use (xp_fallbacks, &use);
  if (use.found == NULL)
    return TRUE;
  const char *key = xp_key_name (use.found->key);
  const char *owner = use.found->owner->name;
  const char *row = use.found->row != NULL ? use.found->row->name : NULL;
  xp_error_set (error, XP_ERROR_IN_USE,
                &(XpErrorDetails){ .op = (char *) row,
                                   .key = (char *) key,
                                   .candidates = (char *[]){ (char *) owner, NULL } },
                "the device '%s' is in use: %s fills %s [%s], %s; unload or release that first",
                xp_backend_name ((XpBackend) xp_key_backend (use.found->key)), owner,
                row != NULL ? row : "the fallback", key, use.found->location);
  return FALSE;
}

static gboolean
name_is_well_formed (const char *name)
{
  if (!g_ascii_isalpha (name[0]) || strlen (name) > 32)
    return FALSE;
  for (const char *c = name; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c))
      return FALSE;
  return TRUE;
}

/* The block that brings the device; it holds the bit already. */
static gboolean
add_device (int device, XpOwner *owner, XpTransaction *transaction, GError **error)
{
  const XpLibraryBlock block = { sizeof block, XP_LIBRARY_KIND_IMPL, __LINE__, "_", NULL, __FILE__,
                                 NULL };
  XpLibrary *library = xp_library_make (&block, owner, transaction, NULL);
  Registration *registration = g_new0 (Registration, 1);
  registration->kernel.boxed = xp_fallthrough;
  registration->key = xp_key_of (XP_FUNCTIONALITY_AutogradFunctionality, (unsigned) device);
  registration->owner = &xp_core_owner;
  registration->priority = xp_core_owner.priority;
  registration->is_fallthrough = true;
  registration->file = g_strdup (__FILE__);
  registration->line = block.line;
  registration->location = g_strdup_printf ("registered at %s:%d", __FILE__, block.line);
  Entry *entry = g_new0 (Entry, 1);
  entry->registration = registration;
  entry->device = (uint8_t) device;
  gboolean done = xp_library_add (library, entry, error);
  library->transaction = NULL;
  if (!done)
    xp_library_forget (library);
  return done;
}

static bool
is_added (const XpTransaction *transaction, int device)
{
  for (unsigned i = 0; i < transaction->added->len; i++)
    if (((const Entry *) transaction->added->pdata[i])->device == device)
      return true;
  return false;
}

/* The bit of @name for @owner where it has one already, or takes one over; -1 where it may not. */
static int
take_again (const char *name, const XpTaken *taken, XpOwner *owner, XpTransaction *transaction,
            GError **error)
{
  g_autofree char *key = taken->key != NULL ? g_strdup_printf ("the key %s", taken->key) : NULL;
  const char *holder = key;
  if (taken->backend >= 0)
    {
      const XpOwner *other = xp_device_owner ((XpBackend) taken->backend);
      bool is_same = strcmp (name, taken->name) == 0;
      if (is_same && transaction != NULL && is_added (transaction, taken->backend))
        return taken->backend;
      if (is_same && taken->is_in_use && other == owner)
        return taken->backend;
      if (is_same && taken->is_in_use && xp_transaction_replaces (transaction, other))
        {
          xp_backend_hold ((XpBackend) taken->backend);
          return add_device (taken->backend, owner, transaction, error) ? taken->backend : -1;
        }
      holder = taken->is_in_use ? other->name : "a device that is just being registered";
    }
  set_taken (name, holder, owner->name, error);
  return -1;
}

/* The bit of @name for @owner, or -1. */
static int
register_device (const char *name, XpOwner *owner, XpTransaction *transaction, GError **error)
{
  XpTaken taken = { 0 };
  int device = xp_backend_reserve (name, &taken);
  if (device >= 0)
    {
      set_owner (device, owner);
      if (transaction != NULL)
        {
          transaction->devices |= XP_BIT (device);
          xp_backends_set_own (transaction->devices);
        }
      return add_device (device, owner, transaction, error) ? device : -1;
    }
  if (device == XP_BACKEND_NONE_LEFT)
    {
      xp_error_set (error, XP_ERROR_LIMIT, NULL,
                    "no bit is left for the device '%s': all %d are in use, or held by tensors of "
                    "devices that were given back",
                    name, XP_BACKEND_LAST_NAMED - XP_BACKEND_FIRST_NAMED + 1);
      return -1;
    }
  device = take_again (name, &taken, owner, transaction, error);
  g_free (taken.key);
  return device;
}

static gboolean
register_for (XpOwner *owner, const char *name, XpBackend *backend, GError **error)
{
  XpTransaction *transaction = xp_transaction_current ();
  GError *local = NULL;
  int device = -1;
  if (name_is_well_formed (name))
    device = register_device (name, owner, transaction, &local);
  else
    xp_error_set (&local, XP_ERROR_INVALID_ARGUMENT, NULL,
                  "'%s' is no name for a device: expected a letter, then letters and digits, 32 "
                  "at most",
                  name);
  if (local != NULL)
    {
      xp_transaction_keep_error (transaction, local, error);
      return FALSE;
    }
  *backend = (XpBackend) device;
  return TRUE;
}

gboolean
xp_backend_register (const char *name, XpBackend *backend, GError **error)
{
  g_return_val_if_fail (name != NULL && backend != NULL, FALSE);
  XpOwner *owner = xp_transaction_current () != NULL ? xp_transaction_current_owner ()
                                                     : xp_owner_at (__builtin_return_address (0));
  return register_for (owner, name, backend, error);
}

void
xp_backend_run (const XpBackendBlock *block)
{
  g_return_if_fail (block != NULL && block->size >= sizeof *block);
  XpOwner *owner = xp_owner_of_block (block, block->plugin);
  GError *error = NULL;
  if (owner == NULL || owner->refusal != NULL
      || register_for (owner, block->name, block->backend, &error))
    return;
  if (xp_transaction_current () == NULL)
    g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "PLUGIN", owner->name, "MESSAGE",
                      "%s does not get the device '%s': %s", owner->name, block->name,
                      error->message);
  g_error_free (error);
}

static void
set_not_had (const XpOwner *owner, const char *name, GError **error)
{
  int device = xp_backend_find (name);
  xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, &(XpErrorDetails){ .key = (char *) name },
                "%s has no device '%s' to give back%s%s", owner->name, name,
                device < 0 ? "" : "; it belongs to ",
                device < 0 ? "" : xp_device_owner ((XpBackend) device)->name);
}

gboolean
xp_device_collect (XpTransaction *transaction, GError **error)
{
  const XpOwner *owner = transaction->giver;
  int device = xp_backend_find (transaction->given_back);
  for (unsigned i = 0; xp_backend_is_named (device) && i < owner->libraries->len; i++)
    {
      const GPtrArray *entries = ((const XpLibrary *) owner->libraries->pdata[i])->entries;
      if (entries->len != 1 || ((const Entry *) entries->pdata[0])->device != device)
        continue;
      g_ptr_array_add (transaction->removed, entries->pdata[0]);
      return TRUE;
    }
  set_not_had (owner, transaction->given_back, error);
  return FALSE;
}

/* No check either: of threads that give the same device back, the first gets its block. */
static gboolean
claim (const XpTransaction *transaction, void *data, GError **error)
{
  XpLibrary **library = data;
  *library = ((const Entry *) transaction->removed->pdata[0])->library;
  return xp_library_detach (transaction, *library, error);
}

gboolean
xp_backend_unregister (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, FALSE);
  XpTransaction *transaction = xp_transaction_current ();
  GError *local = NULL;
  if (transaction != NULL)
    {
      xp_error_set (&local, XP_ERROR_NESTED_LOAD, NULL,
                    "a constructor, probe or fini gives the device '%s' back; unloading does that",
                    name);
      xp_transaction_keep_error (transaction, local, error);
      return FALSE;
    }
  XpLibrary *library = NULL;
  transaction = xp_transaction_new ();
  transaction->giver = xp_owner_at (__builtin_return_address (0));
  transaction->given_back = name;
  gboolean done = xp_transaction_commit (transaction, claim, &library, error);
  xp_transaction_free (transaction);
  if (done)
    xp_library_destroy (library);
  return done;
}
