/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs packed layers: cuts them into pieces for the pool, gathers windows into rows, and finds the
 * pixels that depthwise windows cover.
 */
#include <string.h>

#include "core/backends/int8/layer.h"

/** A layer and this run's memory. */
typedef struct
{
  const SlInt8Layer *layer;
  const guint8 *x;
  guint8 *y;
  const guint8 *second; /* addend */
} Run;

/* Copies in pieces of 16 bytes: reads up to 15 past the end, inside the padding of every tensor,
 * and writes as many, which the next row overwrites. */
static inline void
copy_run (guint8 *to, const guint8 *from, gsize bytes)
{
  const guint8 *const end = from + bytes;
  for (; end - from >= 64; from += 64, to += 64)
    memcpy (to, from, 64);
  for (; from < end; from += 16, to += 16)
    memcpy (to, from, 16);
}

/* A row of the window at input column @x0 where it crosses a border or skips pixels. */
static void
gather_taps (const SlInt8Layer *layer, const guint8 *line, gint32 x0, guint8 *to)
{
  const SlWindowShape *w = &layer->window;
  for (gint32 fx = 0; fx < w->filter_w; fx++, to += w->channels) {
    const gint32 x = x0 + fx * w->dilation_w;
    if (x < 0 || x >= w->w)
      memset (to, layer->zero_byte, (gsize) w->channels);
    else
      copy_run (to, line + (gsize) x * (gsize) w->channels, (gsize) w->channels);
  }
}

static void
gather (const SlInt8Layer *layer, const guint8 *x, gint32 row, guint8 *to)
{
  const SlWindowShape *w = &layer->window;
  const gint32 image = row / (w->out_h * w->out_w),
               y0 = row / w->out_w % w->out_h * w->stride_h - w->top;
  const gint32 x0 = row % w->out_w * w->stride_w - w->left;
  const gboolean inside = w->dilation_w == 1 && x0 >= 0 && x0 + w->filter_w <= w->w;
  const gsize line_bytes = (gsize) w->w * (gsize) w->channels,
              run = (gsize) w->filter_w * (gsize) w->channels;
  const gssize next = (gssize) line_bytes * w->dilation_h;
  gssize line = ((gssize) image * w->h + y0) * (gssize) line_bytes;
  for (gint32 fy = 0, y = y0; fy < w->filter_h; fy++, y += w->dilation_h, line += next, to += run) {
    if (y < 0 || y >= w->h)
      memset (to, layer->zero_byte, run);
    else if (inside)
      copy_run (to, x + line + (gssize) x0 * w->channels, run);
    else
      gather_taps (layer, x + line, x0, to);
  }
}

/* Rows @first.. as the instruction set reads them. */
static const void *
tile_of (const Run *run, gint32 first, gint32 rows, guint thread, gsize *stride)
{
  const SlInt8Layer *layer = run->layer;
  guint8 *scratch =
    layer->scratch_bytes > 0 ? layer->scratch->memory + layer->scratch->bytes * thread : NULL;
  *stride = layer->mode == SL_INT8_DIRECT ? (gsize) layer->depth : layer->row_bytes;
  if (!layer->isa->int16) {
    const gboolean flip = layer->flip != layer->gemm.flip;
    const guint8 *from = layer->mode == SL_INT8_DIRECT ? run->x + (gsize) first * *stride : scratch;
    for (gint32 r = 0; layer->mode != SL_INT8_DIRECT && r < rows; r++)
      gather (layer, run->x, first + r, scratch + (gsize) r * *stride);
    if (flip)
      layer->isa->flip (scratch, from, (gsize) rows * *stride);
    return flip ? scratch : from;
  }
  *stride = layer->row_bytes * 2;
  guint8 *bytes = scratch + (gsize) rows * *stride;
  for (gint32 r = 0; r < rows; r++) {
    const guint8 *from =
      layer->mode == SL_INT8_DIRECT ? run->x + (gsize) (first + r) * (gsize) layer->depth : bytes;
    if (layer->mode != SL_INT8_DIRECT)
      gather (layer, run->x, first + r, bytes);
    layer->isa->widen ((gint16 *) (gpointer) (scratch + (gsize) r * *stride), from,
                       (gsize) layer->depth, layer->is_signed);
  }
  return scratch;
}

static void
run_gemm (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Layer *layer = run->layer;
  const gint32 tiles = (layer->rows + layer->tile_rows - 1) / layer->tile_rows;
  const gint32 first = (gint32) item % tiles * layer->tile_rows,
               panel = (gint32) item / tiles * layer->chunk_panels;
  const gint32 rows = MIN (layer->tile_rows, layer->rows - first);
  gsize stride = 0;
  const void *a = tile_of (run, first, rows, thread, &stride);
  layer->isa->gemm (&layer->gemm, panel, MIN (panel + layer->chunk_panels, layer->n_panels), a,
                    stride, rows, run->y + (gsize) first * (gsize) layer->channels,
                    (gsize) layer->channels);
}

static void
run_sparse (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Layer *layer = run->layer;
  const gint32 tiles = (layer->rows + layer->tile_rows - 1) / layer->tile_rows;
  const gint32 first = (gint32) item % tiles * layer->tile_rows,
               channel = (gint32) item / tiles * layer->chunk_panels;
  const gint32 rows = MIN (layer->tile_rows, layer->rows - first);
  guint8 *columns = layer->scratch->memory + layer->scratch->bytes * thread;
  layer->isa->turn (run->x + (gsize) first * (gsize) layer->depth, rows, layer->depth, layer->flip,
                    columns);
  layer->isa->sparse (&layer->sparse, channel, MIN (channel + layer->chunk_panels, layer->channels),
                      columns, rows, run->y + (gsize) first * (gsize) layer->channels,
                      (gsize) layer->channels);
}

/* Input row @y of an image with its padding left and right, or all padding: @pixels pixels, with
 * @flip of the other signedness. */
static void
copy_line (const SlInt8Layer *layer, const guint8 *image, gint32 y, gint32 pixels, guint8 flip,
           guint8 *to)
{
  const SlWindowShape *w = &layer->window;
  const gsize pixel = (gsize) w->channels;
  const gint32 inside = y >= 0 && y < w->h ? MAX (MIN (w->w, pixels - w->left), 0) : 0,
               before = inside > 0 ? w->left : 0;
  memset (to, layer->zero_byte ^ flip, (gsize) before * pixel);
  if (inside > 0 && flip != 0)
    layer->isa->flip (to + (gsize) before * pixel, image + (gsize) y * (gsize) w->w * pixel,
                      (gsize) inside * pixel);
  else if (inside > 0)
    memcpy (to + (gsize) before * pixel, image + (gsize) y * (gsize) w->w * pixel,
            (gsize) inside * pixel);
  memset (to + (gsize) (before + inside) * pixel, layer->zero_byte ^ flip,
          (gsize) (pixels - before - inside) * pixel);
}

static void
run_banded (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Layer *layer = run->layer;
  const SlWindowShape *w = &layer->window;
  const gint32 bands = layer->images * w->out_h, band = (gint32) item % bands,
               panel = (gint32) item / bands * layer->chunk_panels;
  const gint32 pixels = (w->out_w - 1) * w->stride_w + w->filter_w;
  const gsize element = layer->isa->int16 ? 2 : 1, line = (gsize) layer->line * element;
  const guint8 *image =
    run->x + (gsize) (band / w->out_h) * (gsize) w->h * (gsize) w->w * (gsize) w->channels;
  guint8 *lines = layer->scratch->memory + layer->scratch->bytes * thread,
         *bytes = lines + (gsize) w->filter_h * line;
  for (gint32 fy = 0; fy < w->filter_h; fy++) {
    const gint32 y = band % w->out_h * w->stride_h - w->top + fy * w->dilation_h;
    copy_line (layer, image, y, pixels, layer->flip ^ layer->gemm.flip,
               layer->isa->int16 ? bytes : lines + (gsize) fy * line);
    if (layer->isa->int16)
      layer->isa->widen ((gint16 *) (gpointer) (lines + (gsize) fy * line), bytes,
                         (gsize) pixels * (gsize) w->channels, layer->is_signed);
  }
  layer->isa->gemm (&layer->gemm, panel, MIN (panel + layer->chunk_panels, layer->n_panels), lines,
                    (gsize) (w->stride_w * w->channels) * element, w->out_w,
                    run->y + (gsize) band * (gsize) w->out_w * (gsize) layer->channels,
                    (gsize) layer->channels);
}

/* Splits a line into its even pixels and, from @odd, its odd ones. */
static void
split_line (const SlInt8Layer *layer, const guint8 *line, guint8 *even, guint8 *odd)
{
  const gsize pixel = (gsize) layer->window.channels;
  for (gint32 x = 0; x < layer->window.out_w; x++, line += 2 * pixel) {
    copy_run (even + (gsize) x * pixel, line, pixel);
    copy_run (odd + (gsize) x * pixel, line + pixel, pixel);
  }
  copy_run (even + (gsize) layer->window.out_w * pixel, line, pixel);
}

static void
run_depthwise_flat (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Layer *layer = run->layer;
  const SlWindowShape *w = &layer->window;
  const gint32 step = w->stride_h == 1 ? 2 : 1, bands = (w->out_h + step - 1) / step,
               y = (gint32) item % bands * step;
  const gint32 pixels = (w->out_w - 1) * w->stride_w + 3;
  const gsize image = item / (guint) bands, pixel = (gsize) w->channels,
              out_bytes = (gsize) w->out_w * pixel;
  const guint8 *x = run->x + image * (gsize) w->h * (gsize) w->w * pixel;
  guint8 *lines = layer->scratch->memory + layer->scratch->bytes * thread,
         *spare = lines + 3 * (gsize) layer->line;
  SlInt8Flat flat = { .bytes = (gint32) out_bytes };
  for (gint32 r = 0; r < 2 + step; r++) {
    guint8 *line = lines + (gsize) r * (gsize) layer->line, *odd = line + out_bytes + pixel + 16;
    copy_line (layer, x, y * w->stride_h - w->top + r, pixels, 0, step == 1 ? spare : line);
    if (step == 1)
      split_line (layer, spare, line, odd);
    flat.columns[r][0] = line;
    flat.columns[r][1] = step == 1 ? odd : line + pixel;
    flat.columns[r][2] = step == 1 ? line + pixel : line + 2 * pixel;
  }
  flat.out[0] = run->y + (image * (gsize) w->out_h + (gsize) y) * out_bytes;
  flat.out[1] = step == 2 && y + 1 < w->out_h ? flat.out[0] + out_bytes : NULL;
  layer->isa->depthwise_flat (&layer->dw, &flat);
}

static void
run_depthwise_rows (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Layer *layer = run->layer;
  const SlWindowShape *w = &layer->window;
  const gint32 step = w->stride_h == 1 ? 2 : 1, bands = (w->out_h + step - 1) / step;
  const gint32 image = (gint32) item / bands, y = (gint32) item % bands * step;
  const gsize in_bytes = (gsize) w->w * (gsize) w->channels,
              out_bytes = (gsize) w->out_w * (gsize) w->channels;
  SlInt8Rows rows = {
    .width = w->w, .out_width = w->out_w, .left = w->left, .stride = w->stride_h
  };
  for (gint32 i = 0; i < 4; i++) {
    const gint32 at = y * w->stride_h - w->top + i;
    rows.rows[i] = at >= 0 && at < w->h
                     ? run->x + ((gsize) image * (gsize) w->h + (gsize) at) * in_bytes
                     : layer->pad;
  }
  rows.out[0] = run->y + ((gsize) image * (gsize) w->out_h + (gsize) y) * out_bytes;
  rows.out[1] = step == 2 && y + 1 < w->out_h ? rows.out[0] + out_bytes : NULL;
  layer->isa->depthwise_rows (&layer->dw, &rows);
}

/* The pixels of the window at (@y0, @x0) of an image, or the pad pixel. */
static void
find_taps (const SlInt8Layer *layer, const guint8 *image, gint32 y0, gint32 x0, const guint8 **taps)
{
  const SlWindowShape *w = &layer->window;
  for (gint32 fy = 0; fy < w->filter_h; fy++) {
    const gint32 y = y0 + fy * w->dilation_h;
    for (gint32 fx = 0; fx < w->filter_w; fx++) {
      const gint32 x = x0 + fx * w->dilation_w;
      const gboolean inside = y >= 0 && y < w->h && x >= 0 && x < w->w;
      *taps++ =
        inside ? image + ((gsize) y * (gsize) w->w + (gsize) x) * (gsize) w->channels : layer->pad;
    }
  }
}

static void
run_depthwise (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlInt8Layer *layer = run->layer;
  const SlWindowShape *w = &layer->window;
  const gint32 image = (gint32) item / w->out_h, y = (gint32) item % w->out_h;
  const guint8 *x = run->x + (gsize) image * (gsize) w->h * (gsize) w->w * (gsize) w->channels;
  guint8 *out = run->y + (gsize) item * (gsize) w->out_w * (gsize) w->channels;
  const guint8 *taps[SL_INT8_MAX_TAPS + SL_INT8_QUAD];
  for (gint32 i = w->filter_h * w->filter_w; i < layer->dw.quads * SL_INT8_QUAD; i++)
    taps[i] = layer->pad;
  for (gint32 i = 0; i < w->out_w; i++, out += w->channels) {
    find_taps (layer, x, y * w->stride_h - w->top, i * w->stride_w - w->left, taps);
    layer->isa->depthwise (&layer->dw, taps, out);
  }
}

static void
run_add (const void *data, guint item, guint thread)
{
  const Run *run = data;
  sl_int8_add_run (run->layer, run->x, run->second, run->y, item);
}

void
sl_int8_layer_run (const SlInt8Layer *layer, SlPool *pool, const void *const *inputs, void *output)
{
  static const SlPoolFunc functions[] = {
    [SL_INT8_SPARSE] = run_sparse,
    [SL_INT8_DIRECT] = run_gemm,
    [SL_INT8_BANDED] = run_banded,
    [SL_INT8_GATHERED] = run_gemm,
    [SL_INT8_ADD] = run_add,
    [SL_INT8_DW_TAPS] = run_depthwise,
    [SL_INT8_DW_ROWS] = run_depthwise_rows,
    [SL_INT8_DW_FLAT] = run_depthwise_flat,
  };
  if (layer->mode == SL_INT8_DYNAMIC) {
    sl_int8_dynamic_run (layer, pool, inputs[0], output);
    return;
  }
  const Run run = { layer, inputs[0], output, inputs[1] };
  const gint32 lines = layer->images * layer->window.out_h;
  gint32 items = lines;
  if (layer->mode == SL_INT8_ADD) {
    items = (gint32) sl_int8_add_items (layer);
  } else if (layer->mode < SL_INT8_DW_TAPS) {
    const gint32 tiles = layer->mode == SL_INT8_BANDED
                           ? lines
                           : (layer->rows + layer->tile_rows - 1) / layer->tile_rows;
    items = tiles * ((layer->n_panels + layer->chunk_panels - 1) / layer->chunk_panels);
  } else if (layer->mode != SL_INT8_DW_TAPS && layer->window.stride_h == 1) {
    items = layer->images * ((layer->window.out_h + 1) / 2);
  }
  sl_pool_run (pool, functions[layer->mode], &run, (guint) items, layer->cost_us);
}
