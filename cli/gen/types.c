/* SPDX-License-Identifier: MIT
 *
 * types.c: how the types of schemas are passed in C.
 */
#include "types.h"

#include <string.h>

static const ArgumentType argument_types[] = {
  { "Tensor", "XpTensor *", "tensor", NULL, NULL, false },
  { "Tensor?", "XpTensor *", "optional_tensor", NULL, NULL, false },
  { "Tensor[]", "XpTensors ", "tensors", "tensors", NULL, true },
  { "Tensor?[]", "XpTensors ", "tensors_or_none", "tensors", NULL, true },
  { "Tensor[]?", "const XpTensors *", "optional_tensors", "optional_tensors", "XpTensors", true },
  { "int", "int64_t ", "int", "int", NULL, false },
  { "int?", "const int64_t *", "optional_int", "optional_int", "int64_t", false },
  { "int[]", "XpInts ", "ints", "ints", NULL, true },
  { "int[]?", "const XpInts *", "optional_ints", "optional_ints", "XpInts", true },
  { "float", "double ", "float", "float", NULL, false },
  { "float?", "const double *", "optional_float", "optional_float", "double", false },
  { "float[]", "XpFloats ", "floats", "floats", NULL, true },
  { "float[]?", "const XpFloats *", "optional_floats", "optional_floats", "XpFloats", true },
  { "bool", "bool ", "bool", "bool", NULL, false },
  { "bool?", "const bool *", "optional_bool", "optional_bool", "bool", false },
  { "bool[]", "XpBools ", "bools", "bools", NULL, true },
  { "bool[]?", "const XpBools *", "optional_bools", "optional_bools", "XpBools", true },
  { "Scalar", "XpValue ", "scalar", "scalar", NULL, false },
  { "Scalar?", "const XpValue *", "optional_scalar", "optional_scalar", NULL, false },
  { "str", "const char *", "string", "string", NULL, true },
  { "str?", "const char *", "optional_string", "string", NULL, true },
  { "ScalarType", "XpDType ", "dtype", "dtype", NULL, false },
  { "ScalarType?", "const XpDType *", "optional_dtype", "optional_dtype", "XpDType", false },
  { "Layout", "XpLayout ", "layout", "layout", NULL, false },
  { "Layout?", "const XpLayout *", "optional_layout", "optional_layout", "XpLayout", false },
  { "MemoryFormat", "XpMemoryFormat ", "memory_format", "memory_format", NULL, false },
  { "MemoryFormat?", "const XpMemoryFormat *", "optional_memory_format", "optional_memory_format",
    "XpMemoryFormat", false },
  { "Device", "XpDevice ", "device", "device", NULL, false },
  { "Device?", "const XpDevice *", "optional_device", "optional_device", "XpDevice", false },
  { "Generator", "XpGenerator *", "generator", "generator", NULL, false },
  { "Generator?", "XpGenerator *", "optional_generator", "generator", NULL, false },
  /* Every other type: the value as a boxed call has it. */
  { NULL, "XpValue ", "value", "value", NULL, false },
};

static const ResultType result_types[] = {
  { "Tensor", "XpTensor *", "XP_TAG_TENSOR", "%s.as.tensor", "xp_value_tensor (%s)", "NULL",
    "g_clear_pointer (%s, xp_tensor_unref)", "*%s != NULL" },
  { "int", "int64_t ", "XP_TAG_INT", "%s.as.integer", "xp_value_int (%s)", "0", NULL, NULL },
  { "float", "double ", "XP_TAG_FLOAT", "%s.as.number", "xp_value_float (%s)", "0", NULL, NULL },
  { "bool", "bool ", "XP_TAG_BOOL", "%s.as.integer != 0", "xp_value_bool (%s)", "false", NULL,
    NULL },
  { "Scalar", "XpValue ", "XP_TAG_NONE", "%s", "%s", "XP_NONE", "xp_value_clear (%s)",
    "%s->tag != XP_TAG_NONE" },
  { "Tensor?", "XpTensor *", "XP_UNBOX_BY_SCHEMA", "%s.as.tensor", "xp_value_tensor (%s)", "NULL",
    "g_clear_pointer (%s, xp_tensor_unref)", NULL },
  { "ScalarType", "XpDType ", "XP_TAG_DTYPE", "(XpDType) %s.as.integer", "xp_value_dtype (%s)",
    "(XpDType) 0", NULL, NULL },
  { "Layout", "XpLayout ", "XP_TAG_LAYOUT", "(XpLayout) %s.as.integer", "xp_value_layout (%s)",
    "(XpLayout) 0", NULL, NULL },
  { "MemoryFormat", "XpMemoryFormat ", "XP_TAG_MEMORY_FORMAT", "(XpMemoryFormat) %s.as.integer",
    "xp_value_memory_format (%s)", "(XpMemoryFormat) 0", NULL, NULL },
  { "Device", "XpDevice ", "XP_TAG_DEVICE", "%s.as.device", "xp_value_device (%s)", "XP_CPU", NULL,
    NULL },
};

static const ResultType list_result = { NULL,
                                        "XpList *",
                                        "XP_TAG_LIST",
                                        "%s.as.list",
                                        "xp_box_list (%s)",
                                        "NULL",
                                        "g_clear_pointer (%s, xp_list_unref)",
                                        "*%s != NULL" };

/* A value, which may be None or not. */
static const ResultType value_result = {
  NULL, "XpValue ", "XP_UNBOX_BY_SCHEMA",  "%s",
  "%s", "XP_NONE",  "xp_value_clear (%s)", "%s->tag != XP_TAG_NONE"
};
static const ResultType value_or_none_result = { NULL, "XpValue ", "XP_UNBOX_BY_SCHEMA",  "%s",
                                                 "%s", "XP_NONE",  "xp_value_clear (%s)", NULL };

/* The type as a signature prints it: SymInt as int, without the size of a list. */
static void
append_canonical (GString *text, const XpType *type)
{
  switch (type->kind)
    {
    case XP_TYPE_OPTIONAL:
      append_canonical (text, type->elements[0]);
      g_string_append_c (text, '?');
      break;
    case XP_TYPE_LIST:
      append_canonical (text, type->elements[0]);
      g_string_append (text, "[]");
      break;
    case XP_TYPE_SYM_INT:
    case XP_TYPE_DEVICE_INDEX:
      g_string_append (text, "int");
      break;
    default:
      {
        g_autofree char *name = xp_type_to_string (type);
        g_string_append (text, name);
      }
    }
}

const ArgumentType *
argument_type (const XpType *type)
{
  g_autoptr (GString) name = g_string_new (NULL);
  append_canonical (name, type);
  const ArgumentType *found = argument_types;
  while (found->schema != NULL && strcmp (found->schema, name->str) != 0)
    found++;
  return found;
}

bool
type_has_tensors (const XpType *type)
{
  return type->kind == XP_TYPE_TENSOR
         || ((type->kind == XP_TYPE_LIST || type->kind == XP_TYPE_OPTIONAL)
             && type_has_tensors (type->elements[0]));
}

const ResultType *
result_type (const XpType *type)
{
  g_autoptr (GString) name = g_string_new (NULL);
  append_canonical (name, type);
  for (unsigned i = 0; i < XP_LENGTH (result_types); i++)
    if (strcmp (result_types[i].schema, name->str) == 0)
      return &result_types[i];
  switch (type->kind)
    {
    case XP_TYPE_LIST:
      return &list_result;
    case XP_TYPE_OPTIONAL:
    case XP_TYPE_ANY:
    case XP_TYPE_NONE:
    case XP_TYPE_VARIABLE:
      return &value_or_none_result;
    default:
      return &value_result;
    }
}
