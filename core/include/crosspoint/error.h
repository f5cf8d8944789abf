/* SPDX-License-Identifier: MIT
 *
 * error.h: the only list of error codes: what each means, and the class of exception it is for
 * people who know PyTorch. docs/errors.md is generated from this list.
 */
#ifndef XP_ERROR_H
#define XP_ERROR_H

#include <crosspoint/key.h>

G_BEGIN_DECLS

/* _ (code, class, meaning, what to do next). Codes are appended, never renumbered. */
#define XP_ERROR_LIST(_)                                                                           \
  _ (MISSING_KERNEL, "NotImplementedError",                                                        \
     "The row is there, but the cell the call went to is empty.",                                  \
     "Load a plugin that fills the cell, or move the arguments to a backend in the list.")         \
  _ (NO_TENSOR_ARGUMENTS, "NotImplementedError",                                                   \
     "No argument or thread setting gave a dispatch key, and the row has no default kernel.",      \
     "Pass a tensor, or check that BackendSelect is not excluded.")                                \
  _ (UNKNOWN_OPERATOR, "AttributeError",                                                           \
     "There is no row of that name: no library that is loaded defines it.",                        \
     "Load the plugin that defines it, or correct the name; the nearest names are listed.")        \
  _ (UNKNOWN_OVERLOAD, "AttributeError",                                                           \
     "The operator has overloads, but not this one, or the name leaves several to choose from.",   \
     "Name one of the overloads that are listed.")                                                 \
  _ (NOT_DEFINED, "RuntimeError",                                                                  \
     "The row has kernels, but no library that is loaded defines its schema.",                     \
     "Load the plugin that defines the operator.")                                                 \
  _ (SIGNATURE_MISMATCH, "RuntimeError",                                                           \
     "A typed caller was built for another signature than the row has now.",                       \
     "Build the caller again with the header generated from the row's schema.")                    \
  _ (SCHEMA_MISMATCH, "RuntimeError",                                                              \
     "The signature of a kernel differs from the schema of its row.",                              \
     "Build the kernel again with the header generated from the row's schema.")                    \
  _ (DEVICE_MISMATCH, "RuntimeError", "The arguments of one call are on different devices.",       \
     "Move them to one device first.")                                                             \
  _ (STALE_DEVICE, "RuntimeError", "A tensor is on a device whose plugin has been unloaded.",      \
     "Load the plugin again, or free the tensor.")                                                 \
  _ (STALE_KERNEL, "RuntimeError",                                                                 \
     "A handle to one kernel was used after its plugin had been unloaded.",                        \
     "Look the kernel up again.")                                                                  \
  _ (AMBIGUOUS_AUTOGRAD, "RuntimeError",                                                           \
     "The operator has a CompositeImplicitAutograd kernel and one for a backend that shares "      \
     "AutogradOther, so it is not known whether to differentiate through the composite.",          \
     "Register the backend's gradient to AutogradOther.")                                          \
  _ (RECURSION, "RecursionError", "Kernels call each other without end; the cycle is named.",      \
     "Break the cycle, or raise the limit with xp_set_recursion_limit().")                         \
  _ (ARGUMENT, "RuntimeError",                                                                     \
     "An argument of a call is missing, unknown, of the wrong type, or has a value that the "      \
     "operator does not take.",                                                                    \
     "Compare the call with the declaration that is printed.")                                     \
  _ (DTYPE, "RuntimeError", "The operator is not defined for this dtype.",                         \
     "Convert the tensor first.")                                                                  \
  _ (SHAPE, "RuntimeError", "Shapes do not fit each other or the operator.",                       \
     "Reshape, expand or transpose first.")                                                        \
  _ (INDEX, "IndexError", "A dimension or index is out of range.",                                 \
     "Use one in the range that is printed.")                                                      \
  _ (LIMIT, "RuntimeError",                                                                        \
     "A fixed limit is reached: 48 named devices, 64 arguments, 64 dimensions, 2^63 bytes.",       \
     "Use fewer.")                                                                                 \
  _ (NO_MEMORY, "MemoryError", "Memory for a tensor could not be allocated.",                      \
     "Free some, or use smaller tensors.")                                                         \
  _ (UNKNOWN_KEY, "RuntimeError", "The text is not the name of a dispatch key.",                   \
     "Use one of the names of `crosspoint keys`.")                                                 \
  _ (ALIAS_KEY, "RuntimeError",                                                                    \
     "An alias key was given where only a key with a cell of its own will do.",                    \
     "Name one of the keys it stands for.")                                                        \
  _ (BACKEND_EXISTS, "RuntimeError", "The name of a device is taken.",                             \
     "Choose another name, or unload its owner.")                                                  \
  _ (SCHEMA_SYNTAX, "RuntimeError",                                                                \
     "The text of a schema does not parse; the place is underlined.", "Correct the schema.")       \
  _ (DUPLICATE_DEF, "RuntimeError", "Two libraries define the same operator; both are named.",     \
     "Load only one of them.")                                                                     \
  _ (NAMESPACE_TAKEN, "RuntimeError",                                                              \
     "A second XP_LIBRARY block for one namespace; both are named.",                               \
     "Use XP_LIBRARY_FRAGMENT in all but one of them.")                                            \
  _ (INVALID_REGISTRATION, "RuntimeError",                                                         \
     "A registration stands in the wrong kind of block, or names another namespace or key than "   \
     "its block.",                                                                                 \
     "Correct the block; its file and line are printed.")                                          \
  _ (DUPLICATE_FALLBACK, "RuntimeError", "One plugin registers two fallbacks for one key.",        \
     "Remove one of them.")                                                                        \
  _ (PRIORITY_TIE, "RuntimeError",                                                                 \
     "Two plugins of equal priority fill one cell, and ties are refused.",                         \
     "Give one of them a higher priority, or prefer one.")                                         \
  _ (NESTED_LOAD, "RuntimeError",                                                                  \
     "A constructor of a plugin tried to load, unload or call; constructors only register.",       \
     "Do it after the load.")                                                                      \
  _ (PLUGIN_NOT_FOUND, "FileNotFoundError",                                                        \
     "No file of that name is on the search path; the directories are listed.",                    \
     "Give a path, or set CROSSPOINT_PLUGIN_PATH.")                                                \
  _ (NOT_A_PLUGIN, "RuntimeError",                                                                 \
     "The file is no plugin: not a shared object, or without a Crosspoint note.",                  \
     "Build it with <crosspoint.h> and one of the XP_LIBRARY macros.")                             \
  _ (INVALID_NOTE, "RuntimeError", "The Crosspoint note of the file is damaged.",                  \
     "Build the plugin again.")                                                                    \
  _ (WRONG_MACHINE, "RuntimeError", "The file is built for another machine.",                      \
     "Build the plugin for this one.")                                                             \
  _ (WRONG_ABI, "RuntimeError",                                                                    \
     "The plugin is built for another version of the binary interface.",                           \
     "Build it with the headers of this version.")                                                 \
  _ (MISSING_CPU_FEATURE, "RuntimeError",                                                          \
     "The plugin needs a CPU feature that this machine or its operating system lacks.",            \
     "Use a variant built for this machine.")                                                      \
  _ (MISSING_REQUIREMENT, "RuntimeError", "The plugin requires another one that is not loaded.",   \
     "Load that one first.")                                                                       \
  _ (UNSAFE_FILE, "PermissionError",                                                               \
     "Everyone may write to the plugin's file, so it is not trusted.", "chmod o-w the file.")      \
  _ (LOAD_FAILED, "OSError", "The dynamic linker refused the file; its own text is given.",        \
     "Install what is missing, or build the plugin again.")                                        \
  _ (UNSUITABLE, "RuntimeError",                                                                   \
     "The plugin's own probe says that it cannot work on this machine.",                           \
     "Install what it asks for, such as a driver.")                                                \
  _ (PLUGIN_CONFLICT, "RuntimeError", "A plugin of the same name is loaded from another file.",    \
     "Swap it, or unload it first.")                                                               \
  _ (PLUGIN_NOT_LOADED, "RuntimeError",                                                            \
     "The plugin to be unloaded or swapped is not loaded, or one that is not registers at run "    \
     "time.",                                                                                      \
     "Name one that is loaded; register while the plugin is loaded.")                              \
  _ (BUSY, "RuntimeError",                                                                         \
     "The plugin has a kernel on the stack of the thread that asks for its unloading, or of "      \
     "another that did not leave it in time.",                                                     \
     "Unload from outside of its kernels, or try again later.")                                    \
  _ (IN_USE, "RuntimeError", "Other plugins that are loaded require this one; they are named.",    \
     "Unload them first.")                                                                         \
  _ (COVERAGE_LOST, "RuntimeError",                                                                \
     "The new plugin of a swap lacks cells that the old one fills; they are listed.",              \
     "Load the new one over the old one instead.")                                                 \
  _ (FILE_FORMAT, "ValueError", "A file is not what its name or header says, or is cut short.",    \
     "Write the file again; what was expected and found is printed.")                              \
  _ (FILE_IO, "OSError", "A file could not be opened, read or written.",                           \
     "Check its path and permissions.")                                                            \
  _ (INVALID_ARGUMENT, "ValueError",                                                               \
     "A value given to a function of this library is outside of what it takes.",                   \
     "See the description of the function.")                                                       \
  _ (DECLINED, "NotImplementedError",                                                              \
     "Every kernel in the cell and below it declined these arguments; each reason is given.",      \
     "Convert the arguments, or load a plugin that takes them.")                                   \
  _ (UNEXPECTED, "AssertionError",                                                                 \
     "A script expected something else of a statement than came of it.",                           \
     "Correct the statement or what is expected.")                                                 \
  _ (INTERNAL, "RuntimeError",                                                                     \
     "A kernel failed without saying why, or broke a rule of the interface.",                      \
     "Report it to the plugin's author.")                                                          \
  _ (SYNTAX, "SyntaxError", "A statement or a value of the little language does not parse.",       \
     "Correct it where the message points; docs/language.md describes the language.")              \
  _ (SCHEMA_CHANGED, "RuntimeError",                                                               \
     "The new plugin of a swap changes the signature of rows that the old one defines.",           \
     "Swap by force, if callers that were compiled for the old signature may fail.")               \
  _ (UNDO_STALE, "RuntimeError",                                                                   \
     "A swap cannot be undone: what came later stands in its cells, or it is no longer kept.",     \
     "Take the later changes back first, or swap the other way round.")                            \
  _ (QUARANTINED, "RuntimeError",                                                                  \
     "The plugin crashed, hung or ended its process when it was scanned.",                         \
     "Build it again, or try it again with `crosspoint retry`.")                                   \
  _ (DISABLED, "RuntimeError", "The setting `disable` names the plugin, so it is not loaded.",     \
     "Take it out of the setting; `crosspoint config disable` shows where that is from.")          \
  _ (SECOND_CORE, "RuntimeError",                                                                  \
     "Two copies of the core are in one process, or a plugin would not find the one there is.",    \
     "Use one libcrosspoint.so for the program and its plugins, or link the program with "         \
     "-rdynamic.")                                                                                 \
  _ (NO_KERNEL_DTYPE, "NotImplementedError",                                                       \
     "No kernel in the cell or below it takes the dtype of an argument.",                          \
     "Convert the argument, or load a plugin that takes its dtype.")                               \
  _ (NOT_CONTIGUOUS, "NotImplementedError",                                                        \
     "No kernel in the cell or below it takes an argument that is not contiguous.",                \
     "Make the argument contiguous.")                                                              \
  _ (OVERLAP, "NotImplementedError",                                                               \
     "No kernel in the cell or below it takes arguments that share memory with what is written.",  \
     "Clone the argument.")                                                                        \
  _ (COMPILE_FAILED, "SyntaxError", "The compiler refused the source of a plugin.",                \
     "Correct the source where the compiler's own messages point.")

#define XP_ERROR_ENUMERATOR_(code, klass, meaning, next) XP_ERROR_##code,
/**
 * XpError:
 *
 * The codes of %XP_ERROR.
 */
typedef enum
{
  XP_ERROR_LIST (XP_ERROR_ENUMERATOR_) XP_N_ERRORS
} XpError;

/**
 * XP_ERROR:
 *
 * The domain of all errors of Crosspoint and its plugins. Plugins raise their errors in it, so that
 * no error outlives the library that its domain's name lies in.
 */
#define XP_ERROR (xp_error_quark ())
XP_PUBLIC GQuark xp_error_quark (void);

/**
 * XpErrorDetails:
 * @op: the operator, `aten::gelu`, or %NULL
 * @key: the dispatch key, "SparseCPU", or %NULL
 * @argument: the name of the argument at fault, or %NULL
 * @plugin: the name or path of the plugin at fault, or %NULL
 * @candidates: (array zero-terminated=1): what would have been right: neighbouring names, keys that
 *   have a kernel, plugins to load, cells lost; or %NULL
 *
 * What an error is about, for programs; its message says the same to people. All texts belong to
 * the error.
 */
typedef struct
{
  char *op;
  char *key;
  char *argument;
  char *plugin;
  char **candidates;
} XpErrorDetails;

/**
 * xp_error_get_details:
 * @error: an error of the domain %XP_ERROR
 *
 * Returns: (transfer none): its details, which live as long as @error; %NULL for another domain
 */
XP_PUBLIC const XpErrorDetails *xp_error_get_details (const GError *error);

/**
 * xp_error_set:
 * @error: return location for an error, or %NULL
 * @code: the code
 * @details: (nullable): what it is about; the texts are copied
 * @format: the message, as for printf(): what was expected, what was found, what to do next
 *
 * Sets an error with details. Plugins that have none to give may use g_set_error() with %XP_ERROR.
 */
XP_PUBLIC void xp_error_set (GError **error, XpError code, const XpErrorDetails *details,
                             const char *format, ...) G_GNUC_PRINTF (4, 5);

/**
 * xp_error_name:
 *
 * Returns: (transfer none): the code as text, "MISSING_KERNEL"; "UNKNOWN" outside the list
 */
XP_PUBLIC const char *xp_error_name (XpError code);

/**
 * xp_error_class:
 *
 * Returns: (transfer none): the Python class that PyTorch's users know the error by
 */
XP_PUBLIC const char *xp_error_class (XpError code);

/**
 * xp_error_is_a:
 * @code: a code
 * @name: the name of a Python class
 *
 * Follows Python's hierarchy: a NotImplementedError is a RuntimeError too, an IndexError a
 * LookupError, and everything an Exception.
 *
 * Returns: whether an error of @code would be caught by `except @name`
 */
XP_PUBLIC gboolean xp_error_is_a (XpError code, const char *name);

/**
 * xp_error_meaning:
 *
 * Returns: (transfer none): the sentence that explains @code
 */
XP_PUBLIC const char *xp_error_meaning (XpError code);

/**
 * xp_error_next_step:
 *
 * Returns: (transfer none): the sentence that says what to do about @code
 */
XP_PUBLIC const char *xp_error_next_step (XpError code);

G_END_DECLS

#endif
