/* SPDX-License-Identifier: MIT
 *
 * prefer.c: `crosspoint prefer`: whose kernels come first, and the user's file that says so.
 */
#include "commands/command.h"
#include "output.h"

#include <string.h>

static gboolean removes;

const GOptionEntry prefer_options[] = {
  { "remove", 0, 0, G_OPTION_ARG_NONE, &removes, "Take it out of the user's file again", NULL },
  { NULL },
};

/* What the file prefers, but for the first that means the same as @full where that is removed. */
static char *
edit_list (const char *before, const char *full, gboolean *was_there)
{
  g_auto (GStrv) parts = g_strsplit (before != NULL ? before : "", ",", -1);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  *was_there = FALSE;
  if (!removes)
    g_ptr_array_add (list, (char *) full);
  for (char **part = parts; *part != NULL; part++)
    {
      g_autofree char *other = xp_preference_in_full (g_strstrip (*part), NULL);
      gboolean is_same = g_strcmp0 (other, full) == 0 && !*was_there;
      *was_there |= is_same;
      if ((*part)[0] != '\0' && !is_same)
        g_ptr_array_add (list, *part);
    }
  g_ptr_array_add (list, NULL);
  return g_strjoinv (",", (char **) list->pdata);
}

static XpReport *
change_file (const char *text, GError **error)
{
  g_autofree char *path = xp_settings_file ();
  g_autofree char *full = xp_preference_in_full (text, error);
  if (full == NULL)
    return NULL;
  gboolean was_there;
  g_autofree char *before = xp_setting_get_layer ("prefer", XP_SETTING_FILE);
  g_autofree char *after = edit_list (before, full, &was_there);
  if (removes && !was_there)
    {
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL, "%s does not prefer %s; it prefers %s",
                    path, full, before != NULL ? before : "nothing");
      return NULL;
    }
  if (!xp_setting_save ("prefer", after[0] != '\0' ? after : NULL, error))
    return NULL;
  g_autofree char *environment = xp_setting_get_layer ("prefer", XP_SETTING_ENVIRONMENT);
  g_autofree char *line = g_strdup_printf (
      "%s: prefer=%s%s", path, after,
      environment != NULL ? "\nCROSSPOINT_PREFER is set, and counts instead" : "");
  return xp_report_text ("written", line);
}

int
command_prefer (const Settings *settings, char **arguments)
{
  g_autoptr (GError) error = NULL;
  if (removes && arguments[0] == NULL)
    g_set_error (&error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "expected what is to be removed, as in `prefer --remove aten::mm@openblas`");
  XpReport *report = error != NULL          ? NULL
                     : arguments[0] != NULL ? change_file (arguments[0], &error)
                                            : xp_report_preferences ();
  return report != NULL ? output_report (settings, report) : output_error (settings, NULL, error);
}
