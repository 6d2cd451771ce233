/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/half.h"

#include <math.h>
#include <string.h>

/* Between the exponents of 0 in a float and in binary16. */
#define EXPONENTS (112u << 23)
/* Numbers that are converted at once. */
#define AT_ONCE 8

/* Without branches, so that several are converted in a register. */
static inline gfloat
widened (guint16 half)
{
  const guint32 magnitude = half & 0x7fff;
  const gfloat least = (gfloat) magnitude * 0x1p-24f; /* of exponent 0 */
  guint32 small, bits = (magnitude << 13) + EXPONENTS;
  gfloat value;
  memcpy (&small, &least, sizeof small);
  bits += magnitude >= 0x7c00 ? EXPONENTS : 0;
  bits = (magnitude < 0x400 ? small : bits) | (guint32) (half & 0x8000) << 16;
  memcpy (&value, &bits, sizeof value);
  return value;
}

gfloat
sl_half_to_float (guint16 half)
{
  return widened (half);
}

void
sl_half_to_floats (const guint16 *halves, gfloat *to, gsize n)
{
  gsize i = 0;
  for (; i + AT_ONCE <= n; i += AT_ONCE)
    for (gsize k = 0; k < AT_ONCE; k++)
      to[i + k] = widened (halves[i + k]);
  for (; i < n; i++)
    to[i] = widened (halves[i]);
}

guint16
sl_half_from_float (gfloat value)
{
  const guint16 sign = signbit (value) ? 0x8000 : 0;
  const gfloat magnitude = fabsf (value);
  int exponent = 0;
  if (isnan (value))
    return 0x7e00;
  if (magnitude >= 65520.0f)
    return sign | 0x7c00;
  if (magnitude < 0x1p-14f)
    return sign | (guint16) lrintf (ldexpf (magnitude, 24));
  const gfloat fraction = frexpf (magnitude, &exponent); /* 0.5 up to 1 */
  return sign | (guint16) (((exponent + 13) << 10) + (gint) lrintf (ldexpf (fraction, 11)));
}

gboolean
sl_half_holds (gfloat value)
{
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  const gfloat magnitude = fabsf (value);
  if (magnitude >= 0x1p-14f || magnitude == 0)
    return magnitude <= SL_HALF_MOST && (bits & 0x1fff) == 0;
  return sl_half_to_float (sl_half_from_float (value)) == value;
}

gfloat
sl_bfloat_to_float (guint16 bfloat)
{
  const guint32 bits = (guint32) bfloat << 16;
  gfloat value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

guint16
sl_bfloat_from_float (gfloat value)
{
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  if (isnan (value))
    return (guint16) (bits >> 16 | 0x40);
  return (guint16) ((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
