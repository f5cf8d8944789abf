/* SPDX-License-Identifier: MIT
 *
 * operators.h: what the suites of operators share: the plugins loaded, tensors made of a few
 * numbers, results compared as text.
 */
#pragma once

#include "suite.h"

#include <crosspoint/aten.h>
#include <crosspoint/kernel.h>
#include <string.h>

static GError *error;

static inline XpPlugin *
load_plugin (const char *name)
{
  XpPlugin *plugin = xp_plugin_load (name, &error);
  assert_no_error (error);
  return plugin;
}

/* A fixture: each test begins with the operators of the CPU. */
static inline void
load_plugins (void)
{
  error = NULL;
  load_plugin ("aten");
  load_plugin ("cpu");
  load_plugin ("composite");
  load_plugin ("sparse");
}

/* A tensor of @dtype with these numbers, in row-major order. */
static inline XpTensor *
tensor_of (XpDType dtype, XpInts shape, const double *numbers)
{
  XpTensor *tensor = xp_tensor_new (dtype, shape, XP_CPU, &error);
  assert_no_error (error);
  for (int64_t i = 0; i < tensor->numel; i++)
    xp_tensor_set_element (tensor, i, xp_value_float (numbers[i]));
  return tensor;
}

#define NUMBERS(...) ((const double[]){ __VA_ARGS__ })
#define NO_SIZES ((XpInts){ NULL, 0 })

/* The numbers 0, 1, 2 … in float32. */
static inline XpTensor *
counting (XpInts shape)
{
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, shape, XP_CPU, &error);
  assert_no_error (error);
  for (int64_t i = 0; i < tensor->numel; i++)
    xp_tensor_set_element (tensor, i, xp_value_int (i));
  return tensor;
}

/* A tensor of Meta, whose elements nobody can read. */
static inline XpTensor *
meta_of (XpInts shape)
{
  load_plugin ("meta");
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, shape, XP_META, &error);
  assert_no_error (error);
  return tensor;
}

static inline void
assert_tensor (const XpTensor *tensor, const char *expected)
{
  g_autofree char *text = xp_tensor_to_string (tensor);
  ck_assert_str_eq (text, expected);
}

static inline void
assert_ints (XpInts found, XpInts expected)
{
  g_autofree char *found_text = xp_shape_to_string (found);
  g_autofree char *expected_text = xp_shape_to_string (expected);
  ck_assert_str_eq (found_text, expected_text);
}

/* OK (status): the call succeeded. */
#define OK(call)                                                                                   \
  do                                                                                               \
    {                                                                                              \
      XpStatus status_ = (call);                                                                   \
      assert_no_error (error);                                                                     \
      ck_assert_int_eq (status_, XP_OK);                                                           \
    }                                                                                              \
  while (0)

/* FAILS (call, result, code, part): it failed with that error and no result. */
#define FAILS(call, result, code, part)                                                            \
  do                                                                                               \
    {                                                                                              \
      ck_assert_int_eq ((call), XP_FAILED);                                                        \
      ck_assert_ptr_null (result);                                                                 \
      assert_error (error, code, part);                                                            \
    }                                                                                              \
  while (0)
