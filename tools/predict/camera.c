/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slcamera's messages begin with its URI, which the program's own do, too. */
#include "tools/predict/camera.h"

#include <string.h>

#include "core/base/redact.h"
#include "sightline/error.h"
#include "plugins/camera/messages.h"
#include "plugins/camera/reach.h"
#include "plugins/elements.h"

GstElement *
sl_camera_new (const char *uri, guint connect_ms)
{
  return g_object_new (sl_camera_get_type (), "uri", uri, "connect-timeout", (gint) connect_ms,
                       NULL);
}

/* The program names the source itself. */
static const char *
without_name (const char *text, const char *uri)
{
  g_autofree char *shown = sl_redact_uri (uri, NULL);
  const char *rest = g_str_has_prefix (text, "uri=") ? text + strlen ("uri=") : text;
  const gsize length = strlen (shown);
  return g_str_has_prefix (rest, shown) && g_str_has_prefix (rest + length, ": ")
           ? rest + length + 2
           : text;
}

GError *
sl_camera_error (const GError *error, const char *uri)
{
  return g_error_new_literal (SL_ERROR, SL_ERROR_OPEN, without_name (error->message, uri));
}

char *
sl_camera_note (const GError *said, const char *uri)
{
  return g_strdup (without_name (said->message, uri));
}

GError *
sl_camera_failed_attempt (GstMessage *message)
{
  const GstStructure *structure = gst_message_get_structure (message);
  if (!gst_structure_has_name (structure, SL_CAMERA_MESSAGE)
      || g_strcmp0 (gst_structure_get_string (structure, "state"), "reconnecting") != 0)
    return NULL;
  return g_error_new_literal (SL_ERROR, SL_ERROR_OPEN,
                              gst_structure_get_string (structure, "reason"));
}

char *
sl_camera_unreachable (const char *uri)
{
  const char *scheme = g_uri_peek_scheme (uri);
  const gboolean https = g_strcmp0 (scheme, "https") == 0;
  if (!https && g_strcmp0 (scheme, "http") != 0)
    return NULL;
  g_autoptr (GError) reason = NULL;
  g_autofree char *place = sl_redact_uri (uri, NULL); /* the reason may repeat what is in it */
  return sl_camera_reach (place, https ? 443 : 80, TRUE, 1, NULL, &reason)
           ? NULL
           : g_strdup (reason->message);
}
