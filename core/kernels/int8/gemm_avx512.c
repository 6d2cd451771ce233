/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * AVX-512 VNNI: vpdpbusd multiplies unsigned activations, broadcast four at a time, with signed weights of sixteen
 * channels. Tiles of up to 13 rows and two groups keep 26 sums in registers; rows are shared out evenly, since
 * short tiles wait for their sums. Results are packed four registers at a time, which costs as much as several steps, so it counts where the depth is small.
 */
#include <immintrin.h>
#include <string.h>

#include "core/kernels/int8/avx512.h"

#define MAX_ROWS 13
/* Bytes of weights ahead: those of a whole model come from the third cache or from memory in every inference. */
#define PREFETCH 2048

/** Where a tile reads and writes. */
typedef struct
{
  const guint8 *a;
  gsize stride;
  guint8 *c;
  gsize c_stride;
} Tile;

static inline __attribute__ ((always_inline)) void
step (__m512i *sums, const gint rows, const gint groups, const guint8 *a, gsize stride, const gint8 *weights, __m512i flip)
{
  _mm_prefetch (weights + PREFETCH, _MM_HINT_T0);
  if (groups > 1)
    _mm_prefetch (weights + PREFETCH + 64, _MM_HINT_T0);
  const __m512i w0 = _mm512_load_si512 (weights), w1 = groups > 1 ? _mm512_load_si512 (weights + 64) : w0;
  SL_UNROLL
  for (gint m = 0; m < rows; m++) {
    gint32 four;
    memcpy (&four, a + (gsize) m * stride, sizeof four);
    const __m512i codes = _mm512_xor_si512 (_mm512_set1_epi32 (four), flip);
    sums[m * groups] = _mm512_dpbusd_epi32 (sums[m * groups], codes, w0);
    if (groups > 1)
      sums[m * groups + 1] = _mm512_dpbusd_epi32 (sums[m * groups + 1], codes, w1);
  }
}

/* Sixteen codes of sum @i = row * groups + group, in lane @lane of @codes. */
static inline __attribute__ ((always_inline)) void
store (const Tile *tile, const SlInt8Panel *panel, const gint groups, gint i, __m128i codes)
{
  const gint32 from = 16 * (i % groups), left = panel->channels - from;
  guint8 *c = tile->c + (gsize) (i / groups) * tile->c_stride + from;
  if (left >= 16)
    _mm_storeu_si128 ((__m128i *) c, codes);
  else if (left > 0)
    _mm_mask_storeu_epi8 (c, (__mmask16) ((1u << left) - 1), codes);
}

static inline __attribute__ ((always_inline)) void
finish (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, const __m512i *sums, const gint rows, const gint groups)
{
  const gint n = rows * groups;
  const SlInt8Narrow narrow = sl_int8_narrow (&gemm->output);
  const __m512 scale0 = _mm512_loadu_ps (gemm->scale + panel->channel);
  const __m512 scale1 = groups > 1 ? _mm512_loadu_ps (gemm->scale + panel->channel + 16) : scale0;
  SL_UNROLL
  for (gint i = 0; i < n; i += 4) {
    const __m512i x[4] = { sl_int8_scale (sums[i], scale0), sl_int8_scale (sums[MIN (i + 1, n - 1)], scale1),
                           sl_int8_scale (sums[MIN (i + 2, n - 1)], scale0), sl_int8_scale (sums[MIN (i + 3, n - 1)], scale1) };
    const __m512i codes = sl_int8_in_order (sl_int8_to_codes (&narrow, x));
    if (groups == 2 && panel->channels == 32) {
      _mm256_storeu_si256 ((__m256i *) (tile->c + (gsize) (i / 2) * tile->c_stride), _mm512_castsi512_si256 (codes));
      if (i + 2 < n)
        _mm256_storeu_si256 ((__m256i *) (tile->c + (gsize) (i / 2 + 1) * tile->c_stride), _mm512_extracti64x4_epi64 (codes, 1));
      continue;
    }
    store (tile, panel, groups, i, _mm512_castsi512_si128 (codes));
    if (i + 1 < n)
      store (tile, panel, groups, i + 1, _mm512_extracti32x4_epi32 (codes, 1));
    if (i + 2 < n)
      store (tile, panel, groups, i + 2, _mm512_extracti32x4_epi32 (codes, 2));
    if (i + 3 < n)
      store (tile, panel, groups, i + 3, _mm512_extracti32x4_epi32 (codes, 3));
  }
}

static inline __attribute__ ((always_inline)) void
multiply (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile, const gint rows, const gint groups)
{
  __m512i sums[2 * MAX_ROWS];
  const __m512i flip = _mm512_set1_epi8 ((char) gemm->flip);
  const gint8 *weights = panel->weights;
  const guint8 *a = tile->a;
  const __m512i bias0 = _mm512_loadu_si512 (gemm->bias + panel->channel);
  const __m512i bias1 = groups > 1 ? _mm512_loadu_si512 (gemm->bias + panel->channel + 16) : bias0;
  SL_UNROLL
  for (gint i = 0; i < rows * groups; i++)
    sums[i] = i % groups == 0 ? bias0 : bias1;
  for (gint32 k = panel->steps; k > 0; k--, a += 4, weights += 64 * groups)
    step (sums, rows, groups, a, tile->stride, weights, flip);
  for (gint32 k = 0; k < panel->n_extra; k++, weights += 64 * groups)
    step (sums, rows, groups, tile->a + panel->extra[k], tile->stride, weights, flip);
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

/* By rows less one and groups less one. */
static void (*const multiply_functions[MAX_ROWS][2]) (const SlInt8Gemm *gemm, const SlInt8Panel *panel, const Tile *tile) = {
  { multiply_1_1, multiply_1_2 },   { multiply_2_1, multiply_2_2 },   { multiply_3_1, multiply_3_2 },   { multiply_4_1, multiply_4_2 },
  { multiply_5_1, multiply_5_2 },   { multiply_6_1, multiply_6_2 },   { multiply_7_1, multiply_7_2 },   { multiply_8_1, multiply_8_2 },
  { multiply_9_1, multiply_9_2 },   { multiply_10_1, multiply_10_2 }, { multiply_11_1, multiply_11_2 }, { multiply_12_1, multiply_12_2 },
  { multiply_13_1, multiply_13_2 },
};

void
sl_int8_gemm_avx512 (const SlInt8Gemm *gemm, gint32 first, gint32 end, const void *a, gsize stride, gint32 rows, guint8 *c, gsize c_stride)
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
