/* SPDX-License-Identifier: MIT
 *
 * device.c: devices as texts. A device is named after its backend, in lower case.
 */
#include "keys/keys.h"

#include <crosspoint/dtype.h>
#include <string.h>

char *
xp_device_to_string (XpDevice device)
{
  const char *name = xp_backend_name ((XpBackend) device.backend);
  g_autofree char *lower = g_ascii_strdown (name != NULL ? name : "unknown", -1);
  return device.index < 0 ? g_steal_pointer (&lower)
                          : g_strdup_printf ("%s:%d", lower, device.index);
}

/* The digits after the colon; no sign, no leading zero, three digits at most. */
static gboolean
parse_index (const char *text, int32_t *index)
{
  size_t n = strlen (text);
  if (n == 0 || n > 3 || strspn (text, "0123456789") != n || (text[0] == '0' && n > 1))
    return FALSE;
  *index = (int32_t) g_ascii_strtoll (text, NULL, 10);
  return TRUE;
}

static void
set_unknown (const char *text, GError **error)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  uint8_t order[64];
  unsigned n = xp_backends_in_order (order);
  uint64_t in_use = xp_backends_in_use ();
  for (unsigned i = 0; i < n; i++)
    {
      const char *name = xp_backend_name ((XpBackend) order[i]);
      if (name != NULL && (in_use >> order[i] & 1) != 0)
        g_ptr_array_add (names, g_ascii_strdown (name, -1));
    }
  g_ptr_array_add (names, NULL);
  g_autofree char *list = g_strjoinv (", ", (char **) names->pdata);
  xp_error_set (
      error, XP_ERROR_INVALID_ARGUMENT, &(XpErrorDetails){ .candidates = (char **) names->pdata },
      "'%s' is no device: expected one of %s, with or without an index as in cuda:0", text, list);
  g_ptr_array_unref (names);
}

gboolean
xp_device_parse (const char *text, XpDevice *device, GError **error)
{
  g_return_val_if_fail (text != NULL && device != NULL, FALSE);
  const char *colon = strchr (text, ':');
  size_t n = colon != NULL ? (size_t) (colon - text) : strlen (text);
  *device = (XpDevice){ 0, -1 };
  uint64_t bits = xp_backends_in_use ();
  for (; bits != 0; bits &= bits - 1)
    {
      int bit = __builtin_ctzll (bits);
      const char *name = xp_backend_name ((XpBackend) bit);
      if (name == NULL || strlen (name) != n || g_ascii_strncasecmp (name, text, n) != 0
          || (colon != NULL && !parse_index (colon + 1, &device->index)))
        continue;
      for (size_t i = 0; i < n; i++)
        if (g_ascii_isupper (text[i]))
          goto unknown;
      device->backend = bit;
      return TRUE;
    }
unknown:
  set_unknown (text, error);
  return FALSE;
}
