/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gray pictures of one byte per pixel: parts of a frame, cropped, turned and enlarged for the
 * readers of codes.
 */
#pragma once

#include <glib.h>

#include "core/base/affine.h"

/**
 * SlLuma: the brightness of a frame's pixels, where they lie.
 * @plane: R, G and B; or luma alone, the others NULL
 * @stride: bytes from row to row, negative allowed
 * @step: bytes from pixel to pixel
 * @shift: of 16-bit little-endian samples, how far the lower eight bits of a byte's value lie; -1 =
 * samples are bytes
 */
typedef struct
{
  const guint8 *plane[3];
  gssize stride[3];
  gint step, shift;
  gint width, height;
} SlLuma;

/** SlGray: rows without padding; zeroed = empty. The memory grows and is used again. */
typedef struct
{
  guint8 *pixels;
  gsize room;
  gint width, height;
} SlGray;

void sl_gray_clear (SlGray *gray);
/** sl_gray_resize: sets the size, both at least 1; pixels are undefined. */
void sl_gray_resize (SlGray *gray, gint width, gint height);
/** sl_gray_cut: @part of @luma, which lies inside of it, each pixel the mean of @reduce x @reduce
 * (at least 1) of the frame's. What is left over on the right and below is left out; @part is at
 * least @reduce wide and high. */
void sl_gray_cut (SlGray *gray, const SlLuma *luma, const SlRect *part, gint reduce);
/** sl_gray_warp: fills @gray of its size: a pixel is @from, bilinear, where @map takes its centre;
 * outside of @from its nearest pixel. */
void sl_gray_warp (SlGray *gray, const SlGray *from, const SlAffine *map);
/** sl_gray_direction: the angle of the gray values' steepest change from the x axis: with @ways 2
 * -pi/2..pi/2, which of bars is the one across them; with 4 -pi/4..pi/4, of modules in rows and
 * columns. @sure: (out): 0..1, how much of all change has it. */
double sl_gray_direction (const SlGray *gray, gint ways, double *sure);

/** sl_gray_bars: how far the upright bars of row @row, from column @from to @to, go: the first and
 * the last row that look like those beside them. */
void sl_gray_bars (const SlGray *gray, gint from, gint to, gint row, gint *first, gint *last);
