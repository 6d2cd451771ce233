/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/backends/window.h"

SlWindowShape
sl_window_shape (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *x = sl_node_input (graph, node, 0), *y = sl_node_output (graph, node, 0);
  const SlWindow *window = &node->params.window;
  const gboolean pool = node->op == SL_OP_MAX_POOL_2D;
  const SlTensor *w = pool ? NULL : sl_node_input (graph, node, 1);
  return (SlWindowShape){
    .h = x->dims[1],
    .w = x->dims[2],
    .channels = x->dims[3],
    .out_h = y->dims[1],
    .out_w = y->dims[2],
    .filter_h = pool ? window->filter_h : w->dims[1],
    .filter_w = pool ? window->filter_w : w->dims[2],
    .stride_h = window->stride_h,
    .stride_w = window->stride_w,
    .dilation_h = pool ? 1 : window->dilation_h,
    .dilation_w = pool ? 1 : window->dilation_w,
    .top = window->pad_top,
    .left = window->pad_left,
  };
}

gboolean
sl_window_is_pixel (const SlWindowShape *w)
{
  return w->filter_h == 1 && w->filter_w == 1 && w->stride_h == 1 && w->stride_w == 1
         && w->out_h == w->h && w->out_w == w->w && w->top == 0 && w->left == 0;
}

gint64
sl_window_columns (const SlWindowShape *w, gint32 count)
{
  return ((gint64) count - 1) * w->stride_w + ((gint64) w->filter_w - 1) * w->dilation_w + 1;
}

gboolean
sl_window_crosses_sides (const SlWindowShape *w)
{
  return w->left > 0 || sl_window_columns (w, w->out_w) - w->left > w->w;
}
