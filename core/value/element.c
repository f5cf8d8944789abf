/* SPDX-License-Identifier: MIT
 *
 * element.c: single elements of tensors, as Scalars.
 */
#include "value/element.h"

#include <math.h>
#include <string.h>

/* In integers, since clang 14 has no _Float16 without AVX-512. */
float
xp_float_from_half (uint16_t bits)
{
  uint32_t sign = (uint32_t) (bits & 0x8000) << 16, magnitude = bits & 0x7fff;
  if (magnitude < 0x0400)
    return (float) magnitude * (sign != 0 ? -0x1p-24f : 0x1p-24f);
  uint32_t rebias = magnitude < 0x7c00 ? 112u << 23 : 224u << 23;
  uint32_t wide = sign | ((magnitude << 13) + rebias);
  float number;
  memcpy (&number, &wide, sizeof number);
  return number;
}

/* Rounds to nearest, ties to even. */
uint16_t
xp_float_to_half (float number)
{
  uint32_t wide;
  memcpy (&wide, &number, sizeof wide);
  uint32_t sign = wide >> 16 & 0x8000, magnitude = wide & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return (uint16_t) (sign | 0x7e00);
  if (magnitude >= 0x477ff000) /* from 65520 on nearer to infinity than to the largest half */
    return (uint16_t) (sign | 0x7c00);
  if (magnitude >= 0x38800000)
    return (uint16_t) (sign | ((magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13));
  /* Too small for a normal half: beside 0.5 the last bit of a float is that of the smallest half.
   */
  float shifted = fabsf (number) + 0.5f;
  memcpy (&wide, &shifted, sizeof wide);
  return (uint16_t) (sign | (wide - 0x3f000000));
}

float
xp_float_from_bfloat16 (uint16_t bits)
{
  uint32_t wide = (uint32_t) bits << 16;
  float number;
  memcpy (&number, &wide, sizeof number);
  return number;
}

/* Rounds to nearest, ties to even. */
uint16_t
xp_float_to_bfloat16 (float number)
{
  uint32_t wide;
  memcpy (&wide, &number, sizeof wide);
  if (isnan (number))
    return 0x7fc0;
  return (uint16_t) ((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

XpValue
xp_element_get (const void *element, XpDType dtype)
{
  switch (dtype)
    {
#define INTEGER(type)                                                                              \
  {                                                                                                \
    type number;                                                                                   \
    memcpy (&number, element, sizeof number);                                                      \
    return xp_value_int ((int64_t) number);                                                        \
  }
    case XP_UINT8:
      INTEGER (uint8_t)
    case XP_INT8:
      INTEGER (int8_t)
    case XP_INT16:
      INTEGER (int16_t)
    case XP_INT32:
      INTEGER (int32_t)
    case XP_INT64:
      INTEGER (int64_t)
#undef INTEGER
    case XP_BOOL:
      return xp_value_bool (*(const uint8_t *) element != 0);
    case XP_FLOAT16:
    case XP_BFLOAT16:
      {
        uint16_t bits;
        memcpy (&bits, element, sizeof bits);
        return xp_value_float (dtype == XP_FLOAT16 ? xp_float_from_half (bits)
                                                   : xp_float_from_bfloat16 (bits));
      }
    case XP_FLOAT32:
      {
        float number;
        memcpy (&number, element, sizeof number);
        return xp_value_float (number);
      }
    case XP_FLOAT64:
      {
        double number;
        memcpy (&number, element, sizeof number);
        return xp_value_float (number);
      }
    case XP_COMPLEX64:
      {
        float parts[2];
        memcpy (parts, element, sizeof parts);
        return xp_value_complex (parts[0], parts[1]);
      }
    case XP_COMPLEX128:
      {
        double parts[2];
        memcpy (parts, element, sizeof parts);
        return xp_value_complex (parts[0], parts[1]);
      }
    default:
      return XP_NONE;
    }
}

void
xp_element_set (void *element, XpDType dtype, XpValue scalar)
{
  switch (dtype)
    {
#define INTEGER(type)                                                                              \
  {                                                                                                \
    type number = (type) xp_scalar_to_int64 (scalar);                                              \
    memcpy (element, &number, sizeof number);                                                      \
    break;                                                                                         \
  }
    case XP_UINT8:
      INTEGER (uint8_t)
    case XP_INT8:
      INTEGER (int8_t)
    case XP_INT16:
      INTEGER (int16_t)
    case XP_INT32:
      INTEGER (int32_t)
    case XP_INT64:
      INTEGER (int64_t)
#undef INTEGER
    case XP_BOOL:
      {
        double real, imaginary;
        xp_scalar_to_complex (scalar, &real, &imaginary);
        *(uint8_t *) element = real != 0 || imaginary != 0;
        break;
      }
    case XP_FLOAT16:
    case XP_BFLOAT16:
      {
        float number = (float) xp_scalar_to_double (scalar);
        uint16_t bits = dtype == XP_FLOAT16 ? xp_float_to_half (number)
                                            : xp_float_to_bfloat16 (number);
        memcpy (element, &bits, sizeof bits);
        break;
      }
    case XP_FLOAT32:
      {
        float number = (float) xp_scalar_to_double (scalar);
        memcpy (element, &number, sizeof number);
        break;
      }
    case XP_FLOAT64:
      {
        double number = xp_scalar_to_double (scalar);
        memcpy (element, &number, sizeof number);
        break;
      }
    case XP_COMPLEX64:
      {
        double parts[2];
        xp_scalar_to_complex (scalar, &parts[0], &parts[1]);
        float narrow[2] = { (float) parts[0], (float) parts[1] };
        memcpy (element, narrow, sizeof narrow);
        break;
      }
    case XP_COMPLEX128:
      {
        double parts[2];
        xp_scalar_to_complex (scalar, &parts[0], &parts[1]);
        memcpy (element, parts, sizeof parts);
        break;
      }
    default:
      break;
    }
}

static void *
element_at (const XpTensor *tensor, int64_t index)
{
  int64_t offset = 0;
  for (int i = tensor->dl.ndim; i-- > 0;)
    {
      offset += index % tensor->dl.shape[i] * tensor->dl.strides[i];
      index /= tensor->dl.shape[i];
    }
  return (char *) xp_tensor_data (tensor)
         + offset * (int64_t) xp_dtype_size (xp_tensor_dtype (tensor));
}

XpValue
xp_tensor_get_element (const XpTensor *tensor, int64_t index)
{
  g_return_val_if_fail (tensor != NULL && tensor->layout == XP_STRIDED, XP_NONE);
  g_return_val_if_fail (tensor->dl.device.device_type == kDLCPU, XP_NONE);
  g_return_val_if_fail (index >= 0 && index < tensor->numel, XP_NONE);
  return xp_element_get (element_at (tensor, index), xp_tensor_dtype (tensor));
}

void
xp_tensor_set_element (XpTensor *tensor, int64_t index, XpValue scalar)
{
  g_return_if_fail (tensor != NULL && tensor->layout == XP_STRIDED);
  g_return_if_fail (tensor->dl.device.device_type == kDLCPU);
  g_return_if_fail (index >= 0 && index < tensor->numel);
  g_return_if_fail (xp_value_is_scalar (scalar));
  xp_element_set (element_at (tensor, index), xp_tensor_dtype (tensor), scalar);
}
