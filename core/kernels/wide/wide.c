/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled once for each instruction set, named by SL_WIDE_NAME; plain loops that compilers make vectors of. */
#include "core/kernels/wide/wide.h"

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define PASTE(a, b) a##b
#define TABLE(name) PASTE (sl_wide_, name)
#define STRING(name) #name
#define NAME(name) STRING (name)

/* Whole vectors of a look-up; returns how many bytes are done. */
#if defined(__AVX512VBMI__)
static gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  const __m512i t0 = _mm512_loadu_si512 (table), t1 = _mm512_loadu_si512 (table + 64);
  const __m512i t2 = _mm512_loadu_si512 (table + 128), t3 = _mm512_loadu_si512 (table + 192);
  gsize i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i x = _mm512_loadu_si512 (in + i);
    const __m512i low = _mm512_permutex2var_epi8 (t0, x, t1), high = _mm512_permutex2var_epi8 (t2, x, t3);
    _mm512_storeu_si512 (out + i, _mm512_mask_blend_epi8 (_mm512_movepi8_mask (x), low, high));
  }
  return i;
}
#elif defined(__aarch64__)
static gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  uint8x16x4_t parts[4];
  gsize i = 0;
  for (guint k = 0; k < 4; k++)
    for (guint j = 0; j < 4; j++)
      parts[k].val[j] = vld1q_u8 (table + 64 * k + 16 * j);
  for (; i + 16 <= n; i += 16) {
    const uint8x16_t x = vld1q_u8 (in + i);
    uint8x16_t found = vqtbl4q_u8 (parts[0], x);
    for (guint k = 1; k < 4; k++)
      found = vqtbx4q_u8 (found, parts[k], veorq_u8 (x, vdupq_n_u8 ((guint8) (64 * k))));
    vst1q_u8 (out + i, found);
  }
  return i;
}
#else
static gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  return 0;
}
#endif

static void
look_up (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  for (gsize i = look_up_vectors (table, in, out, n); i < n; i++)
    out[i] = table[in[i]];
}

static void
across_u8 (const guint8 *left, const guint8 *right, gint32 weight, gint32 *out, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = left[i] * (1 << SL_BLEND_BITS) + (right[i] - left[i]) * weight;
}

static void
across_i8 (const gint8 *left, const gint8 *right, gint32 weight, gint32 *out, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = left[i] * (1 << SL_BLEND_BITS) + (right[i] - left[i]) * weight;
}

/* One row of at least 16 bytes, and short ones. */
#if defined(__SSE2__)
static inline guint8
largest_byte (__m128i bytes)
{
#if defined(__SSE4_1__)
  const __m128i inverted = _mm_xor_si128 (bytes, _mm_set1_epi8 (-1));
  return (guint8) ~_mm_cvtsi128_si32 (_mm_minpos_epu16 (_mm_min_epu8 (inverted, _mm_srli_epi16 (inverted, 8))));
#else
  bytes = _mm_max_epu8 (bytes, _mm_srli_si128 (bytes, 8));
  bytes = _mm_max_epu8 (bytes, _mm_srli_si128 (bytes, 4));
  bytes = _mm_max_epu8 (bytes, _mm_srli_si128 (bytes, 2));
  return (guint8) _mm_cvtsi128_si32 (_mm_max_epu8 (bytes, _mm_srli_si128 (bytes, 1)));
#endif
}

static inline guint
equal_bytes (const guint8 *in, __m128i wanted)
{
  return (guint) _mm_movemask_epi8 (_mm_cmpeq_epi8 (_mm_loadu_si128 ((const __m128i *) (const void *) in), wanted));
}

static gint32
arg_max_long (const guint8 *in, gsize n, guint8 flip)
{
  const __m128i flips = _mm_set1_epi8 ((char) flip);
  __m128i most = _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) (const void *) (in + n - 16)), flips);
  for (gsize i = 0; i + 16 < n; i += 16)
    most = _mm_max_epu8 (most, _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) (const void *) (in + i)), flips));
  const __m128i wanted = _mm_set1_epi8 ((char) (largest_byte (most) ^ flip));
  for (gsize i = 0; i + 16 < n; i += 16) {
    const guint equal = equal_bytes (in + i, wanted);
    if (equal != 0)
      return (gint32) i + __builtin_ctz (equal);
  }
  return (gint32) n - 16 + __builtin_ctz (equal_bytes (in + n - 16, wanted));
}

/* 17 to 32 bytes, without a branch. */
static gint32
arg_max_middle (const guint8 *in, gsize n, __m128i flips, guint8 flip)
{
  const __m128i head = _mm_loadu_si128 ((const __m128i *) (const void *) in);
  const __m128i tail = _mm_loadu_si128 ((const __m128i *) (const void *) (in + n - 16));
  const __m128i most = _mm_max_epu8 (_mm_xor_si128 (head, flips), _mm_xor_si128 (tail, flips));
  const __m128i wanted = _mm_set1_epi8 ((char) (largest_byte (most) ^ flip));
  const guint equal =
    (guint) _mm_movemask_epi8 (_mm_cmpeq_epi8 (head, wanted)) | (guint) _mm_movemask_epi8 (_mm_cmpeq_epi8 (tail, wanted)) << (n - 16);
  return __builtin_ctz (equal);
}
#endif

static gint32
arg_max_short (const guint8 *in, gsize n, guint8 flip)
{
  gsize found = 0;
  for (gsize i = 1; i < n; i++)
    found = (guint8) (in[i] ^ flip) > (guint8) (in[found] ^ flip) ? i : found;
  return (gint32) found;
}

static void
arg_max (const guint8 *in, gsize n, gsize rows, guint8 flip, gint32 *out)
{
#if defined(__SSE2__)
  const __m128i flips = _mm_set1_epi8 ((char) flip);
  for (gsize r = 0; n > 16 && n <= 32 && r < rows; r++)
    out[r] = arg_max_middle (in + r * n, n, flips, flip);
  for (gsize r = 0; (n == 16 || n > 32) && r < rows; r++)
    out[r] = arg_max_long (in + r * n, n, flip);
  for (gsize r = 0; n < 16 && r < rows; r++)
    out[r] = arg_max_short (in + r * n, n, flip);
#else
  for (gsize r = 0; r < rows; r++)
    out[r] = arg_max_short (in + r * n, n, flip);
#endif
}

static void
down (const gint32 *top, const gint32 *bottom, gint32 weight, guint8 *out, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const gint32 sum = top[i] * (1 << SL_BLEND_BITS) + (bottom[i] - top[i]) * weight;
    out[i] = (guint8) ((sum + (1 << (2 * SL_BLEND_BITS - 1))) >> (2 * SL_BLEND_BITS));
  }
}

#if defined(__AVX512F__)
#define PIXELS 16
#elif defined(__AVX2__)
#define PIXELS 8
#else
#define PIXELS 4
#endif
G_STATIC_ASSERT (SL_SEARCH_VECTOR % PIXELS == 0);
typedef gint32 Pixels __attribute__ ((vector_size (PIXELS * sizeof (gint32))));

#define VECTORS (SL_SEARCH_VECTOR / PIXELS)

static inline Pixels
code_of (Pixels upper, Pixels lower, gint32 weight)
{
  return (upper * (1 << SL_BLEND_BITS) + (lower - upper) * weight + (1 << (2 * SL_BLEND_BITS - 1))) >> (2 * SL_BLEND_BITS);
}

/* The larger of both, or with @smaller the other. */
static inline Pixels
choose (Pixels a, Pixels b, gboolean smaller)
{
  const Pixels more = smaller ? a < b : a > b;
  return (a & more) | (b & ~more);
}

static inline Pixels
load_pixels (const gint32 *at, gsize v)
{
  Pixels pixels;
  memcpy (&pixels, at + v * PIXELS, sizeof pixels);
  return pixels;
}

/* Most channels of which those that could be the largest are picked out before. */
#define MOST_PICKED 256

/* A blend lies between what is blended: channels below what another reaches at its least, in all pixels, are left out. */
static gsize
pick (const gint32 *top, const gint32 *bottom, gsize stride, gsize channels, guint16 *picked)
{
  Pixels least[VECTORS];
  gsize n = 0;
  for (gsize v = 0; v < VECTORS; v++)
    least[v] = (Pixels){ 0 } + G_MININT32;
  for (gsize c = 0; c < channels; c++)
    for (gsize v = 0; v < VECTORS; v++)
      least[v] = choose (least[v], choose (load_pixels (top + c * stride, v), load_pixels (bottom + c * stride, v), TRUE), FALSE);
  for (gsize c = 0; c < channels; c++) {
    gint64 lanes[sizeof (Pixels) / sizeof (gint64)], any = 0;
    Pixels reached = { 0 };
    for (gsize v = 0; v < VECTORS; v++) {
      const Pixels most = choose (load_pixels (top + c * stride, v), load_pixels (bottom + c * stride, v), FALSE);
      reached |= code_of (most, most, 0) >= code_of (least[v], least[v], 0);
    }
    memcpy (lanes, &reached, sizeof lanes);
    for (gsize i = 0; i < sizeof lanes / sizeof lanes[0]; i++)
      any |= lanes[i];
    picked[n] = (guint16) c;
    n += any != 0;
  }
  return n;
}

/* All channels of a few vectors of pixels, so that what is largest stays in registers; one alone would wait for itself. */
static void
search_row (const gint32 *top, const gint32 *bottom, gsize stride, const guint16 *picked, gsize channels, gint32 weight, gint32 *found)
{
  Pixels largest[VECTORS], where[VECTORS] = { { 0 } };
  for (gsize v = 0; v < VECTORS; v++)
    largest[v] = (Pixels){ 0 } + G_MININT32;
  for (gsize k = 0; k < channels; k++) {
    const gsize c = picked != NULL ? picked[k] : k;
    const Pixels index = (Pixels){ 0 } + (gint32) c;
    for (gsize v = 0; v < VECTORS; v++) {
      const Pixels code = code_of (load_pixels (top + c * stride, v), load_pixels (bottom + c * stride, v), weight);
      const Pixels more = code > largest[v];
      largest[v] = (code & more) | (largest[v] & ~more);
      where[v] = (index & more) | (where[v] & ~more);
    }
  }
  memcpy (found, where, sizeof where);
}

static void
search (const gint32 *top, const gint32 *bottom, gsize stride, gsize channels, const gint32 *weights, gsize rows, gint32 *found, gsize n)
{
  guint16 picked[MOST_PICKED + 1];
  for (gsize x = 0; x < n; x += SL_SEARCH_VECTOR) {
    const gboolean few = channels <= MOST_PICKED;
    const gsize left = few ? pick (top + x, bottom + x, stride, channels, picked) : channels;
    for (gsize r = 0; r < rows; r++)
      search_row (top + x, bottom + x, stride, few ? picked : NULL, left, weights[r], found + r * SL_SEARCHED + x);
  }
}

const SlWide TABLE (SL_WIDE_NAME) = { NAME (SL_WIDE_NAME), look_up, across_u8, across_i8, arg_max, down, search };
