/* SPDX-License-Identifier: MIT
 *
 * opener.c: a plugin that opens blocks of its own for a test, built once for each NAME and
 * PRIORITY: owners of distinct priorities within one process.
 */
#include <crosspoint.h>

XP_PLUGIN (NAME, "1.0", "blocks of one priority", "MIT")
XP_PLUGIN_NOTE ("priority=" XP_STRINGIFY (PRIORITY))

/* Whose a block is, is known from where the call comes from, so that it must not be a jump. */
static XpLibrary *
open_block (XpLibraryKind kind, const char *name_space, const char *key, const char *file, int line,
            GError **error)
{
  XpLibrary *block = xp_library_new (kind, name_space, key, file, line, error);
  __asm__ volatile("" : "+r"(block));
  return block;
}

static XpStatus
give_open_block (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
                 XpValue *results, G_GNUC_UNUSED GError **error)
{
  results[0] = xp_value_int ((int64_t) (uintptr_t) open_block);
  return XP_OK;
}

XP_LIBRARY_FRAGMENT (opener, m)
{
  xp_def (m, "open." NAME "() -> int");
}

XP_LIBRARY_IMPL (opener, CompositeExplicitAutograd, m)
{
  xp_impl (m, "open." NAME, give_open_block);
}
