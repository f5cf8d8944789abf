/* SPDX-License-Identifier: MIT
 *
 * expect.c: what a script takes for granted, so that it is a test:
 *
 *   expect error [CODE] ["TEXT"] STATEMENT   fails, and how
 *   expect "TEXT" STATEMENT                  prints something that has the text in it
 *   expect equal VALUE VALUE                 are the same, tensors in dtype, shape and elements
 *   expect close TENSOR TENSOR [TOLERANCE]   differ by at most so much (1e-5)
 */
#include "session.h"

#include <math.h>
#include <string.h>

#define set_failed(error, ...) set_language_error ((error), XP_ERROR_UNEXPECTED, __VA_ARGS__)

/* Takes a text that stands at *@source. */
static char *
take_text (const char **source)
{
  const char *after = *source;
  Token token;
  if (!token_read (&after, &token, NULL))
    return NULL;
  char *text = token.kind == TOKEN_STRING ? g_strdup (xp_string_text (token.value.as.string))
                                          : NULL;
  xp_value_clear (&token.value);
  if (text != NULL)
    *source = after;
  return text;
}

/* Takes a code of XP_ERROR that stands at *@source; -1 for none. */
static int
take_code (const char **source)
{
  const char *after = *source;
  Token token;
  if (!token_read (&after, &token, NULL))
    return -1;
  xp_value_clear (&token.value);
  for (int code = 0; token.kind == TOKEN_WORD && code < XP_N_ERRORS; code++)
    {
      const char *name = xp_error_name ((XpError) code);
      if (strlen (name) == token.length && memcmp (name, token.text, token.length) == 0)
        {
          *source = after;
          return code;
        }
    }
  return -1;
}

static gboolean
expect_error (Session *session, const char *rest, GString *output, GError **error)
{
  int code = take_code (&rest);
  Token token;
  const char *after = rest;
  if (code < 0 && token_read (&after, &token, NULL))
    {
      xp_value_clear (&token.value);
      if (token.kind == TOKEN_WORD && token.length > 1
          && strspn (token.text, G_CSET_A_2_Z "_") >= token.length)
        return set_syntax_error (error, "%.*s is no code of an error; docs/errors.md lists them",
                                 (int) token.length, token.text);
    }
  g_autofree char *text = take_text (&rest);
  if (expect_end (rest, NULL))
    return set_syntax_error (error, "expected `expect error [CODE] [\"TEXT\"] STATEMENT`");
  g_autoptr (GError) found = NULL;
  g_autoptr (GString) ignored = g_string_new (NULL);
  if (session_run (session, rest, ignored, &found))
    return set_failed (error, "expected an error, but the statement succeeded");
  if (code >= 0 && (found->domain != XP_ERROR || found->code != code))
    return set_failed (error, "expected the error %s, found %s: %s", xp_error_name ((XpError) code),
                       xp_error_name ((XpError) found->code), found->message);
  if (text != NULL && strstr (found->message, text) == NULL)
    return set_failed (error, "expected an error with the text \"%s\", found: %s", text,
                       found->message);
  g_autoptr (XpReport) report = xp_report_error (found, NULL);
  g_autofree char *printed = xp_report_print (report, session->style);
  g_string_append (output, printed);
  return TRUE;
}

static gboolean
expect_text (Session *session, const char *text, const char *rest, GString *output, GError **error)
{
  gsize begin = output->len;
  if (!session_run (session, rest, output, error))
    return FALSE;
  return strstr (output->str + begin, text) != NULL
         || set_failed (error, "expected the text \"%s\" in the output", text);
}

/* How far two numbers are from each other: NaN from NaN, and infinity from itself, not at all. */
static double
distance (XpValue a, XpValue b)
{
  if (a.tag == XP_TAG_INT && b.tag == XP_TAG_INT)
    return (double) ((uint64_t) MAX (a.as.integer, b.as.integer)
                     - (uint64_t) MIN (a.as.integer, b.as.integer));
  double real[2], imaginary[2];
  xp_scalar_to_complex (a, &real[0], &imaginary[0]);
  xp_scalar_to_complex (b, &real[1], &imaginary[1]);
  if (xp_value_equal (a, b) || (isnan (real[0]) && isnan (real[1])))
    return 0;
  double result = hypot (real[0] - real[1], imaginary[0] - imaginary[1]);
  return isnan (result) ? (double) INFINITY : result;
}

static gboolean
compare_tensors (XpTensor *a, XpTensor *b, double tolerance, GError **error)
{
  g_autoptr (GString) shapes = g_string_new (NULL);
  XpTensor *both[] = { a, b };
  for (unsigned i = 0; i < 2; i++)
    {
      g_autofree char *text = xp_value_to_string (xp_value_tensor (both[i]));
      g_string_append_printf (shapes, "%s%s", i > 0 ? " and " : "", text);
      if (both[i]->layout != XP_STRIDED || both[i]->dl.device.device_type != kDLCPU)
        return set_failed (error,
                           "only strided tensors on the CPU are compared, found %s; use "
                           "aten::to_dense",
                           text);
    }
  gboolean same = a->dl.ndim == b->dl.ndim && xp_tensor_dtype (a) == xp_tensor_dtype (b);
  for (int i = 0; same && i < a->dl.ndim; i++)
    same = xp_tensor_size (a, i) == xp_tensor_size (b, i);
  if (!same)
    return set_failed (error, "the tensors differ in dtype or shape: %s", shapes->str);
  double most = 0;
  for (int64_t i = 0; i < a->numel; i++)
    {
      g_auto (XpValue) left = xp_tensor_get_element (a, i);
      g_auto (XpValue) right = xp_tensor_get_element (b, i);
      most = MAX (most, distance (left, right));
    }
  return most <= tolerance
         || set_failed (error, "the tensors differ by up to %g, more than %g", most, tolerance);
}

static gboolean
expect_same (Session *session, const char *rest, gboolean is_close, GError **error)
{
  g_auto (XpValue) a = XP_NONE;
  g_auto (XpValue) b = XP_NONE;
  g_auto (XpValue) tolerance = xp_value_float (is_close ? 1e-5 : 0);
  if (!session_read_one (session, &rest, &a, error)
      || !session_read_one (session, &rest, &b, error))
    return FALSE;
  if (is_close && !expect_end (rest, NULL) && !session_read_one (session, &rest, &tolerance, error))
    return FALSE;
  if (!expect_end (rest, error))
    return FALSE;
  if (a.tag == XP_TAG_TENSOR && b.tag == XP_TAG_TENSOR && xp_value_is_scalar (tolerance))
    return compare_tensors (a.as.tensor, b.as.tensor, xp_scalar_to_double (tolerance), error);
  if (is_close)
    return set_syntax_error (error, "expected `expect close TENSOR TENSOR [TOLERANCE]`");
  g_autofree char *left = xp_value_to_string (a);
  g_autofree char *right = xp_value_to_string (b);
  return xp_value_equal (a, b) || set_failed (error, "%s and %s differ", left, right);
}

gboolean
session_expect (Session *session, const char *rest, GString *output, GError **error)
{
  const char *after = rest;
  Token token;
  g_autofree char *text = take_text (&rest);
  if (text != NULL)
    return expect_text (session, text, rest, output, error);
  if (!token_read (&after, &token, error))
    return FALSE;
  xp_value_clear (&token.value);
  g_autofree char *word = g_strndup (token.text, token.length);
  if (strcmp (word, "error") == 0)
    return expect_error (session, after, output, error);
  if (strcmp (word, "equal") == 0 || strcmp (word, "close") == 0)
    return expect_same (session, after, word[0] == 'c', error);
  return set_syntax_error (error, "expected one of `expect error`, `expect equal`, `expect close`, "
                                  "`expect \"TEXT\"`");
}
