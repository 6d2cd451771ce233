/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Planes of 10-bit words to another size, by the row functions of the normaliser: what slresize scales P010 and I420_10LE with.
 * Everything is made in sl_word_scaler_new(); running allocates nothing.
 */
#ifndef SL_PREPROCESS_WORDS_H
#define SL_PREPROCESS_WORDS_H

#include <stdbool.h>

#include "preprocess/normalize.h"

/**
 * SlWordSpec:
 * @lanes: components in turn in a row, 1 or 2
 * @shift: by which a word must be shifted left to have its highest bit in bit 15, 0 or 6; other bits than the ten of a code
 *   are ignored, and 0 in what is made
 * @filter: bilinear or area
 */
typedef struct
{
  int src_w, src_h, dst_w, dst_h; /* 1..SL_MAX_SIDE */
  int lanes, shift;
  SlFilter filter;
} SlWordSpec;

typedef struct SlWordScaler SlWordScaler;

/** sl_word_scaler_new: (nullable): NULL when out of memory. */
SlWordScaler *sl_word_scaler_new (const SlWordSpec *spec);
/** sl_word_scaler_free: NULL is legal. */
void sl_word_scaler_free (SlWordScaler *scaler);
/** sl_word_scaler_run: strides in bytes, negative allowed; @dst at an even address and stride. One thread at a time. */
void sl_word_scaler_run (SlWordScaler *scaler, const uint8_t *src, ptrdiff_t src_stride, uint8_t *dst, ptrdiff_t dst_stride);

#endif
