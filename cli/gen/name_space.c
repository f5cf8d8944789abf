/* SPDX-License-Identifier: MIT
 *
 * name_space.c: the namespace that C is written for.
 */
#include "header.h"

#include <string.h>

char *
name_space_of_file (const XpSchemaFile *file, GError **error)
{
  if (file->n_lines == 0)
    {
      xp_error_set (error, XP_ERROR_SCHEMA_SYNTAX, NULL,
                    "%s holds no schema: write one a line, as in aten::relu(Tensor self) -> Tensor",
                    file->path);
      return NULL;
    }
  const char *first = file->lines[0]->name;
  size_t n = (size_t) (strstr (first, "::") - first) + 2;
  for (size_t i = 1; i < file->n_lines; i++)
    if (strncmp (file->lines[i]->name, first, n) != 0)
      {
        xp_error_set (error, XP_ERROR_SCHEMA_SYNTAX, NULL,
                      "%s:%d: expected an operator of %.*s, which those before it are of, found "
                      "%s: the C of a .ops file is for one namespace; put this one into a file of "
                      "its own",
                      file->path, file->lines[i]->line, (int) n - 2, first, file->lines[i]->name);
        return NULL;
      }
  return g_strndup (first, n - 2);
}
