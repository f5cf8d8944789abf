/* SPDX-License-Identifier: MIT
 *
 * main.c: the program `crosspoint-bench`: measures calls, registration or swaps, and prints what
 * each costs, as a table or as JSON.
 */
#include "figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct
{
  const char *name;
  const char *summary;
  gboolean (*measure) (GError **error);
  Figure *figures;
  const unsigned *n_figures;
} benchmarks[] = {
  { "dispatch", "what a call costs", dispatch_measure, dispatch_figures, &n_dispatch_figures },
  { "register", "what it costs to open rows and to fill cells", register_measure, register_figures,
    &n_register_figures },
  { "swap", "what calls cost while plugins are swapped", swap_measure, swap_figures,
    &n_swap_figures },
};

static void
print_table (const Figure *figures, unsigned n)
{
  printf ("%-48s %14s %10s\n", "", "ns", "× direct");
  for (unsigned i = 0; i < n; i++)
    if (figures[i].ns > 0)
      printf ("%-48s %14.2f %10.1f\n", figures[i].label, figures[i].ns,
              figures[i].ns / figures[0].ns);
}

static void
print_json (const char *name, const Figure *figures, unsigned n)
{
  printf ("{ \"benchmark\": \"%s\",\n  \"figures\": [", name);
  for (unsigned i = 0, n_printed = 0; i < n; i++)
    if (figures[i].ns > 0)
      printf ("%s\n    { \"name\": \"%s\", \"label\": \"%s\", \"ns\": %.4f, \"ratio\": %.3f }",
              n_printed++ > 0 ? "," : "", figures[i].name, figures[i].label, figures[i].ns,
              figures[i].ns / figures[0].ns);
  printf (" ] }\n");
}

static int
print_usage (void)
{
  fprintf (stderr, "usage: crosspoint-bench BENCHMARK [--json] [--quick]\n\n");
  for (unsigned i = 0; i < XP_LENGTH (benchmarks); i++)
    fprintf (stderr, "  %-10s %s\n", benchmarks[i].name, benchmarks[i].summary);
  return 2;
}

int
main (int argc, char **argv)
{
  gboolean json = FALSE;
  if (argc < 2)
    return print_usage ();
  for (int i = 2; i < argc; i++)
    if (strcmp (argv[i], "--json") == 0)
      json = TRUE;
    else if (strcmp (argv[i], "--quick") == 0)
      is_quick = TRUE;
    else
      return print_usage ();
  for (unsigned i = 0; i < XP_LENGTH (benchmarks); i++)
    {
      g_autoptr (GError) error = NULL;
      Figure *figures = benchmarks[i].figures;
      if (strcmp (argv[1], benchmarks[i].name) != 0)
        continue;
      pin_to_processor (0);
      if (!benchmarks[i].measure (&error))
        {
          fprintf (stderr, "crosspoint-bench: %s\n", error->message);
          return EXIT_FAILURE;
        }
      if (json)
        print_json (benchmarks[i].name, figures, *benchmarks[i].n_figures);
      else
        print_table (figures, *benchmarks[i].n_figures);
      return EXIT_SUCCESS;
    }
  return print_usage ();
}
