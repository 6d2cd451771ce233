/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * MediaPipe's MaxPoolingWithArgmax2D and MaxUnpooling2D, of floats over NHWC: maxima of windows
 * with the place that each had in its window, counted row by row, and a picture of zeros with
 * values at such places. Places come from a tensor: what is outside of its window, or of the
 * picture, is not written.
 */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

static gboolean
check_floats (const SlGraph *graph, const SlNode *node, GError **error)
{
  const guint32 floats = SL_DTYPE_BIT (SL_DTYPE_F32);
  for (guint i = 0; i < node->n_inputs; i++)
    if (!sl_node_check_dtype (node, "input", sl_node_input (graph, node, i), floats, error)
        || !sl_node_check_rank4 (graph, node, i, error))
      return FALSE;
  if (!sl_node_check_outputs (graph, node, floats, error))
    return FALSE;
  return TRUE;
}

static gboolean
pool_check (SlGraph *graph, SlNode *node, GError **error)
{
  return check_floats (graph, node, error);
}

static gboolean
pool_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  SlWindow *window = &node->params.window;
  gint32 dims[4] = { input->dims[0], 0, 0, input->dims[3] };
  return sl_window_resolve (node, window, input->dims[1], input->dims[2], window->filter_h,
                            window->filter_w, &dims[1], &dims[2], error)
         && sl_node_set_shape (graph, node, 0, 4, dims, error)
         && sl_node_set_shape (graph, node, 1, 4, dims, error);
}

/* Rows of output pixels, counted over all pictures. */
static void
pool_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlWindow *w = &call->node->params.window;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  const gsize channels = (gsize) input->dims[3];
  for (gsize i = first * (gsize) output->dims[2]; i < (first + n) * (gsize) output->dims[2]; i++) {
    const gsize row = i / (gsize) output->dims[2], picture = row / (gsize) output->dims[1];
    const gint32 top = (gint32) (row % (gsize) output->dims[1]) * w->stride_h - w->pad_top;
    const gint32 left = (gint32) (i % (gsize) output->dims[2]) * w->stride_w - w->pad_left;
    gfloat *most = (gfloat *) call->outputs[0] + i * channels,
           *place = (gfloat *) call->outputs[1] + i * channels;
    for (gsize c = 0; c < channels; c++) {
      most[c] = -G_MAXFLOAT;
      place[c] = 0;
    }
    for (gint32 y = MAX (-top, 0); y < MIN (w->filter_h, input->dims[1] - top); y++)
      for (gint32 x = MAX (-left, 0); x < MIN (w->filter_w, input->dims[2] - left); x++) {
        const gsize pixel =
          (picture * (gsize) input->dims[1] + (gsize) (top + y)) * (gsize) input->dims[2]
          + (gsize) (left + x);
        const gfloat *in = (const gfloat *) call->inputs[0] + pixel * channels;
        for (gsize c = 0; c < channels; c++)
          if (in[c] > most[c]) {
            most[c] = in[c];
            place[c] = (gfloat) (y * w->filter_w + x);
          }
      }
    SlClamp clamp;
    sl_clamp_for (&clamp, w->activation, output);
    for (gsize c = 0; c < channels; c++)
      most[c] = CLAMP (most[c], clamp.lo_f, clamp.hi_f);
  }
}

static void
pool_run (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  sl_parallel (call, (gsize) output->dims[0] * (gsize) output->dims[1], 1, pool_rows,
               (void *) call);
}

static gboolean
unpool_check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *places = sl_node_input (graph, node, 1);
  if (!check_floats (graph, node, error))
    return FALSE;
  if (sl_tensor_same_shape (input, places))
    return TRUE;
  g_autofree char *text = sl_tensor_describe (input);
  g_autofree char *got = sl_tensor_describe (places);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "values are %s and their places %s; expected the same shape", text, got);
}

static gint32
pad_before (gint32 in, gint32 out, gint32 stride, gint32 filter)
{
  return (gint32) (MAX ((gint64) (in - 1) * stride + filter - out, 0) / 2);
}

/* Each pixel becomes as many as its window has. */
static gboolean
unpool_infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0);
  SlWindow *w = &node->params.window;
  const gint64 h = (gint64) input->dims[1] * w->filter_h,
               width = (gint64) input->dims[2] * w->filter_w;
  if (w->filter_h < 1 || w->filter_w < 1 || w->filter_h > G_MAXINT16 || w->filter_w > G_MAXINT16
      || h > G_MAXINT32 || width > G_MAXINT32)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "%dx%d windows for %dx%d pixels are over the limit", w->filter_h,
                          w->filter_w, input->dims[1], input->dims[2]);
  const gint32 dims[4] = { input->dims[0], (gint32) h, (gint32) width, input->dims[3] };
  w->pad_top = pad_before (input->dims[1], dims[1], w->stride_h, w->filter_h);
  w->pad_left = pad_before (input->dims[2], dims[2], w->stride_w, w->filter_w);
  return sl_node_set_shape (graph, node, 0, 4, dims, error);
}

static void
unpool_pictures (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlWindow *w = &call->node->params.window;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  const gsize channels = (gsize) input->dims[3],
              size = output->bytes / sizeof (gfloat) / (gsize) output->dims[0];
  const gsize pixels = (gsize) input->dims[1] * (gsize) input->dims[2];
  for (gsize picture = first; picture < first + n; picture++) {
    gfloat *out = (gfloat *) call->outputs[0] + picture * size;
    memset (out, 0, size * sizeof out[0]);
    for (gsize at = picture * pixels * channels; at < (picture + 1) * pixels * channels; at++) {
      const gsize pixel = at / channels % pixels;
      const gfloat place = ((const gfloat *) call->inputs[1])[at];
      if (!(place >= 0 && place < (gfloat) (w->filter_h * w->filter_w)))
        continue;
      const gint64 y = (gint64) (pixel / (gsize) input->dims[2]) * w->stride_h - w->pad_top
                       + (gint32) place / w->filter_w;
      const gint64 x = (gint64) (pixel % (gsize) input->dims[2]) * w->stride_w - w->pad_left
                       + (gint32) place % w->filter_w;
      if (y >= 0 && y < output->dims[1] && x >= 0 && x < output->dims[2])
        out[((gsize) y * (gsize) output->dims[2] + (gsize) x) * channels + at % channels] =
          ((const gfloat *) call->inputs[0])[at];
    }
  }
}

static void
unpool_run (const SlKernelCall *call)
{
  sl_parallel (call, (gsize) sl_node_output (call->graph, call->node, 0)->dims[0], 1,
               unpool_pictures, (void *) call);
}

const SlOp sl_op_max_pool_with_argmax = { SL_OP_NAMED_ROW (
  MAX_POOL_WITH_ARGMAX, "MaxPoolingWithArgmax2D", 1, 1, 2, pool_check, pool_infer, NULL,
  pool_run) };

const SlOp sl_op_max_unpool = { SL_OP_NAMED_ROW (MAX_UNPOOL, "MaxUnpooling2D", 2, 2, 1,
                                                 unpool_check, unpool_infer, NULL, unpool_run) };
