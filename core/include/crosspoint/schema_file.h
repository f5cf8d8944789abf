/* SPDX-License-Identifier: MIT
 *
 * schema_file.h: files of schemas, NAME.ops: what `crosspoint gen` writes C from, and what
 * xp_plugin_load() opens rows from, without code.
 *
 *   # A comment.
 *   myops::scale(Tensor self, float factor) -> Tensor @pointwise -- Multiplies by a number.
 *
 * A line is a schema with its namespace, then any number of `@tag`, then `-- description`. Empty
 * lines, and those that begin with `#`, say nothing. The text is UTF-8.
 */
#ifndef XP_SCHEMA_FILE_H
#define XP_SCHEMA_FILE_H

#include <crosspoint/schema.h>

G_BEGIN_DECLS

/**
 * XpSchemaLine:
 * @schema: the schema
 * @name: the operator with its namespace and overload, `aten::add.Tensor`
 * @text: the schema as the line has it
 * @tags: (nullable): the tags, separated by blanks
 * @description: (nullable): what the operator does
 * @line: the number of the line, from 1
 *
 * A line with a schema.
 */
typedef struct
{
  XpSchema *schema;
  const char *name;
  const char *text;
  const char *tags;
  const char *description;
  int line;
} XpSchemaLine;

/**
 * XpSchemaFile:
 * @path: the file, as locations name it
 * @n_lines: how many schemas there are
 * @lines: (array length=n_lines): them, in order
 *
 * What a file holds. Made only by this library; fields may be appended in a later minor version,
 * here and to %XpSchemaLine.
 */
typedef struct
{
  const char *path;
  size_t n_lines;
  const XpSchemaLine *const *lines;
} XpSchemaFile;

/**
 * xp_schema_file_read:
 * @path: a file
 * @location: (nullable): what messages and locations call it; %NULL for @path
 * @mistakes: (nullable) (element-type GError): gets the mistake of each line that has one, and the
 *   others are read all the same; with %NULL the first mistake fails the whole
 * @error: return location for an error
 *
 * Reads a file of schemas. A line whose operator stands in an earlier one is a mistake.
 *
 * Errors: %XP_ERROR_FILE_IO, %XP_ERROR_FILE_FORMAT for one that is no text or larger than 64 MiB,
 * %XP_ERROR_SCHEMA_SYNTAX with file and line.
 *
 * Returns: (transfer full): what it holds, which may be nothing
 */
XP_PUBLIC XpSchemaFile *xp_schema_file_read (const char *path, const char *location,
                                             GPtrArray *mistakes, GError **error);

XP_PUBLIC void xp_schema_file_free (XpSchemaFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpSchemaFile, xp_schema_file_free)

G_END_DECLS

#endif
