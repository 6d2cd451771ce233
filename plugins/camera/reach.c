/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/camera/reach.h"

static gboolean
has_proxy (const char *variable)
{
  const char *proxy = g_getenv (variable);
  return proxy != NULL && *proxy != '\0';
}

/* Cameras are near: no proxy is asked for the way to them, except where the environment names one
 * for HTTP. */
gboolean
sl_camera_reach (const char *uri, guint16 port, gboolean verify, guint seconds,
                 GCancellable *cancel, GError **error)
{
  const char *scheme = g_uri_peek_scheme (uri);
  const gboolean https = g_strcmp0 (scheme, "https") == 0,
                 http = https || g_strcmp0 (scheme, "http") == 0;
  if (http && (has_proxy ("http_proxy") || has_proxy ("https_proxy")))
    return TRUE;
  g_autoptr (GSocketClient) client = g_socket_client_new ();
  g_socket_client_set_enable_proxy (client, FALSE);
  g_socket_client_set_tls (client, verify && (https || g_strcmp0 (scheme, "rtsps") == 0));
  g_socket_client_set_timeout (client, seconds);
  g_autoptr (GSocketConnection) connection =
    g_socket_client_connect_to_uri (client, uri, port, cancel, error);
  return connection != NULL;
}
