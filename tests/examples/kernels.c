/* SPDX-License-Identifier: MIT
 *
 * kernels.c: three kernels of t, for a program that they are linked into, see static. DEVICE adds a
 * device of its own.
 */
#include <crosspoint.h>

#define QUOTED(name) XP_STRINGIFY (name)
#ifdef XP_STATIC_PLUGIN
XP_PLUGIN (QUOTED (XP_STATIC_PLUGIN), "1.0", "kernels in an archive", "MIT")
#else
XP_PLUGIN ("k", "1.0", "kernels in an archive", "MIT")
#endif
#ifndef PRIORITY
#  define PRIORITY 3
#endif
XP_PLUGIN_NOTE ("priority=" QUOTED (PRIORITY))

static XpStatus
one (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
     G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_int (1);
  return XP_OK;
}

#ifdef DEVICE
XP_BACKEND (kdev)
#endif

XP_LIBRARY_IMPL (t, CPU, m)
{
  xp_impl (m, "f", one);
  xp_impl (m, "g", one);
  xp_impl (m, "h", one);
}

void
xp_plugin_fini (void)
{
  g_print ("fini of %s\n", QUOTED (XP_STATIC_PLUGIN));
}
