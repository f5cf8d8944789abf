/* SPDX-License-Identifier: MIT
 *
 * boxing.h: between values and the types of C: what the callers and adapters of a generated header
 * are made of.
 *
 * In typed form an argument of a plain type is passed by value; an optional one as a pointer that
 * is NULL for None; a Scalar as an XpValue; a list as an array and its length; a text as a C
 * string; and whatever has no form of its own, such as a dict or a list of texts, as the borrowed
 * XpValue that a boxed call has. A list is returned as an XpList, the rest as it is passed.
 */
#ifndef XP_BOXING_H
#define XP_BOXING_H

#include <crosspoint/call.h>

G_BEGIN_DECLS

/* --- From values. Each clears *@good where the value is of another type. ---------------------- */

static inline XpTensor *
xp_unbox_tensor (const XpValue *value, bool *good)
{
  *good &= value->tag == XP_TAG_TENSOR;
  return value->as.tensor;
}

static inline XpTensor *
xp_unbox_optional_tensor (const XpValue *value, bool *good)
{
  *good &= value->tag == XP_TAG_TENSOR || value->tag == XP_TAG_NONE;
  return value->tag == XP_TAG_TENSOR ? value->as.tensor : NULL;
}

static inline XpValue
xp_unbox_scalar (const XpValue *value, bool *good)
{
  *good &= xp_value_is_scalar (*value);
  return *value;
}

static inline const XpValue *
xp_unbox_optional_scalar (const XpValue *value, bool *good)
{
  *good &= xp_value_is_scalar (*value) || value->tag == XP_TAG_NONE;
  return value->tag == XP_TAG_NONE ? NULL : value;
}

static inline const char *
xp_unbox_string (const XpValue *value, bool *good)
{
  *good &= value->tag == XP_TAG_STRING;
  return value->tag == XP_TAG_STRING ? xp_string_text (value->as.string) : NULL;
}

static inline const char *
xp_unbox_optional_string (const XpValue *value, bool *good)
{
  *good &= value->tag == XP_TAG_STRING || value->tag == XP_TAG_NONE;
  return value->tag == XP_TAG_STRING ? xp_string_text (value->as.string) : NULL;
}

/* Of a type without a form of its own. */
static inline XpValue
xp_unbox_value (const XpValue *value, G_GNUC_UNUSED bool *good)
{
  return *value;
}

static inline XpGenerator *
xp_unbox_generator (const XpValue *value, bool *good)
{
  *good &= value->tag == XP_TAG_GENERATOR;
  return value->as.generator;
}

static inline XpGenerator *
xp_unbox_optional_generator (const XpValue *value, bool *good)
{
  *good &= value->tag == XP_TAG_GENERATOR || value->tag == XP_TAG_NONE;
  return value->tag == XP_TAG_GENERATOR ? value->as.generator : NULL;
}

/* A plain type: xp_unbox_NAME() and xp_unbox_optional_NAME(), which keeps the number in @storage.
 */
#define XP_UNBOX_PLAIN_(name, type, value_tag, expression, known)                                  \
  static inline type xp_unbox_##name (const XpValue *value, bool *good)                            \
  {                                                                                                \
    *good &= value->tag == value_tag && known;                                                     \
    return expression;                                                                             \
  }                                                                                                \
  static inline const type *xp_unbox_optional_##name (const XpValue *value, type *storage,         \
                                                      bool *good)                                  \
  {                                                                                                \
    *good &= value->tag == XP_TAG_NONE || (value->tag == value_tag && known);                      \
    *storage = expression;                                                                         \
    return value->tag == XP_TAG_NONE ? NULL : storage;                                             \
  }

XP_UNBOX_PLAIN_ (int, int64_t, XP_TAG_INT, value->as.integer, true)
XP_UNBOX_PLAIN_ (float, double, XP_TAG_FLOAT, value->as.number, true)
XP_UNBOX_PLAIN_ (bool, bool, XP_TAG_BOOL, value->as.integer != 0, true)
XP_UNBOX_PLAIN_ (dtype, XpDType, XP_TAG_DTYPE, (XpDType) value->as.integer,
                 xp_value_is_known (*value))
XP_UNBOX_PLAIN_ (layout, XpLayout, XP_TAG_LAYOUT, (XpLayout) value->as.integer,
                 xp_value_is_known (*value))
XP_UNBOX_PLAIN_ (memory_format, XpMemoryFormat, XP_TAG_MEMORY_FORMAT,
                 (XpMemoryFormat) value->as.integer, xp_value_is_known (*value))
XP_UNBOX_PLAIN_ (device, XpDevice, XP_TAG_DEVICE, value->as.device, xp_value_is_known (*value))

/* A list whose elements are stored plainly. */
#define XP_UNBOX_LIST_(name, type, elements)                                                       \
  static inline type xp_unbox_##name (const XpValue *value, bool *good)                            \
  {                                                                                                \
    type list = { NULL, 0 };                                                                       \
    if (value->tag == XP_TAG_LIST)                                                                 \
      {                                                                                            \
        list.data = elements (value->as.list);                                                     \
        list.length = xp_list_length (value->as.list);                                             \
      }                                                                                            \
    *good &= list.data != NULL;                                                                    \
    return list;                                                                                   \
  }                                                                                                \
  static inline const type *xp_unbox_optional_##name (const XpValue *value, type *storage,         \
                                                      bool *good)                                  \
  {                                                                                                \
    if (value->tag == XP_TAG_NONE)                                                                 \
      return NULL;                                                                                 \
    *storage = xp_unbox_##name (value, good);                                                      \
    return storage;                                                                                \
  }

XP_UNBOX_LIST_ (ints, XpInts, xp_list_ints)
XP_UNBOX_LIST_ (floats, XpFloats, xp_list_floats)
XP_UNBOX_LIST_ (bools, XpBools, xp_list_bools)
XP_UNBOX_LIST_ (tensors_or_none, XpTensors, xp_list_tensors)

/* Whether an element is %NULL, which only a list of optional tensors may have. */
static inline bool
xp_tensors_have_null (XpTensors tensors)
{
  for (size_t i = 0; i < tensors.length; i++)
    if (tensors.data[i] == NULL)
      return true;
  return false;
}

static inline XpTensors
xp_unbox_tensors (const XpValue *value, bool *good)
{
  XpTensors tensors = xp_unbox_tensors_or_none (value, good);
  *good &= !xp_tensors_have_null (tensors);
  return tensors;
}

static inline const XpTensors *
xp_unbox_optional_tensors (const XpValue *value, XpTensors *storage, bool *good)
{
  if (value->tag == XP_TAG_NONE)
    return NULL;
  *storage = xp_unbox_tensors (value, good);
  return storage;
}

/**
 * xp_unbox_failed:
 * @call: the call
 * @arguments: its arguments, one of which is of another type than the kernel takes
 * @error: return location for an error
 *
 * Sets %XP_ERROR_ARGUMENT, which names it.
 *
 * Returns: %XP_FAILED
 */
XP_PUBLIC XpStatus xp_unbox_failed (const XpCall *call, const XpValue *arguments, GError **error);

/**
 * xp_unbox_null:
 * @op: an operator
 * @argument: the name of an argument
 * @error: return location for an error
 *
 * Sets %XP_ERROR_ARGUMENT for a typed caller that gave %NULL for an argument, or an element of a
 * list, that is not optional.
 *
 * Returns: %XP_FAILED
 */
XP_PUBLIC XP_COLD XpStatus xp_unbox_null (const XpOperator *op, const char *argument,
                                          GError **error);

#define XP_UNBOX_BY_SCHEMA 0xff

/**
 * xp_unbox_results:
 * @op: an operator
 * @status: what the call gave
 * @results: its results
 * @tags: (array): the %XpTag each must have; 0 lets any Scalar pass, %XP_UNBOX_BY_SCHEMA what the
 *   schema says
 * @error: return location for an error
 *
 * Checks what a boxed kernel has returned, before a typed caller takes it.
 *
 * Returns: @status; %XP_FAILED, with %XP_ERROR_INTERNAL set and all results cleared, where a kernel
 *   has returned something else than its schema says
 */
XP_PUBLIC XpStatus xp_unbox_results (const XpOperator *op, XpStatus status, XpValue *results,
                                     const uint8_t *tags, GError **error);

/* --- To values. Those that make an object are (transfer full). -------------------------------- */

static inline XpValue
xp_box_scalar (XpValue scalar)
{
  return scalar;
}

static inline XpValue
xp_box_value (XpValue value)
{
  return value;
}

/* A returned list; None for %NULL. */
static inline XpValue
xp_box_list (XpList *list)
{
  return list != NULL ? xp_value_list (list) : XP_NONE;
}

static inline XpValue
xp_box_optional_scalar (const XpValue *scalar)
{
  return scalar != NULL ? *scalar : XP_NONE;
}

static inline XpValue
xp_box_string (const char *text)
{
  return text != NULL ? xp_value_string (text) : XP_NONE;
}

static inline XpValue
xp_box_generator (XpGenerator *generator)
{
  return generator != NULL ? xp_value_generator (generator) : XP_NONE;
}

#define XP_BOX_PLAIN_(name, type, make)                                                            \
  static inline XpValue xp_box_##name (type value)                                                 \
  {                                                                                                \
    return make;                                                                                   \
  }                                                                                                \
  static inline XpValue xp_box_optional_##name (const type *pointer)                               \
  {                                                                                                \
    return pointer != NULL ? xp_box_##name (*pointer) : XP_NONE;                                   \
  }

XP_BOX_PLAIN_ (int, int64_t, xp_value_int (value))
XP_BOX_PLAIN_ (float, double, xp_value_float (value))
XP_BOX_PLAIN_ (bool, bool, xp_value_bool (value))
XP_BOX_PLAIN_ (dtype, XpDType, xp_value_dtype (value))
XP_BOX_PLAIN_ (layout, XpLayout, xp_value_layout (value))
XP_BOX_PLAIN_ (memory_format, XpMemoryFormat, xp_value_memory_format (value))
XP_BOX_PLAIN_ (device, XpDevice, xp_value_device (value))
XP_BOX_PLAIN_ (ints, XpInts, xp_value_list (xp_list_new_int (value.data, value.length)))
XP_BOX_PLAIN_ (floats, XpFloats, xp_value_list (xp_list_new_float (value.data, value.length)))
XP_BOX_PLAIN_ (bools, XpBools, xp_value_list (xp_list_new_bool (value.data, value.length)))
XP_BOX_PLAIN_ (tensors, XpTensors, xp_value_list (xp_list_new_tensor (value.data, value.length)))

/* --- Keys. ------------------------------------------------------------------------------------ */

static inline XpKeySet
xp_keys_add_tensor (XpKeySet keys, const XpTensor *tensor)
{
  return tensor != NULL ? xp_key_set_union (keys, xp_tensor_keys (tensor)) : keys;
}

static inline XpKeySet
xp_keys_add_tensors (XpKeySet keys, XpTensors tensors)
{
  for (size_t i = 0; i < tensors.length; i++)
    keys = xp_keys_add_tensor (keys, tensors.data[i]);
  return keys;
}

/**
 * xp_keys_add_value:
 * @keys: a key set
 * @value: a value
 *
 * Returns: @keys and those of the tensors in @value, a tensor or a list, or a list of lists
 */
XP_PUBLIC XpKeySet xp_keys_add_value (XpKeySet keys, XpValue value);

G_END_DECLS

#endif
