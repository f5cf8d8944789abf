/* SPDX-License-Identifier: MIT
 *
 * compile.h: from a source file to a plugin: what `crosspoint cc` does, and loading sources.
 */
#pragma once

#include <crosspoint.h>

/* Compiles and links C files, with what `gen` writes of .ops files among @files, to the plugin
 * @output; NAME.ops beside NAME.c is taken along. With @dry_run prints the compiler's command and
 * does nothing else. The compiler prints its own messages. COMPILE_FAILED, FILE_IO, and the errors
 * of gen; @output is whole or as it was. */
gboolean compile_plugin (char *const *files, const char *output, gboolean dry_run, GError **error);

/* Whether @name is to be compiled before it is loaded: FILE.c. */
gboolean is_source (const char *name);

/* xp_plugin_load(), also of a source file: it is compiled into a folder of this process. A second
 * load of it puts the plugin that was compiled anew in the place of the old one. */
XpPlugin *load_plugin_or_source (const char *name, GError **error);
