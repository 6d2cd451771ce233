/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GRID_SAMPLE: output pixel [b,i,j] is the picture [batch,height,width,channels] at the place that
 * the grid [batch,rows,columns,2] has there: x, then y, -1..1 from edge to edge. A volume
 * [batch,depth,height,width,channels] has a grid [batch,planes,rows,columns,3], with z behind y.
 * Places may be any numbers: large, infinite and NaN ones are clamped first.
 */
#include <math.h>
#include <string.h>

#include "core/ops/grid_sample.h"
#include "core/ops/kernels/parallel.h"

/* Places in pixels beyond this are this: whole numbers of it are exact in an int64, and nearly so
 * in a float. */
#define FAR 1e9f
#define MAX_TAPS 4
/* Of the cubic convolution: what PyTorch and ONNX fix. */
#define CUBIC_A (-0.75f)

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *grid = sl_node_input (graph, node, 1);
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  if (!sl_node_check_dtype (node, "input", input, f32, error)
      || !sl_node_check_dtype (node, "grid", grid, f32, error)
      || !sl_node_check_outputs (graph, node, f32, error))
    return FALSE;
  const gboolean volume = input->rank == 5;
  if (volume && node->params.grid_sample.mode == SL_SAMPLE_CUBIC)
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "mode cubic of a volume; expected linear or nearest");
  if ((input->rank == 4 || volume) && grid->rank == input->rank && grid->dims[0] == input->dims[0]
      && grid->dims[grid->rank - 1] == (gint32) input->rank - 2)
    return TRUE;
  g_autofree char *a = sl_tensor_describe (input), *b = sl_tensor_describe (grid);
  return sl_node_error (
    error, node, SL_ERROR_SHAPE,
    "input %s and grid %s; expected [batch,height,width,channels] and [batch,rows,columns,2], or "
    "[batch,depth,height,width,channels] and [batch,planes,rows,columns,3]",
    a, b);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *grid = sl_node_input (graph, node, 1);
  gint32 dims[SL_MAX_RANK];
  memcpy (dims, grid->dims, sizeof dims);
  dims[grid->rank - 1] = input->dims[input->rank - 1];
  return sl_node_set_shape (graph, node, 0, grid->rank, dims, error);
}

/** Pixels along one dimension, and their weights; those outside the picture are left out. */
typedef struct
{
  guint n;
  gsize pixels[MAX_TAPS];
  gfloat weights[MAX_TAPS];
} Taps;

/* Mirrored at @low and @high as often as it takes. */
static gdouble
mirrored (gdouble x, gdouble low, gdouble high)
{
  const gdouble range = high - low;
  if (range <= 0)
    return low;
  const gdouble beyond = fmod (fabs (x - low), 2 * range);
  return low + (beyond > range ? 2 * range - beyond : beyond);
}

static void
add_tap (Taps *taps, gint64 pixel, gfloat weight, gint32 size, SlBorder border, gboolean align)
{
  if (border == SL_BORDER_MIRROR && (pixel < 0 || pixel >= size))
    pixel = (gint64) mirrored ((gdouble) pixel, align ? 0 : -0.5, align ? size - 1 : size - 0.5);
  if (border != SL_BORDER_ZERO)
    pixel = CLAMP (pixel, 0, size - 1);
  if (pixel < 0 || pixel >= size || weight == 0)
    return;
  taps->pixels[taps->n] = (gsize) pixel;
  taps->weights[taps->n++] = weight;
}

/* Of the pixels at distances -1 - @t, -@t, 1 - @t and 2 - @t. */
static void
cubic_weights (gfloat t, gfloat weights[MAX_TAPS])
{
  for (gint k = 0; k < MAX_TAPS; k++) {
    const gfloat d = fabsf ((gfloat) (k - 1) - t);
    weights[k] = d <= 1 ? ((CUBIC_A + 2) * d - (CUBIC_A + 3)) * d * d + 1
                        : ((CUBIC_A * d - 5 * CUBIC_A) * d + 8 * CUBIC_A) * d - 4 * CUBIC_A;
  }
}

/* @place: -1..1 along a dimension of @size pixels. */
static void
find_taps (const SlNode *node, gfloat place, gint32 size, Taps *taps)
{
  const SlSampleMode mode = node->params.grid_sample.mode;
  const SlBorder border = node->params.grid_sample.border;
  const gboolean align = node->params.grid_sample.align_corners;
  const gfloat wide =
    align ? (place + 1) / 2 * (gfloat) (size - 1) : ((place + 1) * (gfloat) size - 1) / 2;
  gfloat x = wide > -FAR ? (wide < FAR ? wide : FAR) : -FAR, weights[MAX_TAPS];
  const gfloat low = align ? 0 : -0.5f, high = align ? (gfloat) (size - 1) : (gfloat) size - 0.5f;
  taps->n = 0;
  if (mode == SL_SAMPLE_NEAREST)
    x = nearbyintf (x);
  if (border == SL_BORDER_MIRROR && (x < low || x > high))
    x = (gfloat) mirrored ((gdouble) x, (gdouble) low, (gdouble) high);
  const gint64 cut = (gint64) x, whole = cut - (x < (gfloat) cut);
  const gfloat t = x - (gfloat) whole;
  if (mode == SL_SAMPLE_CUBIC) {
    cubic_weights (t, weights);
    for (gint k = 0; k < MAX_TAPS; k++)
      add_tap (taps, whole + k - 1, weights[k], size, border, align);
    return;
  }
  add_tap (taps, whole, 1 - t, size, border, align);
  add_tap (taps, whole + 1, t, size, border, align);
}

/** A run, and the pixels that count for a sample, with their factors. */
typedef struct
{
  const SlKernelCall *call;
  SlWeighFunc weigh;
} Run;

typedef struct
{
  gsize n;
  const gfloat *rows[MAX_TAPS * MAX_TAPS];
  gfloat factors[MAX_TAPS * MAX_TAPS];
} Pixels;

static void
add_pixels (Pixels *pixels, const gfloat *row, const Taps *x, gfloat weight, gsize channels)
{
  for (guint i = 0; i < x->n; i++) {
    pixels->rows[pixels->n] = row + x->pixels[i] * channels;
    pixels->factors[pixels->n++] = weight * x->weights[i];
  }
}

/* Output pixels, all of their channels; a picture is a volume of one plane. */
static void
some_pixels (void *data, gsize first, gsize n)
{
  const Run *run = data;
  const SlKernelCall *call = run->call;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0),
                 *grid = sl_node_input (call->graph, call->node, 1);
  const guint rank = input->rank;
  const gsize area = sl_tensor_span (grid, 1, grid->rank - 1),
              channels = (gsize) input->dims[rank - 1],
              row = (gsize) input->dims[rank - 2] * channels,
              plane = (gsize) input->dims[rank - 3] * row,
              volume = rank == 5 ? (gsize) input->dims[1] * plane : plane;
  for (gsize at = first; at < first + n; at++) {
    const gfloat *place = (const gfloat *) call->inputs[1] + (rank - 2) * at;
    const gfloat *picture = (const gfloat *) call->inputs[0] + at / area * volume;
    Taps x, y, z = { .n = 1, .weights = { 1 } };
    Pixels pixels = { .n = 0 };
    find_taps (call->node, place[0], input->dims[rank - 2], &x);
    find_taps (call->node, place[1], input->dims[rank - 3], &y);
    if (rank == 5)
      find_taps (call->node, place[2], input->dims[1], &z);
    for (guint i = 0; i < z.n; i++)
      for (guint k = 0; k < y.n; k++)
        add_pixels (&pixels, picture + z.pixels[i] * plane + y.pixels[k] * row, &x,
                    z.weights[i] * y.weights[k], channels);
    run->weigh (pixels.rows, pixels.factors, pixels.n, (gfloat *) call->outputs[0] + at * channels,
                channels);
  }
}

void
sl_grid_sample_run (const SlKernelCall *call, SlWeighFunc weigh)
{
  const SlTensor *grid = sl_node_input (call->graph, call->node, 1);
  Run run = { call, weigh };
  sl_parallel (call, (gsize) grid->dims[0] * sl_tensor_span (grid, 1, grid->rank - 1), 64,
               some_pixels, &run);
}

static void
weigh_plain (const gfloat *const *rows, const gfloat *factors, gsize n_rows, gfloat *out, gsize n)
{
  memset (out, 0, n * sizeof out[0]);
  for (gsize k = 0; k < n_rows; k++)
    for (gsize i = 0; i < n; i++)
      out[i] += factors[k] * rows[k][i];
}

static void
run_plain (const SlKernelCall *call)
{
  sl_grid_sample_run (call, weigh_plain);
}

const SlOp sl_op_grid_sample = { SL_OP_ROW (GRID_SAMPLE, 2, 2, 1, check, infer, NULL, run_plain) };
