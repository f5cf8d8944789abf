/* SPDX-License-Identifier: MIT
 *
 * library.c: definitions and implementations: checking what a block registers, and making the
 * entries that it hands to a transaction.
 */
#include "table/transaction.h"

#include <crosspoint/schema.h>
#include <string.h>

/* NAME or NAME.OVERLOAD, with an overload that a schema may have. */
static gboolean
operator_name_is_well_formed (const char *name)
{
  const char *end = xp_library_skip_identifier (name);
  if (end == name || *end != '.')
    return end != name && *end == '\0';
  const char *overload = end + 1;
  return xp_library_is_identifier (overload) && strcmp (overload, "default") != 0
         && !g_str_has_prefix (overload, "__");
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
  xp_library_set_invalid (
      library, error,
      "%sExplicitly provided namespace (%.*s) in %s does not match namespace of enclosing "
      "%s block (%s). Move it to a block of its own namespace.",
      what, (int) (colons - name), name, is_implementation ? "operator name" : "schema string",
      xp_library_kind_name (library), library->name_space);
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
      xp_library_set_invalid (
          library, error,
          "def(\"%s\"): Cannot define an operator inside of a %s block. Define it in an "
          "XP_LIBRARY or XP_LIBRARY_FRAGMENT block.",
          schema->name, xp_library_kind_name (library));
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
    xp_library_set_invalid (library, &local, "a definition lacks its size, its schema or its file");
  else if ((unsigned) definition->alias_analysis > XP_ALIAS_ANALYSIS_INTERNAL_SPECIAL_CASE)
    xp_library_set_invalid (library, &local, "%s:%d: there is no kind %d of alias analysis",
                            definition->file, definition->line, (int) definition->alias_analysis);
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
        return xp_library_set_invalid (
            library, error,
            "fallback(...): Cannot define an operator inside of a %s block. Use "
            "XP_LIBRARY_IMPL (_, KEY, m).",
            xp_library_kind_name (library));
      if (strcmp (library->name_space, "_") != 0)
        return xp_library_set_invalid (
            library, error,
            "fallback(...): Fallback functions which apply to only a single namespace (you "
            "specified %s) are not supported. Use the wildcard namespace:\n\n"
            "    XP_LIBRARY_IMPL (_, %s, m) { xp_fallback (m, ...); }\n\n",
            library->name_space, xp_key_name (library->key));
      if (!library->has_key)
        return xp_library_set_invalid (
            library, error,
            "fallback(...): a fallback needs a dispatch key: XP_LIBRARY_IMPL (_, "
            "KEY, m)");
      if (from->typed != NULL)
        return xp_library_set_invalid (
            library, error,
            "fallback(...): a fallback serves operators of every signature, so it "
            "has no typed form");
      if (from->takes != NULL || library->takes != NULL)
        return xp_library_set_invalid (
            library, error,
            "fallback(...): a fallback serves operators of every signature, so what it takes is "
            "not said here: it may decline, with xp_call_decline ()");
      return TRUE;
    }
  if (strcmp (library->name_space, "_") == 0 && strstr (from->name, "::") == NULL)
    return xp_library_set_invalid (
        library, error,
        "impl(\"%s\", ...): a block of the wildcard namespace _ holds fallbacks "
        "only; name the operator's namespace in the block",
        from->name);
  if (from->boxed == xp_fallthrough && (from->takes != NULL || library->takes != NULL))
    return xp_library_set_invalid (
        library, error, "impl(\"%s\", ...): a fallthrough is no kernel, and takes nothing",
        from->name);
  if (strchr (from->name, '(') != NULL)
    return xp_library_set_invalid (
        library, error, "impl(\"%s\", ...): expected the name of an operator, found a schema",
        from->name);
  return TRUE;
}

/* What the author of a boxed kernel has written; what does not parse is refused where it is
 * compared. */
static char *
canonical_signature (const char *text)
{
  if (text == NULL)
    return NULL;
  g_autofree char *full = g_strconcat ("_", text, NULL);
  g_autoptr (XpSchema) schema = xp_schema_parse (full, NULL);
  return schema != NULL ? xp_schema_signature (schema) : g_strdup (text);
}

static gboolean
parse_takes (XpLibrary *library, const XpImplementation *from, Takes **takes, GError **error)
{
  GError *local = NULL;
  g_autofree char *said = g_steal_pointer (&library->takes);
  const char *text = from->takes != NULL ? from->takes : said;
  *takes = NULL;
  if (text == NULL)
    return TRUE;
  *takes = xp_takes_parse (text, &local);
  if (*takes != NULL)
    return TRUE;
  xp_library_set_invalid (library, error, "%s:%d: %s", from->file, from->line, local->message);
  g_error_free (local);
  return FALSE;
}

static gboolean
library_impl (XpLibrary *library, const XpImplementation *from, GError **error)
{
  Takes *takes;
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
          return xp_library_set_invalid (
              library, error,
              "impl(\"%s\", ...): expected the name of an operator, NAME or "
              "NAME.OVERLOAD",
              from->name);
        }
    }
  if (!parse_takes (library, from, &takes, error))
    {
      g_free (row_name);
      return FALSE;
    }
  Registration *registration = g_new0 (Registration, 1);
  registration->takes = takes;
  registration->boxed = from->boxed;
  registration->kernel = (XpKernel){ takes != NULL ? xp_guard : from->boxed,
                                     takes != NULL ? NULL : from->typed, from->data, from->typed };
  registration->key = library->key;
  registration->owner = library->owner;
  registration->priority = library->owner->priority;
  registration->is_fallthrough = from->boxed == xp_fallthrough;
  registration->flags = from->flags;
  registration->file = g_strdup (from->file);
  registration->line = from->line;
  registration->location = location_text (from->file, from->line);
  registration->signature = from->typed != NULL ? g_strdup (from->signature)
                                                : canonical_signature (from->signature);
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
    xp_library_set_invalid (
        library, &local,
        "an implementation lacks its size, its boxed form, its file, or the signature of "
        "its typed form");
  else
    library_impl (library, implementation, &local);
  return keep_error (library, local, error);
}

void
xp_library_takes (XpLibrary *library, const char *takes)
{
  g_return_if_fail (library != NULL && takes != NULL);
  xp_library_check_takes (library);
  library->takes = g_strdup (takes);
}
