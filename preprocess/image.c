/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of pixel formats: every format is three (or one) components, each a plane, a byte offset and a step
 * between samples. Adding a format is a line here and one in SlPixelFormat.
 */
#include "preprocess/image.h"

static const SlPixelLayout layouts[SL_PIXEL_COUNT] = {
  [SL_PIXEL_NV12] = { "NV12", 2, SL_COMPONENTS_YUV, 1, 1, { { 0, 0, 1 }, { 1, 0, 2 }, { 1, 1, 2 } } },
  [SL_PIXEL_NV21] = { "NV21", 2, SL_COMPONENTS_YUV, 1, 1, { { 0, 0, 1 }, { 1, 1, 2 }, { 1, 0, 2 } } },
  [SL_PIXEL_I420] = { "I420", 3, SL_COMPONENTS_YUV, 1, 1, { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } } },
  [SL_PIXEL_YV12] = { "YV12", 3, SL_COMPONENTS_YUV, 1, 1, { { 0, 0, 1 }, { 2, 0, 1 }, { 1, 0, 1 } } },
  [SL_PIXEL_YUY2] = { "YUY2", 1, SL_COMPONENTS_YUV, 1, 0, { { 0, 0, 2 }, { 0, 1, 4 }, { 0, 3, 4 } } },
  [SL_PIXEL_UYVY] = { "UYVY", 1, SL_COMPONENTS_YUV, 1, 0, { { 0, 1, 2 }, { 0, 0, 4 }, { 0, 2, 4 } } },
  [SL_PIXEL_Y42B] = { "Y42B", 3, SL_COMPONENTS_YUV, 1, 0, { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } } },
  [SL_PIXEL_Y444] = { "Y444", 3, SL_COMPONENTS_YUV, 0, 0, { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } } },
  [SL_PIXEL_GRAY8] = { "GRAY8", 1, SL_COMPONENTS_GRAY, 0, 0, { { 0, 0, 1 } } },
  [SL_PIXEL_RGB] = { "RGB", 1, SL_COMPONENTS_RGB, 0, 0, { { 0, 0, 3 }, { 0, 1, 3 }, { 0, 2, 3 } } },
  [SL_PIXEL_BGR] = { "BGR", 1, SL_COMPONENTS_RGB, 0, 0, { { 0, 2, 3 }, { 0, 1, 3 }, { 0, 0, 3 } } },
  [SL_PIXEL_RGBX] = { "RGBx", 1, SL_COMPONENTS_RGB, 0, 0, { { 0, 0, 4 }, { 0, 1, 4 }, { 0, 2, 4 } } },
  [SL_PIXEL_BGRX] = { "BGRx", 1, SL_COMPONENTS_RGB, 0, 0, { { 0, 2, 4 }, { 0, 1, 4 }, { 0, 0, 4 } } },
  [SL_PIXEL_XRGB] = { "xRGB", 1, SL_COMPONENTS_RGB, 0, 0, { { 0, 1, 4 }, { 0, 2, 4 }, { 0, 3, 4 } } },
  [SL_PIXEL_XBGR] = { "xBGR", 1, SL_COMPONENTS_RGB, 0, 0, { { 0, 3, 4 }, { 0, 2, 4 }, { 0, 1, 4 } } },
};

const SlPixelLayout *
sl_pixel_layout (SlPixelFormat format)
{
  return (unsigned int) format < SL_PIXEL_COUNT ? &layouts[format] : NULL;
}

const char *
sl_pixel_format_name (SlPixelFormat format)
{
  const SlPixelLayout *layout = sl_pixel_layout (format);
  return layout != NULL ? layout->name : "unknown";
}

int
sl_pixel_format_planes (SlPixelFormat format)
{
  const SlPixelLayout *layout = sl_pixel_layout (format);
  return layout != NULL ? layout->planes : 0;
}
