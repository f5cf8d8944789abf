/* SPDX-License-Identifier: MIT
 *
 * leaving.c: a plugin that registers and releases at run time while it is unloaded: nothing of it
 * stays in the table, and its file stays mapped while a thread is inside.
 */
#include "plugin/fixtures.h"
#include "plugin/late_table.h"

#include <pthread.h>

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
  tcase_add_test (threads, cancelled_while_it_waits);
  tcase_add_test (threads, cancelled_before_it_begins);
  tcase_add_test (threads, while_it_registers_and_releases);
  suite_add_tcase (suite, threads);
  return run_suite (suite);
}
