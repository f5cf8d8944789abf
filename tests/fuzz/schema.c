/* SPDX-License-Identifier: MIT
 *
 * schema.c: any bytes either parse or give an error, and what parses prints to a text that parses
 * to an equal schema.
 */
#include "fuzz.h"

#include <crosspoint/schema.h>
#include <stdlib.h>
#include <string.h>

static void
demand (gboolean condition, const char *text)
{
  if (condition)
    return;
  g_printerr ("does not read back: %s\n", text);
  abort ();
}

static void
check_defaults (const XpSchema *a, const XpSchema *b, const char *text)
{
  for (uint32_t i = 0; i < a->n_arguments; i++)
    demand (xp_value_equal (a->arguments[i].default_value, b->arguments[i].default_value), text);
}

static void
check_round_trip (const XpSchema *schema)
{
  g_autofree char *printed = xp_schema_to_string (schema);
  g_autoptr (XpSchema) again = xp_schema_parse (printed, NULL);
  demand (again != NULL, printed);
  g_autofree char *printed_again = xp_schema_to_string (again);
  g_autofree char *difference = xp_schema_difference (schema, again);
  demand (strcmp (printed, printed_again) == 0 && difference == NULL, printed);
  check_defaults (schema, again, printed);
}

static void
check_signature (const XpSchema *schema)
{
  g_autofree char *signature = xp_schema_signature (schema);
  g_autofree char *declaration = g_strconcat ("name", signature, NULL);
  g_autoptr (XpSchema) kernel = xp_schema_parse (declaration, NULL);
  demand (kernel != NULL, declaration);
  g_autofree char *difference = xp_schema_difference (schema, kernel);
  demand (difference == NULL, declaration);
}

/* A call without arguments: every default is one that a call may pass. */
static void
check_defaults_match (const XpSchema *schema)
{
  XpValue arguments[64];
  g_autoptr (GError) error = NULL;
  for (uint32_t i = 0; i < schema->n_arguments; i++)
    if (!schema->arguments[i].has_default)
      return;
  gboolean good = xp_schema_match (schema, NULL, 0, NULL, NULL, 0, arguments, &error);
  demand (good, good ? "" : error->message);
  xp_values_clear (arguments, schema->n_arguments);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (XpSchema) schema = xp_schema_parse (text, &error);
  demand ((schema == NULL) == (error != NULL), text);
  if (schema == NULL)
    {
      demand (g_utf8_validate (error->message, -1, NULL), text);
      return 0;
    }
  check_round_trip (schema);
  check_signature (schema);
  check_defaults_match (schema);
  return 0;
}
