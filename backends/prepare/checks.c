/* SPDX-License-Identifier: MIT
 *
 * checks.c: checks that operators of all families share.
 */
#include "prepare.h"

#include <math.h>
#include <string.h>

gboolean
prepare_check_strided (XpTensor *const *tensors, unsigned n, GError **error)
{
  for (unsigned i = 0; i < n; i++)
    if (tensors[i] != NULL && tensors[i]->layout != XP_STRIDED)
      {
        xp_error_set (error, XP_ERROR_ARGUMENT, NULL,
                      "expected a tensor of layout strided, but argument %u has layout %s; convert "
                      "it with to_dense first",
                      i, xp_layout_name ((XpLayout) tensors[i]->layout));
        return FALSE;
      }
  return TRUE;
}

/* What PyTorch calls the C type of a dtype, and the range of finite numbers that fit it. */
static const struct
{
  const char *type_name;
  double lowest;
  double highest;
} ranges[XP_DTYPE_LIMIT] = {
  [XP_UINT8] = { "uint8_t", -255, 255 }, /* negative integers wrap around */
  [XP_INT8] = { "int8_t", G_MININT8, G_MAXINT8 },
  [XP_INT16] = { "int16_t", G_MININT16, G_MAXINT16 },
  [XP_INT32] = { "int", G_MININT32, G_MAXINT32 },
  [XP_INT64] = { "int64_t", -0x1p63, 0x1p63 },
  [XP_FLOAT16] = { "at::Half", -65504, 65504 },
  [XP_FLOAT32] = { "float", -G_MAXFLOAT, G_MAXFLOAT },
  [XP_FLOAT64] = { "double", -G_MAXDOUBLE, G_MAXDOUBLE },
  [XP_COMPLEX64] = { "c10::complex<float>", -G_MAXFLOAT, G_MAXFLOAT },
  [XP_COMPLEX128] = { "c10::complex<double>", -G_MAXDOUBLE, G_MAXDOUBLE },
  [XP_BFLOAT16] = { "at::BFloat16", -0x1.fep127, 0x1.fep127 },
};

static gboolean
number_fits (double number, XpTag tag, XpDType dtype)
{
  if (xp_dtype_category (dtype) >= XP_CATEGORY_FLOAT && !isfinite (number))
    return TRUE;
  if (dtype == XP_UINT8 && tag == XP_TAG_FLOAT && number < 0)
    return FALSE;
  return number >= ranges[dtype].lowest && number <= ranges[dtype].highest;
}

gboolean
prepare_check_scalar (XpValue scalar, XpDType dtype, GError **error)
{
  double real, imaginary;
  xp_scalar_to_complex (scalar, &real, &imaginary);
  gboolean fits = dtype == XP_BOOL
                  || (number_fits (real, scalar.tag, dtype)
                      && (xp_dtype_category (dtype) == XP_CATEGORY_COMPLEX
                              ? number_fits (imaginary, scalar.tag, dtype)
                              : imaginary == 0));
  if (!fits)
    xp_error_set (error, XP_ERROR_ARGUMENT, NULL,
                  "value cannot be converted to type %s without overflow", ranges[dtype].type_name);
  return fits;
}

/* The dimensions of more than one element, innermost first. Returns how many. */
static int
order_of (const XpTensor *tensor, int *order)
{
  int n = 0;
  for (int i = 0; i < xp_tensor_n_dims (tensor); i++)
    {
      if (tensor->dl.shape[i] < 2)
        continue;
      int at = n++;
      for (; at > 0 && tensor->dl.strides[order[at - 1]] > tensor->dl.strides[i]; at--)
        order[at] = order[at - 1];
      order[at] = i;
    }
  return n;
}

gboolean
prepare_is_dense (const XpTensor *tensor)
{
  int order[XP_MAX_DIMENSIONS];
  int64_t expected = 1;
  if (xp_tensor_is_contiguous (tensor))
    return TRUE;
  int n = order_of (tensor, order);
  for (int i = 0; i < n; i++)
    {
      if (tensor->dl.strides[order[i]] != expected)
        return FALSE;
      expected *= tensor->dl.shape[order[i]];
    }
  return TRUE;
}

static gboolean
repeats_an_element (const XpTensor *tensor)
{
  if (xp_tensor_is_contiguous (tensor))
    return FALSE;
  for (int i = 0; i < xp_tensor_n_dims (tensor); i++)
    if (tensor->dl.shape[i] > 1 && tensor->dl.strides[i] == 0)
      return TRUE;
  return FALSE;
}

static gboolean
has_strides_of (const XpTensor *a, const XpTensor *b)
{
  return a->dl.ndim == b->dl.ndim
         && (a->dl.ndim == 0
             || memcmp (a->dl.strides, b->dl.strides, (size_t) a->dl.ndim * sizeof (int64_t)) == 0);
}

/* Only stretches of memory that are filled are compared, as PyTorch does: what overlaps otherwise
 * is not found. */
static gboolean
overlaps_in_part (const XpTensor *written, const XpTensor *input)
{
  if (written == input || written->numel == 0 || input->numel == 0
      || !xp_tensor_shares_storage (written, input) || !prepare_is_dense (written)
      || !prepare_is_dense (input))
    return FALSE;
  int64_t written_from = xp_tensor_storage_offset (written);
  int64_t input_from = xp_tensor_storage_offset (input);
  if (written_from == input_from && written->numel == input->numel)
    return !has_strides_of (written, input);
  return written_from < input_from + input->numel && input_from < written_from + written->numel;
}

gboolean
prepare_check_no_overlap (const XpTensor *written, XpTensor *const *inputs, unsigned n,
                          GError **error)
{
  if (repeats_an_element (written))
    {
      xp_error_set (error, XP_ERROR_ARGUMENT, NULL,
                    "unsupported operation: more than one element of the written-to tensor refers "
                    "to a single memory location. Please clone() the tensor before performing the "
                    "operation.");
      return FALSE;
    }
  for (unsigned i = 0; i < n; i++)
    if (inputs[i] != NULL && overlaps_in_part (written, inputs[i]))
      {
        xp_error_set (error, XP_ERROR_ARGUMENT, NULL,
                      "unsupported operation: some elements of the input tensor and the written-to "
                      "tensor refer to a single memory location. Please clone() the tensor before "
                      "performing the operation.");
        return FALSE;
      }
  return TRUE;
}

gboolean
prepare_check_same_shape (const XpTensor *written, const XpShape *broadcast, GError **error)
{
  if (written->dl.ndim == broadcast->n_dims
      && (written->dl.ndim == 0
          || memcmp (written->dl.shape, broadcast->sizes,
                     (size_t) written->dl.ndim * sizeof (int64_t))
                 == 0))
    return TRUE;
  g_autofree char *found = xp_shape_to_string (xp_tensor_shape (written));
  g_autofree char *wanted = xp_shape_to_string (xp_shape_ints (broadcast));
  xp_error_set (error, XP_ERROR_SHAPE, NULL,
                "output with shape %s doesn't match the broadcast shape %s", found, wanted);
  return FALSE;
}

XpStatus
prepare_not_implemented (const char *name, XpDType dtype, GError **error)
{
  xp_error_set (error, XP_ERROR_DTYPE, NULL, "\"%s\" not implemented for '%s'", name,
                xp_dtype_message_name (dtype));
  return XP_FAILED;
}
