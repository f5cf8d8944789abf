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

/* Threads that come at once all read; the first to bring it to the table counts. Nobody waits for
 * another, who might not be in a child that is forked meanwhile. */
static void
take_settings (void)
{
  unsigned n;
  if (xp_preferences_are_taken ())
    return;
  XpSetting *settings = xp_settings (&n);
  g_auto (GStrv) texts = xp_setting_get_list ("prefer");
  XpGivenPolicy given = { .texts = (const char *const *) texts };
  for (unsigned i = 0; i < n; i++)
    if (strcmp (settings[i].name, "on-tie") == 0)
      {
        bool is_error = strcmp (settings[i].value, "error") == 0;
        given.on_tie = is_error ? XP_ON_TIE_ERROR : XP_ON_TIE_NEWEST;
        given.on_tie_source = settings[i].source;
      }
    else if (strcmp (settings[i].name, "prefer") == 0)
      given.texts_source = settings[i].source;
  xp_preferences_take (&given);
  xp_settings_free (settings, n);
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
  xp_preferences_begin_hook = take_settings;
}
