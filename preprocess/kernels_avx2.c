/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's row functions for AVX2 with F16C, as kernels.h defines them and kernels_c.c does them. Ends of rows
 * repeat the last full block, or are left to C where there is none.
 */
#include <immintrin.h>
#include <string.h>

#include "base/unroll.h"
#include "preprocess/kernels.h"
#include "preprocess/normalize.h"

#define ALWAYS_INLINE inline __attribute__ ((always_inline))
#define BYTES 32
#define WORDS 16
#define PIXELS 8

/* Bytes of 24 16-bit elements in three registers: what register [part] has of every third element from [first] on. */
static const int8_t third_order[3][3][16] = {
  {
    { 0, 1, 6, 7, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, 2, 3, 8, 9, 14, 15, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 4, 5, 10, 11 },
  },
  {
    { 2, 3, 8, 9, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, 4, 5, 10, 11, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 6, 7, 12, 13 },
  },
  {
    { 4, 5, 10, 11, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, 0, 1, 6, 7, 12, 13, -1, -1, -1, -1, -1, -1 },
    { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 3, 8, 9, 14, 15 },
  },
};
/* What part [q] of 24 interleaved 16-bit elements takes from the register of channel [c]. */
static const int8_t half_order[3][3][16] = {
  {
    { 0, 1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1, 4, 5, -1, -1 },
    { -1, -1, 0, 1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1, 4, 5 },
    { -1, -1, -1, -1, 0, 1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1 },
  },
  {
    { -1, -1, 6, 7, -1, -1, -1, -1, 8, 9, -1, -1, -1, -1, 10, 11 },
    { -1, -1, -1, -1, 6, 7, -1, -1, -1, -1, 8, 9, -1, -1, -1, -1 },
    { 4, 5, -1, -1, -1, -1, 6, 7, -1, -1, -1, -1, 8, 9, -1, -1 },
  },
  {
    { -1, -1, -1, -1, 12, 13, -1, -1, -1, -1, 14, 15, -1, -1, -1, -1 },
    { 10, 11, -1, -1, -1, -1, 12, 13, -1, -1, -1, -1, 14, 15, -1, -1 },
    { -1, -1, 10, 11, -1, -1, -1, -1, 12, 13, -1, -1, -1, -1, 14, 15 },
  },
};

/* 32 sums of 16 bits, in two registers whatever their order. */
typedef struct
{
  __m256i a, b;
} Sums;

/* A band's weights where the compiler can keep them. */
typedef struct
{
  __m256i first, last, between;
  __m256i unit, rest; /* 1 << shift for the bytes of a pair of rows, and of the last pair, whose second row may not count */
  __m128i raise;      /* the shift of a sum */
} Weights;

static ALWAYS_INLINE __m256i
load (const void *from)
{
  return _mm256_loadu_si256 ((const __m256i *) from);
}

static ALWAYS_INLINE void
keep (void *to, __m256i value)
{
  _mm256_storeu_si256 ((__m256i *) to, value);
}

static ALWAYS_INLINE Weights
load_weights (const SlBand *band)
{
  const int unit = 1 << (band->shift & 7);
  return (Weights){
    .first = _mm256_set1_epi16 ((int16_t) band->weight[0]),
    .last = _mm256_set1_epi16 ((int16_t) band->weight[1]),
    .between = _mm256_set1_epi16 ((int16_t) band->weight[2]),
    .unit = _mm256_set1_epi8 ((char) unit),
    .rest = band->count % 2 == 0 ? _mm256_set1_epi8 ((char) unit) : _mm256_set1_epi16 ((int16_t) unit),
    .raise = _mm_cvtsi32_si128 (band->shift),
  };
}

static ALWAYS_INLINE Sums
weigh (Sums sums, __m256i weight)
{
  return (Sums){ _mm256_mulhi_epu16 (sums.a, weight), _mm256_mulhi_epu16 (sums.b, weight) };
}

static ALWAYS_INLINE Sums
add (Sums x, Sums y)
{
  return (Sums){ _mm256_add_epi16 (x.a, y.a), _mm256_add_epi16 (x.b, y.b) };
}

/* Bytes times 256: lanes' lower and upper halves. */
static ALWAYS_INLINE Sums
widen (const uint8_t *row)
{
  const __m256i bytes = load (row);
  const __m256i zero = _mm256_setzero_si256 ();
  return (Sums){ _mm256_unpacklo_epi8 (zero, bytes), _mm256_unpackhi_epi8 (zero, bytes) };
}

static ALWAYS_INLINE Sums
add_pair (Sums sums, const uint8_t *row, ptrdiff_t stride, __m256i unit)
{
  const __m256i x = load (row);
  const __m256i y = load (row + stride);
  sums.a = _mm256_add_epi16 (sums.a, _mm256_maddubs_epi16 (_mm256_unpacklo_epi8 (x, y), unit));
  sums.b = _mm256_add_epi16 (sums.b, _mm256_maddubs_epi16 (_mm256_unpackhi_epi8 (x, y), unit));
  return sums;
}

static ALWAYS_INLINE Sums
no_sums (void)
{
  return (Sums){ _mm256_setzero_si256 (), _mm256_setzero_si256 () };
}

/* @sums of widened bytes, in their order. */
static ALWAYS_INLINE void
keep_sums (int16_t *dst, Sums sums)
{
  keep (dst, _mm256_permute2x128_si256 (sums.a, sums.b, 0x20));
  keep (dst + WORDS, _mm256_permute2x128_si256 (sums.a, sums.b, 0x31));
}

/* Bytes times 256: those at even and at odd places. */
static ALWAYS_INLINE Sums
widen_pairs (const uint8_t *row)
{
  const __m256i bytes = load (row);
  return (Sums){ _mm256_slli_epi16 (bytes, 8), _mm256_and_si256 (bytes, _mm256_set1_epi16 ((int16_t) 0xff00)) };
}

/* The bytes at even places of two rows in turn, then those at odd places. */
static ALWAYS_INLINE Sums
add_split_pair (Sums sums, const uint8_t *row, ptrdiff_t stride, __m256i unit)
{
  const __m256i x = load (row);
  const __m256i y = load (row + stride);
  const __m256i low = _mm256_set1_epi16 (0xff);
  const __m256i even = _mm256_blendv_epi8 (_mm256_slli_epi16 (y, 8), x, low);
  const __m256i odd = _mm256_blendv_epi8 (y, _mm256_srli_epi16 (x, 8), low);
  sums.a = _mm256_add_epi16 (sums.a, _mm256_maddubs_epi16 (even, unit));
  sums.b = _mm256_add_epi16 (sums.b, _mm256_maddubs_epi16 (odd, unit));
  return sums;
}

static ALWAYS_INLINE __m256i
load_words (const uint8_t *row, __m128i left)
{
  return _mm256_and_si256 (_mm256_sll_epi16 (load (row), left), _mm256_set1_epi16 ((int16_t) 0xffc0));
}

static ALWAYS_INLINE void
word_block (int16_t *dst, const SlBand *band, const Weights *weights, __m128i left, ptrdiff_t x)
{
  const uint8_t *row = band->between + 2 * x;
  __m256i value = _mm256_mulhi_epu16 (load_words (band->first + 2 * x, left), weights->first);
  __m256i sum = _mm256_setzero_si256 ();
  if (band->weight[1] != 0 || band->count > 0)
    value = _mm256_add_epi16 (value, _mm256_mulhi_epu16 (load_words (band->last + 2 * x, left), weights->last));
  for (int i = 0; i < band->count; i++, row += band->stride)
    sum = _mm256_add_epi16 (sum, _mm256_srli_epi16 (load_words (row, left), 6));
  sum = _mm256_mulhi_epu16 (_mm256_sll_epi16 (sum, weights->raise), weights->between);
  keep (dst + x, _mm256_add_epi16 (value, sum));
}

#include "preprocess/blend_simd.h"

static void
split_pairs_avx2 (int16_t *even, int16_t *odd, const int16_t *src, int n)
{
  const __m256i halves = _mm256_broadcastsi128_si256 (_mm_setr_epi8 (0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  int x = 0;
  for (; x + WORDS <= n; x += WORDS) {
    const __m256i a = _mm256_shuffle_epi8 (load (src + 2 * x), halves);
    const __m256i b = _mm256_shuffle_epi8 (load (src + 2 * x + WORDS), halves);
    keep (even + x, _mm256_permute4x64_epi64 (_mm256_unpacklo_epi64 (a, b), _MM_SHUFFLE (3, 1, 2, 0)));
    keep (odd + x, _mm256_permute4x64_epi64 (_mm256_unpackhi_epi64 (a, b), _MM_SHUFFLE (3, 1, 2, 0)));
  }
  sl_kernels_c.split_pairs (even + x, odd + x, src + 2 * x, n - x);
}

static ALWAYS_INLINE __m128i
load_order (const int8_t order[16])
{
  return _mm_loadu_si128 ((const __m128i *) order);
}

static ALWAYS_INLINE __m256i
pick_third (const __m256i in[3], int first)
{
  __m256i out = _mm256_setzero_si256 ();
  SL_UNROLL
  for (int part = 0; part < 3; part++)
    out = _mm256_or_si256 (out, _mm256_shuffle_epi8 (in[part], _mm256_broadcastsi128_si256 (load_order (third_order[first][part]))));
  return out;
}

/* Each lane does eight groups. */
static void
split_triples_avx2 (int16_t *const dst[3], const int16_t *src, int n)
{
  int x = 0;
  for (; x + WORDS <= n; x += WORDS) {
    const int16_t *from = src + 3 * x;
    __m256i in[3];
    SL_UNROLL
    for (int i = 0; i < 3; i++) {
      const __m128i low = _mm_loadu_si128 ((const __m128i *) (from + 8 * i));
      in[i] = _mm256_inserti128_si256 (_mm256_castsi128_si256 (low), _mm_loadu_si128 ((const __m128i *) (from + 24 + 8 * i)), 1);
    }
    SL_UNROLL
    for (int c = 0; c < 3; c++)
      keep (dst[c] + x, pick_third (in, c));
  }
  sl_kernels_c.split_triples ((int16_t *const[3]){ dst[0] + x, dst[1] + x, dst[2] + x }, src + 3 * x, n - x);
}

/* Sums of the four 32-bit lanes of each half: lane i of a half from in[i]. */
static ALWAYS_INLINE __m256i
add_fours (const __m256i in[4])
{
  const __m256i ab = _mm256_add_epi32 (_mm256_unpacklo_epi32 (in[0], in[1]), _mm256_unpackhi_epi32 (in[0], in[1]));
  const __m256i cd = _mm256_add_epi32 (_mm256_unpacklo_epi32 (in[2], in[3]), _mm256_unpackhi_epi32 (in[2], in[3]));
  return _mm256_add_epi32 (_mm256_unpacklo_epi64 (ab, cd), _mm256_unpackhi_epi64 (ab, cd));
}

static ALWAYS_INLINE __m256i
load_two (const int16_t *low, const int16_t *high)
{
  return _mm256_inserti128_si256 (_mm256_castsi128_si256 (_mm_loadu_si128 ((const __m128i *) low)),
                                  _mm_loadu_si128 ((const __m128i *) high), 1);
}

/* Up to four taps: the columns i to i + 3 in one register. */
static ALWAYS_INLINE __m256i
multiply_fours (const int16_t *row, const int32_t *start, const int16_t *weight)
{
  __m128i half[2];
  SL_UNROLL
  for (int i = 0; i < 2; i++) {
    const __m128i low = _mm_loadl_epi64 ((const __m128i *) (row + start[2 * i]));
    half[i] = _mm_unpacklo_epi64 (low, _mm_loadl_epi64 ((const __m128i *) (row + start[2 * i + 1])));
  }
  return _mm256_madd_epi16 (_mm256_inserti128_si256 (_mm256_castsi128_si256 (half[0]), half[1], 1), load (weight));
}

static void
reduce_four (int32_t *dst, const int16_t *row, const SlAxis *columns, SlPrefetch *prefetch)
{
  for (int i = 0; i < columns->count; i += 8) {
    if (i % 16 == 0)
      sl_prefetch_step (prefetch);
    const __m256i a = multiply_fours (row, columns->start + i, columns->weight + i * 4);
    const __m256i b = multiply_fours (row, columns->start + i + 4, columns->weight + i * 4 + 16);
    keep (dst + i, _mm256_permute4x64_epi64 (_mm256_hadd_epi32 (a, b), _MM_SHUFFLE (3, 1, 2, 0)));
  }
}

/* Up to eight taps: columns i + 2k and i + 2k + 1 in the halves. */
static void
reduce_eight (int32_t *dst, const int16_t *row, const SlAxis *columns, SlPrefetch *prefetch)
{
  const __m256i order = _mm256_setr_epi32 (0, 4, 1, 5, 2, 6, 3, 7);
  for (int i = 0; i < columns->count; i += 8) {
    if (i % 16 == 0)
      sl_prefetch_step (prefetch);
    const int32_t *start = columns->start + i;
    const int16_t *weight = columns->weight + i * 8;
    __m256i product[4];
    SL_UNROLL
    for (int k = 0; k < 4; k++)
      product[k] = _mm256_madd_epi16 (load_two (row + start[2 * k], row + start[2 * k + 1]), load (weight + 16 * k));
    keep (dst + i, _mm256_permutevar8x32_epi32 (add_fours (product), order));
  }
}

static ALWAYS_INLINE void
reduce_more (int32_t *dst, const int16_t *row, const SlAxis *columns, int stride, SlPrefetch *prefetch)
{
  for (int i = 0; i < columns->count; i += 8) {
    if (i % 16 == 0)
      sl_prefetch_step (prefetch);
    __m256i product[8];
    SL_UNROLL
    for (int k = 0; k < 8; k++) {
      const int16_t *sample = row + columns->start[i + k];
      const int16_t *weight = columns->weight + (ptrdiff_t) (i + k) * stride;
      product[k] = _mm256_madd_epi16 (load (sample), load (weight));
      for (int t = 16; t < stride; t += 16)
        product[k] = _mm256_add_epi32 (product[k], _mm256_madd_epi16 (load (sample + t), load (weight + t)));
    }
    const __m256i a = add_fours (product);
    const __m256i b = add_fours (product + 4);
    keep (dst + i, _mm256_add_epi32 (_mm256_permute2x128_si256 (a, b, 0x20), _mm256_permute2x128_si256 (a, b, 0x31)));
  }
}

static void
reduce_avx2 (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns, int rows, SlPrefetch *prefetch)
{
  for (int r = 0; r < rows; r++) {
    if (columns->stride == 4)
      reduce_four (dst[r], row[r], columns, prefetch);
    else if (columns->stride == 8)
      reduce_eight (dst[r], row[r], columns, prefetch);
    else if (columns->stride == 16)
      reduce_more (dst[r], row[r], columns, 16, prefetch);
    else
      reduce_more (dst[r], row[r], columns, columns->stride, prefetch);
  }
}

typedef __m256 Pixels;

typedef struct
{
  Pixels m[3], constant, low, high;
} Mix;

static ALWAYS_INLINE Mix
load_mix (const SlMix *mix)
{
  return (Mix){
    .m = { _mm256_set1_ps (mix->m[0]), _mm256_set1_ps (mix->m[1]), _mm256_set1_ps (mix->m[2]) },
    .constant = _mm256_set1_ps (mix->constant),
    .low = _mm256_set1_ps (mix->low),
    .high = _mm256_set1_ps (mix->high),
  };
}

static ALWAYS_INLINE Pixels
load_pixels (const int32_t *src)
{
  return _mm256_cvtepi32_ps (load (src));
}

static ALWAYS_INLINE Pixels
apply (const Mix *mix, const Pixels in[3])
{
  const __m256 ab = _mm256_add_ps (_mm256_mul_ps (in[0], mix->m[0]), _mm256_mul_ps (in[1], mix->m[1]));
  const __m256 sum = _mm256_add_ps (_mm256_add_ps (ab, _mm256_mul_ps (in[2], mix->m[2])), mix->constant);
  return _mm256_min_ps (_mm256_max_ps (sum, mix->low), mix->high);
}

/* Bytes as @type has them. */
static ALWAYS_INLINE __m256i
flip (__m256i bytes, SlOutType type)
{
  return type == SL_OUT_I8 ? _mm256_xor_si256 (bytes, _mm256_set1_epi8 ((char) 0x80)) : bytes;
}

static ALWAYS_INLINE void
interleave_bytes (uint8_t *dst, SlOutType type, const Pixels value[3])
{
  const __m256i order = _mm256_broadcastsi128_si256 (_mm_setr_epi8 (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  const __m256i low = _mm256_set1_epi32 (0xff);
  const __m256i a = _mm256_and_si256 (_mm256_cvtps_epi32 (value[0]), low);
  const __m256i b = _mm256_slli_epi32 (_mm256_and_si256 (_mm256_cvtps_epi32 (value[1]), low), 8);
  const __m256i c = _mm256_slli_epi32 (_mm256_cvtps_epi32 (value[2]), 16);
  const __m256i packed = _mm256_shuffle_epi8 (flip (_mm256_or_si256 (_mm256_or_si256 (a, b), c), type), order);
  const __m128i rest = _mm256_extracti128_si256 (packed, 1);
  const int32_t last = _mm_extract_epi32 (rest, 2);
  _mm_storeu_si128 ((__m128i *) dst, _mm256_castsi256_si128 (packed));
  _mm_storel_epi64 ((__m128i *) (dst + 12), rest);
  memcpy (dst + 20, &last, sizeof last);
}

static ALWAYS_INLINE void
interleave_halves (uint16_t *dst, const Pixels value[3])
{
  __m128i half[3];
  SL_UNROLL
  for (int c = 0; c < 3; c++)
    half[c] = _mm256_cvtps_ph (value[c], _MM_FROUND_TO_NEAREST_INT);
  SL_UNROLL
  for (int q = 0; q < 3; q++) {
    __m128i out = _mm_setzero_si128 ();
    SL_UNROLL
    for (int c = 0; c < 3; c++)
      out = _mm_or_si128 (out, _mm_shuffle_epi8 (half[c], load_order (half_order[q][c])));
    _mm_storeu_si128 ((__m128i *) (dst + 8 * q), out);
  }
}

/* Halves of the three results hold pixels 0..3 and 4..7: a0 b0 c0 a1 | b1 c1 a2 b2 | c2 a3 b3 c3. */
static ALWAYS_INLINE void
interleave_floats (float *dst, const Pixels value[3])
{
  const __m256 ab = _mm256_shuffle_ps (value[0], value[1], _MM_SHUFFLE (2, 0, 2, 0)); /* a0 a2 b0 b2 */
  const __m256 bc = _mm256_shuffle_ps (value[1], value[2], _MM_SHUFFLE (3, 1, 3, 1)); /* b1 b3 c1 c3 */
  const __m256 ca = _mm256_shuffle_ps (value[2], value[0], _MM_SHUFFLE (3, 1, 2, 0)); /* c0 c2 a1 a3 */
  const __m256 x = _mm256_shuffle_ps (ab, ca, _MM_SHUFFLE (2, 0, 2, 0));              /* a0 b0 c0 a1 */
  const __m256 y = _mm256_shuffle_ps (bc, ab, _MM_SHUFFLE (3, 1, 2, 0));              /* b1 c1 a2 b2 */
  const __m256 z = _mm256_shuffle_ps (ca, bc, _MM_SHUFFLE (3, 1, 3, 1));              /* c2 a3 b3 c3 */
  _mm256_storeu_ps (dst, _mm256_permute2f128_ps (x, y, 0x20));
  _mm256_storeu_ps (dst + 8, _mm256_permute2f128_ps (z, x, 0x30));
  _mm256_storeu_ps (dst + 16, _mm256_permute2f128_ps (y, z, 0x31));
}

static ALWAYS_INLINE void
put (void *dst, SlOutType type, ptrdiff_t x, Pixels value)
{
  if (type == SL_OUT_F32) {
    _mm256_storeu_ps ((float *) dst + x, value);
  } else if (type == SL_OUT_F16) {
    _mm_storeu_si128 ((__m128i *) ((uint16_t *) dst + x), _mm256_cvtps_ph (value, _MM_FROUND_TO_NEAREST_INT));
  } else {
    const __m256i order = _mm256_broadcastsi128_si256 (_mm_setr_epi8 (0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
    const __m256i packed = _mm256_shuffle_epi8 (flip (_mm256_cvtps_epi32 (value), type), order);
    const __m128i both = _mm_unpacklo_epi32 (_mm256_castsi256_si128 (packed), _mm256_extracti128_si256 (packed, 1));
    _mm_storel_epi64 ((__m128i *) ((uint8_t *) dst + x), both);
  }
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

const SlKernels sl_kernels_avx2 = {
  .name = "avx2",
  .blend = blend,
  .blend_pairs = blend_pairs,
  .blend_words = blend_words,
  .split_pairs = split_pairs_avx2,
  .split_triples = split_triples_avx2,
  .reduce = reduce_avx2,
  .store = SL_STORE_TABLE,
};
