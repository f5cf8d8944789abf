/* SPDX-License-Identifier: MIT
 *
 * header.h: the C that is written from a .ops file.
 */
#pragma once

#include "types.h"

/* The default of an argument as C for its caller, with what it needs to be declared; NULL where it
 * cannot be written in C. @name is the argument's own. */
char *default_expression (const XpArgument *argument, const ArgumentType *type, const char *name,
                          GString *declarations);

/* The header with callers and adapters. Operators that C has no form for are left out; @notes gets
 * a text for each, and for each that has another name than one would expect: `LINE: why`. */
char *header_write (const XpSchemaFile *file, const char *name_space, GPtrArray *notes);

/* The caller of each operator, `xp_aten_relu (XpTensor *self, …)`, in the order of the file; NULL
 * for one that is left out. (element-type utf8) */
GPtrArray *header_prototypes (const XpSchemaFile *file);

/* The reference page. */
char *page_write (const XpSchemaFile *file, const char *name_space);

/* The C file that opens the rows: one XP_LIBRARY block. */
char *rows_write (const XpSchemaFile *file, const char *name_space);

/* The namespace of all operators of a file; SCHEMA_SYNTAX where there are none, or several. */
char *name_space_of_file (const XpSchemaFile *file, GError **error);
