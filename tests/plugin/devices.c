/* SPDX-License-Identifier: MIT
 *
 * devices.c: plugins that register a device: its name comes and goes with the load, tensors outlive
 * it, and a swap hands it on.
 */
#include "plugin/fixtures.h"
#include "table/blocks.h"

static XpBackend
backend_named (const char *name)
{
  GError *error = NULL;
  XpDevice device;
  xp_device_parse (name, &device, &error);
  assert_no_error (error);
  return (XpBackend) device.backend;
}

static void
assert_no_device (const char *name)
{
  GError *error = NULL;
  XpDevice device;
  XpKey key;
  ck_assert (!xp_device_parse (name, &device, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, name);
  ck_assert (!xp_key_parse (name, &key, &error));
  assert_error (error, XP_ERROR_UNKNOWN_KEY, name);
}

static int64_t
number_on (XpTensor *tensor, GError **error)
{
  XpOperator *op = xp_operator_get ("fixture::number", error);
  XpValue argument = xp_value_tensor (tensor), result;
  return op != NULL && xp_operator_call (op, &argument, &result, error) == XP_OK ? result.as.integer
                                                                                 : -1;
}

static void
assert_stale (XpTensor *tensor, const char *owner)
{
  GError *error = NULL;
  ck_assert_int_eq (number_on (tensor, &error), -1);
  ck_assert_ptr_nonnull (error);
  const XpErrorDetails *details = xp_error_get_details (error);
  ck_assert_str_eq (details->op, "fixture::number");
  ck_assert_str_eq (details->argument, "a");
  ck_assert_str_eq (details->key, "npu");
  ck_assert_str_eq (details->candidates[0], owner);
  g_autofree char *advice = g_strdup_printf (
      "argument 0 (a) is on the device 'npu', which is gone: %s has been unloaded; load %s again",
      owner, owner);
  assert_error (error, XP_ERROR_STALE_DEVICE, advice);
}

START_TEST (a_device_comes_and_goes_with_its_plugin)
{
  GError *error = NULL;
  load_fixture ("rows");
  g_autofree char *before = table_text ();
  assert_no_device ("npu");
  XpPlugin *plugin = load_fixture ("device");
  XpBackend npu = backend_named ("npu");
  XpTensor *tensor = tensor_of (XP_FUNCTIONALITY_Dense, npu);
  ck_assert_int_eq (number_on (tensor, &error), 20);
  assert_no_error (error);
  unload (plugin);
  assert_table (before);
  assert_no_device ("npu");
  assert_stale (tensor, "device");

  /* The same name gets a fresh bit while the tensor lives; that does not come back to life. */
  plugin = load_fixture ("device");
  XpBackend again = backend_named ("npu");
  ck_assert_int_ne (again, npu);
  assert_stale (tensor, "device");
  g_autoptr (XpTensor) fresh = tensor_of (XP_FUNCTIONALITY_Dense, again);
  ck_assert_int_eq (number_on (fresh, &error), 20);
  xp_tensor_unref (tensor);
  ck_assert_ptr_null (xp_backend_name (npu));
  unload (plugin);
  assert_table (before);
}
END_TEST

START_TEST (a_failed_load_leaves_no_device)
{
  load_fixture ("rows");
  g_autofree char *before = table_text ();
  uint64_t in_use = xp_backends_in_use ();
  assert_refused ("device_mistaken", XP_ERROR_INVALID_REGISTRATION, "elsewhere");
  assert_refused ("device_unsuitable", XP_ERROR_UNSUITABLE, "no such device");
  assert_refused ("device_taken", XP_ERROR_BACKEND_EXISTS, "taken by core");
  assert_no_device ("npu");
  ck_assert_uint_eq (xp_backends_in_use (), in_use);
  assert_table (before);
  XpPlugin *plugin = load_fixture ("device");
  ck_assert_int_eq (backend_named ("npu"), XP_BACKEND_FIRST_NAMED);
  assert_refused ("device_next", XP_ERROR_BACKEND_EXISTS, "'npu' is taken by device;");
  ck_assert_int_eq (backend_named ("npu"), XP_BACKEND_FIRST_NAMED);
  unload (plugin);
  assert_table (before);
}
END_TEST

START_TEST (nobody_sees_a_device_too_early)
{
  load_fixture ("rows");
  load_fixture ("device_looks");
  ck_assert_str_eq (g_getenv ("FIXTURE_DEVICE"), "not found");
  ck_assert_str_eq (g_getenv ("FIXTURE_DEVICE_AGAIN"), "the same");
  XpKey key;
  ck_assert (xp_key_parse ("npu", &key, NULL));
}
END_TEST

START_TEST (a_swap_hands_the_device_on)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *device = load_fixture ("device");
  XpBackend npu = backend_named ("npu");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, npu);
  g_autofree char *next = fixture_path ("device_next"), *other = fixture_path ("device_other");

  ck_assert_ptr_null (xp_plugin_swap (device, other, XP_SWAP_STRICT, NULL, &error));
  ck_assert_str_eq (xp_error_get_details (error)->candidates[0], "the device npu");
  assert_error (error, XP_ERROR_COVERAGE_LOST, "device_other lacks 2");
  assert_no_device ("tpu");
  ck_assert_int_eq (number_on (tensor, &error), 20);

  XpPlugin *successor = xp_plugin_swap (device, next, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  ck_assert_int_eq (backend_named ("npu"), npu);
  ck_assert_int_eq (number_on (tensor, &error), 21);
  assert_state (device, XP_PLUGIN_INACTIVE, "device_next is in its place");
  ck_assert (xp_plugin_undo (0, NULL, NULL, &error));
  assert_no_error (error);
  ck_assert_int_eq (number_on (tensor, &error), 20);
  assert_state (successor, XP_PLUGIN_UNLOADED, NULL);
  successor = xp_plugin_swap (device, next, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  ck_assert_int_eq (number_on (tensor, &error), 21);
  XpBackend again;
  ck_assert (!xp_backend_register ("npu", &again, &error));
  assert_error (error, XP_ERROR_BACKEND_EXISTS, "taken by device_next");
  unload (successor);
  assert_stale (tensor, "device_next");
}
END_TEST

START_TEST (memory_of_a_device_that_is_gone)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("device_memory");
  XpBackend npu = backend_named ("npu");
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (3), (XpDevice){ npu, 0 }, &error);
  assert_no_error (error);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_DRAINING, "1 thing");
  assert_stale (tensor, "device_memory");
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, XP_INTS (3), (XpDevice){ npu, 0 }, &error));
  assert_error (error, XP_ERROR_STALE_DEVICE, "'npu'");
  /* A view holds it too. */
  XpTensor *view = xp_tensor_new_view (tensor, XP_INTS (1), XP_INTS (1), 1, &error);
  assert_no_error (error);
  xp_tensor_unref (tensor);
  assert_stale (view, "device_memory");
  xp_tensor_unref (view);
  wait_for_state (plugin, XP_PLUGIN_UNLOADED);
  ck_assert_ptr_null (xp_backend_name (npu));
}
END_TEST

static unsigned
n_pins (XpPlugin *plugin)
{
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  return info->pin_count;
}

/* Tensors stay those of the plugin whose memory they have; new ones are of the new plugin. */
START_TEST (a_swap_with_live_tensors)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *old = load_fixture ("device_memory");
  XpDevice npu = { backend_named ("npu"), 0 };
  g_autofree char *path = fixture_path ("device_memory_next");
  XpTensor *first = xp_tensor_new (XP_FLOAT32, XP_INTS (3), npu, &error);
  XpPlugin *new_ = xp_plugin_swap (old, path, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  XpTensor *second = xp_tensor_new (XP_FLOAT32, XP_INTS (3), npu, &error);
  assert_no_error (error);
  ck_assert_int_eq (number_on (first, &error), 31);
  ck_assert_uint_eq (n_pins (old), 1);
  ck_assert_uint_eq (n_pins (new_), 1);

  ck_assert (xp_plugin_undo (0, NULL, NULL, &error));
  assert_no_error (error);
  assert_state (new_, XP_PLUGIN_DRAINING, "1 thing of it is still in use");
  XpTensor *third = xp_tensor_new (XP_FLOAT32, XP_INTS (3), npu, &error);
  assert_no_error (error);
  ck_assert_uint_eq (n_pins (old), 2);
  ck_assert_int_eq (number_on (second, &error), 23);
  xp_tensor_unref (second);
  wait_for_state (new_, XP_PLUGIN_UNLOADED);
  xp_tensor_unref (third);

  new_ = xp_plugin_swap (old, path, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  unload (new_);
  assert_state (old, XP_PLUGIN_DRAINING, "1 thing of it is still in use");
  xp_tensor_unref (first);
  wait_for_state (old, XP_PLUGIN_UNLOADED);

  /* Where the new one has no memory for the device, there is none. */
  old = load_fixture ("device_memory");
  npu.backend = backend_named ("npu");
  g_autofree char *without = fixture_path ("device_next");
  xp_plugin_swap (old, without, XP_SWAP_STRICT, NULL, &error);
  assert_no_error (error);
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, XP_INTS (3), npu, &error));
  g_clear_error (&error);
  ck_assert_uint_eq (n_pins (old), 0);
}
END_TEST

/* What comes with a load goes with it. */
START_TEST (memory_when_the_next_plugin_fails)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("device_memory");
  XpDevice npu = { backend_named ("npu"), 0 };
  g_autofree char *mistaken = fixture_path ("device_memory_mistaken");
  ck_assert_ptr_null (xp_plugin_swap (plugin, mistaken, XP_SWAP_STRICT, NULL, &error));
  ck_assert (g_error_matches (error, XP_ERROR, XP_ERROR_INVALID_REGISTRATION));
  g_clear_error (&error);
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (3), npu, &error);
  assert_no_error (error);
  ck_assert_int_eq (number_on (tensor, &error), 23);
  g_autoptr (XpPluginInfo) info = xp_plugin_info (plugin);
  ck_assert_uint_eq (info->pin_count, 1);
  xp_tensor_unref (tensor);
  unload (plugin);
}
END_TEST

/* Its constructors do not run again, so its bit waits for it. */
START_TEST (a_resident_plugin_takes_its_device_up_again)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("device_resident");
  XpBackend npu = backend_named ("npu");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, npu);
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_RETIRED, "thread");
  assert_no_device ("npu");
  assert_stale (tensor, "device_resident");
  XpPlugin *other = load_fixture ("device");
  ck_assert_int_ne (backend_named ("npu"), npu);
  assert_refused ("device_resident", XP_ERROR_BACKEND_EXISTS, "taken by device;");
  unload (other);
  load_fixture ("device_resident");
  ck_assert_int_eq (backend_named ("npu"), npu);
  ck_assert_int_eq (number_on (tensor, &error), 26);
  assert_no_error (error);
  g_autoptr (XpTensor) fresh = xp_tensor_new (XP_FLOAT32, XP_INTS (3), (XpDevice){ npu, 0 },
                                              &error);
  assert_no_error (error);
}
END_TEST

/* What it registers in its fini would come with it when it is loaded again. */
START_TEST (a_fini_registers_no_device)
{
  load_fixture ("rows");
  XpPlugin *plugin = load_fixture ("device_last");
  g_autofree char *loaded = table_text ();
  unload (plugin);
  assert_state (plugin, XP_PLUGIN_RETIRED, "thread");
  ck_assert_ptr_nonnull (strstr (g_getenv ("FIXTURE_DEVICE"),
                                 "device_last registers the device 'last', but it is not loaded"));
  assert_no_device ("last");
  ck_assert_ptr_eq (load_fixture ("device_last"), plugin);
  assert_no_device ("last");
  assert_table (loaded);
}
END_TEST

START_TEST (a_device_that_others_fill_stays)
{
  GError *error = NULL;
  load_fixture ("rows");
  XpPlugin *device = load_fixture ("device");
  XpPlugin *kernels = load_fixture ("device_kernels");
  g_autofree char *before = table_text ();
  ck_assert (!xp_plugin_unload (device, &error));
  ck_assert_str_eq (xp_error_get_details (error)->candidates[0], "device_kernels");
  assert_error (error, XP_ERROR_IN_USE, "device_kernels fills fixture::number [Sparsenpu]");
  assert_state (device, XP_PLUGIN_LOADED, NULL);
  assert_table (before);
  ck_assert (!xp_backend_unregister ("npu", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "it belongs to device");
  unload (kernels);
  unload (device);
  assert_refused ("device_kernels", XP_ERROR_UNKNOWN_KEY, "Sparsenpu");
}
END_TEST

/* Devices come and go while other threads make tensors of them and call. */
static int stop, n_made, n_wrong;

static void *
use_the_device (G_GNUC_UNUSED void *data)
{
  while (!__atomic_load_n (&stop, __ATOMIC_RELAXED))
    {
      GError *error = NULL;
      XpDevice device;
      if (!xp_device_parse ("npu", &device, NULL))
        continue;
      XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (1), device, NULL);
      if (tensor == NULL)
        continue;
      const char *name = xp_backend_name ((XpBackend) device.backend);
      int64_t number = number_on (tensor, &error);
      bool fits = name != NULL && strcmp (name, "npu") == 0
                  && (number == 23 || g_error_matches (error, XP_ERROR, XP_ERROR_STALE_DEVICE)
                      || g_error_matches (error, XP_ERROR, XP_ERROR_MISSING_KERNEL));
      __atomic_add_fetch (fits ? &n_made : &n_wrong, 1, __ATOMIC_RELAXED);
      xp_tensor_unref (tensor);
      g_clear_error (&error);
    }
  return NULL;
}

START_TEST (devices_under_traffic)
{
  load_fixture ("rows");
  GThread *threads[2];
  for (unsigned i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("device", use_the_device, NULL);
  gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  for (unsigned i = 0; (i < 50 || __atomic_load_n (&n_made, __ATOMIC_RELAXED) < 100)
                       && g_get_monotonic_time () < end;
       i++)
    {
      XpPlugin *plugin = load_fixture ("device_memory");
      g_usleep (500);
      unload (plugin);
    }
  __atomic_store_n (&stop, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  ck_assert_int_eq (n_wrong, 0);
  ck_assert_int_ge (n_made, 100);
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("devices");
  TCase *devices = tcase_create ("devices");
  tcase_set_timeout (devices, 60);
  tcase_add_test (devices, a_device_comes_and_goes_with_its_plugin);
  tcase_add_test (devices, a_failed_load_leaves_no_device);
  tcase_add_test (devices, nobody_sees_a_device_too_early);
  tcase_add_test (devices, a_swap_hands_the_device_on);
  tcase_add_test (devices, a_swap_with_live_tensors);
  tcase_add_test (devices, memory_of_a_device_that_is_gone);
  tcase_add_test (devices, memory_when_the_next_plugin_fails);
  tcase_add_test (devices, a_resident_plugin_takes_its_device_up_again);
  tcase_add_test (devices, a_fini_registers_no_device);
  tcase_add_test (devices, a_device_that_others_fill_stays);
  tcase_add_test (devices, devices_under_traffic);
  suite_add_tcase (suite, devices);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
