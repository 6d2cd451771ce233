/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of models/settings.h that elements have, as rows of plugins/base/properties.h. Values
 * are stored as text. Any thread. */
#include "plugins/tensor/setting_properties.h"

#include <string.h>

/* The enumerations of choices. */
static const struct
{
  const char *setting;
  GType (*type) (void);
} choices[] = {
  { "colour", sl_colour_choice_get_type },
  { "layout", sl_layout_choice_get_type },
  { "fit", sl_fit_choice_get_type },
};

static SlProperty
property_of (const SlSetting *setting, gsize offset)
{
  static const SlPropertyKind kinds[] = { [SL_SETTING_TEXT] = SL_PROPERTY_STRING,
                                          [SL_SETTING_FILE] = SL_PROPERTY_STRING,
                                          [SL_SETTING_NUMBER] = SL_PROPERTY_INT,
                                          [SL_SETTING_BOOL] = SL_PROPERTY_BOOL,
                                          [SL_SETTING_CHOICE] = SL_PROPERTY_CHOICE };
  SlProperty property = { .name = setting->name,
                          .nick = setting->nick,
                          .help = sl_setting_help (setting, SL_DOOR_ELEMENTS),
                          .kind = kinds[setting->kind],
                          .offset = offset + setting->offset,
                          .minimum = MIN (setting->minimum, setting->initial),
                          .maximum = setting->maximum,
                          .initial = setting->initial,
                          .live = TRUE,
                          .as_text = TRUE };
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    if (strcmp (setting->name, choices[i].setting) == 0)
      property.choices = choices[i].type;
  return property;
}

guint
sl_setting_properties (SlProperty *properties, gsize offset)
{
  guint n, found = 0;
  const SlSetting *table = sl_settings_table (&n);
  for (guint i = 0; i < n; i++)
    if ((table[i].doors & SL_DOOR_ELEMENTS) != 0)
      properties[found++] = property_of (&table[i], offset);
  return found;
}

/* (transfer full) (nullable): the value of @element's property, NULL for its default. */
static char *
read_text (GObject *element, const char *name)
{
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  g_auto (GValue) value = G_VALUE_INIT;
  g_value_init (&value, spec->value_type);
  g_object_get_property (element, name, &value);
  if (g_param_value_defaults (spec, &value))
    return NULL;
  if (G_VALUE_HOLDS_STRING (&value))
    return g_value_dup_string (&value);
  if (G_VALUE_HOLDS_ENUM (&value))
    return g_strdup (
      g_enum_get_value (G_PARAM_SPEC_ENUM (spec)->enum_class, g_value_get_enum (&value))
        ->value_nick);
  if (G_VALUE_HOLDS_BOOLEAN (&value))
    return g_strdup (g_value_get_boolean (&value) ? "true" : "false");
  return g_strdup_printf ("%d", g_value_get_int (&value));
}

void
sl_setting_properties_read (GObject *element, SlModelSettings *settings)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  for (guint i = 0; i < n; i++) {
    if ((table[i].doors & SL_DOOR_ELEMENTS) == 0 || sl_setting_get (&table[i], settings) != NULL)
      continue;
    g_autofree char *text = read_text (element, table[i].name);
    sl_setting_set (&table[i], settings, text);
  }
}

void
sl_setting_properties_give (const SlModelSettings *settings, GObject *element)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  for (guint i = 0; i < n; i++) {
    const char *text = sl_setting_get (&table[i], settings);
    if ((table[i].doors & SL_DOOR_ELEMENTS) == 0 || text == NULL)
      continue;
    if (table[i].kind == SL_SETTING_TEXT || table[i].kind == SL_SETTING_FILE)
      g_object_set (element, table[i].name, text, NULL);
    else
      gst_util_set_object_arg (element, table[i].name, text);
  }
}
