/* SPDX-License-Identifier: MIT
 *
 * lint_schemas.c: each finding on a file of schemas with that mistake, and no other; our own file,
 * which has none.
 */
#include "suite.h"

#include <crosspoint-inspect.h>
#include <json-glib/json-glib.h>
#include <string.h>
#include <unistd.h>

#define GOOD "t::f(Tensor self, int n) -> Tensor -- Good.\n"

/* The text of a file, and the findings with their lines, in order. */
static const struct
{
  const char *text;
  const char *findings;
} cases[] = {
  { "# Nothing.\n\n", "" },
  { GOOD "t::f.out(Tensor self, int n, *, Tensor(a!) out) -> Tensor(a!) @out -- Into out.\n"
         "t::f_(Tensor(a!) self, int n) -> Tensor(a!) @inplace -- In place.\n",
    "" },
  { "t::v(Tensor(a) self) -> Tensor(a) @view -- A view.\n", "" },
  { "t::l(Tensor[] self) -> Tensor[] -- All.\n"
    "t::l.out(Tensor[] self, *, Tensor(a!)[] out) -> () @out -- Into out.\n"
    "t::l_(Tensor(a!)[] self) -> () @inplace -- In place.\n",
    "" },
  { "t::m(Tensor self, *, Tensor(a!) x, Tensor(b!)[] y) -> () @out -- A list among them.\n", "" },
  { "t::z(int[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor -- New.\n"
    "t::z.out(int[] size, *, Tensor(a!) out) -> Tensor(a!) @out -- Into out.\n",
    "" },
  { "t::__iand__(Tensor(a!) self) -> Tensor(a!) @writes -- Python's.\n"
    "t::__and__(Tensor self) -> Tensor -- Python's.\n",
    "" },
  { "aten::s(t[](a!) x, t(b -> *) y) -> () -- May be a tensor.\n",
    "unlisted-type:1 unlisted-type:1 no-writing-tag:1 " },
  { "t::f(\n" GOOD, "mistake:1 " },
  { GOOD GOOD, "mistake:2 " },
  { "t::f_(Tensor self) -> Tensor -- No write.\n", "inplace-writes-not:1 " },
  { "t::f_() -> Tensor -- Nothing to write.\n", "inplace-writes-not:1 " },
  { "t::f.out(Tensor self, *, Tensor out) -> Tensor -- No write.\n", "out-writes-not:1 " },
  { "t::f.X_out(Tensor self, Tensor(a!) out) -> Tensor(a!) @writes -- Positional.\n",
    "out-writes-not:1 " },
  { "t::g(Tensor x, *, Tensor(a!) out, int n) -> Tensor(a!) @writes -- In front.\n",
    "out-not-last:1 " },
  { "t::g.out(Tensor x, *, Tensor(a!) out) -> Tensor @out -- Another.\n", "not-returned:1 " },
  { "t::g_(Tensor(a!) self) -> () @inplace -- None.\n", "not-returned:1 " },
  { "t::g(Tensor(a!) x) -> Tensor(b!) @writes -- Stray.\n", "stray-set:1 " },
  { "t::g(Tensor x, int(a) n) -> int[] -- A number.\n", "set-without-tensor:1 " },
  { "t::g(Tensor x) -> int[](a) -- Numbers.\n", "set-without-tensor:1 " },
  { "t::g(Tensor x, int x) -> Tensor -- Twice.\n", "declared-twice:1 " },
  { "t::g(Tensor x, int x, int x) -> Tensor -- Each once.\n",
    "declared-twice:1 declared-twice:1 " },
  { "t::g() -> (Tensor y, Tensor y) -- Twice.\n", "declared-twice:1 " },
  { GOOD "t::f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!) @out -- Without n.\n",
    "form-differs:2 " },
  { GOOD "t::f_(Tensor(a!) self, float n) -> Tensor(a!) @inplace -- Another type.\n",
    "form-differs:2 " },
  { GOOD "t::f_(Tensor(a!) self, int k) -> Tensor(a!) @inplace -- Another name.\n",
    "form-differs:2 " },
  { GOOD "t::f_(Tensor(a!) self, int n, int k) -> Tensor(a!) @inplace -- One more.\n",
    "form-differs:2 " },
  { "t::g(Tensor x) -> Tensor @poitnwise -- Misspelt.\n", "unknown-tag:1 " },
  { "t::g(Tensor x) -> Tensor @inplace -- No write.\n", "wrong-tag:1 " },
  { "t::g(Tensor x) -> Tensor @out -- No out.\n", "wrong-tag:1 " },
  { "t::g(Tensor x) -> Tensor @writes -- No write.\n", "wrong-tag:1 " },
  { "t::g(Tensor x) -> Tensor @view -- No set.\n", "wrong-tag:1 " },
  { "t::g_(Tensor(a!) x) -> Tensor(a!) @inplace @writes -- Both.\n", "wrong-tag:1 " },
  { "t::g(Tensor(a!) x) -> Tensor(a!) -- No tag.\n", "no-writing-tag:1 " },
  { "t::g(Dict(str, int) x) -> Tensor -- A dictionary.\n", "unlisted-type:1 " },
  { "t::g(Tensor x) -> Tensor\n", "no-description:1 " },
};

typedef struct
{
  char *path;
  char *text;
  JsonNode *model;
  bool is_yes;
} Linted;

static Linted
lint_path (const char *path)
{
  g_autoptr (XpReport) report = xp_report_lint ((const char *const[]){ path, NULL }, TRUE);
  g_autofree char *json = xp_report_print (report, XP_REPORT_JSON);
  GError *error = NULL;
  Linted linted = { g_strdup (path), xp_report_print (report, XP_REPORT_PLAIN),
                    json_from_string (json, &error), xp_report_is_yes (report) };
  assert_no_error (error);
  return linted;
}

static Linted
lint_text (const char *text, gssize length)
{
  GError *error = NULL;
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("XXXXXX.ops", &path, &error);
  assert_no_error (error);
  close (fd);
  ck_assert (g_file_set_contents (path, text, length, NULL));
  Linted linted = lint_path (path);
  ck_assert_int_eq (unlink (path), 0);
  return linted;
}

static void
linted_clear (Linted *linted)
{
  g_free (linted->path);
  g_free (linted->text);
  json_node_unref (linted->model);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Linted, linted_clear)

static JsonObject *
file_of (const Linted *linted)
{
  return json_array_get_object_element (
      json_object_get_array_member (json_node_get_object (linted->model), "files"), 0);
}

/* `finding:LINE `, for each. */
static char *
findings_of (const Linted *linted)
{
  JsonArray *findings = json_object_get_array_member (file_of (linted), "findings");
  GString *text = g_string_new (NULL);
  for (unsigned i = 0; i < json_array_get_length (findings); i++)
    {
      JsonObject *finding = json_array_get_object_element (findings, i);
      const char *place = json_array_get_string_element (
          json_object_get_array_member (finding, "about"), 0);
      ck_assert_msg (g_str_has_prefix (place, linted->path), "%s", place);
      g_string_append_printf (text, "%s:%d ", json_object_get_string_member (finding, "finding"),
                              atoi (place + strlen (linted->path) + 1));
    }
  return g_string_free (text, FALSE);
}

START_TEST (finding)
{
  g_auto (Linted) linted = lint_text (cases[_i].text, -1);
  g_autofree char *found = findings_of (&linted);
  ck_assert_msg (strcmp (found, cases[_i].findings) == 0, "expected '%s', found '%s' for\n%s",
                 cases[_i].findings, found, cases[_i].text);
  bool is_bad = strstr (linted.text, "  error ") != NULL
                || strstr (linted.text, "  warning ") != NULL;
  ck_assert (linted.is_yes == !is_bad);
}
END_TEST

/* The text says what to do next, and docs/lint.md has the name. */
START_TEST (text_and_docs_have_it)
{
  g_autofree char *page = NULL, *name = g_strdup (cases[_i].findings);
  name[strcspn (name, ":")] = '\0';
  if (name[0] == '\0')
    return;
  ck_assert (g_file_get_contents (source_path ("docs/lint.md"), &page, NULL, NULL));
  g_autofree char *entry = g_strdup_printf ("| `%s` |", name);
  ck_assert_msg (strstr (page, entry) != NULL, "%s is not in docs/lint.md", entry);
  g_auto (Linted) linted = lint_text (cases[_i].text, -1);
  ck_assert (strstr (linted.text, name) != NULL && strstr (linted.text, "  next: ") != NULL);
}
END_TEST

START_TEST (own_schemas_are_good)
{
  g_autofree char *path = g_strdup (source_path ("schemas/aten.ops"));
  g_auto (Linted) linted = lint_path (path);
  g_autofree char *found = findings_of (&linted);
  ck_assert_str_eq (found, "");
  ck_assert (linted.is_yes);
}
END_TEST

START_TEST (mistakes_say_where_and_what)
{
  g_auto (Linted) linted = lint_text ("t::a(Frob x) -> ()\nt::b(Tensor -> ()\n", -1);
  g_autofree char *first = g_strdup_printf ("mistake: %s:1: unknown type specifier\n", linted.path);
  g_autofree char *second = g_strdup_printf ("mistake: %s:2: expected ident", linted.path);
  ck_assert_msg (strstr (linted.text, first) != NULL, "%s", linted.text);
  ck_assert_msg (strstr (linted.text, second) != NULL, "%s", linted.text);
}
END_TEST

START_TEST (bytes_that_are_no_text)
{
  g_auto (Linted) linted = lint_text ("t::f(\xff) -> ()", -1);
  ck_assert_str_eq (json_object_get_string_member (file_of (&linted), "code"), "FILE_FORMAT");
  ck_assert (!linted.is_yes);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("lint_schemas");
  TCase *tests = tcase_create ("findings");
  tcase_add_loop_test (tests, finding, 0, XP_LENGTH (cases));
  tcase_add_loop_test (tests, text_and_docs_have_it, 0, XP_LENGTH (cases));
  tcase_add_test (tests, own_schemas_are_good);
  tcase_add_test (tests, mistakes_say_where_and_what);
  tcase_add_test (tests, bytes_that_are_no_text);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
