/* SPDX-License-Identifier: MIT
 *
 * withdrawn.c: a cell that changes between the two looks of a call, whichever way it comes in: the
 * frame is withdrawn, and the call goes to the kernel that is there now.
 *
 * The page of the frame is made read-only, so that the store between the two looks faults, and the
 * handler registers another kernel.
 */
#include "calls.h"
#include "table/blocks.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

static XpLibrary *newer;
static void *page;
static size_t page_size;
static unsigned n_faults;
static char ran_last;

static XpStatus
old_kernel (G_GNUC_UNUSED XpCall *call, XpTensor *self, XpTensor **result,
            G_GNUC_UNUSED GError **error)
{
  ran_last = 'o';
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static XpStatus
new_kernel (XpCall *call, XpTensor *self, XpTensor **result, G_GNUC_UNUSED GError **error)
{
  ck_assert_ptr_eq (call, xp_thread.top - 1);
  ran_last = 'n';
  *result = xp_tensor_ref (self);
  return XP_OK;
}

static void
change_cell (int number, siginfo_t *fault, G_GNUC_UNUSED void *context)
{
  if ((size_t) ((char *) fault->si_addr - (char *) page) >= page_size)
    {
      signal (number, SIG_DFL);
      return;
    }
  n_faults++;
  mprotect (page, page_size, PROT_READ | PROT_WRITE);
  xp_impl_calls_unary (newer, new_kernel);
}

typedef XpStatus (*Way) (XpTensor *tensor, XpTensor **result, GError **error);

static XpStatus
redispatch (XpTensor *tensor, XpTensor **result, GError **error)
{
  return xp_calls_unary_redispatch (xp_key_set (XP_KEY_CPU), tensor, result, error);
}

static XpStatus
call_boxed (XpTensor *tensor, XpTensor **result, GError **error)
{
  XpValue argument = xp_value_tensor (tensor), given;
  XpStatus status = xp_operator_call (operator_named ("calls::unary"), &argument, &given, error);
  *result = given.as.tensor;
  return status;
}

static XpStatus
redispatch_boxed (XpTensor *tensor, XpTensor **result, GError **error)
{
  XpValue argument = xp_value_tensor (tensor), given;
  XpStatus status = xp_operator_redispatch (operator_named ("calls::unary"),
                                            xp_key_set (XP_KEY_CPU), &argument, &given, error);
  *result = given.as.tensor;
  return status;
}

static const Way ways[] = { xp_calls_unary, redispatch, call_boxed, redispatch_boxed };

static void
call_and_compare (Way way, XpTensor *tensor, char expected)
{
  g_autoptr (XpTensor) result = NULL;
  GError *error = NULL;
  ran_last = '-';
  way (tensor, &result, &error);
  assert_no_error (error);
  ck_assert_ptr_eq (result, tensor);
  ck_assert_int_eq (ran_last, expected);
}

START_TEST (a_call_goes_to_the_kernel_that_is_there_now)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) older = impl_new ("calls", "CompositeExplicitAutograd");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "unary(Tensor self) -> Tensor");
  xp_impl_calls_unary (older, old_kernel);
  newer = impl_new ("calls", "CPU");
  call_and_compare (ways[_i], tensor, 'o');

  XpCall *top = xp_thread.top;
  page_size = (size_t) sysconf (_SC_PAGESIZE);
  page = (char *) top - (uintptr_t) top % page_size;
  struct sigaction action = { .sa_sigaction = change_cell, .sa_flags = SA_SIGINFO };
  ck_assert_int_eq (sigaction (SIGSEGV, &action, NULL), 0);
  ck_assert_int_eq (mprotect (page, page_size, PROT_READ), 0);
  call_and_compare (ways[_i], tensor, 'n');
  ck_assert_uint_eq (n_faults, 1);
  ck_assert_ptr_eq (xp_thread.top, top);
  ck_assert_ptr_eq (top->kernel, (const XpKernel *) NULL);

  g_clear_pointer (&newer, xp_library_free);
  call_and_compare (ways[_i], tensor, 'o');
}
END_TEST

/* The frame is free at once, and its kernel may go. */
START_TEST (what_is_withdrawn_is_not_inside)
{
  g_autoptr (XpLibrary) rows = fragment_new ("calls");
  g_autoptr (XpLibrary) cpu = impl_new ("calls", "CPU");
  g_autoptr (XpTensor) tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "unary(Tensor self) -> Tensor");
  xp_impl_calls_unary (cpu, old_kernel);
  call_and_compare (xp_calls_unary, tensor, 'o');
  XpCall *top = xp_thread.top;
  xp_thread.top = top + 1;
  top->kernel = (const XpKernel *) &top; /* as if pushed; nobody looks at it */
  xp_call_withdraw (top);
  ck_assert_ptr_eq (xp_thread.top, top);
  ck_assert_ptr_eq (top->kernel, (const XpKernel *) NULL);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("withdrawn");
  TCase *tests = tcase_create ("withdrawn");
  tcase_add_loop_test (tests, a_call_goes_to_the_kernel_that_is_there_now, 0, G_N_ELEMENTS (ways));
  tcase_add_test (tests, what_is_withdrawn_is_not_inside);
  suite_add_tcase (suite, tests);
  return run_suite (suite);
}
