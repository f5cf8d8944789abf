/* SPDX-License-Identifier: MIT
 *
 * scalar.c: a Scalar as a number of each kind.
 */
#include "value/object.h"

#include <math.h>

double
xp_scalar_to_double (XpValue scalar)
{
  switch (scalar.tag)
    {
    case XP_TAG_BOOL:
    case XP_TAG_INT:
      return (double) scalar.as.integer;
    case XP_TAG_FLOAT:
      return scalar.as.number;
    case XP_TAG_COMPLEX:
      return scalar.as.complex_->real;
    default:
      return 0;
    }
}

int64_t
xp_scalar_to_int64 (XpValue scalar)
{
  if (scalar.tag == XP_TAG_INT || scalar.tag == XP_TAG_BOOL)
    return scalar.as.integer;
  double number = xp_scalar_to_double (scalar);
  if (isnan (number))
    return 0;
  if (number >= 0x1p63)
    return G_MAXINT64;
  if (number < -0x1p63)
    return G_MININT64;
  return (int64_t) number;
}

void
xp_scalar_to_complex (XpValue scalar, double *real, double *imaginary)
{
  g_return_if_fail (real != NULL && imaginary != NULL);
  *real = xp_scalar_to_double (scalar);
  *imaginary = scalar.tag == XP_TAG_COMPLEX ? scalar.as.complex_->imaginary : 0;
}

XpDType
xp_scalar_dtype (XpValue scalar)
{
  switch (scalar.tag)
    {
    case XP_TAG_BOOL:
      return XP_BOOL;
    case XP_TAG_INT:
      return XP_INT64;
    case XP_TAG_COMPLEX:
      return XP_COMPLEX128;
    default:
      return XP_FLOAT64;
    }
}
