/* SPDX-License-Identifier: MIT
 *
 * takes.h: what a kernel says that it takes: dtypes, contiguous tensors, no overlapping memory
 * (XpImplementation.takes).
 */
#pragma once

#include <crosspoint/library.h>
#include <crosspoint/schema.h>
#include <stdbool.h>

/* Of one argument. */
typedef struct
{
  uint32_t dtypes; /* a bit for each; 0 for any */
  bool contiguous;
} ArgumentTakes;

/* Of all arguments of a schema. A call may still read an older one. */
typedef struct TakesOfSchema TakesOfSchema;
struct TakesOfSchema
{
  TakesOfSchema *older;
  unsigned n_arguments;
  ArgumentTakes arguments[];
};

/* What a clause of the text says of an argument that it names. */
typedef struct
{
  char *argument;
  ArgumentTakes takes;
} TakesClause;

typedef struct
{
  char *text;
  GArray *clauses; /* TakesClause */
  ArgumentTakes of_others;
  bool no_overlap;
  bool refuses;             /* does not have copies made */
  TakesOfSchema *of_schema; /* NULL until a schema was known; read without the lock */
  uint64_t n_copies;        /* atomic */
} Takes;

/* Takes the text apart; NULL with INVALID_REGISTRATION. */
Takes *xp_takes_parse (const char *text, GError **error);
void xp_takes_free (Takes *takes);

/* Finds the arguments that the clauses name in @schema. Under the table's lock. */
gboolean xp_takes_resolve (Takes *takes, const XpSchema *schema, GError **error);

/* The names of dtypes, as in "float32 or float64"; (transfer full). */
char *xp_takes_dtypes_text (uint32_t dtypes);
