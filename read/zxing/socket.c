/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes to and from the other side of the socket.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "read/zxing/protocol.h"

gboolean
sl_zxing_send (int socket, const void *data, gsize size)
{
  const guint8 *at = data;
  while (size > 0) {
    const gssize sent = send (socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR)
      return FALSE;
    at += MAX (sent, 0);
    size -= (gsize) MAX (sent, 0);
  }
  return TRUE;
}

gboolean
sl_zxing_receive (int socket, void *data, gsize size, int silence)
{
  guint8 *at = data;
  while (size > 0) {
    struct pollfd ready = { .fd = socket, .events = POLLIN };
    const int n = poll (&ready, 1, silence);
    const gssize got = n > 0 ? recv (socket, at, size, 0) : n;
    if (got <= 0 && !(got < 0 && errno == EINTR))
      return FALSE;
    at += MAX (got, 0);
    size -= (gsize) MAX (got, 0);
  }
  return TRUE;
}
