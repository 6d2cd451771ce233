/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled once for each instruction set, named by SL_SIMD_LOOPS_NAME; plain loops that compilers
 * make vectors of. */
#include "core/ops/kernels/simd/loops.h"

#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/ops/kernels/simd/look_up.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define PASTE(a, b) a##b
#define TABLE(name) PASTE (sl_simd_loops_, name)
#define STRING(name) #name
#define NAME(name) STRING (name)

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

static void
blend (const gfloat *top, const gfloat *bottom, gfloat down, const SlBlendPlace *columns, gsize n,
       gsize channels, gfloat *restrict out)
{
  for (const SlBlendPlace *at = columns; at < columns + n; at++, out += channels) {
    const gsize left = (gsize) at->low * channels, right = (gsize) at->high * channels;
    const gfloat *tl = top + left, *tr = top + right, *bl = bottom + left, *br = bottom + right;
    for (gsize c = 0; c < channels; c++) {
      const gfloat above = tl[c] + (tr[c] - tl[c]) * at->weight,
                   below = bl[c] + (br[c] - bl[c]) * at->weight;
      out[c] = above + (below - above) * down;
    }
  }
}

/* One row of at least 16 bytes, and short ones. */
#if defined(__SSE2__)
static inline guint8
largest_byte (__m128i bytes)
{
#if defined(__SSE4_1__)
  const __m128i inverted = _mm_xor_si128 (bytes, _mm_set1_epi8 (-1));
  return (guint8) ~_mm_cvtsi128_si32 (
    _mm_minpos_epu16 (_mm_min_epu8 (inverted, _mm_srli_epi16 (inverted, 8))));
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
  return (guint) _mm_movemask_epi8 (
    _mm_cmpeq_epi8 (_mm_loadu_si128 ((const __m128i *) (const void *) in), wanted));
}

static gint32
arg_max_long (const guint8 *in, gsize n, guint8 flip)
{
  const __m128i flips = _mm_set1_epi8 ((char) flip);
  __m128i most =
    _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) (const void *) (in + n - 16)), flips);
  for (gsize i = 0; i + 16 < n; i += 16)
    most = _mm_max_epu8 (
      most, _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) (const void *) (in + i)), flips));
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
  const guint equal = (guint) _mm_movemask_epi8 (_mm_cmpeq_epi8 (head, wanted))
                      | (guint) _mm_movemask_epi8 (_mm_cmpeq_epi8 (tail, wanted)) << (n - 16);
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

/* Channels that are picked out at a time; channels and pixels of a loop that compilers make vectors
 * of. */
#define PICKED 256
#define BYTES SL_SEARCH_OVER
#define LANES 8

/* What is searched for: the quantised value, and below it the channel, counted down so that the
 * first of equals is the largest. */
#define VALUE_BITS (2 * SL_BLEND_BITS)
#define CHANNELS_MASK ((1 << VALUE_BITS) - 1)

/* The least and the most of BYTES channels over all pixels of a tile. */
static void
range_of (const SlSearchTile *tile, gsize first, guint8 *least, guint8 *most)
{
  const guint8 *const rows[2] = { tile->top + first, tile->bottom + first };
  guint8 lo[BYTES], hi[BYTES];
  memset (lo, 0xff, sizeof lo);
  memset (hi, 0, sizeof hi);
  for (gsize r = 0; r < 2 * tile->n_runs; r++) {
    const SlSearchRun *run = &tile->runs[r / 2];
    const gint32 at = r % 2 ? run->right : run->left;
    for (gsize k = 0; k < 2; k++)
      for (gsize i = 0; i < BYTES; i++) {
        const guint8 byte = rows[k][(gsize) at + i] ^ tile->flip;
        lo[i] = MIN (lo[i], byte);
        hi[i] = MAX (hi[i], byte);
      }
  }
  memcpy (least, lo, sizeof lo);
  memcpy (most, hi, sizeof hi);
}

/* A blend lies between what is blended: channels below what another reaches at its least, in the
 * whole tile, are left out. */
static gsize
pick (const SlSearchTile *tile, gsize first, guint16 *picked)
{
  guint8 least[PICKED], most[PICKED], reach = 0;
  const gsize channels = MIN (PICKED, tile->channels - first);
  gsize n = 0;
  for (gsize c = 0; c < channels; c += BYTES)
    range_of (tile, first + c, least + c, most + c);
  for (gsize c = 0; c < channels; c++)
    reach = MAX (reach, least[c]);
  for (gsize c = 0; c < channels; c++) {
    picked[n] = (guint16) c;
    n += most[c] >= reach;
  }
  return n;
}

/* One channel: blended across in both rows, then down to each row of the output. */
static void
search_channel (const SlSearchTile *tile, gsize channel, const gint32 *weights, gsize rows,
                gint32 (*keys)[SL_SEARCHED])
{
  gint32 base[SL_SEARCHED + LANES], slope[SL_SEARCHED + LANES];
  const guint8 *top = tile->top + channel, *bottom = tile->bottom + channel;
  const gint32 below = CHANNELS_MASK - (gint32) channel;
  for (gsize r = 0; r < tile->n_runs; r++) {
    const SlSearchRun *run = &tile->runs[r];
    const gint32 end = r + 1 < tile->n_runs ? run[1].x : SL_SEARCHED;
    const gint32 t = top[run->left] ^ tile->flip, b = bottom[run->left] ^ tile->flip;
    const gint32 t_step = (top[run->right] ^ tile->flip) - t,
                 b_step = (bottom[run->right] ^ tile->flip) - b;
    for (gint32 x = run->x; x < end; x += LANES)
      for (gint32 i = x; i < x + LANES; i++) {
        const gint32 upper = t * (1 << SL_BLEND_BITS) + t_step * tile->across[i];
        base[i] = upper * (1 << SL_BLEND_BITS) + (1 << (VALUE_BITS - 1));
        slope[i] = b * (1 << SL_BLEND_BITS) + b_step * tile->across[i] - upper;
      }
  }
  for (gsize r = 0; r < rows; r++)
    for (gsize i = 0; i < SL_SEARCHED; i++) {
      const gint32 key = ((base[i] + slope[i] * weights[r]) & ~CHANNELS_MASK) | below;
      keys[r][i] = MAX (keys[r][i], key);
    }
}

static void
search (const SlSearchTile *tile, const gint32 *weights, gsize rows, gint32 *found)
{
  guint16 picked[PICKED + 1];
  gint32 keys[SL_SEARCH_ROWS][SL_SEARCHED] = { 0 };
  for (gsize first = 0; first < tile->channels; first += PICKED) {
    const gsize n = pick (tile, first, picked);
    if (n == 1 && tile->channels <= PICKED) {
      for (gsize i = 0; i < rows * SL_SEARCHED; i++)
        found[i] = picked[0];
      return;
    }
    for (gsize k = 0; k < n; k++)
      search_channel (tile, first + picked[k], weights, rows, keys);
  }
  for (gsize r = 0; r < rows; r++)
    for (gsize i = 0; i < SL_SEARCHED; i++)
      found[r * SL_SEARCHED + i] = CHANNELS_MASK - (keys[r][i] & CHANNELS_MASK);
}

static void
add_u8 (const guint8 *in, gint32 *sums, gsize n)
{
  for (gsize i = 0; i < n; i++)
    sums[i] += in[i];
}

static void
add_i8 (const gint8 *in, gint32 *sums, gsize n)
{
  for (gsize i = 0; i < n; i++)
    sums[i] += in[i];
}

typedef gfloat Floats __attribute__ ((vector_size (SL_SUMS * sizeof (gfloat))));
typedef gdouble Doubles __attribute__ ((vector_size (SL_SUMS * sizeof (gdouble))));

static gdouble
sum (const gfloat *in, gsize n)
{
  Doubles parts = { 0 };
  gsize i = 0;
  for (; i + SL_SUMS <= n; i += SL_SUMS) {
    Floats x;
    memcpy (&x, in + i, sizeof x);
    parts += __builtin_convertvector(x, Doubles);
  }
  for (gsize k = 0; i + k < n; k++)
    parts[k] += (gdouble) in[i + k];
  gdouble all = 0;
  for (gsize k = 0; k < SL_SUMS; k++)
    all += parts[k];
  return all;
}

static gfloat
dot (const gfloat *a, const gfloat *b, gsize n)
{
  Floats vector = { 0 };
  gfloat parts[SL_SUMS], all = 0;
  gsize i = 0;
  for (; i + SL_SUMS <= n; i += SL_SUMS) {
    Floats x, y;
    memcpy (&x, a + i, sizeof x);
    memcpy (&y, b + i, sizeof y);
    vector += x * y;
  }
  memcpy (parts, &vector, sizeof parts);
  if (i + SL_SUMS / 2 <= n) {
    for (gsize k = 0; k < SL_SUMS / 2; k++)
      parts[k] += a[i + k] * b[i + k];
    i += SL_SUMS / 2;
  }
  for (gsize k = 0; k < SL_SUMS; k++)
    all += parts[k];
  for (; i < n; i++)
    all += a[i] * b[i];
  return all;
}

/* Numbers of a register. */
#if defined(__AVX512F__)
#define WIDE 16
#elif defined(__AVX2__)
#define WIDE 8
#else
#define WIDE 4
#endif
/* Rows at a time: each number of the other vector is loaded once for them. */
#define DOT_ROWS 4

typedef gfloat WideFloats __attribute__ ((vector_size (WIDE * sizeof (gfloat))));

/* Adds products of @n numbers of each row, whole SL_SUMS of them, to @parts of its sum. */
static void
add_products (const gfloat *const *row, const gfloat *b, gsize n, gfloat parts[DOT_ROWS][SL_SUMS])
{
  WideFloats sums[DOT_ROWS][SL_SUMS / WIDE] = { { { 0 } } };
  for (gsize i = 0; i < n; i += SL_SUMS)
    for (gsize w = 0; w < SL_SUMS / WIDE; w++) {
      WideFloats y;
      memcpy (&y, b + i + w * WIDE, sizeof y);
      for (gsize k = 0; k < DOT_ROWS; k++) {
        WideFloats x;
        memcpy (&x, row[k] + i + w * WIDE, sizeof x);
        sums[k][w] += x * y;
      }
    }
  memcpy (parts, sums, sizeof sums);
}

static void
dots (const gfloat *rows, gsize n_rows, const gfloat *b, gsize n, gfloat *out, gsize step)
{
  const gsize whole = n / SL_SUMS * SL_SUMS;
  for (gsize r = 0; r < n_rows; r += DOT_ROWS) {
    const gfloat *row[DOT_ROWS];
    gfloat parts[DOT_ROWS][SL_SUMS];
    for (gsize k = 0; k < DOT_ROWS; k++)
      row[k] = rows + (r + k < n_rows ? r + k : n_rows - 1) * n;
    add_products (row, b, whole, parts);
    for (gsize k = 0; k < DOT_ROWS && r + k < n_rows; k++) {
      gfloat all = 0;
      for (gsize i = 0; i < SL_SUMS; i++)
        all += parts[k][i];
      for (gsize i = whole; i < n; i++)
        all += row[k][i] * b[i];
      out[(r + k) * step] = all;
    }
  }
}

/* x times a fraction of polynomials in its square, of degrees 6 and 3, up to 8, where the result
 * is 1. */
static void
tangent (const gfloat *in, gfloat *out, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const gfloat x = in[i] < -8 ? -8 : in[i] > 8 ? 8 : in[i], square = x * x;
    gfloat above = -1.156464002e-13f, below = 2.612982589e-4f;
    above = above * square + 6.365655772e-11f;
    above = above * square - 2.231490916e-8f;
    above = above * square + 1.164250371e-5f;
    above = above * square + 3.149370444e-3f;
    above = above * square + 1.312435490e-1f;
    above = above * square + 1;
    below = below * square + 2.467502321e-2f;
    below = below * square + 4.645768640e-1f;
    below = below * square + 1;
    out[i] = x * above / below;
  }
}

#ifdef __AVX512F__
#define WINDOW_LANES 16
#elif defined(__AVX2__)
#define WINDOW_LANES 8
#else
#define WINDOW_LANES 4
#endif
typedef gfloat Lanes __attribute__ ((vector_size (WINDOW_LANES * sizeof (gfloat))));
typedef gint32 Mask __attribute__ ((vector_size (WINDOW_LANES * sizeof (gfloat))));

static void
largest_lanes (const SlWindows *w, const gfloat *in, gfloat *out)
{
  Lanes value, most = { 0 };
  most -= INFINITY;
  for (gsize tap = 0; tap < w->taps; tap++, in += w->stride) {
    memcpy (&value, in, sizeof value);
    const Mask above = value > most;
    most = (Lanes) (((Mask) value & above) | ((Mask) most & ~above));
  }
  memcpy (out, &most, sizeof most);
}

static void
largest_one (const SlWindows *w, const gfloat *in, gfloat *out)
{
  gfloat most = -INFINITY;
  for (gsize tap = 0; tap < w->taps; tap++)
    most = in[tap * w->stride] > most ? in[tap * w->stride] : most;
  *out = most;
}

/* The last vector overlaps the one before it. */
static void
largest (const SlWindows *w, const gfloat *in, gfloat *out)
{
  for (gsize k = 0; k < w->count; k++, in += w->step, out += w->out_step) {
    for (gsize i = 0; w->n >= WINDOW_LANES && i < w->n; i += WINDOW_LANES)
      largest_lanes (w, in + MIN (i, w->n - WINDOW_LANES), out + MIN (i, w->n - WINDOW_LANES));
    for (gsize i = 0; w->n < WINDOW_LANES && i < w->n; i++)
      largest_one (w, in + i, out + i);
  }
}

/* A few rows at once: each row's sum is made in order, one after the other would wait for itself.
 */
#define SOFTMAX_ROWS 8
#define SOFTMAX_BLOCK 64
#define SOFTMAX_LANES 16
typedef gfloat Exponents[SOFTMAX_ROWS][SOFTMAX_BLOCK];

/* At most SOFTMAX_BLOCK quantised values of each row from @in on, of rows @stride apart; @tables
 * end at the rows' highest. */
static void
look_up_exponents (const gfloat *const *tables, guint8 flip, const guint8 *in, gsize stride,
                   gsize rows, gsize n, Exponents e)
{
  for (gsize r = 0; r < rows; r++, in += stride) {
    const gfloat *table = tables[r];
    gfloat *out = e[r];
    gsize i = 0;
    for (; i + 4 <= n; i += 4) {
      const guint8 a = in[i] ^ flip, b = in[i + 1] ^ flip, c = in[i + 2] ^ flip,
                   d = in[i + 3] ^ flip;
      out[i] = table[-(gssize) a];
      out[i + 1] = table[-(gssize) b];
      out[i + 2] = table[-(gssize) c];
      out[i + 3] = table[-(gssize) d];
    }
    for (; i < n; i++)
      out[i] = table[-(gssize) (in[i] ^ flip)];
  }
}

#if defined(__SSE2__)
/* SOFTMAX_LANES quantised values. */
static inline void
softmax_lanes (const gfloat *e, gfloat inverse, gint32 zero, guint8 flip, guint8 *quantised)
{
  __m128i parts[4];
  for (guint k = 0; k < 4; k++) {
    const __m128 value =
      _mm_add_ps (_mm_mul_ps (_mm_loadu_ps (e + 4 * k), _mm_set1_ps (inverse)), _mm_set1_ps (0.5f));
    parts[k] = _mm_add_epi32 (_mm_cvttps_epi32 (_mm_min_ps (value, _mm_set1_ps (256.0f))),
                              _mm_set1_epi32 (zero));
  }
  const __m128i all =
    _mm_packus_epi16 (_mm_packs_epi32 (parts[0], parts[1]), _mm_packs_epi32 (parts[2], parts[3]));
  _mm_storeu_si128 ((__m128i *) (void *) quantised,
                    _mm_xor_si128 (all, _mm_set1_epi8 ((char) flip)));
}

static guint8
highest_byte (const guint8 *in, gsize n, guint8 flip)
{
  const __m128i flips = _mm_set1_epi8 ((char) flip);
  __m128i most = _mm_setzero_si128 ();
  guint8 highest = 0;
  gsize i = 0;
  for (; i + 16 <= n; i += 16)
    most = _mm_max_epu8 (
      most, _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) (const void *) (in + i)), flips));
  for (; i < n; i++)
    highest = MAX (highest, in[i] ^ flip);
  return MAX (highest, largest_byte (most));
}
#else
static inline void
softmax_lanes (const gfloat *e, gfloat inverse, gint32 zero, guint8 flip, guint8 *quantised)
{
  for (gsize k = 0; k < SOFTMAX_LANES; k++) {
    const gfloat value = e[k] * inverse + 0.5f;
    const gint32 byte = (gint32) (value < 256.0f ? value : 256.0f) + zero;
    quantised[k] = (guint8) MIN (byte, 255) ^ flip;
  }
}

static guint8
highest_byte (const guint8 *in, gsize n, guint8 flip)
{
  guint8 highest = 0;
  for (gsize i = 0; i < n; i++)
    highest = MAX (highest, in[i] ^ flip);
  return highest;
}
#endif

static void
softmax_row (const gfloat *e, gfloat inverse, gint32 zero, guint8 flip, guint8 *out, gsize n)
{
  guint8 last[SOFTMAX_LANES];
  gsize i = 0;
  for (; i + SOFTMAX_LANES <= n; i += SOFTMAX_LANES)
    softmax_lanes (e + i, inverse, zero, flip, out + i);
  if (i == n)
    return;
  softmax_lanes (e + i, inverse, zero, flip, last);
  memcpy (out + i, last, n - i);
}

static void
softmax_few (const SlSoftmax *s, const guint8 *in, guint8 *out, gsize rows)
{
  const gsize n = s->n;
  const gfloat *tables[SOFTMAX_ROWS];
  gfloat sums[SOFTMAX_ROWS] = { 0 };
  Exponents e;
  if (rows < SOFTMAX_ROWS || n % SOFTMAX_LANES != 0)
    memset (e, 0, sizeof e);
  for (gsize r = 0; r < rows; r++)
    tables[r] = s->exp + highest_byte (in + r * n, n, s->flip);
  for (gsize at = 0; at < n; at += SOFTMAX_BLOCK) {
    const gsize block = MIN (SOFTMAX_BLOCK, n - at);
    look_up_exponents (tables, s->flip, in + at, n, rows, block, e);
    for (gsize i = 0; i < block; i++)
      for (gsize r = 0; r < SOFTMAX_ROWS; r++)
        sums[r] += e[r][i];
  }
  for (gsize at = 0; at < n; at += SOFTMAX_BLOCK) {
    const gsize block = MIN (SOFTMAX_BLOCK, n - at);
    if (n > SOFTMAX_BLOCK)
      look_up_exponents (tables, s->flip, in + at, n, rows, block, e);
    for (gsize r = 0; r < rows; r++)
      softmax_row (e[r], 1.0f / (sums[r] * s->scale), s->zero_point, s->flip, out + r * n + at,
                   block);
  }
}

static void
softmax (const SlSoftmax *s, const guint8 *in, guint8 *out, gsize rows)
{
  for (gsize r = 0; r < rows; r += SOFTMAX_ROWS)
    softmax_few (s, in + r * s->n, out + r * s->n, MIN (SOFTMAX_ROWS, rows - r));
}

typedef guint8 Line __attribute__ ((vector_size (SL_TURNED)));

/* Four times halves are dealt together like cards, which leaves rows where columns were. */
static void
turn (const guint8 *from, gssize from_stride, guint8 *to, gssize to_stride)
{
  Line a[SL_TURNED], b[SL_TURNED];
  for (gint i = 0; i < SL_TURNED; i++)
    memcpy (&a[i], from + i * from_stride, sizeof a[i]);
  for (gint round = 0; round < 4; round++) {
    for (gint i = 0; i < SL_TURNED / 2; i++) {
      b[2 * i] = __builtin_shufflevector (a[i], a[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                          6, 22, 7, 23);
      b[2 * i + 1] = __builtin_shufflevector (a[i], a[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                              13, 29, 14, 30, 15, 31);
    }
    memcpy (a, b, sizeof a);
  }
  for (gint i = 0; i < SL_TURNED; i++)
    memcpy (to + i * to_stride, &a[i], sizeof a[i]);
}

#define DEFINE_WEAVE(name, type)                                                             \
  static void name (const type *in, gsize stride, guint planes, type *restrict out, gsize n) \
  {                                                                                          \
    const type *restrict a = in, *restrict b = in + stride,                                  \
                         *restrict c = in + (planes - 1) * stride;                           \
    if (planes == 2)                                                                         \
      for (gsize i = 0; i < n; i++) {                                                        \
        out[2 * i] = a[i];                                                                   \
        out[2 * i + 1] = b[i];                                                               \
      }                                                                                      \
    else                                                                                     \
      for (gsize i = 0; i < n; i++) {                                                        \
        out[3 * i] = a[i];                                                                   \
        out[3 * i + 1] = b[i];                                                               \
        out[3 * i + 2] = c[i];                                                               \
      }                                                                                      \
  }

DEFINE_WEAVE (weave, guint32)
DEFINE_WEAVE (weave_halves, guint16)

/* Rows are short: the last block of each begins where the one before has not ended. */
static void
widen (const gfloat *in, gfloat *least, gfloat *most, gsize n)
{
  gfloat low[SL_SUMS], high[SL_SUMS];
  for (gsize k = 0; k < SL_SUMS; k++) {
    low[k] = *least;
    high[k] = *most;
  }
  for (gsize i = 0; n >= SL_SUMS && i < n; i += SL_SUMS) {
    const gfloat *at = in + MIN (i, n - SL_SUMS);
    for (gsize k = 0; k < SL_SUMS; k++) {
      low[k] = at[k] < low[k] ? at[k] : low[k];
      high[k] = at[k] > high[k] ? at[k] : high[k];
    }
  }
  for (gsize i = 0; n < SL_SUMS && i < n; i++) {
    low[i] = in[i] < low[i] ? in[i] : low[i];
    high[i] = in[i] > high[i] ? in[i] : high[i];
  }
  for (gsize half = SL_SUMS / 2; half > 0; half /= 2)
    for (gsize k = 0; k < half; k++) {
      low[k] = MIN (low[k], low[k + half]);
      high[k] = MAX (high[k], high[k + half]);
    }
  *least = low[0];
  *most = high[0];
}

/* Sums with this number, 1.5 times 2^23, have no fraction. */
#define NO_FRACTION 12582912.0f

static inline gfloat
round_code (gfloat number, gfloat scale, gfloat lo, gfloat hi)
{
  const gfloat value = number / scale, above = value > lo ? value : lo;
  return ((above < hi ? above : hi) + NO_FRACTION) - NO_FRACTION;
}

static void
round_codes (const gfloat *restrict in, gfloat *restrict out, gsize n, gfloat scale, gfloat lo,
             gfloat hi, gfloat by)
{
  for (gsize i = 0; n >= SL_SUMS && i < n; i += SL_SUMS) {
    const gsize at = MIN (i, n - SL_SUMS);
    for (gsize k = at; k < at + SL_SUMS; k++)
      out[k] = round_code (in[k], scale, lo, hi) * by;
  }
  for (gsize i = 0; n < SL_SUMS && i < n; i++)
    out[i] = round_code (in[i], scale, lo, hi) * by;
}

#if defined(__F16C__) || defined(__aarch64__)
#define HALVES 8

/* HALVES of them at once. */
static inline void
from_halves_once (const guint16 *in, gfloat *out)
{
#if defined(__F16C__)
  _mm256_storeu_ps (out, _mm256_cvtph_ps (_mm_loadu_si128 ((const __m128i *) (gconstpointer) in)));
#else
  const float16x8_t halves = vreinterpretq_f16_u16 (vld1q_u16 (in));
  vst1q_f32 (out, vcvt_f32_f16 (vget_low_f16 (halves)));
  vst1q_f32 (out + 4, vcvt_high_f32_f16 (halves));
#endif
}

static inline void
to_halves_once (const gfloat *in, guint16 *out)
{
#if defined(__F16C__)
  _mm_storeu_si128 ((__m128i *) (gpointer) out,
                    _mm256_cvtps_ph (_mm256_loadu_ps (in), _MM_FROUND_TO_NEAREST_INT));
#else
  const float16x4_t low = vcvt_f16_f32 (vld1q_f32 (in));
  vst1q_u16 (out, vreinterpretq_u16_f16 (vcvt_high_f16_f32 (low, vld1q_f32 (in + 4))));
#endif
}

/* The last ones overlap those before them. */
static void
from_halves (const guint16 *in, gfloat *out, gsize n)
{
  guint16 few[HALVES] = { 0 };
  gfloat floats[HALVES];
  for (gsize i = 0; n >= HALVES && i < n; i += HALVES)
    from_halves_once (in + MIN (i, n - HALVES), out + MIN (i, n - HALVES));
  if (n >= HALVES)
    return;
  memcpy (few, in, n * sizeof few[0]);
  from_halves_once (few, floats);
  memcpy (out, floats, n * sizeof floats[0]);
}

static void
to_halves (const gfloat *in, guint16 *out, gsize n)
{
  gfloat few[HALVES] = { 0 };
  guint16 halves[HALVES];
  for (gsize i = 0; n >= HALVES && i < n; i += HALVES)
    to_halves_once (in + MIN (i, n - HALVES), out + MIN (i, n - HALVES));
  if (n >= HALVES)
    return;
  memcpy (few, in, n * sizeof few[0]);
  to_halves_once (few, halves);
  memcpy (out, halves, n * sizeof halves[0]);
}
#else
static void
from_halves (const guint16 *in, gfloat *out, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = sl_half_to_float (in[i]);
}

static void
to_halves (const gfloat *in, guint16 *out, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = sl_half_from_float (in[i]);
}
#endif

const SlSimdLoops TABLE (SL_SIMD_LOOPS_NAME) = { NAME (SL_SIMD_LOOPS_NAME),
                                                 look_up,
                                                 across_u8,
                                                 across_i8,
                                                 arg_max,
                                                 down,
                                                 search,
                                                 blend,
                                                 add_u8,
                                                 add_i8,
                                                 largest,
                                                 sum,
                                                 dot,
                                                 dots,
                                                 tangent,
                                                 widen,
                                                 round_codes,
                                                 softmax,
                                                 turn,
                                                 weave,
                                                 weave_halves,
                                                 from_halves,
                                                 to_halves };
