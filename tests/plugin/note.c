/* SPDX-License-Identifier: MIT
 *
 * note.c: reading what a plugin says of itself, from good files and from damaged ones.
 */
#include "plugin/fixtures.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

/* A file in memory, with a path. */
typedef struct
{
  char *bytes;
  gsize n;
  int fd;
  char *path;
} File;

static void
file_write (File *file)
{
  ck_assert_int_eq (ftruncate (file->fd, (off_t) file->n), 0);
  ck_assert_int_eq (pwrite (file->fd, file->bytes, file->n, 0), (ssize_t) file->n);
}

static File
file_of (const char *fixture)
{
  File file;
  g_autofree char *path = fixture_path (fixture);
  ck_assert (g_file_get_contents (path, &file.bytes, &file.n, NULL));
  file.fd = memfd_create ("plugin", MFD_CLOEXEC);
  ck_assert_int_ge (file.fd, 0);
  ck_assert_int_eq (fchmod (file.fd, 0700), 0);
  file.path = g_strdup_printf ("/proc/self/fd/%d", file.fd);
  file_write (&file);
  return file;
}

static void
file_end (File *file)
{
  g_free (file->bytes);
  g_free (file->path);
  close (file->fd);
}

/* Writes @new over each @old, both of @n bytes; how often. */
static unsigned
replace (File *file, const void *old, const void *new_, size_t n)
{
  unsigned count = 0;
  for (char *at = file->bytes; at + n <= file->bytes + file->n; at++)
    if (memcmp (at, old, n) == 0)
      {
        memcpy (at, new_, n);
        count++;
      }
  file_write (file);
  return count;
}

START_TEST (what_it_says)
{
  GError *error = NULL;
  g_autofree char *path = fixture_path ("needy");
  g_autoptr (XpPluginInfo) info = xp_plugin_info_read (path, &error);
  assert_no_error (error);
  ck_assert_str_eq (info->name, "needy");
  ck_assert_str_eq (info->version, "1.0");
  ck_assert_str_eq (info->description, "kernels to load");
  ck_assert_str_eq (info->licence, "MIT");
  ck_assert_str_eq (info->abi, "1.0");
  ck_assert_str_eq (info->path, path);
  ck_assert_uint_eq (strlen (info->build_id), 40);
  ck_assert_int_eq (info->state, XP_PLUGIN_AVAILABLE);
  ck_assert_str_eq (info->requires_[0], "first");
  ck_assert_ptr_null (info->requires_[1]);
  ck_assert_str_eq (info->fills[0], "fixture/CPU");
  ck_assert_ptr_null (info->fills[1]);
  ck_assert_ptr_null (info->defines[0]);
  ck_assert_ptr_null (info->resident);
  ck_assert_ptr_null (info->mapped_path);
  ck_assert_uint_eq (info->load_count, 0);
}
END_TEST

START_TEST (other_keys)
{
  const char *const names[] = { "rows", "high", "demanding", "quark", "resident" };
  XpPluginInfo *infos[XP_LENGTH (names)];
  for (unsigned i = 0; i < XP_LENGTH (names); i++)
    {
      GError *error = NULL;
      g_autofree char *path = fixture_path (names[i]);
      infos[i] = xp_plugin_info_read (path, &error);
      assert_no_error (error);
    }
  ck_assert_str_eq (infos[0]->defines[0], "fixture");
  ck_assert_int_eq (infos[1]->priority, 5);
  ck_assert_str_eq (infos[2]->cpu[0], "no-such-feature");
  ck_assert_int_eq (infos[2]->state, XP_PLUGIN_REJECTED);
  ck_assert_ptr_nonnull (strstr (infos[2]->reason, "no-such-feature"));
  ck_assert_ptr_nonnull (strstr (infos[3]->resident, "g_quark_from_static_string"));
  ck_assert_str_eq (infos[4]->resident, "it keeps a thread");
  for (unsigned i = 0; i < XP_LENGTH (names); i++)
    xp_plugin_info_free (infos[i]);
}
END_TEST

/* Texts of the note, and what is put in their place. */
static const struct
{
  const char *fixture;
  const char *old;
  const char *new_;
  XpError error;
  const char *part;
} texts[] = {
  { "first", "abi=1.0", "abi=2.0", XP_ERROR_WRONG_ABI, "is built for ABI 2.0" },
  { "first", "abi=1.0", "abi=0.0", XP_ERROR_WRONG_ABI, "is built for ABI 0.0" },
  { "first", "abi=1.0", "abi=1.9", XP_ERROR_WRONG_ABI, "with ABI 1.0" },
  { "first", "abi=1.0", "abi=x.0", XP_ERROR_WRONG_ABI, "is built for ABI x.0" },
  { "first", "abi=1.0", "abi=1.x", XP_ERROR_WRONG_ABI, "is built for ABI 1.x" },
  { "first", "abi=1.0", "abi=1  ", XP_ERROR_WRONG_ABI, "is built for ABI 1" },
  { "first", "abi=1.0", "abi=-1.", XP_ERROR_WRONG_ABI, "is built for ABI -1." },
  { "first", "abi=1.0", "abj=1.0", XP_ERROR_WRONG_ABI, "is built for ABI (none)" },
  { "first", "abi=1.0", "abi:1.0", XP_ERROR_INVALID_NOTE, "a text without '='" },
  { "first", "name=first", "name=fi/st", XP_ERROR_INVALID_NOTE,
    "the name has other characters than letters, digits, _ - ., more than 64 of them, none" },
  { "first", "name=first", "name=.irst", XP_ERROR_INVALID_NOTE, "the name has other characters" },
  { "first", "name=first", "name=\0irst", XP_ERROR_INVALID_NOTE, "the name has other" },
  { "first", "MIT", "M\xffT", XP_ERROR_INVALID_NOTE, "it is not UTF-8" },
  { "first", "MIT", "M\xc3(", XP_ERROR_INVALID_NOTE, "it is not UTF-8" },
  { "high", "priority=5", "priority=x", XP_ERROR_INVALID_NOTE, "the priority is no number" },
  { "high", "priority=5", "priority=\0", XP_ERROR_INVALID_NOTE, "the priority is no number" },
  { "needy", "requires=first", "requires=nosuc", XP_ERROR_MISSING_REQUIREMENT, "nosuc" },
  /* The owner stands without the text's key. */
  { "first", "Crosspoint\0\0name", "Crosspoinz\0\0name", XP_ERROR_INVALID_NOTE, "is not ours" },
};

/* The owner has NULs behind it. */
static size_t
length_of (const char *text)
{
  return strcmp (text, "Crosspoint") == 0 ? sizeof "Crosspoint\0\0name" - 1 : strlen (text);
}

START_TEST (changed_texts)
{
  GError *error = NULL;
  File file = file_of (texts[_i].fixture);
  ck_assert_uint_ge (replace (&file, texts[_i].old, texts[_i].new_, length_of (texts[_i].old)), 1);
  g_autofree char *table = table_text ();
  ck_assert_ptr_null (xp_plugin_load (file.path, &error));
  assert_error (error, texts[_i].error, texts[_i].part);
  assert_table (table);

  XpPluginInfo *info = xp_plugin_info_read (file.path, &error);
  if (texts[_i].error == XP_ERROR_INVALID_NOTE)
    assert_error (error, texts[_i].error, texts[_i].part);
  else
    ck_assert_ptr_nonnull (info);
  if (texts[_i].error == XP_ERROR_WRONG_ABI)
    {
      ck_assert_int_eq (info->state, XP_PLUGIN_REJECTED);
      ck_assert_ptr_nonnull (strstr (info->reason, texts[_i].part));
    }
  xp_plugin_info_free (info);
  file_end (&file);
}
END_TEST

/* One object file of several is built for another ABI: no record is overlooked. */
START_TEST (one_record_of_another_abi)
{
  GError *error = NULL;
  for (unsigned which = 0; which < 2; which++)
    {
      File file = file_of ("first");
      char *first = memmem (file.bytes, file.n, "abi=1.0", 7);
      char *last = memmem (first + 7, file.n - (size_t) (first + 7 - file.bytes), "abi=1.0", 7);
      ck_assert_ptr_nonnull (last);
      memcpy (which == 0 ? first : last, "abi=2.0", 7);
      file_write (&file);
      ck_assert_ptr_null (xp_plugin_load (file.path, &error));
      assert_error (error, XP_ERROR_INVALID_NOTE, "objects for different ABIs, ");
      memcpy (which == 0 ? first : last, "abi=1.7", 7);
      file_write (&file);
      ck_assert_ptr_null (xp_plugin_load (file.path, &error));
      assert_error (error, XP_ERROR_WRONG_ABI, "is built for ABI 1.7");
      file_end (&file);
    }
}
END_TEST

/* The words before the owner's name: its size, the texts' size, the type. */
static const struct
{
  unsigned word;
  uint32_t value;
  const char *part;
} sizes[] = {
  { 0, 0xffffffff, "longer than its section" },
  { 0, 0x7fffffff, "longer than its section" },
  { 0, 0, "is not ours" },
  { 0, 10, "is not ours" },
  { 1, 0xffffffff, "longer than its section" },
  { 1, 0x7ffffff0, "longer than its section" },
  { 1, 0, "does not end with NUL" },
  { 1, 3, "does not end with NUL" },
  { 2, 0, "is not ours" },
  { 2, 0xffffffff, "is not ours" },
};

START_TEST (changed_sizes)
{
  GError *error = NULL;
  File file = file_of ("first");
  char *name = memmem (file.bytes, file.n, "Crosspoint\0\0name", 16);
  ck_assert_ptr_nonnull (name);
  memcpy (name - 12 + 4 * sizes[_i].word, &sizes[_i].value, 4);
  file_write (&file);
  ck_assert_ptr_null (xp_plugin_info_read (file.path, &error));
  assert_error (error, XP_ERROR_INVALID_NOTE, sizes[_i].part);
  ck_assert_ptr_null (xp_plugin_load (file.path, &error));
  assert_error (error, XP_ERROR_INVALID_NOTE, sizes[_i].part);
  file_end (&file);
}
END_TEST

START_TEST (changed_header)
{
  GError *error = NULL;
  File file = file_of ("first");
  Elf64_Ehdr *header = (Elf64_Ehdr *) (void *) file.bytes;
  const Elf64_Ehdr good = *header;

  header->e_machine = EM_AARCH64;
  file_write (&file);
  XpPluginInfo *info = xp_plugin_info_read (file.path, &error);
  assert_no_error (error);
  ck_assert_str_eq (info->machine, "aarch64");
  ck_assert_int_eq (info->state, XP_PLUGIN_REJECTED);
  xp_plugin_info_free (info);
  ck_assert_ptr_null (xp_plugin_load (file.path, &error));
  assert_error (error, XP_ERROR_WRONG_MACHINE, "is built for aarch64, this is ");

  header->e_machine = 0x7777;
  file_write (&file);
  ck_assert_ptr_null (xp_plugin_load (file.path, &error));
  assert_error (error, XP_ERROR_WRONG_MACHINE, "is built for machine 30583");

  *header = good;
  header->e_type = ET_EXEC;
  file_write (&file);
  ck_assert_ptr_null (xp_plugin_load (file.path, &error));
  assert_error (error, XP_ERROR_NOT_A_PLUGIN, "it is not a shared object");

  *header = good;
  header->e_ident[EI_CLASS] = ELFCLASS32;
  file_write (&file);
  ck_assert_ptr_null (xp_plugin_load (file.path, &error));
  assert_error (error, XP_ERROR_NOT_A_PLUGIN, "is no plugin");

  *header = good;
  header->e_ident[EI_DATA] = ELFDATA2MSB;
  file_write (&file);
  ck_assert_ptr_null (xp_plugin_load (file.path, &error));
  assert_error (error, XP_ERROR_NOT_A_PLUGIN, "is no plugin");

  /* Without section headers there is no note. */
  *header = good;
  header->e_shoff = 0;
  header->e_shnum = 0;
  header->e_shstrndx = 0;
  file_write (&file);
  ck_assert_ptr_null (xp_plugin_load (file.path, &error));
  assert_error (error, XP_ERROR_NOT_A_PLUGIN, "without a Crosspoint note");

  *header = good;
  file_write (&file);
  unload (xp_plugin_load (file.path, &error));
  assert_no_error (error);
  file_end (&file);
}
END_TEST

/* A segment that the file does not hold never reaches the linker, whose reading it would kill the
 * process. */
START_TEST (segment_beyond_the_end)
{
  GError *error = NULL;
  File file = file_of ("first");
  const Elf64_Ehdr *header = (const Elf64_Ehdr *) (const void *) file.bytes;
  Elf64_Phdr *segments = (Elf64_Phdr *) (void *) (file.bytes + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD)
      {
        const Elf64_Phdr good = segments[i];
        const uint64_t ends[] = { file.n + 4096, UINT64_MAX };
        for (unsigned j = 0; j < XP_LENGTH (ends); j++)
          {
            segments[i].p_filesz = ends[j];
            segments[i].p_memsz = MAX (good.p_memsz, ends[j]);
            file_write (&file);
            ck_assert_ptr_null (xp_plugin_load (file.path, &error));
            assert_error (error, XP_ERROR_FILE_FORMAT, "cut short");
          }
        segments[i] = good;
      }
  file_end (&file);
}
END_TEST

/* Whatever it reads, the reader gives an info or an error, and an info has a name. */
static void
read_any (const char *path)
{
  GError *error = NULL;
  g_autoptr (XpPluginInfo) info = xp_plugin_info_read (path, &error);
  ck_assert ((info != NULL) == (error == NULL));
  if (info != NULL)
    ck_assert (info->name != NULL && info->abi != NULL && info->machine != NULL);
  g_clear_error (&error);
}

START_TEST (every_byte)
{
  File file = file_of ("small");
  for (gsize i = 0; i < file.n; i++)
    {
      const unsigned char changed[] = { 0xff, (unsigned char) ~file.bytes[i] };
      for (unsigned j = 0; j < XP_LENGTH (changed); j++)
        {
          ck_assert_int_eq (pwrite (file.fd, &changed[j], 1, (off_t) i), 1);
          read_any (file.path);
        }
      ck_assert_int_eq (pwrite (file.fd, &file.bytes[i], 1, (off_t) i), 1);
    }
  file_end (&file);
}
END_TEST

START_TEST (every_word)
{
  const uint32_t values[] = { 0, 0x7fffffff, 0xfffffff0 };
  File file = file_of ("small");
  for (gsize i = 0; i + 4 <= file.n; i += 4)
    {
      for (unsigned j = 0; j < XP_LENGTH (values); j++)
        {
          ck_assert_int_eq (pwrite (file.fd, &values[j], 4, (off_t) i), 4);
          read_any (file.path);
        }
      ck_assert_int_eq (pwrite (file.fd, file.bytes + i, 4, (off_t) i), 4);
    }
  file_end (&file);
}
END_TEST

/* No part of a plugin loads. */
START_TEST (every_length)
{
  File file = file_of ("small");
  g_autofree char *table = table_text ();
  for (gsize n = file.n; n-- > 0;)
    {
      GError *error = NULL;
      ck_assert_int_eq (ftruncate (file.fd, (off_t) n), 0);
      ck_assert_ptr_null (xp_plugin_load (file.path, &error));
      ck_assert (error->code == XP_ERROR_NOT_A_PLUGIN || error->code == XP_ERROR_FILE_FORMAT
                 || error->code == XP_ERROR_INVALID_NOTE);
      g_error_free (error);
    }
  assert_table (table);
  file_end (&file);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("note");
  TCase *tests = tcase_create ("note");
  tcase_set_timeout (tests, 100);
  tcase_add_test (tests, what_it_says);
  tcase_add_test (tests, other_keys);
  tcase_add_loop_test (tests, changed_texts, 0, XP_LENGTH (texts));
  tcase_add_test (tests, one_record_of_another_abi);
  tcase_add_loop_test (tests, changed_sizes, 0, XP_LENGTH (sizes));
  tcase_add_test (tests, changed_header);
  tcase_add_test (tests, segment_beyond_the_end);
  tcase_add_test (tests, every_byte);
  tcase_add_test (tests, every_word);
  tcase_add_test (tests, every_length);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
