/* SPDX-License-Identifier: MIT
 *
 * late_table.c: blocks and calls of the fixture `late`.
 */
#include "plugin/late_table.h"
#include "plugin/fixtures.h"

const Late *
late_table (void)
{
  GError *error = NULL;
  int64_t address = call_number ("fixture::number", &error);
  assert_no_error (error);
  return (const Late *) (intptr_t) address;
}

gboolean
fill (XpLibrary *library, const Late *late, LateVisit *visit, GError **error)
{
  const XpImplementation kernel = {
    .size = sizeof kernel, .name = "other", .boxed = late->visit, .data = visit, .file = __FILE__
  };
  return xp_library_impl (library, &kernel, error);
}

XpLibrary *
open_filled (const Late *late, LateVisit *visit)
{
  GError *error = NULL;
  XpLibrary *library = late->open (&error);
  assert_no_error (error);
  fill (library, late, visit, &error);
  assert_no_error (error);
  return library;
}

void *
call_other (G_GNUC_UNUSED void *data)
{
  GError *error = NULL;
  call_number ("fixture::other", &error);
  assert_no_error (error);
  return NULL;
}

void *
unload_in_thread (void *data)
{
  unload (data);
  return NULL;
}
