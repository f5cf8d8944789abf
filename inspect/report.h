/* SPDX-License-Identifier: MIT
 *
 * report.h: a report is a JSON value and the function that reads it out.
 */
#pragma once

#include <crosspoint-inspect.h>
#include <json-glib/json-glib.h>

/* Writes a model as text. @colour tells whether escape sequences may be used. */
typedef void (*ReportText) (JsonNode *model, GString *text, gboolean colour);

/* A model that is too long to be held: an object whose only member, @member, is an array. Its
 * elements are made one by one while it is printed. */
typedef struct
{
  const char *member;
  const char *separator; /* of the texts of elements, where they are not empty */
  void (*rewind) (gpointer data);
  JsonNode *(*next) (gpointer data); /* (transfer full); NULL behind the last */
  ReportText text;
  ReportText problems; /* what goes to standard error, or NULL */
  gboolean (*is_no) (JsonNode *element);
  GDestroyNotify free;
} ReportList;

struct XpReport
{
  JsonNode *model; /* owned; NULL of a list */
  ReportText text;
  gboolean is_no;
  gboolean has_rejected;  /* a plugin of it is rejected, failed or quarantined */
  const ReportList *list; /* or NULL */
  gpointer data;          /* of the list, owned */
};

/* Takes the builder's root as the model, and the builder. */
XpReport *report_new (JsonBuilder *builder, ReportText text);
/* Takes the data. */
XpReport *report_new_list (const ReportList *list, gpointer data);
/* Takes the builder. (transfer full): its root. */
JsonNode *take_root (JsonBuilder *builder);

/* A text that may come from outside: what is not UTF-8 in it is replaced. */
void add_value (JsonBuilder *builder, const char *text);
/* Members of an object. Texts that are NULL become null. */
void add_text (JsonBuilder *builder, const char *name, const char *text);
void add_number (JsonBuilder *builder, const char *name, gint64 number);
void add_boolean (JsonBuilder *builder, const char *name, gboolean value);
/* To be ended by json_builder_end_array(). */
void begin_list (JsonBuilder *builder, const char *name);
void add_texts (JsonBuilder *builder, const char *name, const char *const *texts);

/* Members of a model. get_text() is NULL for null and for a member that is not there. */
const char *get_text (JsonObject *object, const char *name);
gint64 get_number (JsonObject *object, const char *name);
gboolean get_boolean (JsonObject *object, const char *name);
JsonArray *get_array (JsonObject *object, const char *name);

/* A number, or "lowest". */
void add_priority (JsonBuilder *builder, int priority);
/* The same as a text; (transfer full). */
char *priority_of (JsonObject *object);

/* ISO 8601; NULL for 0. */
char *time_text (gint64 seconds);

/* The member `coverage`, null where that is NULL; and a line for each part of it, after @label. */
void add_coverage (JsonBuilder *builder, const XpCoverage *coverage);
void append_coverage (GString *text, JsonObject *object, const char *label);

/* Whether --fail-on-rejected is about it: not for files that are no plugins, or for another
 * machine. */
gboolean plugin_is_rejected (const XpPluginInfo *info);

/* The cells of a row, as a computed table shows them (reference 4.2). */
void append_cells (GString *text, JsonArray *cells);

/* Columns as wide as their widest entry; the last is not padded. (element-type char**), each of as
 * many texts, the first row in bold where colour is allowed. Takes nothing. */
void append_columns (GString *text, GPtrArray *rows, gboolean colour);

/* What the kernel of a registration takes, after @before, where it does not take all. */
void append_takes (GString *text, JsonObject *registration, const char *before);

/* The escape sequences, or the empty text. */
const char *bold (gboolean colour);
const char *green (gboolean colour);
const char *red (gboolean colour);
const char *dim (gboolean colour);
const char *plain (gboolean colour);
