/* SPDX-License-Identifier: MIT
 *
 * operators.c: reading .ops files.
 */
#include "operators.h"

#include <string.h>

static void
operator_free (void *data)
{
  Operator *op = data;
  xp_schema_unref (op->schema);
  g_free (op->text);
  g_free (op->tags);
  g_free (op->description);
  g_free (op);
}

void
operator_file_free (OperatorFile *file)
{
  if (file == NULL)
    return;
  g_free (file->path);
  g_free (file->name_space);
  g_ptr_array_unref (file->operators);
  g_hash_table_unref (file->by_name);
  g_free (file);
}

/* Where the schema ends: at the first ` @` or ` --` outside of quotes. */
static size_t
schema_length (const char *line)
{
  char quote = '\0';
  size_t i = 0;
  for (; line[i] != '\0'; i++)
    {
      if (quote != '\0')
        {
          if (line[i] == '\\' && line[i + 1] != '\0')
            i++;
          else if (line[i] == quote)
            quote = '\0';
        }
      else if (line[i] == '"' || line[i] == '\'')
        quote = line[i];
      else if (line[i] == ' ' && (line[i + 1] == '@' || g_str_has_prefix (line + i + 1, "--")))
        break;
    }
  return i;
}

static gboolean
set_syntax (const OperatorFile *file, int line, GError **error, const char *message)
{
  xp_error_set (error, XP_ERROR_SCHEMA_SYNTAX, NULL, "%s:%d: %s", file->path, line, message);
  return FALSE;
}

/* `@pointwise @inplace -- What it does.` */
static gboolean
take_rest (const OperatorFile *file, Operator *op, const char *rest, GError **error)
{
  GString *tags = g_string_new (NULL);
  while (*(rest += strspn (rest, " \t")) == '@')
    {
      size_t n = strcspn (++rest, " \t");
      if (n == 0 || strspn (rest, G_CSET_a_2_z "_") < n)
        {
          g_string_free (tags, TRUE);
          return set_syntax (file, op->line, error, "expected a tag of lower-case letters after @");
        }
      g_string_append_printf (tags, "%s%.*s", tags->len > 0 ? " " : "", (int) n, rest);
      rest += n;
    }
  op->tags = g_string_free (tags, tags->len == 0);
  if (g_str_has_prefix (rest, "--"))
    op->description = g_strstrip (g_strdup (rest + 2));
  else if (*rest != '\0')
    return set_syntax (file, op->line, error, "expected @tag or -- description after the schema");
  return TRUE;
}

static gboolean
take_namespace (OperatorFile *file, const Operator *op, GError **error)
{
  const char *colons = strstr (op->schema->name, "::");
  if (colons == NULL)
    return set_syntax (file, op->line, error,
                       "expected a namespace before the name, as in aten::relu");
  size_t n = (size_t) (colons - op->schema->name);
  if (file->name_space == NULL)
    file->name_space = g_strndup (op->schema->name, n);
  else if (strlen (file->name_space) != n || strncmp (file->name_space, op->schema->name, n) != 0)
    return set_syntax (file, op->line, error,
                       "a .ops file holds one namespace; put this one into a file of its own");
  return TRUE;
}

static gboolean
check_unique (const OperatorFile *file, Operator *op, GError **error)
{
  char *name = xp_schema_operator_name (op->schema);
  const Operator *other = g_hash_table_lookup (file->by_name, name);
  if (other == NULL)
    {
      g_hash_table_insert (file->by_name, name, op);
      return TRUE;
    }
  g_autofree char *message = g_strdup_printf ("%s stands in line %d already", name, other->line);
  g_free (name);
  return set_syntax (file, op->line, error, message);
}

static gboolean
take_line (OperatorFile *file, const char *line, int number, GError **error)
{
  size_t n = schema_length (line);
  Operator *op = g_new0 (Operator, 1);
  g_ptr_array_add (file->operators, op);
  op->line = number;
  op->text = g_strstrip (g_strndup (line, n));
  op->schema = xp_schema_parse (op->text, error);
  if (op->schema == NULL)
    {
      g_prefix_error (error, "%s:%d: ", file->path, number);
      return FALSE;
    }
  return take_rest (file, op, line + n, error) && take_namespace (file, op, error)
         && check_unique (file, op, error);
}

OperatorFile *
operator_file_read (const char *path, const char *name, GError **error)
{
  g_autofree char *contents = NULL;
  GError *local = NULL;
  if (!g_file_get_contents (path, &contents, NULL, &local))
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s", local->message);
      g_error_free (local);
      return NULL;
    }
  g_autoptr (OperatorFile) file = g_new0 (OperatorFile, 1);
  file->path = g_strdup (name);
  file->operators = g_ptr_array_new_with_free_func (operator_free);
  file->by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (GStrv) lines = g_strsplit (contents, "\n", -1);
  for (int i = 0; lines[i] != NULL; i++)
    {
      g_strchomp (lines[i]);
      if (lines[i][0] != '\0' && lines[i][0] != '#' && !take_line (file, lines[i], i + 1, error))
        return NULL;
    }
  if (file->operators->len == 0)
    {
      xp_error_set (error, XP_ERROR_SCHEMA_SYNTAX, NULL, "%s holds no schema", path);
      return NULL;
    }
  return g_steal_pointer (&file);
}
