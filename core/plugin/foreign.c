/* SPDX-License-Identifier: MIT
 *
 * foreign.c: plugins that came in another way than through a load: linked to the program,
 * preloaded, opened by somebody else, or linked in statically; and whose code an address is.
 *
 * An object is known by the linker's list of what is mapped: dladdr() would wait for whoever opens
 * a library now, and a constructor may wait for the thread that asks here.
 */
#include "begin.h"
#include "plugin/plugin.h"
#include "table/preferences.h"
#include "threads/threads.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* --- Objects. --- */

typedef struct
{
  const void *address;
  char *name; /* as the linker has it, empty for the program; NULL where there is none */
  const char *low;
  const char *high;
} Object;

void
xp_object_range (const struct dl_phdr_info *info, const char **low, const char **high)
{
  *low = *high = NULL;
  for (unsigned i = 0; i < info->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *header = &info->dlpi_phdr[i];
      if (header->p_type != PT_LOAD)
        continue;
      const char *start = (const char *) info->dlpi_addr + header->p_vaddr;
      const char *end = start + header->p_memsz;
      *low = *low == NULL || start < *low ? start : *low;
      *high = end > *high ? end : *high;
    }
}

bool
xp_object_contains (const struct dl_phdr_info *info, const void *address)
{
  const char *low, *high;
  xp_object_range (info, &low, &high);
  return low != NULL && (const char *) address >= low && (const char *) address < high;
}

char *
xp_object_path (const char *name)
{
  if (name[0] != '\0')
    return g_canonicalize_filename (name, NULL);
  char *path = g_file_read_link ("/proc/self/exe", NULL);
  return path != NULL ? path : g_strdup ("the program");
}

static int
take_object (struct dl_phdr_info *info, G_GNUC_UNUSED size_t size, void *data)
{
  Object *object = data;
  if (!xp_object_contains (info, object->address))
    return 0;
  object->name = g_strdup (info->dlpi_name);
  xp_object_range (info, &object->low, &object->high);
  return 1;
}

GMutex xp_objects_lock;

void
xp_objects_visit (int (*visit) (struct dl_phdr_info *info, size_t size, void *data), void *data)
{
  g_mutex_lock (&xp_objects_lock);
  dl_iterate_phdr (visit, data);
  g_mutex_unlock (&xp_objects_lock);
}

char *
xp_object_path_at (const void *address)
{
  Object object = { .address = address };
  xp_objects_visit (take_object, &object);
  char *path = xp_object_path (object.name != NULL ? object.name : "");
  g_free (object.name);
  return path;
}

/* --- While we load. --- */

/* Whether it is the object that @plugin, which is being loaded, has just become. */
static bool
take_own_object (XpPlugin *plugin, const Object *object)
{
  g_mutex_lock (&xp_plugins_lock);
  bool is_own = plugin->state == XP_PLUGIN_LOADING
                && g_strcmp0 (plugin->mapped_path, object->name) == 0;
  if (is_own)
    xp_plugin_set_mapped (plugin, object->low, object->high);
  g_mutex_unlock (&xp_plugins_lock);
  return is_own;
}

/* Constructors that run in a load are those of the plugin, and of what it opens or needs. */
static XpOwner *
owner_in_load (const void *address)
{
  XpPlugin *plugin = (XpPlugin *) xp_transaction_current_owner ();
  if (xp_plugin_at (address) == plugin)
    return &plugin->owner;
  Object object = { .address = address };
  xp_objects_visit (take_object, &object);
  g_autofree char *name = object.name;
  if (name != NULL && take_own_object (plugin, &object))
    return &plugin->owner;
  g_autofree char *path = name != NULL ? xp_object_path (name) : g_strdup ("code without a file");
  GError *error = NULL;
  xp_error_set (&error, XP_ERROR_NESTED_LOAD, &(XpErrorDetails){ .plugin = plugin->owner.name },
                "%s registers while %s is loaded, which opens or needs it: a load takes what one "
                "file registers; load %s as a plugin of its own, before",
                path, plugin->owner.name, path);
  xp_transaction_keep_error (xp_transaction_current (), error, NULL);
  return NULL;
}

/* A thread may run code of a plugin whose constructors have not ended. */
static XpPlugin *
find_loading (const Object *object)
{
  for (XpPlugin *plugin = xp_plugin_records (); plugin != NULL; plugin = plugin->next)
    if (take_own_object (plugin, object))
      return plugin;
  return NULL;
}

/* --- What came in by itself. --- */

/* What its file says. NULL, without an error, for the program and for objects that are no plugins:
 * what they register is the program's. */
static XpPluginInfo *
read_note (const Object *object, const char *path, const XpLinkedPlugin *linked, GError **error)
{
  if (linked == NULL && object->name[0] == '\0')
    return NULL;
  GError *local = NULL;
  XpPluginInfo *note = xp_note_read_file (path, linked, &local);
  if (note != NULL)
    {
      if (note->state == XP_PLUGIN_REJECTED)
        g_set_error_literal (error, XP_ERROR, XP_ERROR_PLUGIN_NOT_LOADED, note->reason);
      return note;
    }
  if (!g_error_matches (local, XP_ERROR, XP_ERROR_NOT_A_PLUGIN))
    {
      note = xp_plugin_info_new (NULL, path);
      note->name = linked != NULL ? g_strdup (linked->name) : xp_note_name_of_file (path);
      g_propagate_error (error, local);
      return note;
    }
  g_error_free (local);
  return NULL;
}

static void
say_refused (const XpPlugin *plugin)
{
  g_log_structured (G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "PLUGIN", plugin->owner.name, "MESSAGE",
                    "%s came in another way than through a load, and registers nothing: %s",
                    plugin->note->path, plugin->owner.refusal);
}

/* Opened once more, the file stays mapped until it is unloaded through us. */
static void *
hold (const Object *object)
{
  return object->name[0] != '\0' ? dlopen (object->name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)
                                 : NULL;
}

static void (*find_fini (const Object *object, void *handle, const XpLinkedPlugin *linked)) (void)
{
  if (linked != NULL)
    return linked->fini;
  const char *fini = handle != NULL ? dlsym (handle, "xp_plugin_fini") : NULL;
  bool is_own = fini >= object->low && fini < object->high; /* not of a library it depends on */
  return is_own ? (void (*) (void)) fini : NULL;
}

static XpOwner *
adopt (const Object *object, const XpLinkedPlugin *linked)
{
  struct stat status = { 0 };
  g_autoptr (GError) refusal = NULL;
  g_autofree char *path = xp_object_path (object->name);
  XpPlugin *known = linked != NULL ? xp_plugin_find_linked (linked) : find_loading (object);
  if (known != NULL)
    return &known->owner;
  XpPluginInfo *note = read_note (object, path, linked, &refusal);
  if (note == NULL || (stat (path, &status) != 0 && refusal == NULL))
    {
      xp_plugin_info_free (note);
      return &xp_program_owner;
    }
  void *handle = refusal == NULL ? hold (object) : NULL;
  XpForeign found = { .path = path,
                      .handle = handle,
                      .fini = find_fini (object, handle, linked),
                      .linked = linked,
                      .low = linked == NULL ? object->low : NULL,
                      .high = linked == NULL ? object->high : NULL,
                      .refusal = refusal != NULL ? refusal->message : NULL };
  xp_preferences_begin ();
  XpPlugin *plugin = xp_plugin_record_foreign (note, &status, &found);
  if (handle != NULL && !found.is_new)
    dlclose (handle);
  if (found.is_refused_now)
    say_refused (plugin);
  return &plugin->owner;
}

/* Whether what is mapped where @plugin was is not another object by now. */
static bool
is_still (const XpPlugin *plugin, const char *name)
{
  g_autofree char *path = xp_object_path (name);
  g_mutex_lock (&xp_plugins_lock);
  bool is_same = g_strcmp0 (plugin->mapped_path, path) == 0;
  g_mutex_unlock (&xp_plugins_lock);
  return is_same;
}

static XpOwner *
find_owner (const void *address, const XpLinkedPlugin *linked)
{
  XP_UNCANCELLED cancelling = xp_thread_stop_cancelling ();
  if (xp_transaction_current () != NULL)
    return owner_in_load (address);
  XpPlugin *plugin = linked == NULL ? xp_plugin_at (address) : NULL;
  if (plugin != NULL && xp_plugin_state (plugin) == XP_PLUGIN_LOADED)
    return &plugin->owner;
  Object object = { .address = address };
  xp_objects_visit (take_object, &object);
  g_autofree char *name = object.name;
  if (name == NULL)
    return &xp_program_owner;
  return plugin != NULL && is_still (plugin, name) ? &plugin->owner : adopt (&object, linked);
}

void
xp_foreign_begin (void)
{
  xp_owner_at_hook = find_owner;
}
