/* SPDX-License-Identifier: MIT
 *
 * compile.c: runs the C compiler with the flags that a plugin needs.
 */
#include "author/compile.h"

#include "gen/header.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What keeps a plugin's names its own, and its file fit to be unloaded; docs/lint.md says why. */
static const char *const compiler_flags[] = {
  "-shared",          "-fPIC", "-O2", "-g", "-Wall", "-Wextra", "-std=gnu11", "-fvisibility=hidden",
  "-ffp-contract=off"
};
static const char *const linker_flags[] = { "-Wl,-Bsymbolic", "-Wl,--no-undefined",
                                            "-Wl,-z,relro,-z,now", "-Wl,--build-id" };

gboolean
is_source (const char *name)
{
  return g_str_has_suffix (name, ".c");
}

/* The words of a command line, of a variable or of another program's output. */
static gboolean
add_words (GPtrArray *arguments, const char *text, const char *what, GError **error)
{
  g_auto (GStrv) words = NULL;
  g_autoptr (GError) reason = NULL;
  if (!g_shell_parse_argv (text, NULL, &words, &reason)
      && !g_error_matches (reason, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING))
    {
      xp_error_set (error, XP_ERROR_COMPILE_FAILED, NULL, "%s is no list of words: %s", what,
                    reason->message);
      return FALSE;
    }
  for (char **word = words; word != NULL && *word != NULL; word++)
    g_ptr_array_add (arguments, g_strdup (*word));
  return TRUE;
}

static gboolean
add_variable (GPtrArray *arguments, const char *name, GError **error)
{
  const char *value = g_getenv (name);
  return value == NULL || add_words (arguments, value, name, error);
}

/* Where the description of the library that this program came with lies: in a build folder or an
 * installed tree. */
static char *
description_folder (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  if (program == NULL)
    return NULL;
  g_autofree char *own = g_path_get_dirname (program);
  g_autofree char *built = g_build_filename (own, "..", "meson-uninstalled", NULL);
  if (g_file_test (built, G_FILE_TEST_IS_DIR))
    return g_canonicalize_filename (built, NULL);
  g_autofree char *installed = g_build_filename (own, XP_PKGCONFIG_RELATIVE_DIR, NULL);
  return g_file_test (installed, G_FILE_TEST_IS_DIR) ? g_canonicalize_filename (installed, NULL)
                                                     : NULL;
}

/* What pkg-config says of @what, `--cflags` or `--libs`. */
static gboolean
add_description (GPtrArray *arguments, const char *what, GError **error)
{
  const char *tool = g_getenv ("PKG_CONFIG") != NULL ? g_getenv ("PKG_CONFIG") : "pkg-config";
  const char *const command[] = { tool, what, "crosspoint", NULL };
  const char *path = g_getenv ("PKG_CONFIG_PATH");
  g_autofree char *own = description_folder ();
  g_autofree char *whole = g_strdup_printf ("%s%s%s", own != NULL ? own : "",
                                            own != NULL && path != NULL ? ":" : "",
                                            path != NULL ? path : "");
  g_auto (GStrv) environment = g_environ_setenv (g_get_environ (), "PKG_CONFIG_PATH", whole, TRUE);
  g_autofree char *printed = NULL;
  g_autofree char *said = NULL;
  g_autoptr (GError) reason = NULL;
  int status = 0;
  if (g_spawn_sync (NULL, (char **) command, environment, G_SPAWN_SEARCH_PATH, NULL, NULL, &printed,
                    &said, &status, &reason)
      && g_spawn_check_wait_status (status, &reason))
    return add_words (arguments, printed, tool, error);
  xp_error_set (error, XP_ERROR_COMPILE_FAILED, NULL,
                "`%s %s crosspoint` does not tell how to compile a plugin: %s%s%s\nInstall "
                "pkg-config, and set PKG_CONFIG_PATH to where crosspoint.pc lies.",
                tool, what, reason->message, said != NULL && said[0] != '\0' ? ": " : "",
                said != NULL ? g_strchomp (said) : "");
  return FALSE;
}

/* --- What gen writes. --- */

static gboolean
write_file (const char *folder, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) reason = NULL;
  if (g_file_set_contents (path, text, -1, &reason))
    return TRUE;
  xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s", reason->message);
  return FALSE;
}

/* The header of a .ops file into @folder, and the C file of its rows, which becomes one of
 * @sources; without @folder prints the commands that would write them here. */
static gboolean
generate (const char *path, const char *folder, GPtrArray *sources, GError **error)
{
  g_autoptr (XpSchemaFile) file = xp_schema_file_read (path, NULL, NULL, error);
  g_autofree char *name_space = file != NULL ? name_space_of_file (file, error) : NULL;
  if (name_space == NULL)
    return FALSE;
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *header = header_write (file, name_space, notes);
  g_autofree char *rows = rows_write (file, name_space);
  g_autofree char *header_name = g_strconcat (name_space, ".h", NULL);
  g_autofree char *rows_name = g_strconcat (name_space, "_rows.c", NULL);
  g_ptr_array_add (sources, folder != NULL ? g_build_filename (folder, rows_name, NULL)
                                           : g_strdup (rows_name));
  if (folder == NULL)
    {
      printf ("crosspoint gen %s\ncrosspoint gen --rows %s\n", path, path);
      return TRUE;
    }
  for (unsigned i = 0; i < notes->len; i++)
    g_printerr ("%s:%s\n", path, (char *) notes->pdata[i]);
  return write_file (folder, header_name, header, error)
         && write_file (folder, rows_name, rows, error);
}

/* NAME.ops for NAME.c, where it is there. */
static char *
schemas_beside (const char *source)
{
  g_autofree char *path = g_strdup_printf ("%.*sops", (int) strlen (source) - 1, source);
  return g_file_test (path, G_FILE_TEST_EXISTS) ? g_steal_pointer (&path) : NULL;
}

/* The sources to compile: those of @files, and the rows of their schemas. */
static gboolean
take_files (char *const *files, const char *folder, GPtrArray *sources, GError **error)
{
  g_autoptr (GHashTable) schemas = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (; *files != NULL; files++)
    {
      g_autofree char *path = is_source (*files) ? schemas_beside (*files) : g_strdup (*files);
      if (!is_source (*files) && !g_str_has_suffix (*files, ".ops"))
        {
          xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                        "expected C files, FILE.c, and files of schemas, FILE.ops; found %s",
                        *files);
          return FALSE;
        }
      if (is_source (*files))
        g_ptr_array_add (sources, g_strdup (*files));
      if (path == NULL || !g_hash_table_add (schemas, g_canonicalize_filename (path, NULL)))
        continue;
      if (!generate (path, folder, sources, error))
        return FALSE;
    }
  return TRUE;
}

/* --- The compiler. --- */

static GPtrArray *
compiler_command (const GPtrArray *sources, const char *folder, const char *output, GError **error)
{
  const char *compiler = g_getenv ("CC") != NULL ? g_getenv ("CC") : "cc";
  GPtrArray *command = g_ptr_array_new_with_free_func (g_free);
  gboolean good = add_words (command, compiler, "CC", error);
  for (unsigned i = 0; i < XP_LENGTH (compiler_flags); i++)
    g_ptr_array_add (command, g_strdup (compiler_flags[i]));
  g_ptr_array_add (command, g_strconcat ("-I", folder != NULL ? folder : ".", NULL));
  /* Where the rows were for a moment is nobody's concern, and differs each time. */
  if (folder != NULL)
    g_ptr_array_add (command, g_strdup_printf ("-ffile-prefix-map=%s/=", folder));
  good = good && add_description (command, "--cflags", error)
         && add_variable (command, "CPPFLAGS", error) && add_variable (command, "CFLAGS", error);
  for (unsigned i = 0; i < sources->len; i++)
    g_ptr_array_add (command, g_strdup (sources->pdata[i]));
  g_ptr_array_add (command, g_strdup ("-o"));
  g_ptr_array_add (command, g_strdup (output));
  for (unsigned i = 0; i < XP_LENGTH (linker_flags); i++)
    g_ptr_array_add (command, g_strdup (linker_flags[i]));
  good = good && add_variable (command, "LDFLAGS", error)
         && add_description (command, "--libs", error);
  g_ptr_array_add (command, NULL);
  if (good)
    return command;
  g_ptr_array_unref (command);
  return NULL;
}

static void
print_command (const GPtrArray *command)
{
  for (unsigned i = 0; i + 1 < command->len; i++)
    {
      const char *word = command->pdata[i];
      bool is_plain = strspn (word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-_=+./,:@%")
                      == strlen (word);
      g_autofree char *quoted = is_plain ? g_strdup (word) : g_shell_quote (word);
      printf ("%s%s", i > 0 ? " " : "", quoted);
    }
  printf ("\n");
}

static gboolean
run_compiler (const GPtrArray *command, GError **error)
{
  g_autoptr (GError) reason = NULL;
  int status = 0;
  fflush (stdout);
  /* The compiler's own words go where this program's errors do. */
  if (g_spawn_sync (NULL, (char **) command->pdata, NULL,
                    G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN | G_SPAWN_STDOUT_TO_DEV_NULL,
                    NULL, NULL, NULL, NULL, &status, &reason)
      && g_spawn_check_wait_status (status, &reason))
    return TRUE;
  xp_error_set (
      error, XP_ERROR_COMPILE_FAILED, NULL,
      "%s did not compile the plugin: %s; what it prints tells what to correct, and CC names "
      "another compiler",
      (const char *) command->pdata[0], reason->message);
  return FALSE;
}

static void
remove_folder (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_unlink (path);
    }
  g_rmdir (folder);
}

static char *
folder_new (GError **error)
{
  g_autoptr (GError) reason = NULL;
  char *folder = g_dir_make_tmp ("crosspoint-XXXXXX", &reason);
  if (folder == NULL)
    xp_error_set (error, XP_ERROR_FILE_IO, NULL, "no folder for what is generated: %s",
                  reason->message);
  return folder;
}

gboolean
compile_plugin (char *const *files, const char *output, gboolean dry_run, GError **error)
{
  g_autoptr (GPtrArray) sources = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *folder = dry_run ? NULL : folder_new (error);
  if (folder == NULL && !dry_run)
    return FALSE;
  /* A plugin that is mapped is not written into: the new file takes its place. */
  g_autofree char *written = g_strconcat (output, ".new", NULL);
  g_autoptr (GPtrArray) command = take_files (files, folder, sources, error) ? compiler_command (
                                      sources, folder, dry_run ? output : written, error)
                                                                             : NULL;
  gboolean done = command != NULL;
  if (done && dry_run)
    print_command (command);
  else if (done && (done = run_compiler (command, error)) && g_rename (written, output) != 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be written: %s", output,
                    g_strerror (errno));
      done = FALSE;
    }
  if (folder != NULL)
    {
      g_unlink (written);
      remove_folder (folder);
    }
  return done;
}

/* --- Loading. --- */

static char *compiled_folder;        /* what was compiled to be loaded, until the program ends */
static GHashTable *compiled_sources; /* a file in it -> the source it was compiled of */

static void
remove_compiled (void)
{
  GHashTableIter iter;
  void *path;
  for (g_hash_table_iter_init (&iter, compiled_sources);
       g_hash_table_iter_next (&iter, &path, NULL);)
    {
      g_autofree char *own = g_path_get_dirname (path);
      g_unlink (path);
      g_rmdir (own);
    }
  g_rmdir (compiled_folder);
}

static gboolean
compiled_folder_begin (GError **error)
{
  if (compiled_folder != NULL)
    return TRUE;
  compiled_folder = folder_new (error);
  if (compiled_folder == NULL)
    return FALSE;
  compiled_sources = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  atexit (remove_compiled);
  return TRUE;
}

/* Each time a file of its own: what is loaded keeps the one that it came from. */
static char *
compile_to_load (const char *source, GError **error)
{
  static unsigned n_compiled;
  if (!compiled_folder_begin (error))
    return NULL;
  g_autofree char *base = g_path_get_basename (source);
  g_autofree char *name = g_strdup_printf ("%u/%.*sso", ++n_compiled, (int) strlen (base) - 1,
                                           base);
  g_autofree char *path = g_build_filename (compiled_folder, name, NULL);
  g_autofree char *own = g_path_get_dirname (path);
  g_mkdir (own, 0700);
  if (compile_plugin ((char *[]){ (char *) source, NULL }, path, FALSE, error))
    {
      g_hash_table_insert (compiled_sources, g_strdup (path),
                           g_canonicalize_filename (source, NULL));
      return g_steal_pointer (&path);
    }
  g_rmdir (own);
  return NULL;
}

static const char *
source_of (const char *path)
{
  return compiled_sources != NULL && path != NULL ? g_hash_table_lookup (compiled_sources, path)
                                                  : NULL;
}

XpPlugin *
load_plugin_or_source (const char *name, GError **error)
{
  if (!is_source (name))
    return xp_plugin_load (name, error);
  g_autofree char *path = compile_to_load (name, error);
  g_autoptr (XpPluginInfo) info = path != NULL ? xp_plugin_info_read (path, error) : NULL;
  if (info == NULL)
    return NULL;
  XpPlugin *before = xp_plugin_find (info->name);
  g_autoptr (XpPluginInfo) old = before != NULL ? xp_plugin_info (before) : NULL;
  if (old != NULL && old->state == XP_PLUGIN_LOADED && source_of (old->path) != NULL)
    return xp_plugin_swap (before, path, XP_SWAP_FORCE, NULL, error);
  return xp_plugin_load (path, error);
}

gboolean
compile_to_swap (XpPlugin *plugin, const char *name, char **path, GError **error)
{
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  const char *source = name == NULL ? source_of (info->path) : is_source (name) ? name : NULL;
  *path = source != NULL ? compile_to_load (source, error) : g_strdup (name);
  return source == NULL || *path != NULL;
}
