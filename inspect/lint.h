/* SPDX-License-Identifier: MIT
 *
 * lint.h: what is found in a plugin's file, or in a file of schemas.
 */
#pragma once

#include "linker.h"

#include <crosspoint.h>

typedef enum
{
  LINT_ERROR,
  LINT_WARNING,
  LINT_NOTE,
  N_LINT_SEVERITIES
} LintSeverity;

/* In the order of a report. The severity, the name, why it hurts, and the next step.
 * _ (enumerator, severity, name, why, next) */
#define LINT_LIST(_)                                                                               \
  _ (NO_NOTE, ERROR, "no-note", "A load refuses a file that has no Crosspoint note.",              \
     "include <crosspoint.h>, say XP_PLUGIN (…), and register with one of the XP_LIBRARY macros")  \
  _ (DAMAGED_NOTE, ERROR, "damaged-note", "A load refuses a file whose note cannot be read.",      \
     "build it again")                                                                             \
  _ (REFUSED, ERROR, "refused", "A load refuses it before any of its code runs.",                  \
     "do what the reason says")                                                                    \
  _ (MISSING_LIBRARY, ERROR, "missing-library",                                                    \
     "The dynamic linker does not find it without LD_LIBRARY_PATH, so the load fails.",            \
     "install it in a folder that ldconfig knows, or link with -Wl,-rpath,FOLDER")                 \
  _ (ORIGIN_LIBRARY, ERROR, "origin-library",                                                      \
     "It is found by $ORIGIN alone, but what is opened is a private copy, in another folder.",     \
     "link with -Wl,-rpath and an absolute folder, or set CROSSPOINT_LOAD_IN_PLACE=1")             \
  _ (UNDEFINED_SYMBOL, ERROR, "undefined-symbol",                                                  \
     "Neither the core nor anything that the file needs has it, so the load fails.",               \
     "link with the library that has it; -Wl,--no-undefined tells when the plugin is built")       \
  _ (EXECUTABLE_STACK, ERROR, "executable-stack",                                                  \
     "It makes the stacks of the whole program executable; newer linkers refuse to open it.",      \
     "link with -Wl,-z,noexecstack; add .note.GNU-stack to assembly")                              \
  _ (RELATIVE_PATH, WARNING, "relative-path",                                                      \
     "Libraries are looked for in the working directory, so that whoever writes there has a say.", \
     "link with -Wl,-rpath and absolute folders, and needed libraries by name")                    \
  _ (NO_HIDDEN_VISIBILITY, WARNING, "no-hidden-visibility",                                        \
     "Every exported name can take another library's place, or be replaced itself.",               \
     "compile with -fvisibility=hidden; where C++ libraries still export, link with a version "    \
     "script `{ global: xp_plugin_probe; xp_plugin_fini; local: *; };`")                           \
  _ (EXPORTED_NAME, WARNING, "exported-name",                                                      \
     "It can take the place of another library's name, or be replaced itself.",                    \
     "make it static, or compile with -fvisibility=hidden; only xp_plugin_probe and "              \
     "xp_plugin_fini are looked up")                                                               \
  _ (INTERPOSABLE, WARNING, "interposable",                                                        \
     "The plugin looks up its own name, and a program that exports the same gets the call.",       \
     "link with -Wl,-Bsymbolic, or hide the name")                                                 \
  _ (LIBRARY_CLASH, WARNING, "library-clash",                                                      \
     "Calls of that name, from the plugin and from the library, go to one of the two only.",       \
     "hide the name, or rename it")                                                                \
  _ (PLUGIN_CLASH, WARNING, "plugin-clash",                                                        \
     "Linked to a program, or preloaded, one of the two plugins runs the other's code.",           \
     "hide the name in both")                                                                      \
  _ (STATIC_TLS, WARNING, "static-tls",                                                            \
     "The room for that is small and shared by all; when it is used up, a load fails.",            \
     "compile without -ftls-model=initial-exec, with -fPIC")                                       \
  _ (RESIDENT_IMPORT, WARNING, "resident-import",                                                  \
     "It hands out a pointer into the file for ever: unloads and swaps leave the file mapped.",    \
     "do without it (XP_ERROR for errors, g_quark_from_string for quarks), or declare "            \
     "XP_PLUGIN_NOTE (\"resident=REASON\")")                                                       \
  _ (THREADS_WITHOUT_FINI, WARNING, "threads-without-fini",                                        \
     "Nothing ends its threads, so that unloads and swaps leave the file mapped.",                 \
     "join them in xp_plugin_fini (), or use xp_parallel_for ()")                                  \
  _ (UNIQUE_SYMBOL, WARNING, "unique-symbol",                                                      \
     "The linker never lets go of a file that has one: unloads and swaps leave it mapped.",        \
     "compile with -fno-gnu-unique, or hide the name")                                             \
  _ (NODELETE, WARNING, "nodelete", "It is never unmapped: each swap leaves one more mapped.",     \
     "link without -Wl,-z,nodelete")                                                               \
  _ (TEXT_RELOCATION, WARNING, "text-relocation",                                                  \
     "Its code is written to when it is opened: not shared, and refused on hardened systems.",     \
     "compile everything in it with -fPIC; -Wl,-z,text tells when it is built")                    \
  _ (NO_BUILD_ID, WARNING, "no-build-id",                                                          \
     "Nobody sees which build is loaded, and debuggers do not find its symbols.",                  \
     "link with -Wl,--build-id")                                                                   \
  _ (NO_METADATA, WARNING, "no-metadata",                                                          \
     "Lists and reports cannot tell users what it is and on what terms.",                          \
     "say XP_PLUGIN (NAME, VERSION, DESCRIPTION, LICENCE) in one source, with no empty text")      \
  _ (DECLARED_RESIDENT, NOTE, "declared-resident",                                                 \
     "It says so itself: unloads and swaps leave the file mapped.", "nothing, if that is meant")   \
  _ (LIBRARY_WITH_THREADS, NOTE, "library-with-threads",                                           \
     "It keeps threads of its own, and so stays mapped when the plugin goes.",                     \
     "use xp_parallel_for () where it is only for loops")                                          \
  _ (ORIGIN_PATH, NOTE, "origin-path",                                                             \
     "$ORIGIN is the folder of the private copy that is opened, so nothing is found there.",       \
     "leave it out of the RPATH or RUNPATH")                                                       \
  _ (ABSOLUTE_PATH, NOTE, "absolute-path",                                                         \
     "The folder is fixed in the file, and another machine may not have it.",                      \
     "leave it out where the linker finds the libraries without")                                  \
  _ (DESTRUCTOR, NOTE, "destructor",                                                               \
     "Code runs while the file is closed, after xp_plugin_fini (), and may not call Crosspoint.",  \
     "free what there is in xp_plugin_fini ()")                                                    \
  _ (WRITABLE_ADDRESSES, NOTE, "writable-addresses",                                               \
     "Its table of functions stays writable, so that a stray write can redirect calls.",           \
     "link with -Wl,-z,relro,-z,now; loads resolve everything at once anyway")                     \
  _ (NOT_FOR_HERE, NOTE, "not-for-here", "A load refuses it on this machine.",                     \
     "nothing, if it is for another one")                                                          \
  _ (LIBRARIES_UNKNOWN, NOTE, "libraries-unknown",                                                 \
     "Missing libraries, undefined symbols and clashes with libraries were not looked for.",       \
     "lint it on a machine that it is for, with everything installed that it needs")               \
  _ (MISTAKE, ERROR, "mistake", "The line opens no row, and a load of the file fails.",            \
     "correct it; `crosspoint schema --file` shows where in the line it stops")                    \
  _ (INPLACE_WRITES_NOT, ERROR, "inplace-writes-not",                                              \
     "A name with _ at its end promises to write its first argument; who trusts the schema sees "  \
     "no write.",                                                                                  \
     "write Tensor(a!) self, and return Tensor(a!); or leave the _ away")                          \
  _ (OUT_WRITES_NOT, ERROR, "out-writes-not",                                                      \
     "An overload called out promises to write what it is given; who trusts the schema sees no "   \
     "write.",                                                                                     \
     "end the arguments with *, Tensor(a!) out; or call the overload otherwise")                   \
  _ (OUT_NOT_LAST, WARNING, "out-not-last",                                                        \
     "Tools find the outputs of a form at the end of its arguments, and miss this one.",           \
     "put what is written last, behind *")                                                         \
  _ (NOT_RETURNED, WARNING, "not-returned",                                                        \
     "Calls cannot be chained, and tools pair what is written with what is returned.",             \
     "return it with the same set, as in Tensor(a!)")                                              \
  _ (STRAY_SET, WARNING, "stray-set",                                                              \
     "A return that says it was written is none of the arguments, so that nothing was.",           \
     "give the argument that it is the same set, or leave the set away")                           \
  _ (SET_WITHOUT_TENSOR, WARNING, "set-without-tensor",                                            \
     "Only tensors share memory: nothing is checked, and PyTorch's generator refuses it.",         \
     "leave the set away")                                                                         \
  _ (DECLARED_TWICE, WARNING, "declared-twice",                                                    \
     "A call by name reaches the first only, and generated code does not compile.",                \
     "give each its own name")                                                                     \
  _ (FORM_DIFFERS, WARNING, "form-differs",                                                        \
     "Tools that turn one form of an operator into another pass its arguments on as they are.",    \
     "give the form the arguments of its operator, in their order, and what it writes")            \
  _ (UNKNOWN_TAG, WARNING, "unknown-tag", "Nothing looks for it, so that it may be misspelt.",     \
     "use one of core, pointwise, reduction, view, inplace, out, writes, factory, random, "        \
     "data_dependent, mixed_devices, not_differentiable")                                          \
  _ (WRONG_TAG, WARNING, "wrong-tag", "Who chooses operators by tag is misled.",                   \
     "take the tag away, or annotate what it speaks of")                                           \
  _ (NO_WRITING_TAG, WARNING, "no-writing-tag", "Who chooses operators by tag misses it.",         \
     "add the tag")                                                                                \
  _ (UNLISTED_TYPE, NOTE, "unlisted-type",                                                         \
     "Kernels take Tensor, numbers, str, devices and the like, optional or in lists; `gen` skips " \
     "the operator where it has no form in C.",                                                    \
     "use one of those, or call it boxed")                                                         \
  _ (NO_DESCRIPTION, NOTE, "no-description",                                                       \
     "`crosspoint schema` and the pages of `gen --docs` cannot say what it does.",                 \
     "add -- and a sentence")

#define LINT_ENUMERATOR_(enumerator, severity, name, why, next) LINT_##enumerator,
typedef enum
{
  LINT_LIST (LINT_ENUMERATOR_) N_LINT_KINDS
} LintKind;

typedef struct
{
  LintKind kind;
  GPtrArray *about; /* texts, sorted; may be empty */
  char *detail;     /* or NULL */
} LintFinding;

/* A plugin that is looked at, or that lies beside those. */
typedef struct
{
  char *path;
  XpPluginInfo *info;         /* NULL where the note cannot be read */
  const SharedObject *object; /* the linker's; NULL of a file of schemas */
  GPtrArray *findings;        /* those of a file of schemas; else NULL */
  GError *error;              /* why it cannot be looked at, or its note not be read; or NULL */
} LintFile;

void lint_file_free (LintFile *file);

/* What is found in @file, whose object is there, in the order of the list. @others are all plugins
 * that there are (element-type LintFile). (element-type LintFinding) (transfer full). */
GPtrArray *lint_file (Linker *linker, const LintFile *file, const GPtrArray *others);

/* The same of a file of schemas, in the order of its lines; NULL where it cannot be read. */
GPtrArray *lint_schemas (const char *path, GError **error);

/* (element-type LintFinding) */
GPtrArray *lint_findings_new (void);

/* Of one place; takes neither text. */
void lint_findings_add (GPtrArray *findings, LintKind kind, const char *place, const char *detail);
