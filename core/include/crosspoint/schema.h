/* SPDX-License-Identifier: MIT
 *
 * schema.h: signatures of operators in PyTorch's language: parsing, printing, comparing, and
 * fitting the arguments of a call to them. The grammar is that of reference 5.2.
 *
 * The structures below are made only by this library, belong to their schema, and never change.
 * Fields may be appended in a later minor version.
 */
#ifndef XP_SCHEMA_H
#define XP_SCHEMA_H

#include <crosspoint/value.h>

G_BEGIN_DECLS

/* Types without parameters: _ (enumerator, name as a schema writes it, name a canonical schema
 * prints). */
#define XP_PLAIN_TYPE_LIST(_)                                                                      \
  _ (TENSOR, "Tensor", "Tensor")                                                                   \
  _ (INT, "int", "int")                                                                            \
  _ (SYM_INT, "SymInt", "SymInt")                                                                  \
  _ (FLOAT, "float", "float")                                                                      \
  _ (BOOL, "bool", "bool")                                                                         \
  _ (SYM_BOOL, "SymBool", "SymBool")                                                               \
  _ (COMPLEX, "complex", "complex")                                                                \
  _ (SCALAR, "Scalar", "Scalar")                                                                   \
  _ (STR, "str", "str")                                                                            \
  _ (SCALAR_TYPE, "ScalarType", "ScalarType")                                                      \
  _ (LAYOUT, "Layout", "Layout")                                                                   \
  _ (MEMORY_FORMAT, "MemoryFormat", "MemoryFormat")                                                \
  _ (DEVICE, "Device", "Device")                                                                   \
  _ (DEVICE_INDEX, "DeviceIndex", "int")                                                           \
  _ (GENERATOR, "Generator", "Generator")                                                          \
  _ (DIMNAME, "Dimname", "str")                                                                    \
  _ (STORAGE, "Storage", "Storage")                                                                \
  _ (STREAM, "Stream", "Stream")                                                                   \
  _ (QSCHEME, "QScheme", "QScheme")                                                                \
  _ (QUANTIZER, "Quantizer", "Quantizer")                                                          \
  _ (CONST_QUANTIZER, "ConstQuantizerPtr", "int")                                                  \
  _ (CAPSULE, "Capsule", "Capsule")                                                                \
  _ (ANY, "Any", "Any")                                                                            \
  _ (ANY_CLASS, "AnyClassType", "AnyClassType")                                                    \
  _ (ANY_ENUM, "AnyEnumType", "AnyEnumType")                                                       \
  _ (PY_OBJECT, "PyObject", "PyObject")                                                            \
  _ (NONE, "None", "NoneType")                                                                     \
  _ (NONE_TYPE, "NoneType", "NoneType")

#define XP_PLAIN_TYPE_ENUMERATOR_(enumerator, name, printed) XP_TYPE_##enumerator,
typedef enum
{
  XP_PLAIN_TYPE_LIST (XP_PLAIN_TYPE_ENUMERATOR_) XP_TYPE_OPTIONAL, /* elements[0]? */
  XP_TYPE_LIST,  /* elements[0][], or [fixed_size] */
  XP_TYPE_TUPLE, /* (elements …) */
  XP_TYPE_DICT,  /* Dict(elements[0], elements[1]) */
  XP_TYPE_FUTURE,
  XP_TYPE_RREF,
  XP_TYPE_AWAIT,
  XP_TYPE_UNION,
  XP_TYPE_CLASS,   /* a dotted name */
  XP_TYPE_VARIABLE /* a lower-case name that stands for any type */
} XpTypeKind;

typedef struct XpType XpType;

/**
 * XpType:
 * @kind: what it is
 * @n_elements: how many types it is made of
 * @elements: those types
 * @fixed_size: N of a list written with [N], else 0
 * @name: of a class or variable, else %NULL
 */
struct XpType
{
  XpTypeKind kind;
  uint32_t n_elements;
  const XpType *const *elements;
  int64_t fixed_size;
  const char *name;
};

/**
 * XpAlias:
 * @is_write: whether `!` stands in it
 * @before: (array zero-terminated=1): the sets before the call, in source order; %NULL where there
 *   are none
 * @after: (array zero-terminated=1): the sets after it; equals @before where no arrow is written
 * @contained: (nullable): that of the elements of a list
 *
 * An alias annotation, as `(a!)` or `(a -> *)`.
 */
typedef struct XpAlias XpAlias;
struct XpAlias
{
  gboolean is_write;
  const char *const *before;
  const char *const *after;
  const XpAlias *contained;
};

/**
 * XpArgument:
 * @name: its name; empty for a return without one
 * @type: its type
 * @alias: (nullable): its alias annotation
 * @has_default: whether it may be left out
 * @default_value: the default, already of the kind that a call passes (a `ScalarType` default is a
 *   dtype value); None where there is none
 * @is_keyword_only: whether it stands after `*`
 *
 * An argument or a return.
 */
typedef struct
{
  const char *name;
  const XpType *type;
  const XpAlias *alias;
  gboolean has_default;
  gboolean is_keyword_only;
  XpValue default_value;
} XpArgument;

/**
 * XpSchema:
 * @name: namespace and name, `aten::add`
 * @overload: the overload, `Tensor`; empty where there is none
 *
 * The signature of an operator.
 */
typedef struct
{
  const char *name;
  const char *overload;
  uint32_t n_arguments;
  uint32_t n_returns;
  const XpArgument *arguments;
  const XpArgument *returns;
  gboolean is_vararg;
  gboolean is_varret;
} XpSchema;

/**
 * xp_schema_parse:
 * @text: a declaration, `aten::relu(Tensor self) -> Tensor`
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_SCHEMA_SYNTAX, with the source line and the place underlined, in the shapes of
 * reference 5.5. Beyond PyTorch, a default is checked against the type of its argument.
 *
 * Returns: (transfer full): the schema
 */
XP_PUBLIC XpSchema *xp_schema_parse (const char *text, GError **error);

XP_PUBLIC XpSchema *xp_schema_ref (XpSchema *schema);
XP_PUBLIC void xp_schema_unref (XpSchema *schema);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpSchema, xp_schema_unref)

/**
 * xp_schema_to_string:
 *
 * The canonical form of reference 4.5, but for alias sets, which keep their source order. What this
 * prints, xp_schema_parse() reads back to an equal schema.
 *
 * Returns: (transfer full): the text
 */
XP_PUBLIC char *xp_schema_to_string (const XpSchema *schema);

/**
 * xp_type_to_string:
 *
 * Returns: (transfer full): the type as a canonical schema prints it
 */
XP_PUBLIC char *xp_type_to_string (const XpType *type);

/**
 * xp_schema_operator_name:
 *
 * Returns: (transfer full): `aten::add.Tensor`
 */
XP_PUBLIC char *xp_schema_operator_name (const XpSchema *schema);

/**
 * xp_schema_signature:
 *
 * What a typed caller and a kernel must agree on, in the form in which a dump shows what a kernel
 * takes: types without names, defaults and aliases, as `(Tensor _0, str _1) -> Tensor _0`. Types
 * that typed functions pass alike are written alike: SymInt as int, `int[2]` as `int[]`. With any
 * name before it, it parses as a schema.
 *
 * Returns: (transfer full): the text
 */
XP_PUBLIC char *xp_schema_signature (const XpSchema *schema);

/**
 * xp_schema_difference:
 * @a: the schema that is expected
 * @b: the one that was found
 *
 * Compares the number and types of arguments and returns; names, defaults, aliases and keyword-only
 * are not compared (reference 4.6).
 *
 * Returns: (transfer full) (nullable): the first difference in PyTorch's words, or %NULL where
 * there is none
 */
XP_PUBLIC char *xp_schema_difference (const XpSchema *a, const XpSchema *b);

/**
 * xp_type_accepts:
 * @type: the type of an argument
 * @value: a value
 *
 * Whether a call may pass @value for @type, possibly converted: an int for a float, one int for
 * `int[2]`, a text for a Device, a list of ints for `float[]`.
 */
XP_PUBLIC gboolean xp_type_accepts (const XpType *type, XpValue value);

/**
 * xp_schema_match:
 * @schema: the signature
 * @positional: (array length=n_positional): arguments by position
 * @names: (array length=n_named) (nullable): names of the arguments given by name
 * @named: (array length=n_named) (nullable): those arguments
 * @arguments: (out caller-allocates): an array of schema->n_arguments values
 * @error: return location for an error
 *
 * Puts arguments in order, converts them, and fills in defaults, so that the call can be made.
 *
 * Errors: %XP_ERROR_ARGUMENT, in PyTorch's words (reference 4.6): too many, missing, of the wrong
 * type, unknown or given twice.
 *
 * Returns: %TRUE with every element of @arguments owned by the caller, who gives them back with
 *   xp_values_clear(); %FALSE with all of them None
 */
XP_PUBLIC gboolean xp_schema_match (const XpSchema *schema, const XpValue *positional,
                                    size_t n_positional, const char *const *names,
                                    const XpValue *named, size_t n_named, XpValue *arguments,
                                    GError **error);

G_END_DECLS

#endif
