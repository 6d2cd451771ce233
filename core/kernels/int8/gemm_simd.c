/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tile of a matrix product: activations broadcast four bytes at a time, times the weights of one or two registers of
 * channels. Sums stay in registers; rows are shared out evenly among tiles, since short ones wait for their sums.
 * Results are packed four registers at a time, which costs as much as several steps, so it counts where the depth is
 * small.
 */
#include "core/kernels/int8/simd.h"

/* Bytes of weights ahead: those of a whole model come from the third cache or from memory in every inference. */
#define PREFETCH 2048
#ifdef WIDE
#define ELEMENT 2
#else
#define ELEMENT 1
#endif

/** Where a tile reads and writes. */
typedef struct
{
  const guint8 *a;
  gsize stride;
  guint8 *c;
  gsize c_stride;
} Tile;

static inline __attribute__ ((always_inline)) void
step (Vec *sums, const gint rows, const gint groups, const guint8 *a, gsize stride, const guint8 *weights, Vec flip)
{
  __builtin_prefetch (weights + PREFETCH);
  if (groups * VEC_BYTES > 64)
    __builtin_prefetch (weights + PREFETCH + 64);
  const Vec w0 = load (weights), w1 = groups > 1 ? load (weights + VEC_BYTES) : w0;
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    const Vec codes = flipped (broadcast (a + (gsize) m * stride), flip);
    sums[m * groups] = dot (sums[m * groups], codes, w0);
    if (groups > 1)
      sums[m * groups + 1] = dot (sums[m * groups + 1], codes, w1);
  }
}

static inline __attribute__ ((always_inline)) void
store_four (const SlInt8Panel *panel, const Tile *tile, const gint i, const gint n, const gint groups, Vec codes)
{
  guint8 *const c = tile->c + (gsize) (i / groups) * tile->c_stride;
  if (groups == 2 && panel->channels == 2 * LANES) {
    store_pair (c, 0, codes);
    if (i + 2 < n)
      store_pair (c + tile->c_stride, 1, codes);
    return;
  }
  /* The next sums are of the same row's second group or of the next row. */
  const gsize second = groups > 1 ? LANES : tile->c_stride, third = groups > 1 ? tile->c_stride : 2 * tile->c_stride;
  const gint32 left = groups > 1 ? panel->channels - LANES : panel->channels;
  store_one (c, panel->channels, 0, codes);
  if (i + 1 < n)
    store_one (c + second, left, 1, codes);
  if (i + 2 < n)
    store_one (c + third, panel->channels, 2, codes);
  if (i + 3 < n)
    store_one (c + third + second, left, 3, codes);
}

static inline __attribute__ ((always_inline)) void
finish (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, const Vec *sums, const gint rows, const gint groups)
{
  const gint n = rows * groups;
  const Narrow narrow = narrow_of (&gemm->output);
  const VecF scale0 = load_floats (gemm->scale + panel->channel);
  const VecF scale1 = groups > 1 ? load_floats (gemm->scale + panel->channel + LANES) : scale0;
  SL_UNROLL
  for (gint i = 0; i < n; i += 4) {
    const Vec x[4] = { scaled (sums[i], scale0), scaled (sums[MIN (i + 1, n - 1)], scale1), scaled (sums[MIN (i + 2, n - 1)], scale0),
                       scaled (sums[MIN (i + 3, n - 1)], scale1) };
    store_four (panel, tile, i, n, groups, in_order (to_codes (&narrow, x)));
  }
}

static inline __attribute__ ((always_inline)) void
multiply (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, const gint rows, const gint groups)
{
  Vec sums[2 * MAX_ROWS];
  const Vec flip = set_bytes (gemm->flip);
  const guint8 *weights = panel->weights, *a = tile->a;
  const Vec bias0 = load (gemm->bias + panel->channel), bias1 = groups > 1 ? load (gemm->bias + panel->channel + LANES) : bias0;
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = i % groups == 0 ? bias0 : bias1;
  for (gint32 k = panel->steps; k > 0; k--, a += 4, weights += VEC_BYTES * groups)
    step (sums, rows, groups, a, tile->stride, weights, flip);
  for (gint32 k = 0; k < panel->n_extra; k++, weights += VEC_BYTES * groups)
    step (sums, rows, groups, tile->a + (gssize) panel->extra[k] * ELEMENT, tile->stride, weights, flip);
  finish (gemm, panel, tile, sums, rows, groups);
}

#define DEFINE(rows, groups)                                                                                  \
  static void multiply_##rows##_##groups (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile) \
  {                                                                                                           \
    multiply (gemm, panel, tile, rows, groups);                                                               \
  }
DEFINE (1, 1)
DEFINE (1, 2)
DEFINE (2, 1)
DEFINE (2, 2)
DEFINE (3, 1)
DEFINE (3, 2)
DEFINE (4, 1)
DEFINE (4, 2)
DEFINE (5, 1)
DEFINE (5, 2)
DEFINE (6, 1)
DEFINE (6, 2)
#if MAX_ROWS > 6
DEFINE (7, 1)
DEFINE (7, 2)
DEFINE (8, 1)
DEFINE (8, 2)
DEFINE (9, 1)
DEFINE (9, 2)
DEFINE (10, 1)
DEFINE (10, 2)
DEFINE (11, 1)
DEFINE (11, 2)
DEFINE (12, 1)
DEFINE (12, 2)
DEFINE (13, 1)
DEFINE (13, 2)
#endif

/* By rows less one and groups less one. */
static void (*const multiply_functions[MAX_ROWS][2]) (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile) = {
  { multiply_1_1, multiply_1_2 },   { multiply_2_1, multiply_2_2 },   { multiply_3_1, multiply_3_2 },   { multiply_4_1, multiply_4_2 },
  { multiply_5_1, multiply_5_2 },   { multiply_6_1, multiply_6_2 },
#if MAX_ROWS > 6
  { multiply_7_1, multiply_7_2 },   { multiply_8_1, multiply_8_2 },   { multiply_9_1, multiply_9_2 },   { multiply_10_1, multiply_10_2 },
  { multiply_11_1, multiply_11_2 }, { multiply_12_1, multiply_12_2 }, { multiply_13_1, multiply_13_2 },
#endif
};

void
SL_SIMD (sl_int8_gemm) (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride, gint32 rows, guint8 *c,
                        gsize c_stride)
{
  Tile tile = { a, stride, c, c_stride };
  for (gint32 tiles = (rows + MAX_ROWS - 1) / MAX_ROWS; tiles > 0; tiles--) {
    const gint32 height = (rows + tiles - 1) / tiles;
    guint8 *row = tile.c;
    for (gint32 p = first; p < end; p++) {
      const SlInt8Panel *panel = &gemm->panels[p];
      tile.c = row + panel->channel;
      multiply_functions[height - 1][panel->groups - 1](gemm, panel, &tile);
    }
    tile.a += (gsize) height * stride;
    tile.c = row + (gsize) height * c_stride;
    rows -= height;
  }
}
