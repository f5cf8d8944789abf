/* SPDX-License-Identifier: MIT
 *
 * note.c: any bytes either give a plugin's facts or an error that names the file; nothing of them
 * runs.
 */
#include "fuzz.h"

#include <crosspoint.h>
#include <stdlib.h>
#include <unistd.h>

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  int fd;
  g_autofree char *path = fuzz_file (data, size, &fd);
  g_autoptr (XpPluginInfo) info = xp_plugin_info_read (path, &error);
  close (fd);
  if (info == NULL
          ? error == NULL || error->domain != XP_ERROR
                || !g_utf8_validate (error->message, -1, NULL)
          : info->name == NULL || info->abi == NULL || !g_utf8_validate (info->name, -1, NULL)
                || (info->state == XP_PLUGIN_REJECTED && info->reason == NULL))
    abort ();
  return 0;
}
