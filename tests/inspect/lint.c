/* SPDX-License-Identifier: MIT
 *
 * lint.c: each finding on a plugin that was built with that bad habit, and no other; our own
 * plugins, which have none; files that cannot be looked at.
 */
#include "plugin/fixtures.h"

#include <crosspoint-inspect.h>
#include <elf.h>
#include <json-glib/json-glib.h>
#include <stdlib.h>

/* A sanitizer brings names, imports and destructors of its own. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#  define IS_EXACT false
#else
#  define IS_EXACT true
#endif

/* --- Reports. --- */

typedef struct
{
  JsonNode *model;
  char *text;
  bool is_yes;
} Linted;

static Linted
lint (const char *const *files, bool verbose)
{
  g_autoptr (XpReport) report = xp_report_lint (files, verbose);
  g_autofree char *json = xp_report_print (report, XP_REPORT_JSON);
  GError *error = NULL;
  Linted linted = { json_from_string (json, &error), xp_report_print (report, XP_REPORT_PLAIN),
                    xp_report_is_yes (report) };
  assert_no_error (error);
  return linted;
}

static Linted
lint_one (const char *file)
{
  return lint ((const char *const[]){ file, NULL }, false);
}

static void
linted_clear (Linted *linted)
{
  json_node_unref (linted->model);
  g_free (linted->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Linted, linted_clear)

static JsonObject *
file_of (const Linted *linted, unsigned i)
{
  JsonArray *files = json_object_get_array_member (json_node_get_object (linted->model), "files");
  ck_assert_uint_lt (i, json_array_get_length (files));
  return json_array_get_object_element (files, i);
}

/* The names of the findings on a file, each after a space. */
static char *
findings_of (const Linted *linted, unsigned i)
{
  JsonArray *findings = json_object_get_array_member (file_of (linted, i), "findings");
  GString *names = g_string_new (NULL);
  for (unsigned j = 0; j < json_array_get_length (findings); j++)
    g_string_append_printf (
        names, " %s",
        json_object_get_string_member (json_array_get_object_element (findings, j), "finding"));
  return g_string_free (names, FALSE);
}

static void
assert_part (const Linted *linted, const char *part)
{
  ck_assert_msg (strstr (linted->text, part) != NULL, "'%s' is not in:\n%s", part, linted->text);
}

static void
assert_findings (const Linted *linted, unsigned i, const char *expected)
{
  g_autofree char *found = findings_of (linted, i);
  if (IS_EXACT)
    {
      ck_assert_msg (strcmp (found, expected) == 0, "expected%s, found%s:\n%s", expected, found,
                     linted->text);
      return;
    }
  g_auto (GStrv) names = g_strsplit (expected, " ", -1);
  g_auto (GStrv) found_names = g_strsplit (found, " ", -1);
  for (char **name = names; *name != NULL; name++)
    ck_assert_msg (g_strv_contains ((const char *const *) found_names, *name), "no %s in%s", *name,
                   found);
}

/* A fixture of this folder, or with a slash before it one of the plugins'. */
static char *
path_of (const char *name)
{
  g_autofree char *relative = g_strconcat (name[0] == '/' ? "." : "../../inspect/fixtures/", name,
                                           NULL);
  g_autofree char *path = fixture_path (relative);
  return g_canonicalize_filename (path, NULL);
}

/* --- One finding each. --- */

/* Every plugin of a build folder finds the core by $ORIGIN. */
#define ORIGIN " origin-path"

static const struct
{
  const char *name;
  const char *findings;
  const char *part;
  bool is_yes;
} cases[] = {
  { "lint_good", ORIGIN, "  note     origin-path: $ORIGIN", true },
  { "/plain", " no-note" ORIGIN " writable-addresses", "  error    no-note\n", false },
  { "lint_needs_library", " origin-library" ORIGIN,
    "  error    origin-library: liblint_library.so (/", false },
  { "lint_absolute_path", ORIGIN " absolute-path", "absolute-path: /", true },
  { "lint_old_path", ORIGIN " absolute-path", "absolute-path: /", true },
  { "lint_unlinked", "", "/lint_unlinked.so: good\n1 file\n", true },
  { "lint_relative_path", " relative-path" ORIGIN, "  warning  relative-path: some/where\n",
    false },
  { "/unresolved", " undefined-symbol" ORIGIN " writable-addresses",
    "undefined-symbol: nobody_has_this\n", false },
  { "lint_executable_stack", " executable-stack" ORIGIN, "  error    executable-stack\n", false },
  { "lint_exports", " exported-name" ORIGIN, "  warning  exported-name: lint_exported\n", false },
  { "lint_exports_many", " no-hidden-visibility" ORIGIN,
    ": lint_name_01, lint_name_02, lint_name_03, lint_name_04, lint_name_05, lint_name_06, "
    "lint_name_07, lint_name_08, lint_name_09, lint_name_10, lint_name_11, lint_name_12 and 5 "
    "more\n",
    false },
  { "lint_interposable", " exported-name interposable" ORIGIN, "interposable: lint_exported\n",
    false },
  { "lint_library_clash", " origin-library exported-name library-clash" ORIGIN,
    "library-clash: lint_shared_name (/", false },
  { "lint_static_tls", " static-tls" ORIGIN, "static-tls: 8 bytes of its own for each thread\n",
    false },
  { "lint_own_tls", ORIGIN, "1 file, 1 note\n", true },
  { "/quark", " resident-import" ORIGIN " writable-addresses",
    "resident-import: g_quark_from_static_string\n", false },
  { "/thread_destructor", " resident-import" ORIGIN " writable-addresses",
    "resident-import: __cxa_thread_atexit_impl\n", false },
  { "/leaves_thread", " threads-without-fini" ORIGIN " writable-addresses",
    "threads-without-fini: pthread_create\n", false },
  { "/joins_thread", ORIGIN " writable-addresses", "1 file, 2 notes\n", true },
  { "/unique", " exported-name unique-symbol" ORIGIN " writable-addresses",
    "unique-symbol: fixture_unique\n", false },
  { "/nodelete", " nodelete" ORIGIN " writable-addresses", "  warning  nodelete\n", false },
  { "lint_text_relocation", " text-relocation" ORIGIN, "  warning  text-relocation\n", false },
  { "lint_no_build_id", " no-build-id" ORIGIN, "  warning  no-build-id\n", false },
  { "lint_empty_texts", " no-metadata" ORIGIN, "no-metadata: description, licence\n", false },
  { "lint_nameless", " no-metadata" ORIGIN, "no-metadata: description, licence, version\n", false },
  { "lint_declared", " declared-resident" ORIGIN, "  note     declared-resident: it has a quark\n",
    true },
  { "/openmp", " library-with-threads" ORIGIN " writable-addresses",
    "  note     library-with-threads: /", true },
  { "lint_destructor", ORIGIN " destructor", "destructor: 1 in .fini_array\n", true },
  { "lint_exit_handler", ORIGIN " destructor", "destructor: __cxa_atexit, of static C++", true },
  { "lint_lazy", ORIGIN " writable-addresses", "  note     writable-addresses\n", true },
  { "lint_no_relro", ORIGIN " writable-addresses", "  note     writable-addresses\n", true },
  { "/demanding", ORIGIN " writable-addresses not-for-here",
    "needs the CPU feature no-such-feature", true },
};

START_TEST (finding)
{
  g_autofree char *path = path_of (cases[_i].name);
  g_auto (Linted) linted = lint_one (path);
  ck_assert_ptr_null (
      json_object_get_string_member_with_default (file_of (&linted, 0), "error", NULL));
  assert_findings (&linted, 0, cases[_i].findings);
  if (IS_EXACT)
    {
      assert_part (&linted, cases[_i].part);
      ck_assert_int_eq (linted.is_yes, cases[_i].is_yes);
    }
}
END_TEST

/* Everything that JSON says of a finding is in the text, and its name in the docs. */
START_TEST (text_and_docs_have_it)
{
  g_autofree char *path = path_of (cases[_i].name);
  g_autofree char *page = NULL;
  ck_assert (g_file_get_contents (source_path ("docs/lint.md"), &page, NULL, NULL));
  g_auto (Linted) linted = lint_one (path);
  JsonArray *findings = json_object_get_array_member (file_of (&linted, 0), "findings");
  for (unsigned i = 0; i < json_array_get_length (findings); i++)
    {
      JsonObject *found = json_array_get_object_element (findings, i);
      const char *const members[] = { "finding", "severity", "detail", "why", "next" };
      JsonArray *about = json_object_get_array_member (found, "about");
      g_autofree char *entry = g_strdup_printf ("\n| `%s` |",
                                                json_object_get_string_member (found, "finding"));
      ck_assert_msg (strstr (page, entry) != NULL, "docs/lint.md lacks%s", entry);
      for (unsigned j = 0; j < XP_LENGTH (members); j++)
        assert_part (&linted, json_object_get_string_member_with_default (found, members[j], ""));
      for (unsigned j = 0; j < json_array_get_length (about); j++)
        assert_part (&linted, json_array_get_string_element (about, j));
    }
}
END_TEST

START_TEST (all_names_when_asked)
{
  g_autofree char *path = path_of ("lint_exports_many");
  g_auto (Linted) linted = lint ((const char *const[]){ path, NULL }, true);
  assert_part (&linted, "lint_name_12, lint_name_13, lint_name_14");
  assert_part (&linted, "lint_name_17\n");
}
END_TEST

/* --- Several files. --- */

START_TEST (pain_15_plugins_that_clash)
{
  g_autofree char *a = path_of ("/sym_a");
  g_autofree char *b = path_of ("/sym_b");
  g_autofree char *other = path_of ("lint_exports");
  g_auto (Linted) linted = lint ((const char *const[]){ a, b, other, NULL }, false);
  g_autofree char *part = g_strdup_printf ("bias (%s), dgemm_ (%s), kern_add (%s)\n", b, b, b);
  assert_findings (&linted, 0, " exported-name plugin-clash" ORIGIN " writable-addresses");
  assert_findings (&linted, 1, " exported-name plugin-clash" ORIGIN " writable-addresses");
  assert_findings (&linted, 2, " exported-name" ORIGIN);
  assert_part (&linted, part);
}
END_TEST

/* One that was not named lies on the search path. */
START_TEST (pain_15_clash_with_the_search_path)
{
  g_autofree char *a = path_of ("/sym_a");
  g_autofree char *b = path_of ("/sym_b");
  char *folder = folder_new ();
  g_autofree char *copy = g_build_filename (folder, "sym_b.so", NULL);
  copy_file (b, copy);
  g_setenv ("CROSSPOINT_PLUGIN_PATH", folder, TRUE);
  g_auto (Linted) linted = lint_one (a);
  g_autofree char *part = g_strdup_printf (" bias (%s)", copy);
  assert_part (&linted, part);
  g_auto (Linted) same = lint_one (b);
  if (IS_EXACT)
    assert_findings (&same, 0, " exported-name" ORIGIN " writable-addresses");
  folder_remove (folder);
}
END_TEST

START_TEST (by_name)
{
  g_auto (Linted) linted = lint_one ("cpu");
  ck_assert_str_eq (json_object_get_string_member_with_default (file_of (&linted, 0), "error", ""),
                    "");
  ck_assert (g_str_has_suffix (json_object_get_string_member (file_of (&linted, 0), "file"),
                               "/plugins/cpu.so"));
}
END_TEST

/* A finding is explained once. */
START_TEST (explained_once)
{
  g_autofree char *a = path_of ("lint_no_build_id");
  g_auto (Linted) linted = lint ((const char *const[]){ a, a, NULL }, false);
  const char *why = "Nobody sees which build is loaded";
  const char *first = strstr (linted.text, why);
  ck_assert_ptr_nonnull (first);
  ck_assert_ptr_null (strstr (first + 1, why));
  assert_findings (&linted, 1, " no-build-id" ORIGIN);
  if (IS_EXACT)
    assert_part (&linted, "\n2 files, 2 warnings, 2 notes\n");
}
END_TEST

START_TEST (own_plugins_are_good)
{
  g_autofree char *folder = built_plugins ();
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  const char *name;
  unsigned n = 0;
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".so"))
      {
        g_autofree char *path = g_build_filename (folder, name, NULL);
        g_strv_builder_add (builder, path);
        n++;
      }
  ck_assert_uint_ge (n, 5);
  g_auto (GStrv) paths = g_strv_builder_end (builder);
  g_auto (Linted) linted = lint ((const char *const *) paths, false);
  for (unsigned i = 0; i < n && IS_EXACT; i++)
    assert_findings (&linted, i, ORIGIN);
  ck_assert (linted.is_yes || !IS_EXACT);
}
END_TEST

/* --- Files that were changed. --- */

typedef struct
{
  char *folder;
  char *path;
} Copy;

/* A copy of a fixture, alone in a folder; each @old in it, of @n bytes, becomes @new_. */
static Copy
copy_of (const char *fixture, const void *old, const void *new_, gsize n)
{
  g_autofree char *from = path_of (fixture);
  g_autofree char *bytes = NULL;
  gsize size;
  unsigned count = 0;
  ck_assert (g_file_get_contents (from, &bytes, &size, NULL));
  for (gsize at = 0; n > 0 && at + n <= size; at++)
    if (memcmp (bytes + at, old, n) == 0)
      {
        memcpy (bytes + at, new_, n);
        count++;
      }
  ck_assert (n == 0 || count > 0);
  Copy copy = { folder_new (), NULL };
  copy.path = g_build_filename (copy.folder, "copy.so", NULL);
  ck_assert (g_file_set_contents_full (copy.path, bytes, (gssize) size, G_FILE_SET_CONTENTS_NONE,
                                       0700, NULL));
  return copy;
}

static void
copy_clear (Copy *copy)
{
  folder_remove (copy->folder);
  g_free (copy->path);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Copy, copy_clear)

START_TEST (library_that_is_nowhere)
{
  g_auto (Copy) copy = copy_of ("lint_needs_library", NULL, NULL, 0);
  g_auto (Linted) linted = lint_one (copy.path);
  assert_findings (&linted, 0, " missing-library" ORIGIN);
  assert_part (&linted, "  error    missing-library: liblint_library.so\n");
  ck_assert (!linted.is_yes);
}
END_TEST

START_TEST (damaged_note)
{
  g_auto (Copy) copy = copy_of ("/high", "priority=5", "priority=x", strlen ("priority=x"));
  g_auto (Linted) linted = lint_one (copy.path);
  assert_findings (&linted, 0, " damaged-note" ORIGIN " writable-addresses");
  assert_part (&linted, "the priority is no number");
  ck_assert (!linted.is_yes);
}
END_TEST

/* Where the linker looks into the file itself first, nobody comes between. */
START_TEST (symbolic_by_flag)
{
  const Elf64_Dyn flags = { DT_FLAGS, { DF_BIND_NOW } };
  const Elf64_Dyn symbolic = { DT_FLAGS, { DF_BIND_NOW | DF_SYMBOLIC } };
  if (sizeof (void *) != 8)
    return;
  g_auto (Copy) copy = copy_of ("lint_interposable", &flags, &symbolic, sizeof flags);
  g_auto (Linted) linted = lint_one (copy.path);
  if (IS_EXACT)
    assert_findings (&linted, 0, " exported-name" ORIGIN);
}
END_TEST

START_TEST (wrong_abi)
{
  g_auto (Copy) copy = copy_of ("lint_good", "abi=1.0", "abi=9.0", strlen ("abi=1.0"));
  g_auto (Linted) linted = lint_one (copy.path);
  assert_findings (&linted, 0, " refused" ORIGIN);
  assert_part (&linted, "  error    refused: ");
  assert_part (&linted, "9.0");
  ck_assert (!linted.is_yes);
}
END_TEST

/* All but its libraries is looked at, and what is here is not held against it. */
START_TEST (other_machine)
{
  g_auto (Copy) copy = copy_of ("lint_exports", NULL, NULL, 0);
  FILE *file = fopen (copy.path, "r+");
  Elf64_Half machine = EM_S390 + 1000;
  ck_assert_ptr_nonnull (file);
  ck_assert_int_eq (fseek (file, offsetof (Elf64_Ehdr, e_machine), SEEK_SET), 0);
  ck_assert_uint_eq (fwrite (&machine, sizeof machine, 1, file), 1);
  ck_assert_int_eq (fclose (file), 0);
  g_auto (Linted) linted = lint_one (copy.path);
  assert_findings (&linted, 0, " exported-name" ORIGIN " not-for-here libraries-unknown");
  assert_part (&linted, "  note     not-for-here: ");
}
END_TEST

/* --- Files that are none. --- */

START_TEST (files_that_cannot_be_looked_at)
{
  g_autofree char *good = path_of ("lint_good");
  g_auto (Copy) text = copy_of ("lint_good", NULL, NULL, 0);
  g_autofree char *fifo = g_build_filename (text.folder, "fifo.so", NULL);
  g_autofree char *none = g_build_filename (text.folder, "none.so", NULL);
  g_autofree char *cut = g_build_filename (text.folder, "cut.so", NULL);
  copy_file (text.path, cut);
  ck_assert_int_eq (truncate (cut, 3000), 0);
  ck_assert (g_file_set_contents (text.path, "no object\n", -1, NULL));
  ck_assert_int_eq (mkfifo (fifo, 0700), 0);
  const char *const files[] = { text.folder, text.path,        fifo, none,
                                cut,         "/proc/self/exe", good, NULL };
  const char *const codes[] = { "NOT_A_PLUGIN",     "NOT_A_PLUGIN", "NOT_A_PLUGIN",
                                "PLUGIN_NOT_FOUND", "FILE_FORMAT",  "NOT_A_PLUGIN" };
  g_auto (Linted) linted = lint (files, false);
  for (unsigned i = 0; i < XP_LENGTH (codes); i++)
    {
      const char *code = json_object_get_string_member (file_of (&linted, i), "code");
      ck_assert_msg (g_strcmp0 (code, codes[i]) == 0, "%s: %s", files[i], code);
      assert_part (&linted, json_object_get_string_member (file_of (&linted, i), "error"));
    }
  assert_part (&linted, "it is a program, not a shared object");
  assert_part (&linted, "\n7 files, 6 not looked at");
  assert_findings (&linted, 6, ORIGIN);
  ck_assert (!linted.is_yes);
}
END_TEST

START_TEST (unreadable_file)
{
  if (geteuid () == 0)
    return;
  g_auto (Copy) copy = copy_of ("lint_good", NULL, NULL, 0);
  ck_assert_int_eq (chmod (copy.path, 0), 0);
  g_auto (Linted) linted = lint_one (copy.path);
  assert_part (&linted, "  error    FILE_IO: ");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("lint");
  TCase *tests = tcase_create ("findings");
  tcase_add_loop_test (tests, finding, 0, XP_LENGTH (cases));
  tcase_add_loop_test (tests, text_and_docs_have_it, 0, XP_LENGTH (cases));
  tcase_add_test (tests, all_names_when_asked);
  tcase_add_test (tests, pain_15_plugins_that_clash);
  tcase_add_test (tests, pain_15_clash_with_the_search_path);
  tcase_add_test (tests, by_name);
  tcase_add_test (tests, explained_once);
  tcase_add_test (tests, own_plugins_are_good);
  tcase_add_test (tests, library_that_is_nowhere);
  tcase_add_test (tests, damaged_note);
  tcase_add_test (tests, symbolic_by_flag);
  tcase_add_test (tests, wrong_abi);
  tcase_add_test (tests, other_machine);
  tcase_add_test (tests, files_that_cannot_be_looked_at);
  tcase_add_test (tests, unreadable_file);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
