/* SPDX-License-Identifier: MIT
 *
 * transaction.h: a set of changes to the table that is made as a whole or not at all.
 *
 * What is to be removed goes first, then what is to be added, in order; the rows that changed are
 * computed and published once, at the end. Nothing is seen of a transaction that fails.
 */
#pragma once

#include "table/row.h"

/* One thing that a block brings: a namespace that it owns, a definition, or a registration; or a
 * device, with the core's registration to its autograd key. It belongs to its block. */
typedef struct
{
  XpLibrary *library;
  Definition *definition;
  Registration *registration;
  char *row_name; /* NULL for a namespace and for a fallback */
  Row *row;       /* once it is in the table */
  uint8_t device; /* the bit of a named backend, which the entry holds; else 0 */
  bool is_in_table;
} Entry;

/* A block. It belongs to its owner, or, made at run time, to whoever made it. */
struct XpLibrary
{
  XpLibraryKind kind;
  char *name_space; /* "_" for the wildcard */
  XpKey key;        /* of an IMPL block; CompositeImplicitAutograd for the catch-all */
  bool has_key;
  unsigned incarnation; /* of the key's backend, where that is a named one */
  char *file;
  int line;
  XpOwner *owner;
  GPtrArray *entries; /* Entry */
  char *takes;        /* what the next kernel takes; else NULL */
  /* Where entries wait while a constructor runs; NULL when each is published at once. */
  struct XpTransaction *transaction;
};

typedef struct XpTransaction
{
  GPtrArray *removed;  /* Entry */
  GPtrArray *added;    /* Entry */
  GError *error;       /* the first mistake made while it was filled */
  GPtrArray *replaced; /* XpOwner: whom it takes out as a whole; names of devices may pass over */
  XpOwner *giver;      /* who gives a device back, and the name of that */
  const char *given_back;
  XpOwner *loaded;  /* whom it brings as a whole, though it is away */
  uint64_t devices; /* bits reserved for it */
  bool keeps_ranks; /* what comes back stands where it stood: no newer than it was */
  bool is_fini;     /* nothing may be added: its owner has left the table */
} XpTransaction;

XpTransaction *xp_transaction_new (void);
void xp_transaction_free (XpTransaction *transaction);

void xp_transaction_replace (XpTransaction *transaction, XpOwner *owner);
bool xp_transaction_replaces (const XpTransaction *transaction, const XpOwner *owner);

/* Blocks of constructors that run on this thread belong to @owner and are added to @transaction,
 * until it is NULL. */
void xp_transaction_set_current (XpTransaction *transaction, XpOwner *owner);
XpTransaction *xp_transaction_current (void);
XpOwner *xp_transaction_current_owner (void);

/* Why nothing may be registered in this copy of the core: there is another; NULL where there is
 * none. Set once, when the core begins. */
extern GError *xp_table_refusal;

/* In a constructor nobody takes the error, so the transaction does; then it fails as a whole. */
void xp_transaction_keep_error (XpTransaction *transaction, GError *local, GError **error);

/* A check that is made under the lock, when the changes are in but nothing is published yet. */
typedef gboolean (*XpTransactionCheck) (const XpTransaction *transaction, void *data,
                                        GError **error);

/* Makes the changes; on failure the table is as it was. */
gboolean xp_transaction_commit (XpTransaction *transaction, XpTransactionCheck check, void *data,
                                GError **error);

/* --- blocks.c --- */
/* The macro that makes such a block. */
const char *xp_library_kind_name (const XpLibrary *library);
/* Every mistake in a block ends with where the block is. */
gboolean xp_library_set_invalid (const XpLibrary *library, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* The end of the identifier that @text begins with; @text where it begins with none. */
const char *xp_library_skip_identifier (const char *text);
gboolean xp_library_is_identifier (const char *name);
/* A block of @owner; its entries wait in @transaction, where that is not NULL. */
XpLibrary *xp_library_make (const XpLibraryBlock *block, XpOwner *owner, XpTransaction *transaction,
                            GError **error);

/* What was said of the next kernel, and none came, is a mistake. */
void xp_library_check_takes (XpLibrary *library);

/* Hands an entry to the constructor's transaction, or puts it into the table at once. */
gboolean xp_library_add (XpLibrary *library, Entry *entry, GError **error);

/* A check that is none: the block leaves its owner at the moment when its entries leave the table,
 * and its kernels are known to linger from then on. */
gboolean xp_library_detach (const XpTransaction *transaction, void *library, GError **error);

/* Frees a block that was detached. Registrations that a thread is inside wait until it has left. */
void xp_library_destroy (XpLibrary *library);

/* The priority of what @owner registers; what it has already is out of the table. */
void xp_owner_set_priority (XpOwner *owner, int priority);

/* Detaches and frees a block whose entries are not in the table. */
void xp_library_forget (XpLibrary *library);

/* Lets a plugin register that came in another way than through a load. */
void xp_owner_open (XpOwner *owner);

/* The error of registering @device, or in a block at @file:@line, for an owner that is away. */
void xp_owner_set_away (const XpOwner *owner, const char *device, const char *file, int line,
                        GError **error);

/* Frees all blocks of @owner, none of which is in the table or has a thread inside, and destroys
 * their registrations on this thread: the caller is about to unmap their code. */
void xp_owner_destroy_libraries (XpOwner *owner);

/* The kernels of all registrations of @owner, and of those that it has released while a thread was
 * inside, sorted by address; they are gone from the table or about to be. */
GPtrArray *xp_owner_kernels (XpOwner *owner);
bool xp_kernels_contain (const XpKernel *kernel, void *kernels);

/* --- devices.c --- */
/* Whether the device of an entry may be in use now, under the lock. */
gboolean xp_device_check (const Entry *entry, uint64_t gone, GError **error);
/* Whether nothing is registered to the keys of these bits, under the lock. */
gboolean xp_devices_check_unused (uint64_t bits, GError **error);
/* Adds what transaction->given_back is to what it removes, under the lock. */
gboolean xp_device_collect (XpTransaction *transaction, GError **error);
/* The entry's device is its owner's from now on, under the lock. */
void xp_device_set_owner (const Entry *entry);

/* --- overrides.c: several plugins on one cell. --- */
/* What was overridden in one transaction. */
GPtrArray *xp_overrides_new (void);
/* @registration has become active; @previous was, or NULL. */
void xp_override_note (GPtrArray *overrides, const Registration *previous,
                       const Registration *registration);
/* Drops those that were told before, and remembers the others; under the lock. */
void xp_overrides_keep_new (GPtrArray *overrides);
/* Tells of them; not under the lock. */
void xp_overrides_warn (const GPtrArray *overrides);
/* Where ties are refused: whether @registration would tie with one in @list, where it may stand
 * already; under the lock. */
gboolean xp_tie_check (const GPtrArray *list, const Registration *registration, GError **error);
/* The same for all that is in the table. */
gboolean xp_ties_check (GError **error);

/* Publishes @rows, which have changed, and all rows where the fallbacks have; xp_table_changed()
 * ends it. Both under the lock. */
void xp_rows_publish (const GPtrArray *rows, bool fallbacks, uint64_t devices_added);
void xp_table_changed (void);

/* How many rows and registrations of @owner are in the table. */
void xp_owner_count (XpOwner *owner, unsigned *n_rows, unsigned *n_cells);
