/* SPDX-License-Identifier: MIT
 *
 * dangling.c: a plugin with a kernel for an operator that nobody defines; libraries.c loads it.
 */
#include <crosspoint.h>

static XpStatus
do_nothing (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
            G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  return XP_OK;
}

XP_LIBRARY_IMPL (__test, CPU, m)
{
  xp_impl_at_ (m, "foo", do_nothing, (XpTypedFunction) do_nothing, "() -> ()", NULL, NULL, __FILE__,
               5);
}
