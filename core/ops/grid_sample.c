/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GRID_SAMPLE: output pixel [b,i,j] is the picture [batch,height,width,channels] at the place that
 * the grid [batch,rows,columns,2] has there: x, then y, -1..1 from edge to edge. A volume
 * [batch,depth,height,width,channels] has a grid [batch,planes,rows,columns,3], with z behind y.
 * Places may be any numbers: large, infinite and NaN ones are clamped first.
 * With weights [batch,rows,samples] as a third input, and more pictures and grids behind it, as
 * fuse_samples makes it, output [b,i] is the sum of the row's samples of all pictures, each times
 * its weight.
 */
#include <math.h>
#include <string.h>

#include "core/ops/grid_sample.h"
#include "core/ops/kernels/parallel.h"

/* Places in pixels beyond this are this: whole numbers of it are exact in an int64, and nearly so
 * in a float. */
#define FAR 1e9f
#define MAX_TAPS 4
/* Pixels that are added to one of the output. */
#define MAX_PIXELS (4 * SL_MAX_SAMPLES)
/* Of the cubic convolution: what PyTorch and ONNX fix. */
#define CUBIC_A (-0.75f)

/* Whether picture @input has places of @grid; FALSE with @error set where it has not. */
static gboolean
check_grid (const SlNode *node, const SlTensor *input, const SlTensor *grid, GError **error)
{
  const gboolean volume = input->rank == 5;
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

gboolean
sl_samples_fit (const SlGraph *graph, const SlNode *node)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *grid = sl_node_input (graph, node, 1);
  gsize samples = 0, weights = 0;
  if (node->n_inputs % 2 == 0 || node->params.grid_sample.mode == SL_SAMPLE_CUBIC
      || !sl_tensor_elements (sl_node_input (graph, node, 2), &weights))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i = sl_samples_next (i)) {
    const SlTensor *x = sl_node_input (graph, node, i), *g = sl_node_input (graph, node, i + 1);
    if (x->rank != 4 || g->rank != 4 || x->dims[0] != input->dims[0] || x->dims[3] != input->dims[3]
        || g->dims[0] != input->dims[0] || g->dims[1] != grid->dims[1])
      return FALSE;
    samples += (gsize) g->dims[2];
  }
  return samples <= SL_MAX_SAMPLES
         && weights == samples * (gsize) grid->dims[0] * (gsize) grid->dims[1];
}

static gboolean
check (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *grid = sl_node_input (graph, node, 1);
  const guint32 f32 = SL_DTYPE_BIT (SL_DTYPE_F32);
  for (guint i = 2; i < node->n_inputs; i++)
    if (!sl_node_check_dtype (node, "input", sl_node_input (graph, node, i), f32, error))
      return FALSE;
  if (!sl_node_check_dtype (node, "input", input, f32, error)
      || !sl_node_check_dtype (node, "grid", grid, f32, error)
      || !sl_node_check_outputs (graph, node, f32, error))
    return FALSE;
  if (input->rank == 5 && node->params.grid_sample.mode == SL_SAMPLE_CUBIC)
    return sl_node_error (error, node, SL_ERROR_UNSUPPORTED,
                          "mode cubic of a volume; expected linear or nearest");
  if (!check_grid (node, input, grid, error))
    return FALSE;
  for (guint i = 3; i + 1 < node->n_inputs; i += 2)
    if (!check_grid (node, sl_node_input (graph, node, i), sl_node_input (graph, node, i + 1),
                     error))
      return FALSE;
  return node->n_inputs == 2 || sl_samples_fit (graph, node)
         || sl_node_error (error, node, SL_ERROR_SHAPE,
                           "%u inputs; expected pictures of the same batch and channels, grids of "
                           "the same rows, and a weight for each of at most %d samples",
                           node->n_inputs, SL_MAX_SAMPLES);
}

static gboolean
infer (SlGraph *graph, SlNode *node, GError **error)
{
  const SlTensor *input = sl_node_input (graph, node, 0), *grid = sl_node_input (graph, node, 1);
  gint32 dims[SL_MAX_RANK];
  memcpy (dims, grid->dims, sizeof dims);
  dims[grid->rank - 1] = input->dims[input->rank - 1];
  if (node->n_inputs > 2)
    dims[2] = 1;
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

/* Where @place, -1..1 along a dimension of @size pixels, is in pixels. */
static gfloat
pixel_at (const SlNode *node, gfloat place, gint32 size)
{
  const gfloat wide = node->params.grid_sample.align_corners
                        ? (place + 1) / 2 * (gfloat) (size - 1)
                        : ((place + 1) * (gfloat) size - 1) / 2;
  return wide > -FAR ? (wide < FAR ? wide : FAR) : -FAR;
}

static void
find_taps (const SlNode *node, gfloat place, gint32 size, Taps *taps)
{
  const SlSampleMode mode = node->params.grid_sample.mode;
  const SlBorder border = node->params.grid_sample.border;
  const gboolean align = node->params.grid_sample.align_corners;
  gfloat x = pixel_at (node, place, size), weights[MAX_TAPS];
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

/** Pixels that count for one of the output, with their factors. */
typedef struct
{
  gsize n;
  const gfloat *rows[MAX_PIXELS];
  gfloat factors[MAX_PIXELS];
} Pixels;

/** A picture, or a volume: what a kernel needs of its tensor. */
typedef struct
{
  const gfloat *data, *places;
  const gint32 *dims;
  guint rank;
  gsize channels, row, plane, volume, columns;
} Picture;

typedef struct
{
  const SlKernelCall *call;
  SlWeighFunc weigh;
  gsize area, samples; /* places of a picture; samples of an output pixel */
  guint n;
  Picture pictures[SL_MAX_SAMPLES];
} Run;

static void
add_pixels (Pixels *pixels, const gfloat *row, const Taps *x, gfloat weight, gsize channels)
{
  for (guint i = 0; i < x->n; i++) {
    pixels->rows[pixels->n] = row + x->pixels[i] * channels;
    pixels->factors[pixels->n++] = weight * x->weights[i];
  }
}

/* Whether linear @x of @size pixels is between two of them: @whole, and @part behind it. */
static gboolean
is_between (gfloat x, gint32 size, gint32 *whole, gfloat *part)
{
  if (!(x > 0 && x < (gfloat) (size - 1)))
    return FALSE;
  *whole = (gint32) x;
  *part = x - (gfloat) *whole;
  return *part > 0;
}

/* Most samples are between four pixels of a picture. */
static gboolean
add_four (const SlNode *node, const Picture *p, const gfloat *data, const gfloat *place,
          gfloat weight, Pixels *pixels)
{
  gint32 x = 0, y = 0;
  gfloat right = 0, below = 0;
  if (p->rank != 4 || node->params.grid_sample.mode != SL_SAMPLE_LINEAR
      || !is_between (pixel_at (node, place[0], p->dims[2]), p->dims[2], &x, &right)
      || !is_between (pixel_at (node, place[1], p->dims[1]), p->dims[1], &y, &below))
    return FALSE;
  const gfloat *at = data + (gsize) y * p->row + (gsize) x * p->channels;
  const gfloat *const rows[] = { at, at + p->channels, at + p->row, at + p->row + p->channels };
  const gfloat upper = weight * (1 - below), lower = weight * below;
  const gfloat factors[] = { upper * (1 - right), upper * right, lower * (1 - right),
                             lower * right };
  memcpy (pixels->rows + pixels->n, rows, sizeof rows);
  memcpy (pixels->factors + pixels->n, factors, sizeof factors);
  pixels->n += 4;
  return TRUE;
}

/* The sample of image @image at @place, times @weight; a picture is a volume of one plane. */
static void
add_sample (const SlNode *node, const Picture *p, gsize image, const gfloat *place, gfloat weight,
            Pixels *pixels)
{
  const gfloat *data = p->data + image * p->volume;
  Taps x, y, z = { .n = 1, .weights = { 1 } };
  if (add_four (node, p, data, place, weight, pixels))
    return;
  find_taps (node, place[0], p->dims[p->rank - 2], &x);
  find_taps (node, place[1], p->dims[p->rank - 3], &y);
  if (p->rank == 5)
    find_taps (node, place[2], p->dims[1], &z);
  for (guint i = 0; i < z.n; i++)
    for (guint k = 0; k < y.n; k++)
      add_pixels (pixels, data + z.pixels[i] * p->plane + y.pixels[k] * p->row, &x,
                  weight * (z.weights[i] * y.weights[k]), p->channels);
}

/* Output pixels, all of their channels. */
static void
some_pixels (void *data, gsize first, gsize n)
{
  const Run *run = data;
  const SlKernelCall *call = run->call;
  const gsize channels = run->pictures[0].channels;
  for (gsize at = first; at < first + n; at++) {
    const gfloat *weights =
      call->node->n_inputs > 2 ? (const gfloat *) call->inputs[2] + at * run->samples : NULL;
    Pixels pixels;
    pixels.n = 0;
    for (guint i = 0; i < run->n; i++) {
      const Picture *p = &run->pictures[i];
      const gfloat *place = p->places + at * p->columns * (p->rank - 2);
      for (gsize k = 0; k < p->columns; k++, place += p->rank - 2)
        add_sample (call->node, p, at / run->area, place, weights != NULL ? *weights++ : 1,
                    &pixels);
    }
    run->weigh (pixels.rows, pixels.factors, pixels.n, (gfloat *) call->outputs[0] + at * channels,
                channels);
  }
}

/* Picture @i of the node and its grid, whose places are @columns for each output pixel. */
static Picture
picture_of (const SlKernelCall *call, guint i, gsize columns)
{
  const SlTensor *input = sl_node_input (call->graph, call->node, i);
  const guint rank = input->rank;
  const gsize channels = (gsize) input->dims[rank - 1],
              row = (gsize) input->dims[rank - 2] * channels,
              plane = (gsize) input->dims[rank - 3] * row;
  return (Picture){ .data = call->inputs[i],
                    .places = call->inputs[i + 1],
                    .dims = input->dims,
                    .rank = rank,
                    .channels = channels,
                    .row = row,
                    .plane = plane,
                    .volume = rank == 5 ? (gsize) input->dims[1] * plane : plane,
                    .columns = columns };
}

void
sl_grid_sample_run (const SlKernelCall *call, SlWeighFunc weigh)
{
  const SlNode *node = call->node;
  const SlTensor *grid = sl_node_input (call->graph, node, 1);
  const gboolean sums = node->n_inputs > 2;
  Run run = { .call = call, .weigh = weigh };
  run.area = sums ? (gsize) grid->dims[1] : sl_tensor_span (grid, 1, grid->rank - 1);
  for (guint i = 0; i < node->n_inputs; i = sums ? sl_samples_next (i) : i + 2) {
    const gsize columns = sums ? (gsize) sl_node_input (call->graph, node, i + 1)->dims[2] : 1;
    run.pictures[run.n++] = picture_of (call, i, columns);
    run.samples += columns;
  }
  sl_parallel (call, (gsize) grid->dims[0] * run.area, 64, some_pixels, &run);
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

const SlOp sl_op_grid_sample = { SL_OP_ROW (GRID_SAMPLE, 2, 1 + 2 * SL_MAX_SAMPLES, 1, check, infer,
                                            NULL, run_plain) };
