/* SPDX-License-Identifier: MIT
 *
 * npy.c: reading .npy files, sound and broken. Writing them is in npy_save.c.
 */
#include "suite.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;
static GError *error;

static void
set_up (void)
{
  folder = g_dir_make_tmp ("crosspoint-npy-XXXXXX", NULL);
  ck_assert_ptr_nonnull (folder);
  error = NULL;
}

static void
tear_down (void)
{
  g_autofree char *path = g_build_filename (folder, "file.npy", NULL);
  g_unlink (path);
  ck_assert_int_eq (g_rmdir (folder), 0);
  g_clear_pointer (&folder, g_free);
}

/* Writes the bytes to a file, loads it, and leaves the outcome in @error. */
static XpTensor *
load (const void *bytes, size_t n)
{
  g_autofree char *path = g_build_filename (folder, "file.npy", NULL);
  ck_assert (g_file_set_contents (path, bytes, (gssize) n, NULL));
  return xp_tensor_load_npy (path, &error);
}

/* A file of format @version, with @dictionary as it is and @data after it. */
static GString *
file_of (int version, const char *dictionary, const void *data, size_t n)
{
  size_t length = strlen (dictionary);
  GString *file = g_string_new_len ("\x93NUMPY", 6);
  g_string_append_c (file, (char) version);
  g_string_append_c (file, '\0');
  for (int i = 0; i < (version == 1 ? 2 : 4); i++)
    g_string_append_c (file, (char) (length >> 8 * i & 0xff));
  g_string_append (file, dictionary);
  g_string_append_len (file, data, (gssize) n);
  return file;
}

static XpTensor *
load_parts (int version, const char *dictionary, const void *data, size_t n)
{
  GString *file = file_of (version, dictionary, data, n);
  XpTensor *tensor = load (file->str, file->len);
  g_string_free (file, TRUE);
  return tensor;
}

static void
assert_shape (const XpTensor *tensor, const char *expected)
{
  g_autofree char *shape = xp_shape_to_string (xp_tensor_shape (tensor));
  ck_assert_str_eq (shape, expected);
}

START_TEST (a_file_of_numpy_is_read)
{
  static const char header[]
      = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
        "                                                          \n";
  const float data[] = { 1, -2, 3.5f, 0, 1e30f, 6 };
  g_autofree char *bytes = g_malloc (sizeof header - 1 + sizeof data);
  memcpy (bytes, header, sizeof header - 1);
  memcpy (bytes + sizeof header - 1, data, sizeof data);
  g_autoptr (XpTensor) tensor = load (bytes, sizeof header - 1 + sizeof data);
  assert_no_error (error);
  assert_shape (tensor, "[2, 3]");
  ck_assert_int_eq (xp_tensor_dtype (tensor), XP_FLOAT32);
  ck_assert (xp_tensor_is_contiguous (tensor));
  ck_assert_int_eq (xp_tensor_device (tensor).backend, XP_BACKEND_CPU);
  ck_assert_mem_eq (xp_tensor_data (tensor), data, sizeof data);
}
END_TEST

/* One element of each type, as its bytes lie in a file of either byte order. */
static const struct
{
  const char *little_code;
  const char *big_code;
  XpDType dtype;
  const char *text;
  size_t size;
  const char *little;
  const char *big;
} elements[] = {
  { "|b1", NULL, XP_BOOL, "True", 1, "\x01", NULL },
  { "|u1", ">u1", XP_UINT8, "200", 1, "\xc8", "\xc8" },
  { "|i1", ">i1", XP_INT8, "-2", 1, "\xfe", "\xfe" },
  { "<i2", ">i2", XP_INT16, "258", 2, "\x02\x01", "\x01\x02" },
  { "<i4", ">i4", XP_INT32, "-16909061", 4, "\xfb\xfc\xfd\xfe", "\xfe\xfd\xfc\xfb" },
  { "<i8", ">i8", XP_INT64, "72623859790382856", 8, "\x08\x07\x06\x05\x04\x03\x02\x01",
    "\x01\x02\x03\x04\x05\x06\x07\x08" },
  { "<f2", ">f2", XP_FLOAT16, "1.5", 2, "\x00\x3e", "\x3e\x00" },
  { "<f4", ">f4", XP_FLOAT32, "-1.5", 4, "\x00\x00\xc0\xbf", "\xbf\xc0\x00\x00" },
  { "<f8", ">f8", XP_FLOAT64, "0.1", 8, "\x9a\x99\x99\x99\x99\x99\xb9\x3f",
    "\x3f\xb9\x99\x99\x99\x99\x99\x9a" },
  { "<c8", ">c8", XP_COMPLEX64, "1.5-2.0j", 8, "\x00\x00\xc0\x3f\x00\x00\x00\xc0",
    "\x3f\xc0\x00\x00\xc0\x00\x00\x00" },
  { "<c16", ">c16", XP_COMPLEX128, "0.1+1.0j", 16,
    "\x9a\x99\x99\x99\x99\x99\xb9\x3f\x00\x00\x00\x00\x00\x00\xf0\x3f",
    "\x3f\xb9\x99\x99\x99\x99\x99\x9a\x3f\xf0\x00\x00\x00\x00\x00\x00" },
};

static void
check_element (const char *code, const char *bytes, int i)
{
  g_autofree char *dictionary = g_strdup_printf (
      "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n", code);
  g_autoptr (XpTensor) tensor = load_parts (1, dictionary, bytes, elements[i].size);
  assert_no_error (error);
  ck_assert_int_eq (xp_tensor_dtype (tensor), elements[i].dtype);
  g_auto (XpValue) value = xp_tensor_get_element (tensor, 0);
  g_autofree char *text = xp_value_to_string (value);
  ck_assert_str_eq (text, elements[i].text);
}

START_TEST (every_element_type_is_read_in_either_byte_order)
{
  check_element (elements[_i].little_code, elements[_i].little, _i);
  if (elements[_i].big_code != NULL)
    check_element (elements[_i].big_code, elements[_i].big, _i);
  /* The machine's own order, said in two ways. */
  gboolean is_little = G_BYTE_ORDER == G_LITTLE_ENDIAN || elements[_i].big == NULL;
  g_autofree char *native = g_strconcat ("=", elements[_i].little_code + 1, NULL);
  check_element (native, is_little ? elements[_i].little : elements[_i].big, _i);
  check_element (native + 1, is_little ? elements[_i].little : elements[_i].big, _i);
}
END_TEST

START_TEST (bools_become_zero_or_one)
{
  static const char data[] = { 0, 1, 2, (char) 0xff, 0 };
  g_autoptr (XpTensor) tensor = load_parts (
      1, "{'descr': '|b1', 'fortran_order': False, 'shape': (5,)}\n", data, 5);
  assert_no_error (error);
  ck_assert_mem_eq (xp_tensor_data (tensor), ((const char[]){ 0, 1, 1, 1, 0 }), 5);
}
END_TEST

START_TEST (fortran_order_becomes_row_major)
{
  const int16_t columns[] = { 0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121 };
  const int16_t rows[] = { 0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121 };
  g_autoptr (XpTensor) tensor = load_parts (
      1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 2), }\n", columns,
      sizeof columns);
  assert_no_error (error);
  assert_shape (tensor, "[2, 3, 2]");
  ck_assert (xp_tensor_is_contiguous (tensor));
  ck_assert_mem_eq (xp_tensor_data (tensor), rows, sizeof rows);
}
END_TEST

START_TEST (a_fortran_array_larger_than_a_block_is_read)
{
  enum
  {
    ROWS = 701,
    COLUMNS = 599
  };
  g_autofree uint32_t *columns = g_new (uint32_t, ROWS * COLUMNS);
  for (unsigned c = 0; c < COLUMNS; c++)
    for (unsigned r = 0; r < ROWS; r++)
      columns[c * ROWS + r] = GUINT32_TO_BE (r << 16 | c);
  g_autoptr (XpTensor) tensor = load_parts (
      1, "{'descr': '>i4', 'fortran_order': True, 'shape': (701, 599), }\n", columns,
      ROWS * COLUMNS * sizeof *columns);
  assert_no_error (error);
  const uint32_t *rows = xp_tensor_data (tensor);
  for (unsigned r = 0; r < ROWS; r++)
    for (unsigned c = 0; c < COLUMNS; c++)
      ck_assert_uint_eq (rows[r * COLUMNS + c], r << 16 | c);
}
END_TEST

START_TEST (all_three_versions_are_read)
{
  for (int version = 1; version <= 3; version++)
    {
      g_autoptr (XpTensor) tensor = load_parts (
          version, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n", "\x07\x08", 2);
      assert_no_error (error);
      ck_assert_mem_eq (xp_tensor_data (tensor), "\x07\x08", 2);
    }
}
END_TEST

static const char *const spellings[] = {
  "{'descr':'|u1','fortran_order':False,'shape':(2,3)}",
  "{\"shape\": (2, 3), \"descr\": \"|u1\", \"fortran_order\": False}",
  "  { 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , 'descr' : '|u1' , }  \n",
  "{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 3L), }          \n",
  "{\n\t'descr': 'u1',\n\t'fortran_order': False,\r\n\t'shape': (2, 3)\n}\n",
};

START_TEST (any_way_to_write_the_dictionary_is_read)
{
  g_autoptr (XpTensor) tensor = load_parts (1, spellings[_i], "abcdef", 6);
  assert_no_error (error);
  assert_shape (tensor, "[2, 3]");
  ck_assert_mem_eq (xp_tensor_data (tensor), "abcdef", 6);
}
END_TEST

static const struct
{
  const char *shape;
  const char *expected;
} empty_shapes[] = {
  { "(0,)", "[0]" },
  { "(0, 3)", "[0, 3]" },
  { "(3, 0, 2)", "[3, 0, 2]" },
  { "(4611686018427387904, 4611686018427387904, 0)",
    "[4611686018427387904, 4611686018427387904, 0]" },
};

START_TEST (an_array_without_elements_is_read)
{
  for (int fortran = 0; fortran < 2; fortran++)
    {
      g_autofree char *dictionary = g_strdup_printf (
          "{'descr': '<f8', 'fortran_order': %s, 'shape': %s, }\n", fortran ? "True" : "False",
          empty_shapes[_i].shape);
      g_autoptr (XpTensor) tensor = load_parts (1, dictionary, "", 0);
      assert_no_error (error);
      assert_shape (tensor, empty_shapes[_i].expected);
      ck_assert_int_eq (tensor->numel, 0);
    }
}
END_TEST

START_TEST (an_array_without_dimensions_is_read)
{
  const double number = 2.25;
  for (int fortran = 0; fortran < 2; fortran++)
    {
      g_autofree char *dictionary = g_strdup_printf (
          "{'descr': '<f8', 'fortran_order': %s, 'shape': (), }\n", fortran ? "True" : "False");
      g_autoptr (XpTensor) tensor = load_parts (1, dictionary, &number, sizeof number);
      assert_no_error (error);
      assert_shape (tensor, "[]");
      ck_assert_mem_eq (xp_tensor_data (tensor), &number, sizeof number);
    }
}
END_TEST

START_TEST (the_file_of_a_descriptor_is_read)
{
  int fd = memfd_create ("array", MFD_CLOEXEC);
  GString *file = file_of (1, "{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }\n", "\x05",
                           1);
  ck_assert_int_eq (write (fd, file->str, file->len), (ssize_t) file->len);
  g_string_free (file, TRUE);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autoptr (XpTensor) tensor = xp_tensor_load_npy (path, &error);
  assert_no_error (error);
  ck_assert_int_eq (*(int8_t *) xp_tensor_data (tensor), 5);
  close (fd);
}
END_TEST

static const struct
{
  const char *dictionary;
  const char *part;
} broken_dictionaries[] = {
  { "", "expected '{' at byte 0 of the dictionary, found its end" },
  { "[1, 2]", "expected '{' at byte 0 of the dictionary, found '[1, 2]'" },
  { "{'descr': '<f4'", "expected ',' or '}' at byte 15 of the dictionary, found its end" },
  { "{descr: '<f4'}", "expected a key in quotes or '}' at byte 1" },
  { "{'descr' '<f4'}", "expected ':' after the key at byte 9" },
  { "{'descr: <f4}", "expected a closed string" },
  { "{'descr': '<f\\x34'}", "expected a closed string" },
  { "{'descr': 4}", "expected the code of an element type" },
  { "{'descr': '<f4', 'descr': '<f4'}", "'shape' once at byte 17" },
  { "{'descr': '<f4', 'colour': 1}", "'shape' once at byte 17" },
  { "{'descr': '<f4', 'fortran_order': 0, }", "expected True or False for fortran_order" },
  { "{'descr': '<f4', 'fortran_order': Falsehood, }", "expected True or False" },
  { "{'descr': '<f4' 'shape': (), }", "expected ',' or '}' at byte 16" },
  { "{'descr': '<f4', 'shape': 3}", "expected a shape in parentheses" },
  { "{'descr': '<f4', 'shape': [3]}", "expected a shape in parentheses" },
  { "{'descr': '<f4', 'shape': (3)}", "expected ',' after the first size" },
  { "{'descr': '<f4', 'shape': (3 4)}", "expected ',' after the first size" },
  { "{'descr': '<f4', 'shape': (3, 4 5)}", "expected ',' or ')' in the shape" },
  { "{'descr': '<f4', 'shape': (,)}", "expected a size or ')'" },
  { "{'descr': '<f4', 'shape': (2,,)}", "expected a size or ')'" },
  { "{'descr': '<f4', 'shape': (2.0,)}", "expected ',' after the first size" },
  { "{'descr': '<f4', 'shape': (02,)}", "expected a size or ')'" },
  { "{'descr': '<f4', 'shape': (2**9,)}", "expected ',' after the first size" },
  { "{'descr': '<f4', 'shape': (2,", "expected a size or ')'" },
  { "{'descr': '<f4', 'shape': (-,)}", "expected a size or ')'" },
  { "{'descr': '<f4', 'fortran_order': False, }", "the header lacks 'shape'" },
  { "{'shape': (), 'fortran_order': False, }", "the header lacks 'descr'" },
  { "{'shape': (), 'descr': '<f4'}", "the header lacks 'fortran_order'" },
  { "{}", "the header lacks 'descr'" },
  { "{'descr': '<f4', 'fortran_order': False, 'shape': ()} + {}", "nothing after '}' at byte 54" },
  { "{'descr': '<f4', 'fortran_order': False, 'shape': ()}\x01", "found '\\x01'" },
};

START_TEST (a_dictionary_that_does_not_parse_is_refused)
{
  ck_assert_ptr_null (load_parts (1, broken_dictionaries[_i].dictionary, "\0\0\0\0", 4));
  ck_assert_ptr_nonnull (strstr (error->message, "file.npy: "));
  assert_error (error, XP_ERROR_FILE_FORMAT, broken_dictionaries[_i].part);
}
END_TEST

static const struct
{
  const char *descr;
  const char *part;
} foreign_types[] = {
  { "'|O'", "the element type is |O (Python objects)" },
  { "'<U5'", "the element type is <U5 (text)" },
  { "'|S3'", "|S3 (byte strings)" },
  { "'<V2'", "<V2 (raw bytes, as bfloat16 is saved)" },
  { "'<M8[ns]'", "<M8[ns] (points in time)" },
  { "'<m8[s]'", "<m8[s] (spans of time)" },
  { "'<u2'", "<u2 (unsigned integers of more than 8 bits)" },
  { "'<u8'", "<u8 (unsigned integers of more than 8 bits)" },
  { "'<f16'", "<f16 (floating-point numbers of another width)" },
  { "'<c32'", "<c32 (complex numbers of another width)" },
  { "[('x', '<f4'), ('y', '<f4')]", "[('x', '<f4'), ('y', '<f4')" },
  { "('<f4', (2,))", "(arrays within the array)" },
  { "'float32'", "the element type is float32" },
  { "''", "(unknown)" },
  { "'<'", "(unknown)" },
  { "'<<f4'", "(unknown)" },
};

START_TEST (an_element_type_that_we_lack_is_refused)
{
  g_autofree char *dictionary = g_strdup_printf (
      "{'descr': %s, 'fortran_order': False, 'shape': (1,), }\n", foreign_types[_i].descr);
  ck_assert_ptr_null (load_parts (1, dictionary, "abcdefgh", 8));
  ck_assert_ptr_nonnull (strstr (
      error->message, "expected one of b1, u1, i1, i2, i4, i8, f2, f4, f8, c8, c16 in either"));
  assert_error (error, XP_ERROR_FILE_FORMAT, foreign_types[_i].part);
}
END_TEST

static const struct
{
  const char *shape;
  const char *part;
} wrong_shapes[] = {
  { "(2, -3)", "the shape has a size of -3; expected 0 to 2^63 - 1" },
  { "(9223372036854775808,)", "the shape has a size of 9223372036854775808" },
  { "(99999999999999999999999999, 1)", "the shape has a size of 99999999999999999999999999" },
  { "(4294967296, 4294967296)", "[4294967296, 4294967296] takes more than 2^63 - 1 bytes" },
  { "(9223372036854775807,)", "[9223372036854775807] takes more than 2^63 - 1 bytes" },
  { "(1152921504606846975,)", "expected 9223372036854775800 bytes for a float64 array of shape "
                              "[1152921504606846975], found 8" },
};

START_TEST (a_shape_that_no_file_can_hold_is_refused)
{
  g_autofree char *dictionary = g_strdup_printf (
      "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }\n", wrong_shapes[_i].shape);
  ck_assert_ptr_null (load_parts (1, dictionary, "abcdefgh", 8));
  assert_error (error, XP_ERROR_FILE_FORMAT, wrong_shapes[_i].part);
}
END_TEST

START_TEST (sixty_four_dimensions_are_read_and_no_more)
{
  for (int n = 64; n <= 65; n++)
    {
      GString *dictionary = g_string_new ("{'descr': '|u1', 'fortran_order': False, 'shape': (");
      for (int i = 0; i < n; i++)
        g_string_append (dictionary, "1, ");
      g_string_append (dictionary, "), }\n");
      g_autoptr (XpTensor) tensor = load_parts (1, dictionary->str, "x", 1);
      g_string_free (dictionary, TRUE);
      if (n > 64)
        {
          ck_assert_ptr_null (tensor);
          assert_error (error, XP_ERROR_FILE_FORMAT, "more than 64 dimensions");
          continue;
        }
      assert_no_error (error);
      ck_assert_int_eq (xp_tensor_n_dims (tensor), 64);
    }
}
END_TEST

START_TEST (data_of_another_length_is_refused)
{
  static const char dictionary[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  ck_assert_ptr_null (load_parts (1, dictionary, "12345678901234567890123", 23));
  assert_error (error, XP_ERROR_FILE_FORMAT,
                "cut short: expected 24 bytes for a float32 array of shape [2, 3], found 23");
  ck_assert_ptr_null (load_parts (1, dictionary, "1234567890123456789012345", 25));
  assert_error (error, XP_ERROR_FILE_FORMAT,
                "there is more after the array: expected 24 bytes for a float32 array of shape "
                "[2, 3], found 25");
}
END_TEST

START_TEST (a_file_cut_short_anywhere_is_refused)
{
  GString *file = file_of (2, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }\n",
                           "abcdefgh", 8);
  for (size_t n = 0; n < file->len; n++)
    {
      ck_assert_ptr_null (load (file->str, n));
      assert_error (error, XP_ERROR_FILE_FORMAT, n < 6 ? "not an .npy file" : "cut short");
    }
  g_autoptr (XpTensor) tensor = load (file->str, file->len);
  assert_no_error (error);
  assert_shape (tensor, "[2, 2]");
  g_string_free (file, TRUE);
}
END_TEST

START_TEST (a_file_that_starts_otherwise_is_refused)
{
  ck_assert_ptr_null (load ("", 0));
  assert_error (error, XP_ERROR_FILE_FORMAT, "expected it to start with '\\x93NUMPY', found ''");
  ck_assert_ptr_null (load ("hello world, this is text", 25));
  assert_error (error, XP_ERROR_FILE_FORMAT, "found 'hello '");
  ck_assert_ptr_null (load ("\x93NUMPX\x01\x00v\x00{}", 12));
  assert_error (error, XP_ERROR_FILE_FORMAT, "found '\\x93NUMPX'");
  ck_assert_ptr_null (load ("PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00", 12));
  assert_error (error, XP_ERROR_FILE_FORMAT, "an archive, as .npz is");
}
END_TEST

static const struct
{
  const char *prefix;
  const char *part;
} unknown_versions[] = {
  { "\x93NUMPY\x00\x00v\x00{}", "version 0.0 of the .npy format; expected 1.0, 2.0 or 3.0" },
  { "\x93NUMPY\x01\x01v\x00{}", "version 1.1" },
  { "\x93NUMPY\x04\x00v\x00{}", "version 4.0" },
  { "\x93NUMPY\xff\xffv\x00{}", "version 255.255" },
};

START_TEST (an_unknown_version_is_refused)
{
  ck_assert_ptr_null (load (unknown_versions[_i].prefix, 12));
  assert_error (error, XP_ERROR_FILE_FORMAT, unknown_versions[_i].part);
}
END_TEST

START_TEST (a_header_longer_than_the_file_is_refused)
{
  ck_assert_ptr_null (load ("\x93NUMPY\x01\x00\xff\xff{}", 12));
  assert_error (error, XP_ERROR_FILE_FORMAT,
                "cut short in the header: expected at least 65545 bytes, found 12");
  ck_assert_ptr_null (load ("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14));
  assert_error (error, XP_ERROR_FILE_FORMAT, "expected at least 4294967307 bytes, found 14");
}
END_TEST

START_TEST (a_header_longer_than_any_of_ours_is_refused)
{
  GString *dictionary = g_string_new ("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }");
  g_string_append_printf (dictionary, "%*s", 65535 - (int) dictionary->len, "");
  g_autoptr (XpTensor) tensor = load_parts (2, dictionary->str, "x", 1);
  assert_no_error (error);
  assert_shape (tensor, "[1]");
  g_string_append_c (dictionary, ' ');
  ck_assert_ptr_null (load_parts (2, dictionary->str, "x", 1));
  assert_error (error, XP_ERROR_FILE_FORMAT, "the header has 65536 bytes; expected at most 65535");
  g_string_free (dictionary, TRUE);
}
END_TEST

START_TEST (what_is_no_regular_file_is_refused)
{
  ck_assert_ptr_null (xp_tensor_load_npy (folder, &error));
  assert_error (error, XP_ERROR_FILE_IO, "expected a regular file, found a directory");
  g_autofree char *path = g_build_filename (folder, "file.npy", NULL);
  ck_assert_int_eq (mkfifo (path, 0600), 0);
  ck_assert_ptr_null (xp_tensor_load_npy (path, &error));
  assert_error (error, XP_ERROR_FILE_IO, "file.npy: expected a regular file, found a pipe");
  ck_assert_ptr_null (xp_tensor_load_npy ("/dev/null", &error));
  assert_error (error, XP_ERROR_FILE_IO, "/dev/null: expected a regular file, found a device");
}
END_TEST

START_TEST (a_file_that_cannot_be_opened_is_named)
{
  g_autofree char *path = g_build_filename (folder, "file.npy", NULL);
  ck_assert_ptr_null (xp_tensor_load_npy (path, &error));
  assert_error (error, XP_ERROR_FILE_IO, "file.npy: cannot be opened: No such file or directory");
  ck_assert (g_file_set_contents (path, "x", 1, NULL));
  ck_assert_int_eq (chmod (path, 0), 0);
  /* The superuser may read anything. */
  gboolean is_root = geteuid () == 0;
  ck_assert_int_eq (is_root ? chmod (folder, 0755) : 0, 0);
  ck_assert_int_eq (is_root ? seteuid (65534) : 0, 0);
  XpTensor *tensor = xp_tensor_load_npy (path, &error);
  ck_assert_int_eq (is_root ? seteuid (0) : 0, 0);
  ck_assert_ptr_null (tensor);
  assert_error (error, XP_ERROR_FILE_IO, "file.npy: cannot be opened: Permission denied");
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("npy");
  TCase *sound = tcase_create ("sound");
  tcase_add_checked_fixture (sound, set_up, tear_down);
  tcase_add_test (sound, a_file_of_numpy_is_read);
  tcase_add_loop_test (sound, every_element_type_is_read_in_either_byte_order, 0,
                       XP_LENGTH (elements));
  tcase_add_test (sound, bools_become_zero_or_one);
  tcase_add_test (sound, fortran_order_becomes_row_major);
  tcase_add_test (sound, a_fortran_array_larger_than_a_block_is_read);
  tcase_add_test (sound, all_three_versions_are_read);
  tcase_add_loop_test (sound, any_way_to_write_the_dictionary_is_read, 0, XP_LENGTH (spellings));
  tcase_add_loop_test (sound, an_array_without_elements_is_read, 0, XP_LENGTH (empty_shapes));
  tcase_add_test (sound, an_array_without_dimensions_is_read);
  tcase_add_test (sound, the_file_of_a_descriptor_is_read);
  suite_add_tcase (suite, sound);
  TCase *broken = tcase_create ("broken");
  tcase_add_checked_fixture (broken, set_up, tear_down);
  tcase_add_loop_test (broken, a_dictionary_that_does_not_parse_is_refused, 0,
                       XP_LENGTH (broken_dictionaries));
  tcase_add_loop_test (broken, an_element_type_that_we_lack_is_refused, 0,
                       XP_LENGTH (foreign_types));
  tcase_add_loop_test (broken, a_shape_that_no_file_can_hold_is_refused, 0,
                       XP_LENGTH (wrong_shapes));
  tcase_add_test (broken, sixty_four_dimensions_are_read_and_no_more);
  tcase_add_test (broken, data_of_another_length_is_refused);
  tcase_add_test (broken, a_file_cut_short_anywhere_is_refused);
  tcase_add_test (broken, a_file_that_starts_otherwise_is_refused);
  tcase_add_loop_test (broken, an_unknown_version_is_refused, 0, XP_LENGTH (unknown_versions));
  tcase_add_test (broken, a_header_longer_than_the_file_is_refused);
  tcase_add_test (broken, a_header_longer_than_any_of_ours_is_refused);
  tcase_add_test (broken, what_is_no_regular_file_is_refused);
  tcase_add_test (broken, a_file_that_cannot_be_opened_is_named);
  suite_add_tcase (suite, broken);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
