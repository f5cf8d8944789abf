/* SPDX-License-Identifier: MIT
 *
 * devices.c: devices that one thread registers and gives back while another publishes rows, asks
 * for the same name, or compares the table with its rules.
 */
#include "table/blocks.h"

#include <sys/mman.h>
#include <sys/syscall.h>
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

static void
register_some (unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("dev%u", i);
      registered (name);
    }
}

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
enum
{
  N_DEVICES = 7, /* no more fit into the blocks that are made while these are there */
  LATE = XP_BACKEND_FIRST_NAMED + N_DEVICES
};

static bool is_armed, is_wanted;
static char *lines;

/* Stands before the C library's. The cells of rows come from it, many blocks at a time, when the
 * size of the first of these is settled already: then another thread gets a bit. */
void *
mmap (void *address, size_t n_bytes, int protection, int flags, int file, off_t offset)
{
  void *memory = (void *) syscall (SYS_mmap, address, n_bytes, protection, flags, file, offset);
  if (!is_armed || (flags & MAP_POPULATE) == 0)
    return memory;
  is_armed = false;
  lines = memory;
  __atomic_store_n (&is_wanted, true, __ATOMIC_RELEASE);
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;
  while (xp_backend_name ((XpBackend) LATE) == NULL && g_get_monotonic_time () < end)
    g_thread_yield ();
  return memory;
}

static void *
register_late (G_GNUC_UNUSED void *data)
{
  while (!__atomic_load_n (&is_wanted, __ATOMIC_ACQUIRE))
    g_thread_yield ();
  ck_assert_int_eq (registered ("late"), LATE);
  return NULL;
}

START_TEST (a_bit_that_comes_while_a_row_is_published)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  g_autoptr (XpLibrary) everywhere = impl_new ("op", "CompositeImplicitAutograd");
  register_some (N_DEVICES);
  GThread *thread = g_thread_new ("late", register_late, NULL);
  is_armed = true;
  for (unsigned i = 0; is_armed && i < 1000; i++)
    {
      g_autofree char *name = g_strdup_printf ("foo%u", i);
      g_autofree char *schema = g_strconcat (name, "(Tensor x) -> Tensor", NULL);
      define (rows, schema);
      record_at (everywhere, name, 1);
    }
  ck_assert_ptr_nonnull (lines);
  g_thread_join (thread);
  /* After the first block comes the next one's head, most of which is left empty. */
  const XpCell *cells = (const XpCell *) (lines + 64);
  for (unsigned i = 2; i < 6; i++)
    ck_assert_ptr_null (cells[xp_row_stripe (XP_BIT (LATE)) + i].kernel);
  assert_table_is_sound ();
}
END_TEST
#endif

static unsigned n_met;

/* Both threads leave together. */
static void
meet (void)
{
  unsigned round = __atomic_fetch_add (&n_met, 1, __ATOMIC_SEQ_CST) / 2;
  while (__atomic_load_n (&n_met, __ATOMIC_SEQ_CST) / 2 == round)
    g_thread_yield ();
}

static int n_had, n_refused, n_too_early, n_other;

/* Who is told that the device is there can use it. */
static void
ask_for_the_device (void)
{
  static const XpLayoutClass layout = { sizeof layout, XP_STRIDED, XP_FUNCTIONALITY_Dense,
                                        (void (*) (void *)) g_free, NULL };
  GError *error = NULL;
  XpBackend backend;
  if (!xp_backend_register ("npu", &backend, &error))
    {
      bool is_known = g_error_matches (error, XP_ERROR, XP_ERROR_BACKEND_EXISTS)
                      && strstr (error->message, "'npu' is taken by a device that is just being");
      __atomic_add_fetch (is_known ? &n_refused : &n_other, 1, __ATOMIC_RELAXED);
      g_error_free (error);
      return;
    }
  XpTensor *tensor = xp_tensor_new_with_layout (&layout, NULL, XP_FLOAT32, XP_INTS (1),
                                                (XpDevice){ backend, 0 }, NULL);
  __atomic_add_fetch (tensor != NULL ? &n_had : &n_too_early, 1, __ATOMIC_RELAXED);
  if (tensor != NULL)
    xp_tensor_unref (tensor);
}

enum
{
  MOST_ROUNDS = 1000
};

static bool is_over;

static void *
ask_too (G_GNUC_UNUSED void *data)
{
  for (meet (); !is_over; meet ())
    {
      ask_for_the_device ();
      meet ();
    }
  return NULL;
}

/* Where the processors are busy with others, each meeting costs whole slices of their time. */
START_TEST (two_ask_for_one_name)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  for (unsigned i = 0; i < 50; i++) /* so that publishing takes a while */
    {
      g_autofree char *schema = g_strdup_printf ("foo%u(Tensor x) -> Tensor", i);
      define (rows, schema);
    }
  GThread *thread = g_thread_new ("asks", ask_too, NULL);
  int n_rounds = 0;
  gint64 end = g_get_monotonic_time () + 5 * G_TIME_SPAN_SECOND;
  for (; n_rounds < MOST_ROUNDS && g_get_monotonic_time () < end; n_rounds++)
    {
      meet ();
      ask_for_the_device ();
      meet ();
      unregister ("npu");
    }
  is_over = true;
  meet ();
  g_thread_join (thread);
  ck_assert_int_eq (n_other, 0);
  ck_assert_int_eq (n_too_early, 0);
  ck_assert_int_eq (n_had + n_refused, 2 * n_rounds);
  ck_assert_int_ge (n_had, n_rounds);
  assert_table_is_sound ();
}
END_TEST

/* Devices come and go, some of whose tensors outlive them for a while. */
static void *
churn (void *data)
{
  XpTensor *kept[20] = { NULL };
  for (unsigned i = 0; !__atomic_load_n (&is_over, __ATOMIC_RELAXED); i++)
    {
      g_autofree char *name = g_strdup_printf ("%s%u", (const char *) data, i % 13);
      XpTensor **place = &kept[i * 7 % G_N_ELEMENTS (kept)];
      g_clear_pointer (place, xp_tensor_unref);
      *place = tensor_of (XP_FUNCTIONALITY_Dense, registered (name));
      unregister (name);
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (kept); i++)
    g_clear_pointer (&kept[i], xp_tensor_unref);
  return NULL;
}

START_TEST (the_table_is_sound_at_every_moment)
{
  static const char *const keys[] = { "CPU", "Autograd", "CompositeExplicitAutograd" };
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  XpLibrary *blocks[G_N_ELEMENTS (keys)];
  for (unsigned i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autofree char *name = g_strdup_printf ("foo%u", i);
      g_autofree char *schema = g_strconcat (name, "(Tensor x) -> Tensor", NULL);
      define (rows, schema);
      blocks[i] = impl_new ("op", keys[i]);
      record_at (blocks[i], name, 1);
    }
  GThread *threads[] = { g_thread_new ("churn", churn, (void *) "one"),
                         g_thread_new ("churn", churn, (void *) "two") };
  gint64 end = g_get_monotonic_time () + 2 * G_TIME_SPAN_SECOND;
  while (g_get_monotonic_time () < end)
    {
      GError *error = NULL;
      ck_assert_msg (xp_table_check (&error), "%.200s", error->message);
      /* A row alone is published while bits come and go. */
      g_autoptr (XpLibrary) more = impl_new ("op", "CompositeImplicitAutograd");
      record_at (more, "foo0", 2);
    }
  __atomic_store_n (&is_over, true, __ATOMIC_RELAXED);
  for (unsigned i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  assert_table_is_sound ();
  for (unsigned i = 0; i < G_N_ELEMENTS (blocks); i++)
    xp_library_free (blocks[i]);
}
END_TEST

/* A device comes with a kernel of op::foo and goes with it. */
static void *
churn_with_a_kernel (G_GNUC_UNUSED void *data)
{
  while (!__atomic_load_n (&is_over, __ATOMIC_RELAXED))
    {
      registered ("npu");
      XpLibrary *block = impl_new ("op", "npu");
      record_at (block, "foo", 1);
      g_usleep (10); /* for others to look */
      xp_library_free (block);
      unregister ("npu");
    }
  return NULL;
}

/* What is registered to a key without a cell, of a device that was not there yet. */
static bool
has_a_cell (const XpRowInfo *info, XpKey key)
{
  for (unsigned i = 0; i < info->n_cells; i++)
    if (info->cells[i].key == key)
      return true;
  return false;
}

START_TEST (a_row_is_of_one_moment)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  define (rows, "foo(Tensor x) -> Tensor");
  GThread *thread = g_thread_new ("churn", churn_with_a_kernel, NULL);
  unsigned n_seen = 0;
  gint64 end = g_get_monotonic_time () + G_TIME_SPAN_SECOND;
  /* Longer where the other thread has not come to run. */
  while (g_get_monotonic_time () < end + (n_seen == 0 ? 20 * G_TIME_SPAN_SECOND : 0))
    {
      XpRowInfo *info = xp_table_row ("op::foo");
      for (unsigned i = 0; i < info->n_registrations; i++, n_seen++)
        ck_assert (has_a_cell (info, info->registrations[i].key));
      xp_row_info_free (info);
    }
  __atomic_store_n (&is_over, true, __ATOMIC_RELAXED);
  g_thread_join (thread);
  ck_assert_uint_gt (n_seen, 0);
}
END_TEST

/* Whoever looked at the head of a row without kernels looks into the block that it gets. */
START_TEST (a_block_has_a_stripe_for_every_backend_ever_seen)
{
  g_autoptr (XpLibrary) rows = fragment_new ("op");
  g_autoptr (XpLibrary) cpu = impl_new ("op", "CPU");
  register_some (10);
  define (rows, "foo(Tensor x) -> Tensor");
  define (rows, "bar(Tensor x) -> Tensor");
  const XpOperator *foo = operator_named ("op::foo"), *bar = operator_named ("op::bar");
  uint64_t seen = foo->backends;
  ck_assert_uint_eq (seen & xp_backends_in_use (), xp_backends_in_use ());
  for (unsigned i = 0; i < 10; i++)
    {
      g_autofree char *name = g_strdup_printf ("dev%u", i);
      unregister (name);
    }
  record_at (cpu, "foo", 1);
  record_at (cpu, "bar", 2);
  seen |= foo->backends;
  /* One block lies behind the other. */
  ck_assert (bar->cells > foo->cells);
  for (; seen != 0; seen &= seen - 1)
    {
      unsigned stripe = xp_row_stripe (seen & -seen);
      ck_assert_int_le (stripe + XP_ROW_STRIPE, bar->cells - foo->cells);
      ck_assert_uint_eq (foo->cells[stripe].unmasked & XP_BIT (0), 0);
    }
  assert_table_is_sound ();
}
END_TEST

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("devices");
  TCase *devices = tcase_create ("devices");
  tcase_set_timeout (devices, 30);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
  tcase_add_test (devices, a_bit_that_comes_while_a_row_is_published);
#endif
  tcase_add_test (devices, a_block_has_a_stripe_for_every_backend_ever_seen);
  tcase_add_test (devices, two_ask_for_one_name);
  tcase_add_test (devices, the_table_is_sound_at_every_moment);
  tcase_add_test (devices, a_row_is_of_one_moment);
  suite_add_tcase (suite, devices);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
