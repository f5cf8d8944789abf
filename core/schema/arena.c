/* SPDX-License-Identifier: MIT
 *
 * arena.c: memory that is taken piece by piece and freed at once.
 */
#include "schema/arena.h"

#include <string.h>

enum
{
  ALIGNMENT = 8,
  CHUNK_SIZE = 1024
};

struct XpArenaChunk
{
  XpArenaChunk *previous;
  uint64_t memory[];
};

void
xp_arena_init (XpArena *arena, void *memory, size_t size)
{
  *arena = (XpArena){ NULL, memory, (char *) memory + size };
}

void
xp_arena_free (XpArena *arena)
{
  XpArenaChunk *chunk = arena->chunks;
  while (chunk != NULL)
    {
      XpArenaChunk *previous = chunk->previous;
      g_free (chunk);
      chunk = previous;
    }
  *arena = (XpArena){ NULL, NULL, NULL };
}

static void
add_chunk (XpArena *arena, size_t size)
{
  size = MAX (size, CHUNK_SIZE);
  XpArenaChunk *chunk = g_malloc (sizeof *chunk + size);
  chunk->previous = arena->chunks;
  arena->chunks = chunk;
  arena->next = (char *) chunk->memory;
  arena->end = arena->next + size;
}

void *
xp_arena_take (XpArena *arena, size_t size)
{
  size = (size + ALIGNMENT - 1) & ~(size_t) (ALIGNMENT - 1);
  if (size > (size_t) (arena->end - arena->next))
    add_chunk (arena, size);
  void *taken = arena->next;
  arena->next += size;
  return taken;
}

void *
xp_arena_copy (XpArena *arena, const void *memory, size_t size)
{
  void *taken = xp_arena_take (arena, size);
  return size > 0 ? memcpy (taken, memory, size) : taken;
}

char *
xp_arena_text (XpArena *arena, const char *text, size_t size)
{
  char *taken = xp_arena_take (arena, size + 1);
  memcpy (taken, text, size);
  taken[size] = '\0';
  return taken;
}
