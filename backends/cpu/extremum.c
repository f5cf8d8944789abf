/* SPDX-License-Identifier: MIT
 *
 * extremum.c: the largest elements and where they are. The first of equal ones counts, and NaN is
 * larger than all others. Elements are compared in float64 or int64, which hold all others exactly.
 */
#include "fold.h"

#include <crosspoint/aten.h>

typedef union
{
  double float64[CPU_FOLD_TILE];
  int64_t int64[CPU_FOLD_TILE];
} Numbers;

/**
 * Extremum:
 * @best: the largest so far of each result
 * @where: their positions
 * @block: elements, converted
 * @position: how many elements of each result were seen
 * @widen: to the dtype that is compared in
 * @narrow: back from there; %NULL where only positions are wanted
 */
typedef struct
{
  Numbers best, block;
  int64_t where[CPU_FOLD_TILE];
  int64_t position;
  CpuRun widen, narrow;
} Extremum;

static void
begin (void *state, G_GNUC_UNUSED int64_t n)
{
  ((Extremum *) state)->position = 0;
}

static void
read_block (Extremum *extremum, const char *data, int64_t stride, int64_t n)
{
  extremum->widen ((char *[]){ (char *) &extremum->block, (char *) data },
                   (int64_t[]){ sizeof (double), stride }, n, NULL);
}

/* Values go first where both are wanted. */
static void
finish (void *state, char *const *data, const int64_t *strides, int64_t n)
{
  Extremum *extremum = state;
  unsigned at = 0;
  if (extremum->narrow != NULL)
    {
      extremum->narrow ((char *[]){ data[0], (char *) &extremum->best },
                        (int64_t[]){ strides[0], sizeof (double) }, n, NULL);
      at = 1;
    }
  for (int64_t j = 0; j < n; j++)
    *(int64_t *) (data[at] + j * strides[at]) = extremum->where[j];
}

/* Larger, or the first NaN. */
#define EXCEEDS(number, best) (!((number) <= (best)) && (best) == (best))

#define DEFINE_EXTREMUM(member, Number)                                                            \
  static void along_##member (void *state, const char *data, int64_t stride, int64_t count)        \
  {                                                                                                \
    Extremum *extremum = state;                                                                    \
    for (int64_t done = 0; done < count; done += CPU_FOLD_TILE)                                    \
      {                                                                                            \
        int64_t n = MIN (CPU_FOLD_TILE, count - done);                                             \
        read_block (extremum, data + done * stride, stride, n);                                    \
        Number best = extremum->position > 0 ? extremum->best.member[0]                            \
                                             : extremum->block.member[0];                          \
        int64_t where = extremum->position > 0 ? extremum->where[0] : 0;                           \
        for (int64_t i = 0; i < n; i++)                                                            \
          if (EXCEEDS (extremum->block.member[i], best))                                           \
            {                                                                                      \
              best = extremum->block.member[i];                                                    \
              where = extremum->position + i;                                                      \
            }                                                                                      \
        extremum->best.member[0] = best;                                                           \
        extremum->where[0] = where;                                                                \
        extremum->position += n;                                                                   \
      }                                                                                            \
  }                                                                                                \
  static void across_##member (void *state, const char *data, int64_t stride, int64_t n)           \
  {                                                                                                \
    Extremum *extremum = state;                                                                    \
    int64_t position = extremum->position++;                                                       \
    read_block (extremum, data, stride, n);                                                        \
    for (int64_t j = 0; j < n; j++)                                                                \
      if (position == 0 || EXCEEDS (extremum->block.member[j], extremum->best.member[j]))          \
        {                                                                                          \
          extremum->best.member[j] = extremum->block.member[j];                                    \
          extremum->where[j] = position;                                                           \
        }                                                                                          \
  }
DEFINE_EXTREMUM (float64, double)
DEFINE_EXTREMUM (int64, int64_t)

static void
run_extremum (XpTensor *self, int along, XpTensor *values, XpTensor *indices)
{
  Extremum extremum;
  XpDType dtype = xp_tensor_dtype (self);
  bool is_float = xp_dtype_is_floating (dtype);
  XpDType number = is_float ? XP_FLOAT64 : XP_INT64;
  extremum.widen = cpu_cast (dtype, number);
  extremum.narrow = values != NULL ? cpu_cast (number, dtype) : NULL;
  cpu_fold (&(CpuFold){ .self = self,
                        .reduced = along < 0 ? ~(uint64_t) 0 : (uint64_t) 1 << along,
                        .in_order = true,
                        .n_results = values != NULL ? 2 : 1,
                        .results = { values != NULL ? values : indices, indices },
                        .state = &extremum,
                        .begin = begin,
                        .along = is_float ? along_float64 : along_int64,
                        .across = is_float ? across_float64 : across_int64,
                        .finish = finish });
}

static XpStatus
max_dim (G_GNUC_UNUSED XpCall *call, XpTensor *self, int64_t dim, bool keepdim, XpTensor **values,
         XpTensor **indices, GError **error)
{
  int along;
  *values = prepare_max_dim (self, dim, keepdim, &along, indices, error);
  if (*values == NULL)
    return XP_FAILED;
  run_extremum (self, along, *values, *indices);
  return XP_OK;
}

static XpStatus
argmax (G_GNUC_UNUSED XpCall *call, XpTensor *self, const int64_t *dim, bool keepdim,
        XpTensor **result, GError **error)
{
  int along;
  g_autoptr (XpTensor) indices = prepare_argmax (self, dim, keepdim, &along, error);
  if (indices == NULL)
    return XP_FAILED;
  XpDType dtype = xp_tensor_dtype (self);
  /* Where there is nothing to compare, PyTorch does not look at the dtype. */
  bool compares = indices->numel > 0
                  && !(along >= 0 && self->dl.ndim > 0 && self->dl.shape[along] == 1);
  if (compares && (dtype == XP_BOOL || xp_dtype_category (dtype) == XP_CATEGORY_COMPLEX))
    return prepare_not_implemented ("argmax_cpu", dtype, error);
  run_extremum (self, along, NULL, indices);
  *result = g_steal_pointer (&indices);
  return XP_OK;
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_max_dim (m, max_dim);
  xp_impl_aten_argmax (m, argmax);
}
