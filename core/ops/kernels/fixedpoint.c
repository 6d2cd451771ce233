/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Multiplications and shifts as TensorFlow Lite's integer kernels round them; all in 64 bits, so
 * nothing overflows. */
#include "core/ops/kernels/fixedpoint.h"

#include <math.h>

/* Half of the divisor, towards the sign: what rounds a division that truncates. */
static gint64
half_of (gint64 product, gint bits)
{
  const gint64 half = (gint64) 1 << (bits - 1);
  return product >= 0 ? half : 1 - half;
}

SlFixed
sl_fixed_from_real (gdouble real)
{
  SlFixed fixed = { 0, 0 };
  const gdouble fraction = frexp (real, &fixed.exponent);
  gint64 mantissa = llround (ldexp (fraction, 31));
  if (mantissa == (gint64) 1 << 31) {
    mantissa /= 2;
    fixed.exponent++;
  }
  if (fixed.exponent < -31)
    return (SlFixed){ 0, 0 };
  fixed.mantissa = (gint32) mantissa;
  return fixed;
}

gint32
sl_fixed_multiply (gint32 x, SlFixed by)
{
  const gint64 shifted = (gint64) x * ((gint64) 1 << CLAMP (by.exponent, 0, 31));
  const gint64 product = CLAMP (shifted, G_MININT32, G_MAXINT32) * by.mantissa;
  const gint64 rounded = (product + half_of (product, 31)) / ((gint64) 1 << 31);
  return (gint32) sl_fixed_shift_right (CLAMP (rounded, G_MININT32, G_MAXINT32),
                                        MAX (-by.exponent, 0));
}

gint16
sl_fixed_mantissa16 (SlFixed fixed)
{
  return (gint16) MIN (((gint64) fixed.mantissa + (1 << 15)) >> 16, G_MAXINT16);
}

gint16
sl_fixed_product16 (gint16 a, gint16 b)
{
  const gint64 product = (gint64) a * b;
  return (gint16) MIN ((product + half_of (product, 15)) / (1 << 15), G_MAXINT16);
}

gint16
sl_fixed_product16_truncated (gint16 a, gint16 b)
{
  return (gint16) MIN ((gint64) a * b / (1 << 15), G_MAXINT16);
}

gint16
sl_fixed_shift_left16 (gint16 x, gint bits)
{
  const gint64 shifted = (gint64) x * ((gint64) 1 << MIN (bits, 16));
  return (gint16) CLAMP (shifted, G_MININT16, G_MAXINT16);
}

gint64
sl_fixed_shift_right (gint64 x, gint bits)
{
  const gint64 half = bits > 0 ? (gint64) 1 << (bits - 1) : 0;
  return x >= 0 ? (x + half) >> bits : -((-x + half) >> bits);
}
