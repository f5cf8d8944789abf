/* SPDX-License-Identifier: MIT
 *
 * dump.h: reading what PyTorch prints of its table: dumps of rows (reference 4.1) and fallbacks.
 */
#pragma once

#include "lines.h"

#include <crosspoint.h>

/* A line that was not understood, or not as a whole. */
typedef struct
{
  guint64 line;
  gboolean is_error; /* the text is damaged; else it is good, but holds what we do not know */
  char *message;
} DumpProblem;

/* A kernel on a key, or a fallback. */
typedef struct
{
  XpKey key;
  gboolean is_fallthrough;
  char *debug;
} DumpKernel;

/* One row of a dump; or, where @name is NULL, lines that belong to none. */
typedef struct
{
  char *name;
  guint64 line;       /* where it begins */
  GArray *kernels;    /* DumpKernel: of each key the active one */
  GArray *problems;   /* DumpProblem */
  guint n_unreported; /* problems beyond the first thousand */
} DumpRow;

void dump_row_init (DumpRow *row);
void dump_row_clear (DumpRow *row);

/* Reads the next row into @row, which is cleared before. FALSE where there is no more; before that
 * there may be a row that has nothing but problems. */
gboolean dump_read_row (Lines *lines, DumpRow *row);

/* Reads all that is left as fallbacks, a line each, as a computed table shows them. */
void dump_read_fallbacks (Lines *lines, DumpRow *fallbacks);

/* PyTorch's own fallbacks, without reading any. */
void dump_standard_fallbacks (DumpRow *fallbacks);

/* The kernel of @key; NULL where there is none. */
const DumpKernel *dump_row_find (const DumpRow *row, XpKey key);
