/* SPDX-License-Identifier: MIT
 *
 * error.c: the error domain, its list, and the details that an error carries.
 */
#include <crosspoint/error.h>

#include <string.h>

typedef struct
{
  const char *name;
  const char *klass;
  const char *meaning;
  const char *next;
} ErrorFacts;

#define FACTS(code, klass, meaning, next) [XP_ERROR_##code] = { #code, klass, meaning, next },
static const ErrorFacts facts[] = { XP_ERROR_LIST (FACTS) };

/* Python's hierarchy, as far as the classes of the list go: each with its base. */
static const char *const bases[][2] = {
  { "NotImplementedError", "RuntimeError" },
  { "RecursionError", "RuntimeError" },
  { "RuntimeError", "Exception" },
  { "AssertionError", "Exception" },
  { "AttributeError", "Exception" },
  { "IndexError", "LookupError" },
  { "LookupError", "Exception" },
  { "ValueError", "Exception" },
  { "SyntaxError", "Exception" },
  { "MemoryError", "Exception" },
  { "FileNotFoundError", "OSError" },
  { "PermissionError", "OSError" },
  { "OSError", "Exception" },
};

typedef XpErrorDetails XpErrorPrivate;

static void
xp_error_private_init (G_GNUC_UNUSED XpErrorPrivate *details)
{
}

static void
xp_error_private_copy (const XpErrorPrivate *from, XpErrorPrivate *to)
{
  *to = (XpErrorPrivate){ g_strdup (from->op), g_strdup (from->key), g_strdup (from->argument),
                          g_strdup (from->plugin), g_strdupv (from->candidates) };
}

static void
xp_error_private_clear (XpErrorPrivate *details)
{
  g_free (details->op);
  g_free (details->key);
  g_free (details->argument);
  g_free (details->plugin);
  g_strfreev (details->candidates);
}

G_DEFINE_EXTENDED_ERROR (XpError, xp_error)

const XpErrorDetails *
xp_error_get_details (const GError *error)
{
  g_return_val_if_fail (error != NULL, NULL);
  return error->domain == XP_ERROR ? xp_error_get_private (error) : NULL;
}

void
xp_error_set (GError **error, XpError code, const XpErrorDetails *details, const char *format, ...)
{
  if (error == NULL)
    return;
  va_list arguments;
  va_start (arguments, format);
  GError *made = g_error_new_valist (XP_ERROR, code, format, arguments);
  va_end (arguments);
  if (details != NULL)
    xp_error_private_copy (details, xp_error_get_private (made));
  g_propagate_error (error, made);
}

static const ErrorFacts *
facts_of (XpError code)
{
  static const ErrorFacts unknown = { "UNKNOWN", "Exception", "", "" };
  return (unsigned) code < XP_N_ERRORS ? &facts[code] : &unknown;
}

const char *
xp_error_name (XpError code)
{
  return facts_of (code)->name;
}

const char *
xp_error_class (XpError code)
{
  return facts_of (code)->klass;
}

const char *
xp_error_meaning (XpError code)
{
  return facts_of (code)->meaning;
}

const char *
xp_error_next_step (XpError code)
{
  return facts_of (code)->next;
}

gboolean
xp_error_is_a (XpError code, const char *name)
{
  g_return_val_if_fail (name != NULL, FALSE);
  const char *klass = xp_error_class (code);
  for (;;)
    {
      if (strcmp (klass, name) == 0)
        return TRUE;
      unsigned i = 0;
      while (i < XP_LENGTH (bases) && strcmp (bases[i][0], klass) != 0)
        i++;
      if (i == XP_LENGTH (bases))
        return FALSE;
      klass = bases[i][1];
    }
}
