/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Activations other than clamps: logistic, SiLU, hard swish, GELU, Mish and the hyperbolic
 * tangent. Most are computed with one exponential.
 */
#include "core/backends/float/decay.h"

/* @x / (1 + e^-@gate). The processor divides beside other operations, so this takes less time than
 * reciprocal_of(), which keeps the multipliers busy. */
static inline Vec
gated (Vec x, Vec gate)
{
  return x / one_and_decay (gate);
}

static inline Vec
hard_swish (Vec x)
{
  const Vec gate = limited (x + broadcast (3), broadcast (0), broadcast (6));
  return x * gate * broadcast (1 / 6.0f);
}

/* x erf (x / sqrt 2) is even, so it is taken of |x|. The error function is 1 less a polynomial of
 * degree 5 in 1 / (1 + p z) times e^-z^2 (Hastings), 1.5e-7 off at most. Behind 40, where it has
 * long been 1, the rest is not computed: infinity times 0 is NaN. */
static inline Vec
gelu (Vec x)
{
  const Vec size = larger (x, x * broadcast (-1)), near = smaller (broadcast (40), size),
            z = near * broadcast (0.70710678f);
  const Vec t = reciprocal_of (fused (z, broadcast (0.3275911f), broadcast (1)));
  Vec sum = broadcast (1.061405429f);
  sum = fused (sum, t, broadcast (-1.453152027f));
  sum = fused (sum, t, broadcast (1.421413741f));
  sum = fused (sum, t, broadcast (-0.284496736f));
  sum = fused (sum, t, broadcast (0.254829592f)) * t;
  const Vec rest = sum * decay (z * z);
  return broadcast (0.5f) * (x + fused (near * broadcast (-1), rest, size));
}

/* x logistic (2 u), since 1 + tanh u = 2 logistic (2 u) */
static inline Vec
gelu_tanh (Vec x)
{
  const Vec cube = x * x * x;
  return gated (x, fused (cube, broadcast (0.044715f), x) * broadcast (2 * 0.7978845608f));
}

/* x times a fraction of polynomials in its square, of degrees 6 and 3, 2e-9 off at most relative to
 * the result up to 8, where that is 1. */
static inline Vec
tangent (Vec x)
{
  x = limited (x, broadcast (-8), broadcast (8));
  const Vec square = x * x;
  Vec above = broadcast (-1.156464002e-13f), below = broadcast (2.612982589e-4f);
  above = fused (above, square, broadcast (6.365655772e-11f));
  above = fused (above, square, broadcast (-2.231490916e-8f));
  above = fused (above, square, broadcast (1.164250371e-5f));
  above = fused (above, square, broadcast (3.149370444e-3f));
  above = fused (above, square, broadcast (1.312435490e-1f));
  above = fused (above, square, broadcast (1));
  below = fused (below, square, broadcast (2.467502321e-2f));
  below = fused (below, square, broadcast (4.645768640e-1f));
  below = fused (below, square, broadcast (1));
  return x * above * reciprocal_of (below);
}

/* With d = e^-x the tangent is (1 + 2 d) / (1 + 2 d + 2 d^2). Below -40 it is less than rounding
 * errors. */
static inline Vec
mish (Vec x)
{
  x = larger (broadcast (-40), x);
  const Vec d = decay (x), above = fused (d, broadcast (2), broadcast (1));
  return x * above * reciprocal_of (fused (d * broadcast (2), d, above));
}

static inline __attribute__ ((always_inline)) Vec
curve (Vec x, const SlActivation activation)
{
  switch (activation) {
    case SL_ACTIVATION_LOGISTIC:
      return gated (broadcast (1), x);
    case SL_ACTIVATION_SILU:
      return gated (x, x);
    case SL_ACTIVATION_HARD_SWISH:
      return hard_swish (x);
    case SL_ACTIVATION_GELU:
      return gelu (x);
    case SL_ACTIVATION_TANH:
      return tangent (x);
    case SL_ACTIVATION_MISH:
      return mish (x);
    default:
      return gelu_tanh (x);
  }
}

void
SL_SIMD (sl_float_activate) (SlActivation activation, const gfloat *in, gfloat *out, gsize n)
{
  switch (activation) {
    case SL_ACTIVATION_LOGISTIC:
      bend (curve, SL_ACTIVATION_LOGISTIC, in, out, n);
      return;
    case SL_ACTIVATION_SILU:
      bend (curve, SL_ACTIVATION_SILU, in, out, n);
      return;
    case SL_ACTIVATION_HARD_SWISH:
      bend (curve, SL_ACTIVATION_HARD_SWISH, in, out, n);
      return;
    case SL_ACTIVATION_GELU:
      bend (curve, SL_ACTIVATION_GELU, in, out, n);
      return;
    case SL_ACTIVATION_TANH:
      bend (curve, SL_ACTIVATION_TANH, in, out, n);
      return;
    case SL_ACTIVATION_MISH:
      bend (curve, SL_ACTIVATION_MISH, in, out, n);
      return;
    default:
      bend (curve, SL_ACTIVATION_GELU_TANH, in, out, n);
  }
}
