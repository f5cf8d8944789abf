/* SPDX-License-Identifier: MIT
 *
 * types.h: how the types of schemas are passed in C.
 */
#pragma once

#include <crosspoint.h>

/* One type of a schema in C. */
typedef struct
{
  const char *schema;  /* as a canonical signature prints it: `int[]?`; NULL for any other type */
  const char *c;       /* `const XpInts *` */
  const char *unbox;   /* the name after xp_unbox_ */
  const char *box;     /* the name after xp_box_, NULL where xp_value_tensor() does */
  const char *storage; /* what an optional value is kept in while it is unboxed, or NULL */
  bool makes_object;   /* boxing it makes an object that is to be given back */
} ArgumentType;

const ArgumentType *argument_type (const XpType *type);

/* Whether tensors that decide where a call goes may stand in a type that is passed as a value. */
bool type_has_tensors (const XpType *type);

/* A result in C. */
typedef struct
{
  const char *schema; /* NULL for lists and for any other type */
  const char *c;      /* what the caller's pointer points to */
  const char *tag;    /* what xp_unbox_results() is to check */
  const char *take;   /* the expression that takes it out of a value, with %s for the value */
  const char *give;   /* the expression that makes a value of it, with %s for the variable */
  const char *empty;  /* what it holds before */
  const char *clear;  /* the statement that gives it back after a failure, with %s, or NULL */
  const char *given;  /* whether a kernel has given it, with %s for the pointer; NULL: always */
} ResultType;

const ResultType *result_type (const XpType *type);
