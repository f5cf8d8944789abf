/* SPDX-License-Identifier: MIT
 *
 * blocks.h: registering from a test program: blocks, definitions and kernels in a line each, and
 * tensors of any backend. Each fails the test where the library refuses.
 */
#pragma once

#include "suite.h"

#include <string.h>

/* A block of the program at "block.c:1"; @key is NULL for the catch-all. */
XpLibrary *block_new (XpLibraryKind kind, const char *name_space, const char *key);

static inline XpLibrary *
fragment_new (const char *name_space)
{
  return block_new (XP_LIBRARY_KIND_FRAGMENT, name_space, NULL);
}

static inline XpLibrary *
impl_new (const char *name_space, const char *key)
{
  return block_new (XP_LIBRARY_KIND_IMPL, name_space, key);
}

/* Opens a row at "row.c:1". */
void define (XpLibrary *block, const char *schema);
void define_tagged (XpLibrary *block, const char *schema, const char *tags);

/* Registers @kernel for the operator @name, or as a fallback where that is NULL, at
 * "kernel.c:LINE". */
void implement (XpLibrary *block, const char *name, XpBoxedFunction kernel, int line);
void implement_with (XpLibrary *block, const char *name, XpBoxedFunction kernel, int line,
                     void *data, GDestroyNotify destroy);

/* A kernel whose results are numbers, whatever its schema says. */
XpStatus give_something (XpCall *call, const XpValue *arguments, XpValue *results, GError **error);

/* The same, which also leaves its line, given as its data, in @ran. */
XpStatus recording_kernel (XpCall *call, const XpValue *arguments, XpValue *results,
                           GError **error);
/* recording_kernel() at "kernel.c:LINE". */
void record_at (XpLibrary *block, const char *name, int line);
extern __thread int ran;

/* A tensor without memory that carries the keys of @functionality and @backend (reference 7.4). */
XpTensor *tensor_of (XpFunctionality functionality, XpBackend backend);

/* The operator, which must be there. */
XpOperator *operator_named (const char *name);

/* Calls the operator of @name, which has at most 8 results, and drops those; @error as ever. */
XpStatus call_named (const char *name, const XpValue *arguments, GError **error);

/* Calls the operator of @name, whose only argument is a tensor, and gives the line of the recording
 * kernel that ran. */
int line_called (const char *name, XpTensor *tensor);

/* Fails unless what is stored in every row is what the rules say. */
void assert_table_is_sound (void);

/* Takes the text, which it frees, and compares. */
void assert_text (char *found, const char *expected);

/* Opens a block; as xp_library_new(), but a plugin's opens blocks which that plugin owns. */
typedef XpLibrary *(*Open) (XpLibraryKind kind, const char *name_space, const char *key,
                            const char *file, int line, GError **error);

/* Loads a plugin made of opener.c, and gives its function. */
Open opener (const char *plugin);

/* The plugin NAME.so that is built beside this program; free with g_free(). */
char *beside_program (const char *name);

/* The whole table as text: every row's dump and cells, and the fallbacks. */
char *whole_table (void);
