/* SPDX-License-Identifier: MIT
 *
 * finding.c: any bytes where the finding of a scan is read, from the cache or from the helper, give
 * what is in them or nothing. A changed byte never gets past the checksum, so the bytes are also
 * given as what it protects.
 */
#include "fuzz.h"

#include <crosspoint.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static char *folder, *plugin, *kept;
static bool by_helper; /* FUZZ_HELPER is set: what a helper writes is read, which is slow */

static void
begin (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *here = g_path_get_dirname (program);
  g_autofree char *example = g_build_filename (here, "..", "..", "docs", "myops.so", NULL);
  plugin = g_canonicalize_filename (example, NULL);
  folder = g_dir_make_tmp ("crosspoint-fuzz-XXXXXX", NULL);
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_autofree char *name = g_compute_checksum_for_string (G_CHECKSUM_SHA256, plugin, -1);
  g_autofree char *plugins = g_build_filename (folder, "crosspoint", "plugins", NULL);
  kept = g_build_filename (plugins, name, NULL);
  g_autofree char *helper = g_build_filename (folder, "helper", NULL);
  g_autofree char *text = g_strdup_printf ("#!/bin/sh\nexec cat '%s/result' >&3\n", folder);
  if (g_mkdir_with_parents (plugins, 0700) != 0
      || !g_file_set_contents_full (helper, text, -1, G_FILE_SET_CONTENTS_NONE, 0700, NULL))
    abort ();
  g_setenv ("CROSSPOINT_SCANNER", helper, TRUE);
  by_helper = g_getenv ("FUZZ_HELPER") != NULL;
}

__attribute__ ((destructor)) static void
end (void)
{
  const char *const files[] = { "helper", "result", "crosspoint/plugins", "crosspoint", "" };
  if (folder == NULL)
    return;
  g_unlink (kept);
  for (unsigned i = 0; i < XP_LENGTH (files); i++)
    {
      g_autofree char *path = g_build_filename (folder, files[i], NULL);
      g_remove (path);
    }
}

static void
write_bytes (const char *path, GByteArray *bytes)
{
  if (!g_file_set_contents_full (path, (const char *) bytes->data, bytes->len,
                                 G_FILE_SET_CONTENTS_NONE, 0600, NULL))
    abort ();
}

static void
check_text (const char *text)
{
  if (text == NULL || !g_utf8_validate (text, -1, NULL))
    abort ();
}

static void
read_kept (void)
{
  g_autoptr (XpCoverage) coverage = xp_plugin_coverage_read (plugin);
  for (unsigned i = 0; coverage != NULL && i < coverage->n_rows; i++)
    check_text (coverage->rows[i].schema);
  for (unsigned i = 0; coverage != NULL && i < coverage->n_cells; i++)
    check_text (coverage->cells[i].key);
}

static void
read_result (GByteArray *bytes)
{
  unsigned n;
  g_autofree char *path = g_build_filename (folder, "result", NULL);
  g_byte_array_prepend (bytes, (const guint8 *) "B", 1);
  write_bytes (path, bytes);
  XpPluginInfo **infos = xp_plugins_scan ((const char *const[]){ plugin, NULL }, XP_SCAN_AGAIN, &n,
                                          NULL);
  if (infos == NULL || n != 1)
    abort ();
  if (infos[0]->reason != NULL)
    check_text (infos[0]->reason);
  xp_plugin_info_free (infos[0]);
  g_free (infos);
}

static void
read_bytes (GByteArray *bytes)
{
  if (by_helper)
    read_result (bytes);
  else
    write_bytes (kept, bytes);
  read_kept ();
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  if (folder == NULL)
    begin ();
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  if (size > 1 << 20)
    return 0;
  g_byte_array_append (bytes, data, (guint) size);
  read_bytes (bytes);
  guint64 sum = 0xcbf29ce484222325, n = size;
  for (size_t i = 0; i < size; i++)
    sum = (sum ^ data[i]) * 0x100000001b3;
  g_byte_array_set_size (bytes, 0);
  g_byte_array_append (bytes, (const guint8 *) "XPFIND1\n", 8);
  g_byte_array_append (bytes, (const guint8 *) &n, sizeof n);
  g_byte_array_append (bytes, (const guint8 *) &sum, sizeof sum);
  g_byte_array_append (bytes, data, (guint) size);
  read_bytes (bytes);
  return 0;
}
