/* SPDX-License-Identifier: MIT
 *
 * fuzz.h: what a fuzz target is: a function for any bytes, which aborts where a promise is broken.
 * libFuzzer calls it, or driver.c.
 */
#pragma once

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* The path of a file in memory that holds @data; it lives until @fd is closed. */
char *fuzz_file (const uint8_t *data, size_t size, int *fd);
