/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's row functions over the registers of simd.h, as kernels.h defines them and
 * kernels_c.c does them. Ends of rows repeat the last full block, or are left to C where there is
 * none.
 */
#include "core/base/unroll.h"
#include "preprocess/simd.h"
#include "preprocess/store_table.h"

/* Instead of a number of pairs of rows between: one that is no constant, and a single row. */
#define RUNTIME -1
#define LONE -2

static ALWAYS_INLINE Sums
add (Sums x, Sums y)
{
  return (Sums){ plus (x.a, y.a), plus (x.b, y.b) };
}

static ALWAYS_INLINE Sums
weigh (Sums sums, Weight weight)
{
  return (Sums){ multiply_high (sums.a, weight), multiply_high (sums.b, weight) };
}

/* The sum of the rows of @pairs, shifted. The row after the last one between exists: it is the
 * band's last. */
static ALWAYS_INLINE Sums
sum_rows (const uint8_t *row, ptrdiff_t stride, int pairs, const Weights *weights, bool split)
{
  Sums sums = { zero (), zero () };
  for (int i = 1; i < pairs; i++, row += 2 * stride)
    sums = add_pair (sums, row, stride, weights, split);
  return add_last_pair (sums, row, stride, weights, split);
}

/* The bytes from @x of the rows, to @dst[0] or, with @split, by pairs to both. */
static ALWAYS_INLINE void
blend_block (int16_t *const dst[2], const SlBand *band, const Weights *weights, ptrdiff_t x,
             int pairs, bool single, bool split)
{
  Sums sums = weigh (widen (band->first + x, split), weights->first);
  if (!single)
    sums = add (sums, weigh (widen (band->last + x, split), weights->last));
  if (pairs == LONE)
    sums = add (sums, weigh (widen (band->between + x, split), weights->between));
  else if (pairs != 0)
    sums = add (sums, weigh (sum_rows (band->between + x, band->stride, pairs, weights, split),
                             weights->between));
  if (split) {
    keep (dst[0] + x / 2, sums.a);
    keep (dst[1] + x / 2, sums.b);
  } else {
    keep_sums (dst[0] + x, sums);
  }
}

/* @n bytes of the rows, at least a block. */
static ALWAYS_INLINE void
blend_rows (int16_t *const dst[2], const SlBand *band, int n, SlPrefetch *prefetch, int fixed,
            bool single, bool split)
{
  const Weights weights = load_weights (band);
  const SlBand local = *band;
  SlPrefetch lines = *prefetch;
  const int pairs = fixed == RUNTIME ? (band->count + 1) / 2 : fixed;
  for (int x = 0; x + BYTES <= n; x += BYTES) {
    if (BYTES % SL_CACHE_LINE == 0 || x % SL_CACHE_LINE == 0)
      sl_prefetch_step (&lines);
    blend_block (dst, &local, &weights, x, pairs, single, split);
  }
  *prefetch = lines;
  if (n % BYTES != 0)
    blend_block (dst, &local, &weights, n - BYTES, pairs, single, split);
}

/* By the number of rows, so that the loop over few is none. */
static ALWAYS_INLINE void
blend_band (int16_t *const dst[2], const SlBand *band, int n, SlPrefetch *prefetch, bool split)
{
  switch (band->count) {
    case 0:
      if (band->weight[1] == 0)
        blend_rows (dst, band, n, prefetch, 0, true, split);
      else
        blend_rows (dst, band, n, prefetch, 0, false, split);
      break;
    case 1:
      blend_rows (dst, band, n, prefetch, LONE, false, split);
      break;
    case 2:
      blend_rows (dst, band, n, prefetch, 1, false, split);
      break;
    case 3:
    case 4:
      blend_rows (dst, band, n, prefetch, 2, false, split);
      break;
    default:
      blend_rows (dst, band, n, prefetch, RUNTIME, false, split);
      break;
  }
}

static void
blend (int16_t *dst, const SlBand *band, int n, SlPrefetch *prefetch)
{
  if (n < BYTES)
    sl_kernels_c.blend (dst, band, n, prefetch);
  else
    blend_band ((int16_t *const[2]){ dst }, band, n, prefetch, false);
}

static void
blend_pairs (int16_t *even, int16_t *odd, const SlBand *band, int n, SlPrefetch *prefetch)
{
  if (n < WORDS)
    sl_kernels_c.blend_pairs (even, odd, band, n, prefetch);
  else
    blend_band ((int16_t *const[2]){ even, odd }, band, 2 * n, prefetch, true);
}

static ALWAYS_INLINE void
word_block (int16_t *dst, const SlBand *band, const Weights *weights, Shift left, ptrdiff_t x)
{
  const uint8_t *row = band->between + 2 * x;
  Vec value = multiply_high (load_words (band->first + 2 * x, left), weights->first);
  Vec sum = zero ();
  if (band->weight[1] != 0 || band->count > 0)
    value = plus (value, multiply_high (load_words (band->last + 2 * x, left), weights->last));
  for (int i = 0; i < band->count; i++, row += band->stride)
    sum = add_codes (sum, load_words (row, left));
  keep (dst + x, plus (value, multiply_high (shifted (sum, weights->raise), weights->between)));
}

static void
blend_words (int16_t *dst, const SlBand *band, int left, int n, SlPrefetch *prefetch)
{
  if (n < WORDS) {
    sl_kernels_c.blend_words (dst, band, left, n, prefetch);
    return;
  }
  const Weights weights = load_weights (band);
  const SlBand local = *band;
  const Shift shift = shift_of (left);
  SlPrefetch lines = *prefetch;
  for (int x = 0; x + WORDS <= n; x += WORDS) {
    if (BYTES % SL_CACHE_LINE == 0 || 2 * x % SL_CACHE_LINE == 0)
      sl_prefetch_step (&lines);
    word_block (dst, &local, &weights, shift, x);
  }
  *prefetch = lines;
  if (n % WORDS != 0)
    word_block (dst, &local, &weights, shift, n - WORDS);
}

static void
split_pairs (int16_t *even, int16_t *odd, const int16_t *src, int n)
{
  int x = 0;
  for (; x + WORDS <= n; x += WORDS)
    split_pair (even + x, odd + x, src + 2 * x);
  sl_kernels_c.split_pairs (even + x, odd + x, src + 2 * x, n - x);
}

static void
split_triples (int16_t *const dst[3], const int16_t *src, int n)
{
  int x = 0;
  for (; x + WORDS <= n; x += WORDS)
    split_triple (dst, x, src + 3 * x);
  sl_kernels_c.split_triples ((int16_t *const[3]){ dst[0] + x, dst[1] + x, dst[2] + x },
                              src + 3 * x, n - x);
}

/* @rows share the weights; @stride may be a constant. Pointers are copied, because stores could
 * change the arrays they come from. */
static ALWAYS_INLINE void
reduce_rows (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns,
             SlPrefetch *prefetch, int stride, int rows)
{
  SlPrefetch lines = *prefetch;
  const int32_t *start = columns->start;
  const int16_t *weight = columns->weight, *from[3];
  const int count = columns->count;
  int32_t *to[3];
  SL_UNROLL
  for (int r = 0; r < rows; r++) {
    from[r] = row[r];
    to[r] = dst[r];
  }
  for (int i = 0; i < count; i += PIXELS, start += PIXELS, weight += PIXELS * stride) {
    Ints sum[3];
    if (PIXELS % SL_AXIS_GROUP == 0 || i % SL_AXIS_GROUP == 0)
      sl_prefetch_step (&lines);
    SL_UNROLL
    for (int r = 0; r < rows; r++)
      sum[r] = stride == 4   ? sum_fours (from[r], start, weight)
               : stride == 8 ? sum_eights (from[r], start, weight)
                             : sum_sixteens (from[r], start, weight, stride);
    SL_UNROLL
    for (int r = 0; r < rows; r++)
      keep_ints (to[r] + i, sum[r]);
  }
  *prefetch = lines;
}

static void
reduce (int32_t *const dst[3], const int16_t *const row[3], const SlAxis *columns, int rows,
        SlPrefetch *prefetch)
{
  const int stride = columns->stride;
#ifdef GATHERS
  if (columns->gather != NULL) {
    SL_SIMD (sl_gather_reduce) (dst, row, columns->gather, rows, prefetch);
    return;
  }
#endif
  if (ROWS_TOGETHER == 3 && rows == 3 && stride == 16) {
    reduce_rows (dst, row, columns, prefetch, 16, 3);
    return;
  }
  for (int r = 0; r < rows; r++) {
    if (stride == 4)
      reduce_rows (dst + r, row + r, columns, prefetch, 4, 1);
    else if (stride == 8)
      reduce_rows (dst + r, row + r, columns, prefetch, 8, 1);
    else if (stride == 16)
      reduce_rows (dst + r, row + r, columns, prefetch, 16, 1);
    else
      reduce_rows (dst + r, row + r, columns, prefetch, stride, 1);
  }
}

static ALWAYS_INLINE void
put (void *dst, SlOutType type, ptrdiff_t x, Pixels value)
{
  if (type == SL_OUT_F32)
    put_floats ((float *) dst + x, value);
#ifndef NO_HALVES
  else if (type == SL_OUT_F16)
    put_halves ((uint16_t *) dst + x, value);
#endif
  else
    put_bytes ((uint8_t *) dst + x, type, value);
}

static ALWAYS_INLINE void
interleave (void *dst, SlOutType type, ptrdiff_t x, const Pixels value[3])
{
  if (type == SL_OUT_F32)
    interleave_floats ((float *) dst + 3 * x, value);
#ifndef NO_HALVES
  else if (type == SL_OUT_F16)
    interleave_halves ((uint16_t *) dst + 3 * x, value);
#endif
  else
    interleave_bytes ((uint8_t *) dst + 3 * x, type, value);
}

static ALWAYS_INLINE void
store (void *const dst[3], const int32_t *const src[3], const SlMix *mix, int n, SlOutType type,
       SlStoreLayout layout)
{
  const int channels = layout == SL_STORE_ONE ? 1 : 3;
  const size_t element = type == SL_OUT_F32 ? 4 : type == SL_OUT_F16 ? 2 : 1;
  Mix mixes[3];
  int x = 0;
#ifdef NO_HALVES
  if (type == SL_OUT_F16) {
    sl_kernels_c.store[type][layout](dst, src, mix, n);
    return;
  }
#endif
  SL_UNROLL
  for (int c = 0; c < channels; c++)
    mixes[c] = load_mix (&mix[c]);
  for (; x + PIXELS <= n; x += PIXELS) {
    Pixels in[3], value[3];
    SL_UNROLL
    for (int c = 0; c < 3; c++)
      in[c] = load_pixels (src[c] + x);
    SL_UNROLL
    for (int c = 0; c < channels; c++)
      value[c] = apply (&mixes[c], in);
    if (layout == SL_STORE_INTERLEAVED) {
      interleave (dst[0], type, x, value);
      continue;
    }
    SL_UNROLL
    for (int c = 0; c < channels; c++)
      put (dst[c], type, x, value[c]);
  }
  if (x == n)
    return;
  void *rest[3] = { NULL, NULL, NULL };
  const size_t step = layout == SL_STORE_INTERLEAVED ? 3 * element : element;
  for (int c = 0; c < (layout == SL_STORE_PLANES ? 3 : 1); c++)
    rest[c] = (uint8_t *) dst[c] + (size_t) x * step;
  sl_kernels_c.store[type][layout](
    rest, (const int32_t *const[3]){ src[0] + x, src[1] + x, src[2] + x }, mix, n - x);
}

SL_STORES

const SlKernels SL_SIMD (sl_kernels) = {
  .name = SL_SIMD_NAME,
#ifdef GATHERS
  .gathers = true,
#endif
  .blend = blend,
  .blend_pairs = blend_pairs,
  .blend_words = blend_words,
  .split_pairs = split_pairs,
  .split_triples = split_triples,
  .reduce = reduce,
  .store = { SL_STORE_ROWS },
};
