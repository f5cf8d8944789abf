/* SPDX-License-Identifier: MIT
 *
 * model.h: a model of the table, written from the reference alone, for random.c to compare with:
 * what stands in every cell (3.1), what a dump says (4.1), and where a key set leads (3.3, 7.1).
 */
#pragma once

#include "table/blocks.h"

enum
{
  MOST_STEPS = 16,
  MOST_PREFERENCES = 5,
  N_ROWS = 2,
  FALLBACK = N_ROWS, /* in place of a row: of all rows */
  N_OWNERS = 4
};

extern const char *const row_names[N_ROWS];
extern const char *const declarations[N_ROWS];

/* The program, and plugins that register for the test under their own name. */
typedef struct
{
  const char *name;
  int priority;
  Open open;
} Owner;

extern Owner owners[N_OWNERS];

/* A kernel; while it is registered it has a block. Its line grows with the time of registering. */
typedef struct
{
  XpKey key;
  unsigned row;
  unsigned owner;
  bool is_fallthrough;
  int line;
  XpLibrary *block;
} Step;

/* What a preference is for: a glob of operators and one of plugins, by their index, and a key, or
 * XP_KEY_Undefined for any. */
typedef struct
{
  unsigned op;
  unsigned plugin;
  XpKey key;
} Preferred;

enum
{
  N_OP_GLOBS = 6,
  N_PLUGIN_GLOBS = 6
};

typedef struct
{
  const char *glob;
  bool matches[N_ROWS + 1]; /* by row, the fallbacks last */
} OpGlob;

typedef struct
{
  const char *glob;
  bool matches[N_OWNERS];
} PluginGlob;

extern const OpGlob op_globs[N_OP_GLOBS];
extern const PluginGlob plugin_globs[N_PLUGIN_GLOBS];

typedef struct
{
  unsigned seed;
  GRand *random;
  int line;
  unsigned n;
  Step steps[MOST_STEPS];
  XpLibrary *definitions[N_ROWS];
  unsigned n_preferred;
  Preferred preferred[MOST_PREFERENCES]; /* the strongest first */
} Table;

/* What a cell holds. */
typedef struct
{
  XpRule rule;
  const Step *step; /* NULL: none, or the core's */
  bool is_fallthrough;
} Cell;

/* What the model says of a row, by functionality and backend; keys without one have backend 0. */
typedef Cell Cells[XP_N_FUNCTIONALITIES][64];

/* What a cell of a row holds. */
Cell model_cell (const Table *table, unsigned row, XpKey key);

/* The dump of a row; free with g_free(). */
char *model_dump (const Table *table, unsigned row);

/* The cell that a key set leads to, and its key. */
const Cell *model_cell_at (Cells cells, XpKeySet set, XpKey *key);

/* What is left of a key set when what is passed over for its highest backend is taken away. */
XpKeySet model_masked (Cells cells, XpKeySet set);
