/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The row of AVX-512 VNNI. XNNPACK of Debian 12 has no VNNI loops at all, later ones none for uint8. */
#include "core/kernels/int8/avx512.h"

static inline __m512i
sum (const SlInt8Add *add, __m128i a, __m128i b)
{
  const __m512i x = _mm512_mullo_epi32 (_mm512_cvtepu8_epi32 (a), _mm512_set1_epi32 (add->a));
  const __m512i y = _mm512_mullo_epi32 (_mm512_cvtepu8_epi32 (b), _mm512_set1_epi32 (add->b));
  return _mm512_sra_epi32 (_mm512_add_epi32 (_mm512_add_epi32 (x, y), _mm512_set1_epi32 (add->bias)), _mm_cvtsi32_si128 (add->shift));
}

static void
add_avx512 (const SlInt8Add *add, const guint8 *a, const guint8 *b, guint8 *out, gsize n)
{
  const SlInt8Narrow narrow = sl_int8_narrow (&add->output);
  const __m512i flip = _mm512_set1_epi8 ((char) add->flip);
  for (gsize i = 0; i < n; i += 64) {
    const __mmask64 mask = n - i >= 64 ? ~(__mmask64) 0 : ((__mmask64) 1 << (n - i)) - 1;
    const __m512i x = _mm512_xor_si512 (_mm512_maskz_loadu_epi8 (mask, a + i), flip);
    const __m512i y = _mm512_xor_si512 (_mm512_maskz_loadu_epi8 (mask, b + i), flip);
    const __m512i sums[4] = { sum (add, _mm512_extracti32x4_epi32 (x, 0), _mm512_extracti32x4_epi32 (y, 0)),
                              sum (add, _mm512_extracti32x4_epi32 (x, 1), _mm512_extracti32x4_epi32 (y, 1)),
                              sum (add, _mm512_extracti32x4_epi32 (x, 2), _mm512_extracti32x4_epi32 (y, 2)),
                              sum (add, _mm512_extracti32x4_epi32 (x, 3), _mm512_extracti32x4_epi32 (y, 3)) };
    _mm512_mask_storeu_epi8 (out + i, mask, sl_int8_in_order (sl_int8_to_codes (&narrow, sums)));
  }
}

/* Unpacking bytes and then pairs leaves channel 16 l + 4 v + i at dword 4 l + i of register v. */
static gint32
dw_lane (gint32 channel)
{
  return channel % 16 / 4 * 16 + channel / 16 * 4 + channel % 4;
}

const SlInt8Isa sl_int8_isa_avx512 = {
  .name = "avx512",
  .lanes = 16,
  .unit = 4,
  .max_groups = 2,
  .dw_lanes = 64,
  .faster_u8 = TRUE,
  .faster_i8 = TRUE,
  .gemm = sl_int8_gemm_avx512,
  .depthwise = sl_int8_depthwise_avx512,
  .depthwise_rows = sl_int8_depthwise_rows_avx512,
  .depthwise_flat = sl_int8_depthwise_flat_avx512,
  .add = add_avx512,
  .dw_lane = dw_lane,
};
