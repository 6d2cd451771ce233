/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Addition, and the row of each instruction set. XNNPACK of Debian 12 has no VNNI loops at all and
 * later ones none for uint8.
 */
#include "core/backends/int8/simd.h"
#include "core/backends/int8/add_neon.h"

/* What a step of the multiplication takes. */
#if defined(SL_INT8_FOR_I8MM)
#define GEMM_LANES 8
#define GEMM_UNIT 8
#elif defined(SL_INT8_FOR_NEON)
#define GEMM_GROUPS 1
#define GEMM_LANES LANES
#define GEMM_UNIT 16
#else
#define GEMM_LANES LANES
#define GEMM_UNIT 4
#endif
#ifdef MAX_ROWS
#define GEMM_ROWS MAX_ROWS
#else
#define GEMM_ROWS 8
#endif
#ifndef GEMM_GROUPS
#define GEMM_GROUPS 2
#endif

/* Reads a whole register past the last ones, which the padding of tensors allows. */
static void
add_simd (const SlInt8Add *add, const guint8 *a, const guint8 *b, guint8 *out, gsize n)
{
#ifdef __aarch64__
  if (add_by_digits (add, a, b, out, n))
    return;
#endif
  const Narrow narrow = narrow_of (&add->output);
  const Vec flip = set_dwords (add->flip);
  for (gsize i = 0; i < n; i += VEC_BYTES) {
    const Vec sums[4] = { weighted_sum (add, a + i, b + i, flip),
                          weighted_sum (add, a + i + LANES, b + i + LANES, flip),
                          weighted_sum (add, a + i + 2 * LANES, b + i + 2 * LANES, flip),
                          weighted_sum (add, a + i + 3 * LANES, b + i + 3 * LANES, flip) };
    store_some (out + i, mask_of ((gint32) MIN (n - i, VEC_BYTES)),
                in_order (to_bytes (&narrow, sums)));
  }
}

#ifdef USES_INT16
static void
widen_simd (gint16 *to, const guint8 *from, gsize n, gboolean is_signed)
{
  for (gsize i = 0; i < n; i += 16) {
    const __m128i values = _mm_loadu_si128 ((const __m128i *) (from + i));
#ifdef SL_INT8_FOR_SSE41
    const __m128i rest = _mm_unpackhi_epi64 (values, values);
    _mm_storeu_si128 ((__m128i *) (to + i),
                      is_signed ? _mm_cvtepi8_epi16 (values) : _mm_cvtepu8_epi16 (values));
    _mm_storeu_si128 ((__m128i *) (to + i + 8),
                      is_signed ? _mm_cvtepi8_epi16 (rest) : _mm_cvtepu8_epi16 (rest));
#else
    _mm256_storeu_si256 ((__m256i *) (to + i),
                         is_signed ? _mm256_cvtepi8_epi16 (values) : _mm256_cvtepu8_epi16 (values));
#endif
  }
}
#endif

/* Unpacking bytes and then pairs (AVX2: only pairs) leaves channel 16 l + 4 v + i at dword 4 l + i
 * of register v. */
static gint32
dw_lane (gint32 channel)
{
#ifdef USES_INT16
  return channel % 8 / 4 * LANES + channel / 8 * 4 + channel % 4;
#else
  return channel % 16 / 4 * LANES + channel / 16 * 4 + channel % 4;
#endif
}

/* What all rows of this file have. */
#ifdef USES_INT16
#define ELEMENTS .unit = 2, .int16 = TRUE, .widen = widen_simd, .dw_lanes = 2 * LANES
#else
#define ELEMENTS .unit = GEMM_UNIT, .dw_lanes = VEC_BYTES, .flip = SL_SIMD (sl_int8_flip)
#endif
#ifdef SPARSE_REGISTERS
#define SPARSE                                                             \
  .sparse_rows = SPARSE_REGISTERS * LANES, .turn = SL_SIMD (sl_int8_turn), \
  .sparse = SL_SIMD (sl_int8_sparse)
#else
#define SPARSE .sparse_rows = 0
#endif
#define SHARED                                                                                  \
  ELEMENTS, SPARSE,                                                                             \
    .lanes = GEMM_LANES, .max_groups = GEMM_GROUPS, .faster_u8 = TRUE, .faster_i8 = TRUE,       \
    .last = ROUNDED_MOST, .round = SL_SIMD (sl_int8_round),                                     \
    .round_shares = SL_SIMD (sl_int8_round_shares), .to_weights = SL_SIMD (sl_int8_to_weights), \
    .gelu = SL_SIMD (sl_int8_gelu), .depthwise = SL_SIMD (sl_int8_depthwise),                   \
    .depthwise_rows = SL_SIMD (sl_int8_depthwise_rows),                                         \
    .depthwise_flat = SL_SIMD (sl_int8_depthwise_flat), .add = add_simd, .dw_lane = dw_lane

const SlInt8Isa SL_SIMD (sl_int8_isa) = {
  SHARED,
#if defined(SL_INT8_FOR_AVX512)
  .name = "avx512",
#elif defined(SL_INT8_FOR_I8MM)
  .name = "i8mm",
  .signed_values = TRUE,
  .either = TRUE,
#elif defined(SL_INT8_FOR_DOTPROD)
  .name = "dotprod",
  .signed_values = TRUE,
#elif defined(SL_INT8_FOR_NEON)
  .name = "neon",
  .signed_values = TRUE,
  .symmetric = TRUE,
#elif defined(SL_INT8_FOR_SSE41)
  .name = "sse41",
#elif defined(USES_INT16)
  .name = "avx2",
#else
  .name = "avxvnni",
#endif
#if !defined(USES_INT16) && defined(LOADED_STEPS)
  .loaded = LOADED_STEPS * GEMM_UNIT,
#endif
#if defined(MAX_SHALLOW)
  .shallow = 4 * MAX_SHALLOW,
#elif defined(NO_FLIP)
  .shallow = G_MAXINT32,
#endif
#if defined(USES_INT16) && !defined(SL_INT8_FOR_SSE41)
  .bytes = &sl_int8_isa_avx2bytes,
  .attention = &sl_int8_isa_avx2bytes,
#endif
  .gemm = SL_SIMD (sl_int8_gemm),
  .rows = GEMM_ROWS,
  .gemm_floats = SL_SIMD (sl_int8_gemm_floats),
};

#ifdef SL_INT8_AMX
/* AVX-512's loops around products of tiles. */
const SlInt8Isa sl_int8_isa_amx = {
  SHARED,
  .name = "amx",
  .gain = 2.3f,
  .shallow = G_MAXINT32,
  .gemm = sl_int8_gemm_amx,
  .rows = 16,
  .gemm_floats = sl_int8_gemm_floats_amx,
  .attention = &sl_int8_isa_avx512,
};
#endif
