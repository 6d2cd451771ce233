/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transposed convolutions as ordinary ones. With strides of two, each place of a window over the
 * input makes two by two output pixels, and each of these takes only weights that lie two apart. So
 * one transposed convolution is four parts: convolutions without stride, whose outputs are every
 * other pixel of every other row. Where pixels beside each other take equally many weights, their
 * parts are one: its channels are then those of all these pixels, and a row of products is a piece
 * of a row of the output.
 */
#include <string.h>

#include "core/backends/float/layer.h"

#define MAX_PARTS 1024

/* Weights of @filter that are @stride apart, from @first on. */
static gint32
taps_of (gint32 filter, gint32 stride, gint32 first)
{
  return (filter - first + stride - 1) / stride;
}

gboolean
sl_float_transposed_fits (const SlGraph *graph, const SlNode *node)
{
  const SlWindow *w = &node->params.window;
  const gint32 *weights = sl_node_input (graph, node, 1)->dims;
  const gint64 most = G_MAXINT32 / 8;
  if (w->stride_h > weights[1] || w->stride_w > weights[2]
      || (gint64) w->stride_h * w->stride_w > MAX_PARTS)
    return FALSE;
  const gint64 taps =
    (gint64) taps_of (weights[1], w->stride_h, 0) * taps_of (weights[2], w->stride_w, 0);
  return taps <= SL_FLOAT_MAX_RUNS && taps <= most / weights[3] && w->stride_w <= most / weights[0];
}

static void
set_part (SlFloatLayer *part, const SlGraph *graph, const SlNode *node, gint32 first_y,
          gint32 first_x, gint32 across)
{
  const SlWindow *w = &node->params.window;
  const gint32 *weights = sl_node_input (graph, node, 1)->dims;
  const gint32 *x = sl_node_input (graph, node, 2)->dims,
               *y = sl_node_output (graph, node, 0)->dims;
  const gint32 skip_h = w->pad_top % w->stride_h, skip_w = w->pad_left % w->stride_w;
  const gint32 taps_h = taps_of (weights[1], w->stride_h, first_y),
               taps_w = taps_of (weights[2], w->stride_w, first_x);
  part->transposed.place = (SlFloatPlace){ .stride_h = w->stride_h,
                                           .stride_w = w->stride_w,
                                           .first_y = first_y,
                                           .first_x = first_x,
                                           .skip_h = skip_h,
                                           .skip_w = skip_w,
                                           .h = y[1],
                                           .w = y[2],
                                           .channels = y[3] };
  part->window = (SlWindowShape){ .h = x[1],
                                  .w = x[2],
                                  .channels = x[3],
                                  .out_h = (skip_h + y[1] - 1) / w->stride_h + 1,
                                  .out_w = (skip_w + y[2] - 1) / w->stride_w + 1,
                                  .filter_h = taps_h,
                                  .filter_w = taps_w,
                                  .stride_h = 1,
                                  .stride_w = 1,
                                  .dilation_h = 1,
                                  .dilation_w = 1,
                                  .top = taps_h - 1 - w->pad_top / w->stride_h,
                                  .left = taps_w - 1 - w->pad_left / w->stride_w };
  part->mode = SL_FLOAT_WINDOW;
  part->images = x[0];
  part->groups = 1;
  part->channels = across * y[3];
  part->rows = x[0] * part->window.out_h * part->window.out_w;
  part->depth = taps_h * taps_w * x[3];
}

void
sl_float_transposed_parts (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node,
                           SlArena *arena)
{
  const SlWindow *w = &node->params.window;
  const gint32 across =
    sl_node_input (graph, node, 1)->dims[2] % w->stride_w == 0 ? w->stride_w : 1;
  layer->mode = SL_FLOAT_TRANSPOSED;
  layer->transposed.n_parts = (guint) (w->stride_h * (w->stride_w / across));
  layer->transposed.parts =
    sl_arena_alloc (arena, layer->transposed.n_parts * sizeof layer->transposed.parts[0]);
  SlFloatLayer *part = layer->transposed.parts;
  for (gint32 y = 0; y < w->stride_h; y++)
    for (gint32 x = 0; x < w->stride_w; x += across, part++) {
      *part = *layer;
      set_part (part, graph, node, y, x, across);
    }
}

gfloat *
sl_float_transposed_weights (const SlFloatLayer *part, const SlTensor *weights)
{
  const SlFloatPlace *t = &part->transposed.place;
  const SlWindowShape *w = &part->window;
  const gint32 filter_h = weights->dims[1], filter_w = weights->dims[2];
  const gsize pixel = (gsize) w->channels;
  gfloat *made = g_new0 (gfloat, (gsize) part->channels * (gsize) part->depth), *to = made;
  for (gint32 row = 0; row < part->channels; row++)
    for (gint32 y = w->filter_h - 1; y >= 0; y--)
      for (gint32 x = w->filter_w - 1; x >= 0; x--, to += pixel) {
        const gint32 fy = t->first_y + t->stride_h * y,
                     fx = t->first_x + row / t->channels + t->stride_w * x;
        const gsize from =
          ((gsize) (row % t->channels * filter_h + fy) * (gsize) filter_w + (gsize) fx) * pixel;
        if (fy < filter_h && fx < filter_w)
          memcpy (to, (const gfloat *) weights->data + from, pixel * sizeof to[0]);
      }
  return made;
}

/* Lines of places of a work item. */
static gint32
item_lines (const SlFloatLayer *part)
{
  return MAX (part->tile_rows / part->window.out_w, 1);
}

static guint
part_items (const SlFloatLayer *part)
{
  const gint32 lines = part->images * part->window.out_h;
  return (guint) (part->chunks * ((lines + item_lines (part) - 1) / item_lines (part)));
}

guint
sl_float_transposed_items (const SlFloatLayer *layer)
{
  guint n = 0;
  for (guint i = 0; i < layer->transposed.n_parts; i++)
    n += part_items (&layer->transposed.parts[i]);
  return n;
}

SlFloatPiece
sl_float_transposed_piece (const SlFloatLayer *layer, guint item)
{
  const SlFloatLayer *part = layer->transposed.parts;
  for (; item >= part_items (part); part++)
    item -= part_items (part);
  const gint32 chunk = (gint32) item % part->chunks,
               line = (gint32) item / part->chunks * item_lines (part);
  return (SlFloatPiece){ .part = part,
                         .panel = sl_float_first_panel (part, chunk),
                         .end = sl_float_first_panel (part, chunk + 1),
                         .line = line,
                         .end_line =
                           MIN (line + item_lines (part), part->images * part->window.out_h) };
}

gssize
sl_float_transposed_row (const SlFloatLayer *part, gint32 line)
{
  const SlFloatPlace *t = &part->transposed.place;
  const gint32 image = line / part->window.out_h,
               row = line % part->window.out_h * t->stride_h + t->first_y - t->skip_h;
  if (row < 0 || row >= t->h)
    return -1;
  return (gssize) (image * t->h + row) * t->w * t->channels;
}

gssize
sl_float_transposed_offset (const SlFloatLayer *part, gint32 place)
{
  const SlFloatPlace *t = &part->transposed.place;
  return ((gssize) place * t->stride_w + t->first_x - t->skip_w) * t->channels;
}

gboolean
sl_float_transposed_inside (const SlFloatLayer *part, gint32 place, gint32 rows)
{
  const SlFloatPlace *t = &part->transposed.place;
  return sl_float_transposed_offset (part, place) >= 0
         && sl_float_transposed_offset (part, place + rows - 1) + part->channels
              <= (gssize) t->w * t->channels;
}

void
sl_float_transposed_copy (const SlFloatPiece *piece, const gfloat *from, gint32 place, gint32 rows,
                          gfloat *y, gssize row)
{
  const SlFloatLayer *part = piece->part;
  const SlFloatPanel *panels = part->tiles.gemm.panels, *last = &panels[piece->end - 1];
  const gssize width = (gssize) part->transposed.place.w * part->transposed.place.channels;
  for (gint32 r = 0; r < rows; r++, from += part->channels) {
    const gssize start = sl_float_transposed_offset (part, place + r);
    const gssize lo = MAX (panels[piece->panel].channel, -start),
                 hi = MIN (last->channel + last->channels, width - start);
    if (lo < hi && part->narrow.y)
      sl_float_narrow (from + lo, y, (gsize) (row + start + lo), (gsize) (hi - lo));
    else if (lo < hi)
      memcpy (y + row + start + lo, from + lo, (gsize) (hi - lo) * sizeof y[0]);
  }
}
