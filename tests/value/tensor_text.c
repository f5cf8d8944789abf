/* SPDX-License-Identifier: MIT
 *
 * tensor_text.c: tensors as text. Every expected text is what PyTorch 1.13 prints; print_parity.py
 * compares many more.
 */
#include "suite.h"

#include <math.h>
#include <string.h>

static GError *error;

static void
set_up (void)
{
  error = NULL;
}

static void
assert_text (const XpTensor *tensor, const char *expected)
{
  g_autofree char *text = xp_tensor_to_string (tensor);
  ck_assert_str_eq (text, expected);
}

typedef struct
{
  XpDType dtype;
  XpInts shape;
  double numbers[4];
  const char *text;
} Case;

static const Case cases[] = {
  { XP_FLOAT32, XP_INTS (2, 2), { 1, 2, 3, 4 }, "tensor([[1., 2.],\n        [3., 4.]])" },
  { XP_FLOAT32, XP_INTS (2, 1, 2), { 1, 2, 3, 4 }, "tensor([[[1., 2.]],\n\n        [[3., 4.]]])" },
  { XP_FLOAT32, { NULL, 0 }, { 2.5 }, "tensor(2.5000)" },
  { XP_FLOAT32, { NULL, 0 }, { -0.0 }, "tensor(-0.)" },
  /* Scientific where the largest is more than 1000 times the smallest, or either is far from 1. */
  { XP_FLOAT32, XP_INTS (2), { 1, 1000 }, "tensor([   1., 1000.])" },
  { XP_FLOAT32,
    XP_INTS (3),
    { 0.1, -2.5, 1000 },
    "tensor([ 1.0000e-01, -2.5000e+00,  1.0000e+03])" },
  { XP_FLOAT32, XP_INTS (2), { 1.5, 1600 }, "tensor([1.5000e+00, 1.6000e+03])" },
  { XP_FLOAT32, XP_INTS (1), { 0.0001001 }, "tensor([0.0001])" },
  { XP_FLOAT32, XP_INTS (1), { 0.00001 }, "tensor([1.0000e-05])" },
  { XP_FLOAT32, XP_INTS (1), { 100000008 }, "tensor([1.0000e+08])" },
  { XP_FLOAT64, { NULL, 0 }, { 100000001 }, "tensor(1.0000e+08, dtype=torch.float64)" },
  { XP_FLOAT64, { NULL, 0 }, { 1e8 }, "tensor(100000000., dtype=torch.float64)" },
  { XP_FLOAT32, XP_INTS (4), { NAN, INFINITY, -INFINITY, 1 }, "tensor([nan, inf, -inf, 1.])" },
  { XP_FLOAT32,
    XP_INTS (4),
    { NAN, INFINITY, -INFINITY, 1.5 },
    "tensor([   nan,    inf,   -inf, 1.5000])" },
  { XP_FLOAT32, XP_INTS (3), { -NAN, INFINITY, 0 }, "tensor([nan, inf, 0.])" },
  { XP_FLOAT64, XP_INTS (2), { 1, 2.5 }, "tensor([1.0000, 2.5000], dtype=torch.float64)" },
  { XP_FLOAT16,
    XP_INTS (2),
    { 1, 65504 },
    "tensor([1.0000e+00, 6.5504e+04], dtype=torch.float16)" },
  { XP_BFLOAT16, XP_INTS (1), { 0.1 }, "tensor([0.1001], dtype=torch.bfloat16)" },
  { XP_INT64, XP_INTS (2, 2), { 1, -20, 300, 4 }, "tensor([[  1, -20],\n        [300,   4]])" },
  { XP_UINT8, XP_INTS (2), { 1, 200 }, "tensor([  1, 200], dtype=torch.uint8)" },
  { XP_INT8, { NULL, 0 }, { -5 }, "tensor(-5, dtype=torch.int8)" },
  { XP_BOOL, XP_INTS (3), { 1, 0, 1 }, "tensor([ True, False,  True])" },
  { XP_FLOAT32, XP_INTS (0), { 0 }, "tensor([])" },
  { XP_FLOAT32, XP_INTS (0, 3), { 0 }, "tensor([], size=(0, 3))" },
  { XP_BOOL, XP_INTS (2, 0), { 0 }, "tensor([], size=(2, 0), dtype=torch.bool)" },
  { XP_INT64, XP_INTS (0), { 0 }, "tensor([], dtype=torch.int64)" },
};

START_TEST (small_tensors_print_as_in_pytorch)
{
  g_autoptr (XpTensor) tensor = xp_tensor_new (cases[_i].dtype, cases[_i].shape, XP_CPU, &error);
  assert_no_error (error);
  for (int i = 0; i < tensor->numel; i++)
    xp_tensor_set_element (tensor, i, xp_value_float (cases[_i].numbers[i]));
  assert_text (tensor, cases[_i].text);
}
END_TEST

START_TEST (complex_numbers_print_as_in_pytorch)
{
  const float pairs[] = { 1, 2, -0.5f, -3.25f };
  const double one[] = { 1, -2 };
  const float special[] = { NAN, INFINITY, 0, -0.0f };
  g_autoptr (XpTensor) vector = xp_tensor_new_copy_of (XP_COMPLEX64, XP_INTS (2), pairs, &error);
  g_autoptr (XpTensor) scalar = xp_tensor_new_copy_of (XP_COMPLEX128, (XpInts){ NULL, 0 }, one,
                                                       &error);
  g_autoptr (XpTensor) odd = xp_tensor_new_copy_of (XP_COMPLEX64, XP_INTS (2), special, &error);
  assert_no_error (error);
  assert_text (vector, "tensor([ 1.0000+2.0000j, -0.5000-3.2500j])");
  assert_text (scalar, "tensor(1.-2.j, dtype=torch.complex128)");
  assert_text (odd, "tensor([nan+infj, 0.-0.j])");
}
END_TEST

static XpTensor *
range_new (XpDType dtype, XpInts shape)
{
  XpTensor *tensor = xp_tensor_new (dtype, shape, XP_CPU, &error);
  assert_no_error (error);
  for (int64_t i = 0; i < tensor->numel; i++)
    xp_tensor_set_element (tensor, i, xp_value_int (i));
  return tensor;
}

START_TEST (long_lines_wrap_at_80_columns)
{
  g_autoptr (XpTensor) tensor = range_new (XP_FLOAT32, XP_INTS (40));
  assert_text (tensor,
               "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n"
               "        14., 15., 16., 17., 18., 19., 20., 21., 22., 23., 24., 25., 26., 27.,\n"
               "        28., 29., 30., 31., 32., 33., 34., 35., 36., 37., 38., 39.])");
  g_autoptr (XpTensor) suffixed = range_new (XP_FLOAT64, XP_INTS (14));
  ck_assert (xp_tensor_set_requires_grad (suffixed, TRUE, &error));
  assert_text (suffixed,
               "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.],\n"
               "       dtype=torch.float64, requires_grad=True)");
}
END_TEST

START_TEST (beyond_1000_elements_the_middle_is_left_out)
{
  g_autoptr (XpTensor) all = range_new (XP_INT64, XP_INTS (1000));
  g_autofree char *text = xp_tensor_to_string (all);
  ck_assert_ptr_null (strstr (text, "..."));
  g_autoptr (XpTensor) vector = range_new (XP_INT64, XP_INTS (1001));
  assert_text (vector, "tensor([   0,    1,    2,  ...,  998,  999, 1000])");
  g_autoptr (XpTensor) cube = range_new (XP_INT32, XP_INTS (2, 9, 70));
  assert_text (cube, "tensor([[[   0,    1,    2,  ...,   67,   68,   69],\n"
                     "         [  70,   71,   72,  ...,  137,  138,  139],\n"
                     "         [ 140,  141,  142,  ...,  207,  208,  209],\n"
                     "         ...,\n"
                     "         [ 420,  421,  422,  ...,  487,  488,  489],\n"
                     "         [ 490,  491,  492,  ...,  557,  558,  559],\n"
                     "         [ 560,  561,  562,  ...,  627,  628,  629]],\n"
                     "\n"
                     "        [[ 630,  631,  632,  ...,  697,  698,  699],\n"
                     "         [ 700,  701,  702,  ...,  767,  768,  769],\n"
                     "         [ 770,  771,  772,  ...,  837,  838,  839],\n"
                     "         ...,\n"
                     "         [1050, 1051, 1052,  ..., 1117, 1118, 1119],\n"
                     "         [1120, 1121, 1122,  ..., 1187, 1188, 1189],\n"
                     "         [1190, 1191, 1192,  ..., 1257, 1258, 1259]]], dtype=torch.int32)");
}
END_TEST

START_TEST (a_view_prints_what_it_shows)
{
  g_autoptr (XpTensor) base = range_new (XP_INT64, XP_INTS (3, 4));
  g_autoptr (XpTensor) view = xp_tensor_new_view (base, XP_INTS (2, 3), XP_INTS (1, 4), 1, &error);
  assert_no_error (error);
  assert_text (view, "tensor([[ 1,  5,  9],\n        [ 2,  6, 10]])");
  g_autoptr (XpTensor) endless = xp_tensor_new_view (base, XP_INTS (4611686018427387904),
                                                     XP_INTS (0), 11, &error);
  assert_no_error (error);
  assert_text (endless, "tensor([11, 11, 11,  ..., 11, 11, 11])");
}
END_TEST

START_TEST (a_tensor_without_memory_prints_its_size)
{
  static const XpMemoryClass memory = { .size = sizeof memory };
  int64_t many[24];
  for (unsigned i = 0; i < XP_LENGTH (many); i++)
    many[i] = 2;
  xp_backend_set_memory (XP_BACKEND_Meta, &memory);
  g_autoptr (XpTensor) plain = xp_tensor_new (XP_FLOAT32, XP_INTS (2, 3), XP_META, &error);
  g_autoptr (XpTensor) typed = xp_tensor_new (XP_INT64, XP_INTS (3), XP_META, &error);
  g_autoptr (XpTensor) empty = xp_tensor_new (XP_FLOAT32, XP_INTS (0), XP_META, &error);
  g_autoptr (XpTensor) grad = xp_tensor_new (XP_FLOAT64, (XpInts){ NULL, 0 }, XP_META, &error);
  g_autoptr (XpTensor) deep = xp_tensor_new (XP_FLOAT64, (XpInts){ many, 24 }, XP_META, &error);
  xp_backend_set_memory (XP_BACKEND_Meta, NULL);
  assert_no_error (error);
  ck_assert (xp_tensor_set_requires_grad (grad, TRUE, &error));
  assert_text (plain, "tensor(..., device='meta', size=(2, 3))");
  assert_text (typed, "tensor(..., device='meta', size=(3,), dtype=torch.int64)");
  assert_text (empty, "tensor(..., device='meta', size=(0,))");
  assert_text (grad,
               "tensor(..., device='meta', size=(), dtype=torch.float64, requires_grad=True)");
  assert_text (deep, "tensor(..., device='meta',\n"
                     "       size=(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, "
                     "2, 2, 2),\n"
                     "       dtype=torch.float64)");
}
END_TEST

/* A device whose memory is that of the host, as far as the library can see. */

static gboolean is_reachable;

static void *
allocate (G_GNUC_UNUSED int index, size_t n_bytes)
{
  return g_malloc0 (n_bytes);
}

static void
deallocate (G_GNUC_UNUSED int index, void *memory, G_GNUC_UNUSED size_t n_bytes)
{
  g_free (memory);
}

static gboolean
to_host (int index, void *host, const void *memory, size_t n_bytes, GError **failure)
{
  ck_assert_int_eq (index, 1);
  if (!is_reachable)
    {
      xp_error_set (failure, XP_ERROR_INTERNAL, NULL, "the device fell off the bus");
      return FALSE;
    }
  memcpy (host, memory, n_bytes);
  return TRUE;
}

START_TEST (a_tensor_on_a_device_is_fetched)
{
  static const XpMemoryClass memory = {
    .size = sizeof memory, .allocate = allocate, .deallocate = deallocate, .to_host = to_host
  };
  XpBackend backend;
  ck_assert (xp_backend_register ("acme", &backend, &error));
  xp_backend_set_memory (backend, &memory);
  g_autoptr (XpTensor) tensor = xp_tensor_new (XP_INT64, XP_INTS (2, 2), (XpDevice){ backend, 1 },
                                               &error);
  g_autoptr (XpTensor) empty = xp_tensor_new (XP_FLOAT32, XP_INTS (0), (XpDevice){ backend, 1 },
                                              &error);
  xp_backend_set_memory (backend, NULL);
  assert_no_error (error);
  ((int64_t *) xp_tensor_data (tensor))[1] = 12;
  is_reachable = TRUE;
  assert_text (tensor, "tensor([[ 0, 12],\n        [ 0,  0]], device='acme:1')");
  assert_text (empty, "tensor([], device='acme:1')");
  is_reachable = FALSE;
  assert_text (tensor, "tensor(..., device='acme:1', size=(2, 2), dtype=torch.int64)");
}
END_TEST

static void
free_nothing (G_GNUC_UNUSED void *data)
{
}

static char *
sparse_to_string (const XpTensor *tensor)
{
  return g_strdup_printf ("sparse of %" G_GINT64_FORMAT, tensor->numel);
}

START_TEST (a_layout_prints_itself_or_its_size)
{
  static const XpLayoutClass silent = { .size = sizeof silent,
                                        .layout = XP_SPARSE_COO,
                                        .functionality = XP_FUNCTIONALITY_Sparse,
                                        .free_data = free_nothing };
  static const XpLayoutClass speaking = { .size = sizeof speaking,
                                          .layout = XP_SPARSE_COO,
                                          .functionality = XP_FUNCTIONALITY_Sparse,
                                          .free_data = free_nothing,
                                          .to_string = sparse_to_string };
  g_autoptr (XpTensor) plain = xp_tensor_new_with_layout (&silent, NULL, XP_INT64, XP_INTS (2, 3),
                                                          XP_CPU, &error);
  g_autoptr (XpTensor) typed = xp_tensor_new_with_layout (&silent, NULL, XP_FLOAT64, XP_INTS (3),
                                                          XP_CPU, &error);
  g_autoptr (XpTensor) own = xp_tensor_new_with_layout (&speaking, NULL, XP_FLOAT32, XP_INTS (2, 3),
                                                        XP_CPU, &error);
  assert_no_error (error);
  assert_text (plain, "tensor(..., size=(2, 3), layout=torch.sparse_coo)");
  assert_text (typed, "tensor(..., size=(3,), dtype=torch.float64, layout=torch.sparse_coo)");
  assert_text (own, "sparse of 6");
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("tensor_text");
  TCase *texts = tcase_create ("texts");
  tcase_add_checked_fixture (texts, set_up, NULL);
  tcase_add_loop_test (texts, small_tensors_print_as_in_pytorch, 0, XP_LENGTH (cases));
  tcase_add_test (texts, complex_numbers_print_as_in_pytorch);
  tcase_add_test (texts, long_lines_wrap_at_80_columns);
  tcase_add_test (texts, beyond_1000_elements_the_middle_is_left_out);
  tcase_add_test (texts, a_view_prints_what_it_shows);
  tcase_add_test (texts, a_tensor_without_memory_prints_its_size);
  tcase_add_test (texts, a_tensor_on_a_device_is_fetched);
  tcase_add_test (texts, a_layout_prints_itself_or_its_size);
  suite_add_tcase (suite, texts);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
