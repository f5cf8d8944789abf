/* SPDX-License-Identifier: MIT
 *
 * version.c: the version of the library.
 */
#include <crosspoint/loader.h>

const char *
xp_version (void)
{
  return XP_VERSION;
}
