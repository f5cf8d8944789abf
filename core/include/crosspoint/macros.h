/* SPDX-License-Identifier: MIT
 *
 * macros.h: what every public header needs: visibility, branch placement, and the place a
 * registration stands at.
 */
#ifndef XP_MACROS_H
#define XP_MACROS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Exported from libcrosspoint. Everything else in it is hidden. */
#define XP_PUBLIC __attribute__ ((visibility ("default")))

/* A path that a healthy call does not take; kept out of the hot code. */
#define XP_COLD __attribute__ ((cold, noinline))

/* The number of elements of an array. */
#define XP_LENGTH(array) (sizeof (array) / sizeof ((array)[0]))

#define XP_STRINGIFY_(text) #text
#define XP_STRINGIFY(text) XP_STRINGIFY_ (text)
#define XP_PASTE_(a, b) a##b
#define XP_PASTE(a, b) XP_PASTE_ (a, b)

#endif
