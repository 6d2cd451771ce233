/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes to and from the other side of the socket. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "postprocess/read/zxing/protocol.h"

/* FALSE where the socket is not ready for @events at @deadline. */
static gboolean
wait (int socket, short events, gint64 deadline)
{
  struct pollfd ready = { .fd = socket, .events = events };
  for (;;) {
    const gint64 left =
      deadline < 0 ? -1 : (MAX (deadline - g_get_monotonic_time (), 0) + 999) / 1000;
    const int n = poll (&ready, 1, (int) MIN (left, G_MAXINT));
    if (n >= 0 || errno != EINTR)
      return n > 0;
  }
}

gboolean
sl_zxing_send (int socket, const void *data, gsize size, gint64 deadline)
{
  const guint8 *at = data;
  while (size > 0) {
    const gssize sent =
      wait (socket, POLLOUT, deadline) ? send (socket, at, size, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    if (sent == 0 || (sent < 0 && errno != EINTR && errno != EAGAIN))
      return FALSE;
    at += MAX (sent, 0);
    size -= (gsize) MAX (sent, 0);
  }
  return TRUE;
}

gboolean
sl_zxing_receive (int socket, void *data, gsize size, gint64 deadline)
{
  guint8 *at = data;
  while (size > 0) {
    const gssize got = wait (socket, POLLIN, deadline) ? recv (socket, at, size, MSG_DONTWAIT) : 0;
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
      return FALSE;
    at += MAX (got, 0);
    size -= (gsize) MAX (got, 0);
  }
  return TRUE;
}
