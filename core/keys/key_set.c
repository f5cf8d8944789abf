/* SPDX-License-Identifier: MIT
 *
 * key_set.c: the keys of a set, in set order, and its text.
 */
#include "keys/keys.h"

XpKey *
xp_key_set_keys (XpKeySet set, unsigned *n_keys)
{
  g_return_val_if_fail (n_keys != NULL, NULL);
  uint8_t order[64];
  unsigned n_backends = xp_backends_in_order (order);
  XpKey *keys = g_new (XpKey, XP_N_FUNCTIONALITIES + XP_N_PER_BACKEND * 64);
  unsigned n = 0;
  for (unsigned f = 1; f < XP_N_FUNCTIONALITIES; f++)
    {
      if ((set.functionality >> f & 1) == 0)
        continue;
      if (!xp_functionality_is_per_backend ((XpFunctionality) f))
        keys[n++] = xp_key_of ((XpFunctionality) f, 0);
      else
        for (unsigned i = 0; i < n_backends; i++)
          if (set.backend >> order[i] & 1)
            keys[n++] = xp_key_of ((XpFunctionality) f, order[i]);
    }
  *n_keys = n;
  return keys;
}

char *
xp_key_set_to_string (XpKeySet set)
{
  unsigned n;
  g_autofree XpKey *keys = xp_key_set_keys (set, &n);
  GString *text = g_string_new ("DispatchKeySet(");
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", xp_key_name (keys[i]));
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}
