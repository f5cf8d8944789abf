/* SPDX-License-Identifier: MIT
 *
 * policy.c: what the settings say to the layers below: whose kernels come first, what happens at a
 * tie, how many threads a loop has. The table takes over what is its own when the first plugin
 * comes, or when it is asked for.
 */
#include "begin.h"
#include "call/parallel.h"
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

/* Looked up once after each change: the environment is not read beside a program that sets it. */
static unsigned
num_threads_setting (void)
{
  static uint64_t known; /* atomic: the changes when it was looked up, and the number plus one */
  uint64_t changes = __atomic_load_n (&xp_settings_changes, __ATOMIC_ACQUIRE);
  uint64_t found = __atomic_load_n (&known, __ATOMIC_RELAXED);
  if ((uint32_t) found == 0 || found >> 32 != changes)
    {
      found = changes << 32 | ((uint64_t) xp_setting_get_number ("num-threads") + 1);
      __atomic_store_n (&known, found, __ATOMIC_RELAXED);
    }
  return (uint32_t) found - 1;
}

void
xp_set_num_threads (unsigned n_threads)
{
  char text[16];
  g_return_if_fail (n_threads <= 65536);
  g_snprintf (text, sizeof text, "%u", n_threads);
  xp_setting_set ("num-threads", n_threads > 0 ? text : NULL, NULL);
}

void
xp_policy_begin (void)
{
  xp_num_threads_hook = num_threads_setting;
  xp_preferences_begin_hook = take_settings_once;
}
