/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * YUV -> RGB from the constants of the three recommendations (ITU-R BT.601, BT.709, BT.2020
 * non-constant luminance) and the two ranges. The normaliser folds these rows with gain and offset.
 */
#include "preprocess/colour.h"

#include <string.h>

/* Luma is kr * R + (1 - kr - kb) * G + kb * B. */
static const struct
{
  double kr, kb;
} luma[] = {
  [SL_MATRIX_BT601] = { 0.299, 0.114 },
  [SL_MATRIX_BT709] = { 0.2126, 0.0722 },
  [SL_MATRIX_BT2020] = { 0.2627, 0.0593 },
};

/* Code of black and of no colour, and the number of codes that luma and chroma span. */
typedef struct
{
  double black, luma_span, grey, chroma_span;
} Range;

/* Limited range scales with the power of two, full range uses every code (BT.2100, table 9). */
static Range
code_range (bool full, int bits)
{
  const double unit = (double) (1 << (bits - 8));
  const double codes = 256.0 * unit - 1.0;
  if (full)
    return (Range){ 0.0, codes, 128.0 * unit, codes };
  return (Range){ 16.0 * unit, 219.0 * unit, 128.0 * unit, 224.0 * unit };
}

void
sl_colour_yuv_to_rgb (SlMatrix matrix, bool full_range, int bits, SlColourRow rgb[3])
{
  const Range range = code_range (full_range, bits);
  const double kr = luma[matrix].kr;
  const double kb = luma[matrix].kb;
  const double kg = 1.0 - kr - kb;
  const double y = 255.0 / range.luma_span;
  const double c = 255.0 / range.chroma_span;
  const double u_blue = 2.0 * (1.0 - kb) * c;
  const double v_red = 2.0 * (1.0 - kr) * c;
  const double chroma[3][2] = { { 0.0, v_red },
                                { -u_blue * kb / kg, -v_red * kr / kg },
                                { u_blue, 0.0 } };
  for (int i = 0; i < 3; i++) {
    rgb[i][0] = y;
    rgb[i][1] = chroma[i][0];
    rgb[i][2] = chroma[i][1];
    rgb[i][3] = -y * range.black - (chroma[i][0] + chroma[i][1]) * range.grey;
  }
}

void
sl_colour_luma_to_gray (bool full_range, int bits, SlColourRow gray)
{
  const Range range = code_range (full_range, bits);
  const double y = 255.0 / range.luma_span;
  memcpy (gray, (SlColourRow){ y, 0.0, 0.0, -y * range.black }, sizeof (SlColourRow));
}

void
sl_colour_rgb_to_gray (SlColourRow gray)
{
  const double kr = luma[SL_MATRIX_BT601].kr;
  const double kb = luma[SL_MATRIX_BT601].kb;
  memcpy (gray, (SlColourRow){ kr, 1.0 - kr - kb, kb, 0.0 }, sizeof (SlColourRow));
}
