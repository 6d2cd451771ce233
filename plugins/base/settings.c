/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions are data of the type, which all plugin files of a process share. */
#include "plugins/base/settings.h"

#define CHECK g_quark_from_static_string ("sl-settings-check")
#define MEET g_quark_from_static_string ("sl-settings-meet")

void
sl_element_class_set_check (GstElementClass *klass, SlSettingsCheck check)
{
  g_type_set_qdata (G_TYPE_FROM_CLASS (klass), CHECK, (gpointer) check);
}

gboolean
sl_element_check_settings (GstElement *element, GError **error)
{
  const SlSettingsCheck check = (SlSettingsCheck) g_type_get_qdata (G_OBJECT_TYPE (element), CHECK);
  return check == NULL || check (element, error);
}

void
sl_element_class_set_meet (GstElementClass *klass, SlSettingsMeet meet)
{
  g_type_set_qdata (G_TYPE_FROM_CLASS (klass), MEET, (gpointer) meet);
}

gboolean
sl_element_check_meeting (GstElement *element, GstElement *other, GError **error)
{
  const SlSettingsMeet meet = (SlSettingsMeet) g_type_get_qdata (G_OBJECT_TYPE (element), MEET);
  return meet == NULL || G_OBJECT_TYPE (element) != G_OBJECT_TYPE (other)
         || meet (element, other, error);
}
