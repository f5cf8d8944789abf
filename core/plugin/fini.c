/* SPDX-License-Identifier: MIT
 *
 * fini.c: the last that runs of a plugin.
 *
 * It has a thread of its own, so that one that does not end keeps nobody but the file it is in.
 */
#include "plugin/plugin.h"

#include <pthread.h>
#include <time.h>

static void *
run (void *plugin)
{
  xp_load_run_fini (plugin);
  return NULL;
}

bool
xp_fini_run (XpPlugin *plugin, double seconds)
{
  pthread_t thread;
  struct timespec deadline;
  if (pthread_create (&thread, NULL, run, plugin) != 0)
    {
      /* No thread is to be had: better here than not at all. */
      xp_load_run_fini (plugin);
      return true;
    }
  clock_gettime (CLOCK_REALTIME, &deadline);
  double end = (double) deadline.tv_nsec * 1e-9 + seconds;
  deadline.tv_sec += (time_t) end;
  deadline.tv_nsec = (long) ((end - (double) (time_t) end) * 1e9);
  if (pthread_timedjoin_np (thread, NULL, &deadline) == 0)
    return true;
  pthread_detach (thread);
  return false;
}
