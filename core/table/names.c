/* SPDX-License-Identifier: MIT
 *
 * names.c: the index of row names: open addressing over rows that are never freed.
 *
 * A reader loads the index and walks it; the writer, under the table's lock, puts a row into an
 * empty place, or publishes an index of twice the size. An old index is kept for readers that still
 * walk it; all of them together are smaller than the newest.
 */
#include "table/row.h"

#include <string.h>

typedef struct Index Index;
struct Index
{
  Index *older;
  size_t mask;
  Row *rows[];
};

GMutex xp_table_lock;

static Index *index_now;
static unsigned n_rows;

/* Mixes eight bytes at a time. */
static size_t
hash_name (const char *name, size_t length)
{
  uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
  uint64_t word;
  for (; length >= sizeof word; length -= sizeof word, name += sizeof word)
    {
      memcpy (&word, name, sizeof word);
      hash = (hash ^ word) * 0xff51afd7ed558ccdu;
      hash ^= hash >> 32;
    }
  word = 0;
  memcpy (&word, name, length);
  hash = (hash ^ word) * 0xff51afd7ed558ccdu;
  return (size_t) (hash ^ hash >> 29);
}

static Row *
find (const char *name, size_t length, size_t hash)
{
  const Index *index = __atomic_load_n (&index_now, __ATOMIC_ACQUIRE);
  if (index == NULL)
    return NULL;
  for (size_t i = hash & index->mask;; i = (i + 1) & index->mask)
    {
      Row *row = __atomic_load_n (&index->rows[i], __ATOMIC_ACQUIRE);
      if (row == NULL
          || (row->hash == hash && row->name_length == length
              && memcmp (row->name, name, length) == 0))
        return row;
    }
}

Row *
xp_row_find (const char *name)
{
  size_t length = strlen (name);
  return find (name, length, hash_name (name, length));
}

static void
put (Index *index, Row *row)
{
  size_t i = row->hash & index->mask;
  while (index->rows[i] != NULL)
    i = (i + 1) & index->mask;
  __atomic_store_n (&index->rows[i], row, __ATOMIC_RELEASE);
}

static void
grow (void)
{
  size_t size = index_now == NULL ? 256 : 2 * (index_now->mask + 1);
  Index *index = g_malloc0 (sizeof *index + size * sizeof *index->rows);
  index->mask = size - 1;
  index->older = index_now;
  for (size_t i = 0; index_now != NULL && i <= index_now->mask; i++)
    if (index_now->rows[i] != NULL)
      put (index, index_now->rows[i]);
  __atomic_store_n (&index_now, index, __ATOMIC_RELEASE);
}

Row *
xp_row_make (const char *name)
{
  size_t length = strlen (name), hash = hash_name (name, length);
  Row *row = find (name, length, hash);
  if (row != NULL)
    return row;
  if (index_now == NULL || 2 * (n_rows + 1) > index_now->mask)
    grow ();
  row = g_new0 (Row, 1);
  row->name = g_strdup (name);
  row->name_length = length;
  row->hash = hash;
  row->registrations = g_ptr_array_new ();
  put (index_now, row);
  n_rows++;
  return row;
}

void
xp_rows_visit (XpRowVisitor visit, void *data)
{
  for (size_t i = 0; index_now != NULL && i <= index_now->mask; i++)
    if (index_now->rows[i] != NULL)
      visit (index_now->rows[i], data);
}
