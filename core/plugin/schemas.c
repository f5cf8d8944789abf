/* SPDX-License-Identifier: MIT
 *
 * schemas.c: plugins without code: a file of schemas, NAME.ops, opens rows whose cells are empty.
 */
#include "plugin/plugin.h"
#include "schema/file.h"

#include <string.h>
#include <unistd.h>

bool
xp_schemas_are_in (const char *path)
{
  return g_str_has_suffix (path, ".ops");
}

static char *
namespace_of (const XpSchemaLine *line)
{
  return g_strndup (line->name, (size_t) (strstr (line->name, "::") - line->name));
}

XpPluginInfo *
xp_schemas_read_note (int fd, const char *path, GError **error)
{
  g_autoptr (XpSchemaFile) file = xp_schema_file_read_open (fd, path, NULL, error);
  if (file == NULL)
    return NULL;
  g_autofree char *name = g_path_get_basename (path);
  XpPluginInfo *info = xp_plugin_info_new (name, path);
  g_autoptr (GPtrArray) defines = g_ptr_array_new ();
  for (size_t i = 0; i < file->n_lines; i++)
    {
      g_autofree char *name_space = namespace_of (file->lines[i]);
      if (!g_ptr_array_find_with_equal_func (defines, name_space, g_str_equal, NULL))
        g_ptr_array_add (defines, g_steal_pointer (&name_space));
    }
  g_ptr_array_add (defines, NULL);
  g_strfreev (info->defines);
  info->defines = (char **) g_ptr_array_free (g_steal_pointer (&defines), FALSE);
  g_free (info->description);
  info->description = g_strdup_printf ("%" G_GSIZE_FORMAT " schema%s, without kernels",
                                       file->n_lines, file->n_lines == 1 ? "" : "s");
  g_free (info->machine);
  info->machine = g_strdup ("any");
  g_free (info->abi);
  info->abi = g_strdup_printf ("%d.%d", XP_ABI_MAJOR, XP_ABI_MINOR);
  info->is_schemas = TRUE;
  return info;
}

/* The block of the namespace of @line; the first line of a namespace opens it. */
static XpLibrary *
library_for (const XpSchemaLine *line, const char *path, GHashTable *libraries, XpOwner *owner,
             XpTransaction *transaction, GError **error)
{
  g_autofree char *name_space = namespace_of (line);
  XpLibrary *library = g_hash_table_lookup (libraries, name_space);
  if (library != NULL)
    return library;
  /* A fragment: the namespace may well be another plugin's. */
  const XpLibraryBlock block = {
    sizeof block, XP_LIBRARY_KIND_FRAGMENT, line->line, name_space, NULL, path, NULL, NULL
  };
  library = xp_library_make (&block, owner, transaction, error);
  if (library != NULL)
    g_hash_table_insert (libraries, g_steal_pointer (&name_space), library);
  return library;
}

static void
library_end (G_GNUC_UNUSED void *name_space, void *library, G_GNUC_UNUSED void *data)
{
  ((XpLibrary *) library)->transaction = NULL;
}

gboolean
xp_schemas_open (XpPlugin *plugin, int fd, XpTransaction *transaction, GError **error)
{
  const char *path = plugin->note->path;
  if (lseek (fd, 0, SEEK_SET) != 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, &(XpErrorDetails){ .plugin = plugin->owner.name },
                    "%s cannot be read a second time", path);
      return FALSE;
    }
  g_autoptr (XpSchemaFile) file = xp_schema_file_read_open (fd, path, NULL, error);
  if (file == NULL)
    return FALSE;
  g_autoptr (GHashTable) libraries = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gboolean good = TRUE;
  for (size_t i = 0; good && i < file->n_lines; i++)
    {
      const XpSchemaLine *line = file->lines[i];
      const XpDefinition definition = {
        sizeof definition, line->text, line->tags, line->description, XP_ALIAS_ANALYSIS_FROM_SCHEMA,
        line->line,        path
      };
      XpLibrary *library = library_for (line, path, libraries, &plugin->owner, transaction, error);
      good = library != NULL && xp_library_def (library, &definition, error);
    }
  g_hash_table_foreach (libraries, library_end, NULL);
  return good;
}
