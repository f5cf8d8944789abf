/* SPDX-License-Identifier: MIT
 *
 * commute.h: the harness of PyTorch's test_dispatch.py: steps of registration on one operator are
 * made in every order, and for each order released in every order.
 */
#pragma once

#include "table/blocks.h"

enum
{
  MOST_STEPS = 6
};

/* A step, in a block of its own: a definition, a kernel, or the two together. */
typedef struct
{
  const char *schema;    /* what it defines, or NULL */
  const char *key;       /* where its kernel goes, "" for the catch-all; NULL for no kernel */
  const char *signature; /* of a typed kernel */
  XpAliasAnalysis alias_analysis;
  bool is_fallthrough;
  bool is_fallback; /* for every operator */
} Step;

/* Cases. The operator is __test__::foo; kernels stand at "/dev/null:N" where N counts the steps. */
typedef struct
{
  unsigned n;
  bool in_this_order; /* registered as they stand; still released in every order */
  const char *row;    /* the schema of one that is there before and after all steps, or NULL */
  Step steps[MOST_STEPS];
  /* With all steps made, a letter for each of commute_columns: k kernel, m math, d default backend,
   * n nested, a autograd, F fallback, A ambiguous, - missing. NULL where it is not told. */
  const char *cells;
  const char *dump; /* and the dump, or NULL */
} Commute;

extern const char *const commute_columns[];

/* After every step the dump and the computed table are those first seen with the same steps made,
 * and what is stored is what the rules say. */
void commute (const Commute *steps);

/* One step is refused, whatever the order, with the same error; the table is then, byte for byte,
 * what it was before that step. */
void commute_fails (const Commute *steps, XpError code, const char *key, const char *message);

#define SCHEMA "foo(Tensor x) -> Tensor"
#define SIGNATURE "(Tensor _0) -> Tensor _0"
#define DEF                                                                                        \
  {                                                                                                \
    .schema = SCHEMA, .alias_analysis = XP_ALIAS_ANALYSIS_FROM_SCHEMA                              \
  }
/* What upstream infers from a function: a definition and the catch-all at once. */
#define INFERRED_DEF                                                                               \
  {                                                                                                \
    .schema = "foo(Tensor _0) -> Tensor _0", .key = "", .signature = SIGNATURE,                    \
    .alias_analysis = XP_ALIAS_ANALYSIS_CONSERVATIVE                                               \
  }
#define KERNEL(name)                                                                               \
  {                                                                                                \
    .key = name, .signature = SIGNATURE                                                            \
  }
#define IMPLICIT KERNEL ("CompositeImplicitAutograd")
#define EXPLICIT KERNEL ("CompositeExplicitAutograd")
