/* SPDX-License-Identifier: MIT
 *
 * direct.h: calls that do not ask the table where to go: one registration, whether or not it is
 * the active one of its cell, or one key of a row.
 */
#ifndef XP_DIRECT_H
#define XP_DIRECT_H

#include <crosspoint/call.h>

G_BEGIN_DECLS

/**
 * XpKernelHandle:
 *
 * One registration of an operator. It keeps nothing loaded: when its plugin is unloaded, or its
 * block released, the handle stays and answers %XP_ERROR_STALE_KERNEL. Reference-counted; any
 * thread may use it.
 */
typedef struct XpKernelHandle XpKernelHandle;

/**
 * xp_operator_kernel:
 * @op: an operator
 * @plugin: (nullable): the name of the plugin whose kernel it is, "the program" for what the
 * program itself has registered; %NULL for the active one of @key
 * @key: the key it is registered to, an alias key too; %XP_KEY_Undefined where @plugin has only one
 *   kernel for @op
 * @error: return location for an error
 *
 * Finds a kernel by who registered it. Of several that one plugin has on one key it is the one that
 * ranks first. An inactive kernel is found as well.
 *
 * Errors: %XP_ERROR_UNKNOWN_OPERATOR when the row is gone, %XP_ERROR_PLUGIN_NOT_LOADED,
 * %XP_ERROR_MISSING_KERNEL with those that have a kernel, %XP_ERROR_INVALID_ARGUMENT where @plugin
 * has several and @key does not say which, where neither is given, and for a fallthrough.
 *
 * Returns: (transfer full): the handle
 */
XP_PUBLIC XpKernelHandle *xp_operator_kernel (XpOperator *op, const char *plugin, XpKey key,
                                              GError **error);

/**
 * xp_operator_computed_kernel:
 * @op: an operator
 * @key: a runtime key
 * @error: return location for an error
 *
 * Finds the kernel that the cell of @key holds now, whatever rule filled it.
 *
 * Errors: %XP_ERROR_ALIAS_KEY for a key without a cell; %XP_ERROR_UNKNOWN_OPERATOR when the row is
 * gone; %XP_ERROR_MISSING_KERNEL for an empty or ambiguous cell; %XP_ERROR_INVALID_ARGUMENT for a
 * fallthrough, and for a fallback, which xp_operator_call_for_key() calls.
 *
 * Returns: (transfer full): the handle, which is stale when that kernel goes, not when another
 * takes its place in the cell
 */
XP_PUBLIC XpKernelHandle *xp_operator_computed_kernel (XpOperator *op, XpKey key, GError **error);

XP_PUBLIC XpKernelHandle *xp_kernel_handle_ref (XpKernelHandle *handle);
XP_PUBLIC void xp_kernel_handle_unref (XpKernelHandle *handle);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpKernelHandle, xp_kernel_handle_unref)

/**
 * xp_kernel_handle_is_stale:
 *
 * Returns: whether the kernel is out of the table, which is for good, or its row is not defined
 * with the signature that it had
 */
XP_PUBLIC gboolean xp_kernel_handle_is_stale (const XpKernelHandle *handle);

/**
 * xp_kernel_handle_call:
 * @handle: a handle
 * @arguments: (array): as xp_operator_call() takes them
 * @results: (array): as xp_operator_call() takes them
 * @error: return location for an error
 *
 * Calls the kernel. It sees a call of its operator at its own key, with what is left of the
 * arguments' keys below that, so that it redispatches as ever. No other kernel is tried in its
 * place. While it runs its plugin stays mapped; unloading waits.
 *
 * A kernel of one backend gets tensors of that backend and of no layout above its own key: others
 * it would read as something that they are not.
 *
 * Errors: %XP_ERROR_STALE_KERNEL; %XP_ERROR_DEVICE_MISMATCH and %XP_ERROR_ARGUMENT for arguments
 * that are not for this kernel; %XP_ERROR_DECLINED; %XP_ERROR_RECURSION; those of the kernel.
 *
 * Returns: %XP_OK with every result owned by the caller; %XP_FAILED with all of them None
 */
XP_PUBLIC XpStatus xp_kernel_handle_call (XpKernelHandle *handle, const XpValue *arguments,
                                          XpValue *results, GError **error);

/**
 * xp_operator_call_for_key:
 * @op: an operator
 * @key: a runtime key
 * @arguments: (array): as xp_operator_call() takes them
 * @results: (array): as xp_operator_call() takes them
 * @error: return location for an error
 *
 * Calls the kernel that is registered to exactly @key, or else the fallback of @key, with the key
 * set of an ordinary call: what PyTorch's callBoxedForDispatchKey() does (reference 7.2). Aliases
 * are not looked at. Takes the table's lock to find the kernel, unlike other calls.
 *
 * Errors: %XP_ERROR_ALIAS_KEY; %XP_ERROR_MISSING_KERNEL; else as xp_operator_call().
 *
 * Returns: %XP_OK with every result owned by the caller; %XP_FAILED with all of them None
 */
XP_PUBLIC XpStatus xp_operator_call_for_key (XpOperator *op, XpKey key, const XpValue *arguments,
                                             XpValue *results, GError **error);

G_END_DECLS

#endif
