/* SPDX-License-Identifier: MIT
 *
 * schema.h: a schema with its count and the memory of its parts.
 */
#pragma once

#include "schema/arena.h"

#include <crosspoint/schema.h>

enum
{
  XP_SCHEMA_LIMIT = 64 /* of arguments, of returns, and of the types in a tuple or Union */
};

typedef struct
{
  XpSchema schema;
  uint32_t references;
  XpArena arena;
} XpSchemaBlock;

/* An empty schema with one reference, and room for the parts that a text of @length asks for. */
XpSchemaBlock *xp_schema_block_new (size_t length);
