/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators and curves in binary16, and the row of Arm's processors that compute so. */
#include "core/backends/float/simd.h"

/* The decay of larger numbers is less than the smallest one of binary16. */
#define FAR 16
/* What a decay is multiplied by, so that it keeps its digits. */
#define RAISED 1024
/* Where a number's exponent begins. */
#define FRACTION_BITS 10
/* Numbers near this one are whole, and their last bits are how far they are from 1536, plus 10 for
 * RAISED. */
#define WHOLE 1546

/* e^-@size times RAISED, of 0 to FAR. The power of two that is nearest, and a polynomial of degree
 * 3 for what is left, 1e-4 off at most relative to the result. The logarithm is in two parts, so
 * that what is left is exact. */
static inline Vec
raised_decay (Vec size)
{
  const Vec power = fused (size, broadcast (-1.442695f), broadcast (WHOLE)),
            near = fused (size, broadcast (-1.4423828125f), vsubq_f16 (broadcast (WHOLE), power)),
            left = fused (size, broadcast (-3.12236e-4f), near);
  Vec sum = broadcast (0.0550f);
  sum = fused (sum, left, broadcast (0.2422f));
  sum = fused (sum, left, broadcast (0.6933f));
  sum = fused (sum, left, broadcast (1));
  return vreinterpretq_f16_s16 (vaddq_s16 (
    vreinterpretq_s16_f16 (sum), vshlq_n_s16 (vreinterpretq_s16_f16 (power), FRACTION_BITS)));
}

/* @x, or 1 for the logistic function, times 1 / (1 + e^-x), of which both are computed with the
 * decay of |x|. */
static inline Vec
gated (Vec x, const gboolean logistic)
{
  const Vec size = smaller (vabsq_f16 (x), broadcast (FAR)), raised = raised_decay (size),
            sum = fused (raised, broadcast (1.0f / RAISED), broadcast (1));
  const Vec about = vrecpeq_f16 (sum), share = vmulq_f16 (about, vrecpsq_f16 (sum, about)),
            factor =
              logistic ? broadcast (1.0f / RAISED) : vmulq_f16 (size, broadcast (-1.0f / RAISED));
  return vmulq_f16 (
    vbslq_f16 (vcltzq_f16 (x), vmulq_f16 (raised, factor), logistic ? broadcast (1) : x), share);
}

static inline Vec
hard_swish (Vec x)
{
  const Vec gate = limited (vaddq_f16 (x, broadcast (3)), broadcast (0), broadcast (6));
  return vmulq_f16 (x, vmulq_f16 (gate, broadcast (1 / 6.0f)));
}

static gboolean
bends (SlActivation activation)
{
  return activation == SL_ACTIVATION_LOGISTIC || activation == SL_ACTIVATION_SILU
         || activation == SL_ACTIVATION_HARD_SWISH;
}

static inline __attribute__ ((always_inline)) Vec
curve (Vec x, const SlActivation activation)
{
  return activation == SL_ACTIVATION_HARD_SWISH ? hard_swish (x)
                                                : gated (x, activation == SL_ACTIVATION_LOGISTIC);
}

static void
activate (SlActivation activation, const guint16 *in, guint16 *out, gsize n)
{
  if (activation == SL_ACTIVATION_LOGISTIC)
    bend (curve, SL_ACTIVATION_LOGISTIC, in, out, n);
  else if (activation == SL_ACTIVATION_SILU)
    bend (curve, SL_ACTIVATION_SILU, in, out, n);
  else
    bend (curve, SL_ACTIVATION_HARD_SWISH, in, out, n);
}

static inline __attribute__ ((always_inline)) void
combine (const guint16 *a, const guint16 *b, guint16 *out, gsize n, gfloat lo, gfloat hi,
         const gboolean product)
{
  const Vec least = broadcast (lo), most = broadcast (hi);
  const gint32 left = (gint32) (n % LANES);
  gsize i = 0;
  for (; i + LANES <= n; i += LANES) {
    const Vec x = load (a + i), y = load (b + i);
    store (out + i, limited (product ? vmulq_f16 (x, y) : vaddq_f16 (x, y), least, most));
  }
  if (left > 0) {
    const Vec x = load_first (a + i, left), y = load_first (b + i, left);
    store_first (out + i, left,
                 limited (product ? vmulq_f16 (x, y) : vaddq_f16 (x, y), least, most));
  }
}

static void
add (const guint16 *a, const guint16 *b, guint16 *out, gsize n, gfloat lo, gfloat hi)
{
  combine (a, b, out, n, lo, hi, FALSE);
}

static void
multiply (const guint16 *a, const guint16 *b, guint16 *out, gsize n, gfloat lo, gfloat hi)
{
  combine (a, b, out, n, lo, hi, TRUE);
}

extern const SlFloatHalves sl_float_halves_fp16;

const SlFloatHalves sl_float_halves_fp16 = {
  sl_float_multiply_halves, sl_float_depthwise_fp16, add, multiply, bends, activate
};
