/* SPDX-License-Identifier: MIT
 *
 * signatures.c: whether a kernel takes what its row's schema says.
 */
#include "table/row.h"

#include <string.h>

/* What a kernel takes must be known, also of one that waits for its row. */
gboolean
xp_signature_check_readable (const char *row_name, const Registration *registration, GError **error)
{
  if (registration->signature == NULL)
    return TRUE;
  GError *local = NULL;
  g_autofree char *text = g_strconcat ("_", registration->signature, NULL);
  g_autoptr (XpSchema) schema = xp_schema_parse (text, &local);
  if (schema != NULL)
    return TRUE;
  xp_error_set (error, XP_ERROR_INVALID_REGISTRATION,
                &(XpErrorDetails){ .op = (char *) row_name,
                                   .key = (char *) xp_key_name (registration->key),
                                   .plugin = registration->owner->name },
                "the signature of the kernel %s for %s does not parse: %s", registration->location,
                row_name, local->message);
  g_error_free (local);
  return FALSE;
}

/* A line for each argument, or return, in which the two differ. */
static void
append_differences (GString *text, const char *what, const XpArgument *named,
                    const XpArgument *expected, unsigned n_expected, const XpArgument *found,
                    unsigned n_found)
{
  for (unsigned i = 0; i < MAX (n_expected, n_found); i++)
    {
      g_autofree char *type = i < n_expected ? xp_type_to_string (expected[i].type) : NULL;
      g_autofree char *other = i < n_found ? xp_type_to_string (found[i].type) : NULL;
      const char *name = i < n_expected ? named[i].name : "";
      if (g_strcmp0 (type, other) != 0)
        g_string_append_printf (text, "\n  %s %u%s%s%s: the schema says %s, the kernel %s", what, i,
                                name[0] != '\0' ? " (" : "", name, name[0] != '\0' ? ")" : "",
                                type != NULL ? type : "nothing", other != NULL ? other : "nothing");
    }
}

static void
set_mismatch (const char *row_name, const Definition *definition, const Registration *registration,
              const XpSchema *found, const char *reason, GError **error)
{
  const XpSchema *schema = definition->schema;
  g_autofree char *expected = xp_schema_to_string (schema);
  /* The types as kernels take them, SymInt as int. */
  g_autofree char *text = g_strconcat ("_", definition->signature, NULL);
  g_autoptr (XpSchema) plain = xp_schema_parse (text, NULL);
  g_autoptr (GString) differences = g_string_new (NULL);
  append_differences (differences, "argument", schema->arguments, plain->arguments,
                      plain->n_arguments, found->arguments, found->n_arguments);
  append_differences (differences, "return", schema->returns, plain->returns, plain->n_returns,
                      found->returns, found->n_returns);
  xp_error_set (
      error, XP_ERROR_SCHEMA_MISMATCH,
      &(XpErrorDetails){ .op = (char *) row_name,
                         .key = (char *) xp_key_name (registration->key),
                         .plugin = registration->owner->name },
      "Inferred operator schema for a kernel function doesn't match the expected function "
      "schema.\n  operator: %s\n  expected schema: %s\n    %s\n  inferred schema: %s\n"
      "    %s\n  reason: %s%s",
      row_name, expected, definition->location, registration->signature, registration->location,
      reason, differences->str);
}

static gboolean
check_schema (const char *row_name, const Definition *definition, const Registration *registration,
              GError **error)
{
  if (registration->signature == NULL
      || strcmp (definition->signature, registration->signature) == 0)
    return TRUE;
  g_autofree char *text = g_strconcat ("_", registration->signature, NULL);
  g_autoptr (XpSchema) found = xp_schema_parse (text, NULL);
  if (found == NULL)
    return xp_signature_check_readable (row_name, registration, error);
  g_autofree char *reason = xp_schema_difference (definition->schema, found);
  if (reason != NULL)
    set_mismatch (row_name, definition, registration, found, reason, error);
  return reason == NULL;
}

gboolean
xp_signature_check (const char *row_name, const Definition *definition,
                    const Registration *registration, GError **error)
{
  GError *local = NULL;
  if (!check_schema (row_name, definition, registration, error))
    return FALSE;
  if (registration->takes == NULL
      || xp_takes_resolve (registration->takes, definition->schema, &local))
    return TRUE;
  xp_error_set (error, XP_ERROR_INVALID_REGISTRATION,
                &(XpErrorDetails){ .op = (char *) row_name,
                                   .key = (char *) xp_key_name (registration->key),
                                   .plugin = registration->owner->name },
                "the kernel %s does not fit %s: %s", registration->location, definition->location,
                local->message);
  g_error_free (local);
  return FALSE;
}
