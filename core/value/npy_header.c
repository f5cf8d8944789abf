/* SPDX-License-Identifier: MIT
 *
 * npy_header.c: reads and writes the header of an .npy file: a Python dictionary that holds the
 * element type, the order and the shape. Only such a dictionary is understood, no other Python.
 */
#include "value/npy_header.h"

#include <string.h>

typedef struct
{
  const char *start;
  const char *at;
  const char *end;
  const char *name; /* of the file, for errors */
  GError **error;
} Parser;

/* NumPy's codes of the element types that both sides have. */
static const struct
{
  const char *code;
  XpDType dtype;
} codes[] = {
  { "b1", XP_BOOL },    { "u1", XP_UINT8 },     { "i1", XP_INT8 },        { "i2", XP_INT16 },
  { "i4", XP_INT32 },   { "i8", XP_INT64 },     { "f2", XP_FLOAT16 },     { "f4", XP_FLOAT32 },
  { "f8", XP_FLOAT64 }, { "c8", XP_COMPLEX64 }, { "c16", XP_COMPLEX128 },
};

/* Kinds of elements that NumPy can save and we cannot hold, by the letter of the code. */
static const struct
{
  char letter;
  const char *meaning;
} kinds[] = {
  { 'O', "Python objects" },
  { 'S', "byte strings" },
  { 'a', "byte strings" },
  { 'U', "text" },
  { 'V', "raw bytes, as bfloat16 is saved" },
  { 'M', "points in time" },
  { 'm', "spans of time" },
  { 'u', "unsigned integers of more than 8 bits" },
  { 'f', "floating-point numbers of another width" },
  { 'c', "complex numbers of another width" },
  { '[', "records" },
  { '(', "arrays within the array" },
};

char *
xp_npy_quote (const char *bytes, size_t length)
{
  enum
  {
    MOST = 40
  };
  GString *text = g_string_new (NULL);
  for (size_t i = 0; i < length && i < MOST; i++)
    if (g_ascii_isprint (bytes[i]))
      g_string_append_c (text, bytes[i]);
    else if (bytes[i] == '\n')
      g_string_append (text, "\\n");
    else
      g_string_append_printf (text, "\\x%02x", (unsigned char) bytes[i]);
  if (length > MOST)
    g_string_append (text, "…");
  return g_string_free (text, FALSE);
}

static gboolean
fail_at (Parser *parser, const char *expected)
{
  size_t left = (size_t) (parser->end - parser->at);
  g_autofree char *found = xp_npy_quote (parser->at, MIN (left, 20));
  xp_error_set (parser->error, XP_ERROR_FILE_FORMAT, NULL,
                "%s: the header does not parse: expected %s at byte %" G_GSIZE_FORMAT
                " of the dictionary, found %s%s%s",
                parser->name, expected, (size_t) (parser->at - parser->start),
                left > 0 ? "'" : "its end", found, left > 0 ? "'" : "");
  return FALSE;
}

static void
skip_spaces (Parser *parser)
{
  while (parser->at < parser->end && strchr (" \t\r\n\f", *parser->at) != NULL
         && *parser->at != '\0')
    parser->at++;
}

/* Steps over @c and the spaces around it, if it comes next. */
static gboolean
accept (Parser *parser, char c)
{
  skip_spaces (parser);
  if (parser->at == parser->end || *parser->at != c)
    return FALSE;
  parser->at++;
  skip_spaces (parser);
  return TRUE;
}

static gboolean
accept_word (Parser *parser, const char *word)
{
  size_t n = strlen (word);
  if ((size_t) (parser->end - parser->at) < n || memcmp (parser->at, word, n) != 0)
    return FALSE;
  if (parser->at + n < parser->end && g_ascii_isalnum (parser->at[n]))
    return FALSE;
  parser->at += n;
  return TRUE;
}

/* A string without escapes, in either kind of quotes. */
static gboolean
parse_string (Parser *parser, const char *expected, const char **text, size_t *length)
{
  if (parser->at == parser->end || (*parser->at != '\'' && *parser->at != '"'))
    return fail_at (parser, expected);
  char quote = *parser->at;
  const char *first = parser->at + 1, *last = first;
  while (last < parser->end && *last != quote && *last != '\\' && *last != '\n')
    last++;
  if (last == parser->end || *last != quote)
    return fail_at (parser, "a closed string without escapes");
  *text = first;
  *length = (size_t) (last - first);
  parser->at = last + 1;
  return TRUE;
}

static gboolean
set_unsupported (Parser *parser, const char *descr, size_t length, char kind)
{
  const char *meaning = "unknown";
  GString *supported = g_string_new (codes[0].code);
  g_autofree char *quoted = xp_npy_quote (descr, length);
  for (unsigned i = 0; i < XP_LENGTH (kinds); i++)
    if (kinds[i].letter == kind)
      meaning = kinds[i].meaning;
  for (unsigned i = 1; i < XP_LENGTH (codes); i++)
    g_string_append_printf (supported, ", %s", codes[i].code);
  xp_error_set (parser->error, XP_ERROR_FILE_FORMAT, NULL,
                "%s: the element type is %s (%s); expected one of %s in either byte order: convert "
                "the array with NumPy's astype() and save it again",
                parser->name, quoted, meaning, supported->str);
  g_string_free (supported, TRUE);
  return FALSE;
}

static gboolean
parse_descr (Parser *parser, XpNpyHeader *header)
{
  const char *text;
  size_t length;
  if (parser->at < parser->end && (*parser->at == '[' || *parser->at == '('))
    return set_unsupported (parser, parser->at, (size_t) (parser->end - parser->at), *parser->at);
  if (!parse_string (parser, "the code of an element type, as '<f4',", &text, &length))
    return FALSE;
  const char *code = text;
  size_t n = length;
  char order = '=';
  if (n > 0 && *code != '\0' && strchr ("<>=|", *code) != NULL)
    {
      order = *code++;
      n--;
    }
  for (unsigned i = 0; i < XP_LENGTH (codes); i++)
    if (strlen (codes[i].code) == n && memcmp (codes[i].code, code, n) == 0)
      {
        header->dtype = codes[i].dtype;
        header->swapped = order == (G_BYTE_ORDER == G_LITTLE_ENDIAN ? '>' : '<');
        return TRUE;
      }
  return set_unsupported (parser, text, length, n > 0 ? *code : '\0');
}

static gboolean
parse_order (Parser *parser, XpNpyHeader *header)
{
  header->fortran_order = accept_word (parser, "True");
  return header->fortran_order || accept_word (parser, "False")
         || fail_at (parser, "True or False for fortran_order");
}

static gboolean
parse_size (Parser *parser, int64_t *size)
{
  const char *start = parser->at;
  gboolean negative = parser->at < parser->end && *parser->at == '-';
  gboolean overflow = FALSE;
  parser->at += negative;
  const char *digits = parser->at;
  for (*size = 0; parser->at < parser->end && g_ascii_isdigit (*parser->at); parser->at++)
    overflow |= __builtin_mul_overflow (*size, 10, size)
                || __builtin_add_overflow (*size, *parser->at - '0', size);
  size_t n = (size_t) (parser->at - digits);
  if (n == 0 || (n > 1 && *digits == '0'))
    {
      parser->at = start;
      return fail_at (parser, "a size or ')' in the shape");
    }
  if ((negative && *size != 0) || overflow)
    {
      g_autofree char *found = xp_npy_quote (start, (size_t) (parser->at - start));
      xp_error_set (parser->error, XP_ERROR_FILE_FORMAT, NULL,
                    "%s: the shape has a size of %s; expected 0 to 2^63 - 1", parser->name, found);
      return FALSE;
    }
  /* Python 2 marked its long integers. */
  if (parser->at < parser->end && *parser->at == 'L')
    parser->at++;
  return TRUE;
}

static gboolean
parse_shape (Parser *parser, XpNpyHeader *header)
{
  XpShape *shape = &header->shape;
  gboolean comma = TRUE;
  shape->n_dims = 0;
  if (!accept (parser, '('))
    return fail_at (parser, "a shape in parentheses, as (2, 3),");
  while (!accept (parser, ')'))
    {
      int64_t size;
      if (!comma)
        return fail_at (parser, "',' or ')' in the shape");
      if (!parse_size (parser, &size))
        return FALSE;
      if (shape->n_dims == XP_MAX_DIMENSIONS)
        {
          xp_error_set (parser->error, XP_ERROR_FILE_FORMAT, NULL,
                        "%s: the shape has more than %d dimensions; expected at most as many",
                        parser->name, XP_MAX_DIMENSIONS);
          return FALSE;
        }
      shape->sizes[shape->n_dims++] = size;
      comma = accept (parser, ',');
      if (shape->n_dims == 1 && !comma) /* (3) is a number in Python, not a tuple */
        return fail_at (parser, "',' after the first size of the shape");
    }
  return TRUE;
}

static const struct
{
  const char *key;
  gboolean (*parse) (Parser *parser, XpNpyHeader *header);
} entries[] = {
  { "descr", parse_descr },
  { "fortran_order", parse_order },
  { "shape", parse_shape },
};

static gboolean
parse_entry (Parser *parser, XpNpyHeader *header, unsigned *seen)
{
  const char *key;
  size_t length;
  const char *start = parser->at;
  if (!parse_string (parser, "a key in quotes or '}'", &key, &length))
    return FALSE;
  for (unsigned i = 0; i < XP_LENGTH (entries); i++)
    {
      if (strlen (entries[i].key) != length || memcmp (entries[i].key, key, length) != 0)
        continue;
      if (*seen & 1u << i)
        break;
      *seen |= 1u << i;
      return accept (parser, ':') ? entries[i].parse (parser, header)
                                  : fail_at (parser, "':' after the key");
    }
  parser->at = start;
  return fail_at (parser, "each of the keys 'descr', 'fortran_order' and 'shape' once");
}

static gboolean
parse_dictionary (Parser *parser, XpNpyHeader *header)
{
  unsigned seen = 0;
  gboolean comma = TRUE;
  if (!accept (parser, '{'))
    return fail_at (parser, "'{'");
  while (!accept (parser, '}'))
    {
      if (!comma)
        return fail_at (parser, "',' or '}'");
      if (!parse_entry (parser, header, &seen))
        return FALSE;
      comma = accept (parser, ',');
    }
  for (unsigned i = 0; i < XP_LENGTH (entries); i++)
    if (!(seen & 1u << i))
      {
        xp_error_set (parser->error, XP_ERROR_FILE_FORMAT, NULL,
                      "%s: the header lacks '%s'; expected the keys 'descr', 'fortran_order' and "
                      "'shape'",
                      parser->name, entries[i].key);
        return FALSE;
      }
  return parser->at == parser->end || fail_at (parser, "nothing after '}'");
}

gboolean
xp_npy_parse_header (const char *text, size_t length, const char *name, XpNpyHeader *header,
                     GError **error)
{
  Parser parser = { text, text, text + length, name, error };
  if (!parse_dictionary (&parser, header))
    return FALSE;
  XpInts shape = xp_shape_ints (&header->shape);
  if (!xp_shape_numel (shape, &header->numel, NULL)
      || __builtin_mul_overflow (header->numel, (int64_t) xp_dtype_size (header->dtype),
                                 &header->n_bytes))
    {
      g_autofree char *sizes = xp_shape_to_string (shape);
      xp_error_set (
          error, XP_ERROR_FILE_FORMAT, NULL,
          "%s: a %s array of shape %s takes more than 2^63 - 1 bytes, which no file holds", name,
          xp_dtype_name (header->dtype), sizes);
      return FALSE;
    }
  return TRUE;
}

static const char *
code_of (XpDType dtype)
{
  for (unsigned i = 0; i < XP_LENGTH (codes); i++)
    if (codes[i].dtype == dtype)
      return codes[i].code;
  return NULL;
}

GString *
xp_npy_make_header (XpDType dtype, XpInts shape)
{
  enum
  {
    PREFIX = 10, /* magic, version, length of the header */
    ALIGNMENT = 64,
    GROWTH = 21 /* what NumPy leaves for the first size to grow to */
  };
  const char *code = code_of (dtype);
  if (code == NULL)
    return NULL;
  GString *header = g_string_new (NULL);
  g_string_append_printf (header, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                          xp_dtype_size (dtype) == 1 ? '|' : '<', code);
  for (size_t i = 0; i < shape.length; i++)
    g_string_append_printf (header, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", shape.data[i]);
  g_string_append (header, shape.length == 1 ? ",), }" : "), }");
  int padding = 0;
  if (shape.length > 0)
    padding = GROWTH - g_snprintf (NULL, 0, "%" G_GINT64_FORMAT, shape.data[0]);
  padding += ALIGNMENT - (int) ((PREFIX + header->len + (size_t) padding + 1) % ALIGNMENT);
  g_string_append_printf (header, "%*s\n", padding, "");
  char prefix[PREFIX] = {
    '\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char) (header->len & 0xff), (char) (header->len >> 8)
  };
  g_string_prepend_len (header, prefix, PREFIX);
  return header;
}
