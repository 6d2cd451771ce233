/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops in C: the definition that every instruction set is tested against. */
#include <math.h>

#include "core/backends/int8/isa.h"
#include "core/ops/kernels/row_codes.h"

#define LANES 4
#define UNIT 4

static guint8
to_byte (gint32 sum, gfloat scale, gfloat rest, const SlInt8Output *output)
{
  const gint32 value = (gint32) lrintf ((gfloat) sum * scale + rest) + output->zero_point;
  return (guint8) CLAMP (value, output->lo, output->hi) ^ output->flip;
}

static void
flip_c (guint8 *to, const guint8 *from, gsize n)
{
  for (gsize i = 0; i < n; i++)
    to[i] = from[i] ^ 0x80;
}

static gint32
dot (const guint8 *a, const gint8 *weights, guint8 flip)
{
  gint32 sum = 0;
  for (gint i = 0; i < UNIT; i++)
    sum += (guint8) (a[i] ^ flip) * weights[i];
  return sum;
}

/* The same values times the weights of a lane. */
static inline __attribute__ ((always_inline)) guint32
times (const gint32 *values, const gint8 *weights)
{
  return (guint32) (values[0] * weights[0] + values[1] * weights[1] + values[2] * weights[2]
                    + values[3] * weights[3]);
}

/* Without a loop, so that values and sums stay in registers. */
static inline __attribute__ ((always_inline)) void
add_dots (guint32 *sums, const guint8 *a, const gint8 *weights, guint8 flip)
{
  const gint32 values[UNIT] = { a[0] ^ flip, a[1] ^ flip, a[2] ^ flip, a[3] ^ flip };
  sums[0] += times (values, weights);
  sums[1] += times (values, weights + UNIT);
  sums[2] += times (values, weights + 2 * UNIT);
  sums[3] += times (values, weights + 3 * UNIT);
}

/* Of all lanes at once, so that values are read once. Weights of lanes without a channel are not
 * used. */
static void
sums_of (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const guint8 *a, gint32 *to)
{
  const gint8 *weights = panel->weights;
  guint32 sums[LANES] = { 0 };
  for (gint32 k = 0; k < panel->steps; k++, weights += LANES * UNIT)
    add_dots (sums, a + k * UNIT, weights, gemm->flip);
  for (gint32 k = 0; k < panel->n_extra; k++, weights += LANES * UNIT)
    add_dots (sums, a + panel->extra[k], weights, gemm->flip);
  for (gint32 lane = 0; lane < panel->channels; lane++)
    to[lane] = (gint32) (sums[lane] + (guint32) gemm->bias[panel->channel + lane]);
}

static void
row (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const guint8 *a, guint8 *c)
{
  gint32 sums[LANES];
  sums_of (gemm, panel, a, sums);
  for (gint32 lane = 0; lane < panel->channels; lane++)
    c[panel->channel + lane] = to_byte (sums[lane], gemm->scale[panel->channel + lane],
                                        gemm->rest[panel->channel + lane], &gemm->output);
}

static void
gemm_c (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride, gint32 rows,
        guint8 *c, gsize c_stride)
{
  for (gint32 m = 0; m < rows; m++)
    for (gint32 p = first; p < end; p++)
      row (gemm, &gemm->panels[p], (const guint8 *) a + (gsize) m * stride,
           c + (gsize) m * c_stride);
}

static void
round_row (const gfloat *from, gsize n, gboolean whole, guint8 *codes, SlInt8Row *row)
{
  gfloat least = 0, most = 0, sum = 0;
  for (gsize i = 0; i < n; i++) {
    least = MIN (least, from[i]);
    most = MAX (most, from[i]);
    sum += from[i] * 0; /* NaN unless it is finite */
  }
  const gfloat poison = (most - least) * 0 + sum;
  const SlRowCodes as = sl_row_codes (least, most, G_MAXUINT8, whole);
  *row = (SlInt8Row){ as.scale + poison, -as.zero };
  for (gsize i = 0; i < n; i++) {
    const gfloat code = poison == 0 ? rintf (from[i] * as.inverse) + as.zero : 0;
    codes[i] = (guint8) CLAMP (code, 0, G_MAXUINT8);
  }
}

static void
round_c (const gfloat *const *from, gsize n, gint32 rows, gboolean whole, void *to, gsize stride,
         SlInt8Row *as)
{
  for (gint32 r = 0; r < rows; r++)
    round_row (from[r], n, whole, (guint8 *) to + (gsize) r * stride, &as[r]);
}

static void
round_shares_c (const gfloat *from, gsize n, void *to, SlInt8Row *row)
{
  guint8 *codes = to;
  *row = (SlInt8Row){ 1.0f / G_MAXUINT8, 0 };
  for (gsize i = 0; i < n; i++) {
    const gfloat code = rintf (from[i] * G_MAXUINT8);
    codes[i] = (guint8) (code > 0 ? MIN (code, G_MAXUINT8) : 0);
  }
}

static void
to_weights_c (const gfloat *from, gsize n, gfloat inverse, gint8 *to)
{
  for (gsize i = 0; i < n; i++) {
    const gfloat value = rintf (from[i] * inverse);
    to[i] = (gint8) (value > G_MININT8 ? MIN (value, G_MAXINT8) : G_MININT8);
  }
}

static void
float_row (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const guint8 *a, const SlInt8Row *row,
           gfloat *c)
{
  gint32 sums[LANES];
  sums_of (gemm, panel, a, sums);
  for (gint32 lane = 0; lane < panel->channels; lane++) {
    const gint32 i = panel->channel + lane;
    const gfloat sum = (gfloat) sums[lane] * gemm->scale[i];
    const gfloat value = (sum + gemm->lean[i] * row->lean) * row->scale + gemm->rest[i];
    c[i] = value < gemm->lo ? gemm->lo : value > gemm->hi ? gemm->hi : value;
  }
}

static void
gemm_floats_c (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride,
               gint32 n, const SlInt8Row *rows, gfloat *c, gsize c_stride)
{
  for (gint32 m = 0; m < n; m++)
    for (gint32 p = first; p < end; p++)
      float_row (gemm, &gemm->panels[p], (const guint8 *) a + (gsize) m * stride, &rows[m],
                 c + (gsize) m * c_stride);
}

static void
depthwise_c (const SlInt8Depthwise *layer, const guint8 *const *taps, guint8 *out)
{
  for (gint32 channel = 0; channel < layer->channels; channel++) {
    const gint8 *weights = layer->weights + (gsize) (channel / LANES) * layer->block_bytes
                           + channel % LANES * SL_INT8_QUAD;
    guint32 sum = (guint32) layer->bias[channel];
    for (gint pass = 0; pass < layer->passes[channel / LANES]; pass++)
      for (gint32 i = 0; i < layer->quads; i++, weights += LANES * SL_INT8_QUAD) {
        guint8 values[SL_INT8_QUAD];
        for (gint t = 0; t < SL_INT8_QUAD; t++)
          values[t] = taps[SL_INT8_QUAD * i + t][channel];
        sum += (guint32) dot (values, weights, layer->flip);
      }
    out[channel] =
      to_byte ((gint32) sum, layer->scale[channel], layer->rest[channel], &layer->output);
  }
}

static void
add_c (const SlInt8Add *add, const guint8 *a, const guint8 *b, guint8 *out, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const gint32 sum =
      add->bias + (guint8) (a[i] ^ add->flip) * add->a + (guint8) (b[i] ^ add->flip) * add->b;
    const gint32 value = ((sum + ((sum - add->lift) >> 31)) >> add->shift) + add->output.zero_point;
    out[i] = (guint8) CLAMP (value, add->output.lo, add->output.hi) ^ add->output.flip;
  }
}

static gint32
dw_lane (gint32 channel)
{
  return channel;
}

const SlInt8Isa sl_int8_isa_c = {
  .name = "c",
  .lanes = LANES,
  .unit = UNIT,
  .max_groups = 1,
  .dw_lanes = LANES,
  .flip = flip_c,
  .gemm = gemm_c,
  .last = G_MAXUINT8,
  .round = round_c,
  .round_shares = round_shares_c,
  .to_weights = to_weights_c,
  .rows = 1,
  .gemm_floats = gemm_floats_c,
  .depthwise = depthwise_c,
  .add = add_c,
  .dw_lane = dw_lane,
};
