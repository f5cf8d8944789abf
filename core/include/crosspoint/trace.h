/* SPDX-License-Identifier: MIT
 *
 * trace.h: which kernels a thread's calls went to, in PyTorch's format:
 *
 *    [callBoxed] op=[aten::linear], key=[CPU]
 *     [call] op=[aten::mm], key=[CPU]
 *
 * one line before each kernel runs, indented by the depth of calls. In every build; nothing
 * measurable while off. With CROSSPOINT_SHOW_DISPATCH_TRACE=1 in the environment every thread's
 * calls go to standard error.
 */
#ifndef XP_TRACE_H
#define XP_TRACE_H

#include <crosspoint/call.h>

G_BEGIN_DECLS

/**
 * XpTraceFunction:
 * @line: (transfer none): a line, without newline
 * @data: what xp_trace_begin() was given
 *
 * Takes a line of a trace. It runs inside of the call, and may not call operators itself.
 */
typedef void (*XpTraceFunction) (const char *line, void *data);

/**
 * xp_trace_begin:
 * @function: where the lines go
 * @data: given to @function
 *
 * Traces the calls of the calling thread until xp_trace_end(). Traces do not nest: the newest
 * function gets the lines.
 */
XP_PUBLIC void xp_trace_begin (XpTraceFunction function, void *data);

/**
 * xp_trace_end:
 *
 * Ends what xp_trace_begin() began on this thread.
 */
XP_PUBLIC void xp_trace_end (void);

G_END_DECLS

#endif
