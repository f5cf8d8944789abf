
/* Meta: the shape, dtype and device of the result, without memory; it refuses what the others do. */
static XpStatus
scale_meta (G_GNUC_UNUSED XpCall *call, XpTensor *self, G_GNUC_UNUSED double factor,
            XpTensor **result, GError **error)
{
  *result = xp_tensor_new (XP_FLOAT32, xp_tensor_shape (self), xp_tensor_device (self), error);
  return *result != NULL ? XP_OK : XP_FAILED;
}

XP_LIBRARY_IMPL (@NAME@, Meta, m)
{
  xp_takes (m, "float32");
  xp_impl_@NAME@_scale (m, scale_meta);
}
