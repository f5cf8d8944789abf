/* SPDX-License-Identifier: MIT
 *
 * crosspoint-inspect.h: what people look at: the table, plugins, schemas, results, errors. Each is
 * a report: one model, as JSON, that is printed as text or as it is.
 */
#ifndef CROSSPOINT_INSPECT_H
#define CROSSPOINT_INSPECT_H

#include <crosspoint.h>

G_BEGIN_DECLS

/**
 * XpReport:
 *
 * An answer, which prints as text and as JSON. What the text says, the JSON holds.
 */
typedef struct XpReport XpReport;

/**
 * XpReportStyle:
 * @XP_REPORT_PLAIN: text without colour
 * @XP_REPORT_COLOUR: text with the escape sequences of terminals
 * @XP_REPORT_JSON: JSON
 */
typedef enum
{
  XP_REPORT_PLAIN,
  XP_REPORT_COLOUR,
  XP_REPORT_JSON
} XpReportStyle;

/**
 * xp_report_print:
 *
 * Returns: (transfer full): @report in @style; ends with a newline unless it is empty. What was not
 *   understood of an input is not in a text, but in JSON
 */
XP_PUBLIC char *xp_report_print (XpReport *report, XpReportStyle style);

/**
 * XpReportWriter:
 * @text: the next piece; may be empty
 * @is_problem: whether it is for standard error: lines that say what was not understood of an input
 * @data: what was given for it
 *
 * Takes the pieces of a report.
 */
typedef void (*XpReportWriter) (const char *text, gboolean is_problem, gpointer data);

/**
 * xp_report_write:
 * @report: a report
 * @style: how
 * @write: gets the pieces, in order
 * @data: for @write
 *
 * Prints @report piece by piece, so that one of any length takes little memory. The pieces that are
 * no problems make up what xp_report_print() returns.
 */
XP_PUBLIC void xp_report_write (XpReport *report, XpReportStyle style, XpReportWriter write,
                                gpointer data);

/**
 * xp_report_is_yes:
 *
 * Returns: %FALSE where @report answers a question with no, as xp_report_has() does when a kernel
 * is not there. Of xp_report_replay() and xp_report_schema_lines() this is known once they have
 * been printed: %FALSE where something of the input was not understood
 */
XP_PUBLIC gboolean xp_report_is_yes (const XpReport *report);

/**
 * xp_report_has_rejected:
 *
 * Returns: whether @report shows a plugin that is rejected, failed or quarantined; files that are
 * no plugins, or for another machine, do not count
 */
XP_PUBLIC gboolean xp_report_has_rejected (const XpReport *report);

XP_PUBLIC void xp_report_free (XpReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpReport, xp_report_free)

/**
 * xp_report_plugins:
 * @all: also those that are available but were never loaded, after xp_plugins_scan() of what is
 * new, and those that are passed over for another variant
 *
 * Returns: (transfer full): a line for each plugin, and for each that the setting `load` of the
 *   user names and that is nowhere
 */
XP_PUBLIC XpReport *xp_report_plugins (gboolean all);

/**
 * xp_report_plugin:
 * @name: a name or a file
 * @error: return location for an error
 *
 * What is known about one plugin, without running it; of one that is loaded also its state.
 *
 * Errors: %XP_ERROR_PLUGIN_NOT_FOUND and those of xp_plugin_info_read().
 *
 * Returns: (transfer full): the report
 */
XP_PUBLIC XpReport *xp_report_plugin (const char *name, GError **error);

/**
 * xp_report_lint:
 * @names: (array zero-terminated=1): names and files of plugins, and files of schemas, `NAME.ops`
 * @verbose: whether a finding holds all that it is about, not the first few
 *
 * What in the files of plugins will hurt their users, found without running anything of them, for
 * any machine: docs/lint.md lists the findings. Libraries are looked for as the dynamic linker does
 * without LD_LIBRARY_PATH. A file that cannot be looked at has an error instead.
 *
 * Returns: (transfer full): the findings on each file; it is yes if none is more than a note
 */
XP_PUBLIC XpReport *xp_report_lint (const char *const *names, gboolean verbose);

/**
 * xp_report_scan:
 * @places: (array zero-terminated=1) (nullable): names, files and directories; %NULL or none for
 * the search path
 * @flags: what to run
 * @verbose: whether the text shows coverage and what was ignored
 * @error: return location for an error
 *
 * xp_plugins_scan() of files, and of everything in directories that is named NAME.so.
 *
 * Errors: %XP_ERROR_FILE_IO, %XP_ERROR_PLUGIN_NOT_FOUND, and those of xp_plugins_scan().
 *
 * Returns: (transfer full): a line for each file, and how many were what
 */
XP_PUBLIC XpReport *xp_report_scan (const char *const *places, XpScanFlags flags, gboolean verbose,
                                    GError **error);

/**
 * xp_report_retry:
 * @name: a name or a file
 * @error: return location for an error
 *
 * Gives a quarantined plugin another chance.
 *
 * Errors: %XP_ERROR_PLUGIN_NOT_FOUND, and those of xp_plugins_scan().
 *
 * Returns: (transfer full): what was found; no where it still cannot be loaded
 */
XP_PUBLIC XpReport *xp_report_retry (const char *name, GError **error);

/**
 * xp_report_paths:
 *
 * Returns: (transfer full): the directories that plugins are looked for in, with how many files
 *   called NAME.so are there, and the user's file of settings
 */
XP_PUBLIC XpReport *xp_report_paths (void);

/**
 * xp_report_settings:
 *
 * Returns: (transfer full): every setting, its value, where that is from, its variable, its meaning
 */
XP_PUBLIC XpReport *xp_report_settings (void);

/**
 * xp_report_setting:
 * @name: the name of a setting
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT, with all there are.
 *
 * Returns: (transfer full): its value in each layer, and which counts
 */
XP_PUBLIC XpReport *xp_report_setting (const char *name, GError **error);

/**
 * xp_report_operators:
 * @pattern: (nullable): a glob, `aten::*add*`; %NULL for all
 *
 * Returns: (transfer full): the rows whose names match, with a count
 */
XP_PUBLIC XpReport *xp_report_operators (const char *pattern);

/**
 * xp_report_pending:
 * @pattern: (nullable): a glob, `aten::*add*`; %NULL for all
 *
 * Returns: (transfer full): kernels whose operators are not defined, with key, plugin and location
 */
XP_PUBLIC XpReport *xp_report_pending (const char *pattern);

/**
 * xp_report_keys:
 *
 * Returns: (transfer full): the columns, highest priority first, with the alias keys after them
 */
XP_PUBLIC XpReport *xp_report_keys (void);

/**
 * xp_report_schemas:
 * @names: (array zero-terminated=1): operators; one without an overload means all of its overloads
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_UNKNOWN_OPERATOR, %XP_ERROR_UNKNOWN_OVERLOAD.
 *
 * Returns: (transfer full): signatures taken apart
 */
XP_PUBLIC XpReport *xp_report_schemas (const char *const *names, GError **error);

/**
 * xp_report_dump:
 * @pattern: an operator, or a glob
 * @owners: add plugin and priority to each line
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_UNKNOWN_OPERATOR, %XP_ERROR_UNKNOWN_OVERLOAD; for a glob that matches nothing
 * the former.
 *
 * Returns: (transfer full): registrations, in PyTorch's format; of several rows, an empty line
 * between each two
 */
XP_PUBLIC XpReport *xp_report_dump (const char *pattern, gboolean owners, GError **error);

/**
 * xp_report_table:
 * @name: an operator
 * @error: return location for an error
 *
 * Errors: as xp_report_dump().
 *
 * Returns: (transfer full): computed cells, in PyTorch's format
 */
XP_PUBLIC XpReport *xp_report_table (const char *name, GError **error);

/**
 * xp_report_which:
 * @name: an operator
 * @key: the name of a runtime key
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_UNKNOWN_OPERATOR, %XP_ERROR_UNKNOWN_OVERLOAD, %XP_ERROR_UNKNOWN_KEY,
 * %XP_ERROR_ALIAS_KEY; %XP_ERROR_MISSING_KERNEL for an empty cell, with the keys that have a kernel
 * and what to load.
 *
 * Returns: (transfer full): everything that could be in the cell, the winner first, and what
 *   decided; it is no where the cell is ambiguous
 */
XP_PUBLIC XpReport *xp_report_which (const char *name, const char *key, GError **error);

/**
 * xp_report_preferences:
 *
 * Returns: (transfer full): whose kernels come first, the strongest preference first, and what
 *   happens at a tie
 */
XP_PUBLIC XpReport *xp_report_preferences (void);

/**
 * xp_report_has:
 * @names: (array zero-terminated=1): operators
 * @keys: (array zero-terminated=1): names of keys
 * @computed: whether the cell holds a kernel by any rule, instead of one registered under exactly
 * the key
 * @error: return location for an error
 *
 * An operator that is not there has no kernel; one without an overload, where only overloads are
 * there, is an error.
 *
 * Errors: %XP_ERROR_UNKNOWN_KEY, %XP_ERROR_UNKNOWN_OVERLOAD, %XP_ERROR_ALIAS_KEY with @computed.
 *
 * Returns: (transfer full): yes or no, or a grid of them; it is yes if all are
 */
XP_PUBLIC XpReport *xp_report_has (const char *const *names, const char *const *keys,
                                   gboolean computed, GError **error);

/**
 * XpReportInput:
 * @name: what messages call it, `dump.txt`
 * @text: what it holds
 *
 * A text from outside. Lines may end in LF or CRLF, and the text may be UTF-16 with its mark.
 */
typedef struct
{
  const char *name;
  GBytes *text;
} XpReportInput;

/**
 * xp_report_needs:
 * @input: lines `OPERATOR KEY`; what stands behind a `#` is a comment
 * @error: return location for an error
 *
 * What of that is missing: the row, or a kernel by any rule in the cell (of an alias key, one that
 * is registered under it), and the plugins that may bring it.
 *
 * Errors: %XP_ERROR_FILE_FORMAT for a line that is none of these, %XP_ERROR_UNKNOWN_KEY; with the
 * line's number.
 *
 * Returns: (transfer full): what is missing; it is yes if nothing is
 */
XP_PUBLIC XpReport *xp_report_needs (const XpReportInput *input, GError **error);

/**
 * xp_report_replay:
 * @dumps: (array length=n_dumps): what PyTorch's _dispatch_dump() printed, of one row or several,
 *   with blank lines between them
 * @n_dumps: how many
 * @fallbacks: (nullable): the fallbacks to compute with, a line each, as in a computed table; %NULL
 *   for PyTorch's own
 *
 * Computes the tables of rows that exist elsewhere. Takes references to the texts and copies the
 * names.
 *
 * Nothing of an input is left out in silence: each row has its problems, with their lines. A key
 * that we do not know is a warning, damaged text is an error, and makes the answer no; what was
 * understood is there all the same.
 *
 * Returns: (transfer full): of each row its name and its cells, in PyTorch's format (reference
 *   4.2), an empty line between each two
 */
XP_PUBLIC XpReport *xp_report_replay (const XpReportInput *dumps, unsigned n_dumps,
                                      const XpReportInput *fallbacks);

/**
 * xp_report_schema_lines:
 * @text: schemas, a line each; blank lines and those that begin with `#` are kept
 *
 * Takes a reference.
 *
 * Returns: (transfer full): a line for each: the canonical form of the schema, or `error:` and why
 *   it does not parse, which makes the answer no
 */
XP_PUBLIC XpReport *xp_report_schema_lines (GBytes *text);

/**
 * xp_report_values:
 * @names: (array length=n) (nullable): what they are called; %NULL or empty for none
 * @values: (array length=n): values, results of a call
 *
 * Returns: (transfer full): their texts, or their elements as JSON
 */
XP_PUBLIC XpReport *xp_report_values (const char *const *names, const XpValue *values, size_t n);

/**
 * xp_report_text:
 * @kind: what the text is, the name of its member in JSON
 * @text: one line or more
 *
 * Returns: (transfer full): the text
 */
XP_PUBLIC XpReport *xp_report_text (const char *kind, const char *text);

/**
 * xp_report_error:
 * @error: an error
 * @location: (nullable): where in a script it happened, `tour.xp:12`
 *
 * Returns: (transfer full): @error with its class, code, message and details
 */
XP_PUBLIC XpReport *xp_report_error (const GError *error, const char *location);

G_END_DECLS

#endif
