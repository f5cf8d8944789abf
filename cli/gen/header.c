/* SPDX-License-Identifier: MIT
 *
 * header.c: writes the C header of a .ops file: for each operator the type of its kernels, the
 * adapter that boxes for them, the macro that registers them, and its callers.
 */
#include "header.h"

#include <string.h>

enum
{
  MOST_ARGUMENTS = 64
};

/* An argument or result with its name in C. */
typedef struct
{
  const char *name;
  const ArgumentType *type;
} Argument;

typedef struct
{
  const char *name;
  const ResultType *type;
} Result;

/* An operator while its C is written. */
typedef struct
{
  GString *out;
  const XpSchemaLine *op;
  char *c_name; /* aten_add_Tensor */
  GPtrArray *names;
  Argument arguments[MOST_ARGUMENTS];
  Result results[MOST_ARGUMENTS];
  unsigned n_arguments;
  unsigned n_results;
} Emission;

static const char *const reserved[] = {
  "auto",     "break",   "bool",     "case",     "char",     "class",  "const",     "default",
  "delete",   "do",      "double",   "else",     "enum",     "extern", "float",     "for",
  "friend",   "goto",    "if",       "inline",   "int",      "long",   "namespace", "new",
  "operator", "private", "public",   "register", "restrict", "return", "short",     "signed",
  "sizeof",   "static",  "struct",   "switch",   "template", "this",   "throw",     "typedef",
  "typename", "union",   "unsigned", "using",    "virtual",  "void",   "volatile",  "while",
  "call",     "error",   "keys",     "op",       "status",   "good",   "values",    "outputs",
  "kind",     "typed",   "kernel",   "NULL",     "TRUE",     "FALSE",  "errno",     "linux",
  "unix",     "true",    "false",    "xp_thread"
};

G_GNUC_PRINTF (2, 3)
static void
emit (Emission *e, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_string_append_vprintf (e->out, format, arguments);
  va_end (arguments);
}

static bool
is_used (const Emission *e, const char *name)
{
  for (unsigned i = 0; i < e->names->len; i++)
    if (strcmp (e->names->pdata[i], name) == 0)
      return true;
  return false;
}

/* A name that is no word of C and not used in this function yet. */
static const char *
c_name_for (Emission *e, const char *name)
{
  char *unique = g_strdup (name);
  bool is_reserved = false;
  for (unsigned i = 0; i < XP_LENGTH (reserved); i++)
    is_reserved |= strcmp (reserved[i], name) == 0;
  while (is_reserved || is_used (e, unique))
    {
      char *longer = g_strconcat (unique, "_", NULL);
      g_free (unique);
      unique = longer;
      is_reserved = false;
    }
  g_ptr_array_add (e->names, unique);
  return unique;
}

static void
take_operator (Emission *e)
{
  const XpSchema *schema = e->op->schema;
  e->n_arguments = schema->n_arguments;
  e->n_results = schema->n_returns;
  for (unsigned i = 0; i < e->n_arguments; i++)
    e->arguments[i] = (Argument){ c_name_for (e, schema->arguments[i].name),
                                  argument_type (schema->arguments[i].type) };
  for (unsigned i = 0; i < e->n_results; i++)
    {
      const char *name = schema->returns[i].name;
      g_autofree char *numbered = g_strdup_printf (e->n_results > 1 ? "result%u" : "result", i);
      bool has_name = name[0] != '\0' && !is_used (e, name);
      e->results[i] = (Result){ c_name_for (e, has_name ? name : numbered),
                                result_type (schema->returns[i].type) };
    }
}

/* --- Parts of functions. --- */

/* `XpTensor *self, double s, XpTensor **result, GError **error` */
static void
emit_parameters (Emission *e)
{
  for (unsigned i = 0; i < e->n_arguments; i++)
    emit (e, "%s%s, ", e->arguments[i].type->c, e->arguments[i].name);
  for (unsigned i = 0; i < e->n_results; i++)
    emit (e, "%s*%s, ", e->results[i].type->c, e->results[i].name);
  emit (e, "GError **error");
}

static void
emit_arguments (Emission *e, bool by_address)
{
  for (unsigned i = 0; i < e->n_arguments; i++)
    emit (e, "%s, ", e->arguments[i].name);
  for (unsigned i = 0; i < e->n_results; i++)
    emit (e, "%s%s, ", by_address ? "&" : "", e->results[i].name);
  emit (e, "error");
}

static void
emit_comment (Emission *e)
{
  g_autofree char *schema = xp_schema_to_string (e->op->schema);
  emit (e, "/* %s\n", schema);
  if (e->op->description != NULL)
    emit (e, " *\n * %s\n", e->op->description);
  emit (e, " */\n");
}

static void
emit_type (Emission *e)
{
  g_autofree char *name = xp_schema_operator_name (e->op->schema);
  g_autofree char *signature = xp_schema_signature (e->op->schema);
  emit (e, "typedef XpStatus (*xp_%s_fn) (XpCall *call, ", e->c_name);
  emit_parameters (e);
  emit (e, ");\n\n#define XP_%s_SIGNATURE \"%s\"\n\n", e->c_name, signature);
  emit (e,
        "static XpOperatorHandle xp_%s_handle G_GNUC_UNUSED\n    = { \"%s\", XP_%s_SIGNATURE, NULL "
        "};\n\n",
        e->c_name, name, e->c_name);
}

/* The boxed form of a typed kernel. */
static void
emit_adapter (Emission *e)
{
  emit (e,
        "static G_GNUC_UNUSED XpStatus\nxp_%s_adapter (XpCall *call, G_GNUC_UNUSED const XpValue "
        "*values, G_GNUC_UNUSED XpValue *outputs, GError **error)\n{\n  bool good = true;\n",
        e->c_name);
  for (unsigned i = 0; i < e->n_arguments; i++)
    {
      const Argument *argument = &e->arguments[i];
      if (argument->type->storage != NULL)
        emit (e, "  %s %s_value;\n  %s%s = xp_unbox_%s (&values[%u], &%s_value, &good);\n",
              argument->type->storage, argument->name, argument->type->c, argument->name,
              argument->type->unbox, i, argument->name);
      else
        emit (e, "  %s%s = xp_unbox_%s (&values[%u], &good);\n", argument->type->c, argument->name,
              argument->type->unbox, i);
    }
  emit (e, "  if (G_UNLIKELY (!good))\n    {\n      return xp_unbox_failed (call, values, "
           "error);\n    }\n");
  for (unsigned i = 0; i < e->n_results; i++)
    emit (e, "  %s%s = %s;\n", e->results[i].type->c, e->results[i].name,
          e->results[i].type->empty);
  emit (e, "  XpStatus status = ((xp_%s_fn) xp_call_kernel (call)->adapted) (call, ", e->c_name);
  emit_arguments (e, true);
  emit (e, ");\n");
  for (unsigned i = 0; i < e->n_results; i++)
    {
      g_autofree char *value = g_strdup_printf (e->results[i].type->give, e->results[i].name);
      emit (e, "  outputs[%u] = %s;\n", i, value);
    }
  emit (e, "  return status;\n}\n\n");
}

static void
emit_registration (Emission *e)
{
  const XpSchema *schema = e->op->schema;
  emit (e,
        "/* Registers a typed kernel; one of another type does not compile. */\n"
        "#define xp_impl_%s(m, function) \\\n"
        "  xp_impl_typed_ (m, \"%s%s%s\", xp_%s_fn, xp_%s_adapter, XP_%s_SIGNATURE, function)\n\n",
        e->c_name, schema->name, schema->overload[0] != '\0' ? "." : "", schema->overload,
        e->c_name, e->c_name, e->c_name);
}

/* Where a typed caller goes when its kernel cannot be called as it stands, with the call, which
 * ends here. */
static void
emit_boxed (Emission *e)
{
  emit (e,
        "static XP_COLD G_GNUC_UNUSED XpStatus\nxp_%s_boxed_ (XpOperator *op, XpCall *entered, "
        "XpStatus status, XpKeySet keys, XpCallKind kind, ",
        e->c_name);
  emit_parameters (e);
  /* Without arguments there is one all the same, for an array has to have one. */
  emit (e,
        ")\n{\n  XP_CALL_SCOPE XpCall *call = entered;\n  op = call != NULL ? xp_call_operator "
        "(call) : op;\n  XpValue values[%u]%s;\n  XpValue "
        "outputs[%u];\n",
        MAX (e->n_arguments, 1), e->n_arguments == 0 ? " = { XP_NONE }" : "",
        MAX (e->n_results, 1));
  emit (e, "  static const uint8_t tags[] = { ");
  for (unsigned i = 0; i < e->n_results; i++)
    emit (e, "%s, ", e->results[i].type->tag);
  emit (e, "0 };\n");
  for (unsigned i = 0; i < e->n_results; i++)
    if (e->results[i].type->clear != NULL)
      {
        g_autofree char *clear = g_strdup_printf (e->results[i].type->clear, e->results[i].name);
        emit (e, "  if (call != NULL)\n    {\n      %s;\n    }\n", clear);
      }
  for (unsigned i = 0; i < e->n_arguments; i++)
    if (e->arguments[i].type->box == NULL)
      emit (e, "  values[%u] = xp_value_tensor (%s);\n", i, e->arguments[i].name);
    else
      emit (e, "  values[%u] = xp_box_%s (%s);\n", i, e->arguments[i].type->box,
            e->arguments[i].name);
  /* Freed also when an exception passes through. */
  for (unsigned i = 0; i < e->n_arguments; i++)
    if (e->arguments[i].type->makes_object)
      emit (e, "  g_auto (XpValue) %s_boxed G_GNUC_UNUSED = values[%u];\n", e->arguments[i].name,
            i);
  emit (e,
        "  status = xp_call_boxed_instead (op, call, status, keys, kind, values, outputs, error);\n"
        "  status = xp_unbox_results (op, status, outputs, tags, error);\n");
  for (unsigned i = 0; i < e->n_results; i++)
    {
      g_autofree char *output = g_strdup_printf ("outputs[%u]", i);
      g_autofree char *take = g_strdup_printf (e->results[i].type->take, output);
      emit (e, "  *%s = status == XP_OK ? %s : %s;\n", e->results[i].name, take,
            e->results[i].type->empty);
    }
  emit (e, "  return status;\n}\n\n");
}

/* How NULL is found in an argument that is passed by pointer and is not optional. */
static const char *const null_checks[][2] = {
  { "Tensor", "%s == NULL" },
  { "str", "%s == NULL" },
  { "Generator", "%s == NULL" },
  { "Tensor[]", "xp_tensors_have_null (%s)" },
  { "Tensor[]?", "%1$s != NULL && xp_tensors_have_null (*%1$s)" },
};

/* NULL there is a mistake of the caller's. */
static void
emit_null_checks (Emission *e)
{
  for (unsigned i = 0; i < e->n_arguments; i++)
    for (unsigned check = 0; check < XP_LENGTH (null_checks); check++)
      if (g_strcmp0 (e->arguments[i].type->schema, null_checks[check][0]) == 0)
        {
          g_autofree char *condition = g_strdup_printf (null_checks[check][1],
                                                        e->arguments[i].name);
          emit (e,
                "  if (G_UNLIKELY (%s))\n    {\n      return xp_unbox_null (op, \"%s\", error);\n  "
                "  }\n",
                condition, e->arguments[i].name);
        }
}

/* How the tensors of an argument come into the keys of a call; the types that are not here have
 * none, or are values. */
static const char *const key_unions[][2] = {
  { "Tensor?", "xp_keys_add_tensor (keys, %s)" },
  { "Tensor[]", "xp_keys_add_tensors (keys, %s)" },
  { "Tensor?[]", "xp_keys_add_tensors (keys, %s)" },
  { "Tensor[]?", "%1$s != NULL ? xp_keys_add_tensors (keys, *%1$s) : keys" },
};

static void
emit_keys (Emission *e)
{
  unsigned n = 0;
  for (unsigned i = 0; i < e->n_arguments; i++)
    if (g_strcmp0 (e->arguments[i].type->schema, "Tensor") == 0)
      emit (e,
            n++ == 0 ? "  XpKeySet keys = xp_tensor_keys (%s);\n"
                     : "  keys = xp_key_set_union (keys, xp_tensor_keys (%s));\n",
            e->arguments[i].name);
  if (n == 0)
    emit (e, "  XpKeySet keys = { 0, 0 };\n");
  for (unsigned i = 0; i < e->n_arguments; i++)
    {
      const Argument *argument = &e->arguments[i];
      bool is_value = argument->type->schema == NULL;
      if (is_value && type_has_tensors (e->op->schema->arguments[i].type))
        emit (e, "  keys = xp_keys_add_value (keys, %s);\n", argument->name);
      for (unsigned j = 0; !is_value && j < XP_LENGTH (key_unions); j++)
        if (strcmp (argument->type->schema, key_unions[j][0]) == 0)
          {
            g_autofree char *keys = g_strdup_printf (key_unions[j][1], argument->name);
            emit (e, "  keys = %s;\n", keys);
          }
    }
}

/* Returns what the boxed form of the call does. */
static void
emit_return_boxed (Emission *e, const char *state, bool is_redispatch)
{
  emit (e, "return xp_%s_boxed_ (%s, %s, ", e->c_name, state,
        is_redispatch ? "XP_CALL_REDISPATCH" : "XP_CALL_TYPED");
  emit_arguments (e, false);
  emit (e, ");\n");
}

/* Every `if` has braces: without them gcc looks for misleading indentation in a time that grows
 * with the square of the file.
 *
 * All that is unusual is done in the boxed form. A call is handed over to it: with nothing but the
 * kernel in the scope that an exception unwinds, the caller's code comes out shorter. */
static void
emit_caller (Emission *e, bool is_redispatch)
{
  emit (e, "static inline XpStatus\nxp_%s%s (", e->c_name, is_redispatch ? "_redispatch" : "");
  if (is_redispatch)
    emit (e, "XpKeySet keys, ");
  emit_parameters (e);
  emit (e, ")\n{\n  XpOperator *op = xp_operator_handle_get (&xp_%s_handle);\n", e->c_name);
  for (unsigned i = 0; i < e->n_results; i++)
    emit (e, "  *%s = %s;\n", e->results[i].name, e->results[i].type->empty);
  emit_null_checks (e);
  if (!is_redispatch)
    emit_keys (e);
  emit (e,
        "  const XpKernel *kernel;\n"
        "  XpCall *call = xp_call_enter%s (op, keys, &kernel);\n"
        "  if (G_UNLIKELY (call == NULL))\n    {\n      ",
        is_redispatch ? "_with_keys" : "");
  emit_return_boxed (e, "op, NULL, XP_OK, keys", is_redispatch);
  emit (e, "    }\n  XpTypedFunction typed = kernel->typed;\n"
           "  if (G_UNLIKELY (typed == NULL))\n    {\n      ");
  emit_return_boxed (e, "NULL, call, XP_OK, (XpKeySet){ 0, 0 }", is_redispatch);
  emit (e,
        "    }\n  XpStatus status;\n  {\n    XP_CALL_SCOPE XpCall *inside = call;\n"
        "    status = ((xp_%s_fn) typed) (call, ",
        e->c_name);
  emit_arguments (e, false);
  emit (e, ");\n    if (G_LIKELY (status == XP_OK");
  /* A kernel that gives nothing must not make its caller look at it. */
  for (unsigned i = 0; i < e->n_results; i++)
    if (e->results[i].type->given != NULL)
      {
        g_autofree char *given = g_strdup_printf (e->results[i].type->given, e->results[i].name);
        emit (e, " && %s", given);
      }
  emit (e, "))\n      {\n        return XP_OK;\n      }\n    inside = NULL;\n  }\n  ");
  emit_return_boxed (e, "NULL, call, status, (XpKeySet){ 0, 0 }", is_redispatch);
  emit (e, "}\n\n");
}

/* The caller that leaves out what has a default. */
static void
emit_default_caller (Emission *e)
{
  g_autoptr (GString) declarations = g_string_new (NULL);
  g_autoptr (GString) given = g_string_new (NULL);
  const XpArgument *arguments = e->op->schema->arguments;
  unsigned n_left_out = 0;
  for (unsigned i = 0; i < e->n_arguments; i++)
    {
      const Argument *argument = &e->arguments[i];
      g_autofree char *value = arguments[i].has_default ? default_expression (
                                   &arguments[i], argument->type, argument->name, declarations)
                                                        : g_strdup (argument->name);
      n_left_out += arguments[i].has_default;
      if (value == NULL)
        return;
      g_string_append_printf (given, "%s, ", value);
    }
  if (n_left_out == 0)
    return;
  emit (e,
        "/* The same with the defaults of the schema. */\n"
        "static inline XpStatus\nxp_%s_default (",
        e->c_name);
  for (unsigned i = 0; i < e->n_arguments; i++)
    if (!arguments[i].has_default)
      emit (e, "%s%s, ", e->arguments[i].type->c, e->arguments[i].name);
  for (unsigned i = 0; i < e->n_results; i++)
    {
      emit (e, "%s*%s, ", e->results[i].type->c, e->results[i].name);
      g_string_append_printf (given, "%s, ", e->results[i].name);
    }
  emit (e, "GError **error)\n{\n%s  return xp_%s (%serror);\n}\n\n", declarations->str, e->c_name,
        given->str);
}

static char *
make_c_name (const XpSchema *schema)
{
  const char *colons = strstr (schema->name, "::");
  g_autofree char *name_space = g_strndup (schema->name, (size_t) (colons - schema->name));
  return g_strconcat (name_space, "_", colons + 2, schema->overload[0] != '\0' ? "_" : "",
                      schema->overload, NULL);
}

/* Why there is no C for an operator, or NULL. */
static char *
reason_to_skip (const XpSchema *schema)
{
  if (schema->is_vararg)
    return g_strdup ("it takes any number of arguments");
  if (schema->is_varret)
    return g_strdup ("it returns any number of results");
  if (schema->n_arguments > MOST_ARGUMENTS || schema->n_returns > MOST_ARGUMENTS)
    return g_strdup_printf ("it has more than %d arguments or results", MOST_ARGUMENTS);
  return NULL;
}

G_GNUC_PRINTF (3, 4)
static void
note (GPtrArray *notes, const XpSchemaLine *op, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_ptr_array_add (notes, g_strdup_printf ("%d: %s", op->line, text));
}

/* What follows on an operator's name in those of its callers. */
static const char *const callers[] = { "", "_default", "_redispatch" };

static bool
has_clash (GHashTable *c_names, const char *name)
{
  for (unsigned i = 0; i < XP_LENGTH (callers); i++)
    {
      g_autofree char *caller = g_strconcat (name, callers[i], NULL);
      if (g_hash_table_contains (c_names, caller))
        return true;
    }
  return false;
}

/* A name whose callers no operator before has: `quantized::add.out` and `quantized::add_out` would
 * share one. */
static char *
unique_c_name (const XpSchemaLine *op, const char *name, GHashTable *c_names, GPtrArray *notes)
{
  char *unique = make_c_name (op->schema);
  bool is_another = false;
  for (; has_clash (c_names, unique); is_another = true)
    {
      char *longer = g_strconcat (unique, "_", NULL);
      g_free (unique);
      unique = longer;
    }
  if (is_another)
    note (notes, op, "%s is xp_%s in C, for another operator has the name without the last _", name,
          unique);
  for (unsigned i = 0; i < XP_LENGTH (callers); i++)
    g_hash_table_add (c_names, g_strconcat (unique, callers[i], NULL));
  return unique;
}

static void
emit_operator (GString *out, const XpSchemaLine *op, GHashTable *c_names, GPtrArray *notes)
{
  Emission e = { .out = out, .op = op };
  g_autofree char *name = xp_schema_operator_name (op->schema);
  g_autofree char *reason = reason_to_skip (op->schema);
  if (reason != NULL)
    {
      emit (&e, "/* No C for %s: %s. Register and call it boxed. */\n\n", name, reason);
      note (notes, op, "no C for %s: %s", name, reason);
      return;
    }
  e.c_name = unique_c_name (op, name, c_names, notes);
  e.names = g_ptr_array_new_with_free_func (g_free);
  take_operator (&e);
  emit_comment (&e);
  emit_type (&e);
  emit_adapter (&e);
  emit_registration (&e);
  emit_boxed (&e);
  emit_caller (&e, false);
  emit_default_caller (&e);
  emit_caller (&e, true);
  g_free (e.c_name);
  g_ptr_array_unref (e.names);
}

GPtrArray *
header_prototypes (const XpSchemaFile *file)
{
  g_autoptr (GHashTable) c_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  GPtrArray *prototypes = g_ptr_array_new_with_free_func (g_free);
  for (size_t i = 0; i < file->n_lines; i++)
    {
      const XpSchemaLine *op = file->lines[i];
      g_autofree char *reason = reason_to_skip (op->schema);
      Emission e = { .out = g_string_new (NULL), .op = op };
      if (reason == NULL)
        {
          e.c_name = unique_c_name (op, op->name, c_names, notes);
          e.names = g_ptr_array_new_with_free_func (g_free);
          take_operator (&e);
          emit (&e, "xp_%s (", e.c_name);
          emit_parameters (&e);
          emit (&e, ")");
          g_free (e.c_name);
          g_ptr_array_unref (e.names);
        }
      g_ptr_array_add (prototypes, g_string_free (e.out, reason != NULL));
    }
  return prototypes;
}

char *
header_write (const XpSchemaFile *file, const char *name_space, GPtrArray *notes)
{
  g_autoptr (GHashTable) c_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  g_autofree char *guard = g_ascii_strup (name_space, -1);
  g_string_append_printf (
      out,
      "/* Made by `crosspoint gen` from %s. Do not edit.\n"
      " *\n"
      " * For each operator of the namespace %s: the type of its typed kernels, xp_impl_… to "
      "register\n"
      " * one, a typed caller, one that leaves out arguments with defaults, and one that "
      "redispatches.\n"
      " * A caller's results are (transfer full); they are empty where it fails. The errors are "
      "those of\n"
      " * xp_operator_call().\n"
      " */\n"
      "#ifndef XP_OPS_%s_H\n#define XP_OPS_%s_H\n\n#include <crosspoint.h>\n\nG_BEGIN_DECLS\n\n",
      file->path, name_space, guard, guard);
  for (size_t i = 0; i < file->n_lines; i++)
    emit_operator (out, file->lines[i], c_names, notes);
  g_string_append (out, "G_END_DECLS\n\n#endif\n");
  return g_string_free (g_steal_pointer (&out), FALSE);
}
