/* SPDX-License-Identifier: MIT
 *
 * suitable.c: whether a plugin may be opened in this process, by its note alone.
 */
#include "plugin/cpu.h"
#include "plugin/plugin.h"
#include "plugin/settings.h"

#include <string.h>

#if defined(__x86_64__)
#  define OWN_MACHINE "x86-64"
#elif defined(__aarch64__)
#  define OWN_MACHINE "aarch64"
#elif defined(__riscv)
#  define OWN_MACHINE "riscv"
#else
#  define OWN_MACHINE "unknown"
#endif

/* `MAJOR.MINOR` and nothing else. */
static gboolean
parse_abi (const char *text, gint64 *major, gint64 *minor)
{
  char *end = NULL;
  if (!g_ascii_isdigit (text[0]))
    return FALSE;
  *major = g_ascii_strtoll (text, &end, 10);
  if (*end != '.' || !g_ascii_isdigit (end[1]))
    return FALSE;
  *minor = g_ascii_strtoll (end + 1, &end, 10);
  return *end == '\0';
}

static gboolean
check_abi (const XpPluginInfo *info, GError **error)
{
  gint64 major = 0, minor = 0;
  gboolean is_newer = parse_abi (info->abi, &major, &minor) && major == XP_ABI_MAJOR;
  if (is_newer && minor <= XP_ABI_MINOR)
    return TRUE;
  g_autofree char *newer = g_strdup_printf (
      "use a crosspoint of ABI %s or later, or build it with XP_TARGET_MINOR=%d", info->abi,
      XP_ABI_MINOR);
  xp_error_set (error, XP_ERROR_WRONG_ABI, &(XpErrorDetails){ .plugin = info->name },
                "%s is built for ABI %s, this is crosspoint %s with ABI %d.%d: %s", info->path,
                info->abi[0] != '\0' ? info->abi : "(none)", xp_version (), XP_ABI_MAJOR,
                XP_ABI_MINOR, is_newer ? newer : "build it with the headers of this version");
  return FALSE;
}

gboolean
xp_note_check_enabled (const XpPluginInfo *info, GError **error)
{
  g_auto (GStrv) patterns = xp_setting_get_list ("disable");
  for (char **pattern = patterns; *pattern != NULL; pattern++)
    if (g_pattern_match_simple (*pattern, info->name))
      {
        g_autofree char *source = xp_setting_source ("disable");
        xp_error_set (
            error, XP_ERROR_DISABLED, &(XpErrorDetails){ .plugin = info->name },
            "%s is disabled by '%s' in the setting `disable` (%s): take it out to load it",
            info->name, *pattern, source);
        return FALSE;
      }
  return TRUE;
}

static gboolean
check_machine (const XpPluginInfo *info, GError **error)
{
  if (info->is_schemas || strcmp (info->machine, OWN_MACHINE) == 0)
    return TRUE;
  xp_error_set (error, XP_ERROR_WRONG_MACHINE, &(XpErrorDetails){ .plugin = info->name },
                "%s is built for %s, this is %s: build it for this machine", info->path,
                info->machine, OWN_MACHINE);
  return FALSE;
}

gboolean
xp_note_check (const XpPluginInfo *info, GError **error)
{
  return xp_note_check_enabled (info, error) && check_machine (info, error)
         && check_abi (info, error) && xp_cpu_check (info, error);
}
