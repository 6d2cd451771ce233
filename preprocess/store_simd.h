/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loop of the stores over registers, for kernels_avx2.c, kernels_avx512.c and kernels_neon.c, which define before they
 * include it: PIXELS, the types Pixels (that many floats) and Mix (an SlMix as they want it), load_mix(), load_pixels() of a
 * 32-bit row, apply() of a mix to three of them, put() of one channel and interleave() of three. Ends of rows are left to C.
 * Nothing without them.
 */
#ifndef SL_PREPROCESS_STORE_SIMD_H
#define SL_PREPROCESS_STORE_SIMD_H

#include "base/unroll.h"
#include "preprocess/store_table.h"

#ifdef PIXELS

static inline __attribute__ ((always_inline)) void
store (void *const dst[3], const int32_t *const src[3], const SlMix *mix, int n, SlOutType type, SlStoreLayout layout)
{
  const int channels = layout == SL_STORE_ONE ? 1 : 3;
  const size_t element = type == SL_OUT_F32 ? 4 : type == SL_OUT_F16 ? 2 : 1;
  Mix mixes[3];
  int x = 0;
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
  sl_kernels_c.store[type][layout](rest, (const int32_t *const[3]){ src[0] + x, src[1] + x, src[2] + x }, mix, n - x);
}

SL_STORES

#endif

#endif
