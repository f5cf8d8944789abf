/* SPDX-License-Identifier: MIT
 *
 * file.c: bytes as a file, for targets that take a path.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

char *
fuzz_file (const uint8_t *data, size_t size, int *fd)
{
  *fd = memfd_create ("fuzz", MFD_CLOEXEC);
  if (*fd < 0 || (size > 0 && write (*fd, data, size) != (ssize_t) size))
    abort ();
  return g_strdup_printf ("/proc/self/fd/%d", *fd);
}
