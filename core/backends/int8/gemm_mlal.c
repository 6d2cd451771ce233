/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix product for Arm processors without dot products, in place of gemm_simd.c. A register
 * of sums belongs to one row and one channel: sixteen activations times sixteen weights take three
 * instructions, since two products fit 16 bits, and no activation is copied to other lanes. The
 * four sums of a register become one behind the last step. A panel's weights stay in the first
 * cache while all rows pass.
 */
#include "core/backends/int8/simd.h"

#define STEP_BYTES (LANES * VEC_BYTES)
/* Four rows of four channels: sums in 16 registers, and 8 of activations and weights. */
#define MAX_TILE 4
/* Bytes of weights ahead. */
#define PREFETCH 512

/** Where a tile reads and writes; (float results) the @rows that its rows were rounded of, and
 * where floats go, @c_stride of them apart. */
typedef struct
{
  const guint8 *a;
  gsize stride;
  guint8 *c;
  gsize c_stride;
  const SlInt8Row *rows;
  gfloat *floats;
} Tile;

/** What a step begins with: activations of each row, the weights of the first channel, and the
 * products of the last channel of the step before, which no sum has yet. */
typedef struct
{
  Vec values[MAX_TILE], weights;
  int16x8_t products[MAX_TILE];
} Loaded;

/* Instructions in the order in which they are written, which compilers change for the worse. */
static inline __attribute__ ((always_inline)) int16x8_t
low_products (Vec values, Vec weights)
{
  int16x8_t products;
  __asm__ volatile("smull %0.8h, %1.8b, %2.8b" : "=w"(products) : "w"(values), "w"(weights));
  return products;
}

static inline __attribute__ ((always_inline)) int16x8_t
with_high_products (int16x8_t products, Vec values, Vec weights)
{
  __asm__ volatile("smlal2 %0.8h, %1.16b, %2.16b" : "+w"(products) : "w"(values), "w"(weights));
  return products;
}

static inline __attribute__ ((always_inline)) Vec
with_products (Vec sums, int16x8_t products)
{
  __asm__ volatile("sadalp %0.4s, %1.8h" : "+w"(sums) : "w"(products));
  return sums;
}

/* By what is @loaded, which with @more becomes that of the next step. Products are added a channel
 * later, and rows take turns, because each instruction waits for the one before it on processors
 * that keep the order. @a: of the next step; @weights: of this one */
static inline __attribute__ ((always_inline)) void
step (Vec *sums, Loaded *loaded, const gint rows, const guint8 *a, const gsize *offsets,
      const guint8 *weights, const gboolean more)
{
  __builtin_prefetch (weights + PREFETCH);
  SL_UNROLL
  for (gint c = 0; c < LANES; c++) {
    const gint before = (c + LANES - 1) % LANES;
    const gboolean last = c + 1 == LANES;
    const Vec w = loaded->weights;
    int16x8_t products[MAX_TILE];
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      products[m] = low_products (loaded->values[m], w);
    if (more || !last)
      loaded->weights = load_now (weights + (c + 1) * VEC_BYTES);
    SL_UNROLL
    for (gint m = 0; m < rows; m++)
      sums[m * LANES + before] = with_products (sums[m * LANES + before], loaded->products[m]);
    SL_UNROLL
    for (gint m = 0; m < rows; m++) {
      loaded->products[m] = with_high_products (products[m], loaded->values[m], w);
      if (last && more)
        loaded->values[m] = load_at (a, offsets[m]);
    }
  }
}

/* The sums of a row's four channels. */
static inline Vec
gathered (const Vec sums[LANES])
{
  return vpaddq_s32 (vpaddq_s32 (sums[0], sums[1]), vpaddq_s32 (sums[2], sums[3]));
}

static inline __attribute__ ((always_inline)) void
add_products (const SlInt8Panel *panel, const Tile *tile, Vec *sums, const gint rows)
{
  const guint8 *weights = panel->weights, *a = tile->a;
  Loaded loaded;
  gsize offsets[MAX_TILE];
  SL_UNROLL
  for (gint i = 0; i < rows * LANES; i++)
    sums[i] = set_dwords (0);
  if (panel->steps == 0)
    a += panel->extra[0];
  loaded.weights = load (weights);
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    offsets[m] = (gsize) m * tile->stride;
    loaded.values[m] = load (a + offsets[m]);
    loaded.products[m] = vdupq_n_s16 (0);
  }
  for (gint32 k = 1; k < panel->steps; k++, weights += STEP_BYTES) {
    a += VEC_BYTES;
    step (sums, &loaded, rows, a, offsets, weights, TRUE);
  }
  for (gint32 k = panel->steps > 0 ? 0 : 1; k < panel->n_extra; k++, weights += STEP_BYTES)
    step (sums, &loaded, rows, tile->a + panel->extra[k], offsets, weights, TRUE);
  step (sums, &loaded, rows, a, offsets, weights, FALSE);
  SL_UNROLL
  for (gint m = 0; m < rows; m++)
    sums[m * LANES + LANES - 1] = with_products (sums[m * LANES + LANES - 1], loaded.products[m]);
}

static inline __attribute__ ((always_inline)) void
multiply (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, const gint rows)
{
  Vec sums[MAX_TILE * LANES], x[MAX_TILE];
  add_products (panel, tile, sums, rows);
  const Vec bias = load (gemm->bias + panel->channel);
  const VecF scale = load_floats (gemm->scale + panel->channel),
             rest = load_floats (gemm->rest + panel->channel);
  const Narrow narrow = narrow_of (&gemm->output);
  SL_UNROLL
  for (gint m = 0; m < MAX_TILE; m++)
    x[m] = scaled (vaddq_s32 (bias, gathered (sums + MIN (m, rows - 1) * LANES)), scale, rest);
  const Vec values = to_bytes (&narrow, x);
  store_one (tile->c, panel->channels, 0, values);
  if (rows > 1)
    store_one (tile->c + tile->c_stride, panel->channels, 1, values);
  if (rows > 2)
    store_one (tile->c + 2 * tile->c_stride, panel->channels, 2, values);
  if (rows > 3)
    store_one (tile->c + 3 * tile->c_stride, panel->channels, 3, values);
}

static inline __attribute__ ((always_inline)) void
multiply_floats (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile,
                 const gint rows)
{
  Vec sums[MAX_TILE * LANES];
  add_products (panel, tile, sums, rows);
  const Vec bias = load (gemm->bias + panel->channel);
  const FloatFinish finish = float_finish_of (gemm, panel->channel);
  SL_UNROLL
  for (gint m = 0; m < rows; m++)
    finish_floats (&finish, &tile->rows[m], vaddq_s32 (bias, gathered (sums + m * LANES)),
                   panel->channels, tile->floats + (gsize) m * tile->c_stride);
}

#define DEFINE(rows)                                                                               \
  static void multiply_##rows (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile) \
  {                                                                                                \
    multiply (gemm, panel, tile, rows);                                                            \
  }                                                                                                \
  static void floats_##rows (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile)   \
  {                                                                                                \
    multiply_floats (gemm, panel, tile, rows);                                                     \
  }
DEFINE (1)
DEFINE (2)
DEFINE (3)
DEFINE (4)

typedef void (*TileFunc) (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile);

/* By rows less one. */
static const TileFunc multiply_functions[MAX_TILE] = { multiply_1, multiply_2, multiply_3,
                                                       multiply_4 };
static const TileFunc float_functions[MAX_TILE] = { floats_1, floats_2, floats_3, floats_4 };

void
SL_SIMD (sl_int8_gemm) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a,
                        gsize stride, gint32 rows, guint8 *c, gsize c_stride)
{
  for (gint32 p = first; p < end; p++) {
    const SlInt8Panel *panel = &gemm->panels[p];
    Tile tile = { .a = a, .stride = stride, .c = c + panel->channel, .c_stride = c_stride };
    for (gint32 left = rows, height; left > 0; left -= height) {
      height = MIN (left, MAX_TILE);
      multiply_functions[height - 1](gemm, panel, &tile);
      tile.a += (gsize) height * stride;
      tile.c += (gsize) height * c_stride;
    }
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
      height = MIN (left, MAX_TILE);
      float_functions[height - 1](gemm, panel, &tile);
      tile.a += (gsize) height * stride;
      tile.rows += height;
      tile.floats += (gsize) height * c_stride;
    }
  }
}
