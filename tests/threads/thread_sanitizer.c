/* SPDX-License-Identifier: MIT
 *
 * thread_sanitizer.c: tells ThreadSanitizer of GLib's locks and of what it does once. They are
 * futexes in a library that it does not see into, so without this it takes whatever they guard for
 * a race. Empty in any other build.
 */
#include "suite.h"

#ifdef __SANITIZE_THREAD__

#  include <dlfcn.h>
#  include <sanitizer/tsan_interface.h>

const char *__tsan_default_suppressions (void);

/* What GLib does under its own locks. */
const char *
__tsan_default_suppressions (void)
{
  return "called_from_lib:libglib-2.0.so.0\n";
}

/* GLib's own function of that name, looked up once. */
static void *
original (const char *name, void **cache)
{
  void *function = __atomic_load_n (cache, __ATOMIC_RELAXED);
  if (function == NULL)
    {
      function = dlsym (RTLD_NEXT, name);
      __atomic_store_n (cache, function, __ATOMIC_RELAXED);
    }
  return function;
}

typedef void (*LockFunction) (GMutex *mutex);
typedef gboolean (*TrylockFunction) (GMutex *mutex);

void
g_mutex_lock (GMutex *mutex)
{
  static void *lock;
  __tsan_mutex_pre_lock (mutex, 0);
  ((LockFunction) original ("g_mutex_lock", &lock)) (mutex);
  __tsan_mutex_post_lock (mutex, 0, 0);
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  static void *trylock;
  __tsan_mutex_pre_lock (mutex, __tsan_mutex_try_lock);
  gboolean done = ((TrylockFunction) original ("g_mutex_trylock", &trylock)) (mutex);
  __tsan_mutex_post_lock (mutex, __tsan_mutex_try_lock | (done ? 0 : __tsan_mutex_try_lock_failed),
                          0);
  return done;
}

void
g_mutex_unlock (GMutex *mutex)
{
  static void *unlock;
  __tsan_mutex_pre_unlock (mutex, 0);
  ((LockFunction) original ("g_mutex_unlock", &unlock)) (mutex);
  __tsan_mutex_post_unlock (mutex, 0);
}

typedef void (*WaitFunction) (GCond *cond, GMutex *mutex);

void
g_cond_wait (GCond *cond, GMutex *mutex)
{
  static void *wait;
  __tsan_mutex_pre_unlock (mutex, 0);
  __tsan_mutex_post_unlock (mutex, 0);
  ((WaitFunction) original ("g_cond_wait", &wait)) (cond, mutex);
  __tsan_mutex_pre_lock (mutex, 0);
  __tsan_mutex_post_lock (mutex, 0, 0);
}

typedef gboolean (*EnterFunction) (volatile void *location);
typedef void (*LeaveFunction) (volatile void *location, gsize result);

gboolean (g_once_init_enter) (volatile void *location)
{
  static void *enter;
  gboolean is_first = ((EnterFunction) original ("g_once_init_enter", &enter)) (location);
  __tsan_acquire ((void *) location);
  return is_first;
}

void (g_once_init_leave) (volatile void *location, gsize result)
{
  static void *leave;
  __tsan_release ((void *) location);
  ((LeaveFunction) original ("g_once_init_leave", &leave)) (location, result);
}

#endif
