/* SPDX-License-Identifier: MIT
 *
 * conversions.c: between the strided and the COO layout, and from one COO tensor to another.
 */
#include "sparse.h"

#include <string.h>

/* --- From strided. --- */

/* A block of a strided tensor that is looked at for something other than zero. */
typedef struct
{
  size_t n_bytes;
  size_t part;   /* bytes of a number, real or imaginary */
  uint64_t mask; /* the bits of a number that tell it from zero: not the sign of -0.0 */
} Block;

static Block
block_of (XpDType dtype, int64_t n_elements)
{
  XpDTypeCategory category = xp_dtype_category (dtype);
  size_t part = xp_dtype_size (dtype) / (category == XP_CATEGORY_COMPLEX ? 2 : 1);
  uint64_t mask = ~(uint64_t) 0 >> (64 - 8 * part);
  if (category >= XP_CATEGORY_FLOAT)
    mask >>= 1;
  return (Block){ (size_t) n_elements * xp_dtype_size (dtype), part, mask };
}

static bool
is_nonzero (const Block *block, const char *at)
{
  for (size_t i = 0; i < block->n_bytes; i += block->part)
    {
      uint64_t bits = 0;
      memcpy (&bits, at + i, block->part);
#if G_BYTE_ORDER == G_BIG_ENDIAN
      bits >>= 64 - 8 * block->part;
#endif
      if (bits & block->mask)
        return true;
    }
  return false;
}

static void
set_index (int64_t *indices, int64_t n_entries, int64_t entry, int64_t place, const int64_t *sizes,
           int sparse_dims)
{
  for (int d = sparse_dims - 1; d >= 0; d--)
    {
      indices[d * n_entries + entry] = place % sizes[d];
      place /= sizes[d];
    }
}

/* The blocks of @self, contiguous, that hold anything but zeros. */
static XpStatus
collect (XpTensor *self, int sparse_dims, XpTensor **result, GError **error)
{
  XpInts shape = xp_tensor_shape (self);
  const char *at = xp_tensor_data (self);
  int64_t n_places = 0, n_entries = 0;
  if (self->numel > 0
      && !xp_shape_numel ((XpInts){ shape.data, (size_t) sparse_dims }, &n_places, error))
    return XP_FAILED;
  Block block = block_of (xp_tensor_dtype (self), n_places > 0 ? self->numel / n_places : 0);
  for (int64_t i = 0; i < n_places; i++)
    n_entries += is_nonzero (&block, at + (size_t) i * block.n_bytes);
  XpTensor *indices = coo_indices_new (sparse_dims, n_entries, error);
  XpTensor *values = indices != NULL ? coo_values_new (xp_tensor_dtype (self), shape, sparse_dims,
                                                       n_entries, error)
                                     : NULL;
  char *to = values != NULL ? xp_tensor_data (values) : NULL;
  for (int64_t i = 0, entry = 0; values != NULL && entry < n_entries; i++)
    {
      const char *from = at + (size_t) i * block.n_bytes;
      if (!is_nonzero (&block, from))
        continue;
      memcpy (to + (size_t) entry * block.n_bytes, from, block.n_bytes);
      set_index (xp_tensor_data (indices), n_entries, entry++, i, shape.data, sparse_dims);
    }
  return coo_return (shape, indices, values, TRUE, result, error);
}

static XpStatus
convert (XpCall *call, XpTensor *self, int sparse_dims, XpTensor **result, GError **error)
{
  if (self->layout != XP_STRIDED)
    return xp_call_decline (call, "only strided tensors");
  g_autoptr (XpTensor) contiguous = converted (self, xp_tensor_dtype (self), error);
  return contiguous != NULL ? collect (contiguous, sparse_dims, result, error) : XP_FAILED;
}

static XpStatus
to_sparse (XpCall *call, XpTensor *self, XpTensor **result, GError **error)
{
  return convert (call, self, self->dl.ndim, result, error);
}

/* Makes the hybrid tensors, whose last dimensions are dense. */
static XpStatus
to_sparse_hybrid (XpCall *call, XpTensor *self, int64_t sparse_dims, XpTensor **result,
                  GError **error)
{
  if (sparse_dims > self->dl.ndim || sparse_dims < MIN (self->dl.ndim, 1))
    {
      xp_error_set (
          error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "sparse_dim" },
          sparse_dims > self->dl.ndim ? "sparse_dim must be less than or equal to self.dim()"
                                      : "sparse_dim must be >0 if dimensionality > 0");
      return XP_FAILED;
    }
  return convert (call, self, (int) sparse_dims, result, error);
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_to_sparse (m, to_sparse);
  xp_impl_aten_to_sparse_sparse_dim (m, to_sparse_hybrid);
}

/* --- To strided. --- */

static XpStatus
to_dense (XpCall *call, XpTensor *self, const XpDType *dtype, XpTensor **result, GError **error)
{
  XpDType own = xp_tensor_dtype (self);
  g_autoptr (XpTensor) zeros = NULL;
  if (self->layout == XP_STRIDED)
    {
      if (dtype != NULL && *dtype != own)
        return xp_aten__to_copy (self, dtype, NULL, NULL, NULL, false, NULL, result, error);
      *result = xp_tensor_ref (self);
      return XP_OK;
    }
  if (!is_sparse (self))
    return xp_call_decline (call, "only strided and sparse_coo tensors");
  if (dtype != NULL)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "dtype" },
                    "dtype argument is not supported by sparse_to_dense");
      return XP_FAILED;
    }
  zeros = zeros_new (own, xp_tensor_shape (self), error);
  if (zeros == NULL)
    return XP_FAILED;
  return xp_aten_add__Tensor (zeros, self, xp_value_int (1), result, error);
}

XP_LIBRARY_IMPL (aten, CompositeImplicitAutograd, m)
{
  xp_impl_aten_to_dense (m, to_dense);
}

/* --- From one to another. --- */

static XpStatus
empty (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDType *dtype,
       G_GNUC_UNUSED const XpLayout *layout, G_GNUC_UNUSED const XpDevice *device,
       const bool *pin_memory, G_GNUC_UNUSED const XpMemoryFormat *memory_format, XpTensor **result,
       GError **error)
{
  XpShape shape;
  XpDType type = dtype != NULL ? *dtype : xp_default_dtype ();
  if (pin_memory != NULL && *pin_memory)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT,
                    &(XpErrorDetails){ .argument = (char *) "pin_memory" },
                    "Only dense CPU tensors can be pinned");
      return XP_FAILED;
    }
  if (!xp_shape_from_ints (size, &shape, error))
    return XP_FAILED;
  XpTensor *indices = coo_indices_new (shape.n_dims, 0, error);
  XpTensor *values = indices != NULL ? coo_values_new (type, size, shape.n_dims, 0, error) : NULL;
  return coo_return (size, indices, values, TRUE, result, error);
}

static const char *
format_message_name (XpMemoryFormat format)
{
  static const char *const names[] = {
    [XP_CONTIGUOUS_FORMAT] = "Contiguous",
    [XP_PRESERVE_FORMAT] = "Preserve",
    [XP_CHANNELS_LAST] = "ChannelsLast",
    [XP_CHANNELS_LAST_3D] = "ChannelsLast3d",
  };
  return (unsigned) format < G_N_ELEMENTS (names) ? names[format] : xp_memory_format_name (format);
}

static XpStatus
clone_tensor (G_GNUC_UNUSED XpCall *call, XpTensor *self, const XpMemoryFormat *memory_format,
              XpTensor **result, GError **error)
{
  const Coo *coo = coo_get (self, error);
  XpTensor *indices = NULL, *values = NULL;
  if (coo == NULL)
    return XP_FAILED;
  if (memory_format != NULL)
    {
      xp_error_set (error, XP_ERROR_ARGUMENT,
                    &(XpErrorDetails){ .argument = (char *) "memory_format" },
                    "unsupported memory format option %s", format_message_name (*memory_format));
      return XP_FAILED;
    }
  indices = copied (coo->indices, XP_INT64, error);
  values = indices != NULL ? copied (coo->values, xp_tensor_dtype (self), error) : NULL;
  return coo_return (xp_tensor_shape (self), indices, values, coo->is_coalesced, result, error);
}

/* The name that PyTorch's messages have for the class of a tensor: `torch.sparse.FloatTensor`. */
static char *
class_name (const XpTensor *tensor)
{
  return g_strdup_printf ("torch.%s%sTensor", is_sparse (tensor) ? "sparse." : "",
                          xp_dtype_message_name (xp_tensor_dtype (tensor)));
}

static XpStatus
copy (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *src, G_GNUC_UNUSED bool non_blocking,
      XpTensor **result, GError **error)
{
  if (is_sparse (self) != is_sparse (src))
    {
      g_autofree char *to = class_name (self);
      g_autofree char *from = class_name (src);
      xp_error_set (error, XP_ERROR_ARGUMENT, &(XpErrorDetails){ .argument = (char *) "src" },
                    "copy_() between dense and sparse Tensors is not implemented! Found self type "
                    "= %s and src type = %s",
                    to, from);
      return XP_FAILED;
    }
  const Coo *coo = coo_get (src, error);
  if (coo == NULL || coo_get (self, error) == NULL)
    return XP_FAILED;
  g_autoptr (XpTensor) indices = copied (coo->indices, XP_INT64, error);
  XpTensor *values = indices != NULL ? copied (coo->values, xp_tensor_dtype (self), error) : NULL;
  if (values == NULL
      || !coo_replace (self, xp_tensor_shape (src), g_steal_pointer (&indices), values,
                       coo->is_coalesced, error))
    return XP_FAILED;
  *result = xp_tensor_ref (self);
  return XP_OK;
}

XP_LIBRARY_IMPL (aten, SparseCPU, m)
{
  xp_impl_aten_empty_memory_format (m, empty);
  xp_impl_aten_clone (m, clone_tensor);
  xp_impl_aten_copy_ (m, copy);
}
