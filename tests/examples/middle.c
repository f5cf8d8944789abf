/* SPDX-License-Identifier: MIT
 *
 * middle.c: the archive between the program and the plugin; its own rows, and, with REQUIRE, the
 * kernels of k.
 */
#include <crosspoint.h>

#ifdef REQUIRE
XP_REQUIRE_PLUGIN (k)
#endif
#ifdef REQUIRE_OTHER
XP_REQUIRE_PLUGIN (other)
#endif

void middle (void);
void
middle (void)
{
}

XP_LIBRARY (t, m)
{
  xp_def (m, "f(Tensor a) -> int");
  xp_def (m, "g(Tensor a) -> int");
  xp_def (m, "h(Tensor a) -> int");
}
