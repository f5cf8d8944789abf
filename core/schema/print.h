/* SPDX-License-Identifier: MIT
 *
 * print.h: types as text.
 */
#pragma once

#include <crosspoint/schema.h>

typedef enum
{
  XP_FORM_CANONICAL, /* as a schema prints it */
  XP_FORM_UNSIZED    /* without the sizes of lists, which are no part of a type */
} XpTypeForm;

/* Appends @type with @alias, which may be NULL. */
void xp_append_type (GString *text, const XpType *type, const XpAlias *alias, XpTypeForm form);

/* (transfer full): @value as a message shows it: valid UTF-8, and cut short where it is long. */
char *xp_value_to_short_string (XpValue value);
