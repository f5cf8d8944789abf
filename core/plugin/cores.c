/* SPDX-License-Identifier: MIT
 *
 * cores.c: whether this is the only copy of the core in the process, and whether plugins find it.
 *
 * Two copies would be two tables, and whoever registers in one is not seen in the other. Symbols do
 * not tell, for a copy may hide its own; so each carries a note, and a copy that begins looks at
 * the notes of all that is mapped. The first in the linker's order is the core: the program, then
 * what was mapped first.
 */
#include "begin.h"
#include "plugin/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

__attribute__ ((used, aligned (4), section (XP_CORE_NOTE_SECTION))) static const struct
{
  uint32_t name_size;
  uint32_t text_size;
  uint32_t type;
  char name[(sizeof (XP_NOTE_OWNER) + 3) & ~3u];
  char text[(sizeof (XP_VERSION) + 3) & ~3u];
} core_note = { sizeof (XP_NOTE_OWNER), sizeof (XP_VERSION), XP_CORE_NOTE_TYPE, XP_NOTE_OWNER,
                XP_VERSION };

/* The files of the first copy and of this one. */
typedef struct
{
  char *first;
  char *own;
  bool is_first;
} Cores;

static bool
is_core_note (const ElfW (Nhdr) * note)
{
  return note->n_type == XP_CORE_NOTE_TYPE && note->n_namesz == sizeof XP_NOTE_OWNER
         && memcmp (note + 1, XP_NOTE_OWNER, sizeof XP_NOTE_OWNER) == 0;
}

static bool
has_core_note (const struct dl_phdr_info *info)
{
  for (unsigned i = 0; i < info->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *header = &info->dlpi_phdr[i];
      if (header->p_type != PT_NOTE || header->p_align > 4)
        continue;
      const char *bytes = (const char *) info->dlpi_addr + header->p_vaddr;
      size_t size = header->p_memsz;
      for (size_t at = 0; at + sizeof (ElfW (Nhdr)) <= size;)
        {
          const ElfW (Nhdr) *note = (const void *) (bytes + at);
          size_t length = sizeof *note + (((size_t) note->n_namesz + 3) & ~(size_t) 3)
                          + (((size_t) note->n_descsz + 3) & ~(size_t) 3);
          if (length > size - at)
            break;
          if (is_core_note (note))
            return true;
          at += length;
        }
    }
  return false;
}

static int
look_for_core (struct dl_phdr_info *info, G_GNUC_UNUSED size_t size, void *data)
{
  Cores *cores = data;
  if (!has_core_note (info))
    return 0;
  bool is_own = xp_object_contains (info, &core_note);
  char **file = is_own ? &cores->own : cores->first == NULL ? &cores->first : NULL;
  if (is_own && cores->first == NULL)
    cores->is_first = true;
  if (file != NULL && *file == NULL)
    *file = xp_object_path (info->dlpi_name);
  return cores->is_first;
}

void
xp_cores_begin (void)
{
  Cores cores = { 0 };
  xp_objects_visit (look_for_core, &cores);
  /* Where the linker does not show notes, nothing is known of others either. */
  if (!cores.is_first && cores.first != NULL && cores.own != NULL)
    xp_error_set (
        &xp_table_refusal, XP_ERROR_SECOND_CORE,
        &(XpErrorDetails){ .candidates = (char *[]){ cores.first, NULL } },
        "there are two copies of the core in this process: %s has the table, so %s, which "
        "came second, takes no registrations and loads nothing; use one libcrosspoint.so "
        "for the program and all that is opened in it",
        cores.first, cores.own);
  g_free (cores.first);
  g_free (cores.own);
}

void
xp_core_mark_ (void)
{
}

gboolean
xp_core_check (const XpPluginInfo *note, GError **error)
{
  if (xp_table_refusal != NULL)
    {
      g_propagate_error (error, g_error_copy (xp_table_refusal));
      return FALSE;
    }
  g_autofree char *own = xp_object_path_at (&core_note);
  const XpErrorDetails details = { .plugin = note->name };
  if (note->has_core)
    xp_error_set (error, XP_ERROR_SECOND_CORE, &details,
                  "%s has a copy of the core linked into it, and the core of this process is %s: "
                  "link it without libcrosspoint.a",
                  note->path, own);
  else if (!note->is_schemas && dlsym (RTLD_DEFAULT, "xp_core_mark_") != (void *) xp_core_mark_)
    xp_error_set (error, XP_ERROR_SECOND_CORE, &details,
                  "%s, the plugin %s, would not find the core: it is linked statically into %s, "
                  "which does not export it; link that with -rdynamic, "
                  "or with libcrosspoint.so",
                  note->path, note->name, own);
  else
    return TRUE;
  return FALSE;
}
