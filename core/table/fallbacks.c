/* SPDX-License-Identifier: MIT
 *
 * fallbacks.c: the kernels that serve every row which has nothing better. They stack as kernels in
 * a cell do; one that is registered to an alias key stands for every key of the alias.
 */
#include "table/row.h"

#include <string.h>

GPtrArray *xp_fallbacks;

uint64_t xp_row_backends, xp_row_stale;

/* What a row without registrations holds; as wide as a row can be. */
static XpCell template[XP_ROW_STRIPES + 64 * XP_ROW_STRIPE];

static bool
serves (const Registration *fallback, XpKey key)
{
  return fallback->key == key
         || (xp_key_is_alias (fallback->key) && xp_alias_contains (fallback->key, key));
}

static bool
outranks (const Registration *a, const Registration *b)
{
  return xp_rank_compare (a, b) < 0;
}

/* Whether two alias keys stand for a common key. */
static bool
aliases_meet (XpKey a, XpKey b)
{
  XpAliasCover x = xp_alias_cover (a), y = xp_alias_cover (b);
  bool meet = (x.functionality & y.functionality) != 0;
  for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
    meet |= (x.backends[i] & y.backends[i]) != 0;
  return meet;
}

bool
xp_fallbacks_meet (const Registration *a, const Registration *b)
{
  return serves (a, b->key) || serves (b, a->key)
         || (xp_key_is_alias (a->key) && xp_key_is_alias (b->key) && aliases_meet (a->key, b->key));
}

const Registration *
xp_fallback_for (XpKey key)
{
  const Registration *best = NULL;
  for (unsigned i = 0; i < xp_fallbacks->len; i++)
    {
      const Registration *fallback = xp_fallbacks->pdata[i];
      if (serves (fallback, key) && (best == NULL || outranks (fallback, best)))
        best = fallback;
    }
  return best;
}

void
xp_fallbacks_for (XpKey key, GPtrArray *found)
{
  unsigned first = found->len;
  for (unsigned i = 0; i < xp_fallbacks->len; i++)
    {
      Registration *fallback = xp_fallbacks->pdata[i];
      unsigned at = first;
      if (!serves (fallback, key))
        continue;
      while (at < found->len && outranks (found->pdata[at], fallback))
        at++;
      g_ptr_array_insert (found, (int) at, fallback);
    }
}

void
xp_fallbacks_changed (uint64_t added)
{
  unsigned n_keys;
  xp_row_backends = xp_backends_in_use () | added;
  xp_row_stale = xp_backends_given_back ();
  g_autofree XpKey *keys = xp_key_list_with (xp_row_backends, &n_keys);
  for (unsigned i = 0; i < XP_LENGTH (template); i++)
    template[i].kernel = &xp_special_kernels[XP_SPECIAL_MISSING];
  /* keys[0] is Undefined, which no fallback serves. */
  for (unsigned i = 1; i < n_keys; i++)
    {
      const Registration *fallback = xp_fallback_for (keys[i]);
      if (fallback != NULL)
        template[xp_key_cell_index (keys[i])].kernel = xp_registration_kernel (fallback);
    }
  for (uint64_t stale = xp_row_stale; stale != 0; stale &= stale - 1)
    for (unsigned i = 0; i < XP_N_PER_BACKEND; i++)
      {
        XpKey key = xp_key_of (xp_per_backend[i].functionality, (unsigned) __builtin_ctzll (stale));
        template[xp_key_cell_index (key)].kernel = &xp_special_kernels[XP_SPECIAL_STALE_DEVICE];
      }
}

void
xp_fallbacks_fill (XpCell *cells, unsigned n_stripes)
{
  memcpy (cells, template, (XP_ROW_STRIPES + n_stripes * XP_ROW_STRIPE) * sizeof *cells);
}
