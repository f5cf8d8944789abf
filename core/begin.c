/* SPDX-License-Identifier: MIT
 *
 * begin.c: the one constructor of the library: its layers begin, lowest first.
 */
#include "begin.h"

#include <crosspoint/error.h>

__attribute__ ((constructor (101))) static void
begin (void)
{
  /* Not first when the first error is made: a child that is forked meanwhile would wait for it. */
  xp_error_quark ();
  xp_threads_begin ();
  xp_special_kernels_begin ();
  xp_table_begin ();
  xp_trace_begin_from_environment ();
  xp_plugin_records_begin ();
  xp_foreign_begin ();
  xp_load_begin ();
  xp_policy_begin ();
  xp_hints_begin ();
  xp_cores_begin ();
}
