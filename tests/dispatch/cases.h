/* SPDX-License-Identifier: MIT
 *
 * cases.h: what the cases of PyTorch's C++ suites have in common: tensors that carry just one key,
 * with or without the autograd keys that belong to it, and what is said of a call.
 */
#pragma once

#include "table/blocks.h"

/* A tensor that carries @key alone; with its autograd key where @is_graded. */
static inline XpTensor *
dummy (XpKey key, bool is_graded)
{
  int backend = xp_key_backend (key);
  XpBackend device = backend >= 0 ? (XpBackend) backend : XP_BACKEND_CPU;
  XpTensor *tensor = tensor_of (XP_FUNCTIONALITY_Dense, device);
  XpFunctionality autograd = backend >= 0 ? xp_autograd_functionality_of (device)
                                          : XP_FUNCTIONALITY_AutogradOther;
  tensor->keys = xp_key_set (key);
  if (is_graded)
    tensor->keys.functionality |= XP_BIT (autograd) | XP_BIT (XP_FUNCTIONALITY_ADInplaceOrView);
  return tensor;
}

/* The line that runs for a tensor of @key; 0 where a call fails, whose error goes to @error. */
static inline int
line_for (const char *name, XpKey key, bool is_graded, GError **error)
{
  g_autoptr (XpTensor) tensor = dummy (key, is_graded);
  XpValue argument = xp_value_tensor (tensor);
  ran = 0;
  call_named (name, &argument, error);
  return ran;
}

static inline void
assert_runs (const char *name, XpKey key, bool is_graded, int line)
{
  GError *error = NULL;
  int found = line_for (name, key, is_graded, &error);
  assert_no_error (error);
  ck_assert_int_eq (found, line);
}

/* No kernel runs, and @missing is the key that has none. */
static inline void
assert_misses (const char *name, XpKey key, bool is_graded, const char *missing)
{
  GError *error = NULL;
  ck_assert_int_eq (line_for (name, key, is_graded, &error), 0);
  ck_assert_ptr_nonnull (error);
  ck_assert_str_eq (xp_error_get_details (error)->key, missing);
  g_autofree char *part = g_strdup_printf ("Could not run '%s' with arguments from the '%s' "
                                           "backend.",
                                           name, missing);
  assert_error (error, XP_ERROR_MISSING_KERNEL, part);
}

/* A kernel at "kernel.c:LINE" that says what it takes. */
static inline gboolean
implement_typed (XpLibrary *block, const char *name, const char *signature, int line,
                 GError **error)
{
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = name,
                                            .boxed = recording_kernel,
                                            .typed = (XpTypedFunction) recording_kernel,
                                            .signature = signature,
                                            .data = GINT_TO_POINTER (line),
                                            .file = "kernel.c",
                                            .line = line };
  return xp_library_impl (block, &implementation, error);
}

static inline GError *
refused_def (XpLibrary *block, const char *schema)
{
  GError *error = NULL;
  const XpDefinition definition = {
    .size = sizeof definition, .schema = schema, .file = "row.c", .line = 1
  };
  ck_assert (!xp_library_def (block, &definition, &error));
  return error;
}

#define NAME "_test::dummy"
#define ONE_TENSOR "dummy(Tensor dummy) -> ()"
