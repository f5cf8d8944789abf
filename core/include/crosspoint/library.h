/* SPDX-License-Identifier: MIT
 *
 * library.h: how a shared object opens rows and fills cells.
 *
 *   XP_LIBRARY (myops, m)
 *   {
 *     xp_def (m, "scaled_add(Tensor a, Tensor b, float s) -> Tensor");
 *   }
 *
 *   XP_LIBRARY_IMPL (myops, CPU, m)
 *   {
 *     xp_impl (m, "scaled_add", scaled_add);
 *   }
 *
 * A block is a constructor: it runs when the object is loaded. Constructors only register; what
 * they register is published as a whole after the last of them, or not at all. There is no
 * destructor: the object leaves the table through xp_plugin_unload(). Each block also leaves a line
 * in the object's note, so that what it defines and fills is known before it runs.
 */
#ifndef XP_LIBRARY_H
#define XP_LIBRARY_H

#include <crosspoint/call.h>
#include <crosspoint/plugin.h>

G_BEGIN_DECLS

typedef struct XpLibrary XpLibrary;

/**
 * XpLibraryKind:
 * @XP_LIBRARY_KIND_DEF: the one block that owns a namespace and defines its operators
 * @XP_LIBRARY_KIND_FRAGMENT: more definitions for a namespace
 * @XP_LIBRARY_KIND_IMPL: kernels for one key, or, in the wildcard namespace `_`, fallbacks
 */
typedef enum
{
  XP_LIBRARY_KIND_DEF,
  XP_LIBRARY_KIND_FRAGMENT,
  XP_LIBRARY_KIND_IMPL
} XpLibraryKind;

/**
 * XpAliasAnalysis:
 *
 * How far an optimiser may trust a schema's alias annotations (reference 5.3).
 */
typedef enum
{
  XP_ALIAS_ANALYSIS_UNSET, /* prints `CONSERVATIVE (default)` */
  XP_ALIAS_ANALYSIS_CONSERVATIVE,
  XP_ALIAS_ANALYSIS_FROM_SCHEMA,
  XP_ALIAS_ANALYSIS_PURE_FUNCTION,
  XP_ALIAS_ANALYSIS_INTERNAL_SPECIAL_CASE
} XpAliasAnalysis;

/**
 * xp_alias_analysis_name:
 *
 * Returns: (transfer none): the kind as a dump prints it, "FROM_SCHEMA", "CONSERVATIVE (default)"
 */
XP_PUBLIC const char *xp_alias_analysis_name (XpAliasAnalysis kind);

/**
 * xp_alias_analysis_parse:
 * @text: "CONSERVATIVE", "FROM_SCHEMA", "PURE_FUNCTION", "INTERNAL_SPECIAL_CASE", or the empty text
 *   for unset
 * @kind: (out): the kind
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT, with the kinds there are.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_alias_analysis_parse (const char *text, XpAliasAnalysis *kind,
                                            GError **error);

/**
 * XpDefinition:
 * @size: sizeof (XpDefinition)
 * @schema: the declaration; a namespace in it must be the block's
 * @tags: (nullable): words separated by blanks, such as `pointwise mixed_devices`
 * @description: (nullable): one line on what the operator does
 * @alias_analysis: how far the annotations may be trusted
 * @file: where the definition stands
 * @line: and in which line
 *
 * A row to open.
 */
typedef struct
{
  size_t size;
  const char *schema;
  const char *tags;
  const char *description;
  XpAliasAnalysis alias_analysis;
  int line;
  const char *file;
} XpDefinition;

/**
 * XpImplementation:
 * @size: sizeof (XpImplementation)
 * @name: the operator, `gelu` or `add.Tensor`; a namespace in it must be the block's. %NULL for a
 *   fallback, which serves every operator that has nothing better
 * @boxed: the kernel in boxed form, or xp_fallthrough(); for a typed kernel, the adapter that
 *   unboxes for it
 * @typed: (nullable): the kernel in typed form
 * @signature: (nullable): what the kernel takes, in the form of xp_schema_signature(); compared
 * with the schema. Required where @typed is given
 * @data: given to the kernel as xp_call_data()
 * @destroy: (nullable): called with @data once the registration is gone and no call is inside: when
 *   it is released, or, if a call is inside then, at the first registration, release, load, swap or
 *   unload, of whatever and by whatever thread, after that call has left
 * @flags: %XpKernelFlags
 * @file: where the registration stands
 * @line: and in which line
 * @takes: (nullable): what the kernel takes of what its schema allows; see xp_takes()
 *
 * A kernel for a cell.
 */
typedef struct
{
  size_t size;
  const char *name;
  XpBoxedFunction boxed;
  XpTypedFunction typed;
  const char *signature;
  void *data;
  GDestroyNotify destroy;
  uint32_t flags;
  int line;
  const char *file;
  const char *takes;
} XpImplementation;

/**
 * XpKernelFlags:
 * @XP_KERNEL_CPU_SCALARS: the kernel reads zero-dimensional CPU tensors besides those of its own
 *   device
 */
typedef enum
{
  XP_KERNEL_CPU_SCALARS = 1 << 0
} XpKernelFlags;

/**
 * xp_fallthrough:
 *
 * Not a kernel, but the mark that a cell is to be passed over: `xp_impl (m, "mul.Tensor",
 * xp_fallthrough)`, `xp_fallback (m, xp_fallthrough)`.
 */
XP_PUBLIC XpStatus xp_fallthrough (XpCall *call, const XpValue *arguments, XpValue *results,
                                   GError **error);

/* --- In a block. A mistake is kept, and fails the load as a whole. ---------------------------- */

/* Opens a row. */
#define xp_def(m, declaration) xp_def_at_ ((m), (declaration), __FILE__, __LINE__)

/* Fills the cell of the block's key with a boxed kernel. */
#define xp_impl(m, operator_name, function)                                                        \
  xp_impl_with_data (m, operator_name, function, NULL, NULL)

/* The same with what the kernel takes, which is compared with the row's schema when both are there:
 * xp_impl_signed (m, "scale", scale, "(Tensor x, float factor) -> Tensor"). */
#define xp_impl_signed(m, operator_name, function, signature_text)                                 \
  xp_impl_at_ ((m), (operator_name), (function), NULL, (signature_text), NULL, NULL, __FILE__,     \
               __LINE__)

#define xp_impl_with_data(m, operator_name, function, user_data, destroy_data)                     \
  xp_impl_at_ ((m), (operator_name), (function), NULL, NULL, (user_data), (destroy_data),          \
               __FILE__, __LINE__)

/* Fills the column of the block's key wherever a row has nothing better; the block's namespace is
 * `_`. */
#define xp_fallback(m, function) xp_impl_with_data (m, NULL, function, NULL, NULL)

/**
 * xp_takes:
 * @m: the block
 * @text: clauses with a semicolon between them, each of words with blanks between them: dtypes, of
 *   which the tensors have to have one; `contiguous`; and `no_overlap` and `refuse`, which are of
 *   the whole call. `index: int64` is of that argument alone, `a b: contiguous` of two, and what
 *   stands without names is of all tensors that no clause names
 *
 * Says of the kernel that is registered next in the block what it takes of all that its schema
 * allows, in either form: `xp_takes (m, "float32 contiguous; index: int64");`.
 *
 * A tensor of another dtype is declined for the kernel: the next one of the cell is tried, and if
 * there is none the call fails with %XP_ERROR_NO_KERNEL_DTYPE. Of a strided tensor that has to be
 * contiguous a copy is made, whose elements are copied back if the argument is written; with
 * `no_overlap` a copy is made of what is read and may share memory with an argument that is
 * written. What cannot be copied is declined: where the result has to be a view of the argument,
 * where elements that are written overlap each other or those of another argument that is written,
 * and everything with `refuse`; if no kernel is left that is %XP_ERROR_NOT_CONTIGUOUS or
 * %XP_ERROR_OVERLAP. Copies are counted, see %XpRegistrationInfo. Typed callers box their arguments
 * for such a kernel.
 */
#define xp_takes(m, text) xp_library_takes ((m), (text))

/* What the xp_impl_… macros of a generated header expand to; @operator_name has its namespace. It
 * goes into the note too, so that advice can tell who has a kernel for an operator. */
#define xp_impl_typed_(m, operator_name, type, adapter, text, function)                            \
  __extension__({                                                                                  \
    XP_NOTE_RECORD_ ("kernels=" operator_name, __COUNTER__)                                        \
    XP_CHECK_KERNEL_ (operator_name, type, #type, function);                                       \
    xp_impl_at_ ((m), (operator_name), (adapter), (XpTypedFunction) XP_CHECKED_ (type, function),  \
                 (text), NULL, NULL, __FILE__, __LINE__);                                          \
  })

/* A function of exactly this type, or a compile error that begins with what was expected. */
#ifdef __cplusplus
#  define XP_CHECK_KERNEL_(operator_name, type, type_name, function) ((void) 0)
#  define XP_CHECKED_(type, function) (static_cast<type> (function))
#else
#  define XP_CHECK_KERNEL_(operator_name, type, type_name, function)                               \
    _Static_assert(__builtin_types_compatible_p (__typeof__ (&*(function)), type),                 \
                   "the kernel for " operator_name " has to be of the type " type_name             \
                   ", which the generated header declares")
#  define XP_CHECKED_(type, function) (function)
#endif

/* --- Blocks. --------------------------------------------------------------------------------- */

typedef struct
{
  size_t size;
  XpLibraryKind kind;
  int line;
  const char *name_space;
  const char *key;
  const char *file;
  void (*fill) (XpLibrary *m);
  const XpLinkedPlugin *plugin; /* whose block it is, where that is linked statically; else NULL */
} XpLibraryBlock;

/* Runs a block; called by the constructors that the macros below make. */
XP_PUBLIC void xp_library_run (const XpLibraryBlock *block);

#define XP_LIBRARY_BLOCK_(block_kind, ns, key_text, m, note, id)                                   \
  static void XP_PASTE (xp_library_fill_, id) (XpLibrary * m);                                     \
  XP_NOTE_RECORD_ (note, id)                                                                       \
  __attribute__ ((constructor, used)) static void XP_PASTE (xp_library_block_, id) (void)          \
  {                                                                                                \
    static const XpLibraryBlock block = {                                                          \
      sizeof (XpLibraryBlock),         block_kind,       __LINE__, ns, key_text, __FILE__,         \
      XP_PASTE (xp_library_fill_, id), XP_LINKED_PLUGIN_                                           \
    };                                                                                             \
    xp_library_run (&block);                                                                       \
  }                                                                                                \
  static void XP_PASTE (xp_library_fill_, id) (G_GNUC_UNUSED XpLibrary * m)

/**
 * XP_LIBRARY:
 * @ns: the namespace, as a bare word
 * @m: the name of the block's parameter
 *
 * Begins the block that defines the operators of a namespace. Only one may be loaded at a time.
 */
#define XP_LIBRARY(ns, m)                                                                          \
  XP_LIBRARY_BLOCK_ (XP_LIBRARY_KIND_DEF, #ns, NULL, m, XP_NOTE_ABI_ "\0defines=" #ns, __COUNTER__)

/**
 * XP_LIBRARY_FRAGMENT:
 *
 * Begins a block that adds definitions to a namespace.
 */
#define XP_LIBRARY_FRAGMENT(ns, m)                                                                 \
  XP_LIBRARY_BLOCK_ (XP_LIBRARY_KIND_FRAGMENT, #ns, NULL, m, XP_NOTE_ABI_ "\0defines=" #ns,        \
                     __COUNTER__)

/**
 * XP_LIBRARY_IMPL:
 * @ns: the namespace, or `_` for fallbacks
 * @key: the name of a dispatch key, as a bare word
 * @m: the name of the block's parameter
 *
 * Begins a block of kernels for one key.
 */
#define XP_LIBRARY_IMPL(ns, key, m)                                                                \
  XP_LIBRARY_BLOCK_ (XP_LIBRARY_KIND_IMPL, #ns, #key, m, XP_NOTE_ABI_ "\0fills=" #ns "/" #key,     \
                     __COUNTER__)

/**
 * XP_BACKEND:
 * @name: the name of a device, as a bare word
 *
 * Registers a device before any block of the same object runs, so that blocks may name its keys:
 * `XP_BACKEND (npu)`, `XP_LIBRARY_IMPL (myops, npu, m)`. See xp_backend_register(); a mistake fails
 * the load as a whole. Its bit is in `xp_backend_npu` then.
 */
#define XP_BACKEND(name) XP_BACKEND_BLOCK_ (name, __COUNTER__)

typedef struct
{
  size_t size;
  const char *name;
  XpBackend *backend;
  const XpLinkedPlugin *plugin; /* as in XpLibraryBlock */
} XpBackendBlock;

/* Registers a device; called by the constructors that the macro makes. */
XP_PUBLIC void xp_backend_run (const XpBackendBlock *block);

#define XP_BACKEND_BLOCK_(name, id)                                                                \
  static G_GNUC_UNUSED XpBackend xp_backend_##name;                                                \
  XP_NOTE_RECORD_ (XP_NOTE_ABI_ "\0device=" #name, id)                                             \
  __attribute__ ((constructor (102), used)) static void XP_PASTE (xp_backend_block_, id) (void)    \
  {                                                                                                \
    static const XpBackendBlock block = { sizeof (XpBackendBlock), #name, &xp_backend_##name,      \
                                          XP_LINKED_PLUGIN_ };                                     \
    xp_backend_run (&block);                                                                       \
  }

/* --- The same at run time. ------------------------------------------------------------------- */

/**
 * xp_library_new:
 * @kind: its kind
 * @name_space: a namespace, or `_`
 * @key: (nullable): the name of a dispatch key, for %XP_LIBRARY_KIND_IMPL; %NULL for the catch-all
 * @file: where it stands, for messages
 * @line: and in which line
 * @error: return location for an error
 *
 * A block that is filled while the program runs; each registration is published at once, owned by
 * the plugin whose code calls this, or by the program.
 *
 * A file that came in another way than through xp_plugin_load() is pinned by its first registration
 * and has a record from then on, unless its note is refused or a plugin of that name is loaded.
 *
 * A plugin that is still being loaded, or has begun to leave, is refused, here and by
 * xp_library_def() and xp_library_impl(): a kernel of it that runs while it is unloaded, say, or a
 * thread that its constructor starts. A constructor of an object that came in another way than
 * through xp_plugin_load() must not wait for a thread that registers: to keep the object mapped
 * that takes the linker's lock, which a constructor runs under.
 *
 * Errors: %XP_ERROR_NAMESPACE_TAKEN, %XP_ERROR_INVALID_REGISTRATION, %XP_ERROR_UNKNOWN_KEY,
 * %XP_ERROR_PLUGIN_NOT_LOADED, %XP_ERROR_SECOND_CORE.
 *
 * Returns: (transfer full): the block; xp_library_free() takes back all that was registered in it
 */
XP_PUBLIC XpLibrary *xp_library_new (XpLibraryKind kind, const char *name_space, const char *key,
                                     const char *file, int line, GError **error);

/**
 * xp_library_free:
 *
 * Releases every registration of a block of xp_library_new(), in order of creation, and waits for
 * nothing: data of a kernel that a call is inside are destroyed later; %XpImplementation says when.
 */
XP_PUBLIC void xp_library_free (XpLibrary *library);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpLibrary, xp_library_free)

/**
 * xp_library_def:
 *
 * Opens a row.
 *
 * Errors: %XP_ERROR_SCHEMA_SYNTAX, %XP_ERROR_INVALID_REGISTRATION for the wrong kind of block or
 * namespace, %XP_ERROR_DUPLICATE_DEF, %XP_ERROR_SCHEMA_MISMATCH for a kernel that is there already
 * and does not fit, %XP_ERROR_PLUGIN_NOT_LOADED. In a constructor only the first two are found
 * here, and all of them are kept.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_library_def (XpLibrary *library, const XpDefinition *definition,
                                   GError **error);

/**
 * xp_library_impl:
 *
 * Fills a cell, or with a name of %NULL a fallback. The row need not be defined yet.
 *
 * On success the data are the registration's, and destroyed with it, also when the load that it is
 * part of fails later. On failure they stay the caller's: whatever the error, nothing destroys
 * them.
 *
 * Errors: %XP_ERROR_INVALID_REGISTRATION, %XP_ERROR_SCHEMA_MISMATCH, %XP_ERROR_DUPLICATE_FALLBACK,
 * %XP_ERROR_PRIORITY_TIE, %XP_ERROR_PLUGIN_NOT_LOADED.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_library_impl (XpLibrary *library, const XpImplementation *implementation,
                                    GError **error);

/* What xp_takes() does. A mistake in @takes is found when the kernel is registered. */
XP_PUBLIC void xp_library_takes (XpLibrary *library, const char *takes);

/* --- What the macros above expand to. All members in order, for C and for C++. -----------------
 */

static inline gboolean
xp_def_at_ (XpLibrary *library, const char *declaration, const char *file, int line)
{
  const XpDefinition definition = { sizeof (XpDefinition),         declaration, NULL, NULL,
                                    XP_ALIAS_ANALYSIS_FROM_SCHEMA, line,        file };
  return xp_library_def (library, &definition, NULL);
}

static inline gboolean
xp_impl_at_ (XpLibrary *library, const char *name, XpBoxedFunction boxed, XpTypedFunction typed,
             const char *signature, void *data, GDestroyNotify destroy, const char *file, int line)
{
  const XpImplementation implementation = {
    sizeof (XpImplementation), name, boxed, typed, signature, data, destroy, 0, line, file, NULL
  };
  return xp_library_impl (library, &implementation, NULL);
}

G_END_DECLS

#endif
