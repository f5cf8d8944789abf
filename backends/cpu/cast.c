/* SPDX-License-Identifier: MIT
 *
 * cast.c: a run for each pair of dtypes.
 */
#include "cast.h"

#include "element.h"

#include <crosspoint/half.h>

/* What x86 makes of a number that is out of range, or of NaN. */
static inline int32_t
int32_from_double (double number)
{
  return number > -0x1.00000002p31 && number < 0x1p31 ? (int32_t) number : G_MININT32;
}

static inline int64_t
int64_from_double (double number)
{
  return number >= -0x1p63 && number < 0x1p63 ? (int64_t) number : G_MININT64;
}

/* What a source of each kind gives; bool counts as an integer. */
#define REAL_OF_INTEGER(v) (v)
#define REAL_OF_FLOATING(v) (v)
#define REAL_OF_COMPLEX(v) (__real__(v))
#define INT32_OF_INTEGER(v) (v)
#define INT32_OF_FLOATING(v) int32_from_double (v)
#define INT32_OF_COMPLEX(v) int32_from_double ((__real__(v)))
#define INT64_OF_INTEGER(v) (v)
#define INT64_OF_FLOATING(v) int64_from_double (v)
#define INT64_OF_COMPLEX(v) int64_from_double ((__real__(v)))

/* Targets: how a source of kind k is stored. */
#define STORE_uint8(k, v) (uint8_t) INT64_OF_##k (v)
#define STORE_int8(k, v) (int8_t) INT32_OF_##k (v)
#define STORE_int16(k, v) (int16_t) INT32_OF_##k (v)
#define STORE_int32(k, v) (int32_t) INT32_OF_##k (v)
#define STORE_int64(k, v) (int64_t) INT64_OF_##k (v)
#define STORE_float16(k, v) xp_half_from_float ((float) REAL_OF_##k (v))
#define STORE_bfloat16(k, v) xp_bfloat16_from_float ((float) REAL_OF_##k (v))
#define STORE_float32(k, v) (float) REAL_OF_##k (v)
#define STORE_float64(k, v) (double) REAL_OF_##k (v)
#define STORE_complex64(k, v) (float _Complex) (v)
#define STORE_complex128(k, v) (double _Complex) (v)
#define STORE_truth(k, v) REAL_OF_##k (v) != 0

/* Sources: _ (name, element, kind, how it is read, target, target's element) */
#define READ_PLAIN(v) (v)
#define READ_BOOL(v) ((v) != 0)
#define EACH_SOURCE(_, target, Target)                                                             \
  _ (uint8, uint8_t, INTEGER, READ_PLAIN, target, Target)                                          \
  _ (int8, int8_t, INTEGER, READ_PLAIN, target, Target)                                            \
  _ (int16, int16_t, INTEGER, READ_PLAIN, target, Target)                                          \
  _ (int32, int32_t, INTEGER, READ_PLAIN, target, Target)                                          \
  _ (int64, int64_t, INTEGER, READ_PLAIN, target, Target)                                          \
  _ (float16, uint16_t, FLOATING, xp_float_from_half, target, Target)                              \
  _ (bfloat16, uint16_t, FLOATING, xp_float_from_bfloat16, target, Target)                         \
  _ (float32, float, FLOATING, READ_PLAIN, target, Target)                                         \
  _ (float64, double, FLOATING, READ_PLAIN, target, Target)                                        \
  _ (complex64, float _Complex, COMPLEX, READ_PLAIN, target, Target)                               \
  _ (complex128, double _Complex, COMPLEX, READ_PLAIN, target, Target)                             \
  _ (truth, uint8_t, INTEGER, READ_BOOL, target, Target)

#define EACH_PAIR(_)                                                                               \
  EACH_SOURCE (_, uint8, uint8_t)                                                                  \
  EACH_SOURCE (_, int8, int8_t)                                                                    \
  EACH_SOURCE (_, int16, int16_t)                                                                  \
  EACH_SOURCE (_, int32, int32_t)                                                                  \
  EACH_SOURCE (_, int64, int64_t)                                                                  \
  EACH_SOURCE (_, float16, uint16_t)                                                               \
  EACH_SOURCE (_, bfloat16, uint16_t)                                                              \
  EACH_SOURCE (_, float32, float)                                                                  \
  EACH_SOURCE (_, float64, double)                                                                 \
  EACH_SOURCE (_, complex64, float _Complex)                                                       \
  EACH_SOURCE (_, complex128, double _Complex)                                                     \
  EACH_SOURCE (_, truth, uint8_t)

#define DEFINE_CAST(source, Source, kind, read, target, Target)                                    \
  CPU_UNARY_RUN (source##_to_##target, Target, Source, Source, STORE_##target (kind, read (a)))
EACH_PAIR (DEFINE_CAST)

/* Between equal dtypes: elements as they are, in as many bytes. */
#define DEFINE_COPY(name, Element)                                                                 \
  static void name (char *const *data, const int64_t *strides, int64_t count,                      \
                    G_GNUC_UNUSED const void *context)                                             \
  {                                                                                                \
    const char *from = data[1];                                                                    \
    char *to = data[0];                                                                            \
    if (strides[0] == sizeof (Element) && strides[1] == sizeof (Element))                          \
      {                                                                                            \
        memmove (to, from, (size_t) count * sizeof (Element));                                     \
        return;                                                                                    \
      }                                                                                            \
    CPU_INDEPENDENT                                                                                \
    for (int64_t i = 0; i < count; i++)                                                            \
      memcpy (to + i * strides[0], from + i * strides[1], sizeof (Element));                       \
  }
DEFINE_COPY (copy_1, uint8_t)
DEFINE_COPY (copy_2, uint16_t)
DEFINE_COPY (copy_4, uint32_t)
DEFINE_COPY (copy_8, uint64_t)
DEFINE_COPY (copy_16, double _Complex)

enum
{
  NUMBER_uint8 = XP_UINT8,
  NUMBER_int8 = XP_INT8,
  NUMBER_int16 = XP_INT16,
  NUMBER_int32 = XP_INT32,
  NUMBER_int64 = XP_INT64,
  NUMBER_float16 = XP_FLOAT16,
  NUMBER_bfloat16 = XP_BFLOAT16,
  NUMBER_float32 = XP_FLOAT32,
  NUMBER_float64 = XP_FLOAT64,
  NUMBER_complex64 = XP_COMPLEX64,
  NUMBER_complex128 = XP_COMPLEX128,
  NUMBER_truth = XP_BOOL
};

#define CAST_ROW(source, Source, kind, read, target, Target)                                       \
  [NUMBER_##source][NUMBER_##target] = source##_to_##target,
static const CpuRun casts[XP_DTYPE_LIMIT][XP_DTYPE_LIMIT] = { EACH_PAIR (CAST_ROW) };

CpuRun
cpu_cast (XpDType from, XpDType to)
{
  static const CpuRun copies[] = {
    [1] = copy_1, [2] = copy_2, [4] = copy_4, [8] = copy_8, [16] = copy_16
  };
  return from == to ? copies[xp_dtype_size (from)] : casts[from][to];
}
