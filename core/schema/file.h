/* SPDX-License-Identifier: MIT
 *
 * file.h: files of schemas that are open already.
 */
#pragma once

#include <crosspoint/schema_file.h>

/* xp_schema_file_read() of what @fd gives from its beginning. */
XpSchemaFile *xp_schema_file_read_open (int fd, const char *location, GPtrArray *mistakes,
                                        GError **error);
