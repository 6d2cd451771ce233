/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loops of the blends over registers, for kernels_avx2.c and kernels_avx512.c, which define before they include it: BYTES and WORDS
 * of a register, the types Weights (with load_weights()) and Sums (of BYTES bytes, with no_sums(), add(), weigh() and keep_sums()),
 * widen() and add_pair() of rows of bytes, widen_pairs() and add_split_pair() of rows of pairs, word_block(). Ends of rows repeat the
 * last full block; rows without one are left to C. Nothing without them.
 */
#ifndef SL_PREPROCESS_BLEND_SIMD_H
#define SL_PREPROCESS_BLEND_SIMD_H

#include "preprocess/kernels.h"

#ifdef BYTES

/* Instead of a number of pairs of rows between: one that is no constant, and a single row. */
#define RUNTIME -1
#define LONE -2

/* The sum of the rows of @pairs, shifted. The row after the last one between exists: it is the band's last. */
static ALWAYS_INLINE Sums
sum_rows (const uint8_t *row, ptrdiff_t stride, int pairs, const Weights *weights)
{
  Sums sums = no_sums ();
  for (int i = 1; i < pairs; i++, row += 2 * stride)
    sums = add_pair (sums, row, stride, weights->unit);
  return add_pair (sums, row, stride, weights->rest);
}

static ALWAYS_INLINE void
blend_block (int16_t *dst, const SlBand *band, const Weights *weights, ptrdiff_t x, int pairs, bool single)
{
  Sums sums = weigh (widen (band->first + x), weights->first);
  if (!single)
    sums = add (sums, weigh (widen (band->last + x), weights->last));
  if (pairs == LONE)
    sums = add (sums, weigh (widen (band->between + x), weights->between));
  else if (pairs != 0)
    sums = add (sums, weigh (sum_rows (band->between + x, band->stride, pairs, weights), weights->between));
  keep_sums (dst + x, sums);
}

static ALWAYS_INLINE void
blend_rows (int16_t *dst, const SlBand *band, int n, SlPrefetch *prefetch, int fixed, bool single)
{
  const Weights weights = load_weights (band);
  const SlBand local = *band;
  SlPrefetch lines = *prefetch;
  const int pairs = fixed == RUNTIME ? (band->count + 1) / 2 : fixed;
  for (int x = 0; x + BYTES <= n; x += BYTES) {
    if (BYTES % SL_CACHE_LINE == 0 || x % SL_CACHE_LINE == 0)
      sl_prefetch_step (&lines);
    blend_block (dst, &local, &weights, x, pairs, single);
  }
  *prefetch = lines;
  if (n % BYTES != 0)
    blend_block (dst, &local, &weights, n - BYTES, pairs, single);
}

static void
blend (int16_t *dst, const SlBand *band, int n, SlPrefetch *prefetch)
{
  if (n < BYTES) {
    sl_kernels_c.blend (dst, band, n, prefetch);
    return;
  }
  switch (band->count) {
    case 0:
      if (band->weight[1] == 0)
        blend_rows (dst, band, n, prefetch, 0, true);
      else
        blend_rows (dst, band, n, prefetch, 0, false);
      break;
    case 1:
      blend_rows (dst, band, n, prefetch, LONE, false);
      break;
    case 2:
      blend_rows (dst, band, n, prefetch, 1, false);
      break;
    case 3:
    case 4:
      blend_rows (dst, band, n, prefetch, 2, false);
      break;
    default:
      blend_rows (dst, band, n, prefetch, RUNTIME, false);
      break;
  }
}

static ALWAYS_INLINE Sums
sum_pairs (const uint8_t *row, ptrdiff_t stride, int pairs, const Weights *weights)
{
  Sums sums = no_sums ();
  for (int i = 1; i < pairs; i++, row += 2 * stride)
    sums = add_split_pair (sums, row, stride, weights->unit);
  return add_split_pair (sums, row, stride, weights->rest);
}

static ALWAYS_INLINE void
pair_block (int16_t *even, int16_t *odd, const SlBand *band, const Weights *weights, ptrdiff_t x, int pairs, bool single)
{
  Sums sums = weigh (widen_pairs (band->first + 2 * x), weights->first);
  if (!single)
    sums = add (sums, weigh (widen_pairs (band->last + 2 * x), weights->last));
  if (pairs == LONE)
    sums = add (sums, weigh (widen_pairs (band->between + 2 * x), weights->between));
  else if (pairs != 0)
    sums = add (sums, weigh (sum_pairs (band->between + 2 * x, band->stride, pairs, weights), weights->between));
  keep (even + x, sums.a);
  keep (odd + x, sums.b);
}

static ALWAYS_INLINE void
pair_rows (int16_t *even, int16_t *odd, const SlBand *band, int n, SlPrefetch *prefetch, int fixed, bool single)
{
  const Weights weights = load_weights (band);
  const SlBand local = *band;
  SlPrefetch lines = *prefetch;
  const int pairs = fixed == RUNTIME ? (band->count + 1) / 2 : fixed;
  for (int x = 0; x + WORDS <= n; x += WORDS) {
    if (BYTES % SL_CACHE_LINE == 0 || 2 * x % SL_CACHE_LINE == 0)
      sl_prefetch_step (&lines);
    pair_block (even, odd, &local, &weights, x, pairs, single);
  }
  *prefetch = lines;
  if (n % WORDS != 0)
    pair_block (even, odd, &local, &weights, n - WORDS, pairs, single);
}

static void
blend_pairs (int16_t *even, int16_t *odd, const SlBand *band, int n, SlPrefetch *prefetch)
{
  if (n < WORDS) {
    sl_kernels_c.blend_pairs (even, odd, band, n, prefetch);
    return;
  }
  switch (band->count) {
    case 0:
      if (band->weight[1] == 0)
        pair_rows (even, odd, band, n, prefetch, 0, true);
      else
        pair_rows (even, odd, band, n, prefetch, 0, false);
      break;
    case 1:
      pair_rows (even, odd, band, n, prefetch, LONE, false);
      break;
    case 2:
      pair_rows (even, odd, band, n, prefetch, 1, false);
      break;
    default:
      pair_rows (even, odd, band, n, prefetch, RUNTIME, false);
      break;
  }
}

static void
blend_words (int16_t *dst, const SlBand *band, int left, int n, SlPrefetch *prefetch)
{
  const Weights weights = load_weights (band);
  const SlBand local = *band;
  SlPrefetch lines = *prefetch;
  const __m128i shift = _mm_cvtsi32_si128 (left);
  if (n < WORDS) {
    sl_kernels_c.blend_words (dst, band, left, n, prefetch);
    return;
  }
  for (int x = 0; x + WORDS <= n; x += WORDS) {
    if (BYTES % SL_CACHE_LINE == 0 || 2 * x % SL_CACHE_LINE == 0)
      sl_prefetch_step (&lines);
    word_block (dst, &local, &weights, shift, x);
  }
  *prefetch = lines;
  if (n % WORDS != 0)
    word_block (dst, &local, &weights, shift, n - WORDS);
}

#endif

#endif
