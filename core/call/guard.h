/* SPDX-License-Identifier: MIT
 *
 * guard.h: what stands before a kernel that does not take all that its schema allows (xp_takes()).
 */
#pragma once

#include "call/dispatch.h"

/* The reason it gives for declining a call, in whose place xp_guard_explain() has the words. */
extern const char xp_guard_reason[];

/* Appends why the kernel of @registration does not take these arguments; gives the code of the
 * error that it is, where no other kernel takes them. */
XpError xp_guard_explain (const XpOperator *op, const Registration *registration,
                          const XpValue *arguments, GString *text);

XpStatus xp_guard_kernel (XpCall *call, const XpValue *arguments, XpValue *results, GError **error);
