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

/* xp_plugin_load(), also of a source file, which is compiled into a folder of this process. A
 * plugin of that name that came from a source too gives its place to it. */
XpPlugin *load_plugin_or_source (const char *name, GError **error);

/* What xp_plugin_swap() is to take for @name, (transfer full) (nullable): a source is compiled, and
 * so is that of @plugin, where it came from one and @name is NULL. */
gboolean compile_to_swap (XpPlugin *plugin, const char *name, char **path, GError **error);
