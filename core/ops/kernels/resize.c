/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resizing: for each row and column of the output the two source positions and the weight between
 * them are tabled when the session is made. 8-bit weights have 11 fractional bits and the sum is
 * rounded once, half up, which is XNNPACK's arithmetic; positions are computed in single precision
 * like its own. A row of the source is blended across once, into 32-bit sums, and then down for all
 * rows of the output that lie between it and the next. Where only the largest channel of each pixel
 * is asked for, tiles of the output are searched between their corner values.
 */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"

/* Rows of the output that one thread takes at least. */
#define PART_ROWS 16
/* Elements of both lines that stay in the first cache. */
#define BLOCK 1024
/* Most parts: each has lines of its own. */
#define MAX_PARTS 8
/* Channels of binary16 that become floats at a time. */
#define HALVES 128

typedef struct
{
  const SlTensor *input, *output;
  gboolean fused;
  SlBlendPlace *rows, *columns;
  gint32 *lines; /* 8-bit bilinear: two blended rows for each part, @line_elements apart */
  gsize line_elements;
  gsize part; /* rows of the output in a part */
  /* RESIZE_ARG_MAX: */
  SlSearchRun *runs; /* of all tiles of a row */
  gsize *first_run;  /* by tile, and one more */
  gint32 *across;    /* weights of all columns */
} Resize;

static void
place_bilinear (SlBlendPlace *place, gint32 i, gint32 in, gfloat scale, gboolean half_pixel)
{
  const gfloat at =
    half_pixel ? MAX (((gfloat) i + 0.5f) * scale - 0.5f, 0.0f) : (gfloat) i * scale;
  const gfloat limited = MIN (at, (gfloat) (in - 1));
  place->low = (gint32) limited;
  place->high = MIN (place->low + 1, in - 1);
  place->weight = limited - (gfloat) place->low;
  place->fixed = (gint32) lrintf (place->weight * (1 << SL_BLEND_BITS));
}

/* PyTorch's places are in double precision, of a scale in single precision. */
static void
place_fused (SlBlendPlace *place, gint32 i, gint32 in, gfloat scale, gboolean half_pixel)
{
  const gdouble at =
    half_pixel ? MAX ((i + 0.5) * (gdouble) scale - 0.5, 0.0) : i * (gdouble) scale;
  place->low = (gint32) MIN (at, in - 1);
  place->high = MIN (place->low + 1, in - 1);
  place->weight = (gfloat) MIN (at - place->low, 1.0);
}

static void
place_nearest (SlBlendPlace *place, gint32 i, gint32 in, gfloat scale, gboolean align_corners,
               gboolean half_pixel)
{
  const gfloat at = ((gfloat) i + (half_pixel ? 0.5f : 0.0f)) * scale;
  place->low = CLAMP ((gint32) (align_corners ? roundf (at) : floorf (at)), 0, in - 1);
}

static SlBlendPlace *
places_new (const SlNode *node, gint32 in, gint32 out, SlArena *arena)
{
  const gboolean align = node->params.resize.align_corners,
                 half = node->params.resize.half_pixel_centers;
  const gboolean nearest = node->op == SL_OP_RESIZE_NEAREST_NEIGHBOR;
  const gfloat scale =
    align && out > 1 ? (gfloat) (in - 1) / (gfloat) (out - 1) : (gfloat) in / (gfloat) out;
  SlBlendPlace *places = sl_arena_alloc (arena, (gsize) out * sizeof places[0]);
  for (gint32 i = 0; i < out; i++) {
    if (node->params.resize.fused)
      place_fused (&places[i], i, in, scale, half);
    else if (!nearest)
      place_bilinear (&places[i], i, in, scale, half);
    else
      place_nearest (&places[i], i, in, scale, align, half);
  }
  return places;
}

/* Columns between the same two of the source, a tile at a time. */
static void
tiles_new (Resize *p, SlArena *arena)
{
  const gsize w = (gsize) p->output->dims[2], tiles = (w + SL_SEARCHED - 1) / SL_SEARCHED;
  const gint32 channels = p->input->dims[3];
  gsize n = 0;
  p->runs = sl_arena_alloc (arena, w * sizeof p->runs[0]);
  p->first_run = sl_arena_alloc (arena, (tiles + 1) * sizeof p->first_run[0]);
  p->across = sl_arena_alloc (arena, (tiles * SL_SEARCHED + SL_SEARCH_OVER) * sizeof p->across[0]);
  for (gsize x = 0; x < w; x++) {
    const SlBlendPlace *column = &p->columns[x];
    p->across[x] = column->fixed;
    if (x % SL_SEARCHED == 0)
      p->first_run[x / SL_SEARCHED] = n;
    else if (column->low == column[-1].low)
      continue;
    p->runs[n++] =
      (SlSearchRun){ (gint32) (x % SL_SEARCHED), column->low * channels, column->high * channels };
  }
  p->first_run[tiles] = n;
}

void *
sl_kernel_resize_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Resize *p = sl_arena_alloc (arena, sizeof *p);
  p->input = sl_node_input (graph, node, 0);
  p->output = sl_node_output (graph, node, 0);
  p->fused = node->params.resize.fused;
  p->rows = places_new (node, p->input->dims[1], p->output->dims[1], arena);
  p->columns = places_new (node, p->input->dims[2], p->output->dims[2], arena);
  if (node->op == SL_OP_RESIZE_NEAREST_NEIGHBOR || sl_dtype_size (p->input->dtype) != 1)
    return p;
  const gsize rows = (gsize) p->output->dims[0] * (gsize) p->output->dims[1];
  p->part = MAX (PART_ROWS, (rows + MAX_PARTS - 1) / MAX_PARTS);
  if (node->op == SL_OP_RESIZE_ARG_MAX) {
    tiles_new (p, arena);
    return p;
  }
  const gsize parts = (rows + p->part - 1) / p->part;
  p->line_elements = (gsize) p->output->dims[2] * (gsize) p->input->dims[3];
  p->lines = sl_arena_alloc (arena, parts * 2 * p->line_elements * sizeof p->lines[0]);
  return p;
}

/* A row of the source, blended across. */
static void
blend_across (const Resize *p, const guint8 *row, gint32 *out)
{
  const SlSimdLoops *loops = sl_simd_loops ();
  const gsize channels = (gsize) p->input->dims[3];
  for (gint32 x = 0; x < p->output->dims[2]; x++, out += channels) {
    const SlBlendPlace *column = &p->columns[x];
    const guint8 *left = row + (gsize) column->low * channels,
                 *right = row + (gsize) column->high * channels;
    if (p->input->dtype == SL_DTYPE_I8)
      loops->across_i8 ((const gint8 *) left, (const gint8 *) right, column->fixed, out, channels);
    else
      loops->across_u8 (left, right, column->fixed, out, channels);
  }
}

/* Rows @y .. @end-1 of the output, all between the same two rows of the source, a block of columns
 * at a time. */
static void
blend_down (const SlKernelCall *call, gint32 *const lines[2], gsize y, gsize end)
{
  const Resize *p = call->state;
  const SlSimdLoops *loops = sl_simd_loops ();
  const gsize n = p->line_elements;
  for (gsize at = 0; at < n; at += BLOCK)
    for (gsize k = y; k < end; k++)
      loops->down (lines[0] + at, lines[1] + at, p->rows[k % (gsize) p->output->dims[1]].fixed,
                   (guint8 *) call->outputs[0] + k * n + at, MIN (BLOCK, n - at));
}

static void
store_indices (const SlKernelCall *call, const Resize *p, gsize at, const gint32 *found, gsize n)
{
  if (p->output->dtype == SL_DTYPE_I32)
    memcpy ((gint32 *) call->outputs[0] + at, found, n * sizeof found[0]);
  else
    for (gsize i = 0; i < n; i++)
      ((gint64 *) call->outputs[0])[at + i] = found[i];
}

/* Rows @y .. @end-1 of the output, all between rows @top and @bottom of the source: only the place
 * of each pixel's largest channel. */
static void
search_rows (const SlKernelCall *call, const guint8 *top, const guint8 *bottom, gsize y, gsize end)
{
  const Resize *p = call->state;
  const gsize w = (gsize) p->output->dims[2], h = (gsize) p->output->dims[1];
  gint32 found[SL_SEARCH_ROWS * SL_SEARCHED], weights[SL_SEARCH_ROWS];
  SlSearchTile tile = { .top = top, .bottom = bottom, .channels = (gsize) p->input->dims[3] };
  tile.flip = p->input->dtype == SL_DTYPE_I8 ? 0x80 : 0;
  for (; y < end; y += SL_SEARCH_ROWS) {
    const gsize rows = MIN (SL_SEARCH_ROWS, end - y);
    for (gsize k = 0; k < rows; k++)
      weights[k] = p->rows[(y + k) % h].fixed;
    for (gsize t = 0; t * SL_SEARCHED < w; t++) {
      const gsize x = t * SL_SEARCHED, n = MIN (SL_SEARCHED, w - x);
      tile.runs = p->runs + p->first_run[t];
      tile.n_runs = p->first_run[t + 1] - p->first_run[t];
      tile.across = p->across + x;
      sl_simd_loops ()->search (&tile, weights, rows, found);
      for (gsize k = 0; k < rows; k++)
        store_indices (call, p, (y + k) * w + x, found + k * SL_SEARCHED, n);
    }
  }
}

/* Where the rows end that lie between the same two rows of the source as @y does, or the part ends.
 */
static gsize
rows_alike (const Resize *p, gsize y, gsize end)
{
  const gsize h = (gsize) p->output->dims[1];
  gsize next = y + 1;
  while (next < end && next % h != 0 && p->rows[next % h].low == p->rows[y % h].low)
    next++;
  return next;
}

/* One part: its lines hold the source rows above and below, by @held; a row that moves up is not
 * blended again. */
static void
blend_part (const SlKernelCall *call, gsize part, gsize end)
{
  const Resize *p = call->state;
  const gsize h = (gsize) p->output->dims[1],
              source_row = (gsize) p->input->dims[2] * (gsize) p->input->dims[3];
  gint32 *lines[2] = { p->lines + part * 2 * p->line_elements,
                       p->lines + (part * 2 + 1) * p->line_elements };
  gint64 held = -1; /* the source row that the second line holds */
  for (gsize y = part * p->part, next; y < end; y = next) {
    const SlBlendPlace *row = &p->rows[y % h];
    const gsize first = y / h * (gsize) p->input->dims[1];
    const guint8 *image = (const guint8 *) call->inputs[0] + first * source_row;
    next = rows_alike (p, y, end);
    if (held == (gint64) first + row->low) {
      gint32 *line = lines[0];
      lines[0] = lines[1];
      lines[1] = line;
    } else {
      blend_across (p, image + (gsize) row->low * source_row, lines[0]);
    }
    blend_across (p, image + (gsize) row->high * source_row, lines[1]);
    held = (gint64) first + row->high;
    blend_down (call, lines, y, next);
  }
}

static void
search_part (const SlKernelCall *call, gsize part, gsize end)
{
  const Resize *p = call->state;
  const gsize h = (gsize) p->output->dims[1],
              source_row = (gsize) p->input->dims[2] * (gsize) p->input->dims[3];
  for (gsize y = part * p->part, next; y < end; y = next) {
    const SlBlendPlace *row = &p->rows[y % h];
    const guint8 *image =
      (const guint8 *) call->inputs[0] + y / h * (gsize) p->input->dims[1] * source_row;
    next = rows_alike (p, y, end);
    search_rows (call, image + (gsize) row->low * source_row,
                 image + (gsize) row->high * source_row, y, next);
  }
}

static void
quantised_parts (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Resize *p = call->state;
  const gsize rows = (gsize) p->output->dims[0] * (gsize) p->output->dims[1];
  for (gsize part = first; part < first + n; part++)
    (p->runs != NULL ? search_part : blend_part) (call, part, MIN ((part + 1) * p->part, rows));
}

/* Of binary16, blended as floats. */
static void
blend_halves (const void *const corners[4], const SlBlendPlace *row, const SlBlendPlace *column,
              void *to, gsize n)
{
  const SlSimdLoops *loops = sl_simd_loops ();
  const SlBlendPlace between = { 0, 1, 0, column->weight };
  gfloat floats[4 * HALVES], out[HALVES];
  for (gsize c = 0; c < n; c += HALVES) {
    const gsize some = MIN (HALVES, n - c);
    for (guint i = 0; i < 4; i++)
      loops->from_halves ((const guint16 *) corners[i] + c, floats + i * some, some);
    loops->blend (floats, floats + 2 * some, row->weight, &between, 1, some, out);
    loops->to_halves (out, (guint16 *) to + c, some);
  }
}

/* a * weight is added unrounded, as by an instruction that multiplies and adds: the product of two
 * floats is exact in double precision. */
static inline gfloat
fused_sum (gfloat a, gfloat b, const gfloat weights[2])
{
  return (gfloat) ((gdouble) a * (gdouble) weights[0] + (gdouble) (b * weights[1]));
}

static void
blend_fused (const void *const corners[4], const SlBlendPlace *row, const SlBlendPlace *column,
             void *to, gsize n)
{
  gfloat *out = to;
  const gfloat *tl = corners[0], *tr = corners[1], *bl = corners[2], *br = corners[3];
  const gfloat across[2] = { 1 - column->weight, column->weight },
               down[2] = { 1 - row->weight, row->weight };
  for (gsize c = 0; c < n; c++)
    out[c] = fused_sum (fused_sum (tl[c], tr[c], across), fused_sum (bl[c], br[c], across), down);
}

/* Weights of 11 bits would be too coarse for 16-bit quantised values. */
static void
blend_words (const void *const corners[4], const SlBlendPlace *row, const SlBlendPlace *column,
             void *to, gsize n)
{
  const gint16 *tl = corners[0], *tr = corners[1], *bl = corners[2], *br = corners[3];
  gint16 *out = to;
  const gdouble x = (gdouble) column->weight, y = (gdouble) row->weight;
  for (gsize c = 0; c < n; c++) {
    const gdouble top = tl[c] + (tr[c] - tl[c]) * x, bottom = bl[c] + (br[c] - bl[c]) * x;
    out[c] = (gint16) floor (top + (bottom - top) * y + 0.5);
  }
}

typedef void (*Blend) (const void *const corners[4], const SlBlendPlace *row,
                       const SlBlendPlace *column, void *out, gsize n);

/* Rows of the output, counted over all images, of elements of @size bytes. */
static inline void
blend_rows (const SlKernelCall *call, gsize first, gsize n, gsize size, Blend blend)
{
  const Resize *p = call->state;
  const gsize h = (gsize) p->output->dims[1], w = (gsize) p->output->dims[2],
              channels = (gsize) p->output->dims[3];
  const gsize pixel = channels * size, line = (gsize) p->input->dims[2] * pixel;
  for (gsize y = first; y < first + n; y++) {
    const SlBlendPlace *row = &p->rows[y % h];
    const guint8 *image =
      (const guint8 *) call->inputs[0] + y / h * (gsize) p->input->dims[1] * line;
    const guint8 *top = image + (gsize) row->low * line, *bottom = image + (gsize) row->high * line;
    guint8 *out = (guint8 *) call->outputs[0] + y * w * pixel;
    for (gsize x = 0; x < w; x++, out += pixel) {
      const SlBlendPlace *column = &p->columns[x];
      const gsize left = (gsize) column->low * pixel, right = (gsize) column->high * pixel;
      const void *const corners[4] = { top + left, top + right, bottom + left, bottom + right };
      blend (corners, row, column, out, channels);
    }
  }
}

static void
float_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Resize *p = call->state;
  const gsize h = (gsize) p->output->dims[1], w = (gsize) p->output->dims[2],
              channels = (gsize) p->output->dims[3], line = (gsize) p->input->dims[2] * channels;
  for (gsize y = first; y < first + n; y++) {
    const SlBlendPlace *row = &p->rows[y % h];
    const gfloat *image =
      (const gfloat *) call->inputs[0] + y / h * (gsize) p->input->dims[1] * line;
    sl_simd_loops ()->blend (image + (gsize) row->low * line, image + (gsize) row->high * line,
                             row->weight, p->columns, w, channels,
                             (gfloat *) call->outputs[0] + y * w * channels);
  }
}

static void
fused_rows (void *data, gsize first, gsize n)
{
  blend_rows (data, first, n, sizeof (gfloat), blend_fused);
}

static void
word_rows (void *data, gsize first, gsize n)
{
  blend_rows (data, first, n, sizeof (gint16), blend_words);
}

static void
half_rows (void *data, gsize first, gsize n)
{
  blend_rows (data, first, n, sizeof (guint16), blend_halves);
}

void
sl_kernel_resize_bilinear (const SlKernelCall *call)
{
  const Resize *p = call->state;
  const gsize rows = (gsize) p->output->dims[0] * (gsize) p->output->dims[1];
  if (p->input->dtype == SL_DTYPE_F32)
    sl_parallel (call, rows, PART_ROWS, p->fused ? fused_rows : float_rows, (void *) call);
  else if (p->input->dtype == SL_DTYPE_F16)
    sl_parallel (call, rows, PART_ROWS, half_rows, (void *) call);
  else if (p->input->dtype == SL_DTYPE_I16)
    sl_parallel (call, rows, PART_ROWS, word_rows, (void *) call);
  else
    sl_parallel (call, (rows + p->part - 1) / p->part, 1, quantised_parts, (void *) call);
}

static void
nearest_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Resize *p = call->state;
  const gsize h = (gsize) p->output->dims[1], w = (gsize) p->output->dims[2];
  const gsize pixel = (gsize) p->output->dims[3] * sl_dtype_size (p->input->dtype),
              line = (gsize) p->input->dims[2] * pixel;
  for (gsize y = first; y < first + n; y++) {
    const guint8 *in = (const guint8 *) call->inputs[0]
                       + (y / h * (gsize) p->input->dims[1] + (gsize) p->rows[y % h].low) * line;
    guint8 *out = (guint8 *) call->outputs[0] + y * w * pixel;
    for (gsize x = 0; x < w; x++, out += pixel)
      memcpy (out, in + (gsize) p->columns[x].low * pixel, pixel);
  }
}

void
sl_kernel_resize_nearest (const SlKernelCall *call)
{
  const Resize *p = call->state;
  sl_parallel (call, (gsize) p->output->dims[0] * (gsize) p->output->dims[1], 4, nearest_rows,
               (void *) call);
}
