/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The row of AVX-512 VNNI. XNNPACK of Debian 12 has no VNNI loops at all, later ones none for uint8. */
#include "core/kernels/int8/avx512.h"

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
  .dw_lane = dw_lane,
};
