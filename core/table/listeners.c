/* SPDX-License-Identifier: MIT
 *
 * listeners.c: telling those who ask which operators come and go.
 *
 * What is to be told is put in a queue under the table's lock, in the order of the changes. Whoever
 * finds nobody telling tells all there is, with no lock held, so that a listener may register, load
 * and listen itself; what that brings is told by the same thread, afterwards.
 */
#include "table/listeners.h"
#include "table/transaction.h"
#include "value/storage.h"

typedef struct
{
  XpTableListener function;
  void *data;
  GDestroyNotify destroy;
  void *owner; /* whom the function belongs to, with a pin */
  uint64_t number;
  bool is_gone;
  unsigned n_references; /* of the list, and of each event */
} Listener;

typedef struct
{
  Listener *listener;
  const char *name; /* a row's own, which stays */
  gboolean is_defined;
} Event;

/* All under xp_table_lock. */
static GPtrArray *listeners;
static GQueue events = G_QUEUE_INIT;
static const void *telling; /* the thread that tells, by an address of its own */
static __thread char self;

static void
add_event (Listener *listener, const Row *row, gboolean is_defined)
{
  Event *event = g_new (Event, 1);
  *event = (Event){ listener, row->name, is_defined };
  listener->n_references++;
  g_queue_push_tail (&events, event);
}

void
xp_listeners_note (const Row *row, gboolean is_defined)
{
  for (unsigned i = 0; listeners != NULL && i < listeners->len; i++)
    add_event (listeners->pdata[i], row, is_defined);
}

/* Gives a reference back; takes the lock itself, for the end of a listener is told without it. */
static void
listener_unref (Listener *listener)
{
  g_mutex_lock (&xp_table_lock);
  bool is_last = --listener->n_references == 0;
  g_mutex_unlock (&xp_table_lock);
  if (!is_last)
    return;
  if (listener->destroy != NULL)
    listener->destroy (listener->data);
  xp_unpin (listener->owner);
  g_free (listener);
}

/* The next event for one who still listens; where there is none, nobody tells any more. */
static Event *
next_event (void)
{
  g_mutex_lock (&xp_table_lock);
  Event *event = g_queue_pop_head (&events);
  if (event == NULL)
    telling = NULL;
  else if (event->listener->is_gone)
    event->name = NULL;
  g_mutex_unlock (&xp_table_lock);
  return event;
}

static void
end_event (Event **event)
{
  if (*event == NULL)
    return;
  listener_unref ((*event)->listener);
  g_free (*event);
}

/* A listener that ends its thread leaves the rest to the next change. */
static void
stop_telling (G_GNUC_UNUSED const bool *is_telling)
{
  g_mutex_lock (&xp_table_lock);
  if (telling == &self)
    telling = NULL;
  g_mutex_unlock (&xp_table_lock);
}

static bool
tell_next (void)
{
  __attribute__ ((cleanup (end_event))) Event *event = next_event ();
  if (event != NULL && event->name != NULL)
    event->listener->function (event->name, event->is_defined, event->listener->data);
  return event != NULL;
}

void
xp_listeners_tell (void)
{
  g_mutex_lock (&xp_table_lock);
  bool is_mine = telling == NULL && !g_queue_is_empty (&events);
  if (is_mine)
    telling = &self;
  g_mutex_unlock (&xp_table_lock);
  if (!is_mine)
    return;
  __attribute__ ((cleanup (stop_telling), unused)) bool is_telling = true;
  while (tell_next ())
    ;
}

void
xp_listeners_after_fork (void)
{
  if (telling != &self)
    telling = NULL;
}

static void
tell_of_row (Row *row, void *data)
{
  if (row->definition != NULL)
    add_event (data, row, TRUE);
}

uint64_t
xp_table_listen (XpTableListener function, void *data, GDestroyNotify destroy)
{
  g_return_val_if_fail (function != NULL, 0);
  g_return_val_if_fail (xp_transaction_current () == NULL, 0);
  static uint64_t last_number;
  Listener *listener = g_new0 (Listener, 1);
  listener->function = function;
  listener->data = data;
  listener->destroy = destroy;
  listener->owner = xp_pin_at ((const void *) (uintptr_t) function);
  listener->n_references = 1;
  g_mutex_lock (&xp_table_lock);
  if (listeners == NULL)
    listeners = g_ptr_array_new ();
  uint64_t number = listener->number = ++last_number;
  g_ptr_array_add (listeners, listener);
  xp_rows_visit (tell_of_row, listener);
  g_mutex_unlock (&xp_table_lock);
  xp_listeners_tell ();
  return number;
}

void
xp_table_unlisten (uint64_t number)
{
  Listener *found = NULL;
  g_mutex_lock (&xp_table_lock);
  for (unsigned i = 0; listeners != NULL && i < listeners->len && found == NULL; i++)
    {
      Listener *listener = listeners->pdata[i];
      if (listener->number != number)
        continue;
      found = listener;
      found->is_gone = true;
      g_ptr_array_remove_index (listeners, i);
    }
  g_mutex_unlock (&xp_table_lock);
  if (found != NULL)
    listener_unref (found);
}
