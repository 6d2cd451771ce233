/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Planes of 10-bit words to another size, by the row functions of the normaliser: what slresize
 * scales P010 and I420_10LE with. Everything is made in sl_plane_scaler10_new(); running allocates
 * nothing.
 */
#pragma once

#include <stdbool.h>

#include "preprocess/normalize.h"

/**
 * SlPlaneScale10Spec:
 * @lanes: components in turn in a row, 1 or 2
 * @shift: by which a word must be shifted left to have its highest bit in bit 15, 0 or 6; other
 * bits than the ten of a code are ignored, and 0 in what is made
 * @filter: bilinear or area
 */
typedef struct
{
  int src_w, src_h, dst_w, dst_h; /* 1..SL_MAX_SIDE */
  int lanes, shift;
  SlFilter filter;
} SlPlaneScale10Spec;

typedef struct SlPlaneScaler10 SlPlaneScaler10;

/** sl_plane_scaler10_new: (nullable): NULL when out of memory. */
SlPlaneScaler10 *sl_plane_scaler10_new (const SlPlaneScale10Spec *spec);
/** sl_plane_scaler10_free: NULL is legal. */
void sl_plane_scaler10_free (SlPlaneScaler10 *scaler);
/** sl_plane_scaler10_run: strides in bytes, negative allowed; @dst at an even address and stride.
 * One thread at a time. */
void sl_plane_scaler10_run (SlPlaneScaler10 *scaler, const uint8_t *src, ptrdiff_t src_stride,
                            uint8_t *dst, ptrdiff_t dst_stride);
