/* SPDX-License-Identifier: MIT
 *
 * takes.c: the text in which a kernel says what it takes, and the arguments it means.
 */
#include "table/takes.h"

#include <string.h>

#define BLANKS " \t\n"

static void
clause_clear (void *data)
{
  g_free (((TakesClause *) data)->argument);
}

void
xp_takes_free (Takes *takes)
{
  if (takes == NULL)
    return;
  for (TakesOfSchema *of = takes->of_schema, *older; of != NULL; of = older)
    {
      older = of->older;
      g_free (of);
    }
  g_array_unref (takes->clauses);
  g_free (takes->text);
  g_free (takes);
}

static gboolean
set_wrong (const char *text, GError **error, const char *expected, const char *word, size_t n)
{
  xp_error_set (error, XP_ERROR_INVALID_REGISTRATION, NULL,
                "what the kernel takes, \"%s\": expected %s, found '%.*s'", text, expected, (int) n,
                word);
  return FALSE;
}

/* One word of a clause that says what is taken. */
static gboolean
take_word (Takes *takes, ArgumentTakes *of, bool is_named, const char *word, size_t n,
           GError **error)
{
  XpDType dtype;
  g_autofree char *copy = g_strndup (word, n);
  if (xp_dtype_parse (copy, &dtype))
    of->dtypes |= 1u << dtype;
  else if (strcmp (copy, "contiguous") == 0)
    of->contiguous = true;
  else if (strcmp (copy, "no_overlap") != 0 && strcmp (copy, "refuse") != 0)
    return set_wrong (takes->text, error,
                      "a dtype, such as float32, or contiguous, no_overlap or refuse", word, n);
  else if (is_named)
    return set_wrong (takes->text, error,
                      "a dtype or contiguous after the name of an argument, for the rest is said "
                      "of all",
                      word, n);
  else if (copy[0] == 'n')
    takes->no_overlap = true;
  else
    takes->refuses = true;
  return TRUE;
}

static bool
has_clause (const Takes *takes, const char *argument)
{
  for (unsigned i = 0; i < takes->clauses->len; i++)
    if (strcmp (g_array_index (takes->clauses, TakesClause, i).argument, argument) == 0)
      return true;
  return false;
}

/* `self other: float32 contiguous`, or without names. */
static gboolean
take_clause (Takes *takes, const char *text, size_t length, GError **error)
{
  const char *end = text + length;
  const char *colon = memchr (text, ':', length);
  const char *words = colon != NULL ? colon + 1 : text;
  ArgumentTakes of = { 0 };
  unsigned n_words = 0, n_names = 0;
  for (const char *word = words; (word += strspn (word, BLANKS)) < end; n_words++)
    {
      size_t n = MIN (strcspn (word, BLANKS ":;"), (size_t) (end - word));
      if (n == 0)
        return set_wrong (takes->text, error, "a word", word, 1);
      if (!take_word (takes, &of, colon != NULL, word, n, error))
        return FALSE;
      word += n;
    }
  if (n_words == 0)
    return set_wrong (takes->text, error, "a dtype or contiguous in every clause", text, length);
  for (const char *name = text; colon != NULL && (name += strspn (name, BLANKS)) < colon; n_names++)
    {
      size_t n = MIN (strcspn (name, BLANKS), (size_t) (colon - name));
      TakesClause clause = { g_strndup (name, n), of };
      bool is_second = has_clause (takes, clause.argument);
      g_array_append_val (takes->clauses, clause);
      if (is_second)
        return set_wrong (takes->text, error, "one clause for each argument", name, n);
      name += n;
    }
  if (colon != NULL && n_names == 0)
    return set_wrong (takes->text, error, "the name of an argument before ':'", text, length);
  if (colon == NULL)
    {
      takes->of_others.dtypes |= of.dtypes;
      takes->of_others.contiguous |= of.contiguous;
    }
  return TRUE;
}

Takes *
xp_takes_parse (const char *text, GError **error)
{
  Takes *takes = g_new0 (Takes, 1);
  takes->text = g_strdup (text);
  takes->clauses = g_array_new (FALSE, FALSE, sizeof (TakesClause));
  g_array_set_clear_func (takes->clauses, clause_clear);
  for (const char *clause = text;; clause++)
    {
      size_t n = strcspn (clause, ";");
      if (!take_clause (takes, clause, n, error))
        {
          xp_takes_free (takes);
          return NULL;
        }
      clause += n;
      if (*clause == '\0')
        return takes;
    }
}

static bool
has_tensors (const XpType *type)
{
  return type->kind == XP_TYPE_TENSOR
         || ((type->kind == XP_TYPE_LIST || type->kind == XP_TYPE_OPTIONAL)
             && has_tensors (type->elements[0]));
}

static gboolean
set_no_argument (const Takes *takes, const XpSchema *schema, const char *argument, GError **error)
{
  g_autofree char *text = xp_schema_to_string (schema);
  xp_error_set (error, XP_ERROR_INVALID_REGISTRATION, NULL,
                "it takes \"%s\", but %s is no tensor argument of %s", takes->text, argument, text);
  return FALSE;
}

gboolean
xp_takes_resolve (Takes *takes, const XpSchema *schema, GError **error)
{
  unsigned n = schema->n_arguments;
  g_autofree TakesOfSchema *of = g_malloc0 (sizeof *of + n * sizeof *of->arguments);
  of->n_arguments = n;
  for (unsigned i = 0; i < n; i++)
    of->arguments[i] = takes->of_others;
  for (unsigned c = 0; c < takes->clauses->len; c++)
    {
      const TakesClause *clause = &g_array_index (takes->clauses, TakesClause, c);
      bool found = false;
      for (unsigned i = 0; i < n && !found; i++)
        {
          const XpArgument *argument = &schema->arguments[i];
          found = strcmp (clause->argument, argument->name) == 0 && has_tensors (argument->type);
          if (found)
            of->arguments[i] = clause->takes;
        }
      if (!found)
        return set_no_argument (takes, schema, clause->argument, error);
    }
  of->older = takes->of_schema;
  if (of->older == NULL || of->older->n_arguments != n
      || memcmp (of->older->arguments, of->arguments, n * sizeof *of->arguments) != 0)
    __atomic_store_n (&takes->of_schema, g_steal_pointer (&of), __ATOMIC_RELEASE);
  return TRUE;
}

char *
xp_takes_dtypes_text (uint32_t dtypes)
{
  GString *text = g_string_new (NULL);
  for (; dtypes != 0; dtypes &= dtypes - 1)
    g_string_append_printf (text, "%s%s",
                            text->len == 0                 ? ""
                            : (dtypes & (dtypes - 1)) != 0 ? ", "
                                                           : " or ",
                            xp_dtype_name ((XpDType) __builtin_ctz (dtypes)));
  return g_string_free (text, FALSE);
}
