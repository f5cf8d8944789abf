/* SPDX-License-Identifier: MIT
 *
 * tensor_text.c: tensors as PyTorch prints them.
 *
 * The elements that will be seen are first gathered from wherever they lie; one formatter is then
 * fitted to all of them, so that they line up, and they are printed in the order they were
 * gathered.
 */
#include "value/element.h"
#include "value/storage.h"

#include <math.h>
#include <string.h>

enum
{
  PRECISION = 4,    /* digits after the point */
  THRESHOLD = 1000, /* elements beyond which the middle of each dimension is left out */
  EDGE = 3,         /* elements that then remain at each end */
  LINE_WIDTH = 80,
  LONGEST_NUMBER = 32
};

/* How all numbers of a tensor are printed; the real and the imaginary parts have one each. */
typedef struct
{
  gboolean scientific;
  gboolean integral; /* no digits after the point */
  int width;
} Formatter;

typedef struct
{
  const XpTensor *tensor;
  gboolean summarize;
  GArray *parts[2];        /* XpValue: the numbers, or their real and imaginary parts */
  Formatter formatters[2]; /* for each of them */
  unsigned next;           /* the first that is not printed yet */
  GString *text;
} Printer;

static void
append_spaces (GString *text, int n)
{
  g_string_append_printf (text, "%*s", n, "");
}

/* How many entries of @dimension are seen; @folded says whether there are others between them. */
static int64_t
count_seen (const Printer *printer, int dimension, gboolean *folded)
{
  int64_t size = printer->tensor->dl.shape[dimension];
  *folded = printer->summarize && size > 2 * EDGE;
  return *folded ? 2 * EDGE : size;
}

/* Gathering. */

static gboolean
gather_element (Printer *printer, const char *at)
{
  XpDType dtype = xp_tensor_dtype (printer->tensor);
  const XpStorage *storage = xp_tensor_storage (printer->tensor);
  char element[16];
  if (storage->device.backend == XP_BACKEND_CPU)
    memcpy (element, at, xp_dtype_size (dtype));
  else if (!storage->klass->to_host (MAX (storage->device.index, 0), element, at,
                                     xp_dtype_size (dtype), NULL))
    return FALSE;
  XpValue value = xp_element_get (element, dtype);
  if (value.tag == XP_TAG_COMPLEX)
    {
      double real, imaginary;
      xp_scalar_to_complex (value, &real, &imaginary);
      xp_value_clear (&value);
      value = xp_value_float (imaginary);
      g_array_append_val (printer->parts[1], value);
      value = xp_value_float (real);
    }
  g_array_append_val (printer->parts[0], value);
  return TRUE;
}

static gboolean
gather (Printer *printer, int dimension, const char *at)
{
  const XpTensor *tensor = printer->tensor;
  if (dimension == tensor->dl.ndim)
    return gather_element (printer, at);
  gboolean folded;
  int64_t seen = count_seen (printer, dimension, &folded);
  for (int64_t i = 0; i < seen; i++)
    {
      int64_t index = folded && i >= EDGE ? tensor->dl.shape[dimension] - seen + i : i;
      int64_t offset = index > 0 ? index * tensor->dl.strides[dimension] : 0;
      if (!gather (printer, dimension + 1,
                   at + offset * (int64_t) xp_dtype_size (xp_tensor_dtype (tensor))))
        return FALSE;
    }
  return TRUE;
}

/* Whether the elements can be read at all: those of Meta cannot. */
static gboolean
has_elements (const XpTensor *tensor)
{
  const XpStorage *storage = xp_tensor_storage (tensor);
  return storage->device.backend == XP_BACKEND_CPU
         || (storage->klass->allocate != NULL && storage->klass->to_host != NULL);
}

/* Formatting. */

static void
print_number (const Formatter *formatter, XpValue value, char *buffer)
{
  if (value.tag == XP_TAG_BOOL)
    g_strlcpy (buffer, value.as.integer ? "True" : "False", LONGEST_NUMBER);
  else if (value.tag == XP_TAG_INT)
    g_snprintf (buffer, LONGEST_NUMBER, "%" G_GINT64_FORMAT, value.as.integer);
  else if (isnan (value.as.number))
    g_strlcpy (buffer, "nan", LONGEST_NUMBER);
  else if (isinf (value.as.number))
    g_strlcpy (buffer, value.as.number > 0 ? "inf" : "-inf", LONGEST_NUMBER);
  else
    {
      char format[8];
      g_snprintf (format, sizeof format, "%%.%d%c",
                  formatter->integral && !formatter->scientific ? 0 : PRECISION,
                  formatter->scientific ? 'e' : 'f');
      g_ascii_formatd (buffer, LONGEST_NUMBER, format, value.as.number);
      if (formatter->integral && !formatter->scientific)
        g_strlcat (buffer, ".", LONGEST_NUMBER);
    }
}

/* Zeros, infinities and NaN take what room the others have. */
static gboolean
is_measured (XpValue value)
{
  return value.tag != XP_TAG_FLOAT || (isfinite (value.as.number) && value.as.number != 0);
}

static void
formatter_fit (Formatter *formatter, const GArray *values)
{
  double least = INFINITY, most = 0;
  *formatter = (Formatter){ .integral = TRUE, .width = 1 };
  for (unsigned i = 0; i < values->len; i++)
    {
      XpValue value = g_array_index (values, XpValue, i);
      if (value.tag != XP_TAG_FLOAT || !is_measured (value))
        continue;
      double magnitude = fabs (value.as.number);
      least = MIN (least, magnitude);
      most = MAX (most, magnitude);
      formatter->integral &= magnitude >= 0x1p53 || magnitude == (double) (int64_t) magnitude;
    }
  formatter->scientific = most > 0
                          && (most / least > 1000 || most > 1e8
                              || (!formatter->integral && least < 1e-4));
  for (unsigned i = 0; i < values->len; i++)
    {
      XpValue value = g_array_index (values, XpValue, i);
      char buffer[LONGEST_NUMBER];
      if (!is_measured (value))
        continue;
      print_number (formatter, value, buffer);
      formatter->width = MAX (formatter->width, (int) strlen (buffer));
    }
}

/* Printing. */

static void
print_element (Printer *printer)
{
  char buffer[LONGEST_NUMBER];
  XpValue value = g_array_index (printer->parts[0], XpValue, printer->next);
  print_number (&printer->formatters[0], value, buffer);
  g_string_append_printf (printer->text, "%*s", printer->formatters[0].width, buffer);
  if (xp_dtype_category (xp_tensor_dtype (printer->tensor)) == XP_CATEGORY_COMPLEX)
    {
      value = g_array_index (printer->parts[1], XpValue, printer->next);
      print_number (&printer->formatters[1], value, buffer);
      g_string_append_printf (printer->text, "%s%sj", buffer[0] == '-' ? "" : "+", buffer);
    }
  printer->next++;
}

static void
print_vector (Printer *printer, int dimension, int indent)
{
  gboolean folded;
  int64_t seen = count_seen (printer, dimension, &folded);
  int room = printer->formatters[0].width + 2; /* with the comma and a space */
  if (xp_dtype_category (xp_tensor_dtype (printer->tensor)) == XP_CATEGORY_COMPLEX)
    room += printer->formatters[1].width + 1;
  int per_line = MAX ((LINE_WIDTH - indent) / room, 1);
  g_string_append_c (printer->text, '[');
  for (int64_t i = 0; i < seen + folded; i++)
    {
      if (i > 0 && i % per_line == 0)
        {
          g_string_append (printer->text, ",\n");
          append_spaces (printer->text, indent + 1);
        }
      else if (i > 0)
        g_string_append (printer->text, ", ");
      if (folded && i == EDGE)
        g_string_append (printer->text, " ...");
      else
        print_element (printer);
    }
  g_string_append_c (printer->text, ']');
}

static void
print_dimension (Printer *printer, int dimension, int indent)
{
  int left = printer->tensor->dl.ndim - dimension;
  if (left == 0)
    {
      print_element (printer);
      return;
    }
  if (left == 1)
    {
      print_vector (printer, dimension, indent);
      return;
    }
  gboolean folded;
  int64_t seen = count_seen (printer, dimension, &folded);
  g_string_append_c (printer->text, '[');
  for (int64_t i = 0; i < seen + folded; i++)
    {
      if (i > 0)
        {
          g_string_append_c (printer->text, ',');
          for (int line = 1; line < left; line++)
            g_string_append_c (printer->text, '\n');
          append_spaces (printer->text, indent + 1);
        }
      if (folded && i == EDGE)
        g_string_append (printer->text, "...");
      else
        print_dimension (printer, dimension + 1, indent + 1);
    }
  g_string_append_c (printer->text, ']');
}

char *
xp_tensor_elements_to_string (const XpTensor *tensor, int column)
{
  g_return_val_if_fail (tensor != NULL && tensor->layout == XP_STRIDED, NULL);
  if (!has_elements (tensor))
    return NULL;
  if (tensor->numel == 0)
    return g_strdup ("[]");
  Printer printer = { .tensor = tensor,
                      .summarize = tensor->numel > THRESHOLD,
                      .text = g_string_new (NULL) };
  for (int i = 0; i < 2; i++)
    printer.parts[i] = g_array_new (FALSE, FALSE, sizeof (XpValue));
  gboolean gathered = gather (&printer, 0, xp_tensor_data (tensor));
  if (gathered)
    {
      for (int i = 0; i < 2; i++)
        formatter_fit (&printer.formatters[i], printer.parts[i]);
      print_dimension (&printer, 0, column);
    }
  for (int i = 0; i < 2; i++)
    g_array_free (printer.parts[i], TRUE);
  return g_string_free (printer.text, !gathered);
}

/* What follows the elements. */

static char *
size_suffix (const XpTensor *tensor)
{
  GString *text = g_string_new ("size=(");
  for (int i = 0; i < tensor->dl.ndim; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", tensor->dl.shape[i]);
  g_string_append (text, tensor->dl.ndim == 1 ? ",)" : ")");
  return g_string_free (text, FALSE);
}

static gboolean
is_usual (XpDType dtype)
{
  return dtype == XP_FLOAT32 || dtype == XP_COMPLEX64 || dtype == XP_INT64 || dtype == XP_BOOL;
}

static void
append_suffixes (GString *text, const GPtrArray *suffixes, int indent)
{
  const char *line = strrchr (text->str, '\n');
  size_t column = (line != NULL ? strlen (line + 1) : text->len) + 2;
  for (unsigned i = 0; i < suffixes->len; i++)
    {
      const char *suffix = suffixes->pdata[i];
      if (column + strlen (suffix) + 2 > LINE_WIDTH)
        {
          g_string_append (text, ",\n");
          append_spaces (text, indent);
          column = (size_t) indent + strlen (suffix);
        }
      else
        {
          g_string_append (text, ", ");
          column += strlen (suffix) + 2;
        }
      g_string_append (text, suffix);
    }
}

char *
xp_tensor_to_string (const XpTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);
  const XpLayoutClass *klass = xp_tensor_layout_class (tensor);
  char *own = klass != NULL && klass->to_string != NULL ? klass->to_string (tensor) : NULL;
  if (own != NULL)
    return own;
  XpDType dtype = xp_tensor_dtype (tensor);
  GString *text = g_string_new ("tensor(");
  int indent = (int) text->len;
  gboolean is_strided = tensor->layout == XP_STRIDED;
  g_autofree char *elements = is_strided ? xp_tensor_elements_to_string (tensor, indent) : NULL;
  gboolean is_seen = elements != NULL;
  gboolean is_empty = is_seen && tensor->numel == 0;
  g_string_append (text, is_seen ? elements : "...");

  GPtrArray *suffixes = g_ptr_array_new_with_free_func (g_free);
  XpDevice device = xp_tensor_device (tensor);
  if (device.backend != XP_BACKEND_CPU)
    {
      g_autofree char *name = xp_device_to_string (device);
      g_ptr_array_add (suffixes, g_strdup_printf ("device='%s'", name));
    }
  if (!is_seen || (is_empty && tensor->dl.ndim != 1))
    g_ptr_array_add (suffixes, size_suffix (tensor));
  /* Where no element shows what it is, only float32 goes without saying. */
  if (is_empty || (!is_seen && is_strided) ? dtype != XP_FLOAT32 : !is_usual (dtype))
    g_ptr_array_add (suffixes, g_strconcat ("dtype=torch.", xp_dtype_name (dtype), NULL));
  if (!is_strided)
    g_ptr_array_add (
        suffixes, g_strconcat ("layout=torch.", xp_layout_name ((XpLayout) tensor->layout), NULL));
  if (tensor->flags & XP_TENSOR_REQUIRES_GRAD)
    g_ptr_array_add (suffixes, g_strdup ("requires_grad=True"));
  append_suffixes (text, suffixes, indent);
  g_ptr_array_free (suffixes, TRUE);
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}
