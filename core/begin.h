/* SPDX-License-Identifier: MIT
 *
 * begin.h: what each layer does when the library is loaded.
 */
#pragma once

void xp_threads_begin (void);
void xp_special_kernels_begin (void);
void xp_table_begin (void);
void xp_trace_begin_from_environment (void);
void xp_plugin_records_begin (void);
void xp_foreign_begin (void);
void xp_cores_begin (void);
void xp_load_begin (void);
void xp_policy_begin (void);
void xp_hints_begin (void);
