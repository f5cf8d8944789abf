/* SPDX-License-Identifier: MIT
 *
 * element.c: single elements of tensors, as Scalars.
 */
#include "value/element.h"

#include <crosspoint/half.h>
#include <math.h>
#include <string.h>

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
        uint16_t bits = dtype == XP_FLOAT16 ? xp_half_from_float (number)
                                            : xp_bfloat16_from_float (number);
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
