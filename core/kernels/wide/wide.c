/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled once for each instruction set, named by SL_WIDE_NAME; plain loops that compilers make vectors of. */
#include "core/kernels/wide/wide.h"

#if defined(__AVX512VBMI__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define PASTE(a, b) a##b
#define TABLE(name) PASTE (sl_wide_, name)
#define STRING(name) #name
#define NAME(name) STRING (name)

/* Whole vectors of a look-up; returns how many bytes are done. */
#if defined(__AVX512VBMI__)
static gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  const __m512i t0 = _mm512_loadu_si512 (table), t1 = _mm512_loadu_si512 (table + 64);
  const __m512i t2 = _mm512_loadu_si512 (table + 128), t3 = _mm512_loadu_si512 (table + 192);
  gsize i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i x = _mm512_loadu_si512 (in + i);
    const __m512i low = _mm512_permutex2var_epi8 (t0, x, t1), high = _mm512_permutex2var_epi8 (t2, x, t3);
    _mm512_storeu_si512 (out + i, _mm512_mask_blend_epi8 (_mm512_movepi8_mask (x), low, high));
  }
  return i;
}
#elif defined(__aarch64__)
static gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  uint8x16x4_t parts[4];
  gsize i = 0;
  for (guint k = 0; k < 4; k++)
    for (guint j = 0; j < 4; j++)
      parts[k].val[j] = vld1q_u8 (table + 64 * k + 16 * j);
  for (; i + 16 <= n; i += 16) {
    const uint8x16_t x = vld1q_u8 (in + i);
    uint8x16_t found = vqtbl4q_u8 (parts[0], x);
    for (guint k = 1; k < 4; k++)
      found = vqtbx4q_u8 (found, parts[k], veorq_u8 (x, vdupq_n_u8 ((guint8) (64 * k))));
    vst1q_u8 (out + i, found);
  }
  return i;
}
#else
static gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  return 0;
}
#endif

static void
look_up (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  for (gsize i = look_up_vectors (table, in, out, n); i < n; i++)
    out[i] = table[in[i]];
}

static void
across_u8 (const guint8 *left, const guint8 *right, gint32 weight, gint32 *out, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = left[i] * (1 << SL_BLEND_BITS) + (right[i] - left[i]) * weight;
}

static void
across_i8 (const gint8 *left, const gint8 *right, gint32 weight, gint32 *out, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = left[i] * (1 << SL_BLEND_BITS) + (right[i] - left[i]) * weight;
}

static void
down (const gint32 *top, const gint32 *bottom, gint32 weight, guint8 *out, gsize n)
{
  for (gsize i = 0; i < n; i++) {
    const gint32 sum = top[i] * (1 << SL_BLEND_BITS) + (bottom[i] - top[i]) * weight;
    out[i] = (guint8) ((sum + (1 << (2 * SL_BLEND_BITS - 1))) >> (2 * SL_BLEND_BITS));
  }
}

const SlWide TABLE (SL_WIDE_NAME) = { NAME (SL_WIDE_NAME), look_up, across_u8, across_i8, down };
