/* SPDX-License-Identifier: MIT
 *
 * views.c: checks of the operators that take a part of a tensor.
 */
#include "prepare.h"

gboolean
prepare_dimension (const XpTensor *self, const char *name, int64_t dim, int *dimension,
                   GError **error)
{
  if (self->dl.ndim == 0)
    {
      xp_error_set (error, XP_ERROR_INDEX, NULL, "%s() cannot be applied to a 0-dim tensor.", name);
      return FALSE;
    }
  return xp_wrap_dimension (dim, self->dl.ndim, dimension, error);
}

gboolean
prepare_select (const XpTensor *self, int64_t dim, int64_t index, int *dimension,
                int64_t *from_zero, GError **error)
{
  if (!prepare_dimension (self, "select", dim, dimension, error))
    return FALSE;
  int64_t size = self->dl.shape[*dimension];
  *from_zero = index < 0 ? index + size : index;
  if (index >= -size && index < size)
    return TRUE;
  g_autofree char *text = xp_shape_to_string (xp_tensor_shape (self));
  xp_error_set (error, XP_ERROR_INDEX, &(XpErrorDetails){ .argument = (char *) "index" },
                "select(): index %" G_GINT64_FORMAT
                " out of range for tensor of size %s at dimension %d",
                index, text, *dimension);
  return FALSE;
}
