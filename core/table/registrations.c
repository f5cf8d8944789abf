/* SPDX-License-Identifier: MIT
 *
 * registrations.c: lists of registrations in the order of a dump, and how a registration ends.
 */
#include "table/row.h"
#include "threads/threads.h"

const Registration *
xp_registration_of (const XpKernel *kernel)
{
  return kernel_is_special (kernel) ? NULL : (const Registration *) kernel;
}

/* Higher priority first, then newer first. */
static int
compare_rank (const Registration *a, const Registration *b)
{
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
      if (order < 0 || (order == 0 && compare_rank (registration, other) < 0))
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
  g_free (registration);
}

/* Registrations out of the table that some thread was inside when we last looked. */
static GPtrArray *lingering;
GMutex xp_retire_lock;

static bool
is_kernel (const XpKernel *kernel, void *data)
{
  return kernel == data;
}

void
xp_registrations_retire (GPtrArray *gone)
{
  g_autoptr (GPtrArray) unused = g_ptr_array_new ();
  g_mutex_lock (&xp_retire_lock);
  if (lingering == NULL)
    lingering = g_ptr_array_new ();
  for (unsigned i = 0; i < gone->len; i++)
    g_ptr_array_add (lingering, gone->pdata[i]);
  g_ptr_array_set_size (gone, 0);
  if (lingering->len > 0)
    xp_threads_barrier ();
  for (unsigned i = lingering->len; i-- > 0;)
    if (!xp_threads_any_inside (is_kernel, lingering->pdata[i]))
      g_ptr_array_add (unused, g_ptr_array_remove_index_fast (lingering, i));
  g_mutex_unlock (&xp_retire_lock);
  for (unsigned i = 0; i < unused->len; i++)
    xp_registration_free (unused->pdata[i]);
}
