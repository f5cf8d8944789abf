/* SPDX-License-Identifier: MIT
 *
 * dump.c: reading what PyTorch prints of its table. Debug texts may hold anything, so lines are
 * taken apart from both ends.
 */
#include "dump.h"

#include <string.h>

enum
{
  MOST_BYTES = 1 << 20, /* of a line */
  MOST_NAME = 1000,     /* of an operator or a key */
  MOST_PROBLEMS = 1000, /* of a row */
  MOST_QUOTED = 60
};

static void
clear_kernel (gpointer kernel)
{
  g_free (((DumpKernel *) kernel)->debug);
}

static void
clear_problem (gpointer problem)
{
  g_free (((DumpProblem *) problem)->message);
}

void
dump_row_init (DumpRow *row)
{
  *row = (DumpRow){ .kernels = g_array_new (FALSE, FALSE, sizeof (DumpKernel)),
                    .problems = g_array_new (FALSE, FALSE, sizeof (DumpProblem)) };
  g_array_set_clear_func (row->kernels, clear_kernel);
  g_array_set_clear_func (row->problems, clear_problem);
}

void
dump_row_clear (DumpRow *row)
{
  g_clear_pointer (&row->name, g_free);
  g_clear_pointer (&row->kernels, g_array_unref);
  g_clear_pointer (&row->problems, g_array_unref);
}

const DumpKernel *
dump_row_find (const DumpRow *row, XpKey key)
{
  for (guint i = 0; i < row->kernels->len; i++)
    if (g_array_index (row->kernels, DumpKernel, i).key == key)
      return &g_array_index (row->kernels, DumpKernel, i);
  return NULL;
}

/* --- Problems. --- */

static void add_problem (DumpRow *row, guint64 line, gboolean is_error, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

static void
add_problem (DumpRow *row, guint64 line, gboolean is_error, const char *format, ...)
{
  if (row->problems->len >= MOST_PROBLEMS)
    {
      row->n_unreported++;
      return;
    }
  va_list arguments;
  va_start (arguments, format);
  DumpProblem problem = { line, is_error, g_strdup_vprintf (format, arguments) };
  va_end (arguments);
  g_array_append_val (row->problems, problem);
}

/* The beginning of @text, as much as a message shows, without what a terminal would obey. */
static char *
quoted (const char *text)
{
  GString *quote = g_string_new ("'");
  unsigned n = 0;
  for (; *text != '\0' && n < MOST_QUOTED; text = g_utf8_next_char (text), n++)
    g_string_append_unichar (
        quote, g_unichar_iscntrl (g_utf8_get_char (text)) ? '?' : g_utf8_get_char (text));
  g_string_append (quote, *text != '\0' ? "…'" : "'");
  return g_string_free (quote, FALSE);
}

/* --- Lines. --- */

/* The next line that can be read, trimmed and in UTF-8; NULL behind the last. Blank lines are
 * empty.
 */
static char *
next_line (Lines *lines, DumpRow *row, const char **raw)
{
  gsize n;
  while (lines_next (lines, raw, &n))
    {
      if (n > MOST_BYTES)
        add_problem (row, lines->number, TRUE,
                     "a line of %" G_GSIZE_FORMAT " bytes is of no dump, and is left out; the most "
                     "is %d",
                     n, MOST_BYTES);
      else if (g_utf8_validate (*raw, (gssize) n, NULL))
        return g_strstrip (g_strndup (*raw, n));
      else
        {
          add_problem (row, lines->number, FALSE,
                       "what is no UTF-8 in this line is shown as U+FFFD; write the dump in UTF-8");
          return g_strstrip (g_utf8_make_valid (*raw, (gssize) n));
        }
    }
  return NULL;
}

/* Gives the line that next_line() gave last to the next row, with what was said of it. */
static void
unread_line (Lines *lines, DumpRow *row, const char *raw)
{
  guint n = row->problems->len;
  if (n > 0 && g_array_index (row->problems, DumpProblem, n - 1).line == lines->number)
    g_array_set_size (row->problems, n - 1);
  lines_unread (lines, raw);
}

/* What stands behind `LABEL:`; NULL for another line. */
static const char *
value_of (const char *line, const char *label)
{
  size_t n = strlen (label);
  if (strncmp (line, label, n) != 0 || line[n] != ':' || (line[n + 1] != ' ' && line[n + 1] != 0))
    return NULL;
  return line + n + (line[n + 1] == ' ' ? 2 : 1);
}

/* --- Kernels: `KEY[alias] (inactive): DEBUG :: SIGNATURE [ FLAGS ]`. --- */

/* Cuts the key and its marks off the beginning of @line. What is behind the colon, or NULL. */
static const char *
take_key (const char *line, char **key, gboolean *is_inactive)
{
  size_t n = strspn (line, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_");
  const char *rest = line + n;
  if (n == 0 || n > MOST_NAME)
    return NULL;
  if (g_str_has_prefix (rest, "[alias]"))
    rest += strlen ("[alias]");
  *is_inactive = g_str_has_prefix (rest, " (inactive)");
  if (*is_inactive)
    rest += strlen (" (inactive)");
  if (rest[0] != ':' || (rest[1] != ' ' && rest[1] != '\0'))
    return NULL;
  *key = g_strndup (line, n);
  return rest + (rest[1] == ' ' ? 2 : 1);
}

/* Keys of former versions that have no cell any more, and a key that fills none either but counts
 * as they did: as a backend that has no autograd key of its own. */
static const struct
{
  const char *name;
  XpKey counts_as;
} former_keys[] = { { "ORT", XP_KEY_Quantized } };

/* Parses @name; reports one that is no key, or none of a kernel. */
static gboolean
read_key (DumpRow *row, guint64 line, const char *name, XpKey *key)
{
  g_autoptr (GError) error = NULL;
  for (unsigned i = 0; i < XP_LENGTH (former_keys); i++)
    if (strcmp (former_keys[i].name, name) == 0)
      {
        add_problem (row, line, FALSE,
                     "%s is a key of former versions and has no cell here; its kernel counts for "
                     "AutogradOther all the same",
                     name);
        *key = former_keys[i].counts_as;
        return TRUE;
      }
  if (!xp_key_parse (name, key, &error))
    add_problem (row, line, FALSE, "%s; its kernel is left out", error->message);
  else if (*key == XP_KEY_Undefined)
    add_problem (row, line, FALSE,
                 "no kernel is registered to Undefined, and this one is left out; those without a "
                 "key are registered to CompositeImplicitAutograd");
  else
    return TRUE;
  return FALSE;
}

/* The length of the debug text at the beginning of @rest; FALSE where what must be behind it is
 * not there. */
static gboolean
measure_debug (const char *rest, size_t *n_debug, gboolean *is_fallthrough)
{
  size_t n = strlen (rest);
  const char *flags = n > 0 && rest[n - 1] == ']' ? g_strrstr (rest, " [ ") : NULL;
  if (flags == NULL || strspn (flags + 3, "abcdefghijklmnopqrstuvwxyz_ ") != strlen (flags + 3) - 1)
    return FALSE;
  const char *colons = g_strrstr_len (rest, flags - rest, " :: ");
  /* An empty debug text loses the blank before it where blanks are trimmed. */
  size_t n_colons = colons != NULL ? 4 : 3;
  if (colons == NULL && g_str_has_prefix (rest, ":: "))
    colons = rest;
  if (colons == NULL || colons[n_colons] != '(')
    return FALSE;
  *n_debug = (size_t) (colons - rest);
  *is_fallthrough = strstr (flags, " fallthrough ") != NULL;
  return TRUE;
}

static void
read_kernel (DumpRow *row, guint64 line, const char *text)
{
  g_autofree char *name = NULL, *quote = NULL;
  gboolean is_inactive, is_fallthrough = FALSE;
  const char *rest = take_key (text, &name, &is_inactive);
  size_t n_debug = 0;
  gboolean is_whole = rest != NULL && measure_debug (rest, &n_debug, &is_fallthrough);
  XpKey key;
  if (!is_whole)
    quote = quoted (text);
  if (!is_whole && (rest == NULL || !xp_key_parse (name, &key, NULL) || key == XP_KEY_Undefined))
    {
      add_problem (row, line, TRUE,
                   "expected `KEY: DEBUG :: SIGNATURE [ FLAGS ]`, found %s; the line is left out",
                   quote);
      return;
    }
  if (!read_key (row, line, name, &key))
    return;
  if (!is_whole)
    {
      add_problem (row, line, TRUE,
                   "the line is cut short: expected ` :: SIGNATURE [ FLAGS ]` behind the debug "
                   "text, found %s; it is taken for a kernel on %s",
                   quote, name);
      n_debug = strlen (rest);
    }
  gboolean is_first = dump_row_find (row, key) == NULL;
  if (is_first && is_inactive)
    add_problem (row, line, TRUE,
                 "the active kernel of %s is missing above this one, which stands in for it", name);
  else if (!is_first && !is_inactive)
    add_problem (row, line, TRUE, "a second active kernel of %s; the first one counts", name);
  if (!is_first)
    return;
  const DumpKernel kernel = { key, is_fallthrough, g_strndup (rest, n_debug) };
  g_array_append_val (row->kernels, kernel);
}

/* --- Rows. --- */

/* What has been read of a row's head. */
typedef struct
{
  gboolean schema;
  gboolean wants_kind; /* `alias analysis kind:`, which is behind every whole schema */
} Head;

static void
read_schema (DumpRow *row, guint64 line, const char *schema, Head *head)
{
  head->schema = TRUE;
  if (strcmp (schema, "(none)") == 0)
    return;
  size_t n = strlen (row->name);
  head->wants_kind = strncmp (schema, row->name, n) == 0 && schema[n] == '('
                     && strstr (schema, ") -> ") != NULL;
  if (head->wants_kind)
    return;
  g_autofree char *quote = quoted (schema);
  add_problem (row, line, TRUE, "expected the schema of %s, or (none), found %s", row->name, quote);
}

static void
read_kind (DumpRow *row, guint64 line, const char *kind, Head *head)
{
  static const char *const kinds[] = { "CONSERVATIVE",  "CONSERVATIVE (default)", "FROM_SCHEMA",
                                       "PURE_FUNCTION", "INTERNAL_SPECIAL_CASE",  NULL };
  head->wants_kind = FALSE;
  if (g_strv_contains (kinds, kind))
    return;
  g_autofree char *quote = quoted (kind);
  add_problem (row, line, TRUE,
               "expected CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION or INTERNAL_SPECIAL_CASE, found "
               "%s",
               quote);
}

static void
read_row_line (DumpRow *row, guint64 line, const char *text, Head *head)
{
  const char *value;
  if ((value = value_of (text, "schema")) != NULL)
    read_schema (row, line, value, head);
  else if ((value = value_of (text, "alias analysis kind")) != NULL)
    read_kind (row, line, value, head);
  else if (value_of (text, "debug") == NULL)
    read_kernel (row, line, text);
}

static gboolean
is_name (const char *name)
{
  return name != NULL && name[0] != '\0' && strpbrk (name, " \t") == NULL
         && strlen (name) <= MOST_NAME;
}

/* Begins @row with its first line: its name, or a problem. */
static void
begin_row (DumpRow *row, guint64 line, const char *text)
{
  const char *name = value_of (text, "name");
  row->line = line;
  if (is_name (name))
    {
      row->name = g_strdup (name);
      return;
    }
  g_autofree char *quote = quoted (text);
  add_problem (row, line, TRUE,
               "expected `name: OPERATOR`, found %s; all up to the next row is left out", quote);
}

static void
report_rest (DumpRow *row, guint64 line)
{
  if (row->n_unreported == 0)
    return;
  const DumpProblem problem = {
    line, TRUE, g_strdup_printf ("%u more problems in the lines up to this one", row->n_unreported)
  };
  g_array_append_val (row->problems, problem);
}

static void
end_row (DumpRow *row, guint64 line, const Head *head)
{
  if (row->name != NULL && row->kernels->len == 0 && (!head->schema || head->wants_kind))
    add_problem (row, line, TRUE, "%s is cut short: expected its %s line next", row->name,
                 head->schema ? "`debug:` or `alias analysis kind:`" : "`schema:`");
  report_rest (row, line);
}

gboolean
dump_read_row (Lines *lines, DumpRow *row)
{
  Head head = { FALSE, FALSE };
  gboolean begun = FALSE;
  const char *raw;
  char *next;
  dump_row_clear (row);
  dump_row_init (row);
  while ((next = next_line (lines, row, &raw)) != NULL)
    {
      g_autofree char *text = next;
      if (text[0] == '\0' && !begun)
        continue;
      if (text[0] == '\0')
        break;
      if (begun && value_of (text, "name") != NULL)
        {
          unread_line (lines, row, raw);
          break;
        }
      if (!begun)
        begin_row (row, lines->number, text);
      else if (row->name != NULL)
        read_row_line (row, lines->number, text, &head);
      begun = TRUE;
    }
  end_row (row, lines->number, &head);
  return begun || row->problems->len > 0;
}

/* --- Fallbacks: `KEY: [fallthrough ]DEBUG [backend fallback]`. --- */

#define FALLTHROUGH "fallthrough "
#define FALLBACK_LABEL " [backend fallback]"

static void
read_fallback (DumpRow *fallbacks, guint64 line, const char *text)
{
  g_autofree char *name = NULL;
  gboolean is_inactive;
  const char *rest = take_key (text, &name, &is_inactive);
  XpKey key;
  if (rest == NULL || is_inactive || !g_str_has_suffix (rest, FALLBACK_LABEL))
    {
      g_autofree char *quote = quoted (text);
      add_problem (fallbacks, line, TRUE,
                   "expected `KEY: DEBUG [backend fallback]`, found %s; the line is left out",
                   quote);
    }
  else if (!read_key (fallbacks, line, name, &key))
    return;
  else if (!xp_key_is_runtime (key))
    {
      /* Of a former key, read_key() has said so. */
      if (strcmp (xp_key_name (key), name) == 0)
        add_problem (fallbacks, line, TRUE, "%s has no cell of its own, so no fallback either",
                     name);
    }
  else if (dump_row_find (fallbacks, key) != NULL)
    add_problem (fallbacks, line, TRUE, "a second fallback for %s; the first one counts", name);
  else
    {
      g_autofree char *kernel = g_strndup (rest, strlen (rest) - strlen (FALLBACK_LABEL));
      gboolean is_fallthrough = g_str_has_prefix (kernel, FALLTHROUGH);
      size_t n_mark = is_fallthrough ? strlen (FALLTHROUGH) : 0;
      const DumpKernel fallback = { key, is_fallthrough, g_strdup (kernel + n_mark) };
      g_array_append_val (fallbacks->kernels, fallback);
    }
}

void
dump_read_fallbacks (Lines *lines, DumpRow *fallbacks)
{
  const char *raw;
  char *next;
  while ((next = next_line (lines, fallbacks, &raw)) != NULL)
    {
      g_autofree char *text = next;
      if (text[0] != '\0')
        read_fallback (fallbacks, lines->number, text);
    }
  report_rest (fallbacks, lines->number);
}
