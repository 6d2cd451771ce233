/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Look-ups of bytes in a table of 256, whose parts are in registers. */
#pragma once

#include <glib.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* As much of a look-up as vectors do; returns how many bytes that is. */
#if defined(__AVX512VBMI__)
static inline gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  const __m512i t0 = _mm512_loadu_si512 (table), t1 = _mm512_loadu_si512 (table + 64);
  const __m512i t2 = _mm512_loadu_si512 (table + 128), t3 = _mm512_loadu_si512 (table + 192);
  for (gsize i = 0; i < n; i += 64) {
    const __mmask64 some = n - i >= 64 ? ~(__mmask64) 0 : ((__mmask64) 1 << (n - i)) - 1;
    const __m512i x = _mm512_maskz_loadu_epi8 (some, in + i);
    const __m512i low = _mm512_permutex2var_epi8 (t0, x, t1),
                  high = _mm512_permutex2var_epi8 (t2, x, t3);
    _mm512_mask_storeu_epi8 (out + i, some,
                             _mm512_mask_blend_epi8 (_mm512_movepi8_mask (x), low, high));
  }
  return n;
}
#elif defined(__AVX2__)
/* Parts of half a table, of 16 bytes each. */
#define EIGHTHS 8

/* A shuffle gives 0 where the top bit of an index is set, and looks at its last four bits. So the
 * @k-th one may change all values from 16 @k to 127: it has the difference between its part of the
 * table and the part before. */
static inline __m256i
look_up_half (const __m256i *changes, __m256i x)
{
  const __m256i sixteen = _mm256_set1_epi8 (16);
  __m256i found = _mm256_shuffle_epi8 (changes[0], x);
  for (guint k = 1; k < EIGHTHS; k++) {
    x = _mm256_subs_epi8 (x, sixteen);
    found = _mm256_xor_si256 (found, _mm256_shuffle_epi8 (changes[k], x));
  }
  return found;
}

static inline gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  const __m256i top = _mm256_set1_epi8 ((char) 0x80);
  __m256i changes[2][EIGHTHS];
  gsize i = 0;
  for (guint h = 0; n >= 32 && h < 2; h++) {
    __m256i before = _mm256_setzero_si256 ();
    for (guint k = 0; k < EIGHTHS; k++) {
      const __m128i part = _mm_loadu_si128 ((const __m128i *) (table + 128 * h + 16 * k));
      const __m256i both = _mm256_broadcastsi128_si256 (part);
      changes[h][k] = _mm256_xor_si256 (both, before);
      before = both;
    }
  }
  for (; i + 32 <= n; i += 32) {
    const __m256i x = _mm256_loadu_si256 ((const __m256i *) (in + i));
    _mm256_storeu_si256 ((__m256i *) (out + i),
                         _mm256_xor_si256 (look_up_half (changes[0], x),
                                           look_up_half (changes[1], _mm256_xor_si256 (x, top))));
  }
  return i;
}
#elif defined(__aarch64__)
static inline gsize
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
static inline gsize
look_up_vectors (const guint8 *table, const guint8 *in, guint8 *out, gsize n)
{
  return 0;
}
#endif
