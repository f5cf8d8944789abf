/* SPDX-License-Identifier: MIT
 *
 * lifetimes.c: threads that end, however they do: their records are used again, calls and guards
 * they were in the middle of are left, late destructors may still call, and a child of fork() goes
 * on alone.
 */
#include "table/blocks.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static XpLibrary *rows, *cpu;
static XpTensor *tensor;

static void
set_up (void)
{
  rows = fragment_new ("life");
  cpu = impl_new ("life", "CPU");
  tensor = tensor_of (XP_FUNCTIONALITY_Dense, XP_BACKEND_CPU);
  define (rows, "foo(Tensor x) -> Tensor");
  define (rows, "outer(Tensor x) -> Tensor");
  record_at (cpu, "foo", 1);
}

static void
tear_down (void)
{
  xp_tensor_unref (tensor);
  xp_library_free (cpu);
  xp_library_free (rows);
}

static void
call_foo (void)
{
  ck_assert_int_eq (line_called ("life::foo", tensor), 1);
}

static void
run_thread (void *(*function) (void *data), void *data)
{
  pthread_t thread;
  ck_assert_int_eq (pthread_create (&thread, NULL, function, data), 0);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
}

/* --- Records. --- */

static void *
call_and_tell_frames (void *data)
{
  ck_assert_ptr_null (xp_thread.top);
  call_foo ();
  *(XpCall **) data = xp_thread.top;
  return NULL;
}

START_TEST (a_record_is_used_again)
{
  XpCall *first, *next;
  call_foo ();
  run_thread (call_and_tell_frames, &first);
  ck_assert_ptr_nonnull (first);
  ck_assert_ptr_ne (first, xp_thread.top);
  for (unsigned i = 0; i < 100; i++)
    {
      run_thread (call_and_tell_frames, &next);
      ck_assert_ptr_eq (next, first);
    }
}
END_TEST

/* --- Destructors that call when the thread is nearly gone. --- */

/* ThreadSanitizer itself ends a thread before its last rounds of destructors. */
#ifdef __SANITIZE_THREAD__
#  define LATE_ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS - 2)
#else
#  define LATE_ROUNDS PTHREAD_DESTRUCTOR_ITERATIONS
#endif

static pthread_key_t late_key;
static XpCall *late_top;
static unsigned n_late, n_rounds;

/* Comes round as often as it is told to, and calls each time. */
static void
call_late (G_GNUC_UNUSED void *data)
{
  XpThreadKeys before = xp_thread_keys ();
  {
    XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Named));
    XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_Named));
    call_foo ();
    late_top = xp_thread.top;
  }
  XpThreadKeys after = xp_thread_keys ();
  ck_assert_int_eq (memcmp (&before, &after, sizeof before), 0);
  if (++n_late < n_rounds)
    pthread_setspecific (late_key, &late_key);
}

static void *
leave_a_late_call (G_GNUC_UNUSED void *data)
{
  call_foo ();
  pthread_setspecific (late_key, &late_key);
  return NULL;
}

/* It calls, and looks that its frames are its own. */
static void *
call_within_own_limit (G_GNUC_UNUSED void *data)
{
  call_foo ();
  XpCall *limit = xp_thread.limit;
  xp_set_recursion_limit (500);
  /* Without membarrier there is no limit: each call takes the slow path. */
  ck_assert (limit == NULL || xp_thread.limit == xp_thread.top + 500);
  call_foo ();
  return NULL;
}

START_TEST (a_late_destructor_calls)
{
  n_rounds = (unsigned) _i;
  ck_assert_int_eq (pthread_key_create (&late_key, call_late), 0);
  run_thread (leave_a_late_call, NULL);
  ck_assert_uint_eq (n_late, n_rounds);
  /* The next thread has the memory of the one before, and is not taken for it. */
  run_thread (call_within_own_limit, NULL);
  pthread_key_delete (late_key);
}
END_TEST

/* After the last round nobody is told that the thread has gone. */
START_TEST (a_record_of_a_late_destructor_is_used_again)
{
  enum
  {
    N_THREADS = 100
  };
  unsigned n_records = 0;
  XpCall *tops[N_THREADS];
  ck_assert_int_eq (pthread_key_create (&late_key, call_late), 0);
  for (unsigned i = 0; i < N_THREADS; i++)
    {
      n_late = 0;
      n_rounds = LATE_ROUNDS;
      run_thread (leave_a_late_call, NULL);
      unsigned j = 0;
      while (j < n_records && tops[j] != late_top)
        j++;
      if (j == n_records)
        tops[n_records++] = late_top;
    }
  /* The system may take a moment to forget a thread that was joined. */
  ck_assert_uint_lt (n_records, N_THREADS / 2);
  pthread_key_delete (late_key);
}
END_TEST

/* --- Threads that end in the middle of a call. --- */

typedef struct
{
  XpCall *top;
  XpThreadKeys keys;
  unsigned n_checked;
} Balance;

static void
check_balance (void *data)
{
  Balance *balance = data;
  XpThreadKeys keys = xp_thread_keys ();
  ck_assert_ptr_eq (xp_thread.top, balance->top);
  ck_assert_ptr_null (balance->top->kernel);
  ck_assert_int_eq (memcmp (&keys, &balance->keys, sizeof keys), 0);
  balance->n_checked++;
}

static XpStatus
exit_thread (G_GNUC_UNUSED XpCall *call, G_GNUC_UNUSED const XpValue *arguments,
             G_GNUC_UNUSED XpValue *results, G_GNUC_UNUSED GError **error)
{
  XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Named));
  pthread_exit (NULL);
}

static XpStatus
call_inner (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  Balance inner = { xp_thread.top, xp_thread_keys (), 0 };
  XpStatus status;
  ck_assert_ptr_eq (inner.top, call + 1);
  pthread_cleanup_push (check_balance, &inner);
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
  status = xp_operator_call (operator_named (xp_call_data (call)), arguments, results, error);
  pthread_cleanup_pop (0);
  return status;
}

static void *
end_in_a_call (void *data)
{
  call_foo ();
  *(Balance *) data = (Balance){ xp_thread.top, xp_thread_keys (), 0 };
  XpValue argument = xp_value_tensor (tensor);
  pthread_cleanup_push (check_balance, data);
  XP_EXCLUDE_KEYS (xp_key_set (XP_KEY_Named));
  call_named ("life::outer", &argument, NULL);
  ck_abort_msg ("the thread went on");
  pthread_cleanup_pop (0);
  return NULL;
}

static unsigned n_destroyed;

static void
count_destroyed (G_GNUC_UNUSED void *data)
{
  n_destroyed++;
}

START_TEST (pthread_exit_leaves_calls_and_guards)
{
  Balance balance = { 0 };
  XpLibrary *block = impl_new ("life", "CPU");
  define (rows, "exit(Tensor x) -> Tensor");
  implement_with (block, "exit", exit_thread, 2, &n_destroyed, count_destroyed);
  implement_with (block, "outer", call_inner, 3, (void *) "life::exit", NULL);
  run_thread (end_in_a_call, &balance);
  ck_assert_uint_eq (balance.n_checked, 1);
  /* The thread is inside of nothing any more. */
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 1);
}
END_TEST

/* A kernel that is left by longjmp() is forbidden; the next outermost call mends the record. */
static XpStatus
jump_out (XpCall *call, G_GNUC_UNUSED const XpValue *arguments, G_GNUC_UNUSED XpValue *results,
          G_GNUC_UNUSED GError **error)
{
  void **where = xp_call_data (call);
  __builtin_longjmp (where, 1);
}

/* Deeper in the stack than the call that comes after. */
static __attribute__ ((noinline)) void
call_jump (void)
{
  volatile char depth[4096];
  XpValue argument = xp_value_tensor (tensor), result;
  depth[0] = 1;
  xp_operator_call (operator_named ("life::jump"), &argument, &result, NULL);
  depth[1] = depth[0];
}

static __attribute__ ((noinline)) void
jump_from_a_call (void **where)
{
  if (__builtin_setjmp (where) == 0)
    call_jump ();
}

START_TEST (an_abandoned_call_is_mended)
{
  void *where[5];
  XpLibrary *block = impl_new ("life", "CPU");
  define (rows, "jump(Tensor x) -> Tensor");
  implement_with (block, "jump", jump_out, 2, where, count_destroyed);
  call_foo ();
  XpCall *top = xp_thread.top;
  jump_from_a_call (where);
  ck_assert_ptr_eq (xp_thread.top, top + 1);
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 0); /* it still seems to be inside */
  xp_thread.limit = NULL;             /* as one who waits for it asks */
  call_foo ();
  ck_assert_ptr_eq (xp_thread.top, top);
  block = impl_new ("life", "CPU");
  implement_with (block, "jump", jump_out, 3, where, count_destroyed);
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 2);
}
END_TEST

/* --- A kernel that is released while a thread is inside. --- */

static int inside, may_leave;

static XpStatus
stay_inside (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  __atomic_store_n (&inside, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n (&may_leave, __ATOMIC_SEQ_CST))
    g_thread_yield ();
  return give_something (call, arguments, results, error);
}

static void *
call_stay (G_GNUC_UNUSED void *data)
{
  XpValue argument = xp_value_tensor (tensor);
  GError *error = NULL;
  call_named ("life::outer", &argument, &error);
  assert_no_error (error);
  return NULL;
}

static pthread_t
thread_inside_new (XpLibrary *block)
{
  pthread_t thread;
  implement_with (block, "outer", stay_inside, 2, &n_destroyed, count_destroyed);
  ck_assert_int_eq (pthread_create (&thread, NULL, call_stay, NULL), 0);
  while (!__atomic_load_n (&inside, __ATOMIC_SEQ_CST))
    g_thread_yield ();
  return thread;
}

static void
let_leave (pthread_t thread)
{
  __atomic_store_n (&may_leave, 1, __ATOMIC_SEQ_CST);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
}

START_TEST (releasing_does_not_wait)
{
  XpLibrary *block = impl_new ("life", "CPU");
  pthread_t thread = thread_inside_new (block);
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 0);
  ck_assert (!xp_table_has_kernel ("life::outer", XP_KEY_CPU));
  let_leave (thread);
  /* Destroyed at the next occasion. */
  block = impl_new ("life", "CPU");
  record_at (block, "outer", 3);
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 1);
}
END_TEST

/* --- membarrier is forbidden after threads have begun to rely on it. --- */

static void
forbid_membarrier (void)
{
  struct sock_filter instructions[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = { G_N_ELEMENTS (instructions), instructions };
  ck_assert_int_eq (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ck_assert_int_eq (
      syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter), 0);
}

/* How far the other thread is, and how far it may go. */
static int n_calls, n_allowed;

static void *
call_when_allowed (G_GNUC_UNUSED void *data)
{
  for (int i = 1; i <= 3; i++)
    {
      while (__atomic_load_n (&n_allowed, __ATOMIC_SEQ_CST) < i)
        g_thread_yield ();
      call_foo ();
      __atomic_store_n (&n_calls, i, __ATOMIC_SEQ_CST);
    }
  return NULL;
}

static void
allow_calls (int n)
{
  __atomic_store_n (&n_allowed, n, __ATOMIC_SEQ_CST);
  while (__atomic_load_n (&n_calls, __ATOMIC_SEQ_CST) < n)
    g_thread_yield ();
}

static void
register_and_release_outer (void)
{
  XpLibrary *block = impl_new ("life", "CPU");
  implement_with (block, "outer", give_something, 2, &n_destroyed, count_destroyed);
  xp_library_free (block);
}

static unsigned n_warnings;

static GLogWriterOutput
count_warnings (G_GNUC_UNUSED GLogLevelFlags level, const GLogField *fields, gsize n_fields,
                G_GNUC_UNUSED gpointer data)
{
  for (gsize i = 0; i < n_fields; i++)
    n_warnings += strcmp (fields[i].key, "MESSAGE") == 0
                  && strstr (fields[i].value, "membarrier was forbidden") != NULL;
  return G_LOG_WRITER_HANDLED;
}

START_TEST (membarrier_is_forbidden_later)
{
  pthread_t thread;
  g_log_set_writer_func (count_warnings, NULL, NULL);
  ck_assert_int_eq (pthread_create (&thread, NULL, call_when_allowed, NULL), 0);
  allow_calls (1);
  register_and_release_outer ();
  ck_assert_uint_eq (n_destroyed, 1);
  forbid_membarrier ();
  /* The other thread may have read the cell without a fence. */
  register_and_release_outer ();
  ck_assert_uint_eq (n_destroyed, 1);
  ck_assert_uint_eq (n_warnings, 1);
  /* Its next call makes one, and so does every later call. */
  allow_calls (2);
  ck_assert_ptr_null (xp_thread.limit);
  register_and_release_outer ();
  ck_assert_uint_eq (n_destroyed, 3);
  ck_assert_uint_eq (n_warnings, 1);
  allow_calls (3);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
}
END_TEST

/* A kernel releases itself: its frame keeps it until it has left. */
static XpLibrary *own_block;

static XpStatus
release_itself (XpCall *call, const XpValue *arguments, XpValue *results, GError **error)
{
  g_clear_pointer (&own_block, xp_library_free);
  ck_assert_uint_eq (n_destroyed, 0);
  ck_assert_ptr_eq (xp_call_data (call), &n_destroyed);
  return give_something (call, arguments, results, error);
}

START_TEST (a_kernel_may_release_itself)
{
  own_block = impl_new ("life", "CPU");
  implement_with (own_block, "outer", release_itself, 2, &n_destroyed, count_destroyed);
  XpValue argument = xp_value_tensor (tensor);
  GError *error = NULL;
  call_named ("life::outer", &argument, &error);
  assert_no_error (error);
  ck_assert_ptr_null (own_block);
  XpLibrary *block = impl_new ("life", "CPU");
  record_at (block, "outer", 3);
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 1);
}
END_TEST

/* --- Children. --- */

static int
exit_code_of (pid_t child)
{
  int status;
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_msg (WIFEXITED (status), "the child ended by signal %d", WTERMSIG (status));
  return WEXITSTATUS (status);
}

/* The child has no frames of the thread that it has not. */
START_TEST (a_child_is_alone)
{
  XpLibrary *block = impl_new ("life", "CPU");
  pthread_t thread = thread_inside_new (block);
  call_foo ();
  pid_t child = fork ();
  if (child == 0)
    {
      signal (SIGALRM, SIG_DFL);
      alarm (20);
      bool good = line_called ("life::foo", tensor) == 1;
      xp_library_free (block);
      good &= n_destroyed == 1;
      record_at (cpu, "outer", 4);
      good &= line_called ("life::outer", tensor) == 4;
      good &= xp_table_check (NULL);
      _exit (good ? 0 : 1);
    }
  ck_assert_int_eq (exit_code_of (child), 0);
  ck_assert_uint_eq (n_destroyed, 0);
  let_leave (thread);
  xp_library_free (block);
  ck_assert_uint_eq (n_destroyed, 1);
}
END_TEST

/* Registers and releases a kernel of life::foo. Without an assertion: Check has a lock of its own,
 * which a child may inherit locked. */
static bool
change_the_table (const char *key)
{
  XpLibrary *block = xp_library_new (XP_LIBRARY_KIND_IMPL, "life", key, "block.c", 1, NULL);
  const XpImplementation implementation = { .size = sizeof implementation,
                                            .name = "foo",
                                            .boxed = recording_kernel,
                                            .file = "kernel.c",
                                            .line = 5 };
  bool good = block != NULL && xp_library_impl (block, &implementation, NULL);
  xp_library_free (block);
  return good;
}

/* The parent's other thread is in the middle of changing the table, again and again. */
static int stop_changing;

static void *
change_until_stopped (G_GNUC_UNUSED void *data)
{
  while (!__atomic_load_n (&stop_changing, __ATOMIC_SEQ_CST))
    change_the_table ("CUDA");
  return NULL;
}

static bool
call_and_change (void)
{
  XpValue argument = xp_value_tensor (tensor), result;
  ran = 0;
  return xp_operator_call (xp_operator_find ("life::foo"), &argument, &result, NULL) == XP_OK
         && ran == 1 && change_the_table ("Meta") && xp_table_check (NULL);
}

START_TEST (a_child_can_change_the_table)
{
  pthread_t thread;
  ck_assert_int_eq (pthread_create (&thread, NULL, change_until_stopped, NULL), 0);
  for (unsigned i = 0; i < 30; i++)
    {
      pid_t child = fork ();
      if (child == 0)
        {
          signal (SIGALRM, SIG_DFL);
          alarm (20);
          _exit (call_and_change () ? 0 : 1);
        }
      ck_assert_int_eq (exit_code_of (child), 0);
    }
  __atomic_store_n (&stop_changing, 1, __ATOMIC_SEQ_CST);
  ck_assert_int_eq (pthread_join (thread, NULL), 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("lifetimes");
  TCase *tests = tcase_create ("lifetimes");
  tcase_add_checked_fixture (tests, set_up, tear_down);
  tcase_add_test (tests, a_record_is_used_again);
  tcase_add_loop_test (tests, a_late_destructor_calls, 1, LATE_ROUNDS + 1);
  tcase_add_test (tests, a_record_of_a_late_destructor_is_used_again);
  if (g_getenv ("TEST_WITHOUT_MEMBARRIER") == NULL)
    tcase_add_test (tests, membarrier_is_forbidden_later);
  tcase_add_test (tests, pthread_exit_leaves_calls_and_guards);
  tcase_add_test (tests, an_abandoned_call_is_mended);
  tcase_add_test (tests, releasing_does_not_wait);
  tcase_add_test (tests, a_kernel_may_release_itself);
  tcase_add_test (tests, a_child_is_alone);
  if (CAN_FORK_AMONG_THREADS)
    tcase_add_test (tests, a_child_can_change_the_table);
  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  return run_suite (suite);
}
