/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What pack.c makes of a node and run.c runs. */
#ifndef SL_CORE_INT8_LAYER_H
#define SL_CORE_INT8_LAYER_H

#include "core/kernels/int8/int8.h"

G_BEGIN_DECLS

/** Most taps of a depthwise filter. */
#define SL_INT8_MAX_TAPS 256

/** A window sliding over an NHWC tensor of single bytes. */
typedef struct
{
  gint32 h, w, channels;
  gint32 out_h, out_w;
  gint32 filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, top, left;
} SlInt8Window;

/**
 * SlInt8Layer:
 * @direct: rows of the multiplication are consecutive rows of the input; otherwise windows are gathered
 * @rows: output pixels of all images; @depth: activations of a row; @row_bytes: of a gathered one
 * @tile_rows, @chunk_panels: work items are @tile_rows rows by @chunk_panels panels
 * @scratch: per thread, @scratch_bytes
 * @pad: (depthwise) a row of pixels, or one, of the input's zero point
 */
struct _SlInt8Layer
{
  const SlInt8Isa *isa;
  gboolean depthwise, by_rows, direct, is_signed;
  SlInt8Window window;
  gint32 images, rows, depth, channels;
  gint32 n_panels, tile_rows, chunk_panels;
  gsize row_bytes, scratch_bytes;
  guint8 *scratch, *pad;
  guint8 zero_code;
  SlInt8Gemm gemm;
  SlInt8Depthwise dw;
};

G_END_DECLS

#endif
