/* SPDX-License-Identifier: MIT
 *
 * released.c: what becomes of kernels and their data that are released while a thread is inside of
 * them, or that a plugin has to destroy while it leaves.
 */
#include "plugin/fixtures.h"
#include "plugin/late_table.h"

#include <malloc.h>

/* --- A destroy function of the plugin runs on another thread. --- */

static XpLibrary *
open_with_end (const Late *late, LateVisit *visit)
{
  GError *error = NULL;
  XpLibrary *library = late->open (&error);
  const XpImplementation kernel = { .size = sizeof kernel,
                                    .name = "other",
                                    .boxed = late->visit,
                                    .data = visit,
                                    .destroy = late->end,
                                    .file = __FILE__ };
  assert_no_error (error);
  xp_library_impl (library, &kernel, &error);
  assert_no_error (error);
  return library;
}

static XpLibrary *released;

static void *
release (G_GNUC_UNUSED void *data)
{
  xp_library_free (released);
  return NULL;
}

START_TEST (while_another_thread_destroys)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  XpPlugin *plugin = load_fixture ("late");
  Guest guest = { 0 };
  LateVisit visit = { guest_stay, &guest };
  released = open_with_end (late_table (), &visit);
  guest_enter (&guest, release);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_DRAINING, "1 thing of it is still in use");
  assert_table (table);
  guest_leave (&guest);
  wait_for_state (plugin, XP_PLUGIN_UNLOADED);
}
END_TEST

static void
unload_from_end (void *plugin)
{
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_DRAINING, "1 thing of it is still in use");
}

START_TEST (from_inside_of_a_destroy_function)
{
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("late");
  LateVisit visit = { unload_from_end, plugin };
  released = open_with_end (late_table (), &visit);
  release (NULL);
  wait_for_state (plugin, XP_PLUGIN_UNLOADED);
}
END_TEST

typedef struct
{
  XpPlugin *plugin;
  XpLibrary *library;
} Release;

static void
release_and_unload (void *data)
{
  GError *error = NULL;
  Release *release = data;
  xp_library_free (release->library);
  ck_assert (!xp_plugin_unload (release->plugin, &error));
  assert_error (error, XP_ERROR_BUSY, "from inside of its own kernel of fixture::other");
}

START_TEST (from_inside_of_what_was_released)
{
  load_fixture ("rows");
  Release release = { .plugin = load_fixture ("late") };
  LateVisit visit = { release_and_unload, &release };
  release.library = open_filled (late_table (), &visit);
  call_other (NULL);
  assert_state (release.plugin, XP_PLUGIN_LOADED, NULL);
  unload (release.plugin);
}
END_TEST

/* --- Data of what was released while a thread was inside are destroyed with the next change. ---
 */

static unsigned n_destroyed;

static void
count_destroyed (G_GNUC_UNUSED void *data)
{
  n_destroyed++;
}

static XpStatus
visit (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, XpValue *results,
       G_GNUC_UNUSED GError **error)
{
  guest_stay (xp_call_data (call));
  results[0] = xp_value_int (1);
  return XP_OK;
}

/* --- The address of a kernel that is gone is that of another while an unload waits. --- */

static const XpKernel *gone, *came;
static int is_ready, may_call;

static void
stay_in_what_goes (void *guest)
{
  gone = xp_thread.top[-1].kernel;
  guest_stay (guest);
}

static XpStatus
stay_in_what_came (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  came = xp_call_kernel (call);
  return visit (call, arguments, results, error);
}

static void *
call_when_told (G_GNUC_UNUSED void *data)
{
  GError *error = NULL;
  call_number ("fixture::number", &error); /* has a record, which is an older one, from here on */
  assert_no_error (error);
  __atomic_store_n (&is_ready, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n (&may_call, __ATOMIC_SEQ_CST))
    g_usleep (500);
  return call_other (NULL);
}

static void
wait_until (const int *flag)
{
  while (!__atomic_load_n (flag, __ATOMIC_SEQ_CST))
    g_usleep (500);
}

/* glibc keeps some blocks of each size that it takes again for malloc() only. */
static void
fill_free_lists (void)
{
  XpLibrary *library = xp_library_new (XP_LIBRARY_KIND_IMPL, "fixture", "CPU", __FILE__, 1, NULL);
  for (unsigned i = 0; i < 20; i++)
    {
      g_autofree char *name = g_strdup_printf ("fill%u", i);
      const XpImplementation kernel = {
        .size = sizeof kernel, .name = name, .boxed = visit, .file = __FILE__
      };
      xp_library_impl (library, &kernel, NULL);
    }
  xp_library_free (library);
}

START_TEST (another_kernel_at_its_address)
{
  GError *error = NULL;
  mallopt (M_MXFAST, 160); /* so that what is freed stays a block of its size */
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("late");
  Guest in_what_goes = { 0 }, inside = { 0 }, in_what_came = { 0 };
  LateVisit stay = { stay_in_what_goes, &in_what_goes };
  in_what_came.thread = g_thread_new ("came", call_when_told, NULL);
  wait_until (&is_ready);
  released = open_filled (late_table (), &stay);
  guest_enter (&in_what_goes, call_other);
  release (NULL);
  guest_enter (&inside, guest_visit);
  GThread *thread = g_thread_new ("unload", unload_in_thread, plugin);
  wait_for_state (plugin, XP_PLUGIN_DRAINING);
  g_usleep (20000);
  fill_free_lists ();
  guest_leave (&in_what_goes);
  XpLibrary *library = xp_library_new (XP_LIBRARY_KIND_IMPL, "fixture", "CPU", __FILE__, 1, &error);
  XpImplementation kernel = { .size = sizeof kernel,
                              .name = "elsewhere",
                              .boxed = stay_in_what_came,
                              .data = &in_what_came,
                              .file = __FILE__ };
  xp_library_impl (library, &kernel, &error); /* destroys what was left */
  kernel.name = "other";
  xp_library_impl (library, &kernel, &error);
  assert_no_error (error);
  __atomic_store_n (&may_call, 1, __ATOMIC_SEQ_CST);
  wait_until (&in_what_came.inside);
  guest_leave (&inside);
  g_thread_join (thread);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  ck_assert_ptr_eq (came, gone);
#endif
  guest_leave (&in_what_came);
  xp_library_free (library);
}
END_TEST

static XpLibrary *block;
static XpPlugin *second;

static void
register_a_row (void)
{
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = "late(Tensor a) -> int",
                                    .file = __FILE__ };
  ck_assert (xp_library_def (block, &definition, NULL));
}

static void
release_a_block (void)
{
  xp_library_free (block);
}

static void
load_one (void)
{
  load_fixture ("first");
}

static void
unload_one (void)
{
  unload (second);
}

static void
swap_one (void)
{
  g_autofree char *path = fixture_path ("first");
  ck_assert_ptr_nonnull (xp_plugin_swap (second, path, XP_SWAP_STRICT, NULL, NULL));
}

static void (*const changes[]) (void) = { register_a_row, release_a_block, load_one, unload_one,
                                          swap_one };

START_TEST (the_next_change_destroys)
{
  GError *error = NULL;
  load_fixture ("rows");
  second = load_fixture ("second");
  Guest guest = { 0 };
  const XpImplementation kernel = { .size = sizeof kernel,
                                    .name = "other",
                                    .boxed = visit,
                                    .data = &guest,
                                    .destroy = count_destroyed,
                                    .file = __FILE__ };
  XpLibrary *library = xp_library_new (XP_LIBRARY_KIND_IMPL, "fixture", "CPU", __FILE__, 1, &error);
  assert_no_error (error);
  block = xp_library_new (XP_LIBRARY_KIND_FRAGMENT, "fixture", NULL, __FILE__, 2, &error);
  assert_no_error (error);
  xp_library_impl (library, &kernel, &error);
  assert_no_error (error);
  guest_enter (&guest, call_other);
  xp_library_free (library);
  guest_leave (&guest);
  ck_assert_uint_eq (n_destroyed, 0);
  changes[_i]();
  ck_assert_uint_eq (n_destroyed, 1);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("released");
  TCase *threads = tcase_create ("threads");
  tcase_set_timeout (threads, 120);
  tcase_add_test (threads, from_inside_of_what_was_released);
  tcase_add_test (threads, while_another_thread_destroys);
  tcase_add_test (threads, from_inside_of_a_destroy_function);
  tcase_add_test (threads, another_kernel_at_its_address);
  tcase_add_loop_test (threads, the_next_change_destroys, 0, XP_LENGTH (changes));
  suite_add_tcase (suite, threads);
  return run_suite (suite);
}
