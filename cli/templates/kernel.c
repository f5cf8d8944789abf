
/* @KEY@: declines every call until you write it:
 * the next kernel of the cell is tried then, and the error says so. */
static XpStatus
scale_@KEYWORD@ (
    XpCall *call, G_GNUC_UNUSED XpTensor *self, G_GNUC_UNUSED double factor,
    G_GNUC_UNUSED XpTensor **result, G_GNUC_UNUSED GError **error)
{
  return xp_call_decline (call, "the kernel for @KEY@ is not written yet");
}

XP_LIBRARY_IMPL (@NAME@, @KEY@, m)
{
  xp_impl_@NAME@_scale (m, scale_@KEYWORD@);
}
