/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sightline-zxing: reads codes with zxing-cpp for slread, in a process of its own: distributions build that library with its assertions, and
 * some pictures make them fail. Whoever asks is none the worse then, nor of a picture that takes for ever. Standard input is a socket
 * (read/zxing/protocol.h); the program ends with it.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "read/zxing/protocol.h"

/* Seconds of a picture, after which the process ends; pictures' sides. */
#define LIMIT 10
#define MOST_SIDE 4096

/* FALSE at the end of the socket. */
static gboolean
receive (void *data, gsize size)
{
  guint8 *at = data;
  while (size > 0) {
    const gssize got = recv (STDIN_FILENO, at, size, 0);
    if (got <= 0 && !(got < 0 && errno == EINTR))
      return FALSE;
    at += MAX (got, 0);
    size -= (gsize) MAX (got, 0);
  }
  return TRUE;
}

static gboolean
answer (const void *data, gsize size)
{
  const guint8 *at = data;
  while (size > 0) {
    const gssize sent = send (STDIN_FILENO, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR)
      return FALSE;
    at += MAX (sent, 0);
    size -= (gsize) MAX (sent, 0);
  }
  return TRUE;
}

static gboolean
serve (SlZxing *zxing, SlGray *picture)
{
  static guint8 bytes[SL_READ_MOST_BYTES];
  SlZxingRequest request;
  if (!receive (&request, sizeof request) || request.width < 1 || request.height < 1 || request.width > MOST_SIDE
      || request.height > MOST_SIDE)
    return FALSE;
  sl_gray_resize (picture, request.width, request.height);
  if (!receive (picture->pixels, (gsize) request.width * (gsize) request.height))
    return FALSE;
  alarm (LIMIT);
  const SlZxingAnswer found = sl_zxing_scan (zxing, picture, &request.how, bytes);
  alarm (0);
  return answer (&found, sizeof found) && answer (bytes, found.n_bytes);
}

int
main (void)
{
  SlGray picture = { 0 };
  SlZxing *zxing = sl_zxing_new ();
  prctl (PR_SET_DUMPABLE, 0); /* frames are in memory, and no core file is of use */
  signal (SIGINT, SIG_IGN);   /* of a terminal: whoever asks ends first */
  while (zxing != NULL && serve (zxing, &picture))
    ;
  sl_gray_clear (&picture);
  sl_zxing_free (zxing);
  return 0;
}
