/* SPDX-License-Identifier: MIT
 *
 * npy.c: any bytes either load as a tensor, which then survives saving and loading, or give an
 * error that names the file.
 */
#include "fuzz.h"

#include <crosspoint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
check_error (const GError *error, const char *path)
{
  if (error == NULL || error->domain != XP_ERROR || !g_str_has_prefix (error->message, path)
      || !g_utf8_validate (error->message, -1, NULL))
    abort ();
}

/* Prints and saves the tensor, and loads it again: what comes must be what was. */
static void
check_tensor (const XpTensor *tensor)
{
  g_autofree char *text = xp_tensor_to_string (tensor);
  g_autofree char *path = g_strdup_printf ("/dev/shm/crosspoint-fuzz-%d.npy", (int) getpid ());
  if (!xp_tensor_save_npy (tensor, path, NULL))
    abort ();
  g_autoptr (XpTensor) again = xp_tensor_load_npy (path, NULL);
  unlink (path);
  size_t n_bytes = (size_t) tensor->numel * xp_dtype_size (xp_tensor_dtype (tensor));
  if (again == NULL || again->dtype != tensor->dtype || again->dl.ndim != tensor->dl.ndim
      || again->numel != tensor->numel
      || (n_bytes > 0 && memcmp (xp_tensor_data (again), xp_tensor_data (tensor), n_bytes) != 0))
    abort ();
  g_autofree char *second_text = xp_tensor_to_string (again);
  if (strcmp (text, second_text) != 0)
    abort ();
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t n)
{
  g_autoptr (GError) error = NULL;
  int fd;
  g_autofree char *path = fuzz_file (data, n, &fd);
  g_autoptr (XpTensor) tensor = xp_tensor_load_npy (path, &error);
  close (fd);
  if (tensor == NULL)
    check_error (error, path);
  else
    check_tensor (tensor);
  return 0;
}
