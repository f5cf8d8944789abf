/* SPDX-License-Identifier: MIT
 *
 * half.h: 16-bit floating point, to and from float32, in integers: not every compiler has a type
 * for it on every machine. What is converted to 16 bits is rounded to nearest, ties to even.
 */
#ifndef XP_HALF_H
#define XP_HALF_H

#include <stdint.h>
#include <string.h>

/* IEEE 754 binary16, the dtype float16. */
static inline float
xp_float_from_half (uint16_t bits)
{
  uint32_t magnitude = bits & 0x7fffu;
  uint32_t wide = (magnitude << 13) + (magnitude < 0x7c00 ? 112u << 23 : 224u << 23);
  float number;
  memcpy (&number, &wide, sizeof number);
  number = magnitude < 0x0400 ? (float) magnitude * 5.9604644775390625e-8f : number;
  memcpy (&wide, &number, sizeof wide);
  wide |= (uint32_t) (bits & 0x8000u) << 16;
  memcpy (&number, &wide, sizeof number);
  return number;
}

static inline uint16_t
xp_half_from_float (float number)
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
  number = __builtin_fabsf (number) + 0.5f;
  memcpy (&wide, &number, sizeof wide);
  return (uint16_t) (sign | (wide - 0x3f000000));
}

/* The upper half of a float32, the dtype bfloat16. */
static inline float
xp_float_from_bfloat16 (uint16_t bits)
{
  uint32_t wide = (uint32_t) bits << 16;
  float number;
  memcpy (&number, &wide, sizeof number);
  return number;
}

static inline uint16_t
xp_bfloat16_from_float (float number)
{
  uint32_t wide;
  memcpy (&wide, &number, sizeof wide);
  return number != number ? (uint16_t) 0x7fc0
                          : (uint16_t) ((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

#endif
