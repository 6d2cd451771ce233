/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hides parts of a mapped frame in place. A hidden part has at most 8x8 values: the means of its
 * cells. Cells lie on a grid that begins at the frame's corner, so the same place has the same
 * cells in every frame. All components are hidden, alpha and unused bytes, too.
 */
#pragma once

#include <gst/video/video.h>

#include "core/base/affine.h"

/** Formats that can be hidden. */
#define SL_HIDE_FORMATS                                                                        \
  "{ I420, YV12, NV12, NV21, Y42B, Y444, NV16, NV24, YUY2, UYVY, YVYU, RGB, BGR, RGBA, BGRA, " \
  "RGBx, BGRx, ARGB, ABGR, xRGB, xBGR, GRAY8 }"
/** Most cells of a part in one direction. */
#define SL_HIDE_CELLS 8
/** Pixels of a block's side; parts that are no rectangles are made of blocks. */
#define SL_HIDE_BLOCK 4

typedef enum
{
  SL_HIDE_PIXELATE,
  SL_HIDE_BLUR, /* the same means, interpolated */
  SL_HIDE_FILL
} SlHideMode;

/** How to hide. @value: for SL_HIDE_FILL: what components 0..3 become. */
typedef struct
{
  SlHideMode mode;
  guint8 value[4];
} SlHideStyle;

/** Memory for rows and weights; zeroed at first. */
typedef struct
{
  guint8 *rows[3];
  gsize bytes;
  guint8 *weights;
  gsize n_weights;
} SlHideScratch;

void sl_hide_scratch_clear (SlHideScratch *scratch);

/** sl_hide: hides @area of @frame, which is mapped for reading and writing in one of
 * SL_HIDE_FORMATS. The area is cut to the frame and rounded outwards to whole samples of chroma.
 * @blocks: (nullable): for each block of the frame, row by row, (width + 3) / 4 a row: whether it
 * is hidden; NULL = all of them */
void sl_hide (GstVideoFrame *frame, const SlHideStyle *style, SlRect area, const guint8 *blocks,
              SlHideScratch *scratch);
