/* SPDX-License-Identifier: MIT
 *
 * uses.h: one use of each family of public functions, for whoever has no Check to tell.
 */
#pragma once

#include <crosspoint.h>
#include <stdbool.h>

typedef struct
{
  XpPlugin *plugin;  /* is loaded, and fills fixture::number for CPU */
  const char *other; /* the file of another that does */
} Subject;

typedef struct
{
  const char *name;
  /* Returns whether there was an answer; if not, @error says why. */
  bool (*use) (const Subject *subject, GError **error);
} Use;

extern const Use uses[]; /* ends with one without a name */
