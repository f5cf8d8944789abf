/* SPDX-License-Identifier: MIT
 *
 * expression.c: any text is an expression of the little language, or an error that is a text.
 */
#include "fuzz.h"

#include "language/syntax.h"

#include <stdlib.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (Expression) expression = expression_parse_whole (text, &error);
  if ((expression == NULL) != (error != NULL))
    abort ();
  return 0;
}
