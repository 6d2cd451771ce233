/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * YUV -> RGB from the constants of the three recommendations (ITU-R BT.601, BT.709, BT.2020 non-constant
 * luminance) and the two ranges, for 8-bit codes. The normaliser folds these rows with gain and offset.
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

/* Code of black, and the number of codes that luma and chroma span. */
static const struct
{
  double black, luma_span, chroma_span;
} ranges[] = {
  [false] = { 16.0, 219.0, 224.0 },
  [true] = { 0.0, 255.0, 255.0 },
};

#define CHROMA_ZERO 128.0

void
sl_colour_yuv_to_rgb (SlMatrix matrix, bool full_range, SlColourRow rgb[3])
{
  const double kr = luma[matrix].kr;
  const double kb = luma[matrix].kb;
  const double kg = 1.0 - kr - kb;
  const double y = 255.0 / ranges[full_range].luma_span;
  const double c = 255.0 / ranges[full_range].chroma_span;
  const double u_blue = 2.0 * (1.0 - kb) * c;
  const double v_red = 2.0 * (1.0 - kr) * c;
  const double chroma[3][2] = { { 0.0, v_red }, { -u_blue * kb / kg, -v_red * kr / kg }, { u_blue, 0.0 } };
  for (int i = 0; i < 3; i++) {
    rgb[i][0] = y;
    rgb[i][1] = chroma[i][0];
    rgb[i][2] = chroma[i][1];
    rgb[i][3] = -y * ranges[full_range].black - (chroma[i][0] + chroma[i][1]) * CHROMA_ZERO;
  }
}

void
sl_colour_luma_to_gray (bool full_range, SlColourRow gray)
{
  const double y = 255.0 / ranges[full_range].luma_span;
  memcpy (gray, (SlColourRow){ y, 0.0, 0.0, -y * ranges[full_range].black }, sizeof (SlColourRow));
}

void
sl_colour_rgb_to_gray (SlColourRow gray)
{
  const double kr = luma[SL_MATRIX_BT601].kr;
  const double kb = luma[SL_MATRIX_BT601].kb;
  memcpy (gray, (SlColourRow){ kr, 1.0 - kr - kb, kb, 0.0 }, sizeof (SlColourRow));
}
