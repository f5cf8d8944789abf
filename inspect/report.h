/* SPDX-License-Identifier: MIT
 *
 * report.h: a report is a JSON value and the function that reads it out.
 */
#pragma once

#include <crosspoint-inspect.h>
#include <json-glib/json-glib.h>

/* Writes a model as text. @colour tells whether escape sequences may be used. */
typedef void (*ReportText) (JsonNode *model, GString *text, gboolean colour);

struct XpReport
{
  JsonNode *model; /* owned */
  ReportText text;
  gboolean is_no;
};

/* Takes the builder's root as the model, and the builder. */
XpReport *report_new (JsonBuilder *builder, ReportText text);

/* A text that may come from outside: what is not UTF-8 in it is replaced. */
void add_value (JsonBuilder *builder, const char *text);
/* Members of an object. Texts that are NULL become null. */
void add_text (JsonBuilder *builder, const char *name, const char *text);
void add_number (JsonBuilder *builder, const char *name, gint64 number);
void add_boolean (JsonBuilder *builder, const char *name, gboolean value);
void add_texts (JsonBuilder *builder, const char *name, const char *const *texts);

/* Members of a model. get_text() is NULL for null and for a member that is not there. */
const char *get_text (JsonObject *object, const char *name);
gint64 get_number (JsonObject *object, const char *name);
gboolean get_boolean (JsonObject *object, const char *name);
JsonArray *get_array (JsonObject *object, const char *name);

/* Columns as wide as their widest entry; the last is not padded. (element-type char**), each of as
 * many texts, the first row in bold where colour is allowed. Takes nothing. */
void append_columns (GString *text, GPtrArray *rows, gboolean colour);

/* The escape sequences, or the empty text. */
const char *bold (gboolean colour);
const char *green (gboolean colour);
const char *red (gboolean colour);
const char *dim (gboolean colour);
const char *plain (gboolean colour);
