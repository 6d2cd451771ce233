/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of AVX2 over bytes, for rows that are rounded while the model runs, and for layers
 * whose weights are mostly so small that products of bytes cannot overflow. */
#include "core/backends/int8/simd.h"

static void
flip_bytes (guint8 *to, const guint8 *from, gsize n)
{
  const Vec flip = set_bytes (0x80);
  for (gsize i = 0; i < n; i += VEC_BYTES)
    store_some (to + i, mask_of (VEC_BYTES), flipped (load (from + i), flip));
}

const SlInt8Isa SL_SIMD (sl_int8_isa) = {
  .name = "avx2",
  .lanes = LANES,
  .unit = 4,
  .max_groups = 2,
  .shallow = G_MAXINT32,
  .pairs = TRUE,
  .flip = flip_bytes,
  .gemm = SL_SIMD (sl_int8_gemm),
  .last = ROUNDED_MOST,
  .round = SL_SIMD (sl_int8_round),
  .round_shares = SL_SIMD (sl_int8_round_shares),
  .to_weights = SL_SIMD (sl_int8_to_weights),
  .rows = MAX_ROWS,
  .gemm_floats = SL_SIMD (sl_int8_gemm_floats),
};
