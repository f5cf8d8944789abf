/* SPDX-License-Identifier: MIT
 *
 * blocks.c: registering from a test program.
 */
#include "table/blocks.h"

#include <unistd.h>

__thread int ran;

XpLibrary *
block_new (XpLibraryKind kind, const char *name_space, const char *key)
{
  GError *error = NULL;
  XpLibrary *block = xp_library_new (kind, name_space, key, "block.c", 1, &error);
  assert_no_error (error);
  ck_assert_ptr_nonnull (block);
  return block;
}

void
define_tagged (XpLibrary *block, const char *schema, const char *tags)
{
  GError *error = NULL;
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = schema,
                                    .tags = tags,
                                    .alias_analysis = XP_ALIAS_ANALYSIS_FROM_SCHEMA,
                                    .file = "row.c",
                                    .line = 1 };
  xp_library_def (block, &definition, &error);
  assert_no_error (error);
}

void
define (XpLibrary *block, const char *schema)
{
  define_tagged (block, schema, NULL);
}

void
implement_with (XpLibrary *block, const char *name, XpBoxedFunction kernel, int line, void *data,
                GDestroyNotify destroy)
{
  GError *error = NULL;
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = name,
                                            .boxed = kernel,
                                            .data = data,
                                            .destroy = destroy,
                                            .file = "kernel.c",
                                            .line = line };
  xp_library_impl (block, &implementation, &error);
  assert_no_error (error);
}

void
implement (XpLibrary *block, const char *name, XpBoxedFunction kernel, int line)
{
  implement_with (block, name, kernel, line, NULL, NULL);
}

XpStatus
give_something (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
                G_GNUC_UNUSED GError **error)
{
  for (unsigned i = 0; i < xp_call_operator (call)->n_results; i++)
    results[i] = xp_value_int (1);
  return XP_OK;
}

XpStatus
recording_kernel (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  ran = GPOINTER_TO_INT (xp_call_data (call));
  return give_something (call, arguments, results, error);
}

void
record_at (XpLibrary *block, const char *name, int line)
{
  implement_with (block, name, recording_kernel, line, GINT_TO_POINTER (line), NULL);
}

static void
free_nothing (G_GNUC_UNUSED void *data)
{
}

#define CLASS(name, number)                                                                        \
  [number] = { sizeof (XpLayoutClass),                                                             \
               number == XP_FUNCTIONALITY_Sparse ? XP_SPARSE_COO : XP_STRIDED,                     \
               XP_FUNCTIONALITY_##name, free_nothing, NULL },

XpTensor *
tensor_of (XpFunctionality functionality, XpBackend backend)
{
  static const XpLayoutClass classes[] = { XP_FUNCTIONALITY_LIST (CLASS) };
  GError *error = NULL;
  XpTensor *tensor = xp_tensor_new_with_layout (&classes[functionality], NULL, XP_FLOAT32,
                                                XP_INTS (2), (XpDevice){ backend, -1 }, &error);
  assert_no_error (error);
  return tensor;
}

XpOperator *
operator_named (const char *name)
{
  GError *error = NULL;
  XpOperator *op = xp_operator_get (name, &error);
  assert_no_error (error);
  return op;
}

XpStatus
call_named (const char *name, const XpValue *arguments, GError **error)
{
  XpValue results[8];
  XpOperator *op = operator_named (name);
  ck_assert_uint_le (op->n_results, 8);
  XpStatus status = xp_operator_call (op, arguments, results, error);
  xp_values_clear (results, op->n_results);
  return status;
}

int
line_called (const char *name, XpTensor *tensor)
{
  GError *error = NULL;
  XpValue argument = xp_value_tensor (tensor);
  ran = 0;
  call_named (name, &argument, &error);
  assert_no_error (error);
  return ran;
}

void
assert_table_is_sound (void)
{
  GError *error = NULL;
  xp_table_check (&error);
  assert_no_error (error);
}

void
assert_text (char *found, const char *expected)
{
  ck_assert_str_eq (found, expected);
  g_free (found);
}

char *
beside_program (const char *name)
{
  char own[4096];
  ssize_t n = readlink ("/proc/self/exe", own, sizeof own - 1);
  ck_assert_int_gt (n, 0);
  own[n] = '\0';
  g_autofree char *folder = g_path_get_dirname (own);
  return g_strdup_printf ("%s/%s.so", folder, name);
}

Open
opener (const char *plugin)
{
  GError *error = NULL;
  g_autofree char *path = beside_program (plugin);
  g_autofree char *name = g_strdup_printf ("opener::open.%s", plugin);
  XpValue address;
  xp_plugin_load (path, &error);
  assert_no_error (error);
  xp_operator_call (operator_named (name), NULL, &address, &error);
  assert_no_error (error);
  return (Open) (uintptr_t) address.as.integer;
}

char *
whole_table (void)
{
  GString *text = g_string_new (NULL);
  g_auto (GStrv) names = xp_table_names ();
  for (unsigned i = 0; names[i] != NULL; i++)
    {
      g_autofree char *dump = xp_table_dump (names[i]);
      g_autofree char *cells = xp_table_dump_computed (names[i]);
      g_string_append_printf (text, "%s%s\n", dump, cells);
    }
  unsigned n;
  XpRegistrationInfo *fallbacks = xp_table_fallbacks (&n);
  for (unsigned i = 0; i < n; i++)
    g_string_append_printf (text, "%s: %s of %s%s%s\n", xp_key_name (fallbacks[i].key),
                            fallbacks[i].location, fallbacks[i].plugin,
                            fallbacks[i].is_active ? "" : " (inactive)",
                            fallbacks[i].is_fallthrough ? " fallthrough" : "");
  xp_registration_infos_free (fallbacks, n);
  return g_string_free (text, FALSE);
}
