/* SPDX-License-Identifier: MIT
 *
 * operators.c: any bytes are a .ops file, of which C can be written, or an error that names it.
 */
#include "fuzz.h"

#include "gen/header.h"

#include <crosspoint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  int fd;
  g_autofree char *path = fuzz_file (data, size, &fd);
  g_autoptr (XpSchemaFile) file = xp_schema_file_read (path, "fuzz.ops", NULL, &error);
  g_autoptr (GPtrArray) mistakes = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free);
  g_autoptr (XpSchemaFile) all = xp_schema_file_read (path, "fuzz.ops", mistakes, NULL);
  close (fd);
  if (all != NULL && (file == NULL) != (mistakes->len > 0))
    abort ();
  g_autofree char *name_space = file != NULL ? name_space_of_file (file, &error) : NULL;
  if (name_space != NULL)
    {
      g_autofree char *rows = rows_write (file, name_space);
      g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
      g_autofree char *header = header_write (file, name_space, notes);
      g_autofree char *page = page_write (file, name_space);
      if (rows == NULL || header == NULL || page == NULL || error != NULL)
        abort ();
    }
  if (error != NULL && strstr (error->message, "fuzz.ops") == NULL
      && strstr (error->message, "/proc/") == NULL)
    abort ();
  return 0;
}
