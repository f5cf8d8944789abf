/* SPDX-License-Identifier: MIT
 *
 * shared_object.h: what a shared object's file tells the dynamic linker, of any machine, read
 * without running anything.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* Lists of names are sorted, each name once. */
typedef struct
{
  char *path;
  unsigned machine;    /* EM_X86_64 */
  unsigned class_;     /* ELFCLASS64 */
  unsigned byte_order; /* ELFDATA2LSB */
  gboolean is_library; /* FALSE for a program, and for what nothing can be linked to */
  gboolean has_symbols;
  char *soname;           /* or NULL */
  GPtrArray *needed;      /* in order */
  char *rpath;            /* or NULL; where there is a runpath it does not count */
  char *runpath;          /* or NULL */
  GPtrArray *exported;    /* but for the names that linkers give every file */
  GPtrArray *unique;      /* of these, the STB_GNU_UNIQUE ones */
  GPtrArray *own_lookups; /* of these, those that the file itself looks up by name */
  GPtrArray *imported;    /* that must be there */
  GPtrArray *optional;    /* imported, and may be missing */
  uint64_t tls_size;      /* of its thread-local variables, in bytes */
  gboolean tls_is_static; /* whether it needs them at a fixed distance from the thread's pointer */
  unsigned n_destructors; /* entries of .fini_array */
  gboolean has_build_id;
  gboolean is_symbolic;
  gboolean is_nodelete;
  gboolean has_text_relocations;
  gboolean has_executable_stack;
  gboolean binds_now;
  gboolean has_relro;
} SharedObject;

/* What is in the file at @path; NULL, with the reason, for one that is no regular file, cannot be
 * opened, or is no shared object or program: XP_ERROR_FILE_IO, XP_ERROR_NOT_A_PLUGIN. Of a damaged
 * one, what can be read. */
SharedObject *shared_object_read (const char *path, GError **error);
void shared_object_free (SharedObject *object);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SharedObject, shared_object_free)

/* Whether a sorted list of names holds @name. */
gboolean names_contain (const GPtrArray *names, const char *name);
/* Sorts them, and leaves each once. */
void names_sort (GPtrArray *names);
