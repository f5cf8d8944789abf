/* SPDX-License-Identifier: MIT
 *
 * npy_header.h: the header of an .npy file: what the array in it is.
 */
#pragma once

#include <crosspoint/kernel.h>

typedef struct
{
  XpDType dtype;
  gboolean swapped; /* the bytes of a number lie in the other order than on this machine */
  gboolean fortran_order;
  XpShape shape;
  int64_t numel;
  int64_t n_bytes; /* of all elements */
} XpNpyHeader;

/* Parses the dictionary in @text. Errors start with @name. */
gboolean xp_npy_parse_header (const char *text, size_t length, const char *name,
                              XpNpyHeader *header, GError **error);

/* Everything that numpy.save() writes before the elements, from the magic to the final newline.
 * NULL for a dtype that NumPy lacks. */
GString *xp_npy_make_header (XpDType dtype, XpInts shape);

/* Bytes from a file as a text for a message: printable, and not long. */
char *xp_npy_quote (const char *bytes, size_t length);
