/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pooling, a block of channels at a time. Quantised averages are rounded half away from zero, as
 * TensorFlow Lite's integer kernels define them; padding is left out of sums and counts.
 */
#include <string.h>

#include "core/ops/kernels/kernels.h"
#include "core/ops/kernels/parallel.h"
#include "core/ops/kernels/simd/loops.h"

#define BLOCK 64
/* Floats of columns' maxima. */
#define MAXIMA 8192
/* Values of binary16 that become floats at a time. */
#define LINE 512

/** The part of a window inside the input. */
typedef struct
{
  gint32 y0, y1, x0, x1, count;
} Cut;

typedef struct
{
  const SlKernelCall *call;
  const SlTensor *input, *output;
  SlClamp clamp;
} Pool;

static Cut
cut_window (const SlWindow *window, const SlTensor *input, gint32 y, gint32 x)
{
  const gint32 top = y * window->stride_h - window->pad_top,
               left = x * window->stride_w - window->pad_left;
  Cut cut = { MAX (top, 0), MIN (top + window->filter_h, input->dims[1]), MAX (left, 0),
              MIN (left + window->filter_w, input->dims[2]), 0 };
  cut.count = (cut.y1 - cut.y0) * (cut.x1 - cut.x0);
  return cut;
}

static gsize
pixel (const SlTensor *input, gsize image, gint32 y, gint32 x)
{
  return ((image * (gsize) input->dims[1] + (gsize) y) * (gsize) input->dims[2] + (gsize) x)
         * (gsize) input->dims[3];
}

static inline __attribute__ ((always_inline)) void
gather_quantised (const Pool *pool, SlDtype dtype, gboolean highest, const Cut *cut, gsize image,
                  gsize first, gsize n, gint32 *values)
{
  for (gsize c = 0; c < n; c++)
    values[c] = highest ? G_MININT32 : 0;
  for (gint32 y = cut->y0; y < cut->y1; y++)
    for (gint32 x = cut->x0; x < cut->x1; x++) {
      const gsize at = pixel (pool->input, image, y, x) + first;
      if (!highest && dtype == SL_DTYPE_U8)
        sl_simd_loops ()->add_u8 ((const guint8 *) pool->call->inputs[0] + at, values, n);
      else if (!highest && dtype == SL_DTYPE_I8)
        sl_simd_loops ()->add_i8 ((const gint8 *) pool->call->inputs[0] + at, values, n);
      for (gsize c = 0; (highest || dtype == SL_DTYPE_I16) && c < n; c++) {
        const gint32 quantised = sl_load_16bit (pool->call->inputs[0], dtype, at + c);
        values[c] = highest ? MAX (values[c], quantised) : values[c] + quantised;
      }
    }
}

static void
quantised_block (const Pool *pool, const Cut *cut, gsize image, gsize first, gsize n, gsize at)
{
  const SlDtype dtype = pool->input->dtype;
  const gboolean highest = pool->call->node->op == SL_OP_MAX_POOL_2D;
  gint32 values[BLOCK];
  if (dtype == SL_DTYPE_I8)
    gather_quantised (pool, SL_DTYPE_I8, highest, cut, image, first, n, values);
  else if (dtype == SL_DTYPE_I16)
    gather_quantised (pool, SL_DTYPE_I16, highest, cut, image, first, n, values);
  else
    gather_quantised (pool, SL_DTYPE_U8, highest, cut, image, first, n, values);
  for (gsize c = 0; c < n; c++) {
    const gint32 half = values[c] >= 0 ? cut->count / 2 : -(cut->count / 2);
    const gint32 quantised = highest ? values[c] : (values[c] + half) / cut->count;
    sl_store_16bit (pool->call->outputs[0], dtype, at + c,
                    CLAMP (quantised, pool->clamp.lo, pool->clamp.hi));
  }
}

static void
block_of_floats (const Pool *pool, const Cut *cut, gsize image, gsize first, gsize n, gsize at)
{
  const SlOpType op = pool->call->node->op;
  gfloat *out = (gfloat *) pool->call->outputs[0] + at, values[BLOCK];
  for (gsize c = 0; c < n; c++)
    values[c] = op == SL_OP_MAX_POOL_2D ? -INFINITY : 0;
  for (gint32 y = cut->y0; y < cut->y1; y++)
    for (gint32 x = cut->x0; x < cut->x1; x++) {
      const gfloat *in =
        (const gfloat *) pool->call->inputs[0] + pixel (pool->input, image, y, x) + first;
      if (op == SL_OP_MAX_POOL_2D)
        for (gsize c = 0; c < n; c++)
          values[c] = in[c] > values[c] ? in[c] : values[c];
      else if (op == SL_OP_AVERAGE_POOL_2D)
        for (gsize c = 0; c < n; c++)
          values[c] += in[c];
      else
        for (gsize c = 0; c < n; c++)
          values[c] += in[c] * in[c];
    }
  for (gsize c = 0; c < n; c++) {
    const gfloat mean = values[c] / (gfloat) cut->count;
    const gfloat value = op == SL_OP_MAX_POOL_2D       ? values[c]
                         : op == SL_OP_AVERAGE_POOL_2D ? mean
                                                       : sqrtf (mean);
    out[c] = value < pool->clamp.lo_f   ? pool->clamp.lo_f
             : value > pool->clamp.hi_f ? pool->clamp.hi_f
                                        : value;
  }
}

/* Rows of output pixels, counted over all images. */
static void
pool_rows (void *data, gsize first, gsize n)
{
  const Pool *pool = data;
  const SlTensor *output = pool->output;
  const gsize h = (gsize) output->dims[1], channels = (gsize) output->dims[3];
  for (gsize row = first; row < first + n; row++)
    for (gint32 x = 0; x < output->dims[2]; x++) {
      const Cut cut =
        cut_window (&pool->call->node->params.window, pool->input, (gint32) (row % h), x);
      const gsize at = (row * (gsize) output->dims[2] + (gsize) x) * channels;
      for (gsize c = 0; c < channels; c += BLOCK) {
        const gsize block = MIN (BLOCK, channels - c);
        if (output->dtype == SL_DTYPE_F32)
          block_of_floats (pool, &cut, row / h, c, block, at + c);
        else
          quantised_block (pool, &cut, row / h, c, block, at + c);
      }
    }
}

/** Part of a row of output pixels: @count of them from @x on, and @n channels from @first on. */
typedef struct
{
  gsize row;
  gint32 x, count;
  gsize first, n;
} Stretch;

static void
fill_lowest (gfloat *to, gsize n)
{
  for (gsize i = 0; i < n; i++)
    to[i] = -INFINITY;
}

/* As SlSimdLoops' largest; a line of @in becomes floats at a time. */
static void
largest_halves (const SlWindows *w, const guint16 *in, gfloat *out)
{
  const SlSimdLoops *loops = sl_simd_loops ();
  gfloat lines[2][LINE];
  for (gsize k = 0; k < w->count; k++, in += w->step, out += w->out_step)
    for (gsize i = 0; i < w->n; i += LINE) {
      const gsize n = MIN (LINE, w->n - i);
      const SlWindows both = { n, 2, LINE, 1, 0, 0 };
      fill_lowest (out + i, n);
      for (gsize tap = 0; tap < w->taps; tap++) {
        memcpy (lines[0], out + i, n * sizeof out[0]);
        loops->from_halves (in + tap * w->stride + i, lines[1], n);
        loops->largest (&both, lines[0], out + i);
      }
    }
}

/* The largest of each column under @s; columns outside the picture have the lowest of all. */
static void
columns_maxima (const Pool *pool, const Stretch *s, gint32 columns, gfloat *most)
{
  const SlTensor *input = pool->input;
  const SlWindow *window = &pool->call->node->params.window;
  const gsize h = (gsize) pool->output->dims[1], channels = (gsize) input->dims[3];
  const Cut cut = cut_window (window, input, (gint32) (s->row % h), 0);
  const gint32 left = s->x * window->stride_w - window->pad_left, from = MAX (left, 0),
               to = MIN (left + columns, input->dims[2]);
  const gsize rows = (gsize) MAX (cut.y1 - cut.y0, 0), inside = from < to ? (gsize) (to - from) : 0;
  const gsize before = inside > 0 ? (gsize) (from - left) : (gsize) columns,
              after = (gsize) columns - before - inside;
  const gboolean joined = s->n == channels;
  const SlWindows w = { joined ? inside * channels : s->n,
                        rows,
                        (gsize) input->dims[2] * channels,
                        joined ? 1 : inside,
                        channels,
                        s->n };
  const gsize first = pixel (input, s->row / h, cut.y0, from) + s->first;
  fill_lowest (most, before * s->n);
  if (inside > 0 && input->dtype == SL_DTYPE_F16)
    largest_halves (&w, (const guint16 *) pool->call->inputs[0] + first, most + before * s->n);
  else if (inside > 0)
    sl_simd_loops ()->largest (&w, (const gfloat *) pool->call->inputs[0] + first,
                               most + before * s->n);
  fill_lowest (most + (before + inside) * s->n, after * s->n);
}

/* Pixels of the result are @apart floats apart. */
static void
maxima_of_columns (const Pool *pool, const Stretch *s, const gfloat *most, gfloat *out, gsize apart)
{
  const SlWindow *window = &pool->call->node->params.window;
  const gsize count = (gsize) s->count, taps = (gsize) window->filter_w;
  const SlWindows joined = { count * s->n, taps, s->n, 1, 0, 0 };
  const SlWindows single = { s->n, taps, s->n, count, (gsize) window->stride_w * s->n, apart };
  sl_simd_loops ()->largest (window->stride_w == 1 && s->n == apart ? &joined : &single, most, out);
  for (gsize i = 0; pool->clamp.lo_f > -INFINITY && i < count; i++)
    for (gsize k = i * apart; k < i * apart + s->n; k++)
      out[k] = CLAMP (out[k], pool->clamp.lo_f, pool->clamp.hi_f);
}

/* Writes the stretch, whose columns' maxima are @most, from element @at of the output on. */
static void
store_maxima (const Pool *pool, const Stretch *s, const gfloat *most, gsize at)
{
  const gsize channels = (gsize) pool->input->dims[3];
  gfloat floats[MAXIMA];
  if (pool->output->dtype == SL_DTYPE_F32) {
    maxima_of_columns (pool, s, most, (gfloat *) pool->call->outputs[0] + at, channels);
    return;
  }
  maxima_of_columns (pool, s, most, floats, s->n);
  for (gsize i = 0; i < (gsize) s->count; i++)
    sl_simd_loops ()->to_halves (floats + i * s->n,
                                 (guint16 *) pool->call->outputs[0] + at + i * channels, s->n);
}

/* Rows of the largest floats: first of each column, then of columns beside each other, so that
 * windows that overlap share what they have. */
static void
pool_maxima (void *data, gsize first, gsize n)
{
  const Pool *pool = data;
  const SlWindow *window = &pool->call->node->params.window;
  const gsize channels = (gsize) pool->input->dims[3], width = (gsize) pool->output->dims[2];
  const gsize block = MIN (channels, MAXIMA / (gsize) window->filter_w);
  const gint32 most_at_once =
    (gint32) ((MAXIMA / block - (gsize) window->filter_w) / (gsize) window->stride_w) + 1;
  gfloat most[MAXIMA];
  for (gsize row = first; row < first + n; row++)
    for (gsize c = 0; c < channels; c += block)
      for (gint32 x = 0; x < (gint32) width; x += most_at_once) {
        const Stretch s = { row, x, MIN (most_at_once, (gint32) width - x), c,
                            MIN (block, channels - c) };
        columns_maxima (pool, &s, (s.count - 1) * window->stride_w + window->filter_w, most);
        store_maxima (pool, &s, most, (row * width + (gsize) x) * channels + c);
      }
}

static gboolean
shares_columns (const SlNode *node, SlDtype dtype)
{
  const SlWindow *window = &node->params.window;
  return node->op == SL_OP_MAX_POOL_2D && (dtype == SL_DTYPE_F32 || dtype == SL_DTYPE_F16)
         && window->stride_w <= window->filter_w && window->filter_w <= MAXIMA;
}

void
sl_kernel_pool_2d (const SlKernelCall *call)
{
  Pool pool = { .call = call,
                .input = sl_node_input (call->graph, call->node, 0),
                .output = sl_node_output (call->graph, call->node, 0) };
  sl_clamp_for (&pool.clamp, call->node->params.window.activation, pool.output);
  sl_parallel (call, (gsize) pool.output->dims[0] * (gsize) pool.output->dims[1], 1,
               shares_columns (call->node, pool.input->dtype) ? pool_maxima : pool_rows, &pool);
}
