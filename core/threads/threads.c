/* SPDX-License-Identifier: MIT
 *
 * threads.c: thread records: how they come and go, the stack of calls in each, and the search
 * through all of them.
 *
 * Records are never freed: a thread that is gone leaves its record to the next. The frames of a
 * record are one stretch of reserved address space, of which as much is usable as was needed.
 */
#include "threads/threads.h"
#include "begin.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum
{
  MOST_FRAMES = 1 << 18,      /* 16 MiB of address space a thread */
  FRAMES_AT_A_TIME = 1 << 10, /* made usable at once: 64 KiB */
  STACK_RESERVE = 64 * 1024,
  DEFAULT_RECURSION_LIMIT = 1000
};

typedef struct Record Record;
struct Record
{
  XpCall *frames;
  size_t n_usable;
  Record *next;
  XpThreadHead *head; /* of the thread that has it, under records_lock */
  const char *stack_low;
  const char *stack_high;
  pid_t late_id; /* of a thread whose destructors run, which may be gone untold; else 0 */
  bool in_use;
  bool has_fences; /* its thread will store and read with a fence in between from now on */
};

__thread XpThreadHead xp_thread __attribute__ ((tls_model ("initial-exec"))) = {
  .included = { XP_DEFAULT_INCLUDED, 0 }, .excluded = { XP_DEFAULT_EXCLUDED, 0 }
};

static __thread Record *own_record __attribute__ ((tls_model ("initial-exec")));

/* The thread's destructors run, and nobody may be told when the last of them has. */
static __thread bool is_ending __attribute__ ((tls_model ("initial-exec")));

static Record *records; /* append-only */
static GMutex records_lock;
static pthread_key_t exit_key;
static bool need_fence; /* once it is set, it stays */
static bool is_untold;  /* that membarrier was lost */
static uint64_t common_attention;
static unsigned recursion_limit = DEFAULT_RECURSION_LIMIT;

unsigned
xp_recursion_limit (void)
{
  return __atomic_load_n (&recursion_limit, __ATOMIC_RELAXED);
}

bool
xp_threads_need_fence (void)
{
  return __atomic_load_n (&need_fence, __ATOMIC_SEQ_CST);
}

/* Frames below the limit need no second look: so many that no operator can be active too often.
 * While something wants to see every call, there are none. */
static XpCall *
limit_of (const XpThreadHead *head, const Record *record)
{
  size_t n = MIN (__atomic_load_n (&record->n_usable, __ATOMIC_SEQ_CST), xp_recursion_limit ());
  bool slow = xp_threads_need_fence () || __atomic_load_n (&head->attention, __ATOMIC_SEQ_CST) != 0;
  return slow ? NULL : record->frames + n;
}

/* The thread itself and others may do so at a time. Each looks again after it has stored, so that
 * whoever stores last has seen all that was to be seen. */
static void
update_limit (XpThreadHead *head, const Record *record)
{
  XpCall *limit;
  do
    {
      limit = limit_of (head, record);
      __atomic_store_n (&head->limit, limit, __ATOMIC_SEQ_CST);
    }
  while (limit != limit_of (head, record));
}

void
xp_set_recursion_limit (unsigned limit)
{
  g_return_if_fail (limit > 0);
  g_mutex_lock (&records_lock);
  __atomic_store_n (&recursion_limit, limit, __ATOMIC_SEQ_CST);
  for (Record *record = records; record != NULL; record = record->next)
    if (record->head != NULL)
      update_limit (record->head, record);
  g_mutex_unlock (&records_lock);
}

static void
clear_frames (Record *record)
{
  for (size_t i = 0; i < record->n_usable; i++)
    {
      if (__atomic_load_n (&record->frames[i].kernel, __ATOMIC_RELAXED) == NULL)
        break;
      __atomic_store_n (&record->frames[i].kernel, NULL, __ATOMIC_RELEASE);
    }
}

/* A thread ends. If one of its later destructors calls again, it gets a record anew, in which its
 * head is not noted: after the last round of destructors it would point into another thread. */
static void
thread_gone (void *data)
{
  Record *record = data;
  is_ending = true;
  xp_thread.top = NULL;
  own_record = NULL;
  g_mutex_lock (&records_lock);
  __atomic_store_n (&xp_thread.limit, NULL, __ATOMIC_RELAXED); /* others set it, too, until here */
  clear_frames (record);
  record->head = NULL;
  record->in_use = false;
  g_mutex_unlock (&records_lock);
}

static Record *
record_new (void)
{
  void *frames = mmap (NULL, MOST_FRAMES * sizeof (XpCall), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (frames == MAP_FAILED)
    return NULL;
  if (mprotect (frames, FRAMES_AT_A_TIME * sizeof (XpCall), PROT_READ | PROT_WRITE) != 0)
    {
      munmap (frames, MOST_FRAMES * sizeof (XpCall));
      return NULL;
    }
  Record *record = g_new0 (Record, 1);
  record->frames = frames;
  record->n_usable = FRAMES_AT_A_TIME;
  record->next = records;
  __atomic_store_n (&records, record, __ATOMIC_RELEASE);
  return record;
}

static void
find_stack (Record *record)
{
  pthread_attr_t attributes;
  void *low = NULL;
  size_t size = 0;
  if (pthread_getattr_np (pthread_self (), &attributes) == 0)
    {
      if (pthread_attr_getstack (&attributes, &low, &size) != 0)
        size = 0;
      pthread_attr_destroy (&attributes);
    }
  record->stack_low = low;
  record->stack_high = (const char *) low + size;
}

/* Whether the record may be taken: nobody was told of the end of a thread that called once more
 * after its last destructor. */
static bool
is_free (const Record *record)
{
  return !record->in_use
         || (record->late_id != 0 && syscall (SYS_tgkill, getpid (), record->late_id, 0) != 0
             && errno == ESRCH);
}

bool
xp_thread_prepare (void)
{
  if (own_record != NULL)
    return true;
  g_mutex_lock (&records_lock);
  Record *record = records;
  while (record != NULL && !is_free (record))
    record = record->next;
  if (record == NULL)
    record = record_new ();
  if (record != NULL)
    {
      record->in_use = true;
      clear_frames (record);
      record->head = is_ending ? NULL : &xp_thread;
      record->late_id = is_ending ? (pid_t) syscall (SYS_gettid) : 0;
      __atomic_store_n (&record->has_fences, need_fence, __ATOMIC_SEQ_CST);
      xp_thread.attention = common_attention;
    }
  g_mutex_unlock (&records_lock);
  if (record == NULL)
    return false;

  find_stack (record);
  own_record = record;
  xp_thread.top = record->frames;
  /* A small stack is used up to its middle. */
  size_t size = (size_t) (record->stack_high - record->stack_low);
  xp_thread.stack_limit = record->stack_low + MIN (STACK_RESERVE, size / 2);
  update_limit (&xp_thread, record);
  pthread_setspecific (exit_key, record);
  return true;
}

/* Frames of calls that were left by longjmp lie deeper in the C stack than the one that is made
 * now.
 */
static void
drop_abandoned_frames (Record *record, const char *stack)
{
  XpCall *top = xp_thread.top;
  if (stack < record->stack_low || stack >= record->stack_high)
    return;
  while (top > record->frames)
    {
      const char *there = top[-1].stack;
      if (there >= stack || there < record->stack_low)
        break;
      top--;
      __atomic_store_n (&top->kernel, NULL, __ATOMIC_RELEASE);
    }
  xp_thread.top = top;
}

XpThreadRoom
xp_thread_make_room (const void *stack)
{
  if (!xp_thread_prepare ())
    return XP_THREAD_NO_MEMORY;
  Record *record = own_record;
  drop_abandoned_frames (record, stack);
  /* On a stack that is not the thread's own, of a coroutine say, nothing is known of its end. */
  if ((const char *) stack >= record->stack_low && (const char *) stack < record->stack_high
      && stack < xp_thread.stack_limit)
    return XP_THREAD_STACK_EXHAUSTED;
  size_t used = (size_t) (xp_thread.top - record->frames);
  if (used == record->n_usable)
    {
      size_t more = MIN (FRAMES_AT_A_TIME, MOST_FRAMES - record->n_usable);
      if (more == 0
          || mprotect (record->frames + used, more * sizeof (XpCall), PROT_READ | PROT_WRITE) != 0)
        return XP_THREAD_FRAMES_EXHAUSTED;
      __atomic_store_n (&record->n_usable, used + more, __ATOMIC_RELEASE);
    }
  update_limit (&xp_thread, record);
  /* From here on the thread itself sees no limit that lets it do without. */
  if (xp_threads_need_fence ())
    __atomic_store_n (&record->has_fences, true, __ATOMIC_SEQ_CST);
  return XP_THREAD_OK;
}

XpCall *
xp_thread_frames (XpCall **end)
{
  *end = xp_thread.top;
  return own_record != NULL ? own_record->frames : NULL;
}

void
xp_thread_set_attention (uint64_t bit, bool on)
{
  if (!xp_thread_prepare ())
    return;
  uint64_t attention = on ? xp_thread.attention | bit : xp_thread.attention & ~bit;
  __atomic_store_n (&xp_thread.attention, attention | common_attention, __ATOMIC_RELAXED);
  update_limit (&xp_thread, own_record);
}

void
xp_threads_set_attention (uint64_t bits)
{
  g_mutex_lock (&records_lock);
  common_attention |= bits;
  for (Record *record = records; record != NULL; record = record->next)
    if (record->head != NULL)
      {
        __atomic_fetch_or (&record->head->attention, bits, __ATOMIC_RELAXED);
        update_limit (record->head, record);
      }
  g_mutex_unlock (&records_lock);
}

/* membarrier was forbidden after it had worked: every call makes a fence of its own, from the next
 * one on. */
static void
lose_membarrier (void)
{
  g_mutex_lock (&records_lock);
  if (!need_fence)
    __atomic_store_n (&is_untold, true, __ATOMIC_SEQ_CST);
  __atomic_store_n (&need_fence, true, __ATOMIC_SEQ_CST);
  for (Record *record = records; record != NULL; record = record->next)
    if (record->head != NULL)
      update_limit (record->head, record);
  g_mutex_unlock (&records_lock);
}

void
xp_threads_tell (void)
{
  if (!__atomic_load_n (&is_untold, __ATOMIC_RELAXED)
      || !__atomic_exchange_n (&is_untold, false, __ATOMIC_SEQ_CST))
    return;
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "MESSAGE",
                    "the system call membarrier was forbidden while the program runs: calls become "
                    "slower, and what is unloaded waits until every thread that has called before "
                    "calls again or ends");
}

/* Whether every thread makes fences by itself: it has begun a call since it must, or none yet. */
static bool
all_have_fences (void)
{
  bool all = true;
  g_mutex_lock (&records_lock);
  for (Record *record = records; record != NULL && all; record = record->next)
    all = is_free (record) || record == own_record
          || __atomic_load_n (&record->has_fences, __ATOMIC_SEQ_CST);
  g_mutex_unlock (&records_lock);
  return all;
}

bool
xp_threads_barrier (void)
{
  __atomic_thread_fence (__ATOMIC_SEQ_CST);
  if (!xp_threads_need_fence ())
    {
      if (syscall (SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return true;
      lose_membarrier ();
    }
  return all_have_fences ();
}

const XpCall *
xp_thread_find (XpKernelTest test, void *data)
{
  XpCall *end;
  XpCall *frame = xp_thread_frames (&end);
  for (; frame < end; frame++)
    if (frame->kernel != NULL && test (frame->kernel, data))
      return frame;
  return NULL;
}

/* Frames in use are the first ones of a record, and each but the last of them has a kernel. A frame
 * without one ends the search: what lay above it was left before it was. */
static bool
record_is_inside (const Record *record, XpKernelTest test, void *data)
{
  size_t n = __atomic_load_n (&record->n_usable, __ATOMIC_ACQUIRE);
  for (size_t i = 0; i < n; i++)
    {
      const XpKernel *kernel = __atomic_load_n (&record->frames[i].kernel, __ATOMIC_ACQUIRE);
      if (kernel == NULL)
        return false;
      if (test (kernel, data))
        return true;
    }
  return false;
}

bool
xp_threads_any_inside (XpKernelTest test, void *data)
{
  for (Record *record = __atomic_load_n (&records, __ATOMIC_ACQUIRE); record != NULL;
       record = record->next)
    if (record_is_inside (record, test, data))
      return true;
  return false;
}

/* Makes the thread of @record take the slow path at its next call, where it drops frames that it
 * has abandoned. */
static void
ask_for_attention (Record *record)
{
  g_mutex_lock (&records_lock);
  if (record->head != NULL)
    __atomic_store_n (&record->head->limit, NULL, __ATOMIC_RELAXED);
  g_mutex_unlock (&records_lock);
}

bool
xp_threads_wait (XpKernelTest test, void *data, double seconds)
{
  gint64 deadline = g_get_monotonic_time () + (gint64) (seconds * 1e6);
  while (!xp_threads_barrier ())
    {
      if (g_get_monotonic_time () >= deadline)
        return false;
      g_usleep (50);
    }
  for (Record *record = __atomic_load_n (&records, __ATOMIC_ACQUIRE); record != NULL;
       record = record->next)
    {
      if (record == own_record)
        continue;
      for (unsigned tries = 0; record_is_inside (record, test, data); tries++)
        {
          if (g_get_monotonic_time () >= deadline)
            return false;
          if (tries > 0 && tries % 20 == 0)
            ask_for_attention (record);
          if (tries > 20)
            g_usleep (50);
        }
    }
  return true;
}

int
xp_thread_stop_cancelling (void)
{
  int before;
  pthread_setcancelstate (PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

void
xp_thread_allow_cancelling (const int *before)
{
  pthread_setcancelstate (*before, NULL);
}

/* Whether this process may use membarrier; asked once, and again in the child of a fork. */
static bool
register_barrier (void)
{
  return syscall (SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0
         && syscall (SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static void
before_fork (void)
{
  g_mutex_lock (&records_lock);
}

static void
after_fork_in_parent (void)
{
  g_mutex_unlock (&records_lock);
}

/* Only the forking thread lives on. */
static void
after_fork_in_child (void)
{
  for (Record *record = records; record != NULL; record = record->next)
    if (record != own_record)
      {
        clear_frames (record);
        record->head = NULL;
        record->in_use = false;
      }
  if (own_record != NULL)
    own_record->late_id = is_ending ? (pid_t) syscall (SYS_gettid) : 0;
  if (!register_barrier ())
    __atomic_store_n (&need_fence, true, __ATOMIC_SEQ_CST);
  if (own_record != NULL)
    update_limit (&xp_thread, own_record);
  g_mutex_unlock (&records_lock);
}

void
xp_threads_begin (void)
{
  need_fence = !register_barrier ();
  pthread_key_create (&exit_key, thread_gone);
  pthread_atfork (before_fork, after_fork_in_parent, after_fork_in_child);
}
