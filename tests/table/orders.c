/* SPDX-License-Identifier: MIT
 *
 * orders.c: the table does not depend on the order of what was registered and released: the
 * harness of PyTorch's test_dispatch.py, with its cases (dispatch-cases.md, A), those whose stored
 * table upstream gets wrong (reference 3.2), and random ones.
 */
#include "table/blocks.h"

#include <stdlib.h>

enum
{
  MOST_STEPS = 6
};

/* A step: a block of its own with one kernel at a key, or, where @key is NULL, one definition. */
typedef struct
{
  const char *key;
  bool is_fallthrough;
} Step;

#define DEF                                                                                        \
  {                                                                                                \
    NULL, false                                                                                    \
  }
#define IMPLICIT                                                                                   \
  {                                                                                                \
    "CompositeImplicitAutograd", false                                                             \
  }
#define EXPLICIT                                                                                   \
  {                                                                                                \
    "CompositeExplicitAutograd", false                                                             \
  }

static const struct
{
  const char *name;
  unsigned n;
  Step steps[MOST_STEPS];
} cases[] = {
  { "def", 5, { DEF, IMPLICIT, { "CPU" }, { "Autograd" }, { "AutogradCPU" } } },
  { "def_only", 1, { DEF } },
  { "impl_only", 4, { IMPLICIT, { "CPU" }, { "Autograd" }, { "AutogradCPU" } } },
  { "computed_table", 5, { DEF, { "CPU" }, { "XLA" }, { "Autograd" }, { "AutogradCPU" } } },
  { "cpu_math_autogradcpu_fallthrough", 4, { DEF, { "CPU" }, IMPLICIT, { "AutogradCPU", true } } },
  { "math", 2, { DEF, IMPLICIT } },
  { "cpu_math", 3, { DEF, { "CPU" }, IMPLICIT } },
  { "autograd", 2, { DEF, { "Autograd" } } },
  { "cpu_autograd_math", 4, { DEF, { "CPU" }, { "Autograd" }, IMPLICIT } },
  { "ambiguous_autogradother", 3, { DEF, IMPLICIT, { "FPGA" } } },
  { "cpu_defaultbackend", 3, { DEF, { "CPU" }, EXPLICIT } },
  { "cpu_autograd_defaultbackend", 5, { DEF, { "CPU" }, { "Autograd" }, EXPLICIT, { "FPGA" } } },
  { "cpu_autograd_math_defaultbackend", 5, { DEF, { "CPU" }, { "Autograd" }, IMPLICIT, EXPLICIT } },
  /* Upstream's stale cells. */
  { "math_and_sparse", 3, { DEF, IMPLICIT, { "SparseCPU" } } },
  { "math_and_nested", 3, { DEF, IMPLICIT, { "NestedTensorCPU" } } },
  { "math_and_default", 3, { DEF, IMPLICIT, EXPLICIT } },
  { "all_aliases",
    6,
    { IMPLICIT,
      EXPLICIT,
      { "CompositeExplicitAutogradNonFunctional" },
      { "CompositeImplicitAutogradNestedTensor" },
      { "FuncTorchBatchedDecomposition" },
      { "Autograd" } } },
};

/* Steps that are made, as blocks, and the texts first seen for each set of them. */
typedef struct
{
  const Step *steps;
  unsigned n;
  unsigned made;
  XpLibrary *blocks[MOST_STEPS];
  char *texts[1 << MOST_STEPS];
} History;

static char *
all_text (void)
{
  g_autofree char *dump = xp_table_dump ("oo::foo");
  g_autofree char *table = xp_table_dump_computed ("oo::foo");
  return g_strconcat (dump, "--\n", table, NULL);
}

/* The text is the same whenever the same steps are made, and stored cells are the right ones. */
static void
look (History *history)
{
  char *text = all_text ();
  assert_table_is_sound ();
  if (history->texts[history->made] == NULL)
    history->texts[history->made] = text;
  else
    assert_text (text, history->texts[history->made]);
}

static void
make_step (History *history, unsigned i)
{
  const Step *step = &history->steps[i];
  XpLibrary *block = step->key == NULL ? fragment_new ("oo") : impl_new ("oo", step->key);
  if (step->key == NULL)
    define (block, "foo(Tensor x) -> Tensor");
  else if (step->is_fallthrough)
    implement (block, "foo", xp_fallthrough, (int) i);
  else
    record_at (block, "foo", (int) i);
  history->blocks[i] = block;
  history->made |= 1u << i;
  look (history);
}

static void
release_step (History *history, unsigned i)
{
  g_clear_pointer (&history->blocks[i], xp_library_free);
  history->made &= ~(1u << i);
  look (history);
}

static bool
next_permutation (unsigned *order, unsigned n)
{
  unsigned i = n - 1;
  while (i > 0 && order[i - 1] > order[i])
    i--;
  if (i == 0)
    return false;
  unsigned j = n - 1;
  while (order[j] < order[i - 1])
    j--;
  unsigned swapped = order[i - 1];
  order[i - 1] = order[j];
  order[j] = swapped;
  for (j = n - 1; i < j; i++, j--)
    {
      swapped = order[i];
      order[i] = order[j];
      order[j] = swapped;
    }
  return true;
}

static void
shuffle (GRand *random, unsigned *order, unsigned n)
{
  for (unsigned i = n; i > 1; i--)
    {
      unsigned j = (unsigned) g_rand_int_range (random, 0, (gint32) i);
      unsigned swapped = order[i - 1];
      order[i - 1] = order[j];
      order[j] = swapped;
    }
}

static void
history_clear (History *history)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (history->texts); i++)
    g_free (history->texts[i]);
}

/* Every order of registering, each with another order of releasing. */
START_TEST (every_order_gives_the_same_table)
{
  GRand *random = g_rand_new_with_seed (7);
  History history = { .steps = cases[_i].steps, .n = cases[_i].n };
  unsigned order[MOST_STEPS], back[MOST_STEPS];
  for (unsigned i = 0; i < MOST_STEPS; i++)
    order[i] = back[i] = i;
  look (&history);
  do
    {
      for (unsigned i = 0; i < history.n; i++)
        make_step (&history, order[i]);
      shuffle (random, back, history.n);
      for (unsigned i = 0; i < history.n; i++)
        release_step (&history, back[i]);
      ck_assert_str_eq (history.texts[0], "--\n");
    }
  while (next_permutation (order, history.n));
  history_clear (&history);
  g_rand_free (random);
}
END_TEST

static const char *const some_keys[] = {
  "CompositeImplicitAutograd",
  "CompositeExplicitAutograd",
  "CompositeExplicitAutogradNonFunctional",
  "CompositeImplicitAutogradNestedTensor",
  "Autograd",
  "CPU",
  "CUDA",
  "VE",
  "FPGA",
  "SparseCPU",
  "QuantizedCUDA",
  "NestedTensorCPU",
  "AutogradOther",
  "AutogradCUDA",
  "BackendSelect",
  "Meta",
};

/* Random sets of distinct keys, some of them fallthroughs: the same table in every order. */
START_TEST (random_sets_in_random_orders)
{
  GRand *random = g_rand_new_with_seed (100);
  for (unsigned round = 0; round < 20; round++)
    {
      unsigned keys[G_N_ELEMENTS (some_keys)], order[MOST_STEPS];
      Step steps[MOST_STEPS] = { DEF };
      for (unsigned i = 0; i < G_N_ELEMENTS (some_keys); i++)
        keys[i] = i;
      shuffle (random, keys, G_N_ELEMENTS (some_keys));
      for (unsigned i = 1; i < MOST_STEPS; i++)
        steps[i] = (Step){ some_keys[keys[i]], g_rand_int_range (random, 0, 4) == 0 };
      History history = { .steps = steps, .n = MOST_STEPS };
      for (unsigned i = 0; i < MOST_STEPS; i++)
        order[i] = i;
      for (unsigned again = 0; again < 6; again++)
        {
          shuffle (random, order, MOST_STEPS);
          for (unsigned i = 0; i < MOST_STEPS; i++)
            make_step (&history, order[i]);
          shuffle (random, order, MOST_STEPS);
          for (unsigned i = 0; i < MOST_STEPS; i++)
            release_step (&history, order[i]);
        }
      history_clear (&history);
    }
  g_rand_free (random);
}
END_TEST

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
  record_at (cpu, "foo", 3);
  ck_assert_uint_eq (warning.n, 2);
  static const char *const expected[] = {
    "oo::foo(Tensor x) -> Tensor",
    "CPU",
    "registered at kernel.c:2",
    "registered at kernel.c:3",
    "Overriding a previously registered kernel for the same operator and the same dispatch key\n"
    "  operator: oo::foo(Tensor x) -> Tensor\n"
    "    registered at row.c:1\n"
    "  dispatch key: CPU\n"
    "  previous kernel: registered at kernel.c:2\n"
    "       new kernel: registered at kernel.c:3",
  };
  for (unsigned i = 0; i < G_N_ELEMENTS (expected); i++)
    ck_assert_str_eq (warning.fields[i], expected[i]);

  /* Another key, another row, and a row without a schema. */
  g_autoptr (XpLibrary) other = impl_new ("oo", "CUDA");
  record_at (other, "foo", 4);
  record_at (cpu, "bar", 5);
  ck_assert_uint_eq (warning.n, 2);
  record_at (cpu, "bar", 6);
  ck_assert_uint_eq (warning.n, 3);
  ck_assert_str_eq (warning.fields[0], "oo::bar");
  ck_assert_ptr_nonnull (strstr (warning.fields[4], "    no debug info\n"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("orders");
  TCase *tests = tcase_create ("orders");
  tcase_add_loop_test (tests, every_order_gives_the_same_table, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tests, random_sets_in_random_orders);
  tcase_add_loop_test (tests, releasing_from_anywhere_keeps_the_rest_in_order, 0, 6);
  tcase_add_test (tests, a_block_goes_as_a_whole);
  tcase_add_test (tests, an_override_names_the_kernel_that_it_replaces);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
