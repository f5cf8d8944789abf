/* SPDX-License-Identifier: MIT
 *
 * special.c: the kernels in cells that have none of their own: each raises its error, or resolves
 * again. A call finds a kernel in every cell and tests for nothing.
 */
#include "table/row.h"

XpKernel xp_special_kernels[XP_N_SPECIALS];
XpBoxedFunction xp_guard;

const char *
xp_rule_label (XpRule rule)
{
#define LABEL(enumerator, label) label,
  static const char *const labels[] = { XP_RULE_LIST (LABEL) };
  return (unsigned) rule < XP_N_RULES ? labels[rule] : "unknown";
}
