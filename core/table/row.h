/* SPDX-License-Identifier: MIT
 *
 * row.h: the table's own structures. Everything here is under xp_table_lock unless it says
 * otherwise. The lock is a leaf: nothing is called under it that could wait, load, or call back.
 */
#pragma once

#include "keys/backends.h"
#include "table/takes.h"

#include <crosspoint/direct.h>
#include <crosspoint/table.h>

extern GMutex xp_table_lock;

typedef struct Row Row;
typedef struct Head Head;
typedef struct Registration Registration;

/**
 * XpOwner:
 *
 * Whose registrations they are: a plugin, the core, or the program. Lives as long as the process.
 */
typedef struct
{
  char *name;
  int priority;
  bool is_away;         /* a plugin that is not loaded, or about to leave: it may not register */
  const char *refusal;  /* interned: why one that came in by itself may never register, or NULL */
  GPtrArray *libraries; /* XpLibrary: what it has registered, in order */
} XpOwner;

void xp_owner_init (XpOwner *owner, const char *name, int priority);

/* The owner of the code at @address: a plugin through the hook below, else the program. While a
 * plugin is loaded on this thread, NULL for code that is not its own; the load fails then. */
XpOwner *xp_owner_at (const void *address);
/* The same of a constructor's block, where @linked is NULL or the plugin it says it is of. */
XpOwner *xp_owner_of_block (const void *block, const XpLinkedPlugin *linked);
/* Gives the program where it is nobody's. */
extern XpOwner *(*xp_owner_at_hook) (const void *address, const XpLinkedPlugin *linked);
bool xp_owner_is_away (const XpOwner *owner);
extern XpOwner xp_core_owner, xp_program_owner;

/* A handle to one registration: a cell of its own, which calls read as they read a row's. Under
 * xp_table_lock but for @kernel, which is read without it. */
struct XpKernelHandle
{
  unsigned n_references;
  const XpKernel *kernel; /* NULL once it is out of the table */
  XpOperator *op;
  XpKey key;
  char *plugin;
  char *location;
};

/* A kernel on a key of a row, or, without a row, a fallback. Frames point to its first member. */
struct Registration
{
  XpKernel kernel;
  XpKey key;
  Row *row;
  XpOwner *owner;
  unsigned preference; /* how strongly the user prefers it; 0 where he does not */
  int priority;
  bool is_fallthrough;
  uint32_t flags;
  uint64_t sequence;
  char *location; /* registered at FILE:LINE */
  char *file;
  int line;
  char *signature;       /* NULL where it does not say */
  Takes *takes;          /* NULL where it takes all that its schema allows */
  XpBoxedFunction boxed; /* its own; with takes, the kernel's stands before it */
  GDestroyNotify destroy;
  XpKernelHandle *handle; /* where somebody has one; not counted */
};

typedef struct
{
  XpSchema *schema;
  char *signature;
  char *location;
  char *file;
  char *tags;
  char *description;
  int line;
  XpAliasAnalysis alias_analysis;
  XpOwner *owner;
} Definition;

/* The cells of a row, as many as it needed when they were allocated. */
typedef struct Block Block;
struct Block
{
  Block *older; /* which readers may still look at; there are at most eight */
  unsigned n_stripes;
  _Alignas(64) XpCell cells[];
};

/* The head of a row for one signature. */
struct Head
{
  XpOperator op;
  Row *row;
  Head *next;
  char *signature;
  uint64_t optional_results;  /* a bit for each that may be None */
  uint64_t written_arguments; /* as the row's definition annotates them */
  uint64_t viewed_arguments;  /* that have an alias set and are not written */
  bool takes_mixed_devices;   /* as its tag says */
  Block *block;               /* the newest, NULL while the row had no kernels */
};

/* A name. Rows stay, so that handles do; a row is there while it has a definition or registrations.
 */
struct Row
{
  char *name;
  size_t name_length;
  size_t hash; /* of the name */
  Definition *definition;
  GPtrArray *registrations; /* Registration, by key, then by rank, the active one first */
  Head *heads;
  Head *live; /* the one for the definition's signature; read without the lock */
  bool is_dirty;
};

static inline bool
row_is_there (const Row *row)
{
  return row->definition != NULL || row->registrations->len > 0;
}

void xp_owners_begin (void);
void xp_heads_begin (void);

/* --- names.c: the index of names. Lookup takes no lock. --- */
Row *xp_row_find (const char *name);
Row *xp_row_make (const char *name);
typedef void (*XpRowVisitor) (Row *row, void *data);
void xp_rows_visit (XpRowVisitor visit, void *data);

/* --- heads.c: heads and their cells. --- */
Head *xp_head_make (Row *row, const char *signature);
/* Publishes what the rules say of @row in its live head, and that the others have no row. */
void xp_row_publish (Row *row);
/* Publishes what the rules say of a row without kernels, for all of those. */
void xp_bare_rows_publish (void);
/* Where the cell of a runtime key lies in a block. */
unsigned xp_key_cell_index (XpKey key);

/* --- preferences.c: what the user prefers; preferences.h has the rest. --- */
/* How strongly the table's preferences prefer @registration, whose row is known. */
unsigned xp_preference_rank (const Registration *registration);
/* The text of the one that does, or NULL. */
const char *xp_preference_text (const Registration *registration);

/* --- info.c --- */
void xp_registration_info_init (XpRegistrationInfo *info, const Registration *registration,
                                bool is_active);

/* --- signatures.c --- */
/* Whether what the kernel says of its signature can be understood. */
gboolean xp_signature_check_readable (const char *row_name, const Registration *registration,
                                      GError **error);
/* Whether a kernel takes what the schema says. One that does not say is believed. */
gboolean xp_signature_check (const char *row_name, const Definition *definition,
                             const Registration *registration, GError **error);

/* --- compute.c: the rules. --- */
typedef struct
{
  const Registration *registration; /* NULL for AMBIGUOUS and MISSING */
  XpRule rule;
} Cell;
/* What rules 1 to 4 of reference 3.1 say of one cell. */
Cell xp_row_cell (const Row *row, XpKey key);
/* Every registration that could serve @key, best first: the rest of the cell, then lower rules. */
void xp_row_candidates (const Row *row, XpKey key, GPtrArray *candidates);
/* All cells of @row, into a block of @n_stripes stripes, which are enough for xp_row_backends. */
void xp_row_compute (const Row *row, XpCell *cells, unsigned n_stripes);

/* --- fallbacks.c: the fallbacks of all rows. --- */
extern GPtrArray *xp_fallbacks; /* Registration, by key, then by rank */
const Registration *xp_fallback_for (XpKey key);
/* All that serve @key, best first. */
void xp_fallbacks_for (XpKey key, GPtrArray *found);
/* Whether there is a key that both serve. */
bool xp_fallbacks_meet (const Registration *a, const Registration *b);
/* Puts the fallbacks' kernels into a block; every other cell gets the missing kernel. */
void xp_fallbacks_fill (XpCell *cells, unsigned n_stripes);
/* @added are the backends that come into use with this change. */
void xp_fallbacks_changed (uint64_t added);

/* What all rows were last computed for: the backends in use, and those that were given back and
 * still had tensors. Bits are reserved and die at any time; these change with the fallbacks only,
 * as they do whenever a device comes or goes. */
extern uint64_t xp_row_backends, xp_row_stale;

/* --- devices.c: named backends. --- */
/* Who registered the device; for one that was given back, who had. */
const XpOwner *xp_device_owner (XpBackend backend);

/* --- special.c: the kernels that stand in cells without one. The call layer gives them code. ---
 */
typedef enum
{
  XP_SPECIAL_MISSING,
  XP_SPECIAL_AMBIGUOUS,
  XP_SPECIAL_FALLTHROUGH,
  XP_SPECIAL_STALE_DEVICE,
  XP_SPECIAL_UNKNOWN_OPERATOR,
  XP_SPECIAL_SIGNATURE,
  XP_N_SPECIALS
} XpSpecial;
extern XpKernel xp_special_kernels[XP_N_SPECIALS];

/* What stands before a kernel that does not take all that its schema allows. */
extern XpBoxedFunction xp_guard;

static inline bool
kernel_is_special (const XpKernel *kernel)
{
  return kernel >= xp_special_kernels && kernel < xp_special_kernels + XP_N_SPECIALS;
}

/* What stands in a cell for @registration. */
static inline const XpKernel *
xp_registration_kernel (const Registration *registration)
{
  return registration->is_fallthrough ? &xp_special_kernels[XP_SPECIAL_FALLTHROUGH]
                                      : &registration->kernel;
}

/* The registration whose kernel it is; NULL for a special one. */
const Registration *xp_registration_of (const XpKernel *kernel);

/* --- registrations.c: ordered lists of registrations. --- */
/* Below 0 where @a ranks before @b: preferred more, then of higher priority, then newer. */
int xp_rank_compare (const Registration *a, const Registration *b);
/* Inserts by key, then rank. */
void xp_registrations_insert (GPtrArray *list, Registration *registration);
/* The first of @key, which is the active one; NULL where there is none. */
Registration *xp_registrations_active (const GPtrArray *list, XpKey key);
void xp_registration_free (Registration *registration);
/* Notes, under the lock, a registration that has left its block: a thread may still be inside. */
void xp_registration_linger (Registration *registration);
/* Adds the kernels of those noted that are @owner's, under the lock. */
void xp_registrations_lingering (const XpOwner *owner, GPtrArray *kernels);
/* Frees those noted that no thread is inside; the others wait for the next time. Their plugins are
 * pinned meanwhile. Not under the lock. */
void xp_registrations_retire (void);
extern GMutex xp_retire_lock;
