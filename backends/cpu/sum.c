/* SPDX-License-Identifier: MIT
 *
 * sum.c: sums over dimensions. Integers are added in 64 bits and wrap around; floating point is
 * added in float64, in several partial sums.
 */
#include "element.h"
#include "fold.h"

#include <crosspoint/aten.h>

enum
{
  LANES = 8,
  /* Elements after which a partial sum is added to the total. */
  ENOUGH = 128
};

typedef union
{
  double float64[CPU_FOLD_TILE];
  uint64_t int64[CPU_FOLD_TILE];
  double _Complex complex128[CPU_FOLD_TILE];
} Numbers;

/**
 * Sum:
 * @total: the sums so far, but for those in @part
 * @part: sums of the last elements
 * @n_in_part: how many elements those are
 * @element_bytes: size of what the first conversion gives
 * @convert: to the dtype of the result; %NULL where that is not needed
 * @widen: from there to the dtype that is added in
 * @narrow: from that to the dtype of the result
 */
typedef struct
{
  Numbers total, part, block;
  char converted[CPU_FOLD_TILE * 16] __attribute__ ((aligned (64)));
  int64_t n_in_part;
  int64_t element_bytes;
  int64_t number_bytes;
  CpuRun convert, widen, narrow;
} Sum;

/* At most a tile of elements, as numbers to add. */
static void
read_block (Sum *sum, const char *data, int64_t stride, int64_t n)
{
  if (sum->convert != NULL)
    {
      sum->convert ((char *[]){ sum->converted, (char *) data },
                    (int64_t[]){ sum->element_bytes, stride }, n, NULL);
      data = sum->converted;
      stride = sum->element_bytes;
    }
  sum->widen ((char *[]){ (char *) &sum->block, (char *) data },
              (int64_t[]){ sum->number_bytes, stride }, n, NULL);
}

#define DEFINE_SUM(member, Number)                                                                 \
  static void begin_##member (void *state, int64_t n)                                              \
  {                                                                                                \
    Sum *sum = state;                                                                              \
    sum->n_in_part = 0;                                                                            \
    memset (sum->total.member, 0, (size_t) n * sizeof (Number));                                   \
    memset (sum->part.member, 0, (size_t) n * sizeof (Number));                                    \
  }                                                                                                \
  static void flush_##member (Sum *sum, int64_t n)                                                 \
  {                                                                                                \
    for (int64_t j = 0; j < n; j++)                                                                \
      sum->total.member[j] += sum->part.member[j];                                                 \
    memset (sum->part.member, 0, (size_t) n * sizeof (Number));                                    \
    sum->n_in_part = 0;                                                                            \
  }                                                                                                \
  static void along_##member (void *state, const char *data, int64_t stride, int64_t count)        \
  {                                                                                                \
    Sum *sum = state;                                                                              \
    for (int64_t done = 0; done < count; done += CPU_FOLD_TILE)                                    \
      {                                                                                            \
        int64_t n = MIN (CPU_FOLD_TILE, count - done), i = 0;                                      \
        Number lanes[LANES] = { 0 };                                                               \
        read_block (sum, data + done * stride, stride, n);                                         \
        for (; i + LANES <= n; i += LANES)                                                         \
          for (int j = 0; j < LANES; j++)                                                          \
            lanes[j] += sum->block.member[i + j];                                                  \
        for (; i < n; i++)                                                                         \
          lanes[i % LANES] += sum->block.member[i];                                                \
        for (int half = LANES / 2; half > 0; half /= 2)                                            \
          for (int j = 0; j < half; j++)                                                           \
            lanes[j] += lanes[j + half];                                                           \
        sum->part.member[0] += lanes[0];                                                           \
        if (++sum->n_in_part == ENOUGH)                                                            \
          flush_##member (sum, 1);                                                                 \
      }                                                                                            \
  }                                                                                                \
  static void across_##member (void *state, const char *data, int64_t stride, int64_t n)           \
  {                                                                                                \
    Sum *sum = state;                                                                              \
    read_block (sum, data, stride, n);                                                             \
    for (int64_t j = 0; j < n; j++)                                                                \
      sum->part.member[j] += sum->block.member[j];                                                 \
    if (++sum->n_in_part == ENOUGH)                                                                \
      flush_##member (sum, n);                                                                     \
  }                                                                                                \
  static void finish_##member (void *state, char *const *data, const int64_t *strides, int64_t n)  \
  {                                                                                                \
    Sum *sum = state;                                                                              \
    flush_##member (sum, n);                                                                       \
    sum->narrow ((char *[]){ data[0], (char *) sum->total.member },                                \
                 (int64_t[]){ strides[0], sizeof (Number) }, n, NULL);                             \
  }
DEFINE_SUM (float64, double)
DEFINE_SUM (int64, uint64_t)
DEFINE_SUM (complex128, double _Complex)

#define SUM_FOLD(member)                                                                           \
  {                                                                                                \
    .n_results = 1, .begin = begin_##member, .along = along_##member, .across = across_##member,   \
    .finish = finish_##member                                                                      \
  }

/* What each category of results is added in. */
static const struct
{
  XpDType number;
  CpuFold fold;
} categories[] = {
  [XP_CATEGORY_BOOL] = { XP_INT64, SUM_FOLD (int64) },
  [XP_CATEGORY_INTEGER] = { XP_INT64, SUM_FOLD (int64) },
  [XP_CATEGORY_FLOAT] = { XP_FLOAT64, SUM_FOLD (float64) },
  [XP_CATEGORY_COMPLEX] = { XP_COMPLEX128, SUM_FOLD (complex128) },
};

static XpStatus
sum_dim (G_GNUC_UNUSED XpCall *call, XpTensor *self, const XpInts *dim, bool keepdim,
         const XpDType *dtype, XpTensor **result, GError **error)
{
  uint64_t reduced;
  Sum sum;
  *result = prepare_sum (self, dim, keepdim, dtype, &reduced, error);
  if (*result == NULL)
    return XP_FAILED;
  XpDType from = xp_tensor_dtype (self), to = xp_tensor_dtype (*result);
  XpDType number = categories[xp_dtype_category (to)].number;
  bool at_once = from == to || to == number;
  sum.element_bytes = (int64_t) xp_dtype_size (to);
  sum.number_bytes = (int64_t) xp_dtype_size (number);
  sum.convert = at_once ? NULL : cpu_cast (from, to);
  sum.widen = cpu_cast (at_once ? from : to, number);
  sum.narrow = cpu_cast (number, to);
  CpuFold fold = categories[xp_dtype_category (to)].fold;
  fold.self = self;
  fold.reduced = reduced;
  fold.results[0] = *result;
  fold.state = &sum;
  cpu_fold (&fold);
  return XP_OK;
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_sum_dim_IntList (m, sum_dim);
}
