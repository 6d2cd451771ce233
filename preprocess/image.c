/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of pixel formats: every format is three (or one) components, each a lane of a plane's
 * groups. Adding a format is a line here and one in SlPixelFormat. And the extent of a picture in
 * memory.
 */
#include "preprocess/image.h"

#include <stdbool.h>

#define YUV SL_COMPONENTS_YUV
#define RGB SL_COMPONENTS_RGB
#define PLANAR SL_PACKING_PLANAR
#define PAIR SL_PACKING_PAIR
#define TRIPLE SL_PACKING_TRIPLE
#define QUAD SL_PACKING_QUAD
#define YUV422 SL_PACKING_YUV422

static const SlPixelLayout layouts[SL_PIXEL_COUNT] = {
  [SL_PIXEL_NV12] = { "NV12",
                      2,
                      8,
                      0,
                      YUV,
                      1,
                      1,
                      { PLANAR, PAIR },
                      { { 0, 0 }, { 1, 0 }, { 1, 1 } } },
  [SL_PIXEL_NV21] = { "NV21",
                      2,
                      8,
                      0,
                      YUV,
                      1,
                      1,
                      { PLANAR, PAIR },
                      { { 0, 0 }, { 1, 1 }, { 1, 0 } } },
  [SL_PIXEL_I420] = { "I420",
                      3,
                      8,
                      0,
                      YUV,
                      1,
                      1,
                      { PLANAR, PLANAR },
                      { { 0, 0 }, { 1, 0 }, { 2, 0 } } },
  [SL_PIXEL_YV12] = { "YV12",
                      3,
                      8,
                      0,
                      YUV,
                      1,
                      1,
                      { PLANAR, PLANAR },
                      { { 0, 0 }, { 2, 0 }, { 1, 0 } } },
  [SL_PIXEL_YUY2] = { "YUY2",
                      1,
                      8,
                      0,
                      YUV,
                      1,
                      0,
                      { YUV422, YUV422 },
                      { { 0, 0 }, { 0, 1 }, { 0, 3 } } },
  [SL_PIXEL_UYVY] = { "UYVY",
                      1,
                      8,
                      0,
                      YUV,
                      1,
                      0,
                      { YUV422, YUV422 },
                      { { 0, 1 }, { 0, 0 }, { 0, 2 } } },
  [SL_PIXEL_Y42B] = { "Y42B",
                      3,
                      8,
                      0,
                      YUV,
                      1,
                      0,
                      { PLANAR, PLANAR },
                      { { 0, 0 }, { 1, 0 }, { 2, 0 } } },
  [SL_PIXEL_Y444] = { "Y444",
                      3,
                      8,
                      0,
                      YUV,
                      0,
                      0,
                      { PLANAR, PLANAR },
                      { { 0, 0 }, { 1, 0 }, { 2, 0 } } },
  [SL_PIXEL_P010] = { "P010_10LE",
                      2,
                      10,
                      0,
                      YUV,
                      1,
                      1,
                      { PLANAR, PAIR },
                      { { 0, 0 }, { 1, 0 }, { 1, 1 } } },
  [SL_PIXEL_I420_10] = { "I420_10LE",
                         3,
                         10,
                         6,
                         YUV,
                         1,
                         1,
                         { PLANAR, PLANAR },
                         { { 0, 0 }, { 1, 0 }, { 2, 0 } } },
  [SL_PIXEL_GRAY8] = { "GRAY8",
                       1,
                       8,
                       0,
                       SL_COMPONENTS_GRAY,
                       0,
                       0,
                       { PLANAR, PLANAR },
                       { { 0, 0 } } },
  [SL_PIXEL_RGB] = { "RGB",
                     1,
                     8,
                     0,
                     RGB,
                     0,
                     0,
                     { TRIPLE, TRIPLE },
                     { { 0, 0 }, { 0, 1 }, { 0, 2 } } },
  [SL_PIXEL_BGR] = { "BGR",
                     1,
                     8,
                     0,
                     RGB,
                     0,
                     0,
                     { TRIPLE, TRIPLE },
                     { { 0, 2 }, { 0, 1 }, { 0, 0 } } },
  [SL_PIXEL_RGBX] = { "RGBx",
                      1,
                      8,
                      0,
                      RGB,
                      0,
                      0,
                      { QUAD, QUAD },
                      { { 0, 0 }, { 0, 1 }, { 0, 2 } } },
  [SL_PIXEL_BGRX] = { "BGRx",
                      1,
                      8,
                      0,
                      RGB,
                      0,
                      0,
                      { QUAD, QUAD },
                      { { 0, 2 }, { 0, 1 }, { 0, 0 } } },
  [SL_PIXEL_XRGB] = { "xRGB",
                      1,
                      8,
                      0,
                      RGB,
                      0,
                      0,
                      { QUAD, QUAD },
                      { { 0, 1 }, { 0, 2 }, { 0, 3 } } },
  [SL_PIXEL_XBGR] = { "xBGR",
                      1,
                      8,
                      0,
                      RGB,
                      0,
                      0,
                      { QUAD, QUAD },
                      { { 0, 3 }, { 0, 2 }, { 0, 1 } } },
  [SL_PIXEL_RGBP] = { "RGBP",
                      3,
                      8,
                      0,
                      RGB,
                      0,
                      0,
                      { PLANAR, PLANAR },
                      { { 0, 0 }, { 1, 0 }, { 2, 0 } } },
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

static const SlPixelLayout *
valid_layout (const SlImageInfo *info)
{
  const bool sized = info->width >= 1 && info->width <= SL_MAX_SIDE && info->height >= 1
                     && info->height <= SL_MAX_SIDE;
  return sized ? sl_pixel_layout (info->format) : NULL;
}

int
sl_image_plane_rows (const SlImageInfo *info, int plane)
{
  const SlPixelLayout *layout = valid_layout (info);
  if (layout == NULL || plane < 0 || plane >= layout->planes)
    return 0;
  const int shift = plane > 0 ? layout->chroma_shift_h : 0;
  return (info->height + (1 << shift) - 1) >> shift;
}

size_t
sl_image_row_bytes (const SlImageInfo *info, int plane)
{
  static const uint8_t samples[] = { [SL_PACKING_PLANAR] = 1,
                                     [SL_PACKING_PAIR] = 2,
                                     [SL_PACKING_TRIPLE] = 3,
                                     [SL_PACKING_QUAD] = 4,
                                     [SL_PACKING_YUV422] = 4 };
  const SlPixelLayout *layout = valid_layout (info);
  if (layout == NULL || plane < 0 || plane >= layout->planes)
    return 0;
  const SlPacking packing = layout->packing[plane > 0];
  const int shift = plane > 0 || packing == SL_PACKING_YUV422 ? layout->chroma_shift_w : 0;
  const size_t groups = (size_t) (info->width + (1 << shift) - 1) >> shift;
  return groups * samples[packing] * (layout->bits > 8 ? 2 : 1);
}

SlImageStatus
sl_image_check_plane (int rows, size_t row_bytes, const void *first, ptrdiff_t stride,
                      SlMemory memory)
{
  const uintptr_t base = (uintptr_t) memory.data;
  const uintptr_t start = (uintptr_t) first;
  ptrdiff_t span;
  if (__builtin_mul_overflow ((ptrdiff_t) rows - 1, stride, &span))
    return SL_IMAGE_STRIDE_OVERFLOW;
  if (start < base || start - base > memory.size)
    return SL_IMAGE_TOO_SMALL;
  const size_t before = start - base;
  const size_t after = memory.size - before;
  if (span < 0 ? (size_t) 0 - (size_t) span > before : (size_t) span > after)
    return SL_IMAGE_TOO_SMALL;
  return row_bytes > (span < 0 ? after : after - (size_t) span) ? SL_IMAGE_TOO_SMALL : SL_IMAGE_OK;
}

SlImageStatus
sl_image_check (const SlImageInfo *info, const SlImage *image, const SlMemory memory[3])
{
  const int planes = valid_layout (info) != NULL ? sl_pixel_format_planes (info->format) : 0;
  for (int p = 0; p < planes; p++) {
    const SlImageStatus status =
      sl_image_check_plane (sl_image_plane_rows (info, p), sl_image_row_bytes (info, p),
                            image->plane[p], image->stride[p], memory[p]);
    if (status != SL_IMAGE_OK)
      return status;
  }
  return planes > 0 ? SL_IMAGE_OK : SL_IMAGE_BAD_INFO;
}

const char *
sl_image_status_text (SlImageStatus status)
{
  static const char *const texts[] = {
    [SL_IMAGE_OK] = "success",
    [SL_IMAGE_BAD_INFO] =
      ("expected a supported pixel format and a width and height of 1 to " SL_MAX_SIDE_TEXT),
    [SL_IMAGE_STRIDE_OVERFLOW] =
      "the rows of a plane times its stride exceed the address space; expected the bytes from one "
      "row to the next",
    [SL_IMAGE_TOO_SMALL] =
      "the memory of a plane is smaller than its format, size, offset and stride say",
  };
  return (unsigned int) status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}
