/* SPDX-License-Identifier: MIT
 *
 * dtype.c: the facts about element types, layouts and memory formats.
 */
#include "value/dtype.h"

#include <string.h>

#define FACTS(enumerator, number, name, message_name, bytes, category, code)                       \
  [number] = { name, message_name, bytes, category, code },
static const XpDTypeFacts dtypes[XP_DTYPE_LIMIT] = { XP_DTYPE_LIST (FACTS) };

static const char *const layouts[] = { [XP_STRIDED] = "strided",
                                       [XP_SPARSE_COO] = "sparse_coo",
                                       [XP_SPARSE_CSR] = "sparse_csr",
                                       [XP_MKLDNN] = "_mkldnn" };
static const char *const formats[] = { [XP_CONTIGUOUS_FORMAT] = "contiguous_format",
                                       [XP_PRESERVE_FORMAT] = "preserve_format",
                                       [XP_CHANNELS_LAST] = "channels_last",
                                       [XP_CHANNELS_LAST_3D] = "channels_last_3d" };

/* PyTorch's other names of element types. */
static const struct
{
  const char *name;
  XpDType dtype;
} synonyms[] = {
  { "byte", XP_UINT8 },         { "char", XP_INT8 },      { "short", XP_INT16 },
  { "int", XP_INT32 },          { "long", XP_INT64 },     { "half", XP_FLOAT16 },
  { "float", XP_FLOAT32 },      { "double", XP_FLOAT64 }, { "cfloat", XP_COMPLEX64 },
  { "cdouble", XP_COMPLEX128 },
};

const XpDTypeFacts *
xp_dtype_facts (XpDType dtype)
{
  static const XpDTypeFacts none = { "unknown", "Undefined", 0, 0, 3 };
  return xp_dtype_is_valid (dtype) ? &dtypes[dtype] : &none;
}

gboolean
xp_dtype_is_valid (int64_t number)
{
  return number >= 0 && number < XP_DTYPE_LIMIT && dtypes[number].name != NULL;
}

size_t
xp_dtype_size (XpDType dtype)
{
  return xp_dtype_facts (dtype)->size;
}

const char *
xp_dtype_name (XpDType dtype)
{
  return xp_dtype_facts (dtype)->name;
}

const char *
xp_dtype_message_name (XpDType dtype)
{
  return xp_dtype_facts (dtype)->message_name;
}

XpDTypeCategory
xp_dtype_category (XpDType dtype)
{
  return (XpDTypeCategory) xp_dtype_facts (dtype)->category;
}

gboolean
xp_dtype_parse (const char *name, XpDType *dtype)
{
  g_return_val_if_fail (name != NULL && dtype != NULL, FALSE);
  if (g_str_has_prefix (name, "torch."))
    name += strlen ("torch.");
  for (unsigned i = 0; i < XP_DTYPE_LIMIT; i++)
    if (dtypes[i].name != NULL && strcmp (dtypes[i].name, name) == 0)
      {
        *dtype = (XpDType) i;
        return TRUE;
      }
  for (unsigned i = 0; i < XP_LENGTH (synonyms); i++)
    if (strcmp (synonyms[i].name, name) == 0)
      {
        *dtype = synonyms[i].dtype;
        return TRUE;
      }
  return FALSE;
}

static gboolean
is_half (XpDType dtype)
{
  return dtype == XP_FLOAT16 || dtype == XP_BFLOAT16;
}

static XpDType
promote_integers (XpDType a, XpDType b)
{
  if (a == b)
    return a;
  size_t size_a = xp_dtype_size (a), size_b = xp_dtype_size (b);
  /* uint8 with int8 needs one more bit than either has. */
  if (size_a == 1 && size_b == 1)
    return XP_INT16;
  return size_a > size_b ? a : b;
}

static XpDType
promote_complex (XpDType a, XpDType b)
{
  gboolean wide = a == XP_COMPLEX128 || b == XP_COMPLEX128 || a == XP_FLOAT64 || b == XP_FLOAT64;
  return wide ? XP_COMPLEX128 : XP_COMPLEX64;
}

XpDType
xp_dtype_promote (XpDType a, XpDType b)
{
  XpDTypeCategory category_a = xp_dtype_category (a), category_b = xp_dtype_category (b);
  if (category_a == XP_CATEGORY_COMPLEX || category_b == XP_CATEGORY_COMPLEX)
    return promote_complex (a, b);
  if (category_a != category_b)
    return category_a > category_b ? a : b;
  if (category_a == XP_CATEGORY_BOOL || a == b)
    return a;
  if (category_a == XP_CATEGORY_INTEGER)
    return promote_integers (a, b);
  if (is_half (a) && is_half (b))
    return XP_FLOAT32;
  return xp_dtype_size (a) > xp_dtype_size (b) ? a : b;
}

gboolean
xp_dtype_can_cast (XpDType from, XpDType to)
{
  return xp_dtype_category (from) <= xp_dtype_category (to);
}

static gboolean
parse_name (const char *name, const char *const *names, unsigned n, unsigned *number)
{
  g_return_val_if_fail (name != NULL, FALSE);
  if (g_str_has_prefix (name, "torch."))
    name += strlen ("torch.");
  for (unsigned i = 0; i < n; i++)
    if (strcmp (names[i], name) == 0)
      {
        *number = i;
        return TRUE;
      }
  return FALSE;
}

const char *
xp_layout_name (XpLayout layout)
{
  return (unsigned) layout < XP_LENGTH (layouts) ? layouts[layout] : "unknown";
}

gboolean
xp_layout_parse (const char *name, XpLayout *layout)
{
  unsigned number;
  if (!parse_name (name, layouts, XP_LENGTH (layouts), &number))
    return FALSE;
  *layout = (XpLayout) number;
  return TRUE;
}

const char *
xp_memory_format_name (XpMemoryFormat format)
{
  return (unsigned) format < XP_LENGTH (formats) ? formats[format] : "unknown";
}

gboolean
xp_memory_format_parse (const char *name, XpMemoryFormat *format)
{
  unsigned number;
  if (!parse_name (name, formats, XP_LENGTH (formats), &number))
    return FALSE;
  *format = (XpMemoryFormat) number;
  return TRUE;
}
