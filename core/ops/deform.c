/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * DEFORM_COLUMNS: what the windows of a deformable convolution read: [batch,rows,columns,window *
 * channels] of a picture [batch,height,width,channels]. Offsets [batch,rows,columns,2 * window *
 * offset groups], y before x, move each place of a window; a mask [batch,rows,columns,window *
 * offset groups], if any, weighs it. Channels of a group of weights lie together, so that a
 * convolution of one pixel in groups does the rest. Places outside read 0; so do those that are no
 * number.
 */
#include <math.h>
#include <string.h>

#include "core/ops/kernels/parallel.h"
#include "core/ops/ops.h"

enum
{
  INPUT,
  OFFSETS,
  MASK
};

static gint64
window_of (const SlNode *node)
{
  return (gint64) node->params.deform.kernel_h * node->params.deform.kernel_w;
}

static gboolean
check_places (const SlGraph *graph, const SlNode *node, guint i, gint64 channels, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, INPUT),
                 *places = sl_node_input (graph, node, i);
  const SlTensor *offsets = sl_node_input (graph, node, OFFSETS);
  if (places == NULL)
    return TRUE;
  if (!sl_node_check_dtype (node, "input", places, SL_DTYPE_BIT (SL_DTYPE_F32), error)
      || !sl_node_check_rank4 (graph, node, i, error))
    return FALSE;
  if (places->dims[0] == input->dims[0] && places->dims[3] == channels
      && places->dims[1] == offsets->dims[1] && places->dims[2] == offsets->dims[2])
    return TRUE;
  g_autofree char *text = sl_tensor_describe (places);
  return sl_node_error (error, node, SL_ERROR_SHAPE,
                        "input %u is %s; expected [%d,rows,columns,%" G_GINT64_FORMAT "]", i, text,
                        input->dims[0], channels);
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, INPUT);
  const gint32 groups = node->params.deform.groups, moved = node->params.deform.offset_groups;
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  if (!sl_node_check_dtype (node, "input", input, f32, error)
      || !sl_node_check_rank4 (graph, node, INPUT, error)
      || !sl_node_check_outputs (graph, node, f32, error))
    return FALSE;
  if (groups < 1 || moved < 1 || input->dims[3] % groups != 0 || input->dims[3] % moved != 0)
    return sl_node_error (error, node, SL_ERROR_SHAPE,
                          "%d groups and %d groups of offsets do not divide %d channels", groups,
                          moved, input->dims[3]);
  return check_places (graph, node, OFFSETS, 2 * window_of (node) * moved, error)
         && (node->n_inputs <= MASK
             || check_places (graph, node, MASK, window_of (node) * moved, error));
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, INPUT),
                 *offsets = sl_node_input (graph, node, OFFSETS);
  const gint64 channels = window_of (node) * input->dims[3];
  if (channels > G_MAXINT32)
    return sl_node_error (error, node, SL_ERROR_LIMIT,
                          "%" G_GINT64_FORMAT " pixels of %d channels are too many",
                          window_of (node), input->dims[3]);
  return sl_node_set_shape (
    graph, node, 0, 4,
    (const gint32[]){ input->dims[0], offsets->dims[1], offsets->dims[2], (gint32) channels },
    error);
}

/** Where the channels of one picture and one row of the output are. */
typedef struct
{
  const SlTensor *input;
  const gfloat *picture;
  gsize channels, first, n; /* @n of them from @first on */
} Part;

static void
add_pixel (const Part *p, gint64 row, gint64 column, gfloat weight, gfloat *to)
{
  if (weight == 0 || row < 0 || row >= p->input->dims[1] || column < 0
      || column >= p->input->dims[2])
    return;
  const gfloat *from = p->picture
                       + ((gsize) row * (gsize) p->input->dims[2] + (gsize) column) * p->channels
                       + p->first;
  for (gsize c = 0; c < p->n; c++)
    to[c] += weight * from[c];
}

/* Adds the pixels around a place, each by how near it is. */
static void
sample (const Part *p, gfloat y, gfloat x, gfloat weight, gfloat *to)
{
  if (!(y > -1 && y < (gfloat) p->input->dims[1] && x > -1 && x < (gfloat) p->input->dims[2]))
    return;
  const gfloat dy = y - floorf (y), dx = x - floorf (x);
  const gint64 row = (gint64) floorf (y), column = (gint64) floorf (x);
  add_pixel (p, row, column, weight * (1 - dy) * (1 - dx), to);
  add_pixel (p, row, column + 1, weight * (1 - dy) * dx, to);
  add_pixel (p, row + 1, column, weight * dy * (1 - dx), to);
  add_pixel (p, row + 1, column + 1, weight * dy * dx, to);
}

/* One place of the output: @to gets the window's pixels, @offsets and @mask (nullable) are those of
 * this place. */
static void
one_place (const SlKernelCall *call, Part p, gint32 row, gint32 column, const gfloat *offsets,
           const gfloat *mask, gfloat *to)
{
  const SlNode *node = call->node;
  const gsize window = (gsize) window_of (node), moved = (gsize) node->params.deform.offset_groups;
  const gsize grouped = p.channels / (gsize) node->params.deform.groups,
              shared = p.channels / moved;
  memset (to, 0, window * p.channels * sizeof to[0]);
  p.n = MIN (grouped, shared);
  if (grouped % p.n != 0 || shared % p.n != 0)
    p.n = 1;
  for (p.first = 0; p.first < p.channels; p.first += p.n)
    for (gsize k = 0; k < window; k++) {
      const gsize at = p.first / shared * window + k, group = p.first / grouped;
      const gint32 fy = (gint32) k / node->params.deform.kernel_w,
                   fx = (gint32) k % node->params.deform.kernel_w;
      const gfloat y = (gfloat) (row * node->params.deform.stride_h - node->params.deform.pad_top
                                 + fy * node->params.deform.dilation_h);
      const gfloat x =
        (gfloat) (column * node->params.deform.stride_w - node->params.deform.pad_left
                  + fx * node->params.deform.dilation_w);
      sample (&p, y + offsets[2 * at], x + offsets[2 * at + 1], mask != NULL ? mask[at] : 1,
              to + group * window * grouped + k * grouped + p.first % grouped);
    }
}

static void
some_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const SlTensor *input = sl_node_input (call->graph, call->node, INPUT),
                 *offsets = sl_node_input (call->graph, call->node, OFFSETS);
  const gsize rows = (gsize) offsets->dims[1], columns = (gsize) offsets->dims[2],
              channels = (gsize) input->dims[3];
  const gsize each = (gsize) offsets->dims[3], window = (gsize) window_of (call->node);
  const gfloat *masks = call->node->n_inputs > MASK ? call->inputs[MASK] : NULL;
  for (gsize at = first; at < first + n; at++)
    for (gsize column = 0; column < columns; column++) {
      const gsize place = at * columns + column;
      const Part p = { .input = input,
                       .picture =
                         (const gfloat *) call->inputs[INPUT]
                         + at / rows * (gsize) input->dims[1] * (gsize) input->dims[2] * channels,
                       .channels = channels };
      one_place (call, p, (gint32) (at % rows), (gint32) column,
                 (const gfloat *) call->inputs[OFFSETS] + place * each,
                 masks != NULL ? masks + place * each / 2 : NULL,
                 (gfloat *) call->outputs[0] + place * window * channels);
    }
}

static void
run (const SlKernelCall *call)
{
  const SlTensor *offsets = sl_node_input (call->graph, call->node, OFFSETS);
  sl_parallel (call, (gsize) offsets->dims[0] * (gsize) offsets->dims[1], 1, some_rows,
               (void *) call);
}

const SlOp sl_op_deform_columns = { SL_OP_ROW (DEFORM_COLUMNS, 2, 3, 1, check, infer, NULL, run) };
