/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Built once for each instruction set. VNNI multiplies unsigned bytes by signed ones: 128 is added
 * to the query, and 128 times the sum of the row is subtracted.
 */
#include "core/search/products.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512VNNI__)
#define NAME "avx512"
#define LOOP sl_search_loop_avx512

static gint32
product (const gint8 *row, const gint8 *query, gsize n)
{
  const __m512i middle = _mm512_set1_epi8 ((char) 0x80);
  __m512i sum = _mm512_setzero_si512 (), shift = sum;
  for (gsize i = 0; i < n; i += 64) {
    const __m512i numbers = _mm512_load_si512 (row + i),
                  others = _mm512_xor_si512 (_mm512_load_si512 (query + i), middle);
    sum = _mm512_dpbusd_epi32 (sum, others, numbers);
    shift = _mm512_dpbusd_epi32 (shift, middle, numbers);
  }
  return _mm512_reduce_add_epi32 (_mm512_sub_epi32 (sum, shift));
}
#elif defined(__AVX2__)
#define NAME "avx2"
#define LOOP sl_search_loop_avx2

static gint32
product (const gint8 *row, const gint8 *query, gsize n)
{
  __m256i sum = _mm256_setzero_si256 ();
  for (gsize i = 0; i < n; i += 16) {
    const __m256i numbers = _mm256_cvtepi8_epi16 (
                    _mm_load_si128 ((const __m128i *) (gconstpointer) (row + i))),
                  others = _mm256_cvtepi8_epi16 (
                    _mm_load_si128 ((const __m128i *) (gconstpointer) (query + i)));
    sum = _mm256_add_epi32 (sum, _mm256_madd_epi16 (numbers, others));
  }
  const __m128i half =
    _mm_add_epi32 (_mm256_castsi256_si128 (sum), _mm256_extracti128_si256 (sum, 1));
  const __m128i pair = _mm_add_epi32 (half, _mm_shuffle_epi32 (half, 0x4e));
  return _mm_cvtsi128_si32 (_mm_add_epi32 (pair, _mm_shuffle_epi32 (pair, 0xb1)));
}
#else
#define NAME "base"
#define LOOP sl_search_loop_base

static gint32
product (const gint8 *row, const gint8 *query, gsize n)
{
  gint32 sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += row[i] * query[i];
  return sum;
}
#endif

static void
products (const gint8 *rows, gsize n, gsize stride, const gint8 *query, gint32 *sums)
{
  for (gsize i = 0; i < n; i++)
    sums[i] = product (rows + i * stride, query, stride);
}

const SlSearchLoop LOOP = { NAME, products };
