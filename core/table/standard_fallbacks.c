/* SPDX-License-Identifier: MIT
 *
 * standard_fallbacks.c: the fallbacks that every table has: keys that a call passes over until some
 * plugin has a use for them (reference 7.5). They belong to the core, at the lowest priority, so
 * that a plugin's own fallback hides them and its unloading brings them back.
 */
#include "begin.h"
#include "table/transaction.h"

typedef struct
{
  const char *key;
  int line;
} StandardFallback;

/* A line each, for that is where a dump says they are. */
/* clang-format off */
#define FALLTHROUGH(key) { #key, __LINE__ }
static const StandardFallback standard[] = {
  FALLTHROUGH (BackendSelect),
  FALLTHROUGH (ADInplaceOrView),
  FALLTHROUGH (AutogradOther),
  FALLTHROUGH (AutogradCPU),
  FALLTHROUGH (AutogradCUDA),
  FALLTHROUGH (AutogradXLA),
  FALLTHROUGH (AutogradMPS),
  FALLTHROUGH (AutogradXPU),
  FALLTHROUGH (AutogradHPU),
  FALLTHROUGH (AutogradLazy),
  FALLTHROUGH (AutogradMTIA),
  FALLTHROUGH (AutogradMAIA),
  FALLTHROUGH (AutogradPrivateUse1),
  FALLTHROUGH (AutogradMeta),
  FALLTHROUGH (AutocastCPU),
  FALLTHROUGH (AutocastMTIA),
  FALLTHROUGH (AutocastMAIA),
  FALLTHROUGH (AutocastXPU),
  FALLTHROUGH (AutocastIPU),
  FALLTHROUGH (AutocastHPU),
  FALLTHROUGH (AutocastXLA),
  FALLTHROUGH (AutocastMPS),
  FALLTHROUGH (AutocastCUDA),
  FALLTHROUGH (AutocastPrivateUse1),
  FALLTHROUGH (FuncTorchVmapMode),
  FALLTHROUGH (VmapMode),
};
/* clang-format on */

static void
add_fallthrough (const char *key, int line)
{
  const XpLibraryBlock block = {
    sizeof block, XP_LIBRARY_KIND_IMPL, line, "_", key, __FILE__, NULL
  };
  const XpImplementation fallthrough = {
    .size = sizeof fallthrough, .boxed = xp_fallthrough, .file = __FILE__, .line = line
  };
  xp_library_impl (xp_library_make (&block, &xp_core_owner, NULL, NULL), &fallthrough, NULL);
}

void
xp_table_begin (void)
{
  xp_owners_begin ();
  xp_heads_begin ();
  for (unsigned i = 0; i < XP_LENGTH (standard); i++)
    add_fallthrough (standard[i].key, standard[i].line);
}
