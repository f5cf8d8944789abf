/* SPDX-License-Identifier: MIT
 *
 * factories.c: operators that make tensors of nothing; and the name of the plugin.
 */
#include "prepare.h"

#include <crosspoint/aten.h>

XP_PLUGIN ("cpu", "0.1.0", "Kernels in plain C for tensors in host memory", "MIT")

static XpStatus
empty (G_GNUC_UNUSED XpCall *call, XpInts size, const XpDType *dtype, const XpLayout *layout,
       const XpDevice *device, const bool *pin_memory, const XpMemoryFormat *memory_format,
       XpTensor **result, GError **error)
{
  *result = prepare_empty (XP_BACKEND_CPU, size, dtype, layout, device, pin_memory, memory_format,
                           error);
  return *result != NULL ? XP_OK : XP_FAILED;
}

XP_LIBRARY_IMPL (aten, CPU, m)
{
  xp_impl_aten_empty_memory_format (m, empty);
}
