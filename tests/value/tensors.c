/* SPDX-License-Identifier: MIT
 *
 * tensors.c: making tensors and views of them, resizing, layouts and device memory of others.
 */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#define NO_SIZES ((XpInts){ NULL, 0 })

static GError *error;

static void
set_up (void)
{
  error = NULL;
}

static XpTensor *
tensor_new (XpInts shape)
{
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, shape, XP_CPU, &error);
  assert_no_error (error);
  return tensor;
}

static void
assert_sizes (XpInts found, XpInts expected)
{
  g_autofree char *found_text = xp_shape_to_string (found);
  g_autofree char *expected_text = xp_shape_to_string (expected);
  ck_assert_str_eq (found_text, expected_text);
}

static void
assert_keys (const XpTensor *tensor, const char *expected)
{
  g_autofree char *text = xp_key_set_to_string (tensor->keys);
  ck_assert_str_eq (text, expected);
}

/* Creation. */

START_TEST (a_new_tensor_is_contiguous_and_in_host_memory)
{
  g_autoptr (XpTensor) tensor = xp_tensor_new (XP_INT16, XP_INTS (2, 3, 4), XP_CPU, &error);
  assert_no_error (error);
  assert_sizes (xp_tensor_shape (tensor), XP_INTS (2, 3, 4));
  assert_sizes (xp_tensor_strides (tensor), XP_INTS (12, 4, 1));
  ck_assert_int_eq (tensor->numel, 24);
  ck_assert_int_eq (xp_tensor_n_dims (tensor), 3);
  ck_assert_int_eq (xp_tensor_size (tensor, 1), 3);
  ck_assert_int_eq (xp_tensor_dtype (tensor), XP_INT16);
  ck_assert_uint_eq (tensor->flags, XP_TENSOR_IS_CONTIGUOUS);
  ck_assert_uint_eq ((uintptr_t) xp_tensor_data (tensor) % 64, 0);
  ck_assert_int_eq (xp_tensor_storage_offset (tensor), 0);
  ck_assert_int_eq (xp_tensor_device (tensor).backend, XP_BACKEND_CPU);
  ck_assert_int_eq (xp_tensor_device (tensor).index, -1);
  ck_assert_int_eq (tensor->dl.device.device_type, kDLCPU);
  ck_assert_int_eq (tensor->dl.dtype.code, kDLInt);
  ck_assert_int_eq (tensor->dl.dtype.bits, 16);
  ck_assert_int_eq (tensor->dl.dtype.lanes, 1);
  assert_keys (tensor, "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
}
END_TEST

START_TEST (a_tensor_of_any_rank_keeps_its_shape)
{
  int64_t sizes[XP_MAX_DIMENSIONS];
  for (int n = 0; n <= XP_MAX_DIMENSIONS; n++)
    {
      for (int i = 0; i < n; i++)
        sizes[i] = i < 3 ? i + 1 : 1;
      g_autoptr (XpTensor) tensor = tensor_new ((XpInts){ sizes, (size_t) n });
      assert_sizes (xp_tensor_shape (tensor), (XpInts){ sizes, (size_t) n });
      ck_assert_int_eq (tensor->numel, n < 2 ? 1 : n == 2 ? 2 : 6);
      ck_assert (xp_tensor_is_contiguous (tensor));
    }
}
END_TEST

START_TEST (what_cannot_be_made_is_refused)
{
  static const int64_t many[65] = { 0 };
  const struct
  {
    XpDType dtype;
    XpInts shape;
    XpDevice device;
    XpError code;
    const char *part;
  } cases[] = {
    { XP_FLOAT32, XP_INTS (2, -1), XP_CPU, XP_ERROR_SHAPE, "negative dimension -1: [2, -1]" },
    { XP_FLOAT32, { many, 65 }, XP_CPU, XP_ERROR_LIMIT, "at most 64 dimensions" },
    { XP_FLOAT32, XP_INTS (G_MAXINT64, 2), XP_CPU, XP_ERROR_LIMIT, "2^63 - 1 elements" },
    { XP_FLOAT32, XP_INTS (4611686018427387904), XP_CPU, XP_ERROR_LIMIT, "more than 2^63 bytes" },
    { XP_UINT8, XP_INTS (1152921504606846976), XP_CPU, XP_ERROR_NO_MEMORY,
      "no memory on cpu for a tensor of 1152921504606846976 bytes" },
    { (XpDType) 8, XP_INTS (2), XP_CPU, XP_ERROR_INVALID_ARGUMENT, "8 is no element type" },
    { (XpDType) 77, XP_INTS (2), XP_CPU, XP_ERROR_INVALID_ARGUMENT, "77 is no element type" },
    { XP_FLOAT32,
      XP_INTS (2),
      { XP_BACKEND_CUDA, 1 },
      XP_ERROR_INVALID_ARGUMENT,
      "no plugin that is loaded gives memory for the device 'cuda:1'" },
    { XP_FLOAT32,
      XP_INTS (2),
      { 40, 0 },
      XP_ERROR_INVALID_ARGUMENT,
      "40 is the bit of no backend" },
    { XP_FLOAT32,
      XP_INTS (2),
      { 64, 0 },
      XP_ERROR_INVALID_ARGUMENT,
      "64 is the bit of no backend" },
    { XP_FLOAT32,
      XP_INTS (2),
      { -1, 0 },
      XP_ERROR_INVALID_ARGUMENT,
      "-1 is the bit of no backend" },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      ck_assert_ptr_null (xp_tensor_new (cases[i].dtype, cases[i].shape, cases[i].device, &error));
      assert_error (error, cases[i].code, cases[i].part);
      ck_assert_ptr_null (xp_tensor_new (cases[i].dtype, cases[i].shape, cases[i].device, NULL));
    }
}
END_TEST

START_TEST (an_empty_tensor_needs_no_memory_however_long)
{
  const XpInts shapes[] = { XP_INTS (0, 4611686018427387904, 4611686018427387904),
                            XP_INTS (4611686018427387904, 4611686018427387904, 0),
                            XP_INTS (4611686018427387904, 0, 4611686018427387904) };
  for (unsigned i = 0; i < XP_LENGTH (shapes); i++)
    {
      g_autoptr (XpTensor) tensor = tensor_new (shapes[i]);
      ck_assert_int_eq (tensor->numel, 0);
      ck_assert (xp_tensor_is_contiguous (tensor));
      assert_sizes (xp_tensor_shape (tensor), shapes[i]);
    }
}
END_TEST

START_TEST (strides_may_be_any_that_are_not_negative)
{
  g_autoptr (XpTensor) columns = xp_tensor_new_strided (XP_FLOAT64, XP_INTS (2, 3), XP_INTS (1, 2),
                                                        XP_CPU, &error);
  assert_no_error (error);
  ck_assert (!xp_tensor_is_contiguous (columns));
  assert_sizes (xp_tensor_strides (columns), XP_INTS (1, 2));
  g_autoptr (XpTensor) repeated = xp_tensor_new_strided (XP_UINT8, XP_INTS (G_MAXINT64 / 2, 2),
                                                         XP_INTS (0, 1), XP_CPU, &error);
  assert_no_error (error);
  ck_assert (!xp_tensor_is_contiguous (repeated));
  /* The stride of a size of 1 says nothing. */
  g_autoptr (XpTensor) odd = xp_tensor_new_strided (XP_UINT8, XP_INTS (1, 3),
                                                    XP_INTS (G_MAXINT64, 1), XP_CPU, &error);
  assert_no_error (error);
  ck_assert (xp_tensor_is_contiguous (odd));

  ck_assert_ptr_null (
      xp_tensor_new_strided (XP_UINT8, XP_INTS (2, 3), XP_INTS (3, -1), XP_CPU, &error));
  assert_error (error, XP_ERROR_SHAPE, "negative strides are not supported: stride -1");
  ck_assert_ptr_null (
      xp_tensor_new_strided (XP_UINT8, XP_INTS (3), XP_INTS (G_MAXINT64), XP_CPU, &error));
  assert_error (error, XP_ERROR_LIMIT, "reaches beyond 2^63 elements");
}
END_TEST

START_TEST (a_copy_has_the_elements_and_its_own_memory)
{
  int32_t data[] = { 1, 2, 3, 4 };
  g_autoptr (XpTensor) tensor = xp_tensor_new_copy_of (XP_INT32, XP_INTS (2, 2), data, &error);
  assert_no_error (error);
  data[0] = 9;
  ck_assert_mem_eq (xp_tensor_data (tensor), ((const int32_t[]){ 1, 2, 3, 4 }), 16);
  g_autoptr (XpTensor) empty = xp_tensor_new_copy_of (XP_INT32, XP_INTS (0), NULL, &error);
  assert_no_error (error);
  ck_assert_int_eq (empty->numel, 0);
}
END_TEST

START_TEST (a_scalar_becomes_a_flagged_tensor)
{
  static const struct
  {
    XpTag tag;
    int dtype;
    XpDType expected;
    const char *text;
  } cases[] = {
    { XP_TAG_BOOL, -1, XP_BOOL, "True" },      { XP_TAG_INT, -1, XP_INT64, "3" },
    { XP_TAG_FLOAT, -1, XP_FLOAT64, "2.5" },   { XP_TAG_COMPLEX, -1, XP_COMPLEX128, "1.0+2.0j" },
    { XP_TAG_FLOAT, XP_INT32, XP_INT32, "2" }, { XP_TAG_INT, XP_FLOAT16, XP_FLOAT16, "3.0" },
  };
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_auto (XpValue) scalar = cases[i].tag == XP_TAG_BOOL    ? xp_value_bool (TRUE)
                                : cases[i].tag == XP_TAG_INT   ? xp_value_int (3)
                                : cases[i].tag == XP_TAG_FLOAT ? xp_value_float (2.5)
                                                               : xp_value_complex (1, 2);
      g_autoptr (XpTensor) tensor = xp_tensor_new_scalar (scalar, cases[i].dtype, XP_CPU, &error);
      assert_no_error (error);
      ck_assert_int_eq (xp_tensor_dtype (tensor), cases[i].expected);
      ck_assert_int_eq (xp_tensor_n_dims (tensor), 0);
      ck_assert (tensor->flags & XP_TENSOR_IS_SCALAR);
      g_auto (XpValue) element = xp_tensor_get_element (tensor, 0);
      g_autofree char *text = xp_value_to_string (element);
      ck_assert_str_eq (text, cases[i].text);
    }
}
END_TEST

/* Views. */

START_TEST (a_view_shares_memory_and_version)
{
  XpTensor *base = tensor_new (XP_INTS (3, 4));
  ck_assert (xp_tensor_set_requires_grad (base, TRUE, &error));
  g_autoptr (XpTensor) view = xp_tensor_new_view (base, XP_INTS (2, 3), XP_INTS (1, 4), 2, &error);
  assert_no_error (error);
  g_autoptr (XpTensor) other = tensor_new (XP_INTS (3, 4));
  ck_assert (xp_tensor_shares_storage (view, base));
  ck_assert (!xp_tensor_shares_storage (other, base));
  ck_assert_int_eq (xp_tensor_storage_offset (view), 2);
  ck_assert_ptr_eq (xp_tensor_data (view), (float *) xp_tensor_data (base) + 2);
  ck_assert (!xp_tensor_is_contiguous (view));
  ck_assert (view->flags & XP_TENSOR_REQUIRES_GRAD);
  assert_keys (view, "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");

  ck_assert_uint_eq (xp_tensor_version (view), 0);
  xp_tensor_written (base);
  xp_tensor_written (view);
  ck_assert_uint_eq (xp_tensor_version (view), 2);
  ck_assert_uint_eq (xp_tensor_version (base), 2);
  ck_assert_uint_eq (xp_tensor_version (other), 0);

  /* An offset counts from the start of the storage, not from the base. */
  g_autoptr (XpTensor) second = xp_tensor_new_view (view, XP_INTS (12), XP_INTS (1), 0, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (xp_tensor_data (second), xp_tensor_data (base));
  xp_tensor_unref (base);
  memset (xp_tensor_data (second), 0, 12 * sizeof (float)); /* the storage lives on */
}
END_TEST

START_TEST (a_view_beyond_its_storage_is_refused)
{
  const struct
  {
    XpInts shape, strides;
    int64_t offset;
    const char *message;
  } cases[] = {
    { XP_INTS (12), XP_INTS (1), 0, NULL },
    { XP_INTS (13), XP_INTS (1), 0, "view of shape [13] at offset 0 reaches beyond its storage" },
    { XP_INTS (12), XP_INTS (1), 1, "reaches beyond its storage of 12 elements" },
    { XP_INTS (3), XP_INTS (5), 1, NULL },
    { XP_INTS (3), XP_INTS (5), 2, "reaches beyond" },
    { { NULL, 0 }, { NULL, 0 }, 11, NULL },
    { { NULL, 0 }, { NULL, 0 }, 12, "reaches beyond" },
    { { NULL, 0 }, { NULL, 0 }, -1, "at offset -1 reaches beyond" },
    { XP_INTS (2), XP_INTS (G_MAXINT64 - 1), 1, "reaches beyond" },
    { XP_INTS (0, 5), XP_INTS (5, 1), 12, NULL },
    { XP_INTS (0, 5), XP_INTS (5, 1), -1, "at offset -1 reaches beyond" },
    { XP_INTS (1000, 2), XP_INTS (0, 1), 10, NULL },
    { XP_INTS (3), XP_INTS (-1), 2, "negative strides are not supported" },
    { XP_INTS (-3), XP_INTS (1), 0, "negative dimension -3" },
  };
  g_autoptr (XpTensor) base = tensor_new (XP_INTS (3, 4));
  for (unsigned i = 0; i < XP_LENGTH (cases); i++)
    {
      g_autoptr (XpTensor) view = xp_tensor_new_view (base, cases[i].shape, cases[i].strides,
                                                      cases[i].offset, &error);
      if (cases[i].message != NULL)
        {
          ck_assert_ptr_null (view);
          assert_error (error, XP_ERROR_SHAPE, cases[i].message);
        }
      assert_no_error (error);
    }
}
END_TEST

/* Changes. */

START_TEST (resizing_takes_new_memory_only_where_it_must)
{
  g_autoptr (XpTensor) tensor = tensor_new (XP_INTS (3, 4));
  void *data = xp_tensor_data (tensor);
  const XpInts shapes[] = { XP_INTS (3, 4), XP_INTS (2, 2),       XP_INTS (1, 2, 1, 2, 1, 3, 1),
                            { NULL, 0 },    XP_INTS (4, 1, 0, 9), XP_INTS (12) };
  for (unsigned i = 0; i < XP_LENGTH (shapes); i++)
    {
      ck_assert (xp_tensor_resize (tensor, shapes[i], &error));
      assert_no_error (error);
      assert_sizes (xp_tensor_shape (tensor), shapes[i]);
      ck_assert (xp_tensor_is_contiguous (tensor));
      ck_assert_ptr_eq (xp_tensor_data (tensor), data);
    }
  ck_assert_int_eq (tensor->numel, 12);
  ck_assert (xp_tensor_resize (tensor, XP_INTS (500, 13), &error));
  ck_assert_int_eq (tensor->numel, 6500);
  memset (xp_tensor_data (tensor), 0, 6500 * sizeof (float));
}
END_TEST

START_TEST (resizing_a_view_leaves_its_base)
{
  g_autoptr (XpTensor) base = tensor_new (XP_INTS (3, 4));
  g_autoptr (XpTensor) view = xp_tensor_new_view (base, XP_INTS (2, 2), XP_INTS (1, 4), 4, &error);
  assert_no_error (error);
  ck_assert (xp_tensor_resize (view, XP_INTS (2, 2), &error)); /* right already: strides stay */
  assert_sizes (xp_tensor_strides (view), XP_INTS (1, 4));
  ck_assert (xp_tensor_resize (view, XP_INTS (8), &error)); /* just fits behind the offset */
  ck_assert (xp_tensor_shares_storage (view, base));
  ck_assert_int_eq (xp_tensor_storage_offset (view), 4);
  ck_assert (xp_tensor_is_contiguous (view));
  ck_assert (xp_tensor_resize (view, XP_INTS (9), &error));
  ck_assert (!xp_tensor_shares_storage (view, base));
  ck_assert_int_eq (xp_tensor_storage_offset (view), 0);
  memset (xp_tensor_data (view), 0, 9 * sizeof (float));
  assert_sizes (xp_tensor_shape (base), XP_INTS (3, 4));
}
END_TEST

START_TEST (resizing_to_a_part_of_its_own_shape_works)
{
  g_autoptr (XpTensor) tensor = tensor_new (XP_INTS (2, 3, 4));
  XpInts shape = xp_tensor_shape (tensor);
  ck_assert (xp_tensor_resize (tensor, (XpInts){ shape.data + 1, 2 }, &error));
  assert_sizes (xp_tensor_shape (tensor), XP_INTS (3, 4));
  assert_sizes (xp_tensor_strides (tensor), XP_INTS (4, 1));
  g_autoptr (XpTensor) deep = tensor_new (XP_INTS (1, 2, 1, 3, 1, 4, 1));
  shape = xp_tensor_shape (deep);
  ck_assert (xp_tensor_resize (deep, (XpInts){ shape.data + 3, 3 }, &error));
  assert_sizes (xp_tensor_shape (deep), XP_INTS (3, 1, 4));
}
END_TEST

START_TEST (a_resize_that_fails_changes_nothing)
{
  g_autoptr (XpTensor) tensor = tensor_new (XP_INTS (2, 3));
  void *data = xp_tensor_data (tensor);
  ck_assert (!xp_tensor_resize (tensor, XP_INTS (-1), &error));
  assert_error (error, XP_ERROR_SHAPE, "negative dimension -1");
  ck_assert (!xp_tensor_resize (tensor, XP_INTS (G_MAXINT64), &error));
  assert_error (error, XP_ERROR_LIMIT, "more than 2^63 bytes");
  ck_assert (!xp_tensor_resize (tensor, XP_INTS (1152921504606846976), &error));
  assert_error (error, XP_ERROR_NO_MEMORY, "no memory on cpu");
  assert_sizes (xp_tensor_shape (tensor), XP_INTS (2, 3));
  ck_assert_ptr_eq (xp_tensor_data (tensor), data);
}
END_TEST

START_TEST (only_numbers_with_a_slope_require_gradients)
{
  static const XpDType all[] = { XP_UINT8,   XP_INT8,     XP_INT16,     XP_INT32,
                                 XP_INT64,   XP_BOOL,     XP_FLOAT16,   XP_FLOAT32,
                                 XP_FLOAT64, XP_BFLOAT16, XP_COMPLEX64, XP_COMPLEX128 };
  for (unsigned i = 0; i < XP_LENGTH (all); i++)
    {
      g_autoptr (XpTensor) tensor = xp_tensor_new (all[i], NO_SIZES, XP_CPU, &error);
      assert_no_error (error);
      XpKeySet keys = tensor->keys;
      if (i < 6)
        {
          ck_assert (!xp_tensor_set_requires_grad (tensor, TRUE, &error));
          assert_error (error, XP_ERROR_DTYPE, xp_dtype_name (all[i]));
        }
      else
        {
          ck_assert (xp_tensor_set_requires_grad (tensor, TRUE, &error));
          ck_assert (tensor->flags & XP_TENSOR_REQUIRES_GRAD);
        }
      ck_assert (xp_tensor_set_requires_grad (tensor, FALSE, &error));
      assert_no_error (error);
      ck_assert (!(tensor->flags & XP_TENSOR_REQUIRES_GRAD));
      ck_assert_mem_eq (&keys, &tensor->keys, sizeof keys);
    }
}
END_TEST

/* Layouts. */

static int n_freed;

static void
count_freed (void *data)
{
  ck_assert_ptr_eq (data, &n_freed);
  n_freed++;
}

static const XpLayoutClass sparse = { .size = sizeof sparse,
                                      .layout = XP_SPARSE_COO,
                                      .functionality = XP_FUNCTIONALITY_Sparse,
                                      .free_data = count_freed };

START_TEST (data_of_a_layout_is_freed_once)
{
  static const XpLayoutClass other = { .size = sizeof other, .free_data = count_freed };
  n_freed = 0;
  XpTensor *tensor = xp_tensor_new_with_layout (&sparse, &n_freed, XP_FLOAT64, XP_INTS (2, 3),
                                                XP_CPU, &error);
  assert_no_error (error);
  ck_assert_int_eq (tensor->layout, XP_SPARSE_COO);
  assert_sizes (xp_tensor_shape (tensor), XP_INTS (2, 3));
  ck_assert_int_eq (tensor->numel, 6);
  ck_assert_ptr_null (xp_tensor_data (tensor));
  ck_assert_ptr_null (tensor->dl.strides);
  ck_assert (!xp_tensor_is_contiguous (tensor));
  assert_keys (tensor, "DispatchKeySet(SparseCPU, ADInplaceOrView, AutogradCPU, AutocastCPU)");
  ck_assert_ptr_eq (xp_tensor_layout_data (tensor, &sparse), &n_freed);
  ck_assert_ptr_null (xp_tensor_layout_data (tensor, &other));
  ck_assert (!xp_tensor_shares_storage (tensor, tensor));
  xp_tensor_written (tensor);
  ck_assert_uint_eq (xp_tensor_version (tensor), 0);
  xp_tensor_ref (tensor);
  xp_tensor_unref (tensor);
  ck_assert_int_eq (n_freed, 0);
  xp_tensor_unref (tensor);
  ck_assert_int_eq (n_freed, 1);
}
END_TEST

START_TEST (data_of_a_layout_is_freed_where_no_tensor_comes_of_it)
{
  n_freed = 0;
  ck_assert_ptr_null (
      xp_tensor_new_with_layout (&sparse, &n_freed, XP_FLOAT64, XP_INTS (-2), XP_CPU, &error));
  assert_error (error, XP_ERROR_SHAPE, "negative dimension");
  ck_assert_int_eq (n_freed, 1);
  ck_assert_ptr_null (xp_tensor_new_with_layout (&sparse, &n_freed, XP_FLOAT64, XP_INTS (2),
                                                 (XpDevice){ 64, 0 }, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "64 is the bit of no backend");
  ck_assert_int_eq (n_freed, 2);
}
END_TEST

/* Memory of a device. */

static struct
{
  int n_live;
  int last_index;
  size_t last_size;
} device;

static void *
allocate (int index, size_t n_bytes)
{
  device.last_index = index;
  device.last_size = n_bytes;
  if (n_bytes > 1 << 20)
    return NULL;
  device.n_live++;
  return malloc (n_bytes);
}

static void
deallocate (int index, void *memory, size_t n_bytes)
{
  ck_assert_int_eq (index, device.last_index);
  ck_assert_uint_eq (n_bytes, device.last_size);
  device.n_live--;
  free (memory);
}

static gboolean
from_host (int index, void *memory, const void *host, size_t n_bytes, GError **to)
{
  if (index == 7)
    {
      g_set_error (to, XP_ERROR, XP_ERROR_INTERNAL, "device 7 is out");
      return FALSE;
    }
  memcpy (memory, host, n_bytes);
  return TRUE;
}

START_TEST (a_scalar_goes_to_the_memory_of_its_device)
{
  static const XpMemoryClass memory = {
    .size = sizeof memory, .allocate = allocate, .deallocate = deallocate, .from_host = from_host
  };
  XpBackend backend;
  ck_assert (xp_backend_register ("scalars", &backend, &error));
  xp_backend_set_memory (backend, &memory);
  XpTensor *tensor = xp_tensor_new_scalar (xp_value_float (2.5), XP_FLOAT32,
                                           (XpDevice){ backend, 1 }, &error);
  assert_no_error (error);
  ck_assert (*(float *) xp_tensor_data (tensor) == 2.5f);
  ck_assert (tensor->flags & XP_TENSOR_IS_SCALAR);
  xp_tensor_unref (tensor);
  ck_assert_ptr_null (
      xp_tensor_new_scalar (xp_value_float (2.5), -1, (XpDevice){ backend, 7 }, &error));
  assert_error (error, XP_ERROR_INTERNAL, "device 7 is out");
  ck_assert_int_eq (device.n_live, 0);
  xp_backend_set_memory (backend, NULL);
}
END_TEST

START_TEST (a_named_backend_brings_its_memory)
{
  static const XpMemoryClass memory = { .size = sizeof memory,
                                        .allocate = allocate,
                                        .deallocate = deallocate };
  XpBackend backend;
  ck_assert (xp_backend_register ("acme", &backend, &error));
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, XP_INTS (5), (XpDevice){ backend, 2 }, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "gives memory for the device 'acme:2'");
  xp_backend_set_memory (backend, &memory);
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (5), (XpDevice){ backend, 2 }, &error);
  assert_no_error (error);
  ck_assert_int_eq (device.last_index, 2);
  ck_assert_uint_eq (device.last_size, 20);
  ck_assert_int_eq (device.n_live, 1);
  ck_assert_int_eq (tensor->dl.device.device_type, kDLExtDev);
  ck_assert_int_eq (tensor->dl.device.device_id, backend);
  ck_assert_int_eq (xp_tensor_device (tensor).index, 2);
  /* The class may be taken back while a tensor still needs it. */
  xp_backend_set_memory (backend, NULL);
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, XP_INTS (5), (XpDevice){ backend, 2 }, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "gives memory");
  xp_tensor_unref (tensor);
  ck_assert_int_eq (device.n_live, 0);

  xp_backend_set_memory (backend, &memory);
  ck_assert_ptr_null (
      xp_tensor_new (XP_FLOAT32, XP_INTS (1 << 20), (XpDevice){ backend, -1 }, &error));
  assert_error (error, XP_ERROR_NO_MEMORY, "no memory on acme for a tensor of 4194304 bytes");
  g_autoptr (XpTensor) first = xp_tensor_new (XP_FLOAT32, XP_INTS (1), (XpDevice){ backend, -1 },
                                              &error);
  assert_no_error (error);
  ck_assert_int_eq (xp_tensor_device (first).index, 0);
  g_autoptr (XpTensor) empty = xp_tensor_new (XP_FLOAT32, XP_INTS (0), (XpDevice){ backend, -1 },
                                              &error);
  assert_no_error (error);
  ck_assert_ptr_null (xp_tensor_data (empty));
  ck_assert_int_eq (device.n_live, 1);
  xp_backend_set_memory (backend, NULL);
}
END_TEST

START_TEST (a_device_without_memory_has_shapes_only)
{
  static const XpMemoryClass memory = { .size = sizeof memory };
  xp_backend_set_memory (XP_BACKEND_Meta, &memory);
  g_autoptr (XpTensor) tensor = xp_tensor_new (XP_FLOAT64, XP_INTS (1 << 30, 1 << 20), XP_META,
                                               &error);
  assert_no_error (error);
  ck_assert_ptr_null (xp_tensor_data (tensor));
  ck_assert_int_eq (xp_tensor_device (tensor).index, -1);
  assert_keys (tensor, "DispatchKeySet(Meta, ADInplaceOrView, AutogradMeta)");
  g_autoptr (XpTensor) view = xp_tensor_new_view (tensor, XP_INTS (3), XP_INTS (1 << 20), 7,
                                                  &error);
  assert_no_error (error);
  ck_assert_ptr_null (xp_tensor_data (view));
  ck_assert_int_eq (xp_tensor_storage_offset (view), 7);
  g_autoptr (XpTensor) scalar = xp_tensor_new_scalar (xp_value_int (3), -1, XP_META, &error);
  assert_no_error (error);
  ck_assert (scalar->flags & XP_TENSOR_IS_SCALAR);
  ck_assert (xp_tensor_resize (view, XP_INTS (1 << 30, 1 << 21), &error));
  ck_assert (!xp_tensor_shares_storage (view, tensor));
  xp_backend_set_memory (XP_BACKEND_Meta, NULL);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("tensors");
  TCase *creation = tcase_create ("creation");
  tcase_add_checked_fixture (creation, set_up, NULL);
  tcase_add_test (creation, a_new_tensor_is_contiguous_and_in_host_memory);
  tcase_add_test (creation, a_tensor_of_any_rank_keeps_its_shape);
  tcase_add_test (creation, what_cannot_be_made_is_refused);
  tcase_add_test (creation, an_empty_tensor_needs_no_memory_however_long);
  tcase_add_test (creation, strides_may_be_any_that_are_not_negative);
  tcase_add_test (creation, a_copy_has_the_elements_and_its_own_memory);
  tcase_add_test (creation, a_scalar_becomes_a_flagged_tensor);
  suite_add_tcase (suite, creation);
  TCase *views = tcase_create ("views");
  tcase_add_checked_fixture (views, set_up, NULL);
  tcase_add_test (views, a_view_shares_memory_and_version);
  tcase_add_test (views, a_view_beyond_its_storage_is_refused);
  suite_add_tcase (suite, views);
  TCase *changes = tcase_create ("changes");
  tcase_add_checked_fixture (changes, set_up, NULL);
  tcase_add_test (changes, resizing_takes_new_memory_only_where_it_must);
  tcase_add_test (changes, resizing_a_view_leaves_its_base);
  tcase_add_test (changes, resizing_to_a_part_of_its_own_shape_works);
  tcase_add_test (changes, a_resize_that_fails_changes_nothing);
  tcase_add_test (changes, only_numbers_with_a_slope_require_gradients);
  suite_add_tcase (suite, changes);
  TCase *others = tcase_create ("layouts and devices");
  tcase_add_checked_fixture (others, set_up, NULL);
  tcase_add_test (others, data_of_a_layout_is_freed_once);
  tcase_add_test (others, data_of_a_layout_is_freed_where_no_tensor_comes_of_it);
  tcase_add_test (others, a_named_backend_brings_its_memory);
  tcase_add_test (others, a_scalar_goes_to_the_memory_of_its_device);
  tcase_add_test (others, a_device_without_memory_has_shapes_only);
  suite_add_tcase (suite, others);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
