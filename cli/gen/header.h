/* SPDX-License-Identifier: MIT
 *
 * header.h: the C that is written from a .ops file.
 */
#pragma once

#include "operators.h"
#include "types.h"

/* The header with callers and adapters. */
char *header_write (const OperatorFile *file, GError **error);

/* The C file that opens the rows: one XP_LIBRARY block. */
char *rows_write (const OperatorFile *file);
