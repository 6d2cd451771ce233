/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the program sightline-zxing is asked and answers, over the socket that is its standard
 * input: a request and its pixels, an answer and its bytes, one after the other. Both sides are of
 * one build.
 */
#pragma once

#include "postprocess/read/reader.h"

G_BEGIN_DECLS

/** Symbologies by zxing-cpp's names and by ours, their kinds, and whether something of their own
 * says that they were read right. */
#define SL_ZXING_SYMBOLOGIES(X)                                   \
  X ("QRCode", "qr-code", SL_READ_QR, TRUE)                       \
  X ("MicroQRCode", "micro-qr-code", SL_READ_QR, TRUE)            \
  X ("RMQRCode", "rmqr-code", SL_READ_MATRIX, TRUE)               \
  X ("DataMatrix", "data-matrix", SL_READ_MATRIX, TRUE)           \
  X ("Aztec", "aztec", SL_READ_MATRIX, TRUE)                      \
  X ("MaxiCode", "maxicode", SL_READ_MATRIX, TRUE)                \
  X ("PDF417", "pdf417", SL_READ_STACKED, TRUE)                   \
  X ("EAN-13", "ean-13", SL_READ_LINEAR, TRUE)                    \
  X ("UPC-A", "upc-a", SL_READ_LINEAR, TRUE)                      \
  X ("EAN-8", "ean-8", SL_READ_LINEAR, TRUE)                      \
  X ("UPC-E", "upc-e", SL_READ_LINEAR, TRUE)                      \
  X ("Code128", "code-128", SL_READ_LINEAR, TRUE)                 \
  X ("Code93", "code-93", SL_READ_LINEAR, TRUE)                   \
  X ("DataBar", "databar", SL_READ_LINEAR, TRUE)                  \
  X ("DataBarLimited", "databar-limited", SL_READ_LINEAR, TRUE)   \
  X ("DataBarExpanded", "databar-expanded", SL_READ_LINEAR, TRUE) \
  X ("Code39", "code-39", SL_READ_LINEAR, FALSE)                  \
  X ("ITF", "itf", SL_READ_LINEAR, FALSE)                         \
  X ("Codabar", "codabar", SL_READ_LINEAR, FALSE)

/** SlZxingRequest: @how.reader is of no meaning; @width x @height bytes follow. */
typedef struct
{
  SlReadHow how;
  gint width, height;
} SlZxingRequest;

/** SlZxingAnswer: @row of the symbologies, -1 = nothing was found; @n_bytes bytes follow,
 * SL_READ_MAX_BYTES at most. */
typedef struct
{
  gint row, quality;
  guint n_bytes;
  double corners[4][2];
} SlZxingAnswer;

/** sl_zxing_send: FALSE when the peer is gone, or when not all bytes were taken at @deadline, in
 * microseconds of g_get_monotonic_time(); -1 = it waits without a limit. */
gboolean sl_zxing_send (int socket, const void *data, gsize size, gint64 deadline);
/** sl_zxing_receive: FALSE at the end of the socket, or where not all was there at @deadline, as in
 * sl_zxing_send(). */
gboolean sl_zxing_receive (int socket, void *data, gsize size, gint64 deadline);

typedef struct _SlZxing SlZxing;

/** sl_zxing_new: NULL where memory is out. */
SlZxing *sl_zxing_new (void);
/** sl_zxing_free: NULL is legal. */
void sl_zxing_free (SlZxing *zxing);
/** sl_zxing_scan: the best code in @picture that is of @how; @bytes has room for SL_READ_MAX_BYTES.
 */
SlZxingAnswer sl_zxing_scan (SlZxing *zxing, const SlGray *picture, const SlReadHow *how,
                             guint8 *bytes);

G_END_DECLS
