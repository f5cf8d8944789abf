/* SPDX-License-Identifier: MIT
 *
 * figures.h: measuring PyTorch as our own benchmarks measure: the fastest of many rounds, printed
 * as a name and nanoseconds.
 */
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

template <class Work>
double
nanoseconds (Work work)
{
  auto begin = std::chrono::steady_clock::now ();
  work ();
  auto end = std::chrono::steady_clock::now ();
  return std::chrono::duration<double, std::nano> (end - begin).count ();
}

/* What the thread has had of a processor, for work so long that others get their turn. */
template <class Work>
double
nanoseconds_used (Work work)
{
  auto now = [] {
    timespec time;
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
  };
  double begin = now ();
  work ();
  return now () - begin;
}

/* Prints what one call of @work costs. */
template <class Work>
void
measure (const char *name, Work work)
{
  constexpr int n_calls = 200000, n_rounds = 60;
  double best = 0;
  for (int round = 0; round < n_rounds; round++)
    {
      double ns = nanoseconds ([&] {
        for (int i = 0; i < n_calls; i++)
          work ();
      });
      best = round == 0 ? ns : std::min (best, ns);
    }
  std::printf ("%s %.4f\n", name, best / n_calls);
}

void measure_dispatch ();
void measure_register ();
