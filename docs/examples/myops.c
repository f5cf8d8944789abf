/* SPDX-License-Identifier: MIT
 *
 * myops.c: a plugin outside of the tree, whole: one operator, myops::scaled_add, which gives
 * a + s * b, and its kernel for dense float32 tensors on the CPU.
 */
#include <crosspoint.h>

XP_PLUGIN ("myops", "1.0.0", "scaled_add(a, b, s) = a + s * b", "MIT")

static gboolean
check_dtype (const XpTensor *tensor, const char *name, GError **error)
{
  if (xp_tensor_dtype (tensor) == XP_FLOAT32)
    return TRUE;
  xp_error_set (error, XP_ERROR_DTYPE,
                &(XpErrorDetails){ .op = "myops::scaled_add", .argument = (char *) name },
                "scaled_add: expected '%s' to be float32, found %s; convert it first", name,
                xp_dtype_name (xp_tensor_dtype (tensor)));
  return FALSE;
}

/* Walks over all elements of the result in order. In @a and @b, which may be of any strides and
 * broadcast, each dimension has its own step; the step is 0 where a size of 1 is repeated. */
static void
compute (XpTensor *result, const XpTensor *a, const XpTensor *b, float s)
{
  XpShape shape = xp_shape_of (result);
  int64_t a_steps[XP_MAX_DIMENSIONS], b_steps[XP_MAX_DIMENSIONS], index[XP_MAX_DIMENSIONS] = { 0 };
  xp_broadcast_strides (a, &shape, a_steps);
  xp_broadcast_strides (b, &shape, b_steps);
  const float *from_a = xp_tensor_data (a), *from_b = xp_tensor_data (b);
  float *to = xp_tensor_data (result);
  for (int64_t i = 0; i < result->numel; i++)
    {
      to[i] = *from_a + s * *from_b;
      for (int d = shape.n_dims - 1; d >= 0; d--)
        {
          from_a += a_steps[d];
          from_b += b_steps[d];
          if (++index[d] < shape.sizes[d])
            break;
          /* The end of this dimension: back to its begin, and on to the next one out. */
          from_a -= shape.sizes[d] * a_steps[d];
          from_b -= shape.sizes[d] * b_steps[d];
          index[d] = 0;
        }
    }
}

/* A boxed kernel: its arguments are values, borrowed for the call; its result belongs to the
 * caller. */
static XpStatus
scaled_add (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  bool good = true;
  XpTensor *a = xp_unbox_tensor (&arguments[0], &good);
  XpTensor *b = xp_unbox_tensor (&arguments[1], &good);
  double s = xp_unbox_float (&arguments[2], &good);
  if (!good)
    return xp_unbox_failed (call, arguments, error);

  XpShape shape;
  if (!check_dtype (a, "a", error) || !check_dtype (b, "b", error)
      || !xp_broadcast (xp_tensor_shape (a), xp_tensor_shape (b), &shape, error))
    return XP_FAILED;
  XpTensor *result = xp_tensor_new (XP_FLOAT32, xp_shape_ints (&shape), XP_CPU, error);
  if (result == NULL)
    return XP_FAILED;
  compute (result, a, b, (float) s);
  results[0] = xp_value_tensor (result);
  return XP_OK;
}

/* The row. */
XP_LIBRARY (myops, m)
{
  xp_def (m, "scaled_add(Tensor a, Tensor b, float s) -> Tensor");
}

/* Its cell in the column CPU. */
XP_LIBRARY_IMPL (myops, CPU, m)
{
  xp_impl (m, "scaled_add", scaled_add);
}
