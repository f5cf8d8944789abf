/* SPDX-License-Identifier: MIT
 *
 * complex_string.c: strings and complex numbers, the objects without parts.
 */
#include "value/object.h"

#include <string.h>

XpValue
xp_value_string_with_length (const char *text, size_t length)
{
  g_return_val_if_fail (text != NULL && length <= G_MAXUINT32, XP_NONE);
  XpString *string = xp_object_new (XP_TAG_STRING, sizeof *string + length + 1);
  string->length = length;
  memcpy (string->text, text, length);
  return (XpValue){ XP_TAG_STRING, (uint32_t) length, { .string = string } };
}

XpValue
xp_value_string (const char *text)
{
  g_return_val_if_fail (text != NULL, XP_NONE);
  return xp_value_string_with_length (text, strlen (text));
}

const char *
xp_string_text (const XpString *string)
{
  g_return_val_if_fail (string != NULL, NULL);
  return string->text;
}

XpValue
xp_value_complex (double real, double imaginary)
{
  XpComplex *number = xp_object_new (XP_TAG_COMPLEX, sizeof *number);
  number->real = real;
  number->imaginary = imaginary;
  return (XpValue){ XP_TAG_COMPLEX, 0, { .complex_ = number } };
}
