/* SPDX-License-Identifier: MIT
 *
 * devices.c: named devices of the program: given back and registered again, what calls with their
 * tensors say, and how large rows become.
 */
#include "table/blocks.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

static XpBackend
registered (const char *name)
{
  GError *error = NULL;
  XpBackend backend;
  xp_backend_register (name, &backend, &error);
  assert_no_error (error);
  return backend;
}

static void
unregister (const char *name)
{
  GError *error = NULL;
  xp_backend_unregister (name, &error);
  assert_no_error (error);
}

START_TEST (forty_at_once)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  define (rows, "foo(Tensor x) -> Tensor");
  XpLibrary *blocks[40];
  XpTensor *tensors[40], *gradients[40];
  XpKeySet all = { XP_BIT (XP_FUNCTIONALITY_Dense), 0 };
  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      /* Registered in another order than that of their names. */
      g_autofree char *name = g_strdup_printf ("dev%02u", i * 7 % 40);
      g_autofree char *autograd = g_strconcat ("Autograd", name, NULL);
      XpBackend backend = registered (name);
      all.backend |= XP_BIT (backend);
      tensors[i] = tensor_of (XP_FUNCTIONALITY_Dense, backend);
      gradients[i] = tensor_of (XP_FUNCTIONALITY_Sparse, backend);
      blocks[i] = impl_new ("op", name);
      record_at (blocks[i], "foo", (int) i + 1);
      g_autoptr (XpLibrary) own = impl_new ("op", autograd);
      record_at (own, "foo", (int) i + 101);
      ck_assert_int_eq (line_called ("op::foo", tensors[i]), (int) i + 101);
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    ck_assert_int_eq (line_called ("op::foo", tensors[i]), (int) i + 1);
  assert_table_is_sound ();
  g_autofree char *text = xp_key_set_to_string (all);
  for (unsigned i = 0; i + 1 < G_N_ELEMENTS (blocks); i++)
    {
      g_autofree char *pair = g_strdup_printf ("dev%02u, dev%02u", i, i + 1);
      ck_assert_msg (strstr (text, pair) != NULL, "%s is not in %s", pair, text);
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      g_autofree char *name = g_strdup_printf ("dev%02u", i * 7 % 40);
      xp_library_free (blocks[i]);
      unregister (name);
      xp_tensor_unref (tensors[i]);
      xp_tensor_unref (gradients[i]);
    }
  assert_table_is_sound ();
}
END_TEST

static void
assert_stale (const char *op, const XpValue *arguments, const char *part)
{
  GError *error = NULL;
  ran = 0;
  ck_assert_int_eq (call_named (op, arguments, &error), XP_FAILED);
  ck_assert_int_eq (ran, 0);
  assert_error (error, XP_ERROR_STALE_DEVICE, part);
}

/* Reports, test 32. */
START_TEST (a_name_that_comes_back_is_another_device)
{
  g_autoptr (XpLibrary) rows = fragment_new ("t");
  define (rows, "id(Tensor x) -> Tensor");
  XpLibrary *blocks[16];
  XpTensor *tensors[16];
  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      g_autofree char *name = g_strdup_printf ("dev%u", i);
      tensors[i] = tensor_of (XP_FUNCTIONALITY_Dense, registered (name));
      blocks[i] = impl_new ("t", name);
      record_at (blocks[i], "id", (int) i);
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    ck_assert_int_eq (line_called ("t::id", tensors[i]), (int) i);
  /* Its owner gets the same one; of others, see plugin/devices.c: a_failed_load_leaves_no_device.
   */
  ck_assert_int_eq (registered ("dev0"), xp_tensor_device (tensors[0]).backend);

  xp_library_free (blocks[3]);
  unregister ("dev3");
  XpValue old = xp_value_tensor (tensors[3]);
  assert_stale ("t::id", &old, "is on the device 'dev3', which is gone");
  g_autoptr (XpTensor) fresh = tensor_of (XP_FUNCTIONALITY_Dense, registered ("dev3"));
  blocks[3] = impl_new ("t", "dev3");
  record_at (blocks[3], "id", 99);
  ck_assert_int_eq (line_called ("t::id", fresh), 99);
  assert_stale ("t::id", &old, "is on the device 'dev3', which is gone");
  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    {
      if (i != 3)
        ck_assert_int_eq (line_called ("t::id", tensors[i]), (int) i);
      xp_library_free (blocks[i]);
      xp_tensor_unref (tensors[i]);
    }
  assert_table_is_sound ();
}
END_TEST

START_TEST (every_kind_of_call_is_told)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  define (rows, "foo(Tensor x) -> Tensor");
  define (rows, "two(Tensor a, Tensor b) -> Tensor");
  define_tagged (rows, "mixed(Tensor a, Tensor b) -> Tensor", "mixed_devices");
  define (rows, "list(Tensor[] all) -> Tensor");
  static const char *const names[] = { "foo", "two", "mixed", "list" };
  static const char *const keys[] = { "CPU", "Meta", "CompositeImplicitAutograd", "Autograd" };
  XpLibrary *blocks[G_N_ELEMENTS (keys)];
  for (unsigned i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      blocks[i] = impl_new ("op", keys[i]);
      for (unsigned j = 0; j < G_N_ELEMENTS (names); j++)
        record_at (blocks[i], names[j], (int) i + 1);
    }
  XpBackend npu = registered ("npu");
  g_autoptr (XpTensor) stale = tensor_of (XP_FUNCTIONALITY_Dense, npu);
  g_autoptr (XpTensor) sparse = tensor_of (XP_FUNCTIONALITY_Sparse, npu);
  g_autoptr (XpTensor) cpu = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  g_autoptr (XpTensor) meta = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_Meta);
  unregister ("npu");
  assert_table_is_sound ();

  XpValue one = xp_value_tensor (stale);
  assert_stale ("op::foo", &one,
                "op::foo: argument 0 (x) is on the device 'npu', which is gone: "
                "the program has given it back; register it again");
  one = xp_value_tensor (sparse);
  assert_stale ("op::foo", &one, "argument 0 (x)");
  XpValue with_cpu[] = { xp_value_tensor (cpu), xp_value_tensor (stale) };
  assert_stale ("op::two", with_cpu, "argument 1 (b) is on the device 'npu'");
  assert_stale ("op::mixed", with_cpu, "argument 1 (b)");
  XpValue with_meta[] = { xp_value_tensor (stale), xp_value_tensor (meta) };
  assert_stale ("op::two", with_meta, "argument 0 (a)");
  assert_stale ("op::mixed", with_meta, "argument 0 (a)");
  XpTensor *tensors[] = { cpu, stale };
  g_auto (XpValue) list = xp_value_list (xp_list_new_tensor (tensors, 2));
  assert_stale ("op::list", &list, "argument 0 (all)");
  {
    XP_BELOW_AUTOGRAD ();
    one = xp_value_tensor (stale);
    assert_stale ("op::foo", &one, "argument 0 (x)");
  }
  GError *error = NULL;
  XpValue none = XP_NONE, result;
  xp_operator_redispatch (operator_named ("op::foo"), stale->keys, &none, &result, &error);
  assert_error (error, XP_ERROR_STALE_DEVICE, "a redispatch, is on the device 'npu'");

  /* A row that is opened only now says the same. */
  define (rows, "late(Tensor x) -> Tensor");
  assert_stale ("op::late", &one, "argument 0 (x)");
  assert_table_is_sound ();
  g_autofree char *text = xp_key_set_to_string (xp_key_set_remove (stale->keys, XP_KEY_Autograd));
  ck_assert_ptr_nonnull (strstr (text, "npu"));
  for (unsigned i = 0; i < G_N_ELEMENTS (keys); i++)
    xp_library_free (blocks[i]);
}
END_TEST

START_TEST (a_tombstone_is_free_when_its_last_tensor_dies)
{
  GError *error = NULL;
  XpBackend first = registered ("npu"), other;
  XpTensor *tensor = tensor_of (XP_FUNCTIONALITY_Dense, first);
  XpTensor *second = tensor_of (XP_FUNCTIONALITY_Sparse, first);
  unregister ("npu");
  ck_assert_int_eq (xp_backends_in_use () >> first & 1, 0);
  ck_assert_str_eq (xp_backend_name (first), "npu");
  XpBackend fresh = registered ("npu");
  ck_assert_int_ne (fresh, first);
  xp_tensor_unref (tensor);
  ck_assert_str_eq (xp_backend_name (first), "npu");
  xp_tensor_unref (second);
  ck_assert_ptr_null (xp_backend_name (first));
  /* The bit goes to another device, whose tensors are its own. */
  other = registered ("tpu");
  ck_assert_int_eq (other, first);
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  g_autoptr (XpLibrary) tpu = impl_new ("op", "tpu");
  define (rows, "foo(Tensor x) -> Tensor");
  record_at (tpu, "foo", 7);
  g_autoptr (XpTensor) on_tpu = tensor_of (XP_FUNCTIONALITY_Dense, other);
  ck_assert_int_eq (line_called ("op::foo", on_tpu), 7);

  ck_assert (!xp_backend_unregister ("tpu", &error));
  assert_error (error, XP_ERROR_IN_USE,
                "the program fills op::foo [tpu], registered at kernel.c:7");
  ck_assert_int_eq (line_called ("op::foo", on_tpu), 7);
  ck_assert (!xp_backend_unregister ("vpu", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "no device 'vpu'");
  ck_assert (!xp_backend_unregister ("CPU", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "belongs to core");
}
END_TEST

/* A block for a device does not fill the cells of the next device that gets the bit. */
START_TEST (a_block_outlives_its_device)
{
  GError *error = NULL;
  XpBackend npu = registered ("npu");
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  g_autoptr (XpLibrary) block = impl_new ("op", "npu");
  define (rows, "foo(Tensor x) -> Tensor");
  unregister ("npu");
  const XpImplementation kernel = {
    .size = sizeof kernel, .name = "foo", .boxed = recording_kernel, .file = "kernel.c", .line = 1
  };
  ck_assert (!xp_library_impl (block, &kernel, &error));
  assert_error (error, XP_ERROR_STALE_DEVICE, "the block at block.c:1");
  ck_assert_int_eq (registered ("tpu"), npu);
  ck_assert (!xp_library_impl (block, &kernel, &error));
  assert_error (error, XP_ERROR_STALE_DEVICE, "the block at block.c:1");
  assert_table_is_sound ();
}
END_TEST

/* Nor is the next device given its memory. */
START_TEST (memory_goes_with_the_device)
{
  static const XpMemoryClass none = { sizeof none, NULL, NULL, NULL, NULL };
  GError *error = NULL;
  XpBackend npu = registered ("npu");
  xp_backend_set_memory (npu, &none);
  XpTensor *tensor = xp_tensor_new (XP_FLOAT32, XP_INTS (1), (XpDevice){ npu, 0 }, &error);
  assert_no_error (error);
  xp_tensor_unref (tensor);
  unregister ("npu");
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, XP_INTS (1), (XpDevice){ npu, 0 }, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "the bit of no backend");
  ck_assert_int_eq (registered ("tpu"), npu);
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, XP_INTS (1), (XpDevice){ npu, 0 }, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "memory for the device 'tpu:0'");
}
END_TEST

/* The device is given back between the first look at it and the tensor. */
static void *
allocate_too_late (G_GNUC_UNUSED int index, size_t n_bytes)
{
  unregister ("npu");
  return g_malloc (n_bytes);
}

static void
deallocate (G_GNUC_UNUSED int index, void *memory, G_GNUC_UNUSED size_t n_bytes)
{
  g_free (memory);
}

START_TEST (a_tensor_that_comes_too_late)
{
  static const XpMemoryClass memory = { sizeof memory, allocate_too_late, deallocate, NULL, NULL };
  GError *error = NULL;
  XpBackend npu = registered ("npu");
  xp_backend_set_memory (npu, &memory);
  ck_assert_ptr_null (xp_tensor_new (XP_FLOAT32, XP_INTS (1), (XpDevice){ npu, 0 }, &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "the bit of no backend");
  ck_assert_ptr_null (xp_backend_name (npu));
}
END_TEST

/* The program's own devices under traffic: names never change while a tensor is there. */
static int stop, n_made, n_wrong;

static void *
make_tensors (G_GNUC_UNUSED void *data)
{
  while (!__atomic_load_n (&stop, __ATOMIC_RELAXED))
    {
      static const XpLayoutClass layout = { sizeof layout, XP_STRIDED, XP_FUNCTIONALITY_Dense,
                                            (void (*) (void *)) g_free, NULL };
      XpDevice device = { XP_BACKEND_FIRST_NAMED, 0 };
      XpTensor *tensor = xp_tensor_new_with_layout (&layout, NULL, XP_FLOAT32, XP_INTS (1), device,
                                                    NULL);
      if (tensor == NULL)
        continue;
      const char *name = xp_backend_name ((XpBackend) device.backend);
      for (unsigned i = 0; i < 50; i++)
        if (name == NULL || xp_backend_name ((XpBackend) device.backend) != name)
          __atomic_add_fetch (&n_wrong, 1, __ATOMIC_RELAXED);
      __atomic_add_fetch (&n_made, 1, __ATOMIC_RELAXED);
      xp_tensor_unref (tensor);
    }
  return NULL;
}

START_TEST (tensors_hold_their_device)
{
  GThread *threads[2];
  for (unsigned i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("tensors", make_tensors, NULL);
  gint64 end = g_get_monotonic_time () + G_TIME_SPAN_SECOND;
  for (unsigned i = 0; g_get_monotonic_time () < end || n_made < 100; i++)
    {
      g_autofree char *name = g_strdup_printf ("dev%u", i % 7);
      registered (name);
      unregister (name);
    }
  __atomic_store_n (&stop, 1, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  ck_assert_int_eq (n_wrong, 0);
  ck_assert_uint_eq (xp_backends_in_use () >> XP_BACKEND_FIRST_NAMED & 0xffffffff, 0);
}
END_TEST

START_TEST (a_thousand_cycles)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  define (rows, "foo(Tensor x) -> Tensor");
  g_autofree char *before = whole_table ();
  size_t settled = 0;
  for (unsigned i = 0; i < 1000; i++)
    {
      g_autofree char *name = g_strdup_printf ("dev%u", i % 10);
      XpBackend backend = registered (name);
      ck_assert_int_eq (backend, XP_BACKEND_FIRST_NAMED);
      XpLibrary *block = impl_new ("op", name);
      record_at (block, "foo", (int) i + 1);
      XpTensor *tensor = tensor_of (XP_FUNCTIONALITY_Dense, backend);
      ck_assert_int_eq (line_called ("op::foo", tensor), (int) i + 1);
      xp_library_free (block);
      unregister (name);
      xp_tensor_unref (tensor);
      if (i == 100)
        settled = mallinfo2 ().uordblks;
    }
  /* Nothing is left behind but what a few allocations more or less make. */
  ck_assert_uint_le (mallinfo2 ().uordblks, settled + 4096);
  g_autofree char *after = whole_table ();
  ck_assert_str_eq (after, before);
  assert_table_is_sound ();
}
END_TEST

#ifndef __SANITIZE_ADDRESS__
enum
{
  N_ROWS = 3000 /* many, for the cells come 256 KiB at a time */
};

/* What the process holds. The cells of rows do not come from malloc. */
static size_t
bytes_in_use (void)
{
  unsigned long pages = 0;
  FILE *file = fopen ("/proc/self/statm", "r");
  ck_assert_ptr_nonnull (file);
  ck_assert_int_eq (fscanf (file, "%*u %lu", &pages), 1);
  fclose (file);
  return pages * (size_t) sysconf (_SC_PAGESIZE);
}

static char *
row_schema (unsigned i)
{
  return g_strdup_printf ("row_%04u(Tensor x) -> Tensor", i);
}

/* The bytes that the table takes for each of some rows with a kernel, without their schemas. */
static size_t
size_of_rows (XpLibrary *rows, XpLibrary *cpu, unsigned first)
{
  XpSchema *schemas[N_ROWS];
  size_t before = bytes_in_use ();
  for (unsigned i = 0; i < N_ROWS; i++)
    {
      g_autofree char *schema = row_schema (first + i);
      schemas[i] = xp_schema_parse (schema, NULL);
    }
  size_t of_schemas = bytes_in_use () - before;
  before = bytes_in_use ();
  for (unsigned i = first; i < first + N_ROWS; i++)
    {
      g_autofree char *schema = row_schema (i);
      g_autofree char *name = g_strndup (schema, strlen ("row_0000"));
      define (rows, schema);
      record_at (cpu, name, 1);
    }
  size_t of_rows = bytes_in_use () - before;
  for (unsigned i = 0; i < N_ROWS; i++)
    xp_schema_unref (schemas[i]);
  return (of_rows - of_schemas) / N_ROWS;
}

START_TEST (rows_stay_small)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  g_autoptr (XpLibrary) cpu = impl_new ("op", "CPU");
  size_t bare = size_of_rows (rows, cpu, 0);
  ck_assert_uint_gt (bare, 1536); /* the cells alone */
  size_t before = bytes_in_use ();
  for (unsigned i = 0; i < 4; i++) /* twenty with those that are built in */
    {
      g_autofree char *name = g_strdup_printf ("dev%u", i);
      registered (name);
    }
  size_t grown = bare + (bytes_in_use () - before) / N_ROWS;
  size_t with_devices = size_of_rows (rows, cpu, N_ROWS);
  ck_assert_msg (grown < 4 * 1024 && with_devices < 4 * 1024,
                 "a row takes %zu bytes, with four devices %zu, and %zu if it was there before "
                 "them",
                 bare, with_devices, grown);
}
END_TEST
#endif

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("devices");
  TCase *devices = tcase_create ("devices");
  tcase_set_timeout (devices, 30);
  tcase_add_test (devices, forty_at_once);
  tcase_add_test (devices, a_name_that_comes_back_is_another_device);
  tcase_add_test (devices, every_kind_of_call_is_told);
  tcase_add_test (devices, a_tombstone_is_free_when_its_last_tensor_dies);
  tcase_add_test (devices, a_block_outlives_its_device);
  tcase_add_test (devices, memory_goes_with_the_device);
  tcase_add_test (devices, a_tensor_that_comes_too_late);
  tcase_add_test (devices, tensors_hold_their_device);
  tcase_add_test (devices, a_thousand_cycles);
#ifndef __SANITIZE_ADDRESS__
  tcase_add_test (devices, rows_stay_small);
#endif
  suite_add_tcase (suite, devices);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
