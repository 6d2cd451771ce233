/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An exponential in registers: the argument is split into a power of two and a remainder, whose
 * exponential is a polynomial of degree 5. */
#pragma once

#include "core/backends/float/simd.h"

/* The least and the largest argument whose exponential is a normal number. */
#define LEAST -87.3f
#define MOST 88.3f
/* ln 2 in two parts: the first has so few digits that its products with whole numbers are exact. */
#define LN2_HIGH 0.693359375f
#define LN2_LOW -2.12194440e-4f

/* e^-@x. Coefficients of the least relative error, 1.1e-7, where the first two are 1. */
static inline Vec
decay (Vec x)
{
  x = limited (x, broadcast (-MOST), broadcast (-LEAST));
  const Vec power = rounded (x * broadcast (-1.44269504f));
  Vec rest = fused (power, broadcast (LN2_HIGH), x);
  rest = fused (power, broadcast (LN2_LOW), rest);
  Vec sum = broadcast (-8.3125019e-3f);
  sum = fused (sum, rest, broadcast (4.1890334e-2f));
  sum = fused (sum, rest, broadcast (-1.6667116e-1f));
  sum = fused (sum, rest, broadcast (4.9999231e-1f));
  sum = fused (sum, rest, broadcast (-1));
  sum = fused (sum, rest, broadcast (1));
  return times_power (sum, power);
}
