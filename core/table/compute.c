/* SPDX-License-Identifier: MIT
 *
 * compute.c: which kernel is in which cell: the rules of reference 3.1.
 *
 * They stand here twice. xp_rule_for_cell() answers for one cell, rule by rule, for people who ask;
 * xp_row_compute() fills a whole row, from the weakest rule to the strongest, for calls.
 * xp_table_check() compares the two.
 */
#include "table/row.h"

/* The keys that a row has kernels for, alias keys among them, each once or more. */
typedef struct
{
  const XpKey *keys;
  unsigned n;
} Keys;

static bool
has (Keys kernels, XpKey key)
{
  for (unsigned i = 0; i < kernels.n; i++)
    if (kernels.keys[i] == key)
      return true;
  return false;
}

static bool
has_any (Keys kernels, bool (*test) (XpKey key))
{
  for (unsigned i = 0; i < kernels.n; i++)
    if (!xp_key_is_alias (kernels.keys[i]) && test (kernels.keys[i]))
      return true;
  return false;
}

static bool
is_nested (XpKey key)
{
  return xp_key_functionality (key) == XP_FUNCTIONALITY_NestedTensor;
}

/* Whether a kernel of the backend keeps composites out of the autograd key @key. */
static bool
has_backend_kernel (Keys kernels, XpKey key)
{
  if (has (kernels, XP_KEY_CompositeExplicitAutograd))
    return true;
  switch (xp_key_functionality (key))
    {
    case XP_FUNCTIONALITY_AutogradFunctionality:
      {
        XpBackend backend = (XpBackend) xp_key_backend (key);
        return xp_autograd_has_own_backend (backend)
               && (has (kernels, xp_key_of (XP_FUNCTIONALITY_Dense, backend))
                   || has (kernels, XP_KEY_Dense));
      }
    case XP_FUNCTIONALITY_AutogradNestedTensor:
      return has_any (kernels, is_nested);
    case XP_FUNCTIONALITY_AutogradOther:
      return has_any (kernels, xp_key_maps_to_autograd_other);
    default:
      return false;
    }
}

/* The aliases in the order in which they are asked, and the rule that each stands for. */
static const struct
{
  XpKey alias;
  XpRule rule;
  bool fills_undefined;
} alias_rules[] = {
  { XP_KEY_CompositeExplicitAutogradNonFunctional, XP_RULE_DEFAULT_BACKEND, true },
  { XP_KEY_CompositeExplicitAutograd, XP_RULE_DEFAULT_BACKEND, true },
  { XP_KEY_CompositeImplicitAutogradNestedTensor, XP_RULE_NESTED, false },
  { XP_KEY_CompositeImplicitAutograd, XP_RULE_MATH, true },
  { XP_KEY_Autograd, XP_RULE_AUTOGRAD, false },
  { XP_KEY_FuncTorchBatchedDecomposition, XP_RULE_BATCHED, false },
};

static bool
alias_serves (unsigned i, Keys kernels, XpKey key)
{
  return (key == XP_KEY_Undefined ? alias_rules[i].fills_undefined
                                  : xp_alias_contains (alias_rules[i].alias, key))
         && (alias_rules[i].rule != XP_RULE_MATH || !has_backend_kernel (kernels, key));
}

XpRule
xp_rule_for_cell (const XpKey *kernels, unsigned n_kernels, gboolean has_fallback, XpKey key,
                  XpKey *from)
{
  g_return_val_if_fail ((kernels != NULL || n_kernels == 0) && from != NULL, XP_RULE_MISSING);
  g_return_val_if_fail (xp_key_is_runtime (key), XP_RULE_MISSING);
  const Keys all = { kernels, n_kernels };
  *from = key;
  if (key != XP_KEY_Undefined && has (all, key))
    return XP_RULE_KERNEL;
  for (unsigned i = 0; i < XP_LENGTH (alias_rules); i++)
    {
      if (!has (all, alias_rules[i].alias))
        continue;
      if (alias_rules[i].rule == XP_RULE_MATH && key == XP_KEY_AutogradOther
          && has_any (all, xp_key_maps_to_autograd_other))
        return XP_RULE_AMBIGUOUS;
      if (alias_serves (i, all, key))
        {
          *from = alias_rules[i].alias;
          return alias_rules[i].rule;
        }
    }
  return key != XP_KEY_Undefined && has_fallback ? XP_RULE_FALLBACK : XP_RULE_MISSING;
}

/* The keys of the registrations, for rules to look at. */
static XpKey *
keys_of (const Row *row)
{
  XpKey *keys = g_new (XpKey, row->registrations->len + 1);
  for (unsigned i = 0; i < row->registrations->len; i++)
    keys[i] = ((const Registration *) row->registrations->pdata[i])->key;
  return keys;
}

Cell
xp_row_cell (const Row *row, XpKey key)
{
  g_autofree XpKey *keys = keys_of (row);
  const Registration *fallback = xp_fallback_for (key);
  XpKey from;
  XpRule rule = xp_rule_for_cell (keys, row->registrations->len, fallback != NULL, key, &from);
  switch (rule)
    {
    case XP_RULE_AMBIGUOUS:
    case XP_RULE_MISSING:
      return (Cell){ NULL, rule };
    case XP_RULE_FALLBACK:
      return (Cell){ fallback, rule };
    default:
      return (Cell){ xp_registrations_active (row->registrations, from), rule };
    }
}

static void
add_all (const GPtrArray *list, XpKey key, GPtrArray *candidates)
{
  for (unsigned i = 0; i < list->len; i++)
    if (((const Registration *) list->pdata[i])->key == key)
      g_ptr_array_add (candidates, list->pdata[i]);
}

void
xp_row_candidates (const Row *row, XpKey key, GPtrArray *candidates)
{
  g_autofree XpKey *keys = keys_of (row);
  const Keys kernels = { keys, row->registrations->len };
  if (key != XP_KEY_Undefined)
    add_all (row->registrations, key, candidates);
  for (unsigned i = 0; i < XP_LENGTH (alias_rules); i++)
    if (alias_serves (i, kernels, key))
      add_all (row->registrations, alias_rules[i].alias, candidates);
  if (key != XP_KEY_Undefined)
    xp_fallbacks_for (key, candidates);
}

/* --- The whole row. --- */

/* The ordinals of XP_PER_BACKEND_LIST that the rules name. */
enum
{
  DENSE = 0,
  NESTED_TENSOR = 4,
  AUTOGRAD = 5
};

static XpCell *
stripe_cell (XpCell *cells, unsigned backend, unsigned ordinal)
{
  return &cells[XP_ROW_STRIPES + ((backend + 1) & 63) * XP_ROW_STRIPE + 1 + ordinal];
}

static void
fill (XpCell *cells, const XpAliasCover *cover, const XpKernel *kernel)
{
  for (uint64_t bits = cover->functionality; bits != 0; bits &= bits - 1)
    cells[__builtin_ctzll (bits)].kernel = kernel;
  for (unsigned ordinal = 0; ordinal < XP_N_PER_BACKEND; ordinal++)
    for (uint64_t bits = cover->backends[ordinal] & xp_row_backends; bits != 0; bits &= bits - 1)
      stripe_cell (cells, (unsigned) __builtin_ctzll (bits), ordinal)->kernel = kernel;
}

/* The active registrations of a row, taken apart once for the rules. */
typedef struct
{
  const XpKernel *aliases[6];
  uint64_t dense_backends; /* with a direct dense kernel that keeps composites from its autograd */
  bool has_nested;
  bool has_autograd_other;
} Actives;

static void
take_apart (const Row *row, Actives *actives)
{
  *actives = (Actives){ { NULL }, 0, false, false };
  for (unsigned i = 0; i < row->registrations->len; i++)
    {
      const Registration *registration = row->registrations->pdata[i];
      XpKey key = registration->key;
      if (xp_key_is_alias (key))
        {
          const XpKernel **slot = &actives->aliases[key ^ XP_KEY_ALIAS_BIT_];
          if (*slot == NULL)
            *slot = xp_registration_kernel (registration);
          continue;
        }
      XpFunctionality functionality = xp_key_functionality (key);
      if (functionality == XP_FUNCTIONALITY_Dense
          && xp_autograd_has_own_backend ((XpBackend) xp_key_backend (key)))
        actives->dense_backends |= XP_BIT (xp_key_backend (key));
      actives->has_nested |= functionality == XP_FUNCTIONALITY_NestedTensor;
      actives->has_autograd_other |= xp_key_maps_to_autograd_other (key);
    }
}

#define ALIAS(name) (actives->aliases[XP_KEY_##name ^ XP_KEY_ALIAS_BIT_])

static void
fill_implicit (XpCell *cells, const Actives *actives)
{
  const XpKernel *kernel = ALIAS (CompositeImplicitAutograd);
  if (kernel == NULL)
    return;
  if (ALIAS (CompositeExplicitAutograd) == NULL)
    {
      XpAliasCover cover = xp_alias_cover (XP_KEY_CompositeImplicitAutograd);
      cover.functionality |= XP_BIT (XP_FUNCTIONALITY_Undefined);
      cover.backends[AUTOGRAD] &= ~actives->dense_backends;
      if (actives->has_nested)
        cover.functionality &= ~XP_BIT (XP_FUNCTIONALITY_AutogradNestedTensor);
      fill (cells, &cover, kernel);
    }
  if (actives->has_autograd_other)
    cells[XP_FUNCTIONALITY_AutogradOther].kernel = &xp_special_kernels[XP_SPECIAL_AMBIGUOUS];
}

static void
fill_alias (XpCell *cells, XpKey alias, const XpKernel *kernel, bool undefined)
{
  if (kernel == NULL)
    return;
  XpAliasCover cover = xp_alias_cover (alias);
  if (undefined)
    cover.functionality |= XP_BIT (XP_FUNCTIONALITY_Undefined);
  fill (cells, &cover, kernel);
}

static bool
is_passed_over (const XpCell *cell)
{
  return cell->kernel == &xp_special_kernels[XP_SPECIAL_FALLTHROUGH];
}

static void
compute_masks (XpCell *cells, unsigned n_stripes)
{
  uint64_t unmasked = ~(uint64_t) 1;
  for (unsigned f = 1; f < XP_N_FUNCTIONALITIES; f++)
    if (is_passed_over (&cells[f]))
      unmasked &= ~XP_BIT (f);
  for (unsigned i = 0; i < n_stripes; i++)
    {
      XpCell *stripe = &cells[XP_ROW_STRIPES + i * XP_ROW_STRIPE];
      stripe->unmasked = unmasked;
      for (unsigned ordinal = 0; ordinal < XP_N_PER_BACKEND; ordinal++)
        if (is_passed_over (&stripe[1 + ordinal]))
          stripe->unmasked &= ~XP_BIT (xp_per_backend[ordinal].functionality);
    }
}

void
xp_row_compute (const Row *row, XpCell *cells, unsigned n_stripes)
{
  Actives all;
  const Actives *actives = &all;
  take_apart (row, &all);
  xp_fallbacks_fill (cells, n_stripes);
  fill_alias (cells, XP_KEY_FuncTorchBatchedDecomposition, ALIAS (FuncTorchBatchedDecomposition),
              false);
  fill_alias (cells, XP_KEY_Autograd, ALIAS (Autograd), false);
  fill_implicit (cells, actives);
  fill_alias (cells, XP_KEY_CompositeImplicitAutogradNestedTensor,
              ALIAS (CompositeImplicitAutogradNestedTensor), false);
  fill_alias (cells, XP_KEY_CompositeExplicitAutograd, ALIAS (CompositeExplicitAutograd), true);
  fill_alias (cells, XP_KEY_CompositeExplicitAutogradNonFunctional,
              ALIAS (CompositeExplicitAutogradNonFunctional), true);
  for (unsigned i = row->registrations->len; i-- > 0;)
    {
      const Registration *registration = row->registrations->pdata[i];
      if (!xp_key_is_alias (registration->key))
        cells[xp_key_cell_index (registration->key)].kernel = xp_registration_kernel (registration);
    }
  compute_masks (cells, n_stripes);
}
