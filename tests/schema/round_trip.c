/* SPDX-License-Identifier: MIT
 *
 * Round trip: random schemas, some of them in odd spellings, are printed and read back equal.
 */
#include "schemas.h"

#include <math.h>

enum
{
  N_SCHEMAS = 20000,
  SEED = 20221028
};

static GRand *dice;

static unsigned
roll (unsigned n)
{
  return (unsigned) g_rand_int_range (dice, 0, (gint32) n);
}

static gboolean
one_in (unsigned n)
{
  return roll (n) == 0;
}

#define NAME(enumerator, name, printed) name,
static const char *const plain_names[] = { XP_PLAIN_TYPE_LIST (NAME) };

static void
add_alias (GString *text)
{
  static const char *const aliases[] = { "!",        "(a)",         "(a!)",     "(b|a)",
                                         "(a -> b)", "(a! -> a|b)", "(a|*)",    "(a -> *)",
                                         "(* -> a)", "( * )",       "(c|b|a!)", "(a|a -> a)" };
  if (one_in (4))
    g_string_append (text, aliases[roll (XP_LENGTH (aliases))]);
}

static void add_type (GString *text, unsigned depth);

static void
add_base (GString *text, unsigned depth)
{
  static const char *const openings[] = { "Future(", "Await(", "RRef(" };
  static const char *const keys[] = { "int", "str", "Tensor(a)", "Device", "ScalarType" };
  switch (depth == 0 ? 9 : roll (20))
    {
    case 0:
      g_string_append (text, openings[roll (3)]);
      add_type (text, depth - 1);
      g_string_append_c (text, ')');
      break;
    case 1:
      g_string_append_printf (text, "Dict(%s,", keys[roll (XP_LENGTH (keys))]);
      add_type (text, depth - 1);
      g_string_append_c (text, ')');
      add_alias (text);
      break;
    case 2:
      g_string_append (text, "Union(Tensor, ");
      add_type (text, depth - 1);
      g_string_append (text, ", my.Class)");
      add_alias (text);
      break;
    case 3:
      g_string_append_c (text, '(');
      for (unsigned i = 0, n = roll (4); i < n; i++)
        {
          g_string_append (text, i > 0 ? ", " : "");
          add_type (text, depth - 1);
        }
      g_string_append_c (text, ')');
      break;
    case 4:
      g_string_append (text, "t");
      add_alias (text);
      break;
    case 5:
      g_string_append (text, "__torch__.torch.classes.some.Thing");
      break;
    default:
      g_string_append (text, one_in (2) ? "Tensor" : plain_names[roll (XP_LENGTH (plain_names))]);
      add_alias (text);
    }
}

static void
add_type (GString *text, unsigned depth)
{
  add_base (text, depth);
  while (one_in (3))
    if (one_in (2))
      g_string_append_c (text, '?');
    else
      {
        g_string_append (text, "[]");
        add_alias (text);
      }
}

static void
add_float (GString *text)
{
  union
  {
    uint64_t bits;
    double number;
  } any = { .bits = (uint64_t) g_rand_int (dice) << 32 | g_rand_int (dice) };
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  double number = one_in (2) ? (int) roll (100) / 8. : any.number;
  if (!isfinite (number))
    number = -0.;
  g_string_append (text, g_ascii_formatd (digits, sizeof digits, "%.17g", number));
}

static void
add_int (GString *text)
{
  int64_t any = (int64_t) ((uint64_t) g_rand_int (dice) << 32 | g_rand_int (dice));
  g_string_append_printf (text, "%" G_GINT64_FORMAT, one_in (4) ? any : (int64_t) roll (5) - 2);
}

static void
add_bool (GString *text)
{
  g_string_append (text, one_in (2) ? "True" : "False");
}

static void
add_complex (GString *text)
{
  if (one_in (2))
    add_float (text);
  else
    g_string_append (text, "0.");
  g_string_append_printf (text, "%c%u.5j", one_in (2) ? '+' : '-', roll (10));
}

static void
add_string (GString *text)
{
  g_string_append_c (text, '"');
  for (unsigned i = 0, n = roll (10); i < n; i++)
    g_string_append_printf (text, "\\%03o", roll (256));
  g_string_append_c (text, '"');
}

static void
add_device (GString *text)
{
  static const char *const devices[] = { "'cpu'", "\"cuda:1\"", "'meta'", "\"hip\"" };
  g_string_append (text, devices[roll (XP_LENGTH (devices))]);
}

static void
add_dtype (GString *text)
{
  static const char *const words[] = { "float", "complex", "6", "11", "bfloat16", "int8" };
  g_string_append (text, words[roll (XP_LENGTH (words))]);
}

static void
add_layout (GString *text)
{
  static const char *const words[] = { "strided", "sparse_coo", "0", "2" };
  g_string_append (text, words[roll (XP_LENGTH (words))]);
}

static void
add_format (GString *text)
{
  static const char *const words[] = { "contiguous_format", "channels_last", "1" };
  g_string_append (text, words[roll (XP_LENGTH (words))]);
}

/* Types that take a default, and what writes one; those that a list of may have come first. */
static const struct
{
  const char *type;
  void (*add) (GString *text);
} constants[] = {
  { "int", add_int },       { "SymInt", add_int },          { "float", add_float },
  { "bool", add_bool },     { "complex", add_complex },     { "ScalarType", add_dtype },
  { "Layout", add_layout }, { "MemoryFormat", add_format }, { "DeviceIndex", add_int },
  { "str", add_string },    { "Dimname", add_string },      { "Device", add_device },
  { "Scalar", add_float },  { "Scalar", add_complex },
};

enum
{
  N_IN_LISTS = 9
};

static void
add_list_default (GString *text, unsigned which)
{
  g_string_append_c (text, '[');
  for (unsigned i = 0, n = roll (4); i < n; i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      constants[which].add (text);
    }
  g_string_append_c (text, ']');
}

/* An argument named @name with a default. */
static void
add_argument_with_default (GString *text, const char *name)
{
  unsigned which = roll (XP_LENGTH (constants)), listed = roll (N_IN_LISTS);
  switch (roll (5))
    {
    case 0:
      g_string_append_printf (text, "%s[] %s=", constants[listed].type, name);
      add_list_default (text, listed);
      break;
    case 1:
      g_string_append_printf (text, "%s[%u] %s=", constants[listed].type, 1 + roll (3), name);
      if (one_in (2))
        add_list_default (text, listed);
      else
        constants[listed].add (text);
      break;
    case 2:
      g_string_append_printf (text, "%s[2]? %s=", constants[listed].type, name);
      constants[listed].add (text);
      break;
    case 3:
      g_string_append_printf (text, "%s? %s=", constants[which].type, name);
      if (one_in (2))
        g_string_append (text, "None");
      else
        constants[which].add (text);
      break;
    default:
      g_string_append_printf (text, "%s %s=", constants[which].type, name);
      constants[which].add (text);
    }
}

static void
add_argument_type (GString *text)
{
  add_type (text, 3);
  if (!one_in (4))
    return;
  g_string_append_printf (text, "[%u]", roll (5));
  add_alias (text);
  if (one_in (2))
    g_string_append_c (text, '?');
}

static void
add_arguments (GString *text)
{
  unsigned n = roll (7), n_plain = roll (n + 1);
  gboolean is_vararg = n_plain == n && one_in (4);
  for (unsigned i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("x%u", i);
      g_string_append (text, i > 0 ? ", " : "");
      if (one_in (5))
        g_string_append (text, "*, ");
      if (i >= n_plain)
        {
          add_argument_with_default (text, name);
          continue;
        }
      add_argument_type (text);
      g_string_append_printf (text, " %s", name);
    }
  if (is_vararg)
    g_string_append (text, n > 0 ? ", ..." : "...");
}

static void
add_returns (GString *text)
{
  unsigned n = roll (4);
  g_string_append_c (text, '(');
  for (unsigned i = 0; i < n; i++)
    {
      g_string_append (text, i > 0 ? ", " : "");
      add_argument_type (text);
      if (one_in (2))
        g_string_append_printf (text, " y%u", i);
    }
  if (one_in (8))
    g_string_append (text, n > 0 ? ", ..." : "...");
  g_string_append_c (text, ')');
}

static char *
random_schema (void)
{
  GString *text = g_string_new (one_in (2) ? "aten::f" : "prim :: f");
  g_string_append (text, one_in (2) ? ".overload" : "");
  g_string_append_c (text, '(');
  add_arguments (text);
  g_string_append (text, ") -> ");
  add_returns (text);
  return g_string_free (text, FALSE);
}

START_TEST (random_schemas_read_back_equal)
{
  for (unsigned i = 0; i < N_SCHEMAS; i++)
    {
      g_autofree char *text = random_schema ();
      g_autoptr (XpSchema) schema = parsed (text);
      g_autofree char *printed = xp_schema_to_string (schema);
      g_autoptr (XpSchema) again = parsed (printed);
      g_autofree char *printed_again = xp_schema_to_string (again);
      ck_assert_str_eq (printed_again, printed);
      assert_schemas_equal (schema, again);
    }
}
END_TEST

START_TEST (random_signatures_parse_and_agree)
{
  for (unsigned i = 0; i < N_SCHEMAS; i++)
    {
      g_autofree char *text = random_schema ();
      g_autoptr (XpSchema) schema = parsed (text);
      g_autofree char *signature = xp_schema_signature (schema);
      g_autofree char *declaration = g_strconcat ("any.name", signature, NULL);
      g_autoptr (XpSchema) kernel = parsed (declaration);
      g_autofree char *again = xp_schema_signature (kernel);
      g_autofree char *difference = xp_schema_difference (schema, kernel);
      ck_assert_str_eq (again, signature);
      ck_assert_msg (difference == NULL, "%s: %s", declaration, difference);
    }
}
END_TEST

/* Whatever the bytes, there is a schema or an error, in valid UTF-8. */
START_TEST (random_bytes_do_no_harm)
{
  for (unsigned i = 0; i < N_SCHEMAS; i++)
    {
      g_autofree char *text = random_schema ();
      for (unsigned j = 0, n = 1 + roll (4); j < n; j++)
        text[roll ((unsigned) strlen (text))] = (char) (1 + roll (255));
      g_autoptr (GError) error = NULL;
      g_autoptr (XpSchema) schema = xp_schema_parse (text, &error);
      ck_assert_int_eq (schema == NULL, error != NULL);
      ck_assert (error == NULL || g_utf8_validate (error->message, -1, NULL));
    }
}
END_TEST

static void
make_dice (void)
{
  dice = g_rand_new_with_seed (SEED);
}

static void
free_dice (void)
{
  g_rand_free (dice);
}

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("round trip");
  TCase *trip = tcase_create ("round trip");
  tcase_add_checked_fixture (trip, make_dice, free_dice);
  tcase_set_timeout (trip, 60);
  tcase_add_test (trip, random_schemas_read_back_equal);
  tcase_add_test (trip, random_signatures_parse_and_agree);
  tcase_add_test (trip, random_bytes_do_no_harm);
  suite_add_tcase (suite, trip);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
