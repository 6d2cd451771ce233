/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exponentials in registers: the argument is split into a power of two and a remainder, whose
 * exponential is a polynomial of degree 5. */
#pragma once

#include "core/backends/float/simd.h"

/* Powers of two that are normal numbers. */
#define LEAST_POWER -126
#define MOST_POWER 127
/* 2^x of the rest behind the whole power: ln 2 to the power of each place times the coefficients of
 * an exponential with the least relative error, 1.1e-7, where the first two are 1. */
#define C1 6.93147182e-1f
#define C2 2.40222779e-1f
#define C3 5.55052134e-2f
#define C4 9.66990391e-3f
#define C5 1.33004075e-3f

/* 2^@rest times two to a whole @power. */
static inline __attribute__ ((always_inline)) Vec
power_of_parts (Vec power, Vec rest)
{
  Vec sum = fused (broadcast (C5), rest, broadcast (C4));
  sum = fused (sum, rest, broadcast (C3));
  sum = fused (sum, rest, broadcast (C2));
  sum = fused (sum, rest, broadcast (C1));
  sum = fused (sum, rest, broadcast (1));
  return times_power (sum, power);
}

/* 2^@x, 0 below the least normal number; NaN stays NaN. */
static inline __attribute__ ((always_inline)) Vec
power_of_two (Vec x)
{
#ifdef SL_SCALES_TO_ZERO
  x = larger (broadcast (-150), x);
#else
  x = smaller (broadcast (MOST_POWER), larger (broadcast (LEAST_POWER), x));
#endif
  const Vec power = rounded (x), value = power_of_parts (power, x - power);
#ifdef SL_SCALES_TO_ZERO
  return value;
#else
  return larger (broadcast (0), value - broadcast (1.3e-38f));
#endif
}

#ifdef SL_PARTS
/* Numbers with this added are rounded to whole parts: those are the last bits of the sum. */
#define WHOLE_PARTS (12582912.0f / SL_PARTS)
/* Up to this e^-x is a normal number. */
#define MOST_DECAY 87.3f

/* (2^@rest - 1) / @rest of at most half a part either way: a polynomial that makes 2^@rest 4.3e-7
 * off at most with sixteenths, 2.6e-8 with eighths. */
static inline Vec
slope_of_rest (Vec rest)
{
#if SL_PARTS == 16
  return fused (rest, broadcast (2.402355522e-1f), broadcast (6.931878328e-1f));
#else
  return fused (rest, fused (rest, broadcast (5.551147461e-2f), broadcast (2.402576357e-1f)),
                broadcast (6.931471825e-1f));
#endif
}

/* e^-@x as a normal number is @power times 2^@rest, the latter less than half a part either way. */
static inline void
split_decay (Vec x, Vec *power, Vec *rest)
{
  const Vec by = broadcast (-1.44269504f), above = broadcast (WHOLE_PARTS);
  x = limited (x, broadcast (-MOST_DECAY), broadcast (MOST_DECAY));
  const Vec shifted = fused (x, by, above);
  *rest = fused (x, by, above - shifted);
  *power = power_of_whole (shifted);
}

/* e^-@x as a normal number. */
static inline Vec
decay (Vec x)
{
  Vec power, rest;
  split_decay (x, &power, &rest);
  return fused (power, rest * slope_of_rest (rest), power);
}

/* 2^(@score @scale - b), a normal number, where @above is WHOLE_PARTS - b and b is of whole parts.
 */
static inline Vec
share_of (Vec score, Vec scale, Vec above)
{
  const Vec shifted = fused (score, scale, above), rest = fused (score, scale, above - shifted),
            power = power_of_whole (shifted);
  return fused (power, rest * slope_of_rest (rest), power);
}

/* 1 + e^-@x */
static inline Vec
one_and_decay (Vec x)
{
  Vec power, rest;
  split_decay (x, &power, &rest);
  return fused (power, fused (rest, slope_of_rest (rest), broadcast (1)), broadcast (1));
}
#else
/* e^-@x as a normal number. The product with log2 e is rounded, which is 6e-8 times @x off. */
static inline Vec
decay (Vec x)
{
  x = limited (x * broadcast (-1.44269504f), broadcast (LEAST_POWER), broadcast (MOST_POWER));
  const Vec power = rounded (x);
  return power_of_parts (power, x - power);
}

/* 1 + e^-@x */
static inline Vec
one_and_decay (Vec x)
{
  return broadcast (1) + decay (x);
}
#endif
