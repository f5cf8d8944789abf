/* SPDX-License-Identifier: MIT
 *
 * element.h: the C types of dtypes, and macros for runs of them.
 */
#pragma once

#include "loop.h"

#include <string.h>

/* _ (name, dtype, element, type to compute in)
 * Integers are computed with unsigned, so that they wrap around as PyTorch's do. */
#define CPU_EACH_INTEGER(_)                                                                        \
  _ (uint8, XP_UINT8, uint8_t, uint32_t)                                                           \
  _ (int8, XP_INT8, int8_t, uint32_t)                                                              \
  _ (int16, XP_INT16, int16_t, uint32_t)                                                           \
  _ (int32, XP_INT32, int32_t, uint32_t)                                                           \
  _ (int64, XP_INT64, int64_t, uint64_t)

#define CPU_EACH_FLOAT(_)                                                                          \
  _ (float32, XP_FLOAT32, float, float)                                                            \
  _ (float64, XP_FLOAT64, double, double)

#define CPU_EACH_COMPLEX(_)                                                                        \
  _ (complex64, XP_COMPLEX64, float _Complex, float _Complex)                                      \
  _ (complex128, XP_COMPLEX128, double _Complex, double _Complex)

/* Complex products and quotients as PyTorch computes them, without a look at infinities; C's own
 * look for them, and are slow. */
#define CPU_COMPLEX_ARITHMETIC_(name, Number, Part)                                                \
  static inline Number cpu_pair_##name (Part real, Part imaginary)                                 \
  {                                                                                                \
    Number pair;                                                                                   \
    __real__ pair = real;                                                                          \
    __imag__ pair = imaginary;                                                                     \
    return pair;                                                                                   \
  }                                                                                                \
  static inline Number cpu_multiply_##name (Number a, Number b)                                    \
  {                                                                                                \
    return cpu_pair_##name (__real__ a * __real__ b - __imag__ a * __imag__ b,                     \
                            __real__ a * __imag__ b + __imag__ a * __real__ b);                    \
  }                                                                                                \
  static inline Number cpu_divide_##name (Number a, Number b)                                      \
  {                                                                                                \
    Part square = __real__ b * __real__ b + __imag__ b * __imag__ b;                               \
    return cpu_pair_##name ((__real__ a * __real__ b + __imag__ a * __imag__ b) / square,          \
                            (__imag__ a * __real__ b - __real__ a * __imag__ b) / square);         \
  }
CPU_COMPLEX_ARITHMETIC_ (complex64, float _Complex, float)
CPU_COMPLEX_ARITHMETIC_ (complex128, double _Complex, double)

/* The loop after it has no dependency from one element to another; see CpuRun. */
#if defined(__clang__)
#  define CPU_INDEPENDENT _Pragma ("clang loop vectorize(assume_safety)")
#else
#  define CPU_INDEPENDENT _Pragma ("GCC ivdep")
#endif

/**
 * CPU_BINARY_RUN:
 * @name: the name of the run
 * @Out: type of what is written
 * @Element: type of what is read
 * @Number: type to compute in
 * @Context: type of the context
 * @expression: of the numbers a and b and of *c, the context
 *
 * Defines a run, in variants for the strides that matter.
 */
#define CPU_BINARY_RUN(name, Out, Element, Number, Context, expression)                            \
  static inline __attribute__ ((always_inline)) void name##_with (                                 \
      char *const *data, int64_t stride_out, int64_t stride_a, int64_t stride_b, int64_t count,    \
      G_GNUC_UNUSED const Context *c)                                                              \
  {                                                                                                \
    char *out = data[0];                                                                           \
    const char *from_a = data[1], *from_b = data[2];                                               \
    CPU_INDEPENDENT                                                                                \
    for (int64_t i = 0; i < count; i++)                                                            \
      {                                                                                            \
        const Number a = (Number) * (const Element *) (from_a + i * stride_a);                     \
        const Number b = (Number) * (const Element *) (from_b + i * stride_b);                     \
        *(Out *) (out + i * stride_out) = (Out) (expression);                                      \
      }                                                                                            \
  }                                                                                                \
  static void name (char *const *data, const int64_t *strides, int64_t count, const void *context) \
  {                                                                                                \
    const int64_t whole = sizeof (Element);                                                        \
    if (strides[0] != sizeof (Out))                                                                \
      name##_with (data, strides[0], strides[1], strides[2], count, context);                      \
    else if (strides[1] == whole && strides[2] == whole)                                           \
      name##_with (data, sizeof (Out), sizeof (Element), sizeof (Element), count, context);        \
    else if (strides[1] == whole && strides[2] == 0)                                               \
      name##_with (data, sizeof (Out), sizeof (Element), 0, count, context);                       \
    else if (strides[1] == 0 && strides[2] == whole)                                               \
      name##_with (data, sizeof (Out), 0, sizeof (Element), count, context);                       \
    else                                                                                           \
      name##_with (data, sizeof (Out), strides[1], strides[2], count, context);                    \
  }

/* The same for one operand; @expression is of the number a. */
#define CPU_UNARY_RUN(name, Out, Element, Number, expression)                                      \
  static inline __attribute__ ((always_inline)) void name##_with (                                 \
      char *const *data, int64_t stride_out, int64_t stride_a, int64_t count)                      \
  {                                                                                                \
    char *out = data[0];                                                                           \
    const char *from_a = data[1];                                                                  \
    CPU_INDEPENDENT                                                                                \
    for (int64_t i = 0; i < count; i++)                                                            \
      {                                                                                            \
        const Number a = (Number) * (const Element *) (from_a + i * stride_a);                     \
        *(Out *) (out + i * stride_out) = (Out) (expression);                                      \
      }                                                                                            \
  }                                                                                                \
  static void name (char *const *data, const int64_t *strides, int64_t count,                      \
                    G_GNUC_UNUSED const void *context)                                             \
  {                                                                                                \
    if (strides[0] == sizeof (Out) && strides[1] == sizeof (Element))                              \
      name##_with (data, sizeof (Out), sizeof (Element), count);                                   \
    else                                                                                           \
      name##_with (data, strides[0], strides[1], count);                                           \
  }
