/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Element by element, and the row of each instruction set. */
#include "core/backends/float/simd.h"

static void
add_simd (const gfloat *a, const gfloat *b, gfloat *out, gsize n, gfloat lo, gfloat hi)
{
  const Vec least = broadcast (lo), most = broadcast (hi);
  for (gsize i = 0; i < n; i += LANES)
    store_some (out + i, (gint32) MIN (n - i, LANES), limited (sum_of (load (a + i), load (b + i)), least, most));
}

static void
multiply_simd (const gfloat *a, const gfloat *b, gfloat *out, gsize n, gfloat lo, gfloat hi)
{
  const Vec least = broadcast (lo), most = broadcast (hi);
  for (gsize i = 0; i < n; i += LANES)
    store_some (out + i, (gint32) MIN (n - i, LANES), limited (product_of (load (a + i), load (b + i)), least, most));
}

const SlFloatIsa SL_SIMD (sl_float_isa) = {
  .name = SL_SIMD_NAME,
  .lanes = LANES,
  .max_rows = MAX_ROWS,
  .max_groups = MAX_GROUPS,
  .faster = IS_FASTER,
  .gemm = SL_SIMD (sl_float_gemm),
  .gemm_deep = SL_SIMD (sl_float_gemm_deep),
  .depthwise = SL_SIMD (sl_float_depthwise),
  .add = add_simd,
  .multiply = multiply_simd,
  .activate = SL_SIMD (sl_float_activate),
};
