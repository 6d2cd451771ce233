/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loops of AVX2 over bytes, for rows that are rounded while the model runs. Other layers have
 * activations of eight bits, for which these products overflow. */
#include "core/backends/int8/simd.h"

const SlInt8Isa SL_SIMD (sl_int8_isa) = {
  .name = "avx2",
  .lanes = LANES,
  .unit = 4,
  .max_groups = 2,
  .last = ROUNDED_MOST,
  .round = SL_SIMD (sl_int8_round),
  .round_shares = SL_SIMD (sl_int8_round_shares),
  .to_weights = SL_SIMD (sl_int8_to_weights),
  .rows = MAX_ROWS,
  .gemm_floats = SL_SIMD (sl_int8_gemm_floats),
};
