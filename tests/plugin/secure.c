/* SPDX-License-Identifier: MIT
 *
 * secure.c: in a program with raised privileges neither the environment nor the user's file says
 * where plugins are. It runs a copy of itself that has the rights of another group; only root can
 * make one.
 */
#include <crosspoint.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVIL "/nowhere/evil"

/* What the copy says: whether it has raised privileges, and whether anything leads to EVIL. */
static int
report (void)
{
  unsigned n;
  XpSearchDirectory *directories = xp_plugin_search_path (&n);
  GString *text = g_string_new (getauxval (AT_SECURE) != 0 ? "secure" : "plain");
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, " %s", directories[i].path);
  xp_search_directories_free (directories, n);
  g_autofree char *tie = xp_setting_get ("on-tie");
  g_autofree char *file = xp_settings_file ();
  gboolean saved = xp_setting_save ("on-tie", "error", NULL);
  printf ("%s %s %s %s\n", text->str, tie, file, saved ? "saved" : "not-saved");
  g_string_free (text, TRUE);
  return 0;
}

static char *
run_copy (const char *program)
{
  char *text = NULL;
  const char *const words[] = { program, "--report", NULL };
  g_autoptr (GError) error = NULL;
  if (!g_spawn_sync (NULL, (char **) words, NULL, G_SPAWN_DEFAULT, NULL, NULL, &text, NULL, NULL,
                     &error))
    printf ("# %s\n", error->message);
  return text != NULL ? text : g_strdup ("");
}

static void
set_environment (const char *folder)
{
  g_autofree char *config = g_build_filename (folder, EVIL, "crosspoint.conf", NULL);
  g_setenv ("CROSSPOINT_PLUGIN_PATH", EVIL, TRUE);
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", EVIL, TRUE);
  g_setenv ("CROSSPOINT_ON_TIE", "error", TRUE);
  g_setenv ("CROSSPOINT_CONFIG", config, TRUE);
  g_setenv ("XDG_DATA_HOME", EVIL, TRUE);
}

/* Whether the copy could be given another group. */
static gboolean
copy_self (const char *copy)
{
  g_autofree char *bytes = NULL;
  gsize n;
  return g_file_get_contents ("/proc/self/exe", &bytes, &n, NULL)
         && g_file_set_contents_full (copy, bytes, (gssize) n, 0, 0700, NULL)
         && chown (copy, (uid_t) -1, getgid () + 1) == 0 && chmod (copy, 02755) == 0;
}

int
main (int n_words, char **words)
{
  if (n_words > 1 && strcmp (words[1], "--report") == 0)
    return report ();
  g_autofree char *folder = g_dir_make_tmp ("crosspoint-secure-XXXXXX", NULL);
  g_autofree char *copy = g_build_filename (folder, "copy", NULL);
  set_environment (folder);
  g_autofree char *plain = run_copy (words[0]);
  printf ("1..2\n%s 1 - the environment counts in a usual program\n",
          g_str_has_prefix (plain, "plain " EVIL " " EVIL " error ") ? "ok" : "not ok");
  g_autofree char *text = copy_self (copy) ? run_copy (copy) : g_strdup ("");
  if (g_str_has_prefix (text, "secure "))
    printf ("# %s%s 2 - and not in one with raised privileges\n", text,
            strstr (text, EVIL) == NULL && strstr (text, " newest ") != NULL
                    && strstr (text, " not-saved") != NULL
                ? "ok"
                : "not ok");
  else
    printf ("ok 2 - and not in one with raised privileges # SKIP no raised privileges to be had: "
            "not root, or a file system without them\n");
  g_unlink (copy);
  g_rmdir (folder);
  return 0;
}
