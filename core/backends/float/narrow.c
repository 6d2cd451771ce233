/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/backends/float/layer.h"

#include "core/base/half.h"
#include "core/ops/kernels/simd/loops.h"
#include "core/ops/ops.h"

static gboolean
is_half (const SlTensor *tensor)
{
  return tensor != NULL && tensor->dtype == SL_DTYPE_F16;
}

void
sl_float_narrow_set (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node)
{
  layer->narrow.x = is_half (sl_node_input (graph, node, sl_op_data_at (node->op)));
  layer->narrow.second = node->n_inputs > 1 && is_half (sl_node_input (graph, node, 1));
  layer->narrow.y = is_half (sl_node_output (graph, node, 0));
}

/* Bytes of as many floats, and what loops read behind them. */
static gsize
room_for (gsize floats)
{
  return (floats * sizeof (gfloat) + SL_TENSOR_PADDING + SL_TENSOR_ALIGN - 1) / SL_TENSOR_ALIGN
         * SL_TENSOR_ALIGN;
}

/* Floats of what a work item reads at a time. */
static gsize
read_at_once (const SlFloatLayer *layer)
{
  const SlWindowShape *w = &layer->window;
  const gsize line = (gsize) w->w * (gsize) w->channels;
  switch (layer->mode) {
    case SL_FLOAT_DIRECT:
      return (gsize) layer->isa->max_rows * (gsize) layer->depth;
    case SL_FLOAT_SPARSE:
      return (gsize) layer->tile_rows * (gsize) layer->depth;
    case SL_FLOAT_WINDOW:
    case SL_FLOAT_DEPTHWISE:
      return (gsize) ((w->filter_h - 1) * w->dilation_h + 1) * line;
    case SL_FLOAT_WINOGRAD:
      return (gsize) (layer->tile + 2) * line;
    default:
      return layer->narrow.second || layer->repeated.period > 0 ? 2 * layer->elements.chunk
                                                                : layer->elements.chunk;
  }
}

/* The same of what it writes. */
static gsize
written_at_once (const SlFloatLayer *layer)
{
  const gsize channels = (gsize) layer->channels;
  switch (layer->mode) {
    case SL_FLOAT_DIRECT:
    case SL_FLOAT_WINDOW:
      return (gsize) layer->isa->max_rows * channels;
    case SL_FLOAT_SPARSE:
      return (gsize) layer->tile_rows * channels;
    case SL_FLOAT_WINOGRAD:
      return (gsize) (layer->tile * layer->tile) * channels;
    case SL_FLOAT_DEPTHWISE:
      return (gsize) layer->window.out_w * channels;
    default:
      return layer->elements.chunk;
  }
}

void
sl_float_narrow_room (SlFloatLayer *layer, SlHost *host)
{
  SlFloatNarrow *narrow = &layer->narrow;
  if (!narrow->x && !narrow->second && !narrow->y && layer->repeated.period == 0)
    return;
  narrow->in = (layer->scratch_bytes + SL_TENSOR_ALIGN - 1) / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
  const gboolean reads = narrow->x || narrow->second || layer->repeated.period > 0;
  narrow->out = narrow->in + (reads ? room_for (read_at_once (layer)) : 0);
  sl_float_need_scratch (layer, host,
                         narrow->out + (narrow->y ? room_for (written_at_once (layer)) : 0));
}

static gfloat *
scratch_at (const SlFloatLayer *layer, guint thread, gsize at)
{
  return (gfloat *) (gpointer) (layer->scratch->memory + layer->scratch->bytes * thread + at);
}

gfloat *
sl_float_narrow_in (const SlFloatLayer *layer, guint thread)
{
  return scratch_at (layer, thread, layer->narrow.in);
}

gfloat *
sl_float_narrow_out (const SlFloatLayer *layer, guint thread)
{
  return scratch_at (layer, thread, layer->narrow.out);
}

void
sl_float_widen (const void *x, gsize first, gfloat *to, gsize n)
{
  sl_simd_loops ()->from_halves ((const guint16 *) x + first, to, n);
}

void
sl_float_narrow (const gfloat *from, void *y, gsize first, gsize n)
{
  sl_simd_loops ()->to_halves (from, (guint16 *) y + first, n);
}

void
sl_float_narrow_rows (const SlFloatLayer *layer, const gfloat *from, void *y, gsize first,
                      gint32 rows, gsize n)
{
  if (n == layer->stride) {
    sl_float_narrow (from, y, first, (gsize) rows * n);
    return;
  }
  for (gint32 r = 0; r < rows; r++, from += layer->channels, first += layer->stride)
    sl_float_narrow (from, y, first, n);
}

const gfloat *
sl_float_widen_lines (const SlFloatLayer *layer, const void *x, gint32 image, gint32 y,
                      gint32 count, gint32 step, gint32 from, gint32 end, guint thread)
{
  const SlWindowShape *w = &layer->window;
  gfloat *lines = sl_float_narrow_in (layer, thread);
  const gssize channels = w->channels, line = (gssize) w->w * channels,
               first = ((gssize) image * w->h + y) * line;
  from = MAX (from, 0);
  end = MIN (end, w->w);
  for (gint32 i = 0; i < count && from < end; i++) {
    const gssize at = (gssize) (i * step) * line + (gssize) from * channels;
    if (y + i * step >= 0 && y + i * step < w->h)
      sl_float_widen (x, (gsize) (first + at), lines + at, (gsize) ((end - from) * channels));
  }
  /* The address may be outside of the scratch memory: no pointer arithmetic. */
  return (const gfloat *) ((guintptr) lines - (guintptr) (first * (gssize) sizeof (gfloat)));
}
