/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/serve/zmq_endpoint.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/prefix.h"

const char *
sl_zmq_endpoint_path (const char *endpoint)
{
  return sl_has_prefix (endpoint, "ipc:///") ? endpoint + strlen ("ipc://") : NULL;
}

gboolean
sl_zmq_endpoint_check (const char *endpoint, GError **error)
{
  const char *colon = strrchr (endpoint, ':');
  guint64 port;
  if (sl_zmq_endpoint_path (endpoint) != NULL
      || (sl_has_prefix (endpoint, "tcp://") && colon > endpoint + strlen ("tcp:")
          && g_ascii_string_to_unsigned (colon + 1, 10, 1, G_MAXUINT16, &port, NULL)))
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "--zmq %s: expected ipc:///PATH or tcp://ADDRESS:PORT with a port of 1..65535, "
                  "such as ipc:///run/sightline/detector",
                  endpoint);
}
