/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/publish/control.h"

#include <string.h>

#include "core/base/printable.h"
#include "plugins/base/report.h"

#define SETTING_MOST 32
/* Between two warnings. */
#define TOLD_US (60 * G_USEC_PER_SEC)

void
sl_control_install (GObjectClass *klass, void (*publish) (GstElement *element, const char *states))
{
  g_signal_new_class_handler ("publish-states", G_TYPE_FROM_CLASS (klass),
                              G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (publish), NULL, NULL,
                              NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

void
sl_control_post (GstElement *element, const char *topic, const char *text, gsize bytes)
{
  const char *setting =
    g_str_has_suffix (topic, SL_CONTROL_THRESHOLD) ? "threshold" : strrchr (topic, '/') + 1;
  g_autofree char *name = g_strndup (setting, SETTING_MOST + 1);
  g_autofree char *shown = sl_printable (name, SL_PRINTABLE_LABEL);
  g_autofree char *whole =
    bytes <= SL_CONTROL_BYTES_MOST ? g_strndup (bytes > 0 ? text : "", bytes) : NULL;
  if (whole != NULL && (strlen (whole) != bytes || !g_utf8_validate (whole, -1, NULL)))
    g_clear_pointer (&whole, g_free);
  g_autofree char *from = sl_printable (topic, SL_PRINTABLE_NAME);
  sl_element_post (element,
                   gst_structure_new ("slpublish-set", "setting", G_TYPE_STRING, shown, "text",
                                      G_TYPE_STRING, whole, "topic", G_TYPE_STRING, from, NULL));
}

void
sl_control_refuse (GstElement *element, gint64 *told, const char *name, const char *text,
                   gsize bytes, const char *expected)
{
  g_autofree char *head = g_strndup (bytes > 0 ? text : "", MIN (bytes, 64)),
                  *shown = sl_printable (head, SL_PRINTABLE_LABEL);
  const gint64 now = g_get_monotonic_time ();
  GST_WARNING_OBJECT (element, "%s/set: expected %s, got '%s'", name, expected, shown);
  if (*told != 0 && now - *told < TOLD_US)
    return;
  *told = now;
  GST_ELEMENT_WARNING (
    element, RESOURCE, SETTINGS,
    ("the broker's %s/set: expected %s, got '%s'; nothing changes", name, expected, shown), (NULL));
}
