/* SPDX-License-Identifier: MIT
 *
 * register.c: what it costs to open the rows of PyTorch's aten namespace, and to fill a cell in
 * each. Every round has a namespace of its own.
 */
#include "figures.h"

#include <string.h>

enum
{
  DIRECT,
  PARSE,
  DEFINE_BLOCK,
  DEFINE_EACH,
  FILL_BLOCK,
  FILL_EACH,
  N_FIGURES,
  N_ROUNDS = 6
};

Figure register_figures[] = {
  [DIRECT] = { "direct", "direct call", 0 },
  [PARSE] = { "parse", "parse the schemas of aten", 0 },
  [DEFINE_BLOCK] = { "define", "define them, in one block", 0 },
  [DEFINE_EACH] = { "define_each", "define them, one by one", 0 },
  [FILL_BLOCK] = { "fill", "register a kernel for each, in one block", 0 },
  [FILL_EACH] = { "fill_each", "register a kernel for each, one by one", 0 },
};
const unsigned n_register_figures = N_FIGURES;

/* The schemas, without their namespace, and the names alone. */
static GPtrArray *schemas;
static GPtrArray *names;

static char *
read_file (const char *path, GError **error)
{
  char *contents = NULL;
  return g_file_get_contents (path, &contents, NULL, error) ? contents : NULL;
}

static gboolean
read_schemas (GError **error)
{
  g_autofree char *all = read_file (XP_BENCH_SCHEMAS, error);
  g_autofree char *left_out = all != NULL ? read_file (XP_BENCH_TORCHSCRIPT, error) : NULL;
  if (left_out == NULL)
    return FALSE;
  g_autoptr (GHashTable) skipped = g_hash_table_new (g_str_hash, g_str_equal);
  g_auto (GStrv) skipped_lines = g_strsplit (left_out, "\n", -1);
  for (char **line = skipped_lines; *line != NULL; line++)
    g_hash_table_add (skipped, *line);
  g_auto (GStrv) lines = g_strsplit (all, "\n", -1);
  schemas = g_ptr_array_new_with_free_func (g_free);
  names = g_ptr_array_new_with_free_func (g_free);
  for (char **line = lines; *line != NULL; line++)
    {
      g_autofree char *name = g_strndup (*line, strcspn (*line, "("));
      if (!g_str_has_prefix (name, "aten::") || g_hash_table_contains (skipped, name))
        continue;
      g_ptr_array_add (schemas, g_strdup (*line + strlen ("aten::")));
      g_ptr_array_add (names, g_strdup (name + strlen ("aten::")));
    }
  return TRUE;
}

static XpStatus
kernel (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
        G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  return XP_OK;
}

static void
fill_schemas (XpLibrary *m)
{
  for (unsigned i = 0; i < schemas->len; i++)
    xp_def (m, schemas->pdata[i]);
}

static void
fill_kernels (XpLibrary *m)
{
  for (unsigned i = 0; i < names->len; i++)
    xp_impl (m, names->pdata[i], kernel);
}

/* One transaction, as that of a plugin that is loaded. */
static double
run_block (XpLibraryKind kind, const char *name_space, const char *key, void (*fill) (XpLibrary *m))
{
  const XpLibraryBlock block = { sizeof block, kind, __LINE__, name_space, key, __FILE__, fill };
  double begin = nanoseconds_used ();
  xp_library_run (&block);
  return nanoseconds_used () - begin;
}

/* Each published at once. */
static double
run_each (XpLibraryKind kind, const char *name_space, const char *key, void (*fill) (XpLibrary *m),
          XpLibrary **library, GError **error)
{
  double begin = nanoseconds_used ();
  *library = xp_library_new (kind, name_space, key, __FILE__, __LINE__, error);
  if (*library == NULL)
    return 0;
  fill (*library);
  return nanoseconds_used () - begin;
}

static double
parse_all (void)
{
  double begin = nanoseconds_used ();
  for (unsigned i = 0; i < schemas->len; i++)
    xp_schema_unref (xp_schema_parse (schemas->pdata[i], NULL));
  return nanoseconds_used () - begin;
}

static gboolean
measure_round (unsigned round, GError **error)
{
  g_autofree char *at_once = g_strdup_printf ("block%u", round);
  g_autofree char *one_by_one = g_strdup_printf ("each%u", round);
  g_autoptr (XpLibrary) rows = NULL;
  g_autoptr (XpLibrary) kernels = NULL;
  figure_take (&register_figures[DIRECT], direct_round (times (200000, 1000)));
  figure_take (&register_figures[PARSE], parse_all ());
  figure_take (&register_figures[DEFINE_BLOCK],
               run_block (XP_LIBRARY_KIND_DEF, at_once, NULL, fill_schemas));
  figure_take (&register_figures[FILL_BLOCK],
               run_block (XP_LIBRARY_KIND_IMPL, at_once, "CPU", fill_kernels));
  double each = run_each (XP_LIBRARY_KIND_DEF, one_by_one, NULL, fill_schemas, &rows, error);
  if (rows == NULL)
    return FALSE;
  figure_take (&register_figures[DEFINE_EACH], each);
  each = run_each (XP_LIBRARY_KIND_IMPL, one_by_one, "CPU", fill_kernels, &kernels, error);
  if (kernels == NULL)
    return FALSE;
  figure_take (&register_figures[FILL_EACH], each);
  return TRUE;
}

gboolean
register_measure (GError **error)
{
  gboolean done = read_schemas (error);
  for (unsigned round = 0; done && round < times (N_ROUNDS, 1); round++)
    done = measure_round (round, error);
  g_clear_pointer (&schemas, g_ptr_array_unref);
  g_clear_pointer (&names, g_ptr_array_unref);
  return done;
}
