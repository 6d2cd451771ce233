/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's row functions for AVX-512 with VBMI and VNNI, as kernels.h defines them and kernels_c.c does them.
 * Ends of rows repeat the last full block, or are left to C where there is none.
 */
#include <immintrin.h>

#include "base/unroll.h"
#include "preprocess/gather.h"
#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

#define ALWAYS_INLINE inline __attribute__ ((always_inline))
#define BYTES 64
#define WORDS 32
#define PIXELS 16
#define ODD_BYTES 0xaaaaaaaaaaaaaaaaULL

/* Where a lane takes its element from: of the pairs and triples of a 16-bit row, of two registers and then a third. */
static const int16_t pair_order[64] __attribute__ ((aligned (64))) = {
  0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62,
  1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63,
};
static const int16_t triple_order[3][WORDS] __attribute__ ((aligned (64))) = {
  { 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63, 66, 69, 72, 75, 78, 81, 84, 87, 90, 93 },
  { 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 40, 43, 46, 49, 52, 55, 58, 61, 64, 67, 70, 73, 76, 79, 82, 85, 88, 91, 94 },
  { 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47, 50, 53, 56, 59, 62, 65, 68, 71, 74, 77, 80, 83, 86, 89, 92, 95 },
};
/* Element i of an interleaved row is channel i % 3 of pixel i / 3. */
static const uint8_t byte_order[64] __attribute__ ((aligned (64))) = {
  0,  1,  2,  4,  5,  6,  8,  9,  10, 12, 13, 14, 16, 17, 18, 20, 21, 22, 24, 25, 26, 28, 29, 30, 32, 33, 34, 36, 37, 38, 40, 41,
  42, 44, 45, 46, 48, 49, 50, 52, 53, 54, 56, 57, 58, 60, 61, 62, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
};
static const int16_t half_order[64] __attribute__ ((aligned (64))) = {
  0,  16, 32, 1,  17, 33, 2,  18, 34, 3,  19, 35, 4,  20, 36, 5,  21, 37, 6, 22, 38, 7, 23, 39, 8, 24, 40, 9, 25, 41, 10, 26,
  42, 11, 27, 43, 12, 28, 44, 13, 29, 45, 14, 30, 46, 15, 31, 47, 0,  0,  0, 0,  0,  0, 0,  0,  0, 0,  0,  0, 0,  0,  0,  0,
};
static const int32_t float_order[3][PIXELS] __attribute__ ((aligned (64))) = {
  { 0, 16, 0, 1, 17, 1, 2, 18, 2, 3, 19, 3, 4, 20, 4, 5 },
  { 21, 5, 6, 22, 6, 7, 23, 7, 8, 24, 8, 9, 25, 9, 10, 26 },
  { 10, 11, 27, 11, 12, 28, 12, 13, 29, 13, 14, 30, 14, 15, 31, 15 },
};
static const uint16_t float_thirds[3] = { 0x4924, 0x2492, 0x9249 };

/* 64 sums of 16 bits, in two registers whatever their order. */
typedef struct
{
  __m512i a, b;
} Sums;

/* A band's weights where the compiler can keep them. */
typedef struct
{
  __m512i first, last, between;
  __m512i unit, rest; /* 1 << shift for the bytes of a pair of rows, and of the last pair, whose second row may not count */
  __m128i raise;      /* the shift of a sum */
} Weights;

static ALWAYS_INLINE Weights
load_weights (const SlBand *band)
{
  const int unit = 1 << (band->shift & 7);
  return (Weights){
    .first = _mm512_set1_epi16 ((int16_t) band->weight[0]),
    .last = _mm512_set1_epi16 ((int16_t) band->weight[1]),
    .between = _mm512_set1_epi16 ((int16_t) band->weight[2]),
    .unit = _mm512_set1_epi8 ((char) unit),
    .rest = band->count % 2 == 0 ? _mm512_set1_epi8 ((char) unit) : _mm512_set1_epi16 ((int16_t) unit),
    .raise = _mm_cvtsi32_si128 (band->shift),
  };
}

static ALWAYS_INLINE Sums
weigh (Sums sums, __m512i weight)
{
  return (Sums){ _mm512_mulhi_epu16 (sums.a, weight), _mm512_mulhi_epu16 (sums.b, weight) };
}

static ALWAYS_INLINE Sums
add (Sums x, Sums y)
{
  return (Sums){ _mm512_add_epi16 (x.a, y.a), _mm512_add_epi16 (x.b, y.b) };
}

/* Bytes times 256: lanes' lower and upper halves. */
static ALWAYS_INLINE Sums
widen (const uint8_t *row)
{
  const __m512i bytes = _mm512_loadu_si512 (row);
  const __m512i zero = _mm512_setzero_si512 ();
  return (Sums){ _mm512_unpacklo_epi8 (zero, bytes), _mm512_unpackhi_epi8 (zero, bytes) };
}

static ALWAYS_INLINE Sums
add_pair (Sums sums, const uint8_t *row, ptrdiff_t stride, __m512i unit)
{
  const __m512i x = _mm512_loadu_si512 (row);
  const __m512i y = _mm512_loadu_si512 (row + stride);
  sums.a = _mm512_add_epi16 (sums.a, _mm512_maddubs_epi16 (_mm512_unpacklo_epi8 (x, y), unit));
  sums.b = _mm512_add_epi16 (sums.b, _mm512_maddubs_epi16 (_mm512_unpackhi_epi8 (x, y), unit));
  return sums;
}

static ALWAYS_INLINE void
keep (void *to, __m512i value)
{
  _mm512_storeu_si512 (to, value);
}

static ALWAYS_INLINE Sums
no_sums (void)
{
  return (Sums){ _mm512_setzero_si512 (), _mm512_setzero_si512 () };
}

/* @sums of widened bytes, in their order. */
static ALWAYS_INLINE void
keep_sums (int16_t *dst, Sums sums)
{
  const __m512i low = _mm512_setr_epi64 (0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i high = _mm512_setr_epi64 (4, 5, 12, 13, 6, 7, 14, 15);
  keep (dst, _mm512_permutex2var_epi64 (sums.a, low, sums.b));
  keep (dst + WORDS, _mm512_permutex2var_epi64 (sums.a, high, sums.b));
}

/* Bytes times 256: those at even and at odd places. */
static ALWAYS_INLINE Sums
widen_pairs (const uint8_t *row)
{
  const __m512i bytes = _mm512_loadu_si512 (row);
  return (Sums){ _mm512_slli_epi16 (bytes, 8), _mm512_and_si512 (bytes, _mm512_set1_epi16 ((int16_t) 0xff00)) };
}

/* The bytes at even places of two rows in turn, then those at odd places. */
static ALWAYS_INLINE Sums
add_split_pair (Sums sums, const uint8_t *row, ptrdiff_t stride, __m512i unit)
{
  const __m512i x = _mm512_loadu_si512 (row);
  const __m512i y = _mm512_loadu_si512 (row + stride);
  const __m512i even = _mm512_mask_blend_epi8 (ODD_BYTES, x, _mm512_slli_epi16 (y, 8));
  const __m512i odd = _mm512_mask_blend_epi8 (ODD_BYTES, _mm512_srli_epi16 (x, 8), y);
  sums.a = _mm512_add_epi16 (sums.a, _mm512_maddubs_epi16 (even, unit));
  sums.b = _mm512_add_epi16 (sums.b, _mm512_maddubs_epi16 (odd, unit));
  return sums;
}

static ALWAYS_INLINE __m512i
load_words (const uint8_t *row, __m128i left)
{
  return _mm512_and_si512 (_mm512_sll_epi16 (_mm512_loadu_si512 (row), left), _mm512_set1_epi16 ((int16_t) 0xffc0));
}

static ALWAYS_INLINE void
word_block (int16_t *dst, const SlBand *band, const Weights *weights, __m128i left, ptrdiff_t x)
{
  const uint8_t *row = band->between + 2 * x;
  __m512i value = _mm512_mulhi_epu16 (load_words (band->first + 2 * x, left), weights->first);
  __m512i sum = _mm512_setzero_si512 ();
  if (band->weight[1] != 0 || band->count > 0)
    value = _mm512_add_epi16 (value, _mm512_mulhi_epu16 (load_words (band->last + 2 * x, left), weights->last));
  for (int i = 0; i < band->count; i++, row += band->stride)
    sum = _mm512_add_epi16 (sum, _mm512_srli_epi16 (load_words (row, left), 6));
  sum = _mm512_mulhi_epu16 (_mm512_sll_epi16 (sum, weights->raise), weights->between);
  keep (dst + x, _mm512_add_epi16 (value, sum));
}

#include "preprocess/blend_simd.h"

static void
split_pairs_avx512 (int16_t *even, int16_t *odd, const int16_t *src, int n)
{
  const __m512i pick_even = _mm512_load_si512 (pair_order);
  const __m512i pick_odd = _mm512_load_si512 (pair_order + WORDS);
  int x = 0;
  for (; x + WORDS <= n; x += WORDS) {
    const __m512i a = _mm512_loadu_si512 (src + 2 * x);
    const __m512i b = _mm512_loadu_si512 (src + 2 * x + WORDS);
    _mm512_storeu_si512 (even + x, _mm512_permutex2var_epi16 (a, pick_even, b));
    _mm512_storeu_si512 (odd + x, _mm512_permutex2var_epi16 (a, pick_odd, b));
  }
  sl_kernels_c.split_pairs (even + x, odd + x, src + 2 * x, n - x);
}

/* Every third of 96 samples: from the first 64, then from the last 32 where the index is beyond. */
static ALWAYS_INLINE __m512i
pick_third (__m512i a, __m512i b, __m512i c, int first)
{
  const __m512i index = _mm512_load_si512 (triple_order[first]);
  const __mmask32 beyond = _mm512_cmpge_epi16_mask (index, _mm512_set1_epi16 (2 * WORDS));
  return _mm512_mask_permutexvar_epi16 (_mm512_permutex2var_epi16 (a, index, b), beyond, index, c);
}

static void
split_triples_avx512 (int16_t *const dst[3], const int16_t *src, int n)
{
  int x = 0;
  for (; x + WORDS <= n; x += WORDS) {
    const __m512i a = _mm512_loadu_si512 (src + 3 * x);
    const __m512i b = _mm512_loadu_si512 (src + 3 * x + WORDS);
    const __m512i c = _mm512_loadu_si512 (src + 3 * x + 2 * WORDS);
    _mm512_storeu_si512 (dst[0] + x, pick_third (a, b, c, 0));
    _mm512_storeu_si512 (dst[1] + x, pick_third (a, b, c, 1));
    _mm512_storeu_si512 (dst[2] + x, pick_third (a, b, c, 2));
  }
  sl_kernels_c.split_triples ((int16_t *const[3]){ dst[0] + x, dst[1] + x, dst[2] + x }, src + 3 * x, n - x);
}

/* Lanes 4k to 4k + 3 of register i added up: lane 4i + k. */
static ALWAYS_INLINE __m512i
add_fours (const __m512i in[4])
{
  const __m512i order = _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i ab = _mm512_add_epi32 (_mm512_unpacklo_epi32 (in[0], in[1]), _mm512_unpackhi_epi32 (in[0], in[1]));
  const __m512i cd = _mm512_add_epi32 (_mm512_unpacklo_epi32 (in[2], in[3]), _mm512_unpackhi_epi32 (in[2], in[3]));
  const __m512i sum = _mm512_add_epi32 (_mm512_unpacklo_epi64 (ab, cd), _mm512_unpackhi_epi64 (ab, cd));
  return _mm512_permutexvar_epi32 (order, sum);
}

/* Neighbouring lanes added up. */
static ALWAYS_INLINE __m512i
add_twos (__m512i a, __m512i b)
{
  const __m512i even = _mm512_setr_epi32 (0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32 (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return _mm512_add_epi32 (_mm512_permutex2var_epi32 (a, even, b), _mm512_permutex2var_epi32 (a, odd, b));
}

/* One group of a gather, of each row: @steps may be a constant. */
static ALWAYS_INLINE void
gather_group (__m512i sum[3], const int16_t *const row[3], const SlGather *gather, int group, int steps, int rows)
{
  const SlGatherStep *step = gather->step + (ptrdiff_t) group * gather->steps;
  const int32_t base = gather->base[group];
  __m512i low[3], high[3];
  SL_UNROLL
  for (int r = 0; r < rows; r++) {
    low[r] = _mm512_loadu_si512 (row[r] + base);
    high[r] = _mm512_loadu_si512 (row[r] + base + WORDS);
    sum[r] = _mm512_setzero_si512 ();
  }
  for (int i = 0; i < steps; i++) {
    const __m512i index = _mm512_load_si512 (step[i].index);
    const __m512i weight = _mm512_load_si512 (step[i].weight);
    SL_UNROLL
    for (int r = 0; r < rows; r++)
      sum[r] = _mm512_dpwssd_epi32 (sum[r], _mm512_permutex2var_epi16 (low[r], index, high[r]), weight);
  }
}

static ALWAYS_INLINE void
gather_columns (int32_t *const dst[3], const int16_t *const row[3], const SlGather *gather, SlPrefetch *prefetch, int lanes, int steps,
                int rows)
{
  SlPrefetch lines = *prefetch;
  for (int group = 0; group < gather->groups; group += lanes) {
    const ptrdiff_t x = group / lanes * PIXELS;
    __m512i a[3], b[3];
    sl_prefetch_step (&lines);
    gather_group (a, row, gather, group, steps, rows);
    if (lanes == 2)
      gather_group (b, row, gather, group + 1, steps, rows);
    SL_UNROLL
    for (int r = 0; r < rows; r++)
      _mm512_storeu_si512 (dst[r] + x, lanes == 2 ? add_twos (a[r], b[r]) : a[r]);
  }
  *prefetch = lines;
}

static ALWAYS_INLINE void
gather_rows (int32_t *const dst[3], const int16_t *const row[3], const SlGather *gather, SlPrefetch *prefetch, int rows)
{
  if (gather->lanes == 1 && gather->steps == 2)
    gather_columns (dst, row, gather, prefetch, 1, 2, rows);
  else if (gather->lanes == 1)
    gather_columns (dst, row, gather, prefetch, 1, gather->steps, rows);
  else if (gather->steps == 2)
    gather_columns (dst, row, gather, prefetch, 2, 2, rows);
  else
    gather_columns (dst, row, gather, prefetch, 2, gather->steps, rows);
}

static ALWAYS_INLINE __m128i
load_eight (const int16_t *from)
{
  return _mm_loadu_si128 ((const __m128i *) from);
}

/* Four samples from each of four starts. */
static ALWAYS_INLINE __m256i
load_fours (const int16_t *row, const int32_t *start)
{
  const __m128i a = _mm_loadl_epi64 ((const __m128i *) (row + start[0]));
  const __m128i b = _mm_loadl_epi64 ((const __m128i *) (row + start[2]));
  const __m128i ab = _mm_unpacklo_epi64 (a, _mm_loadl_epi64 ((const __m128i *) (row + start[1])));
  const __m128i cd = _mm_unpacklo_epi64 (b, _mm_loadl_epi64 ((const __m128i *) (row + start[3])));
  return _mm256_inserti128_si256 (_mm256_castsi128_si256 (ab), cd, 1);
}

/* Up to four taps: eight columns a register. */
static ALWAYS_INLINE __m512i
reduce_fours (const int16_t *row, const SlAxis *columns, int i)
{
  const __m512i zero = _mm512_setzero_si512 ();
  __m512i sum[2];
  SL_UNROLL
  for (int k = 0; k < 2; k++) {
    const int32_t *start = columns->start + i + 8 * k;
    const __m512i low = _mm512_castsi256_si512 (load_fours (row, start));
    const __m512i samples = _mm512_inserti64x4 (low, load_fours (row, start + 4), 1);
    sum[k] = _mm512_dpwssd_epi32 (zero, samples, _mm512_loadu_si512 (columns->weight + (i + 8 * k) * 4));
  }
  return add_twos (sum[0], sum[1]);
}

/* Up to eight taps: four columns a register. */
static ALWAYS_INLINE __m512i
reduce_eights (const int16_t *row, const SlAxis *columns, int i)
{
  const __m512i zero = _mm512_setzero_si512 ();
  __m512i sum[4];
  SL_UNROLL
  for (int k = 0; k < 4; k++) {
    const int32_t *start = columns->start + i + 4 * k;
    __m512i samples = _mm512_castsi128_si512 (load_eight (row + start[0]));
    samples = _mm512_inserti32x4 (samples, load_eight (row + start[1]), 1);
    samples = _mm512_inserti32x4 (samples, load_eight (row + start[2]), 2);
    samples = _mm512_inserti32x4 (samples, load_eight (row + start[3]), 3);
    sum[k] = _mm512_dpwssd_epi32 (zero, samples, _mm512_loadu_si512 (columns->weight + (i + 4 * k) * 8));
  }
  return add_fours (sum);
}

static ALWAYS_INLINE __m512i
load_two (const int16_t *low, const int16_t *high)
{
  return _mm512_inserti64x4 (_mm512_castsi256_si512 (_mm256_loadu_si256 ((const __m256i *) low)),
                             _mm256_loadu_si256 ((const __m256i *) high), 1);
}

/* Four columns of sixteen taps: the sums of each in the four lanes of a quarter. */
static ALWAYS_INLINE __m512i
multiply_sixteens (const int16_t *row, const int32_t *start, const int16_t *weight, int stride)
{
  __m512i a = _mm512_setzero_si512 ();
  __m512i b = _mm512_setzero_si512 ();
  for (int t = 0; t < stride; t += 16) {
    const int16_t *at = weight + t;
    const __m512i first = stride == 16 ? _mm512_loadu_si512 (at) : load_two (at, at + stride);
    const __m512i second = stride == 16 ? _mm512_loadu_si512 (at + 32) : load_two (at + 2 * stride, at + 3 * stride);
    a = _mm512_dpwssd_epi32 (a, load_two (row + start[0] + t, row + start[1] + t), first);
    b = _mm512_dpwssd_epi32 (b, load_two (row + start[2] + t, row + start[3] + t), second);
  }
  return _mm512_add_epi32 (_mm512_shuffle_i32x4 (a, b, _MM_SHUFFLE (2, 0, 2, 0)), _mm512_shuffle_i32x4 (a, b, _MM_SHUFFLE (3, 1, 3, 1)));
}

/* Multiples of sixteen taps: two columns a register; the weights serve all rows. */
static ALWAYS_INLINE void
reduce_sixteens (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns, SlPrefetch *prefetch, int stride, int rows)
{
  SlPrefetch lines = *prefetch;
  for (int i = 0; i < columns->count; i += PIXELS) {
    const int32_t *start = columns->start + i;
    const int16_t *weight = columns->weight + (ptrdiff_t) i * stride;
    __m512i sum[3][4];
    sl_prefetch_step (&lines);
    SL_UNROLL
    for (int k = 0; k < 4; k++) {
      SL_UNROLL
      for (int r = 0; r < rows; r++)
        sum[r][k] = multiply_sixteens (row[r], start + 4 * k, weight + 4 * k * stride, stride);
    }
    SL_UNROLL
    for (int r = 0; r < rows; r++)
      _mm512_storeu_si512 (dst[r] + i, add_fours (sum[r]));
  }
  *prefetch = lines;
}

static ALWAYS_INLINE void
reduce_few (int32_t *dst, const int16_t *row, const SlAxis *columns, SlPrefetch *prefetch, int stride)
{
  SlPrefetch lines = *prefetch;
  for (int i = 0; i < columns->count; i += PIXELS) {
    sl_prefetch_step (&lines);
    _mm512_storeu_si512 (dst + i, stride == 4 ? reduce_fours (row, columns, i) : reduce_eights (row, columns, i));
  }
  *prefetch = lines;
}

/* Columns too far apart for a gather. */
static void
reduce_far (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns, int rows, SlPrefetch *prefetch)
{
  const int stride = columns->stride;
  if (stride == 16 && rows == 3) {
    reduce_sixteens (dst, row, columns, prefetch, 16, 3);
    return;
  }
  for (int r = 0; r < rows; r++) {
    if (stride == 4)
      reduce_few (dst[r], row[r], columns, prefetch, 4);
    else if (stride == 8)
      reduce_few (dst[r], row[r], columns, prefetch, 8);
    else if (stride == 16)
      reduce_sixteens (dst + r, row + r, columns, prefetch, 16, 1);
    else
      reduce_sixteens (dst + r, row + r, columns, prefetch, stride, 1);
  }
}

static void
reduce_avx512 (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns, int rows, SlPrefetch *prefetch)
{
  if (columns->gather == NULL)
    reduce_far (dst, row, columns, rows, prefetch);
  else if (rows == 1)
    gather_rows (dst, row, columns->gather, prefetch, 1);
  else if (rows == 2)
    gather_rows (dst, row, columns->gather, prefetch, 2);
  else
    gather_rows (dst, row, columns->gather, prefetch, 3);
}

typedef __m512 Pixels;

typedef struct
{
  Pixels m[3], constant, low, high;
} Mix;

static ALWAYS_INLINE Mix
load_mix (const SlMix *mix)
{
  return (Mix){
    .m = { _mm512_set1_ps (mix->m[0]), _mm512_set1_ps (mix->m[1]), _mm512_set1_ps (mix->m[2]) },
    .constant = _mm512_set1_ps (mix->constant),
    .low = _mm512_set1_ps (mix->low),
    .high = _mm512_set1_ps (mix->high),
  };
}

static ALWAYS_INLINE Pixels
load_pixels (const int32_t *src)
{
  return _mm512_cvtepi32_ps (_mm512_loadu_si512 (src));
}

static ALWAYS_INLINE Pixels
apply (const Mix *mix, const Pixels in[3])
{
  const __m512 ab = _mm512_add_ps (_mm512_mul_ps (in[0], mix->m[0]), _mm512_mul_ps (in[1], mix->m[1]));
  const __m512 sum = _mm512_add_ps (_mm512_add_ps (ab, _mm512_mul_ps (in[2], mix->m[2])), mix->constant);
  return _mm512_min_ps (_mm512_max_ps (sum, mix->low), mix->high);
}

/* Bytes as @type has them. */
static ALWAYS_INLINE __m512i
flip (__m512i bytes, SlOutType type)
{
  return type == SL_OUT_I8 ? _mm512_xor_si512 (bytes, _mm512_set1_epi8 ((char) 0x80)) : bytes;
}

static ALWAYS_INLINE void
interleave_bytes (uint8_t *dst, SlOutType type, const Pixels value[3])
{
  const __m512i low = _mm512_set1_epi32 (0xff);
  const __m512i a = _mm512_and_si512 (_mm512_cvtps_epi32 (value[0]), low);
  const __m512i b = _mm512_slli_epi32 (_mm512_and_si512 (_mm512_cvtps_epi32 (value[1]), low), 8);
  const __m512i c = _mm512_slli_epi32 (_mm512_cvtps_epi32 (value[2]), 16);
  const __m512i abc = flip (_mm512_or_si512 (_mm512_or_si512 (a, b), c), type);
  const __m512i packed = _mm512_permutexvar_epi8 (_mm512_load_si512 (byte_order), abc);
  _mm256_storeu_si256 ((__m256i *) dst, _mm512_castsi512_si256 (packed));
  _mm_storeu_si128 ((__m128i *) (dst + 32), _mm512_extracti32x4_epi32 (packed, 2));
}

static ALWAYS_INLINE void
interleave_halves (uint16_t *dst, const Pixels value[3])
{
  const __m512i a = _mm512_castsi256_si512 (_mm512_cvtps_ph (value[0], _MM_FROUND_TO_NEAREST_INT));
  const __m512i ab = _mm512_inserti64x4 (a, _mm512_cvtps_ph (value[1], _MM_FROUND_TO_NEAREST_INT), 1);
  const __m512i c = _mm512_castsi256_si512 (_mm512_cvtps_ph (value[2], _MM_FROUND_TO_NEAREST_INT));
  const __m512i rest = _mm512_permutex2var_epi16 (ab, _mm512_load_si512 (half_order + WORDS), c);
  _mm512_storeu_si512 (dst, _mm512_permutex2var_epi16 (ab, _mm512_load_si512 (half_order), c));
  _mm256_storeu_si256 ((__m256i *) (dst + WORDS), _mm512_castsi512_si256 (rest));
}

static ALWAYS_INLINE void
interleave_floats (float *dst, const Pixels value[3])
{
  SL_UNROLL
  for (int q = 0; q < 3; q++) {
    const __m512i order = _mm512_load_si512 (float_order[q]);
    const __m512 ab = _mm512_permutex2var_ps (value[0], order, value[1]);
    _mm512_storeu_ps (dst + q * PIXELS, _mm512_mask_permutexvar_ps (ab, float_thirds[q], order, value[2]));
  }
}

static ALWAYS_INLINE void
put (void *dst, SlOutType type, ptrdiff_t x, Pixels value)
{
  if (type == SL_OUT_F32)
    _mm512_storeu_ps ((float *) dst + x, value);
  else if (type == SL_OUT_F16)
    _mm256_storeu_si256 ((__m256i *) ((uint16_t *) dst + x), _mm512_cvtps_ph (value, _MM_FROUND_TO_NEAREST_INT));
  else
    _mm_storeu_si128 ((__m128i *) ((uint8_t *) dst + x), _mm512_cvtepi32_epi8 (flip (_mm512_cvtps_epi32 (value), type)));
}

static ALWAYS_INLINE void
interleave (void *dst, SlOutType type, ptrdiff_t x, const Pixels value[3])
{
  if (type == SL_OUT_F32)
    interleave_floats ((float *) dst + 3 * x, value);
  else if (type == SL_OUT_F16)
    interleave_halves ((uint16_t *) dst + 3 * x, value);
  else
    interleave_bytes ((uint8_t *) dst + 3 * x, type, value);
}

#include "preprocess/store_simd.h"

const SlKernels sl_kernels_avx512 = {
  .name = "avx512",
  .gathers = true,
  .blend = blend,
  .blend_pairs = blend_pairs,
  .blend_words = blend_words,
  .split_pairs = split_pairs_avx512,
  .split_triples = split_triples_avx512,
  .reduce = reduce_avx512,
  .store = SL_STORE_TABLE,
};
