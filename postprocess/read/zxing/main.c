/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sightline-zxing: reads codes with zxing-cpp for slread, in a process of its own. Distributions
 * build that library with its assertions, and some pictures make them fail. A failed assertion or
 * an endless scan then does not harm the process of slread. Standard input is a socket
 * (postprocess/read/zxing/protocol.h); the program ends when it is closed.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "postprocess/read/zxing/protocol.h"

/* Seconds of a picture, after which the process ends; pictures' sides. */
#define LIMIT 10
#define MAX_SIDE 4096

static gboolean
serve (SlZxing *zxing, SlGray *picture)
{
  static guint8 bytes[SL_READ_MAX_BYTES];
  SlZxingRequest request;
  if (!sl_zxing_receive (STDIN_FILENO, &request, sizeof request, -1) || request.width < 1
      || request.height < 1 || request.width > MAX_SIDE || request.height > MAX_SIDE)
    return FALSE;
  sl_gray_resize (picture, request.width, request.height);
  if (!sl_zxing_receive (STDIN_FILENO, picture->pixels,
                         (gsize) request.width * (gsize) request.height, -1))
    return FALSE;
  alarm (LIMIT);
  const SlZxingAnswer found = sl_zxing_scan (zxing, picture, &request.how, bytes);
  alarm (0);
  return sl_zxing_send (STDIN_FILENO, &found, sizeof found, -1)
         && sl_zxing_send (STDIN_FILENO, bytes, found.n_bytes, -1);
}

int
main (void)
{
  SlGray picture = { 0 };
  SlZxing *zxing = sl_zxing_new ();
  prctl (PR_SET_DUMPABLE, 0); /* frames are in memory, and no core file is of use */
  signal (SIGINT, SIG_IGN);   /* from a terminal: the parent process ends first */
  while (zxing != NULL && serve (zxing, &picture))
    ;
  sl_gray_clear (&picture);
  sl_zxing_free (zxing);
  return 0;
}
