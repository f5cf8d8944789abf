/* SPDX-License-Identifier: MIT
 *
 * linker.c: finding libraries as ld.so does (ld.so(8)): RPATH, RUNPATH, the cache, the standard
 * folders. Sub-folders for processors, glibc-hwcaps, hold the same libraries built otherwise and
 * are not looked into.
 */
#include "linker.h"

#include <crosspoint.h>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <string.h>

enum
{
  MOST_LIBRARIES = 1024,
  MOST_FOLDERS = 64
};

struct Linker
{
  GHashTable *objects;    /* path -> SharedObject, or NULL for what is none */
  GHashTable *cache;      /* name -> GPtrArray of paths */
  GPtrArray *core;        /* (element-type SharedObject) */
  char *system_directory; /* where libc lies */
};

/* A library in the order that the linker looks for them in, and who has asked for it. */
typedef struct
{
  const SharedObject *object;
  int requester; /* its place in the same list; -1 for none */
} Library;

typedef struct
{
  Linker *linker;
  GArray *found; /* of Library; the first is the file itself */
  GHashTable *names;
  GPtrArray *missing;
  GPtrArray *by_origin;
} Search;

/* --- The linker's cache. --- */

static const char cache_magic[] = "glibc-ld.so.cache1.1";

/* What is in the file, as <dl-cache.h> of glibc lays it out. */
typedef struct
{
  char magic[sizeof cache_magic - 1];
  guint32 n_libraries;
  guint32 strings_size;
  guint32 unused[5];
} CacheHeader;

typedef struct
{
  gint32 flags;
  guint32 name; /* offsets from the header */
  guint32 path;
  guint32 system;
  guint64 cpu;
} CacheEntry;

static const char *
cache_text (const char *bytes, gsize size, guint32 offset)
{
  return offset < size && memchr (bytes + offset, '\0', size - offset) != NULL ? bytes + offset
                                                                               : NULL;
}

static void
take_cache (Linker *linker, const char *bytes, gsize size)
{
  CacheHeader header;
  /* An older form may stand before it. */
  const char *start = memmem (bytes, size, cache_magic, sizeof cache_magic - 1);
  gsize left = start != NULL ? size - (gsize) (start - bytes) : 0;
  if (left < sizeof header)
    return;
  memcpy (&header, start, sizeof header);
  gsize n = MIN (header.n_libraries, (left - sizeof header) / sizeof (CacheEntry));
  for (gsize i = 0; i < n; i++)
    {
      CacheEntry entry;
      memcpy (&entry, start + sizeof header + i * sizeof entry, sizeof entry);
      const char *name = cache_text (start, left, entry.name);
      const char *path = cache_text (start, left, entry.path);
      if (name == NULL || path == NULL)
        continue;
      GPtrArray *paths = g_hash_table_lookup (linker->cache, name);
      if (paths == NULL)
        {
          paths = g_ptr_array_new_with_free_func (g_free);
          g_hash_table_insert (linker->cache, g_strdup (name), paths);
        }
      g_ptr_array_add (paths, g_strdup (path));
    }
}

/* --- Files. --- */

Linker *
linker_new (void)
{
  Linker *linker = g_new0 (Linker, 1);
  linker->objects = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                           (GDestroyNotify) shared_object_free);
  linker->cache = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify) g_ptr_array_unref);
  g_autofree char *bytes = NULL;
  gsize size;
  if (g_file_get_contents ("/etc/ld.so.cache", &bytes, &size, NULL))
    take_cache (linker, bytes, size);
  Dl_info where;
  linker->system_directory = dladdr ((void *) gnu_get_libc_version, &where) != 0
                                 ? g_path_get_dirname (where.dli_fname)
                                 : g_strdup ("/lib");
  return linker;
}

void
linker_free (Linker *linker)
{
  if (linker == NULL)
    return;
  g_clear_pointer (&linker->core, g_ptr_array_unref);
  g_hash_table_unref (linker->objects);
  g_hash_table_unref (linker->cache);
  g_free (linker->system_directory);
  g_free (linker);
}

const SharedObject *
linker_read (Linker *linker, const char *path)
{
  gpointer known;
  if (g_hash_table_lookup_extended (linker->objects, path, NULL, &known))
    return known;
  SharedObject *object = shared_object_read (path, NULL);
  g_hash_table_insert (linker->objects, g_strdup (path), object);
  return object;
}

static gboolean
is_same_machine (const SharedObject *a, const SharedObject *b)
{
  return a->machine == b->machine && a->class_ == b->class_ && a->byte_order == b->byte_order;
}

/* --- Folders. --- */

gboolean
folder_is_origin (const char *folder)
{
  return strstr (folder, "$ORIGIN") != NULL || strstr (folder, "${ORIGIN}") != NULL;
}

gboolean
folder_is_relative (const char *folder)
{
  return folder[0] != '/' && !g_str_has_prefix (folder, "$ORIGIN")
         && !g_str_has_prefix (folder, "${ORIGIN}");
}

/* $ORIGIN is @origin; $LIB is that of this system. $PLATFORM stands for nothing here. */
static char *
expand_folder (const Linker *linker, const char *folder, const char *origin)
{
  const char *lib = linker->system_directory;
  lib += g_str_has_prefix (lib, "/usr") ? strlen ("/usr") : 0;
  lib += *lib == '/';
  GString *text = g_string_new (folder);
  const char *const values[][2] = {
    { "${ORIGIN}", origin }, { "$ORIGIN", origin }, { "${LIB}", lib }, { "$LIB", lib }
  };
  for (unsigned i = 0; i < XP_LENGTH (values); i++)
    g_string_replace (text, values[i][0], values[i][1], 0);
  return g_string_free (text, FALSE);
}

static const SharedObject *
try_path (const Search *search, const char *path)
{
  const SharedObject *wanted = g_array_index (search->found, Library, 0).object;
  const SharedObject *object = linker_read (search->linker, path);
  return object != NULL && object->is_library && is_same_machine (object, wanted) ? object : NULL;
}

static const SharedObject *
try_folder (const Search *search, const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  return try_path (search, path);
}

/* The folders of a RPATH or RUNPATH, separated by colons. Of @origin NULL those that begin with it
 * are passed over. */
static const SharedObject *
try_folders (const Search *search, const char *folders, const char *origin, const char *name)
{
  g_auto (GStrv) parts = g_strsplit (folders, ":", MOST_FOLDERS);
  const SharedObject *object = NULL;
  for (char **part = parts; *part != NULL && object == NULL; part++)
    {
      if (origin == NULL && folder_is_origin (*part))
        continue;
      g_autofree char *folder = expand_folder (search->linker, *part, origin != NULL ? origin : "");
      object = try_folder (search, folder[0] != '\0' ? folder : ".", name);
    }
  return object;
}

/* What is opened of the plugin itself lies elsewhere, unless @with_origin. */
static char *
origin_of (const Search *search, int place, gboolean with_origin)
{
  const SharedObject *object = g_array_index (search->found, Library, place).object;
  return place > 0 || with_origin ? g_path_get_dirname (object->path) : NULL;
}

/* The RPATH of the one that asks and of all who have asked for it; or its RUNPATH alone. */
static const SharedObject *
try_own_folders (const Search *search, int place, const char *name, gboolean with_origin)
{
  const SharedObject *asks = g_array_index (search->found, Library, place).object;
  const SharedObject *object = NULL;
  if (asks->runpath != NULL)
    {
      g_autofree char *origin = origin_of (search, place, with_origin);
      return try_folders (search, asks->runpath, origin, name);
    }
  for (; place >= 0 && object == NULL;
       place = g_array_index (search->found, Library, place).requester)
    {
      const SharedObject *other = g_array_index (search->found, Library, place).object;
      g_autofree char *origin = origin_of (search, place, with_origin);
      if (other->rpath != NULL && other->runpath == NULL)
        object = try_folders (search, other->rpath, origin, name);
    }
  return object;
}

static const SharedObject *
try_system (const Search *search, const char *name)
{
  const SharedObject *object = NULL;
  const GPtrArray *paths = g_hash_table_lookup (search->linker->cache, name);
  for (unsigned i = 0; paths != NULL && i < paths->len && object == NULL; i++)
    object = try_path (search, paths->pdata[i]);
  const char *const folders[] = { search->linker->system_directory, "/lib64", "/usr/lib64", "/lib",
                                  "/usr/lib" };
  for (unsigned i = 0; i < XP_LENGTH (folders) && object == NULL; i++)
    object = try_folder (search, folders[i], name);
  return object;
}

/* --- A file and all it needs. --- */

static gboolean
is_called (const SharedObject *object, const char *name)
{
  g_autofree char *file = g_path_get_basename (object->path);
  return g_strcmp0 (object->soname, name) == 0 || strcmp (file, name) == 0;
}

/* What is in the process with the core. */
static const SharedObject *
find_in_core (const Search *search, const char *name)
{
  const GPtrArray *core = search->linker->core;
  for (unsigned i = 0; core != NULL && i < core->len; i++)
    if (is_called (core->pdata[i], name))
      return core->pdata[i];
  return NULL;
}

static void
add_missing (const Search *search, int place, const char *name)
{
  const SharedObject *asks = g_array_index (search->found, Library, place).object;
  g_ptr_array_add (search->missing, place == 0
                                        ? g_strdup (name)
                                        : g_strdup_printf ("%s (needed by %s)", name, asks->path));
}

static void
add_needed (Search *search, int place, const char *name)
{
  if (!g_hash_table_add (search->names, g_strdup (name)))
    return;
  const SharedObject *object = find_in_core (search, name);
  if (object == NULL && strchr (name, '/') != NULL)
    object = try_path (search, name);
  else if (object == NULL)
    {
      object = try_own_folders (search, place, name, FALSE);
      object = object != NULL ? object : try_system (search, name);
      if (object == NULL && (object = try_own_folders (search, place, name, TRUE)) != NULL)
        g_ptr_array_add (search->by_origin, g_strdup_printf ("%s (%s)", name, object->path));
    }
  if (object == NULL)
    add_missing (search, place, name);
  for (guint i = 0; i < search->found->len; i++)
    if (object == NULL || g_array_index (search->found, Library, i).object == object)
      return;
  const Library library = { object, place };
  g_array_append_val (search->found, library);
}

/* Breadth first, as the linker does. */
static Needs *
search_all (Linker *linker, const SharedObject *object)
{
  Needs *needs = g_new0 (Needs, 1);
  needs->libraries = g_ptr_array_new ();
  needs->missing = g_ptr_array_new_with_free_func (g_free);
  needs->by_origin = g_ptr_array_new_with_free_func (g_free);
  needs->is_known = TRUE;
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (Library));
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Search search = { linker, found, names, needs->missing, needs->by_origin };
  const Library first = { object, -1 };
  g_array_append_val (found, first);
  for (guint i = 0; i < found->len; i++)
    {
      const SharedObject *asks = g_array_index (found, Library, i).object;
      for (unsigned j = 0; j < asks->needed->len && g_hash_table_size (names) < MOST_LIBRARIES; j++)
        add_needed (&search, (int) i, asks->needed->pdata[j]);
    }
  for (guint i = 1; i < found->len; i++)
    {
      const SharedObject *library = g_array_index (found, Library, i).object;
      g_ptr_array_add (needs->libraries, (gpointer) library);
      needs->is_known &= library->has_symbols;
    }
  needs->is_known &= g_hash_table_size (names) < MOST_LIBRARIES;
  names_sort (needs->missing);
  names_sort (needs->by_origin);
  return needs;
}

void
needs_free (Needs *needs)
{
  if (needs == NULL)
    return;
  g_ptr_array_unref (needs->libraries);
  g_ptr_array_unref (needs->missing);
  g_ptr_array_unref (needs->by_origin);
  g_free (needs);
}

/* The first is the core, or the program that it is linked into. */
const GPtrArray *
linker_core (Linker *linker)
{
  Dl_info where;
  if (linker->core != NULL)
    return linker->core;
  GPtrArray *core = g_ptr_array_new ();
  const SharedObject *object = dladdr ((void *) xp_version, &where) != 0
                                   ? linker_read (linker, where.dli_fname)
                                   : NULL;
  if (object != NULL)
    {
      g_autoptr (Needs) needs = search_all (linker, object);
      g_ptr_array_add (core, (gpointer) object);
      g_ptr_array_extend (core, needs->libraries, NULL, NULL);
    }
  return linker->core = core;
}

Needs *
linker_find (Linker *linker, const SharedObject *object)
{
  const GPtrArray *core = linker_core (linker);
  if (core->len == 0 || !is_same_machine (object, core->pdata[0]))
    return NULL;
  return search_all (linker, object);
}
