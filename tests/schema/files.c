/* SPDX-License-Identifier: MIT
 *
 * Files of schemas: what their lines say, and what is wrong with them.
 */
#include "schemas.h"

#include <string.h>
#include <unistd.h>

/* The text as a file, read; @location is "file.ops". */
static XpSchemaFile *
read_bytes (const char *bytes, size_t n, GPtrArray *mistakes, GError **error)
{
  GError *local = NULL;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("schemas-XXXXXX", &path, &local);
  assert_no_error (local);
  ck_assert (write (fd, bytes, n) == (ssize_t) n);
  close (fd);
  XpSchemaFile *file = xp_schema_file_read (path, "file.ops", mistakes, error);
  unlink (path);
  return file;
}

static XpSchemaFile *
read_text (const char *text, GError **error)
{
  return read_bytes (text, strlen (text), NULL, error);
}

START_TEST (what_lines_say)
{
  GError *error = NULL;
  g_autoptr (XpSchemaFile) file = read_text (
      "# A comment.\n\n"
      "a::f(Tensor self, str how=\" @no -- no\") -> Tensor @one @two_words -- Does f. \r\n"
      "\tb::g.x() -> ()\t-- Does g -- and h @all\n"
      "b::g() -> () @one --\n"
      "b::last() -> ()",
      &error);
  assert_no_error (error);
  ck_assert_str_eq (file->path, "file.ops");
  ck_assert_uint_eq (file->n_lines, 4);
  const XpSchemaLine *const *lines = file->lines;
  ck_assert_str_eq (lines[0]->name, "a::f");
  ck_assert_str_eq (lines[0]->text, "a::f(Tensor self, str how=\" @no -- no\") -> Tensor");
  ck_assert_uint_eq (lines[0]->schema->n_arguments, 2);
  ck_assert_str_eq (lines[0]->tags, "one two_words");
  ck_assert_str_eq (lines[0]->description, "Does f.");
  ck_assert_int_eq (lines[0]->line, 3);
  ck_assert_str_eq (lines[1]->name, "b::g.x");
  ck_assert_ptr_null (lines[1]->tags);
  ck_assert_str_eq (lines[1]->description, "Does g -- and h @all");
  ck_assert_str_eq (lines[2]->tags, "one");
  ck_assert_ptr_null (lines[2]->description);
  ck_assert_str_eq (lines[3]->name, "b::last");
  ck_assert_int_eq (lines[3]->line, 6);
}
END_TEST

START_TEST (nothing_is_a_file_too)
{
  GError *error = NULL;
  g_autoptr (XpSchemaFile) file = read_text ("# Nothing.\n\n", &error);
  assert_no_error (error);
  ck_assert_uint_eq (file->n_lines, 0);
}
END_TEST

static const struct
{
  const char *text;
  XpError code;
  const char *part;
} wrong[] = {
  { "a::f() -> (\n", XP_ERROR_SCHEMA_SYNTAX, "file.ops:1: " },
  { "\n\nf() -> ()\n", XP_ERROR_SCHEMA_SYNTAX, "file.ops:3: expected a namespace" },
  { "a::f() -> () @Tag\n", XP_ERROR_SCHEMA_SYNTAX, "expected a tag of lower-case letters" },
  { "a::f() -> () @\n", XP_ERROR_SCHEMA_SYNTAX, "expected a tag of lower-case letters" },
  { "a::f() -> () @a b\n", XP_ERROR_SCHEMA_SYNTAX, "expected @tag or -- description" },
  { "a::f() -> ()\na::f(int x) -> ()\n", XP_ERROR_SCHEMA_SYNTAX,
    "file.ops:2: a::f stands in line 1 already" },
  { "a::f() -> ()\na::g() -> () -- \xff\n", XP_ERROR_FILE_FORMAT,
    "file.ops:2: expected UTF-8 text, found the byte 0xff" },
};

START_TEST (what_is_wrong_with_a_line)
{
  GError *error = NULL;
  ck_assert_ptr_null (read_text (wrong[_i].text, &error));
  assert_error (error, wrong[_i].code, wrong[_i].part);
}
END_TEST

START_TEST (a_nul_is_no_text)
{
  GError *error = NULL;
  ck_assert_ptr_null (read_bytes ("a::f() -> ()\n\0a::g() -> ()\n", 27, NULL, &error));
  assert_error (error, XP_ERROR_FILE_FORMAT,
                "file.ops:2: expected UTF-8 text, found the byte 0x00");
}
END_TEST

START_TEST (files_that_cannot_be_read)
{
  GError *error = NULL;
  ck_assert_ptr_null (xp_schema_file_read ("/nowhere/x.ops", NULL, NULL, &error));
  assert_error (error, XP_ERROR_FILE_IO, "/nowhere/x.ops cannot be opened");
  ck_assert_ptr_null (xp_schema_file_read ("/", NULL, NULL, &error));
  assert_error (error, XP_ERROR_FILE_IO, "/ cannot be read");
  ck_assert_ptr_null (xp_schema_file_read ("/dev/zero", NULL, NULL, &error));
  assert_error (error, XP_ERROR_FILE_FORMAT, "larger than 64 MiB");
}
END_TEST

/* Whoever shows all that is wrong gets the rest all the same. */
START_TEST (every_mistake)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) mistakes = g_ptr_array_new_with_free_func ((GDestroyNotify) g_error_free);
  const char text[] = "a::f() -> ()\na::g(\na::f() -> ()\na::h() -> ()\nh() -> ()\n";
  g_autoptr (XpSchemaFile) file = read_bytes (text, strlen (text), mistakes, &error);
  assert_no_error (error);
  ck_assert_uint_eq (file->n_lines, 2);
  ck_assert_str_eq (file->lines[1]->name, "a::h");
  static const char *const places[] = { "file.ops:2:", "file.ops:3:", "file.ops:5:" };
  ck_assert_uint_eq (mistakes->len, XP_LENGTH (places));
  for (unsigned i = 0; i < mistakes->len; i++)
    ck_assert (g_str_has_prefix (((const GError *) mistakes->pdata[i])->message, places[i]));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("files");
  TCase *tests = tcase_create ("files");
  tcase_add_test (tests, what_lines_say);
  tcase_add_test (tests, nothing_is_a_file_too);
  tcase_add_loop_test (tests, what_is_wrong_with_a_line, 0, XP_LENGTH (wrong));
  tcase_add_test (tests, a_nul_is_no_text);
  tcase_add_test (tests, files_that_cannot_be_read);
  tcase_add_test (tests, every_mistake);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
