/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix product for processors that multiply matrices: two rows of eight activations times the
 * weights of two channels at once, in place of gemm_simd.c. A register of sums holds two rows of
 * two channels, so pairs of registers change halves before they become quantised values.
 * Activations are taken as they are, signed or not. A panel's weights stay in the first cache while
 * all rows pass, since they are read more often than activations.
 */
#include "core/backends/int8/simd.h"

/* Activations of a step, and bytes of a group's weights for it. */
#define UNIT 8
#define GROUP 8
#define STEP_BYTES (UNIT * GROUP)
/* More would not leave registers for a step's weights. */
#define MAX_PAIRS 3
/* Bytes of weights ahead. */
#define PREFETCH 1024

/** Where a tile reads and writes; @last: bytes from the first to the second row of its last pair, 0
 * where there is none; (float results) the @rows that its rows were rounded of, and where floats
 * go, @c_stride of them apart. */
typedef struct
{
  const guint8 *a;
  gsize stride, last;
  guint8 *c;
  gsize c_stride;
  const SlInt8Row *rows;
  gfloat *floats;
} Tile;

static inline Vec
two_rows (const guint8 *a, gsize stride)
{
  return vreinterpretq_s32_u8 (vcombine_u8 (vld1_u8 (a), vld1_u8 (a + stride)));
}

static inline __attribute__ ((always_inline)) Vec
product (Vec sums, Vec values, Vec weights, const gboolean is_signed)
{
  return is_signed
           ? vmmlaq_s32 (sums, vreinterpretq_s8_s32 (values), vreinterpretq_s8_s32 (weights))
           : vusmmlaq_s32 (sums, vreinterpretq_u8_s32 (values), vreinterpretq_s8_s32 (weights));
}

/* Sums are by pair of rows, then by pair of channels. */
static inline __attribute__ ((always_inline)) void
step (Vec *sums, const Tile *tile, const guint8 *a, const guint8 *weights, const gint pairs,
      const gint groups, const gboolean is_signed)
{
  const gint n = groups * GROUP / 2;
  Vec values[MAX_PAIRS];
  SL_UNROLL
  for (gint p = 0; p < pairs; p++)
    values[p] =
      two_rows (a + (gsize) (2 * p) * tile->stride, p < pairs - 1 ? tile->stride : tile->last);
  __builtin_prefetch (weights + PREFETCH);
  if (groups > 1)
    __builtin_prefetch (weights + PREFETCH + STEP_BYTES);
  SL_UNROLL
  for (gint i = 0; i < n; i++) {
    const Vec w = load (weights + VEC_BYTES * i);
    SL_UNROLL
    for (gint p = 0; p < pairs; p++)
      sums[p * n + i] = product (sums[p * n + i], values[p], w, is_signed);
  }
}

/* The low or the high halves of two registers: four channels of a row. */
static inline Vec
low_halves (Vec a, Vec b)
{
  return vcombine_s32 (vget_low_s32 (a), vget_low_s32 (b));
}

static inline Vec
high_halves (Vec a, Vec b)
{
  return vcombine_s32 (vget_high_s32 (a), vget_high_s32 (b));
}

/* Quantised values of a pair of rows and a group, of which the first @channels are wanted. */
static inline __attribute__ ((always_inline)) void
store_two (guint8 *c, gsize stride, gint32 channels, Vec values)
{
  guint8 bytes[VEC_BYTES];
  if (channels >= GROUP) {
    store_pair (c, 0, values);
    if (stride > 0)
      store_pair (c + stride, 1, values);
    return;
  }
  store_some (bytes, mask_of (VEC_BYTES), values);
  memcpy (c, bytes, (gsize) channels);
  if (stride > 0)
    memcpy (c + stride, bytes + GROUP, (gsize) channels);
}

static inline __attribute__ ((always_inline)) void
add_products (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, Vec *sums,
              const gint pairs, const gint groups, const gboolean is_signed)
{
  const gint n = groups * GROUP / 2;
  const guint8 *weights = panel->weights, *a = tile->a;
  const gint32 *bias = gemm->bias + panel->channel;
  SL_UNROLL
  for (gint i = 0; i < pairs * n; i++) {
    const int32x2_t two = vld1_s32 (bias + i % n * 2);
    sums[i] = vcombine_s32 (two, two);
  }
  for (gint32 k = panel->steps; k > 0; k--, a += UNIT, weights += STEP_BYTES * groups)
    step (sums, tile, a, weights, pairs, groups, is_signed);
  for (gint32 k = 0; k < panel->n_extra; k++, weights += STEP_BYTES * groups)
    step (sums, tile, tile->a + panel->extra[k], weights, pairs, groups, is_signed);
}

static inline __attribute__ ((always_inline)) void
multiply (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, const gint pairs,
          const gint groups, const gboolean is_signed)
{
  const gfloat *scale = gemm->scale + panel->channel, *rest = gemm->rest + panel->channel;
  const Narrow narrow = narrow_of (&gemm->output);
  Vec sums[MAX_PAIRS * GROUP];
  add_products (gemm, panel, tile, sums, pairs, groups, is_signed);
  SL_UNROLL
  for (gint i = 0; i < pairs * groups; i++) {
    const gint g = i % groups;
    const Vec *s = sums + i * GROUP / 2;
    const VecF scale0 = load_floats (scale + g * GROUP),
               scale1 = load_floats (scale + g * GROUP + LANES),
               rest0 = load_floats (rest + g * GROUP),
               rest1 = load_floats (rest + g * GROUP + LANES);
    const Vec x[4] = { scaled (low_halves (s[0], s[1]), scale0, rest0),
                       scaled (low_halves (s[2], s[3]), scale1, rest1),
                       scaled (high_halves (s[0], s[1]), scale0, rest0),
                       scaled (high_halves (s[2], s[3]), scale1, rest1) };
    const gsize second = i / groups < pairs - 1 || tile->last > 0 ? tile->c_stride : 0;
    store_two (tile->c + (gsize) (i / groups * 2) * tile->c_stride + g * GROUP, second,
               panel->channels - g * GROUP, to_bytes (&narrow, x));
  }
}

/* A row of a group: four channels in @first, and four in @second. */
static inline __attribute__ ((always_inline)) void
finish_row (const FloatFinish *finish, const SlInt8Row *row, Vec first, Vec second, gint32 channels,
            gfloat *to)
{
  finish_floats (&finish[0], row, first, channels, to);
  finish_floats (&finish[1], row, second, channels - LANES, to + LANES);
}

static inline __attribute__ ((always_inline)) void
multiply_floats (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile,
                 const gint pairs, const gint groups)
{
  Vec sums[MAX_PAIRS * GROUP];
  add_products (gemm, panel, tile, sums, pairs, groups, FALSE);
  SL_UNROLL
  for (gint i = 0; i < pairs * groups; i++) {
    const gint g = i % groups, row = i / groups * 2, channel = panel->channel + g * GROUP;
    const Vec *s = sums + i * GROUP / 2;
    const FloatFinish finish[2] = { float_finish_of (gemm, channel),
                                    float_finish_of (gemm, channel + LANES) };
    gfloat *to = tile->floats + (gsize) row * tile->c_stride + g * GROUP;
    const gint32 channels = panel->channels - g * GROUP;
    finish_row (finish, &tile->rows[row], low_halves (s[0], s[1]), low_halves (s[2], s[3]),
                channels, to);
    if (i / groups < pairs - 1 || tile->last > 0)
      finish_row (finish, &tile->rows[row + 1], high_halves (s[0], s[1]), high_halves (s[2], s[3]),
                  channels, to + tile->c_stride);
  }
}

#define DEFINE(pairs, groups)                                                                \
  static void multiply_##pairs##_##groups (const SlInt8Gemm *gemm, const SlInt8Panel *panel, \
                                           const Tile *tile)                                 \
  {                                                                                          \
    if (gemm->is_signed)                                                                     \
      multiply (gemm, panel, tile, pairs, groups, TRUE);                                     \
    else                                                                                     \
      multiply (gemm, panel, tile, pairs, groups, FALSE);                                    \
  }                                                                                          \
  static void floats_##pairs##_##groups (const SlInt8Gemm *gemm, const SlInt8Panel *panel,   \
                                         const Tile *tile)                                   \
  {                                                                                          \
    multiply_floats (gemm, panel, tile, pairs, groups);                                      \
  }
DEFINE (1, 1)
DEFINE (1, 2)
DEFINE (2, 1)
DEFINE (2, 2)
DEFINE (3, 1)
DEFINE (3, 2)

typedef void (*TileFunc) (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile);

/* By pairs less one and groups less one. */
static const TileFunc multiply_functions[MAX_PAIRS][2] = {
  { multiply_1_1, multiply_1_2 },
  { multiply_2_1, multiply_2_2 },
  { multiply_3_1, multiply_3_2 },
};
static const TileFunc float_functions[MAX_PAIRS][2] = {
  { floats_1_1, floats_1_2 },
  { floats_2_1, floats_2_2 },
  { floats_3_1, floats_3_2 },
};

static void
run_panel (const SlInt8Gemm *gemm, const SlInt8Panel *panel, Tile tile, gint32 rows)
{
  while (rows > 0) {
    const gint32 height = MIN (rows, 2 * MAX_PAIRS), pairs = (height + 1) / 2;
    tile.last = height % 2 == 0 ? tile.stride : 0;
    multiply_functions[pairs - 1][panel->groups - 1](gemm, panel, &tile);
    tile.a += (gsize) height * tile.stride;
    tile.c += (gsize) height * tile.c_stride;
    rows -= height;
  }
}

void
SL_SIMD (sl_int8_gemm) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                        gsize stride, gint32 rows, guint8 *c, gsize c_stride)
{
  for (gint32 p = first; p < end; p++) {
    const SlInt8Panel *panel = &gemm->panels[p];
    run_panel (gemm, panel,
               (Tile){ .a = a, .stride = stride, .c = c + panel->channel, .c_stride = c_stride },
               rows);
  }
}

void
SL_SIMD (sl_int8_gemm_floats) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                               gsize stride, gint32 n, const SlInt8Row *rows, gfloat *c,
                               gsize c_stride)
{
  for (gint32 p = first; p < end; p++) {
    const SlInt8Panel *panel = &gemm->panels[p];
    Tile tile = {
      .a = a, .stride = stride, .c_stride = c_stride, .rows = rows, .floats = c + panel->channel
    };
    for (gint32 left = n, height; left > 0; left -= height) {
      height = MIN (left, 2 * MAX_PAIRS);
      tile.last = height % 2 == 0 ? stride : 0;
      float_functions[(height + 1) / 2 - 1][panel->groups - 1](gemm, panel, &tile);
      tile.a += (gsize) height * stride;
      tile.rows += height;
      tile.floats += (gsize) height * c_stride;
    }
  }
}
