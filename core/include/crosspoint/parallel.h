/* SPDX-License-Identifier: MIT
 *
 * parallel.h: a loop over a range, done by several threads.
 *
 * A kernel hands its loop to xp_parallel_for() and has no thread of its own, so that it can be
 * unloaded, and a program decides in one place how many threads there are and whose they are.
 */
#ifndef XP_PARALLEL_H
#define XP_PARALLEL_H

#include <crosspoint/macros.h>

#include <stdint.h>

G_BEGIN_DECLS

/**
 * XpParallelFunction:
 * @begin: the first of the part that is to be done
 * @end: one past the last
 * @data: what xp_parallel_for() was given
 *
 * Does a part of a loop. Parts do not overlap and may be done at the same time. It may call
 * operators, and returns by returning: no exception, cancellation or fork() leaves it. What goes
 * wrong it notes in @data.
 */
typedef void (*XpParallelFunction) (int64_t begin, int64_t end, void *data);

/**
 * xp_parallel_for:
 * @begin: the first
 * @end: one past the last; nothing is done where it is not above @begin
 * @grain: how many are worth a thread, at least 1: a range of no more is done by the caller at once
 * @function: does a part
 * @data: given to @function
 *
 * Does the whole range and returns when all of it is done (PyTorch's at::parallel_for). The calling
 * thread does its share; the others are those of xp_set_parallel_runner(), or the core's own, which
 * start when they are first needed and wait for more. They call with the state of the calling
 * thread (xp_thread_state_capture()). A loop within @function of a divided loop is not divided.
 * Where no thread can be started, the caller does everything: it does not fail.
 *
 * Where the parts begin and end depends on the number of threads, so what a kernel computes must
 * not depend on that.
 */
XP_PUBLIC void xp_parallel_for (int64_t begin, int64_t end, int64_t grain,
                                XpParallelFunction function, void *data);

/**
 * xp_num_threads:
 *
 * Returns: how many threads a loop may use, the calling one included: the setting `num-threads`
 *   (CROSSPOINT_NUM_THREADS), or as many as there are cores that the process was allowed to use
 *   when this was first asked for
 */
XP_PUBLIC unsigned xp_num_threads (void);

/**
 * xp_set_num_threads:
 * @n_threads: how many, at most 65536; 1 for none but the caller, 0 for what the environment, the
 *   user or the number of cores says
 *
 * Sets `num-threads` for this process, from the next loop on. Threads that are no longer needed
 * wait, and cost nothing else.
 */
XP_PUBLIC void xp_set_num_threads (unsigned n_threads);

/**
 * XpParallelWork:
 * @loop: what the runner was given
 *
 * Does parts of a loop until none is left.
 */
typedef void (*XpParallelWork) (void *loop);

/**
 * XpParallelRunner:
 * @n_threads: how many threads are of use, at least 2, the calling one included
 * @work: does parts
 * @loop: given to @work
 * @data: what xp_set_parallel_runner() was given
 *
 * Has up to @n_threads threads, the calling one or not, call @work once each, and returns when all
 * of these calls have returned. What is left then, the caller does. Several threads may be in the
 * runner at a time.
 */
typedef void (*XpParallelRunner) (unsigned n_threads, XpParallelWork work, void *loop, void *data);

/**
 * xp_set_parallel_runner:
 * @runner: (nullable): has loops done by threads of the program; %NULL for the core's threads
 * @data: given to @runner
 *
 * Has loops done by the threads that a program has already. It counts from the next loop on; one
 * that runs ends as it began. Only for a program, whose code stays: a plugin's function is refused.
 */
XP_PUBLIC void xp_set_parallel_runner (XpParallelRunner runner, void *data);

G_END_DECLS

#endif
