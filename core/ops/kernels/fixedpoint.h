/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fixed-point arithmetic of other runtimes, for the operators whose bytes depend on it (internal to
 * core). TensorFlow Lite's kernels multiply by a real number as a mantissa of 31 bits and a power
 * of two, and round after each of the two; XNNPACK's elementwise kernels multiply by 8 fractional
 * bits and round once.
 */
#pragma once

#include <glib.h>

/** A real number: @mantissa * 2^(@exponent - 31), @mantissa of 31 bits beside its sign, or 0 for
 * less than 2^-32. */
typedef struct
{
  gint32 mantissa;
  gint exponent;
} SlFixed;

/** sl_fixed_from_real: @real must be finite. */
SlFixed sl_fixed_from_real (gdouble real);
/** sl_fixed_multiply: @x times @by, rounded half up to 31 fractional bits, then half away from zero
 * to a whole number; saturates. */
gint32 sl_fixed_multiply (gint32 x, SlFixed by);
/** sl_fixed_mantissa16: the mantissa of a number above 0, rounded half up to 15 bits, saturated. */
gint16 sl_fixed_mantissa16 (SlFixed fixed);

/** sl_fixed_product16: @a * @b / 2^15, rounded half up, or half down below zero; saturates. */
gint16 sl_fixed_product16 (gint16 a, gint16 b);
/** sl_fixed_product16_truncated: the same, rounded towards zero. */
gint16 sl_fixed_product16_truncated (gint16 a, gint16 b);
/** sl_fixed_shift_left16: @x * 2^@bits, saturated; @bits >= 0. */
gint16 sl_fixed_shift_left16 (gint16 x, gint bits);
/** sl_fixed_shift_right: @x / 2^@bits, rounded half away from zero; @bits 0..63. */
gint64 sl_fixed_shift_right (gint64 x, gint bits);

/** sl_fixed8_multiply: @x times @multiplier, which has 8 fractional bits, rounded half up. */
static inline gint32
sl_fixed8_multiply (gint32 x, gint32 multiplier)
{
  return (x * multiplier + 128) >> 8;
}
