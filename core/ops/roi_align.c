/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ROI_ALIGN: pictures [batch,height,width,channels], regions [n,4] as x, y, x, y of two corners,
 * and for each the picture that it is of. Each region is cut into cells, each cell into a grid of
 * samples, each sample is taken between four pixels. Samples more than a pixel outside count as 0.
 * Only those inside are looked at, so that the time is bounded by the picture, whatever the regions
 * are.
 */
#include <math.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *regions = sl_node_input (graph, node, 1),
                 *pictures = sl_node_input (graph, node, 2);
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  if (!sl_node_check_dtype (node, "input", input, f32, error)
      || !sl_node_check_dtype (node, "regions", regions, f32, error)
      || !sl_node_check_outputs (graph, node, f32, error)
      || !sl_node_check_dtype (node, "pictures", pictures, SL_DTYPE_BIT (SL_DTYPE_I32), error)
      || !sl_node_check_rank4 (graph, node, 0, error))
    return FALSE;
  if (!isfinite (node->params.roi_align.scale))
    return sl_node_error (error, node, SL_ERROR_FORMAT, "the scale is not a finite number");
  if (regions->rank == 2 && regions->dims[1] == 4 && pictures->rank == 1
      && pictures->dims[0] == regions->dims[0])
    return TRUE;
  g_autofree char *a = sl_tensor_describe (regions), *b = sl_tensor_describe (pictures);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "regions %s of pictures %s; expected [n,4] and [n]", a, b);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const gint32 dims[4] = { sl_node_input (graph, node, 1)->dims[0], node->params.roi_align.height,
                           node->params.roi_align.width, sl_node_input (graph, node, 0)->dims[3] };
  return sl_node_set_shape (graph, node, 0, 4, dims, error);
}

/* Most samples of a cell along a dimension, which floats still count; of larger cells none is
 * taken. */
#define MAX_SAMPLES (1 << 24)

/**
 * Axis: the samples of a cell along one dimension.
 * @samples: of a cell; @first .. @end - 1 may lie inside
 */
typedef struct
{
  gfloat start, step;
  gint32 size, samples, first, end;
} Axis;

/* Cell @cell of @cells between @low and @high, in pixels. */
static void
axis_init (Axis *axis, const SlNode *node, gfloat low, gfloat high, gint32 cell, gint32 cells,
           gint32 size)
{
  const gboolean half_pixel = node->params.roi_align.half_pixel;
  const gfloat shift = half_pixel ? 0.5f : 0, start = low * node->params.roi_align.scale - shift;
  const gfloat stated = high * node->params.roi_align.scale - shift - start,
               length = half_pixel ? stated : MAX (stated, 1);
  const gfloat cell_length = length / (gfloat) cells;
  *axis = (Axis){ .start = start + (gfloat) cell * cell_length, .size = size };
  if (!isfinite (axis->start) || !(fabsf (cell_length) < MAX_SAMPLES))
    return;
  axis->samples = node->params.roi_align.samples > 0 ? node->params.roi_align.samples
                                                     : MAX ((gint32) ceilf (cell_length), 0);
  axis->step = cell_length / (gfloat) MAX (axis->samples, 1);
  axis->end = axis->samples;
  if (axis->step > 0) {
    const gdouble from = (-1 - (gdouble) axis->start) / (gdouble) axis->step,
                  to = (size - (gdouble) axis->start) / (gdouble) axis->step;
    axis->first = (gint32) CLAMP (floor (from) - 2, 0, axis->samples);
    axis->end = (gint32) CLAMP (ceil (to) + 2, axis->first, axis->samples);
  }
}

/** The two pixels around a place, and what they weigh. */
typedef struct
{
  gsize pixels[2];
  gfloat weights[2];
} Pair;

/* FALSE = sample @i lies outside. */
static gboolean
pair_at (const Axis *axis, gint32 i, Pair *pair)
{
  gfloat x = axis->start + ((gfloat) i + 0.5f) * axis->step;
  if (!(x >= -1 && x <= (gfloat) axis->size))
    return FALSE;
  x = CLAMP (x, 0, (gfloat) (axis->size - 1));
  pair->pixels[0] = (gsize) x;
  pair->pixels[1] = MIN (pair->pixels[0] + 1, (gsize) axis->size - 1);
  pair->weights[1] = x - (gfloat) pair->pixels[0];
  pair->weights[0] = 1 - pair->weights[1];
  return TRUE;
}

/* Adds a sample to @to, or raises @to to the greatest of its parts. */
static void
add_sample (gfloat *to, const gfloat *picture, gsize width, gsize channels, const Pair *y,
            const Pair *x, gboolean top)
{
  for (guint k = 0; k < 4; k++) {
    const gfloat weight = y->weights[k / 2] * x->weights[k % 2];
    const gfloat *from = picture + (y->pixels[k / 2] * width + x->pixels[k % 2]) * channels;
    if (top)
      for (gsize c = 0; c < channels; c++)
        to[c] = MAX (to[c], weight * from[c]);
    else if (weight > 0)
      for (gsize c = 0; c < channels; c++)
        to[c] += weight * from[c];
  }
}

static void
run_cell (gfloat *to, const gfloat *picture, gsize width, gsize channels, const Axis *y,
          const Axis *x, gboolean top)
{
  const gint64 all = (gint64) y->samples * x->samples;
  gint64 seen = 0;
  for (gsize c = 0; c < channels; c++)
    to[c] = top && all > 0 ? -INFINITY : 0;
  for (gint32 i = y->first; i < y->end; i++) {
    Pair row, column;
    if (!pair_at (y, i, &row))
      continue;
    for (gint32 k = x->first; k < x->end; k++)
      if (pair_at (x, k, &column)) {
        add_sample (to, picture, width, channels, &row, &column, top);
        seen++;
      }
  }
  for (gsize c = 0; c < channels; c++)
    to[c] = !top ? to[c] / (gfloat) MAX (all, 1) : seen < all ? MAX (to[c], 0) : to[c];
}

/* Rows of cells. */
static void
some_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *output = sl_node_output (call->graph, call->node, 0);
  const gsize height = (gsize) input->dims[1], width = (gsize) input->dims[2],
              channels = (gsize) input->dims[3];
  const gint32 rows = output->dims[1], columns = output->dims[2];
  for (gsize at = first; at < first + n; at++) {
    const gsize index = at / (gsize) rows;
    const gfloat *region = (const gfloat *) call->inputs[1] + 4 * index;
    const gsize picture =
      (gsize) CLAMP (((const gint32 *) call->inputs[2])[index], 0, input->dims[0] - 1);
    Axis y, x;
    axis_init (&y, call->node, region[1], region[3], (gint32) (at % (gsize) rows), rows,
               input->dims[1]);
    for (gint32 column = 0; column < columns; column++) {
      axis_init (&x, call->node, region[0], region[2], column, columns, input->dims[2]);
      run_cell ((gfloat *) call->outputs[0] + (at * (gsize) columns + (gsize) column) * channels,
                (const gfloat *) call->inputs[0] + picture * height * width * channels, width,
                channels, &y, &x, call->node->params.roi_align.top);
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

const SlOp sl_op_roi_align = { SL_OP_ROW (ROI_ALIGN, 3, 3, 1, check, infer, NULL, run) };
