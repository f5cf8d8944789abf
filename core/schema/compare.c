/* SPDX-License-Identifier: MIT
 *
 * compare.c: signatures: what a typed caller and a kernel must agree on, and where two schemas
 * differ in it (reference 4.1 and 4.6).
 */
#include "schema/print.h"
#include "schema/type.h"

#include <string.h>

/* Room for the types of most signatures. */
typedef union
{
  char bytes[1024];
  uint64_t aligned;
} Room;

static void
append_signature_type (GString *text, const XpType *type)
{
  Room room;
  XpArena arena;
  xp_arena_init (&arena, &room, sizeof room);
  xp_append_type (text, xp_type_new_signature (&arena, type), NULL, XP_FORM_UNSIZED);
  xp_arena_free (&arena);
}

/* Whether both are written in the same way, which most are. */
static gboolean
types_identical (const XpType *a, const XpType *b)
{
  if (a->kind != b->kind || a->n_elements != b->n_elements)
    return FALSE;
  if (a->name != NULL)
    return strcmp (a->name, b->name) == 0;
  for (uint32_t i = 0; i < a->n_elements; i++)
    if (!types_identical (a->elements[i], b->elements[i]))
      return FALSE;
  return TRUE;
}

static gboolean
types_equal (const XpType *a, const XpType *b)
{
  if (types_identical (a, b))
    return TRUE;
  g_autoptr (GString) text_a = g_string_new (NULL);
  g_autoptr (GString) text_b = g_string_new (NULL);
  append_signature_type (text_a, a);
  append_signature_type (text_b, b);
  return g_string_equal (text_a, text_b);
}

static char *
describe_mismatch (const char *what, unsigned number, const XpType *a, const XpType *b)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_append_printf (text, "Type mismatch in %s %u: ", what, number);
  xp_append_type (text, a, NULL, XP_FORM_UNSIZED);
  g_string_append (text, " vs ");
  xp_append_type (text, b, NULL, XP_FORM_UNSIZED);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
difference_of_types (const char *what, const XpArgument *a, const XpArgument *b, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (!types_equal (a[i].type, b[i].type))
      return describe_mismatch (what, i + 1, a[i].type, b[i].type);
  return NULL;
}

char *
xp_schema_difference (const XpSchema *a, const XpSchema *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, NULL);
  if (a->n_arguments != b->n_arguments)
    return g_strdup_printf ("The number of arguments is different. %u vs %u.", a->n_arguments,
                            b->n_arguments);
  if (a->n_returns != b->n_returns)
    return g_strdup_printf ("The number of returns is different. %u vs %u", a->n_returns,
                            b->n_returns);
  char *difference = difference_of_types ("argument", a->arguments, b->arguments, a->n_arguments);
  if (difference != NULL)
    return difference;
  return difference_of_types ("return", a->returns, b->returns, a->n_returns);
}

/* `Tensor _0, int _1, ...` */
static void
append_list (GString *text, const XpArgument *items, uint32_t n, gboolean is_variable)
{
  for (uint32_t i = 0; i < n; i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      append_signature_type (text, items[i].type);
      g_string_append_printf (text, " _%u", i);
    }
  if (is_variable)
    g_string_append (text, n > 0 ? ", ..." : "...");
}

char *
xp_schema_signature (const XpSchema *schema)
{
  g_return_val_if_fail (schema != NULL, NULL);
  GString *text = g_string_new ("(");
  append_list (text, schema->arguments, schema->n_arguments, schema->is_vararg);
  g_string_append (text, ") -> ");
  gsize begin = text->len;
  append_list (text, schema->returns, schema->n_returns, schema->is_varret);
  gboolean is_single = schema->n_returns + (schema->is_varret ? 1 : 0) == 1;
  if (!is_single || text->str[begin] == '(')
    {
      g_string_insert_c (text, (gssize) begin, '(');
      g_string_append_c (text, ')');
    }
  return g_string_free (text, FALSE);
}
