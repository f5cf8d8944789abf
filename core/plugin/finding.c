/* SPDX-License-Identifier: MIT
 *
 * finding.c: findings as bytes. Nothing that is read is trusted: length and checksum tell what was
 * written whole, GVariant what has the right form.
 */
#include "plugin/finding.h"

#include <string.h>

#define FINDING_TYPE "(aysxussa(sss)a(sssu)as)"

static const char magic[8] = "XPFIND1\n";

enum
{
  CELL_TYPED = 1,
  CELL_FALLTHROUGH = 2,
  CELL_PENDING = 4
};

void
xp_coverage_free (XpCoverage *coverage)
{
  if (coverage == NULL)
    return;
  for (unsigned i = 0; i < coverage->n_rows; i++)
    {
      g_free (coverage->rows[i].name);
      g_free (coverage->rows[i].schema);
      g_free (coverage->rows[i].location);
    }
  for (unsigned i = 0; i < coverage->n_cells; i++)
    {
      g_free (coverage->cells[i].op);
      g_free (coverage->cells[i].key);
      g_free (coverage->cells[i].location);
    }
  g_free (coverage->rows);
  g_free (coverage->cells);
  g_strfreev (coverage->devices);
  g_free (coverage);
}

XpFinding *
xp_finding_new (const char *path, XpPluginState state, const char *error, const char *reason)
{
  XpFinding *finding = g_new0 (XpFinding, 1);
  finding->path = g_strdup (path);
  finding->stamp = g_strdup ("");
  finding->state = state;
  finding->error = g_strdup (error != NULL ? error : "");
  finding->reason = g_strdup (reason != NULL ? reason : "");
  finding->coverage = g_new0 (XpCoverage, 1);
  finding->coverage->devices = g_new0 (char *, 1);
  return finding;
}

void
xp_finding_free (XpFinding *finding)
{
  if (finding == NULL)
    return;
  g_free (finding->path);
  g_free (finding->stamp);
  g_free (finding->error);
  g_free (finding->reason);
  xp_coverage_free (finding->coverage);
  g_free (finding);
}

/* FNV-1a: each step can be undone, so that no single changed byte goes unnoticed. */
static guint64
checksum (const guint8 *bytes, gsize n)
{
  guint64 sum = 0xcbf29ce484222325;
  for (gsize i = 0; i < n; i++)
    sum = (sum ^ bytes[i]) * 0x100000001b3;
  return sum;
}

/* --- Writing. --- */

/* GVariant takes no text that is not UTF-8. */
static GVariant *
text_new (const char *text)
{
  return g_variant_new_take_string (g_utf8_make_valid (text, -1));
}

static GVariant *
rows_new (const XpCoverage *coverage)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sss)"));
  for (unsigned i = 0; i < coverage->n_rows; i++)
    {
      const XpCoverageRow *row = &coverage->rows[i];
      g_variant_builder_add (&builder, "(@s@s@s)", text_new (row->name), text_new (row->schema),
                             text_new (row->location));
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
cells_new (const XpCoverage *coverage)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sssu)"));
  for (unsigned i = 0; i < coverage->n_cells; i++)
    {
      const XpCoverageCell *cell = &coverage->cells[i];
      guint32 flags = (cell->is_typed ? CELL_TYPED : 0)
                      | (cell->is_fallthrough ? CELL_FALLTHROUGH : 0)
                      | (cell->is_pending ? CELL_PENDING : 0);
      g_variant_builder_add (&builder, "(@s@s@su)", text_new (cell->op), text_new (cell->key),
                             text_new (cell->location), flags);
    }
  return g_variant_builder_end (&builder);
}

static GVariant *
devices_new (const XpCoverage *coverage)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("as"));
  for (unsigned i = 0; coverage->devices[i] != NULL; i++)
    g_variant_builder_add_value (&builder, text_new (coverage->devices[i]));
  return g_variant_builder_end (&builder);
}

GBytes *
xp_finding_to_bytes (const XpFinding *finding)
{
  const XpCoverage *coverage = finding->coverage;
  GVariant *variant = g_variant_ref_sink (
      g_variant_new ("(@ay@sxu@s@s@a(sss)@a(sssu)@as)", g_variant_new_bytestring (finding->path),
                     text_new (finding->stamp), finding->time, (guint32) finding->state,
                     text_new (finding->error), text_new (finding->reason), rows_new (coverage),
                     cells_new (coverage), devices_new (coverage)));
  guint64 n = g_variant_get_size (variant);
  guint64 sum = checksum (g_variant_get_data (variant), n);
  GByteArray *bytes = g_byte_array_sized_new ((guint) n + XP_FINDING_HEADER);
  g_byte_array_append (bytes, (const guint8 *) magic, sizeof magic);
  g_byte_array_append (bytes, (const guint8 *) &n, sizeof n);
  g_byte_array_append (bytes, (const guint8 *) &sum, sizeof sum);
  g_byte_array_append (bytes, g_variant_get_data (variant), (guint) n);
  g_variant_unref (variant);
  return g_byte_array_free_to_bytes (bytes);
}

/* --- Reading. --- */

gsize
xp_finding_size (const guint8 *header)
{
  guint64 n;
  memcpy (&n, header + sizeof magic, sizeof n);
  if (memcmp (header, magic, sizeof magic) != 0
      || n > XP_FINDING_MOST_BYTES - (guint64) XP_FINDING_HEADER)
    return 0;
  return (gsize) n + XP_FINDING_HEADER;
}

static void
read_rows (XpCoverage *coverage, GVariant *rows)
{
  GVariantIter iter;
  coverage->rows = g_new0 (XpCoverageRow, g_variant_n_children (rows));
  g_variant_iter_init (&iter, rows);
  XpCoverageRow row;
  while (g_variant_iter_next (&iter, "(sss)", &row.name, &row.schema, &row.location))
    coverage->rows[coverage->n_rows++] = row;
}

static void
read_cells (XpCoverage *coverage, GVariant *cells)
{
  GVariantIter iter;
  guint32 flags;
  coverage->cells = g_new0 (XpCoverageCell, g_variant_n_children (cells));
  g_variant_iter_init (&iter, cells);
  XpCoverageCell cell;
  while (g_variant_iter_next (&iter, "(sssu)", &cell.op, &cell.key, &cell.location, &flags))
    {
      cell.is_typed = (flags & CELL_TYPED) != 0;
      cell.is_fallthrough = (flags & CELL_FALLTHROUGH) != 0;
      cell.is_pending = (flags & CELL_PENDING) != 0;
      coverage->cells[coverage->n_cells++] = cell;
    }
}

static XpFinding *
read_variant (GVariant *variant, bool whole)
{
  XpFinding *finding = g_new0 (XpFinding, 1);
  XpCoverage *coverage = finding->coverage = g_new0 (XpCoverage, 1);
  guint32 state;
  GVariant *rows, *cells;
  g_variant_get (variant, "(^aysxuss@a(sss)@a(sssu)^as)", &finding->path, &finding->stamp,
                 &finding->time, &state, &finding->error, &finding->reason, &rows, &cells,
                 &coverage->devices);
  finding->state = state < XP_N_PLUGIN_STATES ? (XpPluginState) state : XP_PLUGIN_FAILED;
  if (whole)
    {
      read_rows (coverage, rows);
      read_cells (coverage, cells);
    }
  g_variant_unref (rows);
  g_variant_unref (cells);
  return finding;
}

XpFinding *
xp_finding_parse (const guint8 *bytes, gsize n, bool whole)
{
  guint64 sum;
  if (n < XP_FINDING_HEADER || xp_finding_size (bytes) != n)
    return NULL;
  memcpy (&sum, bytes + sizeof magic + sizeof (guint64), sizeof sum);
  bytes += XP_FINDING_HEADER;
  n -= XP_FINDING_HEADER;
  if (sum != checksum (bytes, n))
    return NULL;
  gpointer copy = g_memdup2 (bytes, n);
  GVariant *variant = g_variant_ref_sink (
      g_variant_new_from_data (G_VARIANT_TYPE (FINDING_TYPE), copy, n, FALSE, g_free, copy));
  /* What is not in normal form reads as something, but was not written by us. */
  XpFinding *finding = !whole || g_variant_is_normal_form (variant) ? read_variant (variant, whole)
                                                                    : NULL;
  g_variant_unref (variant);
  return finding;
}
