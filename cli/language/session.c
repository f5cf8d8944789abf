/* SPDX-License-Identifier: MIT
 *
 * session.c: statements: those of the language's own, the commands that give a report, assignments,
 * and expressions, whose values are printed.
 */
#include "session.h"
#include "author/compile.h"

#include "commands/command.h"

#include <string.h>

static void
free_value (void *value)
{
  xp_value_clear (value);
  g_free (value);
}

Session *
session_new (XpReportStyle style)
{
  Session *session = g_new0 (Session, 1);
  session->style = style;
  session->variables = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_value);
  return session;
}

void
session_free (Session *session)
{
  if (session == NULL)
    return;
  g_hash_table_unref (session->variables);
  g_free (session);
}

static void
append_piece (const char *text, G_GNUC_UNUSED gboolean is_problem, gpointer output)
{
  g_string_append (output, text);
}

/* What a script prints is one text, with what was not understood where it belongs. */
static void
append_report (const Session *session, GString *output, XpReport *report)
{
  xp_report_write (report, session->style, append_piece, output);
  xp_report_free (report);
}

static void append_line (const Session *session, GString *output, const char *kind,
                         const char *format, ...) G_GNUC_PRINTF (4, 5);

static void
append_line (const Session *session, GString *output, const char *kind, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  append_report (session, output, xp_report_text (kind, text));
}

/* The words of a statement, as a shell would split them. */
static char **
split_words (const char *rest, unsigned n_words, const char *usage, GError **error)
{
  g_auto (GStrv) words = NULL;
  int n = 0;
  g_autoptr (GError) reason = NULL;
  if (!g_shell_parse_argv (rest, &n, &words, &reason)
      && !g_error_matches (reason, G_SHELL_ERROR, G_SHELL_ERROR_EMPTY_STRING))
    {
      set_syntax_error (error, "%s", reason->message);
      return NULL;
    }
  if (usage != NULL && (unsigned) n != n_words)
    {
      set_syntax_error (error, "expected `%s`", usage);
      return NULL;
    }
  return words != NULL ? g_steal_pointer (&words) : g_new0 (char *, 1);
}

/* --- Plugins. --- */

static gboolean
run_load (Session *session, const char *rest, GString *output, GError **error)
{
  g_auto (GStrv) words = split_words (rest, 1, "load NAME|FILE", error);
  XpPlugin *plugin = words != NULL ? load_plugin_or_source (words[0], error) : NULL;
  if (plugin == NULL)
    return FALSE;
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  if (info->load_count > 1)
    append_line (session, output, "load", "%s: loaded %u times", info->name, info->load_count);
  else
    append_line (session, output, "load", "%s: %u row%s, %u kernel%s", info->name, info->n_rows,
                 info->n_rows == 1 ? "" : "s", info->n_cells, info->n_cells == 1 ? "" : "s");
  return TRUE;
}

static XpPlugin *
find_loaded (const char *name, GError **error)
{
  XpPlugin *plugin = xp_plugin_find (name);
  if (plugin != NULL)
    return plugin;
  unsigned n;
  XpPluginInfo **infos = xp_plugins (&n);
  GString *loaded = g_string_new (NULL);
  for (unsigned i = 0; i < n; i++)
    {
      if (infos[i]->state == XP_PLUGIN_LOADED && infos[i]->priority != G_MININT)
        g_string_append_printf (loaded, "%s%s", loaded->len > 0 ? ", " : "", infos[i]->name);
    }
  xp_plugin_infos_free (infos, n);
  xp_error_set (error, XP_ERROR_PLUGIN_NOT_LOADED, &(XpErrorDetails){ .plugin = (char *) name },
                "no plugin '%s' is loaded that could go; loaded: %s", name,
                loaded->len > 0 ? loaded->str : "none");
  g_string_free (loaded, TRUE);
  return NULL;
}

static void
append_state (Session *session, GString *output, const char *kind, XpPlugin *plugin)
{
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  append_line (session, output, kind, "%s: %s%s%s%s", info->name,
               xp_plugin_state_name (info->state), info->reason != NULL ? " (" : "",
               info->reason != NULL ? info->reason : "", info->reason != NULL ? ")" : "");
}

/* An option of a statement, `--NAME`, and where it is noted. */
typedef struct
{
  const char *name;
  gboolean *is_given;
} StatementOption;

/* The words of a statement without the options among them, which are set. The last of @options has
 * no name. */
static char **
take_options (const char *rest, const StatementOption *options, unsigned least, unsigned most,
              const char *usage, GError **error)
{
  g_auto (GStrv) words = split_words (rest, 0, NULL, error);
  if (words == NULL)
    return NULL;
  g_autoptr (GStrvBuilder) left = g_strv_builder_new ();
  for (char **word = words; *word != NULL; word++)
    {
      if (!g_str_has_prefix (*word, "--"))
        {
          g_strv_builder_add (left, *word);
          continue;
        }
      const StatementOption *option = options;
      while (option->name != NULL && strcmp (*word + 2, option->name) != 0)
        option++;
      if (option->name == NULL)
        {
          set_syntax_error (error, "expected `%s`, found %s", usage, *word);
          return NULL;
        }
      *option->is_given = TRUE;
    }
  g_auto (GStrv) arguments = g_strv_builder_end (left);
  unsigned n = g_strv_length (arguments);
  if (n >= least && n <= most)
    return g_steal_pointer (&arguments);
  set_syntax_error (error, "expected `%s`", usage);
  return NULL;
}

static gboolean
run_unload (Session *session, const char *rest, GString *output, GError **error)
{
  gboolean cascade = FALSE;
  const StatementOption options[] = { { "cascade", &cascade }, { NULL, NULL } };
  g_auto (GStrv) words = take_options (rest, options, 1, 1, "unload NAME [--cascade]", error);
  XpPlugin *plugin = words != NULL ? find_loaded (words[0], error) : NULL;
  gboolean was_inactive = plugin != NULL && xp_plugin_state (plugin) == XP_PLUGIN_INACTIVE;
  if (plugin == NULL
      || !(cascade ? xp_plugin_unload_cascade (plugin, error) : xp_plugin_unload (plugin, error)))
    return FALSE;
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  if (info->load_count > 0)
    append_line (session, output, "unload", "%s: still loaded %u time%s", info->name,
                 info->load_count, info->load_count == 1 ? "" : "s");
  else
    append_state (session, output, "unload", plugin);
  if (was_inactive)
    append_line (session, output, "unload", "%s was swapped out; the swap can no longer be undone",
                 info->name);
  return TRUE;
}

static gboolean
run_swap (Session *session, const char *rest, GString *output, GError **error)
{
  gboolean overlay = FALSE, force = FALSE;
  const StatementOption options[] = { { "overlay", &overlay },
                                      { "force", &force },
                                      { NULL, NULL } };
  g_auto (GStrv) words = take_options (rest, options, 1, 2, "swap OLD [NEW] [--overlay] [--force]",
                                       error);
  XpPlugin *old = words != NULL ? find_loaded (words[0], error) : NULL;
  XpSwapFlags flags = (overlay ? XP_SWAP_OVERLAY : 0) | (force ? XP_SWAP_FORCE : 0);
  unsigned token = 0;
  g_autofree char *path = NULL;
  XpPlugin *plugin = old != NULL && compile_to_swap (old, words[1], &path, error)
                         ? xp_plugin_swap (old, path, flags, &token, error)
                         : NULL;
  if (plugin == NULL)
    return FALSE;
  if (overlay)
    {
      g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin), beneath = xp_plugin_info (old);
      append_line (session, output, "swap", "%s: loaded over %s; `undo %u` takes it away",
                   info->name, beneath->name, token);
      return TRUE;
    }
  if (plugin != old)
    append_state (session, output, "swap", old);
  append_state (session, output, "swap", plugin);
  return TRUE;
}

static gboolean
run_undo (Session *session, const char *rest, GString *output, GError **error)
{
  guint64 token = 0;
  XpPlugin *old, *new_;
  const StatementOption options[] = { { NULL, NULL } };
  g_auto (GStrv) words = take_options (rest, options, 0, 1, "undo [NUMBER]", error);
  if (words == NULL)
    return FALSE;
  if (words[0] != NULL && !g_ascii_string_to_unsigned (words[0], 10, 1, G_MAXUINT, &token, NULL))
    return set_syntax_error (error, "expected `undo [NUMBER]`, found %s", words[0]);
  if (!xp_plugin_undo ((unsigned) token, &old, &new_, error))
    return FALSE;
  append_state (session, output, "undo", new_);
  append_state (session, output, "undo", old);
  return TRUE;
}

/* Says what the strongest preference matches, so that a misspelt one is seen. */
static void
append_strongest (const Session *session, GString *output)
{
  unsigned n;
  XpPreference *preferences = xp_preferences (&n);
  if (n > 0)
    append_line (session, output, "prefer", "%s: %u kernel%s", preferences[0].text,
                 preferences[0].n_kernels, preferences[0].n_kernels == 1 ? "" : "s");
  xp_preferences_free (preferences, n);
}

/* Prefers kernels, or no longer; without words it lists what is preferred. */
static gboolean
run_prefer (Session *session, const char *rest, GString *output, GError **error)
{
  static const char usage[] = "prefer [[--remove] OPERATOR@PLUGIN/KEY]";
  gboolean removes = FALSE;
  const StatementOption options[] = { { "remove", &removes }, { NULL, NULL } };
  g_auto (GStrv) words = take_options (rest, options, 0, 1, usage, error);
  if (words == NULL)
    return FALSE;
  if (removes && words[0] == NULL)
    return set_syntax_error (error, "expected `%s`", usage);
  if (removes)
    return xp_unprefer (words[0], error);
  if (words[0] == NULL)
    append_report (session, output, xp_report_preferences ());
  else if (xp_prefer (words[0], error))
    append_strongest (session, output);
  else
    return FALSE;
  return TRUE;
}

/* --- Values. --- */

static gboolean
print_expression (Session *session, const char *source, GString *output, GError **error)
{
  g_autoptr (GArray) values = values_new ();
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  do
    {
      g_autoptr (Expression) expression = expression_parse (&source, error);
      if (expression == NULL || !session_evaluate (session, expression, values, names, error))
        return FALSE;
    }
  while (take_symbol (&source, ','));
  if (!expect_end (source, error))
    return FALSE;
  /* Several results of one call are named as its schema names them. */
  gboolean named = names->len == values->len && values->len > 1;
  append_report (session, output,
                 xp_report_values (named ? (const char *const *) names->pdata : NULL,
                                   (const XpValue *) (const void *) values->data, values->len));
  return TRUE;
}

static gboolean
read_tensor (Session *session, const char **source, XpValue *value, const char *usage,
             GError **error)
{
  if (!session_read_one (session, source, value, error))
    return FALSE;
  return value->tag == XP_TAG_TENSOR
         || set_value_error (error, "expected a tensor in `%s`, found a value of type %s", usage,
                             xp_tag_name ((XpTag) value->tag));
}

static gboolean
run_save (Session *session, const char *rest, G_GNUC_UNUSED GString *output, GError **error)
{
  g_auto (XpValue) value = XP_NONE;
  g_auto (XpValue) path = XP_NONE;
  if (!read_tensor (session, &rest, &value, "save TENSOR \"FILE.npy\"", error)
      || !session_read_one (session, &rest, &path, error) || !expect_end (rest, error))
    return FALSE;
  if (path.tag != XP_TAG_STRING)
    return set_syntax_error (error, "expected `save TENSOR \"FILE.npy\"`");
  return xp_tensor_save_npy (value.as.tensor, xp_string_text (path.as.string), error);
}

static gboolean
run_keyset (Session *session, const char *rest, GString *output, GError **error)
{
  g_auto (XpValue) value = XP_NONE;
  if (!read_tensor (session, &rest, &value, "keyset TENSOR", error) || !expect_end (rest, error))
    return FALSE;
  g_autofree char *keys = xp_key_set_to_string (value.as.tensor->keys);
  append_line (session, output, "keyset", "%s", keys);
  return TRUE;
}

/* --- Statements about statements. --- */

static void
take_line (const char *line, void *lines)
{
  g_string_append_printf (lines, "%s%s", ((GString *) lines)->len > 0 ? "\n" : "", line);
}

static gboolean
run_trace (Session *session, const char *rest, GString *output, GError **error)
{
  if (expect_end (rest, NULL))
    return set_syntax_error (error, "expected `trace STATEMENT`");
  g_autoptr (GString) lines = g_string_new (NULL);
  g_autoptr (GString) after = g_string_new (NULL);
  xp_trace_begin (take_line, lines);
  gboolean done = session_run (session, rest, after, error);
  xp_trace_end ();
  if (lines->len > 0)
    append_line (session, output, "trace", "%s", lines->str);
  g_string_append_len (output, after->str, (gssize) after->len);
  return done;
}

static gboolean
run_time (Session *session, const char *rest, GString *output, GError **error)
{
  g_auto (XpValue) count = XP_NONE;
  if (!session_read_one (session, &rest, &count, error))
    return FALSE;
  if (count.tag != XP_TAG_INT || count.as.integer < 1 || expect_end (rest, NULL))
    return set_syntax_error (error, "expected `time COUNT STATEMENT`, with a count of at least 1");
  gint64 fastest = G_MAXINT64;
  g_autoptr (GString) last = g_string_new (NULL);
  for (int64_t i = 0; i < count.as.integer; i++)
    {
      g_string_set_size (last, 0);
      gint64 begin = g_get_monotonic_time ();
      if (!session_run (session, rest, last, error))
        return FALSE;
      fastest = MIN (fastest, g_get_monotonic_time () - begin);
    }
  g_string_append_len (output, last->str, (gssize) last->len);
  append_line (session, output, "time", "time: %.3f ms (fastest of %" G_GINT64_FORMAT ")",
               (double) fastest / 1e3, count.as.integer);
  return TRUE;
}

/* --- The statements, and what a line is. --- */

typedef gboolean (*Statement) (Session *session, const char *rest, GString *output, GError **error);

static const struct
{
  const char *word;
  Statement run;
} statements[] = {
  { "load", run_load }, { "unload", run_unload },     { "swap", run_swap },
  { "undo", run_undo }, { "prefer", run_prefer },     { "print", print_expression },
  { "save", run_save }, { "keyset", run_keyset },     { "trace", run_trace },
  { "time", run_time }, { "expect", session_expect },
};

/* `dump aten::gelu` is what the program's command of that name gives. */
static gboolean
run_command (Session *session, const Command *command, const char *source, GString *output,
             GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_auto (GStrv) words = split_words (source, 0, NULL, error);
  g_auto (GStrv) arguments = words != NULL ? command_parse (command, words, NULL, &reason) : NULL;
  XpReport *report = arguments != NULL ? command->report (arguments, &reason) : NULL;
  if (report != NULL)
    append_report (session, output, report);
  else if (reason != NULL && reason->domain == G_OPTION_ERROR)
    set_syntax_error (error, "%s: %s", command->name, reason->message);
  else if (reason != NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  return report != NULL;
}

/* `NAME, NAME =`: takes the names; NULL, and *@source as it was, for anything else. */
static GPtrArray *
take_targets (const char **source)
{
  g_autoptr (GPtrArray) targets = g_ptr_array_new_with_free_func (g_free);
  const char *after = *source;
  do
    {
      Token token;
      if (!token_read (&after, &token, NULL))
        return NULL;
      xp_value_clear (&token.value);
      if (token.kind != TOKEN_WORD || memchr (token.text, ':', token.length) != NULL
          || memchr (token.text, '.', token.length) != NULL)
        return NULL;
      g_ptr_array_add (targets, g_strndup (token.text, token.length));
    }
  while (take_symbol (&after, ','));
  if (!take_symbol (&after, '='))
    return NULL;
  *source = after;
  return g_steal_pointer (&targets);
}

static gboolean
run_assignment (Session *session, const GPtrArray *targets, const char *source, GError **error)
{
  g_autoptr (GArray) values = values_new ();
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (Expression) expression = expression_parse (&source, error);
  if (expression == NULL || !expect_end (source, error)
      || !session_evaluate (session, expression, values, names, error))
    return FALSE;
  if (values->len != targets->len)
    return set_value_error (error, "%u name%s on the left, %u value%s on the right", targets->len,
                            targets->len == 1 ? "" : "s", values->len, values->len == 1 ? "" : "s");
  for (unsigned i = 0; i < targets->len; i++)
    if (is_word_value (targets->pdata[i]))
      return set_value_error (error, "%s is a value of its own and cannot be given another",
                              (char *) targets->pdata[i]);
  for (unsigned i = 0; i < targets->len; i++)
    {
      XpValue *kept = g_new (XpValue, 1);
      *kept = xp_value_ref (g_array_index (values, XpValue, i));
      g_hash_table_replace (session->variables, g_strdup (targets->pdata[i]), kept);
    }
  return TRUE;
}

enum
{
  MOST_DEPTH = 64
};

static gboolean
run_statement (Session *session, const char *statement, GString *output, GError **error)
{
  const char *rest = statement;
  Token token;
  if (!token_read (&rest, &token, error))
    return FALSE;
  xp_value_clear (&token.value);
  if (token.kind == TOKEN_END)
    return TRUE;
  g_autoptr (GPtrArray) targets = take_targets (&statement);
  if (targets != NULL)
    return run_assignment (session, targets, statement, error);
  g_autofree char *word = g_strndup (token.text, token.length);
  for (unsigned i = 0; token.kind == TOKEN_WORD && i < XP_LENGTH (statements); i++)
    if (strcmp (statements[i].word, word) == 0)
      return statements[i].run (session, rest, output, error);
  const Command *command = command_find (word);
  if (command != NULL && command->report != NULL)
    return run_command (session, command, token.text, output, error);
  if (strstr (word, "::") == NULL && *(rest + strspn (rest, " ")) != '(' && token.kind == TOKEN_WORD
      && !g_hash_table_contains (session->variables, word)
      && *(rest + strspn (rest, " \t\r\n")) != '\0')
    return set_syntax_error (error, "unknown statement '%s'", word);
  return print_expression (session, statement, output, error);
}

gboolean
session_run (Session *session, const char *statement, GString *output, GError **error)
{
  if (session->depth >= MOST_DEPTH)
    return set_syntax_error (error, "more than %d statements one inside the other", MOST_DEPTH);
  session->depth++;
  gboolean done = run_statement (session, statement, output, error);
  session->depth--;
  return done;
}
