/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The window of a convolution as kernels see it (internal to core/backends). */
#pragma once

#include "core/graph/graph.h"

/** SlWindowShape: a window sliding over an NHWC tensor. @top, @left: pixels of padding before the
 * first. */
typedef struct
{
  gint32 h, w, channels;
  gint32 out_h, out_w;
  gint32 filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, top, left;
} SlWindowShape;

/** sl_window_shape: of @node, a CONV_2D or DEPTHWISE_CONV_2D. */
SlWindowShape sl_window_shape (const SlGraph *graph, const SlNode *node);
/** sl_window_is_pixel: whether the window is one pixel, and the output has the input's pixels. */
gboolean sl_window_is_pixel (const SlWindowShape *window);
/** sl_window_columns: pixels of a row of the input under @count output pixels. */
gint64 sl_window_columns (const SlWindowShape *window, gint32 count);
/** sl_window_crosses_sides: whether windows cover pixels left or right of the picture. */
gboolean sl_window_crosses_sides (const SlWindowShape *window);
