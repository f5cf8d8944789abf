/* SPDX-License-Identifier: MIT
 *
 * compute.c: which kernel is in which cell: the rules of reference 3.1.
 *
 * They stand here twice. xp_row_cell() answers for one cell, rule by rule, for people who ask;
 * xp_row_compute() fills a whole row, from the weakest rule to the strongest, for calls.
 * xp_table_check() compares the two.
 */
#include "table/row.h"

static const XpKey composite_aliases[] = { XP_KEY_CompositeExplicitAutogradNonFunctional,
                                           XP_KEY_CompositeExplicitAutograd };

static bool
has_direct (const Row *row, XpKey key)
{
  return xp_registrations_active (row->registrations, key) != NULL;
}

static bool
has_direct_for_autograd_other (const Row *row)
{
  for (unsigned i = 0; i < row->registrations->len; i++)
    {
      XpKey key = ((const Registration *) row->registrations->pdata[i])->key;
      if (!xp_key_is_alias (key) && xp_key_maps_to_autograd_other (key))
        return true;
    }
  return false;
}

static bool
has_direct_nested (const Row *row)
{
  for (unsigned i = 0; i < row->registrations->len; i++)
    if (xp_key_functionality (((const Registration *) row->registrations->pdata[i])->key)
        == XP_FUNCTIONALITY_NestedTensor)
      return true;
  return false;
}

/* Whether a kernel of the backend keeps composites out of the autograd key @key. */
static bool
has_backend_kernel (const Row *row, XpKey key)
{
  if (has_direct (row, XP_KEY_CompositeExplicitAutograd))
    return true;
  switch (xp_key_functionality (key))
    {
    case XP_FUNCTIONALITY_AutogradFunctionality:
      {
        XpBackend backend = (XpBackend) xp_key_backend (key);
        return xp_autograd_has_own_backend (backend)
               && has_direct (row, xp_key_of (XP_FUNCTIONALITY_Dense, backend));
      }
    case XP_FUNCTIONALITY_AutogradNestedTensor:
      return has_direct_nested (row);
    case XP_FUNCTIONALITY_AutogradOther:
      return has_direct_for_autograd_other (row);
    default:
      return false;
    }
}

Cell
xp_row_cell (const Row *row, XpKey key)
{
  const Registration *found = NULL;
  bool undefined = key == XP_KEY_Undefined;
  if (!undefined && (found = xp_registrations_active (row->registrations, key)) != NULL)
    return (Cell){ found, XP_RULE_KERNEL };
  for (unsigned i = 0; i < XP_LENGTH (composite_aliases); i++)
    if ((undefined || xp_alias_contains (composite_aliases[i], key))
        && (found = xp_registrations_active (row->registrations, composite_aliases[i])) != NULL)
      return (Cell){ found, XP_RULE_DEFAULT_BACKEND };
  if (!undefined && xp_alias_contains (XP_KEY_CompositeImplicitAutogradNestedTensor, key)
      && (found = xp_registrations_active (row->registrations,
                                           XP_KEY_CompositeImplicitAutogradNestedTensor))
             != NULL)
    return (Cell){ found, XP_RULE_NESTED };
  if ((undefined || xp_alias_contains (XP_KEY_CompositeImplicitAutograd, key))
      && (found = xp_registrations_active (row->registrations, XP_KEY_CompositeImplicitAutograd))
             != NULL)
    {
      if (key == XP_KEY_AutogradOther && has_direct_for_autograd_other (row))
        return (Cell){ NULL, XP_RULE_AMBIGUOUS };
      if (!has_backend_kernel (row, key))
        return (Cell){ found, XP_RULE_MATH };
    }
  if (!undefined && xp_alias_contains (XP_KEY_Autograd, key)
      && (found = xp_registrations_active (row->registrations, XP_KEY_Autograd)) != NULL)
    return (Cell){ found, XP_RULE_AUTOGRAD };
  if (!undefined && xp_alias_contains (XP_KEY_FuncTorchBatchedDecomposition, key)
      && (found = xp_registrations_active (row->registrations,
                                           XP_KEY_FuncTorchBatchedDecomposition))
             != NULL)
    return (Cell){ found, XP_RULE_BATCHED };
  if (!undefined && (found = xp_fallback_for (key)) != NULL)
    return (Cell){ found, XP_RULE_FALLBACK };
  return (Cell){ NULL, XP_RULE_MISSING };
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
  bool undefined = key == XP_KEY_Undefined;
  if (!undefined)
    add_all (row->registrations, key, candidates);
  for (unsigned i = 0; i < XP_LENGTH (composite_aliases); i++)
    if (undefined || xp_alias_contains (composite_aliases[i], key))
      add_all (row->registrations, composite_aliases[i], candidates);
  if (!undefined && xp_alias_contains (XP_KEY_CompositeImplicitAutogradNestedTensor, key))
    add_all (row->registrations, XP_KEY_CompositeImplicitAutogradNestedTensor, candidates);
  if ((undefined || xp_alias_contains (XP_KEY_CompositeImplicitAutograd, key))
      && !has_backend_kernel (row, key))
    add_all (row->registrations, XP_KEY_CompositeImplicitAutograd, candidates);
  if (undefined)
    return;
  if (xp_alias_contains (XP_KEY_Autograd, key))
    add_all (row->registrations, XP_KEY_Autograd, candidates);
  if (xp_alias_contains (XP_KEY_FuncTorchBatchedDecomposition, key))
    add_all (row->registrations, XP_KEY_FuncTorchBatchedDecomposition, candidates);
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
    for (uint64_t bits = cover->backends[ordinal] & xp_backends_in_use (); bits != 0;
         bits &= bits - 1)
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
compute_masks (XpCell *cells)
{
  uint64_t unmasked = ~(uint64_t) 1;
  for (unsigned f = 1; f < XP_N_FUNCTIONALITIES; f++)
    if (is_passed_over (&cells[f]))
      unmasked &= ~XP_BIT (f);
  for (uint64_t bits = xp_backends_in_use (); bits != 0; bits &= bits - 1)
    {
      unsigned backend = (unsigned) __builtin_ctzll (bits);
      XpCell *stripe = stripe_cell (cells, backend, 0) - 1;
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
  compute_masks (cells);
}
