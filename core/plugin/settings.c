/* SPDX-License-Identifier: MIT
 *
 * settings.c: settings in their layers.
 */
#include "plugin/settings.h"

#include <crosspoint/error.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <unistd.h>

#include "plugin/cpu.h"
#include "plugin/plugin.h"

typedef enum
{
  KIND_PATHS, /* separated by colons */
  KIND_NAMES, /* separated by commas */
  KIND_FEATURES,
  KIND_TIE,
  KIND_SECONDS,
  KIND_COUNT,
  KIND_SWITCH,
} Kind;

static const struct
{
  const char *name, *variable;
  Kind kind;
  const char *default_, *meaning;
} settings[] = {
#define SETTING(name, variable, kind, default_, meaning)                                           \
  { name, variable, KIND_##kind, default_, meaning },
  XP_SETTING_LIST (SETTING)
#undef SETTING
};

enum
{
  N_SETTINGS = XP_LENGTH (settings),
  LARGEST_FILE = 1 << 20,
  LARGEST_COUNT = 1 << 16,
  LONGEST_WAIT_SECONDS = 5,
};

static const char group[] = "crosspoint";

/* A leaf. */
GMutex xp_settings_lock;
unsigned xp_settings_changes;

static char *program[N_SETTINGS];
static char *file[N_SETTINGS];
static bool is_file_read;
static bool is_warned[N_SETTINGS]; /* of the variable, once */

bool
xp_environment_is_trusted (void)
{
  return getauxval (AT_SECURE) == 0;
}

static int
find (const char *name)
{
  for (unsigned i = 0; i < N_SETTINGS; i++)
    if (strcmp (settings[i].name, name) == 0)
      return (int) i;
  return -1;
}

/* One that is not would be another directory from each working directory. */
static bool
is_absolute (const char *paths)
{
  g_auto (GStrv) parts = g_strsplit (paths, ":", -1);
  for (char **part = parts; *part != NULL; part++)
    if ((*part)[0] != '\0' && !g_path_is_absolute (*part))
      return false;
  return true;
}

/* "", or what was expected. */
static const char *
expected (Kind kind, const char *value)
{
  char *end = NULL;
  double number = g_ascii_strtod (value, &end);
  bool is_number = end != value && *end == '\0' && isfinite (number) && number >= 0;
  switch (kind)
    {
    case KIND_TIE:
      return strcmp (value, "newest") == 0 || strcmp (value, "error") == 0 ? "" : "newest or error";
    case KIND_SECONDS:
      return is_number && number <= G_MAXINT ? "" : "a number of seconds";
    case KIND_COUNT:
      return is_number && number <= LARGEST_COUNT && number == floor (number)
                 ? ""
                 : "a whole number from 0 to 65536";
    case KIND_SWITCH:
      return strcmp (value, "0") == 0 || strcmp (value, "1") == 0 ? "" : "0 or 1";
    case KIND_FEATURES:
      return xp_cpu_is_mask (value) ? "" : xp_cpu_mask_form;
    case KIND_PATHS:
      return is_absolute (value) ? "" : "absolute paths with a `:` between each two";
    case KIND_NAMES:
      break;
    }
  return g_utf8_validate (value, -1, NULL) ? "" : "UTF-8 text";
}

static gboolean
check (unsigned i, const char *value, const char *source, GError **error)
{
  const char *wanted = expected (settings[i].kind, value);
  if (wanted[0] == '\0')
    return TRUE;
  g_autofree char *valid = g_utf8_make_valid (value, -1);
  xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL, "%s: expected %s for %s, found '%s'",
                source, wanted, settings[i].name, valid);
  return FALSE;
}

static void
warn (const char *message)
{
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "MESSAGE", "%s; it does not count", message);
}

static void
set_unknown (const char *name, GError **error)
{
  g_autofree char *names = xp_setting_names ();
  xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL, "there is no setting '%s'; there are %s",
                name, names);
}

/* --- The user's file. --- */

/* A relative one, of HOME or XDG_CONFIG_HOME, would let the working directory decide what is
 * loaded; it counts as none. */
static char *
user_config_directory (void)
{
  struct passwd entry, *found = NULL;
  char buffer[4096];
  if (g_path_is_absolute (g_get_user_config_dir ()))
    return g_strdup (g_get_user_config_dir ());
  const char *home = g_get_home_dir ();
  if (!g_path_is_absolute (home)
      && (getpwuid_r (geteuid (), &entry, buffer, sizeof buffer, &found) != 0 || found == NULL
          || !g_path_is_absolute (home = entry.pw_dir)))
    home = "/";
  return g_build_filename (home, ".config", NULL);
}

char *
xp_settings_file (void)
{
  const char *chosen = xp_environment_is_trusted () ? g_getenv ("CROSSPOINT_CONFIG") : NULL;
  if (chosen != NULL && chosen[0] != '\0')
    return g_canonicalize_filename (chosen, NULL);
  g_autofree char *directory = user_config_directory ();
  return g_build_filename (directory, "crosspoint", "crosspoint.conf", NULL);
}

/* The text of the file; NULL, without an error, if it is not there. */
static GBytes *
read_file (const char *path, GError **error)
{
  struct stat status;
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOENT)
    return NULL;
  GBytes *text = NULL;
  if (fd < 0 || fstat (fd, &status) != 0)
    xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be opened: %s", path,
                  g_strerror (errno));
  else if (!S_ISREG (status.st_mode) || status.st_size > LARGEST_FILE)
    xp_error_set (error, XP_ERROR_FILE_FORMAT, NULL,
                  "%s is no file of settings: expected a regular file of at most 1 MiB", path);
  else if (xp_file_is_trusted (path, &status, error))
    {
      g_autofree char *bytes = g_malloc ((gsize) status.st_size + 1);
      ssize_t n = read (fd, bytes, (size_t) status.st_size);
      if (n >= 0)
        text = g_bytes_new (bytes, (gsize) n);
      else
        xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be read: %s", path,
                      g_strerror (errno));
    }
  if (fd >= 0)
    close (fd);
  return text;
}

static void
take_key (GKeyFile *keys, const char *key, const char *path, GPtrArray *warnings)
{
  g_autoptr (GError) error = NULL;
  int i = find (key);
  g_autofree char *value = g_key_file_get_value (keys, group, key, NULL);
  if (i < 0)
    {
      g_autofree char *names = xp_setting_names ();
      g_ptr_array_add (warnings, g_strdup_printf ("%s: there is no setting '%s'; there are %s",
                                                  path, key, names));
    }
  else if (check ((unsigned) i, value, path, &error))
    file[i] = g_steal_pointer (&value);
  else
    g_ptr_array_add (warnings, g_strdup (error->message));
}

static void
take_keys (GKeyFile *keys, const char *path, GPtrArray *warnings)
{
  g_auto (GStrv) groups = g_key_file_get_groups (keys, NULL);
  for (char **name = groups; *name != NULL; name++)
    if (strcmp (*name, group) != 0)
      g_ptr_array_add (warnings, g_strdup_printf ("%s: expected the group [%s], found [%s]", path,
                                                  group, *name));
  g_auto (GStrv) names = g_key_file_get_keys (keys, group, NULL, NULL);
  for (char **name = names; name != NULL && *name != NULL; name++)
    take_key (keys, *name, path, warnings);
}

/* Called with the lock held; what there is to warn of is said without it. */
static void
read_settings (GPtrArray *warnings)
{
  is_file_read = true;
  for (unsigned i = 0; i < N_SETTINGS; i++)
    g_clear_pointer (&file[i], g_free);
  if (!xp_environment_is_trusted ())
    return;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = xp_settings_file ();
  g_autoptr (GBytes) text = read_file (path, &error);
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  if (text != NULL && g_bytes_get_size (text) > 0
      && !g_key_file_load_from_bytes (keys, text, G_KEY_FILE_NONE, &error))
    g_prefix_error (&error, "%s: ", path);
  else if (text != NULL)
    take_keys (keys, path, warnings);
  if (error != NULL)
    g_ptr_array_add (warnings, g_strdup (error->message));
}

/* --- Layers. --- */

static char *
environment_value (unsigned i, GPtrArray *warnings)
{
  const char *value = xp_environment_is_trusted () ? g_getenv (settings[i].variable) : NULL;
  if (value == NULL)
    return NULL;
  g_autoptr (GError) error = NULL;
  if (check (i, value, settings[i].variable, &error))
    return g_strdup (value);
  if (!is_warned[i])
    g_ptr_array_add (warnings, g_strdup (error->message));
  is_warned[i] = true;
  return NULL;
}

static char *
layer_value (unsigned i, XpSettingLayer layer, GPtrArray *warnings)
{
  switch (layer)
    {
    case XP_SETTING_PROGRAM:
      return g_strdup (program[i]);
    case XP_SETTING_ENVIRONMENT:
      return environment_value (i, warnings);
    case XP_SETTING_FILE:
      if (!is_file_read)
        read_settings (warnings);
      return g_strdup (file[i]);
    default:
      return g_strdup (settings[i].default_);
    }
}

/* The value in the layers from @first to @last, and the one it is from. */
static char *
value_between (unsigned i, XpSettingLayer first, XpSettingLayer last, XpSettingLayer *layer)
{
  char *value = NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_mutex_lock (&xp_settings_lock);
  for (*layer = first; (value = layer_value (i, *layer, warnings)) == NULL && *layer < last;)
    (*layer)++;
  g_mutex_unlock (&xp_settings_lock);
  for (unsigned j = 0; j < warnings->len; j++)
    warn (warnings->pdata[j]);
  return value;
}

char *
xp_setting_get (const char *name)
{
  g_return_val_if_fail (name != NULL && find (name) >= 0, NULL);
  XpSettingLayer layer;
  return value_between ((unsigned) find (name), XP_SETTING_PROGRAM, XP_SETTING_DEFAULT, &layer);
}

char *
xp_setting_get_layer (const char *name, XpSettingLayer layer)
{
  g_return_val_if_fail (name != NULL && find (name) >= 0, NULL);
  g_return_val_if_fail ((unsigned) layer < XP_N_SETTING_LAYERS, NULL);
  return value_between ((unsigned) find (name), layer, layer, &layer);
}

double
xp_setting_get_number (const char *name)
{
  g_autofree char *value = xp_setting_get (name);
  g_return_val_if_fail (value != NULL, 0);
  return g_ascii_strtod (value, NULL);
}

/* The parts of @value; in them `default` stands for what is built in, where that is something. */
static void
add_parts (GStrvBuilder *list, unsigned i, const char *value)
{
  const char *built_in = settings[i].default_;
  g_auto (GStrv) parts = g_strsplit (value, settings[i].kind == KIND_PATHS ? ":" : ",", -1);
  for (char **part = parts; *part != NULL; part++)
    if (*g_strstrip (*part) == '\0')
      continue;
    else if (strcmp (*part, "default") == 0 && built_in[0] != '\0')
      add_parts (list, i, built_in);
    else
      g_strv_builder_add (list, *part);
}

char **
xp_setting_get_list (const char *name)
{
  g_autofree char *value = xp_setting_get (name);
  g_return_val_if_fail (value != NULL, NULL);
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  add_parts (list, (unsigned) find (name), value);
  return g_strv_builder_end (list);
}

char *
xp_setting_names (void)
{
  GString *names = g_string_new (NULL);
  for (unsigned i = 0; i < N_SETTINGS; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", settings[i].name);
  return g_string_free (names, FALSE);
}

gboolean
xp_setting_set (const char *name, const char *value, GError **error)
{
  g_return_val_if_fail (name != NULL, FALSE);
  int i = find (name);
  if (i < 0)
    {
      set_unknown (name, error);
      return FALSE;
    }
  if (value != NULL && !check ((unsigned) i, value, "program", error))
    return FALSE;
  g_mutex_lock (&xp_settings_lock);
  g_free (program[i]);
  program[i] = g_strdup (value);
  __atomic_fetch_add (&xp_settings_changes, 1, __ATOMIC_RELEASE);
  g_mutex_unlock (&xp_settings_lock);
  return TRUE;
}

/* --- Writing the user's file. --- */

/* What is in the file at @path, comments too; nothing, if it is not there. */
static GKeyFile *
read_keys (const char *path, GError **error)
{
  GError *local = NULL;
  g_autoptr (GKeyFile) keys = g_key_file_new ();
  g_autoptr (GBytes) text = read_file (path, &local);
  if (local == NULL && text != NULL && g_bytes_get_size (text) > 0)
    {
      GError *wrong = NULL;
      if (!g_key_file_load_from_bytes (keys, text, G_KEY_FILE_KEEP_COMMENTS, &wrong))
        xp_error_set (&local, XP_ERROR_FILE_FORMAT, NULL,
                      "%s is no file of settings, and is left as it is: %s", path, wrong->message);
      g_clear_error (&wrong);
    }
  if (local == NULL)
    return g_steal_pointer (&keys);
  g_propagate_error (error, local);
  return NULL;
}

static gboolean
write_file (const char *path, const char *text, gsize n, GError **error)
{
  struct stat status;
  GError *local = NULL;
  int mode = stat (path, &status) == 0 ? (int) (status.st_mode & 0777) : 0600;
  if (g_file_set_contents_full (path, text, (gssize) n, G_FILE_SET_CONTENTS_CONSISTENT, mode,
                                &local))
    return TRUE;
  xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be written: %s", path,
                local != NULL ? local->message : g_strerror (errno));
  g_clear_error (&local);
  return FALSE;
}

static gboolean
check_saved (int i, const char *name, const char *value, GError **error)
{
  if (i < 0)
    set_unknown (name, error);
  else if (!xp_environment_is_trusted ())
    xp_error_set (error, XP_ERROR_UNSAFE_FILE, NULL,
                  "the user's file of settings is neither read nor written by a program with "
                  "raised privileges");
  else if (value != NULL && strpbrk (value, "\n\r") != NULL)
    xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL, "expected one line for %s, found several",
                  name);
  else
    return value == NULL || check ((unsigned) i, value, "the user's file", error);
  return FALSE;
}

/* Whoever else saves waits; or the error. It stays, for another may wait for it. */
static int
lock_file (const char *path, GError **error)
{
  g_autofree char *lock = g_strconcat (path, ".lock", NULL);
  g_autofree char *folder = g_path_get_dirname (path);
  int fd = g_mkdir_with_parents (folder, 0700) == 0
               ? open (lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600)
               : -1;
  gint64 deadline = g_get_monotonic_time () + LONGEST_WAIT_SECONDS * G_USEC_PER_SEC;
  bool is_locked = false;
  while (fd >= 0 && !(is_locked = flock (fd, LOCK_EX | LOCK_NB) == 0)
         && (errno == EWOULDBLOCK || errno == EINTR) && g_get_monotonic_time () < deadline)
    g_usleep (5000);
  if (is_locked)
    return fd;
  int problem = errno;
  if (fd >= 0 && problem == EWOULDBLOCK)
    xp_error_set (
        error, XP_ERROR_BUSY, NULL,
        "%s is not written: another process has held %s for %d seconds; try again when it "
        "has ended",
        path, lock, LONGEST_WAIT_SECONDS);
  else
    xp_error_set (error, XP_ERROR_FILE_IO, NULL, "%s cannot be written: %s cannot be locked: %s",
                  path, lock, g_strerror (problem));
  if (fd >= 0)
    close (fd);
  return -1;
}

/* A child that was forked meanwhile has it open too. */
static void
unlock_file (int fd)
{
  flock (fd, LOCK_UN);
  close (fd);
}

/* With the file's lock held. */
static gboolean
edit_file (int i, const char *path, XpSettingEdit edit, void *data, GError **error)
{
  gsize n = 0;
  const char *name = settings[i].name;
  g_autofree char *after = NULL;
  g_autoptr (GKeyFile) keys = read_keys (path, error);
  g_autofree char *before = keys != NULL ? g_key_file_get_value (keys, group, name, NULL) : NULL;
  if (keys == NULL || !edit (before, data, &after, error) || !check_saved (i, name, after, error))
    return FALSE;
  if (after != NULL)
    g_key_file_set_value (keys, group, name, after);
  else
    g_key_file_remove_key (keys, group, name, NULL);
  g_autofree char *text = g_key_file_to_data (keys, &n, NULL);
  g_mutex_lock (&xp_settings_lock);
  gboolean done = write_file (path, text, n, error);
  if (done && is_file_read)
    {
      g_free (file[i]);
      file[i] = g_steal_pointer (&after);
      __atomic_fetch_add (&xp_settings_changes, 1, __ATOMIC_RELEASE);
    }
  g_mutex_unlock (&xp_settings_lock);
  return done;
}

gboolean
xp_setting_edit (const char *name, XpSettingEdit edit, void *data, GError **error)
{
  g_return_val_if_fail (name != NULL && edit != NULL, FALSE);
  int i = find (name);
  if (!check_saved (i, name, NULL, error))
    return FALSE;
  g_autofree char *path = xp_settings_file ();
  /* A link stays one. */
  char *real = realpath (path, NULL);
  const char *target = real != NULL ? real : path;
  int lock = lock_file (target, error);
  gboolean done = lock >= 0 && edit_file (i, target, edit, data, error);
  if (lock >= 0)
    unlock_file (lock);
  free (real);
  return done;
}

static gboolean
replace_value (G_GNUC_UNUSED const char *before, void *data, char **after,
               G_GNUC_UNUSED GError **error)
{
  *after = g_strdup (data);
  return TRUE;
}

gboolean
xp_setting_save (const char *name, const char *value, GError **error)
{
  g_return_val_if_fail (name != NULL, FALSE);
  return check_saved (find (name), name, value, error)
         && xp_setting_edit (name, replace_value, (char *) value, error);
}

static char *
source_of (unsigned i, XpSettingLayer layer)
{
  switch (layer)
    {
    case XP_SETTING_PROGRAM:
      return g_strdup ("program");
    case XP_SETTING_ENVIRONMENT:
      return g_strdup (settings[i].variable);
    case XP_SETTING_FILE:
      return xp_settings_file ();
    default:
      return g_strdup ("default");
    }
}

char *
xp_setting_source (const char *name)
{
  g_return_val_if_fail (name != NULL && find (name) >= 0, NULL);
  XpSettingLayer layer;
  unsigned i = (unsigned) find (name);
  g_free (value_between (i, XP_SETTING_PROGRAM, XP_SETTING_DEFAULT, &layer));
  return source_of (i, layer);
}

XpSetting *
xp_settings (unsigned *n_settings)
{
  g_return_val_if_fail (n_settings != NULL, NULL);
  XpSetting *list = g_new0 (XpSetting, N_SETTINGS);
  for (unsigned i = 0; i < N_SETTINGS; i++)
    {
      list[i] = (XpSetting){ .name = settings[i].name,
                             .variable = settings[i].variable,
                             .meaning = settings[i].meaning };
      list[i].value = value_between (i, XP_SETTING_PROGRAM, XP_SETTING_DEFAULT, &list[i].layer);
      list[i].source = source_of (i, list[i].layer);
    }
  *n_settings = N_SETTINGS;
  return list;
}

void
xp_settings_free (XpSetting *list, unsigned n_settings)
{
  for (unsigned i = 0; i < n_settings; i++)
    {
      g_free (list[i].value);
      g_free (list[i].source);
    }
  g_free (list);
}
