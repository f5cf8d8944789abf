/* SPDX-License-Identifier: MIT
 *
 * session.h: what a script or prompt keeps from one statement to the next, and running statements.
 */
#pragma once

#include "syntax.h"

#include <crosspoint-inspect.h>

typedef struct
{
  GHashTable *variables; /* name -> XpValue */
  XpReportStyle style;
  unsigned depth; /* of statements in statements, as `time 3 trace …` */
} Session;

Session *session_new (XpReportStyle style);
void session_free (Session *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Session, session_free)

/* Runs one statement; what it prints is appended to @output. An empty one does nothing. */
gboolean session_run (Session *session, const char *statement, GString *output, GError **error);

/* --- script.c --- */

/* Runs the statements of @text and prints as it goes. With @echo each line is printed before what
 * it gives. @line is the line of the statement that failed. */
gboolean session_run_script (Session *session, const char *text, gboolean echo, unsigned *line,
                             GError **error);

/* --- expect.c --- */

/* The statement `expect`, without its first word. */
gboolean session_expect (Session *session, const char *rest, GString *output, GError **error);

/* --- evaluate.c --- */

/* Evaluates @expression into @values, an array of XpValue that the caller owns: the results of a
 * call, else one value. @names are the schema's names of the results, or empty texts. */
gboolean session_evaluate (Session *session, const Expression *expression, GArray *values,
                           GPtrArray *names, GError **error);

/* The same where exactly one value is wanted. */
gboolean session_evaluate_one (Session *session, const Expression *expression, XpValue *value,
                               GError **error);

/* Calls an operator, whose overload may be left out where the arguments decide it, or, with
 * `@PLUGIN/KEY` behind its name, one kernel of it. */
gboolean session_call (const char *name_and_owner, const XpValue *positional, size_t n_positional,
                       const char *const *names, const XpValue *named, size_t n_named,
                       GArray *values, GPtrArray *result_names, GError **error);

/* An array of values that are cleared with it. */
GArray *values_new (void);

/* Parses and evaluates the expression at *@source, and moves behind it. */
gboolean session_read_one (Session *session, const char **source, XpValue *value, GError **error);

/* --- literal.c --- */

/* The tensor of nested lists. @dtype is -1 for the usual one. */
XpTensor *tensor_from_value (XpValue value, int dtype, GError **error);
