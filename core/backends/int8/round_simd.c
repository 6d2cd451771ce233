/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Activations in the form in which the multiplication reads them: rows of floats rounded to 8 bits
 * by their own range, and quantised values of the other signedness. */
#include <math.h>
#include <string.h>

#include "core/backends/int8/simd.h"
#include "core/ops/kernels/row_codes.h"

/* Floats of one step. */
#define STEP (4 * LANES)
/* Chains of largest numbers, each of which waits for the one before. */
#define CHAINS 4

#ifdef USES_INT16
#define FLIP 0
#elif defined(SL_INT8_FOR_DOTPROD) || defined(SL_INT8_FOR_NEON)
#define FLIP 0x80
#else
#define FLIP 0
#endif

/* The largest of numbers as integers with a sign, and without: the most of those above 0, and the
 * least of those below, if there are any. NaN is larger than infinity. */
typedef struct
{
  Vec most, least;
} Range;

static inline __attribute__ ((always_inline)) void
widen (Range *range, Vec bits)
{
  range->most = larger (bits, range->most);
  range->least = larger_unsigned (bits, range->least);
}

static inline gfloat
float_of (guint32 bits)
{
  gfloat value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

/* The range of the numbers and zero; NaN where one of them is NaN. */
static void
find_range (const gfloat *from, gsize n, gfloat *least, gfloat *most)
{
  Range ranges[CHAINS];
  SL_UNROLL
  for (gint i = 0; i < CHAINS; i++)
    ranges[i] = (Range){ set_dwords (0), set_dwords (0) };
  gsize i = 0;
  for (; i + STEP <= n; i += STEP) {
    SL_UNROLL
    for (gint k = 0; k < CHAINS; k++)
      widen (&ranges[k], load (from + i + k * LANES));
  }
  for (; i + LANES <= n; i += LANES)
    widen (&ranges[0], load (from + i));
  if (i < n)
    widen (&ranges[1], load_dwords (from + i, (gint32) (n - i)));
  SL_UNROLL
  for (gint k = 1; k < CHAINS; k++)
    ranges[0] = (Range){ larger (ranges[k].most, ranges[0].most),
                         larger_unsigned (ranges[k].least, ranges[0].least) };
  const guint32 lowest = largest_unsigned_lane (ranges[0].least);
  *most = float_of ((guint32) largest_lane (ranges[0].most));
  *least = lowest >> 31 != 0 ? float_of (lowest) : 0;
}

static inline __attribute__ ((always_inline)) Vec
codes_of (const VecF x[4], VecF inverse, const Narrow *narrow)
{
  const Vec codes[4] = { rounded (times (x[0], inverse)), rounded (times (x[1], inverse)),
                         rounded (times (x[2], inverse)), rounded (times (x[3], inverse)) };
  return in_order (to_bytes (narrow, codes));
}

/* The next @n numbers, at most STEP, and zeros. */
static inline __attribute__ ((always_inline)) void
load_step (const gfloat *from, gsize n, VecF x[4])
{
  SL_UNROLL
  for (gint i = 0; i < 4; i++)
    x[i] = n >= STEP ? load_floats (from + i * LANES)
                     : load_first (from + i * LANES, (gint32) n - i * LANES);
}

static inline void
put (void *to, gsize at, gsize n, Vec codes)
{
#ifdef USES_INT16
  guint8 bytes[VEC_BYTES];
  store_some (bytes, mask_of (VEC_BYTES), codes);
  for (gsize i = 0; i < n; i++)
    ((gint16 *) to)[at + i] = bytes[i];
#else
  store_some ((guint8 *) to + at, mask_of ((gint32) n), codes);
#endif
}

/* @zero + numbers times @inverse. */
static inline __attribute__ ((always_inline)) void
put_codes (const gfloat *from, gsize n, gfloat inverse, gint16 zero, void *to)
{
  const SlInt8Output output = { .zero_point = zero, .lo = 0, .hi = ROUNDED_MOST, .flip = FLIP };
  const Narrow narrow = narrow_of (&output);
  const VecF by = set_floats (inverse);
  VecF x[4];
  gsize i = 0;
  for (; i + STEP <= n; i += STEP) {
    load_step (from + i, STEP, x);
    put (to, i, STEP, codes_of (x, by, &narrow));
  }
  if (i < n) {
    load_step (from + i, n - i, x);
    put (to, i, n - i, codes_of (x, by, &narrow));
  }
}

#ifndef USES_INT16
void
SL_SIMD (sl_int8_flip) (guint8 *to, const guint8 *from, gsize n)
{
  const Vec flip = set_bytes (0x80);
  for (gsize i = 0; i < n; i += VEC_BYTES)
    store_some (to + i, mask_of (VEC_BYTES), flipped (load (from + i), flip));
}
#endif

/* All ranges, then all scales, then all values: a scale takes three divisions, which wait for each
 * other and for the range, but not for those of other rows. */
void
SL_SIMD (sl_int8_round) (const gfloat *const *from, gsize n, gint32 rows, gboolean whole, void *to,
                         gsize stride, SlInt8Row *as)
{
  gfloat least[SL_INT8_MOST_ROWS], most[SL_INT8_MOST_ROWS], inverse[SL_INT8_MOST_ROWS];
  for (gint32 r = 0; r < rows; r++)
    find_range (from[r], n, &least[r], &most[r]);
  for (gint32 r = 0; r < rows; r++) {
    const gfloat poison = (most[r] - least[r]) * 0;
    const SlRowCodes codes = sl_row_codes (least[r], most[r], ROUNDED_MOST, whole);
    as[r] = (SlInt8Row){ codes.scale + poison, -codes.zero };
    inverse[r] = poison == 0 ? codes.inverse : 0;
  }
  for (gint32 r = 0; r < rows; r++)
    put_codes (from[r], n, inverse[r], (gint16) -as[r].lean, (guint8 *) to + (gsize) r * stride);
}

void
SL_SIMD (sl_int8_round_shares) (const gfloat *from, gsize n, void *to, SlInt8Row *row)
{
  *row = (SlInt8Row){ 1.0f / ROUNDED_MOST, 0 };
  put_codes (from, n, ROUNDED_MOST, 0, to);
}

/* Weights of -127 to 127 where two products of more do not fit. */
#ifdef SL_INT8_FOR_NEON
#define LEAST_WEIGHT -127
#else
#define LEAST_WEIGHT -128
#endif

void
SL_SIMD (sl_int8_to_weights) (const gfloat *from, gsize n, gfloat inverse, gint8 *to)
{
  const SlInt8Output output = { .zero_point = 128, .lo = 0, .hi = 255, .flip = 0x80 };
  const Narrow narrow = narrow_of (&output);
  const VecF by = set_floats (inverse), least = set_floats (LEAST_WEIGHT), most = set_floats (127);
  for (gsize i = 0; i < n; i += STEP) {
    VecF x[4];
    Vec codes[4];
    load_step (from + i, n - i, x);
    SL_UNROLL
    for (gint k = 0; k < 4; k++) /* numbers beyond int32 are limited before they are rounded */
      codes[k] = rounded (at_most (most, at_least (least, times (x[k], by))));
    store_some ((guint8 *) to + i, mask_of ((gint32) MIN (n - i, STEP)),
                in_order (to_bytes (&narrow, codes)));
  }
}
