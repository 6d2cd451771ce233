/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights of few bits become floats, a panel at a time: the floats stay in the second cache while
 * rows are multiplied. */
#include "core/backends/float/simd.h"

static inline __attribute__ ((always_inline)) void
widen_block (const SlFloatFewBits *panel, gint32 block, gfloat *to, const gint groups,
             const guint bits)
{
  const gsize width = (gsize) groups * LANES, together = 8 / bits, at = (gsize) block * width;
  const gint32 first = block * panel->size, end = MIN (first + panel->size, panel->depth);
  const guint8 *values = panel->values + (gsize) first / together * width;
  Vec scales[MAX_GROUPS], zeros[MAX_GROUPS];
  SL_UNROLL
  for (gint g = 0; g < groups; g++) {
    scales[g] = load (panel->scales + at + g * LANES);
    zeros[g] = panel->reals != NULL   ? load (panel->reals + at + g * LANES)
               : panel->zeros != NULL ? load_unsigned (panel->zeros + at + g * LANES, 0, 255)
                                      : broadcast (panel->middle);
  }
  to += (gsize) first * width;
  for (gint32 k = first; k < end; k += (gint32) together, values += width, to += together * width) {
    SL_UNROLL
    for (gint g = 0; g < groups; g++) {
      const Vec low = load_unsigned (values + g * LANES, 0, bits == 4 ? 15 : 255);
      store (to + g * LANES, (low - zeros[g]) * scales[g]);
      if (bits == 4)
        store (to + width + g * LANES,
               (load_unsigned (values + g * LANES, 4, 15) - zeros[g]) * scales[g]);
    }
  }
}

static inline __attribute__ ((always_inline)) void
widen (const SlFloatFewBits *panel, gfloat *to, const gint groups)
{
  const gint32 blocks = (panel->depth - 1) / panel->size + 1;
  for (gint32 block = 0; block < blocks; block++)
    if (panel->bits == 4)
      widen_block (panel, block, to, groups, 4);
    else
      widen_block (panel, block, to, groups, 8);
}

void
SL_SIMD (sl_float_widen) (const SlFloatFewBits *panel, gfloat *to)
{
  if (panel->groups == 1)
    widen (panel, to, 1);
#if MAX_GROUPS > 2
  else if (panel->groups == 3)
    widen (panel, to, 3);
#endif
  else
    widen (panel, to, 2);
}
