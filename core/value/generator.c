/* SPDX-License-Identifier: MIT
 *
 * generator.c: generators, and opaque objects.
 *
 * A generator is a seed and a position: its kernels compute number n of the sequence from both
 * (Philox does), so that the numbers do not depend on how many threads draw them.
 */
#include "value/object.h"

#include <string.h>

XpGenerator *
xp_generator_new (XpDevice device, uint64_t seed)
{
  XpGenerator *generator = xp_object_new (XP_TAG_GENERATOR, sizeof *generator);
  generator->device = device;
  generator->seed = seed;
  return generator;
}

XpGenerator *
xp_generator_ref (XpGenerator *generator)
{
  return xp_object_ref (generator);
}

void
xp_generator_unref (XpGenerator *generator)
{
  xp_object_unref (generator);
}

XpDevice
xp_generator_device (const XpGenerator *generator)
{
  return generator->device;
}

uint64_t
xp_generator_seed (const XpGenerator *generator)
{
  return generator->seed;
}

uint64_t
xp_generator_advance (XpGenerator *generator, uint64_t count)
{
  return __atomic_fetch_add (&generator->position, count, __ATOMIC_RELAXED);
}

XpOpaque *
xp_opaque_new (const char *type_name, void *data, GDestroyNotify destroy)
{
  g_return_val_if_fail (type_name != NULL, NULL);
  size_t n = strlen (type_name) + 1;
  XpOpaque *opaque = xp_object_new (XP_TAG_OPAQUE, sizeof *opaque + n);
  opaque->data = data;
  opaque->destroy = destroy;
  memcpy (opaque->type_name, type_name, n);
  return opaque;
}

const char *
xp_opaque_type_name (const XpOpaque *opaque)
{
  return opaque->type_name;
}

void *
xp_opaque_data (const XpOpaque *opaque)
{
  return opaque->data;
}
