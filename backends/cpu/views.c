/* SPDX-License-Identifier: MIT
 *
 * views.c: operators whose result shares its memory with an argument.
 */
#include "prepare.h"

#include <crosspoint/aten.h>

static XpStatus
view (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpInts size, XpTensor **result, GError **error)
{
  *result = prepare_view (self, size, error);
  return *result != NULL ? XP_OK : XP_FAILED;
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_view (m, view);
}
