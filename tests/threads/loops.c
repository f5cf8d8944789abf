/* SPDX-License-Identifier: MIT
 *
 * loops.c: loops done by several threads: every part is done once, whoever does it, and whatever
 * else happens.
 */
#include "table/blocks.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum
{
  MOST = 1000,
  N_LOOPERS = 4,
  ROUNDS = 500
};

/* How often each number was done, counted from @first. */
typedef struct
{
  int64_t first;
  unsigned times[MOST];
  unsigned n_parts;
} Tally;

static void
count (int64_t begin, int64_t end, void *data)
{
  Tally *tally = data;
  __atomic_add_fetch (&tally->n_parts, 1, __ATOMIC_SEQ_CST);
  for (int64_t i = begin; i < end; i++)
    __atomic_add_fetch (&tally->times[(uint64_t) i - (uint64_t) tally->first], 1, __ATOMIC_RELAXED);
}

/* Whether a loop does each number once. Asserts nothing: Check would lock, in children too. */
static bool
does_each_once (int64_t first, int64_t length, int64_t grain, unsigned *n_parts)
{
  Tally tally = { .first = first };
  bool is_right = true;
  xp_parallel_for (first, first + length, grain, count, &tally);
  for (int64_t i = 0; i < MOST; i++)
    is_right &= tally.times[i] == (i < length ? 1 : 0);
  *n_parts = tally.n_parts;
  return is_right;
}

static unsigned
assert_loop (int64_t first, int64_t length, int64_t grain)
{
  unsigned n_parts;
  ck_assert (does_each_once (first, length, grain, &n_parts));
  return n_parts;
}

static void
tear_down (void)
{
  xp_set_num_threads (0);
  xp_set_parallel_runner (NULL, NULL);
}

START_TEST (every_number_is_done_once)
{
  const int64_t lengths[] = { 0, 1, 2, 3, 7, 8, 63, 64, 65, 999, MOST };
  const int64_t grains[] = { 1, 2, 3, 64, MOST, INT64_MAX };
  for (unsigned n = 1; n <= 9; n++)
    {
      xp_set_num_threads (n);
      for (unsigned i = 0; i < G_N_ELEMENTS (lengths); i++)
        for (unsigned j = 0; j < G_N_ELEMENTS (grains); j++)
          {
            unsigned n_parts = assert_loop (-5, lengths[i], grains[j]);
            if (n == 1 || lengths[i] <= grains[j])
              ck_assert_uint_eq (n_parts, lengths[i] > 0 ? 1 : 0);
            else
              ck_assert_uint_ge (n_parts, 2);
          }
    }
}
END_TEST

static void
add_lengths (int64_t begin, int64_t end, void *sum)
{
  __atomic_add_fetch ((uint64_t *) sum, (uint64_t) end - (uint64_t) begin, __ATOMIC_RELAXED);
}

START_TEST (the_longest_range_does_not_overflow)
{
  uint64_t sum = 0;
  xp_set_num_threads (3);
  xp_parallel_for (INT64_MIN, INT64_MAX, 1, add_lengths, &sum);
  ck_assert_uint_eq (sum, UINT64_MAX);
  xp_parallel_for (INT64_MAX, INT64_MIN, 1, add_lengths, &sum);
  ck_assert_uint_eq (sum, UINT64_MAX);
  assert_loop (INT64_MIN, 10, 1);
  assert_loop (INT64_MAX - 10, 10, 1);
}
END_TEST

/* Waits until another thread has come as well, so that the loop is seen to be divided. */
typedef struct
{
  pthread_t threads[64];
  unsigned n_inside;
  unsigned n_expected;
  unsigned n_wrong;
  sigset_t blocked[64];
  XpThreadState state;
} Meeting;

static void
meet (int64_t begin, int64_t end, void *data)
{
  Meeting *meeting = data;
  unsigned i = __atomic_fetch_add (&meeting->n_inside, 1, __ATOMIC_SEQ_CST);
  XpThreadState state = xp_thread_state_capture ();
  if (end - begin != 1 || memcmp (&state, &meeting->state, sizeof state) != 0)
    __atomic_fetch_add (&meeting->n_wrong, 1, __ATOMIC_SEQ_CST);
  meeting->threads[i] = pthread_self ();
  pthread_sigmask (SIG_BLOCK, NULL, &meeting->blocked[i]);
  while (__atomic_load_n (&meeting->n_inside, __ATOMIC_SEQ_CST) < meeting->n_expected)
    g_usleep (100);
}

START_TEST (so_many_threads_at_once_with_the_state_of_the_caller)
{
  for (unsigned n = 2; n <= 5; n++)
    {
      Meeting meeting = { .n_expected = n };
      xp_set_num_threads (n);
      XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
      XP_INFERENCE_MODE (true);
      XP_PREFER_IN_THREAD ("aten::mm@somebody");
      meeting.state = xp_thread_state_capture ();
      xp_parallel_for (0, n, 1, meet, &meeting);
      ck_assert_uint_eq (meeting.n_wrong, 0);
      for (unsigned i = 0; i < n; i++)
        {
          for (unsigned j = 0; j < i; j++)
            ck_assert (!pthread_equal (meeting.threads[i], meeting.threads[j]));
          if (!pthread_equal (meeting.threads[i], pthread_self ()))
            for (int signal = 1; signal < SIGRTMIN; signal++)
              if (signal != SIGKILL && signal != SIGSTOP && (signal < 32 || signal > 33))
                ck_assert_int_eq (sigismember (&meeting.blocked[i], signal), 1);
        }
    }
}
END_TEST

static void
count_tracers (G_GNUC_UNUSED int64_t begin, G_GNUC_UNUSED int64_t end, void *data)
{
  if (xp_thread_is_included (XP_KEY_Tracer))
    __atomic_fetch_add ((unsigned *) data, 1, __ATOMIC_SEQ_CST);
}

START_TEST (nothing_of_a_state_stays)
{
  xp_set_num_threads (3);
  {
    XP_INCLUDE_KEYS (xp_key_set (XP_KEY_Tracer));
    assert_loop (0, MOST, 1);
  }
  unsigned n_tracers = 0;
  for (unsigned i = 0; i < 20; i++)
    xp_parallel_for (0, 100, 1, count_tracers, &n_tracers);
  ck_assert_uint_eq (n_tracers, 0);
}
END_TEST

static void
nest (int64_t begin, int64_t end, void *data)
{
  for (int64_t i = begin; i < end; i++)
    {
      unsigned n_parts;
      if (does_each_once (i, MOST, 1, &n_parts) && n_parts == 1)
        __atomic_add_fetch ((int *) data, 1, __ATOMIC_RELAXED);
    }
}

START_TEST (a_loop_in_a_loop_is_not_divided)
{
  int done = 0;
  xp_set_num_threads (4);
  xp_parallel_for (0, 100, 1, nest, &done);
  ck_assert_int_eq (done, 100);
  ck_assert_uint_gt (assert_loop (0, MOST, 1), 1);
}
END_TEST

static void *
loop_on (void *n_wrong)
{
  unsigned n_parts;
  for (unsigned i = 0; i < ROUNDS; i++)
    if (!does_each_once (0, MOST, 1, &n_parts))
      __atomic_fetch_add ((unsigned *) n_wrong, 1, __ATOMIC_SEQ_CST);
  return NULL;
}

static void
with_loopers (void (*meanwhile) (void))
{
  GThread *threads[N_LOOPERS];
  unsigned n_wrong = 0;
  for (unsigned i = 0; i < N_LOOPERS; i++)
    threads[i] = g_thread_new ("looper", loop_on, &n_wrong);
  meanwhile ();
  for (unsigned i = 0; i < N_LOOPERS; i++)
    g_thread_join (threads[i]);
  ck_assert_uint_eq (n_wrong, 0);
}

static void
change_the_number (void)
{
  for (unsigned i = 0; i < ROUNDS; i++)
    {
      xp_set_num_threads (1 + i % 7);
      assert_loop (3, MOST, 7);
    }
}

START_TEST (loops_of_several_threads)
{
  with_loopers (change_the_number);
}
END_TEST

static void
fork_once (void)
{
  pid_t child = fork ();
  ck_assert_int_ge (child, 0);
  if (child == 0)
    {
      alarm (20);
      Meeting meeting = { .n_expected = 3, .state = xp_thread_state_capture () };
      xp_parallel_for (0, 3, 1, meet, &meeting);
      _exit (meeting.n_inside == 3 && meeting.n_wrong == 0 ? 0 : 1);
    }
  int status;
  ck_assert_int_eq (waitpid (child, &status, 0), child);
  ck_assert_msg (WIFEXITED (status) && WEXITSTATUS (status) == 0, "the child ended with %d",
                 status);
}

static void
fork_again_and_again (void)
{
  for (unsigned i = 0; i < 50; i++)
    fork_once ();
}

START_TEST (a_child_has_threads_of_its_own)
{
  xp_set_num_threads (3);
  assert_loop (0, MOST, 1);
  fork_once ();
  assert_loop (0, MOST, 1);
  with_loopers (fork_again_and_again);
}
END_TEST

typedef struct
{
  int stage;
  unsigned n_done;
} Cancelled;

static void
be_cancelled (int64_t begin, int64_t end, void *data)
{
  Cancelled *cancelled = data;
  __atomic_fetch_or (&cancelled->stage, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n (&cancelled->stage, __ATOMIC_SEQ_CST) < 2)
    g_usleep (100);
  g_usleep (100);
  __atomic_add_fetch (&cancelled->n_done, (unsigned) (end - begin), __ATOMIC_SEQ_CST);
}

static void *
loop_and_be_cancelled (void *data)
{
  xp_parallel_for (0, 12, 1, be_cancelled, data);
  pthread_testcancel ();
  return NULL;
}

START_TEST (a_thread_that_is_cancelled_ends_its_loop_first)
{
  pthread_t thread;
  void *result;
  Cancelled cancelled = { 0 };
  xp_set_num_threads (3);
  ck_assert_int_eq (pthread_create (&thread, NULL, loop_and_be_cancelled, &cancelled), 0);
  while (__atomic_load_n (&cancelled.stage, __ATOMIC_SEQ_CST) < 1)
    g_usleep (100);
  pthread_cancel (thread);
  __atomic_fetch_or (&cancelled.stage, 2, __ATOMIC_SEQ_CST);
  pthread_join (thread, &result);
  ck_assert_ptr_eq (result, PTHREAD_CANCELED);
  ck_assert_uint_eq (cancelled.n_done, 12);
  assert_loop (0, MOST, 1);
}
END_TEST

/* --- Threads of the program. --- */

typedef struct
{
  unsigned n_runs, n_threads_seen;
  unsigned n_workers;
} Pool;

typedef struct
{
  XpParallelWork work;
  void *loop;
} Job;

static void *
do_job (void *data)
{
  Job *job = data;
  job->work (job->loop);
  return NULL;
}

static void
run_in_pool (unsigned n_threads, XpParallelWork work, void *loop, void *data)
{
  Pool *pool = data;
  GThread *threads[64];
  Job job = { work, loop };
  pool->n_runs++;
  pool->n_threads_seen = n_threads;
  for (unsigned i = 0; i < pool->n_workers; i++)
    threads[i] = g_thread_new ("pool", do_job, &job);
  for (unsigned i = 0; i < pool->n_workers; i++)
    g_thread_join (threads[i]);
}

START_TEST (threads_of_the_program)
{
  for (unsigned n_workers = 0; n_workers < 4; n_workers++)
    {
      Pool pool = { .n_workers = n_workers };
      xp_set_num_threads (4);
      xp_set_parallel_runner (run_in_pool, &pool);
      ck_assert_uint_gt (assert_loop (0, MOST, 1), 1);
      ck_assert_uint_eq (pool.n_runs, 1);
      ck_assert_uint_eq (pool.n_threads_seen, 4);
      assert_loop (0, 3, 1);
      ck_assert_uint_eq (pool.n_runs, 2);
      ck_assert_uint_eq (pool.n_threads_seen, 3);
      assert_loop (0, 3, 3);
      ck_assert_uint_eq (pool.n_runs, 2);
      xp_set_parallel_runner (NULL, NULL);
      assert_loop (0, MOST, 1);
      ck_assert_uint_eq (pool.n_runs, 2);
    }
}
END_TEST

START_TEST (a_loop_in_a_loop_of_the_program_is_not_divided)
{
  int done = 0;
  Pool pool = { .n_workers = 3 };
  xp_set_num_threads (4);
  xp_set_parallel_runner (run_in_pool, &pool);
  xp_parallel_for (0, 100, 1, nest, &done);
  ck_assert_int_eq (done, 100);
  ck_assert_uint_eq (pool.n_runs, 1);
}
END_TEST

/* --- How many. --- */

START_TEST (how_many_threads)
{
  ck_assert_uint_eq (xp_num_threads (), g_get_num_processors ());
  g_setenv ("CROSSPOINT_NUM_THREADS", "7", TRUE);
  xp_set_num_threads (0); /* What was looked up is looked up again. */
  ck_assert_uint_eq (xp_num_threads (), 7);
  xp_set_num_threads (3);
  ck_assert_uint_eq (xp_num_threads (), 3);
  g_autofree char *value = xp_setting_get ("num-threads");
  ck_assert_str_eq (value, "3");
  GError *error = NULL;
  ck_assert (xp_setting_set ("num-threads", "5", &error));
  ck_assert_uint_eq (xp_num_threads (), 5);
  ck_assert (!xp_setting_set ("num-threads", "-1", &error));
  assert_error (error, XP_ERROR_INVALID_ARGUMENT, "a whole number");
  ck_assert_uint_eq (xp_num_threads (), 5);
  xp_set_num_threads (0);
  ck_assert_uint_eq (xp_num_threads (), 7);
  g_unsetenv ("CROSSPOINT_NUM_THREADS");
  xp_set_num_threads (0);
  ck_assert_uint_eq (xp_num_threads (), g_get_num_processors ());
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("loops");
  TCase *tcase = tcase_create ("loops");
  tcase_set_timeout (tcase, 120);
  tcase_add_checked_fixture (tcase, NULL, tear_down);
  tcase_add_test (tcase, every_number_is_done_once);
  tcase_add_test (tcase, the_longest_range_does_not_overflow);
  tcase_add_test (tcase, so_many_threads_at_once_with_the_state_of_the_caller);
  tcase_add_test (tcase, nothing_of_a_state_stays);
  tcase_add_test (tcase, a_loop_in_a_loop_is_not_divided);
  tcase_add_test (tcase, loops_of_several_threads);
  if (CAN_FORK_AMONG_THREADS)
    tcase_add_test (tcase, a_child_has_threads_of_its_own);
  tcase_add_test (tcase, a_thread_that_is_cancelled_ends_its_loop_first);
  tcase_add_test (tcase, threads_of_the_program);
  tcase_add_test (tcase, a_loop_in_a_loop_of_the_program_is_not_divided);
  tcase_add_test (tcase, how_many_threads);
  suite_add_tcase (suite, tcase);
  return run_suite (suite);
}
