/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slcamera's messages begin with its URI, which the program's own do, too. */
#include "tools/predict/camera.h"

#include <gio/gio.h>
#include <string.h>

#include "core/base/redact.h"
#include "sightline/error.h"
#include "plugins/camera/messages.h"
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
  const gboolean tls = g_str_has_prefix (uri, "https://");
  if ((!tls && !g_str_has_prefix (uri, "http://")) || g_getenv ("http_proxy") != NULL
      || g_getenv ("https_proxy") != NULL)
    return NULL;
  g_autoptr (GError) reason = NULL;
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_socket_client_set_enable_proxy (client, FALSE);
  g_socket_client_set_timeout (client, 1);
  g_autoptr (GSocketConnection) connection =
    g_socket_client_connect_to_uri (client, uri, tls ? 443 : 80, NULL, &reason);
  return connection == NULL ? g_strdup (reason->message) : NULL;
}
