/* SPDX-License-Identifier: MIT
 *
 * accept.c: which values a call may pass for a type, and their conversion. Kernels get each value
 * in one form only: a float is never an int, an `int[2]` always a list.
 */
#include "schema/accept.h"

#include "schema/type.h"

#include <string.h>

/* The tag that a kind without parameters takes as it stands; None for those with rules of their
 * own. */
static const uint8_t tags[XP_N_PLAIN_TYPES] = {
  [XP_TYPE_TENSOR] = XP_TAG_TENSOR,
  [XP_TYPE_INT] = XP_TAG_INT,
  [XP_TYPE_SYM_INT] = XP_TAG_INT,
  [XP_TYPE_FLOAT] = XP_TAG_FLOAT,
  [XP_TYPE_BOOL] = XP_TAG_BOOL,
  [XP_TYPE_SYM_BOOL] = XP_TAG_BOOL,
  [XP_TYPE_COMPLEX] = XP_TAG_COMPLEX,
  [XP_TYPE_STR] = XP_TAG_STRING,
  [XP_TYPE_SCALAR_TYPE] = XP_TAG_DTYPE,
  [XP_TYPE_LAYOUT] = XP_TAG_LAYOUT,
  [XP_TYPE_MEMORY_FORMAT] = XP_TAG_MEMORY_FORMAT,
  [XP_TYPE_DEVICE] = XP_TAG_DEVICE,
  [XP_TYPE_DEVICE_INDEX] = XP_TAG_INT,
  [XP_TYPE_GENERATOR] = XP_TAG_GENERATOR,
  [XP_TYPE_DIMNAME] = XP_TAG_STRING,
  [XP_TYPE_CONST_QUANTIZER] = XP_TAG_INT,
  [XP_TYPE_CAPSULE] = XP_TAG_OPAQUE,
  [XP_TYPE_ANY_CLASS] = XP_TAG_OPAQUE,
};

/* Texts. Each stores the value that a text names, and says whether it names one. */

static gboolean
read_dtype (const char *text, XpValue *value)
{
  XpDType dtype;
  gboolean good = xp_dtype_parse (text, &dtype);
  *value = good ? xp_value_dtype (dtype) : XP_NONE;
  return good;
}

static gboolean
read_layout (const char *text, XpValue *value)
{
  XpLayout layout;
  gboolean good = xp_layout_parse (text, &layout);
  *value = good ? xp_value_layout (layout) : XP_NONE;
  return good;
}

static gboolean
read_memory_format (const char *text, XpValue *value)
{
  XpMemoryFormat format;
  gboolean good = xp_memory_format_parse (text, &format);
  *value = good ? xp_value_memory_format (format) : XP_NONE;
  return good;
}

static gboolean
read_device (const char *text, XpValue *value)
{
  XpDevice device;
  gboolean good = xp_device_parse (text, &device, NULL);
  *value = good ? xp_value_device (device) : XP_NONE;
  return good;
}

static gboolean
read_text (XpTypeKind kind, XpValue text, XpValue *value)
{
  const char *bytes = xp_string_text (text.as.string);
  if (strlen (bytes) != text.length)
    return FALSE;
  switch (kind)
    {
    case XP_TYPE_SCALAR_TYPE:
      return read_dtype (bytes, value);
    case XP_TYPE_LAYOUT:
      return read_layout (bytes, value);
    case XP_TYPE_MEMORY_FORMAT:
      return read_memory_format (bytes, value);
    case XP_TYPE_DEVICE:
      return read_device (bytes, value);
    default:
      return FALSE;
    }
}

static XpFit
fit_when (gboolean condition, XpFit fit)
{
  return condition ? fit : XP_FIT_NONE;
}

static XpFit
fit_plain (XpTypeKind kind, XpValue value)
{
  XpValue read;
  if (value.tag != XP_TAG_NONE && value.tag == tags[kind])
    return fit_when (xp_value_is_known (value), XP_FIT_SAME);
  switch (kind)
    {
    case XP_TYPE_ANY:
      return XP_FIT_SAME;
    case XP_TYPE_NONE:
    case XP_TYPE_NONE_TYPE:
      return fit_when (value.tag == XP_TAG_NONE, XP_FIT_SAME);
    case XP_TYPE_SCALAR:
      return fit_when (xp_value_is_scalar (value), XP_FIT_SAME);
    case XP_TYPE_FLOAT:
      return fit_when (value.tag == XP_TAG_INT || value.tag == XP_TAG_BOOL, XP_FIT_CONVERTED);
    case XP_TYPE_COMPLEX:
      return fit_when (value.tag == XP_TAG_INT || value.tag == XP_TAG_FLOAT, XP_FIT_CONVERTED);
    case XP_TYPE_SCALAR_TYPE:
    case XP_TYPE_LAYOUT:
    case XP_TYPE_MEMORY_FORMAT:
    case XP_TYPE_DEVICE:
      return fit_when (value.tag == XP_TAG_STRING && read_text (kind, value, &read),
                       XP_FIT_CONVERTED);
    default:
      return fit_when (
          tags[kind] == XP_TAG_NONE && value.tag == XP_TAG_OPAQUE
              && strcmp (xp_opaque_type_name (value.as.opaque), xp_type_plain_name (kind)) == 0,
          XP_FIT_SAME);
    }
}

static gboolean
is_number_kind (XpTypeKind kind)
{
  return kind == XP_TYPE_SCALAR || kind == XP_TYPE_FLOAT || kind == XP_TYPE_COMPLEX
         || kind == XP_TYPE_BOOL || kind == XP_TYPE_INT || kind == XP_TYPE_SYM_INT
         || kind == XP_TYPE_SYM_BOOL;
}

/* Whether a list of @type wants its tensors in a plain array. */
static gboolean
is_tensor_list (const XpType *type)
{
  const XpType *element = type->elements[0];
  if (element->kind == XP_TYPE_OPTIONAL)
    element = element->elements[0];
  return element->kind == XP_TYPE_TENSOR;
}

static XpFit
fit_list (const XpType *type, XpValue value)
{
  const XpType *element = type->elements[0];
  if (value.tag != XP_TAG_LIST)
    return fit_when (type->fixed_size > 0 && is_number_kind (element->kind)
                         && xp_type_fit (element, value) != XP_FIT_NONE,
                     XP_FIT_CONVERTED);
  const XpList *list = value.as.list;
  size_t n = xp_list_length (list);
  if (n == 0)
    return XP_FIT_SAME;
  XpTag tag = xp_list_element_tag (list);
  if (tag != XP_TAG_NONE && tag != XP_TAG_TENSOR)
    n = 1; /* all are of one kind */
  XpFit fit = is_tensor_list (type) && tag != XP_TAG_TENSOR ? XP_FIT_CONVERTED : XP_FIT_SAME;
  for (size_t i = 0; i < n && fit != XP_FIT_NONE; i++)
    fit = MIN (fit, xp_type_fit (element, xp_list_get (list, i)));
  return fit;
}

static XpFit
fit_tuple (const XpType *type, XpValue value)
{
  if (value.tag != XP_TAG_LIST || xp_list_length (value.as.list) != type->n_elements)
    return XP_FIT_NONE;
  XpFit fit = XP_FIT_SAME;
  for (uint32_t i = 0; i < type->n_elements && fit != XP_FIT_NONE; i++)
    fit = MIN (fit, xp_type_fit (type->elements[i], xp_list_get (value.as.list, i)));
  return fit;
}

/* The best fit among the types of a Union. */
static XpFit
fit_union (const XpType *type, XpValue value)
{
  XpFit fit = XP_FIT_NONE;
  for (uint32_t i = 0; i < type->n_elements && fit != XP_FIT_SAME; i++)
    fit = MAX (fit, xp_type_fit (type->elements[i], value));
  return fit;
}

static XpFit
fit_opaque (const XpType *type, XpValue value)
{
  if (value.tag != XP_TAG_OPAQUE)
    return XP_FIT_NONE;
  g_autofree char *name = xp_type_to_string (type);
  return fit_when (strcmp (xp_opaque_type_name (value.as.opaque), name) == 0, XP_FIT_SAME);
}

XpFit
xp_type_fit (const XpType *type, XpValue value)
{
  switch (type->kind)
    {
    case XP_TYPE_OPTIONAL:
      return value.tag == XP_TAG_NONE ? XP_FIT_SAME : xp_type_fit (type->elements[0], value);
    case XP_TYPE_LIST:
      return fit_list (type, value);
    case XP_TYPE_TUPLE:
      return fit_tuple (type, value);
    case XP_TYPE_DICT:
      return fit_when (value.tag == XP_TAG_DICT, XP_FIT_SAME);
    case XP_TYPE_UNION:
      return fit_union (type, value);
    case XP_TYPE_VARIABLE:
      return XP_FIT_SAME;
    case XP_TYPE_FUTURE:
    case XP_TYPE_RREF:
    case XP_TYPE_AWAIT:
    case XP_TYPE_CLASS:
      return fit_opaque (type, value);
    default:
      return fit_plain (type->kind, value);
    }
}

gboolean
xp_type_accepts (const XpType *type, XpValue value)
{
  g_return_val_if_fail (type != NULL, FALSE);
  return xp_type_fit (type, value) != XP_FIT_NONE;
}

/* A list of @n values that are given away. */
static XpValue
list_of (XpValue *values, size_t n)
{
  XpList *list = xp_list_new (values, n);
  xp_values_clear (values, n);
  g_free (values);
  return xp_value_list (list);
}

/* Tensors in a plain array, also where all of them are None. */
static XpValue
convert_tensor_list (const XpList *from)
{
  size_t n = xp_list_length (from);
  XpTensor **tensors = g_new0 (XpTensor *, n);
  for (size_t i = 0; i < n; i++)
    {
      XpValue element = xp_list_get (from, i);
      tensors[i] = element.tag == XP_TAG_TENSOR ? element.as.tensor : NULL;
    }
  XpList *list = xp_list_new_tensor (tensors, n);
  g_free (tensors);
  return xp_value_list (list);
}

static XpValue
convert_list (const XpType *type, XpValue value)
{
  const XpType *element = type->elements[0];
  gboolean is_list = value.tag == XP_TAG_LIST;
  if (is_list && is_tensor_list (type))
    return convert_tensor_list (value.as.list);
  size_t n = is_list ? xp_list_length (value.as.list) : (size_t) type->fixed_size;
  XpValue *values = g_new (XpValue, n);
  for (size_t i = 0; i < n; i++)
    values[i] = xp_type_convert (element, is_list ? xp_list_get (value.as.list, i) : value);
  return list_of (values, n);
}

static XpValue
convert_tuple (const XpType *type, XpValue value)
{
  size_t n = type->n_elements;
  XpValue *values = g_new (XpValue, n);
  for (size_t i = 0; i < n; i++)
    values[i] = xp_type_convert (type->elements[i], xp_list_get (value.as.list, i));
  return list_of (values, n);
}

/* None of the types takes @value as it stands, so the first that takes it converts it. */
static XpValue
convert_for_union (const XpType *type, XpValue value)
{
  uint32_t i = 0;
  while (xp_type_fit (type->elements[i], value) == XP_FIT_NONE)
    i++;
  return xp_type_convert (type->elements[i], value);
}

static XpValue
convert_plain (XpTypeKind kind, XpValue value)
{
  XpValue read = XP_NONE;
  if (kind == XP_TYPE_FLOAT)
    return xp_value_float (xp_scalar_to_double (value));
  if (kind == XP_TYPE_COMPLEX)
    return xp_value_complex (xp_scalar_to_double (value), 0);
  read_text (kind, value, &read);
  return read;
}

XpValue
xp_type_convert (const XpType *type, XpValue value)
{
  if (xp_type_fit (type, value) == XP_FIT_SAME)
    return xp_value_ref (value);
  switch (type->kind)
    {
    case XP_TYPE_OPTIONAL:
      return xp_type_convert (type->elements[0], value);
    case XP_TYPE_LIST:
      return convert_list (type, value);
    case XP_TYPE_TUPLE:
      return convert_tuple (type, value);
    case XP_TYPE_UNION:
      return convert_for_union (type, value);
    default:
      return convert_plain (type->kind, value);
    }
}
