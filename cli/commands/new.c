/* SPDX-License-Identifier: MIT
 *
 * new.c: `crosspoint new`: a plugin's folder, from the templates in cli/templates.
 */
#include "commands/command.h"
#include "output.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

static char **keys;

const GOptionEntry new_options[] = {
  { "key", 0, 0, G_OPTION_ARG_STRING_ARRAY, &keys,
    "With a kernel for KEY; may be given again (CPU and Meta)", "KEY" },
  { NULL },
};

/* The files of a plugin: the template, and what it is called after the plugin's name, or itself. */
static const struct
{
  const char *template;
  const char *suffix;
} files[] = {
  { "plugin.c.in", ".c" }, { "plugin.ops", ".ops" }, { "meson.build", NULL },
  { "Makefile", NULL },    { "test.xp", NULL },      { "README.md", NULL },
};

/* --- What may be made. --- */

static gboolean
check_name (const char *name, GError **error)
{
  bool is_word = g_ascii_isalpha (name[0])
                 && strspn (name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_") == strlen (name);
  if (!is_word)
    {
      xp_error_set (
          error, XP_ERROR_INVALID_ARGUMENT, NULL,
          "expected a name of letters, digits and _, which its operators' namespace and C "
          "functions can have, found '%s'",
          name);
      return FALSE;
    }
  if (g_file_test (name, G_FILE_TEST_EXISTS) || g_file_test (name, G_FILE_TEST_IS_SYMLINK))
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL,
                    "%s is there already: remove it, or choose another name", name);
      return FALSE;
    }
  g_autofree char *header = g_strdup_printf ("/usr/include/%s.h", name);
  if (g_file_test (header, G_FILE_TEST_EXISTS))
    {
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                    "the header %s.h, which is generated, would hide %s: choose another name", name,
                    header);
      return FALSE;
    }
  unsigned n;
  gboolean is_free = TRUE;
  XpPluginInfo **infos = xp_plugins (&n);
  for (unsigned i = 0; i < n && is_free; i++)
    {
      is_free = strcmp (infos[i]->name, name) != 0
                && !g_strv_contains ((const char *const *) infos[i]->defines, name);
      if (!is_free)
        xp_error_set (error, XP_ERROR_INVALID_ARGUMENT,
                      &(XpErrorDetails){ .plugin = infos[i]->name },
                      "the plugin %s (%s) has the name or the namespace %s already: choose another",
                      infos[i]->name, infos[i]->path, name);
    }
  xp_plugin_infos_free (infos, n);
  return is_free;
}

/* A key that a block may have; named devices may come with another plugin. */
static gboolean
check_key (const char *key, GError **error)
{
  XpKey parsed;
  if (!xp_key_parse (key, &parsed, error))
    return FALSE;
  unsigned n = 0;
  for (char **other = keys; *other != NULL; other++)
    n += strcmp (*other, key) == 0;
  if (n > 1)
    {
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, &(XpErrorDetails){ .key = (char *) key },
                    "expected each key once, found %s %u times", key, n);
      return FALSE;
    }
  if (xp_key_is_alias (parsed) || xp_key_is_runtime (parsed))
    return TRUE;
  xp_error_set (error, XP_ERROR_UNKNOWN_KEY, &(XpErrorDetails){ .key = (char *) key },
                "%s has no cell of its own: name a backend, as in %sCPU", key,
                strcmp (key, "Dense") == 0 ? "" : key);
  return FALSE;
}

/* --- Templates. --- */

static char *
template_text (const char *name)
{
  g_autofree char *path = g_strconcat ("/crosspoint/new/", name, NULL);
  g_autoptr (GBytes) bytes = g_resources_lookup_data (path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  return bytes != NULL ? g_strndup (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes))
                       : NULL;
}

static void
replace (GString *text, const char *placeholder, const char *value)
{
  g_string_replace (text, placeholder, value, 0);
}

/* The part of a file for each key: the template for that very key, or the general one. */
static char *
parts_for_keys (const char *special, const char *general, const char *name)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (char **key = keys; *key != NULL; key++)
    {
      g_autofree char *own = g_strdup_printf (special, *key);
      g_autofree char *found = template_text (own);
      g_autofree char *part = found != NULL ? g_steal_pointer (&found) : template_text (general);
      g_autoptr (GString) filled = g_string_new (part);
      g_autofree char *word = g_ascii_strdown (*key, -1);
      replace (filled, "@KEYWORD@", word);
      replace (filled, "@KEY@", *key);
      replace (filled, "@NAME@", name);
      g_string_append (text, filled->str);
    }
  return g_strchomp (g_string_free (g_steal_pointer (&text), FALSE));
}

static gboolean
write_template (const char *folder, unsigned i, const char *name, GError **error)
{
  g_autofree char *template = template_text (files[i].template);
  g_autoptr (GString) text = g_string_new (template);
  g_autofree char *kernels = parts_for_keys ("kernel-%s.c.in", "kernel.c.in", name);
  g_autofree char *tests = parts_for_keys ("test-%s.xp", "test-key.xp", name);
  replace (text, "@KERNELS@", kernels);
  replace (text, "@TESTS@", tests);
  replace (text, "@NAME@", name);
  g_autofree char *file = files[i].suffix != NULL ? g_strconcat (name, files[i].suffix, NULL)
                                                  : g_strdup (files[i].template);
  g_autofree char *path = g_build_filename (folder, file, NULL);
  return g_file_set_contents (path, text->str, (gssize) text->len, error);
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *file;
  while (dir != NULL && (file = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, file, NULL);
      g_unlink (path);
    }
  g_rmdir (folder);
}

/* All of it, or nothing. */
static gboolean
write_project (const char *name, GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (g_mkdir (name, 0777) != 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be made: %s", name,
                    g_strerror (errno));
      return FALSE;
    }
  for (unsigned i = 0; i < XP_LENGTH (files); i++)
    if (!write_template (name, i, name, &reason))
      {
        remove_folder (name);
        xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s is not made: %s", name, reason->message);
        return FALSE;
      }
  return TRUE;
}

int
command_new (const Settings *settings, char **arguments)
{
  g_autoptr (GError) error = NULL;
  static char *usual[] = { "CPU", "Meta", NULL };
  g_auto (GStrv) given = keys != NULL ? keys : g_strdupv (usual);
  gboolean good = check_name (arguments[0], &error);
  keys = given;
  for (char **key = keys; good && *key != NULL; key++)
    good = check_key (*key, &error);
  good = good && write_project (arguments[0], &error);
  keys = NULL;
  if (!good)
    return output_error (settings, NULL, error);
  g_autofree char *text = g_strdup_printf ("%s: a plugin with one operator, %s::scale\n"
                                           "cd %s && make && make test",
                                           arguments[0], arguments[0], arguments[0]);
  return output_report (settings, xp_report_text ("new", text));
}
