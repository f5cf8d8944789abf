/* SPDX-License-Identifier: MIT
 *
 * parse_literal.c: numbers and strings (reference 5.1 and 5.4).
 */
#include "schema/parser.h"

#include <errno.h>
#include <math.h>

/* A backslash and what it stands for. `\r` is ours: PyTorch prints it but does not read it. */
static const char escapes[256] = {
  ['\\'] = '\\', ['\''] = '\'', ['"'] = '"',  ['\n'] = '\n', ['a'] = '\a', ['b'] = '\b',
  ['f'] = '\f',  ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',  ['v'] = '\v',
};

/* Three octal digits, up to \377. */
static gboolean
read_octal (const char *digits, const char *end, char *byte)
{
  int number = 0;
  if (end - digits < 3)
    return FALSE;
  for (int i = 0; i < 3; i++)
    {
      if (digits[i] < '0' || digits[i] > '7')
        return FALSE;
      number = number * 8 + (digits[i] - '0');
    }
  *byte = (char) number;
  return number <= 0377;
}

/* Appends what the escape at @c stands for; returns what comes after it, or NULL. */
static const char *
read_escape (const char *c, const char *end, GString *bytes, const char **problem)
{
  char byte = escapes[(unsigned char) c[1]];
  if (byte != '\0')
    {
      g_string_append_c (bytes, byte);
      return c + 2;
    }
  if (c[1] == 'x')
    *problem = "unsupported hex specifier";
  else if (c[1] == 'u' || c[1] == 'U')
    *problem = "unsupported unicode specifier";
  else if (!read_octal (c + 1, end, &byte))
    *problem = " ill formed octal specifier"; /* with a blank before it, as PyTorch has it */
  else
    {
      g_string_append_c (bytes, byte);
      return c + 4;
    }
  return NULL;
}

gboolean
xp_parse_string (XpParser *parser, XpValue *value)
{
  const XpToken token = parser->lexer.token;
  const char *c = xp_lexer_text (&parser->lexer);
  unsigned n_quotes = token.length >= 6 && c[1] == c[0] && c[2] == c[0] ? 3 : 1;
  const char *end = c + token.length - n_quotes;
  const char *problem = NULL;
  g_autoptr (GString) bytes = g_string_sized_new (token.length);
  c += n_quotes;
  while (c != NULL && c < end)
    {
      if (*c == '\\')
        c = read_escape (c, end, bytes, &problem);
      else
        g_string_append_c (bytes, *c++);
    }
  if (c == NULL)
    {
      xp_parser_fail (parser, token, "%s", problem);
      return FALSE;
    }
  *value = xp_value_string_with_length (bytes->str, bytes->len);
  xp_lexer_next (&parser->lexer);
  return TRUE;
}

/* The text of a number: where it is, and what can be told from it. */
typedef struct
{
  XpToken token;
  const char *text;
  gboolean is_negative;
  gboolean is_imaginary;
  gboolean is_hexadecimal;
  gboolean is_whole; /* digits only: an int where the type does not say */
  gboolean has_point;
} NumberText;

static gboolean
read_number_text (XpParser *parser, NumberText *number)
{
  number->is_negative = xp_parser_take (parser, '-');
  number->token = parser->lexer.token;
  number->text = xp_lexer_text (&parser->lexer);
  if (!xp_parser_expect (parser, XP_TOKEN_NUMBER, "number"))
    return FALSE;
  const char *text = number->text;
  uint32_t n = number->token.length;
  number->is_imaginary = text[n - 1] == 'j';
  number->is_hexadecimal = n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  number->is_whole = !number->is_imaginary;
  number->has_point = FALSE;
  for (uint32_t i = 0; i < n; i++)
    {
      number->has_point |= text[i] == '.';
      gboolean is_digit = number->is_hexadecimal ? i < 2 || g_ascii_isxdigit (text[i])
                                                 : g_ascii_isdigit (text[i]);
      number->is_whole &= is_digit;
    }
  return TRUE;
}

static gboolean
read_double (XpParser *parser, const NumberText *number, double *value)
{
  errno = 0;
  double magnitude = g_ascii_strtod (number->text, NULL);
  if (errno == ERANGE && (isinf (magnitude) || magnitude == 0))
    {
      xp_parser_fail (parser, number->token, "the number is out of the range of float");
      return FALSE;
    }
  *value = number->is_negative ? -magnitude : magnitude;
  return TRUE;
}

static gboolean
fail_int_range (XpParser *parser, const NumberText *number)
{
  xp_parser_fail (parser, number->token, "the number is out of the range of int");
  return FALSE;
}

static gboolean
read_int (XpParser *parser, const NumberText *number, int64_t *value)
{
  errno = 0;
  uint64_t magnitude = g_ascii_strtoull (number->text, NULL, number->is_hexadecimal ? 16 : 10);
  uint64_t limit = (uint64_t) G_MAXINT64 + number->is_negative;
  if (errno == ERANGE || magnitude > limit)
    return fail_int_range (parser, number);
  *value = number->is_negative ? (int64_t) (0 - magnitude) : (int64_t) magnitude;
  return TRUE;
}

/* An int in scientific notation, as 1E5. A text with a point in it stays a float. */
static gboolean
read_scientific_int (XpParser *parser, const NumberText *number, XpValue *value)
{
  double whole;
  if (!read_double (parser, number, &whole))
    return FALSE;
  gboolean is_in_range = whole >= -0x1p63 && whole < 0x1p63;
  if (!number->has_point && !is_in_range)
    return fail_int_range (parser, number);
  if (number->has_point || whole != (double) (int64_t) whole)
    *value = xp_value_float (whole);
  else
    *value = xp_value_int ((int64_t) whole);
  return TRUE;
}

/* The imaginary part that may follow a real one, as in `0.+1.j`: the form in which complex numbers
 * are printed. PyTorch does not read it back. */
static gboolean
read_imaginary_part (XpParser *parser, double *imaginary, gboolean *found)
{
  XpLexer begin = parser->lexer;
  NumberText number;
  *found = FALSE;
  if (!xp_parser_at (parser, '+') && !xp_parser_at (parser, '-'))
    return TRUE;
  gboolean is_negative = xp_parser_at (parser, '-');
  xp_lexer_next (&parser->lexer);
  *found = xp_parser_at (parser, XP_TOKEN_NUMBER) && read_number_text (parser, &number)
           && number.is_imaginary;
  if (!*found)
    {
      parser->lexer = begin;
      return TRUE;
    }
  number.is_negative = is_negative;
  return read_double (parser, &number, imaginary);
}

static gboolean
read_real (XpParser *parser, const NumberText *number, XpTypeKind kind, XpValue *value)
{
  if (number->is_whole && kind != XP_TYPE_FLOAT && kind != XP_TYPE_COMPLEX)
    {
      *value = xp_value_int (0);
      return read_int (parser, number, &value->as.integer);
    }
  if (kind == XP_TYPE_INT)
    return read_scientific_int (parser, number, value);
  *value = xp_value_float (0);
  return read_double (parser, number, &value->as.number);
}

gboolean
xp_parse_number (XpParser *parser, XpTypeKind kind, XpValue *value)
{
  NumberText number;
  double imaginary = 0;
  gboolean is_complex;
  if (!read_number_text (parser, &number))
    return FALSE;
  if (number.is_imaginary)
    {
      if (!read_double (parser, &number, &imaginary))
        return FALSE;
      *value = xp_value_complex (0, imaginary);
      return TRUE;
    }
  if (!read_imaginary_part (parser, &imaginary, &is_complex))
    return FALSE;
  if (!is_complex && kind != XP_TYPE_COMPLEX)
    return read_real (parser, &number, kind, value);
  double real;
  if (!read_double (parser, &number, &real))
    return FALSE;
  *value = xp_value_complex (real, imaginary);
  return TRUE;
}
