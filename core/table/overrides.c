/* SPDX-License-Identifier: MIT
 *
 * overrides.c: several plugins on one cell: the warning where the newest of equal rank takes the
 * place of another, and the refusal where that is not wanted.
 */
#include "table/preferences.h"
#include "table/transaction.h"

/* --- Warnings. --- */

enum
{
  MOST_CELLS_TOLD = 8
};

/* A kernel that took the place of one of equal rank. */
typedef struct
{
  const char *name; /* a row's, which stays, or "_" */
  char *op;
  char *definition;
  const char *key;
  char *previous;
  char *new_;
  const char *previous_plugin; /* an owner's, which stays */
  const char *new_plugin;
} Override;

static void
override_free (void *data)
{
  Override *override = data;
  g_free (override->op);
  g_free (override->definition);
  g_free (override->previous);
  g_free (override->new_);
  g_free (override);
}

GPtrArray *
xp_overrides_new (void)
{
  return g_ptr_array_new_with_free_func (override_free);
}

void
xp_override_note (GPtrArray *overrides, const Registration *previous,
                  const Registration *registration)
{
  const Row *row = registration->row;
  if (previous == NULL || previous->preference != registration->preference
      || previous->priority != registration->priority || previous->owner == &xp_core_owner)
    return;
  Override *override = g_new0 (Override, 1);
  bool is_defined = row != NULL && row->definition != NULL;
  override->name = row != NULL ? row->name : "_";
  override->op = is_defined ? xp_schema_to_string (row->definition->schema)
                            : g_strdup (row != NULL ? row->name : "_ (a fallback)");
  override->definition = g_strdup (is_defined ? row->definition->location : "no debug info");
  override->key = xp_key_name (registration->key);
  override->previous = g_strdup (previous->location);
  override->new_ = g_strdup (registration->location);
  override->previous_plugin = previous->owner->name;
  override->new_plugin = registration->owner->name;
  g_ptr_array_add (overrides, override);
}

void
xp_overrides_keep_new (GPtrArray *overrides)
{
  static GHashTable *told; /* for the life of the process: cell and both plugins */
  if (told == NULL)
    told = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (unsigned i = overrides->len; i-- > 0;)
    {
      const Override *override = overrides->pdata[i];
      char *cell = g_strjoin ("\n", override->name, override->key, override->previous_plugin,
                              override->new_plugin, NULL);
      if (!g_hash_table_add (told, cell))
        g_ptr_array_remove_index (overrides, i);
    }
}

/* The words are PyTorch's, but the previous kernel is the one that is really replaced. */
static char *
describe_one (const Override *override)
{
  return g_strdup_printf ("Overriding a previously registered kernel for the same operator and the "
                          "same dispatch key\n  operator: %s\n    %s\n  dispatch key: %s\n  "
                          "previous kernel: %s\n       new kernel: %s",
                          override->op, override->definition, override->key, override->previous,
                          override->new_);
}

static bool
is_same_pair (const Override *a, const Override *b)
{
  return strcmp (a->previous_plugin, b->previous_plugin) == 0
         && strcmp (a->new_plugin, b->new_plugin) == 0;
}

static char *
describe_all (const GPtrArray *overrides, const Override *first, unsigned n)
{
  GString *text = g_string_new (NULL);
  unsigned n_told = 0;
  g_string_append_printf (text, "%s replaces %u kernels of %s, which has the same priority:",
                          first->new_plugin, n, first->previous_plugin);
  for (unsigned i = 0; i < overrides->len && n_told < MOST_CELLS_TOLD; i++)
    {
      const Override *override = overrides->pdata[i];
      if (!is_same_pair (override, first))
        continue;
      g_string_append_printf (text, "\n  %s [%s]: %s; it was %s", override->name, override->key,
                              override->new_, override->previous);
      n_told++;
    }
  if (n_told < n)
    g_string_append_printf (text, "\n  and %u more", n - n_told);
  return g_string_free (text, FALSE);
}

/* One message for a pair of plugins. */
static void
warn_of (const GPtrArray *overrides, const Override *first, unsigned n)
{
  g_autofree char *message = n == 1 ? describe_one (first) : describe_all (overrides, first, n);
  g_autofree char *count = g_strdup_printf ("%u", n);
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "OPERATOR", first->op, "KEY", first->key,
                    "PREVIOUS", first->previous, "NEW", first->new_, "PREVIOUS_PLUGIN",
                    first->previous_plugin, "NEW_PLUGIN", first->new_plugin, "COUNT", count,
                    "MESSAGE", "%s", message);
}

static bool
is_told (const GPtrArray *pairs, const Override *override)
{
  for (unsigned i = 0; i < pairs->len; i++)
    if (is_same_pair (pairs->pdata[i], override))
      return true;
  return false;
}

void
xp_overrides_warn (const GPtrArray *overrides)
{
  g_autoptr (GPtrArray) pairs = g_ptr_array_new (); /* the first of each; there are few */
  for (unsigned i = 0; i < overrides->len; i++)
    {
      if (is_told (pairs, overrides->pdata[i]))
        continue;
      unsigned n = 0;
      for (unsigned j = i; j < overrides->len; j++)
        n += is_same_pair (overrides->pdata[j], overrides->pdata[i]);
      warn_of (overrides, overrides->pdata[i], n);
      g_ptr_array_add (pairs, overrides->pdata[i]);
    }
}

/* --- Ties. --- */

static XpOnTie on_tie; /* under xp_table_lock; read without it too */

/* What one plugin registers twice stands in the order of its own code, and the core's own give way
 * to everything. */
static bool
is_tie (const Registration *a, const Registration *b)
{
  if (a->owner == b->owner || a->owner == &xp_core_owner || b->owner == &xp_core_owner
      || a->preference != b->preference || a->priority != b->priority)
    return false;
  return a->row != NULL ? a->key == b->key : xp_fallbacks_meet (a, b);
}

static gboolean
set_tie (const Registration *before, const Registration *registration, GError **error)
{
  const char *op = registration->row != NULL ? registration->row->name : "_";
  const char *key = xp_key_name (registration->key), *one = before->owner->name;
  const char *other = registration->owner->name;
  xp_error_set (error, XP_ERROR_PRIORITY_TIE,
                &(XpErrorDetails){ .op = (char *) op,
                                   .key = (char *) key,
                                   .plugin = (char *) other,
                                   .candidates = (char *[]){ (char *) one, (char *) other, NULL } },
                "%s and %s both fill %s [%s], with the same priority, %d: %s (%s), %s (%s). Ties "
                "are refused (on-tie=error): give one of them a higher priority, or prefer one, as "
                "in %s@%s",
                one, other, registration->row != NULL ? op : "the fallback", key,
                registration->priority, before->location, one, registration->location, other, op,
                other);
  return FALSE;
}

static const Registration *
find_tie (const GPtrArray *list, const Registration *registration)
{
  for (unsigned i = 0; i < list->len; i++)
    if (is_tie (list->pdata[i], registration))
      return list->pdata[i];
  return NULL;
}

gboolean
xp_tie_check (const GPtrArray *list, const Registration *registration, GError **error)
{
  const Registration *other = on_tie == XP_ON_TIE_ERROR ? find_tie (list, registration) : NULL;
  return other == NULL || set_tie (other, registration, error);
}

/* A pair that ties, the older first. */
typedef struct
{
  const Registration *before;
  const Registration *after;
} Tie;

static void
look_for_tie (const GPtrArray *list, Tie *tie)
{
  for (unsigned i = 0; i < list->len && tie->after == NULL; i++)
    {
      const Registration *other = find_tie (list, list->pdata[i]);
      if (other == NULL)
        continue;
      bool is_older = ((const Registration *) list->pdata[i])->sequence < other->sequence;
      tie->before = is_older ? list->pdata[i] : other;
      tie->after = is_older ? other : list->pdata[i];
    }
}

static void
look_in_row (Row *row, void *tie)
{
  look_for_tie (row->registrations, tie);
}

gboolean
xp_ties_check (GError **error)
{
  Tie tie = { NULL, NULL };
  if (on_tie == XP_ON_TIE_ERROR)
    {
      xp_rows_visit (look_in_row, &tie);
      look_for_tie (xp_fallbacks, &tie);
    }
  return tie.after == NULL || set_tie (tie.before, tie.after, error);
}

XpOnTie
xp_on_tie (void)
{
  xp_preferences_begin ();
  return __atomic_load_n (&on_tie, __ATOMIC_RELAXED);
}

gboolean
xp_on_tie_set (XpOnTie policy, GError **error)
{
  XpOnTie before = on_tie;
  __atomic_store_n (&on_tie, policy, __ATOMIC_RELAXED);
  gboolean done = xp_ties_check (error);
  if (!done)
    __atomic_store_n (&on_tie, before, __ATOMIC_RELAXED);
  return done;
}

gboolean
xp_set_on_tie (XpOnTie policy, GError **error)
{
  g_return_val_if_fail (policy == XP_ON_TIE_NEWEST || policy == XP_ON_TIE_ERROR, FALSE);
  if (!xp_preferences_begin_change (error))
    return FALSE;
  g_mutex_lock (&xp_table_lock);
  gboolean done = xp_on_tie_set (policy, error);
  g_mutex_unlock (&xp_table_lock);
  return done;
}
