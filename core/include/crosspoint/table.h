/* SPDX-License-Identifier: MIT
 *
 * table.h: the table as data: rows, registrations, cells, and the rule that filled each; and its
 * two texts, in PyTorch's formats. Everything here is a snapshot that the caller owns.
 */
#ifndef XP_TABLE_H
#define XP_TABLE_H

#include <crosspoint/library.h>

G_BEGIN_DECLS

/* How a cell is filled, first match first (reference 3.1): _ (enumerator, label in a table). */
#define XP_RULE_LIST(_)                                                                            \
  _ (KERNEL, "kernel")                                                                             \
  _ (DEFAULT_BACKEND, "default backend kernel")                                                    \
  _ (NESTED, "nested kernel")                                                                      \
  _ (AMBIGUOUS, "ambiguous autogradother")                                                         \
  _ (MATH, "math kernel")                                                                          \
  _ (AUTOGRAD, "autograd kernel")                                                                  \
  _ (BATCHED, "batched kernel")                                                                    \
  _ (FALLBACK, "backend fallback")                                                                 \
  _ (MISSING, "missing")

#define XP_RULE_ENUMERATOR_(enumerator, label) XP_RULE_##enumerator,
typedef enum
{
  XP_RULE_LIST (XP_RULE_ENUMERATOR_) XP_N_RULES
} XpRule;

/**
 * xp_rule_label:
 *
 * Returns: (transfer none): what a table prints in brackets
 */
XP_PUBLIC const char *xp_rule_label (XpRule rule);

/**
 * xp_rule_for_cell:
 * @kernels: (array length=n_kernels) (nullable): the keys that a row has kernels for, alias keys
 *   among them, in any order; one may stand there more than once
 * @n_kernels: how many
 * @has_fallback: whether there is a fallback for @key
 * @key: a runtime key
 * @from: (out): the key whose registration fills the cell: an alias key or @key itself, which it is
 *   too where none does
 *
 * The rules of the table (reference 3.1), of a row that need not exist: what fills the cell of
 * @key. A bare per-backend functionality ("Dense") in @kernels fills no cell, but counts as a
 * kernel of every backend, as in PyTorch.
 *
 * Returns: the first rule that applies
 */
XP_PUBLIC XpRule xp_rule_for_cell (const XpKey *kernels, unsigned n_kernels, gboolean has_fallback,
                                   XpKey key, XpKey *from);

/**
 * XpRegistrationInfo:
 * @key: the key registered to; may be an alias key
 * @is_active: whether it is the one of its key that counts
 * @is_fallthrough: whether it is xp_fallthrough()
 * @is_typed: whether it has a typed form
 * @is_fallback: whether it serves all rows
 * @location: `registered at FILE:LINE`
 * @file: FILE
 * @line: LINE
 * @signature: (nullable): what it takes
 * @plugin: the plugin that owns it
 * @priority: its priority
 * @preference: (nullable): the preference that it is ranked by, `aten::mm@openblas`
 * @takes: (nullable): what it takes of what its schema allows, as xp_takes() was told
 * @n_copies: how many tensors were copied for it
 *
 * A kernel on a key of a row, or a fallback.
 */
typedef struct
{
  XpKey key;
  gboolean is_active;
  gboolean is_fallthrough;
  gboolean is_typed;
  gboolean is_fallback;
  int line;
  int priority;
  char *location;
  char *file;
  char *signature;
  char *plugin;
  char *preference;
  char *takes;
  uint64_t n_copies;
} XpRegistrationInfo;

/**
 * XpCellInfo:
 * @key: a runtime key
 * @rule: the rule that filled the cell
 * @from: the key whose registration it is: the cell's own, an alias, or the same for a fallback
 * @is_fallthrough: whether calls pass it over
 * @location: (nullable): where the kernel was registered; %NULL for a missing one
 * @plugin: (nullable): who owns it
 *
 * A cell.
 */
typedef struct
{
  XpKey key;
  XpRule rule;
  XpKey from;
  gboolean is_fallthrough;
  char *location;
  char *plugin;
} XpCellInfo;

/**
 * XpRowInfo:
 * @name: `aten::add.Tensor`
 * @schema: (nullable): the canonical schema, %NULL where there are kernels only
 * @location: (nullable): where it is defined
 * @file: (nullable): the file of that
 * @line: and its line
 * @plugin: (nullable): who defines it
 * @alias_analysis: how far its annotations are trusted
 * @tags: (nullable): its tags, separated by blanks
 * @description: (nullable): what it does
 * @n_registrations: how many kernels
 * @registrations: those, in the order of a dump: by key, active first
 * @n_cells: how many cells
 * @cells: all of them, in set order, Undefined first
 *
 * A row.
 */
typedef struct
{
  char *name;
  char *schema;
  char *location;
  char *file;
  char *plugin;
  char *tags;
  char *description;
  int line;
  XpAliasAnalysis alias_analysis;
  unsigned n_registrations;
  unsigned n_cells;
  XpRegistrationInfo *registrations;
  XpCellInfo *cells;
} XpRowInfo;

/**
 * xp_table_row:
 * @name: `aten::add.Tensor`
 *
 * Returns: (transfer full) (nullable): the row, or %NULL where there is none
 */
XP_PUBLIC XpRowInfo *xp_table_row (const char *name);
XP_PUBLIC void xp_row_info_free (XpRowInfo *info);

/**
 * xp_row_info_has_tag:
 * @info: a row
 * @tag: a word, such as `pointwise`
 *
 * Returns: whether @tag is among its tags
 */
XP_PUBLIC gboolean xp_row_info_has_tag (const XpRowInfo *info, const char *tag);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpRowInfo, xp_row_info_free)

/**
 * xp_table_names:
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of all rows, those with kernels but
 *   no definition included, sorted; free with g_strfreev()
 */
XP_PUBLIC char **xp_table_names (void);

/**
 * xp_table_overloads:
 * @name: a name without overload, `aten::add`
 *
 * Returns: (transfer full) (array zero-terminated=1): the rows of that name, sorted
 */
XP_PUBLIC char **xp_table_overloads (const char *name);

/**
 * xp_table_fallbacks:
 * @n_fallbacks: (out): how many
 *
 * Returns: (transfer full) (array length=n_fallbacks): all fallbacks, by key, active first; free
 *   with xp_registration_infos_free()
 */
XP_PUBLIC XpRegistrationInfo *xp_table_fallbacks (unsigned *n_fallbacks);
XP_PUBLIC void xp_registration_infos_free (XpRegistrationInfo *infos, unsigned n);

/**
 * xp_table_dump:
 * @name: `aten::add.Tensor`
 *
 * Returns: (transfer full): what PyTorch's _dispatch_dump() prints (reference 4.1): the
 *   registrations; the empty text for a row that is not there
 */
XP_PUBLIC char *xp_table_dump (const char *name);

/**
 * xp_table_dump_computed:
 * @name: `aten::add.Tensor`
 *
 * Returns: (transfer full): what PyTorch's _dispatch_dump_table() prints (reference 4.2): every
 * cell that is not missing; the empty text for a row that is not there
 */
XP_PUBLIC char *xp_table_dump_computed (const char *name);

/**
 * xp_row_info_dump:
 *
 * Returns: (transfer full): @info as xp_table_dump() prints it
 */
XP_PUBLIC char *xp_row_info_dump (const XpRowInfo *info);

/**
 * xp_row_info_dump_computed:
 *
 * Returns: (transfer full): @info as xp_table_dump_computed() prints it
 */
XP_PUBLIC char *xp_row_info_dump_computed (const XpRowInfo *info);

/**
 * xp_table_has:
 * @name: `aten::add.Tensor`
 *
 * Returns: whether the row is there, defined or with kernels only; asking creates nothing
 */
XP_PUBLIC gboolean xp_table_has (const char *name);

/**
 * xp_table_has_kernel:
 * @name: `aten::add.Tensor`
 * @key: a runtime or alias key
 *
 * Returns: whether a kernel is registered under exactly @key, as PyTorch's
 *   _dispatch_has_kernel_for_dispatch_key() says
 */
XP_PUBLIC gboolean xp_table_has_kernel (const char *name, XpKey key);

/**
 * xp_table_has_kernel_in:
 * @name: `aten::add.Tensor`
 * @keys: a set
 *
 * Returns: whether a kernel is registered under any runtime key that is in @keys; alias keys do not
 *   count
 */
XP_PUBLIC gboolean xp_table_has_kernel_in (const char *name, XpKeySet keys);

/**
 * xp_table_is_fallthrough:
 * @name: `aten::add.Tensor`
 * @key: a runtime or alias key
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_UNKNOWN_OPERATOR, %XP_ERROR_MISSING_KERNEL where nothing is registered under
 * exactly @key.
 *
 * Returns: whether what is active under @key is xp_fallthrough()
 */
XP_PUBLIC gboolean xp_table_is_fallthrough (const char *name, XpKey key, GError **error);

/**
 * xp_table_has_fallback:
 * @key: a runtime key
 *
 * Returns: whether a fallback serves the rows that have nothing better at @key
 */
XP_PUBLIC gboolean xp_table_has_fallback (XpKey key);

/**
 * xp_table_names_with_kernel:
 * @key: a runtime or alias key
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of the rows that have a kernel
 *   registered under exactly @key, sorted
 */
XP_PUBLIC char **xp_table_names_with_kernel (XpKey key);

/**
 * xp_table_has_computed_kernel:
 * @name: `aten::add.Tensor`
 * @key: a runtime key
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_ALIAS_KEY for an alias key, which has no cell.
 *
 * Returns: whether the cell of @key holds a kernel, whatever rule filled it
 */
XP_PUBLIC gboolean xp_table_has_computed_kernel (const char *name, XpKey key, GError **error);

/**
 * xp_table_dangling:
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of rows that have kernels but no
 *   definition
 */
XP_PUBLIC char **xp_table_dangling (void);

/**
 * XpCellStack:
 * @name: `aten::mm`
 * @key: a runtime key
 * @rule: the rule that filled the cell
 * @reason: what decided between the first candidate and the next: `preference aten::mm@openblas`,
 *   `priority 10 over 0`, `newest`, `direct kernel over alias CompositeImplicitAutograd`,
 *   `fallback`, `only one`; or why there is none, the rule's label
 * @n_candidates: how many
 * @candidates: every registration that could serve the cell, best first; %is_active of the one that
 *   it holds, none where it is ambiguous
 *
 * All that could be in one cell.
 */
typedef struct
{
  char *name;
  XpKey key;
  XpRule rule;
  char *reason;
  unsigned n_candidates;
  XpRegistrationInfo *candidates;
} XpCellStack;

/**
 * xp_table_cell:
 * @name: `aten::mm`
 * @key: a runtime key
 * @error: return location for an error
 *
 * Who fills a cell, who would if that one were gone, and why.
 *
 * Errors: %XP_ERROR_UNKNOWN_OPERATOR; %XP_ERROR_ALIAS_KEY for an alias key, which has no cell.
 *
 * Returns: (transfer full): the stack of its candidates, which is empty where the cell is
 */
XP_PUBLIC XpCellStack *xp_table_cell (const char *name, XpKey key, GError **error);
XP_PUBLIC void xp_cell_stack_free (XpCellStack *stack);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpCellStack, xp_cell_stack_free)

/**
 * XpPendingInfo:
 * @name: `aten::mm`
 * @key: the key it is registered to
 * @plugin: who has registered it
 * @location: `registered at FILE:LINE`
 *
 * A kernel that waits for its row to be defined.
 */
typedef struct
{
  char *name;
  XpKey key;
  char *plugin;
  char *location;
} XpPendingInfo;

/**
 * xp_table_pending:
 * @n_pending: (out): how many
 *
 * The kernels whose operators no library that is loaded defines. A definition that does not fit one
 * of them is refused with %XP_ERROR_SCHEMA_MISMATCH, which names it.
 *
 * Returns: (transfer full) (array length=n_pending): those, sorted by name, then as in a dump; free
 *   with xp_pending_infos_free()
 */
XP_PUBLIC XpPendingInfo *xp_table_pending (unsigned *n_pending);
XP_PUBLIC void xp_pending_infos_free (XpPendingInfo *infos, unsigned n);

/**
 * XpTableListener:
 * @name: `aten::add.Tensor`
 * @is_defined: whether the operator has been defined, or its definition has gone
 * @data: as given to xp_table_listen()
 */
typedef void (*XpTableListener) (const char *name, gboolean is_defined, void *data);

/**
 * xp_table_listen:
 * @listener: called for every definition that comes or goes, never for kernels
 * @data: given to it
 * @destroy: (nullable): called with @data once @listener will not be called again
 *
 * Of the operators that are defined now, @listener is told first. Calls come after the change, in
 * the order of changes, one at a time, on a thread that made one: usually that which made this one.
 * A listener may register, load and listen; what that brings is told after it returns. The plugin
 * that @listener lies in is pinned until the end. Not for constructors, probe and fini.
 *
 * Returns: a number for xp_table_unlisten()
 */
XP_PUBLIC uint64_t xp_table_listen (XpTableListener listener, void *data, GDestroyNotify destroy);

/**
 * xp_table_unlisten:
 * @number: what xp_table_listen() gave; any other is ignored
 *
 * Ends it. A call that another thread is making is not waited for; @destroy comes after it.
 */
XP_PUBLIC void xp_table_unlisten (uint64_t number);

/**
 * xp_table_check_row:
 * @name: `aten::add.Tensor`
 * @error: return location for an error
 *
 * xp_table_check() for one row.
 *
 * Errors: %XP_ERROR_INTERNAL, %XP_ERROR_UNKNOWN_OPERATOR.
 *
 * Returns: %TRUE where stored and computed cells agree
 */
XP_PUBLIC gboolean xp_table_check_row (const char *name, GError **error);

/**
 * xp_table_check:
 * @error: return location for an error
 *
 * Compares every stored cell with what the rules say now.
 *
 * Errors: %XP_ERROR_INTERNAL, with the row, the cell, both kernels, and the row as text.
 *
 * Returns: %TRUE where all agree
 */
XP_PUBLIC gboolean xp_table_check (GError **error);

/**
 * xp_table_generation:
 *
 * Returns: a number that grows with every change of the table
 */
XP_PUBLIC uint64_t xp_table_generation (void);

G_END_DECLS

#endif
