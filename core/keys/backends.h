/* SPDX-License-Identifier: MIT
 *
 * backends.h: the bits of named backends, for the layers that give them out and hold them.
 */
#pragma once

#include "keys/keys.h"

/* Under which a bit is given out and becomes free; a leaf. */
extern GMutex xp_backends_lock;

static inline bool
xp_backend_is_named (int backend)
{
  return backend >= XP_BACKEND_FIRST_NAMED && backend <= XP_BACKEND_LAST_NAMED;
}

/* Bits that were given back and are still held. */
uint64_t xp_backends_given_back (void);

/* Reserved bits whose names this thread, which fills their transaction, finds; nobody else does. */
void xp_backends_set_own (uint64_t bits);

enum
{
  XP_BACKEND_TAKEN = -1,
  XP_BACKEND_NONE_LEFT = -2
};

/* What has a name already. */
typedef struct
{
  int backend;      /* -1 where it is a key */
  bool is_in_use;   /* false while the backend is reserved only */
  const char *name; /* the backend's, in its own upper and lower case */
  char *key;        /* (transfer full): the key that is called so */
} XpTaken;

/* Reserves a bit for @name, with one hold, and returns it; else sets @taken, which is zeroed. */
int xp_backend_reserve (const char *name, XpTaken *taken);

/* How often the bit was reserved: tells one device from a later one with the same bit. */
unsigned xp_backend_incarnation (XpBackend backend);

/* The bits @gone are given back, and @added no longer; rows are published between this and
 * xp_backends_bring(), so that a tensor of a new device finds its cells. */
void xp_backends_change (uint64_t gone, uint64_t added);
void xp_backends_bring (uint64_t added);

/* Keeps the bit of a named backend from being given to another. Whoever makes a tensor holds first
 * and looks then whether the bit is in use. */
void xp_backend_hold (XpBackend backend);
void xp_backend_release (XpBackend backend);
