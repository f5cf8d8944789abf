/* SPDX-License-Identifier: MIT
 *
 * accept.h: whether and how a value becomes an argument of a type.
 */
#pragma once

#include <crosspoint/schema.h>

typedef enum
{
  XP_FIT_NONE,      /* the value is none for this type */
  XP_FIT_CONVERTED, /* it is, once converted */
  XP_FIT_SAME       /* it is, as it stands */
} XpFit;

XpFit xp_type_fit (const XpType *type, XpValue value);

/* (transfer full): @value as an argument of @type, which it fits. */
XpValue xp_type_convert (const XpType *type, XpValue value);
