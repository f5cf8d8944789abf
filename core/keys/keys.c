/* SPDX-License-Identifier: MIT
 *
 * keys.c: single dispatch keys: their names, both ways, and their orders.
 */
#include "keys/keys.h"

#include <string.h>

#define FUNCTIONALITY_NAME(name, number) [number] = #name,
static const char *const functionality_names[] = { XP_FUNCTIONALITY_LIST (FUNCTIONALITY_NAME) };

#define ALIAS_NAME(name, number) [number] = #name,
static const char *const alias_names[] = { XP_ALIAS_LIST (ALIAS_NAME) };

const XpPerBackend xp_per_backend[XP_N_PER_BACKEND] = {
#define PER_BACKEND(functionality, prefix) { XP_FUNCTIONALITY_##functionality, #prefix },
  XP_PER_BACKEND_LIST (PER_BACKEND)
};

const char *
xp_key_name (XpKey key)
{
  if (xp_key_is_alias (key))
    {
      unsigned number = key & ~XP_KEY_ALIAS_BIT_;
      return number < XP_LENGTH (alias_names) ? alias_names[number] : "UnknownUnknown";
    }
  unsigned functionality = xp_key_functionality (key);
  int backend = xp_key_backend (key);
  if (key >> 16 != 0 || functionality >= XP_N_FUNCTIONALITIES || backend > 63)
    return "UnknownUnknown";
  if (backend < 0)
    return functionality_names[functionality];
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    if (xp_per_backend[i].functionality == functionality)
      {
        const char *name = xp_backend_key_name ((XpBackend) backend, i);
        return name != NULL ? name : "UnknownUnknown";
      }
  return "UnknownUnknown";
}

/* The number of single-character edits between two names; names are short. */
unsigned
xp_text_distance (const char *a, const char *b)
{
  size_t n = strlen (a), m = strlen (b);
  if (n > 255 || m > 255)
    return 255;
  unsigned short row[256];
  for (size_t j = 0; j <= m; j++)
    row[j] = (unsigned short) j;
  for (size_t i = 1; i <= n; i++)
    {
      unsigned short diagonal = row[0];
      row[0] = (unsigned short) i;
      for (size_t j = 1; j <= m; j++)
        {
          unsigned short above = row[j];
          unsigned cost = g_ascii_tolower (a[i - 1]) != g_ascii_tolower (b[j - 1]);
          row[j] = (unsigned short) MIN (MIN (row[j] + 1, row[j - 1] + 1), (int) (diagonal + cost));
          diagonal = above;
        }
    }
  return row[m];
}

void
xp_text_neighbours_init (XpTextNeighbours *neighbours, const char *text)
{
  *neighbours = (XpTextNeighbours){ .text = text };
}

void
xp_text_neighbours_add (XpTextNeighbours *neighbours, const char *name)
{
  unsigned distance = xp_text_distance (neighbours->text, name);
  if (distance > 2 + strlen (neighbours->text) / 4)
    return;
  unsigned at = neighbours->n;
  while (at > 0 && neighbours->distances[at - 1] > distance)
    at--;
  if (at >= XP_LENGTH (neighbours->names) - 1)
    return;
  for (unsigned i = MIN (neighbours->n, XP_LENGTH (neighbours->names) - 2); i > at; i--)
    {
      neighbours->names[i] = neighbours->names[i - 1];
      neighbours->distances[i] = neighbours->distances[i - 1];
    }
  neighbours->names[at] = name;
  neighbours->distances[at] = distance;
  neighbours->n = MIN (neighbours->n + 1, (unsigned) XP_LENGTH (neighbours->names) - 1);
}

static XpKey
find_key (const char *name)
{
  for (unsigned i = 0; i < XP_LENGTH (functionality_names); i++)
    if (strcmp (functionality_names[i], name) == 0)
      return i;
  for (unsigned i = 0; i < XP_LENGTH (alias_names); i++)
    if (strcmp (alias_names[i], name) == 0)
      return XP_KEY_ALIAS_BIT_ | i;
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    {
      if (!g_str_has_prefix (name, xp_per_backend[i].prefix))
        continue;
      int backend = xp_backend_find (name + strlen (xp_per_backend[i].prefix));
      if (backend >= 0)
        return xp_key_of (xp_per_backend[i].functionality, (unsigned) backend);
    }
  return XP_KEY_NONE;
}

gboolean
xp_key_parse (const char *name, XpKey *key, GError **error)
{
  g_return_val_if_fail (name != NULL && key != NULL, FALSE);
  *key = find_key (name);
  if (*key != XP_KEY_NONE)
    return TRUE;
  *key = XP_KEY_Undefined;

  XpTextNeighbours near;
  xp_text_neighbours_init (&near, name);
  for (unsigned i = 0; i < XP_LENGTH (functionality_names); i++)
    xp_text_neighbours_add (&near, functionality_names[i]);
  for (unsigned i = 0; i < XP_LENGTH (alias_names); i++)
    xp_text_neighbours_add (&near, alias_names[i]);
  uint64_t in_use = xp_backends_in_use ();
  for (unsigned backend = 0; backend < 64; backend++)
    for (unsigned i = 0; in_use >> backend & 1 && i < XP_N_PER_BACKEND; i++)
      {
        const char *other = xp_backend_key_name ((XpBackend) backend, i);
        if (other != NULL) /* it was in use a moment ago */
          xp_text_neighbours_add (&near, other);
      }
  g_autofree char *list = near.n > 0 ? g_strjoinv (", ", (char **) near.names) : NULL;
  xp_error_set (error, XP_ERROR_UNKNOWN_KEY,
                &(XpErrorDetails){ .key = (char *) name,
                                   .candidates = near.n > 0 ? (char **) near.names : NULL },
                "could not parse dispatch key: %s%s%s%s", name, list ? "; did you mean " : "",
                list ? list : "", list ? "?" : "; `crosspoint keys` lists them");
  return FALSE;
}

/* Functionalities first, then a block of backends for each per-backend functionality, then aliases;
 * a bare per-backend functionality stands with the functionalities. */
static unsigned
dump_position (XpKey key)
{
  if (xp_key_is_alias (key))
    return 0x20000 + (key & ~XP_KEY_ALIAS_BIT_);
  if (xp_key_backend (key) < 0)
    return key;
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    if (xp_per_backend[i].functionality == xp_key_functionality (key))
      return 0x10000 + i * 256 + xp_backend_position ((XpBackend) xp_key_backend (key));
  return 0x1ffff;
}

int
xp_key_compare (XpKey a, XpKey b)
{
  unsigned x = dump_position (a), y = dump_position (b);
  return x < y ? -1 : x > y;
}

XpKey *
xp_key_list_with (uint64_t backends, unsigned *n_keys)
{
  XpKeySet all = { xp_key_set_full ().functionality, backends };
  unsigned n;
  g_autofree XpKey *keys = xp_key_set_keys (all, &n);
  XpKey *list = g_new (XpKey, n + 1);
  list[0] = XP_KEY_Undefined;
  memcpy (list + 1, keys, n * sizeof *keys);
  *n_keys = n + 1;
  return list;
}

XpKey *
xp_key_list (unsigned *n_keys)
{
  g_return_val_if_fail (n_keys != NULL, NULL);
  return xp_key_list_with (xp_backends_in_use (), n_keys);
}
