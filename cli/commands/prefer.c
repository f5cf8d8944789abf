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

/* What `prefer` in the user's file is to become. */
typedef struct
{
  const char *path;
  const char *full;
  char *after;
} Change;

static gboolean
edit_preferences (const char *before, void *data, char **after, GError **error)
{
  gboolean was_there;
  Change *change = data;
  change->after = edit_list (before, change->full, &was_there);
  if (removes && !was_there)
    {
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL, "%s does not prefer %s; it prefers %s",
                    change->path, change->full, before != NULL ? before : "nothing");
      return FALSE;
    }
  *after = change->after[0] != '\0' ? g_strdup (change->after) : NULL;
  return TRUE;
}

static XpReport *
change_file (const char *text, GError **error)
{
  g_autofree char *path = xp_settings_file ();
  g_autofree char *full = xp_preference_in_full (text, error);
  Change change = { .path = path, .full = full };
  gboolean done = full != NULL && xp_setting_edit ("prefer", edit_preferences, &change, error);
  g_autofree char *after = change.after;
  if (!done)
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
