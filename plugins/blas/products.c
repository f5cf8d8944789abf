/* SPDX-License-Identifier: MIT
 *
 * products.c: mm and addmm by a BLAS, which is opened when the plugin is probed. Built once for
 * each BLAS; the blas.h in its folder says which.
 */
#include "blas.h"
#include "prepare.h"

#include <crosspoint/aten.h>

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

XP_PLUGIN (BLAS_PLUGIN, "0.1.0", "Products of float32 and float64 matrices by " BLAS_NAME, "MIT")
XP_PLUGIN_NOTE ("priority=" BLAS_PRIORITY)

/* The numbers of the C interface to BLAS. */
enum
{
  ROW_MAJOR = 101,
  PLAIN = 111,
  TRANSPOSED = 112
};

static void (*sgemm) (int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
static void (*dgemm) (int order, int transpose_a, int transpose_b, int m, int n, int k,
                      double alpha, const double *a, int lda, const double *b, int ldb, double beta,
                      double *c, int ldc);

static gboolean
set_unsuitable (GError **error, const char *reason)
{
  xp_error_set (error, XP_ERROR_UNSUITABLE, &(XpErrorDetails){ .plugin = (char *) BLAS_PLUGIN },
                "%s", reason);
  return FALSE;
}

/* OpenBLAS takes 128 MiB of address space for each of its threads and one more for a caller, and
 * where there is none it tries for ever, at the end of the process too. So it is not even opened
 * then. */
static gboolean
has_room (void)
{
  size_t n_bytes = ((size_t) g_get_num_processors () + 1) << 27;
  void *room = mmap (NULL, n_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED)
    munmap (room, n_bytes);
  return room != MAP_FAILED;
}

/* The first product takes the work space, before others can take its place. */
static gboolean
take_work_space (GError **error)
{
  enum
  {
    SIZE = 256
  };
  g_autofree float *matrices = g_try_new0 (float, 3 * SIZE * SIZE);
  if (matrices == NULL)
    return set_unsuitable (error, "no memory for a first product");
  sgemm (ROW_MAJOR, PLAIN, PLAIN, SIZE, SIZE, SIZE, 1, matrices, SIZE, matrices + SIZE * SIZE, SIZE,
         0, matrices + 2 * SIZE * SIZE, SIZE);
  return TRUE;
}

/* The library stays when the plugin goes: it has threads of its own, and may keep pointers. */
gboolean
xp_plugin_probe (GError **error)
{
  if (!has_room ())
    return set_unsuitable (error, "no room for the work space of " BLAS_NAME
                                  ", 128 MiB a processor; raise the limit on memory (ulimit -v)");
  void *library = dlopen (BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library != NULL)
    {
      *(void **) &sgemm = dlsym (library, "cblas_sgemm");
      *(void **) &dgemm = dlsym (library, "cblas_dgemm");
    }
  if (sgemm != NULL && dgemm != NULL)
    return take_work_space (error);
  const char *reason = dlerror ();
  g_autofree char *text = g_strdup_printf (
      "no " BLAS_NAME ": %s; apt install " BLAS_PACKAGE,
      reason != NULL ? reason : BLAS_LIBRARY " lacks cblas_sgemm or cblas_dgemm");
  return set_unsuitable (error, text);
}

/**
 * Matrix:
 * @tensor: (nullable): a copy, where the tensor itself could not be passed
 * @transpose: how it lies in memory
 * @leading: elements from one row, or column, to the next
 *
 * A matrix as BLAS takes it.
 */
typedef struct
{
  XpTensor *copy;
  const void *data;
  int transpose;
  int64_t leading;
} Matrix;

static void
matrix_clear (Matrix *matrix)
{
  g_clear_pointer (&matrix->copy, xp_tensor_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Matrix, matrix_clear)

/* Whether rows are @step apart and their elements side by side; a stride over one element does not
 * matter. */
static bool
lies_in_rows (int64_t rows, int64_t columns, int64_t step, int64_t stride, int64_t *leading)
{
  *leading = rows > 1 ? step : MAX (columns, 1);
  return (columns <= 1 || stride == 1) && *leading >= MAX (columns, 1);
}

/* @to, which is contiguous, gets what @strides show of @from, times @factor; 4 or 8 bytes wide. */
static void
copy_elements (XpTensor *to, const XpTensor *from, const int64_t *strides, double factor)
{
  int64_t rows = to->dl.shape[0], columns = to->dl.shape[1];
  for (int64_t i = 0; i < rows; i++)
    if (to->dtype == XP_FLOAT32)
      {
        float *row = (float *) xp_tensor_data (to) + i * columns;
        const float *elements = (const float *) xp_tensor_data (from) + i * strides[0];
        for (int64_t j = 0; j < columns; j++)
          row[j] = (float) factor * elements[j * strides[1]];
      }
    else
      {
        double *row = (double *) xp_tensor_data (to) + i * columns;
        const double *elements = (const double *) xp_tensor_data (from) + i * strides[0];
        for (int64_t j = 0; j < columns; j++)
          row[j] = factor * elements[j * strides[1]];
      }
}

static gboolean
matrix_init (Matrix *matrix, XpTensor *tensor, GError **error)
{
  int64_t rows = tensor->dl.shape[0], columns = tensor->dl.shape[1];
  const int64_t *strides = tensor->dl.strides;
  matrix->data = xp_tensor_data (tensor);
  matrix->transpose = PLAIN;
  if (lies_in_rows (rows, columns, strides[0], strides[1], &matrix->leading))
    return TRUE;
  matrix->transpose = TRANSPOSED;
  if (lies_in_rows (columns, rows, strides[1], strides[0], &matrix->leading))
    return TRUE;
  matrix->transpose = PLAIN;
  matrix->leading = MAX (columns, 1);
  matrix->copy = xp_tensor_new (xp_tensor_dtype (tensor), XP_INTS (rows, columns), XP_CPU, error);
  if (matrix->copy == NULL)
    return FALSE;
  copy_elements (matrix->copy, tensor, strides, 1);
  matrix->data = xp_tensor_data (matrix->copy);
  return TRUE;
}

/* @result = @alpha times @mat1 times @mat2 plus @beta times itself. */
static XpStatus
multiply (XpCall *call, XpTensor *result, XpTensor *mat1, XpTensor *mat2, double beta, double alpha,
          GError **error)
{
  g_auto (Matrix) a = { 0 };
  g_auto (Matrix) b = { 0 };
  int64_t m = mat1->dl.shape[0], k = mat1->dl.shape[1], n = mat2->dl.shape[1];
  if (!matrix_init (&a, mat1, error) || !matrix_init (&b, mat2, error))
    return XP_FAILED;
  if (MAX (MAX (m, n), k) > INT_MAX || MAX (a.leading, b.leading) > INT_MAX)
    return xp_call_decline (call, "only sizes that fit the 32-bit integers of " BLAS_NAME);
  if (result->dtype == XP_FLOAT32)
    sgemm (ROW_MAJOR, a.transpose, b.transpose, (int) m, (int) n, (int) k, (float) alpha, a.data,
           (int) a.leading, b.data, (int) b.leading, (float) beta, xp_tensor_data (result),
           (int) n);
  else
    dgemm (ROW_MAJOR, a.transpose, b.transpose, (int) m, (int) n, (int) k, alpha, a.data,
           (int) a.leading, b.data, (int) b.leading, beta, xp_tensor_data (result), (int) n);
  return XP_OK;
}

static XpStatus
run_product (XpCall *call, XpTensor *prepared, XpTensor *self, XpTensor *mat1, XpTensor *mat2,
             double beta, double alpha, XpTensor **result, GError **error)
{
  XpStatus status = XP_OK;
  g_autoptr (XpTensor) owned = prepared;
  if (owned == NULL)
    return XP_FAILED;
  bool multiplies = mat1->dl.shape[1] > 0 && alpha != 0;
  if (owned->numel > 0)
    {
      size_t n_bytes = (size_t) owned->numel * xp_dtype_size (xp_tensor_dtype (owned));
      if (beta != 0)
        {
          XpShape shape = xp_shape_of (owned);
          int64_t strides[2];
          xp_broadcast_strides (self, &shape, strides);
          copy_elements (owned, self, strides, multiplies ? 1 : beta);
        }
      else if (!multiplies)
        memset (xp_tensor_data (owned), 0, n_bytes);
      if (multiplies)
        status = multiply (call, owned, mat1, mat2, beta, alpha, error);
    }
  if (status == XP_OK)
    *result = g_steal_pointer (&owned);
  return status;
}

static bool
takes (const XpTensor *tensor)
{
  return tensor->dtype == XP_FLOAT32 || tensor->dtype == XP_FLOAT64;
}

static const char declined[] = "only float32 and float64";

static XpStatus
mm (XpCall *call, XpTensor *self, XpTensor *mat2, XpTensor **result, GError **error)
{
  if (!takes (self))
    return xp_call_decline (call, declined);
  XpTensor *prepared = prepare_mm (self, mat2, error);
  return run_product (call, prepared, NULL, self, mat2, 0, 1, result, error);
}

static XpStatus
addmm (XpCall *call, XpTensor *self, XpTensor *mat1, XpTensor *mat2, XpValue beta, XpValue alpha,
       XpTensor **result, GError **error)
{
  if (!takes (self))
    return xp_call_decline (call, declined);
  if (isnan (xp_scalar_to_double (beta)) || isnan (xp_scalar_to_double (alpha)))
    return xp_call_decline (call, "only factors that are numbers; BLAS libraries drop a NaN");
  XpTensor *prepared = prepare_addmm (self, mat1, mat2, beta, alpha, error);
  return run_product (call, prepared, self, mat1, mat2, xp_scalar_to_double (beta),
                      xp_scalar_to_double (alpha), result, error);
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_mm (m, mm);
  xp_impl_aten_addmm (m, addmm);
}
