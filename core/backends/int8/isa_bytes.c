/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of AVX2 over bytes, for rows that are rounded while the model runs, and for layers
 * whose weights are mostly so small that products of bytes cannot overflow. */
#include "core/backends/int8/simd.h"

const SlInt8Isa SL_SIMD (sl_int8_isa) = {
  .name = "avx2",
  .lanes = LANES,
  .unit = 4,
  .max_groups = 2,
  .shallow = G_MAXINT32,
  .pairs = TRUE,
  .flip = SL_SIMD (sl_int8_flip),
  .gemm = SL_SIMD (sl_int8_gemm),
  .last = ROUNDED_MOST,
  .round = SL_SIMD (sl_int8_round),
  .round_shares = SL_SIMD (sl_int8_round_shares),
  .to_weights = SL_SIMD (sl_int8_to_weights),
  .rows = MAX_ROWS,
  .gemm_floats = SL_SIMD (sl_int8_gemm_floats),
};
