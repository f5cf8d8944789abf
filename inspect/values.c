/* SPDX-License-Identifier: MIT
 *
 * values.c: the results of calls, and errors.
 */
#include "report.h"

#include <math.h>

/* --- Values. --- */

/* JSON has no number for these; they are written as texts. */
static void
add_float (JsonBuilder *builder, double number)
{
  if (isnan (number) || isinf (number))
    json_builder_add_string_value (builder, isnan (number) ? "nan" : number > 0 ? "inf" : "-inf");
  else
    json_builder_add_double_value (builder, number);
}

static void
add_plain_value (JsonBuilder *builder, XpValue value)
{
  switch (value.tag)
    {
    case XP_TAG_NONE:
      json_builder_add_null_value (builder);
      break;
    case XP_TAG_BOOL:
      json_builder_add_boolean_value (builder, value.as.integer != 0);
      break;
    case XP_TAG_INT:
      json_builder_add_int_value (builder, value.as.integer);
      break;
    case XP_TAG_FLOAT:
      add_float (builder, value.as.number);
      break;
    case XP_TAG_STRING:
      add_value (builder, xp_string_text (value.as.string));
      break;
    case XP_TAG_LIST:
      json_builder_begin_array (builder);
      for (size_t i = 0; i < xp_list_length (value.as.list); i++)
        add_plain_value (builder, xp_list_get (value.as.list, i));
      json_builder_end_array (builder);
      break;
    default:
      {
        g_autofree char *text = xp_value_to_string (value);
        add_value (builder, text);
      }
    }
}

enum
{
  MOST_ELEMENTS = 1000
};

/* The elements as nested lists. */
static void
add_elements (JsonBuilder *builder, const XpTensor *tensor, int dimension, int64_t *index)
{
  if (dimension == xp_tensor_n_dims (tensor))
    {
      g_auto (XpValue) element = xp_tensor_get_element (tensor, (*index)++);
      add_plain_value (builder, element);
      return;
    }
  json_builder_begin_array (builder);
  for (int64_t i = 0; i < xp_tensor_size (tensor, dimension); i++)
    add_elements (builder, tensor, dimension + 1, index);
  json_builder_end_array (builder);
}

static void
add_tensor (JsonBuilder *builder, const XpTensor *tensor)
{
  g_autofree char *device = xp_device_to_string (xp_tensor_device (tensor));
  g_autofree char *keys = xp_key_set_to_string (tensor->keys);
  g_autofree char *text = xp_tensor_to_string (tensor);
  int64_t index = 0;
  add_text (builder, "type", "Tensor");
  add_text (builder, "text", text);
  add_text (builder, "dtype", xp_dtype_name (xp_tensor_dtype (tensor)));
  add_text (builder, "layout", xp_layout_name ((XpLayout) tensor->layout));
  add_text (builder, "device", device);
  add_text (builder, "keys", keys);
  add_boolean (builder, "requires_grad", (tensor->flags & XP_TENSOR_REQUIRES_GRAD) != 0);
  begin_list (builder, "shape");
  for (int i = 0; i < xp_tensor_n_dims (tensor); i++)
    json_builder_add_int_value (builder, xp_tensor_size (tensor, i));
  json_builder_end_array (builder);
  /* The text of a larger one leaves elements out too. */
  if (tensor->layout == XP_STRIDED && tensor->dl.device.device_type == kDLCPU && tensor->numel > 0
      && tensor->numel <= MOST_ELEMENTS)
    {
      json_builder_set_member_name (builder, "data");
      add_elements (builder, tensor, 0, &index);
    }
}

static void
values_text (JsonNode *model, GString *text, G_GNUC_UNUSED gboolean colour)
{
  JsonArray *results = get_array (json_node_get_object (model), "results");
  for (unsigned i = 0; i < json_array_get_length (results); i++)
    {
      JsonObject *result = json_array_get_object_element (results, i);
      const char *name = get_text (result, "name");
      g_string_append_printf (text, "%s%s%s\n", name != NULL ? name : "", name != NULL ? ": " : "",
                              get_text (result, "text"));
    }
}

XpReport *
xp_report_values (const char *const *names, const XpValue *values, size_t n)
{
  g_return_val_if_fail (values != NULL || n == 0, NULL);
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "results");
  for (size_t i = 0; i < n; i++)
    {
      json_builder_begin_object (builder);
      const char *name = names != NULL && names[i] != NULL && names[i][0] != '\0' ? names[i] : NULL;
      add_text (builder, "name", name);
      if (values[i].tag == XP_TAG_TENSOR)
        add_tensor (builder, values[i].as.tensor);
      else
        {
          g_autofree char *text = xp_value_to_string (values[i]);
          add_text (builder, "type", xp_tag_name ((XpTag) values[i].tag));
          add_text (builder, "text", text);
          json_builder_set_member_name (builder, "data");
          add_plain_value (builder, values[i]);
        }
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  return report_new (builder, values_text);
}

/* --- Texts. --- */

static void
text_text (JsonNode *model, GString *text, G_GNUC_UNUSED gboolean colour)
{
  JsonObject *object = json_node_get_object (model);
  g_autoptr (GList) names = json_object_get_members (object);
  g_string_append_printf (text, "%s\n", get_text (object, names->data));
}

XpReport *
xp_report_text (const char *kind, const char *text)
{
  g_return_val_if_fail (kind != NULL && text != NULL, NULL);
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  add_text (builder, kind, text);
  json_builder_end_object (builder);
  return report_new (builder, text_text);
}

/* --- Errors. --- */

static void
error_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *error = json_object_get_object_member (json_node_get_object (model), "error");
  const char *location = get_text (error, "location");
  g_string_append_printf (text, "%s%s%s%s%s: %s\n", location != NULL ? location : "",
                          location != NULL ? ": " : "", red (colour), get_text (error, "class"),
                          plain (colour), get_text (error, "message"));
}

static const char *
class_of (const GError *error)
{
  return error->domain == XP_ERROR         ? xp_error_class ((XpError) error->code)
         : error->domain == G_OPTION_ERROR ? "UsageError"
         : error->domain == G_FILE_ERROR   ? "OSError"
                                           : "Exception";
}

XpReport *
xp_report_error (const GError *error, const char *location)
{
  g_return_val_if_fail (error != NULL, NULL);
  const XpErrorDetails *details = xp_error_get_details (error);
  XpError code = (XpError) error->code;
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "error");
  json_builder_begin_object (builder);
  add_text (builder, "code",
            details != NULL                   ? xp_error_name (code)
            : error->domain == G_OPTION_ERROR ? "USAGE"
                                              : "OTHER");
  add_text (builder, "class", class_of (error));
  add_text (builder, "location", location);
  add_text (builder, "message", error->message);
  json_builder_set_member_name (builder, "details");
  json_builder_begin_object (builder);
  if (details != NULL)
    {
      add_text (builder, "operator", details->op);
      add_text (builder, "key", details->key);
      add_text (builder, "argument", details->argument);
      add_text (builder, "plugin", details->plugin);
      add_texts (builder, "candidates", (const char *const *) details->candidates);
      add_text (builder, "next_step", xp_error_next_step (code));
    }
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  return report_new (builder, error_text);
}
