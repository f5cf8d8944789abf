/* SPDX-License-Identifier: MIT
 *
 * ranked.c: a plugin that priorities.c loads, built once for each NAME and PRIORITY: all of them
 * fill the same cells.
 */
#include <crosspoint.h>

XP_PLUGIN (NAME, "1.0", "kernels of one priority", "MIT")
XP_PLUGIN_NOTE ("priority=" XP_STRINGIFY (PRIORITY))

static XpStatus
give_priority (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
               G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_int (PRIORITY);
  return XP_OK;
}

XP_LIBRARY_IMPL (ranked, CPU, m)
{
  xp_impl (m, "foo", give_priority);
}

XP_LIBRARY_IMPL (ranked, CompositeImplicitAutograd, m)
{
  xp_impl (m, "foo", give_priority);
}

XP_LIBRARY_IMPL (_, AutogradXLA, m)
{
  xp_fallback (m, give_priority);
}
