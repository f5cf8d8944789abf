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

float xp_float_from_half (uint16_t bits);
uint16_t xp_float_to_half (float number);
float xp_float_from_bfloat16 (uint16_t bits);
uint16_t xp_float_to_bfloat16 (float number);
