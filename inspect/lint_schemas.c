/* SPDX-License-Identifier: MIT
 *
 * lint_schemas.c: looking for what in a file of schemas will hurt its user: the rules that
 * PyTorch's code generator demands beyond the grammar (section 5.6 of the reference), and tags.
 */
#include "lint.h"

#include <crosspoint/schema_file.h>
#include <string.h>

/* What the head of schemas/aten.ops explains. */
static const char *const known_tags[] = {
  "core",   "pointwise", "reduction", "view",           "inplace",       "out",
  "writes", "factory",   "random",    "data_dependent", "mixed_devices", "not_differentiable",
  NULL
};

/* A line, and what its rules ask of it again and again. */
typedef struct
{
  const XpSchemaFile *file;
  const XpSchemaLine *line;
  const XpSchema *schema;
  GStrv tags;
  char *base; /* the name without namespace, overload and the `_` of an in-place form */
  gboolean is_named_inplace;
  unsigned n_out; /* written keyword-only arguments at the end */
  unsigned n_written;
  GPtrArray *findings;
} Line;

static void
find_whole (const Line *line, LintKind kind, const char *detail)
{
  g_autofree char *place = g_strdup_printf ("%s:%d %s", line->file->path, line->line->line,
                                            line->line->name);
  lint_findings_add (line->findings, kind, place, detail);
}

G_GNUC_PRINTF (3, 4)
static void
find (const Line *line, LintKind kind, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *detail = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  find_whole (line, kind, detail);
}

/* --- Parts of a schema. --- */

/* The sets of an argument, or of a list's elements; NULL where there are none. */
static const XpAlias *
sets_of (const XpArgument *argument)
{
  const XpAlias *alias = argument->alias;
  while (alias != NULL && alias->before == NULL)
    alias = alias->contained;
  return alias;
}

static gboolean
is_written (const XpArgument *argument)
{
  const XpAlias *alias = sets_of (argument);
  return alias != NULL && alias->is_write;
}

static gboolean
sets_equal (const XpAlias *a, const XpAlias *b)
{
  return a != NULL && b != NULL && a->is_write == b->is_write
         && g_strv_equal (a->before, b->before);
}

static gboolean
holds (const XpType *type, XpTypeKind kind)
{
  gboolean found = type->kind == kind;
  for (uint32_t i = 0; i < type->n_elements && !found; i++)
    found = holds (type->elements[i], kind);
  return found;
}

/* A variable may stand for a tensor. */
static gboolean
may_hold_tensors (const XpType *type)
{
  return holds (type, XP_TYPE_TENSOR) || holds (type, XP_TYPE_VARIABLE);
}

/* The first part of @type that is none of what kernels take, or NULL. */
static const XpType *
unlisted_part (const XpType *type)
{
  switch (type->kind)
    {
    case XP_TYPE_OPTIONAL:
    case XP_TYPE_LIST:
      return unlisted_part (type->elements[0]);
    case XP_TYPE_TENSOR:
    case XP_TYPE_INT:
    case XP_TYPE_SYM_INT:
    case XP_TYPE_FLOAT:
    case XP_TYPE_BOOL:
    case XP_TYPE_SYM_BOOL:
    case XP_TYPE_SCALAR:
    case XP_TYPE_STR:
    case XP_TYPE_SCALAR_TYPE:
    case XP_TYPE_LAYOUT:
    case XP_TYPE_MEMORY_FORMAT:
    case XP_TYPE_DEVICE:
    case XP_TYPE_DEVICE_INDEX:
    case XP_TYPE_GENERATOR:
    case XP_TYPE_DIMNAME:
    case XP_TYPE_STORAGE:
    case XP_TYPE_STREAM:
    case XP_TYPE_QSCHEME:
    case XP_TYPE_CONST_QUANTIZER:
      return NULL;
    default:
      return type;
    }
}

static gboolean
has_tag (const Line *line, const char *tag)
{
  return g_strv_contains ((const char *const *) line->tags, tag);
}

static gboolean
is_functional (const Line *line)
{
  return !line->is_named_inplace && line->n_out == 0;
}

/* --- Each argument and return. --- */

static void
check_types (const Line *line, const XpArgument *arguments, uint32_t n, const char *what)
{
  for (uint32_t i = 0; i < n; i++)
    {
      const XpType *part = unlisted_part (arguments[i].type);
      const XpAlias *sets = sets_of (&arguments[i]);
      g_autofree char *type = xp_type_to_string (arguments[i].type);
      g_autofree char *part_name = part != NULL ? xp_type_to_string (part) : NULL;
      g_autofree char *name = arguments[i].name[0] != '\0'
                                  ? g_strdup_printf ("%s %s", what, arguments[i].name)
                                  : g_strdup_printf ("%s %u", what, i + 1);
      if (part != NULL)
        find (line, LINT_UNLISTED_TYPE, "%s has the type %s", name, part_name);
      if (sets != NULL && !may_hold_tensors (arguments[i].type))
        find (line, LINT_SET_WITHOUT_TENSOR, "%s has the type %s", name, type);
      for (uint32_t j = 0; j < i; j++)
        if (arguments[i].name[0] != '\0' && strcmp (arguments[i].name, arguments[j].name) == 0)
          {
            find (line, LINT_DECLARED_TWICE, "%s", name);
            break;
          }
    }
}

/* --- What is written. --- */

static gboolean
is_returned (const XpSchema *schema, const XpArgument *argument)
{
  for (uint32_t i = 0; i < schema->n_returns; i++)
    if (sets_equal (sets_of (argument), sets_of (&schema->returns[i])))
      return TRUE;
  return FALSE;
}

/* Whether a list is written: such an operator returns nothing, as PyTorch has it. */
static gboolean
writes_list (const XpSchema *schema)
{
  for (uint32_t i = 0; i < schema->n_arguments; i++)
    if (is_written (&schema->arguments[i]) && holds (schema->arguments[i].type, XP_TYPE_LIST))
      return TRUE;
  return FALSE;
}

static void
check_return_of (const Line *line, const XpArgument *argument)
{
  if (!is_returned (line->schema, argument)
      && !(line->schema->n_returns == 0 && writes_list (line->schema)))
    find (line, LINT_NOT_RETURNED, "%s is written", argument->name);
}

static void
check_returns (const Line *line)
{
  const XpSchema *schema = line->schema;
  for (uint32_t i = 0; i < schema->n_returns; i++)
    {
      const XpAlias *sets = sets_of (&schema->returns[i]);
      gboolean is_known = sets == NULL || !sets->is_write;
      for (uint32_t j = 0; j < schema->n_arguments && !is_known; j++)
        is_known = sets_equal (sets, sets_of (&schema->arguments[j]));
      if (!is_known)
        find (line, LINT_STRAY_SET, "return %u has the set %s!", i + 1, sets->before[0]);
    }
}

static void
check_inplace (const Line *line)
{
  const XpArgument *self = line->schema->n_arguments > 0 ? &line->schema->arguments[0] : NULL;
  if (!line->is_named_inplace)
    return;
  if (self == NULL || !is_written (self))
    find (line, LINT_INPLACE_WRITES_NOT, "%s",
          self == NULL ? "it has no argument" : "its first argument has no (a!)");
  else
    check_return_of (line, self);
}

/* `out`, `Tensor_out` and the like promise arguments that are written. */
static gboolean
is_named_out (const XpSchema *schema)
{
  const char *overload = schema->overload;
  return strcmp (overload, "out") == 0 || g_str_has_suffix (overload, "_out");
}

static void
check_out (const Line *line)
{
  const XpSchema *schema = line->schema;
  uint32_t first = schema->n_arguments - line->n_out;
  for (uint32_t i = 0; i < first; i++)
    if (is_written (&schema->arguments[i]) && schema->arguments[i].is_keyword_only)
      find (line, LINT_OUT_NOT_LAST, "%s stands before %s", schema->arguments[i].name,
            schema->arguments[i + 1 < schema->n_arguments ? i + 1 : i].name);
  if (is_named_out (schema) && line->n_out == 0)
    find (line, LINT_OUT_WRITES_NOT, "overload %s", schema->overload);
  for (uint32_t i = first; i < schema->n_arguments; i++)
    check_return_of (line, &schema->arguments[i]);
}

/* --- Tags. --- */

static void
check_known_tags (const Line *line)
{
  for (char **tag = line->tags; *tag != NULL; tag++)
    if (!g_strv_contains (known_tags, *tag))
      find (line, LINT_UNKNOWN_TAG, "@%s", *tag);
}

static void
check_tags (const Line *line)
{
  const XpSchema *schema = line->schema;
  gboolean writes_self = schema->n_arguments > 0 && is_written (&schema->arguments[0]);
  gboolean is_view = FALSE;
  for (uint32_t i = 0; i < schema->n_arguments; i++)
    is_view = is_view
              || (sets_of (&schema->arguments[i]) != NULL && !is_written (&schema->arguments[i]));
  unsigned n = has_tag (line, "inplace") + has_tag (line, "out") + has_tag (line, "writes");
  check_known_tags (line);
  if (has_tag (line, "inplace") && !writes_self)
    find (line, LINT_WRONG_TAG, "@inplace, but its first argument is not written");
  else if (has_tag (line, "out") && line->n_out == 0)
    find (line, LINT_WRONG_TAG, "@out, but no keyword-only argument at its end is written");
  else if (has_tag (line, "writes") && line->n_written == 0)
    find (line, LINT_WRONG_TAG, "@writes, but no argument is written");
  else if (n > 1)
    find (line, LINT_WRONG_TAG, "more than one of @inplace, @out and @writes");
  if (has_tag (line, "view") && !is_view)
    find (line, LINT_WRONG_TAG, "@view, but no argument has a set that is only read");
  if (line->n_written > 0 && n == 0)
    find (line, LINT_NO_WRITING_TAG, "expected %s",
          line->n_out > 0                         ? "@out"
          : line->is_named_inplace && writes_self ? "@inplace"
                                                  : "@writes");
}

/* --- Forms of one operator. --- */

/* What a form with an output needs no more: the output has it. */
static gboolean
is_of_factory (const XpArgument *argument)
{
  static const char *const names[] = { "dtype", "layout", "device", "pin_memory", NULL };
  return argument->is_keyword_only && g_strv_contains (names, argument->name);
}

static gboolean
arguments_equal (const XpArgument *a, const XpArgument *b)
{
  g_autofree char *x = xp_type_to_string (a->type), *y = xp_type_to_string (b->type);
  return strcmp (a->name, b->name) == 0 && strcmp (x, y) == 0;
}

/* Whether @form takes what @functional takes, but for what is of the output. */
static gboolean
takes_the_same (const Line *form, const Line *functional)
{
  const XpSchema *a = form->schema, *b = functional->schema;
  uint32_t n = a->n_arguments - form->n_out, i = 0;
  for (uint32_t j = 0; j < b->n_arguments; j++)
    if (i < n && arguments_equal (&a->arguments[i], &b->arguments[j]))
      i++;
    else if (form->n_out == 0 || !is_of_factory (&b->arguments[j]))
      return FALSE;
  return i == n;
}

/* @by_base: base -> the lines of functional forms. */
static void
check_form (const Line *line, GHashTable *by_base)
{
  const GPtrArray *functionals = g_hash_table_lookup (by_base, line->base);
  if (is_functional (line) || functionals == NULL)
    return;
  for (unsigned i = 0; i < functionals->len; i++)
    if (takes_the_same (line, functionals->pdata[i]))
      return;
  const Line *first = functionals->pdata[0];
  find (line, LINT_FORM_DIFFERS, "not %s in line %d%s", first->line->name, first->line->line,
        functionals->len > 1 ? ", nor another overload" : "");
}

/* --- Lines. --- */

static void
line_free (gpointer data)
{
  Line *line = data;
  g_strfreev (line->tags);
  g_free (line->base);
  g_free (line);
}

static Line *
line_new (const XpSchemaFile *file, const XpSchemaLine *text, GPtrArray *findings)
{
  Line *line = g_new0 (Line, 1);
  const XpSchema *schema = text->schema;
  size_t n = strlen (schema->name);
  *line = (Line){ .file = file, .line = text, .schema = schema, .findings = findings };
  line->tags = g_strsplit (text->tags != NULL ? text->tags : "", " ", -1);
  /* `__and__` and its like are methods of Python, of which the `i` says that they are in place. */
  line->is_named_inplace = n > 1 && schema->name[n - 1] == '_' && schema->name[n - 2] != '_';
  line->base = g_strndup (schema->name, n - (line->is_named_inplace ? 1 : 0));
  gboolean is_last = TRUE;
  for (uint32_t i = schema->n_arguments; i-- > 0;)
    {
      gboolean written = is_written (&schema->arguments[i]);
      is_last = is_last && written && schema->arguments[i].is_keyword_only;
      line->n_out += is_last;
      line->n_written += written;
    }
  return line;
}

static void
check_line (const Line *line, GHashTable *by_base)
{
  check_types (line, line->schema->arguments, line->schema->n_arguments, "argument");
  check_types (line, line->schema->returns, line->schema->n_returns, "return");
  check_inplace (line);
  check_out (line);
  check_returns (line);
  check_tags (line);
  check_form (line, by_base);
  if (line->line->description == NULL)
    find_whole (line, LINT_NO_DESCRIPTION, NULL);
}

/* File, line and headline, in one line: what follows repeats the schema. */
static void
add_mistake (GPtrArray *findings, const char *message)
{
  g_auto (GStrv) lines = g_strsplit (message, "\n", 3);
  const char *first = g_strstrip (lines[0]);
  g_autofree char *text = g_str_has_suffix (first, ":") && lines[1] != NULL
                                  && !g_str_has_suffix (first, " here:")
                              ? g_strdup_printf ("%s %s", first, lines[1])
                              : g_strdup (first);
  if (g_str_has_suffix (text, " here:"))
    text[strlen (text) - strlen (" here:")] = '\0';
  else if (g_str_has_suffix (text, ":"))
    text[strlen (text) - 1] = '\0';
  lint_findings_add (findings, LINT_MISTAKE, text, NULL);
}

GPtrArray *
lint_schemas (const char *path, GError **error)
{
  g_autoptr (GPtrArray) mistakes = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free);
  g_autoptr (XpSchemaFile) file = xp_schema_file_read (path, NULL, mistakes, error);
  if (file == NULL)
    return NULL;
  GPtrArray *findings = lint_findings_new ();
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (line_free);
  g_autoptr (GHashTable) by_base = g_hash_table_new_full (g_str_hash, g_str_equal, NULL,
                                                          (GDestroyNotify) g_ptr_array_unref);
  for (unsigned i = 0; i < mistakes->len; i++)
    add_mistake (findings, ((const GError *) mistakes->pdata[i])->message);
  for (size_t i = 0; i < file->n_lines; i++)
    {
      Line *line = line_new (file, file->lines[i], findings);
      g_ptr_array_add (lines, line);
      if (!is_functional (line))
        continue;
      GPtrArray *others = g_hash_table_lookup (by_base, line->base);
      if (others == NULL)
        g_hash_table_insert (by_base, line->base, others = g_ptr_array_new ());
      g_ptr_array_add (others, line);
    }
  for (unsigned i = 0; i < lines->len; i++)
    check_line (lines->pdata[i], by_base);
  return findings;
}
