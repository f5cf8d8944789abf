/* SPDX-License-Identifier: MIT
 *
 * backends.h: what layers above install to take part in the naming of backends.
 */
#pragma once

#include "keys/keys.h"

typedef struct
{
  /* Who is registering now: a plugin's name, or "the program". */
  const char *(*owner) (void);
  /* A backend has been named: rows need a stripe for it. */
  void (*added) (void);
} XpBackendHooks;

extern XpBackendHooks xp_backend_hooks;

/* A leaf lock, for naming. */
extern GMutex xp_backends_lock;
