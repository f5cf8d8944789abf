/* SPDX-License-Identifier: MIT
 *
 * schema.c: the life of a schema. Its structure and all its parts lie in one arena; only strings
 * and lists among the defaults are objects of their own.
 */
#include "schema/schema.h"

#include <crosspoint/schema.h>

XpSchemaBlock *
xp_schema_block_new (size_t length)
{
  /* Enough for nine in ten of PyTorch's; the others take more. */
  size_t room = 96 + 4 * length;
  XpSchemaBlock *block = g_malloc (sizeof *block + room);
  *block = (XpSchemaBlock){ .references = 1 };
  xp_arena_init (&block->arena, block + 1, room);
  return block;
}

XpSchema *
xp_schema_ref (XpSchema *schema)
{
  g_return_val_if_fail (schema != NULL, NULL);
  XpSchemaBlock *block = (XpSchemaBlock *) schema;
  __atomic_fetch_add (&block->references, 1, __ATOMIC_RELAXED);
  return schema;
}

void
xp_schema_unref (XpSchema *schema)
{
  XpSchemaBlock *block = (XpSchemaBlock *) schema;
  if (schema == NULL || __atomic_fetch_sub (&block->references, 1, __ATOMIC_ACQ_REL) != 1)
    return;
  for (uint32_t i = 0; i < schema->n_arguments; i++)
    {
      XpValue value = schema->arguments[i].default_value;
      xp_value_clear (&value);
    }
  xp_arena_free (&block->arena);
  g_free (block);
}

char *
xp_schema_operator_name (const XpSchema *schema)
{
  g_return_val_if_fail (schema != NULL, NULL);
  const char *dot = schema->overload[0] != '\0' ? "." : "";
  return g_strconcat (schema->name, dot, schema->overload, NULL);
}
