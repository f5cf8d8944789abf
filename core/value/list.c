/* SPDX-License-Identifier: MIT
 *
 * list.c: lists, which store ints, floats, bools and tensors plainly and anything else as values.
 */
#include "value/object.h"

#include <crosspoint/tensor.h>
#include <string.h>

static size_t
element_size (XpTag tag)
{
  switch (tag)
    {
    case XP_TAG_INT:
      return sizeof (int64_t);
    case XP_TAG_FLOAT:
      return sizeof (double);
    case XP_TAG_BOOL:
      return sizeof (bool);
    case XP_TAG_TENSOR:
      return sizeof (XpTensor *);
    default:
      return sizeof (XpValue);
    }
}

static XpList *
list_new (XpTag element_tag, size_t n)
{
  XpList *list = xp_object_new (XP_TAG_LIST, sizeof *list + n * element_size (element_tag));
  list->element_tag = element_tag;
  list->length = n;
  return list;
}

void
xp_list_clear (XpList *list)
{
  for (size_t i = 0; i < list->length; i++)
    if (list->element_tag == XP_TAG_TENSOR)
      xp_tensor_unref (list->elements.tensors[i]);
    else if (list->element_tag == XP_TAG_NONE)
      xp_value_clear (&list->elements.values[i]);
}

/* How a list of these values is stored. */
static XpTag
common_tag (const XpValue *values, size_t n)
{
  XpTag tag = XP_TAG_NONE;
  gboolean has_none = FALSE;
  for (size_t i = 0; i < n; i++)
    {
      if (values[i].tag == XP_TAG_NONE)
        has_none = TRUE;
      else if (tag == XP_TAG_NONE)
        tag = (XpTag) values[i].tag;
      else if (tag != (XpTag) values[i].tag)
        return XP_TAG_NONE;
    }
  if (tag == XP_TAG_TENSOR)
    return tag;
  gboolean plain = tag == XP_TAG_INT || tag == XP_TAG_FLOAT || tag == XP_TAG_BOOL;
  return plain && !has_none ? tag : XP_TAG_NONE;
}

XpList *
xp_list_new (const XpValue *values, size_t n)
{
  g_return_val_if_fail (values != NULL || n == 0, NULL);
  g_return_val_if_fail (n <= G_MAXUINT32, NULL);
  XpList *list = list_new (common_tag (values, n), n);
  for (size_t i = 0; i < n; i++)
    switch (list->element_tag)
      {
      case XP_TAG_INT:
        list->elements.integers[i] = values[i].as.integer;
        break;
      case XP_TAG_FLOAT:
        list->elements.numbers[i] = values[i].as.number;
        break;
      case XP_TAG_BOOL:
        list->elements.bools[i] = values[i].as.integer != 0;
        break;
      case XP_TAG_TENSOR:
        list->elements.tensors[i] = values[i].tag == XP_TAG_TENSOR
                                        ? xp_tensor_ref (values[i].as.tensor)
                                        : NULL;
        break;
      default:
        list->elements.values[i] = xp_value_ref (values[i]);
      }
  return list;
}

static XpList *
list_new_plain (XpTag tag, const void *elements, size_t n)
{
  g_return_val_if_fail (elements != NULL || n == 0, NULL);
  g_return_val_if_fail (n <= G_MAXUINT32, NULL);
  XpList *list = list_new (tag, n);
  if (n > 0)
    memcpy (&list->elements, elements, n * element_size (tag));
  return list;
}

XpList *
xp_list_new_int (const int64_t *elements, size_t n)
{
  return list_new_plain (XP_TAG_INT, elements, n);
}

XpList *
xp_list_new_float (const double *elements, size_t n)
{
  return list_new_plain (XP_TAG_FLOAT, elements, n);
}

XpList *
xp_list_new_bool (const bool *elements, size_t n)
{
  return list_new_plain (XP_TAG_BOOL, elements, n);
}

XpList *
xp_list_new_tensor (XpTensor *const *elements, size_t n)
{
  XpList *list = list_new_plain (XP_TAG_TENSOR, elements, n);
  for (size_t i = 0; list != NULL && i < n; i++)
    if (elements[i] != NULL)
      xp_tensor_ref (elements[i]);
  return list;
}

XpValue
xp_value_list (XpList *list)
{
  g_return_val_if_fail (list != NULL, XP_NONE);
  return (XpValue){ XP_TAG_LIST, (uint32_t) list->length, { .list = list } };
}

XpList *
xp_list_ref (XpList *list)
{
  return xp_object_ref (list);
}

void
xp_list_unref (XpList *list)
{
  xp_object_unref (list);
}

size_t
xp_list_length (const XpList *list)
{
  return list->length;
}

XpTag
xp_list_element_tag (const XpList *list)
{
  return list->length > 0 ? (XpTag) list->element_tag : XP_TAG_NONE;
}

XpValue
xp_list_get (const XpList *list, size_t index)
{
  g_return_val_if_fail (list != NULL && index < list->length, XP_NONE);
  switch (list->element_tag)
    {
    case XP_TAG_INT:
      return xp_value_int (list->elements.integers[index]);
    case XP_TAG_FLOAT:
      return xp_value_float (list->elements.numbers[index]);
    case XP_TAG_BOOL:
      return xp_value_bool (list->elements.bools[index]);
    case XP_TAG_TENSOR:
      return xp_value_tensor (list->elements.tensors[index]);
    default:
      return list->elements.values[index];
    }
}

static const void *
plain_elements (const XpList *list, XpTag tag)
{
  return list->element_tag == tag || list->length == 0 ? &list->elements : NULL;
}

const int64_t *
xp_list_ints (const XpList *list)
{
  return plain_elements (list, XP_TAG_INT);
}

const double *
xp_list_floats (const XpList *list)
{
  return plain_elements (list, XP_TAG_FLOAT);
}

const bool *
xp_list_bools (const XpList *list)
{
  return plain_elements (list, XP_TAG_BOOL);
}

XpTensor *const *
xp_list_tensors (const XpList *list)
{
  return plain_elements (list, XP_TAG_TENSOR);
}
