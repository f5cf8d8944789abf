/* SPDX-License-Identifier: MIT
 *
 * matmul.c: results of products of matrices.
 */
#include "prepare.h"

static gboolean
set_error (XpError code, GError **error, const char *message)
{
  xp_error_set (error, code, NULL, "%s", message);
  return FALSE;
}

/* One device; with a tensor without memory among them, the result has none either. */
static gboolean
find_device (XpTensor *const *tensors, unsigned n, XpDevice *device, GError **error)
{
  *device = xp_tensor_device (tensors[0]);
  for (unsigned i = 1; i < n; i++)
    {
      XpDevice other = xp_tensor_device (tensors[i]);
      if (xp_device_equal (*device, other) || device->backend == XP_BACKEND_Meta)
        continue;
      if (other.backend != XP_BACKEND_Meta)
        return set_error (XP_ERROR_DEVICE_MISMATCH, error,
                          "Expected all tensors to be on the same device; move them to one first");
      *device = other;
    }
  return TRUE;
}

static XpTensor *
new_product (XpTensor *const *tensors, unsigned n, const XpTensor *mat1, const XpTensor *mat2,
             GError **error)
{
  XpDevice device;
  if (mat1->dl.shape[1] != mat2->dl.shape[0])
    {
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "mat1 and mat2 shapes cannot be multiplied (%" G_GINT64_FORMAT
                    "x%" G_GINT64_FORMAT " and %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT ")",
                    mat1->dl.shape[0], mat1->dl.shape[1], mat2->dl.shape[0], mat2->dl.shape[1]);
      return NULL;
    }
  if (!find_device (tensors, n, &device, error))
    return NULL;
  return xp_tensor_new (xp_tensor_dtype (mat1), XP_INTS (mat1->dl.shape[0], mat2->dl.shape[1]),
                        device, error);
}

XpTensor *
prepare_mm (XpTensor *self, XpTensor *mat2, GError **error)
{
  XpTensor *tensors[] = { self, mat2 };
  if (!prepare_check_strided (tensors, 2, error))
    return NULL;
  if (self->dl.ndim != 2 || mat2->dl.ndim != 2)
    {
      xp_error_set (error, XP_ERROR_SHAPE, NULL, "%s must be a matrix",
                    self->dl.ndim != 2 ? "self" : "mat2");
      return NULL;
    }
  g_autoptr (XpTensor) result = new_product (tensors, 2, self, mat2, error);
  if (result != NULL && self->dtype != mat2->dtype)
    {
      xp_error_set (error, XP_ERROR_DTYPE, NULL, "expected scalar type %s but found %s",
                    xp_dtype_message_name (xp_tensor_dtype (self)),
                    xp_dtype_message_name (xp_tensor_dtype (mat2)));
      return NULL;
    }
  return g_steal_pointer (&result);
}

/* Whether @self can be repeated to the shape of the product. */
static gboolean
check_expands (const XpTensor *self, XpInts target, GError **error)
{
  g_autofree char *own = NULL, *wanted = NULL;
  if (self->dl.ndim > 2)
    {
      own = xp_shape_to_string (xp_tensor_shape (self));
      wanted = xp_shape_to_string (target);
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "expand(torch.%sTensor{%s}, size=%s): the number of sizes provided (2) must be "
                    "greater or equal to the number of dimensions in the tensor (%d)",
                    xp_dtype_message_name (xp_tensor_dtype (self)), own, wanted, self->dl.ndim);
      return FALSE;
    }
  for (int i = self->dl.ndim - 1; i >= 0; i--)
    {
      int at = i + 2 - self->dl.ndim;
      if (self->dl.shape[i] == target.data[at] || self->dl.shape[i] == 1)
        continue;
      own = xp_shape_to_string (xp_tensor_shape (self));
      wanted = xp_shape_to_string (target);
      xp_error_set (error, XP_ERROR_SHAPE, NULL,
                    "The expanded size of the tensor (%" G_GINT64_FORMAT
                    ") must match the existing size (%" G_GINT64_FORMAT
                    ") at non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                    target.data[at], self->dl.shape[i], at, wanted, own);
      return FALSE;
    }
  return TRUE;
}

XpTensor *
prepare_addmm (XpTensor *self, XpTensor *mat1, XpTensor *mat2, XpValue beta, XpValue alpha,
               GError **error)
{
  XpTensor *tensors[] = { self, mat1, mat2 };
  XpDType dtype = xp_tensor_dtype (self);
  if (!prepare_check_strided (tensors, 3, error))
    return NULL;
  for (int i = 1; i < 3; i++)
    if (tensors[i]->dl.ndim != 2)
      {
        xp_error_set (error, XP_ERROR_SHAPE, NULL, "mat%d must be a matrix, got %d-D tensor", i,
                      tensors[i]->dl.ndim);
        return NULL;
      }
  g_autoptr (XpTensor) result = new_product (tensors, 3, mat1, mat2, error);
  if (result == NULL || !check_expands (self, xp_tensor_shape (result), error))
    return NULL;
  if (self->dtype != mat2->dtype)
    set_error (XP_ERROR_DTYPE, error, "self and mat2 must have the same dtype");
  else if (mat1->dtype != mat2->dtype)
    set_error (XP_ERROR_DTYPE, error, "mat1 and mat2 must have the same dtype");
  else if (prepare_check_scalar (beta, dtype, error) && prepare_check_scalar (alpha, dtype, error))
    return g_steal_pointer (&result);
  return NULL;
}
