/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row of floats rounded to 8 bits by its own range, in the form in which the multiplication reads
 * it. */
#include <math.h>

#include "core/backends/int8/simd.h"
#include "core/ops/kernels/row_codes.h"

/* Floats of one step. */
#define STEP (4 * LANES)
/* Chains of minimum and maximum: each instruction waits four cycles for the one before. */
#define CHAINS 4

#ifdef USES_INT16
#define FLIP 0
#elif defined(SL_INT8_FOR_DOTPROD) || defined(SL_INT8_FOR_NEON)
#define FLIP 0x80
#else
#define FLIP 0
#endif

typedef struct
{
  VecF least, most, sum;
} Range;

static inline __attribute__ ((always_inline)) void
widen (Range *range, VecF x)
{
  range->least = at_most (x, range->least);
  range->most = at_least (x, range->most);
  range->sum = plus (range->sum, x);
}

/* NaN is left out of @least and @most, and makes @sum NaN. */
static void
find_range (const gfloat *from, gsize n, gfloat *least, gfloat *most, gfloat *sum)
{
  Range ranges[CHAINS];
  gfloat lanes[3][LANES];
  SL_UNROLL
  for (gint i = 0; i < CHAINS; i++)
    ranges[i] = (Range){ set_floats (0), set_floats (0), set_floats (0) };
  gsize i = 0;
  for (; i + STEP <= n; i += STEP) {
    SL_UNROLL
    for (gint k = 0; k < CHAINS; k++)
      widen (&ranges[k], load_floats (from + i + k * LANES));
  }
  for (; i + LANES <= n; i += LANES)
    widen (&ranges[0], load_floats (from + i));
  SL_UNROLL
  for (gint k = 1; k < CHAINS; k++)
    ranges[0] =
      (Range){ at_most (ranges[k].least, ranges[0].least),
               at_least (ranges[k].most, ranges[0].most), plus (ranges[k].sum, ranges[0].sum) };
  store_floats (lanes[0], LANES, ranges[0].least);
  store_floats (lanes[1], LANES, ranges[0].most);
  store_floats (lanes[2], LANES, ranges[0].sum);
  /* By halves: a chain through all lanes would take longer than a short row. */
  SL_UNROLL
  for (gint half = LANES / 2; half > 0; half /= 2) {
    SL_UNROLL
    for (gint k = 0; k < half; k++) {
      lanes[0][k] = MIN (lanes[0][k], lanes[0][k + half]);
      lanes[1][k] = MAX (lanes[1][k], lanes[1][k + half]);
      lanes[2][k] += lanes[2][k + half];
    }
  }
  *least = lanes[0][0];
  *most = lanes[1][0];
  *sum = lanes[2][0];
  for (; i < n; i++) {
    *least = MIN (*least, from[i]);
    *most = MAX (*most, from[i]);
    *sum += from[i];
  }
}

static inline __attribute__ ((always_inline)) Vec
codes_of (const gfloat *from, VecF inverse, const Narrow *narrow)
{
  const Vec x[4] = { rounded (times (load_floats (from), inverse)),
                     rounded (times (load_floats (from + LANES), inverse)),
                     rounded (times (load_floats (from + 2 * LANES), inverse)),
                     rounded (times (load_floats (from + 3 * LANES), inverse)) };
  return in_order (to_bytes (narrow, x));
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

void
SL_SIMD (sl_int8_round) (const gfloat *from, gsize n, gboolean whole, void *to, SlInt8Row *row)
{
  gfloat least = 0, most = 0, sum = 0, last[STEP] = { 0 };
  find_range (from, n, &least, &most, &sum);
  const gfloat poison = (most - least + sum) * 0;
  const SlRowCodes as = sl_row_codes (least, most, ROUNDED_MOST, whole);
  *row = (SlInt8Row){ as.scale + poison, -as.zero };
  const SlInt8Output output = {
    .zero_point = (gint16) as.zero, .lo = 0, .hi = ROUNDED_MOST, .flip = FLIP
  };
  const Narrow narrow = narrow_of (&output);
  const VecF inverse = set_floats (poison == 0 ? as.inverse : 0);
  gsize i = 0;
  for (; i + STEP <= n; i += STEP)
    put (to, i, STEP, codes_of (from + i, inverse, &narrow));
  for (gsize k = i; k < n; k++)
    last[k - i] = from[k];
  if (i < n)
    put (to, i, n - i, codes_of (last, inverse, &narrow));
}
