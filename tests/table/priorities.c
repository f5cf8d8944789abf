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

/* Neither priority replaces another, so nothing is overridden, and nothing is warned of. */
static GLogWriterOutput
count_message (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
               G_GNUC_UNUSED gsize n_fields, gpointer data)
{
  (*(unsigned *) data)++;
  return G_LOG_WRITER_HANDLED;
}

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
  tcase_add_test (tests, a_higher_priority_is_no_override);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
