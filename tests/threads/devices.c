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
  suite_add_tcase (suite, devices);
  return suite;
}

int
main (void)
{
  return run_suite (make_suite ());
}
