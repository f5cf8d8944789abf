/* SPDX-License-Identifier: MIT
 *
 * trace.c: a line for every call (reference, section 9).
 */
#include "begin.h"
#include "call/dispatch.h"
#include "threads/threads.h"

#include <crosspoint/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const labels[] = { [XP_CALL_TYPED] = "call",
                                      [XP_CALL_BOXED] = "callBoxed",
                                      [XP_CALL_REDISPATCH] = "redispatch",
                                      [XP_CALL_REDISPATCH_BOXED] = "redispatchBoxed" };

static __thread XpTraceFunction trace_function;
static __thread void *trace_data;

/* The environment asked for every thread's calls. */
static bool traces_all;

void
xp_trace_begin (XpTraceFunction function, void *data)
{
  g_return_if_fail (function != NULL);
  trace_function = function;
  trace_data = data;
  xp_thread_set_attention (XP_ATTENTION_TRACE, true);
}

void
xp_trace_end (void)
{
  trace_function = NULL;
  xp_thread_set_attention (XP_ATTENTION_TRACE, false);
}

void
xp_trace_call (const XpCall *call, XpCallKind kind)
{
  XpCall *end;
  XpCall *frames = xp_thread_frames (&end);
  g_autofree char *line = g_strdup_printf ("%*s[%s] op=[%s], key=[%s]", (int) (end - frames), "",
                                           labels[kind], xp_operator_name (call->op),
                                           xp_key_name (xp_call_key (call)));
  if (trace_function != NULL)
    trace_function (line, trace_data);
  else if (traces_all)
    fprintf (stderr, "%s\n", line);
}

void
xp_trace_begin_from_environment (void)
{
  const char *value = getenv ("CROSSPOINT_SHOW_DISPATCH_TRACE");
  if (value == NULL || strcmp (value, "0") == 0)
    return;
  if (strcmp (value, "1") != 0)
    {
      g_log_structured (
          G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "MESSAGE",
          "ignoring invalid value for CROSSPOINT_SHOW_DISPATCH_TRACE: %s valid values "
          "are 0 or 1.",
          value);
      return;
    }
  traces_all = true;
  xp_threads_set_attention (XP_ATTENTION_TRACE);
}
