/* SPDX-License-Identifier: MIT
 *
 * print_npy.c: prints the tensors in .npy files, each followed by a NUL, for print_parity.py.
 *
 * usage: print_npy [--bfloat16] [--requires-grad] FILE...
 *
 * The options hold for the files after them; --bfloat16 converts, since NumPy has no such type.
 */
#include <crosspoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static XpTensor *
to_bfloat16 (const XpTensor *tensor)
{
  XpTensor *result = xp_tensor_new (XP_BFLOAT16, xp_tensor_shape (tensor), XP_CPU, NULL);
  for (int64_t i = 0; result != NULL && i < tensor->numel; i++)
    {
      g_auto (XpValue) element = xp_tensor_get_element (tensor, i);
      xp_tensor_set_element (result, i, element);
    }
  return result;
}

static gboolean
print_file (const char *path, gboolean bfloat16, gboolean requires_grad)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (XpTensor) tensor = xp_tensor_load_npy (path, &error);
  if (tensor != NULL && bfloat16)
    {
      XpTensor *converted = to_bfloat16 (tensor);
      xp_tensor_unref (tensor);
      tensor = converted;
    }
  if (tensor == NULL || (requires_grad && !xp_tensor_set_requires_grad (tensor, TRUE, &error)))
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : path);
      return FALSE;
    }
  g_autofree char *text = xp_tensor_to_string (tensor);
  fwrite (text, 1, strlen (text) + 1, stdout);
  return TRUE;
}

int
main (int argc, char **argv)
{
  gboolean bfloat16 = FALSE, requires_grad = FALSE;
  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--bfloat16") == 0)
      bfloat16 = TRUE;
    else if (strcmp (argv[i], "--requires-grad") == 0)
      requires_grad = TRUE;
    else if (!print_file (argv[i], bfloat16, requires_grad))
      return EXIT_FAILURE;
  return EXIT_SUCCESS;
}
