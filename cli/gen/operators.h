/* SPDX-License-Identifier: MIT
 *
 * operators.h: the operators of a .ops file.
 */
#pragma once

#include <crosspoint.h>

/* A row: its schema, and what its line says besides. */
typedef struct
{
  XpSchema *schema;
  char *text;        /* the schema as the file has it */
  char *tags;        /* separated by blanks, or NULL */
  char *description; /* or NULL */
  int line;
} Operator;

typedef struct
{
  char *path;       /* as locations are to name it */
  char *name_space; /* that all operators share */
  GPtrArray *operators;
  GHashTable *by_name;
} OperatorFile;

/* Reads a .ops file: a schema a line, then any number of `@tag`, then `-- description`; empty lines
 * and lines that begin with # say nothing. @name is what locations call the file. */
OperatorFile *operator_file_read (const char *path, const char *name, GError **error);
void operator_file_free (OperatorFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (OperatorFile, operator_file_free)
