/* SPDX-License-Identifier: MIT
 *
 * priorities.c: plugins of distinct priorities that fill the same cells: whatever the order in
 * which they come and go, the table is the same, and the highest is active.
 */
#include "table/blocks.h"

enum
{
  N_PLUGINS = 3
};

static const char *const names[N_PLUGINS] = { "ranked_low", "ranked_middle", "ranked_high" };
static const int priorities[N_PLUGINS] = { -3, 0, 7 };

static void
append_all (GString *text, const XpRegistrationInfo *infos, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "%s %s %d%s\n", xp_key_name (infos[i].key), infos[i].plugin,
                            infos[i].priority, infos[i].is_active ? "" : " (inactive)");
}

/* Who stands where, and in which cells. */
static char *
owners (void)
{
  GString *text = g_string_new (NULL);
  g_autoptr (XpRowInfo) info = xp_table_row ("ranked::foo");
  append_all (text, info->registrations, info->n_registrations);
  for (unsigned i = 0; i < info->n_cells; i++)
    if (info->cells[i].plugin != NULL)
      g_string_append_printf (text, "%s: %s\n", xp_key_name (info->cells[i].key),
                              info->cells[i].plugin);
  unsigned n;
  XpRegistrationInfo *fallbacks = xp_table_fallbacks (&n);
  append_all (text, fallbacks, n);
  xp_registration_infos_free (fallbacks, n);
  return g_string_free (text, FALSE);
}

static int
priority_called (XpTensor *tensor)
{
  XpValue argument = xp_value_tensor (tensor), result;
  GError *error = NULL;
  xp_operator_call (operator_named ("ranked::foo"), &argument, &result, &error);
  assert_no_error (error);
  ck_assert_int_eq (result.tag, XP_TAG_INT);
  return (int) result.as.integer;
}

static int
highest (unsigned loaded)
{
  for (unsigned i = N_PLUGINS; i-- > 0;)
    if (loaded >> i & 1)
      return priorities[i];
  return 0;
}

static char *first_seen[1 << N_PLUGINS];

/* The same plugins, the same table; and the highest of them is called. */
static void
look (unsigned loaded, XpTensor *tensor)
{
  char *text = owners ();
  assert_table_is_sound ();
  if (loaded != 0)
    ck_assert_int_eq (priority_called (tensor), highest (loaded));
  if (first_seen[loaded] == NULL)
    first_seen[loaded] = text;
  else
    assert_text (text, first_seen[loaded]);
}

START_TEST (the_order_of_loading_decides_nothing)
{
  static const unsigned orders[][N_PLUGINS] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                                { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
  g_autoptr (XpLibrary) rows = fragment_new ("ranked");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "foo(Tensor x) -> int");
  look (0, tensor);
  for (unsigned i = 0; i < G_N_ELEMENTS (orders); i++)
    {
      XpPlugin *plugins[N_PLUGINS];
      GError *error = NULL;
      unsigned loaded = 0;
      for (unsigned j = 0; j < N_PLUGINS; j++)
        {
          g_autofree char *path = beside_program (names[orders[i][j]]);
          plugins[orders[i][j]] = xp_plugin_load (path, &error);
          assert_no_error (error);
          look (loaded |= 1u << orders[i][j], tensor);
        }
      const unsigned *back = orders[(i + 2) % G_N_ELEMENTS (orders)];
      for (unsigned j = 0; j < N_PLUGINS; j++)
        {
          xp_plugin_unload (plugins[back[j]], &error);
          assert_no_error (error);
          look (loaded &= ~(1u << back[j]), tensor);
        }
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (first_seen); i++)
    g_free (first_seen[i]);
}
END_TEST

static GLogWriterOutput
count_message (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
               G_GNUC_UNUSED gsize n_fields, gpointer data)
{
  (*(unsigned *) data)++;
  return G_LOG_WRITER_HANDLED;
}

/* --- Any plugins, any order. --- */

enum
{
  N_OWNERS = 5,
  N_SETS = 24,
  MOST_KERNELS = 4
};

/* What one owner registers: the same set in every order. */
typedef struct
{
  Open open;
  unsigned n;
  XpKey keys[MOST_KERNELS];
  bool is_fallback[MOST_KERNELS];
} Part;

static const XpKey shared_keys[] = { XP_KEY_CPU,
                                     XP_KEY_SparseCPU,
                                     XP_KEY_FPGA,
                                     XP_KEY_AutogradCPU,
                                     XP_KEY_AutogradOther,
                                     XP_KEY_Autograd,
                                     XP_KEY_CompositeImplicitAutograd,
                                     XP_KEY_CompositeExplicitAutograd };

static void
choose_part (GRand *random, Part *part)
{
  part->n = (unsigned) g_rand_int_range (random, 1, MOST_KERNELS + 1);
  for (unsigned i = 0; i < part->n; i++)
    {
      part->keys[i] = shared_keys[g_rand_int_range (random, 0, G_N_ELEMENTS (shared_keys))];
      part->is_fallback[i] = g_rand_boolean (random);
      for (unsigned j = 0; j < i; j++)
        if (part->is_fallback[j] && part->keys[j] == part->keys[i])
          part->is_fallback[i] = false;
    }
}

/* Registers one part. False, where something of it is refused: it would tie. */
static bool
register_part (const Part *part, unsigned owner, GPtrArray *blocks)
{
  bool done = true;
  for (unsigned i = 0; i < part->n; i++)
    {
      GError *error = NULL;
      XpLibrary *block = part->open (XP_LIBRARY_KIND_IMPL, part->is_fallback[i] ? "_" : "free",
                                     xp_key_name (part->keys[i]), "block.c", 1, &error);
      assert_no_error (error);
      const XpImplementation implementation = { .size = sizeof implementation,
                                                .name = part->is_fallback[i] ? NULL : "f",
                                                .boxed = give_something,
                                                .file = "kernel.c",
                                                .line = (int) (10 * owner + i) };
      if (xp_library_impl (block, &implementation, &error))
        g_ptr_array_add (blocks, block);
      else
        {
          assert_error (error, XP_ERROR_PRIORITY_TIE, "kernel.c");
          xp_library_free (block);
          done = false;
        }
    }
  return done;
}

static void
swap_places (unsigned *a, unsigned *b)
{
  unsigned kept = *a;
  *a = *b;
  *b = kept;
}

/* The next of all orders; false behind the last. */
static bool
next_order (unsigned *order, unsigned n)
{
  unsigned i = n - 1, j = n - 1;
  while (i > 0 && order[i - 1] > order[i])
    i--;
  if (i == 0)
    return false;
  while (order[j] < order[i - 1])
    j--;
  swap_places (&order[i - 1], &order[j]);
  for (unsigned low = i, high = n - 1; low < high; low++, high--)
    swap_places (&order[low], &order[high]);
  return true;
}

static char *
free_text (void)
{
  g_autofree char *dump = xp_table_dump ("free::f");
  g_autofree char *cells = xp_table_dump_computed ("free::f");
  GString *text = g_string_new (dump);
  g_string_append (text, cells);
  unsigned n;
  XpRegistrationInfo *fallbacks = xp_table_fallbacks (&n);
  append_all (text, fallbacks, n);
  xp_registration_infos_free (fallbacks, n);
  return g_string_free (text, FALSE);
}

/* One set of parts in every order; whether it can be registered. */
static bool
try_all_orders (const Part *parts, unsigned n)
{
  unsigned order[N_OWNERS], n_orders = 0, n_done = 0;
  g_autofree char *first = NULL;
  for (unsigned i = 0; i < n; i++)
    order[i] = i;
  do
    {
      g_autoptr (GPtrArray) blocks = g_ptr_array_new_with_free_func (
          (GDestroyNotify) xp_library_free);
      bool done = true;
      for (unsigned i = 0; i < n; i++)
        done &= register_part (&parts[order[i]], order[i], blocks);
      assert_table_is_sound ();
      n_orders++;
      n_done += done;
      g_autofree char *text = done ? free_text () : NULL;
      if (first == NULL)
        first = g_steal_pointer (&text);
      else if (done)
        ck_assert_msg (strcmp (text, first) == 0, "found\n%.1500s\nand before\n%.1500s", text,
                       first);
    }
  while (next_order (order, n));
  ck_assert (n_done == 0 || n_done == n_orders);
  return n_done > 0;
}

/* Distinct priorities give one table, and so does whatever is let in where ties are refused. */
START_TEST (any_order_gives_the_same_table)
{
  static const char *const openers[] = { "opener_low", "opener_middle", "opener_high",
                                         "opener_top" };
  static unsigned n_messages; /* what one owner registers twice is told, and no matter here */
  g_log_set_writer_func (count_message, &n_messages, NULL);
  GError *error = NULL;
  Part parts[N_OWNERS];
  GRand *random = g_rand_new_with_seed (7);
  unsigned n_free = 0, n_tied = 0;
  for (unsigned i = 0; i < N_OWNERS - 1; i++)
    parts[i].open = opener (openers[i]);
  parts[N_OWNERS - 1].open = xp_library_new; /* of the same priority as opener_middle */
  xp_set_on_tie (XP_ON_TIE_ERROR, &error);
  assert_no_error (error);
  g_autoptr (XpLibrary) rows = fragment_new ("free");
  define (rows, "f(Tensor x) -> ()");
  for (unsigned set = 0; set < N_SETS; set++)
    {
      unsigned n = set % 3 == 0 ? N_OWNERS - 1 : N_OWNERS;
      for (unsigned i = 0; i < N_OWNERS; i++)
        choose_part (random, &parts[i]);
      bool is_free = try_all_orders (parts, n);
      ck_assert (is_free || n == N_OWNERS);
      n_free += is_free && n == N_OWNERS;
      n_tied += !is_free;
    }
  /* Fallbacks of different keys that meet at one. */
  const Part meeting[] = { { opener ("opener_middle"), 1, { XP_KEY_AutogradCPU }, { true } },
                           { xp_library_new, 1, { XP_KEY_Autograd }, { true } } };
  ck_assert (!try_all_orders (meeting, G_N_ELEMENTS (meeting)));
  ck_assert_uint_gt (n_free, 0);
  ck_assert_uint_gt (n_tied, 0);
  g_rand_free (random);
}
END_TEST

/* Neither priority replaces another, so nothing is overridden, and nothing is warned of. */
START_TEST (a_higher_priority_is_no_override)
{
  static unsigned n_messages;
  g_log_set_writer_func (count_message, &n_messages, NULL);
  g_autoptr (XpLibrary) rows = fragment_new ("ranked");
  define (rows, "foo(Tensor x) -> int");
  for (unsigned i = 0; i < N_PLUGINS; i++)
    {
      g_autofree char *path = beside_program (names[i]);
      GError *error = NULL;
      xp_plugin_load (path, &error);
      assert_no_error (error);
    }
  ck_assert_uint_eq (n_messages, 0);
  g_autoptr (XpRowInfo) info = xp_table_row ("ranked::foo");
  ck_assert_uint_eq (info->n_registrations, 2 * N_PLUGINS);
  ck_assert_str_eq (info->registrations[0].plugin, "ranked_high");
  ck_assert_str_eq (info->registrations[2].plugin, "ranked_low");
  ck_assert_str_eq (info->registrations[0].file, "tests/table/ranked.c");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("priorities");
  TCase *tests = tcase_create ("priorities");
  tcase_add_test (tests, the_order_of_loading_decides_nothing);
  tcase_add_test (tests, any_order_gives_the_same_table);
  tcase_add_test (tests, a_higher_priority_is_no_override);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
