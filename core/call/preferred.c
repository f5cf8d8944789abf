/* SPDX-License-Identifier: MIT
 *
 * preferred.c: kernels that one thread prefers to those of the table.
 *
 * What a thread prefers is a list that stays for the life of the process, so that a captured state
 * may be kept anywhere. What that means for an operator and a key is looked up under the table's
 * lock once, and kept by the thread until the table changes.
 */
#include "call/dispatch.h"
#include "table/preferences.h"
#include "threads/threads.h"

#include <crosspoint/guard.h>

typedef struct
{
  char *text;
  GPtrArray *preferences; /* Preference, the strongest first */
} List;

static __thread const List *preferred;

/* --- Lists. --- */

/* The list of @preferences, which it takes. */
static const List *
list_of (GPtrArray *preferences)
{
  static GHashTable *lists; /* text -> List, under xp_table_lock */
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < preferences->len; i++)
    g_string_append_printf (text, "%s,", xp_preference_canonical (preferences->pdata[i]));
  g_mutex_lock (&xp_table_lock);
  if (lists == NULL)
    lists = g_hash_table_new (g_str_hash, g_str_equal);
  List *list = g_hash_table_lookup (lists, text->str);
  if (list == NULL)
    {
      list = g_new (List, 1);
      *list = (List){ g_strdup (text->str), g_ptr_array_ref (preferences) };
      g_hash_table_insert (lists, list->text, list);
    }
  g_mutex_unlock (&xp_table_lock);
  g_string_free (text, TRUE);
  g_ptr_array_unref (preferences);
  return list;
}

const void *
xp_thread_preferences (void)
{
  return preferred;
}

void
xp_thread_set_preferences (const void *preferences)
{
  if (preferred == preferences)
    return;
  preferred = preferences;
  xp_thread_set_attention (XP_ATTENTION_PREFERENCES, preferences != NULL);
}

gboolean
xp_thread_prefer (const char *text, GError **error)
{
  g_return_val_if_fail (text != NULL, FALSE);
  Preference *first = xp_preference_parse (text, NULL, error);
  if (first == NULL)
    return FALSE;
  GPtrArray *all = g_ptr_array_new_with_free_func (xp_preference_free);
  g_ptr_array_add (all, first);
  for (unsigned i = 0; preferred != NULL && i < preferred->preferences->len; i++)
    {
      const Preference *other = preferred->preferences->pdata[i];
      g_ptr_array_add (all, xp_preference_parse (xp_preference_canonical (other), NULL, NULL));
    }
  xp_thread_set_preferences (list_of (all));
  return TRUE;
}

XpThreadState
xp_thread_prefer_ (const char *text)
{
  XpThreadState before = xp_thread_state_capture ();
  g_autoptr (GError) error = NULL;
  if (!xp_thread_prefer (text, &error) && error != NULL)
    g_critical ("%s", error->message);
  return before;
}

/* --- What they mean. --- */

/* What was looked up: @handle is NULL where the cell's own kernel is to be called. */
typedef struct
{
  const List *list;
  const XpOperator *op;
  XpKey key;
  XpKernelHandle *handle;
} Choice;

/* The choices of a thread, for the table of one generation. */
typedef struct
{
  uint64_t generation;
  GHashTable *choices;
} Choices;

static unsigned
choice_hash (const void *data)
{
  const Choice *choice = data;
  return g_direct_hash (choice->op) ^ (g_direct_hash (choice->list) * 31u) ^ (choice->key * 131u);
}

static int
choice_equal (const void *a, const void *b)
{
  const Choice *x = a, *y = b;
  return x->list == y->list && x->op == y->op && x->key == y->key;
}

static void
choice_free (void *data)
{
  Choice *choice = data;
  xp_kernel_handle_unref (choice->handle);
  g_free (choice);
}

static void
choices_free (void *data)
{
  Choices *choices = data;
  g_hash_table_unref (choices->choices);
  g_free (choices);
}

static GPrivate own_choices = G_PRIVATE_INIT (choices_free);

static GHashTable *
choices_now (void)
{
  Choices *choices = g_private_get (&own_choices);
  uint64_t generation = xp_table_generation ();
  if (choices == NULL)
    {
      choices = g_new (Choices, 1);
      *choices = (Choices){ generation,
                            g_hash_table_new_full (choice_hash, choice_equal, NULL, choice_free) };
      g_private_set (&own_choices, choices);
    }
  else if (choices->generation != generation)
    {
      g_hash_table_remove_all (choices->choices);
      choices->generation = generation;
    }
  return choices->choices;
}

/* The kernel among @candidates that @list prefers most; they are in the table's order. */
static Registration *
best_of (const GPtrArray *list, const GPtrArray *candidates, XpKey key)
{
  Registration *best = NULL;
  unsigned best_rank = 0;
  for (unsigned i = 0; i < candidates->len; i++)
    {
      Registration *registration = candidates->pdata[i];
      if (registration->is_fallthrough || (registration->row != NULL && registration->key != key))
        continue;
      unsigned rank = xp_preference_rank_in (list, registration);
      if (rank > best_rank)
        {
          best = registration;
          best_rank = rank;
        }
    }
  return best;
}

static XpKernelHandle *
choose (const GPtrArray *list, XpOperator *op, XpKey key)
{
  XpKernelHandle *handle = NULL;
  g_autoptr (GPtrArray) fallbacks = g_ptr_array_new ();
  g_mutex_lock (&xp_table_lock);
  const Row *row = head_of (op)->row;
  Cell cell = { NULL, XP_RULE_MISSING };
  if (row->live == head_of (op))
    cell = xp_row_cell (row, key);
  if (cell.registration != NULL && !cell.registration->is_fallthrough)
    {
      bool is_fallback = cell.rule == XP_RULE_FALLBACK;
      if (is_fallback)
        xp_fallbacks_for (key, fallbacks);
      Registration *best = best_of (list, is_fallback ? fallbacks : row->registrations,
                                    cell.registration->key);
      if (best != NULL && best != cell.registration)
        handle = xp_kernel_handle_take (is_fallback ? NULL : op, best);
    }
  g_mutex_unlock (&xp_table_lock);
  return handle;
}

const XpKernelHandle *
xp_call_preferred (const XpCall *call)
{
  if (preferred == NULL)
    return NULL;
  GHashTable *choices = choices_now ();
  const Choice wanted = { preferred, call->op, xp_call_key (call), NULL };
  Choice *choice = g_hash_table_lookup (choices, &wanted);
  if (choice == NULL)
    {
      choice = g_new (Choice, 1);
      *choice = wanted;
      choice->handle = choose (preferred->preferences, call->op, wanted.key);
      g_hash_table_add (choices, choice);
    }
  return choice->handle;
}
