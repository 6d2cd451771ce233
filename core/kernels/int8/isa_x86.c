/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Addition, and the row of each x86 instruction set. XNNPACK of Debian 12 has no VNNI loops at all and later ones none
 * for uint8.
 */
#include "core/kernels/int8/simd_x86.h"

static inline Vec
widened (const guint8 *at)
{
#ifdef SL_INT8_FOR_AVX512
  return _mm512_cvtepu8_epi32 (_mm_loadu_si128 ((const __m128i *) at));
#else
  return _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const __m128i *) at));
#endif
}

static inline Vec
sum (const SlInt8Add *add, const guint8 *a, const guint8 *b, Vec flip)
{
  const Vec x = V (mullo_epi32) (V_SI (xor) (widened (a), flip), V (set1_epi32) (add->a));
  const Vec y = V (mullo_epi32) (V_SI (xor) (widened (b), flip), V (set1_epi32) (add->b));
  return V (sra_epi32) (V (add_epi32) (V (add_epi32) (x, y), V (set1_epi32) (add->bias)), _mm_cvtsi32_si128 (add->shift));
}

/* Reads a whole register past the last ones, which the padding of tensors allows. */
static void
add_x86 (const SlInt8Add *add, const guint8 *a, const guint8 *b, guint8 *out, gsize n)
{
  const Narrow narrow = narrow_of (&add->output);
  const Vec flip = V (set1_epi32) (add->flip);
  for (gsize i = 0; i < n; i += VEC_BYTES) {
    const Vec sums[4] = { sum (add, a + i, b + i, flip), sum (add, a + i + LANES, b + i + LANES, flip),
                          sum (add, a + i + 2 * LANES, b + i + 2 * LANES, flip), sum (add, a + i + 3 * LANES, b + i + 3 * LANES, flip) };
    store_some (out + i, mask_of ((gint32) MIN (n - i, VEC_BYTES)), in_order (to_codes (&narrow, sums)));
  }
}

#ifdef WIDE
static void
widen_x86 (gint16 *to, const guint8 *from, gsize n, gboolean is_signed)
{
  for (gsize i = 0; i < n; i += 16) {
    const __m128i codes = _mm_loadu_si128 ((const __m128i *) (from + i));
    _mm256_storeu_si256 ((__m256i *) (to + i), is_signed ? _mm256_cvtepi8_epi16 (codes) : _mm256_cvtepu8_epi16 (codes));
  }
}
#endif

/* Unpacking bytes and then pairs (AVX2: only pairs) leaves channel 16 l + 4 v + i at dword 4 l + i of register v. */
static gint32
dw_lane (gint32 channel)
{
#ifdef WIDE
  return channel % 8 / 4 * LANES + channel / 8 * 4 + channel % 4;
#else
  return channel % 16 / 4 * LANES + channel / 16 * 4 + channel % 4;
#endif
}

const SlInt8Isa SL_X86 (sl_int8_isa) = {
#if defined(SL_INT8_FOR_AVX512)
  .name = "avx512",
#elif defined(WIDE)
  .name = "avx2",
#else
  .name = "avxvnni",
#endif
  .lanes = LANES,
  .max_groups = 2,
#ifdef WIDE
  .unit = 2,
  .wide = TRUE,
  .widen = widen_x86,
  .dw_lanes = 2 * LANES,
#else
  .unit = 4,
  .dw_lanes = VEC_BYTES,
  .depthwise_rows = SL_X86 (sl_int8_depthwise_rows),
  .depthwise_flat = SL_X86 (sl_int8_depthwise_flat),
#endif
  .faster_u8 = TRUE,
  .faster_i8 = TRUE,
  .gemm = SL_X86 (sl_int8_gemm),
  .depthwise = SL_X86 (sl_int8_depthwise),
  .add = add_x86,
  .dw_lane = dw_lane,
};
