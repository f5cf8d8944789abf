/* SPDX-License-Identifier: MIT
 *
 * parallel.c: loops done by several threads, and the threads that do them.
 *
 * A loop lies on the stack of the thread that has it, which queues it, does parts until none is
 * left, takes it out of the queue, and waits for the threads that are still in it. So no loop waits
 * for a thread to become free. There are more parts than threads, for some begin late.
 */
#include "call/parallel.h"

#include <crosspoint/guard.h>
#include <pthread.h>
#include <signal.h>

#include "threads/threads.h"
#include "value/storage.h"

enum
{
  PARTS_OF_A_THREAD = 4
};

typedef struct Loop
{
  XpParallelFunction function;
  void *data;
  int64_t begin, end;
  unsigned n_threads;
  uint64_t n_parts;
  XpThreadState state;
  uint64_t next_part; /* atomic */
  /* With the lock. */
  unsigned n_wanted; /* threads that may still join */
  unsigned n_inside;
  struct Loop *next;
} Loop;

GMutex xp_parallel_lock;
static Loop *queue; /* in the order in which they came */
static GCond is_queued, is_left;
static unsigned n_workers, n_waiting;
static XpParallelRunner runner;
static void *runner_data;

unsigned (*xp_num_threads_hook) (void);

static __thread bool is_inside;

/* --- The parts of a loop. --- */

static void
set_inside (const bool *inside)
{
  is_inside = *inside;
}

static void
do_parts (void *data)
{
  Loop *loop = data;
  uint64_t begin = (uint64_t) loop->begin, length = (uint64_t) loop->end - begin;
  uint64_t size = length / loop->n_parts, rest = length % loop->n_parts, part;
  __attribute__ ((cleanup (set_inside), unused)) bool was_inside = is_inside;
  XP_THREAD_STATE (&loop->state);
  is_inside = true;
  while ((part = __atomic_fetch_add (&loop->next_part, 1, __ATOMIC_RELAXED)) < loop->n_parts)
    {
      uint64_t from = begin + part * size + MIN (part, rest);
      uint64_t to = from + size + (part < rest ? 1 : 0);
      loop->function ((int64_t) from, (int64_t) to, loop->data);
    }
}

/* --- The core's own threads. --- */

static void
remove_from_queue (Loop *loop)
{
  for (Loop **at = &queue; *at != NULL; at = &(*at)->next)
    if (*at == loop)
      {
        *at = loop->next;
        return;
      }
}

static void *
work (G_GNUC_UNUSED void *data)
{
  g_mutex_lock (&xp_parallel_lock);
  for (;;)
    {
      while (queue == NULL)
        {
          n_waiting++;
          g_cond_wait (&is_queued, &xp_parallel_lock);
          n_waiting--;
        }
      Loop *loop = queue;
      loop->n_inside++;
      if (--loop->n_wanted == 0)
        remove_from_queue (loop);
      g_mutex_unlock (&xp_parallel_lock);
      do_parts (loop);
      g_mutex_lock (&xp_parallel_lock);
      if (--loop->n_inside == 0)
        g_cond_broadcast (&is_left);
    }
  return NULL;
}

/* One more thread, which takes no signals: those are the program's. */
static bool
start_worker (void)
{
  sigset_t all, before;
  pthread_t thread;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  bool is_started = pthread_create (&thread, NULL, work, NULL) == 0;
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  if (is_started)
    {
      pthread_setname_np (thread, "crosspoint");
      pthread_detach (thread);
    }
  return is_started;
}

static void
enqueue (Loop *loop)
{
  loop->n_wanted = loop->n_threads - 1;
  g_mutex_lock (&xp_parallel_lock);
  Loop **end = &queue;
  while (*end != NULL)
    end = &(*end)->next;
  *end = loop;
  while (n_workers < loop->n_threads - 1 && start_worker ())
    n_workers++;
  for (unsigned i = 0; i < MIN (n_waiting, loop->n_wanted); i++)
    g_cond_signal (&is_queued);
  g_mutex_unlock (&xp_parallel_lock);
}

/* Also where an exception leaves the loop on the thread that has it: the others look at its stack.
 */
static void
leave (Loop **at)
{
  Loop *loop = *at;
  __atomic_store_n (&loop->next_part, loop->n_parts, __ATOMIC_RELAXED);
  g_mutex_lock (&xp_parallel_lock);
  remove_from_queue (loop);
  while (loop->n_inside > 0)
    g_cond_wait (&is_left, &xp_parallel_lock);
  g_mutex_unlock (&xp_parallel_lock);
}

static void
do_with_workers (Loop *loop)
{
  __attribute__ ((cleanup (leave), unused)) Loop *entered = loop;
  enqueue (loop);
  do_parts (loop);
}

void
xp_parallel_after_fork (void)
{
  queue = NULL;
  n_workers = n_waiting = 0;
  g_cond_init (&is_queued);
  g_cond_init (&is_left);
}

/* --- What is public. --- */

/* How many threads are of use: 1 without a division, for most loops are short. */
static unsigned
threads_for (uint64_t length, uint64_t grain, uint64_t *n_worth)
{
  if (length <= grain || is_inside)
    return 1;
  *n_worth = length / grain + (length % grain != 0);
  return (unsigned) MIN (xp_num_threads (), *n_worth);
}

void
xp_parallel_for (int64_t begin, int64_t end, int64_t grain, XpParallelFunction function, void *data)
{
  g_return_if_fail (function != NULL && grain >= 1);
  if (begin >= end)
    return;
  uint64_t n_worth = 1;
  unsigned n_threads = threads_for ((uint64_t) end - (uint64_t) begin, (uint64_t) grain, &n_worth);
  if (n_threads == 1)
    {
      function (begin, end, data);
      return;
    }
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  Loop loop = { .function = function,
                .data = data,
                .begin = begin,
                .end = end,
                .n_threads = n_threads,
                .n_parts = MIN ((uint64_t) n_threads * PARTS_OF_A_THREAD, n_worth),
                .state = xp_thread_state_capture () };
  g_mutex_lock (&xp_parallel_lock);
  XpParallelRunner run = runner;
  void *run_data = runner_data;
  g_mutex_unlock (&xp_parallel_lock);
  if (run != NULL)
    {
      run (n_threads, do_parts, &loop, run_data);
      do_parts (&loop);
    }
  else
    do_with_workers (&loop);
}

unsigned
xp_num_threads (void)
{
  static unsigned n_cores; /* atomic */
  unsigned n = xp_num_threads_hook != NULL ? xp_num_threads_hook () : 0;
  if (n > 0)
    return n;
  n = __atomic_load_n (&n_cores, __ATOMIC_RELAXED);
  if (n == 0)
    {
      n = MAX (g_get_num_processors (), 1);
      __atomic_store_n (&n_cores, n, __ATOMIC_RELAXED);
    }
  return n;
}

void
xp_set_parallel_runner (XpParallelRunner new_runner, void *data)
{
  g_return_if_fail (new_runner == NULL || xp_pin_hooks.owner_at == NULL
                    || xp_pin_hooks.owner_at ((const void *) new_runner) == NULL);
  g_mutex_lock (&xp_parallel_lock);
  runner = new_runner;
  runner_data = data;
  g_mutex_unlock (&xp_parallel_lock);
}
