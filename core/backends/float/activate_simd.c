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

#ifdef SL_PARTS
/* GELU is max (x, 0) and a term that depends on |x| and vanishes from about 6 on. Up to there the
 * term is a polynomial in each of LANES intervals, of which there are so many a unit. The middle of
 * the first one is 0. */
#if LANES == 16
#define INTERVALS_A_UNIT 2.625f
#else
#define INTERVALS_A_UNIT 1.25f
#endif

/* By power of the distance from the middle, the coefficient of each interval. The term is 1.7e-8
 * off at most, or 7e-8 where a register has eight lanes. */
static const gfloat terms[][LANES] = {
#if LANES == 16
  { 0, -1.33950204e-01f, -1.69949278e-01f, -1.44627392e-01f, -9.71857607e-02f, -5.41057400e-02f,
    -2.54525449e-02f, -1.02143455e-02f, -3.51485074e-03f, -1.04017172e-03f, -2.65209179e-04f,
    -5.83252368e-05f, -1.10723149e-05f, -1.81534278e-06f, -2.57142602e-07f, -3.11094936e-08f },
  { -1.90476194e-01f, -8.01061243e-02f, 1.64726342e-03f, 4.21874151e-02f, 4.82300334e-02f,
    3.63618657e-02f, 2.12449338e-02f, 1.01176817e-02f, 4.01599333e-03f, 1.34426774e-03f,
    3.82088416e-04f, 9.26284411e-05f, 1.92098614e-05f, 3.41524378e-06f, 5.21327536e-07f,
    6.91685074e-08f },
  { 5.78962043e-02f, 4.99364324e-02f, 3.07402536e-02f, 1.04547469e-02f, -2.91865319e-03f,
    -7.68190855e-03f, -6.84875203e-03f, -4.22665570e-03f, -2.02947762e-03f, -7.91162951e-04f,
    -2.55618594e-04f, -6.92516915e-05f, -1.58471394e-05f, -3.07809887e-06f, -5.09248366e-07f,
    -9.68470033e-08f },
  { 2.92898835e-06f, -5.02028363e-03f, -7.16430182e-03f, -5.89005137e-03f, -2.94366968e-03f,
    -4.24461090e-04f, 7.54844048e-04f, 8.71171593e-04f, 5.69865806e-04f, 2.73837388e-04f,
    1.03897321e-04f, 3.21186089e-05f, 8.22776929e-06f, 1.76458218e-06f, 3.18995916e-07f,
    -2.72151102e-09f },
  { -1.41680695e-03f, -9.72020091e-04f, -7.46425576e-05f, 6.18478458e-04f, 7.47085433e-04f,
    4.69377177e-04f, 1.37636453e-04f, -4.60063602e-05f, -8.42786176e-05f, -5.87365357e-05f,
    -2.81082521e-05f, -1.03307339e-05f, -3.04589730e-06f, -7.36585434e-07f, -1.48031589e-07f,
    1.50747454e-07f },
  { 3.77469260e-05f, 1.53951347e-04f, 1.80511750e-04f, 8.45932736e-05f, -2.66998632e-05f,
    -7.18338633e-05f, -5.43236747e-05f, -1.97601621e-05f, 1.49104812e-06f, 6.82496648e-06f,
    4.94372807e-06f, 2.30108913e-06f, 8.02737929e-07f, 2.21631907e-07f, 4.97383930e-08f,
    3.72974910e-07f },
#else
  { 0, -1.69484317e-01f, -8.76788646e-02f, -1.96740869e-02f, -2.19884142e-03f, -1.26684972e-04f,
    -3.80797519e-06f, -6.00185075e-08f },
  { -4.00000006e-01f, 1.59173869e-02f, 9.81398076e-02f, 3.64394896e-02f, 5.55346068e-03f,
    4.02926031e-04f, 1.45809472e-05f, 2.70875233e-07f },
  { 2.55322754e-01f, 1.26073942e-01f, -1.98769812e-02f, -2.69451719e-02f, -6.28634403e-03f,
    -5.99556428e-04f, -2.66716397e-05f, -5.76609978e-07f },
  { 7.12895007e-06f, -6.64198250e-02f, -2.18263175e-02f, 8.07142723e-03f, 4.06536879e-03f,
    5.47964999e-04f, 3.07583687e-05f, 7.38407664e-07f },
  { -2.72923112e-02f, 3.42133048e-04f, 1.39439087e-02f, 1.20337494e-03f, -1.51332538e-03f,
    -3.38131998e-04f, -2.52229074e-05f, -9.28149575e-07f },
  { 2.00930081e-04f, 6.96630729e-03f, -1.59950310e-03f, -1.78321730e-03f, 1.88555612e-04f,
    1.44921505e-04f, 1.64143512e-05f, 1.00110003e-06f },
  { 2.34301458e-03f, -8.32760357e-04f, -9.80332727e-04f, 5.02818380e-04f, 9.16279751e-05f,
    -3.81337231e-05f, -7.31644377e-06f, 2.02073622e-07f },
#endif
};

/* Behind the last interval |x| is at its end, where the term is 0. */
static inline Vec
gelu (Vec x)
{
  const Vec by = broadcast (INTERVALS_A_UNIT), above = broadcast (12582912),
            end = broadcast ((LANES - 0.50001f) / INTERVALS_A_UNIT),
            size = smaller (end, larger (x * broadcast (-1), x));
  const Vec shifted = fused (size, by, above), rest = fused (size, by, above - shifted);
  Vec sum = part_of (terms[G_N_ELEMENTS (terms) - 1], shifted);
  SL_UNROLL
  for (gint i = (gint) G_N_ELEMENTS (terms) - 2; i >= 0; i--)
    sum = fused (sum, rest, part_of (terms[i], shifted));
  return larger (broadcast (0), x) + sum;
}
#else
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
#endif

/* x logistic (2 u), since 1 + tanh u = 2 logistic (2 u) */
static inline Vec
gelu_tanh (Vec x)
{
  const Vec cube = x * x * x;
  return gated (x, fused (cube, broadcast (0.044715f), x) * broadcast (2 * 0.7978845608f));
}

/* x times a fraction of polynomials in its square, of degrees 6 and 3, 2e-9 off at most relative to
 * the result up to 8. At 8.25 the fraction is nearest to 1, 1.7e-7 below. */
static inline Vec
tangent (Vec x)
{
  x = limited (x, broadcast (-8.25f), broadcast (8.25f));
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
