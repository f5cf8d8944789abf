/* SPDX-License-Identifier: MIT
 *
 * call.c: `crosspoint call`: one call of an operator.
 */
#include "commands/command.h"
#include "language/session.h"
#include "output.h"

#include <string.h>

static char **outputs;

const GOptionEntry call_options[] = {
  { "output", 'o', 0, G_OPTION_ARG_FILENAME_ARRAY, &outputs,
    "Save the result instead of printing it; once for each result", "FILE.npy" },
  { NULL },
};

/* An argument's value: a .npy file, a literal, tensor (…), or a text that is a word by itself. */
static gboolean
read_value (Session *session, const char *text, XpValue *value, GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (g_str_has_suffix (text, ".npy"))
    {
      XpTensor *tensor = xp_tensor_load_npy (text, error);
      *value = xp_value_tensor (tensor);
      return tensor != NULL;
    }
  g_autoptr (Expression) expression = expression_parse_whole (text, error);
  if (expression == NULL)
    return FALSE;
  if (expression->kind == EXPRESSION_NAME)
    {
      *value = xp_value_string (expression->name);
      return TRUE;
    }
  return session_evaluate_one (session, expression, value, error);
}

/* The length of `NAME` in `NAME=VALUE`, or 0. */
static size_t
name_length (const char *text)
{
  size_t n = 0;
  while (g_ascii_isalpha (text[n]) || text[n] == '_' || (n > 0 && g_ascii_isdigit (text[n])))
    n++;
  return text[n] == '=' ? n : 0;
}

static gboolean
read_arguments (Session *session, char **words, GArray *positional, GPtrArray *names, GArray *named,
                GError **error)
{
  for (; *words != NULL; words++)
    {
      size_t n = name_length (*words);
      XpValue value = XP_NONE;
      if (!read_value (session, n > 0 ? *words + n + 1 : *words, &value, error))
        {
          g_prefix_error (error, "argument '%s': ", *words);
          return FALSE;
        }
      g_array_append_val (n > 0 ? named : positional, value);
      if (n > 0)
        g_ptr_array_add (names, g_strndup (*words, n));
      else if (named->len > 0)
        return set_syntax_error (error,
                                 "the argument '%s' without a name stands behind one with a "
                                 "name",
                                 *words);
    }
  return TRUE;
}

static gboolean
save_results (const GArray *values, GError **error)
{
  unsigned n = g_strv_length (outputs);
  if (n != values->len)
    return set_value_error (error, "the call gives %u result%s, and -o is given %u time%s",
                            values->len, values->len == 1 ? "" : "s", n, n == 1 ? "" : "s");
  for (unsigned i = 0; i < n; i++)
    if (g_strv_contains ((const char *const *) outputs + i + 1, outputs[i]))
      return set_value_error (error, "-o %s is given for two results", outputs[i]);
  for (unsigned i = 0; i < n; i++)
    {
      XpValue value = g_array_index (values, XpValue, i);
      if (value.tag != XP_TAG_TENSOR)
        return set_value_error (error, "only tensors are saved; result %u is a %s", i,
                                xp_tag_name ((XpTag) value.tag));
      if (!xp_tensor_save_npy (value.as.tensor, outputs[i], error))
        return FALSE;
    }
  return TRUE;
}

int
command_call (const Settings *settings, char **arguments)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Session) session = session_new (XP_REPORT_PLAIN);
  g_autoptr (GArray) positional = values_new ();
  g_autoptr (GArray) named = values_new ();
  g_autoptr (GArray) values = values_new ();
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) result_names = g_ptr_array_new_with_free_func (g_free);
  if (!read_arguments (session, arguments + 1, positional, names, named, &error)
      || !session_call (arguments[0], (const XpValue *) (const void *) positional->data,
                        positional->len, (const char *const *) names->pdata,
                        (const XpValue *) (const void *) named->data, named->len, values,
                        result_names, &error)
      || (outputs != NULL && !save_results (values, &error)))
    return output_error (settings, NULL, error);
  if (outputs != NULL)
    return EXIT_GOOD;
  gboolean is_named = result_names->len == values->len && values->len > 1;
  return output_report (
      settings, xp_report_values (is_named ? (const char *const *) result_names->pdata : NULL,
                                  (const XpValue *) (const void *) values->data, values->len));
}
