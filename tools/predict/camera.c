/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slcamera tries for ever; somebody at a terminal wants to hear at once that an address is wrong. So the first attempt that fails before
 * any frame came is the end, and whatever happens later is told and left to slcamera.
 */
#include "tools/predict/camera.h"

#include <string.h>

#include "base/redact.h"
#include "sightline/error.h"
#include "plugins/camera/messages.h"
#include "plugins/elements.h"
#include "tools/frames.h"

GstElement *
sl_camera_new (const char *uri, guint connect_ms)
{
  return g_object_new (sl_camera_get_type (), "uri", uri, "connect-timeout", (gint) connect_ms, NULL);
}

/* The program names the source itself. */
static const char *
without_name (const char *text, const char *uri)
{
  g_autofree char *shown = sl_redact_uri (uri, NULL);
  const char *rest = g_str_has_prefix (text, "uri=") ? text + strlen ("uri=") : text;
  const gsize length = strlen (shown);
  return g_str_has_prefix (rest, shown) && g_str_has_prefix (rest + length, ": ") ? rest + length + 2 : text;
}

gboolean
sl_camera_read_message (GstMessage *message, const char *uri, gboolean playing, char **note, GError **error)
{
  g_autoptr (GError) told = NULL;
  const GstStructure *structure = gst_message_get_structure (message);
  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      told = sl_bus_error (message);
      g_set_error_literal (error, SL_ERROR, SL_ERROR_OPEN, without_name (told->message, uri));
      return FALSE;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &told, NULL);
      break;
    case GST_MESSAGE_INFO:
      gst_message_parse_info (message, &told, NULL);
      break;
    default:
      if (playing || !gst_structure_has_name (structure, SL_CAMERA_MESSAGE)
          || g_strcmp0 (gst_structure_get_string (structure, "state"), "reconnecting") != 0)
        return TRUE;
      g_set_error_literal (error, SL_ERROR, SL_ERROR_OPEN, gst_structure_get_string (structure, "reason"));
      return FALSE;
  }
  if (playing)
    *note = g_strdup (without_name (told->message, uri));
  return TRUE;
}
