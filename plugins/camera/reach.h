/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Whether a server can be reached: GStreamer's elements do not say why it cannot. */
#pragma once

#include <gio/gio.h>

/** sl_camera_reach: FALSE with @error set when no connection to the server of @uri comes about in
 * @seconds, and the time that its name takes; @port: if @uri names none. With @verify it is
 * also FALSE if the certificate of https:// or rtsps:// is not trusted. TRUE without a connection
 * for HTTP if the environment names a proxy. */
gboolean sl_camera_reach (const char *uri, guint16 port, gboolean verify, guint seconds,
                          GCancellable *cancel, GError **error);
