/* SPDX-License-Identifier: MIT
 *
 * dtype.h: element types, layouts, memory formats and devices: the small enumerations that tensors
 * and arguments are described with. Numbers of element types, layouts and formats are PyTorch's.
 */
#ifndef XP_DTYPE_H
#define XP_DTYPE_H

#include <crosspoint/error.h>

G_BEGIN_DECLS

/* _ (enumerator, number, name, PyTorch's name in messages, bytes, category, DLPack type code)
 * The category orders promotion: 0 bool, 1 integer, 2 floating point, 3 complex. */
#define XP_DTYPE_LIST(_)                                                                           \
  _ (UINT8, 0, "uint8", "Byte", 1, 1, 1)                                                           \
  _ (INT8, 1, "int8", "Char", 1, 1, 0)                                                             \
  _ (INT16, 2, "int16", "Short", 2, 1, 0)                                                          \
  _ (INT32, 3, "int32", "Int", 4, 1, 0)                                                            \
  _ (INT64, 4, "int64", "Long", 8, 1, 0)                                                           \
  _ (FLOAT16, 5, "float16", "Half", 2, 2, 2)                                                       \
  _ (FLOAT32, 6, "float32", "Float", 4, 2, 2)                                                      \
  _ (FLOAT64, 7, "float64", "Double", 8, 2, 2)                                                     \
  _ (COMPLEX64, 9, "complex64", "ComplexFloat", 8, 3, 5)                                           \
  _ (COMPLEX128, 10, "complex128", "ComplexDouble", 16, 3, 5)                                      \
  _ (BOOL, 11, "bool", "Bool", 1, 0, 6)                                                            \
  _ (BFLOAT16, 15, "bfloat16", "BFloat16", 2, 2, 4)

#define XP_DTYPE_ENUMERATOR_(enumerator, number, name, message_name, bytes, category, code)        \
  XP_##enumerator = number,
typedef enum
{
  XP_DTYPE_LIST (XP_DTYPE_ENUMERATOR_) XP_DTYPE_LIMIT = 16
} XpDType;

typedef enum
{
  XP_CATEGORY_BOOL,
  XP_CATEGORY_INTEGER,
  XP_CATEGORY_FLOAT,
  XP_CATEGORY_COMPLEX
} XpDTypeCategory;

/**
 * xp_dtype_is_valid:
 *
 * Returns: whether @number is one of %XpDType; 8, 12 to 14 and all above 15 are not
 */
XP_PUBLIC gboolean xp_dtype_is_valid (int64_t number);

/**
 * xp_dtype_size:
 *
 * Returns: bytes per element of @dtype
 */
XP_PUBLIC size_t xp_dtype_size (XpDType dtype);

/**
 * xp_dtype_name:
 *
 * Returns: (transfer none): "float32"
 */
XP_PUBLIC const char *xp_dtype_name (XpDType dtype);

/**
 * xp_dtype_message_name:
 *
 * Returns: (transfer none): the name that PyTorch's messages use, "Float"
 */
XP_PUBLIC const char *xp_dtype_message_name (XpDType dtype);

XP_PUBLIC XpDTypeCategory xp_dtype_category (XpDType dtype);

static inline gboolean
xp_dtype_is_floating (XpDType dtype)
{
  return xp_dtype_category (dtype) == XP_CATEGORY_FLOAT;
}

/**
 * xp_dtype_parse:
 * @name: "float32", or one of PyTorch's other names of the same type: "float", "double", "long" …
 * @dtype: (out): the type
 *
 * Returns: whether @name is an element type
 */
XP_PUBLIC gboolean xp_dtype_parse (const char *name, XpDType *dtype);

/**
 * xp_dtype_promote:
 *
 * Returns: the type that holds elements of both, as torch.promote_types() says
 */
XP_PUBLIC XpDType xp_dtype_promote (XpDType a, XpDType b);

/**
 * xp_dtype_can_cast:
 *
 * Returns: whether a result of type @from may be written to a tensor of type @to, as
 *   torch.can_cast() says: never from complex to real, floating point to integer, or a number to
 *   bool
 */
XP_PUBLIC gboolean xp_dtype_can_cast (XpDType from, XpDType to);

typedef enum
{
  XP_STRIDED = 0,
  XP_SPARSE_COO = 1,
  XP_SPARSE_CSR = 2,
  XP_MKLDNN = 3
} XpLayout;

/**
 * xp_layout_name:
 *
 * Returns: (transfer none): "strided", "sparse_coo" …; "unknown" for another number
 */
XP_PUBLIC const char *xp_layout_name (XpLayout layout);

/**
 * xp_layout_parse:
 *
 * Returns: whether @name is a layout
 */
XP_PUBLIC gboolean xp_layout_parse (const char *name, XpLayout *layout);

typedef enum
{
  XP_CONTIGUOUS_FORMAT = 0,
  XP_PRESERVE_FORMAT = 1,
  XP_CHANNELS_LAST = 2,
  XP_CHANNELS_LAST_3D = 3
} XpMemoryFormat;

/**
 * xp_memory_format_name:
 *
 * Returns: (transfer none): "contiguous_format" …; "unknown" for another number
 */
XP_PUBLIC const char *xp_memory_format_name (XpMemoryFormat format);

/**
 * xp_memory_format_parse:
 *
 * Returns: whether @name is a memory format
 */
XP_PUBLIC gboolean xp_memory_format_parse (const char *name, XpMemoryFormat *format);

/**
 * XpDevice:
 * @backend: an %XpBackend
 * @index: which device of that kind; -1 where it does not matter
 *
 * That of a named device is good while the device is registered or a tensor of it lives; after that
 * the same number may be another device's, and nothing tells. Keep its text, see
 * xp_device_to_string() and xp_device_parse(), where it is to outlive them.
 */
typedef struct
{
  int32_t backend;
  int32_t index;
} XpDevice;

#define XP_CPU ((XpDevice){ XP_BACKEND_CPU, -1 })
#define XP_META ((XpDevice){ XP_BACKEND_Meta, -1 })

/**
 * xp_device_equal:
 *
 * Returns: whether both name the same memory; an index of -1 means the first device
 */
static inline gboolean
xp_device_equal (XpDevice a, XpDevice b)
{
  return a.backend == b.backend && (a.index < 0 ? 0 : a.index) == (b.index < 0 ? 0 : b.index);
}

/**
 * xp_device_to_string:
 *
 * Returns: (transfer full): "cpu", "cuda:0"
 */
XP_PUBLIC char *xp_device_to_string (XpDevice device);

/**
 * xp_device_parse:
 * @text: a device, "cpu", "cuda:1", "meta", or the name of a backend that a plugin brought
 * @device: (out): the device
 * @error: return location for an error
 *
 * Errors: %XP_ERROR_INVALID_ARGUMENT, with the names there are.
 *
 * Returns: %TRUE on success
 */
XP_PUBLIC gboolean xp_device_parse (const char *text, XpDevice *device, GError **error);

G_END_DECLS

#endif
