/* SPDX-License-Identifier: MIT
 *
 * heads.c: the part of a row that calls see, one head for each signature a caller was built for,
 * and how a computed row is published in it.
 */
#include "table/row.h"

#include <crosspoint/schema.h>
#include <string.h>
#include <sys/mman.h>

enum
{
  MOST_WORDS = XP_ROW_STRIPES + 64 * XP_ROW_STRIPE,
  /* A row that grows keeps its smaller block too, so it begins with room for a few devices beside
   * those that are built in. */
  STRIPES_AT_FIRST = 20,
  STRIPES_AT_A_TIME = 8,
  LINES_AT_A_TIME = 256 * 1024
};

/* A functionality's own word, or its place within each stripe. */
static XpKeySlot slots[64];

/* Rows that are not there: every cell holds the same kernel. */
static XpCell error_cells[2][MOST_WORDS];

/* Rows that have no kernels of their own, and never had any: fallbacks serve them all alike. */
static XpCell bare_cells[MOST_WORDS];

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
  for (unsigned bit = 0; bit < 64; bit++)
    slots[xp_highest_place (XP_BIT (bit))] = xp_key_slot ((XpFunctionality) bit);
  fill_error_cells (error_cells[0], &xp_special_kernels[XP_SPECIAL_UNKNOWN_OPERATOR]);
  fill_error_cells (error_cells[1], &xp_special_kernels[XP_SPECIAL_SIGNATURE]);
}

unsigned
xp_key_cell_index (XpKey key)
{
  const XpKeySlot *slot = &slots[xp_highest_place (XP_BIT (xp_key_functionality (key)))];
  unsigned stripe = XP_ROW_STRIPES + ((unsigned) (xp_key_backend (key) + 1) & 63) * XP_ROW_STRIPE;
  return slot->base + (stripe & slot->stride_mask);
}

/* The backends that readers of @head may go to the stripes of. A reader takes this first and the
 * cells then, however much later, so it only grows, and every block has a stripe for all of it. */
static uint64_t
backends_of (const Head *head)
{
  return head->op.backends | xp_row_backends | xp_row_stale;
}

/* How many stripes the next block of @head has: up to that of the highest named backend. */
static unsigned
stripes_needed (const Head *head)
{
  uint64_t named = backends_of (head) & ~XP_BIT (XP_BACKEND_Meta);
  unsigned n = 64 - (unsigned) __builtin_clzll (named) + 1;
  unsigned n_now = head->block != NULL ? head->block->n_stripes : 0;
  if (n <= n_now)
    return n_now;
  return n_now == 0 ? MAX (n, STRIPES_AT_FIRST)
                    : (n + STRIPES_AT_A_TIME - 1) / STRIPES_AT_A_TIME * STRIPES_AT_A_TIME;
}

/* Which arguments a call looks at for keys. */
static void
set_arguments (Head *head, const XpSchema *schema)
{
  XpOperator *op = &head->op;
  op->n_arguments = schema->n_arguments;
  op->n_results = schema->n_returns;
  for (unsigned i = 0; i < schema->n_returns && i < 64; i++)
    if (xp_type_accepts (schema->returns[i].type, XP_NONE))
      head->optional_results |= XP_BIT (i);
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

/* A head for @signature, which is that of @schema. */
static Head *
head_make (Row *row, const char *signature, const XpSchema *schema)
{
  for (Head *head = row->heads; head != NULL; head = head->next)
    if (strcmp (head->signature, signature) == 0)
      return head;
  Head *head = g_new0 (Head, 1);
  head->row = row;
  head->signature = g_strdup (signature);
  head->op.slots = slots;
  head->op.backends = backends_of (head);
  head->op.cells = error_cells[row->definition != NULL];
  if (schema != NULL)
    set_arguments (head, schema);
  head->next = row->heads;
  __atomic_store_n (&row->heads, head, __ATOMIC_RELEASE);
  return head;
}

/* Cells first, then masks: a cell that calls begin to pass over resolves again for those who still
 * go there, and one that they no longer pass over is ready when they come. */
static void
update_cells (XpCell *cells, unsigned n_stripes, const XpCell *from)
{
  unsigned n_words = XP_ROW_STRIPES + n_stripes * XP_ROW_STRIPE;
  for (unsigned i = 0; i < n_words; i++)
    if ((i < XP_ROW_STRIPES || i % XP_ROW_STRIPE != 0) && cells[i].kernel != from[i].kernel)
      __atomic_store_n (&cells[i].kernel, from[i].kernel, __ATOMIC_RELEASE);
  for (unsigned i = XP_ROW_STRIPES; i < n_words; i += XP_ROW_STRIPE)
    if (cells[i].unmasked != from[i].unmasked)
      __atomic_store_n (&cells[i].unmasked, from[i].unmasked, __ATOMIC_RELEASE);
}

void
xp_bare_rows_publish (void)
{
  XpCell computed[MOST_WORDS];
  g_autoptr (GPtrArray) none = g_ptr_array_new ();
  const Row bare = { .registrations = none };
  xp_row_compute (&bare, computed, 64);
  update_cells (bare_cells, 64, computed);
}

Head *
xp_head_make (Row *row, const char *signature)
{
  g_autofree char *text = g_strconcat ("_", signature, NULL);
  g_autoptr (XpSchema) schema = xp_schema_parse (text, NULL);
  return head_make (row, signature, schema);
}

/* Memory that starts a cache line and is never given back, as blocks are not. It comes many lines
 * at a time, with its pages: aligned allocations one by one, and a fault for every other block,
 * cost as much as all else that a registration does. */
static void *
take_lines (size_t size)
{
  static char *lines;
  static size_t n_left;
  size = (size + 63) & ~(size_t) 63;
  if (n_left < size)
    {
      n_left = MAX (size, LINES_AT_A_TIME);
      lines = mmap (NULL, n_left, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      if (lines == MAP_FAILED)
        lines = g_aligned_alloc (1, n_left, 64);
    }
  n_left -= size;
  lines += size;
  return lines - size;
}

static Block *
block_new (unsigned n_stripes, Block *older)
{
  size_t n_words = XP_ROW_STRIPES + n_stripes * XP_ROW_STRIPE;
  Block *block = take_lines (sizeof *block + n_words * sizeof *block->cells);
  block->older = older;
  block->n_stripes = n_stripes;
  return block;
}

/* A reader that has a block stores the kernel it finds there and looks into the same block again,
 * so every block says what the newest does. */
static void
publish_cells (Head *head, const XpCell *from)
{
  for (Block *block = head->block; block != NULL; block = block->older)
    update_cells (block->cells, block->n_stripes, from);
}

static const XpCell *
own_cells (const Row *row, Head *head)
{
  unsigned n_stripes = stripes_needed (head);
  if (head->block == NULL || head->block->n_stripes < n_stripes)
    {
      Block *older = head->block;
      head->block = block_new (n_stripes, older);
      xp_row_compute (row, head->block->cells, n_stripes);
      for (; older != NULL; older = older->older)
        update_cells (older->cells, older->n_stripes, head->block->cells);
      return head->block->cells;
    }
  XpCell computed[MOST_WORDS];
  xp_row_compute (row, computed, n_stripes);
  publish_cells (head, computed);
  return head->block->cells;
}

static void
publish_live (const Row *row, Head *head)
{
  bool is_bare = row->registrations->len == 0 && head->block == NULL;
  const XpCell *cells = is_bare ? bare_cells : own_cells (row, head);
  __atomic_store_n (&head->op.cells, cells, __ATOMIC_RELEASE);
  __atomic_store_n (&head->op.backends, backends_of (head), __ATOMIC_RELEASE);
}

static void
publish_error (Head *head, const XpCell *from)
{
  __atomic_store_n (&head->op.cells, from, __ATOMIC_RELEASE);
  publish_cells (head, from);
}

/* What calls ask of a definition without taking the lock. */
static void
take_facts (Head *head, const Definition *definition)
{
  const XpSchema *schema = definition->schema;
  uint64_t written = 0, viewed = 0;
  for (unsigned i = 0; i < schema->n_arguments && i < 64; i++)
    if (schema->arguments[i].alias != NULL)
      *(schema->arguments[i].alias->is_write ? &written : &viewed) |= XP_BIT (i);
  bool takes_mixed_devices = false;
  if (definition->tags != NULL)
    {
      g_auto (GStrv) tags = g_strsplit (definition->tags, " ", -1);
      takes_mixed_devices = g_strv_contains ((const char *const *) tags, "mixed_devices");
    }
  __atomic_store_n (&head->written_arguments, written, __ATOMIC_RELAXED);
  __atomic_store_n (&head->viewed_arguments, viewed, __ATOMIC_RELAXED);
  __atomic_store_n (&head->takes_mixed_devices, takes_mixed_devices, __ATOMIC_RELAXED);
}

void
xp_row_publish (Row *row)
{
  row->is_dirty = false;
  Head *live = row->definition != NULL
                   ? head_make (row, row->definition->signature, row->definition->schema)
                   : NULL;
  for (Head *head = row->heads; head != NULL; head = head->next)
    if (head == live)
      {
        take_facts (head, row->definition);
        publish_live (row, head);
      }
    else
      publish_error (head, error_cells[live != NULL]);
  __atomic_store_n (&row->live, live, __ATOMIC_RELEASE);
}
