/* SPDX-License-Identifier: MIT
 *
 * library.c: blocks: checking what is registered in them, and handing it to a transaction.
 */
#include "table/listeners.h"
#include "table/transaction.h"

#include <crosspoint/schema.h>
#include <string.h>

static const char *const kind_names[] = { [XP_LIBRARY_KIND_DEF] = "XP_LIBRARY",
                                          [XP_LIBRARY_KIND_FRAGMENT] = "XP_LIBRARY_FRAGMENT",
                                          [XP_LIBRARY_KIND_IMPL] = "XP_LIBRARY_IMPL" };

static gboolean set_invalid (const XpLibrary *library, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Every mistake in a block ends with where the block is. */
static gboolean
set_invalid (const XpLibrary *library, GError **error, const char *format, ...)
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

/* The end of the identifier that @text begins with; @text where it begins with none. */
static const char *
skip_identifier (const char *text)
{
  if (g_ascii_isdigit (text[0]))
    return text;
  while (g_ascii_isalnum (*text) || *text == '_')
    text++;
  return text;
}

static gboolean
name_is_well_formed (const char *name)
{
  const char *end = skip_identifier (name);
  return end != name && *end == '\0';
}

/* NAME or NAME.OVERLOAD, with an overload that a schema may have. */
static gboolean
operator_name_is_well_formed (const char *name)
{
  const char *end = skip_identifier (name);
  if (end == name || *end != '.')
    return end != name && *end == '\0';
  const char *overload = end + 1;
  return name_is_well_formed (overload) && strcmp (overload, "default") != 0
         && !g_str_has_prefix (overload, "__");
}

static gboolean
check_block (XpLibrary *library, const char *key, GError **error)
{
  gboolean is_wildcard = strcmp (library->name_space, "_") == 0;
  if (!name_is_well_formed (library->name_space))
    return set_invalid (library, error, "%s: '%s' is no namespace", kind_names[library->kind],
                        library->name_space);
  if (library->kind != XP_LIBRARY_KIND_IMPL && is_wildcard)
    return set_invalid (library, error,
                        "%s: cannot define %s with the wildcard namespace _ (it stands for every "
                        "namespace in a fallback, and owns no operators). Name a namespace.",
                        kind_names[library->kind], kind_names[library->kind]);
  if (key == NULL)
    return TRUE;
  if (library->kind != XP_LIBRARY_KIND_IMPL)
    return set_invalid (library, error, "%s: a dispatch key (%s) belongs to XP_LIBRARY_IMPL",
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
    return set_invalid (library, error,
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

/* One text of three, in a third of the time that g_strconcat() takes: there are two for everything
 * that is registered. */
static char *
join (const char *first, const char *second, const char *third)
{
  size_t n_first = strlen (first), n_second = strlen (second), n_third = strlen (third);
  char *text = g_malloc (n_first + n_second + n_third + 1);
  memcpy (text, first, n_first);
  memcpy (text + n_first, second, n_second);
  memcpy (text + n_first + n_second, third, n_third + 1);
  return text;
}

/* Adds the block's namespace to a name without one; a foreign one is a mistake. */
static char *
qualify (const XpLibrary *library, const char *name, bool is_implementation, GError **error)
{
  const char *colons = strstr (name, "::");
  if (colons == NULL)
    return join (library->name_space, "::", name);
  size_t n = strlen (library->name_space);
  if ((size_t) (colons - name) == n && strncmp (name, library->name_space, n) == 0)
    return g_strdup (name);
  g_autofree char *what = is_implementation ? g_strdup_printf ("impl(\"%s\", ...): ", name)
                                            : g_strdup ("");
  set_invalid (library, error,
               "%sExplicitly provided namespace (%.*s) in %s does not match namespace of enclosing "
               "%s block (%s). Move it to a block of its own namespace.",
               what, (int) (colons - name), name,
               is_implementation ? "operator name" : "schema string", kind_names[library->kind],
               library->name_space);
  return NULL;
}

static XpSchema *
parse_definition (const XpLibrary *library, const char *text, GError **error)
{
  /* The namespace is the block's where the text has none. Of a text that does not parse with it,
   * the error is that of the text as it was given. */
  const char *colons = strstr (text, "::");
  if (library->kind != XP_LIBRARY_KIND_IMPL
      && (colons == NULL || (size_t) (colons - text) > strcspn (text, "(")))
    {
      g_autofree char *full = g_strconcat (library->name_space, "::", text, NULL);
      XpSchema *parsed = xp_schema_parse (full, NULL);
      if (parsed != NULL)
        return parsed;
    }
  g_autoptr (XpSchema) schema = xp_schema_parse (text, error);
  if (schema == NULL)
    return NULL;
  if (library->kind == XP_LIBRARY_KIND_IMPL)
    {
      set_invalid (library, error,
                   "def(\"%s\"): Cannot define an operator inside of a %s block. Define it in an "
                   "XP_LIBRARY or XP_LIBRARY_FRAGMENT block.",
                   schema->name, kind_names[library->kind]);
      return NULL;
    }
  if (strstr (schema->name, "::") != NULL)
    {
      g_autofree char *name = qualify (library, schema->name, false, error);
      return name != NULL ? g_steal_pointer (&schema) : NULL;
    }
  g_autofree char *qualified = g_strconcat (library->name_space, "::", text, NULL);
  return xp_schema_parse (qualified, error);
}

void
xp_transaction_keep_error (XpTransaction *transaction, GError *local, GError **error)
{
  if (transaction != NULL && transaction->error == NULL)
    transaction->error = g_error_copy (local);
  g_propagate_error (error, local);
}

static gboolean
keep_error (XpLibrary *library, GError *local, GError **error)
{
  if (local == NULL)
    return TRUE;
  xp_transaction_keep_error (library->transaction, local, error);
  return FALSE;
}

/* `registered at FILE:LINE`, without the cost of a format. */
static char *
location_text (const char *file, int line)
{
  char digits[16];
  char *digit = digits + sizeof digits - 1;
  *digit = '\0';
  for (unsigned rest = (unsigned) ABS (line); digit == digits + sizeof digits - 1 || rest > 0;
       rest /= 10)
    *--digit = (char) ('0' + rest % 10);
  if (line < 0)
    *--digit = '-';
  *--digit = ':';
  return join ("registered at ", file, digit);
}

static gboolean
library_def (XpLibrary *library, const XpDefinition *from, GError **error)
{
  XpSchema *schema = parse_definition (library, from->schema, error);
  if (schema == NULL)
    {
      g_prefix_error (error, "%s:%d: ", from->file, from->line);
      return FALSE;
    }
  Definition *definition = g_new0 (Definition, 1);
  definition->schema = schema;
  definition->signature = xp_schema_signature (schema);
  definition->file = g_strdup (from->file);
  definition->line = from->line;
  definition->location = location_text (from->file, from->line);
  definition->tags = g_strdup (from->tags);
  definition->description = g_strdup (from->description);
  definition->alias_analysis = from->alias_analysis;
  definition->owner = library->owner;
  Entry *entry = g_new0 (Entry, 1);
  entry->definition = definition;
  entry->row_name = xp_schema_operator_name (schema);
  return xp_library_add (library, entry, error);
}

gboolean
xp_library_def (XpLibrary *library, const XpDefinition *definition, GError **error)
{
  g_return_val_if_fail (library != NULL && definition != NULL, FALSE);
  GError *local = NULL;
  if (definition->size < sizeof *definition || definition->schema == NULL
      || definition->file == NULL)
    set_invalid (library, &local, "a definition lacks its size, its schema or its file");
  else if ((unsigned) definition->alias_analysis > XP_ALIAS_ANALYSIS_INTERNAL_SPECIAL_CASE)
    set_invalid (library, &local, "%s:%d: there is no kind %d of alias analysis", definition->file,
                 definition->line, (int) definition->alias_analysis);
  else
    library_def (library, definition, &local);
  return keep_error (library, local, error);
}

static gboolean
check_implementation (const XpLibrary *library, const XpImplementation *from, GError **error)
{
  if (from->name == NULL)
    {
      if (library->kind != XP_LIBRARY_KIND_IMPL)
        return set_invalid (library, error,
                            "fallback(...): Cannot define an operator inside of a %s block. Use "
                            "XP_LIBRARY_IMPL (_, KEY, m).",
                            kind_names[library->kind]);
      if (strcmp (library->name_space, "_") != 0)
        return set_invalid (
            library, error,
            "fallback(...): Fallback functions which apply to only a single namespace (you "
            "specified %s) are not supported. Use the wildcard namespace:\n\n"
            "    XP_LIBRARY_IMPL (_, %s, m) { xp_fallback (m, ...); }\n\n",
            library->name_space, xp_key_name (library->key));
      if (!library->has_key)
        return set_invalid (library, error,
                            "fallback(...): a fallback needs a dispatch key: XP_LIBRARY_IMPL (_, "
                            "KEY, m)");
      if (from->typed != NULL)
        return set_invalid (library, error,
                            "fallback(...): a fallback serves operators of every signature, so it "
                            "has no typed form");
      return TRUE;
    }
  if (strcmp (library->name_space, "_") == 0 && strstr (from->name, "::") == NULL)
    return set_invalid (library, error,
                        "impl(\"%s\", ...): a block of the wildcard namespace _ holds fallbacks "
                        "only; name the operator's namespace in the block",
                        from->name);
  if (strchr (from->name, '(') != NULL)
    return set_invalid (library, error,
                        "impl(\"%s\", ...): expected the name of an operator, found a schema",
                        from->name);
  return TRUE;
}

static gboolean
library_impl (XpLibrary *library, const XpImplementation *from, GError **error)
{
  if (!check_implementation (library, from, error))
    return FALSE;
  char *row_name = NULL;
  if (from->name != NULL)
    {
      row_name = qualify (library, from->name, true, error);
      if (row_name == NULL)
        return FALSE;
      if (!operator_name_is_well_formed (row_name + strlen (library->name_space) + 2))
        {
          g_free (row_name);
          return set_invalid (library, error,
                              "impl(\"%s\", ...): expected the name of an operator, NAME or "
                              "NAME.OVERLOAD",
                              from->name);
        }
    }
  Registration *registration = g_new0 (Registration, 1);
  registration->kernel = (XpKernel){ from->boxed, from->typed, from->data };
  registration->key = library->key;
  registration->owner = library->owner;
  registration->priority = library->owner->priority;
  registration->is_fallthrough = from->boxed == xp_fallthrough;
  registration->flags = from->flags;
  registration->file = g_strdup (from->file);
  registration->line = from->line;
  registration->location = location_text (from->file, from->line);
  registration->signature = g_strdup (from->signature);
  registration->destroy = from->destroy;
  Entry *entry = g_new0 (Entry, 1);
  entry->registration = registration;
  entry->row_name = row_name;
  return xp_library_add (library, entry, error);
}

gboolean
xp_library_impl (XpLibrary *library, const XpImplementation *implementation, GError **error)
{
  g_return_val_if_fail (library != NULL && implementation != NULL, FALSE);
  GError *local = NULL;
  if (implementation->size < sizeof *implementation || implementation->boxed == NULL
      || implementation->file == NULL
      || (implementation->typed != NULL && implementation->signature == NULL))
    set_invalid (library, &local,
                 "an implementation lacks its size, its boxed form, its file, or the signature of "
                 "its typed form");
  else
    library_impl (library, implementation, &local);
  return keep_error (library, local, error);
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
