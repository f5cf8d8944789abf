/* SPDX-License-Identifier: MIT
 *
 * figures.h: what a benchmark measures: the fastest of many rounds, each figure with its ratio to a
 * direct call in the same run.
 */
#pragma once

#include <crosspoint.h>

/**
 * Figure:
 * @name: its name in JSON
 * @label: what it is, for people
 * @ns: the fastest round, in nanoseconds for each of what is counted; 0 where it was not measured
 *
 * The first figure of a benchmark is the direct call.
 */
typedef struct
{
  const char *name;
  const char *label;
  double ns;
} Figure;

/* What each measurement is for: @ns nanoseconds is one round of it. */
static inline void
figure_take (Figure *figure, double ns)
{
  figure->ns = figure->ns == 0 ? ns : MIN (figure->ns, ns);
}

/* With --quick everything is measured once and little: whether it works, not what it costs. */
extern gboolean is_quick;

static inline unsigned
times (unsigned usual, unsigned quick)
{
  return is_quick ? quick : usual;
}

double nanoseconds_now (void);

/* What the calling thread has had of a processor: for work so long that others get their turn. */
double nanoseconds_used (void);

/* Keeps the calling thread on the @nth processor it may use. FALSE where there are not so many. */
gboolean pin_to_processor (unsigned nth);

/* Lets the calling thread, and those it starts, use all processors again. */
void unpin_from_processor (void);

/* One round of calls through a function pointer, which is the floor. */
double direct_round (unsigned n_calls);

/* The benchmarks; each fills its figures. */
gboolean dispatch_measure (GError **error);
gboolean register_measure (GError **error);
gboolean swap_measure (GError **error);

/* dispatch.c, register.c, swap.c */
extern Figure dispatch_figures[];
extern const unsigned n_dispatch_figures;
extern Figure register_figures[];
extern const unsigned n_register_figures;
extern Figure swap_figures[];
extern const unsigned n_swap_figures;
