/* SPDX-License-Identifier: MIT
 *
 * heads.c: the part of a row that calls see, one head for each signature a caller was built for,
 * and how a computed row is published in it.
 */
#include "table/row.h"

#include <crosspoint/schema.h>
#include <string.h>

enum
{
  MOST_WORDS = XP_ROW_STRIPES + 64 * XP_ROW_STRIPE,
  /* A row that grows leaves its smaller block behind, and so grows by more. */
  STRIPES_AT_FIRST = 4,
  STRIPES_AT_A_TIME = 8
};

/* A functionality's own cell, or its place within each stripe. */
static XpKeySlot slots[64];

/* Rows that are not there: every cell holds the same kernel. */
static XpCell error_cells[2][MOST_WORDS];

static void
fill_error_cells (XpCell *cells, const XpKernel *kernel)
{
  for (unsigned i = 0; i < MOST_WORDS; i++)
    cells[i].kernel = kernel;
  for (unsigned stripe = 0; stripe < 64; stripe++)
    cells[XP_ROW_STRIPES + stripe * XP_ROW_STRIPE].unmasked = ~(uint64_t) 1;
}

void
xp_heads_begin (void)
{
  for (unsigned f = 0; f < 64; f++)
    slots[f] = (XpKeySlot){ f, 0 };
  for (unsigned ordinal = 0; ordinal < XP_N_PER_BACKEND; ordinal++)
    slots[xp_per_backend[ordinal].functionality] = (XpKeySlot){ XP_ROW_STRIPES + 1 + ordinal,
                                                                ~(uint32_t) 0 };
  fill_error_cells (error_cells[0], &xp_special_kernels[XP_SPECIAL_UNKNOWN_OPERATOR]);
  fill_error_cells (error_cells[1], &xp_special_kernels[XP_SPECIAL_SIGNATURE]);
}

unsigned
xp_key_cell_index (XpKey key)
{
  const XpKeySlot *slot = &slots[xp_key_functionality (key)];
  unsigned stripe = ((unsigned) (xp_key_backend (key) + 1) & 63) * XP_ROW_STRIPE;
  return slot->base + (stripe & slot->stride_mask);
}

/* How many stripes the block of @head has next: up to that of the highest named backend. */
static unsigned
stripes_needed (const Head *head)
{
  uint64_t named = xp_backends_known () & ~XP_BIT (XP_BACKEND_Meta);
  unsigned n = 64 - (unsigned) __builtin_clzll (named) + 1;
  unsigned at_a_time = head->cells == NULL ? STRIPES_AT_FIRST : STRIPES_AT_A_TIME;
  return n <= head->n_stripes ? head->n_stripes : (n + at_a_time - 1) / at_a_time * at_a_time;
}

/* Which arguments a call looks at for keys. */
static void
set_arguments (XpOperator *op, const char *signature)
{
  g_autofree char *text = g_strconcat ("_", signature, NULL);
  g_autoptr (XpSchema) schema = xp_schema_parse (text, NULL);
  if (schema == NULL)
    return;
  op->n_arguments = schema->n_arguments;
  op->n_results = schema->n_returns;
  for (unsigned i = 0; i < schema->n_arguments && i < 64; i++)
    {
      const XpType *type = schema->arguments[i].type;
      unsigned depth = 0;
      for (; type->kind == XP_TYPE_OPTIONAL || type->kind == XP_TYPE_LIST; type = type->elements[0])
        depth += type->kind == XP_TYPE_LIST;
      if (type->kind == XP_TYPE_TENSOR)
        *(depth == 0 ? &op->tensor_arguments : &op->list_arguments) |= XP_BIT (i);
    }
}

Head *
xp_head_make (Row *row, const char *signature)
{
  for (Head *head = row->heads; head != NULL; head = head->next)
    if (strcmp (head->signature, signature) == 0)
      return head;
  Head *head = g_new0 (Head, 1);
  head->row = row;
  head->signature = g_strdup (signature);
  head->op.slots = slots;
  head->op.backends = xp_backends_known ();
  head->op.cells = error_cells[row->definition != NULL];
  set_arguments (&head->op, signature);
  head->next = row->heads;
  __atomic_store_n (&row->heads, head, __ATOMIC_RELEASE);
  return head;
}

static void
publish_live (Row *row, Head *head)
{
  XpCell computed[MOST_WORDS];
  unsigned n_stripes = stripes_needed (head);
  unsigned n_words = XP_ROW_STRIPES + n_stripes * XP_ROW_STRIPE;
  xp_row_compute (row, computed, n_stripes);
  if (head->n_stripes < n_stripes)
    {
      /* A reader may still look at the smaller block; there are at most eight of them. */
      if (head->cells != NULL)
        {
          if (head->old_cells == NULL)
            head->old_cells = g_ptr_array_new ();
          g_ptr_array_add (head->old_cells, head->cells);
        }
      head->cells = g_aligned_alloc (n_words, sizeof *head->cells, 64);
      head->n_stripes = n_stripes;
      memcpy (head->cells, computed, n_words * sizeof *computed);
    }
  else
    {
      /* Cells first, then masks: a cell that calls begin to pass over resolves again for those who
       * still go there, and one that they no longer pass over is ready when they come. */
      for (unsigned i = 0; i < n_words; i++)
        if ((i < XP_ROW_STRIPES || i % XP_ROW_STRIPE != 0)
            && head->cells[i].kernel != computed[i].kernel)
          __atomic_store_n (&head->cells[i].kernel, computed[i].kernel, __ATOMIC_RELEASE);
      for (unsigned i = XP_ROW_STRIPES; i < n_words; i += XP_ROW_STRIPE)
        if (head->cells[i].unmasked != computed[i].unmasked)
          __atomic_store_n (&head->cells[i].unmasked, computed[i].unmasked, __ATOMIC_RELEASE);
    }
  __atomic_store_n (&head->op.cells, head->cells, __ATOMIC_RELEASE);
  __atomic_store_n (&head->op.backends, xp_backends_known (), __ATOMIC_RELEASE);
}

/* What calls ask of a definition without taking the lock. */
static void
take_facts (Head *head, const Definition *definition)
{
  const XpSchema *schema = definition->schema;
  uint64_t written = 0;
  for (unsigned i = 0; i < schema->n_arguments && i < 64; i++)
    if (schema->arguments[i].alias != NULL && schema->arguments[i].alias->is_write)
      written |= XP_BIT (i);
  g_auto (GStrv) tags = g_strsplit (definition->tags != NULL ? definition->tags : "", " ", -1);
  __atomic_store_n (&head->written_arguments, written, __ATOMIC_RELAXED);
  __atomic_store_n (&head->takes_mixed_devices,
                    g_strv_contains ((const char *const *) tags, "mixed_devices"),
                    __ATOMIC_RELAXED);
}

void
xp_row_publish (Row *row)
{
  row->is_dirty = false;
  Head *live = row->definition != NULL ? xp_head_make (row, row->definition->signature) : NULL;
  for (Head *head = row->heads; head != NULL; head = head->next)
    if (head == live)
      {
        take_facts (head, row->definition);
        publish_live (row, head);
      }
    else
      __atomic_store_n (&head->op.cells, error_cells[live != NULL], __ATOMIC_RELEASE);
  __atomic_store_n (&row->live, live, __ATOMIC_RELEASE);
}
