/* SPDX-License-Identifier: MIT
 *
 * matmul.c: products of matrices: blocks of both are packed, converted on the way to one of six
 * types, and multiplied in the cache.
 */
#include "cast.h"
#include "element.h"

#include <crosspoint/aten.h>

enum
{
  BLOCK_ROWS = 64,
  BLOCK_COLUMNS = 256,
  BLOCK_DEPTH = 256,
  /* Rows that are worked on together, so that a row of mat2 is read once for all of them. */
  TOGETHER = 4
};

/* @product (n_rows by n_columns) += @a (n_rows by depth) times @b (depth by n_columns), dense. */
typedef void (*Multiply) (void *product, const void *a, const void *b, int64_t n_rows,
                          int64_t depth, int64_t n_columns);

/* @row = beta times @own plus alpha times @row; @own may be %NULL for none. */
typedef void (*Finish) (void *row, const void *own, int64_t n, XpValue beta, XpValue alpha);

#define DEFINE_MULTIPLY(name, Number, FACTOR, MULTIPLY)                                            \
  static void multiply_##name (void *product, const void *a, const void *b, int64_t n_rows,        \
                               int64_t depth, int64_t n_columns)                                   \
  {                                                                                                \
    int64_t i = 0;                                                                                 \
    for (; i + TOGETHER <= n_rows; i += TOGETHER)                                                  \
      for (int64_t k = 0; k < depth; k++)                                                          \
        {                                                                                          \
          Number *restrict to = (Number *) product + i * n_columns;                                \
          const Number *from = (const Number *) b + k * n_columns;                                 \
          const Number *factors = (const Number *) a + i * depth + k;                              \
          const Number f0 = factors[0], f1 = factors[depth], f2 = factors[2 * depth],              \
                       f3 = factors[3 * depth];                                                    \
          for (int64_t j = 0; j < n_columns; j++)                                                  \
            {                                                                                      \
              const Number number = from[j];                                                       \
              to[j] += MULTIPLY (f0, number);                                                      \
              to[n_columns + j] += MULTIPLY (f1, number);                                          \
              to[2 * n_columns + j] += MULTIPLY (f2, number);                                      \
              to[3 * n_columns + j] += MULTIPLY (f3, number);                                      \
            }                                                                                      \
        }                                                                                          \
    for (; i < n_rows; i++)                                                                        \
      for (int64_t k = 0; k < depth; k++)                                                          \
        {                                                                                          \
          Number *restrict to = (Number *) product + i * n_columns;                                \
          const Number *from = (const Number *) b + k * n_columns;                                 \
          const Number factor = ((const Number *) a)[i * depth + k];                               \
          for (int64_t j = 0; j < n_columns; j++)                                                  \
            to[j] += MULTIPLY (factor, from[j]);                                                   \
        }                                                                                          \
  }                                                                                                \
  static void finish_##name (void *row, const void *own, int64_t n, XpValue beta, XpValue alpha)   \
  {                                                                                                \
    Number *to = row;                                                                              \
    const Number times = (Number) FACTOR (alpha), own_times = (Number) FACTOR (beta);              \
    for (int64_t j = 0; j < n; j++)                                                                \
      to[j] = MULTIPLY (times, to[j]);                                                             \
    for (int64_t j = 0; own != NULL && j < n; j++)                                                 \
      to[j] += MULTIPLY (own_times, ((const Number *) own)[j]);                                    \
  }
static inline double _Complex complex_factor (XpValue factor)
{
  double real, imaginary;
  xp_scalar_to_complex (factor, &real, &imaginary);
  return cpu_pair_complex128 (real, imaginary);
}

#define PLAIN_PRODUCT(a, b) ((a) * (b))
DEFINE_MULTIPLY (float32, float, xp_scalar_to_double, PLAIN_PRODUCT)
DEFINE_MULTIPLY (float64, double, xp_scalar_to_double, PLAIN_PRODUCT)
DEFINE_MULTIPLY (int32, uint32_t, xp_scalar_to_int64, PLAIN_PRODUCT)
DEFINE_MULTIPLY (int64, uint64_t, xp_scalar_to_int64, PLAIN_PRODUCT)
DEFINE_MULTIPLY (complex64, float _Complex, complex_factor, cpu_multiply_complex64)
DEFINE_MULTIPLY (complex128, double _Complex, complex_factor, cpu_multiply_complex128)

static const struct
{
  Multiply multiply;
  Finish finish;
} types[XP_DTYPE_LIMIT] = {
  [XP_FLOAT32] = { multiply_float32, finish_float32 },
  [XP_FLOAT64] = { multiply_float64, finish_float64 },
  [XP_INT32] = { multiply_int32, finish_int32 },
  [XP_INT64] = { multiply_int64, finish_int64 },
  [XP_COMPLEX64] = { multiply_complex64, finish_complex64 },
  [XP_COMPLEX128] = { multiply_complex128, finish_complex128 },
};

static bool
is_zero (XpValue scalar)
{
  double real, imaginary;
  xp_scalar_to_complex (scalar, &real, &imaginary);
  return real == 0 && imaginary == 0;
}

/* Integers wrap around, so that narrow ones may be computed in 32 bits. */
static XpDType
computed_in (XpDType dtype)
{
  switch (dtype)
    {
    case XP_UINT8:
    case XP_INT8:
    case XP_INT16:
      return XP_INT32;
    case XP_BFLOAT16:
      return XP_FLOAT32;
    default:
      return dtype;
    }
}

/**
 * Product:
 * @result: what is written, contiguous
 * @own: (nullable): the matrix that is added
 * @own_strides: its strides, for the shape of the result
 *
 * A product under way.
 */
typedef struct
{
  XpTensor *result;
  const XpTensor *mat1, *mat2, *own;
  int64_t own_strides[2];
  XpValue beta, alpha;
  XpDType dtype, computed;
  int64_t depth;
  char *a, *b, *product, *row;
} Product;

/* The block of a matrix from (row, column), dense and converted. */
static void
pack (const Product *product, const XpTensor *matrix, int64_t row, int64_t column, int64_t n_rows,
      int64_t n_columns, char *to)
{
  int64_t size = (int64_t) xp_dtype_size (product->dtype);
  int64_t step = matrix->dl.strides[0] * size, stride = matrix->dl.strides[1] * size;
  int64_t to_stride = (int64_t) xp_dtype_size (product->computed);
  int64_t to_step = n_columns * to_stride;
  const char *from = (const char *) xp_tensor_data (matrix) + row * step + column * stride;
  CpuRun cast = cpu_cast (product->dtype, product->computed);
  if (step < stride) /* follow the memory */
    for (int64_t j = 0; j < n_columns; j++)
      cast ((char *[]){ to + j * to_stride, (char *) from + j * stride },
            (int64_t[]){ to_step, step }, n_rows, NULL);
  else
    for (int64_t i = 0; i < n_rows; i++)
      cast ((char *[]){ to + i * to_step, (char *) from + i * step },
            (int64_t[]){ to_stride, stride }, n_columns, NULL);
}

/* Puts a block of the product where it belongs. */
static void
store (const Product *product, int64_t row, int64_t column, int64_t n_rows, int64_t n_columns)
{
  int64_t size = (int64_t) xp_dtype_size (product->dtype);
  int64_t wide = (int64_t) xp_dtype_size (product->computed);
  for (int64_t i = 0; i < n_rows; i++)
    {
      char *from = product->product + i * n_columns * wide;
      char *to = (char *) xp_tensor_data (product->result)
                 + ((row + i) * product->result->dl.strides[0] + column) * size;
      if (product->own != NULL)
        cpu_cast (product->dtype, product->computed) (
            (char *[]){ product->row, (char *) xp_tensor_data (product->own)
                                          + ((row + i) * product->own_strides[0]
                                             + column * product->own_strides[1])
                                                * size },
            (int64_t[]){ wide, product->own_strides[1] * size }, n_columns, NULL);
      types[product->computed].finish (from, product->own != NULL ? product->row : NULL, n_columns,
                                       product->beta, product->alpha);
      cpu_cast (product->computed, product->dtype) ((char *[]){ to, from },
                                                    (int64_t[]){ size, wide }, n_columns, NULL);
    }
}

static void
multiply_blocks (const Product *product)
{
  int64_t n_rows = product->result->dl.shape[0], n_columns = product->result->dl.shape[1];
  size_t wide = xp_dtype_size (product->computed);
  for (int64_t column = 0; column < n_columns; column += BLOCK_COLUMNS)
    for (int64_t row = 0; row < n_rows; row += BLOCK_ROWS)
      {
        int64_t rows = MIN (BLOCK_ROWS, n_rows - row);
        int64_t columns = MIN (BLOCK_COLUMNS, n_columns - column);
        memset (product->product, 0, (size_t) (rows * columns) * wide);
        for (int64_t k = 0; k < product->depth; k += BLOCK_DEPTH)
          {
            int64_t depth = MIN (BLOCK_DEPTH, product->depth - k);
            pack (product, product->mat1, row, k, rows, depth, product->a);
            pack (product, product->mat2, k, column, depth, columns, product->b);
            types[product->computed].multiply (product->product, product->a, product->b, rows,
                                               depth, columns);
          }
        store (product, row, column, rows, columns);
      }
}

static XpStatus
run_product (Product *product, XpTensor **result, GError **error)
{
  g_autoptr (XpTensor) owned = product->result;
  if (owned == NULL)
    return XP_FAILED;
  product->dtype = xp_tensor_dtype (owned);
  product->computed = computed_in (product->dtype);
  if (owned->numel == 0 || (product->mat1->dl.shape[1] == 0 && product->own == NULL))
    {
      if (owned->numel > 0)
        memset (xp_tensor_data (owned), 0, (size_t) owned->numel * xp_dtype_size (product->dtype));
      *result = g_steal_pointer (&owned);
      return XP_OK;
    }
  if (types[product->computed].multiply == NULL)
    return prepare_not_implemented ("addmm_impl_cpu_", product->dtype, error);
  /* As a BLAS does: what is multiplied by zero is not looked at. */
  product->depth = !is_zero (product->alpha) ? product->mat1->dl.shape[1] : 0;
  int64_t rows = MIN (BLOCK_ROWS, owned->dl.shape[0]);
  int64_t columns = MIN (BLOCK_COLUMNS, owned->dl.shape[1]);
  int64_t depth = MIN (BLOCK_DEPTH, product->depth);
  size_t wide = xp_dtype_size (product->computed);
  size_t sizes[] = { (size_t) (rows * depth) * wide, (size_t) (depth * columns) * wide,
                     (size_t) (rows * columns) * wide, (size_t) columns * wide };
  size_t total = sizes[0] + sizes[1] + sizes[2] + sizes[3];
  char small[4096] __attribute__ ((aligned (64)));
  g_autofree char *large = total > sizeof small ? g_try_malloc (total) : NULL;
  if (total > sizeof small && large == NULL)
    {
      xp_error_set (error, XP_ERROR_NO_MEMORY, NULL,
                    "no memory for the %" G_GSIZE_FORMAT " bytes that a product is computed in",
                    total);
      return XP_FAILED;
    }
  product->a = total > sizeof small ? large : small;
  product->b = product->a + sizes[0];
  product->product = product->b + sizes[1];
  product->row = product->product + sizes[2];
  multiply_blocks (product);
  *result = g_steal_pointer (&owned);
  return XP_OK;
}

static XpStatus
mm (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *mat2, XpTensor **result, GError **error)
{
  return run_product (&(Product){ .result = prepare_mm (self, mat2, error),
                                  .mat1 = self,
                                  .mat2 = mat2,
                                  .beta = xp_value_int (0),
                                  .alpha = xp_value_int (1) },
                      result, error);
}

static XpStatus
addmm (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor *mat1, XpTensor *mat2, XpValue beta,
       XpValue alpha, XpTensor **result, GError **error)
{
  Product product = { .result = prepare_addmm (self, mat1, mat2, beta, alpha, error),
                      .mat1 = mat1,
                      .mat2 = mat2,
                      .beta = beta,
                      .alpha = alpha };
  if (product.result != NULL && !is_zero (beta))
    {
      XpShape shape = xp_shape_of (product.result);
      product.own = self;
      xp_broadcast_strides (self, &shape, product.own_strides);
    }
  return run_product (&product, result, error);
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_mm (m, mm);
  xp_impl_aten_addmm (m, addmm);
}
