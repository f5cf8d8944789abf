/* SPDX-License-Identifier: MIT
 *
 * registrations.c: lists of registrations in the order of a dump, and how a registration ends.
 */
#include "table/row.h"
#include "threads/threads.h"
#include "value/storage.h"

const Registration *
xp_registration_of (const XpKernel *kernel)
{
  return kernel_is_special (kernel) ? NULL : (const Registration *) kernel;
}

int
xp_rank_compare (const Registration *a, const Registration *b)
{
  if (a->preference != b->preference)
    return a->preference > b->preference ? -1 : 1;
  if (a->priority != b->priority)
    return a->priority > b->priority ? -1 : 1;
  return a->sequence > b->sequence ? -1 : a->sequence < b->sequence;
}

void
xp_registrations_insert (GPtrArray *list, Registration *registration)
{
  unsigned at = 0;
  for (; at < list->len; at++)
    {
      const Registration *other = list->pdata[at];
      int order = xp_key_compare (registration->key, other->key);
      if (order < 0 || (order == 0 && xp_rank_compare (registration, other) < 0))
        break;
    }
  g_ptr_array_insert (list, (int) at, registration);
}

Registration *
xp_registrations_active (const GPtrArray *list, XpKey key)
{
  for (unsigned i = 0; i < list->len; i++)
    if (((Registration *) list->pdata[i])->key == key)
      return list->pdata[i];
  return NULL;
}

void
xp_registration_free (Registration *registration)
{
  if (registration->destroy != NULL)
    registration->destroy (registration->kernel.data);
  g_free (registration->location);
  g_free (registration->file);
  g_free (registration->signature);
  xp_takes_free (registration->takes);
  g_free (registration);
}

/* Registrations out of the table that a thread may be inside; under xp_table_lock. Only who holds
 * the lock for retiring takes one off. */
static GPtrArray *lingering;
GMutex xp_retire_lock;

void
xp_registration_linger (Registration *registration)
{
  if (lingering == NULL)
    lingering = g_ptr_array_new ();
  g_ptr_array_add (lingering, registration);
}

void
xp_registrations_lingering (const XpOwner *owner, GPtrArray *kernels)
{
  for (unsigned i = 0; lingering != NULL && i < lingering->len; i++)
    {
      Registration *registration = lingering->pdata[i];
      if (registration->owner == owner)
        g_ptr_array_add (kernels, &registration->kernel);
    }
}

/* Whose code @registration ends in; NULL where that is never unmapped. */
static void *
owner_of_end (const Registration *registration)
{
  XpOwner *owner = registration->owner;
  bool is_plugin = owner != &xp_core_owner && owner != &xp_program_owner;
  return is_plugin && registration->destroy != NULL ? owner : NULL;
}

/* Once it is off the list nothing but a pin says that code of its owner is still to run. */
static void
take_off (unsigned i)
{
  void *owner = owner_of_end (lingering->pdata[i]);
  if (owner != NULL)
    xp_pin_hooks.pin (owner);
  g_ptr_array_remove_index_fast (lingering, i);
}

static bool
is_kernel (const XpKernel *kernel, void *data)
{
  return kernel == data;
}

void
xp_registrations_retire (void)
{
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  g_autoptr (GPtrArray) seen = g_ptr_array_new ();
  g_mutex_lock (&xp_retire_lock);
  g_mutex_lock (&xp_table_lock);
  for (unsigned i = 0; lingering != NULL && i < lingering->len; i++)
    g_ptr_array_add (seen, lingering->pdata[i]);
  g_mutex_unlock (&xp_table_lock);
  bool is_passed = seen->len == 0 || xp_threads_barrier ();
  for (unsigned i = 0; i < seen->len; i++)
    if (!is_passed || xp_threads_any_inside (is_kernel, seen->pdata[i]))
      seen->pdata[i] = NULL;
  /* Others have added at the end only. */
  g_mutex_lock (&xp_table_lock);
  for (unsigned i = seen->len; i-- > 0;)
    if (seen->pdata[i] != NULL)
      take_off (i);
  g_mutex_unlock (&xp_table_lock);
  g_mutex_unlock (&xp_retire_lock);
  xp_threads_tell ();
  for (unsigned i = 0; i < seen->len; i++)
    if (seen->pdata[i] != NULL)
      {
        void *owner = owner_of_end (seen->pdata[i]);
        xp_registration_free (seen->pdata[i]);
        xp_unpin (owner);
      }
}
