/* SPDX-License-Identifier: MIT
 *
 * driver.c: runs a fuzz target without a fuzzer: on each seed as it is, cut at every length up to a
 * limit, and changed at random places, from a fixed start, so that each run is the same.
 *
 *   fuzz-TARGET COUNT SEED…
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
  MOST_CUTS = 512,
  MOST_CHANGES = 8
};

/* Bytes that mean something to one of the parsers. */
static const char likely[] = "()[]{}<>,;:.=*?!-+#@'\"\\|&$ \n\t0129azAZ_\0\377\177\200";

/* Changes, drops, doubles or inserts a byte. */
static void
change (GByteArray *bytes, GRand *random)
{
  guint length,
      place = bytes->len > 0 ? (guint) g_rand_int_range (random, 0, (gint32) bytes->len) : 0;
  guint8 byte = g_rand_boolean (random)
                    ? (guint8) likely[g_rand_int_range (random, 0, sizeof (likely) - 1)]
                    : (guint8) g_rand_int_range (random, 0, 256);
  switch (bytes->len > 0 ? g_rand_int_range (random, 0, 4) : 3)
    {
    case 0:
      bytes->data[place] = byte;
      break;
    case 1:
      bytes->data[place] ^= (guint8) (1u << g_rand_int_range (random, 0, 8));
      break;
    case 2:
      length = (guint) g_rand_int_range (random, 1, 9);
      g_byte_array_remove_range (bytes, place, MIN (bytes->len - place, length));
      break;
    default:
      g_byte_array_append (bytes, &byte, 1);
      memmove (bytes->data + place + 1, bytes->data + place, bytes->len - place - 1);
      bytes->data[place] = byte;
    }
}

static void
run_seed (const char *seed, gsize size, unsigned count, GRand *random)
{
  LLVMFuzzerTestOneInput ((const uint8_t *) seed, size);
  for (gsize length = 0; length < MIN (size, MOST_CUTS); length++)
    LLVMFuzzerTestOneInput ((const uint8_t *) seed, length);
  for (unsigned i = 0; i < count; i++)
    {
      g_autoptr (GByteArray) bytes = g_byte_array_new ();
      g_byte_array_append (bytes, (const guint8 *) seed, (guint) size);
      for (int n = g_rand_int_range (random, 1, MOST_CHANGES); n > 0; n--)
        change (bytes, random);
      LLVMFuzzerTestOneInput (bytes->data, bytes->len);
    }
}

int
main (int argc, char **argv)
{
  GRand *random = g_rand_new_with_seed (1);
  unsigned count = argc > 1 ? (unsigned) atoi (argv[1]) : 0;
  for (int i = 2; i < argc; i++)
    {
      g_autofree char *bytes = NULL;
      gsize size;
      g_autoptr (GError) error = NULL;
      if (!g_file_get_contents (argv[i], &bytes, &size, &error))
        {
          fprintf (stderr, "%s\n", error->message);
          return EXIT_FAILURE;
        }
      run_seed (bytes, size, count, random);
    }
  g_rand_free (random);
  return argc > 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
