/* SPDX-License-Identifier: MIT
 *
 * keys.h: what the core's other layers need of keys beyond <crosspoint/key.h>.
 */
#pragma once

#include <crosspoint/error.h>

/* No key; never given out. */
#define XP_KEY_NONE 0xffffffffu

enum
{
  XP_N_PER_BACKEND = 6
};

/* A functionality with a cell per backend; its position in the list is its ordinal within a row's
 * stripe. */
typedef struct
{
  XpFunctionality functionality;
  const char *prefix;
} XpPerBackend;

extern const XpPerBackend xp_per_backend[XP_N_PER_BACKEND];

/* The name of the key of @backend and the per-backend functionality @ordinal, also of one that was
 * given back; NULL for a bit without a name. It lives as long as the process. */
const char *xp_backend_key_name (XpBackend backend, unsigned ordinal);

/* The backend called @name, or -1. */
int xp_backend_find (const char *name);

/* Where @backend stands among all: built-in ones by bit, named ones sorted by name, Meta last. */
unsigned xp_backend_position (XpBackend backend);

/* All bits that have a name in that order, given back or not; at most 64 of them. Returns how many.
 */
unsigned xp_backends_in_order (uint8_t order[64]);

/* xp_key_list() with these backends. */
XpKey *xp_key_list_with (uint64_t backends, unsigned *n_keys);

/* What the alias number covers: the functionalities that are not per-backend, and for each
 * per-backend ordinal the backends. */
typedef struct
{
  uint64_t functionality;
  uint64_t backends[XP_N_PER_BACKEND];
} XpAliasCover;

XpAliasCover xp_alias_cover (XpKey alias);

/* Whether kernels at @key have AutogradOther as their autograd key as far as composites go. */
bool xp_key_maps_to_autograd_other (XpKey key);

/* Whether a dense kernel of @backend keeps composites out of Autograd{backend}: not for HIP, VE and
 * MTIA. */
bool xp_autograd_has_own_backend (XpBackend backend);

/* Nearest names, for hints: the closest few of those added. */
typedef struct
{
  const char *text;
  unsigned n;
  unsigned distances[4];
  const char *names[5];
} XpTextNeighbours;

unsigned xp_text_distance (const char *a, const char *b);
void xp_text_neighbours_init (XpTextNeighbours *neighbours, const char *text);
void xp_text_neighbours_add (XpTextNeighbours *neighbours, const char *name);
