/* SPDX-License-Identifier: MIT
 *
 * main.cpp: the program `torch-bench`: what crosspoint-bench measures, of PyTorch's dispatcher.
 */
#include "figures.h"

#include <cstring>
#include <sched.h>

/* On the first processor it may use, as ours. */
static void
pin ()
{
  cpu_set_t allowed, one;
  CPU_ZERO (&one);
  if (sched_getaffinity (0, sizeof allowed, &allowed) != 0)
    return;
  for (int processor = 0; processor < CPU_SETSIZE; processor++)
    if (CPU_ISSET (processor, &allowed))
      {
        CPU_SET (processor, &one);
        sched_setaffinity (0, sizeof one, &one);
        return;
      }
}

int
main (int argc, char **argv)
{
  pin ();
  if (argc == 2 && std::strcmp (argv[1], "dispatch") == 0)
    measure_dispatch ();
  else if (argc == 2 && std::strcmp (argv[1], "register") == 0)
    measure_register ();
  else
    {
      std::fprintf (stderr, "usage: torch-bench dispatch|register\n");
      return 2;
    }
  return 0;
}
