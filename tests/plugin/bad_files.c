/* SPDX-License-Identifier: MIT
 *
 * bad_files.c: a directory of files that are no plugins, that are damaged or for another machine,
 * and that harm the process they are loaded in: each is classified with its reason, and the good
 * ones beside them load.
 */
#include "plugin/scanning.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>

typedef struct
{
  char *path;
  XpPluginState state;
  const char *error; /* the code, or NULL */
  const char *reason;
} Expected;

static GArray *expected; /* sorted later, as the scan sorts */

static void
expect (char *path, XpPluginState state, const char *error, const char *reason)
{
  Expected entry = { path, state, error, reason };
  g_array_append_val (expected, entry);
}

static char *
place (const char *name)
{
  return g_strdup_printf ("%s/%s.so", scan_folder, name);
}

static void
write_file (const char *path, const char *bytes, gsize n)
{
  ck_assert (
      g_file_set_contents_full (path, bytes, (gssize) n, G_FILE_SET_CONTENTS_NONE, 0700, NULL));
}

static void
add_text (const char *name, const char *bytes, gsize n, const char *reason)
{
  char *path = place (name);
  write_file (path, bytes, n);
  expect (path, XP_PLUGIN_REJECTED, "NOT_A_PLUGIN", reason);
}

/* --- Parts of a good file. --- */

typedef struct
{
  char *bytes;
  gsize n;
} File;

static File
file_of (const char *fixture)
{
  File file;
  g_autofree char *path = fixture_path (fixture);
  ck_assert (g_file_get_contents (path, &file.bytes, &file.n, NULL));
  return file;
}

static void
add_cut (const File *file, gsize n)
{
  if (n >= file->n)
    return;
  g_autofree char *name = g_strdup_printf ("cut_%zu", (size_t) n);
  char *path = place (name);
  bool is_known = g_file_test (path, G_FILE_TEST_EXISTS);
  write_file (path, file->bytes, n);
  if (is_known)
    g_free (path);
  else
    expect (path, XP_PLUGIN_REJECTED, n < sizeof (Elf64_Ehdr) ? "NOT_A_PLUGIN" : "FILE_FORMAT",
            n < sizeof (Elf64_Ehdr) ? "it is not a shared object" : "it is cut short");
}

/* Within the headers every 64 bytes, then where each section begins and ends. */
static void
add_cuts (void)
{
  File file = file_of ("small");
  const Elf64_Ehdr *header = (const void *) file.bytes;
  gsize end = header->e_phoff + (gsize) header->e_phnum * header->e_phentsize;
  for (gsize n = 0; n <= end; n += 64)
    add_cut (&file, n);
  const Elf64_Shdr *sections = (const void *) (file.bytes + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; i++)
    {
      add_cut (&file, sections[i].sh_offset);
      if (sections[i].sh_type != SHT_NOBITS)
        add_cut (&file, sections[i].sh_offset + sections[i].sh_size);
    }
  add_cut (&file, file.n - 1);
  g_free (file.bytes);
}

/* The fixture with @n bytes at @at, or at the text @after, written over. */
static void
add_changed (const char *name, const char *after, gsize at, const void *bytes, gsize n,
             const char *error, const char *reason)
{
  File file = file_of ("small");
  char *found = after != NULL ? memmem (file.bytes, file.n, after, strlen (after) + 1) : file.bytes;
  ck_assert_ptr_nonnull (found);
  for (; found != NULL; found = after != NULL
                                    ? memmem (found + 1, (gsize) (file.bytes + file.n - found - 1),
                                              after, strlen (after) + 1)
                                    : NULL)
    memcpy (found + at, bytes, n);
  char *path = place (name);
  write_file (path, file.bytes, file.n);
  expect (path, XP_PLUGIN_REJECTED, error, reason);
  g_free (file.bytes);
}

/* A whole file of 32 bits with a good note: such as another system's, or one of this machine's own
 * narrow kind. */
static void
add_narrow (const char *name, Elf32_Half machine, const char *reason)
{
  struct
  {
    Elf32_Ehdr file;
    struct
    {
      Elf32_Nhdr header;
      char owner[12];
      char text[8];
    } note;
    char names[32];
    Elf32_Shdr sections[3];
  } image = { .file = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
                        .e_type = ET_DYN,
                        .e_machine = machine,
                        .e_version = EV_CURRENT,
                        .e_ehsize = sizeof (Elf32_Ehdr),
                        .e_shentsize = sizeof (Elf32_Shdr),
                        .e_shnum = 3,
                        .e_shstrndx = 2 },
              .note = { { sizeof "Crosspoint", sizeof "abi=1.0", 1 }, "Crosspoint", "abi=1.0" },
              .names = "\0.note.crosspoint\0.names" };
  char *at = (char *) &image;
  image.file.e_shoff = (Elf32_Off) ((char *) image.sections - at);
  image.sections[1] = (Elf32_Shdr){ .sh_name = 1,
                                    .sh_type = SHT_NOTE,
                                    .sh_offset = (Elf32_Off) ((char *) &image.note - at),
                                    .sh_size = sizeof image.note,
                                    .sh_addralign = 4 };
  image.sections[2] = (Elf32_Shdr){ .sh_name = 18,
                                    .sh_type = SHT_STRTAB,
                                    .sh_offset = (Elf32_Off) ((char *) image.names - at),
                                    .sh_size = sizeof image.names,
                                    .sh_addralign = 1 };
  char *path = place (name);
  write_file (path, (const char *) &image, sizeof image);
  expect (path, XP_PLUGIN_REJECTED, "WRONG_MACHINE", reason);
}

static void
add_changes (void)
{
  const Elf64_Half aarch64 = EM_AARCH64;
  const uint32_t huge = 0x7fffffff, odd = 5;
  add_changed ("class", NULL, EI_CLASS, "\1", 1, "NOT_A_PLUGIN", "is no plugin");
  add_changed ("order", NULL, EI_DATA, "\2", 1, "NOT_A_PLUGIN", "is no plugin");
  add_changed ("machine", NULL, offsetof (Elf64_Ehdr, e_machine), &aarch64, sizeof aarch64,
               "WRONG_MACHINE", "is built for aarch64, this is");
  add_narrow ("i386", EM_386, "is built for i386, this is");
  add_narrow ("x32", EM_X86_64, "is built for x86-64, 32 bits, this is");
  add_changed ("major", "abi=1.0", 0, "abi=2.0", 7, "WRONG_ABI", "is built for ABI 2.0, this is");
  add_changed ("minor", "abi=1.0", 0, "abi=1.9", 7, "WRONG_ABI", "is built for ABI 1.9, this is");
  add_changed ("no_abi", "abi=1.0", 0, "abc=1.0", 7, "WRONG_ABI", "is built for ABI (none)");
  /* The header of a record lies right before the owner's name. */
  add_changed ("length", "Crosspoint", (gsize) -8, &huge, sizeof huge, "INVALID_NOTE",
               "a record is longer than its section");
  add_changed ("short_length", "Crosspoint", (gsize) -8, &odd, sizeof odd, "INVALID_NOTE",
               "does not end with NUL");
  add_changed ("owner", "Crosspoint", 0, "Crossroads", 10, "INVALID_NOTE", "a record is not ours");
  add_changed ("utf8", "rows to fill", 0, "\377", 1, "INVALID_NOTE", "it is not UTF-8");
}

/* --- What is no ordinary file. --- */

static void
add_others (void)
{
  char *loop = place ("loop"), *fifo = place ("fifo"), *folder = place ("folder");
  char *nowhere = place ("nowhere"), *device = place ("device"), *writable = place ("writable");
  ck_assert_int_eq (symlink (loop, loop), 0);
  expect (loop, XP_PLUGIN_REJECTED, "FILE_IO",
          "cannot be opened: Too many levels of symbolic links; check the path");
  ck_assert_int_eq (mkfifo (fifo, 0700), 0);
  expect (fifo, XP_PLUGIN_REJECTED, "NOT_A_PLUGIN",
          "it is not a regular file; name the file itself");
  ck_assert_int_eq (mkdir (folder, 0700), 0);
  expect (folder, XP_PLUGIN_REJECTED, "NOT_A_PLUGIN", "it is not a regular file");
  ck_assert_int_eq (symlink ("/nowhere/at/all.so", nowhere), 0);
  expect (nowhere, XP_PLUGIN_REJECTED, "FILE_IO", "cannot be opened: No such file or directory");
  ck_assert_int_eq (symlink ("/dev/zero", device), 0);
  expect (device, XP_PLUGIN_REJECTED, "NOT_A_PLUGIN", "it is not a regular file");
  g_autofree char *good = fixture_path ("second");
  copy_file (good, writable);
  ck_assert_int_eq (chmod (writable, 0777), 0);
  expect (writable, XP_PLUGIN_REJECTED, "UNSAFE_FILE", "writable by everyone");
}

static void
add_fixtures (void)
{
  static const struct
  {
    const char *name;
    XpPluginState state;
    const char *error;
    const char *reason;
  } fixtures[] = {
    { "crashes", XP_PLUGIN_QUARANTINED, "QUARANTINED", "killed by SIGSEGV" },
    { "aborts", XP_PLUGIN_QUARANTINED, "QUARANTINED", "killed by SIGABRT" },
    { "hangs", XP_PLUGIN_QUARANTINED, "QUARANTINED", "did not come back within" },
    { "exits", XP_PLUGIN_QUARANTINED, "QUARANTINED", "exit status 0" },
    { "leaves_child_and_crashes", XP_PLUGIN_QUARANTINED, "QUARANTINED", "killed by SIGABRT" },
    { "starts_thread", XP_PLUGIN_AVAILABLE, NULL, NULL },
    { "talks", XP_PLUGIN_AVAILABLE, NULL, NULL },
    { "unresolved", XP_PLUGIN_FAILED, "LOAD_FAILED", "undefined symbol: nobody_has_this" },
    { "plain", XP_PLUGIN_REJECTED, "NOT_A_PLUGIN", "without a Crosspoint note" },
    { "demanding", XP_PLUGIN_REJECTED, "MISSING_CPU_FEATURE", "no-such-feature" },
    { "marks_demanding", XP_PLUGIN_REJECTED, "MISSING_CPU_FEATURE", "no-such-feature" },
    { "fussy", XP_PLUGIN_UNSUITABLE, "UNSUITABLE", "no such device" },
    { "loads", XP_PLUGIN_FAILED, "NESTED_LOAD", "tries to load, unload or call" },
    { "syntax", XP_PLUGIN_FAILED, "SCHEMA_SYNTAX", "expected" },
    { "rows", XP_PLUGIN_AVAILABLE, NULL, NULL },
    { "first", XP_PLUGIN_AVAILABLE, NULL, NULL },
    { "needy", XP_PLUGIN_AVAILABLE, NULL, NULL },
  };
  for (unsigned i = 0; i < XP_LENGTH (fixtures); i++)
    expect (scan_add (fixtures[i].name), fixtures[i].state, fixtures[i].error, fixtures[i].reason);
}

static void
setup (void)
{
  scanning_setup ();
  expected = g_array_new (FALSE, FALSE, sizeof (Expected));
}

static void
teardown (void)
{
  for (unsigned i = 0; i < expected->len; i++)
    g_free (g_array_index (expected, Expected, i).path);
  g_array_unref (expected);
  scanning_teardown ();
}

static void
assert_expected (XpPluginInfo **infos, unsigned n)
{
  ck_assert_uint_eq (n, expected->len);
  for (unsigned i = 0; i < n; i++)
    {
      const Expected *entry = NULL;
      for (unsigned j = 0; j < expected->len; j++)
        if (strcmp (g_array_index (expected, Expected, j).path, infos[i]->path) == 0)
          entry = &g_array_index (expected, Expected, j);
      ck_assert_ptr_nonnull (entry);
      assert_found (infos[i], entry->state, entry->reason);
      ck_assert_msg (g_strcmp0 (infos[i]->error, entry->error) == 0,
                     "%s: the error is %s, expected %s", infos[i]->path, infos[i]->error,
                     entry->error);
    }
}

START_TEST (forty_bad_files)
{
  GError *error = NULL;
  unsigned n;
  g_autofree char *mark = g_build_filename (scan_cache, "mark", NULL);
  g_setenv ("CROSSPOINT_SCAN_TIMEOUT", HANG_SECONDS, TRUE);
  g_setenv ("FIXTURE_MARK", mark, TRUE);
  add_text ("text", "text\n", 5, "it is not a shared object; name a file that is built as one");
  add_text ("empty", "", 0, "it is not a shared object");
  add_text ("zeros", "\0\0\0\0\0\0\0\0", 8, "it is not a shared object");
  add_cuts ();
  add_changes ();
  add_others ();
  add_fixtures ();
  ck_assert_uint_gt (expected->len, 60);
  XpPluginInfo **infos = xp_plugins_scan (NULL, XP_SCAN_NEW, &n, &error);
  assert_no_error (error);
  assert_expected (infos, n);
  infos_free (infos, n);
  ck_assert (!g_file_test (mark, G_FILE_TEST_EXISTS));
  /* The good ones beside them load, and nothing else has changed here. */
  XpPlugin *rows = xp_plugin_load ("rows", &error);
  assert_no_error (error);
  XpPlugin *first = xp_plugin_load ("first", &error);
  assert_no_error (error);
  assert_number (1);
  unload (first);
  unload (rows);
}
END_TEST

/* R176 to R183, test 24: the good one is loaded; a library without a note is no plugin; the cut one
 * is broken; of the one that needs more than this processor has no code runs. What is not called
 * NAME.so is not looked at. */
START_TEST (report_24)
{
  GError *error = NULL;
  unsigned n;
  g_autofree char *mark = g_build_filename (scan_cache, "mark", NULL);
  g_setenv ("FIXTURE_MARK", mark, TRUE);
  expect (scan_add ("rows"), XP_PLUGIN_AVAILABLE, NULL, NULL);
  expect (scan_add ("plain"), XP_PLUGIN_REJECTED, "NOT_A_PLUGIN", "without a Crosspoint note");
  expect (scan_add ("marks_demanding"), XP_PLUGIN_REJECTED, "MISSING_CPU_FEATURE",
          "no-such-feature");
  File file = file_of ("small");
  add_cut (&file, 100);
  g_free (file.bytes);
  g_autofree char *other = g_build_filename (scan_folder, "d.txt", NULL);
  write_file (other, "text\n", 5);
  XpPluginInfo **infos = xp_plugins_scan (NULL, XP_SCAN_NEW, &n, &error);
  assert_no_error (error);
  assert_expected (infos, n);
  infos_free (infos, n);
  ck_assert (!g_file_test (mark, G_FILE_TEST_EXISTS));
  /* It would have. */
  g_autofree char *marks = scan_add ("marks");
  xp_plugin_info_free (scan_one (marks, XP_SCAN_NEW));
  ck_assert (g_file_test (mark, G_FILE_TEST_EXISTS));
}
END_TEST

/* The user who may read everything reads as one who may not. */
START_TEST (without_permission)
{
  g_autofree char *path = scan_add ("first");
  ck_assert_int_eq (chmod (scan_folder, 0755), 0);
  ck_assert_int_eq (chmod (path, 0), 0);
  if (geteuid () == 0)
    ck_assert_int_eq (seteuid (65534), 0);
  g_autoptr (XpPluginInfo) info = scan_one (path, XP_SCAN_NEW);
  if (getuid () == 0)
    ck_assert_int_eq (seteuid (0), 0);
  assert_found (info, XP_PLUGIN_REJECTED,
                "cannot be opened: Permission denied; check the path and its permissions");
  ck_assert_str_eq (info->error, "FILE_IO");
}
END_TEST

/* Files may be named one by one, also such as are on no search path or not there at all. */
START_TEST (named_files)
{
  GError *error = NULL;
  unsigned n;
  g_autofree char *first = fixture_path ("first"), *rows = fixture_path ("rows");
  const char *const files[] = { first, "/nowhere/at/all.so", rows, NULL };
  XpPluginInfo **infos = xp_plugins_scan (files, XP_SCAN_NEW, &n, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n, 3);
  assert_found (infos[0], XP_PLUGIN_AVAILABLE, NULL);
  assert_found (infos[1], XP_PLUGIN_REJECTED, "No such file");
  assert_found (infos[2], XP_PLUGIN_AVAILABLE, NULL);
  infos_free (infos, n);
  infos = xp_plugins_scan ((const char *const[]){ NULL }, XP_SCAN_NEW, &n, &error);
  assert_no_error (error);
  ck_assert_ptr_nonnull (infos);
  ck_assert_uint_eq (n, 0);
  infos_free (infos, n);
}
END_TEST

int
main (void)
{
  scanning_begin ();
  Suite *suite = suite_create ("bad_files");
  TCase *tests = tcase_create ("bad_files");
  tcase_set_timeout (tests, 120);
  tcase_add_checked_fixture (tests, setup, teardown);
  tcase_add_test (tests, forty_bad_files);
  tcase_add_test (tests, report_24);
  tcase_add_test (tests, without_permission);
  tcase_add_test (tests, named_files);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
