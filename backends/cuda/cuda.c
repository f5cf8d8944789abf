/* SPDX-License-Identifier: MIT
 *
 * cuda.c: looks for a CUDA driver and a device. The plugin has no kernels yet: where both are
 * there it loads and fills nothing, everywhere else it says what is missing.
 */
#include <crosspoint.h>
#include <dlfcn.h>

XP_PLUGIN ("cuda", "0.1.0",
           "Looks for a CUDA driver and a device; it has no kernels yet and fills no cell", "MIT")

#define DRIVER "libcuda.so.1"

/* What is used of the driver's interface. */
typedef int (*Initialise) (unsigned flags);
typedef int (*CountDevices) (int *count);

static gboolean set_no_driver (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
set_no_driver (GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *tried = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  xp_error_set (error, XP_ERROR_UNSUITABLE, &(XpErrorDetails){ .plugin = (char *) "cuda" },
                "no CUDA driver: %s", tried);
  return FALSE;
}

gboolean
xp_plugin_probe (GError **error)
{
  /* The driver keeps threads and never lets go of the process, so it is never closed either. */
  void *driver = dlopen (DRIVER, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (driver == NULL)
    return set_no_driver (error, DRIVER " cannot be opened (%s)", dlerror ());
  Initialise initialise = (Initialise) dlsym (driver, "cuInit");
  CountDevices count_devices = (CountDevices) dlsym (driver, "cuDeviceGetCount");
  if (initialise == NULL || count_devices == NULL)
    return set_no_driver (error, DRIVER " has no %s",
                          initialise == NULL ? "cuInit" : "cuDeviceGetCount");
  int count = 0;
  int status = initialise (0);
  if (status != 0)
    return set_no_driver (error, "cuInit of " DRIVER " fails with CUDA error %d", status);
  status = count_devices (&count);
  if (status != 0)
    return set_no_driver (error, "cuDeviceGetCount of " DRIVER " fails with CUDA error %d", status);
  if (count <= 0)
    return set_no_driver (error, DRIVER " finds no device");
  return TRUE;
}
