/* SPDX-License-Identifier: MIT
 *
 * policy.c: what the settings say of the table: whose kernels come first, and what happens at a
 * tie. The table takes it over when the first plugin comes, or when it is asked for.
 */
#include "begin.h"
#include "plugin/plugin.h"
#include "plugin/settings.h"
#include "table/preferences.h"

static void
take_on_tie (const XpSetting *setting)
{
  g_autoptr (GError) error = NULL;
  bool is_error = strcmp (setting->value, "error") == 0;
  if (!xp_on_tie_set (is_error ? XP_ON_TIE_ERROR : XP_ON_TIE_NEWEST, &error))
    g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "MESSAGE", "%s: on-tie stays newest: %s",
                      setting->source, error->message);
}

static void *
take_settings (G_GNUC_UNUSED void *data)
{
  unsigned n;
  XpSetting *settings = xp_settings (&n);
  for (unsigned i = 0; i < n; i++)
    if (strcmp (settings[i].name, "on-tie") == 0)
      take_on_tie (&settings[i]);
    else if (strcmp (settings[i].name, "prefer") == 0)
      {
        g_auto (GStrv) texts = xp_setting_get_list ("prefer");
        xp_preferences_add_settings ((const char *const *) texts, settings[i].source);
      }
  xp_settings_free (settings, n);
  return NULL;
}

static void
take_settings_once (void)
{
  static GOnce once = G_ONCE_INIT;
  g_once (&once, take_settings, NULL);
}

void
xp_policy_begin (void)
{
  xp_preferences_begin_hook = take_settings_once;
}
