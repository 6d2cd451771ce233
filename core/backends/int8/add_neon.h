/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Addition on Arm in 16 bits, with the results of the definition in isa.h bit by bit. Multipliers
 * are three digits of seven bits, so that products of a digit and their sums fit 16 bits. The sum
 * of a digit is divided by 128 and goes to that of the next one: divisions that round down may be
 * done one after the other.
 */
#pragma once

#include "core/backends/int8/simd.h"

#ifdef __aarch64__

#define DIGIT_BITS 7
#define DIGITS 3
/* What of the shift is left behind the last digit is at most this, so that sums which 16 bits
 * cannot hold are beyond the limits of 8 bits, too. */
#define MAX_LEFT 8
/* Values of one round: chains enough for processors that keep the order. */
#define ADD_STEP 32

/** A sum's constants. @c: what is added to each digit; @flip, @flip_out: to signed values and back.
 */
typedef struct
{
  int8x16_t a[DIGITS], b[DIGITS];
  int16x8_t c[DIGITS], left;
  int8x16_t lo, hi;
  uint8x16_t flip, flip_out;
} Digits;

static inline gint32
digit_of (gint32 value, gint i)
{
  value >>= DIGIT_BITS * i;
  return i + 1 < DIGITS ? value & ((1 << DIGIT_BITS) - 1) : value;
}

/* FALSE where halves below zero are rounded down, and where numbers do not fit. */
static inline gboolean
digits_init (Digits *digits, const SlInt8Add *add)
{
  const gint left = add->shift - (DIGITS - 1) * DIGIT_BITS;
  const gint64 c = add->bias + 128 * ((gint64) add->a + add->b)
                   + (((gint64) add->output.zero_point - 128) << add->shift);
  const gint64 last = c >> ((DIGITS - 1) * DIGIT_BITS);
  if (add->lift > 0 || left < 0 || left > MAX_LEFT || last < G_MININT16 || last > G_MAXINT16
      || MAX (add->a, add->b) >> (DIGITS * DIGIT_BITS) != 0)
    return FALSE;
  SL_UNROLL
  for (gint i = 0; i < DIGITS; i++) {
    digits->a[i] = vdupq_n_s8 ((gint8) digit_of (add->a, i));
    digits->b[i] = vdupq_n_s8 ((gint8) digit_of (add->b, i));
    digits->c[i] = vdupq_n_s16 ((gint16) digit_of ((gint32) c, i));
  }
  digits->left = vdupq_n_s16 ((gint16) -left);
  digits->lo = vdupq_n_s8 ((gint8) (add->output.lo - 128));
  digits->hi = vdupq_n_s8 ((gint8) (add->output.hi - 128));
  digits->flip = vdupq_n_u8 (add->flip ^ 0x80);
  digits->flip_out = vdupq_n_u8 (add->output.flip ^ 0x80);
  return TRUE;
}

/* @sums[0] of the lower and @sums[1] of the upper eight. */
static inline __attribute__ ((always_inline)) void
add_digit (const Digits *digits, const gint i, int8x16_t a, int8x16_t b, int16x8_t sums[2])
{
  const int8x16_t by_a = digits->a[i], by_b = digits->b[i];
  int16x8_t low, high;
  if (i + 1 < DIGITS) {
    low = vmlal_s8 (digits->c[i], vget_low_s8 (a), vget_low_s8 (by_a));
    high = vmlal_high_s8 (digits->c[i], a, by_a);
  } else {
    low = vmull_s8 (vget_low_s8 (a), vget_low_s8 (by_a));
    high = vmull_high_s8 (a, by_a);
  }
  low = vmlal_s8 (low, vget_low_s8 (b), vget_low_s8 (by_b));
  high = vmlal_high_s8 (high, b, by_b);
  sums[0] = i > 0 ? vsraq_n_s16 (low, sums[0], DIGIT_BITS) : low;
  sums[1] = i > 0 ? vsraq_n_s16 (high, sums[1], DIGIT_BITS) : high;
}

static inline __attribute__ ((always_inline)) int16x8_t
shifted (const Digits *digits, int16x8_t sum)
{
  return vshlq_s16 (vqaddq_s16 (sum, digits->c[DIGITS - 1]), digits->left);
}

static inline __attribute__ ((always_inline)) int8x16_t
load_signed (const Digits *digits, const guint8 *at, const gboolean flips)
{
  const uint8x16_t values = vld1q_u8 (at);
  return vreinterpretq_s8_u8 (flips ? veorq_u8 (values, digits->flip) : values);
}

/* ADD_STEP sums. */
static inline __attribute__ ((always_inline)) void
add_step (const Digits *digits, const guint8 *a, const guint8 *b, const gboolean flips,
          uint8x16_t out[ADD_STEP / VEC_BYTES])
{
  const gint n = ADD_STEP / VEC_BYTES;
  int8x16_t x[ADD_STEP / VEC_BYTES], y[ADD_STEP / VEC_BYTES];
  int16x8_t sums[ADD_STEP / VEC_BYTES][2];
  SL_UNROLL
  for (gint k = 0; k < n; k++) {
    x[k] = load_signed (digits, a + k * VEC_BYTES, flips);
    y[k] = load_signed (digits, b + k * VEC_BYTES, flips);
  }
  SL_UNROLL
  for (gint i = 0; i < DIGITS; i++) {
    SL_UNROLL
    for (gint k = 0; k < n; k++)
      add_digit (digits, i, x[k], y[k], sums[k]);
  }
  SL_UNROLL
  for (gint k = 0; k < n; k++) {
    const int8x16_t codes =
      vqmovn_high_s16 (vqmovn_s16 (shifted (digits, sums[k][0])), shifted (digits, sums[k][1]));
    const uint8x16_t limited =
      vreinterpretq_u8_s8 (vminq_s8 (vmaxq_s8 (codes, digits->lo), digits->hi));
    out[k] = flips ? veorq_u8 (limited, digits->flip_out) : limited;
  }
}

static inline __attribute__ ((always_inline)) void
add_steps (const Digits *digits, const guint8 *a, const guint8 *b, guint8 *out, gsize n,
           const gboolean flips)
{
  for (gsize i = 0; i < n; i += ADD_STEP) {
    uint8x16_t codes[ADD_STEP / VEC_BYTES];
    add_step (digits, a + i, b + i, flips, codes);
    if (n - i >= ADD_STEP) {
      vst1q_u8 (out + i, codes[0]);
      vst1q_u8 (out + i + VEC_BYTES, codes[1]);
      continue;
    }
    guint8 last[ADD_STEP];
    vst1q_u8 (last, codes[0]);
    vst1q_u8 (last + VEC_BYTES, codes[1]);
    memcpy (out + i, last, n - i);
  }
}

/* FALSE where it does not know such a sum. */
static inline gboolean
add_by_digits (const SlInt8Add *add, const guint8 *a, const guint8 *b, guint8 *out, gsize n)
{
  Digits digits;
  if (!digits_init (&digits, add))
    return FALSE;
  if (add->flip == 0x80 && add->output.flip == 0x80)
    add_steps (&digits, a, b, out, n, FALSE);
  else
    add_steps (&digits, a, b, out, n, TRUE);
  return TRUE;
}
#endif
