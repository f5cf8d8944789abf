/* SPDX-License-Identifier: MIT
 *
 * reduce.c: results of reductions: which dimensions go, and what is left.
 */
#include "prepare.h"

static XpTensor *
new_reduced (const XpTensor *self, uint64_t reduced, bool keepdim, XpDType dtype, GError **error)
{
  XpShape shape = { 0 };
  for (int i = 0; i < self->dl.ndim; i++)
    if (!(reduced >> i & 1))
      shape.sizes[shape.n_dims++] = self->dl.shape[i];
    else if (keepdim)
      shape.sizes[shape.n_dims++] = 1;
  return xp_tensor_new (dtype, xp_shape_ints (&shape), xp_tensor_device (self), error);
}

static gboolean
find_reduced (const XpTensor *self, const XpInts *dims, uint64_t *reduced, GError **error)
{
  int along;
  *reduced = 0;
  if (dims == NULL || dims->length == 0)
    {
      *reduced = ~(uint64_t) 0;
      return TRUE;
    }
  for (size_t i = 0; i < dims->length; i++)
    {
      if (!xp_wrap_dimension (dims->data[i], self->dl.ndim, &along, error))
        return FALSE;
      if (*reduced >> along & 1)
        {
          xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "dim" },
                        "dim %d appears multiple times in the list of dims", along);
          return FALSE;
        }
      *reduced |= (uint64_t) 1 << along;
    }
  return TRUE;
}

XpTensor *
prepare_sum (XpTensor *self, const XpInts *dims, bool keepdim, const XpDType *dtype,
             uint64_t *reduced, GError **error)
{
  XpDType own = xp_tensor_dtype (self);
  XpDType result = dtype != NULL                                 ? *dtype
                   : xp_dtype_category (own) < XP_CATEGORY_FLOAT ? XP_INT64
                                                                 : own;
  if (!prepare_check_strided (&self, 1, error) || !find_reduced (self, dims, reduced, error))
    return NULL;
  return new_reduced (self, *reduced, keepdim, result, error);
}

static gboolean
check_not_empty (const XpTensor *self, const char *name, int along, GError **error)
{
  if (self->dl.ndim == 0 || self->dl.shape[along] > 0)
    return TRUE;
  xp_error_set (error, XP_ERROR_INDEX, NULL,
                "%s(): Expected reduction dim %d to have non-zero size.", name, along);
  return FALSE;
}

XpTensor *
prepare_max_dim (XpTensor *self, int64_t dim, bool keepdim, int *along, XpTensor **indices,
                 GError **error)
{
  if (!prepare_check_strided (&self, 1, error)
      || !xp_wrap_dimension (dim, self->dl.ndim, along, error)
      || !check_not_empty (self, "max", *along, error))
    return NULL;
  if (xp_dtype_category (xp_tensor_dtype (self)) == XP_CATEGORY_COMPLEX)
    {
      xp_error_set (error, XP_ERROR_DTYPE, NULL, "max(): does not support complex input");
      return NULL;
    }
  uint64_t reduced = (uint64_t) 1 << *along;
  g_autoptr (XpTensor) values = new_reduced (self, reduced, keepdim, xp_tensor_dtype (self), error);
  if (values == NULL)
    return NULL;
  *indices = new_reduced (self, reduced, keepdim, XP_INT64, error);
  return *indices != NULL ? g_steal_pointer (&values) : NULL;
}

XpTensor *
prepare_argmax (XpTensor *self, const int64_t *dim, bool keepdim, int *along, GError **error)
{
  *along = -1;
  if (!prepare_check_strided (&self, 1, error))
    return NULL;
  if (dim == NULL && self->numel == 0)
    {
      xp_error_set (error, XP_ERROR_INDEX, NULL,
                    "argmax(): Expected reduction dim to be specified for input.numel() == 0.");
      return NULL;
    }
  if (dim != NULL
      && (!xp_wrap_dimension (*dim, self->dl.ndim, along, error)
          || !check_not_empty (self, "argmax", *along, error)))
    return NULL;
  uint64_t reduced = dim == NULL ? ~(uint64_t) 0 : (uint64_t) 1 << *along;
  return new_reduced (self, reduced, keepdim, XP_INT64, error);
}
