/* SPDX-License-Identifier: MIT
 *
 * schemas.h: what the suites about schemas share.
 */
#pragma once

#include "suite.h"

#include <string.h>

/* The schema of @text, which must parse. */
static inline XpSchema *
parsed (const char *text)
{
  GError *error = NULL;
  XpSchema *schema = xp_schema_parse (text, &error);
  ck_assert_msg (schema != NULL, "'%s' does not parse: %s", text, error ? error->message : "");
  assert_no_error (error);
  return schema;
}

/* For suites that look into schemas: one at a time, freed by free_schema(), their fixture's end. */
static XpSchema *current_schema;

G_GNUC_UNUSED static void
free_schema (void)
{
  g_clear_pointer (&current_schema, xp_schema_unref);
}

static inline const XpSchema *
schema_of (const char *text)
{
  free_schema ();
  return current_schema = parsed (text);
}

/* The only argument of `t::f(@text) -> ()`. */
static inline const XpArgument *
argument_of (const char *text)
{
  g_autofree char *declaration = g_strdup_printf ("t::f(%s) -> ()", text);
  const XpSchema *schema = schema_of (declaration);
  ck_assert_uint_eq (schema->n_arguments, 1);
  return &schema->arguments[0];
}

static inline const XpType *
type_of (const char *text)
{
  g_autofree char *argument = g_strdup_printf ("%s x", text);
  return argument_of (argument)->type;
}

/* @text must parse and print as @expected, which must print as itself. */
static inline void
assert_prints (const char *text, const char *expected)
{
  g_autoptr (XpSchema) schema = parsed (text);
  g_autofree char *printed = xp_schema_to_string (schema);
  ck_assert_str_eq (printed, expected);
  g_autoptr (XpSchema) again = parsed (printed);
  g_autofree char *printed_again = xp_schema_to_string (again);
  ck_assert_str_eq (printed_again, expected);
}

static inline void
assert_prints_itself (const char *text)
{
  assert_prints (text, text);
}

/* @text must be refused with exactly @message. */
static inline void
assert_refused (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;
  XpSchema *schema = xp_schema_parse (text, &error);
  ck_assert_msg (schema == NULL, "'%s' parses", text);
  ck_assert_msg (error != NULL, "no error for '%s'", text);
  ck_assert_msg (g_error_matches (error, XP_ERROR, XP_ERROR_SCHEMA_SYNTAX), "'%s': %s", text,
                 error->message);
  ck_assert_str_eq (error->message, message);
}

static inline void
assert_alias_equal (const XpAlias *a, const XpAlias *b)
{
  ck_assert_int_eq (a == NULL, b == NULL);
  if (a == NULL)
    return;
  ck_assert_int_eq (a->is_write, b->is_write);
  ck_assert_int_eq (a->before == NULL, b->before == NULL);
  ck_assert_int_eq (a->after == NULL, b->after == NULL);
  ck_assert (a->before == NULL || g_strv_equal (a->before, b->before));
  ck_assert (a->after == NULL || g_strv_equal (a->after, b->after));
  assert_alias_equal (a->contained, b->contained);
}

static inline void
assert_arguments_equal (const XpArgument *a, const XpArgument *b, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    {
      g_autofree char *type_a = xp_type_to_string (a[i].type);
      g_autofree char *type_b = xp_type_to_string (b[i].type);
      ck_assert_str_eq (a[i].name, b[i].name);
      ck_assert_str_eq (type_a, type_b);
      assert_alias_equal (a[i].alias, b[i].alias);
      ck_assert_int_eq (a[i].has_default, b[i].has_default);
      ck_assert_int_eq (a[i].is_keyword_only, b[i].is_keyword_only);
      ck_assert_msg (xp_value_equal (a[i].default_value, b[i].default_value),
                     "the defaults of %s differ", a[i].name);
    }
}

/* Both must be equal in all that printing keeps: types are compared as they print. */
static inline void
assert_schemas_equal (const XpSchema *a, const XpSchema *b)
{
  ck_assert_str_eq (a->name, b->name);
  ck_assert_str_eq (a->overload, b->overload);
  ck_assert_uint_eq (a->n_arguments, b->n_arguments);
  ck_assert_uint_eq (a->n_returns, b->n_returns);
  ck_assert_int_eq (a->is_vararg, b->is_vararg);
  ck_assert_int_eq (a->is_varret, b->is_varret);
  assert_arguments_equal (a->arguments, b->arguments, a->n_arguments);
  assert_arguments_equal (a->returns, b->returns, a->n_returns);
}
