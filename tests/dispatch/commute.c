/* SPDX-License-Identifier: MIT
 *
 * commute.c: every order of registration, and for each every order of release.
 *
 * An assertion of Check's writes to a file each time, so what is done millions of times asks first.
 *
 * PyTorch's harness takes a fresh namespace for each order; here all orders of a case share one, so
 * that what an order leaves behind shows in the next.
 */
#include "dispatch/commute.h"

#define NAME "__test__::foo"

const char *const commute_columns[] = {
  "Undefined",   "CPU",          "CUDA",        "XLA",  "AutogradOther",
  "AutogradCPU", "AutogradCUDA", "AutogradXLA", "FPGA", NULL
};

enum
{
  N_WORDS = XP_ROW_STRIPES + 64 * XP_ROW_STRIPE,
  CLOSE_LOOKS = 120
};

/* The steps that are made, and what was seen for each set of them. */
typedef struct
{
  const Commute *commute;
  unsigned made;
  XpLibrary *blocks[MOST_STEPS];
  char *seen[1 << MOST_STEPS];
  uint64_t *stored[1 << MOST_STEPS];
} History;

static char *
cells_of (const XpRowInfo *info)
{
  static const char letters[XP_N_RULES] = {
    [XP_RULE_KERNEL] = 'k',  [XP_RULE_DEFAULT_BACKEND] = 'd',
    [XP_RULE_NESTED] = 'n',  [XP_RULE_AMBIGUOUS] = 'A',
    [XP_RULE_MATH] = 'm',    [XP_RULE_AUTOGRAD] = 'a',
    [XP_RULE_BATCHED] = 'b', [XP_RULE_FALLBACK] = 'F',
    [XP_RULE_MISSING] = '-',
  };
  GString *text = g_string_new (NULL);
  for (unsigned column = 0; commute_columns[column] != NULL; column++)
    for (unsigned i = 0; i < info->n_cells; i++)
      if (strcmp (xp_key_name (info->cells[i].key), commute_columns[column]) == 0)
        g_string_append_c (text, letters[info->cells[i].rule]);
  return g_string_free (text, FALSE);
}

/* The set is keyed by what is made; that of the error by what would be. */
static void
compare_with_seen (History *history, unsigned set, char *text)
{
  if (history->seen[set] == NULL)
    history->seen[set] = text;
  else if (strcmp (text, history->seen[set]) == 0)
    g_free (text);
  else
    ck_assert_str_eq (text, history->seen[set]);
}

static void
look_at_all (const Commute *commute, const XpRowInfo *info, const char *dump)
{
  if (commute->cells != NULL)
    {
      g_autofree char *cells = cells_of (info);
      ck_assert_str_eq (cells, commute->cells);
    }
  if (commute->dump != NULL)
    ck_assert_str_eq (dump, commute->dump);
}

/* A kernel of ours by its step, any other by where it is, for those stay. */
static uint64_t
name_of (const XpKernel *kernel)
{
  return kernel->boxed == recording_kernel ? (uintptr_t) kernel->data : (uintptr_t) kernel;
}

/* What calls see: each word of the stored row. Costs so little that every step of every order is
 * looked at. */
static void
look_at_stored (History *history)
{
  const XpOperator *op = xp_operator_find (NAME);
  uint64_t *seen = history->stored[history->made], words[N_WORDS] = { 0 };
  if (op == NULL)
    {
      if (seen != NULL)
        ck_abort_msg ("whether there is an operator depends on the order of steps");
      return;
    }
  for (unsigned f = 0; f < XP_N_FUNCTIONALITIES; f++)
    words[f] = name_of (op->cells[f].kernel);
  for (uint64_t bits = op->backends; bits != 0; bits &= bits - 1)
    {
      unsigned stripe = xp_row_stripe (bits & -bits);
      words[stripe] = op->cells[stripe].unmasked;
      for (unsigned i = 1; i < XP_ROW_STRIPE; i++)
        words[stripe + i] = name_of (op->cells[stripe + i].kernel);
    }
  if (seen == NULL)
    history->stored[history->made] = g_memdup2 (words, sizeof words);
  else if (memcmp (words, seen, sizeof words) != 0)
    ck_abort_msg ("what is stored depends on the order of steps");
}

static void
look (History *history)
{
  GError *error = NULL;
  look_at_stored (history);
  g_autoptr (XpRowInfo) info = xp_table_row (NAME);
  g_autofree char *dump = info != NULL ? xp_row_info_dump (info) : g_strdup ("");
  g_autofree char *table = info != NULL ? xp_row_info_dump_computed (info) : g_strdup ("");
  compare_with_seen (history, history->made, g_strconcat (dump, "--\n", table, NULL));
  if (history->made == (1u << history->commute->n) - 1)
    look_at_all (history->commute, info, dump);
  /* A row is stored while it is defined: there is something to check. */
  if ((info != NULL && info->schema != NULL) != (xp_operator_find (NAME) != NULL))
    ck_abort_msg ("the row is defined, and no operator is found, or the reverse");
  if (!xp_table_check (&error))
    ck_abort_msg ("%.2000s", error->message);
}

static bool
register_in (XpLibrary *block, const Step *step, int line, GError **error)
{
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = step->schema,
                                    .alias_analysis = step->alias_analysis,
                                    .file = "/dev/null" };
  const XpImplementation implementation = {
    .size = sizeof implementation,
    .name = step->is_fallback ? NULL : "foo",
    .boxed = step->is_fallthrough ? xp_fallthrough : recording_kernel,
    .typed = step->signature != NULL ? (XpTypedFunction) recording_kernel : NULL,
    .signature = step->signature,
    .data = GINT_TO_POINTER (line),
    .file = "/dev/null",
    .line = line
  };
  return (step->schema == NULL || xp_library_def (block, &definition, error))
         && (step->key == NULL || xp_library_impl (block, &implementation, error));
}

/* Takes step @i, or leaves nothing of it. */
static bool
make_step (History *history, unsigned i, GError **error)
{
  const Step *step = &history->commute->steps[i];
  bool is_definition = step->schema != NULL;
  XpLibrary *block = xp_library_new (
      is_definition ? XP_LIBRARY_KIND_FRAGMENT : XP_LIBRARY_KIND_IMPL,
      step->is_fallback ? "_" : "__test__",
      is_definition || step->key[0] == '\0' ? NULL : step->key, "block.c", 1, error);
  if (block == NULL)
    return false;
  if (!register_in (block, step, (int) i, error))
    {
      xp_library_free (block);
      return false;
    }
  history->blocks[i] = block;
  history->made |= 1u << i;
  return true;
}

static void
release_step (History *history, unsigned i)
{
  g_clear_pointer (&history->blocks[i], xp_library_free);
  history->made &= ~(1u << i);
}

/* --- Orders. --- */

static void
exchange (unsigned *order, unsigned a, unsigned b)
{
  unsigned kept = order[a];
  order[a] = order[b];
  order[b] = kept;
}

static void
first_order (unsigned *order, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    order[i] = i;
}

static bool
next_order (unsigned *order, unsigned n)
{
  unsigned i = n - 1;
  while (i > 0 && order[i - 1] > order[i])
    i--;
  if (i == 0)
    return false;
  unsigned j = n - 1;
  while (order[j] < order[i - 1])
    j--;
  exchange (order, i - 1, j);
  for (j = n - 1; i < j; i++, j--)
    exchange (order, i, j);
  return true;
}

static void
shuffle (GRand *random, unsigned *order, unsigned n)
{
  for (unsigned i = n; i > 1; i--)
    exchange (order, i - 1, (unsigned) g_rand_int_range (random, 0, (gint32) i));
}

static GLogWriterOutput
swallow (G_GNUC_UNUSED GLogLevelFlags level, G_GNUC_UNUSED const GLogField *fields,
         G_GNUC_UNUSED gsize n_fields, G_GNUC_UNUSED gpointer data)
{
  return G_LOG_WRITER_HANDLED;
}

static void
history_clear (History *history)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (history->seen); i++)
    {
      g_free (history->seen[i]);
      g_free (history->stored[i]);
    }
}

/* Registers in one order and releases in another; @see looks after every step. */
static void
there_and_back (History *history, const unsigned *there, const unsigned *back,
                void (*see) (History *history))
{
  GError *error = NULL;
  for (unsigned i = 0; i < history->commute->n; i++)
    {
      if (!make_step (history, there[i], &error))
        ck_abort_msg ("%.2000s", error->message);
      see (history);
    }
  for (unsigned i = 0; i < history->commute->n; i++)
    {
      release_step (history, back[i]);
      see (history);
    }
}

/* Releases in every order, or in a few where @random draws them. Short cases are looked at closely
 * throughout; of longer ones the first order, and one of so many. */
static void
commute_from (History *history, const unsigned *there, GRand *random)
{
  unsigned back[MOST_STEPS], n = history->commute->n;
  bool is_short = n < MOST_STEPS - 1;
  first_order (back, n);
  for (unsigned i = 0; random == NULL ? i == 0 || next_order (back, n) : i < 10; i++)
    {
      if (random != NULL)
        shuffle (random, back, n);
      there_and_back (history, there, back,
                      is_short || i % CLOSE_LOOKS == 0 ? look : look_at_stored);
    }
}

void
commute (const Commute *steps)
{
  History history = { .commute = steps };
  unsigned there[MOST_STEPS];
  g_autoptr (GRand) random = NULL;
  g_autoptr (XpLibrary) row = steps->row != NULL ? fragment_new ("__test__") : NULL;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  if (steps->n >= 5)
    random = g_rand_new_with_seed (7);
#endif
  g_log_set_writer_func (swallow, NULL, NULL);
  if (row != NULL)
    define (row, steps->row);
  look (&history);
  first_order (there, steps->n);
  do
    commute_from (&history, there, random);
  while (!steps->in_this_order && next_order (there, steps->n));
  history_clear (&history);
}

static char *
error_text (const GError *error)
{
  const XpErrorDetails *details = xp_error_get_details (error);
  return g_strdup_printf ("%s\nkey %s\nop %s\nplugin %s\n%s", xp_error_name ((XpError) error->code),
                          details->key, details->op, details->plugin, error->message);
}

static void
make_until_refused (History *history, const unsigned *order, XpError code, const char *key,
                    const char *message)
{
  for (unsigned i = 0; i < history->commute->n; i++)
    {
      GError *error = NULL;
      g_autofree char *before = whole_table ();
      if (make_step (history, order[i], &error))
        {
          look (history);
          continue;
        }
      assert_text (whole_table (), before);
      assert_table_is_sound ();
      compare_with_seen (history, history->made | 1u << order[i], error_text (error));
      /* PyTorch's words; ours go on with a line for each argument that differs. */
      size_t n = strlen (message);
      ck_assert (strncmp (error->message, message, n) == 0);
      ck_assert (error->message[n] == '\0' || strncmp (error->message + n, "\n  argument ", 12) == 0
                 || strncmp (error->message + n, "\n  return ", 10) == 0);
      if (key != NULL)
        ck_assert_str_eq (xp_error_get_details (error)->key, key);
      assert_error (error, code, message);
      return;
    }
  ck_abort_msg ("no step was refused");
}

void
commute_fails (const Commute *steps, XpError code, const char *key, const char *message)
{
  History history = { .commute = steps };
  unsigned order[MOST_STEPS];
  g_autofree char *before = whole_table ();
  first_order (order, steps->n);
  do
    {
      make_until_refused (&history, order, code, key, message);
      for (unsigned i = 0; i < steps->n; i++)
        if (history.blocks[i] != NULL)
          {
            release_step (&history, i);
            look (&history);
          }
      assert_text (whole_table (), before);
    }
  while (!steps->in_this_order && next_order (order, steps->n));
  history_clear (&history);
}
