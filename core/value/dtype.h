/* SPDX-License-Identifier: MIT
 *
 * dtype.h: one element type's facts, for the rest of the core.
 */
#pragma once

#include <crosspoint/dtype.h>

typedef struct
{
  const char *name;
  const char *message_name;
  uint8_t size;
  uint8_t category;
  uint8_t dlpack_code;
} XpDTypeFacts;

/* Never NULL; a dtype that is none has size 0. */
const XpDTypeFacts *xp_dtype_facts (XpDType dtype);
