/* SPDX-License-Identifier: MIT
 *
 * leaving.c: a plugin that registers and releases at run time while it is unloaded: nothing of it
 * stays in the table, and its file stays mapped while a thread is inside.
 */
#include "plugin/fixtures.h"
#include "plugin/fixtures/late.h"

#include <pthread.h>

static const Late *
late_table (void)
{
  GError *error = NULL;
  int64_t address = call_number ("fixture::number", &error);
  assert_no_error (error);
  return (const Late *) (intptr_t) address;
}

static gboolean
fill (XpLibrary *library, const Late *late, LateVisit *visit, GError **error)
{
  const XpImplementation kernel = {
    .size = sizeof kernel, .name = "other", .boxed = late->visit, .data = visit, .file = __FILE__
  };
  return xp_library_impl (library, &kernel, error);
}

static XpLibrary *
open_filled (const Late *late, LateVisit *visit)
{
  GError *error = NULL;
  XpLibrary *library = late->open (&error);
  assert_no_error (error);
  fill (library, late, visit, &error);
  assert_no_error (error);
  return library;
}

static void *
call_other (G_GNUC_UNUSED void *data)
{
  GError *error = NULL;
  call_number ("fixture::other", &error);
  assert_no_error (error);
  return NULL;
}

static void *
unload_in_thread (void *data)
{
  unload (data);
  return NULL;
}

typedef struct
{
  const Late *late;
  XpPlugin *plugin;
  XpLibrary *early; /* made while it was loaded */
  unsigned times;
} Attempt;

static void
register_in_vain (void *data)
{
  GError *error = NULL;
  Attempt *attempt = data;
  ck_assert_ptr_null (attempt->late->open (&error));
  assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED, "late.c:");
  ck_assert (!attempt->late->device ("latedev", &error));
  assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED, "registers the device 'latedev', but");
  if (attempt->early != NULL)
    {
      ck_assert (!fill (attempt->early, attempt->late, NULL, &error));
      assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED, "late.c:");
    }
  attempt->times++;
}

START_TEST (a_kernel_registers)
{
  GError *error = NULL;
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  XpPlugin *plugin = load_fixture ("late");
  Attempt attempt = { .late = late_table () };
  attempt.early = attempt.late->open (&error);
  assert_no_error (error);
  Guest guest = { .last = register_in_vain, .data = &attempt };
  guest_enter (&guest, guest_visit);
  GThread *thread = g_thread_new ("unload", unload_in_thread, plugin);
  wait_for_state (plugin, XP_PLUGIN_DRAINING);
  guest_leave (&guest);
  g_thread_join (thread);
  ck_assert_uint_eq (attempt.times, 1);
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  assert_table (table);
  XpKey key;
  ck_assert (!xp_key_parse ("latedev", &key, NULL));
  /* Loaded again it may. */
  LateVisit nothing = { 0 };
  ck_assert_ptr_eq (load_fixture ("late"), plugin);
  open_filled (late_table (), &nothing);
  unload (plugin);
  assert_table (table);
}
END_TEST

static void
register_when_draining (void *data)
{
  Attempt *attempt = data;
  if (xp_plugin_state (attempt->plugin) == XP_PLUGIN_DRAINING)
    register_in_vain (attempt);
}

/* The listener keeps the plugin until it listens no more. */
START_TEST (a_listener_registers)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("late");
  Attempt attempt = { .late = late_table (), .plugin = plugin };
  LateVisit visit = { register_when_draining, &attempt };
  uint64_t number = attempt.late->listen (&visit);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_DRAINING, "1 thing of it is still in use");
  XpLibrary *rows = xp_library_new (XP_LIBRARY_KIND_FRAGMENT, "told", NULL, __FILE__, 1, &error);
  assert_no_error (error);
  const XpDefinition definition = { .size = sizeof definition,
                                    .schema = "row(Tensor a) -> int",
                                    .file = __FILE__ };
  xp_library_def (rows, &definition, &error);
  assert_no_error (error);
  ck_assert_uint_eq (attempt.times, 1);
  g_autofree char *table = table_text ();
  xp_table_unlisten (number);
  wait_for_state (plugin, XP_PLUGIN_UNLOADED);
  assert_table (table);
  xp_library_free (rows);
}
END_TEST

/* What it has registered at run time goes and comes back with the rest. */
START_TEST (a_resident_comes_back)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  XpPlugin *plugin = load_fixture ("late_resident");
  Attempt attempt = { .late = late_table () };
  LateVisit nothing = { 0 };
  XpLibrary *library = open_filled (attempt.late, &nothing);
  g_autofree char *loaded = table_text ();
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_RETIRED, "it keeps a thread");
  assert_table (table);
  register_in_vain (&attempt);
  ck_assert_ptr_eq (load_fixture ("late_resident"), plugin);
  assert_table (loaded);
  /* What it releases while it is away does not. */
  unload (plugin);
  xp_library_free (library);
  load_fixture ("late_resident");
  ck_assert (!xp_table_has_kernel ("fixture::other", XP_KEY_CPU));
  ck_assert (xp_table_has_kernel ("fixture::run", XP_KEY_CPU));
  unload (plugin);
  assert_table (table);
}
END_TEST

/* What it may not give back stays where it is among what it has, before what needs it. */
START_TEST (a_device_that_is_not_given_back)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("late_resident");
  const Late *late = late_table ();
  LateVisit nothing = { 0 };
  ck_assert (late->device ("latedev", &error));
  XpLibrary *library = late->open_for ("latedev", &error);
  assert_no_error (error);
  fill (library, late, &nothing, &error);
  assert_no_error (error);
  g_autofree char *loaded = table_text ();
  ck_assert (!late->give_back ("latedev", &error));
  assert_error (error, XP_ERROR_IN_USE, "the device 'latedev' is in use");
  assert_table (loaded);
  unload (plugin);
  ck_assert_ptr_eq (load_fixture ("late_resident"), plugin);
  assert_table (loaded);
  xp_library_free (library);
  ck_assert (late->give_back ("latedev", &error));
  ck_assert (!late->give_back ("latedev", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "late_resident has no device 'latedev' to give");
}
END_TEST

START_TEST (inside_of_what_was_released)
{
  GError *error = NULL;
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  XpPlugin *plugin = load_fixture ("late");
  Guest guest = { 0 };
  LateVisit visit = { guest_stay, &guest };
  XpLibrary *library = open_filled (late_table (), &visit);
  guest_enter (&guest, call_other);
  xp_library_free (library);
  xp_setting_set ("unload-timeout", "0.05", NULL);
  ck_assert (!xp_plugin_unload (plugin, &error));
  assert_error (error, XP_ERROR_BUSY, "a thread did not leave");
  assert_state (plugin, XP_PLUGIN_DRAINING, "a thread did not leave");
  guest_leave (&guest);
  unload (load_fixture ("first"));
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  assert_table (table);
}
END_TEST

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

/* Nothing after the unload is a place to be cancelled at. */
static void *
unload_and_end (void *data)
{
  gboolean done = xp_plugin_unload (data, NULL);
  pthread_setcancelstate (PTHREAD_CANCEL_DISABLE, NULL);
  return GINT_TO_POINTER (done);
}

/* Who is cancelled while it waits unloads first. */
START_TEST (cancelled_while_it_waits)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  XpPlugin *plugin = load_fixture ("late");
  Guest guest = { 0 };
  pthread_t thread;
  guest_enter (&guest, guest_visit);
  ck_assert_int_eq (pthread_create (&thread, NULL, unload_and_end, plugin), 0);
  wait_for_state (plugin, XP_PLUGIN_DRAINING);
  ck_assert_int_eq (pthread_cancel (thread), 0);
  g_usleep (20000);
  guest_leave (&guest);
  void *done;
  ck_assert_int_eq (pthread_join (thread, &done), 0);
  ck_assert_ptr_eq (done, GINT_TO_POINTER (TRUE));
  assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
  assert_table (table);
}
END_TEST

/* Each does what many a place to be cancelled at lies in. */
static void
load_first (void)
{
  g_autofree char *path = fixture_path ("first");
  xp_plugin_load (path, NULL);
}

static void
swap_first (void)
{
  g_autofree char *path = fixture_path ("second");
  xp_plugin_swap (xp_plugin_find ("first"), path, XP_SWAP_STRICT, NULL, NULL);
}

static void
unload_second (void)
{
  xp_plugin_unload (xp_plugin_find ("second"), NULL);
}

static void *
do_when_cancelled (void *data)
{
  void (*const *function) (void) = data;
  pthread_cancel (pthread_self ());
  (*function) ();
  pthread_testcancel ();
  return NULL;
}

static void
run_cancelled (void (*function) (void))
{
  pthread_t thread;
  void *result;
  ck_assert_int_eq (pthread_create (&thread, NULL, do_when_cancelled, &function), 0);
  ck_assert_int_eq (pthread_join (thread, &result), 0);
  ck_assert_ptr_eq (result, PTHREAD_CANCELED);
}

START_TEST (cancelled_before_it_begins)
{
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  run_cancelled (load_first);
  assert_number (1);
  run_cancelled (swap_first);
  assert_number (2);
  run_cancelled (unload_second);
  ck_assert_ptr_null (xp_plugin_find ("second"));
  assert_table (table);
  unload (load_fixture ("first"));
}
END_TEST

static int stop;

static void
register_and_release (void *data)
{
  GError *error = NULL;
  LateVisit nothing = { 0 };
  const Late *late = data;
  for (unsigned i = 0; i < 20; i++)
    {
      XpLibrary *library = late->open (&error);
      if (library != NULL)
        fill (library, late, &nothing, &error);
      xp_library_free (library);
      if (error == NULL)
        continue;
      assert_error (error, XP_ERROR_PLUGIN_NOT_LOADED, "late.c:");
      error = NULL;
    }
}

/* Without data, what it calls is given the table of the plugin that it is inside of. */
static void *
churn (G_GNUC_UNUSED void *data)
{
  XpOperator *op = xp_operator_get ("fixture::run", NULL);
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (1), XP_CPU, NULL);
  while (!__atomic_load_n (&stop, __ATOMIC_SEQ_CST))
    {
      GError *error = NULL;
      XpValue arguments[] = { xp_value_tensor (tensor),
                              xp_value_int ((intptr_t) register_and_release), xp_value_int (0) };
      if (xp_operator_call (op, arguments, NULL, &error) == XP_OK)
        continue;
      assert_error (error, XP_ERROR_MISSING_KERNEL, "Could not run 'fixture::run'");
    }
  xp_tensor_unref (tensor);
  return NULL;
}

START_TEST (while_it_registers_and_releases)
{
  GLogLevelFlags fatal = g_log_set_always_fatal (G_LOG_LEVEL_ERROR);
  GThread *threads[2];
  load_fixture ("rows");
  g_autofree char *table = table_text ();
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    threads[i] = g_thread_new ("churn", churn, NULL);
  gint64 end = g_get_monotonic_time () + G_USEC_PER_SEC;
  for (unsigned i = 0; g_get_monotonic_time () < end; i++)
    {
      XpPlugin *plugin = load_fixture ("late");
      g_usleep (i * 37 % 700);
      unload (plugin);
      assert_state (plugin, XP_PLUGIN_UNLOADED, NULL);
      assert_table (table);
    }
  __atomic_store_n (&stop, 1, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < XP_LENGTH (threads); i++)
    g_thread_join (threads[i]);
  g_log_set_always_fatal (fatal);
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
  Suite *suite = suite_create ("leaving");
  TCase *threads = tcase_create ("threads");
  tcase_set_timeout (threads, 120);
  tcase_add_test (threads, a_kernel_registers);
  tcase_add_test (threads, a_listener_registers);
  tcase_add_test (threads, a_resident_comes_back);
  tcase_add_test (threads, a_device_that_is_not_given_back);
  tcase_add_test (threads, inside_of_what_was_released);
  tcase_add_test (threads, from_inside_of_what_was_released);
  tcase_add_test (threads, while_another_thread_destroys);
  tcase_add_test (threads, from_inside_of_a_destroy_function);
  tcase_add_test (threads, cancelled_while_it_waits);
  tcase_add_test (threads, cancelled_before_it_begins);
  tcase_add_test (threads, while_it_registers_and_releases);
  tcase_add_test (threads, another_kernel_at_its_address);
  tcase_add_loop_test (threads, the_next_change_destroys, 0, XP_LENGTH (changes));
  suite_add_tcase (suite, threads);
  return run_suite (suite);
}
