/* SPDX-License-Identifier: MIT
 *
 * arena.h: memory that is taken piece by piece and freed at once: all parts of one schema.
 */
#pragma once

#include <crosspoint/macros.h>

typedef struct XpArenaChunk XpArenaChunk;

typedef struct
{
  XpArenaChunk *chunks;
  char *next;
  char *end;
} XpArena;

/* Starts with memory of the caller's, which the arena does not free; aligned to 8 bytes. */
void xp_arena_init (XpArena *arena, void *memory, size_t size);
void xp_arena_free (XpArena *arena);

/* @size bytes, not cleared, aligned to 8 bytes. */
void *xp_arena_take (XpArena *arena, size_t size);

/* A copy of @size bytes, and of @size bytes with a NUL behind them. */
void *xp_arena_copy (XpArena *arena, const void *memory, size_t size);
char *xp_arena_text (XpArena *arena, const char *text, size_t size);
