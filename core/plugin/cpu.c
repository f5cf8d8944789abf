/* SPDX-License-Identifier: MIT
 *
 * cpu.c: CPU features: which this process may use, and which files are for them.
 *
 * A feature is there when the processor has it, the operating system lets it be used, the setting
 * `cpu-features` does not take it away, and all of that holds for what it builds on. The levels
 * x86-64-v2 to x86-64-v4 are features that build on many.
 */
#include "plugin/cpu.h"

#include "plugin/plugin.h"
#include "plugin/settings.h"

#include <string.h>

/* _ (name, what it builds on) */
#define FEATURE_LIST(_)                                                                            \
  _ ("sse3", "")                                                                                   \
  _ ("ssse3", "sse3")                                                                              \
  _ ("sse4.1", "ssse3")                                                                            \
  _ ("sse4.2", "sse4.1")                                                                           \
  _ ("popcnt", "")                                                                                 \
  _ ("bmi", "")                                                                                    \
  _ ("bmi2", "")                                                                                   \
  _ ("avx", "sse4.2")                                                                              \
  _ ("avx2", "avx")                                                                                \
  _ ("fma", "avx")                                                                                 \
  _ ("avx512f", "avx2 fma")                                                                        \
  _ ("avx512dq", "avx512f")                                                                        \
  _ ("avx512bw", "avx512f")                                                                        \
  _ ("avx512cd", "avx512f")                                                                        \
  _ ("avx512vl", "avx512f")

#define LEVEL_LIST(_)                                                                              \
  _ ("x86-64-v2", "popcnt sse4.2")                                                                 \
  _ ("x86-64-v3", "x86-64-v2 avx2 bmi bmi2 fma")                                                   \
  _ ("x86-64-v4", "x86-64-v3 avx512f avx512dq avx512bw avx512cd avx512vl")

static const struct
{
  const char *name, *needs;
} features[] = {
#define ROW(name, needs) { name, needs },
  FEATURE_LIST (ROW) LEVEL_LIST (ROW)
#undef ROW
};

const char *const xp_cpu_levels[] = {
#define NAME(name, needs) name,
  LEVEL_LIST (NAME) NULL
#undef NAME
};

static int
find (const char *name)
{
  for (unsigned i = 0; i < XP_LENGTH (features); i++)
    if (strcmp (features[i].name, name) == 0)
      return (int) i;
  return -1;
}

bool
xp_cpu_knows (const char *name)
{
  return find (name) >= 0;
}

const char xp_cpu_mask_form[] = "CPU features with a `-` before each; there are"
#define NAME(name, needs) " " name
    FEATURE_LIST (NAME) LEVEL_LIST (NAME);
#undef NAME

bool
xp_cpu_is_mask (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  for (char **part = parts; *part != NULL; part++)
    if (*g_strstrip (*part) != '\0' && (**part != '-' || !xp_cpu_knows (*part + 1)))
      return false;
  return true;
}

/* gcc's own question, whose answer counts the operating system in (XGETBV). */
static bool
machine_has (const char *name)
{
#if defined(__x86_64__)
#  define ASK(feature, needs)                                                                      \
    if (strcmp (name, feature) == 0)                                                               \
      return __builtin_cpu_supports (feature) != 0;
  FEATURE_LIST (ASK)
  /* The levels have features that are no rows here. */
#  if !defined(__clang__) || __clang_major__ >= 18
  LEVEL_LIST (ASK)
#  endif
#  undef ASK
#endif
  (void) name;
  return false;
}

const char *
xp_cpu_level_of_file (const char *path)
{
  for (unsigned i = 0; xp_cpu_levels[i] != NULL; i++)
    {
      g_autofree char *end = g_strdup_printf (".%s.so", xp_cpu_levels[i]);
      if (g_str_has_suffix (path, end))
        return xp_cpu_levels[i];
    }
  return NULL;
}

/* Whether @masks, each with a `-` before it, take @name away. */
static bool
is_masked (const char *name, char **masks)
{
  for (; *masks != NULL; masks++)
    if (masks[0][0] == '-' && strcmp (*masks + 1, name) == 0)
      return true;
  return false;
}

/* What is lacking of @name: itself, or something that it builds on; NULL if nothing is. */
static const char *
lacking (const char *name, char **masks, bool *masked)
{
  int i = find (name);
  g_auto (GStrv) needs = g_strsplit (i >= 0 ? features[i].needs : "", " ", -1);
  for (char **need = needs; *need != NULL; need++)
    {
      const char *culprit = lacking (*need, masks, masked);
      if (culprit != NULL)
        return culprit;
    }
  *masked = is_masked (name, masks);
  return !*masked && i >= 0 && machine_has (name) ? NULL : i >= 0 ? features[i].name : name;
}

gboolean
xp_cpu_check (const XpPluginInfo *info, GError **error)
{
  g_auto (GStrv) masks = xp_setting_get_list ("cpu-features");
  for (unsigned i = 0; info->cpu[i] != NULL; i++)
    {
      bool masked;
      const char *name = info->cpu[i], *culprit = lacking (name, masks, &masked);
      if (culprit == NULL)
        continue;
      bool is_part = strcmp (culprit, name) != 0;
      xp_error_set (
          error, XP_ERROR_MISSING_CPU_FEATURE, &(XpErrorDetails){ .plugin = info->name },
          "%s needs the CPU feature %s%s%s, which %s", info->path, name, is_part ? ", and so " : "",
          is_part ? culprit : "",
          masked ? "the setting cpu-features takes away: take that out, or use a variant that "
                   "needs less"
          : xp_cpu_knows (name)
              ? "this machine does not offer: use a variant built for it"
              : "this version of crosspoint does not know: use a later one, or a variant that "
                "needs less");
      return FALSE;
    }
  return TRUE;
}
