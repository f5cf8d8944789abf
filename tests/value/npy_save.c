/* SPDX-License-Identifier: MIT
 *
 * npy_save.c: writing .npy files: the bytes of numpy.save(), and what happens to the file replaced.
 */
#include "suite.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;
static char *path; /* of a file in it that is not there yet */
static GError *error;

static void
set_up (void)
{
  folder = g_dir_make_tmp ("crosspoint-npy-XXXXXX", NULL);
  ck_assert_ptr_nonnull (folder);
  path = g_build_filename (folder, "file.npy", NULL);
  error = NULL;
}

/* No file but the one of the test may remain: a temporary one would make this fail. */
static void
tear_down (void)
{
  g_unlink (path);
  ck_assert_int_eq (g_rmdir (folder), 0);
  g_clear_pointer (&path, g_free);
  g_clear_pointer (&folder, g_free);
}

static XpTensor *
numbers_new (XpInts shape)
{
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, shape, XP_CPU, &error);
  assert_no_error (error);
  for (int64_t i = 0; i < tensor->numel; i++)
    ((float *) xp_tensor_data (tensor))[i] = (float) i;
  return tensor;
}

/* The file is @dictionary, padded with spaces and a newline to @header_length, then @data. */
static void
assert_file (const char *dictionary, size_t header_length, const void *data, size_t n)
{
  g_autofree char *header = g_strdup_printf ("%-*s\n", (int) header_length - 1, dictionary);
  g_autofree char *bytes = NULL;
  size_t length;
  ck_assert (g_file_get_contents (path, &bytes, &length, NULL));
  ck_assert_uint_eq (length, 10 + header_length + n);
  ck_assert_mem_eq (bytes, "\x93NUMPY\x01\x00", 8);
  ck_assert_uint_eq ((unsigned char) bytes[8] | (unsigned char) bytes[9] << 8, header_length);
  ck_assert_mem_eq (bytes + 10, header, header_length);
  if (n > 0)
    ck_assert_mem_eq (bytes + 10 + header_length, data, n);
}

/* What NumPy 1.24 writes for [0, 1, 0] of each type. */
static const struct
{
  XpDType dtype;
  const char *dictionary;
  size_t size;
  const char *one;
} vectors[] = {
  { XP_BOOL, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", 1, "\x01" },
  { XP_UINT8, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 1, "\x01" },
  { XP_INT8, "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", 1, "\x01" },
  { XP_INT16, "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }", 2, "\x01\x00" },
  { XP_INT32, "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", 4, "\x01\x00\x00\x00" },
  { XP_INT64, "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", 8,
    "\x01\x00\x00\x00\x00\x00\x00\x00" },
  { XP_FLOAT16, "{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }", 2, "\x00\x3c" },
  { XP_FLOAT32, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 4,
    "\x00\x00\x80\x3f" },
  { XP_FLOAT64, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", 8,
    "\x00\x00\x00\x00\x00\x00\xf0\x3f" },
  { XP_COMPLEX64, "{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", 8,
    "\x00\x00\x80\x3f\x00\x00\x00\x00" },
  { XP_COMPLEX128, "{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }", 16,
    "\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x00" },
};

START_TEST (every_element_type_is_written_as_numpy_does)
{
  char data[3 * 16] = { 0 };
  size_t size = vectors[_i].size;
  memcpy (data + size, vectors[_i].one, size);
  g_autoptr (XpTensor) tensor = xp_tensor_new (vectors[_i].dtype, XP_INTS (3), XP_CPU, &error);
  assert_no_error (error);
  for (int i = 0; i < 3; i++)
    xp_tensor_set_element (tensor, i, xp_value_int (i == 1));
  ck_assert (xp_tensor_save_npy (tensor, path, &error));
  assert_no_error (error);
  assert_file (vectors[_i].dictionary, 118, data, 3 * size);

  g_autoptr (XpTensor) again = xp_tensor_load_npy (path, &error);
  assert_no_error (error);
  ck_assert_int_eq (xp_tensor_dtype (again), vectors[_i].dtype);
  ck_assert_mem_eq (xp_tensor_data (again), xp_tensor_data (tensor), 3 * size);
}
END_TEST

/* What NumPy 1.24 writes for these shapes: the padding depends on the first size. */
static const struct
{
  XpInts shape;
  size_t header_length;
  const char *dictionary;
} shapes[] = {
  { { NULL, 0 }, 118, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }" },
  { XP_INTS (2, 3), 118, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" },
  { XP_INTS (0), 118, "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }" },
  { XP_INTS (0, 3), 118, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }" },
  { XP_INTS (1000000, 0), 118,
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 0), }" },
  { XP_INTS (1, 2, 1, 2), 118,
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1, 2), }" },
  /* Here the header ends on a multiple of 64, and NumPy adds 64 more. */
  { XP_INTS (0, 1000000, 1000000, 1000000, 1000000, 123), 182,
    "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1000000, 1000000, 1000000, 1000000, "
    "123), }" },
};

START_TEST (every_shape_is_written_as_numpy_does)
{
  g_autoptr (XpTensor) tensor = numbers_new (shapes[_i].shape);
  ck_assert (xp_tensor_save_npy (tensor, path, &error));
  assert_no_error (error);
  assert_file (shapes[_i].dictionary, shapes[_i].header_length, xp_tensor_data (tensor),
               (size_t) tensor->numel * sizeof (float));
}
END_TEST

START_TEST (a_view_is_written_row_by_row)
{
  g_autoptr (XpTensor) base = numbers_new (XP_INTS (3, 4));
  g_autoptr (XpTensor) view = xp_tensor_new_view (base, XP_INTS (2, 1, 3, 2),
                                                  XP_INTS (1, 1000, 4, 0), 1, &error);
  assert_no_error (error);
  ck_assert (xp_tensor_save_npy (view, path, &error));
  assert_no_error (error);
  g_autoptr (XpTensor) again = xp_tensor_load_npy (path, &error);
  assert_no_error (error);
  const float rows[] = { 1, 1, 5, 5, 9, 9, 2, 2, 6, 6, 10, 10 };
  ck_assert_int_eq (again->numel, 12);
  ck_assert_mem_eq (xp_tensor_data (again), rows, sizeof rows);
}
END_TEST

START_TEST (a_view_larger_than_a_block_is_written)
{
  enum
  {
    ROWS = 701,
    COLUMNS = 599
  };
  g_autoptr (XpTensor) base = numbers_new (XP_INTS (COLUMNS, ROWS));
  g_autoptr (XpTensor) view = xp_tensor_new_view (base, XP_INTS (ROWS, COLUMNS), XP_INTS (1, ROWS),
                                                  0, &error);
  assert_no_error (error);
  ck_assert (xp_tensor_save_npy (view, path, &error));
  g_autoptr (XpTensor) again = xp_tensor_load_npy (path, &error);
  assert_no_error (error);
  const float *rows = xp_tensor_data (again);
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      ck_assert (rows[r * COLUMNS + c] == (float) (c * ROWS + r));
}
END_TEST

START_TEST (a_file_is_replaced_and_keeps_its_permissions)
{
  struct stat status;
  g_autoptr (XpTensor) tensor = numbers_new (XP_INTS (2));
  mode_t mask = umask (027);
  ck_assert (xp_tensor_save_npy (tensor, path, &error));
  assert_no_error (error);
  ck_assert_int_eq (stat (path, &status), 0);
  ck_assert_uint_eq (status.st_mode & 0777, 0640);
  ck_assert_int_eq (chmod (path, 0606), 0);
  g_autoptr (XpTensor) larger = numbers_new (XP_INTS (5));
  ck_assert (xp_tensor_save_npy (larger, path, &error));
  assert_no_error (error);
  umask (mask);
  ck_assert_int_eq (stat (path, &status), 0);
  ck_assert_uint_eq (status.st_mode & 0777, 0606);
  ck_assert_int_eq (status.st_size, 128 + 20);
}
END_TEST

START_TEST (a_link_is_followed)
{
  struct stat status;
  g_autofree char *link = g_build_filename (folder, "link.npy", NULL);
  g_autoptr (XpTensor) tensor = numbers_new (XP_INTS (2));
  ck_assert (g_file_set_contents (path, "old", 3, NULL));
  ck_assert_int_eq (symlink ("file.npy", link), 0);
  ck_assert (xp_tensor_save_npy (tensor, link, &error));
  assert_no_error (error);
  ck_assert_int_eq (lstat (link, &status), 0);
  ck_assert (S_ISLNK (status.st_mode));
  ck_assert_int_eq (lstat (path, &status), 0);
  ck_assert_int_eq (status.st_size, 128 + 8);
  g_unlink (link);
}
END_TEST

START_TEST (a_file_in_the_working_folder_needs_no_folder_in_its_path)
{
  g_autofree char *before = g_get_current_dir ();
  g_autoptr (XpTensor) tensor = numbers_new (XP_INTS (2));
  ck_assert_int_eq (chdir (folder), 0);
  ck_assert (xp_tensor_save_npy (tensor, "file.npy", &error));
  ck_assert_int_eq (chdir (before), 0);
  assert_no_error (error);
  ck_assert (g_file_test (path, G_FILE_TEST_IS_REGULAR));
}
END_TEST

START_TEST (where_nothing_can_be_written_the_path_is_named)
{
  g_autoptr (XpTensor) tensor = numbers_new (XP_INTS (2));
  g_autofree char *missing = g_build_filename (folder, "missing", "file.npy", NULL);
  ck_assert (!xp_tensor_save_npy (tensor, missing, &error));
  assert_error (error, XP_ERROR_FILE_IO,
                "missing/file.npy: cannot be written: No such file or directory");
  ck_assert (!xp_tensor_save_npy (tensor, folder, &error));
  assert_error (error, XP_ERROR_FILE_IO, "expected a regular file, found a directory");
  ck_assert_int_eq (mkfifo (path, 0600), 0);
  ck_assert (!xp_tensor_save_npy (tensor, path, &error));
  assert_error (error, XP_ERROR_FILE_IO, "file.npy: expected a regular file, found a pipe");
  ck_assert (!xp_tensor_save_npy (tensor, "/dev/null", &error));
  assert_error (error, XP_ERROR_FILE_IO, "/dev/null: expected a regular file, found a device");
}
END_TEST

START_TEST (without_room_the_old_file_stays)
{
  g_autofree char *bytes = NULL;
  struct rlimit before, small;
  g_autoptr (XpTensor) tensor = numbers_new (XP_INTS (4000));
  ck_assert (g_file_set_contents (path, "old", 3, NULL));
  getrlimit (RLIMIT_FSIZE, &before);
  small = (struct rlimit){ 4096, before.rlim_max };
  /* Else the limit kills the process. */
  void (*handler) (int) = signal (SIGXFSZ, SIG_IGN);
  ck_assert_int_eq (setrlimit (RLIMIT_FSIZE, &small), 0);
  gboolean saved = xp_tensor_save_npy (tensor, path, &error);
  ck_assert_int_eq (setrlimit (RLIMIT_FSIZE, &before), 0);
  signal (SIGXFSZ, handler);
  ck_assert (!saved);
  assert_error (error, XP_ERROR_FILE_IO, "file.npy: cannot be written: File too large");
  ck_assert (g_file_get_contents (path, &bytes, NULL, NULL));
  ck_assert_str_eq (bytes, "old");
}
END_TEST

static void
free_nothing (G_GNUC_UNUSED void *data)
{
}

START_TEST (what_numpy_cannot_hold_is_refused)
{
  static const XpLayoutClass klass = { .size = sizeof klass,
                                       .layout = XP_SPARSE_COO,
                                       .functionality = XP_FUNCTIONALITY_Sparse,
                                       .free_data = free_nothing };
  g_autoptr (XpTensor) narrow = xp_tensor_new (XP_BFLOAT16, XP_INTS (2), XP_CPU, &error);
  assert_no_error (error);
  ck_assert (!xp_tensor_save_npy (narrow, path, &error));
  assert_error (error, XP_ERROR_DTYPE, "file.npy: NumPy has no bfloat16: convert");
  g_autoptr (XpTensor) sparse = xp_tensor_new_with_layout (&klass, NULL, XP_FLOAT32, XP_INTS (2),
                                                           XP_CPU, &error);
  assert_no_error (error);
  ck_assert (!xp_tensor_save_npy (sparse, path, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "found a sparse_coo one on cpu");
  static const XpMemoryClass memory = { .size = sizeof memory };
  xp_backend_set_memory (XP_BACKEND_Meta, &memory);
  g_autoptr (XpTensor) meta = xp_tensor_new (XP_FLOAT32, XP_INTS (2), XP_META, &error);
  xp_backend_set_memory (XP_BACKEND_Meta, NULL);
  assert_no_error (error);
  ck_assert (!xp_tensor_save_npy (meta, path, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "found a strided one on meta");
  ck_assert (!g_file_test (path, G_FILE_TEST_EXISTS));
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("npy_save");
  TCase *bytes = tcase_create ("bytes");
  tcase_add_checked_fixture (bytes, set_up, tear_down);
  tcase_add_loop_test (bytes, every_element_type_is_written_as_numpy_does, 0, XP_LENGTH (vectors));
  tcase_add_loop_test (bytes, every_shape_is_written_as_numpy_does, 0, XP_LENGTH (shapes));
  tcase_add_test (bytes, a_view_is_written_row_by_row);
  tcase_add_test (bytes, a_view_larger_than_a_block_is_written);
  suite_add_tcase (suite, bytes);
  TCase *files = tcase_create ("files");
  tcase_add_checked_fixture (files, set_up, tear_down);
  tcase_add_test (files, a_file_is_replaced_and_keeps_its_permissions);
  tcase_add_test (files, a_link_is_followed);
  tcase_add_test (files, a_file_in_the_working_folder_needs_no_folder_in_its_path);
  tcase_add_test (files, where_nothing_can_be_written_the_path_is_named);
  tcase_add_test (files, without_room_the_old_file_stays);
  tcase_add_test (files, what_numpy_cannot_hold_is_refused);
  suite_add_tcase (suite, files);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
