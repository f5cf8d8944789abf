/* SPDX-License-Identifier: MIT
 *
 * owners.c: whose registrations they are: who may register, and what an owner has.
 */
#include "table/transaction.h"

XpOwner *(*xp_owner_at_hook) (const void *address, const XpLinkedPlugin *linked);

XpOwner xp_core_owner, xp_program_owner;

void
xp_owner_init (XpOwner *owner, const char *name, int priority)
{
  owner->name = g_strdup (name);
  owner->priority = priority;
  owner->libraries = g_ptr_array_new ();
}

void
xp_owner_set_priority (XpOwner *owner, int priority)
{
  g_mutex_lock (&xp_table_lock);
  owner->priority = priority;
  for (unsigned i = 0; i < owner->libraries->len; i++)
    {
      const XpLibrary *library = owner->libraries->pdata[i];
      for (unsigned j = 0; j < library->entries->len; j++)
        {
          const Entry *entry = library->entries->pdata[j];
          if (entry->registration != NULL && entry->registration->owner == owner)
            entry->registration->priority = priority;
        }
    }
  g_mutex_unlock (&xp_table_lock);
}

void
xp_owner_open (XpOwner *owner)
{
  g_mutex_lock (&xp_table_lock);
  owner->is_away = false;
  g_mutex_unlock (&xp_table_lock);
}

void
xp_owner_set_away (const XpOwner *owner, const char *device, const char *file, int line,
                   GError **error)
{
  g_autofree char *what = device != NULL ? g_strdup_printf ("the device '%s'", device)
                                         : g_strdup_printf ("in the block at %s:%d", file, line);
  if (owner->refusal != NULL)
    xp_error_set (error, XP_ERROR_PLUGIN_NOT_LOADED, &(XpErrorDetails){ .plugin = owner->name },
                  "%s registers %s, but it is refused: %s", owner->name, what, owner->refusal);
  else
    xp_error_set (
        error, XP_ERROR_PLUGIN_NOT_LOADED, &(XpErrorDetails){ .plugin = owner->name },
        "%s registers %s, but it is not loaded: it is being loaded or has begun to leave. "
        "Register in a block that runs with the load, or while it is loaded; its kernels, "
        "threads and listeners must expect to be refused later",
        owner->name, what);
}

XpOwner *
xp_owner_of_block (const void *block, const XpLinkedPlugin *linked)
{
  return xp_owner_at_hook != NULL ? xp_owner_at_hook (block, linked) : &xp_program_owner;
}

XpOwner *
xp_owner_at (const void *address)
{
  return xp_owner_of_block (address, NULL);
}

bool
xp_owner_is_away (const XpOwner *owner)
{
  g_mutex_lock (&xp_table_lock);
  bool is_away = owner->is_away;
  g_mutex_unlock (&xp_table_lock);
  return is_away;
}

void
xp_owners_begin (void)
{
  xp_fallbacks = g_ptr_array_new ();
  xp_owner_init (&xp_program_owner, "the program", 0);
  xp_owner_init (&xp_core_owner, "core", G_MININT);
}

static int
compare_kernels (const void *a, const void *b)
{
  const XpKernel *x = *(const XpKernel *const *) a, *y = *(const XpKernel *const *) b;
  return x < y ? -1 : x > y;
}

GPtrArray *
xp_owner_kernels (XpOwner *owner)
{
  GPtrArray *kernels = g_ptr_array_new ();
  g_mutex_lock (&xp_table_lock);
  for (unsigned i = 0; i < owner->libraries->len; i++)
    {
      const XpLibrary *library = owner->libraries->pdata[i];
      for (unsigned j = 0; j < library->entries->len; j++)
        {
          Entry *entry = library->entries->pdata[j];
          if (entry->registration != NULL)
            g_ptr_array_add (kernels, &entry->registration->kernel);
        }
    }
  xp_registrations_lingering (owner, kernels);
  g_mutex_unlock (&xp_table_lock);
  g_ptr_array_sort (kernels, compare_kernels);
  return kernels;
}

bool
xp_kernels_contain (const XpKernel *kernel, void *data)
{
  const GPtrArray *kernels = data;
  size_t low = 0, high = kernels->len;
  while (low < high)
    {
      size_t middle = (low + high) / 2;
      const XpKernel *there = kernels->pdata[middle];
      if (there == kernel)
        return true;
      if (there < kernel)
        low = middle + 1;
      else
        high = middle;
    }
  return false;
}

void
xp_owner_count (XpOwner *owner, unsigned *n_rows, unsigned *n_cells)
{
  *n_rows = *n_cells = 0;
  g_mutex_lock (&xp_table_lock);
  for (unsigned i = 0; i < owner->libraries->len; i++)
    {
      const XpLibrary *library = owner->libraries->pdata[i];
      for (unsigned j = 0; j < library->entries->len; j++)
        {
          const Entry *entry = library->entries->pdata[j];
          *n_rows += entry->is_in_table && entry->definition != NULL;
          *n_cells += entry->is_in_table && entry->registration != NULL && entry->device == 0;
        }
    }
  g_mutex_unlock (&xp_table_lock);
}
