/* SPDX-License-Identifier: MIT
 *
 * model.c: the rules of the reference again, one cell at a time.
 */
#include "table/model.h"

#include <string.h>

const char *const row_names[N_ROWS] = { "model::foo", "model::bar.over" };
const char *const declarations[N_ROWS] = { "foo(Tensor x) -> ()", "bar.over(Tensor x) -> ()" };

Owner owners[N_OWNERS] = {
  { "the program", 0, xp_library_new },
  { "opener_low", -3, NULL },
  { "opener_middle", 0, NULL },
  { "opener_high", 7, NULL },
};

const OpGlob op_globs[N_OP_GLOBS] = {
  { "*", { true, true, true } },
  { "model::*", { true, true, false } },
  { "model::foo", { true, false, false } },
  { "model::bar", { false, true, false } },
  { "*.over", { false, true, false } },
  { "_", { false, false, true } },
};

const PluginGlob plugin_globs[N_PLUGIN_GLOBS] = {
  { "the program", { true, false, false, false } },
  { "opener_low", { false, true, false, false } },
  { "opener_middle", { false, false, true, false } },
  { "opener_high", { false, false, false, true } },
  { "opener_*", { false, true, true, true } },
  { "*_?i*", { false, false, true, true } },
};

/* --- Sets of keys (reference 2). --- */

#define F(name) XP_BIT (XP_FUNCTIONALITY_##name)
#define OTHER_BACKENDS                                                                             \
  (F (FPGA) | F (Vulkan) | F (Metal) | F (CustomRNGKeyId) | F (MkldnnCPU) | F (Sparse)             \
   | F (SparseCsr) | F (Quantized))
#define BACKENDS (OTHER_BACKENDS | F (Dense))
#define AUTOGRAD (F (AutogradOther) | F (AutogradFunctionality) | F (AutogradNestedTensor))

/* In the order in which they are asked (reference 3.1). */
static const struct
{
  XpKey alias;
  XpRule rule;
  bool has_undefined;
  uint64_t functionalities;
  uint64_t without_backends;
} aliases[] = {
  { XP_KEY_CompositeExplicitAutogradNonFunctional, XP_RULE_DEFAULT_BACKEND, true,
    BACKENDS & ~F (Sparse), XP_BIT (XP_BACKEND_XLA) | XP_BIT (XP_BACKEND_Lazy) },
  { XP_KEY_CompositeExplicitAutograd, XP_RULE_DEFAULT_BACKEND, true, BACKENDS, 0 },
  { XP_KEY_CompositeImplicitAutogradNestedTensor, XP_RULE_NESTED, false,
    F (NestedTensor) | F (AutogradNestedTensor), 0 },
  { XP_KEY_CompositeImplicitAutograd, XP_RULE_MATH, true, BACKENDS | AUTOGRAD | F (NestedTensor),
    0 },
  { XP_KEY_Autograd, XP_RULE_AUTOGRAD, false, AUTOGRAD, 0 },
  { XP_KEY_FuncTorchBatchedDecomposition, XP_RULE_BATCHED, false, F (FuncTorchBatched), 0 },
};

static bool
is_in (XpKey key, uint64_t functionalities)
{
  return key != XP_KEY_Undefined && (functionalities >> xp_key_functionality (key) & 1) != 0;
}

static bool
covers (unsigned alias, XpKey key)
{
  int backend = xp_key_backend (key);
  return is_in (key, aliases[alias].functionalities)
         && (backend < 0 || (aliases[alias].without_backends >> backend & 1) == 0);
}

/* Fallthroughs of the core (7.5), of named backends too. */
static bool
is_passed_over_by_core (XpKey key)
{
  static const XpBackend without[] = { XP_BACKEND_HIP, XP_BACKEND_VE, XP_BACKEND_IPU,
                                       XP_BACKEND_PrivateUse2, XP_BACKEND_PrivateUse3 };
  if (xp_key_functionality (key) != XP_FUNCTIONALITY_AutogradFunctionality)
    return is_in (key, XP_AUTOCAST_MASK | F (BackendSelect) | F (ADInplaceOrView)
                           | F (AutogradOther) | F (FuncTorchVmapMode) | F (VmapMode));
  for (unsigned i = 0; i < G_N_ELEMENTS (without); i++)
    if (xp_key_backend (key) == (int) without[i])
      return false;
  return true;
}

/* --- Cells (reference 3.1). --- */

/* How strongly the first preference that is for it prefers a step; 0 for not at all. */
static unsigned
preference_of (const Table *table, const Step *step)
{
  for (unsigned i = 0; i < table->n_preferred; i++)
    {
      const Preferred *preferred = &table->preferred[i];
      if (op_globs[preferred->op].matches[step->row]
          && plugin_globs[preferred->plugin].matches[step->owner]
          && (preferred->key == XP_KEY_Undefined || preferred->key == step->key))
        return table->n_preferred - i;
    }
  return 0;
}

static bool
is_before (const Table *table, const Step *a, const Step *b)
{
  unsigned p = preference_of (table, a), q = preference_of (table, b);
  if (p != q)
    return p > q;
  int x = owners[a->owner].priority, y = owners[b->owner].priority;
  return x != y ? x > y : a->line > b->line;
}

static const Step *
active (const Table *table, unsigned row, XpKey key)
{
  const Step *best = NULL;
  for (unsigned i = 0; i < table->n; i++)
    {
      const Step *step = &table->steps[i];
      if (step->block != NULL && step->row == row && step->key == key
          && (best == NULL || is_before (table, step, best)))
        best = step;
    }
  return best;
}

static const Step *
active_fallback (const Table *table, XpKey key)
{
  const Step *best = key != XP_KEY_Undefined ? active (table, FALLBACK, key) : NULL;
  for (unsigned i = 0; i < G_N_ELEMENTS (aliases); i++)
    {
      const Step *step = active (table, FALLBACK, aliases[i].alias);
      if (step != NULL && covers (i, key) && (best == NULL || is_before (table, step, best)))
        best = step;
    }
  return best;
}

static bool
has_kernel_in (const Table *table, unsigned row, uint64_t functionalities)
{
  for (unsigned i = 0; i < table->n; i++)
    {
      const Step *step = &table->steps[i];
      if (step->block != NULL && step->row == row && !xp_key_is_alias (step->key)
          && is_in (step->key, functionalities))
        return true;
    }
  return false;
}

static bool
has_backend_kernel (const Table *table, unsigned row, XpKey key)
{
  if (active (table, row, XP_KEY_CompositeExplicitAutograd) != NULL)
    return true;
  switch (xp_key_functionality (key))
    {
    case XP_FUNCTIONALITY_AutogradOther:
      return has_kernel_in (table, row, OTHER_BACKENDS);
    case XP_FUNCTIONALITY_AutogradNestedTensor:
      return has_kernel_in (table, row, F (NestedTensor));
    case XP_FUNCTIONALITY_AutogradFunctionality:
      {
        int backend = xp_key_backend (key);
        return backend != XP_BACKEND_HIP && backend != XP_BACKEND_VE && backend != XP_BACKEND_MTIA
               && active (table, row, xp_key_of (XP_FUNCTIONALITY_Dense, (unsigned) backend))
                      != NULL;
      }
    default:
      return false;
    }
}

Cell
model_cell (const Table *table, unsigned row, XpKey key)
{
  const Step *step = key != XP_KEY_Undefined ? active (table, row, key) : NULL;
  if (step != NULL)
    return (Cell){ XP_RULE_KERNEL, step, step->is_fallthrough };
  for (unsigned i = 0; i < G_N_ELEMENTS (aliases); i++)
    {
      step = active (table, row, aliases[i].alias);
      bool is_covered = key == XP_KEY_Undefined ? aliases[i].has_undefined : covers (i, key);
      if (step == NULL || !is_covered)
        continue;
      if (aliases[i].rule == XP_RULE_MATH && key == XP_KEY_AutogradOther
          && has_kernel_in (table, row, OTHER_BACKENDS))
        return (Cell){ XP_RULE_AMBIGUOUS, NULL, false };
      if (aliases[i].rule != XP_RULE_MATH || !has_backend_kernel (table, row, key))
        return (Cell){ aliases[i].rule, step, step->is_fallthrough };
    }
  step = active_fallback (table, key);
  if (step != NULL)
    return (Cell){ XP_RULE_FALLBACK, step, step->is_fallthrough };
  bool by_core = is_passed_over_by_core (key);
  return (Cell){ by_core ? XP_RULE_FALLBACK : XP_RULE_MISSING, NULL, by_core };
}

/* --- Dumps. --- */

/* By name those that plugins have named, which stand before Meta. */
static int
compare_backends (int a, int b)
{
  bool both_named = MIN (a, b) >= XP_BACKEND_FIRST_NAMED && MAX (a, b) <= XP_BACKEND_LAST_NAMED;
  return both_named ? strcmp (xp_backend_name ((XpBackend) a), xp_backend_name ((XpBackend) b))
                    : a - b;
}

static int
place_in_dump (XpKey key)
{
  static const XpFunctionality blocks[] = {
    XP_FUNCTIONALITY_Dense,        XP_FUNCTIONALITY_Quantized,
    XP_FUNCTIONALITY_Sparse,       XP_FUNCTIONALITY_SparseCsr,
    XP_FUNCTIONALITY_NestedTensor, XP_FUNCTIONALITY_AutogradFunctionality
  };
  static const XpKey in_order[] = { XP_KEY_Autograd,
                                    XP_KEY_CompositeImplicitAutograd,
                                    XP_KEY_FuncTorchBatchedDecomposition,
                                    XP_KEY_CompositeImplicitAutogradNestedTensor,
                                    XP_KEY_CompositeExplicitAutograd,
                                    XP_KEY_CompositeExplicitAutogradNonFunctional };
  for (unsigned i = 0; i < G_N_ELEMENTS (in_order); i++)
    if (key == in_order[i])
      return 100000 + (int) i;
  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    if (xp_key_functionality (key) == blocks[i])
      return 1000 * ((int) i + 1);
  return (int) xp_key_functionality (key);
}

static int
compare_in_dump (const void *a, const void *b, void *table)
{
  const Step *x = *(const Step *const *) a, *y = *(const Step *const *) b;
  int by_key = place_in_dump (x->key) - place_in_dump (y->key);
  if (by_key == 0)
    by_key = compare_backends (xp_key_backend (x->key), xp_key_backend (y->key));
  return by_key != 0 ? by_key : is_before (table, x, y) ? -1 : 1;
}

char *
model_dump (const Table *table, unsigned row)
{
  const Step *sorted[MOST_STEPS];
  unsigned n = 0;
  for (unsigned i = 0; i < table->n; i++)
    if (table->steps[i].block != NULL && table->steps[i].row == row)
      sorted[n++] = &table->steps[i];
  if (n == 0 && table->definitions[row] == NULL)
    return g_strdup ("");
  g_qsort_with_data (sorted, (int) n, sizeof *sorted, compare_in_dump, (void *) table);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "name: %s\n", row_names[row]);
  if (table->definitions[row] == NULL)
    g_string_append (text, "schema: (none)\n");
  else
    g_string_append_printf (text,
                            "schema: model::%s\ndebug: registered at row.c:1\n"
                            "alias analysis kind: FROM_SCHEMA\n",
                            declarations[row]);
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s%s: registered at kernel.c:%d :: (none) [ %sboxed ]\n",
                            xp_key_name (sorted[i]->key),
                            xp_key_is_alias (sorted[i]->key) ? "[alias]" : "",
                            i > 0 && sorted[i - 1]->key == sorted[i]->key ? " (inactive)" : "",
                            sorted[i]->line, sorted[i]->is_fallthrough ? "fallthrough " : "");
  return g_string_free (text, FALSE);
}

/* --- Where a key set leads (reference 1.2, 3.3, 7.1). --- */

static int
highest_bit (uint64_t word)
{
  return word != 0 ? 63 - __builtin_clzll (word) : -1;
}

const Cell *
model_cell_at (Cells cells, XpKeySet set, XpKey *key)
{
  int functionality = MAX (highest_bit (set.functionality), 0);
  int backend = MAX (highest_bit (set.backend), XP_BACKEND_CPU);
  bool has_backend = (XP_PER_BACKEND_MASK >> functionality & 1) != 0;
  *key = xp_key_of ((XpFunctionality) functionality, (unsigned) backend);
  return &cells[functionality][has_backend ? backend : 0];
}

/* Takes away what is passed over for the highest backend. */
XpKeySet
model_masked (Cells cells, XpKeySet set)
{
  int backend = MAX (highest_bit (set.backend), XP_BACKEND_CPU);
  for (int f = 1; f < XP_N_FUNCTIONALITIES; f++)
    if (cells[f][XP_PER_BACKEND_MASK >> f & 1 ? backend : 0].is_fallthrough)
      set.functionality &= ~XP_BIT (f);
  return set;
}
