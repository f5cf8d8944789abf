/* SPDX-License-Identifier: MIT
 *
 * dict.c: dictionaries. They are short: lookup is a walk.
 */
#include "value/object.h"

XpDict *
xp_dict_new (const XpValue *keys, const XpValue *values, size_t n)
{
  g_return_val_if_fail ((keys != NULL && values != NULL) || n == 0, NULL);
  g_return_val_if_fail (n <= G_MAXUINT32, NULL);
  for (size_t i = 0; i < n; i++)
    g_return_val_if_fail (keys[i].tag == XP_TAG_BOOL || keys[i].tag == XP_TAG_INT
                              || keys[i].tag == XP_TAG_FLOAT || keys[i].tag == XP_TAG_STRING,
                          NULL);
  XpDict *dict = xp_object_new (XP_TAG_DICT, sizeof *dict + n * sizeof *dict->entries);
  dict->length = n;
  for (size_t i = 0; i < n; i++)
    {
      dict->entries[i][0] = xp_value_ref (keys[i]);
      dict->entries[i][1] = xp_value_ref (values[i]);
    }
  return dict;
}

void
xp_dict_clear (XpDict *dict)
{
  for (size_t i = 0; i < dict->length; i++)
    xp_values_clear (dict->entries[i], 2);
}

XpValue
xp_value_dict (XpDict *dict)
{
  g_return_val_if_fail (dict != NULL, XP_NONE);
  return (XpValue){ XP_TAG_DICT, (uint32_t) dict->length, { .dict = dict } };
}

XpDict *
xp_dict_ref (XpDict *dict)
{
  return xp_object_ref (dict);
}

void
xp_dict_unref (XpDict *dict)
{
  xp_object_unref (dict);
}

size_t
xp_dict_length (const XpDict *dict)
{
  return dict->length;
}

void
xp_dict_entry (const XpDict *dict, size_t index, XpValue *key, XpValue *value)
{
  g_return_if_fail (dict != NULL && index < dict->length);
  *key = dict->entries[index][0];
  *value = dict->entries[index][1];
}

const XpValue *
xp_dict_lookup (const XpDict *dict, XpValue key)
{
  for (size_t i = 0; i < dict->length; i++)
    if (xp_value_equal (dict->entries[i][0], key))
      return &dict->entries[i][1];
  return NULL;
}
