/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ROI_POOL: regions [n,5] of pictures [batch,height,width,channels], each a picture's number and
 * two corners x, y, cut into cells of whole pixels: the greatest number of each cell and channel,
 * [n,height,width,channels]. Cells without pixels give 0, and so do regions of no picture.
 */
#include <math.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

/* Corners beyond are here: whole numbers of it are exact in a float. */
#define FAR 1e6f

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *regions = sl_node_input (graph, node, 1);
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  if (!sl_node_check_dtype (node, "input", input, f32, error)
      || !sl_node_check_dtype (node, "regions", regions, f32, error)
      || !sl_node_check_outputs (graph, node, f32, error)
      || !sl_node_check_rank4 (graph, node, 0, error))
    return FALSE;
  if (regions->rank == 2 && regions->dims[1] == 5)
    return TRUE;
  g_autofree char *text = sl_tensor_describe (regions);
  return sl_node_error (error, node, SL_ERROR_SHAPE, "regions %s; expected [n,5]", text);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *regions = sl_node_input (graph, node, 1);
  const gint32 dims[4] = { regions->dims[0], node->params.roi_align.height,
                           node->params.roi_align.width, input->dims[3] };
  return sl_node_set_shape (graph, node, 0, 4, dims, error);
}

/* The pixel that a corner is in; NaN gives the first one. */
static gfloat
pixel_of (gfloat corner, gfloat scale)
{
  const gfloat x = corner * scale;
  return x > -FAR ? roundf (MIN (x, FAR)) : x <= -FAR ? -FAR : 0;
}

/* Pixels of cell @at of @cells between two corners, within @size. */
static void
cell_range (gfloat start, gfloat end, gint32 at, gint32 cells, gint32 size, gint32 *first,
            gint32 *behind)
{
  const gfloat length = MAX (end - start + 1, 1) / (gfloat) cells;
  *first = (gint32) CLAMP (floorf ((gfloat) at * length) + start, 0, (gfloat) size);
  *behind = (gint32) CLAMP (ceilf ((gfloat) (at + 1) * length) + start, 0, (gfloat) size);
}

static void
fill_cell (const gfloat *picture, gsize width, gsize channels, const gint32 y[2], const gint32 x[2],
           gfloat *to)
{
  for (gsize c = 0; c < channels; c++)
    to[c] = y[0] < y[1] && x[0] < x[1] ? -G_MAXFLOAT : 0;
  for (gint32 row = y[0]; row < y[1]; row++)
    for (gint32 column = x[0]; column < x[1]; column++) {
      const gfloat *from = picture + ((gsize) row * width + (gsize) column) * channels;
      for (gsize c = 0; c < channels; c++)
        to[c] = MAX (to[c], from[c]);
    }
}

/* Rows of cells. */
static void
some_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  const gsize width = (gsize) input->dims[2], channels = (gsize) input->dims[3],
              pixels = (gsize) input->dims[1] * width;
  const gint32 rows = output->dims[1], columns = output->dims[2];
  const gfloat scale = call->node->params.roi_align.scale;
  for (gsize at = first; at < first + n; at++) {
    const gfloat *r = (const gfloat *) call->inputs[1] + at / (gsize) rows * 5;
    const gboolean exists = r[0] >= 0 && r[0] < (gfloat) input->dims[0];
    const gfloat *picture =
      (const gfloat *) call->inputs[0] + (exists ? (gsize) r[0] : 0) * pixels * channels;
    for (gint32 column = 0; column < columns; column++) {
      gint32 y[2], x[2];
      cell_range (pixel_of (r[2], scale), pixel_of (r[4], scale), (gint32) (at % (gsize) rows),
                  rows, input->dims[1], &y[0], &y[1]);
      cell_range (pixel_of (r[1], scale), pixel_of (r[3], scale), column, columns, input->dims[2],
                  &x[0], &x[1]);
      y[1] = exists ? y[1] : y[0];
      fill_cell (picture, width, channels, y, x,
                 (gfloat *) call->outputs[0] + (at * (gsize) columns + (gsize) column) * channels);
    }
  }
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *output = sl_node_output (call->graph, call->node, 0);
  sl_parallel (call, (gsize) output->dims[0] * (gsize) output->dims[1], 1, some_rows,
               (void *) call);
}

const SlOp sl_op_roi_pool = { SL_OP_ROW (ROI_POOL, 2, 2, 1, check, infer, NULL, run) };
