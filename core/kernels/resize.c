/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resizing: for each row and column of the output the two source positions and the weight between them are tabled
 * when the session is made. 8-bit weights have 11 fractional bits and the sum is rounded once, half up, which is
 * XNNPACK's arithmetic; positions are computed in single precision like its own.
 */
#include <string.h>

#include "core/kernels/kernels.h"
#include "core/kernels/parallel.h"

#define FRACTION 11

/** A position along one dimension: between elements @low and @high, @weight of the way. */
typedef struct
{
  gint32 low, high, fixed;
  gfloat weight;
} Place;

typedef struct
{
  const SlTensor *input, *output;
  Place *rows, *columns;
} Resize;

static gfloat
scale_of (gint32 in, gint32 out, gboolean align_corners)
{
  return align_corners && out > 1 ? (gfloat) (in - 1) / (gfloat) (out - 1) : (gfloat) in / (gfloat) out;
}

static void
place_bilinear (Place *place, gint32 i, gint32 in, gfloat scale, gboolean half_pixel)
{
  const gfloat at = half_pixel ? MAX (((gfloat) i + 0.5f) * scale - 0.5f, 0.0f) : (gfloat) i * scale;
  const gfloat limited = MIN (at, (gfloat) (in - 1));
  place->low = (gint32) limited;
  place->high = MIN (place->low + 1, in - 1);
  place->weight = limited - (gfloat) place->low;
  place->fixed = (gint32) lrintf (place->weight * (1 << FRACTION));
}

static void
place_nearest (Place *place, gint32 i, gint32 in, gfloat scale, gboolean align_corners, gboolean half_pixel)
{
  const gfloat at = ((gfloat) i + (half_pixel ? 0.5f : 0.0f)) * scale;
  place->low = CLAMP ((gint32) (align_corners ? roundf (at) : floorf (at)), 0, in - 1);
}

static Place *
places_new (const SlNode *node, gint32 in, gint32 out, SlArena *arena)
{
  const gboolean align = node->params.resize.align_corners, half = node->params.resize.half_pixel_centers;
  const gfloat scale = scale_of (in, out, align);
  Place *places = sl_arena_alloc (arena, (gsize) out * sizeof places[0]);
  for (gint32 i = 0; i < out; i++) {
    if (node->op == SL_OP_RESIZE_BILINEAR)
      place_bilinear (&places[i], i, in, scale, half);
    else
      place_nearest (&places[i], i, in, scale, align, half);
  }
  return places;
}

void *
sl_kernel_resize_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  Resize *p = sl_arena_alloc (arena, sizeof *p);
  p->input = sl_node_input (graph, node, 0);
  p->output = sl_node_output (graph, node, 0);
  p->rows = places_new (node, p->input->dims[1], p->output->dims[1], arena);
  p->columns = places_new (node, p->input->dims[2], p->output->dims[2], arena);
  return p;
}

static inline __attribute__ ((always_inline)) void
blend_codes (SlDtype dtype, const void *const corners[4], const Place *row, const Place *column, void *out, gsize n)
{
  for (gsize c = 0; c < n; c++) {
    const gint32 tl = sl_load_code (corners[0], dtype, c), tr = sl_load_code (corners[1], dtype, c);
    const gint32 bl = sl_load_code (corners[2], dtype, c), br = sl_load_code (corners[3], dtype, c);
    const gint32 top = tl * (1 << FRACTION) + (tr - tl) * column->fixed, bottom = bl * (1 << FRACTION) + (br - bl) * column->fixed;
    const gint32 sum = top * (1 << FRACTION) + (bottom - top) * row->fixed;
    sl_store_code (out, dtype, c, (sum + (1 << (2 * FRACTION - 1))) >> (2 * FRACTION));
  }
}

static void
blend_floats (const void *const corners[4], const Place *row, const Place *column, gfloat *out, gsize n)
{
  const gfloat *tl = corners[0], *tr = corners[1], *bl = corners[2], *br = corners[3];
  for (gsize c = 0; c < n; c++) {
    const gfloat top = tl[c] + (tr[c] - tl[c]) * column->weight, bottom = bl[c] + (br[c] - bl[c]) * column->weight;
    out[c] = top + (bottom - top) * row->weight;
  }
}

/* Rows of the output, counted over all images. */
static void
bilinear_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Resize *p = call->state;
  const SlDtype dtype = p->input->dtype;
  const gsize h = (gsize) p->output->dims[1], w = (gsize) p->output->dims[2], channels = (gsize) p->output->dims[3];
  const gsize size = sl_dtype_size (dtype), pixel = channels * size, line = (gsize) p->input->dims[2] * pixel;
  for (gsize y = first; y < first + n; y++) {
    const Place *row = &p->rows[y % h];
    const guint8 *image = (const guint8 *) call->inputs[0] + y / h * (gsize) p->input->dims[1] * line;
    const guint8 *top = image + (gsize) row->low * line, *bottom = image + (gsize) row->high * line;
    guint8 *out = (guint8 *) call->outputs[0] + y * w * pixel;
    for (gsize x = 0; x < w; x++, out += pixel) {
      const Place *column = &p->columns[x];
      const gsize left = (gsize) column->low * pixel, right = (gsize) column->high * pixel;
      const void *const corners[4] = { top + left, top + right, bottom + left, bottom + right };
      if (dtype == SL_DTYPE_F32)
        blend_floats (corners, row, column, (gfloat *) (void *) out, channels);
      else if (dtype == SL_DTYPE_I8)
        blend_codes (SL_DTYPE_I8, corners, row, column, out, channels);
      else
        blend_codes (SL_DTYPE_U8, corners, row, column, out, channels);
    }
  }
}

void
sl_kernel_resize_bilinear (const SlKernelCall *call)
{
  const Resize *p = call->state;
  sl_parallel (call, (gsize) p->output->dims[0] * (gsize) p->output->dims[1], 4, bilinear_rows, (void *) call);
}

static void
nearest_rows (void *data, gsize first, gsize n)
{
  const SlKernelCall *call = data;
  const Resize *p = call->state;
  const gsize h = (gsize) p->output->dims[1], w = (gsize) p->output->dims[2];
  const gsize pixel = (gsize) p->output->dims[3] * sl_dtype_size (p->input->dtype), line = (gsize) p->input->dims[2] * pixel;
  for (gsize y = first; y < first + n; y++) {
    const guint8 *in = (const guint8 *) call->inputs[0] + (y / h * (gsize) p->input->dims[1] + (gsize) p->rows[y % h].low) * line;
    guint8 *out = (guint8 *) call->outputs[0] + y * w * pixel;
    for (gsize x = 0; x < w; x++, out += pixel)
      memcpy (out, in + (gsize) p->columns[x].low * pixel, pixel);
  }
}

void
sl_kernel_resize_nearest (const SlKernelCall *call)
{
  const Resize *p = call->state;
  sl_parallel (call, (gsize) p->output->dims[0] * (gsize) p->output->dims[1], 4, nearest_rows, (void *) call);
}
