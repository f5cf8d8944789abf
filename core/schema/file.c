/* SPDX-License-Identifier: MIT
 *
 * file.c: reading files of schemas.
 */
#include "schema/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum
{
  MOST_BYTES = 64 * 1024 * 1024
};

/* A file while it is read. */
typedef struct
{
  const char *location;
  GPtrArray *lines;    /* XpSchemaLine */
  GHashTable *by_name; /* name -> its line's number */
} Reading;

static void
line_free (void *data)
{
  XpSchemaLine *line = data;
  xp_schema_unref (line->schema);
  g_free ((char *) line->name);
  g_free ((char *) line->text);
  g_free ((char *) line->tags);
  g_free ((char *) line->description);
  g_free (line);
}

void
xp_schema_file_free (XpSchemaFile *file)
{
  if (file == NULL)
    return;
  for (size_t i = 0; i < file->n_lines; i++)
    line_free ((XpSchemaLine *) file->lines[i]);
  g_free ((XpSchemaLine **) file->lines);
  g_free ((char *) file->path);
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
      else if (g_ascii_isspace (line[i])
               && (line[i + 1] == '@' || g_str_has_prefix (line + i + 1, "--")))
        break;
    }
  return i;
}

G_GNUC_PRINTF (4, 5)
static gboolean
set_mistake (const Reading *reading, int number, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  xp_error_set (error, XP_ERROR_SCHEMA_SYNTAX, NULL, "%s:%d: %s", reading->location, number, text);
  return FALSE;
}

/* `@pointwise @inplace -- What it does.` */
static gboolean
take_rest (const Reading *reading, XpSchemaLine *line, const char *rest, GError **error)
{
  g_autoptr (GString) tags = g_string_new (NULL);
  while (*(rest += strspn (rest, " \t")) == '@')
    {
      size_t n = strcspn (++rest, " \t");
      if (n == 0 || strspn (rest, G_CSET_a_2_z "_") < n)
        return set_mistake (reading, line->line, error,
                            "expected a tag of lower-case letters after @, found '%.*s'", (int) n,
                            rest);
      g_string_append_printf (tags, "%s%.*s", tags->len > 0 ? " " : "", (int) n, rest);
      rest += n;
    }
  if (tags->len > 0)
    line->tags = g_strdup (tags->str);
  if (g_str_has_prefix (rest, "--"))
    {
      char *description = g_strstrip (g_strdup (rest + 2));
      line->description = description[0] != '\0' ? description : NULL;
      if (line->description == NULL)
        g_free (description);
    }
  else if (*rest != '\0')
    return set_mistake (reading, line->line, error,
                        "expected @tag or -- description after the schema, found '%s'", rest);
  return TRUE;
}

static gboolean
take_schema (const Reading *reading, XpSchemaLine *line, GError **error)
{
  GError *local = NULL;
  line->schema = xp_schema_parse (line->text, &local);
  if (line->schema == NULL)
    {
      g_prefix_error (&local, "%s:%d: ", reading->location, line->line);
      g_propagate_error (error, local);
      return FALSE;
    }
  if (strstr (line->schema->name, "::") == NULL)
    return set_mistake (reading, line->line, error,
                        "expected a namespace before the name, as in aten::relu, found %s",
                        line->schema->name);
  line->name = xp_schema_operator_name (line->schema);
  int other = GPOINTER_TO_INT (g_hash_table_lookup (reading->by_name, line->name));
  if (other != 0)
    return set_mistake (reading, line->line, error, "%s stands in line %d already", line->name,
                        other);
  g_hash_table_insert (reading->by_name, (char *) line->name, GINT_TO_POINTER (line->line));
  return TRUE;
}

static gboolean
take_line (Reading *reading, const char *text, int number, GError **error)
{
  size_t n = schema_length (text);
  XpSchemaLine *line = g_new0 (XpSchemaLine, 1);
  line->line = number;
  line->text = g_strstrip (g_strndup (text, n));
  gboolean good = take_rest (reading, line, text + n, error) && take_schema (reading, line, error);
  if (good)
    g_ptr_array_add (reading->lines, line);
  else
    line_free (line);
  return good;
}

/* Takes the text apart in place. */
static gboolean
take_text (Reading *reading, char *text, GPtrArray *mistakes, GError **error)
{
  int number = 1;
  for (char *line = text, *next; line != NULL; line = next, number++)
    {
      GError *local = NULL;
      next = strchr (line, '\n');
      if (next != NULL)
        *next++ = '\0';
      g_strstrip (line);
      if (line[0] == '\0' || line[0] == '#' || take_line (reading, line, number, &local))
        continue;
      if (mistakes == NULL)
        {
          g_propagate_error (error, local);
          return FALSE;
        }
      g_ptr_array_add (mistakes, local);
    }
  return TRUE;
}

static GString *
read_bytes (int fd, const char *location, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char buffer[16384];
  for (;;)
    {
      ssize_t n = read (fd, buffer, sizeof buffer);
      if (n == 0)
        return g_steal_pointer (&text);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be read: %s", location,
                        g_strerror (errno));
          return NULL;
        }
      if (text->len + (size_t) n > MOST_BYTES)
        {
          xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                        "%s is no file of schemas: it is larger than %d MiB", location,
                        MOST_BYTES / (1024 * 1024));
          return NULL;
        }
      g_string_append_len (text, buffer, n);
    }
}

/* What a message, a location or JSON could not show would come out of every later step. */
static gboolean
check_text (const GString *text, const char *location, GError **error)
{
  const char *end;
  if (g_utf8_validate_len (text->str, text->len, &end))
    return TRUE;
  unsigned line = 1;
  for (const char *p = text->str; p < end; p++)
    line += *p == '\n';
  xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                "%s:%u: expected UTF-8 text, found the byte 0x%02x: a file of schemas is text, a "
                "schema a line",
                location, line, (unsigned char) *end);
  return FALSE;
}

XpSchemaFile *
xp_schema_file_read_open (int fd, const char *location, GPtrArray *mistakes, GError **error)
{
  GString *text = read_bytes (fd, location, error);
  if (text == NULL)
    return NULL;
  Reading reading = { location, g_ptr_array_new (), g_hash_table_new (g_str_hash, g_str_equal) };
  gboolean good = check_text (text, location, error)
                  && take_text (&reading, text->str, mistakes, error);
  g_string_free (text, TRUE);
  g_hash_table_unref (reading.by_name);
  XpSchemaFile *file = g_new0 (XpSchemaFile, 1);
  file->path = g_strdup (location);
  file->n_lines = reading.lines->len;
  file->lines = (const XpSchemaLine *const *) g_ptr_array_free (reading.lines, FALSE);
  if (good)
    return file;
  xp_schema_file_free (file);
  return NULL;
}

XpSchemaFile *
xp_schema_file_read (const char *path, const char *location, GPtrArray *mistakes, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    {
      xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be opened: %s", path,
                    g_strerror (errno));
      return NULL;
    }
  XpSchemaFile *file = xp_schema_file_read_open (fd, location != NULL ? location : path, mistakes,
                                                 error);
  close (fd);
  return file;
}
