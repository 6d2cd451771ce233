/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: bytes -> what a client of ZeroMQ sends, in pieces whose size is the first byte.
 * Each byte of each message is read. Built as tflite.c says.
 */
#include <string.h>

#include "tools/serve/zmtp.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  SlZmtpReader reader;
  SlZmtpStep step;
  volatile guint8 sum = 0;
  const gsize piece = size > 0 ? (gsize) data[0] + 1 : 1;
  gsize fed = 1;
  sl_zmtp_reader_init (&reader, 100000, 20000);
  while ((step = sl_zmtp_reader_next (&reader, NULL)) != SL_ZMTP_BROKEN) {
    gsize room, n;
    if (step == SL_ZMTP_MESSAGE)
      for (guint i = 0; i < reader.n_parts; i++)
        for (gsize k = 0; k < reader.parts[i].size; k++)
          sum = sum ^ reader.parts[i].data[k];
    if (step != SL_ZMTP_WANTS)
      continue;
    if (fed >= size)
      break;
    guint8 *at = sl_zmtp_reader_room (&reader, &room);
    n = MIN (MIN (piece, room), size - fed);
    memcpy (at, data + fed, n);
    sl_zmtp_reader_add (&reader, n);
    fed += n;
  }
  sl_zmtp_reader_clear (&reader);
  return 0;
}
