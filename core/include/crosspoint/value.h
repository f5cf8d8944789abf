/* SPDX-License-Identifier: MIT
 *
 * value.h: one argument or result of a call in boxed form, and the objects it may hold.
 *
 * Ownership, everywhere in this library: arguments are borrowed for the call, and keeping one takes
 * xp_value_ref(); results are owned by the caller, who gives them back with xp_value_clear(). A
 * result that is an argument, as a returned `(a!)` is, is a new reference.
 *
 * The objects (complex numbers, strings, lists, dictionaries, generators, opaque objects) are
 * counted by atomic references and, but for the state of a generator, never change once made.
 */
#ifndef XP_VALUE_H
#define XP_VALUE_H

#include <crosspoint/dtype.h>

G_BEGIN_DECLS

typedef struct XpTensor XpTensor;
typedef struct XpObject XpObject;
typedef struct XpString XpString;
typedef struct XpComplex XpComplex;
typedef struct XpList XpList;
typedef struct XpDict XpDict;
typedef struct XpGenerator XpGenerator;
typedef struct XpOpaque XpOpaque;

/**
 * XpTag:
 *
 * What an %XpValue holds. Tags are appended, never renumbered.
 */
typedef enum
{
  XP_TAG_NONE = 0,
  XP_TAG_BOOL,
  XP_TAG_INT,
  XP_TAG_FLOAT,
  XP_TAG_DTYPE,
  XP_TAG_LAYOUT,
  XP_TAG_MEMORY_FORMAT,
  XP_TAG_DEVICE,
  /* From here on the value holds a reference. */
  XP_TAG_TENSOR,
  XP_TAG_COMPLEX,
  XP_TAG_STRING,
  XP_TAG_LIST,
  XP_TAG_DICT,
  XP_TAG_GENERATOR,
  XP_TAG_OPAQUE,
  XP_N_TAGS
} XpTag;

/**
 * XpValue:
 * @tag: an %XpTag
 * @length: bytes of a string, elements of a list, entries of a dictionary; else zero
 *
 * 16 bytes, frozen. Unused bits are zero, so inline values compare as bytes. An all-zero value is
 * None.
 */
typedef struct
{
  uint32_t tag;
  uint32_t length;
  union
  {
    uint64_t bits;
    int64_t integer; /* INT, BOOL, DTYPE, LAYOUT, MEMORY_FORMAT */
    double number;
    XpDevice device;
    XpTensor *tensor;
    XpObject *object;
    XpComplex *complex_;
    XpString *string;
    XpList *list;
    XpDict *dict;
    XpGenerator *generator;
    XpOpaque *opaque;
  } as;
} XpValue;

G_STATIC_ASSERT (sizeof (XpValue) == 16);

#define XP_NONE ((XpValue){ 0, 0, { 0 } })

/* Inline values. */
static inline XpValue
xp_value_bool (gboolean value)
{
  return (XpValue){ XP_TAG_BOOL, 0, { .integer = value != 0 } };
}

static inline XpValue
xp_value_int (int64_t value)
{
  return (XpValue){ XP_TAG_INT, 0, { .integer = value } };
}

static inline XpValue
xp_value_float (double value)
{
  return (XpValue){ XP_TAG_FLOAT, 0, { .number = value } };
}

static inline XpValue
xp_value_dtype (XpDType value)
{
  return (XpValue){ XP_TAG_DTYPE, 0, { .integer = value } };
}

static inline XpValue
xp_value_layout (XpLayout value)
{
  return (XpValue){ XP_TAG_LAYOUT, 0, { .integer = value } };
}

static inline XpValue
xp_value_memory_format (XpMemoryFormat value)
{
  return (XpValue){ XP_TAG_MEMORY_FORMAT, 0, { .integer = value } };
}

static inline XpValue
xp_value_device (XpDevice value)
{
  return (XpValue){ XP_TAG_DEVICE, 0, { .device = value } };
}

/**
 * xp_value_tensor:
 * @tensor: (nullable): a tensor
 *
 * Wraps without taking a reference: for an argument the caller keeps his, for a result he passes it
 * on.
 *
 * Returns: the value; None for %NULL
 */
static inline XpValue
xp_value_tensor (XpTensor *tensor)
{
  return tensor == NULL ? XP_NONE : (XpValue){ XP_TAG_TENSOR, 0, { .tensor = tensor } };
}

/**
 * xp_value_list:
 * @list: a list
 *
 * Wraps without taking a reference, as the next ones do.
 */
XP_PUBLIC XpValue xp_value_list (XpList *list);
XP_PUBLIC XpValue xp_value_dict (XpDict *dict);
XP_PUBLIC XpValue xp_value_generator (XpGenerator *generator);
XP_PUBLIC XpValue xp_value_opaque (XpOpaque *opaque);

/**
 * xp_value_string:
 * @text: a text, NUL-terminated
 *
 * Returns: (transfer full): a value that holds a new string
 */
XP_PUBLIC XpValue xp_value_string (const char *text);

/**
 * xp_value_string_with_length:
 * @text: bytes, which may hold NUL
 * @length: how many; at most 2^32 - 1
 *
 * Returns: (transfer full): a value that holds a new string
 */
XP_PUBLIC XpValue xp_value_string_with_length (const char *text, size_t length);

/**
 * xp_value_complex:
 *
 * Returns: (transfer full): a value that holds a new complex number
 */
XP_PUBLIC XpValue xp_value_complex (double real, double imaginary);

/**
 * xp_value_ref:
 *
 * Returns: (transfer full): @value with a reference of its own, where it holds one
 */
XP_PUBLIC XpValue xp_value_ref (XpValue value);

/**
 * xp_value_clear:
 * @value: a value that the caller owns
 *
 * Gives the reference back and leaves None.
 */
XP_PUBLIC void xp_value_clear (XpValue *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (XpValue, xp_value_clear)

/**
 * xp_values_clear:
 *
 * Clears each of @n values.
 */
XP_PUBLIC void xp_values_clear (XpValue *values, size_t n);

/**
 * xp_value_is_known:
 *
 * Returns: whether a dtype, layout, memory format or backend that @value holds is one of those
 * there are; %TRUE for all else
 */
XP_PUBLIC gboolean xp_value_is_known (XpValue value);

/**
 * xp_value_equal:
 *
 * Returns: whether both hold the same: the same bits, equal strings, complex numbers, lists and
 *   dictionaries element by element, the same tensor, generator or opaque object. A NaN equals
 *   itself here.
 */
XP_PUBLIC gboolean xp_value_equal (XpValue a, XpValue b);

/**
 * xp_tag_name:
 *
 * Returns: (transfer none): the type as schemas write it: "int", "Tensor", "str", "NoneType"
 */
XP_PUBLIC const char *xp_tag_name (XpTag tag);

/**
 * xp_value_to_string:
 *
 * Prints a value as Python would: `3`, `1.5`, `"none"`, `[1, 2]`, `None`; a tensor as its dtype and
 * shape in short (`Tensor float32 [2, 3]`). Numbers round-trip.
 *
 * Returns: (transfer full): the text
 */
XP_PUBLIC char *xp_value_to_string (XpValue value);

/* Strings. */

/**
 * xp_string_text:
 *
 * Returns: (transfer none): the bytes, followed by a NUL; valid while the string is
 */
XP_PUBLIC const char *xp_string_text (const XpString *string);

/* Numbers. A Scalar argument is an XpValue that holds a bool, an int, a float or a complex. */

static inline gboolean
xp_value_is_scalar (XpValue value)
{
  return value.tag == XP_TAG_INT || value.tag == XP_TAG_FLOAT || value.tag == XP_TAG_BOOL
         || value.tag == XP_TAG_COMPLEX;
}

/**
 * xp_scalar_to_double:
 * @scalar: a Scalar
 *
 * Returns: its value; the real part of a complex number; 0 for what is no Scalar
 */
XP_PUBLIC double xp_scalar_to_double (XpValue scalar);

/**
 * xp_scalar_to_int64:
 *
 * Returns: its value, truncated towards zero and clamped to the range of int64_t; NaN gives 0
 */
XP_PUBLIC int64_t xp_scalar_to_int64 (XpValue scalar);

/**
 * xp_scalar_to_complex:
 *
 * Stores the parts of @scalar; the imaginary part of a real number is 0.
 */
XP_PUBLIC void xp_scalar_to_complex (XpValue scalar, double *real, double *imaginary);

/**
 * xp_scalar_dtype:
 *
 * Returns: the element type PyTorch gives a Scalar on its own: bool, int64, float64, complex128
 */
XP_PUBLIC XpDType xp_scalar_dtype (XpValue scalar);

/* Lists. A list of ints, floats, bools or tensors stores them plainly, so that a kernel reads an
 * array; any other list stores values. */

/**
 * xp_list_new:
 * @values: (array length=n): the elements; each gets a reference of its own
 * @n: how many
 *
 * Stored plainly when all elements are ints, all floats, all bools, or all tensors or None with at
 * least one tensor; else as values. An empty list fits every list type.
 *
 * Returns: (transfer full): a new list
 */
XP_PUBLIC XpList *xp_list_new (const XpValue *values, size_t n);

XP_PUBLIC XpList *xp_list_new_int (const int64_t *elements, size_t n);
XP_PUBLIC XpList *xp_list_new_float (const double *elements, size_t n);
XP_PUBLIC XpList *xp_list_new_bool (const bool *elements, size_t n);

/**
 * xp_list_new_tensor:
 * @elements: (array length=n) (element-type XpTensor): tensors or %NULL; each gets a reference
 *
 * Returns: (transfer full): a new list
 */
XP_PUBLIC XpList *xp_list_new_tensor (XpTensor *const *elements, size_t n);

XP_PUBLIC XpList *xp_list_ref (XpList *list);
XP_PUBLIC void xp_list_unref (XpList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (XpList, xp_list_unref)

XP_PUBLIC size_t xp_list_length (const XpList *list);

/**
 * xp_list_get:
 * @list: a list
 * @index: below its length
 *
 * Returns: (transfer none): the element, borrowed from the list
 */
XP_PUBLIC XpValue xp_list_get (const XpList *list, size_t index);

/**
 * xp_list_element_tag:
 *
 * Returns: %XP_TAG_INT, %XP_TAG_FLOAT, %XP_TAG_BOOL or %XP_TAG_TENSOR where the elements are stored
 *   plainly, %XP_TAG_NONE where they are values or there is none
 */
XP_PUBLIC XpTag xp_list_element_tag (const XpList *list);

/**
 * xp_list_ints:
 *
 * Returns: (transfer none) (nullable): the elements as an array, or %NULL for a list of another
 *   kind. An empty list gives a valid pointer to nothing.
 */
XP_PUBLIC const int64_t *xp_list_ints (const XpList *list);
XP_PUBLIC const double *xp_list_floats (const XpList *list);
XP_PUBLIC const bool *xp_list_bools (const XpList *list);
XP_PUBLIC XpTensor *const *xp_list_tensors (const XpList *list);

/* Arrays that typed kernels and callers pass by value. They borrow what they point to. */
typedef struct
{
  const int64_t *data;
  size_t length;
} XpInts;

typedef struct
{
  const double *data;
  size_t length;
} XpFloats;

typedef struct
{
  const bool *data;
  size_t length;
} XpBools;

typedef struct
{
  XpTensor *const *data;
  size_t length;
} XpTensors;

/* XP_INTS (2, 3): an XpInts of literals, for a call. */
#define XP_INTS(...)                                                                               \
  ((XpInts){ (const int64_t[]){ __VA_ARGS__ },                                                     \
             sizeof ((const int64_t[]){ __VA_ARGS__ }) / sizeof (int64_t) })

/* Dictionaries keep the order of their entries. */

/**
 * xp_dict_new:
 * @keys: (array length=n): the keys, all different: bools, ints, floats or strings
 * @values: (array length=n): their values; keys and values get references of their own
 *
 * Returns: (transfer full): a new dictionary
 */
XP_PUBLIC XpDict *xp_dict_new (const XpValue *keys, const XpValue *values, size_t n);
XP_PUBLIC XpDict *xp_dict_ref (XpDict *dict);
XP_PUBLIC void xp_dict_unref (XpDict *dict);
XP_PUBLIC size_t xp_dict_length (const XpDict *dict);

/**
 * xp_dict_entry:
 * @index: below the length
 * @key: (out) (transfer none): borrowed from the dictionary
 * @value: (out) (transfer none): borrowed from the dictionary
 */
XP_PUBLIC void xp_dict_entry (const XpDict *dict, size_t index, XpValue *key, XpValue *value);

/**
 * xp_dict_lookup:
 *
 * Returns: (nullable) (transfer none): the value of @key, borrowed; %NULL where it has none
 */
XP_PUBLIC const XpValue *xp_dict_lookup (const XpDict *dict, XpValue key);

/* Generators: where a kernel's random numbers come from. */

/**
 * xp_generator_new:
 * @device: the device its kernels run on
 * @seed: the seed
 *
 * Returns: (transfer full): a new generator at the start of its sequence
 */
XP_PUBLIC XpGenerator *xp_generator_new (XpDevice device, uint64_t seed);
XP_PUBLIC XpGenerator *xp_generator_ref (XpGenerator *generator);
XP_PUBLIC void xp_generator_unref (XpGenerator *generator);
XP_PUBLIC XpDevice xp_generator_device (const XpGenerator *generator);
XP_PUBLIC uint64_t xp_generator_seed (const XpGenerator *generator);

/**
 * xp_generator_advance:
 * @count: how many random numbers the caller is about to draw
 *
 * Reserves a stretch of the sequence. Safe from several threads: no two stretches overlap.
 *
 * Returns: the position of the first number of the stretch
 */
XP_PUBLIC uint64_t xp_generator_advance (XpGenerator *generator, uint64_t count);

/* Opaque objects: anything else that passes through a call, as __torch__ classes do. */

/**
 * xp_opaque_new:
 * @type_name: the name of its type, as the schema writes it; copied
 * @data: the caller's data
 * @destroy: (nullable): called with @data when the last reference goes
 *
 * A plugin whose code @destroy lies in pins itself for as long as the object lives.
 *
 * Returns: (transfer full): a new object
 */
XP_PUBLIC XpOpaque *xp_opaque_new (const char *type_name, void *data, GDestroyNotify destroy);
XP_PUBLIC const char *xp_opaque_type_name (const XpOpaque *opaque);
XP_PUBLIC void *xp_opaque_data (const XpOpaque *opaque);

G_END_DECLS

#endif
