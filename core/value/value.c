/* SPDX-License-Identifier: MIT
 *
 * value.c: values: their references, equality and text. The objects are in files of their own.
 */
#include "value/object.h"

#include <crosspoint/kernel.h>
#include <crosspoint/tensor.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void *
xp_object_new (XpTag tag, size_t size)
{
  XpObject *object = g_malloc0 (size);
  object->references = 1;
  object->tag = tag;
  return object;
}

void *
xp_object_ref (void *object)
{
  __atomic_fetch_add (&((XpObject *) object)->references, 1, __ATOMIC_RELAXED);
  return object;
}

void
xp_object_unref (void *pointer)
{
  XpObject *object = pointer;
  if (object == NULL || __atomic_fetch_sub (&object->references, 1, __ATOMIC_ACQ_REL) != 1)
    return;
  switch (object->tag)
    {
    case XP_TAG_LIST:
      xp_list_clear (pointer);
      break;
    case XP_TAG_DICT:
      xp_dict_clear (pointer);
      break;
    case XP_TAG_OPAQUE:
      {
        XpOpaque *opaque = pointer;
        if (opaque->destroy != NULL)
          opaque->destroy (opaque->data);
        break;
      }
    default:
      break;
    }
  g_free (object);
}

XpValue
xp_value_ref (XpValue value)
{
  if (value.tag == XP_TAG_TENSOR)
    xp_tensor_ref (value.as.tensor);
  else if (value.tag > XP_TAG_TENSOR)
    xp_object_ref (value.as.object);
  return value;
}

void
xp_value_clear (XpValue *value)
{
  g_return_if_fail (value != NULL);
  XpValue old = *value;
  *value = XP_NONE;
  if (old.tag == XP_TAG_TENSOR)
    xp_tensor_unref (old.as.tensor);
  else if (old.tag > XP_TAG_TENSOR)
    xp_object_unref (old.as.object);
}

void
xp_values_clear (XpValue *values, size_t n)
{
  for (size_t i = 0; i < n; i++)
    xp_value_clear (&values[i]);
}

XpValue
xp_value_generator (XpGenerator *generator)
{
  g_return_val_if_fail (generator != NULL, XP_NONE);
  return (XpValue){ XP_TAG_GENERATOR, 0, { .generator = generator } };
}

XpValue
xp_value_opaque (XpOpaque *opaque)
{
  g_return_val_if_fail (opaque != NULL, XP_NONE);
  return (XpValue){ XP_TAG_OPAQUE, 0, { .opaque = opaque } };
}

static gboolean
lists_equal (const XpList *a, const XpList *b)
{
  size_t n = xp_list_length (a);
  if (n != xp_list_length (b))
    return FALSE;
  for (size_t i = 0; i < n; i++)
    if (!xp_value_equal (xp_list_get (a, i), xp_list_get (b, i)))
      return FALSE;
  return TRUE;
}

static gboolean
dicts_equal (const XpDict *a, const XpDict *b)
{
  if (a->length != b->length)
    return FALSE;
  for (size_t i = 0; i < a->length; i++)
    {
      const XpValue *other = xp_dict_lookup (b, a->entries[i][0]);
      if (other == NULL || !xp_value_equal (a->entries[i][1], *other))
        return FALSE;
    }
  return TRUE;
}

/* Bit for bit, but that any NaN equals any NaN. */
static gboolean
numbers_equal (double a, double b)
{
  return memcmp (&a, &b, sizeof a) == 0 || (isnan (a) && isnan (b));
}

gboolean
xp_value_is_known (XpValue value)
{
  switch (value.tag)
    {
    case XP_TAG_DTYPE:
      return xp_dtype_is_valid (value.as.integer);
    case XP_TAG_LAYOUT:
      return value.as.integer >= 0 && value.as.integer <= XP_MKLDNN;
    case XP_TAG_MEMORY_FORMAT:
      return value.as.integer >= 0 && value.as.integer <= XP_CHANNELS_LAST_3D;
    case XP_TAG_DEVICE:
      return value.as.device.backend >= 0 && value.as.device.backend < 64;
    default:
      return TRUE;
    }
}

gboolean
xp_value_equal (XpValue a, XpValue b)
{
  if (a.tag != b.tag || a.length != b.length)
    return FALSE;
  switch (a.tag)
    {
    case XP_TAG_FLOAT:
      return numbers_equal (a.as.number, b.as.number);
    case XP_TAG_STRING:
      return memcmp (a.as.string->text, b.as.string->text, a.as.string->length) == 0;
    case XP_TAG_COMPLEX:
      return numbers_equal (a.as.complex_->real, b.as.complex_->real)
             && numbers_equal (a.as.complex_->imaginary, b.as.complex_->imaginary);
    case XP_TAG_LIST:
      return lists_equal (a.as.list, b.as.list);
    case XP_TAG_DICT:
      return dicts_equal (a.as.dict, b.as.dict);
    default:
      return a.as.bits == b.as.bits;
    }
}

const char *
xp_tag_name (XpTag tag)
{
  static const char *const names[XP_N_TAGS] = { [XP_TAG_NONE] = "NoneType",
                                                [XP_TAG_BOOL] = "bool",
                                                [XP_TAG_INT] = "int",
                                                [XP_TAG_FLOAT] = "float",
                                                [XP_TAG_DTYPE] = "ScalarType",
                                                [XP_TAG_LAYOUT] = "Layout",
                                                [XP_TAG_MEMORY_FORMAT] = "MemoryFormat",
                                                [XP_TAG_DEVICE] = "Device",
                                                [XP_TAG_TENSOR] = "Tensor",
                                                [XP_TAG_COMPLEX] = "complex",
                                                [XP_TAG_STRING] = "str",
                                                [XP_TAG_LIST] = "List",
                                                [XP_TAG_DICT] = "Dict",
                                                [XP_TAG_GENERATOR] = "Generator",
                                                [XP_TAG_OPAQUE] = "Capsule" };
  return (unsigned) tag < XP_N_TAGS ? names[tag] : "unknown";
}

/* The shortest text that reads back as @number, with an exponent where Python's repr() has one and
 * else with a point, so that it reads as a float. */
static void
append_number (GString *text, double number)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  if (isnan (number) || isinf (number))
    {
      g_string_append (text, isnan (number) ? "nan" : number > 0 ? "inf" : "-inf");
      return;
    }
  int decimals = 0; /* of the digits after the first */
  for (; decimals <= 16; decimals++)
    {
      g_snprintf (format, sizeof format, "%%.%de", decimals);
      g_ascii_formatd (buffer, sizeof buffer, format, number);
      if (g_ascii_strtod (buffer, NULL) == number)
        break;
    }
  int exponent = atoi (strchr (buffer, 'e') + 1);
  if (exponent >= -4 && exponent < 16)
    {
      g_snprintf (format, sizeof format, "%%.%df", MAX (decimals - exponent, 1));
      g_ascii_formatd (buffer, sizeof buffer, format, number);
    }
  g_string_append (text, buffer);
}

static void
append_quoted (GString *text, const XpString *string)
{
  g_string_append_c (text, '"');
  for (size_t i = 0; i < string->length; i++)
    {
      char c = string->text[i];
      if (c == '\n' || c == '\t')
        g_string_append (text, c == '\n' ? "\\n" : "\\t");
      else if (c == '\\' || c == '"')
        g_string_append_printf (text, "\\%c", c);
      else if ((unsigned char) c < 0x20)
        g_string_append_printf (text, "\\%03o", (unsigned char) c);
      else
        g_string_append_c (text, c);
    }
  g_string_append_c (text, '"');
}

static void
append_value (GString *text, XpValue value)
{
  switch (value.tag)
    {
    case XP_TAG_BOOL:
      g_string_append (text, value.as.integer ? "True" : "False");
      break;
    case XP_TAG_INT:
      g_string_append_printf (text, "%" G_GINT64_FORMAT, value.as.integer);
      break;
    case XP_TAG_FLOAT:
      append_number (text, value.as.number);
      break;
    case XP_TAG_COMPLEX:
      append_number (text, value.as.complex_->real);
      if (!signbit (value.as.complex_->imaginary))
        g_string_append_c (text, '+');
      append_number (text, value.as.complex_->imaginary);
      g_string_append_c (text, 'j');
      break;
    case XP_TAG_DTYPE:
      g_string_append (text, xp_dtype_name ((XpDType) value.as.integer));
      break;
    case XP_TAG_LAYOUT:
      g_string_append (text, xp_layout_name ((XpLayout) value.as.integer));
      break;
    case XP_TAG_MEMORY_FORMAT:
      g_string_append (text, xp_memory_format_name ((XpMemoryFormat) value.as.integer));
      break;
    case XP_TAG_DEVICE:
      {
        g_autofree char *device = xp_device_to_string (value.as.device);
        g_string_append (text, device);
        break;
      }
    case XP_TAG_STRING:
      append_quoted (text, value.as.string);
      break;
    case XP_TAG_TENSOR:
      {
        g_autofree char *shape = xp_shape_to_string (xp_tensor_shape (value.as.tensor));
        g_string_append_printf (text, "Tensor %s %s",
                                xp_dtype_name (xp_tensor_dtype (value.as.tensor)), shape);
        break;
      }
    case XP_TAG_LIST:
      g_string_append_c (text, '[');
      for (size_t i = 0; i < value.as.list->length; i++)
        {
          g_string_append (text, i > 0 ? ", " : "");
          append_value (text, xp_list_get (value.as.list, i));
        }
      g_string_append_c (text, ']');
      break;
    case XP_TAG_DICT:
      g_string_append_c (text, '{');
      for (size_t i = 0; i < value.as.dict->length; i++)
        {
          g_string_append (text, i > 0 ? ", " : "");
          append_value (text, value.as.dict->entries[i][0]);
          g_string_append (text, ": ");
          append_value (text, value.as.dict->entries[i][1]);
        }
      g_string_append_c (text, '}');
      break;
    case XP_TAG_GENERATOR:
      g_string_append_printf (text, "Generator seed %" G_GUINT64_FORMAT, value.as.generator->seed);
      break;
    case XP_TAG_OPAQUE:
      g_string_append (text, value.as.opaque->type_name);
      break;
    default:
      g_string_append (text, "None");
    }
}

char *
xp_value_to_string (XpValue value)
{
  GString *text = g_string_new (NULL);
  append_value (text, value);
  return g_string_free (text, FALSE);
}
