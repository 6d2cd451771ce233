/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Depthwise loop for AVX2, 16 channels at a time: taps widened to int16 and paired, two products to a lane. */
#include "core/kernels/int8/simd.h"

#define BLOCK 16

/* The codes of a tap; with @sign, 0x80 in every element, those of an int8 tensor. */
static inline __m256i
tap_at (const guint8 *at, __m256i sign)
{
  const __m256i codes = _mm256_cvtepu8_epi16 (_mm_loadu_si128 ((const __m128i *) at));
  return _mm256_sub_epi16 (_mm256_xor_si256 (codes, sign), sign);
}

void
sl_int8_depthwise_avx2 (const SlInt8Depthwise *layer, const guint8 *const *taps, guint8 *out)
{
  const Narrow narrow = narrow_of (&layer->output);
  const __m256i sign = _mm256_set1_epi16 (layer->is_signed ? 0x80 : 0);
  for (gint32 channel = 0; channel < layer->channels; channel += BLOCK) {
    const gint16 *weights = (const gint16 *) (gconstpointer) (layer->weights + (gsize) (channel / BLOCK) * layer->block_bytes);
    __m256i even = load (layer->bias + channel), odd = load (layer->bias + channel + LANES);
    for (gint32 i = 0; i < 2 * layer->quads; i++, weights += 2 * BLOCK) {
      const __m256i first = tap_at (taps[2 * i] + channel, sign), second = tap_at (taps[2 * i + 1] + channel, sign);
      even = dot (even, _mm256_unpacklo_epi16 (first, second), load (weights));
      odd = dot (odd, _mm256_unpackhi_epi16 (first, second), load (weights + BLOCK));
    }
    even = scaled (even, _mm256_loadu_ps (layer->scale + channel));
    odd = scaled (odd, _mm256_loadu_ps (layer->scale + channel + LANES));
    const Vec x[4] = { even, odd, even, odd };
    /* Each 128-bit lane now starts with its eight channels, in order. */
    const __m256i codes = _mm256_permute4x64_epi64 (to_codes (&narrow, x), 0x08);
    const __m128i bytes = _mm256_castsi256_si128 (codes);
    if (layer->channels - channel >= BLOCK) {
      _mm_storeu_si128 ((__m128i *) (out + channel), bytes);
      continue;
    }
    guint8 last[BLOCK];
    _mm_storeu_si128 ((__m128i *) last, bytes);
    memcpy (out + channel, last, (gsize) (layer->channels - channel));
  }
}
