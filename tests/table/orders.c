/* SPDX-License-Identifier: MIT
 *
 * orders.c: several kernels on one key: who is active, who comes back, and the warning of an
 * override; and blocks that go as a whole. That distinct keys commute is in dispatch/python.c.
 */
#include "table/blocks.h"

static char *
all_text (void)
{
  g_autofree char *dump = xp_table_dump ("oo::foo");
  g_autofree char *table = xp_table_dump_computed ("oo::foo");
  return g_strconcat (dump, "--\n", table, NULL);
}

/* --- The same key: the newest is active, and whichever goes, the rest stay in order. --- */

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

START_TEST (releasing_from_anywhere_keeps_the_rest_in_order)
{
  g_log_set_writer_func (swallow, NULL, NULL);
  static const unsigned orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                        { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  XpLibrary *blocks[3];
  g_autoptr (XpLibrary) rows = fragment_new ("oo");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "foo(Tensor x) -> Tensor");
  g_autofree char *before = all_text ();
  for (unsigned i = 0; i < 3; i++)
    {
      blocks[i] = impl_new ("oo", "CPU");
      record_at (blocks[i], "foo", (int) i + 1);
      ck_assert_int_eq (line_called ("oo::foo", tensor), (int) i + 1);
    }
  bool there[3] = { true, true, true };
  for (unsigned step = 0; step < 3; step++)
    {
      xp_library_free (blocks[orders[_i][step]]);
      there[orders[_i][step]] = false;
      unsigned expected = 3;
      while (expected > 0 && !there[expected - 1])
        expected--;
      if (expected > 0)
        ck_assert_int_eq (line_called ("oo::foo", tensor), (int) expected);
      g_autoptr (XpRowInfo) info = xp_table_row ("oo::foo");
      ck_assert_uint_eq (info->n_registrations, 2 - step);
      for (unsigned i = 0; i < info->n_registrations; i++)
        {
          ck_assert (info->registrations[i].is_active == (i == 0));
          ck_assert (i == 0 || info->registrations[i].line < info->registrations[i - 1].line);
        }
      assert_table_is_sound ();
    }
  assert_text (all_text (), before);
}
END_TEST

/* One block with many things in it goes as a whole. */
START_TEST (a_block_goes_as_a_whole)
{
  g_autoptr (XpLibrary) rows = fragment_new ("oo");
  define (rows, "foo(Tensor x) -> Tensor");
  g_autofree char *before = all_text ();
  g_auto (GStrv) names = xp_table_names ();
  XpLibrary *block = fragment_new ("oo");
  for (unsigned i = 0; i < 50; i++)
    {
      g_autofree char *name = g_strdup_printf ("bar.o%u", i);
      g_autofree char *schema = g_strdup_printf ("%s(Tensor x, int[%u] y) -> ()", name, i + 1);
      define (block, schema);
      record_at (block, name, (int) i);
    }
  record_at (block, "foo", 1);
  g_auto (GStrv) more = xp_table_names ();
  ck_assert_uint_eq (g_strv_length (more), g_strv_length (names) + 50);
  g_auto (GStrv) overloads = xp_table_overloads ("oo::bar");
  ck_assert_uint_eq (g_strv_length (overloads), 50);
  ck_assert_str_eq (overloads[0], "oo::bar.o0");
  ck_assert_str_eq (overloads[1], "oo::bar.o1");
  ck_assert_str_eq (overloads[2], "oo::bar.o10");
  uint64_t generation = xp_table_generation ();
  xp_library_free (block);
  ck_assert_uint_eq (xp_table_generation (), generation + 1);
  g_auto (GStrv) after = xp_table_names ();
  ck_assert (g_strv_equal ((const char *const *) after, (const char *const *) names));
  assert_text (all_text (), before);
}
END_TEST

/* --- The warning of an override. --- */

typedef struct
{
  unsigned n;
  char *fields[5];
} Warning;

static const char *const field_names[] = { "OPERATOR", "KEY", "PREVIOUS", "NEW", "MESSAGE" };

static GLogWriterOutput
keep_warning (GLogLevelFlags level, const GLogField *fields, gsize n_fields, gpointer data)
{
  Warning *warning = data;
  ck_assert (level & G_LOG_LEVEL_WARNING);
  warning->n++;
  for (gsize i = 0; i < n_fields; i++)
    for (unsigned j = 0; j < G_N_ELEMENTS (field_names); j++)
      if (strcmp (fields[i].key, field_names[j]) == 0)
        {
          g_free (warning->fields[j]);
          warning->fields[j] = g_strdup (fields[i].value);
        }
  return G_LOG_WRITER_HANDLED;
}

START_TEST (an_override_names_the_kernel_that_it_replaces)
{
  static Warning warning;
  g_log_set_writer_func (keep_warning, &warning, NULL);
  g_autoptr (XpLibrary) rows = fragment_new ("oo");
  g_autoptr (XpLibrary) cpu = impl_new ("oo", "CPU");
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (cpu, "foo", 1);
  ck_assert_uint_eq (warning.n, 0);
  record_at (cpu, "foo", 2);
  ck_assert_uint_eq (warning.n, 1);
  static const char *const expected[] = {
    "oo::foo(Tensor x) -> Tensor",
    "CPU",
    "registered at kernel.c:1",
    "registered at kernel.c:2",
    "Overriding a previously registered kernel for the same operator and the same dispatch key\n"
    "  operator: oo::foo(Tensor x) -> Tensor\n"
    "    registered at row.c:1\n"
    "  dispatch key: CPU\n"
    "  previous kernel: registered at kernel.c:1\n"
    "       new kernel: registered at kernel.c:2",
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (expected); i++)
    ck_assert_str_eq (warning.fields[i], expected[i]);

  /* Of this cell and this owner it has been said. */
  record_at (cpu, "foo", 3);
  ck_assert_uint_eq (warning.n, 1);

  /* Another key, another row, and a row without a schema. */
  g_autoptr (XpLibrary) other = impl_new ("oo", "CUDA");
  record_at (other, "foo", 4);
  record_at (cpu, "bar", 5);
  ck_assert_uint_eq (warning.n, 1);
  record_at (cpu, "bar", 6);
  ck_assert_uint_eq (warning.n, 2);
  ck_assert_str_eq (warning.fields[0], "oo::bar");
  ck_assert_ptr_nonnull (strstr (warning.fields[4], "    no debug info\n"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("orders");
  TCase *tests = tcase_create ("orders");
  tcase_add_loop_test (tests, releasing_from_anywhere_keeps_the_rest_in_order, 0, 6);
  tcase_add_test (tests, a_block_goes_as_a_whole);
  tcase_add_test (tests, an_override_names_the_kernel_that_it_replaces);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
