/* SPDX-License-Identifier: MIT
 *
 * begin.c: the one constructor of the library: its layers begin, lowest first.
 */
#include "begin.h"

__attribute__ ((constructor (101))) static void
begin (void)
{
  xp_threads_begin ();
  xp_special_kernels_begin ();
  xp_table_begin ();
  xp_trace_begin_from_environment ();
  xp_plugin_records_begin ();
  xp_foreign_begin ();
  xp_load_begin ();
  xp_hints_begin ();
  xp_cores_begin ();
}
