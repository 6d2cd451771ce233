/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawing on video frames as they are: each colour component is a grid of bytes with its own
 * strides and subsampling, so planar, semi-planar and packed YUV, RGB in any order and gray are all
 * the same. Nothing is converted, everything is clipped. Coordinates are pixels of the frame.
 */
#pragma once

#include <gst/video/video.h>

/** Formats that can be drawn on. */
#define SL_CANVAS_FORMATS                                                                      \
  "{ I420, YV12, NV12, NV21, Y42B, Y444, NV16, NV24, YUY2, UYVY, YVYU, RGB, BGR, RGBA, BGRA, " \
  "RGBx, BGRx, ARGB, ABGR, xRGB, xBGR, GRAY8 }"

/** One component: @width x @height bytes, each standing for 2^@x_shift x 2^@y_shift pixels. */
typedef struct
{
  guint8 *data;
  gint width, height, pixel_stride, row_stride;
  guint x_shift, y_shift;
} SlCanvasGrid;

/** A colour as the canvas's components have it. */
typedef struct
{
  guint8 value[3];
} SlInk;

typedef struct
{
  gint width, height;
  guint n_components;
  SlCanvasGrid components[3];
  gboolean yuv;
  double kr, kb; /* colour matrix */
  gint offset[4], scale[4];
} SlCanvas;

/** Coverage 0..255 of each pixel, for text. */
typedef struct
{
  gint width, height, stride;
  guint8 *data;
} SlStencil;

/** sl_canvas_init: @frame is mapped for reading and writing, in a format of SL_CANVAS_FORMATS, and
 * outlives the canvas. */
void sl_canvas_init (SlCanvas *canvas, GstVideoFrame *frame);
/** sl_canvas_ink: @rgb as 0xRRGGBB. */
SlInk sl_canvas_ink (const SlCanvas *canvas, guint32 rgb);
void sl_canvas_fill (SlCanvas *canvas, gint x, gint y, gint width, gint height, SlInk ink);
/** sl_canvas_blend: mixes the rectangle with @ink; @alpha 0 (nothing) .. 256 (all ink). */
void sl_canvas_blend (SlCanvas *canvas, gint x, gint y, gint width, gint height, SlInk ink,
                      guint alpha);
/** sl_canvas_outline: a frame of @thickness inside the rectangle. */
void sl_canvas_outline (SlCanvas *canvas, gint x, gint y, gint width, gint height, gint thickness,
                        SlInk ink);
/** sl_canvas_line: from point to point, which may be anywhere. */
void sl_canvas_line (SlCanvas *canvas, double x0, double y0, double x1, double y1, gint thickness,
                     SlInk ink);
void sl_canvas_disc (SlCanvas *canvas, double x, double y, double radius, SlInk ink);
/** sl_canvas_stencil: @ink where @stencil covers, its corner at (@x, @y). */
void sl_canvas_stencil (SlCanvas *canvas, gint x, gint y, const SlStencil *stencil, SlInk ink);
