/* SPDX-License-Identifier: MIT
 *
 * linker.h: where the dynamic linker would find what a plugin needs.
 */
#pragma once

#include "shared_object.h"

/* What was read of files, each once, and of the linker's cache. */
typedef struct Linker Linker;

Linker *linker_new (void);
void linker_free (Linker *linker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Linker, linker_free)

/* shared_object_read(), remembered; NULL where that fails. */
const SharedObject *linker_read (Linker *linker, const char *path);

/* What is found for one file; the lists hold each thing once. */
typedef struct
{
  GPtrArray *libraries; /* (element-type SharedObject): what it needs, and what these need */
  GPtrArray *missing;   /* texts: a name, or `NAME (needed by FILE)` */
  GPtrArray *by_origin; /* texts `NAME (FILE)`: only beside the plugin's own file, by $ORIGIN */
  gboolean is_known;    /* whether all of them have symbols to look at */
} Needs;

/* What @object needs, as the linker finds it when a process with the core in it opens a private
 * copy of that file: libraries that the core brings are there already, the environment has no
 * LD_LIBRARY_PATH, and $ORIGIN of the file itself leads to nothing. NULL for one of a machine whose
 * libraries are not here. */
Needs *linker_find (Linker *linker, const SharedObject *object);
void needs_free (Needs *needs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Needs, needs_free)

/* The core itself and what it needs; (element-type SharedObject). */
const GPtrArray *linker_core (Linker *linker);

/* Whether a folder of a RPATH or RUNPATH is given by $ORIGIN, or as no absolute path. */
gboolean folder_is_origin (const char *folder);
gboolean folder_is_relative (const char *folder);
