/* SPDX-License-Identifier: MIT
 *
 * element.h: one element in memory, as a Scalar.
 */
#pragma once

#include <crosspoint/tensor.h>

/* Reads an element, which need not be aligned. A complex one is (transfer full). */
XpValue xp_element_get (const void *element, XpDType dtype);

/* Converts a Scalar and writes it. */
void xp_element_set (void *element, XpDType dtype, XpValue scalar);
