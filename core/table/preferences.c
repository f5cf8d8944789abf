/* SPDX-License-Identifier: MIT
 *
 * preferences.c: whose kernels the user wants first. The table ranks every registration by the
 * first preference that it matches; changing the list ranks all of them anew, in one change of the
 * table.
 */
#include "table/preferences.h"
#include "table/transaction.h"

struct Preference
{
  char *text;
  char *source;
  char *op_text;
  GPatternSpec *op;
  GPatternSpec *plugin;
  char *key; /* by name, for its device may come later; or NULL */
};

enum
{
  LONGEST_TEXT = 1024
};

static GPtrArray *preferences; /* Preference, the strongest first; under xp_table_lock */

/* --- One of them. --- */

void
xp_preference_free (void *data)
{
  Preference *preference = data;
  if (preference == NULL)
    return;
  g_clear_pointer (&preference->op, g_pattern_spec_free);
  g_clear_pointer (&preference->plugin, g_pattern_spec_free);
  g_free (preference->text);
  g_free (preference->source);
  g_free (preference->op_text);
  g_free (preference->key);
  g_free (preference);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Preference, xp_preference_free)

const char *
xp_preference_canonical (const Preference *preference)
{
  return preference->text;
}

char *
xp_preference_in_full (const char *text, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);
  g_autoptr (Preference) preference = xp_preference_parse (text, NULL, error);
  return preference != NULL ? g_steal_pointer (&preference->text) : NULL;
}

static gboolean
set_no_preference (const char *text, const char *reason, GError **error)
{
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) MIN (strlen (text), LONGEST_TEXT));
  xp_error_set (
      error, XP_ERROR_INVALID_ARGUMENT, NULL,
      "'%s' is no preference: %s; expected PLUGIN, or OPERATOR@PLUGIN/KEY, as in openblas "
      "or aten::mm@openblas/CPU",
      valid, reason);
  return FALSE;
}

static const char *
find_mistake (const char *op, const char *plugin, const char *key)
{
  if (op[0] == '\0' || plugin[0] == '\0')
    return op[0] == '\0' ? "there is no operator before the @" : "there is no plugin";
  if (strchr (plugin, '@') != NULL)
    return "it has more than one @";
  if (strstr (op, "::") == NULL && strpbrk (op, "*?") == NULL && strcmp (op, "_") != 0)
    return "the operator has no namespace";
  if (key == NULL)
    return NULL;
  if (key[0] == '\0')
    return "there is no key behind the /";
  for (const char *c = key; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && *c != '_')
      return "what stands behind the / is no key";
  return NULL;
}

Preference *
xp_preference_parse (const char *text, const char *source, GError **error)
{
  g_autofree char *copy = g_strstrip (g_strdup (text));
  const char *mistake = strlen (copy) > LONGEST_TEXT            ? "it is too long"
                        : !g_utf8_validate (copy, -1, NULL)     ? "it is not UTF-8"
                        : strpbrk (copy, ",\t\r\n\v\f") != NULL ? "it is more than one"
                                                                : NULL;
  char *at = strchr (copy, '@');
  char *plugin = at != NULL ? at + 1 : copy, *key = strchr (plugin, '/');
  if (at != NULL)
    *at = '\0';
  if (key != NULL)
    *key++ = '\0';
  const char *op = at != NULL ? copy : "*";
  if (mistake == NULL)
    mistake = find_mistake (op, plugin, key);
  if (mistake != NULL)
    {
      set_no_preference (text, mistake, error);
      return NULL;
    }
  XpKey known;
  const char *name = key != NULL && xp_key_parse (key, &known, NULL) ? xp_key_name (known) : key;
  Preference *preference = g_new0 (Preference, 1);
  preference->text = g_strdup_printf ("%s@%s%s%s", op, plugin, key != NULL ? "/" : "",
                                      key != NULL ? name : "");
  preference->source = g_strdup (source);
  preference->op_text = g_strdup (op);
  preference->op = g_pattern_spec_new (op);
  preference->plugin = g_pattern_spec_new (plugin);
  preference->key = g_strdup (name);
  return preference;
}

/* An operator without an overload stands for all of its overloads. */
static bool
matches_row (const Preference *preference, const Row *row)
{
  if (row == NULL)
    return g_pattern_spec_match_string (preference->op, "_");
  if (g_pattern_spec_match_string (preference->op, row->name))
    return true;
  const char *dot = strchr (row->name, '.');
  if (dot == NULL || strchr (preference->op_text, '.') != NULL)
    return false;
  g_autofree char *base = g_strndup (row->name, (size_t) (dot - row->name));
  return g_pattern_spec_match_string (preference->op, base);
}

static bool
matches (const Preference *preference, const Registration *registration)
{
  return g_pattern_spec_match_string (preference->plugin, registration->owner->name)
         && (preference->key == NULL
             || strcmp (preference->key, xp_key_name (registration->key)) == 0)
         && matches_row (preference, registration->row);
}

unsigned
xp_preference_rank_in (const GPtrArray *list, const Registration *registration)
{
  for (unsigned i = 0; list != NULL && i < list->len; i++)
    if (matches (list->pdata[i], registration))
      return list->len - i;
  return 0;
}

unsigned
xp_preference_rank (const Registration *registration)
{
  return xp_preference_rank_in (preferences, registration);
}

const char *
xp_preference_text (const Registration *registration)
{
  unsigned rank = registration->preference;
  return rank > 0 ? ((const Preference *) preferences->pdata[preferences->len - rank])->text : NULL;
}

/* --- Changing the list. --- */

static int
compare_registrations (const void *a, const void *b)
{
  const Registration *x = *(const Registration *const *) a, *y = *(const Registration *const *) b;
  int by_key = xp_key_compare (x->key, y->key);
  return by_key != 0 ? by_key : xp_rank_compare (x, y);
}

/* Ranks a list anew; whether that made a difference. */
static bool
rank_list (GPtrArray *list)
{
  bool has_changed = false;
  for (unsigned i = 0; i < list->len; i++)
    {
      Registration *registration = list->pdata[i];
      unsigned rank = xp_preference_rank (registration);
      has_changed |= rank != registration->preference;
      registration->preference = rank;
    }
  if (has_changed)
    g_ptr_array_sort (list, compare_registrations);
  return has_changed;
}

static void
rank_row (Row *row, void *changed)
{
  if (rank_list (row->registrations))
    g_ptr_array_add (changed, row);
}

/* After the list has changed, under the lock. On failure nothing is published, and the caller puts
 * the list back and calls it again. */
static gboolean
rank_all (GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  xp_rows_visit (rank_row, rows);
  bool fallbacks = rank_list (xp_fallbacks);
  if (!xp_ties_check (error))
    return FALSE;
  xp_rows_publish (rows, fallbacks, 0);
  xp_table_changed ();
  return TRUE;
}

/* Inserts at @index, and takes the preference, also where it fails. */
static gboolean
insert (Preference *preference, unsigned index, GError **error)
{
  g_ptr_array_insert (preferences, (int) index, preference);
  if (rank_all (error))
    return TRUE;
  g_ptr_array_remove_index (preferences, index);
  rank_all (NULL);
  return FALSE;
}

void (*xp_preferences_begin_hook) (void);

void
xp_preferences_begin (void)
{
  if (xp_preferences_begin_hook != NULL)
    xp_preferences_begin_hook ();
}

gboolean
xp_preferences_begin_change (GError **error)
{
  XpTransaction *transaction = xp_transaction_current ();
  if (transaction == NULL)
    {
      xp_preferences_begin ();
      return TRUE;
    }
  GError *local = NULL;
  const char *owner = xp_transaction_current_owner ()->name;
  xp_error_set (
      &local, XP_ERROR_NESTED_LOAD, &(XpErrorDetails){ .plugin = (char *) owner },
      "a constructor, probe or fini of %s changes what is preferred, or what happens at a "
      "tie; that is for the user and the program",
      owner);
  xp_transaction_keep_error (transaction, local, error);
  return FALSE;
}

static void
lock_list (void)
{
  g_mutex_lock (&xp_table_lock);
  if (preferences == NULL)
    preferences = g_ptr_array_new_with_free_func (xp_preference_free);
}

gboolean
xp_prefer (const char *text, GError **error)
{
  g_return_val_if_fail (text != NULL, FALSE);
  Preference *preference = xp_preferences_begin_change (error)
                               ? xp_preference_parse (text, "program", error)
                               : NULL;
  if (preference == NULL)
    return FALSE;
  lock_list ();
  gboolean done = insert (preference, 0, error);
  g_mutex_unlock (&xp_table_lock);
  return done;
}

static gboolean
set_not_preferred (const char *text, GError **error)
{
  unsigned n;
  XpPreference *all = xp_preferences (&n);
  g_autoptr (GPtrArray) texts = g_ptr_array_new ();
  for (unsigned i = 0; i < n; i++)
    g_ptr_array_add (texts, all[i].text);
  g_ptr_array_add (texts, NULL);
  g_autofree char *list = g_strjoinv (", ", (char **) texts->pdata);
  xp_error_set (error, XP_ERROR_INVALID_ARGUMENT,
                &(XpErrorDetails){ .candidates = (char **) texts->pdata },
                "%s is not preferred; preferred: %s", text, n > 0 ? list : "nothing");
  xp_preferences_free (all, n);
  return FALSE;
}

gboolean
xp_unprefer (const char *text, GError **error)
{
  g_return_val_if_fail (text != NULL, FALSE);
  g_autoptr (Preference) wanted = xp_preferences_begin_change (error)
                                      ? xp_preference_parse (text, "program", error)
                                      : NULL;
  if (wanted == NULL)
    return FALSE;
  lock_list ();
  unsigned i = 0;
  while (i < preferences->len
         && strcmp (((const Preference *) preferences->pdata[i])->text, wanted->text) != 0)
    i++;
  bool is_there = i < preferences->len, done = false;
  if (is_there)
    {
      Preference *taken = g_ptr_array_steal_index (preferences, i);
      done = rank_all (error);
      if (done)
        xp_preference_free (taken);
      else
        insert (taken, i, NULL);
    }
  g_mutex_unlock (&xp_table_lock);
  return is_there ? done : set_not_preferred (wanted->text, error);
}

/* --- What the settings say. --- */

static bool are_taken; /* atomic; set under the table's lock */

bool
xp_preferences_are_taken (void)
{
  return __atomic_load_n (&are_taken, __ATOMIC_ACQUIRE);
}

static void
keep_warning (GPtrArray *warnings, const char *source, GError *error)
{
  g_ptr_array_add (warnings, g_strdup_printf ("%s: %s", source, error->message));
  g_error_free (error);
}

static GPtrArray *
parse_given (const XpGivenPolicy *given, GPtrArray *warnings)
{
  GPtrArray *parsed = g_ptr_array_new_with_free_func (xp_preference_free);
  for (const char *const *text = given->texts; *text != NULL; text++)
    {
      GError *error = NULL;
      Preference *preference = xp_preference_parse (*text, given->texts_source, &error);
      if (preference != NULL)
        g_ptr_array_add (parsed, preference);
      else
        keep_warning (warnings, given->texts_source, error);
    }
  return parsed;
}

/* Under the table's lock. */
static void
take (const XpGivenPolicy *given, GPtrArray *parsed, GPtrArray *warnings)
{
  GError *error = NULL;
  if (!xp_on_tie_set (given->on_tie, &error))
    {
      g_prefix_error_literal (&error, "on-tie stays newest: ");
      keep_warning (warnings, given->on_tie_source, g_steal_pointer (&error));
    }
  while (parsed->len > 0)
    if (!insert (g_ptr_array_steal_index (parsed, 0), preferences->len, &error))
      keep_warning (warnings, given->texts_source, g_steal_pointer (&error));
}

void
xp_preferences_take (const XpGivenPolicy *given)
{
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) parsed = parse_given (given, warnings);
  lock_list ();
  bool is_first = !are_taken;
  if (is_first)
    take (given, parsed, warnings);
  __atomic_store_n (&are_taken, true, __ATOMIC_RELEASE);
  g_mutex_unlock (&xp_table_lock);
  for (unsigned i = 0; is_first && i < warnings->len; i++)
    g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "MESSAGE", "%s",
                      (const char *) warnings->pdata[i]);
}

/* --- Looking at it. --- */

static void
count_matches (const GPtrArray *list, XpPreference *infos)
{
  for (unsigned i = 0; i < list->len; i++)
    for (unsigned j = 0; j < preferences->len; j++)
      infos[j].n_kernels += matches (preferences->pdata[j], list->pdata[i]);
}

static void
count_in_row (Row *row, void *infos)
{
  count_matches (row->registrations, infos);
}

XpPreference *
xp_preferences (unsigned *n_preferences)
{
  g_return_val_if_fail (n_preferences != NULL, NULL);
  xp_preferences_begin ();
  lock_list ();
  *n_preferences = preferences->len;
  XpPreference *infos = g_new0 (XpPreference, preferences->len + 1);
  for (unsigned i = 0; i < preferences->len; i++)
    {
      const Preference *preference = preferences->pdata[i];
      infos[i].text = g_strdup (preference->text);
      infos[i].source = g_strdup (preference->source);
    }
  xp_rows_visit (count_in_row, infos);
  count_matches (xp_fallbacks, infos);
  g_mutex_unlock (&xp_table_lock);
  return infos;
}

void
xp_preferences_free (XpPreference *infos, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    {
      g_free (infos[i].text);
      g_free (infos[i].source);
    }
  g_free (infos);
}
