/* SPDX-License-Identifier: MIT
 *
 * fini.c: the last that runs of a plugin.
 *
 * It has a thread of its own, so that one that does not end keeps nobody but the file it is in.
 */
#include "plugin/plugin.h"

#include <string.h>

/* Shared by the thread and who waits for it; whoever lets go last frees it. */
typedef struct
{
  XpPlugin *plugin;
  GMutex lock;
  GCond ended;
  bool has_ended;
  gatomicrefcount references;
} Fini;

static void
fini_unref (Fini *fini)
{
  if (!g_atomic_ref_count_dec (&fini->references))
    return;
  g_mutex_clear (&fini->lock);
  g_cond_clear (&fini->ended);
  g_free (fini);
}

static void *
run (void *data)
{
  Fini *fini = data;
  xp_load_run_fini (fini->plugin);
  g_mutex_lock (&fini->lock);
  fini->has_ended = true;
  g_cond_signal (&fini->ended);
  g_mutex_unlock (&fini->lock);
  fini_unref (fini);
  return NULL;
}

static bool
wait_for_end (Fini *fini, double seconds)
{
  gint64 deadline = g_get_monotonic_time () + (gint64) (seconds * 1e6);
  g_mutex_lock (&fini->lock);
  while (!fini->has_ended && g_cond_wait_until (&fini->ended, &fini->lock, deadline))
    ;
  bool has_ended = fini->has_ended;
  g_mutex_unlock (&fini->lock);
  return has_ended;
}

bool
xp_fini_run (XpPlugin *plugin, double seconds)
{
  if (plugin->fini == NULL)
    return true;
  Fini *fini = g_new0 (Fini, 1);
  fini->plugin = plugin;
  g_mutex_init (&fini->lock);
  g_cond_init (&fini->ended);
  g_atomic_ref_count_init (&fini->references);
  g_atomic_ref_count_inc (&fini->references);
  GThread *thread = g_thread_try_new ("crosspoint-fini", run, fini, NULL);
  if (thread == NULL)
    run (fini); /* no thread is left to be had: better here than not at all */
  bool has_ended = wait_for_end (fini, seconds);
  if (thread != NULL && has_ended)
    g_thread_join (thread);
  else if (thread != NULL)
    g_thread_unref (thread);
  fini_unref (fini);
  return has_ended;
}
