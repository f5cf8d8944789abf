/* SPDX-License-Identifier: MIT
 *
 * settings.c: reports on settings and where their values come from.
 */
#include "report.h"

#include <string.h>

static const char *const layer_names[] = { "program", "environment", "file", "default" };
G_STATIC_ASSERT (G_N_ELEMENTS (layer_names) == XP_N_SETTING_LAYERS);

static void
add_setting (JsonBuilder *builder, const XpSetting *setting)
{
  json_builder_begin_object (builder);
  add_text (builder, "name", setting->name);
  add_text (builder, "value", setting->value);
  add_text (builder, "layer", layer_names[setting->layer]);
  add_text (builder, "source", setting->source);
  add_text (builder, "variable", setting->variable);
  add_text (builder, "meaning", setting->meaning);
  json_builder_set_member_name (builder, "layers");
  json_builder_begin_object (builder);
  for (unsigned i = 0; i < XP_N_SETTING_LAYERS; i++)
    {
      g_autofree char *value = xp_setting_get_layer (setting->name, (XpSettingLayer) i);
      add_text (builder, layer_names[i], value);
    }
  json_builder_end_object (builder);
  json_builder_end_object (builder);
}

static void
settings_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *object = json_node_get_object (model);
  JsonArray *settings = get_array (object, "settings");
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  static const char *const titles[] = { "NAME", "VALUE", "FROM", "VARIABLE", "MEANING", NULL };
  static const char *const members[] = { "name", "value", "source", "variable", "meaning", NULL };
  g_ptr_array_add (rows, g_strdupv ((char **) titles));
  for (unsigned i = 0; i < json_array_get_length (settings); i++)
    {
      JsonObject *setting = json_array_get_object_element (settings, i);
      char **row = g_new0 (char *, XP_LENGTH (members));
      for (unsigned j = 0; members[j] != NULL; j++)
        row[j] = g_strdup (get_text (setting, members[j]));
      g_ptr_array_add (rows, row);
    }
  append_columns (text, rows, colour);
  g_string_append_printf (text, "The user's file is %s%s.\n", get_text (object, "file"),
                          get_boolean (object, "exists") ? "" : ", which is not there");
}

XpReport *
xp_report_settings (void)
{
  unsigned n;
  XpSetting *settings = xp_settings (&n);
  g_autofree char *file = xp_settings_file ();
  JsonBuilder *builder = json_builder_new ();
  json_builder_begin_object (builder);
  begin_list (builder, "settings");
  for (unsigned i = 0; i < n; i++)
    add_setting (builder, &settings[i]);
  json_builder_end_array (builder);
  add_text (builder, "file", file);
  add_boolean (builder, "exists", g_file_test (file, G_FILE_TEST_EXISTS));
  json_builder_end_object (builder);
  xp_settings_free (settings, n);
  return report_new (builder, settings_text);
}

static void
setting_text (JsonNode *model, GString *text, gboolean colour)
{
  JsonObject *setting = json_node_get_object (model);
  JsonObject *layers = json_object_get_object_member (setting, "layers");
  g_string_append_printf (text, "%s%s = %s%s\n%s.\n", bold (colour), get_text (setting, "name"),
                          get_text (setting, "value"), plain (colour),
                          get_text (setting, "meaning"));
  for (unsigned i = 0; i < XP_N_SETTING_LAYERS; i++)
    {
      const char *value = get_text (layers, layer_names[i]);
      const char *name = i == XP_SETTING_ENVIRONMENT ? get_text (setting, "variable")
                         : i == XP_SETTING_FILE      ? get_text (setting, "file")
                                                     : layer_names[i];
      gboolean counts = strcmp (get_text (setting, "layer"), layer_names[i]) == 0;
      g_string_append_printf (text, "  %s %s: %s\n", counts ? "*" : " ", name,
                              value != NULL ? value : "-");
    }
}

XpReport *
xp_report_setting (const char *name, GError **error)
{
  g_return_val_if_fail (name != NULL, NULL);
  unsigned n, i = 0;
  XpSetting *settings = xp_settings (&n);
  while (i < n && strcmp (settings[i].name, name) != 0)
    i++;
  XpReport *report = NULL;
  if (i < n)
    {
      JsonBuilder *builder = json_builder_new ();
      add_setting (builder, &settings[i]);
      report = report_new (builder, setting_text);
      g_autofree char *file = xp_settings_file ();
      json_object_set_string_member (json_node_get_object (report->model), "file", file);
    }
  else
    {
      GString *names = g_string_new (NULL);
      for (i = 0; i < n; i++)
        g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", settings[i].name);
      xp_error_set (error, XP_ERROR_INVALID_ARGUMENT, NULL,
                    "there is no setting '%s'; there are %s", name, names->str);
      g_string_free (names, TRUE);
    }
  xp_settings_free (settings, n);
  return report;
}
