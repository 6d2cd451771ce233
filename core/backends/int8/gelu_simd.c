/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GELU of rows that are rounded to 8 bits next: a step of these is at least fifty times the error.
 */
#include "core/backends/int8/simd.h"

#include "core/backends/int8/gelu.h"

/* GELU is x times the distribution function of the normal distribution. Up to an x of END, that is
 * 1/2 plus x times a polynomial of the square of x, and beyond it is limited to 0..1. The
 * coefficients have the least error of GELU, 1.9e-4. */
#define END 4
#define C0 3.97894308e-1f
#define C1 -6.45888141e-2f
#define C2 8.77971156e-3f
#define C3 -8.15558655e-4f
#define C4 4.81177075e-5f
#define C5 -1.60689644e-6f
#define C6 2.29458032e-8f

static inline __attribute__ ((always_inline)) VecF
gelu_of (VecF x)
{
  x = at_least (set_floats (-2 * END), x); /* 0 times infinity is NaN */
  const VecF square = at_most (set_floats (END * END), times (x, x));
  VecF sum = times_plus (set_floats (C6), square, set_floats (C5));
  sum = times_plus (sum, square, set_floats (C4));
  sum = times_plus (sum, square, set_floats (C3));
  sum = times_plus (sum, square, set_floats (C2));
  sum = times_plus (sum, square, set_floats (C1));
  sum = times_plus (sum, square, set_floats (C0));
  const VecF share = times_plus (x, sum, set_floats (0.5f));
  return times (x, at_most (set_floats (1), at_least (set_floats (0), share)));
}

void
SL_SIMD (sl_int8_gelu) (const gfloat *from, gfloat *to, gsize n)
{
  gsize i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    SL_UNROLL
    for (gint k = 0; k < 4; k++)
      store_floats (to + i + k * LANES, LANES, gelu_of (load_floats (from + i + k * LANES)));
  }
  for (; i < n; i += LANES)
    store_floats (to + i, (gint32) MIN (n - i, LANES),
                  gelu_of (load_first (from + i, (gint32) MIN (n - i, LANES))));
}
