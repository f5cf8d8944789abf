/* SPDX-License-Identifier: MIT
 *
 * blocks.c: the life of a block: made by a constructor or by the running program, filled,
 * published, and freed.
 */
#include "table/listeners.h"
#include "table/transaction.h"

#include <string.h>

static const char *const kind_names[] = { [XP_LIBRARY_KIND_DEF] = "XP_LIBRARY",
                                          [XP_LIBRARY_KIND_FRAGMENT] = "XP_LIBRARY_FRAGMENT",
                                          [XP_LIBRARY_KIND_IMPL] = "XP_LIBRARY_IMPL" };

gboolean
xp_library_set_invalid (const XpLibrary *library, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  xp_error_set (error, XP_ERROR_INVALID_REGISTRATION, NULL,
                "%s  (Error occurred while processing %s block at %s:%d)", text,
                kind_names[library->kind], library->file, library->line);
  return FALSE;
}

const char *
xp_library_kind_name (const XpLibrary *library)
{
  return kind_names[library->kind];
}

const char *
xp_library_skip_identifier (const char *text)
{
  if (g_ascii_isdigit (text[0]))
    return text;
  while (g_ascii_isalnum (*text) || *text == '_')
    text++;
  return text;
}

gboolean
xp_library_is_identifier (const char *name)
{
  const char *end = xp_library_skip_identifier (name);
  return end != name && *end == '\0';
}

static gboolean
check_block (XpLibrary *library, const char *key, GError **error)
{
  gboolean is_wildcard = strcmp (library->name_space, "_") == 0;
  if (!xp_library_is_identifier (library->name_space))
    return xp_library_set_invalid (library, error, "%s: '%s' is no namespace",
                                   kind_names[library->kind], library->name_space);
  if (library->kind != XP_LIBRARY_KIND_IMPL && is_wildcard)
    return xp_library_set_invalid (
        library, error,
        "%s: cannot define %s with the wildcard namespace _ (it stands for every "
        "namespace in a fallback, and owns no operators). Name a namespace.",
        kind_names[library->kind], kind_names[library->kind]);
  if (key == NULL)
    return TRUE;
  if (library->kind != XP_LIBRARY_KIND_IMPL)
    return xp_library_set_invalid (library, error,
                                   "%s: a dispatch key (%s) belongs to XP_LIBRARY_IMPL",
                                   kind_names[library->kind], key);
  if (strcmp (key, "CatchAll") == 0 || strcmp (key, "Undefined") == 0)
    return TRUE;
  if (!xp_key_parse (key, &library->key, error))
    {
      g_prefix_error (error, "%s block at %s:%d: ", kind_names[library->kind], library->file,
                      library->line);
      return FALSE;
    }
  if (!xp_key_is_alias (library->key) && !xp_key_is_runtime (library->key))
    return xp_library_set_invalid (
        library, error,
        "the key %s stands for one cell per backend, and has none of its own: name "
        "a backend, as in %sCPU",
        key, strcmp (key, "Dense") == 0 ? "" : key);
  library->has_key = true;
  if (xp_backend_is_named (xp_key_backend (library->key)))
    library->incarnation = xp_backend_incarnation ((XpBackend) xp_key_backend (library->key));
  return TRUE;
}

static void
definition_free (Definition *definition)
{
  xp_schema_unref (definition->schema);
  g_free (definition->signature);
  g_free (definition->location);
  g_free (definition->file);
  g_free (definition->tags);
  g_free (definition->description);
  g_free (definition);
}

/* Frees all of an entry but its registration, which a thread may still be inside. */
static Registration *
entry_free (Entry *entry)
{
  Registration *registration = entry->registration;
  if (entry->definition != NULL)
    definition_free (entry->definition);
  if (entry->device != 0)
    xp_backend_release ((XpBackend) entry->device);
  g_free (entry->row_name);
  g_free (entry);
  return registration;
}

/* Frees all of a block but its registrations. */
static void
library_free (XpLibrary *library)
{
  for (unsigned i = 0; i < library->entries->len; i++)
    entry_free (library->entries->pdata[i]);
  g_ptr_array_unref (library->entries);
  g_free (library->name_space);
  g_free (library->file);
  g_free (library->takes);
  g_free (library);
}

static void
linger (const XpLibrary *library)
{
  for (unsigned i = 0; i < library->entries->len; i++)
    {
      const Entry *entry = library->entries->pdata[i];
      if (entry->registration != NULL)
        xp_registration_linger (entry->registration);
    }
}

gboolean
xp_library_detach (G_GNUC_UNUSED const XpTransaction *transaction, void *data,
                   G_GNUC_UNUSED GError **error)
{
  const XpLibrary *library = data;
  g_ptr_array_remove (library->owner->libraries, data);
  linger (library);
  return TRUE;
}

void
xp_library_destroy (XpLibrary *library)
{
  library_free (library);
  xp_registrations_retire ();
}

/* A check that is none: what is in the table is its block's from the same moment on. */
static gboolean
keep_entry (const XpTransaction *transaction, G_GNUC_UNUSED void *data,
            G_GNUC_UNUSED GError **error)
{
  Entry *entry = transaction->added->pdata[0];
  g_ptr_array_add (entry->library->entries, entry);
  return TRUE;
}

gboolean
xp_library_add (XpLibrary *library, Entry *entry, GError **error)
{
  gboolean done = FALSE;
  entry->library = library;
  if (library->transaction != NULL && library->transaction->is_fini)
    xp_owner_set_away (library->owner,
                       entry->device != 0 ? xp_backend_name ((XpBackend) entry->device) : NULL,
                       library->file, library->line, error);
  else if (library->transaction != NULL)
    {
      /* Whoever counts what an owner has may be reading. */
      g_mutex_lock (&xp_table_lock);
      g_ptr_array_add (library->entries, entry);
      g_mutex_unlock (&xp_table_lock);
      g_ptr_array_add (library->transaction->added, entry);
      return TRUE;
    }
  else
    {
      XpTransaction *transaction = xp_transaction_new ();
      g_ptr_array_add (transaction->added, entry);
      done = xp_transaction_commit (transaction, keep_entry, NULL, error);
      xp_transaction_free (transaction);
      xp_registrations_retire ();
      xp_listeners_tell ();
    }
  if (!done)
    {
      Registration *registration = entry_free (entry);
      if (registration != NULL)
        {
          registration->destroy = NULL; /* the data stay the caller's */
          xp_registration_free (registration);
        }
    }
  return done;
}

void
xp_library_check_takes (XpLibrary *library)
{
  GError *local = NULL;
  g_autofree char *takes = g_steal_pointer (&library->takes);
  if (takes == NULL)
    return;
  xp_library_set_invalid (library, &local,
                          "xp_takes(\"%s\"): expected a kernel after it, found none", takes);
  xp_transaction_keep_error (library->transaction, local, NULL);
}

XpLibrary *
xp_library_make (const XpLibraryBlock *block, XpOwner *owner, XpTransaction *transaction,
                 GError **error)
{
  XpLibrary *library = g_new0 (XpLibrary, 1);
  library->kind = block->kind;
  library->name_space = g_strdup (block->name_space);
  library->key = XP_KEY_CompositeImplicitAutograd;
  library->file = g_strdup (block->file);
  library->line = block->line;
  library->owner = owner;
  library->entries = g_ptr_array_new ();
  library->transaction = transaction;
  if (!check_block (library, block->key, error))
    {
      library_free (library);
      return NULL;
    }
  g_mutex_lock (&xp_table_lock);
  g_ptr_array_add (owner->libraries, library);
  g_mutex_unlock (&xp_table_lock);
  if (block->kind != XP_LIBRARY_KIND_DEF || xp_library_add (library, g_new0 (Entry, 1), error))
    return library;
  xp_library_forget (library);
  return NULL;
}

/* --- Blocks of constructors, and of the running program. --- */

void
xp_library_forget (XpLibrary *library)
{
  g_mutex_lock (&xp_table_lock);
  xp_library_detach (NULL, library, NULL);
  g_mutex_unlock (&xp_table_lock);
  xp_library_destroy (library);
}

static void
warn_of_block (const XpOwner *owner, const XpLibraryBlock *block, const GError *error)
{
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "PLUGIN", owner->name, "MESSAGE",
                    "%s registers nothing in the block at %s:%d: %s", owner->name, block->file,
                    block->line, error->message);
}

void
xp_library_run (const XpLibraryBlock *block)
{
  g_return_if_fail (block != NULL && block->size >= sizeof *block);
  g_return_if_fail ((unsigned) block->kind <= XP_LIBRARY_KIND_IMPL);
  XpTransaction *current = xp_transaction_current ();
  GError *error = NULL;
  if (xp_table_refusal != NULL)
    {
      g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "MESSAGE",
                        "the block at %s:%d registers nothing: %s", block->file, block->line,
                        xp_table_refusal->message);
      return;
    }
  XpOwner *owner = xp_owner_of_block (block, block->plugin);
  if (owner == NULL || owner->refusal != NULL)
    return; /* the load fails, or it has been said once for all of the file */
  if (current == NULL && xp_owner_is_away (owner))
    {
      xp_owner_set_away (owner, NULL, block->file, block->line, &error);
      warn_of_block (owner, block, error);
      g_error_free (error);
      return;
    }
  XpTransaction *transaction = current != NULL ? current : xp_transaction_new ();
  XpLibrary *library = xp_library_make (block, owner, transaction, &error);
  if (library != NULL)
    {
      block->fill (library);
      xp_library_check_takes (library);
      library->transaction = NULL;
    }
  else if (transaction->error == NULL)
    transaction->error = g_steal_pointer (&error);
  g_clear_error (&error);
  if (current != NULL)
    return;
  if (!xp_transaction_commit (transaction, NULL, NULL, &error))
    {
      warn_of_block (owner, block, error);
      g_clear_error (&error);
      if (library != NULL)
        xp_library_forget (library);
    }
  xp_transaction_free (transaction);
  xp_registrations_retire ();
  xp_listeners_tell ();
}

XpLibrary *
xp_library_new (XpLibraryKind kind, const char *name_space, const char *key, const char *file,
                int line, GError **error)
{
  g_return_val_if_fail (name_space != NULL && file != NULL, NULL);
  g_return_val_if_fail ((unsigned) kind <= XP_LIBRARY_KIND_IMPL, NULL);
  const XpLibraryBlock block = { sizeof block, kind, line, name_space, key, file, NULL, NULL };
  XpTransaction *current = xp_transaction_current ();
  if (current != NULL)
    {
      GError *local = NULL;
      xp_error_set (&local, XP_ERROR_INVALID_REGISTRATION, NULL,
                    "the block at %s:%d would be published at once, by a constructor, probe or "
                    "fini whose plugin is not: register in an XP_LIBRARY block",
                    file, line);
      xp_transaction_keep_error (current, local, error);
      return NULL;
    }
  XpOwner *owner = xp_owner_at (__builtin_return_address (0));
  if (xp_table_refusal != NULL)
    g_propagate_error (error, g_error_copy (xp_table_refusal));
  else if (!xp_owner_is_away (owner))
    return xp_library_make (&block, owner, NULL, error);
  else
    xp_owner_set_away (owner, NULL, file, line, error);
  return NULL;
}

void
xp_library_free (XpLibrary *library)
{
  if (library == NULL)
    return;
  /* A constructor's block is its plugin's, and goes with that. */
  g_return_if_fail (library->transaction == NULL);
  XpTransaction *transaction = xp_transaction_new ();
  for (unsigned i = 0; i < library->entries->len; i++)
    g_ptr_array_add (transaction->removed, library->entries->pdata[i]);
  gboolean done = xp_transaction_commit (transaction, xp_library_detach, library, NULL);
  xp_transaction_free (transaction);
  if (done)
    library_free (library);
  xp_registrations_retire ();
  xp_listeners_tell ();
}

void
xp_owner_destroy_libraries (XpOwner *owner)
{
  g_mutex_lock (&xp_table_lock);
  g_autoptr (GPtrArray) libraries = owner->libraries;
  owner->libraries = g_ptr_array_new ();
  g_mutex_unlock (&xp_table_lock);
  for (unsigned i = 0; i < libraries->len; i++)
    {
      XpLibrary *library = libraries->pdata[i];
      for (unsigned j = 0; j < library->entries->len; j++)
        {
          Registration *registration = ((const Entry *) library->entries->pdata[j])->registration;
          if (registration != NULL)
            xp_registration_free (registration);
        }
      library_free (library);
    }
  xp_registrations_retire ();
}
