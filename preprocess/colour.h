/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Colour matrices as data: rows of three coefficients and a constant. They convert stored component
 * values of a picture to red, green, blue or luma in 0..255 (not clamped). libc only.
 */
#pragma once

#include <stdbool.h>

#include "preprocess/image.h"

/** out = m[0] * c0 + m[1] * c1 + m[2] * c2 + m[3] for components c0..c2 (Y U V or R G B), stored
 * values 0..2^bits - 1. */
typedef double SlColourRow[4];

/** sl_colour_yuv_to_rgb: rows for red, green and blue from stored values of @bits (8..16) bits. */
void sl_colour_yuv_to_rgb (SlMatrix matrix, bool full_range, int bits, SlColourRow rgb[3]);
/** sl_colour_luma_to_gray: the row that takes Y (or a gray picture) of @bits bits to 0..255. */
void sl_colour_luma_to_gray (bool full_range, int bits, SlColourRow gray);
/** sl_colour_rgb_to_gray: BT.601 luma of full-range R G B of 8 bits, whatever the picture's matrix.
 */
void sl_colour_rgb_to_gray (SlColourRow gray);
