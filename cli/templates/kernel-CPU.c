
/* CPU: contiguous float32; other strides are copied for it, other dtypes are NO_KERNEL_DTYPE. */
static XpStatus
scale_cpu (G_GNUC_UNUSED XpCall *call, XpTensor *self, double factor, XpTensor **result,
           GError **error)
{
  *result = xp_tensor_new (XP_FLOAT32, xp_tensor_shape (self), XP_CPU, error);
  if (*result == NULL)
    return XP_FAILED;
  const float *from = xp_tensor_data (self);
  float *to = xp_tensor_data (*result);
  for (int64_t i = 0; i < self->numel; i++)
    to[i] = (float) factor * from[i];
  return XP_OK;
}

XP_LIBRARY_IMPL (@NAME@, CPU, m)
{
  xp_takes (m, "float32 contiguous");
  xp_impl_@NAME@_scale (m, scale_cpu);
}
