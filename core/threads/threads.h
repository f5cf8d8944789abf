/* SPDX-License-Identifier: MIT
 *
 * threads.h: the record that each thread has of its calls, and what a writer asks of all records.
 *
 * A reader stores the kernel it is about to call in its frame, with a plain store, and reads the
 * cell again. A writer publishes the new cell, makes every thread pass a barrier (membarrier), and
 * looks through the frames: who read the old cell is seen there, everyone else reads the new one.
 */
#pragma once

#include <crosspoint/call.h>

/* Gives the calling thread a record where it has none. False where there is no memory for it. */
bool xp_thread_prepare (void);

/* Whether the calling thread's next frame may be used: makes it usable where it can. @stack is the
 * address of the C stack; XP_THREAD_OK, or why not. */
typedef enum
{
  XP_THREAD_OK,
  XP_THREAD_NO_MEMORY,
  XP_THREAD_STACK_EXHAUSTED,
  XP_THREAD_FRAMES_EXHAUSTED
} XpThreadRoom;
XpThreadRoom xp_thread_make_room (const void *stack);

/* The frames of the calling thread: the first, and one past the last. */
XpCall *xp_thread_frames (XpCall **end);

/* The attention bits of the calling thread: reasons why its calls take the slow path. */
enum
{
  XP_ATTENTION_TRACE = 1 << 0,
  /* Code of a plugin runs that may only register; every call fails. */
  XP_ATTENTION_NO_CALLS = 1 << 1,
  /* It prefers kernels that need not be those of the table. */
  XP_ATTENTION_PREFERENCES = 1 << 2
};
void xp_thread_set_attention (uint64_t bit, bool on);

/* Attention bits that every thread has, those to come too. */
void xp_threads_set_attention (uint64_t bits);

/* Whether readers must put a fence between storing the kernel and reading the cell again, because
 * membarrier is not to be had. */
bool xp_threads_need_fence (void);

/* Makes every thread pass a full barrier. False where some have not, for membarrier was forbidden
 * after they had begun to rely on it: nothing may be taken from under them yet. */
bool xp_threads_barrier (void);

/* Warns, once, where that has happened. Not under a lock. */
void xp_threads_tell (void);

/* A question about a kernel that stands in some thread's frame. */
typedef bool (*XpKernelTest) (const XpKernel *kernel, void *data);

/* Whether the calling thread is inside a kernel for which @test is true; its call. */
const XpCall *xp_thread_find (XpKernelTest test, void *data);

/* Waits until no thread is inside a kernel for which @test is true, after a barrier; the caller has
 * published that those are gone. False when @seconds have passed first. */
bool xp_threads_wait (XpKernelTest test, void *data, double seconds);

/* The same without waiting: whether some thread is inside. The caller has made the barrier. */
bool xp_threads_any_inside (XpKernelTest test, void *data);

unsigned xp_recursion_limit (void);

/* XP_UNCANCELLED cancelling = xp_thread_stop_cancelling (): until the end of the scope the thread
 * is not cancelled. Whoever were would leave a lock held, or a change half made, for ever. */
int xp_thread_stop_cancelling (void);
void xp_thread_allow_cancelling (const int *before);
#define XP_UNCANCELLED __attribute__ ((cleanup (xp_thread_allow_cancelling), unused)) int
