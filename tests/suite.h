/* SPDX-License-Identifier: MIT
 *
 * suite.h: what every Check program of ours shares: it runs one suite and prints TAP.
 */
#pragma once

#include <check.h>
#include <crosspoint.h>

/* Whether a child may lock and allocate that was forked while another thread did. The sanitizers do
 * not take all of their own locks around fork(): AddressSanitizer's allocator waits in the child
 * for one that nobody there gives back, and so does ThreadSanitizer, in its allocator and already
 * in the library's fork handlers, when it is told of a mutex that another thread was just about to
 * lock. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#  define CAN_FORK_AMONG_THREADS 0
#else
#  define CAN_FORK_AMONG_THREADS 1
#endif

/* Runs @suite and frees it; the exit code of main(). */
int run_suite (Suite *suite);

/* Fails the test when @error is set, printing it; frees nothing. */
#define assert_no_error(error)                                                                     \
  ck_assert_msg ((error) == NULL, "unexpected error: %s", (error) ? (error)->message : "")

/* Fails unless @error is of XP_ERROR with @expected, whose text holds @part; clears it. */
#define assert_error(error, expected, part)                                                        \
  do                                                                                               \
    {                                                                                              \
      ck_assert_msg ((error) != NULL, "no error, expected %s", xp_error_name (expected));          \
      ck_assert_msg (g_error_matches ((error), XP_ERROR, (int) (expected)),                        \
                     "expected %s, got %s: %s", xp_error_name (expected),                          \
                     (error)->domain == XP_ERROR ? xp_error_name ((XpError) (error)->code) : "?",  \
                     (error)->message);                                                            \
      ck_assert_msg (strstr ((error)->message, (part)) != NULL, "'%s' is not in '%s'", (part),     \
                     (error)->message);                                                            \
      g_clear_error (&(error));                                                                    \
    }                                                                                              \
  while (0)

/* A file of the project's tests, relative to its source root; a static buffer. */
const char *source_path (const char *relative);
