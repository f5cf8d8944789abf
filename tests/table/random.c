/* SPDX-License-Identifier: MIT
 *
 * random.c: random registrations of several owners, on all keys, in random orders, with releases
 * and changes of preferences in between, beside the model: every cell, the dump, and where calls
 * and redispatches go. A failure names its seed: CROSSPOINT_MODEL_SEED=N CROSSPOINT_MODEL_SETS=1
 * repeats that set.
 */
#include "table/model.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define DEFAULT_SETS 500
#else
#  define DEFAULT_SETS 10000
#endif

static XpKey *all_keys;
static unsigned n_keys;

static void differs (const Table *table, unsigned row, const char *format, ...)
    G_GNUC_PRINTF (3, 4) G_GNUC_NORETURN;

static void
differs (const Table *table, unsigned row, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  GString *all = g_string_new (NULL);
  for (unsigned i = 0; i < table->n; i++)
    {
      const Step *step = &table->steps[i];
      if (step->block != NULL && (step->row == row || step->row == FALLBACK))
        g_string_append_printf (all, "%s%s %s line %d of %s\n",
                                step->row == FALLBACK ? "fallback " : "", xp_key_name (step->key),
                                step->is_fallthrough ? "fallthrough" : "kernel", step->line,
                                owners[step->owner].name);
    }
  for (unsigned i = 0; i < table->n_preferred; i++)
    g_string_append_printf (
        all, "preferred: %s@%s/%s\n", op_globs[table->preferred[i].op].glob,
        plugin_globs[table->preferred[i].plugin].glob,
        table->preferred[i].key != XP_KEY_Undefined ? xp_key_name (table->preferred[i].key) : "");
  ck_abort_msg ("CROSSPOINT_MODEL_SEED=%u: %s: %.2000s\nregistered:\n%.2000s", table->seed,
                row_names[row], text, all->str);
}

/* --- Cells and dumps beside the model. --- */

static void
compare_cell (const Table *table, unsigned row, const Cell *expected, const XpCellInfo *found)
{
  g_autofree char *place = expected->step != NULL
                               ? g_strdup_printf ("registered at kernel.c:%d", expected->step->line)
                               : NULL;
  const char *plugin = expected->step != NULL              ? owners[expected->step->owner].name
                       : expected->rule != XP_RULE_MISSING ? "core"
                                                           : NULL;
  if (found->rule != expected->rule || found->is_fallthrough != expected->is_fallthrough
      || g_strcmp0 (found->plugin, plugin) != 0
      || (place != NULL
          && (strcmp (found->location, place) != 0 || found->from != expected->step->key)))
    differs (table, row, "cell %s: expected %s %s of %s%s, found %s %s of %s%s",
             xp_key_name (found->key), xp_rule_label (expected->rule), place, plugin,
             expected->is_fallthrough ? " fallthrough" : "", xp_rule_label (found->rule),
             found->location, found->plugin, found->is_fallthrough ? " fallthrough" : "");
}

/* The stack of a cell begins with what the cell holds, and nothing else of it is active. */
static void
compare_stack (const Table *table, unsigned row, XpKey key, const Cell *expected)
{
  GError *error = NULL;
  g_autoptr (XpCellStack) stack = xp_table_cell (row_names[row], key, &error);
  if (stack == NULL || stack->rule != expected->rule)
    differs (table, row, "the stack of %s: %s", xp_key_name (key),
             stack != NULL ? xp_rule_label (stack->rule) : error->message);
  bool is_filled = expected->rule != XP_RULE_MISSING && expected->rule != XP_RULE_AMBIGUOUS;
  for (unsigned i = 0; i < stack->n_candidates; i++)
    if (stack->candidates[i].is_active != (i == 0 && is_filled))
      differs (table, row, "the stack of %s: candidate %u", xp_key_name (key), i);
  if (is_filled
      && (stack->n_candidates == 0
          || (expected->step != NULL && stack->candidates[0].line != expected->step->line)))
    differs (table, row, "the stack of %s begins elsewhere", xp_key_name (key));
}

static void
compare_row (const Table *table, unsigned row, Cells cells)
{
  g_autofree char *expected = model_dump (table, row);
  g_autofree char *dump = xp_table_dump (row_names[row]);
  if (strcmp (expected, dump) != 0)
    differs (table, row, "expected the dump\n%s\nfound\n%s", expected, dump);
  g_autoptr (XpRowInfo) info = xp_table_row (row_names[row]);
  if (info == NULL)
    return;
  ck_assert_uint_eq (info->n_cells, n_keys);
  for (unsigned i = 0; i < n_keys; i++)
    {
      int backend = xp_key_backend (all_keys[i]);
      Cell *cell = &cells[xp_key_functionality (all_keys[i])][backend < 0 ? 0 : backend];
      *cell = model_cell (table, row, all_keys[i]);
      if (info->cells[i].key != all_keys[i])
        differs (table, row, "cell %u is %s", i, xp_key_name (info->cells[i].key));
      compare_cell (table, row, cell, &info->cells[i]);
    }
  XpKey key = all_keys[g_rand_int_range (table->random, 0, (gint32) n_keys)];
  int backend = xp_key_backend (key);
  compare_stack (table, row, key, &cells[xp_key_functionality (key)][backend < 0 ? 0 : backend]);
}

/* --- Calls beside the model. --- */

static int line_ran;
static XpKeySet keys_ran;

static XpStatus
keep_call (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
           G_GNUC_UNUSED GError **error)
{
  line_ran = GPOINTER_TO_INT (xp_call_data (call));
  keys_ran = xp_call_keys (call);
  return XP_OK;
}

static void
compare_call (const Table *table, unsigned row, const char *kind, Cells cells, XpKeySet set,
              GError *error)
{
  XpKey key;
  const Cell *cell = model_cell_at (cells, set, &key);
  g_autofree char *text = xp_key_set_to_string (set);
  if (cell->step != NULL && !cell->is_fallthrough)
    {
      if (error != NULL || line_ran != cell->step->line || !xp_key_set_equal (keys_ran, set))
        differs (table, row, "%s with %s: expected line %d, found line %d (%s)", kind, text,
                 cell->step->line, line_ran, error != NULL ? error->message : "no error");
      return;
    }
  XpError code = cell->rule == XP_RULE_AMBIGUOUS ? XP_ERROR_AMBIGUOUS_AUTOGRAD
                 : key == XP_KEY_Undefined       ? XP_ERROR_NO_TENSOR_ARGUMENTS
                                                 : XP_ERROR_MISSING_KERNEL;
  if (!g_error_matches (error, XP_ERROR, (int) code) || line_ran != 0)
    differs (table, row, "%s with %s: expected %s, found line %d (%s)", kind, text,
             xp_error_name (code), line_ran, error != NULL ? error->message : "no error");
  if (key != XP_KEY_Undefined
      && g_strcmp0 (xp_error_get_details (error)->key, xp_key_name (key)) != 0)
    differs (table, row, "%s with %s: expected the key %s, found %s", kind, text, xp_key_name (key),
             xp_error_get_details (error)->key);
  g_error_free (error);
}

/* As a typed caller enters: the kernel in the frame. */
static void
compare_entry (const Table *table, unsigned row, Cells cells, XpKeySet set, XpCall *call)
{
  XpKey key;
  const Cell *cell = model_cell_at (cells, set, &key);
  const XpKernel *kernel = xp_call_kernel (call);
  int line = kernel->boxed == keep_call ? GPOINTER_TO_INT (kernel->data) : 0;
  int expected = cell->step != NULL && !cell->is_fallthrough ? cell->step->line : 0;
  xp_call_leave (call);
  if (line != expected)
    differs (table, row, "entry at %s: expected line %d, found %d", xp_key_name (key), expected,
             line);
}

static XpKey random_key (Table *table);

/* Keys near to what is registered, or any, with at most @most_backends backends. */
static XpKeySet
random_set (Table *table, unsigned most_backends)
{
  XpKeySet set = { 0, 0 };
  for (int n = g_rand_int_range (table->random, 0, 5); n > 0; n--)
    {
      XpKey key = random_key (table);
      if (g_rand_boolean (table->random) && table->n > 0)
        key = table->steps[g_rand_int_range (table->random, 0, (gint32) table->n)].key;
      set = xp_key_set_union (set, xp_key_set (key));
      if (xp_key_is_alias (key))
        set.functionality |= XP_BIT (XP_FUNCTIONALITY_Dense);
    }
  while ((unsigned) __builtin_popcountll (set.backend) > most_backends)
    set.backend &= set.backend - 1;
  return set;
}

static void
call_at_random (Table *table, unsigned row, XpTensor *tensor, Cells cells)
{
  XpOperator *op = operator_named (row_names[row]);
  XpValue argument = xp_value_tensor (tensor);
  GError *error = NULL;
  XpKeySet included = { XP_DEFAULT_INCLUDED, 0 }, excluded = { XP_DEFAULT_EXCLUDED, 0 };
  tensor->keys = random_set (table, 1);
  if (g_rand_boolean (table->random))
    included = xp_key_set_union (included, random_set (table, 2));
  if (g_rand_boolean (table->random))
    included.functionality = 0;
  if (g_rand_boolean (table->random))
    excluded = random_set (table, 64);
  const XpKernel *kernel;
  XpKeySet set = xp_key_set_union (tensor->keys, included);
  set.functionality &= ~excluded.functionality;
  set = model_masked (cells, set);
  {
    XP_FORCE_KEYS (included, excluded);
    line_ran = 0;
    xp_operator_call (op, &argument, NULL, &error);
    compare_call (table, row, "call", cells, set, error);
    compare_entry (table, row, cells, set, xp_call_enter (op, tensor->keys, &kernel));
  }

  /* Taken as it is; a cell that is passed over resolves again. */
  set = random_set (table, 2);
  XpKey key;
  compare_entry (table, row, cells, set, xp_call_enter_with_keys (op, set, &kernel));
  XpKeySet resolved = model_cell_at (cells, set, &key)->is_fallthrough ? model_masked (cells, set)
                                                                       : set;
  error = NULL;
  line_ran = 0;
  xp_operator_redispatch (op, set, &argument, NULL, &error);
  compare_call (table, row, "redispatch", cells, resolved, error);
}

/* --- One set. --- */

/* Keys that the rules tell apart come more often than others. */
static XpKey
random_key (Table *table)
{
  static const XpKey telling[] = {
    XP_KEY_CPU,
    XP_KEY_CUDA,
    XP_KEY_HIP,
    XP_KEY_MTIA,
    XP_KEY_Lazy,
    XP_KEY_FPGA,
    XP_KEY_SparseCPU,
    XP_KEY_SparseCsrCUDA,
    XP_KEY_QuantizedXLA,
    XP_KEY_AutogradCPU,
    XP_KEY_AutogradCUDA,
    XP_KEY_NestedTensorCPU,
    XP_KEY_AutogradOther,
    XP_KEY_AutogradNestedTensor,
    XP_KEY_FuncTorchBatched,
    XP_KEY_BackendSelect,
    XP_KEY_ADInplaceOrView,
    XP_KEY_Meta,
  };
  switch (g_rand_int_range (table->random, 0, 5))
    {
    case 0:
    case 1:
      return telling[g_rand_int_range (table->random, 0, G_N_ELEMENTS (telling))];
    case 2:
    case 3:
      return (XpKey) (XP_KEY_Autograd + g_rand_int_range (table->random, 0, 6));
    default:
      return all_keys[g_rand_int_range (table->random, 1, (gint32) n_keys)];
    }
}

static Step
random_step (Table *table)
{
  static const unsigned rows[] = { 0, 0, 0, 1, 1, FALLBACK };
  return (Step){ .key = random_key (table),
                 .row = rows[g_rand_int_range (table->random, 0, G_N_ELEMENTS (rows))],
                 .owner = (unsigned) g_rand_int_range (table->random, 0, N_OWNERS),
                 .is_fallthrough = g_rand_int_range (table->random, 0, 4) == 0 };
}

/* An owner has one fallback for a key; the second is refused. */
static bool
is_second_fallback (const Table *table, const Step *step)
{
  for (unsigned i = 0; i < table->n; i++)
    if (table->steps[i].block != NULL && table->steps[i].row == FALLBACK && step->row == FALLBACK
        && table->steps[i].key == step->key && table->steps[i].owner == step->owner)
      return true;
  return false;
}

static void
make_step (Table *table, Step *step)
{
  GError *error = NULL;
  XpLibrary *block = owners[step->owner].open (XP_LIBRARY_KIND_IMPL,
                                               step->row == FALLBACK ? "_" : "model",
                                               xp_key_name (step->key), "block.c", 1, &error);
  if (block == NULL)
    differs (table, 0, "%s", error->message);
  step->line = ++table->line;
  const XpImplementation implementation = {
    .size = sizeof implementation,
    .name = step->row == FALLBACK ? NULL : row_names[step->row],
    .boxed = step->is_fallthrough ? xp_fallthrough : keep_call,
    .data = GINT_TO_POINTER (step->line),
    .file = "kernel.c",
    .line = step->line
  };
  bool refused = is_second_fallback (table, step);
  if (xp_library_impl (block, &implementation, &error) == refused)
    differs (table, 0, "registering: %s", error != NULL ? error->message : "was not refused");
  if (refused)
    {
      assert_error (error, XP_ERROR_DUPLICATE_FALLBACK, xp_key_name (step->key));
      g_clear_pointer (&block, xp_library_free);
    }
  step->block = block;
}

static void
change_definition (Table *table, unsigned row)
{
  if (table->definitions[row] != NULL)
    {
      g_clear_pointer (&table->definitions[row], xp_library_free);
      return;
    }
  table->definitions[row] = fragment_new ("model");
  define (table->definitions[row], declarations[row]);
}

/* The text of a preference; free with g_free(). */
static char *
preference_text (const Preferred *preferred)
{
  bool has_key = preferred->key != XP_KEY_Undefined;
  return g_strdup_printf ("%s@%s%s%s", op_globs[preferred->op].glob,
                          plugin_globs[preferred->plugin].glob, has_key ? "/" : "",
                          has_key ? xp_key_name (preferred->key) : "");
}

static void
prefer_at_random (Table *table)
{
  GError *error = NULL;
  const Preferred preferred = {
    .op = (unsigned) g_rand_int_range (table->random, 0, N_OP_GLOBS),
    .plugin = (unsigned) g_rand_int_range (table->random, 0, N_PLUGIN_GLOBS),
    .key = g_rand_boolean (table->random) ? XP_KEY_Undefined : random_key (table)
  };
  g_autofree char *text = preference_text (&preferred);
  if (!xp_prefer (text, &error))
    differs (table, 0, "%s", error->message);
  memmove (table->preferred + 1, table->preferred, table->n_preferred * sizeof preferred);
  table->preferred[0] = preferred;
  table->n_preferred++;
}

/* The strongest of its text goes. */
static void
unprefer (Table *table, unsigned which)
{
  GError *error = NULL;
  const Preferred preferred = table->preferred[which];
  g_autofree char *text = preference_text (&preferred);
  unsigned i = 0;
  if (!xp_unprefer (text, &error))
    differs (table, 0, "%s", error->message);
  while (memcmp (&table->preferred[i], &preferred, sizeof preferred) != 0)
    i++;
  table->n_preferred--;
  memmove (table->preferred + i, table->preferred + i + 1,
           (table->n_preferred - i) * sizeof preferred);
}

static void
change_preferences (Table *table)
{
  if (table->n_preferred < MOST_PREFERENCES && g_rand_int_range (table->random, 0, 3) != 0)
    prefer_at_random (table);
  else if (table->n_preferred > 0)
    unprefer (table, (unsigned) g_rand_int_range (table->random, 0, (gint32) table->n_preferred));
}

static void
compare_all (Table *table, XpTensor *tensor)
{
  static Cells cells;
  GError *error = NULL;
  for (unsigned row = 0; row < N_ROWS; row++)
    {
      compare_row (table, row, cells);
      for (unsigned i = 0; table->definitions[row] != NULL && i < 4; i++)
        call_at_random (table, row, tensor, cells);
    }
  if (!xp_table_check (&error))
    differs (table, 0, "%s", error->message);
}

static void
one_set (unsigned seed, XpTensor *tensor)
{
  Table table = { .seed = seed, .random = g_rand_new_with_seed (seed) };
  unsigned n = (unsigned) g_rand_int_range (table.random, 1, MOST_STEPS + 1);
  while (table.n < n)
    table.steps[table.n++] = random_step (&table);
  /* Any step may come, go and come again; so may the definitions. */
  for (unsigned i = 0; i < 3 * n; i++)
    {
      Step *step = &table.steps[g_rand_int_range (table.random, 0, (gint32) n)];
      if (step->block == NULL)
        make_step (&table, step);
      else if (g_rand_int_range (table.random, 0, 3) == 0)
        g_clear_pointer (&step->block, xp_library_free);
      if (g_rand_int_range (table.random, 0, 8) == 0)
        change_definition (&table, (unsigned) g_rand_int_range (table.random, 0, N_ROWS));
      if (g_rand_int_range (table.random, 0, 6) == 0)
        change_preferences (&table);
    }
  for (unsigned row = 0; row < N_ROWS; row++)
    if (table.definitions[row] == NULL && g_rand_boolean (table.random))
      change_definition (&table, row);
  compare_all (&table, tensor);
  if (g_rand_boolean (table.random))
    change_preferences (&table);
  for (unsigned row = 0; row < N_ROWS; row++)
    if (table.definitions[row] == NULL)
      change_definition (&table, row);
  for (unsigned i = 0; i < n; i++)
    if (g_rand_boolean (table.random))
      g_clear_pointer (&table.steps[i].block, xp_library_free);
  compare_all (&table, tensor);
  for (unsigned i = 0; i < n; i++)
    g_clear_pointer (&table.steps[i].block, xp_library_free);
  for (unsigned row = 0; row < N_ROWS; row++)
    change_definition (&table, row);
  while (table.n_preferred > 0)
    unprefer (&table, table.n_preferred - 1);
  compare_all (&table, tensor);
  g_rand_free (table.random);
}

/* --- The suite. --- */

static unsigned
number_of (const char *variable, unsigned otherwise)
{
  const char *text = getenv (variable);
  return text != NULL ? (unsigned) strtoul (text, NULL, 10) : otherwise;
}

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

START_TEST (random_sets_agree_with_the_model)
{
  g_log_set_writer_func (swallow, NULL, NULL);
  XpBackend named;
  ck_assert (xp_backend_register ("tpu", &named, NULL));
  ck_assert (xp_backend_register ("npu", &named, NULL));
  all_keys = xp_key_list (&n_keys);
  for (unsigned i = 1; i < N_OWNERS; i++)
    owners[i].open = opener (owners[i].name);
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  XpKeySet own_keys = tensor->keys;
  unsigned seed = number_of ("CROSSPOINT_MODEL_SEED", 1);
  unsigned n = number_of ("CROSSPOINT_MODEL_SETS", DEFAULT_SETS);
  for (unsigned i = 0; i < n; i++)
    one_set (seed + i, tensor);
  tensor->keys = own_keys;
  g_free (all_keys);
}
END_TEST

int
main (void)
{
  /* No plugins to name in hints: they would be read at every call that finds no kernel. */
  g_setenv ("CROSSPOINT_PLUGIN_SYSTEM_PATH", "/nonexistent", TRUE);
  Suite *suite = suite_create ("random");
  TCase *tests = tcase_create ("random");
  tcase_add_test (tests, random_sets_agree_with_the_model);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 600);
  return run_suite (suite);
}
